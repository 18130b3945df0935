"""Words of many sentences at once: one pass over their bytes gives each word a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit

_END = 0  # The byte that ends a sentence.
_BLANK = 32


@njit(cache=True)
def _spread(vocabulary: Any, at: Any, different: int, room: int) -> Any:
    """Return a table of hashes to numbers of the words, as `number_words` has it, with more room."""
    table = np.zeros(room, np.int32)
    for word in range(different):
        hashed = np.uint64(14695981039346656037)
        for place in range(at[word], at[word + 1] - 1):
            hashed = (hashed ^ np.uint64(vocabulary[place])) * np.uint64(1099511628211)
        slot = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(room - 1))
        while table[slot]:
            slot = (slot + 1) & (room - 1)
        table[slot] = word + 1
    return table


@njit(cache=True)
def number_words(text: Any, becomes: Any, sentences: int) -> Any:
    """Give each word of a text a number, in the order in which different words first occur.

    `text`: sentences, each ended by a NUL. `becomes` (256,) array of bytes: what each byte becomes: itself or another
    one; a blank if it parts words; 0 if it is left out. `start`: (sentences + 1,) where the words of each sentence
    begin. `lengths`: (sentences,) pieces between white space (of ASCII) in each sentence.
    """
    most = len(text) // 2 + 1  # a word is one byte at least, and something ends it
    ids = np.empty(most, np.int64)
    start = np.zeros(sentences + 1, np.int64)
    lengths = np.zeros(sentences, np.int64)
    vocabulary = np.empty(len(text) + 1, np.uint8)
    at = np.empty(most + 1, np.int64)  # where each different word begins in it; the last entry is the end
    at[0] = 0
    room = 1024  # it grows: a large table is slow to look into
    table = np.zeros(room, np.int32)  # hash -> number + 1
    words, different, end, sentence = 0, 0, 0, 0
    hashed = np.uint64(14695981039346656037)  # FNV-1a
    within = False
    for place in range(len(text)):
        byte = text[place]
        white = byte == _BLANK or 9 <= byte <= 13 or 28 <= byte <= 31
        if byte == _END or white:
            within = False
        elif not within:
            within = True
            lengths[sentence] += 1
        new = np.uint8(_BLANK) if byte == _END else becomes[byte]
        if new == 0:
            continue
        if new != _BLANK:
            vocabulary[end] = new
            end += 1
            hashed = (hashed ^ np.uint64(new)) * np.uint64(1099511628211)
            continue
        begin = at[different]
        if end > begin:
            slot = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(room - 1))
            while table[slot]:
                other = at[table[slot] - 1]
                same = at[table[slot]] - 1 - other == end - begin
                step = 0
                while same and step < end - begin:
                    same = vocabulary[other + step] == vocabulary[begin + step]
                    step += 1
                if same:
                    break
                slot = (slot + 1) & (room - 1)
            if table[slot]:
                end = begin
                ids[words] = table[slot] - 1
            else:
                ids[words] = different
                vocabulary[end] = _BLANK
                end += 1
                different += 1
                at[different] = end
                table[slot] = different
                if 2 * different > room:
                    room *= 4
                    table = _spread(vocabulary, at, different, room)
            words += 1
            hashed = np.uint64(14695981039346656037)
        if byte == _END:
            sentence += 1
            start[sentence] = words
    return ids[:words], start, lengths, vocabulary[:end]


@njit(cache=True)
def number_apart(ids: Any, start: Any, sentences: Any, becomes: Any) -> Any:
    """Give the tokens of each of several texts numbers of its own, in the order in which different ones first occur.

    Parameters
    ----------
    ids, start
        As `number_words` returns them, of all texts, one after another.
    sentences : (texts,)
        How many sentences each text has.
    becomes : (different words,)
        The number of the token that a word is, among those of all texts; -1 if it is dropped.

    Returns
    -------
    ids : one number a token
    start : (all sentences + 1,) where the tokens of each sentence begin
    different : (texts,)
        How many different tokens each text has.
    """
    made = np.empty(len(ids), np.int64)
    begin = np.zeros(len(start), np.int64)
    different = np.zeros(len(sentences), np.int64)
    seen = np.full(len(becomes), -1, np.int64)  # the last text that had the token, and its number there
    own = np.empty(len(becomes), np.int64)
    tokens, sentence = 0, 0
    for text in range(len(sentences)):
        for _ in range(sentences[text]):
            for place in range(start[sentence], start[sentence + 1]):
                token = becomes[ids[place]]
                if token < 0:
                    continue
                if seen[token] != text:
                    seen[token], own[token] = text, different[text]
                    different[text] += 1
                made[tokens] = own[token]
                tokens += 1
            sentence += 1
            begin[sentence] = tokens
    return made[:tokens], begin, different
