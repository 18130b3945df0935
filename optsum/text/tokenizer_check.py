"""Check whether an analysis suits a text, because one that silently drops most letters counts almost nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import filterfalse
from typing import Any, Final

from optsum.text.analyzer import Analyzer, Sentence, raw_text, tokenizer_of

_MOST: Final = 0.1
"""Largest share of a text, without blanks, in words that a tokenizer tears, drops or does not separate."""

_LOST: Final = 0.9  # Smallest share of the letters of a text that are as good as all.

_CHINESE: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_INDOCHINESE: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"

_WITHOUT_BLANKS: Final = {"characters": (f"[{_CHINESE}]", 3), "tokens": (f"[{_INDOCHINESE}]", 8)}
"""Scripts without blanks between words (Chinese and Japanese; Thai, Lao, Burmese, Khmer), by the suitable tokenizer,
with the mean length above which a blank-separated piece is not a word.
"""

_KEEPS_CLAUSES: Final = frozenset({"blank", "pypi-rouge", "tokens"})  # Tokenizers that part words at blanks alone.

_KEEPS_LETTERS: Final = frozenset({"blank", "presumm", "pypi-rouge", "rouge", "rouge-score"})
"""Tokenizers that keep all ASCII letters."""

_NO_LETTERS: Final = bytes(byte for byte in range(128) if not chr(byte).isalpha())

_PORTER: Final = frozenset({"rouge155", "rouge-score"})

_ADVICE: Final = {
    "unicode": "--tokenizer=unicode keeps them",
    "characters": "--tokenizer=characters treats each character as a word",
    "tokens": "give its sentences as lists of tokens, or a --tokenizer=module:function that can split it into words",
}


def tokenizer_check(
    sentences: Iterable[Sentence], analyzer: Analyzer, language: str = "en", *, in_words: bool = False
) -> str | None:
    """Return a warning if the text analysis damages a text; None otherwise.

    There is a warning if more than a tenth of the text is in words that lose letters, or in a script without blanks
    that the tokenizer does not split; or if an English stemmer is used for another `language`. `in_words`: whether the
    length of the summary is limited in words.
    """
    texts, joined = _raw(sentences)
    tokenizer = analyzer.tokenizer
    if stems_another(analyzer, language):
        return (
            f"the stemmer {analyzer.stemmer} is for English, and the language is {language}: give another, such as "
            "--stemmer=snowball:german, or --no-stem"
        )
    if joined.isascii():  # no tokenizer spoils a word of ASCII
        return None
    whole = len(joined) - joined.count(" ")
    foreign = [word for text in filterfalse(str.isascii, texts) for word in filterfalse(str.isascii, text.split())]
    if sum(map(len, foreign)) <= _MOST * whole:
        return None
    if tokenizer in _KEEPS_CLAUSES:
        share, serving = _unparted(foreign, whole)
        return share and (
            f"the tokenizer {tokenizer} splits words at blanks, but {share} of the text is in a script without them: "
            f"{_ADVICE[serving]}"
        )
    split, torn, example = tokenizer_of(tokenizer).split, 0, ""
    for piece in foreign:
        word = unicodedata.normalize("NFC", piece).lower()
        kept = split(word)
        if _letters("".join(kept)) < _letters(word):
            torn += len(piece)
            example = example or f"{piece[:20]} becomes {' '.join(kept)[:20] or 'nothing'}"
    if torn > _MOST * whole:
        return (
            f"the tokenizer {tokenizer} drops letters: {torn / whole:.0%} of the text is words that it splits or "
            f"drops ({example}); {_ADVICE[_serving(foreign)]}"
        )
    others = sum(_letters(piece) for piece in foreign if not "".join(filter(str.isalpha, piece)).isascii()) / whole
    if analyzer.stem and analyzer.stemmer in _PORTER and others > 2 * _MOST:
        return (
            f"the stemmer {analyzer.stemmer} is for English, and {others:.0%} of the text is words in other scripts "
            f"({foreign[0][:20]}): give another, such as --stemmer=snowball:german, or --no-stem"
        )
    if in_words and (share := _unparted(foreign, whole)[0]):
        return (
            f"lengths count words between blanks, and {share} of the text is in a script without them, so a "
            f"sentence is one word: give --length-unit=characters"
        )
    return None


def stems_another(analyzer: Analyzer, language: str) -> bool:
    """Whether an English stemmer is used for another language."""
    english = language.partition("-")[0].partition("_")[0] == "en"
    return not english and analyzer.stem and analyzer.stemmer in _PORTER


def surely_fits(text: str, first: int, foreign: int, analyzer: Analyzer, language: str) -> bool:
    """Return whether a quick check shows that neither `tokenizer_check` nor `nothing_left` has a message for a text.

    `text`: sentences joined by NUL, references first. `first`: where the documents begin. `foreign`: an upper bound of
    the letters in words that are not ASCII.
    """
    if stems_another(analyzer, language) or analyzer.tokenizer not in _KEEPS_LETTERS or "\u212a" in text:
        return False
    parts, many = (text[:first], text[first:]), _LOST / (1 - _LOST)
    for size in (_BEGIN, len(text)):  # a few foreign words are outweighed by the beginning already
        begin = text[:size]
        if foreign <= _MOST * (len(begin) - begin.count(" ") - begin.count("\0")) and all(
            part.isascii() or foreign < part.count("e", 0, size) * many - 1  # e is but one of its letters
            for part in parts
        ):
            return True
    return False


_BEGIN: Final = 1000
"""Number of characters of a text, and of its parts, that `surely_fits` looks at first."""


def nothing_left(texts: Sequence[Iterable[Sentence]], tokenizer: str) -> str | None:
    """Return a message if a tokenizer keeps almost nothing of documents or references (`texts`), else None."""
    for what, sentences in zip(("documents", "references"), texts, strict=False):
        raw, joined = _raw(sentences)
        if joined.isascii() or (tokenizer in _KEEPS_LETTERS and _mostly_plain(joined)):
            continue
        letters = sum(map(_letters, raw))
        lost = letters - sum(_letters("".join(tokenizer_of(tokenizer).split(text))) for text in raw)
        if letters and lost >= _LOST * letters:
            pieces = [piece for text in raw for piece in text.split() if not piece.isascii()]
            return (
                f"the tokenizer {tokenizer} drops {lost / letters:.0%} of the letters of the {what}, so there is "
                f"nothing to count; {_ADVICE[_serving(pieces)]}"
            )
    return None


def _mostly_plain(text: str) -> bool:
    many = _LOST / (1 - _LOST)
    if len(text.encode("utf-8", "surrogatepass")) - len(text) < text.count("e") * many - 1:  # e is but one letter
        return True
    plain = text.encode("ascii", "ignore")
    return len(text) - len(plain) < len(plain.translate(None, _NO_LETTERS)) * many - 1


def _raw(sentences: Iterable[Sentence]) -> tuple[list[str], str]:
    """Return the raw text of each sentence, and all of them joined."""
    texts: list[Any] = list(sentences)
    try:
        joined = "".join(texts)  # which refuses a tuple of tokens
    except TypeError:
        texts = list(map(raw_text, texts))
        joined = "".join(texts)
    return texts, joined


def _unparted(foreign: Sequence[str], whole: int) -> tuple[str | None, str]:
    """Return the share of a text in clauses without blanks, if it is large, and the tokenizer for such text."""
    for serving, (letter, most) in _WITHOUT_BLANKS.items():
        held = [len(found) for piece in foreign if (found := re.findall(letter, piece))]
        if sum(held) > _MOST * whole and sum(held) > most * len(held):
            return f"{sum(held) / whole:.0%}", serving
    return None, ""


def _serving(pieces: Iterable[str]) -> str:
    text = "".join(pieces)
    counts = {serving: len(re.findall(letter, text)) for serving, (letter, _) in _WITHOUT_BLANKS.items()}
    best = max(counts, key=counts.__getitem__)
    return best if 2 * counts[best] > _letters(text) else "unicode"


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
