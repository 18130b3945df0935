"""Native code in a thread of its own, so that signals and deadlines are heard here meanwhile."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

__all__ = ["run_apart"]

_ASK_S: Final = 0.05
"""Seconds between two looks at the clock."""

_LEAVES_S: Final = 10.0
"""Seconds that the process waits in the end for work that has not heard: native code that comes back to an interpreter
that is gone would abort the process."""


def run_apart(
    work: Callable[[], object],
    interrupt: Callable[[], object],
    *,
    hears_s: float,
    passed: Callable[[], bool] = lambda: False,
    keeps: bool = False,
) -> bool:
    """Do work that releases Python's lock, until it is done, a deadline has passed, or Ctrl-C or SIGTERM came.

    Parameters
    ----------
    work : callable
    interrupt : callable
        Asks the work, from here, to end soon; called in every case but that it has ended already.
    hears_s : float
        Seconds that it may take to hear of that.
    passed : callable
        Asked every 50 ms whether to end now.
    keeps : bool
        Whether Ctrl-C ends the work as a deadline does, so that what it holds can be asked for; it is raised otherwise.

    Returns
    -------
    bool
        Whether the work has ended. Otherwise it does not hear, goes on in its thread, and what it works on must be left
        alone.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, if it is not kept.
    Exception
        What the work raises.
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

    atexit.register(done.wait, _LEAVES_S)
    Thread(target=solve, name=getattr(work, "__name__", "apart"), daemon=True).start()
    try:
        while not done.wait(_ASK_S):
            if passed() and not done.wait(_ASK_S):  # of its own time limit a solver knows itself
                break
    except KeyboardInterrupt:
        if not keeps:
            raise
    finally:
        if not done.is_set():
            interrupt()
        if ended := done.wait(hears_s):
            atexit.unregister(done.wait)
    if errors:
        raise errors[0]
    return ended
