"""Test near-optimal selections of topics: definition, rows, limits, labels."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_oracle import Plain

import optsum
from optsum.cli import main
from optsum.contracts.result import Result
from optsum.options.options import resolve
from optsum.registry import STRATEGIES
from optsum.running import enumerate as families
from optsum.running.one_problem import build, setup_of
from optsum.testing import random_topic

DOCUMENT = ["a b", "b c", "a c", "d e", "a b c", "c d"]
TOPIC = {"id": "t", "documents": [DOCUMENT], "references": [["a b c d"]]}


def values(reference: str, most: int) -> dict[tuple[int, ...], Fraction]:
    """Return the recall of every selection within the limit, from the text alone."""
    return Plain({**TOPIC, "references": [[reference]]}, {"metric": "rouge-1", "max_length": most}).values()


@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive"])
@pytest.mark.parametrize(
    ("given", "least"),
    [
        ({"within": "25%"}, Fraction(3, 4)),
        ({"within": 0.3}, Fraction(7, 10)),
        ({"at_least": 0.5}, Fraction(1, 2)),
        ({"at_least": "1/4"}, Fraction(1, 4)),
        ({"within_steps": 1}, Fraction(3, 4)),
        ({"best": 2}, Fraction(3, 4)),
        ({"best": 99}, Fraction(0)),
    ],
)
def test_near_optimal_selections_are_those_of_the_definition(
    strategy: str, given: dict[str, Any], least: Fraction
) -> None:
    near = optsum.enumerate_optima(TOPIC, max_length=5, strategy=strategy, **given)
    every = values("a b c d", 5)
    expected = {chosen for chosen, value in every.items() if value >= least}
    assert set(near) == expected
    assert (near.count, near.complete, near.least) == (len(expected), True, least)
    assert near.result.objective == 1.0
    counts = Counter(float(every[chosen]) for chosen in expected)
    assert near.value_counts() == sorted(counts.items(), reverse=True)
    share = {unit: Fraction(sum(unit in each for each in expected), len(expected)) for unit in range(6)}
    assert near.share() == {unit: held for unit, held in share.items() if held}
    weight = sum(every[chosen] for chosen in expected)
    for unit, held in near.weighted_share().items():
        assert held == pytest.approx(float(sum(every[chosen] for chosen in expected if unit in chosen) / weight))
    kept = [
        chosen
        for chosen in expected
        if all(every[tuple(other for other in chosen if other != unit)] < every[chosen] for unit in chosen)
    ]
    assert near.irredundant().share == pytest.approx(len(kept) / len(expected))
    drawn = near.sample(20, seed=3)
    assert set(drawn) <= expected
    apart = near.diverse(3)
    assert len(set(apart)) == min(3, len(expected))
    assert every[apart[0]] == 1


def test_the_best_of_several_references() -> None:
    topic = {**TOPIC, "references": [["a b c d"], ["d e"]]}
    near = optsum.enumerate_optima(topic, max_length=5, within=0.3, references="best")
    one, other = values("a b c d", 5), values("d e", 5)
    # Sentences that match nothing of any reference are no units.
    best = {chosen: max(one[chosen], other[chosen]) for chosen in one if all(DOCUMENT[u] != "" for u in chosen)}
    assert set(near) == {chosen for chosen in best if best[chosen] >= Fraction(7, 10)}
    with pytest.raises(optsum.UnsupportedError, match="which several references do not share"):
        optsum.enumerate_optima(topic, max_length=5, within_steps=2, references="best")


OF_BEST: list[dict[str, Any]] = [
    {"max_length": 9},
    {"max_length": 12, "metric": "rouge-2"},
    {"max_length": 9, "min_length": 7},
    {"max_length": 9, "metric": "ngram-1-2"},
    {"max_length": 9, "metric": "rouge-2", "boundaries": "joined"},
    {"max_length": 10, "metric": "rouge-1+rouge-2", "measure": "f1"},
    {"max_length": 40, "min_length": 35},
    {"max_length": 0},
]


def worth_of_best(topic: dict[str, Any], options: dict[str, Any]) -> dict[tuple[int, ...], Fraction]:
    """Return the value of each selection of matching sentences, for the reference where it is largest."""
    tasks, units = [], set()
    for reference in topic["references"]:
        single = optsum.as_topic(topic | {"references": [reference]})
        with contextlib.suppress(optsum.InputError):  # a reference with nothing to count
            units |= set(build(single, setup_of(resolve(options))).units)
            tasks.append(build(single, setup_of(resolve({**options, "keep_unmatched": True}))))
    worth: dict[tuple[int, ...], Fraction] = {}
    for chosen in chain.from_iterable(combinations(sorted(units), size) for size in range(len(units) + 1)):
        for task in tasks:
            found = task.problem.evaluate(tuple(sorted(task.numbers()[unit] for unit in chosen)))
            if found.feasible:
                worth[chosen] = max(worth.get(chosen, Fraction(0)), Fraction(found.key))
    return worth


@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive"])
@pytest.mark.parametrize("options", OF_BEST, ids=str)
def test_near_the_best_of_several_references_is_what_its_definition_says(
    options: dict[str, Any], strategy: str
) -> None:
    tried = 0
    for seed in range(5):
        topic = random_topic(np.random.default_rng(seed), sentences=6)
        topic["references"] = [text for text in topic["references"] if " ".join(text).split()]
        worth = worth_of_best(topic, options)
        power = 2 if options.get("metric") == "ngram-1-2" else 1
        keys = sorted(set(worth.values()), reverse=True)
        for given, least in (
            ({"within": "20%"}, keys[0] * Fraction(4, 5) ** power if keys else 0),
            ({"at_least": "2/5"}, Fraction(2, 5) ** power),
            ({"at_least": "99/100"}, Fraction(99, 100) ** power),
            ({"best": 3}, keys[:3][-1] if keys else 0),
        ):
            if not keys and not topic["references"]:
                continue
            try:
                near = optsum.enumerate_optima(topic, references="best", strategy=strategy, **options, **given)
            except optsum.InputError:
                assert not keys
                continue
            expected = {chosen for chosen in worth if worth[chosen] >= least}
            assert (set(near), near.count, near.complete) == (expected, len(expected), True), (seed, given)
            tried += 1
    assert tried


def test_compressions() -> None:
    parses = [
        "1 Cats cat NOUN NNS _ 3 nsubj _ _\n2 often often ADV RB _ 3 advmod _ _\n3 sleep sleep VERB VBP _ 0 root _ _",
        "1 Dogs dog NOUN NNS _ 2 nsubj _ _\n2 bark bark VERB VBP _ 0 root _ _\n3 loudly loudly ADV RB _ 2 advmod _ _",
    ]
    topic = {
        "id": "t",
        "documents": [["Cats often sleep", "Dogs bark loudly"]],
        "references": [["cats sleep", "dogs bark"]],
        "parses": [parse.replace(" ", "\t") for parse in parses],
    }
    given = {"formulation": "compressive", "max_length": 5, "metric": "rouge-2", "within": 0.6}
    near = optsum.enumerate_optima(topic, **given)
    assert list(near)
    assert set(near) == set(optsum.enumerate_optima(topic, strategy="exhaustive", **given))
    assert near.value_counts()[0][0] == near.result.objective
    assert 0 < near.irredundant().share <= 1
    found = optsum.frontier(topic, formulation="compressive", metric="rouge-2", lengths="1:6:1").frontier
    assert found is not None
    alone = [
        optsum.solve(topic, formulation="compressive", metric="rouge-2", max_length=most).objective
        for most in range(1, 7)
    ]
    assert [
        next(step.objective for step in found.steps if step.first <= most <= step.last) for most in range(1, 7)
    ] == alone


def test_covers() -> None:
    cover = {"id": "c", "documents": [["a", "b", "c"]], "cover": [[[0], [1]], [[2], [0, 1]]]}
    near = optsum.enumerate_optima(cover, formulation="cover", within_steps=1)
    assert sorted(near) == [(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    assert near.value_counts() == [(2.0, 3), (3.0, 1)]
    assert near.irredundant().share == 0.75


def test_an_unreachable_value_has_no_selections() -> None:
    near = optsum.enumerate_optima(TOPIC, max_length=2, at_least=0.9)
    assert (near.count, near.complete, near.result.objective) == (0, True, 0.5)
    row = near.to_result(sample=2, diverse=2).to_row()
    assert (row["count"], row["optima"], row["sample"], row["diverse"], row["irredundant"]) == (0, [], [], [], None)


def large() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(80)]
    sentences = [" ".join(rng.choice(words, size=int(rng.integers(3, 9))).tolist()) for _ in range(50)]
    return {"id": "large", "documents": [sentences], "references": [[" ".join(words)]]}


def test_a_limit_gives_a_lower_bound_and_nothing_biased() -> None:
    near = optsum.enumerate_optima(large(), max_length=60, within=0.1, node_limit=30_000)
    assert not near.complete
    assert near.proven
    assert near.count > 0
    for ask in (near.share, near.irredundant, near.value_counts, near.weighted_share, lambda: near.sample(1)):
        with pytest.raises(optsum.InputError, match="not a fair sample"):
            ask()
    row = near.to_result(sample=3, diverse=3, max_solutions=2).to_row()
    assert (row["complete"], row["termination"], row["count"]) == (False, "node_limit", near.count)
    for name in ("unit_shares", "value_counts", "irredundant", "always", "never"):
        assert row[name] is None
    assert "sample" not in row
    assert len(row["optima"]) == 2
    assert Result.from_row(row).to_row() == row


def test_without_a_proven_optimum_there_is_no_threshold() -> None:
    near = optsum.enumerate_optima(large(), max_length=60, within=0.1, time_limit=0)
    assert (near.complete, near.least) == (False, None)
    assert near.to_result().to_row()["count"] == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"within": "2"}, "from 0 to 1"),
        ({"within": "-1%"}, "from 0 to 1"),
        ({"within": "many"}, "such as 1%"),
        ({"within": 0.1, "best": 2}, "one threshold"),
        ({"at_least": "1/0"}, "such as 0.475"),
        ({"within_steps": -1}, "must be 0 or more"),
        ({"best": 0}, "must be 1 or more"),
    ],
)
def test_invalid_thresholds_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(optsum.OptionError, match=message):
        optsum.enumerate_optima(TOPIC, max_length=5, **given)


def test_strategies_that_do_not_serve_refuse() -> None:
    with pytest.raises(optsum.UnsupportedError, match="only optima, not near-optimal"):
        optsum.enumerate_optima(TOPIC, max_length=5, within=0.1, bound="knapsack")
    with pytest.raises(optsum.UnsupportedError, match="no steps of one size"):
        optsum.enumerate_optima(TOPIC, max_length=5, within_steps=1, measure="f1")


def run(tmp_path: Path, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    topics, out = tmp_path / "topics.jsonl", tmp_path / "out.jsonl"
    topics.write_text(json.dumps(TOPIC) + "\n")
    status = main(["enumerate", str(topics), "--max-length", "5", "-o", str(out), *arguments])
    return status, [json.loads(line) for line in out.read_text().splitlines()]


def test_rows_and_what_a_later_run_keeps_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--within", "25%", "--diverse", "2", "--sample", "3")
    status, (row,) = run(tmp_path, *asked)
    assert status == 0
    assert (row["near"], row["at_least"], row["at_least_exact"]) == ("within 25%", 0.75, "3/4")
    assert row["count"] == sum(count for _, count in row["value_counts"])
    assert (len(row["diverse"]), len(row["sample"]), row["units"], row["sentence_count"]) == (2, 3, 6, 6)
    assert Result.from_row(row).to_row() == row
    assert run(tmp_path, *asked, "--resume") == (0, [row])
    for other in (("--within", "20%", *asked[2:]), asked[2:], (*asked, "--minimal"), asked[:4]):
        assert main(["enumerate", str(tmp_path / "topics.jsonl"), "--max-length", "5", "--resume", "-o",
                     str(tmp_path / "out.jsonl"), *other]) == 2  # fmt: skip
    assert "--within" in capsys.readouterr().err


def test_damaged_rows_are_refused(tmp_path: Path) -> None:
    _, (row,) = run(tmp_path, "--best", "2")
    for name, value in [("at_least", "x"), ("value_counts", [[1]]), ("unit_shares", [["a", None]]), ("near", 3)]:
        with pytest.raises(optsum.InputError, match=name):
            Result.from_row({**row, name: value})


def test_labels_of_all_that_is_near() -> None:
    (row,) = optsum.labels([TOPIC], max_length=5, soft=True, all_=3, within=0.3)
    near = optsum.enumerate_optima(TOPIC, max_length=5, within=0.3)
    assert (row["count"], row["near"], row["at_least"]) == (near.count, "within 30%", 0.7)
    assert row["shares"] == [float(near.share().get(unit, 0)) for unit in range(6)]
    (weighted,) = optsum.labels([TOPIC], max_length=5, soft=True, within=0.3, weighted=True)
    assert weighted["shares"] == [near.weighted_share().get(unit, 0.0) for unit in range(6)]
    assert weighted["shares"] != row["shares"]
    with pytest.raises(optsum.OptionError, match="soft or all"):
        next(optsum.labels([TOPIC], max_length=5, within=0.3))
    with pytest.raises(optsum.OptionError, match="weighted"):
        next(optsum.labels([TOPIC], max_length=5, soft=True, weighted=True))


@pytest.mark.parametrize("cover", [False, True])
def test_kernels_are_there_before_the_time_of_a_family_runs(cover: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check this because compiling would use up the time limit; near-optimal covers need other kernels than covers."""
    called: list[object] = []
    strategy = type(STRATEGIES.create("branch-and-bound", {}))
    prepare, near = strategy.prepare, strategy.near

    def prepared(self: Any, problem: Any = None) -> None:
        called.append("of a problem" if problem is not None else "all")
        prepare(self, problem)

    def searched(self: Any, *given: Any) -> Any:
        called.append("near")
        return near(self, *given)

    monkeypatch.setattr(strategy, "prepare", prepared)
    monkeypatch.setattr(strategy, "near", searched)
    monkeypatch.setattr(families, "prepare_families", lambda: called.append("families"))
    topic = {**TOPIC, "cover": [[[0], [1, 2]], [[3]]]}
    options: dict[str, Any] = {"formulation": "cover"} if cover else {"max_length": 5}
    found = optsum.enumerate_optima(topic, **options, within=0)
    assert found.complete
    assert called[-1] == "near"
    assert "families" in called
    assert "all" in called or not cover


def test_near_optimal_sets_are_listed_best_first() -> None:
    """With the best of several references, only the first is known to be the best."""
    topic = random_topic(np.random.default_rng(3), sentences=7)
    topic["references"] = [topic["references"][0], [" ".join(topic["documents"][0][:2])]]
    for references in ("pooled", "best"):
        near = optsum.enumerate_optima(topic, max_length=14, within=0.5, references=references)
        listed = near.best_first(near.count)
        assert sorted(listed) == sorted(near)
        assert listed[0] == near.result.selection
        if references == "pooled":
            values = [near.tasks[0].problem.evaluate(near.tasks[0].selection_of(units)).key for units in listed]
            assert values == sorted(values, reverse=True)
            assert len(set(values)) > 1
