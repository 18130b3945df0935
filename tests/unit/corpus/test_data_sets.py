"""Test the commands of docs/how-to/data-sets.md on small rows of the form of each public data set."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from optsum.cli import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "data-sets.md"
COMMANDS = (
    {shlex.split(line)[2]: shlex.split(line)[1:] for line in re.findall(r"^optsum .*$", PAGE.read_text(), re.MULTILINE)}
    if PAGE.is_file()
    else {}
)

ROWS: dict[str, tuple[dict[str, Any], list[tuple[str, int]]]] = {
    "cnn_dailymail.jsonl": (
        {"article": "A boat sank. Two swam ashore.", "highlights": "A boat sank\nTwo swam", "id": "c1"},
        [("c1", 2)],
    ),
    "xsum.jsonl": ({"document": "A boat\nsank. Two swam.", "summary": "A boat has sunk.", "id": "7"}, [("7", 2)]),
    "multi_news.jsonl": (
        {"document": "Storm \n \n Boats sank. ||||| Rain NEWLINE_CHAR NEWLINE_CHAR fell.", "summary": "– Rain."},
        [("0", 4)],
    ),
    "samsum.jsonl": ({"id": "s", "dialogue": "Ann: hi\r\nBo: at the pool?\r\nAnn: ok", "summary": "Pool."}, [("s", 3)]),
    "dialogsum.jsonl": (
        {"fname": "train_0", "dialogue": "#Person1#: Hi. You?\n#Person2#: Yes.", "summary": "They meet.", "topic": ""},
        [("train_0", 2)],
    ),
    "scientific_papers.jsonl": (
        {"article": "we study cats .\nthey sleep , e.g. by day .", "abstract": " cats sleep .\n we say so .",
         "section_names": "introduction\nresults"},
        [("0", 2)],
    ),
    "newsroom.jsonl": (
        {"url": "u", "title": "t", "text": "A boat sank.\n\nTwo men swam", "summary": "A boat sank.", "density": 1.5},
        [("0", 2)],
    ),
    "aeslc.jsonl": ({"email_body": "Please\nsend the form. Thanks.", "subject_line": "The form"}, [("0", 2)]),
    "billsum.jsonl": ({"text": "SECTION 1. A bill. It ends.", "summary": "Ends it.", "title": "A bill"}, [("0", 3)]),
    "arxiv.jsonl": (
        {
            "article_id": "1", "article_text": ["we study cats .", "they sleep ."], "abstract_text": ["<S> cats </S>"],
            "labels": None, "section_names": ["introduction"], "sections": [["we study cats .", "they sleep ."]],
        },
        [("1", 2)],
    ),
    "gov_report.jsonl": ({"report": "A report. It is long.", "summary": "A long report."}, [("0", 2)]),
    "scitldr.jsonl": (
        {
            "source": ["We study cats, i.e. pets. They sleep.", "We find that they purr."], "source_labels": [0, 1],
            "rouge_scores": [0.1, 0.5], "paper_id": "p", "target": ["They purr.", "Cats purr. We find so."],
        },
        [("p", 2)],
    ),
    "reddit_tifu.jsonl": (
        {"ups": 5.0, "documents": "I painted my cat. It was blue.", "tldr": "painted cat", "title": "cat"},
        [("0", 2)],
    ),
    "wiki_lingua.jsonl": (
        {
            "url": "u",
            "article": {
                "section_name": ["A", "B"], "document": ["Wash it. Dry it.", "Fill it."], "summary": ["Wash.", "Fill."],
            },
        },
        [("u.0", 2), ("u.1", 1)],
    ),
    "qmsum.jsonl": (
        {
            "meeting_transcripts": [{"speaker": "A", "content": "Hello. Now?"}, {"speaker": "B", "content": "Yes."}],
            "specific_query_list": [{"query": "q", "answer": "They met.", "relevant_text_span": [["0", "1"]]}],
        },
        [("0.0", 3)],
    ),
    "squality.jsonl": (
        {
            "metadata": {"passage_id": "9"}, "document": "It rained. They ran.",
            "questions": [{"question_text": "?", "responses": [{"response_text": "Rain."}, {"response_text": "It."}]}],
        },
        [("9.0", 2)],
    ),
    "big_patent.jsonl": ({"description": "A device. It spins.", "abstract": "A spinning device."}, [("0", 2)]),
    "xlsum.jsonl": (
        {"id": "x", "url": "u", "title": "t", "summary": "La Sra. Díaz habla.", "text": "La Sra. Díaz habla. Llueve."},
        [("x", 2)],
    ),
    "booksum.jsonl": ({"chapter": "He left. She wept.", "summary_text": "He leaves.", "summary_id": "c1"}, [("c1", 2)]),
    "gigaword.jsonl": ({"document": "the deficit rose by #.## billion dollars .", "summary": "deficit up"}, [("0", 1)]),
    "wikihow.csv": ({"headline": "\nWash it.,\nDry it.", "title": "How to", "text": "Wash it. Dry it."}, [("0", 2)]),
    "meeting_bank.jsonl": ({"id": 4, "uid": "m", "transcript": "Hello. We vote.", "summary": "A vote."}, [("4", 2)]),
    "opinosis.jsonl": (
        {"review_sents": "great screen\nbad battery \n", "summaries": ["Good screen.", "Battery is bad."]},
        [("0", 2)],
    ),
}  # fmt: skip
"""A row of each, and the ids and numbers of units of its topics."""


@pytest.mark.skipif(not COMMANDS, reason="the documentation is not beside the tests")
def test_each_command_has_a_row() -> None:
    assert COMMANDS.keys() == ROWS.keys()
    assert len(ROWS) >= 15


@pytest.mark.skipif(not COMMANDS, reason="the documentation is not beside the tests")
@pytest.mark.parametrize("name", ROWS)
def test_the_command_of_a_data_set_reads_its_rows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    row, wanted = ROWS[name]
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)
        else:
            file.write(json.dumps(row) + "\n")
    assert main(COMMANDS[name]) == 0
    out = Path(COMMANDS[name][-1])
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], len(row["labels"])) for row in rows] == wanted
    news = ("choose others with --map", "Compiling kernels")
    doubts = [line for line in capsys.readouterr().err.splitlines() if not any(each in line for each in news)]
    assert doubts == ([] if name != "xsum.jsonl" else doubts)
    assert name != "xsum.jsonl" or "--lines" in doubts[0]
