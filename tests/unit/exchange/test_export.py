"""Check that other programs find the same optimum from exported files, and that their solutions are imported."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optsum.solvers.milp import backend_of

import optsum
from optsum import export, import_solutions
from optsum.cli import main
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage, Joint, Sense, coverage_of_json, json_of_coverage
from optsum.errors import InputError, OptionError, UnknownNameError
from optsum.exchange.solver_files import file_stem, lp_text, mps_text, read_solution
from optsum.problem.problem import CoverageProblem
from optsum.testing import KINDS, brute_force, random_coverage

TOPICS = [
    {"id": "one", "documents": [["a b c", "c d e f", "f g", "x y", "a g"]], "references": [["a c d f g", "b g x"]]},
    {"id": "Two/2", "documents": [["a b", "b a", "q"]], "references": [["a b"]]},
]
COVERS = [{"id": "c", "cover": [[["s1"], ["s10", "s11"]], [["s3", "s5"]], [["s1", "s30"], ["s20"]]]}]
LINEAR = ("recall", "window", "compressive", "cover")


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have the program {name}")
        pytest.skip(f"the program {name} is not here")
    return found


def solve_file(name: str, path: Path, solution: Path) -> None:
    """Solve a file with a program, or with a solver's Python package."""
    if name == "cbc":
        command = [program("cbc"), str(path), "-preprocess", "off", "-solve", "-solu", str(solution)]
    elif name in {"glpk", "glpk raw"}:
        kind = "--lp" if path.suffix == ".lp" else "--freemps"
        command = [program("glpsol"), kind, str(path), "-o" if name == "glpk" else "-w", str(solution)]
    elif name == "highs":
        import highspy

        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
        highs.run()
        highs.writeSolution(str(solution), 0)
        return
    elif name == "cplex":
        model = pytest.importorskip("cplex").Cplex()
        for stream in (model.set_results_stream, model.set_log_stream, model.set_warning_stream):
            stream(None)
        model.read(str(path))
        model.solve()
        model.solution.write(str(solution))
        return
    else:
        scip = pytest.importorskip("pyscipopt").Model()
        scip.hideOutput()
        scip.readProblem(str(path))
        scip.optimize()
        scip.writeBestSol(str(solution))
        return
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert solution.is_file(), done.stdout


@pytest.mark.parametrize("name", ["cbc", "glpk", "glpk raw", "highs", "scip", "cplex"])
@pytest.mark.parametrize("kind", ["lp", "mps"])
def test_other_programs_find_the_same_optimum(tmp_path: Path, name: str, kind: str) -> None:
    options = {"max_length": 6, "metric": "rouge-1"}
    truth = {result.id: result for result in optsum.solve_all(TOPICS, **options)}
    made = export(TOPICS, tmp_path, kind, **options)
    assert [each.error for each in made] == [None, None]
    for each in made:
        assert each.path is not None
        solve_file(name, each.path, each.path.with_suffix(".sol"))
    back = import_solutions(TOPICS, tmp_path, **options)
    assert [row.id for row in back] == ["one", "Two/2"]
    for row in back:
        assert row.objective_exact == truth[row.id].objective_exact, row
        assert (row.strategy, row.backend) == ("import", name.split(maxsplit=1)[0])
        assert row.status in {Status.OPTIMAL, Status.FEASIBLE}
        assert row.summary, "the text is there, whichever of the optima it is"
        assert row.bound is not None


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("write", [lp_text, mps_text])
def test_random_programs_read_back_to_the_same_optimum(tmp_path: Path, kind: str, write: Any) -> None:
    import highspy

    path = tmp_path / f"program.{'lp' if write is lp_text else 'mps'}"
    for seed in range(20):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        if not problem.size:
            continue
        model = problem.linear_model
        path.write_text(write(model, [f"s{unit}" for unit in range(problem.size)], ["a comment"]))
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        assert highs.readModel(str(path)) == highspy.HighsStatus.kOk, seed
        highs.run()
        best, status = brute_force(problem).best, highs.getModelStatus()
        if best is None:
            assert status == highspy.HighsModelStatus.kInfeasible, seed
            continue
        worth = float(best) * model.denominator - model.offset
        found = highs.getInfo().objective_function_value
        minus = write is mps_text and kind != "cover"
        assert (-found if minus else found) == pytest.approx(worth, abs=1e-6), seed
        names = [highs.getColName(unit)[1] for unit in range(problem.size)]
        assert names == [f"s{unit}" for unit in range(problem.size)], "the order of the columns is kept"


def test_every_number_is_written_as_an_integer() -> None:
    large = 3 * 10**14 + 1
    model = CoverageProblem.of(Coverage.of([2, 3], [{0: 1}, {0: 1}], [[large]], max_length=4)).linear_model
    assert f"{large} y2" in lp_text(model, ["s0", "s1"])
    assert str(-large) in mps_text(model, ["s0", "s1"])
    assert "e+" not in lp_text(model, ["s0", "s1"]) + mps_text(model, ["s0", "s1"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_normal_form_reads_back_to_the_same(kind: str) -> None:
    for seed in range(10):
        instance = random_coverage(np.random.default_rng(seed), kind=kind)
        again = coverage_of_json(json_of_coverage(instance, about={"id": "t"}))
        for field in fields(Coverage):
            left, right = getattr(instance, field.name), getattr(again, field.name)
            if isinstance(left, np.ndarray):
                assert left.dtype == right.dtype
                assert left.shape == right.shape
                assert (left == right).all(), (kind, seed, field.name)
            else:
                assert left == right, (kind, seed, field.name)


def test_vetoes_of_a_range_stay_a_range() -> None:
    seam = Joint(0, (0, 3), range(1, 3))
    instance = Coverage.of([1] * 4, [{}] * 4, [[1]], joints=(seam,))
    assert coverage_of_json(json_of_coverage(instance)).joints[0].seam


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"format": "optsum coverage 1"}'])
def test_invalid_instances_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not optsum's normal form"):
        coverage_of_json(text)


def test_covers_are_exported_and_imported(tmp_path: Path) -> None:
    best = optsum.solve(COVERS[0], formulation="cover")
    for kind in ("lp", "mps", "wcnf", "json"):
        (made,) = export(COVERS, tmp_path, kind, formulation="cover")
        assert made.error is None
        assert made.path == tmp_path / f"c.{kind}"
    solve_file("highs", tmp_path / "c.lp", tmp_path / "c.sol")
    (row,) = import_solutions(COVERS, tmp_path, formulation="cover")
    assert (row.objective, row.status) == (best.objective, Status.OPTIMAL)
    if pytest.importorskip("pysat").__version__.startswith("1.8."):
        pytest.skip("python-sat 1.8 does not read the format of 2022")
    formula = pytest.importorskip("pysat.formula").WCNF(from_file=str(tmp_path / "c.wcnf"))
    with pytest.importorskip("pysat.examples.rc2").RC2(formula) as solver:
        model = solver.compute()
        (tmp_path / "c.sol").write_text(f"o {solver.cost}\ns OPTIMUM FOUND\nv {' '.join(map(str, model))}\n")
    (row,) = import_solutions(COVERS, tmp_path, formulation="cover")
    assert (row.objective, row.backend, row.detail) == (best.objective, "maxsat", "maxsat: OPTIMUM FOUND")


FILES = {
    "cbc": "Optimal - objective value 5.00000000\n      0 s0                     1                       0\n"
    "      7 y7                     1                       0\n",
    "gurobi": "# Solution for model obj\n# Objective value = 5\ns0 1\ns1 0\ny7 1\n",
    "scip": "solution status: optimal solution found\nobjective value:                     5\n"
    "s0                         1 \t(obj:0)\n",
    "highs": "Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 5\n# Columns 2\ns0 1\ns1 0\n"
    "# Rows 1\nr0 1\n\n# Dual solution values\nNone\n",
    "glpk": "Problem:    \nRows:       1\nStatus:     INTEGER OPTIMAL\nObjective:  obj = 5 (MAXimum)\n\n"
    "   No. Row name        Activity\n------ ------------    -------------\n     1 r0                          1\n\n"
    "   No. Column name       Activity     Lower bound   Upper bound\n------ ------------    ----------\n"
    "     1 s0           *              1             0             1\n"
    "     2 a_name_too_long_for_its_column\n                    *              0             0             1\n\n"
    "Integer feasibility conditions:\n",
    "cplex": '<?xml version = "1.0" encoding="UTF-8" standalone="yes"?>\n<CPLEXSolution version="1.2">\n <header\n'
    '   solutionName="incumbent"\n   objectiveValue="5"\n   solutionStatusString="integer optimal solution"/>\n'
    ' <linearConstraints>\n  <constraint name="r0" index="0" slack="0"/>\n </linearConstraints>\n <variables>\n'
    '  <variable name="s0" index="0" value="1"/>\n  <variable name="s1" index="1" value="0"/>\n </variables>\n'
    "</CPLEXSolution>\n",
    "list": "s0 0.9999\ns1 1e-9\n",
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "some.sol"
    path.write_text(FILES[name])
    found = read_solution(path, ["s0", "s1"])
    assert found.program == name
    assert found.values["s0"] == pytest.approx(1, abs=1e-3)
    assert found.values.get("s1", 0) == pytest.approx(0, abs=1e-6)
    assert found.objective == (None if name == "list" else 5)


@pytest.mark.parametrize(
    "text",
    [
        "Infeasible - objective value 0.00000000\n      0 s0    1   0\n",
        "Stopped on time (no integer solution - continuous used) - objective value 5\n      0 s0    0.5   0\n",
        "Model status\nInfeasible\n\n# Primal solution values\nNone\n",
        "c Problem:\nc\ns mip 1 2 n 0\ni 1 0\nj 1 0\nj 2 0\ne o f\n",
        "s UNSATISFIABLE\n",
    ],
)
def test_no_solution_is_no_selection(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.sol").write_text(text)
    (row,) = import_solutions(TOPICS[:1], tmp_path, max_length=6)
    assert (row.status, row.selection, row.error) == (Status.NO_SOLUTION, None, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("s0 0.5\n", "gives s0 the value 0.5, which is neither 0 nor 1"),
        ("s0 1\ns1 1\n", "violates the limits by 1"),
        ("u7 1\n", "has no unit of this problem"),
        ("Optimal - objective value 99\n      0 s0   1    0\n", "claims an objective of 99, but its selection has 3"),
        ("Optimal - objective value 99\n      0 s0   1    0\n", "solve it with cbc FILE.lp -preprocess off"),
        (
            "Optimal - objective value 3\n  0 s0   1    0\n  1 s1   1    0\n",
            "violates the limits by 1: it is not a valid solu",
        ),
        ("Optimal - objective value 3\n  0 s0   1    0\n  1 s1   1    0\n", "-preprocess off"),
        ("", "an unknown format"),
        ("some text\n", "the value 'text' of some is not a number"),
        ("s0 nan\n", "gives s0 the value nan, which is neither 0 nor 1"),
        ("s0 1\ns0 0\n", "it gives s0 twice"),
        ("s0 1\ns999 1\n", "chooses s999, which is not a unit of this problem"),
        ("Model status\n", "the file or a line ends too early"),
        (None, "There is no solution of one: put it at"),
    ],
)
def test_an_answer_that_does_not_survive_is_an_error_row(tmp_path: Path, text: str | None, reason: str) -> None:
    if text is not None:
        (tmp_path / "one.sol").write_text(text)
    (row,) = import_solutions(TOPICS[:1], tmp_path, max_length=6)
    assert row.status is Status.ERROR
    assert reason in str(row.error)


def test_problems_that_cannot_be_written_are_refused_with_the_reason(tmp_path: Path) -> None:
    made = export(TOPICS, tmp_path, "lp", measure="f1")
    assert all(
        "has no integer linear program to write, as its objective is not a linear function of the units: use"
        in str(each.error)
        for each in made
    )
    assert all(each.error is None for each in export(TOPICS, tmp_path, "json", measure="f1"))
    assert all("is for covers only" in str(each.error) for each in export(TOPICS, tmp_path, "wcnf", max_length=6))
    twice = export([TOPICS[0], TOPICS[0]], tmp_path, max_length=6)
    assert twice[0].error is None
    assert "occurs twice" in str(twice[1].error)
    with pytest.raises(UnknownNameError, match="there is no format 'mpss'; did you mean mps"):
        export(TOPICS, tmp_path, "mpss", max_length=6)
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="is a file, and an export needs a folder"):
        export(TOPICS, tmp_path / "file", max_length=6)
    with pytest.raises(InputError, match="There is no file or folder"):
        import_solutions(TOPICS, tmp_path / "nowhere", max_length=6)


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", "-"):
        with pytest.raises(OptionError, match="needs a folder, not the standard output"):
            export(TOPICS, name, max_length=6)

    def refused(**_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("optsum.exchange.solver_files.TemporaryFile", refused)
    with pytest.raises(OptionError, match="cannot be made or written to: Permission denied"):
        export(TOPICS, tmp_path, max_length=6)


def test_a_file_that_cannot_be_written_costs_the_others_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.lp").mkdir()
    first, second = export(TOPICS, tmp_path, max_length=6)
    assert "one.lp cannot be written: it is a folder" in str(first.error)
    assert second.error is None


def test_the_best_of_several_references_is_no_one_file(tmp_path: Path) -> None:
    topic = {**TOPICS[0], "references": [["a c"], ["b g"]]}
    (made,) = export([topic], tmp_path, max_length=6, references="best")
    assert "export them with --references each" in str(made.error)
    assert [each.error for each in export([topic], tmp_path, max_length=6, references="each")] == [None, None]


def test_comments_are_short_enough_for_every_reader(tmp_path: Path) -> None:
    (made,) = export([{**TOPICS[0], "id": "x" * 5000}], tmp_path, max_length=6)
    assert made.path is not None
    assert max(map(len, made.path.read_text().splitlines())) <= 255


def test_files_are_named_by_ids() -> None:
    assert file_stem("d30001t") == "d30001t"
    assert file_stem("one#0") == "one#0"
    stems = [file_stem(name) for name in ("a/b", "a_b", "A_B", "a:b", "../x", "é", "x" * 200, "..", "-", "-o")]
    assert len({stem.lower() for stem in stems}) == len(stems)
    assert all("/" not in stem and not stem.startswith((".", "-")) for stem in stems)


def test_the_commands_export_and_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(json.dumps(topic) + "\n" for topic in TOPICS))
    files, rows = tmp_path / "files", tmp_path / "rows.jsonl"
    assert main(["export", str(topics), "--max-length", "6", "--format", "lp", "-o", str(files)]) == 0
    assert capsys.readouterr().out == f"2 files in {files}\n"
    for path in sorted(files.glob("*.lp")):
        solve_file("highs", path, path.with_suffix(".sol"))
    assert main(["import-solution", str(topics), str(files), "--max-length", "6", "-o", str(rows)]) == 0
    read = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["objective"] for row in read] == [result.objective for result in optsum.solve_all(TOPICS, max_length=6)]
    first = ["--limit", "1", "--overwrite"]
    assert main(["import-solution", str(topics), str(files), "--max-length", "6", "-o", str(rows), *first]) == 0
    assert [json.loads(line)["id"] for line in rows.read_text().splitlines()] == [read[0]["id"]]
    assert main(["export", str(topics), "--max-length", "6"]) == 2
    assert "give --output DIR" in capsys.readouterr().err
    topics.write_text(topics.read_text() + "no json\n")
    assert main(["export", str(topics), "--max-length", "6", "-o", str(files)]) == 1
    assert "1 problem could not be written" in capsys.readouterr().err


def test_minimizing_goals_are_not_negated() -> None:
    cover = CoverageProblem.of(Coverage.of([2, 3], [{0: 1}, {0: 1}], [[1]], goal=Sense.MINIMIZE))
    assert "minus the objective" not in mps_text(cover.linear_model, ["s0", "s1"])
    assert lp_text(cover.linear_model, ["s0", "s1"]).startswith("Minimize\n obj: 2 s0 + 3 s1\n")
    assert backend_of("highs").solve(cover, optsum.Limits(), 0).objective == 2


@pytest.mark.parametrize("metric", ["rouge-l", "rougeL", "rouge-1+rouge-l"])
@pytest.mark.parametrize("measure", ["recall", "f1"])
def test_rouge_l_is_written_whole_as_json(metric: str, measure: str, tmp_path: Path) -> None:
    topic = {
        "id": "t",
        "documents": [["a b c d", "c d e a b", "x y z a", "b a c", "e d b"]],
        "references": [["a c b d e", "b a"], ["x a b z"]],
    }
    options: dict[str, Any] = {"metric": metric, "measure": measure, "max_length": 9}
    (written,) = optsum.export([topic], tmp_path / "instances", format="json", **options)
    instance = coverage_of_json(Path(written.path).read_text(encoding="utf-8"))
    assert len(instance.ceilings) > 0
    best = optsum.solve(topic, **options)
    found = optsum.search(CoverageProblem.of(instance), strategy="exhaustive")
    assert found.objective == best.objective
