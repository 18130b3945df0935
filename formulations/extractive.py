"""Extracts: whole sentences chosen under a length limit.

Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), eq. 1-8: maximize the clipped n-gram hits against all
references, subject to a maximum length. A unit is a sentence; an n-gram g that occurs N(g, R_k) times in reference k
gains, with its t-th copy, as many hits as there are references with N(g, R_k) >= t.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from optsum.corpus.topic import Topic
from optsum.coverage_problem import CoverageProblem
from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.formulation import Formulation, Spec, Task
from optsum.metrics import Metric, parse_metric
from optsum.ngrams import Counts, count
from optsum.problem import Selection
from optsum.text import Sentence, character_count, word_count

from .objective import Component, objective_of
from .reference_model import ReferenceModel

__all__ = ["Extract", "Extractive"]


def _one(sentence: Sentence) -> int:
    """Length of a sentence in sentences."""
    del sentence
    return 1


_LENGTH_OF = {"words": word_count, "characters": character_count, "sentences": _one}


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
        distinct = spec.counts == "set"
        tokens = spec.analyzer.tokens
        texts = [spec.analyzer.joined_tokens(reference) for reference in topic.references]
        references = [[count(text, part, distinct=distinct) for text in texts] for part in metric.components]
        wanted = [set().union(*counters) for counters in references]
        if not any(wanted):
            raise InputError(
                f"The references of topic {topic.id!r} have no {metric} n-gram to count, so nothing can be optimized: "
                "give it a reference with text, or another tokenizer."
            )
        keep_unmatched = spec.keep_unmatched or spec.min_length > 0
        length_of = _LENGTH_OF[spec.length_unit]
        units: list[int] = []
        lengths: list[int] = []
        counts: list[list[Counts]] = [[] for _ in references]
        for number, sentence in enumerate(topic.sentences):
            length = length_of(sentence)
            if length > spec.max_length and not spec.keep_overlong:
                continue
            words = tokens(sentence)
            found = [count(words, part, distinct=distinct) for part in metric.components]
            if keep_unmatched or not all(map(set.isdisjoint, wanted, found)):
                units.append(number)
                lengths.append(length)
                for counters, counter in zip(counts, found, strict=True):
                    counters.append(counter)
        components = [Component(of, by) for of, by in zip(references, counts, strict=True)]
        objective, weights = objective_of(components, spec.measure, mean=spec.references == "mean", distinct=distinct)
        instance = objective.coverage(lengths, weights, min_length=spec.min_length, max_length=spec.max_length)
        plain = spec.measure == "recall" and spec.references == "pooled" and len(components) == 1
        reference_model = (
            ReferenceModel(references[0], counts[0], lengths, spec.max_length, spec.min_length) if plain else None
        )
        return Extract(
            id=topic.id,
            problem=CoverageProblem.of(instance, reference_model=reference_model),
            units=tuple(units),
            references=topic.references,
            analyzer=spec.analyzer,
            sentences=topic.sentences,
        )


def _served(spec: Spec) -> Metric:
    """Return the metric, or refuse what this formulation does not serve."""
    metric = parse_metric(spec.metric)
    if not {part.kind for part in metric.components} <= {"ngram", "skip"}:
        raise UnsupportedError(
            f"The extractive formulation searches rouge-N and rouge-suK, not {metric}: choose one with --metric."
        )
    if spec.boundaries != "sentence":
        raise UnsupportedError(
            f"The extractive formulation counts n-grams within sentences, not {spec.boundaries}: "
            "leave --boundaries at sentence."
        )
    if spec.length_unit not in _LENGTH_OF:
        raise OptionError(f"There is no length unit {spec.length_unit!r}: use words, sentences or characters.")
    return metric
