"""Test nuggets in the formats of retrieval evaluations, which become topics of claims with a budget."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.cli import main


def passage(qid: str, docid: str, text: str, *assigned: str, importance: str = "vvo") -> dict[str, Any]:
    """Return a line of the nuggetizer: a passage with its assignment to each nugget."""
    worth, said = {"v": "vital", "o": "okay"}, {"+": "support", "~": "partial_support", "-": "not_support"}
    nuggets = [
        {"text": f"nugget {number}", "importance": worth[each], "assignment": said.get(sign, sign)}
        for number, (each, sign) in enumerate(zip(importance, assigned, strict=True))
    ]
    return {"text": "a question", "qid": qid, "candidate_text": text, "docid": docid, "nuggets": nuggets}


LINES = [
    passage("q1", "d1", "One sentence. And another.", *"+--"),
    passage("q1", "d2", "Three words here.", *"~+-"),
    passage("q1", "d3", "Few words.", *"--+"),
    passage("q2", "d1", "One passage.", *"+", importance="o"),
]


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_lines_of_the_nuggetizer_become_topics(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    first, second = optsum.read_topics(write(tmp_path / "n.jsonl", LINES))
    assert first.documents == (("One sentence. And another.", "Three words here.", "Few words."),)
    assert first.cover == ((("d1",),), (("d2",),), (("d3",),))
    assert (first.id, list(map(float, first.weights or ()))) == ("q1", [1, 1, 0.5])
    assert first.references == (("nugget 0", "nugget 1", "nugget 2"),)
    assert (second.id, second.cover) == ("q2", ((("d1",),),))
    assert len([said for said in caplog.messages if "okay nuggets count half" in said]) == 1
    found = optsum.solve(first, formulation="cover", max_length=7)
    assert (found.selection, found.numerator, found.denominator, found.missed) == (("d1", "d2"), 4, 5, [2])


def test_every_command_reads_compressed_nuggets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "n.jsonl.gz"
    file.write_bytes(gzip.compress(write(tmp_path / "n.jsonl", LINES).read_bytes()))
    assert main(["context", str(file), "--max-length", "5"]) == 0
    shown = capsys.readouterr()
    assert next(line.split()[:6] for line in shown.out.splitlines() if line.startswith("q1")) == [
        "q1",
        "5",
        "5",
        "5",
        "3",
        "3",
    ]
    assert "okay nuggets count half as much" in shown.err


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ([*LINES, LINES[0]], "its lines are in several places"),
        ([LINES[0], passage("q1", "d2", "x", *"+-", importance="vv")], "has other nuggets than the first"),
        ([passage("q1", "d1", "x", "failed", importance="v")], "the assignment 'failed' is not one of"),
        ([passage("q1", "d1", "x", "+", importance="v"), "{broken\n"], "not JSON"),
        ([{**LINES[0], "nuggets": ["text alone"]}], "nuggets are objects with"),
        ([{"qid": "q", "nuggets": [{"text": "a", "importance": "vital"}]}], "not which passages support them"),
        ([{"topic_id": "q", "query": "x", "nuggets": ["a", "b"]}], "not which passages support them"),
        ([{"qid": "q", "answer_text": "x", "nuggets": LINES[0]["nuggets"]}], "not which passages support them"),
    ],
)
def test_an_error_names_its_question(tmp_path: Path, lines: list[Any], wrong: str) -> None:
    found = list(optsum.read_topics(write(tmp_path / "n.jsonl", lines), bad="keep"))
    (bad,) = [each for each in found if isinstance(each, optsum.BadTopic)]
    assert wrong in bad.error


def test_judgments_of_nuggets_become_topics(tmp_path: Path) -> None:
    """Test lines of question, nugget, passage and judgment, as in CoverageBench and the diversity tasks of TREC."""
    file = write(tmp_path / "b.qrels", ["7 1 da 1\n7 2 da 0\n7 2 db 1\n", "7 3 dc 0\n8 1 da 1\n8 1 db 2\n"])
    first, second = optsum.read_topics(file)
    assert (first.cover, first.meta["abstract_ids"]) == (((("da",),), (("db",),), ()), ["1", "2", "3"])
    assert second.cover == ((("da",), ("db",)),)
    found = optsum.context(first, max_length=2, length_unit="sentences")
    assert (found.selection, found.missed, found.numerator) == (("da", "db"), ["3"], 2)
    packed = [{"topic_id": "7", "system": "x", "selection": ["zz", "db"]}]
    row = optsum.score(file, packed, formulation="cover", max_length=2, length_unit="sentences").rows[0]
    assert (row.claims["length"], row.claims["gap"]) == (2, 0.5)


def test_a_table_of_numbers_is_no_file_of_judgments(tmp_path: Path) -> None:
    (table,) = optsum.read_topics(write(tmp_path / "t.txt", ["1 3 7 12\n2 4 5 6\n"]))
    assert table.cover == (((3,), (7,), (12,)), ((4,), (5,), (6,)))


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["1 0 da 1\n1 0 db 0\n"], "judgments of whole questions"),
        (["1 Q0 da 1\n1 Q0 db 0\n"], "judgments of whole questions"),
        (["1.1 1 vital He was born in 1932\n1.1 2 okay He died\n"], "not which passages support them"),
    ],
)
def test_files_without_what_is_needed_are_refused_at_once(tmp_path: Path, lines: list[str], wrong: str) -> None:
    with pytest.raises(optsum.InputError, match=wrong):
        optsum.read_topics(write(tmp_path / "x.txt", lines))


def test_a_broken_judgment_costs_the_others_nothing(tmp_path: Path) -> None:
    lines = ["7 1 da 1\n7 2 da 0\n", *(f"8 {number} da 1\n" for number in range(2000)), "9 1 da\n"]
    *good, bad = optsum.read_topics(write(tmp_path / "b.qrels", lines), bad="keep")
    assert [topic.id for topic in good] == ["7", "8"]
    assert isinstance(bad, optsum.BadTopic)
    assert "this is not a judgment" in bad.error


def test_a_record_whose_nuggets_name_their_passages_is_read() -> None:
    nuggets = [
        {"_id": "n1", "text": "a", "relevant_corpus_ids": ["d1", "d2"]},
        {"_id": "n2", "text": "b", "relevant_corpus_ids": ["d2"], "non_relevant_corpus_ids": ["d1"]},
        {"_id": "n3", "text": "c", "relevant_corpus_ids": []},
    ]
    record = {"query_id": 7, "query_text": "a question", "nuggets": nuggets}
    (found,) = optsum.solve_all([record], formulation="cover", max_length=1, length_unit="sentences")
    assert (found.id, found.selection, found.numerator, found.missed) == ("7", ("d2",), 2, ["n3"])
