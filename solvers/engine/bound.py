r"""The Lagrangian bound in integers, and the units that it decides.

With prices p_f >= 0 on copies and y_r >= 0 on rows of joints, every selection S that is closed under parents has
(everything times `scale`)

    value(S) <= base + sum_f max over c in [0, R_f] of (table_f(c) - p_f c) + sum over joints o of max(0, q_o)
                + sum of y_r over the vetoing and the unconditional rows + sum over S of profit_i,

    profit_i = mass_i + sum_f p_f count_if + sum of y_r over the rows that need i - over those that i vetoes,
    q_o      = mass_o + sum_f p_f count_of - sum of y_r over the rows that o is a member of,

where R_f is the number of copies in all items. All but the last sum is `slack`; the last is at most an integer knapsack
over the lengths, under precedence: units are in preorder, so unit i is followed by i + 1 if it is taken, and by the
unit after its descendants if not. Knapsack tables from both ends give the bound with any one unit taken or dropped.

A capped cost, ``-weight * min(copies, step)``, is not concave: it is shared among its items instead. Item i pays a
share s_i of at most weight * copies of i if it is chosen (which lowers its profit), and the slack includes the largest
excess of the shares of a set T of undecided items over the cost. With v copies and the shares s(V) in the chosen items,
that is ``s(V) + max(-weight v, -weight step + s(undecided))``, without the first argument once v >= step: below the
step the shares of T are at most the cost of its copies, above it the whole cost is due.

Lengths may be divided by `grain` (rounded down) to keep the tables small, which only weakens the knapsack bound.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from .core import VETO, Core, States

IMPOSSIBLE: Final = -(2**61)  # Profit of a knapsack that cannot be filled to the least length.

_CELLS: Final = 20_000_000
_TIED_CELLS: Final = 4_000_000


def grain_of(core: Core) -> int:
    """Return the divisor of the lengths that keeps a knapsack table below 160 MB, and below 32 MB under precedence."""
    return max(1, -(-(core.size + 1) * (core.high + 1) // (_TIED_CELLS if core.tied else _CELLS)))


@njit(cache=True)
def worths(mass, start, feature, count, price, scale, cost_start, cost_share):
    """Return the mass of each item plus the value of its copies under the prices, minus its shares."""
    out = np.empty(len(mass), np.int64)
    for i in range(len(mass)):
        total = mass[i] * scale
        for k in range(start[i], start[i + 1]):
            total += price[feature[k]] * count[k]
        for k in range(cost_start[i], cost_start[i + 1]):
            total -= cost_share[k]
        out[i] = total
    return out


@njit(cache=True)
def best_counts(table_start, table, price, scale):
    """Return for each feature the largest c whose last step is worth at least its price."""
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
def cost_term(weight, step, scale, v, chosen, undecided):
    """Return the slack's term of a cost, with v copies and the shares `chosen`, without the shares `undecided`."""
    due = undecided - weight * step * scale
    if v >= step:
        return chosen + due
    return chosen + max(-weight * v * scale, due)


@njit(cache=True)
def knapsack(lengths, profit, skip, low, high, grain):
    """Return the knapsack table of units i.. : ``K[i, c]`` is the best profit with at most c length left of `high`.

    With a minimum length `low` (and grain 1), selections that are too short are IMPOSSIBLE. ``skip[i]`` is the first
    unit after the descendants of i; it is empty if no unit has any.
    """
    n = len(lengths)
    room = high // grain
    forest = len(skip) > 0
    K = np.zeros((n + 1, room + 1), np.int64)
    if grain == 1 and low > 0:
        for c in range(max(0, high - low + 1), room + 1):
            K[n, c] = -(2**61)
    for i in range(n - 1, -1, -1):
        w = lengths[i] // grain
        p = profit[i]
        past = skip[i] if forest else i + 1
        for c in range(min(w, room + 1)):
            K[i, c] = K[past, c]
        for c in range(w, room + 1):
            K[i, c] = max(K[past, c], K[i + 1, c - w] + p)
    return K


@njit(cache=True)
def evaluated(core):
    """Return a core's evaluation under its prices.

    `alone` (items,): mass and copies of each item under the prices, without rows. `best` (features,): the count that
    maximizes ``table - price * count`` without limits. `left` (features,): copies in all items.
    """
    _ids, lengths, mass, start, feature, count, table_start, table, price, costs, base, _low, _high, scale, ties = core
    cost_start, cost, _cost_count, cost_share, cost_weight, cost_step = costs
    _parent, _needs, _need_unit, _vetoes, _veto_unit, row_unit, row_sign, row_price, row, joint = ties
    n, m = len(lengths), len(price)
    zero = np.int64(0)  # a literal would compile `cost_term` once more
    alone = worths(mass, start, feature, count, price, scale, cost_start, cost_share)
    best = best_counts(table_start, table, price, scale)
    left = np.zeros(m, np.int64)
    for k in range(len(feature)):
        left[feature[k]] += count[k]
    slack = base * scale
    for f in range(m):
        slack += net(table_start, table, price, scale, f, min(best[f], left[f]))
    unpaid = np.zeros(len(cost_weight), np.int64)
    for k in range(len(cost)):
        unpaid[cost[k]] += cost_share[k]
    for g in range(len(cost_weight)):
        slack += cost_term(cost_weight[g], cost_step[g], scale, zero, zero, unpaid[g])
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
    return alone, profit, surplus, best, left, unpaid, slack


@njit(cache=True)
def _decide(core, skip, grain, target, bound_only, state):
    _ids, lengths, _mass, start, feature, count, table_start, table, price, costs, _base, low, high, scale, ties = core
    cost_start, cost, cost_count, cost_share, cost_weight, cost_step = costs
    parent, need_joint, need_unit, veto_joint, veto_unit, _ru, _rs, _rp, _row, _joint = ties
    n = len(lengths)
    forest = len(parent) > 0
    zero = np.int64(0)  # a literal would compile `cost_term` once more
    for i in range(n):
        state[i] = 2
    _alone, profit, surplus, best, copies, shares, bound = evaluated(core)
    K = knapsack(lengths, profit, skip, low, high, grain)
    room = high // grain
    total = bound + K[0, room]
    goal = target * scale
    moved = 0
    if bound_only or total < goal:
        return total, moved
    # What the choice of a unit costs joints: it makes some impossible.
    lost_in = np.zeros(n if forest else 0, np.int64)
    lost_out = np.zeros(n if forest else 0, np.int64)
    for k in range(len(need_unit)):
        lost_out[need_unit[k]] += max(0, surplus[need_joint[k]])
    for k in range(len(veto_unit)):
        lost_in[veto_unit[k]] += max(0, surplus[veto_joint[k]])
    dropped = np.empty(n if forest else 0, np.int64)
    # prefix[x, c]: best profit on the way to unit i that uses exactly c; one row serves all where nothing is skipped.
    prefix = np.full((n + 1 if forest else 1, room + 1), -(2**61), np.int64)
    prefix[0, 0] = 0
    for i in range(n):
        w = lengths[i] // grain
        p = profit[i]
        past = skip[i] if forest else i + 1
        x = i if forest else 0
        out = np.int64(-(2**61))
        into = np.int64(-(2**61))
        for c in range(room + 1):
            if prefix[x, c] > -(2**60):
                out = max(out, prefix[x, c] + K[past, room - c])
                if c + w <= room:
                    into = max(into, prefix[x, c] + p + K[i + 1, room - c - w])
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
        for k in range(cost_start[i], cost_start[i + 1]):
            g = cost[k]
            now = cost_term(cost_weight[g], cost_step[g], scale, zero, zero, shares[g])
            rest = shares[g] - cost_share[k]
            loss_in += now - cost_term(cost_weight[g], cost_step[g], scale, cost_count[k], cost_share[k], rest)
            loss_out += now - cost_term(cost_weight[g], cost_step[g], scale, zero, zero, rest)
        if forest:
            loss_in += lost_in[i]
            loss_out += lost_out[i]
            if parent[i] >= 0:
                out = max(out, dropped[parent[i]])
            dropped[i] = out
        fits_in = into > -(2**60) and bound + into - loss_in >= goal
        fits_out = out > -(2**60) and bound + out - loss_out >= goal
        if forest and parent[i] >= 0 and state[parent[i]] == 0:
            fits_in = False  # and the bound without it is that of its parent
            fits_out = True
        if not fits_in and not fits_out:
            return np.int64(-(2**61)), moved
        if not fits_in:
            state[i] = 0
            moved += 1
        elif not fits_out:
            state[i] = 1
            moved += 1
        if forest:
            for c in range(room + 1):
                here = prefix[i, c]
                if here > -(2**60):
                    prefix[past, c] = max(prefix[past, c], here)
                    if c + w <= room:
                        prefix[i + 1, c + w] = max(prefix[i + 1, c + w], here + p)
        else:
            for c in range(room, w - 1, -1):
                if prefix[0, c - w] > -(2**60):
                    prefix[0, c] = max(prefix[0, c], prefix[0, c - w] + p)
    if forest:  # a unit is taken with its ancestors
        for i in range(n - 1, -1, -1):
            if state[i] == 1 and parent[i] >= 0:
                if state[parent[i]] == 0:
                    return np.int64(-(2**61)), moved
                moved += state[parent[i]] == 2
                state[parent[i]] = 1
    return total, moved


@njit(cache=True)
def bounds_within(core, longest):
    """Return the bounds of all maximum lengths up to `longest` for the same prices, without costs or a minimum."""
    _ids, lengths, mass, start, feature, count, table_start, table, price, _costs, base, _low, _high, scale, _ties = (
        core
    )
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
def _through_seams(alone, first, second, worth, by_second, by_first):
    n, seams = len(alone), len(first)
    last, best = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)  # with a unit as the last one; of all units before it
    k = 0
    for i in range(n):
        top = best[i]
        while k < seams and second[by_second[k]] == i:
            top = max(top, last[first[by_second[k]]] + worth[by_second[k]])
            k += 1
        last[i] = top + alone[i]
        best[i + 1] = max(best[i], last[i])
    head, after = np.zeros(n, np.int64), np.zeros(n + 1, np.int64)  # the same from behind
    k = seams - 1
    for i in range(n - 1, -1, -1):
        top = after[i + 1]
        while k >= 0 and first[by_first[k]] == i:
            top = max(top, head[second[by_first[k]]] + worth[by_first[k]])
            k -= 1
        head[i] = top + alone[i]
        after[i] = max(after[i + 1], head[i])
    out = np.empty(seams, np.int64)
    for k in range(seams):
        out[k] = last[first[k]] + worth[k] + head[second[k]]
    return out


def bounds_of_seams(core: Core) -> tuple[IntArray, IntArray] | None:
    """Return the two units of each joint, and the bound, scaled, of selections in which it is active.

    None where joints are not all seams: of two units, and vetoed by all others between them that joints need. Active
    seams do not overlap then, so that the best choice of units and seams under the prices of the features alone is a
    longest path from unit to unit.
    """
    n, joints, ties = core.size, core.joints, core.ties
    if (ties.parent >= 0).any() or not (np.bincount(ties.need_joint, minlength=joints) == 2).all():
        return None
    ends = ties.need_unit[np.lexsort((ties.need_unit, ties.need_joint))].reshape(-1, 2)
    first, second = ends[:, 0], ends[:, 1]
    order = np.argsort(ties.veto_joint, kind="stable")
    joint, unit = ties.veto_joint[order], ties.veto_unit[order]
    needed = np.zeros(n, np.int64)
    needed[ties.need_unit] = 1
    alone, _profit, surplus, *_others, slack = evaluated(core.plain)
    held = np.maximum(alone[:n], 0)
    start = np.searchsorted(joint, np.arange(joints + 1))

    def left(values: IntArray) -> IntArray:
        """Return the sum of what the units between the two have that do not veto."""
        between, vetoing = (np.concatenate([[0], np.cumsum(each)]) for each in (values, values[unit]))
        found: IntArray = between[second] - between[first + 1] - vetoing[start[1:]] + vetoing[start[:-1]]
        return found

    apart = len(np.unique(first * n + second)) == joints
    if not apart or not ((unit > first[joint]) & (unit < second[joint])).all() or left(needed).any():
        return None
    slack -= int(np.maximum(surplus, 0).sum())
    rows = ties.rows
    slack -= int(rows.price[(rows.unit < 0) | (rows.sign == VETO)].sum())
    worth = alone[n:] + left(held)
    by_second, by_first = np.argsort(second, kind="stable"), np.argsort(first, kind="stable")
    return ends, slack + _through_seams(alone[:n].copy(), first.copy(), second.copy(), worth, by_second, by_first)


@njit(cache=True)
def total_of(held, core):
    """Return the total value of some units of a core, without its base and joints."""
    _ids, _lengths, mass, start, feature, count, table_start, table, _price, costs, _base, _low, _high, _, _ties = core
    cost_start, cost, cost_count, _fee_share, cost_weight, cost_step = costs
    have = np.zeros(len(table_start) - 1, np.int64)
    paid = np.zeros(len(cost_weight), np.int64)
    total = 0
    for i in range(len(held)):
        if held[i]:
            total += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
            for k in range(cost_start[i], cost_start[i + 1]):
                paid[cost[k]] += cost_count[k]
    for g in range(len(cost_weight)):
        total -= cost_weight[g] * min(paid[g], cost_step[g])
    for f in range(len(have)):
        total += table[table_start[f] + min(have[f], table_start[f + 1] - table_start[f] - 1)]
    return total


def decide(core: Core, target: int | None) -> tuple[int, States, int]:
    """Bound a core, and find the units that all selections of value >= `target` take, or drop.

    The result: the bound times ``core.scale``, too small if nothing reaches the target, and about `IMPOSSIBLE` if no
    selection meets the length limits; the units' states; the number of decided units.
    """
    state: NDArray[np.int8] = np.empty(core.size, np.int8)
    bound, moved = _decide(
        core.plain, core.skip, grain_of(core), 0 if target is None else target, target is None, state
    )
    return int(bound), state, int(moved)
