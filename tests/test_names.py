"""Check that the core makes no decision by the name of a strategy or formulation; only the registry knows them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sources import nodes_of

from optsum import FORMULATIONS, STRATEGIES

ROOT = Path(__file__).resolve().parent.parent
ABOVE = ("optsum/options", "optsum/report", "optsum/running")
FIELD = "optsum/corpus"  # there, "cover" is a field of a topic, as in the documentation of formats
ELSEWHERE = {
    "optsum/cli/texts.py": "writes topics with that field",
    "optsum/report/page/write.py": "shows that field",
    "optsum/registry.py": "names it",
    "optsum/running/enumerate.py": "carries that field",
    "optsum/running/solve.py": "its default, as in its help",
    "optsum/running/one_problem.py": "its sample has that field",
    "optsum/studies": "a paper's experiment is of a formulation",
    "optsum/testing": "names of instances and families, which are no formulations",
}

pytestmark = pytest.mark.skipif(not (ROOT / "optsum").is_dir(), reason="the source tree is not beside the tests")


def named(source: str, names: set[str]) -> list[tuple[int, str]]:
    """Return the line and text of each string literal that is one of some names."""
    return [
        (node.lineno, node.value)
        for node in nodes_of(source)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
    ]


def _faults(folder: str, names: set[str]) -> list[str]:
    found = []
    for file in sorted((ROOT / folder).rglob("*.py")):
        path = file.relative_to(ROOT).as_posix()
        found += [f"{path}:{line}: {name!r}" for line, name in named(file.read_text(encoding="utf-8"), names)]
    return found


@pytest.mark.parametrize("folder", ABOVE)
def test_no_strategy_is_chosen_by_its_name(folder: str) -> None:
    assert _faults(folder, set(STRATEGIES.builtin)) == []


def test_no_formulation_is_asked_for_its_name() -> None:
    assert "cover" in FORMULATIONS.builtin
    allowed = (FIELD, *ELSEWHERE)
    assert [fault for fault in _faults("optsum", {"cover"}) if not fault.startswith(allowed)] == []


def test_a_decision_by_name_is_found() -> None:
    assert named("if strategy == 'greedy':\n    pass", {"greedy"}) == [(1, "greedy")]
    assert named('"""Holds against greedy search."""', {"greedy"}) == []
