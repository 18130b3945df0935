"""n-grams and skip-bigrams of a token sequence: rouge-N and rouge-suK."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar

from optsum.errors import OptionError
from optsum.metrics.metric import NGRAMS, SKIPS, Gram, Metric

_NGRAM = re.compile(r"rouge-([1-9][0-9]{0,2})", re.ASCII)
_SKIP = re.compile(r"rouge-su(0|[1-9][0-9]{0,2})", re.ASCII)


@dataclass(frozen=True)
class NGrams(Metric):
    """rouge-N: `size` tokens next to each other, 1 to 999."""

    size: int
    form: ClassVar[str] = "rouge-N"
    about: ClassVar[str] = "N words next to each other, N from 1 to 999: rouge-1 single words, rouge-2 pairs, ..."

    @classmethod
    def read(cls, name: str) -> NGrams | None:
        """Return the metric of a name, or None if the name is of another form."""
        return cls(int(match[1])) if (match := _NGRAM.fullmatch(name)) else None

    @cached_property
    def name(self) -> str:
        """The name that `read` reads back."""
        return f"rouge-{self.size}"

    @property
    def kinds(self) -> frozenset[str]:
        """The form rouge-N, and rouge-1, rouge-2 or rouge-3+."""
        return frozenset({self.form, self.name if self.size < 3 else "rouge-3+"})

    @property
    def sizes(self) -> tuple[int, ...]:
        """The only size."""
        return (self.size,)

    def keys(self, tokens: Sequence[str]) -> Iterator[Gram]:
        """Return the n-grams, in order."""
        return ngrams(tokens, self.size)

    @property
    def coded(self) -> tuple[int, int] | None:
        """The code of n-grams; None for derived classes, which count something else."""
        return (NGRAMS, self.size) if type(self) is NGrams else None


@dataclass(frozen=True)
class SkipBigrams(Metric):
    """rouge-suK: single tokens, and pairs with at most `skip` tokens between them, 0 to 999."""

    skip: int
    form: ClassVar[str] = "rouge-suK"
    about: ClassVar[str] = (
        "single words, and pairs with at most K words between them; K = 0 is rouge-1 and rouge-2 in one"
    )

    @classmethod
    def read(cls, name: str) -> SkipBigrams | None:
        """Return the metric of a name, or None if the name is of another form."""
        return cls(int(match[1])) if (match := _SKIP.fullmatch(name)) else None

    @cached_property
    def name(self) -> str:
        """The name that `read` reads back."""
        return f"rouge-su{self.skip}"

    @property
    def kinds(self) -> frozenset[str]:
        """The form rouge-suK, and rouge-su0 if nothing is skipped."""
        return frozenset({self.form} if self.skip else {self.form, "rouge-su0"})

    @property
    def sizes(self) -> tuple[int, ...]:
        """Unigrams and bigrams, if nothing is skipped."""
        return () if self.skip else (1, 2)

    def keys(self, tokens: Sequence[str]) -> Iterator[Gram]:
        """Return all tokens, then all pairs."""
        return chain(tokens, skip_bigrams(tokens, self.skip))

    def official_keys(self, tokens: Sequence[str]) -> Iterator[Gram]:
        """Leave out the last token, like ROUGE-1.5.5, whose loop over the first token of a pair ends one too early."""
        return chain(tokens[:-1], skip_bigrams(tokens, self.skip))

    @property
    def coded(self) -> tuple[int, int] | None:
        """The code of tokens and pairs; None for derived classes, as for `NGrams`."""
        return (SKIPS, self.skip) if type(self) is SkipBigrams else None


def ngrams(tokens: Sequence[str], n: int) -> Iterator[Gram]:
    """Iterate over the n-grams of a token sequence, in order.

    >>> list(ngrams(["a", "b", "c"], 2))
    [('a', 'b'), ('b', 'c')]
    """
    if n < 1:
        raise OptionError(f"n-grams have at least one token, so n must not be {n}")
    if n == 1:
        return iter(tokens)
    if n > len(tokens):
        return iter(())
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def skip_bigrams(tokens: Sequence[str], max_skip: int) -> Iterator[tuple[str, str]]:
    """Iterate over the pairs of tokens with at most `max_skip` tokens between them."""
    if max_skip < 0:
        raise OptionError(f"max_skip is {max_skip}: give 0 or more, the tokens that a skip-bigram may leave out")
    furthest = min(max_skip + 1, len(tokens) - 1)
    return chain.from_iterable(zip(tokens, tokens[distance:], strict=False) for distance in range(1, furthest + 1))
