"""The studies of Akhmetov et al. 2022 and Hirao et al. 2017: tables that follow from results by hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from statistics import fmean

import pytest

import optsum
from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.topic import BadTopic
from optsum.report.statistics import quantiles, spread_of
from optsum.studies.akhmetov import METHODS, METRICS, AkhmetovStudy
from optsum.studies.hirao import study_hirao

NEWS = Path(__file__).resolve().parents[2] / "examples" / "data" / "news.jsonl"

TIES = {
    "id": "ties",
    "documents": [["alpha beta", "beta gamma", "alpha gamma", "delta"]],
    "references": [["alpha beta gamma"], ["delta gamma"]],
}


def topics() -> list[optsum.Topic]:
    if not NEWS.exists():
        pytest.skip("the source tree is not beside the tests")
    return [topic for topic in optsum.read_topics(NEWS) if isinstance(topic, optsum.Topic)][:4]


def test_spread_by_hand() -> None:
    found = spread_of([1.0, 2.0, 3.0, 4.0], "z")
    assert found is not None
    assert (found.count, found.mean) == (4, 2.5)
    assert found.std == pytest.approx((5 / 3) ** 0.5)
    assert found.cv == pytest.approx(found.std / 2.5)
    assert found.half_width == pytest.approx(1.96 * found.std / 2)
    assert (found.lower, found.upper) == (2.5 - found.half_width, 2.5 + found.half_width)
    assert spread_of([]) is None
    single = spread_of([0.0])
    assert single is not None
    assert (single.std, single.cv, single.half_width, single.lower) == (0.0, None, None, None)
    assert quantiles([0.0, 1.0, 2.0], [0.0, 0.25, 1.0]) == [0.0, 0.5, 2.0]
    with pytest.raises(ValueError, match="no values"):
        quantiles([], [0.5])


@pytest.mark.parametrize(("count", "reach"), [(2, 12.706), (3, 4.303), (30, 2.045), (1000, 1.962)])
def test_intervals_of_few_numbers_are_students(count: int, reach: float) -> None:
    """The 97.5 % quantile of Student's t as textbooks print it."""
    values = [float(number % 2) for number in range(count)]
    found = spread_of(values)
    assert found is not None
    assert found.half_width == pytest.approx(reach * found.std / count**0.5, rel=1e-3)


def test_the_papers_intervals_are_those_of_1_96() -> None:
    """Akhmetov et al. 2022, Table 4: std .07 over 17,038 articles gives .0011, and .1 gives .0015 (Table 5)."""
    for std, printed in ((0.07, 0.0011), (0.08, 0.0012), (0.10, 0.0015)):
        assert round(1.96 * std / 17038**0.5, 4) == printed


def test_akhmetov_agrees_with_single_runs() -> None:
    given = topics()
    study = optsum.study("akhmetov", given, exact="branch-and-bound", seed=3)
    rows = {(row["strategy"], row["metric"]): row for row in study.to_rows()}
    assert {strategy for strategy, _ in rows} == {*METHODS, "branch-and-bound"}
    for strategy in ("vns-paper", "branch-and-bound"):
        for metric, boundaries in (("rouge-1", "sentence"), ("rouge-2", "joined")):
            options = {"preset": "akhmetov", "metric": metric, "boundaries": boundaries}
            results = list(optsum.solve_all(given, strategy=strategy, seed=3, **options))
            scores = [result.rouge[metric]["f1"] for result in results if result.rouge]
            assert rows[strategy, metric]["mean"] == pytest.approx(fmean(scores))
            sizes = [len(result.selection or ()) for result in results]
            assert rows[strategy, metric]["mean_sentences"] == fmean(sizes)
    for metric in METRICS:
        best = rows["branch-and-bound", metric]["mean"]
        assert all(row["mean"] <= best for (_, other), row in rows.items() if other == metric)
    text = str(study)
    assert "Table 2" in text
    assert "Genetic_Greedy" in text
    assert text.count("CI lower") == 2
    assert text.count("Student's t") == 2
    assert str(optsum.study("akhmetov", given[:1], exact="none", interval="z")).count("Z = 1.96") == 2


BIGRAMS = {
    "id": "bigrams",
    "documents": [["d c b a", "x a b", "c d y z w"]],
    "references": [["a b c d"]],
}
"""The best extract of ROUGE-1 has no bigram of the reference; the other two have, one across their ends."""


@pytest.mark.parametrize(("counts", "best"), [("clipped", 2 * 3 / (3 + 7)), ("set", 2 * 2 / (3 + 6))])
def test_each_metric_has_an_optimum_of_its_own(counts: str, best: float) -> None:
    study = optsum.study("akhmetov", [BIGRAMS], counts=counts, exact="exhaustive")
    rows = {(row["strategy"], row["metric"]): row["mean"] for row in study.to_rows()}
    assert rows["exhaustive", "rouge-1"] == 1
    assert rows["exhaustive", "rouge-2"] == pytest.approx(best)
    assert all(value <= rows["exhaustive", metric] for (_, metric), value in rows.items())


def test_what_is_not_proven_is_the_best_that_any_method_found() -> None:
    def result(strategy: str, objective: float) -> Result:
        return Result(
            strategy=strategy,
            status=Status.FEASIBLE,
            termination=Termination.TIME_LIMIT,
            objective=objective,
            selection=(0,),
        )

    study = AkhmetovStudy("branch-and-bound")
    found = [result("branch-and-bound", 0.25), result("greedy-rows", 0.5)]
    study.add({"rouge-1": found, "rouge-2": found})
    rows = {(row["strategy"], row["metric"]): row["mean"] for row in study.to_rows()}
    assert rows["branch-and-bound", "rouge-2"] == rows["greedy-rows", "rouge-2"] == 0.5
    assert "The optimum of 1 topic is not proven (rouge-2): the best that any method found." in str(study)


def test_akhmetov_filters_and_reports_what_it_cannot_use() -> None:
    long = {"id": "long", "documents": [["a b"]], "references": [["a"] * 12]}
    fit = {"id": "fit", "documents": [["a b c d"] * 20], "references": [["a b"] * 12]}
    few = {"id": "few", "documents": [["a b c d"] * 20], "references": [["a b"] * 3]}
    bad = BadTopic("", "x.jsonl:4", "it is no JSON")
    study = optsum.study("akhmetov", [long, fit, few, bad], paper_filter=True, exact="none")
    assert study.to_rows()[0]["count"] == 1
    assert "2 topics left out" in str(study)
    assert list(study.errors) == ["x.jsonl:4: it is no JSON"]
    wider = optsum.study("akhmetov", [few], paper_filter=True, min_abstract=2, exact="none")
    assert wider.to_rows()[0]["count"] == 1


def test_akhmetov_plots(tmp_path: Path) -> None:
    if os.environ.get("CI") != "true":  # there it is installed, and a skip would hide that it is not
        pytest.importorskip("plotly")
    page = tmp_path / "figure.html"
    optsum.study("akhmetov", topics()[:2], exact="none", plot=str(page))
    assert "VNS_Greedy" in page.read_text(encoding="utf-8")
    with pytest.raises(optsum.OptsumError, match="cannot be written"):
        optsum.study("akhmetov", topics()[:1], exact="none", plot=str(tmp_path / "no" / "figure.html"))


def unread() -> Iterator[optsum.Topic]:
    raise AssertionError("a topic was read before the plot was refused")
    yield


def test_a_plot_that_cannot_be_made_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(optsum.OptsumError, match="cannot be written"):
        optsum.study("akhmetov", unread(), plot=str(tmp_path))
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(optsum.OptsumError, match=r"optsum\[report\]"):
        optsum.study("akhmetov", unread(), plot=str(tmp_path / "figure.html"))
    assert not list(tmp_path.iterdir())


def test_hirao_by_hand() -> None:
    """Of 4 words at most: all references hold 5 words, and "beta gamma"+"delta" has 4 of them, twice "gamma"."""
    study = study_hirao([TIES], max_length=3)
    (multi,) = study.of("rouge-1", "multi")
    # alpha gamma delta and beta gamma delta: 1 + 2 + 1 of 5.
    assert (multi.oracle, multi.count) == (Fraction(4, 5), 2)
    assert multi.greedy == Fraction(4, 5)
    assert multi.among == Fraction(1, 3)
    assert multi.jaccard == (1 + Fraction(1, 3)) / 2
    first, second = study.of("rouge-1", "single")
    assert (first.id, second.id) == ("ties#0", "ties#1")
    assert (first.oracle, second.oracle) == (Fraction(2, 3), 1)
    assert all(name in str(study) for name in ("Table 2", "Table 4", "Table 5", "Table 7"))


def test_hirao_agrees_with_enumeration() -> None:
    given = topics()
    study = study_hirao(given, max_length=50)
    assert not study.errors
    for topic, one in zip(given, study.of("rouge-2", "multi"), strict=True):
        oracles = optsum.enumerate_optima(topic, preset="hirao-r2", max_length=50)
        greedy = optsum.solve(topic, preset="hirao-r2", max_length=50, strategy="greedy")
        assert (one.count, one.feasible) == (oracles.count, oracles.feasible())
        assert one.greedy == Fraction(greedy.objective_exact or 0) <= one.oracle
        chosen = set(greedy.selection or ())
        by_hand = [Fraction(len(chosen & set(oracle)), len(chosen | set(oracle))) for oracle in oracles]
        assert one.jaccard == sum(by_hand) / len(by_hand)


def test_hirao_names_what_it_cannot_use() -> None:
    study = study_hirao([BadTopic("", "x:1", "no JSON"), {"id": "c", "cover": [[["s1"]]]}, TIES], max_length=3)
    assert len(study.errors) == 2
    assert "no reference" in study.errors[1]
    assert study.compared


def test_lin_hovy_by_hand() -> None:
    """Agreement of three humans, and the reference with which another agrees best."""
    words = [f"w{number}" for number in range(60)]
    sentences = [" ".join(words[first : first + 20]) for first in (0, 20, 40)] + [" ".join(words[:40])]
    topic = {
        "id": "t",
        "documents": [[*sentences, "x " * 15]],
        "references": [[" ".join(words[:4])], [" ".join(words[2:4])], ["w2 w2 y y"]],
    }
    study = optsum.study("lin-hovy", [topic, {**topic, "id": "long", "documents": [["a"] * 31]}])
    (row,) = study.to_rows()
    # Against model 0 (w0-w3): 2/4 and 1/4; model 1 (w2 w3): 2/2 and 1/2; model 2 (w2 w2 y y): 1/4 and 1/4.
    assert (row["MaxH"], row["MinH"], row["MedH"]) == (1.0, 0.25, 0.375)
    assert row["AvgH"] == pytest.approx((0.5 + 0.25 + 1 + 0.5 + 0.25 + 0.25) / 6)
    # 95 to 105 words: 20+20+20+40, and two of the short ones with 40+15; w2 and w3 are in the first and the fourth.
    assert (row["E100"], row["extracts_E100"], row["E150"], row["FT"]) == (1.0, 4, None, 1.0)
    assert row["extracts_E150"] == 0
    assert row["lead"] == 1.0
    assert "1 document left out" in str(study)


def test_lin_hovy_exhaustive_and_branch_and_bound_agree() -> None:
    given = topics()
    rows = optsum.study("lin-hovy", given).to_rows()
    others = optsum.study("lin-hovy", given, strategy="branch-and-bound").to_rows()
    assert rows
    for row, other in zip(rows, others, strict=True):
        assert (row["E100"], row["E150"]) == (other["E100"], other["E150"])
        assert row["E100"] is None or row["E100"] <= row["FT"]
