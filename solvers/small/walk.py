"""What a search of few units goes through, and where it is."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.ceilings import CeilingArrays
from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

DONE, HELD, NODES, DEPTH, TOP, BOTTOM, WORK, AGE, BEGUN = range(9)
"""Places of `Walk.scalars`: all is searched; there is an incumbent; nodes; units of the present one; numerator and
denominator of the incumbent's value; steps; incumbents so far; whether the first node is made."""

COUNT, NEXT, LENGTH, BOUNDED = range(4)
"""Rows of `Walk.place`."""

LEAST, MOST, KIND, CONSTANT, BOUNDED_ABOVE = range(5)
"""Places of `Fixed.rules`."""


class Fixed(NamedTuple):
    """What the walk does not change.

    Attributes
    ----------
    rules : (5,)
        Minimum and maximum length, how totals make a value (`values`), whether all denominators are constant, and
        whether there are ceilings.
    lengths, start, feature, copies, level_start, level, slot, weights
        As in `optsum.coverage.instance.Coverage`.
    column_start, column_unit, column_copies
        The units of each feature, and how many copies each has.
    least : (totals, units)
        What a unit adds to a total whatever else is chosen.
    ceilings : CeilingArrays
    """

    rules: IntArray
    lengths: IntArray
    start: IntArray
    feature: IntArray
    copies: IntArray
    level_start: IntArray
    level: IntArray
    slot: IntArray
    weights: IntArray
    column_start: IntArray
    column_unit: IntArray
    column_copies: IntArray
    least: IntArray
    ceilings: CeilingArrays


class Walk(NamedTuple):
    """Where the search is; row d is of the node with d units.

    Attributes
    ----------
    units : (depths, units)
        The units that may join, in the order in which they are tried.
    place : (4, depths)
        How many these are, which is the next, the length so far, and the incumbent's number when they were bounded.
    totals : (totals, depths)
    gains : (depths, totals, units)
        What each unit adds to each total.
    copies : (features,)
    rest : (depths, ends, units + 1)
        At each end, of which there are two where two denominators vary: what is gained at most by units from this one.
    reduced : (depths, ends, units)
        What each unit adds, less the price of its length.
    base : (depths, ends)
        What the node is worth, and the price of the length that is left.
    margin : (depths,)
        What rounding may do to a bound of the node.
    best : (depths + 1,)
        The incumbent: how many units, and which.
    path : (depths,)
    held, seen : (totals, 1)
        Its totals, and room for those of another selection.
    scalars : (9,)
    """

    units: IntArray
    place: IntArray
    totals: IntArray
    gains: IntArray
    copies: IntArray
    rest: NDArray[np.float64]
    reduced: NDArray[np.float64]
    base: NDArray[np.float64]
    margin: NDArray[np.float64]
    best: IntArray
    path: IntArray
    held: IntArray
    seen: IntArray
    scalars: IntArray


@njit(cache=True)
def laid_out(lengths, start, feature, count, level_start, level, slot, mass, gains, least):
    """Write what each unit adds to each total, by itself and whatever else is chosen; return the units of each feature.

    Returns
    -------
    begin, unit, copies
        Where the units of each feature begin, the units, and how many copies each has.
    reach : (totals + 1,)
        What all units add to a total, each as if it were alone; then what no sum of a search can pass.
    """
    begin = np.zeros(len(slot) + 1, np.int64)
    for entry in range(len(feature)):
        begin[feature[entry] + 1] += 1
    for one in range(len(slot)):
        begin[one + 1] += begin[one]
    unit = np.empty(len(feature), np.int64)
    copies = np.empty(len(feature), np.int64)
    reach, most = np.zeros(len(gains) + 1, np.float64), 0
    free = begin.copy()
    for row in range(len(start) - 1):
        for total in range(len(gains)):
            gains[total, row] = mass[total, row]
            least[total, row] = mass[total, row]
        for entry in range(start[row], start[row + 1]):
            one = feature[entry]
            at = free[one]
            unit[at], copies[at] = row, count[entry]
            free[one] = at + 1
            first = level_start[one]
            gain = level[min(first + count[entry], level_start[one + 1] - 1)] - level[first]
            gains[slot[one], row] += gain
            if begin[one + 1] - begin[one] == 1:
                least[slot[one], row] += gain
        for total in range(len(gains)):
            reach[total] += gains[total, row]
        for total in range(len(mass)):
            reach[-1] += mass[total, row]
        reach[-1] += lengths[row]
    for value in level:
        most = max(most, value)
    reach[-1] += float(most) * len(feature)
    return begin, unit, copies, reach
