"""Operations that need a common order of the units: unions and minimal sets.

`Ordered` stores zero-suppressed decision diagrams (Minato 1993) in which every path decides units in ascending order.
Families are node numbers, as in `optsum.optima.diagram`; results are memoized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram, DiagramNodes, deep_recursion

_BEYOND: Final = 2**31 - 1  # Unit of the two ends: after every other.


class Ordered(DiagramNodes):
    """Diagrams in ascending order of the units."""

    def __init__(self, max_nodes: int) -> None:
        super().__init__(_BEYOND)
        self._memo: dict[tuple[str, int, int], int] = {}
        self._max_nodes = max_nodes

    def _added(self, row: tuple[int, int, int]) -> int:
        if len(self.rows) + len(self._memo) >= self._max_nodes:
            raise UnsupportedError(
                f"The optima need more than {self._max_nodes} nodes in one order of the units; draw a sample instead."
            )
        return super()._added(row)

    def union(self, f: int, g: int) -> int:
        """Return the union of the families f and g."""
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
            self._memo[key] = result
        return self._memo[key]

    def added(self, unit: int, f: int) -> int:
        """Return the family f with the unit added to each set; no set of f may contain it."""
        u, f0, f1 = self.rows[f]
        if u > unit:
            return self.node(unit, EMPTY_FAMILY, f)
        key = ("add", unit, f)
        if key not in self._memo:
            self._memo[key] = self.node(u, self.added(unit, f0), self.added(unit, f1))
        return self._memo[key]

    def holds_empty(self, f: int) -> bool:
        """Whether the family f contains the empty set."""
        while f > EMPTY_SET:
            f = self.rows[f][1]
        return f == EMPTY_SET

    def without_supersets(self, f: int, g: int) -> int:
        """Return the sets of f that contain no set of g."""
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
            self._memo[key] = result
        return self._memo[key]

    def minimal(self, f: int) -> int:
        """Return the sets of f that contain no other set of f."""
        if f <= EMPTY_SET:
            return f
        if self.holds_empty(f):
            return EMPTY_SET
        key = ("min", f, f)
        if key not in self._memo:
            unit, f0, f1 = self.rows[f]
            least = self.minimal(f0)
            self._memo[key] = self.node(unit, least, self.without_supersets(self.minimal(f1), least))
        return self._memo[key]

    def of(self, diagram: Diagram) -> int:
        """Reorder a diagram by ascending units."""
        number = [EMPTY_FAMILY, EMPTY_SET]
        for unit, without, with_ in diagram.rows[2:]:
            number.append(self.union(number[without], self.added(unit, number[with_])))
        return number[diagram.root]


def union(diagrams: Sequence[Diagram], max_nodes: int = 2_000_000) -> Diagram:
    """Return the union of the families."""
    if len(diagrams) == 1:
        return diagrams[0]
    with deep_recursion():
        ordered = Ordered(max_nodes)
        found = EMPTY_FAMILY
        for diagram in diagrams:
            found = ordered.union(found, ordered.of(diagram))
        return ordered.diagram(found)


def minimal_sets(diagram: Diagram, max_nodes: int = 2_000_000) -> Diagram:
    """Return the sets that contain no other set of the family."""
    with deep_recursion():
        ordered = Ordered(max_nodes)
        return ordered.diagram(ordered.minimal(ordered.of(diagram)))
