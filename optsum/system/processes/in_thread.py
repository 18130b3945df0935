"""Native code in a thread of its own, so that signals and deadlines are heard here meanwhile."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import active_children
from threading import Event, Thread
from time import monotonic
from typing import Final

_ASK_S: Final = 0.05  # Seconds between two looks at the clock.

_LEAVES_S: Final = 10.0
"""Seconds that the process waits in the end for work that has not heard: native code that comes back to an interpreter
that is gone would abort the process."""

_ENDS: Final = signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM
"""Signal that no process can ignore; on Windows any is."""

_at_work: Final[set[Event]] = set()  # Events of threads that are at work, for which the process waits before it ends.


def run_in_thread(
    work: Callable[[], object],
    interrupt: Callable[[], object],
    *,
    hears_s: float,
    passed: Callable[[], bool] = lambda: False,
    heard: Callable[[], object] | None = None,
) -> bool:
    """Do work that releases Python's lock, until it is done, a deadline has passed, or Ctrl-C or SIGTERM came.

    `interrupt`: asks the work, from here, to end soon; called in every case but that it has ended already. `hears_s`:
    seconds that it may take to hear of that. `passed`: asked every 50 ms whether to end now. `heard`: called after
    Ctrl-C, which then ends the work as a deadline does, so that what it holds can be asked for. Without it Ctrl-C is
    raised. The result: whether the work has ended. Otherwise it does not hear, goes on in its thread, and what it works
    on must be left alone.
    """
    done = Event()
    errors: list[BaseException] = []

    def solve() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below, where it is waited for
            errors.append(error)
        finally:
            done.set()

    _at_work.add(done)
    thread = Thread(target=solve, name=getattr(work, "__name__", "apart"), daemon=True)
    try:
        thread.start()
        while not done.wait(_ASK_S):
            if passed() and not done.wait(_ASK_S):  # of its own time limit a solver knows itself
                break
    except KeyboardInterrupt:
        if heard is None:
            raise
        heard()
    finally:
        if not done.is_set():
            interrupt()
        if ended := done.wait(hears_s):
            _at_work.discard(done)
    if errors:
        raise errors[0]
    return ended


@atexit.register
def _wait() -> None:
    """Return the exit status; None if the time is over, or the other end of the standard input was closed."""
    until = monotonic() + _LEAVES_S
    for done in tuple(_at_work):
        done.wait(max(0.0, until - monotonic()))


def leave(status: int) -> None:
    """End the process now: what else is to be done at the end is done, but nothing is waited for or taken down.

    Python would take itself down object by object, a tenth of a second, and wait for processes that have nothing to do.
    """
    for process in active_children():
        with suppress(OSError):  # it has ended
            os.kill(int(process.pid), _ENDS)  # type: ignore[arg-type]  # its own `kill` is missing in loky
        process.join()
    atexit.unregister(_wait)
    atexit._run_exitfuncs()  # noqa: SLF001 - what Python calls before it takes itself down
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there may be none, or nobody who reads it
            stream.flush()
    os._exit(status)
