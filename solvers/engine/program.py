"""An integer total to be maximized, which the engines of branch and bound search.

Recall is a program itself. One ratio T / D needs a short sequence of programs, ``q T - p D`` (Dinkelbach 1967); sums
and products of ratios are bounded by programs.

Side constraints are features: a selection that violates one has a lower value than every selection that keeps all. With
M = 1 + the largest total - the least, a row ``A <= high`` subtracts ``M max(0, A - high)``, as the feature ``M min(A,
high)`` and ``-M a_u`` for every unit; a row ``A >= low`` subtracts ``M max(0, low - A)``, as the feature ``M min(A,
low)`` and ``-M low``. Both are concave like all features: the price of such a feature is the multiplier of its row,
between 0 and M, and all bounds remain valid. For a negative coefficient ``-b_u``, ``b_u`` is added on both sides and
``b_u (1 - x_u)`` is counted, by copies of a joint that the unit vetoes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Final

import numpy as np

from optsum.coverage.instance import Coverage, IntArray, Joint
from optsum.coverage.row import Row
from optsum.errors import UnsupportedError

_NO_FLOOR: Final = -(2**62)

LONGEST: Final = 100_000  # Entries of the gain table of a row.


def widths(start: IntArray) -> IntArray:
    """Return the number of entries of each packed row; `numpy.diff` takes eight times as long on small arrays."""
    return start[1:] - start[:-1]


def first_gains(table_start: IntArray, table: IntArray) -> IntArray:
    """Return the gain of the first copy of each feature; 0 if no copy has a gain."""
    gains = np.zeros(len(table_start) - 1, np.int64)
    has = widths(table_start) > 1
    gains[has] = table[table_start[:-1][has] + 1]
    return gains


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """Maximize ``base + sum of mass over the chosen units + sum of table_f(copies of f)`` within the lengths."""

    # lengths, unit_start, unit_feature, unit_count, parents, joints, min_length, max_length: as in
    # `optsum.coverage.instance.Coverage`; `parents` has one entry a unit, -1 for none.
    lengths: IntArray
    unit_start: IntArray
    unit_feature: IntArray
    unit_count: IntArray
    # table_start, table: (features + 1,), (sum of (M_f + 1),): what c copies of feature f are worth:
    # ``table[table_start[f] + min(c, M_f)]``, 0 for no copy. Concave and growing for features of a numerator; falling
    # (0, -p, ...) for features that a denominator counts.
    table_start: IntArray
    table: IntArray
    mass: IntArray  # (units,): what each unit adds by itself; may be negative.
    base: int  # The total of the empty selection.
    parents: IntArray
    joints: tuple[Joint, ...]
    min_length: int
    max_length: int
    floor: int = _NO_FLOOR  # Selections that keep all rows of the instance are worth that much at least, others less.

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

    `instance`: to be maximized; its combination of ratios is ignored. `weights`: one integer for each total, not
    negative for numerators, not positive for denominators: ``(1, 0)`` is recall, and ``(q, -p)`` tests whether a ratio
    exceeds p / q.
    """
    factor = np.asarray(weights, np.int64)
    if tuple(weights) == (1, 0) and not instance.slot.any():  # recall
        table, mass = instance.level, instance.mass[0]
    else:
        table = instance.level * np.repeat(factor[instance.slot], widths(instance.level_start))
        mass = factor @ instance.mass
    program = Program(
        lengths=instance.lengths,
        unit_start=instance.unit_start,
        unit_feature=instance.unit_feature,
        unit_count=instance.unit_count,
        table_start=instance.level_start,
        table=table,
        mass=mass,
        base=sum(int(weight) * constant for weight, constant in zip(weights, instance.constants.tolist(), strict=True)),
        parents=instance.parents if len(instance.parents) else np.full(instance.size, -1, np.int64),
        joints=instance.joints,
        min_length=instance.min_length,
        max_length=instance.max_length,
    )
    return _with_rows(program, instance.rows)


def with_feature(program: Program, units: IntArray, copies: IntArray, table: IntArray) -> Program:
    """Return a program with one more feature."""
    shift = np.zeros(program.size + 1, np.int64)
    shift[units + 1] = 1
    at = program.unit_start[units + 1]
    return replace(
        program,
        unit_start=program.unit_start + np.cumsum(shift),
        unit_feature=np.insert(program.unit_feature, at, len(program.table_start) - 1),
        unit_count=np.insert(program.unit_count, at, copies),
        table_start=np.append(program.table_start, len(program.table) + len(table)),
        table=np.append(program.table, table),
    )


def _with_rows(program: Program, rows: Sequence[Row]) -> Program:
    sides = list(inequalities_of(rows))
    if not sides:
        return program
    parts = np.concatenate([program.mass, program.table[program.table_start[1:] - 1]])
    least, largest = (program.base + int(end(parts, 0).sum()) for end in (np.minimum, np.maximum))
    penalty = 1 + largest - least
    program = replace(program, floor=least)
    for units, numbers, limit, above in sides:
        if limit >= LONGEST:
            raise UnsupportedError(
                f"A side constraint counts up to {limit}, but branch-and-bound supports only {LONGEST - 1}: "
                "count words or sentences, or use the strategy milp."
            )
        mass, base, joints = program.mass, program.base, program.joints
        negative = numbers < 0
        if limit < 0:  # no selection keeps it
            base -= penalty
        elif above:
            mass = mass.copy()
            mass[units] -= penalty * numbers
            base -= penalty * int(-numbers[negative].sum())
        else:
            base -= penalty * limit
        if limit > 0:
            held = np.minimum(np.abs(numbers), limit)
            left_out = zip(units[negative].tolist(), held[negative].tolist(), strict=True)
            feature = len(program.table_start) - 1
            joints = (*joints, *[Joint(feature, (), (unit,), count) for unit, count in left_out])
            program = with_feature(program, units[~negative], held[~negative], penalty * np.arange(limit + 1))
        program = replace(program, mass=mass, base=base, joints=joints)
    return program


def spread(rows: Sequence[Row]) -> int:
    """Return the factor by which rows multiply the range of a program's values, at most."""
    return 1 + sum(int(np.abs(numbers).sum()) + max(limit, 0) for _, numbers, limit, _ in inequalities_of(rows))


def inequalities_of(rows: Sequence[Row]) -> Iterator[tuple[IntArray, IntArray, int, bool]]:
    """Yield ascending units, coefficients, limit, and whether it is an upper limit, of all binding rows.

    Limits are relative to the least possible sum, which is 0 if no coefficient is negative.
    """
    for row in rows:
        order = np.argsort(np.array(row.units, np.int64))
        units = np.array(row.units, np.int64)[order]
        numbers = np.array(row.coefficients, np.int64)[order]
        common = gcd(*row.coefficients) or 1
        least = row.least // common
        if row.high is not None and row.total > row.high:
            yield units, numbers // common, row.high // common - least, True
        if row.low > row.least:
            yield units, numbers // common, -(-row.low // common) - least, False


_CELLS: Final = 1_000_000
"""Limit of units times lengths for tables with every length: above, rows are quicker, and the engines take few more."""


def with_minimum_row(instance: Coverage) -> Coverage:
    """Return an instance of the same selections and values, with a row for the minimum length if necessary.

    The engine's tables have a cell for each unit and length, and support a minimum only if no length is rounded.
    """
    longest = min(instance.max_length, int(instance.lengths.sum()))
    if instance.min_length <= 0 or (instance.size + 1) * (longest + 1) <= _CELLS:
        return instance
    units = np.flatnonzero(instance.lengths)
    row = Row(
        tuple(units.tolist()), tuple(instance.lengths[units].tolist()), instance.min_length, None, "minimum length"
    )
    if any(limit >= LONGEST for _, _, limit, _ in inequalities_of([row])):
        return instance
    return replace(instance, min_length=0, rows=(*instance.rows, row))
