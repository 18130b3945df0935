"""Check the layout of the sources, by which every tool can work without an installation, on the syntax trees.

The folders ``formulations/``, ``solvers/`` and ``heuristics/`` are installed as ``optsum.formulations`` and so on. In
the sources they lie beside the core, so a module in them may import the core absolutely and its siblings relatively,
and nothing else of the project; the core refers to the folders only by the strings of its registry.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sources import tree_of

FOLDERS = ("formulations", "heuristics", "solvers")
CORE = "optsum"
REGISTRY = "optsum/registry.py"

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in (CORE, *FOLDERS)),
    reason="the source tree is not beside the tests",
)


def import_faults(path: str, source: str) -> list[str]:
    """Return the forbidden imports of a module; `path` is relative to the project."""
    tree = tree_of(source)
    found = _core_faults(path, tree) if path.startswith(f"{CORE}/") else _folder_faults(path, tree)
    return [f"{path}:{line}: {what}" for line, what in found]


def _imports(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    """Yield the line, the number of leading dots and the dotted name of each import, those in functions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, 0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (node.lineno, node.level, f"{node.module}.{alias.name}" if node.module else alias.name)
                for alias in node.names
            )


def _folder_of(name: str) -> str | None:
    """Return the folder that an absolute dotted name refers to, or None."""
    parts = name.split(".")
    first = parts[1] if parts[0] == CORE and len(parts) > 1 else parts[0]
    return first if first in FOLDERS else None


def _folder_faults(path: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    home = path.split("/", maxsplit=1)[0]
    depth = path.count("/")  # as many dots as stay inside the folder
    for line, dots, name in _imports(tree):
        if dots > depth:
            yield line, f"{'.' * dots}{name} leaves {home}/: import the core absolutely, from {CORE}.…"
        elif not dots and (folder := _folder_of(name)) == home:
            yield line, f"{name} is a sibling: import it relatively"
        elif not dots and folder:
            yield line, f"{name} is of {folder}/, which {home}/ must not import: share it through the core"


def _core_faults(path: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    packages = path.split("/")[:-1]
    for line, dots, name in _imports(tree):
        absolute = ".".join([*packages[: len(packages) - dots + 1], name]) if dots else name
        if folder := _folder_of(absolute):
            yield line, f"the core must not import {folder}/: name it in {REGISTRY}"
    if path != REGISTRY:
        into_folder = re.compile(rf"{CORE}\.({'|'.join(FOLDERS)})\.\w[\w.:]*")
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and into_folder.fullmatch(node.value):
                yield node.lineno, f"{node.value!r} belongs into {REGISTRY}"


def map_faults(table: str) -> list[str]:
    """Return the paths in the table "question | where" that do not exist in the project or beside others of the row."""
    faults = []
    for row in re.findall(r"^\|[^|\n]*\|([^|\n]*)\|$", table, re.MULTILINE):
        names = [name for name in re.findall(r"`([^`\s]+)`", row) if name.endswith((".py", "/"))]
        named = [ROOT / name for name in names if (ROOT / name).exists()]
        beside = [path if path.is_dir() else path.parent for path in named]
        faults += [
            f"there is no {name} for:{row}"
            for name in names
            if not any((folder / name).exists() for folder in (ROOT, *beside))
        ]
    return faults


def _sources(*folders: str) -> list[tuple[str, str]]:
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return [(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")) for file in files]


def test_imports_follow_the_rule() -> None:
    sources = _sources(CORE, *FOLDERS)
    assert {path.split("/")[0] for path, _ in sources} == {CORE, *FOLDERS}
    assert [fault for path, source in sources for fault in import_faults(path, source)] == []


def test_the_table_of_places_names_existing_files() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert table.count("\n| ") > 30
    assert map_faults(table) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("solvers/milp.py", "from heuristics.baselines import Greedy"),
        ("solvers/milp.py", "from optsum.heuristics.baselines import Greedy"),
        ("solvers/milp.py", "import optsum.formulations.extractive as e"),
        ("solvers/milp.py", "from optsum import heuristics"),
        ("solvers/milp.py", "from optsum.solvers.highs import Highs"),
        ("solvers/milp.py", "from solvers.highs import Highs"),
        ("solvers/milp.py", "from ..problem import Problem"),
        ("solvers/milp.py", "from .. import problem"),
        ("solvers/backends/highs.py", "from ...problem import Problem"),
        ("heuristics/local_search.py", "def f():\n    from optsum.solvers import milp"),
        ("heuristics/local_search.py", "if TYPE_CHECKING:\n    from optsum.solvers.milp import Milp"),
        ("optsum/run.py", "from optsum.solvers.milp import Milp"),
        ("optsum/run.py", "import optsum.solvers"),
        ("optsum/run.py", "from optsum import solvers"),
        ("optsum/run.py", "from solvers import milp"),
        ("optsum/run.py", "from .solvers import milp"),
        ("optsum/run.py", "from . import heuristics"),
        ("optsum/corpus/row_files.py", "from ..heuristics import vns"),
        ("optsum/run.py", "import_module('optsum.solvers.milp')"),
        ("optsum/run.py", "NAME = 'optsum.solvers.milp:Milp'"),
        ("optsum/registry.py", "from optsum.solvers.milp import Milp"),
    ],
)
def test_a_forbidden_import_is_found(path: str, source: str) -> None:
    assert len(import_faults(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("solvers/milp.py", "from optsum.problem.problem import Problem\nfrom .highs import Highs\nimport numpy as np"),
        ("solvers/backends/highs.py", "from ..milp import Milp\nfrom .search import x\nfrom . import store"),
        ("optsum/run.py", "from optsum.problem.problem import Problem\nfrom optsum.problem.formulation import Spec"),
        ("optsum/corpus/row_files.py", "from . import topic\nfrom ..problem import Problem"),
        ("optsum/run.py", '"""See `optsum.solvers.milp` for one."""'),
        ("optsum/registry.py", "NAME = 'optsum.solvers.milp:Milp'"),
    ],
)
def test_an_allowed_import_passes(path: str, source: str) -> None:
    assert import_faults(path, source) == []


def test_a_missing_file_in_the_table_of_places_is_found() -> None:
    assert not map_faults("| where? | `optsum/text/analyzer.py`, `interned.py` beside it, in `tests/` |")
    assert map_faults("| where? | `optsum/text/stems.py` |")
    assert map_faults("| where? | `optsum/text/analyzer.py`, `ngrams.py` beside it |")
