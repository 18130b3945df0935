"""Nothing is compiled inside a search: every kernel that it reaches is there when its clock starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from every_formulation import BUDGETS, strategies_for
from every_formulation import OBJECTIVES as COMMON

SCRIPT = Path(__file__).parents[1] / "support" / "cold_search.py"

OBJECTIVES = COMMON | {
    "rouge-l": {"metric": "rouge-l", "max_length": 20},
}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


MOST = {
    "milp": 7,
    "exhaustive": 13,
    "branch-and-bound": 26,
    "greedy": 33,
    "vns": 36,
    "genetic": 36,
}
"""Kernels that a strategy's compiled search of one ratio enters from Python: each takes .1 to 3 s in a cold process."""


def told(cells: list[tuple[str, str]], *words: str, **environment: str) -> dict[tuple[str, str], list[str]]:
    """Return for each strategy and objective what only the search compiled or loaded, or what the words ask for."""
    given = [(strategy, {**OBJECTIVES[objective], **BUDGETS.get(strategy, {})}) for strategy, objective in cells]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *words, json.dumps(given)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": str(SCRIPT.parent),
            **environment,
        },  # under PYTHONSAFEPATH a script does not find its neighbours
    )
    assert done.returncode == 0, done.stderr
    return {cell: found for cell, found in zip(cells, json.loads(done.stdout), strict=True) if found}


@pytest.mark.parametrize(
    ("strategy", "objective"),
    [("greedy", "f1"), ("vns", "recall"), ("exhaustive", "recall"), ("branch-and-bound", "recall"), ("milp", "f1")],
)
def test_a_warm_search_loads_no_kernel(strategy: str, objective: str) -> None:
    assert told([(strategy, objective)]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_search_compiles_or_loads_a_kernel(objective: str) -> None:
    """The whole matrix. Where kernels are kept from earlier runs, loading one in the search shows what was left out."""
    assert told([(strategy, objective) for strategy in strategies_for(objective)]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["recall", "f1"])
def test_a_strategy_has_one_kernel_of_each_kind_and_few_in_all(objective: str) -> None:
    """A literal, or an array that is read-only or not contiguous, makes a second kernel, of which nobody is told."""
    found = told([(strategy, objective) for strategy in MOST], "--held", OPTSUM_PATIENCE="0")
    assert len(found) == len(MOST)
    for (strategy, _), kernels in found.items():
        names = [kernel.partition("(")[0] for kernel in kernels]
        assert [name for name, times in Counter(names).items() if times > 1] == []
        assert len(names) <= MOST[strategy], (strategy, names)
