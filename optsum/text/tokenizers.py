"""The tokenizers, each in two forms: a quick one for tokens, and one with the positions of their first characters.

Functions of third parties or callers have only the first form; positions are found by searching.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeAlias

from optsum.errors import InputError, UnsupportedError
from optsum.plugins import Registry

Sentence: TypeAlias = str | tuple[str, ...]  # A raw sentence, or the tokens of a pre-tokenized one.


class Tokenizer(NamedTuple):
    """One way to split a sentence."""

    split: Callable[[Sentence], list[str]]  # From a sentence to its tokens.
    # From a sentence to the same tokens, each with the place of its first character: code points of the sentence as it
    # is written, or of its tokens joined by blanks.
    locate: Callable[[Sentence], list[tuple[str, int]]]


def raw_text(sentence: Sentence) -> str:
    """Return the text of a sentence; tokens are joined by blanks."""
    return sentence if isinstance(sentence, str) else " ".join(sentence)


_WORD = re.compile(r"\S+")  # what str.split() keeps together
_ROUGE_WORD = re.compile(r"[A-Za-z0-9]+")

# Byte -> byte: A-Z to lower case, a-z and 0-9 unchanged, everything else a blank.
_ROUGE_BYTES = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else ord(" ") for byte in bytes(range(256)).lower()
)


def _split_rouge(sentence: Sentence) -> list[str]:
    """Split at all but a-z and 0-9, in lower case, as ROUGE-1.5.5 does."""
    # Lone surrogates have no UTF-8; "surrogatepass" makes bytes of them all the same, which then become
    # blanks.
    return raw_text(sentence).encode("utf-8", "surrogatepass").translate(_ROUGE_BYTES).decode("ascii").split()


def _locate(pattern: re.Pattern[str], sentence: Sentence) -> list[tuple[str, int]]:
    return [(match[0].lower(), match.start()) for match in pattern.finditer(raw_text(sentence))]


def _split_blank(sentence: Sentence) -> list[str]:
    """Split at white space, in lower case."""
    return raw_text(sentence).lower().split()


def _split_rouge_score(sentence: Sentence) -> list[str]:
    """Split as the package rouge-score does: as rouge, but in lower case first (İ is i)."""
    return _split_rouge(raw_text(sentence).lower())


def _locate_rouge_score(sentence: Sentence) -> list[tuple[str, int]]:
    raw = raw_text(sentence)
    origin = [place for place, char in enumerate(raw) for _ in char.lower()]
    return [(token, origin[start]) for token, start in _locate(_ROUGE_WORD, raw.lower())]


@cache
def _boundaries() -> Callable[[str], list[str]]:
    """Return the function that splits a text at the word boundaries of UAX 29."""
    import regex

    split: Callable[[str], list[str]] = regex.compile(r"(?V1w)\b").split
    return split


_LETTER: Final = re.compile(r"[^\W_]").search  # Whether there is a letter or a digit.


def _split_unicode(sentence: Sentence) -> list[str]:
    """Split at the word boundaries of Unicode (UAX 29), in lower case: for any language with blanks."""
    return list(filter(_LETTER, _boundaries()(unicodedata.normalize("NFC", raw_text(sentence)).lower())))


_KATAKANA: Final = r"[\u30a0-\u30ff\u31f0-\u31ff\u32d0-\u32fe\u3300-\u3357\uff66-\uff9f]"
_CHARACTER: Final = re.compile(rf"{_KATAKANA}[^\w]*|(?:(?!{_KATAKANA}).)+", re.DOTALL)
"""A character of Katakana with its marks, or other text between two of them; UAX 29 splits other scripts."""


def _split_characters(sentence: Sentence) -> list[str]:
    """Split as unicode does, and take each Chinese or Japanese character for a word."""
    return [piece for word in _split_unicode(sentence) for piece in _CHARACTER.findall(word) if _LETTER(piece)]


def _locate_in_normal_form(pieces: Callable[[str], list[str]], sentence: Sentence) -> list[tuple[str, int]]:
    """Locate the `pieces` of words with a letter or a digit in a text in lower case and NFC."""
    raw = raw_text(sentence)
    text = unicodedata.normalize("NFC", raw).lower()
    parts = [piece for word in _boundaries()(text) for piece in pieces(word)]
    starts = accumulate(map(len, parts), initial=0)
    found = [(part, start) for part, start in zip(parts, starts, strict=False) if _LETTER(part)]
    if raw.isascii() or (text == raw.lower() and len(text) == len(raw)):
        return found
    origin = _origins(raw)
    return [(token, origin[start]) for token, start in found]


def _origins(raw: str) -> list[int]:
    """Return the origin of each character of the text in lower case and NFC: the first of several."""
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
    """Keep pre-tokenized sentences as they are; split others at white space, case kept."""
    return sentence.split() if isinstance(sentence, str) else list(sentence)


def _locate_tokens(sentence: Sentence) -> list[tuple[str, int]]:
    if isinstance(sentence, str):
        return [(match[0], match.start()) for match in _WORD.finditer(sentence)]
    return list(zip(sentence, accumulate((len(token) + 1 for token in sentence), initial=0), strict=False))


def _split_pypi_rouge(sentence: Sentence) -> list[str]:
    """Split at full stops and blanks, case and other signs kept, as the package rouge on PyPI does."""
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
    """Split at white space, in lower case, and take out all but a-z and 0-9, as PreSumm does."""
    return [token for word in raw_text(sentence).lower().split() if (token := _NO_LETTER.sub("", word))]


def _locate_presumm(sentence: Sentence) -> list[tuple[str, int]]:
    found = []
    for match in _WORD.finditer(raw_text(sentence)):
        kept = [_NO_LETTER.sub("", char.lower()) for char in match[0]]
        if any(kept):
            found.append(("".join(kept), match.start() + next(place for place, char in enumerate(kept) if char)))
    return found


def _as_tokenizer(name: str, function: Callable[[str], Any]) -> Tokenizer:
    """Return the tokenizer for a function from a text to its tokens."""

    def split(sentence: Sentence) -> list[str]:
        text = raw_text(sentence)
        try:
            found = function(text)
            tokens = [found] if isinstance(found, str) else list(found)
        except Exception as error:
            raise InputError(f"the tokenizer {name} failed on the text {text[:40]!r}: {error!r:.200}") from error
        wrong = next((token for token in tokens if not isinstance(token, str)), found if found in tokens else None)
        if wrong is not None:
            raise InputError(
                f"the tokenizer {name} returned {type(found).__name__} with {type(wrong).__name__} in it for the text "
                f"{text[:40]!r}; it must return a list of strings"
            )
        return tokens

    def locate(sentence: Sentence) -> list[tuple[str, int]]:
        text, at, found = raw_text(sentence), 0, []
        lower = text.lower() if len(text.lower()) == len(text) else text
        for token in split(sentence):
            start = max(text.find(token, at), lower.find(token, at)) if at >= 0 else at
            if start < 0:
                raise UnsupportedError(
                    f"the tokenizer {name} makes {token[:20]!r} of the text {text[:40]!r}, which does not contain "
                    f"it, so its position is unknown; use a tokenizer that changes only case"
                )
            found.append((token, start))
            at = start + len(token)
        return found

    return Tokenizer(split, locate)


_BUILTIN: Final[Mapping[str, Tokenizer]] = {
    "rouge": Tokenizer(_split_rouge, partial(_locate, _ROUGE_WORD)),
    "rouge-score": Tokenizer(_split_rouge_score, _locate_rouge_score),
    "blank": Tokenizer(_split_blank, partial(_locate, _WORD)),
    "unicode": Tokenizer(_split_unicode, partial(_locate_in_normal_form, lambda word: [word])),
    "characters": Tokenizer(_split_characters, partial(_locate_in_normal_form, _CHARACTER.findall)),
    "tokens": Tokenizer(_split_tokens, _locate_tokens),
    "pypi-rouge": Tokenizer(_split_pypi_rouge, _locate_pypi_rouge),
    "presumm": Tokenizer(_split_presumm, _locate_presumm),
}

TOKENIZERS: Final[Registry[Any]] = Registry(
    "tokenizer", {name: each.split for name, each in _BUILTIN.items()}, "optsum.tokenizers"
)
"""Functions from a text to its tokens, before stop words and stemming, as described in `optsum.text.analyzer.Analyzer`.
"""


@lru_cache(maxsize=64)
def tokenizer_of(name: str) -> Tokenizer:
    """Return the tokenizer with a name: ours, another's, ``module:function``, or a caller's own function."""
    return _BUILTIN[name] if name in _BUILTIN else _as_tokenizer(name, TOKENIZERS.load(name))
