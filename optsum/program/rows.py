"""Rows of an integer program under construction, in blocks of arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray


class RowArrays(NamedTuple):
    """Rows as `optsum.program.model.LinearModel` has them, under the same names."""

    row_start: IntArray
    row_column: IntArray
    row_value: IntArray
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]


class LinearRows:
    """Blocks of rows; entries of a block are added, then the block is closed with its limits."""

    def __init__(self) -> None:
        self.row: list[IntArray] = []
        self.column: list[IntArray] = []
        self.value: list[IntArray] = []
        self.lower: list[NDArray[np.float64]] = []
        self.upper: list[NDArray[np.float64]] = []
        self.count = 0

    def add(self, row: IntArray, column: IntArray, value: IntArray) -> None:
        """Add entries of the rows of the current block, numbered from 0 within it.

        No entry may be given twice: HiGHS may never return from a model that has one doubled.
        """
        self.row.append(row + self.count)
        self.column.append(column)
        self.value.append(value)

    def close(
        self, rows: int, lower: float | IntArray | NDArray[np.float64], upper: float | IntArray | NDArray[np.float64]
    ) -> None:
        """End a block of `rows` rows."""
        self.lower.append(np.broadcast_to(np.asarray(lower, np.float64), (rows,)))
        self.upper.append(np.broadcast_to(np.asarray(upper, np.float64), (rows,)))
        self.count += rows

    def arrays(self) -> RowArrays:
        """Return all blocks together, ordered by rows."""
        row = np.concatenate(self.row) if self.row else np.zeros(0, np.int64)
        order = np.argsort(row, kind="stable")
        start = np.zeros(self.count + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=self.count), out=start[1:])
        column = np.concatenate(self.column) if self.column else np.zeros(0, np.int64)
        value = np.concatenate(self.value) if self.value else np.zeros(0, np.int64)
        lower = np.concatenate(self.lower) if self.lower else np.zeros(0)
        upper = np.concatenate(self.upper) if self.upper else np.zeros(0)
        return RowArrays(start, column[order], value[order], lower, upper)
