"""numba's `njit`, whose compiled kernels are kept apart for each version.

numba keeps kernels beside their sources and notices changes of a kernel's own file only. After an upgrade it would run
kernels whose callees have changed, or fail to read those whose types have moved. So kernels of this package are kept in
a folder for its version, in the place that numba would take: ``NUMBA_CACHE_DIR``, beside the sources, or the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import caching

from optsum._version import __version__

__all__ = ["njit"]


def _of_version(place: type) -> type:
    """Return a locator of numba's that serves the kernels of this package only, in a folder for the version."""

    class Place(place):  # type: ignore[misc]
        @classmethod
        def from_function(cls, py_func: Callable[..., object], py_file: str) -> Any:
            ours = py_func.__module__.partition(".")[0] == "optsum"
            return super().from_function(py_func, py_file) if ours else None

        def get_cache_path(self) -> str:
            return str(Path(super().get_cache_path()) / f"optsum-{__version__}")

    return Place


_PLACES = [caching.UserProvidedCacheLocator, caching.InTreeCacheLocator, caching.UserWideCacheLocator]
# A setting would be for all packages. Before numba 0.61 the class has another name.
_IMPLEMENTATION: Any = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # noqa: SLF001
_IMPLEMENTATION._locator_classes[:0] = map(_of_version, _PLACES)  # noqa: SLF001
