"""Check that limits use a clock that cannot be set."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("optsum", "formulations", "heuristics", "solvers")
SET_BY_ANYBODY = {"time", "time_ns", "localtime", "gmtime", "ctime", "now", "today", "utcnow"}
SAYS_WHEN = {"optsum/corpus/row_files.py", "optsum/experiments.py"}
"""Modules that write down when something was, for another process and another day."""

if not (ROOT / "optsum").is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)


def clocks_read_in(source: str) -> Iterator[str]:
    """Yield the calls that read a clock which an administrator or a time server can set."""
    tree = ast.parse(source)
    bare = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
        if alias.name in SET_BY_ANYBODY
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in bare:
            yield called.id
        owner = called.value if isinstance(called, ast.Attribute) else None
        if isinstance(owner, ast.Name) and owner.id in {"time", "datetime", "date"} and called.attr in SET_BY_ANYBODY:
            yield f"{owner.id}.{called.attr}"


def test_no_limit_is_kept_by_a_clock_that_jumps() -> None:
    found = {
        file.relative_to(ROOT).as_posix(): names
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        if (names := list(clocks_read_in(file.read_text(encoding="utf-8"))))
    }
    assert set(found) == SAYS_WHEN, found


def test_such_a_clock_is_found() -> None:
    assert list(clocks_read_in("import time\ntime.time() + time.perf_counter()")) == ["time.time"]
    assert list(clocks_read_in("from time import time as now, perf_counter\nnow() + perf_counter()")) == ["now"]
    assert list(clocks_read_in("from datetime import datetime\ndatetime.now()")) == ["datetime.now"]
