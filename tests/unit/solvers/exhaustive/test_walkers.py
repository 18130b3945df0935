"""Compare the quick walk over all selections with the general one; test limits and lists of ties."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isabstract
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optsum.solvers.exhaustive import strategy
from optsum.solvers.exhaustive.strategy import (
    Exhaustive,
    Flips,
    OneByOne,
    Pairs,
    Similarities,
    Walker,
    is_few,
    walker_of,
)
from trying import every_set

import optsum
from optsum.contracts.result import Status
from optsum.coverage.instance import Combination, Coverage, Facility, Row, Sense
from optsum.coverage.state import arrays_of
from optsum.optima.counting import count_feasible
from optsum.problem.problem import CoverageProblem, Evaluation, Problem
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import OwnMetric, brute_force, random_coverage

ROWS = 300


def walked(walker: Walker, stride: int) -> tuple[int, int, list[tuple[int, ...]]]:
    """Walk to the end; return the numbers of feasible selections and of ties, and the listed ones."""
    while not walker.done:
        walker.advance(stride)
    return walker.feasible, walker.ties, sorted(map(tuple, walker.listed()))


def both(coverage: Coverage, stride: int = 1 << 22) -> Pairs:
    """Walk in the quick and the general way, compare them, and return the quick walker."""
    problem = CoverageProblem.of(coverage)
    quick = walker_of(problem, coverage, problem.evaluate, ROWS)
    arrays = arrays_of(coverage)
    slow = Flips(coverage, arrays, ROWS) if arrays else OneByOne(problem, coverage, problem.evaluate, ROWS)
    assert isinstance(quick, Pairs)
    found, expected = walked(quick, stride), walked(slow, 1 << 18)
    if expected[1] > ROWS:  # which ties are listed is up to each walk
        assert found[:2] == expected[:2]
        assert len(set(found[2])) == ROWS
    else:
        assert found == expected
    return quick


def extract(seed: int, units: int, *, gain: Callable[[np.random.Generator], list[int]], **limits: int) -> Coverage:
    rng = np.random.default_rng(seed)
    rows = [{int(f): int(rng.integers(1, 4)) for f in rng.permutation(30)[:7]} for _ in range(units)]
    lengths = rng.integers(0, 12, units).tolist()
    return Coverage.of(lengths, rows, [gain(rng) for _ in range(30)], constants=(0, 2**61), **limits)


def clipped(rng: np.random.Generator) -> list[int]:
    return [1] * int(rng.integers(0, 4))


def several(rng: np.random.Generator) -> list[int]:
    return sorted(rng.integers(0, 5, int(rng.integers(0, 6))).tolist(), reverse=True)


def weighty(rng: np.random.Generator) -> list[int]:
    return sorted(rng.integers(0, 2**50, 2).tolist(), reverse=True)


@pytest.mark.parametrize("kind", ["recall", "window", "precision", "f1", "set"])
@pytest.mark.parametrize("stride", [7, 1 << 22])
def test_both_ways_agree_on_more_units(kind: str, stride: int) -> None:
    cuts = set()
    for seed in range(10):
        coverage = random_coverage(np.random.default_rng(seed), kind=kind, units=13)
        quick = both(coverage, stride)
        cuts.add((len(quick._halves.long.units) > 1, len(quick._halves.short.units) > 1))
    assert (True, True) in cuts


@pytest.mark.parametrize("gain", [clipped, several])
def test_both_ways_agree_on_extracts(gain: Callable[[np.random.Generator], list[int]]) -> None:
    for seed in range(12):
        both(extract(seed, 17, gain=gain, min_length=20 * (seed % 2), max_length=36))


def test_copies_in_hundreds_and_weights_of_many_digits() -> None:
    rng = np.random.default_rng(0)
    rows = [{0: int(rng.integers(1, 40)), 1: int(rng.integers(1, 9))} for _ in range(12)]
    both(Coverage.of([3] * 12, rows, [[1] * 150, [7] * 3 + [2] * 70], constants=(0, 1000), max_length=30))
    both(extract(3, 12, gain=lambda rng: [int(rng.integers(0, 2)) << 40], max_length=40))


def test_gains_of_too_many_digits_are_left_to_the_general_walk() -> None:
    coverage = extract(0, 12, gain=weighty, max_length=40)  # few of its numbers are powers of two
    problem = CoverageProblem.of(coverage)
    assert isinstance(walker_of(problem, coverage, problem.evaluate, 0), Flips)
    assert search(problem, "exhaustive").key == brute_force(problem).best


def test_sums_and_products_whose_comparison_needs_more_than_64_bits() -> None:
    """Check that exact fractions decide between candidates picked in floating point, and that ties are counted."""
    inexact = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        units, count = 9, 3
        coverage = Coverage.of(
            rng.integers(1, 6, units).tolist(),
            [{int(f): 1 for f in rng.permutation(12)[:4]} for _ in range(units)],
            [[1]] * 12,
            slots=(2 * rng.integers(0, count, 12)).tolist(),
            constants=[part for _ in range(count) for part in (0, int(rng.integers(2**20, 2**22)))],
            mass=[[0] * units if row % 2 == 0 else rng.integers(1, 2**20, units).tolist() for row in range(2 * count)],
            weights=(1, 2, 3),
            combination=Combination.SUM if seed % 2 else Combination.PRODUCT,
            max_length=14,
            min_length=5 * (seed % 3),
        )
        inexact += not both(coverage)._exact
        truth = brute_force(CoverageProblem.of(coverage))
        assert search(CoverageProblem.of(coverage), "exhaustive").key == truth.best
    assert inexact >= 30


def test_many_ties_that_only_fractions_can_tell_are_all_counted_and_listed() -> None:
    """Test C(16, 5) = 4368 equal means of ratios of large numbers, more than the buffer holds."""
    coverage = Coverage.of(
        [2] * 16, [{0: 1, 1: 1}] * 16, [[1] * 16, [1] * 16], slots=[0, 2],
        constants=[0, 2**33 + 1, 0, 2**33 + 3], weights=(1, 1), combination=Combination.SUM, max_length=11,
    )  # fmt: skip
    assert arrays_of(coverage) is None
    result = search(CoverageProblem.of(coverage), "exhaustive")
    assert result.statistics["best_selections"] == comb(16, 5)
    assert Exhaustive().enumerate(CoverageProblem.of(coverage), Limits()).count == comb(16, 5)


def similar(rng: np.random.Generator, units: int = 9, **limits: Any) -> Facility:
    """Return an instance of best similarities with few different numbers, so that there are ties; half are F1."""
    tokens, most = int(rng.integers(1, 6)), int(rng.choice([2, 4, 2**20]))
    lengths = rng.integers(0, 5, units)
    own = np.vstack([rng.integers(0, 2 + lengths), lengths]) if rng.integers(2) else None
    low = int(rng.choice([0, 0, 3, 7, 40]))
    return Facility.given(
        rng.integers(0, most, (tokens, units)), rng.integers(1, 4, tokens), lengths.tolist(), full=4 * most * tokens,
        own=own, **{"min_length": low, "max_length": low + int(rng.integers(0, 9)), **limits},
    )  # fmt: skip


@pytest.mark.parametrize("stride", [1, 5, 1 << 20])
def test_best_similarities_are_walked_as_one_by_one(stride: int) -> None:
    kinds = set()
    for seed in range(120):
        instance = similar(np.random.default_rng(seed))
        problem = CoverageProblem.of(instance)
        quick, slow = (
            walker_of(problem, instance, problem.evaluate, 1 << 9),
            OneByOne(problem, instance, problem.evaluate, 1 << 9),
        )
        assert isinstance(quick, Similarities)
        assert walked(quick, stride) == walked(slow, 1 << 18)
        assert search(problem, "exhaustive").key == brute_force(problem).best
        kinds.add((instance.constant_denominator, instance.min_length > 0, quick.feasible > 0))
    assert len(kinds) == 8


def test_fractions_decide_between_similarities_that_floating_point_confuses() -> None:
    """The second unit is better, and comes after one whose value is larger in floating point."""
    top, matched = 170716002489481, 269434799703614
    instance = Facility.given(
        np.array([[top + 489, top]]), np.ones(1, np.int64), [1, 1], full=2**49, max_length=1,
        own=np.array([[matched, matched], [314604028589530, 314604028586985]]),
    )  # fmt: skip
    result = search(CoverageProblem.of(instance), "exhaustive")
    assert (result.selection, result.key) == ((1,), brute_force(CoverageProblem.of(instance)).best)


def test_similarities_of_a_tree_are_not_walked_by_themselves() -> None:
    instance = similar(
        np.random.default_rng(0), min_length=0, max_length=9, parents=np.array([-1, 0, 1, -1, 3, 3, 0, -1, 7])
    )
    problem = CoverageProblem.of(instance)
    assert not isinstance(walker_of(problem, instance, problem.evaluate, 0), Similarities)
    assert search(problem, "exhaustive").key == brute_force(problem).best


def test_few_similarities_are_those_that_a_second_visits() -> None:
    """The rate counts tokens, because each visit looks at all of them."""
    for tokens, few in ((10, True), (2000, False)):
        lengths, own = [1] * 40, np.ones((2, 40), np.int64)
        instance = Facility.given(
            np.arange(40 * tokens).reshape(tokens, 40), np.ones(tokens, np.int64), lengths, full=2**30, own=own,
            max_length=5,
        )  # fmt: skip
        problem = CoverageProblem.of(instance)
        assert is_few(problem) is few
        assert not is_few(problem, 1e-6)


def test_more_equal_similarities_than_candidates_fit() -> None:
    alike = Facility.given(
        np.ones((2, 16), np.int64), np.ones(2, np.int64), [2] * 16, full=2, max_length=11, own=np.full((2, 16), 2)
    )
    result = search(CoverageProblem.of(alike), "exhaustive")
    assert result.statistics["best_selections"] == sum(comb(16, units) for units in range(1, 6))
    assert Exhaustive().enumerate(CoverageProblem.of(alike), Limits()).count == result.statistics["best_selections"]


def test_similarities_with_rows_are_not_walked_by_themselves() -> None:
    instance = similar(np.random.default_rng(0), max_length=9, min_length=0)
    bounded = instance.with_rows([Row((0, 1), (1, 1), 1)])
    problem = CoverageProblem.of(bounded)
    assert not isinstance(walker_of(problem, bounded, problem.evaluate, 0), Similarities)
    assert search(problem, "exhaustive").key == brute_force(problem).best


def test_a_long_list_of_ties_takes_a_second_walk() -> None:
    alike = Coverage.of([2] * 16, [{0: 1}] * 16, [[1] * 16], constants=(0, 16), max_length=11)
    optima = Exhaustive().enumerate(CoverageProblem.of(alike), Limits())
    assert (optima.count, optima.complete) == (comb(16, 5), True)
    chain = Coverage.of([2] * 16, [{0: 1}] * 16, [[1] * 16], constants=(0, 16), max_length=11, parents=[-1] * 15 + [0])
    optima = Exhaustive().enumerate(CoverageProblem.of(chain), Limits())
    assert (optima.count, optima.complete) == (comb(15, 5) + comb(14, 3), True)


def test_a_list_of_ties_beyond_memory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "_LARGEST_LIST", 17 * 30)
    alike = Coverage.of([2] * 16, [{0: 1}] * 16, [[1] * 16], constants=(0, 16), max_length=11)
    optima = Exhaustive().enumerate(CoverageProblem.of(alike), Limits())
    assert (optima.complete, optima.termination, optima.proven) == (False, "memory_limit", True)
    assert 0 < optima.count <= comb(16, 5)


def test_more_units_than_bits() -> None:
    """Test 150 units, of which two fit and some have length 0; the count is that of dynamic programming."""
    rng = np.random.default_rng(5)
    lengths = [0, 0, *rng.integers(4, 9, 148).tolist()]
    rows = [{int(f): 1 for f in rng.permutation(70)[:5]} for _ in lengths]
    coverage = Coverage.of(lengths, rows, [[1]] * 70, constants=(0, 70), max_length=16)
    result = search(CoverageProblem.of(coverage), "exhaustive")
    assert result.statistics["feasible"] == count_feasible(lengths, 0, 16)
    assert result.key == search(CoverageProblem.of(coverage), "milp").key


@pytest.mark.parametrize("limit", [1, 2, 50, 1000])
def test_an_evaluation_limit_is_kept(limit: int) -> None:
    coverage = extract(1, 17, gain=clipped, min_length=30, max_length=40)
    result = search(CoverageProblem.of(coverage), "exhaustive", Limits(evaluations=limit))
    assert (result.termination, result.status is Status.OPTIMAL) == (Termination.EVALUATION_LIMIT, False)
    assert result.evaluations <= limit + 1  # the best selection is evaluated once more


def test_an_endless_walk_is_announced_and_stopped(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "optsum")
    coverage = Coverage.of([10] * 400, [{u % 50: 1} for u in range(400)], [[1]] * 50, constants=(0, 50), max_length=900)
    result = search(CoverageProblem.of(coverage), "exhaustive", Limits(time_s=0.6))
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.TIME_LIMIT)
    assert result.seconds < 5
    assert result.statistics["estimate_s"] > 1e60
    assert len(caplog.messages) == 1
    assert "longer than the Earth is old; the time limit stops it after 0.6 s." in caplog.messages[0]
    caplog.clear()
    search(CoverageProblem.of(extract(1, 17, gain=clipped, max_length=40)), "exhaustive")
    assert caplog.messages == []


def test_messages_on_the_expected_time() -> None:
    asked = ((1e10, None), (1e13, None), (1e10, 9.0), (float("inf"), None), (1e8, None))
    found = [strategy.TimeEstimate(selections, 1e8).update(10**8, 1.0, limit) for selections, limit in asked]
    said = [sentence for sentence in found if sentence is not None]
    assert said[0] == "exhaustive: 1e+10 selections, about 1.7 min."
    assert "about 1.2 days; --time-limit stops it early" in said[1]
    assert said[2].endswith("the time limit stops it after 9 s.")
    assert said[3].startswith("exhaustive: more than 1e300 selections")
    assert len(said) == 4


def test_a_metric_of_one_s_own_is_asked_only_about_what_is_within_the_limits() -> None:
    asked: list[tuple[int, ...]] = []

    class Watched(OwnMetric):
        def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
            asked.append(selection)
            return super().evaluate(selection)

    problem = Watched(lengths=(10,) * 40, min_length=15, max_length=25, words=[["a"]] * 40)
    result = search(problem, "exhaustive")
    assert result.statistics["feasible"] == comb(40, 2)
    assert len(asked) <= comb(40, 2) + 5
    nothing = Watched(lengths=(10,) * 40, min_length=101, max_length=105, words=[["a"]] * 40)
    assert search(nothing, "exhaustive").status is Status.INFEASIBLE  # without 2^40 steps


def test_numbers_beyond_64_bits_are_walked_within_the_limits_only() -> None:
    """Test 60 units that no kernel serves: pairs instead of 2^60 sets, and parents before children."""
    coverage = Coverage.of(
        [10] * 60, [{0: 1, 1: 1}] * 60, [[2**61], [2**61]], constants=(0, 2**62), max_length=20, min_length=20,
        parents=[-1, 0, *[-1] * 58],
    )  # fmt: skip
    problem = CoverageProblem.of(coverage)
    assert isinstance(walker_of(problem, coverage, problem.evaluate, 0), OneByOne)
    result = search(problem, "exhaustive")
    assert result.statistics["feasible"] == comb(59, 2) + 1
    assert Exhaustive().enumerate(problem, Limits()).count == comb(59, 2) + 1


def test_covers_and_joints_take_the_general_walk() -> None:
    cover = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], goal=Sense.MINIMIZE)
    problem: Problem = CoverageProblem.of(cover)
    assert isinstance(walker_of(problem, cover, problem.evaluate, 0), Flips)


@pytest.mark.parametrize("metric", ["rouge-1", "rouge-2"])
def test_windows_of_real_documents(metric: str, shared_data: Path) -> None:
    """Check 100 +- 5 words: the count of dynamic programming, and the optimum of branch and bound."""
    options: dict[str, Any] = {"metric": metric, "min_length": 95, "max_length": 105}
    done = 0
    for name in ("realsumm", "gum"):
        for topic in optsum.read_topics(shared_data / name / "topics.jsonl"):
            assert isinstance(topic, optsum.Topic)
            if len(topic.sentences) > 30:
                continue
            all_of_them = optsum.solve(topic, strategy="exhaustive", **options)
            oracles = optsum.enumerate_optima(topic, **options)
            assert all_of_them.extra["feasible"] == oracles.feasible()
            assert all_of_them.objective_exact == oracles.result.objective_exact
            assert all_of_them.statistics["best_selections"] == oracles.count
            done += 1
    assert done == 38


def test_every_walker_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {Pairs, Flips, OneByOne, Similarities} == {
        each
        for each in vars(strategy).values()
        if isinstance(each, type) and issubclass(each, Walker) and not isabstract(each)
    }


@pytest.mark.parametrize("stride", [1, 100, 1 << 20])
def test_the_size_of_slices_does_not_change_the_result(stride: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for walker in (Pairs, Flips, Similarities):
        monkeypatch.setattr(walker, "stride", stride)
    monkeypatch.setattr("optsum.system.clock._SLICE_S", 0.0)  # halves the size of each slice
    for kind in ("recall", "joined", "similar"):
        problem = CoverageProblem.of(
            similar(rng, min_length=0, max_length=9) if kind == "similar" else random_coverage(rng, kind=kind)
        )
        result = search(problem, "exhaustive")
        visited = sum(problem.length(each) <= problem.max_length for each in every_set(problem.size))
        assert result.evaluations == visited, "each once, and the empty one"
