"""Check every strategy on every formulation and objective: it is right, or refuses by a sentence."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from optsum.contracts.result import Status
from optsum.contracts.strategy import Strategy
from optsum.corpus.topic import Topic, as_topic
from optsum.coverage.instance import Key, Sense
from optsum.errors import UnsupportedError
from optsum.optima.optima import Nearness
from optsum.options.options import resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Problem
from optsum.registry import STRATEGIES
from optsum.running.one_problem import build, setup_of
from optsum.running.search import search
from optsum.system.clock import Limits
from optsum.testing import brute_force, random_topic, selections

OBJECTIVES: dict[str, dict[str, Any]] = {
    "recall": {"max_length": 9},
    "window": {"max_length": 9, "min_length": 6},
    "bigrams": {"metric": "rouge-2", "max_length": 9},
    "su": {"metric": "rouge-su1", "max_length": 9},
    "mean": {"references": "mean", "max_length": 9},
    "set": {"counts": "set", "max_length": 9},
    "sum": {"metric": "rouge-1+rouge-2", "max_length": 9},
    "precision": {"measure": "precision"},
    "f1": {"measure": "f1"},
    "set f1": {"measure": "f1", "counts": "set", "max_length": 9},
    "sum of f1": {"metric": "rouge-1+rouge-2", "measure": "f1", "max_length": 9},
    "mean f1": {"measure": "f1", "references": "mean", "max_length": 9},
    "joined": {"metric": "rouge-2", "boundaries": "joined", "max_length": 9},
    "joined f1": {"metric": "rouge-2", "boundaries": "joined", "measure": "f1", "max_length": 9},
    "meaning": {"metric": "similarity", "max_length": 9},
    "meaning, precision": {"metric": "similarity", "measure": "precision", "max_length": 9},
    "meaning, f1": {"metric": "similarity", "measure": "f1", "max_length": 9},
    "rouge-l": {"metric": "rouge-l", "max_length": 9},
    "cover": {"formulation": "cover"},
}

HEURISTICS = ["greedy", "greedy+ls", "vns", "genetic", "vns+greedy", "genetic+greedy"]


BUDGETS: dict[str, dict[str, Any]] = {
    "vns": {"no_improvement": 15},
    "vns+greedy": {"no_improvement": 15},
    "genetic": {"population": 10, "no_improvement": 4},
    "genetic+greedy": {"population": 10, "no_improvement": 4},
    "vns-paper": {"iterations": 60},
    "vns-paper+greedy": {"iterations": 60},
}
"""Seven sentences need no more."""


def topics() -> list[Topic]:
    made = [random_topic(np.random.default_rng(seed), name=f"t{seed}", sentences=7) for seed in (2, 5)]
    for topic in made:
        last = sum(map(len, topic["documents"])) - 1
        rng = np.random.default_rng(last)
        topic["vectors"] = {
            "sentences": rng.normal(size=(last + 1, 3)),
            "references": rng.normal(size=(sum(map(len, topic["references"])), 3)),
        }
        topic["cover"] = [[[0], [last]], [[last // 2, last]], [[0, last // 2], [last]]]
    return [as_topic(topic) for topic in made]


@cache
def tasks(objective: str, all_units: bool) -> list[tuple[Task, Key | None]]:
    """Return the tasks of an objective with their optima; `all_units` is whether strategies see every sentence."""
    options = resolve({**OBJECTIVES[objective], "strategy": "lead" if all_units else "greedy"})
    assert options.searcher().all_units is all_units
    made = [build(topic, setup_of(options)) for topic in topics()]
    return [(task, brute_force(task.problem).best) for task in made]


def refused(strategy: Strategy, problem: Problem) -> str | None:
    """Return the sentence by which a strategy refuses a problem, or None."""
    try:
        strategy.accept(problem)
    except UnsupportedError as error:
        return str(error)
    return None


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_a_strategy_serves_an_objective_or_refuses_it(strategy: str, objective: str) -> None:
    given = [f"{name}={value}" for name, value in BUDGETS.get(strategy, {}).items()]
    searcher = resolve({**OBJECTIVES[objective], "strategy": strategy, "strategy_options": given}).searcher()
    for task, best in tasks(objective, searcher.all_units):
        problem: Problem = task.problem
        refusal = refused(searcher, problem)
        if refusal is not None:
            assert ". " not in refusal.rstrip("."), "one sentence"
            assert strategy not in HEURISTICS, "the heuristics serve every cell"
            continue
        result = search(problem, searcher, seed=1)
        if result.key is not None:
            assert best is not None
            assert not problem.sense.better(result.key, best)
            assert problem.evaluate(result.selection or ()).feasible
        if searcher.exact:
            assert result.key == best
        elif strategy in HEURISTICS:
            assert result.status is (Status.FEASIBLE if best is not None else Status.NO_SOLUTION)
        if strategy in {"vns", "genetic", "vns+greedy", "genetic+greedy"}:
            assert result.key == best, "so small a topic leaves nothing to miss"


@cache
def near(objective: str, number: int) -> frozenset[tuple[int, ...]]:
    """Return all selections of a problem within a fifth of the best value."""
    task, best = tasks(objective, all_units=False)[number]
    problem = task.problem
    if best is None:
        return frozenset()
    sign = 1 if problem.sense is Sense.MAXIMIZE else -1
    least = best * (1 - sign * Fraction(1, 5))
    every = ((each, problem.evaluate(each)) for each in selections(problem.size))
    return frozenset(each for each, found in every if found.feasible and sign * found.key >= sign * least)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("strategy", STRATEGIES.names())
def test_near_optimal_selections_are_served_or_refused(strategy: str, objective: str) -> None:
    searcher = resolve({**OBJECTIVES[objective], "strategy": strategy}).searcher()
    for number, (task, _) in enumerate(tasks(objective, all_units=False)):
        refusal, found = None, None
        try:
            searcher.accept(task.problem)
            found = searcher.near(task.problem, Nearness(within=Fraction(1, 5)), Limits())
        except UnsupportedError as error:
            refusal = str(error)
        if found is not None:
            assert found.complete
            assert frozenset(found) == near(objective, number)
            continue
        assert refusal is not None
        assert ". " not in refusal.rstrip("."), "one sentence"
        assert strategy not in {"exhaustive", "auto"}
        assert strategy != "branch-and-bound" or objective == "rouge-l"
