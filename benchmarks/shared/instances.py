"""Coverage instances of topics, built by the extractive formulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import optsum
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage
from optsum.options.options import resolve
from optsum.running.one_problem import build, problems, setup_of


def instances_of(topic: Topic, options: Mapping[str, Any]) -> Iterator[Coverage]:
    """Yield the instance of a topic, or one for each reference that has n-grams."""
    resolved = resolve({**options, "strategy": "branch-and-bound"})
    for part in problems(topic, setup_of(resolved)):
        try:
            yield build(part, setup_of(resolved)).problem.coverage
        except optsum.InputError:
            continue
