"""Test the details of rows for report pages: texts, options, all optima."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from plain_oracle import Plain

from optsum.contracts.result import Result
from optsum.corpus.topic import Topic
from optsum.corpus.topics import read_topics
from optsum.options.options import resolve
from optsum.report.comparison import compare_topics, plan_of
from optsum.running import enumerate as detailed
from optsum.running.solve import solve_topics

TOPIC = {"id": "t", "documents": [["a b", "b c", "a c", "x y"]], "references": [["a b c"]]}
EXAMPLES = Path(__file__).resolve().parents[4] / "examples/data"


def carried(topic: object, **options: Any) -> dict[str, Any]:
    (results,) = solve_topics([topic], resolve({"strategy": "greedy", **options}), details=True)
    found = results[0].to_row()["details"]
    assert json.loads(json.dumps(found)) == json.loads(
        json.dumps(Result.from_row(results[0].to_row()).extra["details"])
    )
    return dict(found)


def test_texts_options_and_all_optima_are_there() -> None:
    found = carried(TOPIC, max_length=4, seed=3)
    assert found["options"] == {"strategy": "greedy", "max_length": 4}
    assert (found["documents"], found["references"]) == (TOPIC["documents"], TOPIC["references"])
    assert found["optima"] == {
        "count": 3,
        "complete": True,
        "listed": [[0, 1], [0, 2], [1, 2]],
        "shares": [[0, round(2 / 3, 6)], [1, round(2 / 3, 6)], [2, round(2 / 3, 6)]],
    }


def test_nothing_is_added_unless_it_is_asked_for() -> None:
    (results,) = solve_topics([TOPIC], resolve({"strategy": "greedy", "max_length": 4}))
    assert "details" not in results[0].to_row()


def test_the_first_row_of_each_problem_carries_them() -> None:
    plan = plan_of("greedy,lead", "branch-and-bound", max_length=4, references="each")
    topic = {**TOPIC, "references": [["a b c"], ["x y b"]]}
    rows = [result.to_row() for results in compare_topics([topic], plan, details=True) for result in results]
    assert [(row["id"], row["strategy"]) for row in rows if "details" in row] == [
        ("t#0", "branch-and-bound"),
        ("t#1", "branch-and-bound"),
    ]
    assert rows[0]["details"]["references"] == [["a b c"]]


def test_a_part_of_a_sentence_begins_where_its_chunk_does() -> None:
    (topic,) = read_topics(EXAMPLES / "parsed.jsonl")
    assert isinstance(topic, Topic)
    found = carried(topic, formulation="compressive", max_length=40)
    for sentence, parts in zip(topic.sentences, found["parts"], strict=True):
        starts = [start for start, _ in parts]
        assert starts[0] == 0
        assert starts == sorted(set(starts))
        assert starts[-1] < len(sentence)
        assert all(one != other for (_, one), (_, other) in pairwise(parts))
    named = {(sentence, chunk) for sentence, parts in enumerate(found["parts"]) for _, chunk in parts}
    (optimum,) = found["optima"]["listed"]
    assert {tuple(unit) for unit, _ in found["optima"]["shares"]} == set(map(tuple, optimum))
    assert {sentence for sentence, _ in named & set(map(tuple, optimum))} == {sentence for sentence, _ in optimum}


def test_optima_that_are_not_proven_are_not_claimed() -> None:
    rng = Random(1)  # noqa: S311 - nothing secret
    texts = [" ".join(rng.choices([f"w{number}" for number in range(90)], k=rng.randint(4, 12))) for _ in range(60)]
    topic = {"id": "t", "documents": [texts[:50]], "references": [texts[50:]]}
    assert "optima" not in carried(topic, max_length=40, time_limit=0)


def test_topics_that_cannot_be_enumerated_have_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detailed, "refused", lambda options: True)
    found = carried(TOPIC, max_length=4)
    assert "optima" not in found
    assert found["documents"] == TOPIC["documents"]


def test_an_error_row_says_what_its_text_was_and_no_optimum() -> None:
    (results,) = solve_topics(
        [{**TOPIC, "references": [["..."]]}], resolve({"strategy": "greedy", "max_length": 4}), details=True
    )
    assert results[0].error is not None
    assert "optima" not in results[0].extra["details"]
    assert results[0].extra["details"]["documents"] == TOPIC["documents"]


def test_ctrl_c_while_optima_are_looked_for_leaves_no_finished_row(monkeypatch: pytest.MonkeyPatch) -> None:
    real = detailed.oracles_of
    monkeypatch.setattr(
        detailed, "oracles_of", lambda *given, **named: replace(real(*given, **named), termination="interrupted")
    )
    rows = solve_topics([TOPIC], resolve({"strategy": "greedy", "max_length": 4}), details=True)
    with pytest.raises(KeyboardInterrupt):
        next(rows)


def test_shares_are_those_of_brute_force() -> None:
    topic = {"id": "t", "documents": [["a b", "b c", "c d", "d e", "a e"]], "references": [["a b c d e"]]}
    options = {"metric": "rouge-1", "max_length": 4}
    plain, found = Plain(topic, options), carried(topic, **options)["optima"]
    optima = {chosen for chosen in plain.truth().optima if set(chosen) <= plain.units()}
    assert set(map(tuple, found["listed"])) == optima
    assert found["count"] == len(optima) > 1
    shares = {unit: round(sum(unit in chosen for chosen in optima) / len(optima), 6) for unit in plain.units()}
    assert dict(found["shares"]) == {unit: share for unit, share in shares.items() if share}
