"""Multipliers from the linear relaxation, solved by HiGHS.

maximize    base + sum mass_i x_i + sum_f sum_s slope_fs z_fs - sum_g weight_g (step_g y_g + sum_i count_ig t_ig)
subject to  sum_i count_if x_i - sum_s z_fs >= 0          for every feature f (its dual is the price of f)
            low <= sum_i length_i x_i <= high
            x_i - y_g - t_ig <= 0                          for every unit i of a fee g (its dual is the share of i)
            0 <= x_i <= 1, 0 <= z_fs <= width_fs           (s: pieces of equal slope of the table of f)
            0 <= y_g, 0 <= t_ig                            (t_ig only where i has fewer copies than step_g)

Any prices >= 0, and any shares from 0 to weight * count, give a valid bound.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..relaxation import ABOVE, BELOW, BETWEEN, BY_COLUMN, HUGE, LinearProgram
from .core import Core
from .nested import chains_of, with_chains

_ANY: Final = 2**62

_WHOLE: Final = 1e-7
_SAME: Final = 1e-4
"""Below it a unit is none of its relaxation, and a price is that of a piece."""


@njit(cache=True)
def _model(core):
    """Columns x, z, y, t, stored column by column; rows: features, the length, units of fees."""
    _ids, lengths, mass, start, feature, count, table_start, table, _price, paid, _base, _low, _high, _scale = core
    fee_start, fee, fee_count, _fee_share, fee_weight, fee_step = paid
    n, m = len(lengths), len(table_start) - 1
    fees = len(fee_weight)
    lone = 0
    for k in range(len(fee)):
        lone += fee_count[k] < fee_step[fee[k]]
    pieces = 0
    for f in range(m):
        last = np.int64(-1)
        for t in range(table_start[f] + 1, table_start[f + 1]):
            step = table[t] - table[t - 1]
            if step > 0 and step != last:
                pieces += 1
                last = step
    columns = n + pieces + fees + lone
    cost = np.empty(columns, np.float64)
    upper = np.ones(columns, np.float64)
    first = np.empty(columns + 1, np.int32)
    entries = len(feature) + n + pieces + 2 * len(fee) + lone
    index = np.empty(entries, np.int32)
    value = np.empty(entries, np.float64)
    at = 0
    for i in range(n):
        first[i] = at
        cost[i] = mass[i]
        for k in range(start[i], start[i + 1]):
            index[at] = feature[k]
            value[at] = count[k]
            at += 1
        index[at] = m
        value[at] = lengths[i]
        at += 1
        for k in range(fee_start[i], fee_start[i + 1]):
            index[at] = m + 1 + k
            value[at] = 1.0
            at += 1
    c = n
    for f in range(m):
        last = np.int64(-1)
        for t in range(table_start[f] + 1, table_start[f + 1]):
            step = table[t] - table[t - 1]
            if step > 0 and step != last:
                first[c] = at
                cost[c] = step
                upper[c] = 1.0
                index[at] = f
                value[at] = -1.0
                at += 1
                c += 1
                last = step
            elif step > 0:
                upper[c - 1] += 1.0
    place = np.zeros(fees + 1, np.int64)
    for k in range(len(fee)):
        place[fee[k] + 1] += 1
    for g in range(fees):
        first[c] = at + place[g]
        cost[c] = -fee_weight[g] * fee_step[g]
        place[g + 1] += place[g]
        c += 1
    for k in range(len(fee)):
        index[at + place[fee[k]]] = m + 1 + k
        value[at + place[fee[k]]] = -1.0
        place[fee[k]] += 1
    at += len(fee)
    for k in range(len(fee)):
        if fee_count[k] < fee_step[fee[k]]:
            first[c] = at
            cost[c] = -fee_weight[fee[k]] * fee_count[k]
            index[at] = m + 1 + k
            value[at] = -1.0
            at += 1
            c += 1
    first[columns] = at
    return cost, upper, first, index, value


def linear_program(core: Core) -> LinearProgram | None:
    """Return the relaxation of a core; None if nothing in it has a price."""
    m, fees = len(core.price), core.fees
    if not m and not len(fees.weight):
        return None
    cost, upper, first, index, value = _model(core.plain)
    chains = chains_of(core)
    if chains is not None:
        first, index, value = with_chains(core, *chains, (first, index, value))
    rows = m + 1 + len(fees.fee)
    row_lower, row_upper = np.zeros(rows), np.full(rows, HUGE)
    row_lower[m + 1 :] = -HUGE
    row_upper[m + 1 :] = 0.0
    row_lower[m] = core.low if core.low > 0 else -HUGE
    row_upper[m] = core.high
    most = None
    if len(fees.fee):
        most = np.full(rows, _ANY)
        most[m + 1 :] = fees.weight[fees.fee] * fees.copies * core.scale
    return LinearProgram(
        BY_COLUMN,
        cost,
        np.zeros(len(cost)),
        upper,
        row_lower,
        row_upper,
        first,
        index,
        value,
        np.arange(core.size, dtype=np.int32),
        most,
        m,
        None if chains is None else chains[0],
    )


def priced(core: Core, multipliers: IntArray) -> Core:
    """Return a core with the multipliers of its relaxation as prices and shares."""
    m = len(core.price)
    return core._replace(price=multipliers[:m], fees=core.fees._replace(share=multipliers[m + 1 :]))


def columns_and_rows(
    core: Core, program: LinearProgram, values: NDArray[np.float64]
) -> tuple[IntArray, IntArray] | None:
    """Return where a relaxation without fees stands at a core's prices and with so much of each unit (`Operations`).

    A piece that is worth more than its feature's price is full, one that is worth less is empty; a feature without a
    price has copies to spare. Most of that is the basis of the optimum where it comes from one of more units.
    """
    n, m = core.size, len(core.price)
    if len(core.fees.fee) or program.holds is not None:
        return None
    columns = np.full(len(program.cost), BETWEEN)
    columns[:n][values < _WHOLE] = BELOW
    columns[:n][values > 1.0 - _WHOLE] = ABOVE
    dearer = program.cost[n:] - core.price[program.place[program.start[n:-1]]] / core.scale
    columns[n:][dearer < -_SAME] = BELOW
    columns[n:][dearer > _SAME] = ABOVE
    rows = np.full(m + 1, ABOVE)  # the length is used up
    rows[:m] = np.where(core.price > 0, BELOW, BETWEEN)
    return columns, rows
