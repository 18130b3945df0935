"""Compressions: sentences of which parts may be left out, under a length limit.

Hirao et al. 2017 (Oracle Summaries of Compressive Summarization), eq. 1-12: the dependency tree of a sentence becomes
a tree of chunks (`optsum.chunks`), and any part of it that holds, with each chunk, all above it may stand in the
summary. An n-gram is there if the chunks of its words are kept and the chunks between them are not
(`formulations/compressive/candidates.py`).

A unit is a group of chunks that live and die together; a whole sentence has the length and the n-grams that it has as
an extract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np

from optsum.chunks.rules.files import load_rules
from optsum.chunks.rules.rules import Rules
from optsum.chunks.tree import chunk_tree
from optsum.corpus.parses import parse_files, parses_of
from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.metrics.metric import Metric
from optsum.metrics.names import parse_metric
from optsum.metrics.similarity import Similarity
from optsum.problem.counted import Counted
from optsum.problem.formulation import Formulation
from optsum.problem.objective import Component
from optsum.problem.serves import Rule, Serves
from optsum.problem.spec import Spec

from ..similar import OF_SIMILARITY
from .compression import Compression, CompressiveProblem, named
from .pyomo_model import CompressiveModel
from .similar_chunks import similar_compression
from .trimmed_counts import TrimmedCounts, trimmed_counts
from .trimming import LENGTHS, TrimmableSentence, trimmable

_SERVES: Final = Serves(
    rules=(
        Rule(
            "The compressive formulation searches rouge-N, rouge-su0 and similarity, not {metric}: choose one with "
            "--metric.",
            only={"part": ("rouge-N", "rouge-su0", "similarity")},
        ),
        *OF_SIMILARITY,
        Rule(
            "Model units and geometric means (Lin & Hovy 2003) are served for extracts: use --formulation extractive, "
            "or rouge-N with --model-units whole.",
            only={"metric": ("rouge-N", "rouge-su0", "A+B", "similarity"), "model_units": ("whole",)},
        ),
        Rule(
            "The compressive formulation counts n-grams within sentences, as the paper does: leave --boundaries at "
            "sentence.",
            only={"boundaries": ("sentence",)},
        ),
        Rule(
            "How many {metric} n-grams a compression has is no linear function of its chunks: use --measure recall, "
            "or rouge-1, rouge-2 or rouge-su0.",
            only={"part": ("rouge-1", "rouge-2", "rouge-su0", "similarity")},
            when={"measure": ("precision", "f1")},
        ),
        Rule(
            "With set counts the compressive formulation serves {measure} of rouge-1 only: use --measure recall, "
            "or --counts clipped.",
            only={"part": ("rouge-1",)},
            when={"measure": ("precision", "f1"), "counts": ("set",)},
        ),
        Rule(
            "The tokenizer pypi-rouge makes tokens of blanks, which are in no chunk: choose another with --tokenizer.",
            when={"tokenizer": ("pypi-rouge",)},
        ),
    )
)


_rules_of = lru_cache(maxsize=8)(load_rules)


@dataclass(frozen=True)
class Compressive(Formulation):
    """Sentences without some of their chunks.

    Parameters
    ----------
    chunk_profile : {"strict", "paper"}
        Which parts of a sentence can go by themselves.
    chunk_rules : str or None
        By which chunks are made, a label scheme or a file; None for those that go with the labels of the parse.
    """

    chunk_profile: Literal["strict", "paper"] = "strict"
    chunk_rules: str | None = None

    name: ClassVar[str] = "compressive"
    summaries: ClassVar[str] = "compressions"
    about: ClassVar[str] = "sentences of which parts may be left out (Hirao et al. 2017, compressive)"
    whole_sentences: ClassVar[bool] = False
    serves: ClassVar[Serves] = _SERVES
    flags: ClassVar[tuple[str, ...]] = ("chunk_profile", "chunk_rules")

    def __post_init__(self) -> None:
        """Refuse rules that cannot be read."""
        self._rules()

    def _rules(self) -> Rules | None:
        return None if self.chunk_rules is None else _rules_of(self.chunk_rules)

    def contents(self) -> Mapping[str, Any]:
        """Return what the file of rules holds."""
        rules = self._rules()
        return {} if rules is None else {"chunk_rules": rules.digest}

    def files_of(self, topic: Topic) -> Sequence[Path]:
        """Return the files of its parses."""
        return parse_files(topic)

    def build(self, topic: Topic, spec: Spec) -> Compression:
        """Return the problem of a topic.

        A group of chunks that holds no n-gram of any reference and leads to none is no unit, and neither is one that
        is longer than the maximum with all that it needs; a minimum length keeps the former.

        Raises
        ------
        InputError
            If the topic has no parse of each sentence, or its references have no n-gram to count.
        """
        sentences = tuple(
            trimmable(number, sentence, parse, chunk_tree(parse, self.chunk_profile, self._rules()))
            for number, (sentence, parse) in enumerate(zip(topic.sentences, parses_of(topic), strict=True))
        )
        lengths = [LENGTHS[spec.length_unit](sentence) for sentence in sentences]
        if isinstance(similarity := parse_metric(spec.metric), Similarity):
            alive = [_alive(sentence, own, spec) for sentence, own in zip(sentences, lengths, strict=True)]
            return similar_compression(topic, spec, similarity, sentences, lengths, alive)
        counted = Counted.of(topic, spec)
        metric = counted.metric
        trimmed = [
            trimmed_counts(
                sentence,
                sentence.tokens(spec.analyzer),
                metric.components,
                counted.wanted,
                alive=_alive(sentence, own, spec),
                all_unigrams=counted.distinct and spec.measure != "recall",
                keep_all=spec.keep_unmatched or spec.min_length > 0,
            )
            for sentence, own in zip(sentences, lengths, strict=True)
        ]
        places = tuple((sentence, group) for sentence, found in enumerate(trimmed) for group in found.kept)
        unit_of = {place: unit for unit, place in enumerate(places)}
        instance = counted.coverage(
            _components(counted, topic, trimmed, unit_of, spec),
            [lengths[sentence][group] for sentence, group in places],
            parents=np.array([unit_of.get((s, sentences[s].parents[g]), -1) for s, g in places], np.int64),
        )
        references = counted.references(0)
        model = CompressiveModel(references, metric, sentences, lengths, places, spec) if counted.simple else None
        problem = CompressiveProblem.of(instance, reference_model=model)
        return Compression(**named(topic, spec, problem, sentences, places))


def _components(
    counted: Counted, topic: Topic, trimmed: Sequence[TrimmedCounts], unit_of: Mapping[tuple[int, int], int], spec: Spec
) -> list[Component]:
    """Return what units and joints hold of each component of a metric; a unit is a group of a sentence."""
    components = []
    for number, part in enumerate(counted.metric.components):
        joints = [
            joint
            for sentence, found in enumerate(trimmed)
            for joint in found.joints(number, {group: unit_of[sentence, group] for group in found.kept})
        ]
        components.append(
            counted.component(
                number,
                [trimmed[sentence].single[number][group] for sentence, group in unit_of],
                _masses(topic, trimmed, part) if spec.measure != "recall" and not counted.distinct else (),
                joints=joints,
            )
        )
    return components


def _alive(sentence: TrimmableSentence, lengths: Sequence[int], spec: Spec) -> int:
    """Return the groups that fit into the summary together with all that they need, as bits."""
    least: list[int] = []
    for parent, length in zip(sentence.parents, lengths, strict=True):
        least.append(length + (least[parent] if parent >= 0 else 0))
    return sum(1 << group for group, length in enumerate(least) if length <= spec.max_length or spec.keep_overlong)


def _masses(topic: Topic, counted: Sequence[TrimmedCounts], metric: Metric) -> list[int]:
    masses: list[int] = []
    for number, found in enumerate(counted):
        own = found.masses(metric)
        if own is None:
            raise InputError(
                f"The main chunk of sentence {number} of topic {topic.id!r} has no counted token, so the number of "
                f"{metric} n-grams of its compressions is no linear function of its chunks: use --measure recall."
            )
        masses += own
    return masses
