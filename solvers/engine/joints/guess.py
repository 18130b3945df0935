"""A good set at once: the Lagrangian knapsack's own solution and greedy selection, filled up greedily."""

# mypy: disable-error-code="no-untyped-def, assignment"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np
from numba import njit

from ..reduction import TAKEN, States
from .bound import grain_of, last_row, precedence_table
from .core import Core
from .reduction import reduced


@njit(cache=True)
def _knapsack_set(lengths, skip, profit, last, grain, high, state):
    """Trace one best filling of the knapsack under precedence."""
    K = precedence_table(lengths, skip, profit, last, grain)
    room, left, i = len(last) - 1, high, 0
    while i < len(lengths):
        w = lengths[i] // grain
        if room >= w and left >= lengths[i] and K[i + 1, room - w] + profit[i] >= K[skip[i], room]:
            state[i] = 1
            room -= w
            left -= lengths[i]
            i += 1
        else:
            i = skip[i]


@njit(cache=True)
def _move(
    u,
    lengths,
    parent,
    start,
    feature,
    count,
    table_start,
    table,
    mass,
    need_start,
    need,
    und,
    veto_start,
    vetoed,
    killed,
    have,
    state,
    sign,
):
    """Take (sign 1) or put back (-1) unit u with its ancestors that are not taken (marked 1): gain and length."""
    n = len(lengths)
    gain = np.int64(0)
    length = np.int64(0)
    i = u
    while i >= 0 and state[i] != 1:
        length += lengths[i]
        gain += mass[i]
        for k in range(start[i], start[i + 1]):
            gain += _add(feature[k], sign * count[k], have, table_start, table)
        for k in range(veto_start[i], veto_start[i + 1]):
            o = vetoed[k]
            if sign > 0:
                killed[o] += 1
                if killed[o] == 1 and und[o] == 0:
                    gain += _joint(o + n, -1, start, feature, count, mass, have, table_start, table)
            else:
                killed[o] -= 1
                if killed[o] == 0 and und[o] == 0:
                    _joint(o + n, 1, start, feature, count, mass, have, table_start, table)
        for k in range(need_start[i], need_start[i + 1]):
            o = need[k]
            if sign > 0:
                und[o] -= 1
                if und[o] == 0 and killed[o] == 0:
                    gain += _joint(o + n, 1, start, feature, count, mass, have, table_start, table)
            else:
                if und[o] == 0 and killed[o] == 0:
                    _joint(o + n, -1, start, feature, count, mass, have, table_start, table)
                und[o] += 1
        i = parent[i]
    return gain, length


@njit(cache=True)
def _add(f, copies, have, table_start, table):
    first = table_start[f]
    top = table_start[f + 1] - first - 1
    before = table[first + min(have[f], top)]
    have[f] += copies
    return table[first + min(have[f], top)] - before


@njit(cache=True)
def _joint(item, sign, start, feature, count, mass, have, table_start, table):
    gain = sign * mass[item]
    for k in range(start[item], start[item + 1]):
        gain += _add(feature[k], sign * count[k], have, table_start, table)
    return gain


@njit(cache=True)
def _fill(
    lengths,
    parent,
    start,
    feature,
    count,
    table_start,
    table,
    mass,
    need_start,
    need,
    und,
    veto_start,
    vetoed,
    killed,
    high,
    state,
):
    """Add the unit, with its ancestors, of most gain a length, as long as one fits and gains."""
    n = len(lengths)
    have = np.zeros(len(table_start) - 1, np.int64)
    used = 0
    chosen = np.flatnonzero(state == 1)
    state[:] = 0
    for o in range(len(und)):
        if und[o] == 0:  # needs nothing: active until a veto is taken
            _joint(o + n, 1, start, feature, count, mass, have, table_start, table)
    for u in chosen:
        _, length = _move(
            u,
            lengths,
            parent,
            start,
            feature,
            count,
            table_start,
            table,
            mass,
            need_start,
            need,
            und,
            veto_start,
            vetoed,
            killed,
            have,
            state,
            1,
        )
        used += length
        state[u] = 1
    while True:
        best = -1
        best_gain = 0
        best_length = 1
        for u in range(n):
            if state[u] == 1:
                continue
            gain, length = _move(
                u,
                lengths,
                parent,
                start,
                feature,
                count,
                table_start,
                table,
                mass,
                need_start,
                need,
                und,
                veto_start,
                vetoed,
                killed,
                have,
                state,
                1,
            )
            _move(
                u,
                lengths,
                parent,
                start,
                feature,
                count,
                table_start,
                table,
                mass,
                need_start,
                need,
                und,
                veto_start,
                vetoed,
                killed,
                have,
                state,
                -1,
            )
            fits = gain > 0 and used + length <= high
            if fits and (best < 0 or float(gain) * best_length > float(best_gain) * length):
                best, best_gain, best_length = u, gain, length
        if best < 0:
            return
        _, length = _move(
            best,
            lengths,
            parent,
            start,
            feature,
            count,
            table_start,
            table,
            mass,
            need_start,
            need,
            und,
            veto_start,
            vetoed,
            killed,
            have,
            state,
            1,
        )
        used += length
        i = best
        while i >= 0 and state[i] != 1:
            state[i] = 1
            i = parent[i]


def good_set(core: Core) -> tuple[tuple[int, ...], int]:
    """Return a feasible set and its value; the caller has seen to it that some set is feasible.

    With a least length only the knapsack's solution, filled up, is tried: it meets the limit by itself.
    """
    at = core.at
    grain = grain_of(core)
    n, joints = core.size, core.joints
    need_order, veto_order = np.argsort(core.need_unit, kind="stable"), np.argsort(core.veto_unit, kind="stable")
    need_start, veto_start = (
        np.concatenate([[0], np.cumsum(np.bincount(units, minlength=n))]).astype(np.int64)
        for units in (core.need_unit, core.veto_unit)
    )
    best: tuple[tuple[int, ...], int] | None = None
    for from_knapsack in (True, False):
        state: States = np.zeros(n, np.int8)
        if from_knapsack:
            reach = np.zeros(core.high + 1 if grain == 1 else 1, np.int32)
            last = last_row(core.low, core.high, grain, reach)
            _knapsack_set(core.lengths, core.skip, at.profit, last, grain, core.high, state)
        elif core.low > 0:
            break
        _fill(
            core.lengths,
            core.parent,
            at.start,
            at.feature,
            at.copies,
            at.table_start,
            at.table,
            core.mass,
            need_start,
            core.need_joint[need_order],
            np.bincount(core.need_joint, minlength=joints).astype(np.int64),
            veto_start,
            core.veto_joint[veto_order],
            np.zeros(joints, np.int64),
            core.high,
            state,
        )
        value = reduced(core, state).base
        if best is None or value > best[1]:
            best = (tuple(sorted(core.ids[state == TAKEN].tolist())), value)
    assert best is not None  # noqa: S101 - the knapsack's solution is always tried
    return best
