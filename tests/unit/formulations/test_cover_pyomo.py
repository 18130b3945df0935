"""Test the readable Pyomo model of covers: its constraints are binding, and its optimum is that of the arrays."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pyomo.environ as pyo
import pytest
from cover_instances import brute_force, cover_of, random_clauses, random_lengths
from optsum.formulations.cover import cover_model
from optsum.solvers.milp import backend_of

from optsum.problem.problem import CoverageProblem
from optsum.system.clock import Limits

TABLE_1 = [[(0,), (4, 5)], [(1, 2, 3)], [(6, 7, 8), (0, 9, 10)]]


def constraints(model: Any, kind: type) -> list[Any]:
    return list(model.component_data_objects(kind, active=True))


def test_the_model_reads_like_the_paper() -> None:
    model = cover_model(TABLE_1, [1] * 11, logical=True)
    assert str(model.C[0].expr) == "s[0] ∨ s[4] ∧ s[5]"
    assert len(constraints(model, pyo.LogicalConstraint)) == 3


def test_no_logical_constraint_is_left_for_a_solver_to_ignore() -> None:
    model = cover_model(TABLE_1, [1] * 11)
    assert not constraints(model, pyo.LogicalConstraint)
    assert constraints(model, pyo.Constraint)


@pytest.mark.parametrize("chosen", [(), (0,), (0, 1, 2, 3, 9), (1, 2, 3, 4, 5, 6, 7)])
def test_selections_that_do_not_cover_are_infeasible_in_the_model(chosen: tuple[int, ...]) -> None:
    model = cover_model(TABLE_1, [1] * 11)
    for unit in model.U:
        model.x[unit].fix(int(unit in chosen))
    assert not _feasible(model)


@pytest.mark.parametrize("chosen", [(0, 1, 2, 3, 9, 10), (1, 2, 3, 4, 5, 6, 7, 8)])
def test_covers_are_feasible_in_the_model(chosen: tuple[int, ...]) -> None:
    model = cover_model(TABLE_1, [1] * 11)
    for unit in model.U:
        model.x[unit].fix(int(unit in chosen))
    assert _feasible(model)


def _feasible(model: Any) -> bool:
    from pyomo.contrib.solver.common.factory import SolverFactory
    from pyomo.contrib.solver.common.results import SolutionStatus

    results = SolverFactory("highs").solve(
        model, load_solutions=False, raise_exception_on_nonoptimal_result=False, threads=1
    )
    return results.solution_status is SolutionStatus.optimal


@pytest.mark.parametrize("solver", ["highs", "appsi_highs"])
def test_random_covers_by_the_newer_and_the_older_interface(solver: str) -> None:
    backend = backend_of(f"pyomo:{solver}")
    rng = random.Random(8)  # noqa: S311
    for number in range(30):
        clauses = random_clauses(rng, units=9, clauses=rng.randint(1, 6))
        lengths = random_lengths(rng, 9)
        least, covers = brute_force(clauses, lengths)
        problem = CoverageProblem.of(cover_of(clauses, lengths), reference_model=partial(cover_model, clauses, lengths))
        outcome = backend.solve(problem, Limits(), 0)
        assert outcome.optimal, number
        assert outcome.selection in covers, number
        # The older interface returns no objective here; the selection is checked instead.
        assert outcome.objective is None or outcome.objective == pytest.approx(least), number


def test_a_clause_without_alternatives_leaves_nothing_feasible() -> None:
    # The formulation never makes such a clause; a model with one must not ignore it.
    assert not _feasible(cover_model([[(0,)], []], [1]))
