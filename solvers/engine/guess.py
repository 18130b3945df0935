"""A good set at once: the best of the Lagrangian knapsack's own solution and greedy selection, and exchanges."""

# mypy: disable-error-code="no-untyped-def, operator"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from .bound import evaluated, grain_of, knapsack, total_of
from .core import TAKEN, Core, States, reduced
from .search import tie_tables

_MOST: Final = 20_000
"""Exchanges that are looked at wherever a search is split."""


@njit(cache=True)
def _knapsack_set(core, skip, grain, state):
    """Trace one best filling of the knapsack."""
    lengths, low, high = core[1], core[11], core[12]
    profit = evaluated(core)[1]
    K = knapsack(lengths, profit, skip, low, high, grain)
    room, left, i = high // grain, high, 0
    while i < len(lengths):
        w = lengths[i] // grain
        past = skip[i] if len(skip) else i + 1
        if room >= w and left >= lengths[i] and K[i + 1, room - w] + profit[i] >= K[past, room]:
            state[i] = 1
            room -= w
            left -= lengths[i]
            i += 1
        else:
            i = past


class Worths(NamedTuple):
    """Mass, rows and tables of a core, with its costs behind the features."""

    mass: IntArray
    start: IntArray
    feature: IntArray
    count: IntArray  # type: ignore[assignment]  # a tuple counts too
    table_start: IntArray
    table: IntArray


class TiedMoves(NamedTuple):
    """Lengths and ties of the units, and how far the joints of a selection are from being active.

    Attributes
    ----------
    undecided, killed : (joints,)
        Needed units that are not chosen yet, and vetoing units that are.
    """

    lengths: IntArray
    parent: IntArray
    need_start: IntArray
    need: IntArray
    veto_start: IntArray
    veto: IntArray
    undecided: IntArray
    killed: IntArray


@njit(cache=True)
def _worths(core):
    mass, start, feature, count, table_start, table = core[2], core[3], core[4], core[5], core[6], core[7]
    cost_start, cost, cost_count, _cost_share, cost_weight, cost_step = core[9]
    m, many = len(table_start) - 1, len(cost_weight)
    if many == 0:
        return Worths(mass, start, feature, count, table_start, table)
    out_start = start + cost_start
    out_feature = np.empty(len(feature) + len(cost), np.int64)
    out_count = np.empty(len(out_feature), np.int64)
    at = 0
    for i in range(len(mass)):
        for k in range(start[i], start[i + 1]):
            out_feature[at], out_count[at] = feature[k], count[k]
            at += 1
        for k in range(cost_start[i], cost_start[i + 1]):
            out_feature[at], out_count[at] = m + cost[k], cost_count[k]
            at += 1
    starts = np.empty(m + many + 1, np.int64)
    starts[: m + 1] = table_start
    for g in range(many):
        starts[m + g + 1] = starts[m + g] + cost_step[g] + 1
    tables = np.empty(starts[m + many], np.int64)
    tables[: len(table)] = table
    for g in range(many):
        for c in range(cost_step[g] + 1):
            tables[starts[m + g] + c] = -cost_weight[g] * c
    return Worths(mass, out_start, out_feature, out_count, starts, tables)


@njit(cache=True)
def _moved(have, worths, item, sign):
    """Add (`sign` 1) or drop (-1) an item; return what that brings."""
    # Arrays that get names of their own before a loop would be counted as referred to at each call.
    gain = sign * worths.mass[item]
    for k in range(worths.start[item], worths.start[item + 1]):
        f = worths.feature[k]
        first = worths.table_start[f]
        top = worths.table_start[f + 1] - first - 1
        before = worths.table[first + min(have[f], top)]
        have[f] += sign * worths.count[k]
        gain += worths.table[first + min(have[f], top)] - before
    return gain


@njit(cache=True, inline="always")
def _gain_of(have, worths, item):
    """Return what an item would bring."""
    mass, start, feature, count, table_start, table = worths
    gain = mass[item]
    for k in range(start[item], start[item + 1]):
        f = feature[k]
        first = table_start[f]
        top = table_start[f + 1] - first - 1
        gain += table[first + min(have[f] + count[k], top)] - table[first + min(have[f], top)]
    return gain


@njit(cache=True)
def _moved_tied(state, have, worths, moves, unit, sign):
    """Add a unit with its ancestors that are not taken, or drop it (-1) with those before `state` says that they are.

    Return gain and length.
    """
    gain, length = np.int64(0), np.int64(0)
    n = len(moves.lengths)
    i = unit
    while i >= 0 and state[i] != 1:
        length += moves.lengths[i]
        gain += _moved(have, worths, i, sign)
        for k in range(moves.veto_start[i], moves.veto_start[i + 1]):
            o = moves.veto[k]
            was = moves.killed[o]
            moves.killed[o] += sign
            if moves.undecided[o] == 0 and min(was, moves.killed[o]) == 0:
                gain += _moved(have, worths, n + o, -sign)
        for k in range(moves.need_start[i], moves.need_start[i + 1]):
            o = moves.need[k]
            was = moves.undecided[o]
            moves.undecided[o] -= sign
            if moves.killed[o] == 0 and min(was, moves.undecided[o]) == 0:
                gain += _moved(have, worths, n + o, sign)
        i = moves.parent[i]
    return gain, length


@njit(cache=True)
def _fill_greedily(core, ties, state):
    """Add the unit, with its ancestors, of most gain a length, as long as one fits and gains."""
    lengths, high, parent, needed = core[1], core[12], core[14][0], core[14][1]
    n, joints = len(lengths), len(ties.surplus)
    tied = len(parent) > 0
    worths = _worths(core)
    plus, minus = np.int64(1), np.int64(-1)  # literals would compile `_moved` for each
    have = np.zeros(len(worths[4]) - 1, np.int64)
    undecided, killed = np.zeros(joints, np.int64), np.zeros(joints, np.int64)
    for k in range(len(needed)):
        undecided[needed[k]] += 1
    moves = TiedMoves(lengths, parent, ties.need_start, ties.need, ties.veto_start, ties.veto, undecided, killed)
    for o in range(joints):
        if undecided[o] == 0:  # needs nothing: active until a veto is taken
            _moved(have, worths, n + o, plus)
    used = np.int64(0)
    for i in range(n):
        if state[i] == 1:
            if tied:  # its ancestors, before it, are taken already
                state[i] = 0
                used += _moved_tied(state, have, worths, moves, i, plus)[1]
                state[i] = 1
            else:
                used += lengths[i]
                _moved(have, worths, i, plus)
    while True:
        best = np.int64(-1)
        best_gain, best_length = np.int64(0), np.int64(1)
        for i in range(n):
            length = lengths[i]
            if state[i] == 1 or used + length > high:
                continue
            if tied:
                gain, length = _moved_tied(state, have, worths, moves, i, plus)
                _moved_tied(state, have, worths, moves, i, minus)
                if used + length > high:
                    continue
            else:
                gain = _gain_of(have, worths, i)
            if gain > 0 and (best < 0 or float(gain) * max(best_length, 1) > float(best_gain) * max(length, 1)):
                best, best_gain, best_length = np.int64(i), gain, length
        if best < 0:
            return
        used += best_length
        if tied:
            _moved_tied(state, have, worths, moves, best, plus)
            while best >= 0 and state[best] != 1:
                state[best] = 1
                best = parent[best]
        else:
            _moved(have, worths, best, plus)
            state[best] = 1


def good_set(core: Core) -> tuple[tuple[int, ...], int]:
    """Return a feasible set and its value.

    With a least length only the knapsack's solution, filled up, is tried: it meets the limit by itself. The caller
    has seen to it that some set is feasible and that the knapsack's grain is 1 wherever there is a least length.
    """
    best: tuple[tuple[int, ...], int] = ((), core.base)
    plain, ties = core.plain, tie_tables(core, np.arange(core.size))
    for from_knapsack in (True, False):
        state = np.zeros(core.size, np.int8)
        if from_knapsack:
            _knapsack_set(plain, core.skip, grain_of(core), state)
        elif core.low > 0:
            break
        _fill_greedily(plain, ties, state)
        value = _value_of(core, state)
        units = tuple(sorted(core.ids[state == TAKEN].tolist()))
        if from_knapsack or value > best[1]:
            best = (units, value)
    return best


def _value_of(core: Core, state: States) -> int:
    return reduced(core, state).base if core.tied else core.base + int(total_of(state == TAKEN, core.plain))


@njit(cache=True)
def _improve(core, ties, state):
    """Make the best exchange of one unit for one as long as one brings value, or as much and is shorter; then fill up.

    Return whether there was anything to fill in: exchanges may help again then.
    """
    lengths, high = core[1], core[12]
    plus, minus = np.int64(1), np.int64(-1)  # literals would compile `_moved` for each
    n = len(lengths)
    worths = _worths(core)
    have = np.zeros(len(worths[4]) - 1, np.int64)
    used, chosen = 0, 0
    for i in range(n):
        if state[i] == 1:
            used += lengths[i]
            chosen -= 1
            _moved(have, worths, i, plus)
    into = np.int64(0)
    while into >= 0:
        gained, spared, out, into = np.int64(0), np.int64(0), np.int64(-1), np.int64(-1)
        for i in range(n):
            if state[i] != 1:
                continue
            loss = _moved(have, worths, i, minus)
            for j in range(n):
                if state[j] == 1 or j == i or used - lengths[i] + lengths[j] > high:
                    continue
                gain = loss + _gain_of(have, worths, j)
                saved = lengths[i] - lengths[j]
                if gain > gained or (gain == gained and saved > spared):
                    gained, spared, out, into = gain, saved, np.int64(i), np.int64(j)
            _moved(have, worths, i, plus)
        if into >= 0:
            _moved(have, worths, out, minus)
            _moved(have, worths, into, plus)
            state[out], state[into] = 0, 1
            used += lengths[into] - lengths[out]
    _fill_greedily(core, ties, state)
    for i in range(n):
        chosen += state[i] == 1
    return chosen > 0


def polished(core: Core, most: int = _MOST) -> tuple[tuple[int, ...], int] | None:
    """Return what exchanges make of the set that the core's prices give, and its value.

    None with a least length, or where units are tied.

    Parameters
    ----------
    core : Core
    most : int
        Chosen units times units: beyond that many exchanges the set is taken as it is.
    """
    if core.low > 0 or core.tied:
        return None
    units, value = good_set(core)
    if len(units) * core.size > most:
        return units, value
    state: States = np.isin(core.ids, units).astype(np.int8)
    plain, ties = core.plain, tie_tables(core, core.ids)
    while _improve(plain, ties, state):
        pass
    return tuple(core.ids[state == TAKEN].tolist()), _value_of(core, state)
