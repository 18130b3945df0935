"""Compute the gain of units without joint occurrences, as a sum over their own features."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from optsum.coverage.instance import Combination, Coverage, IntArray, Sense
from optsum.system.compiled import njit

RULED: Final = 1e9  # What a step towards keeping a row is worth to a climb: more than any value.


ALONE: Final = 1
JOINED: Final = 2


def quick_ones(instance: Coverage, moves: Sequence[Sequence[int]]) -> IntArray:
    """Return for each move how its gain is known.

    The result (moves,): `ALONE`: a sum over the features of its one unit; `JOINED`: and over its seams with the chosen
    units before and after it; 0 for the others.
    """
    plain = not instance.rows and not instance.ceilings
    simple = plain and (instance.goal is Sense.MINIMIZE or instance.combination is Combination.RATIO)
    joined = np.zeros(instance.size + 1, np.int64)  # summed up, how many seams reach over each unit
    for joint in instance.joints:
        if joint.seam:
            joined[joint.needs[0]] += 1
            joined[joint.needs[1] + 1] -= 1
    ratio = instance.goal is Sense.MAXIMIZE
    kinds = np.where(np.cumsum(joined) == 0, ALONE, JOINED if ratio else 0).tolist()
    for joint in instance.joints:
        if not joint.seam:
            for unit in (*joint.needs, *joint.vetoes):
                kinds[unit] = 0
    return np.array([kinds[move[0]] if simple and len(move) == 1 else 0 for move in moves], np.int64)


@njit(cache=True)
def brought(copies, unit_start, unit_feature, unit_count, level_start, level, slot, covering, unit):
    """Return the gain of one unit's features in numerator and denominator; for a cover, how much more is covered."""
    top, bottom = np.int64(0), np.int64(0)
    for entry in range(unit_start[unit], unit_start[unit + 1]):
        feature = unit_feature[entry]
        base = level_start[feature]
        full = level_start[feature + 1] - 1 - base
        old = copies[feature]
        if old < full:
            new = min(old + unit_count[entry], full)
            if covering:
                top += new - old
            elif slot[feature] == 0:
                top += level[base + new] - level[base + old]
            else:
                bottom += level[base + new] - level[base + old]
    return top, bottom


@njit(cache=True)
def gain_of(top, bottom, old_top, old_bottom, old):
    """Return by how much a ratio grows; where the denominator stays, by one division, so that equal gains stay equal.

    `top`, `bottom`: the new ratio, which over nothing is 0.
    """
    if bottom == old_bottom:
        return (top - old_top) / bottom
    return (top / bottom if bottom > 0 else 0.0) - old


@njit(cache=True)
def _seams(seam_start, seam_second, first, second):
    """Return where the seams of two units begin and end; nothing where either is no unit."""
    if first < 0 or second + 1 >= len(seam_start):
        return np.int64(0), np.int64(0)
    low, high = seam_start[first], seam_start[first + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if seam_second[middle] < second:
            low = middle + 1
        else:
            high = middle
    high = low
    while high < end and seam_second[high] == second:
        high += 1
    return low, high


@njit(cache=True)
def _fed(copies, features, counts, level_start, level, slot, begin, end, sign):
    """Add the copies of some seams, or take them away; return what that adds to numerator and denominator."""
    top, bottom = np.int64(0), np.int64(0)
    for entry in range(begin, end):
        feature = features[entry]
        base = level_start[feature]
        full = level_start[feature + 1] - 1 - base
        old = min(copies[feature], full)
        copies[feature] += sign * counts[entry]
        change = level[base + min(copies[feature], full)] - level[base + old]
        if slot[feature] == 0:
            top += change
        else:
            bottom += change
    return top, bottom


# Inlined, so that the way is known where it is called: searches of joined sentences take a tenth less.
@njit(cache=True, inline="always")
def changed_joined(copies, own, tables, seams, left, unit, right, sign):
    """Return whether a unit has seams with those chosen before and after it, and what changes with all of them.

    It comes (`sign` 1) or goes (-1). If it comes and has no seams, what it brings is not looked at. Seams may share
    features with each other and with the unit: they are made or torn, its own are looked at, and all is put back.
    """
    unit_start, unit_feature, unit_count = own
    level_start, level, slot = tables
    seam_start, seam_second, seam_feature, seam_count = seams
    one, one_end = _seams(seam_start, seam_second, left, unit)
    two, two_end = _seams(seam_start, seam_second, unit, right)
    torn, torn_end = _seams(seam_start, seam_second, left, right)
    seamed = one < one_end or two < two_end or torn < torn_end
    if sign > 0 and not seamed:
        return False, np.int64(0), np.int64(0)
    torn_top, torn_bottom = _fed(copies, seam_feature, seam_count, level_start, level, slot, torn, torn_end, -sign)
    one_top, one_bottom = _fed(copies, seam_feature, seam_count, level_start, level, slot, one, one_end, sign)
    two_top, two_bottom = _fed(copies, seam_feature, seam_count, level_start, level, slot, two, two_end, sign)
    if sign > 0:
        whole = np.bool_(False)
        top, bottom = brought(copies, unit_start, unit_feature, unit_count, level_start, level, slot, whole, unit)
    else:
        begin, end = unit_start[unit], unit_start[unit + 1]
        top, bottom = _fed(copies, unit_feature, unit_count, level_start, level, slot, begin, end, sign)
        _fed(copies, unit_feature, unit_count, level_start, level, slot, begin, end, -sign)
    _fed(copies, seam_feature, seam_count, level_start, level, slot, two, two_end, -sign)
    _fed(copies, seam_feature, seam_count, level_start, level, slot, one, one_end, -sign)
    _fed(copies, seam_feature, seam_count, level_start, level, slot, torn, torn_end, sign)
    return seamed, top + torn_top + one_top + two_top, bottom + torn_bottom + one_bottom + two_bottom
