"""Test comparisons over several seeds: the number of runs, and the reported spread."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import optsum
from optsum.errors import OptionError
from optsum.options.options import schema
from optsum.report.comparison import plan_of

TOPICS: list[dict[str, Any]] = [
    {
        "id": f"t{number}",
        "documents": [[f"{a} {b} w{a}{b}" for a in "abcdef" for b in "abcdef" if a < b]],
        "references": [["a b c d e f"]],
    }
    for number in range(3)
]


def test_exact_strategies_run_once_and_heuristics_with_each_seed() -> None:
    plan = plan_of(["random", "greedy", "branch-and-bound"], "exhaustive", seeds="3:6", max_length=6)
    assert plan.strategies == ["exhaustive", "random", "greedy", "branch-and-bound"]
    assert plan.names == ["exhaustive", *["random"] * 3, *["greedy"] * 3, "branch-and-bound"]
    assert [way.seed for way in plan.variants] == [0, 3, 4, 5, 3, 4, 5, 0]
    assert len({way.config_hash for way in plan.variants}) == len(plan.variants)


def test_the_spread_is_that_of_single_runs() -> None:
    table = optsum.compare(TOPICS, ["random"], "exhaustive", seeds=range(4), max_length=6)
    alone = [list(optsum.solve_all(TOPICS, strategy="random", seed=seed, max_length=6)) for seed in range(4)]
    means = [fmean(one.objective or 0 for one in run) for run in alone]
    exact, row = table.rows
    assert row.mean_objective == pytest.approx(fmean(means))
    assert row.std_over_seeds == pytest.approx(stdev(means))
    assert row.std_over_seeds
    assert (row.seeds, row.problems, row.solved, row.optima) == (4, 12, 12, 12)
    assert (exact.seeds, exact.problems, exact.optima, exact.std_over_seeds) == (1, 3, 3, None)
    assert "± seeds" in str(table)
    assert "4 seeds" in str(table)
    (pair,) = table.details.pairs()
    assert pair.wins + pair.ties == 3  # problems, not runs
    assert len(table.details.ratios_of["random"]) == 12


def test_one_seed_has_no_spread() -> None:
    table = optsum.compare(TOPICS, ["random"], "exhaustive", seeds="7", max_length=6)
    assert "seeds" not in str(table)
    assert {result.seed for result in table.results if result.strategy == "random"} == {
        result.seed for result in optsum.solve_all(TOPICS, strategy="random", seed=7, max_length=6)
    }


@pytest.mark.parametrize("given", ["", "3:3", "a", "1,,2", "-1", [1.5], [True], 7, "1:2:3", [], b"ab"])
def test_invalid_seeds_are_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="give them as 0:10, or as 1,2,3"):
        plan_of(["random"], seeds=given, max_length=6)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"seeds": "1,1"}, "seed 1 is given twice"),
        ({"seeds": "0:99999999999"}, "more than 10,000 seeds"),
        ({"seeds": "0:2", "seed": 3}, "leave out one of the two"),
        ({"exact_time_limit": 3, "exact": "none"}, "name it by exact"),
        ({"exact_time_limit": -1}, "a number of at least 0"),
    ],
)
def test_contradictory_options_are_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(OptionError, match=reason):
        plan_of(["random"], **{"max_length": 6, **given})


def test_the_exact_strategy_has_a_limit_of_its_own(tmp_path: Path) -> None:
    plan = plan_of(["greedy"], "exhaustive", exact_time_limit=60, time_limit=1, max_length=6)
    assert [way.time_limit for way in plan.variants] == [60, 1]
    file = tmp_path / "options.toml"
    file.write_text('seeds = "0:3"\nexact-time-limit = 9.0\nmax-length = 6')
    plan = plan_of(["greedy"], config=file)
    assert [(way.seed, way.time_limit) for way in plan.variants] == [(0, 9.0), (0, None), (1, None), (2, None)]
    assert [way.seed for way in plan_of(["greedy"], config=file, seed=5).variants] == [5, 5]


def test_seeds_and_limits_are_in_the_schema_of_a_file() -> None:
    assert {"seeds", "exact-time-limit"} <= schema()["properties"].keys()
