"""How much is said beside results and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

__all__ = ["Verbosity", "is_quiet", "saying"]


class Verbosity(IntEnum):
    """How much is said beside results and errors."""

    QUIET = 0
    """Nothing."""
    NORMAL = 1
    """News on a terminal; in a pipe what one should know afterwards."""
    VERBOSE = 2
    """News in a pipe too."""


_now = [Verbosity.NORMAL]


def is_quiet() -> bool:
    """Return whether only errors are to be said."""
    return _now[-1] is Verbosity.QUIET


@contextmanager
def saying(verbosity: Verbosity) -> Iterator[None]:
    """Say so much meanwhile."""
    _now.append(verbosity)
    try:
        yield
    finally:
        _now.pop()
