"""Extracts: whole sentences chosen under a length limit.

Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), eq. 1-8: maximize the clipped n-gram hits against all
references, subject to a maximum length. A unit is a sentence; an n-gram g that occurs N(g, R_k) times in reference k
gains, with its t-th copy, as many hits as there are references with N(g, R_k) >= t.

Lin & Hovy 2003 (The Potential and Limitations of Automatic Sentence Extraction), eq. 1-2: the model units of a
reference, its sentences, are clipped each by itself. A model unit is a reference of its own here: the same gains serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from optsum.corpus.topic import Topic
from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.metrics.names import Metric, parse_metric
from optsum.metrics.ngrams import Gram, count
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.formulation import Formulation, Spec, Task
from optsum.problem.problem import Selection
from optsum.text.lengths import LENGTH_OF
from optsum.text.tokenizers import Sentence

from .extractive_pyomo import ReferenceModel
from .objective import Component, objective_of
from .rouge_l import longest_problem

__all__ = ["Extract", "Extractive"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Extract(Task):
    """An extractive task: `units` are sentence numbers of the topic."""

    sentences: tuple[Sentence, ...] = field(repr=False)

    def decode(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return the chosen sentences."""
        return tuple(self.sentences[self.units[unit]] for unit in selection)


class Extractive(Formulation):
    """Sentences, as they are."""

    name: ClassVar[str] = "extractive"
    about: ClassVar[str] = "whole sentences under a length limit (Hirao et al. 2017)"

    def build(self, topic: Topic, spec: Spec) -> Extract:
        """Return the problem of a topic.

        A sentence that shares no counted n-gram with any reference, or is longer than the maximum, is no unit, as in
        the paper; a minimum length keeps the former, because they fill the summary up.

        Raises
        ------
        InputError
            If the references have no n-gram to count.
        """
        metric = _served(spec)
        if metric.kind == "lcs":
            longest, numbers = longest_problem(topic, spec, _candidates(topic, spec))
            return Extract(
                id=topic.id,
                problem=longest,
                units=numbers,
                references=topic.references,
                analyzer=spec.analyzer,
                sentences=topic.sentences,
            )
        distinct = spec.counts == "set"
        texts = _model_units(topic, spec)
        groups = [
            [[count(text, part, distinct=distinct) for text in units] for units in texts] for part in metric.components
        ]
        references = [[counts for group in part for counts in group] for part in groups]
        wanted = [set().union(*counters) for counters in references]
        # A geometric mean needs all of its parts.
        if not any(wanted) or (metric.kind == "product" and not all(wanted)):
            raise InputError(
                f"The references of topic {topic.id!r} have no {metric} n-gram to count, so nothing can be optimized: "
                "give it a reference with text, or another tokenizer."
            )
        sentences = _candidates(topic, spec)
        # Only a denominator that varies needs the n-grams that no reference has.
        only = wanted if spec.measure == "recall" else [None] * len(wanted)
        found = [
            [
                count(words, part, distinct=distinct, only=keys)
                for part, keys in zip(metric.components, only, strict=True)
            ]
            for _, _, words in sentences
        ]
        seams = _seams([words for _, _, words in sentences], wanted) if spec.boundaries == "joined" else []
        joining = {sentence for i, j, _ in seams for sentence in (i, j)}
        kept = [
            sentence
            for sentence, counters in enumerate(found)
            if spec.keep_unmatched
            or spec.min_length > 0
            or sentence in joining
            or not all(map(set.isdisjoint, wanted, counters))
        ]
        place = {sentence: unit for unit, sentence in enumerate(kept)}
        units, lengths = [sentences[one][0] for one in kept], [sentences[one][1] for one in kept]
        full = [bool(sentences[one][2]) for one in kept]
        components = []
        for part, of in enumerate(references):
            counts = [found[one][part] for one in kept]
            bigrams = spec.boundaries == "joined" and metric.components[part].size == 2
            components.append(
                Component(
                    of,
                    counts,
                    # Joined, a summary of w words has w - 1 bigrams.
                    [len(sentences[one][2]) for one in kept] if bigrams else [counter.total() for counter in counts],
                    lost=1 if bigrams else 0,
                    seams=[(place[i], place[j], key) for i, j, key in seams] if bigrams else (),
                    between=partial(_between, full),
                    model_units=groups[part],
                )
            )
        objective, weights = objective_of(
            components,
            spec.measure,
            mean=spec.references == "mean",
            distinct=distinct,
            product=metric.kind == "product",
        )
        instance = objective.coverage(lengths, weights, min_length=spec.min_length, max_length=spec.max_length)
        plain = spec.measure == "recall" and spec.references == "pooled" and len(components) == 1
        reference_model = (
            ReferenceModel(references[0], components[0].units, lengths, spec.max_length, spec.min_length)
            if plain and not seams
            else None
        )
        return Extract(
            id=topic.id,
            problem=CoverageProblem.of(instance, reference_model, topic.reference_sentences),
            units=tuple(units),
            references=topic.references,
            analyzer=spec.analyzer,
            sentences=topic.sentences,
        )


def _model_units(topic: Topic, spec: Spec) -> list[list[list[str]]]:
    """Return the tokens of what is clipped by itself, reference by reference."""
    if spec.model_units == "sentences":
        return [[spec.analyzer.tokens(sentence) for sentence in reference] for reference in topic.references]
    return [[spec.analyzer.joined_tokens(reference)] for reference in topic.references]


def _candidates(topic: Topic, spec: Spec) -> list[tuple[int, int, list[str]]]:
    """Return number, length and tokens of every sentence that is not longer than the maximum."""
    length_of = LENGTH_OF[spec.length_unit]
    tokens = spec.analyzer.tokens
    return [
        (number, length, tokens(sentence))
        for number, sentence in enumerate(topic.sentences)
        if (length := length_of(sentence)) <= spec.max_length or spec.keep_overlong
    ]


def _seams(sentences: Sequence[list[str]], wanted: Sequence[set[Gram]]) -> list[tuple[int, int, Gram]]:
    """Return the reference bigrams that the end of one sentence and the start of a later one would make."""
    follows: dict[str, set[str]] = {}
    for first, second in (key for keys in wanted for key in keys if isinstance(key, tuple) and len(key) == 2):
        follows.setdefault(first, set()).add(second)
    starts: dict[str, list[int]] = {}
    for number, words in enumerate(sentences):
        if words:
            starts.setdefault(words[0], []).append(number)
    return [
        (number, later, (words[-1], second))
        for number, words in enumerate(sentences)
        if words
        for second in sorted(follows.get(words[-1], ()))
        for later in starts.get(second, ())
        if later > number
    ]


def _between(full: Sequence[bool], i: int, j: int) -> Sequence[int]:
    """Return the units between two units that have tokens, and so part them."""
    inner = range(i + 1, j)
    return inner if all(full[i + 1 : j]) else tuple(unit for unit in inner if full[unit])


def _served(spec: Spec) -> Metric:
    """Return the metric, or refuse what this formulation does not serve."""
    metric = parse_metric(spec.metric)
    if metric.kind == "sum" and any(part.kind == "lcs" for part in metric.components):
        raise UnsupportedError(
            f"The extractive formulation searches rouge-l by itself, not in {metric}: choose one with --metric."
        )
    if metric.kind == "product" and (spec.measure != "recall" or spec.references == "mean"):
        raise UnsupportedError(
            f"The geometric mean {metric} is one of recalls, of one reference or pooled ones (Lin & Hovy 2003): "
            "use --measure recall and --references pooled, each or best."
        )
    if spec.model_units == "sentences" and (spec.measure != "recall" or metric.kind == "lcs"):
        raise UnsupportedError(
            "Model units are clipped by themselves for recall of n-grams only (Lin & Hovy 2003): use --measure recall "
            "without rouge-l, or --model-units whole."
        )
    if spec.boundaries == "joined":
        if any(part.kind != "ngram" or part.size > 2 for part in metric.components):
            raise UnsupportedError(
                f"n-grams across sentence ends are served for rouge-1 and rouge-2, not for {metric}: "
                "leave --boundaries at sentence."
            )
        if spec.counts == "set" and spec.measure != "recall":
            raise UnsupportedError(
                f"n-grams across sentence ends with set counts are served for recall, not for {spec.measure}: "
                "leave --boundaries at sentence."
            )
    if spec.length_unit not in LENGTH_OF:
        raise OptionError(f"There is no length unit {spec.length_unit!r}: use words, sentences or characters.")
    return metric
