"""Test the genetic search."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from held_against import check_against_greedy, check_against_the_optimum
from optsum.heuristics.genetic import Genetic

import optsum
from optsum.contracts.result import Result
from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import KINDS, OwnMetric, brute_force, check_strategy, random_coverage


def essence(result: Result) -> tuple[Any, ...]:
    return result.selection, result.objective_exact, result.evaluations, result.statistics.get("generations")


@pytest.mark.parametrize("strategy", ["genetic", "genetic+greedy"])
def test_the_search_keeps_the_contract_of_strategies(strategy: str) -> None:
    check_strategy(strategy, instances=1, population=6, no_improvement=4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_on_tiny_instances_the_optimum_is_reached_and_never_passed(kind: str) -> None:
    population, patience = (10, 3) if kind != "huge" else (16, 5)  # the huge kind has no kernels, hence no local search
    own = {"population": population, "no_improvement": patience}
    check_against_the_optimum(kind, lambda problem, seed: search(problem, "genetic", seed=seed, **own), seeds=60)


@pytest.mark.parametrize("kind", ["recall", "f1", "compressive", "cover", "joined"])
def test_from_greedy_is_never_worse_than_greedy(kind: str) -> None:
    own = {"population": 20, "no_improvement": 5}
    check_against_greedy(kind, 30, lambda problem, _: search(problem, "genetic+greedy", **own))


def hard() -> CoverageProblem:
    return CoverageProblem.of(random_coverage(np.random.default_rng(4), kind="f1", units=40))


def test_the_state_of_the_module_random_is_left_alone() -> None:
    """Test this because DEAP uses `random`: its state is restored, and use by others does not change the search."""
    random.seed(12)
    state = random.getstate()
    first = search(hard(), "genetic", seed=1)
    assert random.getstate() == state
    random.seed(99)
    # The callback draws numbers in the middle of the search.
    second = search(hard(), "genetic", seed=1, on_progress=lambda _: random.random() > 2 or None)  # noqa: S311
    assert essence(first) == essence(second)
    assert first.statistics["generations"] > 0


def test_its_state_comes_back_even_when_something_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    from deap import algorithms

    def broken(*_: Any) -> None:
        random.random()  # noqa: S311
        raise RuntimeError("broken")

    monkeypatch.setattr(algorithms, "varAnd", broken)
    state = random.getstate()
    with pytest.raises(RuntimeError, match="broken"):
        search(hard(), "genetic")
    assert random.getstate() == state


def test_no_two_individuals_are_the_same_and_the_best_survive(monkeypatch: pytest.MonkeyPatch) -> None:
    from deap import tools

    halls: list[list[tuple[tuple[int, ...], Any]]] = []

    class Noting(tools.HallOfFame):  # type: ignore[misc]
        def update(self, population: list[Any]) -> None:
            super().update(population)
            best = max(each.fitness for each in population)
            assert self[0].fitness >= best
            halls.append([(tuple(each), each.fitness.wvalues) for each in self])

    monkeypatch.setattr(tools, "HallOfFame", Noting)
    result = search(hard(), "genetic", population=10)
    assert len(halls) > 5
    for hall in halls:
        assert len({bits for bits, _ in hall}) == len(hall) <= 10
    tops = [hall[0][1] for hall in halls]
    assert tops == sorted(tops), "the best never gets lost"
    assert all(isinstance(value, int | Fraction) for top in tops for value in top), "compared exactly"
    assert tops[-1][1] == result.key


def test_covers_with_many_alternatives_are_filled_sentence_by_sentence() -> None:
    """Test this with 40 alternatives of two sentences for each clause, too many for moves of their own."""
    dice = np.random.default_rng(3)
    for _ in range(3):
        sets = [[tuple(map(int, dice.choice(30, 2, replace=False))) for _ in range(40)] for _ in range(8)]
        topic = optsum.as_topic({"id": "t", "cover": sets})
        best = optsum.solve(topic, formulation="cover")
        found = optsum.solve(topic, formulation="cover", strategy="genetic")
        assert found.objective == best.objective


def test_a_random_cover_is_that_of_adding_one_unit_after_the_other() -> None:
    for seed in range(40):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="cover", units=9))
        given = (seed % problem.size,)
        chosen: tuple[int, ...] = problem.instance.closure(given)
        for unit in np.random.default_rng(seed).permutation(problem.size).tolist():
            if problem.evaluate(chosen).feasible:
                break
            chosen = tuple(sorted(problem.instance.closure((*chosen, unit))))
        wanted = chosen if problem.evaluate(chosen).feasible else given
        assert problem.repair(given, np.random.default_rng(seed)) == wanted


def test_the_kernel_values_individuals_correctly() -> None:
    """Check that the values that the kernel returns for individuals are those of their bits."""
    for kind in ("recall", "compressive", "cover", "joined", "window"):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(7), kind=kind, units=12))
        run = Run(problem, Limits(), np.random.default_rng(0))
        improve = Genetic()._by_kernels(run)
        assert improve is not None
        rows = np.random.default_rng(1).integers(0, 2, (20, problem.size))
        for bits, (violated, value, length) in zip(rows, improve(rows), strict=True):
            selection = tuple(bits.nonzero()[0].tolist())
            evaluation = problem.evaluate(selection)
            scale = int(problem.instance.constants[1]) if problem.instance.constant_denominator else 1
            wanted = -evaluation.key if kind == "cover" else Fraction(evaluation.key) * scale
            assert (violated, value, length) == (-evaluation.violation, wanted, -problem.length(selection))
        assert run.evaluations > 0


def test_limits_and_patience() -> None:
    problem = hard()
    limited = search(problem, "genetic", Limits(evaluations=3000))
    assert limited.termination is Termination.EVALUATION_LIMIT
    generations = [search(problem, "genetic", no_improvement=number).statistics["generations"] for number in (1, 5, 25)]
    assert generations == sorted(set(generations))


def test_many_short_generations_are_run() -> None:
    """Test this because slices grow while they are done quickly, but not beyond the numbers of a kernel."""
    problem = CoverageProblem.of(random_coverage(np.random.default_rng(4), kind="f1", units=40))
    result = search(problem, "genetic", population=2, no_improvement=80, effort=0)
    assert result.statistics["generations"] >= 80


def test_local_search_can_be_left_out() -> None:
    problem = hard()
    plain, memetic = search(problem, "genetic"), search(problem, "genetic", effort=2000)
    assert plain.key is not None
    assert memetic.key is not None
    assert plain.evaluations / plain.statistics["generations"] < (
        memetic.evaluations / memetic.statistics["generations"]
    )


def test_a_metric_of_ones_own() -> None:
    words = [["a"], ["b", "c"], ["c", "d"], ["a", "d", "e"], ["bad"], ["f"], ["g", "h"]]
    for most in range(1, 9):
        problem = OwnMetric(lengths=(1, 2, 2, 3, 1, 1, 2), max_length=most, words=words)
        result = search(problem, "genetic", population=12, no_improvement=10)
        assert result.key == brute_force(problem).best
        assert result.bound is None


def test_a_certified_optimum_ends_the_search() -> None:
    everything = Coverage.of([1] * 4, [{unit: 1} for unit in range(4)], [[1]] * 4, constants=(0, 4), max_length=4)
    result = search(CoverageProblem.of(everything), "genetic")
    assert (result.objective, result.statistics.get("generations", 0)) == (1.0, 0)
