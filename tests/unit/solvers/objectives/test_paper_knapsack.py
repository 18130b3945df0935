"""Test the paper's branch and bound: its bound, its greedy start, its set of optima."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from optsum.solvers.objectives.one_ratio import solve_knapsack

from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.problem.problem import CoverageProblem
from optsum.system.clock import Limits
from optsum.testing import brute_force, random_coverage


def test_at_a_limit_its_bound_holds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        instance = random_coverage(rng)
        best = brute_force(CoverageProblem.of(instance)).best
        assert best is not None
        assert solve_knapsack(instance, Limits(nodes=1), every=False).bound >= best


def test_the_bound_packs_by_density_and_takes_a_part_of_the_last() -> None:
    # Gains 6, 5, 4 for 3, 4, 5 words and a limit of ten: 6 + 5 + 4 * 3 // 5, which one node cannot improve.
    instance = Coverage.of([3, 4, 5], [{0: 1}, {1: 1}, {2: 1}], [[6], [5], [4]], constants=(0, 15), max_length=10)
    assert solve_knapsack(instance, Limits(nodes=1), every=False).bound == Fraction(6 + 5 + 2, 15)


def test_the_empty_set_is_an_oracle_where_nothing_fits() -> None:
    instance = Coverage.of([5], [{0: 1}], [[1]], constants=(0, 1), max_length=4)
    assert list(solve_knapsack(instance, every=True)) == [()]


def test_windows_are_refused() -> None:
    instance = Coverage.of([5], [{0: 1}], [[1]], constants=(0, 1), max_length=9, min_length=5)
    with pytest.raises(UnsupportedError, match="minimum length"):
        solve_knapsack(instance, every=True)


def test_sets_checked_are_counted_and_limited() -> None:
    rng = random.Random(3)  # noqa: S311
    rows = [{rng.randrange(40): 1, 40 + rng.randrange(40): 1} for _ in range(40)]
    instance = Coverage.of([rng.randint(1, 9) for _ in rows], rows, [[1]] * 80, constants=(0, 80), max_length=30)
    whole = solve_knapsack(instance, every=True)
    assert whole.statistics["nodes"] > 100
    stopped = solve_knapsack(instance, Limits(nodes=100), every=True)
    assert (stopped.termination, stopped.complete) == ("node_limit", False)
    assert stopped.statistics["nodes"] == 100
    assert stopped.value <= stopped.bound
