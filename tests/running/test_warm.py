"""Nothing is compiled inside a search: every kernel that it reaches is there when its clock starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from optsum.registry import STRATEGIES

SCRIPT = Path(__file__).parents[1] / "support" / "cold_search.py"

OBJECTIVES: dict[str, dict[str, Any]] = {
    "recall": {"max_length": 20},
    "window": {"max_length": 20, "min_length": 15},
    "f1": {"measure": "f1"},
    "set f1": {"measure": "f1", "counts": "set", "max_length": 20},
    "sum of f1": {"metric": "rouge-1+rouge-2", "measure": "f1", "max_length": 20},
    "mean f1": {"measure": "f1", "references": "mean", "max_length": 20},
    "joined": {"metric": "rouge-2", "boundaries": "joined", "max_length": 20},
    "joined f1": {"metric": "rouge-2", "boundaries": "joined", "measure": "f1", "max_length": 20},
    "rouge-l": {"metric": "rouge-l", "max_length": 20},
    "compressive": {"formulation": "compressive", "metric": "rouge-2", "max_length": 20},
    "cover": {"formulation": "cover"},
}
BUDGETS: dict[str, dict[str, Any]] = {
    "vns-paper": {"strategy_options": ["iterations=60"]},
    "vns-paper+greedy": {"strategy_options": ["iterations=60"]},
}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


def reached(cells: list[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return for each strategy and objective what only the search compiled or loaded."""
    given = [(strategy, {**OBJECTIVES[objective], **BUDGETS.get(strategy, {})}) for strategy, objective in cells]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), json.dumps(given)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {cell: found for cell, found in zip(cells, json.loads(done.stdout), strict=True) if found}


@pytest.mark.parametrize(
    ("strategy", "objective"),
    [("greedy", "f1"), ("vns", "recall"), ("exhaustive", "recall"), ("branch-and-bound", "recall"), ("milp", "f1")],
)
def test_a_warm_search_loads_no_kernel(strategy: str, objective: str) -> None:
    assert reached([(strategy, objective)]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_search_compiles_or_loads_a_kernel(objective: str) -> None:
    """The whole matrix. Where kernels are kept from earlier runs, loading one in the search shows what was left out."""
    assert reached([(strategy, objective) for strategy in STRATEGIES.names()]) == {}
