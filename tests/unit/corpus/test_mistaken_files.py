"""Test files of another kind than they seem, colliding names and ids, and further shapes of data sets, with reports."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optsum import BadTopic, InputError, Topic, as_topic, read_topics
from optsum.corpus.topics import topics_of

ROW = '{"id": "1", "text": "A cat.", "summary": "cat"}\n'
HEAD = "id,text,summary"


def zipped(**files: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


WHOLE: dict[str, tuple[bytes, str]] = {
    # github.com/benedekrozemberczki/datasets/issues/10, biomarkersParkinson/paradigma/issues/250
    "a Git LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc1\nsize 12\n", "Git LFS"),
    # github.com/isaacbrodsky/duckdb-zipfs/issues/41: a gzip file in a zip archive
    "gzip in zip": (zipped(a=gzip.compress(ROW.encode())), "archive in an archive"),
    # github.com/openownership/bodsdata/issues/22: compressed twice
    "gzip in gzip": (gzip.compress(gzip.compress(ROW.encode())), "archive in an archive"),
    "zip in gzip": (gzip.compress(zipped(a=ROW.encode())), "archive in an archive"),
    "gzip in tar": (tarred("a.gz", gzip.compress(ROW.encode())), "archive in an archive"),
    "an empty zip archive": (zipped(), "archive of 0 files"),
    "markup": (b"<topics><topic id='1'/></topics>\n", "format that optsum"),
    # github.com/turicas/rows/issues/247, mirador/nhanes/issues/7: also if only the heading is not UTF-8
    "a heading in Latin-1": (f"{HEAD},année\n1,a,b,c\n".encode("latin-1"), "not UTF-8"),
    "two columns": (f"{HEAD},text\n1,a,b,c\n".encode(), "two columns 'text'"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_files_that_are_not_what_they_seem(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(WHOLE[name][0])
    with pytest.raises(InputError, match=WHOLE[name][1]):
        read_topics(tmp_path / "a.jsonl", bad="keep")


def test_records_under_one_key_of_a_file_that_is_indented(tmp_path: Path) -> None:
    """github.com/simonw/datasette-lite/issues/54: the records are the items of a list."""
    rows = [{"text": "A cat.", "summary": "cat"}, {"text": "It sat.", "summary": "sat"}]
    (tmp_path / "a.json").write_text(json.dumps({"data": rows}, indent=1))
    topics = list(read_topics(tmp_path / "a.json", columns="documents=data[].text,references=data[].summary"))
    assert [topic.sentences for topic in topics] == [("A cat.",), ("It sat.",)]


def test_a_part_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    """Test parts without rows, and a part in another encoding."""
    for number, content in enumerate((ROW.encode(), b"", "x".encode("utf-16"), ROW.replace("1", "2").encode())):
        (tmp_path / f"part-{number}.jsonl").write_bytes(content)
    found = list(read_topics(tmp_path, bad="keep"))
    assert [topic.id for topic in found] == ["1", None, "2"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_by_every_reader(encoding: str, tmp_path: Path) -> None:
    """PowerShell/PowerShell/issues/9268, genspark-ai/genoffice/pull/438: NUL between letters, read silently."""
    text = "A cat ran.\n\n@highlight\n\ncat\n".encode(encoding)
    (tmp_path / "a.story").write_bytes(text)
    (tmp_path / "a.source").write_bytes(text)
    (tmp_path / "a.target").write_bytes(text)
    for folder in ("documents", "references"):
        (tmp_path / "raw" / folder).mkdir(parents=True)
        (tmp_path / "raw" / folder / "1.txt").write_bytes(text)
    for name in ("a.story", "raw"):
        (bad,) = read_topics(tmp_path / name, bad="keep")
        assert isinstance(bad, BadTopic)
        assert "looks like UTF-16" in bad.error
    with pytest.raises(InputError, match="looks like UTF-16"):
        read_topics(tmp_path / "a.source", bad="keep")


def test_columns_without_a_name_are_ignored(tmp_path: Path) -> None:
    """github.com/wireservice/csvkit/issues/426, thephpleague/csv/issues/543: columns that spreadsheets export."""
    (tmp_path / "a.csv").write_text(f"{HEAD},,,\n1,A cat.,cat,,,\n")
    (topic,) = read_topics(tmp_path / "a.csv", bad="keep")
    assert isinstance(topic, Topic)
    assert topic.sentences == ("A cat.",)


def test_a_carriage_return_in_a_row_is_named_in_the_error(tmp_path: Path) -> None:
    """github.com/harelba/q/issues/144, onaio/onadata/issues/757."""
    (tmp_path / "a.csv").write_bytes(f"{HEAD}\r\n1,A.,x\n2,B.,y\r3,C.,z\r\n4,D.,w\r\n".encode())
    first, bad, last = read_topics(tmp_path / "a.csv", bad="keep")
    assert [each.id for each in (first, last)] == ["1", "4"]
    assert isinstance(bad, BadTopic)
    assert "carriage return" in bad.error
    assert "quotation mark" not in bad.error


EMPTY: dict[str, dict[str, str]] = {
    # github.com/mahnazkoupaee/WikiHow-Dataset/issues/12, allenai/dolma/issues/32: empty texts
    "a.jsonl": {"a.jsonl": '{"id": "a", "text": [""], "summary": "cat"}\n'},
    "b.jsonl": {"b.jsonl": '{"id": "a", "text": "A cat.", "summary": [" "]}\n'},
    "a.story": {"a.story": "\n\n@highlight\n\ncat\n"},
    "b.story": {"b.story": "A cat.\n\n@highlight\n\n"},
    "raw": {"raw/documents/a.txt": "", "raw/references/a.txt": "cat"},
    "rare": {"rare/documents/a.txt": "A cat.", "rare/references/a.txt": " \n"},
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_text_is_called_empty(name: str, tmp_path: Path) -> None:
    for path, content in EMPTY[name].items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    (bad,) = read_topics(tmp_path / name, bad="keep")
    assert isinstance(bad, BadTopic)
    assert "is empty; give it a text" in bad.error


def test_pages_of_html_are_no_raw_text(tmp_path: Path) -> None:
    """github.com/bheinzerling/pyrouge: its converter writes summaries as HTML for ROUGE-1.5.5."""
    for path, text in (("documents/1.txt", "A cat."), ("references/1.html", "<html>\n<body><a id=1>cat</a></body>")):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text)
    (bad,) = read_topics(tmp_path, bad="keep")
    assert isinstance(bad, BadTopic)
    assert "an HTML page" in bad.error


@pytest.mark.parametrize("missing", ["NaN", "None", "null", "<NA>"])
def test_words_for_missing_values_are_reported(missing: str, caplog: pytest.LogCaptureFixture) -> None:
    """github.com/pandas-dev/pandas/issues/25353, jazzband/tablib/issues/121: missing values become words ("nan")."""
    assert as_topic({"id": "1", "text": "A cat.", "summary": missing}).references == ((missing,),)
    assert [f"summary is {missing} in a topic" in said for said in caplog.messages] == [True]


def test_rounded_ids_are_refused() -> None:
    """github.com/pandas-dev/pandas/issues/56678 and 32134, natverse/fafbseg/pull/248: two ids become the same."""
    pandas = pytest.importorskip("pandas")
    ids = [4873214862074861312, None, 4873214862074860545, 7]
    frame = pandas.DataFrame({"id": ids, "text": ["A cat."] * 4, "summary": ["cat"] * 4})
    found = list(topics_of(frame))
    assert [topic.id for topic in found if isinstance(topic, Topic)] == ["1", "7"]
    assert ["rounded" in topic.error for topic in found if isinstance(topic, BadTopic)] == [True, True]
    assert as_topic({"id": ids[0], "text": "A cat.", "summary": "cat"}).id == str(ids[0])


def frames() -> dict[str, Callable[[], Any]]:
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    row, names = ["a", "A.", "B.", "x"], ["id", "text", "text", "summary"]
    return {
        "pandas": lambda: pandas.DataFrame([row], columns=names),
        "arrow": lambda: pa.Table.from_arrays([pa.array([cell]) for cell in row], names=names),
    }


@pytest.mark.parametrize("kind", ["pandas", "arrow", "parquet"])
def test_two_columns_of_one_name_are_refused_everywhere(kind: str, tmp_path: Path) -> None:
    """github.com/apache/datafusion/issues/24381, pola-rs/polars/issues/27393: a column is dropped silently."""
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(frames()["arrow"](), tmp_path / "a.parquet")
        given: Any = tmp_path / "a.parquet"
    else:
        given = frames()[kind]()
    with pytest.raises(InputError, match="two columns 'text'"):
        list(topics_of(given))


def test_an_id_within_an_index_of_several_levels() -> None:
    """github.com/pandas-dev/pandas/issues/25513: the index is lost."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a"], "part": [1], "text": ["A cat."], "summary": ["cat"]})
    assert [each.id for each in topics_of(frame.set_index(["part", "id"]))] == ["a"]


def test_columns_that_differ_in_case_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    """github.com/duckdb/duckdb/issues/13053, mountainMath/cansim/issues/104."""
    assert as_topic({"id": "1", "text": "A cat.", "Text": "A dog.", "summary": "cat"}).sentences == ("A cat.",)
    assert ["Text is not used" in said for said in caplog.messages] == [True]


def test_columns_with_dots_in_their_names(tmp_path: Path) -> None:
    """github.com/pandas-dev/pandas/issues/23843, pola-rs/polars/issues/7374: nested records are flattened."""
    columns = "documents=article.text,references=meta.summary,id=meta.id"
    (tmp_path / "a.csv").write_text("article.text,meta.summary,meta.id\nA cat.,cat,7\n")
    (tmp_path / "b.jsonl").write_text('{"article": {"text": "A cat."}, "meta": {"summary": "cat", "id": 7}}\n')
    for name in ("a.csv", "b.jsonl"):
        (topic,) = read_topics(tmp_path / name, columns=columns)
        assert (topic.id, topic.sentences) == ("7", ("A cat.",))


@pytest.mark.parametrize(
    "mark", ["\u17d4", "\u17d5", "\u06d4", "\u0964", "\u104b", "\u1362", "\u0589", "\u3002", "\uff61"]
)
def test_marks_that_end_sentences(mark: str) -> None:
    """github.com/codelibs/fess/issues/3228: full stops of other scripts."""
    topic = as_topic({"id": "1", "text": f"\u1786\u17d2\u1798\u17b6{mark} \u1797\u17d2\u179b{mark}", "summary": "x"})
    assert len(topic.sentences) == 2


SHAPES: dict[str, tuple[dict[str, Any], str | None, tuple[tuple[str, ...], ...], int]] = {
    # Yale-LILY/SummerTime/pull/31: a list of utterances, each of which is a unit
    "SAMSum as a list": ({"dialogue": ["A: Hi. Well?", "B: Yes. No."], "summary": "x"}, None,
                         (("A: Hi. Well?", "B: Yes. No."),), 1),
    "highlights as a list": ({"article": "A cat.", "highlights": ["A cat. Ran.", "It sat. Slept."]}, None,
                             (("A cat.",),), 1),
    # zcgzcgzcg1/MediaSum: utterances beside their speakers
    "MediaSum": ({"id": "N", "summary": "x", "utt": ["Hello. A cat?", "Yes."], "speaker": ["A", "B"]},
                 "documents=utt[*],references=summary", (("Hello.", "A cat?"), ("Yes.",)), 1),
    # complementizer/wcep-mds-dataset
    "WCEP": ({"id": 1, "summary": "x", "articles": [{"text": "A cat.\n\nIt sat. "}, {"text": "Rain"}]},
             "documents=articles[*].text,references=summary", (("A cat.", "It sat."), ("Rain",)), 1),
    # yaolu/Multi-XScience: a Sequence of objects, some abstracts empty
    "Multi-XScience": ({"related_work": "x", "ref_abstract": {"mid": [1, 2], "abstract": ["A cat. Ran.", ""]}},
                       "documents=ref_abstract[*].abstract,references=related_work", (("A cat.", "Ran."), ()), 1),
    # allenai/mslr-shared-task: Cochrane
    "Cochrane": ({"review_id": "C", "pmid": ["1", "2"], "abstract": ["A trial. It ran.", "Yes."], "target": "x"},
                 "documents=abstract[*],references=target,id=review_id", (("A trial.", "It ran."), ("Yes.",)), 1),
    # guyfe/Tweetsumm: dialogs of turns of sentences, several summaries of sentences
    "TweetSumm": ({"dialog": [{"sentences": ["Hi.", "Help."]}, {"sentences": ["Yes."]}],
                   "summaries": {"abstractive_summaries": [["They ask.", "We help."], ["They talk."]]}},
                  "documents=dialog[*].sentences,references=summaries.abstractive_summaries",
                  (("Hi.", "Help."), ("Yes.",)), 2),
    # microsoft/HMNet: words of each turn
    "AMI of HMNet": ({"meeting": [{"utt": {"word": ["okay", "."]}}], "summary": ["They talk.", "They end."]},
                     "documents=meeting[*].utt.word,references=summary", ((("okay", "."),),), 1),
    # ChenRocks/fast_abs_rl
    "fast_abs_rl": ({"id": "0", "article": ["a cat ran .", "it sat ."], "abstract": ["a cat ."], "extracted": [0]},
                    None, (("a cat ran .", "it sat ."),), 1),
    "LCSTS": ({"text": "\u732b\u8dd1\u3002\u5750\u4e0b\u3002", "summary": "\u732b"}, None,
              (("\u732b\u8dd1\u3002", "\u5750\u4e0b\u3002"),), 1),
    "Hindi of XL-Sum": ({"text": "\u092c \u092d\u0964 \u0935 \u092c\u0964", "summary": "x"}, None,
                        (("\u092c \u092d\u0964", "\u0935 \u092c\u0964"),), 1),
    "MLSUM": ({"text": "La chatte part. Il pleut.", "summary": "x", "topic": "t", "date": "d"}, None,
              (("La chatte part.", "Il pleut."),), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_further_shapes_of_data_sets(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record, columns, documents, references = SHAPES[name]
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n")
    (topic,) = read_topics(tmp_path / "a.jsonl", columns=columns)
    assert topic.documents == documents
    assert len(topic.references) == references
    assert caplog.messages == []


ADVICE = {
    "documents=abstract,references=target": ["review_id", "title", "abstract", "target"],  # Cochrane
    "documents=description,references=abstract": ["description", "abstract"],  # BigPatent
    "documents=abstract,references=title": ["abstract", "title"],
    "documents=selftext,references=tldr": ["title", "selftext", "tldr"],  # Reddit TIFU as it was crawled
    "documents=inputs,references=targets": ["inputs", "targets"],  # PEGASUS
    "documents=reviews,references=summs": ["reviews", "summs"],  # FewSum
    "documents=text,references=abstract": ["url", "headline", "abstract", "text"],  # SumeCzech
}


@pytest.mark.parametrize("columns", ADVICE)
def test_advice_for_unknown_columns(columns: str, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("\t".join(ADVICE[columns]) + "\n" + "\t".join("x" for _ in ADVICE[columns]) + "\n")
    with pytest.raises(InputError, match=f'columns="{columns}"'):
        read_topics(tmp_path / "a.tsv", bad="keep")


def test_folders_of_sumpubmed(tmp_path: Path) -> None:
    """github.com/vgupta123/sumpubmed: folders text and abstract."""
    for name, text in (("text", "A cat ran. It sat."), ("abstract", "A cat.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_text(text)
    (topic,) = read_topics(tmp_path)
    assert (topic.id, len(topic.sentences), topic.references) == ("1", 2, (("A cat.",),))


def test_doubts_name_keywords_in_python(caplog: pytest.LogCaptureFixture) -> None:
    as_topic({"id": "1", "text": ["A cat", "It sat. Well.", "It ran"], "summary": ["a b", "c d"]})
    assert all("--" not in said for said in caplog.messages)
    assert any('flat="texts"' in said for said in caplog.messages)


@pytest.mark.parametrize(("name", "separator"), [("own.csv", ","), ("own.tsv", "\t"), ("own.csv.gz", ",")])
def test_unknown_columns_of_a_table_are_named(name: str, separator: str, tmp_path: Path) -> None:
    text = separator.join(("id", "body", "abs")) + "\n" + separator.join(("1", "A cat.", "cat")) + "\n"
    held = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(held) if name.endswith(".gz") else held)
    with pytest.raises(InputError, match=r"no column documents, but id, body, abs; .*documents=body,references=COLUMN"):
        read_topics(tmp_path / name)
