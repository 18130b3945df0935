"""Whether a tokenizer fits a text: one that drops most of its letters counts nothing, and nobody would notice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import filterfalse
from typing import Any, Final

from optsum.text.tokenizers import TOKENIZERS, Sentence, raw_text

__all__ = ["unfit"]

_MOST: Final = 0.1
"""Of the characters of a text, blanks aside, how many may be in words that a tokenizer tears or drops."""

_NO_BLANKS: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]"
)
"""Letters of scripts without blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""

_OF_WORDS: Final = frozenset({"blank", "unicode", "pypi-rouge"})
"""Tokenizers that keep such letters, but a whole clause as one token."""


def unfit(sentences: Iterable[Sentence], tokenizer: str) -> str | None:
    """Return a sentence that says how a tokenizer spoils a text, or None.

    Parameters
    ----------
    sentences : iterable of sentences
        Of the documents and the references.
    tokenizer : str
        A name in `optsum.text.tokenizers.TOKENIZERS`.

    Returns
    -------
    str or None
        If more than a tenth of the text is words of which letters are thrown away, or of scripts without blanks, which
        the tokenizer does not part.
    """
    if tokenizer == "tokens":
        return None
    texts: list[Any] = list(sentences)
    try:
        joined = "".join(texts)  # which refuses a tuple of tokens
    except TypeError:
        texts = list(map(raw_text, texts))
        joined = "".join(texts)
    if joined.isascii():  # no tokenizer spoils a word of ASCII
        return None
    foreign = list(filterfalse(str.isascii, " ".join(filterfalse(str.isascii, texts)).split()))
    whole = len(joined) - joined.count(" ")
    if sum(map(len, foreign)) <= _MOST * whole:
        return None
    torn = unparted = 0
    example = ""
    for word in foreign:
        plain = unicodedata.normalize("NFC", word).lower()
        unparted += len(word) if tokenizer in _OF_WORDS and _NO_BLANKS.search(word) else 0
        kept = TOKENIZERS[tokenizer].split(plain)
        if _letters("".join(kept)) < _letters(plain):
            torn += len(word)
            example = example or f"{word[:20]} becomes {' '.join(kept)[:20] or 'nothing'}"
    if torn > _MOST * whole:
        return (
            f"the tokenizer {tokenizer} throws letters away: {torn / whole:.0%} of the text is words that it tears or "
            f"drops ({example}); --tokenizer unicode keeps them, and pre-tokenized text suits any script"
        )
    if unparted > _MOST * whole:
        return (
            f"the tokenizer {tokenizer} parts words at blanks, and {unparted / whole:.0%} of the text is of a script "
            "without them: give the sentences as lists of tokens"
        )
    return None


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
