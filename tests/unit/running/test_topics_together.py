"""Check that topics searched together have the results that each has by itself."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from optsum.solvers.few_units import search_extracts

from optsum import Topic, solve_all
from optsum.contracts.result import Result, Status
from optsum.exchange.labels import labels
from optsum.running import each_topic
from optsum.running.workers import Answered, in_order
from optsum.system.clock import Termination
from optsum.system.compiled import patience
from optsum.text.word_kernel import number_apart, number_words

OPTIONS: list[dict[str, Any]] = [
    {"preset": "presumm"},
    {
        "metric": "rouge-1",
        "measure": "f1",
        "counts": "set",
        "min_length": 1,
        "max_length": 1,
        "length_unit": "sentences",
    },
    {
        "metric": "rouge-2",
        "measure": "f1",
        "counts": "set",
        "references": "mean",
        "min_length": 2,
        "max_length": 3,
        "length_unit": "sentences",
    },
    {"metric": "rouge-1", "max_length": 9},
    {"metric": "rouge-2", "max_length": 9, "strategy": "branch-and-bound"},
    {"metric": "rouge-1+rouge-2", "max_length": 2, "length_unit": "sentences"},
    {"metric": "rouge-1", "max_length": 9, "references": "mean"},
    {"metric": "rouge-1+rouge-2", "max_length": 9, "references": "mean", "tokenizer": "blank"},
    {"metric": "rouge-1", "measure": "f1", "references": "mean", "strategy": "branch-and-bound"},
    {"metric": "rouge-1", "measure": "precision", "min_length": 5, "max_length": 12},
    {"metric": "rouge-su4", "measure": "f1", "max_length": 12},
    {"metric": "rouge-1+rouge-2", "measure": "f1", "counts": "set", "tokenizer": "rouge-score"},
    {"metric": "rouge-1", "measure": "precision", "counts": "set", "max_length": 3, "length_unit": "sentences"},
    {"metric": "rouge-1", "max_length": 6, "references": "each"},
    {"metric": "rouge-1", "max_length": 6, "references": "agreed", "stem": True},
    {"preset": "hirao-r1", "max_length": 9},
    {"preset": "hirao-r2", "max_length": 9},
    {"preset": "hirao-su0", "max_length": 9},
    {"preset": "rouge155", "max_length": 9},
    {"preset": "google"},
    {"preset": "google-stemmed"},
    {"preset": "akhmetov"},
    {"preset": "scitldr"},
    {"preset": "matchsum"},
    {"preset": "lin-hovy-100", "min_length": 5, "max_length": 9},
    {"metric": "rouge-1+rouge-2", "max_length": 9, "references": "mean", "model_units": "sentences"},
    {"metric": "rouge-l", "max_length": 9},
    {"metric": "rouge-l+rouge-2", "max_length": 9, "references": "mean", "strategy": "branch-and-bound"},
    {"metric": "rouge-1+rouge-l", "measure": "f1", "references": "mean", "max_length": 12},
    {"metric": "rouge-1+rouge-2+rouge-l", "measure": "precision", "min_length": 5, "max_length": 12},
    {"metric": "rouge-l+rouge-su4", "measure": "f1", "max_length": 12},
]
"""Specifications that are searched together, whatever their measure, counts, references, lengths, metrics and words."""

WORDS = ["a", "b", "c", "dd", "it's", "e-f", "İx", "K9", "ß", "x\u2003y", "\x85", "…", "z" * 40, "", "\x0b", "I\x1fJ"]


@pytest.fixture(autouse=True)
def together(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let kernels be compiled at once, and return the list to which ids of topics searched together are appended."""
    monkeypatch.setattr(patience, "left_s", 0.0)
    for kernel in (search_extracts, number_words, number_apart):
        monkeypatch.setitem(patience.taken, kernel, 100.0)
    names: list[str] = []
    answered = each_topic.answered_together

    def noted(*given: Any, **named: Any) -> list[Any]:
        found = answered(*given, **named)
        names.extend(row.id for each in found if isinstance(each, Answered) for row in each.results)
        return found

    monkeypatch.setattr(each_topic, "answered_together", noted)
    return names


def topics(seed: int, count: int, words: list[str] = WORDS) -> list[Topic]:
    """Return small topics in which many selections are equally good."""
    random_ = random.Random(seed)  # noqa: S311

    def text(most: int) -> tuple[str, ...]:
        return tuple(
            " ".join(random_.choices(words, k=random_.randrange(7))) for _ in range(random_.randrange(1, most))
        )

    return [
        Topic(f"{seed}-{number}", (text(8), text(5)), tuple(text(4) for _ in range(random_.randrange(1, 4))))
        for number in range(count)
    ]


def stripped(result: Result) -> dict[str, Any]:
    """Return the row of a result without its times."""
    row = result.to_row()
    row["seconds"] = None
    row["statistics"] = {
        name: value for name, value in row["statistics"].items() if not name.endswith("_s") and name != "seconds"
    }
    row["trace"] = [point[1:] for point in row["trace"]]
    return row


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def test_topics_together_have_the_results_of_each_alone(options: dict[str, Any], together: list[str]) -> None:
    given = topics(7, 30, [*WORDS, ". .", "The", "running"]) + topics(8, 15, ["a", "b", "c"])
    alone = list(solve_all(iter(given), **options))
    assert not together
    found = list(solve_all(given, **options))
    assert [(one.id, one.status, one.key) for one in found] == [(one.id, one.status, one.key) for one in alone]
    assert [stripped(one) for one in found if one.id in together] == [
        stripped(one) for one in alone if one.id in together
    ]
    assert len(together) > len(given) / 3  # the others have nothing to count or no value


@pytest.mark.parametrize(
    "limit",
    [
        {"time_limit": 60},
        {"node_limit": 10**9},
        {"gap": 0.0},
        {"strategy": "milp"},
        {"metric": "rougeL"},
        {"metric": "ngram-1-2"},
        {"tokenizer": "unicode"},
    ],
    ids=str,
)
def test_topics_with_limits_are_searched_alone(limit: dict[str, Any], together: list[str]) -> None:
    given = topics(3, 12, ["a", "b", "c"])
    options = {"metric": "rouge-1", "max_length": 6, **limit}
    assert [stripped(one) for one in solve_all(given, **options)] == [
        stripped(one) for one in solve_all(iter(given), **options)
    ]
    assert not together


def test_other_topics_stand_in_their_place(together: list[str]) -> None:
    given: list[Any] = list(topics(5, 12, ["a", "b", "c"]))
    given[2] = Topic("nul", (("a \0 b", "c"),), (("a b",),))
    given[4] = Topic("tokens", ((("a", "b"), ("c",)),), ((("a", "c"),),))
    given[6] = {"id": "bad", "documents": [["a"]]}
    given[7] = Topic("empty", (("a",),), (("",),))
    given[8] = Topic("unchecked", (("a", None),), (("a",),))  # type: ignore[arg-type]
    given[9] = Topic("half", (("a \ud800 b", "c"),), (("a b",),))
    given[10] = Topic("foreign", (("привет мир", "да"),), (("привет",),))
    found = [stripped(result) for result in solve_all(given, preset="presumm")]
    assert found == [stripped(result) for result in solve_all(iter(given), preset="presumm")]
    assert [row["id"] for row in found][2] == "nul"
    assert {row["status"] for row in found} >= {"error", "optimal"}
    assert together


def test_a_file_has_the_results_of_its_topics(tmp_path: Path, together: list[str]) -> None:
    file = tmp_path / "topics.jsonl"
    given = topics(9, 70, ["a", "b", "c", "d"])
    lines = [json.dumps({"id": one.id, "documents": one.documents, "references": one.references}) for one in given]
    lines[30], lines[50] = "{broken", lines[10]  # its id is then there twice
    file.write_text("\n".join(lines) + "\n")
    rows = list(labels(str(file), preset="presumm"))
    assert len(together) > 30
    assert rows == list(labels(iter([*read(file)]), preset="presumm"))
    assert rows[30]["status"] == rows[50]["status"] == "error"
    one = [stripped(result) for result in solve_all(str(file), metric="rouge-1", max_length=6)]
    two = [stripped(result) for result in solve_all(str(file), metric="rouge-1", max_length=6, workers=2)]
    assert one == two


def read(file: Path) -> Iterator[Any]:
    """Yield the topics of a file, bad ones included."""
    from optsum import read_topics

    return read_topics(str(file), bad="keep")


def _result(item: int) -> list[Result]:
    return [Result(strategy="x", status=Status.NO_SOLUTION, termination=Termination.COMPLETED, id=str(item))]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_topics_read_before_an_error_are_answered(error: type[BaseException]) -> None:
    def items() -> Iterator[int]:
        yield from range(70)
        raise error

    done: list[str | None] = []
    batches = in_order(_result, items(), None, _result, list)
    with pytest.raises(error):
        done.extend(result.id for results in batches for result in results)
    assert done == [str(number) for number in range(70 if error is ValueError else 64)]
