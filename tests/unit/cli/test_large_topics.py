"""Check that a large topic is solved, or refused by one sentence, in bounded memory (docs/speed.md).

The sizes are a tenth of those there, so that each takes seconds; memory is the peak of the process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from large_topics import KINDS, write_large

MEASURED = (
    "import resource, subprocess, sys\n"
    "optsum = [sys.executable, '-c', 'import sys; from optsum.cli import main; sys.exit(main())']\n"
    "status = subprocess.call([*optsum, *sys.argv[1:]])\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)\n"
    "sys.exit(status)\n"
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in kilobytes on Linux"),
]


@pytest.mark.parametrize(
    ("kind", "strategy"),
    # topics that are large in bytes test the reader alone, whatever the strategy
    [(kind, strategy) for kind in KINDS for strategy in ("auto", "milp")[: 1 if kind.startswith("bytes") else 2]],
)
def test_a_large_topic_is_solved_or_refused(tmp_path: Path, kind: str, strategy: str) -> None:
    topics = write_large(tmp_path / "large.jsonl", kind, KINDS[kind][0] // 10)
    out = tmp_path / "rows.jsonl"
    limits = ["--max-length", "100", "--time-limit", "4", "--strategy", strategy]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "solve", str(topics), *limits, "-q", "-o", str(out)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    *said, megabytes = done.stderr.splitlines()
    assert int(megabytes) < 800, done.stderr
    if kind == "bytes of no JSON":
        assert done.returncode == 2
        (sentence,) = said
        assert sentence.startswith(f"optsum: {topics}")
        assert len(sentence) < 1000
        return
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    (row,) = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert row["status"] in {"optimal", "feasible"}
    assert row["length"] <= 100
    assert 0 < row["objective"] <= row["bound"]
