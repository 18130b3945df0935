"""Branch and bound: one optimum proven, or all of them as a decision diagram."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from optsum.clauses import is_cover
from optsum.coverage import Coverage
from optsum.errors import BackendError, OptionError, UnsupportedError
from optsum.optima import Optima
from optsum.problem import Capability, Problem, require
from optsum.result import Termination
from optsum.run import Limits, Run, Stopped
from optsum.strategy import Strategy

from .covers import enumerate_covers, solve_cover

__all__ = ["BranchAndBound"]


@dataclass(frozen=True)
class BranchAndBound(Strategy):
    """Depth-first search with a bound at every node.

    Parameters
    ----------
    bound : {"lagrangian", "knapsack"}
        "lagrangian": the bound of the linear relaxation in integers, fixing, merging of equal states. "knapsack": the
        paper's baseline (Hirao et al. 2017, Algorithms 1-3), without a minimum length only. Minimum covers have a
        search of their own (`covers`), whatever is said here.
    """

    bound: str = "lagrangian"

    name: ClassVar[str] = "branch-and-bound"
    about: ClassVar[str] = "proves one optimum, or enumerates all, with Lagrangian bounds (or --bound knapsack)"
    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.COVERAGE})
    exact: ClassVar[bool] = True
    enumerates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse an unknown bound."""
        if self.bound not in {"lagrangian", "knapsack"}:
            raise OptionError(f"There is no bound {self.bound!r}: use lagrangian or knapsack.")

    def accept(self, problem: Problem) -> None:
        """Refuse what the bounds do not hold for."""
        super().accept(problem)
        if is_cover(problem.coverage):
            return
        require(problem, frozenset({Capability.COMBINATORIAL_BOUND}), "The strategy branch-and-bound")
        if self.bound == "knapsack" and problem.min_length > 0:
            raise UnsupportedError("The knapsack bound does not hold with a minimum length: use --bound lagrangian.")

    def prepare(self) -> None:
        """Run every kernel once, on an instance that is not settled at the root."""
        from .exact import Limits as Effort
        from .exact import solve_all, solve_knapsack_all, solve_knapsack_one, solve_one

        effort = Effort(frames=3_000)
        tough = _tough()
        for solve in (solve_knapsack_one, solve_knapsack_all) if self.bound == "knapsack" else (solve_one, solve_all):
            solve(tough, effort)

    def search(self, run: Run) -> None:
        """Find one optimum and prove it."""
        if is_cover(run.problem.coverage):
            solve_cover(run)
            return
        from .exact import solve_knapsack_one, solve_one

        coverage = run.problem.coverage
        solve = solve_knapsack_one if self.bound == "knapsack" else solve_one
        answer = solve(coverage, _limits(run.limits, run.remaining_s, lambda: _stops(run)))
        statistics = answer.statistics.as_dict()
        run.count(nodes=statistics["nodes"])
        run.statistics.update(statistics)
        if answer.selection is not None:
            found = run.see(answer.selection)
            if not found.feasible or Fraction(found.key) != _value(coverage, answer.value):
                raise BackendError(
                    f"branch-and-bound claims {answer.value} for a selection worth {found.value}: it is no result."
                )
            run.raise_bound(_value(coverage, answer.bound))
        if answer.termination != "completed":
            raise Stopped(Termination(answer.termination))
        run.prove()

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Return all optima."""
        from .exact import solve_all, solve_knapsack_all

        self.accept(problem)
        if is_cover(problem.coverage):
            return enumerate_covers(problem.coverage, limits, should_stop=should_stop)
        solve = solve_knapsack_all if self.bound == "knapsack" else solve_all
        return solve(problem.coverage, _limits(limits, limits.time_s, should_stop))


def _tough() -> Coverage:
    """Return an instance of 40 units with loose bounds."""
    units = range(40)
    copies = [{(7 * unit + 11 * step) % 30: 1 + unit % 2 for step in range(5)} for unit in units]
    return Coverage.of(
        [5 + unit * unit % 7 for unit in units], copies, [[3, 2, 1]] * 30, constants=(0, 180), max_length=60
    )


def _limits(limits: Limits, seconds: float | None, should_stop: Callable[[], bool] | None):  # type: ignore[no-untyped-def]
    from .exact import Limits as Effort

    return Effort(
        seconds=None if seconds in {None, float("inf")} else seconds, frames=limits.nodes, should_stop=should_stop
    )


def _stops(run: Run) -> bool:
    """Whether the caller of the search wants it to end."""
    try:
        run.check()
    except Stopped as stop:
        if stop.termination is Termination.INTERRUPTED:
            return True
    return False


def _value(coverage: Coverage, numerator: int) -> Fraction:
    bottom = int(coverage.constants[1])
    return Fraction(numerator, bottom) if bottom > 0 else Fraction(0)
