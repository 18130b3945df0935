"""Check that modules exchange values by fields and types, not by keys of `statistics` or `extra`, made for people."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from sources import FOLDERS, ROOT, all_sources, nodes_of

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in FOLDERS), reason="the source tree is not beside the tests"
)


def key_faults(path: str, source: str) -> list[str]:
    """Return the reads of `statistics` or `extra` by a key that the module does not write itself."""
    nodes = nodes_of(source)
    written = {(holder, key) for node in nodes for holder, key, stored in _keys(node) if stored}
    return [
        f"{path}:{node.lineno}: [{key!r}] is somebody else's: make it a field or property of what has them"
        for node in nodes
        for holder, key, stored in _keys(node)
        if not stored and (holder, key) not in written and isinstance(node, ast.expr)
    ]


def _keys(node: ast.AST) -> Iterator[tuple[str, str, bool]]:
    """Yield the holder, the key, and whether it is written; plain variables are left out when they are read."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        if _named(node.value) and not isinstance(node.ctx, ast.Load):
            yield ast.unparse(node.value), str(node.slice.value), True
        elif isinstance(node.value, ast.Attribute) and _named(node.value):
            yield ast.unparse(node.value), str(node.slice.value), False
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith((".statistics.get", ".extra.get")):
        holder = ast.unparse(node.func).removesuffix(".get")
        yield from ((holder, key.value, False) for key in node.args[:1] if isinstance(key, ast.Constant))
    elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
        for asked in node.comparators:
            if isinstance(asked, ast.Attribute) and _named(asked):
                yield ast.unparse(asked), str(node.left.value), False


def _named(value: ast.AST) -> bool:
    return (value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")) in {"statistics", "extra"}


def test_no_module_reads_keys_that_another_writes() -> None:
    sources = all_sources()
    # The properties of these classes are the typed access to the keys.
    own = {f"optsum/{name}.py" for name in ("optima/optima", "contracts/result")}
    assert [fault for path, source in sources.items() if path not in own for fault in key_faults(path, source)] == []
    assert all(key_faults(path, sources[path]) for path in own)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("nodes = optima.statistics['nodes']", True),
        ("nodes = optima.statistics.get('nodes', 0)", True),
        ("run.statistics['rounds'] = 0\nrun.statistics['rounds'] = run.statistics['rounds'] + 1", False),
        ("statistics = {'solve_s': 1}\nanswer(statistics['solve_s'])", False),
        ("run.statistics.update(found.statistics)", False),
        ("steps = result.extra['frontier']['steps']", True),
        ("steps = result.extra.get('frontier')", True),
        ("statistics['estimate_s'] = sum(one.statistics.get('estimate_s', 0) for one in results)", True),
        ("statistics['nodes'] = 1\nlong = 'nodes' in result.statistics", True),
    ],
)
def test_a_read_of_another_module_s_key_is_found(source: str, fault: bool) -> None:
    assert bool(key_faults("a.py", source)) is fault
