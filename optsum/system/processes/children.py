"""Python processes that end with optsum, and native code in threads that can be interrupted.

Processes import only from the same places as this one.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, RLock, Thread
from time import monotonic, sleep
from typing import Final

SAFE_PATH: Final = {"PYTHONSAFEPATH": "1"}
"""Environment variable that keeps Python from importing modules from the current folder."""

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment variables that keep numpy from starting threads on import, which takes 30 ms of a processor in each
process.
"""

_LOOKS_S: Final = 0.5
_PR_SET_PDEATHSIG: Final = 1


def python(module: str, function: str) -> list[str]:
    """Return the command of a Python that calls a function with this process's id; it imports from the same places."""
    lines = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function}; {function}({os.getpid()})"
    return [sys.executable, "-P", "-c", lines]  # -m would look in the current folder first, which may have a numpy.py


def has_one_thread() -> bool:
    """Return whether this process has only this thread, including native ones; False if the system does not tell."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def end_with(parent: int, *, natively: bool = False) -> None:
    """End this process, whatever it is doing, when its parent has ended.

    `natively`: whether Linux does it too, for native code that blocks Python; it does so when the thread that started
    this process ends, even if others continue.
    """
    if natively and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.name == "posix":
        Thread(target=_look, args=(parent,), name="end with parent", daemon=True).start()


def _look(parent: int) -> None:
    while os.getppid() == parent:
        sleep(_LOOKS_S)
    os._exit(1)


_SETTING: Final = RLock()
_set: Final[list[tuple[object, str, str | None]]] = []
"""Values of variables in the order of setting, each with its setter; before the first one, the original value."""


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for this process and its children within the block, and restore them afterwards.

    If several threads do so at once, the variables of the others stay, and all are restored when the last one is done.
    """
    me = object()
    with _SETTING:
        for name, value in variables.items():
            if all(other != name for _, other, _ in _set):
                _set.append((None, name, os.environ.get(name)))
            _set.append((me, name, value))
        os.environ.update(variables)
    try:
        yield
    finally:
        with _SETTING:
            _set[:] = [each for each in _set if each[0] is not me]
            for name in variables:
                setter, _, held = [each for each in _set if each[1] == name][-1]
                if setter is None:
                    _set.remove((None, name, held))
                if held is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = held


_ASK_S: Final = 0.05  # Seconds between two looks at the clock.
_LEAVES_S: Final = 10.0
"""Seconds that the process waits at its end for uninterrupted work, because native code that returns to an interpreter
that is gone would abort the process.
"""

_ENDS: Final = signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM
"""A signal that no process can ignore; on Windows any is."""

_at_work: Final[set[Event]] = set()  # Events of threads that are at work, for which the process waits before it ends.


def run_in_thread(
    work: Callable[[], object],
    interrupt: Callable[[], object],
    *,
    hears_s: float,
    passed: Callable[[], bool] = lambda: False,
    heard: Callable[[], object] | None = None,
) -> bool:
    """Do work that releases Python's lock, until it ends, a deadline passes, or Ctrl-C or SIGTERM comes.

    `interrupt`: asks the work to end soon; called unless it has ended already. `hears_s`: seconds that the work may
    take to respond. `passed`: called every 50 ms, tells whether to end now. `heard`: called after Ctrl-C, which then
    ends the work like a deadline, so that its findings are available; without it Ctrl-C is raised. The result: whether
    the work has ended. Otherwise it has not responded and continues in its thread, and its data must be left alone.
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
    until = monotonic() + _LEAVES_S
    for done in tuple(_at_work):
        done.wait(max(0.0, until - monotonic()))


def leave(status: int) -> None:
    """End the process now, with all registered steps: Python would delete objects, and wait for idle processes."""
    started = sys.modules.get("multiprocessing.process")  # a module that most commands never need
    for process in () if started is None else started.active_children():
        with suppress(OSError):  # it has ended
            os.kill(int(process.pid), _ENDS)  # its own `kill` is missing in loky
        process.join()
    atexit.unregister(_wait)
    atexit._run_exitfuncs()  # noqa: SLF001 - what Python calls before it takes itself down
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there may be none, or nobody who reads it
            stream.flush()
    os._exit(status)
