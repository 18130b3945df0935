"""Test ``optsum study all``, and the papers' own values in the tables of studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vectors import draw_only_vectors

import optsum
from optsum.cli import main
from optsum.studies import STUDIES, load_study, papers

TOPIC = {
    "id": "t",
    "documents": [["cats purr", "cats sleep"], ["dogs bark"]],
    "references": [["cats purr"], ["cats bark"], ["dogs sleep"]],
}


def test_every_study_that_the_data_serves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "topics.jsonl").write_text(json.dumps(TOPIC), "utf-8")
    draw_only_vectors(monkeypatch)
    folder = tmp_path / "all"
    flags = ["study", "all", str(tmp_path / "topics.jsonl"), "-o", str(folder), "--paper", "--max-length", "4"]
    assert main(flags) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "study tsc3 is left out" in said.err
    assert "study compressive is left out" in said.err
    page = (folder / "index.html").read_text("utf-8")
    for name in STUDIES:
        served = name not in {"tsc3", "compressive"}
        assert f"<h2>{name}</h2>" in page
        assert (folder / name).is_dir() == served
        if served:
            rows = [json.loads(line) for line in (folder / name / "rows.jsonl").read_text("utf-8").splitlines()]
            assert {row["study"] for row in rows} == {name}
            options = {"max_length": 4} if name in {"hirao", "gap"} else {}
            study = optsum.study(name, [TOPIC], **options, **({} if name == "gap" else {"paper": True}))
            titles = [table.title for table in study.tables()]
            text = (folder / name / "tables.txt").read_text("utf-8")
            assert all(title in text and title.split(" (")[0] in page for title in titles)
    assert "4 words at most" in page
    assert main(flags) == 2  # existing files are not overwritten
    assert main([*flags, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ([], "and -o FOLDER"),
        (["-o", "-"], "and -o FOLDER"),
        (["-o", "x", "--plot", "y.svg"], "leave out --plot"),
    ],
)
def test_impossible_options_are_refused(
    flags: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "topics.jsonl").write_text(json.dumps(TOPIC), "utf-8")
    assert main(["study", "all", str(tmp_path / "topics.jsonl"), *flags]) == 2
    assert sentence in capsys.readouterr().err


def test_topics_that_no_study_can_use_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "topics.jsonl").write_text(json.dumps({"id": "t", "documents": [["a b"]], "references": []}), "utf-8")
    assert main(["study", "all", str(tmp_path / "topics.jsonl"), "-o", str(tmp_path / "x")]) == 2
    assert "No study can use" in capsys.readouterr().err


def test_the_papers_values_stand_beside_ours() -> None:
    study = optsum.study("hirao", [TOPIC], max_length=4, paper=True)
    (table,) = (each for each in study.shown_tables() if "(Table 2)" in each.title)
    assert [column.heading for column in table.columns][1:] == ["R1", "R1 (paper)", "R2", "R2 (paper)"]
    shown = {row[0]: row for row in table.rows}
    (ours,) = (each for each in study.tables() if "(Table 2)" in each.title)
    for row in ours.rows:
        assert [shown[row[0]][place] for place in (0, 1, 3)] == row
    assert shown["Oracle (single)"][2] == "0.519"
    assert shown["Peer"][1:] == ["-", "0.305", "-", "0.092"]  # the paper has a value and the study none
    assert "DUC 2004" in table.caption[-1]
    assert "(paper)" not in str(optsum.study("hirao", [TOPIC], max_length=4))
    with pytest.raises(optsum.OptionError, match="is not from a paper"):
        optsum.study("gap", [TOPIC], paper=True)


@pytest.mark.parametrize(
    ("name", "options"), [*((name, {}) for name in papers()), ("hirao", {"duc": "2006", "bound": "knapsack"})]
)
def test_each_table_of_a_paper_is_found(name: str, options: dict[str, Any]) -> None:
    """Check that each table of the paper is a table of the study with the same columns."""
    human = {"content": 0.5, "q00": 1}
    given = {**TOPIC, "documents": [["w " * 60, "v " * 60, "cats purr"]], "cover": [[[0]]]}
    given["meta"] = {"questions": [{"answer": "purr"}]}
    given["parses"] = [parse_of(text) for text in given["documents"][0]]
    both = [{**given, "id": kind, "meta": {**given["meta"], "condition": kind}} for kind in ("short", "long")]
    systems = [
        {"topic_id": kind, "system": f"s{n}", "selection": [n], "human": human}
        for kind in ("short", "long")
        for n in (0, 1, 2)
    ]
    study = load_study(name)(paper=True, **options).reads(systems).run(both)
    tables = study.shown_tables()
    for title, rows in study.papers_values().items():
        if title == "differs" or title.isdigit():
            continue
        found = [table for table in tables if title in table.title]
        assert found, title
        headings = {column.heading for table in found for column in table.columns}
        wanted = {heading for row in rows.values() for heading in row} - ({"paper's bound"} if not options else set())
        if name == "lin-hovy":
            wanted = {"all"}
        if "(Table 6, " in title:
            wanted = {"q00"}
        assert {f"{heading} (paper)" for heading in wanted} <= headings, title


def parse_of(text: str) -> str:
    words = enumerate(text.split(), start=1)
    return "\n".join(
        "\t".join((str(n), word, word, "X", "_", "_", "1" if n > 1 else "0", "dep" if n > 1 else "root", "_", "_"))
        for n, word in words
    )
