"""Test the cover formulation from topic to result: the paper's example, ids, weights, uncoverable sentences."""

from __future__ import annotations

from typing import Any

import pytest
from cover_topics import MINIMUM, TABLE_1, TEXT
from optsum.formulations.cover import Cover
from optsum.solvers.objectives.covers import enumerate_covers

import optsum
from optsum.contracts.result import Result, Status
from optsum.corpus.topic import as_topic
from optsum.errors import InputError, OptionError
from optsum.options.options import resolve
from optsum.problem.formulation import Spec
from optsum.running.one_problem import setup_of
from optsum.text.analyzer import Analyzer


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"backend": "pyomo:highs"},
        {"strategy": "exhaustive"},
    ],
    ids=["milp", "pyomo", "exhaustive"],
)
def test_the_papers_example(options: dict[str, Any]) -> None:
    result = optsum.solve(TABLE_1, formulation="cover", **options)
    assert (result.status, result.objective, result.bound, result.selection) == (Status.OPTIMAL, 6, 6, MINIMUM)


def test_the_papers_minimum_is_the_only_one() -> None:
    task = Cover().build(as_topic(TABLE_1), Spec(analyzer=Analyzer()))
    optima = enumerate_covers(task.problem.coverage)
    assert [task.name_units(chosen) for chosen in optima] == [MINIMUM]
    assert optsum.solve(TABLE_1, formulation="cover", strategy="exhaustive").statistics["best_selections"] == 1


def test_greedy_has_a_certified_gap() -> None:
    result = optsum.solve(TABLE_1, formulation="cover", strategy="greedy")
    assert result.status is Status.FEASIBLE
    assert result.objective is not None
    assert result.bound is not None
    assert result.bound <= 6 <= result.objective


def test_without_documents_there_is_no_text_and_no_metric() -> None:
    result = optsum.solve(TABLE_1, formulation="cover")
    row = result.to_row()
    absent = ("metric", "length", "summary", "rouge", "numerator", "denominator")
    assert {name: row[name] for name in absent} == dict.fromkeys(absent)
    assert row["selection"] == list(MINIMUM)
    assert Result.from_row(row) == result


def test_with_documents_the_text_is_there_and_scored() -> None:
    result = optsum.solve(TEXT, formulation="cover")
    assert (result.objective, result.selection, result.summary) == (1, (2,), ("here are four words",))
    assert result.length == 4
    assert optsum.solve(TEXT, formulation="cover", length_unit="characters").length == 19
    assert result.rouge is not None
    assert result.rouge["rouge-1"]["recall"] == 0
    assert result.metric is None


def test_without_references_the_text_is_not_scored() -> None:
    result = optsum.solve({**TEXT, "references": None}, formulation="cover")
    assert (result.summary, result.rouge) == (("here are four words",), None)


def test_sentences_weighted_by_length() -> None:
    topic = {**TEXT, "cover": [[[0], [2]], [[1], [2]]]}
    counted = optsum.solve(topic, formulation="cover")
    assert (counted.objective, counted.selection) == (1, (2,))
    weighted = optsum.solve(topic, formulation="cover", weights="length")
    assert (weighted.objective, weighted.selection, weighted.length) == (3, (0, 1), 3)
    characters = optsum.solve(topic, formulation="cover", weights="length", length_unit="characters")
    assert (characters.objective, characters.selection) == (len("one") + len("two words"), (0, 1))


def test_pre_tokenized_documents() -> None:
    topic = {"id": "t", "documents": [[["A", "b"], ["c"]]], "cover": [[[1], [0]]]}
    result = optsum.solve(topic, formulation="cover", weights="length")
    assert (result.selection, result.summary, result.objective) == ((1,), ("c",), 1)


def test_units_are_in_natural_order() -> None:
    topic = {"id": "t", "cover": [[["b10"]], [["b9"]], [["a"]], [[7]], [["12"]], [["Satz 3"]]]}
    assert optsum.solve(topic, formulation="cover").selection == (7, "12", "Satz 3", "a", "b9", "b10")


def test_ids_of_the_documents_sentences() -> None:
    topic = {
        **TEXT,
        "meta": {"sentence_ids": ["d1.1", "d1.2", "d1.3", "d2.1", "d2.2"]},
        "cover": [[["d2.2"]], [["d1.2"]]],
    }
    result = optsum.solve(topic, formulation="cover")
    assert (result.selection, result.summary) == (("d1.2", "d2.2"), ("two words", "another one"))


def test_names_that_are_in_no_document_have_no_text() -> None:
    result = optsum.solve({**TEXT, "cover": [[["elsewhere"]], [[0]]]}, formulation="cover")
    assert (result.selection, result.summary, result.length) == ((0, "elsewhere"), None, None)


@pytest.mark.parametrize("strategy", ["lead", "random"])
def test_baselines_see_all_sentences(strategy: str) -> None:
    options = resolve({"formulation": "cover", "strategy": strategy})
    from optsum.running.one_problem import build

    assert build(as_topic(TEXT), setup_of(options)).units == (0, 1, 2, 3, 4)
    assert build(as_topic(TABLE_1), setup_of(options)).problem.size == 11


def test_an_alternative_that_names_a_sentence_twice_or_comes_twice() -> None:
    topic = {"id": "t", "cover": [[["a", "a"], ["a"]], [["b", "c"], ["c", "b"]]]}
    result = optsum.solve(topic, formulation="cover", strategy="exhaustive")
    assert (result.selection, result.statistics["best_selections"]) == (("a", "b", "c"), 1)


def test_uncoverable_sentences_are_an_error() -> None:
    topic = {"id": "t", "cover": [[["a"]], [], [["b"], ["a"]], []]}
    with pytest.raises(
        InputError, match=r"each of the 2 abstract sentences 1, 3 has no alternative.*uncoverable=.skip"
    ):
        optsum.solve(topic, formulation="cover")


def test_uncoverable_sentences_skipped_are_reported() -> None:
    topic = {"id": "t", "cover": [[["a"]], [], [["b"], ["a"]], []]}
    result = optsum.solve(topic, formulation="cover", uncoverable="skip")
    assert (result.selection, result.statistics["uncoverable"]) == (("a",), [1, 3])
    whole = optsum.solve(TABLE_1, formulation="cover", uncoverable="skip")
    assert "uncoverable" not in whole.statistics


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cover": None}, 'has no "cover"'),
        ({"cover": []}, "is empty"),
        ({"cover": [[], []]}, "each of the 2 abstract sentences 0, 1 has no alternative"),
        ({"cover": [[[]]]}, "for abstract sentence 0 is empty"),
        ({"cover": [[[5]]]}, "names 5, which is no sentence of its documents"),
        ({"cover": [[[-1]]]}, "names -1, which is no sentence of its documents"),
        ({"cover": [[[1]], [["1"]]]}, "both as a number and as text"),
        ({"meta": {"sentence_ids": ["a", "b"]}}, "does not name each of the 5 sentences once"),
        ({"meta": {"sentence_ids": "abcde"}}, "does not name each of the 5 sentences once"),
        ({"meta": {"sentence_ids": list("abcda")}}, "does not name each of the 5 sentences once"),
        (
            {"meta": {"sentence_ids": list("abcde")}, "cover": [[["f"]]]},
            "names 'f', which is no sentence of its documents",
        ),
    ],
)
def test_a_topic_that_cannot_be_covered_is_an_error_row(change: dict[str, Any], reason: str) -> None:
    for uncoverable in ("error", "skip"):
        (result,) = optsum.solve_all([{**TEXT, **change}], formulation="cover", uncoverable=uncoverable)
        assert result.status is Status.ERROR
        assert reason in (result.error or "")
        assert (result.metric, result.formulation) == (None, "cover")


def test_lengths_need_text() -> None:
    with pytest.raises(InputError, match="length is therefore unknown"):
        optsum.solve(TABLE_1, formulation="cover", weights="length")
    with pytest.raises(InputError, match="length is therefore unknown"):
        optsum.solve({**TEXT, "cover": [[["elsewhere"]]]}, formulation="cover", weights="length")


@pytest.mark.parametrize(
    "options", [{"min_length": 1}, {"references": "each"}, {"max_length": 3, "references": "best"}]
)
def test_options_without_meaning_for_covers_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="cover"):
        optsum.solve(TABLE_1, formulation="cover", **options)


def test_one_bad_topic_costs_the_others_nothing() -> None:
    results = list(optsum.solve_all([{"id": "bad", "cover": [[]]}, TABLE_1], formulation="cover"))
    assert [result.status for result in results] == [Status.ERROR, Status.OPTIMAL]
