"""`optsum warm-up`: kernels are there afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from optsum.cli.app import main
from optsum.running.oracles import kernels_of

NEWS = Path(__file__).parents[3] / "examples" / "data" / "news.jsonl"

MOST = 33
"""Kernels of the text, of its program and of greedy search, that milp starts from: one signature each."""


def test_every_strategy_is_served_and_parts_are_not_doubled() -> None:
    one, all_ = kernels_of(["exhaustive"]), kernels_of(["exhaustive", "vns", "auto"])
    assert set(one) < set(all_)
    assert len(set(all_)) == len(all_)


def test_what_cannot_be_asked_for_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--strategy", "greddy"]) == 2
    assert "did you mean greedy" in capsys.readouterr().err
    assert main(["warm-up", "--strategy", "greedy", "--all"]) == 2
    assert "--all" in capsys.readouterr().err


def test_a_second_time_has_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--strategy", "exhaustive"]) == 0
    assert "kernels of exhaustive are ready" in capsys.readouterr().out


@pytest.mark.slow
def test_nothing_is_compiled_afterwards(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "optsum", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    first = run("warm-up", "--strategy", "milp")
    assert "Compiling" in first
    assert f"kept in {tmp_path}" in first
    kept = [file.name.rpartition(".py")[0] for file in tmp_path.rglob("*.nbc")]
    assert 0 < len(kept) <= MOST
    # What is compiled twice is given an array or a literal of another type somewhere: see `benchmarks/path.py --cold`.
    assert [name for name, times in Counter(kept).items() if times > 1] == []
    after = run("solve", str(NEWS), "--strategy", "milp", "--max-length", "75", "-o", str(tmp_path / "o.jsonl"))
    assert "Compiling" not in after
