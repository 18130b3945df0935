r"""Bounds proven in integers from multipliers found in floating point.

For rows ``l <= A x <= b`` and ``0 <= x <= u``, *any* multipliers y give, by weak duality,

.. math:: c x \le \sum_r (y_r^+ b_r - y_r^- l_r) + \sum_j u_j \max(0, c_j - (y A)_j)

so the multipliers of an inexact LP are rounded to multiples of 1/65536 and the right-hand side is evaluated in
integers: the tolerances of the LP can make the bound weaker, never wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Sense
from optsum.program.highs import relax
from optsum.program.model import LinearModel
from optsum.system.clock import NEVER, Deadline

if TYPE_CHECKING:
    from optsum.program.highs import Relaxation

SCALE = 65536  # Multipliers are integers over this.

_INT64_SAFE = 2.0**61
_LARGEST = 2.0**256  # Multipliers beyond it are cut, so that no float overflows; any finite ones are valid.


def dual_bound(
    model: LinearModel,
    duals: NDArray[np.float64],
    *,
    lower: NDArray[np.int64] | None = None,
    upper: NDArray[np.int64] | None = None,
) -> int:
    """Return an integer bound on all integral solutions of the model.

    `duals` (rows,) of float: multipliers in the sign convention of the model's sense. Any numbers are valid; NaN and
    infinities count as 0. `lower`, `upper` (columns,): narrower bounds of the columns; by default the model's. The
    result is an upper bound of ``objective . x`` when maximizing, and a lower bound when minimizing.
    """
    sign = 1 if model.sense is Sense.MAXIMIZE else -1
    finite = np.clip(np.nan_to_num(duals, posinf=0.0, neginf=0.0), -_LARGEST, _LARGEST)
    scaled = np.rint(finite * (sign * SCALE))
    # A multiplier may only press on a side that exists.
    scaled = np.where((scaled > 0) & np.isinf(model.row_upper), 0, scaled)
    scaled = np.where((scaled < 0) & np.isinf(model.row_lower), 0, scaled)
    side = np.where(scaled > 0, model.row_upper, model.row_lower)
    side = np.where(scaled == 0, 0, side)

    widths = np.diff(model.row_start)
    spread = np.repeat(np.abs(scaled), widths) * np.abs(model.row_value) * np.maximum(model.upper[model.row_column], 1)
    magnitude = float(np.abs(scaled) @ np.abs(side)) + float(spread.sum())
    magnitude += SCALE * float(np.abs(model.objective) @ model.upper) + float(np.abs(scaled).max(initial=0.0))
    exact = np.int64 if magnitude < _INT64_SAFE else object  # Python integers where int64 might not hold
    multiplier = _exact(scaled, exact)
    reduced = sign * SCALE * model.objective.astype(exact)
    np.subtract.at(reduced, model.row_column, np.repeat(multiplier, widths) * model.row_value.astype(exact))
    total = int(multiplier @ _exact(side, exact))
    total += int(np.maximum(reduced, 0) @ (model.upper if upper is None else upper).astype(exact))
    if lower is not None:
        total += int(np.minimum(reduced, 0) @ lower.astype(exact))
    return sign * (total // SCALE)  # minimizing is maximizing the negative


def model_bound(model: LinearModel, deadline: Deadline = NEVER) -> int:
    """Return `relaxed_bound` of the linear relaxation, as far as it is solved by the deadline."""
    return relaxed_bound(model, relax(model, deadline))


def relaxed_bound(model: LinearModel, relaxation: Relaxation | None) -> int:
    """Return `dual_bound` with the multipliers of a relaxation, or without any if there is none."""
    if relaxation is not None and relaxation.optimal:
        return dual_bound(model, relaxation.duals)
    plain = dual_bound(model, np.zeros(model.rows))
    if relaxation is None:
        return plain
    found = dual_bound(model, relaxation.duals)  # those of an early basis may be worse than none
    return min(plain, found) if model.sense is Sense.MAXIMIZE else max(plain, found)


def _exact(values: NDArray[np.float64], dtype: type) -> NDArray[np.int64]:
    if dtype is np.int64:
        return values.astype(np.int64)
    return np.array([int(value) for value in values], dtype=object)
