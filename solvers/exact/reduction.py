"""The reduction of an instance once units are decided.

`reduce_core` writes a gain table as a sum of terms ``delta_t * min(copies, t)`` and uses three facts, none of which
changes the value of a selection:

* a term that all remaining copies together cannot fill is linear and goes into `mass`;
* a term that is full already goes into `base`;
* in a term with threshold t, more than t copies in one unit count as t. Such terms become features of their own
  with clipped counts (a tighter relaxation); terms with t >= every unit's count stay together in one table.

Columns that are the same up to a common factor are merged into one feature.
"""

# mypy: disable-error-code="no-untyped-def, operator, assignment, arg-type"
# (numba infers the types of the kernel; mypy takes its lists of numbers for lists of int.)

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["mix", "reduce_core"]


@njit(cache=True)
def _terms(gains, first, last, price, scale, steps, weights, prices):
    """Split table ``gains[first:last]`` into terms ``weights[k] * min(c, steps[k])`` and share out its price.

    The price goes to the terms so that the bound does not change: terms beyond the table's best count get their
    slope, terms below it nothing, the term at it the rest.
    """
    found = 0
    left = price
    for t in range(last - first - 1, 0, -1):
        here = gains[first + t] - gains[first + t - 1]
        after = gains[first + t + 1] - gains[first + t] if first + t + 1 < last else 0
        if here > after:
            steps[found] = t
            weights[found] = here - after
            prices[found] = min(left, (here - after) * scale)
            left -= prices[found]
            found += 1
    if found:
        prices[found - 1] += left
    return found


@njit(cache=True)
def mix(x):
    """Splitmix64: spread the bits of a number."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def _gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@njit(cache=True)
def reduce_core(state, lengths, mass, start, feature, count, table_start, table, price, scale):
    """Fold decided units into base and mass, split, clip and merge what is left.

    Parameters
    ----------
    state : (n,) int8
        `DROPPED`, `TAKEN` or `FREE`.

    Returns
    -------
    keep, mass, start, feature, count, table_start, table, price, gained
        `keep` are the free units' old numbers; `gained` is the value the taken units have by themselves.
    """
    n = len(lengths)
    m = len(table_start) - 1
    keep = np.flatnonzero(state == 2)
    new = np.full(n, -1, np.int64)
    for i in range(len(keep)):
        new[keep[i]] = i
    gained = 0
    out_mass = mass[keep]

    # Columns: the free units of each feature, and the copies taken already.
    column = np.zeros(m + 1, np.int64)
    have = np.zeros(m, np.int64)
    for i in range(n):
        if state[i] == 1:
            gained += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
        elif state[i] == 2:
            for k in range(start[i], start[i + 1]):
                column[feature[k] + 1] += 1
    longest = 1
    for f in range(m):
        longest = max(longest, table_start[f + 1] - table_start[f])
        column[f + 1] += column[f]
    fill = column[:-1].copy()
    unit = np.empty(column[m], np.int64)
    copies = np.empty(column[m], np.int64)
    for i in range(n):
        if state[i] == 2:
            for k in range(start[i], start[i + 1]):
                at = fill[feature[k]]
                unit[at] = new[i]
                copies[at] = count[k]
                fill[feature[k]] += 1

    steps = np.empty(longest, np.int64)
    weights = np.empty(longest, np.int64)
    prices = np.empty(longest, np.int64)

    # New columns, one after another, found again by hash; their terms as a list of (column, step, weight, price).
    col_start = [0]
    col_unit = [np.int64(0) for _ in range(0)]
    col_count = [np.int64(0) for _ in range(0)]
    term_column = [np.int64(0) for _ in range(0)]
    term_step = [np.int64(0) for _ in range(0)]
    term_weight = [np.int64(0) for _ in range(0)]
    term_price = [np.int64(0) for _ in range(0)]
    slots = 64
    while slots < 4 * (m + 1):
        slots *= 2
    slot = np.full(slots, -1, np.int64)

    for f in range(m):
        lo, hi = column[f], column[f + 1]
        found = _terms(table, table_start[f], table_start[f + 1], price[f], scale, steps, weights, prices)
        biggest = 0
        total = 0
        for k in range(lo, hi):
            biggest = max(biggest, copies[k])
            total += copies[k]
        open_column = -1
        for s in range(found):
            t = steps[s] - have[f]
            if t <= 0:
                gained += weights[s] * steps[s]
                continue
            gained += weights[s] * have[f]
            room = total
            if t < biggest:
                room = 0
                for k in range(lo, hi):
                    room += min(copies[k], t)
            if room <= t:
                for k in range(lo, hi):
                    out_mass[unit[k]] += weights[s] * min(copies[k], t)
                continue
            clip = t < biggest
            if clip or open_column < 0:
                factor = 0
                for k in range(lo, hi):
                    factor = _gcd(min(copies[k], t) if clip else copies[k], factor)
                if not clip:
                    factor = 1
                h = np.uint64(hi - lo)
                for k in range(lo, hi):
                    a = (min(copies[k], t) if clip else copies[k]) // factor
                    h = mix(h ^ np.uint64(unit[k] * 1048576 + a))
                at = np.int64(h & np.uint64(slots - 1))
                which = -1
                while slot[at] >= 0:
                    c = slot[at]
                    first = col_start[c]
                    if col_start[c + 1] - first == hi - lo:
                        same = True
                        for k in range(lo, hi):
                            a = (min(copies[k], t) if clip else copies[k]) // factor
                            if col_unit[first + k - lo] != unit[k] or col_count[first + k - lo] != a:
                                same = False
                                break
                        if same:
                            which = c
                            break
                    at = (at + 1) & (slots - 1)
                if which < 0:
                    which = len(col_start) - 1
                    for k in range(lo, hi):
                        col_unit.append(unit[k])
                        col_count.append((min(copies[k], t) if clip else copies[k]) // factor)
                    col_start.append(len(col_unit))
                    slot[at] = which
                    if 2 * which > slots:
                        slots *= 4
                        slot = np.full(slots, -1, np.int64)
                        for c in range(which + 1):
                            h = np.uint64(col_start[c + 1] - col_start[c])
                            for k in range(col_start[c], col_start[c + 1]):
                                h = mix(h ^ np.uint64(col_unit[k] * 1048576 + col_count[k]))
                            at = np.int64(h & np.uint64(slots - 1))
                            while slot[at] >= 0:
                                at = (at + 1) & (slots - 1)
                            slot[at] = c
                if not clip:
                    open_column = which
            else:
                which = open_column
                factor = 1
            term_column.append(which)
            if clip:  # some unit has t copies after clipping, so the factor divides t
                term_step.append(t // factor)
                term_weight.append(weights[s] * factor)
                term_price.append(prices[s] * factor)
            else:
                term_step.append(t)
                term_weight.append(weights[s])
                term_price.append(prices[s])

    columns = len(col_start) - 1
    size = np.zeros(columns, np.int64)
    out_price = np.zeros(columns, np.int64)
    for k in range(len(term_column)):
        c = term_column[k]
        size[c] = max(size[c], term_step[k] + 1)
        out_price[c] += term_price[k]
    out_table_start = np.zeros(columns + 1, np.int64)
    for c in range(columns):
        out_table_start[c + 1] = out_table_start[c] + size[c]
    out_table = np.zeros(out_table_start[columns], np.int64)
    for k in range(len(term_column)):
        c = term_column[k]
        for x in range(size[c]):
            out_table[out_table_start[c] + x] += term_weight[k] * min(x, term_step[k])

    out_start = np.zeros(len(keep) + 1, np.int64)
    for k in range(len(col_unit)):
        out_start[col_unit[k] + 1] += 1
    for i in range(len(keep)):
        out_start[i + 1] += out_start[i]
    at_row = out_start[:-1].copy()
    out_feature = np.empty(len(col_unit), np.int64)
    out_count = np.empty(len(col_unit), np.int64)
    for c in range(columns):
        for k in range(col_start[c], col_start[c + 1]):
            i = col_unit[k]
            out_feature[at_row[i]] = c
            out_count[at_row[i]] = col_count[k]
            at_row[i] += 1
    return keep, out_mass, out_start, out_feature, out_count, out_table_start, out_table, out_price, gained
