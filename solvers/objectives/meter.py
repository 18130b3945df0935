"""Several programs under the limits of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any, Final, TypeVar

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.box import DenominatorBox
from optsum.optima.diagram import Diagram
from optsum.system.clock import Deadline

from ..engine.driver import Driver
from ..engine.monitor import Monitor
from ..engine.program import Program

_COORDINATES: Final = 6  # Coordinates of boxes whose corners, 64 at most, are not counted.


def least(program: Program, engine: Driver, value: int) -> int:
    """Return the target of an engine that stands for a value of its program, and for keeping all rows."""
    return -((program.base - max(value, program.floor)) // engine.divisor)


def all_of(program: Program, engine: Driver, value: int) -> tuple[Diagram, Termination | None]:
    """Return all sets for which a program reaches a value, or some of them and the limit that was reached."""
    if not engine.feasible:
        return Diagram.of_sets([]), None
    node, reason = engine.all_of(least(program, engine, value))
    return engine.store.diagram(node), reason


T = TypeVar("T")


class Meter(Monitor):
    """The limits of a run that needs several engines, and what they did together.

    `short`: whether the last search that `hold` began ended because its nodes were used up.
    """

    def __init__(self, limits: Limits, deadline: Deadline | None = None) -> None:
        super().__init__(limits, deadline)
        self.deadline = self.deadline.or_when(self._used_up)
        self.short = False
        self._engine: Driver | None = None
        self._until = inf
        self._programs = 0
        self._corners = 0

    def check(self, memory: int = 0) -> None:
        """Stop if a limit is reached; a program without any node counts as one, or there might be no end of them."""
        super().check(memory)
        done = max(self._programs, self._corners, self.statistics.nodes)
        if self.limits.nodes is not None and done >= self.limits.nodes:
            raise Stopped(Termination.NODE_LIMIT)

    def count(self, box: DenominatorBox) -> None:
        """Stop if a limit is reached at a corner of a box; each counts as a node where there may be thousands."""
        self._corners += len(box.low) > _COORDINATES
        self.check()

    @contextmanager
    def engine(self, program: Program) -> Iterator[Driver]:
        """Give an engine for a program, with the limits that are left."""
        self.check()
        nodes = self.limits.nodes
        left = self.limits if nodes is None else replace(self.limits, nodes=nodes - self.statistics.nodes)
        engine = Driver(program, left, self.deadline)
        try:
            yield engine
        finally:
            self._programs += 1
            self.statistics.add(engine.finish())

    def hold(self, nodes: int | None, engine: Driver, search: Callable[[], T]) -> T | None:
        """Return the result of a search on an engine that may take so many nodes; None if they were used up."""
        self._engine, self.short = engine, False
        self._until = inf if nodes is None else engine.statistics.nodes + nodes
        try:
            return search()
        except Stopped:
            if not self.short:
                raise
            return None
        finally:
            self._until = inf

    def _used_up(self) -> bool:
        self.short = self._engine is not None and self._engine.statistics.nodes > self._until
        return self.short

    def as_dict(self) -> dict[str, Any]:
        """Return plain data of the whole run."""
        found = self.finish().as_dict()
        return {"programs": self._programs, **found} if self._programs else found
