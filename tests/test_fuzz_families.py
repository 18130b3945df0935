"""Compare near-optimal selections, frontiers and covers with side constraints with brute force, on random topics."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from plain_oracle import Plain, length_of
from plain_topics import cover_topic, extract_options, extract_topic, with_sides
from trying import best_of, every_set

import optsum

BLOCK = 10


def drawn(rng: random.Random, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a random topic and options that brute force can enumerate, every third with side constraints."""
    while True:
        topic = extract_topic(rng, tokens=False)
        options = extract_options(rng, topic, tokens=False)
        options.pop("dropped", None)
        served = options.get("boundaries") != "joined" and options["references"] in {"pooled", "mean", "first"}
        if served and options["metric"] != "rouge-l" and not options["metric"].startswith("ngram"):
            break
    return (with_sides(rng, topic, options) if number % 3 == 0 else topic), options


def nearness(rng: random.Random, best: Fraction) -> dict[str, Any]:
    """Return random options for how near to the best a selection must be."""
    return rng.choice(
        [
            {"within": f"{rng.randint(0, 60)}%"},
            {"at_least": str(best * rng.randint(1, 10) / 10)},
            {"within_steps": rng.randint(0, 3)},
            {"best": rng.randint(1, 4)},
        ]
    )


def threshold(given: dict[str, Any], values: dict[tuple[int, ...], Fraction], least: Fraction | None) -> Fraction:
    """Return the least value that a near-optimal selection may have; `least` is what the package says of a step."""
    best = max(values.values())
    if "within" in given:
        return best * (100 - int(given["within"][:-1])) / 100
    if "at_least" in given:
        return Fraction(given["at_least"])
    if "best" in given:
        return sorted(set(values.values()), reverse=True)[: given["best"]][-1]
    assert least is not None
    assert least <= best
    return least


@pytest.mark.parametrize("block", range(12))
def test_near_optimal_selections_are_those_of_brute_force(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)  # noqa: S311
        topic, options = drawn(rng, seed)
        plain = Plain(topic, options)
        units = plain.units()
        values = {chosen: value for chosen, value in plain.values().items() if units.issuperset(chosen)}
        best = max(values.values(), default=Fraction(0))
        if not best:
            continue  # if nothing is worth anything, the package may choose which sentences take part
        given = nearness(rng, best)
        for strategy in ("branch-and-bound", "exhaustive"):
            if "within_steps" in given and options.get("measure") != "recall":
                with pytest.raises(optsum.UnsupportedError, match="step"):
                    optsum.enumerate_optima(topic, **options, **given, strategy=strategy)
                continue
            near = optsum.enumerate_optima(topic, **options, **given, strategy=strategy)
            wanted = {
                chosen: value for chosen, value in values.items() if value >= threshold(given, values, near.least)
            }
            assert near.complete
            assert set(near) == set(wanted), (seed, given)
            assert near.count == len(wanted)
            held = Counter(unit for chosen in wanted for unit in chosen)
            assert near.share() == {unit: Fraction(count, len(wanted)) for unit, count in held.items()}
            counted = near.value_counts()
            assert counted is not None
            assert [count for _, count in counted] == [
                count for _, count in sorted(Counter(wanted.values()).items(), reverse=True)
            ]


@pytest.mark.parametrize("block", range(4))
def test_frontiers_are_those_of_brute_force(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)  # noqa: S311
        topic, options = drawn(rng, 3 * seed if seed % 2 else 1)  # every second topic has side constraints
        options.pop("min_length", None)
        most = 14 if options.get("length_unit", "words") == "words" else 60
        unit = options.get("length_unit", "words")
        options.pop("max_length", None)
        sentences = [sentence for document in topic["documents"] for sentence in document]
        values = Plain(topic, {**options, "max_length": most}).values()
        lengths = {chosen: sum(length_of(sentences[one], unit) for one in chosen) for chosen in values}
        about = optsum.frontier(topic, lengths=range(1, most + 1), **options).frontier
        assert about is not None
        assert about.complete
        for length in range(1, most + 1):
            (step,) = [step for step in about.steps if step.first <= length <= step.last]
            truth = max((value for chosen, value in values.items() if lengths[chosen] <= length), default=None)
            said = step.objective_exact
            assert (None if said is None else Fraction(said)) == truth, (seed, length)
            assert step.bound == step.objective


@pytest.mark.parametrize("block", range(4))
def test_covers_with_side_constraints_are_those_of_brute_force(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)  # noqa: S311
        topic, options = cover_topic(rng)
        sentences = topic["documents"][0]
        topic = with_sides(rng, {**topic, "references": []}, options)
        plain = Plain({**topic, "documents": [sentences]}, options)

        def covers(chosen: tuple[int, ...], topic: dict[str, Any] = topic, plain: Plain = plain) -> bool:
            held = set(chosen)
            characters = sum(len(plain.sentences[one]) for one in chosen)
            return plain.keeps(chosen, characters) and all(
                any(held.issuperset(one) for one in sets) for sets in topic["cover"]
            )

        weight = [len(text.split()) if options["weights"] == "length" else 1 for text in sentences]
        candidates = filter(covers, every_set(len(sentences)))
        truth = best_of(candidates, lambda chosen: Fraction(sum(weight[one] for one in chosen)), least=True)  # noqa: B023
        for strategy in ("milp", "exhaustive", "auto"):
            found = optsum.solve(topic, **options, strategy=strategy)
            if truth.best is None:
                assert found.status.value == "infeasible", (seed, strategy)
                continue
            assert found.status.value == "optimal"
            assert found.objective_exact is not None
            assert Fraction(found.objective_exact) == truth.best, (seed, strategy)
            assert found.selection in truth.optima
