"""Check that an import inside a function spares those who do not call it something heavy.

Modules that are loaded anyway are imported at the top. A late import brings in a third-party package (numba, numpy, a
solver) or kernels, or serves one command of many; any other states its reason in a comment.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import pytest
from sources import FOLDERS, ROOT, all_sources, imported_by, module_of, name_of, tree_of

COMMANDS = "optsum/cli/"  # --help imports all commands, so each imports its dependencies when it is called

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in FOLDERS), reason="the source tree is not beside the tests"
)


def late_faults(sources: dict[str, str]) -> list[str]:
    """Return the imports in functions that have no reason."""
    modules = {name_of(path) for path in sources}
    at_once = {name_of(path): set(_at_once(path, source, modules)) for path, source in sources.items()}
    for name in modules:
        parts = name.split(".")
        at_once[name] |= {".".join(parts[:count]) for count in range(1, len(parts))} & modules
    kernels = {name_of(path) for path, source in sources.items() if "\n@njit" in source}
    found = []
    for path, source in sources.items():
        has, lines = _loaded({name_of(path)}, at_once), source.splitlines()
        for node in _late(tree_of(source)):
            wanted = {_shortened(name, modules) for name in imported_by(path, node)}
            if "  # " in lines[node.lineno - 1].replace("  # noqa", ""):
                continue
            for name in sorted(wanted):
                brought = _loaded({name}, at_once) - has
                heavy = _of_others(brought) or brought & kernels or path.startswith(COMMANDS)
                if name in has or (name in modules and not heavy):
                    why = "is loaded anyway" if name in has else "brings nothing heavy"
                    found.append(f"{path}:{node.lineno}: {name} {why}: import it where the module begins, or say why")
    return found


def _at_once(path: str, source: str, modules: set[str]) -> Iterator[str]:
    """Yield the modules that are imported when a module is, before any of its functions runs."""
    waiting: list[ast.AST] = [tree_of(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (_shortened(name, modules) for name in imported_by(path, node))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _late(tree: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    inside = (node for function in functions for node in ast.walk(function))
    return list(dict.fromkeys(node for node in inside if isinstance(node, ast.Import | ast.ImportFrom)))


def _shortened(name: str, modules: set[str]) -> str:
    """Return the module of the project, or the third-party package, that a dotted name belongs to."""
    first = name.split(".", maxsplit=1)[0]
    return module_of(name, modules) if first == "optsum" else first


def _loaded(names: set[str], at_once: dict[str, set[str]]) -> set[str]:
    """Return all modules that are loaded with the given ones."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += at_once.get(name, ())
    return found


def _of_others(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] not in {"optsum", *sys.stdlib_module_names}}


def test_imports_in_functions_have_a_reason() -> None:
    assert late_faults(all_sources()) == []


@pytest.mark.parametrize(
    ("late", "fault"),
    [
        ("from optsum.b import name", True),  # a is loaded with b anyway
        ("from optsum.light import name", True),
        ("from optsum.light import name  # which b would import in turn", False),
        ("from optsum.heavy import name", False),
        ("import numba", False),
        ("import json", True),
    ],
)
def test_a_late_import_without_a_reason_is_found(late: str, fault: bool) -> None:
    sources = {
        "optsum/a.py": f"import json\nfrom optsum.b import other\n\ndef work():\n    {late}\n",
        "optsum/b.py": "if TYPE_CHECKING:\n    from optsum.heavy import name\n",
        "optsum/light.py": "import re\n",
        "optsum/heavy.py": "import numba\n",
        "optsum/__init__.py": "",
    }
    assert bool(late_faults(sources)) is fault
