r"""HiGHS on arrays: pass a model and run it, for relaxations and for the MILP backend.

Bounds are proven in integers from multipliers found in floating point. For rows ``l <= A x <= b`` and ``0 <= x <= u``,
*any* multipliers y give, by weak duality,

.. math:: c x \le \sum_r (y_r^+ b_r - y_r^- l_r) + \sum_j u_j \max(0, c_j - (y A)_j)

so the multipliers of an inexact LP are rounded to multiples of 1/65536 and the right-hand side is evaluated in
integers: the tolerances of the LP can make the bound weaker, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import frexp, inf, sqrt
from threading import Event
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Sense
from optsum.program.model import LinearModel
from optsum.system.clock import NEVER, Deadline, standing
from optsum.system.processes.children import run_in_thread

_ROW_WISE = 2

_SMALL: Final = 10_000  # Entries of a linear program that takes less than a tenth of a second.

_DEAF: Final = 500_000
"""Size (entries) of a linear program above which presolve, which cannot be interrupted, takes more than half a second.
"""

_DEAREST: Final = 2.0**24
"""Length of a cost vector above which HiGHS may end without a solution; sums of ratios have much longer ones."""

_ABOUT: Final = 0.1  # Relative gap of a solution that is about the best.

_HEARS_S: Final = 0.5  # Seconds that HiGHS may take to stop once it was asked to.

_EARLY_S: Final = 0.5
"""Seconds left of a deadline above which a time limit reported by HiGHS is attributed to a changed clock."""


def load() -> None:
    """Import the solver, before time is measured."""
    with standing():
        import highspy  # noqa: F401


@cache
def _quiet() -> Any:
    load()
    import highspy

    class Quiet(highspy.Highs):  # type: ignore[misc]
        """Suppresses output from the beginning: since 1.16, starting callbacks prints the version to stdout."""

        def enableCallbacks(self) -> None:  # noqa: N802 - theirs
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

        def run(self) -> Any:
            ended = super().run()
            if ended == highspy.HighsStatus.kError and self.getModelStatus() == highspy.HighsModelStatus.kNotset:
                self.resetGlobalScheduler(True)  # somebody's HiGHS ran with more threads in this process
                ended = super().run()
            return ended

    return Quiet


def new_highs() -> Any:
    """Return a silent, single-threaded `highspy.Highs`."""
    highs = _quiet()()
    highs.setOptionValue("threads", 1)
    return highs


def divisor_of(costs: NDArray[np.float64]) -> float:
    """Return a power of two by which costs of a relaxation are divided, because HiGHS fails on large ones."""
    size = sqrt(float((costs * costs).sum()))  # costs.max() takes twice as long
    return 1.0 if size < _DEAREST else 2.0 ** frexp(size / _DEAREST)[1]


def pass_model(highs: Any, model: LinearModel, *, relaxed: bool = False, divisor: float = 1.0) -> None:
    """Pass a model to HiGHS, without integrality if `relaxed`; the objective is divided by `divisor`."""
    integral = np.zeros(model.columns, np.int32) if relaxed else model.integral.astype(np.int32)
    highs.passModel(
        model.columns,
        model.rows,
        len(model.row_column),
        _ROW_WISE,
        -1 if model.sense is Sense.MAXIMIZE else 1,
        0.0,
        model.objective / divisor,
        np.zeros(model.columns),
        model.upper.astype(np.float64),
        model.row_lower,
        model.row_upper,
        model.row_start.astype(np.int32),
        model.row_column.astype(np.int32),
        model.row_value.astype(np.float64),
        integral,
    )


def run(highs: Any, deadline: Deadline = NEVER, *, apart: bool = True, keeps: bool = False) -> bool:
    """Solve the model in HiGHS until it ends or the deadline passes; Ctrl-C takes effect within half a second.

    `apart`: run it in a separate thread, which is necessary for Ctrl-C and for the deadline's callback, and costs 2 ms.
    `keeps`: whether Ctrl-C ends HiGHS like a deadline, so that its solution is available, instead of raising; then the
    deadline's `reason` tells why, because the status of HiGHS is the same for both. The result: whether HiGHS has
    ended; otherwise it still runs in its thread, and must not be called.
    """
    highs.setOptionValue("time_limit", inf if deadline.left_s == inf else highs.getRunTime() + deadline.left_s)
    ended = run_heard(highs, deadline, keeps=keeps) if apart else _run_here(highs, deadline)
    # A limit of time that is not over may end it: HiGHS reads a clock that can be set forward.
    if ended and deadline.left_s > _EARLY_S and highs.getModelStatus().name == "kTimeLimit":
        highs.setOptionValue("time_limit", inf)
        return run_heard(highs, deadline, keeps=keeps)
    return ended


def _run_here(highs: Any, deadline: Deadline) -> bool:
    """Run it in this thread; searches check the deadline, because HiGHS's clock may have been set back."""

    def hear(asked: Any) -> None:
        if deadline.left_s <= 0.0:
            asked.interrupt()

    if deadline.left_s < inf:
        highs.cbMipInterrupt.subscribe(hear)
    highs.run()
    if deadline.left_s < inf:
        highs.cbMipInterrupt.unsubscribe(hear)
    return True


def run_heard(highs: Any, deadline: Deadline = NEVER, *, keeps: bool = False) -> bool:
    """Run HiGHS in its own thread under the current time limit, so that Ctrl-C can end it; see `run`."""
    stop = Event()

    def hear(asked: Any) -> None:
        if stop.is_set():
            asked.interrupt()

    places = (highs.cbSimplexInterrupt, highs.cbIpmInterrupt, highs.cbMipInterrupt)
    for place in places:
        place.subscribe(hear)
    heard = deadline.interrupt if keeps else None
    ended = run_in_thread(highs.run, stop.set, hears_s=_HEARS_S, passed=lambda: deadline.passed, heard=heard)
    if ended:
        for place in places:
            place.unsubscribe(hear)
    return ended


def was_stopped(highs: Any) -> bool:
    """Return whether a limit or an interrupt ended HiGHS, which does not always distinguish them."""
    return highs.getModelStatus().name in {"kTimeLimit", "kInterrupt", "kHighsInterrupt", "kObjectiveBound"}


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The solution of a linear relaxation in floating point, which is never a proof."""

    # (rows,): multipliers of the rows, positive where the upper side binds in a maximization.
    duals: NDArray[np.float64]
    columns: NDArray[np.float64]  # (columns,): fractional solution.
    # Otherwise the deadline came first: the multipliers are those of the last basis, and `columns` is no solution.
    optimal: bool = True


def relax(model: LinearModel, deadline: Deadline = NEVER) -> Relaxation | None:
    """Solve the linear relaxation.

    The result is None if HiGHS proves infeasibility, finds no optimum, or has no multipliers at the deadline.
    """
    load()
    if deadline.passed:
        return None
    highs = new_highs()
    entries = len(model.row_column)
    if entries > _DEAF:
        highs.setOptionValue("presolve", "off")
    divisor = divisor_of(model.objective.astype(np.float64))
    pass_model(highs, model, relaxed=True, divisor=divisor)
    if not run(highs, deadline, apart=entries > _SMALL):
        return None
    optimal, solution = highs.getModelStatus().name == "kOptimal", highs.getSolution()
    if not (optimal or (was_stopped(highs) and solution.dual_valid)):
        return None
    return Relaxation(divisor * np.array(solution.row_dual), np.array(solution.col_value), optimal)


def near_best(model: LinearModel, deadline: Deadline) -> NDArray[np.float64] | None:
    """Return the columns of an almost optimal solution, or of the best found by a deadline; None without a solution.

    It is found in floating point; callers must evaluate it.
    """
    import highspy

    highs = new_highs()
    highs.setOptionValue("mip_rel_gap", _ABOUT)
    pass_model(highs, model)
    if not run(highs, deadline):
        return None
    holds = highs.getInfo().primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    return np.array(highs.getSolution().col_value) if holds else None


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
