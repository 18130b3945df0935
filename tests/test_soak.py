"""Check that a process that works round after round does not accumulate files, threads, processes or memory."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "soak.py"


@pytest.mark.slow
@pytest.mark.skipif(
    not SCRIPT.exists() or not Path("/proc/self/fd").exists(), reason="needs the source tree, and /proc"
)
def test_resources_stay_constant_over_three_rounds() -> None:
    """Run three rounds; `benchmarks/soak.py` itself runs for an hour and estimates the slope."""
    command = [sys.executable, str(SCRIPT), "--minutes", "0", "--most", "1e9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WRONG" not in done.stdout + done.stderr
    rounds = re.search(r"(\d+) rounds in .* min; ([\d.]+) MB after the second round, ([\d.]+) at the end", done.stdout)
    assert rounds is not None
    count, first, last = int(rounds[1]), float(rounds[2]), float(rounds[3])
    assert count == 3
    assert last < first + 100, done.stdout
