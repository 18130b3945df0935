"""Variable neighbourhood descent: add, drop, swap, swap by density, swap two, until none of them helps.

A swap drops a unit and fills the room again, best move first, so that it covers one for one, one for two, ... The
descent can be left after any number of steps and taken up again; how often that happens changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from optsum.coverage.instance import Coverage, IntArray
from optsum.coverage.state import LENGTH, Arrays, State, arrays_of, empty_state
from optsum.system.compiled import njit
from optsum.system.compiling import compiles

from .best_moves import best_add, best_drop
from .neighbourhood import Neighbourhood, add, become, drop, improves, neighbourhood_of, overwrite, rank

PHASE, CURSOR, SECOND, IDLE, PAIRS, EVALUATIONS = 0, 1, 2, 3, 4, 5
_SETTLE, _SWAP, _SWAP_DENSE, _SWAP_TWO, OPTIMUM = 0, 1, 2, 3, 4


class Descent(NamedTuple):
    """Where the descent is.

    Attributes
    ----------
    state : State
        The selection it has reached.
    held : (units,)
        Room for the selection before a move.
    barred : (units,)
        Not 0 where a unit may not be chosen.
    control : (6,)
        Phase, the first and the second unit that are dropped next, units tried since the last improvement, whether
        swaps of two units are wanted, moves evaluated so far.
    draws : (1,)
        State of the random generator (`optsum.heuristics.moves.neighbourhood.below`).
    """

    state: State
    held: IntArray
    barred: IntArray
    control: IntArray
    draws: IntArray


def start(arrays: Arrays, chosen: IntArray, seed: int = 0, *, pairs: bool = True) -> Descent:
    """Return a descent that stands at a selection.

    Parameters
    ----------
    chosen : (units,)
        0/1 decisions, closed under parents.
    pairs : bool
        Whether swaps of two units are tried.
    """
    n = len(arrays.lengths)
    descent = Descent(
        empty_state(arrays),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.array([_SETTLE, 0, 1, 0, int(pairs), 0], np.int64),
        np.array([seed], np.int64),
    )
    become(arrays, descent.state, chosen)
    return descent


def tiny() -> tuple[Arrays, Neighbourhood, IntArray]:
    """Return an instance of one unit, its moves and its only selection: to compile kernels on."""
    instance = Coverage.of([1], [{0: 1}], [[1]])
    arrays = arrays_of(instance)
    assert arrays is not None  # noqa: S101 - its numbers are small
    return arrays, neighbourhood_of(instance), np.ones(1, np.int64)


@compiles
def prepare() -> None:
    """Compile the kernels, or load them."""
    arrays, moves, chosen = tiny()
    descend(arrays, moves, start(arrays, chosen), 1)


@njit(cache=True)
def restart(descent: Any, pairs: int) -> None:
    """Start again from the selection that the state holds."""
    control = descent.control
    control[PHASE], control[CURSOR], control[SECOND], control[IDLE], control[PAIRS] = _SETTLE, 0, 1, 0, pairs


@njit(cache=True)
def refill(arrays: Any, moves: Any, descent: Any, dense: bool, noise: float) -> Any:
    """Add what helps and fits, best move first; return the number of moves evaluated."""
    evaluations = np.int64(0)
    while True:
        move, looked = best_add(arrays, moves, descent.state, descent.barred, descent.draws, dense, noise)
        evaluations += looked
        if move < 0:
            return evaluations
        add(arrays, moves, descent.state, move)


@njit(cache=True)
def settle(arrays: Any, moves: Any, descent: Any, dense: bool) -> Any:
    """Drop what is too long, add what helps, drop what does not; return the number of moves evaluated."""
    state, barred, evaluations = descent.state, descent.barred, np.int64(0)
    while state.scalars[LENGTH] > arrays.max_length:
        unit, looked = best_drop(arrays, moves, state, np.bool_(True), barred, descent.draws, 0.0)
        evaluations += looked
        if unit < 0:
            break
        drop(arrays, moves, state, unit, barred, barred[unit])
    while True:
        evaluations += refill(arrays, moves, descent, dense, 0.0)
        unit, looked = best_drop(arrays, moves, state, np.bool_(False), barred, descent.draws, 0.0)
        evaluations += looked
        if unit < 0:
            return evaluations
        while unit >= 0:
            drop(arrays, moves, state, unit, barred, np.int64(0))
            unit, looked = best_drop(arrays, moves, state, np.bool_(False), barred, descent.draws, 0.0)
            evaluations += looked


@njit(cache=True)
def _swap(arrays: Any, moves: Any, descent: Any, first: int, second: int, dense: bool) -> Any:
    """Drop one unit or two and fill up; take it back unless it helps."""
    state, barred = descent.state, descent.barred
    overwrite(descent.held, state.chosen)
    before = rank(arrays, state)
    drop(arrays, moves, state, first, barred, np.int64(1))
    if second >= 0:
        drop(arrays, moves, state, second, barred, np.int64(1))
    descent.control[EVALUATIONS] += 1 + settle(arrays, moves, descent, dense)
    better = improves(rank(arrays, state), before)
    if not better:
        become(arrays, state, descent.held)
    for unit in range(len(barred)):
        barred[unit] = 0
    return better


@njit(cache=True)
def descend(arrays: Any, moves: Any, descent: Any, until: int) -> bool:
    """Go on until a local optimum is reached, or so many moves are evaluated in all; return whether it is reached."""
    state, control = descent.state, descent.control
    n = len(state.chosen)
    while control[PHASE] != OPTIMUM:
        if control[EVALUATIONS] >= until:
            return False
        if control[PHASE] == _SETTLE:
            control[EVALUATIONS] += settle(arrays, moves, descent, np.bool_(False))
            control[PHASE], control[IDLE] = _SWAP, 0
        elif control[PHASE] < _SWAP_TWO:
            unit = control[CURSOR]
            if control[IDLE] >= n:
                control[PHASE] += 1
                control[IDLE] = 0
                if control[PHASE] == _SWAP_TWO:
                    control[CURSOR], control[SECOND] = 0, 1
                    if control[PAIRS] == 0:
                        control[PHASE] = OPTIMUM
                continue
            control[CURSOR] = unit + 1 if unit + 1 < n else 0
            control[IDLE] += 1
            if state.chosen[unit] == 1 and _swap(
                arrays, moves, descent, unit, np.int64(-1), control[PHASE] == _SWAP_DENSE
            ):
                control[PHASE] = _SETTLE  # what was dropped may help again
        else:
            first, second = control[CURSOR], control[SECOND]
            if first >= n:
                control[PHASE] = OPTIMUM
                continue
            if second >= n or state.chosen[first] == 0:
                control[CURSOR], control[SECOND] = first + 1, first + 2
                continue
            control[SECOND] = second + 1
            if state.chosen[second] == 1 and _swap(arrays, moves, descent, first, second, np.bool_(False)):
                control[PHASE], control[CURSOR] = _SETTLE, 0
    return True
