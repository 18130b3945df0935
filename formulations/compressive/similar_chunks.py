"""Compressions by meaning: a chunk is as like a reference token as the most similar of its words.

The vectors of the words are those of the whole sentence, as the source has it: what is left out changes no other word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.metrics.similarity import Similarity
from optsum.problem.spec import Spec

from ..similar import Likeness, SimilarTask, needed_vectors
from .compression import Compression, CompressiveProblem, named
from .trimming import TrimmableSentence


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SimilarCompression(SimilarTask, Compression):
    """A compression that is also scored by its vectors."""


def similar_compression(
    topic: Topic,
    spec: Spec,
    metric: Similarity,
    sentences: tuple[TrimmableSentence, ...],
    lengths: Sequence[Sequence[int]],
    alive: Sequence[int],
) -> SimilarCompression:
    """Return the problem of a topic.

    Parameters
    ----------
    lengths : one integer a group, for each sentence
    alive : one integer a sentence
        The groups that fit into the summary together with all that they need, as bits.

    Raises
    ------
    InputError
        If there are no vectors, or not one for each word of the parses.
    """
    vectors = needed_vectors(topic)
    first = np.cumsum([0, *(len(sentence.chunks) for sentence in sentences)])
    group_of = np.zeros(len(vectors.sentence_of), np.int64)
    for number, sentence in enumerate(sentences):
        tokens = np.flatnonzero(vectors.sentence_of == number)
        if len(tokens) not in {0, len(sentence.group_of_word)}:
            raise InputError(
                f"Sentence {number} of topic {topic.id!r} has {len(tokens)} vectors, but {len(sentence.group_of_word)} "
                "words in its parse: a compression needs one for each word, in order."
            )
        group_of[tokens] = first[number] + np.array(sentence.group_of_word, np.int64)[: len(tokens)]
    all_places = [(number, group) for number, each in enumerate(sentences) for group in range(len(each.chunks))]
    found = Likeness.of(topic, vectors, spec, metric, group_of, range(len(all_places)))
    adds = found.adds
    kept: set[int] = set()
    for place in range(len(all_places) - 1, -1, -1):  # children come after their parents
        number, group = all_places[place]
        needed = adds[place] or spec.keep_unmatched or spec.min_length > 0
        if alive[number] >> group & 1 and (needed or place in kept):
            kept.add(place)
            if (parent := sentences[number].parents[group]) >= 0:
                kept.add(int(first[number]) + parent)
    order = sorted(kept)
    unit_of_place = np.full(len(all_places) + 1, -1, np.int64)
    unit_of_place[order] = np.arange(len(order))
    places = tuple(all_places[place] for place in order)
    above = [sentences[number].parents[group] for number, group in places]
    parents = np.array(
        [
            unit_of_place[first[number] + parent] if parent >= 0 else -1
            for (number, _), parent in zip(places, above, strict=True)
        ],
        np.int64,
    )
    instance = found.instance(order, [lengths[number][group] for number, group in places], spec, parents)
    return SimilarCompression(
        **named(topic, spec, CompressiveProblem.of(instance), sentences, places),
        vectors=vectors,
        unit_of=unit_of_place[group_of],
        similarity=metric,
        mean=spec.references == "mean",
    )
