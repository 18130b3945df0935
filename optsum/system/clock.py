"""Define limits, deadlines and their clock, which pauses during compilation: no limit or reported time includes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, islice
from math import inf, isnan
from numbers import Real
from threading import RLock
from time import perf_counter
from typing import Any, Final, TypeVar

from optsum.errors import OptionError
from optsum.whole import LARGEST, whole

Item = TypeVar("Item")


class Termination(StrEnum):
    """Why a search stopped."""

    COMPLETED = "completed"
    """The search ended by itself: its answer is proven, or there was nothing left to try."""
    TIME_LIMIT = "time_limit"
    """`Limits.time_s` has passed."""
    MEMORY_LIMIT = "memory_limit"
    """The memory limit was reached; the findings so far are kept."""
    NODE_LIMIT = "node_limit"
    """`Limits.nodes` was reached."""
    EVALUATION_LIMIT = "evaluation_limit"
    """`Limits.evaluations` was reached."""
    GAP_REACHED = "gap_reached"
    """The gap is at most `Limits.gap`."""
    TARGET_REACHED = "target_reached"
    """The objective is at least as good as `Limits.target`."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or a callback, ended the search."""
    FAILED = "failed"
    """An error ended the search, and nothing is claimed."""


class Stopped(Exception):  # noqa: N818 - a signal, never an error
    """Raised to end work at a limit; strategies must not catch it."""

    def __init__(self, termination: Termination, detail: str | None = None) -> None:
        super().__init__(termination, detail)
        self.termination = termination
        self.detail = detail


class Deadline:
    """A point in time at which work ends, and a callback that may end it earlier.

    Long work checks `passed` every 20 to 100 ms, and passes `left_s` to solvers. Parts of the work share its deadline.
    A part that ends after a KeyboardInterrupt calls `interrupt`, so that no other part begins or continues.

    `seconds`: from creation; None for no limit. `should_stop`: called at each check; a true answer ends the work.
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
        """Make this deadline pass after Ctrl-C, and with it the deadlines of the whole work and of all its parts."""
        if self is not NEVER:  # it is shared by unrelated work
            self._interrupted.append(True)

    def check(self) -> None:
        """Raise `Stopped` if the work must end now."""
        if (reason := self.reason) is not None:
            raise Stopped(reason)

    def watching(self, items: Iterable[Item]) -> Iterator[Item]:
        """Return an iterator over the items that raises `Stopped` once the work must end."""
        return chain.from_iterable(self._batches(iter(items))) if self.limited else iter(items)

    def _batches(self, items: Iterator[Item]) -> Iterator[list[Item]]:
        while batch := list(islice(items, 256)):  # items between two looks at the clock
            self.check()
            yield batch

    def within(self, seconds: float) -> Deadline:
        """Return a deadline for a part of the work: after some seconds, but not later than this deadline."""
        return self._part(min(self._ends, clock() + seconds))

    def later(self, seconds: float) -> Deadline:
        """Return a deadline some seconds after this one."""
        return self._part(self._ends + seconds)

    def _part(self, ends: float) -> Deadline:
        found = Deadline(None, self._should_stop)
        found._ends, found._interrupted = ends, [] if self is NEVER else self._interrupted
        return found


NEVER: Final = Deadline()  # For work without a limit.
CERTIFICATE_S: Final = 0.5  # Seconds that a bound may take after a search has used up its time limit.
INTERRUPTED_S: Final = 0.2  # Seconds that a first selection and a bound may take after Ctrl-C.
_MEMORY: Final = 1_500_000_000
_LONGEST_S: Final = 1e9  # Seconds above which (30 years) a limit counts as none; timers cannot take more.

LIMIT_OPTIONS: Final = {  # The names of the limits as options of `optsum.solve`, and their names here.
    "time_limit": "time_s",
    "node_limit": "nodes",
    "evaluation_limit": "evaluations",
    "gap": "gap",
    "target": "target",
}


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Limits:
    """When to stop a search early; None for no limit.

    Attributes
    ----------
    time_s : float
        Seconds of search (`Termination.TIME_LIMIT`); ``time_limit=`` is the same.
    evaluations : int
        Selections evaluated (`Termination.EVALUATION_LIMIT`).
    nodes : int
        Nodes of a search tree (`Termination.NODE_LIMIT`).
    gap : float
        Relative gap that is good enough (`Termination.GAP_REACHED`).
    target : float
        Objective that is good enough (`Termination.TARGET_REACHED`).
    memory : int
        Bytes that a search may take for the selections it keeps (`Termination.MEMORY_LIMIT`); always limited.
    grace_s : float
        Seconds that building the problem, and later a first selection and a bound, may take even if less is left.
    """

    time_s: float | None = None
    evaluations: int | None = None
    nodes: int | None = None
    gap: float | None = None
    target: float | None = None
    memory: int = _MEMORY
    grace_s: float = CERTIFICATE_S

    def __init__(
        self,
        *,
        time_s: float | None = None,
        evaluations: int | None = None,
        nodes: int | None = None,
        gap: float | None = None,
        target: float | None = None,
        memory: int = _MEMORY,
        grace_s: float = CERTIFICATE_S,
        time_limit: float | None = None,
    ) -> None:
        if time_limit is not None and time_s is not None:
            raise OptionError("The seconds of search are given as time_s= or as time_limit=: leave out one of the two.")
        seconds = time_limit if time_s is None else time_s
        given = (seconds, evaluations, nodes, gap, target, memory, grace_s)
        for name, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, name, value)
            if value is None and name in {"memory", "grace_s"}:
                raise OptionError(f"The limit {name} is None; give a number.")
            if value is None:
                continue
            if name in {"evaluations", "nodes", "memory"}:
                most = whole(value, f"The limit {name}", least=0, most=10**400, error=OptionError)
                object.__setattr__(self, name, min(most, LARGEST))
                continue
            no_number = isinstance(value, bool) or not isinstance(value, int | float | Real)
            if no_number or type(value).__name__ == "timedelta64":  # numpy takes it for a whole number
                raise OptionError(f"The limit {name} is {value!r:.40}; give a number.")
            try:
                number = float(value)
            except OverflowError:  # a whole number of more than 300 digits
                number = inf if value > 0 else -inf
            if isnan(number) or (number < 0 and name != "target"):
                raise OptionError(f"The limit {name} is {value}; it must be 0 or more.")
            object.__setattr__(self, name, None if name == "time_s" and number > _LONGEST_S else number)

    @property
    def time_limit(self) -> float | None:
        """Seconds of search: `time_s` under its name as an option."""
        return self.time_s

    @classmethod
    def named(cls, given: Mapping[str, Any]) -> Limits:
        """Return limits from their names as options (`LIMIT_OPTIONS`)."""
        return cls(**{LIMIT_OPTIONS[name]: value for name, value in given.items()})

    def after(self, seconds: float = 0.0, *, nodes: int = 0, evaluations: int = 0) -> Limits:
        """Return the limits that remain after some seconds, nodes and evaluations."""
        left: dict[str, Any] = {}
        for name, used in (("time_s", seconds), ("nodes", nodes), ("evaluations", evaluations)):
            limit = getattr(self, name)
            if used and limit is not None:
                left[name] = max(0, limit - used)
        return replace(self, **left) if left else self

    def building(self) -> Deadline:
        """Return the deadline for building the problem: the time limit, but at least `grace_s`."""
        return Deadline(None if self.time_s is None else max(self.time_s, self.grace_s))

    def late(self, deadline: Deadline, *, interrupted: bool = False) -> Deadline:
        """Return the deadline of steps after a search: that of the search, at least `grace_s`; 0.2 s after Ctrl-C."""
        hurried = interrupted or deadline.reason == "interrupted"
        return Deadline(INTERRUPTED_S if hurried else max(deadline.left_s, self.grace_s))


_SLICE_S: Final = 0.02  # Intended seconds of a kernel between two checks of the limits.


def in_strides(first: int) -> Callable[..., Any]:
    """Return a function that calls a kernel with a number of steps, adjusted so that each call takes about 20 ms.

    The kernel must be able to continue after any number of steps. `first`: steps of the first call. The function's
    second argument limits the steps of a call.
    """
    size = first

    def go(kernel: Callable[[int], Any], most: int | None = None) -> Any:
        nonlocal size
        began = clock()
        found = kernel(size if most is None else max(1, min(size, most)))
        factor = min(2.0, _SLICE_S / max(clock() - began, 1e-9))
        size = max(1, min(int(size * factor), 1 << 30))
        return found

    return go


of_search: Final[ContextVar[Deadline]] = ContextVar("of_search", default=NEVER)
"""The deadline of the current search, for evaluations that call a solver, which have no parameter for it."""


class _STOPS:
    """The total time for which the clock was paused, and the start of the current pause."""

    lock, total, since, depth = RLock(), 0.0, 0.0, 0


def clock() -> float:
    """Return seconds like `time.perf_counter`, without the time in which the clock was paused."""
    return (_STOPS.since if _STOPS.depth else perf_counter()) - _STOPS.total


@contextmanager
def standing() -> Iterator[None]:
    """Pause the clock."""
    entered = False
    try:  # Ctrl-C may come once the lock is free, and must not leave the clock paused
        with _STOPS.lock:
            if not _STOPS.depth:
                _STOPS.since = perf_counter()
            _STOPS.depth += 1
            entered = True
        yield
    finally:
        if entered:
            with _STOPS.lock:
                if _STOPS.depth == 1:  # in this order, so that the clock never jumps for other threads
                    now = perf_counter()
                    _STOPS.total += now - _STOPS.since
                    _STOPS.since = now
                _STOPS.depth -= 1
