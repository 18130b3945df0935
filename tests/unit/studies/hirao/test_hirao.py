"""Compare the tables of the study of Hirao et al. 2017 with values by hand and with plain enumeration."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr, wilcoxon

import optsum
from optsum.corpus.topic import BadTopic, as_topic
from optsum.corpus.topics import SystemExtract, extract_of, system_of
from optsum.studies import hirao
from optsum.studies.hirao import (
    DRAWS,
    HiraoStudy,
    correlations,
    draw_extracts,
    efficiency,
    judged_of,
    numbers,
    overlaps,
    percentile,
    percentiles,
    ratios,
    scores,
    statistics_of_data,
    systems,
)

NEWS = Path(__file__).resolve().parents[4] / "examples" / "data" / "news.jsonl"

TIES = {
    "id": "ties",
    "documents": [["alpha beta", "beta gamma", "alpha gamma", "delta"]],
    "references": [["alpha beta gamma"], ["delta gamma"]],
}


def study_hirao(topics: Any, given: Any = (), **options: Any) -> HiraoStudy:
    return HiraoStudy(**options).reads(given).run(topics)


def news() -> list[optsum.Topic]:
    if not NEWS.exists():
        pytest.skip("the source tree is not beside the tests")
    return [topic for topic in optsum.read_topics(NEWS) if isinstance(topic, optsum.Topic)][:4]


def test_greedy_of_several_seeds_is_the_mean_of_single_runs() -> None:
    given, options = news()[:2], {"max_length": 40, "greedy": "random", "one": "none"}
    several = study_hirao(given, seeds="1,4", exact_time_limit=60, **options)
    alone = [study_hirao(given, seed=seed, **options) for seed in (1, 4)]
    for setting in ("multi", "single"):
        for rows in zip(*(one.of_problems("rouge-1", setting) for one in (several, *alone)), strict=True):
            mean, *singles = rows
            for what in ("greedy", "ratio", "greedy_optimal", "jaccard"):
                assert mean[what] == pytest.approx(fmean(one[what] for one in singles)), what
            assert mean["greedy_by_seed"] == [[seed, one["greedy"]] for seed, one in zip((1, 4), singles, strict=True)]
            assert mean["oracle"] == singles[0]["oracle"]
    means = [fmean(row["greedy"] for row in one.of_problems("rouge-1", "multi")) for one in alone]
    shown = {row[0]: row[1:] for row in scores(several).rows}
    assert shown["Greedy"][0] == f"{fmean(means):.4f}"
    assert shown["Greedy, ± seeds"][0] == f"{stdev(means):.4f}"
    assert {options.time_limit for options in several.searches() if options.strategy == "branch-and-bound"} == {60}
    assert {options.time_limit for options in several.searches() if options.strategy == "random"} == {5.0}


def test_oracles_and_greedy_by_hand() -> None:
    """Check extracts of 3 words: the references have 5 words, of which "beta gamma" + "delta" hits 4, "gamma" twice."""
    study = study_hirao([TIES], max_length=3)
    (multi,) = study.of_problems("rouge-1", "multi")
    # alpha gamma delta and beta gamma delta: 1 + 2 + 1 of 5
    assert (multi["oracle"], multi["count"], multi["greedy"]) == (0.8, 2, 0.8)
    assert multi["jaccard_among_oracles"] == pytest.approx(1 / 3)
    assert multi["jaccard"] == pytest.approx((1 + 1 / 3) / 2)
    assert {tuple(drawn) for drawn in multi["draws"]} == {(1, 3), (2, 3)}
    first, second = study.of_problems("rouge-1", "single")
    assert (first["id"], first["reference"], second["reference"]) == ("ties", 0, 1)
    assert (first["oracle"], second["oracle"]) == (pytest.approx(2 / 3), 1)
    (size,) = study.of("topic")
    assert (size["sentences"], size["words"], size["reference_words"]) == (4, 7, [3, 2])
    assert statistics_of_data(study).rows[0][-2:] == ["3", f"{3 / 7:.1%}"]
    assert all(f"Table {number})" in str(study) for number in (1, 2, 4, 5, 7))


def test_a_single_reference_is_searched_once() -> None:
    topic = {**TIES, "references": TIES["references"][:1]}
    rows = study_hirao([topic], max_length=3).of("problem")
    multi, single = (row for row in rows if row["metric"] == "rouge-1")
    assert (multi.pop("references"), single.pop("references")) == ("multi", "single")
    assert (multi.pop("reference"), single.pop("reference")) == (None, 0)
    assert multi == single


def test_the_study_agrees_with_enumeration() -> None:
    given = news()
    study = study_hirao(given, max_length=50)
    assert not study.errors
    for topic, one in zip(given, study.of_problems("rouge-2", "multi"), strict=True):
        oracles = optsum.enumerate_optima(topic, preset="hirao-r2", max_length=50)
        greedy = optsum.solve(topic, preset="hirao-r2", max_length=50, strategy="greedy")
        assert (one["count"], one["feasible"]) == (oracles.count, oracles.feasible())
        assert one["greedy"] == pytest.approx(greedy.objective)
        assert one["greedy"] <= one["oracle"]
        chosen = set(greedy.selection or ())
        by_hand = [Fraction(len(chosen & set(oracle)), len(chosen | set(oracle))) for oracle in oracles]
        assert one["jaccard"] == pytest.approx(float(sum(by_hand) / len(by_hand)))


def test_the_papers_bound_stands_beside_ours() -> None:
    study = study_hirao(news()[:2], max_length=50, bound="knapsack")
    rows = study.of("problem")
    assert all(row["paper_complete"] and row["paper_nodes"] > 0 for row in rows)
    table = efficiency(study)
    headings = [column.heading for column in table.columns]
    of_multi = study.of_problems("rouge-1", "multi")
    assert table.rows[0][headings.index("paper's bound")] == f"{median(row['paper_nodes'] for row in of_multi):,.10g}"
    assert table.rows[0][headings.index("done")] == "2/2"
    assert "--bound knapsack" not in table.text()


def test_unusable_topics_are_named() -> None:
    given = [BadTopic("", "x:1", "no JSON"), {"id": "c", "cover": [[["s1"]]]}, TIES]
    study = study_hirao(given, [{"topic_id": "ties", "system": "s", "selection": [9]}], max_length=3)
    assert len(study.errors) == 3
    assert "no reference" in study.errors[1]
    assert "system 's': the selection names unit 9" in study.errors[2]
    assert study.of("problem")
    assert "3 parts of the input that could not be used" in scores(study).text()


# --- systems and Table 6, against plain enumeration ----------------------------------------------------------------

WORDS = ["ash", "birch", "cedar", "dogwood", "elm", "fir"]


def made_up(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return topics of a few sentences, and four systems with selections, texts and human scores."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    topics, given = [], []
    for number in range(6):
        sentences = [" ".join(rng.choices(WORDS, k=rng.randint(1, 4))) + f" x{place}" for place in range(6)]
        references = [[" ".join(rng.choices(WORDS, k=6))] for _ in range(rng.randint(1, 3))]
        topics.append({"id": f"t{number}", "documents": [sentences], "references": references})
        for name in "abcd":
            chosen = rng.sample(range(6), rng.randint(1, 3))
            summary = [sentences[unit].upper() + " ." for unit in chosen]
            if name == "d":
                summary.append("something else")
            human = {"good": rng.random()}
            given.append({"topic_id": f"t{number}", "system": name, "summary": summary, "human": human})
    return topics, given


def plain_oracles(topic: dict[str, Any], references: list[str], limit: int) -> tuple[float, list[set[int]]]:
    """Return all oracles of ROUGE-1, by brute force over sentences that share a word with a reference."""
    wanted = [Counter(reference.split()) for reference in references]
    sentences = topic["documents"][0]
    able = [unit for unit, text in enumerate(sentences) if any(set(text.split()) & set(one) for one in wanted)]
    able = [unit for unit in able if len(sentences[unit].split()) <= limit]
    best, found = -1, []
    for chosen in chain.from_iterable(combinations(able, size) for size in range(len(able) + 1)):
        words = [word for unit in chosen for word in sentences[unit].split()]
        if len(words) > limit:
            continue
        value = sum((Counter(words) & one).total() for one in wanted)
        if value > best:
            best, found = value, []
        if value == best:
            found.append(set(chosen))
    return best / sum(one.total() for one in wanted), found


def plain_f(selection: set[Any], oracles: list[set[int]]) -> float:
    precision = fmean(len(oracle & selection) / len(selection) for oracle in oracles)
    recall = fmean(len(oracle & selection) / len(oracle) if oracle else 0.0 for oracle in oracles)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("seed", range(3))
def test_systems_and_correlations_from_plain_enumeration(seed: int) -> None:
    topics, given = made_up(seed)
    limit = 7
    study = study_hirao(topics, given, max_length=limit, resamples=50, least_found=0.3, seed=seed, max_words=0)
    assert not study.errors
    expected: dict[tuple[str, str], list[list[float]]] = {}
    for setting in ("multi", "single"):
        expected["f", setting], expected["rouge", setting] = [], []
        for topic in topics:
            references = [reference[0] for reference in topic["references"]]
            groups = [references] if setting == "multi" else [[one] for one in references]
            every = [plain_oracles(topic, group, limit) for group in groups]
            mean = fmean(best for best, _ in every)
            rows = [row for row in study.of_problems("rouge-1", setting) if row["id"] == topic["id"]]
            assert fmean(row["oracle"] for row in rows) == pytest.approx(mean)
            assert [row["count"] for row in rows] == [len(oracles) for _, oracles in every]
            for row, (_, oracles) in zip(rows, every, strict=True):
                assert len(row["draws"]) == (DRAWS if len(oracles) > 1 else 1)
                assert all(set(drawn) in oracles for drawn in row["draws"])
            mine = [system for system in given if system["topic_id"] == topic["id"]]
            sentences = [text.casefold() for text in topic["documents"][0]]
            places: list[set[Any]] = [
                {sentences.index(known) if (known := text.casefold().removesuffix(" .")) in sentences else text
                 for text in system["summary"]}
                for system in mine
            ]  # fmt: skip
            expected["f", setting].append(
                [fmean(plain_f(chosen, oracles) for _, oracles in every) for chosen in places]
            )
            words = [Counter(" ".join(system["summary"]).casefold().split()) for system in mine]
            expected["rouge", setting].append(
                [
                    fmean(
                        sum((Counter(one.split()) & counted).total() for one in group)
                        / sum(len(one.split()) for one in group)
                        for group in groups
                    )
                    for counted in words
                ]
            )
    judged = judged_of(study, "good", list("abcd"))
    for setting in ("multi", "single"):
        assert judged.of_all[setting, "rouge-1"] == pytest.approx(np.array(expected["f", setting]))
    assert judged.rouge["rouge-1"] == pytest.approx(np.array(expected["rouge", "multi"]))
    single = [[row["single"] for row in study.of("system") if (row["id"], row["metric"]) == (topic["id"], "rouge-1")]
              for topic in topics]  # fmt: skip
    assert np.array(single) == pytest.approx(np.array(expected["rouge", "single"]))
    human = np.array([[s["human"]["good"] for s in given if s["topic_id"] == t["id"]] for t in topics]).mean(axis=0)
    (table,) = correlations(study)
    by_name = {row[0]: row for row in table.rows}
    for name, values in (
        ("ROUGE-1", expected["rouge", "multi"]),
        ("F-measure (R1) (multi-M)", expected["f", "multi"]),
        ("F-measure (R1) (single-M)", expected["f", "single"]),
    ):
        means = np.array(values).mean(axis=0)
        assert by_name[name][1] == f"{np.corrcoef(means, human)[0, 1]:.3f}"
        assert by_name[name][4] == f"{spearmanr(means, human).statistic:.3f}"
    # One random oracle: the mean over the draws, each taken by itself.
    drawn = []
    for number in range(DRAWS):
        values = []
        for topic in topics:
            (row,) = (row for row in study.of_problems("rouge-1", "multi") if row["id"] == topic["id"])
            oracle = set(row["draws"][number % len(row["draws"])])
            systems_of = [one for one in study.of("system") if (one["id"], one["metric"]) == (topic["id"], "rouge-1")]
            values.append([plain_f({*one["selection"], *("?" * one["others"])}, [oracle]) for one in systems_of])
        drawn.append(np.corrcoef(np.array(values).mean(axis=0), human)[0, 1])
    low, mean, high = (float(by_name["F-measure (R1) (multi-S)"][place]) for place in (2, 1, 3))
    assert mean == pytest.approx(float(np.mean(drawn)), abs=1e-3)
    assert low <= mean <= high
    assert (high - low) / 4 == pytest.approx(float(np.std(drawn)) / 10, rel=0.5, abs=2e-3)


def test_table_2_and_3_name_the_best_peer() -> None:
    topics, given = made_up(5)
    study = study_hirao(topics, given, max_length=7)
    rows = [row for row in study.of("system") if row["metric"] == "rouge-1"]
    rouge = {name: fmean(row["multi"] for row in rows if row["system"] == name) for name in "abcd"}
    best = max(rouge, key=lambda name: rouge[name])
    lines = {row[0]: row[1:] for row in scores(study).rows}
    assert (lines["ID"][0], lines["Peer"][0]) == (best, f"{rouge[best]:.4f}")
    table = systems(study)
    assert table is not None
    shown = {row[0]: row for row in table.rows}
    assert shown[best][2] == f"{rouge[best]:.4f}"
    assert shown["Oracle (multi)"][2] == lines["Oracle (multi)"][0]
    assert systems(study_hirao([TIES], max_length=3)) is None


def test_sentences_of_a_summary_are_found_in_the_source() -> None:
    topic = as_topic({"id": "t", "documents": [["A cat .", "Dogs!", "a  CAT", "..."]], "references": [["x"]]})
    summary = {"topic_id": "t", "system": "s", "summary": ["dogs", "A cat", "A cat", "A cat", "birds", "!"]}
    assert extract_of(topic, system_of(summary)) == SystemExtract((0, 1, 2), 2)
    assert extract_of(topic, system_of({**summary, "selection": [3, 1]})) == SystemExtract((1, 3), 0)
    assert extract_of(topic, system_of({"topic_id": "t", "system": "s", "human": {"a": 1}})) is None


def test_problems_whose_optimum_is_proven_count_though_not_all_oracles_were_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = study_hirao([TIES], max_length=4, one="none")
    real = hirao.oracles_of

    def cut_short(topic: optsum.Topic, *given: Any, **more: Any) -> Any:
        found = real(topic, *given, **more)
        stopped = found.result.changed(status=optsum.Status.FEASIBLE)
        return replace(found, complete=False, result=stopped) if topic.id == "ties#0" else found

    monkeypatch.setattr(hirao, "oracles_of", cut_short)
    study = study_hirao([TIES], max_length=4, one="none")
    assert scores(study).rows == scores(whole).rows
    assert ratios(study).rows == ratios(whole).rows
    for metric in ("rouge-1", "rouge-2"):
        assert len(study.of_problems(metric, "single", every=False)) == 2
        assert len(study.of_problems(metric, "single")) == 1
    assert "n = 4 of 6: problems with all oracles found." in overlaps(study).caption
    (said,) = study.lacking()
    assert "2 of 6 problems" in said
    assert "they are left out of Tables 4 and 6" in said
    naive, one = ([row[2] for row in efficiency(each).rows] for each in (study, whole))
    assert naive == one
    shown = {tuple(row[:2]): row[2:] for row in numbers(study).rows}
    assert shown["rouge-1", "multi"] == next(row for row in numbers(whole).rows if row[:2] == ["rouge-1", "multi"])[2:]
    assert shown["rouge-1", "single"][-2:] == ["2", "1"]
    assert shown["rouge-1", "single"][0].startswith(">= ")


def test_systems_are_held_against_the_references_whose_oracle_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check this because a system's mean over all problems, beside means over some, would mix references."""
    real = hirao._problem

    def unproven(part: optsum.Topic, *given: Any) -> Any:
        row, oracles = real(part, *given)
        late = part.id in {"ties#0", "late", "late#0"}
        return ({"complete": False, "proven": False, "feasible": row["feasible"]}, None) if late else (row, oracles)

    monkeypatch.setattr(hirao, "_problem", unproven)
    late = {**TIES, "id": "late", "references": [["beta"]]}
    summaries = [{"topic_id": name, "system": "mine", "summary": ["alpha beta"]} for name in ("ties", "late")]
    study = study_hirao([TIES, late], summaries, max_length=4, one="none", bound="lagrangian", extracts=0)
    shown = {row[0]: row[1:] for row in scores(study).rows}
    assert shown["Peer"][0] == "0.4000"
    assert shown["Peer (single)"] == ["0.0000", "0.0000"]  # it has nothing of the other reference
    table = systems(study)
    assert table is not None
    assert {row[0]: row[1] for row in table.rows} == {"Oracle (multi)": "1", "Oracle (single)": "1", "mine": "1"}
    assert "systems are scored only on the others" in study.lacking()[0]
    nothing = study_hirao([late], summaries, max_length=4, one="none", extracts=0)
    assert all(cell == "-" for row in scores(nothing).rows for cell in row[1:])
    assert str(nothing)


def test_rows_of_earlier_versions_have_the_mean_over_references_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    summaries = [{"topic_id": "ties", "system": "mine", "summary": ["alpha beta"]}]
    study = study_hirao([TIES], summaries, max_length=4, one="none", extracts=0)
    earlier = [{name: value for name, value in row.items() if name != "by_reference"} for row in study.rows]
    options: dict[str, Any] = {"max_length": 4, "one": "none", "extracts": 0}
    again = HiraoStudy(**options).reads(summaries).resumes(earlier).run([TIES])
    assert scores(again).rows == scores(study).rows
    monkeypatch.setattr(hirao, "_is_proven", lambda row: row.get("reference") != 1)
    held, left = ({row[0]: row[1] for row in scores(one).rows}["Peer (single)"] for one in (study, again))
    assert (held, left) == ("0.6667", "-")  # for the first reference; its own values are unknown


# --- texts of systems, and the distribution of all extracts --------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kept", "said"),
    [
        ({}, ["alpha beta", "beta"], "systems cut after 3 words"),
        ({"max_words": 0}, ["alpha beta", "beta gamma", "delta"], "systems as they are"),
        ({"max_words": 2}, ["alpha beta"], "systems cut after 2 words"),
        ({"max_bytes": 14}, ["alpha beta", "bet"], "systems cut after 14 bytes"),
        ({"max_bytes": 11}, ["alpha beta"], "systems cut after 11 bytes"),
    ],
)
def test_systems_are_cut_as_the_caption_says(options: dict[str, Any], kept: list[str], said: str) -> None:
    given = [{"topic_id": "ties", "system": "long", "selection": [0, 1, 3]}]
    study = study_hirao([TIES], given, max_length=3, **options)
    for metric, stopwords in (("rouge-1", "drop"), ("rouge-2", "keep")):
        (row,) = study.of("system", metric=metric)
        score = optsum.rouge(kept, TIES["references"], metric, stem=True, stopwords=stopwords, boundaries="sentence")
        assert row["multi"] == pytest.approx(score.recall)
        assert row["words"] == 5
        assert row["selection"] == [0, 1, 3][: len(kept)]
    for table in (scores(study), systems(study), percentiles(study)):
        assert table is not None
    assert said in " ".join(scores(study).caption)
    assert said in " ".join(systems(study).caption).lower()
    assert {row[0]: row[-1] for row in systems(study).rows}["long"] == "5.0"


@pytest.mark.parametrize("seed", range(4))
def test_all_extracts_are_as_enumeration_has_them(seed: int) -> None:
    (topic, *_), _ = made_up(seed)
    study = study_hirao([topic], max_length=7)
    (row,) = study.of("extracts", metric="rouge-1")
    wanted = [Counter(reference[0].split()) for reference in topic["references"]]
    found: Counter[float] = Counter()
    sentences = topic["documents"][0]
    for size in range(1, 7):
        for chosen in combinations(sentences, size):
            words = " ".join(chosen).split()
            if len(words) <= 7:
                hits = sum((Counter(words) & one).total() for one in wanted)
                found[hits / sum(one.total() for one in wanted)] += 1
    assert int(row["count"]) == row["drawn"] == found.total()
    assert row["scores"] == [pytest.approx(pair) for pair in sorted(found.items())]
    (oracle,) = (one["oracle"] for one in study.of_problems("rouge-1", "multi"))
    best = 1 - found[max(found)] / 2 / found.total()
    assert percentile(row["scores"], oracle) == pytest.approx(best)
    table = percentiles(study)
    assert table is not None
    assert table.rows[0][1] == f"{100 * best:.2f}"
    (drawn,) = study_hirao([topic], max_length=7, extracts=5).of("extracts", metric="rouge-1")
    assert (drawn["count"], drawn["drawn"]) == (row["count"], min(5, row["drawn"]))
    figures = {figure.name: figure for figure in study.figures()}
    assert sum(figures["extracts-rouge-1"].series[0].y) == pytest.approx(1)
    assert not study_hirao([topic], max_length=7, extracts=0).of("extracts")


def test_an_extract_that_has_the_whole_reference_is_in_the_distribution() -> None:
    study = study_hirao([{"id": "t", "documents": [["red cats sleep", "dogs"]], "references": [["red cats"]]}])
    for figure in study.figures()[1:]:
        scores = figure.series[0]
        assert scores.x[-1] == 1
        assert len(scores.x) == len(scores.y)
        assert sum(scores.y) == pytest.approx(1)


def test_extracts_are_drawn_with_the_same_probability() -> None:
    count, every = draw_extracts([2, 3, 0, 4, 9], 5, 100, 0)
    assert (count, len(set(every))) == (9, 9)
    drawn = Counter(draw_extracts([2, 3, 0, 4, 9], 5, 8, seed)[1].__next__() for seed in range(900))
    assert len(drawn) == 9
    assert max(drawn.values()) < 2 * min(drawn.values())


def test_significance_is_tested_for_single_references() -> None:
    topics, given = [], []
    for seed in (7, 8):
        for rows, key, kept in zip(made_up(seed), ("id", "topic_id"), (topics, given), strict=True):
            kept += [{**row, key: f"{row[key]} of {seed}"} for row in rows]
    study = study_hirao(topics, given, max_length=7, extracts=0)
    lines = {row[0]: row[1:] for row in scores(study).rows}
    peer = lines["ID"][0]
    for setting, name in (("multi", ""), ("single", " (single)")):
        of_peer = {row["id"]: row[setting] for row in study.of("system", system=peer, metric="rouge-1")}
        problems = study.of_problems("rouge-1", setting)
        best = {topic: fmean(row["oracle"] for row in problems if row["id"] == topic) for topic in of_peer}
        expected = wilcoxon([best[topic] for topic in of_peer], list(of_peer.values())).pvalue
        assert lines[f"p, oracle against peer{name}"][0] == f"{expected:.2g}"
        assert lines[f"Peer{name}"][0] == f"{fmean(of_peer.values()):.4f}"
        assert f"p, oracle against greedy{name}" in lines


def test_greedy_takes_units_without_gain_on_request() -> None:
    topic = {"id": "t", "documents": [["cats purr loudly", "cats purr"]], "references": [["cats purr loudly"]]}
    found = [study_hirao([topic], max_length=5, idle=idle) for idle in (False, True)]
    (strict,), (loose,) = (one.of("problem", metric="rouge-1", references="multi") for one in found)
    assert (strict["greedy_selection"], loose["greedy_selection"]) == ([0], [0, 1])
    assert strict["greedy"] == loose["greedy"]
    assert (strict["jaccard"], loose["jaccard"]) == (0.75, 0.75)  # the oracles are {0} and {0, 1}
    assert "greedy takes units without gain" in found[1].caption()[0]
