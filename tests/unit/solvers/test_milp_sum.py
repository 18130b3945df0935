"""Test sums of ratios by rounds of integer programs: claims of solvers, limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from math import lcm
from typing import Any

import numpy as np
import pytest
from held_against import check_strategy_on, over_primes
from hypothesis import given, settings
from hypothesis import strategies as st
from optsum.solvers.backends.highs import Highs
from optsum.solvers.objectives.sums import RatioRows, Side
from trying import every_set

import optsum
from optsum.contracts.backend import Backend, Declaration, OptionNames, RawOutcome
from optsum.contracts.result import Status
from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Combination, Coverage, score
from optsum.errors import BackendError, UnsupportedError
from optsum.options.options import resolve
from optsum.problem.problem import Capability, CoverageProblem, Problem, Selection
from optsum.program.model import new_highs, pass_model
from optsum.running.one_problem import build, setup_of
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import random_coverage, random_topic

MEAN = {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"}

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


def test_the_knapsack_bound_names_the_common_denominator() -> None:
    """Test a common multiple within 2^50 whose product with the number of ratios exceeds it."""
    near = replace(over_primes(1), constants=np.array([0, 2**25 - 39, 0, 2**23 - 15, 0, 3, 0, 1] * 2))
    multiple = lcm(*near.constants[1::2].tolist())
    assert multiple <= 2**50 < multiple * near.ratios
    with pytest.raises(
        UnsupportedError, match=r"common denominator of its 8 ratios is beyond 2\^50; use (--)?bound.{1,2}lagrangian"
    ):
        search(CoverageProblem.of(near), "branch-and-bound", bound="knapsack")


def test_the_optimum_is_proven_to_the_last_digit() -> None:
    result = search(CoverageProblem.of(over_primes(1)), "milp")
    assert (result.status, result.detail) == (Status.OPTIMAL, None)
    assert result.statistics["rounds"] >= 1
    assert result.bound_key == result.key


def test_presolve_may_end_with_an_older_bound() -> None:
    """Test this because HiGHS 1.16 states a bound far above an optimum that it calls proven."""
    topic = as_topic(random_topic(np.random.default_rng(1017), sentences=4))
    problem = build(topic, setup_of(resolve({**MEAN, "strategy": "milp"}))).problem
    assert check_strategy_on(problem, "milp")


@dataclass
class Liar(Backend):
    """A backend that gives the same answer for every program."""

    outcome: RawOutcome

    name = "liar"
    about = "a test"
    declaration = Declaration(install="", licence="", names=OptionNames(time="t", gap="g", nodes="n", threads="p"))

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        return self.outcome


@pytest.mark.parametrize(
    ("claims", "match"),
    [
        ({"infeasible": True}, "calls the problem infeasible, but a feasible selection is known"),
        ({"optimal": True, "selection": (0, 99), "objective": 0.0, "bound": 0.0}, "names units that do not exist"),
        ({"optimal": True, "selection": tuple(range(9)), "objective": 0.0, "bound": 0.0}, "violates the limits by"),
        ({"optimal": True, "selection": (), "bound": -1e9}, "claims optimality with a bound of"),
        ({"optimal": True, "selection": (), "objective": 1e17, "bound": 1e17}, "claims an objective of"),
        ({"optimal": True, "selection": (0,), "bound": 1e10}, "optimal, but its own bound is"),
        ({"optimal": True}, "without an answer that can be used"),
    ],
)
def test_claims_of_a_solver_are_checked_against_known_selections(
    claims: dict[str, Any], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    liar = Liar(RawOutcome(termination=Termination.COMPLETED, native="whatever", **claims))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: liar)
    with pytest.raises(BackendError, match=match):
        search(CoverageProblem.of(EQUAL), "milp")


def test_ties_beside_the_optimum_end() -> None:
    assert check_strategy_on(CoverageProblem.of(EQUAL), "milp")


def thirty() -> tuple[Any, dict[str, Any]]:
    topic = as_topic(random_topic(np.random.default_rng(3), sentences=30))
    return topic, {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean", "max_length": 60}


def test_the_optimum_agrees_with_branch_and_bound() -> None:
    topic, options = thirty()
    found = [optsum.solve(topic, strategy=name, **options) for name in ("milp", "branch-and-bound")]
    assert found[0].objective_exact == found[1].objective_exact
    assert {one.status for one in found} == {Status.OPTIMAL}


def test_bounds_at_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, options = thirty()
    problem = build(topic, setup_of(resolve({**options, "strategy": "milp"}))).problem
    best = search(problem, "milp").key
    late = search(problem, "milp", Limits(time_s=0.0))
    assert late.termination is Termination.TIME_LIMIT
    near = search(problem, "milp", Limits(gap=0.9))
    assert near.termination is Termination.GAP_REACHED
    stuck = Liar(RawOutcome(termination=Termination.NODE_LIMIT, native="whatever"))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: stuck)
    ended = search(problem, "milp")
    assert (ended.status, ended.termination) == (Status.FEASIBLE, Termination.NODE_LIMIT)
    for stopped in (late, near, ended):
        assert best is not None
        assert stopped.bound_key is not None
        assert stopped.bound_key >= best


def test_limits_are_counted_across_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that each program gets the remaining nodes, and that none begins without any."""
    asked: list[int | None] = []

    class Counting(Highs):
        def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            asked.append(limits.nodes)
            return replace(super().solve(problem, replace(limits, nodes=None), seed, start), nodes=2)

    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Counting())
    result = search(CoverageProblem.of(EQUAL), "milp", Limits(nodes=3))
    assert asked in ([3], [3, 1])
    assert result.nodes in {2, 4}
    assert result.status is (Status.OPTIMAL if result.nodes < 3 else Status.FEASIBLE)


def test_no_program_begins_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, options = thirty()
    problem = build(topic, setup_of(resolve({**options, "strategy": "milp"}))).problem
    asked = []

    class Stopping(Highs):
        def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            asked.append(limits)
            return replace(
                super().solve(problem, limits, seed, start), termination=Termination.INTERRUPTED, optimal=False
            )

    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Stopping())
    result = search(problem, "milp")
    assert (result.status, result.termination, len(asked)) == (Status.FEASIBLE, Termination.INTERRUPTED, 1)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_a_program_holds_exactly_the_better_feasible_selections(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = (CoverageProblem.of(random_coverage(rng, kind="sum", units=6)) for _ in count())
    problem = next(each for each in drawn if Capability.RATIOS in each.capabilities and each.size)
    instance = problem.coverage
    totals = RatioRows(instance)
    tops, bottoms = (rng.integers(0, 9, instance.ratios).tolist() for _ in range(2))
    every = [score(instance, chosen) for chosen in every_set(problem.size)]
    feasible = [found for found, _, violation in every if not violation]
    surpassed = [feasible[int(place)] for place in rng.integers(0, len(feasible), 2)] if feasible else []
    side = Side({0: int(rng.integers(1, 3))}, low=int(rng.integers(0, 4)), high=int(rng.integers(4, 9)))
    left = [
        totals.worth(tops, bottoms, found)
        for found in feasible
        if side.holds(found, totals.constants)
        and all(
            any(one > two for one, two in zip(found[0::2], other[0::2], strict=True))
            or any(one < two for one, two in zip(found[1::2], other[1::2], strict=True))
            for other in surpassed
        )
    ]
    model = totals.program(tops, bottoms, [side], surpassed)
    if model is None:
        assert not left
        return
    highs = new_highs()
    pass_model(highs, model)
    highs.setOptionValue("presolve", "off")
    highs.run()
    assert (highs.getModelStatus().name == "kOptimal") is bool(left)
    if left:
        assert round(highs.getInfo().objective_function_value) + model.offset == max(left)
