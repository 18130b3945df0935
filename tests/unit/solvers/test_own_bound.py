"""Test branch and bound by a problem's own bound: proofs are true, and invalid bounds are refused."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optsum
from optsum.coverage.instance import Sense
from optsum.testing import ConformanceError, check_problem


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs(optsum.Problem):
    """A knapsack with a bonus or penalty for each pair of units, outside the normal form."""

    worth: tuple[int, ...]
    bonus: tuple[tuple[int, ...], ...]
    divisor: int = 1

    def evaluate(self, selection: Any) -> optsum.Evaluation:
        total = sum(self.worth[unit] for unit in selection)
        total += sum(self.bonus[a][b] for a in selection for b in selection if a < b)
        key = Fraction(total, self.divisor)
        return optsum.Evaluation(key, self.excess(selection), float(key))


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounded(Pairs):
    """The same problem with a bound: each open unit with all positive bonuses."""

    def bound(self, chosen: Any, open: Any) -> Any:  # noqa: A002
        sign = 1 if self.sense is Sense.MAXIMIZE else -1
        best = self.evaluate(chosen).key * self.divisor * sign
        for unit in open:
            gain = sign * self.worth[unit] + sum(
                max(0, sign * self.bonus[min(unit, other)][max(unit, other)])
                for other in (*chosen, *open)
                if other != unit
            )
            best += max(0, gain) if self.length(chosen) + self.lengths[unit] <= self.max_length else 0
        return Fraction(best, self.divisor) * sign


def random_pairs(seed: int, made: type[Pairs] = Bounded, units: int = 8) -> Pairs:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, units + 1))
    lengths = tuple(rng.integers(1, 8, n).tolist())
    return made(
        lengths=lengths,
        max_length=int(rng.integers(0, sum(lengths) + 1)),
        min_length=int(rng.integers(0, 4)) if rng.random() < 0.3 else 0,
        sense=Sense.MAXIMIZE if rng.random() < 0.6 else Sense.MINIMIZE,
        worth=tuple(rng.integers(-3, 9, n).tolist()),
        bonus=tuple(map(tuple, rng.integers(-4, 5, (n, n)).tolist())),
        divisor=int(rng.choice([1, 7])),
    )


@cache
def whole() -> optsum.Result:
    """Return the proven optimum of an instance that takes seconds."""
    found = optsum.solve(random_pairs(5, units=40))
    assert (found.status, found.strategy) == ("optimal", "auto")
    return found


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_optima_are_those_of_brute_force(seed: int) -> None:
    problem, plain = random_pairs(seed), random_pairs(seed, Pairs)
    result, truth = optsum.search(problem, "branch-and-bound"), optsum.search(plain, "exhaustive")
    assert (result.status, result.key) == (truth.status, truth.key)
    assert result.selection is None or problem.evaluate(result.selection).key == truth.key
    for asked in ({}, {"within": 0.2}, {"best": 3}, {"at_least": 2}):
        found = optsum.enumerate_optima(problem, strategy="branch-and-bound", **asked)
        wanted = optsum.enumerate_optima(plain, strategy="exhaustive", **asked)
        assert set(found) == set(wanted), asked
        assert (found.value, found.bound) == (wanted.value, wanted.bound)


def test_the_search_passes_the_conformance_suite() -> None:
    for seed in range(20):
        check_problem(random_pairs(seed))


def test_auto_and_limits_of_nodes() -> None:
    problem = random_pairs(5, units=40)
    for nodes in (1, 3, 10, 30):
        stopped = optsum.search(problem, "branch-and-bound", node_limit=nodes)
        assert stopped.status == "feasible"
        assert stopped.termination == "node_limit"
        better = problem.sense.better
        assert not better(whole().key, stopped.bound)
        assert not better(stopped.key, whole().key)


def test_ctrl_c_leaves_a_bound() -> None:
    problem, calls = random_pairs(5, units=40), []

    def stop(run: Any) -> bool:
        calls.append(run)
        return len(calls) < 20

    result = optsum.search(problem, "branch-and-bound", on_progress=stop)
    assert result.termination == "interrupted"
    assert not problem.sense.better(whole().key, result.bound)


def test_a_signal_amid_an_evaluation_leaves_a_bound() -> None:
    calls = []

    class Interrupted(Bounded):
        def evaluate(self, selection: Any) -> optsum.Evaluation:
            calls.append(selection)
            if len(calls) == 60:
                raise KeyboardInterrupt
            return super().evaluate(selection)

    problem = random_pairs(5, Interrupted, units=40)
    result = optsum.search(problem, "branch-and-bound")
    assert result.termination == "interrupted"
    assert not problem.sense.better(whole().key, result.bound)


def test_a_field_called_bound_is_no_bound() -> None:
    class Named(Pairs):
        bound: Any = 3

    problem = Named(lengths=(1,), worth=(3,), bonus=((0,),))
    assert optsum.Capability.COMPLETIONS not in problem.capabilities


@pytest.mark.parametrize(
    ("said", "sentence"), [(-100, "is wrong"), (None, "is wrong"), (nan, "NaN"), (-inf, "is wrong")], ids=str
)
def test_an_invalid_bound_is_refused(said: Any, sentence: str) -> None:
    class Liar(Pairs):
        def bound(self, chosen: Any, open: Any) -> Any:  # noqa: A002
            return Fraction(100) if not chosen and len(open) == len(self.lengths) else said

    problem = Liar(lengths=(1, 1), worth=(3, 2), bonus=((0, 0), (0, 0)))
    with pytest.raises(optsum.InputError, match=sentence):
        optsum.search(problem, "branch-and-bound")
    if sentence == "is wrong":
        with pytest.raises(ConformanceError, match="bound"):
            check_problem(problem)


@pytest.mark.parametrize("strategy", ["greedy", "vns", "branch-and-bound"])
def test_a_root_bound_that_a_selection_passes_is_refused(strategy: str) -> None:
    class Liar(Pairs):
        def bound(self, chosen: Any, open: Any) -> Any:  # noqa: A002
            return -1

    with pytest.raises(optsum.InputError, match="The bound of this problem is wrong"):
        optsum.search(Liar(lengths=(1, 1), worth=(3, 2), bonus=((0, 0), (0, 0))), strategy)


def test_an_infinite_bound_says_nothing_and_proves_in_the_end() -> None:
    class Vague(Pairs):
        def bound(self, chosen: Any, open: Any) -> Any:  # noqa: A002
            return inf

    problem = Vague(lengths=(1, 1, 1), worth=(3, 2, -1), bonus=((0, 0, 0),) * 3)
    assert optsum.search(problem, "branch-and-bound").selection == (0, 1)
    assert optsum.search(problem, "branch-and-bound", node_limit=1).status == "feasible"
    assert optsum.search(problem, "greedy").status == "feasible"
