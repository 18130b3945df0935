"""Compare labels with all optima found by brute force, and test which topics cannot be labelled."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import compress
from pathlib import Path
from typing import Any

import pytest
from plain_oracle import Plain

import optsum
from optsum.cli import main
from optsum.running.solve import solve

NEWS = Path(__file__).parents[3] / "examples" / "data" / "news.jsonl"

TOPIC = {
    "id": "t",
    "documents": [["a b", "x y", "b c"], ["", "a c", "c d e f"]],
    "references": [["a b c"]],
}
"""Three pairs of sentences are best among those of at most four words."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        status = main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_a_result_labels_every_sentence_of_the_input() -> None:
    result = solve(TOPIC, max_length=4)
    labels = result.labels()
    assert labels is not None
    assert [unit for unit, label in enumerate(labels) if label] == list(result.selection or ())
    assert (len(labels), result.sentence_count) == (6, 6)  # sentences that can never be chosen have a label too
    assert optsum.Result.from_row(json.loads(json.dumps(result.to_row()))).labels() == labels


def test_nothing_selected_has_no_labels() -> None:
    result = solve(TOPIC, max_length=40, min_length=30)
    assert (result.status, result.labels()) == ("infeasible", None)


def test_parts_of_sentences_and_names_are_refused() -> None:
    result = solve(TOPIC, max_length=4)
    for selection, count in [(((0, 1),), 3), (("s1",), 3), ((3,), 3), ((-1,), 3), ((0,), None), ((0,), 0)]:
        changed = optsum.Result(
            strategy="x", status=result.status, termination=result.termination, objective=1.0, selection=selection,
            sentence_count=count,
        )  # fmt: skip
        with pytest.raises(optsum.UnsupportedError, match=r"number"):
            changed.labels()


def test_soft_labels_are_the_shares_of_all_optima() -> None:
    (row,) = optsum.labels([TOPIC], max_length=4, soft=True, all_=10)
    sentences = [sentence for document in TOPIC["documents"] for sentence in document]
    # Sentences that match nothing are no units, so they are in no optimum.
    optima = Plain(TOPIC, {"metric": "rouge-1", "max_length": 4}).truth().optima
    best = [chosen for chosen in optima if not {1, 3}.intersection(chosen)]
    assert (row["sentences"], row["count"], row["complete"]) == (sentences, len(best), True)
    assert row["shares"] == [sum(unit in chosen for chosen in best) / len(best) for unit in range(6)]
    listed = [{unit for unit, label in enumerate(labels) if label} for labels in row["all_labels"]]
    assert sorted(map(sorted, listed)) == sorted(map(sorted, best))
    assert row["labels"] == row["all_labels"][0]


def test_at_most_so_many_optima_are_listed() -> None:
    (row,) = optsum.labels([TOPIC], max_length=4, all_=2)
    assert (len(row["all_labels"]), row["count"], "shares" in row) == (2, 3, False)


@pytest.mark.parametrize("count", [6, 12])
def test_diverse_optima_lie_far_apart(count: int) -> None:
    # An optimum has one sentence of each pair of twins: 2^pairs optima.
    twins = [[f"a{pair} b{pair}", f"b{pair} a{pair}"] for pair in range(count)]
    words = " ".join(f"a{pair} b{pair}" for pair in range(count))
    topic = {"id": "twins", "documents": twins, "references": [[words]]}
    oracles = optsum.enumerate_optima(topic, max_length=2 * count)
    assert oracles.count == 2**count
    first, second, *more = oracles.diverse(5)
    assert first == next(iter(oracles))
    assert len(set(first) ^ set(second)) >= count
    assert len({first, second, *more}) == 5
    assert oracles.diverse(5) == [first, second, *more]


@pytest.mark.parametrize("references", ["pooled", "best"])
def test_near_optimal_labels_begin_with_the_best(references: Any) -> None:
    texts = [["a b c"], ["c d e f"]]
    documents = [["x a", "d x", "b", "c d", "e x", "f b"]]
    topic = {"id": "t", "documents": documents, "references": texts}

    def value(labels: list[int]) -> Fraction:
        chosen = Counter(" ".join(compress(documents[0], labels)).split())
        held = [((Counter(text.split()) & chosen).total(), len(text.split())) for (text,) in texts]
        return (
            max(Fraction(*each) for each in held)
            if references == "best"
            else Fraction(sum(hits for hits, _ in held), 7)
        )

    (row,) = optsum.labels([topic], max_length=5, all_=99, within="60%", references=references)
    values = [value(labels) for labels in row["all_labels"]]
    assert values == sorted(values, reverse=True) or references == "best"
    assert values[0] == max(values)
    assert values[0] == Fraction(row["objective"]).limit_denominator(7) > values[-1]
    for few in (1, 3):
        (short,) = optsum.labels([topic], max_length=5, all_=few, within="60%", references=references)
        assert short["all_labels"] == row["all_labels"][:few]
        assert short["all_labels"][0] == short["labels"]


def test_diverse_lists_all_where_there_are_few() -> None:
    oracles = optsum.enumerate_optima(TOPIC, max_length=4)
    assert sorted(oracles.diverse(9)) == sorted(oracles)


def test_raw_text_is_split_once_and_the_sentences_are_in_the_row() -> None:
    text = "Dr. Smith left the house. He ran! Rain fell."
    topic = {"id": "raw", "documents": [text], "references": ["He ran."]}
    (row,) = optsum.labels([topic], max_length=2)
    assert row["sentences"] == ["Dr. Smith left the house.", "He ran!", "Rain fell."]
    assert row["labels"] == [0, 1, 0]
    again = {"id": "raw", "documents": [row["sentences"]], "references": [["He ran."]]}
    assert next(optsum.labels([again], max_length=2))["labels"] == row["labels"]


def test_tokens_are_joined() -> None:
    topic = {"id": "k", "documents": [[["我", "跑"], ["他"]]], "references": [[["他"]]]}
    (row,) = optsum.labels([topic], max_length=1)
    assert (row["sentences"], row["labels"]) == (["我 跑", "他"], [0, 1])


def test_a_topic_that_cannot_be_used_costs_no_other() -> None:
    bad, empty = {"id": "bad", "documents": 3}, {"id": "none", "documents": [["x"]], "references": [["!"]]}
    rows = list(optsum.labels([bad, empty, TOPIC], max_length=4))
    assert [(row["id"], row["status"], row["labels"] is None) for row in rows] == [
        ("bad", "error", True),
        ("none", "error", True),
        ("t", "optimal", False),
    ]
    assert "documents" in rows[0]["error"]
    assert rows[2]["error"] is None
    assert set(rows[0]) == set(rows[2])


def test_covers_are_labelled_where_sentences_are_numbered() -> None:
    cover = {"id": "c", "documents": [["a", "b", "c"]], "cover": [[[0, 1], [2]], [[2]]]}
    rows = optsum.labels(
        [cover, {**cover, "documents": []}, {**cover, "meta": {"sentence_ids": [2, 1, 0]}}], formulation="cover"
    )
    assert next(rows)["labels"] == [0, 0, 1]
    assert [(row["status"], "numbered" in row["error"]) for row in rows] == [("error", True)] * 2


def test_compressions_are_refused_before_any_work(run: Any, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    status, out, err = run("labels", NEWS, "--formulation", "compressive", "--max-length", 10, "-o", output)
    assert (status, out, err.count("\n"), output.exists()) == (2, "", 1, False)
    assert "parts of sentences" in err


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--diverse"], "--all"),
        (["--soft", "--strategy", "greedy"], "does not enumerate"),
        (["--all", "2", "--strategy", "milp"], "does not enumerate"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(run: Any, flags: list[str], reason: str) -> None:
    status, _, err = run("labels", NEWS, "--max-length", 10, *flags)
    assert (status, reason in err) == (2, True)


def test_the_command_writes_what_python_yields(run: Any, tmp_path: Path) -> None:
    output = tmp_path / "labels.jsonl"
    status, out, _ = run("labels", NEWS, "--max-length", 30, "--soft", "--all", 2, "--diverse", "-o", output)
    assert (status, out.startswith("8 problems: 8 optimal")) == (0, True)
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert all(row.pop("input_hash") for row in rows)  # by which --resume notices a changed text
    assert rows == list(optsum.labels(optsum.read_topics(NEWS), max_length=30, soft=True, all_=2, diverse=True))


@pytest.mark.slow
def test_workers_and_each_reference(run: Any, tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    two = {**TOPIC, "references": [["x y"], ["c d e f"]]}
    topics.write_text("\n".join([json.dumps(two), "{half", json.dumps({**TOPIC, "id": "u"})]))
    status, out, err = run("labels", topics, "--max-length", 4, "--references", "each", "--workers", 2)
    rows = [json.loads(line) for line in out.splitlines()]
    assert (status, [row["id"] for row in rows]) == (1, ["t#0", "t#1", None, "u#0"])
    assert [row["labels"] for row in rows[:2]] == [[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]
    assert "topics.jsonl:2" in err


def test_labels_on_real_topics(shared_data: Path) -> None:
    rows = list(optsum.labels(_head(shared_data / "realsumm" / "topics.jsonl", 5), max_length=60, soft=True))
    for row, topic in zip(rows, _head(shared_data / "realsumm" / "topics.jsonl", 5), strict=True):
        assert row["sentences"] == list(topic.sentences)
        assert len(row["labels"]) == len(row["shares"]) == len(topic.sentences)
        assert all(share == 1 or share < 1 for share in row["shares"])
        assert all(not label or share > 0 for label, share in zip(row["labels"], row["shares"], strict=True))


def _head(path: Path, count: int) -> list[Any]:
    return [topic for topic, _ in zip(optsum.read_topics(path), range(count), strict=False)]
