"""Compare official scores from numbered tokens with the plain scorer."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optsum
from optsum.corpus.topic import Topic
from optsum.metrics.rouge import (
    LONGEST,
    NGRAMS,
    SKIPS,
    LongestSubsequence,
    Metric,
    NGrams,
    SkipBigrams,
    parse_metric,
    rouge_all,
)
from optsum.problem.objective import official_scores
from optsum.text.analyzer import Analyzer, Sentence
from optsum.text.interned import interned

NAMES = ("rouge-1", "rouge-2", "rouge-3", "rouge-7", "rouge-l", "rouge-su0", "rouge-su4", "rouge-su999")
METRICS = tuple(map(parse_metric, NAMES))
SENTENCE = st.lists(st.sampled_from("abcde"), max_size=9) | st.lists(st.sampled_from("abcdefgh"), max_size=150)
TEXT = st.lists(SENTENCE.map(" ".join), max_size=4)


def assert_same(
    references: list[list[Sentence]], sentences: list[Sentence], chosen: list[int], analyzer: Analyzer
) -> None:
    bounds = [0, *accumulate(map(len, references))]
    found = interned(analyzer, [*(one for reference in references for one in reference), *sentences])
    scores = official_scores(found, bounds, chosen, METRICS)
    assert scores == rouge_all([sentences[number] for number in chosen], references, METRICS, analyzer=analyzer)


@given(st.lists(TEXT, max_size=3), TEXT, st.data())
def test_scores_equal_those_of_the_text(
    references: list[list[Sentence]], sentences: list[Sentence], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(sentences) - 1), unique=True) if sentences else st.just([]))
    assert_same(references, sentences, chosen, Analyzer())


@pytest.mark.parametrize("width", [63, 64, 65, 128, 129, 300])
def test_sentences_at_the_edges_of_words_of_bits(width: int) -> None:
    rng = np.random.default_rng(width)
    for letters in ("ab", "abcdefghijklmnop"):
        one, other = (" ".join(rng.choice(list(letters), width)) for _ in range(2))
        assert_same([[one], ["a b", one]], [other, "b a"], [0, 1], Analyzer())


@pytest.mark.parametrize("name", ["realsumm", "squality", "dbs", "gum"])
def test_real_texts(shared_data: Path, name: str) -> None:
    rng = np.random.default_rng(1)
    topics = [t for t in optsum.read_topics(shared_data / name / "topics.jsonl") if isinstance(t, Topic)]
    for topic in topics[:1]:
        chosen = sorted(rng.choice(len(topic.sentences), min(4, len(topic.sentences)), replace=False).tolist())
        for analyzer in (Analyzer(), Analyzer(stem=True, stopwords="drop")):
            assert_same(list(map(list, topic.references)), list(topic.sentences), chosen, analyzer)


def test_a_metric_that_derives_from_one_is_asked_for_its_keys() -> None:
    class Other(NGrams):
        pass

    class Others(SkipBigrams):
        pass

    class Longest(LongestSubsequence):
        pass

    found = interned(Analyzer(), ["a b", "a"])
    metrics: list[Metric] = [Other(1), Others(1), Longest()]
    for metric in metrics:
        assert metric.coded is None
        assert official_scores(found, [0, 1], [0], [metric]) is None


def test_kernels_get_the_sizes_that_built_in_metrics_count() -> None:
    coded = {name: parse_metric(name).coded for name in ("rouge-3", "rouge-su4", "rouge-l", "rouge-1+rouge-2")}
    assert coded == {
        "rouge-3": (NGRAMS, 3),
        "rouge-su4": (SKIPS, 4),
        "rouge-l": (LONGEST, 0),
        "rouge-1+rouge-2": None,
    }


def test_without_metrics_there_are_no_scores() -> None:
    assert official_scores(interned(Analyzer(), ["a b", "a"]), [0, 1], [0], []) == {}
