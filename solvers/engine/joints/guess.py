"""A good set at once: the Lagrangian knapsack's own solution and greedy selection, filled up greedily."""

# mypy: disable-error-code="no-untyped-def, assignment"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..reduction import TAKEN, States
from .bound import grain_of, last_row, precedence_table
from .instance.core import Core
from .instance.reduction import reduced


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


class Filling(NamedTuple):
    """A core for the filler, and the selection of the moment.

    Attributes
    ----------
    lengths, parent, start, feature, copies, table_start, table, mass :
        As in `core.Core`, and the features as in `core.Priced`.
    need_start, need, veto_start, veto :
        Joints that each unit is needed by, and that it vetoes.
    und, killed : (joints,)
        Units that are still needed, and vetoing units that are taken.
    have : (features,) copies in what is taken
    state : (n,) `TAKEN` for the units that are taken
    """

    lengths: IntArray
    parent: IntArray
    start: IntArray
    feature: IntArray
    copies: IntArray
    table_start: IntArray
    table: IntArray
    mass: IntArray
    need_start: IntArray
    need: IntArray
    veto_start: IntArray
    veto: IntArray
    und: IntArray
    killed: IntArray
    have: IntArray
    state: States


@njit(cache=True)
def _move(u, at, sign):
    """Take (sign 1) or put back (-1) unit u with its ancestors that are not taken: gain and length."""
    gain = np.int64(0)
    length = np.int64(0)
    i = u
    while i >= 0 and at.state[i] != 1:
        length += at.lengths[i]
        gain += _add(at, i, sign)
        for k in range(at.veto_start[i], at.veto_start[i + 1]):
            o = at.veto[k]
            was = at.killed[o]
            at.killed[o] += sign
            if at.und[o] == 0 and min(was, at.killed[o]) == 0:
                gain += _add(at, o + len(at.lengths), -sign)
        for k in range(at.need_start[i], at.need_start[i + 1]):
            o = at.need[k]
            was = at.und[o]
            at.und[o] -= sign
            if at.killed[o] == 0 and min(was, at.und[o]) == 0:
                gain += _add(at, o + len(at.lengths), sign)
        i = at.parent[i]
    return gain, length


@njit(cache=True)
def _add(at, item, sign):
    """Add an item's mass and copies, or take them away; return what that gains."""
    gain = sign * at.mass[item]
    for k in range(at.start[item], at.start[item + 1]):
        f = at.feature[k]
        first = at.table_start[f]
        top = at.table_start[f + 1] - first - 1
        before = at.table[first + min(at.have[f], top)]
        at.have[f] += sign * at.copies[k]
        gain += at.table[first + min(at.have[f], top)] - before
    return gain


@njit(cache=True)
def _fill(at, high):
    """Add the unit, with its ancestors, of most gain a length, as long as one fits and gains."""
    n = len(at.lengths)
    one = np.int64(1)
    used = 0
    for o in range(len(at.und)):
        if at.und[o] == 0:  # needs nothing: active until a veto is taken
            _add(at, o + n, one)
    for u in range(n):
        if at.state[u] == 1:  # its ancestors, before it, are taken already
            at.state[u] = 0
            used += _move(u, at, one)[1]
            at.state[u] = 1
    while True:
        best = np.int64(-1)
        best_gain = 0
        best_length = 1
        for u in range(n):
            if at.state[u] == 1:
                continue
            gain, length = _move(u, at, one)
            _move(u, at, -one)
            fits = gain > 0 and used + length <= high
            if fits and (best < 0 or float(gain) * best_length > float(best_gain) * length):
                best, best_gain, best_length = u, gain, length
        if best < 0:
            return
        used += _move(best, at, one)[1]
        i = best
        while i >= 0 and at.state[i] != 1:
            at.state[i] = 1
            i = at.parent[i]


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
        filling = Filling(
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
            veto_start,
            core.veto_joint[veto_order],
            np.bincount(core.need_joint, minlength=joints).astype(np.int64),
            np.zeros(joints, np.int64),
            np.zeros(len(at.table_start) - 1, np.int64),
            state,
        )
        _fill(filling, core.high)
        value = reduced(core, state).base
        if best is None or value > best[1]:
            best = (tuple(sorted(core.ids[state == TAKEN].tolist())), value)
    assert best is not None  # noqa: S101 - the knapsack's solution is always tried
    return best
