"""Check that a search ended by a limit or Ctrl-C claims nothing false and loses nothing (see benchmarks/claims.py)."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

import optsum
from optsum import STRATEGIES

OBJECTIVES: list[dict[str, Any]] = [
    {"metric": "rouge-1"},
    {"metric": "rouge-2", "boundaries": "joined"},
    {"metric": "rouge-1+rouge-2", "measure": "f1"},
    {"metric": "rouge-1", "min_length": 12},
]
PROVING = [name for name in STRATEGIES if STRATEGIES.load(name).exact]


def topic(seed: int) -> dict[str, Any]:
    rng = Random(seed)  # noqa: S311 - nothing secret
    words = [f"w{number}" for number in range(25)]

    def text(sentences: int) -> list[str]:
        return [" ".join(rng.choices(words, k=rng.randint(2, 7))) for _ in range(sentences)]

    return {"id": str(seed), "documents": [text(11)], "references": [text(3) for _ in range(3)]}


@pytest.mark.parametrize("references", ["pooled", "mean", "best", "first", "agreed"])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_an_interrupted_search_claims_nothing_false(objective: dict[str, Any], references: str) -> None:
    options: dict[str, Any] = {"max_length": 24, "references": references, **objective}
    known = optsum.enumerate_optima(topic(1), strategy="exhaustive", **options)
    best = known.result.key
    for limit in ({"time_limit": 0.0}, {"time_limit": 0.002}, {"node_limit": 1}, {"evaluation_limit": 5}):
        for strategy in PROVING:
            try:
                rows = [optsum.solve(topic(1), strategy=strategy, **options, **limit)]
                if STRATEGIES.load(strategy).enumerates:
                    optima = optsum.enumerate_optima(topic(1), strategy=strategy, **options, **limit)
                    rows.append(optima.result)
                    assert not optima.complete or optima.count == known.count
            except optsum.UnsupportedError:
                continue
            for row in rows:
                assert row.status.value != "optimal" or row.key == best, (strategy, limit)
                assert row.status.value != "infeasible" or best is None
                if best is not None:
                    assert row.bound_key is None or Fraction(row.bound_key) >= best, (strategy, limit)
                    assert row.key is None or row.key <= best
