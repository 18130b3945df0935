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
from .guess import fill_greedily, gain_of, good_set, moved

_MOST: Final = 20_000
"""Exchanges that are looked at wherever a search is split."""


@njit(cache=True)
def _improve(core, state):
    """Make the best exchange of one unit for one as long as one brings value, or as much and is shorter; then fill up.

    Return whether there was anything to fill in: exchanges may help again then.
    """
    lengths, feature_start, fee_weight, high = core[1], core[6], core[9][4], core[12]
    plus, minus = np.int64(1), np.int64(-1)  # literals would compile `moved` for each
    n = len(lengths)
    have = np.zeros(len(feature_start) - 1, np.int64)
    paid = np.zeros(len(fee_weight), np.int64)
    used, chosen = 0, 0
    for i in range(n):
        if state[i] == 1:
            used += lengths[i]
            chosen -= 1
            moved(state, have, paid, core, np.int64(i), plus)
    into = np.int64(0)
    while into >= 0:
        gained, spared, out, into = np.int64(0), np.int64(0), np.int64(-1), np.int64(-1)
        for i in range(n):
            if state[i] != 1:
                continue
            loss = moved(state, have, paid, core, np.int64(i), minus)
            for j in range(n):
                if state[j] == 1 or j == i or used - lengths[i] + lengths[j] > high:
                    continue
                gain = loss + gain_of(have, paid, core, np.int64(j))
                saved = lengths[i] - lengths[j]
                if gain > gained or (gain == gained and saved > spared):
                    gained, spared, out, into = gain, saved, np.int64(i), np.int64(j)
            moved(state, have, paid, core, np.int64(i), plus)
        if into >= 0:
            moved(state, have, paid, core, out, minus)
            moved(state, have, paid, core, into, plus)
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
