"""Metrics, their names, and the official score: ROUGE like ROUGE-1.5.5, in Python and independent of every search.

A metric is a class. The class of a third party needs only the method `keys`; the entry-point group ``optsum.metrics``
makes its name known, on the command line too. Names joined by "+" are a sum (``rouge-1+rouge-2``); ``ngram-1-4`` is a
geometric mean.

Scores were compared with those of the script ROUGE-1.5.5, one summary at a time: recall, precision, and F at
``-p 0.5``. Options of the script were ``-n N`` (rouge-N), ``-2 K -u`` (rouge-suK), ROUGE-L, ``-m`` (``stem=True``),
``-s`` (``stopwords="drop"``), ``-l N`` (``max_words=N``), ``-f A`` (``references_mode="pooled"``), and ``-f B``
("best", except that the script compares rounded recalls). Not reproduced are ``-b`` (cut by bytes), ROUGE-W, ROUGE-S
without unigrams, basic elements, bootstrap intervals, and averages.

As in the script,

* the text is joined before n-grams are formed, so that they cross the ends of sentences;
* counts are clipped: an n-gram hits at most as often as it occurs in the reference;
* several references are pooled: the sum of the hits divided by the sum of the counts over all references;
* rouge-suK leaves out the unigram of the last token, on both sides;
* rouge-l takes, for every reference sentence, the union over the summary's sentences of longest common subsequences
  (Lin 2004, section 3.2). The union depends on the choice among several longest ones: the script traces back from
  the ends of both sentences; on a match it takes both tokens, otherwise it drops the reference's token if that does not
  shorten the subsequence, else the summary's.

The lengths of common subsequences are a table with one bit vector, a Python integer, for each reference token; its bits
are the summary's tokens (Hyyro 2004, "Bit-parallel LCS-length computation revisited"). Lengths are counts of bits.

Scores are not rounded; the script rounds recall and precision to five digits before it computes F.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import chain, permutations
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, cast, get_args

from optsum.errors import InputError, OptionError, UnsupportedError, unknown_name
from optsum.plugins import Registry, is_place
from optsum.system.files import of_files
from optsum.text.analyzer import Analyzer, Sentence, cut_sentences
from optsum.whole import whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


Gram: TypeAlias = str | tuple[str, ...]
"""An n-gram: a unigram is its token, everything longer is a tuple, so a unigram never equals a skip-bigram."""

Counts: TypeAlias = Counter[Gram]
Texts: TypeAlias = Sequence[Sequence[str]]  # The tokens of each sentence of a text.
# First numbers of `Metric.coded`: n-grams, skip-bigrams, common subsequences (0 of sentences, 1 of texts).
NGRAMS, SKIPS, LONGEST = range(3)
METRICS: Final[Registry[Metric]] = Registry(
    "metric",
    {
        "rouge-N": "optsum.metrics.rouge:NGrams",
        "rouge-suK": "optsum.metrics.rouge:SkipBigrams",
        "rouge-l": "optsum.metrics.rouge:LongestSubsequence",
        "rougeL": "optsum.metrics.rouge:WholeSubsequence",
        "similarity": "optsum.metrics.similarity:Similarity",
        "ngram-I-J": "optsum.metrics.rouge:GeometricMean",
    },
    "optsum.metrics",
    "optsum.metrics.rouge:Metric",
)
"""The metrics by the form of their names; each term of a sum has one of these forms."""

# Suggested for a wrong name, beside the general forms.
_COMMON = (
    *("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-su0", "rouge-su4", "rouge-l", "rougeL"),
    *("rouge-1+rouge-2", "rouge-1+rouge-2+rouge-l", "ngram-1-4", "similarity", "similarity-shifted"),
)
# The spellings of metrics in papers and other programs.
_OTHERS = re.compile(r"(?:rouge|r)[-_ ]?([1-9][0-9]?|su[0-9]{0,2}|l|lsum)", re.ASCII | re.IGNORECASE)
SUM: Final = "A+B"  # The form of a sum of metrics, which is in no list because it combines all others.
_MEAN = re.compile(r"ngram-([1-4])-([1-4])", re.ASCII)
Measure = Literal["recall", "precision", "f1"]
Counting = Literal["clipped", "set"]
ReferencesMode = Literal["pooled", "mean", "best"]
Boundaries = Literal["joined", "sentence"]
ModelUnits = Literal["whole", "sentences"]
_AT_ONCE: Final = 16  # References that are compared with a summary between two checks of the time.


class Tally(NamedTuple):
    """The way to count the n-grams of summaries and references."""

    distinct: bool = False  # Each n-gram of a text counts once, however often it occurs.
    across: bool = True  # The summary's sentences are joined before n-grams are formed, as ROUGE-1.5.5 does.
    # The hits of each sentence of a reference are clipped separately, and then summed (Lin & Hovy 2003).
    apart: bool = False
    official: bool = True  # Count what ROUGE-1.5.5 counts where that differs from the formula (`Metric.official_keys`).


class Totals(NamedTuple):
    """The numerator of recall and precision, hits, and their denominators, the counts of reference and summary."""

    hits: int
    reference: int
    summary: int


class Metric(ABC):
    """A measure of what two texts share, made from its name by `parse_metric`; a frozen dataclass.

    Attributes
    ----------
    form : str
        The form of its names ("rouge-N") in `optsum list metrics`; a name without a number is its own form.
    about : str
        One line for `optsum list metrics`.
    countable : bool
        Whether it counts n-grams, or other units that can be counted sentence by sentence.
    of_texts : bool
        Whether it compares texts, so that any summary can be scored by it.
    geometric : bool
        Whether it is the geometric mean of its parts.
    """

    form: ClassVar[str]
    about: ClassVar[str]
    countable: ClassVar[bool] = True
    of_texts: ClassVar[bool] = True
    geometric: ClassVar[bool] = False
    _code: ClassVar[tuple[int, int | str]]  # `coded`, or its kind and the field of its number; not inherited.
    _named: ClassVar[re.Pattern[str] | None] = None  # Pattern of names with a number, the only field.

    @classmethod
    def read(cls, name: str) -> Metric | None:
        """Return the metric of a name, or None if the name is of another form."""
        if cls._named is None:
            return cls() if name == cls.form else None
        return cls(int(match[1])) if (match := cls._named.fullmatch(name)) else None  # type: ignore[call-arg]

    @cached_property
    def name(self) -> str:
        """The name from which `read` makes this metric."""
        return self.form

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics of a sum or mean; empty otherwise."""
        return ()

    @cached_property
    def components(self) -> tuple[Metric, ...]:
        """The parts of a sum or mean; any other metric is its own only component."""
        return self.parts or (self,)

    @property
    def kinds(self) -> frozenset[str]:
        """The names under which a formulation may declare that it supports the metric."""
        return frozenset({self.form})

    @property
    def sizes(self) -> tuple[int, ...]:
        """The lengths of the n-grams that it counts; empty if it counts anything else."""
        return ()

    @abstractmethod
    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        """Return the n-grams, or other keys, that the metric counts in a sequence of tokens, with repetitions.

        Raises
        ------
        UnsupportedError
            If it does not count n-grams, or has several parts.
        """

    def official_keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        """Return the keys that ROUGE-1.5.5 counts; by default those of `keys`."""
        return self.keys(tokens)

    @property
    def coded(self) -> tuple[int, int] | None:
        """Code for kernels: (`NGRAMS`, n), (`SKIPS`, skip) or (`LONGEST`, 0 or 1); None if only `keys` can count."""
        kind, number = vars(type(self)).get("_code", (None, None))
        return None if kind is None else (kind, getattr(self, number) if isinstance(number, str) else number)

    def count(
        self,
        tokens: Sequence[str],
        *,
        distinct: bool = False,
        official: bool = False,
        only: Collection[Gram] | None = None,
    ) -> Counts:
        """Count a sequence of tokens.

        Parameters
        ----------
        tokens : sequence of str
            Tokens of one sentence, or of a whole text joined.
        distinct : bool
            Count everything once however often it occurs (set-based ROUGE).
        official : bool
            Count as ROUGE-1.5.5 does (`official_keys`).
        only : collection of n-grams, optional
            Count only these, which is quicker if few occur.

        Returns
        -------
        Counter
            Occurrences by n-gram.
        """
        keys = self.official_keys(tokens) if official else self.keys(tokens)
        if only is not None:
            keys = filter(only.__contains__, keys)
        # In order of occurrence; the order of a set would differ between processes.
        return Counter(iter(dict.fromkeys(keys)) if distinct else keys)

    def totals(self, summary: Texts, references: Sequence[Texts], tally: Tally) -> list[Totals]:
        """Compare a summary with each of its references, counted as `tally` says.

        Raises
        ------
        UnsupportedError
            If the metric does not support that way of counting.
        """
        counted = partial(self.count, distinct=tally.distinct, official=tally.official)
        of_summary: Counts = Counter()
        for counts in map(counted, [_flat(summary)] if tally.across else summary or [[]]):
            if tally.distinct:
                of_summary |= counts
            else:
                of_summary.update(counts)
        mass = of_summary.total()
        found = []
        for reference in references:
            units = list(map(counted, reference if tally.apart else [_flat(reference)]))
            hits = sum(overlap(unit, of_summary) for unit in units)
            found.append(Totals(hits, sum(unit.total() for unit in units), mass * len(units)))
        return found

    def __str__(self) -> str:
        return self.name


def _flat(sentences: Texts) -> list[str]:
    return list(chain.from_iterable(sentences))


def overlap(left: Counts, right: Counts) -> int:
    return sum([min(left[key], right[key]) for key in left.keys() & right.keys()])


@dataclass(frozen=True)
class LongestSubsequence(Metric):
    """rouge-l: longest common subsequences, sentence by sentence."""

    form: ClassVar[str] = "rouge-l"
    about: ClassVar[str] = "longest common subsequences, sentence by sentence (ROUGE-1.5.5's; rougeLsum of rouge-score)"
    countable: ClassVar[bool] = False
    _code = LONGEST, 0

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        del tokens
        raise UnsupportedError(f"{self} does not count n-grams, so it has no counts; use rouge-N or rouge-suK")

    def totals(self, summary: Texts, references: Sequence[Texts], tally: Tally) -> list[Totals]:
        if tally.distinct:
            raise UnsupportedError(f"{self} has clipped counts only; leave out {self} or counts='set'")
        if tally.apart:
            raise UnsupportedError(f"{self} does not split references; leave out {self} or model_units")
        mass = sum(map(len, summary))
        return [Totals(self._hits(one, summary), sum(map(len, one)), mass) for one in references]

    def _hits(self, reference: Texts, summary: Texts) -> int:
        return union_lcs_hits(reference, summary)


@dataclass(frozen=True)
class WholeSubsequence(LongestSubsequence):
    """rougeL: the longest common subsequence of whole texts."""

    form: ClassVar[str] = "rougeL"
    about: ClassVar[str] = "longest common subsequence of the whole texts (rougeL of rouge-score)"
    _code = LONGEST, 1

    def _hits(self, reference: Texts, summary: Texts) -> int:
        tokens = _flat(reference)
        places, full = _positions(tokens), (1 << len(tokens)) - 1
        flat = full
        for token in _flat(summary):
            both = flat & places.get(token, 0)
            flat = ((flat + both) | (flat - both)) & full
        return len(tokens) - flat.bit_count()


def union_lcs_hits(reference: Iterable[Sequence[str]], summary: Sequence[Sequence[str]]) -> int:
    """Count reference tokens on the union of longest common subsequences with the summary's sentences, clipped."""
    in_summary = Counter(token for sentence in summary for token in sentence)
    masks = [(_positions(sentence), len(sentence)) for sentence in summary]
    hits = 0
    for sentence in reference:
        for position in sorted({place for places, width in masks for place in _trace(sentence, places, width)}):
            token = sentence[position]
            if in_summary[token] > 0:
                in_summary[token] -= 1
                hits += 1
    return hits


def _positions(tokens: Sequence[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for position, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << position
    return places


def _trace(reference: Sequence[str], places: Mapping[str, int], width: int) -> list[int]:
    """Return the positions in `reference`, last first, of a longest common subsequence with a sentence of the summary.

    `places`: token -> its positions in that sentence, as bits. `width`: number of tokens of that sentence.
    """
    # A reference token without a match has the same lengths as the one before it, so the traceback always drops it.
    rows = [(position, places[token]) for position, token in enumerate(reference) if token in places]
    # Bit j is 0 where the length grows from the summary's first j tokens to its first j + 1.
    full = (1 << width) - 1
    flat = full
    history = [flat]
    for _, matches in rows:
        both = flat & matches
        flat = ((flat + both) | (flat - both)) & full
        history.append(flat)

    path: list[int] = []
    row, below = len(rows), full  # `below`: bits of the summary's tokens that are left
    while row and below:
        position, matches = rows[row - 1]
        if matches & (below ^ (below >> 1)):
            path.append(position)
            row -= 1
            below >>= 1
            continue
        here = history[row] & below
        if here == below:
            break  # length 0: nothing is left to find
        if here.bit_count() == (history[row - 1] & below).bit_count():
            row -= 1
        else:
            below >>= 1
    return path


@dataclass(frozen=True)
class NGrams(Metric):
    """rouge-N: `size` tokens next to each other, 1 to 999."""

    size: int
    form: ClassVar[str] = "rouge-N"
    about: ClassVar[str] = "N words next to each other, N from 1 to 999: rouge-1 single words, rouge-2 pairs, ..."
    _code = NGRAMS, "size"
    _named = re.compile(r"rouge-([1-9][0-9]{0,2})", re.ASCII)

    @cached_property
    def name(self) -> str:
        return f"rouge-{self.size}"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.form, self.name if self.size < 3 else "rouge-3+"})

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.size,)

    def keys(self, tokens: Sequence[str]) -> Iterator[Gram]:
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
    _named = re.compile(r"rouge-su(0|[1-9][0-9]{0,2})", re.ASCII)

    @cached_property
    def name(self) -> str:
        return f"rouge-su{self.skip}"

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({self.form} if self.skip else {self.form, "rouge-su0"})

    @property
    def sizes(self) -> tuple[int, ...]:
        return () if self.skip else (1, 2)

    def keys(self, tokens: Sequence[str]) -> Iterator[Gram]:
        return chain(tokens, skip_bigrams(tokens, self.skip))

    def official_keys(self, tokens: Sequence[str]) -> Iterator[Gram]:
        """Leave out the last unigram, as ROUGE-1.5.5 does: its loop over first tokens of pairs ends one too early."""
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
    if max_skip < 0:
        raise OptionError(f"max_skip is {max_skip}: give 0 or more, the tokens that a skip-bigram may leave out")
    distances = range(1, min(max_skip + 2, len(tokens)))
    return chain.from_iterable(zip(tokens, tokens[distance:], strict=False) for distance in distances)


class _Several(Metric):
    """A metric that has parts."""

    def keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        del tokens
        raise UnsupportedError(f"{self} has several parts: count its components one by one")


@dataclass(frozen=True)
class MetricSum(_Several):
    """A sum of metrics, each a separate ratio; its value is their mean."""

    of: tuple[Metric, ...]
    form: ClassVar[str] = SUM
    about: ClassVar[str] = "the mean of several metrics, each a separate ratio: rouge-1+rouge-2"

    @cached_property
    def name(self) -> str:
        return "+".join(part.name for part in self.of)

    @property
    def parts(self) -> tuple[Metric, ...]:
        return self.of


@dataclass(frozen=True)
class GeometricMean(_Several):
    """The geometric mean of the recalls of n-grams of several lengths, Ngram(i, j) of Lin & Hovy 2003, eq. 2."""

    first: int
    last: int
    form: ClassVar[str] = "ngram-I-J"
    about: ClassVar[str] = "the geometric mean of rouge-I to rouge-J, recall, I and J of 1 to 4 (Lin & Hovy 2003)"
    geometric: ClassVar[bool] = True

    @classmethod
    def read(cls, name: str) -> Metric | None:
        if not (match := _MEAN.fullmatch(name)):
            return None
        first, last = map(int, match.groups())
        if first > last:
            raise OptionError(f"the metric {name!r} has its numbers in the wrong order; write ngram-{last}-{first}")
        return NGrams(first) if first == last else cls(first, last)

    @cached_property
    def name(self) -> str:
        return f"ngram-{self.first}-{self.last}"

    @property
    def parts(self) -> tuple[Metric, ...]:
        return tuple(NGrams(size) for size in range(self.first, self.last + 1))


@lru_cache(maxsize=256)
def official_name(name: str) -> str:
    """Return optsum's name of a metric: ``ROUGE-2``, ``rouge2`` and ``R2`` become ``rouge-2``.

    ``rougeLsum`` of the package rouge-score becomes ``rouge-l``; its ``rougeL``, which compares whole texts, is
    unchanged.

    >>> official_name("ROUGE-1+R2"), official_name("rougeLsum"), official_name("rouge-su4")
    ('rouge-1+rouge-2', 'rouge-l', 'rouge-su4')
    """
    parts = name.split("+")
    for at, part in enumerate(parts):
        if part != "rougeL" and (match := _OTHERS.fullmatch(part.strip())):
            kind = match[1].lower()
            parts[at] = f"rouge-{'l' if kind == 'lsum' else kind}"
    return "+".join(parts)


def parse_metric(name: str | Metric) -> Metric:
    """Read the name of a metric.

    Parameters
    ----------
    name : str or Metric
        "rouge-1", "rouge-2", ..., "rouge-su4", "rouge-l", "rougeL", the name of a third party's, or several of them
        joined by "+"; or "ngram-1-4", the geometric mean of rouge-1 to rouge-4 ("ngram-2-2" is rouge-2). A `Metric` is
        returned unchanged.

    Raises
    ------
    UnknownNameError
        For a name of another form; the message lists near names.
    OptionError
        For a sum that names a metric twice, or names a mean; for a mean whose last length is below its first.

    Examples
    --------
    >>> parse_metric("rouge-su4")
    SkipBigrams(skip=4)
    >>> [part.name for part in parse_metric("rouge-1+rouge-2").components]
    ['rouge-1', 'rouge-2']
    """
    if not isinstance(name, str | Metric):
        raise OptionError(f"a metric is a name such as 'rouge-1', or a Metric, not {name!r:.40}")
    return name if isinstance(name, Metric) else _parsed(name)


@of_files  # A user's file may define its metrics anew.
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
        # A third party's class is loaded only for names that begin with its announced form.
        known = form in METRICS.builtin or name == form or name.startswith(f"{form}-")
        if known and (metric := METRICS.load(form).read(name)) is not None:
            return metric
    if is_place(name):
        own = METRICS.load(name)
        if (metric := own.read(own.form)) is None:
            raise OptionError(
                f"The metric {name} does not accept its own name {own.form!r}: its read() must accept it."
            )
        return metric
    plugins = [form for form in METRICS if form not in METRICS.builtin]
    raise unknown_name("metric", name, (*_COMMON, "rouge-N", "rouge-suK", *plugins))


@dataclass(frozen=True, slots=True)
class Score:
    """Recall, precision and F1 of one summary, each between 0 and 1; 0 if the denominator is 0.

    The integers are counts; for metrics of similarity they are 0.
    """

    recall: float
    precision: float
    f1: float
    hits: int  # Matched n-grams (or tokens, for rouge-l), summed over the references that are used.
    reference_total: int  # n-grams of the references that are used.
    summary_total: int  # n-grams of the summary, counted once for each reference that is used.
    # The scores against single references, if this score is their mean (``references_mode="mean"``); otherwise empty.
    averaged: tuple[Score, ...] = ()

    @classmethod
    def from_counts(cls, hits: int, reference_total: int, summary_total: int) -> Score:
        """Return the score of hits / `reference_total` and hits / `summary_total`."""
        recall = hits / reference_total if reference_total else 0.0
        precision = hits / summary_total if summary_total else 0.0
        f1 = 2 * hits / (reference_total + summary_total) if hits else 0.0
        return cls(recall, precision, f1, hits, reference_total, summary_total)

    @classmethod
    def mean(cls, scores: Sequence[Score]) -> Score:
        """Average recall, precision and F1 separately; the integers are sums."""
        sums = [sum(getattr(score, each) for score in scores) for each in get_args(Measure)]
        means = [total / len(scores) if scores else 0.0 for total in sums]
        values: list[Any] = [*means, *_sums(scores), tuple(scores)]
        return cls(*values)

    def exact(self, measure: Measure) -> Fraction:
        """Return recall, precision or F1 as an exact fraction."""
        _check("measure", measure, get_args(Measure))
        if self.averaged:
            return sum((score.exact(measure) for score in self.averaged), Fraction()) / len(self.averaged)
        totals = {"recall": self.reference_total, "precision": self.summary_total}
        both = Fraction(self.reference_total + self.summary_total, 2)
        return Fraction(self.hits) / totals.get(measure, both) if self.hits else Fraction()


def score_row(score: Score) -> dict[str, float]:
    return {"recall": score.recall, "precision": score.precision, "f1": score.f1}


def rouge(
    summary: str | Sequence[Sentence],
    references: Sequence[str | Sequence[Sentence]],
    metric: str | Metric = "rouge-1",
    stem: bool = False,
    stopwords: str | frozenset[str] = "keep",
    max_words: int | None = None,
    *,
    tokenizer: str = "rouge",
    counts: Counting = "clipped",
    references_mode: ReferencesMode = "pooled",
    best_by: Measure = "recall",
    boundaries: Boundaries = "joined",
    last_unigram: bool = False,
    model_units: ModelUnits = "whole",
    stemmer: str | None = None,
) -> Score:
    """Score a summary against its references; by default exactly as ROUGE-1.5.5 does.

    Parameters
    ----------
    summary : str or sequence of sentences
        A sentence is a string, or a tuple of tokens. Only rouge-l depends on the ends of sentences (or every metric
        with ``boundaries="sentence"``).
    references : sequence of texts like `summary`
    metric : str or Metric
        "rouge-1", "rouge-2", ..., "rouge-su4", "rouge-l".
    stem, stopwords, tokenizer
        As in `optsum.text.analyzer.Analyzer`.
    stemmer : {"rouge155", "rouge-score"}, optional
        Stem like ROUGE-1.5.5, which is also the meaning of `stem`, or like the package ``rouge-score``.
    max_words : int, optional
        Cut the summary and every reference after N blank-separated words (at least 1).
    counts : {"clipped", "set"}
        "set" counts each n-gram of a text once.
    references_mode : {"pooled", "mean", "best"}
        Sum of hits / sum of counts; the mean of the scores against each reference; or the score against the
        reference where `best_by` is highest (the first of equals).
    best_by : {"recall", "precision", "f1"}
        What "best" compares. ROUGE-1.5.5 compares recall, the package ``rouge-score`` F1.
    boundaries : {"joined", "sentence"}
        "sentence" forms the summary's n-grams within its sentences, like the objective of some searches; references are
        joined.
    last_unigram : bool
        True adds the last token's unigram to rouge-suK, as in its formula but not in the script.
    model_units : {"whole", "sentences"}
        "sentences" clips every sentence of a reference separately, and pools the sentences (Lin & Hovy 2003, eq. 1, for
        recall). Then no n-gram of a reference crosses a sentence end.

    Returns
    -------
    Score
        All zeros if the summary or the references have no n-gram.

    Raises
    ------
    UnknownNameError
        For a metric, tokenizer or stemmer that does not exist.
    OptionError
        For any other option with an impossible value.
    UnsupportedError
        For a sum of metrics, which has no single recall and precision (`rouge_all` scores its parts), and for
        rouge-l with set counts.
    InputError
        For texts that are neither strings nor sequences of sentences.

    Examples
    --------
    >>> score = rouge(["the cat sat", "on a mat"], [["The cat is on the mat."]], "rouge-1")
    >>> score.hits, score.reference_total, score.summary_total
    (4, 6, 6)
    """
    metric = parse_metric(metric)
    for name, value in (("stem", stem), ("last_unigram", last_unigram)):
        if not isinstance(value, bool):
            raise OptionError(f"{name} is True or False, not {value!r:.40}")
    if metric.parts:
        raise UnsupportedError(f"{metric} has no recall and precision of its own; score its parts with rouge_all")
    return rouge_all(
        summary,
        references,
        (metric,),
        analyzer=Analyzer(
            tokenizer, stem or stemmer is not None, stopwords, "rouge155" if stemmer is None else stemmer
        ),
        max_words=max_words,
        counts=counts,
        references_mode=references_mode,
        best_by=best_by,
        boundaries=boundaries,
        last_unigram=last_unigram,
        model_units=model_units,
    )[metric.name]


def rouge_all(
    summary: str | Sequence[Sentence],
    references: Sequence[str | Sequence[Sentence]],
    metrics: Iterable[str | Metric] = ("rouge-1", "rouge-2", "rouge-l"),
    *,
    references_mode: ReferencesMode = "pooled",
    best_by: Measure = "recall",
    **analysis: Any,
) -> dict[str, Score]:
    """Score a summary by several metrics, tokenizing each text once; a sum or mean is replaced by its parts.

    `**analysis`: an `analyzer`, and options of `rouge` for reading and counting texts.
    """
    _check("references_mode", references_mode, get_args(ReferencesMode))
    _check("best_by", best_by, get_args(Measure))
    read, tally = _reading(**analysis)
    given: Any = references
    if isinstance(given, str):
        raise InputError("references must be a sequence of texts, not one string; put the string into a list")
    if not isinstance(given, Iterable):
        raise InputError(f"references must be a sequence of texts, not {given!r:.40}")
    pieces = read(summary, "the summary")
    others = [read(reference, f"reference {number}") for number, reference in enumerate(references)]
    scores: dict[str, Score] = {}
    for metric in (component for name in metrics for component in parse_metric(name).components):
        if metric.name not in scores:
            single = [Score.from_counts(*totals) for totals in metric.totals(pieces, others, tally)]
            if references_mode == "best" and single:
                scores[metric.name] = max(single, key=lambda score: score.exact(best_by))
            else:
                mean = references_mode == "mean"
                scores[metric.name] = Score.mean(single) if mean else Score.from_counts(*_sums(single))
    return scores


def _reading(
    analyzer: Analyzer = Analyzer(),  # noqa: B008  # frozen
    max_words: int | None = None,
    counts: Counting = "clipped",
    boundaries: Boundaries = "joined",
    last_unigram: bool = False,
    model_units: ModelUnits = "whole",
) -> tuple[Callable[[str | Sequence[Sentence], str], list[list[str]]], Tally]:
    _check("counts", counts, get_args(Counting))
    _check("boundaries", boundaries, get_args(Boundaries))
    _check("model_units", model_units, get_args(ModelUnits))
    if max_words is not None:
        max_words = whole(max_words, "max_words", error=OptionError)
        if max_words < 1:
            raise OptionError(f"max_words must be at least 1, not {max_words}; leave it out to score whole texts")
    tally = Tally(counts == "set", boundaries == "joined", model_units == "sentences", not last_unigram)

    def read(text: str | Sequence[Sentence], where: str) -> list[list[str]]:
        given: object = text  # what callers without a type checker pass
        if not isinstance(given, Sequence) or not all(isinstance(sentence, (str, tuple, list)) for sentence in given):
            raise InputError(
                f"{where} must be a string or a list of sentences (strings or tuples of tokens), not {text!r:.60}"
            )
        sentences: Sequence[Sentence] = [text] if isinstance(text, str) else text
        if max_words is not None:
            sentences = cut_sentences(sentences, max_words)
        return list(map(analyzer.tokens, sentences))

    return read, tally


def _check(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise OptionError(f"{option} must be one of {', '.join(allowed)}, not {value!r}")


def _sums(scores: Sequence[Score]) -> list[int]:
    return [sum(getattr(score, name) for score in scores) for name in ("hits", "reference_total", "summary_total")]


def agreed_reference(
    references: Sequence[str | Sequence[Sentence]],
    metric: str,
    measure: str = "recall",
    check: Callable[[], object] = lambda: None,
    **analysis: Any,
) -> int:
    """Return the index of the reference that agrees best with another one, the first of equals; 0 for a single one.

    Agreement is the score of the other reference, as a summary, against this one (Lin & Hovy 2003, section 5). Scores
    of a sum's parts are added, those of a geometric mean multiplied. `check`: called often, may raise an exception.
    """
    if len(references) < 2:
        return 0
    found = parse_metric(metric)
    read, tally = _reading(**analysis)
    texts = []
    for number, reference in enumerate(references):
        check()
        texts.append(read(reference, f"reference {number}"))

    def scores(part: Metric, summary: Texts) -> Iterator[Fraction]:
        for begin in range(0, len(texts), _AT_ONCE):
            check()
            for totals in part.totals(summary, texts[begin : begin + _AT_ONCE], tally):
                yield Score.from_counts(*totals).exact(cast("Measure", measure))

    def agreements(summary: Texts) -> list[Fraction]:
        parts = [scores(part, summary) for part in found.components]
        combined = prod if found.geometric else sum
        return [combined(values, start=Fraction(found.geometric)) for values in zip(*parts, strict=True)]

    values = [agreements(summary) for summary in texts]
    return max(permutations(range(len(texts)), 2), key=lambda pair: values[pair[1]][pair[0]])[0]


@lru_cache(maxsize=64)
def codes_of(metrics: tuple[Metric, ...]) -> NDArray[Any] | None:
    import numpy as np

    coded = [metric.coded for metric in metrics]
    return None if None in coded else np.array(coded, np.int64).reshape(len(coded), 2)
