"""Lengths: in words, sentences or characters, and texts cut to a length.

A *word* is a blank-separated piece of a sentence, whatever tokens an `optsum.text.analyzer.Analyzer` makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from optsum.errors import OptionError
from optsum.text.tokenizers import Sentence, raw_text, tokenizer_of


def word_count(sentence: Sentence) -> int:
    """Return the length in words: the blank-separated pieces, or the tokens of a pre-tokenized sentence."""
    return len(sentence.split()) if isinstance(sentence, str) else len(sentence)


def word_starts(sentence: Sentence) -> list[int]:
    """Return where each word that `word_count` counts begins, as the analyzer's `spans` does for tokens."""
    return [start for _, start in tokenizer_of("tokens").locate(sentence)]


def character_count(sentence: Sentence) -> int:
    """Return the length of a sentence in characters (code points), tokens joined by blanks."""
    return len(raw_text(sentence))


LENGTH_OF: Final[Mapping[str, Callable[[Sentence], int]]] = MappingProxyType(
    {"words": word_count, "characters": character_count, "sentences": lambda _: 1}
)
"""Length of a sentence, by the name of the unit."""


def joined(sentences: Iterable[Sentence]) -> Sentence:
    """Return one text: pre-tokenized sentences concatenated, all others (and mixtures) joined by blanks."""
    texts = list(sentences)
    if texts and not any(isinstance(text, str) for text in texts):
        return tuple(token for text in texts for token in text)
    return " ".join(map(raw_text, texts))


# White space as the original script sees it, which reads bytes: a no-break space does not end a word there.
_ASCII_WORD = re.compile(r"\S+", re.ASCII)


def cut_sentences(sentences: Iterable[Sentence], max_words: int) -> list[Sentence]:
    """Cut sentences after `max_words` words in all, as ROUGE-1.5.5 cuts with ``-l``; later ones become empty.

    Words are what ASCII white space separates, before punctuation is split off, or the tokens of a pre-tokenized text.

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
