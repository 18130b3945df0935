"""Test --quiet, --verbose and --log-file on every command."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import answers_of

from optsum.cli import main
from optsum.cli.app import _COMMANDS
from optsum.report import messages

LENGTH = ["--max-length", "4", "--strategy", "lead", "-o", "out.jsonl", "--overwrite"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text(json.dumps({"article": ["a b"], "highlights": "x\x1b[2Jy"}) + "\n")


def test_quiet_says_errors_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "t.jsonl", *LENGTH]) == 0
    assert "documents are article" in capsys.readouterr().err
    assert main(["solve", "t.jsonl", *LENGTH, "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["solve", "none.jsonl", *LENGTH, "--quiet"]) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert main(["solve", "t.jsonl", *LENGTH, "-q", "-v"]) == 2
    assert "--verbose or --quiet" in capsys.readouterr().err


def test_a_log_file_has_all_messages_even_with_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    for number, flags in enumerate(([], ["-q"], ["-v"]), start=1):
        assert main(["solve", "none\x1b[2J.jsonl", *LENGTH, *flags, "--log-file", "log.txt"]) == 2
        said = Path("log.txt").read_text().splitlines()
        assert len(said) == number
        assert "ERROR" in said[-1]
        assert "none\\u001b[2J.jsonl" in said[-1]
    assert main(["solve", "t.jsonl", *LENGTH, "--log-file", "log.txt"]) == 0
    assert "INFO t.jsonl: documents are article" in Path("log.txt").read_text()
    capsys.readouterr()
    assert main(["solve", "t.jsonl", *LENGTH, "--log-file", "no/folder.txt"]) == 2
    assert "the log file no/folder.txt cannot be written" in capsys.readouterr().err
    assert logging.getLogger("optsum").handlers == []


def test_a_log_file_is_not_written_through_links(capsys: pytest.CaptureFixture[str]) -> None:
    Path("target").write_text("precious\n")
    Path("link.txt").symlink_to("target")
    Path("nowhere.txt").symlink_to("none")
    Path("second.txt").hardlink_to("target")
    for name in ("link.txt", "nowhere.txt", "second.txt"):
        assert main(["solve", "t.jsonl", *LENGTH, "--log-file", name]) == 2
        assert f"the log file {name} cannot be written" in capsys.readouterr().err
    assert Path("target").read_text() == "precious\n"
    assert not Path("none").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such name")
def test_a_log_may_be_an_open_file() -> None:
    command = [sys.executable, "-m", "optsum", "solve", "t.jsonl", *LENGTH, "--log-file", "/dev/stderr"]
    with Path("seen").open("wb") as seen:
        seen.write(b"one line\n")
        seen.flush()
        assert subprocess.run(command, stdout=subprocess.DEVNULL, stderr=seen, check=False).returncode == 0
    lines = Path("seen").read_text().splitlines()
    assert lines[0] == "one line"
    assert sum("INFO t.jsonl: documents are article" in line for line in lines) == 1


@pytest.mark.parametrize("command", [name for name in _COMMANDS if name not in {"study", "config"}])
def test_every_command_has_the_flags(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help-all"]) == 0
    shown = capsys.readouterr().out
    assert all(flag in shown for flag in ("--verbose", "--quiet", "--log-file", "--debug"))


def test_long_work_reports_its_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from threading import Event

    monkeypatch.setattr(messages, "LINE_S", 0.05)

    def shown(said: dict[str, bool], **how: Any) -> str:
        with messages.telling(**said), messages.bar("topics", lambda: 9, **how) as advance:
            advance(2)
            Event().wait(0.3)
            advance()
            Event().wait(0.3)
        return capsys.readouterr().err

    assert shown({}) == ""  # a pipe, not a terminal
    assert shown({"quiet": True}, in_logs=True) == ""
    for said in (shown({"verbose": True}), shown({}, in_logs=True)):
        assert said.startswith("2 of 9 topics done\n")
        assert "3 of 9 topics done, " in said
        assert said.endswith(" left\n")


def test_an_error_is_reported_once() -> None:
    commands = [
        ["solve", "t.jsonl", "--max-lenght", "4"],
        ["solve", "none.jsonl", "--max-length", "4"],
        ["slove"],
    ]
    for done in answers_of(commands):
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
