"""ROUGE-L as a problem: its value is the official score, and every strategy that takes it is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_oracle import Plain

import optsum
from optsum.corpus.topic import as_topic
from optsum.errors import UnsupportedError
from optsum.options.options import resolve
from optsum.running.one_problem import build
from optsum.running.setup import setup_of
from optsum.testing import brute_force, check_problem, random_topic

MEASURES = ("recall", "precision", "f1")


def topic_of(seed: int) -> dict[str, Any]:
    return random_topic(np.random.default_rng(seed), name=f"t{seed}", sentences=6)


@settings(max_examples=500, deadline=None)
@given(
    st.integers(0, 10**9),
    st.sampled_from(MEASURES),
    st.sampled_from(["pooled", "mean"]),
    st.sampled_from([0, 4]),
    st.sampled_from([6, 12]),
)
def test_optimum_is_the_best_official_score(seed: int, measure: Any, references: Any, least: int, most: int) -> None:
    topic = topic_of(seed)
    options = {
        "metric": "rouge-l", "measure": measure, "references": references, "max_length": most, "min_length": least,
    }  # fmt: skip
    best = Plain(topic, options).truth().best
    sentences = [sentence for document in topic["documents"] for sentence in document]
    for strategy in ["exhaustive", *(["milp"] if measure == "recall" else [])]:
        result = optsum.solve(topic, strategy=strategy, **options)
        if best is None:
            assert result.status == "infeasible"
            continue
        assert result.status == "optimal"
        assert result.selection is not None
        assert result.key == best
        summary = [sentences[number] for number in result.selection]
        score = optsum.rouge(summary, topic["references"], "rouge-l", references_mode=references)
        assert score.exact(measure) == best


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("references", ["pooled", "mean"])
def test_the_problem_keeps_the_contract(measure: str, references: str) -> None:
    for seed in range(15):
        options = resolve({"metric": "rouge-l", "measure": measure, "references": references, "max_length": 9})
        check_problem(build(as_topic(topic_of(seed)), setup_of(options)).problem, name=f"rouge-l {measure}", seed=seed)


def test_the_cap_of_the_summary_bites() -> None:
    """One "a" of the summary covers the "a" of two reference sentences, and hits once."""
    topic = {"id": "t", "documents": [["a", "b"]], "references": [["a x", "a y"]]}
    result = optsum.solve(topic, metric="rouge-l", max_length=1)
    assert (result.objective, result.status) == (0.25, "optimal")


def test_a_bound_that_rows_bent_by_the_solver_s_tolerance_add_up_in() -> None:
    # HiGHS proves 11 hits with a bound of 10.999998.
    topic = {
        "id": "bent",
        "documents": [["d d", "a c d c b", "a b a", "b b e e a"]],
        "references": [["a c b d c a", "b b e b", "b d b e c e"]],
    }
    for seed in range(5):
        result = optsum.solve(topic, metric="rouge-l", max_length=12, seed=seed)
        assert (result.selection, result.objective_exact, result.status) == ((0, 1, 3), "11/16", "optimal")


def test_refusals_say_what_to_do() -> None:
    topic = topic_of(1)
    with pytest.raises(UnsupportedError, match="exhaustive, a heuristic, or milp"):
        optsum.solve(topic, metric="rouge-l", max_length=9, strategy="branch-and-bound")
    with pytest.raises(UnsupportedError, match=r"use exhaustive or a heuristic\.$"):
        optsum.solve(topic, metric="rouge-l", measure="f1", strategy="milp")
    with pytest.raises(UnsupportedError, match=r"use exhaustive or a heuristic\.$"):
        optsum.solve(topic, metric="rouge-l", measure="f1", strategy="branch-and-bound")
    with pytest.raises(UnsupportedError, match="leave boundaries"):
        optsum.solve(topic, metric="rouge-l", max_length=9, boundaries="joined")
    with pytest.raises(UnsupportedError, match="by itself"):
        optsum.solve(topic, metric="rouge-1+rouge-l", max_length=9)


@pytest.mark.parametrize("measure", ["recall", "f1"])
def test_exhaustive_lists_all_optima(measure: str) -> None:
    ties = 0
    for seed in range(30):
        topic = as_topic(topic_of(seed))
        given = {"metric": "rouge-l", "measure": measure, "max_length": 8, "strategy": "exhaustive"}
        truth = brute_force(build(topic, setup_of(resolve(given))).problem)
        found = optsum.enumerate_optima(topic, **given)
        assert set(found.diagram) == set(truth.optima)
        assert (found.complete, found.value) == (True, truth.best)
        ties += found.count > 1
    assert ties >= 3


def test_greedy_never_beats_the_optimum_and_has_a_bound() -> None:
    for seed in range(60):
        options = resolve({"metric": "rouge-l", "max_length": 8})
        problem = build(as_topic(topic_of(seed)), setup_of(options)).problem
        best = brute_force(problem).best
        result = optsum.search(problem, "greedy")
        assert result.objective is not None
        assert best is not None
        assert result.objective <= float(best)
        assert result.bound is not None
        assert result.bound >= float(best) - 1e-12


@pytest.mark.slow
def test_milp_on_real_topics(shared_data: Path) -> None:
    """The objective is the official score of the finished text."""
    topics = list(optsum.read_topics(shared_data / "realsumm" / "topics.jsonl"))[:20]
    for result in optsum.solve_all(topics, metric="rouge-l", max_length=60):
        assert result.status == "optimal"
        assert result.rouge is not None
        assert result.objective == pytest.approx(result.rouge["rouge-l"]["recall"], abs=1e-12)
