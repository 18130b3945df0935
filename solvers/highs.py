"""HiGHS, on arrays: the default MILP backend."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from optsum.backend import Availability, Backend, RawOutcome
from optsum.lp import new_highs, pass_model
from optsum.problem import Problem
from optsum.result import Termination
from optsum.run import Limits

__all__ = ["Highs"]

_ONE_AT_A_TIME = threading.Lock()
"""highspy runs one solver in a thread of its own at a time, whichever thread starts it."""

_SMALL = 400
"""Columns of a model that is solved within milliseconds."""


class Highs(Backend):
    """`highspy`, handed the merged model as arrays."""

    name: ClassVar[str] = "highs"
    about: ClassVar[str] = "HiGHS through highspy, arrays passed straight to it"
    install: ClassVar[str] = "pip install highspy"

    def available(self) -> Availability:
        """Say whether highspy can be imported."""
        try:
            import highspy
        except ImportError as error:
            return Availability(usable=False, reason=f"highspy cannot be imported ({error})")
        return Availability(usable=True, version=highspy.Highs().version())

    def solve(self, problem: Problem, limits: Limits, seed: int) -> RawOutcome:
        """Solve to proven optimality, or to a limit."""
        began = perf_counter()
        model = problem.linear_model
        highs = new_highs()
        highs.setOptionValue("random_seed", seed % 2**31)
        highs.setOptionValue("mip_rel_gap", limits.gap or 0.0)
        # The objective is an integer: a bound less than 1 away proves it.
        highs.setOptionValue("mip_abs_gap", 0.999)
        if limits.time_s is not None:
            highs.setOptionValue("time_limit", max(0.0, limits.time_s))
        if limits.nodes is not None:
            highs.setOptionValue("mip_max_nodes", limits.nodes)
        built = perf_counter()
        pass_model(highs, model)
        passed = perf_counter()
        if model.columns > _SMALL:
            _run_in_thread(highs)
        else:
            highs.run()
        solved = perf_counter()
        return _outcome(
            highs,
            model.units,
            {"build_s": built - began, "hand_over_s": passed - built, "solve_s": solved - passed},
        )


def _run_in_thread(highs: Any) -> None:
    """Solve so that Ctrl-C need not wait for the end; that costs 1.5 ms."""
    with _ONE_AT_A_TIME:
        highs.HandleUserInterrupt = True
        highs.startSolve()
        finished = False
        while not finished:
            try:
                finished, _ = highs.wait(0.1)
            except KeyboardInterrupt:
                highs.cancelSolve()


def _outcome(highs: Any, units: int, statistics: dict[str, float]) -> RawOutcome:
    import highspy

    native = highs.getModelStatus()
    info = highs.getInfo()
    kinds = highspy.HighsModelStatus
    termination = {
        kinds.kTimeLimit: Termination.TIME_LIMIT,
        kinds.kSolutionLimit: Termination.NODE_LIMIT,
        kinds.kIterationLimit: Termination.NODE_LIMIT,
        kinds.kInterrupt: Termination.INTERRUPTED,
        kinds.kOptimal: Termination.COMPLETED,
        kinds.kInfeasible: Termination.COMPLETED,
        kinds.kModelEmpty: Termination.COMPLETED,
    }.get(native, Termination.FAILED)
    holds = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    selection = None
    if holds:
        values = np.array(highs.getSolution().col_value[:units])
        selection = tuple(np.flatnonzero(values > 0.5).tolist())
    return RawOutcome(
        termination=termination,
        optimal=native == kinds.kOptimal,
        infeasible=native == kinds.kInfeasible,
        selection=selection,
        objective=info.objective_function_value if holds else None,
        bound=info.mip_dual_bound if np.isfinite(info.mip_dual_bound) else None,
        native=highs.modelStatusToString(native),
        nodes=max(0, int(info.mip_node_count)),
        statistics=statistics,
    )
