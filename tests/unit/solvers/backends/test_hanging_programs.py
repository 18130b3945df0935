"""Check that programs that hang, crash or print garbage end in time, with their child processes and files."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake_solvers import fake_cbc, fake_glpsol, first_on_path
from processes import living, wait_for

import optsum
from optsum import BackendError, Coverage, CoverageProblem, Limits, Status, Termination, search

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts")

PROBLEM = CoverageProblem.of(
    Coverage.of([2, 2, 3], [{0: 1}, {1: 1}, {0: 1, 2: 1}], [[2], [2], [2]], constants=(0, 6), max_length=4)
)
SAYS_WHO = "open({folder!r} + '/who', 'a').write(f'{{os.getpid()}}\\n')\n"
HANGS = SAYS_WHO + "hang()"
DEAF = SAYS_WHO + "signal.signal(signal.SIGTERM, signal.SIG_IGN); hang()"
FORKS = SAYS_WHO + "os.fork()\n" + SAYS_WHO + "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nhang()"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in which temporary files are made."""
    import tempfile

    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


FAKES = {"cbc": fake_cbc, "glpk": fake_glpsol}


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, does: str, backend: str = "cbc") -> None:
    FAKES[backend](folder, does.format(folder=str(folder)))
    first_on_path(monkeypatch, folder)


def who(folder: Path) -> set[int]:
    return {int(line) for line in (folder / "who").read_text().split()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "does"),
    [("cbc", HANGS), ("cbc", DEAF), ("cbc", FORKS), ("glpk", FORKS)],
    ids=["cbc hangs", "cbc ignores SIGTERM", "cbc forks", "glpk forks"],
)
def test_a_program_that_hangs_is_killed_after_its_limit(
    backend: str, does: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path, does, backend)
    monkeypatch.setattr("optsum.solvers.backends.pyomo.GRACE_S", 0.25)
    search(PROBLEM, "greedy")  # compiled before the clock starts
    began = time.monotonic()
    result = search(PROBLEM, "milp", Limits(time_s=1.5), backend=backend)
    assert time.monotonic() - began < 15
    assert (result.status, result.termination, result.objective) == (Status.FEASIBLE, Termination.TIME_LIMIT, 2 / 3)
    assert result.detail == f"{backend} went on 0.25 s after its time limit and was killed"
    wait_for(lambda: not who(tmp_path) & living(), 5)
    assert list(temporary.iterdir()) == []


CRASHES = "os.kill(os.getpid(), signal.SIGSEGV)"
BABBLES = "os.write(1, bytes(range(256)) * 100)"
WRITES_NONSENSE = "open(written, 'wb').write(bytes(range(256)) * 100)"


@pytest.mark.parametrize(
    ("backend", "does", "match"),
    [
        ("cbc", CRASHES, r"cbc crashed \(SIGSEGV\)"),
        ("cbc", "sys.exit(3)", "cbc failed"),
        ("cbc", BABBLES, "cbc ended with the status|cbc failed"),
        ("cbc", WRITES_NONSENSE, "cbc ended with the status|cbc failed"),
        ("glpk", CRASHES, r"glpk crashed \(SIGSEGV\)"),
        ("glpk", "answer(4, lambda value: value)\n" + CRASHES, r"glpk crashed \(SIGSEGV\)"),
        ("glpk", "sys.exit(3)", "glpk failed"),
        ("glpk", BABBLES, "glpk failed"),
        ("glpk", WRITES_NONSENSE, "glpk failed"),
        ("glpk", "print('INTEGER OPTIMAL SOLUTION FOUND')", "glpk failed"),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # Pyomo does not close a file that it cannot read
def test_a_program_that_breaks_is_one_sentence_and_no_file(
    backend: str, does: str, match: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path, does, backend)
    result = search(PROBLEM, "milp", Limits(time_s=20), backend=backend)
    assert result.detail is not None
    assert re.search(match, result.detail)
    assert "\n" not in result.detail
    assert (result.objective_exact, result.termination) == ("2/3", Termination.COMPLETED)
    assert list(temporary.iterdir()) == []
    gc.collect()


def test_a_program_that_does_not_even_tell_its_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cbc").write_text("#!/bin/sh\nsleep 60\n")
    (tmp_path / "cbc").chmod(0o755)
    first_on_path(monkeypatch, tmp_path)
    monkeypatch.setattr("optsum.contracts.backend._ANSWERS_S", 0.3)
    began = time.monotonic()
    with pytest.raises(BackendError, match=r"cbc cannot be used, because the program .*cbc does not answer"):
        search(PROBLEM, "milp", backend="cbc")
    assert time.monotonic() - began < 10


@pytest.mark.slow
def test_a_program_that_hangs_in_warming_up_does_not_hang_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, tmp_path, HANGS)
    monkeypatch.setattr("optsum.running.one_problem._LIMIT_S", 1.0)
    (row,) = optsum.solve_all([TOPIC], max_length=4, backend="cbc", strategy="milp", time_limit=1)
    assert (row.status, row.termination) == (Status.FEASIBLE, Termination.TIME_LIMIT)
    assert row.detail == "cbc went on 0.8 s after its time limit and was killed"


@pytest.mark.parametrize("given", [{"id": "t", "documents": [["a b"]], "references": [["a"]]}, PROBLEM])
def test_a_program_that_breaks_in_warming_up_ends_the_run(
    given: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test this because otherwise all rows would hold the selection of greedy search."""
    install(monkeypatch, tmp_path, CRASHES)
    monkeypatch.setattr("optsum.running.one_problem._ready", set())
    length = {} if given is PROBLEM else {"max_length": 4}
    with pytest.raises(BackendError, match=r"^cbc crashed \(SIGSEGV\), on a tiny problem\.$"):
        list(optsum.solve_all([given], **length, backend="cbc", strategy="milp", time_limit=8.75))


TOPIC = {"id": "t", "documents": [["a b", "b c", "c d", "d e"]], "references": [["a b c d e"]]}
OPTSUM = [sys.executable, "-c", "import sys; from optsum.cli import main; sys.exit(main())"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to look for processes in")
@pytest.mark.parametrize(
    ("number", "does"),
    [(signal.SIGINT, HANGS), (signal.SIGINT, DEAF), (signal.SIGTERM, DEAF), (signal.SIGKILL, DEAF)],
    ids=["SIGINT, hangs", "SIGINT, ignores SIGTERM", "SIGTERM, ignores SIGTERM", "SIGKILL, ignores SIGTERM"],
)
def test_a_program_does_not_outlive_optsum(
    number: signal.Signals, does: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tmp_path, f"if len(units) == 3:\n    answer_all()\n    sys.exit()\n{does}")
    topics, out = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    arguments: list[Any] = ["solve", topics, "--max-length", "4", "--backend", "cbc", "-o", out]
    process = subprocess.Popen(
        [*OPTSUM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for((tmp_path / "who").exists)
    time.sleep(0.2)
    began = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    wait_for(lambda: not who(tmp_path) & living(), 5)
    assert time.monotonic() - began < 10
    wait_for(lambda: not list(temporary.iterdir()), 5)
    if number is not signal.SIGKILL:
        assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
        assert err.startswith("optsum: interrupted; ")
        (row,) = map(json.loads, out.read_text().splitlines())
        assert row["termination"] == "interrupted"
