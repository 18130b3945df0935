"""Test user-defined integer programs: their reading, and that every backend and strategy serves them."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import tempfile
import threading
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import blocks

import optsum
from optsum.errors import InputError
from optsum.problem.linear_problem import LinearProblem
from optsum.program.model import new_highs, pass_model
from optsum.system.clock import Limits
from optsum.testing import check_problem, selections


def random_model(seed: int, *, others: bool = True) -> pyo.ConcreteModel:
    """Return a small model with tenths and thirds, rows of all kinds, and integers beside the units."""
    rng = np.random.default_rng(seed)
    model = pyo.ConcreteModel(f"model-{seed}")
    model.x = pyo.Var(range(int(rng.integers(1, 6))), domain=pyo.Binary)
    model.y = pyo.Var(range(int(rng.integers(0, 3)) if others else 0), domain=pyo.Integers, bounds=(-1, 2))
    every = [*model.x.values(), *model.y.values()]

    def some(divisor: int) -> Any:
        return pyo.quicksum(
            int(value) / divisor * each for value, each in zip(rng.integers(-4, 9, len(every)), every, strict=True)
        )

    model.rows = pyo.ConstraintList()
    for _ in range(int(rng.integers(0, 4))):
        low, high = sorted(int(value) for value in rng.integers(-5, 12, 2))
        side = rng.integers(4)
        body = some(int(rng.choice([1, 1, 10])))
        model.rows.add([(None, body, high), (low, body, None), (low, body, high), body + 1 <= high + model.x[0]][side])
    model.aim = pyo.Objective(
        expr=some(int(rng.choice([1, 3, 10]))) + 0.5, sense=[pyo.maximize, pyo.minimize][rng.integers(2)]
    )
    return model


def best_of(model: pyo.ConcreteModel) -> Fraction | None:
    """Return the optimum by brute force over all values."""
    every, found = [*model.x.values(), *model.y.values()], []
    for values in product(*(range(each.lb, each.ub + 1) for each in every)):
        for each, value in zip(every, values, strict=True):
            each.value = value
        rows = model.rows.values()
        if all(
            (row.lb is None or pyo.value(row.body) >= row.lb - 1e-9)
            and (row.ub is None or pyo.value(row.body) <= row.ub + 1e-9)
            for row in rows
        ):
            found.append(Fraction(pyo.value(model.aim)).limit_denominator(1000))
    if not found:
        return None
    return max(found) if model.aim.sense == pyo.maximize else min(found)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_the_optimum_is_that_of_brute_force(seed: int) -> None:
    model = random_model(seed)
    best = best_of(model)
    problem = optsum.PyomoProblem(model, units=model.x)
    result = optsum.search(problem, "milp")
    assert (result.key if result.selection is not None else None) == best
    assert result.status == ("infeasible" if best is None else "optimal")
    visited = optsum.search(pickle.loads(pickle.dumps(problem)), "exhaustive")  # noqa: S301
    assert visited.key == result.key
    assert visited.status == result.status


@pytest.mark.parametrize("seed", range(12))
def test_programs_pass_the_conformance_suite(seed: int) -> None:
    check_problem(optsum.PyomoProblem(model := random_model(seed, others=seed % 2 == 0), units=model.x))


@pytest.mark.parametrize("backend", ["highs", "pyomo:highs", "cbc", "glpk", "scip", "cp-sat", "gurobi"])
def test_every_backend_has_the_same_optimum(backend: str) -> None:
    if not optsum.BACKENDS.load(backend)().available():
        pytest.skip(f"{backend} is not here")
    for seed in range(4):
        model = random_model(seed)
        problem = optsum.PyomoProblem(model, units=model.x)
        best = best_of(model)
        # From nothing, and from a selection, which gives no value to the other columns.
        starts = [None, *(each for each in [(0,), tuple(range(problem.size))] if problem.evaluate(each).feasible)]
        for start in starts:
            result = optsum.search(problem, "milp", backend=backend, start=start)
            assert (result.key if result.selection is not None else None) == best, (seed, start)


@pytest.mark.parametrize("seed", range(12))
def test_near_optimal_selections_are_enumerated_by_bounds(seed: int) -> None:
    model = random_model(seed)
    problem = optsum.PyomoProblem(model, units=model.x)
    every = [tuple(np.flatnonzero(chosen).tolist()) for chosen in product([0, 1], repeat=problem.size)]
    worth = {chosen: seen.key for chosen in every if (seen := problem.evaluate(chosen)).feasible}
    sign = 1 if problem.sense is optsum.Sense.MAXIMIZE else -1
    best = max((sign * Fraction(key) for key in worth.values()), default=Fraction(0))
    for strategy in ("auto", "branch-and-bound"):
        optima = optsum.enumerate_optima(problem, strategy=strategy)
        assert set(optima) == {chosen for chosen, key in worth.items() if sign * key == best}
        near = optsum.enumerate_optima(problem, strategy=strategy, within="20%")
        assert set(near) == {chosen for chosen, key in worth.items() if sign * key >= best - abs(best) / 5}
        assert near.complete
        top = optsum.enumerate_optima(problem, strategy=strategy, best=2)
        values = sorted({sign * key for key in worth.values()}, reverse=True)[:2]
        assert set(top) == {chosen for chosen, key in worth.items() if sign * key in values}


def test_a_knapsack_of_a_million_selections_is_enumerated_in_few_nodes() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(20), domain=pyo.Binary)
    sizes = [5 + 7 * each * each % 31 for each in range(20)]
    worth = [sizes[each] + each % 5 for each in range(20)]
    model.room = pyo.Constraint(expr=sum(sizes[each] * model.x[each] for each in range(20)) <= sum(sizes) // 2)
    model.aim = pyo.Objective(expr=sum(worth[each] * model.x[each] for each in range(20)), sense=-1)
    problem = optsum.PyomoProblem(model, units=model.x)
    found = optsum.enumerate_optima(problem, strategy="branch-and-bound", time_limit=600.0)
    instance = optsum.Coverage.of(
        sizes,
        [{}] * 20,
        [],
        mass=[[sizes[each] + each % 5 for each in range(20)], [0] * 20],
        max_length=sum(sizes) // 2,
    )
    assert set(found) == set(optsum.enumerate_optima(optsum.CoverageProblem.of(instance)))
    assert 0 < found.nodes < 20_000


def test_copies_do_not_hold_computed_values() -> None:
    model = random_model(0)
    problem = optsum.PyomoProblem(model, units=model.x)
    assert problem.bound((), tuple(range(problem.size))) == pickle.loads(pickle.dumps(problem)).bound(  # noqa: S301
        (), tuple(range(problem.size))
    )
    assert "_relaxation" in vars(problem)
    assert "_relaxation" not in vars(problem.fresh())


def test_the_solver_s_time_is_reported() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(20), domain=pyo.Binary)
    model.y = pyo.Var(domain=pyo.Binary)
    model.room = pyo.Constraint(expr=pyo.quicksum((3 + each) * model.x[each] for each in range(20)) + model.y <= 90)
    model.aim = pyo.Objective(expr=pyo.quicksum((5 + each) * model.x[each] for each in range(20)) + model.y, sense=-1)
    found = optsum.search(optsum.PyomoProblem(model, units=model.x), "milp", limits=optsum.Limits(time_s=600.0))
    assert found.status is optsum.Status.OPTIMAL
    assert found.evaluations < 20, "a greedy search would evaluate hundreds of selections, each by HiGHS"


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_a_file_is_the_model_that_was_written(seed: int) -> None:
    model = random_model(seed)
    problem = optsum.PyomoProblem(model, units=model.x)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("mps", "lp"):
            path = Path(folder) / f"one.{suffix}"
            highs = new_highs()
            highs.setOptionValue("output_flag", False)
            pass_model(highs, problem.program)
            highs.writeModel(str(path))
            units = [f"c{number}" for number in range(problem.size)]
            read = optsum.Problem.from_mps(path, units=units)
            found, asked = optsum.search(read, "milp"), optsum.search(problem, "milp")
            assert found.status == asked.status
            if asked.selection is not None:
                assert Fraction(found.key) == Fraction(asked.key) * problem.program.denominator - problem.program.offset
                assert read.evaluate(asked.selection).feasible


def _covering(last: float, share: float = 1.0) -> pyo.ConcreteModel:
    """Return a model with continuous columns beside the units, which are integral in the optimum for some arguments."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(4), domain=pyo.Binary)
    model.y = pyo.Var(range(2), bounds=(0, last))
    model.held = pyo.Constraint(expr=share * model.y[0] + model.y[1] <= model.x[0] + 2 * model.x[1])
    model.room = pyo.Constraint(expr=sum(model.x.values()) <= 2)
    model.aim = pyo.Objective(expr=3 * model.y[0] + 2 * model.y[1] + model.x[3], sense=pyo.maximize)
    return model


def test_columns_that_are_whole_anyway_may_be_fractions() -> None:
    model = _covering(2)
    best = optsum.solve(optsum.PyomoProblem(model, units=model.x))
    assert (best.status, best.objective, best.selection) == (optsum.Status.OPTIMAL, 8, (0, 1))
    for refused in (_covering(1.5), _covering(2, 2.0)):
        with pytest.raises(optsum.InputError, match="may be a fraction"):
            optsum.PyomoProblem(refused, units=refused.x)


@pytest.mark.parametrize("kind", ["lp", "mps"])
def test_exported_programs_are_read_back(tmp_path: Path, kind: str) -> None:
    topic = {"id": "t", "documents": [["a b c", "b c d", "d e"]], "references": [["a b c d"]]}
    (written,) = optsum.export([topic], tmp_path, kind, max_length=5)
    read = optsum.Problem.from_mps(str(written.path))
    assert (read.name, read.labels) == ("t", ("s0", "s1", "s2"))
    asked = optsum.solve(topic, max_length=5)
    assert abs(optsum.solve(read).objective or 0) == asked.numerator


_FILE = """\
NAME one
OBJSENSE
    MAX
ROWS
 N obj
 L room[1]
 L both
COLUMNS
    M1 'MARKER' 'INTORG'
    a obj 3 room[1] 2
    a both 1
    b obj 2 room[1] 3
    b both 1
    c obj 4 room[1] 1
    c both 1
    n obj 5 room[1] 2
    M2 'MARKER' 'INTEND'
RHS
    RHS room[1] 9 both 2
RANGES
    RNG both 1
BOUNDS
 UP BND a 1
 UP BND b 1
 FX BND c 1
 LO BND n -1
 UP BND n 3
ENDATA
"""


def test_columns_of_a_file_are_units_or_said_and_have_their_names(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "one.mps"
    path.write_text(_FILE)
    problem = optsum.Problem.from_mps(path)
    assert problem.labels == ("a", "b", "c")
    assert "1 of the integral columns are not units, because they can have values other than 0 and 1 (n)" in caplog.text
    found = optsum.solve(problem)
    assert (found.status, found.objective, found.summary) == (optsum.Status.OPTIMAL, 22, ("a", "c"))
    assert problem.values(found.selection) == {"a": 1, "b": 0, "c": 1, "n": 3}
    assert not problem.evaluate((0,)).feasible  # c is fixed
    with pytest.raises(optsum.InputError, match="No values of the variables keep all constraints"):
        problem.values((0, 1, 2))
    for kind in ("lp", "mps"):
        (written,) = optsum.export([problem], tmp_path / "out", kind)
        text = written.path.read_text()
        assert all(name in text for name in ("room_1", "both_least", "the_fixed_value_of_c", " n "))
        again = optsum.Problem.from_mps(written.path)
        assert again.labels == ("a", "b", "c")
        assert abs(optsum.solve(again).objective or 0) == 22 + 5  # columns begin at 0 in that format


def test_names_that_no_format_can_have_are_numbers(tmp_path: Path) -> None:
    model = pyo.ConcreteModel("m")
    model.x = pyo.Var(["1", "2"], domain=pyo.Binary)
    model.st = pyo.Constraint(expr=model.x["1"] + model.x["2"] <= 1)
    model.aim = pyo.Objective(expr=model.x["1"] + 2 * model.x["2"], sense=pyo.maximize)
    (written,) = optsum.export([optsum.PyomoProblem(model, units=model.x)], tmp_path, "lp")
    text = written.path.read_text()
    assert " r0: " in text
    assert "x_1 is x['1']" in text
    assert optsum.solve(optsum.Problem.from_mps(written.path)).summary == ("x_2",)


def test_every_function_takes_a_program(tmp_path: Path) -> None:
    model = random_model(2)
    problem = optsum.PyomoProblem(model, units=model.x, name="mine")
    best = best_of(model)
    result = optsum.solve(problem)
    assert (result.id, result.key) == ("mine", best)
    assert optsum.enumerate_optima(problem).value == best
    table = optsum.compare([problem], strategies=["greedy", "vns"], exact="milp")
    assert "milp" in str(table)
    shorter = optsum.search(problem.within(1), "milp")
    assert len(shorter.selection) <= 1


@pytest.mark.parametrize("seeds", blocks(40))
def test_columns_that_no_row_joins_are_settled_as_highs_does_and_greedy_search_looks_at_all_additions_at_once(
    seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        model = random_model(seed)
        for row in [row for row in model.rows.values() if "y[0]" in str(row.body) and "y[1]" in str(row.body)]:
            row.deactivate()
        given = optsum.PyomoProblem(model, units=model.x)
        lengths = tuple(rng.integers(0, 4, given.size).tolist())
        problem = LinearProblem(program=given.program, lengths=lengths, min_length=seed % 3, max_length=sum(lengths))
        assert problem._apart
        at_once = optsum.search(problem, "greedy")
        with monkeypatch.context() as patch:
            patch.setattr(LinearProblem, "additions", lambda *_: None)
            one_by_one = optsum.search(problem.fresh(), "greedy")
        assert (at_once.key, at_once.selection, at_once.evaluations) == (
            one_by_one.key, one_by_one.selection, one_by_one.evaluations
        )  # fmt: skip
        by_highs = problem.fresh()
        by_highs.__dict__["_apart"] = False
        for selection in selections(problem.size):
            one, other = problem.evaluate(selection), by_highs.evaluate(selection)
            assert one.feasible == other.feasible
            assert not one.feasible or one == other


def test_sums_beyond_64_bits_are_exact() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.Binary)
    model.y = pyo.Var(domain=pyo.Integers, bounds=(0, 2**40))
    model.aim = pyo.Objective(expr=2**40 * model.y + model.x[0], sense=pyo.maximize)
    model.row = pyo.Constraint(expr=2**40 * model.y + model.x[1] >= 1)
    problem = optsum.PyomoProblem(model, units=model.x)
    assert problem._dtype is object
    assert problem.evaluate((0,)) == optsum.Evaluation(Fraction(2**80 + 1), 0, float(2**80 + 1))  # y keeps the row
    alone = pyo.ConcreteModel()
    alone.x = pyo.Var(range(5), domain=pyo.Binary)
    alone.aim = pyo.Objective(expr=sum((2**61 + unit) * alone.x[unit] for unit in range(5)), sense=pyo.maximize)
    alone.row = pyo.Constraint(expr=sum((2**61 - unit) * alone.x[unit] for unit in range(5)) >= 1)
    worth = optsum.PyomoProblem(alone, units=alone.x).evaluate((0, 1, 2, 3, 4))
    assert (worth.key, worth.violation) == (5 * 2**61 + 10, 0)


def test_a_float_is_the_fraction_that_it_stands_for() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.Binary)
    model.aim = pyo.Objective(
        expr=0.1 * 3 * model.x[0] + (1 / 3) * model.x[1] + 0.123456789 * model.x[2], sense=pyo.maximize
    )
    problem = optsum.PyomoProblem(model, units=model.x)
    assert [problem.evaluate((unit,)).key for unit in range(3)] == [
        Fraction(3, 10),
        Fraction(1, 3),
        Fraction("0.123456789"),
    ]


def _with(part: str) -> pyo.ConcreteModel:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.Binary)
    model.z = pyo.Var(bounds=(0, 1.5)) if part == "continuous" else pyo.Var(domain=pyo.NonNegativeIntegers)
    extra = {
        "continuous": model.z,
        "unbounded": model.z,
        "product": model.x[0] * model.x[1],
    }
    model.aim = pyo.Objective(expr=model.x[0] + model.x[1] + extra.get(part, 0), sense=pyo.maximize)
    if part == "sos":
        model.sos = pyo.SOSConstraint(var=model.x, sos=1)
    if part == "two":
        model.other = pyo.Objective(expr=model.x[0])
    if part == "long":
        model.row = pyo.Constraint(expr=1.2345678901234e-15 * model.x[0] + model.x[1] <= 1)
    if part == "nan":
        model.row = pyo.Constraint(expr=float("1e400") * model.x[0] <= 1)
    return model


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("continuous", "z may be a fraction"),
        ("unbounded", "z has no upper bound"),
        ("product", "not linear"),
        ("sos", "SOSConstraint"),
        ("two", "2 active objectives"),
        ("long", "too many digits"),
        ("nan", "finite number"),
    ],
)
def test_unsupported_models_are_refused_in_a_sentence(part: str, said: str) -> None:
    model = _with(part)
    with pytest.raises(optsum.InputError, match=said):
        optsum.PyomoProblem(model, units=model.x)


@pytest.mark.parametrize("sign", [1, -1])
def test_constraints_bound_variables_that_are_open(sign: int) -> None:
    """Check that each of the first variables is bounded by its own rows or by earlier ones, and the last is not."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(3), domain=pyo.Binary)
    model.y = pyo.Var(range(4), domain=pyo.Integers)
    model.least = pyo.Constraint(range(3), rule=lambda m, i: sign * m.y[i] >= -i)
    model.most = pyo.Constraint(expr=sign * 2 * model.y[0] <= 7)
    model.made = pyo.Constraint(expr=sign * model.y[1] <= 5 * model.x[0] + 4 * model.x[1])
    model.sums = pyo.Constraint(expr=sign * (model.y[1] + model.y[2]) == 2 * model.x[2] + sign * model.y[0])
    model.aim = pyo.Objective(expr=sign * model.y[2] - 2 * model.x[2] - model.x[0], sense=pyo.maximize)
    for strategy in ("auto", "exhaustive", "branch-and-bound"):
        assert optsum.solve(optsum.PyomoProblem(model, units=model.x), strategy=strategy).objective == 4
    model.more = pyo.Constraint(expr=model.y[3] * sign >= model.x[0])
    with pytest.raises(optsum.InputError, match=r"y\[3\] has no (upper|lower) bound"):
        optsum.PyomoProblem(model, units=model.x)


def test_a_baseline_stops_at_what_breaks_a_row_for_good() -> None:
    model = _with("")
    model.most = pyo.Constraint(expr=model.x[0] + model.x[1] <= 1)
    for strategy in ("lead", "random"):
        found = optsum.solve(optsum.PyomoProblem(model, units=model.x), strategy=strategy)
        assert (found.status, found.objective) == (optsum.Status.FEASIBLE, 1)


def test_a_parameter_without_a_value_is_reported() -> None:
    model = _with("")
    model.p = pyo.Param(mutable=True)
    model.row = pyo.Constraint(expr=model.p * model.x[0] <= 1)
    with pytest.raises(optsum.InputError, match="no value of The constraint row"):
        optsum.PyomoProblem(model, units=model.x)


def test_invalid_units_are_refused() -> None:
    model = _with("")
    with pytest.raises(optsum.InputError, match="another Pyomo model"):
        optsum.PyomoProblem(model, units=_with("").x)
    for units in ([model.z], [model.x[0], model.x[0]], ["x[0]"], model.aim, 3):
        with pytest.raises(optsum.InputError):
            optsum.PyomoProblem(model, units=units)
    with pytest.raises(optsum.InputError, match="ConcreteModel"):
        optsum.PyomoProblem(None, units=model.x)


@pytest.mark.parametrize("content", [None, "", "NAME x\nROWS\n Q\n", "\x00\xff"])
def test_a_file_that_is_no_program_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "one.mps"
    if content is not None:
        path.write_text(content)
    with pytest.raises(optsum.InputError, match=r"one\.mps"):
        optsum.Problem.from_mps(path)


def _hard() -> optsum.PyomoProblem:
    """Return a problem whose other columns are a market split (Cornuejols and Dawande 1998), which takes years."""
    rng = np.random.default_rng(0)
    model = pyo.ConcreteModel("hard")
    model.x = pyo.Var(range(3), domain=pyo.Binary)
    model.y = pyo.Var(range(50), domain=pyo.Binary)
    model.off = pyo.Var(range(12), bounds=(0, 5000), domain=pyo.Integers)
    model.rows = pyo.ConstraintList()
    for row in range(6):
        shares = rng.integers(100, size=50).tolist()
        split = sum(share * model.y[place] for place, share in enumerate(shares))
        model.rows.add(split + model.off[2 * row] - model.off[2 * row + 1] == sum(shares) // 2)
    model.aim = pyo.Objective(expr=sum(model.off[each] for each in range(12)) + sum(model.x[each] for each in range(3)))
    return optsum.PyomoProblem(model, units=model.x)


@pytest.mark.parametrize("strategy", ["greedy", "milp", "auto", "vns", "exhaustive", "genetic"])
def test_an_evaluation_that_never_ends_ends_with_the_limit(strategy: str) -> None:
    result = optsum.search(_hard(), strategy, limits=optsum.Limits(time_s=0.05, grace_s=0.05))
    assert result.termination is optsum.Termination.TIME_LIMIT
    assert result.status is not optsum.Status.OPTIMAL
    assert result.bound is None or result.bound <= 3


def test_enumeration_ends_with_the_limit_too() -> None:
    found = optsum.enumerate_optima(_hard(), strategy="exhaustive", time_limit=0.05)
    assert (found.complete, found.result.termination) == (False, optsum.Termination.TIME_LIMIT)


@pytest.mark.parametrize("strategy", ["greedy", "milp"])
def test_an_evaluation_that_never_ends_hears_ctrl_c(strategy: str) -> None:
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        result = optsum.search(_hard(), strategy)
    finally:
        timer.join()
    assert result.termination is optsum.Termination.INTERRUPTED


def test_a_selection_is_not_infeasible_because_the_solver_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = _hard()
    monkeypatch.setattr("optsum.problem.linear_problem.run", lambda *_, **__: True)
    with pytest.raises(optsum.BackendError, match="finds no values"):
        problem.evaluate((0,))


@pytest.mark.parametrize("backend", ["highs", "cbc", "glpk"])
def test_results_of_solvers_on_very_large_numbers_are_proven_by_our_search(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test distances of 16 digits, whose integers exceed a solver's tolerance: CBC called such programs infeasible."""
    if not optsum.BACKENDS.load(backend)().available():
        pytest.skip(f"{backend} is not here")
    solved, each = 0, range(6)
    for seed in range(1, 6):
        places = np.random.default_rng(seed).integers(0, 50, (6, 2))
        far = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
        model = pyo.ConcreteModel()
        model.x, model.y = pyo.Var(each, domain=pyo.Binary), pyo.Var(each, each, bounds=(0, 1))
        model.far = pyo.Objective(expr=sum(float(far[i, j]) * model.y[i, j] for i in each for j in each))
        model.served = pyo.Constraint(each, rule=lambda m, i: sum(m.y[i, j] for j in each) == 1)
        model.open = pyo.Constraint(each, each, rule=lambda m, i, j: m.y[i, j] <= m.x[j])
        model.two = pyo.Constraint(expr=sum(model.x[j] for j in each) == 2)
        try:
            problem = optsum.PyomoProblem(model, units=model.x)
        except InputError:  # too many digits
            continue
        best = min(float(far[:, chosen].min(axis=1).sum()) for chosen in combinations(each, 2))
        result = optsum.search(problem, "milp", backend=backend)
        assert (result.status.value, result.objective) == ("optimal", pytest.approx(best, rel=1e-12))
        solved += 1
    assert solved
    program = tmp_path / "near.mps"
    costs = {"a": 1.0000000001, "b": 1, "c": 1.00000000005}
    columns = "".join(f" {name} COST {cost} R 1\n" for name, cost in costs.items())
    bounds = "".join(f" BV B {name}\n" for name in "abc")
    program.write_text(
        f"NAME near\nROWS\n N COST\n E R\nCOLUMNS\n M 'MARKER' 'INTORG'\n{columns} N 'MARKER' 'INTEND'\n"
        f"RHS\n RHS R 1\nBOUNDS\n{bounds}ENDATA\n"
    )
    result = optsum.search(optsum.Problem.from_mps(program), "milp", backend=backend)
    assert (result.status.value, result.objective, result.bound) == ("optimal", 1.0, 1.0)
    within = optsum.search(optsum.Problem.from_mps(program), "milp", Limits(gap=0.5), backend=backend)
    assert (within.status.value, within.objective, within.bound) == ("optimal", 1.0, 1.0)
    monkeypatch.setattr("optsum.solvers.milp.prove", lambda run: False)  # as if our proof did not end in time
    unproven = optsum.search(optsum.Problem.from_mps(program), "milp", backend=backend)
    assert unproven.bound is not None
    assert unproven.bound <= 1.0 <= unproven.objective  # the bound may be that of the relaxation, but not the solver's
    assert (unproven.status.value == "optimal") == (unproven.objective == unproven.bound)
    assert "larger than" in (unproven.detail or "")


def test_a_file_of_many_rows_and_columns_is_read_once(tmp_path: Path) -> None:
    """Test this because each row and column asked HiGHS for all entries again, so that 20,000 took minutes."""
    size = 5_000
    names = [f"a{number}" for number in range(size)]
    rows = "".join(f"c{number}: {name} <= 1\n" for number, name in enumerate(names))
    program = tmp_path / "large.lp"
    columns = "\n".join(names)
    program.write_text(f"maximize\nobj: {' + '.join(names)}\nsubject to\n{rows}binary\n{columns}\nend\n")
    problem = optsum.Problem.from_mps(program)
    assert (problem.size, problem.evaluate((0, size - 1)).key) == (size, 2)


@pytest.mark.parametrize("number", ["1000000000000000001", "-9007199254740994", "1e300", "1e20"])
@pytest.mark.parametrize("place", ["objective", "constraint"])
def test_coefficients_that_files_cannot_keep_are_refused(tmp_path: Path, number: str, place: str) -> None:
    number = number if number.startswith("-") else f"+ {number}"
    worth, body = (f"{number} y", "+ y") if place == "objective" else ("+ y", f"{number} y")
    path = tmp_path / "large.lp"
    path.write_text(f"Maximize\n obj: x {worth}\nSubject To\n c1: x {body} <= 1\nBinary\n x\n y\nEnd\n")
    said = r"has the coefficient inf|lose digits" if place == "objective" else "HiGHS cannot read"
    with pytest.raises(InputError, match=said):
        optsum.Problem.from_mps(path)


@pytest.mark.parametrize("bounds", ["y free", "0 <= y <= 9", "-inf <= y <= 2", "0 <= y <= 2", "-inf <= y <= 2.5"])
def test_bounds_that_rows_imply_may_contradict_each_other(tmp_path: Path, bounds: str) -> None:
    path = tmp_path / "program.lp"
    path.write_text(
        "Minimize\n obj: x0 + y\nSubject To\n r0: y >= 3\n r1: y - x0 <= 1\n"
        f"Bounds\n {bounds}\nBinary\n x0\nGeneral\n y\nEnd\n"
    )
    assert optsum.search(optsum.Problem.from_mps(path)).status == "infeasible"


@pytest.mark.parametrize(
    ("number", "is_long"),
    [
        ("0.1234567890123456789", True),
        ("1.2345678901234567890123e+00", True),
        ("0.30000000000000004", False),
        ("0.50000000000000000000", False),
        ("\\ 12345678901234567891\n 2", False),
    ],
)
def test_numbers_with_more_digits_than_floats_keep_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, number: str, is_long: bool
) -> None:
    path = tmp_path / f"digits-{abs(hash(number))}.lp"
    name = "x(1234567890123456789)"
    program = f"Maximize\n obj: {number} {name} + y\nSubject To\n c: y <= 1\nBinary\n {name} y\nEnd\n"
    path.write_text(program)
    packed = path.with_suffix(".lp.gz")
    packed.write_bytes(gzip.compress(program.encode()))
    for each in (path, packed):
        caplog.clear()
        optsum.Problem.from_mps(each)
        assert [number in record.getMessage() for record in caplog.records] == [True] * is_long


def test_programs_that_cannot_be_unpacked_are_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "a.lp.gz"
    damaged.write_bytes(gzip.compress(b"Maximize" * 100)[:30])
    pointer = tmp_path / "b.lp"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\n")
    for path, said in ((damaged, "end-of-stream marker"), (pointer, "fetch the file by git lfs pull")):
        with pytest.raises(InputError, match=f"{path.name}' cannot be read: .*{said}"):
            optsum.Problem.from_mps(path)
