"""Greedy search on the arrays of a `Coverage`: from the empty selection, make the best move until none helps.

Its kernel runs in slices and can be paused between any two evaluated moves, so that limits and Ctrl-C take effect on
instances of any size, without changing the outcome.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np

from optsum.coverage.instance import Coverage, IntArray, Sense, pack
from optsum.coverage.state import (
    COVER,
    LENGTH,
    MISSING,
    Arrays,
    arrays_of,
    empty_state,
    flip,
    seams_between,
    value_pair,
)
from optsum.system.clock import NEVER, Deadline, Stopped, in_strides
from optsum.system.compiled import compiles, njit

RULED: Final = 1e9  # Gain of a move for each unit by which it reduces the excess of a row: more than any value.


ALONE: Final = 1
JOINED: Final = 2


def gain_kinds(instance: Coverage, moves: Sequence[Sequence[int]]) -> IntArray:
    """Return how the gain of each move is computed (moves,).

    `ALONE`: as the sum over the features of its only unit. `JOINED`: with the seams that join this unit and the chosen
    units before and after it. 0: by making the move and taking it back.
    """
    plain = not instance.rows and not instance.ceilings
    simple = plain and (instance.goal is Sense.MINIMIZE or instance.combination.alone)
    joined = np.zeros(instance.size + 1, np.int64)  # its running sum counts the seams that join or span each unit
    others: set[int] = set()  # units of other joints
    for joint in instance.joints:
        if joint.seam:
            joined[joint.needs[0]] += 1
            joined[joint.needs[1] + 1] -= 1
        else:
            others.update(joint.needs, joint.vetoes)
    kinds = np.where(np.cumsum(joined) == 0, ALONE, JOINED if instance.goal is Sense.MAXIMIZE else 0)
    kinds[list(others)] = 0
    of_units = kinds.tolist()
    return np.array([of_units[move[0]] if simple and len(move) == 1 else 0 for move in moves], np.int64)


@njit(cache=True)
def unit_gains(copies, unit_start, unit_feature, unit_count, level_start, level, slot, covering, unit):
    """Return the gains of an added unit's features in numerator and denominator; in a cover, needed copies and 0."""
    top, bottom = np.int64(0), np.int64(0)
    for entry in range(unit_start[unit], unit_start[unit + 1]):
        feature = unit_feature[entry]
        base = level_start[feature]
        full = level_start[feature + 1] - 1 - base
        old = copies[feature]
        if old < full:
            new = min(old + unit_count[entry], full)
            if covering:
                top += new - old
            elif slot[feature] == 0:
                top += level[base + new] - level[base + old]
            else:
                bottom += level[base + new] - level[base + old]
    return top, bottom


@njit(cache=True)
def gain_of(top, bottom, old_top, old_bottom, old):
    """Return the growth of a ratio from `old`; by one division if the denominator stays, so equal gains stay equal.

    `top`, `bottom`: numerator and denominator of the new ratio, which is 0 if `bottom` is not positive.
    """
    if bottom == old_bottom:
        return (top - old_top) / bottom
    return (top / bottom if bottom > 0 else 0.0) - old


@njit(cache=True)
def _fed(copies, features, counts, level_start, level, slot, begin, end, sign):
    """Add (`sign` 1) or remove (-1) copies of entries ``begin:end``; return the change of numerator and denominator."""
    top, bottom = np.int64(0), np.int64(0)
    for entry in range(begin, end):
        feature = features[entry]
        base = level_start[feature]
        full = level_start[feature + 1] - 1 - base
        old = min(copies[feature], full)
        copies[feature] += sign * counts[entry]
        change = level[base + min(copies[feature], full)] - level[base + old]
        if slot[feature] == 0:
            top += change
        else:
            bottom += change
    return top, bottom


# Inlined, so that `sign` is a constant in each caller: searches of joined sentences take 10 % less time.
@njit(cache=True, inline="always")
def changed_joined(copies, own, tables, seams, left, unit, right, sign):
    """Return whether a unit has seams with its chosen neighbours, and the changes of numerator and denominator.

    The unit is added (`sign` 1) or dropped (-1); changes of an added unit without seams are not computed. Seams may
    share features with each other and with the unit. So copies of seams are changed first, then the unit is evaluated,
    and all copies are restored. `left`, `right`: the nearest chosen units before and after it.
    """
    unit_start, unit_feature, unit_count = own
    level_start, level, slot = tables
    seam_start, seam_second, seam_feature, seam_count = seams
    one, one_end = seams_between(seam_start, seam_second, left, unit)
    two, two_end = seams_between(seam_start, seam_second, unit, right)
    torn, torn_end = seams_between(seam_start, seam_second, left, right)
    seamed = one < one_end or two < two_end or torn < torn_end
    if sign > 0 and not seamed:
        return False, np.int64(0), np.int64(0)
    torn_top, torn_bottom = _fed(copies, seam_feature, seam_count, level_start, level, slot, torn, torn_end, -sign)
    one_top, one_bottom = _fed(copies, seam_feature, seam_count, level_start, level, slot, one, one_end, sign)
    two_top, two_bottom = _fed(copies, seam_feature, seam_count, level_start, level, slot, two, two_end, sign)
    if sign > 0:
        whole = np.bool_(False)
        top, bottom = unit_gains(copies, unit_start, unit_feature, unit_count, level_start, level, slot, whole, unit)
    else:
        begin, end = unit_start[unit], unit_start[unit + 1]
        top, bottom = _fed(copies, unit_feature, unit_count, level_start, level, slot, begin, end, sign)
        _fed(copies, unit_feature, unit_count, level_start, level, slot, begin, end, -sign)
    _fed(copies, seam_feature, seam_count, level_start, level, slot, two, two_end, -sign)
    _fed(copies, seam_feature, seam_count, level_start, level, slot, one, one_end, -sign)
    _fed(copies, seam_feature, seam_count, level_start, level, slot, torn, torn_end, sign)
    return seamed, top + torn_top + one_top + two_top, bottom + torn_bottom + one_bottom + two_bottom


_FIRST_SLICE: Final = 20_000

_MOVE, _BEST, _EVALUATIONS = 0, 1, 2
_DENSITY, _GAIN = 0, 1


Moves: TypeAlias = tuple[IntArray, IntArray, IntArray]  # Starts and units of moves (`pack`), and their `gain_kinds`.


def moves_of(instance: Coverage, deadline: Deadline = NEVER) -> Moves:
    """Return the moves of a climb: each unit, or what a joint needs, with ancestors (`Coverage.parents`)."""
    joints = (joint.needs for joint in deadline.watching(instance.joints))
    needed = chain(((unit,) for unit in range(instance.size)), joints)
    moves = list(dict.fromkeys(map(instance.closure, needed)))
    return *pack(moves), gain_kinds(instance, moves)


class Climber:
    """A greedy search that can be paused.

    `single`: make one move only, chosen by gain, not by gain per length (Hirao et al. 2017, Algorithm 2, line 11).
    """

    def __init__(self, arrays: Arrays, moves: Moves, *, single: bool = False) -> None:
        self._state = empty_state(arrays)
        gone = np.zeros(len(moves[2]), np.int64)  # 1 for moves that are made, or will not fit any more
        flipped = np.zeros(len(arrays.lengths), np.int64)  # a buffer for the units of the move that is evaluated
        # The next move to evaluate, the best move of this round or -1, and the number of all evaluated moves.
        self._control = np.array([0, -1, 0])
        best = np.zeros(2)  # gain per length and gain of the best move of this round
        place = self._state, gone, flipped, self._control, best
        self._work, self._go = partial(_go_on, arrays, place, moves, single), in_strides(_FIRST_SLICE)

    @property
    def units(self) -> tuple[int, ...]:
        return tuple(self._state.chosen.nonzero()[0].tolist())

    @property
    def evaluations(self) -> int:
        return int(self._control[_EVALUATIONS])

    def go_on(self, most: int | None = None) -> bool:
        """Climb for some milliseconds, but at most about `most` evaluations; return whether the climb has ended."""
        return bool(self._go(self._work, most))


def climbers_of(instance: Coverage, deadline: Deadline = NEVER) -> tuple[Climber, Climber] | None:
    """Return two climbers, by gain per length and by the best single move; None if the instance does not fit 64 bits.

    `Stopped` is raised if the deadline passes before the moves are built.
    """
    arrays = arrays_of(instance)
    if arrays is None:
        return None
    moves = moves_of(instance, deadline)
    return Climber(arrays, moves), Climber(arrays, moves, single=True)


def climb(instance: Coverage, deadline: Deadline = NEVER) -> Climber | None:
    """Climb by gain per length until no move helps or the deadline passes.

    The result is None if the deadline passes before the first move, or if the instance does not fit 64 bits.
    """
    try:
        climbers = None if deadline.passed else climbers_of(instance, deadline)
    except Stopped:
        return None
    while climbers and not deadline.passed and not climbers[0].go_on():
        pass
    return climbers[0] if climbers else None


def climbs(instance: Coverage, lengths: Iterable[int], deadline: Deadline = NEVER) -> Iterator[list[tuple[int, ...]]]:
    """Yield, for each maximum length, the greedy selections by gain per length and by the best single move.

    `lengths`: descending. A climb that ends at length l under the maximum L is the same for every maximum from l to L,
    so few climbs serve all lengths.
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
def prepare_climb() -> None:
    climb(Coverage.of([1], [{0: 1}], [[1]]))


@njit(cache=True)
def _go_on(arrays: Any, place: Any, moves: Any, single: bool, work: int) -> bool:
    """Evaluate moves, for about `work` steps, and make the best of each round; return whether the climb has ended."""
    state, gone, flipped, control, record = place
    move_start, move_unit, quick = moves
    number = len(quick)
    # Local names: reading the arrays from their tuples for each unit would take longer than the work on the unit.
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
            if held or before_length + added > max_length:  # then it never fits later
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
                if covered < 0:  # the move violates a row
                    continue
            # In a cover, the gain of a move is the number of missing copies that it adds.
            gain = float(covered) if covering else gain_of(top, bottom, before_top, before_bottom, before)
            if ruled and not covering:
                gain += RULED * covered
            density = gain
            if not single and added > 0:
                density = gain / added
            elif not single and gain > 0:  # the guarantee requires that units of length 0 come first
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
