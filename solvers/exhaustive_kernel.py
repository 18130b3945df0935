"""The kernel of exhaustive search: a resumable depth-first walk that visits each selection within the maximum once.

A selection is reached by choosing its units in ascending order, so ``path[:depth]`` is the selection and ``unit``
the next one to try. The walk can be left after any number of selections and taken up again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from optsum.arrays import LENGTH, MISSING, Arrays, State, empty_state, flip, value_pair
from optsum.coverage import IntArray

__all__ = ["BEST_CHANGED", "DONE", "FEASIBLE", "TIES", "VISITED", "Walk", "advance", "start"]

DONE, VISITED, FEASIBLE, TIES, BEST_CHANGED = 0, 1, 2, 3, 4
_DEPTH, _UNIT, _TOP, _BOTTOM, _HELD = 5, 6, 7, 8, 9


class Walk(NamedTuple):
    """Where the walk is, and the best selection so far."""

    state: State
    path: IntArray
    best: IntArray
    scalars: IntArray


def start(arrays: Arrays) -> Walk:
    """Return a walk that stands at the empty selection, which is not counted but has to be beaten if it is feasible."""
    n = len(arrays.lengths)
    walk = Walk(empty_state(arrays), np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(10, np.int64))
    if arrays.min_length == 0 and walk.state.scalars[MISSING] == 0:
        top, bottom = value_pair(arrays, walk.state)
        walk.scalars[[_HELD, _TOP, _BOTTOM]] = 1, top, bottom
    return walk


@njit(cache=True)
def advance(arrays: Any, walk: Any, visits: int, ascending: bool) -> None:
    """Visit up to `visits` more selections.

    Parameters
    ----------
    ascending : bool
        The units are sorted by length, so no later unit fits where one does not.
    """
    state, path, scalars = walk.state, walk.path, walk.scalars
    n = len(arrays.lengths)
    depth, unit = scalars[_DEPTH], scalars[_UNIT]
    left = visits
    while left > 0:
        if unit < n:
            if state.scalars[LENGTH] + arrays.lengths[unit] > arrays.max_length:
                unit = n if ascending else unit + 1
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
                    scalars[TIES], scalars[BEST_CHANGED] = 1, 1
                    walk.best[:] = state.chosen
                elif ahead == 0:
                    scalars[TIES] += 1
            continue
        if depth == 0:
            scalars[DONE] = 1
            break
        depth -= 1
        unit = path[depth]
        flip(arrays, state, unit)
        unit += 1
    scalars[_DEPTH], scalars[_UNIT] = depth, unit
