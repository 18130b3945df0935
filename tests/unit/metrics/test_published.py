"""Check that scores published by others are reproduced to the last digit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optsum.metrics.rouge import Score, rouge, rouge_all
from optsum.text import analyzer as text_module
from optsum.text.analyzer import Analyzer
from optsum.text.analyzer import _step_4_nltk as published_step_4

# The option sets of the original script.
OPTIONS = {
    "plain": (Analyzer(), None),
    "stem": (Analyzer(stem=True), None),
    "stopwords": (Analyzer(stopwords="drop"), None),
    "stem+stopwords": (Analyzer(stem=True, stopwords="drop"), None),
    "stem+100words": (Analyzer(stem=True), 100),
}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def printed(value: float) -> float:
    """Return a number as the original script prints it."""
    return float(f"{value:.5f}")


@pytest.mark.parametrize("options", OPTIONS)
def test_scores_of_the_original_script_are_reproduced(shared_data: Path, options: str) -> None:
    golden = [row for row in rows(shared_data / "rouge155" / "golden.jsonl") if row["options"] == options]
    assert len(golden) == 68
    topics = {
        (name, topic["id"]): topic for name in {row["topics"] for row in golden} for topic in rows(shared_data / name)
    }
    analyzer, max_words = OPTIONS[options]
    for row in golden:
        topic = topics[row["topics"], row["topic_id"]]
        units = [sentence for document in topic["documents"] for sentence in document]
        scores = rouge_all(
            [units[number] for number in row["selection"]],
            topic["references"],
            [name.lower() for name in row["scores"]],
            analyzer=analyzer,
            max_words=max_words,
        )
        assert len(scores) == 6
        for name, (recall, precision, f1) in row["scores"].items():
            score = scores[name.lower()]
            assert (printed(score.recall), printed(score.precision)) == (recall, precision)
            # The script computes F from rounded recall and precision, so F may differ from ours by twice their
            # rounding and its own.
            from_rounded = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
            assert printed(from_rounded) == f1
            assert score.f1 == pytest.approx(f1, abs=1.5e-5)


class Realsumm:
    """The systems of REALSumm, scored against the reference that their stored scores were computed with."""

    def __init__(self, folder: Path) -> None:
        self.references = {row["topic_id"]: row["references"] for row in rows(folder / "rouge_references.jsonl")}
        self.systems = list(rows(folder / "systems.jsonl"))

    def agrees(self, row: dict[str, Any], score: Score, metric: str) -> bool:
        stored = row["published_scores"]
        prefix = metric.replace("-", "_")
        return (printed(score.recall), printed(score.precision)) == (
            stored[f"{prefix}_recall"],
            stored[f"{prefix}_precision"],
        )

    def exceptions(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {"rouge-1": Counter(), "rouge-2": Counter(), "rouge-l": Counter()}
        for row in self.systems:
            reference = self.references[row["topic_id"]][row["rouge_reference"]]
            scores = rouge_all(row["summary"], [reference], found, analyzer=Analyzer(stem=True))
            for metric, score in scores.items():
                found[metric][row["topic_id"]] += not self.agrees(row, score, metric)
        return {metric: +counts for metric, counts in found.items()}


@pytest.fixture(scope="module")
def realsumm(shared_data: Path) -> Realsumm:
    return Realsumm(shared_data / "realsumm")


def test_scores_of_realsumm_are_reproduced(realsumm: Realsumm) -> None:
    assert len(realsumm.systems) == 1200
    assert realsumm.exceptions() == {
        "rouge-1": {},
        "rouge-2": {},
        "rouge-l": {"realsumm:003": 1, "realsumm:033": 1},
    }


def test_realsumm_exceptions_were_scored_against_another_reference(realsumm: Realsumm) -> None:
    """Check that the two deviating ROUGE-L scores used another system's tokenization of the reference."""
    checked = 0
    for row in realsumm.systems:
        if row["topic_id"] in {"realsumm:003", "realsumm:033"} and row["system"] == "banditsumm_out":
            reference = realsumm.references[row["topic_id"]]["ext/bart"]
            assert realsumm.agrees(row, rouge(row["summary"], [reference], "rouge-l", stem=True), "rouge-l")
            checked += 1
    assert checked == 2


def test_realsumm_needs_the_step_four_of_the_original_script(
    realsumm: Realsumm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that with the published Porter algorithm 17 scores of one topic differ ("executioner")."""
    monkeypatch.setattr(text_module, "_step_4", published_step_4)
    text_module._word_table.cache_clear()
    try:
        exceptions = realsumm.exceptions()
    finally:
        text_module._word_table.cache_clear()
    assert exceptions["rouge-1"] == {"realsumm:036": 17}
    assert exceptions["rouge-2"] == {}
    assert exceptions["rouge-l"] == {"realsumm:003": 1, "realsumm:033": 1, "realsumm:036": 3}


def test_scores_of_scitldr_are_reproduced(shared_data: Path) -> None:
    """Check every published sentence score, and that the label is the first best sentence."""
    topics = scores = labels = 0
    epsilon = 1e-8  # the epsilon in the published F, which breaks a tie in one topic
    for topic in rows(shared_data / "scitldr" / "topics.jsonl"):
        meta = topic["meta"]
        ours = []
        for number, sentence in enumerate(topic["documents"][0]):
            raw = meta["raw_sentences"].get(str(number), sentence)
            score = rouge(raw, [meta["raw_reference0"]], tokenizer="pypi-rouge", counts="set")
            ours.append(2 * score.precision * score.recall / (score.precision + score.recall + epsilon))
            published = meta["rouge1_f_vs_reference0"][number]
            if published is not None:
                assert score.f1 == pytest.approx(published, abs=1e-6)
                scores += 1
        topics += 1
        if meta["complete_scores"]:
            assert meta["source_labels"].index(1) == ours.index(max(ours))
            assert sum(meta["source_labels"]) == 1
            labels += 1
    assert (topics, labels) == (619, 600)
    assert scores > 4000
