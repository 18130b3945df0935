"""Test flat lists of strings on the command line and in Python: refused unless the option says what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsum
from optsum.cli import main

FLAT = {"id": "t", "documents": ["a b c", "c d", "e"], "references": ["b c d", "e"]}
NESTED = {"id": "t", "documents": [["a b c", "c d", "e"]], "references": [["b c d", "e"]]}
APART = {"id": "t", "documents": [["a b c"], ["c d"], ["e"]], "references": [["b c d"], ["e"]]}


@pytest.fixture
def topics(tmp_path: Path) -> str:
    path = tmp_path / "topics.jsonl"
    path.write_text(json.dumps(FLAT) + "\n")
    return str(path)


@pytest.mark.parametrize(("flat", "same"), [("sentences", NESTED), ("texts", APART)])
def test_flat_counts_on_every_command(flat: str, same: dict[str, object], topics: str, tmp_path: Path) -> None:
    options = {"max_length": 3, "references": "mean", "strategy": "greedy"}
    wanted = optsum.solve(same, **options)
    assert optsum.solve(FLAT, flat=flat, **options).objective_exact == wanted.objective_exact
    for given in ([FLAT], topics):
        (result,) = optsum.solve_all(given, flat=flat, **options)
        assert (result.objective_exact, result.selection) == (wanted.objective_exact, wanted.selection)
    out = tmp_path / "rows.jsonl"
    command = ["solve", topics, "--max-length", "3", "--references", "mean", "--strategy", "greedy", "-o", str(out)]
    assert main([*command, "--flat", flat]) == 0
    assert json.loads(out.read_text())["objective"] == wanted.objective
    covers = list(optsum.align([FLAT], flat=flat))  # type: ignore[arg-type]
    assert [cover.id for cover in covers] == [cover.id for cover in optsum.align([same])]


def test_an_ambiguous_flat_list_is_an_error_row(topics: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(optsum.InputError, match="is a flat list of 3 strings, and documents"):
        optsum.solve(FLAT, max_length=3)
    (result,) = optsum.solve_all(topics, max_length=3)
    assert 'flat="sentences" or flat="texts"' in str(result.error)
    assert main(["solve", topics, "--max-length", "3", "-o", "-"]) == 1
    assert "--flat sentences" in capsys.readouterr().err
    assert main(["solve", topics, "--max-length", "3", "-o", "-", "--flat", "lists"]) == 2
