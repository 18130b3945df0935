"""Test decision diagrams: the sets of a family, the kept nodes, unions, memory."""

from __future__ import annotations

import sys
import tracemalloc
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optsum.errors import UnsupportedError
from optsum.optima import diagram as module
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram, Ordered, deep_recursion, union

families = st.sets(st.frozensets(st.integers(0, 5), max_size=4), max_size=12)
ENDS = [[-1, 0, 0], [-1, 1, 1]]


@given(families)
@settings(max_examples=40)
def test_a_family_holds_its_sets_and_no_other(family: set[frozenset[int]]) -> None:
    diagram = Diagram.of_sets([tuple(chosen) for chosen in family])
    for size in range(7):
        for chosen in combinations(range(6), size):
            assert diagram.holds(chosen) == (frozenset(chosen) in family), chosen
    assert not diagram.holds([7])


def test_the_empty_family_and_the_empty_set() -> None:
    nothing, empty = Diagram.of_sets([]), Diagram.of_sets([()])
    assert (nothing.nodes.tolist(), nothing.root, nothing.count) == (ENDS, EMPTY_FAMILY, 0)
    assert (empty.nodes.tolist(), empty.root, list(empty)) == (ENDS, EMPTY_SET, [()])
    assert (empty.holds(()), nothing.holds(())) == (True, False)


@pytest.mark.parametrize("block", [1, 2, 5, 100])
def test_nodes_below_the_root_are_kept_and_no_other(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    rng = np.random.default_rng(block)
    nodes = np.array([*ENDS, *([x, rng.integers(x), rng.integers(x)] for x in range(2, 30))], np.int32)
    left_out = 0
    for root in range(30):
        below, ahead = {EMPTY_FAMILY, EMPTY_SET}, [root]
        while ahead:
            below.add(x := ahead.pop())
            ahead += [] if x <= EMPTY_SET else nodes[x, 1:].tolist()
        kept = sorted(below)
        found = Diagram.of_nodes(nodes, root)
        expected = [[int(nodes[x, 0]), kept.index(nodes[x, 1]), kept.index(nodes[x, 2])] for x in kept]
        assert (found.nodes.tolist(), found.root) == (expected, kept.index(root)), root
        left_out += 30 - len(kept)
    assert left_out > 100


@given(st.lists(families, min_size=1, max_size=4))
@settings(max_examples=40)
def test_a_union_holds_the_sets_of_all(given_families: list[set[frozenset[int]]]) -> None:
    before = sys.getrecursionlimit()
    found = union([Diagram.of_sets([tuple(chosen) for chosen in family]) for family in given_families])
    assert sys.getrecursionlimit() == before
    together = set().union(*given_families)
    assert found.count == len(together)
    assert set(map(frozenset, found)) == together


def test_a_union_is_as_deep_as_there_are_units() -> None:
    whole = tuple(range(3_000))
    for rest in (whole[1:], whole[:-1]):  # different at the root, and at the end
        assert set(union([Diagram.of_sets([whole]), Diagram.of_sets([rest])])) == {whole, rest}


def test_a_caller_s_higher_limit_of_recursion_stays() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    try:
        with deep_recursion():
            assert sys.getrecursionlimit() == 200_000
    finally:
        sys.setrecursionlimit(before)


def test_units_may_be_as_large_as_optima_allow() -> None:
    largest = 2**31 - 2
    assert set(union([Diagram.of_sets([(largest,)]), Diagram.of_sets([(), (0, largest)])])) == {
        (), (largest,), (0, largest),
    }  # fmt: skip


@given(families, families)
def test_no_superset_of_another_family_is_left(family: set[frozenset[int]], other: set[frozenset[int]]) -> None:
    ordered = Ordered(10_000)
    f, g = (ordered.of(Diagram.of_sets([tuple(chosen) for chosen in sets])) for sets in (family, other))
    left = set(map(frozenset, ordered.diagram(ordered.without_supersets(f, g))))
    assert left == {chosen for chosen in family if not any(one <= chosen for one in other)}
    assert ordered.holds_empty(f) == (frozenset() in family)


def test_equal_parts_are_shared() -> None:
    every = [chosen for size in range(11) for chosen in combinations(range(10), size)]
    diagram = Diagram.of_sets(every)
    assert diagram.count == 2**10
    assert len(diagram.nodes) == 2 + 10


@pytest.mark.parametrize("marked", [0, 150])
def test_tables_of_sizes_are_freed(marked: int) -> None:
    """Check that tables are freed: all at once, or with columns for unmarked units, would take many times as much."""
    units = 150
    diagram = Diagram(np.array([*ENDS, *([x, x + 1, x + 1] for x in range(units))], np.int32), units + 1)
    assert diagram.count == 2**units
    tracemalloc.start()
    try:
        found = diagram.sizes(range(marked))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == {(size, size if marked else 0): comb(units, size) for size in range(units + 1)}
    assert peak < 2**17 + 5 * 8 * (units + 1) * (marked + 1)


def test_the_ends_of_a_union_are_those_of_every_diagram() -> None:
    found = union([Diagram.of_sets([(1, 2)]), Diagram.of_sets([(2,)])])
    assert found.nodes[:2].tolist() == ENDS


@pytest.mark.parametrize(("most", "enough"), [(6, False), (7, True)])
def test_cached_answers_count_as_nodes(most: int, enough: bool) -> None:
    ordered = Ordered(most)
    one, other = (ordered.node(unit, EMPTY_FAMILY, EMPTY_SET) for unit in (1, 2))
    assert ordered.union(one, other) == 4
    assert ordered.union(other, one) == 4  # five nodes and one cached answer
    if enough:
        assert ordered.node(3, EMPTY_FAMILY, EMPTY_SET) == 5
    else:
        with pytest.raises(UnsupportedError, match="more than 6 nodes"):
            ordered.node(3, EMPTY_FAMILY, EMPTY_SET)
