"""Check the lists of packages, data files and dependencies against the sources, and the contents of the wheel."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from fnmatch import fnmatch
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import api
import pytest
from oldest import oldest, pins
from sources import nodes_of

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"optsum": "optsum", "formulations": "optsum.formulations", "heuristics": "optsum.heuristics",
           "solvers": "optsum.solvers"}  # fmt: skip

if not (ROOT / "pyproject.toml").is_file():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PROJECT["tool"]["setuptools"]

NAMED_OTHERWISE = {"pysat": "python-sat", "pydantic_core": "pydantic"}
"""Import name -> name of the distribution."""

in_wheel = pytest.mark.skipif(
    os.environ.get("OPTSUM_WHEEL") != "1", reason="only `make test` runs the tests against a wheel"
)


def packages_in(root: Path, folders: Mapping[str, str]) -> dict[str, Path]:
    """Return the import name and folder of every package below `folders`, which maps folders to import names."""
    return {
        ".".join([name, *init.parent.relative_to(root / folder).parts]): init.parent
        for folder, name in folders.items()
        for init in sorted((root / folder).rglob("__init__.py"))
    }


def data_faults(packages: Mapping[str, Path], patterns: Mapping[str, list[str]]) -> list[str]:
    """Return data files that no pattern matches, and patterns that match no file."""
    faults = []
    for name, folder in packages.items():
        wanted = patterns.get(name, [])
        data = [file.name for file in folder.iterdir() if file.is_file() and file.suffix != ".py"]
        faults += [f"{name}: no pattern names {file}" for file in data if not _matches(file, wanted)]
        faults += [f"{name}: {pattern} names no file" for pattern in wanted if not _matching(data, pattern)]
    return faults + [f"{name} is no package" for name in patterns if name not in packages]


def _matches(file: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(file, pattern) for pattern in patterns)


def _matching(files: Iterable[str], pattern: str) -> list[str]:
    return [file for file in files if fnmatch(file, pattern)]


def imported_in(source: str) -> set[str]:
    """Return the top-level names of all absolute imports of a module, those in functions included."""
    found: set[str] = set()
    for node in nodes_of(source):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_the_package_list_is_the_tree() -> None:
    listed, there = set(SETUPTOOLS["packages"]), set(packages_in(ROOT, FOLDERS))
    assert (there - listed, listed - there) == (set(), set()), "not listed in pyproject.toml, or listed but not there"
    assert {name: folder for folder, name in FOLDERS.items()} == SETUPTOOLS["package-dir"]


def test_data_patterns_are_the_data() -> None:
    assert data_faults(packages_in(ROOT, FOLDERS), SETUPTOOLS["package-data"]) == []


def declared(extras: bool) -> set[str]:
    """Return the names of the default dependencies, or with those of the extras for users."""
    found = [*PROJECT["project"]["dependencies"]]
    for extra, requirements in PROJECT["project"]["optional-dependencies"].items():
        found += requirements if extras and extra not in {"dev", "docs"} else []
    return {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in found}


def imported_below(place: Path) -> set[str]:
    files = place.rglob("*.py") if place.is_dir() else [place]
    names = {name for file in files for name in imported_in(file.read_text(encoding="utf-8"))}
    return {NAMED_OTHERWISE.get(name, name) for name in names}


def test_every_import_is_declared() -> None:
    imported = set().union(*(imported_below(ROOT / folder) for folder in FOLDERS))
    assert imported - set(sys.stdlib_module_names) - declared(extras=True) == {"optsum"}


def test_what_is_installed_by_default_is_imported_and_documented() -> None:
    page = (ROOT / "docs" / "reference" / "packages.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w-]+) \| ([\d.]+) \| .* \| `(.*)` \|$", page, re.MULTILINE)
    pinned = map(oldest, PROJECT["project"]["dependencies"])
    assert sorted(f"{name}=={bound}" for name, bound, _ in rows) == sorted(pinned)
    assert [name for name, _, place in rows if name not in imported_below(ROOT / place)] == []


def test_extras_are_documented() -> None:
    page = (ROOT / "docs" / "reference" / "packages.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w, -]+) \|", page, re.MULTILINE))
    extras = PROJECT["project"]["optional-dependencies"]
    assert rows == {
        extra: ", ".join(re.split(r"[^\w.-]", requirement)[0] for requirement in requirements)
        for extra, requirements in extras.items()
        if extra not in {"dev", "docs"}
    }


def test_missing_packages_patterns_and_imports_are_found(tmp_path: Path) -> None:
    for folder in ("core", "core/part", "side"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "core" / "data.txt").touch()
    packages = packages_in(tmp_path, {"core": "p", "side": "p.side"})
    assert sorted(packages) == ["p", "p.part", "p.side"]
    assert data_faults(packages, {}) == ["p: no pattern names data.txt"]
    assert data_faults(packages, {"p": ["*.txt", "*.csv"]}) == ["p: *.csv names no file"]
    assert data_faults(packages, {"p": ["*.txt"], "q": ["*"]}) == ["q is no package"]
    assert data_faults(packages, {"p": ["*.txt"]}) == []
    assert imported_in("import a.b\nfrom c.d import e\nfrom . import f\ndef g():\n    import h") == {"a", "c", "h"}


@in_wheel
@pytest.mark.parametrize("package", sorted(SETUPTOOLS["packages"]))
def test_the_tests_see_the_installed_package(package: str) -> None:
    file = Path(import_module(package).__file__ or "")
    assert "site-packages" in file.parts
    assert ROOT not in [folder.resolve() for folder in map(Path, sys.path)]
    assert file == Path(str(distribution("optsum").locate_file(package.replace(".", "/")))) / "__init__.py"


@in_wheel
def test_other_processes_see_the_installed_package() -> None:
    code = "import optsum; print(optsum.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "site-packages" in Path(done.stdout).parts


@in_wheel
def test_the_wheel_holds_every_file() -> None:
    sources = {
        f"{name.replace('.', '/')}/{file.name}"
        for name, folder in packages_in(ROOT, FOLDERS).items()
        for file in folder.iterdir()
        if file.is_file()
    }
    installed = {str(file) for file in distribution("optsum").files or () if file.suffix != ".pyc"}
    inside = {file for file in installed if file.startswith("optsum/")}
    assert inside == sources
    assert any(file.endswith("licenses/LICENSE") for file in installed)


def test_the_version_is_the_same_everywhere() -> None:
    from optsum import __version__

    if os.environ.get("OPTSUM_WHEEL") == "1":  # an editable install keeps the version of the time when it was made
        assert distribution("optsum").version == __version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{__version__}]" in changes or "## [Unreleased]" in changes
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == __version__


def test_the_public_api_is_that_of_api_txt() -> None:
    frozen, found = (text.splitlines() for text in (api.FILE.read_text(encoding="utf-8"), api.text()))
    changed = "\n".join(line for line in unified_diff(frozen, found, "tests/api.txt", "optsum", lineterm="", n=0))
    assert not changed, (
        f"The public API changed:\n{changed}\nIf that is meant: a line in CHANGELOG.md, as docs/reference/stability.md "
        "has it, then `python tests/support/api.py`."
    )


def test_a_changed_signature_is_seen() -> None:
    class One:
        def do(self, first: int, *, second: str = "a") -> None: ...

    class Other:
        def do(self, first: int, *, second: str = "b") -> None: ...

    assert api.signature(One.do) == "(self, first: int, *, second: str = 'a') -> None"
    assert api.signature(One.do) != api.signature(Other.do)
    assert any(line.startswith("optsum.solve(topic: ") for line in api.lines())
    assert "class optsum.Status(StrEnum)" in api.lines()
    assert "Keywords.min_length: int | None" in api.lines()


def test_workflows_and_hooks_call_existing_targets() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    workflows = "".join(file.read_text(encoding="utf-8") for file in (ROOT / ".github" / "workflows").glob("*.yml"))
    called = set(re.findall(r"\bmake ([a-z-]+)", "\n".join(re.findall(r"run: (.*)", workflows))))
    assert {"test", "test-oldest", "dist"} <= called <= targets
    supported = re.findall(r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (matrix,) = re.findall(r"python: \[(.*)\]", workflows)
    assert re.findall(r"3\.\d+", matrix) == supported
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert [file for file in re.findall(r"tests/\S+\.py", hooks) if not (ROOT / file).is_file()] == []


def test_the_recipe_of_conda_and_the_image_ask_for_what_the_project_does() -> None:
    from optsum import __version__

    recipe = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.partition("\n  run:\n")[2].partition("\n\n")[0]
    wanted = [re.sub(r"^([\w.-]+)", r"\1 ", each) for each in PROJECT["project"]["dependencies"]]
    assert [line.strip(" -") for line in run.splitlines()] == ["python >=3.11", *wanted]
    assert f'set version = "{__version__}"' in recipe
    extras = re.search(r"\[([\w,]+)\]\"", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["project"]["optional-dependencies"])


def test_every_dependency_has_a_lower_bound() -> None:
    pinned = pins()
    assert {"numpy==1.26", "pyarrow==15", "dask==2024.5", "scipy==1.15"} <= set(pinned)
    assert len({each.partition("==")[0] for each in pinned}) == len(pinned), "two bounds of one package"
    assert oldest("pyomo>=6.10,<6.11") == "pyomo==6.10"
    with pytest.raises(ValueError, match="no lower bound"):
        oldest("numpy")


def test_the_sdist_holds_what_its_tests_need() -> None:
    lines = [line.split() for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()]
    named = {name for command, *names in lines if command in {"include", "graft"} for name in names}
    assert [name for name in named if not (ROOT / name).exists()] == []
    brought = {*FOLDERS, "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml"}
    programs = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py")]
    used = {name for program in programs for name in re.findall(r'ROOT / "(\w[\w.-]*)', program)}
    assert {"docs", "examples", "Makefile"} <= used
    assert used - named - brought <= {"core", "side", "site"}
