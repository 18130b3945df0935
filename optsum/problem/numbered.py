"""Convert a topic to the normal form by arrays: tokens are numbers, and nothing is counted twice.

`optsum.problem.objective` does the same with counters, one topic at a time. For n-grams within sentences the instances
are identical.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.corpus.topic import Topic
from optsum.coverage.ceilings import CappedUnion, TextSubsequence
from optsum.coverage.instance import Coverage, IntArray, pack
from optsum.metrics.metric import LONGEST, Metric
from optsum.metrics.names import parse_metric
from optsum.metrics.rouge import Score, codes_of
from optsum.problem.objective import Ratios, nothing_to_count, objective_of
from optsum.problem.spec import Spec
from optsum.system.clock import Deadline
from optsum.system.compiled import compiles
from optsum.text.analyzer import Analyzer
from optsum.text.interned import Interned, interned


class Entries(NamedTuple):
    """N-grams of all rows, references first, metric by metric (`kernels.counted`)."""

    begin: IntArray
    found: IntArray
    copies: IntArray
    totals: IntArray
    shared: NDArray[np.bool_]
    kinds: IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Counts of one metric: rows of references, then a row for each sentence."""

    entries: Entries
    metric: int  # Which of its metrics.
    groups: Sequence[Sequence[int]]
    units: IntArray
    lost: ClassVar[int] = 0

    def total(self, row: int) -> int:
        """Return the number of n-grams in a row."""
        return int(self.entries.totals[self.metric, row])

    @property
    def masses(self) -> IntArray:
        """Number of n-grams that each unit adds to the summary."""
        found: IntArray = self.entries.totals[self.metric, self.units]
        return found


class Features(NamedTuple):
    """Features, one for each entry of the units, and their levels."""

    unit: IntArray
    feature: IntArray
    copies: IntArray
    levels: list[list[int]]


@dataclass(frozen=True, eq=False)
class Subsequences:
    """Common subsequences of the units and each reference, which are not counted by rows."""

    tokens: Interned  # The sentences of the references first.
    references: tuple[int, ...]  # As those of `NumberedTopic`.
    whole: bool  # Texts are compared (rougeL), not sentences (rouge-l).
    units: IntArray  # numbers of the units' sentences among those of `tokens`
    # (units, tokens of the references): which positions each unit covers, of rouge-l.
    covered: NDArray[np.uint8] | None
    deadline: Deadline  # asked before each reference
    lost: ClassVar[int] = 0

    @property
    def groups(self) -> list[Sequence[int]]:
        """The references, each clipped separately."""
        return [(reference,) for reference in range(len(self.references) - 1)]

    def total(self, reference: int) -> int:
        """Return the number of tokens in a reference."""
        first, last = self._ends(reference)
        return last - first

    @property
    def masses(self) -> IntArray:
        """The number of tokens that each unit adds to the summary."""
        found: IntArray = np.diff(self.tokens.start)[self.units]
        return found

    def _ends(self, reference: int) -> tuple[int, int]:
        first, last = self.tokens.start[[self.references[reference], self.references[reference + 1]]].tolist()
        return first, last

    def _held(self, first: int, last: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return unit, token and number of copies for all tokens of units at some positions of the references."""
        ids, different = self.tokens.ids, self.tokens.different
        known = np.zeros(different, np.bool_)
        known[ids[first:last]] = True
        lengths = self.masses
        starts = self.tokens.start[self.units]
        place = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        token, unit = ids[place], np.repeat(np.arange(len(lengths)), lengths)
        keys, copies = np.unique((unit * different + token)[known[token]], return_counts=True)
        return keys // different, keys % different, copies

    def ceiling(
        self, slot: int, reference: int, gain: int, feature: int
    ) -> tuple[CappedUnion | TextSubsequence, Features]:
        """Return the ceiling of the hits in a reference, and its features, numbered from `feature`."""
        self.deadline.check()
        first, last = self._ends(reference)
        made = self._of_texts if self.whole else self._of_sentences
        return made(slot, gain, feature, first, last, reference)

    def _of_texts(
        self, slot: int, gain: int, feature: int, first: int, last: int, reference: int
    ) -> tuple[CappedUnion | TextSubsequence, Features]:
        del reference
        ids, start = self.tokens.ids, self.tokens.start
        unit, token, copies = self._held(first, last)
        most = np.bincount(ids[first:last], minlength=self.tokens.different)
        different, number = np.unique(token, return_inverse=True)
        held = set(ids[first:last].tolist())
        texts = [
            tuple(one for one in ids[start[sentence] : start[sentence + 1]].tolist() if one in held)
            for sentence in self.units.tolist()
        ]
        ceiling = TextSubsequence(
            slot=slot,
            gain=gain,
            first=feature,
            last=feature + len(different),
            mass=np.zeros(len(self.units), np.int64),
            reference=tuple(ids[first:last].tolist()),
            units=tuple(texts),
            above=gain,
        )
        levels = [[gain * copy for copy in range(most[one] + 1)] for one in different.tolist()]
        return ceiling, Features(unit, number.reshape(-1) + feature, copies, levels)

    def _of_sentences(
        self, slot: int, gain: int, feature: int, first: int, last: int, reference: int
    ) -> tuple[CappedUnion | TextSubsequence, Features]:
        assert self.covered is not None  # noqa: S101 - of rouge-l there always is
        covered = self.covered[:, first:last]
        positions = np.flatnonzero(covered.any(axis=0))
        unit, number = covered[:, positions].nonzero()
        packed = np.packbits(covered, axis=1, bitorder="little")
        ceiling = CappedUnion(
            slot=slot,
            gain=gain,
            first=feature,
            last=feature + len(positions),
            mass=np.zeros(len(self.units), np.int64),
            covered=tuple(int.from_bytes(row.tobytes(), "little") for row in packed),
        ).capped(self._groups(first, last, reference, positions))
        return ceiling, Features(unit, number + feature, np.ones(len(unit), np.int64), [[0, gain]] * len(positions))

    def _groups(
        self, first: int, last: int, reference: int, positions: IntArray
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the tokens of several sentences of a reference; a copy may cover a position in each of them."""
        ids = self.tokens.ids[first:last].tolist()
        bounds = self.tokens.start[self.references[reference] : self.references[reference + 1] + 1] - first
        sentence = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)).tolist()
        places: dict[int, list[int]] = {}
        for position in positions.tolist():
            places.setdefault(ids[position], []).append(position)
        capped = {token: found for token, found in places.items() if sentence[found[0]] != sentence[found[-1]]}
        if not capped:
            return
        unit, token, copies = self._held(first, last)
        for one, found in capped.items():
            row = np.zeros(len(self.units), np.int64)
            row[unit[token == one]] = copies[token == one]
            yield sum(1 << position for position in found), tuple(row.tolist())


class RowRatios(Ratios):
    """Ratios of components that are `Rows` or `Subsequences`."""

    def __init__(self, units: int, ratios: int) -> None:
        super().__init__(units, ratios)
        self._parts: list[Rows] = []
        self._slots: list[int] = []
        self._covers: list[tuple[int, int, int, int]] = []
        self._held: list[int] = []
        self._weights: list[int] = []
        self._longest: list[tuple[int, Subsequences, int, int]] = []

    def cover(
        self, slot: int, part: int, references: Sequence[int], weights: Sequence[int], component: Rows | Subsequences
    ) -> None:
        """Add the n-grams, or common subsequences, of some references to a total."""
        del part
        if isinstance(component, Subsequences):
            pairs = zip(references, weights, strict=True)
            self._longest += [(slot, component, reference, weight) for reference, weight in pairs]
            return
        self._add(slot, component, 0)
        self._held += references
        self._weights += weights

    def cover_all(self, slot: int, part: int, gain: int, component: Rows) -> None:
        """Add every n-gram of the units to a total, counted once."""
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
        none = np.zeros(0, np.int64)
        entries = np.zeros(len(lengths) + 1, np.int64), none, none, np.zeros(1, np.int64), none
        features: IntArray | int = 0
        if self._parts:
            from optsum.problem.cover_kernel import features_of

            first = self._parts[0]  # the others are of the same entries
            *entries, features = features_of(
                first.entries.begin,
                first.entries.found,
                first.entries.copies,
                np.array([*self._covers, (0, 0, 0, len(self._held))], np.int64),
                np.array(self._held, np.int64),
                np.array(self._weights, np.int64),
                first.units,
            )
        start, feature, count, level_start, level = entries
        plain = Coverage.trusted(
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
        return self._with_ceilings(plain) if self._longest else plain

    def _with_ceilings(self, plain: Coverage) -> Coverage:
        """Return an instance with the common subsequences, and the features that bound them."""
        ceilings: list[CappedUnion | TextSubsequence] = []
        added: list[Features] = []
        slots = [plain.slot]
        feature = plain.features
        for slot, component, reference, gain in self._longest:
            ceiling, features = component.ceiling(slot, reference, gain, feature)
            ceilings.append(ceiling)
            added.append(features)
            slots.append(np.full(len(features.levels), slot, np.int64))
            feature += len(features.levels)
        unit = np.concatenate(
            [np.repeat(np.arange(plain.size), np.diff(plain.unit_start)), *(one.unit for one in added)]
        )
        order = np.argsort(unit, kind="stable")
        start, level = pack([row for one in added for row in one.levels])
        return plain.changed(
            unit_start=np.searchsorted(unit[order], np.arange(plain.size + 1)).astype(np.int64),
            unit_feature=np.concatenate([plain.unit_feature, *(one.feature for one in added)])[order],
            unit_count=np.concatenate([plain.unit_count, *(one.copies for one in added)])[order],
            level_start=np.concatenate([plain.level_start, start[1:] + len(plain.level)]),
            level=np.concatenate([plain.level, level]),
            slot=np.concatenate(slots),
            ceilings=tuple(ceilings),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberedTopic:
    """The tokens of a topic: those of its references in turn, then those of its sentences."""

    topic: Topic
    spec: Spec
    metric: Metric
    tokens: Interned
    # The number of each reference's first sentence among all, and that of the first sentence to extract.
    references: tuple[int, ...]

    @classmethod
    def of(cls, topic: Topic, spec: Spec) -> NumberedTopic:
        """Read a topic."""
        spec.deadline.check()
        sentences = (*chain.from_iterable(topic.references), *topic.sentences)
        return cls(
            topic=topic,
            spec=spec,
            metric=parse_metric(spec.metric),
            tokens=interned(spec.analyzer, sentences, spec.deadline),
            references=(0, *accumulate(map(len, topic.references))),
        )

    def coverage(self) -> tuple[Coverage, IntArray] | None:
        """Return the normal form, and the sentence numbers of its units.

        A sentence is a unit if it has an n-gram of some reference and is not too long, or if it is kept by
        `Spec.keep_unmatched`, `Spec.keep_overlong` or a minimum length.
        """
        spec = self.spec
        if spec.length_unit == "words":
            lengths = self.tokens.words[self.references[-1] :]
        else:
            lengths = np.array(spec.lengths_of(self.topic), np.int64)
        bounds = self.tokens.start[: self.references[-1] + 1]
        if spec.model_units == "whole":
            bounds = bounds[list(self.references)]
            groups: list[Sequence[int]] = [(row,) for row in range(len(self.references) - 1)]
        else:
            groups = [range(first, self.references[k + 1]) for k, first in enumerate(self.references[:-1])]
        own = len(bounds) - 1
        start = np.concatenate([bounds, self.tokens.start[self.references[-1] + 1 :]])
        coded = codes_of(self.metric.components)
        if coded is None:
            return None
        spec.deadline.check()
        from optsum.metrics.kernels import counted

        distinct, only = spec.counts == "set", spec.measure == "recall"
        entries = Entries(*counted(self.tokens.ids, start, self.tokens.different, coded, own, distinct, only))
        some = [any(row) for row in entries.totals[:, :own].tolist()]  # whether a metric has anything to count
        if not any(some) or (self.metric.geometric and not all(some)):
            tokens = all(kind == LONGEST for kind, _ in coded.tolist())
            raise nothing_to_count(self.topic, "token" if tokens else f"{self.metric} n-gram")
        kept = entries.shared[own:] | (spec.keep_unmatched or spec.min_length > 0)
        if not spec.keep_overlong:
            kept &= lengths <= spec.max_length
        (units,) = kept.nonzero()
        rows = units + own
        components = [
            self._subsequences(units, whole=bool(which)) if kind == LONGEST else Rows(entries, metric, groups, rows)
            for metric, (kind, which) in enumerate(coded.tolist())
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

    def _subsequences(self, units: IntArray, *, whole: bool) -> Subsequences:
        covered = None
        if not whole:
            from optsum.metrics.kernels import covered_positions

            tokens = self.tokens
            covered = covered_positions(tokens.ids, tokens.start, self.references[-1], tokens.different)[units]
        return Subsequences(
            self.tokens, self.references, whole, units + self.references[-1], covered, self.spec.deadline
        )


def official_scores(
    found: Interned, references: Sequence[int], chosen: Sequence[int], metrics: Sequence[Metric]
) -> dict[str, Score] | None:
    """Score a selection of sentences by several metrics against the pooled references; None if a metric needs tokens.

    `found`: the sentences of one reference after another, then those of the documents. `references`: the first sentence
    of each reference, and the end of the last one. `chosen`: numbers of the sentences of the summary, in order, from 0
    for the first sentence of the documents.
    """
    codes = codes_of(tuple(metrics))
    if codes is None:
        return None
    from optsum.metrics.kernels import official_hits

    texts, summary = np.array(references, np.int64), np.array(chosen, np.int64) + references[-1]
    counts = official_hits(found.ids, found.start, texts, summary, found.different, codes).tolist()
    many = len(references) - 1
    return {
        metric.name: Score.from_counts(hits, total, mass * many)
        for metric, (hits, total, mass) in zip(metrics, counts, strict=True)
    }


def _tiny(metric: str) -> NumberedTopic:
    topic = Topic("tiny", (("a b c", "b c"),), (("a b",),))
    return NumberedTopic.of(topic, Spec(analyzer=Analyzer("tokens"), metric=metric))


@compiles
def prepare_counts() -> None:
    """Compile the kernels that make a problem from a text."""
    _tiny("rouge-2").coverage()


@compiles
def prepare_scores() -> None:
    """Compile the kernels that score an answer."""
    tiny = _tiny("rouge-1")
    official_scores(tiny.tokens, tiny.references, (0, 1), [parse_metric("rouge-1"), parse_metric("rouge-l")])


def prepare_text() -> None:
    """Compile the kernels that make a problem from a text and score an answer."""
    prepare_counts()
    prepare_scores()


MEASURES: Final = ("recall", "precision", "f1")


class _Tokens(NamedTuple):
    ids: IntArray
    start: IntArray
    words: IntArray
    different: IntArray
    sentences: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Extracts:
    """Topics with the same specification, for n-grams within sentences and at most one rouge-l.

    Attributes
    ----------
    tokens : arrays, as `optsum.text.interned.interned_texts` returns them
        For each topic the sentences of the references in turn, then those to extract.
    bounds, first_bound : arrays
        For each topic, the first sentence of each reference and the first sentence to extract; where those of each
        topic begin, and where the last ones end.
    coded, scored : (metrics, 2)
        `optsum.metrics.metric.Metric.coded` of the metrics in the objective, and of those that score answers.
    form : (9,)
        Maximum and minimum length; whether lengths are in words, not sentences; the measure's place in `MEASURES`;
        whether n-grams count once, references are averaged, and sentences without n-grams of references, or too long
        ones, are units; whether each sentence of a reference is clipped by itself.
    """

    tokens: _Tokens
    bounds: IntArray
    first_bound: IntArray
    coded: IntArray
    scored: IntArray
    form: IntArray


class Proven(NamedTuple):
    """Optima of several topics, one row for each.

    Attributes
    ----------
    found : (topics, 3)
        Number of sentences (-1 if no optimum was proven), their length, and the nodes of the search.
    chosen : (topics, most)
        The numbers of the sentences, ascending.
    totals : (topics, 4)
        Numerator and denominator of each ratio, of those that `Coverage.merged` leaves; then zeros.
    scores : (topics, metrics, 3)
        Hits, and counts of the references and of the summary, for each metric in `Extracts.scored`.
    ran : str or None
        The strategy that searched, if another delegated to it.
    """

    found: IntArray
    chosen: IntArray
    totals: IntArray
    scores: IntArray
    ran: str | None = None


def extracts_of(
    tokens: Iterable[IntArray], references: Iterable[Sequence[int]], coded: IntArray, scored: IntArray, spec: Spec
) -> Extracts:
    """Return topics as `Extracts`, from their tokens and the sentence numbers of each one's references."""
    unmatched = spec.keep_unmatched or spec.min_length > 0
    in_words, measure = spec.length_unit == "words", MEASURES.index(spec.measure)
    distinct, mean = spec.counts == "set", spec.references == "mean"
    limits, apart = (spec.max_length, spec.min_length), spec.model_units == "sentences"
    form = np.array([*limits, in_words, measure, distinct, mean, unmatched, spec.keep_overlong, apart], np.int64)
    bounds: list[int] = []
    first = [0]
    for sizes in references:
        bounds += accumulate(sizes, initial=0)
        first.append(len(bounds))
    return Extracts(
        tokens=_Tokens(*tokens),
        bounds=np.array(bounds, np.int64),
        first_bound=np.array(first, np.int64),
        coded=coded,
        scored=scored,
        form=form,
    )


NO_SCORES: Final[NDArray[np.int64]] = np.empty((0, 2), np.int64)
"""`Extracts.scored` for callers without scores."""
