"""Processes of this machine, by loky.

All processes of loky send their results through one pipe, and whoever sends holds its lock. One that is killed while it
sends leaves half a message, and a reader that would wait for the rest, for ever: others have the pipe open, too. So
pipes are mended: wide ones, on which a message that nobody will complete is noticed.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from optsum.errors import tracebacks_are_shown
from optsum.running.executors.work import KEEPS_MEMORY, STOP, start_process
from optsum.system.processes.children import SAFE_PATH, environment, has_one_thread

_IDLE_S = 60
"""How long processes wait for more work, so that a next call need not start new ones."""


class Local:
    """A number of processes, which stay for the next call.

    Parameters
    ----------
    memory : int, optional
        Bytes that each may take.
    copied : bool
        Whether they may begin as copies of this process (`optsum.running.executors.copies`).
    """

    falls_together = True
    batch_s = 0.2

    def __init__(self, width: int, memory: int | None = None, *, copied: bool = False) -> None:
        self.width, self._memory = width, memory
        self._copied = copied and memory is None and sys.platform == "linux"  # a copy has taken memory already
        self._executor: Any = None
        if self._copied and has_one_thread():
            self.submit(int)  # before anybody starts a thread: then there are no more copies

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have something done, as `Crew.submit`."""
        try:
            return self._submit(function, *arguments)
        except BrokenExecutor:  # a process died since it was looked whether they are well; others are started now
            return self._submit(function, *arguments)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        from loky import get_reusable_executor

        if os.name == "posix" and self._executor is None:
            # Python 3.11 lets signals through again once it has started this one, which loky needs; so start it before.
            with environment({**SAFE_PATH, **_silent_trackers()}):
                from loky.backend import resource_tracker as lokys

                resource_tracker.ensure_running()
                lokys.ensure_running()
        with _signals_held(), environment(SAFE_PATH):
            self._executor = get_reusable_executor(
                self.width,
                context=_copying() if self._copied else None,
                timeout=_IDLE_S,
                initializer=start_process,
                initargs=(os.getpid(), tracebacks_are_shown(), self._memory, _folder()),  # others: new processes
                env={**SAFE_PATH, **KEEPS_MEMORY},
            )
            mend_pipes(self._executor)
            future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def check(self) -> None:
        """Do nothing: futures break when their processes do."""

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        """Have the searches of a run end."""
        # They do nothing else, and answer at once to whatever comes; loky 3.7 stumbles when it kills what is cancelled.
        del name, futures
        interrupt_processes(self._executor)

    def end(self, futures: Iterable[Future[Any]]) -> None:
        """Give up what is under way."""
        del futures
        if self._executor is not None:
            with warnings.catch_warnings():  # that there is no pgrep to find a process's own processes with
                warnings.simplefilter("ignore")
                self._executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        """Keep the processes for a while."""


def _copying() -> Any:
    from optsum.running.executors.copies import CONTEXT

    return CONTEXT


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # somebody has removed it
        return None


def interrupt_processes(executor: Any) -> None:
    """Send Ctrl-C to the processes of an executor: they got none if it was sent to this process alone."""
    for process in list(getattr(executor, "_processes", None) or {}):
        if os.name == "posix":
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)


def _silent_trackers() -> dict[str, str]:
    """Have what is started here not warn of semaphores that it removes where this process could not: it was killed."""
    name = "PYTHONWARNINGS"
    return {name: ",".join(filter(None, [os.environ.get(name), "ignore:resource_tracker"]))}


@contextmanager
def _signals_held() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM from a process that is being started, until it is ready for them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_WIDTH: Final = 1 << 20
"""Bytes that a pipe holds, as many as Linux lets everybody have. With 64 kB whoever sends a batch waits for the reader,
which in turn waits for Python's lock, again and again."""


class Results(Connection):
    """The end at which results are read.

    Parameters
    ----------
    handle : int
        A file descriptor, which will be closed with this.
    processes : mapping
        Those that may send, while they live.
    """

    def __init__(self, handle: int, processes: Mapping[int, Any]) -> None:
        super().__init__(handle, writable=False)
        self._processes = processes

    def _recv(self, size: int, read: Any = None) -> Any:
        del read
        return super()._recv(size, self._next)  # type: ignore[misc]

    def _next(self, handle: int, size: int) -> bytes:
        """Return what there is of a message; once a process has died and nothing more comes, nobody completes it."""
        senders = {process.sentinel: process for process in list(self._processes.values())}
        while handle not in (ready := wait([handle, *senders])):
            idle = [sentinel for sentinel in ready if senders[sentinel].exitcode == 0]
            if not idle:
                raise EOFError("a process died while results were sent")
            for sentinel in idle:  # it ended by itself, having nothing to do, and had sent all it had
                del senders[sentinel]
        return os.read(handle, size)


def mend_pipes(executor: Any) -> None:
    """Widen the pipes of an executor of loky, and have it notice that half a message is all that will come.

    Parameters
    ----------
    executor : loky.ProcessPoolExecutor
        One that has been given nothing yet; others stay as they are.
    """
    results = executor._result_queue  # noqa: SLF001 - loky has no other way to its pipes
    if os.name != "posix" or isinstance(results._reader, Results):  # noqa: SLF001
        return
    for pipe in (results, executor._call_queue):  # noqa: SLF001
        _widen(pipe._writer.fileno())  # noqa: SLF001
    results._reader = Results(os.dup(results._reader.fileno()), executor._processes)  # noqa: SLF001


def _widen(pipe: int) -> None:
    if sys.platform == "linux":
        from fcntl import F_SETPIPE_SZ, fcntl

        with suppress(OSError):  # the user has as many pages in pipes as are allowed
            fcntl(pipe, F_SETPIPE_SZ, _WIDTH)
