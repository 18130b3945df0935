"""Compare the optima of the problems in examples/problems with values found by other means."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsum

HOME = Path(__file__).resolve().parent.parent / "examples/problems"
if not HOME.is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)
sys.path.insert(0, str(HOME))
classic: Any = pytest.importorskip("classic")
known: Any = pytest.importorskip("known")
sys.path.remove(str(HOME))
ALL = {make.__name__: make for make in (*classic.MAXIMIZED, *classic.MINIMIZED)}
SMALLER = {"facility_location": {"sites": 14}}
"""Of those in which trying everything takes long."""


@pytest.mark.parametrize("name", ALL)
def test_the_optimum_is_the_known_one(name: str) -> None:
    problem = ALL[name](**SMALLER.get(name, {}))
    result = optsum.solve(problem)
    assert result.status is optsum.Status.OPTIMAL
    assert result.id == name.replace("_", "-")
    assert result.objective == known.optimum(problem)


def test_there_are_twenty_problems_and_two_are_compared() -> None:
    assert len(ALL) >= 20
    problems = [classic.knapsack(), classic.quadratic_knapsack()]
    table = optsum.compare(problems, ["greedy", "vns"])
    assert not table.contradictions
    assert table.rows[0].reached == 2
    assert all(row.mean_ratio is not None and 0 < row.mean_ratio <= 1 for row in table.rows)


@pytest.mark.parametrize("strategy", ["greedy", "greedy+ls", "vns", "genetic", "lead", "random"])
@pytest.mark.parametrize("name", ["bin_packing", "graph_colouring"])
def test_heuristics_reach_the_optimum_where_few_selections_are_feasible(name: str, strategy: str) -> None:
    """Test heuristics on problems with few feasible selections and no measure of infeasibility."""
    problem = ALL[name]()
    found = optsum.search(problem, strategy)
    assert found.status is optsum.Status.FEASIBLE
    assert found.objective >= known.optimum(problem)  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(20))
def test_a_facility_serves_each_client_by_its_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clients, sites = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    values, weights = rng.integers(0, 9, (clients, sites)), rng.integers(1, 4, clients)
    k = int(rng.integers(0, sites + 1))
    best = max(
        sum(
            int(weight * max((row[site] for site in range(sites) if chosen[site]), default=0))
            for row, weight in zip(values, weights, strict=True)
        )
        for chosen in product([0, 1], repeat=sites)
        if sum(chosen) <= k
    )
    instance = optsum.Coverage.facility(values.tolist(), k, weights=weights.tolist())
    for strategy in ("auto", "milp", "branch-and-bound", "exhaustive"):
        assert optsum.solve(optsum.CoverageProblem.of(instance), strategy=strategy).objective == best
    assert optsum.solve(optsum.CoverageProblem.of(instance), strategy="greedy").objective <= best  # type: ignore[operator]
    unweighted = optsum.Coverage.facility(values, k)
    assert optsum.solve(optsum.CoverageProblem.of(unweighted)).objective <= best  # type: ignore[operator]


@pytest.mark.parametrize(
    ("values", "more"),
    [
        ([[1.5]], {}),
        ([[-1]], {}),
        ([[1], [2, 3]], {}),
        ([1, 2], {}),
        ([[True]], {}),
        ([[1]], {"weights": [0]}),
        ([[1]], {"weights": [1, 1]}),
        ([[float("nan")]], {}),
    ],
)
def test_impossible_facilities_are_refused(values: Any, more: Any) -> None:
    with pytest.raises(optsum.OptsumError):
        optsum.Coverage.facility(values, 1, **more)
