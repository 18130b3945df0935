"""Correct the totals of features that ceilings bound (`optsum.coverage.ceilings`), compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, inline="always")
def count_bits(word: Any) -> Any:
    """Count the bits of a word."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, inline="always")
def extend(flat: Any, places: Any, row: int) -> None:
    """Add a token to a column of lengths, in which a bit is 0 if the length grows (Hyyro 2004).

    The bits of a row of `places` are the positions of the token in the other text.
    """
    carry = np.uint64(0)
    for word in range(len(flat)):
        old = flat[word]
        both = old & places[row, word]
        partly = old + both
        total = partly + carry
        carry = np.uint64(1) if partly < old or total < partly else np.uint64(0)
        flat[word] = total | (old - both)


@njit(cache=True)
def correct(ceilings: Any, count: int, totals: Any) -> None:
    """Correct totals that were computed from features, of the first `count` units in ``ceilings.units``, ascending."""
    units = ceilings.units
    for group in range(len(ceilings.capped)):
        covered, copies = np.int64(0), np.int64(0)
        for word in range(ceilings.covered.shape[2]):
            union = np.uint64(0)
            for number in range(count):
                union |= ceilings.covered[group, units[number], word]
            if union:
                covered += count_bits(union)
        if covered == 0 and ceilings.capped[group, 3] == 0:
            continue
        for number in range(count):
            copies += ceilings.copies[group, units[number]]
        slot, gain = ceilings.capped[group, 0], ceilings.capped[group, 1]
        above, beside = ceilings.capped[group, 2], ceilings.capped[group, 3]
        totals[slot] += gain * min(covered, copies) - above * covered - beside * copies
    size = ceilings.own.shape[1]
    for text in range(len(ceilings.texts)):
        slot, gain = ceilings.texts[text, 0], ceilings.texts[text, 1]
        above, beside = ceilings.texts[text, 2], ceilings.texts[text, 3]
        first, last = ceilings.texts[text, 4], ceilings.texts[text, 5]
        for word in range(len(ceilings.flat)):
            ceilings.flat[word] = _ALL
        for row in range(first, last):
            ceilings.counts[row] = 0
        clipped, own = np.int64(0), np.int64(0)
        for number in range(count):
            unit = units[number]
            own += ceilings.own[text, unit]
            for entry in range(ceilings.start[text * size + unit], ceilings.start[text * size + unit + 1]):
                row = ceilings.token[entry]
                if ceilings.counts[row] < ceilings.most[row]:
                    ceilings.counts[row] += 1
                    clipped += 1
                extend(ceilings.flat, ceilings.places, row)
        hits = np.int64(0)
        for word in range(len(ceilings.flat)):
            hits += count_bits(~ceilings.flat[word])
        totals[slot] += gain * hits - above * clipped - beside * own
