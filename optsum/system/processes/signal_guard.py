"""Postpone signals at points where an exception from the handler would be lost or do harm.

While Python deletes an object, or runs a callback of C code through ctypes, an exception is printed and lost. While a
compiled kernel asks Python for the class of its result, or for a named tuple, an exception crashes numba. After
llvmlite has passed a module to LLVM, but before it records that, an exception makes LLVM free the module twice. During
an import, an exception may leave the module half imported: numpy reports that, numba does not. While a context manager
enters or exits, an exception loses the state that it should restore: standard output, a lock, a folder.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # of CPython, beneath signal
import _thread
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from types import FrameType
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_SOON_S: Final = 0.01
_CONTEXT: Final[Any] = type(contextmanager(lambda: iter(()))())  # The class of contexts that `contextmanager` makes.

_WHOLE: Final = {  # Code of functions in which no exception may be raised; `unbroken` adds more.
    function.__code__ for kind in (_CONTEXT, *redirect_stdout.__bases__) for function in (kind.__enter__, kind.__exit__)
} | {threading.Thread.start.__code__}

_DEAF: Final = {"__del__", "_numba_unpickle"}
"""Names of functions in which, and in whose callees, no exception may be raised; kernels call `_numba_unpickle`."""

_DEAF_MODULES: Final = (
    *("namedtuple_", "llvmlite.", "highspy.", "pyomo.common.tee", "pyomo.common.tempfiles", "pyomo.common.gc_manager"),
    *("tempfile", "shutil"),
)
"""Prefixes of modules in which, and in whose callees, no exception may be raised: constructors of named tuples, the
bindings of LLVM and HiGHS (which reports an exception in a callback as "Solve error"), and temporary files of Pyomo.
"""


def unbroken(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that no signal raises an exception in it or its callees."""
    _WHOLE.add(function.__code__)
    return function


def is_postponed(number: int, frame: FrameType | None) -> bool:
    """Return whether a signal must be postponed at a frame; if so, send it again later."""
    if not is_amid(frame):
        return False
    send_again(number)
    return True


def send_again(number: int) -> None:
    """Send a signal to this process after `_SOON_S` seconds."""
    # Not a thread of `threading`: the interrupted code may hold its locks.
    _thread.start_new_thread(_again, (number,))


def is_amid(frame: FrameType | None) -> bool:
    """Return whether signals must wait at a frame: it or a caller is uninterruptible, or optsum imports a module."""
    inside = True  # within optsum's work; a user's module may call optsum while it is imported
    while frame is not None and not _is_deaf(frame) and not (inside and frame.f_code.co_name == _IMPORT):
        inside = inside and frame.f_code.co_qualname != _BEGUN
        frame = frame.f_back
    return frame is not None


_IMPORT: Final = "_find_and_load"  # Python's function that an import statement calls.
_BEGUN: Final = "postponing.__call__.<locals>.inner"  # The function below that calls functions of optsum.


def _is_deaf(frame: FrameType) -> bool:
    code, module = frame.f_code, str(frame.f_globals.get("__name__"))
    return code in _WHOLE or code.co_name in _DEAF or module.startswith(_DEAF_MODULES)


class postponing:  # noqa: N801 - a context, or a decorator, as `contextlib.contextmanager` would make of a function
    """Postpone Ctrl-C where necessary, if Python's own handler is installed; other handlers check `is_postponed`.

    It is entered several times for each topic, so for speed it is a class instead of a generator, and uses `_signal`,
    which does not look up an Enum for each handler.
    """

    __slots__ = ("_set",)

    def __call__(self, work: Callable[P, T]) -> Callable[P, T]:

        @wraps(work)
        def inner(*given: P.args, **named: P.kwargs) -> T:
            begun = False
            try:
                begun = _begin()
                return work(*given, **named)
            finally:
                if begun:
                    _signal.signal(signal.SIGINT, signal.default_int_handler)

        return inner

    def __enter__(self) -> None:
        self._set = _begin()

    def __exit__(self, *_: object) -> None:
        if self._set:
            _signal.signal(signal.SIGINT, signal.default_int_handler)


def _begin() -> bool:
    """Replace Python's own handler of Ctrl-C if it is installed; return whether it was."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or _signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    _signal.signal(signal.SIGINT, _raise_or_postpone)
    return True


def _raise_or_postpone(number: int, frame: FrameType | None) -> None:
    if not is_postponed(number, frame):
        raise KeyboardInterrupt


def _again(number: int) -> None:
    time.sleep(_SOON_S)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # this also wakes it
    else:
        signal.raise_signal(number)
