"""Test what all studies share: processes, errors that cost one topic, Ctrl-C, estimates, resuming, figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optsum
import optsum.studies as loop
from optsum.cli import main
from optsum.corpus.topic import BadTopic
from optsum.errors import UnsupportedError
from optsum.optima.optima import Optima
from optsum.studies.hirao import HiraoStudy, overlaps
from optsum.studies.lin_hovy import LinHovyStudy
from optsum.system.clock import Deadline

FREE = {
    "id": "free",
    "documents": [["cats dogs", "dogs birds", "cats birds", "birds cats", "dogs cats"]],
    "references": [["cats dogs birds"], ["birds cats"]],
}
"""Any two sentences are an oracle of 4 words, if they have all three words."""
WINDOW = {"id": "w", "documents": [[f"a{n} " * 20 for n in range(6)]], "references": [["a0 a1"], ["a1 a2"]]}


def study_hirao(topics: Any, systems: Any = (), **options: Any) -> HiraoStudy:
    return HiraoStudy(**options).reads(systems).run(topics)


def slim(study: Any) -> list[dict[str, Any]]:
    """Return the rows of a study without times."""
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in study.to_rows()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hirao", {"max_length": 4}),
        ("lin-hovy", {}),
        ("tsc3", {}),
        ("akhmetov", {"exact": "exhaustive"}),
    ],
)
def test_processes_change_nothing(name: str, options: dict[str, Any]) -> None:
    given: list[Any] = [FREE, {"id": "none"}, WINDOW, BadTopic("bad", "x:3", "no JSON")]
    given += [{"id": f"c{n}", "cover": [[["a"], ["b", "c"]]]} for n in range(3)]
    one = optsum.study(name, given, **options)
    two = optsum.study(name, given, workers=2, **options)
    assert slim(one) == slim(two) != []
    assert list(one.errors) == list(two.errors) != []
    assert "x:3: no JSON" in one.errors


@pytest.mark.parametrize("name", ["hirao", "lin-hovy", "tsc3", "akhmetov", "compressive"])
def test_ctrl_c_leaves_what_was_done(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    outcome = loop._found

    def second_is_interrupted(part: optsum.Topic, work: Callable[..., Any], setup: Any) -> Any:
        def interrupted(topic: optsum.Topic) -> Any:
            if done:
                raise KeyboardInterrupt
            done.append(topic.id)
            return work(topic)

        return outcome(part, interrupted, setup)

    monkeypatch.setattr(loop, "_found", second_is_interrupted)
    lines = ["1 cats cat X _ _ 0 root _ _", "2 purr purr X _ _ 1 dep _ _"]
    parse = "\n".join("\t".join(line.split()) for line in lines)
    topic = {"documents": [["cats purr"]], "references": [["cats purr"]], "parses": [parse], "cover": [[[0]]]}
    options = {} if name in {"tsc3", "akhmetov", "lin-hovy"} else {"max_length": 4}
    study = optsum.study(name, [{**topic, "id": "t0"}, {**topic, "id": "t1"}, {**topic, "id": "t2"}], **options)
    assert study.interrupted
    assert done == ["t0"]
    assert not study.errors
    assert "Interrupted" in str(study)
    assert {row["id"] for row in study.to_rows()} == {"t0"}
    assert study.to_rows()


def test_an_interrupted_study_is_reported_as_interrupted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("optsum.studies.hirao._problem", interrupted)
    path = tmp_path / "topics.jsonl"
    path.write_text(json.dumps(FREE))
    assert main(["study", "hirao", str(path)]) == 130


def test_too_many_oracles_are_estimated_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = study_hirao([FREE], max_length=4)
    assert "standard error" not in str(exact)
    assert all(row["jaccard_among_oracles_se"] is None for row in exact.of("problem"))

    def too_many(self: Optima, deadline: Deadline) -> None:
        raise UnsupportedError("too many")

    monkeypatch.setattr(Optima, "jaccard", too_many)
    study = study_hirao([FREE], max_length=4)
    for row, other in zip(study.of("problem"), exact.of("problem"), strict=True):
        if other["count"] > 1:
            error = row["jaccard_among_oracles_se"]
            assert abs(row["jaccard_among_oracles"] - other["jaccard_among_oracles"]) <= 5 * error
    several = sum(row["count"] > 1 for row in exact.of("problem"))
    assert several > 1
    table = overlaps(study).text()
    assert "from 1,000 pairs each; the resulting standard error of the mean is " in table
    cells = [line.split()[-2:] for line in table.splitlines() if line.startswith("rouge-")]
    assert sum(int(problems) for problems, _ in cells) == sum(int(estimated) for _, estimated in cells) == several


def test_every_table_says_how_many_problems_are_left_out() -> None:
    study = study_hirao([FREE], max_length=4, time_limit=0)
    assert [row["complete"] for row in study.of("problem")] == 6 * [False]
    assert all("6 of 6 problems, whose oracles were not all" in table.text() for table in study.tables())


def test_windows_that_are_not_proven_are_reported() -> None:
    study = LinHovyStudy(strategy="branch-and-bound", time_limit=0).run([WINDOW])
    assert study.of("document")[0]["unproven"] == ["E100", "E150"]
    assert "E100 of 1 document, not proven in time" in str(study)


def test_rows_are_asked_for_by_values_that_not_all_of_them_have() -> None:
    study = LinHovyStudy()
    study.rows = [{"kind": "score", "system": "a", "human": {}}, {"kind": "score", "system": "b"}, {"kind": "other"}]
    assert [row["system"] for row in study.of("score", human={})] == ["a"]
    assert [row["system"] for row in study.of("score", system="b")] == ["b"]
    assert study.of("score", human=None) == []


# --- resuming a study ---------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    topics = [{**FREE, "id": name} for name in ("t0", "t1", "t2")]
    Path("topics.jsonl").write_text("\n".join(map(json.dumps, topics)))
    Path("some.jsonl").write_text("\n".join(map(json.dumps, topics[:2])))
    systems = [{"topic_id": name, "system": "7", "selection": [0]} for name in ("t0", "t1", "t2")]
    Path("systems.jsonl").write_text("\n".join(map(json.dumps, systems)))
    return tmp_path


def run_hirao(topics: str, output: str, *rest: str) -> int:
    return main(["study", "hirao", topics, "--max-length", "4", "--systems", "systems.jsonl", "-o", output, *rest])


def timeless(path: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in rows]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@pytest.mark.usefixtures("files")
def test_a_study_is_resumed(suffix: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_hirao("topics.jsonl", f"whole{suffix}") == 0
    whole = capsys.readouterr().out
    assert run_hirao("some.jsonl", f"part{suffix}") == 1  # a system lacks a topic
    capsys.readouterr()
    done: list[str] = []
    work = loop._found
    monkeypatch.setattr(loop, "_found", lambda part, **more: done.append(part.id) or work(part, **more))
    assert run_hirao("topics.jsonl", f"part{suffix}", "--resume") == 0
    assert done == ["t2"]
    resumed = capsys.readouterr().out
    if suffix == ".jsonl":
        assert timeless("part.jsonl") == timeless("whole.jsonl")
    without_effort = [table for table in whole.split("\n\n") if "lagrangian" not in table and "nodes" not in table]
    assert all(table in resumed for table in without_effort)
    assert len(without_effort) > 5


@pytest.mark.usefixtures("files")
def test_a_study_with_other_options_is_not_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_hirao("topics.jsonl", "out.jsonl") == 0
    before = Path("out.jsonl").read_text()
    assert run_hirao("topics.jsonl", "out.jsonl", "--resume", "--seed", "1") == 2
    assert "with other options or summaries" in capsys.readouterr().err
    Path("systems.jsonl").write_text(json.dumps({"topic_id": "t0", "system": "7", "selection": [1]}))
    assert run_hirao("topics.jsonl", "out.jsonl", "--resume") == 2
    assert main(["study", "tsc3", "topics.jsonl", "-o", "out.jsonl", "--resume"]) == 2
    assert "by something else" in capsys.readouterr().err
    assert main(["study", "tsc3", "topics.jsonl", "--resume"]) == 2
    assert "nothing to resume" in capsys.readouterr().err
    assert Path("out.jsonl").read_text() == before
    # Options that affect tables only, and the number of workers, may change.
    assert run_hirao("some.jsonl", "new.jsonl") == 0
    assert run_hirao("some.jsonl", "new.jsonl", "--resume", "--resamples", "3", "--workers", "2") == 0


@pytest.mark.usefixtures("files")
def test_a_study_of_other_texts_is_not_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_hirao("topics.jsonl", "out.jsonl") == 0
    before = Path("out.jsonl").read_text()
    assert run_hirao("topics.jsonl", "out.jsonl", "--resume") == 0
    topics = [json.loads(line) for line in Path("topics.jsonl").read_text().splitlines()]
    topics[1]["references"] = [["quite another summary"]]
    Path("topics.jsonl").write_text("\n".join(map(json.dumps, topics)))
    capsys.readouterr()
    assert run_hirao("topics.jsonl", "out.jsonl", "--resume") == 2
    assert f"the rows of {topics[1]['id']!r} in out.jsonl were made from another text" in capsys.readouterr().err
    assert Path("out.jsonl").read_text() == before
    old = [
        {name: value for name, value in json.loads(line).items() if name != "input_hash"}
        for line in before.splitlines()
    ]
    Path("out.jsonl").write_text("\n".join(map(json.dumps, old)) + "\n")
    assert run_hirao("topics.jsonl", "out.jsonl", "--resume") == 0  # rows of earlier versions, which have no hash


@pytest.mark.usefixtures("files")
def test_a_topic_that_was_not_written_to_its_end_is_done_again() -> None:
    assert run_hirao("topics.jsonl", "out.jsonl") == 0
    lines = Path("out.jsonl").read_text().splitlines(keepends=True)
    whole = timeless("out.jsonl")
    Path("out.jsonl").write_text("".join(lines[:-3]) + lines[-3][:40])
    assert run_hirao("topics.jsonl", "out.jsonl", "--resume") == 0
    assert timeless("out.jsonl") == whole


# --- systems of every kind ----------------------------------------------------------------------------------------


def test_rows_of_solve_are_systems(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps(FREE))
    rows = tmp_path / "rows.jsonl"
    assert main(["solve", str(topics), "--max-length", "4", "--strategy", "lead", "-o", str(rows)]) == 0
    study = optsum.study("hirao", topics, rows, max_length=4)
    assert not study.errors
    lead, _ = study.of("system")
    assert (lead["system"], lead["selection"], lead["others"]) == ("lead", [0, 1], 0)
    refused = {"id": "free", "strategy": "lead", "status": "error", "error": "it broke"}
    study = optsum.study("hirao", topics, [refused], max_length=4)
    assert "has no summary (it broke)" in study.errors[0]


@pytest.mark.parametrize("name", ["hirao", "lin-hovy", "akhmetov"])
def test_every_study_takes_systems(name: str) -> None:
    systems = [
        {"topic_id": "free", "system": "good", "summary": ["cats dogs", "birds"]},
        {"topic_id": "free", "system": "bad", "selection": [77]},
        {"topic_id": "free", "system": "good", "summary": ["twice"]},
        {"topic_id": "elsewhere", "system": "good", "summary": ["cats"]},
    ]
    study = optsum.study(name, [FREE], systems)
    assert {row["system"] for row in study.of("system")} == {"good"}
    assert len(study.errors) == 3
    assert "good" in str(study)


# --- figures ------------------------------------------------------------------------------------------------------


def test_figures_are_drawn_and_have_their_data(files: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ["study", "akhmetov", "topics.jsonl", "-o", "rows.jsonl", "--figures"]
    assert main([*command, "figures"]) == 0
    names = sorted(path.name for path in (files / "figures").iterdir())
    assert names == ["figure-3.csv", "figure-3.pdf", "figure-3.png", "figure-3.svg"]
    drawing = (files / "figures" / "figure-3.svg").read_text()
    assert "Genetic_Greedy" in drawing
    lines = (files / "figures" / "figure-3.csv").read_text().splitlines()
    assert lines[0] == "series,x,y,error"
    assert len(lines) == 1 + 3 * 6  # six methods
    assert {line.split(",")[0] for line in lines[1:]} == {"R-1", "R-2", "R-2 by itself"}
    assert main([*command, "again", "--resume"]) == 0
    assert (files / "again" / "figure-3.svg").read_text() == drawing


@pytest.mark.usefixtures("files")
def test_figures_that_cannot_be_made_are_refused_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "akhmetov", "topics.jsonl", "--figures", "topics.jsonl"]) == 2
    assert "Figures cannot be written to topics.jsonl" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["study", "akhmetov", "topics.jsonl", "--figures", "figures"]) == 2
    assert "optsum[plots]" in capsys.readouterr().err
