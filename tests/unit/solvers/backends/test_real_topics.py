"""Check that all solvers promised on CI find the same optima of real topics."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

import pytest
from optsum.solvers.milp import backend_of

import optsum
from optsum.contracts.result import Status
from optsum.corpus.topic import Topic
from optsum.options.options import resolve
from optsum.running.one_problem import build, setup_of
from optsum.running.search import search

PROMISED = ("highs", "cbc", "glpk", "scip", "cp-sat")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "length", "metric"),
    [
        ("gum", 50, "rouge-1"),
        ("opinosis", 40, "rouge-2"),
        ("fewsum_amazon", 70, "rouge-1"),
        ("realsumm", 60, "rouge-2"),
        ("aclsum", 75, "rouge-1"),
    ],
)
def test_all_solvers_have_the_same_optimum(shared_data: Path, name: str, length: int, metric: str) -> None:
    options = resolve({"max_length": length, "metric": metric})
    for topic in islice(optsum.read_topics(shared_data / name / "topics.jsonl"), 2):
        assert isinstance(topic, Topic)
        problem = build(topic, setup_of(options)).problem
        truth = search(problem, "branch-and-bound")
        assert truth.status is Status.OPTIMAL
        for backend in PROMISED:
            if not backend_of(backend).available() and os.environ.get("CI") != "true":
                continue
            result = search(problem, "milp", backend=backend)
            assert (result.status, result.key, result.bound_key) == (Status.OPTIMAL, truth.key, truth.key), backend
