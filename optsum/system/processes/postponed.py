"""A signal that comes while Python throws an object away: what its handler raises there is printed, and lost."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from types import FrameType
from typing import Final

__all__ = ["is_postponed"]

_SOON_S: Final = 0.01


def is_postponed(number: int, frame: FrameType | None) -> bool:
    """Say whether a signal must not raise anything where it came; it is sent once more then, soon.

    Parameters
    ----------
    number : int
    frame : frame
        Both as a handler gets them.
    """
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    if frame is None:
        return False
    # No thread of `threading`: what was interrupted may hold its locks.
    _thread.start_new_thread(_again, (number,))
    return True


def _again(number: int) -> None:
    time.sleep(_SOON_S)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # which wakes it, too
    else:
        signal.raise_signal(number)
