"""A depth-first search that can be left and taken up again, and the nodes of the diagrams that searches make."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.system.compiled import njit

from .bound import evaluated, grain_of, knapsack
from .core import NEED, Core, mix
from .kernel import CostTables, FeatureTables, Items, TieTables, make_node, place_of, run_search

DONE: Final = 0
PAUSED: Final = 1
FULL: Final = 2
FOUND: Final = 3

_START: Final = 1 << 12
_SLICE_NODES: Final = 1024
_SMALL_MEMO: Final = 1 << 12


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


@njit(cache=True)
def segment_ends(table_start, table):
    """For each count c of each feature the last count up to which the table goes on with c's slope."""
    ends = np.empty(len(table), np.int64)
    for f in range(len(table_start) - 1):
        first, last = table_start[f], table_start[f + 1] - 1
        ends[last] = last - first
        for t in range(last - 1, first - 1, -1):
            ends[t] = t + 1 - first
            if t + 2 <= last and table[t + 2] - table[t + 1] == table[t + 1] - table[t]:
                ends[t] = ends[t + 1]
    return ends


@njit(cache=True)
def random_words(size, seed):
    """Return a row for "count is c" and one for "slope is that of the piece ending at c" an entry; last, zeros."""
    words = np.zeros((2 * size + 1, 2), np.uint64)
    for i in range(2 * size):
        for k in range(2):
            words[i, k] = mix(np.uint64(seed) + np.uint64(2 * i + k))
    return words


@njit(cache=True)
def fill_reach(lengths, skip, room):
    """``reach[d, c]``: the largest total <= c of lengths of units d.. ."""
    n = len(lengths)
    reach = np.zeros((n + 1, room + 1), np.int32)
    for d in range(n - 1, -1, -1):
        w = lengths[d]
        past = skip[d] if len(skip) else d + 1
        for c in range(room + 1):
            reach[d, c] = reach[past, c]
            if c >= w:
                reach[d, c] = max(reach[d, c], w + reach[d + 1, c - w])
    return reach


@njit(cache=True)
def _least_sums(n, mass, start, costs, copies, weight, step):
    """``least[d]``: what units d.. , and all joints, can add to a value at least."""
    least = np.zeros(n + 1, np.int64)
    joints = 0
    for i in range(len(mass) - 1, -1, -1):
        own = mass[i]
        for k in range(start[i], start[i + 1]):
            own -= weight[costs[k]] * min(copies[k], step[costs[k]])
        if i >= n:
            joints += min(own, 0)
        else:
            least[i] = least[i + 1] + min(own, 0)
    for d in range(n):
        least[d] += joints
    return least


@njit(cache=True)
def _prepare(order, core, skip, grain):
    """Bring the units into search order and make every table of the kernel."""
    ids, lengths, mass, start, feature, count, table_start, table, price, paid, base, low, high, _scale, _ties = core
    cost_start, cost, cost_count, cost_share, cost_weight, cost_step = paid
    n, items, costs = len(order), len(mass), len(cost_weight)
    alone, profit, _surplus, best, left, unpaid, slack = evaluated(core)
    place = np.arange(items)  # the item at each place
    for d in range(n):
        place[d] = order[d]
    new_start, new_cost_start = np.zeros(items + 1, np.int64), np.zeros(items + 1, np.int64)
    for d in range(items):
        i = place[d]
        new_start[d + 1] = new_start[d] + start[i + 1] - start[i]
        new_cost_start[d + 1] = new_cost_start[d] + cost_start[i + 1] - cost_start[i]
    new_feature, new_count = np.empty(len(feature), np.int64), np.empty(len(feature), np.int64)
    new_cost, new_cost_count = np.empty(len(cost), np.int64), np.empty(len(cost), np.int64)
    new_share = np.empty(len(cost), np.int64)
    cost_left = np.zeros(costs, np.int64)
    new_mass, new_alone = np.empty(items, np.int64), np.empty(items, np.int64)
    for d in range(items):
        i = place[d]
        new_mass[d], new_alone[d] = mass[i], alone[i]
        at = new_start[d]
        for k in range(start[i], start[i + 1]):
            new_feature[at] = feature[k]
            new_count[at] = count[k]
            at += 1
        at = new_cost_start[d]
        for k in range(cost_start[i], cost_start[i + 1]):
            new_cost[at] = cost[k]
            new_cost_count[at] = cost_count[k]
            new_share[at] = cost_share[k]
            cost_left[cost[k]] += cost_count[k]
            at += 1
    new_ids, new_lengths, new_profit = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for d in range(n):
        new_ids[d] = ids[order[d]]
        new_lengths[d] = lengths[order[d]]
        new_profit[d] = profit[order[d]]
    K = knapsack(new_lengths, new_profit, skip, low, high, grain)
    reach = fill_reach(new_lengths, skip, high) if grain == 1 and low <= 0 else np.zeros((0, 0), np.int32)
    frame = np.zeros((n + 1, 7), np.int64)
    frame[0, 0] = high
    frame[0, 1] = slack
    frame[0, 2] = base
    words = random_words(len(table), np.int64(1))
    cost_words = random_words(costs, np.int64(2**40))
    worst = _least_sums(n, new_mass, new_cost_start, new_cost, new_cost_count, cost_weight, cost_step)
    ends = segment_ends(table_start, table)
    packed = Items(
        new_ids, new_lengths, new_mass, new_alone, new_profit, new_start, new_feature, new_count, worst, K, reach
    )
    tables = FeatureTables(table_start, table, price, best, words, ends, np.zeros(len(price), np.int64), left)
    found = CostTables(
        new_cost_start,
        new_cost,
        new_cost_count,
        new_share,
        cost_weight,
        cost_step,
        cost_words,
        np.zeros(costs, np.int64),
        cost_left,
        np.zeros(costs, np.int64),
        unpaid,
    )
    return packed, tables, found, frame


def _lists(owner: IntArray, owned: IntArray, owners: int) -> tuple[IntArray, IntArray]:
    """Pack pairs by owner: starts and values."""
    order = owner.argsort(kind="stable")
    start = np.zeros(owners + 1, np.int64)
    np.bincount(owner, minlength=owners).cumsum(out=start[1:])
    return start, owned[order]


_NONE: Final = np.zeros(0, np.int64)
_NO_WORDS: Final = np.zeros((0, 2), np.uint64)
_NO_TIES: Final = TieTables(
    _NONE, _NONE, _NO_WORDS, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, *[_NONE] * 6
)


def tie_tables(core: Core, order: IntArray) -> TieTables:
    """Return what ties the units of a core in an order, before the first decision."""
    if not core.tied:
        return _NO_TIES
    n, joints, ties = core.size, core.joints, core.ties
    skip = np.arange(n) + (core.skip[order] - order)  # subtrees keep their sizes
    if not joints:
        nothing = np.zeros(n + 1, np.int64)
        return _NO_TIES._replace(skip=skip, need_start=nothing, veto_start=nothing, row_start=nothing)
    rows = ties.rows
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    undecided = np.bincount(ties.need_joint, minlength=joints) + np.bincount(ties.veto_joint, minlength=joints)
    of_unit = np.flatnonzero(rows.unit >= 0)
    return TieTables(
        skip,
        evaluated(core.plain)[2],
        random_words(joints, np.int64(0x7000000000000000))[:joints].copy(),
        undecided.astype(np.int64),
        np.zeros(joints, np.int64),
        *_lists(rows.joint, rows.row, joints),
        rows.price,
        np.where(rows.sign == NEED, 0, 1),
        np.bincount(rows.row, minlength=len(rows.unit)).astype(np.int64),
        np.where(rows.unit >= 0, 0, 1).astype(np.int64),
        *_lists(place[ties.need_unit], ties.need_joint, n),
        *_lists(place[ties.veto_unit], ties.veto_joint, n),
        *_lists(place[rows.unit[of_unit]], of_unit, n),
    )


@njit(cache=True)
def _move_memo(old_key, old_node, new_key, new_node, frame, keys, depth):
    """Copy a memo into a larger one and tell the open frames their new places."""
    mask = np.uint64(len(new_node) - 1)
    for x in range(len(old_node)):
        if old_node[x] >= 0:
            place, _ = place_of(new_key, new_node, old_key[x, 0], old_key[x, 1])
            new_node[place] = old_node[x]
            for part in range(2):  # rows assigned at once would compile all that numba has of slices
                new_key[place, part] = old_key[x, part]
    for d in range(depth):
        frame[d, 5] = np.int64(mix(keys[d, 2] ^ keys[d, 3]) & mask)


def _empty_memo(slots: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    return np.empty((slots, 2), np.uint64), np.full(slots, -1, np.int32)


class Search:
    """A search for the sets of a core that reach a target, or for the first of them.

    Parameters
    ----------
    core : Core
    order : (n,)
        Units in the order of decision; descendants follow their ancestors immediately.
    target : int
    store : NodeStore
        Where the diagram's nodes go.
    first_only : bool
    """

    def __init__(self, core: Core, order: IntArray, target: int, store: NodeStore, first_only: bool) -> None:
        grain = grain_of(core)
        ties = tie_tables(core, order)
        items, tables, costs, self._frame = _prepare(order, core.plain, ties.skip, grain)
        limits = (core.scale, core.low, core.high, grain)
        self._fixed = items, tables, costs, ties, limits, target, first_only
        self._store, self._ids = store, items.ids
        self._keys: NDArray[np.uint64] = np.zeros((core.size + 1, 4), np.uint64)
        self._stage: NDArray[np.int8] = np.zeros(core.size + 1, np.int8)
        self._memo = _empty_memo(_SMALL_MEMO)
        self._counters = np.zeros(6, np.int64)

    @property
    def frames(self) -> int:
        """Frames entered so far."""
        return int(self._counters[2])

    @property
    def hits(self) -> int:
        """Frames that met an equal state."""
        return int(self._counters[4])

    @property
    def fruitful(self) -> int:
        """Frames whose family is not empty."""
        return int(self._counters[5])

    @property
    def root(self) -> int:
        """The node that the finished search returned."""
        return int(self._counters[3])

    def grow_memo(self, slots: int) -> None:
        """Make the memo at least `slots` places large (a power of two)."""
        if slots > len(self._memo[1]):
            larger = _empty_memo(slots)
            _move_memo(*self._memo, *larger, self._frame, self._keys, int(self._counters[1]))
            self._memo = larger

    def run(self, budget: int) -> int:
        """Enter up to `budget` more frames; return the kernel's answer, which is not `FULL`."""
        counters, store = self._counters, self._store
        way = self._frame, self._keys, self._stage
        while True:
            store.reserve(len(self._ids) + _SLICE_NODES)
            before = self.frames
            counters[0] = store.counters[0]
            answer = run_search(*self._fixed, way, self._memo, (store.nodes, store.slots), counters, budget)
            store.counters[0] = counters[0]
            budget -= self.frames - before
            if answer == FULL:
                store.reserve(len(store.nodes))
            else:
                return int(answer)

    def _open(self) -> Iterator[int]:
        """Yield the places whose units are decided on the way to the current frame, the last one first."""
        place = int(self._counters[1])
        while place > 0:
            place = int(self._frame[place, 6])
            yield place

    def path(self) -> list[int]:
        """Units taken on the way to the current frame."""
        return [int(self._ids[place]) for place in self._open() if self._stage[place] == 1][::-1]

    def partial(self) -> int:
        """Node of the sets that an unfinished search has found."""
        node = EMPTY_FAMILY
        # An interrupt may have come before the kernel's nodes were counted.
        self._store.counters[0] = max(self._store.counters[0], self._counters[0])
        for x in self._open():
            unit = int(self._ids[x])
            if self._stage[x] == 1:
                node = self._store.node(unit, EMPTY_FAMILY, node)
            else:
                node = self._store.node(unit, node, int(self._frame[x, 4]))
        return node
