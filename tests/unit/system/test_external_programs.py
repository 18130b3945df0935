"""Check that programs are found on the PATH only, and that their output is limited."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optsum.system.processes.supervised import ask, find_program, read_whole, run_supervised

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts")

NAMES = ("cbc", "glpsol", "ipopt", "scip", "cplex", "gurobi_cl", "timer", "bonmin", "gams", "highs")


def trap(folder: Path) -> Path:
    """Write programs of all names that leave a mark when they run; return the mark."""
    mark = folder / "ran"
    for name in NAMES:
        (folder / name).write_text(f"#!/bin/sh\ntouch {mark}\necho 9.9.9\n")
        (folder / name).chmod(0o755)
    return mark


@pytest.mark.parametrize("entries", ["", ".", ":", ".:", "./", "..", "../here", "here:.", "~", ":/nowhere"])
def test_no_relative_entry_of_the_path_is_looked_into(
    entries: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    trap(here)
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", entries)
    assert [find_program(name) for name in NAMES] == [None] * len(NAMES)
    assert find_program("./cbc") is None
    assert find_program("../here/cbc") is None
    assert find_program(str(here / "cbc")) == str(here / "cbc")
    monkeypatch.setenv("PATH", f"{entries}:{here}")
    assert find_program("cbc") == str(here / "cbc")
    (here / "cbc").chmod(0o644)
    assert find_program("cbc") is None


PROGRAM = """
import os
import sys
import optsum
from optsum.cli import main
from optsum.registry import BACKENDS
from optsum.running import one_problem
from optsum.solvers.backends.pyomo import load_pyomo

usual = os.environ["PATH"]
topic = {"id": "t", "documents": [["a b", "b c"]], "references": [["a c"]]}
others = ["cbc", "glpk", "ipopt", "scip", "gams", "cplex", "baron"]
for path in ("", usual, f".:{usual}", f":{usual}"):
    os.environ["PATH"] = path
    one_problem._ready.clear()
    one_problem.setup_of.cache_clear()
    load_pyomo()
    sys.modules["pyomo.common"].Executable.rehash()  # it keeps where it found programs
    for name in [*BACKENDS, *(f"pyomo:{name}" for name in others)]:
        backend = BACKENDS.load(name)()
        backend.available(), backend.licence()
    for name in ("cbc", "glpk", "pyomo:cbc", "pyomo:ipopt"):
        try:
            optsum.solve(topic, max_length=2, backend=name)
        except optsum.OptsumError as error:
            print(error)
    assert main(["list", "backends"]) == 0
    assert not os.path.exists("ran"), path
print("done")
"""


def test_no_program_in_the_current_folder_runs(tmp_path: Path) -> None:
    mark = trap(tmp_path)
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr
    assert not mark.exists()


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    plain, link, pipe = tmp_path / "plain", tmp_path / "link", tmp_path / "pipe"
    plain.write_bytes(b"0123456789" * 10)
    assert read_whole(plain, 1000) == b"0123456789" * 10
    assert read_whole(plain, 40) == b"0123456789" + b"\n" + b"0123456789" * 3
    link.symlink_to(plain)
    os.mkfifo(pipe)
    for path in (link, pipe, Path("/dev/zero"), tmp_path, tmp_path / "missing"):
        with pytest.raises(OSError):  # noqa: PT011 - its words are the system's
            read_whole(path, 1000)


def script(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(f"#!{sys.executable} -IS\nimport os, sys, time\n{text}")
    path.chmod(0o755)
    return str(path)


def test_output_is_kept_in_part(tmp_path: Path) -> None:
    program = script(tmp_path, "print('first')\nfor _ in range(300): sys.stdout.write('x' * 100_000)\nprint('last')")
    ended = run_supervised([program], tmp_path, seconds=60)
    assert (ended.status, ended.killed) == (0, False)
    assert len(ended.output) < 10_000_000
    assert ended.output.startswith("first\n")
    assert ended.output.endswith("last\n")


@pytest.mark.parametrize("instead", ["os.mkfifo({out!r})", "os.symlink('/dev/zero', {out!r})"])
def test_output_replaced_by_something_else_is_ignored(instead: str, tmp_path: Path) -> None:
    out = str(tmp_path / "supervised.out")
    program = script(tmp_path, f"os.unlink({out!r})\n" + instead.format(out=out))
    assert run_supervised([program], tmp_path, seconds=60).output == ""


def test_a_program_that_babbles_without_end_is_asked_for_a_while(tmp_path: Path) -> None:
    program = script(tmp_path, "while True: print('x', flush=True); time.sleep(0.01)")
    began = time.monotonic()
    assert ask([program], 0.5) is None
    assert time.monotonic() - began < 20


def test_no_file_grows_without_end(tmp_path: Path) -> None:
    program = script(tmp_path, "import resource; print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])")
    assert 0 < int(run_supervised([program], tmp_path, seconds=60).output) <= 1 << 30
