"""Check that every available backend keeps the contract, and that the backends promised on CI are available."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from optsum.solvers.backends.pyomo import NEWER, OLDER, PyomoBackend, PyomoDeclaration, chosen_units
from optsum.solvers.backends.through_pyomo import Cbc
from optsum.solvers.milp import Milp, backend_of

from optsum.contracts.backend import Backend, Declaration, Ending, OptionNames, RawOutcome, SizeLimit
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage
from optsum.errors import BackendError, OptionError, UnsupportedError
from optsum.problem.problem import CoverageProblem, Problem, Selection
from optsum.registry import BACKENDS
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import ConformanceError, check_backend, hard_instance

PROMISED = ("highs", "cp-sat", "cbc", "glpk", "scip")
"""CI has these: there they may not be skipped."""
OTHERS = tuple(name for name in BACKENDS if name not in PROMISED)

LOOSE = Coverage.of([2, 2, 2], [{0: 1}, {1: 1}, {2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=5)
"""Two of three fit, and the bound of its relaxation is 5."""

SMALL = Coverage.of([3, 3, 3], [{0: 1}, {1: 1}, {2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=8)


def usable(name: str) -> str:
    state = backend_of(name).available()
    if state:
        return name
    if name in PROMISED and os.environ.get("CI") == "true":
        pytest.fail(f"{name}: {state.reason}; CI must have it: {backend_of(name).declaration.install}")
    pytest.skip(f"{name}: {state.reason}")


def test_every_backend_is_in_this_file() -> None:
    assert set(PROMISED) | set(OTHERS) == set(BACKENDS)
    assert set(PROMISED) <= set(BACKENDS)


@pytest.mark.parametrize("name", PROMISED)
def test_the_promised_backends_keep_the_contract(name: str) -> None:
    check_backend(usable(name), instances=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_the_other_backends_keep_the_contract(name: str) -> None:
    check_backend(usable(name), instances=1)


@pytest.mark.parametrize("name", BACKENDS.names())
def test_declarations_are_whole(name: str) -> None:
    backend = backend_of(name)
    declared = backend.declaration
    assert backend.name == name
    assert declared.install.startswith(("pip install ", "sudo apt install "))
    assert declared.licence
    assert bool(declared.module) != bool(declared.program)
    assert {Ending.OPTIMAL, Ending.INFEASIBLE} <= set(declared.statuses.values())
    assert isinstance(backend, Backend)


def test_pyomo_s_statuses_are_all_declared() -> None:
    from pyomo.contrib.solver.common.results import TerminationCondition as Newer
    from pyomo.opt import TerminationCondition as Older

    assert set(NEWER) == set(Newer.__members__)
    assert set(OLDER) == {str(condition) for condition in Older}
    # No other status may claim a proof.
    assert {name for name, ending in OLDER.items() if ending is Ending.OPTIMAL} == {"optimal", "globallyOptimal"}
    assert {name for name, ending in NEWER.items() if ending is Ending.OPTIMAL} == {"convergenceCriteriaSatisfied"}


@pytest.mark.parametrize(
    ("limits", "seconds", "expected"),
    [
        (Limits(time_s=10), 9.9, Termination.TIME_LIMIT),
        (Limits(time_s=10, nodes=5), 9.9, Termination.TIME_LIMIT),
        (Limits(time_s=10, nodes=5), 2.0, Termination.NODE_LIMIT),
        (Limits(nodes=5), 2.0, Termination.NODE_LIMIT),
        (Limits(), 2.0, Termination.FAILED),
    ],
)
def test_a_limit_that_the_solver_does_not_name(limits: Limits, seconds: float, expected: Termination) -> None:
    assert Ending.LIMIT.termination(limits, seconds) is expected


class Deaf(Backend):
    """A backend with a fault that the conformance suite must find."""

    name = "deaf"
    about = "a test"
    declaration = Declaration(
        install="pip install nothing",
        licence="none",
        names=OptionNames(time="time", gap="gap", threads="threads", seed="seed", nodes="nodes"),
        statuses={"Optimal": Ending.OPTIMAL, "Infeasible": Ending.INFEASIBLE},
    )

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        return replace(backend_of("highs").solve(problem, limits, seed), **self.lies())

    def lies(self) -> dict[str, Any]:
        return {}


def test_the_suite_finds_an_option_that_is_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Deaf())
    with pytest.raises(ConformanceError, match="an unknown option is silently accepted"):
        check_backend("deaf", instances=1)


@pytest.mark.parametrize(
    ("lies", "match"),
    [
        ({"bound": 0.0}, "the bound 0.0 excludes a selection worth"),
        ({"selection": ()}, "is no optimum|its claimed objective differs"),
        ({"objective": 1e6}, "its claimed objective differs from its answer's"),
        ({"optimal": False}, "which is no optimum"),
        ({"termination": Termination.TIME_LIMIT}, "it ended with time_limit"),
    ],
)
def test_the_suite_finds_lies(monkeypatch: pytest.MonkeyPatch, lies: dict[str, Any], match: str) -> None:
    monkeypatch.setattr(Deaf, "lies", lambda self: lies)
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Deaf())
    with pytest.raises(ConformanceError, match=match):
        check_backend("deaf", instances=1)


@pytest.mark.parametrize(
    ("bound", "ended"),
    [(4.0, (Status.OPTIMAL, Termination.COMPLETED)), (5.0, (Status.FEASIBLE, Termination.TIME_LIMIT))],
)
def test_an_answer_that_attains_the_bound_at_a_limit_is_proven(
    monkeypatch: pytest.MonkeyPatch, bound: float, ended: tuple[Status, Termination]
) -> None:
    lies = {"termination": Termination.TIME_LIMIT, "optimal": False, "bound": bound}
    monkeypatch.setattr(Deaf, "lies", lambda self: lies)
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Deaf())
    result = search(CoverageProblem.of(LOOSE), "milp")
    assert (result.key, (result.status, result.termination)) == (Fraction(4, 6), ended)


def test_the_suite_finds_a_bound_that_is_passed_without_an_incumbent(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare(Deaf):
        def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            if self.options:
                raise OptionError("deaf has no options")
            if limits.time_s is None or limits.time_s > 1:
                return backend_of("highs").solve(problem, Limits(), seed)
            return RawOutcome(termination=Termination.TIME_LIMIT, bound=0.0)

    def backend(name: str, *, options: Any = None, **_: Any) -> Backend:
        return Bare(options=options)

    monkeypatch.setattr("optsum.solvers.milp.backend_of", backend)
    with pytest.raises(ConformanceError, match=r"the bound 0\.0 excludes a selection worth"):
        check_backend("deaf", instances=1)


def test_the_suite_finds_a_status_that_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deaf, "native_statuses", lambda self: ("Optimal", "Infeasible", "Tired"))
    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Deaf())
    with pytest.raises(ConformanceError, match="does not declare the statuses Tired"):
        check_backend("deaf")


def test_a_missing_backend_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConformanceError, match="cannot be used here: the program cbc is not on the PATH"):
        check_backend("cbc")
    with pytest.raises(BackendError, match="because the program cbc is not on the PATH: sudo apt install coinor-cbc"):
        search(CoverageProblem.of(SMALL), "milp", backend="cbc")


@pytest.mark.parametrize(
    ("backend", "limits", "options", "match"),
    [
        ("glpk", Limits(nodes=3), {}, "The backend glpk takes no node limit: use a time limit"),
        ("glpk", Limits(), {"threads": 2}, "The backend glpk takes no number of threads: leave it at 1"),
        ("cp-sat", Limits(nodes=3), {}, "The backend cp-sat takes no node limit"),
        ("rc2", Limits(gap=0.1), {}, "The backend rc2 takes no gap"),
    ],
)
def test_unsupported_problems_are_refused(backend: str, limits: Limits, options: dict[str, Any], match: str) -> None:
    with pytest.raises(UnsupportedError, match=match):
        search(CoverageProblem.of(SMALL), "milp", limits, backend=backend, **options)


@pytest.mark.parametrize("name", [*PROMISED, "pyomo:highs"])
def test_options_go_through_as_they_are(name: str) -> None:
    taken = {
        "highs": ("presolve", "off"), "pyomo:highs": ("presolve", "off"), "cp-sat": ("cp_model_presolve", False),
        "cbc": ("cuts", "off"), "glpk": ("nopresol", ""), "scip": ("presolving/maxrounds", 0),
    }[usable(name)]  # fmt: skip
    strategy = Milp(backend=name, backend_options=(taken,))
    assert search(CoverageProblem.of(SMALL), strategy).status is Status.OPTIMAL


@pytest.mark.parametrize("limits", [Limits(time_s=1e300), Limits(nodes=10**30)], ids=str)
@pytest.mark.parametrize("name", ["highs", "pyomo:highs", "cbc", "scip"])
def test_limits_may_be_larger_than_a_solver_s_numbers(name: str, limits: Limits) -> None:
    found = search(CoverageProblem.of(SMALL), Milp(backend=name), limits)
    assert (found.status, found.termination) == (Status.OPTIMAL, Termination.COMPLETED)


def test_an_option_wins_over_what_optsum_sets() -> None:
    backend = backend_of("highs", options={"mip_max_nodes": 0, "time_limit": 7.0})
    settings = backend.settings(Limits(time_s=100.0), 3)
    assert (settings["time_limit"], settings["mip_max_nodes"], settings["random_seed"]) == (7.0, 0, 3)


@pytest.mark.parametrize("value", ["of another kind", 2.5])
def test_a_value_of_the_wrong_kind_is_refused(value: object) -> None:
    for name, option in (("highs", "mip_max_nodes"), ("cp-sat", "num_workers")):
        if not backend_of(name).available():
            continue
        with pytest.raises(OptionError, match=f"The backend {name} does not take the option {option}"):
            backend_of(name, options={option: value}).solve(CoverageProblem.of(SMALL), Limits(), 0)


class Broken(PyomoBackend):
    """Pyomo's driver with a solver that fails with its own messages."""

    name = "broken"
    about = "a test"
    declaration = PyomoDeclaration(
        factory="cbc",
        newer=False,
        install="",
        licence="",
        size=SizeLimit(columns=2000, rows=2000),
        statuses=OLDER,
        option_failures="Unknown parameter",
        size_failures="too large for size-limited",
    )
    words = ""

    def factory(self) -> Any:
        raise RuntimeError(self.words)


@pytest.mark.parametrize(
    ("words", "options", "error", "match"),
    [
        ("Model too large for size-limited license", {}, BackendError,
         "allows 2,000 variables and 2,000 rows, and this program has 7 variables and 4 rows: .*backend=.highs"),
        ("No license found, id 1", {}, BackendError, "finds no licence .No license found, id 1.: use backend"),
        ("Unknown parameter 'x'", {"x": 1}, OptionError, "does not take the options x=1: Unknown parameter 'x'"),
    ],
)  # fmt: skip
def test_exceptions_of_solvers_become_sentences(
    monkeypatch: pytest.MonkeyPatch, words: str, options: dict[str, Any], error: type[Exception], match: str
) -> None:
    monkeypatch.setattr(Broken, "words", words)
    with pytest.raises(error, match=match):
        Broken(options=options).solve(CoverageProblem.of(SMALL), Limits(), 0)


def test_other_exceptions_of_solvers_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Broken, "words", "Out of luck.\nand more")
    for options, said in (
        ({}, "broken failed: Out of luck"),
        ({"x": 1}, "broken failed with the options x=1: Out of luck"),
    ):
        outcome = Broken(options=options).solve(CoverageProblem.of(SMALL), Limits(), 0)
        assert (outcome.termination, outcome.detail) == (Termination.FAILED, said)


@pytest.mark.parametrize(("name", "units"), [("gurobi", 2100), ("cplex", 1100), ("xpress", 5100)])
@pytest.mark.slow
def test_an_instance_over_a_licence_names_the_limit(name: str, units: int) -> None:
    if not backend_of(usable(name)).licence().startswith("free"):
        pytest.skip(f"{name} has a full licence here")
    big = Coverage.of([1] * units, [{0: 1}] * units, [[1]], max_length=3)
    with pytest.raises(
        BackendError, match=f"The licence of {name} on this machine allows .*backend=.highs., which is free"
    ):
        search(CoverageProblem.of(big), "milp", backend=name)


class Values:
    """The values that Pyomo holds after a solve."""

    def __init__(self, *values: float | None) -> None:
        self.x = {unit: type("Var", (), {"value": value}) for unit, value in enumerate(values)}


def test_fractions_are_no_selection() -> None:
    assert chosen_units(Values(0.9999, 1e-9, None, 1.0000001)) == (0, 3)
    assert chosen_units(Values(1.0, 0.5)) is None
    assert chosen_units(Values(1.0, -0.2)) is None


class Results:
    """The result of Pyomo's older interface, with the peculiarities of CBC."""

    class solver:  # noqa: N801
        status, termination_condition, wallclock_time = "aborted", "maxTimeLimit", 1.0

        class statistics:  # noqa: N801
            class branch_and_bound:  # noqa: N801
                number_of_bounded_subproblems = 5

    class problem:  # noqa: N801
        upper_bound, lower_bound = -559.868, 524.0

    solution: tuple[Any, ...] = ()


@pytest.mark.parametrize(
    ("condition", "upper", "expected"),
    [("maxTimeLimit", -5.0, 5.0), ("maxTimeLimit", 5.0, 5.0), ("optimal", 4.0, None), ("infeasible", 5.3, None),
     ("maxTimeLimit", float("inf"), None), ("maxEvaluations", 1e50, None)],
)  # fmt: skip
def test_a_bound_that_lost_its_sign(
    monkeypatch: pytest.MonkeyPatch, condition: str, upper: float, expected: float | None
) -> None:
    monkeypatch.setattr(Results.solver, "termination_condition", condition)
    monkeypatch.setattr(Results.problem, "upper_bound", upper)
    solver = type("Solver", (), {"options": {}, "solve": lambda self, model, **_: Results})
    monkeypatch.setattr(Cbc, "factory", lambda self: solver())
    monkeypatch.setattr(Cbc, "accept", lambda self, limits: None)
    outcome = Cbc().solve(CoverageProblem.of(SMALL), Limits(time_s=5.0, nodes=9), 0)
    assert outcome.bound == (None if expected is None else pytest.approx(expected, rel=2e-5))
    assert outcome.bound is None or outcome.bound >= expected  # printed with six digits, so it may be larger
    assert (outcome.selection, outcome.native, outcome.nodes) == (None, condition, 5)
    assert outcome.termination is Cbc.declaration.statuses[condition].termination(Limits(time_s=5.0, nodes=9), 1.0)


def test_the_solver_starts_from_what_greedy_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[Selection | None] = []

    class Listening(Deaf):
        declaration = replace(Deaf.declaration, warm_start=True)

        def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
            starts.append(start)
            return super().solve(problem, limits, seed)

    monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Listening())
    search(CoverageProblem.of(SMALL), "milp", Limits(time_s=5.0))
    assert starts[0] is not None
    assert len(starts[0]) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT to one process alone")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_ends_a_solver_and_its_selection_is_kept(number: signal.Signals) -> None:
    """Run all solvers in one process, so that each must leave the handling of Ctrl-C intact for the next."""
    here, others = ["scip", "pyomo:highs", "gurobi", "highs"], ["cbc", "glpk", "cplex", "xpress", "cp-sat"]
    names = [*here, *others] if number is signal.SIGINT else ["scip", "highs"]
    able = [name for name in names if (usable(name) if name in PROMISED else backend_of(name).available())]
    code = (
        "import signal; signal.signal(signal.SIGTERM, signal.default_int_handler)\n"
        "from optsum.testing import hard_instance\n"
        "from optsum.problem.problem import CoverageProblem; from optsum.running.search import search\n"
        "from optsum.system.clock import Limits\n"
        "problem = CoverageProblem.of(hard_instance()); problem.linear_model, problem.root_bound()\n"
        f"for name in {able!r}:\n"
        "    search(CoverageProblem.of(hard_instance(units=5)), 'milp', backend=name); print('ready', flush=True)\n"
        "    result = search(problem, 'milp', backend=name)\n"
        "    print(name, result.termination.value, result.status.value, 0 < result.objective <= result.bound)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=Path(__file__).parent,
    )
    watchdog = Timer(60, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        for name in able:
            assert process.stdout.readline() == "ready\n", name
            time.sleep(1.0)  # time to find a selection, on a busy machine too
            os.killpg(process.pid, number)  # as a terminal does, to all processes of the group
            line = next(line for line in process.stdout if line.strip() and "request received" not in line)
            assert line == f"{name} interrupted feasible True\n"
        assert process.wait() == 0
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def test_threads_may_change_from_solve_to_solve() -> None:
    problem = CoverageProblem.of(hard_instance(units=20))
    found = [search(problem, "milp", backend="highs", threads=threads).key for threads in (1, 2, 1)]
    assert len(set(found)) == 1
    assert search(problem, "milp", Limits(nodes=1), backend="highs").bound is not None, "the root bound works again"
