"""Kernels of metrics on tokens that are numbers: n-grams, common subsequences, and the official scores of both.

A *row* is a text or a sentence. Rows lie one after another in one array, usually `ids`, and row r is the slice from
``start[r]`` to ``start[r + 1]``. Equal n-grams have equal numbers, which are derived from the numbers of their tokens.
The table of common subsequences is bit-parallel (Hyyro 2004), in words of 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.coverage.ceilings import count_bits, extend
from optsum.metrics.rouge import LONGEST, SKIPS
from optsum.system.compiled import njit

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_LAST = np.uint64(63)


@njit(cache=True)
def number_pairs(left: Any, right: Any) -> Any:
    """Return numbers of pairs of values below 2^31 by first occurrence (-1 if `left` < 0), and the count of numbers."""
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
    """Return the number of the n-gram at each token (-1 if it would leave the row), `start`, and how many there are."""
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
    """Return numbers of each row's tokens, except its last `spared`, and of pairs with at most `skip` tokens between.

    The result is like that of `ngram_numbers`, in the order of `optsum.metrics.rouge.SkipBigrams.keys`.
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
    if kind == SKIPS:
        return skip_numbers(ids, start, different, size, spared)
    return ngram_numbers(ids, start, different, size)


@njit(cache=True)
def clipped_hits(grams: Any, start: Any, different: int) -> Any:
    """Return (rows, 2): the clipped hits of each row in the last row, which is a summary, and the row's n-grams."""
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

    `distinct`: count an n-gram once in a row. `only`: in the other rows, keep only n-grams of references. The result:
    `begin` (rows + 1,), the start of the entries of each row; `found`, `copies`, an entry for each different n-gram of
    a row; `total` (rows,), n-grams of each row, kept or not; `shared` (rows,), whether some reference has one of them.
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
    """Return the concatenation of arrays; for `numpy.concatenate`, numba would load much more code."""
    both = np.empty(len(left) + len(right), np.int64)
    for place in range(len(left)):
        both[place] = left[place]
    for place in range(len(right)):
        both[len(left) + place] = right[place]
    return both


@njit(cache=True)
def _count_tokens(ids: Any, start: Any, different: int, references: int, total: Any, shared: Any) -> int:
    """Set `total` to each row's number of tokens, `shared` to whether a reference has one of them; return 0 n-grams."""
    known = np.zeros(different, np.bool_)
    for row in range(len(start) - 1):
        total[row] = start[row + 1] - start[row]
        for place in range(start[row], start[row + 1]):
            known[ids[place]] |= row < references
            shared[row] |= known[ids[place]]
    return 0


@njit(cache=True)
def counted(ids: Any, start: Any, different: int, coded: Any, references: int, distinct: bool, only: bool) -> Any:
    """Count the n-grams of several metrics (`Metric.coded`) in each row of tokens, like `count_rows`.

    `begin` is (metrics * (rows + 1),), metric by metric; `totals` is (metrics, rows). `shared` is true if it is so for
    any metric. `kinds` (metrics,) counts different n-grams. Common subsequences have no entries, and count tokens.
    """
    rows = len(start) - 1
    begin = np.empty(len(coded) * (rows + 1), np.int64)
    found, copies = np.empty(0, np.int64), np.empty(0, np.int64)
    totals = np.empty((len(coded), rows), np.int64)
    shared = np.zeros(rows, np.bool_)
    kinds = np.empty(len(coded), np.int64)
    for part in range(len(coded)):
        if coded[part, 0] == LONGEST:
            kinds[part] = _count_tokens(ids, start, different, references, totals[part], shared)
            for row in range(rows + 1):
                begin[part * (rows + 1) + row] = len(found)
            continue
        grams, starts, kinds[part] = numbers_of(ids, start, different, coded[part, 0], coded[part, 1], np.int64(0))
        own, more, copied, many, some = count_rows(grams, starts, kinds[part], references, distinct, only)
        for row in range(rows):
            totals[part, row] = many[row]
            shared[row] |= some[row]
        for row in range(rows + 1):
            begin[part * (rows + 1) + row] = len(found) + own[row]
        found, copies = (_joined(found, more), _joined(copies, copied)) if part else (more, copied)
    return begin, found, copies, totals, shared, kinds


@njit(cache=True)
def trace(ids: Any, begin: int, end: int, places: Any, width: int, flat: Any, rows: Any, covered: Any) -> None:
    """Mark the tokens of a reference sentence that are on its common subsequence with a sentence of the summary.

    `ids`, `begin`, `end`: the reference sentence is ``ids[begin:end]``. `places` (different tokens, words): bits of the
    positions at which the summary's sentence, of `width` tokens, has each token. `flat` (tokens + 1, words): buffer for
    the table, in which bit j of row i is 0 if the length grows with the summary's token j. `rows` (tokens,): buffer.
    `covered`: one flag for each token of the reference, set by this call.
    """
    words = (width + 63) >> 6
    for word in range(words):
        flat[0, word] = _ALL
    held = 0
    for place in range(begin, end):
        token = ids[place]
        some = False
        for word in range(words):
            some |= places[token, word] != 0
        if not some:  # its lengths are those of the row before, so that the traceback would skip it
            continue
        carry = np.uint64(0)
        for word in range(words):
            old = flat[held, word]
            both = old & places[token, word]
            partly = old + both
            total = partly + carry
            carry = np.uint64(1) if partly < old or total < partly else np.uint64(0)
            flat[held + 1, word] = total | (old - both)
        rows[held] = place
        held += 1
    column = width
    while held and column:
        place = rows[held - 1]
        own, last = places[ids[place]], column - 1
        if not (own[last >> 6] >> (np.uint64(last) & _LAST)) & _ONE:
            here, above = 0, 0  # lengths of the first `column` tokens, with and without this token of the reference
            for word in range((column + 63) >> 6):
                mask = _ALL
                if (word << 6) + 64 > column:
                    mask = (_ONE << np.uint64(column - (word << 6))) - _ONE
                here += count_bits(~flat[held, word] & mask)
                above += count_bits(~flat[held - 1, word] & mask)
            if here == 0:
                break
            if here == above:
                held -= 1
                continue
            while not (own[last >> 6] >> (np.uint64(last) & _LAST)) & _ONE:  # both lengths stay apart up to a match
                last -= 1
        covered[place] = 1
        held -= 1
        column = last


@njit(cache=True)
def whole_hits(ids: Any, start: Any, group: Any, different: int) -> Any:
    """Return the length of the longest common subsequence of summary and each reference (`group`: see `union_hits`)."""
    references = len(group) - 2
    hits = np.zeros(references, np.int64)
    for reference in range(references):
        begin, end = start[group[reference]], start[group[reference + 1]]
        words = max(1, (end - begin + 63) >> 6)
        places = np.zeros((different, words), np.uint64)
        for place in range(begin, end):
            places[ids[place], (place - begin) >> 6] |= _ONE << (np.uint64(place - begin) & _LAST)
        flat = np.empty(words, np.uint64)
        for word in range(words):
            flat[word] = _ALL
        for place in range(start[group[references]], start[group[references + 1]]):
            extend(flat, places, ids[place])
        for word in range(words):
            hits[reference] += count_bits(~flat[word])
    return hits


@njit(cache=True)
def covered_positions(ids: Any, start: Any, own: int, different: int) -> Any:
    """Return flags of the reference tokens that each other sentence covers, on the subsequence of ROUGE-1.5.5.

    `ids`, `start`, `different`: as in `Interned`. `own`: number of sentences of references, which come first. The
    result: (sentences, tokens of the references) array of 0 and 1.
    """
    others = len(start) - 1 - own
    widest, longest = 1, 1
    for sentence in range(others):
        widest = max(widest, start[own + sentence + 1] - start[own + sentence])
    for sentence in range(own):
        longest = max(longest, start[sentence + 1] - start[sentence])
    words = (widest + 63) >> 6
    places = np.zeros((different, words), np.uint64)
    flat = np.empty((longest + 1, words), np.uint64)
    rows = np.empty(longest, np.int64)
    covered = np.zeros((others, start[own]), np.uint8)
    for sentence in range(others):
        begin, end = start[own + sentence], start[own + sentence + 1]
        for place in range(begin, end):
            places[ids[place], (place - begin) >> 6] |= _ONE << (np.uint64(place - begin) & _LAST)
        for other in range(own):
            trace(ids, start[other], start[other + 1], places, end - begin, flat, rows, covered[sentence])
        for place in range(begin, end):
            places[ids[place], (place - begin) >> 6] = 0
    return covered


@njit(cache=True)
def union_hits(ids: Any, start: Any, group: Any, different: int) -> Any:
    """Count each reference's tokens on common subsequences, clipped by the summary's counts.

    `group`: the first sentence of each reference and of the summary, and the end.
    """
    references = len(group) - 2
    first = group[references]
    covered = covered_positions(ids, start, first, different)
    counts = np.zeros(different, np.int64)
    for place in range(start[first], start[-1]):
        counts[ids[place]] += 1
    some = np.zeros(start[first], np.uint8)
    for sentence in range(len(covered)):
        for place in range(len(some)):
            some[place] |= covered[sentence, place]
    hits = np.zeros(references, np.int64)
    left = np.empty(different, np.int64)
    for reference in range(references):
        # The summary's count of a token limits its hits; the reference's count does so without a check.
        for token in range(different):
            left[token] = counts[token]
        for place in range(start[group[reference]], start[group[reference + 1]]):
            if some[place] and left[ids[place]] > 0:
                left[ids[place]] -= 1
                hits[reference] += 1
    return hits


@njit(cache=True)
def official_hits(ids: Any, start: Any, references: Any, chosen: Any, different: int, coded: Any) -> Any:
    """Compare a selection of sentences with the references, by several metrics.

    `references`: the first sentence of each reference, and the end of the last one. `chosen`: the summary's sentences,
    by number among all. `coded` (metrics, 2): `Metric.coded`. The result (metrics, 3): the hits in all references, the
    n-grams (or tokens) of all references, and those of the summary.
    """
    first = references[-1]
    end, sentences = start[first], first + len(chosen)
    size = end
    for sentence in chosen:
        size += start[sentence + 1] - start[sentence]
    tokens, bounds = np.empty(size, np.int64), np.empty(sentences + 1, np.int64)
    for place in range(end):
        tokens[place] = ids[place]
    for sentence in range(first + 1):
        bounds[sentence] = start[sentence]
    place = end
    for number in range(len(chosen)):
        for token in range(start[chosen[number]], start[chosen[number] + 1]):
            tokens[place] = ids[token]
            place += 1
        bounds[first + number + 1] = place
    texts, whole = np.empty(len(references) + 1, np.int64), np.empty(len(references) + 1, np.int64)
    for text in range(len(references) + 1):
        texts[text] = references[text] if text < len(references) else sentences
        whole[text] = bounds[texts[text]]
    scores = np.zeros((len(coded), 3), np.int64)
    for metric in range(len(coded)):
        if coded[metric, 0] == LONGEST:
            if coded[metric, 1] == 1:
                all_hits = whole_hits(tokens, bounds, texts, different)
            else:
                all_hits = union_hits(tokens, bounds, texts, different)
            for hits in all_hits:
                scores[metric, 0] += hits
            scores[metric, 1], scores[metric, 2] = end, size - end
            continue
        # ROUGE-1.5.5 leaves out the last token of a text where it counts tokens and pairs.
        grams, begin, kinds = numbers_of(tokens, whole, different, coded[metric, 0], coded[metric, 1], np.int64(1))
        found = clipped_hits(grams, begin, kinds)
        for reference in range(len(references) - 1):
            scores[metric, 0] += found[reference, 0]
            scores[metric, 1] += found[reference, 1]
        scores[metric, 2] = found[-1, 1]
    return scores
