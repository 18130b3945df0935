from __future__ import annotations

from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.studies import study
from optsum.studies.compressive import FORMULATIONS, VARIANTS, CompressiveStudy, study_compressive

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


def test_by_hand() -> None:
    report = study_compressive([TOPIC], max_length=4, show=3)
    assert not report.errors
    assert len(report.to_rows()) == 6
    row = next(row for row in report.to_rows() if row["formulation"] == "compressive" and row["optimized"] == "R2")
    assert (row["summary"], row["length"]) == (["Cats sleep", "Dogs bark"], 4)
    assert (row["sentences"], row["compressed"], row["status"]) == (2, 2, "optimal")
    assert row["recall"] == {"R1": 1.0, "R2": 2 / 3, "SU0": 6 / 7}, "the reference's bigram sleep dogs is out of reach"
    extract = next(row for row in report.to_rows() if row["formulation"] == "extractive" and row["optimized"] == "R2")
    assert (extract["summary"], extract["compressed"]) == (["Dogs bark loudly"], 0)
    assert report.mean("extractive", "R2", "R2") == pytest.approx(1 / 3)
    text = str(report)
    assert "Cats sleep Dogs bark" in text
    assert "+33.3" in text, "R2 gains a third"
    assert "1 topic;" in text


def test_what_cannot_be_used_is_left_out() -> None:
    without = {**TOPIC, "id": "u"}
    del without["parses"]
    report = study("compressive", [without, TOPIC, {"id": "v"}], max_length=4)
    assert isinstance(report, CompressiveStudy)
    assert len(report.oracles) == 1
    assert len(report.errors) == 2
    assert "'u'" in report.errors[0]
    assert "parses" in report.errors[0]
    empty = study("compressive", [])
    assert empty.to_rows() == []
    assert "0 topics" in str(empty)


def test_limits_are_said() -> None:
    report = study_compressive([TOPIC], max_length=4, strategy="greedy")
    assert "6 oracles not proven" in str(report)


def test_real_topics(shared_data: Path) -> None:
    """Each oracle is best in its own variant, and compression gains in all of them, as in the paper."""
    topics = list(optsum.read_topics(shared_data / "gum" / "topics.jsonl"))[::16]
    report = study_compressive(topics, max_length=50)
    assert not report.errors
    for of in report.oracles:
        for formulation in FORMULATIONS:
            for evaluated in VARIANTS:
                best = of[formulation, evaluated]
                objective = best.result.objective or 0
                assert objective == pytest.approx(best.evaluated[evaluated], abs=1e-12)
                for optimized in VARIANTS:
                    assert of[formulation, optimized].evaluated[evaluated] <= objective + 1e-12
        for variant in VARIANTS:
            extract, compression = (Fraction(of[name, variant].result.objective_exact or 0) for name in FORMULATIONS)
            assert extract <= compression
    rows = report.to_rows()
    assert len(rows) == 6 * len(topics)
    assert all(row["status"] == "optimal" for row in rows)
    sentences = set(chain.from_iterable(topic.sentences for topic in topics if isinstance(topic, optsum.Topic)))
    assert all(set(row["summary"]) <= sentences for row in rows if row["formulation"] == "extractive")
