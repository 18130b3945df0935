"""Test ROUGE-L as an objective: its value is the official score, and every strategy that serves it is right."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import optsum
from optsum.corpus.topic import as_topic
from optsum.errors import UnsupportedError
from optsum.options.options import resolve
from optsum.running.one_problem import build, setup_of
from optsum.testing import brute_force, check_problem, random_topic

MEASURES = ("recall", "precision", "f1")
METRICS = (
    *("rouge-l", "rougeL", "rouge-l+rougeL", "rouge-1+rouge-l", "rouge-1+rouge-2+rouge-l", "rouge-1+rouge-2+rougeL"),
    "rouge-su4+rouge-l",
)


def topic_of(seed: int, sentences: int = 6) -> dict[str, Any]:
    return random_topic(np.random.default_rng(seed), name=f"t{seed}", sentences=sentences)


def official(topic: dict[str, Any], selection: tuple[int, ...], options: dict[str, Any]) -> Fraction:
    """Return the official score of a selection: the mean over metrics, with n-grams within sentences."""
    sentences = [sentence for document in topic["documents"] for sentence in document]
    summary = [sentences[number] for number in selection]

    def score(references: list[Any]) -> Fraction:
        parts = [
            optsum.rouge(summary, references, name, boundaries="sentence", last_unigram=True)
            for name in options["metric"].split("+")
        ]
        return sum((part.exact(options["measure"]) for part in parts), Fraction(0)) / len(parts)

    references = topic["references"]
    if options["references"] == "pooled":
        return score(references)
    if options["references"] == "first":
        return score(references[:1])
    each = [score([reference]) for reference in references]
    return max(each) if options["references"] == "best" else sum(each, Fraction(0)) / len(each)


def optima_of(topic: dict[str, Any], options: dict[str, Any]) -> dict[tuple[int, ...], Fraction]:
    """Return the value of every feasible selection."""
    lengths = [len(sentence.split()) for document in topic["documents"] for sentence in document]
    low, high = options.get("min_length", 0), options["max_length"]
    return {
        units: official(topic, units, options)
        for size in range(min(len(lengths), options.get("max_sentences", 99)) + 1)
        for units in combinations(range(len(lengths)), size)
        if low <= sum(lengths[unit] for unit in units) <= high
    }


OPTIONS = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(METRICS),
        "measure": st.sampled_from(MEASURES),
        "references": st.sampled_from(["pooled", "mean", "best", "first"]),
        "max_length": st.integers(3, 14),
    },
    optional={"min_length": st.integers(1, 3), "max_sentences": st.integers(1, 3)},
)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), OPTIONS, st.sampled_from(["auto", "branch-and-bound", "milp", "exhaustive"]))
def test_optimum_is_the_best_official_score(seed: int, options: dict[str, Any], strategy: str) -> None:
    topic = topic_of(seed, 5)
    worth = optima_of(topic, options)
    result = optsum.solve(topic, strategy=strategy, **options)
    if not worth:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.selection is not None
    assert result.key == max(worth.values()) == worth[result.selection]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), OPTIONS.filter(lambda each: each["references"] != "best"), st.booleans())
def test_all_optima_and_what_is_near_them(seed: int, options: dict[str, Any], every_set: bool) -> None:
    topic = topic_of(seed, 5)
    extra = {"keep_unmatched": True}
    worth = optima_of(topic, options)
    best = max(worth.values(), default=Fraction(0))
    if not worth or not best:
        return
    strategy = "exhaustive" if every_set else "branch-and-bound"
    found = optsum.enumerate_optima(topic, strategy=strategy, **options, **extra)
    assert {tuple(units) for units in found} == {units for units, value in worth.items() if value == best}
    near = optsum.enumerate_optima(topic, strategy=strategy, within="20%", **options, **extra)
    assert {tuple(units) for units in near} == {
        units for units, value in worth.items() if value >= best * Fraction(4, 5)
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(MEASURES), st.integers(1, 20))
def test_whole_texts_are_solved_by_the_table_of_subsequences(seed: int, measure: str, most: int) -> None:
    topic = topic_of(seed, 6)
    options = {"metric": "rougeL", "measure": measure, "references": "first", "max_length": most}
    result = optsum.solve(topic, strategy="branch-and-bound", **options)
    worth = optima_of(topic, options)
    assert result.selection is not None
    assert (result.status, result.key) == ("optimal", max(worth.values()))
    assert result.key == worth[result.selection]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**9), st.sampled_from(MEASURES), st.integers(2, 24), st.sampled_from([None, "10%", "50%", "0.1"])
)
def test_all_optima_of_whole_texts_by_states_of_the_table(
    seed: int, measure: str, most: int, within: str | None
) -> None:
    topic = topic_of(seed, 8)
    options: dict[str, Any] = {"metric": "rougeL", "measure": measure, "references": "first", "max_length": most}
    options |= {"keep_unmatched": True, "within": within}
    found, truth = (
        optsum.enumerate_optima(topic, strategy=strategy, **options) for strategy in ("branch-and-bound", "exhaustive")
    )
    assert (found.count, found.value, found.bound, found.complete) == (truth.count, truth.value, truth.bound, True)
    assert set(found.diagram) == set(truth.diagram)


@pytest.mark.parametrize("strategy", ["auto", "branch-and-bound"])
def test_a_sum_with_one_whole_text_is_no_table(strategy: str) -> None:
    options = {"metric": "rouge-1+rouge-2+rougeL", "measure": "f1", "references": "first", "max_length": 12}
    for seed in range(5):
        worth = optima_of(topic_of(seed), options)
        assert optsum.solve(topic_of(seed), strategy=strategy, **options).key == max(worth.values())


@pytest.mark.parametrize("measure", MEASURES)
def test_branch_and_bound_takes_references_too_long_for_a_program(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("optsum.coverage.ceilings._PIECES", 3)
    for seed in range(5):
        options = {"metric": "rougeL", "measure": measure, "references": "mean", "max_length": 12}
        worth = optima_of(topic_of(seed), options)
        found = optsum.enumerate_optima(topic_of(seed), strategy="branch-and-bound", keep_unmatched=True, **options)
        best = max(worth.values())
        assert {tuple(units) for units in found} == {units for units, value in worth.items() if value == best}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), OPTIONS, st.sampled_from(["greedy", "vns", "genetic", "lead", "random"]))
def test_heuristics_are_bounded(seed: int, options: dict[str, Any], strategy: str) -> None:
    topic = topic_of(seed, 5)
    worth = optima_of(topic, options)
    own = ["population=10", "no_improvement=4"] if strategy == "genetic" else []
    result = optsum.solve(topic, strategy=strategy, strategy_options=own, evaluation_limit=300, **options)
    if result.selection is None:
        return
    assert result.key == worth[result.selection]
    assert result.bound is not None
    assert result.bound >= float(max(worth.values())) - 1e-12


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("references", ["pooled", "mean"])
@pytest.mark.parametrize("metric", ["rouge-l", "rougeL", "rouge-1+rouge-l"])
def test_the_problem_keeps_the_contract(metric: str, measure: str, references: str) -> None:
    for seed in range(3):
        options = resolve({"metric": metric, "measure": measure, "references": references, "max_length": 9})
        check_problem(build(as_topic(topic_of(seed)), setup_of(options)).problem, name=f"{metric} {measure}", seed=seed)


def test_hits_are_limited_by_the_tokens_of_the_summary() -> None:
    """Check that an "a" of the summary that covers the "a" of two reference sentences is one hit."""
    topic = {"id": "t", "documents": [["a", "b"]], "references": [["a x", "a y"]]}
    for strategy in ("auto", "milp", "exhaustive"):
        result = optsum.solve(topic, metric="rouge-l", max_length=1, strategy=strategy)
        assert (result.objective, result.status) == (0.25, "optimal")


def test_a_bound_just_below_the_optimum_by_the_solver_s_tolerance_is_accepted() -> None:
    # HiGHS proves 11 hits with the bound 10.999998.
    topic = {
        "id": "bent",
        "documents": [["d d", "a c d c b", "a b a", "b b e e a"]],
        "references": [["a c b d c a", "b b e b", "b d b e c e"]],
    }
    for seed in range(5):
        result = optsum.solve(topic, metric="rouge-l", max_length=12, seed=seed, strategy="milp")
        assert (result.selection, result.objective_exact, result.status) == ((0, 1, 3), "11/16", "optimal")


def test_refusals_say_what_to_do() -> None:
    topic = topic_of(1)
    with pytest.raises(UnsupportedError, match="clipped counts"):
        optsum.solve(topic, metric="rouge-l", max_length=9, counts="set")
    with pytest.raises(UnsupportedError, match="Model units"):
        optsum.solve(topic, metric="rouge-1+rouge-l", max_length=9, model_units="sentences")
    for metric in ("rouge-l", "rougeL", "rouge-1+rouge-l"):
        with pytest.raises(UnsupportedError, match=f"not {metric.replace('+', '.')}: choose one with metric"):
            optsum.solve(topic, metric=metric, formulation="compressive", max_length=9)
    with pytest.raises(UnsupportedError, match=r"give boundaries=.sentence"):
        optsum.solve(topic, metric="rouge-2+rouge-l", boundaries="joined", max_length=9)


@pytest.mark.parametrize("measure", ["recall", "f1"])
def test_exhaustive_lists_all_optima(measure: str) -> None:
    ties = 0
    for seed in range(30):
        topic = as_topic(topic_of(seed))
        given = {"metric": "rouge-l", "measure": measure, "max_length": 8, "strategy": "exhaustive"}
        task = build(topic, setup_of(resolve(given)))
        truth = brute_force(task.problem)
        found = optsum.enumerate_optima(topic, **given)
        assert set(found.diagram) == set(truth.optima)
        bottom = task.problem.coverage.constants[1] if measure == "recall" else 1
        assert (found.complete, found.value) == (True, truth.best * int(bottom))
        ties += found.count > 1
    assert ties >= 3


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["rouge-l", "rougeL"])
def test_real_topics(shared_data: Path, metric: str) -> None:
    """Check that the objective is the official score of the text, and that two strategies agree."""
    topics = list(optsum.read_topics(shared_data / "realsumm" / "topics.jsonl"))[:2]
    given = {"metric": metric, "measure": "f1", "max_length": 60}
    proven = list(optsum.solve_all(topics, **given))
    for one, two in zip(proven, optsum.solve_all(topics, strategy="milp", **given), strict=True):
        assert one.status == two.status == "optimal"
        assert one.key == two.key
        assert one.rouge is not None
        assert one.objective == pytest.approx(one.rouge[metric]["f1"], abs=1e-12)


SIDES = st.fixed_dictionaries(
    {},
    optional={
        "require": st.sampled_from([[0], [3], [1, 4]]),
        "forbid": st.sampled_from([[2], [5], [2, 5]]),
        "per_document": st.integers(1, 2),
        "max_sentences": st.integers(2, 3),
        "max_characters": st.integers(10, 40),
    },
)


def allowed(topic: dict[str, Any], units: tuple[int, ...], sides: dict[str, Any], pairs: list[list[int]]) -> bool:
    """Whether a selection satisfies all side constraints."""
    homes = [number for number, document in enumerate(topic["documents"]) for _ in document]
    sentences = [sentence for document in topic["documents"] for sentence in document]
    return (
        set(sides.get("require", ())) <= set(units)
        and not set(sides.get("forbid", ())) & set(units)
        and all(sum(unit in pair for unit in units) <= 1 for pair in pairs)
        and all(sum(homes[unit] == home for unit in units) <= sides.get("per_document", 99) for home in set(homes))
        and sum(len(sentences[unit]) for unit in units) <= sides.get("max_characters", 9999)
    )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**9),
    OPTIONS.filter(lambda each: each["references"] != "best"),
    SIDES,
    st.sampled_from([None, [[0, 3]], [[1, 2, 3], [0, 4]]]),
    st.sampled_from(["auto", "branch-and-bound", "milp", "exhaustive"]),
)
@example(12417, {"metric": "rougeL", "measure": "recall", "references": "pooled", "max_length": 3}, {}, None, "milp")
def test_side_constraints(
    seed: int, options: dict[str, Any], sides: dict[str, Any], pairs: list[list[int]] | None, strategy: str
) -> None:
    topic = topic_of(seed, 6)
    given_options = {**options, **sides}
    topic["meta"] = {"constraints": {"exclusive": pairs or []}}
    number = sum(map(len, topic["documents"]))
    assume(
        all(unit < number for group in [*(pairs or []), *map(sides.get, ("require", "forbid"))] for unit in group or ())
    )
    worth = {
        units: value
        for units, value in optima_of(topic, given_options).items()
        if allowed(topic, units, sides, pairs or [])
    }
    result = optsum.solve(topic, strategy=strategy, **given_options)
    if not worth:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.selection is not None
    best = max(worth.values())
    assert result.key == best == worth[result.selection]
    if best and strategy in {"branch-and-bound", "exhaustive"}:
        found = optsum.enumerate_optima(topic, strategy=strategy, keep_unmatched=True, **given_options)
        assert {tuple(units) for units in found} == {units for units, value in worth.items() if value == best}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), OPTIONS.filter(lambda each: each["references"] != "best"), st.booleans())
def test_frontier_is_the_best_at_every_length(seed: int, options: dict[str, Any], each: bool) -> None:
    topic = topic_of(seed, 5)
    options = {name: value for name, value in options.items() if name != "min_length"}
    if each:
        topic["references"], options["references"] = topic["references"][:1], "each"
    found = optsum.frontier(topic, **options)
    worth = optima_of(topic, {**options, "references": "first" if each else options["references"]})
    lengths = [len(sentence.split()) for document in topic["documents"] for sentence in document]
    assert found.frontier is not None
    assert found.frontier.complete
    for step in found.frontier.steps:
        for most in range(step.first, step.last + 1):
            best = max(value for units, value in worth.items() if sum(lengths[unit] for unit in units) <= most)
            assert Fraction(step.objective_exact) == best
