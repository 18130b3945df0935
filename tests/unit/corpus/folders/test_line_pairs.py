"""Test topics from two text files, one line of source and one of summary for each topic."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from optsum import InputError, read_topics
from optsum.corpus.folders import line_pair, pair_topics


def values(pair: tuple[Path, Path] | None) -> list[Any]:
    assert pair is not None
    return [line.value for line in pair_topics(pair)]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("train.source", "train.target"),
        ("val.src.txt", "val.tgt.txt"),
        ("test.txt.src", "test.txt.tgt"),
        ("articles-test.txt", "summaries-test.txt"),
        ("article.txt", "highlights.txt"),
    ],
)
def test_a_counterpart_is_found_by_its_name(tmp_path: Path, source: str, target: str) -> None:
    (tmp_path / source).write_text("One came. Two left.\nThree.\n")
    assert line_pair(tmp_path / source) is None
    (tmp_path / target).write_text("Two left.\nThree.\n")
    assert line_pair(tmp_path / source) == (tmp_path / source, tmp_path / target)
    assert line_pair(tmp_path / target) is None
    assert values(line_pair(tmp_path / source)) == [
        {"id": "0", "documents": [["One came.", "Two left."]], "references": [["Two left."]]},
        {"id": "1", "documents": [["Three."]], "references": [["Three."]]},
    ]


def test_the_two_files_can_be_given_by_name(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x ||||| y<q>z\n")
    with gzip.open(tmp_path / "b", "wt") as file:
        file.write("<t> p . </t> <t> q . </t>\n")
    (value,) = values(line_pair(f"{tmp_path / 'a'},{tmp_path / 'b'}"))
    assert value == {"id": "0", "documents": [["x"], ["y", "z"]], "references": [["p .", "q ."]]}
    assert line_pair(f"{tmp_path / 'a'},{tmp_path / 'c'}") is None
    assert line_pair("-") is None


def test_a_json_file_is_not_read_as_a_pair(tmp_path: Path) -> None:
    (tmp_path / "train.source.jsonl").write_text('{"id": 1}\n')
    (tmp_path / "train.target.jsonl").write_text('{"id": 1}\n')
    assert line_pair(tmp_path / "train.source.jsonl") is None


def test_a_bad_line_costs_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.src").write_bytes(b"\xef\xbb\xbfone\n\xff\xfe\n\nfour\nfive")
    (tmp_path / "a.tgt").write_bytes(b"one\ntwo\nthree\n")
    found = values(line_pair(tmp_path / "a.src"))
    assert [value["id"] for value in found] == ["0", "1", "2", "3", "4"]
    assert found[0]["documents"] == [["one"]]
    assert "not UTF-8" in found[1]["error"]
    assert "the line is empty" in found[2]["error"]
    assert ["no line 4" in found[3]["error"], "no line 5" in found[4]["error"]] == [True, True]


def test_a_truncated_archive_ends_with_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.src").write_bytes(gzip.compress(b"one two three\n" * 20_000)[:-400])
    (tmp_path / "a.tgt").write_text("one\n" * 20_000)
    *good, last = pair_topics((tmp_path / "a.src", tmp_path / "a.tgt"))
    assert all(line.error is None for line in good)
    assert "breaks off" in (last.error or "")


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [
        ("articles.csv", "summaries.csv", "id,text\n1,A cat ran.\n"),
        ("text.tsv", "summary.tsv", "a\tb\nA cat.\tcat\n"),
        ("documents.txt", "references.txt", "id,article,highlights\n1,A cat ran.,cat\n"),
        ("source.txt", "target.txt", "17 1 doc-81 1\n17 2 doc-81 0\n"),
        ("document.txt", "summary.txt", "1 {s1}\n2 {s2, s3}\n"),
    ],
)
def test_a_table_is_not_read_as_a_pair(tmp_path: Path, source: str, target: str, text: str) -> None:
    for name in (source, target):
        (tmp_path / name).write_text(text)
    assert line_pair(tmp_path / source) is None


def test_a_tokenized_text_is_no_heading(tmp_path: Path) -> None:
    (tmp_path / "a.src").write_text("a cat sat on the mat , status , and it ran away then\n")
    (tmp_path / "a.tgt").write_text("a cat\n")
    assert line_pair(tmp_path / "a.src") is not None


def test_two_counterparts_are_refused_and_one_is_named(tmp_path: Path) -> None:
    told: list[str] = []
    for name in ("document.txt", "reference.txt"):
        (tmp_path / name).write_text("A cat.\n")
    assert [topic.id for topic in read_topics(tmp_path / "document.txt", told=told.append)] == ["0"]
    assert "the references are the lines of" in told[0]
    (tmp_path / "summary.txt").write_text("cat\n")
    with pytest.raises(InputError, match=r"summary.txt or of reference.txt; give both"):
        line_pair(tmp_path / "document.txt")
    assert len(list(read_topics(f"{tmp_path / 'document.txt'},{tmp_path / 'summary.txt'}"))) == 1
