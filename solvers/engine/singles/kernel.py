"""Depth-first search over the units of one core, with equal states merged into a decision diagram.

A frame at depth d has decided units 0..d-1 of `order`; its arrays are

    room[d]   length that may still be added
    slack[d]  scale * base + sum_f max over c in [v_f, v_f + R_f] of (scale * table_f(c) - p_f c) + profits taken
              (v_f copies taken so far, R_f copies in the undecided units: `have` and `left`) + what the shares exceed
              the fees by (`bound.fee_term`)
    gain[d]   value of the units taken
    key_a/b   128 bits: exclusive or over the features that still matter of a random word for their state

and the bound of a frame is ``slack[d] + K[d, room]`` (`bound.suffix_table`): below scale * target it is cut.

The state of a feature is what its future gains depend on: nothing once its table is flat or no copy is left; only
the slope while the table is linear over all copies that are left; otherwise v_f. Two frames of the same depth, gain,
key and *effective room* (the largest total that the undecided units can fill) have the same completions, so the
second one takes the diagram node of the first. A fee counts as a feature does. From the moment the gain reaches the
target whatever may still be lost (`worst`: negative masses and fees of the undecided units; nothing in recall), every
completion that fits is in: such "open" frames depend on depth and room alone. Keys are equal by accident with
probability 2^-128 a pair.

Diagram nodes are (unit, without, with) as in `optsum.optima.diagram`: node 0 is the empty family, node 1 the family of
the empty set; a node whose `with` branch is empty is replaced by its `without` branch; equal nodes are shared.

The kernel stops after a number of frames and can be called again: everything it knows is in its arrays.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..reduction import mix
from ..search import recalled
from ..store import make_node
from ..tables import word_of
from .bound import fee_term, net


@njit(cache=True, inline="always")
def _fee_word(words, g, step, v, left, which):
    """Contribution of fee g to the key."""
    if left == 0 or v >= step:
        return np.uint64(0)
    if v + left <= step:
        return words[2 * g + 1, which]
    return mix(words[2 * g, which] + np.uint64(v))


class Units(NamedTuple):
    """The units in search order, and what the rest of them can do.

    Attributes
    ----------
    lengths, mass, profit : (n,)
    start, feature, copies : (n + 1,), (entries,), (entries,)
    worst : (n + 1,)
        As `losses` returns it.
    K, reach : (n + 1, rooms)
        Knapsack of the profits; largest totals, without a row if rooms are not merged.
    """

    ids: IntArray
    lengths: IntArray
    mass: IntArray
    profit: IntArray
    start: IntArray
    feature: IntArray
    copies: IntArray
    worst: IntArray
    K: IntArray
    reach: NDArray[np.int32]


class Tables(NamedTuple):
    """The features: tables and prices as in a core, what is looked up of them, and the copies of the moment.

    Attributes
    ----------
    best : (m,) as `best_counts` returns it
    words, ends : as `random_words` and `segment_ends` return them
    have, left : (m,)
        Copies in units taken and undecided.
    """

    start: IntArray
    table: IntArray
    price: IntArray
    best: IntArray
    words: NDArray[np.uint64]
    ends: IntArray
    have: IntArray
    left: IntArray


class FeeTables(NamedTuple):
    """The fees as in a core, and those of the moment.

    Attributes
    ----------
    have, left, paid, open : (fees,)
        Copies in units taken and undecided, shares of units taken and undecided.
    """

    start: IntArray
    fee: IntArray
    copies: IntArray
    share: IntArray
    weight: IntArray
    step: IntArray
    words: NDArray[np.uint64]
    have: IntArray
    left: IntArray
    paid: IntArray
    open: IntArray


@njit(cache=True)
def run_search(units, tables, fees, limits, target, first_only, way, memo, store, counters, budget):
    """Search on from where the arrays stand.

    Parameters
    ----------
    units, tables, fees : Units, Tables, FeeTables
    limits : scale, least and largest length, divisor of lengths in ``units.K``
    way : (n + 1, 6) int64, (n + 1, 4) uint64, (n + 1,) int8
        Of each frame room, slack, gain, open (0/1), result of the `with` branch, memo slot; key of the state (two
        words) and of the memo (two words); 0 entering, 1 back from `with`, 2 back from `without`.
    memo : (slots, 2) uint64, (slots,) int32
        Open addressing over eight places, the last of them overwritten; -1 marks an empty slot.
    store : (capacity, 3) int32, (slots,) int32
        Nodes, and their index.
    counters : (6,) int64
        nodes in use, depth, frames entered, value returned, hits, frames that became nodes.

    Returns
    -------
    DONE (the root node is ``counters[3]``), PAUSED (budget used), FULL (no room for nodes), FOUND (`first_only` and
    ``stage`` holds the way to a set).
    """
    ids, lengths, mass, profit, start, feature, count, worst, K, reach = units
    table_start, table, price, best, words, ends, have, left = tables
    fee_start, fee, fee_count, fee_share, fee_weight, fee_step, fee_words, fee_have, fee_left, fee_paid, fee_open = fees
    frame, keys, stage = way
    memo_key, memo_node = memo
    nodes, node_slots = store
    scale, low, high, grain = limits
    n = len(lengths)
    goal = target * scale
    d = counters[1]
    result = counters[3]
    spent = 0
    one, two = np.int64(0), np.int64(1)  # the words of a key; literals would compile what takes them twice
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
            if first_only and (opened or frame[d, 2] >= target) and (high - room >= low):
                counters[1] = d
                return 3
            result = -1
            if d == n:
                result = 1 if (opened and high - room >= low) else 0
            elif (opened == 0 and frame[d, 1] + K[d, room // grain] < goal) or K[d, room // grain] < -(2**60):
                result = 0
            if result < 0:
                filled = np.int64(reach[d, room]) if (low <= 0 and len(reach) > 0) else room
                frame[d, 5], result = recalled(memo_key, memo_node, keys, d, d, filled, opened, frame[d, 2])
                if result >= 0:
                    counters[4] += 1
            if result < 0:
                w = lengths[d]
                take = room >= w and (opened == 1 or frame[d, 1] + profit[d] + K[d + 1, (room - w) // grain] >= goal)
                at = stage[d] = 1
                frame[d, 4] = 0
                if take:
                    frame[d + 1, 0] = room - w
                    frame[d + 1, 3] = opened
                    if opened == 0:
                        slack = frame[d, 1] + profit[d]
                        gain = frame[d, 2] + mass[d]
                        ka, kb = keys[d, 0], keys[d, 1]
                        for k in range(start[d], start[d + 1]):
                            f = feature[k]
                            c = count[k]
                            v = have[f]
                            r = left[f]
                            first = table_start[f]
                            top = table_start[f + 1] - first - 1
                            gain += table[first + min(v + c, top)] - table[first + min(v, top)]
                            if best[f] < v + c:
                                was = min(max(best[f], v), v + r)
                                slack += net(table_start, table, price, scale, f, v + c) - net(
                                    table_start, table, price, scale, f, was
                                )
                            before = word_of(words, ends, table_start, f, v, r)
                            after = word_of(words, ends, table_start, f, v + c, r - c)
                            ka ^= words[before, 0] ^ words[after, 0]
                            kb ^= words[before, 1] ^ words[after, 1]
                            have[f] = v + c
                            left[f] = r - c
                        for k in range(fee_start[d], fee_start[d + 1]):
                            g = fee[k]
                            c = fee_count[k]
                            v = fee_have[g]
                            r = fee_left[g]
                            weight = fee_weight[g]
                            step = fee_step[g]
                            gain -= weight * (min(v + c, step) - min(v, step))
                            slack -= fee_term(weight, step, scale, v, fee_paid[g], fee_open[g])
                            fee_paid[g] += fee_share[k]
                            fee_open[g] -= fee_share[k]
                            slack += fee_term(weight, step, scale, v + c, fee_paid[g], fee_open[g])
                            ka ^= _fee_word(fee_words, g, step, v, r, one) ^ _fee_word(
                                fee_words, g, step, v + c, r - c, one
                            )
                            kb ^= _fee_word(fee_words, g, step, v, r, two) ^ _fee_word(
                                fee_words, g, step, v + c, r - c, two
                            )
                            fee_have[g] = v + c
                            fee_left[g] = r - c
                        frame[d + 1, 1] = slack
                        frame[d + 1, 2] = gain
                        keys[d + 1, 0] = ka
                        keys[d + 1, 1] = kb
                    d += 1
                    stage[d] = 0
                    continue
                if opened == 0:
                    for k in range(start[d], start[d + 1]):
                        left[feature[k]] -= count[k]
                    for k in range(fee_start[d], fee_start[d + 1]):
                        fee_left[fee[k]] -= fee_count[k]
                        fee_open[fee[k]] -= fee_share[k]
                result = 0
                # falls through to stage 1 with the `with` branch empty
        if at == 1:
            # `have` is as before the unit, `left` without it.
            frame[d, 4] = result
            room = frame[d, 0]
            opened = frame[d, 3]
            if opened == 1 or frame[d, 1] + K[d + 1, room // grain] >= goal:
                stage[d] = 2
                frame[d + 1, 0] = room
                frame[d + 1, 3] = opened
                if opened == 0:
                    slack = frame[d, 1]
                    ka, kb = keys[d, 0], keys[d, 1]
                    for k in range(start[d], start[d + 1]):
                        f = feature[k]
                        c = count[k]
                        v = have[f]
                        r = left[f]
                        if best[f] > v + r:
                            slack += net(table_start, table, price, scale, f, v + r) - net(
                                table_start, table, price, scale, f, min(best[f], v + r + c)
                            )
                        before = word_of(words, ends, table_start, f, v, r + c)
                        after = word_of(words, ends, table_start, f, v, r)
                        ka ^= words[before, 0] ^ words[after, 0]
                        kb ^= words[before, 1] ^ words[after, 1]
                    for k in range(fee_start[d], fee_start[d + 1]):
                        g = fee[k]
                        c = fee_count[k]
                        v = fee_have[g]
                        r = fee_left[g]
                        weight = fee_weight[g]
                        step = fee_step[g]
                        slack += fee_term(weight, step, scale, v, fee_paid[g], fee_open[g])
                        slack -= fee_term(weight, step, scale, v, fee_paid[g], fee_open[g] + fee_share[k])
                        ka ^= _fee_word(fee_words, g, step, v, r + c, one) ^ _fee_word(fee_words, g, step, v, r, one)
                        kb ^= _fee_word(fee_words, g, step, v, r + c, two) ^ _fee_word(fee_words, g, step, v, r, two)
                    frame[d + 1, 1] = slack
                    frame[d + 1, 2] = frame[d, 2]
                    keys[d + 1, 0] = ka
                    keys[d + 1, 1] = kb
                d += 1
                stage[d] = 0
                continue
            result = 0
        if at > 0:
            # Both branches known.
            if frame[d, 3] == 0:
                for k in range(start[d], start[d + 1]):
                    left[feature[k]] += count[k]
                for k in range(fee_start[d], fee_start[d + 1]):
                    fee_left[fee[k]] += fee_count[k]
                    fee_open[fee[k]] += fee_share[k]
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
        d -= 1
        if stage[d] == 1 and frame[d, 3] == 0:
            for k in range(start[d], start[d + 1]):
                have[feature[k]] -= count[k]
            for k in range(fee_start[d], fee_start[d + 1]):
                fee_have[fee[k]] -= fee_count[k]
                fee_paid[fee[k]] -= fee_share[k]
