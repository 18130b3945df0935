"""The reduction of an instance once units are decided.

`reduce_core` writes a gain table as a sum of terms ``delta_t * min(copies, t)`` and uses three facts, none of which
changes the value of a selection:

* a term that all remaining copies together cannot fill is linear and goes into `mass`;
* a term that is full already goes into `base`;
* in a term with threshold t, more than t copies in one unit count as t. Such terms become features of their own
  with clipped counts (a tighter relaxation); terms with t >= every unit's count stay together in one table.

Columns that are the same up to a common factor are merged into one feature. What remains of a column after merging is
split by sign: the terms that gain are a concave table, each one that costs is a *fee*, ``-weight * min(copies, step)``
(an n-gram that a denominator counts).
"""

# mypy: disable-error-code="no-untyped-def, operator, assignment, arg-type"
# (numba infers the types of the kernel; mypy takes its lists of numbers for lists of int.)

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.system.compiled import njit

from .terms import gcd, terms_of

DROPPED: Final = 0
TAKEN: Final = 1
FREE: Final = 2

States = NDArray[np.int8]
"""For each unit whether it is decided, and how."""


@njit(cache=True)
def mix(x):
    """Splitmix64: spread the bits of a number."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)) & np.uint64(0xFFFFFFFFFFFFFFFF)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def _no_slots(size):
    slot = np.empty(size, np.int64)
    for k in range(size):
        slot[k] = -1
    return slot


@njit(cache=True)
def _longer(values, least):
    """Return the values in an array of at least twice the room."""
    out = np.empty(max(least, 2 * len(values)), np.int64)
    for k in range(len(values)):
        out[k] = values[k]
    return out


@njit(cache=True)
def reduce_core(state, mass, entries, scale, fees_of):
    """Fold decided units into base and mass, split, clip and merge what is left.

    Parameters
    ----------
    state : (n,) int8
        `DROPPED`, `TAKEN` or `FREE`.
    entries : start, feature, count, table_start, table, price
        Of any tables that begin with 0; as in `singles.core.Core`.
    fees_of : the fields of `singles.core.Fees`

    Returns
    -------
    keep, mass, entries, gained, fees_of
        `keep` are the free units' old numbers; `gained` is the value the taken units have by themselves.
    """
    start, feature, count, table_start, table, price = entries
    fee_start, fee, fee_count, fee_share, fee_weight, fee_step = fees_of
    n = len(state)
    tables = len(table_start) - 1
    m = tables + len(fee_weight)  # one row a table, then one a fee
    free = 0
    for i in range(n):
        free += state[i] == 2
    keep = np.empty(free, np.int64)
    new = np.empty(n, np.int64)
    out_mass = np.empty(free, np.int64)
    free = 0
    for i in range(n):
        if state[i] == 2:
            keep[free] = i
            new[i] = free
            out_mass[free] = mass[i]
            free += 1
    gained = 0

    # Columns: the free units of each feature, and the copies taken already.
    column = np.zeros(m + 1, np.int64)
    have = np.zeros(m, np.int64)
    for i in range(n):
        if state[i] == 1:
            gained += mass[i]
            for k in range(start[i], start[i + 1]):
                have[feature[k]] += count[k]
            for k in range(fee_start[i], fee_start[i + 1]):
                have[tables + fee[k]] += fee_count[k]
        elif state[i] == 2:
            for k in range(start[i], start[i + 1]):
                column[feature[k] + 1] += 1
            for k in range(fee_start[i], fee_start[i + 1]):
                column[tables + fee[k] + 1] += 1
    longest = 2
    for f in range(m):
        if f < tables:
            longest = max(longest, table_start[f + 1] - table_start[f])
        column[f + 1] += column[f]
    fill = np.empty(m, np.int64)
    for f in range(m):
        fill[f] = column[f]
    unit = np.empty(column[m], np.int64)
    copies = np.empty(column[m], np.int64)
    share = np.zeros(column[m] if len(fee_weight) else 0, np.int64)
    for i in range(n):
        if state[i] == 2:
            for k in range(start[i], start[i + 1]):
                at = fill[feature[k]]
                unit[at] = new[i]
                copies[at] = count[k]
                fill[feature[k]] += 1
            for k in range(fee_start[i], fee_start[i + 1]):
                at = fill[tables + fee[k]]
                unit[at] = new[i]
                copies[at] = fee_count[k]
                share[at] = fee_share[k]
                fill[tables + fee[k]] += 1

    steps = np.empty(longest, np.int64)
    weights = np.empty(longest, np.int64)
    prices = np.empty(longest, np.int64)

    # New columns, one after another, found again by hash; their terms as a list of (column, step, weight, price).
    columns = 0
    terms = 0
    col_start = np.zeros(m + 2, np.int64)
    col_unit = np.empty(column[m] + 1, np.int64)
    col_count = np.empty(column[m] + 1, np.int64)
    col_share = np.empty(column[m] + 1, np.int64)
    most_terms = max(table_start[tables] - table_start[0], 0) + len(fee_weight)
    term_column = np.empty(most_terms, np.int64)
    term_step = np.empty(most_terms, np.int64)
    term_weight = np.empty(most_terms, np.int64)
    term_price = np.empty(most_terms, np.int64)
    signed = False
    slots = 64
    while slots < 4 * (m + 1):
        slots *= 2
    slot = _no_slots(slots)

    for f in range(m):
        lo, hi = column[f], column[f + 1]
        if f < tables:
            found = terms_of(table, table_start[f], table_start[f + 1], price[f], scale, steps, weights, prices)
        else:
            found = 1
            steps[0] = fee_step[f - tables]
            weights[0] = -fee_weight[f - tables]
            prices[0] = 0
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
                factor = np.int64(0)
                for k in range(lo, hi):
                    factor = gcd(min(copies[k], t) if clip else copies[k], factor)
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
                    which = columns
                    first = col_start[which]
                    last = first + hi - lo
                    if last > len(col_unit):
                        col_unit = _longer(col_unit, last)
                        col_count = _longer(col_count, last)
                        col_share = _longer(col_share, last)
                    if which + 2 > len(col_start):
                        col_start = _longer(col_start, which + 2)
                    for k in range(lo, hi):
                        col_unit[first + k - lo] = unit[k]
                        col_count[first + k - lo] = (min(copies[k], t) if clip else copies[k]) // factor
                        col_share[first + k - lo] = 0
                    columns += 1
                    col_start[columns] = last
                    slot[at] = which
                    if 2 * which > slots:
                        slots *= 4
                        slot = _no_slots(slots)
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
            if weights[s] < 0:
                signed = True
            if f >= tables:
                for k in range(lo, hi):
                    col_share[col_start[which] + k - lo] += share[k]
            if not clip:
                factor = 1
            term_column[terms] = which
            term_step[terms] = t // factor  # some unit has t copies after clipping, so the factor divides t
            term_weight[terms] = weights[s] * factor
            term_price[terms] = prices[s] * factor
            terms += 1

    size = np.zeros(columns, np.int64)
    out_price = np.zeros(columns, np.int64)
    for k in range(terms):
        c = term_column[k]
        size[c] = max(size[c], term_step[k] + 1)
        out_price[c] += term_price[k]
    out_table_start = np.zeros(columns + 1, np.int64)
    for c in range(columns):
        out_table_start[c + 1] = out_table_start[c] + size[c]
    out_table = np.zeros(out_table_start[columns], np.int64)
    for k in range(terms):
        c = term_column[k]
        for x in range(size[c]):
            out_table[out_table_start[c] + x] += term_weight[k] * min(x, term_step[k])

    # The number of each column's table, and the fees that are left of columns.
    number = np.empty(columns, np.int64)
    for c in range(columns):
        number[c] = c
    fees = 0
    fee_column = np.empty(terms, np.int64)
    weight_out = np.empty(terms, np.int64)
    step_out = np.empty(terms, np.int64)
    if signed:
        kept = 0
        at = 0
        for c in range(columns):
            first, last = out_table_start[c], out_table_start[c + 1]
            top = 0
            found = terms_of(out_table, first, last, np.int64(0), scale, steps, weights, prices)
            for s in range(found):
                if weights[s] > 0:
                    top = max(top, steps[s])
                else:
                    fee_column[fees] = c
                    weight_out[fees] = -weights[s]
                    step_out[fees] = steps[s]
                    fees += 1
            number[c] = -1
            if top > 0:
                for x in range(top + 1):
                    out_table[at + x] = 0  # at <= first: what is overwritten has been read
                for s in range(found):
                    if weights[s] > 0:
                        for x in range(top + 1):
                            out_table[at + x] += weights[s] * min(x, steps[s])
                number[c] = kept
                out_price[kept] = out_price[c]
                out_table_start[kept] = at
                kept += 1
                at += top + 1
        out_table_start[kept] = at
        out_table_start = out_table_start[: kept + 1]
        out_table = out_table[:at]
        out_price = out_price[:kept]

    out_start = np.zeros(free + 1, np.int64)
    for c in range(columns):
        if number[c] >= 0:
            for k in range(col_start[c], col_start[c + 1]):
                out_start[col_unit[k] + 1] += 1
    for i in range(free):
        out_start[i + 1] += out_start[i]
    at_row = np.empty(free, np.int64)
    for i in range(free):
        at_row[i] = out_start[i]
    out_feature = np.empty(out_start[free], np.int64)
    out_count = np.empty(out_start[free], np.int64)
    for c in range(columns):
        if number[c] >= 0:
            for k in range(col_start[c], col_start[c + 1]):
                i = col_unit[k]
                out_feature[at_row[i]] = number[c]
                out_count[at_row[i]] = col_count[k]
                at_row[i] += 1

    out_fee_start = np.zeros(free + 1, np.int64)
    for g in range(fees):
        for k in range(col_start[fee_column[g]], col_start[fee_column[g] + 1]):
            out_fee_start[col_unit[k] + 1] += 1
    for i in range(free):
        out_fee_start[i + 1] += out_fee_start[i]
    for i in range(free):
        at_row[i] = out_fee_start[i]
    out_fee = np.empty(out_fee_start[free], np.int64)
    out_fee_count = np.empty(out_fee_start[free], np.int64)
    out_fee_share = np.zeros(out_fee_start[free], np.int64)
    out_fee_weight = np.empty(fees, np.int64)
    out_fee_step = np.empty(fees, np.int64)
    for g in range(fees):
        c = fee_column[g]
        out_fee_weight[g] = weight_out[g]
        out_fee_step[g] = step_out[g]
        for k in range(col_start[c], col_start[c + 1]):
            i = col_unit[k]
            held = min(col_count[k], step_out[g])
            out_fee[at_row[i]] = g
            out_fee_count[at_row[i]] = held
            if g == 0 or fee_column[g - 1] != c:  # a column's shares go to its first fee
                out_fee_share[at_row[i]] = min(col_share[k], weight_out[g] * held * scale)
            at_row[i] += 1
    out_entries = out_start, out_feature, out_count, out_table_start, out_table, out_price
    out_fees = out_fee_start, out_fee, out_fee_count, out_fee_share, out_fee_weight, out_fee_step
    return keep, out_mass, out_entries, gained, out_fees
