"""Compare near-optimal selections with brute force on instances of every kind."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optsum.solvers.branch_and_bound import BranchAndBound, smallest_fraction

from optsum.coverage.instance import Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.optima.optima import Nearness
from optsum.optima.tally import power_of, step_of
from optsum.problem.problem import CoverageProblem
from optsum.system.clock import Limits
from optsum.testing import KINDS, random_coverage, selections

SEEDS = 12
"""Instances of each kind here; 400 of each were run."""


def every_feasible(problem: CoverageProblem) -> dict[tuple[int, ...], Fraction]:
    found = {}
    for selection in selections(problem.size):
        evaluation = problem.evaluate(selection)
        if evaluation.feasible:
            found[selection] = Fraction(evaluation.key)
    return found


def wanted(values: dict[tuple[int, ...], Fraction], nearness: Nearness, instance: Coverage) -> set[tuple[int, ...]]:
    """Return the near-optimal selections by definition."""
    sign = 1 if instance.goal is Sense.MAXIMIZE else -1
    best = max(values.values(), key=lambda key: sign * key)
    if nearness.values is not None:
        kept = sorted(set(values.values()), key=lambda key: -sign * key)[: nearness.values]
        return {each for each, key in values.items() if key in kept}
    if nearness.within is not None:
        power = power_of(instance)
        least = best * (1 - nearness.within) ** power if sign > 0 else best * (1 + nearness.within)
    elif nearness.steps is not None:
        step = step_of(instance)
        assert step is not None
        least = best - sign * nearness.steps * step
    else:
        assert nearness.at_least is not None
        least = nearness.at_least ** power_of(instance)
    return {each for each, key in values.items() if sign * key >= sign * least}


def thresholds(rng: np.random.Generator, best: Fraction, instance: Coverage) -> list[Nearness]:
    share = Fraction(int(rng.integers(0, 60)), 100)
    value = best * (1 - share) if instance.goal is Sense.MAXIMIZE else best * (1 + share)
    if power_of(instance) > 1:
        value = Fraction(int(rng.integers(1, 10)), 10)
    found = [Nearness(within=share), Nearness(at_least=value), Nearness(values=int(rng.integers(1, 5)))]
    if step_of(instance) is not None:
        found.append(Nearness(steps=int(rng.integers(0, 4))))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_near_families_are_those_of_all_selections(kind: str) -> None:
    strategy = BranchAndBound()
    searched = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, len(kind)])
        problem = CoverageProblem.of(random_coverage(rng, kind=kind, units=6))
        values = every_feasible(problem)
        try:
            strategy.accept(problem)
        except UnsupportedError:
            continue
        if not values:
            found = strategy.near(problem, Nearness(within=Fraction(1, 10)), Limits())
            assert (found.count, found.complete, found.best) == (0, True, None)
            continue
        sign = 1 if problem.sense is Sense.MAXIMIZE else -1
        best = max(values.values(), key=lambda key: sign * key)
        for nearness in thresholds(rng, best, problem.coverage):
            found = strategy.near(problem, nearness, Limits())
            listed = list(found)
            assert found.complete, (seed, nearness)
            assert len(set(listed)) == len(listed) == found.count
            assert set(listed) == wanted(values, nearness, problem.coverage), (seed, nearness)
            assert found.best is not None
            assert values[found.best] == best
            searched += 1
    assert searched > SEEDS


@given(st.fractions(min_value=0, max_value=3, max_denominator=500), st.integers(1, 60))
def test_the_smallest_fraction_above(value: Fraction, largest: int) -> None:
    expected = min(Fraction(-(-value.numerator * q // value.denominator), q) for q in range(1, largest + 1))
    assert smallest_fraction(value, largest) == expected


def refused(**given: Any) -> str:
    problem = CoverageProblem.of(random_coverage(np.random.default_rng(3), kind="f1", units=6))
    with pytest.raises(UnsupportedError) as error:
        BranchAndBound(**given).near(problem, Nearness(steps=1), Limits())
    return str(error.value)


def test_a_ratio_has_no_steps() -> None:
    assert "no steps of one size" in refused()
