"""Convert sentences to counted tokens: split, drop stop words, stem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from optsum.errors import InputError, OptionError
from optsum.plugins import named_function
from optsum.system.files import PathLike, read_text
from optsum.text.resources import smart_stopwords
from optsum.text.stemmers import stemmer_of
from optsum.text.tokenizers import Sentence, tokenizer_of

_WORDS_KEPT = 65_536  # entries of one word table; a table that is full starts afresh
_LONGEST_KEPT = 64  # characters of a word worth remembering


@dataclass(frozen=True)
class Analyzer:
    """The conversion of a sentence to counted tokens: split, drop stop words, stem, in this order.

    It is hashable and picklable; equal analyzers of a process share a cache of words.

    Parameters
    ----------
    tokenizer : str or callable
        The name of a tokenizer, ``module:function``, or a function from a text to a list of its tokens.

        * ``rouge``: lower case, every character outside a-z0-9 a blank, split (ROUGE-1.5.5, on UTF-8 bytes);
        * ``blank``: lower case, split at white space;
        * ``rouge-score``: like the package rouge-score: like ``rouge``, but converted to lower case first, so that two
          letters outside ASCII become ASCII (İ, and the Kelvin sign);
        * ``unicode``: the pieces between word boundaries of Unicode (UAX 29) that contain a letter or a digit, in lower
          case and normalized to NFC. In scripts without blanks between words, runs of Katakana stay whole, and every
          other character is a word;
        * ``characters``: like ``unicode``, with Katakana split too, for Chinese and Japanese;
        * ``tokens``: the tokens of a pre-tokenized sentence, unchanged, for any language; a raw sentence is split at
          white space, keeping case;
        * ``pypi-rouge``: like the package ``rouge`` on PyPI: split at "." and at blanks, keeping case and all other
          punctuation. Blanks between two full stops give one empty token;
        * ``presumm``: like PreSumm's greedy selection: lower case, split at white space, and every character outside
          a-z0-9 removed ("it's" becomes "its").

        All but ``tokens`` first join a pre-tokenized sentence by blanks.
    stem : bool
        Whether tokens are stemmed.
    stopwords : str or frozenset of str
        ``keep`` all words, ``drop`` the SMART list, or the set of tokens to drop (`load_stopwords`), compared
        with the tokens before stemming.
    stemmer : str or callable
        ``rouge155`` or ``rouge-score`` (the English stemmers of these programs), ``snowball:LANGUAGE`` (such as
        ``snowball:german``), another name of a stemmer, ``module:function``, or a function from a token to its stem.

    Raises
    ------
    UnknownNameError
        For a tokenizer or a stemmer that does not exist.
    OptionError
        For `stopwords` that is neither "keep" nor "drop" nor a set.

    Examples
    --------
    >>> Analyzer(stem=True, stopwords="drop").tokens("The Co-op's mice were running.")
    ['op', 'mouse', 'run']
    """

    tokenizer: Any = "rouge"  # a name, once it is made
    stem: bool = False
    stopwords: str | frozenset[str] = "keep"
    stemmer: Any = "rouge155"

    def __post_init__(self) -> None:
        for name in ("tokenizer", "stemmer"):
            if callable(given := getattr(self, name)):
                object.__setattr__(self, name, named_function(given))
        tokenizer_of(self.tokenizer)
        stemmer_of(self.stemmer)
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
            Any text.
        """
        words = tokenizer_of(self.tokenizer).split(sentence)
        if self.stopwords == "keep" and not self.stem:
            return words
        return [token for token in self.counted(words) if token is not None]

    def counted(self, words: Iterable[str]) -> Iterator[str | None]:
        """Return the counted form of each word of the tokenizer; None if it is dropped."""
        return map(_word_table(self.stemmer if self.stem else None, self.stopwords).__getitem__, words)

    def spans(self, sentence: Sentence) -> list[tuple[str, int]]:
        """Return the counted tokens, each with the position of its first character.

        Parameters
        ----------
        sentence : str or tuple of str

        Returns
        -------
        list of (token, start)
            The tokens are exactly those of `tokens`. `start` counts characters (code points) of the written sentence,
            or of its tokens joined by blanks.

        Examples
        --------
        >>> Analyzer(stopwords="drop").spans("The Co-op's mice")
        [('op', 7), ('mice', 12)]
        """
        located = tokenizer_of(self.tokenizer).locate(sentence)
        if self.stopwords == "keep" and not self.stem:
            return located
        found = zip(self.counted(word for word, _ in located), located, strict=True)
        return [(token, start) for token, (_, start) in found if token is not None]

    def joined_tokens(self, sentences: Iterable[Sentence]) -> list[str]:
        """Return the counted tokens of several sentences, one after the other."""
        return list(chain.from_iterable(map(self.tokens, sentences)))


class _WordTable(dict[str, str | None]):
    """A cache of the counted token of each word, or None if it is dropped."""

    def __init__(self, stemmer: str | None, dropped: frozenset[str]) -> None:
        super().__init__()
        self._stem = None if stemmer is None else stemmer_of(stemmer)
        self._dropped = dropped

    def __missing__(self, word: str) -> str | None:
        token = None if word in self._dropped else word if self._stem is None else self._stem(word)
        if len(word) <= _LONGEST_KEPT:
            if len(self) >= _WORDS_KEPT:
                self.clear()
            self[word] = token
        return token


@lru_cache(maxsize=16)
def _word_table(stemmer: str | None, stopwords: str | frozenset[str]) -> _WordTable:
    if isinstance(stopwords, str):
        stopwords = smart_stopwords() if stopwords == "drop" else frozenset()
    return _WordTable(stemmer, stopwords)


def load_stopwords(path: PathLike) -> frozenset[str]:
    """Read stop words for `Analyzer` from a UTF-8 file, one on each line, unchanged; blank lines are skipped."""
    words: set[str] = set()
    for number, line in enumerate(read_text(path, "the stop word file").splitlines(), start=1):
        if len(found := line.split()) > 1:
            raise InputError(f"{path}:{number}: {line.strip()!r} is more than one word; put one word on a line")
        words.update(found)
    return frozenset(words)
