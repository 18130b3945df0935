"""Check that `check_problem` fails on problems that break the contract, each in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.coverage import state as arrays
from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.problem.problem import Capability, CoverageProblem, Evaluation, Selection
from optsum.system.clock import NEVER, Deadline
from optsum.testing import ConformanceError, OwnMetric, check_problem

INSTANCE = Coverage.of(
    [3, 2, 4, 1],
    [{0: 1, 1: 2}, {1: 1}, {2: 2}, {0: 2, 2: 1}],
    [[2, 1], [3, 1], [2]],
    constants=(0, 12),
    max_length=7,
    parents=[-1, 0, -1, 2],
)


class Base(CoverageProblem):
    """A valid problem, from which the broken ones derive."""

    @classmethod
    def make(cls, instance: Coverage = INSTANCE) -> CoverageProblem:
        return cls.of(instance)


class Drifting(Base):
    def evaluate(self, selection: Selection) -> Evaluation:
        found = super().evaluate(selection)
        self.__dict__["calls"] = self.__dict__.get("calls", 0) + 1
        return replace(found, key=found.key + self.__dict__["calls"])


class Late(Base):
    """A problem whose values change once its linear model was made."""

    def evaluate(self, selection: Selection) -> Evaluation:
        found = super().evaluate(selection)
        return replace(found, key=found.key + Fraction("linear_model" in self.__dict__))


class Negative(Base):
    def evaluate(self, selection: Selection) -> Evaluation:
        return replace(super().evaluate(selection), violation=-1)


class Lax(Base):
    def evaluate(self, selection: Selection) -> Evaluation:
        return replace(super().evaluate(selection), violation=0)


class Unordered(Base):
    def evaluate(self, selection: Selection) -> Evaluation:
        found = super().evaluate(selection)
        return replace(found, value=-found.value)


class NoEvaluation(Base):
    def evaluate(self, selection: Selection) -> Any:
        return 3


class Orphaning(Base):
    """A problem that moves single units, whatever their parents."""

    def moves(self, selection: Selection) -> Iterator[tuple[int, ...]]:
        return ((unit,) for unit in range(self.size))


class Stuck(Base):
    def moves(self, selection: Selection) -> Iterator[tuple[int, ...]]:
        return (move for move in super().moves(selection) if 3 not in move)


class Idle(Base):
    def moves(self, selection: Selection) -> Iterator[tuple[int, ...]]:
        yield ()


class Doubling(Base):
    def moves(self, selection: Selection) -> Iterator[tuple[int, ...]]:
        return (move * 2 for move in super().moves(selection))


class Beyond(Base):
    def moves(self, selection: Selection) -> Iterator[tuple[int, ...]]:
        return ((*move, self.size) for move in super().moves(selection))


class Spoiling(Base):
    def repair(self, selection: Selection, rng: np.random.Generator) -> Selection:
        return tuple(range(self.size)) if selection != tuple(range(self.size)) else (1,)


class Shuffling(Base):
    def repair(self, selection: Selection, rng: np.random.Generator) -> Selection:
        return super().repair(selection, rng)[::-1]


class Bold(Base):
    def root_bound(self, deadline: Deadline = NEVER) -> Fraction:
        return Fraction(1, 2)


class Inexact(Base):
    def root_bound(self, deadline: Deadline = NEVER) -> float:
        return 1.0


class Modest(Base):
    """A problem with a bound that it does not declare."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        return super().capabilities - {Capability.BOUND}


class Boastful(OwnMetric):
    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset({Capability.BOUND})


class OtherModel(Base):
    """A problem whose linear model has no parents."""

    @property
    def linear_model(self) -> Any:  # type: ignore[override]
        from optsum.program.model import coverage_model

        return coverage_model(replace(self.instance, parents=np.zeros(0, np.int64)))


class OtherGains(Base):
    @property
    def linear_model(self) -> Any:  # type: ignore[override]
        model = super().linear_model
        return replace(model, objective=model.objective * 2)


class Tight(Base):
    """A problem whose linear model is infeasible, unlike the problem."""

    @property
    def linear_model(self) -> Any:  # type: ignore[override]
        from optsum.program.model import coverage_model

        return coverage_model(replace(self.instance, max_length=3))

    def root_bound(self, deadline: Deadline = NEVER) -> Fraction:
        return Fraction(1)


BROKEN: list[tuple[type[Base], str]] = [
    (Drifting, "differs from call to call"),
    (Late, "another value after the checks|the linear model|disagree|the objective changes by"),
    (Negative, "the violation of .* is negative"),
    (Lax, "is called feasible, 3 outside the length limits"),
    (Unordered, "are not ordered as their keys"),
    (NoEvaluation, "returns no Evaluation"),
    (Orphaning, "violates more than limits"),
    (Stuck, "do not reach every unit"),
    (Idle, "flips nothing"),
    (Doubling, "flips a unit twice"),
    (Beyond, "flips a unit that does not exist"),
    (Spoiling, "which violates limits too"),
    (Shuffling, "is no sorted tuple"),
    (Bold, "exceeds the bound 1/2"),
    (Inexact, "is a float where objectives are exact"),
    (Modest, "offers a bound that its capabilities do not declare"),
    (OtherModel, "the linear model"),
    (OtherGains, "instead of .*, in the model's integers"),
    (Tight, "the linear model"),
]


def test_the_problem_that_is_broken_below_is_whole() -> None:
    check_problem(Base.make(), name="whole")


@pytest.mark.parametrize(("broken", "match"), BROKEN, ids=[broken.__name__ for broken, _ in BROKEN])
def test_broken_problems_fail(broken: type[Base], match: str) -> None:
    with pytest.raises(ConformanceError, match=match) as failure:
        check_problem(broken.make(), name="the instance", seed=7)
    assert str(failure.value).startswith("the instance (seed 7): ")


class Ordered(optsum.Problem):
    """A problem in which each unit requires the one before, stated in the violation."""

    def evaluate(self, selection: Selection) -> Evaluation:
        missing = sum(unit > 0 and unit - 1 not in selection for unit in selection)
        return Evaluation(len(selection), self.excess(selection) + missing, len(selection))


def test_limits_of_any_kind_may_be_in_the_violation() -> None:
    check_problem(Ordered(lengths=(2, 1, 3, 1, 1), max_length=6))


def test_a_bound_that_is_declared_but_missing_fails() -> None:
    with pytest.raises(UnsupportedError, match="Boastful does not have a bound"):
        check_problem(Boastful(lengths=(1,), words=[["a"]]))


@pytest.mark.parametrize("kernel", ["flip", "value_pair", "empty_state"])
def test_a_broken_kernel_fails(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Any] = getattr(arrays, kernel)

    def flip(instance: Any, state: Any, unit: int) -> None:
        real(instance, state, unit)
        state.totals[0] += unit == 3

    def value_pair(instance: Any, state: Any) -> tuple[int, int]:
        top, bottom = real(instance, state)
        return -top, bottom

    def empty_state(instance: Any) -> Any:
        state = real(instance)
        state.scalars[arrays.LENGTH] = 1
        return state

    monkeypatch.setattr(arrays, kernel, {"flip": flip, "value_pair": value_pair, "empty_state": empty_state}[kernel])
    with pytest.raises(ConformanceError, match=r"^broken kernel \(seed 0\): the state after flips"):
        check_problem(Base.make(), name="broken kernel")
