from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from optsum.solvers.exhaustive import strategy

from optsum.contracts.result import Result, Status
from optsum.contracts.run import Limits
from optsum.coverage.instance import NO_LIMIT, Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.optima.counting import count_feasible
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Problem
from optsum.registry import STRATEGIES
from optsum.running.search import search
from optsum.testing import KINDS, OwnMetric, brute_force, random_coverage


def same_as_brute_force(problem: Problem, result: Result, name: str) -> None:
    truth = brute_force(problem)
    assert result.key == truth.best, name
    assert result.status is (Status.INFEASIBLE if truth.best is None else Status.OPTIMAL), name
    assert result.statistics["best_selections"] == sum(bool(chosen) for chosen in truth.optima), name
    empty = problem.evaluate(()).feasible
    assert result.statistics["feasible"] == truth.feasible - empty, name
    assert result.selection is None or result.selection in truth.optima, name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_searched_exactly(kind: str) -> None:
    """Optimum, number of optimal and of feasible selections, on 80 instances of each of ten kinds."""
    for seed in range(200, 280):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        same_as_brute_force(problem, search(problem, "exhaustive"), f"{kind} {seed}")


@pytest.mark.parametrize("kind", ["recall", "window", "compressive", "cover", "f1", "product", "harmonic"])
def test_a_walk_can_be_left_and_taken_up_again(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for walker in (strategy.Pairs, strategy.Flips):
        monkeypatch.setattr(walker, "stride", 5)
    for seed in range(40):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        same_as_brute_force(problem, search(problem, "exhaustive"), f"{kind} {seed}")


@pytest.mark.parametrize("kind", ["recall", "window", "compressive", "cover", "sum"])
def test_without_kernels_the_answer_is_the_same(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "walker_of", strategy.OneByOne)
    for seed in range(40):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6))
        same_as_brute_force(problem, search(problem, "exhaustive"), f"{kind} {seed}")


def test_a_metric_of_one_s_own() -> None:
    words = [["a", "b"], ["b", "bad"], ["c"], ["bad"], ["a", "c", "d"], ["d"]]
    for low in range(8):
        problem = OwnMetric(lengths=(2, 2, 1, 1, 3, 1), min_length=low, max_length=7, words=words)
        same_as_brute_force(problem, search(problem, "exhaustive"), f"from {low} words on")


def test_all_ties_are_counted() -> None:
    """Any 4 of 12 equal sentences: C(12, 4) optima among C(12, 1) + ... + C(12, 4) selections."""
    alike = Coverage.of([2] * 12, [{0: 1}] * 12, [[1] * 12], constants=(0, 12), max_length=9)
    result = search(CoverageProblem.of(alike), "exhaustive")
    assert result.statistics["best_selections"] == comb(12, 4)
    assert result.statistics["feasible"] == sum(comb(12, size) for size in range(1, 5))
    assert result.objective_exact == "1/3"


def test_the_empty_selection_counts_as_an_incumbent_but_not_as_an_optimum() -> None:
    nothing = search(CoverageProblem.of(Coverage.of([1, 2], [{}, {}], [], max_length=2)), "exhaustive")
    assert (nothing.selection, nothing.objective) == ((), 0.0)
    assert nothing.statistics == {**nothing.statistics, "best_selections": 2, "feasible": 2}
    # Nothing to cover: the empty selection is the one optimum, so no other is.
    free = search(CoverageProblem.of(Coverage.of([1, 2], [{}, {}], [], goal=Sense.MINIMIZE)), "exhaustive")
    assert (free.selection, free.objective) == ((), 0.0)
    assert free.statistics == {**free.statistics, "best_selections": 0, "feasible": 3}
    fits = search(CoverageProblem.of(Coverage.of([3], [{0: 1}], [[1]], max_length=2)), "exhaustive")
    assert (fits.status, fits.selection, fits.statistics["feasible"]) == (Status.OPTIMAL, (), 0)


def test_ties_by_fractions_are_exact() -> None:
    """3/9 and 1/3 are equal, 333333333/999999999 too, and 333333334/10^9 is not."""
    instance = Coverage.of(
        [1] * 4,
        [{0: 1}, {1: 1}, {2: 1}, {3: 1}],
        [[3], [1], [333333333], [333333332]],
        constants=(0, 0),
        mass=[[0] * 4, [9, 3, 999999999, 10**9]],
        max_length=1,
    )
    result = search(CoverageProblem.of(instance), "exhaustive")
    assert result.key == Fraction(1, 3)
    assert result.statistics["best_selections"] == 3


def test_forty_choose_a_few_takes_no_time() -> None:
    """A tight limit prunes: 40 units of 10 words within 45 words are C(40, <= 4) selections, not 2^40."""
    rng = np.random.default_rng(0)
    rows = [{int(f): 1 for f in rng.integers(0, 50, 6)} for _ in range(40)]
    instance = Coverage.of([10] * 40, rows, [[1]] * 50, constants=(0, 50), max_length=45)
    result = search(CoverageProblem.of(instance), "exhaustive", Limits(time_s=30))
    assert result.statistics["feasible"] == sum(comb(40, size) for size in range(1, 5))
    milp = search(CoverageProblem.of(instance), "milp")
    assert (result.status, result.objective_exact) == (Status.OPTIMAL, milp.objective_exact)


def test_forty_within_a_window_are_those_of_the_window() -> None:
    """No branch is entered that ends below the minimum, so that as many are visited as are within."""
    rng = np.random.default_rng(1)
    rows = [{int(f): 1 for f in rng.integers(0, 50, 6)} for _ in range(40)]
    lengths = rng.integers(8, 20, 40).tolist()
    instance = Coverage.of(lengths, rows, [[1]] * 50, constants=(0, 50), min_length=38, max_length=42)
    result = search(CoverageProblem.of(instance), "exhaustive", Limits(time_s=30))
    number = count_feasible(lengths, 38, 42)
    assert (result.statistics["feasible"], result.key) == (number, search(CoverageProblem.of(instance), "milp").key)
    assert number <= result.evaluations <= number + 50


@pytest.mark.parametrize("kind", KINDS)
def test_enumerations_are_worth_what_those_of_branch_and_bound_are(kind: str) -> None:
    exhaustive, other = STRATEGIES.create("exhaustive", {}), STRATEGIES.create("branch-and-bound", {})
    served = 0
    for seed in range(20):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6))
        try:
            other.accept(problem)
        except UnsupportedError:
            continue
        found, same = exhaustive.enumerate(problem, Limits()), other.enumerate(problem, Limits())
        assert (found.value, found.bound) == (same.value, same.bound), seed
        assert set(found) == set(same), seed
        served += 1
    assert served


@pytest.mark.parametrize("kind", ["recall", "f1", "cover"])
def test_an_enumeration_at_a_limit_has_a_bound(kind: str) -> None:
    for seed in range(10):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6))
        best = STRATEGIES.create("exhaustive", {}).enumerate(problem, Limits())
        stopped = STRATEGIES.create("exhaustive", {}).enumerate(problem, Limits(evaluations=3))
        if stopped.complete or not stopped:
            continue
        low, high = (stopped.bound, stopped.value) if kind == "cover" else (stopped.value, stopped.bound)
        assert low <= best.value <= high
        assert abs(stopped.bound) < NO_LIMIT
