"""Test the choice, the options and the failures of backends on the command line and in comparisons."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from optsum.solvers.backends import cpsat
from optsum.solvers.backends.through_pyomo import Cplex
from optsum.solvers.milp import Milp, backend_of
from spoken import spoken

import optsum
from optsum.cli import main
from optsum.contracts.backend import Ending
from optsum.coverage.instance import Coverage
from optsum.errors import OptionError, UnsupportedError
from optsum.problem.problem import CoverageProblem
from optsum.running import one_problem as warm
from optsum.running.one_problem import setup_of
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing import hard_instance

TOPIC = {"id": "t", "documents": [["a b c", "c d e f", "f g", "a g"]], "references": [["a c d f g"]]}


def test_several_solvers_are_compared() -> None:
    table = optsum.compare([TOPIC], backends=["highs", "pyomo:highs"], max_length=6)
    assert [row.strategy for row in table.rows] == ["milp on highs", "milp on pyomo:highs"]
    assert [result.backend for result in table.results] == ["highs", "pyomo:highs"]
    for row in table.rows:
        assert (row.mean_objective, row.mean_bound, row.reached, row.optima) == (1.0, 1.0, 1, 1)
        assert row.mean_nodes is not None
    lines = str(table).splitlines()
    assert lines[2].split()[-2:] == ["bound", "nodes"]
    mixed = optsum.compare([TOPIC], ["greedy", "exhaustive"], "milp", "highs,pyomo:highs", max_length=6)
    names = ["milp on highs", "milp on pyomo:highs", "greedy", "exhaustive"]
    assert [row.strategy for row in mixed.rows] == names
    assert mixed.contradictions == []
    assert "nodes" not in str(optsum.compare([TOPIC], ["greedy"], max_length=6))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"backends": ""}, "There is no backend to compare"),
        ({"backends": "highs,highs"}, "The backend highs is named twice"),
        ({"backends": 3}, "are not a list of names: give them as highs,cbc"),
        (
            {"backends": "highs", "backend_options": {"a": 1}},
            "With several solvers, an option needs the name of its solver",
        ),
        ({"backends": "highs", "strategies": "greedy", "exact": "none"}, "Backends apply only to the strategy milp"),
        ({"backends": "highs,hihgs"}, "there is no backend 'hihgs'; did you mean highs"),
        ({"backends": "highs,glpk", "backend": "cbc"}, "and several by backends: leave out one of the two"),
        ({"backends": [{"name": "highs"}, "highs"]}, "The backend highs is named twice"),
        ({"backends": [{"options": {"presolve": "off"}}]}, "names no backend"),
        ({"backends": [{"name": "highs", "presolve": "off"}]}, r"no key 'presolve' of \[\[backends\]\]"),
        ({"backends": [{"name": "highs", "options": 3}]}, "The options of the backend highs cannot be used"),
        (
            {"backends": "highs", "backend_options": ["cbc.ratio=1"]},
            "cbc.ratio is for the solver cbc, but this run uses only highs",
        ),
        ({"backend": "highs", "backend_options": ["cbc.ratio=1"]}, "is for the solver cbc"),
        ({"strategies": "milp", "backend_options": ["highs.presolve=on", "presolve=off"]}, "presolve .* given twice"),
        ({"time_limit": "1,x"}, "are not seconds: give them as 0.1,1,10"),
        ({"time_limit": [1, 1]}, "are not seconds"),
        ({"time_limit": [1, True]}, "are not seconds"),
        ({"time_limit": [1, -1]}, "are not seconds"),
        ({"time_limit": []}, "are not seconds"),
    ],
)
def test_impossible_comparisons_of_solvers_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(OptionError, match=match):
        optsum.compare([TOPIC], max_length=6, **options)


def test_each_of_several_solvers_has_its_own_options(tmp_path: Path) -> None:
    (tmp_path / "options.toml").write_text(
        'max-length = 6\n[[backends]]\nname = "highs"\noptions = { presolve = "off" }\n'
        '[[backends]]\nname = "highs"\n[[backends]]\nname = "pyomo:highs"\n'
    )
    table = optsum.compare([TOPIC], config=tmp_path / "options.toml", backend_options=["pyomo:highs.presolve=on"])
    assert [row.strategy for row in table.rows] == [
        "milp on highs (presolve=off)", "milp on highs", "milp on pyomo:highs"
    ]  # fmt: skip
    said = [(result.backend, result.extra["backend_options"]) for result in table.results]
    assert said == [("highs", {"presolve": "off"}), ("highs", {}), ("pyomo:highs", {"presolve": "on"})]
    assert len({result.config_hash for result in table.results}) == 3
    own = {"highs.presolve": "off"}
    by_name = optsum.compare([TOPIC], backends="highs,pyomo:highs", backend_options=own, max_length=6)
    assert [dict(variant.backend_options) for variant in by_name.plan.variants] == [{"presolve": "off"}, {}]
    wrong = {"backends": ["highs", "pyomo:highs"], "backend_options": ["highs.presolv=off"], "max_length": 6}
    with pytest.raises(OptionError, match="highs does not take the option presolv=off: did you mean presolve"):
        optsum.compare([TOPIC], **wrong)
    alike = ({"highs.presolve": "off"}, {"presolve": "off"})
    results = [optsum.solve(TOPIC, backend="highs", backend_options=given, max_length=6) for given in alike]
    assert len({result.config_hash for result in results}) == 1


def test_usable_backends_are_those_that_work_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(warm, "_ready", set())
    setup_of.cache_clear()
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    assert (
        main(["compare", str(topics), "--backends", "usable", "--max-length", "6", "-o", str(tmp_path / "r.csv")]) == 0
    )
    out, err = capsys.readouterr()
    assert "milp on highs" in out
    assert "glpk" not in out
    assert "milp on rc2" not in out
    assert "these backends are left out: " in err
    assert "glpk (the program glpsol is not on the PATH" in err
    problem = optsum.CoverageProblem.of(Coverage.of([2, 3], [{0: 1}, {1: 1}], [[1], [1]], max_length=3))
    table = optsum.compare([problem], backends="usable", gap=0.0)
    assert {"milp on highs", "milp on pyomo:highs"} <= {row.strategy for row in table.rows}
    assert not {"milp on rc2", "milp on glpk"} & {row.strategy for row in table.rows}
    cover = optsum.Coverage.of([2, 3], [{0: 1}, {0: 1}], [[1]], goal=optsum.Sense.MINIMIZE)
    table = optsum.compare([optsum.CoverageProblem.of(cover)], backends="usable")
    assert {"milp on highs", "milp on pyomo:highs"} <= {row.strategy for row in table.rows if row.mean_objective == 2}


def test_strategies_are_run_with_each_of_several_time_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = optsum.compare(
        [TOPIC, {**TOPIC, "id": "u"}], ["greedy", "vns"], max_length=6, time_limit=[20, 10], seeds=[0, 1]
    )
    names = ["auto in 20 s", "greedy in 10 s", "greedy in 20 s", "vns in 10 s", "vns in 20 s"]
    assert [row.strategy for row in table.rows] == names
    assert [row.time_limit for row in table.rows] == [20, 10, 20, 10, 20]
    assert [row.seeds for row in table.rows] == [1, 2, 2, 2, 2]
    assert {result.extra["time_limit"] for result in table.results} == {10.0, 20.0}
    ratios = table.tables()[1]
    assert [column.heading for column in ratios.columns] == ["strategy", "10 s", "20 s"]
    assert ratios.rows[0] == ["auto", "-", "1.0000"]
    assert [row[0] for row in ratios.rows] == ["auto", "greedy", "vns"]
    listed = optsum.compare([TOPIC], ["auto"], max_length=6, time_limit="10,20")
    assert [row.strategy for row in listed.rows] == ["auto in 10 s", "auto in 20 s"]
    proven = optsum.compare([TOPIC], ["auto", "lead"], max_length=6, time_limit="10,20", exact_time_limit=30)
    assert [row.strategy for row in proven.rows] == ["auto in 30 s", "lead in 10 s", "lead in 20 s"]
    topics, rows = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    (tmp_path / "options.toml").write_text("time-limit = [10, 20]\nmax-length = 6\n")
    assert main(["compare", str(topics), "--config", str(tmp_path / "options.toml"), "-o", str(rows)]) == 0
    assert "Mean ratio at each time limit" in capsys.readouterr().out
    assert {row["time_limit"] for row in map(json.loads, rows.read_text().splitlines())} == {10.0, 20.0}
    assert main(["compare", str(topics), "--time-limit", "5", "--max-length", "6", "--overwrite", "-o", str(rows)]) == 0
    assert "time_limit" not in json.loads(rows.read_text().splitlines()[0])
    assert main(["solve", str(topics), "--config", str(tmp_path / "options.toml")]) == 2


def test_a_missing_solver_is_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(warm, "_ready", set())  # an earlier test may have found glpsol
    setup_of.cache_clear()
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    for arguments in (
        ["solve", str(topics), "--backend", "glpk"],
        ["compare", str(topics), "--backends", "highs,glpk"],
    ):
        assert main([*arguments, "--max-length", "6"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert spoken(err) == (
            "optsum: The backend glpk cannot be used, because the program glpsol is not on the PATH: "
            "sudo apt install glpk-utils.\n"
        )


def test_options_of_the_command_line_reach_the_solver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    own = ["--max-length", "6", "--backend-option", "presolve=off", "--threads", "2"]
    assert main(["solve", str(topics), *own]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["status"] == "optimal"
    assert main(["solve", str(topics), "--max-length", "6", "--backend-option", "presolv=off"]) == 2
    assert "does not take the option presolv=off" in capsys.readouterr().err


def test_one_solver_on_the_command_line_wins_over_several_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "options.toml").write_text('max-length = 6\nbackends = ["highs", "pyomo:highs"]\n')
    table = optsum.compare([TOPIC], config=tmp_path / "options.toml", backend="pyomo:highs", strategies=["milp"])
    assert [(row.strategy, result.backend) for row, result in zip(table.rows, table.results, strict=True)] == [
        ("milp", "pyomo:highs")
    ]


@pytest.mark.parametrize(
    ("backend", "option", "value"),
    [
        ("scip", "limits/nodes", -7),
        ("scip", "limits/nodes", "many"),
        ("cp-sat", "num_workers", -3),
        ("gurobi", "MIPFocus", "much"),
        ("cplex", "emphasis_mip", 77),
    ],
)
def test_values_that_a_solver_does_not_take_are_refused(
    capfd: pytest.CaptureFixture[str], backend: str, option: str, value: object
) -> None:
    if not backend_of(backend).available():
        pytest.skip(f"{backend} is not here")
    problem = CoverageProblem.of(Coverage.of([3, 3], [{0: 1}, {1: 1}], [[2], [2]], max_length=5))
    with pytest.raises(OptionError, match=f"The backend {backend} does not take the options? {option}={value}: "):
        backend_of(backend, options={option: value}).solve(problem, Limits(), 0)
    assert spoken(capfd.readouterr().err) == "", "what native code writes would stand between the rows of a terminal"


@pytest.mark.parametrize(("backend", "option"), [("cp-sat", "max_time_in_seconds"), ("glpk", "tmlim")])
def test_a_time_limit_given_as_a_solver_option_counts_as_the_limit(backend: str, option: str) -> None:
    if not backend_of(backend).available():
        pytest.skip(f"{backend} is not here")
    problem = CoverageProblem.of(hard_instance(units=200))
    result = search(problem, Milp(backend=backend, backend_options=((option, 1),)))
    assert (result.termination, result.status.value) in {
        (Termination.TIME_LIMIT, "feasible"),
        (Termination.COMPLETED, "feasible"),  # ended by an option of its own, which the detail names
        (Termination.COMPLETED, "optimal"),
    }


def test_a_limit_that_the_solver_does_not_name_may_be_its_option() -> None:
    limited = backend_of("cp-sat", options={"max_time_in_seconds": 0.5})
    assert limited.ended(Ending.LIMIT, Limits(), 0.5) is Termination.TIME_LIMIT
    assert backend_of("cp-sat").ended(Ending.LIMIT, Limits(), 0.5) is Termination.FAILED
    nodes = backend_of("cbc", options={"maxNodes": 5})
    assert nodes.ended(Ending.LIMIT, Limits(time_s=9.0), 0.5) is Termination.COMPLETED  # the solver's own options


def test_a_solver_without_a_seed_is_reported() -> None:
    (result,) = optsum.solve_all([TOPIC], max_length=6, backend="pyomo:appsi_highs", seed=3)
    assert result.error is None
    assert "pyomo:appsi_highs got no seed" in str(result.detail)
    (result,) = optsum.solve_all([TOPIC], max_length=6, backend="pyomo:highs", seed=3)
    assert result.detail is None
    assert backend_of("glpk").repeatable, "it has no randomness"
    assert not backend_of("pyomo:appsi_highs").repeatable


def test_a_solver_of_covers_refuses_ratios() -> None:
    pytest.importorskip("pysat")
    with pytest.raises(UnsupportedError, match="The backend rc2 cannot be used, because it supports only covers"):
        optsum.solve(TOPIC, measure="f1", backend="rc2")


def test_an_abort_by_ctrl_c_is_no_failure_of_cplex() -> None:
    assert {Cplex.declaration.statuses[number] for number in ("13", "113", "114")} == {Ending.INTERRUPTED}


def test_greedy_is_held_when_ctrl_c_takes_a_program_with_its_incumbent(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("optsum.solvers.backends.highs.Highs.solve", ended)
    problem = CoverageProblem.of(Coverage.of([3, 3], [{0: 1}, {1: 1}], [[2], [2]], max_length=5))
    result = search(problem, "milp")
    assert (result.termination.value, result.key) == ("interrupted", 2)


@pytest.mark.parametrize("command", ["export", "import-solution"])
def test_commands_on_files_have_no_flags_of_searches(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help-all"]) == 0
    out = capsys.readouterr().out
    assert "--max-length" in out
    for flag in ("--time-limit", "--seed", "--gap", "--bound ", "--strategy-option", "--backend", "--threads"):
        assert flag not in out, flag


def test_an_error_in_another_process_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not backend_of("cp-sat").available():
        pytest.skip("cp-sat is not here")
    code = (
        "import os, sys; sys.modules['ortools'] = None\n"
        "from optsum.solvers.backends.cpsat_child import main; main(os.getppid())"
    )
    child = cpsat._Child([sys.executable, "-c", code])
    monkeypatch.setattr(cpsat, "_CHILD", child)
    result = optsum.search(CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]])), "milp", backend="cp-sat")
    assert (result.selection, result.detail is not None) == ((0,), True)
    assert str(result.detail).startswith("cp-sat failed: ModuleNotFoundError")
    child._stop()
    assert spoken(capfd.readouterr().err) == "", "no traceback"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for the process in /proc")
@pytest.mark.slow
def test_the_process_of_cp_sat_ends_with_the_one_that_started_it() -> None:
    """Check this for a process that is killed in the middle of a search as well."""
    code = (
        "from optsum.problem.problem import CoverageProblem; from optsum.running.search import search\n"
        "from optsum.solvers.backends import cpsat; from optsum.testing import hard_instance\n"
        "search(CoverageProblem.of(hard_instance(units=5)), 'milp', backend='cp-sat')\n"
        "print(cpsat._CHILD._process.pid, flush=True)\n"
        "search(CoverageProblem.of(hard_instance()), 'milp', backend='cp-sat')\n"
    )
    if find_spec("ortools") is None and os.environ.get("CI") != "true":
        pytest.skip("ortools is not installed")
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent) as process:
        assert process.stdout is not None
        stat = Path(f"/proc/{int(process.stdout.readline())}/stat")
        time.sleep(1)
        process.kill()
    for _ in range(50):
        time.sleep(0.2)
        if not stat.exists() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            return
    pytest.fail("it goes on")
