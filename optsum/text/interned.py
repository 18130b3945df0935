"""Sentences as numbers: equal tokens have equal numbers, so that counting need not compare letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.system.clock import NEVER, Deadline
from optsum.text.analyzer import Analyzer, Sentence, word_count

_Ints: TypeAlias = NDArray[np.int64]
_LOST_S: Final = 0.0005  # Seconds that a text takes longer if it is converted token by token.
# Stands for the empty token of `pypi-rouge`. It is white space: no length counts it, and no other token contains it.
_BLANK_PIECE: Final = "\x1f"
_PIECES: Final = re.compile(r"(?<![^.\0])\s+(?![^.\0])")  # White space alone between full stops or ends of a sentence.
_BLANKS: Final = tuple(filter(str.isspace, map(chr, range(128))))
# The non-ASCII letters whose lower case has ASCII letters.
_BECOME_ASCII: Final = (("\u0130", "i\u0307"), ("\u212a", "k"))


@dataclass(frozen=True, eq=False)
class Interned:
    """The counted tokens of several sentences, as numbers."""

    ids: _Ints  # (tokens,): number of each token; different tokens are numbered 0, 1, ... by their first occurrence.
    start: _Ints  # (sentences + 1,): sentence s has the tokens ``start[s]:start[s + 1]``.
    words: _Ints  # (sentences,): `optsum.text.analyzer.word_count` of each sentence.
    different: int  # Number of different tokens.


def interned(analyzer: Analyzer, sentences: Sequence[Sentence], deadline: Deadline = NEVER) -> Interned:
    try:
        text = "\0".join(sentences)  # type: ignore[arg-type]  # a tuple of tokens raises a TypeError
    except TypeError:
        text = "\0" * len(sentences)
    found = _words_of(analyzer, [text], [len(sentences)]) if _tells(text, len(sentences), analyzer.tokenizer) else None
    if found is None:  # token by token
        tokens = [analyzer.tokens(sentence) for sentence in deadline.watching(sentences)]
        start = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        all_tokens = list(chain.from_iterable(tokens))
        numbers = {token: place for place, token in enumerate(dict.fromkeys(all_tokens))}
        ids = np.fromiter(map(numbers.__getitem__, all_tokens), np.int64, len(all_tokens))
        return Interned(ids, start, np.array(list(map(word_count, sentences)), np.int64), len(numbers))
    ids, start, words, _, number, (different,) = found
    if number is not None:
        ids = number[ids]
        kept = ids >= 0
        ids, start = ids[kept], np.concatenate(([0], np.cumsum(kept)))[start]
    return Interned(ids, start, words, int(different))


def interned_texts(
    analyzer: Analyzer, texts: Sequence[str], sizes: Sequence[int]
) -> tuple[tuple[_Ints, ...], list[int], list[int]] | None:
    """Return the numbered tokens of texts that can be converted quickly, the indices of these texts, and bounds.

    `texts`: the sentences of each text, joined by NUL. `sizes`: their numbers. The arrays are `ids`, `start` and
    `words` of `Interned`, text after text, each with its own numbers; then the number of different tokens, and of
    sentences, of each text. The bounds are of each text's bytes in words with non-ASCII characters. Texts with a NUL in
    a sentence, and tokenizers that depend on more than single bytes, are left to `interned`. The result is None if no
    text was converted.
    """
    kept = [number for number, text in enumerate(texts) if _tells(text, sizes[number], analyzer.tokenizer)]
    if len(kept) < len(sizes):
        texts, sizes = [texts[number] for number in kept], [sizes[number] for number in kept]
    lost_s = _LOST_S * len(kept)
    if not kept or (found := _words_of(analyzer, texts, sizes, lost_s)) is None:
        return None
    ids, start, words, foreign, number, apart = found
    sentences = np.array(sizes, np.int64)
    if number is not None:
        from optsum.system.compiled import is_worth  # with the kernel
        from optsum.text.word_kernel import number_apart

        given = ids, start, sentences, number
        if not is_worth(number_apart, lost_s, *given):
            return None
        ids, start, apart = number_apart(*given)
    of_texts = np.add.reduceat(foreign, np.cumsum(sentences) - sentences)
    return (ids, start, words, apart, sentences), kept, of_texts.tolist()


def _words_of(
    analyzer: Analyzer, texts: Sequence[str], sizes: Sequence[int], lost_s: float = 0.0
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints | None, _Ints] | None:
    """Return `ids`, `start`, `words` of `Interned`, `foreign` of `number_words`, token numbers, and counts.

    If words are neither dropped nor stemmed, the counts are the different words of each text, and there are no token
    numbers (None). Otherwise texts are numbered together: each different word has a token number (-1 if it is dropped),
    and the count is of different tokens. The result is None if saving `lost_s` seconds is not worth loading the kernel.
    """
    plain = analyzer.stopwords == "keep" and not analyzer.stem
    # Texts are encoded one by one: ASCII is only copied, but in a joined text one other character would slow down all.
    made = b"\0".join([_bytes_of(text, analyzer.tokenizer) for text in texts]) + b"\0" * bool(sum(sizes))
    from optsum.system.compiled import is_worth  # with the kernel
    from optsum.text.word_kernel import number_words

    sentences = np.array(sizes if plain else [sum(sizes)], np.int64)
    given = np.frombuffer(made, np.uint8), _BECOMES[analyzer.tokenizer], sentences
    if lost_s and not is_worth(number_words, lost_s, *given):
        return None
    ids, start, words, foreign, vocabulary, different = number_words(*given)
    if plain:
        return ids, start, words, foreign, None, different
    spelled = vocabulary.tobytes().decode("utf-8", "surrogatepass")
    known = spelled.replace(_BLANK_PIECE, "").split(" ")[:-1]
    number: dict[str | None, int] = {None: -1}
    counted = [number.setdefault(token, len(number) - 1) for token in analyzer.counted(known)]
    return ids, start, words, foreign, np.array(counted, np.int64), np.array([len(number) - 1])


def _tells(text: str, sentences: int, tokenizer: str) -> bool:
    """Return whether the bytes of sentences, joined by NUL, determine their tokens."""
    spoiled = tokenizer == "pypi-rouge" and _BLANK_PIECE in text
    return tokenizer in _BECOMES and text.count("\0") == max(0, sentences - 1) and not spoiled


def _bytes_of(text: str, tokenizer: str) -> bytes:
    if tokenizer == "blank":
        text = text.lower()
    elif tokenizer in {"presumm", "rouge-score"} and not text.isascii():  # their tokens contain no other letters
        for letter, small in _BECOME_ASCII:
            text = text.replace(letter, small)
    elif tokenizer == "pypi-rouge":
        text = _PIECES.sub(_BLANK_PIECE, text)
    return text.encode("utf-8", "surrogatepass")


def _table(
    *, lower: bool, letters_only: bool = True, other: int = 0, blanks: Iterable[str] = _BLANKS
) -> NDArray[np.uint8]:
    """Return the replacement of each byte: blanks become a blank; if `letters_only`, other signs become `other`."""
    signs = [chr(byte) if byte < 128 else "" for byte in range(256)]
    made = np.frombuffer(bytes(range(256)).lower() if lower else bytes(range(256)), np.uint8).copy()
    made[[letters_only and not sign.isalnum() for sign in signs]] = other
    made[list(map(ord, blanks))] = ord(" ")
    made[0] = 0
    return made


# Byte tables of the tokenizers that replace every byte independently.
_BECOMES: Final[Mapping[str, NDArray[np.uint8]]] = MappingProxyType(
    {
        "rouge": _table(lower=True, other=ord(" ")),
        "rouge-score": _table(lower=True, other=ord(" ")),
        "presumm": _table(lower=True),
        "blank": _table(lower=True, letters_only=False),
        "tokens": _table(lower=False, letters_only=False),
        "pypi-rouge": _table(lower=False, letters_only=False, blanks={*_BLANKS, "."} - {_BLANK_PIECE}),
    }
)
