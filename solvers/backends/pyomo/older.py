"""Pyomo's older solver interface: many solvers have only this, and what results mean differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from optsum.contracts.backend import RawOutcome, stated
from optsum.contracts.declaration import BoundQuality, Ending
from optsum.contracts.run import Limits
from optsum.coverage.instance import Sense

from .declaration import Driven
from .model import chosen_units
from .watch import Watch

__all__ = ["OLDER"]

OLDER: Final[Mapping[str, Ending]] = {
    "optimal": Ending.OPTIMAL,
    "globallyOptimal": Ending.OPTIMAL,
    "infeasible": Ending.INFEASIBLE,
    "infeasibleOrUnbounded": Ending.INFEASIBLE,
    "maxTimeLimit": Ending.TIME,
    "maxEvaluations": Ending.NODES,
    "maxIterations": Ending.LIMIT,
    "feasible": Ending.LIMIT,
    "intermediateNonInteger": Ending.LIMIT,
    "noSolution": Ending.LIMIT,
    "other": Ending.LIMIT,
    "userInterrupt": Ending.INTERRUPTED,
    "resourceInterrupt": Ending.INTERRUPTED,
    "locallyOptimal": Ending.FAILED,
    "minFunctionValue": Ending.FAILED,
    "minStepLength": Ending.FAILED,
    "unbounded": Ending.FAILED,
    "invalidProblem": Ending.FAILED,
    "solverFailure": Ending.FAILED,
    "internalSolverError": Ending.FAILED,
    "error": Ending.FAILED,
    "licensingProblems": Ending.FAILED,
    "unknown": Ending.FAILED,
}
"""What its termination conditions stand for, where a solver's declaration does not know better."""

_DIGITS: Final = 1e-5
"""How far a number that was printed with six digits may be off, and then some."""


def solve_older(
    backend: Driven, model: Any, limits: Limits, watch: Watch, started: bool, sense: Sense
) -> tuple[RawOutcome, float | None]:
    """Solve, and return the outcome and the seconds that the solver itself took, if they are known."""
    from pyomo.opt import SolverStatus, TerminationCondition

    solver = backend.factory()
    with watch.older(solver):
        results = solver.solve(model, load_solutions=False, **({"warmstart": True} if started else {}))
    key, words = backend.native(solver, results)
    seconds = _seconds(results)
    ending = backend.declaration.statuses.get(key, Ending.FAILED)
    objective = None
    holds = ending is not Ending.INFEASIBLE and len(results.solution) > 0 and len(results.solution(0).variable) > 0
    if holds:
        objective = _claimed(results) if ending is Ending.OPTIMAL else stated(_claimed(results))
        # Pyomo refuses to load what a solver held at some limits; whether it is a solution is decided below.
        results.solver.status, results.solver.termination_condition = SolverStatus.ok, TerminationCondition.optimal
        model.solutions.load_from(results)
    selection = chosen_units(model) if holds else None
    nodes = backend.nodes(solver, results)
    outcome = RawOutcome(
        termination=backend.ended(ending, limits, seconds or 0.0),
        optimal=ending is Ending.OPTIMAL,
        infeasible=ending is Ending.INFEASIBLE,
        selection=selection,
        objective=objective if selection is not None or ending is Ending.OPTIMAL else None,
        bound=None if ending is Ending.INFEASIBLE else _bound(backend, results, ending, sense, limits),
        native=words,
        nodes=nodes,
        statistics={},
    )
    return outcome, seconds


def _bound(backend: Driven, results: Any, ending: Ending, sense: Sense, limits: Limits) -> float | None:
    quality = backend.declaration.bound
    printed = quality is BoundQuality.PRINTED
    # At an optimum what is printed is the optimum, but for its last digits; within a gap it is more.
    if quality is BoundQuality.NONE or (printed and ending is Ending.OPTIMAL and not limits.gap):
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


def _seconds(results: Any) -> float | None:
    for name in ("wallclock_time", "time"):
        try:
            seconds = float(getattr(results.solver, name))
        except (AttributeError, TypeError, ValueError):
            continue
        if isfinite(seconds) and seconds >= 0:
            return seconds
    return None
