"""Check that each mistake gets one sentence, in the terms of its source: flags, names of a file, or Python keywords."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.cli.app import _app
from optsum.errors import counted, either
from optsum.options.options import Options

TOPIC = {"id": "t", "documents": [["the cat sat on the mat", "dogs bark"]], "references": [["the cat sat"]]}
OWN = {"body": "The cat sat. Dogs bark.", "gist": "The cat sat."}
NOT_OURS = ("input should", "Input should", "valid integer", "valid number", "pydantic", "Traceback", "NoneType")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.jsonl").write_text("".join(json.dumps({**TOPIC, "id": f"t{n}"}) + "\n" for n in range(3)))
    Path("own.jsonl").write_text((json.dumps(OWN) + "\n") * 3)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(list(arguments))
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("Compiling kernels")]
    assert not status or len(lines) == 1, lines
    assert not [word for word in NOT_OURS if word in "".join(lines)]
    return status, "".join(f"{line}\n" for line in lines)


def flags_with_numbers() -> Iterator[tuple[str, str]]:
    """Yield each command with each flag that takes a number; flags that all searches share only once."""
    group = _app()
    for name in group.list_commands(None):
        command = group.load(name)
        for param in getattr(command, "params", ()):
            shared = str(param.name) in Options.model_fields and name != "solve"
            if param.param_type_name == "option" and param.metavar in {"N", "X", "K", "N|reference"} and not shared:
                yield name, param.opts[0]


@pytest.mark.parametrize(("command", "flag"), list(flags_with_numbers()), ids=lambda each: each)
def test_a_wrong_number_is_refused_by_its_flag(command: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"score": ["topics.jsonl"], "import-solution": ["topics.jsonl"], "run": ["d"], "study": []}.get(command, [])
    length = [] if flag == "--max-length" else ["--max-length", "3"] if command in {"solve", "compare"} else []
    status, err = said(capsys, command, "topics.jsonl", *files, *length, flag, "many")
    assert status == 2
    assert flag in err
    assert "a number" in err or "a whole number" in err


WRONG: dict[str, list[Any]] = {
    name: [{"a": [1]}, [["x"], 2.5], *([-3] if name.endswith(("length", "limit")) else [])]
    for name in Options.model_fields
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_option_is_named_as_in_python_or_in_the_file(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for value in WRONG[name]:
        with pytest.raises(optsum.OptionError) as caught:
            optsum.solve(TOPIC, **{"max_length": 3, name: value})
        told = str(caught.value)
        assert name in told or "preset" in name
        assert "--" not in told
        assert not [word for word in NOT_OURS if word in told]
        written = "{ a = [1] }" if isinstance(value, dict) else json.dumps(value)
        Path("o.toml").write_text(f"{name} = {written}\n" + ("" if name == "max_length" else "max-length = 3\n"))
        status, err = said(capsys, "solve", "topics.jsonl", "--config", "o.toml")
        assert status == 2
        assert err.startswith("optsum: o.toml: ")
        assert name.replace("_", "-") in err
        assert f"--{name}" not in err


TABLE = [
    (["solve", "topics.jsonl", "--max_length", "3"], "no option '--max_length'; did you mean --max-length?"),
    (["solve", "topics.jsonl", "--max-len", "3"], "did you mean --max-length?"),
    (["compare", "topics.jsonl", "--strategy", "greedy"], "did you mean --strategies?"),
    (["compare", "topics.jsonl", "--max-length", "3", "--strategies", "greedy", "vns"], "of a flag with commas"),
    (["score", "topics.jsonl", "one.jsonl", "two.jsonl"], "put the lines of several files into one"),
    (["solve", "topics.jsonl", "--max-length", "3", "--language", "english"], "not a language code; give one such"),
    (
        ["solve", "topics.jsonl", "--max-length", "-3"],
        "The option --max-length cannot be -3: give a whole number of at",
    ),
    (["solve", "topics.jsonl", "--max-length", "3", "--measure", "recal"], "; did you mean recall?"),
    (["solve", "topics.jsonl", "--max-length", "3", "--limit", "-1"], "--limit cannot be '-1': give a whole number of"),
    (
        ["solve", "own.jsonl", "--max-length", "3", "--map", "body=documents,gist=references"],
        "write --map documents=body,references=gist",
    ),
    (
        ["solve", "own.jsonl", "--max-length", "3", "--map", "body=documents,references=gist"],
        "write --map documents=body,references=gist",
    ),
    (["labels", "own.jsonl", "--max-length", "3"], "all 3 rows are errors for the same reason: the topic has neither"),
    (
        ["compare", "topics.jsonl", "--max-length", "3", "--metric", "similarity"],
        "rows are errors for the same reason: the topic has no vectors",
    ),
    (
        ["solve", "topics.jsonl", "--max-length", "3", "--formulation", "compressive"],
        "all 3 rows are errors for the same reason: there are no parses",
    ),
    (["compare", "topics.jsonl", "--max-length", "3", "--plot", "p.gif"], "name it .svg, .png or .pdf"),
    (["solve", "topics.jsonl", "--max-length", "3", "--formulation", "x"], "known: extractive, compressive, cover\n"),
]


@pytest.mark.parametrize(("arguments", "sentence"), TABLE, ids=lambda each: each if isinstance(each, str) else None)
def test_a_mistake_is_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, err = said(capsys, *arguments)
    assert status
    assert sentence in err


@pytest.mark.parametrize(
    ("columns", "right"),
    [
        ({"body": "documents", "gist": "references"}, 'columns="documents=body,references=gist"'),
        ("gist=references,documents=body", 'columns="references=gist,documents=body"'),
    ],
)
def test_swapped_columns_in_python_are_refused(columns: Any, right: str) -> None:
    with pytest.raises(optsum.OptionError) as caught:
        optsum.solve(OWN, columns=columns, max_length=3)
    assert f"write {right}." in str(caught.value)
    key, _, value = right.partition("=")
    assert optsum.solve({"id": "t", **OWN}, max_length=9, **{key: value.strip('"')}).status is optsum.Status.OPTIMAL


def test_a_path_in_place_of_a_topic_is_refused() -> None:
    with pytest.raises(optsum.InputError, match=r"'topics.jsonl' is a path, .*use solve_all\(path\)"):
        optsum.solve("topics.jsonl", max_length=3)


def test_a_limit_of_score_leaves_the_summaries_of_other_topics(capsys: pytest.CaptureFixture[str]) -> None:
    systems = [{"topic_id": f"t{n}", "system": "s", "summary": ["the cat"]} for n in range(3)]
    Path("systems.jsonl").write_text("".join(json.dumps(each) + "\n" for each in systems))
    assert said(capsys, "score", "topics.jsonl", "systems.jsonl", "--limit", "1") == (0, "")


def test_a_dataset_of_the_hub_without_network_is_one_sentence() -> None:
    pytest.importorskip("datasets")
    done = subprocess.run(
        [sys.executable, "-m", "optsum", "solve", "hf:nobody/nothing:default:test", "--max-length", "3"],
        capture_output=True, text=True, check=False, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "hub of Hugging Face" in done.stderr


def on_a_terminal(*arguments: str) -> str:
    """Return the output of a command on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "optsum", *arguments], stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the end of a terminal on Linux
                break
            if not part:
                break
            shown += part
        process.wait()
    os.close(ours)
    return shown.decode()


def test_an_error_of_all_topics_is_shown_once_and_advice_only_where_it_helps() -> None:
    Path("many.jsonl").write_text("".join(json.dumps({**TOPIC, "id": f"t{n}"}) + "\n" for n in range(60)))
    assert on_a_terminal("solve", "own.jsonl", "--max-length", "3").count("--map documents=body") == 1
    Path("both.jsonl").write_text(Path("topics.jsonl").read_text() + '{"id": "x"}\n{"id": "y"}\n')
    shown = on_a_terminal("solve", "both.jsonl", "--max-length", "3")
    assert "... and 1 error as above" in shown
    assert "-o FILE writes all" in on_a_terminal("solve", "many.jsonl", "--max-length", "3")
    assert "writes all" not in on_a_terminal("solve", "many.jsonl", "--max-length", "3", "-o", "rows.jsonl")


def test_nouns_have_the_number_of_what_they_count() -> None:
    assert [counted(number, "summary") for number in (0, 1, 2)] == ["0 summaries", "1 summary", "2 summaries"]
    assert counted(3, "file") == "3 files"


def test_alternatives_end_with_or() -> None:
    assert [either("abc"[:number]) for number in (1, 2, 3)] == ["a", "a or b", "a, b or c"]
