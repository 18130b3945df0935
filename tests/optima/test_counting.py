"""The number of feasible extracts."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from optsum.optima.counting import count_feasible
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
