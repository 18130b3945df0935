"""Test near-optimal selections by exhaustive search: limits, memory, problems that only evaluate."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from optsum.solvers.exhaustive import strategy
from optsum.solvers.exhaustive.strategy import Exhaustive

from optsum.optima.optima import Nearness
from optsum.system.clock import Limits
from optsum.testing import OwnMetric

WORDS = ("a b", "b c", "bad", "c", "a a bad", "d e f")


def problem(**limits: int) -> OwnMetric:
    return OwnMetric(lengths=[len(text.split()) for text in WORDS], words=[text.split() for text in WORDS], **limits)


def by_hand(most: int, least: int) -> set[tuple[int, ...]]:
    whole = problem(max_length=most)
    every = (units for size in range(len(WORDS) + 1) for units in combinations(range(len(WORDS)), size))
    return {units for units in every if whole.evaluate(units).feasible and whole.evaluate(units).key >= least}


@pytest.mark.parametrize("most", [1, 4, 7, 20])
@pytest.mark.parametrize("values", [1, 2, 3])
def test_the_best_values(most: int, values: int) -> None:
    whole = problem(max_length=most)
    found = Exhaustive().near(whole, Nearness.given(best=values), Limits())
    keys = sorted({whole.evaluate(units).key for units in by_hand(most, -9)}, reverse=True)[:values]
    assert found.complete
    assert set(found) == by_hand(most, int(keys[-1]))
    assert found.value == keys[0]


def test_a_limit_leaves_the_best_so_far_and_what_is_known_to_be_near() -> None:
    whole = problem(max_length=20)
    for nearness, least in ((Nearness.given(best=2), None), (Nearness.given(at_least=2), 2)):
        found = Exhaustive().near(whole, nearness, Limits(evaluations=9))
        assert (found.complete, found.termination) == (False, "evaluation_limit")
        assert not found.proven
        if least is None:
            assert len(list(found)) == 1
        else:
            assert 0 < len(list(found)) < len(by_hand(20, least))
            assert set(found) < by_hand(20, least)


def test_a_callback_ends_the_enumeration() -> None:
    found = Exhaustive().near(problem(max_length=20), Nearness.given(best=2), Limits(), lambda: True)
    assert not found.complete


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "_KEPT", 5)
    found = Exhaustive().near(problem(max_length=20), Nearness.given(at_least=1), Limits())
    assert (found.complete, found.termination) == (False, "memory_limit")


def test_worse_selections_are_dropped_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "_FEWEST", 3)
    found = Exhaustive().near(problem(max_length=20), Nearness.given(best=1), Limits())
    best = max(problem(max_length=20).evaluate(units).key for units in by_hand(20, -9))
    assert set(found) == by_hand(20, int(best))
    assert found.value == Fraction(best)


def test_an_infeasible_problem_has_no_selections() -> None:
    found = Exhaustive().near(problem(min_length=30, max_length=40), Nearness.given(best=1), Limits())
    assert list(found) == []
