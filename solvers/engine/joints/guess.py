"""A good set at once: the Lagrangian knapsack's own solution and greedy selection, filled up greedily."""

# mypy: disable-error-code="no-untyped-def, assignment"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..reduction import TAKEN, States
from .bound import grain_of, last_row, nothing_behind, precedence_table
from .instance.core import Core, Priced
from .instance.reduction import reduced
from .moves import Units
from .search import units_of


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
    lengths, parent, mass : as in `core.Core`
    at, units : Priced, Units
    und, killed : (joints,)
        Units that are still needed, and vetoing units that are taken.
    have : (features,) copies in what is taken
    taken : (n,) `TAKEN` for the units that are
    """

    lengths: IntArray
    parent: IntArray
    mass: IntArray
    at: Priced
    units: Units
    und: IntArray
    killed: IntArray
    have: IntArray
    taken: States


@njit(cache=True)
def _move(u, filling, sign):
    """Take (sign 1) or put back (-1) unit u with its ancestors that are not taken: gain and length."""
    lengths, parent, _mass, _at, units, und, killed, _have, taken = filling
    gain = np.int64(0)
    length = np.int64(0)
    i = u
    while i >= 0 and taken[i] != 1:
        length += lengths[i]
        gain += _add(filling, i, sign)
        for k in range(units.veto_start[i], units.veto_start[i + 1]):
            o = units.veto[k]
            was = killed[o]
            killed[o] += sign
            if und[o] == 0 and min(was, killed[o]) == 0:
                gain += _add(filling, o + len(lengths), -sign)
        for k in range(units.need_start[i], units.need_start[i + 1]):
            o = units.need[k]
            was = und[o]
            und[o] -= sign
            if killed[o] == 0 and min(was, und[o]) == 0:
                gain += _add(filling, o + len(lengths), sign)
        i = parent[i]
    return gain, length


@njit(cache=True)
def _add(filling, item, sign):
    """Add an item's mass and copies, or take them away; return what that gains."""
    at, have = filling.at, filling.have
    gain = sign * filling.mass[item]
    for k in range(at.start[item], at.start[item + 1]):
        f = at.feature[k]
        first = at.table_start[f]
        top = at.table_start[f + 1] - first - 1
        before = at.table[first + min(have[f], top)]
        have[f] += sign * at.copies[k]
        gain += at.table[first + min(have[f], top)] - before
    return gain


@njit(cache=True)
def _fill(filling, high):
    """Add the unit, with its ancestors, of most gain a length, as long as one fits and gains."""
    n, parent, taken, und = len(filling.lengths), filling.parent, filling.taken, filling.und
    one = np.int64(1)
    used = 0
    for o in range(len(und)):
        if und[o] == 0:  # needs nothing: active until a veto is taken
            _add(filling, o + n, one)
    for u in range(n):
        if taken[u] == 1:  # its ancestors, before it, are taken already
            taken[u] = 0
            used += _move(u, filling, one)[1]
            taken[u] = 1
    while True:
        best = np.int64(-1)
        best_gain = 0
        best_length = 1
        for u in range(n):
            if taken[u] == 1:
                continue
            gain, length = _move(u, filling, one)
            _move(u, filling, -one)
            fits = gain > 0 and used + length <= high
            if fits and (best < 0 or float(gain) * best_length > float(best_gain) * length):
                best, best_gain, best_length = u, gain, length
        if best < 0:
            return
        used += _move(best, filling, one)[1]
        i = best
        while i >= 0 and taken[i] != 1:
            taken[i] = 1
            i = parent[i]


def good_set(core: Core) -> tuple[tuple[int, ...], int]:
    """Return a feasible set and its value; the caller has seen to it that some set is feasible.

    With a least length only the knapsack's solution, filled up, is tried: it meets the limit by itself.
    """
    at, grain, n = core.at, grain_of(core), core.size
    units = units_of(core, np.arange(n), n)
    best: tuple[tuple[int, ...], int] | None = None
    for from_knapsack in (True, False):
        taken: States = np.zeros(n, np.int8)
        if from_knapsack:
            last = last_row(core.low, core.high, grain, nothing_behind(core, grain))
            _knapsack_set(core.lengths, core.skip, at.profit, last, grain, core.high, taken)
        elif core.low > 0:
            break
        und = np.bincount(core.need_joint, minlength=core.joints).astype(np.int64)
        killed, have = np.zeros(core.joints, np.int64), np.zeros(len(at.table_start) - 1, np.int64)
        _fill(Filling(core.lengths, core.parent, core.mass, at, units, und, killed, have, taken), core.high)
        value = reduced(core, taken).base
        if best is None or value > best[1]:
            best = (tuple(sorted(core.ids[taken == TAKEN].tolist())), value)
    assert best is not None  # noqa: S101 - the knapsack's solution is always tried
    return best
