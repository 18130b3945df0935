"""What is left of a time limit: handed down to whatever may take long, so that nothing outlives the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from math import inf
from time import perf_counter
from typing import Final, Literal, TypeVar

__all__ = ["NEVER", "Deadline", "TimeOver"]


Item = TypeVar("Item")

_BETWEEN_LOOKS: Final = 256
"""Items of a loop between two looks at the clock."""


class TimeOver(Exception):  # noqa: N818 - no error: a limit was reached
    """The deadline came before something was made that nothing can stand in for."""


class Deadline:
    """A point in time at which work ends, and a caller who may want it to end earlier.

    Whoever does something long takes one and asks `passed` every 20 to 100 ms; whoever calls a solver tells it
    `left_s`. It starts with its creation; parts of the work share the one of the whole.

    Parameters
    ----------
    seconds : float, optional
        From now on; None for no limit.
    should_stop : callable, optional
        Asked with the clock; a true answer ends the work.
    """

    __slots__ = ("_ends", "_should_stop")

    def __init__(self, seconds: float | None = None, should_stop: Callable[[], bool] | None = None) -> None:
        self._ends = inf if seconds is None else perf_counter() + seconds
        self._should_stop = should_stop

    @property
    def left_s(self) -> float:
        """Seconds left, at least 0; infinite without a limit."""
        return max(0.0, self._ends - perf_counter())

    @property
    def limited(self) -> bool:
        """Whether there is anything that could end the work."""
        return self._ends < inf or self._should_stop is not None

    @property
    def reason(self) -> Literal["time_limit", "interrupted"] | None:
        """Why to end now, in the words of `optsum.contracts.result.Termination`; None to go on."""
        if self._ends <= perf_counter():
            return "time_limit"
        if self._should_stop is not None and self._should_stop():
            return "interrupted"
        return None

    @property
    def passed(self) -> bool:
        """Whether to end now."""
        return self.reason is not None

    def check(self) -> None:
        """Go on if there is time.

        Raises
        ------
        TimeOver
        """
        if self.passed:
            raise TimeOver

    def watching(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, as long as there is time.

        Raises
        ------
        TimeOver
        """
        return chain.from_iterable(self._batches(iter(items))) if self.limited else iter(items)

    def _batches(self, items: Iterator[Item]) -> Iterator[list[Item]]:
        while batch := list(islice(items, _BETWEEN_LOOKS)):
            self.check()
            yield batch

    def or_when(self, should_stop: Callable[[], bool]) -> Deadline:
        """Return a deadline that also passes when a function says so."""
        earlier = self._should_stop
        both = should_stop if earlier is None else (lambda: earlier() or should_stop())
        found = Deadline(None, both)
        found._ends = self._ends
        return found

    def within(self, seconds: float) -> Deadline:
        """Return a deadline for a part of the work: in so many seconds, or when this one ends if that is sooner."""
        return Deadline(min(seconds, self._ends - perf_counter()), self._should_stop)


NEVER: Final = Deadline()
"""For work that may take as long as it takes."""
