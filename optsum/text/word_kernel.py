"""Words of many sentences at once: one pass over their bytes numbers the words."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit

_END = 0  # The byte that ends a sentence.
_BLANK = 32
# Kinds of bytes: a separator of words; white space, which separates the pieces that a length in words counts; a part of
# a word; a byte that is not ASCII, which may begin white space.
_PARTS, _WHITE, _LETTER, _FOREIGN = 256, 512, 1024, 2048
_NOT_ASCII = 128  # The lowest byte that is not ASCII.
_ROOM = 2048  # Smallest initial size of the hash table; a large table is slow to search.
_BYTES = 8  # Bytes of a text for each initial place of the hash table: words are about as long, and most recur.
_TEXT = 1 << 32  # More than the number of different words in any text.
_NONE, _STEP, _TAIL = np.uint64(0), np.uint64(1), np.uint64(16)  # The last: letters of a word that its key holds.


@njit(cache=True)
def _foreign_blank(first: int, second: int, third: int) -> int:
    """Return the number of bytes of a non-ASCII white space character; 0 if the bytes are none."""
    if first == 0xC2:
        return 2 if second in (0x85, 0xA0) else 0
    if first == 0xE2 and second == 0x80:
        return 3 if third <= 0x8A or third in (0xA8, 0xA9, 0xAF) else 0
    if first == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if first == 0xE2:
        return 3 if second == 0x81 and third == 0x9F else 0
    return 3 if first == 0xE3 and second == 0x80 and third == 0x80 else 0


@njit(cache=True)
def _kinds(becomes: Any) -> Any:
    """Return the replacement of each byte, with its kind above the lowest eight bits."""
    kind = np.empty(256, np.int64)
    for byte in range(256):
        white, new = byte in (_END, _BLANK) or 9 <= byte <= 13 or 28 <= byte <= 31, np.int64(becomes[byte])
        parts = byte == _END or new == _BLANK
        kind[byte] = (_WHITE if white else 0) + (_PARTS if parts else _LETTER + new if new else 0)
        if byte >= _NOT_ASCII:
            kind[byte] += _FOREIGN
    return kind


@njit(cache=True)
def _number_text(
    text: Any, place: Any, kind: Any, ids: Any, start: Any, lengths: Any, foreign: Any, vocabulary: Any, at: Any,
    tails: Any, table: Any, mark: int, room: int,
) -> Any:  # fmt: skip
    """Give numbers to the words of one text, like `number_words`.

    `place`: index of the text's first byte. `table`: a hash table of `room` places, each with `mark` plus 1 plus the
    number of a word; entries up to `mark` belong to earlier texts. The result: the number of words (-1 if the table is
    too small), the number of different words, and the index of the next text's first byte.
    """
    # Indices are unsigned, because compiled code need not look whether they are negative.
    words, known, begin, end = _NONE, _NONE, _NONE, _NONE
    mask, half = np.uint64(room - 1), np.uint64(room // 2)
    at[0], start[0] = 0, 0
    for sentence in range(len(lengths)):
        pieces, within, byte = 0, 0, np.uint8(_BLANK)
        # Foreign bytes; begin of a piece, and whether it has any.
        torn, begun, strange = np.int64(0), place, False
        before, last = _NONE, _NONE
        while byte != _END:
            byte = text[place]
            what = kind[byte]
            place += _STEP
            while _LETTER <= what < _LETTER + 256:  # nothing but a letter, as most bytes are
                vocabulary[end] = what
                end += _STEP
                before = (before << np.uint64(8)) | (last >> np.uint64(56))
                last = (last << np.uint64(8)) | np.uint64(what & 255)
                within = 1
                byte = text[place]
                what = kind[byte]
                place += _STEP
            if what >= _FOREIGN:
                what -= _FOREIGN
                third = np.int64(text[place + _STEP]) if place + _STEP < np.uint64(len(text)) else np.int64(0)
                more = _foreign_blank(np.int64(byte), np.int64(text[place]), third)
                if more:
                    what, place = np.int64(_WHITE + _PARTS), place + np.uint64(more - 1)
                else:
                    strange = True
            if what & _WHITE:
                pieces += within
                within = 0
                if strange:
                    torn += np.int64(place - begun)
                begun, strange = place, False
            else:
                within = 1
            if what >= _LETTER:
                vocabulary[end] = what
                end += _STEP
                before = (before << np.uint64(8)) | (last >> np.uint64(56))
                last = (last << np.uint64(8)) | np.uint64(what & 255)
                continue
            if end == begin or not what & _PARTS:
                continue
            mixed = (last ^ (before * np.uint64(0xC2B2AE3D27D4EB4F))) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xC2B2AE3D27D4EB4F)
            slot = (mixed >> np.uint64(32)) & mask
            word = table[slot] - mark
            while word > 0:
                one = np.uint64(word - 1)
                if tails[one, 0] == before and tails[one, 1] == last:
                    length, other = end - begin, np.uint64(at[one])
                    same, step = np.uint64(at[word]) - _STEP - other == length, _TAIL
                    while same and step < length:
                        same = vocabulary[other + step - _TAIL] == vocabulary[begin + step - _TAIL]
                        step += _STEP
                    if same:
                        break
                slot = (slot + _STEP) & mask
                word = table[slot] - mark
            if word > 0:
                end = begin
                ids[words] = word - 1
            else:
                if known >= half:
                    return -1, np.int64(known), place
                ids[words] = known
                tails[known, 0], tails[known, 1] = before, last
                vocabulary[end] = _BLANK
                end += _STEP
                known += _STEP
                at[known] = begin = end
                table[slot] = mark + np.int64(known)
            words += _STEP
            before, last = _NONE, _NONE
        lengths[sentence], foreign[sentence] = pieces, torn
        start[sentence + 1] = words
    return np.int64(words), np.int64(known), place


@njit(cache=True)
def number_words(text: Any, becomes: Any, sentences: Any) -> Any:
    """Give numbers to the words of several texts, in the order of first occurrence in each text.

    `text`: bytes of the sentences, text by text in UTF-8, each ended by a NUL. `becomes` (256,): the replacement of
    each byte: a blank if it separates words, as all white space does; 0 if it is left out. `sentences` (texts,): number
    of sentences of each text.

    The result: `ids`, one for each word; `start` (all sentences + 1,), where the words of each sentence begin;
    `lengths`, number of pieces between white space in each sentence; `foreign`, an upper bound of its bytes in pieces
    with non-ASCII characters; `vocabulary`, the different words of the last text, each ended by a blank; `different`,
    the number of different words of each text.
    """
    most = len(text) // 2 + 1  # a word has at least one byte, and another ends it
    ids = np.empty(most, np.int64)
    ends = np.int64(0)
    for number in sentences:  # np.sum would make each process load more of numba
        ends += number
    start = np.zeros(ends + 1, np.int64)
    lengths, foreign = np.zeros(len(start) - 1, np.int64), np.zeros(len(start) - 1, np.int64)
    different = np.zeros(len(sentences), np.int64)
    vocabulary = np.empty(len(text) + 1, np.uint8)
    at = np.empty(most + 1, np.int64)  # begin of each different word of a text in `vocabulary`, then the end
    tails = np.empty((most, 2), np.uint64)  # the last 16 bytes of each
    least = np.int64(_ROOM)
    while least * _BYTES < len(text) // max(1, len(sentences)):
        least *= 4
    table, kind, mark = np.zeros(least, np.int64), _kinds(becomes), np.int64(0)
    place, words, sentence = _NONE, np.int64(0), np.int64(0)
    for one in range(len(sentences)):
        until, room, begin, found = sentence + sentences[one], least, place, np.int64(-1)
        while found < 0:
            mark += _TEXT
            found, different[one], place = _number_text(
                text, begin, kind, ids[words:], start[sentence : until + 1], lengths[sentence:until],
                foreign[sentence:until], vocabulary, at, tails, table, mark, room,
            )  # fmt: skip
            if found < 0:
                room *= 4
                if len(table) < room:
                    table = np.zeros(room, np.int64)
        for each in range(sentence, until + 1):
            start[each] += words
        words += found
        sentence = until
    return ids[:words], start, lengths, foreign, vocabulary[: at[different[-1]]], different


@njit(cache=True)
def number_apart(ids: Any, start: Any, sentences: Any, becomes: Any) -> Any:
    """Give numbers to the tokens of each text separately, in the order of first occurrence.

    `ids`, `start`: from `number_words`, for all texts. `sentences` (texts,): number of sentences of each text.
    `becomes` (different words,): the number of each word's token, common to all texts; -1 if it is dropped. The
    result: `ids` and `start` of the tokens, and the number of different ones in each text.
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
