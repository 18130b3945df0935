"""Pyomo's newer solver interface, `pyomo.contrib.solver`: results that mean the same for every solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from optsum.contracts.backend import stated
from optsum.contracts.declaration import Ending

from .model import chosen_units
from .watch import Watch

NEWER: Final[Mapping[str, Ending]] = {
    "convergenceCriteriaSatisfied": Ending.OPTIMAL,
    **dict.fromkeys(("provenInfeasible", "infeasibleOrUnbounded"), Ending.INFEASIBLE),
    "maxTimeLimit": Ending.TIME,
    "iterationLimit": Ending.NODES,
    "interrupted": Ending.INTERRUPTED,
    **dict.fromkeys(("objectiveLimit", "minStepLength", "unbounded", "locallyInfeasible"), Ending.FAILED),
    **dict.fromkeys(("error", "licensingProblems", "emptyModel", "unknown"), Ending.FAILED),
}
"""What its termination conditions stand for."""

_COMMON: Final = ("time_limit", "rel_gap", "abs_gap", "threads")
"""Options that this interface has for every solver."""

_NODES: Final = ("mip_node_count", "NNodes", "NodeCount")


def solve_newer(solver: Any, model: Any, watch: Watch, given: Mapping[str, Any], started: bool) -> Any:
    """Solve, and return Pyomo's results; `given` are the options that the solver was given as its own."""
    settings = watch.settings()
    watch.newer(solver, "time_limit" in settings and "time_limit" not in given)
    common = {name: settings[name] for name in _COMMON if name in settings and name not in given}
    own = {name: value for name, value in settings.items() if name not in common}
    return solver.solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        solver_options=own,
        **common,
        **({"warmstart_discrete_vars": True} if started else {}),
    )


def told_newer(results: Any, model: Any) -> dict[str, Any]:
    """Return selection, objective and bound as `RawOutcome` has them."""
    from pyomo.contrib.solver.common.results import SolutionStatus

    if results.solution_status not in {SolutionStatus.feasible, SolutionStatus.optimal}:
        return {"bound": stated(results.objective_bound)}
    results.solution_loader.load_vars()
    return {
        "selection": chosen_units(model),
        "objective": results.incumbent_objective,
        "bound": stated(results.objective_bound),
    }


def nodes_newer(results: Any) -> int | None:
    """Return how many nodes were searched, where that is said."""
    return next((max(0, int(results.extra_info[name])) for name in _NODES if name in results.extra_info), None)


def seconds_newer(results: Any) -> float | None:
    """Return the seconds that the solver itself took, if they are known."""
    try:
        return float(results.timing_info.timer.get_total_time("optimize"))
    except (AttributeError, KeyError, TypeError):
        return None
