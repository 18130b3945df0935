"""Check rules that keep the sources small and consistent, each with an example of a violation.

No module is imported by one sibling alone, a class name has one meaning, no two modules define the same names,
docstrings begin with a verb or with the name of the thing, and tests outside `tests/unit` import public names only.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from itertools import combinations

import pytest
from sources import FOLDERS, ROOT, all_sources, home_of, imported_by, imports_of, name_of, nodes_of, package_of, tree_of

pytestmark = pytest.mark.skipif(
    not all((ROOT / folder).is_dir() for folder in FOLDERS), reason="the source tree is not beside the tests"
)


OPENINGS = ("What ", "So many", "So much", "That ", "Those ", "How far", "For so", "About so")


def lone_modules(sources: dict[str, str]) -> dict[str, str]:
    """Return each module that only one other module of its folder imports, with that module.

    Modules with another reason to exist are left out: kernels, programs that other processes run, late imports of heavy
    packages (`test_late_imports.py`), and modules that the registry names.
    """
    modules = set(map(name_of, sources))
    users, at_once = defaultdict(set), set()
    for path, source in sources.items():
        lines = source.splitlines()
        for line, name in imports_of(path, source, modules):
            if name != name_of(path):
                users[name].add(name_of(path))
                if not lines[line - 1].startswith(" "):
                    at_once.add(name)
    registry = sources.get("optsum/registry.py", "")
    found = {}
    for path, source in sources.items():
        name = name_of(path)
        if path.endswith("__init__.py") or len(users[name]) != 1 or name not in at_once:
            continue
        if "@njit" in source or '__name__ == "__main__"' in source or f'"{name}:' in registry:
            continue
        (user,) = users[name]
        if user in modules and user.rpartition(".")[0] == home_of(path):
            found[name] = user
    return found


def classes_of(sources: dict[str, str]) -> dict[str, list[str]]:
    """Return the modules that define each class name."""
    found = defaultdict(list)
    for path, source in sources.items():
        for node in nodes_of(source):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(name_of(path))
    return found


def twins(sources: dict[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of modules, of at least three definitions each, that share 60 % of their names."""
    names = {}
    for path, source in sources.items():
        body = tree_of(source).body
        names[name_of(path)] = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    return [
        (one, other)
        for one, other in combinations(names, 2)
        if min(len(names[one]), len(names[other])) >= 3
        and len(names[one] & names[other]) >= 0.6 * max(len(names[one]), len(names[other]))
    ]


def odd_openings(sources: dict[str, str]) -> list[str]:
    """Return the docstrings that begin with a forbidden opening."""
    return [
        f"{path}: {doc.splitlines()[0]}"
        for path, source in sources.items()
        for node in nodes_of(source)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and (doc := ast.get_docstring(node) or "").startswith(OPENINGS)
    ]


def reach_inside(path: str, source: str) -> list[str]:
    """Return the imports of a test from the project other than `optsum` and `optsum.testing`."""
    names = [name for node in nodes_of(source) for name in _modules_of(node)]
    public = {"optsum", "optsum.testing"}
    return [f"{path}: {name}" for name in names if name.split(".")[0] in FOLDERS and name not in public]


def _modules_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """Return the text of every module of the project by path."""
    return all_sources()


def test_no_module_has_one_sibling_as_its_only_user(sources: dict[str, str]) -> None:
    assert lone_modules(sources) == {}


def test_a_class_name_means_one_thing(sources: dict[str, str]) -> None:
    assert {name: where for name, where in classes_of(sources).items() if len(where) > 1} == {}


def test_no_two_modules_define_the_same_names(sources: dict[str, str]) -> None:
    assert twins(sources) == []


def test_docstrings_open_with_a_verb_or_the_name_of_the_thing(sources: dict[str, str]) -> None:
    assert odd_openings(sources) == []


def test_tests_outside_unit_import_public_names_only() -> None:
    outside = [path for path in (ROOT / "tests").rglob("test_*.py") if "unit" not in path.relative_to(ROOT).parts]
    assert outside
    assert [each for path in outside for each in reach_inside(path.name, path.read_text(encoding="utf-8"))] == []
    assert reach_inside("t.py", "import optsum, numpy\nfrom optsum.testing import f\nfrom optsum import g") == []
    assert reach_inside("t.py", "import optsum.text\nfrom optsum.a.b import c") == [
        "t.py: optsum.text",
        "t.py: optsum.a.b",
    ]


def test_a_module_with_one_user_is_found() -> None:
    sources = {"optsum/text/a.py": "X = 1", "optsum/text/b.py": "from optsum.text.a import X"}
    assert lone_modules(sources) == {"optsum.text.a": "optsum.text.b"}
    assert lone_modules(sources | {"optsum/text/a.py": "@njit\ndef f(): ..."}) == {}
    assert lone_modules(sources | {"optsum/text/b.py": "def f():\n    from optsum.text.a import X"}) == {}
    assert lone_modules(sources | {"optsum/registry.py": 'X = "optsum.text.a:X"'}) == {}
    assert lone_modules(sources | {"optsum/registry.py": 'X = "optsum.text.ab:X"'}) != {}
    assert lone_modules(sources | {"optsum/report/c.py": "from optsum.text.a import X"}) == {}


def test_a_class_of_two_modules_is_found() -> None:
    sources = {"optsum/a.py": "class A: ...", "optsum/b.py": "def f():\n    class A: ..."}
    assert classes_of(sources) == {"A": ["optsum.a", "optsum.b"]}


def test_twins_are_found() -> None:
    same = "def a(): ...\ndef b(): ...\ndef c(): ..."
    assert twins({"optsum/a.py": same, "optsum/b.py": same + "\ndef d(): ..."}) == [("optsum.a", "optsum.b")]
    assert twins({"optsum/a.py": same, "optsum/b.py": same.replace("a()", "x()").replace("b()", "y()")}) == []


def test_an_odd_opening_is_found() -> None:
    assert odd_openings({"optsum/a.py": '"""What is here."""'}) == ["optsum/a.py: What is here."]
    assert odd_openings({"optsum/a.py": '"""Read topics."""'}) == []


GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"

ONE_OTHER = 52
"""Classes of the core that a single other package uses: the number only shrinks."""


def shared_classes(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return each class that other packages import, with those packages."""
    modules = set(map(name_of, sources))
    defined = {(module, name) for name, where in classes_of(sources).items() for module in where}
    found = defaultdict(set)
    for path, source in sources.items():
        here = package_of(name_of(path))
        for node in nodes_of(source):
            for name in imported_by(path, node) if isinstance(node, ast.ImportFrom) and here != "optsum" else ():
                module, _, item = name.rpartition(".")
                if module in modules and (module, item) in defined and package_of(module) != here:
                    found[item].add(here)
    return found


def test_the_glossary_has_each_class_that_several_packages_share(sources: dict[str, str]) -> None:
    rows = re.findall(r"^\| (\S+|[a-z ]+) \| ([^|\n]+) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    nouns = [noun for noun, meaning in rows if noun != "noun" and not set(noun) <= set("-")]
    named = {noun.strip("`") for noun in nouns if noun.startswith("`")}
    shared = shared_classes(sources)
    assert len(nouns) == len(set(nouns))
    assert all(re.fullmatch(r"[A-Z].*\.", meaning) for noun, meaning in rows if noun in nouns)
    assert {name for name, users in shared.items() if len(users) > 1} == named
    assert sum(len(users) == 1 for users in shared.values()) <= ONE_OTHER


def test_a_shared_class_is_found() -> None:
    sources = {
        "optsum/text/a.py": "class A: ...\nclass B: ...",
        "optsum/problem/b.py": "def f():\n    from optsum.text.a import A",
        "solvers/c.py": "from optsum.text.a import A, f",
        "optsum/text/d.py": "from optsum.text.a import B",
        "optsum/__init__.py": "from optsum.text.a import B",
    }
    assert shared_classes(sources) == {"A": {"problem", "solvers"}}
