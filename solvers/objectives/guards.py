"""Programs whose selections are worth something only if some totals are positive.

A ratio over nothing is 0, whatever its numerator; a program for a value of the ratio would not know that. A *guard* is
a feature that every unit feeds which adds to a total, with the gains M, M, ... for the first k copies and k M taken off
the base: selections with a total of at least 1 keep their value, all others lose M at least.

Minimum lengths become rows where a table of every length would be too large: the engine's knapsack tables have a cell
for each unit and length, and keep a minimum only if no length is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Combination, Coverage, IntArray
from optsum.coverage.row import Row
from optsum.errors import UnsupportedError
from optsum.program.tangent import one_varies

from ..engine.program import LONGEST, Program, first_gains, program_of, sides_of, with_feature

_CELLS: Final = 1_000_000
"""Units times lengths up to which tables have every length: beyond, rows are quicker, and the engines hold few more."""


def with_minimum_row(instance: Coverage) -> Coverage:
    """Return an instance of the same selections and values whose minimum length is a row, if it has to be one.

    `instance`: to be maximized.
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


def servable(instance: Coverage) -> str:
    """Return why an instance cannot be searched by programs, as the end of a sentence; empty if it can."""
    for total in range(1, len(instance.constants), 2):
        if int(instance.constants[total]) < 0 and (instance.slot == total).any():
            return "a denominator that begins below 0 counts features, too"
    if instance.combination is Combination.HARMONIC and not one_varies(instance):
        return "several denominators of a harmonic mean vary"
    return ""


def _feeds(instance: Coverage, total: int) -> NDArray[np.bool_]:
    fed: NDArray[np.bool_] = (instance.slot == total) & (first_gains(instance.level_start, instance.level) > 0)
    return fed


def _adds(instance: Coverage, total: int) -> IntArray:
    """Return the certain gain of each unit in an empty total: its mass, or 1 for its features."""
    feeds = _feeds(instance, total)
    found: IntArray = instance.mass[total].copy()
    unit = np.repeat(np.arange(instance.size), np.diff(instance.unit_start))
    fed: IntArray = np.bincount(unit[feeds[instance.unit_feature]], minlength=instance.size).astype(np.int64)
    found += fed
    return found


def guarded(program: Program, instance: Coverage, totals: Iterable[int], penalty: int) -> Program:
    """Return a program in which selections with a total below 1 lose `penalty` at least."""
    for total in totals:
        wanted = 1 - int(instance.constants[total])
        if wanted <= 0:
            continue
        if wanted > 1 and (instance.slot == total).any():
            raise UnsupportedError(f"The engine cannot keep this instance positive: {servable(instance)}.")
        copies = np.minimum(_adds(instance, total), wanted)
        number = len(program.table_start) - 1
        holders = np.flatnonzero(copies)
        feeds = _feeds(instance, total)
        joints = tuple(replace(joint, feature=number, count=1) for joint in instance.joints if feeds[joint.feature])
        program = with_feature(program, holders, copies[holders], penalty * np.arange(wanted + 1))
        program = replace(program, base=program.base - penalty * wanted, joints=(*program.joints, *joints))
    return program


def positive_program(instance: Coverage, totals: Iterable[int]) -> Program:
    """Return a program that is worth 0 exactly for selections whose `totals` are all positive, and less for others."""
    return guarded(program_of(instance, [0] * len(instance.constants)), instance, totals, 1)
