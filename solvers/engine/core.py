"""The instance that the engine searches, and what is left of it once units are decided.

A `Core` is what is left of a program once some units are taken and some are dropped. Its items are the units and,
behind them, the *joints*: occurrences that several units decide. The value of a selection closed under parents is

    base + sum of mass[i] over the chosen units and active joints + sum over features f of table_f(copies of f in them)
         - sum over capped costs g of weight_g * min(copies of g in them, step_g),

where every table is concave, starts with 0 and is not linear over the copies that are left, and no cost is linear over
them either. Masses may be negative. Recall has no costs, extracts have no joints.

`reduce_core` writes a gain table as a sum of terms ``delta_t * min(copies, t)`` and uses three facts, none of which
changes the value of a selection:

* a term that all remaining copies together cannot fill is linear and goes into `mass`;
* a term that is full already goes into `base`;
* in a term with threshold t, more than t copies in one item count as t. Such terms become features of their own
  with clipped counts (a tighter relaxation); terms with t >= every item's count stay together in one table.

Columns that are the same up to a common factor are merged into one feature. What remains of a column after merging is
split by sign: the terms that gain are a concave table, each one that costs is a capped cost, ``-weight * min(copies,
step)`` (an n-gram that a denominator counts). A joint whose last needed unit is left is as good as a part of that unit;
one that no longer adds anything goes.
"""

# mypy: disable-error-code="no-untyped-def, operator, assignment, arg-type"
# (numba infers the types of the kernels; mypy takes its lists of numbers for lists of int.)

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from .program import widths

DROPPED: Final = 0
TAKEN: Final = 1
FREE: Final = 2

States = NDArray[np.int8]  # For each unit whether it is decided, and how.


NEED: Final = 0
VETO: Final = 1

_NONE: Final = np.zeros(0, np.int64)


class CappedCosts(NamedTuple):
    """Costs of copies up to a number: ``cost[start[i]:start[i + 1]]`` are those that item i has copies of."""

    # start, cost, copies: (items + 1,), (entries,), (entries,)
    start: IntArray
    cost: IntArray
    copies: IntArray
    # (entries,): what each item pays of a cost in bounds, scaled: any value from 0 to weight * copies is valid.
    share: IntArray
    # weight, step: (costs,)
    weight: IntArray
    step: IntArray

    @staticmethod
    def none(items: int) -> CappedCosts:
        """Return no costs."""
        return CappedCosts(np.zeros(items + 1, np.int64), _NONE, _NONE, _NONE, _NONE, _NONE)


class JointRows(NamedTuple):
    """Inequalities over joints: entry k says that joint ``joint[k]`` is a member of row ``row[k]``.

    Of the members of a row at most one is active, and only if the row's unit is chosen (a need) or not chosen (a veto).
    Every selection meets them; they give the relaxation its strength.
    """

    # (rows,): the unit that the members need or that vetoes them; -1 for "at most one of them", whatever is chosen.
    unit: IntArray
    sign: IntArray  # (rows,): `NEED` or `VETO`.
    price: IntArray  # (rows,): multipliers >= 0, scaled as those of the features.
    row: IntArray
    joint: IntArray


class Ties(NamedTuple):
    """Ties between units: parents, and joints with their rows; all arrays are empty where there are none."""

    parent: IntArray  # (n,): a smaller number or -1; the descendants of a unit follow it immediately.
    # need_joint, need_unit, veto_joint, veto_unit: entries "joint needs unit" and "unit vetoes joint".
    need_joint: IntArray
    need_unit: IntArray
    veto_joint: IntArray
    veto_unit: IntArray
    rows: JointRows


NO_TIES: Final = Ties(_NONE, _NONE, _NONE, _NONE, _NONE, JointRows(_NONE, _NONE, _NONE, _NONE, _NONE))


class Core(NamedTuple):
    """An instance for the kernels; units, joints and features are numbered from 0 anew.

    A named tuple, as it is made several times a topic: a frozen dataclass with as many fields takes 5-15 us each time.
    """

    ids: IntArray  # (n,): unit number in the program.
    # (n,): they are 0, and so is `high`, once nothing ties units together and everything that is left fits.
    lengths: IntArray
    mass: IntArray  # (items,)
    # start, feature, count: (items + 1,), (entries,), (entries,): row of item i: ``feature[start[i]:start[i + 1]]`` and
    # the copies ``count`` of each.
    start: IntArray
    feature: IntArray
    count: IntArray
    # table_start, table: (m + 1,), (...,): gain of c copies of f: ``table[table_start[f] + min(c, M_f)]``.
    table_start: IntArray
    table: IntArray
    price: IntArray  # (m,): multipliers of the features, scaled by `scale`: any value >= 0 gives a valid bound.
    costs: CappedCosts
    base: int  # Value of what is taken already.
    # low, high: least and largest length that may still be added.
    low: int
    high: int
    scale: int  # Fixed-point unit of prices and bounds.
    ties: Ties = NO_TIES

    @property
    def size(self) -> int:
        """Number of undecided units."""
        return len(self.ids)

    @property
    def joints(self) -> int:
        """Number of joints that may become active."""
        return len(self.mass) - len(self.ids)

    @property
    def tied(self) -> bool:
        """Whether there are joints or parents."""
        return len(self.ties.parent) > 0

    @property
    def plain(self) -> tuple[Any, ...]:
        """The fields as kernels take them: numba finds the type of plain tuples sooner than that of named ones."""
        ties = self.ties
        return (*self[:9], self.costs[:], *self[10:14], (*ties[:5], *ties.rows))

    @property
    def skip(self) -> IntArray:
        """The first unit behind each unit's descendants; empty where nothing is tied."""
        skip: IntArray = _skips(self.ties.parent) if self.tied else _NONE
        return skip


@njit(cache=True)
def terms_of(gains, first, last, price, scale, steps, weights, prices):
    """Split table ``gains[first:last]`` into terms ``weights[k] * min(c, steps[k])`` and share out its price.

    The price goes to the terms so that the bound does not change: terms beyond the table's best count get their
    slope, terms below it nothing, the term at it the rest. Terms that cost have no price.
    """
    found = 0
    paid = -1
    left = price
    for t in range(last - first - 1, 0, -1):
        here = gains[first + t] - gains[first + t - 1]
        after = gains[first + t + 1] - gains[first + t] if first + t + 1 < last else 0
        if here != after:
            steps[found] = t
            weights[found] = here - after
            prices[found] = 0
            if here > after:
                prices[found] = min(left, (here - after) * scale)
                left -= prices[found]
                paid = found
            found += 1
    if paid >= 0:
        prices[paid] += left
    return found


@njit(cache=True)
def gcd(a, b):
    """Greatest common divisor."""
    while b:
        a, b = b, a % b
    return a


@njit(cache=True)
def mix(x):
    """Splitmix64: spread the bits of a number."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def _no_slots(size):
    slot = np.empty(size, np.int64)
    for k in range(size):
        slot[k] = -1
    return slot


@njit(cache=True)
def _longer(values, least):
    """Return the values in an array of at least twice the room."""
    out = np.empty(max(least, 2 * len(values)), np.int64)
    for k in range(len(values)):
        out[k] = values[k]
    return out


@njit(cache=True)
def reduce_core(state, mass, entries, scale, costs_of):
    """Fold decided units into base and mass, split, clip and merge what is left.

    `state` (n,) int8: `DROPPED`, `TAKEN` or `FREE`. `entries`: of any tables that begin with 0; as in `Core`. The
    result: `keep` are the free items' old numbers; `gained` is the value that the taken items have by themselves.
    """
    start, feature, count, table_start, table, price = entries
    cost_start, cost, cost_count, cost_share, cost_weight, cost_step = costs_of
    n = len(state)
    tables = len(table_start) - 1
    m = tables + len(cost_weight)  # one row a table, then one a cost
    free = 0
    for i in range(n):
        free += state[i] == 2
    keep = np.empty(free, np.int64)
    new = np.empty(n, np.int64)
    out_mass = np.empty(free, np.int64)
    free = 0
    for i in range(n):
        if state[i] == 2:
            keep[free] = i
            new[i] = free
            out_mass[free] = mass[i]
            free += 1
    gained = 0

    # Columns: the free units of each feature, and the copies taken already.
    column = np.zeros(m + 1, np.int64)
    have = np.zeros(m, np.int64)
    for i in range(n):
        if state[i] == 1:
            gained += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
            for k in range(cost_start[i], cost_start[i + 1]):
                have[tables + cost[k]] += cost_count[k]
        elif state[i] == 2:
            for k in range(start[i], start[i + 1]):
                column[feature[k] + 1] += 1
            for k in range(cost_start[i], cost_start[i + 1]):
                column[tables + cost[k] + 1] += 1
    longest = 2
    for f in range(m):
        if f < tables:
            longest = max(longest, table_start[f + 1] - table_start[f])
        column[f + 1] += column[f]
    fill = np.empty(m, np.int64)
    for f in range(m):
        fill[f] = column[f]
    unit = np.empty(column[m], np.int64)
    copies = np.empty(column[m], np.int64)
    share = np.zeros(column[m] if len(cost_weight) else 0, np.int64)
    for i in range(n):
        if state[i] == 2:
            for k in range(start[i], start[i + 1]):
                at = fill[feature[k]]
                unit[at] = new[i]
                copies[at] = count[k]
                fill[feature[k]] += 1
            for k in range(cost_start[i], cost_start[i + 1]):
                at = fill[tables + cost[k]]
                unit[at] = new[i]
                copies[at] = cost_count[k]
                share[at] = cost_share[k]
                fill[tables + cost[k]] += 1

    steps = np.empty(longest, np.int64)
    weights = np.empty(longest, np.int64)
    prices = np.empty(longest, np.int64)

    # New columns, one after another, found again by hash; their terms as a list of (column, step, weight, price).
    columns = 0
    terms = 0
    col_start = np.zeros(m + 2, np.int64)
    col_unit = np.empty(column[m] + 1, np.int64)
    col_count = np.empty(column[m] + 1, np.int64)
    col_share = np.empty(column[m] + 1, np.int64)
    most_terms = max(table_start[tables] - table_start[0], 0) + len(cost_weight)
    term_column = np.empty(most_terms, np.int64)
    term_step = np.empty(most_terms, np.int64)
    term_weight = np.empty(most_terms, np.int64)
    term_price = np.empty(most_terms, np.int64)
    signed = False
    slots = 64
    while slots < 4 * (m + 1):
        slots *= 2
    slot = _no_slots(slots)

    for f in range(m):
        lo, hi = column[f], column[f + 1]
        if f < tables:
            found = terms_of(table, table_start[f], table_start[f + 1], price[f], scale, steps, weights, prices)
        else:
            found = 1
            steps[0] = cost_step[f - tables]
            weights[0] = -cost_weight[f - tables]
            prices[0] = 0
        biggest = 0
        total = 0
        for k in range(lo, hi):
            biggest = max(biggest, copies[k])
            total += copies[k]
        open_column = -1
        for s in range(found):
            t = steps[s] - have[f]
            if t <= 0:
                gained += weights[s] * steps[s]
                continue
            gained += weights[s] * have[f]
            room = total
            if t < biggest:
                room = 0
                for k in range(lo, hi):
                    room += min(copies[k], t)
            if room <= t:
                for k in range(lo, hi):
                    out_mass[unit[k]] += weights[s] * min(copies[k], t)
                continue
            clip = t < biggest
            if clip or open_column < 0:
                factor = np.int64(0)
                for k in range(lo, hi):
                    factor = gcd(min(copies[k], t) if clip else copies[k], factor)
                if not clip:
                    factor = 1
                h = np.uint64(hi - lo)
                for k in range(lo, hi):
                    a = (min(copies[k], t) if clip else copies[k]) // factor
                    h = mix(h ^ np.uint64(unit[k] * 1048576 + a))
                at = np.int64(h & np.uint64(slots - 1))
                which = -1
                while slot[at] >= 0:
                    c = slot[at]
                    first = col_start[c]
                    if col_start[c + 1] - first == hi - lo:
                        same = True
                        for k in range(lo, hi):
                            a = (min(copies[k], t) if clip else copies[k]) // factor
                            if col_unit[first + k - lo] != unit[k] or col_count[first + k - lo] != a:
                                same = False
                                break
                        if same:
                            which = c
                            break
                    at = (at + 1) & (slots - 1)
                if which < 0:
                    which = columns
                    first = col_start[which]
                    last = first + hi - lo
                    if last > len(col_unit):
                        col_unit = _longer(col_unit, last)
                        col_count = _longer(col_count, last)
                        col_share = _longer(col_share, last)
                    if which + 2 > len(col_start):
                        col_start = _longer(col_start, which + 2)
                    for k in range(lo, hi):
                        col_unit[first + k - lo] = unit[k]
                        col_count[first + k - lo] = (min(copies[k], t) if clip else copies[k]) // factor
                        col_share[first + k - lo] = 0
                    columns += 1
                    col_start[columns] = last
                    slot[at] = which
                    if 2 * which > slots:
                        slots *= 4
                        slot = _no_slots(slots)
                        for c in range(which + 1):
                            h = np.uint64(col_start[c + 1] - col_start[c])
                            for k in range(col_start[c], col_start[c + 1]):
                                h = mix(h ^ np.uint64(col_unit[k] * 1048576 + col_count[k]))
                            at = np.int64(h & np.uint64(slots - 1))
                            while slot[at] >= 0:
                                at = (at + 1) & (slots - 1)
                            slot[at] = c
                if not clip:
                    open_column = which
            else:
                which = open_column
                factor = 1
            if weights[s] < 0:
                signed = True
            if f >= tables:
                for k in range(lo, hi):
                    col_share[col_start[which] + k - lo] += share[k]
            if not clip:
                factor = 1
            term_column[terms] = which
            term_step[terms] = t // factor  # some unit has t copies after clipping, so the factor divides t
            term_weight[terms] = weights[s] * factor
            term_price[terms] = prices[s] * factor
            terms += 1

    size = np.zeros(columns, np.int64)
    out_price = np.zeros(columns, np.int64)
    for k in range(terms):
        c = term_column[k]
        size[c] = max(size[c], term_step[k] + 1)
        out_price[c] += term_price[k]
    out_table_start = np.zeros(columns + 1, np.int64)
    for c in range(columns):
        out_table_start[c + 1] = out_table_start[c] + size[c]
    out_table = np.zeros(out_table_start[columns], np.int64)
    for k in range(terms):
        c = term_column[k]
        for x in range(size[c]):
            out_table[out_table_start[c] + x] += term_weight[k] * min(x, term_step[k])

    # The number of each column's table, and the costs that are left of columns.
    number = np.empty(columns, np.int64)
    for c in range(columns):
        number[c] = c
    costs = 0
    cost_column = np.empty(terms, np.int64)
    weight_out = np.empty(terms, np.int64)
    step_out = np.empty(terms, np.int64)
    if signed:
        kept = 0
        at = 0
        for c in range(columns):
            first, last = out_table_start[c], out_table_start[c + 1]
            top = 0
            found = terms_of(out_table, first, last, np.int64(0), scale, steps, weights, prices)
            for s in range(found):
                if weights[s] > 0:
                    top = max(top, steps[s])
                else:
                    cost_column[costs] = c
                    weight_out[costs] = -weights[s]
                    step_out[costs] = steps[s]
                    costs += 1
            number[c] = -1
            if top > 0:
                for x in range(top + 1):
                    out_table[at + x] = 0  # at <= first: what is overwritten has been read
                for s in range(found):
                    if weights[s] > 0:
                        for x in range(top + 1):
                            out_table[at + x] += weights[s] * min(x, steps[s])
                number[c] = kept
                out_price[kept] = out_price[c]
                out_table_start[kept] = at
                kept += 1
                at += top + 1
        out_table_start[kept] = at
        out_table_start = out_table_start[: kept + 1]
        out_table = out_table[:at]
        out_price = out_price[:kept]

    out_start = np.zeros(free + 1, np.int64)
    for c in range(columns):
        if number[c] >= 0:
            for k in range(col_start[c], col_start[c + 1]):
                out_start[col_unit[k] + 1] += 1
    for i in range(free):
        out_start[i + 1] += out_start[i]
    at_row = np.empty(free, np.int64)
    for i in range(free):
        at_row[i] = out_start[i]
    out_feature = np.empty(out_start[free], np.int64)
    out_count = np.empty(out_start[free], np.int64)
    for c in range(columns):
        if number[c] >= 0:
            for k in range(col_start[c], col_start[c + 1]):
                i = col_unit[k]
                out_feature[at_row[i]] = number[c]
                out_count[at_row[i]] = col_count[k]
                at_row[i] += 1

    out_cost_start = np.zeros(free + 1, np.int64)
    for g in range(costs):
        for k in range(col_start[cost_column[g]], col_start[cost_column[g] + 1]):
            out_cost_start[col_unit[k] + 1] += 1
    for i in range(free):
        out_cost_start[i + 1] += out_cost_start[i]
    for i in range(free):
        at_row[i] = out_cost_start[i]
    out_cost = np.empty(out_cost_start[free], np.int64)
    out_cost_count = np.empty(out_cost_start[free], np.int64)
    out_cost_share = np.zeros(out_cost_start[free], np.int64)
    out_cost_weight = np.empty(costs, np.int64)
    out_cost_step = np.empty(costs, np.int64)
    for g in range(costs):
        c = cost_column[g]
        out_cost_weight[g] = weight_out[g]
        out_cost_step[g] = step_out[g]
        for k in range(col_start[c], col_start[c + 1]):
            i = col_unit[k]
            held = min(col_count[k], step_out[g])
            out_cost[at_row[i]] = g
            out_cost_count[at_row[i]] = held
            if g == 0 or cost_column[g - 1] != c:  # a column's shares go to its first cost
                out_cost_share[at_row[i]] = min(col_share[k], weight_out[g] * held * scale)
            at_row[i] += 1
    out_entries = out_start, out_feature, out_count, out_table_start, out_table, out_price
    out_costs = out_cost_start, out_cost, out_cost_count, out_cost_share, out_cost_weight, out_cost_step
    return keep, out_mass, out_entries, gained, out_costs


@njit(cache=True)
def _skips(parent):
    """Return the first unit behind each unit's descendants."""
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
def _pass_up(parent, found):
    for i in range(len(parent) - 1, -1, -1):
        if found[i] and parent[i] >= 0:
            found[parent[i]] = True


def effective(core: Core) -> NDArray[np.bool_]:
    """Return whether a unit, or any below it, gains, loses, or matters to a joint."""
    n, ties = core.size, core.ties
    found: NDArray[np.bool_] = (core.mass[:n] != 0) | (widths(core.start) > 0)[:n] | (widths(core.costs.start) > 0)[:n]
    if core.tied:
        found[ties.need_unit] = True
        found[ties.veto_unit] = True
        _pass_up(ties.parent, found)
    return found


def lean(core: Core) -> Core:
    """Return the core without units that can only fill a summary up, unless it must be filled."""
    if core.low > 0:
        return core
    useful = effective(core)
    return core if useful.all() else reduced(core, np.where(useful, np.int8(FREE), np.int8(DROPPED)))


def above(core: Core, unit: int) -> IntArray:
    """Return a unit and its ancestors."""
    chain = [unit]
    while core.tied and core.ties.parent[chain[-1]] >= 0:
        chain.append(int(core.ties.parent[chain[-1]]))
    return np.array(chain)


def below(core: Core, unit: int) -> IntArray:
    """Return a unit and its descendants."""
    return np.arange(unit, int(core.skip[unit])) if core.tied else np.array([unit])


def reduced(core: Core, state: States) -> Core:
    """Return the core that remains once units are taken (`TAKEN`) or dropped (`DROPPED`).

    A unit may be taken only with its parent, and is dropped with it: the caller sees to that.
    """
    if core.joints:
        return _reduced_joints(core, state)
    entries = core.start, core.feature, core.count, core.table_start, core.table, core.price
    keep, mass, entries, gained, costs = reduce_core(state, core.mass, entries, core.scale, core.costs[:])
    start, feature, count, table_start, table, price = entries
    used = int(core.lengths[state == TAKEN].sum())
    lengths, low, high, ties = core.lengths[keep], core.low - used, core.high - used, NO_TIES
    if core.tied:
        parent = core.ties.parent[keep]
        parent = np.where((parent >= 0) & (state[parent] == FREE), (np.cumsum(state == FREE) - 1)[parent], -1)
        if (parent >= 0).any():
            ties = NO_TIES._replace(parent=parent)
    lengths, low, high = _lengths_left(lengths, low, high, tied=len(ties.parent) > 0)
    return Core(
        ids=core.ids[keep],
        lengths=lengths,
        mass=mass,
        start=start,
        feature=feature,
        count=count,
        table_start=table_start,
        table=table,
        price=price,
        costs=CappedCosts(*costs),
        base=core.base + int(gained),
        low=low,
        high=high,
        scale=core.scale,
        ties=ties,
    )


def _lengths_left(lengths: IntArray, low: int, high: int, *, tied: bool) -> tuple[IntArray, int, int]:
    total = int(lengths.sum())
    if low <= 0 <= high and total <= high and not tied:
        return np.zeros(len(lengths), np.int64), 0, 0
    return lengths, low, min(high, total)


def _merged(item_of: IntArray, start: IntArray, feature: IntArray, *values: IntArray) -> tuple[IntArray, ...]:
    """Return the rows of the items, and their values, after some items' entries have moved to others."""
    width = int(feature.max(initial=0)) + 1
    cell, where = np.unique(item_of.repeat(widths(start)) * width + feature, return_inverse=True)
    starts = np.zeros(len(item_of) + 1, np.int64)
    np.bincount(cell // width, minlength=len(item_of)).cumsum(out=starts[1:])
    found = [starts, cell % width]
    for value in values:
        found.append(np.zeros(len(cell), np.int64))
        np.add.at(found[-1], where, value)
    return tuple(found)


def _kept_rows(
    rows: JointRows, state: States, alive: NDArray[np.bool_], unit_of: IntArray, joint_of: IntArray
) -> JointRows:
    """Keep the members that may become active; a row whose unit is decided is one only if it has two of them."""
    kept = alive[rows.joint]
    members = np.bincount(rows.row[kept], minlength=len(rows.unit))
    free = np.zeros(len(rows.unit), np.bool_)
    tied = rows.unit >= 0
    free[tied] = state[rows.unit[tied]] == FREE
    stays = np.where(free, members >= 1, members >= 2)
    kept &= stays[rows.row]
    number = stays.cumsum() - 1
    return JointRows(
        np.where(free, unit_of[rows.unit], -1)[stays] if len(unit_of) else np.full(int(stays.sum()), -1, np.int64),
        rows.sign[stays],
        rows.price[stays],
        number[rows.row[kept]],
        joint_of[rows.joint[kept]],
    )


def _into_units(core: Core, lone: NDArray[np.bool_]) -> tuple[IntArray, IntArray, IntArray, IntArray, CappedCosts]:
    """Return entries, mass and costs of all items where joints are parts of a unit; `lone` marks those needs."""
    if not lone.any():
        return core.start, core.feature, core.count, core.mass, core.costs
    n, costs = core.size, core.costs
    joint, unit = core.ties.need_joint[lone], core.ties.need_unit[lone]
    item_of = np.arange(len(core.mass))
    item_of[n + joint] = unit
    mass = core.mass.copy()
    np.add.at(mass, unit, mass[n + joint])
    if len(costs.cost):
        start, cost, copies, share = _merged(item_of, costs.start, costs.cost, costs.copies, costs.share)
        costs = CappedCosts(start, cost, copies, share, costs.weight, costs.step)
    start, feature, count = _merged(item_of, core.start, core.feature, core.count)
    return start, feature, count, mass, costs


def _reduced_joints(core: Core, state: States) -> Core:
    n, joints, ties = core.size, core.joints, core.ties
    dead = np.zeros(joints, np.bool_)
    dead[ties.need_joint[state[ties.need_unit] == DROPPED]] = True
    dead[ties.veto_joint[state[ties.veto_unit] == TAKEN]] = True
    needed = (state[ties.need_unit] == FREE) & ~dead[ties.need_joint]
    vetoed = (state[ties.veto_unit] == FREE) & ~dead[ties.veto_joint]
    needs = np.bincount(ties.need_joint[needed], minlength=joints)
    vetoes = np.bincount(ties.veto_joint[vetoed], minlength=joints)
    active = ~dead & (needs + vetoes == 0)
    single = ~dead & (needs == 1) & (vetoes == 0)  # as good as a part of its unit

    item_state = np.full(n + joints, np.int8(FREE))
    item_state[:n] = state
    item_state[n:][dead | single] = DROPPED
    item_state[n:][active] = TAKEN
    start, feature, count, mass, costs = _into_units(core, needed & single[ties.need_joint])
    entries = start, feature, count, core.table_start, core.table, core.price
    keep, mass, entries, gained, paid = reduce_core(item_state, mass, entries, core.scale, costs[:])
    start, feature, count, table_start, table, price = entries
    costs = CappedCosts(*paid)
    number = np.full(n + joints, -1, np.int64)
    number[keep] = np.arange(len(keep))

    # Joints that no longer matter go: without mass and features nothing distinguishes active from not.
    size = int((state == FREE).sum())
    matters = (mass != 0) | (widths(start) > 0) | (widths(costs.start) > 0)
    matters[:size] = True
    joint_of = np.full(joints, -1, np.int64)
    joint_of[keep[size:][matters[size:]] - n] = np.arange(int(matters[size:].sum()))
    alive = joint_of >= 0
    if not matters.all():
        mass = mass[matters]
        start = np.append(start[:-1][matters], start[-1])
        costs = costs._replace(start=np.append(costs.start[:-1][matters], costs.start[-1]))
    needed &= alive[ties.need_joint]
    vetoed &= alive[ties.veto_joint]
    unit_of = number[:n]
    free = state == FREE
    parent = ties.parent[free]
    parent = np.where(parent >= 0, unit_of[parent], -1) if n else parent  # a taken parent is number -1
    used = int(core.lengths[state == TAKEN].sum())
    tied = len(mass) > size or bool((parent >= 0).any())
    lengths, low, high = _lengths_left(core.lengths[free], core.low - used, core.high - used, tied=tied)
    left = NO_TIES
    if tied:
        left = Ties(
            parent,
            joint_of[ties.need_joint[needed]],
            unit_of[ties.need_unit[needed]],
            joint_of[ties.veto_joint[vetoed]],
            unit_of[ties.veto_unit[vetoed]],
            _kept_rows(ties.rows, state, alive, unit_of, joint_of),
        )
    return Core(
        core.ids[free],
        lengths,
        mass,
        start,
        feature,
        count,
        table_start,
        table,
        price,
        costs,
        core.base + int(gained),
        low,
        high,
        core.scale,
        left,
    )
