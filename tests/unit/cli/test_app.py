"""Test the commands in one process without a terminal."""

from __future__ import annotations

import gc
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.corpus.sentences import SPLITTERS
from optsum.metrics.rouge import METRICS
from optsum.options.options import Options
from optsum.options.presets import PRESETS
from optsum.registry import BACKENDS, FORMULATIONS, STRATEGIES
from optsum.report.listing import LISTS
from optsum.text.analyzer import STEMMERS, TOKENIZERS

NEWS = str(Path(__file__).parents[3] / "examples" / "data" / "news.jsonl")


def rows_of(text: str | Path) -> list[dict[str, Any]]:
    lines = text.read_text(encoding="utf-8") if isinstance(text, Path) else text
    return [json.loads(line) for line in lines.splitlines()]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_command_called_from_python_gives_its_garbage_collection_back(run: Any) -> None:
    threshold, frozen = gc.get_threshold(), gc.get_freeze_count()
    assert run("solve", NEWS, "--max-length", "9", "--strategy", "lead")[0] == 0
    assert gc.get_threshold() == threshold
    assert 0.9 * frozen <= gc.get_freeze_count() <= frozen  # frozen objects may have ended


def test_solve_writes_rows_where_there_is_no_terminal(run: Any) -> None:
    status, out, err = run("solve", NEWS, "--max-length", "50", "--metric", "rouge-2")
    assert (status, err) == (0, "")
    single = list(optsum.solve_all(optsum.read_topics(NEWS), max_length=50, metric="rouge-2"))
    assert [(row["id"], row["selection"], row["config_hash"]) for row in rows_of(out)] == [
        (result.id, list(result.selection or ()), result.config_hash) for result in single
    ]


def test_a_table_of_an_enumeration_says_how_to_get_the_sets(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for flags, told in ((["--diverse", "2"], True), (["--count-only"], False)):
        status, out, _ = run("enumerate", NEWS, "--max-length", "30", "--limit", "1", *flags)
        assert (status, "-o FILE writes the sets" in out) == (0, told)


def test_solve_writes_rows_to_a_file(run: Any, tmp_path: Path) -> None:
    status, out, err = run("solve", NEWS, "--max-length", "50", "-o", tmp_path / "rows.jsonl")
    assert (status, err) == (0, "")
    assert out.startswith("8 problems: 8 optimal; mean objective 0.4")
    assert out.count("\n") == 1
    assert len(rows_of(tmp_path / "rows.jsonl")) == 8
    assert all(optsum.Result.from_row(row).to_row() == row for row in rows_of(tmp_path / "rows.jsonl"))


@pytest.mark.parametrize("command", [("solve", "--strategy", "vns"), ("enumerate", "--within", "1%")])
def test_the_line_of_a_command_says_which_limit_ended_its_searches(run: Any, tmp_path: Path, command: Any) -> None:
    name, *others = command
    given = ["--max-length", 50, "--time-limit", 0, "-o", tmp_path / "rows.jsonl"]
    assert "; 8 ended by the time limit; " in run(name, NEWS, *others, *given)[1]


def test_the_line_of_a_command_says_that_the_backend_was_not_needed(run: Any, tmp_path: Path) -> None:
    given = ["--strategy", "auto", "--backend", "pyomo:highs", "-o", tmp_path / "rows.jsonl"]
    assert "8 optimal; the backend pyomo:highs was not needed; " in run("solve", NEWS, "--max-length", 50, *given)[1]


def test_a_dash_names_the_standard_output(run: Any) -> None:
    assert len(rows_of(run("solve", NEWS, "--max-length", "50", "-o", "-")[1])) == 8


def test_the_help_has_a_flag_for_every_option(run: Any) -> None:
    status, out, _ = run("solve", "--help-all")
    assert status == 0
    for name, field in Options.model_fields.items():
        repeated = name.endswith("_options")  # --backend-option is given once for each option
        assert f"--{name.replace('_', '-')}".removesuffix("s" * repeated) in out
        assert " ".join((field.description or "").split()[:2]) in out
    _, out, _ = run("compare", "--help-all")
    assert "--strategies" in out
    assert "--strategy " not in out


def test_flags_win_over_the_file_and_the_file_over_the_preset(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    file.write_text('preset = "hirao-r2"\nmax-length = 40\nstrategy = "greedy"')
    _, out, _ = run("solve", NEWS, "--config", file, "--max-length", "30", "--no-stem", "--seed", "4")
    for row in rows_of(out):
        assert (row["metric"], row["strategy"], row["seed"]) == ("rouge-2", "greedy", 4)
        assert row["length"] <= 30
    expected = optsum.solve(next(optsum.read_topics(NEWS)), config=file, max_length=30, stem=False, seed=4)
    assert rows_of(out)[0]["config_hash"] == expected.config_hash


def test_an_option_that_is_given_twice_is_reported(run: Any) -> None:
    command = ["solve", NEWS, "--max-length", "20", "--forbid", "0"]
    said = "optsum: --forbid is given 3 times: only the last value counts\n"
    _, rows, err = run(*command, "--forbid", "1", "--forbid=2")
    assert (err, {2 in row["selection"] for row in rows_of(rows)}) == (said, {False})
    assert run(*command, "--forbid", "1", "--forbid=2", "--quiet")[2] == ""
    alike = ["--strategy", "milp", "--backend-option", "time_limit=9", "--backend-option", "parallel=off"]
    assert run(*command, *alike)[2] == ""


def test_the_solver_is_swapped_by_one_line(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "options.toml"
    objectives = []
    for backend in ("highs", "pyomo:highs"):
        file.write_text(f'max-length = 50\nbackend = "{backend}"')
        rows = rows_of(run("solve", NEWS, "--config", file)[1])
        assert {row["backend"] for row in rows} == {backend}
        objectives.append([row["objective_exact"] for row in rows])
    assert objectives[0] == objectives[1]


def test_each_reference_and_workers(run: Any) -> None:
    status, out, _ = run("solve", NEWS, "--max-length", "30", "--references", "each", "--workers", "2")
    assert status == 0
    assert [row["id"] for row in rows_of(out)[:4]] == [f"bridge-closure#{n}" for n in range(3)] + ["harbour-storm#0"]


def test_compare_prints_a_table_and_writes_all_rows(run: Any, tmp_path: Path) -> None:
    status, out, err = run(
        "compare", NEWS, "--strategies", "greedy,lead", "--max-length", "50", "-o", tmp_path / "rows.jsonl"
    )
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    table = optsum.compare(optsum.read_topics(NEWS), ["greedy", "lead"], max_length=50)
    for row in table.rows:
        named = ["optimum", f"({row.strategy})"] if row.strategy == "auto" else [row.strategy]
        cells = next(line[len(named) - 1 :] for line in lines if line[: len(named)] == named)
        assert cells[1:5] == [
            f"{row.mean_objective:.4f}", f"{row.mean_ratio:.4f}", f"{row.min_ratio:.4f}", f"{row.reached}/8",
        ]  # fmt: skip
        assert cells[-2:] == ["8", "0"]
    written = rows_of(tmp_path / "rows.jsonl")
    assert [(row["id"], row["strategy"]) for row in written] == [
        (result.id, result.strategy) for result in table.results
    ]


def test_score_prints_tables_and_writes_rows(run: Any, tmp_path: Path) -> None:
    systems = tmp_path / "systems.jsonl"
    topics = list(optsum.read_topics(NEWS))
    with systems.open("w") as file:
        for name, units in (("first", [0]), ("second", [1, 2]), ("third", [3, 4, 5])):
            for number, topic in enumerate(topics):
                human = {"taste": len(units) + 0.1 * number}
                file.write(
                    json.dumps({"topic_id": topic.id, "system": name, "selection": units, "human": human}) + "\n"
                )
    status, out, err = run("score", NEWS, systems, "--metric", "rouge-2", "--stem", "-o", tmp_path / "rows.jsonl")
    assert (status, err) == (0, "")
    scores = optsum.rouge([topics[0].sentences[0]], topics[0].references, "rouge-2", stem=True)
    rows = rows_of(tmp_path / "rows.jsonl")
    assert len(rows) == 24
    assert rows[0]["rouge"]["rouge-2"]["recall"] == scores.recall
    assert "3 systems on 8 topics" in out
    assert next(line.split()[:2] for line in out.splitlines() if line.startswith("first")) == ["first", "8"]
    assert sum(line.startswith("taste") for line in out.splitlines()) == 3


@pytest.mark.parametrize("kind", LISTS)
def test_lists_name_all_registered_parts(run: Any, kind: str) -> None:
    status, out, err = run("list", kind)
    assert (status, err) == (0, "")
    names = {
        "strategies": STRATEGIES, "formulations": FORMULATIONS, "backends": BACKENDS, "metrics": METRICS,
        "presets": PRESETS, "tokenizers": TOKENIZERS, "stemmers": STEMMERS, "splitters": SPLITTERS,
    }[kind]  # fmt: skip
    shown = {line.split()[0]: line for line in out.splitlines() if line}
    for name in names:
        assert len(shown[name].split()) > 2
    assert max(map(len, out.splitlines())) <= 100


def test_lists_say_what_is_usable_and_why_not(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    lines = run("list", "backends")[1].splitlines()
    highs = next(line for line in lines if line.startswith("highs"))
    assert highs.split()[1:3] == ["yes", "yes"]
    assert highs.split()[3][0].isdigit()
    assert next(line for line in lines if line.startswith("pyomo:highs")).split()[1:3] == ["yes", "yes"]
    missing = next(row for row in LISTS["backends"]().rows if row[0] == "cbc")
    assert missing[1:3] == ["no", "no"]
    assert missing[-1] == "the program cbc is not on the PATH: sudo apt install coinor-cbc"


def test_lists_say_what_a_strategy_serves(run: Any) -> None:
    lines = [re.split(" {2,}", line) for line in run("list", "strategies")[1].splitlines()]
    assert lines[0] == ["strategy", "proves", "not for", "about"]
    served = {line[0]: line[1:3] for line in lines[2:] if len(line) == 4}
    assert served["exhaustive"] == served["branch-and-bound"] == ["yes", "-"]
    assert served["milp"] == ["yes", "F1 of similarity"]
    assert served["greedy"] == ["no", "-"]
    assert served["vns-paper"] == ["no", "compressive, cover"]


def test_help_and_version(run: Any) -> None:
    assert run("--version")[:2] == (0, f"optsum {optsum.__version__}\n")
    for arguments in ([], ["--help"], ["-h"]):
        status, out, err = run(*arguments)
        assert (status, err) == (0, "")
        assert "Usage: optsum" in out
        for name in ("solve", "compare", "score", "list"):
            assert f"  {name} " in out
    for name in ("solve", "compare", "score", "list"):
        status, out, _ = run(name, "--help")
        assert status == 0
        assert f"Usage: optsum {name}" in out


def test_naming_a_stemmer_switches_stemming_on(run: Any, tmp_path: Path) -> None:
    topic = {"id": "t", "documents": [["Dying mice"]], "references": [["die"]]}
    file, systems, rows = tmp_path / "t.jsonl", tmp_path / "s.jsonl", tmp_path / "rows.jsonl"
    file.write_text(json.dumps(topic))
    systems.write_text(json.dumps({"topic_id": "t", "system": "s", "summary": ["Dying mice"]}))
    status, _, _ = run("score", file, systems, "--stemmer", "rouge-score", "--metric", "rouge-1", "-o", rows)
    assert (status, json.loads(rows.read_text())["rouge"]["rouge-1"]["recall"]) == (0, 1.0)
    status, out, _ = run("solve", file, "--stemmer", "rouge-score", "--max-length", "2", "-o", "-")
    assert (status, json.loads(out)["objective"]) == (0, 1.0)
    assert run("solve", file, "--stemmer", "lancaster", "--max-length", "2")[0] == 2


def test_compare_says_why_all_selections_are_empty(run: Any, tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(
        json.dumps({"id": "t", "documents": [["one two three four"]], "references": [["one two"]]}) + "\n"
    )
    said = "Every selection is empty: no unit of at most 3 words adds to the objective (see --length-unit)."
    for most in (3, 4):
        status, out, _ = run("compare", topics, "--strategies", "greedy", "--max-length", most)
        assert (status, said in out) == (0, most == 3)


@pytest.mark.parametrize("option", ["gap", "target"])
@pytest.mark.parametrize("strategy", ["auto", "exhaustive"])
def test_limits_that_an_enumeration_does_not_use_are_reported(run: Any, option: str, strategy: str) -> None:
    given = ["enumerate", NEWS, "--max-length", "20", "--limit", "1", "--strategy", strategy]
    status, out, err = run(*given, f"--{option}", "0.1")
    assert (status, err.splitlines()[0]) == (0, f"--{option} changes nothing in an enumeration")
    (without,), (with_it,) = rows_of(run(*given)[1]), rows_of(out)
    assert [with_it[name] for name in ("count", "complete", "optima")] == [
        without[name] for name in ("count", "complete", "optima")
    ]
