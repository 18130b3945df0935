"""Test messages during a search: progress on terminals, warnings in logs."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage
from optsum.problem.problem import CoverageProblem
from optsum.report import messages
from optsum.system.clock import Limits


def test_messages_of_a_search_are_shown_on_terminals_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]])), Limits(), np.random.default_rng(0))
    for terminal, shown in ((True, "this takes long\n"), (False, "")):
        monkeypatch.setattr(messages, "on_terminal", lambda terminal=terminal: terminal)
        with messages.telling():
            run.tell("this takes long")
        assert capsys.readouterr().err == shown
    run.tell("nobody listens")
    assert capsys.readouterr() == ("", "")


def test_warnings_are_logged_as_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for terminal in (True, False):
        monkeypatch.setattr(messages, "on_terminal", lambda terminal=terminal: terminal)
        with messages.telling():
            logging.getLogger("optsum").warning("Compiling kernels")
        assert capsys.readouterr().err == "Compiling kernels\n"


def test_lines_of_files_are_counted_together_unless_one_is_unknown(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("a\n\nb\n")
    two.write_text("c")
    assert messages.count_lines(str(one), str(two)) == 3
    assert messages.count_lines() == 0
    for unknown in ("-", str(tmp_path / "missing")):
        assert messages.count_lines(str(one), unknown) is None
