"""Test inputs that other tools misread, each with the report of the problem (quotes, lines, ids, archives)."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum import BadTopic, Topic, as_topic, read_topics
from optsum.cli import main

HEAD = "id\tdocument\tsummary\n"

TABS = {
    # github.com/pandas-dev/pandas/issues/22661: a cell opens with a quotation mark that is not closed
    "opened": ('3\tabc\tx\n4\t"abc"\tx\n5\t"error\tx\n', ["abc", "abc", '"error']),
    # github.com/pandas-dev/pandas/issues/13860: cells that consist of a quotation mark
    "alone": ('1\tc\t"\n2\ta\tb\n3\td\t"\n', ["c", "a", "d"]),
    # github.com/pandas-dev/pandas/issues/39857 and 21695: rows between two quotation marks are lost
    "lost": ('1\t"a\tx\n2\tb\tx\n3\tc"\tx\n', ['"a', "b", 'c"']),
    # github.com/pola-rs/polars/issues/22312: only a part of the cell is quoted
    "part": ('1\t"Lorem Ipsum" dolor\tx\n', ['"Lorem Ipsum" dolor']),
    # github.com/NVIDIA/cudf/issues/10490: two quotation marks at the end
    "end": ('1\tK""\tx\n2\t5\tx\n', ['K""', "5"]),
    # github.com/rewicks/ersatz/issues/1: quotation marks in several columns
    "columns": ('1\ta "b\tc "d\n2\te\tf\n', ['a "b', "e"]),
    # github.com/facebookresearch/pytext/pull/777: some programs quote nevertheless, with doubled marks
    "quoted": ('1\t"He said ""no"" twice"\tx\n', ['He said "no" twice']),
}


@pytest.mark.parametrize("name", TABS)
def test_tab_separated_text_has_no_quoting(name: str, tmp_path: Path) -> None:
    body, documents = TABS[name]
    (tmp_path / "a.tsv").write_text(HEAD + body)
    topics = list(read_topics(tmp_path / "a.tsv", bad="keep"))
    assert [topic.sentences for topic in topics if isinstance(topic, Topic)] == [(text,) for text in documents]


COMMAS = {
    # github.com/pandas-dev/pandas/pull/3853: a quotation mark that is never closed
    "never": ('1,a,x\n2,"b,x\n3,c,x\n', 3, ["1", "3"]),
    # github.com/pandas-dev/pandas/issues/22661, with commas: the next quotation mark closes it two rows later
    "later": ('1,a,x\n2,b,"x\n3,c,x\n4,d,y"\n5,e,x\n', 3, ["1", "3", "4", "5"]),
    # github.com/pandas-dev/pandas/issues/18382 and 21862: quotation marks after backslashes
    "escaped": ('1,a,x\n2,"give \\"buyers what, they\\" want",x\n3,c,x\n', 3, ["1", "3"]),
    # github.com/adaltas/node-csv/issues/183: a cell that begins with an escaped mark
    "escaped first": ('1,"\\"pla\\"",x\n2,b,x\n', 2, ["2"]),
    # github.com/mholt/PapaParse/issues/299: inches
    "inches": ('1,"TV 50\\"","1234"\n2,b,x\n', 2, ["2"]),
    # github.com/mholt/PapaParse/issues/459: a cell that ends with an escaped mark
    "escaped last": ('1,"in \\"Quotes\\"",x\n2,b,x\n', 2, ["2"]),
}


@pytest.mark.parametrize("name", COMMAS)
def test_a_mark_that_opens_a_cell_by_mistake_is_refused_where_it_stands(name: str, tmp_path: Path) -> None:
    body, line, others = COMMAS[name]
    (tmp_path / "a.csv").write_text("id,document,summary\n" + body)
    topics = list(read_topics(tmp_path / "a.csv", bad="keep"))
    bad = [topic for topic in topics if isinstance(topic, BadTopic)]
    assert [(topic.source, "quotation mark" in topic.error) for topic in bad] == [
        (f"{tmp_path / 'a.csv'}:{line}", True)
    ]
    assert [topic.id for topic in topics if isinstance(topic, Topic)] == others


@pytest.mark.parametrize(
    ("cell", "sentences"),
    [
        ('"One.\n\nTwo, three, four."', ("One.", "Two, three, four.")),  # paragraphs with as many commas as columns
        ('"It cost\n1,000,000 dollars."', ("It cost\n1,000,000 dollars.",)),
        ('"C:\\"', ("C:\\",)),  # github.com/pandas-dev/pandas/issues/33735: a backslash at the end
        ('"B \\"" "', ('B \\"',)),  # github.com/stevehansen/csv/issues/35
        ('a "b" c', ('a "b" c',)),
    ],
)
def test_unusual_but_valid_cells_are_read(cell: str, sentences: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id,document,summary\n1,{cell},x\n")
    (topic,) = read_topics(tmp_path / "a.csv", told=lambda _: None, bad="keep")
    assert isinstance(topic, Topic)
    assert topic.sentences == sentences


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1e"])
def test_other_line_separators_end_no_record(sign: str, tmp_path: Path) -> None:
    """github.com/wbolster/jsonlines/issues/53, datalad/datalad/issues/3523, huggingface/datasets/issues/3804."""
    record = {"id": "a", "document": f"One.{sign}Two.", "summary": f"x{sign}y"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text(f"id,document,summary\na,One.{sign}Two.,x{sign}y\n", encoding="utf-8", newline="")
    (tmp_path / "c.source").write_text(f"One.{sign}Two.\nThree.\n", encoding="utf-8", newline="")
    (tmp_path / "c.target").write_text("x\ny\n")
    for name in ("a.jsonl", "b.csv", "c.source"):
        first, *others = read_topics(tmp_path / name, bad="keep")
        assert isinstance(first, Topic)
        assert (first.sentences, len(others)) == (("One.", "Two."), name == "c.source")


def test_multi_news_is_split_into_documents_and_sentences(tmp_path: Path) -> None:
    """github.com/Alex-Fabbri/Multi-News/issues/3, allenai/PRIMER/issues/20, huggingface/datasets/issues/4320."""
    (tmp_path / "a.src").write_text("Storm NEWLINE_CHAR NEWLINE_CHAR Boats sank. ||||| A library opened. |||||\n")
    (tmp_path / "a.tgt").write_text("– Boats sank.\n")
    (topic,) = read_topics(tmp_path / "a.src", bad="keep")
    assert isinstance(topic, Topic)
    assert topic.documents == (("Storm", "Boats sank."), ("A library opened.",))
    assert topic.references == (("– Boats sank.",),)


def test_lists_of_objects_from_datasets_are_read() -> None:
    """github.com/huggingface/datasets/issues/888, 4221 and 7569: lists of objects are returned as objects of lists."""
    datasets = pytest.importorskip("datasets")
    rows = [{"id": "m", "turns": [{"who": "A", "text": "Hello."}, {"who": "B", "text": "Yes."}], "summary": "Hello."}]
    columns = {"documents": "turns[*].text", "references": "summary"}
    as_lists = {"id": "m", "turns": {"who": ["A", "B"], "text": ["Hello.", "Yes."]}, "summary": "Hello."}
    right = as_topic(rows[0], columns=columns)
    assert right.documents == (("Hello.",), ("Yes.",))
    assert as_topic(as_lists, columns=columns) == right
    found = list(optsum.solve_all(datasets.Dataset.from_list(rows), columns=columns, max_length=1))
    assert [(result.id, result.selection) for result in found] == [("m", (0,))]


def test_tldrs_are_references() -> None:
    """github.com/huggingface/datasets/pull/986: "a multi-target dataset"; promptsource/pull/578 takes target[0]."""
    topic = as_topic({"source": ["We study cats."], "paper_id": "p", "target": ["Cats sleep.", "They purr. We saw."]})
    assert (topic.id, topic.references) == ("p", (("Cats sleep.",), ("They purr.", "We saw.")))


def test_utterances_are_sentences() -> None:
    """github.com/cylnlp/dialogsum/issues/4: line breaks separate utterances."""
    topic = as_topic({"dialogue": "A: Hi. Well?\nB: Yes.", "summary": "They greet. He agrees."})
    assert topic.sentences == ("A: Hi. Well?", "B: Yes.")
    assert topic.references == (("They greet.", "He agrees."),)


def test_lines_of_a_file_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """github.com/nlpyang/PreSumm/issues/48: one sentence a line; summanlp/textrank/issues/46: wrapped lines."""
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "a cat ran\nit sat", "summary": "it sat"}) + "\n")
    out = ["--max-length", "2", "-o", str(tmp_path / "out.jsonl"), "--overwrite"]
    for said, units in ((["--lines"], 2), (["--no-lines"], 1), ([], 1)):
        assert main(["labels", str(tmp_path / "a.jsonl"), *said, *out]) == 0
        assert len(json.loads((tmp_path / "out.jsonl").read_text())["labels"]) == units
        assert ("--lines makes each line" in capsys.readouterr().err) == (not said)


def test_summaries_are_scored_by_lines() -> None:
    """github.com/huggingface/evaluate/issues/501, Lightning-AI/torchmetrics/issues/904: rougeLsum scores by lines."""
    topic = {"id": "0", "documents": [["x"]], "references": "the cat ran\nit was late"}
    lists = {**topic, "references": [["the cat ran", "it was late"]]}
    system = {"topic_id": "0", "system": "a", "summary": "it was late\nthe cat ran"}
    apart = {**system, "summary": ["it was late", "the cat ran"]}
    one_line = {**system, "summary": "it was late the cat ran"}
    scores = [
        optsum.score([one], [other], preset="google", metric="rouge-l").rows[0].rouge
        for one, other in ((topic, system), (lists, apart), (topic, one_line))
    ]
    assert scores[0] == scores[1]


def test_numbers_of_frames_are_ids() -> None:
    """github.com/pandas-dev/pandas/issues/20717 and 28335: an empty cell turns all numbers into floats."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, None, 3], "text": ["A cat."] * 3, "summary": ["cat"] * 3})
    assert [result.id for result in optsum.solve_all(frame, max_length=2)] == ["1", "1", "3"]
    assert as_topic({"id": 1e15, "documents": "a", "references": "b"}).id == "1000000000000000"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_byte_order_mark_is_no_part_of_a_name(delimiter: str, tmp_path: Path) -> None:
    """github.com/pandas-dev/pandas/issues/4793, biolab/orange3/issues/7000: the mark becomes part of the first name."""
    text = delimiter.join(['"article"', "highlights"]) + "\r\n" + delimiter.join(["One.", "x"]) + "\r\n"
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (topic,) = read_topics(tmp_path / "a.csv", bad="keep")
    assert isinstance(topic, Topic)
    assert topic.sentences == ("One.",)


def test_an_archive_holds_one_file_beside_those_of_macos(tmp_path: Path) -> None:
    """github.com/ANHIG/IMGTHLA/issues/384, pymovements/pymovements/issues/1346: files that macOS adds are skipped."""
    record = '{"id": "a", "text": "A cat.", "summary": "cat"}\n'
    for name, members in {"a": ["a.jsonl", "__MACOSX/._a.jsonl"], "b": ["a.jsonl", "b.jsonl"]}.items():
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for member in members:
                archive.writestr(member, record)
    assert len(list(read_topics(tmp_path / "a.zip", bad="keep"))) == 1
    with pytest.raises(optsum.InputError, match=r"archive of 2 files \(a.jsonl, b.jsonl\); unpack it"):
        read_topics(tmp_path / "b.zip", bad="keep")


def test_all_rows_that_cannot_be_used_are_one_exception() -> None:
    rows = [{"id": "1", "content": "A cat.", "tldr": "cat"}, {"id": "2", "content": "A dog.", "tldr": "dog"}]
    with pytest.raises(optsum.InputError, match=r"none of the 2 topics can be used; the first error: row 0: .*tldr"):
        list(optsum.labels(rows, max_length=2))
    mapped = optsum.labels(rows, columns="documents=content,references=tldr", max_length=2)
    assert [row["labels"] for row in mapped] == [[1], [1]]
    with pytest.raises(optsum.InputError, match="is a path, and one topic was expected"):
        optsum.solve("topics.jsonl", max_length=2)


def test_all_systems_are_scored(tmp_path: Path) -> None:
    topics = [{"id": str(number), "documents": [["a b"]], "references": [["a b"]]} for number in range(3)]
    (tmp_path / "one.txt").write_text("a\n\nb\n")
    rows = optsum.score(topics, tmp_path / "one.txt").rows
    assert [(row.system, row.topics) for row in rows] == [("one", 3)]
    for name in ("x", "y"):
        (tmp_path / "all" / name).mkdir(parents=True)
        (tmp_path / "all" / name / "0.txt").write_text("a b")
    assert [(row.system, row.topics) for row in optsum.score(topics, tmp_path / "all").rows] == [("x", 1), ("y", 1)]
    labelled = list(optsum.labels(topics, max_length=2))
    assert [row.topics for row in optsum.score(topics, labelled).rows] == [3]


def test_a_limit_cuts_the_summaries_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"id": str(number), "documents": [["a"]], "references": [["a"]]} for number in range(3)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    systems: list[dict[str, Any]] = [{"topic_id": str(number), "system": "s", "summary": ["a"]} for number in range(4)]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in systems[:3]))
    assert main(["score", str(tmp_path / "t.jsonl"), str(tmp_path / "s.jsonl"), "--limit", "2"]) == 0
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in systems))
    assert main(["score", str(tmp_path / "t.jsonl"), str(tmp_path / "s.jsonl"), "--limit", "2"]) == 1
    assert "no topic has the id '3'" in capsys.readouterr().err
