"""Test n-grams, skip-bigrams and their counts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.errors import OptionError, UnknownNameError, UnsupportedError
from optsum.metrics.rouge import Counts, Gram, ngrams, overlap, parse_metric, skip_bigrams


def count(tokens: list[str], metric: str, **how: bool) -> Counts:
    return parse_metric(metric).count(tokens, **how)


TOKENS = st.lists(st.sampled_from("abc"), max_size=12)


@given(TOKENS, st.integers(1, 15))
def test_ngrams_are_windows(tokens: list[str], n: int) -> None:
    windows = [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]
    assert list(ngrams(tokens, n)) == (tokens if n == 1 else windows)


@given(TOKENS, st.integers(0, 15))
def test_skip_bigrams_are_near_pairs(tokens: list[str], skip: int) -> None:
    pairs = [(tokens[i], tokens[j]) for i in range(len(tokens)) for j in range(i + 1, len(tokens)) if j <= i + skip + 1]
    assert sorted(skip_bigrams(tokens, skip)) == sorted(pairs)


def test_sizes_that_do_not_exist_are_refused() -> None:
    with pytest.raises(OptionError, match="0"):
        ngrams(["a"], 0)
    with pytest.raises(OptionError, match="-1"):
        skip_bigrams(["a"], -1)


def test_a_huge_size_costs_nothing() -> None:
    assert list(ngrams(["a", "b"], 10**12)) == []
    assert list(skip_bigrams(["a", "b"], 10**12)) == [("a", "b")]


def test_count_of_ngrams() -> None:
    assert count(["a", "b", "a", "b"], "rouge-1") == {"a": 2, "b": 2}
    assert count(["a", "b", "a", "b"], "rouge-2") == {("a", "b"): 2, ("b", "a"): 1}
    assert count(["a", "b", "a", "b"], "rouge-2", distinct=True) == {("a", "b"): 1, ("b", "a"): 1}
    assert count(["a"], "rouge-2") == count([], "rouge-1") == {}


def test_count_of_skip_bigrams_has_both_readings() -> None:
    tokens = ["a", "b", "c"]
    pairs: dict[Gram, int] = {("a", "b"): 1, ("b", "c"): 1}
    assert count(tokens, "rouge-su0") == {"a": 1, "b": 1, "c": 1} | pairs
    assert count(tokens, "rouge-su0", official=True) == {"a": 1, "b": 1} | pairs
    assert count(tokens, "rouge-su4") == {"a": 1, "b": 1, "c": 1, ("a", "c"): 1} | pairs
    assert count(["a"], "rouge-su4", official=True) == count([], "rouge-su4") == {}
    assert count(["a", "a"], "rouge-su4", distinct=True) == {"a": 1, ("a", "a"): 1}


def test_rouge_n_knows_one_reading() -> None:
    assert count(["a", "b"], "rouge-1", official=True) == {"a": 1, "b": 1}


@given(st.lists(st.sampled_from(["a", "b", "a b", "('a', 'b')", ""]), max_size=8), st.integers(0, 5))
def test_unigrams_and_pairs_never_mix(tokens: list[str], skip: int) -> None:
    counts = count(tokens, f"rouge-su{skip}")
    assert {key: number for key, number in counts.items() if isinstance(key, str)} == Counter(tokens)
    pairs = {key: number for key, number in counts.items() if isinstance(key, tuple)}
    assert pairs == Counter(skip_bigrams(tokens, skip))


def test_metrics_without_counts_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="rouge-l does not count n-grams"):
        count(["a"], "rouge-l")
    with pytest.raises(UnsupportedError, match="components"):
        count(["a"], "rouge-1+rouge-2")
    with pytest.raises(UnknownNameError):
        count(["a"], "rouge-x")


@given(TOKENS, TOKENS, st.sampled_from(["rouge-1", "rouge-2", "rouge-su2"]))
def test_overlap_is_the_size_of_the_intersection(left: list[str], right: list[str], metric: str) -> None:
    one: Counts = count(left, metric)
    other: Counts = count(right, metric)
    assert overlap(one, other) == overlap(other, one) == (one & other).total()
