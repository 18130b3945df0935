"""Test the searches of Akhmetov et al. 2022, implemented as the paper describes them."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from optsum.heuristics.akhmetov_literal import rows_in_order

import optsum
from optsum.contracts.strategy import Run
from optsum.corpus.topic import as_topic
from optsum.errors import OptionError, UnsupportedError
from optsum.options.options import resolve
from optsum.running.one_problem import build, setup_of
from optsum.system.clock import Limits

FIVE = ("greedy-rows", "vns-paper", "vns-paper+greedy", "genetic-paper", "genetic-paper+greedy")


def topic(seed: int, sentences: int = 9) -> dict[str, Any]:
    draw = random.Random(seed)  # noqa: S311

    def sentence() -> str:
        return " ".join(draw.choice("abcdefghij") for _ in range(draw.randint(1, 6)))

    return {
        "id": f"t{seed}",
        "documents": [[sentence() for _ in range(sentences)]],
        "references": [[sentence() for _ in range(draw.randint(2, 4))]],
    }


def test_rows_by_hand() -> None:
    """Check that of the rows with sums 3, 3, 2, 1 the first is stored, and then the row that adds "e" and "f"."""
    given = {"id": "t", "documents": [["a b c", "b c d", "e x f", "d"]], "references": [["a b c d e f g"]]}
    problem = build(as_topic(given), setup_of(resolve({"measure": "f1", "strategy": "greedy-rows"}))).problem
    assert list(rows_in_order(problem)) == [0, 2, 1]
    # F1 after each stored row: 6/10, 10/13, 12/16
    result = optsum.solve(given, measure="f1", strategy="greedy-rows")
    assert result.selection == (0, 2)
    assert (result.numerator, result.denominator) == (10, 13)
    assert result.evaluations == 3


def test_rows_count_words_once_and_only_those_of_the_reference() -> None:
    """Check that the matrix is binary: "a a a" counts as one, and words outside the reference as nothing."""
    given = {"id": "t", "documents": [["a a a x y z", "a b"]], "references": [["a a a b"]]}
    problem = build(as_topic(given), setup_of(resolve({"measure": "f1", "strategy": "greedy-rows"}))).problem
    assert list(rows_in_order(problem)) == [1]


@pytest.mark.parametrize("strategy", FIVE)
@pytest.mark.parametrize("measure", ["f1", "recall"])
def test_never_above_the_optimum_and_the_same_for_a_seed(strategy: str, measure: str) -> None:
    options = {"measure": measure, **({"max_length": 12} if measure == "recall" else {})}
    for seed in range(3):
        best = optsum.solve(topic(seed), strategy="exhaustive", **options)
        found = optsum.solve(topic(seed), strategy=strategy, seed=seed, **options)
        assert found.status in {"feasible", "no_solution"}
        if found.objective is not None and best.objective is not None:
            assert found.objective <= best.objective
        again = optsum.solve(topic(seed), strategy=strategy, seed=seed, **options)
        assert (again.selection, again.evaluations) == (found.selection, found.evaluations)


def test_vns_starts_with_the_abstracts_size_and_keeps_it() -> None:
    """Check that shaking replaces sentences, so that their number stays the same and none is repeated."""
    for seed in range(10):
        given = topic(seed)
        found = optsum.solve(given, measure="f1", strategy="vns-paper", seed=seed)
        assert found.selection is not None
        assert len(set(found.selection)) == len(found.selection) == len(given["references"][0])


def test_vns_stops_as_the_paper_says() -> None:
    problem = build(as_topic(topic(3, 30)), setup_of(resolve({"measure": "f1", "strategy": "vns-paper"}))).problem
    idle = optsum.search(problem, "vns-paper", no_improvement=5)
    assert idle.termination == "completed"
    last = max(point.evaluations for point in idle.trace)
    assert idle.evaluations == last + 5
    few = optsum.search(problem, "vns-paper", iterations=3)
    assert few.evaluations == 4  # the initial solution, and three more
    limited = optsum.search(problem, "vns-paper", Limits(evaluations=2))
    assert limited.termination == "evaluation_limit"


def test_genetic_counts_what_the_paper_breeds() -> None:
    """Check the evaluations: 12 sentences make 4 candidates of 3, crossed to 6 offspring; 2 are kept, crossed to 1."""
    given = topic(5, 12)
    given["references"] = [["a b", "c d", "e f"]]
    found = optsum.solve(given, measure="f1", strategy="genetic-paper")
    # The last generation is a single candidate, which cannot be crossed.
    assert found.evaluations == 4 + 6 + 1 + 1
    more = optsum.solve(given, measure="f1", strategy="genetic-paper+greedy")
    assert more.evaluations > found.evaluations
    assert found.selection is not None
    assert len(set(found.selection)) == len(found.selection) == 3


def test_candidates_without_a_sentence_are_bred_too() -> None:
    """Test this because greedy search stores nothing if no sentence has a word of the reference."""
    given = {"id": "t", "documents": [["a b", "c", "d e"]], "references": [["x", "y"]]}
    found = optsum.solve(given, measure="f1", strategy="genetic-paper+greedy")
    assert found.objective == 0.0


def test_a_limit_leaves_the_best_so_far() -> None:
    problem = build(as_topic(topic(8, 40)), setup_of(resolve({"measure": "f1", "strategy": "genetic-paper"}))).problem
    found = optsum.search(problem, "genetic-paper", Limits(evaluations=30))
    assert found.termination == "evaluation_limit"
    assert found.status == "feasible"


@pytest.mark.parametrize("strategy", ["genetic-paper", "genetic-paper+greedy"])
def test_a_limit_in_the_first_generation_and_ctrl_c_leave_the_best_so_far(strategy: str) -> None:
    problem = build(as_topic(topic(8, 40)), setup_of(resolve({"measure": "f1", "strategy": strategy}))).problem
    first = optsum.search(problem, strategy, Limits(evaluations=1))
    assert (first.termination, first.status) == ("evaluation_limit", "feasible")

    def interrupt(run: Run) -> None:
        if run.evaluations > 25:
            raise KeyboardInterrupt

    stopped = optsum.search(problem, strategy, on_progress=interrupt)
    assert (stopped.termination, stopped.status) == ("interrupted", "feasible")


def test_impossible_options_are_refused() -> None:
    problem = build(as_topic(topic(1)), setup_of(resolve({"measure": "f1"}))).problem
    wrong: list[tuple[str, str, Any]] = [
        ("vns-paper", "kmax", 0),
        ("vns-paper", "kmax", "many"),
        ("vns-paper", "kmax", None),
        ("vns-paper", "iterations", 1.5),
        ("vns-paper", "no_improvement", True),
        ("vns-paper", "sentences", 0),
        ("vns-paper", "seconds", -1),
        ("vns-paper", "seconds", "long"),
        ("vns-paper", "seconds", float("nan")),
        ("genetic-paper", "generations", "x"),
        ("genetic-paper+greedy", "sentences", 2.0),
        ("vns", "k_max", None),
        ("vns", "no_improvement", 10**30),
        ("genetic", "effort", 10**30),
    ]
    for strategy, option, value in wrong:
        with pytest.raises(OptionError, match=f"The option {option} is "):
            optsum.search(problem, strategy, **{option: value})
    cover = {"id": "c", "cover": [[["s1"], ["s2", "s3"]]]}
    for strategy in FIVE:
        with pytest.raises(UnsupportedError, match="whole sentences"):
            optsum.solve(cover, formulation="cover", strategy=strategy)


@pytest.mark.slow
def test_on_real_topics(shared_data: Path) -> None:
    """Check that the searches that start from greedy end above it, and all below the optimum."""
    topics = list(optsum.read_topics(shared_data / "realsumm" / "topics.jsonl"))[:6]
    of = {
        strategy: [result.objective or 0.0 for result in optsum.solve_all(topics, strategy=strategy, measure="f1")]
        for strategy in (*FIVE, "milp")
    }
    for strategy in FIVE:
        assert all(found <= best for found, best in zip(of[strategy], of["milp"], strict=True))
    assert all(late >= early for late, early in zip(of["vns-paper+greedy"], of["greedy-rows"], strict=True))
    assert mean(of["genetic-paper"]) > 0.8 * mean(of["milp"])
