"""Test `Problem` and `CoverageProblem`: capabilities, repair, moves, sampling."""

from __future__ import annotations

import numpy as np
import pytest

from optsum.coverage.instance import Coverage, Sense
from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.problem.problem import Capability, CoverageProblem, Evaluation, require
from optsum.running.search import search
from optsum.testing import KINDS, OwnMetric, brute_force, check_problem, random_coverage

WORDS = [["a", "b"], ["b", "bad"], ["c"], ["bad"], ["a", "c", "d"]]


def own(**others: object) -> OwnMetric:
    return OwnMetric(**{"lengths": (2, 2, 1, 1, 3), "max_length": 5, "words": WORDS, **others})  # type: ignore[arg-type]


def test_a_metric_of_one_s_own_needs_evaluate_alone() -> None:
    problem = own()
    assert problem.capabilities == frozenset()
    assert (problem.size, problem.sense) == (5, Sense.MAXIMIZE)
    assert problem.length((0, 4)) == 5
    assert [problem.excess(selection) for selection in ((), (0, 4), (0, 1, 4))] == [0, 0, 2]
    assert list(problem.moves((1,))) == [(0,), (1,), (2,), (3,), (4,)]
    check_problem(problem, name="own")
    check_problem(own(min_length=5), name="own with a window")
    check_problem(own(min_length=4, max_length=4, sense=Sense.MINIMIZE), name="own, minimized")


@pytest.mark.parametrize("strategy", ["exhaustive", "greedy", "lead", "random"])
def test_a_metric_of_one_s_own_is_searched(strategy: str) -> None:
    problem = own()
    result = search(problem, strategy)
    assert (result.bound is None) == (strategy != "exhaustive")
    assert result.objective == {"exhaustive": 4.0, "greedy": 4.0, "lead": 3.0}.get(strategy, result.objective)
    if strategy == "exhaustive":
        truth = brute_force(problem)
        assert truth.optima == [(0, 4), (1, 4)]
        assert result.selection in truth.optima
        assert result.statistics["best_selections"] == 2
        assert result.statistics["feasible"] == truth.feasible - 1, "the empty selection is not counted"


def test_milp_refuses_a_metric_of_one_s_own_with_a_sentence() -> None:
    class Silent(OwnMetric):
        def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
            raise AssertionError("searched")

    with pytest.raises(
        UnsupportedError, match=r"strategy milp cannot search this problem: .* only evaluates selections"
    ):
        search(Silent(lengths=(1,), words=[["a"]]), "milp")


def test_lengths_whose_sum_means_no_limit_are_refused() -> None:
    longest = {"lengths": (2**39, 2**39 - 1)}  # less than 2^40 by one
    for limit in (2**40 - 1, 2**40, 10**13):  # none of them limits anything
        assert search(OwnMetric(**longest, max_length=limit, words=WORDS[1:3]), "exhaustive").selection == (0, 1)
    for lengths in ((2**39, 2**39), (10**12,) * 3, (2**62, 2**62)):
        with pytest.raises(InputError, match="divide all lengths"):
            OwnMetric(lengths=lengths, max_length=10**14, words=WORDS)


def test_abilities_that_are_missing_are_named() -> None:
    for ability in ("coverage", "linear_model"):
        with pytest.raises(UnsupportedError, match="OwnMetric does not have"):
            getattr(own(), ability)
    with pytest.raises(UnsupportedError, match="OwnMetric does not have a bound"):
        own().root_bound()
    with pytest.raises(UnsupportedError, match="It needs a problem with a bound and a normal form"):
        require(own(), frozenset({Capability.COVERAGE, Capability.BOUND}), "It")
    require(own(), frozenset(), "It")


def test_capabilities_follow_the_instance() -> None:
    found: dict[str, set[frozenset[Capability]]] = {}
    for kind in KINDS:
        made = (random_coverage(np.random.default_rng(seed), kind=kind) for seed in range(40))
        found[kind] = {CoverageProblem.of(one).capabilities for one in made if one.size}
    linear = frozenset({Capability.COVERAGE, Capability.LINEAR, Capability.BOUND})
    assert found["recall"] == found["window"] == {linear | {Capability.COMBINATORIAL_BOUND}}
    assert found["cover"] == {linear}
    assert found["precision"] == found["set"] == {frozenset({Capability.COVERAGE, Capability.RATIO, Capability.BOUND})}
    assert linear in found["compressive"]
    assert frozenset({Capability.COVERAGE, Capability.BOUND}) in found["sum"] & found["product"]


def test_the_sense_follows_the_goal() -> None:
    assert CoverageProblem.of(Coverage.of([1], [{}], [])).sense is Sense.MAXIMIZE
    assert CoverageProblem.of(Coverage.of([1], [{}], [], goal=Sense.MINIMIZE)).sense is Sense.MINIMIZE
    assert Sense.MAXIMIZE.better(2, 1)
    assert not Sense.MAXIMIZE.better(1, 1)
    assert Sense.MINIMIZE.better(1, 2)
    assert not Sense.MINIMIZE.better(1, 1)


def test_default_repair_drops_until_it_fits_and_fills_to_the_minimum() -> None:
    rng = np.random.default_rng(0)
    problem = own(min_length=4)
    for _ in range(50):
        selection = tuple(np.flatnonzero(rng.random(5) < 0.5).tolist())
        repaired = problem.repair(selection, rng)
        assert 4 <= problem.length(repaired) <= 5
        assert set(repaired) <= set(selection) or set(selection) <= set(repaired) or problem.excess(selection)
    assert own(min_length=0).repair((0, 1), rng) == (0, 1) or own().length((0, 1)) > 5
    impossible = OwnMetric(lengths=(4, 4), min_length=5, max_length=7, words=[["a"], ["b"]])
    assert impossible.repair((0, 1), rng) == (0, 1)


def test_repair_restores_parents() -> None:
    forest = Coverage.of([1] * 4, [{}] * 4, [], parents=[-1, 0, 1, -1], max_length=3)
    problem = CoverageProblem.of(forest)
    rng = np.random.default_rng(0)
    assert problem.repair((2,), rng) == (0, 1, 2)
    for _ in range(20):
        assert problem.evaluate(problem.repair((1, 2, 3), rng)).feasible


def test_closed_moves_by_hand() -> None:
    forest = CoverageProblem.of(Coverage.of([1] * 4, [{}] * 4, [], parents=[-1, 0, 1, -1]))
    assert list(forest.moves(())) == [(0,), (0, 1), (0, 1, 2), (3,)]
    assert list(forest.moves((0, 1))) == [(0, 1), (1,), (2,), (3,)]


def test_repair_completes_covers() -> None:
    rng = np.random.default_rng(3)
    for seed in range(60):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="cover"))
        possible = brute_force(problem).best is not None
        assert problem.evaluate(problem.repair((), rng)).feasible == possible


def test_impossible_enumerations_are_refused() -> None:
    with pytest.raises(OptionError, match="21 units are too many"):
        brute_force(CoverageProblem.of(Coverage.of([1] * 21, [{}] * 21, [])))


def test_large_problems_are_sampled() -> None:
    instance = random_coverage(np.random.default_rng(1), kind="recall", units=60)
    check_problem(CoverageProblem.of(instance), name="sixty units")


def test_whether_a_problem_can_do_something_is_what_it_declares() -> None:
    class Modest(CoverageProblem):
        @property
        def capabilities(self) -> frozenset[Capability]:  # type: ignore[override]
            return frozenset({Capability.LINEAR})

    rng = np.random.default_rng(3)
    drawn = [random_coverage(rng, kind=kind) for kind in KINDS]
    problems = [own(), *map(CoverageProblem.of, drawn), *map(Modest.of, drawn)]
    for problem in problems:
        assert {capability for capability in Capability if problem.can(capability)} == problem.capabilities
    with pytest.raises(UnsupportedError, match="normal form"):
        require(Modest.of(drawn[0]), frozenset({Capability.COVERAGE}), "it")
