"""One optimum of best similarities: levels are added while the search for better sets goes on.

What is worth T is worth no less on a truncated instance (`optsum.coverage.facility`). A search for sets that are worth
T there, T rising with each that is found (`Driver.rising`), may meet one that misses floors and is worth less in truth.
Then more levels are kept, and the search goes on with the subtrees that it had left: those that are done hold nothing
worth T on fewer levels, so they hold nothing on more. Where none is left, nothing is worth T.

Targets come from the bound downwards, in growing steps. The first ones cost little, and what is found there is near the
optimum: so the levels that good selections reach are known before the costly proof.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Final

from optsum.contracts.run import Run
from optsum.coverage.facility import Facility
from optsum.coverage.instance import IntArray
from optsum.errors import BackendError

from .engine.core import States
from .engine.driver import Driver
from .engine.monitor import Statistics
from .levels import limits_left
from .objectives.meter import least
from .objectives.minimum import with_minimum_row
from .objectives.recall import recall_program

_PARTS: Final = 16
"""The first step from the bound downwards is this part of the gap."""

_GROWTH: Final = 3
"""Ratio of each step to the one before."""


class Refining:
    """A search for one optimum of an instance with a constant denominator, a run's whole problem, that proves it.

    Its `upper` bounds all selections, and `undone` is left of the search for `target`.
    """

    def __init__(self, run: Run, facility: Facility) -> None:
        self._run, self._facility = run, facility
        self._full = int(facility.constants[1])
        self._kept: IntArray = facility.first_kept()
        self._total = Statistics()
        self._upper: int | None = None if run.bound is None else floor(Fraction(run.bound) * self._full)
        self._target, self._passes = 0, 0
        self._undone: list[States] = []
        self._missed: tuple[int, ...] = ()

    def search(self) -> None:
        """Search with more and more levels."""
        run, rounds = self._run, 0
        while not run.proven:
            run.check()
            rounds += 1
            program = recall_program(with_minimum_row(self._facility.truncated(self._kept)))
            engine = Driver(program, limits_left(run), run.deadline)
            try:
                if not engine.feasible:
                    run.prove()
                    return
                self._bounded(engine.upper * engine.divisor + program.base)
                if rounds == 1:
                    run.see(engine.guess()[0])
                self._close(engine, lambda value: least(program, engine, value))  # noqa: B023 - called in this round
            finally:
                done = engine.finish()
                self._total.add(done)
                run.count(nodes=done.nodes)
                run.statistics.update({**self._total.as_dict(), "rounds": rounds})

    def _close(self, engine: Driver, aim: Callable[[int], int]) -> None:
        """Close the gap, until a set misses floors or nothing is left; `aim` is the target for a value."""
        run, value = self._run, self._value()
        while self._upper is None or value < self._upper:
            if not self._undone:
                self._next_target(value)

            def judge(units: tuple[int, ...]) -> int | None:
                return aim(self._target) if self._reaches(units) else None

            self._undone = engine.rising(aim(self._target), judge, self._undone)
            if self._undone:
                self._refine()
                return
            value = self._value()
            self._bounded(self._target - 1)
        run.prove()

    def _next_target(self, value: int) -> None:
        """Begin another search, further below the bound."""
        upper = self._upper if self._upper is not None else value + 1
        step = max(1, (upper - value) // _PARTS) * _GROWTH**self._passes
        self._target, self._passes = max(value + 1, upper - step + 1), self._passes + 1

    def _reaches(self, units: tuple[int, ...]) -> bool:
        """Take note of a set that is worth the target on few levels; return whether it is in truth."""
        found = self._run.see(units)
        if not found.feasible:
            raise BackendError(f"branch-and-bound claims that {sorted(units)} is feasible: it is no result.")
        reached = Fraction(found.key) * self._full >= self._target
        if not reached:
            self._missed = units
        self._target = max(self._target, self._value() + 1)
        return reached

    def _refine(self) -> None:
        """Keep the levels that are missing where a set was worth less than it seemed, and where the best is."""
        more = self._facility.more_kept(self._kept, self._missed)
        if (more == self._kept).all():
            raise BackendError(f"branch-and-bound claims {self._target} for {sorted(self._missed)}: it is no result.")
        self._kept = self._facility.more_kept(more, self._run.selection or ())

    def _value(self) -> int:
        """Return the numerator of the best selection; less than any has if there is none."""
        found = self._run.evaluation
        return -1 if found is None else int(Fraction(found.key) * self._full)

    def _bounded(self, upper: int) -> None:
        self._upper = upper if self._upper is None else min(upper, self._upper)
        # What is found already bounds from below what may be said.
        self._run.raise_bound(Fraction(max(self._upper, self._value()), self._full))
