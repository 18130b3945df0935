"""Check that every reader gives a topic the same sentences, or refuses what its format cannot hold."""

from __future__ import annotations

import bz2
import csv
import gzip
import html
import io
import json
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from optsum import BadTopic, InputError, Topic, as_topic, read_topics
from optsum.corpus.sentences import between_marks
from optsum.corpus.topics import topics_of

Record = dict[str, Any]
Outcome = tuple[str, Any, Any] | None
"""Id, documents and references; None for what was refused."""


def outcome(topics: Any) -> Outcome:
    topic, *others = topics
    if isinstance(topic, BadTopic):
        return None  # a row after a quotation mark that swallowed a line
    assert others == []
    assert isinstance(topic, Topic)
    return topic.id, topic.documents, topic.references


def wanted(record: Record) -> Outcome:
    try:
        return outcome([as_topic(record)])
    except InputError:
        return None


# Readers: each writes a record into a folder and returns its topics, or None where the format cannot hold it.


def read(path: Path, data: bytes, name: str) -> Iterator[Any]:
    (path / name).write_bytes(data)
    return read_topics(path / name, bad="keep")


def line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def table(record: Record, delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(record)
    writer.writerow([cell if isinstance(cell, str) else json.dumps(cell) for cell in record.values()])
    return text.getvalue().encode()


def tsv(path: Path, record: Record) -> Any:
    cells = [cell if isinstance(cell, str) else json.dumps(cell) for cell in record.values()]
    if any(sign in cell for cell in cells for sign in "\t\r\n") or any(cell[:1] == cell[-1:] == '"' for cell in cells):
        return None  # tab-separated text has no quotation marks
    return read(path, ("\t".join(record) + "\n" + "\t".join(cells) + "\n").encode(), "t.tsv")


def zipped(path: Path, record: Record) -> Any:
    with zipfile.ZipFile(path / "t.zip", "w") as archive:
        archive.writestr("data/t.jsonl", line(record))
        archive.writestr("__MACOSX/._t.jsonl", b"x")
    return read_topics(path / "t.zip", bad="keep")


def tarred(path: Path, record: Record) -> Any:
    (path / "t.jsonl").write_bytes(line(record))
    with tarfile.open(path / "t.tgz", "w:gz") as archive:
        archive.add(path / "t.jsonl", "t.jsonl")
    return read_topics(path / "t.tgz", bad="keep")


def stdin(path: Path, record: Record) -> Any:
    (path / "in").write_bytes(line(record))
    with (path / "in").open("r") as piped, pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "stdin", piped)
        return iter(list(read_topics("-", bad="keep")))


def parquet(path: Path, record: Record) -> Any:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    files.write_table(pa.Table.from_pylist([record]), path / "t.parquet")
    return read_topics(path / "t.parquet", bad="keep")


def pandas_frame(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("pandas").DataFrame([record]))


def polars_frame(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("polars").DataFrame([record]))


def arrow_table(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("pyarrow").Table.from_pylist([record]))


def arrow_batches(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("pyarrow").Table.from_pylist([record]).to_reader())


def indexed_frame(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("pandas").DataFrame([record]).set_index("id"))


def dataset(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("datasets").Dataset.from_list([record]))


def streamed(_: Path, record: Record) -> Any:
    return topics_of(pytest.importorskip("datasets").Dataset.from_list([record]).to_iterable_dataset())


def arrays(_: Path, record: Record) -> Any:
    if b"\\u0000" in line(record):
        return None  # numpy drops it at the end of a text
    return topics_of(pytest.importorskip("datasets").Dataset.from_list([record]).with_format("numpy"))


def zstandard(path: Path, record: Record) -> Any:
    return read(path, pytest.importorskip("zstandard").compress(line(record)), "t.jsonl.zst")


def saved_dataset(path: Path, record: Record) -> Any:
    pytest.importorskip("datasets").Dataset.from_list([record]).save_to_disk(str(path / "saved"))
    return read_topics(path / "saved", bad="keep")


def one_file_each(path: Path, record: Record) -> Any:
    (path / "topics").mkdir()
    rest = {key: value for key, value in record.items() if key != "id"}
    (path / "topics" / f"{record['id']}.json").write_text(json.dumps(rest, indent=1))
    return read_topics(path / "topics", bad="keep")


def shards(path: Path, record: Record) -> Any:
    (path / "parts").mkdir()
    (path / "parts" / "train-00000-of-00001.jsonl").write_bytes(line(record))
    return read_topics(path / "parts", bad="keep")


RECORDS: dict[str, Callable[[Path, Record], Any]] = {
    "dict": lambda _, record: topics_of([record]),
    "generator": lambda _, record: topics_of(each for each in [record]),
    "jsonl": lambda path, record: read(path, line(record), "t.jsonl"),
    "json": lambda path, record: read(path, json.dumps([record], indent=1).encode(), "t.json"),
    "gzip": lambda path, record: read(path, gzip.compress(line(record)), "t.jsonl.gz"),
    "bzip2": lambda path, record: read(path, bz2.compress(line(record)), "t.jsonl.bz2"),
    "xz": lambda path, record: read(path, lzma.compress(line(record)), "t.jsonl.xz"),
    "zip": zipped,
    "tar": tarred,
    "standard input": stdin,
    "csv": lambda path, record: read(path, table(record, ","), "t.csv"),
    "semicolons": lambda path, record: read(path, table(record, ";"), "t.csv"),
    "tsv": tsv,
    "parquet": parquet,
    "pandas": pandas_frame,
    "polars": polars_frame,
    "arrow": arrow_table,
    "arrow batches": arrow_batches,
    "indexed": indexed_frame,
    "dataset": dataset,
    "streamed dataset": streamed,
    "dataset of arrays": arrays,
    "zstandard": zstandard,
    "one file each": one_file_each,
    "shards": shards,
}
MAY_REFUSE = {"csv", "semicolons"}
"""Forms in which a mark may open a cell by mistake."""


PIECES = st.sampled_from(
    [
        *(
            "A cat ran.",
            "It sat",
            "It rained! ",
            "Dr. Ko came.",
            "大桥已关闭。",
            "店主不满。",
            "x",
            "a,b,c",
            "#.##",
            "1,000",
        ),
        *("[", "['", '["', "{", "[Laughter] ", "<n>", "<doc-sep>", "story_separator_special_tag"),
        *('"', '""', '\\"', "'", "\\", ",", ";", "\t", "\0", "|||||", "NEWLINE_CHAR", "<q>", "[SEP] [CLS]", "<S>"),
        *("\n", "\r\n", "\r", "\n \n", "\n\u3000\r\n", "\u2028", "\u2029", "\x85", "\x0c", " ", "\u00a0", "\ufeff"),
    ]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=9).map("".join)
SENTENCES = st.lists(TEXTS, min_size=1, max_size=3)
VALUES = TEXTS | st.lists(SENTENCES, min_size=1, max_size=2)
NAMES = st.sampled_from([("documents", "references"), ("article", "highlights"), ("dialogue", "summary")])


@pytest.mark.parametrize("form", RECORDS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=NAMES, document=VALUES, reference=VALUES)
@example(("documents", "references"), 'A "b\tc\r\n \r\nd.', [["x\u2028\u2028y"]])
@example(("article", "highlights"), "One.\n \nTwo NEWLINE_CHAR NEWLINE_CHAR Three.", "x\ny")
@example(("dialogue", "summary"), "Ann: yes\r\nBo: no", "Bo says no.")
@example(("article", "highlights"), '["One.", "Two."]', "[Laughter] x")
@example(("documents", "references"), "['One.', 'Two.']", [["x"]])
def test_every_reader_agrees_on_a_record(form: str, names: tuple[str, str], document: Any, reference: Any) -> None:
    record = {"id": "t1", names[0]: document, names[1]: reference}
    with TemporaryDirectory() as folder:
        topics = RECORDS[form](Path(folder), record)
        if topics is None:
            return
        try:
            found = outcome(topics)
        except InputError:  # a file of a single bad record
            found = None
    right = wanted(record)
    assert found == right or (form in MAY_REFUSE and found is None)


def test_a_saved_dataset_agrees_on_a_record(tmp_path: Path) -> None:
    record = {"id": "t1", "article": "One.\n \nTwo.", "highlights": "x\ny"}
    assert outcome(saved_dataset(tmp_path, record)) == wanted(record)


# Forms of raw text: a text and its summary.


def folders(path: Path, document: str, reference: str) -> Any:
    for name, text in (("documents", document), ("references", reference)):
        (path / name).mkdir()
        (path / name / "t1.txt").write_bytes(text.encode())
    return read_topics(path, bad="keep")


def story(path: Path, document: str, _: str) -> Any:
    (path / "t1.story").write_bytes(document.encode() + b"\r\n\r\n@highlight\r\n\r\nA cat\r\n")
    return read_topics(path / "t1.story", bad="keep")


def line_files(path: Path, document: str, reference: str) -> Any:
    if "\n" in document + reference:
        return None
    (path / "t.source").write_bytes(document.encode() + b"\n")
    (path / "t.target").write_bytes(reference.encode() + b"\n")
    return read_topics(path / "t.source", bad="keep")


def sgml(path: Path, document: str, _: str) -> Any:
    paragraphs = "".join(f"<P>{html.escape(part)}</P>\n" for part in as_topic(topic(document, "x")).sentences)
    (path / "t.sgml").write_text(
        f"<DOC><DOCNO>t1</DOCNO><TEXT>{paragraphs}</TEXT></DOC>\n<SUM TYPE=PERDOC DOCREF=t1 SUMMARIZER=A>A cat</SUM>"
    )
    return read_topics(path / "t.sgml", bad="keep")


def topic(document: str, reference: str) -> Record:
    return {"id": "t1", "documents": document, "references": reference}


@pytest.mark.parametrize("form", [folders, story, line_files, sgml])
@settings(max_examples=40, deadline=None)
@given(document=TEXTS, reference=TEXTS)
@example("\ufeffA cat.", "It sat.")
@example("One two. It sat. \n\u3000\n Three", "x")
def test_every_form_of_raw_text_agrees(form: Callable[[Path, str, str], Any], document: str, reference: str) -> None:
    right = wanted(topic(document, reference))
    if right is None or document.startswith("\ufeff") or reference.startswith("\ufeff"):  # a file's byte order mark
        return
    if any(text.lstrip().startswith(("[", "{")) for text in (document, reference)):
        return  # a value in such a form is a list or an object, a file holds text
    if "\0" in document + reference:
        return  # a text file with NUL looks like UTF-16, which is refused
    if form is sgml:
        if not document.isprintable() or "NEWLINE" in document or " ".join(document.split()) != document:
            return  # markup does not keep white space
        if len(right[1]) != 1:
            return  # SGML numbers the documents
        if between_marks(document) is not None:
            return  # the mark separates sentences that a splitter would split further, as it does in markup
    with TemporaryDirectory() as folder:
        topics = form(Path(folder), document, reference)
        if topics is None:
            return
        found = outcome(topics)
    assert found is not None
    name, documents, references = found
    assert name == ("0" if form is line_files else "t1")
    assert documents == right[1]
    if form in {folders, line_files}:
        assert references == right[2]
