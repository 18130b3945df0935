"""``optsum chunks``."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from optsum.cli import main

DATA = Path(__file__).parents[2] / "examples" / "data"
PARSED = DATA / "parsed.conllu"
LAST = "[Its future]1! [depends]2 [on a]3! [small]4 [museum ,]3 [which wants]5 [to open]6! [it]7! [to visitors .]8"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = main(["chunks", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_line_for_each_sentence(run: Any) -> None:
    status, out, err = run(PARSED)
    assert (status, err) == (0, "")
    assert len(out.splitlines()) == 8
    assert out.splitlines()[-1] == LAST


def test_profiles(run: Any) -> None:
    assert run(PARSED, "--profile", "paper")[1] == run(PARSED, "--profile", "strict")[1].replace("!", "")
    assert run(PARSED, "--chunk-profile", "paper")[1] == run(PARSED, "--profile", "paper")[1]
    status, out, err = run(PARSED, "--profile", "papers")
    assert (status, out) == (2, "")
    assert "did you mean paper" in err


def test_trees_and_reasons(run: Any) -> None:
    _, out, _ = run(PARSED, "--tree")
    blocks = out.split("\n\n")
    assert blocks[7].splitlines() == [
        LAST,
        "2 depends",
        "  1! Its future",
        "  3! on a ... museum ,",
        "    4 small",
        "    5 which wants",
        "      6! to open",
        "        7! it",
        "        8 to visitors .",
    ]
    _, out, _ = run(PARSED, "--why")
    assert "depends on" not in out
    assert any(line.split()[:4] == ["museum", "obl", "depends", "REQ"] for line in out.splitlines())


def test_rules_of_ones_own(run: Any, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nrelation = ["*"]\naction = "MERGE"')
    assert run(PARSED, "--chunk-rules", rules)[1].count("[") == 8
    assert run(PARSED, "--chunk-rules", "ud")[1] == run(PARSED)[1]
    assert run(PARSED, "--chunk-rules", "clearnlp")[1] != run(PARSED)[1]
    rules.write_text("x")
    status, out, err = run(PARSED, "--chunk-rules", rules)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "is no TOML" in err


def test_topics(run: Any) -> None:
    status, out, err = run(DATA / "parsed.jsonl")
    assert (status, err) == (0, "")
    assert out == "# last-ferry\n" + run(PARSED)[1]


def test_a_broken_sentence_does_not_cost_the_others(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "f.conllu"
    file.write_text("1\ta\t_\t_\t_\t_\t0\troot\n\n# sent_id = x\n1\tb\t_\t_\t_\t_\t2\tdep\n\n1\tc\t_\t_\t_\t_\t0\troot")
    status, out, err = run(file)
    assert status == 1
    assert out.splitlines()[::2] == ["[a]1", "[c]1"]
    assert out.splitlines()[1].startswith(f"# error: {file}: sentence x: the head of word 1 ('b') does not exist")
    assert err.count("\n") == 1
    assert err.startswith(f"optsum: 1 part of {file} could not be used; {file}: sentence x: ")


def test_a_broken_topic_does_not_cost_the_others(run: Any, tmp_path: Path) -> None:
    good = {"documents": [["Go"]], "references": [["Go"]], "parses": ["1\tGo\t_\tVERB\t_\t_\t0\troot"]}
    file = tmp_path / "topics.jsonl"
    lines = [{**good, "id": "a"}, {**good, "id": "b", "parses": None}, {"id": "c"}, {**good, "id": "d"}]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    status, out, err = run(file)
    assert status == 1
    assert [line for line in out.splitlines() if not line.startswith("# error")] == [
        "# a",
        "[Go]1",
        "# b",
        "# d",
        "[Go]1",
    ]
    assert err.startswith(f"optsum: 2 parts of {file} could not be used; the first: topic 'b': there are no parses")


def test_the_standard_input(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PARSED.read_bytes())))
    assert run("-")[1] == run(PARSED)[1]


@pytest.mark.parametrize(("name", "text"), [("none.conllu", None), ("empty.conllu", ""), ("bad.gz", b"\x1f\x8b")])
def test_files_that_cannot_be_used(run: Any, tmp_path: Path, name: str, text: str | bytes | None) -> None:
    if text is not None:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    status, out, err = run(tmp_path / name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert name in err
