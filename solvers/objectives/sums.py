"""Search of sums, products and harmonic means of ratios: one optimum, all optima, or all that reach a threshold.

`optsum.program.surrogate` covers all selections that are at least as good as the incumbent by a few linear programs.
The engine lists the sets of each program as a decision diagram. Every set is evaluated in integers, ties with exact
fractions. If a program may contain many worse selections, its box of denominators is split first.

A program for a box of denominators bounds only the selections of the box; others may have any value in the program, and
would be most of the sets that are listed. So programs include the limits of their box (`BoxPrices`), rows ``A >= l``
and ``A <= u`` that every selection of the box satisfies. In the Lagrangian relaxation of the rows, with prices ``y, z
>= 0``, the program gains ``y (A - l) + z (u - A)``, which is negative only outside the box. Any prices are valid, so
they are rounded to integers; the multipliers of the rows in the linear relaxation are good prices.

Harmonic means of ratios (F1 of two sums) are searched by windows of the varying denominator
(`optsum.program.ratio_bound`). Each window has its own programs, tangents at typical ratios of its selections. Their
sets are listed and evaluated if that takes few nodes; otherwise the window is halved, until it is narrow.

For MILP solvers, the totals of several ratios are linear expressions in the columns of one program (`RatioRows`), whose
objective and rows combine them. Features with the same copies in the same units are merged, for all ratios: the n-grams
of several references share their columns. A solver may count too few copies in a numerator and too many in a
denominator: the expression of a numerator is at most the numerator, that of a denominator at least the denominator.
Lower limits of numerators and upper limits of denominators are exact nevertheless.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from heapq import heappop, heappush
from itertools import chain, combinations, count, islice
from math import ceil, floor, inf, log
from operator import mul
from typing import Any, Final, TypeAlias

import numpy as np

from optsum.coverage.greedy import climb
from optsum.coverage.instance import Coverage, IntArray, Key, key_of, packed_rows, score
from optsum.coverage.state import arrays_of
from optsum.errors import UnsupportedError
from optsum.optima.counting import count_feasible_forest
from optsum.optima.diagram import EMPTY_FAMILY, Diagram, union
from optsum.optima.optima import Optima
from optsum.optima.tally import chosen_sets, totals_of_sets, worth_of_sets
from optsum.problem.problem import Selection
from optsum.program.model import CeilingColumns, LinearModel, LinearRows, affordable, coverage_model, relax, steps_of
from optsum.program.ratio_bound import (
    alone_bounds,
    anchored,
    combined_bound,
    least_of,
    most_of,
    relaxed_anchor,
    restricted,
    sum_bound,
    value_bound,
    varying,
    window_box,
)
from optsum.program.surrogate import (
    DenominatorBox,
    Weighted,
    alike_features,
    box_of,
    collapsed,
    excess,
    merged_features,
    programs,
    reaches,
    wish_of,
    within,
)
from optsum.system.clock import Deadline, Limits, Stopped, Termination
from optsum.whole import LARGEST

from ..engine.core import Program, program_of, spread
from ..engine.driver import Budget, Driver, engine_for
from .one_ratio import Incumbent, guarded, is_whole_text, positive_program

_FINE: Final = 1_024  # Rows round slopes of boxes to multiples of 1 / `_FINE`, because solvers prefer small numbers.


@dataclass(frozen=True)
class Side:
    """A row over denominators without their constants: ``low <= sum of times[h] (D_h - constant) <= high``."""

    times: Mapping[int, int]
    low: int | None = None
    high: int | None = None

    def holds(self, totals: Sequence[int], constants: Sequence[int]) -> bool:
        held = sum(times * (totals[2 * h + 1] - constants[2 * h + 1]) for h, times in self.times.items())
        return (self.low is None or held >= self.low) and (self.high is None or held <= self.high)


def rows_of_box(box: DenominatorBox, ratios: Sequence[int], constants: Sequence[int]) -> Iterator[Side]:
    """Yield rows that all selections in a box satisfy, and few others; `constants`: constants of all totals."""
    for number, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
        if box.quotient:
            first, second = ratios
            one, two = constants[2 * first + 1], constants[2 * second + 1]
        else:
            first, second, one, two = ratios[box.part.index(0)], ratios[box.part.index(number)], 0, 0
            if not (number and box.outlines):
                yield Side({second: 1}, low=ceil(low), high=floor(high))
                continue
        below, above = floor(low * _FINE), ceil(high * _FINE)
        yield Side({second: _FINE, first: -below}, low=below * one - _FINE * two)
        yield Side({second: _FINE, first: -above}, high=above * one - _FINE * two)


def cases_of(coverage: Coverage) -> Iterator[tuple[tuple[int, ...], tuple[Side, ...]]]:
    """Yield the sets of ratios that may have nonzero denominators while all others are 0, with the rows that say so.

    Ratios whose denominators may be 0 form groups with equal denominators; the first ratio of each group has a row.
    """
    constants = coverage.constants[1::2].tolist()
    certain = [h for h, constant in enumerate(constants) if constant > 0]
    others: dict[object, list[int]] = {}
    for h, most in enumerate(reaches(coverage)[1::2]):
        if constants[h] <= 0 < most:
            counts = bool((coverage.slot == 2 * h + 1).any())
            others.setdefault((constants[h], coverage.mass[2 * h + 1].tobytes(), h if counts else -1), []).append(h)
    groups = list(others.values())
    for size in range(len(groups), -1, -1):
        for chosen in combinations(groups, size):
            if ratios := sorted(chain(certain, *chosen)):  # otherwise all denominators are 0, and the value, too
                sides = [Side({h: 1}, low=1 - constants[h]) for h, *_ in chosen]
                sides += [Side({group[0]: 1}, high=-constants[group[0]]) for group in groups if group not in chosen]
                yield tuple(ratios), tuple(sides)


Bound: TypeAlias = float | Fraction


@dataclass(frozen=True)
class Part:
    """The selections with denominators of some ratios in a box; `sides`: rows that say which of them are nonzero."""

    ratios: tuple[int, ...]
    box: DenominatorBox
    sides: tuple[Side, ...]


def search_parts(
    coverage: Coverage,
    wish: Callable[[tuple[int, ...]], Weighted],
    look_at: Callable[[Bound, Part], Iterable[tuple[Bound, Part]]],
    *,
    all_needed: bool = False,
) -> None:
    """Examine the part with the largest bound, and replace it by the parts of it that remain, until none is left.

    `wish`: returns an inequality for given ratios that all wanted selections satisfy. `look_at`: examines a part with a
    bound, at first infinite, and returns remaining parts with their bounds. `all_needed`: whether the value is 0 if one
    denominator is.
    """
    number = count()
    queue: list[tuple[Bound, int, Part]] = []
    for ratios, sides in islice(cases_of(coverage), 1 if all_needed else None):
        heappush(queue, (-inf, next(number), Part(ratios, box_of(coverage, wish(ratios)), sides)))
    while queue:
        bound, _, part = heappop(queue)
        for less, left in look_at(-bound, part):
            heappush(queue, (-less, -next(number), left))  # of parts with equal bounds the last one comes first


class RatioRows:
    """The columns and rows that all programs of an instance for a MILP solver share."""

    def __init__(self, coverage: Coverage, *, relaxed: bool = False) -> None:
        self.constants: list[int] = coverage.constants.tolist()
        self.most = reaches(coverage)
        longest, ceilings, coverage = CeilingColumns(coverage, relaxed=relaxed), coverage.ceilings, coverage.plain
        group = alike_features(coverage)
        none = np.zeros(coverage.size, np.int64)
        bare = tuple(replace(one, slot=0, first=0, last=0, mass=none) for one in ceilings)
        skeleton = replace(merged_features(coverage, group), ceilings=bare)
        counts = bool((skeleton.slot == 1).any())
        self._model = coverage_model(skeleton, Fraction(1) if counts else None, relaxed=relaxed)
        shared = np.diff(skeleton.level_start) - 1
        first = self._model.columns - int(shared.sum()) + np.cumsum(shared) - shared
        self._held = np.zeros((len(self.constants), self._model.columns), np.int64)
        self._held[:, : coverage.size] = coverage.mass
        gains, of = steps_of(coverage)
        at = first[group[of]] + np.arange(len(of)) - np.searchsorted(of, of)
        np.add.at(self._held, (coverage.slot[of], at), gains)
        end = self._model.columns - int(shared.sum())
        self._held[longest.slot, np.arange(end - len(longest.slot), end)] = longest.worth
        # For each feature that denominators count: its column, and the units that have it.
        unit = packed_rows(skeleton.unit_start)
        self._counted = [
            (int(first[feature]), unit[skeleton.unit_feature == feature])
            for feature in np.flatnonzero(skeleton.slot == 1).tolist()
        ]

    def worth(self, tops: Sequence[int], bottoms: Sequence[int], totals: Sequence[int]) -> int:
        parts = zip(tops, totals[0::2], bottoms, totals[1::2], strict=True)
        return sum(top * numerator - bottom * denominator for top, numerator, bottom, denominator in parts)

    def _weighted(self, weights: Mapping[int, int]) -> IntArray:
        rows = [(weight, self._held[total]) for total, weight in weights.items() if weight and self._held[total].any()]
        if sum(abs(weight) * int(np.abs(row).max()) for weight, row in rows) > LARGEST:
            raise UnsupportedError(
                "The weighted totals of this problem exceed 2^62, the limit of milp: divide its numbers by "
                "a common factor, or use branch-and-bound or exhaustive."
            )
        return sum((weight * row for weight, row in rows), np.zeros(self._model.columns, np.int64))

    def program(
        self,
        tops: Sequence[int],
        bottoms: Sequence[int],
        sides: Iterable[Side] = (),
        surpassed: Iterable[Sequence[int]] = (),
    ) -> LinearModel | None:
        """Return the program that maximizes ``tops T - bottoms D``.

        `tops`, `bottoms`: one integer >= 0 for each ratio. `sides`: limits of denominators. `surpassed`: totals, each
        of which a selection must surpass by a larger numerator or a smaller denominator. The result is None if no
        selection can surpass some of them.
        """
        weights = dict(enumerate(weight for a, b in zip(tops, bottoms, strict=True) for weight in (a, -b)))
        offset = self.worth(tops, bottoms, self.constants)
        model = replace(self._model, objective=self._weighted(weights), offset=offset, denominator=1)
        rows, columns = LinearRows(), model.columns
        for side in sides:
            row = self._weighted({2 * h + 1: times for h, times in side.times.items()})
            low, high, at = side.low, side.high, np.flatnonzero(row)
            rows.add_row(at, row[at], -np.inf if low is None else low, np.inf if high is None else high)
        # With limits, a denominator could otherwise count features of no chosen unit, to satisfy a lower one.
        for column, units in self._counted if rows.count else ():
            rows.add_row(np.append(units, column), np.append(np.full(len(units), -1), 1), -np.inf, 0.0)
        for totals in surpassed:
            parts = list(self._surpassing(totals))
            if not parts:
                return None
            for place, (held, times, limit) in enumerate(parts, columns):
                at = np.flatnonzero(held)
                rows.add_row(np.append(at, place), np.append(held[at], times), -np.inf, limit)
            rows.add_row(np.arange(columns, columns + len(parts)), np.ones(len(parts), np.int64), 1.0, np.inf)
            columns += len(parts)
        more, new = rows.arrays(), np.ones(columns - model.columns, np.int64)
        more |= {"row_start": more["row_start"][1:] + model.row_start[-1]}
        more |= {"objective": 0 * new, "upper": new, "integral": new > 0}
        longer: dict[str, Any] = {name: np.append(getattr(model, name), values) for name, values in more.items()}
        return replace(model, **longer)

    def _surpassing(self, totals: Sequence[int]) -> Iterable[tuple[IntArray, int, int]]:
        """Yield ``row . x + times y <= limit`` with y = 1 only for selections that surpass one of the totals."""
        seen = set()
        for number, (total, held) in enumerate(zip(totals, self._held, strict=True)):
            constant, most = self.constants[number], self.most[number]
            alike = number % 2, held.tobytes()
            if alike in seen:  # denominators of several references often differ only by constants
                continue
            if number % 2 == 0 and most > total:
                seen.add(alike)
                yield -held, total + 1 - constant, 0
            elif number % 2 == 1 and total > constant:
                seen.add(alike)
                yield held, most - total + 1, most - constant


_Weights: TypeAlias = tuple[Sequence[int], Sequence[int]]  # a and b of a program ``a T - b D``, one number per ratio.

_LARGEST: Final = 2.0**52  # Largest amount that prices may add to a program's values.
_DEAREST: Final = 2.0**40  # Largest price.


@dataclass(frozen=True)
class BoxPrices:
    """Adds the limits of boxes to an instance's programs, by Lagrangian relaxation (see the module)."""

    instance: Coverage

    @cached_property
    def _rows(self) -> RatioRows:
        return RatioRows(self.instance, relaxed=True)  # weaker rows suffice, because any prices are valid

    def added(
        self, box: DenominatorBox, ratios: Sequence[int], weights: _Weights, deadline: Deadline
    ) -> tuple[_Weights, int]:
        """Return the weights of a box's program ``a T - b D`` after adding the limits times prices, and a constant.

        The weights are unchanged, with the constant 0, if a denominator is not a sum over the units or may be 0, if
        there are side constraints, if the relaxation gives no multipliers, or if prices are too large.
        """
        instance, unpriced = self.instance, (weights, 0)
        certain = all(int(instance.constants[2 * h + 1]) > 0 for h in ratios)
        if not certain or instance.rows or (instance.slot & 1).any():
            return unpriced
        tops, bottoms, constants = weights[0], list(weights[1]), self._rows.constants
        sides = list(rows_of_box(box, ratios, constants))
        model = self._rows.program(tops, bottoms, sides)
        relaxation = None if model is None or not sides else relax(model, deadline)
        if relaxation is None:
            return unpriced
        constant, added = 0, np.zeros(instance.size)
        for side, dual in zip(sides, relaxation.duals[-len(sides) :].tolist(), strict=True):
            if not abs(dual) < _DEAREST:
                return unpriced
            price = round(dual)  # positive if the upper limit binds
            end = side.high if price > 0 else side.low
            if not price or end is None:
                continue
            constant += price * end
            for h, times in side.times.items():
                bottoms[h] += price * times
                constant += price * times * constants[2 * h + 1]
                added += float(price * times) * instance.mass[2 * h + 1]
        base = constant + self._rows.worth(tops, bottoms, constants)
        fits = abs(base) <= _LARGEST and max(map(abs, bottoms)) <= _LARGEST and np.abs(added).sum() <= _LARGEST
        return ((tops, bottoms), constant) if fits else unpriced


_TOLERANCE: Final = 3e-4  # Excess of a box's programs, as a share of typical numerators, above which the box is split.
_COORDINATES: Final = 6  # Largest number of coordinates of boxes whose corners, at most 64, are not counted.
_FEW: Final = 2_000  # Largest number of selections that are all evaluated instead of searched.
_NEAR: Final = 1e-9  # Relative distance to the largest value below which values are compared exactly.
_REACH: Final = 2.0**46  # Approximate size to which the numbers of programs are scaled.
_LISTED: Final = 2_000_000  # Largest number of sets of one program that are all evaluated.
_LARGE: Final = 100_000  # Largest node of an incomplete family that is sampled; larger families take too long.
_SAMPLE: Final = 500  # Number of sets that are evaluated if there are too many, or the family is incomplete.
_EXCHANGES: Final = 200_000  # Largest number of possible exchanges of a set that is improved before a search.
_SEARCHED: Final = 3_000  # Limit of nodes of each search for a set better than the incumbent (`_raised`).
_TRIED: Final = 30_000  # Limit of nodes of the first listing of a program.
_NODE_SCHEDULE: Final = ((_TRIED, 0.1), (300_000, 0.02), (3_000_000, 0.004), (None, inf))
"""Limits of nodes for successive searches of a program, and shares of the open gap: a box with a larger excess is split
instead of searched further.
"""

_FINEST: Final = 1e-7  # Least excess for which a box is split.

_NARROW: Final = 0.05  # Windows are halved only if their ends differ by more than this share.
_WINDOW_NODES: Final = 2_000  # Limit of nodes of a listing, above which its window is halved instead.
_FAMILY: Final = 20_000  # Limit of sets of a listing, above which its window is halved instead.
_WIDE: Final = 0.1  # Width of the first windows, as a share of their lower ends.
_SUITS: Final = 0.02  # Largest relative difference between the proportions of two anchors that are equally good.


@dataclass(frozen=True)
class _Window:
    """A range of denominators, `low` to `high`, that is searched as one, by a tangent at the ratios `anchor`.

    `settled`: whether the anchor stays as it is even if better ratios are found.
    """

    low: int
    high: int
    anchor: tuple[float, ...]
    settled: bool = False


class SumSearch:
    """A search for one optimum, all optima (`every`), or all selections that reach a threshold > 0."""

    def __init__(
        self,
        instance: Coverage,
        budget: Budget,
        *,
        every: bool,
        few: int = _FEW,
        threshold: Fraction | None = None,
        cutoff: Key | None = None,
    ) -> None:
        self.instance, self.budget = instance, budget
        self._few, self._threshold = few, threshold
        self.every = every
        self.best = Incumbent(instance, cutoff)
        self.families: list[Diagram] = []
        self._arrays = arrays_of(instance, totals_only=True)
        self._all_needed = not instance.combination.adds
        self._anchor: list[float] | None = None
        self._prices = BoxPrices(instance)

    def run(self, start: Selection | None = None) -> None:
        """Search until everything is proven, from a known selection if there is one."""
        self.best.see_first(start, self.budget.deadline)
        self.best.see_any(self.budget)
        with engine_for(program_of(self.instance, [0] * len(self.instance.constants)), self.budget) as engine:
            if not engine.feasible:
                return
            if self.best.selection is None:
                self.best.see(engine.guess()[0])
            if self._all_evaluated(engine):
                return
            proven = self._threshold is not None  # with a threshold, the optimum is known
            if not proven and self.best.key <= 0 and not self._positive():  # all feasible selections have the value 0
                if self.every:
                    found, reason = engine.reaching(0)
                    self.families = [found]
                    if reason is not None:
                        raise Stopped(reason)
                return
        self._leave_out_joints()
        if not proven:
            self._climb()
        self._cover_all()

    def _cover_all(self) -> None:
        """Examine all selections that are at least as good as the incumbent, in boxes or windows of denominators."""
        which = varying(self.instance) if self.instance.combination.turns else None
        if which is None:
            search_parts(self.instance, self._cut, self._look_at, all_needed=self._all_needed)
            return
        low, most = least_of(self.instance, which), most_of(self.instance, which)
        anchor = self._ratios(self.best.totals) or (0.5,) * self.instance.ratios
        windows = []
        while low <= most:
            high = min(most, low + int(low * _WIDE))
            windows.append(_Window(low, high, anchor))
            low = high + 1
        while windows:
            windows.extend(self._left_of(windows.pop(), which))

    def _all_evaluated(self, engine: Driver) -> bool:
        instance = self.instance
        if instance.size > 3 * self._few.bit_length():
            return False
        if instance.size > self._few.bit_length():
            most = min(instance.max_length, int(instance.lengths.sum()))
            above = instance.parents.tolist() if len(instance.parents) else [-1] * instance.size
            if count_feasible_forest(instance.lengths.tolist(), above, instance.min_length, most) > self._few:
                return False
        found, reason = engine.reaching(0)
        if reason is not None:
            raise Stopped(reason)
        if not 0 < found.count <= self._few:
            return not found.count
        while self._evaluated(found):
            pass
        return True

    def _see(self, units: Sequence[int]) -> bool:
        if not self.best.see(units):
            return False
        self.families = []
        return True

    def _positive(self) -> bool:
        ratios = range(self.instance.ratios)
        for group in [ratios] if self._all_needed else [[h] for h in ratios]:
            totals = [total for h in group for total in (2 * h, 2 * h + 1)]
            with engine_for(positive_program(self.instance, totals), self.budget) as engine:
                found = engine.one_of(engine.aim(0))
            if found is not None and self._see(found):
                return True
        return False

    @property
    def _wanted(self) -> Fraction:
        return self.best.wanted if self._threshold is None else self._threshold

    def _cut(self, ratios: Sequence[int]) -> Weighted:
        instance, totals = self.instance, self.best.totals
        if self._all_needed:
            if self._anchor is None:
                self._anchor = relaxed_anchor(instance) if instance.combination.multiplies else []
            anchor = self._anchor or [totals[2 * h] / totals[2 * h + 1] for h in range(instance.ratios)]
            return anchored(instance, self._wanted, anchor)
        return wish_of(instance, ratios, self._wanted, totals)

    def _corners(self, box: DenominatorBox, cut: Weighted, instance: Coverage) -> Iterator[_Weights]:
        # Guards multiply the range of values by up to the number of units + 1, rows by their `spread`.
        guards = any(int(instance.constants[2 * h + 1]) <= 0 for h in cut.ratios)
        times = (instance.size + 1 if guards else 1) * spread(instance.rows)
        return programs(instance, box, cut, largest=_REACH / times, check=partial(self._count, box))

    def _count(self, box: DenominatorBox) -> None:
        self.budget.corners += len(box.low) > _COORDINATES
        self.budget.check()

    @staticmethod
    def _program(instance: Coverage, cut: Weighted, corner: _Weights) -> Program:
        weights = [weight for top, bottom in zip(*corner, strict=True) for weight in (top, -bottom)]
        penalty = 1 + sum(abs(weight) * abs(reach) for weight, reach in zip(weights, reaches(instance), strict=True))
        return guarded(program_of(instance, weights), instance, [2 * h + 1 for h in cut.ratios], penalty)

    def _leave_out_joints(self) -> None:
        """Remove the joints that are active in no selection as good as the incumbent."""
        instance = self.instance
        if not instance.joints or instance.rows or not (instance.constants[1::2] > 0).all():
            return
        if self._all_needed:
            return
        cut = self._cut(range(instance.ratios))
        box = box_of(instance, cut)
        corner = next(programs(instance, box, cut, largest=_REACH, check=partial(self._count, box), one=True))
        with engine_for(self._program(instance, cut, corner), self.budget) as engine:
            live = engine.seams(engine.aim(0)) if engine.feasible else None
        if live is not None:
            self.instance = instance.changed(joints=tuple(one for one in instance.joints if one.needs in live))

    def _climb(self) -> None:
        """Improve the incumbent by programs that are exact for its denominators, until one finds nothing better."""
        while True:
            cut = self._cut([h for h in range(self.instance.ratios) if self.best.totals[2 * h + 1] > 0])
            bottoms = tuple(self.best.totals[2 * h + 1] for h in cut.ratios)
            here = DenominatorBox(bottoms, (-1,) * len(bottoms), (), ())
            program = self._program(self.instance, cut, next(self._corners(here, cut, self.instance)))
            with engine_for(program, self.budget) as engine:
                better = self._see(engine.guess(_EXCHANGES)[0]) or self._raised(engine, engine.aim(1))
            if not better:
                return

    def _raised(self, engine: Driver, target: int) -> bool:
        """Search for sets halfway to the bound, again and again, with few nodes; return whether the incumbent improved.

        The distance is halved each time. A larger value of the program does not always mean a larger objective.
        """
        better, upper = False, engine.upper
        least_gap = (upper - target) // 64
        while upper - target >= least_gap and upper >= target:
            wanted = (target + upper + 1) // 2
            found = engine.hold(_SEARCHED, lambda: engine.one_of(wanted))  # noqa: B023 - called at once
            if found is None:
                upper = wanted - 1
            else:
                better = self._see(found) or better
                target = max(wanted, engine.value_of(found)) + 1
        return better

    def _look_at(self, bound: Bound, part: Part) -> Iterable[tuple[Bound, Part]]:
        box, cut = part.box, self._cut(part.ratios)
        halves = box.halves() if excess(box, cut, partial(self._count, box)) > _TOLERANCE else None
        inside = within(self.instance, box, cut, least=halves is not None)
        if inside is None:
            return ()
        for corner in self._corners(box, cut, inside):
            if left := self._left(box, cut, inside, corner, halves):
                return [(bound, replace(part, box=each)) for each in left]
        return ()

    def _left(
        self,
        box: DenominatorBox,
        cut: Weighted,
        inside: Coverage,
        corner: _Weights,
        halves: Sequence[DenominatorBox] | None,
    ) -> Sequence[DenominatorBox]:
        """Search one program of a box (`corner`); return the boxes to search next, none if the program is finished.

        If the bound does not finish the program, these are the `halves` of the box, if given. If the incumbent has
        improved, which tightens all programs of the box, it is the box itself. After a short listing, longer and longer
        searches use the prices of the box's limits, unless finer boxes are more promising.
        """
        with self._reached(self._program(inside, cut, corner)) as reached:
            if reached is None:
                return ()
            if halves is not None:
                return halves
            better = self._listed(*reached, _TRIED)
        if better is not None:
            return (box,) if better else ()
        priced, constant = self._prices.added(box, cut.ratios, corner, self.budget.deadline)
        program, excessive = self._program(inside, cut, priced), excess(box, cut, partial(self._count, box))
        numerators = max(1, sum(map(mul, corner[0], self.best.totals[0::2])))
        with self._reached(replace(program, base=program.base + constant)) as reached:
            if reached is None:
                return ()
            engine, target = reached
            for frames, share in _NODE_SCHEDULE:
                better = None
                if not self.every and (one := engine.hold(frames, lambda: [engine.one_of(target)])) is not None:
                    better = False if one[0] is None else self._see(one[0]) or None
                if better is None:
                    better = self._listed(engine, target, frames)
                if better is not None:
                    return (box,) if better else ()
                gap = (engine.upper - target) * engine.divisor / numerators
                if excessive > max(_FINEST, share * gap) and (finer := box.halves()) is not None:
                    return finer
        raise AssertionError("a search without a node limit ended undecided")

    @contextmanager
    def _reached(self, program: Program) -> Iterator[tuple[Driver, int] | None]:
        with engine_for(program, self.budget) as engine:
            target = engine.aim(0 if self.every else 1) if engine.feasible else 0
            yield (engine, target) if engine.feasible and engine.upper >= target else None

    def _listed(self, engine: Driver, target: int, frames: int | None, *, most: int | None = None) -> bool | None:
        """Evaluate the sets that reach a target; return whether one is better, or None if the list is incomplete.

        Of an incomplete list, or of too many sets, a sample is evaluated. With `most`, nothing is evaluated of an
        incomplete list, or if there are more sets; the result is then None.
        """
        answer = engine.hold(frames, lambda: engine.all_of(target))
        node, reason = answer if answer is not None else (EMPTY_FAMILY, Termination.NODE_LIMIT)
        short = reason is not None and engine.short
        if node != EMPTY_FAMILY and (reason is None or (node <= _LARGE and most is None)):
            found = engine.store.diagram(node)
            if most is not None and found.count > most:
                return None
            many = found.count > (_SAMPLE if short else _LISTED)
            if many:
                rng = random.Random(0)  # noqa: S311 - nothing secret
                found = Diagram.of_sets([found.sample(rng) for _ in range(_SAMPLE)])
            if self._evaluated(found, keep=not short and not many):
                return True
            if many and not short:
                raise Stopped(Termination.MEMORY_LIMIT)
        if reason is not None and not short:
            raise Stopped(reason)
        return None if short else False

    def _evaluated(self, found: Diagram, *, keep: bool = True) -> bool:
        """Evaluate all sets of a diagram; return whether one is better than the incumbent, which it replaces.

        With `keep`, the sets that tie with the incumbent, or that reach the threshold, are added to the families.
        """
        if self._threshold is not None:
            worth = worth_of_sets(self.instance, found)
            enough = np.array([key >= self._threshold for key in worth.keys])[worth.which]
            if keep and enough.any():
                self.families.append(found if enough.all() else Diagram.of_sets(chosen_sets(found, enough)))
            return False
        assert self._arrays is not None  # noqa: S101 - totals always fit
        totals = totals_of_sets(self._arrays, found, self.budget.deadline.check)[:, :-1]
        rough = self.instance.combination.roughly(totals, self.instance.weights)
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

    def _left_of(self, window: _Window, which: int) -> Iterator[_Window]:
        """Search a window; yield the windows that remain to be searched."""
        instance = restricted(self.instance, which, window.low, window.high)
        box = window_box(self.instance, which, window.low, window.high)
        narrow = window.high <= window.low * (1 + _NARROW)
        cut = anchored(self.instance, self._wanted, window.anchor)
        for corner in self._corners(box, cut, instance):
            with engine_for(self._program(instance, cut, corner), self.budget) as engine:
                if not engine.feasible:
                    return
                target = engine.aim(0 if self.every else 1)
                if engine.upper < target:
                    continue
                guess = tuple(sorted(engine.guess()[0]))
                self._see(guess)
                anchor = self._ratios(score(instance, guess)[0]) or window.anchor
                if not narrow:
                    better = self._listed(engine, target, _WINDOW_NODES, most=_FAMILY)
                    if better is False:
                        continue
                    if better:
                        yield window
                        return
                    middle = (window.low + window.high) // 2
                    yield _Window(window.low, middle, anchor)
                    yield _Window(middle + 1, window.high, anchor)
                    return
                logs = [log(one / other) for one, other in zip(anchor, window.anchor, strict=True)]
                if not window.settled and max(logs) - min(logs) > _SUITS:
                    yield _Window(window.low, window.high, anchor, settled=True)
                    return
                for nodes, _ in _NODE_SCHEDULE:  # an incomplete listing improves the incumbent, or a longer one follows
                    better = self._listed(engine, target, nodes)
                    if better is not None:
                        break
                if better:
                    yield window
                    return

    def _ratios(self, totals: Sequence[int]) -> tuple[float, ...]:
        pairs = zip(totals[0::2], totals[1::2], strict=True)
        found = tuple(top / bottom if bottom > 0 else 0.0 for top, bottom in pairs)
        return found if all(found) else ()


def _bound_of_stopped(search: SumSearch, deadline: Deadline) -> Fraction | None:
    """Return the best bound of all values that relaxations prove by the deadline; None if there is none."""
    best, instance = search.best, search.instance
    if best.selection is None or best.key <= 0 or instance.combination.turns:
        return None
    if not instance.combination.adds or min(instance.constants[1::2].tolist()) <= 0:
        return max(best.wanted, value_bound(instance, deadline))
    total = sum(instance.weights)
    weights = [Fraction(weight, total) for weight in instance.weights]
    known = combined_bound(instance, alone_bounds(instance, Deadline(0.0)), deadline)
    # The instance may lack joints that only selections below `wanted` have, so the bound is at least `wanted`.
    return max(best.wanted, sum_bound(instance, weights, best.totals, best.wanted, known, deadline))


def solve_sum(
    instance: Coverage,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    *,
    every: bool,
    few: int = _FEW,
    start: Selection | None = None,
    cutoff: Key | None = None,
) -> Optima:
    """Find one optimum, or all, of an instance whose value is a mean of several ratios."""
    budget = Budget(limits, deadline)
    search = SumSearch(instance, budget, every=every, few=few, cutoff=cutoff)
    proven, reason, bound = False, None, None
    try:
        search.run(start)
        proven = True
    except Stopped as stopped:
        reason = stopped.termination
        if reason is Termination.TIME_LIMIT:
            try:
                bound = _bound_of_stopped(search, budget.limits.late(budget.deadline))
            except KeyboardInterrupt:
                budget.deadline.interrupt()
                reason = Termination.INTERRUPTED
    tied = union(search.families) if every and search.families else None
    found = search.best.optima(tied, reason, budget.as_dict(), proven=proven)
    return found if proven else replace(found, bound=bound)


def reaching_sum(
    instance: Coverage, threshold: Fraction, best: Selection, budget: Budget
) -> tuple[Diagram, Termination | None]:
    """Return all sets that reach a threshold > 0; at a limit, some of them and the limit. `best`: an optimum."""
    search, reason = SumSearch(instance, budget, every=True, threshold=threshold), None
    try:
        search.run(best)
    except Stopped as stopped:
        reason = stopped.termination
    return (union(search.families) if search.families else Diagram.of_sets([])), reason


_WHOLE: Final = 64  # Weights of covered positions and copies are multiples of 1 / `_WHOLE`.
_COLLAPSED: Final = 2.0**32  # Approximate size to which the numbers of one ratio are scaled.


def tightened(instance: Coverage, deadline: Deadline) -> Coverage:
    """Return an instance with the same selections and values, whose features bound ceilings more tightly.

    Covered positions and copies both bound the hits of a token, and so does any weighted mean of both. Good weights are
    the multipliers of the two rows in the linear relaxation at a good selection; all weights are valid.
    """
    if not any(ceiling.parts for ceiling in instance.ceilings) or is_whole_text(instance):
        return instance
    shares = _shares(instance, deadline)
    times = np.full(instance.features, _WHOLE, np.int64)
    mass = _WHOLE * instance.plain.mass
    ceilings = []
    for ceiling in instance.ceilings:
        own, shares = shares[: ceiling.parts], shares[ceiling.parts :]
        made, times[ceiling.first : ceiling.last] = ceiling.bounded_by(own, _WHOLE)
        mass[ceiling.slot] += made.mass
        ceilings.append(made)
    return instance.changed(
        level=instance.level * np.repeat(times, np.diff(instance.level_start)),
        constants=_WHOLE * instance.constants,
        mass=mass,
        ceilings=tuple(ceilings),
    )


def _shares(instance: Coverage, deadline: Deadline) -> list[int]:
    if not affordable(instance, deadline):
        return [_WHOLE] * sum(ceiling.parts for ceiling in instance.ceilings)
    columns = CeilingColumns(instance, relaxed=True)
    one = _at_greedy(instance, deadline)
    model = coverage_model(one, None if one.constant_denominator else Fraction(1), relaxed=True)
    relaxation = relax(model, deadline)
    if relaxation is None:
        return [_WHOLE] * len(columns.capped)
    duals = np.maximum(0.0, relaxation.duals)
    first = model.rows - columns.rows
    found = []
    for row in columns.capped:
        above, beside = float(duals[first + row]), float(duals[first + row + 1])
        found.append(round(_WHOLE * above / (above + beside)) if above + beside > 0 else _WHOLE)
    return found


def _at_greedy(instance: Coverage, deadline: Deadline) -> Coverage:
    """Return an instance of one ratio that exceeds 1, approximately, where the value exceeds a greedy selection's."""
    climbed = climb(instance, deadline)
    totals = score(instance, () if climbed is None else climbed.units)[0]
    most, pairs = reaches(instance), list(zip(instance.weights, totals[0::2], totals[1::2], strict=True))
    tops = [weight / max(1, bottom) for weight, _, bottom in pairs]
    bottoms = [weight * top / max(1, bottom) ** 2 for weight, top, bottom in pairs]
    size = sum(a * max(1, top) for a, top in zip(tops, most[0::2], strict=True))
    size += sum(b * max(1, bottom) for b, bottom in zip(bottoms, most[1::2], strict=True))
    scale = _COLLAPSED / max(size, 1e-9)
    return collapsed(instance, [max(1, round(scale * a)) for a in tops], [max(1, round(scale * b)) for b in bottoms])
