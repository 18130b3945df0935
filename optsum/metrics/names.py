"""n-grams and skip-bigrams, and names of metrics: single ones, sums (``rouge-1+rouge-2``), means (``ngram-1-4``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import ClassVar, Final

from optsum.errors import OptionError, UnsupportedError, unknown_name
from optsum.metrics.metric import NGRAMS, SKIPS, Gram, Metric
from optsum.plugins import Registry, is_place
from optsum.system.files import of_files

METRICS: Final[Registry[Metric]] = Registry(
    "metric",
    {
        "rouge-N": "optsum.metrics.names:NGrams",
        "rouge-suK": "optsum.metrics.names:SkipBigrams",
        "rouge-l": "optsum.metrics.lcs:LongestSubsequence",
        "rougeL": "optsum.metrics.lcs:WholeSubsequence",
        "similarity": "optsum.metrics.similarity:Similarity",
        "ngram-I-J": "optsum.metrics.names:GeometricMean",
    },
    "optsum.metrics",
    "optsum.metrics.metric:Metric",
)
"""The forms of names; each term of a sum has one of them."""

# Offered when a name is wrong, beside the general forms.
_COMMON = (
    *("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-su0", "rouge-su4", "rouge-l", "rougeL"),
    *("rouge-1+rouge-2", "rouge-1+rouge-2+rouge-l", "ngram-1-4", "similarity", "similarity-shifted"),
)

_OTHERS = re.compile(r"(?:rouge|r)[-_ ]?([1-9][0-9]?|su[0-9]{0,2}|l|lsum)", re.ASCII | re.IGNORECASE)
"""The spellings of papers and other programs."""
_WHOLE_TEXT = "rougeL"

SUM: Final = "A+B"
"""The form of a sum of metrics, which is in no list because it combines all others."""

_MEAN = re.compile(r"ngram-([1-4])-([1-4])", re.ASCII)
_NGRAM = re.compile(r"rouge-([1-9][0-9]{0,2})", re.ASCII)
_SKIP = re.compile(r"rouge-su(0|[1-9][0-9]{0,2})", re.ASCII)


@dataclass(frozen=True)
class NGrams(Metric):
    """rouge-N: `size` tokens next to each other, 1 to 999."""

    size: int
    form: ClassVar[str] = "rouge-N"
    about: ClassVar[str] = "N words next to each other, N from 1 to 999: rouge-1 single words, rouge-2 pairs, ..."
    _code = NGRAMS, "size"

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


@dataclass(frozen=True)
class SkipBigrams(Metric):
    """rouge-suK: single tokens, and pairs with at most `skip` tokens between them, 0 to 999."""

    skip: int
    form: ClassVar[str] = "rouge-suK"
    about: ClassVar[str] = (
        "single words, and pairs with at most K words between them; K = 0 is rouge-1 and rouge-2 in one"
    )
    _code = SKIPS, "skip"

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


class _Several(Metric):
    """A metric that has parts."""

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        del tokens
        raise UnsupportedError(f"{self} has several parts: count its components one by one")


@dataclass(frozen=True)
class MetricSum(_Several):
    """Several metrics, each a ratio of its own, added up."""

    of: tuple[Metric, ...]
    form: ClassVar[str] = SUM
    about: ClassVar[str] = "the mean of several metrics, each a separate ratio: rouge-1+rouge-2"

    @cached_property
    def name(self) -> str:
        """The name that `parse_metric` reads back."""
        return "+".join(part.name for part in self.of)

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics that are added up."""
        return self.of


@dataclass(frozen=True)
class GeometricMean(_Several):
    """The geometric mean of n-grams of several lengths, Ngram(i, j) of Lin & Hovy 2003, eq. 2."""

    first: int
    last: int
    form: ClassVar[str] = "ngram-I-J"
    about: ClassVar[str] = "the geometric mean of rouge-I to rouge-J, recall, I and J of 1 to 4 (Lin & Hovy 2003)"
    geometric: ClassVar[bool] = True

    @classmethod
    def read(cls, name: str) -> Metric | None:
        """Return the metric of a name, or None if the name is of another form."""
        match = _MEAN.fullmatch(name)
        if not match:
            return None
        first, last = int(match[1]), int(match[2])
        if first > last:
            raise OptionError(f"the metric {name!r} has its numbers in the wrong order; write ngram-{last}-{first}")
        return NGrams(first) if first == last else cls(first, last)

    @cached_property
    def name(self) -> str:
        """The name that `read` reads back."""
        return f"ngram-{self.first}-{self.last}"

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics of the mean."""
        return tuple(NGrams(size) for size in range(self.first, self.last + 1))


@lru_cache(maxsize=256)
def official_name(name: str) -> str:
    """Return optsum's name of a metric: ``ROUGE-2``, ``rouge2`` and ``R2`` become ``rouge-2``.

    ``rougeLsum`` of the package rouge-score becomes ``rouge-l``; its ``rougeL``, which compares whole texts, is
    unchanged.

    >>> official_name("ROUGE-1+R2"), official_name("rougeLsum"), official_name("rouge-su4")
    ('rouge-1+rouge-2', 'rouge-l', 'rouge-su4')
    """
    return "+".join(map(_official_single, name.split("+")))


def _official_single(name: str) -> str:
    match = None if name == _WHOLE_TEXT else _OTHERS.fullmatch(name.strip())
    if match is None:
        return name
    kind = match[1].lower()
    return "rouge-l" if kind in {"l", "lsum"} else f"rouge-{kind}"


def parse_metric(name: str | Metric) -> Metric:
    """Read the name of a metric.

    Parameters
    ----------
    name : str or Metric
        "rouge-1", "rouge-2", ..., "rouge-su4", "rouge-l", "rougeL", the name of a third party's, or several of them
        joined by "+"; or "ngram-1-4", the geometric mean of rouge-1 to rouge-4 ("ngram-2-2" is rouge-2). A `Metric` is
        returned unchanged.

    Returns
    -------
    Metric

    Raises
    ------
    UnknownNameError
        For a name of another form; the message lists near names.
    OptionError
        For a sum that names a metric twice, or a mean; for a mean whose longest n-grams are shorter than its shortest.

    Examples
    --------
    >>> parse_metric("rouge-su4")
    SkipBigrams(skip=4)
    >>> [part.name for part in parse_metric("rouge-1+rouge-2").components]
    ['rouge-1', 'rouge-2']
    """
    return name if isinstance(name, Metric) else _parsed(name)


@of_files  # Classes of own metrics may be defined anew.
@lru_cache(maxsize=256)
def _parsed(name: str) -> Metric:
    name = official_name(name)
    parts = tuple(_parse_single(part) for part in name.split("+"))
    if len(set(parts)) < len(parts):
        raise OptionError(f"the metric {name!r} names the same metric twice; name each once")
    if len(parts) > 1 and any(part.geometric for part in parts):
        raise OptionError(f"the metric {name!r} adds a geometric mean to others; name the mean alone")
    return parts[0] if len(parts) == 1 else MetricSum(parts)


def _parse_single(name: str) -> Metric:
    for form in METRICS:
        # A third party's class is loaded only for names that begin with what it is announced as.
        if form in METRICS.builtin or name == form or name.startswith(f"{form}-"):
            metric = METRICS.load(form).read(name)
            if metric is not None:
                return metric
    if is_place(name):
        own = METRICS.load(name)
        metric = own.read(own.form)
        if metric is None:
            raise OptionError(
                f"The metric {name} does not accept its own name {own.form!r}: its read() must accept it."
            )
        return metric
    plugins = [form for form in METRICS if form not in METRICS.builtin]
    raise unknown_name("metric", name, (*_COMMON, "rouge-N", "rouge-suK", *plugins))
