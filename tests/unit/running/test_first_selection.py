"""Check that exact strategies hold at least the selection of greedy search, whichever limit ends them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import optsum
from optsum.registry import STRATEGIES
from optsum.testing import OwnMetric, random_topic

PROVING = [name for name in STRATEGIES if STRATEGIES.load(name).exact]
OBJECTIVES: list[dict[str, Any]] = [
    {"metric": "rouge-1"},
    {"metric": "rouge-2", "boundaries": "joined"},
    {"metric": "rouge-1", "measure": "f1"},
    {"metric": "rouge-1", "min_length": 25},
    {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"},
    {"metric": "rouge-1", "references": "best"},
    {"metric": "ngram-1-2"},
]


def large(seed: int) -> dict[str, Any]:
    """Return a topic with far too many selections to visit."""
    rng = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(90)]

    def text(sentences: int) -> list[str]:
        return [" ".join(rng.choice(words, rng.integers(4, 12)).tolist()) for _ in range(sentences)]

    return {"id": str(seed), "documents": [text(50)], "references": [text(6), text(6)]}


@pytest.mark.parametrize("strategy", PROVING)
@pytest.mark.parametrize("options", OBJECTIVES, ids=str)
def test_a_search_ended_by_any_limit_holds_the_greedy_selection(options: dict[str, Any], strategy: str) -> None:
    tried = 0
    topic = large(0)
    given = {"max_length": 40, **options}
    greedy = optsum.solve(topic, strategy="greedy", **given)
    for limits in ({"time_limit": 0.5}, {"node_limit": 1}, {"evaluation_limit": greedy.evaluations}):
        if strategy == "exhaustive" and "node_limit" in limits:
            continue  # exhaustive search has no nodes
        if strategy == "milp" and "evaluation_limit" in limits:
            continue  # milp counts no evaluations
        try:
            found = optsum.solve(topic, strategy=strategy, **given, **limits)
        except optsum.UnsupportedError:
            continue
        assert found.key is not None
        assert greedy.key is not None
        assert found.key >= greedy.key, limits
        assert found.bound_key is None or found.bound_key >= found.key
        tried += 1
    assert tried or strategy == "milp"


@pytest.mark.parametrize("strategy", ["exhaustive", "auto"])
@pytest.mark.parametrize(
    "limits",
    [
        {"time_limit": 0.05},
        {"time_limit": 0.5},
        {"evaluation_limit": 400},
    ],
    ids=str,
)
def test_problems_that_only_evaluate_hold_the_greedy_selection(strategy: str, limits: dict[str, Any]) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = OwnMetric(
            lengths=tuple(rng.integers(1, 9, 40).tolist()),
            max_length=25,
            words=[[f"w{word}" for word in rng.integers(0, 60, 4)] for _ in range(40)],
        )
        greedy = optsum.search(problem, strategy="greedy", limits=optsum.Limits.named(limits))
        found = optsum.search(problem, strategy=strategy, limits=optsum.Limits.named(limits))
        assert found.key is not None
        assert greedy.key is not None
        assert found.key >= greedy.key


@pytest.mark.parametrize("strategy", ["exhaustive", "branch-and-bound"])
def test_an_enumeration_ended_by_a_limit_holds_the_greedy_selection(strategy: str) -> None:
    greedy = optsum.solve(large(0), strategy="greedy", max_length=40)
    found = optsum.enumerate_optima(large(0), strategy=strategy, max_length=40, time_limit=0.0)
    assert found.result.key is not None
    assert found.result.key >= (greedy.key or 0)


@pytest.mark.parametrize("references", ["pooled", "best"])
def test_a_limit_of_zero_leaves_the_greedy_selection(references: str) -> None:
    options: dict[str, Any] = {"max_length": 40, "references": references}
    greedy = optsum.solve(large(0), strategy="greedy", **options)
    assert greedy.key is not None
    for strategy in ("branch-and-bound", "auto", "exhaustive"):
        found = optsum.solve(large(0), strategy=strategy, time_limit=0.0, **options)
        assert found.key is not None
        assert found.key >= greedy.key


def test_a_search_that_ends_at_once_has_no_need_of_a_first_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    from optsum.running import search

    begun: list[int] = []
    monkeypatch.setattr(search, "_start_greedily", lambda *_: begun.append(1))
    topic = random_topic(np.random.default_rng(1), sentences=8)
    for strategy in ("exhaustive", "branch-and-bound", "auto"):
        assert optsum.solve(topic, strategy=strategy, max_length=8).status.value == "optimal"
    assert not begun
