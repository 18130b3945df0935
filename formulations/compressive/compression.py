"""Compressions as a task: what a choice of chunks is called, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from optsum.corpus.topic import Topic
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.formulation import Task
from optsum.problem.problem import Move, Selection
from optsum.problem.spec import Spec
from optsum.text.tokenizers import Sentence

from .decoding import bare_text, readable_text
from .trimming import LENGTHS, TrimmableSentence


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Compression(Task):
    """A compressive task.

    Attributes
    ----------
    units : tuple of (sentence, chunk)
        The topmost chunk of each unit; chunks are numbered from 1.
    sentences : tuple of TrimmableSentence
    places : tuple of (sentence, group)
        What each unit is.
    """

    sentences: tuple[TrimmableSentence, ...] = field(repr=False)
    places: tuple[tuple[int, int], ...] = field(repr=False)

    def name_units(self, selection: Selection) -> tuple[Any, ...]:
        """Return all chunks of a selection, as pairs of sentence and chunk."""
        return tuple(
            (sentence.number, chunk)
            for sentence, groups in self._kept(selection)
            for chunk in sorted(chunk for group in groups for chunk in sentence.chunks[group])
        )

    def heads(self) -> Mapping[int, int]:
        """Return the main chunk of each sentence, without which nothing of it is kept."""
        return {
            sentence: unit
            for unit, (sentence, group) in enumerate(self.places)
            if self.sentences[sentence].parents[group] < 0
        }

    def unit_lengths(self, length_unit: str) -> Sequence[int]:
        """Return the length of each unit."""
        lengths = [LENGTHS[length_unit](sentence) for sentence in self.sentences]
        return [lengths[sentence][group] for sentence, group in self.places]

    def decode(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return what is kept of each sentence, nothing repaired: its tokens are those that the objective counts."""
        tokenizer = self.analyzer.tokenizer
        return tuple(bare_text(sentence, groups, tokenizer) for sentence, groups in self._kept(selection))

    def display(self, selection: Selection) -> tuple[Sentence, ...]:
        """Return what is kept of each sentence, with punctuation, articles and capitals in order, for people."""
        return tuple(readable_text(sentence, groups) for sentence, groups in self._kept(selection))

    def parts(self) -> list[list[tuple[int, int]]]:
        """Return where the chunks of each sentence begin; those that live and die together go by the topmost."""
        return [[(start, sentence.top[group]) for start, group in sentence.pieces()] for sentence in self.sentences]

    def _kept(self, selection: Selection) -> list[tuple[TrimmableSentence, set[int]]]:
        kept: dict[int, set[int]] = {}
        for unit in selection:
            sentence, group = self.places[unit]
            kept.setdefault(sentence, set()).add(group)
        return [(self.sentences[sentence], kept[sentence]) for sentence in sorted(kept)]


@dataclass(frozen=True, eq=False, kw_only=True)
class CompressiveProblem(CoverageProblem):
    """A coverage problem whose units are parts of sentences: the trees of the forest."""

    def entries(self) -> Iterator[Move]:
        """Yield whole sentences in document order."""
        heads = (self.instance.parents < 0).nonzero()[0].tolist()
        for first, end in pairwise([*heads, self.size]):
            yield tuple(range(first, end))


def named(
    topic: Topic,
    spec: Spec,
    problem: CoverageProblem,
    sentences: tuple[TrimmableSentence, ...],
    places: tuple[tuple[int, int], ...],
) -> dict[str, Any]:
    """Return the attributes of a task whose units are groups of chunks, at these places."""
    names = tuple((sentence, sentences[sentence].top[group]) for sentence, group in places)
    return {
        "id": topic.id,
        "problem": problem,
        "units": names,
        "references": topic.references,
        "analyzer": spec.analyzer,
        "members": {
            name: tuple((s, chunk) for chunk in sentences[s].chunks[group])
            for name, (s, group) in zip(names, places, strict=True)
        },
        "parents": {
            name: names[parent]
            for name, parent in zip(names, problem.instance.parents.tolist(), strict=True)
            if parent >= 0
        },
        "sentences": sentences,
        "places": places,
    }
