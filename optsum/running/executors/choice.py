"""Who works: the one interface of all executors, the one that the caller has, and which one the options ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from optsum.errors import ExecutorError, OptionError
from optsum.running.executors.dask import Dask
from optsum.running.executors.local import Local, interrupt_processes
from optsum.running.executors.work import interrupt_here

if TYPE_CHECKING:
    from optsum.options.options import Options

__all__ = ["AnyExecutor", "crew_of"]


class Given:
    """An executor of the caller's, who starts and ends it; or a function that makes one, and a new one after a crash.

    Parameters
    ----------
    source : Executor or callable
        One that a function made is shut down in the end.
    """

    falls_together = True
    batch_s = 0.2

    def __init__(self, source: Executor | Callable[[], Executor]) -> None:
        self._make = None if isinstance(source, Executor) else source
        self._executor = source if isinstance(source, Executor) else source()
        self._broken = False

    @property
    def width(self) -> int:
        """As many as such executors say they have; 1 for one that says nothing."""
        found = getattr(self._executor, "_max_workers", None)
        return found if isinstance(found, int) and found > 0 else 1

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have something done, as `Crew.submit`."""
        try:
            return self._executor.submit(function, *arguments)
        except BrokenExecutor as error:
            if self._make is None:
                raise ExecutorError(
                    "The executor is broken, because one of its processes died: give a function that makes it, so "
                    "that another can take its place."
                ) from error
            self._executor = self._make()
            return self._executor.submit(function, *arguments)
        except RuntimeError as error:
            raise ExecutorError(f"The executor takes no work: {error}.") from error

    def check(self) -> None:
        """Do nothing: futures break when their processes do."""

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        """Have the searches of a run end."""
        _cancel(futures)
        interrupt_here(name)  # threads
        interrupt_processes(self._executor)

    def end(self, futures: Iterable[Future[Any]]) -> None:
        """Give up what is under way."""
        _cancel(futures)
        if self._make is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        """Let go."""
        self.end([])


def _cancel(futures: Iterable[Future[Any]]) -> None:
    for future in futures:
        future.cancel()


class Crew(Protocol):
    """Processes (or threads) that work, wherever they are."""

    @property
    def width(self) -> int:
        """How many of them there are now, at least 1."""

    @property
    def batch_s(self) -> float:
        """Seconds of work that are worth being sent at once: many times what a message takes."""

    @property
    def falls_together(self) -> bool:
        """Whether a process that dies takes with it all that is under way, not only what it did itself."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have something done.

        Its future raises `concurrent.futures.BrokenExecutor` if the process died that did it; the next `submit` works
        again.

        Raises
        ------
        ExecutorError
            If there is nobody left who could do it.
        """

    def check(self) -> None:
        """Look whether anybody is there, while there is nothing to do but wait.

        Raises
        ------
        ExecutorError
            If there is nobody left who would ever finish what is under way.
        """

    def interrupt(self, name: str, futures: Iterable[Future[Any]]) -> None:
        """Have the searches of a run (`optsum.running.executors.work.Job`) end and hand over what they have.

        Its futures may be cancelled as far as they have not begun.
        """

    def end(self, futures: Iterable[Future[Any]]) -> None:
        """Give up what is under way, and leave no process behind that was started for this."""

    def close(self) -> None:
        """Let go, when all is done; what may serve a next call stays."""


AnyExecutor: TypeAlias = "Executor | Callable[[], Executor]"
"""An executor of the caller's, or a function that makes one."""


def crew_of(
    options: Options, executor: AnyExecutor | None = None, *, apart: bool = False, copied: bool = False
) -> Crew | None:
    """Return who works.

    Parameters
    ----------
    options : Options
        `workers`, `executor`, `scheduler` and `memory_per_worker` are looked at.
    executor : Executor or callable, optional
        The caller's own, before what the options say.
    apart : bool
        Whether to work in a process of its own even where one is enough.
    copied : bool
        Whether processes of this machine may begin as copies of this one.

    Returns
    -------
    Crew or None
        None: this process.

    Raises
    ------
    OptionError
        If the options contradict one another, or a package is missing.
    ExecutorError
        If there is no such cluster.
    """
    memory = options.memory
    if executor is not None:
        if memory is not None:
            raise OptionError("An executor of your own has its own limits: leave the memory per worker.")
        return Given(executor)
    if options.executor == "dask":
        if options.scheduler is not None and memory is not None:
            raise OptionError("The workers of a cluster have their own limits: give dask worker --memory-limit.")
        return Dask(options.scheduler, options.workers, memory)
    if options.scheduler is not None:
        raise OptionError("Only the executor dask has a scheduler: give --executor dask.")
    several = apart or memory is not None or options.workers > 1
    return Local(options.workers, memory, copied=copied) if several else None
