"""Check that every function takes topics as a file, a data frame or a list, and refuses anything else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import optsum
from optsum.corpus.topic import BadTopic, Topic, as_topic
from optsum.corpus.topics import System, topics_of
from optsum.errors import InputError

TOPICS = [
    {"id": name, "documents": [["a b", "b c", "a c"]], "references": [["a b c"]], "cover": [[[0]]]} for name in "xy"
]
SYSTEMS = [{"topic_id": name, "system": "s", "summary": ["a b"], "selection": [0]} for name in "xy"]
OPTIONS: dict[str, Any] = {"max_length": 4, "strategy": "lead"}


def frames(rows: list[dict[str, Any]]) -> Iterator[Any]:
    yield pd.DataFrame(rows)
    yield pd.DataFrame([*rows, {}]).iloc[:-1]  # integers become floats, and texts objects
    yield pd.DataFrame({name: [json.dumps(row[name]) if isinstance(row[name], list) else row[name] for row in rows]
                        for name in rows[0]})  # fmt: skip
    yield pa.Table.from_pylist(rows)
    yield pa.Table.from_pylist(rows).to_pandas()  # lists become arrays of arrays


@pytest.mark.parametrize("number", range(5))
def test_data_frames_and_tables_are_read(number: int) -> None:
    found = [as_topic(topic) for topic in topics_of(list(frames(TOPICS))[number])]  # type: ignore[arg-type]
    assert found == [as_topic(topic) for topic in TOPICS]


def test_a_frame_without_ids() -> None:
    frame = pd.DataFrame({"documents": ["One. Two.", None], "references": [["x y"], [["z"]]]})
    first, second = topics_of(frame)
    assert isinstance(first, Topic)
    assert isinstance(second, BadTopic)
    assert first.documents == (("One.", "Two."),)
    assert (first.id, second.id) == ("0", "1")
    assert 'there is no "documents"' in second.error


def test_a_frame_of_a_well_known_data_set() -> None:
    frame = pd.DataFrame({"article": ["One. Two.", None], "highlights": ["x y", "z"], "guid": ["a", "b"]})
    first, second = optsum.solve_all(frame, **OPTIONS)
    assert (first.id, first.selection) == ("a", (0, 1))
    assert second.error == "row 1: topic 'b': there is no \"documents\": the column article is missing or null"


def test_a_bad_cell_costs_the_others_nothing() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "documents": ["['x']", "One."], "references": ["y", "y"]})
    first, second = optsum.solve_all(frame, **OPTIONS)
    assert str(first.error).startswith("row 0: the cell documents begins as a list and is not JSON")
    assert second.id == "b"


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "solve_all": lambda topics: [result.id for result in optsum.solve_all(topics, **OPTIONS)],
    "compare": lambda topics: [row.mean_objective for row in optsum.compare(
        topics, strategies="lead,random", exact="none", max_length=4).rows],
    "align": lambda topics: [topic.id for topic in optsum.align(topics)],
    "score": lambda topics: [row.topics for row in optsum.score(topics, SYSTEMS).rows],
    "study": lambda topics: optsum.study("tsc3", topics, SYSTEMS).to_rows(),
    "labels": lambda topics: [row["id"] for row in optsum.labels(topics, **OPTIONS)],
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "topics.json").write_text(json.dumps(TOPICS))
    return tmp_path / "topics.json"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_files_and_frames(name: str, path: Path) -> None:
    function = FUNCTIONS[name]
    wanted = function(TOPICS)
    assert wanted
    assert function(str(path)) == function(path) == function(next(frames(TOPICS))) == wanted


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (TOPICS[0], "this is a single topic; give a list of topics"),
        (as_topic(TOPICS[0]), "this is a single topic"),
        (b"topics.jsonl", "come from a path, a data frame or a list, and this is of type bytes"),
        (3, "and this is a number"),
        (None, "and this is null"),
        ("nosuch.jsonl", "cannot be opened: there is no such file"),
    ],
    ids=["mapping", "topic", "bytes", "number", "none", "missing"],
)
def test_every_function_refuses_anything_else(name: str, given: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        FUNCTIONS[name](given)


def test_export_and_import_take_files(path: Path, tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    assert [made.error for made in optsum.export(path, tmp_path / "lp", max_length=4)] == [None, None]
    assert len(optsum.import_solutions(path, tmp_path / "solutions", max_length=4)) == 2
    with pytest.raises(InputError, match="a single topic"):
        optsum.export(TOPICS[0], tmp_path / "lp", max_length=4)


def test_systems_come_in_files_and_frames(tmp_path: Path) -> None:
    (tmp_path / "systems.jsonl").write_text("".join(json.dumps(system) + "\n" for system in SYSTEMS))
    wanted = optsum.score(TOPICS, SYSTEMS).rows
    assert wanted[0].topics == 2
    for given in (tmp_path / "systems.jsonl", next(frames(SYSTEMS)), [System("x", "s", ("a b",)), SYSTEMS[1]]):
        assert optsum.score(TOPICS, given).rows == wanted
    with pytest.raises(InputError, match="a single summary"):
        optsum.score(TOPICS, SYSTEMS[0])


def test_items_that_are_no_topics_are_errors() -> None:
    results = list(optsum.solve_all(["topics.jsonl", Topic("t", (("a b",),), (("a",),))], **OPTIONS))  # type: ignore[list-item]
    assert [result.status for result in results] == ["error", "feasible"]
    assert "a topic is an object" in str(results[0].error)


TEXT, SUMMARY = "The cat sat on the mat. It was happy.", "A cat sat on a mat."


@pytest.mark.parametrize(
    "topic",
    [
        {"documents": [TEXT], "references": [SUMMARY]},
        {"documents": TEXT, "references": SUMMARY},
        {"article": TEXT, "highlights": SUMMARY},
        {"text": TEXT, "summary": SUMMARY},
        pd.Series({"article": TEXT, "highlights": SUMMARY}),
        next(pd.DataFrame([{"article": TEXT, "highlights": SUMMARY}]).itertuples()),
    ],
)
def test_one_topic_needs_no_id_and_may_be_a_row(topic: Any) -> None:
    found = optsum.solve(topic, max_length=8)
    assert (found.id, found.selection) == ("0", (0,))


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        (TEXT, r"give it too: solve\(text, summary\)"),
        ([TEXT, SUMMARY], r"give it too: solve\(sentences, summary\)"),
        ((TEXT, SUMMARY), r"give it too: solve\(sentences, summary\)"),
        ([{"text": TEXT, "summary": SUMMARY}], r"several.*solve_all\(topics\)"),
        (pd.DataFrame([{"text": TEXT, "summary": SUMMARY}]), r"several.*solve_all\(topics\)"),
        (iter(()), r"several.*solve_all\(topics\)"),
        ({"body": TEXT, "abstract": SUMMARY}, 'columns="documents=body,references=abstract" tells'),
        ({"doc": TEXT, "ref": SUMMARY}, 'neither "documents" nor "references"; its keys are: doc, ref; columns='),
        (None, 'an object with "documents" and "references", not null'),
        (3, "not a number"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_to_pass(topic: Any, words: str) -> None:
    with pytest.raises(optsum.InputError, match=words):
        optsum.solve(topic, max_length=8)


def test_a_slice_of_a_dataset_holds_columns() -> None:
    columns = {"id": ["a", "b"], "article": ["One. Two.", "Three."], "highlights": ["One.", "Three."]}
    for take in (optsum.solve, lambda given, **options: list(optsum.solve_all(given, **options))):
        with pytest.raises(InputError, match=r"columns of 2 records, as dataset\[:2\] returns them; give the records"):
            take(columns, max_length=5)  # type: ignore[operator]
    del columns["id"]
    with pytest.raises(InputError, match=r"use dataset\.select\(range\(2\)\)"):
        list(optsum.solve_all(columns, max_length=5))
