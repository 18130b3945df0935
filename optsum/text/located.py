"""Tokens with the place of their first character, for each tokenizer of `optsum.text.analyzer`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

from optsum.text.analyzer import _NO_LETTER, Sentence, _raw, _unicode_word

__all__ = ["LOCATED", "word_starts"]

_WORD = re.compile(r"\S+")  # what str.split() keeps together
_ROUGE_WORD = re.compile(r"[A-Za-z0-9]+")


def _locate_rouge(sentence: Sentence) -> list[tuple[str, int]]:
    return [(match[0].lower(), match.start()) for match in _ROUGE_WORD.finditer(_raw(sentence))]


def _locate_blank(sentence: Sentence) -> list[tuple[str, int]]:
    return [(match[0].lower(), match.start()) for match in _WORD.finditer(_raw(sentence))]


def _locate_unicode(sentence: Sentence) -> list[tuple[str, int]]:
    raw = _raw(sentence)
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


def _locate_tokens(sentence: Sentence) -> list[tuple[str, int]]:
    if isinstance(sentence, str):
        return [(match[0], match.start()) for match in _WORD.finditer(sentence)]
    found = []
    start = 0
    for token in sentence:
        found.append((token, start))
        start += len(token) + 1
    return found


def _locate_pypi_rouge(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for piece in re.finditer(r"[^.]+", _raw(sentence)):
        words = [(match[0], piece.start() + match.start()) for match in _WORD.finditer(piece[0])]
        found += words or [("", piece.start())]
    return found


def _locate_presumm(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for match in _WORD.finditer(_raw(sentence)):
        kept = [_NO_LETTER.sub("", char.lower()) for char in match[0]]
        if any(kept):
            found.append(("".join(kept), match.start() + next(place for place, char in enumerate(kept) if char)))
    return found


LOCATED: Mapping[str, Callable[[Sentence], list[tuple[str, int]]]] = MappingProxyType(
    {
        "rouge": _locate_rouge,
        "blank": _locate_blank,
        "unicode": _locate_unicode,
        "tokens": _locate_tokens,
        "pypi-rouge": _locate_pypi_rouge,
        "presumm": _locate_presumm,
    }
)
"""Name of a tokenizer -> function from a sentence to its tokens and their places; see
`optsum.text.analyzer.Analyzer.spans`."""


def word_starts(sentence: Sentence) -> list[int]:
    """Return where each word that `word_count` counts begins, as `Analyzer.spans` does for tokens."""
    return [start for _, start in _locate_tokens(sentence)]
