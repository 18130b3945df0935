r"""Depth-first search over the units of a small instance, with one linear bound a node.

A node is a set of units C and the units that may still join it, the most promising first. With the ratios
:math:`\lambda_h = T_h / D_h` of the incumbent, a selection is better only if

.. math:: \sum_h w_h \frac{D_0}{D_h} (T_h - \lambda_h D_h) > 0,

where :math:`D_0 / D_h` is 1 for one ratio and a constant for recalls. For two ratios it is within limits that the node
knows (`_ends`); the sum is linear in it, hence positive at one of the two ends if it is positive at all. At each end it
is at most what C is worth there, plus a knapsack of what each unit adds: its present gain in T, as tables are concave,
less what it adds to D at least, whatever else is chosen. The knapsack is bounded by a price of the length.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np

from optsum.system.compiled import njit

from ..exhaustive.two_halves.values import INTEGER, RATIO
from .walk import AGE, BOTTOM, BOUNDED, CONSTANT, COUNT, HELD, KIND, LENGTH, MOST, NEXT, TOP, WORK

_ROUNDING: Final = 1e-12
_OF_SUMS: Final = 2.3e-16
"""Above what rounding does to a sum, relative to its terms; the latter for each of them."""


@njit(cache=True)
def _multiplier(held, ratio):
    """Return the value of one ratio of the incumbent; 0 as long as there is none."""
    bottom = held[2 * ratio + 1, 0]
    return held[2 * ratio, 0] / bottom if bottom > 0 else 0.0


@njit(cache=True)
def _surely(gain, least, share):
    """Return what a unit adds to a total, on average over those that are added, if each is a `share` of them at least.

    What they have by themselves is added whole; of the rest they add together as much as the one that has most of it.
    """
    return least + (gain - least) * share


@njit(cache=True)
def _more(fixed, walk, depth):
    """Return how many units fit into a node at most, 1 or more."""
    left, count, shortest = fixed.rules[MOST] - walk.place[LENGTH, depth], 0, fixed.rules[MOST]
    for number in range(walk.place[NEXT, depth], walk.place[COUNT, depth]):
        shortest = min(shortest, fixed.lengths[walk.units[depth, number]])
        count += 1
    return max(1, min(count, left // shortest)) if shortest > 0 else max(1, count)


@njit(cache=True)
def _ends(fixed, walk, depth, share):
    """Return between what D_0 / D_1 is for all selections that the next units of a node lead to."""
    count, left = walk.place[COUNT, depth], fixed.rules[MOST] - walk.place[LENGTH, depth]
    bottom0, bottom1 = walk.totals[1, depth], walk.totals[3, depth]
    most0, most1 = 0.0, 0.0  # what is added at most, by all units and by the densest
    dense0, dense1 = 0.0, 0.0
    largest, smallest = 0.0, np.inf  # the unit's own share of D_0 against D_1
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
            dense0 = np.inf
            dense1 = np.inf
    most0 = min(most0, dense0 * left) if left > 0 else most0
    most1 = min(most1, dense1 * left) if left > 0 else most1
    now = bottom0 / bottom1
    high = now
    if endless:
        high = (bottom0 + most0) / bottom1
    elif largest > now:
        high = (bottom0 + most0) / (bottom1 + most0 / largest)
    low = now
    if smallest < now:
        low = (bottom0 + smallest * most1) / (bottom1 + most1)
    return low * (1 - _ROUNDING), high * (1 + _ROUNDING)


@njit(cache=True)
def bound(fixed, walk, depth):
    """Order the next units of a node, and bound what they can add."""
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
                weight, multiplier = float(weights[ratio]), _multiplier(walk.held, ratio)
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
    """Let the densest units be the next, nearly in order since the node above; return how many steps that took."""
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
    """Return the density of the unit that breaks the knapsack."""
    for number in range(begin, count):
        if reduced[number] > 0.0:
            left -= lengths[units[number]]
            if left < 0:
                return reduced[number] / lengths[units[number]]
    return 0.0


@njit(cache=True)
def least_of(fixed, walk):
    """Return what a bound is at least for selections that are better than the incumbent."""
    scalars, kind = walk.scalars, fixed.rules[KIND]
    if scalars[HELD] == 0:
        return -np.inf
    if kind == INTEGER:
        return scalars[TOP] + 1.0
    if kind == RATIO:
        return 1.0 / scalars[BOTTOM]
    return walk.totals[1, 0] / scalars[BOTTOM] if fixed.rules[CONSTANT] else 0.0
