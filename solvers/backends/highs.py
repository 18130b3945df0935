"""HiGHS, the default MILP backend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final

import numpy as np

from optsum.contracts.backend import Backend, Declaration, Ending, OptionNames, RawOutcome, stated
from optsum.coverage.instance import Sense, decisions
from optsum.errors import BackendError, OptionError
from optsum.problem.problem import Problem, Selection
from optsum.program.model import LinearModel, new_highs, pass_model, run
from optsum.system.clock import Deadline, Limits, Termination, clock

_SMALL = 400  # Largest number of columns of a model that is solved within milliseconds, so that Ctrl-C can wait.
_RELATIVE: Final = 1e-8  # Largest relative difference between bound and objective that counts as rounding.
_NEEDLESS: Final = ("mip_heuristic_run_feasibility_jump", "mip_allow_restart")
"""Options that are off if only units are integral and the objective is maximized: feasible solutions are easy to find,
and restarts are useless with few cuts at the root. This saves from a third (squality, ROUGE-L) to half of the time
(realsumm, F1).
"""

_GAP: Final = 0.999  # Absolute gap: an integer objective is optimal if the bound is less than 1 away.


class Highs(Backend):
    """HiGHS, called through `highspy`, on the merged program as arrays."""

    name = "highs"
    about = "HiGHS through highspy, arrays passed straight to it"
    access = "arrays"
    declaration = Declaration(
        install="pip install highspy",
        licence="free (MIT)",
        module="highspy",
        names=OptionNames(
            time="time_limit", gap="mip_rel_gap", threads="threads", seed="random_seed", nodes="mip_max_nodes"
        ),
        fixed={"mip_abs_gap": _GAP},
        bound_keepers=r"mip_(max_|heuristic_|pool_|allow_|detect_|min_logging_).*|presolve|parallel|output_flag|log_.*",
        statuses={
            "kOptimal": Ending.OPTIMAL,
            "kInfeasible": Ending.INFEASIBLE,
            "kUnboundedOrInfeasible": Ending.INFEASIBLE,
            "kModelEmpty": Ending.OPTIMAL,
            "kTimeLimit": Ending.TIME,
            "kSolutionLimit": Ending.NODES,  # HiGHS reports a node limit as a solution limit
            "kIterationLimit": Ending.NODES,
            "kMemoryLimit": Ending.MEMORY,
            "kInterrupt": Ending.INTERRUPTED,
            "kHighsInterrupt": Ending.INTERRUPTED,
            **dict.fromkeys(
                (
                    "kNotset", "kLoadError", "kModelError", "kPresolveError", "kSolveError", "kPostsolveError",
                    "kUnbounded", "kObjectiveBound", "kObjectiveTarget", "kUnknown",
                ),
                Ending.FAILED,
            ),
        },
        warm_start=True,
    )  # fmt: skip

    def native_statuses(self) -> tuple[str, ...]:
        import highspy

        return tuple(highspy.HighsModelStatus.__members__)

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        self.accept(limits)
        began, deadline = clock(), Deadline(self.kept(limits).time_s)
        model = problem.linear_model
        highs = new_highs()
        if model.sense is Sense.MAXIMIZE and not model.integral[model.units :].any():
            for option in _NEEDLESS:
                highs.setOptionValue(option, False)
        set_options(highs, self.settings(limits, seed), self.name)
        built = clock()
        pass_model(highs, model)
        if start is not None:
            chosen = decisions(model.units, start, np.float64)
            highs.setSolution(model.units, np.arange(model.units, dtype=np.int32), chosen)
        found: list[Selection] = []  # the incumbent, for the case that HiGHS does not respond and is left running

        def note(event: Any) -> None:
            found[:] = [_chosen(event.data_out.mip_solution[: model.units])]

        highs.cbMipImprovingSolution.subscribe(note)
        passed = clock()
        # The user's options may make HiGHS ignore its time limit.
        apart = bool(self.options) or model.columns > _SMALL
        with scheduler() if self.settings(limits, seed)["threads"] != 1 else nullcontext():
            ended = run(highs, deadline, apart=apart, keeps=True)
            trusting = bool(self.options) or limits.gap is not None
            if ended and _contradicts_itself(highs, model, trusting=trusting) and "presolve" not in self.options:
                highs.setOptionValue("presolve", "off")
                ended = run(highs, deadline, apart=apart, keeps=True)
        solved = clock()
        if not ended:
            termination = Termination.INTERRUPTED if deadline.reason == "interrupted" else Termination.TIME_LIMIT
            return RawOutcome(termination=termination, native="no answer in time", selection=next(iter(found), None))
        outcome = _outcome(
            highs,
            model.units,
            limits,
            {"build_s": built - began, "hand_over_s": passed - built, "solve_s": solved - passed},
            interrupted=deadline.reason == "interrupted",
        )
        # At a limit HiGHS may hold the columns of one solution and the objective of another.
        if outcome.selection is not None and not outcome.optimal and _is_off(highs, model):
            return replace(outcome, objective=None)
        return outcome


def set_options(highs: Any, options: Mapping[str, Any], name: str) -> None:
    import highspy

    for option, value in options.items():
        if highs.setOptionValue(option, value) == highspy.HighsStatus.kError:
            known = highs.getOptionType(option)[0] != highspy.HighsStatus.kError
            near = [] if known else get_close_matches(option, dir(highs.getOptions()))
            hint = f"did you mean {' or '.join(near)}?" if near else "see the list of options of HiGHS."
            raise OptionError(f"The backend {name} does not take the option {option}={value}: {hint}")


@contextmanager
def scheduler() -> Iterator[None]:
    """Let HiGHS use another number of threads than earlier solves in this process, which it refuses otherwise."""
    import highspy

    highspy.Highs.resetGlobalScheduler(True)
    try:
        yield
    finally:
        highspy.Highs.resetGlobalScheduler(True)


def _chosen(columns: Any) -> Selection:
    return tuple(np.flatnonzero(np.asarray(columns) > 0.5).tolist())


def _contradicts_itself(highs: Any, model: LinearModel, *, trusting: bool) -> bool:
    """Return whether the value of an optimum differs from its stated value, or (unless `trusting`) from the bound.

    HiGHS with presolve may return an older bound, or the optimal objective with the columns of the start.
    """
    if highs.getModelStatus().name != "kOptimal":
        return False
    info = highs.getInfo()
    said = info.objective_function_value
    return (not trusting and abs(info.mip_dual_bound - said) > _GAP + _RELATIVE * abs(said)) or _is_off(highs, model)


def _is_off(highs: Any, model: LinearModel) -> bool:
    said = highs.getInfo().objective_function_value
    worth = float(model.objective @ np.array(highs.getSolution().col_value))
    return bool(abs(said - worth) > 0.5 + _RELATIVE * abs(said))


def _outcome(
    highs: Any, units: int, limits: Limits, statistics: dict[str, float], *, interrupted: bool = False
) -> RawOutcome:
    import highspy

    native = highs.getModelStatus()
    info = highs.getInfo()
    ending = Highs.declaration.statuses.get(native.name, Ending.FAILED)
    if ending in {Ending.INTERRUPTED, Ending.TIME}:  # both requests reach HiGHS in the same way
        ending = Ending.INTERRUPTED if interrupted else Ending.TIME
    holds = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    selection = None
    if holds:
        values = np.array(highs.getSolution().col_value[:units])
        if not np.isfinite(values).all():
            raise BackendError("highs gives units values that are not numbers: its answer is not valid.")
        selection = _chosen(values)
    return RawOutcome(
        termination=ending.termination(limits, statistics["solve_s"]),
        optimal=ending is Ending.OPTIMAL,
        infeasible=ending is Ending.INFEASIBLE,
        selection=selection,
        objective=info.objective_function_value if holds else None,
        bound=stated(info.mip_dual_bound),
        native=highs.modelStatusToString(native),
        nodes=max(0, int(info.mip_node_count)),
        statistics=statistics,
    )
