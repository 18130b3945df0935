"""Compare the engine on programs with joints and parents with HiGHS, on larger random programs and real topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optsum.solvers.engine.core import program_of
from optsum.solvers.engine.driver import Driver

import optsum
from optsum.contracts.result import Status
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Coverage, Joint, score
from optsum.optima.optima import Optima
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.running.one_problem import build, setup_of
from optsum.running.search import search
from optsum.system.clock import Limits


def one_and_all(instance: Coverage, most: int = 300) -> tuple[int, Optima]:
    """Return the optimum of recall and all optima, of which up to `most` are evaluated again."""
    program = program_of(instance, (1, 0))
    engine = Driver(program, Limits())
    assert engine.feasible
    target = engine.upper
    while (one := engine.one_of(target)) is None:
        target -= 1
    node, reason = engine.all_of(target)
    assert reason is None
    value = target * engine.divisor + program.base
    optima = Optima(engine.store.diagram(node), value, value)
    for chosen in [tuple(sorted(one)), *optima.sample(most, seed=1)]:
        totals, _, violation = score(instance, chosen)
        assert (totals[0], violation) == (value, 0)
    return value, optima


def milp(instance: Coverage) -> int:
    """Return the optimum that HiGHS proves."""
    result = search(CoverageProblem.of(instance), "milp")
    assert result.status is Status.OPTIMAL
    assert result.selection is not None
    return score(instance, result.selection)[0][0]


def random_chunks(rng: np.random.Generator, sentences: int) -> Coverage:
    """Return sentences as trees of chunks, with word pairs that need two chunks and are vetoed by those between."""
    lengths: list[int] = []
    parents: list[int] = []
    rows: list[dict[int, int]] = []
    joints: list[Joint] = []
    features = 3 * sentences
    for _ in range(sentences):
        first, size = len(lengths), int(rng.integers(1, 12))
        for chunk in range(size):
            lengths.append(1 + int(rng.poisson(0.9)))
            parents.append(-1 if chunk == 0 else first + int(rng.integers(0, chunk)))
            held = rng.choice(features, int(rng.integers(0, 3)), replace=False)
            rows.append({int(feature): 1 for feature in held})
        for _ in range(int(rng.integers(0, 4)) if size > 2 else 0):
            ends = sorted(rng.choice(size, 2, replace=False).tolist())
            inner = [first + chunk for chunk in range(ends[0] + 1, ends[1])]
            joints.append(Joint(int(rng.integers(0, features)), (first + ends[0], first + ends[1]), tuple(inner)))
    gains = [sorted(rng.integers(0, 4, int(rng.integers(1, 4))).tolist(), reverse=True) for _ in range(features)]
    window = int(rng.integers(0, 4)) == 0
    return Coverage.of(
        lengths,
        rows,
        gains,
        constants=(0, 1000),
        parents=parents,
        joints=tuple(joints),
        min_length=35 if window else 0,
        max_length=40,
    )


def random_seams(rng: np.random.Generator, sentences: int) -> Coverage:
    """Return sentences with n-grams of their own and across their ends."""
    features = 2 * sentences
    rows = [{int(f): 1 for f in rng.choice(features, int(rng.integers(1, 6)), replace=False)} for _ in range(sentences)]
    joints = []
    for _ in range(2 * sentences):
        i, j = sorted(rng.choice(sentences, 2, replace=False).tolist())
        joints.append(Joint(int(rng.integers(0, features)), (i, j), range(i + 1, j)))
    gains = [[1] if rng.integers(0, 3) else [2, 1] for _ in range(features)]
    lengths = rng.integers(5, 20, sentences).tolist()
    return Coverage.of(lengths, rows, gains, constants=(0, 1000), joints=tuple(joints), max_length=90)


@pytest.mark.parametrize("make", [random_chunks, random_seams])
def test_larger_random_programs_agree_with_highs(make: Any) -> None:
    for seed in range(6):
        instance = make(np.random.default_rng(seed), 20)
        assert one_and_all(instance)[0] == milp(instance), seed


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_chunks, random_seams])
def test_many_larger_random_programs_agree_with_highs(make: Any) -> None:
    for seed in range(10, 14):
        instance = make(np.random.default_rng(seed), 35)
        assert one_and_all(instance)[0] == milp(instance), seed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("realsumm", {"boundaries": "joined", "metric": "rouge-2", "max_length": 60}),
        ("opinosis", {"boundaries": "joined", "metric": "rouge-2", "max_length": 100}),
        ("gum", {"formulation": "compressive", "metric": "rouge-2", "max_length": 50}),
        ("gum", {"formulation": "compressive", "metric": "rouge-1", "max_length": 50}),
    ],
)
def test_real_topics_agree_with_highs(shared_data: Path, name: str, options: dict[str, Any]) -> None:
    compared = 0
    for topic in list(optsum.read_topics(shared_data / name / "topics.jsonl"))[::6]:
        assert isinstance(topic, Topic)
        instance = build(topic, setup_of(resolve(options))).problem.coverage
        assert one_and_all(instance)[0] == milp(instance), topic.id
        compared += 1
    assert compared >= 4
