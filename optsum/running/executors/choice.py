"""Which executor the options ask for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, TypeAlias

from optsum.errors import OptionError
from optsum.running.executors.crew import Crew
from optsum.running.executors.dask import Dask
from optsum.running.executors.given import Given
from optsum.running.executors.local import Local

if TYPE_CHECKING:
    from optsum.options.options import Options

__all__ = ["AnyExecutor", "crew_of"]

AnyExecutor: TypeAlias = "Executor | Callable[[], Executor]"
"""An executor of the caller's, or a function that makes one."""


def crew_of(options: Options, executor: AnyExecutor | None = None, *, apart: bool = False) -> Crew | None:
    """Return who works.

    Parameters
    ----------
    options : Options
        `workers`, `executor`, `scheduler` and `memory_per_worker` are looked at.
    executor : Executor or callable, optional
        The caller's own, before what the options say.
    apart : bool
        Whether to work in a process of its own even where one is enough.

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
    return Local(options.workers, memory) if apart or memory is not None or options.workers > 1 else None
