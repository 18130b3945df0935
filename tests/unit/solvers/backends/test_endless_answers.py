"""Check that endless or huge answers of programs are refused by one sentence, in bounded time and memory."""

from __future__ import annotations

import os
import re
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from fake_solvers import fake_cbc, fake_glpsol, first_on_path
from optsum.solvers.backends import cpsat
from optsum.solvers.backends.cpsat import CpSat

from optsum.coverage.instance import Coverage
from optsum.errors import BackendError
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Limits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts")

PROBLEM = CoverageProblem.of(
    Coverage.of([2, 2, 3], [{0: 1}, {1: 1}, {0: 1, 2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=4)
)
FAKES = {"cbc": fake_cbc, "glpk": fake_glpsol}
GLP = "other = arguments[arguments.index('--wglp') + 1]\nif os.path.exists(other): os.unlink(other)\n"


@pytest.mark.parametrize("limits", [Limits(), Limits(time_s=20.0)], ids=["no limit", "limit"])
@pytest.mark.parametrize(
    ("backend", "does", "match"),
    [
        ("cbc", "os.mkfifo(written)", "other than a plain file"),
        ("cbc", "os.symlink('/dev/zero', written)", "other than a plain file"),
        ("cbc", "os.symlink('/etc/passwd', written)", "other than a plain file"),
        ("cbc", "open(written, 'wb').truncate(165_000_000)", "wrote 165,000,000 bytes"),
        ("cbc", "open(written, 'wb').truncate(900_000_000)", "wrote 900,000,000 bytes"),
        ("cbc", "os.truncate(1, 900_000_000)", "cbc"),
        ("cbc", "os.write(1, b'x' * 60_000_000)", "cbc"),
        ("glpk", "os.mkfifo(written)", "other than a plain file"),
        ("glpk", GLP + "os.mkfifo(other)", "other than a plain file"),
        ("glpk", GLP + "os.symlink('/dev/zero', other)", "other than a plain file"),
        ("glpk", "open(written, 'wb').truncate(165_000_000)", "wrote 165,000,000 bytes"),
        ("glpk", "os.truncate(1, 900_000_000)", "glpk"),
    ],
)
def test_an_invalid_answer_is_refused_in_time(
    backend: str, does: str, match: str, limits: Limits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAKES[backend](tmp_path, does)
    first_on_path(monkeypatch, tmp_path)
    search(PROBLEM, "greedy")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    result = search(PROBLEM, "milp", limits, backend=backend)
    assert result.objective_exact == "2/3"
    assert result.statistics["solver_failed"]
    assert result.detail is not None
    assert re.search(match, result.detail)
    assert time.monotonic() - began < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "kilobytes"


@pytest.mark.parametrize("says", ["while True: os.write(1, b'x' * 100_000)", "os.write(1, b'1.0 ' * 50_000_000)"])
@pytest.mark.parametrize("backend", ["cbc", "glpk"])
def test_an_endless_version_is_refused(
    backend: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {"cbc": "cbc", "glpk": "glpsol"}[backend]
    (tmp_path / name).write_text(f"#!{sys.executable} -IS\nimport os\n{says}\n")
    (tmp_path / name).chmod(0o755)
    first_on_path(monkeypatch, tmp_path)
    monkeypatch.setattr("optsum.contracts.backend._ANSWERS_S", 0.7)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with suppress(BackendError):
        assert search(PROBLEM, "milp", backend=backend).statistics["solver_failed"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "kilobytes"


@pytest.mark.parametrize("says", ["os.write(1, b'x' * 80_000_000)", "os.write(1, b'{' * 100)"])
def test_garbage_from_the_process_of_cp_sat_is_no_answer(says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not CpSat().available():
        pytest.skip("OR-Tools are not here")
    child = cpsat._Child([sys.executable, "-c", f"import os, time; {says}; time.sleep(60)"])
    monkeypatch.setattr(cpsat, "_CHILD", child)
    monkeypatch.setattr(cpsat, "GRACE_S", 0.2)
    assert CpSat().solve(PROBLEM, Limits(time_s=3.0), 0).native in {"no answer in time", "died"}
