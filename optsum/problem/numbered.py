"""From a topic to the normal form by arrays: tokens are numbers, and nothing is counted twice.

What `optsum.problem.counted` and `optsum.problem.objective` say with counters, for n-grams within sentences; the
instances are equal, entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, chain
from operator import or_
from typing import Any

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage, IntArray
from optsum.metrics.metric import Metric
from optsum.metrics.names import parse_metric
from optsum.metrics.official import official_scores
from optsum.metrics.rouge import Score
from optsum.problem.counted import nothing_to_count
from optsum.problem.objective import Ratios, objective_of
from optsum.problem.spec import Spec
from optsum.text.interned import Interned, interned
from optsum.text.lengths import LENGTH_OF

__all__ = ["NumberedTopic"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """Counts of one metric: rows of references, then one for each sentence.

    Attributes
    ----------
    begin, found, copies, totals
        As `optsum.metrics.gram_kernels.count_rows` returns them.
    different : int
        How many n-grams there are.
    groups : rows of each reference
    units : rows of the units
    """

    begin: IntArray
    found: IntArray
    copies: IntArray
    totals: IntArray
    different: int
    groups: Sequence[Sequence[int]]
    units: IntArray
    lost: int = 0

    def total(self, row: int) -> int:
        """Return how many n-grams a row has."""
        return int(self.totals[row])

    @cached_property
    def masses(self) -> IntArray:
        """What each unit adds to the number of n-grams of the summary."""
        return self.totals[self.units]


_ENTRIES = ("found", "copies")


class RowRatios(Ratios):
    """Ratios of components that are `Rows`."""

    def __init__(self, units: int, ratios: int) -> None:
        super().__init__(units, ratios)
        self._components: list[Rows] = []
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
        if rows not in self._components:
            self._components.append(rows)
        first = sum(len(before.begin) for before in self._components[: self._components.index(rows)])
        self._covers.append((first, rows.different, once, len(self._held)))
        self._slots.append(slot)

    def coverage(self, lengths: Sequence[int] | IntArray, weights: tuple[int, ...], **others: Any) -> Coverage:
        """Return the instance."""
        from optsum.problem.cover_kernel import features_of

        first, *more = self._components
        begin, found, copies = first.begin, first.found, first.copies
        if more:
            ends = accumulate(len(rows.found) for rows in self._components)
            begin = np.concatenate([begin, *(rows.begin + end for rows, end in zip(more, ends, strict=False))])
            found, copies = (np.concatenate([getattr(rows, name) for rows in self._components]) for name in _ENTRIES)
        start, feature, count, level_start, level, features = features_of(
            begin,
            found,
            copies,
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
            slot=np.repeat(np.array(self._slots, np.int64), features),
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
        counted = []
        for part in self.metric.components:
            spec.deadline.check()
            rows = self._count(part, start, own)
            if rows is None:
                return None
            counted.append(rows)
        held = [np.count_nonzero(totals[:own]) for _, _, _, totals, _, _ in counted]
        if not any(held) or (self.metric.geometric and not all(held)):
            raise nothing_to_count(self.topic, f"{self.metric} n-gram")
        kept = reduce(or_, (shared[own:] for _, _, _, _, shared, _ in counted))
        if spec.keep_unmatched or spec.min_length > 0:
            kept[:] = True
        if not spec.keep_overlong:
            kept &= lengths <= spec.max_length
        (units,) = kept.nonzero()
        components = [
            Rows(
                begin=begin,
                found=found,
                copies=copies,
                totals=totals,
                different=different,
                groups=groups,
                units=units + own,
            )
            for begin, found, copies, totals, _, different in counted
        ]
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

    def _count(self, part: Metric, start: IntArray, own: int) -> tuple[Any, ...] | None:
        from optsum.metrics.gram_kernels import count_rows

        numbered = part.numbered(self.tokens.ids, start, self.tokens.different)
        if numbered is None:
            return None
        found = count_rows(*numbered, own, self.spec.counts == "set", self.spec.measure == "recall")
        return *found, numbered.different

    def scores(self, chosen: Sequence[int], metrics: Sequence[Metric]) -> dict[str, Score] | None:
        """Return the official scores of chosen sentences, as `optsum.metrics.official.official_scores` does."""
        first = self.references[-1]
        return official_scores(self.tokens, self.references, [first + number for number in chosen], metrics)
