"""Compare F1 of similarity, the harmonic mean of recall and precision, with brute force over all selections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from similar_topics import f1_by_hand, random_topic, values_by_trying
from trying import blocks

import optsum

_UNIT = 10_000
_BY_LEVELS: dict[str, Any] = {"node_limit": 10**12}  # with a limit of nodes, selections are not visited one by one
_WAYS: Any = (("branch-and-bound", {}), ("exhaustive", {}), ("auto", {}), ("branch-and-bound", _BY_LEVELS))
_OTHERS = ("greedy", "greedy+ls", "vns", "genetic", "lead", "random")


def _values(seed: int, unit: int = _UNIT) -> dict[tuple[int, ...], float]:
    return values_by_trying(seed, 7, f1_by_hand, unit=unit)


def _solved(topic: dict[str, Any], strategy: str, **options: Any) -> optsum.Result:
    given = {"metric": "similarity", "measure": "f1", "max_length": 7, **options}
    return optsum.solve(topic, strategy=strategy, **given)


@pytest.mark.parametrize("seeds", blocks(100))
def test_the_optimum_is_that_of_brute_force(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        unit = (_UNIT, 7)[seed % 5 == 0]
        values = _values(seed, unit)
        best = max(values.values())
        strategy, more = _WAYS[seed % 4]
        found = _solved(topic, strategy, similarity_unit=unit, **more)
        assert found.status.value == "optimal"
        assert found.objective == pytest.approx(best, abs=1e-12)
        assert found.bound == found.objective
        if best > 0:
            assert found.selection is not None
            assert values[found.selection] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("seeds", blocks(0, 200, 5))
def test_all_optima_and_what_is_near_them(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        values = _values(seed)
        best = max(values.values())
        options: Any = {"metric": "similarity", "measure": "f1", "max_length": 7, "keep_unmatched": True}
        for more in ({}, _BY_LEVELS):
            found = optsum.enumerate_optima(topic, **options, **more)
            assert found.complete
            assert set(found) == {chosen for chosen, value in values.items() if value >= best - 1e-12}
        near = optsum.enumerate_optima(topic, within="20%", **options)
        assert near.complete
        assert set(near) == {chosen for chosen, value in values.items() if value >= 0.8 * best - 1e-12}


@pytest.mark.parametrize("seeds", blocks(0, 200, 40))
@pytest.mark.parametrize("strategy", _OTHERS)
def test_heuristics_stay_below_their_bound_and_the_optimum(strategy: str, seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        best = max(_values(seed).values())
        found = _solved(topic, strategy)
        assert found.selection is not None
        assert found.objective is not None
        assert found.bound is not None
        assert found.objective == pytest.approx(f1_by_hand(topic, found.selection, unit=_UNIT), abs=1e-12)
        assert found.objective <= best + 1e-12 <= found.bound + 2e-12


@pytest.mark.parametrize("seeds", blocks(0, 200, 10))
def test_side_constraints_are_kept(seeds: range) -> None:
    for seed in seeds:
        topic = random_topic(seed)
        values = {chosen: value for chosen, value in _values(seed).items() if len(chosen) <= 2}
        for more in ({}, _BY_LEVELS):
            found = _solved(topic, "branch-and-bound", max_sentences=2, **more)
            assert found.objective == pytest.approx(max(values.values()), abs=1e-12)


def test_few_selections_are_visited_and_a_limit_of_nodes_is_kept_by_levels() -> None:
    visited = _solved(random_topic(3), "branch-and-bound")
    by_levels = _solved(random_topic(3), "branch-and-bound", **_BY_LEVELS)
    assert visited.statistics["feasible"] == len(_values(3)) - 1  # all but the empty one
    assert "feasible" not in by_levels.statistics
    assert (visited.objective_exact, visited.status) == (by_levels.objective_exact, by_levels.status)


def _large(seed: int, weights: bool = False) -> dict[str, Any]:
    """Return a topic of 40 sentences, too many for brute force, with word frequencies as in natural text."""
    rng = np.random.default_rng(seed)
    words = rng.integers(4, 30, 40)
    table = rng.normal(size=(150, 12))
    share = 1 / np.arange(1, 151)
    spoken = rng.choice(150, int(words.sum()), p=share / share.sum())
    wanted = rng.choice(150, 30, p=share / share.sum())
    arrays: dict[str, Any] = {
        "sentences": table[spoken],
        "sentence_of": np.repeat(np.arange(40), words),
        "references": table[wanted],
        "reference_of": np.zeros(30, int),
    }
    if weights:  # such as inverse document frequencies
        rare = rng.uniform(0.5, 5, 150)
        arrays["sentence_weights"], arrays["reference_weights"] = rare[spoken], rare[wanted]
    sentences = [" ".join(["w"] * count) for count in words.tolist()]
    return {"id": "t", "documents": [sentences], "references": [["r " * 30]], "vectors": arrays}


def test_many_sentences_are_proven_and_searched_by_heuristics() -> None:
    topic = _large(1)
    proven = _solved(topic, "branch-and-bound", max_length=60)
    assert proven.status.value == "optimal"
    assert proven.objective is not None
    for strategy in ("greedy", "vns"):
        budget = ("no_improvement=20",) if strategy == "vns" else ()
        found = _solved(topic, strategy, max_length=60, strategy_options=budget)
        assert found.objective is not None
        assert found.bound is not None
        assert 0.8 * proven.objective < found.objective <= proven.objective <= found.bound < 1.3 * proven.objective


def test_numbers_beyond_64_bits_are_searched_in_coarser_steps() -> None:
    found = _solved(_large(1, weights=True), "greedy", max_length=60)
    assert found.objective is not None
    assert found.bound is not None
    assert 0.7 * found.bound < found.objective <= found.bound


def test_a_limit_leaves_a_bound() -> None:
    topic = _large(1)
    greedy = _solved(topic, "greedy", max_length=60)
    found = _solved(topic, "branch-and-bound", max_length=60, node_limit=1)
    assert found.status.value != "optimal"
    assert greedy.objective is not None
    assert found.bound is not None
    assert found.bound >= max(greedy.objective, found.objective or 0.0)


def test_milp_says_why_it_does_not_serve() -> None:
    with pytest.raises(optsum.OptsumError, match="harmonic mean of ratios, which integer programs cannot express"):
        _solved(random_topic(1), "milp")


def test_a_search_without_time_has_a_bound_that_no_mean_of_similarities_exceeds() -> None:
    for seed in range(60):
        topic = random_topic(seed)
        found = _solved(topic, ("branch-and-bound", "greedy")[seed % 2], time_limit=1e-9)
        assert found.bound is not None
        assert max(_values(seed).values()) - 1e-9 <= found.bound <= 1.0 + 1e-9
