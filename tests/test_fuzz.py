"""Random topics and options, every strategy, against the truth found from the text alone (`plain_oracle`)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from plain_oracle import Plain, least_cover
from plain_topics import (
    compressive_options,
    compressive_topic,
    cover_topic,
    extract_options,
    extract_topic,
    with_sides,
)
from trying import Truth

import optsum

EXACT = ("exhaustive", "branch-and-bound", "milp")
HEURISTIC: dict[str, tuple[str, ...]] = {
    "greedy": (),
    "greedy+ls": (),
    "vns": ("no_improvement=5",),
    "vns+greedy": ("no_improvement=5",),
    "genetic": ("population=6", "no_improvement=2"),
    "lead": (),
    "random": (),
    "greedy-rows": (),
    "vns-paper": ("iterations=20",),
}
BLOCK = 10
QUICK, ALL = 30, 130
"""Blocks of cases: 300 in every run of the tests, 1,000 more among the slow ones."""

blocks = [pytest.param(block, marks=[pytest.mark.slow] if block >= QUICK else []) for block in range(ALL)]

few_blocks = [pytest.param(block, marks=[pytest.mark.slow] if block >= 6 else []) for block in range(12)]


def given(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the options as the package takes them."""
    options = dict(options)
    if dropped := options.pop("dropped", None):
        path = folder / "stopwords.txt"
        path.write_text("\n".join(dropped), encoding="utf-8")
        options["stopwords"] = str(path)
    return options


def solved(topic: dict[str, Any], options: dict[str, Any], strategy: str) -> optsum.Result | None:
    """Return the answer of a strategy, None where it does not serve the objective."""
    own = HEURISTIC.get(strategy, ())
    try:
        return optsum.solve(topic, **options, strategy=strategy, strategy_options=own, seed=3)
    except optsum.UnsupportedError:
        return None


def exact_of(result: optsum.Result) -> Fraction:
    """Return the objective as an exact number."""
    assert result.objective_exact is not None
    return Fraction(result.objective_exact)


def check_exact(result: optsum.Result, plain: Plain, truth: Truth) -> None:
    """An exact strategy proves the best value, or that nothing is feasible."""
    if truth.best is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.selection is not None
    assert exact_of(result) == truth.best == plain.value(result.selection)
    assert plain.fits(result.selection)


def check_heuristic(result: optsum.Result, plain: Plain, truth: Truth) -> None:
    """A heuristic's selection fits and is worth what is said, at most the best; its bound is not below the best."""
    if truth.best is None:
        assert result.selection is None
        return
    if result.bound_exact is not None:
        assert Fraction(result.bound_exact) >= truth.best
    if result.selection is None:
        assert result.status == "no_solution"
        return
    assert plain.fits(result.selection)
    assert exact_of(result) == plain.value(result.selection) <= truth.best
    if result.status == "optimal":
        assert exact_of(result) == truth.best


def check_enumeration(topic: dict[str, Any], options: dict[str, Any], plain: Plain, truth: Truth) -> None:
    """All optima are found: of the sentences that take part, every set that reaches the best value."""
    if truth.best is None or truth.best == 0 or options.get("boundaries") == "joined":
        return  # with the value 0 and across sentence ends, which sentences take part is the package's choice
    units = plain.units()
    wanted = {chosen for chosen in truth.optima if units.issuperset(chosen)}
    for strategy in ("exhaustive", "branch-and-bound"):
        try:
            optima = optsum.enumerate_optima(topic, **options, strategy=strategy)
        except optsum.UnsupportedError:
            assert strategy == "branch-and-bound"
            continue
        assert optima.complete
        assert set(optima) == wanted
        assert optima.count == len(wanted)


def check_strategies(topic: dict[str, Any], options: dict[str, Any], plain: Plain, heuristics: Iterable[str]) -> Truth:
    """Hold every exact strategy and some heuristics against the truth."""
    truth = plain.truth()
    for strategy in EXACT:
        result = solved(topic, options, strategy)
        assert result is not None or strategy != "exhaustive", "exhaustive search serves everything"
        if result is not None:
            check_exact(result, plain, truth)
    for strategy in heuristics:
        result = solved(topic, options, strategy)
        if result is not None:
            check_heuristic(result, plain, truth)
    return truth


@pytest.mark.parametrize("block", blocks)
def test_extracts(block: int, tmp_path: Path) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)  # noqa: S311
        tokens = rng.random() < 0.15
        topic = extract_topic(rng, tokens=tokens)
        own = extract_options(rng, topic, tokens=tokens)
        options = given(own, tmp_path)
        plain = Plain(topic, own)
        truth = check_strategies(topic, options, plain, rng.sample(list(HEURISTIC), 3))
        if options["references"] != "best":
            check_enumeration(topic, options, plain, truth)
        check_orders(topic, options, truth)


@pytest.mark.parametrize("block", few_blocks)
def test_extracts_with_side_constraints(block: int, tmp_path: Path) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)  # noqa: S311
        topic = extract_topic(rng, tokens=False)
        own = {"metric": "rouge-l"}
        while own["metric"] == "rouge-l":
            own = extract_options(rng, topic, tokens=False)
        topic = with_sides(rng, topic, own)
        options, plain = given(own, tmp_path), Plain(topic, own)
        truth = check_strategies(topic, options, plain, rng.sample(list(HEURISTIC), 3))
        if options["references"] != "best":
            check_enumeration(topic, options, plain, truth)


@pytest.mark.parametrize("block", few_blocks)
def test_compressions_with_side_constraints(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)  # noqa: S311
        topic, trimmed, profile = compressive_topic(rng)
        options = compressive_options(rng, topic, profile)
        topic = with_sides(rng, topic, options)
        check_strategies(topic, options, Plain(topic, options, trimmed), rng.sample(list(HEURISTIC), 2))


def check_orders(topic: dict[str, Any], options: dict[str, Any], truth: Truth) -> None:
    """More room is never worse; recall across sentence ends is at least that within sentences."""
    if truth.best is None:
        return
    if options.get("max_length") is not None:
        wider = solved(topic, {**options, "max_length": options["max_length"] + 3}, "exhaustive")
        assert wider is not None
        assert exact_of(wider) >= truth.best
    recall = options.get("measure", "recall") == "recall" and options.get("model_units") != "sentences"
    if recall and options["metric"] in {"rouge-1", "rouge-2"} and "boundaries" not in options:
        joined = solved(topic, {**options, "boundaries": "joined"}, "exhaustive")
        assert joined is not None
        assert exact_of(joined) >= truth.best


@pytest.mark.parametrize("block", blocks)
def test_compressions(block: int) -> None:
    for seed in range(block * BLOCK, block * BLOCK + BLOCK // 2):
        rng = random.Random(seed)  # noqa: S311
        topic, trimmed, profile = compressive_topic(rng)
        options = compressive_options(rng, topic, profile)
        plain = Plain(topic, options, trimmed)
        truth = check_strategies(topic, options, plain, rng.sample(list(HEURISTIC), 2))
        check_whole_sentences(topic, options, truth)


def check_whole_sentences(topic: dict[str, Any], options: dict[str, Any], truth: Truth) -> None:
    """A compression is worth at least as much as the best extract."""
    extract = {name: value for name, value in options.items() if name not in {"formulation", "chunk_profile"}}
    result = solved(topic, extract, "exhaustive")
    assert result is not None
    if result.selection is not None:
        assert truth.best is not None
        assert truth.best >= exact_of(result)


@pytest.mark.parametrize("block", blocks)
def test_covers(block: int) -> None:
    for seed in range(block * BLOCK, block * BLOCK + BLOCK // 2):
        rng = random.Random(seed)  # noqa: S311
        topic, options = cover_topic(rng)
        sentences = topic["documents"][0]
        weight = {
            unit: len(text.split()) if options["weights"] == "length" else 1 for unit, text in enumerate(sentences)
        }
        named = {unit for sets in topic["cover"] for one in sets for unit in one}
        truth = least_cover(topic["cover"], {unit: weight[unit] for unit in named})
        assert truth.best is not None
        for strategy in (*EXACT, *rng.sample(["greedy", "greedy+ls", "vns", "genetic", "lead", "random"], 2)):
            result = solved(topic, options, strategy)
            assert result is not None
            if result.selection is None:
                assert result.status == "no_solution"
                assert strategy in {"lead", "random"}
                continue
            value = sum(weight[unit] for unit in result.selection)
            assert exact_of(result) == value >= truth.best
            assert all(any(set(one) <= set(result.selection) for one in sets) for sets in topic["cover"])
            if strategy in EXACT:
                assert result.status == "optimal"
                assert value == truth.best
        for strategy in ("exhaustive", "branch-and-bound"):
            optima = optsum.enumerate_optima(topic, **options, strategy=strategy)
            assert set(optima) == truth.optima
