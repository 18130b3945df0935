"""Any linear model as a Pyomo model, for objectives that no paper printed as equations."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from optsum.coverage.instance import Sense
from optsum.errors import BackendError
from optsum.program.model import LinearModel

_INTEGRAL = 0.01
"""How far a value may be from 0 or 1 and still be meant as one of them."""


def pyomo_model(model: LinearModel) -> Any:
    """Return a `pyomo.environ.ConcreteModel` whose ``x[u]`` are the units and ``y[j]`` the other columns."""
    import pyomo.environ as pyo

    built = pyo.ConcreteModel("coverage")
    built.x = pyo.Var(range(model.units), domain=pyo.Binary)
    others = range(model.units, model.columns)
    domains = {True: pyo.NonNegativeIntegers, False: pyo.NonNegativeReals}
    built.y = pyo.Var(
        others,
        domain=lambda _, column: domains[bool(model.integral[column])],
        bounds=lambda _, column: (0, int(model.upper[column])),
    )
    built.nothing = pyo.Var(bounds=(0, 0))
    variable = [*built.x.values(), *built.y.values()]

    def total(columns: Any, values: Any) -> Any:
        terms = zip(columns.tolist(), values.tolist(), strict=True)
        return pyo.quicksum(value * variable[column] for column, value in terms)

    priced = np.flatnonzero(model.objective)
    built.value = pyo.Objective(
        expr=total(priced, model.objective[priced]),
        sense=pyo.maximize if model.sense is Sense.MAXIMIZE else pyo.minimize,
    )
    built.rows = pyo.ConstraintList()
    for row in range(model.rows):
        entries = slice(model.row_start[row], model.row_start[row + 1])
        lower, upper = model.row_lower[row], model.row_upper[row]
        if model.row_value[entries].any():
            body = total(model.row_column[entries], model.row_value[entries])
        elif lower <= 0 <= upper:
            continue
        else:  # nothing can keep this row: the model is infeasible, and has to say so
            body = built.nothing
        built.rows.add((lower if np.isfinite(lower) else None, body, upper if np.isfinite(upper) else None))
    return built


def chosen_units(model: Any) -> tuple[int, ...] | None:
    """Return the units whose variable is 1, or nothing if some are fractions: then no solution was found.

    A variable that occurs in no constraint stays without a value: it is 0.

    Raises
    ------
    BackendError
        For values that are no numbers.
    """
    values = {unit: variable.value or 0.0 for unit, variable in model.x.items()}
    if not all(isfinite(value) for value in values.values()):
        raise BackendError("The solver has values that are no numbers: its answer is no result.")
    if any(min(abs(value), abs(value - 1.0)) > _INTEGRAL for value in values.values()):
        return None
    return tuple(unit for unit, value in values.items() if value > 0.5)
