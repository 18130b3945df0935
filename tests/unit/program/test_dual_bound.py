"""Test bounds from multipliers of linear programs, which weak duality proves in integers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optsum.coverage.instance import Coverage, Key, Sense
from optsum.problem.problem import Capability, CoverageProblem
from optsum.program.model import LinearModel, coverage_model, dual_bound, relax
from optsum.program.ratio_bound import ratio_bound
from optsum.testing import brute_force, random_coverage

LINEAR = ["recall", "window", "compressive", "cover"]
EXTREME = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e200, 1e30, -1e30, 1e15, 2.0**53 + 1, 1e-300, -0.0, 0.0, 1.0, -1.0]


def holds(model: LinearModel, bound: int, best: Key) -> bool:
    value = Fraction(best) * model.denominator - model.offset
    return value <= bound if model.sense is Sense.MAXIMIZE else value >= bound


@given(st.data())
@settings(max_examples=150)
def test_any_multipliers_give_a_bound(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(LINEAR))
    problem = CoverageProblem.of(
        random_coverage(np.random.default_rng(data.draw(st.integers(0, 500))), kind=kind, units=5)
    )
    model, best = problem.linear_model, brute_force(problem).best
    numbers = st.one_of(st.sampled_from(EXTREME), st.floats(-10, 10), st.floats())
    duals = np.array(data.draw(st.lists(numbers, min_size=model.rows, max_size=model.rows)), np.float64)
    bound = dual_bound(model, duals)
    assert isinstance(bound, int)
    if best is not None:
        assert holds(model, bound, best)


@pytest.mark.parametrize("kind", LINEAR)
def test_the_relaxation_s_multipliers_give_its_bound(kind: str) -> None:
    """Check that the proven integer is the relaxation's value, rounded in the right direction (up to 1/65536)."""
    tight = 0
    for seed in range(60):
        model = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind)).linear_model
        relaxation = relax(model)
        if relaxation is None or not model.columns:
            continue
        value = float(model.objective @ relaxation.columns)
        bound = dual_bound(model, relaxation.duals)
        if model.sense is Sense.MAXIMIZE:
            assert np.floor(value - 1e-6) <= bound <= np.floor(value + 0.01)
            tight += bound <= value + 1e-6
        else:
            assert np.ceil(value - 0.01) <= bound <= np.ceil(value + 1e-6)
            tight += bound >= value - 1e-6
    assert tight > 30


def test_the_bound_of_two_sentences_by_hand() -> None:
    """Test a sentence of 3 words and gain 5, one of 2 and gain 4, and at most 4 words: 4 + 2/3 * 5, rounded down."""
    instance = Coverage.of([3, 2], [{0: 1}, {1: 1}], [[5], [4]], constants=(0, 9), max_length=4)
    model = coverage_model(instance)
    assert dual_bound(model, np.array([5.0, 4.0, 5 / 3])) == 7
    assert dual_bound(model, np.zeros(3)) == 9
    assert CoverageProblem.of(instance).root_bound() == Fraction(7, 9)
    cover = Coverage.of([3, 2], [{0: 1}, {0: 1}], [[1]], goal=Sense.MINIMIZE)
    assert dual_bound(coverage_model(cover), np.array([2.0])) == 2
    assert dual_bound(coverage_model(cover), np.array([-2.0])) == 0, "it presses on a side that does not exist"
    assert CoverageProblem.of(cover).root_bound() == 2


@pytest.mark.parametrize("size", [1.0, 2.0**20, 2.0**40, 2.0**60, 1e300])
def test_beyond_64_bits_integers_are_python_s(size: float) -> None:
    instance = Coverage.of([3, 2], [{0: 1}, {1: 1}], [[5], [4]], constants=(0, 9), max_length=4)
    model = coverage_model(instance)
    bound = dual_bound(model, np.array([5.0, 4.0, 5 / 3]) * size)
    assert bound >= 5
    if size == 2.0**40:  # x = (1, 0): the first row costs 5 - 5 size too much, and so on
        scaled = [round(value * 2**40 * 65536) for value in (5.0, 4.0, 5 / 3)]
        reduced = [scaled[0] - 3 * scaled[2], scaled[1] - 2 * scaled[2], 5 * 65536 - scaled[0], 4 * 65536 - scaled[1]]
        assert bound == (4 * scaled[2] + sum(max(0, value) for value in reduced)) // 65536


def test_large_gains_need_more_than_64_bits() -> None:
    instance = Coverage.of([3, 2], [{0: 1}, {1: 1}], [[2**55], [2**54]], constants=(0, 2**56), max_length=4)
    problem = CoverageProblem.of(instance)
    assert problem.root_bound() >= Fraction(1, 2)
    assert dual_bound(problem.linear_model, np.zeros(3)) == 2**55 + 2**54


def test_wide_columns_count_in_what_64_bits_hold() -> None:
    model = LinearModel(
        sense=Sense.MAXIMIZE,
        objective=[1, 0],
        upper=[1, 2**45],
        integral=[True, True],
        row_start=[0, 2],
        row_column=[0, 1],
        row_value=[1, 1000],
        row_lower=[-np.inf],
        row_upper=[0.0],
        units=1,
        denominator=1,
        offset=0,
    )
    assert dual_bound(model, np.array([-1.0])) == 1, "a multiplier of the wrong side counts as 0"
    lower, upper = np.array([1, 0]), np.array([1, 2**45])
    assert dual_bound(model, np.array([0.0]), lower=lower, upper=upper) == 1
    model = replace(model, row_lower=np.array([0.0]), row_upper=np.array([np.inf]))
    assert dual_bound(model, np.array([-1.0])) == 2 + 1000 * 2**45


def test_an_infeasible_problem_has_the_trivial_bound() -> None:
    instance = Coverage.of([3], [{0: 1}], [[2]], constants=(0, 4), min_length=4, max_length=9)
    assert CoverageProblem.of(instance).root_bound() == Fraction(2, 4)


@pytest.mark.parametrize("kind", ["precision", "f1", "set"])
def test_the_bound_of_a_ratio_holds(kind: str) -> None:
    close = 0
    for seed in range(25):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        assert Capability.BOUND in problem.capabilities
        if Capability.RATIO not in problem.capabilities:
            continue  # F1 without units is a recall
        bound, best = ratio_bound(problem.instance), brute_force(problem).best
        if best is not None:
            assert bound >= best, (kind, seed)
            close += bound <= best + Fraction(1, 1000)
    assert close > 5, "an idle bound would hold as well"


def test_the_bound_of_a_ratio_covers_the_empty_selection() -> None:
    instance = Coverage.of([1], [{0: 1}], [[1]], constants=(5, 10), mass=[[0], [50]])
    problem = CoverageProblem.of(instance)
    assert problem.evaluate(()).key == Fraction(1, 2)
    assert problem.root_bound() == Fraction(1, 2)


def test_the_bound_of_a_ratio_ignores_selections_over_nothing() -> None:
    """Test a joined text, where w words have w - 1 bigrams: a blank sentence alone has -1, and the ratio is 0."""
    instance = Coverage.of([0, 3], [{}, {0: 1}], [[1]], constants=(0, -1), mass=[[0, 0], [0, 3]])
    problem = CoverageProblem.of(instance)
    assert problem.evaluate((0,)).key == 0
    assert Fraction(1, 2) <= problem.root_bound() <= Fraction(1, 2) + Fraction(1, 1000)
