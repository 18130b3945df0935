"""Deadlines and their clock, which pauses during compilation, so that limits and rows exclude it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from itertools import chain, islice
from math import inf
from threading import RLock
from time import perf_counter
from typing import Final, TypeVar

Item = TypeVar("Item")

_BETWEEN_LOOKS: Final = 256  # Items of a loop between two looks at the clock.


class Termination(StrEnum):
    """Why a search stopped."""

    COMPLETED = "completed"
    """Ended by itself: proven, or nothing left to try."""
    TIME_LIMIT = "time_limit"
    """`Limits.time_s` has passed."""
    MEMORY_LIMIT = "memory_limit"
    """There is no memory for more; the findings so far are kept."""
    NODE_LIMIT = "node_limit"
    """`Limits.nodes` was reached."""
    EVALUATION_LIMIT = "evaluation_limit"
    """`Limits.evaluations` was reached."""
    GAP_REACHED = "gap_reached"
    """The gap is at most `Limits.gap`."""
    TARGET_REACHED = "target_reached"
    """The objective is at least as good as `Limits.target`."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or a callback that requested the end."""
    FAILED = "failed"
    """An error; nothing is claimed."""


class Stopped(Exception):  # noqa: N818 - a signal, never an error
    """Raised at a limit; strategies must not catch it."""

    def __init__(self, termination: Termination, detail: str | None = None) -> None:
        super().__init__(termination, detail)
        self.termination = termination
        self.detail = detail


class Deadline:
    """A point in time at which work ends, and a callback that may end it earlier.

    Long work checks `passed` every 20 to 100 ms, and passes `left_s` to solvers. Time starts with creation; parts of
    the work share the deadline of the whole. Code that handles a KeyboardInterrupt by ending its part calls
    `interrupt`, so that no other part begins or continues.

    `seconds`: from now on; None for no limit. `should_stop`: called with each check; a true answer ends the work.
    """

    __slots__ = ("_ends", "_interrupted", "_should_stop")

    def __init__(self, seconds: float | None = None, should_stop: Callable[[], bool] | None = None) -> None:
        self._ends = inf if seconds is None else clock() + seconds
        self._should_stop = should_stop
        self._interrupted: list[bool] = []  # not empty after Ctrl-C: shared by the whole and its parts

    @property
    def left_s(self) -> float:
        """Seconds left, at least 0; infinite without a limit."""
        return max(0.0, self._ends - clock())

    @property
    def limited(self) -> bool:
        """Whether anything can end the work."""
        return self._ends < inf or self._should_stop is not None or bool(self._interrupted)

    @property
    def reason(self) -> Termination | None:
        """Why the work must end now; None to continue."""
        if self._interrupted:
            return Termination.INTERRUPTED
        if self._ends <= clock():
            return Termination.TIME_LIMIT
        if self._should_stop is not None and self._should_stop():
            return Termination.INTERRUPTED
        return None

    @property
    def passed(self) -> bool:
        """Whether the work must end now."""
        return self.reason is not None

    def interrupt(self) -> None:
        """Make this deadline pass after Ctrl-C, together with those of the whole work and of all its parts."""
        self._interrupted.append(True)

    def check(self) -> None:
        """Return if there is time left; raise `Stopped` if there is none."""
        if (reason := self.reason) is not None:
            raise Stopped(reason)

    def watching(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items while there is time, and then raise `Stopped`."""
        return chain.from_iterable(self._batches(iter(items))) if self.limited else iter(items)

    def _batches(self, items: Iterator[Item]) -> Iterator[list[Item]]:
        while batch := list(islice(items, _BETWEEN_LOOKS)):
            self.check()
            yield batch

    def within(self, seconds: float) -> Deadline:
        """Return a deadline for a part of the work: in some seconds, or at the end of this one if that is earlier."""
        return self._part(min(self._ends, clock() + seconds))

    def later(self, seconds: float) -> Deadline:
        """Return a deadline some seconds after this one."""
        return self._part(self._ends + seconds)

    def _part(self, ends: float) -> Deadline:
        found = Deadline(None, self._should_stop)
        found._ends, found._interrupted = ends, self._shared()
        return found

    def _shared(self) -> list[bool]:
        return self._interrupted


class _Never(Deadline):
    """The deadline of work without an end; interrupting some of that work does not affect the rest."""

    __slots__ = ()

    def interrupt(self) -> None:
        """Do nothing."""

    def _shared(self) -> list[bool]:
        return []


NEVER: Final[Deadline] = _Never()  # For work that may take as long as it takes.

_SLICE_S: Final = 0.02  # About how long a kernel runs between two looks at the limits.
_LONGEST_STRIDE: Final = 1 << 30


class Stride:
    """The number of steps that a kernel makes at a time, adjusted to take some milliseconds.

    The kernel can be paused after any step, which must not change its outcome.
    """

    def __init__(self, first: int) -> None:
        self._size = first

    def go(self, kernel: Callable[[int], Item], most: int | None = None) -> Item:
        """Run a kernel for one stride, of at most `most` steps."""
        began = clock()
        found = kernel(self._size if most is None else max(1, min(self._size, most)))
        factor = min(2.0, _SLICE_S / max(clock() - began, 1e-9))
        self._size = max(1, min(int(self._size * factor), _LONGEST_STRIDE))
        return found


of_search: Final[ContextVar[Deadline]] = ContextVar("of_search", default=NEVER)
"""The deadline of the current search, for evaluations that call a solver, which have no parameter for it."""


class _Stops:
    """The total time for which the clock was paused, and the start of the current pause."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.total = 0.0
        self.since = 0.0
        self.depth = 0


_STOPS = _Stops()


def clock() -> float:
    """Return seconds like `time.perf_counter`, without the time in which the clock was paused."""
    return (_STOPS.since if _STOPS.depth else perf_counter()) - _STOPS.total


@contextmanager
def standing() -> Iterator[None]:
    """Pause the clock."""
    entered = False
    try:  # Ctrl-C may come as soon as the lock is free, and must not leave the clock standing
        with _STOPS.lock:
            if not _STOPS.depth:
                _STOPS.since = perf_counter()
            _STOPS.depth += 1
            entered = True
        yield
    finally:
        if entered:
            with _STOPS.lock:
                if _STOPS.depth == 1:  # in this order: no thread that looks meanwhile sees what is not counted
                    now = perf_counter()
                    _STOPS.total += now - _STOPS.since
                    _STOPS.since = now
                _STOPS.depth -= 1
