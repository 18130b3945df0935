"""Compare every exact way to an answer with brute force, on each family of small instances: one optimum and all.

`WAYS` names the ways that serve an instance: strategies, backends, and the searches inside branch and bound, which are
called directly here because the strategy might choose another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from held_against import check_bound, check_search, check_strategy_on, over_primes
from optsum.solvers import branch_and_bound, certificate
from optsum.solvers.engine import core
from optsum.solvers.engine.driver import Effort
from optsum.solvers.exhaustive import strategy as exhaustive
from optsum.solvers.few_units import search_few_units
from optsum.solvers.objectives.one_ratio import solve_knapsack, solve_ratio, solve_recall
from optsum.solvers.objectives.sums import solve_sum

from optsum.corpus.topic import as_topic
from optsum.coverage.instance import Combination, Coverage, Sense
from optsum.optima.optima import Optima
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem
from optsum.program import ratio_bound
from optsum.running.one_problem import build, setup_of
from optsum.system.clock import Limits
from optsum.testing import KINDS, Enumeration, brute_force, random_coverage, random_topic

SUMS: Final[dict[str, dict[str, Any]]] = {
    "two metrics": {"metric": "rouge-1+rouge-2", "measure": "f1"},
    "two metrics, sets": {"metric": "rouge-1+rouge-2", "measure": "f1", "counts": "set"},
    "two metrics, precision": {"metric": "rouge-1+rouge-2", "measure": "precision"},
    "mean": {"measure": "f1", "references": "mean"},
    "mean, sets": {"measure": "f1", "references": "mean", "counts": "set"},
    "mean of two metrics": {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"},
}
"""Objectives of topics that are sums of ratios: their denominators vary together, as those of random numbers do not."""
JOINED: Final = {"metric": "rouge-2", "measure": "f1", "boundaries": "joined"}


def of_topic(seed: int, objective: dict[str, Any], sentences: int = 6) -> Coverage:
    """Return the instance of a random topic, with one of three length limits."""
    rng = np.random.default_rng(seed)
    topic = as_topic(random_topic(rng, sentences=sentences))
    limits = ({}, {"max_length": 12}, {"max_length": 14, "min_length": 5})[int(rng.integers(0, 3))]
    options = resolve({**objective, **limits, "strategy": "branch-and-bound"})
    return build(topic, setup_of(options)).problem.coverage


def windowed(seed: int, kind: str) -> Coverage:
    """Return an instance with a minimum length."""
    rng = np.random.default_rng(seed)
    instance = random_coverage(rng, kind=kind, units=6)
    most = min(instance.max_length, int(instance.lengths.sum()) + 1)
    least = 0 if instance.goal is Sense.MINIMIZE else int(rng.integers(min(1, most), most + 1))
    return replace(instance, min_length=least)


def in_millions(seed: int) -> Coverage:
    """Return an instance whose bound is millions above its optimum, so that the optimum is found by bisection."""
    rng = np.random.default_rng(seed)
    instance = random_coverage(rng, kind=("recall", "window")[seed % 2])
    times = rng.integers(10**6, 10**7, len(instance.level_start) - 1)
    return replace(instance, level=instance.level * np.repeat(times, np.diff(instance.level_start)))


FAMILIES: Final[dict[str, Callable[[int], Coverage]]] = {
    **{
        kind: lambda seed, kind=kind: random_coverage(np.random.default_rng(seed), kind=kind)
        for kind in (*KINDS, "harmonic")
    },
    "joined topic": lambda seed: of_topic(seed, JOINED),
    **{f"topic: {name}": lambda seed, given=given: of_topic(seed, given) for name, given in SUMS.items()},
    **{
        f"minimum: {kind}": lambda seed, kind=kind: windowed(seed, kind)
        for kind in KINDS
        if kind not in {"cover", "huge"}
    },
    "millions": in_millions,
    "primes": over_primes,
}


@cache
def tried(family: str, seed: int) -> tuple[Coverage, Enumeration]:
    """Return an instance and the outcome of brute force."""
    instance = FAMILIES[family](seed)
    return instance, brute_force(CoverageProblem.of(instance))


Way = Callable[[Coverage, Enumeration], bool]
"""Holds an answer against the truth; returns whether there was one."""


def served(name: str, *, listed: bool = False, **options: Any) -> Way:
    """Return a way that calls a strategy."""
    return lambda instance, truth: check_strategy_on(
        CoverageProblem.of(instance), name, truth, listed=listed, **options
    )


def searched(solve: Callable[..., Optima], serves: Callable[[Coverage], bool], **options: Any) -> Way:
    """Return a way that calls a search inside branch and bound."""

    def way(instance: Coverage, truth: Enumeration) -> bool:
        if serves(instance):
            check_search(solve, instance, truth, **options)
        return serves(instance)

    return way


def few_units(instance: Coverage, truth: Enumeration) -> bool:
    """Search selections of few units."""
    found = search_few_units(instance, lambda: None)
    if found is None:
        return False
    assert found.done
    assert found.selection in (truth.optima if truth.best is not None else [None])
    assert truth.best is None or found.key == truth.best
    return True


def in_steps(instance: Coverage, truth: Enumeration) -> bool:
    """Visit all selections in many short slices."""
    with pytest.MonkeyPatch.context() as patch:
        for walker in (exhaustive.Pairs, exhaustive.Flips):
            patch.setattr(walker, "stride", 5)
        return served("exhaustive")(instance, truth)


def one_by_one(instance: Coverage, truth: Enumeration) -> bool:
    """Visit all selections without a kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhaustive, "walker_of", exhaustive.OneByOne)
        return served("exhaustive")(instance, truth)


def by_rows(instance: Coverage, truth: Enumeration) -> bool:
    """Search with a row in place of the minimum length."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "_CELLS", 0)
        assert core.with_minimum_row(instance).min_length == 0, "this is what is tested"
        return served("branch-and-bound", listed=True)(instance, truth)


def is_recall(instance: Coverage) -> bool:
    """Whether an instance is a recall without joints and rows."""
    return instance.constant_denominator and not instance.joints and not instance.rows


def is_many(instance: Coverage) -> bool:
    """Whether an instance has several ratios."""
    return instance.combination is not Combination.RATIO


def is_one(instance: Coverage) -> bool:
    """Whether an instance has one ratio, whose denominator varies."""
    return not is_many(instance) and not instance.constant_denominator and instance.goal is Sense.MAXIMIZE


def as_if_many(way: Way) -> Way:
    """Return a way that takes every instance for one with many joints, and many units in good selections."""

    def held(instance: Coverage, truth: Enumeration) -> bool:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(branch_and_bound, "_MANY", -1)
            patch.setattr(branch_and_bound, "_MANY_OF_FEW", -1)
            for module in (branch_and_bound, certificate, ratio_bound):
                patch.setattr(module, "MANY_JOINTS", 0)
            return way(instance, truth)

    return held


def bounded(instance: Coverage, truth: Enumeration) -> bool:
    """Hold the root bound, which no strategy changes, against the truth."""
    return check_bound(CoverageProblem.of(instance), truth)


TOPICS: Final = tuple(name for name in FAMILIES if name.startswith("topic: "))
MINIMUM: Final = tuple(name for name in FAMILIES if name.startswith("minimum: "))
MANY: Final = ("sum", "product", "harmonic")
SLOW: Final = ("minimum: sum", "minimum: product")
"""Families of several ratios, whose root bound takes as long as a hundred searches."""
SPLIT: Final = Effort(start=2, first=3, longest=0)
DEEPEST: Final = Effort(start=2, first=3, longest=0, slice=4, deepest=1)

WAYS: Final[dict[str, tuple[Way, int, tuple[str, ...]]]] = {
    "exhaustive": (served("exhaustive", listed=True), 30, (*KINDS, "harmonic", "millions")),
    "exhaustive in steps": (in_steps, 20, ("recall", "window", "compressive", "cover", "f1", "product", "harmonic")),
    "exhaustive one by one": (one_by_one, 20, ("recall", "window", "compressive", "cover", "sum")),
    "branch-and-bound": (served("branch-and-bound", listed=True), 40, (*KINDS, "harmonic", "millions")),
    "branch-and-bound by rows": (by_rows, 20, MINIMUM),
    "root bound": (bounded, 30, tuple(kind for kind in (*KINDS, "millions") if kind not in MANY)),
    "root bound of sums": (bounded, 12, (*MANY, "minimum: sum", "minimum: product")),
    "root bound with a minimum": (bounded, 20, tuple(each for each in MINIMUM if each not in SLOW)),
    "milp": (served("milp"), 20, tuple(kind for kind in KINDS if kind not in {"joined", "product", "huge"})),
    "milp of topics": (served("milp"), 6, (*TOPICS, "primes")),
    "pyomo:highs": (
        served("milp", backend="pyomo:highs"), 10, ("recall", "window", "compressive", "cover", "f1", "set"),
    ),
    "recall": (searched(solve_recall, is_recall), 100, ("recall", "window", "millions")),
    "recall, split": (searched(solve_recall, is_recall, effort=SPLIT), 100, ("recall", "window", "millions")),
    "recall, split once": (searched(solve_recall, is_recall, effort=DEEPEST), 60, ("recall", "window")),
    "knapsack": (searched(solve_knapsack, is_recall), 100, ("recall",)),
    "one ratio": (searched(solve_ratio, lambda each: not each.constant_denominator), 40, ("precision", "f1", "set")),
    "one ratio as a sum": (
        searched(solve_sum, is_one, few=0), 30, ("joined topic", "joined", "precision", "f1", "set"),
    ),
    "one ratio of many units": (
        as_if_many(served("branch-and-bound", listed=True)), 20, ("joined topic", "joined", "precision", "f1", "sided"),
    ),
    "root bound of many joints": (as_if_many(bounded), 20, ("joined topic", "joined", "compressive", "sided")),
    "few units": (few_units, 40, ("recall", "window", "precision", "f1", "set", "sum")),
    "sums": (searched(solve_sum, is_many), 30, ("sum", "product", "harmonic")),
    "sums of topics": (searched(solve_sum, is_many), 12, TOPICS),
    "sums by programs": (searched(solve_sum, is_many, few=0), 20, ("harmonic",)),
    "sums of topics by programs": (searched(solve_sum, is_many, few=0), 5, TOPICS),
}  # fmt: skip
"""Ways, how many instances of a family each is asked, and the families that it serves."""

CELLS: Final = [(way, family) for way, (_, _, families) in WAYS.items() for family in families]


@pytest.mark.parametrize(("way", "family"), CELLS)
def test_the_optima_are_those_of_trying_all(way: str, family: str) -> None:
    hold, seeds, _ = WAYS[way]
    answers = 0
    for seed in range(seeds):
        try:
            answers += hold(*tried(family, seed))
        except AssertionError as error:
            error.add_note(f"{way}, {family}, seed {seed}")
            raise
    assert 4 * answers >= seeds


@pytest.mark.parametrize("above", [-1, 0, 1, 2**40])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cover"])
def test_a_maximum_length_that_excludes_nothing(kind: str, above: int) -> None:
    """Compare all optima around the maximum length from which the engine's knapsack tables have one column."""
    for seed in range(12):
        drawn = random_coverage(np.random.default_rng(seed), kind=kind)
        if drawn.goal is Sense.MINIMIZE:  # branch and bound refuses side constraints there
            continue
        whole = int(drawn.lengths.sum())
        problem = CoverageProblem.of(drawn.changed(min_length=0, max_length=max(0, whole + above)))
        found = branch_and_bound.BranchAndBound().enumerate(problem, Limits())
        assert set(found) == set(brute_force(problem).optima), seed
