"""Check that a change of the system clock affects no limit, row or stored run.

A preloaded library answers for the system clock, also to solvers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from timeless import timeless

from optsum.cli import main
from optsum.corpus.row_files import read_rows

LIBRARY = """
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static atomic_long away, readings;
static atomic_int restless;
void set_away(long seconds) { atomic_store(&away, seconds); }
void be_restless(void) { atomic_store(&restless, 1); }
static long by(void) {
    static const long hours[] = {0, 1, 0, -1};
    return restless ? 3600 * hours[atomic_fetch_add(&readings, 1) / 5 % 4] : atomic_load(&away);
}
int clock_gettime(clockid_t which, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, which, now);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += by();
    return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    int failed = clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return failed;
}
time_t time(time_t *kept) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (kept) *kept = found.tv_sec;
    return found.tv_sec;
}
"""

SETTING = """
import ctypes, json, os, sys, threading, time
clock = ctypes.CDLL(sys.argv[1])
"""

SOLVED = """
import numpy as np
from optsum.program.model import new_highs, run
from optsum.system.clock import Deadline
offset, apart = int(sys.argv[2]), sys.argv[3] == "apart"
random, highs = np.random.default_rng(0), new_highs()
columns = [highs.addBinary(obj=-float(value)) for value in random.integers(50, 100, 60)]
for _ in range(30):
    highs.addConstr(sum(int(size) * column for size, column in zip(random.integers(1, 60, 60), columns)) <= 700)
before = time.time()
threading.Timer(0.4, clock.set_away, [offset]).start()
began, deadline = time.perf_counter(), Deadline(1.5)
ended = run(highs, deadline, apart=apart, keeps=True)
took, moved = time.perf_counter() - began, time.time() - before
holds = highs.getInfo().primal_solution_status if ended else None  # on a busy machine it may not hear in time
# To stderr: what HiGHS thinks of such a clock goes to stdout.
sys.stderr.write(json.dumps({"took": took, "moved": moved, "holds": holds}))
sys.stderr.flush()
os._exit(0)
"""

RUNS = """
clock.be_restless()
read = [time.time() for _ in range(20)]
assert max(read) - min(read) > 7000, read
from optsum.cli import main
assert main(["run", "experiment.toml", "run", "--limit", "1", "-q"]) == 0
assert main(["run", "experiment.toml", "run", "--resume", "-q"]) == 0
"""

EXPERIMENT = """
topics = "topics.jsonl"
max_length = 6
time_limit = 60
[grid]
strategy = ["branch-and-bound", "milp"]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled library."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        reason = "no C compiler (cc), or no Linux, to make a clock that jumps"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(LIBRARY)
    made = folder / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, folder / "clock.c"], check=True)
    return made


def beside(library: Path, script: str, *arguments: str, where: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script in a process that gets the time from the library."""
    done = subprocess.run(
        [sys.executable, "-c", SETTING + script, str(library), *arguments],
        cwd=where,
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize(
    ("offset", "way"), [(3600, "apart"), (-3600, "here"), (3600, "here")], ids=["forward", "back here", "forward here"]
)
def test_a_solver_neither_ends_early_nor_late(library: Path, offset: int, way: str) -> None:
    said: dict[str, Any] = json.loads(beside(library, SOLVED, str(offset), way).stderr)
    assert abs(said["moved"] - offset) < 100
    assert said["holds"] != 0
    assert 1.4 < said["took"] < 10


def test_a_run_and_its_resumption_are_those_of_a_steady_clock(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [[f"{a} {b} {c}" for a, b, c in zip("abcdefgh", "bdfhaceg", "hgfedcba", strict=True)]]
    topics = [{"id": name, "documents": words, "references": [[f"a {name} c d", "h b"]]} for name in "efg"]
    Path("topics.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in topics))
    Path("experiment.toml").write_text(EXPERIMENT)
    assert main(["run", "experiment.toml", "quiet", "-q"]) == 0
    beside(library, RUNS, where=tmp_path)
    jumped, quiet = list(read_rows("run")), list(read_rows("quiet"))
    assert len(quiet) == 6
    assert timeless(jumped) == timeless(quiet)
    assert {row["termination"] for row in jumped} == {"completed"}
    assert all(0 <= row["seconds"] < 60 for row in jumped)
