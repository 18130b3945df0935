"""Test the names of metrics: parsing, printing, unknown names."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.errors import OptionError, UnknownNameError
from optsum.metrics.rouge import GeometricMean, LongestSubsequence, MetricSum, NGrams, SkipBigrams, parse_metric

SINGLE = st.integers(1, 999).map("rouge-{}".format) | st.integers(0, 999).map("rouge-su{}".format) | st.just("rouge-l")


@given(st.lists(SINGLE, min_size=1, max_size=4, unique=True))
def test_names_are_read_back(names: list[str]) -> None:
    metric = parse_metric("+".join(names))
    assert metric.name == str(metric) == "+".join(names)
    assert [component.name for component in metric.components] == names
    assert parse_metric(metric) is metric
    assert pickle.loads(pickle.dumps(metric)) == metric  # noqa: S301
    assert len({metric, parse_metric(metric.name)}) == 1


def test_each_form_is_a_class() -> None:
    assert parse_metric("rouge-2") == NGrams(2)
    assert parse_metric("rouge-su0") == SkipBigrams(0)
    assert parse_metric("rouge-l") == LongestSubsequence()
    assert parse_metric("rouge-1+rouge-2") == MetricSum((NGrams(1), NGrams(2)))
    assert parse_metric("ngram-1-3") == GeometricMean(1, 3)
    assert parse_metric("ngram-2-2") == NGrams(2)


def test_sizes_are_of_tokens_next_to_each_other() -> None:
    sizes = {
        name: parse_metric(name).sizes for name in ("rouge-3", "rouge-su0", "rouge-su1", "rouge-l", "rouge-1+rouge-2")
    }
    assert sizes == {"rouge-3": (3,), "rouge-su0": (1, 2), "rouge-su1": (), "rouge-l": (), "rouge-1+rouge-2": ()}


@pytest.mark.parametrize(
    "name",
    [
        *("", "rouge", "rouge-0", "rouge-01", "rouge-1000", "rouge-su", "rouge-su-1", "rouge-s4", "rouge-w"),
        *("rouge-١", "rouge-1+", "+", "rouge-l1", "bleu"),
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"there is no metric .*nown: rouge-1"):
        parse_metric(name)


def test_near_names_are_offered() -> None:
    with pytest.raises(UnknownNameError, match=r"'rogue-2'; did you mean rouge-2"):
        parse_metric("rouge-1+rogue-2")


def test_a_sum_names_each_metric_once() -> None:
    with pytest.raises(OptionError, match="twice"):
        parse_metric("rouge-1+rouge-2+rouge-1")
