"""All sets of the short half of the units, made once, with what they are worth."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from .bits import field_bits, ones
from .halves import Halves

_LONGEST_TABLE: Final = 1 << 16


class Shorts(NamedTuple):
    """All sets of the short half that fit, by length; the empty one first.

    Attributes
    ----------
    length, mask : (sets,)
    totals, words : (totals, sets), (words, sets)
    begin : (longest + 2,)
        Where sets of each length begin; empty where there are too many lengths for a table.
    """

    length: IntArray
    mask: IntArray
    totals: IntArray
    words: IntArray
    begin: IntArray


def shorts_of(halves: Halves, max_length: int) -> Shorts:
    """Return the sets of the short half."""
    length, mask, totals, words, begin = _make_shorts(halves, max_length)
    if not len(begin):  # too many lengths for the kernel's way of sorting
        order = np.argsort(length, kind="stable")
        length, mask, totals, words = length[order], mask[order], totals[:, order], words[:, order]
        totals, words = np.ascontiguousarray(totals), np.ascontiguousarray(words)
    return Shorts(length, mask, totals, words, begin)


@njit(cache=True, inline="always")
def push(depth: int, unit: int, lengths: Any, mask: Any, mass: Any, start: Any, feature: Any, held: Any,
          highest: int, copies: Any, totals: Any, words: Any, length: Any, word_total: Any, word_shift: Any,
          field_start: Any, field: Any, level_start: Any, level: Any, slot: Any) -> None:  # fmt: skip
    """Put a unit of a half on top of the first `depth` ones."""  # tuples of arrays would cost more than the work
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
    """Make all sets of the short half that fit, depth-first, and sort them by length if a table can."""
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
    longest = np.int64(0)
    for place in range(sets):
        longest = max(longest, length[place])
    begin = np.zeros(longest + 2 if longest <= _LONGEST_TABLE else 0, np.int64)
    order = np.arange(sets)
    if len(begin):  # counting sort: stable, so that the empty set stays first
        for place in range(sets):
            begin[length[place] + 1] += 1
        for c in range(1, longest + 2):
            begin[c] += begin[c - 1]
        following = begin.copy()
        for place in range(sets):
            order[following[length[place]]] = place
            following[length[place]] += 1
    sorted_length = np.empty(sets, np.int64)
    sorted_mask = np.empty(sets, np.int64)
    sorted_totals = np.empty((kinds, sets), np.int64)
    sorted_words = np.empty((parts, sets), np.int64)
    for place in range(sets):
        from_ = order[place]
        sorted_length[place], sorted_mask[place] = length[from_], mask[from_]
        for total in range(kinds):
            sorted_totals[total, place] = totals[from_, total]
        for word in range(parts):
            sorted_words[word, place] = words[from_, word]
    return sorted_length, sorted_mask, sorted_totals, sorted_words, begin
