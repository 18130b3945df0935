"""Test the study of compressive oracles: values by hand, real topics, systems."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import optsum
from optsum.running.one_problem import build
from optsum.studies import study
from optsum.studies.compressive import FORMULATIONS, VARIANTS, CompressiveStudy
from optsum.system.clock import Stopped, Termination

PARSES = [
    "1 Cats cat NOUN NNS _ 3 nsubj _ _\n2 often often ADV RB _ 3 advmod _ _\n3 sleep sleep VERB VBP _ 0 root _ _",
    "1 Dogs dog NOUN NNS _ 2 nsubj _ _\n2 bark bark VERB VBP _ 0 root _ _\n3 loudly loudly ADV RB _ 2 advmod _ _",
]
TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["Cats often sleep", "Dogs bark loudly"]],
    "references": [["cats sleep", "dogs bark"]],
    "parses": [parse.replace(" ", "\t") for parse in PARSES],
}


def study_compressive(topics: Any, systems: Any = (), **options: Any) -> CompressiveStudy:
    return CompressiveStudy(**options).reads(systems).run(topics)


def oracles(report: CompressiveStudy) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["id"], row["formulation"], row["optimized"]): row for row in report.of("oracle")}


def test_oracles_by_hand() -> None:
    report = study_compressive([TOPIC], max_length=4, show=3, chunk_profile="strict")
    assert not report.errors
    assert len(oracles(report)) == 6
    row = oracles(report)["t", "compressive", "R2"]
    assert (row["summary"], row["length"]) == (["Cats sleep", "Dogs bark"], 4)
    assert (row["sentences"], row["compressed"], row["status"]) == (2, 2, "optimal")
    assert row["recall"] == {"R1": 1.0, "R2": 2 / 3, "SU0": 6 / 7}, "the reference's bigram sleep dogs is out of reach"
    extract = oracles(report)["t", "extractive", "R2"]
    assert (extract["summary"], extract["compressed"]) == (["Dogs bark loudly"], 0)
    assert fmean(report.values("extractive", "R2", "R2").values()) == pytest.approx(1 / 3)
    text = str(report)
    assert "Cats sleep Dogs bark" in text
    assert "+33.3" in text, "R2 gains a third"
    assert "1 topic;" in text


def test_ctrl_c_while_building_ends_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        raise Stopped(Termination.INTERRUPTED)

    monkeypatch.setattr("optsum.studies.compressive.build", interrupted)
    report = study_compressive([TOPIC], max_length=4)
    assert not oracles(report), "a topic that was cut short has no rows"


def test_unusable_topics_are_left_out() -> None:
    without = {**TOPIC, "id": "u"}
    del without["parses"]
    report = study("compressive", [without, TOPIC, {"id": "v"}], max_length=4)
    assert isinstance(report, CompressiveStudy)
    assert len(oracles(report)) == 6
    assert len(report.errors) == 2
    assert "'u'" in report.errors[0]
    assert "parses" in report.errors[0]
    empty = study("compressive", [])
    assert empty.to_rows() == []
    assert "0 topics" in str(empty)


def test_limits_are_reported() -> None:
    report = study_compressive([TOPIC], max_length=4, strategy="greedy")
    assert "the proof of 6 of 6 oracles in time" in str(report)


def test_real_topics(shared_data: Path) -> None:
    """Check that each oracle is best in its own variant, and that compression gains in all, as in the paper."""
    topics = list(optsum.read_topics(shared_data / "gum" / "topics.jsonl"))[::16]
    report = study_compressive(topics, max_length=50)
    assert not report.errors
    found = oracles(report)
    for topic in {name for name, _, _ in found}:
        for formulation in FORMULATIONS:
            for evaluated in VARIANTS:
                best = found[topic, formulation, evaluated]["recall"][evaluated]
                for optimized in VARIANTS:
                    assert found[topic, formulation, optimized]["recall"][evaluated] <= best + 1e-12
        for variant in VARIANTS:
            extract, compression = (found[topic, name, variant]["recall"][variant] for name in FORMULATIONS)
            assert extract <= compression + 1e-12
    rows = report.of("oracle")
    assert len(rows) == 6 * len(topics)
    assert all(row["status"] == "optimal" for row in rows)
    sentences = set(chain.from_iterable(topic.sentences for topic in topics if isinstance(topic, optsum.Topic)))
    assert all(set(row["summary"]) <= sentences for row in rows if row["formulation"] == "extractive")


def test_systems_and_their_readability() -> None:
    systems = [
        {"topic_id": "t", "system": "peer", "summary": ["cats sleep", "dogs run"]},
        {"topic_id": "t", "system": "compressive R1", "human": {"readability": 4}},
        {"topic_id": "t", "system": "extractive R1", "human": {"readability": 5}},
        {"topic_id": "u", "system": "extractive R1", "human": {"readability": 4}},
    ]
    report = study_compressive([TOPIC, {**TOPIC, "id": "u"}], systems, max_length=4, show=0)
    assert not report.errors
    line = next(row for row in report.recall().rows if row[0] == "peer")
    # unigrams: cats, sleep, dogs of 4; bigrams within sentences: cats sleep of 3; both: 4 of 7
    assert line[2:5] == ["0.7500", f"{1 / 3:.4f}", f"{4 / 7:.4f}"]
    assert [row[0] for row in report.recall().rows].count("compressive R1") == 0, "it has no text"
    assert {row[0]: row[1:] for row in report.ratings().rows} == {
        "compressive R1": ["4.00", "1"], "extractive R1": ["4.50", "2"],
    }  # fmt: skip
    assert "Human scores (Table 2)" in str(report)


def test_the_tables_name_the_profile() -> None:
    assert "chunk profile paper" in str(study_compressive([TOPIC], max_length=4))
    strict = study_compressive([TOPIC], max_length=4, chunk_profile="strict")
    assert "chunk profile strict" in str(strict)
    assert {row["chunk_profile"] for row in strict.of("oracle")} == {"strict"}


def test_systems_are_cut_as_the_caption_says() -> None:
    given = [{"topic_id": "t", "system": "peer", "summary": ["cats sleep", "dogs run"]}]
    for options, kept, said in (
        ({}, ["cats sleep", "dogs"], "Systems cut after 3 words"),
        ({"max_words": 0}, ["cats sleep", "dogs run"], "Systems as they are"),
        ({"max_bytes": 10}, ["cats sleep"], "Systems cut after 10 bytes"),
    ):
        report = study_compressive([TOPIC], given, max_length=3, **options)
        (row,) = report.of("system")
        score = optsum.rouge(kept, TOPIC["references"], "rouge-2", stem=True, boundaries="sentence")
        assert row["recall"]["R2"] == pytest.approx(score.recall)
        assert (row["sentences"], row["length"]) == (len(kept), len(" ".join(kept).split()))
        assert said in " ".join(report.recall().caption)


def test_an_oracle_that_was_not_found_in_time_is_no_recall_of_0(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(topic: optsum.Topic, *given: Any, **more: Any) -> Any:
        if topic.id == "late":
            raise Stopped(Termination.TIME_LIMIT)
        return build(topic, *given, **more)

    monkeypatch.setattr("optsum.studies.compressive.build", late)
    report = study_compressive([TOPIC, {**TOPIC, "id": "late"}], max_length=4)
    alone = study_compressive([TOPIC], max_length=4)
    assert [row[:6] for row in report.recall().rows] == [row[:6] for row in alone.recall().rows]
    assert report.lacking() == ["6 oracles of which nothing was found in time"]
    assert {row["status"] for row in report.of("oracle") if row["id"] == "late"} == {"no_solution"}
