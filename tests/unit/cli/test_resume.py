"""Test existing outputs, which are refused, replaced or resumed, with every command that writes rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optsum.cli import main
from optsum.corpus.row_files import read_rows

SOLVE = ["--max-length", "4", "--strategy", "lead"]


HASH_BEFORE = "0e436a3bef087934"
"""The `input_hash` of these topics in rows of version 0.2.0."""


def topic(name: str, references: int = 1) -> dict[str, Any]:
    return {"id": name, "documents": [["a b", "b c", "a c"]], "references": [["a b c"]] * references}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("topics.jsonl").write_text("".join(json.dumps(topic(name)) + "\n" for name in "abc"))
    Path("two.jsonl").write_text("".join(json.dumps(topic(name, 2)) + "\n" for name in "abc"))
    return tmp_path


def rows(path: str = "out.jsonl") -> list[dict[str, Any]]:
    return list(read_rows(path))


def cut(path: str, lines: int, half: str = "") -> None:
    """Truncate a file as a killed run would leave it."""
    held = Path(path).read_text().splitlines(keepends=True)
    Path(path).write_text("".join(held[:lines]) + half)


@pytest.mark.parametrize(
    ("command", "each"),
    [
        (["solve", "topics.jsonl", *SOLVE], 1),
        (["solve", "two.jsonl", *SOLVE, "--references", "each"], 2),
        (["solve", "topics.jsonl", *SOLVE, "--workers", "2"], 1),
        (["enumerate", "topics.jsonl", "--max-length", "4", "--strategy", "exhaustive"], 1),
        (["compare", "topics.jsonl", "--max-length", "4", "--strategies", "lead,random", "--exact", "none"], 2),
        (["compare", "two.jsonl", "--max-length", "4", "--strategies", "lead,random", "--exact", "none",
          "--references", "each"], 4),
    ],
    ids=["solve", "solve each", "solve workers", "enumerate", "compare", "compare each"],
)  # fmt: skip
@pytest.mark.usefixtures("here")
def test_resuming_gives_the_rows_of_one_run(command: list[str], each: int, capsys: pytest.CaptureFixture[str]) -> None:
    def plain(row: dict[str, Any]) -> dict[str, Any]:
        return {name: row[name] for name in ("id", "strategy", "status", "objective", "selection", "config_hash")}

    assert main([*command, "-o", "out.jsonl"]) == 0
    whole = [plain(row) for row in rows()]
    table = capsys.readouterr().out
    assert len(whole) == 3 * each

    assert main([*command, "-o", "out.jsonl"]) == 2
    assert "exists already: --resume keeps" in capsys.readouterr().err
    assert [plain(row) for row in rows()] == whole

    # With --references each, an unfinished topic is searched again.
    for lines in (each + 1, 2 * each, 3 * each):
        cut("out.jsonl", lines, half='{"id": "b", "formul')
        before = Path("out.jsonl").read_text().splitlines()[:each]
        assert main([*command, "-o", "out.jsonl", "--resume"]) == 0
        assert [plain(row) for row in rows()] == whole
        assert Path("out.jsonl").read_text().splitlines()[:each] == before  # finished rows are kept
        said = capsys.readouterr().out
        if command[0] == "compare":
            assert said.splitlines()[0] == table.splitlines()[0]
        else:
            assert said.startswith(f"{3 * each} problems: ")
            assert " kept from an earlier run; " in said

    assert main([*command, "-o", "out.jsonl", "--overwrite"]) == 0
    assert [plain(row) for row in rows()] == whole


@pytest.mark.usefixtures("here")
def test_errors_and_what_ctrl_c_left_are_done_again() -> None:
    Path("topics.jsonl").write_text(json.dumps(topic("a")) + '\n{"id": "b"}\n' + json.dumps(topic("c")) + "\n")
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.jsonl"]) == 1
    held = rows()
    held[2]["termination"] = "interrupted"
    Path("out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held))
    Path("topics.jsonl").write_text("".join(json.dumps(topic(name)) + "\n" for name in "abc"))
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.jsonl", "--resume"]) == 0
    assert [(row["id"], row["termination"]) for row in rows()] == [(name, "completed") for name in "abc"]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (["--max-length", "5", "--strategy", "lead"], "such as the length, the measure, or a limit"),
        (["--max-length", "4", "--strategy", "random", "--seed", "3"], "strategy lead, not random; seed 0, not 3"),
        (["--max-length", "4", "--strategy", "lead", "--metric", "rouge-2"], "metric rouge-1, not rouge-2"),
    ],
)
@pytest.mark.usefixtures("here")
def test_other_options_are_refused(changed: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.csv"]) == 0
    before = Path("out.csv").read_bytes()
    assert main(["solve", "topics.jsonl", *changed, "-o", "out.csv", "--resume"]) == 2
    assert f"out.csv were made with other options ({what})" in capsys.readouterr().err
    assert Path("out.csv").read_bytes() == before


@pytest.mark.usefixtures("here")
def test_other_flags_of_an_enumeration_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["enumerate", "topics.jsonl", "--max-length", "4", "--strategy", "exhaustive", "-o", "out.jsonl"]
    assert main([*command, "--max-solutions", "2"]) == 0
    assert main([*command, "--max-solutions", "2", "--resume"]) == 0
    capsys.readouterr()
    for flags, what in (
        (["--max-solutions", "1"], "--max-solutions"),
        ([], "--max-solutions"),
        (["--count-only"], "--max-solutions"),
        (["--minimal"], "--minimal"),
    ):
        assert main([*command, *flags, "--resume"]) == 2
        assert f"made with other options ({what})" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["out.jsonl", "out.csv"])
@pytest.mark.usefixtures("here")
def test_another_text_is_refused(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    flat = {
        "id": "f",
        "documents": ["It ran. It sat.", "We ran. We sat."],
        "references": ["It sat."],
        "other": ["He ran. He sat."],
    }
    Path("topics.jsonl").write_text(json.dumps(flat) + "\n")
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", out]) == 0
    columns = ["--map", "documents=other,references=references,id=id"]
    for flags, reason in ((["--flat", "sentences"], "with other options"), (columns, "from another text")):
        assert main(["solve", "topics.jsonl", *SOLVE, "-o", out, "--resume", *flags]) == 2
        assert f"were made {reason}" in capsys.readouterr().err
        assert [row["id"] for row in rows(out)] == ["f"]
    Path("topics.jsonl").write_text(json.dumps({**flat, "meta": {"a": 1}}) + "\n" + json.dumps(topic("a")) + "\n")
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", out, "--resume"]) == 0  # an input may grow between runs
    assert [row["id"] for row in rows(out)] == ["f", "a"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1}\n', "has rows that are not results of a search"),
        ("ROW\nROW\n", "has two rows of 'a', as if two runs had written it"),
        ("[1]\n", "a row must be an object"),
    ],
)
@pytest.mark.usefixtures("here")
def test_unrelated_files_are_not_resumed(text: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.jsonl"]) == 0
    Path("out.jsonl").write_text(text.replace("ROW", Path("out.jsonl").read_text().splitlines()[0]))
    before = Path("out.jsonl").read_bytes()
    capsys.readouterr()
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.jsonl", "--resume"]) == 2
    assert reason in capsys.readouterr().err
    assert Path("out.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["-o", "out.jsonl", "--resume", "--overwrite"], "cannot be both kept and replaced"),
        (["-o", "-", "--resume"], "give a file, -o FILE"),
        (["-o", "out.txt"], "has a format that optsum cannot write"),
    ],
)
@pytest.mark.usefixtures("here")
def test_meaningless_flags_are_refused(flags: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "topics.jsonl", *SOLVE, *flags]) == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["align", "topics.jsonl"],
        ["score", "topics.jsonl", "systems.jsonl"],
        ["study", "tsc3", "covers.jsonl"],
        ["import-solution", "topics.jsonl", "solutions", "--max-length", "4"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize("out", ["out.jsonl", "out.csv", "out.parquet"])
@pytest.mark.usefixtures("here")
def test_other_commands_resume_as_well(command: list[str], out: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("systems.jsonl").write_text('{"topic_id": "a", "system": "x", "summary": ["a b"]}\n')
    Path("covers.jsonl").write_text('{"id": "t", "cover": [[["s1"]]]}\n')
    Path("solutions").mkdir()
    main([*command, "-o", out])
    first = rows(out)
    assert first
    capsys.readouterr()
    assert main([*command, "-o", out]) == 2
    said = capsys.readouterr().err
    assert "exists already" in said
    offered = "--resume" in said
    assert (main([*command, "-o", out, "--resume"]) != 2 or "--resume" not in capsys.readouterr().err) is offered
    main([*command, "-o", out, "--overwrite"])
    assert len(rows(out)) == len(first)


@pytest.mark.usefixtures("here")
def test_workers_write_the_same_rows_and_changed_lines_are_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["labels", *SOLVE]
    lines = Path("topics.jsonl").read_text().splitlines()
    flat = {"id": "flat", "documents": ["It ran. It sat.", "We ran. We sat."], "references": ["It sat. It ran."]}
    lines += [json.dumps(flat), "{broken", lines[0], json.dumps({"id": "no", "documents": [["a"]]})]
    for name, given, good in (("topics.jsonl", lines, 4), ("again.jsonl", [lines[0]] * 2, 1)):
        Path(name).write_text("".join(line + "\n" for line in given))
        made = []
        for workers in ("1", "2"):
            status = main([command[0], name, *command[1:], "--workers", workers, "-o", f"{workers}.{name}"])
            told = capsys.readouterr().err.replace(f"{workers}.{name}", "")
            timed = {"seconds": None, "statistics": None, "trace": None}
            found = [{**row, **timed} for row in rows(f"{workers}.{name}")]
            made.append((status, told, list(map(list, found)), found))
        assert made[0] == made[1]
        assert sum("input_hash" in row for row in made[1][-1]) == good
    text = lines[1].replace("a c", "c c")
    Path("topics.jsonl").write_text(text + "\n")
    assert main([command[0], "topics.jsonl", *command[1:], "-o", "2.topics.jsonl", "--resume"]) == 2
    assert "were made from another text" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_aligned_topics_are_read_from_every_format() -> None:
    for out in ("out.jsonl", "out.csv.gz", "out.parquet"):
        assert main(["align", "topics.jsonl", "-o", out, "--threshold", "0.9", "--stopwords", "keep"]) == 0
        assert main(["solve", out, "--formulation", "cover", "-o", f"rows.of.{out}"]) == 0
        assert [row["objective"] for row in rows(f"rows.of.{out}")] == [2.0] * 3


@pytest.mark.usefixtures("here")
def test_rows_of_earlier_versions_are_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.jsonl"]) == 0
    made = rows()
    assert {len(row["input_hash"]) for row in made} == {20}
    known = "6b0d40b8ad9c2f5e"
    for held, status in ((HASH_BEFORE, 0), (known, 2)):
        Path("out.jsonl").write_text("".join(json.dumps({**row, "input_hash": held}) + "\n" for row in made[:2]))
        assert main(["solve", "topics.jsonl", *SOLVE, "-o", "out.jsonl", "--resume"]) == status
        assert ("were made from another text" in capsys.readouterr().err) == (status == 2)


PROBLEMS = """
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

import optsum


@dataclass(frozen=True, eq=False, kw_only=True)
class Own(optsum.Problem):
    table: Any
    worth: Any = None

    def __post_init__(self):
        super().__post_init__()

    def evaluate(self, selection):
        value = len(selection) * FACTOR
        return optsum.Evaluation(value, self.excess(selection), value)


def own():
    table = np.zeros(3000)
    table[1500] = MIDDLE
    return Own(lengths=(1, 2), name="own", table=table, worth=lambda unit: {"a", "b", unit})


def linear():
    model = pyo.ConcreteModel("linear")
    model.x = pyo.Var(range(1500), within=pyo.Binary)
    model.worth = pyo.Objective(expr=model.x[0] + MIDDLE * model.x[700] + model.x[1499], sense=pyo.maximize)
    model.room = pyo.Constraint(expr=pyo.quicksum(model.x.values()) <= FACTOR)
    return optsum.PyomoProblem(model, units=model.x)


def endless():
    held = []
    held.append(held)
    return Own(lengths=(1, 2), name="endless", table=held)
"""


@pytest.mark.parametrize("kind", ["own", "linear"])
@pytest.mark.usefixtures("here")
def test_rows_of_another_problem_are_refused(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, middle, factor in (("one", 2, 2), ("same", 2, 2), ("data", 3, 2), ("code", 2, 3)):
        Path(f"{name}.py").write_text(PROBLEMS.replace("MIDDLE", str(middle)).replace("FACTOR", str(factor)))
    command = ["--strategy", "greedy", "-o", "out.jsonl"]
    assert main(["solve", f"one.py:{kind}", *command]) == 0
    assert main(["solve", f"same.py:{kind}", *command, "--resume"]) == 0
    for other in ("data", "code"):
        assert main(["solve", f"{other}.py:{kind}", *command, "--resume"]) == 2
        assert "were made from another problem" in capsys.readouterr().err
    assert main(["solve", "one.py:endless", "--strategy", "greedy", "-o", "endless.jsonl"]) == 0
    assert main(["solve", "one.py:endless", "--strategy", "greedy", "-o", "endless.jsonl", "--resume"]) == 2
    assert "the problem 'endless' cannot be compared with the one in endless.jsonl" in capsys.readouterr().err
