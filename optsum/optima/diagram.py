"""Families of sets as decision diagrams, which represent millions of optima by thousands of nodes.

A node is a triple (unit, without, with). Its family consists of the sets of node `without`, and the sets of node `with`
with the unit added. Node 0 is the empty family, node 1 the family whose only set is empty. On a path from the root a
unit occurs at most once, and a unit that does not occur is not in the set of the path (zero-suppressed diagrams of
Minato 1993, except that paths may decide the units in different orders). So every path from the root to node 1 is one
set, and sums over all sets are sums over the nodes. Unions, minimal sets and the mean similarity of the sets need a
common order of the units (`Ordered`).

The mean similarity is computed exactly (`mean_jaccard`) or estimated from a sample (`sampled_jaccard`). For the exact
one, up to some thousands of sets are compared directly, and more sets by pairs of nodes. Each pair of nodes needs a
table, and the number of pairs cannot be predicted, so a memory limit on the tables bounds the work.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import sqrt
from operator import itemgetter
from statistics import fmean, stdev
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.errors import InputError, UnsupportedError
from optsum.system.clock import of_search


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit within a block, for functions that call themselves once for each unit of a set."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 100_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


EMPTY_FAMILY: Final = 0
EMPTY_SET: Final = 1

_BLOCK: Final = 1 << 14
"""Number of nodes that are converted at once to Python integers, which are quick to read but take much memory."""

_INT64: Final = 2**62  # Counts below it are kept in 64-bit integers.


@dataclass(frozen=True, eq=False)
class Diagram:
    """A family of sets of units as a decision diagram."""

    # (nodes, 3): unit, `without`, `with`; both branches of a node have smaller numbers. Rows 0 and 1 are the terminals.
    nodes: NDArray[np.int32]
    root: int  # The node whose family this is.

    @staticmethod
    def of_nodes(nodes: NDArray[np.int32], root: int) -> Diagram:
        """Return the diagram of the nodes that are reached from `root`, renumbered in the same order."""
        marks = bytearray(len(nodes))
        marks[EMPTY_FAMILY] = marks[EMPTY_SET] = marks[root] = True
        for last in range(root, EMPTY_SET, -_BLOCK):
            first = max(last - _BLOCK, EMPTY_SET) + 1
            branches = nodes[first : last + 1, 1:].tolist()
            for x, (without, with_) in zip(range(last, first - 1, -1), reversed(branches), strict=True):
                if marks[x]:
                    marks[without] = marks[with_] = True
        reached = np.frombuffer(marks, dtype=np.bool_)
        number, kept = np.cumsum(reached) - 1, nodes[reached]
        kept[:, 1:] = number[kept[:, 1:]]
        return Diagram(kept, int(number[root]))

    @staticmethod
    def of_sets(sets: Iterable[Sequence[int]]) -> Diagram:
        """Build the diagram of a list of sets: a trie of the sorted sets, in which equal subtrees are shared."""
        nodes = DiagramNodes()

        def build(rows: list[tuple[int, ...]], depth: int) -> int:
            """Return the node of the sorted rows without their first `depth` units, in which all rows agree."""
            if len(rows) == 1:
                node = EMPTY_SET
                for unit in reversed(rows[0][depth:]):
                    node = nodes.node(unit, EMPTY_FAMILY, node)
                return node
            ended = bool(rows) and len(rows[0]) == depth
            node = EMPTY_SET if ended else EMPTY_FAMILY
            groups = [(unit, list(same)) for unit, same in groupby(rows[ended:], itemgetter(depth))]
            for unit, members in reversed(groups):
                node = nodes.node(unit, node, build(members, depth + 1))
            return node

        rows = sorted({tuple(sorted(set(row))) for row in sets})
        if len(rows) == 1:  # a quick way for searches that find one optimum
            nodes.rows += [(unit, EMPTY_FAMILY, number) for number, unit in enumerate(reversed(rows[0]), 1)]
            return Diagram(np.array(nodes.rows, np.int32), len(nodes.rows) - 1)
        with deep_recursion():
            root = build(rows, 0)
        return Diagram(np.array(nodes.rows, np.int32), root)

    @cached_property
    def rows(self) -> list[tuple[int, int, int]]:
        return [(u, a, b) for u, a, b in self.nodes.tolist()]

    @cached_property
    def counts(self) -> list[int]:
        counts = [0, 1]
        for _, without, with_ in self.rows[2:]:
            counts.append(counts[without] + counts[with_])
        return counts

    @cached_property
    def ways(self) -> list[int]:
        ways = [0] * len(self.nodes)
        ways[self.root] = 1
        for x in range(self.root, EMPTY_SET, -1):
            _, without, with_ = self.rows[x]
            ways[without] += ways[x]
            ways[with_] += ways[x]
        return ways

    @property
    def count(self) -> int:
        return self.counts[self.root]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield every set, sorted; at each decision, sets with the unit come before sets without it."""
        rows = self.rows
        ways: list[tuple[int, tuple[int, ...]]] = [(self.root, ())]
        while ways:
            node, chosen = ways.pop()
            if node > EMPTY_SET:
                unit, without, with_ = rows[node]
                ways += [(without, chosen), (with_, (*chosen, unit))]
            elif node == EMPTY_SET:
                yield tuple(sorted(chosen))

    def holds(self, units: Collection[int]) -> bool:
        left, node = set(units), self.root
        while node > EMPTY_SET:
            unit, without, with_ = self.rows[node]
            node = with_ if unit in left else without
            left.discard(unit)
        return node == EMPTY_SET and not left

    @cached_property
    def holding(self) -> dict[int, int]:
        held: dict[int, int] = {}
        for (unit, _, with_), ways in zip(self.rows[2:], self.ways[2:], strict=True):
            held[unit] = held.get(unit, 0) + ways * self.counts[with_]
        return held

    def sample(self, rng: random.Random) -> tuple[int, ...]:
        node, chosen = self.root, []
        while node != EMPTY_SET:
            unit, without, with_ = self.rows[node]
            if rng.randrange(self.counts[node]) < self.counts[with_]:
                chosen.append(unit)
                node = with_
            else:
                node = without
        return tuple(sorted(chosen))

    def sizes(self, marked: Collection[int]) -> dict[tuple[int, int], int]:
        marks = frozenset(marked)
        longest = [0] * len(self.nodes)
        last_use = list(range(len(self.nodes)))
        for x in range(2, len(self.nodes)):
            _, without, with_ = self.rows[x]
            longest[x] = max(longest[without], longest[with_] + 1)
            last_use[without] = last_use[with_] = x
        shape = (longest[self.root] + 1, min(longest[self.root], len(marks)) + 1)
        exact = np.int64 if self.count < _INT64 else object
        tables: dict[int, NDArray[Any]] = {EMPTY_FAMILY: np.zeros(shape, exact), EMPTY_SET: np.zeros(shape, exact)}
        tables[EMPTY_SET][0, 0] = 1
        for x in range(2, self.root + 1):
            unit, without, with_ = self.rows[x]
            table = tables[x] = tables[without].copy()
            if unit in marks:
                table[1:, 1:] += tables[with_][:-1, :-1]
            else:
                table[1:] += tables[with_][:-1]
            for child in {without, with_}:
                if last_use[child] == x:
                    del tables[child]
        found = tables[self.root]
        return {(int(m), int(o)): int(found[m, o]) for m, o in np.argwhere(found)}


class DiagramNodes:
    """Nodes of diagrams under construction, without duplicates; `end`: the number in place of a terminal's unit."""

    def __init__(self, end: int = -1) -> None:
        self.rows: list[tuple[int, int, int]] = [(end, EMPTY_FAMILY, EMPTY_FAMILY), (end, EMPTY_SET, EMPTY_SET)]
        self._known: dict[tuple[int, int, int], int] = {}

    def node(self, unit: int, without: int, with_: int) -> int:
        if with_ == EMPTY_FAMILY:
            return without
        key = (unit, without, with_)
        if (number := self._known.get(key)) is None:
            number = self._known[key] = self._added(key)
        return number

    def _added(self, row: tuple[int, int, int]) -> int:
        self.rows.append(row)
        return len(self.rows) - 1

    def diagram(self, root: int) -> Diagram:
        nodes = np.array(self.rows, np.int32)
        nodes[:2, 0] = -1
        return Diagram.of_nodes(nodes, root)


_BETWEEN: Final = 4096  # Number of nodes between two checks of the deadline.


class Ordered(DiagramNodes):
    """Nodes of diagrams with ascending units on every path.

    A node beyond `max_nodes` raises `UnsupportedError`, and one after the deadline of the search `Stopped`.
    """

    def __init__(self, max_nodes: int) -> None:
        super().__init__(2**31 - 1)  # stands for the unit of the terminal nodes: larger than every unit
        self._memo: dict[tuple[str, int, int], int] = {}
        self._max_nodes = max_nodes
        self._deadline = of_search.get()

    def _added(self, row: tuple[int, int, int]) -> int:
        self._check()
        return super()._added(row)

    def _keep(self, key: tuple[str, int, int], result: int) -> None:
        self._check()
        self._memo[key] = result

    def _check(self) -> None:
        held = len(self.rows) + len(self._memo)
        if held >= self._max_nodes:
            raise UnsupportedError(
                f"With the units in one order, the sets need more than {self._max_nodes} nodes: take a random sample "
                "of them (sample, or sampled_jaccard for their similarity)."
            )
        if held % _BETWEEN == 0:
            self._deadline.check()

    def union(self, f: int, g: int) -> int:
        if f == g or g == EMPTY_FAMILY:
            return f
        if f == EMPTY_FAMILY:
            return g
        key = ("or", min(f, g), max(f, g))
        if key not in self._memo:
            (u, f0, f1), (w, g0, g1) = self.rows[f], self.rows[g]
            if u < w:
                result = self.node(u, self.union(f0, g), f1)
            elif w < u:
                result = self.node(w, self.union(f, g0), g1)
            else:
                result = self.node(u, self.union(f0, g0), self.union(f1, g1))
            self._keep(key, result)
        return self._memo[key]

    def added(self, unit: int, f: int) -> int:
        """Return the family f with a unit added to each set; no set of f may contain this unit."""
        u, f0, f1 = self.rows[f]
        if u > unit:
            return self.node(unit, EMPTY_FAMILY, f)
        key = ("add", unit, f)
        if key not in self._memo:
            self._keep(key, self.node(u, self.added(unit, f0), self.added(unit, f1)))
        return self._memo[key]

    def holds_empty(self, f: int) -> bool:
        while f > EMPTY_SET:
            f = self.rows[f][1]
        return f == EMPTY_SET

    def without_supersets(self, f: int, g: int) -> int:
        if g == EMPTY_FAMILY or f == EMPTY_FAMILY:
            return f
        if f == g or self.holds_empty(g):
            return EMPTY_FAMILY
        if f == EMPTY_SET:
            return f
        key = ("sub", f, g)
        if key not in self._memo:
            (u, f0, f1), (w, g0, g1) = self.rows[f], self.rows[g]
            if u < w:
                result = self.node(u, self.without_supersets(f0, g), self.without_supersets(f1, g))
            elif w < u:
                result = self.without_supersets(f, g0)
            else:
                kept = self.without_supersets(self.without_supersets(f1, g1), g0)
                result = self.node(u, self.without_supersets(f0, g0), kept)
            self._keep(key, result)
        return self._memo[key]

    def minimal(self, f: int) -> int:
        if f == EMPTY_FAMILY:
            return f
        if self.holds_empty(f):
            return EMPTY_SET
        key = ("min", f, f)
        if key not in self._memo:
            unit, f0, f1 = self.rows[f]
            least = self.minimal(f0)
            self._keep(key, self.node(unit, least, self.without_supersets(self.minimal(f1), least)))
        return self._memo[key]

    def of(self, diagram: Diagram) -> int:
        number = [EMPTY_FAMILY, EMPTY_SET]
        for unit, without, with_ in diagram.rows[2:]:
            number.append(self.union(number[without], self.added(unit, number[with_])))
        return number[diagram.root]


def union(diagrams: Sequence[Diagram], max_nodes: int = 2_000_000) -> Diagram:
    if len(diagrams) == 1:
        return diagrams[0]
    with deep_recursion():
        ordered = Ordered(max_nodes)
        found = EMPTY_FAMILY
        for diagram in diagrams:
            found = ordered.union(found, ordered.of(diagram))
        return ordered.diagram(found)


def minimal_sets(diagram: Diagram, max_nodes: int = 2_000_000) -> Diagram:
    with deep_recursion():
        ordered = Ordered(max_nodes)
        return ordered.diagram(ordered.minimal(ordered.of(diagram)))


MAX_BYTES: Final = 2**28  # Memory limit for all tables together, which one or two seconds fill.
PAIRS: Final = 1_000  # Pairs in a sample: the standard error of a mean of values from 0 to 1 is then at most .016.

LISTED: Final = 8_000  # Up to this number of sets, all pairs are compared directly: 64 million pairs in 1 to 2 s.
_ROWS: Final = 256  # Sets that are compared with all others in one product of matrices.


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean similarity of a sample of pairs of sets."""

    mean: float
    standard_error: float  # With about 95 % probability, the true mean is within two standard errors of `mean`.
    pairs: int  # Number of pairs in the sample.


def mean_jaccard(diagram: Diagram, *, max_bytes: int = MAX_BYTES) -> Fraction:
    pairs = overlaps(diagram, max_bytes=max_bytes)
    total = sum(Fraction(number * common, either) if either else number for (common, either), number in pairs.items())
    return Fraction(total - diagram.count) / (diagram.count * (diagram.count - 1))


def sampled_jaccard(diagram: Diagram, pairs: int = PAIRS, seed: int = 0) -> Estimate:
    if diagram.count < 2 or pairs < 2:
        raise InputError("An estimate needs at least two sets, and at least two pairs to draw: use mean_jaccard.")
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    found: list[float] = []
    while len(found) < pairs:
        one, other = set(diagram.sample(rng)), set(diagram.sample(rng))
        if one != other:
            found.append(len(one & other) / len(one | other))
    return Estimate(fmean(found), stdev(found) / sqrt(pairs), pairs)


def overlaps(diagram: Diagram, *, max_bytes: int = MAX_BYTES, listed: int = LISTED) -> dict[tuple[int, int], int]:
    """Count ordered pairs of sets (A, B), including A = B, by their numbers of units (in both, in at least one)."""
    if diagram.count <= listed:
        return _one_by_one(list(diagram))
    with deep_recursion():
        ordered = Ordered(max_bytes // 256)  # bytes of a node and of its entries in dictionaries
        return _by_pairs(ordered.rows, ordered.of(diagram), max_bytes)


def _one_by_one(sets: list[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    column = {unit: place for place, unit in enumerate(sorted(set().union(*sets)))}
    held = np.zeros((len(sets), len(column)), np.float32)  # multiplied faster than integers, and exact for such counts
    for row, chosen in enumerate(sets):
        held[row, [column[unit] for unit in chosen]] = 1
    size, width = held.sum(axis=1), len(column) + 1
    numbers = np.zeros(width * width, np.int64)
    for first in range(0, len(sets), _ROWS):
        some = slice(first, first + _ROWS)
        common = held[some] @ held.T
        place = common.astype(np.int64) * width + (size[some, None] + size - common).astype(np.int64)
        numbers += np.bincount(place.ravel(), minlength=len(numbers))
    return {divmod(int(place), width): int(numbers[place]) for place in np.flatnonzero(numbers)}


def _by_pairs(nodes: list[tuple[int, int, int]], root: int, max_bytes: int) -> dict[tuple[int, int], int]:
    """Return the counts of `overlaps`: those of each pair of nodes are computed from the pairs of their branches."""
    longest, counts, bytes_left = [0, 0], [0, 1], max_bytes
    for _, without, with_ in nodes[2:]:
        longest.append(max(longest[without], longest[with_] + 1))
        counts.append(counts[without] + counts[with_])
    tables: dict[tuple[int, int], NDArray[Any]] = {(EMPTY_SET, EMPTY_SET): np.ones((1, 1), np.int64)}

    def table_of(f: int, g: int) -> NDArray[Any]:
        nonlocal bytes_left
        key = min(f, g), max(f, g)
        if key in tables:
            return tables[key]
        shape = min(longest[f], longest[g]) + 1, longest[f] + longest[g] + 1
        small = counts[f] * counts[g] < _INT64
        bytes_left -= 320 + shape[0] * shape[1] * (8 if small else 48)  # of a table, and of each number in it
        if bytes_left < 0:
            raise UnsupportedError(
                "Comparing all pairs of optima needs more than the allowed memory; use sampled_jaccard."
            )
        table = np.zeros(shape, np.int64 if small else object)
        (u, f0, f1), (w, g0, g1) = nodes[f], nodes[g]
        if u < w:
            parts = [(f0, g, 0, 0), (f1, g, 0, 1)]
        elif w < u:
            parts = [(f, g0, 0, 0), (f, g1, 0, 1)]
        else:
            parts = [(f0, g0, 0, 0), (f1, g0, 0, 1), (f0, g1, 0, 1), (f1, g1, 1, 1)]
        for one, other, common, either in parts:
            if one != EMPTY_FAMILY and other != EMPTY_FAMILY:
                part = table_of(one, other)
                table[common : common + part.shape[0], either : either + part.shape[1]] += part
        tables[key] = table
        return table

    found = table_of(root, root)
    return {(int(i), int(j)): int(found[i, j]) for i, j in np.argwhere(found)}
