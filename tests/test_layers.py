"""Check the order of the packages and that imports have no cycle, late imports included, on the syntax trees.

A package may import those before it in `LAYERS`. Packages of the same layer may not import each other.
"""

from __future__ import annotations

import graphlib

import pytest
from sources import FOLDERS, ROOT, all_sources, imports_of, name_of, package_of

LAYERS = (
    {"_version", "errors"},
    {"whole"},
    {"plugins", "system"},
    {"chunks", "coverage", "text"},
    {"optima"},
    {"metrics", "program"},
    {"corpus"},
    {"problem"},
    {"contracts"},
    {"registry"},
    {"formulations", "heuristics", "solvers"},
    {"options"},
    {"running"},
    {"exchange", "report", "testing"},
    {"experiments", "studies"},
    {"cli", "optsum"},
    {"__main__"},
)
RANK = {name: level for level, names in enumerate(LAYERS) for name in names}

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in FOLDERS), reason="the source tree is not beside the tests"
)


def layer_faults(path: str, source: str, modules: set[str]) -> list[str]:
    """Return the imports of a file from its own layer or a higher one."""
    here = package_of(name_of(path))
    return [
        f"{path}:{line}: {here}/ stands below {there} and must not import it"
        for line, name in imports_of(path, source, modules)
        if (there := package_of(name)) != here and RANK[there] >= RANK[here]
    ]


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """Return the text of every module of the project by path."""
    return all_sources()


def test_every_package_has_its_layer(sources: dict[str, str]) -> None:
    assert {package_of(name_of(path)) for path in sources} == set(RANK)


def test_imports_keep_the_order_of_the_layers(sources: dict[str, str]) -> None:
    modules = set(map(name_of, sources))
    assert [fault for path, source in sources.items() for fault in layer_faults(path, source, modules)] == []


def test_no_module_imports_itself_by_way_of_others(sources: dict[str, str]) -> None:
    modules = set(map(name_of, sources))
    graph = {
        name_of(path): {name for _, name in imports_of(path, source, modules)} - {name_of(path), "optsum"}
        for path, source in sources.items()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises a CycleError that names the cycle


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("optsum/text/stemmers.py", "from optsum.metrics.rouge import count"),
        ("optsum/text/stemmers.py", "def late():\n    import optsum.problem.problem"),
        ("optsum/text/stemmers.py", "if TYPE_CHECKING:\n    from optsum.corpus import topic"),
        ("optsum/text/stemmers.py", "from ..coverage import instance"),  # a package of the same layer
        ("solvers/milp.py", "from optsum.running.search import search"),
    ],
)
def test_an_import_against_the_order_is_a_fault(path: str, source: str) -> None:
    modules = {"optsum"} | {f"optsum.{name}" for name in RANK if name != "optsum"}
    assert layer_faults(path, source, modules)
    assert not layer_faults(path, "from optsum.errors import InputError\nfrom . import sibling", modules)


def test_a_circle_is_a_fault() -> None:
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
