"""Python processes that optsum starts, which do not outlive it, and native code in threads that hear signals.

Processes import from where this one does, and nowhere else.
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
"""Environment in which Python does not look for modules in the current folder."""

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment in which numpy starts no threads when it is imported, which take 30 ms of a processor in each process."""

_LOOKS_S: Final = 0.5
_PR_SET_PDEATHSIG: Final = 1


def python(module: str, function: str) -> list[str]:
    """Return the command of a Python that imports from where this one does, and calls a function with this one's id.

    ``python -m`` would look in the current folder first, where a file called numpy.py may lie.
    """
    lines = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function}; {function}({os.getpid()})"
    return [sys.executable, "-P", "-c", lines]


def has_one_thread() -> bool:
    """Return whether this is the only thread of the process, native ones included; False if the system does not say."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def end_with(parent: int, *, natively: bool = False) -> None:
    """End this process, whatever it is doing, once the one that started it is gone.

    `parent`: the process that started this one. `natively`: whether to have Linux do it too, for work in native code
    that keeps Python from running. It does so when the thread ends that started this process, though others may go on.
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
"""Values of variables in the order in which they were set, each with who set it; before the first its value before."""


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for this process and all that it starts meanwhile; afterwards they are as before.

    Where threads do so at once, those of the others stay, and they are as before when the last is done.
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
    until = monotonic() + _LEAVES_S
    for done in tuple(_at_work):
        done.wait(max(0.0, until - monotonic()))


def leave(status: int) -> None:
    """End the process now: what else is to be done at the end is done, but nothing is waited for or taken down.

    Python would take itself down object by object, a tenth of a second, and wait for processes that have nothing to do.
    """
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
