"""Compare proven bounds with the formula of weak duality in Python numbers, and test unfinished relaxations."""

from __future__ import annotations

from fractions import Fraction
from math import floor, inf, isfinite, isinf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optsum.coverage.instance import Sense
from optsum.program.model import SCALE, LinearModel, Relaxation, dual_bound, model_bound, relaxed_bound
from optsum.system.clock import Deadline

LARGEST = 2.0**256
MULTIPLIERS = [
    np.nan,
    inf,
    -inf,
    1e300,
    -1e300,
    1.5 * LARGEST,
    2.0**60,
    2.0**30,
    -(2.0**30),
    1 / SCALE,
    -1 / SCALE,
    0.0,
]


def by_the_formula(model: LinearModel, duals: list[float]) -> int:
    """Return the bound by the formula in the module's docstring; a minimum is the negative of a maximum."""
    sign = 1 if model.sense is Sense.MAXIMIZE else -1
    total = Fraction(0)
    reduced = [Fraction(sign * int(c)) for c in model.objective]
    for row, dual in enumerate(duals):
        finite = min(max(dual, -LARGEST), LARGEST) if isfinite(dual) else 0.0
        y = Fraction(round(finite * sign * SCALE), SCALE)
        side = model.row_upper[row] if y > 0 else model.row_lower[row]
        if y == 0 or isinf(side):
            continue
        total += y * int(side)
        for entry in range(model.row_start[row], model.row_start[row + 1]):
            reduced[model.row_column[entry]] -= y * int(model.row_value[entry])
    total += sum(int(upper) * max(Fraction(0), c) for upper, c in zip(model.upper, reduced, strict=True))
    return sign * floor(total)


@st.composite
def models(draw: st.DrawFn) -> LinearModel:
    columns = draw(st.integers(1, 3))
    small, sides = st.integers(-5, 5), st.one_of(st.integers(-6, 6).map(float), st.just(inf), st.just(0.0))
    values = st.one_of(small, st.sampled_from([2**20, -(2**20)]))
    rows = draw(st.lists(st.dictionaries(st.integers(0, columns - 1), values), max_size=3))
    numbers = lambda of: np.array(draw(st.lists(of, min_size=columns, max_size=columns)), np.int64)  # noqa: E731
    return LinearModel(
        sense=draw(st.sampled_from(Sense)),
        objective=numbers(st.one_of(small, st.just(2**45))),
        upper=numbers(st.integers(0, 4)),
        integral=np.ones(columns, np.bool_),
        row_start=np.cumsum([0, *map(len, rows)]),
        row_column=np.array([column for row in rows for column in row], np.int64),
        row_value=np.array([value for row in rows for value in row.values()], np.int64),
        row_lower=-np.array(draw(st.lists(sides, min_size=len(rows), max_size=len(rows))), np.float64),
        row_upper=np.array(draw(st.lists(sides, min_size=len(rows), max_size=len(rows))), np.float64),
        units=columns,
        denominator=1,
    )


@given(models(), st.data())
@settings(max_examples=40)
def test_the_bound_is_the_formula_s(model: LinearModel, data: st.DataObject) -> None:
    multiplier = st.one_of(st.sampled_from(MULTIPLIERS), st.floats(-4, 4), st.integers(-4, 4).map(float))
    duals = data.draw(st.lists(multiplier, min_size=model.rows, max_size=model.rows))
    assert dual_bound(model, np.array(duals, np.float64)) == by_the_formula(model, duals)


def one_row(sense: Sense, value: int, side: float, objective: int = 3) -> LinearModel:
    """Return a model of one column of at most 2 and one row, whose entry is `value` and whose bound is `side`."""
    maximized = sense is Sense.MAXIMIZE
    return LinearModel(
        sense=sense,
        objective=np.array([objective]),
        upper=np.array([2]),
        integral=np.array([True]),
        row_start=np.array([0, 1]),
        row_column=np.array([0]),
        row_value=np.array([value]),
        row_lower=np.array([-inf if maximized else side]),
        row_upper=np.array([side if maximized else inf]),
        units=1,
        denominator=1,
    )


@pytest.mark.parametrize(
    ("value", "dual", "bound"),
    [
        (2**20, 2.0**30, 0),  # the product exceeds 64 bits, the factors do not
        (-(2**20), 2.0**30, 2 * (3 + 2**50)),
        (-(2**20), -(2.0**30), 6),  # the multiplier belongs to a side that does not exist
        (-(2**20), -1 / SCALE, 6),
        (0, 2.0**70, 6),
        (1, inf, 6),
        (1, -inf, 6),
        (-1, np.nan, 6),
    ],
)
def test_large_multipliers_on_one_row(value: int, dual: float, bound: int) -> None:
    model = one_row(Sense.MAXIMIZE, value, 0.0)
    assert dual_bound(model, np.array([dual])) == bound == by_the_formula(model, [dual])


def test_a_column_that_costs_more_than_its_value_adds_nothing() -> None:
    """Test a multiplier a 65536th below 3, where any excess would be rounded up."""
    assert dual_bound(one_row(Sense.MAXIMIZE, 2, 1.0), np.array([3 - 1 / SCALE])) == 2
    assert dual_bound(one_row(Sense.MINIMIZE, 2, 1.0), np.array([-1 / SCALE])) == 0, "no side is above"


@pytest.mark.parametrize(("sense", "plain", "bad"), [(Sense.MAXIMIZE, 6, 9), (Sense.MINIMIZE, 0, -3)])
def test_an_early_basis_is_never_worse_than_none(sense: Sense, plain: int, bad: int) -> None:
    """Test a maximum of one column worth three, and a minimum where it costs three."""
    model = one_row(sense, 1, 1.0)

    def bound(dual: float, optimal: bool) -> int:
        return relaxed_bound(model, Relaxation(columns=np.zeros(1), duals=np.array([dual]), optimal=optimal))

    assert relaxed_bound(model, None) == plain
    assert bound(3.0, optimal=True) == bound(3.0, optimal=False) == 3
    assert model_bound(model) == 3
    assert bound(9.0, optimal=False) == plain
    assert bound(9.0, optimal=True) == bad
    assert model_bound(model, Deadline(0.0)) in {plain, 3}
