"""The arrays of one depth-first search: made from a core and an order, kept while the kernel comes and goes."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit

from optsum.coverage import IntArray
from optsum.diagram import EMPTY_FAMILY

from .arrays import Core
from .lagrangian import best_counts, fee_term, grain_of, net, profits, suffix_table
from .reduction import mix
from .search import FULL, run_search
from .store import NodeStore
from .tables import fill_reach, losses, random_words, segment_ends

__all__ = ["Search"]

_SLICE_NODES: Final = 1024
_SMALL_MEMO: Final = 1 << 12


@njit(cache=True)
def _prepare(
    order,
    ids,
    lengths,
    mass,
    start,
    feature,
    count,
    table_start,
    table,
    price,
    scale,
    base,
    low,
    high,
    grain,
    fee_start,
    fee,
    fee_count,
    fee_share,
    fee_weight,
    fee_step,
):
    """Bring the units into search order and make every table of the kernel."""
    n, m = len(order), len(price)
    new_start = np.zeros(n + 1, np.int64)
    for d in range(n):
        new_start[d + 1] = new_start[d] + start[order[d] + 1] - start[order[d]]
    new_feature = np.empty(new_start[n], np.int64)
    new_count = np.empty(new_start[n], np.int64)
    left = np.zeros(m, np.int64)
    for d in range(n):
        at = new_start[d]
        for k in range(start[order[d]], start[order[d] + 1]):
            new_feature[at] = feature[k]
            new_count[at] = count[k]
            left[feature[k]] += count[k]
            at += 1
    fees = len(fee_weight)
    new_fee_start = np.zeros(n + 1, np.int64)
    for d in range(n):
        new_fee_start[d + 1] = new_fee_start[d] + fee_start[order[d] + 1] - fee_start[order[d]]
    new_fee = np.empty(new_fee_start[n], np.int64)
    new_fee_count = np.empty(new_fee_start[n], np.int64)
    new_fee_share = np.empty(new_fee_start[n], np.int64)
    fee_left = np.zeros(fees, np.int64)
    fee_open = np.zeros(fees, np.int64)
    for d in range(n):
        at = new_fee_start[d]
        for k in range(fee_start[order[d]], fee_start[order[d] + 1]):
            new_fee[at] = fee[k]
            new_fee_count[at] = fee_count[k]
            new_fee_share[at] = fee_share[k]
            fee_left[fee[k]] += fee_count[k]
            fee_open[fee[k]] += fee_share[k]
            at += 1
    new_ids, new_lengths, new_mass = ids[order], lengths[order], mass[order]
    profit = profits(new_mass, new_start, new_feature, new_count, price, scale, new_fee_start, new_fee_share)
    best = best_counts(table_start, table, price, scale)
    slack = base * scale
    for f in range(m):
        slack += net(table_start, table, price, scale, f, min(best[f], left[f]))
    for g in range(fees):
        slack += fee_term(fee_weight[g], fee_step[g], scale, 0, 0, fee_open[g])
    K = suffix_table(new_lengths, profit, low, high, grain)
    reach = fill_reach(new_lengths, high) if grain == 1 and low <= 0 else np.zeros((0, 0), np.int32)
    frame = np.zeros((n + 1, 6), np.int64)
    frame[0, 0] = high
    frame[0, 1] = slack
    frame[0, 2] = base
    words = random_words(len(table), 1)
    fee_words = random_words(fees, 2**40)
    worst = losses(new_mass, new_fee_start, new_fee_count, new_fee, fee_weight, fee_step)
    ends = segment_ends(table_start, table)
    return (
        new_ids,
        new_lengths,
        new_start,
        new_feature,
        new_count,
        new_mass,
        profit,
        best,
        K,
        reach,
        words,
        ends,
        left,
        frame,
        new_fee_start,
        new_fee,
        new_fee_count,
        new_fee_share,
        fee_words,
        worst,
        fee_left,
        fee_open,
    )


@njit(cache=True)
def _move_memo(old_key, old_node, new_key, new_node, frame, keys, depth):
    """Copy a memo into a larger one and tell the open frames their new places."""
    mask = np.uint64(len(new_node) - 1)
    for x in range(len(old_node)):
        if old_node[x] >= 0:
            at = mix(old_key[x, 0] ^ old_key[x, 1]) & mask
            place = np.int64(at)
            for probe in range(8):
                place = np.int64((at + np.uint64(probe)) & mask)
                if new_node[place] < 0:
                    break
            new_node[place] = old_node[x]
            new_key[place] = old_key[x]
    for d in range(depth):
        frame[d, 5] = np.int64(mix(keys[d, 2] ^ keys[d, 3]) & mask)


class Search:
    """One resumable search.

    Parameters
    ----------
    core : Core
    order : (n,) units of the core in the order of decision
    target : int
        Sets of at least this value are wanted.
    first_only : bool
        Stop at the first of them.
    store : NodeStore
    """

    def __init__(self, core: Core, order: IntArray, target: int, first_only: bool, store: NodeStore) -> None:
        self._n = core.size
        self._store = store
        grain = grain_of(core)
        (
            ids,
            lengths,
            start,
            feature,
            count,
            mass,
            profit,
            best,
            K,
            reach,
            words,
            ends,
            left,
            frame,
            fee_start,
            fee,
            fee_count,
            fee_share,
            fee_words,
            worst,
            fee_left,
            fee_open,
        ) = _prepare(
            order,
            core.ids,
            core.lengths,
            core.mass,
            core.start,
            core.feature,
            core.count,
            core.table_start,
            core.table,
            core.price,
            core.scale,
            core.base,
            core.low,
            core.high,
            grain,
            core.fee_start,
            core.fee,
            core.fee_count,
            core.fee_share,
            core.fee_weight,
            core.fee_step,
        )
        self._ids = ids
        self._frame = frame
        self._keys = np.zeros((self._n + 1, 4), np.uint64)
        self._stage = np.zeros(self._n + 1, np.int8)
        self._fixed = (
            ids,
            lengths,
            start,
            feature,
            count,
            mass,
            core.table_start,
            core.table,
            core.price,
            profit,
            best,
            core.scale,
            core.low,
            core.high,
            grain,
            K,
            reach,
            words,
            ends,
            fee_start,
            fee,
            fee_count,
            fee_share,
            core.fee_weight,
            core.fee_step,
            fee_words,
            worst,
            target,
            first_only,
            np.zeros(len(left), np.int64),
            left,
            np.zeros(len(fee_left), np.int64),
            fee_left,
            np.zeros(len(fee_left), np.int64),
            fee_open,
            frame,
            self._keys,
            self._stage,
        )
        self._memo_key = np.empty((_SMALL_MEMO, 2), np.uint64)
        self._memo_node = np.full(_SMALL_MEMO, -1, np.int32)
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
        if slots <= len(self._memo_node):
            return
        key, node = np.empty((slots, 2), np.uint64), np.full(slots, -1, np.int32)
        _move_memo(self._memo_key, self._memo_node, key, node, self._frame, self._keys, int(self._counters[1]))
        self._memo_key, self._memo_node = key, node

    def run(self, budget: int) -> int:
        """Enter up to `budget` more frames; return the kernel's answer (`search.DONE`, `PAUSED` or `FOUND`)."""
        counters, store = self._counters, self._store
        while True:
            store.reserve(self._n + _SLICE_NODES)
            before = self.frames
            counters[0] = store.counters[0]
            answer = run_search(
                *self._fixed, self._memo_key, self._memo_node, store.nodes, store.slots, counters, budget
            )
            store.counters[0] = counters[0]
            if answer != FULL:
                return int(answer)
            budget -= self.frames - before
            store.reserve(len(store.nodes))

    def path(self) -> list[int]:
        """Units taken on the way to the current frame."""
        depth = int(self._counters[1])
        return [int(self._ids[d]) for d in range(depth) if self._stage[d] == 1]

    def partial(self) -> int:
        """Node of the sets that an unfinished search has found."""
        node = EMPTY_FAMILY
        self._store.counters[0] = max(self._store.counters[0], self._counters[0])
        for d in range(int(self._counters[1]) - 1, -1, -1):
            unit = int(self._ids[d])
            if self._stage[d] == 1:
                node = self._store.node(unit, EMPTY_FAMILY, node)
            else:
                node = self._store.node(unit, node, int(self._frame[d, 4]))
        return node
