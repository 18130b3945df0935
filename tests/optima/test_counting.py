"""The number of feasible extracts."""

from __future__ import annotations

from math import comb, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.optima.counting import count_feasible, estimate_feasible
from optsum.problem.coverage_problem import CoverageProblem
from optsum.testing import brute_force, random_coverage


def test_equals_enumeration() -> None:
    for seed in range(200):
        instance = random_coverage(np.random.default_rng(seed), kind="window" if seed % 3 else "recall")
        sets = brute_force(CoverageProblem.of(instance)).feasible - (instance.min_length == 0)
        assert count_feasible(instance.lengths, instance.min_length, instance.max_length) == sets


@pytest.mark.parametrize(
    ("lengths", "low", "high", "count"),
    [
        ([], 0, 10, 0),
        ([3], 0, 2, 0),
        ([0, 0], 0, 0, 3),
        ([1] * 300, 0, 300, 2**300 - 1),
        ([2] * 200, 100, 101, comb(200, 50)),
        ([1, 2], 5, 4, 0),
    ],
)
def test_cases(lengths: list[int], low: int, high: int, count: int) -> None:
    assert count_feasible(lengths, low, high) == count


@given(st.lists(st.integers(0, 12), max_size=14), st.integers(0, 40), st.floats(0, 5000))
def test_what_is_said_to_be_enough_is(lengths: list[int], most: int, enough: float) -> None:
    found, exact = estimate_feasible(lengths, 0, most, enough), count_feasible(lengths, 0, most)
    assert found == exact or (found == inf and exact > enough)


def test_hundreds_of_units_are_not_counted() -> None:
    lengths = [5 + number % 30 for number in range(300)]
    assert estimate_feasible(lengths, 0, 100, 1e6) == inf
    assert estimate_feasible([1] * 40, 0, 100, 1e6) == inf  # all of them together
    assert estimate_feasible([60] * 300, 0, 100, 1e6) == 300
