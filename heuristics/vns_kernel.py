"""The kernel of variable neighbourhood search: shake, descend, move or not, again and again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.coverage.state import CHOSEN, Arrays
from optsum.system.compiled import njit
from optsum.system.compiling import compiles

from .moves.descent import EVALUATIONS, PAIRS, Descent, descend, refill, restart, start, tiny
from .moves.neighbourhood import add, ahead, become, below, drop, overwrite, rank

SHAKE, IDLE, ITERATIONS, _SEARCHED, LOCAL_OPTIMUM = 0, 1, 2, 3, 4
_NOISE = 0.3
_SETTLED = 10
"""Iterations without improvement after which swaps of two are tried on the best."""


class Vns(NamedTuple):
    """Where the search is.

    Attributes
    ----------
    descent : Descent
    base, best : (units,)
        The local optimum that is shaken, and the best one so far.
    base_rank, best_rank : (4,)
        Their ranks (`optsum.heuristics.moves.neighbourhood.rank`).
    control : (5,)
        Strength of the next shake, iterations since the last improvement, iterations, whether swaps of two were begun
        on the best one, and whether it is known that no neighbourhood holds anything better than it.
    """

    descent: Descent
    base: IntArray
    best: IntArray
    base_rank: IntArray
    best_rank: IntArray
    control: IntArray


def begin(arrays: Arrays, chosen: IntArray, seed: int) -> Vns:
    """Return a search that stands at a selection, which it has not improved yet."""
    worst = np.array([2**62, 0, 1, 0], np.int64)
    return Vns(
        start(arrays, chosen, seed, pairs=False),
        chosen.copy(),
        chosen.copy(),
        worst.copy(),
        worst,
        np.array([1, 0, 0, 0, 0], np.int64),
    )


@compiles
def prepare() -> None:
    """Compile the kernel, or load it."""
    arrays, moves, chosen = tiny()
    go_on(arrays, moves, begin(arrays, chosen, 0), 1, 1, 1)


@njit(cache=True)
def go_on(arrays: Any, moves: Any, vns: Any, k_max: int, no_improvement: int, until: int) -> bool:
    """Go on until something better is found, the search ends by itself, or so many moves are evaluated in all.

    Returns
    -------
    bool
        Whether `vns.best` is better than before.
    """
    descent, control = vns.descent, vns.control
    state = descent.state
    while control[IDLE] < no_improvement:
        if not descend(arrays, moves, descent, until):
            return False
        found = rank(arrays, state)
        order = ahead(found, _stored(vns.best_rank))
        if order > 0:
            _store(found, vns.best_rank)
            _store(found, vns.base_rank)
            overwrite(vns.best, state.chosen)
            overwrite(vns.base, state.chosen)
            control[SHAKE], control[IDLE], control[_SEARCHED] = 1, 0, 0
            control[LOCAL_OPTIMUM] = descent.control[PAIRS]
            return True
        if descent.control[PAIRS] == 1 and _same(state.chosen, vns.best):
            control[LOCAL_OPTIMUM] = 1
        if control[IDLE] >= _SETTLED and control[_SEARCHED] == 0:  # there are many: for the best alone
            control[_SEARCHED] = 1
            become(arrays, state, vns.best)
            restart(descent, np.int64(1))
            continue
        order = ahead(found, _stored(vns.base_rank))
        if order >= 0:  # sideways steps lead over plateaus
            _store(found, vns.base_rank)
            overwrite(vns.base, state.chosen)
        else:
            become(arrays, state, vns.base)
        control[IDLE] += 1
        control[ITERATIONS] += 1
        _shake(arrays, moves, descent, control[SHAKE])
        control[SHAKE] = control[SHAKE] + 1 if control[SHAKE] < k_max else 1
    return False


@njit(cache=True)
def _stored(row: Any) -> Any:
    return row[0], row[1], row[2], row[3]


@njit(cache=True)
def _store(found: Any, row: Any) -> None:
    row[0], row[1], row[2], row[3] = found[0], found[1], found[2], found[3]


@njit(cache=True)
def _same(one: Any, other: Any) -> bool:
    differing = 0
    for unit in range(len(one)):
        differing += one[unit] != other[unit]
    return differing == 0


@njit(cache=True)
def _shake(arrays: Any, moves: Any, descent: Any, strength: int) -> None:
    """Exchange so many random units: drop them, perhaps add one at random, fill up without them."""
    state, barred, draws = descent.state, descent.barred, descent.draws
    n = len(state.chosen)
    for _ in range(strength):
        held = state.scalars[CHOSEN]
        if held > 0:
            wanted = below(draws, held)
            for unit in range(n):
                if state.chosen[unit] == 1:
                    if wanted == 0:
                        drop(arrays, moves, state, unit, barred, np.int64(1))
                        break
                    wanted -= 1
        if n > 0 and below(draws, np.int64(2)) == 0:
            move = below(draws, len(moves.add_start) - 1)
            allowed = True
            for entry in range(moves.add_start[move], moves.add_start[move + 1]):
                allowed = allowed and barred[moves.add_unit[entry]] == 0
            if allowed:
                add(arrays, moves, state, move)
    descent.control[EVALUATIONS] += 1 + refill(arrays, moves, descent, np.bool_(True), _NOISE)
    for unit in range(n):
        barred[unit] = 0
    restart(descent, np.int64(0))
