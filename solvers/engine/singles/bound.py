"""The Lagrangian bound in integers, and what it decides at once.

With prices p_f >= 0 on copies, any selection S of the core's units has (everything times `scale`)

    value(S) <= base + sum_f max over c in [0, R_f] of (table_f(c) - p_f c) + sum over S of profit_i,
    profit_i = mass_i + sum_f p_f count_if,

R_f being the copies in all units. The first sum is `slack`; the last is at most an integer knapsack over the
lengths. Knapsack tables from both ends give the bound with any one unit taken or dropped.

A fee, ``-weight * min(copies, step)``, is not concave: its cost is shared among its units instead. Unit i pays a share
s_i of at most weight * copies of i whenever it is chosen (it lowers the unit's profit), and the slack has what the
shares of a set T of the undecided units exceed the fee by, at most. With v copies and the shares s(V) in the units
chosen, that is ``s(V) + max(-weight v, -weight step + s(undecided))``, without the first argument once v >= step: below
the step the shares of T cost no more than its copies, above it all of the fee is due.

Lengths may be divided by `grain` (rounded down) to keep the tables small; that only loosens the knapsack.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.system.compiled import njit

from ..reduction import States
from .core import Core

IMPOSSIBLE: Final = -(2**61)
"""Profit of a knapsack that cannot be filled to the least length."""

_CELLS: Final = 20_000_000


def grain_of(core: Core) -> int:
    """Divisor of the lengths that keeps a knapsack table below 160 MB."""
    return max(1, -(-(core.size + 1) * (core.high + 1) // _CELLS))


@njit(cache=True)
def profits(mass, start, feature, count, price, scale, fee_start, fee_share):
    """Profit of each unit under the prices and shares."""
    out = np.empty(len(mass), np.int64)
    for i in range(len(mass)):
        total = mass[i] * scale
        for k in range(start[i], start[i + 1]):
            total += price[feature[k]] * count[k]
        for k in range(fee_start[i], fee_start[i + 1]):
            total -= fee_share[k]
        out[i] = total
    return out


@njit(cache=True)
def best_counts(table_start, table, price, scale):
    """For each feature the largest c whose last step is still worth its price."""
    m = len(price)
    out = np.zeros(m, np.int64)
    for f in range(m):
        first = table_start[f]
        c = 0
        while first + c + 1 < table_start[f + 1] and (table[first + c + 1] - table[first + c]) * scale > price[f]:
            c += 1
        out[f] = c
    return out


@njit(cache=True)
def net(table_start, table, price, scale, f, c):
    """Return ``scale * table_f(c) - p_f c``."""
    top = table_start[f + 1] - table_start[f] - 1
    return table[table_start[f] + min(c, top)] * scale - price[f] * c


@njit(cache=True)
def fee_term(weight, step, scale, v, chosen, undecided):
    """Return the slack's term of a fee: v copies and the shares `chosen` are in, the shares `undecided` are not."""
    due = undecided - weight * step * scale
    if v >= step:
        return chosen + due
    return chosen + max(-weight * v * scale, due)


@njit(cache=True)
def suffix_table(lengths, profit, low, high, grain):
    """Knapsack over units i.. : ``K[i, c]`` is the best profit with at most c length left of `high`.

    With a least length `low` (and grain 1) the total must reach it: selections that end too short are IMPOSSIBLE.
    """
    n = len(lengths)
    room = high // grain
    K = np.zeros((n + 1, room + 1), np.int64)
    if grain == 1 and low > 0:
        for c in range(max(0, high - low + 1), room + 1):
            K[n, c] = -(2**61)
    for i in range(n - 1, -1, -1):
        w = lengths[i] // grain
        p = profit[i]
        for c in range(min(w, room + 1)):
            K[i, c] = K[i + 1, c]
        for c in range(w, room + 1):
            K[i, c] = max(K[i + 1, c], K[i + 1, c - w] + p)
    return K


@njit(cache=True)
def _decide(core, grain, target, bound_only, state):
    _ids, lengths, mass, start, feature, count, table_start, table, price, fees, base, low, high, scale = core
    fee_start, fee, fee_count, fee_share, fee_weight, fee_step = fees
    n, m = len(lengths), len(price)
    zero = np.int64(0)  # a literal would compile `fee_term` once more
    for i in range(n):
        state[i] = 2
    profit = profits(mass, start, feature, count, price, scale, fee_start, fee_share)
    best = best_counts(table_start, table, price, scale)
    copies = np.zeros(m, np.int64)
    for k in range(len(feature)):
        copies[feature[k]] += count[k]
    bound = base * scale
    for f in range(m):
        bound += net(table_start, table, price, scale, f, min(best[f], copies[f]))
    shares = np.zeros(len(fee_weight), np.int64)
    for k in range(len(fee)):
        shares[fee[k]] += fee_share[k]
    for g in range(len(fee_weight)):
        bound += fee_term(fee_weight[g], fee_step[g], scale, zero, zero, shares[g])
    K = suffix_table(lengths, profit, low, high, grain)
    room = high // grain
    total = bound + K[0, room]
    goal = target * scale
    moved = 0
    if bound_only or total < goal:
        return total, moved
    # prefix[c]: best profit of the units before i that use exactly c.
    prefix = np.empty(room + 1, np.int64)
    for c in range(room + 1):
        prefix[c] = -(2**61)
    prefix[0] = 0
    for i in range(n):
        w = lengths[i] // grain
        p = profit[i]
        out = np.int64(-(2**61))
        into = np.int64(-(2**61))
        for c in range(room + 1):
            if prefix[c] > -(2**60):
                out = max(out, prefix[c] + K[i + 1, room - c])
                if c + w <= room:
                    into = max(into, prefix[c] + p + K[i + 1, room - c - w])
        loss_in = 0
        loss_out = 0
        for k in range(start[i], start[i + 1]):
            f = feature[k]
            now = min(best[f], copies[f])
            if now < count[k]:
                loss_in += net(table_start, table, price, scale, f, now) - net(
                    table_start, table, price, scale, f, count[k]
                )
            if now > copies[f] - count[k]:
                loss_out += net(table_start, table, price, scale, f, now) - net(
                    table_start, table, price, scale, f, copies[f] - count[k]
                )
        for k in range(fee_start[i], fee_start[i + 1]):
            g = fee[k]
            now = fee_term(fee_weight[g], fee_step[g], scale, zero, zero, shares[g])
            rest = shares[g] - fee_share[k]
            loss_in += now - fee_term(fee_weight[g], fee_step[g], scale, fee_count[k], fee_share[k], rest)
            loss_out += now - fee_term(fee_weight[g], fee_step[g], scale, zero, zero, rest)
        fits_in = into > -(2**60) and bound + into - loss_in >= goal
        fits_out = out > -(2**60) and bound + out - loss_out >= goal
        if not fits_in and not fits_out:
            return np.int64(-(2**61)), moved
        if not fits_in:
            state[i] = 0
            moved += 1
        elif not fits_out:
            state[i] = 1
            moved += 1
        for c in range(room, w - 1, -1):
            if prefix[c - w] > -(2**60):
                prefix[c] = max(prefix[c], prefix[c - w] + p)
    return total, moved


@njit(cache=True)
def bounds_within(core, longest):
    """Return the bound of every maximum length up to `longest` by the same prices; without fees or a least length."""
    _ids, lengths, mass, start, feature, count, table_start, table, price, _fees, base, _low, _high, scale = core
    n, m = len(lengths), len(price)
    copies = np.zeros(m, np.int64)
    for k in range(len(feature)):
        copies[feature[k]] += count[k]
    best = best_counts(table_start, table, price, scale)
    slack = base * scale
    for f in range(m):
        slack += net(table_start, table, price, scale, f, min(best[f], copies[f]))
    out = np.empty(longest + 1, np.int64)
    for c in range(longest + 1):
        out[c] = slack
    for i in range(n):
        profit = mass[i] * scale
        for k in range(start[i], start[i + 1]):
            profit += price[feature[k]] * count[k]
        for c in range(longest, lengths[i] - 1, -1):
            out[c] = max(out[c], out[c - lengths[i]] + profit)
    for c in range(longest + 1):
        out[c] //= scale
    return out


@njit(cache=True)
def total_of(held, core):
    """Return what a core's units are worth together, without its base."""
    _ids, _lengths, mass, start, feature, count, table_start, table, _price, fees, _base, _low, _high, _scale = core
    fee_start, fee, fee_count, _fee_share, fee_weight, fee_step = fees
    have = np.zeros(len(table_start) - 1, np.int64)
    paid = np.zeros(len(fee_weight), np.int64)
    total = 0
    for i in range(len(held)):
        if held[i]:
            total += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
            for k in range(fee_start[i], fee_start[i + 1]):
                paid[fee[k]] += fee_count[k]
    for g in range(len(fee_weight)):
        total -= fee_weight[g] * min(paid[g], fee_step[g])
    for f in range(len(have)):
        total += table[table_start[f] + min(have[f], table_start[f + 1] - table_start[f] - 1)]
    return total


def upper_bound(core: Core) -> int | None:
    """Return the bound times ``core.scale``; None if no selection meets the length limits."""
    bound, _, _ = decide(core, None)
    return bound if bound > IMPOSSIBLE // 2 else None


def decide(core: Core, target: int | None) -> tuple[int, States, int]:
    """Bound a core and find the units that every selection of value >= `target` takes, or drops (`Operations`)."""
    state: NDArray[np.int8] = np.empty(core.size, np.int8)
    bound, moved = _decide(core.plain, grain_of(core), 0 if target is None else target, target is None, state)
    return int(bound), state, int(moved)
