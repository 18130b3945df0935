"""The engine's instance: `Core`.

A core is what is left of a coverage instance once some units are taken and some are dropped. Its value is

    base + sum of mass[i] over the chosen units + sum over features f of table_f(copies of f chosen)
         - sum over fees g of weight_g * min(copies of g chosen, step_g),

where every table is concave, starts with 0 and is not linear over the copies that are left, and no fee is linear over
them either (`reduction`). Masses may be negative. Recall has no fees.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.errors import UnsupportedError
from optsum.system.deadline import NEVER, Deadline

from ..program import Program, widths
from ..reduction import DROPPED, FREE, TAKEN, States, reduce_core

_MAX_VALUE: Final = 2**56
_MAX_SCALED: Final = 2**59
_SCALE: Final = 1 << 16

_NONE: Final = np.zeros(0, np.int64)


class Fees(NamedTuple):
    """What copies cost: row i, ``fee[start[i]:start[i + 1]]``, is the fees that unit i has copies of.

    Attributes
    ----------
    start, fee, copies : (n + 1,), (entries,), (entries,)
    share : (entries,)
        What each unit pays of a fee in bounds, scaled: any value from 0 to weight * copies is valid.
    weight, step : (fees,)
    """

    start: IntArray
    fee: IntArray
    copies: IntArray
    share: IntArray
    weight: IntArray
    step: IntArray

    @staticmethod
    def none(units: int) -> Fees:
        """Return no fees."""
        return Fees(np.zeros(units + 1, np.int64), _NONE, _NONE, _NONE, _NONE, _NONE)


class Core(NamedTuple):
    """An instance for the kernels; units and features are numbered from 0 anew.

    A named tuple, as it is made several times a topic: a frozen dataclass of so many fields takes 5-15 us each time.

    Attributes
    ----------
    ids : (n,)
        Unit number in the program.
    lengths, mass : (n,)
        Lengths are 0, and so is `high`, once everything that is left fits.
    start, feature, count : (n + 1,), (entries,), (entries,)
        Row i: ``feature[start[i]:start[i + 1]]`` and the copies ``count`` of each.
    table_start, table : (m + 1,), (...,)
        Gain of c copies of f: ``table[table_start[f] + min(c, M_f)]``.
    price : (m,)
        Multipliers of the features, scaled by `scale`: any value >= 0 gives a valid bound.
    fees : Fees
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
    count: IntArray  # type: ignore[assignment]  # a tuple counts too
    table_start: IntArray
    table: IntArray
    price: IntArray
    fees: Fees
    base: int
    low: int
    high: int
    scale: int

    @property
    def size(self) -> int:
        """Number of undecided units."""
        return len(self.ids)

    @property
    def plain(self) -> tuple[Any, ...]:
        """The fields as kernels take them: numba finds the type of plain tuples sooner than that of named ones."""
        return (*self[:9], self.fees[:], *self[10:])


def reduced(core: Core, state: States) -> Core:
    """Return the core that remains once units are taken (`TAKEN`) or dropped (`DROPPED`)."""
    entries = core.start, core.feature, core.count, core.table_start, core.table, core.price
    keep, mass, entries, gained, paid = reduce_core(state, core.mass, entries, core.scale, core.fees[:])
    start, feature, count, table_start, table, price = entries
    used = int(core.lengths[state == TAKEN].sum())
    lengths, low, high = core.lengths[keep], core.low - used, core.high - used
    if low <= 0 <= high and int(lengths.sum()) <= high:
        lengths, low, high = np.zeros(len(keep), np.int64), 0, 0  # everything fits
    return Core(
        ids=core.ids[keep],
        lengths=lengths,
        mass=mass,
        start=start,
        feature=feature,
        count=count,
        table_start=table_start,
        table=table,
        price=price,
        fees=Fees(*paid),
        base=core.base + int(gained),
        low=low,
        high=high,
        scale=core.scale,
    )


def _reach(program: Program) -> float:
    """Return what prices and shares can add up to: each copy at its feature's first step, and all masses."""
    width = widths(program.table_start)
    first = np.zeros(len(width))
    first[width > 1] = np.abs(program.table[program.table_start[:-1][width > 1] + 1])
    copies = np.minimum(program.unit_count, width[program.unit_feature] - 1)
    return float(first[program.unit_feature] @ copies) + float(np.abs(program.mass).sum(dtype=np.float64))


def core_of(program: Program, _deadline: Deadline = NEVER) -> tuple[Core, int]:
    """Make the root instance of a program, without units longer than the maximum (`Operations`).

    Raises
    ------
    UnsupportedError
        If several units decide an occurrence, too.
    """
    if not program.singletons:
        raise UnsupportedError(
            "The exact engine serves occurrences decided by single units; use another strategy for this formulation."
        )
    table, mass = program.table, program.mass
    divisor = int(np.gcd.reduce(table)) if len(table) else 0
    if len(mass):
        divisor = int(np.gcd.reduce(mass, initial=divisor))
    divisor = max(abs(divisor), 1)
    # Python's integers: the sum may be beyond 64 bits.
    total = sum(np.abs(table[program.table_start[1:] - 1]).tolist()) + sum(np.abs(mass).tolist())
    reach = float(total) * program.size * len(table)  # beyond all prices and shares, and mostly small all the same
    if reach * _SCALE > _MAX_SCALED:
        reach = _reach(program)
    reach /= divisor
    if max(total // divisor, reach) > _MAX_VALUE:
        raise UnsupportedError(
            f"The gains add up to {total}, beyond the exact engine's integers; use the strategy milp or exhaustive."
        )
    scale = _SCALE
    while scale > 1 and reach * scale > _MAX_SCALED:
        scale //= 2
    lengths = program.lengths
    state = np.where(lengths <= program.max_length, np.int8(FREE), np.int8(DROPPED))
    high = min(program.max_length, int(lengths[state == FREE].sum()))
    whole = Core(
        ids=np.arange(program.size, dtype=np.int64),
        lengths=lengths,
        mass=mass // divisor if divisor > 1 else mass,
        start=program.unit_start,
        feature=program.unit_feature,
        count=program.unit_count,
        table_start=program.table_start,
        table=table // divisor if divisor > 1 else table,
        price=np.zeros(len(program.table_start) - 1, np.int64),
        fees=Fees.none(program.size),
        base=0,
        low=max(program.min_length, 0),
        high=high,
        scale=scale,
    )
    return reduced(whole, state), divisor
