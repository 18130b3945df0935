"""Check that options of the solvers' own cause no false proof, no wrong bound, and no lost selection."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_solvers import fake_cbc, first_on_path
from fuzz_options import LISTS, options_of, rows, try_one
from optsum.solvers.milp import backend_of

import optsum
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import brute_force, hard_instance, random_coverage

STOPS: dict[str, list[tuple[str, Any]]] = {
    "highs": [
        ("mip_rel_gap", 0.5), ("mip_abs_gap", 50.0), ("mip_max_improving_sols", 1), ("objective_bound", 1.0),
        ("objective_target", 1.0), ("mip_feasibility_tolerance", 0.4), ("small_matrix_value", 2.0),
        ("solver", "simplex"), ("mip_max_leaves", 1), ("mip_max_stall_nodes", 0), ("time_limit", 0.0),
        ("mip_max_nodes", 0),
    ],
    "cbc": [
        ("ratio", 0.5), ("ratioGap", 0.5), ("rat", 0.5), ("allow", 50), ("allowableGap", 50), ("maxSo", 1),
        ("cutoff", 3), ("cutoff", 1000), ("maxNodes", 0), ("maxN", 1), ("increment", 7), ("integerTolerance", 0.4),
        ("sec", 0), ("preprocess", "on"), ("dualTolerance", 1), ("primalTolerance", 1), ("heur", "off"),
        ("cuts", "off"),
    ],
    "glpk": [("mipgap", 0.5), ("objbnd", 3), ("tmlim", 0), ("tmlim", 1), ("nomip", ""), ("min", ""), ("max", ""),
             ("bfs", ""), ("gomory", ""), ("cuts", "")],
    "scip": [
        ("limits/gap", 0.5), ("limits/absgap", 50.0), ("limits/solutions", 1), ("limits/bestsol", 1),
        ("limits/objectivestop", 1.0), ("limits/nodes", 1), ("limits/stallnodes", 1), ("limits/restarts", 0),
        ("limits/primal", 1.0), ("limits/dual", 1.0), ("numerics/feastol", 1e-3), ("numerics/dualfeastol", 1e-3),
        ("numerics/epsilon", 1e-3), ("presolving/maxrounds", 0), ("heuristics/emphasis", 1), ("lp/solvefreq", 2),
    ],
    "cp-sat": [
        ("relative_gap_limit", 0.5), ("absolute_gap_limit", 50.0), ("stop_after_first_solution", True),
        ("stop_after_presolve", True), ("max_number_of_conflicts", 1), ("max_deterministic_time", 1e-6),
        ("stop_after_root_propagation", True), ("cp_model_presolve", False), ("symmetry_level", 0),
    ],
    "gurobi": [
        ("MIPGap", 0.5), ("mipgapabs", 50.0), ("SolutionLimit", 1), ("BestObjStop", 1.0), ("BestBdStop", 1000.0),
        ("Cutoff", 3.0), ("Cutoff", 1000.0), ("NodeLimit", 0), ("WorkLimit", 0.0), ("IterationLimit", 0),
        ("IntFeasTol", 0.1), ("FeasibilityTol", 1e-2), ("OptimalityTol", 1e-2), ("Presolve", 0), ("rel_gap", 0.5),
    ],
}  # fmt: skip
"""What may stop each solver, bend its numbers, or do nothing at all."""

ROUTES = [*STOPS, *(f"pyomo:{name}" for name in STOPS if name != "cp-sat")]


def usable(name: str) -> str:
    if not (state := backend_of(name).available()):
        pytest.skip(f"{name}: {state.reason}")
    return name


def translated(route: str, option: str) -> str:
    """Return an option's name on a route to the solver."""
    return (
        {"mip_rel_gap": "rel_gap", "mip_abs_gap": "abs_gap"}.get(option, option) if route == "pyomo:highs" else option
    )


@pytest.mark.parametrize("route", ROUTES)
def test_options_that_stop_a_solver_prove_nothing_and_lose_nothing(route: str) -> None:
    usable(route)
    for number, (option, value) in enumerate(STOPS[route.removeprefix("pyomo:")]):
        # The route pyomo:NAME differs from NAME by its readable program: one instance shows the way.
        numbers = (number % 50, (number * 7 + 11) % 50)
        for instance in numbers[1:] if route.startswith("pyomo:") else numbers:
            came = try_one(route, {translated(route, option): value}, instance)
            assert came.startswith(("right", "refused")), (route, option, value, instance, came)


@pytest.mark.parametrize("backend", [*LISTS, "pyomo:highs"])
def test_options_of_all_kinds(backend: str) -> None:
    """Try every n-th option that a solver documents; `fuzz_options` as a program tries all of them."""
    usable(backend)
    names = list(options_of(backend))
    step = max(1, len(names) // (20 if backend in {"highs", "cp-sat"} else 8))
    for number, name in enumerate(names[::step]):
        for value in options_of(backend)[name]:
            came = try_one(backend, {name: value}, number % 50)
            assert came.startswith(("right", "refused", "failed")), (backend, name, value, came)


@pytest.mark.parametrize("backend", LISTS)
def test_logs_of_a_solver_are_no_answers(backend: str) -> None:
    """Test this because logs share file descriptors with the solver's answers."""
    usable(backend)
    logs = [name for name in options_of(backend) if any(word in name.lower() for word in ("log", "output", "verb"))]
    for number, name in enumerate(logs[:6]):
        for value in options_of(backend)[name]:
            came = try_one(backend, {name: value}, number)
            assert came.startswith(("right", "refused")), (backend, name, value, came)


def test_the_program_prints_a_line_for_each_option(capsys: pytest.CaptureFixture[str]) -> None:
    found = dict(rows("highs", instances=3, each=1, only="mip_rel_gap"))
    assert sum(found["mip_rel_gap"].values()) == 2
    assert set(found["mip_rel_gap"]) <= {"right: optimal", "right: feasible"}
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", ["precision", "f1", "set", "sum"])
@pytest.mark.parametrize(
    ("backend", "option", "value"),
    [("highs", "mip_rel_gap", 0.9), ("highs", "mip_feasibility_tolerance", 0.4), ("cp-sat", "relative_gap_limit", 0.9),
     ("highs", "small_matrix_value", 2.0)],
)  # fmt: skip
def test_options_that_stop_a_solver_on_ratios_and_sums_prove_nothing(
    kind: str, backend: str, option: str, value: Any
) -> None:
    usable(backend)
    for seed in range(6):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        best = brute_force(problem).best
        try:
            result = search(problem, "milp", backend=backend, backend_options=((option, value),))
        except UnsupportedError:
            continue
        assert result.status is not Status.ERROR
        if result.status is Status.OPTIMAL:
            assert result.key == best
        if best is not None:
            assert result.selection is not None
            assert result.bound_key is None or result.bound_key >= best


def test_a_gap_of_the_solver_s_own_has_the_solver_s_own_bound() -> None:
    problem = CoverageProblem.of(hard_instance(units=60))
    result = search(problem, "milp", Limits(time_s=20), backend_options=(("mip_rel_gap", 0.3),))
    assert (result.status, result.termination) == (Status.FEASIBLE, Termination.COMPLETED)
    assert result.gap is not None
    assert 0 < result.gap <= 0.3
    assert result.detail == "highs ended with 'Optimal' under mip_rel_gap=0.3, which does not prove the optimum"


def test_glpk_keeps_a_gap() -> None:
    usable("glpk")
    problem = CoverageProblem.of(hard_instance(units=30))
    best = search(problem, "branch-and-bound").key
    result = search(problem, "milp", Limits(gap=0.5), backend="glpk")
    assert result.termination is Termination.GAP_REACHED
    assert result.bound_key is not None
    assert result.key is not None
    assert result.key <= best <= result.bound_key
    assert search(problem, "milp", backend="glpk").key == best


TWO = CoverageProblem.of(Coverage.of([4, 4], [{0: 1}, {1: 1}], [[1], [2]], constants=(0, 3), max_length=4))
"""Either of two sentences; the second is worth more."""


@pytest.mark.skipif(os.name != "posix", reason="the program is a script")
@pytest.mark.parametrize(
    "does",
    [
        "answer({units[0]: 1}, 1)",  # a false claim without contradiction
        "answer({units[0]: 1}, 2)",
        "answer({units[0]: 1, units[1]: 1}, 3)",
        "answer({}, 0, 'Infeasible - objective value')",
        "answer({}, 0, 'Stopped on solutions - objective value')",
    ],
)
def test_a_lie_under_an_option_is_no_proof_and_no_error(
    does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cbc(tmp_path, does)
    first_on_path(monkeypatch, tmp_path)
    result = search(TWO, "milp", backend="cbc", backend_options=(("cuts", "off"),))
    assert result.selection is not None
    assert result.bound_exact == "2/3"
    assert (result.status is Status.OPTIMAL) == (result.objective_exact == "2/3")


def test_options_in_python_are_judged_alike() -> None:
    topic = {
        "id": "t",
        "documents": [[f"w{i} w{i + 1} w{i * i % 7}" for i in range(12)]],
        "references": [["w1 w3 w5 w8 w9"]],
    }
    best = optsum.solve(topic, max_length=9, strategy="branch-and-bound")
    found = optsum.solve(topic, max_length=9, backend="highs", backend_options={"mip_abs_gap": 100.0})
    assert found.selection is not None
    assert found.bound_key >= best.key
    assert found.status is not Status.OPTIMAL or found.key == best.key


def test_highs_may_hold_the_columns_of_the_start() -> None:
    """Test this because HiGHS 1.16 states the optimum of a minimum but returns the start, which is one above it."""
    rng = np.random.default_rng(5)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        units = int(rng.integers(6, 30))
        covers = [{int(f): 1 for f in rng.choice(8, 3, replace=False)} for _ in range(units)]
        met = sorted({f for cover in covers for f in cover})
        place = {f: at for at, f in enumerate(met)}
        cover = Coverage.of([1] * units, [{place[f]: 1 for f in c} for c in covers], [[1]] * len(met),
                            goal=optsum.Sense.MINIMIZE)  # fmt: skip
        problem = CoverageProblem.of(cover)
        best = search(problem, "branch-and-bound").key
        result = search(problem, "milp", Limits(time_s=20))
        assert (result.status, result.key, result.bound_key) == (Status.OPTIMAL, best, best)


def test_a_solver_that_an_option_makes_deaf_ends_at_the_limit() -> None:
    """Test an option under which HiGHS 1.16 never ends, in a process of its own, since its thread cannot be ended."""
    code = (
        "import sys, fuzz_options; fuzz_options.LIMIT_S = 0.2; "
        "from optsum.system.processes import children; children._LEAVES_S = 0.2; "
        "sys.exit(fuzz_options.try_one('highs', {'small_matrix_value': 0.3}, 7))"
    )
    path = os.pathsep.join(sys.path)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert ended.stderr.strip().endswith("right: feasible")
