"""Compare the optima at increasing maximum lengths with brute force at each."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from optsum.solvers.branch_and_bound import BranchAndBound

import optsum
from optsum.contracts.strategy import LengthSearch
from optsum.coverage.instance import Coverage, Key, Row
from optsum.problem.problem import CoverageProblem, Problem, Selection
from optsum.system.clock import NEVER, Deadline, Limits, Stopped
from optsum.testing import brute_force, random_coverage, random_topic


def ruled(problem: CoverageProblem, rng: np.random.Generator) -> CoverageProblem:
    """Return the problem with a side constraint."""
    units = rng.permutation(problem.size)[:3].tolist()
    row = Row(tuple(sorted(units)), (1,) * len(units), int(rng.integers(0, 2)), int(rng.integers(1, 3)))
    return CoverageProblem.of(problem.coverage.with_rows((row,)))


@pytest.mark.parametrize("rows", [False, True])
def test_every_length_has_the_value_that_trying_finds(rows: bool) -> None:
    searched = proven = 0
    for seed in range(24):  # 540 other seeds passed once
        rng = np.random.default_rng(seed)
        problem = CoverageProblem.of(random_coverage(rng, kind="recall", units=8))
        problem = ruled(problem, rng) if rows else problem
        most = max(2, min(problem.max_length, int(problem.coverage.lengths.sum()) - 1))
        lengths = sorted({*rng.integers(1, most + 1, 6).tolist(), most})
        together = BranchAndBound().by_length(problem.within(most), lengths, Limits(), NEVER)
        if together is None:
            continue
        tried = {length: brute_force(problem.within(length)) for length in lengths}
        for length in reversed(lengths):
            best = tried[length]
            found = together.at(length)
            if best.best is None:
                assert found is None
                continue
            assert found is not None
            key, selection = found
            seen = problem.within(length).evaluate(selection)
            assert key == best.best == seen.key
            assert seen.feasible
            shorter = [each for each in lengths if each < problem.length(selection)]
            assert not shorter or tried[shorter[-1]].best != key, "it is the shortest asked for"
            proven += 1
        searched += together.searched
    assert proven > 40
    assert searched > 10


def test_a_limit_stops_the_search() -> None:
    units = [{unit % 3: 1, 3: 1} for unit in range(5)]
    problem = CoverageProblem.of(Coverage.of([2] * 5, units, [[1]] * 4, constants=(0, 4), max_length=4))
    together = BranchAndBound().by_length(problem, [4], Limits(), Deadline(0.0))
    assert together is not None
    with pytest.raises(Stopped):
        together.at(4)


def test_values_claimed_for_several_lengths_are_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lying:
        searched = 1

        def learn(self, units: Selection) -> None: ...

        def at(self, length: int, at_most: Key | None = None) -> tuple[Key, Selection] | None:
            return Fraction(1, 97), ()

    def lie(self: BranchAndBound, problem: Problem, *_: Any) -> LengthSearch:
        return Lying()

    monkeypatch.setattr(BranchAndBound, "by_length", lie)
    topic = random_topic(np.random.default_rng(1), name="t", sentences=7)
    with pytest.raises(optsum.BackendError, match="this is not a valid result"):
        optsum.frontier(topic, max_length=12)
