"""Check that no command prints control or invisible characters, whatever files and flags contain."""

from __future__ import annotations

import ast
import json
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.cli import main
from optsum.errors import visible

EVIL = "\x1b[31m\x1b]0;x\x07\x9b1m\u202e\u200b\u2066\u2028\r\x7f\U000e0041end"
UNSEEN = "a\u202e\u200b\u2066\ufeff\u00ad\U000e0041b"  # invisible characters that an id may contain
GOOD = {"documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}
WORDS = f"1\t{UNSEEN}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\t{UNSEEN}c\t_\tNOUN\t_\t_\t1\tobj\t_\t_\n\n"


def lines(path: str, *items: Any) -> None:
    Path(path).write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")  # without bold letters, which are escape sequences of our own
    text = {"documents": [[f"a {EVIL}", f"b {UNSEEN}", "a b"]], "references": [[f"a b {EVIL}"]]}
    lines(
        "topics.jsonl",
        {"id": UNSEEN, **text, "meta": {EVIL: EVIL}},
        {"id": EVIL, **text},
        {EVIL: EVIL},
        {EVIL: EVIL, "id": "x"},
        {"id": "y", "documents": {EVIL: 1}, "references": EVIL},
        {"id": "z", **GOOD, "meta": {"conllu": EVIL}},
        {"id": UNSEEN, **GOOD},
        {"id": "w", "status": "error", "error": EVIL},
        {"id": "c", "cover": [[[EVIL]], [[UNSEEN, 1]], []], **GOOD, "meta": {"sentence_ids": [EVIL, UNSEEN, 3]}},
        {"id": "p", "documents": [[f"{UNSEEN} {UNSEEN}c"]], "references": [["a"]], "parses": [WORDS]},
        {"id": "q", **GOOD, "parses": [EVIL, f"1\t{EVIL}", WORDS]},
    )
    lines("covers.jsonl", {"id": UNSEEN, "cover": [[[EVIL]], [[UNSEEN, EVIL]]]}, {"id": "c", "cover": [[[EVIL], []]]})
    lines(
        "systems.jsonl",
        *(
            {"topic_id": UNSEEN, "system": name, "summary": [EVIL], "selection": [EVIL], "human": {EVIL: 1, UNSEEN: 2}}
            for name in (UNSEEN, "other")
        ),
        {"topic_id": UNSEEN, "system": EVIL, "summary": [EVIL]},
        {"topic_id": UNSEEN, "system": "s", "human": {EVIL: EVIL}, "summary": [""]},
        {"topic_id": f"{UNSEEN}?", "system": UNSEEN, "summary": ["x"]},
    )  # fmt: skip
    Path("parsed.conllu").write_text(f"# sent_id = {EVIL}\n# text = {UNSEEN} {UNSEEN}c\n{WORDS}{EVIL}\n\n", "utf-8")
    Path("options.toml").write_text(f'max-length = 4\nmetric = "{json.dumps(EVIL)[1:-1].split("x", 1)[0]}"\n')
    Path("keys.toml").write_text('"\\u202e" = 1\n')
    Path("rules.toml").write_text('[[rule]]\n"\\u001b" = "\\u202e"\n')
    Path("bad.jsonl").write_text(f"{EVIL}\n{{}}\n", "utf-8")
    Path("table.txt").write_text(f"1 {{{UNSEEN}}}\n1 {{{UNSEEN}}}\n", "utf-8")
    Path("columns.csv").write_text(f'id,documents,references\n{UNSEEN},"[\'{UNSEEN}",x\n', "utf-8")
    Path("twice.csv").write_text(f"id,{UNSEEN},{UNSEEN},documents\n", "utf-8")
    Path(f"{UNSEEN}.jsonl").write_text("x y z\n")
    Path("solutions").mkdir()
    (Path("solutions") / "z.sol").write_text(f"s0 {EVIL}\n", "utf-8")
    row = {"id": EVIL, "strategy": UNSEEN, "status": "error", "termination": "failed", "error": EVIL}
    lines("rows.jsonl", {**row, "config_hash": EVIL})
    return tmp_path


LENGTH = ["--max-length", "4"]
COMMANDS: list[list[str]] = [
    ["solve", "topics.jsonl", *LENGTH, "--strategy", "greedy"],
    ["solve", "topics.jsonl", *LENGTH, "--strategy", "lead", "-o", "-"],
    ["solve", "topics.jsonl", "--formulation", "compressive", *LENGTH, "--strategy", "greedy"],
    ["solve", "topics.jsonl", *LENGTH, "--strategy", "lead", "-o", f"{UNSEEN}.csv"],
    ["solve", "topics.jsonl", *LENGTH, "--strategy", "lead", "-o", "rows.jsonl", "--resume"],
    ["solve", "topics.jsonl", *LENGTH, "--strategy", "lead", "-o", f"{UNSEEN}.{UNSEEN}"],
    ["solve", "covers.jsonl", "--formulation", "cover", "--strategy", "greedy"],
    ["solve", "topics.jsonl", "--formulation", "cover", "--strategy", "greedy"],
    ["enumerate", "topics.jsonl", *LENGTH, "--strategy", "exhaustive"],
    ["compare", "topics.jsonl", *LENGTH, "--strategies", "lead,random", "--exact", "none", "--details"],
    ["compare", "topics.jsonl", *LENGTH, "--strategies", EVIL],
    ["score", "topics.jsonl", "systems.jsonl"],
    ["score", "topics.jsonl", "systems.jsonl", "-o", "-"],
    ["compare", "topics.jsonl", *LENGTH, "--strategies", "lead", "--exact", "none", "-o", "-"],
    ["align", "topics.jsonl"],
    ["align", "topics.jsonl", "-o", "-"],
    ["labels", "topics.jsonl", *LENGTH, "--strategy", "lead"],
    ["study", "tsc3", "covers.jsonl", "--systems", "systems.jsonl"],
    ["study", "tsc3", "topics.jsonl", "--systems", "systems.jsonl"],
    ["chunks", "parsed.conllu", "--tree", "--why"],
    ["chunks", "topics.jsonl", "--tree", "--why"],
    ["chunks", "parsed.conllu", "--chunk-rules", "rules.toml"],
    ["chunks", "parsed.conllu", "--profile", EVIL],
    ["config", "show", "--config", "options.toml"],
    ["config", "show", "--config", "keys.toml"],
    ["config", "show", *LENGTH, "--stopwords", f"{UNSEEN}.jsonl"],
    ["config", "show", *LENGTH, "--stopwords", EVIL],
    ["export", "topics.jsonl", *LENGTH, "-o", UNSEEN],
    ["import-solution", "topics.jsonl", "solutions", *LENGTH],
    ["import-solution", "topics.jsonl", EVIL, *LENGTH],
    ["list", EVIL],
    [EVIL],
    ["solve", "topics.jsonl", f"--{UNSEEN}"],
    ["solve", "topics.jsonl", "--max-length", EVIL],
    ["solve", "topics.jsonl", *LENGTH, "--strategy-option", f"{UNSEEN}={EVIL}"],
    *(["solve", name, *LENGTH] for name in
      ("bad.jsonl", "table.txt", "columns.csv", "twice.csv", f"{UNSEEN}.jsonl", f"{UNSEEN}?", "parsed.conllu")),
]  # fmt: skip


def unseen(text: str) -> set[str]:
    return {sign for sign in text if sign != "\n" and unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp", "Cs"}}


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: visible(" ".join(command))[:60])
@pytest.mark.usefixtures("here")
def test_no_command_prints_control_or_invisible_characters(
    command: list[str], terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if terminal:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    main(command)
    out, err = capsys.readouterr()
    assert out + err
    assert unseen(out) == unseen(err) == set()
    for line in out.splitlines() if "-" in command else []:
        json.loads(line)


@pytest.mark.usefixtures("here")
def test_rows_on_the_standard_output_keep_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    main(["align", "topics.jsonl", "-o", "-", "--stopwords", "keep"])
    assert any(json.loads(line)["id"] == UNSEEN for line in capsys.readouterr().out.splitlines())


@given(st.text())
def test_visible_replaces_control_and_invisible_characters(text: str) -> None:
    shown = visible(text)
    assert not unseen(shown)
    assert (shown == text) == (not unseen(text) and "\n" not in text)
    assert json.loads(visible(json.dumps({"a": text}, ensure_ascii=False), pairs=True)) == {"a": text}


def test_only_these_functions_print() -> None:
    """Check this, because a new print could bypass `visible`."""
    folder = Path(str(sys.modules["optsum"].__file__)).parent
    found = {
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    # Log messages go through `visible`, and the compiling process prints numbers for its parent.
    assert found == {
        "cli/signals.py",
        "report/messages.py",
        "system/parallel_compile.py",
    }
