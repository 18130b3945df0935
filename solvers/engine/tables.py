"""What the depth-first search looks up: made once for a core in its order."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np

from optsum.system.compiled import njit

from .reduction import mix


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
def fractional_weights(feature, count, table_start, table, price, scale, many):
    """Weigh the first `many` features by how much the order of decision is about them: dear and rare ones most.

    Only those that the relaxation pays for in part count, ``sqrt(price) / copies^(3/4)``; see
    `singles.order.branching_order`.
    """
    copies = np.zeros(len(price), np.int64)
    for k in range(len(feature)):
        copies[feature[k]] += count[k]
    weight = np.zeros(len(price), np.float64)
    for f in range(many):
        first_gain = table[table_start[f] + 1] * scale
        margin = scale // 100
        if price[f] > margin and price[f] < first_gain - margin:
            weight[f] = np.sqrt(price[f] / scale) / copies[f] ** 0.75
    return weight


@njit(cache=True)
def random_words(size, seed):
    """Return a row for "count is c" and one for "slope is that of the piece ending at c" an entry; last, zeros."""
    words = np.zeros((2 * size + 1, 2), np.uint64)
    for i in range(2 * size):
        for k in range(2):
            words[i, k] = mix(np.uint64(seed) + np.uint64(2 * i + k))
    return words


# Inlined, as long searches take 5 % less; it costs a second of compilation.
@njit(cache=True, inline="always")
def word_of(words, ends, table_start, f, v, left):
    """Row of the words that feature f adds to the key, of which v copies are taken and so many are left."""
    first = table_start[f]
    if left == 0 or v >= table_start[f + 1] - first - 1:
        return len(words) - 1
    at = first + v
    end = ends[at]
    return 2 * (first + end) + 1 if v + left <= end else 2 * at


@njit(cache=True)
def fill_reach(lengths, room):
    """``reach[d, c]``: the largest total <= c of lengths of units d.. ."""
    n = len(lengths)
    reach = np.zeros((n + 1, room + 1), np.int32)
    for d in range(n - 1, -1, -1):
        w = lengths[d]
        for c in range(room + 1):
            reach[d, c] = reach[d + 1, c]
            if c >= w:
                reach[d, c] = max(reach[d, c], w + reach[d + 1, c - w])
    return reach


@njit(cache=True)
def losses(mass, start, fee_count, fee, fee_weight, fee_step):
    """``worst[d]``: the least that units d.. together can add to a value."""
    n = len(mass)
    worst = np.zeros(n + 1, np.int64)
    for d in range(n - 1, -1, -1):
        least = mass[d]
        for k in range(start[d], start[d + 1]):
            least -= fee_weight[fee[k]] * min(fee_count[k], fee_step[fee[k]])
        worst[d] = worst[d + 1] + min(least, 0)
    return worst
