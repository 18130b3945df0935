"""The quick kernel of exhaustive search: each set of the long units with each set of the short ones that fits.

The sets of the short half are made once and sorted by length, so that those which complete a set of the long half are
one stretch of arrays; a loop over it evaluates every one of them. The walk over the long half is depth-first, and can
be left after any number of selections and taken up again.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, IntArray
from optsum.coverage.state import kernel_array
from optsum.system.compiled import njit
from optsum.system.plain import stands_for

from .bits import many_ones, ones
from .halves import Halves
from .shorts import push
from .values import INTEGER, pair_at, value_at

DONE, FEASIBLE, TIES, BEST_CHANGED, LISTED, FULL = 0, 1, 2, 3, 4, 5
_DEPTH, _UNIT, _AT, _END, _HELD, _TOP, _BOTTOM = 6, 7, 8, 9, 10, 11, 12

_BLOCK: Final = 1024
_MARGIN: Final = 1e-9
"""Far above what rounding does to a value, far below what tells most values apart; exact integers decide."""


class Stack(NamedTuple):
    """The set of units on the way through one half, and all sets that it grew from; copies are those of the last.

    Attributes
    ----------
    copies : (features,)
    totals, words, length : (units + 1, totals), (units + 1, words), (units + 1,)
        Row d is for the first d units of the way.
    """

    copies: IntArray
    totals: IntArray
    words: IntArray
    length: IntArray


class PairWalk(NamedTuple):
    """What is walked, where the walk is, and the best selection so far.

    `listed` holds rows of ties: the number of long units, the units, the mask of the short ones. `found` holds, for
    values that 64 bits cannot compare, the totals of each row of `listed`, which are candidates.
    """

    rules: IntArray
    constants: IntArray
    weights: IntArray
    stack: Stack
    path: IntArray
    best: IntArray
    scalars: IntArray
    floats: NDArray[np.float64]
    listed: IntArray
    found: IntArray
    block: IntArray
    values: NDArray[np.float64]


_LOW, _HIGH, _COMBINATION, _EXACT = 0, 1, 2, 3


def start_pairs(instance: Coverage, halves: Halves, combination: int, *, exact: bool, rows: int) -> PairWalk:
    """Return a walk that stands before the first selection; the empty one is not counted, but has to be beaten.

    Parameters
    ----------
    combination : int
        As in `optsum.solvers.exhaustive.two_halves.values`.
    exact : bool
        64 bits hold every product that a comparison needs. Otherwise selections that may be best are listed with
        their totals, and the walk stops (`FULL`) where there is no room for more.
    rows : int
        How many ties, or candidates, are to be listed.
    """
    totals, n = len(instance.constants), len(halves.long.units)
    walk = PairWalk(
        np.array([instance.min_length, instance.max_length, combination, exact], np.int64),
        kernel_array(instance.constants),
        kernel_array(instance.weights),
        Stack(
            np.zeros(len(halves.slot), np.int64),
            np.zeros((n + 1, totals), np.int64),
            np.zeros((n + 1, len(halves.word_total)), np.int64),
            np.zeros(n + 1, np.int64),
        ),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 2, np.int64),
        np.zeros(13, np.int64),
        np.zeros(1),
        np.zeros((rows, n + 2), np.int64),
        np.zeros((0 if exact else rows, totals), np.int64),
        np.zeros((totals if combination else 1, _BLOCK), np.int64),
        np.zeros(_BLOCK if combination else 0),
    )
    walk.stack.totals[0] = instance.constants
    walk.scalars[_AT] = -1
    return walk


@njit(cache=True)
def _take(row: Any, path: Any, depth: int, mask: int) -> None:
    """Write down a selection: number of long units, the units, the mask of the short ones."""
    row[0] = depth
    for place in range(depth):
        row[place + 1] = path[place]
    row[depth + 1] = mask


@njit(cache=True)
def _note(scalars: Any, listed: Any, found: Any, block: Any, place: int, path: Any, mask: int) -> None:
    """Note a candidate and its totals, for exact fractions to decide."""
    row = scalars[LISTED]
    _take(listed[row], path, scalars[_DEPTH], mask)
    for total in range(len(block)):
        found[row, total] = block[total, place]
    scalars[LISTED] += 1


@njit(cache=True)
def _meet(combination: int, weights: Any, scalars: Any, floats: Any, block: Any, place: int, best: Any, listed: Any,
          path: Any, mask: int) -> None:  # fmt: skip
    """Hold a selection that may be best, in column `place` of the block, against the best one."""
    top, bottom = pair_at(combination, weights, block, place)
    ahead = top * scalars[_BOTTOM] - scalars[_TOP] * bottom
    if scalars[_HELD] == 0 or ahead > 0:
        scalars[_HELD], scalars[_TOP], scalars[_BOTTOM] = 1, top, bottom
        scalars[TIES], scalars[BEST_CHANGED], scalars[LISTED] = 0, 1, 0
        floats[0] = value_at(combination, weights, block, place)
        _take(best, path, scalars[_DEPTH], mask)
        ahead = 0
    if ahead == 0:
        scalars[TIES] += 1
        if scalars[LISTED] < len(listed):
            _take(listed[scalars[LISTED]], path, scalars[_DEPTH], mask)
            scalars[LISTED] += 1


@njit(cache=True)
def _subtract(sums: Any, word: int, others: Any, digit: int) -> None:
    """Take from each sum what two halves count twice."""
    for place in range(len(sums)):
        sums[place] -= ones(word & others[place]) << digit


@njit(cache=True)
def _integers(row: Any, base: int, own: Any, mine: Any, depth: int, others: Any, shift: Any, words: int, first: int,
              size: int) -> Any:  # fmt: skip
    """Evaluate selections of which one integer decides; return the largest."""
    largest = np.int64(-1)
    if words == 1 and shift[0] == 0:
        word = mine[depth, 0]
        for place in range(size):
            value = base + own[0, first + place] - ones(word & others[0, first + place])
            row[0, place] = value
            largest = max(largest, value)
        return largest
    sums, there = row[0, :size], own[0, first : first + size]
    for place in range(size):
        sums[place] = base + there[place]
    for number in range(words):
        _subtract(sums, mine[depth, number], others[number, first : first + size], shift[number])
    for place in range(size):
        largest = max(largest, sums[place])
    return largest


@stands_for(_integers)
def _integers_at_once(row: Any, base: int, own: Any, mine: Any, depth: int, others: Any, shift: Any, words: int,
                      first: int, size: int) -> Any:  # fmt: skip
    """Evaluate the same by numpy: millions of selections are soon visited so, before anything is compiled."""
    here = slice(first, first + size)
    sums = row[0, :size]
    np.add(own[0, here], base, out=sums)
    for number in range(words):
        sums -= many_ones(others[number, here] & mine[depth, number]) << shift[number]
    return sums.max()


@njit(cache=True)
def _values(block: Any, values: Any, combination: int, weights: Any, base: Any, own: Any, mine: Any, depth: int,
            others: Any, total_of: Any, shift: Any, words: int, first: int, size: int) -> Any:  # fmt: skip
    """Evaluate selections in floating point, their totals exactly; return the largest value."""
    for total in range(len(block)):
        below, there = base[depth, total], own[total, first : first + size]
        for place in range(size):
            block[total, place] = below + there[place]
    for number in range(words):
        sums = block[total_of[number], :size]
        _subtract(sums, mine[depth, number], others[number, first : first + size], shift[number])
    largest = -1.0
    for place in range(size):
        value = value_at(combination, weights, block, place)
        values[place] = value
        largest = max(largest, value)
    return largest


@njit(cache=True)
def _hold(walk: Any, masks: Any, first: int, size: int) -> Any:
    """Hold those of the evaluated selections that may be best against the best one.

    Returns
    -------
    How many were dealt with: fewer than `size` where there is no room for candidates.
    """
    rules, _, weights, _, path, best, scalars, floats, listed, found, block, values = walk
    combination = rules[_COMBINATION]
    for place in range(size):
        mask = masks[first + place]
        if combination == INTEGER:
            if scalars[_HELD] == 0 or block[0, place] >= scalars[_TOP]:
                _meet(combination, weights, scalars, floats, block, place, best, listed, path, mask)
        elif scalars[_HELD] == 0 or values[place] >= floats[0] * (1 - _MARGIN):
            if rules[_EXACT] == 1:
                _meet(combination, weights, scalars, floats, block, place, best, listed, path, mask)
            elif scalars[LISTED] == len(listed):
                scalars[FULL] = 1
                return place
            else:
                floats[0] = max(floats[0], values[place]) if scalars[_HELD] else values[place]
                scalars[_HELD] = 1
                _note(scalars, listed, found, block, place, path, mask)
    return size


@njit(cache=True)
def _first_at_least(lengths: Any, least: int) -> Any:
    """Return the first place of ascending lengths that are at least so long."""
    low: Any = np.int64(0)
    high: Any = len(lengths)
    while low < high:
        middle = (low + high) // 2
        if lengths[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _stretch(lengths: Any, begin: Any, low: int, high: int) -> Any:
    """Return where the sets of the short half begin and end whose length is within `low` and `high`."""
    longest = lengths[-1]
    if low > longest:
        return len(lengths), len(lengths)
    if len(begin):
        return begin[max(low, 0)], begin[min(high, longest) + 1]
    return _first_at_least(lengths, low), _first_at_least(lengths, high + 1)


@njit(cache=True)
def _first_stretch(shorts: Any, walk: Any) -> None:
    """Begin with the empty set of the long half; the empty selection is not counted, but it has to be beaten."""
    scalars = walk.scalars
    scalars[_AT], scalars[_END] = _stretch(shorts.length, shorts.begin, walk.rules[_LOW], walk.rules[_HIGH])
    if walk.rules[_LOW] > 0:
        return
    for total in range(len(walk.block)):
        walk.block[total, 0] = walk.constants[total]
    if walk.rules[_EXACT] == 1:
        scalars[_TOP], scalars[_BOTTOM] = pair_at(walk.rules[_COMBINATION], walk.weights, walk.block, np.int64(0))
    walk.floats[0] = value_at(walk.rules[_COMBINATION], walk.weights, walk.block, np.int64(0))
    scalars[_HELD] = 1
    scalars[_AT] = 1


@njit(cache=True)
def advance_pairs(halves: Any, shorts: Any, walk: Any, visits: int, steps: int) -> None:
    """Visit up to `visits` more selections, on the way through up to `steps` more sets of the long half."""
    _, lengths, unit_mask, mass, start, feature, held, highest = halves.long
    _, _, _, word_total, word_shift, shared, field_start, field, level_start, level, slot = halves
    copies, totals, words, length = walk.stack
    short_length, masks, short_totals, short_words, begin = shorts
    scalars, path, block, values, floats, weights = (
        walk.scalars, walk.path, walk.block, walk.values, walk.floats, walk.weights
    )  # fmt: skip
    low, high, combination = walk.rules[_LOW], walk.rules[_HIGH], walk.rules[_COMBINATION]
    n = len(lengths)
    scalars[FULL] = 0
    if scalars[_AT] < 0:
        _first_stretch(shorts, walk)
    rest = np.zeros(n + 1, np.int64)
    for unit in range(n - 1, -1, -1):
        rest[unit] = rest[unit + 1] + lengths[unit]
    least = low - short_length[-1]
    left, unit, depth, at, end = visits, scalars[_UNIT], scalars[_DEPTH], scalars[_AT], scalars[_END]
    while left > 0 and steps > 0:
        if at < end:
            size = min(left, end - at, _BLOCK)
            if combination == INTEGER:
                base = totals[depth, 0]
                most = _integers(block, base, short_totals, words, depth, short_words, word_shift, shared, at, size)
                promising = scalars[_HELD] == 0 or most >= scalars[_TOP]
            else:
                highest_value = _values(block, values, combination, weights, totals, short_totals, words, depth,
                                        short_words, word_total, word_shift, shared, at, size)  # fmt: skip
                promising = scalars[_HELD] == 0 or highest_value >= floats[0] * (1 - _MARGIN)
            if promising:
                scalars[_DEPTH] = depth
                size = _hold(walk, masks, at, size)
            at += size
            scalars[FEASIBLE] += size
            left -= size
            if scalars[FULL]:
                break
            continue
        # Units are sorted by length: where one does not fit, none after it does.
        if unit < n and length[depth] + lengths[unit] <= high and length[depth] + rest[unit] >= least:
            push(depth, unit, lengths, unit_mask, mass, start, feature, held, highest,
                  copies, totals, words, length, word_total, word_shift,
                  field_start, field, level_start, level, slot)  # fmt: skip
            path[depth] = unit
            depth += 1
            unit += 1
            steps -= 1
            at, end = _stretch(short_length, begin, low - length[depth], high - length[depth])
            continue
        if depth == 0:
            scalars[DONE] = 1
            break
        depth -= 1
        unit = path[depth]
        for entry in range(start[unit], start[unit + 1]):
            copies[feature[entry]] -= held[entry]
        unit += 1
    scalars[_UNIT], scalars[_DEPTH], scalars[_AT], scalars[_END] = unit, depth, at, end
