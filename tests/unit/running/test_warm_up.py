"""Check that no search compiles or loads a kernel after its warm-up."""

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


@pytest.fixture(scope="module")
def called() -> dict[tuple[str, str], list[list[str]]]:
    """Return, by strategy and objective, the kernels called only after the warm-up, and all that were called."""
    cells = [(name, each) for each in OBJECTIVES for name in strategies_for(each) if name in OWN or each == "joined"]
    cells += [("greedy", "recall"), ("greedy", "f1")]
    given = [(strategy, {**OBJECTIVES[objective], **BUDGETS.get(strategy, {})}) for strategy, objective in cells]
    answers = printed_by("cold_search.py", json.dumps(given), OPTSUM_PATIENCE="0")
    return dict(zip(cells, answers, strict=True))


OWN = ("auto", "branch-and-bound", "exhaustive", "genetic", "milp", "vns")
"""Strategies with kernels of their own for an objective; with greedy search, auto begins."""


@pytest.mark.slow
def test_no_search_compiles_or_loads_a_kernel(called: dict[tuple[str, str], list[list[str]]]) -> None:
    assert {cell: late for cell, (late, _) in called.items() if late} == {}


@pytest.mark.slow
def test_a_strategy_has_one_kernel_of_each_kind_and_few_in_all(
    called: dict[tuple[str, str], list[list[str]]],
) -> None:
    """Check this because a literal, or a read-only or non-contiguous array, silently makes a second kernel."""
    for strategy, objective in [(strategy, objective) for objective in ("recall", "f1") for strategy in MOST]:
        _, kernels = called[strategy, objective]
        names = [kernel.partition("(")[0] for kernel in kernels]
        assert [name for name, times in Counter(names).items() if times > 1] == [], (strategy, objective)
        assert 0 < len(names) <= MOST[strategy], (strategy, names)


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


def test_user_defined_parts_see_no_warm_up_topic(tmp_path: Path) -> None:
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
