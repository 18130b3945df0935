"""Multipliers from the linear relaxation of a core, solved by HiGHS.

maximize    sum mass_i x_i + sum mass_o m_o + sum_f sum_s slope_fs z_fs
subject to  sum_i count_if x_i + sum_o count_of m_o - sum_s z_fs >= 0   for every feature f (its dual is the price of f)
            sum over the members m_o <= x_u, or 1 - x_u, or 1           for every row (its dual is the price of the row)
            x_i <= x_parent(i),  low <= sum_i length_i x_i <= high,  0 <= x_i <= 1,  0 <= z_fs <= width_fs

Fees count with their chords. Units that touch nothing, with all below them, have no column. Any prices >= 0 give a
valid bound.

Long vetoing rows (a unit vetoes every seam that spans it) would fill the matrix, so there a column s_u stands for the
members of the row of u, and one row says how they differ from those of the vetoing unit before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.program.rows import Rows as LinearRows

from ..program import first_gains, widths
from ..relaxation import BY_ROW, HUGE, LinearProgram
from .instance.core import NEED, VETO, Core
from .instance.reduction import effective

_ANY: Final = 2**62
_LONG: Final = 12
"""Members of an average vetoing row from which on rows are written as differences."""


def _pieces(core: Core) -> tuple[IntArray, IntArray, IntArray]:
    """Feature, slope and width of each piece of equal slope of the tables."""
    features = len(core.table_start) - 1
    width = widths(core.table_start) - 1
    feature = np.repeat(np.arange(features), width)
    at = np.arange(len(feature)) + feature + 1
    slope = core.table[at] - core.table[at - 1]
    kept = slope > 0
    feature, slope = feature[kept], slope[kept]
    if not len(slope):
        return feature, slope, slope
    first = np.flatnonzero(np.append(True, (np.diff(slope) != 0) | (np.diff(feature) != 0)))
    return feature[first], slope[first], np.diff(np.append(first, len(slope)))


def linear_program(core: Core) -> LinearProgram | None:
    """Return the relaxation of a core; None if nothing in it has a price."""
    if not (len(core.price) or len(core.rows.unit)):
        return None
    n, joints, features = core.size, core.joints, len(core.table_start) - 1
    used = effective(core)
    column = np.where(used, np.cumsum(used) - 1, -1)
    columns = int(used.sum())
    item_column = np.concatenate([column, columns + np.arange(joints)])
    piece_feature, slope, width = _pieces(core)
    first_piece = columns + joints
    model = LinearRows()
    item = np.repeat(np.arange(n + joints), widths(core.start))
    model.add(core.feature, item_column[item], core.count)
    model.add(piece_feature, first_piece + np.arange(len(slope)), np.full(len(slope), -1))
    model.close(features, 0.0, HUGE)
    spans = _add_rows(core, column, model, columns, first_piece + len(slope))
    children = np.flatnonzero(used & (core.parent >= 0))
    block = np.arange(len(children))
    model.add(block, column[children], np.ones(len(children), np.int64))
    model.add(block, column[core.parent[children]], np.full(len(children), -1))
    model.close(len(children), -HUGE, 0.0)
    model.add(np.zeros(columns, np.int64), np.arange(columns), core.lengths[used])
    low = core.low - int(core.lengths[~used].sum())
    least = float(low) if low > 0 else -HUGE
    model.close(1, least, float(core.high))

    mass = core.mass.astype(np.float64)
    if len(core.fees.fee):
        at = core.at
        np.add.at(mass, core.fees.item, core.fees.count * at.price[at.rising + core.fees.fee] / core.scale)
    upper = np.concatenate([np.ones(columns + joints), width, np.full(spans, HUGE)])
    lower = np.concatenate([np.zeros(columns + joints + len(width)), np.full(spans, -HUGE)])
    cost = np.concatenate([mass[:n][used], mass[n:], slope, np.zeros(spans)])
    row_start, row_column, row_value, row_lower, row_upper = model.arrays()
    most = np.full(len(row_lower), _ANY)
    most[: features + len(core.rows.unit)] = _most(core)
    return LinearProgram(
        BY_ROW,
        cost,
        lower,
        upper,
        row_lower,
        row_upper,
        row_start.astype(np.int32),
        row_column.astype(np.int32),
        row_value.astype(np.float64),
        np.flatnonzero(used).astype(np.int32),
        most,
        len(row_lower) - 1,
    )


def _add_rows(core: Core, column: IntArray, model: LinearRows, joint_column: int, span_column: int) -> int:
    """Add the rows of the joints; return how many columns stand for members of long rows."""
    rows = core.rows
    count = len(rows.unit)
    tied = rows.unit >= 0
    vetoing = tied & (rows.sign == VETO)
    members = np.bincount(rows.row, minlength=count)
    chained = vetoing if vetoing.any() and members[vetoing].mean() > _LONG else np.zeros(count, np.bool_)
    spelled = ~chained[rows.row]
    model.add(rows.row[spelled], joint_column + rows.joint[spelled], np.ones(int(spelled.sum()), np.int64))
    numbers = np.flatnonzero(tied)
    sign = np.where(rows.sign[numbers] == NEED, -1, 1)
    model.add(numbers, column[rows.unit[numbers]], sign)
    chain = np.flatnonzero(chained)[np.argsort(rows.unit[chained], kind="stable")]
    place = np.arange(len(chain))
    model.add(chain, span_column + place, np.ones(len(chain), np.int64))
    model.close(count, -HUGE, np.where(tied & (rows.sign == NEED), 0.0, 1.0))
    if not len(chain):
        return 0
    model.add(place, span_column + place, np.ones(len(chain), np.int64))
    model.add(place[1:], span_column + place[:-1], np.full(len(chain) - 1, -1))
    member = np.zeros((len(chain), core.joints), np.int8)
    place_of = np.full(count, -1, np.int64)
    place_of[chain] = place
    member[place_of[rows.row[~spelled]], rows.joint[~spelled]] = 1
    at, joint = np.nonzero(change := np.diff(member, axis=0, prepend=np.int8(0)))
    model.add(at, joint_column + joint, -change[at, joint].astype(np.int64))
    model.close(len(chain), 0.0, 0.0)
    return len(chain)


def _most(core: Core) -> IntArray:
    """Largest prices that make sense: of a feature its first gain, of a row what a member gains at most."""
    slope = first_gains(core.table_start, core.table)
    gain = np.zeros(len(core.mass), np.int64)
    np.add.at(gain, np.repeat(np.arange(len(gain)), widths(core.start)), slope[core.feature] * core.count)
    gain += np.maximum(core.mass, 0)
    rows = core.rows
    most = np.zeros(len(rows.unit), np.int64)
    np.maximum.at(most, rows.row, gain[core.size + rows.joint])
    return np.concatenate([slope, most]) * core.scale


def with_prices(core: Core, multipliers: IntArray) -> Core:
    """Return a core with the multipliers of its relaxation as prices of features and rows."""
    m = len(core.table_start) - 1
    rows = core.rows._replace(price=multipliers[m : m + len(core.rows.unit)])
    return replace(core, price=multipliers[:m], rows=rows)
