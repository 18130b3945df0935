"""Test the baselines lead and random, and the repair that reaches a window of lengths."""

from __future__ import annotations

import numpy as np
import pytest

from optsum import solve
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage, Sense
from optsum.optima.counting import fit
from optsum.problem.problem import CoverageProblem, Evaluation, Problem
from optsum.running.search import search
from optsum.testing import OwnMetric, brute_force, random_coverage, selections


def lengths_only(lengths: list[int], **limits: int) -> CoverageProblem:
    return CoverageProblem.of(Coverage.of(lengths, [{}] * len(lengths), [], **limits))


@pytest.mark.parametrize(
    ("lengths", "most", "lead"),
    [
        ([3, 2, 4, 1], 6, (0, 1)),
        ([3, 2, 4, 1], 9, (0, 1, 2)),
        ([7, 1], 6, ()),
        ([0, 3, 0, 9], 3, (0, 1, 2)),
        ([], 5, ()),
    ],
)
def test_a_lead_stops_at_the_first_that_does_not_fit(lengths: list[int], most: int, lead: tuple[int, ...]) -> None:
    assert search(lengths_only(lengths, max_length=most), "lead").selection == lead


def test_a_lead_below_the_minimum_is_no_solution() -> None:
    result = search(lengths_only([3, 9, 3], max_length=6, min_length=5), "lead")
    assert (result.status, result.selection) == (Status.NO_SOLUTION, None)


def test_a_lead_sees_sentences_that_match_nothing_or_are_too_long() -> None:
    topic = {"id": "t", "documents": [["x y", "a b c d e f", "a"]], "references": [["a b"]]}
    assert solve(topic, strategy="lead", max_length=5).selection == (0,)
    assert solve(topic, strategy="milp", max_length=5).selection == (2,)


def test_a_unit_comes_with_its_ancestors() -> None:
    forest = Coverage.of([1, 1, 1, 1], [{}] * 4, [], parents=[-1, 0, -1, 2], max_length=3)
    assert search(CoverageProblem.of(forest), "lead").selection == (0, 1, 2)
    for seed in range(20):
        found = search(CoverageProblem.of(forest), "random", seed=seed)
        assert found.status is Status.FEASIBLE
        assert found.selection in {(0, 1, 2), (0, 2, 3)}


class Apart(Problem):
    """A problem in which neighbours exclude each other and the last unit is required; `hopeless` has no solution."""

    hopeless: bool = False

    def evaluate(self, selection: tuple[int, ...]) -> Evaluation:
        neighbours = sum(unit + 1 in selection for unit in selection)
        violation = neighbours + (self.size - 1 not in selection) + self.hopeless + self.excess(selection)
        return Evaluation(len(selection), violation, len(selection))


@pytest.mark.parametrize("sense", Sense)
def test_limits_that_only_evaluations_tell_are_kept(sense: Sense) -> None:
    problem = Apart(lengths=(1,) * 7, max_length=3, sense=sense)
    lead = search(problem, "lead")
    assert lead.selection == ((0, 6) if sense is Sense.MAXIMIZE else (6,))
    for seed in range(10):
        assert search(problem, "random", seed=seed).status is Status.FEASIBLE
    object.__setattr__(problem, "hopeless", True)
    for strategy in ("lead", "random"):
        assert "violate the limits by 1, and no others are tried" in str(search(problem, strategy).detail)


def test_random_extracts_are_full_and_differ() -> None:
    problem = lengths_only([2, 3, 4, 5, 6, 1], max_length=9)
    found = {search(problem, "random", seed=seed).selection for seed in range(60)}
    assert len(found) > 5
    for selection in found:
        assert selection is not None
        left = 9 - problem.length(selection)
        assert all(problem.lengths[unit] > left for unit in range(6) if unit not in selection)


def test_every_order_is_equally_likely() -> None:
    """Check that each of four equal sentences is drawn in a quarter of the runs, within five standard deviations."""
    problem = lengths_only([1] * 4, max_length=1)
    drawn = [search(problem, "random", seed=seed).selection for seed in range(2000)]
    for unit in range(4):
        assert abs(drawn.count((unit,)) - 500) < 5 * (2000 * 0.25 * 0.75) ** 0.5


@pytest.mark.parametrize("kind", ["recall", "window", "precision", "f1", "cover"])
def test_random_finds_something_feasible_where_there_is_something(kind: str) -> None:
    for seed in range(40):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        possible = brute_force(problem).best is not None
        found = search(problem, "random", seed=seed).selection is not None
        assert found == possible or (problem.instance.parents >= 0).any(), (kind, seed)


# --- reaching a window of lengths, on which repair relies ---------------------------------------------------------


def test_a_reachable_window_is_reached() -> None:
    rng = np.random.default_rng(0)
    answers = set()
    for _ in range(400):
        n = int(rng.integers(0, 7))
        lengths = rng.integers(0, 9, n).tolist()
        low = int(rng.integers(0, 20))
        high = low + int(rng.integers(0, 4))
        kept = rng.permutation(n)[: int(rng.integers(0, n + 1))].tolist()
        others = [unit for unit in range(n) if unit not in kept]
        possible = [chosen for chosen in selections(n) if low <= sum(lengths[unit] for unit in chosen) <= high]
        found = fit(lengths, kept, others, low, high)
        answers.add(found is None)
        if found is None:
            assert not possible
            continue
        assert tuple(sorted(found)) in possible
        if tuple(sorted(kept)) in possible:
            assert sorted(found) == sorted(kept), "what fits already stays as it is"
        first = next(iter(kept), None)
        if first is not None and any(first in chosen for chosen in possible):
            assert first in found, "the first to be kept is kept if it can be"
    assert answers == {True, False}


def test_a_table_that_would_be_too_large_is_not_made() -> None:
    assert fit([10**9, 10**9], [0], [1], 10**9, 10**9) is None
    assert fit([10**6, 10**6], [0], [1], 10**6, 10**6) == [0]
    assert fit([3], [0], [], 5, 4) is None


@pytest.mark.parametrize("kind", ["window", "precision", "set"])
def test_repair_reaches_every_window_that_can_be(kind: str) -> None:
    rng = np.random.default_rng(1)
    for seed in range(100):
        problem: Problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        possible = brute_force(problem).best is not None
        for _ in range(4):
            selection = tuple(np.flatnonzero(rng.random(problem.size) < 0.5).tolist())
            assert problem.evaluate(problem.repair(selection, rng)).feasible == possible, (kind, seed)
    own = OwnMetric(lengths=(4, 4, 5), min_length=9, max_length=9, words=[["a"], ["b"], ["c"]])
    assert own.repair((0, 1), rng) in {(0, 2), (1, 2)}
