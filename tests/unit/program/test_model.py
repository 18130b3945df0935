"""Test the integer program of an instance: its rows, its relaxation, and ratios."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from optsum.coverage.instance import NO_LIMIT, Combination, Coverage, Joint, Sense
from optsum.errors import UnsupportedError
from optsum.problem.problem import Capability, CoverageProblem
from optsum.program.model import LinearModel, coverage_model, new_highs, pass_model, relax
from optsum.testing import brute_force, check_linear_model, random_coverage


def dense(model: LinearModel) -> list[list[int]]:
    matrix = np.zeros((model.rows, model.columns), np.int64)
    rows = np.repeat(np.arange(model.rows), np.diff(model.row_start))
    np.add.at(matrix, (rows, model.row_column), model.row_value)
    return matrix.tolist()  # type: ignore[no-any-return]


def test_the_paper_s_rows_merged() -> None:
    """Check Eq. 3-8; columns: x0 x1 | steps of feature 0 | steps of feature 1; rows: features, then the length."""
    instance = Coverage.of([3, 2], [{0: 1, 1: 5}, {1: 1}], [[3], [2, 1]], constants=(1, 9), max_length=4, min_length=2)
    model = coverage_model(instance)
    assert dense(model) == [[-1, 0, 1, 0, 0], [-2, -1, 0, 1, 1], [3, 2, 0, 0, 0]]
    assert model.objective.tolist() == [0, 0, 3, 2, 1]
    assert model.row_upper.tolist() == [0, 0, 4]
    assert model.row_lower.tolist() == [-np.inf, -np.inf, 2]
    assert model.integral.tolist() == [True, True, False, False, False]
    assert (model.units, model.denominator, model.offset, model.sense) == (2, 9, 1, Sense.MAXIMIZE)
    assert model.value(5) == Fraction(6, 9)


def test_parents_needs_and_vetoes_are_rows() -> None:
    instance = Coverage.of(
        [1, 1, 1], [{}, {}, {}], [[4]], constants=(0, 4), parents=[-1, 0, -1], joints=(Joint(0, (1, 2), (0,)),)
    )
    model = coverage_model(instance)
    # columns: x0 x1 x2 | the joint | the step
    assert dense(model) == [
        [0, 0, 0, -1, 1],
        [1, 1, 1, 0, 0],
        [0, -1, 0, 1, 0],
        [0, 0, -1, 1, 0],
        [1, 0, 0, 1, 0],
        [-1, 1, 0, 0, 0],
    ]
    assert model.row_upper.tolist() == [0, np.inf, 0, 0, 1, 0]


def test_a_cover_is_the_shortest_selection_that_reaches_everything() -> None:
    instance = Coverage.of(
        [2, 1, 1], [{0: 1}, {1: 9}, {}], [[1], [1, 1], [1]], joints=(Joint(2, (1, 2)),), goal=Sense.MINIMIZE
    )
    model = coverage_model(instance)
    assert dense(model) == [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 1], [0, -1, 0, 1], [0, 0, -1, 1]]
    assert model.row_lower.tolist() == [1, 2, 1, -np.inf, -np.inf]
    assert model.objective.tolist() == [2, 1, 1, 0]
    assert (model.sense, model.denominator, model.offset) == (Sense.MINIMIZE, 1, 0)


def test_no_limit_is_an_open_side() -> None:
    model = coverage_model(Coverage.of([3], [{}], []))
    assert model.row_upper.tolist() == [np.inf]
    assert model.row_lower.tolist() == [0]
    assert coverage_model(Coverage.of([3], [{}], [], max_length=NO_LIMIT - 1)).row_upper[0] == NO_LIMIT - 1


def test_objectives_that_are_not_linear_are_refused() -> None:
    f1 = Coverage.of([1], [{0: 1}], [[2]], constants=(0, 1), mass=[[0], [1]])
    with pytest.raises(UnsupportedError, match="no integer linear program"):
        coverage_model(f1)
    sums = Coverage.of([1], [{0: 1}], [[2]], constants=(0, 1, 0, 1), weights=(1, 1), combination=Combination.SUM)
    with pytest.raises(UnsupportedError, match="no integer linear program"):
        coverage_model(sums)
    with pytest.raises(UnsupportedError, match="one ratio"):
        coverage_model(Coverage.of([1], [{0: 1}], [[2]]), Fraction(1, 2))
    problem = CoverageProblem.of(sums)
    assert problem.capabilities == {Capability.COVERAGE, Capability.BOUND, Capability.RATIOS}
    with pytest.raises(UnsupportedError):
        _ = problem.linear_model


@pytest.mark.parametrize("kind", ["recall", "window", "compressive", "cover"])
def test_the_optimum_is_the_enumerated_one(kind: str) -> None:
    for seed in range(60):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        check_linear_model(problem, {}, brute_force(problem), f"{kind} {seed}")


@pytest.mark.parametrize("kind", ["precision", "f1", "set"])
def test_the_program_of_a_ratio_tells_whether_anything_beats_it(kind: str) -> None:
    """Check Dinkelbach 1967: max q T - p D is positive exactly if some selection has T / D > p / q."""
    rng = np.random.default_rng(0)
    answers = set()
    for seed in range(60):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6))
        best = brute_force(problem).best
        if best is None or problem.size == 0 or Capability.RATIO not in problem.capabilities:
            continue
        for ratio in (Fraction(best), Fraction(best) * Fraction(9, 10), Fraction(int(rng.integers(0, 50)), 40)):
            model = coverage_model(problem.instance, ratio)
            highs = new_highs()
            pass_model(highs, model)
            highs.run()
            beaten = (
                highs.modelStatusToString(highs.getModelStatus()) == "Optimal"
                and highs.getInfo().objective_function_value + model.offset > 1e-6
            )
            assert beaten == (best > ratio), (kind, seed, ratio, best)
            answers.add(beaten)
    assert answers == {True, False}


@pytest.mark.parametrize("kind", ["recall", "window", "compressive", "cover"])
def test_the_relaxation_is_no_worse_than_the_optimum(kind: str) -> None:
    for seed in range(24):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        model, best = problem.linear_model, brute_force(problem).best
        relaxation = relax(model)
        if best is None or not problem.size:
            continue
        assert relaxation is not None
        value = float(model.objective @ relaxation.columns) + model.offset
        optimum = float(best) * model.denominator
        assert value >= optimum - 1e-6 if model.sense is Sense.MAXIMIZE else value <= optimum + 1e-6


def test_an_infeasible_relaxation_is_none() -> None:
    assert relax(coverage_model(Coverage.of([1], [{}], [[1]], goal=Sense.MINIMIZE))) is None
    assert relax(coverage_model(Coverage.of([3], [{}], [], min_length=4, max_length=9))) is None
