"""Test the extractive formulation: units, lengths, and values against the text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from optsum.formulations.extractive import Extract, Extractive

from optsum import solve, solve_all
from optsum.corpus.topic import as_topic
from optsum.errors import InputError
from optsum.metrics.rouge import rouge
from optsum.problem.formulation import Spec
from optsum.problem.problem import CoverageProblem
from optsum.testing import check_problem, random_topic
from optsum.text.analyzer import Analyzer

TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["a a a", "b c", "x y z"], ["c", "", "a b c d e f"]],
    "references": [["a a b"], ["a", "c"]],
}


def build(topic: dict[str, Any] = TOPIC, **spec: Any) -> Extract:
    return cast("Extract", Extractive().task(as_topic(topic), Spec(analyzer=Analyzer(), **spec)))


def instance(task: Extract) -> Any:
    assert isinstance(task.problem, CoverageProblem)
    return task.problem.instance


def test_the_paper_s_terms_by_hand() -> None:
    """Check the gains a 2 then 1, b 1, c 1 of 3 + 2 reference unigrams."""
    task = build(max_length=5)
    made = instance(task)
    assert task.units == (0, 1, 3), "2 and 4 match nothing, 5 is too long"
    assert made.lengths.tolist() == [3, 2, 1]
    assert made.constants.tolist() == [0, 5]
    assert task.problem.evaluate((0,)).key == Fraction(3, 5), "the third a is clipped"
    assert task.problem.evaluate((0, 1)).key == Fraction(5, 5)
    assert task.problem.evaluate((1, 2)).key == Fraction(2, 5)
    assert task.decode((0, 2)) == ("a a a", "c")
    assert task.name_units((0, 2)) == (0, 3)


@pytest.mark.parametrize(
    ("spec", "units"),
    [
        ({"max_length": 2}, (1, 3)),
        ({"max_length": 0}, ()),
        ({}, (0, 1, 3, 5)),
        ({"max_length": 5, "keep_unmatched": True}, (0, 1, 2, 3, 4)),
        ({"max_length": 5, "min_length": 1}, (0, 1, 2, 3, 4)),
        ({"max_length": 2, "keep_unmatched": True, "keep_overlong": True}, (0, 1, 2, 3, 4, 5)),
        ({"max_length": 2, "length_unit": "sentences"}, (0, 1, 3, 5)),
        ({"max_length": 5, "length_unit": "characters"}, (0, 1, 3)),
        ({"max_length": 9, "metric": "rouge-2"}, (0, 5)),
    ],
)
def test_which_sentences_are_units(spec: dict[str, Any], units: tuple[int, ...]) -> None:
    assert build(**spec).units == units


@pytest.mark.parametrize(
    ("unit", "lengths"), [("words", [3, 2, 1, 6]), ("sentences", [1] * 4), ("characters", [5, 3, 1, 11])]
)
def test_lengths_in_each_unit(unit: str, lengths: list[int]) -> None:
    assert instance(build(length_unit=unit)).lengths.tolist() == lengths


def test_references_without_anything_to_count_are_refused() -> None:
    with pytest.raises(InputError, match="The references of topic 't' have no rouge-3 n-gram to count"):
        build({**TOPIC, "references": [["a b"], ["c"]]}, metric="rouge-3")
    with pytest.raises(InputError, match="The references of topic 't' have no token to count"):
        build({**TOPIC, "references": [["."], [""]]}, metric="rouge-l")


def test_an_empty_summary_is_optimal_where_no_sentence_fits() -> None:
    result = solve({**TOPIC, "documents": [["a b c"]]}, max_length=2)
    assert (result.status.value, result.selection, result.objective, result.summary) == ("optimal", (), 0.0, ())
    none = solve({**TOPIC, "documents": [[]]}, max_length=2)
    assert (none.status.value, none.selection, none.objective) == ("optimal", (), 0.0)


@pytest.mark.parametrize("strategy", ["milp", "exhaustive", "greedy", "lead", "random"])
def test_an_unreachable_minimum_is_infeasible(strategy: str) -> None:
    result = solve(TOPIC, max_length=99, min_length=50, strategy=strategy)
    exact = strategy in {"milp", "exhaustive"}
    assert result.status.value == ("infeasible" if exact else "no_solution")
    assert (result.selection, result.objective) == (None, None)


def test_each_reference_is_a_problem_of_its_own() -> None:
    results = list(solve_all([TOPIC], references="each", max_length=3))
    assert [result.id for result in results] == ["t#0", "t#1"]
    assert [(result.numerator, result.denominator) for result in results] == [(2, 3), (1, 2)]


CASES: dict[str, dict[str, Any]] = {
    "words": {"max_length": 7},
    "characters": {"max_length": 15, "length_unit": "characters"},
    "sentences": {"max_length": 2, "length_unit": "sentences", "metric": "rouge-2"},
    "window": {"max_length": 9, "min_length": 6, "metric": "rouge-2"},
    "window of sentences": {"max_length": 3, "min_length": 3, "length_unit": "sentences"},
    "rouge-su0": {"max_length": 8, "metric": "rouge-su0"},
    "rouge-su4": {"max_length": 8, "metric": "rouge-su4"},
    "rouge-3": {"max_length": 12, "metric": "rouge-3"},
    "precision": {"measure": "precision", "metric": "rouge-2"},
    "precision in a window": {"measure": "precision", "max_length": 9, "min_length": 5},
    "f1": {"measure": "f1"},
    "f1 in words": {"measure": "f1", "max_length": 8, "metric": "rouge-su0"},
    "set recall": {"counts": "set", "max_length": 7},
    "set f1": {"counts": "set", "measure": "f1", "metric": "rouge-2"},
    "set precision": {"counts": "set", "measure": "precision", "max_length": 9, "min_length": 4},
    "sum": {"metric": "rouge-1+rouge-2", "max_length": 7},
    "sum f1": {"metric": "rouge-1+rouge-2", "measure": "f1"},
    "mean": {"references": "mean", "max_length": 7},
    "mean f1": {"references": "mean", "measure": "f1", "max_length": 9},
    "mean sum": {"references": "mean", "metric": "rouge-1+rouge-2", "max_length": 9, "counts": "set"},
    "joined": {"boundaries": "joined", "metric": "rouge-2", "max_length": 8},
    "joined rouge-1": {"boundaries": "joined", "max_length": 8},
    "joined precision": {"boundaries": "joined", "metric": "rouge-2", "measure": "precision", "max_length": 9},
    "joined window": {"boundaries": "joined", "metric": "rouge-2", "measure": "f1", "min_length": 4, "max_length": 9},
    "joined sum": {"boundaries": "joined", "metric": "rouge-1+rouge-2", "max_length": 8},
    "joined set": {"boundaries": "joined", "metric": "rouge-2", "counts": "set", "max_length": 8},
    "joined mean": {"boundaries": "joined", "metric": "rouge-2", "references": "mean", "max_length": 8},
}


@pytest.mark.parametrize("name", CASES)
def test_problems_from_text_keep_the_contract(name: str) -> None:
    for seed in range(2):
        topic = as_topic(random_topic(np.random.default_rng(seed), name=f"{name} {seed}"))
        defaults = {"max_length": 2**40}
        try:
            task = Extractive().build(topic, Spec(analyzer=Analyzer(), **{**defaults, **CASES[name]}))
        except InputError:  # nothing to count
            continue
        check_problem(task.problem, name=topic.id, seed=seed)


def test_hits_and_counts_are_those_of_the_text() -> None:
    for seed in range(30):
        topic = random_topic(np.random.default_rng(seed))
        for metric in ("rouge-1", "rouge-2", "rouge-su0"):
            try:
                result = solve(topic, metric=metric, max_length=9)
            except InputError:
                continue
            assert result.summary is not None
            score = rouge(list(result.summary), topic["references"], metric, boundaries="sentence", last_unigram=True)
            assert (result.numerator, result.denominator) == (score.hits, score.reference_total)
            assert result.objective == score.recall
