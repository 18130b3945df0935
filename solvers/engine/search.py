"""The depth-first search over the units of a core, which merges equal states into a diagram, and heuristics.

A `Search` can be paused and resumed; the nodes of its diagrams are in a `NodeStore`.

Units are decided in an order in which a unit's descendants follow it: taking the unit at place d leads to place d + 1,
dropping it to place ``skip[d]``, after its descendants. So at each place, all ancestors are taken, and everything
before it is decided. The arrays of the frame at a place are

    room    length that may still be added
    slack   the bound without the knapsack of the undecided units (`bound`): scale * base, plus for each feature, with v
            copies taken and R copies in undecided items (`have` and `left`), the largest scale * table(c) - p c for c
            in [v, v + R], plus the terms of costs (`bound.cost_term`) and of joints and rows that are still possible,
            plus the profits of the units taken
    gain    value of the units taken and of the joints that are active in all completions
    keys    128 bits: exclusive or of a random word for the state of each feature and cost that still matters, and of
            one for each joint that may still become active (all its decided units agree with it, and they follow from
            the place)

and the bound of a frame is ``slack + K[d, room]`` (`bound.knapsack`); a frame below scale * target is cut.

The state of a feature determines its future gains: empty if its table is flat or no copy is left; only the slope if the
table is linear over all remaining copies; otherwise v. Two frames of the same place, gain, key and *effective room*
(the largest total that the undecided units can fill) have the same completions, so the second one takes the diagram
node of the first. Costs are treated like features. If the gain reaches the target even with all possible losses
(`worst`: negative masses and costs of undecided units; none in recall), every completion that fits belongs to the
family: such "open" frames depend only on place and room. Keys of two different states are equal with probability
2^-128.

Diagram nodes are (unit, without, with) as in `optsum.optima.optima`: node 0 is the empty family, node 1 the family of
the empty set; a node whose `with` branch is empty is replaced by its `without` branch; equal nodes are shared.

The features of a unit are changed by functions that are inlined, because others unpack their arrays at every call.
Joints and rows, if any, are changed by helpers: `und` and `killed` count the undecided units of each joint, and
the units whose decision makes it impossible; `alive` counts the possible members of each row; `on` tells whether the
decision of a row's unit allows a member (1 for rows without a unit). The price of a row is in the slack only while a
member is possible; it is subtracted when the last one becomes impossible.

The kernel stops after a number of frames and can be called again, because its whole state is in its arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray, grouped
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.system.compiled import njit

from .bound import cost_term, evaluated, grain_of, knapsack, net
from .core import NEED, TAKEN, Core, States, mix, reduced, skips, with_costs

# mypy: disable-error-code="no-untyped-def, operator"
# (numba infers the types of the kernels.)


# Inlined, as long searches take 5 % less; it costs a second of compilation.
@njit(cache=True, inline="always")
def word_of(words, ends, table_start, f, v, left):
    """Return the row of the words that feature f adds to the key, with v copies taken and `left` copies remaining."""
    first = table_start[f]
    if left == 0 or v >= table_start[f + 1] - first - 1:
        return len(words) - 1
    at = first + v
    end = ends[at]
    return 2 * (first + end) + 1 if v + left <= end else 2 * at


@njit(cache=True, inline="always")
def _cost_word(words, g, step, v, left, which):
    if left == 0 or v >= step:
        return np.uint64(0)
    if v + left <= step:
        return words[2 * g + 1, which]
    return mix(words[2 * g, which] + np.uint64(v))


@njit(cache=True, inline="always")
def place_of(memo_key, memo_node, a, b):
    """Return the slot of a key in a memo, or the slot to write it to, and the node stored in it, or -1."""
    mask = np.uint64(len(memo_node) - 1)
    at = mix(a ^ b) & mask
    place = np.int64(at)
    for probe in range(8):
        place = np.int64((at + np.uint64(probe)) & mask)
        if memo_node[place] < 0:
            break
        if memo_key[place, 0] == a and memo_key[place, 1] == b:
            return place, np.int64(memo_node[place])
    return place, np.int64(-1)


@njit(cache=True, inline="always")
def recalled(memo_key, memo_node, keys, x, d, filled, opened, gain):
    """Write the memo's key of frame x, which decides place d, and return the result of `place_of`."""
    a = np.uint64(d) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(filled)
    if opened:
        a = mix(a ^ np.uint64(0x5555555555555555))
        b = mix(a)
    else:
        a = mix(a) + np.uint64(gain)
        b = mix(a ^ np.uint64(0x1234567812345678)) ^ keys[x, 1]
        a = mix(a) ^ keys[x, 0]
    keys[x, 2] = a
    keys[x, 3] = b
    return place_of(memo_key, memo_node, a, b)


@njit(cache=True)
def make_node(nodes, node_slots, counters, unit, without, with_):
    """Return a node for (unit, without, with), shared if it exists. The caller ensures that there is room."""
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


class Items(NamedTuple):
    """The units in the order of search, then the joints; and the least or the most that undecided ones can add."""

    ids: IntArray
    # lengths, profit: (n,)
    lengths: IntArray
    # mass, alone: (items,): `alone` as `bound.evaluated` returns it.
    mass: IntArray
    alone: IntArray
    profit: IntArray
    # start, feature, copies: (items + 1,), (entries,), (entries,)
    start: IntArray
    feature: IntArray
    copies: IntArray
    worst: IntArray  # (n + 1,): least amount that undecided items from a place on can add to a value.
    # K, reach: (n + 1, rooms): knapsack of the profits; largest totals of lengths, empty if rooms are not merged.
    K: IntArray
    reach: NDArray[np.int32]


class FeatureTables(NamedTuple):
    """The features of a core: their gain tables and prices, lookup tables, and current numbers of copies."""

    start: IntArray
    table: IntArray
    price: IntArray
    best: IntArray  # (m,): as `bound.evaluated` returns it.
    # words, ends: as `random_words` and `segment_ends` return them
    words: NDArray[np.uint64]
    ends: IntArray
    # have, left: (m,): copies in units taken and undecided.
    have: IntArray
    left: IntArray


class CostTables(NamedTuple):
    """The capped costs of a core, and their current numbers of copies."""

    start: IntArray
    cost: IntArray
    copies: IntArray
    share: IntArray
    weight: IntArray
    step: IntArray
    words: NDArray[np.uint64]
    # have, left, paid, open: (costs,): copies in units taken and undecided, shares of units taken and undecided.
    have: IntArray
    left: IntArray
    paid: IntArray
    open: IntArray


class TieTables(NamedTuple):
    """Ties between units: by place, by joint and by row; all arrays are empty if there are none."""

    skip: IntArray  # (n,): the first place after a unit's descendants.
    # surplus, words, und, killed: (joints, ...): bound, word of the key, and counts of each joint (see the module).
    surplus: IntArray
    words: NDArray[np.uint64]
    und: IntArray
    killed: IntArray
    # member_start, member_row: the rows that each joint is a member of
    member_start: IntArray
    member_row: IntArray
    # price, sign, alive, on: (rows,)
    price: IntArray
    sign: IntArray
    alive: IntArray
    on: IntArray
    # need_start, need, veto_start, veto, row_start, row: the joints that need each unit, those that it vetoes, and its
    # rows.
    need_start: IntArray
    need: IntArray
    veto_start: IntArray
    veto: IntArray
    row_start: IntArray
    row: IntArray


# Inlined with separate arrays, because unpacking tuples of them costs more.
@njit(cache=True, inline="always")
def _change(
    i, took, scale, slack, gain, ka, kb, start, feature, count, table_start, table, price, best, words, ends, have,
    left, cost_start, cost, cost_count, cost_share, cost_weight, cost_step, cost_words, cost_have, cost_left, cost_paid,
    cost_open,
):  # fmt: skip
    """Take an item, or drop it: change the copies, and return slack, gain and the two words of the key."""
    for k in range(start[i], start[i + 1]):
        f, c, v, r = feature[k], count[k], have[feature[k]], left[feature[k]]
        first = table_start[f]
        v2, r2 = v + c if took else v, r - c
        if took:
            top = table_start[f + 1] - first - 1
            gain += table[first + min(v2, top)] - table[first + min(v, top)]
        was, now = min(max(best[f], v), v + r), min(max(best[f], v2), v2 + r2)
        if was != now:
            slack += net(table_start, table, price, scale, f, now) - net(table_start, table, price, scale, f, was)
        before, after = word_of(words, ends, table_start, f, v, r), word_of(words, ends, table_start, f, v2, r2)
        ka ^= words[before, 0] ^ words[after, 0]
        kb ^= words[before, 1] ^ words[after, 1]
        have[f], left[f] = v2, r2
    one, two = np.int64(0), np.int64(1)  # the words of a key; literals would compile `_cost_word` twice
    for k in range(cost_start[i], cost_start[i + 1]):
        g, c, v, r = cost[k], cost_count[k], cost_have[cost[k]], cost_left[cost[k]]
        weight, step = cost_weight[g], cost_step[g]
        v2, r2 = v + c if took else v, r - c
        gain -= weight * (min(v2, step) - min(v, step))
        slack -= cost_term(weight, step, scale, v, cost_paid[g], cost_open[g])
        cost_open[g] -= cost_share[k]
        if took:
            cost_paid[g] += cost_share[k]
        slack += cost_term(weight, step, scale, v2, cost_paid[g], cost_open[g])
        ka ^= _cost_word(cost_words, g, step, v, r, one) ^ _cost_word(cost_words, g, step, v2, r2, one)
        kb ^= _cost_word(cost_words, g, step, v, r, two) ^ _cost_word(cost_words, g, step, v2, r2, two)
        cost_have[g], cost_left[g] = v2, r2
    return slack, gain, ka, kb


@njit(cache=True, inline="always")
def _restore(
    i, took, start, feature, count, have, left, cost_start, cost, cost_count, cost_share, cost_have, cost_left,
    cost_paid, cost_open,
):  # fmt: skip
    """Undo `_change` of the copies."""
    for k in range(start[i], start[i + 1]):
        left[feature[k]] += count[k]
        if took:
            have[feature[k]] -= count[k]
    for k in range(cost_start[i], cost_start[i + 1]):
        g = cost[k]
        cost_left[g] += cost_count[k]
        cost_open[g] += cost_share[k]
        if took:
            cost_have[g] -= cost_count[k]
            cost_paid[g] -= cost_share[k]


@njit(cache=True)
def _change_item(items, tables, costs, scale, moved, key, i, took):
    """Take an item, or drop it: update copies, slack and gain (`moved`), and the two words of the key."""
    _ids, _lengths, _mass, _alone, _profit, start, feature, count, _worst, _K, _reach = items
    table_start, table, price, best, words, ends, have, left = tables
    cost_start, cost, cost_count, share, weight, step, cost_words, cost_have, cost_left, paid, unpaid = costs
    moved[0], moved[1], key[0], key[1] = _change(
        i, took, scale, moved[0], moved[1], key[0], key[1], start, feature, count, table_start, table, price, best,
        words, ends, have, left, cost_start, cost, cost_count, share, weight, step, cost_words, cost_have, cost_left,
        paid, unpaid,
    )  # fmt: skip


@njit(cache=True)
def _restore_item(items, tables, costs, i, took):
    cost_start, cost, cost_count, share, _weight, _step, _words, cost_have, cost_left, paid, unpaid = costs
    _restore(
        i, took, items.start, items.feature, items.copies, tables.have, tables.left, cost_start, cost, cost_count,
        share, cost_have, cost_left, paid, unpaid,
    )  # fmt: skip


@njit(cache=True)
def _decide_joint(items, tables, costs, ties, scale, moved, key, o, active):
    """Decide that joint o is active in all completions, or in none."""
    n = len(items.lengths)
    moved[0] -= max(0, ties.surplus[o])
    if active:
        moved[0] += ties.surplus[o]
        moved[1] += items.mass[n + o]
    key[0] ^= ties.words[o, 0]
    key[1] ^= ties.words[o, 1]
    _change_item(items, tables, costs, scale, moved, key, n + o, active)
    if not active:
        for k in range(ties.member_start[o], ties.member_start[o + 1]):
            r = ties.member_row[k]
            ties.alive[r] -= 1
            if ties.alive[r] == 0 and ties.on[r] == 1:
                moved[0] -= ties.price[r]


@njit(cache=True)
def _restore_joint(items, tables, costs, ties, o, active):
    _restore_item(items, tables, costs, len(items.lengths) + o, active)
    if not active:
        for k in range(ties.member_start[o], ties.member_start[o + 1]):
            ties.alive[ties.member_row[k]] += 1


@njit(cache=True)
def _change_ties(items, tables, costs, ties, scale, moved, key, d, took):
    """Update joints and rows for the unit at place d, which is taken (with all its ancestors) or dropped."""
    for k in range(ties.row_start[d], ties.row_start[d + 1]):
        r = ties.row[k]
        if took and ties.sign[r] == 1:
            moved[0] -= ties.price[r]
        elif took:
            ties.on[r] = 1
            if ties.alive[r] > 0:
                moved[0] += ties.price[r]
        elif ties.sign[r] == 1:
            ties.on[r] = 1
            if ties.alive[r] == 0:
                moved[0] -= ties.price[r]
    for needs in (True, False):
        start, joints = (ties.need_start, ties.need) if needs else (ties.veto_start, ties.veto)
        for k in range(start[d], start[d + 1]):
            o = joints[k]
            ties.und[o] -= 1
            if needs != took:
                ties.killed[o] += 1
                if ties.killed[o] == 1:
                    _decide_joint(items, tables, costs, ties, scale, moved, key, o, needs == took)
            elif ties.und[o] == 0 and ties.killed[o] == 0:
                _decide_joint(items, tables, costs, ties, scale, moved, key, o, needs == took)


@njit(cache=True)
def _restore_ties(items, tables, costs, ties, d, took):
    for needs in (True, False):
        start, joints = (ties.need_start, ties.need) if needs else (ties.veto_start, ties.veto)
        for k in range(start[d], start[d + 1]):
            o = joints[k]
            if needs != took:
                ties.killed[o] -= 1
                if ties.killed[o] == 0:
                    _restore_joint(items, tables, costs, ties, o, needs == took)
            elif ties.und[o] == 0 and ties.killed[o] == 0:
                _restore_joint(items, tables, costs, ties, o, needs == took)
            ties.und[o] += 1
    for k in range(ties.row_start[d], ties.row_start[d + 1]):
        ties.on[ties.row[k]] = 0


@njit(cache=True)
def run_search(items, tables, costs, ties, limits, target, first_only, way, memo, store, counters, budget):
    """Continue the search from the state in the arrays; return `DONE`, `PAUSED`, `FULL` or `FOUND`.

    `limits`: scale, minimum and maximum length, divisor of lengths in ``items.K``. `way` (n + 1, 7) int64, (n + 1, 4)
    uint64, (n + 1,) int8: for each frame room, slack, gain, open (0/1), result of the `with` branch, memo slot, place
    of the frame before; key of the state (two words) and of the memo (two words); 0 entering, 1 back from `with`, 2
    back from `without`. `memo` (slots, 2) uint64, (slots,) int32: open addressing over eight places, the last of them
    overwritten; -1 marks an empty slot. `store` (capacity, 3) int32, (slots,) int32: nodes, and their index. `counters`
    (6,) int64: nodes in use, place, frames entered, node returned, memo hits, frames that became nodes. `budget`:
    largest number of frames to enter.
    """
    ids, lengths, mass, alone, profit, start, feature, count, worst, K, reach = items
    table_start, table, price, best, words, ends, have, left = tables
    cost_start, cost, cost_count, cost_share, cost_weight, cost_step, cost_words = costs[:7]
    cost_have, cost_left, cost_paid, cost_open = costs[7:]
    frame, keys, stage = way
    memo_key, memo_node = memo
    nodes, node_slots = store
    scale, low, high, grain = limits
    n = len(lengths)
    goal = target * scale
    d = counters[1]
    result = counters[3]
    spent = 0
    skip = ties.skip
    forest = len(skip) > 0
    joined = len(ties.surplus) > 0
    tied = joined or len(ties.row) > 0
    moved, key = np.empty(2, np.int64), np.empty(2, np.uint64)
    yes, no = n >= 0, n < 0  # literals would compile the helpers twice
    capacity = len(nodes) - n - 2
    while True:
        at = stage[d]
        if at == 0:
            # Enter.
            if spent >= budget or counters[0] >= capacity:
                counters[1] = d
                counters[3] = result
                return 1 if spent >= budget else 2
            spent += 1
            counters[2] += 1
            room = frame[d, 0]
            if frame[d, 3] == 0 and frame[d, 2] + worst[d] >= target:
                frame[d, 3] = 1
            opened = frame[d, 3]
            # The gain does not include undecided joints.
            if first_only and (opened or (frame[d, 2] >= target and not joined)) and (high - room >= low):
                counters[1] = d
                return 3
            result = -1
            if d == n:
                result = 1 if (opened and high - room >= low) else 0
            elif (opened == 0 and frame[d, 1] + K[d, room // grain] < goal) or K[d, room // grain] < -(2**60):
                result = 0
            if result < 0:
                filled = np.int64(reach[d, room // grain]) if (low <= 0 and len(reach) > 0) else room
                frame[d, 5], result = recalled(memo_key, memo_node, keys, d, d, filled, opened, frame[d, 2])
                if result >= 0:
                    counters[4] += 1
            if result < 0:
                w = lengths[d]
                take = room >= w and (opened == 1 or frame[d, 1] + profit[d] + K[d + 1, (room - w) // grain] >= goal)
                at = stage[d] = 1
                frame[d, 4] = 0
                if take:
                    frame[d + 1, 6] = d
                    frame[d + 1, 0] = room - w
                    frame[d + 1, 3] = opened
                    if opened == 0:
                        slack, gain, ka, kb = _change(
                            d, True, scale, frame[d, 1] + alone[d], frame[d, 2] + mass[d], keys[d, 0], keys[d, 1],
                            start, feature, count, table_start, table, price, best, words, ends, have, left, cost_start,
                            cost, cost_count, cost_share, cost_weight, cost_step, cost_words, cost_have, cost_left,
                            cost_paid, cost_open,
                        )  # fmt: skip
                        if tied:
                            moved[0], moved[1], key[0], key[1] = slack, gain, ka, kb
                            _change_ties(items, tables, costs, ties, scale, moved, key, d, yes)
                            slack, gain, ka, kb = moved[0], moved[1], key[0], key[1]
                        frame[d + 1, 1], frame[d + 1, 2], keys[d + 1, 0], keys[d + 1, 1] = slack, gain, ka, kb
                    d += 1
                    stage[d] = 0
                    continue
                result = 0
                # falls through to stage 1 with the `with` branch empty
        if at == 1:
            frame[d, 4] = result
            room = frame[d, 0]
            opened = frame[d, 3]
            past = skip[d] if forest else d + 1
            if opened == 1 or frame[d, 1] + K[past, room // grain] >= goal:
                stage[d] = 2
                frame[past, 6] = d
                frame[past, 0] = room
                frame[past, 3] = opened
                if opened == 0:
                    slack, gain, ka, kb = _change(
                        d, False, scale, frame[d, 1], frame[d, 2], keys[d, 0], keys[d, 1], start, feature, count,
                        table_start, table, price, best, words, ends, have, left, cost_start, cost, cost_count,
                        cost_share, cost_weight, cost_step, cost_words, cost_have, cost_left, cost_paid, cost_open,
                    )  # fmt: skip
                    if forest:
                        moved[0], moved[1], key[0], key[1] = slack, gain, ka, kb
                        for j in range(d, past):
                            if j > d:
                                _change_item(items, tables, costs, scale, moved, key, j, no)
                            if tied:
                                _change_ties(items, tables, costs, ties, scale, moved, key, j, no)
                        slack, gain, ka, kb = moved[0], moved[1], key[0], key[1]
                    frame[past, 1], frame[past, 2], keys[past, 0], keys[past, 1] = slack, gain, ka, kb
                d = past
                stage[d] = 0
                continue
            result = 0
        if at > 0:
            # Both branches known.
            if frame[d, 3] == 0 and at == 2:
                if forest:
                    for j in range(skip[d] - 1, d - 1, -1):
                        if tied:
                            _restore_ties(items, tables, costs, ties, j, no)
                        if j > d:
                            _restore_item(items, tables, costs, j, no)
                _restore(
                    d, False, start, feature, count, have, left, cost_start, cost, cost_count, cost_share, cost_have,
                    cost_left, cost_paid, cost_open,
                )  # fmt: skip
            if frame[d, 4] != 0:
                result = make_node(nodes, node_slots, counters, ids[d], result, frame[d, 4])
            if result != 0:
                counters[5] += 1
            place = frame[d, 5]
            memo_key[place, 0] = keys[d, 2]
            memo_key[place, 1] = keys[d, 3]
            memo_node[place] = result
        # Go back up.
        if d == 0:
            counters[1] = 0
            counters[3] = result
            return 0
        d = frame[d, 6]
        if stage[d] == 1 and frame[d, 3] == 0:
            if tied:
                _restore_ties(items, tables, costs, ties, d, yes)
            _restore(
                d, True, start, feature, count, have, left, cost_start, cost, cost_count, cost_share, cost_have,
                cost_left, cost_paid, cost_open,
            )  # fmt: skip


# Results of `run_search`: everything is searched, the frames are used up, there is no room for nodes, a set is found.
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
    """Diagram nodes (unit, without, with); nodes 0 and 1 are the empty family and the family of the empty set."""

    def __init__(self) -> None:
        self.nodes = np.empty((_START, 3), np.int32)
        self.nodes[EMPTY_FAMILY] = (-1, EMPTY_FAMILY, EMPTY_FAMILY)
        self.nodes[EMPTY_SET] = (-1, EMPTY_SET, EMPTY_SET)
        self.slots = np.full(2 * _START, -1, np.int32)
        self.counters = np.zeros(1, np.int64)
        self.counters[0] = 2

    @property
    def used(self) -> int:
        return int(self.counters[0])

    def reserve(self, room: int) -> None:
        while self.used + room > len(self.nodes):
            self.grow()

    def grow(self) -> None:
        capacity = 2 * len(self.nodes)
        nodes = np.empty((capacity, 3), np.int32)
        nodes[: self.used] = self.nodes[: self.used]
        self.nodes = nodes
        self.slots = np.full(2 * capacity, -1, np.int32)
        _reindex(self.nodes, self.used, self.slots)

    def node(self, unit: int, without: int, with_: int) -> int:
        """Return a node for the sets of `without`, and those of `with_` with the unit added."""
        self.reserve(8)
        return int(make_node(self.nodes, self.slots, self.counters, unit, without, with_))

    def add_all(self, units: list[int], node: int) -> int:
        for unit in units:
            node = self.node(unit, EMPTY_FAMILY, node)
        return node

    def diagram(self, root: int) -> Diagram:
        return Diagram.of_nodes(self.nodes[: self.used], root)


@njit(cache=True)
def segment_ends(table_start, table):
    """Return for each count c of each feature the last count up to which the table has the slope after c."""
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
    """Return two random rows for each table entry c ("c copies", "slope of the piece ending at c"), then zeros."""
    words = np.zeros((2 * size + 1, 2), np.uint64)
    for i in range(2 * size):
        for k in range(2):
            words[i, k] = mix(np.uint64(seed) + np.uint64(2 * i + k))
    return words


@njit(cache=True)
def _least_sums(n, mass, start, costs, copies, weight, step):
    """Return ``least[d]``: the least amount that units from place d on, and all joints, can add to a value."""
    least, total = np.zeros(n + 1, np.int64), 0
    for i in range(len(mass) - 1, -1, -1):
        own = mass[i]
        for k in range(start[i], start[i + 1]):
            own -= weight[costs[k]] * min(copies[k], step[costs[k]])
        total += min(own, 0)
        if i < n:
            least[i] = total
    return least


@njit(cache=True)
def _picked(values, places):
    out = np.empty(len(places), np.int64)
    for k in range(len(places)):
        out[k] = values[places[k]]
    return out


@njit(cache=True)
def _rows_in_order(start, order):
    """Return the starts of packed rows in another order, and the old place of each of their entries."""
    starts, places = np.zeros(len(start), np.int64), np.empty(start[len(order)], np.int64)
    for d in range(len(order)):
        starts[d + 1] = starts[d] + start[order[d] + 1] - start[order[d]]
        for k in range(starts[d], starts[d + 1]):
            places[k] = start[order[d]] + k - starts[d]
    return starts, places


@njit(cache=True)
def _reach(lengths, skip, room):
    """Return ``reach[d, c]``, the largest total length <= c of units from place d on, in half of a knapsack's bytes."""
    n = len(lengths)
    reach = np.zeros((n + 1, room + 1), np.int32)
    for d in range(n - 1, -1, -1):
        w, past = lengths[d], skip[d] if len(skip) else d + 1
        for c in range(room + 1):
            reach[d, c] = reach[past, c]
            if c >= w:
                reach[d, c] = max(reach[d, c], w + reach[d + 1, c - w])
    return reach


@njit(cache=True)
def _prepare(order, core, skip, grain):
    ids, lengths, mass, start, feature, count, table_start, table, price, paid, base, low, high, _scale, _ties = core
    cost_start, cost, cost_count, cost_share, weight, step = paid
    n, costs = len(order), len(weight)
    alone, profit, _surplus, best, left, unpaid, slack = evaluated(core)
    place = np.arange(len(mass))  # the item at each place
    for d in range(n):
        place[d] = order[d]
    starts, entry = _rows_in_order(start, place)
    paid_starts, payment = _rows_in_order(cost_start, place)
    lengths, profit, mass = _picked(lengths, order), _picked(profit, order), _picked(mass, place)
    paid_cost, copies = _picked(cost, payment), _picked(cost_count, payment)
    cost_left = np.zeros(costs, np.int64)
    for k in range(len(cost)):
        cost_left[cost[k]] += cost_count[k]
    K = knapsack(lengths, profit, skip, low, high, grain)
    merged = low <= 0 and (grain == 1 or grain > high)  # with rounded lengths, equal rooms may differ in truth
    reach = _reach(lengths // grain, skip, high // grain) if merged else np.zeros((0, 0), np.int32)
    frame = np.zeros((n + 1, 7), np.int64)
    frame[0, 0], frame[0, 1], frame[0, 2] = high, slack, base
    worst = _least_sums(n, mass, paid_starts, paid_cost, copies, weight, step)
    items = Items(
        _picked(ids, order), lengths, mass, _picked(alone, place), profit, starts, _picked(feature, entry),
        _picked(count, entry), worst, K, reach,
    )  # fmt: skip
    words, cost_words = random_words(len(table), np.int64(1)), random_words(costs, np.int64(2**40))
    have, ends = np.zeros(len(price), np.int64), segment_ends(table_start, table)
    tables = FeatureTables(table_start, table, price, best, words, ends, have, left)
    held, charged = np.zeros(costs, np.int64), np.zeros(costs, np.int64)
    share = _picked(cost_share, payment)
    paid_costs = CostTables(
        paid_starts, paid_cost, copies, share, weight, step, cost_words, held, cost_left, charged, unpaid
    )
    return items, tables, paid_costs, frame


def _lists(owner: IntArray, owned: IntArray, owners: int) -> tuple[IntArray, IntArray]:
    start, order = grouped(owner, owners)
    return start, owned[order]


_NONE: Final = np.zeros(0, np.int64)
_NO_TIES: Final = TieTables(_NONE, _NONE, np.zeros((0, 2), np.uint64), *[_NONE] * 14)


def tie_tables(core: Core, order: IntArray) -> TieTables:
    """Return the ties of a core, by place in the order of search, before the first decision."""
    if not core.tied:
        return _NO_TIES
    n, joints, ties = core.size, core.joints, core.ties
    skip = np.arange(n) + (skips(ties.parent)[order] - order)  # subtrees keep their sizes
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
    """Copy a memo into a larger one, and update the slots of the open frames."""
    mask = np.uint64(len(new_node) - 1)
    for x in range(len(old_node)):
        if old_node[x] >= 0:
            place, _ = place_of(new_key, new_node, old_key[x, 0], old_key[x, 1])
            new_node[place] = old_node[x]
            for part in range(2):  # assigning whole rows would compile numba's code for slices
                new_key[place, part] = old_key[x, part]
    for d in range(depth):
        frame[d, 5] = np.int64(mix(keys[d, 2] ^ keys[d, 3]) & mask)


def _empty_memo(slots: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    return np.empty((slots, 2), np.uint64), np.full(slots, -1, np.int32)


class Search:
    """A search for all sets of a core that reach a target, or for the first of them."""

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
        return int(self._counters[2])

    @property
    def merged(self) -> int:
        return int(self._counters[4])

    @property
    def fruitful(self) -> int:
        return int(self._counters[5])

    @property
    def root(self) -> int:
        return int(self._counters[3])

    def grow_memo(self, slots: int) -> None:
        if slots > len(self._memo[1]):
            larger = _empty_memo(slots)
            _move_memo(*self._memo, *larger, self._frame, self._keys, int(self._counters[1]))
            self._memo = larger

    def run(self, budget: int) -> int:
        """Enter up to `budget` more frames; return `DONE`, `PAUSED` or `FOUND`."""
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
        place = int(self._counters[1])
        while place > 0:
            place = int(self._frame[place, 6])
            yield place

    def path(self) -> list[int]:
        return [int(self._ids[place]) for place in self._open() if self._stage[place] == 1][::-1]

    def partial(self) -> int:
        """Return the node of the sets found by an unfinished search."""
        node = EMPTY_FAMILY
        # After an interrupt, the nodes of the last call of the kernel are not counted yet.
        self._store.counters[0] = max(self._store.counters[0], self._counters[0])
        for x in self._open():
            unit = int(self._ids[x])
            if self._stage[x] == 1:
                node = self._store.node(unit, EMPTY_FAMILY, node)
            else:
                node = self._store.node(unit, node, int(self._frame[x, 4]))
        return node


_MOST: Final = 20_000  # Largest number of possible exchanges of a set that is improved at a split of a search.
_SHAKES: Final = 400_000  # Chosen units times units times rounds of `shaken`: a few milliseconds.


class Worths(NamedTuple):
    """Mass, features and tables of a core, with costs as further features."""

    mass: IntArray
    start: IntArray
    feature: IntArray
    count: IntArray  # type: ignore[assignment]  # hides `tuple.count`
    table_start: IntArray
    table: IntArray


class TiedMoves(NamedTuple):
    """Lengths and ties of the units, and the numbers of decisions that keep each joint from being active."""

    lengths: IntArray
    parent: IntArray
    need_start: IntArray
    need: IntArray
    veto_start: IntArray
    veto: IntArray
    # undecided, killed: (joints,): needed units that are not chosen yet, and vetoing units that are.
    undecided: IntArray
    killed: IntArray


@njit(cache=True)
def _worths(core):
    start, feature, count, table_start, table, _price, _share = with_costs(core[3:9], core[9])
    return Worths(core[2], start, feature, count, table_start, table)


@njit(cache=True)
def total_of(held, core):
    """Return the value of some units of a core, without joints and without the units taken before (`base`)."""
    mass, start, feature, count, table_start, table = _worths(core)
    have, total = np.zeros(len(table_start) - 1, np.int64), 0
    for i in range(len(held)):
        if held[i]:
            total += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
    for f in range(len(have)):
        total += table[table_start[f] + min(have[f], table_start[f + 1] - table_start[f] - 1)]
    return total


@njit(cache=True)
def _moved(have, worths, item, sign):
    # Arrays have no local names, because each call would count a reference to every array with one.
    gain = sign * worths.mass[item]
    for k in range(worths.start[item], worths.start[item + 1]):
        f = worths.feature[k]
        first = worths.table_start[f]
        top = worths.table_start[f + 1] - first - 1
        before = worths.table[first + min(have[f], top)]
        have[f] += sign * worths.count[k]
        gain += worths.table[first + min(have[f], top)] - before
    return gain


@njit(cache=True, inline="always")
def _gain_of(have, worths, item):
    mass, start, feature, count, table_start, table = worths
    gain = mass[item]
    for k in range(start[item], start[item + 1]):
        f = feature[k]
        first = table_start[f]
        top = table_start[f + 1] - first - 1
        gain += table[first + min(have[f] + count[k], top)] - table[first + min(have[f], top)]
    return gain


@njit(cache=True)
def _moved_tied(state, have, worths, moves, unit, sign):
    """Add a unit and missing ancestors (`sign` 1), or drop them (-1), before `state` changes; return gain, length."""
    gain, length = np.int64(0), np.int64(0)
    n = len(moves.lengths)
    i = unit
    while i >= 0 and state[i] != 1:
        length += moves.lengths[i]
        gain += _moved(have, worths, i, sign)
        for k in range(moves.veto_start[i], moves.veto_start[i + 1]):
            o = moves.veto[k]
            was = moves.killed[o]
            moves.killed[o] += sign
            if moves.undecided[o] == 0 and min(was, moves.killed[o]) == 0:
                gain += _moved(have, worths, n + o, -sign)
        for k in range(moves.need_start[i], moves.need_start[i + 1]):
            o = moves.need[k]
            was = moves.undecided[o]
            moves.undecided[o] -= sign
            if moves.killed[o] == 0 and min(was, moves.undecided[o]) == 0:
                gain += _moved(have, worths, n + o, sign)
        i = moves.parent[i]
    return gain, length


@njit(cache=True)
def _fill_greedily(core, ties, state):
    """Repeatedly add the fitting unit with the largest gain > 0 per length, with its ancestors; return whether any."""
    lengths, high, parent, needed = core[1], core[12], core[14][0], core[14][1]
    n, joints = len(lengths), len(ties.surplus)
    tied = len(parent) > 0
    worths = _worths(core)
    plus, minus = np.int64(1), np.int64(-1)  # literals would compile `_moved` for each
    have = np.zeros(len(worths[4]) - 1, np.int64)
    undecided, killed = np.zeros(joints, np.int64), np.zeros(joints, np.int64)
    for k in range(len(needed)):
        undecided[needed[k]] += 1
    moves = TiedMoves(lengths, parent, ties.need_start, ties.need, ties.veto_start, ties.veto, undecided, killed)
    for o in range(joints):
        if undecided[o] == 0:  # needs nothing: active until a veto is taken
            _moved(have, worths, n + o, plus)
    used = np.int64(0)
    for i in range(n):
        if state[i] == 1:
            if tied:  # its ancestors come before it, and are counted already
                state[i] = 0
                used += _moved_tied(state, have, worths, moves, i, plus)[1]
                state[i] = 1
            else:
                used += lengths[i]
                _moved(have, worths, i, plus)
    added = False
    while True:
        best = np.int64(-1)
        best_gain, best_length = np.int64(0), np.int64(1)
        for i in range(n):
            length = lengths[i]
            if state[i] == 1 or used + length > high:
                continue
            if tied:
                gain, length = _moved_tied(state, have, worths, moves, i, plus)
                _moved_tied(state, have, worths, moves, i, minus)
                if used + length > high:
                    continue
            else:
                gain = _gain_of(have, worths, i)
            if gain > 0 and (best < 0 or float(gain) * max(best_length, 1) > float(best_gain) * max(length, 1)):
                best, best_gain, best_length = np.int64(i), gain, length
        if best < 0:
            return added
        added = True
        used += best_length
        if tied:
            _moved_tied(state, have, worths, moves, best, plus)
            while best >= 0 and state[best] != 1:
                state[best] = 1
                best = parent[best]
        else:
            _moved(have, worths, best, plus)
            state[best] = 1


@njit(cache=True)
def _good_set(core, ties, grain, from_knapsack, state):
    """Fill up the knapsack's solution, or the empty set; return the value of the set without the base and joints.

    One kernel does everything, because passing a whole core to a kernel takes as long as filling a small set.
    """
    if from_knapsack:
        lengths, low, high, skip, profit = core[1], core[11], core[12], ties.skip, evaluated(core)[1]
        K = knapsack(lengths, profit, skip, low, high, grain)
        room, left, i = high // grain, high, 0
        while i < len(lengths):
            w = lengths[i] // grain
            past = skip[i] if len(skip) else i + 1
            if room >= w and left >= lengths[i] and K[i + 1, room - w] + profit[i] >= K[past, room]:
                state[i] = 1
                room -= w
                left -= lengths[i]
                i += 1
            else:
                i = past
    _fill_greedily(core, ties, state)
    return total_of(state == 1, core)


def filled_up(core: Core, *, from_knapsack: bool) -> tuple[tuple[int, ...], int]:
    """Fill up the solution of the knapsack, or the empty set, by greedy steps; return the set and its value."""
    state: States = np.zeros(core.size, np.int8)
    ties = tie_tables(core, np.arange(core.size))
    value = core.base + int(_good_set(core.plain, ties, grain_of(core), from_knapsack, state))
    units = tuple(sorted(core.ids[state == TAKEN].tolist()))
    return units, reduced(core, state).base if core.tied else value


def good_set(core: Core, greedy: tuple[tuple[int, ...], int] | None = None) -> tuple[tuple[int, ...], int]:
    """Return the better of two feasible sets, and its value; `greedy`: the filled-up empty set, if it is known.

    With a minimum length, the only candidate is the knapsack's solution, filled up, because it is long enough. The
    caller ensures that some set is feasible, and that the knapsack's grain is 1 with a minimum length.
    """
    best = filled_up(core, from_knapsack=True)
    if core.low > 0:
        return best
    other = greedy or filled_up(core, from_knapsack=False)
    return other if other[1] > best[1] else best


def _set_and_value(core: Core, state: States) -> tuple[tuple[int, ...], int]:
    return tuple(sorted(core.ids[state == TAKEN].tolist())), core.base + int(total_of(state == TAKEN, core.plain))


@njit(cache=True)
def _improve(core, ties, state):
    """Exchange units while this adds value, or shortens the set without loss; fill up; return whether that adds any."""
    lengths, high = core[1], core[12]
    plus, minus = np.int64(1), np.int64(-1)  # literals would compile `_moved` for each
    n = len(lengths)
    worths = _worths(core)
    have = np.zeros(len(worths[4]) - 1, np.int64)
    used = 0
    for i in range(n):
        if state[i] == 1:
            used += lengths[i]
            _moved(have, worths, i, plus)
    into = np.int64(0)
    while into >= 0:
        gained, spared, out, into = np.int64(0), np.int64(0), np.int64(-1), np.int64(-1)
        for i in range(n):
            if state[i] != 1:
                continue
            loss = _moved(have, worths, i, minus)
            for j in range(n):
                if state[j] == 1 or j == i or used - lengths[i] + lengths[j] > high:
                    continue
                gain = loss + _gain_of(have, worths, j)
                saved = lengths[i] - lengths[j]
                if gain > gained or (gain == gained and saved > spared):
                    gained, spared, out, into = gain, saved, np.int64(i), np.int64(j)
            _moved(have, worths, i, plus)
        if into >= 0:
            _moved(have, worths, out, minus)
            _moved(have, worths, into, plus)
            state[out], state[into] = 0, 1
            used += lengths[into] - lengths[out]
    return _fill_greedily(core, ties, state)


def polished(core: Core, most: int = _MOST) -> tuple[tuple[int, ...], int] | None:
    """Return a good set, improved if at most `most` exchanges exist, and its value; None with ties or a minimum."""
    if core.low > 0 or core.tied:
        return None
    units, value = good_set(core)
    if len(units) * core.size > most:
        return units, value
    state: States = np.isin(core.ids, units).astype(np.int8)
    plain, ties = core.plain, tie_tables(core, core.ids)
    while _improve(plain, ties, state):
        pass
    return _set_and_value(core, state)


@njit(cache=True)
def _shaken(core, ties, state, enough, rounds):
    """Drop a random quarter of a set's units, and fill up, again and again; keep better sets, or equal shorter ones."""
    lengths = core[1]
    value, best, drawn = total_of(state == 1, core), state.copy(), np.int64(1)
    length = np.sum(lengths[state == 1])
    for _ in range(rounds):
        if value >= enough:
            break
        for i in range(len(lengths)):
            state[i] = best[i]
            drawn = (drawn * 1103515245 + 12345) & 0x7FFFFFFF
            if (drawn >> 16) % 4 == 0:
                state[i] = 0
        _fill_greedily(core, ties, state)
        while _improve(core, ties, state):
            pass
        worth, used = total_of(state == 1, core), np.sum(lengths[state == 1])
        if worth > value or (worth == value and used < length):
            value, length = worth, used
            best[:] = state
    state[:] = best


def shaken(core: Core, units: Sequence[int], enough: int) -> tuple[tuple[int, ...], int]:
    """Return a set at least as good as the given one, and its value, for cores without minimum length and ties.

    `enough`: the value at which the search for better sets ends.
    """
    state: States = np.isin(core.ids, units).astype(np.int8)
    rounds = _SHAKES // max(1, len(units) * core.size)
    _shaken(core.plain, tie_tables(core, core.ids), state, enough - core.base, rounds)
    return _set_and_value(core, state)
