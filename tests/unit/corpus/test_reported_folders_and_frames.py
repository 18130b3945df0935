"""Test more inputs that other tools misread, each with its report (folders, lists in text, line ends, frames)."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum import BadTopic, InputError, Topic, as_topic, read_topics
from optsum.cli import main
from optsum.corpus.topics import topics_of

Shown = tuple[str, tuple[Any, ...]]


def shown(topics: Iterable[Topic | BadTopic]) -> list[Shown]:
    """Return the ids and sentences of topics, and the error of those that cannot be used."""
    return [
        (str(topic.id), (topic.error,)) if isinstance(topic, BadTopic) else (topic.id, topic.sentences)
        for topic in topics
    ]


def written(path: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


RECORD = '{"id": "1", "document": "A cat.", "summary": "cat"}\n'
OTHER = RECORD.replace('"1"', '"2"')
STORY = "A cat.\n\n@highlight\n\ncat\n"
SGML = "<DOC><DOCNO>AP1</DOCNO><TEXT>A cat.</TEXT></DOC>\n"

FOLDERS: dict[str, dict[str, str | bytes]] = {
    # github.com/fastai/fastai/issues/488, Farama-Foundation/Minari/issues/97: what macOS keeps in every folder
    "raw texts": {
        "documents/a.txt": "A cat.", "documents/.DS_Store": b"\0\1", "references/a.txt": "cat",
        "references/.DS_Store": b"\0",
    },
    # github.com/scummvm/scummvm/pull/4529: AppleDouble, a second file beside each
    "stories": {"a.story": STORY, "._a.story": b"\0\5\x16\7"},
    "JSON files": {"a.json": '{\n"document": "A cat.", "summary": "cat"}', "._a.json": b"\0\5\x16\7"},
    # github.com/achiurizo/consular/pull/72, jacktasia/dumb-jump/issues/275: backups of editors
    "backups": {
        "documents/a.txt": "A cat.", "documents/a.txt~": "Old.", "documents/#a.txt#": "Older.",
        "references/a.txt": "cat", "references/a.txt~": "dog",
    },
    # github.com/meetps/pytorch-semseg/issues/83, d8ahazard/sd_dreambooth_extension/issues/64: files of Windows
    "Windows": {
        "documents/a.txt": "A cat.", "documents/Thumbs.db": b"\xd0\xcf", "documents/desktop.ini": "[x]",
        "references/a.txt": "cat",
    },
    # github.com/sekilab/RoadDamageDetector/issues/8: hidden files in folders of SGML or XML
    "SGML": {
        "docs/d1/AP1": SGML, "docs/d1/AP1~": SGML.replace("cat", "dog"), "docs/d1/._AP1": b"\0",
        "models/D1.M.100.A.A": "A cat.",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_files_of_systems_and_editors_in_folders_are_ignored(name: str, tmp_path: Path) -> None:
    found = shown(read_topics(written(tmp_path, FOLDERS[name]), bad="keep"))
    assert [sentences for _, sentences in found] == [("A cat.",)]


def test_other_files_beside_shards_are_ignored(tmp_path: Path) -> None:
    """github.com/neuromorphs/tonic/pull/325: hidden files, and Hadoop's mark that all parts are written."""
    files: dict[str, str | bytes] = {"part-0.jsonl": RECORD, "part-1.jsonl": OTHER, "_SUCCESS": "", "part-0.jsonl~": ""}
    hidden: dict[str, str | bytes] = {"._part-0.jsonl": b"\0", ".part-0.jsonl.crc": b"crc"}
    assert [name for name, _ in shown(read_topics(written(tmp_path, {**files, **hidden}), bad="keep"))] == ["1", "2"]


def test_files_that_macos_adds_to_archives_are_ignored(tmp_path: Path) -> None:
    """github.com/troeger/opensubmit/issues/89: __MACOSX in a zip archive, and the same files in a tar archive."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("data/", "data/a.jsonl", "data/.DS_Store", "data/Thumbs.db", "__MACOSX/data/._a.jsonl"):
            archive.writestr(name, RECORD if name.endswith("a.jsonl") and "__" not in name else "")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        for name in ("./._a.jsonl", "./a.jsonl"):
            member = tarfile.TarInfo(name)
            member.size = len(RECORD)
            tar.addfile(member, io.BytesIO(RECORD.encode()))
    for path in ("a.zip", "a.tar.gz"):
        assert shown(read_topics(tmp_path / path, bad="keep")) == [("1", ("A cat.",))]


def test_all_members_of_a_gzip_file_are_read(tmp_path: Path) -> None:
    """RFC 1952, section 2.2: a gzip file is a series of members."""
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(RECORD.encode()) + gzip.compress(OTHER.encode()))
    assert [name for name, _ in shown(read_topics(tmp_path / "a.jsonl.gz", bad="keep"))] == ["1", "2"]


LISTS = {
    # a list as JSON in a column of text: github.com/laminlabs/readfcs/pull/19
    '["A cat.", "It sat."]': ("A cat.", "It sat."),
    '[["A cat."], ["It sat."]]': ("A cat.", "It sat."),
    # a list printed by Python: github.com/pandas-dev/pandas/issues/10813, expectedparrot/edsl/issues/468
    "['A cat.', 'It sat.']": "begins as a list and is not JSON",
    # an array printed by numpy: github.com/huggingface/datasets/issues/6778, NVIDIA/cudf/issues/14547
    "['A cat.'\n 'It sat.']": "begins as a list and is not JSON",
    # text in brackets stays text
    "[Laughter] A cat. It sat.": ("[Laughter] A cat.", "It sat."),
    "{A} cat.": ("{A} cat.",),
}


@pytest.mark.parametrize("text", LISTS)
def test_a_text_that_holds_a_list_is_one_through_every_reader(text: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    row = {"id": "1", "document": text, "summary": "cat"}
    cell = text.replace('"', '""')
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "a.csv").write_text(f'id,document,summary\n1,"{cell}",cat\n')
    parquet.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    right = LISTS[text]
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        ((_, found),) = shown(read_topics(tmp_path / name, bad="keep"))
        assert (right in found[0]) if isinstance(right, str) else (found == right), name
    if isinstance(right, str):
        with pytest.raises(InputError, match=right):
            list(optsum.solve_all([row], max_length=1))
    else:
        assert as_topic(row).sentences == right


def test_marks_for_line_breaks_separate_sentences(tmp_path: Path) -> None:
    """github.com/huggingface/transformers/issues/7743 and 6844: PEGASUS writes <n> for a line break."""
    topic = as_topic({"id": "1", "document": "A cat ran.<n>It sat . <n> it slept", "summary": "use top <n> items"})
    assert topic.sentences == ("A cat ran.", "It sat .", "it slept")
    assert topic.references == (("use top <n> items",),)
    (tmp_path / "t.jsonl").write_text('{"id": "0", "documents": [["x"]], "references": [["a b .", "c d ."]]}\n')
    (tmp_path / "s.txt").write_text("c d .<n>a b .\n")
    (row,) = optsum.score(tmp_path / "t.jsonl", tmp_path / "s.txt", preset="google", metric="rouge-l").rows
    assert row.rouge["rouge-l"]["f1"] == 1


def test_marks_between_documents_separate_them() -> None:
    """github.com/allenai/PRIMER/issues/20: marks stand between documents, and one may stand behind the last."""
    for mark in ("|||||", "<doc-sep>", "story_separator_special_tag"):
        topic = as_topic({"id": "1", "document": f"A cat. {mark} It sat.{mark}", "summary": "cat"})
        assert topic.documents == (("A cat.",), ("It sat.",))


OLD_LINES = {
    "a.csv": b"id,document,summary\r1,A cat.,x\r2,B.,y\r",
    "a.tsv": b"id\tdocument\tsummary\r1\tA cat.\tx\r",
    "a.jsonl": RECORD.strip().encode() + b"\r" + OTHER.strip().encode() + b"\r",
}


@pytest.mark.parametrize("name", OLD_LINES)
def test_lines_that_end_by_carriage_returns_alone_are_refused(name: str, tmp_path: Path) -> None:
    """github.com/mholt/PapaParse/issues/43, tidyverse/readr/issues/1236, BaseXdb/basex/issues/164: read as one line."""
    (tmp_path / name).write_bytes(OLD_LINES[name])
    with pytest.raises(InputError, match="carriage returns only"):
        read_topics(tmp_path / name, bad="keep")


def test_line_pairs_with_carriage_returns_alone_are_refused(tmp_path: Path) -> None:
    """github.com/evanplaice/jquery-csv/issues/18: nineteen lines are read as one."""
    written(tmp_path, {"a.source": "A cat.\rIt sat.\r", "a.target": "cat\rsat\r"})
    ((_, (error,)),) = shown(read_topics(tmp_path / "a.source", bad="keep"))
    assert "carriage returns only" in error


def test_a_line_sep_above_the_heading_names_the_separator(tmp_path: Path) -> None:
    """github.com/PowerShell/PowerShell/issues/7776, mholt/PapaParse/issues/951: spreadsheets write sep=; there."""
    for head, delimiter in (("sep=;", ";"), ("\ufeffsep=,\r", ",")):
        row = delimiter.join(["1", "A cat.", "cat"])
        (tmp_path / "a.csv").write_text(f"{head}\n{delimiter.join(['id', 'document', 'summary'])}\n{row}\n")
        assert shown(read_topics(tmp_path / "a.csv", bad="keep")) == [("1", ("A cat.",))]


def test_titles_are_the_references_of_the_articles_beside_them(tmp_path: Path) -> None:
    """github.com/harvardnlp/sent-summary: the two files of Gigaword are train.article.txt and train.title.txt."""
    written(tmp_path, {"train.article.txt": "a cat ran .\nit sat .\n", "train.title.txt": "cat\nsat\n"})
    assert shown(read_topics(tmp_path / "train.article.txt", bad="keep")) == [
        ("0", ("a cat ran .",)),
        ("1", ("it sat .",)),
    ]


ADVICE: dict[str, tuple[dict[str, Any], str, list[tuple[str, ...]]]] = {
    # github.com/simonw/datasette-lite/issues/54, huggingface/datasets/pull/372: the records are under one key
    "wrapped": (
        {"version": 1, "data": [{"text": "A cat.", "summary": "cat"}, {"text": "It sat.", "summary": "sat"}]},
        "documents=data[].text,references=data[].summary",
        [("A cat.",), ("It sat.",)],
    ),
    # github.com/complementizer/wcep-mds-dataset: articles are objects
    "objects": (
        {"id": 7, "summary": "cat", "articles": [{"text": "A cat.", "title": "x"}, {"text": "It sat.", "title": "y"}]},
        "documents=articles[*].text,references=summary",
        [("A cat.", "It sat.")],
    ),
    # github.com/ExpressAI/DataLab/pull/207: AMI and ICSI, turns of a speaker
    "turns": (
        {"dialogue": [{"speaker": "A", "text": "A cat."}, {"speaker": "B", "text": "It sat."}], "summary1": "cat"},
        "documents=dialogue[*].text,references=summary1",
        [("A cat.", "It sat.")],
    ),
    "capitals": ({"Text": "A cat.", "Summary": "cat"}, "documents=Text,references=Summary", [("A cat.",)]),
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_can_be_followed(name: str, tmp_path: Path) -> None:
    record, columns, sentences = ADVICE[name]
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    ((_, (error,)),) = shown(read_topics(tmp_path / "a.jsonl", bad="keep"))
    assert columns in error
    assert [found for _, found in shown(read_topics(tmp_path / "a.jsonl", columns=columns, bad="keep"))] == sentences


def test_objects_in_place_of_texts_are_answered_with_advice() -> None:
    record = {"document": [{"content": "A cat."}], "summary": "cat"}
    with pytest.raises(InputError, match=r"document\[0\] is an object; .*documents=document\[\*\]\.content"):
        list(optsum.solve_all([record], max_length=1))
    record = {"document": {"body": "A cat."}, "summary": "cat"}
    with pytest.raises(InputError, match=r"document is an object; .*documents=document\.body"):
        list(optsum.solve_all([record], max_length=1))


def test_headings_in_capitals_are_recognised_as_a_table(tmp_path: Path) -> None:
    """kaggle.com/datasets/snap/amazon-fine-food-reviews: Id, ..., Summary, Text."""
    (tmp_path / "a.csv").write_text("Id,Summary,Text\n1,cat,A cat.\n")
    with pytest.raises(InputError, match=r"it has no column documents, but Id, Summary, Text; .*documents=Text"):
        read_topics(tmp_path / "a.csv", bad="keep")
    topics = read_topics(tmp_path / "a.csv", columns="documents=Text,references=Summary,id=Id", bad="keep")
    assert shown(topics) == [("1", ("A cat.",))]


def test_ids_of_data_sets_are_found() -> None:
    """github.com/cylnlp/dialogsum: fname is the id unless there is a field id."""
    assert as_topic({"fname": "train_0", "dialogue": "A: hi\nB: yes", "summary": "hi"}).id == "train_0"
    assert as_topic({"gem_id": "g-1", "source": "A cat.", "target": "cat"}).id == "g-1"
    assert as_topic({"article_id": "x", "id": "y", "article": "A cat.", "abstract": "cat"}).id == "y"


pandas: Any = pytest.importorskip("pandas")
numpy: Any = pytest.importorskip("numpy")

COLUMNS = {"id": ["a", "b"], "document": ["A cat. It sat.", "Rain."], "summary": ["cat", "rain"]}
RIGHT = [("a", ("A cat.", "It sat.")), ("b", ("Rain.",))]


def arrow() -> Any:
    return pytest.importorskip("pyarrow").table(COLUMNS)


def hugging_face() -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict(COLUMNS)


FRAMES: dict[str, Callable[[], Any]] = {
    # github.com/pandas-dev/pandas/issues/56483 and 25513, wrattler/wrattler/issues/194: the index is lost
    "index": lambda: pandas.DataFrame(COLUMNS).set_index("id"),
    # github.com/pandas-dev/pandas/issues/38224: pd.NA is neither true nor false
    "missing": lambda: pandas.DataFrame({**COLUMNS, "note": pandas.array([None, "x"], dtype="string")}),
    "missing meta": lambda: pandas.DataFrame({**COLUMNS, "meta": pandas.array([None, None], dtype="string")}),
    "arrow types": lambda: pandas.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "rows": lambda: (row for _, row in pandas.DataFrame(COLUMNS).iterrows()),
    "tuples": lambda: pandas.DataFrame(COLUMNS).itertuples(),
    "batch": lambda: arrow().to_batches()[0],
    "batches": lambda: arrow().to_reader(),
    "numpy format": lambda: hugging_face().with_format("numpy"),
    "pandas format": lambda: hugging_face().with_format("pandas"),
    "arrow format": lambda: hugging_face().with_format("arrow"),
    "streamed": lambda: hugging_face().to_iterable_dataset(),
    "polars": lambda: pytest.importorskip("polars").DataFrame(COLUMNS),
    "structs": lambda: pytest.importorskip("polars").DataFrame(COLUMNS).to_struct("row"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_with_an_index_or_missing_values_are_read(name: str) -> None:
    assert shown(topics_of(FRAMES[name]())) == RIGHT


def test_arrays_of_arrays_are_documents() -> None:
    """github.com/numpy/numpy/issues/24546, rom1504/img2dataset/pull/156: lists from Parquet are arrays of arrays."""
    inner = [numpy.array(["A cat.", "It sat."], dtype=object), numpy.array(["Rain."], dtype=object)]
    outer = numpy.empty(2, dtype=object)
    outer[:] = inner
    record = {"id": "a", "documents": outer, "references": numpy.array(["cat"], dtype=object)}
    assert as_topic(record).documents == (("A cat.", "It sat."), ("Rain.",))
    frame = pandas.DataFrame([{**record, "documents": list(outer)}])
    for given in ([record], frame, frame.to_dict("records")):
        assert shown(topics_of(given)) == [("a", ("A cat.", "It sat.", "Rain."))]
    formatted = pytest.importorskip("datasets").Dataset.from_dict(
        {"id": ["a"], "article": [["A cat.", "It sat."]], "highlights": [["cat", "sat"]]}
    )
    assert shown(topics_of(formatted.with_format("numpy"))) == [("a", ("A cat.", "It sat."))]


def test_missing_summaries_are_named() -> None:
    """github.com/SQLMesh/sqlmesh/pull/4310, autogluon/autogluon/pull/5845: a missing text stops everything."""
    frame = pandas.DataFrame({**COLUMNS, "summary": pandas.array(["cat", None], dtype="string")})
    first, second = shown(topics_of(frame))
    assert first == RIGHT[0]
    assert second == ("b", ("topic 'b': there is no \"references\": the column summary is missing or null",))


def test_one_exception_where_no_row_can_be_used() -> None:
    for rows in ([{"id": "1", "documents": 5, "references": ["x"]}] * 2, ["a", "b"], [[1], [2]], [("A.", "x")]):
        with pytest.raises(InputError, match="row 0: "):
            list(optsum.solve_all(rows, max_length=1))  # type: ignore[arg-type]
        with pytest.raises(InputError, match="row 0: "):
            optsum.compare(rows, strategies=["lead"], exact="none", max_length=1)  # type: ignore[arg-type]


def test_a_lazy_frame_is_refused_with_the_advice_to_collect_it() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(InputError, match=r"of type LazyFrame; give its collect\(\)"):
        list(optsum.solve_all(polars.DataFrame(COLUMNS).lazy(), max_length=1))


QUIET: dict[str, dict[str, Any]] = {
    # input without any ambiguity
    "sentences in lists": {"documents": [["A cat ran.", "It sat."]], "references": [["cat"]]},
    "tokens": {"documents": [[["a", "cat", "."], ["it", "sat"]]], "references": [[["cat"]]]},
    "blank lines": {"documents": "A cat ran.\n\nIt sat.", "references": "cat"},
    "utterances": {"documents": [["A: hi", "B: yes"]], "references": "hi"},
    "names and signs": {
        "documents": [["When the mayor of the town met Zoë for 3 € at the old café, the others had left \U0001f642."]],
        "references": [["The mayor met one of his guests again when all the others had left the place at night."]],
    },
    "brackets": {"documents": "[Laughter] A cat ran. {It} sat.", "references": "cat"},
    "characters by blanks": {"documents": [["大 桥 已 关 闭 。"]], "references": [["大 桥"]]},
}


@pytest.mark.parametrize("name", QUIET)
def test_unambiguous_input_is_read_without_a_note(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", **QUIET[name]}) + "\n")
    tokenizer = "blank" if "blanks" in name else "rouge"
    command = ["labels", str(tmp_path / "a.jsonl"), "--max-length", "5", "--tokenizer", tokenizer]
    assert main([*command, "-o", str(tmp_path / "o.jsonl")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "Compiling kernels" not in line] == []


NAMED = [{"id": name, "documents": [["x"]], "references": [[text]]} for name, text in (("b", "a b"), ("a", "c d"))]


@pytest.mark.parametrize("text", ["a b\nc d\n", "a b\nc d\n\n\n", "\ufeffa b\r\nc d"])
def test_lines_of_summaries_go_with_the_topics_in_turn(text: str, tmp_path: Path) -> None:
    """github.com/pltrdy/files2rouge/issues/28, google-research/google-research/issues/12: blank lines at the end."""
    (tmp_path / "mine.txt").write_text(text, newline="")
    scores = optsum.score(NAMED, tmp_path / "mine.txt", metric="rouge-1")
    (row,) = scores.rows
    assert (row.system, row.topics, row.rouge["rouge-1"]["recall"]) == ("mine", 2, 1)
    assert not scores.failed


def test_more_or_fewer_lines_than_topics_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """github.com/pltrdy/files2rouge/issues/55: line counts must match."""
    (tmp_path / "mine.txt").write_text("a b\nc d\ne f\n")
    more = optsum.score(NAMED, tmp_path / "mine.txt")
    assert ([row.topics for row in more.rows], more.failed) == ([2], 1)
    assert ["mine.txt:3: there are only 2 topics" in message for message in caplog.messages] == [True]
    caplog.clear()
    (tmp_path / "mine.txt").write_text("a b\n")
    assert [row.topics for row in optsum.score(NAMED, tmp_path / "mine.txt").rows] == [1]
    assert ["there are 2 topics and 1 line" in message for message in caplog.messages] == [True]


def told(record: dict[str, Any], path: Path, columns: str | None = None) -> tuple[list[Shown], list[str]]:
    """Return the topics of a record, and the notes on it other than those on columns."""
    said: list[str] = []
    (path / "a.jsonl").write_text(json.dumps(record) + "\n")
    found = shown(read_topics(path / "a.jsonl", columns=columns, told=said.append))
    return found, [sentence for sentence in said if "choose others with columns" not in sentence]


def test_words_in_a_flat_list_are_tokens_or_reported(tmp_path: Path) -> None:
    """github.com/nlpyang/PreSumm/issues/114: src and tgt are lists of tokens; lists in other columns are ambiguous."""
    words = ["a", "cat", "ran", "."]
    lists = {"src": [words, ["it", "is", "daniel", "'s", "."]], "tgt": [["the", "cat"]]}
    assert told(lists, tmp_path) == ([("0", tuple(map(tuple, lists["src"])))], [])
    assert told({"src": words, "tgt": "a cat"}, tmp_path) == ([("0", (tuple(words),))], [])
    found, said = told({"document": words, "summary": "a cat"}, tmp_path)
    assert found == [("0", tuple(words))]
    assert ['flat="tokens"' in sentence for sentence in said] == [True]
    for short in (["Yes.", "No.", "Maybe."], ["大桥已关闭。", "店主不满。", "桥墩生锈。"], ["Yes", "No"]):
        assert told({"document": short, "summary": "x"}, tmp_path) == ([("0", tuple(short))], [])
    assert told({"source": ["A cat ran."], "target": ["cat", "dog", "cow"]}, tmp_path)[1] == []


def test_escaped_line_breaks_are_reported(tmp_path: Path) -> None:
    """github.com/huggingface/transformers/issues/7743: a backslash and the letter n in place of a line break."""
    _, said = told({"document": "A cat ran\\n\\nIt sat", "summary": "x"}, tmp_path)
    assert ["a backslash and the letter n" in sentence for sentence in said] == [True]
    assert told({"document": "We take \\nabla f. It is \\nu.", "summary": "x"}, tmp_path)[1] == []


def test_a_record_without_a_topic_is_reported(tmp_path: Path) -> None:
    """github.com/Yale-LILY/QMSum: meetings without specific queries."""
    record = {"meeting": [{"content": "Hi."}], "queries": []}
    columns = "documents=meeting[*].content,references=queries[].answer"
    found, said = told(record, tmp_path, columns)
    assert found == []
    assert ["a.jsonl:1 is empty" in sentence for sentence in said] == [True]


def test_documents_below_an_xml_declaration_are_read(tmp_path: Path) -> None:
    """tac.nist.gov/2010/Summarization: documents in XML, with a declaration and a document type above."""
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE DOC SYSTEM "x.dtd">\n'
    written(tmp_path, {"D1/x": head + SGML, "models/D1.M.100.A.A": "A cat."})
    assert shown(read_topics(tmp_path)) == [("D1", ("A cat.",))]
