"""A strategy that proves nothing, held on small random instances against the optimum and against greedy search."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from optsum.contracts.result import Result, Status
from optsum.problem.coverage_problem import CoverageProblem
from optsum.running.search import search
from optsum.testing import brute_force, random_coverage

Searched: TypeAlias = Callable[[CoverageProblem, int], Result]
"""The result of a strategy on a problem, with a seed."""


def check_against_the_optimum(kind: str, searched: Searched) -> None:
    """Let a strategy search tiny instances: it reaches nearly all optima, and never passes one."""
    reached = compared = 0
    for seed in range(100 if kind != "huge" else 20):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        if kind in {"sum", "product", "set"}:  # their bounds take longer than the search, and are tested elsewhere
            problem.__dict__["root_bound"] = lambda _: Fraction(10**6)
        best, result = brute_force(problem).best, searched(problem, seed)
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
    """Let a strategy that starts from greedy search go on from there: it is never worse, and better now and then."""
    better = 0
    for seed in range(seeds):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=12))
        greedy, result = search(problem, "greedy"), searched(problem, seed)
        if greedy.key is not None and result.key is not None:
            assert not problem.sense.better(greedy.key, result.key), seed
            better += problem.sense.better(result.key, greedy.key)
    assert better > 0
