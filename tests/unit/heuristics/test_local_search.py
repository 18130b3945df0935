"""Test local search after greedy search."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import optsum
from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage, Joint, Sense
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import KINDS, OwnMetric, brute_force, check_strategy, random_coverage


def test_the_search_keeps_the_contract_of_strategies() -> None:
    check_strategy("greedy+ls", instances=1)


@pytest.mark.parametrize("kind", KINDS)
def test_never_worse_than_greedy_never_better_than_the_optimum(kind: str) -> None:
    reached = compared = 0
    for seed in range(20 if kind != "huge" else 5):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=6))
        best, greedy, result = brute_force(problem).best, search(problem, "greedy"), search(problem, "greedy+ls")
        if best is None or result.key is None:
            continue
        compared += 1
        assert not problem.sense.better(result.key, best), seed
        assert greedy.key is None or not problem.sense.better(greedy.key, result.key), seed
        reached += result.key == best
    assert reached >= 0.85 * compared, f"{reached} of {compared}"


def test_a_swap_by_hand() -> None:
    """Test greedy taking unit 0 (6 for 4 words), after which nothing fits; units 1 and 2 fill 6 words, worth 7."""
    instance = Coverage.of([4, 3, 3], [{0: 1}, {1: 1}, {2: 1}], [[6], [3], [4]], constants=(0, 13), max_length=6)
    assert search(CoverageProblem.of(instance), "greedy").objective_exact == "6/13"
    result = search(CoverageProblem.of(instance), "greedy+ls")
    assert (result.selection, result.objective_exact) == ((1, 2), "7/13")


def test_two_for_two_by_hand() -> None:
    """Test an exchange of both units of length 5 for those of 4 and 6, which use ten words: 2.7 + 3.6 against 3 + 3."""
    instance = Coverage.of([5, 5, 4, 6], [{0: 1}, {1: 1}, {2: 1}, {3: 1}], [[30], [30], [27], [36]], constants=(0, 123),
                           max_length=10)  # fmt: skip
    result = search(CoverageProblem.of(instance), "greedy+ls")
    assert result.selection == (2, 3)


def test_one_for_two_in_a_cover() -> None:
    """Test greedy covering with units 0 (four of six), 1 and 2, where units 3 and 4 cover all six."""
    instance = Coverage.of(
        [1] * 5,
        [{0: 1, 1: 1, 2: 1, 3: 1}, {4: 1}, {5: 1}, {0: 1, 1: 1, 4: 1}, {2: 1, 3: 1, 5: 1}],
        [[1]] * 6,
        goal=Sense.MINIMIZE,
    )
    assert search(CoverageProblem.of(instance), "greedy").objective == 3
    assert search(CoverageProblem.of(instance), "greedy+ls").selection == (3, 4)


def test_moves_can_be_limited() -> None:
    problem = CoverageProblem.of(random_coverage(np.random.default_rng(3), kind="f1", units=60))
    greedy, few = search(problem, "greedy").evaluations, search(problem, "greedy+ls", most_moves=1).evaluations
    assert greedy < few < search(problem, "greedy+ls").evaluations


@pytest.mark.parametrize("strategy", ["greedy+ls", "vns", "genetic", "vns+greedy", "genetic+greedy"])
def test_a_search_ended_by_a_limit_keeps_its_selection(strategy: str) -> None:
    """Check that what a kernel reached is kept: far above nothing, and sometimes above greedy."""
    above = 0
    for seed in range(10):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="f1", units=60))
        greedy = search(problem, "greedy")
        cut = search(problem, strategy, Limits(evaluations=greedy.evaluations + 400))
        assert cut.key is not None
        assert greedy.key is not None
        assert cut.key >= Fraction(greedy.key) * Fraction(1, 2), seed
        above += cut.key > greedy.key
    assert above > 0


def test_ctrl_c_leaves_what_was_reached() -> None:
    problem = CoverageProblem.of(random_coverage(np.random.default_rng(4), kind="f1", units=60))
    for strategy in ("vns", "genetic"):

        def interrupt(run: Run) -> None:
            if run.evaluations > 500:
                raise KeyboardInterrupt

        found = search(problem, strategy, on_progress=interrupt)
        assert found.termination is Termination.INTERRUPTED
        assert (found.objective or 0.0) > 0.5 * (search(problem, "greedy").objective or 0.0)


def test_the_guarantee_is_named_where_it_holds() -> None:
    def guarantee(kind: str, strategy: str, seed: int = 3) -> object:
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        return search(problem, strategy).statistics.get("guarantee")

    for strategy in ("greedy", "greedy+ls", "vns+greedy", "genetic+greedy"):
        assert guarantee("recall", strategy) == pytest.approx(0.31606, abs=1e-5)
    for kind in ("f1", "cover", "set", "sum"):
        assert guarantee(kind, "greedy") is None
    tied = Coverage.of([1, 1], [{}, {}], [[1]], constants=(0, 1), max_length=2, joints=(Joint(0, (0, 1)),))
    chunks = Coverage.of([1, 1], [{}, {0: 1}], [[1]], constants=(0, 1), max_length=2, parents=[-1, 0])
    window = Coverage.of([1, 1], [{}, {0: 1}], [[1]], constants=(0, 1), max_length=2, min_length=1)
    for instance in (tied, chunks, window):
        result = search(CoverageProblem.of(instance), "greedy")
        assert result.objective == 1
        assert "guarantee" not in result.statistics
    assert guarantee("recall", "vns") is None
    stopped = search(CoverageProblem.of(random_coverage(np.random.default_rng(3))), "greedy", Limits(evaluations=1))
    assert "guarantee" not in stopped.statistics


def test_a_metric_of_ones_own() -> None:
    words = [["a"], ["b", "c"], ["c", "d"], ["a", "d", "e"], ["bad"], ["f"]]
    better = 0
    for most in range(2, 9):
        problem = OwnMetric(lengths=(2, 2, 2, 3, 1, 1), max_length=most, words=words)
        greedy, local, best = search(problem, "greedy").key, search(problem, "greedy+ls").key, brute_force(problem).best
        assert greedy is not None
        assert local is not None
        assert best is not None
        assert greedy <= local <= best
        better += local == best
    assert better >= 5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "length"), [("squality", 250), ("opinosis", 40)])
def test_on_real_topics(shared_data: Path, name: str, length: int) -> None:
    topics = list(optsum.read_topics(shared_data / name / "topics.jsonl"))[:10]
    table = optsum.compare(topics, ["greedy", "greedy+ls"], "branch-and-bound", max_length=length)
    exact, greedy, local = table.rows
    assert exact.reached == greedy.problems
    assert local.mean_ratio is not None
    assert greedy.mean_ratio is not None
    assert local.mean_ratio > max(0.985, greedy.mean_ratio)
    keys = {(result.id, result.strategy): result.key for result in table.results}
    ratios = [Fraction(keys[result.id, "greedy+ls"] or 0) / Fraction(result.key or 1) for result in table.results[::3]]
    assert fmean(ratios) == pytest.approx(local.mean_ratio)
    assert all((keys[result.id, "greedy+ls"] or 0) >= (keys[result.id, "greedy"] or 0) for result in table.results[::3])
