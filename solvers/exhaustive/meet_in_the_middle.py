r"""The quick kernel of exhaustive search: it combines each set of long units with each fitting set of short ones.

The sets of the short half are made once and sorted by length, so that the sets that fit a set of the long half are
consecutive in arrays, and one loop evaluates all of them. The walk over the long half is depth-first, and can be paused
after any number of selections.

The units are encoded so that the value of a union needs a few machine words. Every selection is the union of a set A of
long units and a set B of short ones. The gains of features in only one half are a plain sum; the gain of a feature f in
both halves, with a copies in A and b in B, is

.. math:: g_f(a + b) = g_f(a) + g_f(b) - \sum_j \delta_j \max(0, \min(a, j) + \min(b, j) - j),

because a concave table is a sum of tables :math:`\min(c, j)` with the weights :math:`\delta_j = w_f[j] - w_f[j + 1] \ge
0`. The last maximum is the number of common bits of two words, if A sets the lowest a of j bits and B the highest b:
one AND and one population count for all features at once. A weight is written in binary, with one group of words for
each digit; bits that cannot be common are left out.

Within a half, features are of three kinds. The gain of a feature in only one unit is part of that unit's mass. A
feature that one copy fills is a single bit of the words, so that the gain of a unit is a population count. Only the
other features are counted copy by copy.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, IntArray, kernel_array
from optsum.coverage.state import HARMONIC, INTEGER, PRODUCT, pair_at
from optsum.system.compiled import Instruction, njit, stands_for

MOST_SHORT: Final = 62  # Largest number of units of the short half, whose sets are bit masks in one integer.
_MOST_SETS: Final = 1 << 15  # Largest number of sets of the short half, which fit into a second-level cache.
_LARGEST_TABLE: Final = 2_000_000


@njit(cache=True)
def cut_of(lengths: Any, max_length: int) -> Any:
    """Return the number of units in the short half, and an upper limit of its fitting sets; `lengths` are sorted."""
    n = len(lengths)
    high: Any = np.int64(0)
    for length in lengths:
        high += length
    high = min(max_length, high)
    if n * (high + 1) > _LARGEST_TABLE:
        cut = min(n // 2, 15)
        return cut, 1 << cut
    sets = np.zeros((2, n + 1))
    for side in range(2):
        table = np.zeros(high + 1)
        table[0] = 1.0
        sets[side, 0] = 1.0
        reach = 0
        for k in range(n):
            length = lengths[k] if side == 0 else lengths[n - 1 - k]
            reach = min(high, reach + length)
            for c in range(reach, length - 1, -1):
                table[c] += table[c - length]
            for c in range(reach + 1):
                sets[side, k + 1] += table[c]
    best, found = np.inf, 0
    for k in range(min(n, MOST_SHORT) + 1):
        if sets[0, k] > _MOST_SETS:
            break
        # A set of the long half costs more, because the limits of its loop are looked up.
        work = sets[0, k] + 1.5 * sets[1, n - k]
        if work < best or k == 0:
            best, found = work, k
    return found, int(sets[0, found])


_LOWEST, _FIRST, _WIDTH, _BITS = 1, 2, 3, 4
_ALL = 2**64 - 1


ones: Final = Instruction("ctpop", lambda word: (int(word) & _ALL).bit_count())
"""Return the number of set bits of a word."""


def many_ones(words: IntArray) -> IntArray:
    if hasattr(np, "bitwise_count"):  # since numpy 2.0; for signed integers it counts the bits of the magnitude
        return np.asarray(np.bitwise_count(words.view(np.uint64)), np.int64)
    return np.asarray(_ones_of_16()[words.view(np.uint16)].reshape(-1, 4).sum(axis=1), np.int64)


@cache
def _ones_of_16() -> NDArray[np.uint8]:
    return np.array([number.bit_count() for number in range(1 << 16)], np.uint8)


@njit(cache=True)
def field_bits(field: Any, number: int, held: int, highest: int) -> Any:
    """Return the bits that `held` copies set in a field (`Halves.field`): its highest bits, or its lowest."""
    width, first = field[number, _WIDTH], field[number, _FIRST]
    shown = held - (field[number, _BITS] - (first + width - 1)) if highest else held - first + 1
    shown = min(max(shown, 0), width)
    bits = ((np.int64(1) << shown) - 1) << field[number, _LOWEST]
    return bits << (width - shown) if highest else bits


_WORD_BITS: Final = 63
_MOST_WORDS: Final = 40  # Number of words above which the walk that flips unit by unit is as quick.
_DIGITS: Final = 63
_USED: Final = 2  # Row of the table of words: bits in use. Rows 0 and 1: total and binary digit.
_NUMBER: Final = _MOST_WORDS + 1  # Column with the number of words; the one before it collects words without room.


class Half(NamedTuple):
    """The units of one half; all arrays int64."""

    units: IntArray  # (units,): their numbers in the instance.
    lengths: IntArray  # (units,)
    mask: IntArray  # (units, words): bits that a unit sets; each new bit adds the weight of its word.
    mass: IntArray  # (units, totals): amount that a unit adds to each total besides.
    # start, feature, held: (units + 1,), (entries,), (entries,): features of each unit that are counted copy by copy,
    # and the number of copies.
    start: IntArray
    feature: IntArray
    held: IntArray
    highest: int  # 1 if copies set the highest bits of a field, 0 for the lowest.


class Halves(NamedTuple):
    """An instance, divided into a half of long units and a half of short ones."""

    long: Half
    short: Half
    short_sets: int  # Upper limit of the number of sets of the short half that fit.
    # word_total, word_shift: (words,): the total from which common bits of a word are subtracted, and the binary digit
    # of their weight.
    word_total: IntArray
    word_shift: IntArray
    shared_words: int  # Number of words, from the first, with bits that both halves may set.
    # field_start, field: (features + 1,), (fields, 5): fields of each feature that both halves have. Columns of a
    # field: word, lowest bit, first of the kept bits among 1..j, number of kept bits, j.
    field_start: IntArray
    field: IntArray
    level_start: IntArray
    level: IntArray
    slot: IntArray


def halves_of(instance: Coverage) -> Halves | None:
    """Return the halves of an instance without joints and parents, or None if its gains need too many words."""
    units = np.argsort(instance.lengths, kind="stable")
    lengths = instance.lengths[units]
    fitting = int(np.searchsorted(lengths, instance.max_length, side="right"))
    units, lengths = units[:fitting], lengths[:fitting]
    cut, sets = cut_of(lengths, int(instance.max_length))
    entries = tuple(map(kernel_array, (instance.unit_start, instance.unit_feature, instance.unit_count)))
    gains = tuple(map(kernel_array, (instance.level_start, instance.level, instance.slot)))
    words, long, short, fields = _encode(units, cut, entries, gains, kernel_array(instance.mass))
    if len(words[0]) > _MOST_WORDS:
        return None
    halves = Half._make((units[cut:], lengths[cut:], *long, 0)), Half._make((units[:cut], lengths[:cut], *short, 1))
    return Halves(*halves, sets, *words, *fields, *gains)


@njit(cache=True)
def _room(words: Any, latest: Any, total: int, digit: int, width: int) -> Any:
    word = latest[total, digit]
    if word < 0 or words[_USED, min(word, _MOST_WORDS)] + width > _WORD_BITS:
        word = words[_USED, _NUMBER]
        words[_USED, _NUMBER] += 1
        latest[total, digit] = word
        words[0, min(word, _MOST_WORDS)] = total
        words[1, min(word, _MOST_WORDS)] = digit
        words[_USED, min(word, _MOST_WORDS)] = 0
    if word >= _MOST_WORDS:
        return _MOST_WORDS, 0
    low = words[_USED, word]
    words[_USED, word] += width
    return word, low


@njit(cache=True)
def _shared_fields(level_start: Any, level: Any, slot: Any, copies: Any, words: Any, latest: Any) -> Any:
    """Assign fields of bits to features in both halves; return the start of each feature's fields, and the fields."""
    features = len(slot)
    field_start = np.zeros(features + 1, np.int64)
    field = np.empty((_MOST_WORDS * _WORD_BITS + 1, 5), np.int64)  # more fields would need too many words
    fields = 0
    for feature in range(features):
        start, full = level_start[feature], level_start[feature + 1] - 1 - level_start[feature]
        shared = copies[0, feature] > 0 and copies[1, feature] > 0
        for j in range(1, full + 1 if shared else 0):
            weight = level[start + j] - level[start + j - 1]
            weight -= level[start + j + 1] - level[start + j] if j < full else 0
            # Bits that the available copies cannot set in both halves are left out.
            first, last = max(1, j + 1 - copies[0, feature]), min(j, copies[1, feature])
            for digit in range(_DIGITS if first <= last and weight > 0 else 0):
                if (weight >> digit) & 1 == 0:
                    continue
                for begin in range(first, last + 1, _WORD_BITS):
                    width = min(_WORD_BITS, last + 1 - begin)
                    word, low = _room(words, latest, slot[feature], digit, width)
                    if fields < len(field):
                        field[fields, 0], field[fields, 1], field[fields, 2] = word, low, begin
                        field[fields, 3], field[fields, 4] = width, j
                        fields += 1
        field_start[feature + 1] = fields
    return field_start, field[:fields].copy()


@njit(cache=True)
def _own_bits(level_start: Any, level: Any, slot: Any, copies: Any, holders: Any, words: Any, latest: Any) -> Any:
    """Assign a bit to each feature that one copy fills and only one half has; return the word and bit of each.

    Features of a single unit need no bit. If a weight is not a power of two, or there are too many words, copies are
    counted instead.
    """
    own = np.zeros((2, 2, len(slot)), np.int64)
    for feature in range(len(slot)):
        start = level_start[feature]
        weight = level[start + 1] if level_start[feature + 1] - start == 2 else 0
        if weight <= 0 or weight & (weight - 1) != 0:
            continue
        digit = 0
        while weight >> digit > 1:
            digit += 1
        for side in range(2):
            fits = words[_USED, _NUMBER] < _MOST_WORDS
            if holders[side, feature] > 1 and copies[1 - side, feature] == 0 and fits:
                word, low = _room(words, latest, slot[feature], digit, np.int64(1))
                own[side, 0, feature], own[side, 1, feature] = word, np.int64(1) << low
    return own


@njit(cache=True)
def _half(side: int, chosen: Any, entries: Any, gains: Any, mass: Any, holders: Any, own: Any, fields: Any,
          shift: Any) -> Any:  # fmt: skip
    unit_start, unit_feature, unit_count = entries
    level_start, level, slot = gains
    field_start, field = fields
    n, totals = len(chosen), len(mass)
    mask = np.zeros((n, len(shift)), np.int64)
    adds = np.zeros((n, totals), np.int64)
    counted_start = np.zeros(n + 1, np.int64)
    room = 0
    for unit in chosen:
        room += unit_start[unit + 1] - unit_start[unit]
    counted = np.zeros((2, room), np.int64)
    entries = 0
    for place in range(n):
        unit = chosen[place]
        for total in range(totals):
            adds[place, total] = mass[total, unit]
        for entry in range(unit_start[unit], unit_start[unit + 1]):
            feature, held = unit_feature[entry], unit_count[entry]
            start, full = level_start[feature], level_start[feature + 1] - 1 - level_start[feature]
            shared = field_start[feature + 1] > field_start[feature]
            if full == 0:
                continue
            if holders[side, feature] == 1 or (full == 1 and shared):
                adds[place, slot[feature]] += level[start + min(held, full)]
                for each in range(field_start[feature], field_start[feature + 1]):
                    word = field[each, 0]
                    bits = field_bits(field, each, held, 1 - side)
                    mask[place, word] |= bits
                    # Subtracted, because the weight of a bit is added when the bit is new.
                    adds[place, slot[feature]] -= ones(bits) << shift[word]
            elif own[side, 1, feature] != 0:
                mask[place, own[side, 0, feature]] |= own[side, 1, feature]
            else:
                counted[0, entries], counted[1, entries] = feature, held
                entries += 1
        counted_start[place + 1] = entries
    return mask, adds, counted_start, counted[0, :entries].copy(), counted[1, :entries].copy()


@njit(cache=True)
def _encode(units: Any, cut: int, entries: Any, gains: Any, mass: Any) -> Any:
    """Assign bits to the features, and encode the units, of which the first `cut` are the short half."""
    short, long = units[:cut], units[cut:]
    unit_start, unit_feature, unit_count = entries
    level_start, level, slot = gains
    copies = np.zeros((2, len(slot)), np.int64)
    holders = np.zeros((2, len(slot)), np.int64)
    for side in range(2):
        for unit in short if side == 0 else long:
            for entry in range(unit_start[unit], unit_start[unit + 1]):
                copies[side, unit_feature[entry]] += unit_count[entry]
                holders[side, unit_feature[entry]] += 1

    words = np.zeros((3, _MOST_WORDS + 2), np.int64)
    latest = np.zeros((len(mass), _DIGITS), np.int64) - 1
    field_start, field = _shared_fields(level_start, level, slot, copies, words, latest)
    shared_words = words[_USED, _NUMBER]
    own = np.zeros((2, 2, len(slot)), np.int64)
    if shared_words <= _MOST_WORDS:
        own = _own_bits(level_start, level, slot, copies, holders, words, latest)
    number = words[_USED, _NUMBER]
    shift = words[1, : min(number, _MOST_WORDS + 1)].copy()
    made = [
        _half(side, long if side else short, entries, gains, mass, holders, own, (field_start, field), shift)
        for side in range(2)
    ]
    return (words[0, : len(shift)].copy(), shift, shared_words), made[1], made[0], (field_start, field)


@njit(cache=True)
def value_at(combination: int, weights: Any, totals: Any, place: int) -> Any:
    """Return the value of the totals in column `place`, in floating point."""
    if combination == INTEGER:
        return float(totals[0, place])
    if combination == HARMONIC:
        turned = 0.0
        for ratio in range(len(weights)):
            top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
            if bottom <= 0 or top <= 0:
                return 0.0
            turned += weights[ratio] * bottom / top
        return 1.0 / turned
    value = 1.0 if combination == PRODUCT else 0.0
    for ratio in range(len(weights)):
        top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
        share = top / bottom if bottom > 0 else 0.0
        if combination == PRODUCT:
            for _ in range(weights[ratio]):
                value *= share
        else:
            value += weights[ratio] * share
    return value


_LONGEST_TABLE: Final = 1 << 16


class Shorts(NamedTuple):
    """All fitting sets of the short half, by length; the empty one first."""

    # length, mask: (sets,)
    length: IntArray
    mask: IntArray
    # totals, words: (totals, sets), (words, sets)
    totals: IntArray
    words: IntArray
    # (longest + 2,): where sets of each length begin; empty if there are too many lengths for a table.
    begin: IntArray


def shorts_of(halves: Halves, max_length: int) -> Shorts:
    length, mask, totals, words = _make_shorts(halves, max_length)
    longest = int(length.max())
    order = np.argsort(length.astype(np.min_scalar_type(longest)), kind="stable")  # short integers are sorted by radix
    length = length[order]
    begin = np.searchsorted(length, np.arange(longest + 2 if longest <= _LONGEST_TABLE else 0))
    return Shorts(length, mask[order], totals.T[:, order].copy(), words.T[:, order].copy(), begin.astype(np.int64))


@njit(cache=True, inline="always")
def push(depth: int, unit: int, lengths: Any, mask: Any, mass: Any, start: Any, feature: Any, held: Any,
          highest: int, copies: Any, totals: Any, words: Any, length: Any, word_total: Any, word_shift: Any,
          field_start: Any, field: Any, level_start: Any, level: Any, slot: Any) -> None:  # fmt: skip
    """Push a unit of a half onto the path of `depth` units."""  # separate arrays: unpacking tuples costs more
    above = depth + 1
    length[above] = length[depth] + lengths[unit]
    for total in range(totals.shape[1]):
        totals[above, total] = totals[depth, total] + mass[unit, total]
    for word in range(words.shape[1]):
        below, own = words[depth, word], mask[unit, word]
        words[above, word] = below | own
        totals[above, word_total[word]] += ones(own & ~below) << word_shift[word]
    for entry in range(start[unit], start[unit + 1]):
        one = feature[entry]
        first = level_start[one]
        full = level_start[one + 1] - 1 - first
        before = copies[one]
        after = before + held[entry]
        copies[one] = after
        totals[above, slot[one]] += level[first + min(after, full)] - level[first + min(before, full)]
        for number in range(field_start[one], field_start[one + 1]):
            words[above, field[number, 0]] |= field_bits(field, number, after, highest)


@njit(cache=True)
def _make_shorts(halves: Any, max_length: int) -> Any:
    """Return length, mask, totals and words of all fitting sets of the short half, in the order of their units."""
    _, lengths, unit_mask, mass, start, feature, held, highest = halves.short
    _, _, room, word_total, word_shift, _, field_start, field, level_start, level, slot = halves
    n = len(lengths)
    kinds, parts = mass.shape[1], unit_mask.shape[1]
    copies = np.zeros(len(slot), np.int64)
    top_totals = np.zeros((n + 1, kinds), np.int64)
    top_words = np.zeros((n + 1, parts), np.int64)
    top_length = np.zeros(n + 1, np.int64)
    length = np.zeros(room, np.int64)
    mask = np.zeros(room, np.int64)
    totals = np.zeros((room, kinds), np.int64)
    words = np.zeros((room, parts), np.int64)
    path = np.zeros(n + 1, np.int64)
    depth, unit, sets, chosen = 0, 0, 1, np.int64(0)
    while True:
        if unit < n and top_length[depth] + lengths[unit] <= max_length:
            push(depth, unit, lengths, unit_mask, mass, start, feature, held, highest,
                  copies, top_totals, top_words, top_length, word_total, word_shift,
                  field_start, field, level_start, level, slot)  # fmt: skip
            path[depth] = unit
            depth += 1
            chosen |= np.int64(1) << unit
            unit += 1
            length[sets], mask[sets] = top_length[depth], chosen
            for total in range(kinds):
                totals[sets, total] = top_totals[depth, total]
            for word in range(parts):
                words[sets, word] = top_words[depth, word]
            sets += 1
            continue
        if depth == 0:
            break
        depth -= 1
        unit = path[depth]
        for entry in range(start[unit], start[unit + 1]):
            copies[feature[entry]] -= held[entry]
        chosen ^= np.int64(1) << unit
        unit += 1
    return length[:sets], mask[:sets], totals[:sets], words[:sets]


DONE, FEASIBLE, TIES, BEST_CHANGED, LISTED, FULL = 0, 1, 2, 3, 4, 5
_DEPTH, _UNIT, _AT, _END, _HELD, _TOP, _BOTTOM = 6, 7, 8, 9, 10, 11, 12
_BLOCK: Final = 1024
MARGIN: Final = 1e-9  # Relative margin of candidates, far above rounding errors, and far below most differences.


class PairWalk(NamedTuple):
    """The data of a walk, its position, and the best selection so far.

    `listed`: for each tie, a row with the number of long units, these units, and the mask of the short units. If 64
    bits cannot compare values, `listed` has candidates instead, and `found` has the totals of each of its rows.
    """

    rules: IntArray
    constants: IntArray
    weights: IntArray
    copies: IntArray  # (features,): copies in the whole path.
    # totals, words, length: (units + 1, totals), (units + 1, words), (units + 1,): row d is for the first d units of
    # the path.
    totals: IntArray
    words: IntArray
    length: IntArray
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
    """Return a walk before its first selection; the empty selection is not counted, but its value must be exceeded.

    `combination`: `INTEGER`, or one of `optsum.coverage.state.KINDS`. `exact`: whether every product of a comparison
    fits into 64 bits. Otherwise selections that may be best are listed with their totals, and the walk stops (`FULL`)
    if there is no room for more. `rows`: largest number of ties, or candidates, to list.
    """
    totals, n = len(instance.constants), len(halves.long.units)
    walk = PairWalk(
        np.array([instance.min_length, instance.max_length, combination, exact], np.int64),
        kernel_array(instance.constants),
        kernel_array(instance.weights),
        np.zeros(len(halves.slot), np.int64),
        np.zeros((n + 1, totals), np.int64),
        np.zeros((n + 1, len(halves.word_total)), np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 2, np.int64),
        np.zeros(13, np.int64),
        np.zeros(1),
        np.zeros((rows, n + 2), np.int64),
        np.zeros((0 if exact else rows, totals), np.int64),
        np.zeros((1 if combination == INTEGER else totals, _BLOCK), np.int64),
        np.zeros(0 if combination == INTEGER else _BLOCK),
    )
    walk.totals[0] = instance.constants
    walk.scalars[_AT] = -1
    return walk


@njit(cache=True)
def take(row: Any, path: Any, depth: int, mask: int) -> None:
    """Write a selection to a row: the number of units on a path, these units, and the mask of the short units."""
    row[0] = depth
    for place in range(depth):
        row[place + 1] = path[place]
    row[depth + 1] = mask


@njit(cache=True)
def _meet(combination: int, weights: Any, scalars: Any, floats: Any, block: Any, place: int, best: Any, listed: Any,
          path: Any, mask: int) -> None:  # fmt: skip
    top, bottom = pair_at(combination, weights, block, place)
    ahead = top * scalars[_BOTTOM] - scalars[_TOP] * bottom
    if scalars[_HELD] == 0 or ahead > 0:
        scalars[_HELD], scalars[_TOP], scalars[_BOTTOM] = 1, top, bottom
        scalars[TIES], scalars[BEST_CHANGED], scalars[LISTED] = 0, 1, 0
        floats[0] = value_at(combination, weights, block, place)
        take(best, path, scalars[_DEPTH], mask)
        ahead = 0
    if ahead == 0:
        scalars[TIES] += 1
        if scalars[LISTED] < len(listed):
            take(listed[scalars[LISTED]], path, scalars[_DEPTH], mask)
            scalars[LISTED] += 1


@njit(cache=True)
def _subtract(sums: Any, word: int, others: Any, digit: int) -> None:
    for place in range(len(sums)):
        sums[place] -= ones(word & others[place]) << digit


@njit(cache=True)
def _integers(row: Any, base: int, own: Any, mine: Any, depth: int, others: Any, shift: Any, words: int, first: int,
              size: int) -> Any:  # fmt: skip
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
    """Evaluate a block by numpy, in place of `_integers` before it is compiled: millions of selections a second."""
    here = slice(first, first + size)
    sums = row[0, :size]
    np.add(own[0, here], base, out=sums)
    for number in range(words):
        sums -= many_ones(others[number, here] & mine[depth, number]) << shift[number]
    return sums.max()


@njit(cache=True)
def _values(block: Any, values: Any, combination: int, weights: Any, base: Any, own: Any, mine: Any, depth: int,
            others: Any, total_of: Any, shift: Any, words: int, first: int, size: int) -> Any:  # fmt: skip
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
    """Compare `size` evaluated selections from `first` on with the best; return how many, fewer if `FULL`."""
    rules, _, weights, _, _, _, _, path, best, scalars, floats, listed, found, block, values = walk
    combination = rules[_COMBINATION]
    for place in range(size):
        mask = masks[first + place]
        if combination == INTEGER:
            if scalars[_HELD] == 0 or block[0, place] >= scalars[_TOP]:
                _meet(combination, weights, scalars, floats, block, place, best, listed, path, mask)
        elif scalars[_HELD] == 0 or values[place] >= floats[0] * (1 - MARGIN):
            if rules[_EXACT] == 1:
                _meet(combination, weights, scalars, floats, block, place, best, listed, path, mask)
            elif scalars[LISTED] == len(listed):
                scalars[FULL] = 1
                return place
            else:
                floats[0] = max(floats[0], values[place]) if scalars[_HELD] else values[place]
                scalars[_HELD] = 1
                take(listed[scalars[LISTED]], path, scalars[_DEPTH], mask)
                for total in range(len(block)):
                    found[scalars[LISTED], total] = block[total, place]
                scalars[LISTED] += 1
    return size


@njit(cache=True)
def _first_at_least(lengths: Any, least: int) -> Any:
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
    """Return begin and end of the range of short sets whose lengths are from `low` to `high`; sets are sorted."""
    longest = lengths[-1]
    if low > longest:
        return len(lengths), len(lengths)
    if len(begin):
        return begin[max(low, 0)], begin[min(high, longest) + 1]
    return _first_at_least(lengths, low), _first_at_least(lengths, high + 1)


@njit(cache=True)
def _first_stretch(shorts: Any, walk: Any) -> None:
    """Begin without units of the long half; the empty selection is not counted, but its value must be exceeded."""
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
    """Visit up to `visits` more selections, in up to `steps` more sets of the long half."""
    _, lengths, unit_mask, mass, start, feature, held, highest = halves.long
    _, _, _, word_total, word_shift, shared, field_start, field, level_start, level, slot = halves
    rules, _, weights, copies, totals, words, length, path, _, scalars, floats, _, _, block, values = walk
    short_length, masks, short_totals, short_words, begin = shorts
    low, high, combination = rules[_LOW], rules[_HIGH], rules[_COMBINATION]
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
                promising = scalars[_HELD] == 0 or highest_value >= floats[0] * (1 - MARGIN)
            if promising:
                scalars[_DEPTH] = depth
                size = _hold(walk, masks, at, size)
            at += size
            scalars[FEASIBLE] += size
            left -= size
            if scalars[FULL]:
                break
            continue
        # Units are sorted by length: if one does not fit, no later one does.
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
