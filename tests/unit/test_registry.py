"""Test the registry of built-in and third-party parts: names, options, broken plug-ins."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from optsum.contracts.strategy import Strategy
from optsum.errors import OptionError, UnknownNameError
from optsum.metrics.rouge import METRICS
from optsum.plugins import Registry
from optsum.registry import BACKENDS, FORMULATIONS, STRATEGIES

PLUGIN = '''
from dataclasses import dataclass
from typing import ClassVar
from optsum.contracts.strategy import Strategy

@dataclass(frozen=True)
class Nothing(Strategy):
    """Looks at the empty selection alone."""
    patience: int = 3
    name: ClassVar[str] = "nothing"
    about: ClassVar[str] = "the empty selection"
    def search(self, run):
        run.see(())

class Other:
    pass

def function():
    pass
'''

ENTRIES = """[optsum.strategies]
nothing = {module}:Nothing
milp = {module}:Nothing
broken = {module}_that_is_missing:Nothing
absent = {module}:Nowhere
wrong = {module}:Other
callable = {module}:function
"""


def install(folder: Path, name: str, entries: str = ENTRIES) -> None:
    """Install a distribution into a folder, as pip does."""
    (folder / f"{name}.py").write_text(PLUGIN, encoding="utf-8")
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entries.format(module=name), encoding="utf-8")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path, "optsum_plugin_one")
    importlib.invalidate_caches()
    return tmp_path


def registry() -> Registry[Strategy]:
    """Return a new registry, because the real ones read the entry points only once."""
    return Registry(STRATEGIES.kind, STRATEGIES.builtin, STRATEGIES.group, STRATEGIES.base)


@pytest.mark.parametrize("names", [STRATEGIES, FORMULATIONS, BACKENDS], ids=["strategies", "formulations", "backends"])
def test_everything_built_in_can_be_loaded_and_says_what_it_is(names: Registry[object]) -> None:
    base = importlib.import_module(names.base.partition(":")[0])
    for name in names.builtin:
        loaded = names.load(name)
        assert issubclass(loaded, getattr(base, names.base.partition(":")[2]))
        assert loaded.name == name
        about = loaded.about
        assert about
        assert "\n" not in about


def test_the_built_in_ones_are_there() -> None:
    assert {"milp", "exhaustive", "greedy", "lead", "random"} <= set(STRATEGIES)
    assert "extractive" in FORMULATIONS.names()
    assert "highs" in BACKENDS.names()


def test_listing_names_imports_nothing_heavy() -> None:
    code = (
        "import sys, json; from optsum.registry import STRATEGIES, BACKENDS, FORMULATIONS;"
        "names = [*STRATEGIES, *BACKENDS, *FORMULATIONS];"
        "print(json.dumps([m for m in ('numpy', 'numba', 'highspy', 'pyomo') if m in sys.modules]))"
    )
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(output) == []


def test_a_third_party_s_strategy_is_found_and_used(plugins: Path) -> None:
    with pytest.warns(UserWarning, match="'milp' of optsum_plugin_one:Nothing is left out: that name is taken"):
        names = registry().names()
    assert names[: len(STRATEGIES.builtin)] == list(STRATEGIES.builtin)
    assert names.count("milp") == 1
    with pytest.warns(UserWarning, match="left out"):
        loaded = registry().load("nothing")
    assert loaded.name == "nothing"


@pytest.mark.filterwarnings("ignore:The strategy 'milp'")
@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("broken", "strategy broken of optsum_plugin_one_that_is_missing:Nothing cannot be imported: ModuleNotFound"),
        ("absent", "strategy absent of optsum_plugin_one:Nowhere cannot be imported: AttributeError"),
        (
            "wrong",
            r"strategy wrong of optsum_plugin_one:Other cannot be used: it is not a subclass of optsum\.contracts",
        ),
        ("callable", "callable of optsum_plugin_one:function cannot be used"),
    ],
)
def test_a_broken_plug_in_is_an_error_only_when_it_is_used(plugins: Path, name: str, match: str) -> None:
    found = registry()
    assert name in found.names()
    assert found.load("greedy").name == "greedy"
    with pytest.raises(OptionError, match=match):
        found.load(name)


@pytest.mark.filterwarnings("ignore:The strategy 'milp'")
def test_a_name_that_two_third_parties_claim_goes_to_the_first(plugins: Path) -> None:
    install(plugins, "optsum_plugin_two", "[optsum.strategies]\nnothing = {module}:Nothing\nmore = {module}:Nothing\n")
    importlib.invalidate_caches()
    with pytest.warns(UserWarning, match="The strategy 'nothing' of optsum_plugin_[a-z]*:Nothing is left out"):
        names = registry().names()
    assert names.count("nothing") == 1
    assert "more" in names


def test_unknown_names_list_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="there is no strategy 'exaustive'; did you mean exhaustive") as error:
        STRATEGIES.load("exaustive")
    assert isinstance(error.value, LookupError)
    with pytest.raises(UnknownNameError, match="there is no backend 'zzz'; known: highs"):
        BACKENDS.load("zzz")


def test_options_of_a_strategy() -> None:
    assert STRATEGIES.create("milp", {"backend": "pyomo:highs"}).backend_name == "pyomo:highs"
    assert STRATEGIES.create("greedy", {}) == STRATEGIES.create("greedy", {})
    with pytest.raises(UnknownNameError, match="no option 'bakend' of the strategy milp; did you mean backend"):
        STRATEGIES.create("milp", {"bakend": "highs"})
    with pytest.raises(UnknownNameError, match="no option 'name' of the strategy greedy"):
        STRATEGIES.create("greedy", {"name": "milp"})


def test_only_fields_are_options() -> None:
    """Test a class variable, which dataclasses list among their fields although it is no option."""
    with pytest.raises(UnknownNameError, match="no option 'about' of the strategy milp"):
        STRATEGIES.create("milp", {"about": "x"})


def test_a_source_tree_that_is_not_installed_says_so(project_root: Path) -> None:
    """Test a checkout, where the core can be imported from the current folder but the folders beside it cannot."""
    code = (
        "import sys; sys.meta_path = [each for each in sys.meta_path if 'editable' not in repr(each)]\n"
        "import optsum\n"
        "optsum.solve({'id': 't', 'documents': [['a b']], 'references': [['a']]}, max_length=3, flat='sentences')"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project_root, capture_output=True, text=True, check=False, env=environment
    )
    said = done.stderr.splitlines()[-1]
    assert "a source tree without optsum." in said
    assert "start it from another folder, or install that tree" in said


def test_a_family_is_asked_for_names_that_nothing_lists() -> None:
    highs = BACKENDS.load("pyomo:appsi_highs")
    assert (highs.name, highs.access) == ("pyomo:appsi_highs", "pyomo")
    assert "pyomo:appsi_highs" not in BACKENDS.names()
    assert BACKENDS.load("pyomo:highs").__name__ == "PyomoHighs"  # a listed name takes precedence
    with pytest.raises(OptionError, match="after the colon"):
        BACKENDS.load("pyomo:")


@pytest.mark.parametrize(
    ("registry", "base", "fault"),
    [
        (STRATEGIES, "Strategy", "does not define search, as a strategy must"),
        (FORMULATIONS, "Formulation", "does not define build, as a formulation must"),
        (METRICS, "Metric", "does not define keys, as a metric must"),
        (METRICS, "Metric", 'has no form: set form = "..." in the class'),
    ],
)
def test_a_class_without_a_method_is_refused(registry: Any, base: str, fault: str, tmp_path: Path) -> None:
    place, method = tmp_path / "own.py", "\n    def keys(self, tokens):\n        return tokens" * ("form" in fault)
    name = "" if method else '\n    name = form = "own"'
    place.write_text(f'import optsum\n\nclass Own(optsum.{base}):\n    about = "own"{name}{method}\n')
    with pytest.raises(OptionError, match=re.escape(f"own.py:Own cannot be used: it {fault}")):
        registry.load(f"{place}:Own")


def test_a_class_without_a_name_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "own.py"
    place.write_text("import optsum\n\nclass Own(optsum.Strategy):\n    def search(self, run):\n        run.see(())\n")
    with pytest.raises(
        OptionError, match=r"own\.py:Own cannot be used: it has no name: set name = \"\.\.\.\" in the class"
    ):
        STRATEGIES.load(f"{place}:Own")
