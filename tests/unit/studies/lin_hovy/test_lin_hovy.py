"""Compare the study of Lin & Hovy 2003 (agreement, windows, systems, figures) with values by hand."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon

import optsum
from optsum.studies.lin_hovy import DIFFERENCES, LinHovyStudy, linear_trend

NEWS = Path(__file__).resolve().parents[4] / "examples" / "data" / "news.jsonl"

W = [f"w{number}" for number in range(60)]
TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [
        [" ".join(W[:20]), " ".join(W[20:40]), " ".join(W[40:]), " ".join(W[:40]), ("x " * 15).strip()],
    ],
    "references": [[" ".join(W[:4])], [" ".join(W[2:4])], ["w2 w2 y y"]],
}


def study_lin_hovy(topics: Any, systems: Any = (), **options: Any) -> LinHovyStudy:
    return LinHovyStudy(**options).reads(systems).run(topics)


def news() -> list[optsum.Topic]:
    if not NEWS.exists():
        pytest.skip("the source tree is not beside the tests")
    return [topic for topic in optsum.read_topics(NEWS) if isinstance(topic, optsum.Topic)][:4]


def test_agreement_and_windows_by_hand() -> None:
    """Check the agreement of three humans, and the reference with which others agree best."""
    long = {**TOPIC, "id": "long", "documents": [*TOPIC["documents"], ["a"] * 26]}
    study = study_lin_hovy([TOPIC, long])
    row, other = study.of("document")
    # With reference 0 (w0-w3): 2/4 and 1/4; 1 (w2 w3): 2/2 and 1/2; 2 (w2 w2 y y): 1/4 and 1/4.
    assert (row["MaxH"], row["MinH"], row["MedH"], row["reference"]) == (1.0, 0.25, 0.375, 1)
    assert row["AvgH"] == pytest.approx((0.5 + 0.25 + 1 + 0.5 + 0.25 + 0.25) / 6)
    # 95 to 105 words: 20+20+20+40, or two short ones with 40+15; w2 and w3 are in the first and the fourth.
    assert (row["E100"], row["extracts_E100"], row["E150"], row["FT"]) == (1.0, 4, None, 1.0)
    assert row["extracts_E150"] == 0
    chosen = row["selection_E100"]
    assert row["summary_E100"] == [TOPIC["documents"][0][unit] for unit in chosen]
    assert 95 <= row["words_E100"] == sum(len(text.split()) for text in row["summary_E100"]) <= 105
    # The lead has 20 + 20 + 20 + 40 words; the next sentence would exceed 100.
    assert (row["B1"], row["words_B1"]) == (1.0, 100)
    assert row["reference_text"] == TOPIC["references"][1]
    # A document too long for exhaustive search has all other values.
    assert other["too_long"]
    assert (other["E100"], other["FT"], other["MaxH"], other["B1"]) == (None, 1.0, 1.0, 1.0)
    assert "E150, E100 of 1 document of more than 30 sentences" in str(study)
    shown = {line[0]: line[1:] for line in study.scores().rows}
    assert (shown["E100"][0], shown["MaxH"][0]) == ("1.000 (1)", "1.000")


def test_one_summary_is_longer_than_the_limit_of_extracts() -> None:
    study = study_lin_hovy([{**TOPIC, "references": [*TOPIC["references"], ["w2 " * 106]]}])
    assert "Human summaries are not cut: 1 of 4 is longer than the limit of E100." in study.scores().caption


def test_the_lead_has_100_words_at_most() -> None:
    topic = {"id": "t", "documents": [["a b " * 24, "c d " * 25, "e f g"]], "references": [["a c e g"]]}
    (row,) = study_lin_hovy([topic]).of("document")
    assert (row["words_B1"], row["B1"]) == (98, 0.5)


def test_systems_are_scored_against_the_agreed_reference() -> None:
    systems = [
        {"topic_id": "t", "system": "mine", "summary": ["w3 w9"]},
        {"topic_id": "t", "system": "h", "human": {"a": 1}},
    ]
    study = study_lin_hovy([TOPIC], systems)
    assert [(row["system"], row["score"], row["words"]) for row in study.of("system")] == [("mine", 0.5, 2)]
    assert "system 'h': there are human scores, but no summary" in study.errors[0]
    assert {line[0]: line[1] for line in study.scores().rows}["T: mine"] == "0.500"


@pytest.mark.parametrize("window", ["100", "150"])
def test_the_preset_is_the_study(window: str) -> None:
    given = [TOPIC, *news()]
    rows = study_lin_hovy(given, max_sentences=1000).of("document")
    for topic, row in zip(given, rows, strict=True):
        result = optsum.solve(topic, preset=f"lin-hovy-{window}", strategy="exhaustive")
        assert result.objective == row[f"E{window}"]
        assert list(result.selection or ()) == row.get(f"selection_E{window}", [])
    system = {"topic_id": "t", "system": "mine", "summary": ["w3 w9"]}
    (scored,) = optsum.score([TOPIC], [system], preset=f"lin-hovy-{window}").rows
    assert scored.rouge["rouge-1"]["recall"] == 0.5


def test_exhaustive_and_branch_and_bound_agree() -> None:
    given = news()
    rows, others = (
        optsum.study("lin-hovy", given, strategy=strategy).of("document")
        for strategy in ("exhaustive", "branch-and-bound")
    )
    assert rows
    for row, other in zip(rows, others, strict=True):
        assert (row["E100"], row["E150"]) == (other["E100"], other["E150"])
        assert row["E100"] is None or row["E100"] <= row["FT"]


def test_figures_are_the_rows() -> None:
    better = {
        **TOPIC,
        "id": "u",
        "references": [["w0 w1", "w2"], ["w0 w1 w2"]],
        "documents": [*TOPIC["documents"], ["w50"]],
    }
    worse = {**TOPIC, "id": "v", "references": [["w0 w1 w2 z"], ["w0 y"], ["q"]]}
    system = [{"topic_id": name, "system": "mine", "summary": ["w0"]} for name in "tuv"]
    study = study_lin_hovy([TOPIC, worse, better], system)
    figures = {figure.name: figure for figure in study.figures()}
    rows = {row["id"]: row for row in study.of("document")}
    order = ["t", "u", "v"]
    assert [rows[name]["MaxH"] for name in order] == [1.0, 1.0, 0.5]
    curves = {one.name: one for one in figures["figure-4"].series}
    for name in ("MaxH", "AvgH", "MedH", "MinH"):
        assert list(curves[name].y) == [rows[row][name] for row in order]
    of_five = {one.name: list(one.y) for one in figures["figure-5"].series}
    assert set(of_five) == {"FT", "E100", "MaxH", "T: mine", "B1"}, "no extract has 145 to 155 words"
    assert len(figures["figure-6"].series[0].y) == 2
    assert "figure-7" not in figures
    assert len(figures["figure-8"].series[0].y) == 1
    last = {one.name: list(one.y) for one in figures["figure-9"].series}
    ratios = {name: [1 - words / rows[name]["words"] for words in rows[name]["reference_words"]] for name in order}
    by_ratio = sorted(order, key=lambda name: ratios[name][0])
    assert last["CMPR H1"] == pytest.approx([ratios[name][0] for name in by_ratio])
    assert [None if value is None else round(value, 9) for value in last["CMPR H3"]] == [
        round(ratios[name][2], 9) if len(ratios[name]) > 2 else None for name in by_ratio
    ]
    values = [rows[name]["MaxH"] for name in by_ratio]
    assert last["Linear MaxH"] == pytest.approx(np.poly1d(np.polyfit(range(3), values, 1))(range(3)))
    assert "Linear FT" not in last


def test_trends_by_hand() -> None:
    assert linear_trend([1.0, None, 2.0]) == pytest.approx([1.0, 1.5, 2.0])
    assert linear_trend([1.0]) == []


def test_common_documents_and_differences() -> None:
    """Check that means in a column use the same documents, and differences the documents that have both values."""
    given = news()
    long = {**TOPIC, "id": "long", "documents": [*TOPIC["documents"], ["a"] * 26]}
    systems = [{"topic_id": topic.id, "system": "mine", "summary": list(topic.sentences)} for topic in given]
    study = study_lin_hovy([TOPIC, long, *given], systems, strategy="branch-and-bound")
    documents = study.documents()
    methods = study.methods()
    common = [row for row in documents if all(row.get(name) is not None for name in methods)]
    assert {"FT", "E150", "E100", "MaxH", "B1", "T: mine"} <= set(methods)
    assert 0 < len(common) < len(documents)
    table = study.scores()
    headings = [column.heading for column in table.columns]
    place = headings.index(f"all, common ({len(common)})")
    for row in table.rows:
        assert row[place] == f"{fmean(one[row[0]] for one in common):.3f}"
    shown = {row[0]: row[1:4] for row in study.differences().rows}
    for one, other in (*DIFFERENCES, ("MaxH", "T: mine"), ("T: mine", "B1")):
        both = [(row[one], row[other]) for row in documents if None not in (row.get(one), row.get(other))]
        assert shown[f"{one} - {other}"][:2] == [f"{fmean(x - y for x, y in both):+.3f}", str(len(both))]
    assert shown["FT - E150"][2] == "-" or float(shown["FT - E150"][2]) <= 1
    # Systems are cut to the length of the shorter extracts.
    (row,) = [row for row in study.of("system") if row["id"] == given[0].id]
    assert row["words"] > 105
    (whole,) = study_lin_hovy(given[:1], systems[:1], max_words=0).of("system")
    (document,) = [row for row in study.of("document") if row["id"] == given[0].id]
    assert whole["score"] == document["FT"] > row["score"]


def test_each_set_is_on_its_own_documents_and_tests_are_wilcoxons() -> None:
    rows = [
        {"kind": "document", "id": str(n), "too_long": False, "unproven": [],
         **dict.fromkeys(("FT", "E150", "E100", "B1"), 0.9),
         "MaxH": 0.5 + 0.02 * n, "AvgH": 0.4 + 0.01 * n, "MedH": 0.4, "MinH": 0.1}
        for n in range(20)
    ]  # fmt: skip
    study = LinHovyStudy()
    study.rows += rows
    groups = study.groups()
    assert [len(groups[name]) for name in groups if "common" not in name] == [20, 10, 5, 5]
    table = study.differences()
    headings = [column.heading for column in table.columns]
    place = headings.index("A: MaxH >= .70")
    (line,) = (row for row in table.rows if row[0] == "MaxH - AvgH")
    apart = [row["MaxH"] - row["AvgH"] for row in rows]
    assert line[place : place + 3] == [f"{fmean(apart[10:]):+.3f}", "10", f"{wilcoxon(apart[10:]).pvalue:.2g}"]


def test_units_of_the_model_may_be_clauses() -> None:
    """Test a reference given in clauses, such as Marcu's elementary discourse units, which is clipped by clause."""
    sentences = {"id": "t", "documents": [["a b"]], "references": [["a b a c"]]}
    clauses = {**sentences, "references": [["a b", "a c"]]}
    preset = {"preset": "lin-hovy-100", "min_length": 0}
    assert optsum.solve(sentences, **preset).objective == 0.5
    assert optsum.solve(clauses, **preset).objective == 0.75
    units = {**clauses, "documents": [["a b", "because c"]]}  # clauses are units of extraction as well
    assert optsum.solve(units, **preset).selection == (0, 1)


def test_which_summary_of_the_best_pair_is_the_reference() -> None:
    """Test a first summary with both words of the second, which has two of the first's four."""
    topic = {"id": "t", "documents": [["a b c d"]], "references": [["a b c d"], ["a b"]]}
    rows = [study_lin_hovy([topic], reference=which).of("document")[0] for which in ("model", "summary")]
    assert [(row["reference"], row["MaxH"]) for row in rows] == [(1, 1), (0, 1)]


def test_a_reference_may_be_one_unit() -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a b", "a c"]]}
    full = [study_lin_hovy([topic], model_units=units).of("document")[0]["FT"] for units in ("sentences", "whole")]
    assert full == [3 / 4, 2 / 4]
