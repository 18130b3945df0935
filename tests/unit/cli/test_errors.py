"""Check that bad input and bad options give one clear row or line each, no traceback, and good topics are done."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from optsum.cli import main

GOOD = {"id": "good", "documents": [["the cat sat on the mat", "dogs bark"]], "references": [["the cat sat"]]}


def line(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("good.jsonl").write_bytes(line() + b"\n")

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err + captured.out
        return status, captured.out, captured.err

    return run


BAD = [
    (b"not JSON", "not JSON"),
    (b"[1, 2]", "an object"),
    (b'{"id": "b0"}', 'no "documents"'),
    (b'{"id": "b1", "documents": [["x"]]}', 'no "references"'),
    (line(id=["b2"]), "the id of a topic is a list"),
    (line(id="b3", references=[]), "empty list"),
    (line(id="b4", references=[[]]), "no rouge-1 n-gram"),
    (line(id="b5", references=[["", "  "]]), "no rouge-1 n-gram"),
    (line(), "the id 'good' occurs twice"),
    (b'{"id": "b6", "documents": [["a\0b"]], "references": [["a b"]]}', "control character"),
    ('{"id": "b7", "documents": [["caf\xe9"]], "references": [["x"]]}'.encode("latin-1"), "not UTF-8"),
    (b"\xff\xfe\x00", "not UTF-8"),
    (line(id="b\n"), "U+000A"),
    (line(id="b8", documents=[[7]]), "documents[0]"),
]


def wrong_rows(run: Any, command: list[str], *bad: bytes) -> tuple[list[dict[str, Any]], str]:
    """Put bad lines between good ones; return the error rows and the messages."""
    Path("topics.jsonl").write_bytes(b"\n".join([line(), *bad, line(id="last")]) + b"\n")
    status, _, err = run(*command, "topics.jsonl", "--max-length", "9", "-o", "rows.jsonl", "--overwrite")
    rows = [json.loads(row) for row in Path("rows.jsonl").read_text().splitlines()]
    wrong = [row for row in rows if row["status"] == "error"]
    assert status == 1
    assert {row["id"] for row in rows if row["status"] != "error"} == {"good", "last"}
    assert len(wrong) * (2 + len(bad)) == len(rows) * len(bad)
    assert {row["selection"] for row in wrong} == {None}
    assert err.startswith("optsum: ")
    assert err.count("\n") == 1
    assert wrong[0]["error"] in err
    return wrong, err


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=lambda value: repr(value)[:40])
def test_a_bad_line_is_a_row_and_the_others_are_done(run: Any, bad: bytes, reason: str) -> None:
    (row,), _ = wrong_rows(run, ["solve"], bad)
    assert row["error"].startswith("topics.jsonl:2: ")
    assert reason in row["error"]


@pytest.mark.parametrize("command", [["solve", "--workers", "2"], ["compare", "--strategies", "lead"]], ids=" ".join)
def test_bad_lines_are_the_same_rows_of_every_command(run: Any, command: list[str]) -> None:
    lines = [bad for bad, _ in BAD]
    alone, _ = wrong_rows(run, ["solve"], *lines)
    found, _ = wrong_rows(run, command, *lines)
    assert [row["error"].split(":")[1] for row in alone] == [str(number) for number in range(2, 2 + len(BAD))]
    assert list(dict.fromkeys(row["error"] for row in found)) == [row["error"] for row in alone]


@pytest.mark.parametrize(
    ("topic", "selection"),
    [
        ({"documents": [["", "the cat", " \t"]]}, [1]),
        ({"documents": [["one sentence of more words than any budget of this test allows for it"]]}, []),
        ({"documents": [[], ["the cat"], []]}, [0]),
        ({"documents": [["a\0the cat"]]}, [0]),
        ({"documents": [["\ud800 the cat"]]}, [0]),
        ({"documents": [["nothing in common"]]}, []),
        ({"documents": [["x"]], "references": [["y"], []]}, []),
    ],
    ids=str,
)
def test_odd_topics_have_an_optimum_like_others(run: Any, topic: dict[str, Any], selection: list[int]) -> None:
    Path("topics.jsonl").write_bytes(line(**topic))
    status, out, err = run("solve", "topics.jsonl", "--max-length", "9")
    row = json.loads(out)
    assert (status, err) == (0, "")
    assert (row["status"], row["selection"], row["gap"]) == ("optimal", selection, 0.0)
    assert row["objective"] == (0.0 if not selection else row["numerator"] / row["denominator"])


def test_a_sentence_of_ten_megabytes(run: Any) -> None:
    Path("topics.jsonl").write_bytes(line(documents=[["word cat " * 1_200_000, "the cat"]]))
    status, out, _ = run("solve", "topics.jsonl", "--max-length", "9")
    row = json.loads(out)
    assert (status, row["status"], row["selection"], row["numerator"]) == (0, "optimal", [1], 2)


FILES = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n  \n",
    "utf16.jsonl": line().decode().encode("utf-16"),
    "half.jsonl": json.dumps(GOOD, indent=1).encode()[:-3],
}


@pytest.mark.parametrize("name", [*FILES, "nosuch.jsonl", "folder", "good.jsonl/x"])
@pytest.mark.parametrize("command", ["solve", "compare"])
def test_a_file_that_cannot_be_used_is_one_line(run: Any, command: str, name: str) -> None:
    if name in FILES:
        Path(name).write_bytes(FILES[name])
    Path("folder").mkdir()
    status, out, err = run(command, name, "--max-length", "9", "-o", "rows.jsonl")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert name in err
    assert not Path("rows.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "Missing argument 'TOPICS': a file of topics in any supported format"),
        (["good.jsonl"], "Recall only grows with the length"),
        (["good.jsonl", "--max-length", "many"], "--max-length"),
        (["good.jsonl", "--max-length", "-1"], "--max-length cannot be -1"),
        (["good.jsonl", "--max-lenght", "3"], "--max-length"),
        (["good.jsonl", "more.jsonl", "--max-length", "3"], "more.jsonl"),
        (["good.jsonl", "--max-length", "3", "--time-limit", "nan"], "--time-limit cannot be nan"),
        (["good.jsonl", "--max-length", "3", "--measure", "f2"], "measure cannot be 'f2'"),
        (["good.jsonl", "--max-length", "3", "--metric", "rouge"], "there is no metric 'rouge'"),
        (["good.jsonl", "--max-length", "3", "--preset", "hirao"], "there is no preset 'hirao'"),
        (["good.jsonl", "--max-length", "3", "--backend", "pyomo:nosuch"], "knows no solver 'nosuch'"),
        (["good.jsonl", "--max-length", "3", "--backend", "nosuch"], "there is no backend 'nosuch'"),
        (["good.jsonl", "--max-length", "3", "--formulation", "nosuch"], "there is no formulation 'nosuch'"),
        (["good.jsonl", "--max-length", "3", "--stopwords", "nosuch"], "nosuch cannot be read"),
        (["good.jsonl", "--max-length", "3", "--config", "nosuch.toml"], "nosuch.toml cannot be read"),
        (["good.jsonl", "--max-length", "3", "--config", "good.jsonl"], "is not TOML"),
        (
            ["good.jsonl", "--max-length", "3", "--config", "wrong.toml"],
            "no option 'max-lenght'; did you mean max-length",
        ),
        (["good.jsonl", "--max-length", "3", "-o", "."], "the output . cannot be written"),
        (["good.jsonl", "--max-length", "3", "-o", "no/folder/rows"], "the output no/folder/rows cannot be written"),
        (["good.jsonl", "--max-length", "3", "-o", "good.jsonl"], "also an input"),
        (["good.jsonl", "--max-length", "3", "-o", "link.jsonl"], "also an input"),
        (["good.jsonl", "--config", "right.toml", "-o", "right.toml"], "also an input"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("command", ["solve", "compare"])
def test_unusable_options_are_one_line_before_any_work(
    run: Any, monkeypatch: pytest.MonkeyPatch, command: str, arguments: list[str], reason: str
) -> None:
    Path("wrong.toml").write_text("max-lenght = 3")
    Path("right.toml").write_text("max-length = 3")
    Path("link.jsonl").symlink_to("good.jsonl")
    monkeypatch.setattr("optsum.running.each_topic.search_topic", None)  # fails the test if any work begins
    status, out, err = run(command, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("optsum: ")
    assert reason in err
    assert Path("good.jsonl").read_bytes() == line() + b"\n"
    assert Path("right.toml").read_text() == "max-length = 3"


def test_unknown_strategies_of_compare_are_refused(run: Any) -> None:
    for arguments, reason in (
        (["--strategies", "gredy"], "did you mean greedy"),
        (["--strategies", ","], "no strategy"),
        (["--exact", "lead"], "is not exact"),
    ):
        status, out, err = run("compare", "good.jsonl", "--max-length", "3", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert reason in err


@pytest.mark.parametrize(
    "arguments", [["bogus"], ["solv", "x"], ["--bogus"], ["list"], ["list", "bogus"]], ids=" ".join
)
def test_unknown_commands_are_one_line(run: Any, arguments: list[str]) -> None:
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_score_reports_bad_input_in_rows_and_lines(run: Any) -> None:
    rows = [{"topic_id": "good", "system": "a", "summary": ["the cat"]}, {"topic_id": "good"}]
    Path("systems.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, out, err = run("score", "good.jsonl", "systems.jsonl", "-o", "rows.jsonl")
    assert status == 1
    assert "systems.jsonl:2" in err
    assert err.count("\n") == 1
    assert "1 system on 1 topic" in out
    assert [json.loads(row)["error"] is None for row in Path("rows.jsonl").read_text().splitlines()] == [True, False]
    for arguments, reason in (
        (["good.jsonl", "nosuch"], "nosuch cannot be opened"),
        (["good.jsonl", "systems.jsonl", "-o", "systems.jsonl"], "also an input"),
        (["good.jsonl", "systems.jsonl", "--metric", "rouge-x"], "no metric 'rouge-x'"),
        (["good.jsonl", "systems.jsonl", "--max-words", "0"], "--max-words cannot be 0"),
    ):
        status, out, err = run("score", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert reason in err


def test_an_unexpected_exception_in_a_topic_is_its_row(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.running.one_problem.searched", None)
    status, out, err = run("solve", "good.jsonl", "--max-length", "3")
    assert status == 1
    assert json.loads(out)["error"].startswith("good.jsonl:1: unexpected TypeError ('NoneType'")
    assert err.count("\n") == 1


def test_an_unexpected_exception_elsewhere_is_one_line(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.report.comparison.plan_of", None)
    status, out, err = run("compare", "good.jsonl", "--max-length", "3")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "unexpected TypeError" in err


@pytest.mark.parametrize("place", ["before", "after"])
def test_debug_shows_the_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr("optsum.errors._log", logging.Logger("apart"))  # noqa: LOG001
    arguments = ["solve", "nosuch.jsonl", "--max-length", "3"]
    assert main(["--debug", *arguments] if place == "before" else [*arguments, "--debug"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("optsum: the topic file nosuch.jsonl cannot be opened")


@pytest.mark.parametrize(
    "arguments", [("solve", "-", "--start", "-"), ("score", "-", "/dev/stdin"), ("align", "-", "--alignments", "-")]
)
def test_the_standard_input_is_read_by_one(run: Any, arguments: tuple[str, ...]) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "The standard input can be read only once" in err
