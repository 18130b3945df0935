"""Test scores of systems: means, correlations with human scores, errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import optsum
from optsum.corpus.topic import BadTopic, as_topic
from optsum.corpus.topics import BadSystem, system_of
from optsum.options.options import ScoreOptions
from optsum.report.comparison import pearson, spearman
from optsum.report.system_scores import SystemScores, score, score_rows

NUMBERS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=12)


@given(NUMBERS)
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    left, right = [float(each) for each, _ in pairs], [float(each) for _, each in pairs]
    if len(set(left)) == 1 or len(set(right)) == 1:
        assert pearson(left, right) is None
        assert spearman(left, right) is None
    else:
        assert pearson(left, right) == pytest.approx(stats.pearsonr(left, right)[0], abs=1e-12)
        assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right)[0], abs=1e-12)


def test_what_cannot_be_scored_is_told(caplog: pytest.LogCaptureFixture) -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a b"]]}
    summaries = [{"topic_id": "t", "system": "s", "summary": text} for text in ("a", 5)]
    assert score([topic], [*summaries, {"topic_id": "u", "system": "s", "summary": "a"}]).failed == 2
    assert "2 summaries could not be scored; the first: " in caplog.text
    for metric in ("similarity", "rouge-1+similarity-shifted"):
        with pytest.raises(optsum.OptsumError, match="summaries to score have none: choose n-grams with metric"):
            score([topic], summaries, metric=metric)


def test_too_little_has_no_correlation() -> None:
    assert pearson([1, 2], [3, 4]) is None
    assert spearman([], []) is None
    assert pearson([0.1] * 3, [1, 2, 3]) is None


def topic(name: str = "t", **more: Any) -> Any:
    return as_topic(
        {"id": name, "documents": [["the cat sat", "a dog ran"]], "references": [["the cat ran"], ["a dog"]], **more}
    )


def system(name: str, summary: Any = None, topic_id: str = "t", **more: Any) -> Any:
    return system_of({"topic_id": topic_id, "system": name, "summary": summary, **more}, source=f"s:{name}")


def test_scores_are_those_of_rouge() -> None:
    scores = score([topic()], [system("x", ["the cat sat"])], metric="rouge-1+rouge-l")
    (row,) = scores.rows
    for metric in ("rouge-1", "rouge-l"):
        alone = optsum.rouge(["the cat sat"], [["the cat ran"], ["a dog"]], metric)
        assert row.rouge[metric] == {"recall": alone.recall, "precision": alone.precision, "f1": alone.f1}
    assert (row.system, row.topics, row.human) == ("x", 1, {})


@pytest.mark.parametrize(
    ("options", "recall"),
    [({}, 2 / 5), ({"references": "mean"}, 1 / 3), ({"references": "best"}, 2 / 3), ({"max_words": 1}, 1 / 2)],
)
def test_options_reach_the_scorer(options: dict[str, Any], recall: float) -> None:
    (row,) = score([topic()], [system("x", ["the cat sat"])], metric="rouge-1", **options).rows
    assert row.rouge["rouge-1"]["recall"] == pytest.approx(recall)


def test_a_selection_stands_for_its_sentences() -> None:
    rows = score([topic()], [system("x", selection=[1, 0]), system("y", ["a dog ran", "the cat sat"])]).rows
    assert rows[0].rouge == rows[1].rouge


def test_pretokenized_texts_are_used_as_they_are() -> None:
    given = topic(documents=[[["Der", "Hund"]]], references=[[["Der", "Hund!"]]])
    rows = score([given], [system("x", [["Der", "Hund!"]]), system("y", [["der", "Hund!"]])], metric="rouge-1").rows
    assert [row.rouge["rouge-1"]["recall"] for row in rows] == [1.0, 0.5]


def test_means_are_over_the_topics_of_a_system() -> None:
    topics = [topic("t"), topic("u", references=[["x y"]])]
    systems = [system("a", ["x"], "u", human={"h": 1}), system("a", ["the cat ran a dog"]), system("b", ["x y"], "u")]
    scores = score(topics, systems, metric="rouge-1")
    a, b = scores.rows
    assert (a.system, a.topics, a.rouge["rouge-1"]["recall"], a.human) == ("a", 2, 0.75, {"h": 1.0})
    assert (b.topics, b.rouge["rouge-1"]["recall"]) == (1, 1.0)
    assert "Not every system" in str(scores)


def test_a_summary_that_cannot_be_scored_is_an_error_row_and_costs_no_other() -> None:
    topics = [BadTopic("w", "t:1", "broken"), topic(), topic("empty", references=[[" "]])]
    systems = [
        system("far", selection=[7]),
        BadSystem("s:9", "not JSON"),
        system("lost", ["x"], "nowhere"),
        system("none", ["x"], "empty"),
        system("good", ["the cat"]),
    ]
    rows = [row for rows in score_rows(topics, systems, SystemScores(ScoreOptions())) for row in rows]
    assert [(row["topic_id"], row["system"]) for row in rows] == [
        ("w", None), ("t", "far"), ("t", "good"), ("empty", "none"), ("nowhere", "lost"), (None, None),
    ]  # fmt: skip
    assert [row["error"] is None for row in rows] == [False, False, True, False, False, False]
    reasons = " | ".join(str(row["error"]) for row in rows)
    for reason in (
        "t:1: broken",
        "s:far: the selection names unit 7",
        "nothing to count",
        "no topic has the id 'nowhere'",
    ):
        assert reason in reasons
    assert "s:9: not JSON" in reasons
    scores = score(topics, systems)
    assert (scores.failed, scores.summaries, [row.system for row in scores.rows]) == (5, 1, ["good"])


def test_correlations_are_of_systems_and_of_summaries() -> None:
    topics = [topic("t", references=[["a b c d"]]), topic("u", references=[["a b c d"]])]
    words = {"x": ["a"], "y": ["a b"], "z": ["a b c"]}
    human = {"t": {"x": 1, "y": 2, "z": 3}, "u": {"x": 3, "y": 2, "z": 1}}
    systems = [
        system(name, summary, each, human={"h": human[each][name]})
        for each in ("t", "u")
        for name, summary in words.items()
    ]
    agreement = next(
        found for found in score(topics, systems, metric="rouge-1").agreements if found.measure == "recall"
    )
    assert (agreement.human, agreement.metric) == ("h", "rouge-1")
    assert agreement.system_pearson is None  # all means of the human score are 2
    assert agreement.summary_pearson == pytest.approx(0.0)  # +1 on one topic, -1 on the other
    assert agreement.summary_spearman == pytest.approx(0.0)
    assert "-: a correlation needs 3 systems whose scores are not all equal." in str(
        score(topics, systems, metric="rouge-1")
    )


def test_published_correlations_of_realsumm_come_out(shared_data: Path) -> None:
    """Check the correlations of systems and of summaries, 24 systems on 50 topics, from the scores in the data."""
    scores = SystemScores(ScoreOptions())
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for line in (shared_data / "realsumm" / "systems.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        stored = row["published_scores"]
        rouge = {
            f"rouge-{name}": {
                measure: stored[f"rouge_{name}_{key}"]
                for measure, key in (("recall", "recall"), ("precision", "precision"), ("f1", "f_score"))
            }
            for name in ("1", "2", "l")
        }
        by_topic.setdefault(row["topic_id"], []).append(
            {"topic_id": row["topic_id"], "system": row["system"], "rouge": rouge, "human": row["human"], "error": None}
        )
    for rows in by_topic.values():
        scores.add(rows)
    found = {each.metric: each for each in scores.agreements if each.measure == "recall"}
    assert (len(scores.rows), scores.topics) == (24, 50)
    for metric, linear, ranks, summary in (
        ("rouge-1", 0.8537, 0.8765, 0.5372),
        ("rouge-2", 0.8949, 0.8748, 0.4571),
        ("rouge-l", 0.7732, 0.8261, 0.4934),
    ):
        assert found[metric].system_pearson == pytest.approx(linear, abs=5e-5)
        assert found[metric].system_spearman == pytest.approx(ranks, abs=5e-5)
        assert found[metric].summary_pearson == pytest.approx(summary, abs=5e-5)


def test_real_systems_are_scored(shared_data: Path) -> None:
    folder = shared_data / "summeval"
    scores = score(
        optsum.read_topics(folder / "topics.jsonl"), optsum.read_systems(folder / "systems.jsonl"), metric="rouge-1"
    )
    assert (len(scores.rows), scores.topics, scores.summaries, scores.failed) == (16, 50, 800, 0)
    lead = next(row for row in scores.rows if row.system == "M0")
    assert lead.human["coherence"] == pytest.approx(4.06, abs=0.005)
    assert all(0 < row.rouge["rouge-1"]["f1"] < 1 for row in scores.rows)
    assert {found.human for found in scores.agreements} == {"coherence", "consistency", "fluency", "relevance"}
    assert all(
        value is None or math.isfinite(value)
        for found in scores.agreements
        for value in (found.system_pearson, found.summary_spearman)
    )
