"""Extracts by similarity: recall, precision or F1 of the similarity of vectors as a problem in the normal form.

Similarities are rounded down to whole steps (`Spec.similarity_unit` steps to 1), so that values are compared as
integers; the objective is less than one step below the exact value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import gcd, lcm
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.corpus.topic import Topic
from optsum.corpus.vectors import Vectors
from optsum.coverage.instance import Coverage, Facility, IntArray
from optsum.errors import InputError, UnsupportedError
from optsum.metrics.rouge import Score
from optsum.metrics.similarity import FloatArray, Similarity, rescaled
from optsum.problem.formulation import Requirement, Spec
from optsum.problem.objective import Extract
from optsum.problem.problem import CoverageProblem, Selection

OF_SIMILARITY: Final = (
    Requirement(
        "The metric similarity is maximized by itself, not in {metric}: choose one with --metric.",
        when={"metric": ("A+B",), "part": ("similarity",)},
    ),
    Requirement(
        "F1 of {metric} is defined for all references together, or for one: use --references pooled, each, best or "
        "first.",
        only={"references": ("pooled",)},
        when={"part": ("similarity",), "measure": ("f1",)},
    ),
    Requirement(
        "Similarity does not count n-grams: leave out --counts, --boundaries and --model-units.",
        only={"counts": ("clipped",), "boundaries": ("sentence",), "model_units": ("whole",)},
        when={"part": ("similarity",)},
    ),
)
"""Combinations with similarity that no formulation supports."""

_WEIGHTS: Final = 10_000  # Number of steps to which fractional weights are rounded, from 0 to the largest.


def vector_score(
    vectors: Vectors, unit_of: IntArray, metric: Similarity, references: int, mean: bool, selection: Selection
) -> Score:
    """Match the tokens of a selection greedily by unrounded vectors, with all references together or with each.

    `unit_of`: the unit of each token, or -1. `mean`: whether the result is the mean over references.
    """
    chosen = np.isin(unit_of, selection)
    groups = [vectors.reference_of == number for number in range(references)]
    alone = [
        greedy_matching(
            metric.valued(_compared(vectors, chosen, group)),
            vectors.sentence_weights[chosen],
            vectors.reference_weights[group],
        )
        for group in groups
    ]
    if mean or len(alone) == 1:
        return Score.mean(alone)
    weights = vectors.reference_weights / (vectors.reference_weights.max(initial=0) or 1)
    totals = [float(weights[group].sum()) for group in groups]
    recall = sum(each.recall * total for each, total in zip(alone, totals, strict=True)) / (sum(totals) or 1)
    precision = sum(each.precision for each in alone) / len(alone)
    return _score(recall, precision)


def _compared(vectors: Vectors, chosen: Any, group: Any) -> FloatArray:
    """Return cosine similarities by definition: scalar products divided by lengths."""
    if vectors.sentences is None or vectors.references is None:
        return vectors.similarities()[np.ix_(chosen, group)]
    left, right = rescaled(vectors.sentences[chosen]), rescaled(vectors.references[group])
    lengths = np.linalg.norm(left, axis=1)[:, None] * np.linalg.norm(right, axis=1)[None, :]
    found: FloatArray = np.divide(left @ right.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0)
    return found


def greedy_matching(similarity: FloatArray, summary_weights: FloatArray, reference_weights: FloatArray) -> Score:
    """Match each token greedily with the most similar token of the other side.

    `similarity`: (summary tokens, reference tokens). `summary_weights`, `reference_weights`: (tokens,). The result is
    all zeros if either side has no token; recall or precision is 0 if its weights are all 0.
    """
    if not similarity.size:
        return _score(0.0, 0.0)
    return _score(
        _weighted(similarity.max(axis=0), reference_weights), _weighted(similarity.max(axis=1), summary_weights)
    )


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
    """Return the problem of a topic; `candidates`: number and length of each sentence that is not too long."""
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


_AT_ONCE: Final = 2**22  # Similarities between two looks at the clock: a tenth of a second.


@dataclass(frozen=True, eq=False)
class Likeness:
    """The similarities of units and references."""

    best: IntArray  # (reference tokens, units): in steps, for recall and F1; without rows for precision.
    importance: IntArray  # (reference tokens,)
    mass: IntArray  # (2, units): numerator and denominator of precision; nothing for recall.
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
        if spec.measure != "recall":
            last = max([*units, *unit_of.tolist()], default=0)
            mass = _precision(vectors, steps, spec, unit_of, len(topic.references), last + 1)[:, list(units)]
        if spec.measure == "precision":
            none = np.zeros(0, np.int64)
            return cls(np.zeros((0, len(units)), np.int64), none, mass, 0)
        counted, importance, full = _importance(topic, vectors, spec)
        best = _best_steps(steps[:, counted], unit_of, units)
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
    """Return the reference tokens that count, their integer weights, and the denominator."""
    weights = _whole(vectors.reference_weights)
    counted = np.flatnonzero(weights)
    weights = weights[counted]
    if not len(counted):
        raise InputError(
            f"topic {topic.id!r}: its references have no vectors that count; give some, with weights above 0"
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
            f"64 bits: use --references pooled or each."
        )
    times = np.array([common // one if one else 0 for one in sums], np.int64)
    return counted, weights * times[owner], full


def _best_steps(steps: IntArray, unit_of: IntArray, units: Sequence[int]) -> IntArray:
    """Return the best similarity of each reference token to each of the given units; 0 for a unit without tokens."""
    order = np.argsort(unit_of, kind="stable")
    wanted = np.asarray(units, np.int64)
    first = np.searchsorted(unit_of[order], wanted, "left")
    last = np.searchsorted(unit_of[order], wanted, "right")
    found = np.zeros((steps.shape[1], len(wanted)), np.int64)
    for place, (begin, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if end > begin:
            found[:, place] = steps[order[begin:end]].max(axis=0)
    return found


def _precision(
    vectors: Vectors, steps: IntArray, spec: Spec, unit_of: IntArray, references: int, number: int
) -> IntArray:
    """Return the summed best similarities of the tokens of each unit, by reference, and the number of tokens."""
    weights = _whole(vectors.sentence_weights)
    top = np.zeros(len(steps), np.int64)
    for reference in range(references):
        top += steps[:, vectors.reference_of == reference].max(axis=1, initial=0)
    mass = np.zeros((2, number), np.int64)
    np.add.at(mass[0], unit_of, top * weights)
    np.add.at(mass[1], unit_of, references * spec.similarity_unit * weights)
    return mass


def _whole(weights: FloatArray) -> IntArray:
    """Return weights as integers: unchanged, or in steps of a ten-thousandth of the largest."""
    if not len(weights) or not weights.any():
        return np.zeros(len(weights), np.int64)
    if weights.max() <= _WEIGHTS and (weights == np.floor(weights)).all():
        whole = weights.astype(np.int64)
        return whole // gcd(*whole.tolist())
    if (weights == weights[0]).all():
        return np.ones(len(weights), np.int64)
    steps: IntArray = np.rint(weights / weights.max() * _WEIGHTS).astype(np.int64)
    return steps
