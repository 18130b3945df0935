"""Test the names of metrics: parsing, printing, unknown names."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.errors import OptionError, UnknownNameError
from optsum.metrics.rouge import (
    METRICS,
    GeometricMean,
    LongestSubsequence,
    Metric,
    MetricSum,
    NGrams,
    SkipBigrams,
    WholeSubsequence,
    official_name,
    parse_metric,
)

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


def test_other_spellings_are_read() -> None:
    assert official_name("ROUGE-1+r2+Rouge_SU4+rougeLsum + R-l") == "rouge-1+rouge-2+rouge-su4+rouge-l+rouge-l"
    assert official_name("rougeL+rougel") == "rougeL+rouge-l"
    assert parse_metric("R1+rougeL") == MetricSum((NGrams(1), WholeSubsequence()))


def test_kinds_tell_words_and_pairs_from_longer_ngrams() -> None:
    kinds = {name: parse_metric(name).kinds for name in ("rouge-1", "rouge-2", "rouge-3", "rouge-4")}
    assert kinds == {
        "rouge-1": {"rouge-N", "rouge-1"},
        "rouge-2": {"rouge-N", "rouge-2"},
        "rouge-3": {"rouge-N", "rouge-3+"},
        "rouge-4": {"rouge-N", "rouge-3+"},
    }


class Letters(Metric):
    """A third party's metric, which is read from its own name and from longer ones."""

    form = "letters"
    about = "letters"

    @classmethod
    def read(cls, name: str) -> Metric | None:
        return cls() if name in {"letters", "letters-of-words"} else None

    def keys(self, tokens: list[str]) -> list[str]:
        return list("".join(tokens))


def test_a_third_party_s_class_is_loaded_only_for_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for form, place in (("letters", f"{__name__}:Letters"), ("lost", "optsum_lost:Lost")):
        monkeypatch.setitem(METRICS._plugins, form, EntryPoint(form, place, METRICS.group))
    assert isinstance(parse_metric("letters"), Letters)
    assert isinstance(parse_metric("letters-of-words"), Letters)
    for name in ("lost", "lost-2"):
        with pytest.raises(OptionError, match="lost of optsum_lost:Lost cannot be imported"):
            parse_metric(name)
    for name in ("letter", "letters-of-word"):
        with pytest.raises(UnknownNameError, match=rf"'{name}'; did you mean letters\?"):
            parse_metric(name)


def test_a_class_in_a_file_must_accept_its_own_name(tmp_path: Path) -> None:
    place = tmp_path / "own.py"
    code = 'class Own(Metric):\n    form = "own"\n    def keys(self, tokens):\n        return tokens\n'
    place.write_text(f"from optsum import Metric\n\n{code}")
    assert parse_metric(f"{place}:Own").name == "own"
    refusing = tmp_path / "refusing.py"
    refusing.write_text(f"{place.read_text()}    @classmethod\n    def read(cls, name):\n        return None\n")
    with pytest.raises(OptionError, match="does not accept its own name 'own'"):
        parse_metric(f"{refusing}:Own")


def test_a_mean_is_no_part_of_a_sum() -> None:
    with pytest.raises(OptionError, match="adds a geometric mean"):
        parse_metric("rouge-1+ngram-1-2")
    assert parse_metric("ngram-1-2") == GeometricMean(1, 2)


def test_a_sum_names_each_metric_once() -> None:
    with pytest.raises(OptionError, match="twice"):
        parse_metric("rouge-1+rouge-2+rouge-1")
