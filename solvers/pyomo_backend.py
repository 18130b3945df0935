"""Any solver that Pyomo knows, on the readable model of the paper's equations where there is one."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar

from optsum.backend import Availability, Backend, RawOutcome
from optsum.errors import BackendError, UnsupportedError
from optsum.problem import Problem, Sense
from optsum.result import Termination
from optsum.run import Limits

from .pyomo_model import pyomo_model

__all__ = ["PyomoBackend"]


class PyomoBackend(Backend):
    """``pyomo:NAME``: Pyomo's newer solver interface where it has NAME, its older one otherwise.

    Parameters
    ----------
    solver : str
        As Pyomo calls it: "highs", "scip_direct", "gurobi_direct", "cbc", "glpk", ...
    """

    name: ClassVar[str] = "pyomo"
    about: ClassVar[str] = "the paper's equations as a Pyomo model, for any solver Pyomo knows (pyomo:NAME)"
    install: ClassVar[str] = "pip install pyomo, and the solver"

    def __init__(self, solver: str) -> None:
        self.solver = solver

    def available(self) -> Availability:
        """Say whether Pyomo finds the solver."""
        try:
            solver, newer = self._factory()
        except BackendError as error:
            return Availability(usable=False, reason=str(error).rstrip("."))
        if newer:
            state = solver.available()
            version = ".".join(map(str, solver.version() or ())) if state else ""
            return Availability(usable=bool(state), reason="" if state else f"Pyomo says {state.name}", version=version)
        usable = bool(solver.available(exception_flag=False))
        return Availability(usable=usable, reason="" if usable else "Pyomo does not find the program")

    def _factory(self) -> tuple[Any, bool]:
        """Return Pyomo's solver object, and whether it is of the newer interface."""
        from pyomo.contrib.solver.common.factory import SolverFactory as Newer

        if self.solver in Newer:
            return Newer(self.solver), True
        import pyomo.environ as pyo

        if self.solver not in pyo.SolverFactory:
            raise BackendError(f"Pyomo knows no solver {self.solver!r}: see 'pyomo help --solvers' for those it knows.")
        return pyo.SolverFactory(self.solver), False

    def solve(self, problem: Problem, limits: Limits, seed: int) -> RawOutcome:
        """Build the paper's model, solve it, read it back."""
        del seed  # differs from solver to solver: set by the solver's own options
        availability = self.available()
        if not availability:
            raise BackendError(f"The solver {self.solver} cannot be used through Pyomo: {availability.reason}.")
        if limits.nodes is not None:
            raise UnsupportedError(f"The backend pyomo:{self.solver} takes no node limit: use a time limit.")
        began = perf_counter()
        build = getattr(problem, "reference_model", None)
        model = build() if build is not None else pyomo_model(problem.linear_model)
        built = perf_counter()
        solver, newer = self._factory()
        try:
            outcome = (_solve_newer if newer else _solve_older)(solver, model, limits, problem.sense)
        except Exception as error:  # solvers raise their own classes for licences, limits and crashes
            raise BackendError(f"pyomo:{self.solver} failed: {str(error).splitlines()[0]}") from error
        outcome.statistics.update({"build_s": built - began, "solve_s": perf_counter() - built})  # type: ignore[attr-defined]
        return outcome


def _chosen(model: Any) -> tuple[int, ...]:
    # A variable that occurs in no constraint stays without a value: it is 0.
    return tuple(unit for unit in model.x if (model.x[unit].value or 0) > 0.5)


def _solve_newer(solver: Any, model: Any, limits: Limits, sense: Sense) -> RawOutcome:
    from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

    del sense
    results = solver.solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        time_limit=limits.time_s,
        rel_gap=limits.gap or 0.0,
        threads=1,
    )
    holds = results.solution_status in {SolutionStatus.feasible, SolutionStatus.optimal}
    if holds:
        results.solution_loader.load_vars()
    condition = results.termination_condition
    optimal = condition is TerminationCondition.convergenceCriteriaSatisfied
    infeasible = condition is TerminationCondition.provenInfeasible
    termination = {
        TerminationCondition.maxTimeLimit: Termination.TIME_LIMIT,
        TerminationCondition.iterationLimit: Termination.NODE_LIMIT,
        TerminationCondition.interrupted: Termination.INTERRUPTED,
    }.get(condition, Termination.COMPLETED if optimal or infeasible else Termination.FAILED)
    bound = results.objective_bound
    return RawOutcome(
        termination=termination,
        optimal=optimal,
        infeasible=infeasible,
        selection=_chosen(model) if holds else None,
        objective=results.incumbent_objective if holds else None,
        bound=bound if bound is not None and abs(bound) < 1e30 else None,
        native=condition.name,
        statistics={},
    )


_TIME_OPTION = {"cbc": "sec", "glpk": "tmlim", "appsi_highs": "time_limit", "gurobi": "TimeLimit"}


def _solve_older(solver: Any, model: Any, limits: Limits, sense: Sense) -> RawOutcome:
    from pyomo.opt import SolverStatus, TerminationCondition

    if limits.time_s is not None:
        option = _TIME_OPTION.get(solver.name)
        if option is None:
            raise UnsupportedError(f"optsum does not know how {solver.name} takes a time limit: leave it out.")
        solver.options[option] = max(1, round(limits.time_s))
    results = solver.solve(model, load_solutions=False)
    condition = results.solver.termination_condition
    holds = len(results.solution) > 0
    if holds:
        model.solutions.load_from(results)
    optimal = condition == TerminationCondition.optimal and results.solver.status == SolverStatus.ok
    infeasible = condition == TerminationCondition.infeasible
    termination = {
        TerminationCondition.maxTimeLimit: Termination.TIME_LIMIT,
        TerminationCondition.userInterrupt: Termination.INTERRUPTED,
    }.get(condition, Termination.COMPLETED if optimal or infeasible else Termination.FAILED)
    problem = results.problem
    bound = float(problem.upper_bound if sense is Sense.MAXIMIZE else problem.lower_bound) if not optimal else None
    return RawOutcome(
        termination=termination,
        optimal=optimal,
        infeasible=infeasible,
        selection=_chosen(model) if holds else None,
        # Some of these solvers lose the sign of a bound when maximizing: only a limit reads it, and re-scoring checks.
        bound=bound if bound is not None and abs(bound) < 1e30 else None,
        native=str(condition),
        statistics={},
    )
