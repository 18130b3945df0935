"""Check that unused columns, files, folders and topics are reported once, and that there is no report otherwise."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import optsum
from optsum import BadTopic, read_topics

DOC = '<DOC id="{0}" type="story">\n<TEXT>\n<P>\nA cat ran.\n</P>\n</TEXT>\n</DOC>\n'


def said_of(topics: Path, caplog: pytest.LogCaptureFixture) -> tuple[list[str | None], str]:
    with caplog.at_level(logging.WARNING, logger="optsum"):
        ids = [topic.id for topic in read_topics(topics, bad="keep")]
    return ids, caplog.text


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("record", "left"),
    [
        ({"article": "A.", "highlights": "a", "document": "B.", "summary": "b"}, "document and summary are not used"),
        ({"article": "A.", "document": "B.", "summary": "b"}, "article is not used"),
        ({"text": "A.", "summary": "b", "abstract": "c"}, "abstract is not used"),
        ({"document": "B.", "summary": "b", "source": "CNN", "title": "t"}, ""),
        ({"src": [["a"]], "tgt": "a", "src_txt": ["A."], "tgt_txt": "a"}, ""),
        ({"documents": [["A."]], "references": [["a"]], "article": "A.", "summary": "b"}, ""),
    ],
)
def test_unused_columns_are_reported(
    record: dict[str, object], left: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    written(tmp_path, {"t.jsonl": json.dumps({"id": "1", **record}) + "\n"})
    ids, said = said_of(tmp_path / "t.jsonl", caplog)
    assert ids == ["1"]
    assert left in said if left else not said


@pytest.mark.parametrize("nested", [False, True])
def test_a_key_that_stands_twice_is_refused(nested: bool, tmp_path: Path) -> None:
    twice = '{"a": 1, "a": 2}' if nested else '1, "summary": "b"'
    lines = f'{{"id": "1", "text": "A.", "summary": "a", "meta": {twice}}}\n{{"id":"2","text":"B.","summary":"b"}}\n'
    bad, good = read_topics(written(tmp_path, {"t.jsonl": lines}) / "t.jsonl", bad="keep")
    assert isinstance(bad, BadTopic)
    assert "twice; write each key once" in bad.error
    assert good.id == "2"


def test_references_without_a_document_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {"documents/x.txt": "A cat.", "references/x.1.txt": "cat", "references/y.txt": "dog"}
    ids, said = said_of(written(tmp_path, files), caplog)
    assert ids == ["x"]
    assert "1 of" in said
    assert "has no document of that name" in said


ROW = '{"id": "%s", "text": "A cat.", "summary": "cat"}\n'


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"part-00000-of-00002.jsonl": ROW % 1}, "the folder has 1 of 2 parts"),
        ({"part-00000-of-00002.jsonl": ROW % 1, "part-00001-of-00002.jsonl": ROW % 2}, ""),
        ({"a.jsonl": ROW % 1, "deeper/b.jsonl": ROW % 2}, "deeper are left out"),
        ({"a.jsonl": ROW % 1, "figures/b.png": "", ".cache/c.jsonl": ROW % 2}, ""),
        ({"documents/a.txt": "A.", "references/a.txt": "a", "summaries/a.txt": "b"}, "summaries is left out"),
        ({"documents/a.txt": "A.", "references/a.txt": "a", "systems/a.txt": "b"}, ""),
    ],
)
def test_unused_files_and_folders_are_reported(
    files: dict[str, str], left: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ids, said = said_of(written(tmp_path, files), caplog)
    assert ids
    assert left in said if left else not said


def test_a_reference_goes_with_one_document(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Check that the reference of paper.v1 does not count for paper."""
    names = ("paper", "paper.v1")
    files = {f"{kind}/{name}.txt": f"{kind} {name}" for kind in ("documents", "references") for name in names}
    topics = list(read_topics(written(tmp_path, files)))
    assert {topic.id: len(topic.references) for topic in topics} == {"paper": 1, "paper.v1": 1}
    assert not caplog.text


def test_document_sets_without_a_summary_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    files = {f"D080{number}A-A/APW_{number}": DOC.format(f"APW_{number}") for number in (1, 2)}
    folder = written(tmp_path, {**files, "models/D0801-A.M.100.A.A": "A cat ran."})
    ids, said = said_of(folder, caplog)
    assert ids == ["D0801-A"]
    assert "such as d0802a-a, is left out" in said
    caplog.clear()
    written(tmp_path, {"models/D0802-A.M.100.A.A": "A cat ran."})
    ids, said = said_of(folder, caplog)
    assert (ids, said) == (["D0801-A", "D0802-A"], "")


def test_missing_documents_of_a_summary_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    summary = (
        '<SUM DOCSET="d061" TYPE="MULTI" SIZE="100" DOCREF="APW_1 APW_9" SELECTOR="J" SUMMARIZER="A">\nA cat.</SUM>\n'
    )
    folder = written(tmp_path, {"d061j/APW_1": DOC.format("APW_1"), "d061j/100": summary})
    ids, said = said_of(folder, caplog)
    assert ids == ["d061"]
    assert "names 1 document that is not here, such as APW_9" in said


@pytest.mark.parametrize("scored", [["0"], ["0", "1"]])
def test_topics_without_a_summary_are_reported(scored: list[str], caplog: pytest.LogCaptureFixture) -> None:
    topics = [{"id": each, "documents": [["A cat ran."]], "references": [["A cat."]]} for each in ("0", "1")]
    systems = [{"topic_id": each, "system": "a", "summary": "cat"} for each in scored]
    optsum.score(topics, systems, metric="rouge-1")
    said = "1 of 2 topics has no summary, such as '1': means are over the others"
    assert (said in caplog.text) == (len(scored) == 1)
