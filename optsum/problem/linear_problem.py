"""Users' integer linear programs as problems: a Pyomo model, or a file in MPS or LP format."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, inf, isinf, lcm, ulp
from os import PathLike
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.corpus.topic import notes_of
from optsum.coverage.instance import NO_LIMIT, IntArray, Key, Sense, decisions, packed_rows
from optsum.errors import BackendError, InputError
from optsum.problem.problem import Capability, Evaluation, Problem, Selection
from optsum.program.model import (
    LinearModel,
    LinearRows,
    dual_bound,
    load,
    model_bound,
    new_highs,
    pass_model,
    run,
    was_stopped,
)
from optsum.system.clock import NEVER, Deadline, Stopped, Termination, of_search
from optsum.system.files import READ_ERRORS, as_path, describe_os_error, open_bytes
from optsum.whole import LARGEST, whole_numbers

_OPEN: Final = LARGEST  # Limit of a row on an open side, if sums fit into 64 bits.

_SERVED: Final = frozenset(
    ["Block", "Constraint", "Expression", "Objective", "Param", "RangeSet", "Set", "SetOf", "Suffix", "Var"]
)
"""Types of components of a Pyomo model that are read, or that do not affect the program."""

_QUICK_S: Final = 0.1  # Seconds for which HiGHS runs in this thread, deaf to Ctrl-C, before it runs in another.

_LATE_S: Final = 0.3  # Seconds that HiGHS may take, after the limit of a search, for values of columns beside units.

_SMALL: Final = 10_000  # Largest number of entries of a relaxation that is solved without a way to interrupt it.

_PLAIN: Final = 10**6  # Largest denominator of the simple fraction, such as 1/3, that a float is read as.


_MOST_ADDED: Final = 5_000_000  # Largest size (rows times units) of a table of what each unit adds to each row.


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearProblem(Problem):
    """An integer linear program whose first columns are the units; every backend solves it, and evaluation is exact.

    The other columns take the best values for the chosen units. Their values are computed directly, or by HiGHS if a
    row joins several of them. All rows are checked in whole numbers.
    """

    program: LinearModel  # All of its columns are integral.
    lengths: tuple[int, ...] = ()  # The length of each unit; by default 1.
    begins: tuple[int, ...] = ()  # The value of each column's variable when the column is 0; by default 0.
    sense: Sense = field(default=Sense.MAXIMIZE, init=False)

    def __post_init__(self) -> None:
        program = self.program
        if not program.integral.all():
            raise InputError(
                f"Column {int(np.argmin(program.integral))} of this program may be a fraction: {_FRACTIONS}"
            )
        if (program.upper[: program.units] != 1).any():
            raise InputError(
                "The first columns of this program are its units, which are 0 or 1: give them the upper bound 1."
            )
        lengths = whole_numbers(self.lengths, "The length of unit {}", least=0)
        if lengths and len(lengths) != program.units:
            raise InputError(f"There are {len(lengths)} lengths for {program.units} units: give one each.")
        object.__setattr__(self, "lengths", lengths or (1,) * program.units)
        object.__setattr__(self, "sense", program.sense)
        super().__post_init__()

    @property
    def capabilities(self) -> frozenset[Capability]:
        return super().capabilities | {Capability.LINEAR}

    def prepare(self) -> None:
        load()

    @cached_property
    def linear_model(self) -> LinearModel:
        """The program, with a row for the length if it is limited."""
        if self.max_length >= NO_LIMIT and self.min_length == 0:
            return self.program
        given, rows = self.program, LinearRows()
        entries = packed_rows(given.row_start)
        rows.add(entries, given.row_column, given.row_value)
        rows.close(given.rows, given.row_lower, given.row_upper)
        rows.add(np.zeros(self.size, np.int64), np.arange(self.size), np.array(self.lengths, np.int64))
        rows.close(1, self.min_length, np.inf if self.max_length >= NO_LIMIT else self.max_length)
        names = given.row_names and (*given.row_names, "length")
        return replace(given, **rows.arrays(), row_names=names)

    @cached_property
    def _sides(self) -> tuple[Any, Any]:
        program = self.program
        beyond = _OPEN if self._dtype is np.int64 else _OPEN**2 * (program.columns + 1)
        both = (program.row_lower.tolist(), program.row_upper.tolist())
        low, high = ([int(max(-beyond, min(side, beyond))) for side in sides] for sides in both)
        return np.array(low, self._dtype), np.array(high, self._dtype)

    @cached_property
    def _dtype(self) -> type:
        """The type of sums: int64, or object (Python's integers) if they might not fit into 64 bits."""
        program = self.program
        upper, value = program.upper.astype(np.float64), np.abs(program.row_value.astype(np.float64))
        sides = np.abs(np.concatenate([program.row_lower, program.row_upper]))
        most = max(
            float(upper[program.row_column] @ value) + float(sides[np.isfinite(sides)].sum()),
            float(np.abs(program.objective.astype(np.float64)) @ upper),
        )
        return np.int64 if most < _OPEN / 4 else object

    @cached_property
    def _terms(self) -> tuple[Any, Any, Any]:
        """The coefficient of each entry of the rows, and the smallest and largest amount it can add to its row."""
        value: Any = self.program.row_value.astype(self._dtype)
        most = value * self.program.upper[self.program.row_column].astype(self._dtype)
        return value, np.minimum(most, 0), np.maximum(most, 0)

    @cached_property
    def _filled(self) -> IntArray:
        found: IntArray = np.flatnonzero(np.diff(self.program.row_start))
        return found

    def _added_by(self, taken: NDArray[np.bool_]) -> tuple[Any, Any]:
        """Return the least and the largest possible sum of each row if the columns in `taken` are 1."""
        value, least, most = self._terms
        held = taken[self.program.row_column]
        return self._summed(np.where(held, value, least)), self._summed(np.where(held, value, most))

    @cached_property
    def _spread(self) -> tuple[Any, Any]:
        """The smallest and the largest amount that the columns other than units can add to each row."""
        beside = self.program.row_column >= self.program.units
        _, least, most = self._terms
        return self._summed(np.where(beside, least, 0)), self._summed(np.where(beside, most, 0))

    def _summed(self, terms: Any) -> Any:
        sums: Any = np.zeros(self.program.rows, self._dtype)
        if len(filled := self._filled):
            sums[filled] = np.add.reduceat(terms, self.program.row_start[filled])
        return sums

    def evaluate(self, selection: Selection) -> Evaluation:
        violation, values = self._settled(selection)
        key = self.program.value(int(values @ self._costs))
        return Evaluation(key, violation + self.excess(selection), self.value_of(key))

    def fits(self, selection: Collection[int]) -> bool:
        if not super().fits(selection):
            return False
        (least, most), (low, high) = self._added_by(self._chosen(selection) != 0), self._sides
        return not ((least > high) | (most < low)).any()

    def additions(self, selection: Selection) -> tuple[IntArray, IntArray, IntArray] | None:
        """Return `Problem.additions`; None if they would take too much memory or need HiGHS."""
        if not self._apart or self._by_unit is None or type(self).evaluate is not LinearProblem.evaluate:
            return None
        values, adds = self._chosen(selection), self._by_unit
        (least, most), (low, high) = self._added_by(values != 0), self._sides
        fits: NDArray[np.bool_] = (least[:, None] + np.maximum(adds, 0) <= high[:, None]).all(axis=0)
        fits &= (most[:, None] + np.minimum(adds, 0) >= low[:, None]).all(axis=0)
        length = self.length(selection) + np.array(self.lengths, np.int64)
        fits &= (length <= self.max_length) & (values[: self.size] == 0)
        units = np.flatnonzero(fits)
        violation, others = self._judged(self._body(values)[:, None] + adds[:, units])
        before = self._judged(self._body(values)[:, None])[1][:, 0]
        gain = self._costs[units] + self._costs[self.size :] @ (others - before[:, None])
        return units, violation + np.maximum(0, self.min_length - length[units]), gain

    def values(self, selection: Selection) -> dict[str, int]:
        """Return the value of each variable of the model, by name, for a selection.

        Variables other than units have their best values.

        Raises
        ------
        InputError
            If no values satisfy all constraints.
        """
        program, chosen = self.program, tuple(sorted(selection))
        violation, values = self._settled(chosen)
        if violation or self.excess(chosen):
            raise InputError(f"No values of the variables keep all constraints with the units {list(chosen)}.")
        names = program.column_names or [f"c{column}" for column in range(program.columns)]
        begins = self.begins or (0,) * program.columns
        return {name: begin + int(value) for name, begin, value in zip(names, begins, values, strict=True)}

    def _settled(self, selection: Selection) -> tuple[int, Any]:
        """Return the violation of the rows and the values of all columns, the best ones if the violation is 0."""
        program, values = self.program, self._chosen(selection)
        broken, settled = self._judged(self._body(values)[:, None])
        violation = int(broken[0])
        if self._apart:
            values[program.units :] = settled[:, 0]
        elif not violation:
            others = self._others(selection)
            if others is None:
                return 1, values
            values[program.units :] = others
            body, (low, high) = self._body(values), self._sides
            if (broken_rows := np.flatnonzero((body < low) | (body > high))).size:
                row = int(broken_rows[0])
                name = f"constraint {program.row_names[row]}" if program.row_names else f"row {row}"
                raise BackendError(
                    f"With the units {list(selection)}, HiGHS gives other variables values that violate {name}: "
                    "the numbers of this row are too large for its tolerances; divide rows by common factors."
                )
        return violation, values

    def _chosen(self, selection: Iterable[int]) -> Any:
        return decisions(self.program.columns, selection, self._dtype)

    def _body(self, values: Any) -> Any:
        return self._summed(self._terms[0] * values[self.program.row_column])

    @cached_property
    def _costs(self) -> Any:
        return self.program.objective.astype(self._dtype)

    @cached_property
    def _by_unit(self) -> Any:
        """The amount that each unit adds to each row (rows, units); None if it takes too much memory."""
        program = self.program
        if self._dtype is not np.int64 or max(program.rows, len(self._beside[0])) * program.units > _MOST_ADDED:
            return None
        rows = packed_rows(program.row_start)
        ours = program.row_column < program.units
        found: Any = np.zeros((program.rows, program.units), np.int64)
        np.add.at(found, (rows[ours], program.row_column[ours]), program.row_value[ours])
        return found

    @cached_property
    def _beside(self) -> tuple[IntArray, IntArray]:
        """The entries of columns other than units, ordered by column, and the row of each entry."""
        program = self.program
        entries = np.flatnonzero((program.row_column >= program.units) & (program.row_value != 0))
        entries = entries[np.argsort(program.row_column[entries], kind="stable")]
        return entries, packed_rows(program.row_start)[entries]

    @cached_property
    def _apart(self) -> bool:
        """Whether no row joins two columns other than units, so that each has a best value by itself."""
        rows = self._beside[1]
        return len(np.unique(rows)) == len(rows)

    def _judged(self, bodies: Any) -> tuple[Any, Any]:
        """Return the violation of the rows by each selection, and the best values of the columns other than units.

        `bodies` (rows, selections): sums over the chosen units. The values are 0 if some row joins two such columns.
        """
        (low, high), (least, most) = self._sides, self._spread
        outside = np.maximum((low - most)[:, None] - bodies, bodies + (least - high)[:, None])
        violation = np.maximum(outside, 0).sum(axis=0, initial=0)
        program, (entries, rows) = self.program, self._beside
        first: Any = np.zeros((program.columns - program.units, bodies.shape[1]), self._dtype)
        if not self._apart or not len(first):
            return violation, first
        last: Any = first + program.upper[program.units :, None].astype(self._dtype)
        if len(entries):
            weight = self._terms[0][entries]
            rising, size = (weight > 0)[:, None], np.abs(weight)[:, None]
            low, high = (side[rows, None] - bodies[rows] for side in self._sides)
            # Division by a negative entry swaps the sides of a row.
            low, high = np.where(rising, low, -high), np.where(rising, high, -low)
            columns, starts = np.unique(program.row_column[entries] - program.units, return_index=True)
            first[columns] = np.maximum(first[columns], np.maximum.reduceat(-(-low // size), starts, axis=0))
            last[columns] = np.minimum(last[columns], np.minimum.reduceat(high // size, starts, axis=0))
        violation = np.maximum(violation, (first > last).any(axis=0))
        costs = self._costs[program.units :, None]
        return violation, np.where(costs > 0 if self.sense is Sense.MAXIMIZE else costs < 0, last, first)

    def _others(self, selection: Selection) -> IntArray | None:
        """Return the best values of the columns other than units, by HiGHS; None if no values satisfy the rows."""
        held = of_search.get()
        # The selection of a solver that ended at the limit is evaluated after the limit.
        deadline = Deadline(_LATE_S) if held.passed else held.later(_LATE_S)
        highs = self._with_units(selection)
        run(highs, deadline.within(_QUICK_S), apart=False)
        if was_stopped(highs):
            highs = self._with_units(selection)  # the interrupted one would end at once
            if not run(highs, deadline) or was_stopped(highs):
                raise Stopped(held.reason or Termination.TIME_LIMIT)
        status = highs.getModelStatus()
        if status.name in {"kInfeasible", "kUnboundedOrInfeasible"}:
            return None
        if status.name != "kOptimal":
            raise BackendError(
                f"With the units {list(selection)}, HiGHS finds no values of the other variables: it ends with "
                f"{highs.modelStatusToString(status)!r}."
            )
        others: IntArray = np.rint(np.array(highs.getSolution().col_value)[self.program.units :]).astype(np.int64)
        return others

    def _with_units(self, selection: Selection) -> Any:
        program, highs = self.program, new_highs()
        highs.setOptionValue("mip_rel_gap", 0.0)
        pass_model(highs, program)
        chosen = decisions(program.units, selection, np.float64)
        highs.changeColsBounds(program.units, np.arange(program.units, dtype=np.int32), chosen, chosen)
        return highs

    def root_bound(self, deadline: Deadline = NEVER) -> Key | None:
        """Return the bound of the linear relaxation, proven in integers (`optsum.program.model.dual_bound`)."""
        return self.linear_model.value(model_bound(self.linear_model, deadline))

    def bound(self, chosen: Selection, open: Selection) -> Key | None:  # noqa: A002 - the word for it
        """Return the bound of the relaxation with some units fixed, proven in integers; None if it is infeasible."""
        model, upper, lower = self.linear_model, self.program.upper.copy(), np.zeros(self.program.columns, np.int64)
        upper[: self.size] = 0
        lower[list(chosen)] = upper[[*chosen, *open]] = 1
        duals, feasible = self._duals(lower, upper)
        if not feasible:  # proven if the rounded ray, as multipliers of the objective 0, gives a bound that excludes 0
            nothing = self._without_objective
            if model.sense.better(0, dual_bound(nothing, duals, lower=lower, upper=upper)):
                return None
            duals = np.zeros(model.rows)
        return model.value(dual_bound(model, duals, lower=lower, upper=upper))

    @cached_property
    def _without_objective(self) -> LinearModel:
        return replace(self.linear_model, objective=np.zeros(self.program.columns, np.int64))

    @cached_property
    def _relaxation(self) -> tuple[Any, Lock]:
        """The linear relaxation, kept in HiGHS for the bounds of successive nodes, and a lock for its single user."""
        highs = new_highs()
        highs.setOptionValue("presolve", "off")  # presolve would leave no ray
        pass_model(highs, self.linear_model, relaxed=True)
        return highs, Lock()

    def _duals(self, lower: IntArray, upper: IntArray) -> tuple[NDArray[np.float64], bool]:
        """Return multipliers of the rows (0 after a time limit) for bounds of the columns, and False if a ray."""
        model, (highs, lock) = self.linear_model, self._relaxation
        columns = np.arange(model.columns, dtype=np.int32)
        with lock:
            highs.changeColsBounds(model.columns, columns, lower.astype(np.float64), upper.astype(np.float64))
            if run(highs, of_search.get(), apart=len(model.row_value) > _SMALL):
                status = highs.getModelStatus().name
                if status == "kOptimal":
                    return np.array(highs.getSolution().row_dual), True
                if status == "kInfeasible" and (ray := highs.getDualRay())[1]:
                    sign = -1 if model.sense is Sense.MAXIMIZE else 1  # unlike multipliers, rays ignore the sense
                    return sign * ray[2] / max(np.abs(ray[2]).max(), 1e-300), False
        return np.zeros(model.rows), True


class PyomoProblem(LinearProblem):
    """A linear Pyomo model as a problem, for every command, strategy and backend.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        A model with one active objective and linear constraints. Every variable is bounded, by itself or by
        constraints, and integral, or whole in some optimum anyway (such as counts of covered items). It is read once
        and not changed. A float means the fraction with a denominator of up to 10^6 that is equal to it, so 0.1 means a
        tenth; otherwise the decimal number that Python prints.
    units : Pyomo variable or sequence of them
        The binary variables to choose: an indexed variable, or a list of variables. Selections use their positions.
    lengths : sequence of int, optional
        Length of each unit, which `max_length` limits; by default 1, so that limits and frontiers count units.
    min_length, max_length : int, optional
    name : str, optional
        The id in results; by default the name of the model.

    Raises
    ------
    InputError
        If the model is not linear, or has unsupported components, variables or numbers.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> model = pyo.ConcreteModel("knapsack")
    >>> model.x = pyo.Var(range(3), domain=pyo.Binary)
    >>> model.worth = pyo.Objective(expr=6 * model.x[0] + 5 * model.x[1] + 4 * model.x[2], sense=pyo.maximize)
    >>> model.room = pyo.Constraint(expr=3 * model.x[0] + 2 * model.x[1] + 2 * model.x[2] <= 4)
    >>> problem = PyomoProblem(model, units=model.x)
    >>> problem.evaluate((1, 2)).key
    Fraction(9, 1)
    """

    def __init__(
        self,
        model: Any,
        units: Any,
        *,
        lengths: Sequence[int] = (),
        min_length: int = 0,
        max_length: int = NO_LIMIT,
        name: str = "",
    ) -> None:
        program, begins = _from_pyomo(model, units)
        super().__init__(
            program=program,
            lengths=lengths,  # type: ignore[arg-type]  # made a tuple
            begins=begins,
            min_length=min_length,
            max_length=max_length,
            name=name or ("" if model.name == "unknown" else model.name),
            labels=program.column_names[: program.units],
        )


_FRACTIONS: Final = "proofs use whole numbers, so declare it integral or count it in smaller units."


class _Column(NamedTuple):
    """A variable as in the user's model, with bounds that may be open or fractional."""

    name: str
    low: float | Fraction | None
    high: float | Fraction | None
    integral: bool

    @property
    def binary(self) -> bool:
        return self.integral and self.low in {0, 1} and self.high in {0, 1} and self.low <= self.high


class _Row(NamedTuple):
    """A constraint or the objective: exact coefficients by column, and limits of the sum, None if open."""

    name: str
    terms: Mapping[int, Fraction]
    low: Fraction | None = None
    high: Fraction | None = None


def _exact(value: Any, what: str) -> Fraction:
    """Return a number exactly; a float as the simple fraction that it represents, such as 1/10 or 1/3."""
    if isinstance(value, np.floating) and value.itemsize < np.float64().itemsize:
        value = float(str(value))  # 1.9 as a user wrote it, not 1.899999976158142
    elif hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or value != value or abs(value) == inf:
        raise InputError(
            f"{what} has the coefficient {value!r:.40}: give a finite number. In a file, from 1e20 on all are infinite."
        )
    if not isinstance(value, float):
        return Fraction(value)
    if abs(value) > 2**53:
        raise InputError(
            f"{what} has the number {value!r}, and numbers beyond 2^53 may lose digits in files and in Python's float: "
            "divide all by a common factor, or give whole numbers of Python."
        )
    plain = Fraction(value).limit_denominator(_PLAIN)
    return plain if abs(float(plain) - value) <= 4 * ulp(value) else Fraction(repr(value))


def _side(value: Any, what: str) -> Fraction | None:
    if isinstance(value, float) and 2**53 < abs(value) < inf:  # a limit that large need not be exact
        return Fraction(value)
    return None if value is None or abs(value) == inf else _exact(value, what)


def _program(
    columns: Sequence[_Column],
    units: Sequence[int],
    rows: Sequence[_Row],
    objective: _Row,
    constant: Fraction,
    sense: Sense,
) -> tuple[LinearModel, tuple[int, ...]]:
    """Return the program in whole numbers, with units first and each column shifted to begin at 0; and the shifts."""
    whole = _whole_anyway(columns, rows, objective, sense)
    columns = [column._replace(integral=column.integral or at in whole) for at, column in enumerate(columns)]
    order = [*units, *sorted(set(range(len(columns))).difference(units))]
    columns = _closed(columns, rows)
    low, upper = _bounds([columns[column] for column in order])
    place = {column: number for number, column in enumerate(order)}
    written = LinearRows()
    for row in rows:
        moved = sum((value * low[place[column]] for column, value in row.terms.items()), Fraction(0))
        sides = [None if side is None else side - moved for side in (row.low, row.high)]
        scale = lcm(*(number.denominator for number in (*row.terms.values(), *sides) if number is not None))
        _check_size([*row.terms.values()], scale, f"The constraint {row.name}")
        terms = {place[column]: int(value * scale) for column, value in row.terms.items() if value}
        entry = np.array(list(terms), np.int64)
        written.add(np.zeros(len(terms), np.int64), entry, np.array(list(terms.values()), np.int64))
        lower, higher = (None if side is None else int(side * scale) for side in sides)
        if any(side is not None and abs(side) >= 2**53 for side in (lower, higher)):
            raise _too_long(f"The constraint {row.name}")
        written.close(1, -np.inf if lower is None else float(lower), np.inf if higher is None else float(higher))
    constant += sum((value * low[place[column]] for column, value in objective.terms.items()), Fraction(0))
    scale = lcm(constant.denominator, *(value.denominator for value in objective.terms.values()))
    _check_size([*objective.terms.values(), constant], scale, objective.name)
    costs = np.zeros(len(columns), np.int64)
    for column, value in objective.terms.items():
        costs[place[column]] = int(value * scale)
    program = LinearModel(
        sense=sense,
        objective=costs,
        upper=np.array(upper, np.int64),
        integral=np.ones(len(columns), np.bool_),
        **written.arrays(),
        units=len(units),
        denominator=scale,
        offset=int(constant * scale),
        column_names=tuple(columns[column].name for column in order),
        row_names=tuple(row.name for row in rows),
    )
    return program, tuple(low)


def _whole_anyway(columns: Sequence[_Column], rows: Sequence[_Row], objective: _Row, sense: Sense) -> set[int]:
    """Return continuous columns that are whole in some optimum, whatever whole values the other columns have.

    Some, such as counts of covered items, are best at a whole limit that bounds and rows set. Coefficients of the rest
    divide all numbers of their rows, and each of the rest shares at most one row with others, so vertices are whole.
    """
    broken = {at for at, column in enumerate(columns) if not column.integral}
    held: dict[int, list[_Row]] = {at: [] for at in broken}
    for row in rows:
        for at in broken.intersection(row.terms):
            held[at].append(row)

    def is_whole(side: float | Fraction | None) -> bool:
        return side is None or isinf(side) or side == round(side)

    def ends(row: _Row, at: int) -> bool:
        """Return whether a row gives whole limits to a column if the other columns are whole."""
        return all(number is None or is_whole(number / row.terms[at]) for number in (*row.terms.values(), *row[2:]))

    def rises(row: _Row, at: int) -> bool:
        return (row.high is None or row.terms[at] < 0) and (row.low is None or row.terms[at] > 0)

    sign = 1 if sense is Sense.MAXIMIZE else -1
    served = {at for at in broken if is_whole(columns[at].low) and is_whole(columns[at].high)}
    full = {
        at
        for at in served
        if sign * objective.terms.get(at, 0) >= 0
        and all(rises(row, at) or (ends(row, at) and broken.intersection(row.terms) == {at}) for row in held[at])
    }
    before: set[int] | None = None
    rest = served - full
    while rest != before:
        before, fractions = rest, broken - full - rest
        shared = {id(row) for row in rows if len(rest.intersection(row.terms)) > 1}
        rest = {
            at
            for at in before
            if all(ends(row, at) and fractions.isdisjoint(row.terms) for row in held[at])
            and sum(id(row) in shared for row in held[at]) <= 1
        }
    return full | rest


def _closed(columns: Sequence[_Column], rows: Sequence[_Row]) -> list[_Column]:
    """Return the columns, with an open bound replaced by one that a row and the bounds of its other columns imply."""
    sides = [[_side(side, column.name) for side in (column.low, column.high)] for column in columns]
    before = -1
    while before != (before := sum(side is None for pair in sides for side in pair)) and before:
        for row in rows:
            for sign, side in ((1, row.high), (-1, row.low)):
                if side is None:
                    continue
                least = {at: sides[at][sign * value < 0] for at, value in row.terms.items()}
                open_ = [at for at, held in least.items() if held is None]
                room = sign * side - sum(sign * row.terms[at] * held for at, held in least.items() if held is not None)
                for at in open_ if len(open_) == 1 else least if not open_ else ():
                    value, end = sign * row.terms[at], sign * row.terms[at] > 0
                    if sides[at][end] is None:
                        implied, other = room / value + (least[at] or 0), sides[at][not end]
                        # If no whole number is left, one stays, which breaks the row: the program is infeasible.
                        if other is not None:
                            whole = Fraction(ceil(other) if end else floor(other))
                            implied = max(implied, whole) if end else min(implied, whole)
                        sides[at][end] = implied
    return [column._replace(low=low, high=high) for column, (low, high) in zip(columns, sides, strict=True)]


def _bounds(columns: Sequence[_Column]) -> tuple[list[int], list[int]]:
    low, upper = [], []
    for column in columns:
        if not column.integral:
            raise InputError(f"The variable {column.name} may be a fraction: {_FRACTIONS}")
        if column.low is None or column.high is None:
            side = "lower" if column.low is None else "upper"
            raise InputError(f"The variable {column.name} has no {side} bound: give it one that no optimum exceeds.")
        first, last = ceil(column.low), floor(column.high)
        if first > last:
            raise InputError(f"The variable {column.name} has no whole number between its bounds: widen them.")
        if last - first > LARGEST:
            raise _too_long(f"The variable {column.name}")
        low.append(first)
        upper.append(last - first)
    return low, upper


def _check_size(values: Iterable[Fraction], scale: int, name: str) -> None:
    if any(abs(value * scale) > LARGEST for value in values) or scale > LARGEST:
        raise _too_long(name)


def _too_long(name: str) -> InputError:
    return InputError(
        f"{name} has numbers with too many digits, which cannot be scaled to whole numbers of 62 bits: round them."
    )


def _from_pyomo(model: Any, units: Any) -> tuple[LinearModel, tuple[int, ...]]:
    import pyomo.environ as pyo
    from pyomo.repn import generate_standard_repn

    if not isinstance(model, pyo.Block) or not model.is_constructed():
        raise InputError(
            "A PyomoProblem is made of a pyomo.environ.ConcreteModel: give one, not an AbstractModel or another object."
        )
    for ctype in model.collect_ctypes(active=True, descend_into=True):
        if ctype.__name__ not in _SERVED:
            named = next(model.component_data_objects(ctype, active=True, descend_into=True), ctype.__name__)
            raise InputError(
                f"{named} of this Pyomo model is a {ctype.__name__}, which is not supported: write it as linear "
                "constraints."
            )
    chosen = list(units.values()) if hasattr(units, "is_indexed") and units.is_indexed() else units
    if hasattr(chosen, "is_binary") or not isinstance(chosen, Iterable):
        chosen = [chosen]
    chosen = list(chosen)
    held: dict[int, tuple[int, Any]] = {}  # number and variable by the variable's id

    def column(variable: Any) -> int:
        return held.setdefault(id(variable), (len(held), variable))[0]

    def terms(expression: Any, what: str) -> tuple[dict[int, Fraction], Fraction]:
        try:
            found = generate_standard_repn(expression, compute_values=True)
        except ValueError as error:  # such as a parameter without a value
            raise InputError(f"Pyomo has no value of {what}: {' '.join(str(error).split())}") from error
        if not found.is_linear():
            raise InputError(f"{what} of this Pyomo model is not linear: only linear models are supported.")
        summed = defaultdict[int, Fraction](Fraction)
        for value, variable in zip(found.linear_coefs, found.linear_vars, strict=True):
            summed[column(variable)] += _exact(value, what)
        return {at: value for at, value in summed.items() if value}, _exact(found.constant, what)

    for unit in chosen:
        if not (hasattr(unit, "is_binary") and (unit.is_integer() or unit.is_binary()) and unit.bounds == (0, 1)):
            raise InputError(
                f"The unit {unit} is not a binary variable of Pyomo: give variables of the domain pyo.Binary."
            )
        if unit.model() is not model.model():
            raise InputError(f"The unit {unit} belongs to another Pyomo model: give variables of this one.")
        column(unit)
    if len(held) != len(chosen):
        raise InputError("A variable is given twice among the units: give each once.")
    rows = [
        _Row(f"the fixed value of {unit}", {at: Fraction(1)}, *(_exact(unit.value, str(unit)),) * 2)
        for at, unit in enumerate(chosen)
        if unit.fixed
    ]
    for constraint in model.component_data_objects(pyo.Constraint, active=True, descend_into=True):
        what = f"The constraint {constraint.name}"
        body, moved = terms(constraint.body, what)
        sides = (_side(side, what) for side in (constraint.lb, constraint.ub))
        rows.append(_Row(constraint.name, body, *(None if side is None else side - moved for side in sides)))
    objectives = list(model.component_data_objects(pyo.Objective, active=True, descend_into=True))
    if len(objectives) != 1:
        raise InputError(f"This Pyomo model has {len(objectives)} active objectives: give it exactly one.")
    what = f"The objective {objectives[0].name}"
    worth, constant = terms(objectives[0].expr, what)
    try:
        columns = [
            _Column(each.name, each.lb, each.ub, each.is_integer() or each.is_binary()) for _, each in held.values()
        ]
    except (OverflowError, TypeError, ValueError) as error:  # Pyomo evaluates bounds when they are read
        raise InputError(f"Pyomo has no bounds of a variable: {' '.join(str(error).split())}") from error
    sense = Sense.MAXIMIZE if objectives[0].sense == pyo.maximize else Sense.MINIMIZE
    return _program(columns, range(len(chosen)), rows, _Row(what, worth), constant, sense)


_LONG_NUMBER: Final = re.compile(rb"(?<![^\s+\-<>=])[\d.]{18,}(?:[eE][+-]?\d{1,3})?(?![^\s+\-<>=])")


def _rounded_number(line: bytes) -> str | None:
    """Return a number of a line of a program that floating point rounds; None if there is none."""
    code = b"" if line.startswith(b"*") else line.partition(b"\\")[0]  # without comments of MPS and LP
    for found in map(bytes.decode, _LONG_NUMBER.findall(code)):
        with suppress(ValueError):
            if Fraction(found) != Fraction(repr(float(found))):
                return found
    return None


def problem_of_file(file: str | PathLike[str], units: Iterable[str] | None, name: str) -> LinearProblem:
    """Return the problem in a file; see `Problem.from_mps`."""
    import highspy

    path = as_path(file, "The file of the program")
    if not path.is_file():
        raise InputError(f"There is no file '{path}' to read a program from.")
    try:
        with ExitStack() as stack:
            long = next(filter(None, map(_rounded_number, open_bytes(path, stack))), None)
    except READ_ERRORS as error:
        raise InputError(f"'{path}' cannot be read: {describe_os_error(error)}.") from error
    if long is not None:
        said = f"numbers with more than 17 digits, such as {long}, are rounded to 64-bit floating point"
        notes_of(str(path))("digits", said)
    highs = new_highs()
    if highs.readModel(str(path)) != highspy.HighsStatus.kOk:
        raise InputError(
            f"HiGHS cannot read '{path}': give a file in MPS format (.mps), or in LP format (.lp) with End as its last "
            "line, without a byte order mark, and without coefficients of 1e15 or more."
        )
    given = highs.getModel()
    held = given.lp_
    if given.hessian_.dim_:
        raise InputError(f"The objective of '{path}' is quadratic: only linear programs are supported.")
    whole, real = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    kinds = list(held.integrality_) or [real] * held.num_col_
    if odd := [kind for kind in kinds if kind not in (whole, real)]:
        raise InputError(f"'{path}' has semi-continuous variables ({len(odd)}), which are not supported.")
    names = list(held.col_names_) or [f"c{column}" for column in range(held.num_col_)]
    integral = [kind == whole for kind in kinds]
    columns = list(map(_Column, names, held.col_lower_, held.col_upper_, integral))
    binary = [number for number, column in enumerate(columns) if column.binary]
    if units is not None:
        number, wanted = {label: at for at, label in enumerate(names)}, list(units)
        wrong = [label for label in wanted if not (label in number and columns[number[label]].binary)]
        if wrong or len(set(wanted)) < len(wanted):
            what = f"{wrong[0]!r} is not a 0/1 column" if wrong else "a column is given twice among the units"
            raise InputError(f"In '{path}' {what}: name each of its 0/1 columns that is a unit once.")
        binary = [number[label] for label in wanted]
    if not binary:
        raise InputError(f"'{path}' has no 0/1 column, so there is nothing to choose.")
    chosen = set(binary)
    others = [column.name for at, column in enumerate(columns) if column.integral and at not in chosen]
    if others and units is None:
        named = ", ".join(others[:3]) + (", ..." if len(others) > 3 else "")
        notes_of(str(path))(
            "columns",
            f"{len(others)} of the integral columns are not units, because they can have values other than 0 "
            f"and 1 ({named}): they take their best values for each selection, which problem.values(selection) "
            "returns in Python",
        )
    matrix: list[dict[int, Fraction]] = [{} for _ in range(held.num_row_)]
    labels = list(held.row_names_) or [f"r{row}" for row in range(held.num_row_)]
    entries = held.a_matrix_
    by_row = entries.format_ != highspy.MatrixFormat.kColwise
    starts, places, values = list(entries.start_), list(entries.index_), list(entries.value_)  # each access copies all
    for major, (first, end) in enumerate(pairwise(starts)):
        for minor, value in zip(places[first:end], values[first:end], strict=True):
            row, column = (major, minor) if by_row else (minor, major)
            if value:
                matrix[row][column] = _exact(value, f"The constraint {labels[row]}")
    lows, tops = (map(_side, sides, labels) for sides in (held.row_lower_, held.row_upper_))
    rows = list(map(_Row, labels, matrix, lows, tops))
    for at in binary:
        if columns[at].low == columns[at].high:
            value = Fraction(columns[at].low or 0)
            rows.append(_Row(f"the fixed value of {names[at]}", {at: Fraction(1)}, value, value))
            columns[at] = columns[at]._replace(low=0.0, high=1.0)
    costs = {column: _exact(value, "The objective") for column, value in enumerate(held.col_cost_) if value}
    sense = Sense.MINIMIZE if held.sense_ == highspy.ObjSense.kMinimize else Sense.MAXIMIZE
    offset = _exact(held.offset_, "The objective")
    program, begins = _program(columns, binary, rows, _Row("The objective", costs), offset, sense)
    name = name or path.name.split(".")[0]
    return LinearProblem(program=program, begins=begins, name=name, labels=program.column_names[: program.units])
