"""Check that a file's format is recognised by its content, with the same topics from all formats or one sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.corpus.formats import is_blank
from optsum.corpus.topic import BadTopic, Topic, topic_to_json
from optsum.corpus.topics import System, read_systems, read_topics
from optsum.errors import InputError

TOPICS: list[dict[str, Any]] = [
    {"id": "7", "documents": [["A b .", "c, \"d\"\ne ."], ["f"]], "references": [["A é ."]]},
    {"id": "b", "documents": [["x"]], "references": [["y"], ["z ."]], "meta": {"k": [1, {"n": None}]}},
    {"id": "c", "documents": [["u"]], "references": [["v"]], "cover": [[[0]]]},
]  # fmt: skip


def as_csv(delimiter: str = ",") -> bytes:
    text = io.StringIO()
    names = ["id", "documents", "references", "meta", "cover"]
    rows = csv.writer(text, delimiter=delimiter)
    rows.writerow(names)
    for topic in TOPICS:
        rows.writerow([topic["id"], *(json.dumps(topic[name]) if name in topic else "" for name in names[1:])])
    return text.getvalue().encode()


def as_parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    held = io.BytesIO()
    rows = [{**topic, "meta": json.dumps(topic.get("meta", {}))} for topic in TOPICS]
    parquet.write_table(pa.Table.from_pylist(rows, pa.schema([
        ("id", pa.string()), ("documents", pa.list_(pa.list_(pa.string()))), ("meta", pa.string()),
        ("references", pa.list_(pa.list_(pa.string()))), ("cover", pa.list_(pa.list_(pa.list_(pa.int64())))),
    ])), held)  # fmt: skip
    return held.getvalue()


def packed(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


LINES = "".join(json.dumps(topic) + "\n" for topic in TOPICS).encode()
FORMATS = {
    "lines": LINES,
    "lines.zst": packed(LINES),
    "array": json.dumps(TOPICS).encode(),
    "array indented": b"\n" + json.dumps(TOPICS, indent=1, ensure_ascii=False).encode("utf-8-sig"),
    "array.gz": gzip.compress(json.dumps(TOPICS).encode()),
    "csv": as_csv(),
    "csv with mark": b"\xef\xbb\xbf" + as_csv(),
    "csv.gz": gzip.compress(as_csv()),
    "tsv": as_csv("\t"),
    "semicolons.zst": packed(as_csv(";")),
    "parquet": as_parquet(),
    "parquet.gz": gzip.compress(as_parquet()),
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("source", ["file", "stdin"])
def test_the_same_topics_in_every_format(
    form: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if source == "file":
        (tmp_path / "anything.txt").write_bytes(FORMATS[form])
        topics = list(read_topics(tmp_path / "anything.txt", bad="keep"))
    else:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(FORMATS[form])))
        topics = list(read_topics("-", bad="keep"))
    assert [topic_to_json(topic) if isinstance(topic, Topic) else topic for topic in topics] == TOPICS


def test_raw_text_in_cells_is_split(tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    path.write_text('documents,references,other\n"One. Two.",[Laughter] Three.,"[x"\n"[[""a b"", ""c""]]",d,\n')
    first, second = read_topics(path, bad="keep")
    assert isinstance(first, Topic)
    assert isinstance(second, Topic)
    assert (first.id, first.documents, first.references) == ("0", (("One.", "Two."),), (("[Laughter] Three.",),))
    assert (second.id, second.source) == ("1", f"{path}:3")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a,x", "the row has 2 cells, but the heading has 3 names"),
        ("a,x,y,z", "the row has 4 cells, but the heading has 3 names"),
        ("a,\"['x', 'y']\",z", "the cell documents begins as a list and is not JSON: .*; write lists as JSON"),
        ("a,\"('A cat ran.', 'It sat.')\",z", "the cell documents is a list as Python prints it; write lists as JSON"),
        ("a,x,\"array(['A cat.'], dtype=object)\"", "the cell references is a list as Python prints it"),
        ("a,,y", "documents is empty"),
        ("a,\xe9,y", "this is not UTF-8"),
    ],
)  # fmt: skip
def test_bad_rows_cost_the_others_nothing(row: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    path.write_bytes(f"id,documents,references\n1,x,y\n{row}\n2,x,y\n".encode("latin-1"))
    first, bad, last = read_topics(path, bad="keep")
    assert (first.id, last.id) == ("1", "2")
    assert isinstance(bad, BadTopic)
    assert bad.source == f"{path}:3"
    with pytest.raises(InputError, match=reason):
        raise InputError(bad.error)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"id": 1}, {"id": ]', "not JSON: expecting value; the array ends here"),
        ('[{"id": 1} {"id": 2}]', "not JSON: expecting ','; the array ends here"),
        ('[{"id": 1}', "not JSON: expecting ','; the array ends here"),
        ('[{"id": 1}] x', "something follows the end of the JSON array"),
        ('[{"id": NaN}]', "NaN is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"id": "\xff"}]', "this is not UTF-8"),
    ],
)
def test_arrays_that_break_off(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_bytes(text.encode("latin-1"))
    *_, bad = read_topics(tmp_path / "topics.json", bad="keep")
    assert isinstance(bad, BadTopic)
    with pytest.raises(InputError, match=reason):
        raise InputError(bad.error)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ('"loss": NaN', "NaN is not a JSON number; write null"),
        ('"loss": 1e400', "the number 1e400 is too large"),
        ('"loss": ' + "9" * 5_000, "a whole number has more than 4300 digits"),
        ('"loss": 1, "loss": 2', 'an object has the key "loss" twice; write each key once'),
    ],
)
def test_a_bad_item_of_an_array_costs_the_others_nothing(key: str, reason: str, tmp_path: Path) -> None:
    rest = '"documents": [["a"]], "references": [["a"]]'
    records = [f'{{"id": "{number}", {key if number == 1 else rest}}}' for number in range(4)]
    (tmp_path / "topics.json").write_text(f"[{', '.join(records)}]")
    topics = list(read_topics(tmp_path / "topics.json", bad="keep"))
    assert [topic.id for topic in topics] == ["0", None, "2", "3"]
    assert topics[1] == BadTopic(None, f"{tmp_path / 'topics.json'}:2", reason)


def test_a_cell_may_end_its_lines_with_the_separator(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('document,summary\n"Dear John,\nthank you.","A letter."\n')
    (topic,) = read_topics(tmp_path / "a.csv")
    assert isinstance(topic, Topic)
    assert " ".join(map(str, topic.sentences)).split() == ["Dear", "John,", "thank", "you."]


@pytest.mark.parametrize(
    "rows",
    [
        '1\tA cat ran.\t"Cat ran\nIt sat"',
        '1\t"A cat\nran."\tcat',
        '"1\n2"\t"A cat"\tcat',
        '1\tA cat\t"cat\nran\nfar"',
        '1\t"A\ncat"\t"cat\nran"',
    ],
)
def test_lines_of_tsv_that_are_one_row_are_refused(rows: str, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(f'id\tarticle\thighlights\n{rows}\n3\t"A cat\tcat\n4\tcat" b\tcat"\n')
    *bad, third, fourth = read_topics(tmp_path / "a.tsv", bad="keep")
    assert len(bad) == rows.count("\n") + 1
    assert all("a quotation mark opens a cell" in each.error for each in bad if isinstance(each, BadTopic))
    assert (third.id, fourth.id) == ("3", "4")
    assert isinstance(third, Topic)
    assert third.sentences == ('"A cat',)


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_repeated_heading_is_left_out_and_reported(
    delimiter: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = "\ufeffid,documents,references\n{},A cat ran.,cat\n".replace(",", delimiter)
    (tmp_path / "a.csv").write_text(text.format(1) + text.format(2) + text.format(3), encoding="utf-8")
    assert [topic.id for topic in read_topics(tmp_path / "a.csv")] == ["1", "2", "3"]
    assert caplog.text.count("repeats the heading") == 1


@pytest.mark.parametrize("text", ["", '{"documents": [["a', '{"documents": NaN}'])
@pytest.mark.parametrize("names", ["abc", "123"])
def test_a_bad_file_of_a_folder_of_objects_costs_the_others_nothing(names: str, text: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / f"{name}.json").write_text('{"documents": [["a"]], "references": [["a"]]}')
    (tmp_path / f"{names[1]}.json").write_text(text)
    topics = list(read_topics(tmp_path, bad="keep"))
    assert [topic.id for topic in topics] == [names[0], None, names[2]]
    assert isinstance(topics[1], BadTopic)
    assert topics[1].source == str(tmp_path / f"{names[1]}.json")


def test_a_table_without_texts_says_its_columns(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_bytes(b"body,tldr\nx,y\n")
    with pytest.raises(
        InputError, match=r"topics\.txt is a table without topics: it has no column documents, but body, tldr"
    ):
        list(read_topics(tmp_path / "topics.txt"))


@pytest.mark.parametrize(
    "content",
    [
        b"The cat sat on the mat.\nIt ran away.\n",
        b"<html><body>x</body></html>",
        b"1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n",
        b"%PDF-1.7\n%\xe2\xe3",
    ],
)
def test_other_formats_are_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_bytes(content)
    with pytest.raises(InputError, match=r"topics\.txt has a format that optsum cannot read: give JSON Lines"):
        read_topics(tmp_path / "topics.txt", bad="keep")


@pytest.mark.parametrize("content", [b"PAR1 nonsense", b"PAR1"])
def test_damaged_parquet_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes(content)
    with pytest.raises(InputError, match="topics is Parquet and cannot be read: "):
        read_topics(tmp_path / "topics", bad="keep")


def test_damaged_zstandard_is_refused(tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes(packed(LINES * 5000)[:-40])
    *topics, bad = read_topics(tmp_path / "topics", bad="keep")
    assert topics
    assert isinstance(bad, BadTopic)
    (tmp_path / "topics").write_bytes(b"\x28\xb5\x2f\xfd nonsense")
    with pytest.raises(InputError, match="cannot be read: zstandard says: "):
        read_topics(tmp_path / "topics", bad="keep")


@pytest.mark.parametrize("content", [b"[]", b"id,documents,references\n", b"[\n]\n"])
def test_a_file_without_records_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "topics").write_bytes(content)
    with pytest.raises(InputError, match="is empty"):
        read_topics(tmp_path / "topics", bad="keep")


@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_damage_is_an_error_and_no_crash(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    held = bytearray(FORMATS[form])
    for _ in range(3):
        held[data.draw(st.integers(0, len(held) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(bytes(held[: data.draw(st.integers(1, len(held)))]))
    try:
        assert all(isinstance(topic, Topic | BadTopic) for topic in read_topics(path, bad="keep"))
    except InputError as error:
        assert "damaged" in str(error)  # noqa: PT017 (either outcome is right)


def test_white_space_and_a_byte_order_mark_are_nothing() -> None:
    mark = b"\xef\xbb\xbf"
    assert all(map(is_blank, (b"", b" ", b"\r\n", b" \t\v\f\n", mark, mark + b" \n")))
    assert not any(map(is_blank, (b"a", b" {}\n", mark + b"a", mark + mark, mark[:2], b" " + mark, b"\0")))


def test_systems_are_read_from_tables_too(tmp_path: Path) -> None:
    path = tmp_path / "systems.csv"
    path.write_text('topic_id,system,summary,human\n7,01,"[""A b .""]","{""good"": 3}"\n7,02,Raw text.,\n')
    first, second = read_systems(path)
    assert first == System("7", "01", ("A b .",), None, {"good": 3.0}, f"{path}:2")
    assert second == System("7", "02", ("Raw text.",), None, {}, f"{path}:3")
