"""Prove minimum covers of real topics, annotated or aligned from text, in two ways and within a second each."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from cover_instances import CoverStrategy
from optsum.formulations.cover import Cover
from optsum.solvers.objectives.covers import enumerate_covers

from optsum.contracts.result import Status
from optsum.corpus.alignment import align
from optsum.corpus.topic import Topic, as_topic
from optsum.corpus.topics import read_topics
from optsum.errors import InputError
from optsum.problem.formulation import Spec
from optsum.running.search import search
from optsum.text.analyzer import Analyzer

SPEC, SKIPPING = Spec(analyzer=Analyzer()), Cover(uncoverable="skip")


def assert_proven_in_a_second(topic: Topic) -> tuple[int, int] | None:
    """Return the minimum and the number of minimum covers, or None if no abstract sentence has an alternative."""
    if not any(topic.cover or ()):
        with pytest.raises(InputError, match="no alternative"):
            SKIPPING.build(topic, SPEC)
        return None
    task = SKIPPING.build(topic, SPEC)
    objectives = []
    for strategy in ("milp", CoverStrategy()):
        began = process_time()
        result = search(task.problem, strategy)
        assert process_time() - began < 1, (topic.id, strategy)
        assert result.status is Status.OPTIMAL, (topic.id, strategy)
        objectives.append(result.objective)
    began = process_time()
    optima = enumerate_covers(task.problem.coverage)
    assert process_time() - began < 1, topic.id
    assert optima.complete
    assert objectives == [optima.value, optima.value], topic.id
    return optima.value, optima.count


def test_annotated_clusters(shared_data: Path) -> None:
    search(SKIPPING.build(as_topic({"id": "warm", "cover": [[["a"]]]}), SPEC).problem, "milp")
    folder = shared_data / "dbs"
    topics = list(align(folder / "topics.jsonl", alignments=str(folder / "alignments.jsonl")))
    assert all(isinstance(topic, Topic) for topic in topics)
    found = [assert_proven_in_a_second(topic) for topic in topics if isinstance(topic, Topic)]
    assert len(found) == 47
    assert None not in found
    # The alternatives are single spans, so covers are small only if sentences share a span.
    named = [len(topic.cover or ()) for topic in topics if isinstance(topic, Topic)]
    assert all(answer is not None and answer[0] <= units for answer, units in zip(found, named, strict=True))
    assert any(answer is not None and answer[1] > 1 for answer in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "topics", "covered"), [("opinosis", 119, 119), ("gum", 104, 66), ("realsumm", 50, 50)]
)
def test_alignments_made_from_text(shared_data: Path, name: str, topics: int, covered: int) -> None:
    aligned = list(align(read_topics(shared_data / name / "topics.jsonl")))
    assert len(aligned) == topics
    found = [assert_proven_in_a_second(topic) for topic in aligned if isinstance(topic, Topic)]
    assert sum(answer is not None for answer in found) == covered


@pytest.mark.slow
def test_trillions_of_covers_share_most_of_their_diagram(shared_data: Path) -> None:
    topics = (topic for topic in read_topics(shared_data / "dbs" / "topics.jsonl") if topic.id == "dbs:9")
    (topic,) = (topic for topic in align(topics) if topic.id == "dbs:9#1")
    assert isinstance(topic, Topic)
    optima = enumerate_covers(SKIPPING.build(topic, SPEC).problem.coverage)
    assert (optima.value, optima.count) == (64, 2_005_378_081_152)
    assert optima.statistics["diagram"] < 30_000  # 60,000 with the largest part on top
