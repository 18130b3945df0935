"""The integer program of a problem against its evaluation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from optsum.problem.problem import Evaluation, Problem, Selection
from optsum.program.highs import new_highs, pass_model
from optsum.program.model import LinearModel
from optsum.testing.enumeration import Enumeration
from optsum.testing.failure import expect

_TOLERANCE = 1e-5
_NEGLIGIBLE = 1e-9
"""Relative; floating point is all that separates the two sides."""


def check_linear_model(
    problem: Problem, evaluations: dict[Selection, Evaluation], truth: Enumeration | None, where: str
) -> None:
    """Check that the model has the problem's optimum, and its value at every selection that is looked at.

    With the units fixed, the rest of the model must be feasible exactly where the selection is, and reach its value.
    """
    model = problem.linear_model
    expect(model.units == problem.size, where, "the linear model has another number of units.")
    expect(bool(model.integral[: model.units].all()), where, "a unit of the linear model is not integral.")
    expect(bool((model.upper[: model.units] == 1).all()), where, "a unit of the linear model is not a 0/1 decision.")
    expect(model.sense is problem.sense, where, "the linear model has the other sense.")
    if problem.size == 0:
        return
    if truth is not None:
        highs = new_highs()
        highs.setOptionValue("mip_rel_gap", 0.0)
        pass_model(highs, model)
        _compare(highs, model, truth.best, where, "the linear model's optimum")
    fixed = new_highs()
    pass_model(fixed, model, relaxed=not model.integral[model.units :].any())
    columns = np.arange(model.units, dtype=np.int32)
    for selection, evaluation in evaluations.items():
        values = np.zeros(model.units)
        values[list(selection)] = 1.0
        fixed.changeColsBounds(model.units, columns, values, values)
        expected = evaluation.key if evaluation.feasible else None
        _compare(fixed, model, expected, where, f"the linear model at {selection}")


def _compare(highs: Any, model: LinearModel, expected: Any, where: str, what: str) -> None:
    import highspy

    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        expect(expected is None, where, f"{what} is infeasible instead of {expected}.")
        return
    expect(expected is not None, where, f"{what} exists, but nothing is feasible there.")
    claimed = highs.getInfo().objective_function_value
    wanted = float(Fraction(expected) * model.denominator - model.offset)
    close = abs(claimed - wanted) <= max(_TOLERANCE, _NEGLIGIBLE * abs(wanted))
    expect(close, where, f"{what} is {claimed} instead of {wanted}, in the model's integers.")
