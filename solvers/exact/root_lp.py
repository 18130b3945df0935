"""Multipliers from the linear relaxation, solved by HiGHS.

maximize    base + sum mass_i x_i + sum_f sum_s slope_fs z_fs
subject to  sum_i count_if x_i - sum_s z_fs >= 0          for every feature f (its dual is the price of f)
            low <= sum_i length_i x_i <= high
            0 <= x_i <= 1, 0 <= z_fs <= width_fs           (s: pieces of equal slope of the table of f)

The duals are only ever used as Lagrangian multipliers, where any values >= 0 give a valid bound, so no tolerance of
the simplex method can harm exactness. An infeasibility reported by HiGHS is not used to prune.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit

from optsum.coverage import IntArray

from .arrays import DROPPED, FREE, TAKEN, Core, reduced

__all__ = ["Relaxation"]

_HUGE = 1e30


@njit(cache=True)
def _model(lengths, mass, start, feature, count, table_start, table):
    """Columns x then z, stored column by column; the last row is the length."""
    n, m = len(lengths), len(table_start) - 1
    pieces = 0
    for f in range(m):
        last = np.int64(-1)
        for t in range(table_start[f] + 1, table_start[f + 1]):
            step = table[t] - table[t - 1]
            if step > 0 and step != last:
                pieces += 1
                last = step
    columns = n + pieces
    cost = np.empty(columns, np.float64)
    upper = np.ones(columns, np.float64)
    first = np.empty(columns + 1, np.int32)
    index = np.empty(len(feature) + n + pieces, np.int32)
    value = np.empty(len(feature) + n + pieces, np.float64)
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
    first[columns] = at
    return cost, upper, first, index, value


class Relaxation:
    """The relaxation of one core in HiGHS, to be solved with more and more units decided.

    Parameters
    ----------
    core : Core
        Later calls name units by its `ids`.
    """

    def __init__(self, core: Core) -> None:
        import highspy

        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs: Any = highspy.Highs()
        for name, option in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("solver", "simplex"),
        ):
            self._highs.setOptionValue(name, option)
        self.load(core)

    def load(self, core: Core) -> None:
        """Replace the model."""
        self.core = core
        m = len(core.price)
        cost, upper, first, index, value = _model(
            core.lengths, core.mass, core.start, core.feature, core.count, core.table_start, core.table
        )
        columns = len(cost)
        row_lower = np.zeros(m + 1)
        row_upper = np.full(m + 1, _HUGE)
        row_lower[m] = core.low if core.low > 0 else -_HUGE
        row_upper[m] = core.high
        self._highs.passModel(
            columns,
            m + 1,
            len(index),
            1,  # column by column
            -1,  # maximize
            float(core.base),
            cost,
            np.zeros(columns),
            upper,
            row_lower,
            row_upper,
            first,
            index,
            value,
            np.zeros(columns, np.int32),  # every column continuous
        )

    def prices(self) -> IntArray | None:
        """Solve from the last basis: (m,) scaled and rounded multipliers, or None if HiGHS has no solution."""
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        m = len(self.core.price)
        dual = np.abs(np.asarray(self._highs.getSolution().row_dual)[:m])
        price: IntArray = np.rint(dual * self.core.scale).astype(np.int64)
        return price

    def reduced(self, free: IntArray, taken: Sequence[int]) -> Core:
        """Return the core in which only the `free` units are undecided, with prices of its own.

        Parameters
        ----------
        free, taken : unit numbers as in ``core.ids``; every other unit is dropped
        """
        core = self.core
        state = np.full(core.size, DROPPED, np.int8)
        state[np.searchsorted(core.ids, free)] = FREE
        state[np.searchsorted(core.ids, taken)] = TAKEN
        every = np.arange(core.size, dtype=np.int32)
        lower = (state == TAKEN).astype(np.float64)
        self._highs.changeColsBounds(core.size, every, lower, (state != DROPPED).astype(np.float64))
        price = self.prices()
        return reduced(core if price is None else replace(core, price=price), state)
