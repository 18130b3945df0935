"""Extracts: whole sentences, chosen under a length limit.

Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), eq. 1-8: maximize the clipped n-gram hits against all
references, subject to a maximum length. A unit is a sentence; the t-th copy of an n-gram g gains one hit for each
reference k with N(g, R_k) >= t occurrences.

Lin & Hovy 2003 (The Potential and Limitations of Automatic Sentence Extraction), eq. 1-2: the sentences of a reference,
its model units, are clipped separately; here each model unit is a reference of its own, with the same gains.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT, IntArray
from optsum.errors import UnsupportedError
from optsum.metrics.rouge import LONGEST, Counts, Gram, codes_of, parse_metric
from optsum.metrics.similarity import Similarity
from optsum.problem.formulation import Compatibility, Formulation, Requirement, Spec
from optsum.problem.objective import Component, Counted, Extract, NumberedTopic
from optsum.problem.problem import CoverageProblem
from optsum.system.clock import NEVER, Deadline

from .similar import OF_SIMILARITY, similar_extract


def maximize_hits(
    model: Any, references: Sequence[Counts], held: Callable[[Gram], Any], length: Any, spec: Spec
) -> None:
    """Make a Pyomo model maximize the clipped n-grams of references, within the length limits if there are any.

    `held`: function that returns the count of an n-gram in the selection.
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
    if length is not None and spec.min_length > 0:  # which is not in the paper
        model.min_length = pyo.Constraint(expr=length >= spec.min_length)


_LONGEST: Final = ("rouge-l", "rougeL")
_APART: Final = (
    "Model units are clipped by themselves for recall of n-grams only (Lin & Hovy 2003): use --measure recall "
    "without rouge-l and rougeL, or --model-units whole."
)

_SERVES: Final = Compatibility(
    rules=(
        Requirement(
            "The geometric mean {metric} is defined for recall, with one reference or pooled ones (Lin & Hovy 2003): "
            "use --measure recall and --references pooled, each or best.",
            only={"measure": ("recall",), "references": ("pooled",)},
            when={"metric": ("ngram-I-J",)},
        ),
        *OF_SIMILARITY,
        Requirement(_APART, only={"measure": ("recall",)}, when={"model_units": ("sentences",)}),
        Requirement(_APART, when={"model_units": ("sentences",), "part": _LONGEST}),
        Requirement(
            "n-grams across sentence ends are supported for rouge-1 and rouge-2, not for {metric}: "
            "give --boundaries sentence.",
            only={"part": ("rouge-1", "rouge-2", *_LONGEST)},
            when={"boundaries": ("joined",)},
        ),
        Requirement(
            "n-grams across sentence ends with set counts are supported for recall, not for {measure}: "
            "give --boundaries sentence.",
            only={"measure": ("recall",)},
            when={"boundaries": ("joined",), "counts": ("set",)},
        ),
        Requirement(
            "Common subsequences have clipped counts: leave out --counts, or choose another metric than {metric}.",
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
        """Return the codes of n-grams within sentences, and of rouge-l, for lengths in words or sentences."""
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
        with any reference; with a minimum length the latter are units too, because they add length.
        """
        joins, metric = _joins(spec), parse_metric(spec.metric)
        if isinstance(metric, Similarity):
            return similar_extract(topic, spec, metric, [each[:2] for each in _candidates(topic, spec)])
        longest = any(part.form in _LONGEST for part in metric.components)
        numbered = NumberedTopic.of(topic, spec)
        if longest and joins:
            raise UnsupportedError(
                f"Bigrams across sentence ends are supported without common subsequences, not in {metric}: leave "
                "--boundaries at sentence."
            )
        made = None if joins else numbered.coverage()
        if longest and made is None:
            raise UnsupportedError(f"Common subsequences are added only to rouge-N and rouge-suK, not in {metric}.")
        if made is None:
            return by_counters(topic, spec, numbered)
        instance, units = made
        chosen = units.tolist()
        simple = (
            spec.measure == "recall" and spec.references == "pooled" and len(metric.components) == 1
        )  # as papers print it
        model = partial(_reference_model, topic, spec, chosen) if simple else None
        problem = CoverageProblem.of(instance, model, round(numbered.references[-1] / len(topic.references)))
        return Extract.of(topic, spec, problem, chosen, numbered=numbered)


def _joins(spec: Spec) -> bool:
    """Return whether n-grams cross sentence ends; tokens and common subsequences never do."""
    return spec.boundaries == "joined" and any(part.sizes == (2,) for part in parse_metric(spec.metric).components)


def by_counters(topic: Topic, spec: Spec, numbered: NumberedTopic) -> Extract:
    """Return the result of `Extractive.build`, n-gram by n-gram, for cases that arrays do not support."""
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
    components = [
        _component(counted, part, [of[one] for one in kept], [texts[one] for one in kept], joined)
        for part, of in enumerate(found)
    ]
    lengths = [sentences[one][1] for one in kept]
    instance = counted.coverage(components, lengths)
    simple = counted.simple and not seams
    chosen = [sentences[one][0] for one in kept]
    model = partial(_reference_model, topic, spec, chosen) if simple else None
    problem = CoverageProblem.of(instance, model, topic.reference_sentences)
    return Extract.of(topic, spec, problem, chosen, numbered=numbered)


def _reference_model(topic: Topic, spec: Spec, units: Sequence[int]) -> Any:
    """Return the equations as a `pyomo.environ.ConcreteModel` in which ``x[i]`` is 1 if unit i is chosen."""
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


def _component(
    counted: Counted,
    part: int,
    units: Sequence[Counts],
    texts: Sequence[list[str]],
    seams: Sequence[tuple[int, int, Gram]],
) -> Component:
    if counted.spec.boundaries != "joined" or counted.metric.components[part].sizes != (2,):
        return counted.component(part, units)
    empty = [unit for unit, words in enumerate(texts) if not words]
    across = [(key, (i, j), _between(empty, i, j), 1) for i, j, key in counted.spec.deadline.watching(seams)]
    # Joined, a summary of w words has w - 1 bigrams.
    return counted.component(part, units, list(map(len, texts)), lost=1, joints=across)


def _candidates(topic: Topic, spec: Spec) -> list[tuple[int, int, list[str]]]:
    """Return number, length and tokens of every sentence that is not longer than the maximum."""
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
    """Return the reference bigrams formed by the end of one sentence and the start of a later one."""
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
