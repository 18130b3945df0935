"""Test the options and invariants of the scorer `rouge`."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.errors import InputError, OptionError, UnknownNameError, UnsupportedError
from optsum.metrics.rouge import Score, rouge, rouge_all
from optsum.text.analyzer import Analyzer

METRICS = ["rouge-1", "rouge-2", "rouge-3", "rouge-su0", "rouge-su4", "rouge-l"]
SENTENCES = st.lists(st.lists(st.sampled_from(["a", "b", "cat", "cats", "the"]), max_size=7).map(" ".join), max_size=4)
REFERENCES = st.lists(SENTENCES, max_size=4)
OPTIONS = st.fixed_dictionaries(
    {
        "stem": st.booleans(),
        "stopwords": st.sampled_from(["keep", "drop"]),
        "max_words": st.none() | st.integers(1, 12),
        "references_mode": st.sampled_from(["pooled", "mean", "best"]),
        "best_by": st.sampled_from(["recall", "precision", "f1"]),
        "boundaries": st.sampled_from(["joined", "sentence"]),
        "last_unigram": st.booleans(),
    }
)


def test_a_score_by_hand() -> None:
    score = rouge(["the cat sat", "on a mat"], [["The cat is on the mat."]])
    assert (score.hits, score.reference_total, score.summary_total) == (4, 6, 6)
    assert score.recall == score.precision == score.f1 == 4 / 6


def test_bigrams_cross_the_ends_of_sentences() -> None:
    summary, references = ["a b.", "C d"], ["a b c d"]
    assert rouge(summary, references, "rouge-2").hits == 3
    assert rouge(summary, references, "rouge-2", boundaries="sentence").hits == 2
    assert rouge(summary, ["a b", "c d"], "rouge-2").hits == 2  # two references
    assert rouge(summary, [["a b", "c d"]], "rouge-2").reference_total == 3


def test_counts_are_clipped() -> None:
    score = rouge("a a a b", ["a a c"])
    assert (score.hits, score.reference_total, score.summary_total) == (2, 3, 4)
    distinct = rouge("a a a b", ["a a c"], counts="set")
    assert (distinct.hits, distinct.reference_total, distinct.summary_total) == (1, 2, 2)


def test_set_counts_within_sentences_count_a_repeated_ngram_once() -> None:
    score = rouge(["a b", "a b"], ["a b c"], "rouge-2", counts="set", boundaries="sentence")
    assert (score.hits, score.summary_total) == (1, 1)


def test_references_are_pooled_averaged_or_chosen() -> None:
    summary, references = "a b", ["a b c d", "a", "x"]
    pooled = rouge(summary, references)
    assert (pooled.hits, pooled.reference_total, pooled.summary_total) == (3, 6, 6)
    mean = rouge(summary, references, references_mode="mean")
    assert mean.exact("recall") == Fraction(1, 2)  # (2/4 + 1 + 0) / 3
    assert mean.exact("precision") == Fraction(1, 2)
    assert mean.exact("f1") == (Fraction(4, 6) + Fraction(2, 3) + 0) / 3
    assert mean.recall == pytest.approx(0.5)
    best = rouge(summary, references, references_mode="best")
    assert (best.hits, best.reference_total, best.summary_total) == (1, 1, 2)
    by_precision = rouge(summary, references, references_mode="best", best_by="precision")
    assert (by_precision.hits, by_precision.reference_total) == (2, 4)


def test_the_first_of_equal_references_is_best() -> None:
    best = rouge("a b", ["a x", "b x y z", "a b b b"], references_mode="best")
    assert (best.hits, best.reference_total) == (1, 2)


def test_cut_after_so_many_words() -> None:
    # The three words have four tokens; references are cut as well.
    score = rouge(["co-op one", "two three"], [["co-op one two three four"]], "rouge-1", max_words=3)
    assert (score.hits, score.reference_total, score.summary_total) == (4, 4, 4)


def test_skip_bigrams_leave_out_the_last_unigram() -> None:
    official = rouge("a b", ["x b"], "rouge-su4")
    assert (official.hits, official.reference_total) == (0, 2)
    formula = rouge("a b", ["x b"], "rouge-su4", last_unigram=True)
    assert (formula.hits, formula.reference_total) == (1, 3)


def test_stemming_and_stop_words_reach_both_sides() -> None:
    assert rouge("The agreements", ["an agreement"], stem=True, stopwords="drop").f1 == 1.0
    assert rouge("The agreements", ["an agreement"], stopwords="drop").f1 == 0.0
    assert rouge("x y", ["y z"], stopwords=frozenset({"x", "z"})).f1 == 1.0


def test_other_languages_through_token_lists() -> None:
    score = rouge([("日", "本")], [[("日", "本", "語")]], "rouge-2", tokenizer="tokens")
    assert (score.hits, score.reference_total) == (1, 2)
    assert rouge("日本", ["日本"]).f1 == 0.0
    assert rouge("日本", ["日本"], tokenizer="unicode").f1 == 1.0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("mode", ["pooled", "mean", "best"])
def test_nothing_to_score_is_zero(metric: str, mode: str) -> None:
    for summary, references in (
        ("", ["a b c"]),
        ("a b c", [""]),
        ("a", []),
        ([], [[]]),
        ("", []),
        ("...", ["?"]),
    ):
        score = rouge(summary, references, metric, references_mode=mode)  # type: ignore[arg-type]
        assert (score.recall, score.precision, score.f1, score.hits) == (0.0, 0.0, 0.0, 0)
        assert score.exact("recall") == score.exact("precision") == score.exact("f1") == 0


@given(SENTENCES, REFERENCES, OPTIONS)
def test_scores_lie_between_0_and_1(summary: list[str], references: list[list[str]], options: dict[str, str]) -> None:
    for metric in METRICS:
        score = rouge(summary, references, metric, **options)  # type: ignore[arg-type]
        for measure in ("recall", "precision", "f1"):
            assert 0.0 <= getattr(score, measure) <= 1.0
            assert getattr(score, measure) == pytest.approx(float(score.exact(measure)), abs=1e-15)
        assert 0 <= score.hits <= min(score.reference_total, score.summary_total)


@given(SENTENCES, REFERENCES, OPTIONS)
def test_scoring_all_is_scoring_each(summary: list[str], references: list[list[str]], options: dict[str, str]) -> None:
    analyzer = Analyzer(stem=bool(options["stem"]), stopwords=options["stopwords"])
    rest = {name: value for name, value in options.items() if name not in {"stem", "stopwords"}}
    scores = rouge_all(summary, references, METRICS, analyzer=analyzer, **rest)  # type: ignore[arg-type]
    assert list(scores) == METRICS
    for metric in METRICS:
        assert scores[metric] == rouge(summary, references, metric, **options)  # type: ignore[arg-type]


@given(SENTENCES.filter(lambda text: len(" ".join(text).split()) >= 3), st.booleans())
def test_a_reference_scores_1_against_itself(text: list[str], stem: bool) -> None:
    for metric, score in rouge_all(text, [text], METRICS, analyzer=Analyzer(stem=stem)).items():
        assert score.recall == score.precision == score.f1 == 1.0, metric


@given(SENTENCES, REFERENCES)
def test_pooled_recall_is_the_published_formula(summary: list[str], references: list[list[str]]) -> None:
    """Compare with equation 1 of Lin (2004) for bigrams."""

    def bigrams(text: list[str]) -> Counter[str]:
        words = " ".join(text).split()
        return Counter(f"{one} {other}" for one, other in pairwise(words))

    of_summary = bigrams(summary)
    hits = sum(min(number, of_summary[pair]) for text in references for pair, number in bigrams(text).items())
    score = rouge(summary, references, "rouge-2")
    assert score.hits == hits
    assert score.reference_total == sum(bigrams(text).total() for text in references)
    assert score.summary_total == len(references) * of_summary.total()


@given(SENTENCES, SENTENCES, st.sampled_from(METRICS[:5]))
def test_recall_and_precision_swap_with_the_texts(one: list[str], other: list[str], metric: str) -> None:
    forward, backward = rouge(one, [other], metric), rouge(other, [one], metric)
    assert forward.recall == backward.precision
    assert forward.f1 == backward.f1


@given(SENTENCES, REFERENCES, st.sampled_from(["rouge-1", "rouge-2", "rouge-su0"]))
def test_within_sentences_recall_is_at_most_the_official(
    summary: list[str], references: list[list[str]], metric: str
) -> None:
    within = rouge(summary, references, metric, boundaries="sentence", last_unigram=True)
    official = rouge(summary, references, metric, last_unigram=True)
    assert within.hits <= official.hits
    assert within.reference_total == official.reference_total


def test_a_sum_stands_for_its_parts() -> None:
    scores = rouge_all("a b", ["a b"], ["rouge-1+rouge-2", "rouge-1", "rouge-l"])
    assert list(scores) == ["rouge-1", "rouge-2", "rouge-l"]
    with pytest.raises(UnsupportedError, match="rouge_all"):
        rouge("a b", ["a b"], "rouge-1+rouge-2")


def test_scores_are_compared_by_value() -> None:
    assert rouge("a b", ["a"]) == Score.from_counts(1, 1, 2)
    with pytest.raises(OptionError, match="measure"):
        rouge("a b", ["a"]).exact("f2")  # type: ignore[arg-type]


def test_wrong_options_are_refused() -> None:
    for option in ("counts", "references_mode", "best_by", "boundaries"):
        with pytest.raises(OptionError, match=f"{option} must be one of"):
            rouge("a", ["a"], **{option: "some"})  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="max_words must be at least 1"):
        rouge("a", ["a"], max_words=0)
    with pytest.raises(UnknownNameError, match="rouge-2"):
        rouge("a", ["a"], "rogue-2")
    with pytest.raises(UnknownNameError, match="unicode"):
        rouge("a", ["a"], tokenizer="unicod")
    with pytest.raises(UnsupportedError, match="clipped"):
        rouge("a", ["a"], "rouge-l", counts="set")
    with pytest.raises(UnsupportedError, match="split"):
        rouge("a", ["a"], "rouge-l", model_units="sentences")


@pytest.mark.parametrize("bad", [None, 3, b"bytes", ["a", None], {"a": 1}, [3]])
def test_wrong_texts_are_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="the summary must be a string or a list of sentences"):
        rouge(bad, ["a"])
    with pytest.raises(InputError, match="reference 1 must be"):
        rouge("a", ["a", bad])
    with pytest.raises(InputError, match="put the string into a list"):
        rouge("a", "a reference")


def test_wrong_types_of_options_are_refused() -> None:
    for options in ({"stem": "no"}, {"last_unigram": 1}, {"metric": 1}):
        with pytest.raises(OptionError):
            rouge("a", ["a"], **options)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"give a whole number\.$"):
        rouge("a", ["a"], max_words=1.5)  # type: ignore[arg-type]
