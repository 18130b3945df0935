"""Start Python processes that end with optsum, and run native code in threads so that it can be interrupted.

Processes import modules only from the same places as this one.
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
"""Environment variable that keeps Python from importing modules from the current folder or a script's."""

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment variables that keep numpy from starting threads on import, which takes 30 ms in each process."""


def python(module: str, function: str) -> list[str]:
    """Return a command that starts Python with the import path of this process and calls a function with its id."""
    lines = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function}; {function}({os.getpid()})"
    return [sys.executable, "-P", "-c", lines]  # -m would look in the current folder first, which may have a numpy.py


def has_one_thread() -> bool:
    """Return whether this process has no other thread, including native threads; False if the system does not tell."""
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def end_with(parent: int, *, natively: bool = False) -> None:
    """End this process, whatever it is doing, when the process `parent` has ended; a thread checks that.

    `natively`: whether Linux ends it too, in case native code blocks Python. Linux does so as soon as the thread that
    started this process ends, even if its process continues.
    """
    if natively and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.name == "posix":
        Thread(target=_look, args=(parent,), name="end with parent", daemon=True).start()


def _look(parent: int) -> None:
    while os.getppid() == parent:
        sleep(0.5)  # between two checks that the parent is there
    os._exit(1)


_SETTING: Final = RLock()
_set: Final[list[tuple[object, str, str | None]]] = []
"""Setter, name and value of each variable in the order of setting; its original value comes first, with setter None."""


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for this process and its children within the block, and restore them afterwards.

    Blocks of several threads may overlap: the variables of other blocks stay, and the last block to end restores all.
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
"""Seconds to wait for threads at the end of the process: native code that returns after the interpreter would abort."""

_at_work: Final[set[Event]] = set()  # Events of threads that are at work, for which the process waits before it ends.


def run_in_thread(
    work: Callable[[], object],
    interrupt: Callable[[], object],
    *,
    hears_s: float,
    passed: Callable[[], bool] = lambda: False,
    heard: Callable[[], object] | None = None,
) -> bool:
    """Do work that releases Python's lock in a thread; return whether it has ended.

    It is interrupted when `passed` says so, or after Ctrl-C or SIGTERM. If it does not respond, it continues in its
    thread, and its data must not be touched. `interrupt`: asks the work to end soon. `hears_s`: seconds that it may
    take to respond. `passed`: called every 50 ms; a true answer ends the work. `heard`: called after Ctrl-C, which then
    ends the work like `passed`, so that its findings can be used; without it KeyboardInterrupt is raised.
    """
    done = Event()
    errors: list[BaseException] = []

    def solve() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
            errors.append(error)
        finally:
            done.set()

    _at_work.add(done)
    thread = Thread(target=solve, name=getattr(work, "__name__", "apart"), daemon=True)
    try:
        thread.start()
        while not done.wait(_ASK_S):
            if passed() and not done.wait(_ASK_S):  # a solver that ends at its own time limit needs no interruption
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
    """End the process now, after all exit functions; unlike Python, delete no objects and wait for no idle process."""
    started = sys.modules.get("multiprocessing.process")  # most commands never import it
    ends = getattr(signal, "SIGKILL", signal.SIGTERM)  # no process can ignore it; on Windows this holds for any signal
    for process in () if started is None else started.active_children():
        with suppress(OSError):  # it has ended
            os.kill(int(process.pid), ends)  # processes of loky have no `kill`
        process.join()
    atexit.unregister(_wait)
    atexit._run_exitfuncs()  # noqa: SLF001 - Python calls it at its normal end
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is no stream, or its reader has left
            stream.flush()
    os._exit(status)
