"""The engine that serves a program: both have the same interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Protocol, TypeVar

from optsum.optima.diagram import Diagram

from ..engine.program import Program
from ..engine.running import Limits, Statistics, Stopped
from ..engine.singles.engine import Engine

__all__ = ["Leash", "Meter", "Searcher", "engine_of", "least"]


class _Store(Protocol):
    def diagram(self, root: int) -> Diagram: ...


class Searcher(Protocol):
    """What both engines can do; see `optsum.solvers.engine.singles.engine.Engine`."""

    divisor: int
    feasible: bool
    upper: int
    statistics: Statistics

    @property
    def store(self) -> _Store:
        """The nodes of the diagrams."""

    def all_of(self, target: int) -> tuple[int, str | None]:
        """Enumerate every set of value >= target."""

    def one_of(self, target: int) -> tuple[int, ...] | None:
        """Find one of them."""

    def value_of(self, units: tuple[int, ...]) -> int:
        """Value of a set of units."""

    def guess(self) -> tuple[tuple[int, ...], int]:
        """Return a good set and its value."""

    def finish(self) -> Statistics:
        """Close the books."""


def engine_of(program: Program, limits: Limits) -> Searcher:
    """Return the engine for a program: the one for occurrences of single units where it serves, as it is faster."""
    if program.singletons:
        return Engine(program, limits)
    from ..engine.joints.engine import GeneralEngine

    searcher: Searcher = GeneralEngine(program, limits)
    return searcher


def least(program: Program, searcher: Searcher, value: int) -> int:
    """Return the target of a searcher that stands for a value of its program."""
    return -((program.base - value) // searcher.divisor)


@dataclass
class Meter:
    """The limits of a run that needs several engines, and what they did together."""

    limits: Limits
    started: float = field(default_factory=perf_counter)
    totals: dict[str, Any] = field(default_factory=dict)

    def left(self) -> Limits:
        """Return the limits for the next engine.

        Raises
        ------
        Stopped
            If nothing is left.
        """
        limits, seconds, frames = self.limits, self.limits.seconds, self.limits.frames
        if seconds is not None and (seconds := seconds - (perf_counter() - self.started)) <= 0:
            raise Stopped("time_limit")
        if frames is not None and (frames := frames - self.totals.get("nodes", 0)) <= 0:
            raise Stopped("node_limit")
        if limits.should_stop is not None and limits.should_stop():
            raise Stopped("interrupted")
        return replace(limits, seconds=seconds, frames=frames)

    def add(self, searcher: Searcher) -> None:
        """Take note of what an engine did; it is not used any more."""
        found = searcher.finish().as_dict()
        totals = self.totals
        totals["programs"] = totals.get("programs", 0) + 1
        for name, value in found.items():
            if isinstance(value, int):
                totals[name] = max(totals.get(name, 0), value) if name == "core" else totals.get(name, 0) + value
        seconds = totals.setdefault("seconds", {})
        for phase, value in found["seconds"].items():
            seconds[phase] = seconds.get(phase, 0.0) + value

    @contextmanager
    def engine(self, program: Program) -> Iterator[Searcher]:
        """Give an engine for a program, with the limits that are left."""
        searcher = engine_of(program, self.left())
        try:
            yield searcher
        finally:
            self.add(searcher)

    def statistics(self) -> dict[str, Any]:
        """Return plain data."""
        found = {"nodes": 0, **self.totals}
        found["seconds"] = {**found.get("seconds", {}), "total": perf_counter() - self.started}
        return found


Answer = TypeVar("Answer")


class Leash:
    """Lets an engine search so many nodes and no more: pass `pulled` as ``should_stop`` of its limits.

    Attributes
    ----------
    short : bool
        Whether the last search ended because its nodes were used up.
    """

    def __init__(self, should_stop: Callable[[], bool] | None) -> None:
        self._should_stop = should_stop
        self._engine: Searcher | None = None
        self._until: int | None = None
        self.short = False

    def pulled(self) -> bool:
        """Whether to stop."""
        if self._should_stop is not None and self._should_stop():
            self._engine = None
            return True
        self.short = (
            self._engine is not None and self._until is not None and self._engine.statistics.nodes > self._until
        )
        return self.short

    def hold(self, nodes: int | None, engine: Searcher, search: Callable[[], Answer]) -> Answer | None:
        """Return what a search on an engine returns; None if it was stopped for its nodes."""
        self._engine, self.short = engine, False
        self._until = None if nodes is None else engine.statistics.nodes + nodes
        try:
            return search()
        except Stopped:
            if not self.short:
                raise
            return None
        finally:
            self._until = None
