r"""Search for one optimum of an instance whose selections have few units, with limited work.

The search is depth-first over the units, with one linear bound for each node.

A node is a set of units C and the units that may still join it, the most promising first. With the ratios
:math:`\lambda_h = T_h / D_h` of the incumbent, a selection is better only if

.. math:: \sum_h w_h \frac{D_0}{D_h} (T_h - \lambda_h D_h) > 0,

where :math:`D_0 / D_h` is 1 for one ratio and a constant for recalls. For two ratios :math:`D_0 / D_1` lies between two
ends that depend on the node (`_ends`). The sum is linear in :math:`D_0 / D_1`, hence positive at one of the ends if it
is positive at all. At each end the sum is at most the value of C plus a knapsack of the contributions of units: the
present gain in T, because tables are concave, minus the least addition to D for any other choices. The knapsack is
bounded by a price of the length.

Sums of two ratios with at most three units, all of the same length, are first searched by a table of the overlap of
every two units (`search_table`), in whole numbers; the depth-first search follows if the best selection is not unique.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.strategy import Run
from optsum.coverage.ceilings import NO_CEILINGS, CeilingArrays, arrays_of_ceilings, correct, count_bits
from optsum.coverage.instance import Combination, Coverage, Facility, IntArray, Sense, kernel_array
from optsum.coverage.state import INTEGER, RATIO, SUM, fits, pair_at
from optsum.errors import BackendError
from optsum.metrics.kernels import counted, covered_positions, official_hits
from optsum.metrics.rouge import LONGEST
from optsum.problem.objective import Extracts, features_of
from optsum.problem.problem import Selection
from optsum.system.clock import Stopped
from optsum.system.compiled import compiles, is_worth, njit

DONE, HELD, NODES, DEPTH, TOP, BOTTOM, WORK, AGE, BEGUN = range(9)
"""Places of `FewUnitsState.scalars`: whether everything is searched; whether there is an incumbent; number of nodes;
depth of the present node; numerator and denominator of the incumbent's value; number of steps; number of incumbents so
far; whether the first node is made.
"""

COUNT, NEXT, LENGTH, BOUNDED = range(4)  # Rows of `FewUnitsState.place`.
LEAST, MOST, KIND, CONSTANT, BOUNDED_ABOVE = range(5)  # Places of `FewUnitsInstance.rules`.


class FewUnitsInstance(NamedTuple):
    """The arrays of an instance that do not change during the search."""

    # (5,): minimum and maximum length, kind of the value (`INTEGER`, `RATIO` or `SUM`), whether all denominators are
    # constant, and whether there are ceilings.
    rules: IntArray
    # lengths, start, feature, copies, level_start, level, slot, weights: as in `optsum.coverage.instance.Coverage`.
    lengths: IntArray
    start: IntArray
    feature: IntArray
    copies: IntArray
    level_start: IntArray
    level: IntArray
    slot: IntArray
    weights: IntArray
    # column_start, column_unit, column_copies: the units that have each feature, and their numbers of copies.
    column_start: IntArray
    column_unit: IntArray
    column_copies: IntArray
    least: IntArray  # (totals, units): amount that a unit adds to a total whatever else is chosen.


class FewUnitsState(NamedTuple):
    """The position of the search; row d belongs to the node with d units."""

    units: IntArray  # (depths, units): the units that may join, in the order in which they are tried.
    # (4, depths): the number of units that may join, the place of the next one, the length of the node, and the number
    # of the incumbent for which these units were bounded.
    place: IntArray
    totals: IntArray  # (totals, depths)
    gains: IntArray  # (depths, totals, units): amount that each unit would add to each total.
    copies: IntArray  # (features,)
    # (depths, ends, units + 1): largest gain of all units from each place on, at each end of D_0 / D_1; there are two
    # ends if two denominators vary, and one otherwise.
    rest: NDArray[np.float64]
    reduced: NDArray[np.float64]  # (depths, ends, units): gain of each unit minus the price of its length.
    base: NDArray[np.float64]  # (depths, ends): value of the node plus the price of the length that is left.
    margin: NDArray[np.float64]  # (depths,): largest rounding error of a bound of the node.
    best: IntArray  # (depths + 1,): the incumbent: the number of its units, and the units.
    path: IntArray  # (depths,)
    # held, seen: (totals, 1): totals of the incumbent, and of the selection that is being compared with it.
    held: IntArray
    seen: IntArray
    scalars: IntArray  # (9,)


@njit(cache=True)
def begun(lengths, instance, mass, weights, constants, rules, depths):
    """Return an instance, the state before its first node, and 1 if all products of values fit into 64 bits.

    The last result is 2 if, by a quick test, products may not fit, and 0 if sums may not fit, or if a denominator is 0
    for every selection, so that no node would have a bound. `constants`: constants of the totals that are searched.
    `depths`: 2 more than the largest number of units that fit.
    """
    start, feature, count, level_start, level, slot = instance
    units, totals = len(lengths), len(constants)
    column_start = np.zeros(len(slot) + 1, np.int64)
    for entry in range(len(feature)):
        column_start[feature[entry] + 1] += 1
    for one in range(len(slot)):
        column_start[one + 1] += column_start[one]
    column_unit, column_copies = np.empty(len(feature), np.int64), np.empty(len(feature), np.int64)
    # Amounts that each unit adds to each total alone (gains), and whatever else is chosen (least); sums of the gains.
    gains, least = np.empty((depths, totals, units), np.int64), np.empty((totals, units), np.int64)
    reach, sums, most = np.zeros(totals, np.float64), 0.0, 0
    free = column_start.copy()
    for unit in range(units):
        for total in range(totals):
            gains[0, total, unit] = least[total, unit] = mass[total, unit]
        for entry in range(start[unit], start[unit + 1]):
            one = feature[entry]
            column_unit[free[one]], column_copies[free[one]] = unit, count[entry]
            free[one] += 1
            first = level_start[one]
            gain = level[min(first + count[entry], level_start[one + 1] - 1)] - level[first]
            gains[0, slot[one], unit] += gain
            if column_start[one + 1] - column_start[one] == 1:
                least[slot[one], unit] += gain
        for total in range(totals):
            reach[total] += gains[0, total, unit]
        for total in range(len(mass)):
            sums += mass[total, unit]
        sums += lengths[unit]
    for value in level:
        most = max(most, value)
    # In floating point, because integers of kernels wrap around; as if each unit added all that it adds alone.
    fits = 0 if sums + float(most) * len(feature) >= _LARGEST else 1
    top, bottoms, shares = 0.0, 1.0, 0
    for total in range(totals):
        if total % 2 == 0:
            top = max(top, 1.0 + abs(constants[total]) + reach[total])
        else:
            bottoms *= 1.0 + abs(constants[total]) + reach[total]
            fits = 0 if constants[total] + reach[total] <= 0 else fits
    for weight in weights:
        shares += weight
    if fits and shares * top * bottoms * bottoms >= _LARGEST:
        fits = 2
    fixed = FewUnitsInstance(
        rules, lengths, start, feature, count, level_start, level, slot, weights, column_start, column_unit,
        column_copies, least,
    )  # fmt: skip
    ends = 2 if totals == 4 and rules[CONSTANT] == 0 else 1
    walk = FewUnitsState(
        np.empty((depths, units), np.int64), np.zeros((4, depths), np.int64), np.zeros((totals, depths), np.int64),
        gains, np.zeros(len(slot), np.int64), np.empty((depths, ends, units + 1)), np.empty((depths, ends, units)),
        np.zeros((depths, ends)), np.zeros(depths), np.zeros(depths + 1, np.int64), np.zeros(depths, np.int64),
        np.zeros((totals, 1), np.int64), np.zeros((totals, 1), np.int64), np.zeros(9, np.int64),
    )  # fmt: skip
    for unit in range(units):
        walk.units[0, unit] = unit
    for total in range(totals):
        walk.totals[total, 0] = constants[total]
    return fixed, walk, fits


# Margins above the rounding errors of a sum, relative to the sum of its absolute terms: once, and for each term.
_ROUNDING: Final = 1e-12
_OF_SUMS: Final = 2.3e-16


@njit(cache=True)
def _surely(gain, least, share):
    """Return a unit's part of a lower bound of the amount that all joining units together add to a total.

    `gain`: the amount that the unit adds alone; `least`: the part of it that no other unit adds. Of other amounts,
    joining units together add at least the largest, hence the average; `share`: 1 / largest number of joining units.
    """
    return least + (gain - least) * share


@njit(cache=True)
def _more(fixed, walk, depth):
    left, shortest = fixed.rules[MOST] - walk.place[LENGTH, depth], fixed.rules[MOST]
    for number in range(walk.place[NEXT, depth], walk.place[COUNT, depth]):
        shortest = min(shortest, fixed.lengths[walk.units[depth, number]])
    count = walk.place[COUNT, depth] - walk.place[NEXT, depth]
    return max(1, min(count, left // shortest)) if shortest > 0 else max(1, count)


@njit(cache=True)
def _ends(fixed, walk, depth, share):
    """Return limits of D_0 / D_1 (denominators) over all selections that extend a node by some of its next units."""
    count, left = walk.place[COUNT, depth], fixed.rules[MOST] - walk.place[LENGTH, depth]
    bottom0, bottom1 = walk.totals[1, depth], walk.totals[3, depth]
    most0, most1 = 0.0, 0.0  # largest addition of all units together
    dense0, dense1 = 0.0, 0.0  # largest addition of a unit by its length
    largest, smallest = 0.0, np.inf  # limits of a unit's addition to D_0, divided by its addition to D_1
    endless = False
    for number in range(walk.place[NEXT, depth], count):
        unit = walk.units[depth, number]
        high0, high1 = walk.gains[depth, 1, unit], walk.gains[depth, 3, unit]
        low0 = _surely(high0, fixed.least[1, unit], share)
        low1 = _surely(high1, fixed.least[3, unit], share)
        length = max(1, fixed.lengths[unit])
        most0 += high0
        most1 += high1
        dense0 = max(dense0, high0 / length)
        dense1 = max(dense1, high1 / length)
        if low1 > 0:
            largest = max(largest, high0 / low1)
        elif high0 > 0:
            endless = True
        if high1 > 0:
            smallest = min(smallest, low0 / high1)
        if fixed.lengths[unit] == 0:
            dense0, dense1 = np.inf, np.inf
    most0 = min(most0, dense0 * left) if left > 0 else most0
    most1 = min(most1, dense1 * left) if left > 0 else most1
    low = high = bottom0 / bottom1
    if endless:
        high = (bottom0 + most0) / bottom1
    elif largest > high:
        high = (bottom0 + most0) / (bottom1 + most0 / largest)
    if smallest < low:
        low = (bottom0 + smallest * most1) / (bottom1 + most1)
    return low * (1 - _ROUNDING), high * (1 + _ROUNDING)


@njit(cache=True)
def bound(fixed, walk, depth):
    """Sort the next units of a node by reduced gain per length, and compute the bounds of the node and of each unit."""
    kind, weights, totals, gains = fixed.rules[KIND], fixed.weights, walk.totals, walk.gains[depth]
    units, begin, count = walk.units[depth], walk.place[NEXT, depth], walk.place[COUNT, depth]
    left = fixed.rules[MOST] - walk.place[LENGTH, depth]
    integer = kind == INTEGER
    ratios = 1 if integer else len(weights)
    positive = True
    if not integer:
        for ratio in range(ratios):
            positive = positive and totals[2 * ratio + 1, depth] > 0
    ends = walk.rest.shape[1]
    share, shares = 1.0 / _more(fixed, walk, depth), (1.0, 1.0)
    if ends == 2 and positive:
        shares = _ends(fixed, walk, depth, share)
    walk.margin[depth] = 0.0
    for end in range(ends):
        worth, size, reduced = 0.0, 0.0, walk.reduced[depth, end]
        for number in range(begin, count):
            reduced[number] = 0.0
        for ratio in range(ratios):
            weight, multiplier = 1.0, 0.0
            if not integer:
                weight = float(weights[ratio])
                if walk.held[2 * ratio + 1, 0] > 0:
                    multiplier = walk.held[2 * ratio, 0] / walk.held[2 * ratio + 1, 0]
                if ratio > 0 and positive:
                    weight *= shares[end] if ends == 2 else totals[1, depth] / totals[2 * ratio + 1, depth]
            worth += weight * totals[2 * ratio, depth]
            size += weight * totals[2 * ratio, depth]
            if multiplier > 0.0:
                worth -= weight * multiplier * totals[2 * ratio + 1, depth]
                size += weight * multiplier * totals[2 * ratio + 1, depth]
            for number in range(begin, count):
                unit = units[number]
                size += weight * gains[2 * ratio, unit]
                reduced[number] += weight * gains[2 * ratio, unit]
                if multiplier > 0.0:
                    lost = _surely(gains[2 * ratio + 1, unit], fixed.least[2 * ratio + 1, unit], share)
                    size += weight * multiplier * lost
                    reduced[number] -= weight * multiplier * lost
        if end == 0:
            walk.scalars[WORK] += _sort(units, reduced, fixed.lengths, begin, count)
        price = _price(units, reduced, fixed.lengths, begin, count, left)
        rest = walk.rest[depth, end]
        rest[count] = 0.0
        for number in range(count - 1, begin - 1, -1):
            reduced[number] -= price * fixed.lengths[units[number]]
            rest[number] = rest[number + 1] + max(0.0, reduced[number])
        walk.base[depth, end] = worth + price * left if positive else np.inf
        walk.margin[depth] = max(walk.margin[depth], (_ROUNDING + _OF_SUMS * (count - begin)) * (size + price * left))
    walk.place[BOUNDED, depth] = walk.scalars[AGE]
    walk.scalars[WORK] += (count - begin) * (2 + 3 * ends * ratios)


@njit(cache=True)
def _sort(units, reduced, lengths, begin, count):
    steps = 0
    for number in range(begin + 1, count):
        unit, value = units[number], reduced[number]
        length, at = lengths[unit], number
        while at > begin and value * lengths[units[at - 1]] > reduced[at - 1] * length:
            units[at], reduced[at] = units[at - 1], reduced[at - 1]
            at -= 1
        steps += number - at
        units[at], reduced[at] = unit, value
    return steps


@njit(cache=True)
def _price(units, reduced, lengths, begin, count, left):
    for number in range(begin, count):
        if reduced[number] > 0.0:
            left -= lengths[units[number]]
            if left < 0:
                return reduced[number] / lengths[units[number]]
    return 0.0


@njit(cache=True)
def least_of(fixed, walk):
    """Return the least bound that a subtree with a better selection than the incumbent can have."""
    scalars, kind = walk.scalars, fixed.rules[KIND]
    if scalars[HELD] == 0:
        return -np.inf
    if kind == INTEGER:
        return scalars[TOP] + 1.0
    if kind == RATIO:
        return 1.0 / scalars[BOTTOM]
    return walk.totals[1, 0] / scalars[BOTTOM] if fixed.rules[CONSTANT] else 0.0


@njit(cache=True)
def _insert(values, count, value):
    """Insert a value into the first `count` values, which are ascending."""
    while count > 0 and values[count - 1] > value:
        values[count] = values[count - 1]
        count -= 1
    values[count] = value


@njit(cache=True)
def _rank(order, count, unit, worth):
    """Insert a unit into the first `count` units, whose worth is descending."""
    while count > 0 and worth[order[count - 1]] < worth[unit]:
        order[count] = order[count - 1]
        count -= 1
    order[count] = unit


@njit(cache=True)
def _hold(fixed, walk, ceilings, depth):
    scalars, kind, weights = walk.scalars, fixed.rules[KIND], fixed.weights
    top, bottom = pair_at(kind, weights, walk.totals, depth)
    if scalars[HELD] and top * scalars[BOTTOM] - scalars[TOP] * bottom <= 0:
        return
    for total in range(len(walk.totals)):
        walk.seen[total, 0] = walk.totals[total, depth]
    if fixed.rules[BOUNDED_ABOVE]:
        for number in range(depth):
            _insert(ceilings.units, number, walk.path[number])
        # By a contiguous array, as other callers pass: for a column `correct` would be compiled again.
        totals = ceilings.totals
        for total in range(len(totals)):
            totals[total] = walk.seen[total, 0]
        correct(ceilings, depth, totals)
        for total in range(len(totals)):
            walk.seen[total, 0] = totals[total]
        top, bottom = pair_at(kind, weights, walk.seen, np.int64(0))
        if scalars[HELD] and top * scalars[BOTTOM] - scalars[TOP] * bottom <= 0:
            return
    scalars[HELD], scalars[TOP], scalars[BOTTOM] = 1, top, bottom
    scalars[AGE] += 1
    walk.best[0] = depth
    for number in range(depth):
        walk.best[number + 1] = walk.path[number]
    for total in range(len(walk.totals)):
        walk.held[total, 0] = walk.seen[total, 0]


@njit(cache=True)
def _descend(fixed, walk, depth, number):
    unit = walk.units[depth, number]
    below = depth + 1
    length = walk.place[LENGTH, depth] + fixed.lengths[unit]
    walk.path[depth] = unit
    walk.place[LENGTH, below], walk.place[NEXT, below] = length, 0
    totals = len(walk.totals)
    for total in range(totals):
        walk.totals[total, below] = walk.totals[total, depth] + walk.gains[depth, total, unit]
    kept = 0
    for later in range(number + 1, walk.place[COUNT, depth]):
        other = walk.units[depth, later]
        if length + fixed.lengths[other] <= fixed.rules[MOST]:
            walk.units[below, kept] = other
            kept += 1
            for total in range(totals):
                walk.gains[below, total, other] = walk.gains[depth, total, other]
    walk.place[COUNT, below] = kept
    for entry in range(fixed.start[unit], fixed.start[unit + 1]):
        one = fixed.feature[entry]
        first, last = fixed.level_start[one], fixed.level_start[one + 1] - 1
        before = walk.copies[one]
        after = before + fixed.copies[entry]
        walk.copies[one] = after
        was, now = min(first + before, last), min(first + after, last)
        if was < last and kept:
            walk.scalars[WORK] += fixed.column_start[one + 1] - fixed.column_start[one]
            total = fixed.slot[one]
            if last - first == 1:  # most features count once, and add nothing after their first copy
                lost = fixed.level[last] - fixed.level[first]
                for place in range(fixed.column_start[one], fixed.column_start[one + 1]):
                    walk.gains[below, total, fixed.column_unit[place]] -= lost
                continue
            for place in range(fixed.column_start[one], fixed.column_start[one + 1]):
                more = fixed.column_copies[place]
                gained = fixed.level[min(first + after + more, last)] - fixed.level[now]
                walk.gains[below, total, fixed.column_unit[place]] += (
                    gained - fixed.level[min(first + before + more, last)] + fixed.level[was]
                )
    walk.scalars[WORK] += kept * totals + fixed.start[unit + 1] - fixed.start[unit]


@njit(cache=True)
def _begin(fixed, walk, ceilings):
    """Make the first node, whose units may be sorted roughly by their promise beforehand."""
    kept = 0
    for number in range(walk.units.shape[1]):
        unit = walk.units[0, number]
        if fixed.lengths[unit] <= fixed.rules[MOST]:
            walk.units[0, kept] = unit
            kept += 1
    walk.place[COUNT, 0], walk.place[BOUNDED, 0], walk.scalars[BEGUN] = kept, -1, 1
    if fixed.rules[LEAST] <= 0:
        _hold(fixed, walk, ceilings, np.int64(0))


@njit(cache=True)
def advance(fixed: Any, walk: Any, ceilings: Any, nodes: int, work: int) -> None:
    """Continue the search until `nodes` more nodes are made, `work` steps are done in total, or nothing is left."""
    if not walk.scalars[BEGUN]:
        _begin(fixed, walk, ceilings)
    low = fixed.rules[LEAST]
    scalars, place, base = walk.scalars, walk.place, walk.base
    depth, until = scalars[DEPTH], scalars[NODES] + nodes
    while scalars[NODES] < until and scalars[WORK] < work:
        number, count = place[NEXT, depth], place[COUNT, depth]
        if number < count and place[BOUNDED, depth] != scalars[AGE]:
            bound(fixed, walk, depth)
        least = least_of(fixed, walk) - walk.margin[depth]
        promising, goes_on = False, False
        if number < count:
            for end in range(walk.rest.shape[1]):
                others = base[depth, end] + walk.rest[depth, end, number + 1]
                promising = promising or others + walk.reduced[depth, end, number] >= least
                goes_on = goes_on or others >= least
            goes_on = goes_on or promising
        if not goes_on:
            if depth == 0:
                scalars[DONE] = 1
                break
            depth -= 1
            unit = walk.path[depth]
            for entry in range(fixed.start[unit], fixed.start[unit + 1]):
                walk.copies[fixed.feature[entry]] -= fixed.copies[entry]
            continue
        place[NEXT, depth] = number + 1
        if promising:
            _descend(fixed, walk, depth, number)
            depth += 1
            place[BOUNDED, depth] = -1
            scalars[NODES] += 1
            if place[LENGTH, depth] >= low:
                _hold(fixed, walk, ceilings, depth)
    scalars[DEPTH] = depth


_ROOM: Final = 1_000_000  # Largest number of integers in the state of the search.
_STRIDE: Final = 2_000  # Number of nodes between two checks of the limits.
_WORK: Final = {INTEGER: 80_000, RATIO: 300_000, SUM: 12_000_000}
"""Number of steps, of some nanoseconds each, after which other searches are better."""

_LONGER: Final = 4
"""Factor of `_WORK`, except for sums, once all selections with the first unit are searched: often few are left then."""

_LINEAR_WORK: Final = 650_000  # Number of steps, instead of that in `_WORK`, for sums of recalls.
_FEW_UNITS: Final = (80, 80, 80, 80, 80, 25, 8, 3)
"""Factors of `_WORK` for other sums if 0, 1, ... units fit, because other searches take seconds for such instances."""

_SLICE: Final = 200_000  # Number of steps between two checks of the limits, because nodes of many units take long.
_BOUNDS: Final = 4  # The allowed work must suffice for this many bounds of the first node.
_LARGEST: Final = 2**61  # Sums from this size on are not trusted to 64 bits.
_SORTED: Final = 64  # Largest number of units that the first node sorts itself; more are sorted beforehand.
_DEEPEST: Final = 30  # Depth above which recall goes to the general engine, which is fast for it.


class Found(NamedTuple):
    """The result of `search_few_units`."""

    selection: tuple[int, ...] | None
    key: Fraction  # Value of the selection, as values are compared.
    done: bool  # Whether the selection is proven optimal.
    nodes: int
    stopped: Stopped | None  # Reason if `check` stopped the search.


def _features(instance: Coverage) -> tuple[IntArray, ...]:
    entries = instance.unit_start, instance.unit_feature, instance.unit_count
    return tuple(map(kernel_array, (*entries, instance.level_start, instance.level, instance.slot)))


def search_few_units(
    instance: Coverage, check: Callable[[], object], node_limit: int | None = None, *, work: int | None = None
) -> Found | None:
    """Search for one optimum with limited work; None if it is not supported. `check`: raises `Stopped` at a limit."""
    instance = instance.merged if len(instance.weights) > 1 else instance
    several = not instance.singletons or instance.rows or isinstance(instance, Facility)
    adds = instance.combination.adds and max(instance.weights) < _ROOM
    if several or not adds or instance.goal is not Sense.MAXIMIZE:
        return None
    integer, units = instance.constant_denominator, len(instance.lengths)
    totals = 1 if integer else len(instance.constants)
    kind = INTEGER if integer else RATIO if totals == 2 else SUM
    varies = not integer and bool(np.count_nonzero(instance.slot & 1) or np.count_nonzero(instance.mass[1::2]))
    ends = 2 if varies and totals == 4 else 1
    limited = work is not None
    if work is None:
        work = _LINEAR_WORK if kind == SUM and not varies else _WORK[kind]
    if (varies and totals > 4) or _BOUNDS * units * (2 + 3 * ends * max(1, totals // 2)) > work:
        return None  # tested before the lengths are sorted, because there may be many
    lengths = kernel_array(instance.lengths)
    ascending = np.sort(lengths)
    depths = 2 + int(ascending.cumsum().searchsorted(instance.max_length, "right"))  # 2 + number of units that fit
    if depths * units * (totals + 5) > _ROOM or (integer and depths > _DEEPEST):
        return None
    if not limited and kind == SUM and varies and depths - 2 < len(_FEW_UNITS):
        work *= _FEW_UNITS[depths - 2]
    if varies and not limited and node_limit is None:
        check()
        if (found := _by_table(instance, lengths)) is not None:
            return found
    ceilings = arrays_of_ceilings(instance.ceilings, units, totals) if instance.ceilings else NO_CEILINGS
    limits = (min(instance.min_length, _LARGEST), min(instance.max_length, _LARGEST))
    rules = np.array([*limits, kind, not varies, bool(instance.ceilings)], np.int64)
    shares, mass = instance.weights if kind == SUM else (1,), kernel_array(instance.mass)
    weights, constants = np.array(shares, np.int64), instance.constants[:totals].copy()
    fixed, walk, whole = begun(lengths, _features(instance), mass, weights, constants, rules, depths)
    if not whole or (whole == 2 and not fits(instance)):
        return None
    if units > _SORTED:
        walk.units[0] = np.argsort(-walk.gains[0, 0::2].sum(axis=0) / np.maximum(lengths, 0.5), kind="stable")
    scalars, nodes, stopped = walk.scalars, 0, None
    longer = work if limited or kind == SUM else _LONGER * work
    while not scalars[DONE] and nodes != node_limit and stopped is None:
        work = longer if walk.place[NEXT, 0] > 1 else work
        if scalars[WORK] >= work:
            break
        stride = _STRIDE if node_limit is None else min(_STRIDE, node_limit - nodes)
        advance(fixed, walk, ceilings, stride, min(work, int(scalars[WORK]) + _SLICE))
        nodes = int(scalars[NODES])
        try:
            check()
        except Stopped as reason:
            stopped = reason
    selection = tuple(sorted(walk.best[1 : walk.best[0] + 1].tolist())) if scalars[HELD] else None
    bottom = int(instance.constants[1]) if integer else int(scalars[BOTTOM]) * sum(shares)
    return Found(selection, Fraction(int(scalars[TOP]), max(1, bottom)), bool(scalars[DONE]), nodes, stopped)


# Search of selections of at most three units, by a table of the features that any two units have in common.

_LANE: Final = 16  # Number of bits of each of the four totals that are packed into one number.
_IN_LANE: Final = 2**15  # Totals below this are so small that products of four of them fit into 64 bits.
_MOST_OF_TABLE: Final = 2048  # Largest number of units of a table.
_KINDS: Final = 16  # Largest number of different contributions of features that are held as bits.
_RARE: Final = 16  # Features of fewer than 1 / 16 of the units are listed, because most of their bits would be 0.
_NO_WORDS: Final = 8  # Words that take 0 for features without a bit; writes to a single one would wait for each other.
_NO_BIT, _ONE_BIT = np.uint64(0), np.uint64(1)
_TABLE_WORK: Final = 20_000_000  # Number of steps (about 1 ns each) after which the depth-first search follows.
_TOP, _BOTTOM, _FIRST, _TIED, _PACKED, _NODES, _STEPS, _STAMP = 0, 1, 2, 5, 6, 7, 8, 9
"""Places of the record of the best selection: numerator and denominator of the value; three units (missing ones are -1,
and first); whether another selection is as good; packed totals; number of nodes; number of steps; the last number used
to mark features.
"""


@njit(cache=True)
def _lanes(packed):
    return packed & 0xFFFF, (packed >> 16) & 0xFFFF, (packed >> 32) & 0xFFFF, packed >> 48


@njit(cache=True)
def _value(packed):
    top0, bottom0, top1, bottom1 = _lanes(packed)
    return top0 * bottom1 + top1 * bottom0, bottom0 * bottom1


@njit(cache=True)
def _corrected(packed, ceilings, order, one, two, three):
    """Return the packed totals of three units, corrected by ceilings; `packed`: the totals by features alone."""
    count = np.int64(0)
    for place in (one, two, three):
        if place >= 0:
            _insert(ceilings.units, count, order[place])
            count += 1
    totals = ceilings.totals
    for total in range(len(totals)):
        totals[total] = (packed >> (_LANE * total)) & 0xFFFF
    correct(ceilings, count, totals)
    made = packed
    for total in range(len(totals)):
        made += (totals[total] - ((packed >> (_LANE * total)) & 0xFFFF)) << (_LANE * total)
    return made


# Inlined and tested first, because most selections are worse, and each call of `_hold_few` counts references of arrays.
@njit(cache=True, inline="always")
def _may_hold(best, packed):
    top, bottom = _value(packed)
    return top * best[_BOTTOM] >= best[_TOP] * bottom


@njit(cache=True)
def _hold_few(best, packed, ceilings, order, one, two, three):
    if len(ceilings.totals):
        packed = _corrected(packed, ceilings, order, one, two, three)
    top, bottom = _value(packed)
    left, right = top * best[_BOTTOM], best[_TOP] * bottom
    if left < right:
        return
    low, high = min(one, two, three), max(one, two, three)
    middle = one + two + three - low - high
    if left == right:
        if best[_FIRST] != low or best[_FIRST + 1] != middle or best[_FIRST + 2] != high:
            best[_TIED] = 1
        return
    best[_TOP], best[_BOTTOM], best[_TIED], best[_PACKED] = top, bottom, 0, packed
    best[_FIRST], best[_FIRST + 1], best[_FIRST + 2] = low, middle, high


@njit(cache=True)
def _worth(steps, first, last, copies):
    return steps[min(first + copies, last)]


@njit(cache=True, inline="always")
def _add_third(one, two, begin, packed, own, table, order, bits, listed, levels, marks, ceilings, best):
    """Evaluate two units, whose totals are `packed`, with each third unit from `begin` on, and record the best.

    `bits`: two results of `_shared_features`, and a buffer for a row of bits; `listed`: its other results.
    """
    (words, worths, both), (start, feature, copies) = bits, listed
    (gain, step_start, steps), (mark, held) = levels, marks
    top0, bottom0, top1, bottom1 = _lanes(packed)
    both0, _, both1, _ = _lanes(table[one, two])
    marked = False
    best[_NODES] += 1
    best[_STEPS] += len(own) - begin
    for unit in range(begin, len(own)):
        if unit in (one, two):
            continue
        # A bound: features that the unit shares with one of the two add nothing; those that all three share are
        # subtracted twice, and are at most those that any two share.
        new, left, right = own[unit], table[one, unit], table[two, unit]
        new0, less0, new1, less1 = _lanes(new)
        left0, left2, left1, left3 = _lanes(left)
        right0, right2, right1, right3 = _lanes(right)
        above0 = top0 + new0 - left0 - right0 + min(both0, left0, right0)
        above1 = top1 + new1 - left1 - right1 + min(both1, left1, right1)
        below0 = bottom0 + max(0, less0 - left2 - right2)
        below1 = bottom1 + max(0, less1 - left3 - right3)
        if (above0 * below1 + above1 * below0) * best[_BOTTOM] < best[_TOP] * (below0 * below1):
            continue
        if not marked:
            marked = True
            for word in range(len(worths)):
                both[word] = words[one, word] & words[two, word]
            best[_STAMP] += 2
            for entry in range(start[one], start[one + 1]):
                mark[feature[entry]], held[feature[entry], 0] = best[_STAMP] - 1, copies[entry]
            for entry in range(start[two], start[two + 1]):
                if mark[feature[entry]] == best[_STAMP] - 1:
                    mark[feature[entry]], held[feature[entry], 1] = best[_STAMP], copies[entry]
        exact = packed + new - left - right
        for word in range(len(worths)):
            exact += worths[word] * count_bits(both[word] & words[unit, word])
        for entry in range(start[unit], start[unit + 1]):
            if mark[feature[entry]] != best[_STAMP]:
                continue
            if gain[feature[entry]] >= 0:
                exact += gain[feature[entry]]
                continue
            first, last = step_start[feature[entry]], step_start[feature[entry] + 1] - 1
            i, j, k = held[feature[entry], 0], held[feature[entry], 1], copies[entry]
            exact += _worth(steps, first, last, i) - _worth(steps, first, last, i + j)
            exact += _worth(steps, first, last, j) - _worth(steps, first, last, j + k)
            exact += _worth(steps, first, last, k) - _worth(steps, first, last, k + i)
            exact += _worth(steps, first, last, i + j + k)
        best[_NODES] += 1
        best[_STEPS] += start[unit + 1] - start[unit] + len(worths)
        if _may_hold(best, exact):
            _hold_few(best, exact, ceilings, order, one, two, unit)


@njit(cache=True)
def _shared_features(times, entries, gain, order):
    """Return the features of several units: those of many units as bits, and a list of the others for each unit.

    `times` (features,): number of units with each feature. `entries`: `start`, `feature` and `copies` of
    `search_table`; the list has the same three arrays. Both results are in the order of the units in `order`. The bits
    are (units, words); each word holds features of the same contribution (words,).
    """
    (start, feature, copies), units = entries, len(order)
    kinds, word = np.empty(_KINDS, np.int64), np.empty(_KINDS, np.int64)
    used, worths = np.zeros(_KINDS, np.int64), np.empty(_KINDS + (len(gain) >> 6), np.int64)
    word_of, bit_of = np.empty(len(gain), np.uint64), np.empty(len(gain), np.uint64)
    least = max(2, units // _RARE)
    known, kind, size, rest = 0, 0, np.int64(_NO_WORDS), np.int64(0)
    for one in range(len(gain)):
        word_of[one], bit_of[one] = np.uint64(one & (_NO_WORDS - 1)), _NO_BIT
        if times[one] < least:
            rest += times[one] if times[one] > 1 else 0
            continue
        if known == 0 or kinds[kind] != gain[one]:  # many features of the same kind follow one another
            kind = 0
            while kind < known and kinds[kind] != gain[one]:
                kind += 1
        if gain[one] < 0 or kind == _KINDS:
            rest, kind = rest + times[one], 0
            continue
        if kind == known:
            kinds[kind] = gain[one]
            known += 1
        if used[kind] & 63 == 0:
            word[kind], worths[size - _NO_WORDS] = size, gain[one]
            size += 1
        word_of[one], bit_of[one] = np.uint64(word[kind]), _ONE_BIT << np.uint64(used[kind] & 63)
        used[kind] += 1
    words, first = np.zeros((units, size), np.uint64), np.zeros(units + 1, np.int64)
    listed, counts = np.empty(rest, np.int64), np.empty(rest, np.int64)
    filled = 0
    for unit in range(units):
        row = words[unit]
        for entry in range(start[order[unit]], start[order[unit] + 1]):
            row[word_of[feature[entry]]] |= bit_of[feature[entry]]
    for unit in range(units if rest else 0):
        for entry in range(start[order[unit]], start[order[unit] + 1]):
            one = feature[entry]
            if times[one] > 1 and bit_of[one] == _NO_BIT:
                listed[filled], counts[filled] = one, copies[entry]
                filled += 1
        first[unit + 1] = filled
    return words[:, _NO_WORDS:], worths[: size - _NO_WORDS], (first, listed, counts)


@njit(cache=True)
def search_table(
    start: Any, feature: Any, copies: Any, gain: Any, step_start: Any, steps: Any, mass: Any, constants: Any,
    ceilings: Any, low: int, high: int, work: int,
) -> Any:  # fmt: skip
    """Search for the best sum of two ratios of at most three units.

    `start`, `feature`, `copies`: the features of each unit, one unit after another. `gain`: packed contribution of each
    feature to the four totals, whatever its number of copies; -1 for a feature with more steps. `step_start`, `steps`:
    packed contributions of each number of copies of such a feature; more copies than listed contribute no more, and
    features of denominators count once. `mass` (units,): packed further contributions of each unit. `constants` (4,):
    the totals of the empty selection, with denominators above 0. `ceilings`: arrays without room for totals mean no
    ceilings. `low`, `high`: limits of the number of units. `work`: limit of steps. The result: the record of the best
    selection (10,); and 1 if all other selections are worse, 0 if another is as good or totals are too large, -1 if
    the limit of steps was reached.
    """
    units, base = len(start) - 1, np.int64(0)
    best = np.zeros(10, np.int64)
    given, value, order = mass.copy(), np.empty(units, np.float64), np.empty(units, np.int64)
    largest = np.zeros(4, np.int64)
    times = np.zeros(len(gain), np.int64)
    for total in range(4):
        base += constants[total] << (_LANE * total)
    seen = np.int64(0)  # the bits of all sums: summands are below 2^15, so that bit 15 is seen before a lane overflows
    for unit in range(units):
        for entry in range(start[unit], start[unit + 1]):
            one = feature[entry]
            times[one] += 1
            if gain[one] >= 0:
                given[unit] += gain[one]
            else:
                given[unit] += _worth(steps, step_start[one], step_start[one + 1] - 1, copies[entry])
            seen |= given[unit]
        for total in range(4):
            if (seen >> (_LANE * total)) & _IN_LANE:
                return best, 0
            largest[total] = max(largest[total], (given[unit] >> (_LANE * total)) & 0xFFFF)
        top, bottom = _value(base + given[unit])
        value[unit] = top / bottom
        _rank(order, unit, unit, value)
    for total in range(4):
        if constants[total] + 3 * largest[total] >= _IN_LANE:
            return best, 0
    # Sort the units by their own values, and tabulate the contributions that any two of them have in common.
    words, worths, listed = _shared_features(times, (start, feature, copies), gain, order)
    rest_start, rest, rest_copies = listed
    last_of = np.full(len(gain) if len(rest) else 0, -1, np.int64)  # the last listed entry of each feature so far
    before, unit_of = np.empty(len(rest), np.int64), np.empty(len(rest), np.int64)  # the one before each, and its unit
    own, table = np.empty(units, np.int64), np.empty((units, units), np.int64)
    for unit in range(units):
        for other in range(unit):
            common = np.int64(0)
            for word in range(len(worths)):
                common += worths[word] * count_bits(words[unit, word] & words[other, word])
            table[unit, other] = common
        best[_STEPS] += unit * len(worths)
        if best[_STEPS] > work:
            return best, -1
    for unit in range(units):
        own[unit] = given[order[unit]]
        row = table[unit]
        for entry in range(rest_start[unit], rest_start[unit + 1]):
            one = rest[entry]
            earlier = before[entry] = last_of[one]
            last_of[one], unit_of[entry] = entry, unit
            while earlier >= 0:
                more = gain[one]
                if more < 0:
                    first, last, own_copies = step_start[one], step_start[one + 1] - 1, rest_copies[entry]
                    more = _worth(steps, first, last, own_copies) + _worth(steps, first, last, rest_copies[earlier])
                    more -= _worth(steps, first, last, own_copies + rest_copies[earlier])
                row[unit_of[earlier]] += more
                earlier = before[earlier]
                best[_STEPS] += 1
        for other in range(unit):
            table[other, unit] = row[other]
        if best[_STEPS] > work:
            return best, -1
    mark, held = np.zeros(len(gain), np.int64), np.empty((len(gain), 2), np.int64)
    bits, levels, marks = (words, worths, np.zeros(len(worths), np.uint64)), (gain, step_start, steps), (mark, held)
    gain0, gain1 = np.zeros(units + 1, np.int64), np.zeros(units + 1, np.int64)
    best[_TOP], best[_BOTTOM], best[_NODES] = -1, 1, 1
    none = np.int64(-1)
    if low <= 0:
        _hold_few(best, base, ceilings, order, none, none, none)
    if low <= 1 <= high:
        for unit in range(units):
            if _may_hold(best, base + own[unit]):
                _hold_few(best, base + own[unit], ceilings, order, none, none, unit)
    # The best pair with the best unit comes first, for a good incumbent.
    if high >= 2 and units >= 2:
        first, second, top, bottom = np.int64(0), np.int64(1), np.int64(-1), np.int64(1)
        for unit in range(1, units):
            more, less = _value(base + own[0] + own[unit] - table[0, unit])
            if more * bottom > top * less:
                second, top, bottom = np.int64(unit), more, less
        packed = base + own[first] + own[second] - table[first, second]
        if low <= 2:
            _hold_few(best, packed, ceilings, order, none, first, second)
        if high >= 3:
            _add_third(
                first, second, np.int64(1), packed, own, table, order, bits, listed, levels, marks, ceilings, best
            )
        for one in range(units):
            gain0[units], gain1[units] = 0, 0
            for unit in range(units - 1, one, -1):
                top0, _, top1, _ = _lanes(own[unit] - table[one, unit])
                gain0[unit], gain1[unit] = max(gain0[unit + 1], top0), max(gain1[unit + 1], top1)
            best[_STEPS] += units - one
            for two in range(one + 1, units):
                packed = base + own[one] + own[two] - table[one, two]
                top0, bottom0, top1, bottom1 = _lanes(packed)
                top0, top1 = top0 + gain0[two + 1], top1 + gain1[two + 1]
                if (top0 * bottom1 + top1 * bottom0) * best[_BOTTOM] < best[_TOP] * (bottom0 * bottom1):
                    continue  # the two alone are no better, either
                if low <= 2 and _may_hold(best, packed):
                    _hold_few(best, packed, ceilings, order, none, one, two)
                if high >= 3:
                    _add_third(
                        one, two, two + 1, packed, own, table, order, bits, listed, levels, marks, ceilings, best
                    )
            if best[_STEPS] > work:
                return best, -1
    if best[_TOP] < 0 or best[_TIED]:
        return best, 0
    # Check the best selection: evaluate it again by the definition.
    packed = base
    best[_STAMP] += 1
    for place in range(_FIRST, _FIRST + 3):
        if best[place] < 0:
            continue
        packed += mass[order[best[place]]]
        for entry in range(start[order[best[place]]], start[order[best[place]] + 1]):
            one = feature[entry]
            if mark[one] != best[_STAMP]:
                mark[one], held[one, 0] = best[_STAMP], 0
                packed += max(0, gain[one])
            if gain[one] >= 0:
                continue
            packed -= _worth(steps, step_start[one], step_start[one + 1] - 1, held[one, 0])
            held[one, 0] += copies[entry]
            packed += _worth(steps, step_start[one], step_start[one + 1] - 1, held[one, 0])
    if len(ceilings.totals):
        packed = _corrected(packed, ceilings, order, best[_FIRST], best[_FIRST + 1], best[_FIRST + 2])
    for place in range(_FIRST, _FIRST + 3):
        if best[place] >= 0:
            best[place] = order[best[place]]
    return best, 1 if packed == best[_PACKED] else 0


@njit(cache=True)
def packed_tables(level, level_start, slot, mass):
    """Return `gain`, `steps` and `mass` of `search_table`; `steps` are empty if numbers are too large."""
    gain, steps, added = np.empty(len(slot), np.int64), np.empty(len(level), np.int64), np.zeros(len(mass[0]), np.int64)
    for one in range(len(slot)):
        for place in range(level_start[one], level_start[one + 1]):
            if level[place] < 0 or level[place] >= _IN_LANE or (slot[one] % 2 and place > level_start[one] + 1):
                return gain, steps[:0], added
            steps[place] = level[place] << (_LANE * slot[one])
        first, last = level_start[one], level_start[one + 1] - 1
        gain[one] = steps[last] if last - first == 1 and steps[first] == 0 else -1
    for total in range(len(mass)):
        for unit in range(len(added)):
            if mass[total, unit] < 0 or mass[total, unit] >= _IN_LANE:
                return gain, steps[:0], added
            added[unit] += mass[total, unit] << (_LANE * total)
    return gain, steps, added


def _by_table(instance: Coverage, lengths: IntArray) -> Found | None:
    """Search an instance by `search_table`; return None if this does not prove a unique optimum."""
    made, low, high = len(instance.constants) // 2, instance.min_length, instance.max_length
    if high > 3 or made > 2 or instance.size > _MOST_OF_TABLE or set(instance.weights) != {1} or (lengths != 1).any():
        return None
    ceilings = arrays_of_ceilings(instance.ceilings, instance.size, 2 * made) if instance.ceilings else NO_CEILINGS
    result = found, chosen, totals = np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(4, np.int64)
    constants, mass = kernel_array(instance.constants), kernel_array(instance.mass)
    work = np.int64(_TABLE_WORK)
    if _search_instance_by_table(_features(instance), constants, mass, (low, high), ceilings, work, result) <= 0:
        return None
    tops, bottoms = totals[: 2 * made : 2].tolist(), totals[1 : 2 * made : 2].tolist()
    key = sum(map(Fraction, tops, bottoms), Fraction(0)) / made
    return Found(tuple(chosen[: found[0]].tolist()), key, True, int(found[2]), None)


# Joint search of extracts of several topics: compiled code makes and searches the instance of each topic in turn.

MOST_UNITS: Final = 256  # Largest number of units of a topic in a joint search, which saves little for larger ones.
MOST_CHOSEN: Final = 128  # Largest number of units of a selection found in a joint search.
_TOGETHER_WORK: Final = 1_000_000  # Limit of steps (some milliseconds) for a topic, so that Ctrl-C is handled in time.
_COMMON: Final = 2**50  # Largest common denominator with enough room in 64 bits, as in `optsum.whole`.


@njit(cache=True)
def search_extracts(
    ids: Any, start: Any, words: Any, different: Any, sentences: Any, bounds: Any, first_bound: Any, coded: Any,
    form: Any, scored: Any, ceilings: Any,
) -> Any:  # fmt: skip
    """Search several topics one after another, each with limited work.

    The arguments are the fields of `optsum.problem.objective.Extracts` and of its tokens, and empty arrays of ceilings.
    The result for each topic: the number of units of the optimum (-1 if it is not proven), its length, and the number
    of nodes of the search; its sentence numbers; numerator and denominator of each ratio; and its scores from
    `optsum.metrics.kernels.official_hits`.
    """
    topics = len(sentences)
    found = np.full((topics, 3), -1, np.int64)
    chosen = np.zeros((topics, MOST_CHOSEN), np.int64)
    all_totals = np.zeros((topics, 4), np.int64)
    scores = np.zeros((topics, len(scored), 3), np.int64)
    sentence = 0
    for topic in range(topics):
        own = bounds[first_bound[topic] : first_bound[topic + 1]]
        many, before = sentences[topic], start[sentence]
        begin = np.empty(many + 1, np.int64)
        for place in range(many + 1):
            begin[place] = start[sentence + place] - before
        tokens = ids[before : start[sentence + many]]
        lengths = words[sentence + own[-1] : sentence + many]
        sentence += many
        result = found[topic], chosen[topic], all_totals[topic]
        _search_extract(tokens, begin, lengths, different[topic], own, coded, form, ceilings, result)
        if found[topic, 0] >= 0 and len(scored):
            units = np.empty(found[topic, 0], np.int64)
            for place in range(len(units)):
                units[place] = chosen[topic, place] + own[-1]
            hits = official_hits(tokens, begin, own, units, different[topic], scored)
            for metric in range(len(scored)):
                for place in range(3):
                    scores[topic, metric, place] = hits[metric, place]
    return found, chosen, all_totals, scores


# Inlined, like `_search_instance`, because otherwise all that they call would be compiled once for each.
@njit(cache=True, inline="always")
def _search_extract(tokens, begin, words, different, bounds, coded, form, ceilings, result):
    """Make the instance of one topic and search it; `result` is unchanged if no optimum is proven."""
    found, chosen, _ = result
    max_length, min_length, in_words, measure, distinct, mean, unmatched, overlong, apart = form
    references, parts = len(bounds) - 1, len(coded)
    # Rows: the texts that are clipped separately (references or their sentences), then the sentences to extract.
    own = bounds[-1] if apart else references
    owner, row_start = np.empty(own, np.int64), np.empty(own + 1 + len(words), np.int64)
    for reference in range(references):
        for row in range(bounds[reference], bounds[reference + 1]) if apart else range(reference, reference + 1):
            owner[row], row_start[row] = reference, begin[row if apart else bounds[row]]
    for place in range(len(words) + 1):
        row_start[own + place] = begin[bounds[-1] + place]
    first, keys, copies, totals, shared, kinds = counted(
        tokens, row_start, different, coded, own, distinct == 1, measure == 0
    )
    rows, ratios = own + len(words), parts * (references if mean else 1)
    denominators = np.zeros(ratios, np.int64)
    some = np.int64(0)
    for ratio in range(ratios):
        part = ratio // references if mean else ratio
        for row in range(own):
            if not mean or owner[row] == ratio % references:
                denominators[ratio] += totals[part, row]
        some += denominators[ratio]
    units, count = np.empty(len(words), np.int64), 0
    for place in range(len(words)):
        length = words[place] if in_words else np.int64(1)
        if (unmatched or shared[own + place]) and (overlong or length <= max_length):
            units[count] = own + place
            count += 1
    if some == 0 or count == 0 or count > MOST_UNITS:
        return
    units = units[:count]
    recall = measure == 0
    if not recall and distinct and not in_words and max_length <= 3 and ratios <= 2:
        state = _search_extract_by_table(
            first, keys, totals, kinds, denominators, units, references, mean, measure, max_length, min_length,
            ceilings, result,
        )  # fmt: skip
        for place in range(found[0]):
            chosen[place] = units[chosen[place]] - own
        if state != 0:
            return
    # The objective, as `optsum.problem.objective.coverage_of` makes it.
    common = np.int64(1)
    if recall and ratios > 1:
        for total in denominators:
            if total > 0:
                factor = gcd(common, total)
                if common // factor > _COMMON // total:
                    return
                common = common // factor * total
        if common * ratios > _COMMON:
            return
    cover_all = not recall and distinct == 1
    group, made = _merged(denominators, totals, units, references, mean, measure, cover_all or recall)
    if recall:
        made = 1
    if made > 2:
        return
    # The mean of K ratios T / D is the mean over their G groups of the ratios (G * sum of T) / (K D).
    above, below = (1, 1) if recall else (made, ratios)
    while above > 1 and below % above == 0:
        above, below = 1, below // above
    every = parts if recall else ratios
    covers, slots = np.zeros((every * (1 + cover_all) + 1, 4), np.int64), np.zeros(every * (1 + cover_all), np.int64)
    held, weights = np.empty(parts * own, np.int64), np.empty(parts * own, np.int64)
    constants, mass = np.zeros(2 * made, np.int64), np.zeros((2 * made, count), np.int64)
    gains, feeds = np.zeros(own, np.int64), np.zeros(own, np.int64)
    longest = own < 0  # False, but no literal, for which `_search_instance` would be compiled again
    filled, cover = 0, 0
    for ratio in range(every):
        part = ratio // references if mean and not recall else ratio
        top = 0 if recall else 2 * group[ratio]
        is_longest = coded[part, 0] == LONGEST
        if not is_longest:
            covers[cover, 0], covers[cover, 1], covers[cover, 3] = part * (rows + 1), kinds[part], filled
            slots[cover] = top
            cover += 1
        for row in range(own):
            if mean and not recall and owner[row] != ratio % references:
                continue
            weight = np.int64(above * (2 if measure == 2 else 1))
            if recall and ratios > 1:
                total = denominators[part * references + owner[row]] if mean else denominators[part]
                weight = common // total if total > 0 else np.int64(1)
            if is_longest:
                longest, gains[row], feeds[row] = True, weight, top
            else:
                held[filled], weights[filled] = row, weight
                filled += 1
        if recall:
            continue
        constants[top + 1] = 0 if measure == 1 else below * denominators[ratio]
        if cover_all:
            covers[cover, 0], covers[cover, 1], covers[cover, 3] = part * (rows + 1), kinds[part], filled
            covers[cover, 2], slots[cover] = 1 if mean else references, top + 1
            cover += 1
        else:
            for place in range(count):
                mass[top + 1, place] = below * totals[part, units[place]] * (1 if mean else references)
    covers[cover, 3] = filled
    if recall:
        constants[1] = common * ratios if ratios > 1 else denominators[0]
    start, feature, number, level_start, level, features = features_of(
        first, keys, copies, covers[: cover + 1], held[:filled], weights[:filled], units
    )
    slot = np.empty(len(level_start) - 1, np.int64)
    instance = start, feature, number, level_start, level, slot
    one = 0
    for cover in range(len(features)):
        if cover_all and cover % 2 and features[cover] == 0:
            return  # no unit adds to a denominator
        for _ in range(features[cover]):
            slot[one] = slots[cover]
            one += 1
    lengths, alike = np.empty(count, np.int64), True
    for place in range(count):
        units[place] -= own
        lengths[place] = words[units[place]] if in_words else 1
        alike = alike and lengths[place] == 1
    if longest:
        searched = 1 if recall else len(constants)
        instance, ceilings = _with_subsequences(
            tokens, begin, different, bounds, units, gains, feeds, instance, searched, ceilings
        )
    state, limits = np.int64(0), (min_length, max_length)
    if not recall and not cover_all and max_length <= 3 and alike:
        work = np.int64(_TOGETHER_WORK)
        state = _search_instance_by_table(instance, constants, mass, limits, ceilings, work, result)
    if state == 0:
        _search_instance(lengths, instance, constants, mass, limits, recall, longest, ceilings, result)
    for place in range(found[0]):
        chosen[place] = units[chosen[place]]


@njit(cache=True)
def _merged(denominators, totals, units, references, mean, measure, apart):
    """Return the group number of each ratio, and the number of groups.

    Ratios with the same denominator make a group (`Coverage.merged`), unless `apart` makes each ratio a group.
    """
    group, groups = np.empty(len(denominators), np.int64), 0
    for ratio in range(len(denominators)):
        group[ratio] = groups
        for other in range(0 if apart else ratio):
            same = measure == 1 or denominators[other] == denominators[ratio]
            left, right = (other // references, ratio // references) if mean else (other, ratio)
            for unit in units:
                same = same and totals[left, unit] == totals[right, unit]
            if same:
                group[ratio] = group[other]
                break
        groups = max(groups, group[ratio] + 1)
    return group, groups


@njit(cache=True)
def _with_subsequences(tokens, begin, different, bounds, units, gains, feeds, instance, totals, none):
    """Add the common subsequences of sentences to an instance, as `optsum.problem.objective.coverage_of` does.

    `units`: the numbers of the sentences. `gains`, `feeds` (references,): gain of a hit in each reference, and the
    total that it feeds. `totals`: number of totals that are searched. `none`: the arrays of no ceilings.
    """
    start, feature, number, level_start, level, slot = instance
    size, end, features = len(units), begin[bounds[-1]], len(slot)
    covered = covered_positions(tokens, begin, bounds[-1], different)
    feature_of = np.full(end, -1, np.int64)  # the feature of each position that some unit covers
    entries = len(feature)
    for unit in units:
        for place in range(end):
            if covered[unit, place]:
                feature_of[place] = 0
                entries += 1
    # Group the positions of a token in several sentences of a reference, because its copies may be fewer than its hits.
    group, rank = np.full(end, -1, np.int64), np.empty(end, np.int64)
    seen, apart = np.full(different, -1, np.int64), np.full(different, -1, np.int64)
    group_of, times = np.full(different, -1, np.int64), np.zeros(different, np.int64)
    groups, widest, more = 0, 1, 0
    for reference in range(len(bounds) - 1):
        for sentence in range(bounds[reference], bounds[reference + 1]):
            for place in range(begin[sentence], begin[sentence + 1]):
                token = tokens[place]
                if feature_of[place] < 0:
                    continue
                feature_of[place] = features + more
                more += 1
                if seen[token] < bounds[reference]:
                    seen[token], times[token] = sentence, 0
                elif seen[token] < sentence:
                    apart[token] = reference
                rank[place] = times[token]
                times[token] += 1
                widest = max(widest, times[token])
        before = groups
        for place in range(begin[bounds[reference]], begin[bounds[reference + 1]]):
            token = tokens[place]
            if feature_of[place] >= 0 and apart[token] == reference:
                if group_of[token] < before:
                    group_of[token] = groups
                    groups += 1
                group[place] = group_of[token]
    capped, copies = np.zeros((groups, 4), np.int64), np.zeros((groups, size), np.int64)
    bits = np.zeros((groups, size, (widest + 63) >> 6), np.uint64)
    out_start, out_level_start = np.zeros(size + 1, np.int64), np.empty(features + more + 1, np.int64)
    out_feature, out_number = np.empty(entries, np.int64), np.ones(entries, np.int64)
    out_level, out_slot = np.zeros(len(level) + 2 * more, np.int64), np.empty(features + more, np.int64)
    out_level_start[0] = level_start[0]
    for one in range(features):
        out_slot[one], out_level_start[one + 1] = slot[one], level_start[one + 1]
    for place in range(len(level)):
        out_level[place] = level[place]
    for reference in range(len(bounds) - 1):
        for token in range(different):
            group_of[token] = -1
        for place in range(begin[bounds[reference]], begin[bounds[reference + 1]]):
            one, at = feature_of[place], group[place]
            if one < 0:
                continue
            out_slot[one], out_level_start[one + 1] = feeds[reference], out_level_start[one] + 2
            out_level[out_level_start[one] + 1] = gains[reference]
            if at < 0:
                continue
            group_of[tokens[place]] = at
            capped[at, 0], capped[at, 1], capped[at, 2] = feeds[reference], gains[reference], gains[reference]
            for unit in range(size):
                if covered[units[unit], place]:
                    bits[at, unit, rank[place] >> 6] |= np.uint64(1) << np.uint64(rank[place] & 63)
        for unit in range(size if groups else 0):
            sentence = bounds[-1] + units[unit]
            for place in range(begin[sentence], begin[sentence + 1]):
                if group_of[tokens[place]] >= 0:
                    copies[group_of[tokens[place]], unit] += 1
    filled = 0
    for unit in range(size):
        for entry in range(start[unit], start[unit + 1]):
            out_feature[filled], out_number[filled] = feature[entry], number[entry]
            filled += 1
        for place in range(end):
            if covered[units[unit], place]:
                out_feature[filled] = feature_of[place]
                filled += 1
        out_start[unit + 1] = filled
    ceilings = CeilingArrays(
        capped, bits, copies, none.texts, none.own, none.start, none.token, none.places, none.most, none.flat,
        none.counts, np.zeros(totals, np.int64), np.zeros(size, np.int64),
    )  # fmt: skip
    return (out_start, out_feature, out_number, out_level_start, out_level, out_slot), ceilings


@njit(cache=True)
def _search_extract_by_table(
    first, keys, totals, kinds, denominators, units, references, mean, measure, high, low, none, result
):
    """Search a topic whose n-grams count once by `search_table`, and return the state of this search.

    Numerator and denominator share the n-grams of a metric as features. `none`: the arrays of no ceilings.
    """
    ratios, parts, rows = len(denominators), len(kinds), totals.shape[1]
    if 2 * references >= _IN_LANE:
        return 0
    offset = np.zeros(parts + 1, np.int64)
    for part in range(parts):
        offset[part + 1] = offset[part] + kinds[part]
    gain, no_steps = np.zeros(offset[-1], np.int64), np.empty(0, np.int64)
    constants = np.array([0, 1, 0, 1], np.int64)
    for ratio in range(ratios):
        part = ratio // references if mean else ratio
        constants[2 * ratio + 1] = 0 if measure == 1 else denominators[ratio]
        if constants[2 * ratio + 1] <= 0 or constants[2 * ratio + 1] >= _IN_LANE:
            return 0
        for gram in range(offset[part], offset[part + 1]):
            gain[gram] += np.int64(1 if mean else references) << (_LANE * (2 * ratio + 1))
        for row in range(references):
            if not mean or row == ratio % references:
                for entry in range(first[part * (rows + 1) + row], first[part * (rows + 1) + row + 1]):
                    gain[offset[part] + keys[entry]] += np.int64(2) << (_LANE * 2 * ratio)
    start, feature = np.zeros(len(units) + 1, np.int64), np.empty(len(keys), np.int64)
    filled = 0
    for place in range(len(units)):
        for part in range(parts):
            row = part * (rows + 1) + units[place]
            for entry in range(first[row], first[row + 1]):
                feature[filled] = offset[part] + keys[entry]
                filled += 1
        start[place + 1] = filled
    for part in range(parts):
        some = False
        for unit in units:
            some = some or totals[part, unit] > 0
        if not some:
            return 0  # no unit adds to a denominator
    best, state = search_table(
        start, feature[:filled], np.ones(filled, np.int64), gain, no_steps, no_steps, np.zeros(len(units), np.int64),
        constants, none, low, high, np.int64(_TOGETHER_WORK),
    )  # fmt: skip
    if state > 0:
        _take_found(best, 2 * ratios, result)
    return state


@njit(cache=True)
def _take_found(best, totals, result):
    """Copy the totals, the units in ascending order and the number of nodes from a record of `search_table`."""
    found, chosen, all_totals = result
    packed, count = best[_PACKED], np.int64(0)
    for total in range(totals):
        all_totals[total] = (packed >> (_LANE * total)) & 0xFFFF
    for place in range(_FIRST, _FIRST + 3):
        if best[place] >= 0:
            _insert(chosen, count, best[place])
            count += 1
    found[0], found[1], found[2] = count, count, best[_NODES]


@njit(cache=True)
def _search_instance_by_table(instance, constants, mass, limits, ceilings, work, result):
    """Search an instance by `search_table`, and return the state of this search: above 0 if the optimum is proven."""
    start, feature, number, level_start, level, slot = instance
    all_constants = np.array([0, 1, 0, 1], np.int64)
    for total in range(len(constants)):
        all_constants[total] = constants[total]
        if constants[total] >= _IN_LANE or constants[total] < total % 2:
            return 0
    gain, steps, added = packed_tables(level, level_start, slot, mass)
    if len(steps) == 0:
        return 0
    best, state = search_table(
        start, feature, number, gain, level_start, steps, added, all_constants, ceilings, limits[0], limits[1], work
    )
    if state > 0:
        _take_found(best, len(constants), result)
    return state


@njit(cache=True, inline="always")
def _search_instance(lengths, instance, constants, mass, limits, integer, bounded, ceilings, result):
    """Search an instance as `search_few_units` does; `result` is unchanged if no optimum is proven."""
    start, feature, number, level_start, level, slot = instance
    (low, high), (found, chosen, all_totals) = limits, result
    units, made = len(lengths), len(constants) // 2
    totals = 1 if integer else 2 * made
    kind = INTEGER if integer else RATIO if made == 1 else SUM
    ends = 2 if totals == 4 else 1
    work = min(_TOGETHER_WORK, 80_000 if integer else 300_000 if made == 1 else _TOGETHER_WORK)
    if constants[1] <= 0 and integer:
        return
    if _BOUNDS * units * (2 + 3 * ends * max(1, totals // 2)) > work:
        return
    ascending = np.empty(units, np.int64)
    for place in range(units):
        _insert(ascending, place, lengths[place])
    depths, sum_of = np.int64(2), np.int64(0)
    for length in ascending:
        sum_of += length
        if sum_of > high:
            break
        depths += 1
    if depths * units * (totals + 5) > _ROOM or depths - 2 > MOST_CHOSEN or (integer and depths > _DEEPEST):
        return
    rules = np.array([low, high, kind, integer, bounded], np.int64)
    weights = np.ones(made, np.int64)
    fixed, walk, whole = begun(lengths, instance, mass, weights, constants[:totals], rules, depths)
    if whole != 1:
        return
    _order(walk.units[0], walk.gains[0], lengths)
    advance(fixed, walk, ceilings, np.int64(_LARGEST), np.int64(work))
    if made == 1 and not walk.scalars[DONE] and walk.place[NEXT, 0] > 1:
        advance(fixed, walk, ceilings, np.int64(_LARGEST), np.int64(min(_TOGETHER_WORK, _LONGER * work)))
    if not walk.scalars[DONE] or not walk.scalars[HELD]:
        return
    count = walk.best[0]
    for place in range(count):
        _insert(chosen, place, walk.best[place + 1])
    # Check the optimum: evaluate it again by the definition.
    copies = np.zeros(len(slot), np.int64)
    again = constants.copy()
    length = np.int64(0)
    for place in range(count):
        unit = chosen[place]
        length += lengths[unit]
        for total in range(len(again)):
            again[total] += mass[total, unit]
        for entry in range(start[unit], start[unit + 1]):
            copies[feature[entry]] += number[entry]
    for one in range(len(slot)):
        again[slot[one]] += level[min(level_start[one] + copies[one], level_start[one + 1] - 1)]
    if bounded:
        for place in range(count):
            ceilings.units[place] = chosen[place]
        correct(ceilings, np.int64(count), again)
    same = low <= length <= high
    for total in range(totals):
        same = same and again[total] == walk.held[total, 0]
    for total in range(len(again)):
        all_totals[total] = again[total]
        same = same and (total % 2 == 0 or again[total] > 0)
    if same:
        found[0], found[1], found[2] = count, length, walk.scalars[NODES]


@njit(cache=True)
def _order(order, gains, lengths):
    if len(order) <= _SORTED:
        return
    density = np.empty(len(order), np.float64)
    for unit in range(len(order)):
        worth = np.int64(0)
        for total in range(0, len(gains), 2):
            worth += gains[total, unit]
        density[unit] = worth / max(float(lengths[unit]), 0.5)
    for place in range(1, len(order)):
        _rank(order, place, order[place], density)


def see(run: Run, selection: Selection, claimed: Fraction) -> None:
    """Report a selection found by branch and bound to a run; raise `BackendError` if it is not as good as claimed."""
    seen = run.see(selection)
    if seen.violation or seen.key != claimed:
        raise BackendError(
            f"branch-and-bound claims {claimed} for a selection worth {seen.key}: this is not a valid result."
        )


def serve(run: Run, coverage: Coverage | None = None) -> bool:
    """Search a run's instance (or `coverage`) briefly if selections have few units; return whether that is a proof."""
    coverage = coverage or run.problem.coverage
    if coverage.ceilings:
        from .objectives.one_ratio import is_whole_text  # imports the engine, which few of these problems need

        if is_whole_text(coverage.merged):
            return False
    nodes = None if run.limits.nodes is None else max(0, run.limits.nodes - run.nodes)
    found = search_few_units(coverage, run.check, nodes)
    if found is None:
        return False
    run.nodes += found.nodes
    if found.selection is not None:
        see(run, found.selection, found.key)
    if found.done:
        run.prove()
    elif found.stopped is not None:
        raise found.stopped
    else:
        run.check()
    return found.done


@compiles
def prepare_few_units() -> None:
    from .engine.driver import rehearsal  # imports the engine, which is needed anyway if kernels are compiled

    with rehearsal() as deadline:
        search_few_units(two_ratios(), deadline.check)


def two_ratios() -> Coverage:
    """Return an instance of 14 units for preparation, with two ratios and features that denominators count."""
    units = range(14)
    copies = [{(5 * unit + 3 * step) % 9: 1 for step in range(3)} | {9 + unit % 4: 1} for unit in units]
    return Coverage.of(
        [1] * 14,
        copies,
        [[2, 1]] * 9 + [[1]] * 4,
        slots=[0, 0, 0, 0, 0, 2, 2, 2, 2, 1, 1, 3, 3],
        constants=(0, 12, 0, 9),
        mass=[[0] * 14, [2 + unit % 3 for unit in units], [0] * 14, [1 + unit % 2 for unit in units]],
        weights=(1, 1),
        combination=Combination.SUM,
        max_length=9,
    )


def prove_extracts(extracts: Extracts) -> Extracts | None:
    """Search several topics in one compiled loop; return None while this is not worth the compilation."""
    lost_s = _LOST_S * (len(extracts.first_bound) - 1)
    given = (
        *extracts.tokens, extracts.bounds, extracts.first_bound, extracts.coded, extracts.form, extracts.scored,
        NO_CEILINGS,
    )  # fmt: skip
    return replace(extracts, answers=search_extracts(*given)) if is_worth(search_extracts, lost_s, *given) else None


_LOST_S: Final = 0.0005  # Seconds that a topic takes longer if it is searched separately.
