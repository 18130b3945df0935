"""What is typed: help in groups, whole summaries, completion, other libraries' flags, the first N topics."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from optsum.cli import app as grouped
from optsum.cli import main
from optsum.cli.app import _COMMANDS

NEWS = str(Path(__file__).resolve().parents[2] / "examples" / "data" / "news.jsonl")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    caught = capsys.readouterr()
    return status, caught.out, caught.err


def test_options_are_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "solve", "--help")[1]
    titles = re.findall(r"^(\w+):$", text, re.MULTILINE)
    assert titles == ["Arguments", "Problem", "Text", "Search", "Output", "More"]
    assert "-j, --workers N" in text
    assert "--flat sentences|texts" in text


@pytest.mark.parametrize("name", ["solve", "enumerate", "labels", "compare", "score", "export"])
def test_no_flag_is_left_in_a_group_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, name, "--help")[1]
    more = text.partition("\nMore:\n")[2]
    assert set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", more, re.MULTILINE)) <= {"--config", "--debug", "--help"}


def test_every_group_names_what_there_is() -> None:
    names = [name for group in grouped._GROUPS.values() for name in group]
    assert len(names) == len(set(names))


def test_what_commands_do_is_said_in_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(said(capsys)[1].split())
    assert all(f"{name} {about}" in text for name, (_, about) in _COMMANDS.items())


def test_a_flag_of_another_library_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, reason = said(capsys, "solve", NEWS, "--random-state", "3")
    assert (status, reason) == (
        2, "optsum: there is no option '--random-state'; optsum calls it --seed (see optsum solve --help)\n"
    )  # fmt: skip


def test_the_first_topics_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = said(capsys, "solve", NEWS, "--max-length", "30", "--strategy", "lead", "--limit", "2", "-j", "1")[1]
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["bridge-closure", "harbour-storm"]
    rows = tmp_path / "rows.jsonl"
    arguments = ["solve", NEWS, "--max-length", "30", "--strategy", "lead", "-o", str(rows)]
    assert said(capsys, *arguments, "--limit", "1")[0] == 0
    assert said(capsys, *arguments, "--limit", "3", "--resume")[0] == 0
    assert len(rows.read_text().splitlines()) == 3
    assert "8 topics" not in said(capsys, "align", NEWS, "--limit", "0")[1]
    assert said(capsys, "solve", NEWS, "--max-length", "30", "--limit", "-1")[0] == 2


def test_a_shell_completes_commands_and_flags() -> None:
    for words, place, found in (("optsum comp", 1, "compare"), ("optsum solve --max", 2, "--max-length")):
        shell = {"COMP_WORDS": words, "COMP_CWORD": str(place), "_OPTSUM_COMPLETE": "complete_bash"}
        done = subprocess.run(
            [sys.executable, "-m", "optsum"], env={**os.environ, **shell}, capture_output=True, text=True, check=False
        )
        assert found in done.stdout.split(), done.stderr
