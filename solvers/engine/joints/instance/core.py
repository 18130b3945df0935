"""The engine's instance: what is left of a program once some units are taken and some are dropped.

Items are the units, in an order in which every unit is followed by its descendants, and behind them the *joints*
(occurrences that several units decide). The value of a selection that is closed under parents is

    base + sum of mass over the chosen units and the active joints + sum over f of table_f(copies of f in them).

The tables of the features are concave and growing; *fees* cost ``weight * min(copies, step)`` (what a denominator
counts, times a penalty). *Rows* are inequalities that every selection meets and that give the relaxation its strength:
of the members of a row at most one joint is active, and only if its unit is chosen (a need) or not chosen (a veto).
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ...program import widths

NEED: Final = 0
VETO: Final = 1

_EMPTY: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Fees:
    """What copies cost: the row of an item is ``fee[start[i]:start[i + 1]]`` with the copies `count` of each."""

    start: IntArray
    fee: IntArray
    count: IntArray
    weight: IntArray
    step: IntArray

    @staticmethod
    def none(items: int) -> Fees:
        """Return no fees."""
        return Fees(np.zeros(items + 1, np.int64), _EMPTY, _EMPTY, _EMPTY, _EMPTY)

    @property
    def item(self) -> IntArray:
        """Item of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), widths(self.start))


class Rows(NamedTuple):
    """Inequalities over joints: entry k says that joint ``joint[k]`` is a member of row ``row[k]``.

    Attributes
    ----------
    unit : (rows,)
        The unit that the members need or that vetoes them; -1 for "at most one of them", whatever is chosen.
    sign : (rows,)
        `NEED` or `VETO`.
    price : (rows,)
        Multipliers >= 0, scaled as those of the features.
    """

    unit: IntArray
    sign: IntArray
    price: IntArray
    row: IntArray
    joint: IntArray


class Priced(NamedTuple):
    """A core's entries with the fees behind them as features, and what the prices make of them.

    Attributes
    ----------
    start, feature, copies, table_start, table, price :
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
    """

    start: IntArray
    feature: IntArray
    copies: IntArray
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


@dataclass(frozen=True, eq=False)
class Core:
    """An instance for the kernels.

    Attributes
    ----------
    ids : (n,)
        Numbers of the units in the program.
    lengths, parent : (n,)
        `parent` is a smaller number or -1; the descendants of a unit follow it immediately.
    mass : (n + joints,)
    start, feature, count : (n + joints + 1,), (entries,), (entries,)
        Row of an item: ``feature[start[i]:start[i + 1]]`` and the copies ``count`` of each.
    table_start, table, price :
        As in `..singles.core.Core`.
    fees : Fees
    need_joint, need_unit, veto_joint, veto_unit :
        Entries "joint needs unit" and "unit vetoes joint".
    base, low, high, scale : int
        As in `..singles.core.Core`.
    """

    ids: IntArray
    lengths: IntArray
    parent: IntArray
    mass: IntArray
    start: IntArray
    feature: IntArray
    count: IntArray
    table_start: IntArray
    table: IntArray
    price: IntArray
    fees: Fees
    need_joint: IntArray
    need_unit: IntArray
    veto_joint: IntArray
    veto_unit: IntArray
    rows: Rows
    base: int
    low: int
    high: int
    scale: int

    @property
    def size(self) -> int:
        """Number of undecided units."""
        return len(self.ids)

    @property
    def joints(self) -> int:
        """Number of joints that may become active."""
        return len(self.mass) - len(self.ids)

    @property
    def ties(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """The entries of joints and units, as kernels take them."""
        return self.need_joint, self.need_unit, self.veto_joint, self.veto_unit

    @cached_property
    def skip(self) -> IntArray:
        """The first unit behind each unit's descendants."""
        skip: IntArray = _skips(self.parent)
        return skip

    @cached_property
    def at(self) -> Priced:
        """What its prices make of it."""
        return _priced(self)


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
def _price(n, entries, rising, mass, scale, base, rows):
    start, feature, count, table_start, table, price = entries
    row_unit, row_sign, row_price, row, joint = rows
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
        slack += term(table_start, table, price, scale, rising, best, f, np.int64(0), left[f])
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


def _priced(core: Core) -> Priced:
    """Evaluate the prices of a core."""
    fees, rising = core.fees, len(core.table_start) - 1
    start, feature, count = core.start, core.feature, core.count
    table_start, table = core.table_start, core.table
    price = core.price
    if len(fees.weight):
        items = len(core.mass)
        item = np.concatenate([np.repeat(np.arange(items), widths(start)), fees.item])
        order = np.argsort(item, kind="stable")
        feature = np.concatenate([feature, rising + fees.fee])[order]
        count = np.concatenate([count, fees.count])[order]
        start = start + fees.start
        table_start = np.concatenate([table_start, table_start[-1] + np.cumsum(fees.step + 1)])
        table = np.concatenate(
            [table, *(-weight * np.arange(step + 1) for weight, step in zip(fees.weight, fees.step, strict=True))]
        )
        price = np.concatenate([price, np.zeros(len(fees.weight), np.int64)])
    entries = start, feature, count, table_start, table, price
    left, best, alone, profit, surplus, slack = _price(
        core.size, entries, rising, core.mass, core.scale, core.base, core.rows
    )
    return Priced(*entries, rising, best, left, alone, profit, surplus, int(slack))
