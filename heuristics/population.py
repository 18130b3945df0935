"""The kernel of genetic search: repair, improve and rank individuals, one row of bits each."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit
from optsum.system.compiling import compiles

from .moves.descent import EVALUATIONS, descend, restart, settle, start, tiny
from .moves.neighbourhood import become, overwrite, rank


@compiles
def prepare() -> None:
    """Compile the kernel, or load it."""
    arrays, moves, chosen = tiny()
    polish(arrays, moves, start(arrays, chosen), np.ones((1, 1), np.int64), np.zeros((1, 4), np.int64), 0, 0, 1)


@njit(cache=True)
def polish(arrays: Any, moves: Any, descent: Any, rows: Any, ranks: Any, place: int, effort: int, until: int) -> int:
    """Make rows closed and feasible, improve them, and rank them.

    Parameters
    ----------
    rows : (individuals, units)
        0/1 decisions; changed in place.
    ranks : (individuals, 4)
        `optsum.heuristics.moves.neighbourhood.rank` of each.
    place : int
        The first row that is still to be done.
    effort : int
        Moves evaluated for each row, about; 0 only repairs it and fills it up.
    until : int
        Moves evaluated in all after which no further row is begun.

    Returns
    -------
    int
        The first row that was not done.
    """
    state, control = descent.state, descent.control
    while place < len(rows) and control[EVALUATIONS] < until:
        row = rows[place]
        for unit in range(len(row) - 1, -1, -1):  # parents have smaller numbers
            if row[unit] == 1 and arrays.parents[unit] >= 0:
                row[arrays.parents[unit]] = 1
        become(arrays, state, row)
        restart(descent, 0)
        limit = control[EVALUATIONS] + effort
        control[EVALUATIONS] += 1 + settle(arrays, moves, descent, np.bool_(True))
        if effort > 0:
            descend(arrays, moves, descent, limit)
        overwrite(row, state.chosen)
        ranks[place, 0], ranks[place, 1], ranks[place, 2], ranks[place, 3] = rank(arrays, state)
        place += 1
    return place
