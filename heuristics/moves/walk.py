"""A step past local optima: units that cost least are dropped, the room is filled, and what moved rests for a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit

from .best_moves import best_drop
from .descent import EVALUATIONS, settle
from .neighbourhood import below, drop, overwrite, rank

_NOISE = 0.1
_BY_GAIN = 4
"""One filling in so many is by gain, the others by gain per length."""


@njit(cache=True)
def exchange(arrays: Any, moves: Any, descent: Any, resting: Any, strength: int) -> None:
    """Drop so many units, least loss per length first, and fill the room without them.

    It is taken whether or not it helps, as in strategic oscillation (Glover 1989). Units that moved in the step before
    stay as they are, so that it is not taken back.

    Parameters
    ----------
    resting : (units,)
        1 where a unit moved in the step before; afterwards, in this one.
    strength : int
        How many are dropped, if there are so many that do not rest.
    """
    state, barred, held, draws = descent.state, descent.barred, descent.held, descent.draws
    n = len(barred)
    overwrite(held, state.chosen)
    overwrite(barred, resting)
    evaluations = np.int64(1)
    for _ in range(strength):
        unit, looked = best_drop(arrays, moves, state, np.bool_(True), barred, draws, _NOISE)
        evaluations += looked
        if unit < 0:
            break
        drop(arrays, moves, state, unit, barred, np.int64(1))
    for unit in range(n):
        barred[unit] *= 1 - state.chosen[unit]
    dense = np.bool_(below(draws, np.int64(_BY_GAIN)) > 0)
    evaluations += settle(arrays, moves, descent, dense)
    if rank(arrays, state)[0] > 0:  # what was dropped is needed
        for unit in range(n):
            barred[unit] = 0
        evaluations += settle(arrays, moves, descent, dense)
    for unit in range(n):
        barred[unit] = 0
        resting[unit] = int(state.chosen[unit] != held[unit])
    descent.control[EVALUATIONS] += evaluations
