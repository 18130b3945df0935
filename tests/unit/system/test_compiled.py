"""Check that compiled kernels are cached separately for each version, wherever numba keeps its cache."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from optsum import __version__
from optsum.system import compiled

ROOT = Path(__file__).resolve().parents[3]

WRITE_ONE = """
import numpy as np
from optsum.solvers.engine.core import gcd
import theirs
gcd(12, 18), theirs.own(2)
"""
THEIRS = "from numba import njit\n@njit(cache=True)\ndef own(x): return x + 1\n"


def test_a_version_has_a_folder_of_its_own_and_other_packages_keep_theirs(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(THEIRS)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "PYTHONPATH": str(tmp_path),
        "OPTSUM_PATIENCE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", WRITE_ONE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = {file.name.partition("-")[0]: file.parent.name for file in (tmp_path / "kept").rglob("*.nbi")}
    assert kept["core.gcd"] == f"optsum-{__version__}"
    assert not kept["theirs.own"].startswith("optsum-")


LOOK = """
import sys
from optsum.solvers.engine.core import gcd
print(gcd.is_kept, "numba" in sys.modules)
"""


def test_cached_kernels_are_found_without_numba(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "OPTSUM_PATIENCE": "0"}

    def run(program: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run(LOOK) == "False False\n"
    run("from optsum.solvers.engine.core import gcd; gcd(12, 18)")
    assert run(LOOK) == "True False\n"


def test_kernels_are_looked_for_where_numba_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    of_user = tmp_path / "numba" / "engine_0a1b" / f"optsum-{__version__}"
    of_user.mkdir(parents=True)
    beside = Path("engine", "__pycache__", f"optsum-{__version__}")
    assert compiled._places(Path("engine")) == [beside, of_user]


@pytest.mark.skipif(not (ROOT / "solvers").is_dir(), reason="the source tree is not beside the tests")
def test_every_kernel_is_cached_for_its_version() -> None:
    others = [
        file.relative_to(ROOT).as_posix()
        for folder in ("optsum", "formulations", "heuristics", "solvers")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "numba" and "njit" in {name.name for name in node.names}
    ]
    assert others == ["optsum/system/dispatchers.py"]


FIRST = """
import json, sys
import optsum
topic = json.loads(open(sys.argv[1], encoding="utf-8").readline())
for strategy in sys.argv[2:]:
    print(strategy, optsum.solve(topic, strategy=strategy, max_length=40).objective)
needless = {"numba.np.arraymath", "numba.typed.typeddict", "networkx"}.intersection(sys.modules)
print("needless:", *sorted(needless), file=sys.stderr)
print("numba" in sys.modules, file=sys.stderr)
"""


@pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="the source tree is not beside the tests")
def test_a_small_first_job_compiles_nothing(tmp_path: Path) -> None:
    strategies = ["milp", "greedy", "branch-and-bound", "vns", "genetic", "exhaustive", "auto"]
    done = subprocess.run(
        [sys.executable, "-c", FIRST, str(ROOT / "examples" / "data" / "news.jsonl"), *strategies],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "OPTSUM_PATIENCE": "60"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(strategies)
    assert "Compiling" not in done.stderr
    assert not list(tmp_path.rglob("*.nbc"))
    assert done.stderr.splitlines()[-2:] == ["needless:", "False"]


@pytest.mark.skipif(not (ROOT / "examples").is_dir(), reason="the source tree is not beside the tests")
def test_kernels_that_are_kept_are_loaded_without_what_numba_compiles_with() -> None:
    command = [sys.executable, "-c", FIRST, str(ROOT / "examples" / "data" / "news.jsonl"), "greedy"]
    environment = {**os.environ, "OPTSUM_PATIENCE": "0"}
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert first.stdout == second.stdout
    assert "needless:" in second.stderr.splitlines()
