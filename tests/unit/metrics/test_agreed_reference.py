"""Check that the reference that others agree with best is chosen by the metric and measure of the search."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.metrics.rouge import agreed_reference


def scores(model: str, summary: str, size: int) -> dict[str, Fraction]:
    """Return recall, precision and F1 of n-grams of one size, by definition."""
    one, other = (Counter(zip(*(text.split()[k:] for k in range(size)), strict=False)) for text in (model, summary))
    hits = sum((one & other).values())
    recall, precision = Fraction(hits, one.total() or 1), Fraction(hits, other.total() or 1)
    total = recall + precision
    return {"recall": recall, "precision": precision, "f1": 2 * recall * precision / total if total else Fraction(0)}


def test_the_agreed_reference_for_sums_means_and_measures() -> None:
    rng, differing = np.random.default_rng(0), 0
    for number in range(50):
        several = 2 + number % 3
        references = [" ".join(rng.choice(list("abcde"), size=rng.integers(3, 12))) for _ in range(several)]
        chosen = {}
        for metric, sizes, folded in (
            ("rouge-1", (1,), sum),
            ("rouge-1+rouge-2", (1, 2), sum),
            ("ngram-1-2", (1, 2), prod),
            ("ngram-1-3", (1, 2, 3), prod),
            ("ngram-2-2", (2,), sum),
        ):
            for measure in ("recall", "precision", "f1") if folded is sum else ("recall",):
                worth = {
                    pair: folded(scores(references[pair[0]], references[pair[1]], size)[measure] for size in sizes)
                    for pair in permutations(range(several), 2)
                }
                chosen[metric, measure] = agreed_reference([(text,) for text in references], metric, measure)
                assert chosen[metric, measure] == max(worth, key=lambda pair: worth[pair])[0]
        differing += chosen["rouge-1+rouge-2", "recall"] != chosen["ngram-1-2", "recall"]
    assert differing > 1


def test_no_reference_or_one_agrees_with_itself() -> None:
    assert agreed_reference([], "rouge-1") == agreed_reference([("a b",)], "rouge-1") == 0


def test_a_limit_ends_the_reading_and_the_comparison() -> None:
    """Test a limit that is reached when so many references are read; reading another one would be an error."""
    references: list[Any] = [(text,) for text in ("a b", "b c", "c a")]
    for read in range(4):
        left = [None] * read

        def check(left: list[None] = left) -> None:
            if not left:
                raise TimeoutError
            left.pop()

        with pytest.raises(TimeoutError):
            agreed_reference([*references[:read], *[None] * (3 - read)], "rouge-1", check=check)


@pytest.mark.parametrize("metric", ["rouge-1", "ngram-1-2", "ngram-1-3"])
def test_solving_takes_that_reference(metric: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        references = [[" ".join(rng.choice(list("abcde"), size=9))] for _ in range(3)]
        topic = {"id": "t", "documents": [["a b c", "c d e", "b d", "e a"]], "references": references}
        number = agreed_reference(references, metric)
        alone = optsum.solve(topic | {"references": [references[number]]}, metric=metric, max_length=6)
        assert optsum.solve(topic, references="agreed", metric=metric, max_length=6).objective == alone.objective


def test_agreement_counts_skip_bigrams_as_the_search_does() -> None:
    """Test this because ROUGE-1.5.5 leaves out the last unigram of rouge-su, while the search counts it."""
    rng, differing = np.random.default_rng(2), 0
    for _ in range(40):
        references = [[" ".join(rng.choice(list("abcde"), size=rng.integers(1, 5)))] for _ in range(3)]
        topic = {"id": "t", "documents": [["a b c", "c d e", "b d", "e a"]], "references": references}
        chosen = []
        for last in (True, False):
            worth = {
                (one, other): optsum.rouge(references[other], [references[one]], "rouge-su0", last_unigram=last).recall
                for one, other in permutations(range(3), 2)
            }
            chosen.append(max(worth, key=lambda pair: worth[pair])[0])
        differing += chosen[0] != chosen[1]
        alone = optsum.solve(topic | {"references": [references[chosen[0]]]}, metric="rouge-su0", max_length=6)
        assert optsum.solve(topic, references="agreed", metric="rouge-su0", max_length=6).objective == alone.objective
    assert differing
