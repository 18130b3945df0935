"""The best move that adds, and the best that drops: where a local search spends its time."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.coverage.gains import ALONE, JOINED, RULED, brought, changed_joined, gain_of
from optsum.coverage.state import COVER, MISSING
from optsum.system.compiled import njit

from .neighbourhood import ahead, below, improves, look_at_all, rank, violation_of
from .table import learn


@njit(cache=True)
def best_add(arrays: Any, moves: Any, state: Any, barred: Any, draws: Any, dense: bool, noise: float) -> Any:
    """Return the adding move that fits and gains most, or -1, and how many were evaluated.

    Parameters
    ----------
    barred : (units,)
        Units that no move may choose are not 0.
    draws : (1,)
        State of the generator, see `below`.
    dense : bool
        Compare gains per added length (Hirao et al. 2017, Algorithm 2), not gains.
    noise : float
        Each gain is multiplied by a random factor from 1 - noise to 1.
    """
    before = rank(arrays, state)
    value = before[1] / before[2]
    turned = np.empty(len(state.chosen), np.int64)
    # Arrays by themselves: taken out of their tuples for each unit anew, they cost more than what is done with them.
    lengths, unit_start, unit_feature, unit_count = (
        arrays.lengths,
        arrays.unit_start,
        arrays.unit_feature,
        arrays.unit_count,
    )
    level_start, level, slot, mass = arrays.level_start, arrays.level, arrays.slot, arrays.mass
    chosen, copies, add_start, add_unit, quick = (
        state.chosen,
        state.copies,
        moves.add_start,
        moves.add_unit,
        moves.quick,
    )
    top_before, bottom_before, held_length, max_length = state.totals[0], state.totals[1], before[3], arrays.max_length
    seam_start, seam_second, seam_feature, seam_count = (
        arrays.seam_start,
        arrays.seam_second,
        arrays.seam_feature,
        arrays.seam_count,
    )
    gains, tabled = moves.table.gains, len(moves.table.gains) > 0
    if tabled:
        learn(moves.table, copies, level_start, level)
    covering, ruled = arrays.kind == COVER, arrays.ruled == 1
    best: Any = np.int64(-1)
    best_gain, evaluations = 0.0, np.int64(0)
    n = len(chosen)
    left, right = np.int64(-1), np.int64(0)  # the chosen units before and after one that has seams
    for move in range(len(add_start) - 1):
        last: Any = add_unit[add_start[move]]
        length = held_length + lengths[last]
        if quick[move] > 0:  # most do not fit: that is asked before anything else
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
                joined, top, bottom = changed_joined(
                    copies,
                    unit_start,
                    unit_feature,
                    unit_count,
                    level_start,
                    level,
                    slot,
                    seam_start,
                    seam_second,
                    seam_feature,
                    seam_count,
                    left,
                    last,
                    right,
                    np.int64(1),
                )
            if tabled and not joined:
                top, bottom = gains[last], np.int64(0)
            elif not joined:
                top, bottom = brought(
                    copies, unit_start, unit_feature, unit_count, level_start, level, slot, covering, last
                )
            top += top_before + mass[0, last]
            bottom += bottom_before + mass[1, last]
            gain = float(top - top_before) if covering else gain_of(top, bottom, before[1], before[2], value)
            if gain <= 0.0 and (covering or before[0] == 0 or length == held_length):
                continue
        else:
            found = look_at_all(arrays, state, add_start, add_unit, move, last, turned)
            gain = float(before[0] - found[0]) if covering else gain_of(found[1], found[2], before[1], before[2], value)
            if found[0] > before[0] or (gain <= 0.0 and ahead(found, before) <= 0):
                continue
            if ruled and not covering:
                gain += RULED * (before[0] - found[0])
        added = length - held_length
        if dense and added > 0:
            gain /= added
        elif dense and gain > 0.0:  # what costs nothing comes first
            gain *= 1e12
        if noise > 0.0 and gain > 0.0:
            gain *= 1.0 - noise * below(draws, np.int64(1024)) / 1024.0
        if best < 0 or gain > best_gain:
            best, best_gain = move, gain
    return best, evaluations


@njit(cache=True)
def best_drop(arrays: Any, moves: Any, state: Any, forced: bool, barred: Any, draws: Any, noise: float) -> Any:
    """Return the unit that is best dropped, with its descendants, or -1, and how many were evaluated.

    Parameters
    ----------
    forced : bool
        The one that loses least per length (of a cover, that uncovers least), whether or not that is better than to
        drop none; otherwise the one after which the rank is best, if it is better than now.
    barred : (units,)
        Units that stay, if one is forced, are not 0.
    draws : (1,)
        State of the generator, see `below`.
    noise : float
        Each loss is multiplied by a random factor from 1 to 1 + noise.
    """
    before = rank(arrays, state)
    value = before[1] / before[2]
    turned = np.empty(len(state.chosen), np.int64)
    lengths, unit_start, unit_feature, unit_count = (
        arrays.lengths,
        arrays.unit_start,
        arrays.unit_feature,
        arrays.unit_count,
    )
    level_start, level, slot, mass = arrays.level_start, arrays.level, arrays.slot, arrays.mass
    chosen, copies, drop_start, quick = state.chosen, state.copies, moves.drop_start, moves.quick
    covering = arrays.kind == COVER
    best: Any = np.int64(-1)
    best_rank, best_loss, evaluations = before, 0.0, np.int64(0)
    seam_start, seam_second, seam_feature, seam_count = (
        arrays.seam_start,
        arrays.seam_second,
        arrays.seam_feature,
        arrays.seam_count,
    )
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
        if quick[unit] == ALONE and drop_start[unit + 1] - drop_start[unit] == 1:
            length = before[3] - lengths[unit]
            violation = violation_of(arrays, length)
            if covering:
                violation += state.scalars[MISSING]
                top, bottom = -length, np.int64(1)
            else:
                top, bottom = state.totals[0] - mass[0, unit], state.totals[1] - mass[1, unit]
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
                        break  # it is less already, and what follows makes it no more
            if bottom <= 0:
                top, bottom = np.int64(0), np.int64(1)
            found = violation, top, bottom, length
        elif quick[unit] == JOINED and drop_start[unit + 1] - drop_start[unit] == 1:
            right = here + 1
            while right < n and chosen[right] == 0:
                right += 1
            _, top, bottom = changed_joined(
                copies,
                unit_start,
                unit_feature,
                unit_count,
                level_start,
                level,
                slot,
                seam_start,
                seam_second,
                seam_feature,
                seam_count,
                left,
                here,
                right,
                np.int64(-1),
            )
            length = before[3] - lengths[unit]
            top, bottom = top + state.totals[0] - mass[0, unit], bottom + state.totals[1] - mass[1, unit]
            if bottom <= 0:
                top, bottom = np.int64(0), np.int64(1)
            found = violation_of(arrays, length), top, bottom, length
        else:
            found = look_at_all(arrays, state, drop_start, moves.drop_unit, unit, unit, turned)
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
