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

from dataclasses import dataclass
from typing import Final

import numpy as np
from numba import njit

from optsum.coverage.instance import IntArray

from ..reduction import FREE, States
from .core import Core

__all__ = ["IMPOSSIBLE", "Priced", "decide", "grain_of", "precedence_table", "priced"]

IMPOSSIBLE: Final = -(2**61)
"""Profit of a knapsack that cannot be filled to the least length."""

_CELLS: Final = 4_000_000


def grain_of(core: Core) -> int:
    """Divisor of the lengths that keeps a knapsack table below 32 MB."""
    return max(1, -(-(core.size + 1) * (core.high + 1) // _CELLS))


@dataclass(frozen=True, eq=False, slots=True)
class Priced:
    """A core's entries with the fees behind them as features, and what the prices make of them.

    Attributes
    ----------
    start, feature, count, table_start, table, price :
        As in the core; features from number `rising` on are fees.
    best : (features,)
        The count that maximizes ``table - price * count`` without limits; unused for fees.
    left : (features,)
        Copies in all items.
    alone : (n + joints,)
        Mass and features of an item under the prices, without rows.
    profit : (n,)
    surplus : (joints,)
        The q_o.
    slack : int
        The bound without the knapsack.
    skip : (n,)
        The first unit behind a unit's descendants.
    """

    start: IntArray
    feature: IntArray
    count: IntArray
    table_start: IntArray
    table: IntArray
    price: IntArray
    rising: int
    best: IntArray
    left: IntArray
    alone: IntArray
    profit: IntArray
    surplus: IntArray
    slack: int
    skip: IntArray


@njit(cache=True)
def _skips(parent):
    n = len(parent)
    skip = np.empty(n, np.int64)
    for i in range(n - 1, -1, -1):
        # The next unit is a child or stands behind the whole subtree; jump from child to child.
        j = i + 1
        while j < n and parent[j] == i:
            j = skip[j]
        skip[i] = j
    return skip


@njit(cache=True)
def term(table_start, table, price, scale, rising, best, f, v, r):
    """Return the most that feature f is worth beyond its price, from v to v + r copies."""
    first = table_start[f]
    top = table_start[f + 1] - first - 1
    if f < rising:
        c = min(max(best[f], v), v + r)
        return table[first + min(c, top)] * scale - price[f] * c
    low = table[first + min(v, top)] * scale - price[f] * v
    high = table[first + min(v + r, top)] * scale - price[f] * (v + r)
    return max(low, high)


@njit(cache=True)
def _price(
    n,
    start,
    feature,
    count,
    table_start,
    table,
    price,
    rising,
    mass,
    scale,
    base,
    row_unit,
    row_sign,
    row_price,
    row,
    joint,
):
    items = len(mass)
    features = len(price)
    left = np.zeros(features, np.int64)
    for k in range(len(feature)):
        left[feature[k]] += count[k]
    best = np.zeros(features, np.int64)
    for f in range(features):
        first = table_start[f]
        if f < rising:
            c = 0
            while first + c + 1 < table_start[f + 1] and (table[first + c + 1] - table[first + c]) * scale > price[f]:
                c += 1
            best[f] = c
        else:
            # The chord: worth nothing beyond its price at both ends.
            top = table_start[f + 1] - first - 1
            price[f] = table[first + min(left[f], top)] * scale // max(left[f], 1)
    slack = base * scale
    for f in range(features):
        slack += term(table_start, table, price, scale, rising, best, f, 0, left[f])
    alone = np.empty(items, np.int64)
    for i in range(items):
        total = mass[i] * scale
        for k in range(start[i], start[i + 1]):
            total += price[feature[k]] * count[k]
        alone[i] = total
    profit = alone[:n].copy()
    surplus = alone[n:].copy()
    for r in range(len(row_unit)):
        if row_unit[r] < 0:
            slack += row_price[r]
        elif row_sign[r] == 1:
            slack += row_price[r]
            profit[row_unit[r]] -= row_price[r]
        else:
            profit[row_unit[r]] += row_price[r]
    for k in range(len(row)):
        surplus[joint[k]] -= row_price[row[k]]
    for o in range(len(surplus)):
        slack += max(0, surplus[o])
    return left, best, alone, profit, surplus, slack


def priced(core: Core) -> Priced:
    """Evaluate the prices of a core."""
    fees, rising = core.fees, len(core.table_start) - 1
    start, feature, count = core.start, core.feature, core.count
    table_start, table = core.table_start, core.table
    price = core.price
    if len(fees.weight):
        items = len(core.mass)
        item = np.concatenate([np.repeat(np.arange(items), np.diff(start)), fees.item])
        order = np.argsort(item, kind="stable")
        feature = np.concatenate([feature, rising + fees.fee])[order]
        count = np.concatenate([count, fees.count])[order]
        start = start + fees.start
        table_start = np.concatenate([table_start, table_start[-1] + np.cumsum(fees.step + 1)])
        table = np.concatenate(
            [table, *(-weight * np.arange(step + 1) for weight, step in zip(fees.weight, fees.step, strict=True))]
        )
        price = np.concatenate([price, np.zeros(len(fees.weight), np.int64)])
    rows = core.rows
    left, best, alone, profit, surplus, slack = _price(
        core.size,
        start,
        feature,
        count,
        table_start,
        table,
        price,
        rising,
        core.mass,
        core.scale,
        core.base,
        rows.unit,
        rows.sign,
        rows.price,
        rows.row,
        rows.joint,
    )
    return Priced(
        start,
        feature,
        count,
        table_start,
        table,
        price,
        rising,
        best,
        left,
        alone,
        profit,
        surplus,
        int(slack),
        _skips(core.parent),
    )


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


@njit(cache=True)
def _decide(
    lengths,
    parent,
    skip,
    start,
    feature,
    count,
    table_start,
    table,
    price,
    scale,
    rising,
    best,
    left,
    profit,
    surplus,
    slack,
    need_joint,
    need_unit,
    veto_joint,
    veto_unit,
    last,
    grain,
    goal,
    state,
):
    n, room = len(lengths), len(last) - 1
    K = precedence_table(lengths, skip, profit, last, grain)
    total = slack + K[0, room]
    if K[0, room] < -(2**60) or total < goal:
        return np.int64(-(2**62)), 0
    # What a unit costs by itself if it is taken, or dropped: copies and joints that its choice rules out.
    loss_in = np.zeros(n, np.int64)
    loss_out = np.zeros(n, np.int64)
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            f, a = feature[k], count[k]
            now = term(table_start, table, price, scale, rising, best, f, 0, left[f])
            loss_in[i] += now - term(table_start, table, price, scale, rising, best, f, a, left[f] - a)
            loss_out[i] += now - term(table_start, table, price, scale, rising, best, f, 0, left[f] - a)
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
    """Bound a core and find the units that every selection of value >= `target` takes, or drops.

    Returns
    -------
    bound : int
        Times ``core.scale``; below it if no selection reaches the target.
    state : (n,) int8
    moved : int
        How many units were decided.
    """
    at = priced(core)
    grain = grain_of(core)
    state = np.full(core.size, np.int8(FREE))
    bound, moved = _decide(
        core.lengths,
        core.parent,
        at.skip,
        at.start,
        at.feature,
        at.count,
        at.table_start,
        at.table,
        at.price,
        core.scale,
        at.rising,
        at.best,
        at.left,
        at.profit,
        at.surplus,
        at.slack,
        core.need_joint,
        core.need_unit,
        core.veto_joint,
        core.veto_unit,
        last_row(core.low, core.high, grain, np.zeros(core.high + 1 if grain == 1 else 1, np.int32)),
        grain,
        target * core.scale,
        state,
    )
    return int(bound), state, int(moved)


def upper_bound(core: Core) -> int | None:
    """Return the bound times ``core.scale``; None if no selection meets the length limits."""
    at = priced(core)
    grain = grain_of(core)
    reach = np.zeros(core.high + 1 if grain == 1 else 1, np.int32)
    K = precedence_table(core.lengths, at.skip, at.profit, last_row(core.low, core.high, grain, reach), grain)
    best = int(K[0, -1])
    return None if best < IMPOSSIBLE // 2 else at.slack + best
