"""Run studies on document sets of DUC with model summaries in their original SGML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import optsum
from optsum.cli import main

SETS = {"d1": ["AP1", "AP2"], "d2": ["AP3"]}
SENTENCES = [
    "The ferry reached {0} harbour.",
    "A storm sank {0} boats.",
    "Nobody of {0} was hurt.",
    "Insurers of {0} pay.",
]
DOCUMENT = b"""<DOC>
<DOCNO>%s</DOCNO>
<DATE>04/24/90</DATE>
<HEADLINE>
<S HSNTNO="1">Ferry in a Storm</S>
<S HSNTNO="2">By J. DOE</S>
<S HSNTNO="4">SANTA MONICA, Calif. (AP)</S>
</HEADLINE>
<TEXT>
%s</TEXT>
</DOC>
"""
"""As Figure 1 of Lin & Hovy 2003: sentences are numbered, and go over several lines."""
SENTENCE = b'<S SNTNO="%d">%s\n%s</S>\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a folder of two sets; three people summarized each document, and two each set as a whole."""
    for folder, names in SETS.items():
        (tmp_path / "docs" / folder).mkdir(parents=True)
        for name in names:
            sentences = (text.format(name).rsplit(" ", 1) for text in SENTENCES)
            body = b"".join(SENTENCE % (n, *map(str.encode, parts)) for n, parts in enumerate(sentences, 1))
            (tmp_path / "docs" / folder / name).write_bytes(DOCUMENT % (name.encode(), body))
        (tmp_path / "models" / folder).mkdir(parents=True)
        people = {"A": (0, 1), "B": (1, 2), "C": (1,)}
        for who, chosen in people.items():
            summaries = [
                f'<SUM DOCSET="{folder}" TYPE="PERDOC" SIZE="100" DOCREF="{name}" SUMMARIZER="{who}">'
                f"{' '.join(SENTENCES[unit].format(name) for unit in chosen)}</SUM>"
                for name in names
            ]
            if who != "C":
                text = " ".join(SENTENCES[unit].format(names[0]) for unit in chosen)
                summaries.append(
                    f'<SUM DOCSET="{folder}" TYPE="MULTI" SIZE="100" DOCREF="{folder}" SUMMARIZER="{who}">{text}</SUM>'
                )
            (tmp_path / "models" / folder / f"summaries.{who}").write_text("\n".join(summaries))
    return tmp_path


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_study_of_hirao_runs_on_sets(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = corpus / "out.jsonl"
    assert main(["study", "hirao", str(corpus), "--max-length", "10", "-o", str(out)]) == 0
    rows = rows_of(out)
    sizes = {
        row["id"]: (row["documents"], row["sentences"], row["references"]) for row in rows if row["kind"] == "topic"
    }
    assert sizes == {"AP1": (1, 4, 3), "AP2": (1, 4, 3), "AP3": (1, 4, 3), "d1": (2, 8, 2), "d2": (1, 4, 2)}
    shown = capsys.readouterr().out
    assert "5 topics" in shown
    # The document's storm is in all three summaries, so the extract with it and one other has the most words.
    oracle = next(row for row in rows if row["id"] == "AP1" and row["kind"] == "problem" and row["metric"] == "rouge-1")
    assert oracle["complete"]
    assert all(1 in drawn for drawn in oracle["draws"])  # type: ignore[attr-defined]


def test_the_study_of_lin_hovy_runs_on_documents(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = corpus / "out.jsonl"
    assert main(["study", "lin-hovy", str(corpus), "-o", str(out)]) == 0
    documents = {row["id"]: row for row in rows_of(out) if row["kind"] == "document"}
    assert set(documents) == {"AP1", "AP2", "AP3", "d1", "d2"}
    # C's only sentence is in A's and B's summaries, so others agree on it.
    assert (documents["AP1"]["MaxH"], documents["AP1"]["reference"]) == (1.0, 2)
    assert documents["AP1"]["FT"] == 1.0
    assert "MaxH" in capsys.readouterr().out


def test_the_study_of_akhmetov_runs_on_documents(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = corpus / "out.jsonl"
    assert main(["study", "akhmetov", str(corpus), "--exact", "exhaustive", "-o", str(out)]) == 0
    rows = rows_of(out)
    sizes = {row["id"]: (row["sentences"], row["words"]) for row in rows if row["kind"] == "topic"}
    words = sum(len(text.split()) for text in SENTENCES)
    assert sizes == {"AP1": (4, words), "AP2": (4, words), "AP3": (4, words), "d1": (8, 2 * words), "d2": (4, words)}
    assert len([row for row in rows if row["kind"] == "found"]) == 5 * 6 * 2
    # Headlines are not part of the text, nor line ends of sentences: two people wrote exactly these sentences.
    optimum = {(row["id"], row["metric"]): row for row in rows if row.get("method") == "Optimum"}
    assert optimum["d1", "rouge-1"]["proven"]
    assert 1 in optimum["d1", "rouge-1"]["selection"]
    assert "5 topics; whole texts" in capsys.readouterr().out


def test_sgml_gives_the_same_results_as_json(corpus: Path, tmp_path: Path) -> None:
    """Compare every number of all three studies."""
    topics = [
        {
            "id": name,
            "documents": [[text.format(name) for text in SENTENCES]],
            "references": [[SENTENCES[unit].format(name) for unit in chosen] for chosen in ((0, 1), (1, 2), (1,))],
        }
        for name in ("AP1", "AP2", "AP3")
    ]
    for study, options in (("hirao", {"max_length": 10}), ("lin-hovy", {}), ("akhmetov", {"exact": "exhaustive"})):
        of = {}
        for given in (corpus, topics):
            rows = optsum.study(study, given, **options).to_rows()
            of[given is topics] = [
                {name: value for name, value in row.items() if "seconds" not in name}
                for row in rows
                if str(row["id"]).startswith("AP")
            ]
        assert of[True] == of[False]
        assert len(of[True]) >= 3
