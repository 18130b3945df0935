"""Extracts: whole sentences chosen under a length limit.

Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), eq. 1-8: maximize the clipped n-gram hits against all
references, subject to a maximum length. A unit is a sentence; an n-gram g that occurs N(g, R_k) times in reference k
gains, with its t-th copy, as many hits as there are references with N(g, R_k) >= t.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import numpy as np

from optsum.corpus.topic import Topic
from optsum.coverage import Coverage
from optsum.coverage_problem import CoverageProblem
from optsum.errors import InputError, OptionError, UnsupportedError
from optsum.formulation import Formulation, Spec, Task
from optsum.metrics import Metric, parse_metric
from optsum.ngrams import Counts, Key, count
from optsum.problem import Selection
from optsum.text import Sentence, character_count, word_count

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
        tokens = spec.analyzer.tokens
        references = [count(spec.analyzer.joined_tokens(reference), metric) for reference in topic.references]
        total = sum(reference.total() for reference in references)
        if not total:
            raise InputError(
                f"The references of topic {topic.id!r} have no {metric} n-gram to count, so nothing can be optimized: "
                "give it a reference with text, or another tokenizer."
            )
        gains = _gains(references)
        keep_unmatched = spec.keep_unmatched or spec.min_length > 0
        length_of = _LENGTH_OF[spec.length_unit]
        units: list[int] = []
        lengths: list[int] = []
        counts: list[Counts] = []
        matched: list[dict[Key, int]] = []
        for number, sentence in enumerate(topic.sentences):
            length = length_of(sentence)
            if length > spec.max_length and not spec.keep_overlong:
                continue
            found = count(tokens(sentence), metric)
            hits = {key: copies for key, copies in found.items() if key in gains}
            if hits or keep_unmatched:
                units.append(number)
                lengths.append(length)
                counts.append(found)
                matched.append(hits)
        masses = [found.total() for found in counts]
        instance = _instance(spec, lengths, matched, gains, total, masses, len(references))
        reference_model = (
            ReferenceModel(references, counts, lengths, spec.max_length, spec.min_length)
            if instance.constant_denominator
            else None
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
    if metric.kind not in {"ngram", "skip"}:
        raise UnsupportedError(
            f"The extractive formulation searches rouge-N and rouge-suK, not {metric}: choose one with --metric."
        )
    if spec.counts != "clipped":
        raise UnsupportedError(f"The extractive formulation counts n-grams clipped, not as {spec.counts}.")
    if spec.boundaries != "sentence":
        raise UnsupportedError(
            f"The extractive formulation counts n-grams within sentences, not {spec.boundaries}: "
            "leave --boundaries at sentence."
        )
    if spec.length_unit not in _LENGTH_OF:
        raise OptionError(f"There is no length unit {spec.length_unit!r}: use words, sentences or characters.")
    return metric


def _gains(references: Sequence[Counts]) -> dict[Key, tuple[int, ...]]:
    """Gain of each copy of each n-gram: the number of references that hold it at least that often."""
    if len(references) == 1:
        return {key: (1,) * copies for key, copies in references[0].items()}
    held: dict[Key, list[int]] = {}
    for reference in references:
        for key, copies in reference.items():
            held.setdefault(key, []).append(copies)
    gains: dict[Key, tuple[int, ...]] = {}
    for key, copies_in in held.items():
        copies_in.sort()
        gains[key] = tuple(len(copies_in) - bisect_left(copies_in, copy) for copy in range(1, copies_in[-1] + 1))
    return gains


def _instance(
    spec: Spec,
    lengths: list[int],
    matched: list[dict[Key, int]],
    gains: dict[Key, tuple[int, ...]],
    total: int,
    masses: list[int],
    references: int,
) -> Coverage:
    """Return the normal form; n-grams of no unit, and steps beyond all copies there are, are left out."""
    available: dict[Key, int] = {}
    for hits in matched:
        for key, copies in hits.items():
            available[key] = available.get(key, 0) + copies
    number = {key: feature for feature, key in enumerate(available)}
    # F1 = 2 hits / (reference total + references * summary mass): hits count twice.
    scale = 2 if spec.measure == "f1" else 1
    level: list[int] = []
    level_start = [0]
    for key, copies in available.items():
        level.append(0)
        level.extend(accumulate(gain * scale for gain in gains[key][:copies]))
        level_start.append(len(level))
    mass = np.zeros((2, len(lengths)), np.int64)
    if spec.measure != "recall":
        mass[1] = [references * found for found in masses]
    return Coverage(
        lengths=np.array(lengths, np.int64),
        unit_start=np.array([0, *accumulate(map(len, matched))], np.int64),
        unit_feature=np.array([number[key] for hits in matched for key in hits], np.int64),
        unit_count=np.array([copies for hits in matched for copies in hits.values()], np.int64),
        level_start=np.array(level_start, np.int64),
        level=np.array(level, np.int64),
        slot=np.zeros(len(number), np.int64),
        constants=np.array([0, 0 if spec.measure == "precision" else total], np.int64),
        mass=mass,
        min_length=spec.min_length,
        max_length=spec.max_length,
    )
