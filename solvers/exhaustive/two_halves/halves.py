r"""Two halves of the units, encoded so that the value of a union is a few machine words.

Every selection is a set A of the long units joined with a set B of the short ones. What features that only one half
holds are worth is a plain sum; a feature f that both hold is worth, with a copies in A and b in B,

.. math:: g_f(a + b) = g_f(a) + g_f(b) - \sum_j \delta_j \max(0, \min(a, j) + \min(b, j) - j),

because a concave table is a sum of tables :math:`\min(c, j)` with the weights
:math:`\delta_j = w_f[j] - w_f[j + 1] \ge 0`. The last maximum is the number of bits that two words share, if A sets
the lowest a of j bits and B the highest b: one AND and one population count for all features at once. A weight is
written in binary, one group of words a digit; bits that no copies there are could share are left out.

Within a half, features are of three kinds. Those that only one of its units holds are that unit's own; those that one
copy fills are single bits of the words, so that what a unit adds is a population count; only the others are counted
copy by copy.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from optsum.coverage.instance import Coverage, IntArray
from optsum.coverage.state import kernel_array
from optsum.system.compiled import njit

from .bits import field_bits, ones
from .split import cut_of

_WORD_BITS: Final = 63
_MOST_WORDS: Final = 40
"""With more of them the walk that flips unit by unit is as quick."""
_DIGITS: Final = 63
_USED: Final = 2
"""Row of the table of words: bits in use. Rows 0 and 1: total and binary digit."""
_NUMBER: Final = _MOST_WORDS + 1
"""Column of that row where the number of words stands; the one before is for words that find no room."""


class Half(NamedTuple):
    """The units of one half; all arrays int64.

    Attributes
    ----------
    units : (units,)
        What the instance calls them.
    lengths : (units,)
    mask : (units, words)
        Bits that a unit sets; each new one is worth its word's weight.
    mass : (units, totals)
        What else a unit adds to each total.
    start, feature, held : (units + 1,), (entries,), (entries,)
        Features that are counted copy by copy, and how many copies a unit has.
    highest : int
        1 if copies set the highest bits of a field, 0 for the lowest.
    """

    units: IntArray
    lengths: IntArray
    mask: IntArray
    mass: IntArray
    start: IntArray
    feature: IntArray
    held: IntArray
    highest: int


class Halves(NamedTuple):
    """An instance as two halves.

    Attributes
    ----------
    long, short : Half
    short_sets : int
        Sets of the short half that fit, at most.
    word_total, word_shift : (words,)
        The total that shared bits of a word are taken from, and the binary digit of their weight.
    shared_words : int
        Only the first so many hold bits that both halves may set.
    field_start, field : (features + 1,), (fields, 5)
        Of each feature that both halves hold: word, lowest bit, first of the bits t = 1..j that it keeps, how many, j.
    level_start, level, slot : as in `optsum.coverage.instance.Coverage`
    """

    long: Half
    short: Half
    short_sets: int
    word_total: IntArray
    word_shift: IntArray
    shared_words: int
    field_start: IntArray
    field: IntArray
    level_start: IntArray
    level: IntArray
    slot: IntArray


def halves_of(instance: Coverage) -> Halves | None:
    """Return the halves of an instance of singletons, or None where its gains need too many words."""
    units = np.argsort(instance.lengths, kind="stable")
    lengths = instance.lengths[units]
    fitting = int(np.searchsorted(lengths, instance.max_length, side="right"))
    units, lengths = units[:fitting], lengths[:fitting]
    cut, sets = cut_of(lengths, int(instance.max_length))
    entries = map(kernel_array, (instance.unit_start, instance.unit_feature, instance.unit_count))
    gains = tuple(map(kernel_array, (instance.level_start, instance.level, instance.slot)))
    words, long, short, fields = _encode(units, cut, *entries, *gains, kernel_array(instance.mass))
    word_total, word_shift, shared_words = words
    if len(word_total) > _MOST_WORDS:
        return None
    field_start, field = fields
    return Halves(
        Half._make((units[cut:], lengths[cut:], *long, 0)),
        Half._make((units[:cut], lengths[:cut], *short, 1)),
        sets,
        word_total,
        word_shift,
        shared_words,
        field_start,
        field,
        *gains,
    )


@njit(cache=True)
def _room(words: Any, latest: Any, total: int, digit: int, width: int) -> Any:
    """Find room for some bits; returns their word and the lowest of them. Words beyond the most are not kept."""
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
    """Give fields of bits to the features that both halves hold; returns where those of each begin, and the fields."""
    features = len(slot)
    field_start = np.zeros(features + 1, np.int64)
    field = np.empty((_MOST_WORDS * _WORD_BITS + 1, 5), np.int64)  # no more are of use
    fields = 0
    for feature in range(features):
        start, full = level_start[feature], level_start[feature + 1] - 1 - level_start[feature]
        shared = copies[0, feature] > 0 and copies[1, feature] > 0
        for j in range(1, full + 1 if shared else 0):
            weight = level[start + j] - level[start + j - 1]
            weight -= level[start + j + 1] - level[start + j] if j < full else 0
            # Bits that no copies there are could set in both halves are left out.
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
    """Give bits to features that one copy fills, of several units of one half alone; returns word and bit of each.

    Their weight must be one binary digit: otherwise copies are counted, as where there are too many words.
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
def _half(
    side: int,
    chosen: Any,
    unit_start: Any,
    unit_feature: Any,
    unit_count: Any,
    level_start: Any,
    level: Any,
    slot: Any,
    mass: Any,
    holders: Any,
    own: Any,
    field_start: Any,
    field: Any,
    shift: Any,
) -> Any:
    """Return the last arrays of a half: see `Half`."""
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
                    # A new bit will count its weight: so it is not counted here.
                    adds[place, slot[feature]] -= ones(bits) << shift[word]
            elif own[side, 1, feature] != 0:
                mask[place, own[side, 0, feature]] |= own[side, 1, feature]
            else:
                counted[0, entries], counted[1, entries] = feature, held
                entries += 1
        counted_start[place + 1] = entries
    return mask, adds, counted_start, counted[0, :entries].copy(), counted[1, :entries].copy()


@njit(cache=True)
def _encode(
    units: Any,
    cut: int,
    unit_start: Any,
    unit_feature: Any,
    unit_count: Any,
    level_start: Any,
    level: Any,
    slot: Any,
    mass: Any,
) -> Any:
    """Give bits to the features, and encode the units, of which the first `cut` are the short half."""
    short, long = units[:cut], units[cut:]

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
        _half(
            side, long if side else short, unit_start, unit_feature, unit_count, level_start, level, slot,
            mass, holders, own, field_start, field, shift,
        )
        for side in range(2)
    ]  # fmt: skip
    return (words[0, : len(shift)].copy(), shift, shared_words), made[1], made[0], (field_start, field)
