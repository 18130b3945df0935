"""Whatever the caller has: any `concurrent.futures.Executor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from optsum.errors import ExecutorError
from optsum.running.executors.local import interrupt_processes
from optsum.running.executors.work import interrupt_here


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
