"""Test `optsum.context` and ``optsum context``: covers with a budget in the terms of retrieval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main

GIVEN = {"id": "q", "supports": [[0, 1], [2, 3], [0, 1, 2]], "lengths": [40, 45, 50], "weights": [1, 1, 1, 1, 1]}
PASSAGES = {
    "id": "p",
    "documents": ["It opened. It was late.", "It cost 4 million.", "It opened and carries trains."],
    "supports": [[0], [1], [0, 2]],
    "references": ["opened", "cost 4 million", "carries trains"],
}


def test_a_context_is_the_result_of_solve_with_that_of_greedy_search() -> None:
    found = optsum.context(GIVEN, max_length=90)
    asked: dict[str, Any] = {"formulation": "cover", "length_unit": "given", "max_length": 90}
    solved = optsum.solve(GIVEN, **asked)
    greedy = optsum.solve(GIVEN, strategy="greedy", **asked)
    assert (found.objective_exact, found.selection, found.missed) == (solved.objective_exact, solved.selection, [4])
    assert found.config_hash == solved.config_hash or found.signature == solved.signature
    assert found.greedy == {
        "objective": greedy.objective,
        "numerator": greedy.numerator,
        "length": greedy.length,
        "selection": list(greedy.selection or ()),
    }
    assert (found.numerator, greedy.numerator) == (4, 3)
    assert optsum.Result.from_row(json.loads(json.dumps(found.to_row()))) == found.changed(source=None)


def test_passages_are_units_whatever_is_in_them(caplog: pytest.LogCaptureFixture) -> None:
    found = optsum.context(PASSAGES, max_length=9)
    assert (found.selection, found.missed, found.length) == ((1, 2), [], 9)
    assert found.summary == ("It cost 4 million.", "It opened and carries trains.")
    assert caplog.messages == ['lengths are words; length_tokenizer="NAME" counts tokens']


@pytest.mark.parametrize(
    ("options", "length"),
    [
        ({"length_tokenizer": len}, 18 + 29),
        ({"length_unit": "characters"}, 18 + 29),
        ({"length_unit": "sentences"}, 2),
    ],
)
def test_explicit_options_cause_no_note(options: Any, length: int, caplog: pytest.LogCaptureFixture) -> None:
    found = optsum.context(PASSAGES, max_length=length, **options)
    assert (found.length, found.numerator) == (length, 3)
    assert caplog.messages == []


def test_answers_are_references_of_extracts() -> None:
    topic = {"id": "a", "documents": [["in Sydney", "opened 1932", "by boat"]], "references": [["1932"], ["In Sydney"]]}
    found = optsum.context(topic, formulation="extractive", max_length=4)
    assert (found.selection, found.objective, found.missed) == ((0, 1), 1.0, None)


def test_a_context_has_a_budget() -> None:
    with pytest.raises(optsum.OptionError, match="A context needs a budget: give max_length=N"):
        optsum.context(GIVEN)
    with pytest.raises(optsum.InputError, match="optsum align"):
        optsum.context({"id": "a", "documents": [["x"]], "references": [["x"]]}, max_length=1)


def test_the_table_and_the_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, rows = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, [GIVEN, {**GIVEN, "id": "r", "supports": [[4], [], [0]]}])), "utf-8")
    assert main(["context", str(file), "--max-length", "90", "-o", str(rows)]) == 0
    printed = capsys.readouterr()
    assert "most claims within 90 of the given lengths" in printed.out
    line = next(line for line in printed.out.splitlines() if line.startswith("q "))
    assert line.split()[1:8] == ["90", "85", "5", "4", "4", "3", "25.0%"]
    assert printed.err == ""
    held = [json.loads(row) for row in rows.read_text("utf-8").splitlines()]
    assert [(row["numerator"], row["missed"], row["greedy"]["numerator"]) for row in held] == [
        (4, [4], 3),
        (2, [1, 2, 3], 2),
    ]
    assert main(["context", str(file), "--max-length", "90", "-o", str(rows), "--resume"]) == 0
    assert "2 kept from an earlier run" in capsys.readouterr().out
    assert main(["context", str(file), "--max-length", "90", "-o", str(rows), "--overwrite", "--details"]) == 0
    assert json.loads(rows.read_text("utf-8").splitlines()[0])["details"]["weights"] == [1] * 5
    capsys.readouterr()
    assert main(["context", str(file)]) == 2
    assert "A context needs a budget: give --max-length N" in capsys.readouterr().err
