"""Sums of ratios by integer programs, against brute force."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import optsum
from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.declaration import Declaration, OptionNames
from optsum.contracts.result import Status, Termination
from optsum.contracts.run import Limits
from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Combination, Coverage
from optsum.errors import BackendError, UnsupportedError
from optsum.options.options import resolve
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Capability, Problem, Selection
from optsum.running.one_problem import build
from optsum.running.search import search
from optsum.running.setup import setup_of
from optsum.testing import brute_force, random_coverage, random_topic

OBJECTIVES: dict[str, dict[str, Any]] = {
    "two metrics": {"metric": "rouge-1+rouge-2", "measure": "f1"},
    "sets": {"metric": "rouge-1+rouge-2", "measure": "f1", "counts": "set"},
    "precision": {"metric": "rouge-1+rouge-2", "measure": "precision"},
    "mean": {"metric": "rouge-1", "measure": "f1", "references": "mean"},
    "mean, sets": {"metric": "rouge-1", "measure": "f1", "references": "mean", "counts": "set"},
    "mean of two metrics": {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"},
}


EQUAL = Coverage.of(
    [1] * 9,
    [{feature: 1, 9 + feature: 1} for feature in range(9)],
    [[2]] * 18,
    slots=[0] * 9 + [2] * 9,
    constants=(0, 7, 0, 11),
    mass=[[0] * 9, [3] * 9, [0] * 9, [4] * 9],
    weights=(1, 1),
    combination=Combination.SUM,
    max_length=3,
)
"""Nine equal sentences, of which three fit: 84 optima."""


def assert_same_as_brute_force(problem: Problem) -> None:
    truth, result = brute_force(problem), search(problem, "milp")
    assert result.key == truth.best
    assert result.status is (Status.INFEASIBLE if truth.best is None else Status.OPTIMAL)
    assert result.selection is None or result.selection in truth.optima


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_random_sums_are_brute_force(seed: int) -> None:
    instance = random_coverage(np.random.default_rng(seed), kind="sum", units=6)
    problem = CoverageProblem.of(instance)
    if Capability.RATIOS in problem.capabilities:
        assert_same_as_brute_force(problem)


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=10)
@given(
    seed=st.integers(0, 2**32), limits=st.sampled_from([{}, {"max_length": 12}, {"max_length": 14, "min_length": 5}])
)
def test_topics_are_brute_force(objective: str, seed: int, limits: dict[str, int]) -> None:
    rng = np.random.default_rng(seed)
    topic = as_topic(random_topic(rng, sentences=4 if objective == "mean of two metrics" else 6))
    options = resolve({**OBJECTIVES[objective], **limits, "strategy": "milp"})
    problem = build(topic, setup_of(options)).problem
    assume(problem.coverage.combination is Combination.SUM)
    assert_same_as_brute_force(problem)


def large_primes(seed: int) -> Coverage:
    """Recalls over denominators without a common divisor: beyond 64 bits together."""
    rng = np.random.default_rng(seed)
    bottoms = rng.permutation([997, 1009, 1013, 1019, 1021, 1031, 1033, 1039])
    features = 16
    gains = [[1] * int(rng.integers(1, 4)) for _ in range(features)]
    return Coverage.of(
        rng.integers(1, 5, 8).tolist(),
        [{int(f): int(rng.integers(1, 3)) for f in rng.permutation(features)[:4]} for _ in range(8)],
        gains,
        slots=[2 * (feature % 8) for feature in range(features)],
        constants=[int(part) for bottom in bottoms for part in (0, bottom)],
        weights=(1,) * 8,
        combination=Combination.SUM,
        max_length=int(rng.integers(6, 14)),
    )


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_common_denominators_beyond_64_bits_are_brute_force(seed: int) -> None:
    problem = CoverageProblem.of(large_primes(seed))
    assert Capability.LINEAR not in problem.capabilities
    assert_same_as_brute_force(problem)


def test_the_knapsack_bound_names_the_common_denominator() -> None:
    """Between 2^50 for the common multiple and 2^50 for it times the ratios, too."""
    near = replace(large_primes(1), constants=np.array([0, 2**25 - 39, 0, 2**23 - 15, 0, 3, 0, 1] * 2))
    multiple = lcm(*near.constants[1::2].tolist())
    assert multiple <= 2**50 < multiple * near.ratios
    with pytest.raises(
        UnsupportedError, match=r"common denominator of its 8 ratios is beyond 2\^50; use (--)?bound lagrangian"
    ):
        search(CoverageProblem.of(near), "branch-and-bound", bound="knapsack")


def test_it_says_how_far_a_solver_sees() -> None:
    result = search(CoverageProblem.of(large_primes(1)), "milp")
    assert result.statistics["rounds"] >= 1
    assert result.detail is not None
    assert "optimal up to 1e-09 of the objective" in result.detail


@dataclass
class Liar(Backend):
    """Says the same of every program."""

    outcome: RawOutcome

    name = "liar"
    about = "a test"
    declaration = Declaration(install="", licence="", names=OptionNames(time="t", gap="g", nodes="n", threads="p"))

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        return self.outcome


@pytest.mark.parametrize(
    ("claims", "match"),
    [
        ({"infeasible": True}, "calls the problem infeasible, but a selection that keeps its limits is known"),
        ({"optimal": True, "selection": (0, 99), "objective": 0.0, "bound": 0.0}, "names units that do not exist"),
        ({"optimal": True, "selection": tuple(range(9)), "objective": 0.0, "bound": 0.0}, "breaks the limits by"),
        ({"optimal": True, "selection": (), "objective": 0.0, "bound": 0.0}, "claims optimality with a bound of"),
        ({"optimal": True, "selection": (), "objective": 1e17, "bound": 1e17}, "claims an objective of"),
        ({"optimal": True}, "without an answer that can be used"),
    ],
)
def test_what_a_solver_claims_is_held_against_what_is_known(
    claims: dict[str, Any], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = Liar(RawOutcome(termination=Termination.COMPLETED, native="whatever", **claims))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: liar)
    with pytest.raises(BackendError, match=match):
        search(CoverageProblem.of(EQUAL), "milp")


def test_ties_beside_the_optimum_end() -> None:
    assert_same_as_brute_force(CoverageProblem.of(EQUAL))


def test_a_limit_keeps_what_was_found() -> None:
    topic = as_topic(random_topic(np.random.default_rng(3), sentences=30))
    options = {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean", "max_length": 60}
    result = optsum.solve(topic, strategy="milp", node_limit=1, **options)
    assert result.termination is Termination.NODE_LIMIT
    assert result.status is Status.FEASIBLE
    problem = build(topic, setup_of(resolve({**options, "strategy": "milp"}))).problem
    late = search(problem, "milp", Limits(time_s=0.0))
    assert late.termination is Termination.TIME_LIMIT
