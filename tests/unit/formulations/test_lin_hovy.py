"""Test Lin & Hovy 2003 (model units, windows, geometric means) against equations 1 and 2 in plain Python."""

from __future__ import annotations

from math import exp, log, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_oracle import Plain

import optsum
from optsum import InputError, OptionError, UnsupportedError, parse_metric
from optsum.testing import random_topic

TOPIC: dict[str, Any] = {
    "id": "t",
    "documents": [["a b c d", "a a b", "c d e f", "x y", "a b c d e f"]],
    "references": [["a b c d", "a e f a"]],
}


def test_a_model_unit_is_clipped_by_itself() -> None:
    """Check that both "a" of "a a b" count for each model unit: 1 of "a b c d", 2 of "a e f a"; joined, 2 of 3."""
    for units, hits in (("sentences", 2 + 2), ("whole", 2 + 1)):  # the b counts for the first unit
        result = optsum.solve(TOPIC | {"documents": [["a a b"]]}, max_length=3, model_units=units)
        assert (result.numerator, result.denominator) == (hits, 8)


@pytest.mark.parametrize("units", ["whole", "sentences"])
@pytest.mark.parametrize("metric", ["ngram-1-1", "ngram-2-2", "ngram-1-2", "ngram-2-3", "ngram-1-4"])
def test_the_optima_are_those_of_the_equations(metric: str, units: str) -> None:
    first, last = int(metric[6]), int(metric[8])
    found = 0
    for seed in range(24):
        topic = random_topic(np.random.default_rng(seed), sentences=7)
        copied = topic["documents"][-1][-1:] if seed % 2 else []  # a copied sentence gives matches of longer n-grams
        topic["references"] = [[*topic["references"][0], *copied]]
        model = [text.split() for text in topic["references"][0]]
        longest = max(map(len, model)) if units == "sentences" else sum(map(len, model))
        if longest < last:  # the reference has no n-gram of that length
            continue
        low, high = 5 + seed % 4, 11 + seed % 4
        options = {"metric": metric, "model_units": units, "min_length": low, "max_length": high}
        truth = Plain(topic, options).truth()
        best, sets = truth.best, truth.optima
        result = optsum.solve(topic, strategy="exhaustive", **options)
        assert result.key == best, seed
        assert result.statistics["best_selections"] == len(sets), seed
        if best is None:
            assert result.status is optsum.Status.INFEASIBLE
            continue
        found += best > 0
        optima = optsum.enumerate_optima(topic, strategy="exhaustive", **options)
        assert set(optima) == sets, seed
        assert result.objective == pytest.approx(float(best) ** (1 / (last - first + 1)), rel=1e-12)
        if first == last:
            assert optsum.solve(topic, strategy="branch-and-bound", **options).key == best, seed
            assert set(optsum.enumerate_optima(topic, strategy="branch-and-bound", **options)) == sets, seed
            assert optsum.solve(topic, strategy="milp", **options).key == best, seed
    assert found >= 2


def test_the_official_scores_agree_with_the_objective() -> None:
    for seed in range(30):
        topic = random_topic(np.random.default_rng(seed), sentences=6)
        for units in ("whole", "sentences"):
            for metric in ("rouge-1", "rouge-2"):
                if not any(len(" ".join(reference).split()) > 1 for reference in topic["references"]):
                    continue
                try:
                    result = optsum.solve(topic, metric=metric, model_units=units, max_length=9, strategy="exhaustive")
                except InputError:
                    continue
                summary = [text for document in topic["documents"] for text in document]
                score = optsum.rouge(
                    [summary[i] for i in result.selection or ()],
                    topic["references"],
                    metric,
                    boundaries="sentence",
                    model_units=units,
                )
                assert (score.hits, score.reference_total) == (result.numerator, result.denominator), (seed, metric)


def test_a_mean_is_the_formula_of_the_paper() -> None:
    """Check Ngram(1, 4) = exp(sum of w_n log C_n) with w_n = 1/4."""
    result = optsum.solve(TOPIC, metric="ngram-1-4", model_units="sentences", strategy="exhaustive", max_length=10)
    sentences = TOPIC["documents"][0]
    parts = [
        optsum.rouge(
            [sentences[i] for i in result.selection or ()],
            TOPIC["references"],
            f"rouge-{n}",
            boundaries="sentence",
            model_units="sentences",
        ).recall
        for n in range(1, 5)
    ]
    assert result.objective == pytest.approx(exp(sum(log(part) / 4 for part in parts)), rel=1e-12)
    assert float(result.key or 0) == pytest.approx(prod(parts), rel=1e-12)


def test_a_mean_with_a_part_of_zero_is_zero() -> None:
    result = optsum.solve(TOPIC, metric="ngram-1-4", strategy="exhaustive", max_length=3)
    assert result.objective == 0.0


def test_names_of_means() -> None:
    assert [part.size for part in parse_metric("ngram-2-4").components] == [2, 3, 4]
    assert str(parse_metric("ngram-2-4")) == "ngram-2-4"
    assert parse_metric("ngram-3-3") == parse_metric("rouge-3")
    for name, hint in (("ngram-3-1", "ngram-1-3"), ("ngram-1-4+rouge-1", "alone"), ("ngram-1-5", "ngram-1-4")):
        with pytest.raises(OptionError, match=hint):
            parse_metric(name)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"metric": "ngram-1-2", "measure": "f1"}, "is defined for recall"),
        ({"metric": "ngram-1-2", "references": "mean"}, 'pooled", each or best'),
        ({"model_units": "sentences", "measure": "f1"}, 'model_units="whole"'),
        ({"model_units": "sentences", "metric": "rouge-l"}, 'model_units="whole"'),
        ({"metric": "ngram-1-2", "formulation": "compressive"}, 'formulation="extractive"'),
        ({"model_units": "sentences", "formulation": "compressive"}, 'formulation="extractive"'),
    ],
)
def test_unsupported_options_are_refused(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(UnsupportedError, match=hint):
        optsum.solve(TOPIC, max_length=10, **{"strategy": "exhaustive", **options})


def test_a_reference_without_the_longest_n_grams_has_no_mean() -> None:
    with pytest.raises(InputError, match="no ngram-1-4 n-gram"):
        optsum.solve(TOPIC | {"references": [["a b c"]]}, metric="ngram-1-4", strategy="exhaustive", max_length=10)


def test_systems_are_scored_by_model_units() -> None:
    score = optsum.rouge(["a a b"], TOPIC["references"], model_units="sentences")
    assert score.recall == 4 / 8
    with pytest.raises(OptionError, match="model_units"):
        optsum.rouge(["a"], [["a"]], model_units="edus")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="rouge-l"):
        optsum.rouge(["a"], [["a"]], "rouge-l", model_units="sentences")


def test_lead_extracts_of_real_documents(shared_data: Path) -> None:
    """Check the mean unigram agreement of leads of at most 105 words, by model units and by the whole reference."""
    topics = list(optsum.read_topics(shared_data / "realsumm" / "topics.jsonl"))
    for units, expected in (("sentences", 0.581), ("whole", 0.544)):
        results = list(optsum.solve_all(topics, strategy="lead", model_units=units, max_length=105))
        assert np.mean([result.objective for result in results]) == pytest.approx(expected, abs=5e-4)


def test_exhaustive_and_branch_and_bound_agree_on_real_documents(shared_data: Path) -> None:
    topics = [
        topic
        for topic in optsum.read_topics(shared_data / "realsumm" / "topics.jsonl")
        if isinstance(topic, optsum.Topic) and len(topic.sentences) <= 24
    ][:10]
    for first, second in zip(
        optsum.solve_all(topics, preset="lin-hovy-100", strategy="exhaustive"),
        optsum.solve_all(topics, preset="lin-hovy-100", strategy="branch-and-bound"),
        strict=True,
    ):
        assert first.objective_exact == second.objective_exact
        assert first.length is not None
        assert 95 <= first.length <= 105
