"""Compare searches that use few levels at a time with brute force over all levels."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from optsum.solvers.branch_and_bound import BranchAndBound
from trying import blocks

from optsum.coverage.instance import Facility, IntArray, score
from optsum.optima.optima import Nearness
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits


@pytest.fixture(autouse=True)
def _one_level_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_kept(self: Facility, *, every: bool = False) -> IntArray:
        return np.ones(len(self.similar), np.int64)

    monkeypatch.setattr(Facility, "first_kept", first_kept)


def _problem(seed: int) -> tuple[CoverageProblem, dict[tuple[int, ...], int], int]:
    """Return a problem, the values of its feasible selections, and its denominator."""
    rng = np.random.default_rng(seed)
    units, tokens, top = int(rng.integers(1, 13)), int(rng.integers(1, 20)), int(rng.choice([1, 3, 20, 10_000]))
    similar, weights = rng.integers(0, top + 1, (tokens, units)), rng.integers(1, 4, tokens)
    lengths, most = rng.integers(1, 6, units), int(rng.integers(0, 15))
    full = int(weights.sum()) * top
    instance = Facility.given(similar, weights, lengths, full=full, max_length=most)
    values = {
        chosen: int((similar[:, list(chosen)].max(axis=1) * weights).sum()) if chosen else 0
        for size in range(units + 1)
        for chosen in combinations(range(units), size)
        if lengths[list(chosen)].sum() <= most
    }
    return CoverageProblem.of(instance), values, full


@pytest.mark.parametrize("seeds", blocks(100))
def test_one_optimum_all_of_them_and_what_is_near(seeds: range) -> None:
    for seed in seeds:
        problem, values, full = _problem(seed)
        best = max(values.values())
        for strategy in ("branch-and-bound", *(["milp"] if seed % 5 == 0 else [])):
            found = search(problem, strategy)
            assert found.status.value == "optimal"
            assert found.key == found.bound_key == Fraction(best, full)
        exact = BranchAndBound()
        every = exact.enumerate(problem, Limits())
        assert every.complete
        assert every.value == best
        assert {tuple(each) for each in every} == {chosen for chosen, value in values.items() if value == best}
        near = exact.near(problem, Nearness.given("10%", None, None, None), Limits())
        assert {tuple(each) for each in near} == {chosen for chosen, value in values.items() if 10 * value >= 9 * best}


def test_rounds_are_counted_and_share_the_limits() -> None:
    rng = np.random.default_rng(5)
    similar = rng.integers(0, 10_000, (60, 80))
    instance = Facility.given(similar, np.ones(60, np.int64), rng.integers(5, 30, 80), full=600_000, max_length=80)
    problem = CoverageProblem.of(instance)
    proven = search(problem, "branch-and-bound")
    assert proven.statistics["rounds"] > 1
    assert proven.selection is not None
    assert score(instance, proven.selection)[0][0] == proven.key * 600_000  # type: ignore[operator]
    for limits in (Limits(nodes=1), Limits(time_s=0.0), Limits(target=0.3), Limits(gap=0.5)):
        found = search(problem, "branch-and-bound", limits)
        assert found.key is None or found.key <= proven.key  # type: ignore[operator]
        assert found.bound_key is None or found.bound_key >= proven.key  # type: ignore[operator]
    partly = BranchAndBound().enumerate(problem, Limits(nodes=1))
    assert not partly.complete
    assert partly.bound >= proven.key * 600_000  # type: ignore[operator]
    for chosen in partly:
        assert score(instance, chosen)[0][0] <= partly.value


def test_a_value_that_is_good_enough_is_that_of_all_levels() -> None:
    problem, values, full = _problem(7)
    best = Fraction(max(values.values()), full)
    found = search(problem, "branch-and-bound", Limits(target=float(best)))
    assert found.objective == float(best)
