"""Minimum lengths in fine units: as a side constraint where a table of every length would be too large.

The knapsack tables of the engine have a cell a unit and length, and keep a minimum only if no length is rounded. Rows
are priced as features are (`..engine.program`), which takes one entry a length.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from optsum.coverage.instance import Coverage
from optsum.coverage.row import Row

from ..engine.program import LONGEST, sides_of

_CELLS: Final = 1_000_000
"""Units times lengths up to which tables have every length: beyond, rows are quicker, and the engines hold few more."""


def with_minimum_row(instance: Coverage) -> Coverage:
    """Return an instance of the same selections and values whose minimum length is a row, if it has to be one.

    Parameters
    ----------
    instance : Coverage
        To be maximized.
    """
    longest = min(instance.max_length, int(instance.lengths.sum()))
    if instance.min_length <= 0 or (instance.size + 1) * (longest + 1) <= _CELLS:
        return instance
    units = np.flatnonzero(instance.lengths)
    row = Row(
        tuple(units.tolist()), tuple(instance.lengths[units].tolist()), instance.min_length, None, "minimum length"
    )
    if any(limit >= LONGEST for _, _, limit, _ in sides_of([row])):
        return instance
    return replace(instance, min_length=0, rows=(*instance.rows, row))
