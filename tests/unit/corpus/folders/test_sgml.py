"""Test document sets and summaries of DUC in SGML, on files written here in its form."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from optsum.corpus.folders import (
    duc_topics,
    is_duc_file,
    is_sgml,
    parse_documents,
    parse_summaries,
    summary_of_name,
)
from optsum.corpus.topic import Notes, Reading, as_topic

FIGURE = """<DOC>
<DOCNO>AP900424-0035</DOCNO>
<DATE>04/24/90</DATE>
<HEADLINE>
<S HSNTNO="1">Actor in Hospital</S>
<S HSNTNO="2">By J. DOE</S>
</HEADLINE>
<TEXT>
<S SNTNO="1">A seriously ill actor battled pneumonia at her
hospital, doctors say.</S>
<S SNTNO="2">``It is serious,'' said AT&amp;T.
<S SNTNO="3">R & D < 5 &LR; went on.</S>
</TEXT>
</DOC>
"""
"""As Figure 1 of Lin & Hovy 2003, with a sentence left open, a bare ampersand and a bare angle."""


def test_the_sentences_of_the_text_are_those_of_the_document() -> None:
    (document,) = parse_documents(FIGURE)
    assert document.name == "AP900424-0035"
    assert document.sentences == (
        "A seriously ill actor battled pneumonia at her hospital, doctors say.",
        "``It is serious,'' said AT&T.",
        "R & D < 5 &LR; went on.",
    )


def test_texts_without_sentences_are_split() -> None:
    text = "<doc>\n<docno> FT1 </docno><head>No. 1</head>\n<text>\n<p>\nOne came. Two left.\n</p>\n<p>Three</p></text>"
    (document,) = parse_documents(text)
    assert (document.name, document.sentences) == ("FT1", ("One came.", "Two left.", "Three"))


def test_an_empty_text_element_is_ignored() -> None:
    # some conversions close elements at once and leave their content behind them
    text = "<doc></doc>\n<doc>\n<docno>AP1</docno>\n<headline></headline>\n<s hsntno=1>A</s>\n<text></text>\n"
    text += '<s sntno="1">One\nis.</s>\n<s sntno="2">Two.'
    documents = list(parse_documents(text))
    assert (documents[-1].name, documents[-1].sentences) == ("AP1", ("One is.", "Two."))


def test_the_figure_as_the_paper_s_text_has_it(shared_data: Path) -> None:
    paper = shared_data.parent / "papers" / "lin-hovy-2003-potential-and-limitations.txt"
    if not paper.is_file():
        pytest.skip("the paper is not there")
    text = paper.read_text(encoding="utf-8", errors="replace")
    begin = text.index("<docno>AP900424-0035")
    (document,) = parse_documents("<doc>" + text[begin : text.index("Figure 1 A 100-word")])
    assert document.name == "AP900424-0035"
    assert document.sentences[0].startswith("A seriously ill Elizabeth Taylor battled pneumonia at her hospital")
    assert "progress." in document.sentences[4]


def test_summaries_and_extracts() -> None:
    text = (
        '<SUM\nDOCSET="d061"\nTYPE="PERDOC"\nSIZE="100"\nDOCREF="AP1"\nSELECTOR="J"\nSUMMARIZER="B">\n\nIt sat.\n</SUM>'
        "<SUM DOCSET=d061 TYPE=MULTI SIZE=200 SUMMARIZER=B>All sat. All ran."  # an element that is not closed
        '<SUM DOCSET="d061" TYPE="MULTI-E" SIZE="200" DOCREF="AP1 AP2"><s docid="AP1" num="1">An extract.</s></SUM>'
    )
    single, multi = parse_summaries(text)
    assert (single.documents, single.multi, single.size, single.author) == (("AP1",), False, "100", "B")
    assert (multi.documents, multi.multi, multi.sentences) == ((), True, ("All sat.", "All ran."))


SEE = """<html>
<head>
<title>D30001.M.100.T.A</title>
</head>
<body bgcolor="white">
<a name="1">[1]</a> <a href="#1" id=1>Cambodian leaders met.</a>
<a name="2">[2]</a> <a href="#2" id=2>The &quot;opposition&quot;
left.</a>
</body>
</html>
"""


def test_pages_of_see_become_summaries() -> None:
    summary = summary_of_name("D30001.M.100.T.A.html", SEE)
    assert summary is not None
    assert (summary.docset, summary.multi, summary.author) == ("D30001", True, "A")
    assert summary.sentences == ("Cambodian leaders met.", 'The "opposition" left.')
    plain = summary_of_name("D30001.P.100.T.B.APW19981016.0240", "One came. Two left.")
    assert plain is None or plain.sentences == ("One came.", "Two left.")
    assert summary_of_name("notes.html", SEE) is None


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a folder of two sets: one summarized by document and as a whole, the other as a whole in pages of SEE."""
    for folder, names in {"d061j": ["AP1", "AP2"], "d30001t": ["APW7"]}.items():
        (tmp_path / "docs" / folder).mkdir(parents=True)
        for name in names:
            text = f"<DOC><DOCNO>{name}</DOCNO><TEXT><s>{name} came.</s><s>{name} left.</s></TEXT></DOC>"
            (tmp_path / "docs" / folder / name).write_text(text)
    (tmp_path / "summaries" / "d061jb").mkdir(parents=True)
    (tmp_path / "summaries" / "d061jb" / "perdocs").write_text(
        "".join(
            f'<SUM DOCSET="d061" TYPE="PERDOC" SIZE="100" DOCREF="{name}" SUMMARIZER="{who}">{name} by {who}.</SUM>\n'
            for who in "BA"
            for name in ("AP1", "AP2")
        )
    )
    for size in (50, 200):
        (tmp_path / "summaries" / "d061jb" / str(size)).write_text(
            f'<SUM DOCSET="D061" TYPE="MULTI" SIZE="{size}" SUMMARIZER="B">All in {size}.</SUM>'
        )
    (tmp_path / "models").mkdir()
    for who in "AB":
        (tmp_path / "models" / f"D30001.M.100.T.{who}.html").write_text(SEE)
    return tmp_path


def all_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def test_a_folder_of_sets_and_summaries(corpus: Path) -> None:
    lines = list(duc_topics(all_files(corpus)))
    topics = {line.value["id"]: as_topic(line.value) for line in lines}
    assert sorted(topics) == ["AP1", "AP2", "D061-200", "D061-50", "D30001"]
    assert topics["AP1"].references == (("AP1 by A.",), ("AP1 by B.",))
    assert topics["D061-50"].sentences == ("AP1 came.", "AP1 left.", "AP2 came.", "AP2 left.")
    assert topics["D061-50"].references == (("All in 50.",),)
    assert len(topics["D30001"].references) == 2
    assert topics["AP2"].meta["authors"] == ["A", "B"]


def test_a_missing_document_or_summary_costs_no_other(corpus: Path) -> None:
    (corpus / "docs" / "d061j" / "AP2").write_bytes(b"<DOC><DOCNO>AP2</DOCNO><TEXT>\xff\xfe</TEXT></DOC>")
    (corpus / "docs" / "d30001t" / "APW7").write_text("<DOC><TEXT>nameless</TEXT></DOC>")
    lines = list(duc_topics(all_files(corpus)))
    good = [line.value["id"] for line in lines if line.error is None and "status" not in line.value]
    assert good == ["AP1", "D061-200", "D061-50"]
    errors = " ".join(line.error or line.value.get("error", "") for line in lines)
    for reason in ("not UTF-8", "no number", "summary of document 'AP2', but no such", "no folder of that name"):
        assert reason in errors


def test_documents_alone_lack_references(corpus: Path) -> None:
    lines = list(duc_topics(all_files(corpus / "docs")))
    assert [(line.value["id"], line.value["status"]) for line in lines] == [
        (n, "error") for n in ("AP1", "AP2", "APW7")
    ]


def test_an_empty_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("<SUM")
    (line,) = duc_topics([tmp_path / "x"])
    assert "no complete <DOC>" in (line.error or "")


def test_sgml_is_recognised(corpus: Path) -> None:
    assert is_duc_file(corpus / "docs" / "d061j" / "AP1")
    assert is_sgml(b"\xef\xbb\xbf\n<?xml version='1.0'?>\n<doc id=1>")
    assert not is_sgml(b"<html>")
    assert not is_sgml(b'{"id": 1}')
    assert not is_duc_file(corpus / "nothing")


@pytest.mark.parametrize(
    "text",
    [
        "<doc>" * 100_000, "<text>" * 100_000, "<a<a<a" * 300_000, "<sum " * 300_000, "<head>" * 100_000,
        "<docno>" + " " * 1_000_000, "<sum " + "a" * 1_000_000, "<sum " + "id=1 " * 100_000 + ">",
        "<a " + "id=1 " * 200_000, "<a id=1>" * 50_000, "<doc><text>" + "\n " * 500_000,
    ],
)  # fmt: skip
def test_damaged_files_are_read_in_time(text: str) -> None:
    began = time.process_time()
    list(parse_documents(text))
    list(parse_summaries(text))
    summary_of_name("D1.M.100.T.A", text)
    assert time.process_time() - began < 20


def test_summaries_of_systems_are_no_references(corpus: Path, caplog: pytest.LogCaptureFixture) -> None:
    """NIST gives out peers, whose authors are numbers, beside the models."""
    (corpus / "peers").mkdir()
    (corpus / "peers" / "D30001.M.100.T.17").write_text("It sat.")
    (corpus / "peers" / "d061").write_text(
        '<SUM DOCSET="d061" TYPE="PERDOC" SIZE="100" DOCREF="AP1" SUMMARIZER="3">It sat.</SUM>'
    )
    reading = Reading(notes=Notes())
    authors = {line.value["id"]: line.value["meta"]["authors"] for line in duc_topics(all_files(corpus), reading)}
    assert authors["D30001"] == authors["AP1"] == ["A", "B"]
    assert "authors are numbers (2, such as 17 of D30001)" in caplog.text


def test_authors_of_references_may_all_be_numbers(tmp_path: Path) -> None:
    text = (
        "<DOC><DOCNO>d1</DOCNO><TEXT><P>It sat.</P></TEXT></DOC>"
        "<SUM TYPE=PERDOC DOCREF=d1 SUMMARIZER=1>It sat.</SUM><SUM TYPE=PERDOC DOCREF=d1 SUMMARIZER=2>It ran.</SUM>"
    )
    (tmp_path / "d1.sgml").write_text(text)
    (line,) = duc_topics([tmp_path / "d1.sgml"])
    assert line.value["meta"]["authors"] == ["1", "2"]


def test_a_backup_of_a_summary_is_no_reference(corpus: Path) -> None:
    (corpus / "models" / "D30001.M.100.T.A.bak").write_text("It sat.")
    (corpus / "models" / "D30001.M.100.T.C.txt").write_text("It sat.")
    lines = list(duc_topics(all_files(corpus)))
    (bad,) = (line for line in lines if line.error is not None)
    assert "has 'bak' after the author" in (bad.error or "")
    assert [line.value["meta"]["authors"] for line in lines if (line.value or {}).get("id") == "D30001"] == [
        list("ABC")
    ]


def test_unmarked_text_beside_marked_sentences_is_split() -> None:
    text = "<DOC><DOCNO>A</DOCNO><TEXT>Unmarked one. Too. <s>Marked. Two.</s> Tail three. <S>Four.</S></TEXT></DOC>"
    (document,) = parse_documents(text)
    assert document.sentences == ("Unmarked one.", "Too.", "Marked. Two.", "Tail three.", "Four.")
