"""Sentences as numbers: equal tokens have equal numbers, so that whatever counts need not look at letters again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.system.deadline import NEVER, Deadline
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
    becomes = _BECOMES.get(analyzer.tokenizer)
    text = None if becomes is None else _one_text(sentences, lower=analyzer.tokenizer in _LOWERED)
    if becomes is None or text is None:
        return _token_by_token(analyzer, sentences, deadline)
    from optsum.text.word_kernel import number_words

    ids, start, words, vocabulary = number_words(np.frombuffer(text, np.uint8), becomes, len(sentences))
    spelled = vocabulary.tobytes()
    if analyzer.stopwords == "keep" and not analyzer.stem:
        return Interned(ids, start, words, spelled.count(b" "))
    number: dict[str | None, int] = {None: -1}
    counted = [
        number.setdefault(token, len(number) - 1)
        for token in analyzer.counted(spelled.decode("utf-8", "surrogatepass").split(" ")[:-1])
    ]
    ids = np.array(counted, np.int64)[ids] if counted else ids
    kept = ids >= 0
    start = np.concatenate(([0], np.cumsum(kept)))[start]
    return Interned(ids[kept], start, words, len(number) - 1)


def interned_texts(
    analyzer: Analyzer, texts: Sequence[Sequence[Sentence]]
) -> tuple[tuple[_Ints, ...], list[int]] | None:
    """Return the counted tokens of several texts as numbers, and which texts these are.

    The arrays are `ids`, `start` and `words` of `Interned`, one text after another and each numbered by itself; then
    how many different tokens, and how many sentences, each text has.

    Sentences that come as tokens, and those with a NUL in them, are left to `interned`, and so is every analysis that
    looks at whole words.
    """
    becomes = _BECOMES.get(analyzer.tokenizer)
    if becomes is None or analyzer.stem or analyzer.stopwords != "keep":
        return None
    lower = analyzer.tokenizer in _LOWERED
    read = [_one_text(sentences, lower=lower) for sentences in texts]
    kept = [number for number, text in enumerate(read) if text]
    if not kept:
        return None
    from optsum.system.compiled import is_worth  # with the kernel
    from optsum.text.word_kernel import number_texts

    known = [text for text in read if text]
    ends = np.array(list(accumulate(map(len, known))), np.int64)
    sentences = np.array([len(texts[number]) for number in kept], np.int64)
    given = np.frombuffer(b"".join(known), np.uint8), ends, sentences, becomes
    if not is_worth(number_texts, _LOST_S * len(kept), *given):
        return None
    ids, start, words, different = number_texts(*given)
    return (ids, start, words, different, sentences), kept


_LOST_S: Final = 0.0005
"""What a text takes longer that is read by itself."""


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

_FOREIGN_BLANKS: Final = "\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""All white space that is not ASCII."""


def _one_text(sentences: Sequence[Sentence], *, lower: bool) -> bytes | None:
    """Return the sentences as bytes, each ended by a NUL; None where there are tokens, or a NUL within a sentence."""
    try:
        text = "\0".join(sentences)  # type: ignore[arg-type]  # a tuple of tokens is refused
    except TypeError:
        return None
    if text.count("\0") != max(0, len(sentences) - 1):
        return None
    if not text.isascii():
        known: Any = sentences
        text = "\0".join([one if one.isascii() else one.lower() for one in known]) if lower else text
        for blank in _FOREIGN_BLANKS:
            text = text.replace(blank, " ")
    return text.encode("utf-8", "surrogatepass") + b"\0" * bool(sentences)


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


_BECOMES: Final[Mapping[str, NDArray[np.uint8]]] = MappingProxyType(
    {
        "rouge": _table(lower=True, other=ord(" ")),
        "rouge-score": _table(lower=True, other=ord(" ")),
        "presumm": _table(lower=True),
        "blank": _table(lower=True, letters_only=False),
        "tokens": _table(lower=False, letters_only=False),
    }
)
"""Table from byte to byte of each tokenizer that looks at every byte by itself."""
