r"""The Lagrangian bound in integers, and what it decides at once.

With prices p_f on copies and y_r >= 0 on rows, every selection S that is closed under parents has (times `scale`)

    value(S) <= base + sum_f max over c in [0, R_f] of (table_f(c) - p_f c) + sum_o max(0, q_o) + sum of y_r over the
                vetoing and the unconditional rows + sum over S of profit_i,

    profit_i = mass_i + sum_f p_f count_if + sum of y_r over the rows that need i - over those that i vetoes,
    q_o      = mass_o + sum_f p_f count_of - sum of y_r over the rows that o is a member of,

R_f being the copies in all items. The last sum is at most a knapsack under precedence, solved exactly: units come in
preorder, so from unit i one goes on to i + 1 if it is taken and past its descendants if it is not.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.system.compiled import njit

from ..reduction import FREE, States
from .instance.core import Core, term

IMPOSSIBLE: Final = -(2**61)
"""Profit of a knapsack that cannot be filled to the least length."""

_CELLS: Final = 4_000_000


def grain_of(core: Core) -> int:
    """Divisor of the lengths that keeps a knapsack table below 32 MB."""
    return max(1, -(-(core.size + 1) * (core.high + 1) // _CELLS))


@njit(cache=True)
def precedence_table(lengths, skip, profit, last, grain):
    """Knapsack over the forest: ``K[i, c]`` is the best profit from unit i on with c length left.

    ``last`` is its last row: what is left over at the end, which may be `IMPOSSIBLE`.
    """
    n, room = len(lengths), len(last) - 1
    K = np.empty((n + 1, room + 1), np.int64)
    K[n] = last
    for i in range(n - 1, -1, -1):
        w = lengths[i] // grain
        p = profit[i]
        past = skip[i]
        for c in range(min(w, room + 1)):
            K[i, c] = K[past, c]
        for c in range(w, room + 1):
            K[i, c] = max(K[past, c], K[i + 1, c - w] + p)
    return K


@njit(cache=True)
def last_row(low, high, grain, reach):
    """Make the row behind the last unit: 0, or IMPOSSIBLE if `low` is out of reach even with what `reach` adds."""
    last = np.zeros(high // grain + 1, np.int64)
    if grain == 1 and low > 0:
        for c in range(high + 1):
            if high - c + reach[c] < low:
                last[c] = -(2**61)
    return last


def nothing_behind(core: Core, grain: int) -> NDArray[np.int32]:
    """Return what units behind the last one add to each room, for `last_row`: nothing, there are none."""
    return np.zeros(core.high + 1 if grain == 1 else 1, np.int32)


@njit(cache=True)
def _decide(lengths, parent, skip, at, scale, ties, last, grain, goal, state):
    need_joint, need_unit, veto_joint, veto_unit = ties
    start, feature, count, table_start, table, price, rising, best, left, _alone, profit, surplus, slack = at
    n, room = len(lengths), len(last) - 1
    K = precedence_table(lengths, skip, profit, last, grain)
    total = slack + K[0, room]
    if K[0, room] < -(2**60) or total < goal:
        return np.int64(-(2**62)), 0
    # What a unit costs by itself if it is taken, or dropped: copies and joints that its choice rules out.
    zero = np.int64(0)  # a literal would compile `term` once more
    loss_in = np.zeros(n, np.int64)
    loss_out = np.zeros(n, np.int64)
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            f, a = feature[k], count[k]
            now = term(table_start, table, price, scale, rising, best, f, zero, left[f])
            loss_in[i] += now - term(table_start, table, price, scale, rising, best, f, a, left[f] - a)
            loss_out[i] += now - term(table_start, table, price, scale, rising, best, f, zero, left[f] - a)
    for k in range(len(need_unit)):
        loss_out[need_unit[k]] += max(0, surplus[need_joint[k]])
    for k in range(len(veto_unit)):
        loss_in[veto_unit[k]] += max(0, surplus[veto_joint[k]])
    # P[i, c]: best profit on the way to unit i with c length used.
    P = np.full((n + 1, room + 1), -(2**61), np.int64)
    P[0, 0] = 0
    dropped = np.empty(n, np.int64)
    moved = 0
    for i in range(n):
        w = lengths[i] // grain
        p = profit[i]
        past = skip[i]
        out = np.int64(-(2**61))
        into = np.int64(-(2**61))
        for c in range(room + 1):
            here = P[i, c]
            if here > -(2**60):
                out = max(out, here + K[past, room - c])
                P[past, c] = max(P[past, c], here)
                if c + w <= room:
                    into = max(into, here + p + K[i + 1, room - c - w])
                    P[i + 1, c + w] = max(P[i + 1, c + w], here + p)
        if parent[i] >= 0:
            out = max(out, dropped[parent[i]])
        dropped[i] = out
        fits_in = into > -(2**60) and slack + into - loss_in[i] >= goal
        fits_out = out > -(2**60) and slack + out - loss_out[i] >= goal
        if parent[i] >= 0 and state[parent[i]] == 0:
            fits_in = False  # and the bound without it is that of its parent
            fits_out = True
        if not fits_in and not fits_out:
            return np.int64(-(2**62)), 0
        if not fits_in:
            state[i] = 0
        elif not fits_out:
            state[i] = 1
    for i in range(n - 1, -1, -1):
        if state[i] == 1 and parent[i] >= 0:
            if state[parent[i]] == 0:
                return np.int64(-(2**62)), 0
            state[parent[i]] = 1
    for i in range(n):
        moved += state[i] != 2
    return total, moved


def decide(core: Core, target: int) -> tuple[int, States, int]:
    """Bound a core and find the units that every selection of value >= `target` takes, or drops (`Operations`)."""
    grain = grain_of(core)
    state = np.full(core.size, np.int8(FREE))
    bound, moved = _decide(
        core.lengths,
        core.parent,
        core.skip,
        core.at,
        core.scale,
        core.ties,
        last_row(core.low, core.high, grain, nothing_behind(core, grain)),
        grain,
        target * core.scale,
        state,
    )
    return int(bound), state, int(moved)


def upper_bound(core: Core) -> int | None:
    """Return the bound times ``core.scale``; None if no selection meets the length limits."""
    at = core.at
    grain = grain_of(core)
    last = last_row(core.low, core.high, grain, nothing_behind(core, grain))
    K = precedence_table(core.lengths, core.skip, at.profit, last, grain)
    best = int(K[0, -1])
    return None if best < IMPOSSIBLE // 2 else at.slack + best
