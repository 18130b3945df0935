"""Compare counts and estimates of the number of feasible extracts with enumeration."""

from __future__ import annotations

from itertools import combinations
from math import comb, inf
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.optima import counting
from optsum.optima.counting import count_feasible, count_feasible_forest, estimate_feasible, fit, reachable
from optsum.problem.problem import CoverageProblem
from optsum.testing import brute_force, random_coverage


def test_counts_equal_enumeration() -> None:
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
def test_counts_of_known_cases(lengths: list[int], low: int, high: int, count: int) -> None:
    assert count_feasible(lengths, low, high) == count


@given(
    st.lists(st.integers(0, 12), max_size=14),
    st.just(0) | st.integers(0, 40),
    st.integers(0, 40),
    st.floats(0, 5000) | st.sampled_from([10.0**6, inf]),
)
def test_an_infinite_estimate_exceeds_the_limit(lengths: list[int], least: int, most: int, enough: float) -> None:
    found, exact = estimate_feasible(lengths, least, most, enough), count_feasible(lengths, least, most)
    assert found == exact or (found == inf and exact > enough)


def test_hundreds_of_units_are_estimated_closely() -> None:
    many = np.random.default_rng(2).integers(200, 900, 700).tolist()
    assert 0.9 < estimate_feasible(many, 4000, 5000) / count_feasible(many, 4000, 5000) < 1.1
    assert estimate_feasible([1] * 2000, 0, 2000) == inf
    assert estimate_feasible([1] * 1000, 9, 9) == pytest.approx(comb(1000, 9))
    assert estimate_feasible([1] * 1001, 9, 9) == inf


def test_hundreds_of_units_are_not_counted() -> None:
    lengths = [5 + number % 30 for number in range(300)]
    assert estimate_feasible(lengths, 0, 100, 1e6) == inf
    assert estimate_feasible([1] * 40, 0, 100, 1e6) == inf  # all units together
    assert estimate_feasible([60] * 300, 0, 100, 1e6) == 300
    assert estimate_feasible([1] * 12, 0, 100, 2**12) == 2**12 - 1  # one below the limit


@given(st.lists(st.integers(0, 12), min_size=1, max_size=10), st.integers(0, 30), st.integers(0, 40))
def test_a_table_of_lengths_counts_exactly(lengths: list[int], least: int, most: int) -> None:
    exact = count_feasible(lengths, least, most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_CHEAP", 0)
        assert estimate_feasible(lengths, least, most) == exact


def test_rounded_lengths_estimate_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    monkeypatch.setattr(counting, "_CHEAP", 0)
    for least in (0, 3000):
        lengths = rng.integers(200, 900, 30).tolist()
        exact = count_feasible(lengths, least, 6000)
        monkeypatch.setattr(counting, "_LARGEST_TABLE", 30 * 1500)  # four lengths share a cell
        assert estimate_feasible(lengths, least, 6000) == pytest.approx(exact, rel=0.02)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.integers(0, 25), st.integers(0, 25))
def test_reachable_lengths_are_those_of_enumeration(lengths: list[int], least: int, most: int) -> None:
    exactly = reachable(lengths, least, most)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_MOST_BITS", 0)
        roughly = reachable(lengths, least, most)
    for unit in range(len(lengths) + 1):
        later = lengths[unit:]
        sums = {sum(units) for size in range(1, len(later) + 1) for units in combinations(later, size)}
        for length in range(most + 2):
            there = any(least <= length + more <= most for more in sums)
            assert exactly(unit, length) == there
            within = bool(later) and length + sum(later) >= least and length + min(later) <= most
            assert roughly(unit, length) == within


@pytest.mark.parametrize(("lengths", "bits"), [([4, 4, 42], 3 * 10), ([4, 4], 2 * 9)])
def test_sums_are_rough_beyond_a_number_of_bits(lengths: list[int], bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test units of which none add 5 to 7: one bit for each unit and each length up to their sum or the maximum."""
    for allowed, rough in ((bits, False), (bits - 1, True)):
        monkeypatch.setattr(counting, "_MOST_BITS", allowed)
        assert reachable(lengths, 7, 9)(0, 2) == rough


def test_lengths_far_above_the_maximum_take_no_memory() -> None:
    lengths = [1, 10**15, 2, 10**15]
    possible = reachable(lengths, 2, 3)
    assert [possible(unit, 0) for unit in range(4)] == [True, True, True, False]
    assert fit(lengths, [1, 0], [3, 2], 3, 3) == [0, 2]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=8),
    st.integers(0, 8),
    st.integers(0, 30),
    st.integers(0, 30),
    st.randoms(use_true_random=False),
)
def test_units_are_kept_in_their_order_if_the_others_can_fill_the_length(
    lengths: list[int], kept: int, low: int, high: int, random: Random
) -> None:
    units = list(range(len(lengths)))
    random.shuffle(units)
    first, others = units[:kept], units[kept:]
    sets = [
        chosen
        for size in range(len(units) + 1)
        for chosen in combinations(units, size)
        if low <= sum(lengths[unit] for unit in chosen) <= high
    ]
    # Taking a unit of `first` counts before all later ones, and so does leaving one of the others out.
    best = max(sets, key=lambda chosen: [(unit in chosen) == (unit in first) for unit in units], default=None)
    found = fit(lengths, first, others, low, high)
    assert found == (best if best is None else [unit for unit in units if unit in best])


def test_a_table_that_is_too_large_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_WIDEST", 4 * 6)  # three units and the lengths 0 to 5
    assert fit([1, 2, 2], [0], [1, 2], 5, 9) == [0, 1, 2]
    monkeypatch.setattr(counting, "_WIDEST", 4 * 6 - 1)
    assert fit([1, 2, 2], [0], [1, 2], 5, 9) is None


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(0, 40))
def test_the_quick_bound_of_a_count_is_not_above_it(lengths: list[int], most: int) -> None:
    lengths = [length for length in lengths if length <= most]
    bound = counting._at_least(lengths, most, inf)
    count = count_feasible(lengths, 0, most)
    assert bound <= count
    if sum(lengths) <= most:
        assert bound == count


def test_the_quick_bound_takes_the_shortest_units() -> None:
    assert counting._at_least([3] * 8, 6, inf) == comb(8, 2)
    assert counting._at_least([1] * 4 + [9] * 4, 9, inf) == 2**4 - 1  # the four short units together
    assert counting._at_least([3] * 8 + [50] * 8, 6, inf) == comb(8, 2)
    assert counting._at_least([3] * 8 + [50] * 24, 6, inf) == comb(8, 2)
    assert counting._at_least([1] * 40, 100, 100) == comb(40, 10)  # the limit is exceeded
    assert counting._at_least([0] * 2000, 0, inf) == 2.0**1000 - 1


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 5)), max_size=7), st.integers(0, 20), st.integers(0, 20))
def test_counts_of_forests_equal_enumeration(units: list[tuple[int, int]], least: int, most: int) -> None:
    lengths = [length for length, _ in units]
    parents = [parent if parent < unit else -1 for unit, (_, parent) in enumerate(units)]
    by_hand = sum(
        least <= sum(lengths[unit] for unit in chosen) <= most
        and all(parents[unit] < 0 or parents[unit] in chosen for unit in chosen)
        for size in range(1, len(units) + 1)
        for chosen in combinations(range(len(units)), size)
    )
    assert count_feasible_forest(lengths, parents, least, most) == by_hand
