"""What people are told while they wait."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from optsum.contracts.run import Limits, Run
from optsum.coverage.instance import Coverage
from optsum.problem.coverage_problem import CoverageProblem
from optsum.report import progress


def test_what_a_search_tells_is_shown_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(CoverageProblem.of(Coverage.of([1], [{0: 1}], [[1]])), Limits(), np.random.default_rng(0))
    for terminal, shown in ((True, "this takes long\n"), (False, "")):
        monkeypatch.setattr(progress, "on_terminal", lambda terminal=terminal: terminal)
        with progress.telling():
            run.tell("this takes long")
        assert capsys.readouterr().err == shown
    run.tell("nobody listens")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (b'{"id": 1}\n\n{"id": 2}', 2),
        (b'\xef\xbb\xbf{"id": 1}\n', 1),
        (gzip.compress(b'{"id": 1}\n'), None),
        (b'[\n{"id": 1}\n]\n', None),
        (b"id,documents\n", None),
        (b"PAR1\n\n\n", None),
        (b"", None),
    ],
)
def test_lines_are_topics_in_json_lines_alone(content: bytes, count: int | None, tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes(content)
    assert progress.count_lines(str(tmp_path / "topics")) == count
    assert progress.count_lines(str(tmp_path)) is None
    assert progress.count_lines("-") is None
    assert progress.count_lines(str(tmp_path / "nosuch")) is None
