"""Test reading topics from every format and folder, and the notes on recognised or unknown columns."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from optsum import BadTopic, InputError, OptionError, Topic, read_topics
from optsum.cli import main

CNN = [
    {"article": "One came. Two left.", "highlights": "Two left.", "id": "a"},
    {"article": "Three.", "highlights": "Three.", "id": "b"},
]


def good(path: Any, **options: Any) -> list[Topic]:
    topics = list(read_topics(path, **options, bad="keep"))
    assert [topic for topic in topics if isinstance(topic, BadTopic)] == []
    return [topic for topic in topics if isinstance(topic, Topic)]


def write_jsonl(path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in CNN))


def write_array(path: Path) -> None:
    path.write_text(json.dumps(CNN))


def write_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(json.dumps(CNN[0]).encode() + b"\n" + json.dumps(CNN[1]).encode()))


def write_csv(path: Path, delimiter: str = ",") -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, CNN[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(CNN)


def write_tsv(path: Path) -> None:
    write_csv(path, "\t")


def write_parquet(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(CNN), path)


def write_saved(path: Path) -> None:
    pytest.importorskip("datasets").Dataset.from_list(CNN).save_to_disk(str(path))


@pytest.mark.parametrize(
    "write", [write_jsonl, write_array, write_gzip, write_csv, write_tsv, write_parquet, write_saved]
)
def test_a_well_known_set_in_every_format(write: Any, tmp_path: Path) -> None:
    write(tmp_path / "data")  # a name without an ending
    told: list[str] = []
    topics = good(tmp_path / "data", told=told.append)
    assert [(topic.id, topic.documents, topic.references) for topic in topics] == [
        ("a", (("One came.", "Two left."),), (("Two left.",),)),
        ("b", (("Three.",),), (("Three.",),)),
    ]
    assert [sentence.partition(": ")[2] for sentence in told] == [
        "documents are article, references are highlights, id is id; choose others with columns"
    ]
    turned = good(tmp_path / "data", columns="documents=highlights,references=article", told=told.append)
    assert [(topic.id, topic.references[0]) for topic in turned] == [
        ("a", ("One came.", "Two left.")),
        ("b", ("Three.",)),
    ]
    assert len(told) == 1


def test_columns_of_each_kind_of_record_are_reported(tmp_path: Path) -> None:
    kinds = [{"article": "One came.", "highlights": "One."}, {"text": "Two left.", "summary": "Two."}]
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(kind) for kind in 2 * kinds))
    told: list[str] = []
    assert len(good(tmp_path / "a.jsonl", told=told.append)) == 4
    assert [re.sub(r"^\S+: |, id.*", "", sentence) for sentence in told] == [
        "documents are article, references are highlights",
        "documents are text, references are summary",
    ]


def test_unknown_columns_of_a_table_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("body,tldr\nOne came. Two left.,Two.\n")
    (topic,) = good(tmp_path / "a.csv", columns={"documents": "body", "references": "tldr"})
    assert (topic.id, topic.sentences) == ("0", ("One came.", "Two left."))


def test_unknown_columns_are_answered_with_how_to_map_them(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "One.", "tldr": "One."}\n')
    (bad,) = read_topics(tmp_path / "a.jsonl", bad="keep")
    assert isinstance(bad, BadTopic)
    assert 'its keys are: body, tldr; columns="documents=body,references=tldr" tells which is which' in bad.error


ARXIV = {
    "article_id": "0705.1",
    "article_text": ["we study cats . they sleep .", "", "cats [ xcite ] run ."],
    "abstract_text": ["<S> cats sleep . </S>", "<S> they run . </S>"],
    "labels": None,
    "section_names": ["introduction"],
    "sections": [["we study cats . they sleep .", "", "cats [ xcite ] run ."]],
}


def test_the_arxiv_set_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(json.dumps(ARXIV) + "\n")
    (topic,) = good(tmp_path / "train.txt")
    assert (topic.id, topic.documents) == ("0705.1", (tuple(ARXIV["article_text"]),))  # type: ignore[arg-type]
    assert topic.references == (("cats sleep .", "they run ."),)


def test_folders_and_other_files_are_recognised_by_their_content(tmp_path: Path) -> None:
    (tmp_path / "x.story").write_text("One.\n\n@highlight\n\nOne\n")
    (tmp_path / "train.src").write_text("One.\n")
    (tmp_path / "train.tgt").write_text("Two.\n")
    (tmp_path / "duc").mkdir()
    (tmp_path / "duc" / "AP1").write_text("<DOC><DOCNO>AP1</DOCNO><TEXT><s>One.</s></TEXT></DOC>")
    (tmp_path / "duc" / "sum").write_bytes(gzip.compress(b"<SUM TYPE=PERDOC DOCREF=AP1>Two.</SUM>"))
    for path, name in [("x.story", "x"), ("train.src", "0"), ("duc", "AP1"), (".", "x")]:
        (topic,) = good(tmp_path / path)
        assert (topic.id, topic.sentences) == (name, ("One.",))


def test_columns_are_refused_for_sources_without_columns(tmp_path: Path) -> None:
    (tmp_path / "x.story").write_text("One.\n@highlight\nOne\n")
    with pytest.raises(InputError, match="no columns"):
        read_topics(tmp_path / "x.story", columns="documents=a,references=b", bad="keep")
    with pytest.raises(OptionError, match="references"):
        read_topics(tmp_path / "x.story", columns="documents=a", bad="keep")


def test_an_empty_folder_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes")
    with pytest.raises(InputError, match="it is a folder; give a file, or a folder of files named"):
        read_topics(tmp_path, bad="keep")


@pytest.mark.parametrize("path", ["a.txt", "texte/a.txt"])
def test_a_folder_of_mere_texts_is_answered_with_the_layout(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("Eins.")
    with pytest.raises(InputError, match="its reference under the same name into"):
        read_topics(tmp_path, bad="keep")


def test_bad_records_cost_no_other(tmp_path: Path) -> None:
    long = json.dumps({"article": "word " * 2_000_000, "highlights": "x"}).encode()  # a line of 10 MB
    lines = [
        b'{"article": "One.", "highlights": "One."}', b'{"article": 7, "highlights": "x"}', b'{"article": "\xff"}',
        b'{"article": "x", "highlights": ["y", 3]}', b"[]", long, b'{"article": "One.", "highli',
    ]  # fmt: skip
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    topics = list(read_topics(tmp_path / "a.jsonl", bad="keep"))
    assert [topic.id for topic in topics] == ["0", "1", None, "3", None, "5", None]
    assert [number for number, topic in enumerate(topics) if isinstance(topic, Topic)] == [0, 5]
    reasons = ["article is a number", "not UTF-8", "highlights[1] is a number", "a topic is an object", "not JSON"]
    bad = [topic.error for topic in topics if isinstance(topic, BadTopic)]
    assert [reason for reason, error in zip(reasons, bad, strict=True) if reason not in error] == []


@pytest.mark.slow
def test_every_command_maps_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "One came. Two left.", "tldr": "Two left."}\n')
    where = ["--map", "documents=body,references=tldr"]
    for command in (
        ["solve"], ["enumerate"], ["labels"], ["compare", "--strategies", "greedy"], ["align"],
        ["export", "-o", str(tmp_path / "lp")], ["study", "hirao"],
    ):  # fmt: skip
        name = command[:2] if command[0] == "study" else command[:1]
        limit = [] if command[0] in {"align", "study"} else ["--max-length", "2"]
        rest = command[len(name) :]
        assert main([*name, str(tmp_path / "a.jsonl"), *rest, *limit, *where]) == 0, command
        assert "--map" not in capsys.readouterr().err
    assert main(["solve", str(tmp_path / "a.jsonl"), "--max-length", "2", "--map", "documents=body"]) == 2
    assert "references" in capsys.readouterr().err


def test_the_command_says_which_columns_it_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(tmp_path / "a.jsonl")
    assert main(["solve", str(tmp_path / "a.jsonl"), "--max-length", "2"]) == 0
    found = capsys.readouterr()
    assert "documents are article, references are highlights, id is id" in found.err
    assert found.out.count("\n") == 2


def test_real_topics_as_public_sets_have_them(shared_data: Path, tmp_path: Path) -> None:
    """Check that the same topics in the formats of three public sets become the same topics."""
    with (shared_data / "summeval" / "topics.jsonl").open(encoding="utf-8") as lines:
        topics = [json.loads(line) for line, _ in zip(lines, range(8), strict=False)]
    pairs = [(topic["documents"][0], topic["references"][0]) for topic in topics]
    tokens = [[[sentence.split() for sentence in text] for text in pair] for pair in pairs]
    spelled: dict[str, Any] = {
        "bertsum.json": json.dumps([{"src": source, "tgt": target} for source, target in tokens]),
        "matchsum.jsonl": "\n".join(json.dumps({"text": source, "summary": target}) for source, target in pairs),
        "arxiv.txt": "\n".join(
            json.dumps(
                {
                    "article_id": t["id"],
                    "article_text": t["documents"][0],
                    "abstract_text": [f"<S> {sentence} </S>" for sentence in t["references"][0]],
                }
            )
            for t in topics
        ),
    }
    for name, text in spelled.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        for topic, found in zip(topics, good(tmp_path / name), strict=True):
            plain = [" ".join(s) if isinstance(s, tuple) else " ".join(s.split()) for s in found.sentences]
            assert plain == [" ".join(sentence.split()) for sentence in topic["documents"][0]]
            assert len(found.references) == 1
            assert len(found.references[0]) == len(topic["references"][0])
