"""Multipliers from the linear relaxation of a core, solved by HiGHS again and again with more units decided.

The duals are only ever used as Lagrangian multipliers, where any values within their limits give a valid bound, so no
tolerance of the simplex method can harm exactness, and what HiGHS has when its time is over serves as well. An
infeasibility that it reports is not used to prune.
"""

from __future__ import annotations

import threading
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.program.highs import divisor_of, new_highs, run
from optsum.system.deadline import Deadline

from .reduction import DROPPED, TAKEN, States

BY_COLUMN: Final = 1
BY_ROW: Final = 2

HUGE: Final = 1e30
"""HiGHS's infinity is smaller."""

BELOW: Final = 0
BETWEEN: Final = 1
ABOVE: Final = 2
"""Where a column or a row stands: at its lower limit, in the basis, or at its upper limit."""

_LARGEST: Final = 2.0**61
_CLOSE: Final = 1e-6
_LARGE: Final = 50_000
"""Entries from which on a relaxation may take so long that it is solved apart, where Ctrl-C is heard."""


class LinearProgram(NamedTuple):
    """A maximization as HiGHS takes it.

    Attributes
    ----------
    orientation : whether the matrix is stored `BY_COLUMN` or `BY_ROW`
    cost, lower, upper : (columns,)
    row_lower, row_upper : (rows,)
    start, place, value : the matrix
    units : (columns of units,)
        The unit of each of the first columns; others have none.
    most : (rows,) or None
        Largest multiplier of each row that makes sense, scaled; None where any does.
    length_row : int
    holds : (features,) or None
        Which features hold the units of the one before: their rows say only what is new (`singles.nested`).
    """

    orientation: int
    cost: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    start: NDArray[np.int32]
    place: NDArray[np.int32]
    value: NDArray[np.float64]
    units: NDArray[np.int32]
    most: IntArray | None
    length_row: int
    holds: NDArray[np.bool_] | None = None


class Session:
    """One HiGHS object: making it takes longer than solving a small model.

    Attributes
    ----------
    owner : object
        The core whose relaxation is loaded.
    solved : int
        How often one was solved.
    """

    def __init__(self) -> None:
        import highspy

        self._optimal = highspy.HighsModelStatus.kOptimal
        self._start()

    def _start(self) -> None:
        self.owner: object = None
        self.solved = 0
        self._timed, self._ends_at = False, inf
        self._basis: object = None
        self._solution: Any = None
        self._highs: Any = new_highs()
        for name, option in (("presolve", "off"), ("solver", "simplex")):
            self._highs.setOptionValue(name, option)

    def load(self, program: LinearProgram, scale: int, owner: object) -> None:
        """Replace the model; `scale` is the fixed-point unit of the multipliers."""
        self.owner, self._program, self._scale, self._basis = owner, program, scale, None
        self._minimizes = False
        self._divisor = divisor_of(program.cost)
        self._costs = program.cost if self._divisor == 1.0 else program.cost / self._divisor
        self._highs.passModel(
            len(program.cost),
            len(program.row_lower),
            len(program.place),
            program.orientation,
            -1,  # maximize
            0.0,
            self._costs,
            program.lower,
            program.upper,
            program.row_lower,
            program.row_upper,
            program.start,
            program.place,
            program.value,
            np.zeros(len(program.cost), np.int32),  # every column continuous
        )

    def decide(self, state: States) -> None:
        """Fix the columns of the units that are taken or dropped, and free the others."""
        chosen = state[self._program.units]
        every = np.arange(len(chosen), dtype=np.int32)
        lower, upper = (chosen == TAKEN).astype(np.float64), (chosen != DROPPED).astype(np.float64)
        self._highs.changeColsBounds(len(every), every, lower, upper)

    def at_most(self, length: int) -> None:
        """Change the largest length."""
        row = self._program.length_row
        self._highs.changeRowBounds(row, self._program.row_lower[row], float(length))

    def multipliers(self, deadline: Deadline, enough: float = -inf) -> IntArray | None:
        """Solve from the last basis: the scaled and rounded multipliers of the rows, or None without a solution.

        When the deadline comes first, or no more than `enough` can be reached, they are those of the last basis, if it
        has any.
        """
        ends_at = -enough / self._divisor
        if ends_at != self._ends_at:
            self._ends_at = ends_at
            self._highs.setOptionValue("objective_bound", ends_at)
        if enough > -inf and not self._minimizes:
            self._minimize()
        self.solved += 1
        self._basis = None
        large = len(self._program.value) > _LARGE
        ended = self._run_apart(deadline) if large else self._run_here(deadline)
        if not ended:
            return None
        status, solution = self._highs.getModelStatus(), self._highs.getSolution()
        self._solution = solution
        if status != self._optimal and not (solution.dual_valid and self._was_stopped(status)):
            return None
        dual = np.abs(np.asarray(solution.row_dual)) * (self._scale * self._divisor)
        found: IntArray = np.rint(np.minimum(dual, _LARGEST)).astype(np.int64)
        if self._program.holds is not None:
            found = _unchained(found, self._program.holds)
        most = self._program.most
        return found if most is None else np.minimum(found, most)

    def values(self, size: int) -> NDArray[np.float64] | None:
        """Return how much of each of so many units the last solution has; None if there was none."""
        units = self._program.units
        found = np.asarray(self._solution.col_value, np.float64)
        if len(found) < len(units):
            return None
        values = np.zeros(size)
        values[units] = found[: len(units)]
        return values

    def basis(self) -> object:
        """Return the basis of the last solution."""
        if self._basis is None:
            self._basis = self._highs.getBasis()
        return self._basis

    def begin_at(self, basis: object) -> None:
        """Let the next solution begin at a basis of the loaded model, if there is one."""
        if basis is not None and basis is not self._basis:
            self._highs.setBasis(basis)

    def begin_near(self, columns: IntArray, rows: IntArray) -> None:
        """Let the first solution of a model begin where columns and rows stand; more or fewer than a basis will do."""
        import highspy

        status = highspy.HighsBasisStatus
        kinds = [status.kLower, status.kBasic, status.kUpper]  # as BELOW, BETWEEN and ABOVE number them
        basis = highspy.HighsBasis()
        basis.col_status, basis.row_status = [kinds[at] for at in columns], [kinds[at] for at in rows]
        basis.valid = basis.alien = True  # HiGHS makes a basis of it
        self._highs.setBasis(basis)

    def _minimize(self) -> None:
        """Turn the maximization into a minimization, of which alone HiGHS ends at a bound."""
        import highspy

        self._minimizes, columns = True, len(self._program.cost)
        self._highs.changeObjectiveSense(highspy.ObjSense.kMinimize)
        self._highs.changeColsCost(columns, np.arange(columns, dtype=np.int32), -self._costs)

    def _run_here(self, deadline: Deadline) -> bool:
        """Run, and set the time limit only where there is one: small models take as long as the setting."""
        left = deadline.left_s
        if left < inf or self._timed:
            self._timed = left < inf
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
        self._highs.run()
        return True

    def _run_apart(self, deadline: Deadline) -> bool:
        """Run where Ctrl-C is heard; return whether HiGHS ended."""
        ended, self._timed = False, True
        try:
            ended = run(self._highs, deadline)
        finally:
            if not ended:  # it may go on for a while, and must be left alone
                self._start()
        return ended

    @staticmethod
    def _was_stopped(status: object) -> bool:
        import highspy

        ends = highspy.HighsModelStatus
        return status in {ends.kTimeLimit, ends.kInterrupt, ends.kObjectiveBound}

    def squeezed(self, target: float, least: int, deadline: Deadline) -> IntArray | None:
        """Return multipliers of the largest length, from `least` on, at which the relaxation misses the target.

        None if there is none. Where the length does not bind, copies have no price and the bound does not see the
        length. These prices are as valid as any, and tell how much length what is still missing takes.
        """
        row = self._program.length_row
        low, high = self._program.row_lower[row], self._program.row_upper[row]
        first, last = least, int(high)
        found = None
        while first < last and not deadline.passed:
            middle = (first + last) // 2
            self._highs.changeRowBounds(row, low, float(middle))
            multipliers = self.multipliers(deadline)
            value = self._highs.getInfo().objective_function_value * self._divisor
            if multipliers is None or value >= target - _CLOSE:
                last = middle
            else:
                first, found = middle + 1, multipliers
        self._highs.changeRowBounds(row, low, high)
        return found


class _Pool(threading.local):
    """A thread's relaxations, one for each depth at which they are made anew."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []


POOL: Final = _Pool()


def _unchained(multipliers: IntArray, holds: NDArray[np.bool_]) -> IntArray:
    """Return multipliers of whole rows from those of rows that say only what is new (`singles.nested`)."""
    found, m = multipliers.copy(), len(holds)
    # The least so far of each chain: by ranks, and later chains so far down that what was before is never the least.
    values, rank = np.unique(found[:m], return_inverse=True)
    down = m * np.cumsum(~holds)
    least = values[np.minimum.accumulate(rank.reshape(-1) - down) + down]
    found[:m] = least
    found[: m - 1] -= np.where(holds[1:], least[1:], 0)
    return found
