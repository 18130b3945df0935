"""Depth-first search over the units of one core, with equal states merged into a decision diagram.

Units are decided in an order in which a unit's descendants follow it: taking the unit at place d leads to place d + 1,
dropping it to place ``skip[d]``, behind its descendants. So whoever stands at a place has taken all its ancestors, and
everything before the place is decided. A frame's arrays are

    room    length that may still be added
    slack   the bound without the knapsack of what is undecided: see `bound`; what is decided enters exactly (`moves`)
    gain    value of the units taken and of the joints that are active whatever follows
    keys    128 bits: exclusive or over the features that still matter of a random word for their state, and over the
            joints that may still become active (which of their units are decided, and how, follows from the place)

Two frames of the same place, gain, key and *effective room* (the largest total that the undecided units can fill)
have the same completions. Once ``gain`` can no longer fall below the target every completion that fits is in: such
"open" frames depend on place and room alone. At the end stand the *fillers*, units that touch nothing: their families,
one for each room, come from outside (`leaf`; -1 is a family not made yet).

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

from ..search import recalled
from ..store import make_node
from ..tables import word_of
from .instance.core import term
from .moves import drop_unit, take_unit, undo_unit


class Order(NamedTuple):
    """The units in the order of decision.

    Attributes
    ----------
    lengths, skip, profit : (n,)
        `skip` is the first place behind a unit's descendants.
    never_less : (n + 1,)
        What the gain can still lose, at worst, from a place on (<= 0).
    K, reach : (n + 1, rooms)
        Knapsack of the profits, largest totals; `reach` has no row if rooms are not merged.
    leaf : (rooms,)
        Diagram node of the fillers' sets for a room; -1 if it was not made yet.
    """

    ids: IntArray
    lengths: IntArray
    skip: IntArray
    profit: IntArray
    never_less: IntArray
    K: IntArray
    reach: NDArray[np.int32]
    leaf: IntArray


@njit(cache=True)
def run_search(order, mass, tables, items, joints, units, state, limits, place_of, way, memo, store, counters, budget):
    """Search on from where the arrays stand.

    Parameters
    ----------
    order, tables, items, joints, units, state : Order, and as in `moves`
    limits : least and largest length, divisor of lengths in ``order.K``, target, whether the first set is enough
    place_of : (n + 1,) int64
        Place of each open frame.
    way, memo, store : as in `..singles.kernel`
    counters : (7,) int64
        nodes in use, number of the frame, frames entered, value returned, hits, frames that became nodes, room wanted.

    Returns
    -------
    DONE (the root node is ``counters[3]``), PAUSED (budget used), FULL (no room for nodes), FOUND (`first_only` and
    ``stage`` holds the way to a set), WANTED (``leaf[counters[6]]`` must be made first).
    """
    ids, lengths, skip, profit, never_less, K, reach, leaf = order
    have, left, und, killed, alive, on = state
    frame, keys, stage = way
    memo_key, memo_node = memo
    nodes, node_slots = store
    low, high, grain, target, first_only = limits
    n = len(lengths)
    table_start, table, price, best, words, ends, scale, rising = tables
    start, feature, count, alone, _nn = items
    # Features are changed here and not in `moves`: helpers unpack their tuples at every call.
    priced = table_start, table, price, scale, rising, best
    tied = len(joints.surplus) > 0 or len(units.row) > 0
    goal = target * scale
    sp = counters[1]
    result = counters[3]
    spent = 0
    capacity = len(nodes) - n - 2
    acc = np.empty(2, np.int64)
    key = np.empty(2, np.uint64)
    while True:
        d = place_of[sp]
        at = stage[sp]
        if at == 0:
            # Enter.
            if spent >= budget or counters[0] >= capacity:
                counters[1] = sp
                counters[3] = result
                return 1 if spent >= budget else 2
            room = frame[sp, 0]
            if frame[sp, 3] == 0 and frame[sp, 2] + never_less[d] >= target:
                frame[sp, 3] = 1
            opened = frame[sp, 3]
            result = -1
            rest = K[d, room // grain]
            if rest < -(2**60) or (opened == 0 and frame[sp, 1] + rest < goal):
                result = 0
            elif first_only and opened and high - room >= low:
                counters[1] = sp
                return 3
            elif d == n:
                result = 0
                if opened == 1:
                    result = leaf[room] if len(leaf) > 0 else 1
                    if result < 0:
                        counters[1] = sp
                        counters[6] = room
                        return 4
                    if first_only:
                        counters[1] = sp
                        return 3
            spent += 1
            counters[2] += 1
            if result < 0:
                filled = np.int64(reach[d, room]) if len(reach) > 0 else room
                frame[sp, 5], result = recalled(memo_key, memo_node, keys, sp, d, filled, opened, frame[sp, 2])
                if result >= 0:
                    counters[4] += 1
            if result < 0:
                w = lengths[d]
                at = stage[sp] = 1
                frame[sp, 4] = 0
                if room >= w and (opened == 1 or frame[sp, 1] + profit[d] + K[d + 1, (room - w) // grain] >= goal):
                    frame[sp + 1, 0] = room - w
                    frame[sp + 1, 3] = opened
                    if opened == 0:
                        slack, gain = frame[sp, 1] + alone[d], frame[sp, 2] + mass[d]
                        ka, kb = keys[sp, 0], keys[sp, 1]
                        for k in range(start[d], start[d + 1]):
                            f = feature[k]
                            c = count[k]
                            v = have[f]
                            r = left[f]
                            first = table_start[f]
                            top = table_start[f + 1] - first - 1
                            v2, r2 = v + c, r - c
                            if f < rising:
                                was, now = min(max(best[f], v), v + r), min(max(best[f], v2), v2 + r2)
                                if was != now:
                                    slack += (
                                        table[first + min(now, top)] - table[first + min(was, top)]
                                    ) * scale - price[f] * (now - was)
                            else:
                                slack += term(*priced, f, v2, r2) - term(*priced, f, v, r)
                            gain += table[first + min(v2, top)] - table[first + min(v, top)]
                            before = word_of(words, ends, table_start, f, v, r)
                            after = word_of(words, ends, table_start, f, v2, r2)
                            ka ^= words[before, 0] ^ words[after, 0]
                            kb ^= words[before, 1] ^ words[after, 1]
                            have[f] = v2
                            left[f] = r2
                        if tied:
                            acc[0], acc[1], key[0], key[1] = slack, gain, ka, kb
                            take_unit(
                                tables, items, joints, units, mass, have, left, und, killed, alive, on, acc, key, d
                            )
                            slack, gain, ka, kb = acc[0], acc[1], key[0], key[1]
                        frame[sp + 1, 1], frame[sp + 1, 2] = slack, gain
                        keys[sp + 1, 0], keys[sp + 1, 1] = ka, kb
                    place_of[sp + 1] = d + 1
                    sp += 1
                    stage[sp] = 0
                    continue
                result = -2  # not taken
        took = at == 1  # no literals below: each would make `undo_unit` one kernel more
        if took:
            opened = frame[sp, 3]
            if result == -2:
                result = 0
            elif opened == 0:
                if tied:
                    undo_unit(items, joints, units, have, left, und, killed, alive, on, d, took)
                for k in range(start[d], start[d + 1]):
                    left[feature[k]] += count[k]
                    have[feature[k]] -= count[k]
            frame[sp, 4] = result
            room = frame[sp, 0]
            past = skip[d]
            if opened == 1 or frame[sp, 1] + K[past, room // grain] >= goal:
                stage[sp] = 2
                frame[sp + 1, 0] = room
                frame[sp + 1, 3] = opened
                if opened == 0:
                    slack, gain = frame[sp, 1], frame[sp, 2]
                    ka, kb = keys[sp, 0], keys[sp, 1]
                    for j in range(d, past):
                        for k in range(start[j], start[j + 1]):
                            f = feature[k]
                            c = count[k]
                            v = have[f]
                            r = left[f]
                            first = table_start[f]
                            top = table_start[f + 1] - first - 1
                            v2, r2 = v, r - c
                            if f < rising:
                                was, now = min(max(best[f], v), v + r), min(max(best[f], v2), v2 + r2)
                                if was != now:
                                    slack += (
                                        table[first + min(now, top)] - table[first + min(was, top)]
                                    ) * scale - price[f] * (now - was)
                            else:
                                slack += term(*priced, f, v2, r2) - term(*priced, f, v, r)
                            before = word_of(words, ends, table_start, f, v, r)
                            after = word_of(words, ends, table_start, f, v2, r2)
                            ka ^= words[before, 0] ^ words[after, 0]
                            kb ^= words[before, 1] ^ words[after, 1]
                            have[f] = v2
                            left[f] = r2
                        if tied:
                            acc[0], acc[1], key[0], key[1] = slack, gain, ka, kb
                            drop_unit(
                                tables, items, joints, units, mass, have, left, und, killed, alive, on, acc, key, j
                            )
                            slack, gain, ka, kb = acc[0], acc[1], key[0], key[1]
                    frame[sp + 1, 1], frame[sp + 1, 2] = slack, gain
                    keys[sp + 1, 0], keys[sp + 1, 1] = ka, kb
                place_of[sp + 1] = past
                sp += 1
                stage[sp] = 0
                continue
            result = 0
        elif at == 2 and frame[sp, 3] == 0:
            for j in range(skip[d] - 1, d - 1, -1):
                if tied:
                    undo_unit(items, joints, units, have, left, und, killed, alive, on, j, took)
                for k in range(start[j], start[j + 1]):
                    left[feature[k]] += count[k]
        if at > 0:
            # Both branches known.
            if frame[sp, 4] != 0:
                result = make_node(nodes, node_slots, counters, ids[d], result, frame[sp, 4])
            if result != 0:
                counters[5] += 1
            place = frame[sp, 5]
            memo_key[place, 0] = keys[sp, 2]
            memo_key[place, 1] = keys[sp, 3]
            memo_node[place] = result
        # Go back up.
        if sp == 0:
            counters[1] = 0
            counters[3] = result
            return 0
        sp -= 1
        # The frame above goes on at its stage; `result` is what it waits for.
