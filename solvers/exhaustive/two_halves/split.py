"""Where to cut the units into two halves, so that both have about as few sets as can be."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from optsum.system.compiled import njit

MOST_SHORT: Final = 62
"""Units of the short half, whose sets are bits of one integer."""
_MOST_SETS: Final = 1 << 15
"""Sets of the short half that are kept in memory, and in the processor's second cache."""
_LARGEST_TABLE: Final = 2_000_000


@njit(cache=True)
def cut_of(lengths: Any, max_length: int) -> Any:
    """Return how many of the units, sorted by length, make the short half, and how many sets of them fit at most.

    Sets that fit are counted by dynamic programming for every cut at once; where the lengths are too large for that,
    every set counts.
    """
    n = len(lengths)
    high: Any = np.int64(0)
    for length in lengths:
        high += length
    high = min(max_length, high)
    if n * (high + 1) > _LARGEST_TABLE:
        cut = min(n // 2, 15)
        return cut, 1 << cut
    sets = np.zeros((2, n + 1))
    for side in range(2):
        table = np.zeros(high + 1)
        table[0] = 1.0
        sets[side, 0] = 1.0
        reach = 0
        for k in range(n):
            length = lengths[k] if side == 0 else lengths[n - 1 - k]
            reach = min(high, reach + length)
            for c in range(reach, length - 1, -1):
                table[c] += table[c - length]
            for c in range(reach + 1):
                sets[side, k + 1] += table[c]
    best, found = np.inf, 0
    for k in range(min(n, MOST_SHORT) + 1):
        if sets[0, k] > _MOST_SETS:
            break
        # A set of the long half costs more: where its loop begins and ends is looked up.
        work = sets[0, k] + 1.5 * sets[1, n - k]
        if work < best or k == 0:
            best, found = work, k
    return found, int(sets[0, found])
