"""Test the similarity of pairs of optima: exact in two ways, by estimates, and within memory and time."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from itertools import combinations
from math import comb, sqrt
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.errors import InputError, UnsupportedError
from optsum.optima import diagram as diagram_module
from optsum.optima.diagram import Diagram, Estimate, mean_jaccard, overlaps, sampled_jaccard
from optsum.optima.optima import Optima
from optsum.system.clock import NEVER, Deadline, Stopped

families = st.sets(st.frozensets(st.integers(0, 8), max_size=6), min_size=1, max_size=25)


def scattered(units: int, sets: int, seed: int = 1) -> Diagram:
    """Return a family of random sets, so that almost every pair of nodes is visited."""
    rng = random.Random(seed)  # noqa: S311
    return Diagram.of_sets([tuple(sorted(rng.sample(range(units), units // 4))) for _ in range(sets)])


def all_sets(units: int) -> Diagram:
    return Diagram(np.array([[-1, 0, 0], [-1, 1, 1], *([units - x, x + 1, x + 1] for x in range(units))]), units + 1)


@given(families)
def test_pairs_are_counted_as_one_counts_them(family: set[frozenset[int]]) -> None:
    diagram = Diagram.of_sets([tuple(chosen) for chosen in family])
    by_hand = Counter((len(a & b), len(a | b)) for a in family for b in family)
    assert overlaps(diagram) == by_hand
    assert overlaps(diagram, listed=0) == by_hand  # by the diagram instead of a list


@pytest.mark.parametrize("seed", range(3))
def test_both_ways_agree_on_many_sets(seed: int) -> None:
    diagram = scattered(30, 150, seed)
    found = overlaps(diagram)
    assert sum(found.values()) == diagram.count**2
    assert overlaps(diagram, max_bytes=2**30, listed=0) == found


@pytest.mark.parametrize("seed", range(5))
def test_an_estimate_is_within_a_few_standard_errors(seed: int) -> None:
    diagram = scattered(24, 300, seed)
    exact = float(mean_jaccard(diagram))
    estimate = sampled_jaccard(diagram, 2_000, seed)
    assert 0 < estimate.standard_error < 0.01
    assert abs(estimate.mean - exact) < 5 * estimate.standard_error
    assert sampled_jaccard(diagram, 2_000, seed) == estimate


def test_an_estimate_never_compares_a_set_with_itself() -> None:
    optima = Optima.of_sets([(1, 2), (3, 4)], 1)
    estimate = optima.sampled_jaccard(50)
    assert (estimate.mean, estimate.standard_error, estimate.pairs) == (0.0, 0.0, 50)
    with pytest.raises(InputError, match="at least two sets"):
        Optima.of_sets([(1, 2)], 1).sampled_jaccard()


@pytest.mark.parametrize("pairs", [2, 3, 50])
def test_an_estimate_is_of_as_many_pairs_as_were_asked_for(pairs: int) -> None:
    diagram, rng = scattered(24, 300), random.Random(7)  # noqa: S311
    drawn = [(set(diagram.sample(rng)), set(diagram.sample(rng))) for _ in range(pairs + 10)]
    indexes = [len(one & other) / len(one | other) for one, other in drawn if one != other][:pairs]
    estimate = sampled_jaccard(diagram, pairs, 7)
    assert estimate == Estimate(fmean(indexes), stdev(indexes) / sqrt(pairs), pairs)


def test_a_single_pair_has_no_standard_error() -> None:
    with pytest.raises(InputError, match="two pairs"):
        sampled_jaccard(scattered(24, 300), 1)


@pytest.mark.parametrize("listed", [0, 10_000])
def test_memory_is_bounded(listed: int) -> None:
    """Test a family whose tables of node pairs would take more than 200 MB."""
    diagram = scattered(40, 1_000)
    most = 2**23
    tracemalloc.start()
    try:
        if listed:
            overlaps(diagram, max_bytes=most, listed=listed)
        else:
            with pytest.raises(UnsupportedError, match="more than the allowed memory; use sampled_jaccard"):
                overlaps(diagram, max_bytes=most, listed=listed)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < (6 if listed else 2) * most


@pytest.mark.parametrize("large", [False, True], ids=["of 64 bits", "of any size"])
def test_the_memory_of_tables_is_known(large: bool) -> None:
    """Compare the memory that tables are said to take with what they take; many large numbers are 0, and shared."""
    diagram = all_sets(40) if large else scattered(60, 20)
    tracemalloc.start()
    try:
        overlaps(diagram, listed=0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    with pytest.raises(UnsupportedError, match="more than the allowed memory"):
        overlaps(diagram, listed=0, max_bytes=int(0.8 * peak))
    assert overlaps(diagram, listed=0, max_bytes=int((2.5 if large else 1.5) * peak)) == overlaps(diagram, listed=0)


def test_one_order_of_the_units_is_bounded_too() -> None:
    diagram = Diagram.of_sets([tuple(p) for p in combinations(range(200), 2)])
    with pytest.raises(UnsupportedError, match="take a random sample"):
        overlaps(diagram, max_bytes=1_000, listed=0)


def test_listed_sets_need_no_tables() -> None:
    diagram = scattered(40, 100)
    assert overlaps(diagram, max_bytes=0, listed=diagram.count) == overlaps(diagram)
    with pytest.raises(UnsupportedError, match="take a random sample"):
        overlaps(diagram, max_bytes=0, listed=diagram.count - 1)


@pytest.mark.parametrize("number", [2**31, 2**40])
def test_pairs_beyond_64_bits_are_counted(number: int) -> None:
    """Test all sets of units with 2^62 or more pairs: each unit is in both sets, in one of two, or in none."""
    units = number.bit_length() - 1
    diagram = all_sets(units)
    assert diagram.count == number
    expected = {
        (both, either): comb(units, either) * comb(either, both) * 2 ** (either - both)
        for either in range(units + 1)
        for both in range(either + 1)
    }
    assert overlaps(diagram) == expected


def test_work_on_nodes_that_are_there_is_ended_by_the_deadline_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram_module, "_BETWEEN", 1)
    ordered = diagram_module.Ordered(1_000)
    first, second = (ordered.of(Diagram.of_sets(sets)) for sets in ([(0,), (1, 2)], [(1,), (0, 2)]))
    whole = ordered.union(first, second)
    ordered._memo.clear()
    ordered._deadline = Deadline(0.0)
    with pytest.raises(Stopped):
        ordered.union(first, second)
    ordered._deadline = NEVER
    assert ordered.union(first, second) == whole
