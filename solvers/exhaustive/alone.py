"""What each unit brings by itself: enough to tell, before any search, which search it is going to be hard for."""

from __future__ import annotations

import numpy as np

from optsum.coverage.instance import Coverage, IntArray


def size_of_best(instance: Coverage) -> tuple[int, int]:
    """Return about how many units make one ratio largest, and how many of such units fit.

    They are as many of the densest as would if none held what others do. That is one sort; a greedy selection looks at
    every unit for each one that it takes.
    """
    top, bottom = _gains(instance, 0), _gains(instance, 1)
    order = np.argsort(-top / np.maximum(bottom, 1), kind="stable")
    full = instance.level[instance.level_start[1:] - 1][instance.slot == 0]
    most = int(instance.mass[0].sum() + full.sum())  # that the first numerator can gain
    tops = np.minimum(np.cumsum(top[order]), most) + instance.constants[0]
    bottoms = np.cumsum(bottom[order]) + instance.constants[1]
    fitting = int((np.cumsum(instance.lengths[order]) <= instance.max_length).sum())
    return int(np.argmax(tops / np.maximum(bottoms, 1))) + 1, fitting


def _gains(instance: Coverage, total: int) -> IntArray:
    """Return what each unit adds to a total if nothing else is chosen, as far as it takes no other unit for that."""
    starts = instance.level_start[:-1]
    levels = starts[instance.unit_feature] + instance.unit_count
    gain = instance.level[np.minimum(levels, instance.level_start[1:][instance.unit_feature] - 1)]
    gain = np.where(instance.slot[instance.unit_feature] == total, gain, 0)
    summed = np.append(0, np.cumsum(gain))
    found: IntArray = instance.mass[total] + summed[instance.unit_start[1:]] - summed[instance.unit_start[:-1]]
    return found
