"""Test instances of best similarities, with all levels and with few, against the definition."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from trying import blocks

from optsum.coverage.instance import Coverage, Facility, IntArray, score
from optsum.errors import InputError, UnsupportedError


def _random(seed: int) -> tuple[IntArray, IntArray, Facility]:
    rng = np.random.default_rng(seed)
    tokens, units, top = int(rng.integers(1, 7)), int(rng.integers(0, 8)), int(rng.choice([1, 3, 10_000]))
    similar = rng.integers(0, top + 1, (tokens, units))
    weights = rng.integers(1, 4, tokens)
    full = int(weights.sum()) * top
    return similar, weights, Facility.given(similar, weights, rng.integers(1, 5, units), full=full, max_length=6)


def _sets(units: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(units + 1) for chosen in combinations(range(units), size)]


def _plain(facility: Any) -> Coverage:
    """Return the same arrays as a plain `Coverage`, which checks them."""
    return Coverage(**{item.name: getattr(facility, item.name) for item in fields(Coverage)})


@pytest.mark.parametrize("seeds", blocks(150))
def test_all_levels_and_the_highest_agree_with_the_definition(seeds: range) -> None:
    for seed in seeds:
        similar, weights, facility = _random(seed)
        kept = np.random.default_rng(seed).integers(1, 4, len(facility.similar))
        high, floors = facility.truncated(kept), facility.floors(kept)
        whole = _plain(facility)
        for chosen in _sets(facility.size):
            truth = int((similar[:, list(chosen)].max(axis=1) * weights).sum()) if chosen else 0
            assert score(facility, chosen)[0][0] == score(whole, chosen)[0][0] == truth
            best = facility.similar[:, list(chosen)].max(axis=1, initial=0)
            raised = int((facility.importance * np.maximum(best, floors)).sum()) if chosen else 0
            assert score(high, chosen)[0][0] == raised >= truth


@pytest.mark.parametrize("seeds", blocks(50))
def test_more_levels_are_kept_until_a_selection_reaches_all_floors(seeds: range) -> None:
    for seed in seeds:
        _, _, facility = _random(seed)
        for chosen in _sets(facility.size):
            kept, rounds = np.ones(len(facility.similar), np.int64), 0
            while score(facility.truncated(kept), chosen) != score(facility, chosen):
                more = facility.more_kept(kept, chosen)
                assert (more >= kept).all()
                assert (more > kept).any()
                kept, rounds = more, rounds + 1
            assert rounds <= 1  # the levels that the selection reaches are added in one round


def test_equal_tokens_are_one_and_equal_holders_one_feature() -> None:
    facility = Facility.given(np.array([[5, 2, 2], [5, 2, 2], [3, 1, 1]]), np.ones(3, np.int64), [1, 1, 1], full=30)
    assert facility.importance.tolist() == [1, 2]
    assert facility.features == 1  # one feature for the level that all reach; the rest belongs to one unit
    assert facility.mass[0].tolist() == [8, 0, 0]


def test_invalid_similarities_are_refused() -> None:
    one = np.ones(1, np.int64)
    for similar, weights, full in ((-one, one, 5), (one, one - 1, 5), (one, one, 0), (one, one, 2**51)):
        with pytest.raises(InputError, match=r"must be|beyond"):
            Facility.given(similar.reshape(1, 1), weights, [1], full=full)
    with pytest.raises(InputError, match="length is negative"):
        Facility.given(one.reshape(1, 1), one, [-1], full=5)
    with pytest.raises(TypeError, match=r"Facility\.given"):
        Facility(*[one] * 9)


def test_more_levels_than_can_be_held_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.coverage.instance._MOST", 100)
    similar = np.random.default_rng(0).integers(0, 10_000, (20, 30))
    facility = Facility.given(similar, np.ones(20, np.int64), [1] * 30, full=200_000)
    with pytest.raises(UnsupportedError, match="use branch-and-bound"):
        _ = facility.unit_start
    assert facility.truncated(np.ones(20, np.int64)).size == 30
    assert repr(facility) == "<Facility: 30 units, 20 tokens, to maximize>"
