"""Statistics of all the selections of a near-optimal family: values, shares, what could be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from optsum.contracts.enumeration import Near
from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.optima.apart import far_apart
from optsum.optima.diagram import Diagram
from optsum.optima.irredundant import Share, drawn, irredundant_share
from optsum.optima.nearness import Nearness
from optsum.optima.tally import weights_of_units, worth_of_sets
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Capability, Problem
from optsum.system.compiling import compiles

_LISTED: Final = 100_000  # Sets that are evaluated one and all for a row.
_WEIGHED: Final = 2_000_000
"""Sets that are evaluated one and all for shares that count each by its value; beyond, a sample is."""
_DRAWS: Final = 20_000


def prepare() -> None:
    """Compile, or load, what families are described with, before a clock starts."""
    compiles(_run_kernels)()


def _run_kernels() -> None:
    instance = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], max_length=2)
    problem, diagram = CoverageProblem.of(instance), Diagram.of_sets([(0,), (0, 1)])
    value_counts([problem], diagram)
    weighted_shares(problem, diagram)
    irredundant(problem, diagram)
    far_apart(Diagram.of_sets([(0,), (1,), (0, 1)]), 2)


def value_counts(problems: Sequence[Problem], diagram: Diagram) -> list[tuple[Fraction, int]]:
    """Return the different values of a family as they are compared, the best first, and how many sets have each.

    `problems`: of the same units; a set is worth what it is worth in that which gives most.
    """
    first = problems[0]
    better_first = first.sense.better(1, 0)
    if not all(problem.can(Capability.COVERAGE) for problem in problems):
        most = max if better_first else min
        counted = Counter(most(Fraction(problem.evaluate(found).key) for problem in problems) for found in diagram)
        return [(key, counted[key]) for key in sorted(counted, reverse=better_first)]
    worths = [worth_of_sets(problem.coverage, diagram) for problem in problems]
    keys = sorted({key for worth in worths for key in worth.keys}, reverse=better_first)
    place = {key: number for number, key in enumerate(keys)}
    ranks = [np.array([place[key] for key in worth.keys], np.int64)[worth.which] for worth in worths]
    counts: list[int] = np.bincount(np.minimum.reduce(ranks), minlength=len(keys)).tolist()
    return [(key, count) for key, count in zip(keys, counts, strict=True) if count]


def weighted_shares(problem: Problem, diagram: Diagram, seed: int = 0) -> dict[int, float]:
    """Return for each unit the share of the sets that hold it, each set counted by its objective.

    Exact up to two million sets; beyond, of 20,000 that are drawn at random.
    """
    if not problem.can(Capability.COVERAGE) or problem.sense.better(0, 1):
        raise UnsupportedError("Sets are weighted by an objective that is maximized, of a built-in formulation.")
    times = np.ones(1)
    if diagram.count > _WEIGHED:
        found = Counter(tuple(sorted(each)) for each in drawn(diagram, _DRAWS, seed))
        diagram = Diagram.of_sets(found)
        times = np.array([found[each] for each in diagram], np.float64)
    worth = worth_of_sets(problem.coverage, diagram)
    weights = np.array([problem.value_of(key) for key in worth.keys])[worth.which] * times
    if not weights.any():
        weights = np.ones(len(weights)) * times
    return weights_of_units(diagram, weights / weights.sum())


def irredundant(problem: Problem, diagram: Diagram, seed: int = 0) -> Share:
    """Return the share of a family's sets from which no unit could be left out without losing value."""
    if not problem.can(Capability.COVERAGE):
        raise UnsupportedError("What could be left out is counted for the built-in formulations alone.")
    return irredundant_share(problem.coverage, diagram, seed)


def near_of(
    nearness: Nearness,
    problems: Sequence[Problem],
    diagram: Diagram,
    least: Fraction | None,
    shares: Sequence[tuple[Any, Fraction]] | None,
    seed: int = 0,
) -> Near:
    """Return the fields of a row for a near-optimal family.

    `problems`: none if nothing was searched; several where references were searched one by one: then no value is of
    all. `shares`: none if not all sets are there: then nothing is said of all.
    """
    if not problems or least is None:
        return Near(near=str(nearness))
    problem = problems[0]
    near = Near(near=str(nearness), at_least=problem.value_of(least), at_least_exact=str(least))
    if shares is None:
        return near
    one = len(problems) == 1
    counts = value_counts([problem], diagram) if one and diagram.count <= _LISTED else None
    left_out = None
    if one and diagram.count and problem.can(Capability.COVERAGE):
        left_out = irredundant(problem, diagram, seed)
    return replace(
        near,
        value_counts=None if counts is None else [(problem.value_of(key), count) for key, count in counts],
        unit_shares=[(unit, float(share)) for unit, share in shares],
        irredundant=None if left_out is None else left_out.share,
        irredundant_error=None if left_out is None else left_out.standard_error,
    )
