"""Search best similarities with few levels at a time, until the optimum is valid for all levels.

A truncated instance (`optsum.coverage.instance.Facility.truncated`) has at least the value of the full one on every
selection, so its bound is valid. If its optimum reaches the floors of all tokens, both values are equal there, and it
is optimal. Otherwise more levels are kept of the tokens whose floors it misses; each round keeps more, so that the
process ends.

For one optimum of an instance with a constant denominator, levels are added during the search for better sets
(`Refining`). A search on a truncated instance for sets that reach a target, which rises with each set found
(`Driver.rising`), may find one that misses floors and has a lower true value. Then more levels are kept, and the search
continues with the remaining subtrees: finished ones have no set that reaches the target with fewer levels, hence none
with more. If no subtree remains, nothing reaches the target.

Targets descend from the bound in growing steps. The first ones are cheap, and sets found there are near the optimum, so
that the levels of good selections are known before the costly proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.strategy import Run, limits_left
from optsum.coverage.instance import Facility, IntArray, key_of, score
from optsum.errors import BackendError
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Optima
from optsum.problem.problem import CoverageProblem, Problem
from optsum.system.clock import Limits, clock

from .engine.core import States, with_minimum_row
from .engine.driver import Driver, Statistics
from .objectives.one_ratio import recall_program

_PARTS: Final = 16  # Divisor of the gap that gives the first step from the bound downwards.
_GROWTH: Final = 3  # Ratio of each step to the one before.


class Refining:
    """A search that finds and proves one optimum of an instance with a constant denominator, a run's whole problem."""

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
                self._bounded(engine.worth(engine.upper))
                if rounds == 1:
                    run.see(engine.guess()[0])
                self._close(engine)
            finally:
                done = engine.finish()
                self._total.add(done)
                run.count(nodes=done.nodes)
                run.statistics.update({**vars(self._total), "seconds": dict(self._total.seconds), "rounds": rounds})

    def _close(self, engine: Driver) -> None:
        run, value = self._run, self._value()
        while self._upper is None or value < self._upper:
            if not self._undone:
                upper = self._upper if self._upper is not None else value + 1
                step = max(1, (upper - value) // _PARTS) * _GROWTH**self._passes
                self._target, self._passes = max(value + 1, upper - step + 1), self._passes + 1

            def judge(units: tuple[int, ...]) -> int | None:
                return engine.aim(self._target) if self._reaches(units) else None

            self._undone = engine.rising(engine.aim(self._target), judge, self._undone)
            if self._undone:
                more = self._facility.more_kept(self._kept, self._missed)
                if (more == self._kept).all():
                    claim = f"{self._target} for {sorted(self._missed)}"
                    raise BackendError(f"branch-and-bound claims {claim}: this is not a valid result.")
                self._kept = self._facility.more_kept(more, run.selection or ())
                return
            value = self._value()
            self._bounded(self._target - 1)
        run.prove()

    def _reaches(self, units: tuple[int, ...]) -> bool:
        """Record a set that reaches the target with few levels; return whether its true value does."""
        found = self._run.see(units)
        if not found.feasible:
            raise BackendError(f"branch-and-bound claims that {sorted(units)} is feasible: this is not a valid result.")
        reached = Fraction(found.key) * self._full >= self._target
        if not reached:
            self._missed = units
        self._target = max(self._target, self._value() + 1)
        return reached

    def _value(self) -> int:
        found = self._run.evaluation
        return -1 if found is None else int(Fraction(found.key) * self._full)

    def _bounded(self, upper: int) -> None:
        self._upper = upper if self._upper is None else min(upper, self._upper)
        # What is found already bounds from below what may be said.
        self._run.raise_bound(Fraction(max(self._upper, self._value()), self._full))


def search_by_levels(run: Run, facility: Facility, search: Callable[[Run], None]) -> None:
    """Search an instance of best similarities by calling `search` on truncated ones."""
    kept, rounds = facility.first_kept(), 0
    while True:
        rounds += 1
        left = run.limits.after(run.elapsed, nodes=run.nodes, evaluations=run.evaluations)
        left = replace(left, gap=None, target=None)
        problem = CoverageProblem.of(facility.truncated(kept))
        # What bounds an instance bounds those with more levels; what is good there is a good beginning here.
        bound = run.root_bound if run.bound is None else run.bound
        inner = Run(problem, left, run.rng, run.seed, lambda _: run.deadline.reason != "interrupted", bound)
        if run.selection is not None:
            inner.see(run.selection)
        try:
            search(inner)
        finally:
            run.count(evaluations=inner.evaluations, nodes=inner.nodes)
            run.statistics.update({**inner.statistics, "rounds": rounds})
            run.detail = inner.detail or run.detail
            if inner.selection is not None:
                run.see(inner.selection)
            if inner.bound is not None:
                run.raise_bound(inner.bound)
        if not inner.proven:
            return
        if inner.evaluation is None or (run.evaluation is not None and run.evaluation.key == inner.evaluation.key):
            run.prove()
            return
        run.check()
        kept = facility.more_kept(kept, inner.selection or ())


def all_by_levels(
    facility: Facility,
    limits: Limits,
    should_stop: Callable[[], bool] | None,
    enumerate_: Callable[[Problem, Limits, Callable[[], bool] | None], Optima],
) -> Optima:
    """Return all optima, or near-optimal sets, of an instance of best similarities, found on truncated ones.

    Values are no lower on a truncated instance, so its family contains all optima; if each of its sets reaches all
    floors, it contains no others.
    """
    began, kept, nodes, rounds = clock(), facility.first_kept(every=True), 0, 0
    while True:
        rounds += 1
        left = limits.after(clock() - began, nodes=nodes)
        found = enumerate_(CoverageProblem.of(facility.truncated(kept)), left, should_stop)
        nodes += found.nodes
        found = replace(found, statistics={**found.statistics, "nodes": nodes, "rounds": rounds})
        missed = _missed(facility, facility.floors(kept), found.diagram)
        if found.best is not None:
            missed |= _missed(facility, facility.floors(kept), Diagram.of_sets([found.best]))
        if not missed.any():
            return found
        if not found.complete:
            best = found.best if found.best is not None else next(iter(found), None)
            totals = (0,) if best is None else score(facility, best)[0]
            value = totals[0] if facility.constant_denominator or best is None else key_of(facility, totals, 0)
            known = Diagram.of_sets([] if best is None else [best])
            return replace(found, diagram=known, value=value, least=None, best=best)
        kept = np.where(missed, 2 * kept, kept)


def _missed(facility: Facility, floors: IntArray, diagram: Diagram) -> NDArray[np.bool_]:
    """Return for each token whether a set of a family misses its floor; the empty set has the value 0 anyway."""
    tokens = len(floors)
    everything = (1 << tokens) - 1
    below = np.packbits(floors > facility.similar.T, axis=1, bitorder="little")
    outside = [int.from_bytes(row.tobytes(), "little") for row in below]
    # Bit r of node x: whether a set of its family has no unit that reaches the floor of r; and such a set with units.
    any_set, with_units = [0, everything], [0, 0]
    for unit, without, with_ in diagram.rows[2:]:
        added = any_set[with_] & outside[unit]
        any_set.append(any_set[without] | added)
        with_units.append(with_units[without] | added)
    bits = with_units[diagram.root].to_bytes(-(-tokens // 8), "little")
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=tokens, bitorder="little").astype(bool)
