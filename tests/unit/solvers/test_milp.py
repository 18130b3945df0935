"""Test the strategy `milp`: how claims of solvers are checked, limits, failures, ratios."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest
from optsum.solvers.backends.highs import Highs, _outcome
from optsum.solvers.objectives.sums import RatioRows

import optsum
from optsum.contracts.backend import Backend, Declaration, OptionNames, RawOutcome
from optsum.contracts.result import Result, Status
from optsum.coverage.instance import Combination, Coverage, Sense
from optsum.errors import BackendError, UnsupportedError
from optsum.problem.problem import CoverageProblem, Problem, Selection
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import brute_force, hard_instance

# The optimum is 4 of 6 by two of three sentences; the relaxation allows 5.
INSTANCE = Coverage.of([3, 3, 3], [{0: 1}, {1: 1}, {2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=8)
COVER = Coverage.of([2, 3, 4], [{0: 1}, {1: 1}, {0: 1, 1: 1}], [[1], [1]], goal=Sense.MINIMIZE)
DONE = Termination.COMPLETED


@dataclass
class Fake(Backend):
    """A backend with a given answer."""

    outcome: RawOutcome
    asked: list[Limits] = field(default_factory=list)

    starts: list[Selection | None] = field(default_factory=list)

    name = "fake"
    about = "a test"
    declaration = Declaration(
        install="", licence="", names=OptionNames(time="t", gap="g", nodes="n", threads="p"), warm_start=True
    )

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        self.asked.append(limits)
        self.starts.append(start)
        return self.outcome


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    def given(instance: Coverage, limits: Limits | None = None, **claims: Any) -> Result:
        fake = Fake(RawOutcome(**{"termination": DONE, "native": "whatever", **claims}))
        monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: fake)
        return search(CoverageProblem.of(instance), "milp", limits)

    return given


def test_an_honest_answer_is_optimal(answer: Any) -> None:
    result = answer(INSTANCE, optimal=True, selection=(0, 2), objective=4.0, bound=4.0, nodes=3)
    assert (result.status, result.selection, result.bound_exact, result.nodes) == (Status.OPTIMAL, (0, 2), "2/3", 3)
    assert result.statistics["native_status"] == "whatever"


@pytest.mark.parametrize(
    ("objective", "bound"),
    [
        (4.000000000000001, 4.0),
        (3.9999999, 4.0000001),
        (4.0, 4.9),
        (None, 4.0),
        (4.0, None),
        (3.2, 4.0),
    ],
)
def test_the_last_digits_of_a_solver_do_not_matter(answer: Any, objective: float | None, bound: float | None) -> None:
    result = answer(INSTANCE, optimal=True, selection=(0, 2), objective=objective, bound=bound)
    assert (result.status, result.objective_exact, result.bound_exact) == (Status.OPTIMAL, "2/3", "2/3")


LARGE = Coverage.of(
    [3, 3, 3], [{0: 1}, {1: 1}, {2: 1}], [[2 * 10**11 + 1]] * 3, constants=(0, 6 * 10**11 + 3), max_length=8
)


@pytest.mark.parametrize("bound", [4e11 - 300, 4e11 + 2, 4e11 + 300, 4e11 + 4000, None])
def test_over_a_large_denominator_nothing_that_a_solver_says_is_a_proof(
    answer: Any, bound: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test a least common multiple of denominators that is finer than a solver's tolerance."""
    for objective in (4e11 + 1e4, 4.01e11, None):
        result = answer(LARGE, optimal=True, selection=(0, 2), objective=objective, bound=bound)
        assert (result.status, result.objective_exact, result.bound_exact) == (Status.OPTIMAL, "2/3", "2/3")
        assert "proven by branch-and-bound" in result.detail
    for selection, said in ((None, {"infeasible": True}), ((0,), {"optimal": True}), ((0, 1, 2), {"optimal": True})):
        result = answer(LARGE, selection=selection, bound=bound, **said)
        assert (result.status, result.objective_exact) == (Status.OPTIMAL, "2/3")
    monkeypatch.setattr("optsum.solvers.milp.prove", lambda run: False)  # as if our proof did not end in time
    result = answer(LARGE, optimal=True, selection=(0,), objective=2e11, bound=2e11)
    assert result.status is Status.FEASIBLE
    assert "which is not a proof" in result.detail


@pytest.mark.parametrize("ends", [{"optimal": True}, {"termination": Termination.TIME_LIMIT}])
def test_over_a_large_denominator_what_is_next_to_the_optimum_is_not_optimal(answer: Any, ends: dict[str, Any]) -> None:
    """Test this because a solver does not see a difference of one in 10^11, nor is its bound that exact."""
    gains = [[2 * 10**11 + 1], [2 * 10**11], [2 * 10**11]]
    near = replace(LARGE, level=Coverage.of([3] * 3, [{0: 1}, {1: 1}, {2: 1}], gains).level)
    result = answer(near, selection=(1, 2), objective=4e11, bound=4e11, **ends)
    assert result.bound_key is not None
    assert result.bound_key >= Fraction(4 * 10**11 + 1, 6 * 10**11 + 3)
    assert (result.status is Status.OPTIMAL) == (result.key == result.bound_key)


def test_a_ratio_of_large_numbers_is_proven_by_ours(answer: Any) -> None:
    """Test F1 where a solver claims that nothing beats the selection of greedy search."""
    times = 10**5
    instance = Coverage.of(
        [5, 5, 5],
        [{0: 1, 1: 1}, {0: 1, 2: 1}, {1: 1, 2: 1, 3: 1}],
        [[2 * times], [2 * times], [2 * times], [2 * times + 1]],
        constants=(0, 4 * times),
        mass=[[0, 0, 0], [5 * times, 5 * times + 1, 6 * times]],
        max_length=10,
    )
    best = search(CoverageProblem.of(instance), "branch-and-bound").key
    for said in ({"selection": None, "infeasible": True}, {"selection": (1,), "optimal": True}):
        result = answer(instance, **said)
        assert (result.status, result.key, result.bound_key) == (Status.OPTIMAL, best, best)


def test_the_error_of_a_failing_solver_has_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test this because CP-SAT 9.15 crashes under ``instantiate_all_variables=False``."""

    class Dying(Fake):
        def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            raise BackendError("It died.")

    fake = Dying(RawOutcome(termination=DONE))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: fake)
    for options, words in (({}, "It died."), ({"a": 1, "b": "on"}, "It died; it was given a=1, b=on.")):
        fake.options = options
        with pytest.raises(BackendError) as told:
            search(CoverageProblem.of(INSTANCE), "milp")
        assert str(told.value) == words


F1 = Coverage.of([1, 1], [{0: 1}, {1: 1}], [[2], [2]], constants=(0, 4), mass=[[0, 0], [1, 2]])


@pytest.mark.parametrize("options", [{}, {"a": 1}])
@pytest.mark.parametrize(
    "claims", [{}, {"bound": 0.0}, {"selection": (0, 9)}, {"selection": (0, 1, 2)}, {"detail": "No"}]
)
@pytest.mark.parametrize("instance", [INSTANCE, COVER, F1, replace(INSTANCE, min_length=3)])
def test_a_solver_that_fails_ends_as_a_limit_does(
    instance: Coverage, claims: dict[str, Any], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that its claims are ignored, while greedy search's selection and the root bound are kept."""
    fake = Fake(RawOutcome(termination=Termination.FAILED, native="whatever", **claims))
    fake.options = options
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: fake)
    monkeypatch.setattr("optsum.solvers.milp.prove", lambda run: False)
    problem = CoverageProblem.of(instance)
    result, greedy = search(problem, "milp"), search(problem, "greedy")
    assert result.selection is not None
    assert not problem.sense.better(greedy.key, result.key)
    assert result.bound_key is not None
    assert not problem.sense.better(brute_force(problem).best, result.bound_key)
    said = claims.get("detail", "fake ended with the status 'whatever', which is not a proof")
    assert result.detail == (f"{said}; it was given a=1" if options else said)
    assert (result.termination, result.statistics["solver_failed"]) == (DONE, True)


def test_a_solver_that_fails_where_nothing_is_known_is_an_error(answer: Any) -> None:
    with pytest.raises(BackendError, match="fake ended with the status 'whatever', which is not a proof"):
        answer(replace(INSTANCE, min_length=7), termination=Termination.FAILED)


def test_minimizing_rounds_the_bound_up(answer: Any) -> None:
    result = answer(COVER, optimal=True, selection=(2,), objective=4.0, bound=3.2)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 4.0, 4.0)
    limit = answer(COVER, termination=Termination.TIME_LIMIT, selection=(0, 1), objective=5.0, bound=2.2)
    # Greedy search has a shorter cover, and the root bound is tighter.
    assert (limit.status, limit.objective, limit.bound) == (Status.FEASIBLE, 4.0, 4.0)


@pytest.mark.parametrize(
    ("claims", "match"),
    [
        ({"selection": (0, 1, 2), "optimal": True}, "violates the limits by 1: this is not a valid result"),
        ({"selection": (0, 9), "optimal": True}, "names units that do not exist"),
        (
            {"selection": (0,), "objective": 4.0, "optimal": True},
            "claims an objective of 0.666667, but .* has 0.333333",
        ),
        ({"selection": (0, 1), "bound": 5.0, "optimal": True}, "calls 0.666667 optimal, but its own bound is 5 / 6"),
        ({"selection": (0, 1), "bound": -4.0, "optimal": True}, "claims optimality with a bound of -0.666667"),
        ({"selection": (0, 1), "bound": 3.0, "optimal": True}, "claims optimality with a bound of 0.5"),
        ({"optimal": True}, "'whatever' without an answer that can be used"),
        ({"infeasible": True}, "calls the problem infeasible, but a feasible selection is known"),
        ({}, "'whatever' without an answer that can be used"),
    ],
)
def test_a_solver_that_claims_too_much_is_an_error(answer: Any, claims: dict[str, Any], match: str) -> None:
    with pytest.raises(BackendError, match=match):
        answer(INSTANCE, **claims)


def test_infeasibility_is_believed_where_nothing_feasible_is_known(answer: Any) -> None:
    window = replace(INSTANCE, min_length=7)
    result = answer(window, infeasible=True)
    assert (result.status, result.selection, result.bound) == (Status.INFEASIBLE, None, None)


def test_an_answer_may_be_worth_more_than_its_model_said(answer: Any) -> None:
    """Test a selection whose steps the solver's heuristic did not fill."""
    result = answer(INSTANCE, termination=Termination.TIME_LIMIT, selection=(0, 1), objective=2.0, bound=5.0)
    assert (result.status, result.objective_exact, result.termination) == (
        Status.FEASIBLE, "2/3", Termination.TIME_LIMIT,
    )  # fmt: skip


@pytest.mark.parametrize("bound", [-5.0, 1.0])
def test_a_wrong_bound_at_a_limit_is_an_error(answer: Any, bound: float) -> None:
    with pytest.raises(
        BackendError, match=f"states a bound of {bound / 6:.6g}, which a selection worth 0.666667 exceeds"
    ):
        answer(INSTANCE, termination=Termination.TIME_LIMIT, selection=(0, 1), objective=4.0, bound=bound)


@pytest.mark.parametrize("what", ["objective", "bound"])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_claims_that_are_no_numbers_are_errors(what: str, value: float) -> None:
    with pytest.raises(BackendError, match=f"states {value} for its {what}"):
        RawOutcome(termination=DONE, selection=(0, 1), **{what: value})


def test_an_outcome_that_contradicts_itself_is_an_error() -> None:
    with pytest.raises(BackendError, match="infeasible and its answer optimal"):
        RawOutcome(termination=DONE, infeasible=True, optimal=True)
    with pytest.raises(BackendError, match="infeasible and has a selection"):
        RawOutcome(termination=DONE, infeasible=True, selection=(0,))


def test_within_a_gap_too_nothing_much_better_may_be_known(answer: Any) -> None:
    with pytest.raises(BackendError, match=r"calls 0 optimal, but a selection worth 0\.666667 is known"):
        answer(INSTANCE, Limits(gap=0.1, time_s=9), optimal=True, selection=(), objective=0.0)


def test_without_a_solution_nothing_is_optimal(answer: Any) -> None:
    with pytest.raises(BackendError, match="without an answer that can be used"):
        answer(INSTANCE, Limits(time_s=9), optimal=True, bound=4.0)


def test_a_cover_that_can_do_without_a_unit_is_not_the_least(answer: Any) -> None:
    with pytest.raises(BackendError, match="calls 9 optimal, but a selection worth"):
        answer(COVER, optimal=True, selection=(0, 1, 2), objective=9.0)


def test_the_tighter_bound_is_reported(answer: Any) -> None:
    limit = {"termination": Termination.TIME_LIMIT, "selection": (0,), "objective": 2.0}
    assert answer(INSTANCE, **limit, bound=4.5).bound_exact == "2/3"
    assert answer(INSTANCE, **limit, bound=6.0).bound_exact == "5/6"


@pytest.mark.parametrize(
    ("bound", "status"), [(4.0, Status.OPTIMAL), (4.9, Status.OPTIMAL), (5.0, Status.FEASIBLE), (None, Status.FEASIBLE)]
)
def test_within_a_gap_only_a_bound_that_agrees_proves(answer: Any, bound: float | None, status: Status) -> None:
    result = answer(INSTANCE, Limits(gap=0.3), optimal=True, selection=(0, 1), objective=4.0, bound=bound)
    assert result.status is status
    if status is Status.FEASIBLE:
        assert result.termination is Termination.GAP_REACHED


@pytest.mark.parametrize("termination", [Termination.TIME_LIMIT, Termination.NODE_LIMIT, Termination.INTERRUPTED])
def test_a_limit_without_an_answer(answer: Any, termination: Termination) -> None:
    instance = replace(INSTANCE, min_length=1)
    result = answer(instance, termination=termination)
    assert (result.status, result.termination, result.bound_exact) == (Status.FEASIBLE, termination, "5/6")
    assert result.selection == search(CoverageProblem.of(instance), "greedy").selection


def test_no_round_begins_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test a better selection from the interrupted round, which would call for another round."""
    fake = Fake(RawOutcome(termination=Termination.INTERRUPTED, selection=(0,), objective=11.0))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: fake)
    f1 = Coverage.of(
        [3, 2], [{0: 1}, {1: 1}], [[4], [3]], constants=(0, 10), mass=[[0, 0], [1, 1]], max_length=3
    )  # greedy search takes the second, which has more value for its length
    found = search(CoverageProblem.of(f1), "milp")
    assert (found.selection, found.objective_exact, found.termination) == ((0,), "4/11", Termination.INTERRUPTED)
    assert len(fake.asked) == 1


def test_the_rest_of_the_limits_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(RawOutcome(termination=Termination.TIME_LIMIT))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: fake)
    search(CoverageProblem.of(INSTANCE), "milp", Limits(time_s=5, nodes=7, gap=0.5, evaluations=99, target=0.9))
    (asked,) = fake.asked
    assert asked.time_s is not None
    assert 4 < asked.time_s <= 5
    assert (asked.nodes, asked.gap, asked.evaluations, asked.target) == (7, 0.5, None, None)


def test_an_instance_without_units_needs_no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Fake(RawOutcome(termination=DONE)))
    empty = search(CoverageProblem.of(Coverage.of([], [], [])), "milp")
    assert (empty.status, empty.selection) == (Status.OPTIMAL, ())
    assert search(CoverageProblem.of(Coverage.of([], [], [], min_length=1)), "milp").status is Status.INFEASIBLE


def test_a_ratio_s_last_round_is_not_believed_unchecked(answer: Any) -> None:
    f1 = Coverage.of([1, 1], [{0: 1}, {1: 1}], [[2], [2]], constants=(0, 4), mass=[[0, 0], [1, 2]])
    result = answer(f1, optimal=True, selection=(0, 1), objective=16.0, bound=16.0)
    assert (result.status, result.objective_exact, result.statistics["rounds"]) == (Status.OPTIMAL, "4/7", 1)
    with pytest.raises(BackendError, match="optimal, but its own bound is 17 / 1"):
        answer(f1, optimal=True, selection=(0, 1), objective=16.0, bound=17.0)
    with pytest.raises(BackendError, match="violates the limits"):
        answer(replace(f1, max_length=1), optimal=True, selection=(0, 1), objective=9.0, bound=9.0)
    failed = answer(f1, termination=Termination.FAILED)
    assert (failed.status, failed.termination, failed.objective_exact) == (Status.FEASIBLE, DONE, "4/7")
    limit = answer(f1, termination=Termination.TIME_LIMIT)
    assert (limit.status, limit.termination) == (Status.FEASIBLE, Termination.TIME_LIMIT)
    assert limit.bound_key is not None
    assert limit.bound_key >= limit.key


def test_rounds_that_do_not_advance_are_an_error(answer: Any) -> None:
    """Test an answer that its program forbids (a denominator below 0), which would be given forever."""
    joined = Coverage.of([0, 3], [{}, {0: 1}], [[1]], constants=(0, -1), mass=[[0, 0], [0, 3]])
    with pytest.raises(BackendError, match="it would search forever"):
        answer(joined, optimal=True, selection=(0,))


class Rounded:
    """Values of HiGHS that are integral up to the last digits."""

    def __init__(self, real: Any, values: list[float]) -> None:
        self.real, self.values = real, values

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def getSolution(self) -> Any:  # noqa: N802
        return type("Solution", (), {"col_value": self.values})


def test_columns_that_are_almost_one_are_chosen() -> None:
    from optsum.program.model import new_highs, pass_model

    highs = new_highs()
    pass_model(highs, CoverageProblem.of(INSTANCE).linear_model)
    highs.run()
    outcome = _outcome(Rounded(highs, [0.9999, 1e-9, 1.0000001, 0.3]), 3, Limits(), {"solve_s": 0.0})
    assert outcome.selection == (0, 2)
    assert (outcome.termination, outcome.optimal, outcome.native) == (DONE, True, "Optimal")


def test_highs_says_whether_it_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Highs().available()
    assert Highs().available().version.count(".") == 2
    monkeypatch.setitem(sys.modules, "highspy", None)
    missing = Highs().available()
    assert not missing
    assert missing.reason == "the package highspy is not installed"


def test_a_time_limit_ends_the_solver() -> None:
    began = time.perf_counter()
    result = search(CoverageProblem.of(hard_instance()), "milp", Limits(time_s=1.0))
    assert time.perf_counter() - began < 8
    assert (result.termination, result.status) == (Termination.TIME_LIMIT, Status.FEASIBLE)
    assert result.objective is not None
    assert result.bound is not None
    assert result.objective < result.bound <= 1


def test_a_node_limit_ends_the_solver() -> None:
    result = search(CoverageProblem.of(hard_instance(units=120)), "milp", Limits(nodes=1, time_s=30))
    assert result.termination is Termination.NODE_LIMIT
    assert result.status in {Status.FEASIBLE, Status.NO_SOLUTION}


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process alone")
def test_ctrl_c_ends_the_solver_with_what_it_has() -> None:
    code = (
        "from optsum.testing import hard_instance\n"
        "from optsum.problem.problem import CoverageProblem; from optsum.running.search import search\n"
        "for strategy in ('greedy', 'milp'): search(CoverageProblem.of(hard_instance(units=5)), strategy)\n"
        "problem = CoverageProblem.of(hard_instance()); problem.linear_model; print('ready', flush=True)\n"
        "result = search(problem, 'milp')\n"
        "print(result.termination.value, result.status.value, result.objective <= result.bound)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert output == "interrupted feasible True\n"
    assert process.returncode == 0


def test_a_start_returned_with_the_value_of_the_optimum_is_no_error() -> None:
    """Test this because HiGHS 1.16 states the optimum of this topic, but returns greedy search's selection."""
    topic = {
        "id": "start",
        "documents": [["q c . .", "strasse a . .", "the a", "", "q c . .", " . ."]],
        "references": [
            ["a x y strasse a b q a the"],
            ["b a ran a a b"],
            ["a a b a b c", "running cats"],
            ["strasse a x y"],
            ["x y q", "a b a e"],
            ["a b e s d of c", "e s"],
        ],
    }
    options: dict[str, Any] = {"metric": "rouge-1+rouge-2+rouge-su4", "references": "mean", "max_length": 4}
    best = optsum.solve(topic, **options, strategy="exhaustive")
    for gap in (None, 0.0):
        result = optsum.solve(topic, **options, strategy="milp", node_limit=9, gap=gap)
        assert (result.status, result.key) == (Status.OPTIMAL, best.key)


def test_rows_of_totals_that_64_bits_do_not_hold_are_refused() -> None:
    constants, mass = (0, 1, 0, 1), [[2**59, 1], [1, 1], [1, 2**59], [1, 1]]
    instance = Coverage.of(
        [1, 1], [{}, {}], [], constants=constants, mass=mass, weights=(1, 1), combination=Combination.SUM, max_length=1
    )
    rows = RatioRows(instance)
    held = rows.program((2, 2), (1, 1))
    assert held is not None
    assert held.objective[:2].tolist() == [2**60, 2**60]
    with pytest.raises(UnsupportedError, match="exceed 2\\^62"):
        rows.program((9, 9), (1, 1))
