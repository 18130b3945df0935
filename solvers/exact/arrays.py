"""The engine's instance: `Core`.

A core is what is left of a coverage instance once some units are taken and some are dropped. Its value is

    base + sum of mass[i] over the chosen units + sum over features f of table_f(copies of f chosen),

where every table is concave, starts with 0 and is not linear over the copies that are left (`reduction`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage import Coverage, IntArray
from optsum.errors import UnsupportedError

from .reduction import reduce_core

__all__ = ["DROPPED", "FREE", "TAKEN", "Core", "States", "core_of", "reduced"]

DROPPED: Final = 0
TAKEN: Final = 1
FREE: Final = 2

States = NDArray[np.int8]

_MAX_VALUE: Final = 2**56


@dataclass(frozen=True, eq=False, slots=True)
class Core:
    """An instance for the kernels; units and features are numbered from 0 anew.

    Attributes
    ----------
    ids : (n,)
        Unit number in the coverage instance.
    lengths, mass : (n,)
    start, feature, count : (n + 1,), (entries,), (entries,)
        Row i: ``feature[start[i]:start[i + 1]]`` and the copies ``count`` of each.
    table_start, table : (m + 1,), (...,)
        Gain of c copies of f: ``table[table_start[f] + min(c, M_f)]``.
    price : (m,)
        Multipliers of the features, scaled by `scale`: any value >= 0 gives a valid bound.
    base : int
        Value of the units taken already.
    low, high : int
        Least and largest length that may still be added.
    scale : int
        Fixed-point unit of prices and bounds.
    """

    ids: IntArray
    lengths: IntArray
    mass: IntArray
    start: IntArray
    feature: IntArray
    count: IntArray
    table_start: IntArray
    table: IntArray
    price: IntArray
    base: int
    low: int
    high: int
    scale: int

    @property
    def size(self) -> int:
        """Number of undecided units."""
        return len(self.ids)


def reduced(core: Core, state: States) -> Core:
    """Return the core that remains once units are taken (`TAKEN`) or dropped (`DROPPED`)."""
    keep, mass, start, feature, count, table_start, table, price, gained = reduce_core(
        state,
        core.lengths,
        core.mass,
        core.start,
        core.feature,
        core.count,
        core.table_start,
        core.table,
        core.price,
        core.scale,
    )
    used = int(core.lengths[state == TAKEN].sum())
    return Core(
        ids=core.ids[keep],
        lengths=core.lengths[keep],
        mass=mass,
        start=start,
        feature=feature,
        count=count,
        table_start=table_start,
        table=table,
        price=price,
        base=core.base + int(gained),
        low=core.low - used,
        high=core.high - used,
        scale=core.scale,
    )


def core_of(coverage: Coverage) -> tuple[Core, int]:
    """Make the root instance of a coverage problem.

    Returns
    -------
    core : Core
        Units longer than the maximum are left out.
    unit : int
        Common divisor of all gains: the core's values times `unit`, plus the constant of the numerator, are the
        values of the instance.

    Raises
    ------
    UnsupportedError
        If the value is not one ratio with a constant denominator, several units decide an occurrence, a unit
        lowers the value, or gains are beyond what 64-bit integers hold with room to spare.
    """
    if not (coverage.constant_denominator and coverage.singletons):
        raise UnsupportedError(
            "The exact engine serves recall with occurrences decided by single units; use another strategy for "
            "this formulation or measure."
        )
    mass = coverage.mass[0]
    if len(mass) and mass.min() < 0:
        raise UnsupportedError("The exact engine needs gains that are not negative; use the strategy milp.")
    gains = coverage.level
    divisor = 0
    if len(gains):
        divisor = int(np.gcd.reduce(gains))
    if len(mass):
        divisor = int(np.gcd.reduce(mass, initial=divisor))
    divisor = max(divisor, 1)
    counting = coverage.slot == 0
    if counting.all():
        start, feature, count = coverage.unit_start, coverage.unit_feature, coverage.unit_count
    else:
        raise UnsupportedError("The exact engine needs every feature in the numerator; use the strategy milp.")
    total = sum(gains[coverage.level_start[1:] - 1].tolist()) + sum(mass.tolist())
    if total // divisor > _MAX_VALUE:
        raise UnsupportedError(
            f"The gains add up to {total}, beyond the exact engine's integers; use the strategy milp or exhaustive."
        )
    scale = 1 << 16
    while scale > 1 and total // divisor * scale > 2**60:
        scale //= 2
    lengths = coverage.lengths
    state = np.where(lengths <= coverage.max_length, np.int8(FREE), np.int8(DROPPED))
    high = min(coverage.max_length, int(lengths[state == FREE].sum()))
    whole = Core(
        ids=np.arange(coverage.size, dtype=np.int64),
        lengths=lengths,
        mass=mass // divisor if divisor > 1 else mass,
        start=start,
        feature=feature,
        count=count,
        table_start=coverage.level_start,
        table=gains // divisor if divisor > 1 else gains,
        price=np.zeros(coverage.features, np.int64),
        base=0,
        low=max(coverage.min_length, 0),
        high=high,
        scale=scale,
    )
    return reduced(whole, state), divisor
