"""Read the modules of the project as text and by name, for tests of their imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("optsum", "formulations", "heuristics", "solvers")


@lru_cache(maxsize=400)
def tree_of(source: str) -> ast.Module:
    """Return the syntax tree of a module, cached, because a dozen tests need them all and parsing takes two seconds."""
    return ast.parse(source)


@lru_cache(maxsize=400)
def nodes_of(source: str) -> list[ast.AST]:
    """Return all nodes of the syntax tree of a module, cached as the tree is."""
    return list(ast.walk(tree_of(source)))


@lru_cache(maxsize=1)
def all_sources() -> dict[str, str]:
    """Return the text of every module of the project by path."""
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def name_of(path: str) -> str:
    """Return the dotted name under which a file of the project is imported."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(parts if parts[0] == "optsum" else ["optsum", *parts])


def home_of(path: str) -> str:
    """Return the dotted name of the package that contains a file of the project."""
    name = name_of(path)
    return name if path.endswith("__init__.py") else name.rpartition(".")[0]


def package_of(name: str) -> str:
    """Return the first component below `optsum` of a dotted name: a package, or a module beside the packages."""
    return [*name.split("."), "optsum"][1]


def imports_of(path: str, source: str, modules: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and module of each import of the project in a file, those in functions included."""
    for line, name in _names_imported(path, source):
        yield line, module_of(name, modules)


@lru_cache(maxsize=400)
def _names_imported(path: str, source: str) -> list[tuple[int, str]]:
    return [
        (node.lineno, name)
        for node in nodes_of(source)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imported_by(path, node)
        if name.split(".")[0] == "optsum"
    ]


def imported_by(path: str, node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the dotted names that an import statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    home = home_of(path).split(".")
    above = home[: len(home) - node.level + 1] if node.level else []
    start = ".".join([*above, *([node.module] if node.module else [])])
    return [f"{start}.{alias.name}" for alias in node.names]


def module_of(name: str, modules: set[str]) -> str:
    """Return the module that a dotted name is, or that contains it."""
    while name not in modules:
        name = name.rpartition(".")[0] or "optsum"
    return name
