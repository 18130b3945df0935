"""Test the strategy `exhaustive`: ties, counts, windows, limits."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from held_against import check_strategy_on

from optsum.contracts.result import Status
from optsum.coverage.instance import NO_LIMIT, Coverage, Sense
from optsum.optima.counting import count_feasible
from optsum.problem.problem import CoverageProblem
from optsum.registry import STRATEGIES
from optsum.running.search import search
from optsum.system.clock import Limits
from optsum.testing import OwnMetric, random_coverage


def test_a_metric_of_one_s_own() -> None:
    words = [["a", "b"], ["b", "bad"], ["c"], ["bad"], ["a", "c", "d"], ["d"]]
    for low in range(8):
        problem = OwnMetric(lengths=(2, 2, 1, 1, 3, 1), min_length=low, max_length=7, words=words)
        assert check_strategy_on(problem, "exhaustive")


def test_all_ties_are_counted() -> None:
    """Check any 4 of 12 equal sentences: C(12, 4) optima among C(12, 1) + ... + C(12, 4) selections."""
    alike = Coverage.of([2] * 12, [{0: 1}] * 12, [[1] * 12], constants=(0, 12), max_length=9)
    result = search(CoverageProblem.of(alike), "exhaustive")
    assert result.statistics["best_selections"] == comb(12, 4)
    assert result.statistics["feasible"] == sum(comb(12, size) for size in range(1, 5))
    assert result.objective_exact == "1/3"


def test_the_empty_selection_counts_as_an_incumbent_but_not_as_an_optimum() -> None:
    nothing = search(CoverageProblem.of(Coverage.of([1, 2], [{}, {}], [], max_length=2)), "exhaustive")
    assert (nothing.selection, nothing.objective) == ((), 0.0)
    assert nothing.statistics == {**nothing.statistics, "best_selections": 2, "feasible": 2}
    # Nothing to cover: the empty selection is the only optimum.
    free = search(CoverageProblem.of(Coverage.of([1, 2], [{}, {}], [], goal=Sense.MINIMIZE)), "exhaustive")
    assert (free.selection, free.objective) == ((), 0.0)
    assert free.statistics == {**free.statistics, "best_selections": 0, "feasible": 3}
    fits = search(CoverageProblem.of(Coverage.of([3], [{0: 1}], [[1]], max_length=2)), "exhaustive")
    assert (fits.status, fits.selection, fits.statistics["feasible"]) == (Status.OPTIMAL, (), 0)


def test_ties_by_fractions_are_exact() -> None:
    """Check that 3/9 and 1/3 are equal, 333333333/999999999 too, and 333333334/10^9 is not."""
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
    """Check that 40 units of 10 words within 45 words are C(40, <= 4) selections, not 2^40."""
    rng = np.random.default_rng(0)
    rows = [{int(f): 1 for f in rng.integers(0, 50, 6)} for _ in range(40)]
    instance = Coverage.of([10] * 40, rows, [[1]] * 50, constants=(0, 50), max_length=45)
    result = search(CoverageProblem.of(instance), "exhaustive", Limits(time_s=30))
    assert result.statistics["feasible"] == sum(comb(40, size) for size in range(1, 5))
    milp = search(CoverageProblem.of(instance), "milp")
    assert (result.status, result.objective_exact) == (Status.OPTIMAL, milp.objective_exact)


def test_forty_within_a_window_are_those_of_the_window() -> None:
    """Check that no branch that must end below the minimum is entered, so that only feasible selections are visited."""
    rng = np.random.default_rng(1)
    rows = [{int(f): 1 for f in rng.integers(0, 50, 6)} for _ in range(40)]
    lengths = rng.integers(8, 20, 40).tolist()
    instance = Coverage.of(lengths, rows, [[1]] * 50, constants=(0, 50), min_length=38, max_length=42)
    result = search(CoverageProblem.of(instance), "exhaustive", Limits(time_s=30))
    number = count_feasible(lengths, 38, 42)
    assert (result.statistics["feasible"], result.key) == (number, search(CoverageProblem.of(instance), "milp").key)
    assert number <= result.evaluations <= number + 50


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
