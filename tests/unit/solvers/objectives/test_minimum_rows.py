"""Compare searches with minimum lengths as rows with brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from optsum.solvers.branch_and_bound import BranchAndBound
from optsum.solvers.engine import core
from optsum.solvers.engine.core import with_minimum_row

import optsum
from optsum.contracts.result import Status
from optsum.coverage.instance import NO_LIMIT, Coverage, Sense
from optsum.optima.optima import Nearness
from optsum.problem.problem import CoverageProblem
from optsum.system.clock import Limits
from optsum.testing import random_coverage, selections


def windowed(kind: str, seed: int, units: int = 6) -> Coverage:
    rng = np.random.default_rng(seed)
    instance = random_coverage(rng, kind=kind, units=units)
    if instance.goal is Sense.MINIMIZE:  # covers have no limits
        return instance
    most = min(instance.max_length, int(instance.lengths.sum()) + 1)
    return replace(instance, min_length=int(rng.integers(min(1, most), most + 1)))


@pytest.mark.parametrize("kind", ["window", "f1", "sum", "compressive"])
def test_near_optimal_selections_keep_the_minimum(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_CELLS", 0)
    sought = 0
    for seed in range(25):
        problem = CoverageProblem.of(windowed(kind, seed, units=5))
        every = [(each, problem.evaluate(each)) for each in selections(problem.size)]
        keys = [found.key for _, found in every if found.feasible]
        if not keys or max(keys) <= 0:
            continue
        sought += 1
        found = BranchAndBound().near(problem, Nearness(values=2), Limits())
        least = sorted(set(keys), reverse=True)[:2][-1]
        assert set(found) == {each for each, here in every if here.feasible and here.key >= least}, seed
    assert sought > 10


def test_rows_replace_a_minimum_only_if_tables_are_too_large() -> None:
    fine = Coverage.of(
        [10**5, 10**5 + 1, 30], [{0: 1}, {1: 1}, {2: 1}], [[1]] * 3, min_length=10**5, max_length=3 * 10**5
    )
    assert with_minimum_row(fine) is fine
    lengths = [400 + unit for unit in range(200)]
    many = Coverage.of(lengths, [{unit: 1} for unit in range(200)], [[1]] * 200, min_length=90_000, max_length=90_001)
    assert many.goal is Sense.MAXIMIZE
    row = with_minimum_row(many)
    assert (row.min_length, [one.low for one in row.rows], row.rows[0].coefficients) == (0, [90_000], tuple(lengths))
    beyond = replace(many, lengths=many.lengths * 2, min_length=180_000 - 1, max_length=NO_LIMIT)
    assert with_minimum_row(beyond).rows, "a common divisor keeps the row short"
    uneven = replace(beyond, lengths=beyond.lengths + np.arange(200) % 2)
    assert with_minimum_row(uneven) is uneven, "no engine holds a row that counts so far"


def test_a_window_that_was_refused_is_proven_and_enumerated() -> None:
    """Test 1,200 sentences and 20,000 characters: more cells than a table may have."""
    rng = np.random.default_rng(4)
    lengths = rng.integers(20, 120, 1200).tolist()
    occurrences = [{int(f): 1 for f in rng.integers(0, 60, 3)} for _ in lengths]
    instance = Coverage.of(lengths, occurrences, [[1]] * 60, constants=(0, 60), min_length=20_000, max_length=20_001)
    result = optsum.search(CoverageProblem.of(instance), "branch-and-bound")
    assert result.status is Status.OPTIMAL
    assert result.selection is not None
    assert 20_000 <= sum(lengths[unit] for unit in result.selection) <= 20_001
    assert result.key == 1
