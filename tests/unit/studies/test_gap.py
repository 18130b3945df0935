"""Compare the bound for any text with all texts, and test the table of the cost of each restriction."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

import optsum
from optsum.cli import main
from optsum.corpus.topic import as_topic
from optsum.options.options import resolve
from optsum.problem.any_text import TextLimit, any_text_limit
from optsum.studies.gap import GapStudy

TEXTS = 60
"""Random topics here; 1,500 were run."""


def study_gap(topics: Any, systems: Any = (), **options: Any) -> GapStudy:
    return GapStudy(**options).reads(systems).run(topics)


def limit(topic: dict[str, Any], metric: str, most: int, **more: Any) -> TextLimit:
    options = resolve({"metric": metric, "max_length": most})
    return any_text_limit(as_topic(topic), options.spec(), **more)


def tokens_of(word: str) -> list[str]:
    return word.replace("-", " ").split()


def grams(tokens: list[str], metric: str) -> Counter[Any]:
    return Counter(tokens) if metric == "rouge-1" else Counter(pairwise(tokens))


def best_text(words: list[str], references: list[str], metric: str, most: int) -> int:
    """Return the most hits of any sequence of up to `most` of the words, by brute force."""
    wanted = [grams(tokens_of(reference), metric) for reference in references]
    best = 0
    for size in range(1, min(most, len(words)) + 1):
        for text in set(permutations(words, size)):
            have = grams([token for word in text for token in tokens_of(word)], metric)
            best = max(best, sum((have & of).total() for of in wanted))
    return best


def draw(rng: random.Random, parts: bool) -> tuple[list[str], list[str], int]:
    letters = "abcd"
    words = [rng.choice(letters) for _ in range(rng.randint(1, 6))]
    if parts:
        words = [f"{word}-{rng.choice(letters)}" if rng.random() < 0.3 else word for word in words]
    references = [" ".join(rng.choice(letters) for _ in range(rng.randint(2, 7))) for _ in range(rng.randint(1, 2))]
    return words, references, rng.randint(1, 5)


@pytest.mark.parametrize("metric", ["rouge-1", "rouge-2"])
def test_no_text_passes_the_limit(metric: str) -> None:
    rng = random.Random(5)  # noqa: S311
    reached = 0
    for _ in range(TEXTS):
        words, references, most = draw(rng, parts=True)
        topic = {"id": "t", "documents": [[" ".join(words)]], "references": [[one] for one in references]}
        best, found = best_text(words, references, metric, most), limit(topic, metric, most)
        assert best <= found.hits, (words, references, most)
        reached += best == found.hits
    assert reached >= TEXTS * 0.8, "most limits are reached"


def test_the_limit_of_single_tokens_is_reached() -> None:
    rng = random.Random(7)  # noqa: S311
    for _ in range(TEXTS):
        words, references, most = draw(rng, parts=False)
        topic = {"id": "t", "documents": [[" ".join(words)]], "references": [[one] for one in references]}
        assert limit(topic, "rouge-1", most).hits == best_text(words, references, "rouge-1", most)


def test_a_limit_by_hand() -> None:
    topic = {"id": "t", "documents": [["a b", "x c"]], "references": [["a b a c"]]}
    assert limit(topic, "rouge-1", 2).recall == Fraction(2, 4)
    assert limit(topic, "rouge-1", 9).recall == Fraction(3, 4), "there is one a"
    assert limit(topic, "rouge-1", 9, repeat=True).recall == 1
    assert limit(topic, "rouge-2", 3).hits == 2, "b a c, or a b and a c"
    assert limit(topic, "rouge-2", 1).hits == 0
    nothing = {"id": "n", "documents": [["q"]], "references": [["a b"]]}
    assert limit(nothing, "rouge-1", 5) == TextLimit(0, 2)


@pytest.mark.parametrize(
    "given", [{"metric": "rouge-3"}, {"metric": "rouge-1+rouge-2"}, {"measure": "f1"}, {"length_unit": "sentences"}]
)
def test_other_objectives_have_no_such_limit(given: dict[str, Any]) -> None:
    topic = as_topic({"id": "t", "documents": [["a b c d"]], "references": [["a b c d"]]})
    with pytest.raises(optsum.UnsupportedError, match="bound on any text"):
        any_text_limit(topic, resolve({"max_length": 5, **given}).spec())


PARSES = [
    "1 Cats cat NOUN NNS _ 3 nsubj _ _\n2 often often ADV RB _ 3 advmod _ _\n3 sleep sleep VERB VBP _ 0 root _ _",
    "1 Dogs dog NOUN NNS _ 2 nsubj _ _\n2 bark bark VERB VBP _ 0 root _ _\n3 loudly loudly ADV RB _ 2 advmod _ _",
]
TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["Cats often sleep", "Dogs bark loudly"]],
    "references": [["cats sleep", "dogs bark"]],
    "parses": [parse.replace(" ", "\t") for parse in PARSES],
}


def test_the_cost_of_each_restriction_by_hand() -> None:
    systems = [
        {"topic_id": "t", "system": "mine", "summary": ["cats sleep and dogs run in the sun"]},
        {"topic_id": "t", "system": "chosen", "selection": [1]},
        {"topic_id": "t", "system": "broken", "selection": [7]},
    ]
    report = study_gap([TOPIC, {"id": "none"}], systems, max_length=4, strategies="greedy")
    assert report.lines == ["any text", "compressive oracle", "extractive oracle", "greedy", "mine", "chosen"]
    means = [report.mean(line, "rouge-1") for line in report.lines]
    assert means == [1.0, 1.0, 0.5, 0.5, 0.75, 0.5], "and of mine the first four words"
    assert [report.mean(line, "rouge-2") for line in report.lines[:3]] == [
        1.0,
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
    ]
    assert report.lost("extractive oracle", "rouge-1", "compressive oracle") == 0.5
    assert len(report.errors) == 2
    assert {row["text"] for row in report.of("recall")} == set(report.lines)
    assert "any text" in str(report)


def test_bounds_of_fewer_restrictions_are_higher() -> None:
    topics = [json.loads(line) for line in Path("examples/data/news.jsonl").read_text().splitlines()]
    report = study_gap(topics, max_length=40, strategies="greedy,lead,random", vocabulary=False)
    for metric in ("rouge-1", "rouge-2"):
        anything, oracle, greedy = (
            report.recalls(line, metric) for line in ("any text", "extractive oracle", "greedy")
        )
        assert set(anything) == set(oracle) == set(greedy) == {topic["id"] for topic in topics}
        assert all(anything[name] >= oracle[name] >= greedy[name] for name in anything)
    free = study_gap(topics, max_length=40, strategies="", vocabulary=True)
    assert (free.mean("any text", "rouge-1") or 0) >= (report.mean("any text", "rouge-1") or 0)


def test_several_seeds_give_the_mean_of_single_runs(tmp_path: Path) -> None:
    given = [{**TOPIC, "documents": [[f"cats w{number} sleep", "dogs bark", f"x{number}"]]} for number in range(3)]
    for number, topic in enumerate(given):
        topic.update(id=f"t{number}", parses=None)
    options: dict[str, Any] = {"max_length": 4, "strategies": "random,lead", "metrics": "rouge-1"}
    several = optsum.study("gap", given, seeds=range(4), **options)
    alone = [optsum.study("gap", given, seed=seed, **options).mean("random", "rouge-1") for seed in range(4)]
    assert several.mean("random", "rouge-1") == pytest.approx(fmean(alone))
    table = several.tables()[0]
    place = [column.heading for column in table.columns].index("± seeds")
    spreads = {row[0]: getattr(row[place], "value", 0) for row in table.rows}
    assert spreads["random"] == pytest.approx(stdev(alone))
    assert spreads["extractive oracle"] is None
    rows = [row for row in several.of("recall") if row["text"] in {"random", "extractive oracle"}]
    assert sorted(row["seed"] for row in rows if row["seed"] is not None) == sorted([0, 1, 2, 3] * 3)
    assert "± seeds" in str(several)
    (figure,) = several.figures()
    assert figure.series[0].error is not None
    assert figure.series[0].error[figure.series[0].x.index("random")] == spreads["random"]
    same = optsum.study("gap", given, seeds="0,1,2,3", **options)
    assert same.config_hash == several.config_hash
    assert same.config_hash != optsum.study("gap", given, seeds="0:3", **options).config_hash
    file = tmp_path / "options.toml"
    file.write_text("seeds = [0, 1]\nexact-time-limit = 9.0\n")
    assert optsum.study("gap", given, config=file, **options).seeding == "2 seeds"
    assert optsum.study("gap", given, config=file, seed=3, **options).seeding == "seed 3"
    with pytest.raises(optsum.OptionError, match="leave out one of the two"):
        optsum.study("gap", given, seeds="0:3", seed=1, **options)
    with pytest.raises(optsum.OptionError, match="give them as 0:10"):
        optsum.study("gap", given, seeds="0-3", **options)


def test_shares_are_of_the_topics_that_a_line_has() -> None:
    other = {"id": "u", "documents": [["one two three"]], "references": [["four five six one"]]}
    study = study_gap([TOPIC, other], max_length=4, strategies="greedy", metrics="rouge-1")
    alone = study_gap([TOPIC], max_length=4, strategies="greedy", metrics="rouge-1")
    assert study.mean("any text", "rouge-1") != alone.mean("any text", "rouge-1")
    assert study.share("compressive oracle", "rouge-1") == alone.share("compressive oracle", "rouge-1")
    assert study.share("greedy", "rouge-1") != alone.share("greedy", "rouge-1")


def test_proofs_have_a_time_limit_of_their_own() -> None:
    study = GapStudy(exact_time_limit=9, time_limit=2, strategies="greedy")
    assert {options.strategy: options.time_limit for options in study.searches()} == {
        "branch-and-bound": 9,
        "greedy": 2,
    }


def test_systems_are_cut_and_have_names_of_their_own() -> None:
    long = {"topic_id": TOPIC["id"], "summary": ["a b c d", "e f g"]}
    names = ("any text", "compressive oracle", "extractive oracle", "greedy", "mine")
    study = study_gap([TOPIC], [{**long, "system": name} for name in names], max_length=4, strategies="greedy")
    assert [error.partition("No system can be called ")[2].partition(",")[0] for error in study.errors] == [
        repr(name) for name in names[:-1]
    ]
    assert len(study.of("recall", text="greedy", metric="rouge-1")) == 1
    assert "Systems cut after 4 words; longer: 1 of 1." in study.tables()[0].caption


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "topics.jsonl", tmp_path / "rows.jsonl"
    path.write_text(json.dumps(TOPIC) + "\n")
    assert main(["study", "gap", str(path), "--max-length", "4", "-o", str(out)]) == 0
    assert "compressive oracle" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 12
    assert main(["study", "gap", str(path), "--metrics", "rouge-l"]) == 2
    assert main(["study", "gap", str(path), "--strategies", "nosuch"]) == 2
