"""What a unit brings that no occurrence of several units concerns: a sum over its own features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from optsum.coverage.instance import Combination, Coverage, IntArray, Sense
from optsum.system.compiled import njit

__all__ = ["RULED", "brought", "gain_of", "quick_ones"]

RULED: Final = 1e9
"""What a step towards keeping a row is worth to a climb: more than any value."""


def quick_ones(instance: Coverage, moves: Sequence[Sequence[int]]) -> IntArray:
    """Return 1 for each move whose gain is a sum over the features of its one unit, 0 for the others."""
    simple = not instance.rows and (instance.goal is Sense.MINIMIZE or instance.combination is Combination.RATIO)
    joined = np.zeros(instance.size + 1, np.int64)  # summed up, how many seams reach over each unit
    for joint in instance.joints:
        if joint.seam:
            joined[joint.needs[0]] += 1
            joined[joint.needs[1] + 1] -= 1
    apart = (np.cumsum(joined) == 0).tolist()
    for joint in instance.joints:
        if not joint.seam:
            for unit in (*joint.needs, *joint.vetoes):
                apart[unit] = False
    return np.array([simple and len(move) == 1 and apart[move[0]] for move in moves], np.int64)


@njit(cache=True)
def brought(
    copies: Any,
    unit_start: Any,
    unit_feature: Any,
    unit_count: Any,
    level_start: Any,
    level: Any,
    slot: Any,
    covering: bool,
    unit: int,
) -> Any:
    """Return what one unit's features add to numerator and denominator; for a cover, to what is covered."""
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
def gain_of(top: int, bottom: int, old_top: int, old_bottom: int, old: float) -> float:
    """Return by how much a ratio grows; where the denominator stays, by one division, so that equal gains stay equal.

    Parameters
    ----------
    top, bottom : int
        The new ratio, which over nothing is 0.
    old_top, old_bottom, old : int, int, float
        The ratio before (over something), and its value.
    """
    if bottom == old_bottom:
        return (top - old_top) / bottom
    return (top / bottom if bottom > 0 else 0.0) - old
