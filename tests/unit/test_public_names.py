"""Check the public names: each loads, documents and examples need no others, every module can be imported alone."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType

import pytest
from api import public_names
from sources import FOLDERS, all_sources, name_of

import optsum
import optsum.plugins
import optsum.testing
from optsum.options.options import Options
from optsum.registry import PUBLIC_NAMES

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MENTIONED = re.compile(r"`optsum\.([a-z]\w*)\.(\w+)")

if not (ROOT / "docs").is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)


def deep_imports(source: str) -> Iterator[str]:
    """Yield the modules below `optsum.X` that a program imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if re.match(r"optsum\.\w+\.", alias.name))
        elif isinstance(node, ast.ImportFrom) and re.match(r"optsum\.\w+\.", node.module or ""):
            yield f"{node.module}"


def test_every_name_loads() -> None:
    assert public_names() == {*optsum._HOME, *PUBLIC_NAMES, "__version__"}
    for name in public_names():
        assert getattr(optsum, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = optsum.nosuch


def test_the_package_is_pickled_as_its_name() -> None:
    # Otherwise, outside site-packages, dill would copy the module with its contents, and datasets would warn.
    assert pickle.loads(pickle.dumps(optsum)) is optsum  # noqa: S301 - of our own making


def test_few_names_are_listed_and_those_for_extensions_are_in_plugins() -> None:
    assert len(dir(optsum)) < 40
    assert not {*dir(optsum)} & {*dir(optsum.plugins)}
    assert optsum.plugins.Strategy is optsum.Strategy
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = optsum.plugins.nosuch
    with pytest.raises(AttributeError):
        _ = optsum.plugins.solve


def test_representations_are_short() -> None:
    topic = next(each for each in optsum.read_topics(ROOT / "examples/data/news.jsonl") if each.id == "cave-fish")
    assert repr(topic) == "<Topic 'cave-fish': 2 documents, 20 sentences, 3 references>"
    assert repr(optsum.FORMULATIONS).startswith("<Registry of formulation names: ")
    shown = [topic, optsum.FORMULATIONS, optsum.METRICS, optsum.Limits(time_s=1), optsum.solve(topic, max_length=30)]
    assert [each for each in map(repr, shown) if len(each) > 300] == []


def test_help_shows_every_option() -> None:
    told = optsum.solve.__doc__ or ""
    left_out = {"workers", "executor", "scheduler", "memory_per_worker"}
    assert [name for name in Options.model_fields if f"\n    {name} : " not in told and name not in left_out] == []
    assert "Longest summary" in told
    assert inspect.signature(optsum.solve).parameters["max_length"].default is None
    for name in ("solve_all", "labels", "compare", "enumerate_optima", "frontier", "score"):
        assert "\n    tokenizer : " in getattr(optsum, name).__doc__, name


def test_every_public_name_is_documented() -> None:
    offered = {name: getattr(optsum, name) for name in public_names() if name != "__version__"}
    offered |= {name: getattr(optsum.testing, name) for name in optsum.testing.__all__}
    methods = {
        f"{name}.{member}": getattr(found, member)
        for name, found in offered.items()
        if isinstance(found, type)
        for home in found.__mro__
        if home.__module__.split(".")[0] in FOLDERS
        for member, value in vars(home).items()
        if not member.startswith("_") and isinstance(value, FunctionType | property | cached_property | classmethod)
    }
    assert len(methods) > 100
    assert [name for name, found in (offered | methods).items() if not inspect.getdoc(found)] == []


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
        if names[0] != "testing"  # `optsum.testing.check_problem`: a public module
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


def test_every_module_can_be_imported_first() -> None:
    """Check this in one process: modules have no import cycle (`test_layers`), so any of them can be the first."""
    names = [name for name in map(name_of, all_sources()) if not name.endswith("__main__")]
    program = f"for name in {names[::-1]!r}: __import__(name)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_example_of_a_metric_runs_without_arguments(tmp_path: Path) -> None:
    """Run a copy beside a file of two topics, as the eight of the shipped one take seconds."""
    program = Path(shutil.copy(ROOT / "examples" / "own_metric.py", tmp_path))
    topics = (ROOT / "examples" / "data" / "news.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "news.jsonl").write_text("".join(topics[:2]), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2
    assert all("optimum 0." in line for line in done.stdout.splitlines())
