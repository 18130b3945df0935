"""Solvers on the command line and in comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.errors import OptionError

TOPIC = {"id": "t", "documents": [["a b c", "c d e f", "f g", "a g"]], "references": [["a c d f g"]]}


def test_solvers_stand_side_by_side() -> None:
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
        ({"backends": 3}, "are no list of names: give them as highs,cbc"),
        ({"backends": "highs", "backend_options": {"a": 1}}, "Options of one solver cannot be those of several"),
        ({"backends": "highs", "strategies": "greedy", "exact": "none"}, "Backends are those of the strategy milp"),
        ({"backends": "highs,hihgs"}, "there is no backend 'hihgs'; did you mean highs"),
    ],
)
def test_solvers_that_cannot_be_compared(options: dict[str, Any], match: str) -> None:
    with pytest.raises(OptionError, match=match):
        optsum.compare([TOPIC], max_length=6, **options)


def test_a_missing_solver_is_one_sentence_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    for arguments in (
        ["solve", str(topics), "--backend", "glpk"],
        ["compare", str(topics), "--backends", "highs,glpk"],
    ):
        assert main([*arguments, "--max-length", "6"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err == (
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
