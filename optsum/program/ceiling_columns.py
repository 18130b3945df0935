"""Common subsequences in an integer program: the columns and rows of all ceilings (`optsum.coverage.ceilings`)."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from optsum.coverage.instance import Coverage
from optsum.program.rows import LinearRows


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
