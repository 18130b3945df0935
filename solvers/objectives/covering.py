"""Means of ratios: linear programs that no good selection escapes, and exact evaluation of what they hold.

`optsum.program.surrogate` covers all selections that are worth as much as the incumbent by a few programs. The engine
lists what each of them holds, as a diagram; every set of it is evaluated in integers, ties as exact fractions. Where a
program could hold much that is worth less, its cell of denominators is split first.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf
from operator import mul
from typing import Final, TypeAlias

import numpy as np

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.cell import Cell
from optsum.coverage.evaluate import key_of
from optsum.coverage.instance import Combination, Coverage
from optsum.coverage.state import arrays_of
from optsum.optima.algebra import union
from optsum.optima.counting import count_feasible_forest
from optsum.optima.diagram import EMPTY_FAMILY, Diagram
from optsum.optima.tally import chosen_sets, rough_values, totals_of_sets, worth_of_sets
from optsum.problem.problem import Selection
from optsum.program.surrogate import Weighted, cell_of, excess, programs, reaches, within
from optsum.program.tangent import anchored, relaxed_anchor
from optsum.system.deadline import Deadline

from ..engine.driver import Driver
from ..engine.program import Program, program_of, spread
from .guards import guarded, positive_program
from .meter import Leash, Meter, all_of, least
from .prices import CellPrices
from .ratio import Best

_TOLERANCE: Final = 3e-4
"""A cell is split while its programs make more than this, as a share, of typical numerators."""

FEW: Final = 2_000

_NEAR: Final = 1e-9
"""Values this near to the largest, as a share, are compared exactly."""

_REACH: Final = 2.0**46
"""About how large programs become."""

_LISTED: Final = 2_000_000
"""Sets that one program may hold; more are not evaluated."""

_SAMPLE: Final = 500
"""Sets that are looked at where there are too many, or not yet all."""

_EXCHANGES: Final = 200_000
"""What is looked at of a set that prices give, before it is searched for a better one."""

_SEARCHED: Final = 3_000
_TRIED: Final = 30_000
FRAMES: Final = ((_TRIED, 0.1), (300_000, 0.02), (3_000_000, 0.004), (None, inf))
"""Nodes that one search after another of a program may take, and when its cell is split instead of searching on: if its
excess is more than this share of the gap that is open,"""

_FINEST: Final = 1e-7
"""and more than this."""

_Weights: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""(a, b) of a program ``a T - b D``, one number a ratio each."""


class Search:
    """One run.

    Attributes
    ----------
    best : the incumbent
    families : diagrams whose sets are all worth what the incumbent is
    """

    def __init__(self, instance: Coverage, limits: Limits, deadline: Deadline, *, every: bool, few: int = FEW) -> None:
        self.instance = instance
        self._few = few
        self.every = every
        self.best = Best(instance)
        self.families: list[Diagram] = []
        self._arrays = arrays_of(instance, totals_only=True)
        self._all_needed = instance.combination in {Combination.PRODUCT, Combination.HARMONIC}
        self._anchor: list[float] | None = None
        self._prices = CellPrices(instance)
        self._leash = Leash(deadline)
        self.meter = Meter(limits, self._leash.deadline)

    def run(self, start: Selection | None = None) -> None:
        """Search until all is proven, from a selection that is known, if there is one.

        Raises
        ------
        Stopped
            At a limit.
        """
        self.best.see_first(start, self.meter.deadline)
        self.best.see_any(self.meter)
        program = program_of(self.instance, [0] * len(self.instance.constants))
        with self.meter.engine(program) as engine:
            if not engine.feasible:
                return
            if self.best.selection is None:
                self.best.see(engine.guess()[0])
            if self._all_evaluated(program, engine):
                return
            if self.best.key <= 0 and not self._positive():  # whatever is feasible is worth nothing
                if self.every:
                    found, reason = all_of(program, engine, 0)
                    self.families = [found]
                    if reason is not None:
                        raise Stopped(reason)
                return
        self._climb()
        for ratios in self._cases():
            self._cover(ratios)

    def _all_evaluated(self, program: Program, engine: Driver) -> bool:
        """Evaluate all feasible selections, if they are few."""
        instance = self.instance
        if instance.size > 3 * self._few.bit_length():
            return False
        if instance.size > self._few.bit_length():
            most = min(instance.max_length, int(instance.lengths.sum()))
            above = instance.parents.tolist() if len(instance.parents) else [-1] * instance.size
            if count_feasible_forest(instance.lengths.tolist(), above, instance.min_length, most) > self._few:
                return False
        found, reason = all_of(program, engine, 0)
        if reason is not None:
            raise Stopped(reason)
        if not 0 < found.count <= self._few:
            return not found.count
        while self._evaluated(found):
            pass
        return True

    def optima(self) -> Diagram:
        """Return all sets that tie with the incumbent."""
        selection = self.best.selection or ()
        return union(self.families) if self.families else Diagram.of_sets([selection])

    def _see(self, units: Sequence[int]) -> bool:
        """Take a selection if it is better; whatever tied with the old one does not any more."""
        if not self.best.see(units):
            return False
        self.families = []
        return True

    def _positive(self) -> bool:
        """Find a selection that is worth something, if there is one."""
        ratios = range(self.instance.ratios)
        for group in [ratios] if self._all_needed else [[h] for h in ratios]:
            totals = [total for h in group for total in (2 * h, 2 * h + 1)]
            program = positive_program(self.instance, totals)
            with self.meter.engine(program) as engine:
                found = engine.one_of(least(program, engine, 0))
            if found is not None and self._see(found):
                return True
        return False

    def _cases(self) -> Iterator[tuple[int, ...]]:
        """Yield the ratios that may have a denominator at once: those that always have one, and any of the others."""
        instance = self.instance
        certain = [h for h in range(instance.ratios) if int(instance.constants[2 * h + 1]) > 0]
        most = reaches(instance)
        others = [h for h in range(instance.ratios) if h not in certain and most[2 * h + 1] > 0]
        for size in range(len(others), -1, -1):
            for chosen in combinations(others, size):
                if certain or chosen:
                    yield tuple(sorted((*certain, *chosen)))
            if self._all_needed:  # one ratio over nothing makes it 0
                return

    @property
    def _wanted(self) -> Fraction:
        """What a selection must be worth to be looked at."""
        return self.best.key

    def _wish(self, ratios: Sequence[int]) -> Weighted:
        """Return what every selection fulfils that is worth what is wanted."""
        instance, totals = self.instance, self.best.totals
        if self._all_needed:
            if self._anchor is None:
                self._anchor = relaxed_anchor(instance) if instance.combination is Combination.PRODUCT else []
            anchor = self._anchor or [totals[2 * h] / totals[2 * h + 1] for h in range(instance.ratios)]
            return anchored(instance, self._wanted, anchor)
        return Weighted(
            tuple(ratios),
            tuple(Fraction(instance.weights[h]) for h in ratios),
            self._wanted * sum(instance.weights),
            tuple(max(float(totals[2 * h]), 0.5) for h in ratios),
        )

    def _programs(self, cell: Cell, wish: Weighted, instance: Coverage | None = None) -> Iterator[Program]:
        """Yield the programs of a cell, of the selections of another instance if one is given."""
        instance = instance or self.instance
        for corner in self._corners(cell, wish, instance):
            yield self._program(instance, wish, corner)

    def _corners(self, cell: Cell, wish: Weighted, instance: Coverage) -> Iterator[_Weights]:
        """Yield the weights of a cell's programs, one for each corner of its cone."""
        # Guards multiply the range of values by the number of units, rows by what their units come to.
        guards = any(int(instance.constants[2 * h + 1]) <= 0 for h in wish.ratios)
        times = (instance.size + 1 if guards else 1) * spread(instance.rows)
        return programs(instance, cell, wish, largest=_REACH / times)

    @staticmethod
    def _program(instance: Coverage, wish: Weighted, corner: _Weights) -> Program:
        weights = [weight for top, bottom in zip(*corner, strict=True) for weight in (top, -bottom)]
        penalty = 1 + sum(abs(weight) * abs(reach) for weight, reach in zip(weights, reaches(instance), strict=True))
        return guarded(program_of(instance, weights), instance, [2 * h + 1 for h in wish.ratios], penalty)

    def _climb(self) -> None:
        """Improve the incumbent by the programs that are exact at its own denominators, as long as that helps.

        First by the set that their prices give, after exchanges, which takes no search; then by searches.
        """
        while True:
            ratios = [h for h in range(self.instance.ratios) if self.best.totals[2 * h + 1] > 0]
            wish = self._wish(ratios)
            here = Cell(tuple(self.best.totals[2 * h + 1] for h in wish.ratios), (-1,) * len(wish.ratios), (), ())
            program = next(self._programs(here, wish))
            with self.meter.engine(program) as engine:
                better = self._see(engine.guess(_EXCHANGES)[0]) or self._raised(engine, least(program, engine, 1))
            if not better:
                return

    def _raised(self, engine: Driver, target: int) -> bool:
        """Halve the distance to the bound with little effort, again and again; return whether the incumbent is better.

        That a program is worth more does not always mean that the objective is.
        """
        better, upper = False, engine.upper
        least_gap = (upper - target) // 64
        while upper - target >= least_gap and upper >= target:
            wanted = (target + upper + 1) // 2
            found = self._leash.hold(_SEARCHED, engine, lambda: engine.one_of(wanted))  # noqa: B023 - called at once
            if found is None:
                upper = wanted - 1
            else:
                better = self._see(found) or better
                target = max(wanted, engine.value_of(found)) + 1
        return better

    def _cover(self, ratios: Sequence[int]) -> None:
        """Look at every selection with these denominators that is at least as good as the incumbent."""
        cells = [cell_of(self.instance, self._wish(ratios))]
        while cells:
            cell = cells.pop()
            wish = self._wish(ratios)
            halves = cell.halves() if excess(cell, wish) > _TOLERANCE else None
            inside = within(self.instance, cell, wish, least=halves is not None)
            if inside is None:
                continue
            for corner in self._corners(cell, wish, inside):
                left = self._left(cell, wish, inside, corner, halves)
                if left:
                    cells.extend(left)
                    break

    def _left(
        self, cell: Cell, wish: Weighted, inside: Coverage, corner: _Weights, halves: Sequence[Cell] | None
    ) -> Sequence[Cell]:
        """Return what of a cell is to be searched (again) after one of its programs; nothing if the program is done.

        Its `halves`, where they are given and the program cannot be closed by its bound; the cell, if the incumbent has
        become better, which makes all its programs tighter. What a short listing does not end is searched with the
        prices of the cell's ends, for longer and longer, unless finer cells promise more.
        """
        with self._reached(self._program(inside, wish, corner)) as reached:
            if reached is None:
                return ()
            if halves is not None:
                return halves
            better = self._listed(*reached, _TRIED)
        if better is not None:
            return (cell,) if better else ()
        priced, constant = self._prices.added(cell, wish.ratios, corner, self.meter.deadline)
        program, excessive = self._program(inside, wish, priced), excess(cell, wish)
        numerators = max(1, sum(map(mul, corner[0], self.best.totals[0::2])))
        with self._reached(replace(program, base=program.base + constant)) as reached:
            if reached is None:
                return ()
            engine, target = reached
            for frames, share in FRAMES:
                better = None if self.every else self._one(engine, target, frames)
                if better is None:
                    better = self._listed(engine, target, frames)
                if better is not None:
                    return (cell,) if better else ()
                gap = (engine.upper - target) * engine.divisor / numerators
                if excessive > max(_FINEST, share * gap) and (finer := cell.halves()) is not None:
                    return finer
        raise AssertionError("no search without a limit is cut short")

    @contextmanager
    def _reached(self, program: Program) -> Iterator[tuple[Driver, int] | None]:
        """Give an engine for a program and its target; None if it shows at once that nothing reaches it."""
        with self.meter.engine(program) as engine:
            target = least(program, engine, 0 if self.every else 1) if engine.feasible else 0
            yield (engine, target) if engine.feasible and engine.upper >= target else None

    def _one(self, engine: Driver, target: int, frames: int | None) -> bool | None:
        """Look for a set that reaches a target: whether it is better than the incumbent; None if that says nothing."""
        answer = self._leash.hold(frames, engine, lambda: [engine.one_of(target)])
        if answer is None:
            return None
        return False if answer[0] is None else self._see(answer[0]) or None

    def _listed(self, engine: Driver, target: int, frames: int | None) -> bool | None:
        """Evaluate the sets that reach a target: whether one is better than the incumbent; None if these were not all.

        Raises
        ------
        Stopped
            At a limit of the run, or if they are too many.
        """
        answer = self._leash.hold(frames, engine, lambda: engine.all_of(target))
        node, reason = answer if answer is not None else (EMPTY_FAMILY, Termination.NODE_LIMIT)
        cut = reason is not None and self._leash.short
        if node != EMPTY_FAMILY:
            found = engine.store.diagram(node)
            many = found.count > (_SAMPLE if cut else _LISTED)
            if many:
                rng = random.Random(0)  # noqa: S311 - nothing secret
                found = Diagram.of_sets([found.sample(rng) for _ in range(_SAMPLE)])
            if self._evaluated(found, keep=not cut and not many):
                return True
            if many and not cut:
                raise Stopped(Termination.MEMORY_LIMIT)
        if reason is not None and not cut:
            raise Stopped(reason)
        return None if cut else False

    def _evaluated(self, found: Diagram, *, keep: bool = True) -> bool:
        """Evaluate every set of a diagram; return whether one is better than the incumbent, and keep what ties."""
        assert self._arrays is not None  # noqa: S101 - totals always fit
        totals = totals_of_sets(self._arrays, found)
        rough = rough_values(self.instance, totals)
        near = np.flatnonzero(rough >= rough.max() - _NEAR * abs(rough.max()))
        rows, where = np.unique(totals[near], axis=0, return_inverse=True)
        keys = [key_of(self.instance, tuple(row), 0) for row in rows.tolist()]
        best = max(keys)
        marked = np.zeros(len(totals), np.bool_)
        marked[near] = np.array([key == best for key in keys])[where.reshape(-1)]
        if best > self.best.key:
            self._see(next(units for units, wanted in zip(found, marked.tolist(), strict=True) if wanted))
            return True
        if best == self.best.key and self.every and keep:
            self.families.append(found if marked.all() else Diagram.of_sets(chosen_sets(found, marked)))
        return False


class Reaching(Search):
    """A run for all sets that are worth a threshold, whatever the best is."""

    def __init__(self, instance: Coverage, threshold: Fraction, best: Sequence[int], meter: Meter) -> None:
        limits, nodes = meter.limits, meter.limits.nodes
        if nodes is not None:
            limits = replace(limits, nodes=max(0, nodes - meter.statistics.nodes))
        super().__init__(instance, limits, meter.deadline, every=True)
        self._threshold = threshold
        self.best.see(best)

    @property
    def _wanted(self) -> Fraction:
        return self._threshold

    def run(self, start: Selection | None = None) -> None:
        """Search until all is found; see `Search.run`. The best selection is known."""
        del start
        program = program_of(self.instance, [0] * len(self.instance.constants))
        with self.meter.engine(program) as engine:
            if not engine.feasible or self._all_evaluated(program, engine):
                return
        for ratios in self._cases():
            self._cover(ratios)

    def _evaluated(self, found: Diagram, *, keep: bool = True) -> bool:
        """Keep the sets of a diagram that are worth enough; none ends the run as better than all before."""
        if keep:
            worth = worth_of_sets(self.instance, found)
            enough = np.array([key >= self._threshold for key in worth.keys])[worth.which]
            if enough.any():
                self.families.append(found if enough.all() else Diagram.of_sets(chosen_sets(found, enough)))
        return False
