"""Check that no module keeps state, so that two runs in one process cannot affect each other.

Caches (`lru_cache`) of functions that always give the same answer are not state. The allowed exceptions are facts of
the process itself: its compiled kernels, its child processes, its terminal. They are in `optsum/system/`, or named
here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from sources import FOLDERS, ROOT, all_sources, tree_of

SYSTEM = "optsum/system/"  # state of the process itself: its clock, its kernels, its child processes
FACTS = {
    "optsum/problem/formulation.py: _served": "what was found to be served is not looked at again",
    "optsum/report/messages.py: _shown": "the terminal has one bar",
    "optsum/report/messages.py: _quiet": "whether the process says nothing but errors",
    "optsum/running/workers.py: _interrupts": "a signal is the process's, and ends what it works on",
    "optsum/running/one_problem.py: _ready": "what the process has compiled and loaded",
    "solvers/backends/cpsat.py: _CHILD": "the process that is started for a solver, and ends with this one",
}

_CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert"),
    *("pop", "popitem", "popleft", "remove", "setdefault", "update"),
}

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in FOLDERS), reason="the source tree is not beside the tests"
)


def state_of(source: str) -> set[str]:
    """Return the names of a module under which it keeps something that changes."""
    tree = tree_of(source)
    own = {target.id for target in _targets(tree) if isinstance(target, ast.Name)}
    changing = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and _changes_itself(node)}
    made = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _called(statement.value) in changing
        for target in _targets(ast.Module([statement], []))
        if isinstance(target, ast.Name)
    }
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    changed = {name for function in functions for name in _changed(function) if name in own}
    return made | changed | {function.name for function in functions if _happens_once(function)}


def _targets(tree: ast.Module) -> Iterator[ast.expr]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            yield from statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            yield statement.target


def _called(value: ast.expr | None) -> str | None:
    return value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else None


def _changes_itself(kind: ast.ClassDef) -> bool:
    """Whether a method other than ``__init__`` sets a field of the object."""
    methods = (node for node in kind.body if isinstance(node, ast.FunctionDef) and node.name != "__init__")
    return any("self" in _changed(method, fields=True) for method in methods)


def _changed(function: ast.AST, *, fields: bool = False) -> Iterator[str]:
    """Yield the names whose contents a function changes, or which it binds by `global`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            yield from _root(node.func.value, fields)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield from _root(node.value, fields)


def _root(value: ast.expr, fields: bool) -> Iterator[str]:
    """Yield the variable that an item belongs to; with `fields`, also that of an attribute."""
    while isinstance(value, ast.Subscript) or (fields and isinstance(value, ast.Attribute)):
        value = value.value
    if isinstance(value, ast.Name):
        yield value.id


def _happens_once(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function without a return value is cached, which means that the module remembers the call."""
    remembered = any(re.match("(lru_)?cache", ast.unparse(mark)) for mark in function.decorator_list)
    return remembered and isinstance(function.returns, ast.Constant) and function.returns.value is None


def test_modules_keep_nothing_but_facts_of_the_process() -> None:
    found = {f"{path}: {name}" for path, source in all_sources().items() for name in state_of(source)}
    assert {each for each in found if not each.startswith(SYSTEM)} - set(FACTS) == set()


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("_seen = []\ndef see(it):\n    _seen.append(it)", {"_seen"}),
        ("_seen = {}\ndef see(it):\n    _seen[it] = 1", {"_seen"}),
        ("_seen = 0\ndef see():\n    global _seen\n    _seen += 1", {"_seen"}),
        ("class Seen:\n    def see(self, it):\n        self.it = it\n\n_SEEN = Seen()", {"_SEEN"}),
        ("class Seen:\n    def see(self, it):\n        self.all.append(it)\n\n_SEEN = Seen()", {"_SEEN"}),
        ("@cache\ndef say() -> None:\n    print('once')", {"say"}),
        ("@cache\ndef twice(number: int) -> int:\n    return 2 * number", set()),
        ("_KNOWN = {}\ndef see():\n    _known = []\n    _known.append(_KNOWN)", set()),
        ("class Seen:\n    def __init__(self):\n        self.it = 0\n\n_SEEN = Seen()", set()),
    ],
)
def test_state_is_found(source: str, kept: set[str]) -> None:
    assert state_of(source) == kept
