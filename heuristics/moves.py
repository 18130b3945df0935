"""Moves of local search on the normal form, and the kernels of descents (to a local optimum) and walks (beyond it).

A move adds a unit with its missing ancestors, adds all units that a joint (`optsum.coverage.instance.Joint`) needs, or
drops a unit with its chosen descendants. Parents always precede their children. Selections are ranked by violation,
value and length, as the shorter of two leaves more length to other units. Ranks are compared in integers.

Most moves are evaluated without being made. A step changes few units, and often not the gain of a further copy of their
features; therefore the gain of each unit is updated (`MoveTable`), not summed again.

The descent tries add, drop, swap, swap by density and swap of two, until none of them helps. A swap drops a unit and
refills the length that it leaves, best move first, so one unit is exchanged for one or more. The descent can be paused
after any step and resumed with the same outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from optsum.contracts.strategy import Run
from optsum.coverage.greedy import JOINED, RULED, changed_joined, gain_kinds, gain_of, unit_gains
from optsum.coverage.instance import Coverage, IntArray, Sense, gains_alone, grouped, kernel_array, pack, packed_rows
from optsum.coverage.state import (
    CHOSEN,
    COVER,
    LENGTH,
    MISSING,
    RATIO,
    Arrays,
    State,
    arrays_of,
    empty_state,
    flip,
    value_pair,
)
from optsum.problem.problem import Capability
from optsum.system.clock import Stopped, in_strides
from optsum.system.compiled import compiles, njit


class MoveTable(NamedTuple):
    """The gain of each unit, and the copies of features in the selection for which gains were computed."""

    # (units,): the amount that the features of each unchosen unit would add to the numerator; empty without a table.
    gains: IntArray
    copies: IntArray  # (features,): the copies for which the gains are valid.
    # holder_start, holder, holder_count: packed: the units that have each feature, and their numbers of copies.
    holder_start: IntArray
    holder: IntArray
    holder_count: IntArray
    most: IntArray  # (features,): the largest number of copies that one unit has.
    rising: int  # 1 if there is a table and no copy has a negative gain.


def table_of(instance: Coverage, quick: IntArray) -> MoveTable:
    """Return the table of an instance for the empty selection; empty unless all features feed one numerator."""
    if instance.goal is not Sense.MAXIMIZE or not (quick > 0).any() or (instance.slot != 0).any():
        none = np.zeros(0, np.int64)
        return MoveTable(none, none, none, none, none, none, 0)
    start, order = grouped(instance.unit_feature, instance.features)
    most = np.zeros(instance.features, np.int64)
    np.maximum.at(most, instance.unit_feature, instance.unit_count)
    within = np.ones(len(instance.level), bool)
    within[instance.level_start[:-1]] = False
    falling = (np.diff(instance.level, prepend=0) < 0) & within
    return MoveTable(
        gains_alone(instance, 0) - instance.mass[0],
        np.zeros(instance.features, np.int64),
        start,
        kernel_array(packed_rows(instance.unit_start)[order]),
        kernel_array(instance.unit_count[order]),
        most,
        int(not falling.any()),
    )


@njit(cache=True)
def learn(table: Any, copies: Any, level_start: Any, level: Any) -> None:
    gains, known, holder_start, holder, holder_count, most, _ = table
    for feature in range(len(known)):
        was, now = known[feature], copies[feature]
        if was == now:
            continue
        known[feature] = now
        base = level_start[feature]
        full = level_start[feature + 1] - 1 - base
        old, new = min(was, full), min(now, full)
        same = True
        for count in range(1, most[feature] + 1):
            before = level[base + min(old + count, full)] - level[base + old]
            same = same and before == level[base + min(new + count, full)] - level[base + new]
        if same:
            continue
        for entry in range(holder_start[feature], holder_start[feature + 1]):
            count = holder_count[entry]
            before = level[base + min(old + count, full)] - level[base + old]
            gains[holder[entry]] += level[base + min(new + count, full)] - level[base + new] - before


class Neighbourhood(NamedTuple):
    """The moves of an instance."""

    # add_start, add_unit: packed: the units that each adding move chooses; the first moves belong to the units, in
    # order.
    add_start: IntArray
    add_unit: IntArray
    # drop_start, drop_unit: packed: each unit with its descendants.
    drop_start: IntArray
    drop_unit: IntArray
    quick: IntArray  # (moves,): see `optsum.coverage.greedy.gain_kinds`.
    table: MoveTable  # Gains of units at the selection whose additions were evaluated last.
    option_start: IntArray  # (features + 1,): for covers, where each feature's options (units that give a copy) begin.
    # needed_start, needed_unit: packed: the units that each option needs.
    needed_start: IntArray
    needed_unit: IntArray


def neighbourhood_of(instance: Coverage) -> Neighbourhood:
    closures = [instance.closure((unit,)) for unit in range(instance.size)]
    descendants: list[list[int]] = [[] for _ in closures]
    for unit, closure in enumerate(closures):
        for ancestor in closure:
            descendants[ancestor].append(unit)
    of_joints = (instance.closure(joint.needs) for joint in instance.joints if len(joint.needs) > 1 and not joint.seam)
    moves = list(dict.fromkeys([*closures, *of_joints]))
    if len(moves) > 5 * instance.size:  # too many: then no move adds all units of an occurrence
        moves = closures
    quick = gain_kinds(instance, moves)
    options: list[list[tuple[int, ...]]] = []
    if instance.goal is Sense.MINIMIZE:
        options = [[] for _ in range(instance.features)]
        for unit in range(instance.size):
            for feature in instance.unit_feature[instance.unit_start[unit] : instance.unit_start[unit + 1]].tolist():
                options[feature].append((unit,))
        for joint in instance.joints:
            options[joint.feature].append(joint.needs)
    starts = np.cumsum([0, *map(len, options)], dtype=np.int64)
    needed = pack([one for each in options for one in each])
    return Neighbourhood(*pack(moves), *pack(descendants), quick, table_of(instance, quick), starts, *needed)


def on_arrays(run: Run) -> tuple[Arrays, Neighbourhood] | None:
    """Return the arrays of a problem and its moves; None if kernels do not support it."""
    if not run.problem.can(Capability.COVERAGE) or run.problem.coverage.ceilings:
        return None  # descents compare totals of features, which ceilings make too large
    arrays = arrays_of(run.problem.coverage)
    return None if arrays is None else (arrays, neighbourhood_of(run.problem.coverage))


@njit(cache=True)
def below(draws: Any, stop: int) -> int:
    """Return a random integer from 0 to stop - 1; `draws` is the state of the generator, one integer.

    It comes from the upper bits of a 64-bit linear congruential generator, which gives the same numbers on every
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
    violation: int = max(0, length - arrays.max_length, arrays.min_length - length)
    return violation


@njit(cache=True)
def ahead(one: Any, other: Any) -> int:
    """Return 1 if a rank is better than another, -1 if it is worse, 0 if they differ at most in the length."""
    if one[0] != other[0]:
        return 1 if one[0] < other[0] else -1
    difference = one[1] * other[2] - other[1] * one[2]
    return 1 if difference > 0 else -1 if difference < 0 else 0


@njit(cache=True)
def improves(one: Any, other: Any) -> bool:
    """Return whether a rank is better than another, or as good and shorter."""
    order = ahead(one, other)
    return order > 0 or (order == 0 and bool(one[3] < other[3]))


@njit(cache=True)
def rank_flipped(arrays: Any, state: Any, unit: int) -> Any:
    """Return the rank (see `rank`) that a state would have if a unit were flipped."""
    joined = arrays.need_start[unit + 1] > arrays.need_start[unit] or len(arrays.seam_second) > 0
    joined = joined or arrays.veto_start[unit + 1] > arrays.veto_start[unit]
    if joined or arrays.ruled == 1 or (arrays.kind != RATIO and arrays.kind != COVER):
        flip(arrays, state, unit)
        found = rank(arrays, state)
        flip(arrays, state, unit)
        return found
    # All other ranks are computed without changing the state.
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
def rank_all_flipped(arrays: Any, state: Any, start: Any, units: Any, move: int, last: int, turned: Any) -> Any:
    """Return the rank after flipping all units of a move that are in the same state, chosen or not, as `last`."""
    held, count = state.chosen[last], np.int64(0)
    for entry in range(start[move], start[move + 1]):
        unit = units[entry]
        if unit != last and state.chosen[unit] == held:
            flip(arrays, state, unit)
            turned[count] = unit
            count += 1
    found = rank_flipped(arrays, state, last)
    for place in range(count):
        flip(arrays, state, turned[place])
    return found


@njit(cache=True)
def add(arrays: Any, moves: Any, state: Any, move: int) -> None:
    for entry in range(moves.add_start[move], moves.add_start[move + 1]):
        if state.chosen[moves.add_unit[entry]] == 0:
            flip(arrays, state, moves.add_unit[entry])


@njit(cache=True)
def drop(arrays: Any, moves: Any, state: Any, unit: int, barred: Any, mark: int) -> None:
    """Drop a unit and its chosen descendants, and set their entries of `barred` to `mark`."""
    for entry in range(moves.drop_start[unit], moves.drop_start[unit + 1]):
        member = moves.drop_unit[entry]
        if state.chosen[member] == 1:
            flip(arrays, state, member)
            barred[member] = mark


@njit(cache=True)
def overwrite(target: Any, source: Any) -> None:
    """Copy an array into another; a slice assignment would make numba compile its error messages."""
    for place in range(len(source)):
        target[place] = source[place]


@njit(cache=True)
def become(arrays: Any, state: Any, chosen: Any) -> None:
    for unit in range(len(chosen)):
        if state.chosen[unit] != chosen[unit]:
            flip(arrays, state, unit)


@njit(cache=True)
def exchange(arrays: Any, moves: Any, descent: Any, resting: Any, strength: int) -> None:
    """Drop `strength` units, smallest loss per length first, and refill the length without them.

    The exchange is made even if it does not help, as in strategic oscillation (Glover 1989). Units that moved in the
    previous step (`resting`) are not moved, so that the step is not undone.
    """
    state, barred, held, draws = descent.state, descent.barred, descent.held, descent.draws
    n = len(barred)
    overwrite(held, state.chosen)
    overwrite(barred, resting)
    evaluations = np.int64(1)
    for _ in range(strength):
        unit, looked = best_drop(arrays, moves, state, np.bool_(True), barred, draws, 0.1)
        evaluations += looked
        if unit < 0:
            break
        drop(arrays, moves, state, unit, barred, np.int64(1))
    for unit in range(n):
        barred[unit] *= 1 - state.chosen[unit]
    dense = np.bool_(below(draws, np.int64(4)) > 0)  # one refill in four adds by gain
    evaluations += settle(arrays, moves, descent, dense)
    if rank(arrays, state)[0] > 0:  # dropped units are needed
        for unit in range(n):
            barred[unit] = 0
        evaluations += settle(arrays, moves, descent, dense)
    for unit in range(n):
        barred[unit] = 0
        resting[unit] = int(state.chosen[unit] != held[unit])
    descent.control[EVALUATIONS] += evaluations


@njit(cache=True)
def best_add(arrays: Any, moves: Any, state: Any, barred: Any, draws: Any, dense: bool, noise: float) -> Any:
    """Return the adding move of largest gain that fits, or -1, and the number of evaluated moves.

    `barred` (units,): nonzero for units that no move may choose. `dense`: compare gains per added length (Hirao et al.
    2017, Algorithm 2) instead of gains. `noise`: each gain is multiplied by a random factor from 1 - noise to 1.
    """
    before = rank(arrays, state)
    value = before[1] / before[2]
    turned = np.empty(len(state.chosen), np.int64)
    # Local names: reading the arrays from their tuples for each unit would take longer than the work on the unit.
    own = unit_start, unit_feature, unit_count = arrays.unit_start, arrays.unit_feature, arrays.unit_count
    tables = level_start, level, slot = arrays.level_start, arrays.level, arrays.slot
    seams = arrays.seam_start, arrays.seam_second, arrays.seam_feature, arrays.seam_count
    lengths, mass = arrays.lengths, arrays.mass
    chosen, copies = state.chosen, state.copies
    add_start, add_unit, quick = moves.add_start, moves.add_unit, moves.quick
    top_before, bottom_before, held_length, max_length = state.totals[0], state.totals[1], before[3], arrays.max_length
    gains, tabled = moves.table.gains, len(moves.table.gains) > 0
    if tabled:
        learn(moves.table, copies, level_start, level)
    covering, ruled = arrays.kind == COVER, arrays.ruled == 1
    best: Any = np.int64(-1)
    best_gain, evaluations = 0.0, np.int64(0)
    n = len(chosen)
    left, right = np.int64(-1), np.int64(0)  # the chosen units before and after a unit that has seams
    for move in range(len(add_start) - 1):
        last: Any = add_unit[add_start[move]]
        length = held_length + lengths[last]
        if quick[move] > 0:  # lengths are checked first, because most moves do not fit
            if length > max_length or chosen[last] == 1 or barred[last] != 0:
                continue
        else:
            last, length, allowed = np.int64(-1), held_length, True
            for entry in range(add_start[move], add_start[move + 1]):
                unit = add_unit[entry]
                if chosen[unit] == 0:
                    last = unit
                    length += lengths[unit]
                    allowed = allowed and barred[unit] == 0
            if last < 0 or not allowed or length > max_length:
                continue
        evaluations += 1
        if quick[move] > 0:
            joined = False
            if quick[move] == JOINED:
                while right < n and (right < last or chosen[right] == 0):
                    if chosen[right] == 1:
                        left = right
                    right += 1
                joined, top, bottom = changed_joined(copies, own, tables, seams, left, last, right, np.int64(1))
            if tabled and not joined:
                top, bottom = gains[last], np.int64(0)
            elif not joined:
                top, bottom = unit_gains(
                    copies, unit_start, unit_feature, unit_count, level_start, level, slot, covering, last
                )
            top += top_before + mass[0, last]
            bottom += bottom_before + mass[1, last]
            gain = float(top - top_before) if covering else gain_of(top, bottom, before[1], before[2], value)
            if gain <= 0.0 and (covering or before[0] == 0 or length == held_length):
                continue
        else:
            found = rank_all_flipped(arrays, state, add_start, add_unit, move, last, turned)
            gain = float(before[0] - found[0]) if covering else gain_of(found[1], found[2], before[1], before[2], value)
            if found[0] > before[0] or (gain <= 0.0 and ahead(found, before) <= 0):
                continue
            if ruled and not covering:
                gain += RULED * (before[0] - found[0])
        added = length - held_length
        if dense and added > 0:
            gain /= added
        elif dense and gain > 0.0:  # units of length 0 come first
            gain *= 1e12
        if noise > 0.0 and gain > 0.0:
            gain *= 1.0 - noise * below(draws, np.int64(1024)) / 1024.0
        if best < 0 or gain > best_gain:
            best, best_gain = move, gain
    return best, evaluations


@njit(cache=True)
def best_drop(arrays: Any, moves: Any, state: Any, forced: bool, barred: Any, draws: Any, noise: float) -> Any:
    """Return the best unit to drop with its descendants (-1 if none), and the number of evaluated moves.

    `forced`: choose the smallest loss per length (for a cover, the fewest uncovered), even if the rank gets worse;
    otherwise choose the best rank, if it is better than now. `barred` (units,): nonzero for units that a forced drop
    must keep. `noise`: each loss is multiplied by a random factor from 1 to 1 + noise.
    """
    before = rank(arrays, state)
    value = before[1] / before[2]
    turned = np.empty(len(state.chosen), np.int64)
    own = unit_start, unit_feature, unit_count = arrays.unit_start, arrays.unit_feature, arrays.unit_count
    tables = level_start, level, slot = arrays.level_start, arrays.level, arrays.slot
    seams = arrays.seam_start, arrays.seam_second, arrays.seam_feature, arrays.seam_count
    lengths, mass = arrays.lengths, arrays.mass
    chosen, copies, drop_start, quick = state.chosen, state.copies, moves.drop_start, moves.quick
    covering = arrays.kind == COVER
    best: Any = np.int64(-1)
    best_rank, best_loss, evaluations = before, 0.0, np.int64(0)
    rising = moves.table.rising == 1 and not forced and before[0] == 0
    n = len(chosen)
    left, here = np.int64(-1), np.int64(-1)
    for unit in range(n):
        if chosen[unit] == 0:
            continue
        left, here = here, np.int64(unit)
        if forced and barred[unit] != 0:
            continue
        evaluations += 1
        if quick[unit] == 0 or drop_start[unit + 1] - drop_start[unit] > 1:
            found = rank_all_flipped(arrays, state, drop_start, moves.drop_unit, unit, unit, turned)
        else:
            length = before[3] - lengths[unit]
            violation = violation_of(arrays, length)
            if covering:
                violation += state.scalars[MISSING]
                top, bottom = -length, np.int64(1)
            else:
                top, bottom = state.totals[0] - mass[0, unit], state.totals[1] - mass[1, unit]
            if quick[unit] == JOINED:
                right = here + 1
                while right < n and chosen[right] == 0:
                    right += 1
                _, less_top, less_bottom = changed_joined(copies, own, tables, seams, left, here, right, np.int64(-1))
                top, bottom = top + less_top, bottom + less_bottom
            else:
                for entry in range(unit_start[unit], unit_start[unit + 1]):
                    feature = unit_feature[entry]
                    base = level_start[feature]
                    full = level_start[feature + 1] - 1 - base
                    new = copies[feature] - unit_count[entry]
                    if new < full:
                        old = min(copies[feature], full)
                        if covering:
                            violation += old - new
                        elif slot[feature] == 0:
                            top -= level[base + old] - level[base + new]
                        else:
                            bottom -= level[base + old] - level[base + new]
                        if rising and top < before[1] and bottom == before[2]:
                            break  # the value is already less, and further features cannot raise it
            if bottom <= 0:
                top, bottom = np.int64(0), np.int64(1)
            found = violation, top, bottom, length
        if forced:
            lost = float(found[0] - before[0]) if covering else value - found[1] / found[2]
            loss = lost / max(1, before[3] - found[3])
            if noise > 0.0:
                loss *= 1.0 + noise * below(draws, np.int64(1024)) / 1024.0
            if best < 0 or loss < best_loss:
                best, best_loss = unit, loss
        elif improves(found, best_rank):
            best, best_rank = unit, found
    return best, evaluations


PHASE, CURSOR, SECOND, IDLE, PAIRS, EVALUATIONS = 0, 1, 2, 3, 4, 5
_SETTLE, _SWAP, _SWAP_DENSE, _SWAP_TWO, OPTIMUM = 0, 1, 2, 3, 4


class Descent(NamedTuple):
    """The state of a descent that can be paused."""

    state: State  # The selection that it has reached.
    held: IntArray  # (units,): a buffer for the selection before a move.
    barred: IntArray  # (units,): not 0 for units that may not be chosen.
    # (6,): phase, the first and the second unit to be dropped next, units tried since the last improvement, whether
    # swaps of two units are wanted, moves evaluated so far.
    control: IntArray
    draws: IntArray  # (1,): state of the random generator (`optsum.heuristics.moves.below`).


def start(arrays: Arrays, chosen: IntArray, seed: int = 0, *, pairs: bool = True) -> Descent:
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


class Slices:
    """A runner that continues a descent for a short time at once, so that limits and Ctrl-C take effect."""

    def __init__(self, run: Run, descent: Descent) -> None:
        self._run, self._descent, self._go = run, descent, in_strides(2_000)
        self.done = 0

    def go(self, kernel: Callable[[int], bool], held: Callable[[], Iterable[int]] | None = None) -> bool:
        """Check the limits, run the kernel for a short time, count its evaluations, and return the kernel's result.

        `kernel`: function of the total number of evaluations at which it must pause. `held`: function that returns the
        selection to report if the search ends here; by default that of the descent.
        """
        run, most = self._run, self._run.limits.evaluations
        try:
            run.check()
            left = None if most is None else most - run.evaluations
            answer = self._go(lambda size: kernel(self.done + size), left)
            total = int(self._descent.control[EVALUATIONS])
            run.count(evaluations=total - self.done)
            self.done = total
            return bool(answer)
        except (Stopped, KeyboardInterrupt):
            run.see(self._descent.state.chosen.nonzero()[0] if held is None else held())
            raise


def tiny() -> tuple[Arrays, Neighbourhood, IntArray]:
    """Return the arrays of a tiny instance of one unit, its moves and a selection, to compile kernels with."""
    instance = Coverage.of([1], [{0: 1}], [[1]])
    arrays = arrays_of(instance)
    assert arrays is not None  # noqa: S101 - its numbers are small
    return arrays, neighbourhood_of(instance), np.ones(1, np.int64)


@compiles
def prepare() -> None:
    arrays, moves, chosen = tiny()
    descend(arrays, moves, start(arrays, chosen), 1)


@njit(cache=True)
def restart(descent: Any, pairs: int) -> None:
    control = descent.control
    control[PHASE], control[CURSOR], control[SECOND], control[IDLE], control[PAIRS] = _SETTLE, 0, 1, 0, pairs


@njit(cache=True)
def _cover(arrays: Any, moves: Any, descent: Any) -> Any:
    """Add the shortest option (units with a copy) of each feature that lacks copies; return the number tried.

    The first feature is random. Evaluating the options of all features for each addition would take too long.
    """
    state, barred, draws, evaluations = descent.state, descent.barred, descent.draws, np.int64(0)
    options, start, units = moves.option_start, moves.needed_start, moves.needed_unit
    features = len(options) - 1
    feature = below(draws, max(1, features))
    idle = 0
    while idle < features and state.scalars[MISSING] > 0:
        full = arrays.level_start[feature + 1] - 1 - arrays.level_start[feature]
        best, best_added, ties = -1, np.int64(0), 0
        if state.copies[feature] < full:
            for option in range(options[feature], options[feature + 1]):
                added, count, allowed = np.int64(0), 0, True
                for entry in range(start[option], start[option + 1]):
                    unit = units[entry]
                    if state.chosen[unit] == 0:
                        added += arrays.lengths[unit]
                        count += 1
                        allowed = allowed and barred[unit] == 0
                if count == 0 or not allowed:
                    continue
                evaluations += 1
                ties = 1 if best < 0 or added < best_added else ties + (added == best_added)
                if best < 0 or added < best_added or (added == best_added and below(draws, np.int64(ties)) == 0):
                    best, best_added = option, added
        if best < 0:
            idle += 1
            feature = feature + 1 if feature + 1 < features else 0
            continue
        idle = 0
        for entry in range(start[best], start[best + 1]):
            add(arrays, moves, state, units[entry])
    return evaluations


@njit(cache=True)
def refill(arrays: Any, moves: Any, descent: Any, dense: bool, noise: float) -> Any:
    """Add helpful moves that fit, best first; return the number of evaluated moves."""
    evaluations = np.int64(0)
    # Under limits, or if units veto joints, an option may do harm, be dropped and be added again without end.
    harmless = arrays.ruled == 0 and len(arrays.veto_joint) == 0 and len(arrays.seam_second) == 0
    if arrays.kind == COVER and harmless and arrays.max_length >= arrays.lengths.sum():
        evaluations += _cover(arrays, moves, descent)
        if descent.state.scalars[MISSING] == 0:
            return evaluations
    while True:
        move, looked = best_add(arrays, moves, descent.state, descent.barred, descent.draws, dense, noise)
        evaluations += looked
        if move < 0:
            return evaluations
        add(arrays, moves, descent.state, move)


@njit(cache=True)
def _thin(arrays: Any, moves: Any, descent: Any) -> Any:
    """Drop units that a cover does not need, from a random unit on; return the number of evaluated moves."""
    state, n, evaluations = descent.state, len(descent.state.chosen), np.int64(0)
    first = below(descent.draws, n)
    for place in range(n):
        unit = (first + place) % n
        if state.chosen[unit] == 1 and moves.drop_start[unit + 1] - moves.drop_start[unit] == 1:
            evaluations += 1
            if rank_flipped(arrays, state, unit)[0] <= rank(arrays, state)[0]:
                drop(arrays, moves, state, unit, descent.barred, np.int64(0))
    return evaluations


@njit(cache=True)
def settle(arrays: Any, moves: Any, descent: Any, dense: bool) -> Any:
    """Drop units to the maximum length, then add and drop while the rank improves; return the number of tried moves."""
    state, barred, evaluations = descent.state, descent.barred, np.int64(0)
    if arrays.kind == COVER and state.scalars[CHOSEN] > 2 * len(state.copies):  # best units first would take too long
        evaluations += _thin(arrays, moves, descent)
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
    """Continue to a local optimum, or until `until` moves are evaluated in total; return whether it was reached."""
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
                control[PHASE] = _SETTLE  # dropped units may help again
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
