"""The number of feasible extracts."""

from __future__ import annotations

import random
from math import comb

import pytest
from exact_instances import feasible_sets, random_instance

from optsum.optima.counting import count_feasible


def test_equals_enumeration() -> None:
    rng = random.Random(5)  # noqa: S311
    for _ in range(200):
        instance = random_instance(rng)
        sets = [chosen for chosen in feasible_sets(instance) if chosen]
        assert count_feasible(instance.lengths, instance.min_length, instance.max_length) == len(sets)


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
