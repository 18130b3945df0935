"""What a search of few units goes through, and where it is."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

DONE, HELD, NODES, DEPTH, TOP, BOTTOM, WORK, AGE = range(8)
"""Places of `Walk.scalars`: all is searched; there is an incumbent; nodes; units of the present one; numerator and
denominator of the incumbent's value; steps; incumbents so far."""

COUNT, NEXT, LENGTH, BOUNDED = range(4)
"""Rows of `Walk.place`."""

LEAST, MOST, KIND, CONSTANT = range(4)
"""Places of `Fixed.rules`."""


class Fixed(NamedTuple):
    """What the walk does not change.

    Attributes
    ----------
    rules : (4,)
        Minimum and maximum length, how totals make a value (`values`), and whether all denominators are constant.
    lengths, start, feature, copies, level_start, level, slot, weights
        As in `optsum.coverage.instance.Coverage`.
    column_start, column_unit, column_copies
        The units of each feature, and how many copies each has.
    least : (totals, units)
        What a unit adds to a total whatever else is chosen.
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
    held : (totals, 1)
        Its totals.
    scalars : (8,)
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
    scalars: IntArray


@njit(cache=True)
def columns_of(start, feature, count, features):
    """Return the units of each feature: where they begin, the units, their copies."""
    begin = np.zeros(features + 1, np.int64)
    for entry in range(len(feature)):
        begin[feature[entry] + 1] += 1
    for one in range(features):
        begin[one + 1] += begin[one]
    unit = np.empty(len(feature), np.int64)
    copies = np.empty(len(feature), np.int64)
    free = begin.copy()
    for row in range(len(start) - 1):
        for entry in range(start[row], start[row + 1]):
            at = free[feature[entry]]
            unit[at], copies[at] = row, count[entry]
            free[feature[entry]] = at + 1
    return begin, unit, copies


@njit(cache=True)
def first_gains(start, feature, count, level_start, level, slot, mass, column_start, gains, least):
    """Write what each unit adds to each total: by itself, and whatever else is chosen."""
    totals = len(gains)
    for unit in range(len(start) - 1):
        for total in range(totals):
            gains[total, unit] = mass[total, unit]
            least[total, unit] = mass[total, unit]
        for entry in range(start[unit], start[unit + 1]):
            one = feature[entry]
            first = level_start[one]
            gain = level[min(first + count[entry], level_start[one + 1] - 1)] - level[first]
            gains[slot[one], unit] += gain
            if column_start[one + 1] - column_start[one] == 1:
                least[slot[one], unit] += gain
