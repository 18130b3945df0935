"""Test which selections stay as good without a unit, by kernels and by brute force."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pytest

from optsum.coverage.instance import Coverage, Row, Sense, key_of, score
from optsum.optima import tally
from optsum.optima.diagram import Diagram
from optsum.optima.tally import Share, irredundant_share, is_irredundant
from optsum.testing import HARMONIC, KINDS, random_coverage


def by_trying(instance: Coverage, chosen: tuple[int, ...]) -> bool:
    better = (lambda one, other: one <= other) if instance.goal is Sense.MINIMIZE else (lambda one, other: one >= other)

    def value(units: tuple[int, ...]) -> tuple[object, bool]:
        totals, length, violation = score(instance, units)
        return key_of(instance, totals, length), not violation

    key, _ = value(chosen)
    left = (value(tuple(other for other in chosen if other != unit)) for unit in chosen)
    return not any(feasible and better(less, key) for less, feasible in left)


@pytest.mark.parametrize("kind", [*KINDS, HARMONIC])
def test_a_selection_is_irredundant_if_no_unit_can_go(kind: str) -> None:
    rng = np.random.default_rng(3)
    some = 0
    for number in range(15):
        instance = random_coverage(rng, kind=kind)
        every = (units for size in range(instance.size + 1) for units in combinations(range(instance.size), size))
        feasible = [units for units in every if not score(instance, units)[2]]
        if not feasible:
            continue
        expected = [by_trying(instance, units) for units in feasible]
        assert is_irredundant(instance, feasible).tolist() == expected, number
        some += 0 < sum(expected) < len(expected)
        share = irredundant_share(instance, Diagram.of_sets(feasible))
        assert share.share == pytest.approx(sum(expected) / len(expected))
        assert share.standard_error == 0.0
    assert some > 5


def test_a_unit_that_a_row_requires_is_not_superfluous() -> None:
    instance = Coverage.of([1] * 3, [{0: 1}, {0: 1}, {1: 1}], [[1], [1]], max_length=3)
    both = instance.with_rows((Row((0, 1), (1, 1), 2, None, "both"),))
    assert is_irredundant(instance, [(0, 1), (0, 1, 2), (0, 2)]).tolist() == [False, False, True]
    assert is_irredundant(both, [(0, 1), (0, 1, 2)]).tolist() == [True, True]


def test_a_share_is_estimated_where_sets_are_more_than_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Coverage.of([1] * 4, [{0: 1}, {0: 1}, {1: 1}, {2: 1}], [[1], [1], [1]], max_length=4)
    sets = [units for size in range(1, 5) for units in combinations(range(4), size)]
    diagram = Diagram.of_sets(sets)
    exact = float(np.mean([not {0, 1} <= set(each) for each in sets]))  # 11 of 15
    for listed in (15, 14):
        monkeypatch.setattr(tally, "LISTED", listed)
        found = irredundant_share(instance, diagram, seed=3)
        if listed == 15:
            assert found == Share(pytest.approx(exact), 0.0)
        else:
            assert found.standard_error == pytest.approx(sqrt(found.share * (1 - found.share) / 1_000))
            assert 0 < abs(found.share - exact) < 4 * found.standard_error
