"""The tokenizers: each in two forms, tokens alone, and tokens with the place of their first character.

The first is quick, because it is what every count begins with; the second gives the same tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

__all__ = ["TOKENIZERS", "Sentence", "Tokenizer", "raw_text"]

Sentence: TypeAlias = str | tuple[str, ...]
"""A raw sentence, or the tokens of a pre-tokenized one."""


class Tokenizer(NamedTuple):
    """One way to split a sentence.

    Attributes
    ----------
    split : callable
        From a sentence to its tokens.
    locate : callable
        From a sentence to the same tokens, each with the place of its first character: code points of the sentence as
        it is written, or of its tokens joined by blanks.
    """

    split: Callable[[Sentence], list[str]]
    locate: Callable[[Sentence], list[tuple[str, int]]]


def raw_text(sentence: Sentence) -> str:
    """Return a sentence as it is written; tokens are joined by blanks."""
    return sentence if isinstance(sentence, str) else " ".join(sentence)


_WORD = re.compile(r"\S+")  # what str.split() keeps together
_ROUGE_WORD = re.compile(r"[A-Za-z0-9]+")

# Byte -> byte: A-Z to lower case, a-z and 0-9 unchanged, everything else a blank.
_ROUGE_BYTES = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else ord(" ") for byte in bytes(range(256)).lower()
)


def _split_rouge(sentence: Sentence) -> list[str]:
    # Lone surrogates have no UTF-8; "surrogatepass" makes bytes of them all the same, which then become
    # blanks.
    return raw_text(sentence).encode("utf-8", "surrogatepass").translate(_ROUGE_BYTES).decode("ascii").split()


def _locate(pattern: re.Pattern[str], sentence: Sentence) -> list[tuple[str, int]]:
    return [(match[0].lower(), match.start()) for match in pattern.finditer(raw_text(sentence))]


def _split_blank(sentence: Sentence) -> list[str]:
    return raw_text(sentence).lower().split()


@cache
def _unicode_word() -> re.Pattern[str]:
    # "\w" knows no combining marks, which would tear words of Indic scripts apart. All marks lie below U+20000,
    # but for the variation selectors at U+E0100; none lies below U+0300, which is the quicker thing to ask.
    marks = "".join(char for char in map(chr, range(0x20000)) if unicodedata.category(char).startswith("M"))
    return re.compile(rf"\w+(?:(?=[^\0-\u02ff])[{marks}\U000e0100-\U000e01ef]+\w*)*")


def _split_unicode(sentence: Sentence) -> list[str]:
    return _unicode_word().findall(unicodedata.normalize("NFC", raw_text(sentence)).lower())


def _locate_unicode(sentence: Sentence) -> list[tuple[str, int]]:
    raw = raw_text(sentence)
    text = unicodedata.normalize("NFC", raw).lower()
    found = [(match[0], match.start()) for match in _unicode_word().finditer(text)]
    if raw.isascii() or (text == raw.lower() and len(text) == len(raw)):
        return found
    origin = _origins(raw)
    return [(token, origin[start]) for token, start in found]


def _origins(raw: str) -> list[int]:
    """Return where each character of the text in lower case, normalized to NFC, comes from.

    A character that normalization makes of several comes from the first of them.
    """
    origins: list[int] = []
    start, whole = 0, ""
    for end in range(len(raw) + 1):
        apart = ""
        if end < len(raw):
            own = unicodedata.normalize("NFC", raw[end])
            apart = unicodedata.normalize("NFC", raw[start : end + 1])
            if unicodedata.combining(raw[end]) or apart != whole + own:  # it belongs to what stands before it
                whole = apart
                continue
            apart = own
        origins += [start] * len(whole.lower())
        start, whole = end, apart
    return origins


def _split_tokens(sentence: Sentence) -> list[str]:
    return sentence.split() if isinstance(sentence, str) else list(sentence)


def _locate_tokens(sentence: Sentence) -> list[tuple[str, int]]:
    if isinstance(sentence, str):
        return [(match[0], match.start()) for match in _WORD.finditer(sentence)]
    return list(zip(sentence, accumulate((len(token) + 1 for token in sentence), initial=0), strict=False))


def _split_pypi_rouge(sentence: Sentence) -> list[str]:
    pieces = [" ".join(piece.split()) for piece in raw_text(sentence).split(".") if piece]
    return [token for piece in pieces for token in piece.split(" ")]


def _locate_pypi_rouge(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for piece in re.finditer(r"[^.]+", raw_text(sentence)):
        words = [(match[0], piece.start() + match.start()) for match in _WORD.finditer(piece[0])]
        found += words or [("", piece.start())]
    return found


_NO_LETTER = re.compile(r"[^a-z0-9]")


def _split_presumm(sentence: Sentence) -> list[str]:
    return [token for word in raw_text(sentence).lower().split() if (token := _NO_LETTER.sub("", word))]


def _locate_presumm(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for match in _WORD.finditer(raw_text(sentence)):
        kept = [_NO_LETTER.sub("", char.lower()) for char in match[0]]
        if any(kept):
            found.append(("".join(kept), match.start() + next(place for place, char in enumerate(kept) if char)))
    return found


TOKENIZERS: Mapping[str, Tokenizer] = MappingProxyType(
    {
        "rouge": Tokenizer(_split_rouge, partial(_locate, _ROUGE_WORD)),
        "blank": Tokenizer(_split_blank, partial(_locate, _WORD)),
        "unicode": Tokenizer(_split_unicode, _locate_unicode),
        "tokens": Tokenizer(_split_tokens, _locate_tokens),
        "pypi-rouge": Tokenizer(_split_pypi_rouge, _locate_pypi_rouge),
        "presumm": Tokenizer(_split_presumm, _locate_presumm),
    }
)
"""Tokenizers by name, before stop words and stemming; `optsum.text.analyzer.Analyzer` says what each does."""
