"""Check strategies and searches against brute force, and heuristics against greedy search as well."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from optsum.contracts.result import Result, Status
from optsum.coverage.instance import Combination, Coverage, Key
from optsum.errors import UnsupportedError
from optsum.optima.optima import Optima
from optsum.problem.problem import CoverageProblem, Problem
from optsum.registry import STRATEGIES
from optsum.running.search import search
from optsum.system.clock import Limits
from optsum.testing import Enumeration, brute_force, random_coverage

Searched: TypeAlias = Callable[[CoverageProblem, int], Result]
"""The result of a strategy on a problem, with a seed."""


def check_strategy_on(
    problem: Problem, name: str, truth: Enumeration | None = None, *, listed: bool = False, **options: Any
) -> bool:
    """Compare a strategy's optimum, and all optima if `listed`, with brute force; return whether it serves the task."""
    strategy = STRATEGIES.create(name, options)
    try:
        strategy.accept(problem)
    except UnsupportedError:
        return False
    truth = truth or brute_force(problem)
    result = search(problem, strategy)
    assert (result.key, result.bound_key) == (truth.best, truth.best)
    assert result.status is (Status.INFEASIBLE if truth.best is None else Status.OPTIMAL)
    assert result.selection is None or result.selection in truth.optima
    if name == "exhaustive":  # it does not count the empty selection
        counted = sum(map(bool, truth.optima)), truth.feasible - problem.evaluate(()).feasible
        assert (result.statistics["best_selections"], result.statistics["feasible"]) == counted
    if listed:
        optima = strategy.enumerate(problem, Limits())
        assert optima.complete
        assert (set(optima), optima.count) == (set(truth.optima), len(truth.optima))
    return True


def check_bound(problem: Problem, truth: Enumeration) -> bool:
    """Check that no selection exceeds the root bound; return whether there is an optimum and a bound."""
    bound = problem.root_bound()
    if truth.best is None or bound is None:
        return False
    assert not problem.sense.better(truth.best, bound)
    return True


def check_search(
    solve: Callable[..., Optima],
    instance: Coverage,
    truth: Enumeration | None = None,
    **options: Any,
) -> Optima:
    """Compare one optimum and all optima of a search inside branch and bound with brute force; return all optima."""
    truth = truth or brute_force(CoverageProblem.of(instance))
    every, one = (solve(instance, every=every, **options) for every in (True, False))
    assert every.complete
    assert one.proven
    assert (set(every), every.count) == (set(truth.optima), len(truth.optima))
    assert one.count == (truth.best is not None)
    if truth.best is not None:
        assert {every.value, every.bound, one.value, one.bound} == {truth.best}
        assert next(iter(one)) in truth.optima
    return every


def over_primes(seed: int) -> Coverage:
    """Return a mean of recalls whose denominators are distinct primes: their product exceeds 64 bits."""
    rng = np.random.default_rng(seed)
    bottoms = rng.permutation([997, 1009, 1013, 1019, 1021, 1031, 1033, 1039])
    return Coverage.of(
        rng.integers(1, 5, 8).tolist(),
        [{int(f): int(rng.integers(1, 3)) for f in rng.permutation(16)[:4]} for _ in range(8)],
        [[1] * int(rng.integers(1, 4)) for _ in range(16)],
        slots=[2 * (feature % 8) for feature in range(16)],
        constants=[int(part) for bottom in bottoms for part in (0, bottom)],
        weights=(1,) * 8,
        combination=Combination.SUM,
        max_length=int(rng.integers(6, 14)),
    )


@cache
def _best(kind: str, seed: int) -> Key | None:
    return brute_force(CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))).best


def check_against_the_optimum(kind: str, searched: Searched, seeds: int = 100) -> None:
    """Check that a heuristic reaches nearly all optima of tiny instances, and never exceeds one."""
    reached = compared = 0
    for seed in range(seeds if kind != "huge" else 20):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        if kind in {"sum", "product", "set"}:  # these bounds take longer than the search, and are tested elsewhere
            problem.__dict__["root_bound"] = lambda _: Fraction(10**6)
        best, result = _best(kind, seed), searched(problem, seed)
        assert result.status in {Status.FEASIBLE, Status.NO_SOLUTION}
        if best is None:
            assert result.selection is None
            continue
        compared += 1
        if result.key is not None:
            assert not problem.sense.better(result.key, best), (kind, seed)
            reached += result.key == best
    assert reached >= 0.97 * compared, f"{reached} of {compared}"
    assert compared >= 10


def check_against_greedy(kind: str, seeds: int, searched: Searched) -> None:
    """Check that a heuristic that starts from greedy search is never worse than it, and sometimes better."""
    better = 0
    for seed in range(seeds):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=12))
        greedy, result = search(problem, "greedy"), searched(problem, seed)
        if greedy.key is not None and result.key is not None:
            assert not problem.sense.better(greedy.key, result.key), seed
            better += problem.sense.better(result.key, greedy.key)
    assert better > 0
