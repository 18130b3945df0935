"""Check that files with huge headings, blank lines, long lines or deep nesting are read in few steps."""

from __future__ import annotations

import gzip
import json
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest

import optsum
from optsum.corpus import formats as module
from optsum.corpus.formats import NumberedLines
from optsum.corpus.topic import BadTopic
from optsum.errors import InputError

_TOPIC = {"documents": [["a b"]], "references": [["a"]]}


def _line(name: str, **more: object) -> bytes:
    return json.dumps({"id": name, **_TOPIC, **more}).encode() + b"\n"


class _Counted(BytesIO):
    """A stream that counts how often it is read."""

    times = 0

    def read(self, *size: int | None) -> bytes:
        self.times += 1
        return super().read(*size)

    def readinto(self, buffer: object) -> int:
        self.times += 1
        return super().readinto(buffer)  # type: ignore[arg-type]


@pytest.mark.parametrize("blank", [b"\n", b" \r\n", b"\t\n\n", b"\xef\xbb\xbf\n", b"\x0b\x0c\n"])
def test_lines_keep_their_numbers_where_blank_ones_are_passed_over(blank: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(blank * 3000 + _line("a") + blank * 2999 + _line("b") + b"{\n" + blank)
    per = blank.count(b"\n")
    a, b, bad = optsum.read_topics(path, bad="keep")
    assert [each.source.rpartition(":")[2] for each in (a, b, bad)] == [
        str(3000 * per + 1), str(5999 * per + 2), str(5999 * per + 3)
    ]  # fmt: skip
    assert isinstance(bad, BadTopic)


def test_a_million_blank_lines_take_no_step_each() -> None:
    stream = _Counted(b"\n" * 1_000_000 + b"x\n" + b"\n" * 1_000_000)
    lines = NumberedLines(BufferedReader(stream))  # type: ignore[arg-type]
    assert lines.begin() == b"x\n"
    assert next(lines) == (1_000_001, b"x\n")
    _, raw = next(lines)
    assert raw == b"\n"
    lines.skip_blank()
    assert lines.passed == 2_000_001
    assert next(lines, None) is None
    assert stream.times < 1000


def test_blank_lines_of_a_table_are_passed_over_but_not_those_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    text = (
        b"\n\nid,documents,references\n\n \r\n" + b"\n" * 9000 + b't,"a\n\n\n \nb",a\n\n' + b" \n" * 9000 + b"u,c d,c\n"
    )
    path.write_bytes(gzip.compress(text))
    t, u = optsum.read_topics(path, bad="keep")
    assert not isinstance(t, BadTopic)
    assert not isinstance(u, BadTopic)
    assert [t.id, u.id] == ["t", "u"]
    assert " ".join(t.documents[0]).split() == ["a", "b"]


def test_blanks_in_an_array_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    gap = b" \n\t\r" * 50_000
    path.write_bytes(gap + b"[" + gap + _line("a") + gap + b"," + gap + _line("b") + gap + b"]" + gap)
    assert [each.id for each in optsum.read_topics(path, bad="keep")] == ["a", "b"]


def test_an_array_on_one_line_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 7)
    path = tmp_path / "t.json"
    path.write_bytes(b"\n[\n" + b",".join(_line(f"é{i}").strip() for i in range(50)) + b"]")
    assert [each.id for each in optsum.read_topics(path, bad="keep")] == [f"é{i}" for i in range(50)]


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 500)


@pytest.mark.usefixtures("short_lines")
@pytest.mark.parametrize("length", [480, 500, 501, 1000, 1703])
def test_a_line_without_end_is_an_error_and_the_others_are_done(length: int, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    long = _line("b", meta={"x": "y" * length})
    path.write_bytes(_line("a") + long + _line("c"))
    a, b, c = optsum.read_topics(path, bad="keep")
    assert [a.id, c.id] == ["a", "c"]
    assert c.source.endswith(":3")
    assert isinstance(b, BadTopic) == (len(long) > 500)
    if isinstance(b, BadTopic):
        assert "longer than" in b.error


@pytest.mark.usefixtures("short_lines")
def test_an_item_of_an_array_without_end_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"[" + _line("a") + b"," + b'{"id": "' + b"x" * 200_000)
    a, b = optsum.read_topics(path, bad="keep")
    assert a.id == "a"
    assert isinstance(b, BadTopic)


@pytest.mark.parametrize("names", ["known", "others", "twice"])
def test_a_heading_of_many_columns_is_read(names: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    more = [f"c{'' if names == 'twice' else number}" for number in range(50_000)]
    own = ["id", "documents", "references"] if names != "others" else ["x", "y", "z"]
    path.write_text(",".join([*own, *more]) + "\n" + ",".join(["t", "a b", "a", *[""] * 50_000]) + "\n")
    if names == "known":
        (topic,) = optsum.read_topics(path, bad="keep")
        assert topic.id == "t"
    else:
        said = "two columns 'c'" if names == "twice" else "no column documents, but x, y, z"
        with pytest.raises(InputError, match=said):
            list(optsum.read_topics(path, bad="keep"))


def test_a_name_of_a_million_letters_is_looked_for_once(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(_line("a") + b'{"id": "' + b"x" * 1_000_000 + 'é", "documents": 5}\n'.encode() + _line("c"))
    work = [row.id for row in optsum.solve_all(path, max_length=1, strategy="lead")]
    assert (work[0], work[2]) == ("a", "c")


@pytest.mark.parametrize("depth", [100, 1000, 100_000])
def test_nesting_costs_one_topic(depth: int, tmp_path: Path) -> None:
    deep = b"[" * depth + b"]" * depth
    path = tmp_path / "t.jsonl"
    path.write_bytes(_line("a") + b'{"id": "b", "documents": ' + deep + b', "references": [["a"]]}\n' + _line("c"))
    a, b, c = optsum.read_topics(path, bad="keep")
    assert [a.id, c.id] == ["a", "c"]
    assert isinstance(b, BadTopic)


def test_a_text_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.system.files._LARGEST", 1000)
    path = tmp_path / "words.gz"
    path.write_bytes(gzip.compress(b"the\n" * 500))
    with pytest.raises(InputError, match="more than"):
        optsum.solve({"id": "t", **_TOPIC}, max_length=1, stopwords=str(path))
