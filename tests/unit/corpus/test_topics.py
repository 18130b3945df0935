"""Test reading topics from JSON Lines: every line becomes a topic or an error."""

from __future__ import annotations

import gc
import gzip
import io
import itertools
import json
import os
import sys
import threading
import time
import tracemalloc
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.corpus.formats import decoded
from optsum.corpus.topic import BadTopic, Topic
from optsum.corpus.topics import raw_records, read_topics
from optsum.errors import InputError, OptionError


def line(name: object = "t", **values: Any) -> str:
    return json.dumps({"id": name, "documents": [["A b ."]], "references": [["A ."]]} | values) + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "topics.jsonl"


def only_error(path: Path) -> BadTopic:
    (bad,) = read_topics(path, bad="keep")
    assert isinstance(bad, BadTopic)
    assert "\n" not in bad.error
    return bad


# --- files --------------------------------------------------------------------------------------------------------


def test_topics_come_in_order_with_their_source(path: Path) -> None:
    path.write_text("\n" + line("a") + " \r\n" + line("b", documents=["One. Two."]).rstrip(), encoding="utf-8")
    first, second = read_topics(str(path), bad="keep")
    assert isinstance(first, Topic)
    assert isinstance(second, Topic)
    assert (first.id, first.source) == ("a", f"{path}:2")
    assert (second.id, second.source) == ("b", f"{path}:4")
    assert second.sentences == ("One.", "Two.")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_file_is_closed_wherever_reading_ends(path: Path, count: int) -> None:
    path.write_text(line("a") + line("b"), encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        topics = read_topics(path, bad="keep")
        for _ in range(count):
            next(topics, None)
        del topics
        gc.collect()
    assert caught == []


def test_reading_is_lazy(path: Path) -> None:
    path.write_text(line("a") + line("b"), encoding="utf-8")
    topics = read_topics(path, bad="keep")
    assert next(topics).id == "a"
    with path.open("a", encoding="utf-8") as file:
        file.write(line("c"))
    assert [topic.id for topic in topics] == ["b", "c"]


@pytest.mark.parametrize("content", ["", "\n", " \n\t\r\n\n", "\ufeff", "\ufeff\n"])
def test_empty_file(path: Path, content: str) -> None:
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"topics.jsonl is empty; give one topic per line"):
        read_topics(path, bad="keep")


def test_missing_file(path: Path) -> None:
    with pytest.raises(InputError, match=r"topics.jsonl cannot be opened: there is no such file"):
        read_topics(path, bad="keep")


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder; give a file"):
        read_topics(tmp_path, bad="keep")


def test_impossible_path() -> None:
    with pytest.raises(InputError, match="cannot be opened: embedded null byte"):
        read_topics("a\0b", bad="keep")


def test_unreadable_file(path: Path) -> None:
    path.write_text(line(), encoding="utf-8")
    path.chmod(0)
    try:
        path.open(encoding="utf-8").close()
    except PermissionError:
        pass
    else:
        pytest.skip("this user may read every file")
    with pytest.raises(InputError, match="you have no permission"):
        read_topics(path, bad="keep")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_wide_encodings(path: Path, encoding: str) -> None:
    path.write_text(line() + line("u"), encoding=encoding)
    with pytest.raises(InputError, match="is not UTF-8 but looks like UTF-16 or UTF-32; save it as UTF-8"):
        read_topics(path, bad="keep")


def test_byte_order_mark(path: Path) -> None:
    path.write_text(line("a") + "\ufeff" + line("é"), encoding="utf-8-sig")
    assert [topic.id for topic in read_topics(path, bad="keep")] == ["a", "é"]


def test_many_line_json(path: Path) -> None:
    whole = json.dumps(json.loads(line()), indent=2)
    path.write_text(whole, encoding="utf-8")
    (topic,) = read_topics(path, bad="keep")
    assert topic.id == json.loads(line())["id"]
    path.write_text(f"{whole}\n{whole}\n", encoding="utf-8")
    with pytest.raises(InputError, match="JSON spread over several lines; put each topic on one line"):
        read_topics(path, bad="keep")


def test_language_is_checked_at_once(path: Path) -> None:
    path.write_text(line(), encoding="utf-8")
    with pytest.raises(OptionError, match="is not a language code"):
        read_topics(path, language="?", bad="keep")


def test_compressed(path: Path) -> None:
    path.write_bytes(gzip.compress((line("a") + line("b")).encode()))  # recognised whatever the name
    assert [topic.id for topic in read_topics(path, bad="keep")] == ["a", "b"]


def test_compressed_pipe(path: Path) -> None:
    # A pipe can be opened only once.
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress((line("a") + line("b")).encode())))
    writer.start()
    topics = read_topics(path, bad="keep")
    assert [topic.id for topic in topics] == ["a", "b"]
    writer.join()


def test_compressed_file_breaks_off(path: Path) -> None:
    whole = gzip.compress("".join(line(f"t{number}", meta={"x": hash(number)}) for number in range(9999)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    *topics, last = read_topics(path, bad="keep")
    assert len(topics) > 1000
    assert isinstance(last, BadTopic)
    assert last.source == f"{path}:{len(topics) + 1}"
    assert "the file breaks off here: Compressed file ended" in last.error


def test_compressed_file_is_damaged(path: Path) -> None:
    path.write_bytes(b"\x1f\x8b nonsense")
    with pytest.raises(InputError, match="cannot be read: "):
        read_topics(path, bad="keep")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO((line("a") + "?\n").encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data))
    topic, bad = read_topics("-", bad="keep")
    assert topic.source == "<stdin>:1"
    assert bad.source == "<stdin>:2"
    assert not data.closed
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="<stdin> cannot be opened: there is no standard input"):
        read_topics("-", bad="keep")


# --- lines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'id': 1}", "not JSON: expecting property name enclosed in double quotes at character 2"),
        ('{"id": "a"', "not JSON: expecting ',' delimiter at character 11"),
        ('{"id": "a}', "not JSON: unterminated string starting at character 8"),
        (line("a").strip() * 2, "not JSON: extra data at character 63"),
        ("[]", "a topic is an object .* not a list"),
        ("[" + line("a").strip() + "]", "a topic is an object .* not a list"),
        ("null", "not null"),
        ('"text"', "not a string"),
        ("NaN", "NaN is not a JSON number; write null"),
        ('{"id": "a", "meta": {"x": -Infinity}}', "-Infinity is not a JSON number"),
        ('{"id": "a", "meta": {"x": 1e999}}', "the number 1e999 is too large"),
        ('{"id": ' + "9" * 5000 + "}", "a whole number has more than 4300 digits"),
        ('{"id": "a", "meta": ' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deeply"),
        ("[" * 200_000, "nested too deeply"),
        ("\0", "not JSON: expecting value at character 1"),
    ],
    ids=itertools.count(),
)
def test_bad_lines(path: Path, text: str, message: str) -> None:
    path.write_text(line("first") + text + "\n" + line("last"), encoding="utf-8")
    first, bad, last = read_topics(path, bad="keep")
    assert (first.id, last.id) == ("first", "last")
    assert isinstance(bad, BadTopic)
    assert bad.source == f"{path}:2"
    with pytest.raises(InputError, match=message):
        raise InputError(bad.error)


def test_bad_topic_keeps_its_id(path: Path) -> None:
    path.write_text('{"id": 5, "documents": [["A ."]]}\n', encoding="utf-8")
    bad = only_error(path)
    assert bad == BadTopic("5", f"{path}:1", "topic '5': there is no \"references\"; its keys are: id, documents")


def test_bad_id_is_no_id(path: Path) -> None:
    path.write_text(line(["x"]), encoding="utf-8")
    assert only_error(path).id is None


@pytest.mark.parametrize("references", [[], None])
def test_no_references(path: Path, references: object) -> None:
    path.write_text(line("t", references=references), encoding="utf-8")
    assert '"references"' in only_error(path).error


def test_empty_references_and_zero_length_sentences_are_read(path: Path) -> None:
    path.write_text(line("a", references=[[], ""]) + line("b", documents=[["", "A .", ""]]), encoding="utf-8")
    empty, blank = read_topics(path, bad="keep")
    assert isinstance(empty, Topic)
    assert empty.references == ((), ())
    assert isinstance(blank, Topic)
    assert blank.sentences == ("", "A .", "")


def test_latin_1(path: Path) -> None:
    good = json.dumps(json.loads(line("good")), ensure_ascii=False)
    path.write_bytes(b'{"id": "caf\xe9"}\n' + good.encode())
    bad, topic = read_topics(path, bad="keep")
    assert isinstance(bad, BadTopic)
    assert bad.error == "byte 12 (0xe9) is not UTF-8; save the file as UTF-8"
    assert topic.id == "good"


def test_nul_and_surrogates_in_text(path: Path) -> None:
    path.write_text(line("t", documents=[["a\0b", "\0", "x\ud800y"]]), encoding="utf-8")
    (topic,) = read_topics(path, bad="keep")
    assert isinstance(topic, Topic)
    assert topic.sentences == ("a\0b", "\0", "x\ufffdy")


def test_repeated_ids(path: Path) -> None:
    path.write_text('{"id": "a"}\n' + line("a") + line("b") + line("a") + line(1) + line("1"), encoding="utf-8")
    topics = list(read_topics(path, bad="keep"))
    assert [isinstance(topic, Topic) for topic in topics] == [False, True, True, False, True, False]
    assert [topic.id for topic in topics] == ["a", "a", "b", "a", "1", "1"]
    assert topics[3] == BadTopic("a", f"{path}:4", "the id 'a' occurs twice; give each topic its own")


@pytest.mark.parametrize(("word", "raw"), [("word ", True), ("x", False), ("ü", True)])
def test_ten_megabyte_sentence(path: Path, word: str, raw: bool) -> None:
    sentence = word * (10_000_000 // len(word.encode()))
    path.write_text(line("t", documents=[sentence if raw else [sentence]]) + line("u"), encoding="utf-8")
    start = time.perf_counter()
    topic, other = read_topics(path, bad="keep")
    assert time.perf_counter() - start < 20  # seconds; it takes 1 s
    assert isinstance(topic, Topic)
    assert topic.sentences == (sentence.strip() if raw else sentence,)
    assert other.id == "u"


def test_memory_does_not_grow(path: Path) -> None:
    def peak(count: int) -> int:
        with path.open("w", encoding="utf-8") as file:
            for number in range(count):
                file.write(line(number, documents=[["some words here " * 10] * 100]))
        tracemalloc.start()
        assert sum(isinstance(topic, Topic) for topic in read_topics(path, bad="keep")) == count
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    assert peak(1000) < 1.5 * peak(200) + 200 * 1000  # bytes: only the ids are kept beside a megabyte of lines


# --- anything -----------------------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
keys = st.sampled_from(["id", "documents", "references", "meta", "cover", "parses"])
anything = values | st.dictionaries(keys, values)


@given(st.lists(anything, min_size=1), st.booleans())
def test_any_json_is_a_topic_or_a_bad_topic(
    tmp_path_factory: pytest.TempPathFactory, items: list[Any], ascii_only: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.jsonl"
    items = [{}, *items]  # a file that begins with a list is read as an array
    dumped = (json.dumps(item, ensure_ascii=ascii_only) for item in items)
    path.write_text("".join(text + "\n" for text in dumped), encoding="utf-8", newline="\n")
    topics = list(read_topics(path, bad="keep"))
    assert [topic.source for topic in topics] == [f"{path}:{number}" for number in range(1, len(items) + 1)]
    assert all(isinstance(topic, Topic | BadTopic) for topic in topics)


@given(st.binary())
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(data)
    try:
        topics = list(read_topics(path, bad="keep"))
    except InputError as error:
        assert "bytes.jsonl" in str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert topics


sentences = st.text(st.characters(exclude_categories=["Cs"]))
texts = st.lists(st.lists(sentences | st.lists(sentences)), min_size=1)


@given(documents=texts, references=texts)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, documents: list[Any], references: list[Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "round.jsonl"
    path.write_text(line("t", documents=documents, references=references), encoding="utf-8")
    (topic,) = read_topics(path, bad="keep")
    assert isinstance(topic, Topic)
    assert json.loads(json.dumps([topic.documents, topic.references])) == [documents, references]


# --- real data ----------------------------------------------------------------------------------------------------

SETS = (
    "aclsum dbs fewsum_amazon gum klexikon opinosis qmsum realsumm scitldr squality summeval".split()  # noqa: SIM905
)


@pytest.mark.parametrize("name", SETS)
def test_real_topics(shared_data: Path, name: str) -> None:
    path = shared_data / name / "topics.jsonl"
    with path.open(encoding="utf-8") as file:
        raw = [json.loads(text) for text in file]
    topics = list(read_topics(path, bad="keep"))
    assert [topic.id for topic in topics] == [item["id"] for item in raw]
    for topic, item in zip(topics, raw, strict=True):
        assert isinstance(topic, Topic), topic
        assert list(topic.sentences) == [sentence for document in item["documents"] for sentence in document]
        assert [list(reference) for reference in topic.references] == item["references"]
        assert topic.meta == item["meta"]


def test_every_real_set_is_tested(shared_data: Path) -> None:
    assert sorted(path.parent.name for path in shared_data.glob("*/topics.jsonl")) == SETS


def test_lines_know_whether_they_end(path: Path) -> None:
    path.write_text("1\n2", encoding="utf-8")
    found = decoded(raw_records(path, what="number"))
    assert [(line.value, line.ended) for line in found] == [(1, True), (2, False)]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_something_else_is_refused_once(suffix: str, tmp_path: Path) -> None:
    """Test this because rows of results have ids like topics, so that each would become an error row."""
    table = {"id": ["a", "b"], "status": ["optimal", "feasible"]}
    path = tmp_path / f"rows.{suffix}"
    if suffix == "csv":
        path.write_text("id,status\na,optimal\nb,feasible\n")
    else:
        parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
        parquet.write_table(arrow.table(table), path)
    with pytest.raises(InputError, match=r"without topics: it has no column documents, but id, status; columns="):
        list(read_topics(path, bad="keep"))
    with pytest.raises(InputError, match="without topics"):
        list(read_topics(path, columns="documents=text,references=summary", bad="keep"))


def test_topics_in_place_of_a_path_are_answered_with_the_right_function() -> None:
    for given_ in ([{"id": "a"}], {"id": "a"}, None, 3):
        with pytest.raises(InputError, match=r"reads a file or a folder, not \w+: give its path"):
            read_topics(given_)  # type: ignore[call-overload]
