"""Check that HiGHS ends at the deadline and on Ctrl-C, and that its unfinished bound is valid."""

from __future__ import annotations

import os
import signal
import sys
import threading
from fractions import Fraction
from time import perf_counter, sleep

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest

import optsum
from optsum.coverage.instance import Coverage
from optsum.problem.problem import CoverageProblem
from optsum.program.model import LinearModel, coverage_model, model_bound, new_highs, pass_model, relax, run
from optsum.program.ratio_bound import value_bound
from optsum.system.clock import Deadline
from optsum.system.processes.signal_guard import postponing
from optsum.testing import KINDS, brute_force, random_coverage


def large(units: int = 400, features: int = 1500) -> Coverage:
    """Return an instance whose linear program takes seconds."""
    rng = np.random.default_rng(0)
    rows = [dict.fromkeys(rng.choice(features, 60, replace=False).tolist(), 1) for _ in range(units)]
    return Coverage.of(
        rng.integers(5, 40, units).tolist(), rows, [[2, 1]] * features, constants=(0, 3 * features), max_length=900
    )


@pytest.fixture(scope="module")
def model() -> LinearModel:
    return coverage_model(large())


def test_the_deadline_ends_highs(model: LinearModel) -> None:
    began = perf_counter()
    full = model_bound(model, Deadline(0.0))
    for seconds in (0.0, 0.05):
        relaxation = relax(model, Deadline(seconds))
        assert relaxation is None or not relaxation.optimal or perf_counter() - began < 1.0
        assert model_bound(model, Deadline(seconds)) <= full
    assert perf_counter() - began < 5.0


class Pressed(Deadline):
    """A deadline that raises SIGINT while HiGHS calls back."""

    pressed = False

    @property
    def left_s(self) -> float:
        if not self.pressed and sys._getframe(1).f_code.co_name == "hear":
            self.pressed = True
            signal.raise_signal(signal.SIGINT)
        return super().left_s


def test_ctrl_c_while_highs_calls_back_is_no_error_of_its_own() -> None:
    highs, deadline = new_highs(), Pressed(60.0)
    highs.setOptionValue("presolve", "off")
    pass_model(highs, coverage_model(large(30, 60)))

    @postponing()
    def work() -> None:
        run(highs, deadline, apart=False)
        sleep(60)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert deadline.pressed
    assert highs.getModelStatus().name == "kOptimal"


def test_the_clock_of_a_solver_that_ran_before_does_not_count(model: LinearModel) -> None:
    highs = new_highs()
    pass_model(highs, model, relaxed=True)
    assert run(highs, Deadline(0.02))
    before = highs.getRunTime()
    assert run(highs, Deadline(0.2))
    assert highs.getRunTime() > before
    assert run(highs, Deadline(60.0))
    assert highs.modelStatusToString(highs.getModelStatus()) == "Optimal"


def test_a_callback_ends_highs(model: LinearModel) -> None:
    highs = new_highs()
    pass_model(highs, model, relaxed=True)
    highs.setOptionValue("presolve", "off")
    began = perf_counter()
    assert run(highs, Deadline(should_stop=lambda: perf_counter() - began > 0.05))
    assert perf_counter() - began < 2.0
    assert highs.modelStatusToString(highs.getModelStatus()) in {"Interrupted by user", "Optimal"}


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process alone")
def test_ctrl_c_ends_highs(model: LinearModel) -> None:
    highs = new_highs()
    pass_model(highs, model)  # the integer program takes minutes
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run(highs)
    assert perf_counter() - began < 2.0
    timer.join()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seconds", [0.0, 0.001, 60.0])
def test_a_bound_that_ends_early_is_weaker_never_wrong(kind: str, seconds: float) -> None:
    for seed in range(4):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        best, bound = brute_force(problem).best, problem.root_bound(Deadline(seconds))
        if best is not None and bound is not None:
            assert not problem.sense.better(best, bound)


def test_without_time_f1_is_at_most_1() -> None:
    rows = [{0: 1, 1: 2}, {1: 1, 2: 1}, {0: 1}]
    instance = Coverage.of(
        [3, 2, 4], rows, [[2], [2, 2], [2]], constants=(0, 4), mass=[[0] * 3, [3, 2, 4]], max_length=9
    )
    assert value_bound(instance) <= value_bound(instance, Deadline(0.0)) <= 1


def test_without_time_a_sum_has_a_trivial_bound() -> None:
    """Test the trivial bounds: the largest numerator over the least denominator."""
    instance = random_coverage(np.random.default_rng(1), kind="sum")
    assert value_bound(instance, Deadline(0.0)) >= value_bound(instance) > Fraction(0)


def test_output_is_off_before_callbacks_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test this because enabling callbacks prints the version to stdout since HiGHS 1.16, where rows are written."""
    said = []

    def begin(highs: highspy.Highs) -> None:
        said.append(highs.getOptionValue("output_flag")[1])

    monkeypatch.setattr(highspy.Highs, "enableCallbacks", begin)
    new_highs()
    assert said == [False]


@pytest.mark.parametrize("strategy", ["milp", "exhaustive", "branch-and-bound"])
def test_an_earlier_highs_with_more_threads_does_no_harm(strategy: str) -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.Binary)
    model.y = pyo.Var(range(2), domain=pyo.Integers, bounds=(0, 4))
    model.room = pyo.Constraint(expr=2 * model.y[0] + 3 * model.y[1] <= 1 + 2 * pyo.quicksum(model.x.values()))
    model.worth = pyo.Objective(expr=2 * model.y[0] + 3 * model.y[1] - model.x[0], sense=pyo.maximize)
    for backend in ("highs", "pyomo:highs")[: 2 if strategy == "milp" else 1]:
        theirs = highspy.Highs()
        theirs.setOptionValue("output_flag", False)
        theirs.setOptionValue("threads", 2)
        theirs.addVar(0, 1)
        try:
            theirs.run()
            given = backend if strategy == "milp" else None
            result = optsum.solve(optsum.PyomoProblem(model, units=model.x), strategy=strategy, backend=given)
            assert (result.status, result.objective) == (optsum.Status.OPTIMAL, 6)
        finally:
            highspy.Highs.resetGlobalScheduler(True)
