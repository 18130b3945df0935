"""Check that worker processes that parse the input lines give the rows and messages of a single process."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from optsum.cli import main
from optsum.corpus import formats

OWN = """
import os

def words(text):
    if text.endswith("t5"):
        os._exit(9)
    return text.split()
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(formats, "_SEVERAL", 700)  # about four lines a block


def line(name: object, **more: object) -> str:
    return json.dumps({"id": name, "documents": [["a b", "b c", f"a c {name}"]], "references": [["a b c"]], **more})


def several(seed: int) -> str:
    """Return lines of which some cannot be used and some repeat an id, at short and long distances."""
    chance = random.Random(seed)  # noqa: S311
    found = [line(f"t{number}") for number in range(60)]
    for name in ("t3", "t3", "t59", "t17"):
        found.insert(chance.randrange(8, len(found)), line(name))
    more: list[Any] = ["{broken", "", " \t", line("t1", documents=5), line("t1", references=[["x"]]), "[1]", "  "]
    more += [json.dumps({"documents": ["It ran. It sat."], "references": "It sat."}), line("é\u2003"), line(" ")]
    for each in more:
        found.insert(chance.randrange(len(found)), each)
    return "\n".join(found) + "\n" * chance.randrange(2)


def answered(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, list[list[Any]]]:
    """Return the status, messages and rows of a command, without times."""
    status = main([*arguments, "-o", "rows.jsonl", "--overwrite"])
    timed = {"seconds", "statistics", "trace"}
    rows = [json.loads(row) for row in Path("rows.jsonl").read_text().splitlines()]
    kept = [[(key, value) for key, value in row.items() if key not in timed] for row in rows]
    return status, capsys.readouterr().err, kept


@pytest.mark.parametrize(
    ("command", "way", "more"),
    [
        ("solve", "standard input", ["--limit", "33"]),
        ("labels", "packed", ["--references", "each"]),
    ],
    ids=["solve", "labels"],
)
def test_rows_and_messages_are_those_of_one_process(
    command: str, way: str, more: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    held = several(len(command) + len(way)).encode()
    Path("topics").write_bytes(gzip.compress(held) if way == "packed" else held)
    made = []
    for workers in "12":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(held)))
        given = "-" if way == "standard input" else "topics"
        options = ["--max-length", "4", "--strategy", "lead", "--workers", workers]
        made.append(answered([command, given, *options, *more], capsys))
    assert made[0] == made[1]
    assert made[1][0] == 1


def test_a_topic_that_kills_its_process_costs_no_other_even_with_repeated_ids(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("own.py").write_text(OWN)
    names = [f"t{number}" for number in range(14)]
    held = [*map(line, names), line("t5", documents=[["a"]]), line("t7")]
    Path("topics").write_text("".join(each + "\n" for each in held))
    own = ["--strategy", "lead", "--tokenizer", "own.py:words", "--workers", "2"]
    status, _, rows = answered(["solve", "topics", "--max-length", "4", *own], capsys)
    errors = {place: dict(row)["error"] for place, row in enumerate(rows) if dict(row)["error"] is not None}
    assert (status, [dict(row)["id"] for row in rows]) == (1, [*names, "t5", "t7"])
    assert [(place, "killed its process twice" in why) for place, why in errors.items()] == [
        (5, True), (14, False), (15, False),
    ]  # fmt: skip
    assert errors[14] == "topics:15: the id 't5' occurs twice; give each topic its own"


def test_topics_after_a_frequent_id_are_searched(capsys: pytest.CaptureFixture[str]) -> None:
    Path("topics").write_text("".join(line("t") + "\n" for _ in range(40)) + line("u"))
    _, _, rows = answered(["solve", "topics", "--max-length", "4", "--strategy", "lead", "-j", "2"], capsys)
    assert [dict(row)["status"] for row in rows] == ["feasible", *["error"] * 39, "feasible"]
