"""The arrays of one depth-first search: made from a core and an order, kept while the kernel comes and goes."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET
from optsum.system.compiled import njit

from ..program import widths
from ..reduction import mix
from ..search import WANTED, Search
from ..store import NodeStore
from ..tables import random_words, segment_ends, word_of
from .bound import grain_of, last_row, nothing_behind, precedence_table
from .instance.core import NEED, Core
from .instance.reduction import fillers
from .kernel import Order, run_search
from .moves import Items, Joints, State, Tables, Units


@njit(cache=True)
def _reach(lengths, skip, last):
    """``reach[d, c]``: the largest total <= c of units from place d on; `last` is its last row."""
    n, room = len(lengths), len(last) - 1
    reach = np.empty((n + 1, room + 1), np.int32)
    reach[n] = last
    for d in range(n - 1, -1, -1):
        w, past = lengths[d], skip[d]
        for c in range(room + 1):
            reach[d, c] = reach[past, c]
            if c >= w:
                reach[d, c] = max(reach[d, c], w + reach[d + 1, c - w])
    return reach


@njit(cache=True)
def _words(joints):
    words = np.empty((joints, 2), np.uint64)
    for o in range(joints):
        for k in range(2):
            words[o, k] = mix(np.uint64(0x7000000000000000) + np.uint64(2 * o + k))
    return words


@njit(cache=True)
def _first_key(words, ends, table_start, left, joint_words):
    key = np.zeros(2, np.uint64)
    for which in range(2):
        for f in range(len(left)):
            key[which] ^= words[word_of(words, ends, table_start, f, np.int64(0), left[f]), which]
        for o in range(len(joint_words)):
            key[which] ^= joint_words[o, which]
    return key


def _lists(owner: IntArray, owned: IntArray, owners: int) -> tuple[IntArray, IntArray]:
    """Pack pairs by owner: starts and values."""
    order = owner.argsort(kind="stable")
    start = np.zeros(owners + 1, np.int64)
    np.bincount(owner, minlength=owners).cumsum(out=start[1:])
    return start, owned[order]


def _entries(start: IntArray, items: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the entries of items begin if they stand in this order, and the number of each entry."""
    width = widths(start)[items]
    begin = np.zeros(len(items) + 1, np.int64)
    width.cumsum(out=begin[1:])
    return begin, (start[items] - begin[:-1]).repeat(width) + np.arange(begin[-1])


def _never_less(core: Core, mass: IntArray, n: int) -> IntArray:
    """Return what sets lose at most from each of n places on; `mass` is of items in order."""
    least = np.zeros(n + 1, np.int64)
    least[:n] = np.minimum(mass[:n], 0)[::-1].cumsum()[::-1]
    least[:n] += int(np.minimum(mass[n:], 0).sum()) - int((core.fees.weight * core.fees.step).sum())
    return least


def units_of(core: Core, place: IntArray, n: int) -> Units:
    """Return the joints and rows of each place."""
    tied_row = np.flatnonzero(core.rows.unit >= 0)
    return Units(
        *_lists(place[core.need_unit], core.need_joint, n),
        *_lists(place[core.veto_unit], core.veto_joint, n),
        *_lists(place[core.rows.unit[tied_row]], tied_row, n),
        np.where(core.rows.sign == NEED, 0, 1),
    )


def _state(core: Core) -> State:
    """Return the state before the first decision."""
    rows, joints, left = core.rows, core.joints, core.at.left
    und = np.bincount(core.need_joint, minlength=joints) + np.bincount(core.veto_joint, minlength=joints)
    return State(
        np.zeros(len(left), np.int64),
        left.copy(),
        und.astype(np.int64),
        np.zeros(joints, np.int64),
        np.bincount(rows.row, minlength=len(rows.unit)).astype(np.int64),
        np.where(rows.unit >= 0, 0, 1).astype(np.int64),
    )


class JointSearch(Search):
    """One resumable search for sets of at least a value, or for the first of them (`Operations`).

    For the first one there are no fillers: units that touch nothing and stand in trees of such units, which are decided
    last (and not apart where the knapsack table is coarse).

    Parameters
    ----------
    order : (n,)
        Units in the order of decision; descendants follow their ancestors immediately.
    """

    def __init__(self, core: Core, order: IntArray, target: int, store: NodeStore, first_only: bool) -> None:
        at, grain = core.at, grain_of(core)
        self._low, self._high = core.low, core.high
        filler = fillers(core) if not first_only and grain == 1 else np.zeros(core.size, np.bool_)
        outside = order[filler[order]]
        order = order[~filler[order]]
        n, joints = len(order), core.joints
        place = np.full(core.size, -1, np.int64)
        place[order] = np.arange(n)
        items_in_order = np.concatenate([order, core.size + np.arange(joints)])
        start, entries = _entries(at.start, items_in_order)
        mass = core.mass[items_in_order]
        lengths = core.lengths[order]
        skip = np.arange(n) + (core.skip[order] - order)  # subtrees keep their sizes

        self._fillers = _Fillers(core, outside, store) if len(outside) else None
        # With a least length every room is a state of its own; with a coarse table rooms are not merged.
        reach_last = self._fillers.reach if self._fillers else nothing_behind(core, grain)
        last = last_row(core.low, core.high, grain, reach_last)
        K = precedence_table(lengths, skip, at.profit[order], last, grain)
        merges = grain == 1 and core.low <= 0
        reach = _reach(lengths, skip, reach_last) if merges else np.zeros((0, 0), np.int32)
        never_less = _never_less(core, mass, n)
        rows = core.rows
        words, ends = random_words(len(at.table), 1), segment_ends(at.table_start, at.table)
        joint_words = _words(joints)
        tables = Tables(at.table_start, at.table, at.price, at.best, words, ends, core.scale, at.rising)
        items = Items(start, at.feature[entries], at.copies[entries], at.alone[items_in_order], n)
        ties = Joints(at.surplus, joint_words, *_lists(rows.joint, rows.row, joints), rows.price)
        ids = core.ids[order]
        self._place_of = np.zeros(n + 2, np.int64)
        frame = np.zeros((n + 2, 6), np.int64)
        frame[0, :3] = core.high, at.slack, core.base
        keys = np.zeros((n + 2, 4), np.uint64)
        keys[0, :2] = _first_key(words, ends, at.table_start, at.left, joint_words)
        self._leaf = np.full(core.high + 1, -1, np.int64) if self._fillers else np.zeros(0, np.int64)
        decisions = Order(ids, lengths, skip, at.profit[order], never_less, K, reach, self._leaf)
        limits = (core.low, core.high, grain, target, first_only)
        units = units_of(core, place, n)
        fixed = (decisions, mass, tables, items, ties, units, _state(core), limits, self._place_of)
        super().__init__(run_search, fixed, store, ids, (frame, keys, np.zeros(n + 2, np.int8)))

    def run(self, budget: int) -> int:
        """Enter up to `budget` more frames, and make the leaves that the kernel wants."""
        last = self.frames + budget
        while (answer := super().run(last - self.frames)) == WANTED and self._fillers is not None:
            room = int(self._counters[6])
            self._leaf[room] = self._fillers.node(room)
        return answer

    def _unit(self, x: int) -> int:
        return int(self._ids[self._place_of[x]])


class _Fillers:
    """Sets of units that touch nothing: whatever fits, closed under parents."""

    def __init__(self, core: Core, units: IntArray, store: NodeStore) -> None:
        order = np.sort(units)
        self._ids = core.ids[order].tolist()
        self._lengths = core.lengths[order].tolist()
        skip = np.arange(len(order)) + (core.skip[order] - order)
        self._skip = skip.tolist()
        self._table = _reach(core.lengths[order], skip, np.zeros(core.high + 1, np.int32))
        self.reach = self._table[0]
        self._low, self._high = core.low, core.high
        self._store = store
        self._known: dict[tuple[int, int], int] = {}

    def node(self, room: int) -> int:
        """Node of all sets that fit into the room, and reach the least length if there is one."""
        windowed = self._low > 0
        known, table = self._known, self._table
        stack = [(0, room)]
        while stack:
            d, c = stack[-1]
            key = (d, c if windowed else int(table[d, c]))
            if key in known:
                stack.pop()
                continue
            if d == len(self._ids):
                known[key] = EMPTY_SET if not windowed or self._high - c >= self._low else EMPTY_FAMILY
                continue
            needed = [(self._skip[d], c)]
            if c >= self._lengths[d]:
                needed.append((d + 1, c - self._lengths[d]))
            keys = [(x, y if windowed else int(table[x, y])) for x, y in needed]
            missing = [pair for pair, name in zip(needed, keys, strict=True) if name not in known]
            if missing:
                stack += missing
                continue
            with_ = known[keys[1]] if len(keys) > 1 else EMPTY_FAMILY
            known[key] = self._store.node(self._ids[d], known[keys[0]], with_)
        return known[0, room if windowed else int(table[0, room])]
