"""Multipliers from the linear relaxation of a core, solved by HiGHS.

maximize    sum mass_i x_i + sum mass_o m_o + sum_f sum_s slope_fs z_fs
subject to  sum_i count_if x_i + sum_o count_of m_o - sum_s z_fs >= 0   for every feature f (its dual is the price of f)
            sum over the members m_o <= x_u, or 1 - x_u, or 1           for every row (its dual is the price of the row)
            x_i <= x_parent(i),  low <= sum_i length_i x_i <= high,  0 <= x_i <= 1,  0 <= z_fs <= width_fs

Fees count with their chords. Units that touch nothing, with all below them, have no column. The duals are
only ever used as Lagrangian multipliers, where any values >= 0 give a valid bound; an infeasibility that HiGHS
reports is not used to prune.

Long vetoing rows (a unit vetoes every seam that spans it) would fill the matrix, so there a column s_u stands for the
members of the row of u, and one row says how they differ from those of the vetoing unit before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.program.rows import Rows as LinearRows

from ..reduction import DROPPED, TAKEN, States
from .bound import priced
from .core import NEED, VETO, Core, effective, reduced

__all__ = ["Relaxation"]

_HUGE: Final = 1e30
_ROW_WISE: Final = 2
_CLOSE: Final = 1e-6
_LONG: Final = 12
"""Members of an average vetoing row from which on rows are written as differences."""


def _pieces(core: Core) -> tuple[IntArray, IntArray, IntArray]:
    """Feature, slope and width of each piece of equal slope of the tables."""
    features = len(core.table_start) - 1
    widths = np.diff(core.table_start) - 1
    feature = np.repeat(np.arange(features), widths)
    at = np.arange(len(feature)) + feature + 1
    slope = core.table[at] - core.table[at - 1]
    kept = slope > 0
    feature, slope = feature[kept], slope[kept]
    if not len(slope):
        return feature, slope, slope
    first = np.flatnonzero(np.append(True, (np.diff(slope) != 0) | (np.diff(feature) != 0)))
    return feature[first], slope[first], np.diff(np.append(first, len(slope)))


class Relaxation:
    """The relaxation of one core in HiGHS, to be solved with more and more units decided.

    Parameters
    ----------
    core : Core
        Later calls name units by their places in it.
    """

    def __init__(self, core: Core) -> None:
        import highspy

        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs: Any = highspy.Highs()
        for name, option in (("output_flag", False), ("threads", 1), ("presolve", "off"), ("solver", "simplex")):
            self._highs.setOptionValue(name, option)
        self.load(core)

    def load(self, core: Core) -> None:
        """Replace the model."""
        self.core = core
        n, joints, features = core.size, core.joints, len(core.table_start) - 1
        used = effective(core)
        self._column = np.where(used, np.cumsum(used) - 1, -1)
        columns = int(used.sum())
        item_column = np.concatenate([self._column, columns + np.arange(joints)])
        piece_feature, slope, width = _pieces(core)
        first_piece = columns + joints
        model = LinearRows()
        item = np.repeat(np.arange(n + joints), np.diff(core.start))
        model.add(core.feature, item_column[item], core.count)
        model.add(piece_feature, first_piece + np.arange(len(slope)), np.full(len(slope), -1))
        model.close(features, 0.0, _HUGE)
        spans = self._add_rows(model, columns, first_piece + len(slope))
        children = np.flatnonzero(used & (core.parent >= 0))
        block = np.arange(len(children))
        model.add(block, self._column[children], np.ones(len(children), np.int64))
        model.add(block, self._column[core.parent[children]], np.full(len(children), -1))
        model.close(len(children), -_HUGE, 0.0)
        model.add(np.zeros(columns, np.int64), np.arange(columns), core.lengths[used])
        low = core.low - int(core.lengths[~used].sum())
        self._low = float(low) if low > 0 else -_HUGE
        model.close(1, self._low, float(core.high))

        mass = core.mass.astype(np.float64)
        if len(core.fees.fee):
            at = priced(core)
            np.add.at(mass, core.fees.item, core.fees.count * at.price[at.rising + core.fees.fee] / core.scale)
        upper = np.concatenate([np.ones(columns + joints), width, np.full(spans, _HUGE)])
        lower = np.concatenate([np.zeros(columns + joints + len(width)), np.full(spans, -_HUGE)])
        cost = np.concatenate([mass[:n][used], mass[n:], slope, np.zeros(spans)])
        row_start, row_column, row_value, row_lower, row_upper = model.arrays()
        self._highs.passModel(
            len(cost),
            len(row_lower),
            len(row_column),
            _ROW_WISE,
            -1,  # maximize
            0.0,
            cost,
            lower,
            upper,
            row_lower,
            row_upper,
            row_start.astype(np.int32),
            row_column.astype(np.int32),
            row_value.astype(np.float64),
            np.zeros(len(cost), np.int32),
        )
        self._length_row = len(row_lower) - 1
        self._limits = self._most(core)

    def _add_rows(self, model: LinearRows, joint_column: int, span_column: int) -> int:
        """Add the rows of the joints; return how many columns stand for members of long rows."""
        core, rows = self.core, self.core.rows
        count = len(rows.unit)
        tied = rows.unit >= 0
        vetoing = tied & (rows.sign == VETO)
        members = np.bincount(rows.row, minlength=count)
        chained = vetoing if vetoing.any() and members[vetoing].mean() > _LONG else np.zeros(count, np.bool_)
        spelled = ~chained[rows.row]
        model.add(rows.row[spelled], joint_column + rows.joint[spelled], np.ones(int(spelled.sum()), np.int64))
        numbers = np.flatnonzero(tied)
        sign = np.where(rows.sign[numbers] == NEED, -1, 1)
        model.add(numbers, self._column[rows.unit[numbers]], sign)
        chain = np.flatnonzero(chained)[np.argsort(rows.unit[chained], kind="stable")]
        place = np.arange(len(chain))
        model.add(chain, span_column + place, np.ones(len(chain), np.int64))
        model.close(count, -_HUGE, np.where(tied & (rows.sign == NEED), 0.0, 1.0))
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

    @staticmethod
    def _most(core: Core) -> tuple[IntArray, IntArray]:
        """Largest prices that make sense: of a feature its first gain, of a row what a member gains at most."""
        features = len(core.table_start) - 1
        slope = np.zeros(features, np.int64)
        has = np.diff(core.table_start) > 1
        slope[has] = core.table[core.table_start[:-1][has] + 1]
        gain = np.zeros(len(core.mass), np.int64)
        np.add.at(gain, np.repeat(np.arange(len(gain)), np.diff(core.start)), slope[core.feature] * core.count)
        gain += np.maximum(core.mass, 0)
        rows = core.rows
        most = np.zeros(len(rows.unit), np.int64)
        np.maximum.at(most, rows.row, gain[core.size + rows.joint])
        return slope * core.scale, most * core.scale

    def prices(self) -> Core | None:
        """Solve from the last basis: the core with scaled and rounded multipliers, or None without a solution."""
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        core = self.core
        m = len(core.table_start) - 1
        dual = np.abs(np.asarray(self._highs.getSolution().row_dual)[: m + len(core.rows.unit)]) * core.scale
        dual = np.rint(np.minimum(dual, 2.0**61)).astype(np.int64)
        of_feature, of_row = self._limits
        rows = replace(core.rows, price=np.minimum(dual[m:], of_row))
        return replace(core, price=np.minimum(dual[:m], of_feature), rows=rows)

    def reduced(self, state: States) -> Core:
        """Return the core in which units are decided, with prices of its own."""
        used = np.flatnonzero(self._column >= 0)
        lower = (state[used] == TAKEN).astype(np.float64)
        upper = (state[used] != DROPPED).astype(np.float64)
        self._highs.changeColsBounds(len(used), np.arange(len(used), dtype=np.int32), lower, upper)
        core = self.prices()
        return reduced(self.core if core is None else core, state)

    def squeezed(self, target: int) -> Core | None:
        """Return the loaded core with prices of the largest length at which the relaxation misses the target.

        Where the length does not bind, copies have no price and the bound does not see the length. These prices are
        as valid as any, and tell how much length what is still missing takes.
        """
        core = self.core
        first, last = max(0, core.low), core.high
        found = None
        while first < last:
            middle = (first + last) // 2
            self._highs.changeRowBounds(self._length_row, self._low, float(middle))
            priced_core = self.prices()
            value = self._highs.getInfo().objective_function_value + core.base
            if priced_core is None or value >= target - _CLOSE:
                last = middle
            else:
                first, found = middle + 1, priced_core
        self._highs.changeRowBounds(self._length_row, self._low, float(core.high))
        return found
