"""Means of ratios: linear programs that no good selection escapes, and exact evaluation of what they hold.

`optsum.program.surrogate` covers all selections that are worth as much as the incumbent by a few programs. The engine
lists what each of them holds, as a diagram; every set of it is evaluated in integers, ties as exact fractions. Where a
program could hold much that is worth less, its cell of denominators is split first.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.cell import Cell
from optsum.coverage.evaluate import key_of
from optsum.coverage.instance import Combination, Coverage, IntArray
from optsum.coverage.state import arrays_of
from optsum.optima.algebra import union
from optsum.optima.counting import count_feasible
from optsum.optima.diagram import EMPTY_FAMILY, Diagram
from optsum.optima.tally import chosen_sets, totals_of_sets, worth_of_sets
from optsum.problem.problem import Selection
from optsum.program.surrogate import Weighted, cell_of, excess, programs, reaches, within
from optsum.program.tangent import anchored, relaxed_anchor
from optsum.system.deadline import Deadline

from ..engine.program import Program, program_of, spread
from .guards import guarded, positive_program
from .meter import Engine, Leash, Meter, all_of, least
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
_FRAMES: Final = (30_000, 1_000_000, None)
"""Nodes that the search for a better incumbent, and listings one after another, may take."""


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

    def _all_evaluated(self, program: Program, engine: Engine) -> bool:
        """Evaluate all feasible selections, if they are few."""
        instance = self.instance
        if instance.size > 3 * self._few.bit_length():
            return False
        if instance.size > self._few.bit_length():
            most = min(instance.max_length, int(instance.lengths.sum()))
            if count_feasible(instance.lengths.tolist(), instance.min_length, most) > self._few:
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
        # Guards multiply the range of values by the number of units, rows by what their units come to.
        guards = any(int(instance.constants[2 * h + 1]) <= 0 for h in wish.ratios)
        times = (instance.size + 1 if guards else 1) * spread(instance.rows)
        needed = [2 * h + 1 for h in wish.ratios]
        most = reaches(instance)
        for tops, bottoms in programs(instance, cell, wish, largest=_REACH / times):
            weights = [weight for top, bottom in zip(tops, bottoms, strict=True) for weight in (top, -bottom)]
            penalty = 1 + sum(abs(weight) * abs(reach) for weight, reach in zip(weights, most, strict=True))
            yield guarded(program_of(instance, weights), instance, needed, penalty)

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

    def _raised(self, engine: Engine, target: int) -> bool:
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
            for program in self._programs(cell, wish, inside):
                with self.meter.engine(program) as engine:
                    if not engine.feasible:
                        break
                    target = least(program, engine, 0 if self.every else 1)
                    if engine.upper < target:
                        continue
                    if halves is None and not self._listed(engine, target):
                        continue
                cells.extend(halves if halves is not None else [cell])
                break

    def _listed(self, engine: Engine, target: int) -> bool:
        """Evaluate all sets that reach a target; return whether one is better than the incumbent."""
        for frames in _FRAMES:
            answer = self._leash.hold(frames, engine, lambda: engine.all_of(target))
            node, reason = answer if answer is not None else (EMPTY_FAMILY, None)
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
            if not cut:
                if reason is not None:
                    raise Stopped(reason)
                break
        return False

    def _evaluated(self, found: Diagram, *, keep: bool = True) -> bool:
        """Evaluate every set of a diagram; return whether one is better than the incumbent, and keep what ties."""
        assert self._arrays is not None  # noqa: S101 - totals always fit
        totals = totals_of_sets(self._arrays, found)
        rough = _rough_values(self.instance, totals)
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


def _rough_values(instance: Coverage, rows: IntArray) -> NDArray[np.float64]:
    """Return the value, or its logarithm, of each row of totals: right to some 1e-15."""
    tops, bottoms = rows[:, 0::2].astype(np.float64), rows[:, 1::2].astype(np.float64)
    ratios = np.where(bottoms > 0, tops / np.maximum(bottoms, 1.0), 0.0)
    weights = np.array(instance.weights, np.float64)
    with np.errstate(divide="ignore"):
        if instance.combination is Combination.HARMONIC:
            turned = np.where(ratios > 0, 1.0 / ratios, np.inf) @ weights
            harmonic: NDArray[np.float64] = weights.sum() / turned
            return harmonic
        if instance.combination is Combination.PRODUCT:
            power: NDArray[np.float64] = np.exp(np.log(ratios) @ (weights / weights.sum()))
            return power
    found: NDArray[np.float64] = ratios @ (weights / weights.sum())
    return found
