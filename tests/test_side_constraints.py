"""Compare branch and bound (rows as features) with HiGHS (true rows) on real topics with side constraints."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from optsum import Status, Topic, read_topics, solve

SIDES: dict[str, dict[str, Any]] = {
    "sentences": {"max_sentences": 3},
    "characters": {"max_characters": 400},
    "apart": {"exclusive": 0.1},
    "at most two of a third": {"third": {"high": 2}},
    "one of each third": {"groups": True},
    "several": {"max_sentences": 5, "max_characters": 450, "exclusive": 0.2, "groups": True, "third": {"high": 3}},
    "more than fits": {"third": {"low": 6}},
}


def constrained(topic: Topic, given: dict[str, Any]) -> tuple[Topic, dict[str, Any]]:
    """Return the topic with constraints on thirds of its sentences, and the remaining options."""
    options, count = dict(given), len(topic.sentences)
    thirds = [list(range(part * count // 3, (part + 1) * count // 3)) for part in range(3)]
    own: dict[str, Any] = {}
    if options.pop("groups", False):
        own["groups"] = [third for third in thirds if third]
    if third := options.pop("third", None):
        own["rows"] = [{"sentences": held, "coefficients": [1] * len(held), **third} for held in thirds]
    return replace(topic, meta={**topic.meta, "constraints": own}) if own else topic, options


@pytest.mark.slow
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize(("name", "measure"), [("realsumm", "recall"), ("gum", "recall"), ("realsumm", "f1")])
def test_both_have_the_same_optimum(shared_data: Path, name: str, measure: str, sides: str) -> None:
    # Extracts of 80 words, with seven kinds of constraints and two metrics.
    every, most = (1, 2) if measure == "f1" else (10, None)
    feasible = 0
    for topic in islice(read_topics(shared_data / name / "topics.jsonl"), 0, most, every):
        for metric in ("rouge-1", "rouge-2"):
            given, options = constrained(topic, SIDES[sides])
            options |= {"metric": metric, "measure": measure, "max_length": 80, "bound": "none"}
            found = solve(given, strategy="branch-and-bound", **options)
            true = solve(given, strategy="milp", **options)
            assert found.status is true.status, topic.id
            assert found.status in {Status.OPTIMAL, Status.INFEASIBLE}
            assert found.objective_exact == true.objective_exact, topic.id
            feasible += found.status is Status.OPTIMAL
    assert feasible or sides == "more than fits"
