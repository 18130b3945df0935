"""The totals of several ratios as linear expressions in one integer program, and programs that weight and limit them.

Features with the same copies in the same units are merged, for all ratios: the n-grams of several references share
their columns. A total is then a row over the columns. If a solver leaves steps unfilled, the row of a numerator is at
most the numerator, and that of a denominator at least the denominator, so that lower limits of the former and upper
limits of the latter are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations, count, islice
from math import ceil, floor, inf
from typing import Final, TypeAlias

import numpy as np

from optsum.coverage.instance import Coverage, IntArray
from optsum.errors import UnsupportedError
from optsum.program.model import CeilingColumns, LinearModel, coverage_model
from optsum.program.surrogate import DenominatorBox, Weighted, alike_features, box_of, merged_features, reaches
from optsum.whole import LARGEST

_FINE: Final = 1_024
"""Slopes of boxes are multiples of its reciprocal in rows, because solvers keep rows with small numbers."""


@dataclass(frozen=True)
class Side:
    """A row over denominators without their constants: ``low <= sum of times[h] (D_h - constant) <= high``."""

    times: Mapping[int, int]
    low: int | None = None
    high: int | None = None

    def holds(self, masses: Sequence[int]) -> bool:
        held = sum(times * masses[h] for h, times in self.times.items())
        return (self.low is None or held >= self.low) and (self.high is None or held <= self.high)


def rows_of_box(box: DenominatorBox, ratios: Sequence[int], constants: Sequence[int]) -> Iterator[Side]:
    """Yield rows that hold for every selection of a box of some ratios, and few others; `constants`: of all totals."""
    if box.quotient:
        first, second = ratios
        yield from _sloped(
            first, second, box.low[0], box.high[0], (constants[2 * first + 1], constants[2 * second + 1])
        )
        return
    for number, (low, high) in enumerate(zip(box.low, box.high, strict=True)):
        h = ratios[box.part.index(number)]
        if number and box.outlines:
            yield from _sloped(ratios[box.part.index(0)], h, low, high, (0, 0))
        else:
            yield Side({h: 1}, low=ceil(low), high=floor(high))


def _sloped(first: int, second: int, low: float, high: float, constants: tuple[int, int]) -> Iterator[Side]:
    below, above = floor(low * _FINE), ceil(high * _FINE)
    one, two = constants
    yield Side({second: _FINE, first: -below}, low=below * one - _FINE * two)
    yield Side({second: _FINE, first: -above}, high=above * one - _FINE * two)


def cases_of(coverage: Coverage) -> Iterator[tuple[tuple[int, ...], list[int], list[int]]]:
    """Yield sets of ratios whose denominators may be nonzero together: those that always are, and any of the others.

    Ratios with equal denominators form a group. With each case come the first ratios of all groups with nonzero
    denominators in it, and of all other groups.
    """
    most, constants = reaches(coverage), coverage.constants.tolist()
    certain: list[int] = []
    others: dict[object, list[int]] = {}
    for h in range(coverage.ratios):
        if constants[2 * h + 1] > 0:
            certain.append(h)
        elif most[2 * h + 1] > 0:
            counts = bool((coverage.slot == 2 * h + 1).any())
            alike = (constants[2 * h + 1], coverage.mass[2 * h + 1].tobytes(), h if counts else -1)
            others.setdefault(alike, []).append(h)
    groups = list(others.values())
    for size in range(len(groups), -1, -1):
        for chosen in combinations(groups, size):
            ratios = sorted([*certain, *(h for group in chosen for h in group)])
            if ratios:  # otherwise all are over nothing: whatever is feasible is worth 0
                left = [group[0] for group in groups if group not in chosen]
                yield tuple(ratios), [group[0] for group in chosen], left


Bound: TypeAlias = float | Fraction


@dataclass(frozen=True)
class Part:
    """Selections in a box of the denominators of some ratios; `sides`: which ratios have a nonzero denominator."""

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
    """Examine the part with the largest bound, and replace it by its remaining parts, until there are none.

    `wish`: for some ratios, an inequality for all wanted selections. `look_at`: called with a part and its bound, at
    first infinite, returns parts to examine again. `all_needed`: whether a zero denominator makes the value 0.
    """
    constants, number = coverage.constants.tolist(), count()
    queue: list[tuple[Bound, int, Part]] = []
    for ratios, with_one, without in islice(cases_of(coverage), 1 if all_needed else None):
        sides = [Side({h: 1}, low=1 - constants[2 * h + 1]) for h in with_one]
        sides += [Side({h: 1}, high=-constants[2 * h + 1]) for h in without]
        heappush(queue, (-inf, next(number), Part(ratios, box_of(coverage, wish(ratios)), tuple(sides))))
    while queue:
        bound, _, part = heappop(queue)
        for less, left in look_at(-bound, part):
            heappush(queue, (-less, -next(number), left))  # of equal bounds the last one is the first


class RatioRows:
    """Columns and rows shared by all programs of an instance."""

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
        full = np.diff(coverage.level_start) - 1
        shared = np.diff(skeleton.level_start) - 1
        first = self._model.columns - int(shared.sum()) + np.cumsum(shared) - shared
        self._held = np.zeros((len(self.constants), self._model.columns), np.int64)
        self._held[:, : coverage.size] = coverage.mass
        for feature, number in enumerate(group.tolist()):
            start, steps = int(coverage.level_start[feature]), int(full[feature])
            gains = np.diff(coverage.level[start : start + steps + 1])
            self._held[coverage.slot[feature], first[number] : first[number] + steps] += gains
        end = self._model.columns - int(shared.sum())
        self._held[longest.slot, np.arange(end - len(longest.slot), end)] = longest.worth
        # The column of each feature that denominators count, and the units that have it.
        unit = np.repeat(np.arange(skeleton.size), np.diff(skeleton.unit_start))
        self._counted = [
            (int(first[feature]), unit[skeleton.unit_feature == feature])
            for feature in np.flatnonzero(skeleton.slot == 1).tolist()
        ]

    def worth(self, tops: Sequence[int], bottoms: Sequence[int], totals: Sequence[int]) -> int:
        above = sum(a * t for a, t in zip(tops, totals[0::2], strict=True))
        return above - sum(b * d for b, d in zip(bottoms, totals[1::2], strict=True))

    def _weighted(self, weights: Mapping[int, int]) -> IntArray:
        rows = [(weight, self._held[total]) for total, weight in weights.items() if weight and self._held[total].any()]
        if sum(abs(weight) * int(np.abs(row).max()) for weight, row in rows) > LARGEST:
            raise UnsupportedError(
                "The strategy milp cannot search this problem: its totals, weighted, are beyond 2^62. Divide its "
                "numbers by a common factor, or use branch-and-bound or exhaustive."
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

        `tops`, `bottoms`: one integer >= 0 for each ratio. `surpassed`: every selection must have a larger numerator
        than each of these, or a smaller denominator. The result is None if no selection can surpass one of them.
        """
        weights = dict(enumerate(weight for a, b in zip(tops, bottoms, strict=True) for weight in (a, -b)))
        offset = self.worth(tops, bottoms, self.constants)
        model = replace(self._model, objective=self._weighted(weights), offset=offset, denominator=1)
        rows: list[tuple[IntArray, float, float]] = []
        for side in sides:
            row = self._weighted({2 * h + 1: times for h, times in side.times.items()})
            low, high = side.low, side.high
            rows.append((row, -np.inf if low is None else low, np.inf if high is None else high))
        if rows:  # a denominator may not count what no unit has, to reach a row's least
            for column, units in self._counted:
                row = np.zeros(model.columns, np.int64)
                row[units], row[column] = -1, 1
                rows.append((row, -np.inf, 0.0))
        added = 0
        for totals in surpassed:
            parts = list(self._surpassing(totals))
            if not parts:
                return None
            wide = model.columns + added + len(parts)
            for place, (held, times, limit) in enumerate(parts, model.columns + added):
                row = np.zeros(wide, np.int64)
                row[: model.columns], row[place] = held, times
                rows.append((row, -np.inf, limit))
            one = np.zeros(wide, np.int64)
            one[wide - len(parts) :] = 1
            rows.append((one, 1.0, np.inf))
            added += len(parts)
        return _extended(model, added, rows)

    def _surpassing(self, totals: Sequence[int]) -> Iterable[tuple[IntArray, int, int]]:
        """Yield ``row . x + times y <= limit`` with y = 1 only for selections that surpass one of the totals."""
        seen = set()
        for number, (total, held) in enumerate(zip(totals, self._held, strict=True)):
            constant, most = self.constants[number], self.most[number]
            alike = number % 2, held.tobytes()
            if alike in seen:  # several references have one denominator but for constants
                continue
            if number % 2 == 0 and most > total:
                seen.add(alike)
                yield -held, total + 1 - constant, 0
            elif number % 2 == 1 and total > constant:
                seen.add(alike)
                yield held, most - total + 1, most - constant

    def masses(self, totals: Sequence[int]) -> list[int]:
        return [total - constant for total, constant in zip(totals[1::2], self.constants[1::2], strict=True)]


def _extended(model: LinearModel, columns: int, rows: Sequence[tuple[IntArray, float, float]]) -> LinearModel:
    places = [np.flatnonzero(row) for row, _, _ in rows]
    ends = model.row_start[-1] + np.cumsum([len(place) for place in places], dtype=np.int64)
    return replace(
        model,
        objective=np.append(model.objective, np.zeros(columns, np.int64)),
        upper=np.append(model.upper, np.ones(columns, np.int64)),
        integral=np.append(model.integral, np.ones(columns, np.bool_)),
        row_start=np.append(model.row_start, ends),
        row_column=np.concatenate([model.row_column, *places]),
        row_value=np.concatenate([model.row_value, *(row[at] for (row, _, _), at in zip(rows, places, strict=True))]),
        row_lower=np.append(model.row_lower, [low for _, low, _ in rows]),
        row_upper=np.append(model.row_upper, [high for _, _, high in rows]),
    )
