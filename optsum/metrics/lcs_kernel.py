"""Hits of ROUGE-L on tokens that are numbers, as `optsum.metrics.lcs` finds them on tokens that are text.

The table of lengths is bit-parallel too (Hyyro 2004), in words of 64 bits, of which a long sentence takes several.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.coverage.ceiling_kernel import count_bits, extend
from optsum.system.compiled import njit

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_LAST = np.uint64(63)


@njit(cache=True)
def trace(ids: Any, begin: int, end: int, places: Any, width: int, flat: Any, rows: Any, covered: Any) -> None:
    """Mark the positions of a reference sentence on the subsequence that it has in common with a summary's sentence.

    `ids`, `begin`, `end`: the reference sentence is ``ids[begin:end]``. `places` (different tokens, words): bits of the
    positions at which the summary's sentence, of `width` tokens, has each token. `flat` (tokens + 1, words): room for
    the table: bit j of row i is 0 where the length grows with the summary's token j. `rows` (tokens,): room. `covered`:
    one flag a token of the reference, marked by this call.
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
        if not some:  # the lengths are those of the row before: it would be dropped for free
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
        last = column - 1
        if (places[ids[place], last >> 6] >> (np.uint64(last) & _LAST)) & _ONE:
            covered[place] = 1
            held -= 1
            column = last
            continue
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
        else:
            column = last


@njit(cache=True)
def whole_hits(ids: Any, start: Any, group: Any, different: int) -> Any:
    """Return the longest common subsequences of the last text and each other, with the parameters of `union_hits`."""
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
    """Return which positions of the references each other sentence covers, on the subsequence that ROUGE-1.5.5 takes.

    `ids`, `start`, `different`: as in `Interned`. `own`: how many sentences, the first, are of references. The result:
    (sentences, tokens of the references) array of 0 and 1.
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
    """Count the hits of a summary, the last text, in each reference; `group`: the first sentence of each text."""
    references = len(group) - 2
    first = group[references]
    covered = covered_positions(ids, start, first, different)
    counts = np.zeros(different, np.int64)
    for place in range(start[first], start[-1]):
        counts[ids[place]] += 1
    hits = np.zeros(references, np.int64)
    left = np.empty(different, np.int64)
    for reference in range(references):
        # A token hits as often as the summary has it at most; that the reference has it as often goes without saying.
        for token in range(different):
            left[token] = counts[token]
        for place in range(start[group[reference]], start[group[reference + 1]]):
            sentence = 0
            while sentence < len(covered) and not covered[sentence, place]:
                sentence += 1
            if sentence < len(covered) and left[ids[place]] > 0:
                left[ids[place]] -= 1
                hits[reference] += 1
    return hits
