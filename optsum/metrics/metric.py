"""The contract of a metric: the units that it counts in a text, and its comparison of two texts.

A metric is one class. A third party's needs only `keys`; the entry-point group ``optsum.metrics`` makes it known by its
name, on the command line too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import ClassVar, NamedTuple, TypeAlias

Gram: TypeAlias = str | tuple[str, ...]
"""An n-gram: a unigram is its token, everything longer is a tuple, so a unigram never equals a skip-bigram."""

Counts: TypeAlias = Counter[Gram]

Texts: TypeAlias = Sequence[Sequence[str]]  # The tokens of each sentence of a text.


class Tally(NamedTuple):
    """How finished text is counted."""

    distinct: bool = False  # Each n-gram of a text counts once, however often it occurs.
    across: bool = True  # The summary's sentences are joined before n-grams are formed, as ROUGE-1.5.5 does.
    # Each sentence of a reference is clipped by itself, and those of a reference are pooled (Lin & Hovy 2003).
    apart: bool = False
    official: bool = True  # Count what ROUGE-1.5.5 counts where that differs from the formula (`Metric.official_keys`).


NGRAMS, SKIPS, LONGEST = range(3)
"""First numbers of `Metric.coded`: n-grams, skip-bigrams, common subsequences (0 of sentences, 1 of texts)."""


class Totals(NamedTuple):
    """The parts of recall and precision: hits, and the counts of the reference and of the summary."""

    hits: int
    reference: int
    summary: int


class Metric(ABC):
    """A count of units in texts, made from its name by `optsum.metrics.names.parse_metric`; a frozen dataclass.

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
    _code: ClassVar[tuple[int, int | str]]  # Of `coded`; not inherited, as derived classes count something else.

    @classmethod
    def read(cls, name: str) -> Metric | None:
        """Return the metric of a name, or None if the name is of another form."""
        return cls() if name == cls.form else None

    @cached_property
    def name(self) -> str:
        """The name that `read` reads back."""
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
        """Return the counted keys of a sequence of tokens, with repetitions.

        Raises
        ------
        UnsupportedError
            If it does not count n-grams, or has several parts.
        """

    def official_keys(self, tokens: Sequence[str]) -> Iterable[Gram]:
        """Return the keys that ROUGE-1.5.5 counts, if they differ."""
        return self.keys(tokens)

    @property
    def coded(self) -> tuple[int, int] | None:
        """The code for kernels: `NGRAMS` and n, `SKIPS` and the skip, `LONGEST`; None if only `keys` can count."""
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
        # In the order in which they occur: a set's would be another in each process.
        return Counter(iter(dict.fromkeys(keys)) if distinct else keys)

    def totals(self, summary: Texts, references: Sequence[Texts], tally: Tally) -> list[Totals]:
        """Compare a summary with each of its references.

        Raises
        ------
        UnsupportedError
            If the metric does not support that way of counting.
        """

        def counted(tokens: Sequence[str]) -> Counts:
            return self.count(tokens, distinct=tally.distinct, official=tally.official)

        first, *others = [_flat(summary)] if tally.across else summary or [[]]
        of_summary = counted(first)
        for tokens in others:
            if tally.distinct:
                of_summary |= counted(tokens)
            else:
                of_summary.update(counted(tokens))
        mass = of_summary.total()
        found = []
        for reference in references:
            units = [counted(tokens) for tokens in (reference if tally.apart else [_flat(reference)])]
            hits = sum(overlap(unit, of_summary) for unit in units)
            found.append(Totals(hits, sum(unit.total() for unit in units), mass * len(units)))
        return found

    def __str__(self) -> str:
        return self.name


def _flat(sentences: Texts) -> list[str]:
    return list(chain.from_iterable(sentences))


def overlap(left: Counts, right: Counts) -> int:
    """Sum min(count in `left`, count in `right`) over all n-grams: the clipped hits."""
    return sum([min(left[key], right[key]) for key in left.keys() & right.keys()])
