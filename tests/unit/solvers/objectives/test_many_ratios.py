"""Test means of many ratios: equal denominators are merged, and any number of ratios ends at a limit."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from trying import blocks

import optsum
from optsum import Coverage, CoverageProblem, Limits, search
from optsum.coverage.instance import Combination, key_of, score


def of_ratios(seed: int, ratios: int, units: int = 8, *, alike: bool) -> Coverage:
    """Return a mean of ratios; if `alike`, their denominators differ by constants only."""
    rng = np.random.default_rng(seed)
    added = rng.integers(1, 6, units)
    bottoms = [added if alike else rng.integers(1, 6, units) for _ in range(ratios)]
    mass = [row.tolist() for bottom in bottoms for row in (np.zeros(units, np.int64), bottom)]
    features = [
        {int(one): 1 for one in rng.choice(3 * ratios, min(3 * ratios, 6), replace=False)} for _ in range(units)
    ]
    many = 3 * ratios
    constants = [value for _ in range(ratios) for value in (0, int(rng.integers(1, 4)))]
    return Coverage.of(
        rng.integers(1, 6, units).tolist(),
        features,
        [[int(rng.integers(1, 4))] for _ in range(many)],
        slots=[2 * int(rng.integers(0, ratios)) for _ in range(many)],
        constants=constants,
        mass=mass,
        weights=tuple(rng.integers(1, 4, ratios).tolist()),
        combination=Combination.SUM,
        max_length=12,
    )


@pytest.mark.parametrize("seeds", blocks(40, size=20))
def test_one_ratio_for_each_denominator(seeds: range) -> None:
    for seed in seeds:
        instance = of_ratios(seed, 2 + seed % 9, alike=seed % 4 != 0)
        merged = instance.merged
        assert merged.ratios <= instance.ratios
        assert merged.ratios <= 3 or seed % 4 == 0
        for size in range(4):
            for chosen in combinations(range(instance.size), size):
                values = [key_of(each, *score(each, chosen)[:2]) for each in (instance, merged)]
                assert values[0] == values[1], chosen


@pytest.mark.parametrize("strategy", ["branch-and-bound", "milp", "auto", "greedy", "vns"])
@pytest.mark.parametrize("alike", [True, False])
def test_every_search_has_the_value_of_a_visit(strategy: str, alike: bool) -> None:
    for seed in range(3):
        problem = CoverageProblem.of(of_ratios(seed, 3, alike=alike))
        known = search(problem, "exhaustive")
        found = search(problem, strategy)
        assert known.key is not None
        assert found.key is not None
        assert found.key <= known.key
        assert found.bound_key is None or found.bound_key >= known.key
        assert found.key == known.key or found.status.value != "optimal"


@pytest.mark.parametrize(
    ("strategy", "limits"),
    [
        ("branch-and-bound", Limits(nodes=1)),
        ("branch-and-bound", Limits(time_s=0.0)),
        ("auto", Limits(time_s=0.3)),
        ("greedy", Limits(time_s=0.3)),
        ("vns", Limits(time_s=0.3)),
    ],
    ids=["a node", "no time", "auto", "greedy", "vns"],
)
@pytest.mark.parametrize("alike", [True, False])
def test_thousands_of_ratios_end(strategy: str, limits: Limits, alike: bool) -> None:
    problem = CoverageProblem.of(of_ratios(0, 2_000, 40, alike=alike))
    found = search(problem, strategy, limits)
    assert found.status.value in {"feasible", "optimal", "no_solution"}
    assert found.key is None or found.bound_key is None or found.bound_key >= found.key


def test_many_references_of_few_lengths_are_proven() -> None:
    rng = np.random.default_rng(5)
    words = [f"w{number}" for number in range(30)]

    def text(sentences: int, length: int) -> list[str]:
        return [" ".join(rng.choice(words, length).tolist()) for _ in range(sentences)]

    topic = {"id": "t", "documents": [text(9, 5)], "references": [text(2, 4 + number % 3) for number in range(60)]}
    options: dict[str, Any] = {"measure": "f1", "references": "mean", "max_length": 20}
    known = optsum.solve(topic, strategy="exhaustive", **options)
    for strategy in ("branch-and-bound", "milp"):
        found = optsum.solve(topic, strategy=strategy, **options)
        assert found.status.value == "optimal"
        assert found.key == known.key
    certified = optsum.solve(topic, strategy="greedy", **options)
    assert certified.bound_key is not None
    assert known.key is not None
    assert certified.bound_key >= known.key
