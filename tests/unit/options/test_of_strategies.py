"""Test options that belong to a strategy, in Python, in files and as flags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optsum import compare, solve
from optsum.cli import main
from optsum.errors import OptionError, UnknownNameError
from optsum.options.options import resolve, shared_out
from optsum.report.comparison import plan_of

TOPIC = {"id": "t", "documents": [["a b c", "c d", "e"]], "references": [["b c d"]]}


def test_an_option_reaches_the_strategy_and_the_hash() -> None:
    plain = resolve({"max_length": 9, "strategy": "vns"})
    given = resolve({"max_length": 9, "strategy": "vns", "strategy_options": ["k-max=3", "no_improvement=7"]})
    searcher: Any = given.searcher()
    assert (searcher.k_max, searcher.no_improvement) == (3, 7)
    assert given.config_hash != plain.config_hash
    same = resolve({"max_length": 9, "strategy": "vns", "strategy_options": {"no_improvement": 7, "k-max": 3}})
    assert same.searcher() == searcher


def test_a_file_has_a_table(tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    path.write_text('strategy = "genetic"\nmax-length = 5\n[strategy-options]\npopulation = 12\n')
    searcher: Any = resolve(config=path).searcher()
    assert searcher.population == 12


@pytest.mark.parametrize(
    ("strategy", "given", "message"),
    [
        ("vns", ["kmax=3"], "no option 'kmax' of the strategy vns; did you mean k_max"),
        ("greedy", ["k_max=3"], "no option 'k_max' of the strategy greedy"),
        ("vns", ["genetic.population=3"], "is for the strategy genetic, but this run uses only vns"),
        ("vns", ["k_max=0"], "k_max is 0; give a whole number of at least 1"),
        ("vns", ["k_max=true"], "k_max is True"),
        ("genetic", ["effort=few"], "effort is 'few'"),
        ("vns", ["k_max=3", "k-max=4"], "given twice"),
        ("milp", ["backend=cbc"], "has a flag of its own: give backend"),
    ],
)
def test_impossible_options_are_refused_before_any_work(strategy: str, given: list[str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        solve(TOPIC, max_length=3, strategy=strategy, strategy_options=given)


def test_in_a_comparison_each_strategy_takes_its_own() -> None:
    plan = plan_of("greedy,vns,vns+greedy,genetic", "exhaustive", max_length=3,
                   strategy_options=["no_improvement=9", "vns.no_improvement=2", "population=5"])  # fmt: skip
    own = {variant.strategy: dict(variant.strategy_options) for variant in plan.variants}
    assert own == {
        "exhaustive": {},
        "greedy": {},
        "vns": {"no_improvement": 2},
        "vns+greedy": {"no_improvement": 9},
        "genetic": {"no_improvement": 9, "population": 5},
    }
    with pytest.raises(UnknownNameError, match="no option 'k_max' of the strategy auto or greedy"):
        compare([TOPIC], strategies="greedy", max_length=3, strategy_options={"k_max": 3})


def test_options_of_one_strategy_win_over_those_of_all() -> None:
    assert shared_out((("vns.k_max", 1), ("k_max", 2)), ["vns", "vns+greedy"]) == {
        "vns": (("k_max", 1),),
        "vns+greedy": (("k_max", 2),),
    }


def test_the_flag_reaches_the_strategy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    command = ["solve", str(topics), "--strategy", "vns", "--max-length", "3", "-o", str(tmp_path / "out.jsonl")]
    assert main([*command, "--strategy-option", "k-max=2", "--strategy-option", "no-improvement=3"]) == 0
    row = json.loads((tmp_path / "out.jsonl").read_text())
    assert (row["numerator"], row["status"]) == (2, "feasible")
    assert main([*command, "--overwrite", "--strategy-option", "k-mox=2"]) == 2
    assert "did you mean k_max" in capsys.readouterr().err
