"""Test the strategy `branch-and-bound`: the conformance suite, refusals, limits, large values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.coverage.instance import Combination, Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.optima.optima import Nearness
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.registry import STRATEGIES
from optsum.running.one_problem import SAMPLE, build, setup_of
from optsum.system.clock import Termination
from optsum.testing import brute_force, check_strategy, random_coverage


@pytest.mark.parametrize("bound", ["lagrangian", "knapsack"])
def test_the_strategy_passes_the_conformance_suite(bound: str) -> None:
    check_strategy("branch-and-bound", instances=3, bound=bound)


def test_a_sum_that_becomes_one_ratio_keeps_its_values() -> None:
    instance = random_coverage(np.random.default_rng(1312), kind="sum", units=7)
    problem = CoverageProblem.of(instance)
    assert not instance.constant_denominator
    assert instance.merged.constant_denominator
    strategy = STRATEGIES.create("branch-and-bound", {})
    best = brute_force(problem).best
    for optima in (
        strategy.enumerate(problem, optsum.Limits()),
        strategy.near(problem, Nearness(within=Fraction(1, 10)), optsum.Limits()),
    ):
        assert optima.value == optima.bound == best


@pytest.mark.parametrize("kind", ["recall", "window", "f1", "set", "sum"])
def test_a_proven_optimum_is_completed_under_a_gap_limit(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.solvers.branch_and_bound.serve", lambda _: False)
    proven = 0
    for seed in range(20):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6))
        best = brute_force(problem).best
        result = optsum.search(problem, "branch-and-bound", gap=1e-9)
        if best is None:
            continue
        assert (result.status, result.key) == (optsum.Status.OPTIMAL, best), seed
        proven += result.termination is Termination.COMPLETED
    assert proven > 10


@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive"])
@pytest.mark.parametrize("kind", ["recall", "f1", "sum"])
def test_large_values_are_proven_by_no_limit(strategy: str, kind: str) -> None:
    """Test numerators of weighted sums, which exceed any number that could stand for "no bound"."""
    chosen, stopped = STRATEGIES.create(strategy, {}), 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        copies = [{int(feature): 1 for feature in rng.choice(30, 6, replace=False)} for _ in range(30)]
        gains = [[int(gain) * 2**43] for gain in rng.integers(10, 30, 30)]
        other = {} if kind == "recall" else {"mass": [[0] * 30, rng.integers(1, 9, 30).tolist()]}
        instance = Coverage.of(
            rng.integers(5, 30, 30).tolist(), copies, gains, constants=(0, 2**50), max_length=90, **other
        )
        if kind == "sum":
            instance = replace(
                instance,
                constants=np.tile(instance.constants, 2),
                mass=np.tile(instance.mass, (2, 1)),
                weights=(1, 1),
                combination=Combination.SUM,
            )
        problem = CoverageProblem.of(instance)
        best = STRATEGIES.create("branch-and-bound", {}).enumerate(problem, optsum.Limits())
        assert best.proven, seed
        for nodes in (1, 4, 16):
            limits = optsum.Limits(nodes=nodes, evaluations=nodes)
            for found in (chosen.enumerate(problem, limits), chosen.near(problem, Nearness(values=1), limits)):
                stopped += not found.complete
                assert found.bound is None or found.bound >= best.value, seed
                assert not found.proven or found.value == best.value, seed
    assert stopped > 20


def test_problems_without_valid_bounds_are_refused() -> None:
    for kind in ("compressive", "f1", "sum", "product"):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(1), kind=kind))
        with pytest.raises(optsum.UnsupportedError):
            optsum.search(problem, "branch-and-bound", bound="knapsack")
    window = next(
        problem
        for seed in range(100)
        if (problem := CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="window"))).min_length > 0
    )
    with pytest.raises(optsum.UnsupportedError, match="minimum length"):
        optsum.search(window, "branch-and-bound", bound="knapsack")
    with pytest.raises(optsum.OptionError, match="no bound"):
        optsum.search(window, "branch-and-bound", bound="nosuch")
    below = Coverage.of([1, 1], [{0: 1}, {1: 1}], [[1], [1]], slots=[0, 1], constants=(0, -1))
    with pytest.raises(optsum.UnsupportedError, match="begins below 0"):
        optsum.search(CoverageProblem.of(below), "branch-and-bound")
    lengths = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1, 1]], goal=Sense.MINIMIZE)
    with pytest.raises(optsum.UnsupportedError, match="lengths of covers"):
        optsum.search(CoverageProblem.of(lengths), "branch-and-bound")


def test_minimum_covers_have_a_search_of_their_own() -> None:
    # Hirao et al. 2004, Table 1: the minimum is 6, and one cover has that size.
    table = [
        [["s1"], ["s10", "s11"]],
        [["s3", "s5", "s6"]],
        [["s20", "s21", "s23"], ["s1", "s30", "s60"]],
    ]
    topic = {"id": "t", "cover": table}
    result = optsum.solve(topic, formulation="cover", strategy="branch-and-bound")
    assert (result.objective, result.status) == (6, optsum.Status.OPTIMAL)
    covers = optsum.enumerate_optima(topic, formulation="cover")
    assert [set(cover) for cover in covers] == [{"s1", "s3", "s5", "s6", "s30", "s60"}]


def test_a_mean_over_many_references_has_a_denominator_beyond_64_bits() -> None:
    primes = [101, 103, 107, 109, 113, 127, 131, 137, 139]
    references = [[" ".join(["a", *(f"x{number}" for number in range(size - 1))])] for size in primes]
    topic = {"id": "t", "documents": [["a b", "x0 x1", "x7", "x8 x9 x10", "b a"]], "references": references}
    given = {"references": "mean", "max_length": 4}
    truth = optsum.solve(topic, strategy="exhaustive", **given)
    for strategy in ("branch-and-bound", "milp"):
        found = optsum.solve(topic, strategy=strategy, **given)
        assert (found.key, found.status) == (truth.key, optsum.Status.OPTIMAL)
    optima = optsum.enumerate_optima(topic, **given)
    assert optima.count == truth.statistics["best_selections"] == 1
    assert optima.value == truth.key


def test_milp_starts_from_the_greedy_selection_under_a_limit() -> None:
    rng = np.random.default_rng(5)
    words = [f"w{number}" for number in range(80)]
    topic = {
        "id": "t",
        "documents": [[" ".join(rng.choice(words, size=9).tolist()) for _ in range(150)]],
        "references": [[" ".join(rng.choice(words, size=70).tolist())] for _ in range(3)],
    }
    greedy = optsum.solve(topic, strategy="greedy", max_length=120)
    limited = optsum.solve(topic, strategy="milp", max_length=120, node_limit=1)
    assert greedy.objective in [point.objective for point in limited.trace]


@pytest.mark.parametrize(
    ("given", "sums", "general"),
    [
        ({"max_length": 9}, False, False),
        ({"measure": "f1"}, True, False),
        ({"metric": "rouge-2", "boundaries": "joined", "max_length": 9}, False, True),
        ({"metric": "rouge-2", "formulation": "compressive", "max_length": 9}, False, True),
    ],
)
def test_only_kernels_that_are_needed_are_compiled(
    given: dict[str, Any], sums: bool, general: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[str] = []
    monkeypatch.setattr("optsum.solvers.branch_and_bound.compiles", lambda prepare: prepare)
    monkeypatch.setattr("optsum.solvers.branch_and_bound.solve_sum", lambda *_, **__: run.append("sums"))
    monkeypatch.setattr("optsum.solvers.branch_and_bound._run_ties", lambda: run.append("general"))
    options = resolve({**given, "strategy": "branch-and-bound"})
    options.searcher().prepare(build(SAMPLE, setup_of(options)).problem)
    assert run == ["sums"] * sums + ["general"] * general


def test_nothing_found_before_a_limit_is_no_proof_that_there_is_nothing() -> None:
    # Greedy search takes the first unit, after which the window cannot be reached.
    problem = CoverageProblem.of(
        Coverage.of([3, 5], [{}, {}], [], mass=[[0, 0], [3, 5]], constants=(0, 9), min_length=5, max_length=5)
    )
    strategy = STRATEGIES.create("branch-and-bound", {})
    stopped = strategy.enumerate(problem, optsum.Limits(nodes=0))
    assert (stopped.count, stopped.complete, stopped.proven) == (0, False, False)
    assert list(strategy.enumerate(problem, optsum.Limits())) == [(1,)]


def test_the_knapsack_bound_names_the_problems_it_serves() -> None:
    with pytest.raises(UnsupportedError, match=r'recall within sentences; use bound="lagrangian"\.$'):
        optsum.solve(
            {"id": "t", "documents": [["a b", "c"]], "references": [["a b c"]]},
            strategy="branch-and-bound",
            bound="knapsack",
            measure="f1",
        )


def test_large_values_are_closed_in_from_above() -> None:
    """Check that every optimum of large numbers is proven, however far the first bound is."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        units, features = 9, 12
        copies = [
            {int(f): int(rng.integers(1, 3)) for f in rng.choice(features, 3, replace=False)} for _ in range(units)
        ]
        gains = [sorted(rng.integers(1, 10_000, 2).tolist(), reverse=True) for _ in range(features)]
        problem = CoverageProblem.of(
            Coverage.of(rng.integers(2, 6, units).tolist(), copies, gains, constants=(0, 10**6), max_length=12)
        )
        result = optsum.search(problem, "branch-and-bound")
        assert (result.status, result.key) == ("optimal", brute_force(problem).best), seed


def test_optima_of_a_short_reference_are_merged_not_split() -> None:
    """Test units that all fit, where the bound prunes little, but states are few and count the optima."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(5, 40, 200).tolist()
    held = [sorted({int(f) for f in rng.geometric(0.35, 3) - 1 if f < 9}) for _ in lengths]
    instance = Coverage.of(
        lengths, [dict.fromkeys(each, 1) for each in held], [[1]] * 9, constants=(0, 9), max_length=100
    )
    counts = Counter({(0, 0): 1})  # number of selections by features (a bit each) and length
    for length, each in zip(lengths, held, strict=True):
        mask = sum(1 << f for f in each)
        for (gained, total), number in list(counts.items()):
            if total + length <= 100:
                counts[gained | mask, total + length] += number
    best = max(gained.bit_count() for gained, _ in counts)
    found = STRATEGIES.create("branch-and-bound", {}).enumerate(
        CoverageProblem.of(instance), optsum.Limits(nodes=300_000)
    )
    assert (found.complete, found.value) == (True, best)
    assert found.count == sum(number for (gained, _), number in counts.items() if gained.bit_count() == best) > 10**8
