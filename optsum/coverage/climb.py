"""The greedy kernel: start from nothing, take the best move, until none helps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from optsum.coverage.gains import brought, quick_ones
from optsum.coverage.instance import Coverage, IntArray, pack
from optsum.coverage.state import COVER, LENGTH, MISSING, Arrays, empty_state, flip, value_pair

__all__ = ["climb", "moves_of"]


def moves_of(instance: Coverage) -> tuple[IntArray, IntArray, IntArray]:
    """Return the moves of an instance, packed: each unit, and each set of units that a joint occurrence needs, closed.

    The third array says which are quick (`optsum.coverage.gains.quick_ones`). A unit comes with its ancestors,
    so that every move can be taken by itself.
    """
    moves = [instance.closure((unit,)) for unit in range(instance.size)]
    known = set(moves)
    for joint in instance.joints:
        move = instance.closure(joint.needs)
        if move not in known:
            known.add(move)
            moves.append(move)
    return *pack(moves), quick_ones(instance, moves)


def climb(
    arrays: Arrays, move_start: IntArray, move_unit: IntArray, quick: IntArray, single: bool
) -> tuple[IntArray, int]:
    """Return the greedy selection as 0/1 decisions, and the number of evaluations.

    Parameters
    ----------
    move_start, move_unit, quick : as `moves_of` returns them
    single : bool
        Only the one best move by value, not by value per length (Hirao et al. 2017, Algorithm 2, line 11).
    """
    state = empty_state(arrays)
    evaluations = int(_climb(arrays, state, move_start, move_unit, quick, single))
    return state.chosen, evaluations


@njit(cache=True)
def _climb(arrays: Any, state: Any, move_start: Any, move_unit: Any, quick: Any, single: bool) -> int:
    moves = len(move_start) - 1
    gone = np.zeros(moves, np.bool_)
    flipped = np.zeros(len(arrays.lengths), np.int64)
    evaluations = 0
    # Arrays by themselves: taken out of their tuples for each unit anew, they cost more than what is done with them.
    lengths, chosen, totals, copies, mass = arrays.lengths, state.chosen, state.totals, state.copies, arrays.mass
    unit_start, unit_feature, unit_count = arrays.unit_start, arrays.unit_feature, arrays.unit_count
    level_start, level, slot, max_length = arrays.level_start, arrays.level, arrays.slot, arrays.max_length
    covering = arrays.kind == COVER
    while True:
        short = state.scalars[LENGTH] < arrays.min_length or state.scalars[MISSING] > 0
        before_top, before_bottom = value_pair(arrays, state)
        before, before_missing = before_top / before_bottom, state.scalars[MISSING]
        before_length = state.scalars[LENGTH]
        best, best_density, best_gain = -1, 0.0, 0.0
        for move in range(moves):
            if gone[move]:
                continue
            added, held = 0, True
            for entry in range(move_start[move], move_start[move + 1]):
                unit = move_unit[entry]
                if chosen[unit] == 0:
                    added += lengths[unit]
                    held = False
            if held or before_length + added > max_length:  # nor will it fit when more is chosen
                gone[move] = True
                continue
            if quick[move] == 1:
                unit = move_unit[move_start[move]]
                top, bottom = brought(
                    copies, unit_start, unit_feature, unit_count, level_start, level, slot, covering, unit
                )
                covered = top
                top, bottom = totals[0] + mass[0, unit] + top, totals[1] + mass[1, unit] + bottom
                if bottom <= 0:
                    top, bottom = np.int64(0), np.int64(1)
            else:
                count = 0
                for entry in range(move_start[move], move_start[move + 1]):
                    unit = move_unit[entry]
                    if chosen[unit] == 0:
                        flip(arrays, state, unit)
                        flipped[count] = unit
                        count += 1
                top, bottom = value_pair(arrays, state)
                covered = before_missing - state.scalars[MISSING]
                for entry in range(count):
                    flip(arrays, state, flipped[entry])
            if covering:  # bought with length: what counts is how much of the missing it brings
                gain = float(covered)
            elif bottom == before_bottom:  # one division: equal densities stay equal
                gain = (top - before_top) / bottom
            else:
                gain = top / bottom - before
            density = gain
            if not single and added > 0:
                density = gain / added
            elif not single and gain > 0:  # what costs nothing comes first, or the guarantee would not hold
                density = np.inf
            evaluations += 1
            if best < 0 or density > best_density:
                best, best_density, best_gain = move, density, gain
        if best < 0 or (best_gain <= 0.0 and not short):
            break
        for entry in range(move_start[best], move_start[best + 1]):
            if state.chosen[move_unit[entry]] == 0:
                flip(arrays, state, move_unit[entry])
        if single or (arrays.kind == COVER and state.scalars[MISSING] == 0):
            break
    return evaluations
