"""Check that lines passed unread to other processes become the same topics as in a single one."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trying import blocks

from optsum.corpus.formats import RawLines
from optsum.corpus.topic import BadTopic, Notes, Topic, reading_of
from optsum.corpus.topics import Lines, Names, read_topics, unique_topics, unread_topics
from optsum.errors import InputError

TEXT = {"documents": [["A b .", "c d"]], "references": [["A c ."]]}


def read(path: Path, cut: int = 7, **how: Any) -> list[Topic | BadTopic]:
    """Read topics as worker processes do, `cut` lines at a time, and check for repeated ids afterwards."""
    found: list[Topic | BadTopic] = []
    for each in unread_topics(path, reading_of(**how)):
        parts = [each[place : place + cut] for place in range(0, len(each), cut)] if isinstance(each, Lines) else [each]
        for part in pickle.loads(pickle.dumps(parts)):  # noqa: S301 - of this test
            found += part.read() if isinstance(part, Lines) else [part]
    return list(unique_topics(found))


def a_line(chance: random.Random) -> str:
    """Return a line of a random kind; ids are few, so that some repeat."""
    name: Any = chance.choice(["a", "b", "c", "7", 7, 0, "é", "a b", "", " ", None, [1], "x\ny", 'q"q', "back\\slash"])
    name = name if chance.random() < 0.2 else f"{chance.randrange(10 ** chance.choice([2, 9]))}"
    kind = chance.randrange(12)
    topic: dict[str, Any] = {"id": name, **TEXT}
    if kind == 1:
        topic = {**TEXT, "id": name}
    elif kind == 2:
        topic = {"documents": TEXT["documents"], "id": name, "references": TEXT["references"]}
    elif kind == 3:
        topic = {**TEXT, "meta": {"id": name}}
    elif kind == 4:
        topic = {"article": "One. Two.", "highlights": "One.", chance.choice(["id", "guid", "article_id"]): name}
    elif kind == 5:
        topic = {"id": name, "documents": []}
    elif kind == 6:
        topic = {"id": name, "status": "error", "error": "it was wrong before"}
    elif kind == 7:
        topic = {**topic, "meta": "id"}
    text = json.dumps(topic, ensure_ascii=chance.random() < 0.5)
    if kind == 8:
        text = text[: chance.randrange(len(text))] or "{"
    elif kind == 9:
        text = text.replace('"id"', chance.choice(['"\\u0069d"', '"id" ', '"id" : "zz", "id"']))
    elif kind == 10:
        text = f" {text} \r"
    return text


@pytest.mark.parametrize("seeds", blocks(150, size=50))
def test_the_same_topics_as_read_at_once(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311
        lines = [a_line(chance) for _ in range(chance.randrange(1, 60))]
        if seed % 3:  # mostly without repeated ids, so that most lines are passed on
            lines = [line for line in lines if not line.startswith('{"id": "a')]
        path = tmp_path / "topics.jsonl"
        data = ("\n".join(['{"id": "first", "documents": [["a"]], "references": [["a"]]}', *lines]) + "\n").encode()
        path.write_bytes(gzip.compress(data) if seed % 5 == 0 else data)
        assert read(path) == list(read_topics(path, bad="keep"))
        mapped = {"documents": "documents", "references": "references", "id": chance.choice(["id", "meta.id", "guid"])}
        if seed % 2:
            del mapped["id"]
        assert read(path, columns=mapped) == list(read_topics(path, columns=mapped, bad="keep"))


def test_lines_are_passed_on_and_arrays_are_not(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    lines = [json.dumps({"id": name, **TEXT}) for name in "abcdcef"]
    path.write_text("\n".join(lines))
    passed = [each for each in unread_topics(path) if isinstance(each, Lines)]
    assert sum(map(len, passed)) == len(lines)
    path.write_text(json.dumps([json.loads(line) for line in lines]))  # an array is not passed on as lines
    assert not any(isinstance(each, Lines) for each in unread_topics(path))
    assert read(path) == list(read_topics(path, bad="keep"))


@pytest.mark.parametrize("limit", [0, 1, 3, 5, 6, 9])
def test_a_limit_on_topics_counts_passed_lines(limit: int, tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    lines = [json.dumps({"id": name, **TEXT}) for name in "abcdef"]
    path.write_text(lines[0] + "\n\n \n" + "\n\n".join(lines[1:]))
    passed = [each for each in unread_topics(path, limit=limit) if isinstance(each, Lines)]
    topics = [topic for each in passed for topic in each.read()]
    assert [(topic.id, topic.source) for topic in topics] == [
        (topic.id, topic.source) for topic in [*read_topics(path)][:limit]
    ]


def test_a_repeated_id_is_reported_whichever_process_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    path.write_text("".join(json.dumps({"id": name, **TEXT}) + "\n" for name in "abab"))
    first = next(read_topics(path))
    lines = [each for each in unread_topics(path) if isinstance(each, Lines)]
    raws = [raw for each in lines for raw in each.lines.raws]
    whole = Lines(RawLines(raws, range(1, 5), "topics.jsonl"), 0, reading_of(), (False, False, True))
    assert [isinstance(topic, BadTopic) for topic in whole.read()] == [False, False, True, False]
    assert [isinstance(topic, BadTopic) for topic in whole[2:].read()] == [True, False]
    assert whole[2:3].read() == [BadTopic("a", "topics.jsonl:3", "the id 'a' occurs twice; give each topic its own")]
    assert whole[:1].read() == [replace(first, source="topics.jsonl:1")]


def test_notes_on_lines_reach_the_process_that_sent_them(tmp_path: Path) -> None:
    path = tmp_path / "articles.jsonl"
    path.write_text("no JSON\n" + "".join(json.dumps({"article": "A b.", "highlights": "A."}) + "\n" for _ in "abc"))
    said: list[str] = []
    notes = Notes(str(path), said.append)
    for each in unread_topics(path, reading_of(notes=notes)):
        sent = pickle.loads(pickle.dumps(each))  # noqa: S301 - of this test
        assert isinstance(sent, Lines)
        sent.read()
        notes.repeat(sent.reading.notes.said)
    columns = "documents are article, references are highlights, id is the row's number"
    assert said == [f"{path}: {columns}; choose others with columns"]


def test_a_list_of_topics_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"text": "One. Two.", "all": [{"answer": "One."}, {"answer": "Two."}]}) + "\n")
    mapped = "documents=text,references=all[].answer"
    assert [topic.id for topic in read(path, columns=mapped)] == ["0.0", "0.1"]
    assert read(path, columns=mapped) == list(read_topics(path, columns=mapped, bad="keep"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes as POSIX has them")
def test_a_pipe_is_passed_on_too(tmp_path: Path) -> None:
    pipe, held = tmp_path / "pipe", "".join(json.dumps({"id": name, **TEXT}) + "\n" for name in "aba")
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=[held]).start()
    assert [isinstance(topic, BadTopic) for topic in read(pipe)] == [False, False, True]


def test_a_file_that_cannot_be_opened_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        unread_topics(tmp_path / "none.jsonl")


def test_every_name_is_new_once() -> None:
    names, seen = [str(number) for number in range(20_000)], Names()  # more names than one table holds
    assert [all(map(seen.add, names)), any(map(seen.add, names))] == [True, False]
