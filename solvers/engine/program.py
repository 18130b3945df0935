"""One integer total to be maximized: what the engines of branch and bound search.

Recall is its own program. One ratio T / D is a short sequence of them, ``q T - p D`` (Dinkelbach 1967); sums and
products of ratios are bounded by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsum.coverage.instance import Coverage, IntArray, Joint

__all__ = ["Program", "program_of"]


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """Maximize ``base + sum of mass over the chosen units + sum of table_f(copies of f)`` within the lengths.

    Attributes
    ----------
    lengths, unit_start, unit_feature, unit_count, parents, joints, min_length, max_length :
        As in `optsum.coverage.instance.Coverage`; `parents` has one entry a unit, -1 for none.
    table_start, table : (features + 1,), (sum of (M_f + 1),)
        What c copies of feature f are worth: ``table[table_start[f] + min(c, M_f)]``, 0 for no copy. Concave and
        growing for features of a numerator; falling (0, -p, ...) for features that a denominator counts.
    mass : (units,)
        What each unit adds by itself; may be negative.
    base : int
        The total of the empty selection.
    """

    lengths: IntArray
    unit_start: IntArray
    unit_feature: IntArray
    unit_count: IntArray
    table_start: IntArray
    table: IntArray
    mass: IntArray
    base: int
    parents: IntArray
    joints: tuple[Joint, ...]
    min_length: int
    max_length: int

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.lengths)

    @property
    def singletons(self) -> bool:
        """Whether every occurrence is decided by one unit and no unit has a parent."""
        return not self.joints and not (self.parents >= 0).any()


def program_of(instance: Coverage, weights: Sequence[int]) -> Program:
    """Return the program that maximizes a weighted sum of an instance's totals.

    Parameters
    ----------
    instance : Coverage
        To be maximized; its own combination of ratios is not looked at.
    weights : one integer a total
        Not negative for numerators, not positive for denominators: ``(1, 0)`` is recall, ``(q, -p)`` asks whether a
        ratio beats p / q.
    """
    factor = np.asarray(weights, np.int64)
    if tuple(weights) == (1, 0) and not instance.slot.any():  # recall
        table, mass = instance.level, instance.mass[0]
    else:
        table = instance.level * np.repeat(factor[instance.slot], np.diff(instance.level_start))
        mass = factor @ instance.mass
    return Program(
        lengths=instance.lengths,
        unit_start=instance.unit_start,
        unit_feature=instance.unit_feature,
        unit_count=instance.unit_count,
        table_start=instance.level_start,
        table=table,
        mass=mass,
        base=int(factor @ instance.constants),
        parents=instance.parents if len(instance.parents) else np.full(instance.size, -1, np.int64),
        joints=instance.joints,
        min_length=instance.min_length,
        max_length=instance.max_length,
    )
