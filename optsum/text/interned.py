"""Sentences as numbers: equal tokens have equal numbers, so that whatever counts need not look at letters again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.system.clock import NEVER, Deadline
from optsum.text.analyzer import Analyzer
from optsum.text.lengths import word_count
from optsum.text.tokenizers import Sentence

_Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Interned:
    """The counted tokens of several sentences."""

    ids: _Ints  # (tokens,): a number for each token, 0, 1, ... in the order in which different ones first occur.
    start: _Ints  # (sentences + 1,): sentence s has the tokens ``start[s]:start[s + 1]``.
    words: _Ints  # (sentences,): length of each sentence in words, as `optsum.text.lengths.word_count` has it.
    different: int  # How many different tokens there are.


def interned(analyzer: Analyzer, sentences: Sequence[Sentence], deadline: Deadline = NEVER) -> Interned:
    """Return the counted tokens of sentences (`Analyzer.tokens`) as numbers."""
    found = _words_of(analyzer, sentences)
    if found is None:
        return _token_by_token(analyzer, sentences, deadline)
    ids, start, words, number, different = found
    if number is None:
        return Interned(ids, start, words, different)
    ids = number[ids] if different else np.full(len(ids), -1)
    kept = ids >= 0
    start = np.concatenate(([0], np.cumsum(kept)))[start]
    return Interned(ids[kept], start, words, different)


def interned_texts(
    analyzer: Analyzer, texts: Sequence[Sequence[Sentence]]
) -> tuple[tuple[_Ints, ...], list[int]] | None:
    """Return the counted tokens of several texts as numbers, and which texts these are.

    The arrays are `ids`, `start` and `words` of `Interned`, one text after another and each numbered by itself; then
    how many different tokens, and how many sentences, each text has.

    Texts with sentences that come as tokens, or have a NUL in them, are left to `interned`, and so is every tokenizer
    that looks at more than single bytes.
    """
    if analyzer.tokenizer not in _BECOMES:
        return None
    from optsum.system.compiled import is_worth  # with the kernel
    from optsum.text.word_kernel import number_apart

    kept = list(range(len(texts)))
    found = _words_of(analyzer, list(chain.from_iterable(texts)))
    if found is None:
        kept = [number for number, text in enumerate(texts) if _one_text(text, analyzer.tokenizer) is not None]
        found = _words_of(analyzer, [sentence for number in kept for sentence in texts[number]])
        if not kept or found is None:
            return None
    ids, start, words, number, different = found
    sentences = np.array([len(texts[number]) for number in kept], np.int64)
    given = ids, start, sentences, np.arange(different) if number is None else number
    if not is_worth(number_apart, _LOST_S * len(kept), *given):
        return None
    ids, start, apart = number_apart(*given)
    return (ids, start, words, apart, sentences), kept


_LOST_S: Final = 0.0005  # What a text takes longer that is read by itself.


def _words_of(
    analyzer: Analyzer, sentences: Sequence[Sentence]
) -> tuple[_Ints, _Ints, _Ints, _Ints | None, int] | None:
    """Return the words of sentences as numbers, before any is dropped or stemmed; None where bytes do not tell them.

    The result: `ids`, `start` and `words` as `Interned` has them; the number of the token that each different word is,
    -1 if it is dropped, or None if each is its own; and how many different tokens there are.
    """
    becomes = _BECOMES.get(analyzer.tokenizer)
    text = None if becomes is None else _one_text(sentences, analyzer.tokenizer)
    if becomes is None or text is None:
        return None
    from optsum.text.word_kernel import number_words

    ids, start, words, vocabulary = number_words(np.frombuffer(text, np.uint8), becomes, len(sentences))
    spelled = vocabulary.tobytes()
    if analyzer.stopwords == "keep" and not analyzer.stem:
        return ids, start, words, None, spelled.count(b" ")
    known = spelled.decode("utf-8", "surrogatepass").replace(_BLANK_PIECE, "").split(" ")[:-1]
    number: dict[str | None, int] = {None: -1}
    counted = [number.setdefault(token, len(number) - 1) for token in analyzer.counted(known)]
    return ids, start, words, np.array(counted, np.int64), len(number) - 1


def _token_by_token(analyzer: Analyzer, sentences: Sequence[Sentence], deadline: Deadline) -> Interned:
    tokens = [analyzer.tokens(sentence) for sentence in deadline.watching(sentences)]
    start = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum([len(found) for found in tokens], out=start[1:])
    all_tokens = list(chain.from_iterable(tokens))
    number = {token: place for place, token in enumerate(dict.fromkeys(all_tokens))}
    ids = np.fromiter(map(number.__getitem__, all_tokens), np.int64, len(all_tokens))
    return Interned(ids, start, np.array(list(map(word_count, sentences)), np.int64), len(number))


_LOWERED: Final = {"blank", "presumm", "rouge-score"}
"""Tokenizers that make all letters small, not only those of ASCII."""

_FOREIGN_BLANKS: Final = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""All white space that is not ASCII."""

_BLANK_PIECE: Final = "\x1f"
"""The empty token of `pypi-rouge`: white space, which is no word of a length, and no part of a token otherwise."""

_PIECES: Final = re.compile(r"(?<![^.\0])\s+(?![^.\0])")  # White space alone before, between or after full stops.


def _one_text(sentences: Sequence[Sentence], tokenizer: str) -> bytes | None:
    """Return the sentences as bytes, each ended by a NUL; None where there are tokens, or a NUL within a sentence."""
    try:
        text = "\0".join(sentences)  # type: ignore[arg-type]  # a tuple of tokens is refused
    except TypeError:
        return None
    if text.count("\0") != max(0, len(sentences) - 1):
        return None
    if not text.isascii():
        lower = tokenizer in _LOWERED
        known: Any = sentences
        text = "\0".join([one if one.isascii() else _plainer(one, lower=lower) for one in known])
    if tokenizer == "pypi-rouge" and sentences:
        if _BLANK_PIECE in text:
            return None
        text = _PIECES.sub(_BLANK_PIECE, text)
    return text.encode("utf-8", "surrogatepass") + b"\0" * bool(sentences)


def _plainer(sentence: str, *, lower: bool) -> str:
    return _FOREIGN_BLANKS.sub(" ", sentence.lower() if lower else sentence)


def _table(*, lower: bool, letters_only: bool = True, other: int = 0) -> NDArray[np.uint8]:
    """Return the replacement of each byte: a blank for white space, letters and digits as they are, others as given."""
    made = np.zeros(256, np.uint8)
    for byte in range(1, 256):
        small = ord(chr(byte).lower()) if lower and byte < 128 else byte
        if byte < 128 and chr(byte).isspace():
            made[byte] = ord(" ")
        elif not letters_only or (byte < 128 and chr(byte).isalnum()):
            made[byte] = small
        else:
            made[byte] = other
    return made


def _of_pieces() -> NDArray[np.uint8]:
    """Return the table of `pypi-rouge`, for which full stops are blanks, and `_BLANK_PIECE` is none."""
    made = _table(lower=False, letters_only=False)
    made[ord(".")], made[ord(_BLANK_PIECE)] = ord(" "), ord(_BLANK_PIECE)
    return made


_BECOMES: Final[Mapping[str, NDArray[np.uint8]]] = MappingProxyType(
    {
        "rouge": _table(lower=True, other=ord(" ")),
        "rouge-score": _table(lower=True, other=ord(" ")),
        "presumm": _table(lower=True),
        "blank": _table(lower=True, letters_only=False),
        "tokens": _table(lower=False, letters_only=False),
        "pypi-rouge": _of_pieces(),
    }
)
"""Table from byte to byte of each tokenizer that looks at every byte by itself."""
