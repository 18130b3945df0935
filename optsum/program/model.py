r"""Integer linear programs as arrays, for all MILP backends; their relaxations in HiGHS; covers as logical clauses.

Rows are built block by block. `optsum.coverage.ceilings` gives the columns and rows for ceilings (longest common
subsequences).

Bounds are proven in integers from multipliers found in floating point. For rows ``l <= A x <= b`` and ``0 <= x <= u``,
*any* multipliers y give, by weak duality,

.. math:: c x \le \sum_r (y_r^+ b_r - y_r^- l_r) + \sum_j u_j \max(0, c_j - (y A)_j)

so the multipliers of an inexact LP are rounded to multiples of 1/65536 and the right-hand side is evaluated in
integers: the tolerances of the LP can make the bound weaker, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import accumulate, chain
from math import frexp, inf, isinf, sqrt
from operator import or_
from threading import Event
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import NO_LIMIT, Coverage, IntArray, Joint, Sense, grouped, packed_rows
from optsum.errors import InputError, UnsupportedError
from optsum.system.clock import NEVER, Deadline, standing
from optsum.system.processes.children import run_in_thread
from optsum.whole import INT64_SAFE, LARGEST, unchecked, whole, whole_array

_JOINT_S: Final = 5e-6  # Approximate seconds to add a joint occurrence to a program.
_CEILING_S: Final = 8e-6  # Approximate seconds to add a ceiling to a program, for each unit.


@dataclass(frozen=True, eq=False)
class LinearModel:
    """An integer program: ``objective . x`` under ``row_lower <= A x <= row_upper`` and ``0 <= x <= upper``.

    A is stored by rows. All data are integers, so a bound can be proven without floating point (`dual_bound`).
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
    # denominator, offset: the value of the problem is (objective . x + offset) / denominator.
    denominator: int
    offset: int = 0
    # column_names, row_names: names of the user's model; empty if there is none.
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
        return len(self.objective)

    @property
    def rows(self) -> int:
        return len(self.row_lower)

    def value(self, objective: int) -> Fraction:
        """Return the value of the problem where the objective of the program, without `offset`, is `objective`."""
        return Fraction(objective + self.offset, self.denominator)


def _sides(values: Any, name: str) -> NDArray[np.float64]:
    """Convert and check the limits of rows: whole numbers below 2^53 in absolute value, or infinite if open."""
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
            f"Entries of {name} must be whole numbers below 2^53, or infinite where a side is open: multiply rows with "
            "fractions by a common denominator."
        )
    return found


class LinearRows:
    """Rows under construction, in blocks: entries of a block are added, then the block is closed with its limits."""

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

    def add_row(self, column: IntArray, value: IntArray, lower: float, upper: float) -> None:
        """Add a block of one row."""
        self.add(np.zeros(len(column), np.int64), column, value)
        self.close(1, lower, upper)

    def add_order(self, smaller: IntArray, larger: IntArray) -> None:
        """Add a block of rows: each column of `smaller` is at most its counterpart in `larger`."""
        block, one = np.arange(len(smaller)), _ones(len(smaller))
        self.add(block, smaller, one)
        self.add(block, larger, -one)
        self.close(len(smaller), -np.inf, 0.0)

    def close(
        self, rows: int, lower: float | IntArray | NDArray[np.float64], upper: float | IntArray | NDArray[np.float64]
    ) -> None:
        """End a block of `rows` rows; each limit is one number for all rows, or an array (rows,)."""
        self.lower.append(np.broadcast_to(np.asarray(lower, np.float64), (rows,)))
        self.upper.append(np.broadcast_to(np.asarray(upper, np.float64), (rows,)))
        self.count += rows

    def arrays(self) -> dict[str, Any]:
        """Return the rows of all blocks as fields of a `LinearModel`."""
        none = np.zeros(0, np.int64)
        row, column, value = (np.concatenate([none, *parts]) for parts in (self.row, self.column, self.value))
        start, order = grouped(row, self.count)
        return {
            "row_start": start,
            "row_column": column[order],
            "row_value": value[order],
            "row_lower": np.concatenate([none, *self.lower]),
            "row_upper": np.concatenate([none, *self.upper]),
        }


class CeilingColumns:
    """The columns and rows of all ceilings (longest common subsequences) of an instance.

    `rows`: number of rows. `slot`, `worth`, `upper` (columns,): total, gain and upper bound of each column. `capped`:
    the first of two rows of each group of a `CappedUnion`, and of each relaxed `TextSubsequence`. The first limits hits
    by covered positions (or clipped unigrams), the second by copies (or hits of single units).
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
        firsts = list(accumulate((part.rows for part in parts), initial=0))
        self.rows = firsts[-1]
        self.capped = [first + row for first, part in zip(firsts, parts, strict=False) for row in part.capped.tolist()]

    def add_rows(self, rows: LinearRows, column: int) -> None:
        for begin, part in zip(self._first, self._parts, strict=False):
            for row, name, value in part.entries:
                named = np.where(name >= 0, name, column + begin - 1 - name)
                rows.add(row, named, np.broadcast_to(np.asarray(value, np.int64), len(row)))
            rows.close(part.rows, part.least, part.most)


def _ones(count: int) -> IntArray:
    return np.ones(count, np.int64)


def steps_of(instance: Coverage) -> tuple[IntArray, IntArray]:
    """Return two arrays (steps,) for the further copies in all gain tables: the gain of each, and its feature."""
    full = np.diff(instance.level_start) - 1
    steps = np.delete(np.diff(instance.level), instance.level_start[1:-1] - 1)
    return steps, np.repeat(np.arange(instance.features), full)


def affordable(instance: Coverage, deadline: Deadline) -> bool:
    """Return whether the program of an instance can be built before the deadline."""
    seconds = len(instance.joints) * _JOINT_S + len(instance.ceilings) * instance.size * _CEILING_S
    return not deadline.passed and seconds <= deadline.left_s


def coverage_model(instance: Coverage, ratio: Fraction | None = None, *, relaxed: bool = False) -> LinearModel:
    """Return the integer program of an instance.

    Hirao et al. 2017, eq. 3-8, with the references merged: one column per unit, one continuous column per step of
    a feature's gain table and one row per feature, ``sum of its steps <= sum of its copies``. Gains of further copies
    never grow, so steps are taken in order and are integral at an optimum. An occurrence of several units (Hirao et al.
    2017, compressive, eq. 8-9) is a continuous column (`JointColumns`).

    `ratio`: a value p / q of a ratio T / D with a varying denominator. The objective is then ``q T - p D`` over
    selections with D > 0, which is positive exactly if T / D > p / q (Dinkelbach 1967). `relaxed`: whether a smaller
    program, with values that may be larger, suffices for common subsequences of whole texts.
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
    joints = JointColumns(instance.joints, n)
    first_step = n + joints.size + len(longest.slot)
    columns = first_step + len(steps)

    rows = LinearRows()
    entry_unit = packed_rows(instance.unit_start)
    entry_feature = instance.unit_feature
    copies = np.minimum(instance.unit_count, full[entry_feature])
    below = instance.slot[entry_feature] == 1  # entries that feed the denominator
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
            # A feature that the denominator counts once is a column y with x_u <= y for each unit u that has it.
            rows.add_order(entry_unit[below], first_step + np.cumsum(full)[entry_feature[below]] - 1)
        if ratio is not None and instance.constants[1] <= 0:
            # A ratio with D <= 0 counts as 0 and exceeds no value, so that only selections with D >= 1 remain.
            over = instance.mass[1].copy()
            np.add.at(over, entry_unit[below], instance.level[instance.level_start[entry_feature[below]] + 1])
            rows.add_row(np.arange(n), over, 1.0 - float(instance.constants[1]), np.inf)
        limit = np.inf if instance.max_length >= NO_LIMIT else float(instance.max_length)
        rows.add_row(np.arange(n), instance.lengths, float(instance.min_length), limit)
    joints.add_rows(rows)
    # No child without its parent, and the side constraints.
    if len(children := np.flatnonzero(instance.parents >= 0)):
        rows.add_order(children, instance.parents[children])
    for row in instance.rows:
        units, numbers = np.array(row.units, np.int64), np.array(row.coefficients, np.int64)
        rows.add_row(units, numbers, row.low, np.inf if row.high is None else row.high)
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
    """Columns, numbered from `units`, and rows of joints, which are occurrences that depend on several units.

    There is one column m for each distinct pair of needed units v and vetoing units u, in general with the rows ``m <=
    x_v`` and ``m <= 1 - x_u`` (Hirao et al. 2017, compressive, eq. 8-9). The seams of a joined text have stronger and
    far fewer rows: a chosen sentence has at most one successor and one predecessor, and at most one seam spans a
    sentence that is not chosen. With s_u the sum of the seams that span u, this is a path:

        sum_j m_uj <= x_u,   sum_i m_iu <= x_u,   s_u = s_(u-1) + sum_j m_(u-1)j - sum_i m_iu,   s_u + x_u <= 1
    """

    def __init__(self, joints: Sequence[Joint], units: int) -> None:
        self.units = units
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
        self.column = units + np.array([number for _, number in copies], np.int64)
        self.count = np.array(list(copies.values()), np.int64)

    @property
    def size(self) -> int:
        """Number of columns: one for each distinct joint, and one for each unit if some joints are seams."""
        return len(self.occurrences) + (self.units if self.seams.any() else 0)

    def add_rows(self, rows: LinearRows) -> None:
        """Add the rows between the column of each occurrence and the units that it needs, or that veto it."""
        for number, joint in enumerate(self.occurrences):
            if self.seams[number]:
                continue
            rows.add_order(np.full(len(joint.needs), self.units + number), np.array(joint.needs, np.int64))
            if joint.vetoes:
                block, one = np.arange(len(joint.vetoes)), _ones(len(joint.vetoes))
                rows.add(block, np.full(len(block), self.units + number), one)
                rows.add(block, np.array(joint.vetoes, np.int64), one)
                rows.close(len(block), -np.inf, 1.0)
        if not self.seams.any():
            return
        numbers = np.flatnonzero(self.seams)
        ends = np.array([self.occurrences[number].needs for number in numbers], np.int64).reshape(-1, 2)
        unit, one = np.arange(self.units), _ones(self.units)
        arc, arcs = self.units + numbers, _ones(len(numbers))
        spans = self.units + len(self.occurrences) + unit
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


_ROW_WISE = 2
_SMALL: Final = 10_000  # Entries of a linear program that takes less than a tenth of a second.
_DEAF: Final = 500_000  # Entries above which presolve, which cannot be interrupted, takes more than half a second.
_DEAREST: Final = 2.0**24  # Norm of costs above which HiGHS may end without a solution, as with sums of ratios.
_HEARS_S: Final = 0.5  # Seconds that HiGHS may take to stop when it is asked to.
_EARLY_S: Final = 0.5  # Seconds before a deadline above which a reported time limit is due to a changed clock.


def load() -> None:
    """Import HiGHS, so that a later search does not spend its time on it."""
    with standing():
        import highspy  # noqa: F401


@cache
def _quiet() -> Any:
    load()
    import highspy

    class Quiet(highspy.Highs):  # type: ignore[misc]
        """HiGHS without output: since 1.16, its method that enables callbacks prints the version to stdout."""

        def enableCallbacks(self) -> None:  # noqa: N802 - a name of HiGHS
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

        def run(self) -> Any:
            ended = super().run()
            if ended == highspy.HighsStatus.kError and self.getModelStatus() == highspy.HighsModelStatus.kNotset:
                self.resetGlobalScheduler(True)  # other code ran HiGHS with more threads in this process
                ended = super().run()
            return ended

    return Quiet


def new_highs() -> Any:
    highs = _quiet()()
    highs.setOptionValue("threads", 1)
    return highs


def divisor_of(costs: NDArray[np.float64]) -> float:
    """Return a power of two by which to divide the costs of a relaxation, because HiGHS fails on large costs."""
    size = sqrt(float((costs * costs).sum()))  # costs.max() takes twice as long
    return 1.0 if size < _DEAREST else 2.0 ** frexp(size / _DEAREST)[1]


def pass_model(highs: Any, model: LinearModel, *, relaxed: bool = False, divisor: float = 1.0) -> None:
    """Pass a model to HiGHS, without integrality if `relaxed`; the objective is divided by `divisor`."""
    highs.passModel(
        model.columns,
        model.rows,
        len(model.row_column),
        _ROW_WISE,
        -1 if model.sense is Sense.MAXIMIZE else 1,
        0.0,
        model.objective / divisor,
        np.zeros(model.columns),
        model.upper.astype(np.float64),
        model.row_lower,
        model.row_upper,
        model.row_start.astype(np.int32),
        model.row_column.astype(np.int32),
        model.row_value.astype(np.float64),
        np.zeros(model.columns, np.int32) if relaxed else model.integral.astype(np.int32),
    )


def run(highs: Any, deadline: Deadline = NEVER, *, apart: bool = True, keeps: bool = False) -> bool:
    """Solve the model in HiGHS until it ends or the deadline passes; return whether HiGHS has ended.

    If not, HiGHS still runs in its thread, and must not be called. `apart`: whether HiGHS runs in a separate thread, so
    that Ctrl-C takes effect within half a second; this costs 2 ms. `keeps`: whether Ctrl-C ends HiGHS like a deadline,
    so that its solution is available, instead of raising; the `reason` of the deadline then tells which of both ended
    it, because the status of HiGHS is the same.
    """
    highs.setOptionValue("time_limit", inf if deadline.left_s == inf else highs.getRunTime() + deadline.left_s)
    ended = run_heard(highs, deadline, apart=apart, keeps=keeps)
    # HiGHS may report the time limit too early, because it reads a clock that can be set forward.
    if ended and deadline.left_s > _EARLY_S and highs.getModelStatus().name == "kTimeLimit":
        highs.setOptionValue("time_limit", inf)
        return run_heard(highs, deadline, keeps=keeps)
    return ended


def run_heard(highs: Any, deadline: Deadline = NEVER, *, apart: bool = True, keeps: bool = False) -> bool:
    """Run HiGHS like `run`, but set no time limit; in this thread, only integer programs hear the deadline."""
    stop = Event()
    places = [highs.cbMipInterrupt] if apart or deadline.left_s < inf else []  # HiGHS's own clock may be set back
    if apart:
        places += [highs.cbSimplexInterrupt, highs.cbIpmInterrupt]

    def hear(asked: Any) -> None:
        if stop.is_set() or (not apart and deadline.left_s <= 0.0):
            asked.interrupt()

    for place in places:
        place.subscribe(hear)
    ended = True
    if apart:
        heard = deadline.interrupt if keeps else None
        ended = run_in_thread(highs.run, stop.set, hears_s=_HEARS_S, passed=lambda: deadline.passed, heard=heard)
    else:
        highs.run()
    if ended:
        for place in places:
            place.unsubscribe(hear)
    return ended


def was_stopped(highs: Any) -> bool:
    """Return whether a limit or an interrupt ended HiGHS, which does not always distinguish them."""
    return highs.getModelStatus().name in {"kTimeLimit", "kInterrupt", "kHighsInterrupt", "kObjectiveBound"}


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The solution of a linear relaxation in floating point, which is never a proof."""

    # (rows,): multipliers of the rows, positive where the upper side binds in a maximization.
    duals: NDArray[np.float64]
    columns: NDArray[np.float64]  # (columns,): fractional solution.
    # False if the deadline came first: the multipliers are those of the last basis, and `columns` is no solution.
    optimal: bool = True


def relax(model: LinearModel, deadline: Deadline = NEVER) -> Relaxation | None:
    """Solve the linear relaxation of a model.

    The result is None if HiGHS proves infeasibility, finds no optimum, or has no multipliers at the deadline.
    """
    load()
    if deadline.passed:
        return None
    highs = new_highs()
    entries = len(model.row_column)
    if entries > _DEAF:
        highs.setOptionValue("presolve", "off")
    divisor = divisor_of(model.objective.astype(np.float64))
    pass_model(highs, model, relaxed=True, divisor=divisor)
    if not run(highs, deadline, apart=entries > _SMALL):
        return None
    optimal, solution = highs.getModelStatus().name == "kOptimal", highs.getSolution()
    if not (optimal or (was_stopped(highs) and solution.dual_valid)):
        return None
    return Relaxation(divisor * np.array(solution.row_dual), np.array(solution.col_value), optimal)


def near_best(model: LinearModel, deadline: Deadline) -> NDArray[np.float64] | None:
    """Return values of the columns that are nearly optimal, or the best found by a deadline; None without a solution.

    The solution is in floating point, and callers must evaluate it.
    """
    import highspy

    highs = new_highs()
    highs.setOptionValue("mip_rel_gap", 0.1)
    pass_model(highs, model)
    if not run(highs, deadline):
        return None
    holds = highs.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    return np.array(highs.getSolution().col_value) if holds else None


SCALE = 65536  # Multipliers are rounded to multiples of its reciprocal.
_LARGEST = 2.0**256  # Multipliers beyond it are cut, so that no float overflows; any finite ones are valid.


def dual_bound(
    model: LinearModel,
    duals: NDArray[np.float64],
    *,
    lower: NDArray[np.int64] | None = None,
    upper: NDArray[np.int64] | None = None,
) -> int:
    """Return an integer bound on all integral solutions of the model.

    `duals` (rows,) of float: multipliers in the sign convention of the model's sense. Any numbers are valid; NaN and
    infinities count as 0. `lower`, `upper` (columns,): narrower bounds of the columns; by default the model's. The
    result is an upper bound of ``objective . x`` when maximizing, and a lower bound when minimizing.
    """
    sign = 1 if model.sense is Sense.MAXIMIZE else -1
    finite = np.clip(np.nan_to_num(duals, posinf=0.0, neginf=0.0), -_LARGEST, _LARGEST)
    scaled = np.rint(finite * (sign * SCALE))
    side = np.where(scaled > 0, model.row_upper, model.row_lower)
    scaled[np.isinf(side)] = 0  # the multiplier of an open side counts as 0
    side[scaled == 0] = 0
    widths = np.diff(model.row_start)
    spread = np.repeat(np.abs(scaled), widths) * np.abs(model.row_value) * np.maximum(model.upper[model.row_column], 1)
    magnitude = float(np.abs(scaled) @ np.abs(side)) + float(spread.sum())
    magnitude += SCALE * float(np.abs(model.objective) @ model.upper) + float(np.abs(scaled).max(initial=0.0))
    exact = np.int64 if magnitude < INT64_SAFE else object  # Python integers where int64 might not hold
    multiplier = _exact(scaled, exact)
    reduced = sign * SCALE * model.objective.astype(exact)
    np.subtract.at(reduced, model.row_column, np.repeat(multiplier, widths) * model.row_value.astype(exact))
    total = int(multiplier @ _exact(side, exact))
    total += int(np.maximum(reduced, 0) @ (model.upper if upper is None else upper).astype(exact))
    if lower is not None:
        total += int(np.minimum(reduced, 0) @ lower.astype(exact))
    return sign * (total // SCALE)  # minimizing is maximizing the negative


def model_bound(model: LinearModel, deadline: Deadline = NEVER) -> int:
    """Return an integer bound on all solutions, from the linear relaxation as far as it is solved by the deadline."""
    return relaxed_bound(model, relax(model, deadline))


def relaxed_bound(model: LinearModel, relaxation: Relaxation | None) -> int:
    """Return `dual_bound` with the multipliers of a relaxation, or with zeros if it is missing or zeros do better."""
    if relaxation is not None and relaxation.optimal:
        return dual_bound(model, relaxation.duals)
    tried = [np.zeros(model.rows), *([] if relaxation is None else [relaxation.duals])]  # an early basis may be worse
    bounds = [dual_bound(model, duals) for duals in tried]
    return min(bounds) if model.sense is Sense.MAXIMIZE else max(bounds)


def _exact(values: NDArray[np.float64], dtype: type) -> NDArray[np.int64]:
    if dtype is np.int64:
        return values.astype(np.int64)
    return np.array([int(value) for value in values], dtype=object)


Bits: TypeAlias = int  # A set of units as one integer: bit u is set if unit u is in the set.

Clause: TypeAlias = tuple[Bits, ...]
"""A clause as its alternatives: sets of units, each of which satisfies it. Without alternatives it is unsatisfiable.

A cover satisfies one clause for each sentence of the abstract (Hirao et al. 2004, TSC3, section 3.1.1). The normal form
separates alternatives of one unit from those of several; searches, SAT solvers and file formats need them together.
"""

Clauses: TypeAlias = tuple[Clause, ...]

_OFTEN: Final = 1000  # Steps of some microseconds between two checks of the deadline.


def members(bits: Bits) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def support(clauses: Iterable[Iterable[Bits]]) -> Bits:
    return reduce(or_, chain.from_iterable(clauses), 0)


def without(clauses: Iterable[Iterable[Bits]], units: Bits) -> Clauses:
    """Remove from each clause the alternatives that contain any of `units`; a clause may keep no alternative."""
    return tuple([tuple([alternative for alternative in clause if not alternative & units]) for clause in clauses])


def contains_one(candidate: Bits, known: Collection[Bits]) -> bool:
    """Return whether one of the known sets is a subset of the candidate; looks up its subsets if these are fewer."""
    if isinstance(known, set) and 1 << candidate.bit_count() < len(known):
        subset = candidate
        while subset:
            if subset in known:
                return True
            subset = (subset - 1) & candidate
        return False
    return any(small & candidate == small for small in known)


def canonical(clauses: Iterable[Iterable[Bits]], check: Callable[[], object] = NEVER.check) -> Clauses:
    """Return the clauses in a fixed order, without alternatives that contain another alternative of their clause."""
    minimal = []
    for clause in clauses:
        check()
        kept: set[Bits] = set()
        for candidate in sorted(set(clause), key=int.bit_count):
            if not contains_one(candidate, kept):
                kept.add(candidate)
        minimal.append(tuple(sorted(kept)))
    return tuple(sorted(minimal))


def is_cover(instance: Coverage) -> bool:
    """Return whether an instance is a minimum cover: one copy of each feature suffices; no parents, vetoes or rows."""
    return (
        instance.goal is Sense.MINIMIZE
        and bool((np.diff(instance.level_start) <= 2).all())
        and not (instance.parents >= 0).any()
        and not any(joint.vetoes for joint in instance.joints)
        and not instance.rows
    )


def clauses_of(instance: Coverage, check: Callable[[], object] = NEVER.check) -> Clauses:
    """Return the clause of each feature that needs a copy, in the order of the features.

    Examples
    --------
    >>> from optsum.coverage.instance import Joint
    >>> tiny = Coverage.of([1, 1, 1], [{0: 1}, {}, {}], [[1]], joints=(Joint(0, (1, 2)),), goal=Sense.MINIMIZE)
    >>> [[list(members(alternative)) for alternative in clause] for clause in clauses_of(tiny)]
    [[[0], [1, 2]]]
    """
    if not is_cover(instance):
        raise UnsupportedError(
            "This strategy or backend searches only minimum covers: use --formulation=cover, or another strategy or "
            "backend (optsum list strategies, optsum list backends)."
        )
    alternatives: list[dict[Bits, None]] = [{} for _ in range(instance.features)]
    for unit in range(instance.size):
        check()
        for entry in range(int(instance.unit_start[unit]), int(instance.unit_start[unit + 1])):
            alternatives[int(instance.unit_feature[entry])][1 << unit] = None
    for number, joint in enumerate(instance.joints):
        if number % _OFTEN == 0:
            check()
        alternatives[joint.feature][reduce(or_, [1 << unit for unit in joint.needs])] = None
    asked = (np.diff(instance.level_start) > 1).tolist()
    return tuple(tuple(found) for found, wanted in zip(alternatives, asked, strict=True) if wanted)


def interchangeable(
    clauses: Clauses, lengths: Sequence[int], *, every: bool = False, check: Callable[[], object] = NEVER.check
) -> tuple[Clauses, dict[int, list[int]]]:
    """Remove from clauses the units that other units can replace, such as repeated sentences; also return classes.

    Two units are interchangeable if swapping them changes no clause. Of a class of such units, a minimum cover needs at
    most as many as one alternative contains, and the shortest ones suffice.

    `lengths`: of all units. `every`: whether all minimum covers must be found from the result: only classes of which
    one unit is needed, with a positive length, are then reduced. The classes, empty without `every`: kept unit -> all
    units, including itself, that can stand for it in minimum covers.
    """
    classes: dict[int, list[int]] = {}
    while True:
        dropped = 0
        for units, needed in _alike(clauses, check):
            units.sort(key=lambda unit: (lengths[unit], unit))
            if every and (needed > 1 or not lengths[units[0]]):
                continue
            if every:
                least = lengths[units[0]]
                classes[units[0]] = [twin for u in units if lengths[u] == least for twin in classes.get(u, [u])]
            dropped |= sum([1 << unit for unit in units[needed:]])
        if not dropped:
            return clauses, classes
        clauses = without(clauses, dropped)


def _alike(clauses: Clauses, check: Callable[[], object]) -> Iterator[tuple[list[int], int]]:
    """Yield each class of two or more interchangeable units, and the most of them that an alternative contains."""
    held = [frozenset(clause) for clause in clauses]
    places: dict[int, list[tuple[int, Bits]]] = {}
    for index, clause in enumerate(held):
        check()
        for alternative in clause:
            for unit in members(alternative):
                places.setdefault(unit, []).append((index, alternative))
    candidates: dict[tuple[tuple[int, int], ...], list[list[int]]] = {}
    for unit, named in places.items():
        check()
        profile = tuple(sorted([(index, alternative.bit_count()) for index, alternative in named]))
        alike = candidates.setdefault(profile, [])
        for units in alike:
            both = 1 << unit | 1 << units[0]
            if all(alternative & both == both or alternative ^ both in held[index] for index, alternative in named):
                units.append(unit)
                break
        else:
            alike.append([unit])
    for units in chain.from_iterable(candidates.values()):
        if len(units) > 1:
            together = sum([1 << unit for unit in units])
            # An alternative with some of these units has a counterpart with the first unit, so the latter suffice.
            yield units, max([(alternative & together).bit_count() for _, alternative in places[units[0]]])


@dataclass(frozen=True)
class Wcnf:
    """A cover as partial weighted MaxSAT; literals as in DIMACS files.

    Variable u + 1 means that unit u is chosen, and an alternative of several units is a variable that is true if and
    only if all of its units are chosen. For the minimum, "only if" would suffice, but one cover would then have several
    models. A hard clause says that a sentence of the abstract has an alternative; a soft clause says that a unit is not
    chosen, with its length as weight.
    """

    units: int  # The first variables are the units.
    hard: list[list[int]]
    # Weight and literal of each soft clause; the weights of violated clauses sum to the length of the cover.
    soft: list[tuple[int, int]]


def wcnf_of(instance: Coverage) -> Wcnf:
    defined: list[list[int]] = []
    variable: dict[Bits, int] = {1 << unit: unit + 1 for unit in range(instance.size)}
    wanted: list[list[int]] = []
    for clause in clauses_of(instance):
        for alternative in clause:
            if alternative not in variable:
                new = variable[alternative] = len(variable) + 1
                needed = [unit + 1 for unit in members(alternative)]
                defined.extend([-new, literal] for literal in needed)
                defined.append([new, *(-literal for literal in needed)])
        wanted.append([variable[alternative] for alternative in clause])
    soft = [(length, -(unit + 1)) for unit, length in enumerate(instance.lengths.tolist()) if length]
    return Wcnf(instance.size, [*wanted, *defined], soft)


def wcnf_text(instance: Coverage, names: Sequence[object] = (), *, title: str = "") -> str:
    """Return the text of a WCNF file, in the format of the MaxSAT Evaluations since 2022.

    `names`: the input's names of the units, written as comments. `title`: a comment in the first line.

    Examples
    --------
    >>> from optsum.coverage.instance import Sense
    >>> tiny = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], goal=Sense.MINIMIZE)
    >>> print(wcnf_text(tiny, ["s1", "s2"]), end="")
    c variable 1 is s1
    c variable 2 is s2
    h 1 2 0
    1 -1 0
    1 -2 0
    """
    made = wcnf_of(instance)
    lines = [f"c {' '.join(title.split())}"] if title else []
    lines += [f"c variable {unit} is {' '.join(str(name).split())}" for unit, name in enumerate(names, start=1)]
    lines += [f"h {' '.join(map(str, [*clause, 0]))}" for clause in made.hard]
    lines += [f"{weight} {literal} 0" for weight, literal in made.soft]
    return "".join(f"{line}\n" for line in lines)


def model_of(instance: Coverage, *, relaxed: bool = False) -> LinearModel:
    """Return the integer program of an instance; that of a cover omits units that other units can replace."""
    if not is_cover(instance):
        return coverage_model(instance, relaxed=relaxed)
    lengths = instance.lengths.tolist()
    clauses, _ = interchangeable(canonical(clauses_of(instance)), lengths)
    return cover_program(clauses, range(instance.size), lengths)[0]


def cover_program(
    clauses: Clauses, units: Sequence[int], lengths: Sequence[int]
) -> tuple[LinearModel, list[dict[int, int]]]:
    """Return the integer program of clauses, tighter than the general one.

    With x_u = 1 if unit u is chosen and m_iA = 1 if clause i picks its alternative A:

        minimize    sum of length_u * x_u
        subject to  sum over A of m_iA >= 1               for each clause i
                    sum over A containing u of m_iA <= x_u    for each clause i and unit u

    A clause needs only one alternative, so all of its alternatives that contain u share one row. One row for each
    alternative would be correct too, but its relaxation would be much weaker: two alternatives of one half each would
    satisfy a clause. An alternative of one unit is the column of this unit.

    `clauses`: no alternative contains another of its clause (`canonical`). `units`: the units of the first columns, in
    order, which include all units of the clauses. `lengths`: length of each unit number. Row i of the model is clause
    i. The second result has, for each clause, unit -> its row, or -1 if the unit alone is an alternative.
    """
    column = {unit: place for place, unit in enumerate(units)}
    entries: list[tuple[int, int, int]] = []  # row, column and value
    links: list[dict[int, int]] = []
    row, pick = len(clauses), len(column)
    for index, clause in enumerate(clauses):
        linked: dict[int, int] = {}
        for alternative in clause:
            if alternative.bit_count() == 1:
                unit = alternative.bit_length() - 1
                entries.append((index, column[unit], 1))
                linked[unit] = -1
                continue
            entries.append((index, pick, 1))
            for unit in members(alternative):
                if unit not in linked:
                    linked[unit] = row
                    entries.append((row, column[unit], -1))
                    row += 1
                entries.append((linked[unit], pick, 1))
            pick += 1
        links.append(linked)
    made = LinearRows()
    made.add(*np.array(entries, np.int64).reshape(-1, 3).T)
    made.close(len(clauses), 1.0, np.inf)
    made.close(row - len(clauses), -np.inf, 0.0)
    objective = np.zeros(pick, np.int64)
    objective[: len(column)] = [lengths[unit] for unit in units]
    model = unchecked(
        LinearModel,
        sense=Sense.MINIMIZE,
        objective=objective,
        upper=np.ones(pick, np.int64),
        integral=np.arange(pick) < len(column),
        **made.arrays(),
        units=len(column),
        denominator=1,
    )
    return model, links
