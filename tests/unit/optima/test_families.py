"""Test statistics of families of sets by definition: superfluous units, diverse sets, values, samples."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trying import blocks

from optsum.coverage.instance import Sense
from optsum.optima.diagram import Diagram
from optsum.optima.tally import drawn, far_apart, irredundant_share, is_irredundant, weights_of_units, worth_of_sets
from optsum.problem.problem import CoverageProblem
from optsum.testing import KINDS, random_coverage, selections

families = st.sets(st.frozensets(st.integers(0, 6), max_size=6), min_size=1, max_size=25)


@pytest.mark.parametrize("kind", KINDS)
def test_superfluous_units_and_values_of_sets(kind: str) -> None:
    for seed in range(6):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=5))
        values = {each: problem.evaluate(each) for each in selections(problem.size)}
        feasible = [each for each, found in values.items() if found.feasible]
        if not feasible:
            continue
        better = problem.sense.better
        expected = []
        for chosen in feasible:
            fewer = [tuple(other for other in chosen if other != unit) for unit in chosen]
            could = [less for less in fewer if values[less].feasible]
            expected.append(not any(not better(values[chosen].key, values[less].key) for less in could))
        assert is_irredundant(problem.coverage, feasible).tolist() == expected, seed
        diagram = Diagram.of_sets(feasible)
        assert irredundant_share(problem.coverage, diagram).share == pytest.approx(np.mean(expected))
        worth = worth_of_sets(problem.coverage, diagram)
        assert [worth.keys[place] for place in worth.which] == [values[each].key for each in diagram]
        assert worth.keys == sorted(worth.keys, reverse=problem.sense is Sense.MAXIMIZE)


@given(families, st.integers(1, 9))
def test_each_set_is_the_farthest_from_those_before_it(family: set[frozenset[int]], k: int) -> None:
    sets = [tuple(sorted(each)) for each in family]
    found = far_apart(Diagram.of_sets(sets), k)
    assert len(set(found)) == len(found) == min(k, len(sets))
    for number in range(1, len(found) if len(sets) > k else 1):
        away = {each: sum(len(set(each) ^ set(other)) for other in found[:number]) for each in sets}
        assert away[found[number]] == max(away[each] for each in sets if each not in found[:number])


@given(families)
def test_weights_of_units_are_sums_over_sets(family: set[frozenset[int]]) -> None:
    diagram = Diagram.of_sets([tuple(sorted(each)) for each in family])
    weights = np.arange(1.0, diagram.count + 1)
    found = weights_of_units(diagram, weights)
    for unit in range(7):
        held = sum(weight for each, weight in zip(diagram, weights, strict=True) if unit in each)
        assert found.get(unit, 0.0) == pytest.approx(held)


def test_many_are_drawn_evenly() -> None:
    sets = [(0,), (1,), (0, 1), (2, 3, 4), ()]
    counts = dict.fromkeys(sets, 0)
    for each in drawn(Diagram.of_sets(sets), 20_000, seed=1):
        counts[tuple(sorted(each))] += 1
    assert all(abs(count - 4_000) < 300 for count in counts.values())


@pytest.mark.parametrize("seeds", blocks(40, size=20))
def test_sets_that_differ_much_come_farthest_first_however_many_are_wanted(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)  # noqa: S311 - nothing secret
        sets = {tuple(sorted(rng.sample(range(6), rng.randint(0, 4)))) for _ in range(rng.randint(1, 9))}
        diagram = Diagram.of_sets(sets)
        for first in (None, rng.choice(sorted(sets))):
            found = far_apart(diagram, len(sets) + 3, first)
            assert set(found) == sets
            assert len(found) == len(sets)
            for place in range(1, len(found)):
                far = {each: sum(len(set(each) ^ set(other)) for other in found[:place]) for each in found[place:]}
                assert far[found[place]] == max(far.values())
                assert far_apart(diagram, place, first) == found[:place]
