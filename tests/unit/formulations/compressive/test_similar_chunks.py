"""Compare compressions by similarity with all compressions of small topics."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from math import floor
from typing import Any

import numpy as np
import pytest
from compressive_instances import Draw, draw
from optsum.formulations import compressive
from trying import blocks

import optsum
from optsum.errors import InputError
from optsum.metrics.similarity import vectors_of

_UNIT = 10_000


def _drawn(seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Draw, Any, Any, Any]:
    """Return a topic with a vector for each word, the first word of each sentence, and the similarities."""
    rng = np.random.default_rng(seed)
    drawn = draw(rng, strict=seed % 2 == 0)
    trees = dict(zip(map(id, drawn.parses), drawn.trees, strict=True))
    monkeypatch.setattr(compressive, "parses_of", lambda topic: drawn.parses)
    monkeypatch.setattr(compressive, "chunk_tree", lambda parse, profile, rules: trees[id(parse)])
    words = [len(parse.tokens) for parse in drawn.parses]
    references = rng.integers(1, 3, len(drawn.topic.references))
    similar = np.round(rng.uniform(-0.3, 1, (sum(words), int(references.sum()))), int(rng.integers(1, 6)))
    arrays = {
        "similarities": similar,
        "sentence_of": np.repeat(np.arange(len(words)), words),
        "reference_of": np.repeat(np.arange(len(references)), references),
    }
    vectors = vectors_of(arrays, len(words), drawn.topic.references)
    drawn = replace(drawn, topic=replace(drawn.topic, vectors=vectors))
    return drawn, np.cumsum([0, *words]), similar, references


def _worth(drawn: Draw, first: Any, similar: Any, kept: tuple[tuple[int, ...], ...], measure: str, of: Any) -> float:
    """Return recall, precision or F1 of the kept chunks of each sentence, by definition."""
    steps = np.array([[floor(max(0.0, value) * _UNIT + 1e-6) / _UNIT for value in row] for row in similar.tolist()])
    held = [
        int(first[number]) + word
        for number, chunks in enumerate(kept)
        for chunk, words in drawn.trees[number].nodes(data="tokens")
        for word in words
        if chunk in chunks
    ]
    if not held:
        return 0.0
    recall = float(steps[held].max(axis=0).mean())
    if measure == "recall":
        return recall
    ends = np.cumsum([0, *of])
    each = [steps[held, begin:end].max(axis=1).mean() for begin, end in pairwise(ends)]
    precision = float(np.mean(each))
    if measure == "precision":
        return precision
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


@pytest.mark.parametrize("seeds", blocks(120))
def test_the_best_compression(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        drawn, first, similar, of = _drawn(seed, monkeypatch)
        measure = ("recall", "f1", "recall", "precision")[seed % 4]
        total = sum(len(sentence.split()) for sentence in drawn.topic.sentences)
        most = int(np.random.default_rng(seed).integers(1, total + 2))
        options: Any = {"metric": "similarity", "formulation": "compressive", "measure": measure, "max_length": most}
        every = list(product(*(list(drawn.compressions(number)) for number in range(len(drawn.parses)))))
        fitting = [
            kept for kept in every if sum(drawn.words(number, chunks) for number, chunks in enumerate(kept)) <= most
        ]
        best = max(_worth(drawn, first, similar, kept, measure, of) for kept in fitting)
        names = ["branch-and-bound", "exhaustive", *(["milp"] if seed % 3 == 0 and measure != "f1" else [])]
        for name in [*names, *(["greedy", "vns", "genetic", "lead"] if seed % 10 == 0 else [])]:
            found = optsum.solve(drawn.topic, strategy=name, **options)
            assert found.objective is not None
            assert found.selection is not None
            kept = tuple(
                tuple(chunk for own, chunk in found.selection if own == number) for number in range(len(drawn.parses))
            )
            assert kept in fitting
            assert found.objective == pytest.approx(_worth(drawn, first, similar, kept, measure, of), abs=1e-9)
            if name in names:
                assert found.status.value == "optimal"
                assert found.objective == pytest.approx(best, abs=1e-9)
            assert found.rouge is not None
            beside = found.rouge["similarity"][measure]
            assert -1e-9 <= beside - found.objective <= 2 / _UNIT + 1e-9


def test_vectors_that_are_not_one_a_word_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, _, _, _ = _drawn(1, monkeypatch)
    references = len(drawn.topic.references)
    arrays = {
        "similarities": np.ones((40, references)),
        "sentence_of": np.zeros(40),
        "reference_of": np.arange(references),
    }
    vectors = vectors_of(arrays, len(drawn.parses), drawn.topic.references)
    with pytest.raises(InputError, match="one vector for each word"):
        optsum.solve(
            replace(drawn.topic, vectors=vectors), metric="similarity", formulation="compressive", max_length=5
        )
