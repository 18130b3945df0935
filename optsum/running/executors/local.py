"""Processes of this machine, by loky."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from optsum.errors import tracebacks_are_shown
from optsum.running.executors.pipes import mend_pipes
from optsum.running.executors.work import KEEPS_MEMORY, STOP, start_process
from optsum.system.environment import environment
from optsum.system.processes.children import SAFE_PATH

_IDLE_S = 60
"""How long processes wait for more work, so that a next call need not start new ones."""


class Local:
    """So many processes; they stay for the next call.

    Parameters
    ----------
    width : int
    memory : int, optional
        Bytes that each may take.
    """

    falls_together = True
    batch_s = 0.2

    def __init__(self, width: int, memory: int | None = None) -> None:
        self.width, self._memory = width, memory
        self._executor: Any = None

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
