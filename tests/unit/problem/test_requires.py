"""Compare pairs "a sentence requires another" in every formulation with brute force."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import blocks

import optsum
from optsum.cli import main
from optsum.testing import random_coverage

EXACT = ("auto", "branch-and-bound", "milp", "exhaustive")
OTHERS = ("greedy", "greedy+ls", "vns", "genetic")
SHORT = {"vns": ("no_improvement=5",), "genetic": ("population=6", "no_improvement=2")}
WAYS: dict[str, dict[str, Any]] = {
    "recall": {},
    "bigrams": {"metric": "rouge-2"},
    "f1": {"measure": "f1"},
    "sum of f1": {"metric": "rouge-1+rouge-2", "measure": "f1"},
    "mean": {"references": "mean"},
    "rouge-l": {"metric": "rouge-l"},
    "joined": {"metric": "rouge-2", "boundaries": "joined"},
}
NEWS = {
    "id": "news",
    "documents": [["the ferry sank", "it was old", "nobody drowned", "some captain slept"]],
    "references": [["the old ferry sank and nobody drowned"]],
}


@st.composite
def topics(draw: st.DrawFn, most: int = 6) -> dict[str, Any]:
    """Draw a topic of few words, with pairs in chains, trees, cycles, or of a sentence with itself."""
    size = draw(st.integers(2, most))
    sentence = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4).map(" ".join)
    reference = st.lists(st.sampled_from("abcdef"), min_size=2, max_size=7).map(" ".join)
    pair = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    return {
        "id": "t",
        "documents": [draw(st.lists(sentence, min_size=size, max_size=size))],
        "references": [[draw(reference)], [draw(reference)]],
        "constraints": {"requires": draw(st.lists(pair, min_size=1, max_size=4))},
    }


def kept(topic: dict[str, Any], selection: tuple[int, ...]) -> bool:
    return all(one not in selection or other in selection for one, other in topic["constraints"]["requires"])


def truth(topic: dict[str, Any], **options: Any) -> tuple[Any, set[tuple[int, ...]]]:
    """Return the best value of all sets that satisfy the pairs, and those that reach it, without asking a search."""
    free = {name: value for name, value in topic.items() if name != "constraints"}
    size = sum(map(len, topic["documents"]))
    best: Any = None
    optima: set[tuple[int, ...]] = set()
    for chosen in chain.from_iterable(combinations(range(size), count) for count in range(size + 1)):
        others = ",".join(str(number) for number in range(size) if number not in chosen)
        asked = {"require": ",".join(map(str, chosen)) or None, "forbid": others or None}
        value = optsum.solve(free, strategy="exhaustive", **asked, **options)
        if not kept(topic, chosen) or value.key is None:
            continue
        if best is None or value.key > best:
            best, optima = value.key, set()
        if value.key == best:
            optima.add(chosen)
    return best, optima


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_objective_has_the_optimum_of_brute_force(way: dict[str, Any]) -> None:
    @settings(max_examples=8)
    @given(topics(4), st.integers(1, 12))
    def check(topic: dict[str, Any], most: int) -> None:
        best, optima = truth(topic, max_length=most, **way)
        for strategy in EXACT:
            try:
                result = optsum.solve(topic, max_length=most, strategy=strategy, **way)
            except optsum.UnsupportedError:
                continue
            assert (result.status.value, result.key, result.bound_key) == ("optimal", best, best)
            assert result.selection in optima
        every = optsum.enumerate_optima(topic, max_length=most, keep_unmatched=True, **way)
        assert set(every) == optima

    check()


@settings(max_examples=40)
@given(topics(), st.integers(1, 14))
def test_heuristics_satisfy_the_pairs(topic: dict[str, Any], most: int) -> None:
    best = optsum.solve(topic, max_length=most).key
    for strategy in OTHERS:
        result = optsum.solve(topic, max_length=most, strategy=strategy, evaluation_limit=200)
        assert result.selection is not None
        assert kept(topic, result.selection)
        assert result.key is not None
        assert result.bound_key is not None
        assert result.key <= best <= result.bound_key


@pytest.mark.parametrize("way", [{}, {"metric": "rouge-l"}], ids=["rouge-1", "rouge-l"])
def test_heuristics_find_a_selection_in_a_feasible_window(way: dict[str, Any]) -> None:
    @settings(max_examples=12)
    @given(topics(), st.data())
    def check(topic: dict[str, Any], data: st.DataObject) -> None:
        size, lengths = len(topic["documents"][0]), [len(text.split()) for text in topic["documents"][0]]
        numbers = st.integers(-3, 3).filter(bool)
        coefficients = data.draw(st.lists(numbers, min_size=size, max_size=size))
        low, least = data.draw(st.integers(-2, 3)), data.draw(st.integers(1, sum(lengths)))
        most = least + data.draw(st.integers(0, 1))
        row = {"sentences": list(range(size)), "coefficients": coefficients, "low": low, "high": low + 1}
        topic["constraints"]["rows"] = [row]
        sets = chain.from_iterable(combinations(range(size), count) for count in range(size + 1))
        possible = {
            chosen
            for chosen in sets
            if kept(topic, chosen)
            and least <= sum(lengths[unit] for unit in chosen) <= most
            and low <= sum(coefficients[unit] for unit in chosen) <= low + 1
        }
        for strategy in (*OTHERS, "vns+greedy", "random"):
            own = {"strategy": strategy, "strategy_options": SHORT.get(strategy.partition("+")[0], ())}
            found = optsum.solve(topic, min_length=least, max_length=most, bound="none", **own, **way)
            assert found.selection in (possible or {None}), strategy

    check()


@pytest.mark.parametrize("seeds", blocks(60))
def test_rows_with_negative_coefficients_have_the_optimum_of_brute_force(seeds: range) -> None:
    for seed in seeds:
        instance = random_coverage(np.random.default_rng(seed), kind="sided", units=5)
        problem = optsum.CoverageProblem.of(instance)
        sets = chain.from_iterable(combinations(range(problem.size), count) for count in range(problem.size + 1))
        feasible = {chosen: found.key for chosen in sets if (found := problem.evaluate(chosen)).feasible}
        best: Callable[[Any], Any] = max if problem.sense is optsum.Sense.MAXIMIZE else min
        for strategy in EXACT:
            try:
                result = optsum.search(problem, strategy)
            except optsum.UnsupportedError:
                continue
            if feasible:
                assert (result.status.value, result.key) == ("optimal", best(feasible.values())), strategy
            else:
                assert result.status.value == "infeasible", strategy
        assert optsum.coverage_of_json(json.loads(_json(problem))).rows == instance.rows


def _json(problem: optsum.CoverageProblem) -> str:
    from optsum.coverage.instance import json_of_coverage

    return json_of_coverage(problem.instance)


# --- the meaning of pairs -----------------------------------------------------------------------------------------


def test_a_sentence_that_brings_nothing_is_chosen_where_another_requires_it() -> None:
    topic = {**NEWS, "constraints": {"requires": [[2, 3]]}}
    assert optsum.solve(NEWS, max_length=8).selection == (0, 1, 2)
    assert optsum.solve(topic, max_length=8).selection == (0, 2, 3)
    assert optsum.solve(topic, max_length=6).selection == (0, 1)
    assert optsum.solve(topic, max_length=8, forbid="3").selection == (0, 1)


def test_a_cycle_of_pairs_is_chosen_together() -> None:
    topic = {**NEWS, "constraints": {"requires": [[0, 1], [1, 2], [2, 0]]}}
    assert optsum.solve(topic, max_length=7).selection == ()
    assert optsum.solve(topic, max_length=8).selection == (0, 1, 2)
    assert optsum.enumerate_optima(topic, max_length=8).count == 1


def test_pairs_are_given_in_the_topic_its_meta_a_file_or_a_list(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"id": "news", "requires": [[2, 3]]}) + "\n", encoding="utf-8")
    inside = optsum.solve({**NEWS, "constraints": {"requires": [[2, 3]]}}, max_length=8)
    in_meta = optsum.solve({**NEWS, "meta": {"constraints": {"requires": [[2, 3]]}}}, max_length=8)
    by_file = optsum.solve(NEWS, max_length=8, requires=str(file))
    listed = optsum.solve(NEWS, max_length=8, requires=[(2, 3)])
    assert {found.selection for found in (inside, in_meta, by_file, listed)} == {(0, 2, 3)}
    assert "requires" in (by_file.signature or "")
    others = optsum.solve({**NEWS, "id": "other"}, max_length=8, requires=str(file))
    assert others.selection == (0, 1, 2)


def test_a_file_holds_for_each_reference_and_unlisted_topics_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Check problems of one reference, whose ids are t#0 and t#1, and ids that match no topic."""
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"id": "news", "requires": [[2, 3]]}) + "\n", encoding="utf-8")
    topics = [{**NEWS, "references": NEWS["references"] * 2}]
    found = list(optsum.solve_all(topics, max_length=8, requires=str(file), references="each"))
    assert [result.selection for result in found] == [(0, 2, 3)] * 2
    file.write_text(json.dumps({"id": "news#1", "requires": [[2, 3]]}) + "\n", encoding="utf-8")
    found = list(optsum.solve_all(topics, max_length=8, requires=str(file), references="each"))
    assert [result.selection for result in found] == [(0, 1, 2), (0, 2, 3)]
    caplog.clear()
    file.write_text(json.dumps({"id": "news", "requires": [[2, 3]]}) + "\n", encoding="utf-8")
    list(optsum.solve_all([*topics, {**NEWS, "id": "other"}], max_length=8, requires=str(file)))
    assert "1 of 2 topics: --requires lists nothing for 'other'" in caplog.text
    file.write_text("")
    optsum.solve(NEWS, max_length=8, exclusive=str(file))
    assert "--exclusive lists nothing for 'news'" in caplog.text


def test_covers_and_their_budgets_keep_pairs() -> None:
    topic = {"id": "q", "documents": [["a b", "c", "d e f"]], "supports": [[0, 1], [], [0]]}
    paired = {**topic, "constraints": {"requires": [[0, 1]]}}
    assert optsum.solve(topic, formulation="cover").selection == (0,)
    for strategy in ("auto", "milp", "exhaustive"):  # branch and bound serves covers without side constraints only
        assert optsum.solve(paired, formulation="cover", strategy=strategy).selection == (0, 1)
    for strategy in EXACT:
        assert optsum.solve(paired, formulation="cover", max_length=2, strategy=strategy).selection == ()
        assert optsum.solve(paired, formulation="cover", max_length=3, strategy=strategy).selection == (0, 1)


def test_compressions_keep_pairs_of_sentences() -> None:
    words = "1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n2\tb\tb\tADV\t_\t_\t1\tadvmod\t_\t_\n"
    topic = {"id": "c", "documents": [["a b", "a b"]], "references": [["b"]], "parses": [words, words]}
    free = optsum.solve(topic, formulation="compressive", max_length=4)
    paired = optsum.solve(
        {**topic, "constraints": {"requires": [[0, 1], [1, 0]]}}, formulation="compressive", max_length=4
    )
    assert (free.objective, paired.objective) == (1, 1)
    assert len({unit[0] if isinstance(unit, tuple) else unit for unit in paired.selection or ()}) == 2


@pytest.mark.parametrize("form", ["lp", "mps", "json"])
def test_exports_hold_the_pairs(tmp_path: Path, form: str) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text(json.dumps({**NEWS, "constraints": {"requires": [[2, 3]]}}) + "\n", encoding="utf-8")
    assert main(["export", str(file), "--max-length", "8", "--format", form, "-o", str(tmp_path / "out")]) == 0
    (made,) = [
        path for path in (tmp_path / "out").rglob("*") if path.suffix.startswith(f".{form}") and path.stem == "news"
    ]
    if form == "json":
        problem = optsum.CoverageProblem.of(optsum.coverage_of_json(made.read_text("utf-8")))
        assert optsum.search(problem, "branch-and-bound").key == Fraction(5, 7)
    else:
        import highspy

        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(made))
        solver.run()
        assert abs(abs(solver.getInfo().objective_function_value) - 5) < 1e-6


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0]], "pairs of sentences"),
        ([[0, 1, 2]], "pairs of sentences"),
        ([[0, 9]], "name sentence 9"),
        ([[0, -1]], "requires"),
        ([[0, "1"]], "requires"),
        ([3], "pairs of sentences"),
        ({"0": 1}, "must be a list"),
    ],
)
def test_invalid_pairs_are_refused(pairs: Any, message: str) -> None:
    with pytest.raises(optsum.InputError, match=message):
        optsum.solve({**NEWS, "constraints": {"requires": pairs}}, max_length=8)


def test_unusable_files_of_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(optsum.OptionError, match="file of pairs of sentences"):
        optsum.solve(NEWS, max_length=8, requires=str(tmp_path / "none"))
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "news", "exclusive": [[0, 1]]}\n', encoding="utf-8")
    with pytest.raises(optsum.OptionError, match=r"pairs of sentences are an object such as .*requires"):
        optsum.solve(NEWS, max_length=8, requires=str(file))
