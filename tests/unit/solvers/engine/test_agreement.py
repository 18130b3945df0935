"""Check that the paper's bound and the default one find the same optima on every eighth topic of six data sets."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from optsum.solvers.objectives.one_ratio import solve_knapsack, solve_recall

import optsum
from optsum.corpus.topic import Topic
from optsum.options.options import resolve
from optsum.running.one_problem import build, problems, setup_of
from optsum.system.clock import Limits

WORDS = {"opinosis": 40, "gum": 50, "fewsum_amazon": 50, "realsumm": 60, "summeval": 60, "aclsum": 60}
LISTED = 3000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "metric", "references"),
    [
        *((name, "rouge-1", "each") for name in ("opinosis", "realsumm", "aclsum")),
        *((name, "rouge-2", "pooled") for name in ("gum", "fewsum_amazon", "summeval")),
    ],
)
def test_knapsack_and_default_agree(shared_data: Path, name: str, metric: str, references: str) -> None:
    options = resolve(
        {"metric": metric, "max_length": WORDS[name], "references": references, "strategy": "branch-and-bound"}
    )
    compared = 0
    for topic in islice(optsum.read_topics(shared_data / name / "topics.jsonl"), 0, None, 8):
        assert isinstance(topic, Topic)
        for part in problems(topic, setup_of(options)):
            try:
                coverage = build(part, setup_of(options)).problem.coverage
            except optsum.InputError:  # a reference of one word has no bigram
                continue
            ours, papers = (
                solve_recall(coverage, every=True),
                solve_knapsack(coverage, Limits(nodes=50_000_000), every=True),
            )
            assert ours.complete
            assert papers.complete
            assert (ours.value, ours.count) == (papers.value, papers.count), part.id
            if ours.count <= LISTED:
                assert set(ours) == set(papers), part.id
            one = solve_recall(coverage, every=False)
            assert one.proven
            assert one.value == ours.value
            compared += 1
    assert compared >= 3
