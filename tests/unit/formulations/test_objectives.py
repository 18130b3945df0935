"""Every objective of extracts, from text: brute force, both exact searches, all optima, and milp where it serves."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.corpus.topic import as_topic
from optsum.metrics.rouge import rouge_all
from optsum.options.options import resolve
from optsum.registry import STRATEGIES
from optsum.running.one_problem import build, setup_of
from optsum.testing import brute_force, random_topic

OBJECTIVES: dict[str, dict[str, Any]] = {
    "recall": {},
    "recall of sets": {"counts": "set"},
    "recall of two": {"metric": "rouge-1+rouge-2"},
    "mean recall": {"metric": "rouge-2", "references": "mean"},
    "skip recall": {"metric": "rouge-su2"},
    "model units": {"model_units": "sentences"},
    "joined recall": {"metric": "rouge-2", "boundaries": "joined"},
    "F1": {"measure": "f1"},
    "F1 of pairs": {"metric": "rouge-2", "measure": "f1"},
    "F1 of skips": {"metric": "rouge-su0", "measure": "f1"},
    "F1 of sets": {"measure": "f1", "counts": "set"},
    "precision": {"metric": "rouge-2", "measure": "precision"},
    "precision of sets": {"measure": "precision", "counts": "set"},
    "joined F1": {"metric": "rouge-2", "measure": "f1", "boundaries": "joined"},
    "F1 of two": {"metric": "rouge-1+rouge-2", "measure": "f1"},
    "F1 of two, sets": {"metric": "rouge-1+rouge-2", "measure": "f1", "counts": "set"},
    "precision of two": {"metric": "rouge-1+rouge-2", "measure": "precision"},
    "joined F1 of two": {"metric": "rouge-1+rouge-2", "measure": "f1", "boundaries": "joined"},
    "mean F1": {"measure": "f1", "references": "mean"},
    "mean F1 of sets": {"measure": "f1", "references": "mean", "counts": "set"},
    "mean F1 of two": {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"},
    "geometric mean": {"metric": "ngram-1-2"},
    "geometric mean of units": {"metric": "ngram-1-2", "model_units": "sentences"},
}
LINEAR = {
    "recall", "recall of sets", "recall of two", "mean recall", "skip recall", "model units", "joined recall", "F1",
    "F1 of pairs", "F1 of skips", "F1 of sets", "precision", "precision of sets", "joined F1",
}  # fmt: skip
"""What milp serves."""

LIMITS: list[dict[str, int]] = [{"max_length": 12}, {"max_length": 14, "min_length": 5}, {}]
"""None only where the measure allows it."""


def check(objective: str, seed: int) -> bool:
    """Compare all exact ways on a random topic; whether there was something to search."""
    rng = np.random.default_rng(seed)
    topic = as_topic(random_topic(rng, sentences=6))
    given = OBJECTIVES[objective]
    limits = LIMITS[int(rng.integers(0, 3 if given.get("measure") in {"f1", "precision"} else 2))]
    try:
        task = build(topic, setup_of(resolve({**given, **limits})))
    except optsum.InputError:  # no reference n-gram
        return False
    problem, where = task.problem, (objective, seed)
    truth = brute_force(problem)
    names = ["exhaustive", "branch-and-bound", *(["milp"] if objective in LINEAR else [])]
    for name in names:
        result = optsum.search(problem, name)
        assert result.status == ("infeasible" if truth.best is None else "optimal"), (*where, name)
        assert result.key == truth.best, (*where, name)
        assert truth.best is None or result.selection in truth.optima, (*where, name)
    for name in names[:2]:
        optima = STRATEGIES.create(name, {}).enumerate(problem, optsum.Limits())
        assert optima.complete, (*where, name)
        assert set(optima) == set(truth.optima), (*where, name)
        assert optima.count == len(truth.optima), (*where, name)
    if given.get("boundaries") == "joined" and truth.best is not None:
        measure = given.get("measure", "recall")
        for selection in truth.optima[:3]:
            scores = rouge_all(task.decode(selection) or (), topic.references, [given["metric"]])
            official = sum((score.exact(measure) for score in scores.values()), Fraction(0)) / len(scores)
            assert official == truth.best, where
    return bool(truth.best)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_all_exact_ways_agree(objective: str) -> None:
    assert sum(check(objective, seed) for seed in range(30)) >= 15
