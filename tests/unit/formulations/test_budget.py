"""Compare covers with a budget (the most claims within a length) with brute force, from the record to the result."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trying import Truth, best_of, every_set

import optsum
from optsum.cli import main

PASSAGES = ["a b c", "d e", "f g h i", "j"]
TOPIC = {"id": "q", "documents": [PASSAGES], "supports": [[0, 1], [1, 2], [0, 2, 3], [4]]}
EXACT = ("auto", "branch-and-bound", "milp", "exhaustive")
OTHERS = ("greedy", "greedy+ls", "vns", "genetic", "lead", "random")


@st.composite
def records(draw: st.DrawFn, most: int = 7) -> dict[str, Any]:
    """Draw a record: passages with lengths, claims with alternative sets of passages, and a budget."""
    size = draw(st.integers(1, most))
    lengths = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size))
    sets = st.lists(st.integers(0, size - 1), min_size=1, max_size=min(3, size), unique=True)
    cover = draw(st.lists(st.lists(sets, max_size=3), min_size=1, max_size=6))
    weights = draw(st.none() | st.lists(st.sampled_from([0, 1, 2, 0.5, 3]), min_size=len(cover), max_size=len(cover)))
    if weights is not None and not any(weights):
        weights[0] = 1
    documents = [[" ".join("w" * length) for length in lengths]]
    found = {"id": "t", "documents": documents, "lengths": lengths, "cover": cover}
    return {
        **found,
        "budget": draw(st.integers(0, sum(lengths) + 1)),
        **({} if weights is None else {"weights": weights}),
    }


def truth(record: dict[str, Any], budget: int) -> Truth:
    """Try every set of passages that some claim names, without code of the package."""
    named = sorted({passage for sets in record["cover"] for chosen in sets for passage in chosen})
    weights = [Fraction(str(weight)) for weight in record.get("weights", [1] * len(record["cover"]))]

    def value(selection: tuple[int, ...]) -> Fraction:
        held = [any(set(chosen) <= set(selection) for chosen in sets) for sets in record["cover"]]
        return sum((weight for weight, here in zip(weights, held, strict=True) if here), Fraction()) / sum(weights)

    candidates = (tuple(named[place] for place in chosen) for chosen in every_set(len(named)))
    return best_of(
        (chosen for chosen in candidates if sum(record["lengths"][unit] for unit in chosen) <= budget), value
    )


def asked(record: dict[str, Any]) -> dict[str, Any]:
    return {"formulation": "cover", "max_length": record["budget"], "length_unit": "given"}


@settings(max_examples=100)
@given(records())
def test_exact_strategies_and_all_optima_are_those_of_trying_everything(record: dict[str, Any]) -> None:
    found = truth(record, record["budget"])
    for strategy in EXACT:
        result = optsum.solve(record, strategy=strategy, **asked(record))
        assert (result.status.value, result.key, result.bound_key) == ("optimal", found.best, found.best)
        assert result.selection in found.optima
    optima = optsum.enumerate_optima(record, **asked(record))
    assert (optima.complete, optima.count, set(optima)) == (True, len(found.optima), found.optima)


@settings(max_examples=40)
@given(records())
def test_heuristics_have_valid_bounds(record: dict[str, Any]) -> None:
    best = truth(record, record["budget"]).best
    for strategy in OTHERS:
        result = optsum.solve(record, strategy=strategy, evaluation_limit=300, **asked(record))
        assert result.key is not None
        assert result.bound_key is not None
        assert result.key <= best <= result.bound_key
        assert (result.length or 0) <= record["budget"]


@settings(max_examples=40)
@given(records(5))
def test_every_budget_is_proven(record: dict[str, Any]) -> None:
    most = max(1, sum(record["lengths"]))
    found = optsum.frontier(record, **{**asked(record), "max_length": most}).frontier
    assert found is not None
    steps = {length: step for step in found.steps for length in range(step.first, step.last + 1)}
    for length in range(1, most + 1):
        assert steps[length].objective_exact == str(truth(record, length).best)


@settings(max_examples=25)
@given(records(5), st.sampled_from(["highs", "pyomo:highs"]))
def test_backends_get_the_same_program(record: dict[str, Any], backend: str) -> None:
    result = optsum.solve(record, strategy="milp", backend=backend, verify=True, **asked(record))
    assert (result.status.value, result.key) == ("optimal", truth(record, record["budget"]).best)


@settings(max_examples=40)
@given(records(6), st.integers(0, 2))
def test_side_constraints_and_a_minimum_length_hold(record: dict[str, Any], most: int) -> None:
    sizes = [len(chosen) for chosen in truth(record, record["budget"]).optima]
    result = optsum.solve(record, max_sentences=most, **asked(record))
    assert result.selection is not None
    assert len(result.selection) <= most
    if min(sizes) <= most:
        assert result.key == truth(record, record["budget"]).best
    whole = optsum.solve(record, **{**asked(record), "min_length": record["budget"]})
    if whole.selection is not None:
        assert whole.length == record["budget"]


@settings(max_examples=25)
@given(records(4), st.data())
def test_passages_that_require_others_within_a_budget(record: dict[str, Any], data: st.DataObject) -> None:
    """Draw pairs in chains, trees and cycles; compare minimum lengths, all optima, near ones and every budget."""
    size, most = len(record["lengths"]), record["budget"]
    passage = st.integers(0, size - 1)
    pairs = data.draw(st.lists(st.tuples(passage, passage), min_size=1, max_size=4))
    least = data.draw(st.sampled_from([0, most // 2]))
    paired = {**record, "constraints": {"requires": pairs}}
    weights = [Fraction(str(weight)) for weight in record.get("weights", [1] * len(record["cover"]))]

    def value(selection: tuple[int, ...]) -> Fraction:
        held = [any(set(chosen) <= set(selection) for chosen in sets) for sets in record["cover"]]
        return sum((weight for weight, here in zip(weights, held, strict=True) if here), Fraction()) / sum(weights)

    def kept(selection: tuple[int, ...], low: int, high: int) -> bool:
        fits = low <= sum(record["lengths"][unit] for unit in selection) <= high
        return fits and all(one not in selection or other in selection for one, other in pairs)

    within = {chosen: value(chosen) for chosen in every_set(size) if kept(chosen, least, most)}
    best = max(within.values(), default=None)
    options = {**asked(record), "min_length": least}
    for strategy in EXACT:
        result = optsum.solve(paired, strategy=strategy, **options)
        if best is None:
            assert result.status.value == "infeasible"
        else:
            assert (result.status.value, result.key, within[result.selection or ()]) == ("optimal", best, best)
    near = optsum.enumerate_optima(paired, keep_unmatched=True, within="50%", **options)
    every = optsum.enumerate_optima(paired, keep_unmatched=True, **options)
    if best is not None:
        assert set(every) == {chosen for chosen, worth in within.items() if worth == best}
        assert set(near) == {chosen for chosen, worth in within.items() if 2 * worth >= best}
    for strategy in ("greedy", "vns", "genetic"):
        result = optsum.solve(paired, strategy=strategy, evaluation_limit=200, **options)
        assert result.selection is None or result.key == within[result.selection]
    longest = max(1, sum(record["lengths"]))
    found = optsum.frontier(paired, **{**asked(record), "max_length": longest}).frontier
    assert found is not None
    for step in found.steps:
        for length in {step.first, step.last}:
            assert step.objective_exact == str(
                max(value(chosen) for chosen in every_set(size) if kept(chosen, 0, length))
            )


@settings(max_examples=25)
@given(st.data())
def test_many_passages_are_proven_as_a_solver_proves_them(data: st.DataObject) -> None:
    claims = data.draw(st.integers(3, 15))
    supports = data.draw(
        st.lists(st.lists(st.integers(0, claims - 1), max_size=3, unique=True), min_size=8, max_size=30)
    )
    supports[0] = supports[0] or [0]
    lengths = data.draw(st.lists(st.integers(1, 30), min_size=len(supports), max_size=len(supports)))
    question = {"id": "q", "supports": supports, "lengths": lengths, "weights": [1] * claims}
    options: dict[str, Any] = {"formulation": "cover", "length_unit": "given"}
    for budget in (sum(lengths) // 8, sum(lengths) // 3, sum(lengths)):
        ours, solver = (
            optsum.solve(question, strategy=strategy, max_length=budget, **options)
            for strategy in ("branch-and-bound", "milp")
        )
        assert (ours.status.value, ours.key, ours.bound_key) == ("optimal", solver.key, solver.key)


# --- records ------------------------------------------------------------------------------------------------------


def test_results_have_the_share_the_number_and_the_missed_claims() -> None:
    result = optsum.solve(TOPIC, formulation="cover", max_length=5)
    assert (result.numerator, result.denominator, result.objective) == (4, 5, 0.8)
    assert (result.selection, result.length, result.extra["missed"]) == ((2, 3), 5, [1])
    assert result.summary == ("f g h i", "j")
    assert "len:0-5 words" in (result.signature or "")


def test_without_a_budget_all_claims_are_supported() -> None:
    result = optsum.solve(TOPIC, formulation="cover")
    assert (result.objective, result.numerator, result.selection) == (3, None, (0, 2, 3))
    assert "missed" not in result.extra


def test_supports_are_a_cover_of_single_passages() -> None:
    cover = [[[0], [2]], [[0], [1]], [[1], [2]], [[2]], [[3]]]
    given_, made = optsum.as_topic({"id": "q", "documents": [PASSAGES], "cover": cover}), optsum.as_topic(TOPIC)
    assert made.cover == given_.cover


def test_claims_and_passages_are_called_by_their_names() -> None:
    topic = {
        "id": "q",
        "documents": [PASSAGES],
        "meta": {"sentence_ids": ["p1", "p2", "p3", "p4"], "abstract_ids": ["c1", "c2", "c3"]},
        "supports": [["c1"], ["c1", "c2"], [], []],
    }
    result = optsum.solve(topic, formulation="cover", max_length=5)
    assert (result.selection, result.extra["missed"], result.denominator) == (("p2",), ["c3"], 3)
    unlisted = {"id": "q", "documents": [["a b", "c"]], "supports": [["x", "y"], ["z"]]}
    assert optsum.solve(unlisted, formulation="cover", max_length=1).extra["missed"] == ["x", "y"]


def test_claims_are_the_sentences_of_the_reference() -> None:
    topic = {**TOPIC, "references": [["one", "two", "three", "four", "five", "six", "seven"]]}
    result = optsum.solve(topic, formulation="cover", max_length=100)
    assert (result.numerator, result.denominator, result.extra["missed"]) == (5, 7, [5, 6])
    left_out = optsum.solve(topic, formulation="cover", max_length=100, uncoverable="skip")
    assert (left_out.objective, left_out.denominator, left_out.statistics["uncoverable"]) == (1, 5, [5, 6])


def test_passages_without_text_have_given_lengths_or_count_one() -> None:
    topic = {"id": "q", "supports": TOPIC["supports"], "lengths": [3, 2, 4, 1]}
    given_ = optsum.solve(topic, formulation="cover", max_length=5, length_unit="given")
    assert (given_.selection, given_.length) == ((2, 3), 5)
    one = optsum.solve(topic, formulation="cover", max_length=1, length_unit="sentences")
    assert (one.selection, one.numerator, one.length) == ((2,), 3, 1)
    with pytest.raises(optsum.InputError, match='is therefore unknown: count sentences with length_unit="sentences"'):
        optsum.solve(topic, formulation="cover", max_length=5)


def test_a_topic_is_written_as_it_was_read() -> None:
    from optsum.corpus.topic import topic_to_json

    topic = optsum.as_topic({**TOPIC, "weights": [1, 0.5, 0.1, 3, 2]})
    assert optsum.as_topic(json.loads(json.dumps(topic_to_json(topic)))) == topic
    bare = optsum.as_topic({"id": "q", "supports": [*TOPIC["supports"], []], "lengths": [3, 2, 4, 1, 7]})
    assert optsum.as_topic(json.loads(json.dumps(topic_to_json(bare)))) == bare
    assert optsum.solve(topic_to_json(bare), formulation="cover", max_length=5, length_unit="given").numerator == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"supports": [[0]]}, "supports has 1 lists, but the documents have 4 passages"),
        ({"supports": [[0], [1], [2], 3]}, r"supports\[3\] is a number"),
        ({"supports": [[0], [True], [], []]}, r"supports\[1\]\[0\] is"),
        ({"supports": [[0], [-1], [], []]}, "claim -1"),
        ({"cover": [[[0]]]}, 'both "cover" and "supports"'),
        ({"weights": [1, 2]}, "claim 2, but there are 2"),
        ({"weights": [1, 2, 3, 4, -5]}, r"weights\[4\] is -5"),
        ({"weights": [1, 2, 3, 4, "5"]}, r"weights\[4\] is '5'"),
        ({"weights": [1, 2, 3, 4, float("nan")]}, r"weights\[4\] is nan"),
        ({"weights": [0] * 5}, "all 0"),
        ({"weights": [0.123456789012345, 10**9, 1, 1, 1]}, "too many digits"),
        ({"weights": 5}, "weights are a list"),
        ({"references": [["only one"]]}, "the reference has 1 sentences"),
        ({"supports": [["x"], [1], [], []]}, "claim 'x'"),
        ({"supports": [["x"], [], [], []], "weights": [1]}, "list them all"),
        ({"supports": [[], [], [], []]}, "is empty"),
    ],
)
def test_invalid_records_are_refused_in_one_sentence(change: dict[str, Any], message: str) -> None:
    with pytest.raises(optsum.InputError, match=message):
        optsum.solve({**TOPIC, **change}, formulation="cover", max_length=5)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text(json.dumps(TOPIC) + "\n", encoding="utf-8")
    assert main(["solve", str(file), "--formulation", "cover", "--max-length", "5", "-o", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["numerator"] == 4
    assert main(["frontier", str(file), "--formulation", "cover", "--max-length", "10"]) == 0
    assert "most claims within 10 words" in capsys.readouterr().out
    assert main(["compare", str(file), "--formulation", "cover", "--max-length", "5"]) == 0
    assert "most claims within 5 words" in capsys.readouterr().out
