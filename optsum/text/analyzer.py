"""From sentences to the tokens that are counted, and to the words that lengths are made of.

The two never mix: a *token* is what an `Analyzer` makes of a sentence, a *word* is a blank-separated piece of
it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Final, TypeAlias

from optsum.errors import InputError, OptionError, unknown_name
from optsum.files import PathLike, read_text
from optsum.text.resources import smart_stopwords
from optsum.text.stem import stem

__all__ = [
    "LENGTH_OF",
    "TOKENIZERS",
    "Analyzer",
    "Sentence",
    "character_count",
    "cut_sentences",
    "cut_words",
    "joined",
    "load_stopwords",
    "word_count",
]

Sentence: TypeAlias = str | tuple[str, ...]
"""A raw sentence, or the tokens of a pre-tokenized one."""

_WORDS_KEPT = 65_536  # entries of one word table; a table that is full starts afresh
_LONGEST_KEPT = 64  # characters of a word worth remembering


@dataclass(frozen=True)
class Analyzer:
    """How a sentence becomes counted tokens: split, drop stop words, stem, in this order.

    Hashable and picklable; what it remembers about words is shared by all equal analyzers of a process.

    Parameters
    ----------
    tokenizer : str
        A name in `TOKENIZERS`.

        * ``rouge``: lower case, every character outside a-z0-9 a blank, split (ROUGE-1.5.5, on UTF-8 bytes);
        * ``blank``: lower case, split at white space;
        * ``unicode``: lower-cased runs of letters, digits, marks and underscores of any script, after
          normalization to NFC. Scripts without blanks between words (Chinese, Japanese, Thai) need
          ``tokens``;
        * ``tokens``: a pre-tokenized sentence exactly as it is, which serves any language; a raw one is split
          at white space, its case kept;
        * ``pypi-rouge``: as the package ``rouge`` on PyPI does: split at "." and at blanks, case and all
          other punctuation kept. A piece of blanks between two full stops gives one empty token;
        * ``presumm``: as PreSumm's greedy selection does: lower case, split at white space, and every character
          outside a-z0-9 taken out of a word ("it's" is "its").

        A pre-tokenized sentence is joined by blanks first by all but ``tokens``.
    stem : bool
        Stem as ROUGE-1.5.5 does (`optsum.text.stem.stem`; English).
    stopwords : str or frozenset of str
        ``keep`` all words, ``drop`` the SMART list, or the set of tokens to drop (`load_stopwords`), compared
        with the tokens before stemming.

    Raises
    ------
    UnknownNameError
        For a tokenizer that does not exist.
    OptionError
        For `stopwords` that is neither "keep" nor "drop" nor a set.

    Examples
    --------
    >>> Analyzer(stem=True, stopwords="drop").tokens("The Co-op's mice were running.")
    ['op', 'mouse', 'run']
    """

    tokenizer: str = "rouge"
    stem: bool = False
    stopwords: str | frozenset[str] = "keep"

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise unknown_name("tokenizer", self.tokenizer, TOKENIZERS)
        if isinstance(self.stopwords, str):
            if self.stopwords not in {"keep", "drop"}:
                raise OptionError(
                    f"stopwords must be 'keep', 'drop' or a set of words, not {self.stopwords!r}; "
                    "load_stopwords reads the set from a file"
                )
        else:
            object.__setattr__(self, "stopwords", frozenset(self.stopwords))

    def tokens(self, sentence: Sentence) -> list[str]:
        """Return the counted tokens of one sentence.

        Parameters
        ----------
        sentence : str or tuple of str
            Any text; nothing in it is an error.
        """
        words = TOKENIZERS[self.tokenizer](sentence)
        if self.stopwords == "keep" and not self.stem:
            return words
        table = _word_table(self.stem, self.stopwords)
        return [token for word in words if (token := table[word]) is not None]

    def spans(self, sentence: Sentence) -> list[tuple[str, int]]:
        """Return the counted tokens, each with the place of its first character.

        Parameters
        ----------
        sentence : str or tuple of str

        Returns
        -------
        list of (token, start)
            The tokens are exactly those of `tokens`. `start` counts characters (code points) of the sentence as it is
            written, or of its tokens joined by blanks.

        Examples
        --------
        >>> Analyzer(stopwords="drop").spans("The Co-op's mice")
        [('op', 7), ('mice', 12)]
        """
        from optsum.text.located import LOCATED  # which needs this module

        located = LOCATED[self.tokenizer](sentence)
        if self.stopwords == "keep" and not self.stem:
            return located
        table = _word_table(self.stem, self.stopwords)
        return [(token, start) for word, start in located if (token := table[word]) is not None]

    def joined_tokens(self, sentences: Iterable[Sentence]) -> list[str]:
        """Return the counted tokens of several sentences, one after the other."""
        return list(chain.from_iterable(map(self.tokens, sentences)))


class _WordTable(dict[str, str | None]):
    """Word -> counted token, or None if it is dropped; filled as words come."""

    def __init__(self, stemmed: bool, dropped: frozenset[str]) -> None:
        super().__init__()
        self._stemmed = stemmed
        self._dropped = dropped

    def __missing__(self, word: str) -> str | None:
        token = None if word in self._dropped else stem(word) if self._stemmed else word
        if len(word) <= _LONGEST_KEPT:
            if len(self) >= _WORDS_KEPT:
                self.clear()
            self[word] = token
        return token


@lru_cache(maxsize=16)
def _word_table(stemmed: bool, stopwords: str | frozenset[str]) -> _WordTable:
    if isinstance(stopwords, str):
        stopwords = smart_stopwords() if stopwords == "drop" else frozenset()
    return _WordTable(stemmed, stopwords)


# The tokenizers.


def _raw(sentence: Sentence) -> str:
    return sentence if isinstance(sentence, str) else " ".join(sentence)


# Byte -> byte: A-Z to lower case, a-z and 0-9 unchanged, everything else a blank.
_ROUGE_BYTES = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789" else ord(" ") for byte in bytes(range(256)).lower()
)


def _split_rouge(sentence: Sentence) -> list[str]:
    # Lone surrogates have no UTF-8; "surrogatepass" makes bytes of them all the same, which then become
    # blanks.
    return _raw(sentence).encode("utf-8", "surrogatepass").translate(_ROUGE_BYTES).decode("ascii").split()


def _split_blank(sentence: Sentence) -> list[str]:
    return _raw(sentence).lower().split()


@cache
def _unicode_word() -> re.Pattern[str]:
    # "\w" knows no combining marks, which would tear words of Indic scripts apart. All marks lie below U+20000,
    # but for the variation selectors at U+E0100; none lies below U+0300, which is the quicker thing to ask.
    marks = "".join(char for char in map(chr, range(0x20000)) if unicodedata.category(char).startswith("M"))
    return re.compile(rf"\w+(?:(?=[^\0-\u02ff])[{marks}\U000e0100-\U000e01ef]+\w*)*")


def _split_unicode(sentence: Sentence) -> list[str]:
    return _unicode_word().findall(unicodedata.normalize("NFC", _raw(sentence)).lower())


def _split_tokens(sentence: Sentence) -> list[str]:
    return sentence.split() if isinstance(sentence, str) else list(sentence)


def _split_pypi_rouge(sentence: Sentence) -> list[str]:
    pieces = [" ".join(piece.split()) for piece in _raw(sentence).split(".") if piece]
    return [token for piece in pieces for token in piece.split(" ")]


_NO_LETTER = re.compile(r"[^a-z0-9]")


def _split_presumm(sentence: Sentence) -> list[str]:
    return [token for word in _raw(sentence).lower().split() if (token := _NO_LETTER.sub("", word))]


TOKENIZERS: Mapping[str, Callable[[Sentence], list[str]]] = MappingProxyType(
    {
        "rouge": _split_rouge,
        "blank": _split_blank,
        "unicode": _split_unicode,
        "tokens": _split_tokens,
        "pypi-rouge": _split_pypi_rouge,
        "presumm": _split_presumm,
    }
)
"""Name -> function from a sentence to its tokens, before stop words and stemming; see `Analyzer`."""


# Lengths.


def word_count(sentence: Sentence) -> int:
    """Return the length in words: the blank-separated pieces, or the tokens of a pre-tokenized sentence."""
    return len(sentence.split()) if isinstance(sentence, str) else len(sentence)


def character_count(sentence: Sentence) -> int:
    """Return the length of a sentence in characters (code points), tokens joined by blanks."""
    return len(_raw(sentence))


def _one(sentence: Sentence) -> int:
    """Return the length of a sentence in sentences."""
    del sentence
    return 1


LENGTH_OF: Final[Mapping[str, Callable[[Sentence], int]]] = MappingProxyType(
    {"words": word_count, "characters": character_count, "sentences": _one}
)
"""Length of a sentence, by the name of the unit."""


def joined(sentences: Iterable[Sentence]) -> Sentence:
    """Return one text: pre-tokenized sentences concatenated, all others (and mixtures) joined by blanks."""
    texts = list(sentences)
    if texts and not any(isinstance(text, str) for text in texts):
        return tuple(token for text in texts for token in text)
    return " ".join(map(_raw, texts))


# White space as the original script sees it, which reads bytes: a no-break space does not end a word there.
_ASCII_WORD = re.compile(r"\S+", re.ASCII)


def cut_words(text: Sentence, max_words: int) -> Sentence:
    """Return the text up to the end of its `max_words`-th word, as ROUGE-1.5.5 cuts with ``-l``.

    Words are what ASCII white space separates, before punctuation is split off, or the tokens of a
    pre-tokenized text.

    Parameters
    ----------
    text : str or tuple of str
    max_words : int
        0 or more.
    """
    return cut_sentences([text], max_words)[0]


def cut_sentences(sentences: Iterable[Sentence], max_words: int) -> list[Sentence]:
    """Cut several sentences after `max_words` words in all, as `cut_words` does; later ones become empty.

    Raises
    ------
    OptionError
        If `max_words` is negative.
    """
    if max_words < 0:
        raise OptionError(f"a text cannot be cut to {max_words} words; give 0 or more")
    left = max_words
    cut: list[Sentence] = []
    for sentence in sentences:
        if isinstance(sentence, str):
            ends = [word.end() for word in _ASCII_WORD.finditer(sentence)]
            words = len(ends)
            part: Sentence = sentence if words <= left else sentence[: ends[left - 1] if left else 0]
        else:
            words = len(sentence)
            part = sentence[:left]
        cut.append(part)
        left = max(0, left - words)
    return cut


def load_stopwords(path: PathLike) -> frozenset[str]:
    """Read stop words from a UTF-8 file, one word a line; blank lines are passed over.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    frozenset of str
        For `Analyzer`. The words are kept as written: with a tokenizer that lower-cases, an upper-case one
        drops nothing.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8, or has a line of several words.
    """
    lines = read_text(path, "the stop word file").splitlines()
    words = set()
    for number, line in enumerate(lines, start=1):
        match line.split():
            case []:
                pass
            case [word]:
                words.add(word)
            case _:
                raise InputError(f"{path}:{number}: {line.strip()!r} is more than one word; put one word on a line")
    return frozenset(words)
