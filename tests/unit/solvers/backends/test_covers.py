"""Test CP-SAT, MaxSAT and WCNF files on covers; without the optional packages only the text is tested."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from itertools import product

import pytest
from cover_instances import brute_force, cover_of, random_clauses, random_lengths
from optsum.solvers.backends import cpsat
from optsum.solvers.backends.cpsat import CpSat
from optsum.solvers.backends.maxsat import Rc2

from optsum.contracts.backend import Backend
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import BackendError, UnsupportedError
from optsum.problem.problem import CoverageProblem
from optsum.program.model import wcnf_of, wcnf_text
from optsum.system.clock import Limits, Termination

BACKENDS: list[Backend] = [CpSat(), Rc2()]
NAMES = [backend.name for backend in BACKENDS]
RECALL = Coverage.of(
    [2, 3, 2], [{0: 1, 1: 2}, {1: 1, 2: 1}, {2: 2}], [[1], [2, 1], [1, 1]], constants=(0, 6), max_length=5
)


def usable(backend: Backend) -> Backend:
    if not (available := backend.available()):
        pytest.skip(f"{backend.name}: {available.reason}")
    return backend


@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_optima_of_random_covers_are_those_of_brute_force(backend: Backend) -> None:
    usable(backend)
    rng = random.Random(21)  # noqa: S311
    for number in range(150):
        units = rng.randint(1, 12)
        lengths = [1] * units if number % 2 else random_lengths(rng, units)
        clauses = random_clauses(rng, units=units, clauses=rng.randint(1, 8))
        least, optima = brute_force(clauses, lengths)
        outcome = backend.solve(CoverageProblem.of(cover_of(clauses, lengths)), Limits(), 0)
        assert (outcome.optimal, outcome.termination) == (True, Termination.COMPLETED), number
        assert outcome.objective == pytest.approx(least, abs=1e-6), number
        assert outcome.bound == pytest.approx(least, abs=1e-6), number
        assert outcome.selection in optima, number


@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_an_uncoverable_instance_is_infeasible(backend: Backend) -> None:
    nothing = Coverage.of([1, 1], [{0: 1}, {}], [[1], [1]], goal=Sense.MINIMIZE)
    outcome = usable(backend).solve(CoverageProblem.of(nothing), Limits(), 0)
    assert (outcome.infeasible, outcome.optimal, outcome.selection) == (True, False, None)


@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_a_time_limit_ends_the_solver(backend: Backend) -> None:
    usable(backend)
    rng = random.Random(0)  # noqa: S311
    clauses = random_clauses(rng, units=1000, clauses=300, alternatives=8)
    problem = CoverageProblem.of(cover_of(clauses, [1] * 1000))
    backend.solve(CoverageProblem.of(cover_of([[[0]]], [1])), Limits(), 0)  # the backend is started,
    assert problem.linear_model.rows  # and the program built, before the clock starts
    outcome = backend.solve(problem, Limits(time_s=1.0), 0)
    assert (outcome.termination, outcome.optimal) == (Termination.TIME_LIMIT, False)
    assert outcome.bound is not None
    assert outcome.objective is None or outcome.bound <= outcome.objective


@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_a_node_limit_is_refused(backend: Backend) -> None:
    with pytest.raises(UnsupportedError, match="no node limit"):
        backend.solve(CoverageProblem.of(cover_of([[(0,)]], [1])), Limits(nodes=5), 0)


@pytest.mark.parametrize("backend", BACKENDS, ids=NAMES)
def test_a_missing_package_is_reported(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, backend.declaration.module, None)
    assert not backend.available()
    with pytest.raises(BackendError, match="pip install"):
        backend.solve(CoverageProblem.of(cover_of([[(0,)]], [1])), Limits(), 0)


def test_cp_sat_maximizes_too() -> None:
    from optsum.solvers.backends.highs import Highs

    problem = CoverageProblem.of(RECALL)
    outcome = usable(CpSat()).solve(problem, Limits(), 0)
    assert outcome.objective == pytest.approx(Highs().solve(problem, Limits(), 0).objective)


def test_cp_sat_starts_again_after_its_process_died() -> None:
    usable(CpSat())
    problem = CoverageProblem.of(cover_of([[(0,)]], [1]))
    assert CpSat().solve(problem, Limits(), 0).optimal
    process = cpsat._CHILD._process
    assert process is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert CpSat().solve(problem, Limits(), 0).optimal
    assert cpsat._CHILD._process is not process


def test_cp_sat_says_that_its_process_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "_CHILD", cpsat._Child([sys.executable, "-c", "raise SystemExit(7)"]))
    usable(CpSat())
    outcome = CpSat().solve(CoverageProblem.of(cover_of([[(0,)]], [1])), Limits(), 0)
    assert (outcome.termination, outcome.native) == (Termination.FAILED, "died")
    assert "died (exit status" in outcome.detail


def test_the_process_of_cp_sat_does_not_load_highs() -> None:
    code = "import sys, optsum.solvers.backends.cpsat_child; print('highspy' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_maxsat_refuses_what_is_no_cover() -> None:
    with pytest.raises(UnsupportedError, match="supports only covers"):
        Rc2().solve(CoverageProblem.of(RECALL), Limits(), 0)


def test_models_of_the_clauses_are_exactly_the_covers() -> None:
    rng = random.Random(4)  # noqa: S311
    for _ in range(20):
        clauses = random_clauses(rng, units=5, clauses=3, alternatives=2, sentences=3)
        instance = wcnf_of(cover_of(clauses, [1] * 5))
        variables = max(abs(literal) for clause in instance.hard for literal in clause)
        models = [
            values
            for values in product((False, True), repeat=max(variables, 5))
            if all(any(values[abs(literal) - 1] == (literal > 0) for literal in clause) for clause in instance.hard)
        ]
        # One model for each cover: its sentences decide the values of all other variables.
        covers = [values[:5] for values in models]
        assert len(set(covers)) == len(covers)
        least = min(sum(weight for weight, literal in instance.soft if cover[-literal - 1]) for cover in covers)
        assert least == brute_force(clauses, [1] * 5)[0]


def test_the_text_of_a_wcnf_file() -> None:
    instance = cover_of([[(0,), (1, 2)], [(1, 2)]], [1, 3, 0])
    assert wcnf_text(instance, ["s1", "a\nb", 7], title="two  words").splitlines() == [
        "c two words",
        "c variable 1 is s1",
        "c variable 2 is a b",
        "c variable 3 is 7",
        "h 1 4 0",
        "h 4 0",
        "h -4 2 0",
        "h -4 3 0",
        "h 4 -2 -3 0",
        "1 -1 0",
        "3 -2 0",
    ]


def test_pysat_reads_the_text() -> None:
    formula = pytest.importorskip("pysat.formula")
    rc2 = pytest.importorskip("pysat.examples.rc2")
    rng = random.Random(6)  # noqa: S311
    clauses = random_clauses(rng, units=10, clauses=6)
    lengths = [rng.randint(1, 4) for _ in range(10)]
    read = formula.WCNF(from_string=wcnf_text(cover_of(clauses, lengths), range(10)))
    with rc2.RC2(read) as solver:
        found = [solver.cost for _ in solver.enumerate() if solver.cost]
    least, covers = brute_force(clauses, lengths)
    assert (min(found), found.count(least)) == (least, len(covers))
