"""Test the state of a selection in compiled functions: flips, totals, comparisons."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum.coverage.instance import Combination, Coverage, Joint, Row, Sense
from optsum.coverage.state import CHOSEN, LENGTH, MISSING, arrays_of, empty_state, flip, value_pair
from optsum.problem.problem import CoverageProblem
from optsum.testing import KINDS, check_problem, random_coverage


@pytest.mark.parametrize("kind", KINDS)
def test_states_stay_right_after_random_flips(kind: str) -> None:
    for seed in range(2):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        check_problem(problem, name=f"{kind} {seed}", seed=seed)


def test_flips_by_hand() -> None:
    instance = Coverage.of(
        [3, 2, 1], [{0: 2}, {0: 1}, {}], [[4, 1]], constants=(1, 6), joints=(Joint(0, (1, 2), (0,), 3),)
    )
    arrays = arrays_of(instance)
    assert arrays is not None
    state = empty_state(arrays)
    seen = []
    for unit in (1, 2, 0, 1):
        flip(arrays, state, unit)
        seen.append(
            (int(state.copies[0]), int(state.totals[0]), int(state.scalars[LENGTH]), int(state.scalars[CHOSEN]))
        )
    assert seen == [(1, 5, 2, 1), (4, 6, 3, 2), (3, 6, 6, 3), (2, 6, 4, 2)]
    flip(arrays, state, 0)
    flip(arrays, state, 2)
    fresh = empty_state(arrays)
    for left, right in zip(state, fresh, strict=True):
        assert left.tolist() == right.tolist()


def test_a_cover_counts_what_is_missing() -> None:
    instance = Coverage.of([1, 1], [{0: 1}, {0: 3}], [[1, 1]], goal=Sense.MINIMIZE)
    arrays = arrays_of(instance)
    assert arrays is not None
    state = empty_state(arrays)
    missing = [int(state.scalars[MISSING])]
    for unit in (0, 1, 0):
        flip(arrays, state, unit)
        missing.append(int(state.scalars[MISSING]))
    assert missing == [2, 1, 0, 0]
    assert value_pair(arrays, state) == (-1, 1)


def test_a_constant_denominator_never_makes_products_large() -> None:
    instance = Coverage.of([1], [{0: 1}], [[2**40]], constants=(0, 2**61))
    arrays = arrays_of(instance)
    assert arrays is not None
    state = empty_state(arrays)
    flip(arrays, state, 0)
    assert value_pair(arrays, state) == (2**40, 1)


def ratios(weights: tuple[int, ...], constant: int, combination: Combination) -> Coverage:
    return Coverage.of(
        [1], [{0: 1}], [[1]], constants=(0, constant, 1, constant), weights=weights, combination=combination
    )


def test_products_beyond_64_bits_are_left_to_python() -> None:
    assert arrays_of(ratios((1, 1), 2**7, Combination.SUM)) is not None
    assert arrays_of(ratios((1, 1), 2**20, Combination.SUM)) is None
    assert arrays_of(ratios((2**60, 1), 2, Combination.SUM)) is None
    assert arrays_of(ratios((1, 1), 2**7, Combination.PRODUCT)) is not None
    assert arrays_of(ratios((5, 5), 2**7, Combination.PRODUCT)) is None
    assert arrays_of(Coverage.of([1], [{0: 1}], [[2**62]], constants=(0, 1))) is None
    f1 = Coverage.of([1], [{0: 1}], [[2]], constants=(0, 2**32), mass=[[0], [2**32]])
    assert arrays_of(f1) is not None
    assert arrays_of(replace(f1, mass=np.array([[2**32], [2**32]]))) is None
    mean = Coverage.of([1], [{0: 1}], [[2]], constants=(0, 99) * 4, weights=(1,) * 4, combination=Combination.SUM)
    assert arrays_of(mean) is not None, "F1 averaged over four references fits"


@pytest.mark.parametrize("combination", [Combination.SUM, Combination.PRODUCT])
def test_values_just_inside_64_bits_are_compared_exactly(combination: Combination) -> None:
    """Check that instances just small enough for 64-bit arrays compare as Python integers do."""
    rng = np.random.default_rng(1)
    tried = 0
    for _ in range(60):
        largest = int(2 ** rng.uniform(8, 16))
        constants = [0, largest, 0, largest]
        mass = rng.integers(0, largest, (4, 3))
        instance = Coverage.of([1] * 3, [{}] * 3, [], constants=constants, mass=mass.tolist(), weights=(1, 2),
                               combination=combination)  # fmt: skip
        arrays = arrays_of(instance)
        if arrays is None:
            continue
        tried += 1
        problem = CoverageProblem.of(instance)
        state = empty_state(arrays)
        chosen: set[int] = set()
        for unit in (0, 1, 2, 0, 1, 0, 2):
            flip(arrays, state, unit)
            chosen ^= {unit}
            top, bottom = map(int, value_pair(arrays, state))
            factor = 3 if combination is Combination.SUM else 1
            assert Fraction(top, bottom) == problem.evaluate(tuple(sorted(chosen))).key * factor
    assert tried > 5


@given(
    st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=6),
    st.integers(-20, 20),
    st.integers(0, 20) | st.none(),
)
def test_excesses_of_a_row_are_those_of_its_sums(coefficients: list[int], low: int, more: int | None) -> None:
    row = Row(tuple(range(len(coefficients))), tuple(coefficients), low=low, high=None if more is None else low + more)
    units = [{} for _ in coefficients]
    arrays = arrays_of(Coverage.of([1] * len(units), units, [], max_length=len(units), rows=[row]))
    assert arrays is not None
    levels = arrays.level[arrays.level_start[-2] : arrays.level_start[-1]].tolist()
    assert levels == [row.outside(held) for held in range(row.least, row.total + 1)]


@pytest.mark.parametrize("strategy", ["auto", "milp", "exhaustive", "greedy", "vns", "genetic"])
@pytest.mark.parametrize("k", [10**5, 10**7, 10**10])
def test_sums_of_side_constraints_may_be_large(k: int, strategy: str) -> None:
    # All sums are listed only while they are few: otherwise three units would need minutes and gigabytes.
    row = Row((0, 1, 2), (k, k + 1, -k), high=k)
    instance = Coverage.of([1, 1, 1], [{0: 1}, {1: 1}, {2: 1}], [[3], [4], [2]], max_length=2, rows=[row])
    assert (arrays_of(instance) is None) == (k > 10**6)
    every = [chosen for size in range(4) for chosen in combinations(range(3), size) if len(chosen) <= 2]
    best = max(sum((3, 4, 2)[unit] for unit in chosen) for chosen in every if not row.excess(chosen))
    result = optsum.solve(CoverageProblem.of(instance), strategy=strategy, evaluation_limit=None, seed=1)
    assert result.selection is not None
    assert not row.excess(result.selection)
    assert result.objective == best or (strategy == "greedy" and 0 < result.objective < best <= result.bound)
