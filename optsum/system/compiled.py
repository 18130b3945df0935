"""numba's `njit`, whose kernels begin in plain Python, are compiled if they last, and are kept for each version.

A kernel that is neither compiled nor kept on disk takes seconds to be compiled, far longer than the interpreter needs
for a small job. So a process interprets its kernels (`optsum.system.plain`) until it has spent `patience.left_s`
seconds on that; then it compiles those that have taken long. Nothing but time depends on it.

numba keeps kernels beside their sources and notices changes of a kernel's own file only. After an upgrade it would run
kernels whose callees have changed, or fail to read those whose types have moved. So kernels of this package are kept in
a folder for its version, in the place that numba would take: ``NUMBA_CACHE_DIR``, beside the sources, or the user's.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from logging import getLogger
from math import inf
from multiprocessing import parent_process
from pathlib import Path
from threading import get_ident, local
from time import thread_time
from typing import Any, Final

from numba import njit as numba_njit
from numba.core import caching, event, serialize
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

from optsum._version import __version__
from optsum.system.clock import standing
from optsum.system.plain import TooLongError, call_plainly, plain_of

# A kernel asks Python for the class of each array and tuple that it returns; Ctrl-C raised there becomes another
# error, or a crash. A cache in C answers without running Python, where no signal is heard, but for the first time.
if hasattr(serialize, "_numba_unpickle"):
    serialize._numba_unpickle = lru_cache(maxsize=None)(serialize._numba_unpickle)  # noqa: SLF001 - no other way

_VARIABLE: Final = "OPTSUM_PATIENCE"
_PATIENCE_S: Final = 3.0
"""A kernel takes .3 to 5 s to be compiled, and a search that lasts needs a dozen to forty of them: 10 to 30 s."""

_SHORT_S: Final = 0.1  # What a kernel may be interpreted for whatever the others take: it may never need more.

_REHEARSAL_S: Final = 0.03

_LONGEST_CALL_S: Final = 0.5  # A search looks at its limits between two calls.


class _OfThread(local):
    """The state that `Patience` keeps of each thread: while one rehearses, others search.

    `rehearsal_s`: seconds that may be spent on a call of kernels which is only made so that they are there.
    """

    def __init__(self) -> None:
        self.interpreted: set[Any] = set()
        self.rehearsal_s = inf


class Patience:
    """How long this process still interprets kernels that are not compiled.

    `left_s`: seconds of the processor; 0 to compile kernels that have taken long, less to compile all when they are
    called. `over`: called with the kernels that have taken long, once, when the patience is over. `thread`: what is not
    the process's, but each thread's own. `warned`: whether it was said that kernels cannot be kept.
    """

    def __init__(self) -> None:
        self.left_s = _given()
        self.taken: dict[Any, float] = {}
        self.over: list[Callable[[set[Any]], object]] = []
        self.compiling: list[Callable[[], object]] = []
        self.thread = _OfThread()
        self.warned = False

    @property
    def is_over(self) -> bool:
        """Whether kernels are compiled when they are called, not interpreted."""
        return self.left_s < 0.0

    def end(self) -> None:
        """Compile all kernels when they are called, from now on."""
        self.left_s = -inf

    def with_(self, kernel: Any) -> float:
        """Return for how many seconds a kernel may be interpreted now."""
        left = self.left_s if self.left_s > 0.0 else _SHORT_S - self.taken.get(kernel, 0.0)
        return min(left, _LONGEST_CALL_S, self.thread.rehearsal_s) if self.left_s > -inf else 0.0

    @contextmanager
    def rehearsing(self) -> Iterator[None]:
        """Let kernels that have to be interpreted be called for a short while only: that makes none of them quicker."""
        own = self.thread
        before, own.rehearsal_s = own.rehearsal_s, _REHEARSAL_S
        try:
            with suppress(_RehearsedError):
                yield
        finally:
            own.rehearsal_s = before

    def take(self, kernel: Any, seconds: float) -> None:
        """Count the seconds that a kernel was interpreted for."""
        self.thread.interpreted.add(kernel)
        self.taken[kernel] = self.taken.get(kernel, 0.0) + seconds
        self.thread.rehearsal_s -= seconds
        self.left_s = max(0.0, self.left_s - seconds) if self.left_s > -inf else self.left_s

    def lost(self) -> None:
        """Call who waits for the end of the patience."""
        while self.over and self.left_s <= 0.0 and self.taken:
            self.over.pop()({kernel for kernel, seconds in self.taken.items() if seconds >= _SHORT_S})


def _given() -> float:
    try:
        seconds = float(os.environ.get(_VARIABLE, _PATIENCE_S))
    except ValueError:
        seconds = _PATIENCE_S
    return seconds if seconds > 0.0 else -inf


patience: Final = Patience()  # A fact of the process, as the kernels that it has loaded are.


class _RehearsedError(BaseException):
    """Kernels have been called for long enough; no search may take it for a failure of its own."""


class _NotKeptError(Exception):
    """There is no compiled kernel on disk."""


class _Refusal(event.Listener):  # type: ignore[misc]
    """Refuses to compile a kernel: numba says that it begins only where it has found nothing on disk."""

    def __init__(self, kernel: Any) -> None:
        self._kernel, self._thread = kernel, get_ident()

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] is self._kernel and get_ident() == self._thread:
            raise _NotKeptError

    def on_end(self, event: Any) -> None:
        del event


class _Herald(event.Listener):  # type: ignore[misc]
    """Tells whoever wants to know that something is compiled: not where numba finds it on disk."""

    def on_start(self, event: Any) -> None:
        del event
        for call in patience.compiling:
            call()

    def on_end(self, event: Any) -> None:
        del event


_SEAL: Final = b"optsum checksum "


def _sealed(held: bytes) -> bytes:
    return held + _SEAL + blake2b(held, digest_size=16).digest()


def _check_seal(held: bytes) -> bytes:
    content, seal, digest = held[:-32], held[-32:-16], held[-16:]
    if seal == _SEAL and blake2b(content, digest_size=16).digest() != digest:
        raise ValueError("the checksum is another")
    return held  # a pickle ends before its seal; files of numba's own have none


class _Sealed(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The files of a kernel, with checksums; pipes and folders in their place are no files."""

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
    """The cached code of a kernel, loaded without all that numba can compile: machine code needs none of it.

    numba itself imports those modules (scipy's among them, where it is installed) before it looks for a file: half a
    second of each process, whether or not something is kept. Whatever is wrong with the files, the kernel is compiled.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not Path(self._cache_file._index_path).is_file():  # noqa: SLF001
            return None
        rtsys.initialize(target_context)  # what arrays are allocated by
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
            if not isinstance(error, OSError):  # next time there is nothing that could be wrong
                self._remove_index()

    def _remove_index(self) -> None:
        with suppress(OSError):
            Path(self._cache_file._index_path).unlink()  # noqa: SLF001


def _warn_of_cache(place: object, error: Exception) -> None:
    """Warn, once a process, and not where a copy of it works."""
    if not patience.warned and parent_process() is None:
        reason = " ".join(str(error).split()) or type(error).__name__
        getLogger("optsum").warning(
            "Compiled kernels cannot be kept or read in %s (%.200s): they are compiled again, which takes time and "
            "changes no result. Remove that folder, or name another: NUMBA_CACHE_DIR.", place, reason,
        )  # fmt: skip
    patience.warned = True


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel that is interpreted while it is not compiled; then it is one of numba's, which costs a call less."""

    _is_kept = True  # Whether it may be on disk.

    def __call__(self, *arguments: Any) -> Any:
        return _compiled(self)(*arguments) if self.overloads else _first_call(self, *arguments)


def _compiled(kernel: Any) -> Any:
    kernel.__class__ = CPUDispatcher
    return kernel


def _first_call(kernel: _Kernel, *arguments: Any) -> Any:
    """Call a kernel that is not there yet."""
    if patience.left_s >= 0.0 and is_loaded(kernel, *arguments):
        return _compiled(kernel)(*arguments)
    if patience.thread.rehearsal_s <= 0.0 <= patience.left_s:
        raise _RehearsedError
    if (seconds := patience.with_(kernel)) > 0.0 and (function := plain_of(kernel)) is not None:
        began = thread_time()
        try:
            return call_plainly(function, arguments, seconds)
        except TooLongError:
            if seconds == patience.thread.rehearsal_s:
                raise _RehearsedError from None
            patience.take(kernel, _SHORT_S)
        finally:
            patience.take(kernel, thread_time() - began)
    with standing():
        patience.lost()
        with event.install_listener("numba:compile", _Herald()):
            kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
    return _compiled(kernel)(*arguments)


def is_loaded(kernel: Any, *arguments: Any) -> bool:
    """Return whether a kernel is compiled; one that is kept on disk is loaded."""
    if not isinstance(kernel, _Kernel):
        return True
    if not kernel.overloads and kernel._is_kept:  # noqa: SLF001 - all of one piece
        try:
            with event.install_listener("numba:compile", _Refusal(kernel)), standing():
                kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
        except _NotKeptError:
            kernel._is_kept = False  # noqa: SLF001
    return bool(kernel.overloads)


def is_worth(kernel: Any, lost_s: float, *arguments: Any) -> bool:
    """Return whether to call a kernel that others can do without.

    It is once it is compiled, or has been missed for as long as patience lasts; `lost_s` is what it would have saved
    this time.
    """
    if is_loaded(kernel, *arguments) or patience.taken.get(kernel, 0.0) >= _PATIENCE_S:
        return True
    patience.take(kernel, lost_s)
    return False


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator with these options, for kernels that begin in plain Python."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            kernel = numba_njit(**options)(function)
        except RuntimeError as error:  # neither beside the sources nor at home may anything be written
            _warn_of_cache("any folder", error)
            kernel = numba_njit(**{**options, "cache": False})(function)
        if isinstance(kernel, CPUDispatcher):  # a function where numba is switched off
            kernel.__class__ = _Kernel
            if isinstance(kernel._cache, caching.FunctionCache):  # noqa: SLF001
                kernel._cache.__class__ = _Kept  # noqa: SLF001
                kernel._cache._cache_file.__class__ = _Sealed  # noqa: SLF001
        return kernel

    return decorate


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
