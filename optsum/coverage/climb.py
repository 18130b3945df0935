"""Greedy search on the normal form: start from the empty selection and make the best move until none helps.

The kernel runs in slices and can be paused between any two evaluated moves, so that limits and Ctrl-C take effect on
instances of any size, without changing the outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, IntArray, pack
from optsum.coverage.state import (
    COVER,
    LENGTH,
    MISSING,
    RULED,
    Arrays,
    State,
    arrays_of,
    empty_state,
    flip,
    gain_kinds,
    gain_of,
    unit_gains,
    value_pair,
)
from optsum.system.clock import NEVER, Deadline, Stopped, in_strides
from optsum.system.compiled import compiles, njit

_FIRST_SLICE: Final = 20_000

_MOVE, _BEST, _EVALUATIONS = 0, 1, 2
_DENSITY, _GAIN = 0, 1


class Moves(NamedTuple):
    """Packed sets of units to choose at once: each unit, and the units of each joint occurrence, with ancestors."""

    # start, unit: (moves + 1,), (entries,): a unit comes with its ancestors, so that every move can be taken by itself.
    start: IntArray
    unit: IntArray
    quick: IntArray  # (moves,): see `optsum.coverage.state.gain_kinds`.


class _Place(NamedTuple):
    state: State
    gone: IntArray  # (moves,): 1 for moves that are made, or will not fit any more.
    flipped: IntArray  # (units,): room for the units of a move that is tried.
    # (3,): the move that is looked at next, the best of this round or -1, and how many were evaluated in all.
    control: IntArray
    best: NDArray[np.float64]  # (2,): gain per length and gain of the best move of this round.


def moves_of(instance: Coverage, deadline: Deadline = NEVER) -> Moves:
    """Return the moves of an instance."""
    moves = [instance.closure((unit,)) for unit in range(instance.size)]
    known = set(moves)
    for joint in deadline.watching(instance.joints):
        move = instance.closure(joint.needs)
        if move not in known:
            known.add(move)
            moves.append(move)
    return Moves(*pack(moves), gain_kinds(instance, moves))


class Climber:
    """One climb.

    `single`: make only the one best move by value, not by value per length (Hirao et al. 2017, Algorithm 2, line 11).
    """

    def __init__(self, arrays: Arrays, moves: Moves, *, single: bool = False) -> None:
        self._arrays, self._moves, self._single = arrays, moves, single
        self._place = _Place(
            empty_state(arrays),
            np.zeros(len(moves.quick), np.int64),
            np.zeros(len(arrays.lengths), np.int64),
            np.array([0, -1, 0]),
            np.zeros(2),
        )
        self._go = in_strides(_FIRST_SLICE)

    @property
    def units(self) -> tuple[int, ...]:
        """Units chosen so far."""
        return tuple(self._place.state.chosen.nonzero()[0].tolist())

    @property
    def evaluations(self) -> int:
        """Number of moves evaluated so far."""
        return int(self._place.control[_EVALUATIONS])

    def go_on(self, most: int | None = None) -> bool:
        """Climb for some milliseconds, or `most` evaluations; return whether the climb has ended."""
        return bool(self._go(partial(_go_on, self._arrays, self._place, self._moves, self._single), most))


def climbers_of(instance: Coverage, deadline: Deadline = NEVER) -> tuple[Climber, Climber] | None:
    """Return a climb by gain per length and one by the best single move; None if the instance does not fit 64 bits.

    `Stopped` is raised if the deadline passes before the moves are built.
    """
    arrays = arrays_of(instance)
    if arrays is None:
        return None
    moves = moves_of(instance, deadline)
    return Climber(arrays, moves), Climber(arrays, moves, single=True)


def climb(instance: Coverage, deadline: Deadline = NEVER) -> Climber | None:
    """Climb by gain per length to the end, or until the deadline."""
    arrays = None if deadline.passed else arrays_of(instance)
    if arrays is None:
        return None
    try:
        climber = Climber(arrays, moves_of(instance, deadline))
    except Stopped:
        return None
    while not deadline.passed and not climber.go_on():
        pass
    return climber


def climbs(instance: Coverage, lengths: Iterable[int], deadline: Deadline = NEVER) -> Iterator[list[tuple[int, ...]]]:
    """Yield the greedy selections at each maximum length: by gain per length, and by the best single move.

    A climb makes the best move that fits, so one that ends at length l under the maximum L is the same for every
    maximum from l to L; few climbs cover all lengths.
    """
    arrays = arrays_of(instance)
    if arrays is None:
        return
    try:
        moves = moves_of(instance, deadline)
    except Stopped:
        return
    held: list[tuple[tuple[int, ...], int]] = [((), -1), ((), -1)]
    for length in lengths:
        for place, (_, used) in enumerate(held):
            if 0 <= used <= length:
                continue
            climber = Climber(arrays._replace(max_length=length), moves, single=place == 1)
            while not climber.go_on():
                if deadline.passed:
                    return
            held[place] = climber.units, int(instance.lengths[list(climber.units)].sum())
        yield [units for units, _ in held]


@compiles
def prepare() -> None:
    """Compile the kernel, or load it."""
    climb(Coverage.of([1], [{0: 1}], [[1]]))


@njit(cache=True)
def _go_on(arrays: Any, place: Any, moves: Any, single: bool, work: int) -> bool:
    """Evaluate moves, about `work` entries of units, and make the best of each round; return whether none helps."""
    state, gone, flipped, control, record = place
    move_start, move_unit, quick = moves
    number = len(quick)
    # Arrays by themselves: taken out of their tuples for each unit anew, they cost more than what is done with them.
    lengths, chosen, totals, copies, mass = arrays.lengths, state.chosen, state.totals, state.copies, arrays.mass
    unit_start, unit_feature, unit_count = arrays.unit_start, arrays.unit_feature, arrays.unit_count
    level_start, level, slot, max_length = arrays.level_start, arrays.level, arrays.slot, arrays.max_length
    covering, ruled = arrays.kind == COVER, arrays.ruled == 1
    while work > 0:
        short = state.scalars[LENGTH] < arrays.min_length or (covering and state.scalars[MISSING] > 0)
        before_top, before_bottom = value_pair(arrays, state)
        before, before_missing = before_top / before_bottom, state.scalars[MISSING]
        before_length = state.scalars[LENGTH]
        best, best_density, best_gain = control[_BEST], record[_DENSITY], record[_GAIN]
        move = control[_MOVE]
        while move < number and work > 0:
            looked = move
            move += 1
            work -= 1
            if gone[looked] == 1:
                continue
            added, held = np.int64(0), True
            for entry in range(move_start[looked], move_start[move]):
                unit = move_unit[entry]
                if chosen[unit] == 0:
                    added += lengths[unit]
                    held = False
            if held or before_length + added > max_length:  # nor will it fit when more is chosen
                gone[looked] = 1
                continue
            if quick[looked] == 1:
                unit = move_unit[move_start[looked]]
                work -= unit_start[unit + 1] - unit_start[unit]
                top, bottom = unit_gains(
                    copies, unit_start, unit_feature, unit_count, level_start, level, slot, covering, unit
                )
                covered = top
                top, bottom = totals[0] + mass[0, unit] + top, totals[1] + mass[1, unit] + bottom
            else:
                count = 0
                for entry in range(move_start[looked], move_start[move]):
                    unit = move_unit[entry]
                    if chosen[unit] == 0:
                        work -= 2 * (unit_start[unit + 1] - unit_start[unit])
                        flip(arrays, state, unit)
                        flipped[count] = unit
                        count += 1
                top, bottom = value_pair(arrays, state)
                covered = before_missing - state.scalars[MISSING]
                for entry in range(count):
                    flip(arrays, state, flipped[entry])
                if covered < 0:  # it breaks a row
                    continue
            # A cover is bought with length: what counts is how much of the missing a move brings.
            gain = float(covered) if covering else gain_of(top, bottom, before_top, before_bottom, before)
            if ruled and not covering:
                gain += RULED * covered
            density = gain
            if not single and added > 0:
                density = gain / added
            elif not single and gain > 0:  # what costs nothing comes first, or the guarantee would not hold
                density = np.inf
            control[_EVALUATIONS] += 1
            if best < 0 or density > best_density:
                best, best_density, best_gain = looked, density, gain
        control[_MOVE], control[_BEST], record[_DENSITY], record[_GAIN] = move, best, best_density, best_gain
        if move < number:
            return False
        if best < 0 or (best_gain <= 0.0 and not short):
            return True
        for entry in range(move_start[best], move_start[best + 1]):
            if chosen[move_unit[entry]] == 0:
                flip(arrays, state, move_unit[entry])
        if single or (covering and state.scalars[MISSING] == 0):
            return True
        control[_MOVE], control[_BEST] = 0, -1
    return False
