r"""Convert a metric, a measure, a way of counting and references to ratios of the normal form.

Reference k of K has :math:`T_k` clipped hits and :math:`D_k` n-grams, and the summary has :math:`M` n-grams:

=========== ================================== ======================================================
measure     pooled references                  mean over references
=========== ================================== ======================================================
recall      :math:`\sum_k T_k / \sum_k D_k`    mean of :math:`T_k / D_k`
precision   :math:`\sum_k T_k / (K M)`         mean of :math:`T_k / M`
F1          :math:`2 \sum_k T_k / (\sum_k D_k  mean of :math:`2 T_k / (D_k + M)`
            + K M)`
=========== ================================== ======================================================

A sum of metrics is the mean of their values. Constant denominators (recall) give one ratio over their least common
multiple, so that one integer is compared; other values are sums of ratios. A geometric mean of metrics (Ngram(i, j) of
Lin & Hovy 2003, eq. 2) is a product of ratios.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, pairwise
from math import lcm
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.corpus.topic import Topic
from optsum.coverage.ceilings import CappedUnion, TextSubsequence
from optsum.coverage.instance import Combination, Coverage, IntArray, Joint, grouped, pack, packed_rows
from optsum.errors import InputError
from optsum.metrics.rouge import LONGEST, Counts, Gram, Metric, Score, codes_of, parse_metric
from optsum.problem.formulation import ASPECTS, Spec, Task
from optsum.problem.problem import Selection
from optsum.system.clock import Deadline
from optsum.system.compiled import compiles, njit
from optsum.text.analyzer import LENGTH_OF, Analyzer, Sentence
from optsum.text.interned import Interned, interned
from optsum.whole import LARGEST_DENOMINATOR


class Component(NamedTuple):
    """The counts of one component of a metric in each unit."""

    part: int  # The index of the component in `Metric.components`.
    units: Sequence[Counts]  # One counter for each unit; in set-based ROUGE every count is 1.
    masses: Sequence[int]  # The number of n-grams that each unit adds to the summary.
    lost: int = 0  # The excess of the summed masses over the number of n-grams in a summary that is not empty.
    # N-grams across units: n-gram, units that must be chosen, units that must not be chosen, number of copies.
    joints: Sequence[tuple[Gram, tuple[int, ...], Sequence[int], int]] = ()


def nothing_to_count(topic: Topic, what: str) -> InputError:
    return InputError(
        f"The references of topic {topic.id!r} have no {what} to count, so nothing can be optimized: "
        "give it a reference with text, or another tokenizer."
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted:
    """The counted references of a topic.

    Attributes
    ----------
    spec : Spec
    metric : Metric
    model_units : for each component of the metric and each reference, a counter for each separately clipped part
    wanted : for each component, the set of the n-grams of all references
    """

    spec: Spec
    metric: Metric
    model_units: Sequence[Sequence[Sequence[Counts]]]
    wanted: Sequence[frozenset[Gram]]

    @classmethod
    def of(cls, topic: Topic, spec: Spec) -> Counted:
        """Count the references of a topic.

        Raises
        ------
        InputError
            If they have no n-gram; for a geometric mean, if they have none of some component.
        """
        metric = parse_metric(spec.metric)
        texts = [
            [spec.analyzer.tokens(sentence) for sentence in reference]
            if spec.model_units == "sentences"
            else [spec.analyzer.joined_tokens(reference)]
            for reference in topic.references
        ]
        distinct = spec.counts == "set"
        groups = [
            [[part.count(text, distinct=distinct) for text in units] for units in texts] for part in metric.components
        ]
        wanted = [frozenset().union(*(counts for units in part for counts in units)) for part in groups]
        if not any(wanted) or (metric.geometric and not all(wanted)):
            raise nothing_to_count(topic, f"{metric} n-gram")
        return cls(spec=spec, metric=metric, model_units=groups, wanted=wanted)

    @property
    def distinct(self) -> bool:
        """Whether an n-gram counts only once."""
        return self.spec.counts == "set"

    @property
    def simple(self) -> bool:
        """Whether the objective is the pooled recall of one metric, as usual in papers."""
        return self.spec.measure == "recall" and self.spec.references == "pooled" and len(self.wanted) == 1

    def references(self, part: int) -> list[Counts]:
        """Return the counters of a component, one for each separately clipped text of the references."""
        return [counts for units in self.model_units[part] for counts in units]

    def units(self, part: int, texts: Sequence[Sequence[str]]) -> list[Counts]:
        """Count the n-grams of a component in the tokens of each unit; for recall, only n-grams of references."""
        only = self.wanted[part] if self.spec.measure == "recall" else None  # other denominators need all n-grams
        metric = self.metric.components[part]
        return [
            metric.count(tokens, distinct=self.distinct, only=only) for tokens in self.spec.deadline.watching(texts)
        ]

    def component(
        self, part: int, units: Sequence[Counts], masses: Sequence[int] | None = None, **others: Any
    ) -> Component:
        """Return a component of the objective, with one counter for each unit.

        `masses`: number of n-grams that each unit adds to the summary; by default all n-grams counted in it. `others`:
        further fields of `Component`.
        """
        return Component(part, units, [counts.total() for counts in units] if masses is None else masses, **others)

    def coverage(self, components: Sequence[Component], lengths: Sequence[int], **others: Any) -> Coverage:
        """Return the normal form of components, with the length limits; `others`: further fields of `Coverage`."""
        begin, found, copies, kinds = [], list[int](), list[int](), list[int]()
        across = [joint for component in components for joint in component.joints]
        held = [0, *accumulate(len(component.joints) for component in components)]
        for place, component in enumerate(components):
            number: dict[Gram, int] = {}
            own: list[Mapping[Gram, int]] = [{}] * len(across)
            own[held[place] : held[place + 1]] = [{gram: many} for gram, _, _, many in component.joints]
            for counts in self.spec.deadline.watching([*self.references(component.part), *own, *component.units]):
                begin.append(len(found))
                found += [number.setdefault(gram, len(number)) for gram in counts]
                copies += counts.values()
            begin.append(len(found))
            kinds.append(len(number))
        bounds = list(accumulate(map(len, self.model_units[0]), initial=0))
        entries = Entries(
            np.array(begin, np.int64),
            np.array(found, np.int64),
            np.array(copies, np.int64),
            np.array([[one.total() for one in self.references(each.part)] for each in components], np.int64),
            np.zeros(0, np.bool_),
            np.array(kinds, np.int64),
            [(needs, vetoes) for _, needs, vetoes, _ in across],
        )
        groups = [range(first, last) for first, last in pairwise(bounds)]
        units = np.arange(len(components[0].units)) + bounds[-1] + len(across)
        rows = [Rows(entries, place, groups, units, one.masses, one.lost) for place, one in enumerate(components)]
        return coverage_of(rows, self.spec, self.metric, lengths, Coverage, **others)

    def of_sentences(self, sentences: Sequence[Sentence]) -> Coverage:
        """Return the normal form whose units are sentences, with n-grams within sentences."""
        texts = [self.spec.analyzer.tokens(sentence) for sentence in sentences]
        components = [self.component(part, self.units(part, texts)) for part in range(len(self.wanted))]
        return self.coverage(components, list(map(self.spec.length_of, sentences)))


# Below is the same on arrays, with tokens as numbers. For n-grams within sentences it gives the same instances.


class Entries(NamedTuple):
    """The n-grams of all texts, each a row, references first, metric by metric (`optsum.metrics.kernels.counted`)."""

    begin: IntArray
    found: IntArray
    copies: IntArray
    totals: IntArray
    shared: NDArray[np.bool_]
    kinds: IntArray
    # For each n-gram across units, its needed and its vetoing units. Rows of these n-grams precede the rows of units.
    joints: Sequence[tuple[tuple[int, ...], Sequence[int]]] = ()


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one metric in `entries`: the rows of each reference, and a row for each unit."""

    entries: Entries
    metric: int  # The number of the metric in `entries`.
    groups: Sequence[Sequence[int]]  # The rows of each reference, which are clipped separately.
    units: IntArray  # The row of each unit.
    masses: Sequence[int] | IntArray  # Number of n-grams that each unit adds to the summary.
    lost: int = 0  # As in `Component`.

    def total(self, row: int) -> int:
        return int(self.entries.totals[self.metric, row])


@dataclass(frozen=True, eq=False)
class Subsequences:
    """Common subsequences of the units and each reference, the counterpart of `Rows` for rouge-l and rougeL."""

    tokens: Interned  # The sentences of the references first.
    references: tuple[int, ...]  # As in `NumberedTopic`.
    whole: bool  # Whether whole texts are compared (rougeL), not sentences (rouge-l).
    units: IntArray  # The number of each unit's sentence in `tokens`.
    deadline: Deadline  # Checked before each reference.
    lost: ClassVar[int] = 0

    @property
    def groups(self) -> list[Sequence[int]]:
        return [(reference,) for reference in range(len(self.references) - 1)]

    def total(self, reference: int) -> int:
        first, last = self._ends(reference)
        return last - first

    @property
    def masses(self) -> IntArray:
        found: IntArray = np.diff(self.tokens.start)[self.units]
        return found

    def _ends(self, reference: int) -> tuple[int, int]:
        first, last = self.tokens.start[[self.references[reference], self.references[reference + 1]]].tolist()
        return first, last

    @cached_property
    def _covered(self) -> NDArray[np.uint8]:
        """The positions that each unit covers (units, tokens of the references), for rouge-l."""
        from optsum.metrics.kernels import covered_positions

        own, tokens = self.references[-1], self.tokens
        found: NDArray[np.uint8] = covered_positions(tokens.ids, tokens.start, own, tokens.different)
        return found[self.units - own]

    def _held(self, first: int, last: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return unit, token and copies, for each token that a unit shares with the reference tokens ``first:last``."""
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
    ) -> tuple[CappedUnion | TextSubsequence, IntArray, IntArray, IntArray, list[list[int]]]:
        """Return the ceiling of the hits in a reference, and the features that bound it, numbered from `feature`.

        Features are given by units, features and copies of their entries, and the levels of each (`Coverage.level`).
        """
        self.deadline.check()
        first, last = self._ends(reference)
        known: dict[str, Any] = {"slot": slot, "gain": gain, "first": feature}
        known["mass"] = np.zeros(len(self.units), np.int64)
        if not self.whole:
            covered = self._covered[:, first:last]
            positions = np.flatnonzero(covered.any(axis=0))
            unit, number = covered[:, positions].nonzero()
            packed = np.packbits(covered, axis=1, bitorder="little")
            bits = tuple(int.from_bytes(row.tobytes(), "little") for row in packed)
            union = CappedUnion(last=feature + len(positions), covered=bits, **known)
            union = union.capped(self._groups(first, last, reference, positions))
            return union, unit, number + feature, np.ones(len(unit), np.int64), [[0, gain]] * len(positions)
        ids, start = self.tokens.ids, self.tokens.start
        own = tuple(ids[first:last].tolist())
        unit, token, copies = self._held(first, last)
        most = np.bincount(ids[first:last], minlength=self.tokens.different)
        different, number = np.unique(token, return_inverse=True)
        held = set(own)
        texts = [
            tuple(one for one in ids[start[sentence] : start[sentence + 1]].tolist() if one in held)
            for sentence in self.units.tolist()
        ]
        end = feature + len(different)
        whole = TextSubsequence(last=end, reference=own, units=tuple(texts), above=gain, **known)
        levels = [[gain * copy for copy in range(most[one] + 1)] for one in different.tolist()]
        return whole, unit, number.reshape(-1) + feature, copies, levels

    def _groups(
        self, first: int, last: int, reference: int, positions: IntArray
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield positions (bits) and copies of each token in several sentences, all of which one copy might cover."""
        ids = self.tokens.ids[first:last].tolist()
        bounds = self.tokens.start[self.references[reference] : self.references[reference + 1] + 1] - first
        sentence = packed_rows(bounds).tolist()
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


def coverage_of(
    components: Sequence[Rows | Subsequences],
    spec: Spec,
    metric: Metric,
    lengths: Sequence[int] | IntArray,
    made: Callable[..., Coverage] = Coverage.trusted,
    **others: Any,
) -> Coverage:
    """Return the normal form of components of a metric; `made` constructs it from its fields."""
    measure, mean, product = spec.measure, spec.references == "mean", metric.geometric
    grams: list[tuple[int, Rows, Sequence[tuple[int, int]], int]] = []
    longest: list[tuple[int, Subsequences, int, int]] = []

    def cover(slot: int, of: Rows | Subsequences, weighted: Sequence[tuple[int, int]], once: int = 0) -> None:
        """Add the n-grams, or common subsequences, of references (`weighted`) to the total with the number `slot`.

        Copy c of an n-gram gains the weights of the references with at least c copies. `once`: if positive, the first
        copy of every n-gram of the units gains this number instead.
        """
        if isinstance(of, Subsequences):
            longest.extend((slot, of, *pair) for pair in weighted)
        else:
            grams.append((slot, of, weighted, once))

    # One ratio for each component, or for each component and reference.
    ratios = [
        (component, references)
        for component in components
        for references in (component.groups if mean else [[*chain.from_iterable(component.groups)]])
    ]
    totals = [sum(map(component.total, references)) for component, references in ratios]
    common, several = lcm(*filter(None, totals)), len(ratios) > 1
    merged = measure == "recall" and not product
    merged = merged and (not several or common * len(ratios) <= LARGEST_DENOMINATOR)
    constants = [0] * (2 if merged else 2 * len(ratios))
    mass = np.zeros((len(constants), len(components[0].units)), np.int64)
    if merged:
        constants[1] = common * len(ratios) if several else totals[0]
        shares = [common // total if several and total else 1 for total in totals]
        for component in components:
            held = [
                (reference, share)
                for (of, references), share in zip(ratios, shares, strict=True)
                for reference in references
                if of is component
            ]
            cover(0, component, held)
    else:
        scale = 2 if measure == "f1" else 1  # F1 = 2 hits / (reference total + summary mass): hits count twice
        for ratio, (component, references) in enumerate(ratios):
            bottom = 2 * ratio + 1
            cover(2 * ratio, component, [(reference, scale) for reference in references])
            constants[bottom] = 0 if measure == "precision" else totals[ratio]
            if measure != "recall" and spec.counts == "set":
                cover(bottom, component, (), once=len(references))
            elif measure != "recall":
                mass[bottom] = np.multiply(component.masses, len(references))
                constants[bottom] -= len(references) * component.lost
    weights = (1,) * (len(constants) // 2)
    combination = Combination.PRODUCT if product else Combination.SUM
    plain = made(
        lengths=np.asarray(lengths, np.int64),
        constants=np.array(constants, np.int64),
        mass=mass,
        weights=weights,
        combination=Combination.RATIO if len(weights) == 1 else combination,
        min_length=spec.min_length,
        max_length=spec.max_length,
        **others | _of_grams(grams, len(lengths)),
    )
    return _with_ceilings(plain, longest) if longest else plain


def _of_grams(covers: Sequence[tuple[int, Rows, Sequence[tuple[int, int]], int]], size: int) -> dict[str, Any]:
    """Return fields of the instance, without n-grams that no unit has, and without levels that no selection reaches."""
    if not covers:
        starts = {"unit_start": np.zeros(size + 1, np.int64), "level_start": np.zeros(1, np.int64)}
        return starts | dict.fromkeys(("unit_feature", "unit_count", "level", "slot"), np.zeros(0, np.int64))
    entries, units = covers[0][1].entries, covers[0][1].units  # all have the same
    first, tied = len(entries.begin) // len(entries.kinds), entries.joints
    held: list[tuple[int, int]] = []
    table = []
    for _, rows, weighted, once in covers:
        table.append((rows.metric * first, entries.kinds[rows.metric], once, len(held)))
        held += weighted
    table.append((0, 0, 0, len(held)))
    start, feature, count, level_start, level, features = features_of(
        entries.begin,
        entries.found,
        entries.copies,
        np.array(table, np.int64),
        np.array([reference for reference, _ in held], np.int64),
        np.array([weight for _, weight in held], np.int64),
        np.append(np.arange(units[0] - len(tied), units[0]), units) if tied else units,
    )
    joints: dict[str, Any] = {}
    if tied:  # their rows come before those of the units
        own = start[len(tied)]
        which = packed_rows(start[: len(tied) + 1])
        order = np.argsort(np.searchsorted(np.cumsum(features), feature[:own], side="right"), kind="stable")
        found = zip(feature[order].tolist(), which[order].tolist(), count[order].tolist(), strict=True)
        joints["joints"] = tuple(Joint(number, tied[at][0], tied[at][1], copies) for number, at, copies in found)
        start, feature, count = start[len(tied) :] - own, feature[own:], count[own:]
    return joints | {
        "unit_start": start,
        "unit_feature": feature,
        "unit_count": count,
        "level_start": level_start,
        "level": level,
        "slot": np.array([slot for slot, *_ in covers], np.int64).repeat(features),
    }


def _with_ceilings(plain: Coverage, longest: Sequence[tuple[int, Subsequences, int, int]]) -> Coverage:
    added = []
    slots, feature = [plain.slot], plain.features
    for slot, component, reference, gain in longest:
        added.append(component.ceiling(slot, reference, gain, feature))
        last = added[-1][0].last
        slots.append(np.full(last - feature, slot, np.int64))
        feature = last
    ceilings, units, features, copies, levels = zip(*added, strict=True)
    unit = np.concatenate([packed_rows(plain.unit_start), *units])
    unit_start, order = grouped(unit, plain.size)
    start, level = pack(chain.from_iterable(levels))
    return plain.changed(
        unit_start=unit_start,
        unit_feature=np.concatenate([plain.unit_feature, *features])[order],
        unit_count=np.concatenate([plain.unit_count, *copies])[order],
        level_start=np.concatenate([plain.level_start, start[1:] + len(plain.level)]),
        level=np.concatenate([plain.level, level]),
        slot=np.concatenate(slots),
        ceilings=ceilings,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberedTopic:
    """A topic with its tokens as numbers: the tokens of each reference in turn, then the tokens of its sentences."""

    topic: Topic
    spec: Spec
    metric: Metric
    tokens: Interned
    # The number of the first sentence of each reference in `tokens`, then of the first sentence of the documents.
    references: tuple[int, ...]

    @classmethod
    def of(cls, topic: Topic, spec: Spec) -> NumberedTopic:
        sentences = (*chain.from_iterable(topic.references), *topic.sentences)
        return cls(
            topic=topic,
            spec=spec,
            metric=parse_metric(spec.metric),
            tokens=interned(spec.analyzer, sentences, spec.deadline),
            references=(0, *accumulate(map(len, topic.references))),
        )

    def coverage(self) -> tuple[Coverage, IntArray] | None:
        """Return the normal form, and the sentence number of each unit; None if kernels cannot count the metric.

        A sentence is a unit if it has an n-gram of some reference (or `Spec.keep_unmatched` or a minimum length is set)
        and is not longer than the maximum (or `Spec.keep_overlong` is set).
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
            Subsequences(self.tokens, self.references, bool(which), units + self.references[-1], spec.deadline)
            if kind == LONGEST
            else Rows(entries, metric, groups, rows, entries.totals[metric, rows])
            for metric, (kind, which) in enumerate(coded.tolist())
        ]
        return coverage_of(components, spec, self.metric, lengths[units]), units


def official_scores(
    found: Interned, references: Sequence[int], chosen: Sequence[int], metrics: Sequence[Metric]
) -> dict[str, Score] | None:
    """Score a selection of sentences by metrics against the pooled references; None if kernels cannot count a metric.

    `found`: the sentences of one reference after another, then the sentences of the documents. `references`: the index
    of the first sentence of each reference, and the end of the last reference. `chosen`: numbers of the summary's
    sentences, in order, from 0 for the first sentence of the documents.
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
    _tiny("rouge-2").coverage()


@compiles
def prepare_scores() -> None:
    tiny = _tiny("rouge-1")
    official_scores(tiny.tokens, tiny.references, (0, 1), [parse_metric("rouge-1"), parse_metric("rouge-l")])


def prepare_text() -> None:
    prepare_counts()
    prepare_scores()


@dataclass(frozen=True, eq=False)
class Extracts:
    """Topics that are searched together, with n-grams within sentences and at most one rouge-l, and their optima.

    Attributes
    ----------
    tokens : arrays, as `optsum.text.interned.interned_texts` returns them
        For each topic the sentences of the references in turn, then the sentences to extract.
    bounds, first_bound : arrays
        `bounds`: for each topic, the first sentence of each reference and the first sentence to extract, counted within
        the topic. `first_bound`: where each topic begins in `bounds`, then where the last one ends.
    coded, scored : (metrics, 2)
        `optsum.metrics.rouge.Metric.coded` of the metrics in the objective, and of those that score answers.
    form : (9,)
        Maximum and minimum length; whether lengths are in words, not sentences; the measure's place in `ASPECTS`;
        whether n-grams count once, references are averaged, sentences without n-grams of references are units, too long
        sentences are units, and each sentence of a reference is clipped separately.
    answers : arrays
        Empty before the search; then four arrays with a row for each topic: number of sentences (-1 if no optimum was
        proven), their length, and the nodes of the search; the numbers of the sentences, ascending; numerator and
        denominator of each ratio of `Coverage.merged`, then zeros; hits, and counts of the references and of the
        summary, for each metric in `scored`.
    ran : str or None
        The strategy that searched, if another strategy delegated to it.
    """

    tokens: tuple[IntArray, ...]
    bounds: IntArray
    first_bound: IntArray
    coded: IntArray
    scored: IntArray
    form: IntArray
    answers: tuple[IntArray, ...] = ()
    ran: str | None = None


def extracts_of(
    tokens: Iterable[IntArray], references: Iterable[Sequence[int]], coded: IntArray, scored: IntArray, spec: Spec
) -> Extracts:
    """Return topics as `Extracts`; `references`: for each topic, the number of sentences of each reference."""
    unmatched = spec.keep_unmatched or spec.min_length > 0
    in_words, measure = spec.length_unit == "words", ASPECTS["measure"].index(spec.measure)
    distinct, mean = spec.counts == "set", spec.references == "mean"
    limits, apart = (spec.max_length, spec.min_length), spec.model_units == "sentences"
    form = np.array([*limits, in_words, measure, distinct, mean, unmatched, spec.keep_overlong, apart], np.int64)
    first, bounds = pack([*accumulate(sizes, initial=0)] for sizes in references)
    return Extracts(tuple(tokens), bounds, first, coded, scored, form)


NO_SCORES: Final[NDArray[np.int64]] = np.empty((0, 2), np.int64)
"""The value of `Extracts.scored` if answers are not scored."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Extract(Task):
    """A task of whole sentences: `units` are numbers of sentences of the topic.

    Attributes
    ----------
    sentences : tuple of sentences
        The sentences of the topic.
    numbered : NumberedTopic or None
        Its tokens as numbers, if the problem was made from them.
    """

    sentences: tuple[Sentence, ...] = field(repr=False)
    numbered: NumberedTopic | None = field(default=None, repr=False)

    def scores(self, selection: Selection, metrics: Sequence[Metric]) -> Mapping[str, Score] | None:
        """Return the official scores, from numbered tokens if the problem has them."""
        if self.numbered is not None and self.references:
            chosen = self.name_units(selection)
            found = official_scores(self.numbered.tokens, self.numbered.references, chosen, metrics)
            if found is not None:
                return found
        return super().scores(selection, metrics)

    def heads(self) -> Mapping[int, int]:
        return {number: unit for unit, number in enumerate(self.units)}

    def unit_lengths(self, length_unit: str) -> Sequence[int]:
        return [LENGTH_OF[length_unit](self.sentences[number]) for number in self.units]

    def decode(self, selection: Selection) -> tuple[Sentence, ...]:
        return tuple(self.sentences[self.units[unit]] for unit in selection)


FIRST_ROW, DIFFERENT, ONCE, FIRST_HELD = range(4)  # Columns of `covers` in `features_of`.


@njit(cache=True)
def features_of(begin: Any, found: Any, copies: Any, covers: Any, held: Any, weights: Any, units: Any) -> Any:
    """Return features of n-grams as arrays of `Coverage`, and the number of features of each cover (`coverage_of`).

    Features are numbered cover by cover in their order in the units, without levels that no selection reaches.
    `begin`, `found`, `copies`: as in `Entries`. `covers` (covers + 1, 4): for each cover, the first row of its metric,
    the number of n-grams, `once` of `coverage_of`, and where its references begin in `held`; the last row has only
    where they end. `held`, `weights`: rows of references, and their weights; the gain of the c-th copy is the summed
    weight of the references with at least c copies. `units`: the row of each unit, from the first row of a metric.
    """
    many = len(covers) - 1
    entries, widest, possible = 0, 0, 0
    for cover in range(many):
        widest, all_held = max(widest, covers[cover, DIFFERENT]), 0
        for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
            row = covers[cover, FIRST_ROW] + held[place]
            all_held += begin[row + 1] - begin[row]
        possible += covers[cover, DIFFERENT] if covers[cover, ONCE] > 0 else min(covers[cover, DIFFERENT], all_held)
    # These arrays serve one cover after another, because arrays for all covers of many references would be too large.
    number = np.full(widest, -1, np.int64)
    most = np.zeros(widest, np.int64)  # the number of copies of an n-gram that have a gain
    available = np.zeros(widest, np.int64)
    gram_of = np.empty(possible, np.int64)  # the n-gram of each feature
    level_start = np.zeros(possible + 1, np.int64)
    features = np.zeros(many, np.int64)
    place_of = np.zeros((len(units), many), np.int64)  # first numbers of a unit's features of a cover, then positions
    done = 0
    for cover in range(many):
        first = done
        _count_copies(begin, found, copies, covers, cover, held, most, np.int64(1))
        for unit in range(len(units)):
            row = covers[cover, FIRST_ROW] + units[unit]
            for entry in range(begin[row], begin[row + 1]):
                gram = found[entry]
                if most[gram] == 0:
                    continue
                if number[gram] < 0:
                    number[gram], gram_of[done] = done, gram
                    done += 1
                available[gram] += copies[entry]
                place_of[unit, cover] += 1
        features[cover] = done - first
        for one in range(first, done):
            gram = gram_of[one]
            level_start[one + 1] = level_start[one] + 1 + min(most[gram], available[gram])
            number[gram], available[gram] = -1, 0
        _count_copies(begin, found, copies, covers, cover, held, most, np.int64(0))
    unit_start = np.zeros(len(units) + 1, np.int64)
    for unit in range(len(units)):
        for cover in range(many):
            entries, place_of[unit, cover] = entries + place_of[unit, cover], entries
        unit_start[unit + 1] = entries
    unit_feature = np.empty(entries, np.int64)
    unit_count = np.empty(entries, np.int64)
    level = np.zeros(level_start[done], np.int64)
    done = 0
    for cover in range(many):
        first, done = done, done + features[cover]
        for one in range(first, done):
            number[gram_of[one]] = one
        for unit in range(len(units)):
            row, place = covers[cover, FIRST_ROW] + units[unit], place_of[unit, cover]
            for entry in range(begin[row], begin[row + 1]):
                if number[found[entry]] >= 0:
                    unit_feature[place], unit_count[place] = number[found[entry]], copies[entry]
                    place += 1
        _add_gains(begin, found, copies, covers, cover, held, weights, number, level_start, level)
        for one in range(first, done):
            number[gram_of[one]] = -1
            if covers[cover, ONCE] > 0:
                level[level_start[one] + 1] = covers[cover, ONCE]
            for copy in range(level_start[one] + 2, level_start[one + 1]):
                level[copy] += level[copy - 1]
    return unit_start, unit_feature, unit_count, level_start[: done + 1], level, features


@njit(cache=True)
def _count_copies(begin, found, copies, covers, cover, held, most, some):
    """Write to `most` how many copies of each n-gram have a gain; or zeros again, if `some` is 0, not 1."""
    if covers[cover, ONCE] > 0:
        most[: covers[cover, DIFFERENT]] = some
        return
    for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
        row = covers[cover, FIRST_ROW] + held[place]
        for entry in range(begin[row], begin[row + 1]):
            most[found[entry]] = some * max(most[found[entry]], copies[entry])


@njit(cache=True)
def _add_gains(begin, found, copies, covers, cover, held, weights, number, level_start, level):
    """Add the weight of each reference of a cover to the gain of each copy of an n-gram that it contains."""
    for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
        row = covers[cover, FIRST_ROW] + held[place]
        for entry in range(begin[row], begin[row + 1]):
            one = number[found[entry]]
            if one >= 0:
                last = min(level_start[one] + copies[entry], level_start[one + 1] - 1)
                for copy in range(level_start[one] + 1, last + 1):
                    level[copy] += weights[place]
