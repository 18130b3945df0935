"""Compare searches that use few levels at a time with brute force over all levels."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from optsum.solvers.branch_and_bound import BranchAndBound
from trying import blocks

import optsum
from optsum.contracts.result import Status
from optsum.coverage.instance import Facility, IntArray, score
from optsum.errors import UnsupportedError
from optsum.optima.optima import Nearness
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits, Termination


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


def _large(*, f1: bool) -> CoverageProblem:
    rng = np.random.default_rng(1)
    own = {"own": np.vstack([rng.integers(15_000, 45_000, 30), np.full(30, 50_000)])} if f1 else {}
    similar = rng.integers(0, 10_000, (40, 30))
    full = 40 * 10_000
    return CoverageProblem.of(Facility.given(similar, np.ones(40, np.int64), [1] * 30, full=full, max_length=4, **own))


_EVERY = ["auto", "branch-and-bound", "exhaustive", "greedy", "vns", "lead"]


@pytest.mark.parametrize("limit", [None, 60.0, 0.0])
def test_large_instances_begin_with_heuristics(limit: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.solvers.branch_and_bound._LARGE", 0)
    for seed in range(12):
        problem, values, full = _problem(seed)
        found = search(problem, "branch-and-bound", limits=Limits(time_s=limit))
        best = Fraction(max(values.values()), full)
        assert found.bound_key is None or found.bound_key >= best
        assert limit == 0.0 or (found.key, found.status) == (best, Status.OPTIMAL)
    monkeypatch.setattr("optsum.solvers.branch_and_bound._visits", lambda *given: False)
    best_f1 = search(_large(f1=True), "exhaustive").key
    found = search(_large(f1=True), "branch-and-bound", limits=Limits(time_s=limit))
    assert found.bound_key is not None
    assert best_f1 is not None
    assert found.bound_key >= best_f1 >= (found.key or 0)
    assert limit == 0.0 or found.key == best_f1


@pytest.mark.parametrize(
    ("strategy", "f1"), [("milp", False), *((name, f1) for name in _EVERY for f1 in (False, True))]
)
def test_an_instance_with_too_many_levels_still_gives_what_was_found(
    strategy: str, f1: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = search(_large(f1=f1), "exhaustive").key
    assert best is not None
    monkeypatch.setattr("optsum.coverage.instance._MOST", 2_000)
    monkeypatch.setattr("optsum.coverage.instance._LIGHT", 200)
    problem = _large(f1=f1)
    with pytest.raises(UnsupportedError):
        _ = problem.coverage.level
    for limits in (Limits(), Limits(nodes=1), Limits(evaluations=3), Limits(time_s=0.0)):
        found = search(problem, strategy, limits=limits)
        if found.status is Status.OPTIMAL:
            assert found.key == best
        else:
            assert found.bound_key is not None
            assert found.bound_key >= best >= (found.key or 0)
            assert found.termination is not Termination.COMPLETED or strategy in {"greedy", "vns", "lead"}


@pytest.mark.parametrize("f1", [False, True])
@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive"])
def test_families_of_an_instance_with_too_many_levels(strategy: str, f1: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _large(f1=f1)
    every = optsum.enumerate_optima(whole, strategy="exhaustive", within="1%")
    assert every.count > 1
    monkeypatch.setattr("optsum.coverage.instance._MOST", 2_000)
    monkeypatch.setattr("optsum.coverage.instance._LIGHT", 200)
    found = optsum.enumerate_optima(_large(f1=f1), strategy=strategy, within="1%")
    if found.complete:
        assert set(found) == set(every)
    else:
        assert found.termination in {"memory_limit", "time_limit"}
        assert found.result.status is Status.FEASIBLE
    found_lengths = optsum.frontier(_large(f1=f1), lengths=[2, 4], node_limit=1).frontier
    assert found_lengths is not None
    assert max(step.bound or 0 for step in found_lengths.steps) >= (every.result.objective or 0)
