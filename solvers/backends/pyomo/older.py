"""Pyomo's older solver interface: many solvers have only this, and what results mean differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from optsum.contracts.backend import stated
from optsum.contracts.declaration import BoundQuality, Ending
from optsum.coverage.instance import Sense

from .model import chosen_units
from .watch import Watch

OLDER: Final[Mapping[str, Ending]] = {
    **dict.fromkeys(("optimal", "globallyOptimal"), Ending.OPTIMAL),
    **dict.fromkeys(("infeasible", "infeasibleOrUnbounded"), Ending.INFEASIBLE),
    "maxTimeLimit": Ending.TIME,
    "maxEvaluations": Ending.NODES,
    **dict.fromkeys(("maxIterations", "feasible", "intermediateNonInteger", "noSolution", "other"), Ending.LIMIT),
    **dict.fromkeys(("userInterrupt", "resourceInterrupt"), Ending.INTERRUPTED),
    **dict.fromkeys(
        ("locallyOptimal", "minFunctionValue", "minStepLength", "unbounded", "invalidProblem"), Ending.FAILED
    ),
    **dict.fromkeys(("solverFailure", "internalSolverError", "error", "licensingProblems", "unknown"), Ending.FAILED),
}
"""What its termination conditions stand for, where a solver's declaration does not know better."""

_DIGITS: Final = 1e-5
"""How far a number that was printed with six digits may be off, and then some."""


def solve_older(solver: Any, model: Any, watch: Watch, started: bool) -> Any:
    """Solve, and return Pyomo's results."""
    with watch.older(solver):
        return solver.solve(model, load_solutions=False, **({"warmstart": True} if started else {}))


def told_older(
    results: Any, model: Any, ending: Ending, quality: BoundQuality, sense: Sense, *, gap: bool
) -> dict[str, Any]:
    """Return selection, objective and bound as `RawOutcome` has them; `gap` says whether one was asked for."""
    from pyomo.opt import SolverStatus, TerminationCondition

    objective = None
    holds = ending is not Ending.INFEASIBLE and len(results.solution) > 0 and len(results.solution(0).variable) > 0
    if holds:
        objective = _claimed(results) if ending is Ending.OPTIMAL else stated(_claimed(results))
        # Pyomo refuses to load what a solver held at some limits; whether it is a solution is decided below.
        results.solver.status, results.solver.termination_condition = SolverStatus.ok, TerminationCondition.optimal
        model.solutions.load_from(results)
    selection = chosen_units(model) if holds else None
    return {
        "selection": selection,
        "objective": objective if selection is not None or ending is Ending.OPTIMAL else None,
        "bound": None if ending is Ending.INFEASIBLE else _bound(results, ending, quality, sense, gap=gap),
    }


def _bound(results: Any, ending: Ending, quality: BoundQuality, sense: Sense, *, gap: bool) -> float | None:
    printed = quality is BoundQuality.PRINTED
    # At an optimum what is printed is the optimum, but for its last digits; within a gap it is more.
    if quality is BoundQuality.NONE or (printed and ending is Ending.OPTIMAL and not gap):
        return None
    words = results.problem.upper_bound if sense is Sense.MAXIMIZE else results.problem.lower_bound
    try:
        bound = stated(float(words))
    except (TypeError, ValueError):
        return None
    if bound is None or not printed:
        return bound
    # What is above b or above -b is not below the larger of the two.
    return abs(bound) * (1 + _DIGITS) if sense is Sense.MAXIMIZE else bound - abs(bound) * _DIGITS


def _claimed(results: Any) -> float | None:
    for entry in results.solution(0).objective.values():
        try:
            return float(entry["Value"])
        except (KeyError, TypeError, ValueError):
            continue
    return None


def nodes_older(results: Any) -> int | None:
    """Return how many nodes were searched, where that is said."""
    try:
        return int(results.solver.statistics.branch_and_bound.number_of_bounded_subproblems)
    except (AttributeError, TypeError, ValueError):
        return None


def seconds_older(results: Any) -> float | None:
    """Return the seconds that the solver itself took, if they are known."""
    for name in ("wallclock_time", "time"):
        try:
            seconds = float(getattr(results.solver, name))
        except (AttributeError, TypeError, ValueError):
            continue
        if isfinite(seconds) and seconds >= 0:
            return seconds
    return None
