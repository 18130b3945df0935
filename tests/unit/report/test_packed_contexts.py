"""Test `score` of selections within a budget: each packer's choice against the most claims that fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optsum
from optsum.cli import main

QUESTION: dict[str, Any] = {"id": "q", "supports": [[0, 1], [2, 3], [0, 1, 2], []], "lengths": [40, 45, 50, 9]}
TEXTS: dict[str, Any] = {
    "id": "t",
    "documents": ["It opened. It was late.", "It cost 4 million.", "It opened and carries trains."],
    "supports": [[0], [1], [0, 2]],
    "references": ["opened", "cost 4 million", "carries trains"],
}


def sets_of(size: int) -> Iterator[tuple[int, ...]]:
    for number in range(size + 1):
        yield from combinations(range(size), number)


@st.composite
def packed(draw: st.DrawFn) -> tuple[dict[str, Any], int, list[list[int]]]:
    """Draw a question, a budget, and the choices of some packers."""
    size = draw(st.integers(1, 6))
    claims = draw(st.integers(1, 5))
    passage = st.lists(st.integers(0, claims - 1), max_size=3, unique=True)
    supports = draw(st.lists(passage, min_size=size, max_size=size))
    lengths = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    weights = draw(st.lists(st.sampled_from([0.5, 1, 2]), min_size=claims, max_size=claims))
    chosen = st.lists(st.integers(0, size - 1), unique=True)
    question = {"id": "t", "supports": supports, "lengths": lengths, "weights": weights}
    return question, draw(st.integers(0, sum(lengths))), draw(st.lists(chosen, min_size=1, max_size=3))


@settings(max_examples=100)
@given(packed())
def test_each_choice_beside_trying_everything(drawn: tuple[dict[str, Any], int, list[list[int]]]) -> None:
    question, budget, choices = drawn
    weights = [Fraction(str(weight)) for weight in question["weights"]]

    def worth(chosen: Any) -> Fraction:
        held = {claim for passage in chosen for claim in question["supports"][passage]}
        return sum((weights[claim] for claim in held), Fraction()) / sum(weights)

    def used(chosen: Any) -> int:
        return sum(question["lengths"][passage] for passage in chosen)

    best = max(worth(chosen) for chosen in sets_of(len(question["lengths"])) if used(chosen) <= budget)
    systems = [{"topic_id": "t", "system": str(n), "selection": chosen} for n, chosen in enumerate(choices)]
    scores = optsum.score([question], systems, formulation="cover", max_length=budget)
    assert (scores.failed, scores.packed.unproven) == (0, 0)
    for chosen, row in zip(choices, scores.rows, strict=True):
        assert row.claims["length"] == used(chosen)
        assert row.claims["over"] == (used(chosen) > budget)
        if used(chosen) > budget:
            assert row.claims["objective"] is row.claims["gap"] is row.claims["worst"] is None
        else:
            lost = pytest.approx(float(1 - worth(chosen) / best)) if best else None
            assert row.claims["objective"] == pytest.approx(float(worth(chosen)))
            assert row.claims["gap"] == row.claims["worst"] == lost


def test_the_command_scores_packed_contexts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [
        {"topic_id": "q", "system": "bm25", "selection": [2, 3], "human": {"good": 1}},
        {"topic_id": "q", "system": "whole", "selection": [2, 1, 0], "human": {"good": 2}},
        {"topic_id": "r", "system": "bm25", "selection": [0, 1]},
        {"topic_id": "r", "system": "whole", "selection": [7]},
    ]
    questions, systems, rows = (tmp_path / name for name in ("q.jsonl", "s.jsonl", "rows.jsonl"))
    questions.write_text("\n".join(map(json.dumps, [QUESTION, {**QUESTION, "id": "r"}])), "utf-8")
    systems.write_text("\n".join(map(json.dumps, chosen)), "utf-8")
    budget = ["--formulation", "cover", "--max-length", "90"]
    assert main(["score", str(questions), str(systems), *budget, "-o", str(rows)]) == 1
    printed = capsys.readouterr()
    lines = {line.split()[0]: line.split()[1:] for line in printed.out.splitlines() if line[:1] in {"b", "w"}}
    assert "most claims within 90 of the given lengths" in printed.out
    assert lines["bm25"] == ["2", "0", "72.0", "87.5%", "12.5%", "25.0%", "1.0000"]
    assert lines["whole"] == ["1", "1", "135.0", "-", "-", "-", "2.0000"]
    assert "names 7, which is not a passage of topic 'r'" in printed.err
    first, over, *_ = (json.loads(row) for row in rows.read_text("utf-8").splitlines())
    assert (first["numerator"], first["length"], first["over"], first["gap"], first["missed"]) == (3, 59, 0, 0.25, [3])
    assert (first["optimum"]["numerator"], first["optimum"]["selection"]) == (4, [0, 1])
    assert (over["numerator"], over["over"], over["gap"]) == (4, 45, None)
    assert main(["score", str(questions), str(systems), *budget[:2]]) == 2
    assert "A context needs a budget: give --max-length N" in capsys.readouterr().err
    assert main(["score", str(questions), str(systems)]) == 1
    assert "give --formulation cover with --max-length N" in capsys.readouterr().err


def test_topics_without_a_possible_claim_are_in_no_mean_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = [QUESTION, {**QUESTION, "id": "none", "lengths": [99] * 4}]
    chosen = [{"topic_id": each["id"], "system": "bm25", "selection": [2]} for each in questions]
    scores = optsum.score(
        questions, [{**chosen[0]}, {**chosen[1], "selection": []}], formulation="cover", max_length=90
    )
    assert scores.rows[0].claims["gap"] == 0.25
    topics = tmp_path / "q.jsonl"
    topics.write_text("\n".join(map(json.dumps, questions)), "utf-8")
    assert main(["context", str(topics), "--max-length", "90", "--format", "latex"]) == 0
    printed = capsys.readouterr().out
    (note,) = [line for line in printed.splitlines() if line.startswith("budget in")]
    assert note.endswith(r"share that it loses. greedy selection loses 25.0\% on average.")


def test_choices_as_texts_and_by_name(caplog: pytest.LogCaptureFixture) -> None:
    text = {"topic_id": "t", "system": "text", "summary": ["It cost 4 million.", "It opened. It was late."]}
    options: dict[str, Any] = {"formulation": "cover", "max_length": 9}
    scores = optsum.score([TEXTS], [text], **options)
    assert scores.rows[0].claims == {
        "objective": pytest.approx(2 / 3), "gap": pytest.approx(1 / 3), "length": 9, "worst": pytest.approx(1 / 3),
        "over": 0,
    }  # fmt: skip
    assert caplog.messages == ['lengths are words; length_tokenizer="NAME" counts tokens']
    tokens = optsum.score([TEXTS], [text], **options, length_tokenizer=lambda text: text[:])
    assert (tokens.rows[0].claims["length"], tokens.rows[0].claims["over"]) == (18 + 23, 1)
    named = {**TEXTS, "meta": {"sentence_ids": ["a", "b", "c"]}}
    by_name = {"topic_id": "t", "system": "name", "selection": ["c", "b"]}
    assert optsum.score([named], [by_name], **options).rows[0].claims["gap"] == 0
    for wrong in ({"summary": ["It opened."]}, {"selection": ["1"]}, {"human": {"good": 1}}):
        assert optsum.score([TEXTS], [{"topic_id": "t", "system": "x", **wrong}], **options).failed == 1


def test_people_may_judge_contexts() -> None:
    choices: list[Any] = [([0, 1], 3), ([2], 2), ([3], 1)]
    systems = [
        {"topic_id": "q", "system": str(n), "selection": chosen, "human": {"good": good}}
        for n, (chosen, good) in enumerate(choices)
    ]
    scores = optsum.score([QUESTION], systems, formulation="cover", max_length=90)
    found = {(one.metric, one.measure): one.system_spearman for one in scores.agreements}
    assert found["claims", "objective"] == pytest.approx(1)
    assert found["claims", "gap"] == pytest.approx(-1)
