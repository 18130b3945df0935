"""n-grams as numbers: equal n-grams have equal numbers, made of the numbers of their tokens.

Texts are rows: tokens, or n-grams, one row after another, with where each begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.metrics.metric import SKIPS
from optsum.system.compiled import njit


@njit(cache=True)
def number_pairs(left: Any, right: Any) -> Any:
    """Give pairs of numbers below 2^31 numbers, in the order of their first occurrence; -1 where `left` is negative."""
    room = 64
    while room < 2 * len(left):
        room *= 2
    held = np.zeros(room, np.int32)  # hash -> number + 1
    keys = np.empty(room, np.int64)
    numbers = np.empty(len(left), np.int64)
    different = 0
    for place in range(len(left)):
        if left[place] < 0:
            numbers[place] = -1
            continue
        key = (left[place] << 32) | right[place]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(room - 1))
        while held[slot] and keys[slot] != key:
            slot = (slot + 1) & (room - 1)
        if not held[slot]:
            different += 1
            held[slot] = different
            keys[slot] = key
        numbers[place] = held[slot] - 1
    return numbers, different


@njit(cache=True)
def ngram_numbers(ids: Any, start: Any, different: int, size: int) -> Any:
    """Return a number for each n-gram, by the token that it begins at; -1 where it would leave the row."""
    grams = ids
    for step in range(1, size):
        left = np.full(len(ids), -1, np.int64)
        right = np.zeros(len(ids), np.int64)
        for row in range(len(start) - 1):
            for place in range(start[row], start[row + 1] - step):
                left[place] = grams[place]
                right[place] = ids[place + step]
        grams, different = number_pairs(left, right)
    return grams, start, different


@njit(cache=True)
def skip_numbers(ids: Any, start: Any, different: int, skip: int, spared: int) -> Any:
    """Return numbers of the tokens of each row but the last `spared`, and of its pairs with `skip` between at most.

    The result is as of `ngram_numbers`, in the order of `optsum.metrics.ngrams.SkipBigrams.keys`.
    """
    rows = len(start) - 1
    begin = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        length = start[row + 1] - start[row]
        pairs = 0
        for distance in range(1, min(skip + 1, length - 1) + 1):
            pairs += length - distance
        begin[row + 1] = begin[row] + max(0, length - spared) + pairs
    left = np.full(begin[rows], -1, np.int64)
    right = np.zeros(begin[rows], np.int64)
    for row in range(rows):
        length = start[row + 1] - start[row]
        place = begin[row] + max(0, length - spared)
        for distance in range(1, min(skip + 1, length - 1) + 1):
            for first in range(start[row], start[row + 1] - distance):
                left[place] = ids[first]
                right[place] = ids[first + distance]
                place += 1
    grams, pairs = number_pairs(left, right)
    for row in range(rows):
        for token in range(max(0, start[row + 1] - start[row] - spared)):
            grams[begin[row] + token] = ids[start[row] + token]
        for place in range(begin[row] + max(0, start[row + 1] - start[row] - spared), begin[row + 1]):
            grams[place] += different
    return grams, begin, different + pairs


@njit(cache=True)
def numbers_of(ids: Any, start: Any, different: int, kind: int, size: int, spared: int) -> Any:
    """Return numbers of what a metric counts in each row (`optsum.metrics.metric.Metric.coded`)."""
    if kind == SKIPS:
        return skip_numbers(ids, start, different, size, spared)
    return ngram_numbers(ids, start, different, size)


@njit(cache=True)
def clipped_hits(grams: Any, start: Any, different: int) -> Any:
    """Return for each row its clipped hits in the last one, a summary, and how many n-grams it has: (rows, 2)."""
    rows = len(start) - 1
    found = np.zeros((rows, 2), np.int64)
    held = np.zeros(different, np.int64)
    for place in range(start[rows - 1], start[rows]):
        if grams[place] >= 0:
            held[grams[place]] += 1
    left = np.empty(different, np.int64)
    for row in range(rows):
        for gram in range(different):
            left[gram] = held[gram]
        for place in range(start[row], start[row + 1]):
            gram = grams[place]
            if gram >= 0:
                found[row, 1] += 1
                if left[gram] > 0:
                    left[gram] -= 1
                    found[row, 0] += 1
    return found


@njit(cache=True)
def count_rows(grams: Any, start: Any, different: int, references: int, distinct: bool, only: bool) -> Any:
    """Count the n-grams of each row; the first `references` rows are of references.

    `only`: of the other rows, keep n-grams alone that some reference has. The result: `begin` (rows + 1,), where the
    entries of each row begin; `found`, `copies`, one entry a different n-gram of a row; `total` (rows,), n-grams of
    each row, whether kept or not; `shared` (rows,), whether some reference has one of them.
    """
    rows = len(start) - 1
    begin = np.zeros(rows + 1, np.int64)
    found = np.empty(len(grams), np.int64)
    copies = np.empty(len(grams), np.int64)
    total = np.zeros(rows, np.int64)
    shared = np.zeros(rows, np.bool_)
    held = np.zeros(different, np.bool_)
    seen = np.full(different, -1, np.int64)  # the last row that had the n-gram, and where its entry is
    entry_of = np.empty(different, np.int64)
    entries = 0
    for row in range(rows):
        for place in range(start[row], start[row + 1]):
            gram = grams[place]
            if gram < 0:
                continue
            if row < references:
                held[gram] = True
            kept = held[gram] or not only
            shared[row] |= held[gram]
            if seen[gram] != row:
                seen[gram] = row
                total[row] += 1
                if kept:
                    entry_of[gram] = entries
                    found[entries] = gram
                    copies[entries] = 1
                    entries += 1
            elif not distinct:
                total[row] += 1
                if kept:
                    copies[entry_of[gram]] += 1
        begin[row + 1] = entries
    return begin, found[:entries], copies[:entries], total, shared


@njit(cache=True)
def _joined(left: Any, right: Any) -> Any:
    """Return what `numpy.concatenate` does, for which numba loads half of itself."""
    both = np.empty(len(left) + len(right), np.int64)
    for place in range(len(left)):
        both[place] = left[place]
    for place in range(len(right)):
        both[len(left) + place] = right[place]
    return both


@njit(cache=True)
def counted(ids: Any, start: Any, different: int, coded: Any, references: int, distinct: bool, only: bool) -> Any:
    """Count what several metrics (`Metric.coded`) count in each row of tokens, as `count_rows` does.

    `begin` is (metrics * (rows + 1),), of one metric after another; `shared` is of any metric.
    """
    rows = len(start) - 1
    begin = np.empty(len(coded) * (rows + 1), np.int64)
    found, copies = np.empty(0, np.int64), np.empty(0, np.int64)
    totals = np.empty((len(coded), rows), np.int64)
    shared = np.zeros(rows, np.bool_)
    kinds = np.empty(len(coded), np.int64)
    for part in range(len(coded)):
        grams, starts, kinds[part] = numbers_of(ids, start, different, coded[part, 0], coded[part, 1], np.int64(0))
        own, more, copied, many, some = count_rows(grams, starts, kinds[part], references, distinct, only)
        for row in range(rows):
            totals[part, row] = many[row]
            shared[row] |= some[row]
        for row in range(rows + 1):
            begin[part * (rows + 1) + row] = len(found) + own[row]
        found, copies = (_joined(found, more), _joined(copies, copied)) if part else (more, copied)
    return begin, found, copies, totals, shared, kinds
