"""Programs, which maximize an integer total, and cores, the arrays that remain of a program once units are decided.

Recall is a program itself. One ratio T / D needs a short sequence of programs, ``q T - p D`` (Dinkelbach 1967); means
of several ratios are bounded by programs.

Side constraints are features: a selection that violates one has a lower value than every selection that keeps all. With
M = 1 + the largest total - the least, a row ``A <= high`` subtracts ``M max(0, A - high)``, as the feature ``M min(A,
high)`` and ``-M a_u`` for every unit; a row ``A >= low`` subtracts ``M max(0, low - A)``, as the feature ``M min(A,
low)`` and ``-M low``. Both are concave like all features: the price of such a feature is the multiplier of its row,
between 0 and M, and all bounds remain valid. For a negative coefficient ``-b_u``, ``b_u`` is added on both sides and
``b_u (1 - x_u)`` is counted, by copies of a joint that the unit vetoes.

A `Core` is the rest of a program after some units are taken and some are dropped. Its items are the units, followed by
the *joints*: occurrences that several units decide. The value of a selection closed under parents is

    base + sum of mass[i] over the chosen units and active joints + sum over features f of table_f(copies of f in them)
         - sum over capped costs g of weight_g * min(copies of g in them, step_g),

where every table is concave and starts with 0, and no table or cost is linear over the remaining copies. Masses may be
negative. Recall has no costs, extracts have no joints.

`reduce_core` writes a gain table as a sum of terms ``delta_t * min(copies, t)`` and uses three facts, none of which
changes the value of a selection:

* a term that all remaining copies together cannot fill is linear and goes into `mass`;
* a term that is full already goes into `base`;
* in a term with threshold t, more than t copies in one item count as t. Such terms become features of their own
  with clipped counts (a tighter relaxation); terms with t >= every item's count stay together in one table.

Columns that are the same up to a common factor are merged into one feature. After merging, a column is split by sign:
its gains form a concave table, and each cost is a capped cost, ``-weight * min(copies, step)`` (an n-gram that a
denominator counts). A joint with only one needed unit left becomes part of that unit; one that no longer adds anything
is removed.
"""

# mypy: disable-error-code="no-untyped-def, operator, assignment, arg-type"
# (numba infers the types of the kernels; mypy takes its lists of numbers for lists of int.)

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, IntArray, Joint, Row, grouped, packed_rows
from optsum.errors import UnsupportedError
from optsum.program.surrogate import reaches
from optsum.system.clock import NEVER, Deadline, Stopped, Termination
from optsum.system.compiled import njit

_NO_FLOOR: Final = -(2**62)
LONGEST: Final = 100_000  # Largest number of entries of the gain table of a row, one for each count from 0.


def widths(start: IntArray) -> IntArray:
    """Return the lengths of packed rows from their starts; `numpy.diff` takes eight times as long on small arrays."""
    return start[1:] - start[:-1]


def first_gains(table_start: IntArray, table: IntArray) -> IntArray:
    """Return the gain of the first copy of each feature; 0 if no copy has a gain."""
    gains = np.zeros(len(table_start) - 1, np.int64)
    has = widths(table_start) > 1
    gains[has] = table[table_start[:-1][has] + 1]
    return gains


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """Maximize ``base + sum of mass over the chosen units + sum of table_f(copies of f)`` within the lengths."""

    # lengths, unit_start, unit_feature, unit_count, parents, joints, min_length, max_length: as in
    # `optsum.coverage.instance.Coverage`; `parents` has one entry a unit, -1 for none.
    lengths: IntArray
    unit_start: IntArray
    unit_feature: IntArray
    unit_count: IntArray
    # table_start, table: (features + 1,), (sum of (M_f + 1),): the value of c copies of feature f is
    # ``table[table_start[f] + min(c, M_f)]``, 0 for no copy. Concave and growing for features of a numerator; falling
    # (0, -p, ...) for features that a denominator counts.
    table_start: IntArray
    table: IntArray
    mass: IntArray  # (units,): amount that each unit adds by itself; may be negative.
    base: int  # The total of the empty selection.
    parents: IntArray
    joints: tuple[Joint, ...]
    min_length: int
    max_length: int
    floor: int = _NO_FLOOR  # Least value of selections that satisfy all rows of the instance; other values are lower.

    @property
    def size(self) -> int:
        return len(self.lengths)

    @property
    def singletons(self) -> bool:
        """Whether every occurrence is decided by one unit and no unit has a parent."""
        return not self.joints and not (self.parents >= 0).any()


def program_of(instance: Coverage, weights: Sequence[int]) -> Program:
    """Return the program that maximizes a weighted sum of an instance's totals.

    The instance's combination of ratios is ignored. `weights`: one integer for each total, not negative for numerators,
    not positive for denominators: ``(1, 0)`` is recall, and ``(q, -p)`` tests whether a ratio exceeds p / q.
    """
    factor = np.asarray(weights, np.int64)
    if tuple(weights) == (1, 0) and not instance.slot.any():  # recall
        table, mass = instance.level, instance.mass[0]
    else:
        table = instance.level * np.repeat(factor[instance.slot], widths(instance.level_start))
        mass = factor @ instance.mass
    program = Program(
        lengths=instance.lengths,
        unit_start=instance.unit_start,
        unit_feature=instance.unit_feature,
        unit_count=instance.unit_count,
        table_start=instance.level_start,
        table=table,
        mass=mass,
        base=sum(int(weight) * constant for weight, constant in zip(weights, instance.constants.tolist(), strict=True)),
        parents=instance.parents if len(instance.parents) else np.full(len(instance.lengths), -1, np.int64),
        joints=instance.joints,
        min_length=instance.min_length,
        max_length=instance.max_length,
    )
    return _with_rows(program, instance.rows)


def with_feature(program: Program, units: IntArray, copies: IntArray, table: IntArray) -> Program:
    shift = np.zeros(program.size + 1, np.int64)
    shift[units + 1] = 1
    at = program.unit_start[units + 1]
    return replace(
        program,
        unit_start=program.unit_start + np.cumsum(shift),
        unit_feature=np.insert(program.unit_feature, at, len(program.table_start) - 1),
        unit_count=np.insert(program.unit_count, at, copies),
        table_start=np.append(program.table_start, len(program.table) + len(table)),
        table=np.append(program.table, table),
    )


def _with_rows(program: Program, rows: Sequence[Row]) -> Program:
    sides = list(inequalities_of(rows))
    if not sides:
        return program
    parts = np.concatenate([program.mass, program.table[program.table_start[1:] - 1]])
    least, largest = (program.base + int(end(parts, 0).sum()) for end in (np.minimum, np.maximum))
    penalty = 1 + largest - least
    program = replace(program, floor=least)
    for units, numbers, limit, above in sides:
        if limit >= LONGEST:
            raise UnsupportedError(
                f"A side constraint counts up to {limit}, but branch-and-bound supports only {LONGEST - 1}: "
                "count words or sentences, or use the strategy milp."
            )
        mass, base, joints = program.mass, program.base, program.joints
        negative = numbers < 0
        if limit < 0:  # no selection satisfies it
            base -= penalty
        elif above:
            mass = mass.copy()
            mass[units] -= penalty * numbers
            base -= penalty * int(-numbers[negative].sum())
        else:
            base -= penalty * limit
        if limit > 0:
            held = np.minimum(np.abs(numbers), limit)
            left_out = zip(units[negative].tolist(), held[negative].tolist(), strict=True)
            feature = len(program.table_start) - 1
            joints = (*joints, *[Joint(feature, (), (unit,), count) for unit, count in left_out])
            program = with_feature(program, units[~negative], held[~negative], penalty * np.arange(limit + 1))
        program = replace(program, mass=mass, base=base, joints=joints)
    return program


def spread(rows: Sequence[Row]) -> int:
    """Return an upper limit of the factor by which side constraints multiply the range of a program's values."""
    return 1 + sum(int(np.abs(numbers).sum()) + max(limit, 0) for _, numbers, limit, _ in inequalities_of(rows))


_LARGEST: Final = 2**54  # Limit of the numerator of one exact program; larger ones are searched by rounded programs.


def is_linear(coverage: Coverage) -> bool:
    """Return whether one integer program finds the optimum: the denominator is constant, and nothing can overflow."""
    if not coverage.constant_denominator or coverage.ceilings:
        return False
    return spread(coverage.rows) * reaches(coverage)[0] < _LARGEST


def inequalities_of(rows: Sequence[Row]) -> Iterator[tuple[IntArray, IntArray, int, bool]]:
    """Yield the binding sides of rows: ascending units, coefficients, limit, and whether it is an upper limit.

    Coefficients are divided by their greatest common divisor. Limits are relative to the least possible sum, which is 0
    if no coefficient is negative.
    """
    for row in rows:
        order = np.argsort(np.array(row.units, np.int64))
        units = np.array(row.units, np.int64)[order]
        numbers = np.array(row.coefficients, np.int64)[order]
        common = math.gcd(*row.coefficients) or 1
        least = row.least // common
        if row.high is not None and row.total > row.high:
            yield units, numbers // common, row.high // common - least, True
        if row.low > row.least:
            yield units, numbers // common, -(-row.low // common) - least, False


_CELLS: Final = 1_000_000  # Units times lengths of a knapsack table with every length, beyond which a row is quicker.


def with_minimum_row(instance: Coverage) -> Coverage:
    """Return an instance with the same selections and values, whose minimum length is a row if necessary.

    The engine's knapsack tables support a minimum length only if lengths are not rounded (`grain_of`), so that they
    have a cell for each unit and length.
    """
    longest = min(instance.max_length, int(instance.lengths.sum()))
    if instance.min_length <= 0 or (instance.size + 1) * (longest + 1) <= _CELLS:
        return instance
    units = np.flatnonzero(instance.lengths)
    row = Row(
        tuple(units.tolist()), tuple(instance.lengths[units].tolist()), instance.min_length, None, "minimum length"
    )
    if any(limit >= LONGEST for _, _, limit, _ in inequalities_of([row])):
        return instance
    return replace(instance, min_length=0, rows=(*instance.rows, row))


DROPPED: Final = 0
TAKEN: Final = 1
FREE: Final = 2

States = NDArray[np.int8]  # `DROPPED`, `TAKEN` or `FREE` (undecided) for each unit.


NEED: Final = 0
VETO: Final = 1
_NONE: Final = np.zeros(0, np.int64)


class CappedCosts(NamedTuple):
    """Costs that stop growing after some copies: item i has copies in the costs ``cost[start[i]:start[i + 1]]``."""

    # start, cost, copies: (items + 1,), (entries,), (entries,)
    start: IntArray
    cost: IntArray
    copies: IntArray
    # (entries,): share of a cost that bounds charge to each item, scaled: any value from 0 to weight * copies is valid.
    share: IntArray
    # weight, step: (costs,)
    weight: IntArray
    step: IntArray

    @staticmethod
    def none(items: int) -> CappedCosts:
        return CappedCosts(np.zeros(items + 1, np.int64), _NONE, _NONE, _NONE, _NONE, _NONE)


class JointRows(NamedTuple):
    """Inequalities over joints: entry k says that joint ``joint[k]`` is a member of row ``row[k]``.

    At most one member of a row is active, and only if the row's unit is chosen (a need) or not chosen (a veto). All
    selections satisfy the rows, which strengthen the relaxation.
    """

    # (rows,): the unit that the members need or that vetoes them; -1 for "at most one of them", whatever is chosen.
    unit: IntArray
    sign: IntArray  # (rows,): `NEED` or `VETO`.
    price: IntArray  # (rows,): multipliers >= 0, scaled like prices of features.
    row: IntArray
    joint: IntArray


class Ties(NamedTuple):
    """Ties between units: parents, and joints with their rows; all arrays are empty if there are none."""

    parent: IntArray  # (n,): a smaller number or -1; the descendants of a unit follow it immediately.
    # need_joint, need_unit, veto_joint, veto_unit: entries "joint needs unit" and "unit vetoes joint".
    need_joint: IntArray
    need_unit: IntArray
    veto_joint: IntArray
    veto_unit: IntArray
    rows: JointRows


NO_TIES: Final = Ties(_NONE, _NONE, _NONE, _NONE, _NONE, JointRows(_NONE, _NONE, _NONE, _NONE, _NONE))


class Core(NamedTuple):
    """The undecided rest of a program, as arrays for kernels; units, joints and features are numbered from 0.

    It is a named tuple because a frozen dataclass of this size takes 5-15 us to make, several times for each topic.
    """

    ids: IntArray  # (n,): unit number in the program.
    lengths: IntArray  # (n,): all 0, like `high`, if there are no ties and all remaining units fit together.
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
    base: int  # Value of the units that are taken.
    # low, high: least and largest length that may still be added.
    low: int
    high: int
    scale: int  # Fixed-point unit of prices and bounds.
    ties: Ties = NO_TIES

    @property
    def size(self) -> int:
        return len(self.ids)

    @property
    def joints(self) -> int:
        return len(self.mass) - self.size

    @property
    def tied(self) -> bool:
        return len(self.ties.parent) > 0

    @property
    def plain(self) -> tuple[Any, ...]:
        """The fields as a plain tuple for kernels, because numba determines its type faster than a named tuple's."""
        ties = self.ties
        return (*self[:9], self.costs[:], *self[10:14], (*ties[:5], *ties.rows))


@njit(cache=True)
def terms_of(gains, first, last, price, scale, steps, weights, prices):
    """Split table ``gains[first:last]`` into terms ``weights[k] * min(c, steps[k])``; return the number of terms.

    The price of the table is distributed to the terms so that the bound does not change: terms beyond the table's best
    count get their slope, terms below it nothing, and the term at it the rest. Costs have no price.
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
    while b:
        a, b = b, a % b
    return a


@njit(cache=True)
def mix(x):
    """Return the hash of a number by Splitmix64."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def with_costs(entries, costs):
    """Return entries with costs as further features, which have falling tables and no price; and the shares of all."""
    start, feature, count, table_start, table, price = entries
    cost_start, cost, copies, share, weight, step = costs
    m, many = len(price), len(weight)
    if many == 0:
        return start, feature, count, table_start, table, price, share
    out_feature, out_count = np.empty(len(feature) + len(cost), np.int64), np.empty(len(feature) + len(cost), np.int64)
    out_share = np.zeros(len(out_feature), np.int64)
    at = 0
    for i in range(len(start) - 1):
        for k in range(start[i], start[i + 1]):
            out_feature[at], out_count[at] = feature[k], count[k]
            at += 1
        for k in range(cost_start[i], cost_start[i + 1]):
            out_feature[at], out_count[at], out_share[at] = m + cost[k], copies[k], share[k]
            at += 1
    out_price, starts = np.zeros(m + many, np.int64), np.empty(m + many + 1, np.int64)
    out_price[:m] = price
    starts[: m + 1] = table_start
    for g in range(many):
        starts[m + g + 1] = starts[m + g] + step[g] + 1
    tables = np.empty(starts[m + many], np.int64)
    tables[: len(table)] = table
    for g in range(many):
        for c in range(step[g] + 1):
            tables[starts[m + g] + c] = -weight[g] * c
    return start + cost_start, out_feature, out_count, starts, tables, out_price, out_share


@njit(cache=True)
def _by_item(chosen, column_start, item_of, items):
    """Return the entries of columns by item: starts, place of each column in `chosen`, and number of each entry."""
    start = np.zeros(items + 1, np.int64)
    for c in chosen:
        for k in range(column_start[c], column_start[c + 1]):
            start[item_of[k] + 1] += 1
    for i in range(items):
        start[i + 1] += start[i]
    fill, place, number = start.copy(), np.empty(start[items], np.int64), np.empty(start[items], np.int64)
    for x in range(len(chosen)):
        for k in range(column_start[chosen[x]], column_start[chosen[x] + 1]):
            at = fill[item_of[k]]
            place[at], number[at] = x, k
            fill[item_of[k]] += 1
    return start, place, number


@njit(cache=True)
def reduce_core(state, mass, entries, scale):
    """Return the free items of a core after taking and dropping others; features are split, clipped and merged.

    `state` (items,) int8: `DROPPED`, `TAKEN` or `FREE`. `entries`: as `with_costs` returns them. The result: the old
    numbers of the free items, their mass, entries, the value of the taken items, and costs.
    """
    start, feature, count, table_start, table, price, shares = entries
    n, m = len(state), len(price)
    # Columns: the free items of each feature, the copies that are taken, and the largest number of copies in an item.
    new = np.empty(n, np.int64)
    column, have, biggest = np.zeros(m + 1, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    free, gained = np.int64(0), 0
    for i in range(n):
        if state[i] == 1:
            gained += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
        elif state[i] == 2:
            new[i] = free
            free += 1
            for k in range(start[i], start[i + 1]):
                column[feature[k] + 1] += 1
                biggest[feature[k]] = max(biggest[feature[k]], count[k])
    longest, most_columns, room = 2, 0, 0
    for f in range(m):
        first, last, most = table_start[f], table_start[f + 1] - 1, 0
        for t in range(first + 1, last + 1):
            most += t == last or table[t + 1] - table[t] != table[t] - table[t - 1]
        most = min(most, biggest[f])  # each term may become a column, but all that clip nothing share one
        most_columns += most
        room += most * column[f + 1]
        longest = max(longest, last - first + 1)
        column[f + 1] += column[f]
    fill, unit, copies = column.copy(), np.empty(column[m], np.int64), np.empty(column[m], np.int64)
    share = np.empty(column[m] if len(shares) else 0, np.int64)
    keep, out_mass = np.empty(free, np.int64), np.empty(free, np.int64)
    for i in range(n):
        if state[i] == 2:
            keep[new[i]], out_mass[new[i]] = i, mass[i]
            for k in range(start[i], start[i + 1]):
                at = fill[feature[k]]
                unit[at], copies[at] = new[i], count[k]
                if len(share):
                    share[at] = shares[k]
                fill[feature[k]] += 1

    # New columns, in which equal ones are found by hash, and a list of their terms (column, step, weight, price).
    columns, terms = 0, 0
    col_start, col_share = np.zeros(most_columns + 1, np.int64), np.zeros(room, np.int64)
    col_unit, col_count = np.empty(room, np.int64), np.empty(room, np.int64)
    steps, weights, prices = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    term_column, term_step = np.empty(len(table), np.int64), np.empty(len(table), np.int64)
    term_weight, term_price = np.empty(len(table), np.int64), np.empty(len(table), np.int64)
    signed = False
    slots = 64
    while slots < 4 * most_columns:
        slots *= 2
    slot = np.zeros(slots, np.int64)  # 1 + the number of a column
    for f in range(m):
        lo, hi = column[f], column[f + 1]
        open_column = -1
        for s in range(terms_of(table, table_start[f], table_start[f + 1], price[f], scale, steps, weights, prices)):
            t = steps[s] - have[f]
            if t <= 0:
                gained += weights[s] * steps[s]
                continue
            gained += weights[s] * have[f]
            total = 0
            for k in range(lo, hi):
                total += min(copies[k], t)
            if total <= t:
                for k in range(lo, hi):
                    out_mass[unit[k]] += weights[s] * min(copies[k], t)
                continue
            clip, which, factor = t < biggest[f], open_column, np.int64(1)
            if clip or which < 0:
                if clip:
                    factor = np.int64(0)
                    for k in range(lo, hi):
                        factor = gcd(min(copies[k], t), factor)
                first = col_start[columns]
                h = np.uint64(hi - lo)
                for k in range(lo, hi):
                    held = min(copies[k], t) // factor
                    col_unit[first + k - lo], col_count[first + k - lo] = unit[k], held
                    h = mix(h ^ np.uint64(unit[k] * 1048576 + held))
                at, which = np.int64(h & np.uint64(slots - 1)), -1
                while slot[at] > 0 and which < 0:
                    c = slot[at] - 1
                    same = col_start[c + 1] - col_start[c] == hi - lo
                    for k in range(hi - lo if same else 0):
                        x, y = col_start[c] + k, first + k
                        if col_unit[x] != col_unit[y] or col_count[x] != col_count[y]:
                            same = False
                            break
                    which = c if same else -1
                    at = (at + 1) & (slots - 1)
                if which < 0:
                    which = columns
                    columns += 1
                    col_start[columns], slot[at] = first + hi - lo, columns
                if not clip:
                    open_column = which
            signed = signed or weights[s] < 0
            if len(share):
                for k in range(lo, hi):
                    col_share[col_start[which] + k - lo] += share[k]
            term_column[terms] = which
            term_step[terms] = t // factor  # some unit has t copies after clipping, so the factor divides t
            term_weight[terms], term_price[terms] = weights[s] * factor, prices[s] * factor
            terms += 1

    size, out_price = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
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

    # If there are costs, each column is split into a gain table, if any (`chosen`), and costs.
    chosen, costs = np.arange(columns), 0
    cost_column = np.empty(terms, np.int64)
    out_weight, out_step = np.empty(terms, np.int64), np.empty(terms, np.int64)
    if signed:
        kept, at = 0, 0
        for c in range(columns):
            first, last = out_table_start[c], out_table_start[c + 1]
            top = 0
            found = terms_of(out_table, first, last, np.int64(0), scale, steps, weights, prices)
            for s in range(found):
                if weights[s] > 0:
                    top = max(top, steps[s])
                else:
                    cost_column[costs], out_weight[costs], out_step[costs] = c, -weights[s], steps[s]
                    costs += 1
            if top > 0:
                for x in range(top + 1):
                    out_table[at + x] = 0  # at <= first: what is overwritten has been read
                for s in range(found):
                    if weights[s] > 0:
                        for x in range(top + 1):
                            out_table[at + x] += weights[s] * min(x, steps[s])
                chosen[kept], out_price[kept], out_table_start[kept] = c, out_price[c], at
                kept += 1
                at += top + 1
        out_table_start[kept] = at
        chosen, out_price, out_table_start = chosen[:kept], out_price[:kept], out_table_start[: kept + 1]
        out_table = out_table[:at]

    out_start, out_feature, out_count = _by_item(chosen, col_start, col_unit, free)
    for k in range(len(out_count)):
        out_count[k] = col_count[out_count[k]]
    cost_start, cost, cost_count = _by_item(cost_column[:costs], col_start, col_unit, free)
    cost_share = np.zeros(len(cost), np.int64)
    for k in range(len(cost)):
        g, entry = cost[k], cost_count[k]
        cost_count[k] = min(col_count[entry], out_step[g])
        if g == 0 or cost_column[g - 1] != cost_column[g]:  # a column's shares go to its first cost
            cost_share[k] = min(col_share[entry], out_weight[g] * cost_count[k] * scale)
    out_entries = out_start, out_feature, out_count, out_table_start, out_table, out_price
    out_costs = cost_start, cost, cost_count, cost_share, out_weight[:costs], out_step[:costs]
    return keep, out_mass, out_entries, gained, out_costs


@njit(cache=True)
def skips(parent):
    """Return the first unit after each unit's descendants; empty if `parent` is, because there are no ties."""
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


def lean(core: Core) -> Core:
    """Return the core without units that only add length, unless there is a minimum length.

    A unit is kept if it or a descendant changes the value, by itself or through a joint.
    """
    if core.low > 0:
        return core
    n, ties = core.size, core.ties
    useful = (core.mass[:n] != 0) | (widths(core.start) > 0)[:n] | (widths(core.costs.start) > 0)[:n]
    if core.tied:
        useful[ties.need_unit] = True
        useful[ties.veto_unit] = True
        _pass_up(ties.parent, useful)
    return core if useful.all() else reduced(core, np.where(useful, np.int8(FREE), np.int8(DROPPED)))


def reduced(core: Core, state: States) -> Core:
    """Return the core that remains when units are taken (`TAKEN`) or dropped (`DROPPED`).

    The caller ensures that a unit is taken only with its parent, and dropped with it.
    """
    if core.joints:
        return _reduced_joints(core, state)
    keep, mass, entries, gained, costs = _reduced_items(state, core.mass, core[3:9], core.costs, core.scale)
    ties = NO_TIES
    if core.tied:
        parent = core.ties.parent[keep]
        parent = np.where((parent >= 0) & (state[parent] == FREE), (np.cumsum(state == FREE) - 1)[parent], -1)
        if (parent >= 0).any():
            ties = NO_TIES._replace(parent=parent)
    return _rest(core, state, keep, (mass, *entries, costs), gained, ties)


def _reduced_items(state: States, mass: IntArray, entries: Any, costs: CappedCosts, scale: int) -> Any:
    """Return the results of `reduce_core`."""
    packed = with_costs(entries, costs[:]) if len(costs.weight) else (*entries, costs.share)
    keep, mass, entries, gained, left = reduce_core(state, mass, packed, scale)
    return keep, mass, entries, int(gained), CappedCosts(*left)


def _rest(core: Core, state: States, units: Any, items: tuple[Any, ...], gained: int, ties: Ties) -> Core:
    """Return a core with new items, from `mass` to `costs`; `units`: its units in the old core."""
    lengths, used = core.lengths[units], int(core.lengths[state == TAKEN].sum())
    total, low, high = int(lengths.sum()), core.low - used, core.high - used
    if low <= 0 <= high and total <= high and not len(ties.parent):
        lengths, low, high = np.zeros(len(lengths), np.int64), 0, 0
    high = min(high, total)
    return Core._make((core.ids[units], lengths, *items, core.base + gained, low, high, core.scale, ties))


def _merged(item_of: IntArray, start: IntArray, feature: IntArray, *values: IntArray) -> tuple[IntArray, ...]:
    """Return the packed features and values of all items, after moving the entries of item i to item ``item_of[i]``.

    Values of the same feature in one item are added up.
    """
    width = int(feature.max(initial=0)) + 1
    cell, where = np.unique(item_of.repeat(widths(start)) * width + feature, return_inverse=True)
    starts = np.zeros(len(item_of) + 1, np.int64)
    np.bincount(cell // width, minlength=len(item_of)).cumsum(out=starts[1:])
    found = [starts, cell % width]
    for value in values:
        found.append(np.zeros(len(cell), np.int64))
        np.add.at(found[-1], where, value)
    return tuple(found)


def _kept_rows(core: Core, state: States, joint_of: IntArray, unit_of: IntArray, part_of: IntArray) -> JointRows:
    """Return the rows with joints that may still become active: at least two of them if the row's unit is decided.

    `joint_of`: the new number of each joint, -1 if it is removed. `unit_of`: the new number of each unit. `part_of`:
    the unit of which a joint has become a part, or -1.
    """
    rows = core.ties.rows
    kept = joint_of[rows.joint] >= 0
    members = np.bincount(rows.row[kept], minlength=len(rows.unit))
    unit, sign, price = rows.unit.copy(), rows.sign.copy(), rows.price.copy()
    decided = np.ones(len(unit), np.bool_)
    decided[unit >= 0] = state[unit[unit >= 0]] != FREE
    # A joint that has become a part of a unit is active if the unit is chosen. In a row of this unit, the other members
    # are never active, so the row has no price. In a row whose unit is decided, this unit now vetoes the other members.
    parts = part_of[rows.joint] >= 0
    row, part = rows.row[parts], part_of[rows.joint[parts]]
    price[row[unit[row] == part]] = 0
    taken = decided[row]
    unit[row[taken]], sign[row[taken]] = part[taken], VETO
    decided[row[taken]] = False
    stays = np.where(decided, members >= 2, members >= 1)
    kept &= stays[rows.row]
    number = stays.cumsum() - 1
    return JointRows(
        np.where(decided, -1, unit_of[unit])[stays] if len(unit_of) else np.full(int(stays.sum()), -1, np.int64),
        sign[stays],
        price[stays],
        number[rows.row[kept]],
        joint_of[rows.joint[kept]],
    )


def _into_units(core: Core, lone: NDArray[np.bool_]) -> tuple[IntArray, IntArray, IntArray, IntArray, CappedCosts]:
    """Make joints parts of the only unit that they need; return entries, mass and costs. `lone`: mask of such needs."""
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
    single = ~dead & (needs == 1) & (vetoes == 0)  # becomes a part of the unit that it needs

    lone = needed & single[ties.need_joint]
    fates = np.where(dead | single, np.int8(DROPPED), np.where(active, np.int8(TAKEN), np.int8(FREE)))
    item_state = np.concatenate([state, fates])
    start, feature, count, mass, costs = _into_units(core, lone)
    entries = start, feature, count, core.table_start, core.table, core.price
    keep, mass, entries, gained, costs = _reduced_items(item_state, mass, entries, costs, core.scale)
    start, *others = entries

    # Joints without mass, features and costs change nothing, and are removed.
    free = state == FREE
    size, unit_of = int(free.sum()), np.where(free, np.cumsum(free) - 1, -1)
    matters = (mass != 0) | (widths(start) > 0) | (widths(costs.start) > 0)
    matters[:size] = True
    joint_of = np.full(joints, -1, np.int64)
    joint_of[keep[size:][matters[size:]] - n] = np.arange(int(matters[size:].sum()))
    alive = joint_of >= 0
    if not matters.all():
        mass = mass[matters]
        start = np.append(start[:-1][matters], start[-1])
        costs = costs._replace(start=np.append(costs.start[:-1][matters], costs.start[-1]))
    part_of = np.full(joints, -1, np.int64)
    part_of[ties.need_joint[lone]] = ties.need_unit[lone]
    needed &= alive[ties.need_joint]
    vetoed &= alive[ties.veto_joint]
    parent = ties.parent[free]
    parent = np.where(parent >= 0, unit_of[parent], -1)  # a taken parent is number -1
    left = NO_TIES
    if len(mass) > size or (parent >= 0).any():
        left = Ties(
            parent,
            joint_of[ties.need_joint[needed]],
            unit_of[ties.need_unit[needed]],
            joint_of[ties.veto_joint[vetoed]],
            unit_of[ties.veto_unit[vetoed]],
            _kept_rows(core, state, joint_of, unit_of, part_of),
        )
    return _rest(core, state, free, (mass, start, *others, costs), gained, left)


_MAX_VALUE: Final = 2**56
_MAX_SCALED: Final = 2**59
_SCALE: Final = 1 << 16
_MANY: Final = 100_000  # Number of vetoes from which the deadline is checked while a root is made.
_VETO_S: Final = 1e-7  # Least time (s) for each veto of a root; a root that cannot be made in time is not begun.
_PAIRS: Final = 40  # Largest number of joints of one unit that are compared with one another.


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """A joint (`optsum.coverage.instance.Joint`) in the numbering of the core, with sorted units.

    `gives`: the number of copies of each feature that it gives if all units of `needs` are chosen and none of `vetoes`.
    """

    needs: tuple[int, ...]
    vetoes: Sequence[int]
    seam: bool
    gives: dict[int, int]


def _preorder(parents: IntArray) -> IntArray:
    if not (parents >= 0).any():
        return np.arange(len(parents))
    children: list[list[int]] = [[] for _ in parents]
    stack: list[int] = []
    for unit in range(len(parents) - 1, -1, -1):
        (stack if parents[unit] < 0 else children[parents[unit]]).append(unit)
    order = []
    while stack:
        unit = stack.pop()
        order.append(unit)
        stack += children[unit]
    return np.array(order, np.int64)


def _simplified(
    joints: Iterable[Joint], number: IntArray, parent: IntArray, idle: set[int], deadline: Deadline
) -> list[_Occurrence]:
    """Return joints with the core's unit numbers, without redundant needs and vetoes; equal joints are merged.

    Ancestors of a need and descendants of a veto are redundant; a joint with a common need and veto is never active.
    """
    above: list[tuple[int, ...]] = []
    for mother in parent.tolist():
        above.append(() if mother < 0 else (mother, *above[mother]))
    identity = bool((number == np.arange(len(number))).all())
    flat = not any(above)
    found: dict[tuple[tuple[int, ...], Sequence[int]], _Occurrence] = {}
    for joint in deadline.watching(joints):
        if joint.feature in idle:
            continue
        needs = {int(number[unit]) for unit in joint.needs}
        vetoes: Sequence[int]
        if flat and identity and joint.seam:
            vetoes = joint.vetoes
        else:
            needed = needs.union(*(above[unit] for unit in needs))
            banned = {int(number[unit]) for unit in joint.vetoes}
            if needed & banned:
                continue
            needs -= {mother for unit in needs for mother in above[unit]}
            vetoes = tuple(sorted(unit for unit in banned if banned.isdisjoint(above[unit])))
        key = (tuple(sorted(needs)), vetoes)
        occurrence = found.setdefault(key, _Occurrence(*key, False, {}))
        occurrence.gives[joint.feature] = occurrence.gives.get(joint.feature, 0) + joint.count
    return _with_seams(list(found.values()), deadline) if flat else list(found.values())


def _with_seams(joints: list[_Occurrence], deadline: Deadline) -> list[_Occurrence]:
    """Mark as seams the joints that exclude each other as seams do.

    Each of them needs two units, and is vetoed only by units between the two. These include all units between that
    other seams need (the remaining ones may be sentences without text), so that seams that overlap exclude each other.
    """
    pairs = [
        joint
        for joint in joints
        if len(joint.needs) == 2
        and (not joint.vetoes or joint.needs[0] < joint.vetoes[0] <= joint.vetoes[-1] < joint.needs[1])
    ]
    needed = {unit for joint in pairs for unit in joint.needs}
    seams: dict[tuple[int, ...], int] = {}
    for joint in deadline.watching(pairs):
        inner = range(joint.needs[0] + 1, joint.needs[1])
        if joint.vetoes == inner or needed.isdisjoint(set(inner).difference(joint.vetoes)):
            seams.setdefault(joint.needs, id(joint))  # two joints of the same two units may be active together
    marked = set(seams.values())
    return [replace(joint, seam=True) if id(joint) in marked else joint for joint in joints]


def _cliques(members: list[int], joints: Sequence[_Occurrence]) -> list[list[int]]:
    groups: list[list[int]] = []
    for joint in members[:_PAIRS]:
        for group in groups:
            own = joints[joint]
            if all(
                any(unit in joints[other].vetoes for unit in own.needs)
                or any(unit in own.vetoes for unit in joints[other].needs)
                for other in group
            ):
                group.append(joint)
                break
        else:
            groups.append([joint])
    return groups + [[joint] for joint in members[_PAIRS:]]


def _rows_of(joints: Sequence[_Occurrence], units: int, deadline: Deadline) -> JointRows:
    """Return the rows of all joints: of seams directly, because they do not overlap, of others by comparison.

    In a topic of thousands of sentences, seams have tens of millions of vetoes, and each step takes a part of a second,
    so the deadline is checked between steps.
    """
    seams = [number for number, joint in enumerate(joints) if joint.seam]
    # There are three cells for each unit: seams that begin at it, seams that end at it, and seams that span it.
    spans = [_array(joints[number].vetoes) for number in seams]
    ends = np.array([joints[number].needs for number in seams], np.int64).reshape(-1, 2)
    deadline.check()
    between = np.concatenate([np.zeros(0, np.int64), *spans])
    deadline.check()
    between += 2 * units
    cells = np.concatenate([ends[:, 0], units + ends[:, 1], between])
    deadline.check()
    members = np.concatenate([seams, seams, np.repeat(seams, [len(span) for span in spans])]).astype(np.int64)
    deadline.check()
    is_there = np.bincount(cells, minlength=3 * units) > 0
    deadline.check()
    cell, row = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[cells]
    deadline.check()

    others: dict[tuple[int, int], list[int]] = {}
    for number, joint in enumerate(joints):
        if not joint.seam:
            for sign, group in ((NEED, joint.needs), (VETO, joint.vetoes)):
                for unit in group:
                    others.setdefault((unit, sign), []).append(number)
    rows = [(unit, sign, group) for (unit, sign), all_ in others.items() for group in _cliques(all_, joints)]
    sizes = np.array([len(group) for _, _, group in rows], np.int64)
    return JointRows(
        np.append(cell % max(1, units), [unit for unit, _, _ in rows]).astype(np.int64),
        np.append(np.where(cell < 2 * units, NEED, VETO), [sign for _, sign, _ in rows]).astype(np.int64),
        np.zeros(len(cell) + len(rows), np.int64),
        np.append(row, np.repeat(len(cell) + np.arange(len(rows)), sizes)).astype(np.int64),
        np.append(members, [joint for _, _, group in rows for joint in group]).astype(np.int64),
    )


def _array(units: Sequence[int]) -> IntArray:
    if isinstance(units, range):
        return np.arange(units.start, units.stop, units.step)
    return np.asarray(units, np.int64)


def _entries(groups: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    groups = list(groups)
    joint = np.repeat(np.arange(len(groups)), [len(group) for group in groups]).astype(np.int64)
    return joint, np.concatenate([np.zeros(0, np.int64), *map(_array, groups)])


def core_of(program: Program, deadline: Deadline = NEVER) -> tuple[Core, int]:
    """Return the core of a program before any decision, and the divisor of its values.

    Values of the core times the divisor, plus the program's base, are values of the program. Units longer than the
    maximum, and their descendants, are left out. With thousands of joints of a thousand vetoes each, this takes some
    seconds, so the deadline is checked between the steps.
    """
    if program.singletons:
        return _plain_core(program)
    vetoes = sum(len(joint.vetoes) for joint in program.joints)
    if vetoes < _MANY:
        deadline = NEVER  # the root is made quickly, and any answer needs it
    elif vetoes * _VETO_S > deadline.left_s:
        raise Stopped(Termination.TIME_LIMIT)
    order = _preorder(program.parents)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    parent = program.parents[order]
    parent = np.where(parent >= 0, number[parent], -1)
    table, table_start = program.table, program.table_start
    last = table[table_start[1:] - 1]
    idle = set(np.flatnonzero(last == 0).tolist())
    joints = _simplified(program.joints, number, parent, idle, deadline)

    n, items = len(order), len(order) + len(joints)
    gives = [(n + o, feature, count) for o, joint in enumerate(joints) for feature, count in joint.gives.items()]
    extra = np.array(gives, np.int64).reshape(-1, 3)
    item = np.append(number[packed_rows(program.unit_start)], extra[:, 0])
    feature, count = np.append(program.unit_feature, extra[:, 1]), np.append(program.unit_count, extra[:, 2])
    start, by_item = grouped(item, items)

    deadline.check()
    mass = np.append(program.mass[order], np.zeros(len(joints), np.int64))
    rows = _rows_of(joints, n, deadline)
    deadline.check()
    divisor = _divisor(table, mass)
    # The largest sum that can occur in the kernels; prices of rows are limited to their members' gains.
    gains, most = np.zeros(items), np.zeros(len(rows.unit))
    np.add.at(gains, item, np.abs(first_gains(table_start, table)).astype(np.float64)[feature] * count)
    np.maximum.at(most, rows.row, gains[n + rows.joint])
    reach = float(2 * gains.sum() + 2 * most.sum() + np.abs(mass.astype(np.float64)).sum()) / divisor
    if reach > _MAX_SCALED:
        _refuse(f"{reach:.3g}")
    deadline.check()
    need_joint, need_unit = _entries(joint.needs for joint in joints)
    veto_joint, veto_unit = _entries(joint.vetoes for joint in joints)
    deadline.check()
    entries = start, feature[by_item], count[by_item]
    ties = Ties(parent, need_joint, need_unit, veto_joint, veto_unit, rows)
    return _root(program, (order, program.lengths[order], mass, *entries), divisor, reach, ties)


def _plain_core(program: Program) -> tuple[Core, int]:
    table, mass = program.table, program.mass
    divisor = _divisor(table, mass)
    # In Python's integers, because the sum may exceed 64 bits.
    total = sum(np.abs(table[program.table_start[1:] - 1]).tolist()) + sum(np.abs(mass).tolist())
    reach = float(total) * program.size * len(table)  # a rough upper limit of all sums, which usually suffices
    if reach * _SCALE > _MAX_SCALED:
        first = np.abs(first_gains(program.table_start, table)).astype(np.float64)
        copies = np.minimum(program.unit_count, widths(program.table_start)[program.unit_feature] - 1)
        reach = float(first[program.unit_feature] @ copies) + float(np.abs(mass).sum(dtype=np.float64))
    reach /= divisor
    if max(total // divisor, reach) > _MAX_VALUE:
        _refuse(str(total))
    entries = program.unit_start, program.unit_feature, program.unit_count
    return _root(program, (np.arange(program.size), program.lengths, mass, *entries), divisor, reach, NO_TIES)


def _root(program: Program, items: tuple[IntArray, ...], divisor: int, reach: float, ties: Ties) -> tuple[Core, int]:
    """Return the core of a program's items, without units that are too long; `reach`: limit of the kernels' sums."""
    ids, lengths, mass, *entries = items
    table, scale = program.table, _SCALE
    if divisor > 1:
        table, mass = table // divisor, mass // divisor
    while scale > 1 and reach * scale > _MAX_SCALED:
        scale //= 2
    price, costs = np.zeros(len(program.table_start) - 1, np.int64), CappedCosts.none(len(mass))
    limits = max(program.min_length, 0), program.max_length
    whole = Core._make(
        (ids, lengths, mass, *entries, program.table_start, table, price, costs, 0, *limits, scale, ties)
    )
    state = np.where(lengths <= program.max_length, np.int8(FREE), np.int8(DROPPED))
    for unit, mother in enumerate(ties.parent.tolist()):
        if mother >= 0 and state[mother] == DROPPED:
            state[unit] = DROPPED
    return reduced(whole, state), divisor


def _divisor(table: IntArray, mass: IntArray) -> int:
    return max(1, int(np.gcd.reduce(mass, initial=np.gcd.reduce(table))))


def _refuse(total: str) -> None:
    raise UnsupportedError(
        f"The gains add up to {total}, which is too large for branch-and-bound: use the strategy milp or exhaustive."
    )
