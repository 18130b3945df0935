"""Work in Python that ends when its time is over: Pyomo builds and writes models for as long as it takes."""

from __future__ import annotations

import gc
import signal
import threading
from pathlib import PurePath
from types import FrameType, TracebackType
from typing import Any, Final, Self

from optsum.system.deadline import Deadline

GRACE_S: Final = 3.0
"""Seconds that a process may need beyond its time limit to say what it has; then it is killed."""


_AGAIN_S: Final = 0.02
_SWALLOWED_S: Final = 0.5
"""When it is raised again, should a finalizer have swallowed it."""
_WHOLE: Final = frozenset({"tee.py", "tempfile.py", "tempfiles.py", "shutil.py"})
"""Files of the standard library and of Pyomo that open and put away."""


class Overran(Exception):  # noqa: N818 - a signal to the one who set the limit, never an error
    """The time limit was over before there was an answer; says in words what happened."""

    @classmethod
    def behind(cls, error: BaseException) -> Overran | None:
        """Return the one that an error is, or that some library made the error of; None if it is another."""
        found: BaseException | None = error
        while found is not None and not isinstance(found, cls):
            found = found.__cause__ or found.__context__
        return found


class Alarm:
    r"""While this is entered, and until it is `silence`\ d, `Overran` is raised here at a deadline.

    Whatever Python code runs then is left. It takes a signal, which only a main thread can get: elsewhere nothing
    happens before the work is done.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._armed = False
        self._before: Any = None
        self._collecting = False

    def __enter__(self) -> Self:
        left = self._deadline.left_s
        main = threading.current_thread() is threading.main_thread()
        if left < float("inf") and main and hasattr(signal, "setitimer"):
            self._armed = True
            self._collecting = gc.isenabled()
            gc.disable()  # what is raised in the middle of a collection is lost
            self._before = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
        return self

    def _ring(self, number: int, frame: FrameType | None) -> None:
        del number
        if not self._armed:
            return
        if _amid(frame):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            signal.setitimer(signal.ITIMER_REAL, _SWALLOWED_S)
            raise Overran("the time limit was over before the solver had its program")

    def silence(self) -> None:
        """Let what follows take its time."""
        self._armed = False
        if self._collecting:
            gc.enable()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.silence()
        if self._before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            self._before = None


def _amid(frame: FrameType | None) -> bool:
    """Say whether what runs must not be left half-way.

    A module would be broken for the rest of the process, a folder would stay behind, and Pyomo's capture of what is
    printed would close its descriptors a second time, when others may have them.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or PurePath(name).name in _WHOLE:
            return True
        frame = frame.f_back
    return False
