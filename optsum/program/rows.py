"""Rows of an integer program under construction, in blocks of arrays, and those of ceilings, which are in all.

For common subsequences see `optsum.coverage.ceilings`.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, IntArray


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

    def arrays(self) -> dict[str, Any]:
        """Return all blocks together, ordered by rows, as the fields of a `optsum.program.model.LinearModel`."""
        row = np.concatenate(self.row) if self.row else np.zeros(0, np.int64)
        order = np.argsort(row, kind="stable")
        start = np.zeros(self.count + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=self.count), out=start[1:])
        column = np.concatenate(self.column) if self.column else np.zeros(0, np.int64)
        value = np.concatenate(self.value) if self.value else np.zeros(0, np.int64)
        lower = np.concatenate(self.lower) if self.lower else np.zeros(0)
        upper = np.concatenate(self.upper) if self.upper else np.zeros(0)
        return {
            "row_start": start,
            "row_column": column[order],
            "row_value": value[order],
            "row_lower": lower,
            "row_upper": upper,
        }


class CeilingColumns:
    """The columns and rows of all ceilings of an instance.

    `rows`: how many there are. `slot`, `worth`, `upper` (columns,): the total that each column feeds, what it adds, and
    its upper bound. `capped`: the first of the two rows of each group of every `CappedUnion`, or of every
    `TextSubsequence` if it is relaxed: its hits are at most what is covered, and at most the copies.
    """

    def __init__(self, instance: Coverage, *, relaxed: bool = False) -> None:
        parts = [ceiling.columns(relaxed=relaxed) for ceiling in instance.ceilings]
        sizes = [len(part.worth) for part in parts]
        self._parts = parts
        self.slot = np.repeat([one.slot for one in instance.ceilings], sizes).astype(np.int64)
        none = np.zeros(0, np.int64)
        self.worth = np.concatenate(
            [none, *(one.gain * part.worth for one, part in zip(instance.ceilings, parts, strict=True))]
        )
        self.upper = np.concatenate([none, *(part.upper for part in parts)])
        self._first = list(accumulate(sizes, initial=0))
        firsts = list(accumulate((len(part.least) for part in parts), initial=0))
        self.rows = firsts[-1]
        self.capped = [first + row for first, part in zip(firsts, parts, strict=False) for row in part.capped.tolist()]

    def add_rows(self, rows: LinearRows, column: int) -> None:
        """Add the rows, the first of these columns being number `column`."""
        for begin, part in zip(self._first, self._parts, strict=False):
            rows.add(part.row, np.where(part.name >= 0, part.name, column + begin - 1 - part.name), part.value)
            rows.close(len(part.least), part.least, part.most)
