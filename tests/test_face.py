"""What `optsum` offers: every name of it loads, documents and examples need no other, every module stands alone."""

from __future__ import annotations

import ast
import multiprocessing
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import optsum
from optsum.registry import FACE

ROOT = Path(__file__).resolve().parent.parent
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTIONED = re.compile(r"`optsum\.([a-z]\w*)\.(\w+)")

if not (ROOT / "docs").is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)


def deep_imports(source: str) -> Iterator[str]:
    """Yield what a program imports from below `optsum.X`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if re.match(r"optsum\.\w+\.", alias.name))
        elif isinstance(node, ast.ImportFrom) and re.match(r"optsum\.\w+\.", node.module or ""):
            yield f"{node.module}"


def test_every_name_loads() -> None:
    assert set(optsum.__all__) == {*optsum._HOME, *FACE, "__version__"}
    for name in optsum.__all__:
        assert getattr(optsum, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = optsum.nosuch


def test_documents_and_examples_import_nothing_deeper() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    found = [
        (page.relative_to(ROOT).as_posix(), name)
        for page in pages
        for block in CODE.findall(page.read_text(encoding="utf-8"))
        for name in deep_imports(block)
    ]
    found += [
        (page.relative_to(ROOT).as_posix(), ".".join(names))
        for page in pages
        for names in MENTIONED.findall(page.read_text(encoding="utf-8"))
        if names[0] != "testing"  # `optsum.testing.check_problem`: a module of the face
    ]
    for program in (ROOT / "examples").rglob("*.py"):
        found += [(program.name, name) for name in deep_imports(program.read_text(encoding="utf-8"))]
    assert found == []


def test_a_deeper_import_is_found() -> None:
    assert list(deep_imports("import optsum.a.b\nfrom optsum.c.d import e\nfrom optsum.f import g")) == [
        "optsum.a.b",
        "optsum.c.d",
    ]
    assert MENTIONED.findall("`optsum.a.b.C` and `optsum.D`") == [("a", "b")]


def _modules() -> list[str]:
    folders = {"optsum": "optsum"} | {name: f"optsum.{name}" for name in ("formulations", "heuristics", "solvers")}
    names = []
    for folder, name in folders.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            if parts[-1] != "__main__":
                names.append(".".join([name, *parts]).removesuffix(".__init__"))
    return names


@pytest.mark.slow
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_every_module_can_be_imported_first() -> None:
    """Each in a process of its own, forked from one that holds the heavy packages and nothing of optsum."""
    program = f"""
import os, sys
import numpy, numba, pydantic, networkx, typer
assert not any(name == "optsum" or name.startswith("optsum.") for name in sys.modules)
failed = []
for name in {_modules()!r}:
    child = os.fork()
    if child == 0:
        try:
            __import__(name)
        except BaseException as error:
            print(name, repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    failed += [name] * (os.waitpid(child, 0)[1] != 0)
sys.exit(bool(failed))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_the_example_of_a_metric_runs_without_arguments() -> None:
    program = ROOT / "examples" / "own_metric.py"
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 8
    assert all("optimum 0." in line for line in done.stdout.splitlines())
