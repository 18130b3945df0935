"""Load, compile and cache kernels with numba; imported by `optsum.system.compiled` when a kernel needs it.

numba notices only changes of a kernel's own file. After an upgrade of this package it would run cached kernels whose
callees have changed, or fail to read kernels whose types have moved. So kernels of this package are cached in a folder
for its version, in one of numba's usual places: ``NUMBA_CACHE_DIR``, beside the sources, or the user's cache.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from logging import getLogger
from multiprocessing import parent_process
from pathlib import Path
from threading import get_ident
from typing import Any, Final

from numba import njit, types
from numba.core import caching, event, serialize
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic

from optsum._version import __version__

# A kernel asks Python for the class of each array and tuple that it returns, and a KeyboardInterrupt raised there
# becomes another error, or a crash. After the first call, this cache answers in C, where no signal handler runs.
if hasattr(serialize, "_numba_unpickle"):
    serialize._numba_unpickle = lru_cache(maxsize=None)(serialize._numba_unpickle)  # noqa: SLF001 - no other way


class _NotKeptError(Exception):
    """Raised if there is no compiled kernel on disk."""


class _Herald(event.Listener):  # type: ignore[misc]
    """A listener that calls `tell` when numba starts to compile; if `tell` is None, it raises `_NotKeptError`."""

    def __init__(self, kernel: Any, tell: Callable[[], object] | None) -> None:
        self._kernel, self._tell, self._thread = kernel, tell, get_ident()

    def on_start(self, event: Any) -> None:
        if self._tell is not None:
            self._tell()
        elif event.data["dispatcher"] is self._kernel and get_ident() == self._thread:
            raise _NotKeptError

    def on_end(self, event: Any) -> None:
        del event


_SEAL: Final = b"optsum checksum "


def _sealed(held: bytes) -> bytes:
    return held + _SEAL + blake2b(held, digest_size=16).digest()


def _check_seal(held: bytes) -> bytes:
    content, seal, digest = held[:-32], held[-32:-16], held[-16:]
    if seal == _SEAL and blake2b(content, digest_size=16).digest() != digest:
        raise ValueError("the checksum does not match")
    return held  # unpickling ignores the seal; files written by numba itself have none


class _Sealed(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The cache files of a kernel, with checksums; pipes and folders in their place are ignored.

    Each file names the code that it holds, because two processes that compile at the same time may write different code
    to files of the same name.
    """

    def load(self, key: Any) -> Any:
        held = super().load(key)
        return held[1] if held is not None and held[0] == self._stamp(key) else None

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (self._stamp(key), data))

    def _stamp(self, key: Any) -> Any:
        return self._index_name, self._source_stamp, key

    def _load_index(self) -> Any:
        index = Path(self._index_path)
        if not index.is_file():
            return {}
        _check_seal(index.read_bytes())
        return super()._load_index()

    def _save_index(self, overloads: Any) -> None:
        held = pickle.dumps(self._version, -1) + self._dump((self._source_stamp, overloads))
        with self._open_for_write(self._index_path) as file:
            file.write(_sealed(held))

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))
        if not path.is_file():
            raise FileNotFoundError(path)
        return pickle.loads(_check_seal(path.read_bytes()))  # noqa: S301 - numba keeps it so

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(_sealed(self._dump(data)))


class _Kept(caching.FunctionCache):  # type: ignore[misc]
    """The cached code of a kernel, loaded without numba's compiler, which machine code does not need.

    numba itself imports its compiler (and scipy, if installed) before it looks for a file, which takes half a second in
    each process. If the files are damaged, the kernel is compiled.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not Path(self._cache_file._index_path).is_file():  # noqa: SLF001
            return None
        rtsys.initialize(target_context)  # numba's runtime, which allocates arrays
        try:
            return self._load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001 - damaged pickles raise whatever they like
            _warn_of_cache(self.cache_path, error)
            self._remove_index()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._save_overload(sig, data)
        except Exception as error:  # noqa: BLE001
            _warn_of_cache(self.cache_path, error)
            if not isinstance(error, OSError):  # so that no faulty file remains
                self._remove_index()

    def _remove_index(self) -> None:
        with suppress(OSError):
            Path(self._cache_file._index_path).unlink()  # noqa: SLF001


def _warn_of_cache(place: object, error: Exception) -> None:
    """Warn once that the cache cannot be used, but not in worker processes."""
    if not _warned and parent_process() is None:
        reason = " ".join(str(error).split()) or type(error).__name__
        getLogger("optsum").warning(
            "Compiled kernels cannot be kept or read in %s (%.200s): they are compiled again, which takes time but "
            "changes no result. Remove that folder, or name another: NUMBA_CACHE_DIR.", place, reason,
        )  # fmt: skip
    _warned.append(str(place))


_warned: Final[list[str]] = []  # A state of the process.


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return numba's dispatcher of a function, or the function itself if numba is disabled."""
    options = {**options, "no_cfunc_wrapper": True}  # only C code would need it, and it takes time to compile
    try:
        made = njit(**options)(function)
    except RuntimeError as error:  # no folder for the cache is writable
        _warn_of_cache("any folder", error)
        made = njit(**{**options, "cache": False})(function)
    if isinstance(made, CPUDispatcher) and isinstance(made._cache, caching.FunctionCache):  # noqa: SLF001
        made._cache.__class__ = _Kept  # noqa: SLF001
        made._cache._cache_file.__class__ = _Sealed  # noqa: SLF001
    return made


def compiled_for(dispatcher: Any, arguments: tuple[Any, ...], tell: Callable[[], object] | None) -> bool:
    """Load the code for arguments of these types, or compile it if `tell` is given; return whether there is code."""
    if not isinstance(dispatcher, CPUDispatcher):
        return True
    try:
        with event.install_listener("numba:compile", _Herald(dispatcher, tell)):
            dispatcher.compile(tuple(map(dispatcher.typeof_pyval, arguments)))
    except _NotKeptError:
        return False
    return True


@cache
def type_of_instruction(name: str) -> Any:
    """Return numba's type of a processor instruction (a method of llvmlite's builder) on a 64-bit word."""

    def define(typing_context: Any, word: Any) -> Any:
        del typing_context, word

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            del context, signature
            return getattr(builder, name)(arguments[0])

        return types.int64(types.int64), generate

    made = intrinsic(define)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


def _of_version(place: type) -> type:
    """Return the locator class `place` of numba, restricted to kernels of this package, in a folder of its version."""

    class Place(place):  # type: ignore[misc]
        @classmethod
        def from_function(cls, py_func: Callable[..., object], py_file: str) -> Any:
            ours = py_func.__module__.partition(".")[0] == "optsum"
            return super().from_function(py_func, py_file) if ours else None

        def get_cache_path(self) -> str:
            return str(Path(super().get_cache_path()) / f"optsum-{__version__}")

    return Place


_PLACES = [caching.UserProvidedCacheLocator, caching.InTreeCacheLocator, caching.UserWideCacheLocator]
# numba's own setting would affect all packages. Before numba 0.61 the class has another name.
_IMPLEMENTATION: Any = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # noqa: SLF001
_IMPLEMENTATION._locator_classes[:0] = map(_of_version, _PLACES)  # noqa: SLF001
