"""What a unit brings that no occurrence of several units concerns: a sum over its own features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from optsum.coverage.instance import Combination, Coverage, IntArray, Sense

__all__ = ["brought", "quick_ones"]


def quick_ones(instance: Coverage, moves: Sequence[Sequence[int]]) -> IntArray:
    """Return 1 for each move whose gain is a sum over the features of its one unit, 0 for the others."""
    joined = {unit for joint in instance.joints for unit in (*joint.needs, *joint.vetoes)}
    simple = instance.goal is Sense.MINIMIZE or instance.combination is Combination.RATIO
    return np.array([simple and len(move) == 1 and move[0] not in joined for move in moves], np.int64)


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
