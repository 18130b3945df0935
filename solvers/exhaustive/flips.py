"""The kernel of exhaustive search: a resumable depth-first walk that visits each selection within the maximum once.

A selection is reached by choosing its units in ascending order, so ``path[:depth]`` is the selection and ``unit``
the next one to try. The walk can be left after any number of selections and taken up again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.coverage.state import LENGTH, MISSING, Arrays, State, empty_state, flip, value_pair
from optsum.system.compiled import njit

DONE, VISITED, FEASIBLE, TIES, BEST_CHANGED = 0, 1, 2, 3, 4
_DEPTH, _UNIT, _TOP, _BOTTOM, _HELD, LISTED = 5, 6, 7, 8, 9, 10


class FlipWalk(NamedTuple):
    """The position of a walk, the best selection so far, and its ties.

    `listed` holds a row for each tie while there are rows left: its number of units, then the units.
    """

    state: State
    path: IntArray
    best: IntArray
    scalars: IntArray
    listed: IntArray


def start(arrays: Arrays, rows: int = 0) -> FlipWalk:
    """Return a walk at the empty selection, which is not counted as visited; if feasible, it is the best so far."""
    n = len(arrays.lengths)
    walk = FlipWalk(
        empty_state(arrays),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(11, np.int64),
        np.zeros((rows, n + 1), np.int64),
    )
    if arrays.min_length == 0 and walk.state.scalars[MISSING] == 0:
        top, bottom = value_pair(arrays, walk.state)
        walk.scalars[[_HELD, _TOP, _BOTTOM]] = 1, top, bottom
    return walk


@njit(cache=True)
def advance(arrays: Any, walk: Any, visits: int) -> None:
    """Visit up to `visits` more selections; no branch is entered that ends below the minimum length."""
    state, path, scalars = walk.state, walk.path, walk.scalars
    n = len(arrays.lengths)
    depth, unit = scalars[_DEPTH], scalars[_UNIT]
    left = visits
    rest, least = np.zeros(n + 1, np.int64), np.empty(n + 1, np.int64)
    least[n] = arrays.max_length + 1
    for each in range(n - 1, -1, -1):
        rest[each] = rest[each + 1] + arrays.lengths[each]
        least[each] = min(least[each + 1], arrays.lengths[each])
    while left > 0:
        length = state.scalars[LENGTH]
        if unit < n and length + rest[unit] >= arrays.min_length and length + least[unit] <= arrays.max_length:
            if length + arrays.lengths[unit] > arrays.max_length:
                unit += 1
                continue
            parent = arrays.parents[unit]
            if parent >= 0 and state.chosen[parent] == 0:
                unit += 1
                continue
            flip(arrays, state, unit)
            path[depth] = unit
            depth += 1
            unit += 1
            left -= 1
            scalars[VISITED] += 1
            if state.scalars[LENGTH] >= arrays.min_length and state.scalars[MISSING] == 0:
                scalars[FEASIBLE] += 1
                top, bottom = value_pair(arrays, state)
                ahead = top * scalars[_BOTTOM] - scalars[_TOP] * bottom
                if scalars[_HELD] == 0 or ahead > 0:
                    scalars[_HELD], scalars[_TOP], scalars[_BOTTOM] = 1, top, bottom
                    scalars[TIES], scalars[BEST_CHANGED], scalars[LISTED] = 0, 1, 0
                    for each in range(n):
                        walk.best[each] = state.chosen[each]
                    ahead = 0
                if ahead == 0:
                    scalars[TIES] += 1
                    row = scalars[LISTED]
                    if row < len(walk.listed):
                        walk.listed[row, 0] = depth
                        for each in range(depth):
                            walk.listed[row, each + 1] = path[each]
                        scalars[LISTED] += 1
            continue
        if depth == 0:
            scalars[DONE] = 1
            break
        depth -= 1
        unit = path[depth]
        flip(arrays, state, unit)
        unit += 1
    scalars[_DEPTH], scalars[_UNIT] = depth, unit
