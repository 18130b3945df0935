"""Pyomo's newer solver interface, `pyomo.contrib.solver`: results that mean the same for every solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from optsum.contracts.backend import RawOutcome, stated
from optsum.contracts.declaration import Ending
from optsum.contracts.run import Limits

from .declaration import Driven
from .model import chosen_units
from .watch import Watch

__all__ = ["NEWER"]

NEWER: Final[Mapping[str, Ending]] = {
    "convergenceCriteriaSatisfied": Ending.OPTIMAL,
    "provenInfeasible": Ending.INFEASIBLE,
    "infeasibleOrUnbounded": Ending.INFEASIBLE,
    "maxTimeLimit": Ending.TIME,
    "iterationLimit": Ending.NODES,
    "interrupted": Ending.INTERRUPTED,
    "objectiveLimit": Ending.FAILED,
    "minStepLength": Ending.FAILED,
    "unbounded": Ending.FAILED,
    "locallyInfeasible": Ending.FAILED,
    "error": Ending.FAILED,
    "licensingProblems": Ending.FAILED,
    "emptyModel": Ending.FAILED,
    "unknown": Ending.FAILED,
}
"""What its termination conditions stand for."""

_COMMON: Final = ("time_limit", "rel_gap", "abs_gap", "threads")
"""Options that this interface has for every solver."""

_NODES: Final = ("mip_node_count", "NNodes", "NodeCount")


def solve_newer(
    backend: Driven, model: Any, limits: Limits, watch: Watch, started: bool
) -> tuple[RawOutcome, float | None]:
    """Solve, and return the outcome and the seconds that the solver itself took, if they are known."""
    from pyomo.contrib.solver.common.results import SolutionStatus

    solver, settings = backend.factory(), watch.settings()
    watch.newer(solver, "time_limit" in settings and "time_limit" not in backend.options)
    common = {name: settings[name] for name in _COMMON if name in settings and name not in backend.options}
    own = {name: value for name, value in settings.items() if name not in common}
    results = solver.solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        solver_options=own,
        **common,
        **({"warmstart_discrete_vars": True} if started else {}),
    )
    holds = results.solution_status in {SolutionStatus.feasible, SolutionStatus.optimal}
    if holds:
        results.solution_loader.load_vars()
    key, words = backend.native(solver, results)
    ending = backend.declaration.statuses.get(key, Ending.FAILED)
    seconds = _seconds(results)
    nodes = next((int(results.extra_info[name]) for name in _NODES if name in results.extra_info), None)
    outcome = RawOutcome(
        termination=backend.ended(ending, limits, seconds or 0.0),
        optimal=ending is Ending.OPTIMAL,
        infeasible=ending is Ending.INFEASIBLE,
        selection=chosen_units(model) if holds else None,
        objective=results.incumbent_objective if holds else None,
        bound=stated(results.objective_bound),
        native=words,
        nodes=nodes if nodes is None else max(0, nodes),
        statistics={},
    )
    return outcome, seconds


def _seconds(results: Any) -> float | None:
    try:
        return float(results.timing_info.timer.get_total_time("optimize"))
    except (AttributeError, KeyError, TypeError):
        return None
