"""Compare the study of Akhmetov et al. 2022 with single runs, and its tables with values by hand."""

from __future__ import annotations

from importlib.util import find_spec
from math import comb
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import optsum
from optsum.contracts.result import Result, Status
from optsum.corpus.topic import BadTopic, as_topic
from optsum.studies.akhmetov import (
    METHODS,
    METRICS,
    OPTIMUM,
    AkhmetovStudy,
    _found,
    baseline,
    error_analysis,
    features,
    lengths,
    marginal_relevance,
    search_space,
    systems,
    upper_bounds,
)
from optsum.system.clock import Termination

NEWS = Path(__file__).resolve().parents[4] / "examples" / "data" / "news.jsonl"


BIGRAMS = {
    "id": "bigrams",
    "documents": [["d c b a", "x a b", "c d y z w"]],
    "references": [["a b c d"]],
}
"""The best extract of ROUGE-1 has no bigram of the reference; the other two have, one across their ends."""
FEW = {"id": "few", "documents": [["...", "a cat sat", "a cat sat"]], "references": [["a", "cat", "x"]]}
BASELINES = ["mmr", *(["sumbasic", "lexrank", "lsa"] if find_spec("sumy") else [])]


def topics() -> list[optsum.Topic]:
    if not NEWS.exists():
        pytest.skip("the source tree is not beside the tests")
    return [topic for topic in optsum.read_topics(NEWS) if isinstance(topic, optsum.Topic)][:4]


def study_akhmetov(given: Any, of_systems: Any = (), **options: Any) -> AkhmetovStudy:
    return AkhmetovStudy(**options).reads(of_systems).run(given)


def found(study: AkhmetovStudy) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["id"], row["method"], row["metric"]): row for row in study.of("found")}


@pytest.fixture(scope="module")
def everything() -> AkhmetovStudy:
    """Return the study with all searches and baselines, on topics of different sizes."""
    return study_akhmetov([BIGRAMS, FEW, *topics()], seed=3, baselines=",".join(BASELINES))


def test_the_study_agrees_with_single_runs(everything: AkhmetovStudy) -> None:
    study, rows = everything, found(everything)
    assert {method for _, method, _ in rows} == {*METHODS.values(), OPTIMUM}
    for strategy, method in (("vns-paper", "VNS"), ("branch-and-bound", OPTIMUM)):
        for metric, boundaries in (("rouge-1", "sentence"), ("rouge-2", "joined")):
            options: dict[str, Any] = {"preset": "akhmetov", "metric": metric, "boundaries": boundaries}
            for topic in topics():
                result = optsum.solve(topic, strategy=strategy, seed=3, **options)
                row = rows[topic.id, method, metric]
                assert result.rouge is not None
                assert row["f1"] == pytest.approx(result.rouge[metric]["f1"])
                assert row["selection"] == list(result.selection or ())
                assert row["sentences"] == len(row["selection"])
    for (name, _, metric), row in rows.items():
        assert row["f1"] <= rows[name, OPTIMUM, metric]["f1"] + 1e-12
    text = str(study)
    assert all(f"Table {number})" in text for number in (1, 2, 4, 5))
    values = [rows[row["id"], "Greedy", "rouge-1"]["f1"] for row in study.of("topic")]
    line = next(row for row in error_analysis(study, "R-1", "student", 1.96).rows if row[0] == "Greedy")
    assert line[1:4] == [f"{fmean(values):.4f}", f"{stdev(values):.4f}", f"{stdev(values) / fmean(values):.4f}"]
    assert upper_bounds(study).rows[1][1] == f"{fmean(values):.4f}"


def test_z_is_that_of_the_paper_or_given() -> None:
    half = {"id": "half", "documents": [["a b", "c d", "e f g"]], "references": [["a c e h"]]}
    study = study_akhmetov([BIGRAMS, FEW, half], exact="none", interval="z", z=1.956)
    values = [row["f1"] for row in study.of("found") if (row["method"], row["metric"]) == ("VNS", "rouge-1")]
    table = error_analysis(study, "R-1", "z", 1.956)
    assert table.rows[0][4] == f"{1.956 * stdev(values) / 3**0.5:.4f}"
    assert "Z = 1.956." in table.text()
    assert str(study).count("Z = 1.956.") == 3
    assert str(study_akhmetov([BIGRAMS], exact="none")).count("Student's t") == 3


@pytest.mark.parametrize(("counts", "best"), [("clipped", 2 * 3 / (3 + 7)), ("set", 2 * 2 / (3 + 6))])
def test_each_metric_has_an_optimum_of_its_own(counts: str, best: float) -> None:
    rows = found(study_akhmetov([BIGRAMS], counts=counts, exact="exhaustive"))
    assert rows["bigrams", OPTIMUM, "rouge-1"]["f1"] == 1
    assert rows["bigrams", OPTIMUM, "rouge-2"]["f1"] == pytest.approx(best)
    assert rows["bigrams", OPTIMUM, "rouge-1"]["selection"] == [0]


def test_an_unproven_optimum_is_the_best_result_of_any_method() -> None:
    def result(strategy: str, objective: float) -> Result:
        return Result(
            strategy=strategy, status=Status.FEASIBLE, termination=Termination.TIME_LIMIT, objective=objective,
            selection=(0,),
        )  # fmt: skip

    study = AkhmetovStudy()
    given = [("Greedy", result("greedy-rows", 0.5)), (OPTIMUM, result("branch-and-bound", 0.25))]
    topic = as_topic(BIGRAMS)
    study.rows = [{"id": "t", "f1_rouge-2": 0, **row} for metric in METRICS for row in _found(topic, metric, given)]
    assert [row["f1"] for row in study.rows] == [0.5, 0.5, 0.5, 0.5]
    said = "the rouge-2 optimum of 1 topic, not proven in time: replaced by the best that any method found"
    ended = "what 2 of the heuristic searches would have found after their time limit"
    for shown in (*study.tables(), *study.figures()):
        assert said in shown.caption[1]
        assert ended in shown.caption[1]


def test_sizes_of_texts_and_of_the_search_space() -> None:
    given = [
        {"id": str(size), "documents": [["some words here"] * size], "references": [["words"] * abstract]}
        for size, abstract in ((20, 3), (30, 5), (1, 2))
    ]
    study = study_akhmetov(given, exact="none")
    assert [int(row["search_space"]) for row in study.of("topic")] == [comb(20, 3), comb(30, 5), 0]
    assert search_space(study).rows[0] == ["0", f"{comb(20, 3):,}", f"{comb(30, 5):,}"]
    shown = {line[0]: line[1:] for line in lengths(study).rows}
    assert shown["mean"] == ["17.0", "3.3"]
    assert shown["std"] == [f"{stdev([20, 30, 1]):.1f}", f"{stdev([3, 5, 2]):.1f}"]
    assert shown["max"] == ["30.0", "5.0"]
    assert study.of("topic")[0]["characters"] == 20 * len("some words here")


def test_features_of_texts_and_the_best_number_of_sentences() -> None:
    """Check optima with as many sentences as the reference has words, so that the text grows with it."""
    given = [
        {"id": str(size), "documents": [[*words, "zz"]], "references": [[" ".join(words)]]}
        for size in (2, 3, 5)
        for words in [[f"w{number}" for number in range(size)]]
    ]
    study = study_akhmetov(given)
    rows = found(study)
    assert [rows[str(size), OPTIMUM, "rouge-1"]["sentences"] for size in (2, 3, 5)] == [2, 3, 5]
    table = features(study)
    headings = [column.heading for column in table.columns]
    line = next(row for row in table.rows if row[:2] == [OPTIMUM, "R-1"])
    assert line[headings.index("sentences r")] == "1.000"
    assert line[headings.index("words rho")] == "1.000"
    assert line[headings.index("abstract r")] == "-", "all abstracts have one sentence"


def test_several_seeds_give_the_mean_of_single_runs() -> None:
    given = topics()[:2]
    several = study_akhmetov(given, seeds="3,5", exact="milp", exact_time_limit=60, time_limit=7.5)
    alone = [study_akhmetov(given, seed=seed, exact="none") for seed in (3, 5)]
    singles = {
        (row["id"], row["method"], row["metric"], row["seed"]): row["f1"] for one in alone for row in one.of("found")
    }
    rows = [row for row in several.of("found") if row["method"] != OPTIMUM]
    assert {(row["id"], row["method"], row["metric"], row["seed"]): row["f1"] for row in rows} == singles
    assert len(rows) == 2 * 2 * 2 * len(METHODS)
    assert len(several.of("found")) - len(rows) == 4  # exact strategies run once
    table = upper_bounds(several)
    headings = [column.heading for column in table.columns]
    line = next(row for row in table.rows if row[0] == "Genetic")
    means = [fmean(singles[topic.id, "Genetic", "rouge-1", seed] for topic in given) for seed in (3, 5)]
    assert line[headings.index("R-1")] == f"{fmean(means):.4f}"
    assert line[headings.index("R-1 ± seeds")] == f"{stdev(means):.4f}"
    assert next(row for row in table.rows if row[0] == OPTIMUM)[headings.index("R-1 ± seeds")] == "-"
    assert table.caption[0].endswith("2 seeds, 7.5 s a search, 60 s an exact one.")
    assert "over 2 seeds" in table.caption[-1]
    spread = next(row for row in error_analysis(several, "R-1", "student", 1.96).rows if row[0] == "Genetic")
    of_topics = [fmean(singles[topic.id, "Genetic", "rouge-1", seed] for seed in (3, 5)) for topic in given]
    assert spread[2] == f"{stdev(of_topics):.4f}"
    limits = {options.strategy: options.time_limit for options in several.searches()}
    assert (limits["milp"], limits["vns-paper"]) == (60, 7.5)


def test_a_longer_proof_needs_something_that_proves() -> None:
    with pytest.raises(optsum.OptionError, match="name it by exact"):
        optsum.study("akhmetov", [], exact="none", exact_time_limit=3)


def test_systems_stand_beside_the_upper_bound() -> None:
    system = [{"topic_id": "bigrams", "system": "mine", "summary": ["a b x", "c d"]}]
    table = systems(study_akhmetov([BIGRAMS], system))
    shown = {line[0]: line[1:4] for line in table.rows}
    # unigrams: 4 of 4 and of 5; bigrams: a b and c d, of 3, and of 4 across the sentence end
    assert shown["mine"] == [f"{8 / 9:.4f}", f"{2 * 2 / (3 + 4):.4f}", "-"]
    assert shown["Optimum upper bound"] == ["1.0000", "0.0000", "0.6000"]  # "d c b a" has no bigram of the reference
    assert "Genetic_Greedy upper bound" in shown


def test_filters_and_unusable_topics_are_reported() -> None:
    long = {"id": "long", "documents": [["a b"]], "references": [["a"] * 12]}
    fit = {"id": "fit", "documents": [["a b c d"] * 100], "references": [["a b"] * 12]}
    few = {"id": "few", "documents": [["a b c d"] * 100], "references": [["a b"] * 3]}
    short = {"id": "short", "documents": [["a b c d"] * 99], "references": [["a b"] * 12]}
    bad = BadTopic("", "x.jsonl:4", "it is no JSON")
    study = study_akhmetov([long, fit, few, short, bad], paper_filter=True, exact="none")
    assert {row["id"] for row in study.rows} == {"fit"}
    assert "Left out: 3 topics by the filters; 1 part of the input that could not be used." in str(study)
    assert study.errors == ["x.jsonl:4: it is no JSON"]
    wider = study_akhmetov([few, short], paper_filter=True, min_abstract=2, min_text=50, exact="none")
    assert {row["id"] for row in wider.rows} == {"few", "short"}
    with pytest.raises(optsum.OptionError, match="is not exact"):
        optsum.study("akhmetov", [], exact="greedy")


def score(text: Any, topic: optsum.Topic, metric: str) -> float:
    """Return the F1 with the options of the preset."""
    return optsum.rouge(text, topic.references, metric, tokenizer="pypi-rouge").f1


def test_rouge_2_is_that_of_the_same_summary_and_by_itself(everything: AkhmetovStudy) -> None:
    """Check that a row's ROUGE-2 is that of the summary found for ROUGE-1."""
    study, rows = everything, found(everything)
    for read in map(as_topic, [BIGRAMS, FEW, *topics()]):
        name = read.id
        for method in (*METHODS.values(), OPTIMUM):
            row = rows[name, method, "rouge-1"]
            text = [read.sentences[unit] for unit in row["selection"]]
            assert row["f1_rouge-2"] == pytest.approx(score(text, read, "rouge-2"))
            assert row["f1_rouge-2"] <= rows[name, OPTIMUM, "rouge-2"]["f1"] + 1e-12
    table = upper_bounds(study)
    headings = [column.heading for column in table.columns]
    line = next(row for row in table.rows if row[0] == "Greedy")
    of_one = [rows[row["id"], "Greedy", "rouge-1"] for row in study.of("topic")]
    assert headings[1:5] == ["R-1", "R-2", "R-2 by itself", "sentences"]
    assert line[2] == f"{fmean(row['f1_rouge-2'] for row in of_one):.4f}"
    assert line[4] == f"{fmean(row['sentences'] for row in of_one):.1f}"


def test_the_papers_own_stopping_rules() -> None:
    study = study_akhmetov([BIGRAMS], as_published=True)
    limits = {options.strategy: options.time_limit for options in study.searches()}
    assert {limits[strategy] for strategy in METHODS} == {None}
    assert limits["branch-and-bound"] == 5
    assert "the paper's stopping rules" in study.caption()[0]


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_fill_table_3_without_files(name: str, everything: AkhmetovStudy) -> None:
    rows = everything.of("system", system=name)
    for topic, row in zip(map(as_topic, [BIGRAMS, FEW, *topics()]), rows, strict=True):
        chosen = baseline(name)(topic, topic.reference_sentences or 1)
        assert list(chosen) == sorted(set(chosen))
        assert len(chosen) <= (topic.reference_sentences or 1)
        text = [topic.sentences[unit] for unit in chosen]
        assert row["f1"]["rouge-1"] == pytest.approx(score(text, topic, "rouge-1"))
    assert name in [row[0] for row in systems(everything).rows]


def test_marginal_relevance_leaves_out_repeated_content() -> None:
    text = ["storms hit harbours", "storms hit harbours", "ferries stayed inside", "storms hit ferries"]
    topic = as_topic({"id": "t", "documents": [text], "references": [["x"]]})
    assert marginal_relevance(topic, 2) in ([0, 2], [0, 3], [2, 3])


def test_unknown_baselines_are_refused() -> None:
    with pytest.raises(optsum.OptsumError, match="did you mean lexrank"):
        optsum.study("akhmetov", [], baselines="lexrang")
