"""Test the options for columns and flat lists on every command, as flags and in the file of options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.corpus.row_files import read_rows

RECORD = {"name": "a", "text": ["a b", "b c"], "gist": ["a b c"]}
LENGTH = ["--max-length", "4", "--strategy", "lead"]
TABLE = '[map]\ndocuments = "text"\nreferences = "gist"\nid = "name"'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("set.jsonl").write_text(json.dumps(RECORD) + "\n")


@pytest.mark.parametrize("said", ['map = "documents=text,references=gist,id=name"', TABLE], ids=["text", "table"])
@pytest.mark.parametrize("command", [["solve", *LENGTH], ["align"], ["labels", *LENGTH], ["study", "lin-hovy"]])
def test_columns_in_the_file_of_options(said: str, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.toml").write_text(said)
    split = 2 if command[0] == "study" else 1
    main([*command[:split], "set.jsonl", *command[split:], "--config", "c.toml", "-o", "out.jsonl"])
    assert {row["id"] for row in read_rows("out.jsonl")} <= {"a", "a#0"}
    assert "there is no" not in capsys.readouterr().err


def test_the_flag_wins_over_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.toml").write_text('map = "documents=none,references=gist"')
    flags = ["--config", "c.toml", "--map", "documents=text,references=gist", "-o", "out.jsonl"]
    assert main(["solve", "set.jsonl", *LENGTH, *flags]) == 0
    for said, reason in (("map = 3", "map is neither a string nor a table"), ('map = "x"', "documents=COLUMN")):
        Path("c.toml").write_text(said)
        assert main(["solve", "set.jsonl", *LENGTH, "--config", "c.toml", "-o", "other.jsonl"]) == 2
        assert reason in capsys.readouterr().err


def test_flat_lists_in_studies_and_chunks(capsys: pytest.CaptureFixture[str]) -> None:
    word = "1\tx\t_\tX\t_\t_\t0\troot\t_\t_"
    topic = {"id": "t", "documents": ["a b", "b c"], "references": [["a b"]], "parses": [word] * 2}
    Path("flat.jsonl").write_text(json.dumps(topic) + "\n")
    for command in (["study", "lin-hovy"], ["chunks"]):
        main([*command, "flat.jsonl"])
        assert "--flat sentences or --flat texts" in capsys.readouterr().err
        main([*command, "flat.jsonl", "--flat", "sentences"])
        assert "flat list" not in capsys.readouterr().err
        assert main([*command, "flat.jsonl", "--flat", "both"]) == 2
        assert "give sentences, texts or tokens" in capsys.readouterr().err


OTHER = {**RECORD, "body": ["x y", "z"], "title": ["z"]}
IN_PYTHON: dict[str, Callable[..., Any]] = {
    "solve": lambda **how: optsum.solve(OTHER, **how).summary,
    "solve_all": lambda **how: next(optsum.solve_all([OTHER], **how)).summary,
    "solve_all of a file": lambda **how: next(optsum.solve_all("other.jsonl", **how)).summary,
    "enumerate_optima": lambda **how: optsum.enumerate_optima(OTHER, **how).result.summary,
    "labels": lambda **how: [next(optsum.labels([OTHER], **how))["sentences"][1]],  # type: ignore[index]
    "compare": lambda **how: optsum.compare([OTHER], ["greedy"], **how).results[0].summary,
    "context": lambda **how: optsum.context(OTHER, formulation="extractive", **how).summary,
    "frontier": lambda **how: optsum.frontier(OTHER, **how).summary,
}


@pytest.mark.parametrize(
    "said", ['map = "documents=body,references=title"', '[map]\ndocuments="body"\nreferences="title"']
)
@pytest.mark.parametrize("name", IN_PYTHON)
def test_functions_read_the_columns_of_a_file_too(name: str, said: str) -> None:
    Path("other.jsonl").write_text(json.dumps(OTHER) + "\n")
    Path("c.toml").write_text(f"max-length = 2\n{said}\n")
    assert list(IN_PYTHON[name](config="c.toml")) == ["z"]
    if name != "frontier":
        given = IN_PYTHON[name](config="c.toml", columns={"documents": "text", "references": "gist"})
        assert list(given) in (["a b"], ["b c"])
    assert optsum.solve("It rained. Fans left.", "Fans left.", config="c.toml").summary == ("Fans left.",)


def test_other_functions_read_the_columns_of_a_file_too() -> None:
    Path("c.toml").write_text('max-length = 2\nmap = "documents=body,references=title"')
    made = optsum.export([OTHER], "files", config="c.toml", format="json")
    assert [each.error for each in made] == [None]
    scored = optsum.score([OTHER], [{"topic_id": "0", "system": "s", "summary": "z"}], config="c.toml")
    assert [row.rouge["rouge-1"]["recall"] for row in scored.rows] == [1]
    Path("c.toml").write_text('map = "documents=body,references=title"')
    assert len(optsum.study("lin-hovy", [OTHER], config="c.toml").to_rows()) > 0
    Path("c.toml").write_text('max-length = 2\nmap = "documents=body,references=title,refs=x"')
    with pytest.raises(optsum.OptionError, match="there is no key"):
        optsum.solve(OTHER, config="c.toml")
