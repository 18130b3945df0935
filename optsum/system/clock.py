"""The end of work, and its clock, which stands while kernels are compiled: no limit and no row is charged for that."""

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
    """Why the search stopped."""

    COMPLETED = "completed"
    """By itself: proven, or nothing left to try."""
    TIME_LIMIT = "time_limit"
    """`Limits.time_s` ran out."""
    MEMORY_LIMIT = "memory_limit"
    """There is no room for more; what was found by then is kept."""
    NODE_LIMIT = "node_limit"
    """`Limits.nodes` was reached."""
    EVALUATION_LIMIT = "evaluation_limit"
    """`Limits.evaluations` was reached."""
    GAP_REACHED = "gap_reached"
    """The gap is at most `Limits.gap`."""
    TARGET_REACHED = "target_reached"
    """The objective is at least as good as `Limits.target`."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or a callback that asked to stop."""
    FAILED = "failed"
    """An error; nothing is claimed."""


class Stopped(Exception):  # noqa: N818 - a signal, never an error
    """Raised at a limit; strategies let it pass."""

    def __init__(self, termination: Termination, detail: str | None = None) -> None:
        super().__init__(termination, detail)
        self.termination = termination
        self.detail = detail


class Deadline:
    """A point in time at which work ends, and a caller who may want it to end earlier.

    Whoever does something long takes one and asks `passed` every 20 to 100 ms; whoever calls a solver tells it
    `left_s`. It starts with its creation; parts of the work share the one of the whole. Whoever takes a
    KeyboardInterrupt for the end of his part says so (`interrupt`), so that no other part begins or goes on.

    `seconds`: from now on; None for no limit. `should_stop`: asked with the clock; a true answer ends the work.
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
        """Whether there is anything that could end the work."""
        return self._ends < inf or self._should_stop is not None or bool(self._interrupted)

    @property
    def reason(self) -> Termination | None:
        """Why to end now; None to go on."""
        if self._interrupted:
            return Termination.INTERRUPTED
        if self._ends <= clock():
            return Termination.TIME_LIMIT
        if self._should_stop is not None and self._should_stop():
            return Termination.INTERRUPTED
        return None

    @property
    def passed(self) -> bool:
        """Whether to end now."""
        return self.reason is not None

    def interrupt(self) -> None:
        """Let this deadline pass, and those of the whole that it is of and of all its parts: Ctrl-C was heard."""
        self._interrupted.append(True)

    def check(self) -> None:
        """Go on if there is time; raise `Stopped` if there is none."""
        if (reason := self.reason) is not None:
            raise Stopped(reason)

    def watching(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items, as long as there is time; then raise `Stopped`."""
        return chain.from_iterable(self._batches(iter(items))) if self.limited else iter(items)

    def _batches(self, items: Iterator[Item]) -> Iterator[list[Item]]:
        while batch := list(islice(items, _BETWEEN_LOOKS)):
            self.check()
            yield batch

    def within(self, seconds: float) -> Deadline:
        """Return a deadline for a part of the work: in some seconds, or when this one ends if that is sooner."""
        return self._part(min(self._ends, clock() + seconds))

    def later(self, seconds: float) -> Deadline:
        """Return a deadline that ends some seconds after this one."""
        return self._part(self._ends + seconds)

    def _part(self, ends: float) -> Deadline:
        found = Deadline(None, self._should_stop)
        found._ends, found._interrupted = ends, self._shared()
        return found

    def _shared(self) -> list[bool]:
        return self._interrupted


class _Never(Deadline):
    """The deadline of work without an end; an interrupt of some of that work does not touch the rest."""

    __slots__ = ()

    def interrupt(self) -> None:
        """Do nothing."""

    def _shared(self) -> list[bool]:
        return []


NEVER: Final[Deadline] = _Never()  # For work that may take as long as it takes.

_SLICE_S: Final = 0.02  # About how long a kernel runs between two looks at the limits.
_LONGEST_STRIDE: Final = 1 << 30


class Stride:
    """A number of steps that a kernel makes at a time, which take some milliseconds as the last ones did.

    The kernel can be left and taken up again; where it is left must not matter to what it does.
    """

    def __init__(self, first: int) -> None:
        self._size = first

    def go(self, kernel: Callable[[int], Item], most: int | None = None) -> Item:
        """Let a kernel go one stride, `most` at most."""
        began = clock()
        found = kernel(self._size if most is None else max(1, min(self._size, most)))
        factor = min(2.0, _SLICE_S / max(clock() - began, 1e-9))
        self._size = max(1, min(int(self._size * factor), _LONGEST_STRIDE))
        return found


of_search: Final[ContextVar[Deadline]] = ContextVar("of_search", default=NEVER)
"""That of the search under way, for evaluations that take a solver; they are called without one."""


class _Stops:
    """How long the clock has stood in all, and since when it stands."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.total = 0.0
        self.since = 0.0
        self.depth = 0


_STOPS = _Stops()


def clock() -> float:
    """Return seconds, as `time.perf_counter` does, without those in which the clock stood."""
    return (_STOPS.since if _STOPS.depth else perf_counter()) - _STOPS.total


@contextmanager
def standing() -> Iterator[None]:
    """Let the clock stand meanwhile."""
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
