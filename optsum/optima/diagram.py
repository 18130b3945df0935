"""Families of sets as decision diagrams: millions of optima in thousands of nodes.

Node x is a triple (unit, without, with). Its family consists of the sets of node `without`, and the sets of node `with`
with the unit added. Node 0 is the empty family, node 1 the family whose only set is empty. On a path from the root a
unit occurs at most once, and a unit that does not occur is not in the set of the path (zero-suppressed diagrams of
Minato 1993, except that paths may decide the units in different orders). So every path from the root to node 1 is one
set, and sums over all sets are sums over the nodes.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_DEEP: Final = 100_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow one nested call for each unit of a set."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


EMPTY_FAMILY: Final = 0
EMPTY_SET: Final = 1

_BLOCK: Final = 1 << 14
"""Number of nodes converted at once to Python integers, which are quicker, but too large for millions of nodes."""

_INT64: Final = 2**62


@dataclass(frozen=True, eq=False)
class Diagram:
    """A family of sets of units."""

    # (nodes, 3) int32: unit, `without`, `with`; both branches of a node have smaller numbers. Rows 0 and 1 are the two
    # ends.
    nodes: NDArray[np.int32]
    root: int

    @staticmethod
    def of_nodes(nodes: NDArray[np.int32], root: int) -> Diagram:
        """Return the diagram below `root`, renumbered in the same order."""
        marks = bytearray(len(nodes))
        marks[EMPTY_FAMILY] = marks[EMPTY_SET] = marks[root] = 1
        for last in range(root, EMPTY_SET, -_BLOCK):
            first = max(last - _BLOCK, EMPTY_SET) + 1
            branches = nodes[first : last + 1, 1:].tolist()
            for x in range(last, first - 1, -1):
                if marks[x]:
                    without, with_ = branches[x - first]
                    marks[without] = marks[with_] = 1
        reached = np.frombuffer(marks, dtype=np.bool_)
        number = np.cumsum(reached) - 1
        kept = nodes[reached].copy()
        kept[:, 1] = number[kept[:, 1]]
        kept[:, 2] = number[kept[:, 2]]
        return Diagram(kept, int(number[root]))

    @staticmethod
    def of_sets(sets: Iterable[Sequence[int]]) -> Diagram:
        """Build the diagram of a list of sets (a trie that shares equal parts)."""
        nodes = DiagramNodes()

        def build(rows: list[tuple[int, ...]], depth: int) -> int:
            """Return the family of sorted rows that agree before `depth`, without their first `depth` units."""
            if not rows:
                return EMPTY_FAMILY
            ended = len(rows[0]) == depth
            groups: list[tuple[int, list[tuple[int, ...]]]] = []
            for row in rows[1:] if ended else rows:
                if not groups or groups[-1][0] != row[depth]:
                    groups.append((row[depth], []))
                groups[-1][1].append(row)
            node = EMPTY_SET if ended else EMPTY_FAMILY
            for unit, members in reversed(groups):
                node = nodes.node(unit, node, build(members, depth + 1))
            return node

        rows = sorted({tuple(sorted(set(row))) for row in sets})
        if len(rows) == 1:  # a chain, as every search for one optimum has it
            nodes.rows += [(unit, EMPTY_FAMILY, number) for number, unit in enumerate(reversed(rows[0]), 1)]
            return Diagram(np.array(nodes.rows, np.int32), len(nodes.rows) - 1)
        with deep_recursion():
            root = build(rows, 0)
        return Diagram(np.array(nodes.rows, np.int32), root)

    @cached_property
    def rows(self) -> list[tuple[int, int, int]]:
        """The nodes as Python integers."""
        return [(u, a, b) for u, a, b in self.nodes.tolist()]

    @cached_property
    def counts(self) -> list[int]:
        """Number of sets in the family of every node, as Python integers."""
        counts = [0, 1]
        for _, without, with_ in self.rows[2:]:
            counts.append(counts[without] + counts[with_])
        return counts

    @cached_property
    def ways(self) -> list[int]:
        """Number of paths from the root to every node."""
        ways = [0] * len(self.nodes)
        ways[self.root] = 1
        for x in range(self.root, EMPTY_SET, -1):
            _, without, with_ = self.rows[x]
            ways[without] += ways[x]
            ways[with_] += ways[x]
        return ways

    @property
    def count(self) -> int:
        """Number of sets."""
        return self.counts[self.root]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield every set, sorted; at each decision, sets with the unit come before sets without it."""
        rows = self.rows
        ways: list[tuple[int, tuple[int, ...]]] = [(self.root, ())]
        while ways:
            node, chosen = ways.pop()
            if node == EMPTY_FAMILY:
                continue
            if node == EMPTY_SET:
                yield tuple(sorted(chosen))
                continue
            unit, without, with_ = rows[node]
            ways.append((without, chosen))
            ways.append((with_, (*chosen, unit)))

    def holds(self, units: Collection[int]) -> bool:
        """Whether a set is in the family."""
        left, node = set(units), self.root
        while node > EMPTY_SET:
            unit, without, with_ = self.rows[node]
            node = with_ if unit in left else without
            left.discard(unit)
        return node == EMPTY_SET and not left

    @cached_property
    def holding(self) -> dict[int, int]:
        """The number of sets that contain each unit that occurs."""
        held: dict[int, int] = {}
        for x in range(2, len(self.nodes)):
            unit, _, with_ = self.rows[x]
            held[unit] = held.get(unit, 0) + self.ways[x] * self.counts[with_]
        return held

    def sample(self, rng: random.Random) -> tuple[int, ...]:
        """Draw a set uniformly; the family must not be empty."""
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
        """Count the sets by size and by the number of `marked` units in them."""
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
        dropped: list[list[int]] = [[] for _ in self.nodes]
        for child, x in enumerate(last_use):
            if x != child:
                dropped[x].append(child)
        for x in range(2, self.root + 1):
            unit, without, with_ = self.rows[x]
            table = tables[without].copy()
            if unit in marks:
                table[1:, 1:] += tables[with_][:-1, :-1]
            else:
                table[1:] += tables[with_][:-1]
            tables[x] = table
            for child in dropped[x]:
                del tables[child]
        found = tables[self.root]
        return {(int(m), int(o)): int(found[m, o]) for m, o in np.argwhere(found)}


class DiagramNodes:
    """Nodes of diagrams under construction, without duplicates.

    `rows`: unit, `without` and `with` of each node; branches have smaller numbers. `end`: the unit of the two terminal
    nodes.
    """

    def __init__(self, end: int = -1) -> None:
        self.rows: list[tuple[int, int, int]] = [(end, EMPTY_FAMILY, EMPTY_FAMILY), (end, EMPTY_SET, EMPTY_SET)]
        self._known: dict[tuple[int, int, int], int] = {}

    def node(self, unit: int, without: int, with_: int) -> int:
        """Return the node for the sets of `without`, and the sets of `with_` with the unit added."""
        if with_ == EMPTY_FAMILY:
            return without
        key = (unit, without, with_)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self._added(key)
        return number

    def _added(self, row: tuple[int, int, int]) -> int:
        self.rows.append(row)
        return len(self.rows) - 1

    def diagram(self, root: int) -> Diagram:
        """Return the family of a node as a separate diagram."""
        nodes = np.array(self.rows, np.int32)
        nodes[:2, 0] = -1
        return Diagram.of_nodes(nodes, root)
