"""A good set at once: the best of the Lagrangian knapsack's own solution and greedy selection."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np

from optsum.system.compiled import njit

from ..reduction import TAKEN
from .bound import grain_of, profits, suffix_table, total_of
from .core import Core


@njit(cache=True)
def _knapsack_set(lengths, profit, low, high, grain, state):
    """Trace one best filling of the knapsack."""
    K = suffix_table(lengths, profit, low, high, grain)
    room = high // grain
    left = high
    for i in range(len(lengths)):
        w = lengths[i] // grain
        if room >= w and left >= lengths[i] and K[i + 1, room - w] + profit[i] >= K[i + 1, room]:
            state[i] = 1
            room -= w
            left -= lengths[i]


@njit(cache=True)
def moved(state, have, paid, core, unit, sign):
    """Add (`sign` 1) or drop (-1) a unit; return what that brings."""
    _ids, _lengths, mass, start, feature, count, table_start, table, _price, fees, _base, _low, _high, _scale = core
    fee_start, fee, fee_count, _fee_share, fee_weight, fee_step = fees
    gain = sign * mass[unit]
    for k in range(start[unit], start[unit + 1]):
        f = feature[k]
        first = table_start[f]
        top = table_start[f + 1] - first - 1
        v = have[f] + sign * count[k]
        gain += table[first + min(v, top)] - table[first + min(have[f], top)]
        have[f] = v
    for k in range(fee_start[unit], fee_start[unit + 1]):
        g = fee[k]
        v = paid[g] + sign * fee_count[k]
        gain -= fee_weight[g] * (min(v, fee_step[g]) - min(paid[g], fee_step[g]))
        paid[g] = v
    state[unit] = 1 if sign > 0 else 0
    return gain


@njit(cache=True, inline="always")
def gain_of(have, paid, core, unit):
    """Return what a unit would bring."""
    _ids, _lengths, mass, start, feature, count, table_start, table, _price, fees, _base, _low, _high, _scale = core
    fee_start, fee, fee_count, _fee_share, fee_weight, fee_step = fees
    gain = mass[unit]
    for k in range(start[unit], start[unit + 1]):
        f = feature[k]
        first = table_start[f]
        top = table_start[f + 1] - first - 1
        gain += table[first + min(have[f] + count[k], top)] - table[first + min(have[f], top)]
    for k in range(fee_start[unit], fee_start[unit + 1]):
        g = fee[k]
        gain -= fee_weight[g] * (min(paid[g] + fee_count[k], fee_step[g]) - min(paid[g], fee_step[g]))
    return gain


@njit(cache=True)
def fill_greedily(core, state):
    """Add the unit of most gain a length, as long as one fits and gains."""
    lengths, table_start, fee_weight, high = core[1], core[6], core[9][4], core[12]
    plus = np.int64(1)  # a literal would compile `moved` once more
    n = len(lengths)
    have = np.zeros(len(table_start) - 1, np.int64)
    paid = np.zeros(len(fee_weight), np.int64)
    used = 0
    for i in range(n):
        if state[i] == 1:
            used += lengths[i]
            moved(state, have, paid, core, np.int64(i), plus)
    while True:
        best = np.int64(-1)
        best_gain = np.int64(0)
        for i in range(n):
            if state[i] == 1 or used + lengths[i] > high:
                continue
            gain = gain_of(have, paid, core, np.int64(i))
            if gain > 0 and (best < 0 or float(gain) * max(lengths[best], 1) > float(best_gain) * max(lengths[i], 1)):
                best, best_gain = np.int64(i), gain
        if best < 0:
            return
        used += lengths[best]
        moved(state, have, paid, core, best, plus)


def good_set(core: Core) -> tuple[tuple[int, ...], int]:
    """Return a feasible set and its value.

    With a least length only the knapsack's solution, filled up, is tried: it meets the limit by itself. The caller
    has seen to it that some set is feasible and that the knapsack's grain is 1 wherever there is a least length.
    """
    profit = profits(
        core.mass, core.start, core.feature, core.count, core.price, core.scale, core.fees.start, core.fees.share
    )
    best: tuple[tuple[int, ...], int] = ((), core.base)
    for from_knapsack in (True, False):
        state = np.zeros(core.size, np.int8)
        if from_knapsack:
            _knapsack_set(core.lengths, profit, core.low, core.high, grain_of(core), state)
        elif core.low > 0:
            break
        fill_greedily(core.plain, state)
        value = core.base + int(total_of(state == TAKEN, core.plain))
        units = tuple(sorted(core.ids[state == TAKEN].tolist()))
        if from_knapsack or value > best[1]:
            best = (units, value)
    return best
