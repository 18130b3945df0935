"""The one interface of all executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any, Protocol


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
