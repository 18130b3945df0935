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


@pytest.mark.parametrize("path", ["", "{usual}", ".:{usual}", ":{usual}"])
def test_no_program_in_the_current_folder_runs(path: str, tmp_path: Path) -> None:
    mark = trap(tmp_path)
    code = (
        "import optsum\n"
        "from optsum.registry import BACKENDS\n"
        "for name in [*BACKENDS, 'pyomo:cbc', 'pyomo:glpk', 'pyomo:ipopt', 'pyomo:scip', 'pyomo:gams',\n"
        "             'pyomo:cplex', 'pyomo:baron']:\n"
        "    backend = BACKENDS.load(name)()\n"
        "    backend.available(), backend.licence()\n"
        "topic = {'id': 't', 'documents': [['a b', 'b c']], 'references': [['a c']]}\n"
        "for name in ('cbc', 'glpk', 'pyomo:cbc', 'pyomo:ipopt'):\n"
        "    try:\n"
        "        optsum.solve(topic, max_length=2, backend=name)\n"
        "    except optsum.OptsumError as error:\n"
        "        print(error)\n"
    )
    environment = {**os.environ, "PATH": path.format(usual=os.environ["PATH"])}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not mark.exists()


def test_list_backends_runs_nothing_either(tmp_path: Path) -> None:
    mark = trap(tmp_path)
    code = "import sys; from optsum.cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", code, "list", "backends"]
    environment = {**os.environ, "PATH": f".:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
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
