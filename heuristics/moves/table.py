"""Keep the gain of each unit up to date between two evaluations of all units.

Between two looks a selection changes by few units, and what a feature gains changes only where its copies come to a
step of its levels that is worth something else. So it is cheaper to follow these than to sum up all features again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from optsum.coverage.instance import Coverage, IntArray, Sense
from optsum.coverage.state import kernel_array
from optsum.system.compiled import njit


class MoveTable(NamedTuple):
    """Gains of units, and for which copies of the features they hold.

    Attributes
    ----------
    gains : (units,)
        What the features of a unit that is not chosen would add to the numerator; without a table, no entries.
    copies : (features,)
        The copies that the gains are for.
    holder_start, holder, holder_count : packed
        The units that have each feature, and how many copies.
    most : (features,)
        The most copies that one unit has.
    rising : int
        1 where there is a table and no copy is worth less than nothing.
    """

    gains: IntArray
    copies: IntArray
    holder_start: IntArray
    holder: IntArray
    holder_count: IntArray
    most: IntArray
    rising: int


def table_of(instance: Coverage, quick: IntArray) -> MoveTable:
    """Return the table of an instance at the empty selection; without entries where gains are no sums of integers.

    Parameters
    ----------
    quick : (moves,)
        See `optsum.coverage.gains.quick_ones`.
    """
    if instance.goal is not Sense.MAXIMIZE or not (quick > 0).any() or (instance.slot != 0).any():
        none = np.zeros(0, np.int64)
        return MoveTable(none, none, none, none, none, none, 0)
    units = np.repeat(np.arange(instance.size), np.diff(instance.unit_start))
    order = np.argsort(instance.unit_feature, kind="stable")
    held = np.bincount(instance.unit_feature, minlength=instance.features)
    most = np.zeros(instance.features, np.int64)
    np.maximum.at(most, instance.unit_feature, instance.unit_count)
    full = np.diff(instance.level_start) - 1
    base = instance.level_start[instance.unit_feature]
    first = instance.level[base + np.minimum(instance.unit_count, full[instance.unit_feature])] - instance.level[base]
    within = np.ones(len(instance.level), bool)
    within[instance.level_start[:-1]] = False
    falling = (np.diff(instance.level, prepend=0) < 0) & within
    gains = np.zeros(instance.size, np.int64)
    np.add.at(gains, units, first)
    return MoveTable(
        gains,
        np.zeros(instance.features, np.int64),
        kernel_array(np.concatenate([[0], np.cumsum(held)])),
        kernel_array(units[order]),
        kernel_array(instance.unit_count[order]),
        most,
        int(not falling.any()),
    )


@njit(cache=True)
def learn(table: Any, copies: Any, level_start: Any, level: Any) -> None:
    """Bring the gains to what they are with the copies that there are now."""
    gains, known, holder_start, holder, holder_count, most, _ = table
    for feature in range(len(known)):
        was, now = known[feature], copies[feature]
        if was == now:
            continue
        known[feature] = now
        base = level_start[feature]
        full = level_start[feature + 1] - 1 - base
        old, new = min(was, full), min(now, full)
        same = True
        for count in range(1, most[feature] + 1):
            before = level[base + min(old + count, full)] - level[base + old]
            same = same and before == level[base + min(new + count, full)] - level[base + new]
        if same:
            continue
        for entry in range(holder_start[feature], holder_start[feature + 1]):
            count = holder_count[entry]
            before = level[base + min(old + count, full)] - level[base + old]
            gains[holder[entry]] += level[base + min(new + count, full)] - level[base + new] - before
