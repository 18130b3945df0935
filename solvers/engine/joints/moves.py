"""Changes of joints and rows when a unit is taken or dropped, and how they are undone.

The unit's own features are changed by `kernel.run_search`.

`acc` holds slack and gain of a frame, `key` its two words. The other arrays are counters, restored by `undo_unit`:

    have, left       copies of each feature in what is active, and in what may still be
    und, killed      of each joint: units undecided, and units decided so that it is dead
    alive            of each row: members that are not dead
    on               of each row: whether its unit is decided so that a member may be active (1 for rows without a unit)

The price of a row is worth having only while a member is alive: `slack` gives it back when the last one dies.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..tables import word_of
from .instance.core import term


class Tables(NamedTuple):
    """The features, as in `core.Priced`, and what is looked up of them."""

    start: IntArray
    table: IntArray
    price: IntArray
    best: IntArray
    words: NDArray[np.uint64]
    ends: IntArray
    scale: int
    rising: int


class Items(NamedTuple):
    """Features of units (in the order of decision) and joints; ``alone`` as in `core.Priced`, n the number of units."""

    start: IntArray
    feature: IntArray
    copies: IntArray
    alone: IntArray
    n: int


class Joints(NamedTuple):
    """Worth and words of the joints, and the rows that each is a member of: ``row[start[o]:start[o + 1]]``."""

    surplus: IntArray
    words: NDArray[np.uint64]
    start: IntArray
    row: IntArray
    row_price: IntArray


class Units(NamedTuple):
    """Joints that a unit is needed by, joints that it vetoes, its rows; and of every row its sign."""

    need_start: IntArray
    need: IntArray
    veto_start: IntArray
    veto: IntArray
    row_start: IntArray
    row: IntArray
    row_sign: IntArray


class State(NamedTuple):
    """The counters of the moment; see above."""

    have: IntArray
    left: IntArray
    und: IntArray
    killed: IntArray
    alive: IntArray
    on: IntArray


@njit(cache=True)
def _change(tables, have, left, acc, key, f, took, gone):
    """Let feature f have `took` copies more, and `gone` fewer to come."""
    table_start, table, price, best, words, ends, scale, rising = tables
    v, r = have[f], left[f]
    first = table_start[f]
    top = table_start[f + 1] - first - 1
    v2, r2 = v + took, r - gone
    acc[0] += term(table_start, table, price, scale, rising, best, f, v2, r2) - term(
        table_start, table, price, scale, rising, best, f, v, r
    )
    if took:
        acc[1] += table[first + min(v2, top)] - table[first + min(v, top)]
    before, after = word_of(words, ends, table_start, f, v, r), word_of(words, ends, table_start, f, v2, r2)
    for which in range(2):
        key[which] ^= words[before, which] ^ words[after, which]
    have[f], left[f] = v2, r2


@njit(cache=True)
def _die(tables, items, joints, have, left, alive, on, acc, key, o):
    """Joint o can no longer be active."""
    start, feature, count, _alone, n = items
    surplus, joint_word, jr_start, jr_row, row_price = joints
    acc[0] -= max(0, surplus[o])
    key[0] ^= joint_word[o, 0]
    key[1] ^= joint_word[o, 1]
    for k in range(start[n + o], start[n + o + 1]):
        _change(tables, have, left, acc, key, feature[k], np.int64(0), count[k])
    for k in range(jr_start[o], jr_start[o + 1]):
        r = jr_row[k]
        alive[r] -= 1
        if alive[r] == 0 and on[r] == 1:
            acc[0] -= row_price[r]


@njit(cache=True)
def _activate(tables, items, joints, mass, have, left, acc, key, o):
    """Joint o is active whatever follows."""
    start, feature, count, _alone, n = items
    surplus, joint_word, _jr_start, _jr_row, _row_price = joints
    acc[0] += surplus[o] - max(0, surplus[o])
    acc[1] += mass[n + o]
    key[0] ^= joint_word[o, 0]
    key[1] ^= joint_word[o, 1]
    for k in range(start[n + o], start[n + o + 1]):
        _change(tables, have, left, acc, key, feature[k], count[k], count[k])


@njit(cache=True)
def take_unit(tables, items, joints, units, mass, have, left, und, killed, alive, on, acc, key, d):
    """Take the unit at place d, all above it being taken: what that does to joints and rows."""
    nj_start, nj, vj_start, vj, ur_start, ur_row, row_sign = units
    row_price = joints[4]
    for k in range(ur_start[d], ur_start[d + 1]):
        r = ur_row[k]
        if row_sign[r] == 1:
            acc[0] -= row_price[r]
        else:
            on[r] = 1
            if alive[r] > 0:
                acc[0] += row_price[r]
    for k in range(nj_start[d], nj_start[d + 1]):
        o = nj[k]
        und[o] -= 1
        if und[o] == 0 and killed[o] == 0:
            _activate(tables, items, joints, mass, have, left, acc, key, o)
    for k in range(vj_start[d], vj_start[d + 1]):
        o = vj[k]
        und[o] -= 1
        killed[o] += 1
        if killed[o] == 1:
            _die(tables, items, joints, have, left, alive, on, acc, key, o)


@njit(cache=True)
def drop_unit(tables, items, joints, units, mass, have, left, und, killed, alive, on, acc, key, d):
    """Drop the unit at place d: what that does to joints and rows."""
    nj_start, nj, vj_start, vj, ur_start, ur_row, row_sign = units
    row_price = joints[4]
    for k in range(ur_start[d], ur_start[d + 1]):
        r = ur_row[k]
        if row_sign[r] == 1:
            on[r] = 1
            if alive[r] == 0:
                acc[0] -= row_price[r]
    for k in range(nj_start[d], nj_start[d + 1]):
        o = nj[k]
        und[o] -= 1
        killed[o] += 1
        if killed[o] == 1:
            _die(tables, items, joints, have, left, alive, on, acc, key, o)
    for k in range(vj_start[d], vj_start[d + 1]):
        o = vj[k]
        und[o] -= 1
        if und[o] == 0 and killed[o] == 0:
            _activate(tables, items, joints, mass, have, left, acc, key, o)


@njit(cache=True)
def _revive(items, joints, left, alive, o):
    start, feature, count, _alone, n = items
    _surplus, _joint_word, jr_start, jr_row, _row_price = joints
    for k in range(start[n + o], start[n + o + 1]):
        left[feature[k]] += count[k]
    for k in range(jr_start[o], jr_start[o + 1]):
        alive[jr_row[k]] += 1


@njit(cache=True)
def _passivate(items, have, left, o):
    start, feature, count, _alone, n = items
    for k in range(start[n + o], start[n + o + 1]):
        have[feature[k]] -= count[k]
        left[feature[k]] += count[k]


@njit(cache=True)
def undo_unit(items, joints, units, have, left, und, killed, alive, on, d, taken):
    """Undo `take_unit` or `drop_unit`."""
    nj_start, nj, vj_start, vj, ur_start, ur_row, _row_sign = units
    for k in range(nj_start[d], nj_start[d + 1]):
        o = nj[k]
        if taken:
            if und[o] == 0 and killed[o] == 0:
                _passivate(items, have, left, o)
        else:
            killed[o] -= 1
            if killed[o] == 0:
                _revive(items, joints, left, alive, o)
        und[o] += 1
    for k in range(vj_start[d], vj_start[d + 1]):
        o = vj[k]
        if not taken:
            if und[o] == 0 and killed[o] == 0:
                _passivate(items, have, left, o)
        else:
            killed[o] -= 1
            if killed[o] == 0:
                _revive(items, joints, left, alive, o)
        und[o] += 1
    for k in range(ur_start[d], ur_start[d + 1]):
        on[ur_row[k]] = 0
