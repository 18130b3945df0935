"""Nothing is compiled inside a search: every kernel that it reaches is there when its clock starts."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from every_formulation import BUDGETS, strategies_for
from every_formulation import OBJECTIVES as COMMON
from processes import printed_by

import optsum

OBJECTIVES = {name: given for name, given in COMMON.items() if name != "window"} | {
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


def told(cells: list[tuple[str, str]], *words: str) -> dict[tuple[str, str], list[str]]:
    """Return for each strategy and objective what only the search compiled or loaded, or what the words ask for."""
    given = [(strategy, {**OBJECTIVES[objective], **BUDGETS.get(strategy, {})}) for strategy, objective in cells]
    answers = printed_by("cold_search.py", *words, json.dumps(given), OPTSUM_PATIENCE="0")
    return {cell: found for cell, found in zip(cells, answers, strict=True) if found}


def test_a_warm_search_loads_no_kernel() -> None:
    cells = [
        ("greedy", "f1"),
        ("milp", "f1"),
        *((each, "recall") for each in ("vns", "exhaustive", "branch-and-bound")),
    ]
    assert told(cells) == {}


OWN = ("auto", "branch-and-bound", "exhaustive", "genetic", "milp", "vns")
"""Strategies with kernels of their own for an objective; with greedy search, auto begins."""


@pytest.mark.slow
def test_no_search_compiles_or_loads_a_kernel() -> None:
    """Where kernels are kept from earlier runs, loading one in the search shows what was left out."""
    cells = [(name, each) for each in OBJECTIVES for name in strategies_for(each) if name in OWN or each == "joined"]
    assert told(cells) == {}


@pytest.mark.slow
def test_a_strategy_has_one_kernel_of_each_kind_and_few_in_all() -> None:
    """A literal, or an array that is read-only or not contiguous, makes a second kernel, of which nobody is told."""
    found = told([(strategy, objective) for objective in ("recall", "f1") for strategy in MOST], "--held")
    assert len(found) == 2 * len(MOST)
    for (strategy, objective), kernels in found.items():
        names = [kernel.partition("(")[0] for kernel in kernels]
        assert [name for name, times in Counter(names).items() if times > 1] == [], (strategy, objective)
        assert len(names) <= MOST[strategy], (strategy, names)


_OWN = """
from dataclasses import dataclass
from typing import ClassVar

import optsum


@dataclass(frozen=True)
class Own(optsum.Formulation):
    name: ClassVar[str] = "own"
    about: ClassVar[str] = "extracts of the sentences that a topic names"

    def build(self, topic, spec):
        units = topic.meta["own"]["units"]
        instance = optsum.Counted.of(topic, spec).of_sentences([topic.sentences[unit] for unit in units])
        return optsum.Extract.of(topic, spec, optsum.CoverageProblem.of(instance), units)


@dataclass(frozen=True)
class Fussy(optsum.Strategy):
    name: ClassVar[str] = "fussy"
    about: ClassVar[str] = "the first unit, of two"

    def accept(self, problem):
        assert problem.size == 2

    def search(self, run):
        run.see((0,))
"""


def test_parts_of_ones_own_see_no_made_up_topic(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(_OWN, encoding="utf-8")
    own, fussy = f"{tmp_path}/own.py:Own", f"{tmp_path}/own.py:Fussy"
    topic = {"id": "a", "documents": [["the cat sat", "a dog ran", "x"]], "references": [["a cat ran"]]}
    topic["meta"] = {"own": {"units": [0, 1]}}
    table = optsum.compare([topic], strategies=["greedy", fussy], formulation=own, max_length=3)
    assert [row.error for row in table.results] == [None] * 3
    assert optsum.solve(topic, formulation=own, strategy=fussy, max_length=3).selection == (0,)
    assert optsum.enumerate_optima(topic, formulation=own, max_length=3).count == 1
    assert optsum.frontier(topic, lengths="1:3:1", formulation=own).status is optsum.Status.OPTIMAL
    with pytest.raises(optsum.UnsupportedError, match="similarity"):
        optsum.solve(topic, formulation=own, metric="similarity", max_length=3)
