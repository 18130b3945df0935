"""Moves of a local search on the normal form, and what a selection would be worth after one, without making it.

A move adds a unit with its missing ancestors (or all that an occurrence of several units needs), or drops a unit with
its chosen descendants: parents always come before their children. Selections are ranked by violation, then by value,
then by length: the shorter of two equally good ones leaves more room. All comparisons are of integers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from optsum.coverage.gains import quick_ones
from optsum.coverage.instance import Coverage, IntArray, pack
from optsum.coverage.state import COVER, LENGTH, MISSING, RATIO, flip, value_pair
from optsum.system.compiled import njit

from .table import MoveTable, table_of

_MOST_PARTNERS = 4
"""Moves that add all units of an occurrence, for each unit; if there are more, units are added one by one."""


class Neighbourhood(NamedTuple):
    """The moves of an instance.

    Attributes
    ----------
    add_start, add_unit : packed
        What each adding move chooses; the first moves are those of the units, in their order.
    drop_start, drop_unit : packed
        Each unit with its descendants.
    quick : (moves,)
        See `optsum.coverage.gains.quick_ones`.
    table : MoveTable
        What the units' own features gain at the selection that was looked at last.
    """

    add_start: IntArray
    add_unit: IntArray
    drop_start: IntArray
    drop_unit: IntArray
    quick: IntArray
    table: MoveTable


def neighbourhood_of(instance: Coverage) -> Neighbourhood:
    """Return the moves of an instance."""
    closures = [instance.closure((unit,)) for unit in range(instance.size)]
    descendants: list[list[int]] = [[] for _ in closures]
    for unit, closure in enumerate(closures):
        for ancestor in closure:
            descendants[ancestor].append(unit)
    known = set(closures)
    partners: list[tuple[int, ...]] = []
    for joint in instance.joints:
        if len(joint.needs) > 1 and not joint.seam and (move := instance.closure(joint.needs)) not in known:
            known.add(move)
            partners.append(move)
    if len(partners) > _MOST_PARTNERS * instance.size:
        partners = []
    moves = [*closures, *partners]
    quick = quick_ones(instance, moves)
    return Neighbourhood(*pack(moves), *pack(descendants), quick, table_of(instance, quick))


@njit(cache=True)
def below(draws: Any, stop: int) -> int:
    """Return a random integer from 0 to stop - 1; `draws` is the state of the generator, one integer.

    A linear congruential generator of 64 bits, of which the upper ones are used: it gives the same numbers on every
    machine and with every version of numba.
    """
    draws[0] = draws[0] * np.int64(6364136223846793005) + np.int64(1442695040888963407)
    number: int = ((draws[0] >> 33) & np.int64(0x7FFFFFFF)) % stop
    return number


@njit(cache=True)
def rank(arrays: Any, state: Any) -> Any:
    """Return violation, numerator, denominator and length of a state."""
    top, bottom = value_pair(arrays, state)
    length = state.scalars[LENGTH]
    return violation_of(arrays, length) + state.scalars[MISSING], top, bottom, length


@njit(cache=True)
def violation_of(arrays: Any, length: int) -> int:
    """Return how far a length is outside its limits."""
    violation: int = max(0, length - arrays.max_length, arrays.min_length - length)
    return violation


@njit(cache=True)
def ahead(one: Any, other: Any) -> int:
    """Return 1 if a rank is better than another, -1 if worse, 0 if they are the same but perhaps for the length."""
    if one[0] != other[0]:
        return 1 if one[0] < other[0] else -1
    difference = one[1] * other[2] - other[1] * one[2]
    return 1 if difference > 0 else -1 if difference < 0 else 0


@njit(cache=True)
def improves(one: Any, other: Any) -> bool:
    """Whether a rank is better than another, or as good and shorter."""
    order = ahead(one, other)
    return order > 0 or (order == 0 and bool(one[3] < other[3]))


@njit(cache=True)
def look(arrays: Any, state: Any, unit: int) -> Any:
    """Return the rank that a state would have with a unit flipped."""
    joined = arrays.need_start[unit + 1] > arrays.need_start[unit] or len(arrays.seam_second) > 0
    joined = joined or arrays.veto_start[unit + 1] > arrays.veto_start[unit]
    if joined or arrays.ruled == 1 or (arrays.kind != RATIO and arrays.kind != COVER):
        flip(arrays, state, unit)
        found = rank(arrays, state)
        flip(arrays, state, unit)
        return found
    # Otherwise nothing needs to be written.
    sign = 1 - 2 * state.chosen[unit]
    length = state.scalars[LENGTH] + sign * arrays.lengths[unit]
    missing, top, bottom = state.scalars[MISSING], state.totals[0], state.totals[1]
    for entry in range(arrays.unit_start[unit], arrays.unit_start[unit + 1]):
        feature = arrays.unit_feature[entry]
        start = arrays.level_start[feature]
        full = arrays.level_start[feature + 1] - 1 - start
        held = state.copies[feature]
        new, old = min(held + sign * arrays.unit_count[entry], full), min(held, full)
        gained = arrays.level[start + new] - arrays.level[start + old]
        missing -= new - old
        if arrays.slot[feature] == 0:
            top += gained
        else:
            bottom += gained
    violation = violation_of(arrays, length)
    if arrays.kind == COVER:
        return violation + missing, -length, np.int64(1), length
    top, bottom = top + sign * arrays.mass[0, unit], bottom + sign * arrays.mass[1, unit]
    return (violation, top, bottom, length) if bottom > 0 else (violation, np.int64(0), np.int64(1), length)


@njit(cache=True)
def look_at_all(arrays: Any, state: Any, start: Any, units: Any, move: int, last: int, turned: Any) -> Any:
    """Return the rank after all units of a move are flipped that stand as its last one does."""
    held, count = state.chosen[last], np.int64(0)
    for entry in range(start[move], start[move + 1]):
        unit = units[entry]
        if unit != last and state.chosen[unit] == held:
            flip(arrays, state, unit)
            turned[count] = unit
            count += 1
    found = look(arrays, state, last)
    for place in range(count):
        flip(arrays, state, turned[place])
    return found


@njit(cache=True)
def add(arrays: Any, moves: Any, state: Any, move: int) -> None:
    """Make an adding move."""
    for entry in range(moves.add_start[move], moves.add_start[move + 1]):
        if state.chosen[moves.add_unit[entry]] == 0:
            flip(arrays, state, moves.add_unit[entry])


@njit(cache=True)
def drop(arrays: Any, moves: Any, state: Any, unit: int, barred: Any, mark: int) -> None:
    """Drop a unit and its descendants, and set `barred` of each to `mark`."""
    for entry in range(moves.drop_start[unit], moves.drop_start[unit + 1]):
        member = moves.drop_unit[entry]
        if state.chosen[member] == 1:
            flip(arrays, state, member)
            barred[member] = mark


@njit(cache=True)
def overwrite(target: Any, source: Any) -> None:
    """Copy an array into another; a slice that is assigned to makes numba compile the sentences of its errors."""
    for place in range(len(source)):
        target[place] = source[place]


@njit(cache=True)
def become(arrays: Any, state: Any, chosen: Any) -> None:
    """Turn a state into that of another selection."""
    for unit in range(len(chosen)):
        if state.chosen[unit] != chosen[unit]:
            flip(arrays, state, unit)
