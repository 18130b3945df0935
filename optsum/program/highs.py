"""HiGHS on arrays: one way to hand a model over, for the root relaxation and for the MILP backend alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Sense
from optsum.program.model import LinearModel

__all__ = ["Relaxation", "new_highs", "pass_model", "relax"]

_ROW_WISE = 2


def new_highs() -> Any:
    """Return a silent, single-threaded `highspy.Highs`."""
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    return highs


def pass_model(highs: Any, model: LinearModel, *, relaxed: bool = False) -> None:
    """Give a model to HiGHS, without its integrality if `relaxed`."""
    integral = np.zeros(model.columns, np.int32) if relaxed else model.integral.astype(np.int32)
    highs.passModel(
        model.columns,
        model.rows,
        len(model.row_column),
        _ROW_WISE,
        -1 if model.sense is Sense.MAXIMIZE else 1,
        0.0,
        model.objective.astype(np.float64),
        np.zeros(model.columns),
        model.upper.astype(np.float64),
        model.row_lower,
        model.row_upper,
        model.row_start.astype(np.int32),
        model.row_column.astype(np.int32),
        model.row_value.astype(np.float64),
        integral,
    )


@dataclass(frozen=True, slots=True)
class Relaxation:
    """An optimum of the linear relaxation, as floating point found it: a hint, never a proof.

    Attributes
    ----------
    duals : (rows,)
        Multipliers of the rows, positive where the upper side binds in a maximization.
    columns : (columns,)
        Fractional solution.
    """

    duals: NDArray[np.float64]
    columns: NDArray[np.float64]


def relax(model: LinearModel) -> Relaxation | None:
    """Solve the linear relaxation; None where HiGHS proves it infeasible or finds no optimum."""
    import highspy

    highs = new_highs()
    pass_model(highs, model, relaxed=True)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = highs.getSolution()
    return Relaxation(np.array(solution.row_dual), np.array(solution.col_value))
