r"""Bounds of sums of ratios by prices of copies, which a subgradient method finds.

Consider the linear program ``a T - V b D >= 0`` of a corner of a box (`optsum.program.surrogate`), a price y_f >= 0 of
a copy of each feature, and any prices v_r of rows over the units ``low_r <= A_r <= high_r``. For every selection S

    a T - V b D <= sum_f max over c of (gains_f(c) - y_f c) + sum_r max(v_r low_r, v_r high_r) - V E
                   + sum over S of (mass_i + y . copies_i + the largest y . copies of a seam after i - v . A_i - V e_i),

where ``b D`` is E plus the e_i of the units i in S. The smallest V for which the right side is at most 0 is a bound,
and a convex function of the prices. The search in the halves of a box starts from the prices of the box. Features with
the same occurrences are merged, with the gains of all ratios; a feature that occurs once has a fixed price. Parents are
ignored, and so are conflicts of seams, except that each unit has at most one seam after it. Prices are found in
floating point, and the bound is then proven in integers.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count, cycle
from math import ceil, floor
from operator import mul
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, IntArray
from optsum.program.model import steps_of
from optsum.program.surrogate import (
    DenominatorBox,
    Weighted,
    alike_features,
    box_of,
    excess,
    merged_features,
    programs,
    reaches,
)
from optsum.system.clock import Deadline, Stopped
from optsum.system.compiled import njit
from optsum.whole import INT64_SAFE

_GRID: Final = 2**20  # Bounds are multiples of about its reciprocal.
REACH: Final = 2.0**32  # Approximate size of coefficients: fine enough for grids, small enough for linear programs.
_NARROW: Final = 5e-4  # Relative excess (`surrogate.excess`) at or below which a box is not halved.
_LOOKS: Final = 150  # Largest number of boxes that are examined; with several coordinates there are very many.
_STEPS: Final = 60  # Steps of the subgradient method between two checks of the deadline.
_LEAST_GAIN: Final = 1e-3  # Relative improvement by `_STEPS` steps below which a box is no longer improved.
_NEWTON: Final = 100  # Steps of Newton's method, which ends much earlier unless rounding errors let it alternate.
_CELLS: Final = 100_000  # If side constraints times units exceed it, the bound ignores the side constraints.
_ROW_STEP: Final = 10.0  # Step of a row's price, relative to that of a copy's price and to the norm of the row.


class Copies(NamedTuple):
    """The numbers of copies of features in units and in occurrences of several units (seams)."""

    # start, feature, copies: (units + 1,), (entries,), (entries,)
    start: IntArray
    feature: IntArray
    copies: IntArray
    # seam_start, seam_feature, seam_copies: the same for seams, which here are all occurrences of several units.
    seam_start: IntArray
    seam_feature: IntArray
    seam_copies: IntArray
    # first, lone: (seams,): the first unit, or -1; whether the seam counts in addition to other seams of the unit.
    first: IntArray
    lone: NDArray[np.bool_]
    step_start: IntArray  # (features + 1,): where the steps of each feature's gains begin.
    most: IntArray  # (features,): copies in all units and seams.
    rows: IntArray  # (rows, units): coefficients


@njit(cache=True)
def _profits(copies, gains, price, row_price, mass, count, profit, choice):
    """Return the terms of no unit (see the module); fill `count` (c), `profit` (without V), `choice` (of a seam)."""
    start, feature, copy, seam_start, seam_feature, seam_copy, first, lone, step_start, most, rows = copies
    slack = gains[:1].sum() * 0
    for f in range(len(price)):
        begin, c = step_start[f], 0
        last = min(step_start[f + 1] - begin, most[f])
        while c < last and gains[begin + c] > price[f]:
            slack += gains[begin + c] - price[f]
            c += 1
        count[f] = c
    for i in range(len(mass)):
        total = mass[i]
        for k in range(start[i], start[i + 1]):
            total += price[feature[k]] * copy[k]
        for r in range(len(rows)):
            total -= row_price[r] * rows[r, i]
        profit[i] = total
        choice[i] = -1
    best = np.zeros_like(profit)
    for o in range(len(first)):
        worth = price[:1].sum() * 0
        for k in range(seam_start[o], seam_start[o + 1]):
            worth += price[seam_feature[k]] * seam_copy[k]
        i = first[o]
        if i < 0:
            slack += worth
        elif lone[o]:
            profit[i] += worth
        elif worth > best[i]:
            best[i] = worth
            choice[i] = o
    for i in range(len(mass)):
        profit[i] += best[i]
    return slack


@njit(cache=True)
def _descend(copies, gains, price, least, largest, row_price, row_low, row_high, row_step, linear, base, goal, steps):
    """Improve prices in place by `steps` steps, or until V is at most `goal`; return V and the scale of the last step.

    `linear`: mass and e of each unit. `base`: the constants of ``a T`` and ``b D``, and the scale of the first step.
    """
    start, feature, copy, seam_start, seam_feature, seam_copy, first, lone, _step_start, _most, rows = copies
    n, m, size = linear.shape[1], len(price), len(row_price)
    mass, added = linear[0], linear[1]
    profit, choice, count = np.empty(n, np.float64), np.empty(n, np.int64), np.empty(m, np.int64)
    slope, way, row_way = np.empty(m, np.float64), np.zeros(m, np.float64), np.zeros(size, np.float64)
    best_price, best_row_price = price.copy(), row_price.copy()
    best, found, idle, scale = np.inf, goal, 0, base[2]
    for _ in range(steps):
        fixed = _profits(copies, gains, price, row_price, mass, count, profit, choice) + base[0]
        for r in range(size):
            fixed += row_price[r] * (row_high[r] if row_price[r] >= 0.0 else row_low[r])
        for _newton in range(_NEWTON):  # V from the units whose term is positive
            top, bottom = fixed, base[1]
            for i in range(n):
                if profit[i] > found * added[i]:
                    top += profit[i]
                    bottom += added[i]
            before, found = found, top / bottom
            if abs(found - before) <= 1e-12 * abs(found):
                break
        idle += 1
        if found < best:
            if found < best * (1.0 - 1e-4):
                idle = 0
            best = found
            best_price[:] = price
            best_row_price[:] = row_price
            if found <= goal:
                break
        if idle > 12:
            idle = 0
            scale *= 0.7
            price[:] = best_price
            row_price[:] = best_row_price
            way[:] = 0.0
            row_way[:] = 0.0
            continue
        for f in range(m):
            slope[f] = -float(count[f])
        for r in range(size):
            held = row_high[r] if row_price[r] >= 0.0 else row_low[r]
            for i in range(n):
                if profit[i] > found * added[i]:
                    held -= rows[r, i]
            row_way[r] = 0.7 * row_way[r] + 0.3 * held * row_step[r]
        for i in range(n):
            if profit[i] > found * added[i]:
                for k in range(start[i], start[i + 1]):
                    slope[feature[k]] += copy[k]
                if choice[i] >= 0:
                    for k in range(seam_start[choice[i]], seam_start[choice[i] + 1]):
                        slope[seam_feature[k]] += seam_copy[k]
        for o in range(len(first)):
            if first[o] < 0 or (lone[o] and profit[first[o]] > found * added[first[o]]):
                for k in range(seam_start[o], seam_start[o + 1]):
                    slope[seam_feature[k]] += seam_copy[k]
        size_of_way = 0.0
        for f in range(m):
            falls = slope[f]
            if (falls > 0.0 and price[f] <= least[f]) or (falls < 0.0 and price[f] >= largest[f]):
                falls = 0.0
            way[f] = 0.7 * way[f] + 0.3 * falls
            size_of_way += way[f] * way[f]
        for r in range(size):
            size_of_way += row_way[r] * row_way[r]
        if size_of_way <= 1e-18:
            break
        step = scale * (found - goal) * bottom / size_of_way
        for f in range(m):
            price[f] = min(largest[f], max(least[f], price[f] - step * way[f]))
        for r in range(size):
            row_price[r] -= step * row_way[r] * row_step[r]
    price[:] = best_price
    row_price[:] = best_row_price
    return best, scale


@dataclass
class _Corner:
    """Prices at a corner of a box, and the bound that they prove."""

    shares: NDArray[np.float64]  # Prices of features, divided by their first gains.
    rows: NDArray[np.float64]
    bound: Fraction | None = None
    scale: float = 1.0


_Part: TypeAlias = tuple[Fraction, DenominatorBox, list[_Corner], bool]
"""A bound of the selections in a box, the box, its corners, and whether it is no longer improved."""


class SumBound:
    """The search for a bound of a weighted sum of an instance's ratios, whose denominators are above 0.

    `typical`: approximate numerators of good selections. `enough`: the bound need not fall below this value.
    """

    def __init__(
        self, instance: Coverage, weights: Sequence[Fraction], typical: Sequence[float], enough: Fraction
    ) -> None:
        every = tuple(range(instance.ratios))
        self._instance, common = instance, enough.denominator
        self._grid = common * max(1, _GRID // common) if common <= _GRID else _GRID
        self._enough = Fraction(ceil(enough * self._grid), self._grid)
        self._wish = Weighted(every, tuple(weights), Fraction(1), tuple(typical))
        self._whole = box_of(instance, replace(self._wish, value=self._enough))
        self._most = reaches(instance)
        group = alike_features(instance)
        merged = merged_features(instance.changed(joints=()), group)
        width = np.diff(merged.level_start) - 1
        steps = np.append(0, np.cumsum(width))
        # The amount that each step of a merged feature adds to each numerator.
        self._gains = np.zeros((int(steps[-1]), instance.ratios), np.int64)
        rise, of = steps_of(instance)
        at = steps[group[of]] + np.arange(len(of)) - np.searchsorted(of, of)
        above = instance.slot[of] % 2 == 0
        np.add.at(self._gains, (at[above], instance.slot[of[above]] // 2), rise[above])
        self._copies = _copies_of(instance, merged, group, self._rows_of(self._whole)[0])
        self._first = np.flatnonzero(width), steps[:-1][width > 0]
        few = np.flatnonzero((width > 0) & (self._copies.most <= width) & (self._copies.most > 0))
        self._few = few, steps[few] + self._copies.most[few] - 1

    def _rows_of(self, box: DenominatorBox) -> tuple[IntArray, IntArray]:
        """Return the side constraints on units in a box: coefficients (rows, units) and two limits each (rows, 2)."""
        instance = self._instance
        rows, limits = [], []
        for number in range(0 if box.quotient else 1 if box.outlines else len(box.low)):
            bottom = 2 * box.part.index(number) + 1
            rows.append(instance.mass[bottom])
            # The amount that features add to a denominator is part of the box, but not of the row.
            low = 0.0 if (instance.slot == bottom).any() else box.low[number]
            limits.append((floor(low), ceil(box.high[number])))
        if instance.min_length > 0 or instance.max_length < int(instance.lengths.sum()):
            rows.append(instance.lengths)
            limits.append((instance.min_length, min(instance.max_length, int(instance.lengths.sum()))))
        for one in instance.rows if len(instance.rows) * instance.size <= _CELLS else ():
            row = np.zeros(instance.size, np.int64)
            row[list(one.units)] = one.coefficients
            rows.append(row)
            limits.append((one.low, one.total if one.high is None else one.high))
        found = np.array(rows, np.int64).reshape(len(rows), instance.size)
        return found, np.array(limits, np.int64).reshape(len(rows), 2)

    def below(self, known: Fraction, deadline: Deadline) -> Fraction:
        """Return the best bound that is found by the deadline, beginning with the bound `known`."""
        corners = [_Corner(np.full(len(self._copies.most), 0.5), np.zeros(len(self._copies.rows)))]
        parts: list[tuple[Fraction, int, _Part]] = [(-known, 0, (known, self._whole, corners, False))]
        number = count(-1, -1)
        for _ in range(_LOOKS):
            if not parts or -parts[0][0] <= self._enough or parts[0][2][-1] or deadline.passed:
                break
            try:
                left = self._looked_at(parts[0][2], deadline)
            except Stopped:
                break
            heappop(parts)
            for part in left:
                heappush(parts, (-part[0], next(number), part))
        return min(known, max([self._enough, *(-bound for bound, _, _ in parts)]))

    def _looked_at(self, part: _Part, deadline: Deadline) -> Sequence[_Part]:
        """Improve the prices of a part; return it or its halves with a bound; nothing if that is at most `enough`."""
        bound, box, begun, _ = part
        corners = []
        found = programs(self._instance, box, self._wish, largest=REACH, check=deadline.check)
        for (tops, bottoms), corner in zip(found, cycle(begun), strict=False):
            done = corner.bound is not None and corner.bound <= self._enough
            corners.append(corner if done else self._descended(tops, bottoms, box, corner))
        less = min(bound, max(bound if corner.bound is None else corner.bound for corner in corners))
        if less <= self._enough:
            return ()
        left, wide = float(less - self._enough) / float(less), excess(box, self._wish, deadline.check)
        slow = bound - less <= bound * _LEAST_GAIN
        if (slow or wide > left / 4) and wide > _NARROW and (halves := box.halves()) is not None:
            begun = [replace(corner, bound=None) for corner in corners]
            return [(less, half, begun, False) for half in halves]
        return [(less, box, corners, slow)]

    def _descended(self, tops: Sequence[int], bottoms: Sequence[int], box: DenominatorBox, begun: _Corner) -> _Corner:
        """Improve the prices of a corner's program; return them, with the bound that they prove or None."""
        instance, most = self._instance, self._most
        unproven = replace(begun, bound=None)
        if max(sum(map(mul, tops, most[0::2])), sum(map(mul, bottoms, most[1::2]))) >= INT64_SAFE:
            return unproven
        above, below = np.array(tops, np.int64), np.array(bottoms, np.int64)
        gains = self._gains @ above
        largest, least = np.zeros(len(begun.shares)), np.zeros(len(begun.shares))
        largest[self._first[0]] = gains[self._first[1]]
        least[self._few[0]] = gains[self._few[1]]
        linear = np.array([above @ instance.mass[0::2], below @ instance.mass[1::2]])
        base = [int(above @ instance.constants[0::2]), int(below @ instance.constants[1::2])]
        if base[1] <= 0:
            return unproven
        limits, sizes = self._rows_of(box)[1], np.sqrt((self._copies.rows.astype(np.float64) ** 2).sum(axis=1))
        price, row_price = np.clip(begun.shares * largest, least, largest), begun.rows * float(base[1])
        value, scale = _descend(
            self._copies,
            gains.astype(np.float64),
            price,
            least,
            largest,
            row_price,
            limits[:, 0].astype(np.float64),
            limits[:, 1].astype(np.float64),
            _ROW_STEP / np.maximum(sizes, 1.0),
            linear.astype(np.float64),
            np.array([*base, begun.scale], np.float64),
            float(self._enough),
            _STEPS,
        )
        shares = np.divide(price, largest, out=np.zeros_like(price), where=largest > 0)
        found = _Corner(shares, row_price / base[1], None, max(scale, 0.1))
        for slack in (0.0, 1e-6, 1e-4):
            reached = max(self._enough, Fraction(ceil(value * (1 + slack) * self._grid), self._grid))
            if self._proves(reached, gains, (price, row_price), limits, linear, base):
                return replace(found, bound=reached)
        return found

    def _proves(
        self,
        value: Fraction,
        gains: IntArray,
        found: tuple[NDArray[np.float64], NDArray[np.float64]],
        limits: IntArray,
        linear: IntArray,
        base: Sequence[int],
    ) -> bool:
        """Return whether prices prove, in integers, that no selection in the program is worth more than `value`."""
        copies, times, (price, row_price) = self._copies, int(value * self._grid), found
        of_rows = np.abs(copies.rows.astype(np.float64)).sum(axis=1)
        of_rows += np.abs(limits.astype(np.float64)).max(axis=1, initial=0.0)
        sums = float(price @ copies.most) + float(np.abs(row_price) @ of_rows)
        sums += float(gains.sum(dtype=np.float64))
        sums += float(value + 1) * (float(linear.sum(dtype=np.float64)) + sum(base))
        if not sums * self._grid < INT64_SAFE:
            return False
        prices, row_prices = (np.rint(one * self._grid).astype(np.int64) for one in found)
        profit, choice, count = (np.empty(size, np.int64) for size in (len(linear[0]), len(linear[0]), len(price)))
        total = int(
            _profits(copies, gains * self._grid, prices, row_prices, linear[0] * self._grid, count, profit, choice)
        )
        total += int(np.maximum(profit - times * linear[1], 0).sum())
        total += int((row_prices * limits.T).max(axis=0).sum())
        return total + self._grid * base[0] - times * base[1] <= 0


def _copies_of(instance: Coverage, merged: Coverage, group: IntArray, rows: IntArray) -> Copies:
    width = np.diff(merged.level_start) - 1
    leads = np.zeros(len(group), np.bool_)  # whether a feature is the first of its group, which represents it
    leads[np.unique(group, return_index=True)[1]] = True
    seams: dict[tuple[int, ...], dict[int, int]] = {}
    found: list[tuple[int, bool, tuple[tuple[int, int], ...]]] = []  # first unit, `lone`, features and copies
    fed = np.array([joint.feature for joint in instance.joints], np.int64)
    for joint, counts, feature in zip(instance.joints, leads[fed].tolist(), group[fed].tolist(), strict=True):
        if counts and joint.seam:
            held = seams.setdefault(joint.needs, {})
            held[feature] = held.get(feature, 0) + joint.count
        elif counts:
            found.append((joint.needs[0] if joint.needs else -1, True, ((feature, joint.count),)))
    # Only one seam after a unit counts, so seams with the same unit and copies are merged.
    found += {(needs[0], False, tuple(sorted(held.items()))): None for needs, held in seams.items()}
    most: dict[tuple[int, int], int] = {}
    for number, (unit, lone, parts) in enumerate(found):
        for feature, many in parts:
            key = -1 - number if lone else unit, feature
            most[key] = max(many, most.get(key, 0))
    sizes = [len(parts) for _, _, parts in found]
    features, times = np.array([part for _, _, parts in found for part in parts], np.int64).reshape(-1, 2).T
    copies = np.bincount(merged.unit_feature, merged.unit_count, len(width))
    for (_, feature), many in most.items():
        copies[feature] += many
    return Copies(
        merged.unit_start,
        merged.unit_feature,
        merged.unit_count,
        np.append(0, np.cumsum(sizes, dtype=np.int64)),
        np.ascontiguousarray(features),
        np.minimum(times, np.maximum(width[features], 1)),
        np.array([unit for unit, _, _ in found], np.int64),
        np.array([lone for _, lone, _ in found], np.bool_),
        np.append(0, np.cumsum(width)),
        copies.astype(np.int64),
        rows,
    )
