"""Test variable neighbourhood search."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from held_against import check_against_greedy, check_against_the_optimum
from optsum.heuristics.local_search import _EASY

from optsum.contracts.result import Result, Status
from optsum.coverage.instance import Coverage, Sense
from optsum.problem.problem import CoverageProblem, Evaluation, Problem, Selection
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import KINDS, OwnMetric, brute_force, check_strategy, random_coverage

BOTH = ["vns", "vns+greedy"]


def essence(result: Result) -> tuple[Any, ...]:
    return result.selection, result.objective_exact, result.evaluations, result.statistics.get("iterations")


@pytest.mark.parametrize("strategy", BOTH)
def test_the_search_keeps_the_contract_of_strategies(strategy: str) -> None:
    check_strategy(strategy, instances=1, no_improvement=10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_on_tiny_instances_the_optimum_is_reached_and_never_passed(kind: str) -> None:
    """Include the kind "huge", which has no kernels."""
    check_against_the_optimum(
        kind, lambda problem, seed: search(problem, "vns", seed=seed, no_improvement=10), seeds=40
    )


def larger(seed: int, kind: str = "recall") -> CoverageProblem:
    return CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=40))


@pytest.mark.parametrize("kind", ["recall", "f1", "compressive", "cover", "joined"])
def test_from_greedy_is_never_worse_than_greedy(kind: str) -> None:
    check_against_greedy(kind, 30, lambda problem, _: search(problem, "vns+greedy", no_improvement=20))


def test_more_patience_continues_the_same_search() -> None:
    """Check that the same seed takes the same way, however long it is followed."""
    for seed in range(10):
        problem = larger(seed, "f1")
        short, long = (search(problem, "vns", seed=3, no_improvement=number) for number in (2, 60))
        assert short.key is not None
        assert long.key is not None
        assert short.key <= long.key
        assert [point.objective for point in short.trace] == [
            point.objective for point in long.trace[: len(short.trace)]
        ]


def test_time_slices_of_kernels_do_not_change_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = larger(4, "joined")
    expected = essence(search(problem, "vns", seed=5, no_improvement=30))
    for seconds in (0.0, 1e-5, 1.0):  # slices as short as possible, in between, as long as possible
        monkeypatch.setattr("optsum.system.clock._SLICE_S", seconds)
        assert essence(search(problem, "vns", seed=5, no_improvement=30)) == expected


@pytest.mark.parametrize(
    ("strategy", "options"), [("vns", {"no_improvement": 15}), ("greedy+ls", {"most_moves": 10**6})]
)
def test_a_stated_local_optimum_has_no_better_neighbour(strategy: str, options: dict[str, int]) -> None:
    """Check that no addition, removal, exchange, or exchange of two units for one improves it."""
    told = 0
    for seed in range(14):
        rng = np.random.default_rng(seed)
        units = [dict.fromkeys(rng.choice(60, 6, replace=False).tolist(), 1) for _ in range(40)]
        levels = [[weight] for weight in rng.integers(1, 99, 60).tolist()]
        instance = Coverage.of(rng.integers(3, 9, 40).tolist(), units, levels, constants=(0, 9999), max_length=30)
        problem = CoverageProblem.of(instance)
        result = search(problem, strategy, seed=seed, **options)
        if not result.statistics.get("local_optimum"):
            assert (strategy, result.gap) == ("vns", 0), seed  # otherwise the search ends by itself
            continue
        told += 1
        assert result.key is not None
        held, others = set(result.selection or ()), set(range(problem.size)) - set(result.selection or ())
        for count in range(3):
            for away in combinations(sorted(held), count):
                for new in [set(), *({unit} for unit in others)]:
                    near = problem.evaluate(tuple(sorted(held - set(away) | new)))
                    assert near.violation > 0 or near.key <= result.key, (seed, away, new)
    assert told >= 8, told


def test_seeds_differ() -> None:
    problem = larger(4, "f1")
    assert len({search(problem, "vns", seed=seed, no_improvement=5).evaluations for seed in range(6)}) > 1


def test_a_certified_optimum_ends_the_search() -> None:
    """Test units that all fit, so that the bound is reached at once."""
    problem = CoverageProblem.of(
        Coverage.of([1] * 9, [{unit: 1} for unit in range(9)], [[1]] * 9, constants=(0, 9), max_length=9)
    )
    result = search(problem, "vns")
    assert (result.objective, result.gap, result.status) == (1.0, 0.0, Status.FEASIBLE)
    assert result.statistics["iterations"] == 1 + _EASY


def test_an_evaluation_limit_is_kept_closely() -> None:
    problem = larger(5, "f1")
    result = search(problem, "vns", Limits(evaluations=2000))
    assert result.termination is Termination.EVALUATION_LIMIT
    assert 2000 <= result.evaluations < 2000 + 10 * problem.size**2


def test_a_short_time_limit_is_kept() -> None:
    """Test this with ample time, because a slice of milliseconds may take many times that on a machine under load."""
    result = search(larger(6, "f1"), "vns", Limits(time_s=0.1), no_improvement=10**9)
    assert result.termination is Termination.TIME_LIMIT
    assert result.seconds < 1.5


def test_a_target_ends_the_search() -> None:
    problem = larger(7)
    best = search(problem, "vns").objective
    assert best is not None
    result = search(problem, "vns", Limits(target=best))
    assert result.termination in {Termination.TARGET_REACHED, Termination.COMPLETED}
    assert result.objective == best


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(Problem):
    """A user-defined problem in which only certain pairs have a value; it records the selections it evaluates."""

    asked: list[Selection] = field(default_factory=list)

    def evaluate(self, selection: Selection) -> Evaluation:
        self.asked.append(selection)
        pairs = sum((one * other) % 5 == 3 for one in selection for other in selection if one < other)
        key = Fraction(pairs, 1 + len(selection))
        return Evaluation(key, self.excess(selection), float(key))


@pytest.mark.parametrize("strategy", BOTH)
def test_a_metric_of_ones_own(strategy: str) -> None:
    for most in (3, 5, 8):
        problem = Pairs(lengths=tuple(1 + unit % 3 for unit in range(11)), max_length=most, min_length=2)
        result = search(problem, strategy)
        asked = len(problem.asked)
        assert result.key == brute_force(problem).best
        assert result.bound is None
        assert asked <= 1500, "each selection is asked for once"


def test_without_kernels_nothing_is_asked_twice() -> None:
    problem = Pairs(lengths=(1,) * 9, max_length=4)
    result = search(problem, "vns")
    seen = problem.asked
    assert len(set(seen)) > 50
    # except the empty selection and the start; repair evaluates for itself
    assert result.evaluations <= len(set(seen)) + 2


def test_a_window_is_kept_on_plain_problems() -> None:
    words = [["a"], ["b", "c"], ["c", "d"], ["a", "d", "e"], ["bad"], ["f"]]
    problem = OwnMetric(lengths=(1, 2, 2, 3, 1, 1), min_length=5, max_length=6, words=words)
    assert search(problem, "vns").key == brute_force(problem).best


@pytest.mark.parametrize("strategy", [*BOTH, "genetic", "genetic+greedy"])
def test_a_cover_that_limits_rule_out_ends(strategy: str) -> None:
    """Test clauses whose alternatives break a row or the length, which could be added and dropped forever."""
    ended = 0
    for seed in range(40):
        instance = random_coverage(np.random.default_rng(seed), kind="sided")
        if instance.goal is Sense.MINIMIZE:
            problem = CoverageProblem.of(instance)
            result = search(problem, strategy, seed=seed, limits=Limits(evaluations=2_000))
            assert (result.key is None) or brute_force(problem).best is not None
            ended += 1
    assert ended >= 3
