"""The diagram nodes of a whole run: arrays that grow, and their hash index."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np

from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.system.compiled import njit

from .reduction import mix

_START: Final = 1 << 12


@njit(cache=True)
def make_node(nodes, node_slots, counters, unit, without, with_):
    """Node for (unit, without, with), shared if it exists. The caller has seen to it that there is room."""
    if with_ == 0:
        return without
    mask = len(node_slots) - 1
    h = mix(mix(np.uint64(unit)) ^ (np.uint64(without) << np.uint64(32)) ^ np.uint64(with_))
    at = np.int64(h & np.uint64(mask))
    while node_slots[at] >= 0:
        x = node_slots[at]
        if nodes[x, 0] == unit and nodes[x, 1] == without and nodes[x, 2] == with_:
            return np.int64(x)
        at = (at + 1) & mask
    x = counters[0]
    counters[0] += 1
    nodes[x, 0] = unit
    nodes[x, 1] = without
    nodes[x, 2] = with_
    node_slots[at] = x
    return x


@njit(cache=True)
def _reindex(nodes, used, node_slots):
    mask = len(node_slots) - 1
    for x in range(2, used):
        h = mix(mix(np.uint64(nodes[x, 0])) ^ (np.uint64(nodes[x, 1]) << np.uint64(32)) ^ np.uint64(nodes[x, 2]))
        at = np.int64(h & np.uint64(mask))
        while node_slots[at] >= 0:
            at = (at + 1) & mask
        node_slots[at] = x


class NodeStore:
    """Nodes (unit, without, with); numbers 0 and 1 are the two ends.

    Attributes
    ----------
    nodes : (capacity, 3) int32
    slots : (2 * capacity,) int32
    counters : (1,) int64
        The number of nodes in use.
    """

    def __init__(self) -> None:
        self.nodes = np.empty((_START, 3), np.int32)
        self.nodes[EMPTY_FAMILY] = (-1, EMPTY_FAMILY, EMPTY_FAMILY)
        self.nodes[EMPTY_SET] = (-1, EMPTY_SET, EMPTY_SET)
        self.slots = np.full(2 * _START, -1, np.int32)
        self.counters = np.zeros(1, np.int64)
        self.counters[0] = 2

    @property
    def used(self) -> int:
        """Nodes in use, the two ends included."""
        return int(self.counters[0])

    def reserve(self, room: int) -> None:
        """See to it that `room` more nodes fit."""
        while self.used + room > len(self.nodes):
            self.grow()

    def grow(self) -> None:
        """Make room for twice as many nodes."""
        capacity = 2 * len(self.nodes)
        nodes = np.empty((capacity, 3), np.int32)
        nodes[: self.used] = self.nodes[: self.used]
        self.nodes = nodes
        self.slots = np.full(2 * capacity, -1, np.int32)
        _reindex(self.nodes, self.used, self.slots)

    def node(self, unit: int, without: int, with_: int) -> int:
        """Node for the sets of `without`, and those of `with_` with the unit added."""
        self.reserve(8)
        return int(make_node(self.nodes, self.slots, self.counters, unit, without, with_))

    def add_all(self, units: list[int], node: int) -> int:
        """Add the units to every set of a node's family."""
        for unit in units:
            node = self.node(unit, EMPTY_FAMILY, node)
        return node

    def diagram(self, root: int) -> Diagram:
        """Return the part below `root` as an object of its own."""
        return Diagram.of_nodes(self.nodes[: self.used], root)
