"""A signal that comes where what its handler raises would be lost, or worse.

While Python throws an object away, or runs a function that C code calls through ctypes, an exception is printed and
forgotten. Where a compiled kernel asks Python for a class of what it returns, or for a named tuple, numba takes no
exception for an answer: the process crashes. Where llvmlite has handed a module over to LLVM, and not yet noted that it
has, it would be freed twice. A module of Python's whose import is broken off may be half imported for ever: numpy
says so, numba does not.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # of CPython, beneath signal
import _thread
import signal
import threading
import time
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_SOON_S: Final = 0.01

_DEAF: Final = {"__del__", "_numba_unpickle", "_hushed"}
"""Functions in which no exception may be raised, nor in what they call.

Compiled kernels call the second; the third replaces standard output for a while, and would not give it back.
"""

_DEAF_MODULES: Final = ("namedtuple_", "llvmlite.", "highspy.")
"""Prefixes of the names of modules of which the same holds: constructors of named tuples, the bindings of LLVM, and
those of HiGHS, which calls an exception in what it calls back a "Solve error".
"""


def is_postponed(number: int, frame: FrameType | None) -> bool:
    """Say whether a signal must not raise anything where it came; it is sent once more then, soon."""
    inside = True  # of what optsum has called; a module that calls optsum may be under import itself
    while frame is not None and not _is_deaf(frame) and not (inside and frame.f_code.co_name == _IMPORT):
        inside = inside and (frame.f_code.co_name == "<module>" or not _is_ours(frame))
        frame = frame.f_back
    if frame is None:
        return False
    # No thread of `threading`: what was interrupted may hold its locks.
    _thread.start_new_thread(_again, (number,))
    return True


_IMPORT: Final = "_find_and_load"  # The function of Python's that an import statement calls.


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "optsum"


def _is_deaf(frame: FrameType) -> bool:
    return frame.f_code.co_name in _DEAF or str(frame.f_globals.get("__name__")).startswith(_DEAF_MODULES)


class postponing:  # noqa: N801 - a context, or a decorator, as `contextlib.contextmanager` would make of a function
    """Have Ctrl-C postponed where it must be, as long as Python's own handler is there; others ask by themselves.

    Each topic enters it several times: it is no generator, and asks beneath `signal`, whose functions look for an Enum
    of each handler, because either takes as long as other parts of a search.
    """

    __slots__ = ("_set",)

    def __call__(self, work: Callable[P, T]) -> Callable[P, T]:
        """Return a function that does some work in such a context."""

        @wraps(work)
        def inner(*given: P.args, **named: P.kwargs) -> T:
            with postponing():
                return work(*given, **named)

        return inner

    def __enter__(self) -> None:
        """Put the handler that postpones in the place of Python's own."""
        mine = threading.current_thread() is threading.main_thread()
        self._set = mine and _signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._set:
            _signal.signal(signal.SIGINT, _raise_or_postpone)

    def __exit__(self, *_: object) -> None:
        """Put Python's own back."""
        if self._set:
            _signal.signal(signal.SIGINT, signal.default_int_handler)


def _raise_or_postpone(number: int, frame: FrameType | None) -> None:
    if not is_postponed(number, frame):
        raise KeyboardInterrupt


def _again(number: int) -> None:
    time.sleep(_SOON_S)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # which wakes it, too
    else:
        signal.raise_signal(number)
