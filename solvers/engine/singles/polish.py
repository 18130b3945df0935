"""A better set, by exchanges: what a search that has become long is worth beginning with."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np

from optsum.system.compiled import njit

from ..reduction import TAKEN, States
from .bound import total_of
from .core import Core
from .guess import fill_greedily, good_set

_MOST: Final = 20_000
"""Exchanges that are looked at wherever a search is split."""


@njit(cache=True)
def _moved(state, have, paid, core, unit, sign):
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
def _gain(have, paid, core, unit):
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
def _improve(core, state):
    """Make the best exchange of one unit for one as long as one brings value, or as much and is shorter; then fill up.

    Return whether there was anything to fill in: exchanges may help again then.
    """
    lengths, feature_start, fee_weight, high = core[1], core[6], core[9][4], core[12]
    plus, minus = np.int64(1), np.int64(-1)  # literals would compile `_moved` for each
    n = len(lengths)
    have = np.zeros(len(feature_start) - 1, np.int64)
    paid = np.zeros(len(fee_weight), np.int64)
    used, chosen = 0, 0
    for i in range(n):
        if state[i] == 1:
            used += lengths[i]
            chosen -= 1
            _moved(state, have, paid, core, np.int64(i), plus)
    into = np.int64(0)
    while into >= 0:
        gained, spared, out, into = np.int64(0), np.int64(0), np.int64(-1), np.int64(-1)
        for i in range(n):
            if state[i] != 1:
                continue
            loss = _moved(state, have, paid, core, np.int64(i), minus)
            for j in range(n):
                if state[j] == 1 or j == i or used - lengths[i] + lengths[j] > high:
                    continue
                gain = loss + _gain(have, paid, core, np.int64(j))
                saved = lengths[i] - lengths[j]
                if gain > gained or (gain == gained and saved > spared):
                    gained, spared, out, into = gain, saved, np.int64(i), np.int64(j)
            _moved(state, have, paid, core, np.int64(i), plus)
        if into >= 0:
            _moved(state, have, paid, core, out, minus)
            _moved(state, have, paid, core, into, plus)
            used += lengths[into] - lengths[out]
    fill_greedily(core, state)
    for i in range(n):
        chosen += state[i] == 1
    return chosen > 0


def polished(core: Core, most: int = _MOST) -> tuple[tuple[int, ...], int] | None:
    """Return what exchanges make of the set that the core's prices give, and its value; None with a least length.

    Parameters
    ----------
    core : Core
    most : int
        Chosen units times units: beyond that many exchanges the set is taken as it is.
    """
    if core.low > 0:
        return None
    units, value = good_set(core)
    if len(units) * core.size > most:
        return units, value
    state: States = np.isin(core.ids, units).astype(np.int8)
    while _improve(core.plain, state):
        pass
    value = core.base + int(total_of(state == TAKEN, core.plain))
    return tuple(core.ids[state == TAKEN].tolist()), value
