"""Families of covers under construction: nodes of a decision diagram, each made once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram


class Families:
    """Nodes (unit, without, with) as in `optsum.optima.diagram.Diagram`; a family is the number of its root."""

    def __init__(self) -> None:
        self._nodes: list[tuple[int, int, int]] = [(-1, EMPTY_FAMILY, EMPTY_FAMILY), (-1, EMPTY_SET, EMPTY_SET)]
        self._known: dict[tuple[int, int, int], int] = {}

    def node(self, unit: int, lacking: int, having: int) -> int:
        """Return the sets of `lacking`, and those of `having` with the unit added."""
        if having == EMPTY_FAMILY:
            return lacking
        key = (unit, lacking, having)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._nodes)
            self._nodes.append(key)
        return number

    def add_all(self, units: Iterable[int], family: int) -> int:
        """Add units to every set of a family."""
        if family == EMPTY_FAMILY:
            return family
        for unit in units:
            family = self.node(unit, EMPTY_FAMILY, family)
        return family

    def add_any(self, units: Iterable[int], family: int) -> int:
        """Add every subset of the units to every set of a family."""
        if family == EMPTY_FAMILY:
            return family
        for unit in units:
            family = self.node(unit, family, family)
        return family

    def product(self, left: int, right: int) -> int:
        """Return the unions of a set of each of two families that have no unit in common."""
        if left == EMPTY_FAMILY or right == EMPTY_FAMILY:
            return EMPTY_FAMILY
        if right == EMPTY_SET:
            return left
        # Branches have smaller numbers, so they are ready when their node is.
        moved = {EMPTY_FAMILY: EMPTY_FAMILY, EMPTY_SET: right}
        for number in self._below(left):
            unit, lacking, having = self._nodes[number]
            moved[number] = self.node(unit, moved[lacking], moved[having])
        return moved[left]

    def spread(self, family: int, classes: Mapping[int, Sequence[int]]) -> int:
        """Let units stand for others: each set that holds one becomes a set with each of its class."""
        moved = {EMPTY_FAMILY: EMPTY_FAMILY, EMPTY_SET: EMPTY_SET}
        for number in self._below(family):
            unit, lacking, having = self._nodes[number]
            spread = moved[lacking]
            for twin in classes.get(unit, (unit,)):
                spread = self.node(twin, spread, moved[having])
            moved[number] = spread
        return moved[family]

    def _below(self, family: int) -> list[int]:
        """Return the nodes that are reached from a family's, ascending."""
        reached, stack = {family}, [family]
        while stack:
            for branch in self._nodes[stack.pop()][1:]:
                if branch not in reached:
                    reached.add(branch)
                    stack.append(branch)
        return sorted(reached - {EMPTY_FAMILY, EMPTY_SET})

    def adopt(self, diagram: Diagram) -> int:
        """Return the family of a diagram."""
        moved = [EMPTY_FAMILY, EMPTY_SET]
        for unit, lacking, having in diagram.nodes[2:].tolist():
            moved.append(self.node(unit, moved[lacking], moved[having]))
        return moved[diagram.root]

    def diagram(self, family: int) -> Diagram:
        """Return a family as an object of its own."""
        return Diagram.of_nodes(np.array(self._nodes, np.int32).reshape(-1, 3), family)
