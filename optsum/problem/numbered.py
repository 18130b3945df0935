"""From a topic to the normal form by arrays: tokens are numbers, and nothing is counted twice.

What `optsum.problem.counted` and `optsum.problem.objective` say with counters, for n-grams within sentences; the
instances are equal, entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage, IntArray
from optsum.metrics.metric import Metric
from optsum.metrics.names import parse_metric
from optsum.metrics.official import codes_of, official_scores
from optsum.metrics.rouge import Score
from optsum.problem.counted import nothing_to_count
from optsum.problem.objective import Ratios, objective_of
from optsum.problem.spec import Spec
from optsum.text.interned import Interned, interned
from optsum.text.lengths import LENGTH_OF


class Entries(NamedTuple):
    """N-grams of all rows, references first, metric by metric (`gram_kernels.counted`)."""

    begin: IntArray
    found: IntArray
    copies: IntArray
    totals: IntArray
    shared: NDArray[np.bool_]
    kinds: IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Counts of one metric: rows of references, then one for each sentence.

    Attributes
    ----------
    entries : Entries
    metric : int
        Which of its metrics.
    groups : rows of each reference
    units : rows of the units
    """

    entries: Entries
    metric: int
    groups: Sequence[Sequence[int]]
    units: IntArray
    lost: ClassVar[int] = 0

    def total(self, row: int) -> int:
        """Return how many n-grams a row has."""
        return int(self.entries.totals[self.metric, row])

    @property
    def masses(self) -> IntArray:
        """Number of n-grams that each unit adds to the summary."""
        found: IntArray = self.entries.totals[self.metric, self.units]
        return found


class RowRatios(Ratios):
    """Ratios of components that are `Rows`."""

    def __init__(self, units: int, ratios: int) -> None:
        super().__init__(units, ratios)
        self._parts: list[Rows] = []
        self._slots: list[int] = []
        self._covers: list[tuple[int, int, int, int]] = []
        self._held: list[int] = []
        self._weights: list[int] = []

    def cover(self, slot: int, part: int, references: Sequence[int], weights: Sequence[int], component: Rows) -> None:
        """Let the n-grams of some references feed a total."""
        del part
        self._add(slot, component, 0)
        self._held += references
        self._weights += weights

    def cover_all(self, slot: int, part: int, gain: int, component: Rows) -> None:
        """Let every n-gram of the units feed a total, once."""
        del part
        self._add(slot, component, gain)

    def _add(self, slot: int, rows: Rows, once: int) -> None:
        self._parts.append(rows)
        _, _, _, totals, _, kinds = rows.entries
        first = rows.metric * (totals.shape[1] + 1)
        self._covers.append((first, int(kinds[rows.metric]), once, len(self._held)))
        self._slots.append(slot)

    def coverage(self, lengths: Sequence[int] | IntArray, weights: tuple[int, ...], **others: Any) -> Coverage:
        """Return the instance."""
        from optsum.problem.cover_kernel import features_of

        first = self._parts[0]  # the others are of the same entries
        entries = first.entries
        start, feature, count, level_start, level, features = features_of(
            entries.begin,
            entries.found,
            entries.copies,
            np.array([*self._covers, (0, 0, 0, len(self._held))], np.int64),
            np.array(self._held, np.int64),
            np.array(self._weights, np.int64),
            first.units,
        )
        return Coverage.trusted(
            lengths=np.asarray(lengths, np.int64),
            unit_start=start,
            unit_feature=feature,
            unit_count=count,
            level_start=level_start,
            level=level,
            slot=np.array(self._slots, np.int64).repeat(features),
            **self.given(weights),
            **others,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberedTopic:
    """The tokens of a topic: those of its references, one after another, then those of its sentences.

    Attributes
    ----------
    topic : Topic
    spec : Spec
    metric : Metric
    tokens : Interned
    references : tuple of int
        The number of each reference's first sentence among all, and that of the first sentence to extract.
    """

    topic: Topic
    spec: Spec
    metric: Metric
    tokens: Interned
    references: tuple[int, ...]

    @classmethod
    def of(cls, topic: Topic, spec: Spec) -> NumberedTopic:
        """Read a topic.

        Raises
        ------
        TimeOver
            If it takes longer than the deadline of the specification allows.
        """
        spec.deadline.check()
        sentences = (*chain.from_iterable(topic.references), *topic.sentences)
        return cls(
            topic=topic,
            spec=spec,
            metric=parse_metric(spec.metric),
            tokens=interned(spec.analyzer, sentences, spec.deadline),
            references=(0, *accumulate(map(len, topic.references))),
        )

    @property
    def simple(self) -> bool:
        """Whether the objective is the pooled recall of one metric, as papers print it."""
        return self.spec.measure == "recall" and self.spec.references == "pooled" and not self.metric.parts

    @property
    def lengths(self) -> IntArray:
        """Length of each sentence, in the unit of the limits."""
        if self.spec.length_unit == "words":
            return self.tokens.words[self.references[-1] :]
        sentences = self.topic.sentences
        if self.spec.length_unit == "sentences":
            return np.ones(len(sentences), np.int64)
        return np.fromiter(map(LENGTH_OF[self.spec.length_unit], sentences), np.int64, len(sentences))

    def coverage(self) -> tuple[Coverage, IntArray] | None:
        """Return the normal form, and the numbers of the sentences that are its units.

        A sentence is one if it has an n-gram of some reference and is not too long, or is kept all the same
        (`Spec.keep_unmatched`, `Spec.keep_overlong`, a minimum length).

        Returns
        -------
        instance, units, or None
            None if a metric is not made of n-grams by number.

        Raises
        ------
        InputError
            If the references have nothing to count.
        """
        spec, lengths = self.spec, self.lengths
        bounds = self.tokens.start[: self.references[-1] + 1]
        if spec.model_units == "whole":
            bounds = bounds[list(self.references)]
            groups: list[Sequence[int]] = [(row,) for row in range(len(self.references) - 1)]
        else:
            groups = [range(first, self.references[k + 1]) for k, first in enumerate(self.references[:-1])]
        own = len(bounds) - 1
        start = np.concatenate([bounds, self.tokens.start[self.references[-1] + 1 :]])
        codes = codes_of(self.metric.components, longest=False)
        if codes is None:
            return None
        spec.deadline.check()
        from optsum.metrics.gram_kernels import counted

        distinct, only = spec.counts == "set", spec.measure == "recall"
        entries = Entries(*counted(self.tokens.ids, start, self.tokens.different, codes, own, distinct, only))
        some = [any(row) for row in entries.totals[:, :own].tolist()]  # whether a metric has anything to count
        if not any(some) or (self.metric.geometric and not all(some)):
            raise nothing_to_count(self.topic, f"{self.metric} n-gram")
        kept = entries.shared[own:]
        if spec.keep_unmatched or spec.min_length > 0:
            kept[:] = True
        if not spec.keep_overlong:
            kept &= lengths <= spec.max_length
        (units,) = kept.nonzero()
        rows = units + own
        components = [Rows(entries, part, groups, rows) for part in range(len(codes))]
        objective, weights = objective_of(
            components,
            spec.measure,
            mean=spec.references == "mean",
            distinct=spec.counts == "set",
            product=self.metric.geometric,
            made=RowRatios,
        )
        limits = {"min_length": spec.min_length, "max_length": spec.max_length}
        return objective.coverage(lengths[units], weights, **limits), units

    def scores(self, chosen: Sequence[int], metrics: Sequence[Metric]) -> dict[str, Score] | None:
        """Return the official scores of chosen sentences, as `optsum.metrics.official.official_scores` does."""
        first = self.references[-1]
        return official_scores(self.tokens, self.references, [first + number for number in chosen], metrics)
