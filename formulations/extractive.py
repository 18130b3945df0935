"""Extracts: whole sentences are selected under a length limit, by n-grams or by similarities of vectors.

Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), eq. 1-8: maximize the clipped n-gram hits against all
references, subject to a maximum length. A unit is a sentence; the t-th copy of an n-gram g gains one hit for each
reference k with N(g, R_k) >= t occurrences.

Lin & Hovy 2003 (The Potential and Limitations of Automatic Sentence Extraction), eq. 1-2: the sentences of a reference,
its model units, are clipped separately; here each model unit is a reference of its own, with the same gains.

Similarities are rounded down to multiples of ``1 / Spec.similarity_unit``, so that values are compared as integers; the
objective is less than one such step below the exact value. `optsum.formulations.compressive` uses the same functions
for parts of sentences.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd, lcm
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT, Coverage, Facility, IntArray
from optsum.errors import InputError, UnsupportedError
from optsum.metrics.rouge import LONGEST, Counts, Gram, Score, codes_of, parse_metric
from optsum.metrics.similarity import FloatArray, Similarity, Vectors, rescaled
from optsum.problem.formulation import Compatibility, Formulation, Requirement, Spec
from optsum.problem.objective import Counted, Extract, NumberedTopic
from optsum.problem.problem import CoverageProblem, Selection
from optsum.system.clock import NEVER, Deadline


def maximize_hits(
    model: Any, references: Sequence[Counts], held: Callable[[Gram], Any], length: Any, spec: Spec
) -> None:
    """Add to a Pyomo model the objective, the clipped n-grams shared with the references, and the length limits.

    `held`: function that returns the count of an n-gram in the selection, as an expression. `length`: the length of the
    selection, as an expression; None if there are no units.
    """
    import pyomo.environ as pyo

    grams = sorted({gram for reference in references for gram in reference}, key=repr)
    pairs = [(k, j) for k, reference in enumerate(references) for j, g in enumerate(grams) if reference[g]]
    model.KJ = pyo.Set(initialize=pairs, dimen=2)
    model.z = pyo.Var(model.KJ, domain=pyo.NonNegativeIntegers)  # (8), of compressions (12)
    model.hits = pyo.Objective(expr=pyo.quicksum(model.z.values()), sense=pyo.maximize)  # (3)

    @model.Constraint(model.KJ)
    def copies(m: Any, k: int, j: int) -> Any:  # (5)
        return held(grams[j]) >= m.z[k, j]

    @model.Constraint(model.KJ)
    def clipped(m: Any, k: int, j: int) -> Any:  # (6)
        return m.z[k, j] <= references[k][grams[j]]

    if length is not None and spec.max_length < NO_LIMIT:
        model.max_length = pyo.Constraint(expr=length <= spec.max_length)  # (4)
    if length is not None and spec.min_length > 0:  # not in the paper
        model.min_length = pyo.Constraint(expr=length >= spec.min_length)


OF_SIMILARITY: Final = (
    Requirement(
        "The metric similarity cannot be combined with others, as in {metric}: choose a single one with --metric.",
        when={"metric": ("A+B",), "part": ("similarity",)},
    ),
    Requirement(
        "F1 of {metric} is defined for all references together, or for one: use --references=pooled, each, best or "
        "first.",
        only={"references": ("pooled",)},
        when={"part": ("similarity",), "measure": ("f1",)},
    ),
    Requirement(
        "Similarity does not count n-grams: leave out --counts, --boundaries and --model-units, or the --preset that "
        "sets them.",
        only={"counts": ("clipped",), "boundaries": ("sentence",), "model_units": ("whole",)},
        when={"part": ("similarity",)},
    ),
)
"""Requirements on the options with the metric similarity, in every formulation."""

_LONGEST: Final = ("rouge-l", "rougeL")
_APART: Final = (
    "Model units are clipped separately only for recall of n-grams (Lin & Hovy 2003): use --measure=recall and no "
    "rouge-l or rougeL, or --model-units=whole."
)

_SERVES: Final = Compatibility(
    rules=(
        Requirement(
            "The geometric mean {metric} is defined for recall, with one reference or pooled ones (Lin & Hovy 2003): "
            "use --measure=recall and --references=pooled, each or best.",
            only={"measure": ("recall",), "references": ("pooled",)},
            when={"metric": ("ngram-I-J",)},
        ),
        *OF_SIMILARITY,
        Requirement(_APART, only={"measure": ("recall",)}, when={"model_units": ("sentences",)}),
        Requirement(_APART, when={"model_units": ("sentences",), "part": _LONGEST}),
        Requirement(
            "n-grams across sentence ends are supported for rouge-1 and rouge-2, not for {metric}: "
            "give --boundaries=sentence.",
            only={"part": ("rouge-1", "rouge-2", *_LONGEST)},
            when={"boundaries": ("joined",)},
        ),
        Requirement(
            "n-grams across sentence ends with set counts are supported for recall, not for {measure}: "
            "give --boundaries=sentence.",
            only={"measure": ("recall",)},
            when={"boundaries": ("joined",), "counts": ("set",)},
        ),
        Requirement(
            "Common subsequences have only clipped counts: give --counts=clipped, or a metric other than {metric}.",
            only={"counts": ("clipped",)},
            when={"part": _LONGEST},
        ),
    )
)


@dataclass(frozen=True)
class Extractive(Formulation):
    """The formulation whose summaries are whole sentences."""

    name: ClassVar[str] = "extractive"
    summaries: ClassVar[str] = "extracts"
    about: ClassVar[str] = "whole sentences under a length limit (Hirao et al. 2017)"
    serves: ClassVar[Compatibility] = _SERVES

    def extracts(self, spec: Spec) -> IntArray | None:
        """Return the codes (metrics, 2) of metrics with which one compiled loop can search several topics, or None."""
        metric = parse_metric(spec.metric)
        if _joins(spec) or metric.geometric or spec.length_unit not in {"words", "sentences"}:
            return None
        coded = codes_of(metric.components)
        if coded is None:
            return None
        longest = coded[coded[:, 0] == LONGEST].tolist()
        return coded if longest in ([], [[LONGEST, 0]]) else None

    def build(self, topic: Topic, spec: Spec) -> Extract:
        """Return the problem of a topic.

        As in the paper, a sentence is not a unit if it is longer than the maximum, or if it shares no counted n-gram
        with any reference. With a minimum length, sentences without shared n-grams are units, because they add length.
        """
        joins, metric = _joins(spec), parse_metric(spec.metric)
        if isinstance(metric, Similarity):
            return similar_extract(topic, spec, metric, [each[:2] for each in _candidates(topic, spec)])
        longest = any(part.form in _LONGEST for part in metric.components)
        numbered = NumberedTopic.of(topic, spec)
        if longest and joins:
            raise UnsupportedError(
                f"Bigrams across sentence ends cannot be combined with common subsequences, as in {metric}: give "
                "--boundaries=sentence."
            )
        made = None if joins else numbered.coverage()
        if longest and made is None:
            raise UnsupportedError(
                f"Common subsequences can be added only to rouge-N and rouge-suK, not as in {metric}: choose another "
                "--metric."
            )
        if made is None:
            return by_counters(topic, spec, numbered)
        instance, units = made
        chosen = units.tolist()
        # The case for which papers print a program.
        simple = (spec.measure, spec.references, len(metric.components)) == ("recall", "pooled", 1)
        model = partial(_reference_model, topic, spec, chosen) if simple else None
        problem = CoverageProblem.of(instance, model, round(numbered.references[-1] / len(topic.references)))
        return Extract.of(topic, spec, problem, chosen, numbered=numbered)


def _joins(spec: Spec) -> bool:
    """Return whether any counted n-grams cross sentence ends; single tokens and common subsequences never do."""
    return spec.boundaries == "joined" and any(part.sizes == (2,) for part in parse_metric(spec.metric).components)


def by_counters(topic: Topic, spec: Spec, numbered: NumberedTopic) -> Extract:
    """Return the problem of a topic by counting n-grams in dictionaries, which also supports joined sentences."""
    sentences = _candidates(topic, spec)
    counted = Counted.of(topic, spec)
    texts = [words for _, _, words in sentences]
    found = [counted.units(part, texts) for part in range(len(counted.wanted))]
    seams = _seams(texts, counted.wanted, spec.deadline) if spec.boundaries == "joined" else []
    joining = {sentence for i, j, _ in seams for sentence in (i, j)}
    kept = [
        sentence
        for sentence, counters in enumerate(zip(*found, strict=True))
        if spec.keep_unmatched
        or spec.min_length > 0
        or sentence in joining
        or not all(map(frozenset.isdisjoint, counted.wanted, counters))
    ]
    place = {sentence: unit for unit, sentence in enumerate(kept)}
    joined = [(place[i], place[j], key) for i, j, key in seams]
    components = []
    for part, of in enumerate(found):
        units, words = [of[one] for one in kept], [texts[one] for one in kept]
        if spec.boundaries != "joined" or counted.metric.components[part].sizes != (2,):
            components.append(counted.component(part, units))
            continue
        empty = [unit for unit, each in enumerate(words) if not each]
        across = [(key, (i, j), _between(empty, i, j), 1) for i, j, key in spec.deadline.watching(joined)]
        # A summary of w words has w - 1 bigrams if they cross sentence ends.
        components.append(counted.component(part, units, list(map(len, words)), lost=1, joints=across))
    lengths = [sentences[one][1] for one in kept]
    instance = counted.coverage(components, lengths)
    simple = counted.simple and not seams
    chosen = [sentences[one][0] for one in kept]
    model = partial(_reference_model, topic, spec, chosen) if simple else None
    problem = CoverageProblem.of(instance, model, topic.reference_sentences)
    return Extract.of(topic, spec, problem, chosen, numbered=numbered)


def _reference_model(topic: Topic, spec: Spec, units: Sequence[int]) -> Any:
    """Return the paper's equations as a Pyomo model in which ``x[i]`` is 1 if sentence ``units[i]`` is chosen."""
    import pyomo.environ as pyo

    counted, all_lengths = Counted.of(topic, spec.until(NEVER)), spec.lengths_of(topic)
    sentences = counted.units(0, [spec.analyzer.tokens(topic.sentences[unit]) for unit in units])  # N(g, s_i)
    holders: dict[Gram, list[int]] = {}
    for i, sentence in enumerate(sentences):
        for gram in sentence:
            holders.setdefault(gram, []).append(i)
    model = pyo.ConcreteModel("extractive oracle")
    model.I = pyo.RangeSet(0, len(sentences) - 1)
    model.x = pyo.Var(model.I, domain=pyo.Binary)  # (7)

    def held(gram: Gram) -> Any:
        return pyo.quicksum(sentences[i][gram] * model.x[i] for i in holders.get(gram, ()))

    length = pyo.quicksum(all_lengths[unit] * model.x[i] for i, unit in enumerate(units)) if units else None
    maximize_hits(model, counted.references(0), held, length, spec)
    return model


def _candidates(topic: Topic, spec: Spec) -> list[tuple[int, int, list[str]]]:
    """Return (number, length, tokens) of every sentence that is not longer than the maximum."""
    lengths = spec.lengths_of(topic)
    tokens = spec.analyzer.tokens
    return [
        (number, length, tokens(sentence))
        for number, sentence in enumerate(spec.deadline.watching(topic.sentences))
        if (length := lengths[number]) <= spec.max_length or spec.keep_overlong
    ]


def _seams(
    sentences: Sequence[list[str]], wanted: Sequence[frozenset[Gram]], deadline: Deadline
) -> list[tuple[int, int, Gram]]:
    """Return (i, j, bigram) for each reference bigram from the last word of sentence i to the first of a later j."""
    follows: dict[str, set[str]] = {}
    for first, second in (key for keys in wanted for key in keys if isinstance(key, tuple) and len(key) == 2):
        follows.setdefault(first, set()).add(second)
    starts: dict[str, list[int]] = {}
    for number, words in enumerate(sentences):
        if words:
            starts.setdefault(words[0], []).append(number)
    return [
        (number, later, (words[-1], second))
        for number, words in enumerate(deadline.watching(sentences))
        if words
        for second in sorted(follows.get(words[-1], ()))
        for later in starts.get(second, ())
        if later > number
    ]


def _between(empty: Sequence[int], i: int, j: int) -> Sequence[int]:
    without = set(empty[bisect(empty, i) : bisect(empty, j)])
    inner = range(i + 1, j)
    return tuple(unit for unit in inner if unit not in without) if without else inner


_LOST: Final = 0.001  # Share of the weight that rounding may lose.
_WEIGHTS: Final = 10_000  # Fractional weights are rounded to this number of steps from 0 to the largest weight.


def vector_score(
    vectors: Vectors, unit_of: IntArray, metric: Similarity, references: int, mean: bool, selection: Selection
) -> Score:
    """Score a selection by greedy matching of tokens with each reference, by unrounded similarities.

    Recall and precision are pooled over the references, or with `mean` the result is the mean over them. `unit_of`
    (tokens,): the unit of each token, or -1. `references`: number of references.
    """
    chosen = np.isin(unit_of, selection)
    groups = [vectors.reference_of == number for number in range(references)]
    summary_weights = vectors.sentence_weights[chosen]
    alone = [
        _greedy_matching(_compared(vectors, metric, chosen, group), summary_weights, vectors.reference_weights[group])
        for group in groups
    ]
    if mean or len(alone) == 1:
        return Score.mean(alone)
    weights = vectors.reference_weights / (vectors.reference_weights.max(initial=0) or 1)
    totals = [float(weights[group].sum()) for group in groups]
    recall = sum(each.recall * total for each, total in zip(alone, totals, strict=True)) / (sum(totals) or 1)
    precision = sum(each.precision for each in alone) / len(alone)
    return _score(recall, precision)


def _compared(vectors: Vectors, metric: Similarity, chosen: Any, group: Any) -> FloatArray:
    """Return the values (chosen tokens, tokens of a reference) of cosines, or of the similarities of the input."""
    if vectors.sentences is None or vectors.references is None:
        return metric.valued(vectors.similarities()[np.ix_(chosen, group)])
    left, right = rescaled(vectors.sentences[chosen]), rescaled(vectors.references[group])
    lengths = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None, :]
    return metric.valued(np.divide(left @ right.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0))


def _greedy_matching(similarity: FloatArray, summary_weights: FloatArray, reference_weights: FloatArray) -> Score:
    """Score a summary by matching each token with the most similar token of the other side.

    Recall is the weighted mean of the best similarities of reference tokens, precision that of summary tokens; either
    is 0 if its weights are all 0, and both are 0 if one side has no token.
    """
    if not similarity.size:
        return _score(0.0, 0.0)
    recall, precision = similarity.max(axis=0), similarity.max(axis=1)
    return _score(_weighted(recall, reference_weights), _weighted(precision, summary_weights))


def _score(recall: float, precision: float) -> Score:
    total = recall + precision
    return Score(recall, precision, 2 * recall * precision / total if total > 0 else 0.0, 0, 0, 0)


def _weighted(values: FloatArray, weights: FloatArray) -> float:
    largest = weights.max()
    if not largest > 0:
        return 0.0
    shares = weights / largest  # so that no sum overflows
    return float(values @ shares / shares.sum())


def needed_vectors(topic: Topic) -> Vectors:
    if topic.vectors is None:
        raise InputError(
            f"topic {topic.id!r} has no vectors, from which similarity is computed: give --vectors FILE.npz or a "
            "folder of such files, or embed= in Python"
        )
    return topic.vectors


def similar_extract(topic: Topic, spec: Spec, metric: Similarity, candidates: Sequence[tuple[int, int]]) -> Extract:
    """Return the problem of a topic with similarity; `candidates`: (number, length) of possible units."""
    vectors = needed_vectors(topic)
    found = Likeness.of(topic, vectors, spec, metric, vectors.sentence_of, [number for number, _ in candidates])
    kept = list(range(len(candidates)))
    if not spec.keep_unmatched and not spec.min_length:
        kept = np.flatnonzero(found.adds).tolist()
    instance = found.instance(kept, [candidates[place][1] for place in kept], spec)
    units = [candidates[place][0] for place in kept]
    unit_of = np.full(len(topic.sentences), -1, np.int64)
    unit_of[units] = np.arange(len(units))
    given = vectors, unit_of[vectors.sentence_of], metric, len(topic.references), spec.references == "mean"
    problem = CoverageProblem.of(instance, reference_units=topic.reference_sentences)
    return Extract.of(topic, spec, problem, units, scored={metric: partial(vector_score, *given)})


_AT_ONCE: Final = 2**22  # Similarities computed between two checks of the deadline, in about .1 s.


@dataclass(frozen=True, eq=False)
class Likeness:
    """The similarities of units and references as integers, from which an instance is made."""

    best: IntArray  # (reference tokens, units): largest similarity, in steps; for precision, an array without rows.
    importance: IntArray  # (reference tokens,): weights.
    mass: IntArray  # (2, units): amounts that a unit adds to numerator and denominator of precision; 0 for recall.
    full: int  # The denominator of recall; 0 for precision.

    @classmethod
    def of(
        cls, topic: Topic, vectors: Vectors, spec: Spec, metric: Similarity, unit_of: IntArray, units: Sequence[int]
    ) -> Likeness:
        tokens, parts = len(vectors.sentence_of), []
        size = max(1, _AT_ONCE // max(1, len(vectors.reference_of)))
        for first in range(0, max(1, tokens), size):
            spec.deadline.check()
            parts.append(metric.steps(vectors.similarities(slice(first, first + size)), spec.similarity_unit))
        steps = np.concatenate(parts) if len(parts) > 1 else parts[0]
        spec.deadline.check()
        mass = np.zeros((2, len(units)), np.int64)
        if spec.measure != "recall":  # the sums that a unit's tokens add to numerator and denominator
            weights = _whole(vectors.sentence_weights, unit_of)
            groups = [vectors.reference_of == number for number in range(len(topic.references))]
            top = sum(steps[:, group].max(axis=1, initial=0) for group in groups)
            sums = np.zeros((2, 1 + max([*units, *unit_of.tolist()], default=0)), np.int64)
            np.add.at(sums[0], unit_of, top * weights)
            np.add.at(sums[1], unit_of, len(groups) * spec.similarity_unit * weights)
            mass = sums[:, list(units)]
        if spec.measure == "precision":
            return cls(np.zeros((0, len(units)), np.int64), np.zeros(0, np.int64), mass, 0)
        counted, importance, full = _importance(topic, vectors, spec)
        steps, order = steps[:, counted], np.argsort(unit_of, kind="stable")
        begins, ends = (np.searchsorted(unit_of[order], list(units), side) for side in ("left", "right"))
        best = np.zeros((len(counted), len(units)), np.int64)
        for unit, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            best[:, unit] = steps[order[begin:end]].max(axis=0, initial=0)
        return cls(best, importance, mass, full)

    @property
    def adds(self) -> NDArray[np.bool_]:
        added: NDArray[np.bool_] = self.best.any(axis=0) | (self.mass[0] > 0)
        return added

    def instance(
        self, kept: Sequence[int], lengths: Sequence[int], spec: Spec, parents: IntArray | None = None
    ) -> Coverage:
        limits: Any = {"min_length": spec.min_length, "max_length": spec.max_length}
        chosen = list(kept)
        if self.full:
            return Facility.given(
                self.best[:, chosen],
                self.importance,
                lengths,
                full=self.full,
                parents=parents,
                own=self.mass[:, chosen] if spec.measure == "f1" else None,
                **limits,
            )
        return Coverage.of(
            lengths,
            [{}] * len(chosen),
            [],
            constants=(0, 0),
            mass=self.mass[:, chosen].tolist(),
            parents=[] if parents is None else parents.tolist(),
            **limits,
        )


def _importance(topic: Topic, vectors: Vectors, spec: Spec) -> tuple[IntArray, IntArray, int]:
    """Return the indices of reference tokens with a weight above 0, their integer weights, and recall's denominator."""
    weights = _whole(vectors.reference_weights)
    counted = np.flatnonzero(weights)
    weights = weights[counted]
    if not len(counted):
        raise InputError(
            f"topic {topic.id!r}: no vector of its references has a weight above 0; give at least one such vector"
        )
    if spec.references != "mean" or len(topic.references) == 1:
        return counted, weights, int(weights.sum()) * spec.similarity_unit
    owner = vectors.reference_of[counted]
    sums = [int(weights[owner == number].sum()) for number in range(len(topic.references))]
    common = lcm(*(one for one in sums if one))
    full = common * len(sums) * spec.similarity_unit
    if full > 2**50:
        raise UnsupportedError(
            f"The weights of the {len(sums)} references of topic {topic.id!r} have no common denominator that fits "
            f"64 bits: use --references=pooled or each."
        )
    times = np.array([common // one if one else 0 for one in sums], np.int64)
    return counted, weights * times[owner], full


def _whole(weights: FloatArray, owner: IntArray | None = None) -> IntArray:
    """Return weights as integers without common divisor, or in steps of a ten-thousandth of the largest weight.

    `owner`: the unit of each weight; an `InputError` is raised if a unit, or all of them together, would lose more than
    a thousandth of its weight.
    """
    if not len(weights) or not weights.any():
        return np.zeros(len(weights), np.int64)
    if weights.max() <= _WEIGHTS and (weights == np.floor(weights)).all():
        whole = weights.astype(np.int64)
        return whole // gcd(*whole.tolist())
    if (weights == weights[0]).all():
        return np.ones(len(weights), np.int64)
    steps: IntArray = np.rint(weights / weights.max() * _WEIGHTS).astype(np.int64)
    places = np.zeros(len(weights), np.int64) if owner is None else owner
    lost = np.bincount(places, np.where(steps == 0, weights, 0.0))
    if (lost > np.bincount(places, weights) * _LOST).any():
        raise InputError(
            f"weights below {weights.max() / (2 * _WEIGHTS):.3g}, a {2 * _WEIGHTS}th of the largest, would count as 0, "
            "and are not negligible together: give weights that differ less, or 0"
        )
    return steps
