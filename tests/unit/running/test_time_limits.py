"""Check that the time limit of a topic includes the time to build its problem."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.contracts.result import Status
from optsum.corpus.topic import Topic, as_topic
from optsum.options.options import resolve
from optsum.report.comparison import compare_topics, plan_of
from optsum.running.enumerate import resolve_enumeration
from optsum.running.one_problem import Setup, build, setup_of
from optsum.system.clock import Deadline, Stopped, Termination


@pytest.fixture(scope="module")
def long() -> Topic:
    """Return a topic whose 1,500 sentences, taken in pairs, all form a bigram of the reference at their border."""
    rng = np.random.default_rng(0)
    text = [" ".join(rng.choice(list("abcd"), 6)) for _ in range(1500)]
    return as_topic({"id": "long", "documents": [text], "references": [text[:40]]})


JOINED: dict[str, Any] = {"metric": "rouge-2", "boundaries": "joined", "max_length": 100}


def test_a_watched_loop_stops_at_the_deadline() -> None:
    def slow() -> Iterator[int]:
        yield from range(10**9)

    began = perf_counter()
    with pytest.raises(Stopped):
        for _ in Deadline(0.05).watching(slow()):
            pass
    assert perf_counter() - began < 2.0
    with pytest.raises(Stopped):
        list(Deadline(0).watching([1]))
    assert list(Deadline(0).watching([])) == []


def test_building_stops_at_the_limit(long: Topic) -> None:
    began = perf_counter()
    with pytest.raises(Stopped):
        build(long, setup_of(resolve(JOINED)), Deadline(0.05))
    assert perf_counter() - began < 2.0


@pytest.mark.parametrize("references", ["pooled", "best"])
def test_a_problem_not_built_in_time_has_no_solution(long: Topic, references: str) -> None:
    result = optsum.solve(long, strategy="greedy", time_limit=0.05, references=references, **JOINED)
    assert (result.status, result.termination, result.id) == (Status.NO_SOLUTION, Termination.TIME_LIMIT, "long")
    assert 0 < result.seconds < 2.0
    optima = optsum.enumerate_optima(long, time_limit=0.05, references=references, **JOINED)
    assert (optima.count, optima.complete, list(optima)) == (0, False, [])
    assert optima.result.termination is Termination.TIME_LIMIT
    assert optima.to_result().enumeration is not None
    plan = plan_of(["greedy", "lead"], "none", time_limit=0.05, references=references, **JOINED)
    compared = [result for batch in compare_topics([long], plan) for result in batch]
    assert [result.termination for result in compared] == [Termination.TIME_LIMIT] * 2


def test_building_counts_against_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from optsum.running import one_problem

    given: list[float] = []
    real = one_problem.searched

    def noted(problem: Any, strategy: Any, limits: optsum.Limits, *others: Any, **named: Any) -> Any:
        assert limits.time_s is not None
        given.append(limits.time_s)
        return real(problem, strategy, limits, *others, **named)

    topic = {"id": "t", "documents": [["a b", "b c"]], "references": [["a b c"]]}
    optsum.solve(topic, max_length=4, strategy="greedy", time_limit=60)
    monkeypatch.setattr(one_problem, "searched", noted)
    optsum.solve(topic, max_length=4, strategy="greedy", time_limit=60)
    assert given[-1] < 60


def test_references_share_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from optsum.running import enumerate as oracles
    from optsum.running import one_problem

    given: list[float] = []
    search, build_one = one_problem.searched, oracles.build

    def searched(problem: Any, strategy: Any, limits: optsum.Limits, *others: Any, **named: Any) -> Any:
        assert limits.time_s is not None
        given.append(limits.time_s)
        return search(problem, strategy, limits, *others, **named)

    def built(topic: Any, setup: Setup, *others: Any) -> Any:
        given.append(setup.limits.time_s or 0.0)
        return build_one(topic, setup, *others)

    monkeypatch.setattr(one_problem, "searched", searched)
    monkeypatch.setattr(oracles, "build", built)
    topic = {"id": "t", "documents": [["a b", "b c", "c d"]], "references": [["a b c"], ["c d"], ["a d"]]}
    options: dict[str, Any] = {"max_length": 4, "references": "best", "time_limit": 60}
    optsum.enumerate_optima(topic, **options)  # compiles the kernels
    given.clear()
    solved = optsum.solve(topic, strategy="greedy", **options)
    plan = plan_of(["greedy"], "none", **options)
    compared = [result for batch in compare_topics([topic], plan) for result in batch]
    listed = optsum.enumerate_optima(topic, **options)
    assert given[-9:] == pytest.approx(
        [20, 30, 60] * 3, abs=5
    )  # time that one reference leaves goes to the others; the warm-up comes first
    assert compared[0].config_hash == solved.config_hash
    assert listed.result.config_hash == resolve_enumeration(options).config_hash
