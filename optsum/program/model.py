"""An integer linear program as arrays, for all MILP backends; its rows are built block by block.

Columns and rows of ceilings, for common subsequences, come from `optsum.coverage.ceilings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import isinf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import NO_LIMIT, Coverage, IntArray, Joint, Sense
from optsum.errors import InputError, UnsupportedError
from optsum.system.clock import Deadline
from optsum.whole import LARGEST, whole, whole_array

_JOINT_S: Final = 5e-6  # Approximate seconds to bring a joint occurrence into a program.

_CEILING_S: Final = 8e-6  # Approximate seconds to bring a ceiling into a program, for each unit.


@dataclass(frozen=True, eq=False)
class LinearModel:
    """``objective . x`` under ``row_lower <= A x <= row_upper``, ``0 <= x <= upper``; A stored by rows.

    All data are integers, so a bound can be proven without floating point (`optsum.program.highs.dual_bound`).
    """

    sense: Sense
    objective: IntArray  # (columns,)
    upper: IntArray  # (columns,): upper bounds; lower bounds are 0.
    integral: NDArray[np.bool_]  # (columns,) of bool
    # row_start, row_column, row_value: (rows + 1,), (entries,), (entries,)
    row_start: IntArray
    row_column: IntArray
    row_value: IntArray
    # row_lower, row_upper: (rows,) of float: infinite where a side is open.
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    units: int  # The first `units` columns are the 0/1 decisions of the problem's units.
    # denominator, offset: the value for people is (objective + offset) / denominator.
    denominator: int
    offset: int = 0
    # column_names, row_names: as their owner calls them; empty where nobody has.
    column_names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        least = {"upper": 0, "row_start": 0, "row_column": 0}
        for name in ("objective", "upper", "row_start", "row_column", "row_value"):
            array = whole_array(getattr(self, name), f"Entry {{}} of {name}", least=least.get(name, -LARGEST))
            object.__setattr__(self, name, array)
        for name in ("row_lower", "row_upper"):
            object.__setattr__(self, name, _sides(getattr(self, name), name))
        object.__setattr__(self, "integral", np.asarray(self.integral, np.bool_))
        object.__setattr__(self, "units", whole(self.units, "The number of units", least=0, most=self.columns))
        object.__setattr__(self, "denominator", whole(self.denominator, "The denominator", least=1))
        object.__setattr__(self, "offset", whole(self.offset, "The offset"))
        starts, entries = self.row_start, len(self.row_value)
        if (
            {len(self.upper), len(self.integral)} != {self.columns}
            or len(self.row_upper) != self.rows
            or len(starts) != self.rows + 1
            or starts[0] != 0
            or starts[-1] != entries
            or (np.diff(starts) < 0).any()
            or len(self.row_column) != entries
            or (entries and self.row_column.max() >= self.columns)
        ):
            raise InputError("This linear model cannot be used: its arrays do not match.")

    @property
    def columns(self) -> int:
        """Number of variables."""
        return len(self.objective)

    @property
    def rows(self) -> int:
        """Number of constraints."""
        return len(self.row_lower)


def _sides(values: Any, name: str) -> NDArray[np.float64]:
    """Return the limits of rows: whole numbers below 2^53 in size, or infinity if open."""
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        found: NDArray[np.float64] = values
    else:
        sides = [
            side if isinstance(side, float) and isinf(side) else whole(side, f"An entry of {name}") for side in values
        ]
        found = np.array(sides, np.float64)
    finite = found[np.isfinite(found)]
    if np.isnan(found).any() or (finite != np.rint(finite)).any() or np.abs(finite).max(initial=0) >= 2**53:
        raise InputError(
            f"Entries of {name} are whole numbers below 2^53, or infinite where a side is open: multiply a row by a "
            "common factor where they are not."
        )
    return found


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

        Entries must be distinct: HiGHS may never return from a model with a repeated entry.
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
        """Return all blocks, ordered by rows, as the fields of a `optsum.program.model.LinearModel`."""
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

    `rows`: their number. `slot`, `worth`, `upper` (columns,): the total of each column, its gain, and its upper bound.
    `capped`: the first of the two rows of each group of every `CappedUnion`, or of every relaxed `TextSubsequence`: its
    hits are at most the covered positions, and at most the copies.
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
        """Add the rows; the first of these columns has number `column`."""
        for begin, part in zip(self._first, self._parts, strict=False):
            rows.add(part.row, np.where(part.name >= 0, part.name, column + begin - 1 - part.name), part.value)
            rows.close(len(part.least), part.least, part.most)


def _ones(count: int) -> IntArray:
    return np.ones(count, np.int64)


def steps_of(instance: Coverage) -> tuple[IntArray, IntArray]:
    """Return the gain of each step of the gain tables, and its feature."""
    full = np.diff(instance.level_start) - 1
    steps = np.delete(np.diff(instance.level), instance.level_start[1:-1] - 1)
    return steps, np.repeat(np.arange(instance.features), full)


def affordable(instance: Coverage, deadline: Deadline) -> bool:
    """Return whether there is enough time to build the program of an instance."""
    seconds = len(instance.joints) * _JOINT_S + len(instance.ceilings) * instance.size * _CEILING_S
    return not deadline.passed and seconds <= deadline.left_s


def coverage_model(instance: Coverage, ratio: Fraction | None = None, *, relaxed: bool = False) -> LinearModel:
    """Return the merged integer program of an instance.

    Hirao et al. 2017, eq. 3-8, with the references merged: one column per unit, one continuous column per step of
    a feature's gain table and one row per feature, ``sum of its steps <= sum of its copies``. Gains never grow, so
    steps fill in order and are integral at an optimum. An occurrence of several units (Hirao et al. 2017,
    compressive, eq. 8-9) is a continuous column (`JointColumns`).

    `ratio`: p and q for a ratio T / D with a varying denominator: the objective is ``q T - p D`` over selections with D
    > 0, which is positive exactly if T / D > p / q (Dinkelbach 1967). `relaxed`: whether a smaller program, with larger
    values, suffices for common subsequences of whole texts.
    """
    if ratio is not None and not instance.single_ratio:
        raise UnsupportedError("Only an objective of one ratio has a program for a given value.")
    if ratio is None and instance.goal is Sense.MAXIMIZE and not instance.constant_denominator:
        raise UnsupportedError(
            "This objective is not a linear function of the units, so it has no integer linear program: "
            "choose another strategy (optsum list strategies)."
        )
    longest = CeilingColumns(instance, relaxed=relaxed)
    instance = instance.plain
    covering = instance.goal is Sense.MINIMIZE
    n = instance.size
    full = np.diff(instance.level_start) - 1
    steps, step_feature = (np.zeros(0, np.int64),) * 2 if covering else steps_of(instance)
    joints = JointColumns(instance.joints, n, n)
    first_step = n + joints.size + len(longest.slot)
    columns = first_step + len(steps)

    rows = LinearRows()
    entry_unit = np.repeat(np.arange(n), np.diff(instance.unit_start))
    entry_feature = instance.unit_feature
    copies = np.minimum(instance.unit_count, full[entry_feature])
    below = instance.slot[entry_feature] == 1  # feeds the denominator
    rows.add(entry_feature[~below], entry_unit[~below], copies[~below] if covering else -copies[~below])
    held = np.minimum(joints.count, full[joints.feature])
    rows.add(joints.feature, joints.column, held if covering else -held)
    if covering:
        rows.close(instance.features, full, np.inf)
    else:
        above = instance.slot[step_feature] == 0
        rows.add(step_feature[above], first_step + np.flatnonzero(above), _ones(int(above.sum())))
        rows.close(instance.features, -np.inf, 0)
        if below.any():
            # What the denominator counts once is in as soon as one unit has it: a column with x_u <= y for each.
            block, step = np.arange(int(below.sum())), first_step + np.cumsum(full)[entry_feature[below]] - 1
            rows.add(block, entry_unit[below], _ones(len(block)))
            rows.add(block, step, -_ones(len(block)))
            rows.close(len(block), -np.inf, 0)
        if ratio is not None and instance.constants[1] <= 0:
            # A ratio over nothing is 0 and beats no ratio: only selections with D >= 1 can.
            over = instance.mass[1].copy()
            np.add.at(over, entry_unit[below], instance.level[instance.level_start[entry_feature[below]] + 1])
            rows.add(np.zeros(n, np.int64), np.arange(n), over)
            rows.close(1, 1.0 - float(instance.constants[1]), np.inf)
        rows.add(np.zeros(n, np.int64), np.arange(n), instance.lengths)
        limit = np.inf if instance.max_length >= NO_LIMIT else float(instance.max_length)
        rows.close(1, float(instance.min_length), limit)
    joints.add_rows(rows)
    # What units ask of each other: no child without its parent, and the side constraints.
    if len(children := np.flatnonzero(instance.parents >= 0)):
        block = np.arange(len(children))
        rows.add(block, children, _ones(len(children)))
        rows.add(block, instance.parents[children], -_ones(len(children)))
        rows.close(len(children), -np.inf, 0)
    for row in instance.rows:
        held, numbers = np.array(row.units, np.int64), np.array(row.coefficients, np.int64)
        rows.add(np.zeros(len(held), np.int64), held, numbers)
        rows.close(1, row.low, np.inf if row.high is None else row.high)
    longest.add_rows(rows, n + joints.size)
    objective = np.zeros(columns, np.int64)
    if covering:
        objective[:n] = instance.lengths
    else:
        p, q = (ratio.numerator, ratio.denominator) if ratio is not None else (0, 1)
        objective[:n] = q * instance.mass[0] - p * instance.mass[1]
        objective[first_step:] = np.where(above, q, -p) * steps
        objective[n + joints.size : first_step] = q * longest.worth
    upper = _ones(columns)
    upper[n + joints.size : first_step] = longest.upper
    integral = np.zeros(columns, np.bool_)
    integral[:n] = True
    return LinearModel(
        sense=Sense.MINIMIZE if covering else Sense.MAXIMIZE,
        objective=objective,
        upper=upper,
        integral=integral,
        **rows.arrays(),
        units=n,
        denominator=1 if covering or ratio is not None else max(1, int(instance.constants[1])),
        offset=0 if covering else q * int(instance.constants[0]) - p * int(instance.constants[1]),
    )


class JointColumns:
    """Columns of the joint occurrences, from number `first` on, and their rows.

    There is one column m for each distinct pair of needed and vetoing units. In general ``m <= x_v`` and ``m <= 1 -
    x_u`` (Hirao et al. 2017, compressive, eq. 8-9). The seams of a joined text have stronger and far fewer rows: a
    chosen sentence has at most one successor and one predecessor, and at most one seam spans a sentence that is not
    chosen. With s_u the seams that span u, this is a path:

        sum_j m_uj <= x_u,   sum_i m_iu <= x_u,   s_u = s_(u-1) + sum_j m_(u-1)j - sum_i m_iu,   s_u + x_u <= 1
    """

    def __init__(self, joints: Sequence[Joint], units: int, first: int) -> None:
        self.units = units
        self.first = first
        column: dict[tuple[tuple[int, ...], Sequence[int]], int] = {}
        copies: dict[tuple[int, int], int] = {}
        self.occurrences: list[Joint] = []
        for joint in joints:
            vetoes = joint.vetoes if isinstance(joint.vetoes, range) else tuple(joint.vetoes)
            number = column.setdefault((joint.needs, vetoes), len(column))
            if number == len(self.occurrences):
                self.occurrences.append(joint)
            copies[joint.feature, number] = copies.get((joint.feature, number), 0) + joint.count
        self.seams = np.array([joint.seam for joint in self.occurrences], np.bool_)
        self.feature = np.array([feature for feature, _ in copies], np.int64)
        self.column = first + np.array([number for _, number in copies], np.int64)
        self.count = np.array(list(copies.values()), np.int64)

    @property
    def size(self) -> int:
        """Number of columns: one for each occurrence, and one for each unit if there are seams."""
        return len(self.occurrences) + (self.units if self.seams.any() else 0)

    def add_rows(self, rows: LinearRows) -> None:
        """Add the rows that tie the column of each occurrence to the units that it needs, and to those that veto it."""
        for number, joint in enumerate(self.occurrences):
            if not self.seams[number]:
                self._tie(rows, number, np.array(joint.needs, np.int64), -1, 0.0)
                self._tie(rows, number, np.array(joint.vetoes, np.int64), 1, 1.0)
        if self.seams.any():
            self._chain(rows)

    def _tie(self, rows: LinearRows, number: int, units: IntArray, sign: int, limit: float) -> None:
        if len(units):
            block = np.arange(len(units))
            rows.add(block, np.full(len(units), self.first + number), np.ones(len(units), np.int64))
            rows.add(block, units, np.full(len(units), sign))
            rows.close(len(units), -np.inf, limit)

    def _chain(self, rows: LinearRows) -> None:
        numbers = np.flatnonzero(self.seams)
        ends = np.array([self.occurrences[number].needs for number in numbers], np.int64).reshape(-1, 2)
        unit, one = np.arange(self.units), np.ones(self.units, np.int64)
        arc, arcs = self.first + numbers, np.ones(len(numbers), np.int64)
        spans = self.first + len(self.occurrences) + unit
        for side in (0, 1):  # at most one successor, at most one predecessor
            rows.add(ends[:, side], arc, arcs)
            rows.add(unit, unit, -one)
            rows.close(self.units, -np.inf, 0.0)
        rows.add(unit, spans, one)
        rows.add(unit[1:], spans[:-1], -one[1:])
        wide = ends[:, 1] > ends[:, 0] + 1  # a seam of neighbours spans nothing
        rows.add(ends[wide, 1], arc[wide], arcs[wide])
        rows.add(ends[wide, 0] + 1, arc[wide], -arcs[wide])
        rows.close(self.units, 0.0, 0.0)
        rows.add(unit, spans, one)
        rows.add(unit, unit, one)
        rows.close(self.units, -np.inf, 1.0)
