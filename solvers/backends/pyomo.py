"""The base class of all backends that use Pyomo.

Pyomo has two solver interfaces, and neither has all solvers. In the newer one (`pyomo.contrib.solver`) results have the
same meaning for every solver; in the older one they do not.
"""

from __future__ import annotations

import gc
import logging
import signal
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import cache
from io import StringIO, TextIOBase
from math import inf, isfinite
from pathlib import Path
from re import search
from tempfile import TemporaryDirectory, TemporaryFile
from types import FrameType
from typing import Any, Final, Self

import numpy as np

from optsum.contracts.backend import (
    Availability,
    Backend,
    BoundQuality,
    Declaration,
    Ending,
    OptionNames,
    RawOutcome,
    stated,
)
from optsum.coverage.instance import Sense
from optsum.errors import BackendError, OptionError, OptsumError, behind
from optsum.problem.problem import Problem, Selection
from optsum.program.model import LinearModel
from optsum.registry import BACKENDS
from optsum.system.clock import NEVER, Deadline, Limits, Stopped, Termination, clock
from optsum.system.processes.children import run_in_thread
from optsum.system.processes.signal_guard import is_amid, unbroken
from optsum.system.processes.supervised import GRACE_S, OUTPUT, Overran, find_program, run_supervised


@dataclass(frozen=True, slots=True, kw_only=True)
class PyomoDeclaration(Declaration):
    """Properties of a solver that is called through Pyomo.

    Attributes
    ----------
    factory : str
        Pyomo's name of the solver: "highs", "scip_direct", "gurobi_direct", "cbc", "glpk", ...
    newer : bool
        Whether the solver belongs to Pyomo's newer interface (`pyomo.contrib.solver`).
    """

    factory: str
    newer: bool


NEWER: Final[Mapping[str, Ending]] = {
    "convergenceCriteriaSatisfied": Ending.OPTIMAL,
    **dict.fromkeys(("provenInfeasible", "infeasibleOrUnbounded"), Ending.INFEASIBLE),
    "maxTimeLimit": Ending.TIME,
    "iterationLimit": Ending.NODES,
    "interrupted": Ending.INTERRUPTED,
    **dict.fromkeys(("objectiveLimit", "minStepLength", "unbounded", "locallyInfeasible"), Ending.FAILED),
    **dict.fromkeys(("error", "licensingProblems", "emptyModel", "unknown"), Ending.FAILED),
}
"""Meaning of each termination condition of the newer interface."""


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
"""Meaning of each termination condition of the older interface, unless a declaration differs."""


_SHORTEST = 0.01  # Shortest time limit (s) of a solver; some solvers take 0 for no limit.


class PyomoBackend(Backend):
    """A solver called through Pyomo; subclasses declare it.

    Parameters
    ----------
    threads, options :
        As for `Backend`.

    Attributes
    ----------
    readable : bool
        Whether the solver gets the readable model of the paper's equations, if the problem has one, instead of the
        smaller merged program.
    """

    declaration: PyomoDeclaration
    access = "pyomo"

    readable: bool = False

    def __init_subclass__(cls) -> None:
        """Refuse a declaration without Pyomo's name for the solver."""
        super().__init_subclass__()
        declared: object = getattr(cls, "declaration", None)
        if declared is not None and not isinstance(declared, PyomoDeclaration):
            raise OptionError(
                f"The backend {cls.__name__} needs a PyomoDeclaration, which says how Pyomo calls the solver (factory) "
                "and in which of its interfaces it is (newer): a Declaration does not."
            )

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return the solver's status: as a key of the declared statuses, and in the solver's own words."""
        del solver
        condition = results.termination_condition if self.declaration.newer else results.solver.termination_condition
        name = condition.name if self.declaration.newer else str(condition)
        return name, name

    def nodes(self, solver: Any, results: Any) -> int | None:
        """Return the number of searched nodes, if Pyomo reports it."""
        del solver
        if self.declaration.newer:
            said = results.extra_info
            return next((max(0, int(said[name])) for name in _NODES if name in said), None)
        try:
            return int(results.solver.statistics.branch_and_bound.number_of_bounded_subproblems)
        except (AttributeError, TypeError, ValueError):
            return None

    def check_options(self) -> None:
        """Refuse options that the solver would silently ignore."""

    def native_statuses(self) -> tuple[str, ...]:
        """Return the names of Pyomo's termination conditions."""
        if self.declaration.newer:
            from pyomo.contrib.solver.common.results import TerminationCondition

            return tuple(TerminationCondition.__members__)
        from pyomo.opt import TerminationCondition as Older

        return tuple(str(condition) for condition in Older)

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        """Build a Pyomo model, solve it, and read the answer."""
        self.accept(limits)
        self.check_options()
        began, deadline = clock(), Deadline(self.kept(limits).time_s)
        with Turn(deadline) as mine:
            if mine:
                return self._solve(problem, limits, seed, start, began, deadline)
        why = "the time limit was over while another thread was using Pyomo"
        return RawOutcome(termination=Termination.TIME_LIMIT, native="no answer in time", detail=why)

    def _solve(
        self, problem: Problem, limits: Limits, seed: int, start: Selection | None, began: float, deadline: Deadline
    ) -> RawOutcome:
        build = getattr(problem, "reference_model", None) if self.readable else None
        model: Any = None

        def settings() -> dict[str, Any]:
            if limits.time_s is None:
                return self.settings(limits, seed)
            left = limits.time_s - (clock() - began)  # the limit includes building and writing
            return self.settings(replace(limits, time_s=max(_SHORTEST, left)), seed)

        with hushed() as noise:
            alarm = Alarm(deadline)
            try:
                with alarm:
                    model = build() if build is not None else pyomo_model(problem.linear_model)
                    started = start is not None and build is None and self.declaration.warm_start
                    for unit, variable in model.x.items() if started else ():
                        variable.value = int(unit in (start or ()))
                    built = clock()
                    watch = Watch(self.name, deadline, alarm, settings)
                    outcome, solving = self._outcome(model, limits, watch, started, problem.sense)
            except Exception as error:  # solvers raise their own classes for licences, limits and crashes
                # If anything is raised while Pyomo makes a solver, the solver "is unavailable" for Pyomo.
                if (over := behind(error, Overran) or alarm.rang) is not None:
                    return RawOutcome(termination=Termination.TIME_LIMIT, native="no answer in time", detail=str(over))
                if isinstance(error, RuntimeError) and "KeyboardInterrupt: " in str(error):
                    raise KeyboardInterrupt from error  # Pyomo raises this error for Ctrl-C during its clean-up
                return self._failed(error, noise.getvalue(), model)
        took = clock() - built
        solving = took if solving is None else min(took, solving)
        statistics = {"build_s": built - began, "hand_over_s": took - solving, "solve_s": solving}
        return replace(outcome, statistics=statistics)

    def _outcome(
        self, model: Any, limits: Limits, watch: Watch, started: bool, sense: Sense
    ) -> tuple[RawOutcome, float | None]:
        declared, solver = self.declaration, self.factory()
        if declared.newer:
            results = solve_newer(solver, model, watch, self.options, started)
        else:
            with watch.older(solver):
                results = solver.solve(model, load_solutions=False, **({"warmstart": True} if started else {}))
        key, words = self.native(solver, results)
        ending = declared.statuses.get(key, Ending.FAILED)
        seconds: float | None = None  # time of the solver itself
        if declared.newer:
            told = told_newer(results, model)
            with suppress(AttributeError, KeyError, TypeError):
                seconds = float(results.timing_info.timer.get_total_time("optimize"))
        else:
            times = (_number(getattr(results.solver, name, None)) for name in ("wallclock_time", "time"))
            seconds = next((time for time in times if time is not None and 0 <= time < inf), None)
            told = told_older(results, model, ending, declared.bound, sense, gap=bool(limits.gap))
        outcome = RawOutcome(
            termination=self.ended(ending, limits, seconds or 0.0),
            optimal=ending is Ending.OPTIMAL,
            infeasible=ending is Ending.INFEASIBLE,
            native=words,
            nodes=self.nodes(solver, results),
            **told,
        )
        return outcome, seconds

    def _failed(self, error: Exception, noise: str, model: Any) -> RawOutcome:
        """Return a failed outcome in the solver's own words; raise an error if options or the licence are the cause."""
        if isinstance(error, OptsumError):
            raise error
        if (stop := behind(error, Stopped)) is not None:
            return RawOutcome(termination=stop.termination, native="failed", detail=stop.detail or "")
        given = self.given()
        declared, words = self.declaration, f"{error}\n{noise}"
        first = next((line.strip() for line in words.splitlines() if line.strip()), type(error).__name__)
        if self.options and (found := search(f".*(?:{declared.option_failures}).*", words)):
            raise OptionError(
                f"The backend {self.name} does not take the options {given}: {found.group().strip()}"
            ) from error
        if declared.size is not None and search(declared.size_failures, words):
            raise BackendError(
                f"The licence of {self.name} on this machine allows {declared.size}, and this program has "
                f"{model.nvariables():,} variables and {model.nconstraints():,} rows: use a full licence, or "
                "--backend=highs, which is free."
            ) from error
        if search(declared.licence_failures, words):
            if given:
                raise OptionError(
                    f"With the options {given}, {self.name} reports a fault of its licence: {first.rstrip('.')}; leave "
                    "these options out, or use another licence."
                ) from error
            raise BackendError(
                f"The backend {self.name} finds no licence ({first.rstrip('.')}): use --backend=highs, which is free."
            ) from error
        said = f"{self.name} failed{f' with the options {given}' if given else ''}: {first.rstrip('.')}"
        return RawOutcome(termination=Termination.FAILED, native="failed", detail=said)

    def factory(self) -> Any:
        """Return Pyomo's solver object."""
        pyo = load_pyomo()
        if self.declaration.newer:
            from pyomo.contrib.solver.common.factory import SolverFactory as Newer

            return Newer(self.declaration.factory)
        return pyo.SolverFactory(self.declaration.factory)

    def found_by_pyomo(self) -> Availability:
        """Return whether Pyomo itself finds the solver, for solvers without a declaration."""
        with Turn(), hushed():
            solver = self.factory()
            if self.declaration.newer:
                state = solver.available()
                version = ".".join(map(str, solver.version() or ())) if state else ""
                reason = "" if state else f"Pyomo reports it as {state.name}"
                return Availability(usable=bool(state), reason=reason, version=version)
            usable = bool(solver.available(exception_flag=False))
            return Availability(usable=usable, reason="" if usable else "Pyomo does not find it")


class OtherSolver(PyomoBackend):
    """Any solver, under its name in Pyomo, through the newer interface if possible.

    The newer interface accepts a limit of time, a gap and threads for every solver; through the older one only the
    solver's own options can be set.
    """

    name = "pyomo:NAME"
    about = "any solver of Pyomo, on the papers' equations"

    readable = True

    def available(self) -> Availability:
        return self.found_by_pyomo()


def through_pyomo(solver: str) -> type[PyomoBackend]:
    """Return the class of the backend ``pyomo:SOLVER``: a declared backend on the readable model, or `OtherSolver`."""
    if not solver:
        raise OptionError("The backend pyomo: needs a solver's name after the colon, such as pyomo:highs.")
    for name in BACKENDS:
        try:
            backend = BACKENDS.load(name)
        except OptsumError:  # a broken plug-in
            continue
        if issubclass(backend, PyomoBackend) and solver in {name, backend.declaration.factory}:
            return type(backend.__name__, (backend,), {"name": f"pyomo:{solver}", "readable": True})
    pyo = load_pyomo()
    from pyomo.contrib.solver.common.factory import SolverFactory as Newer

    newer = solver in Newer
    if not newer and solver not in pyo.SolverFactory:
        raise BackendError(f"Pyomo knows no solver {solver!r}: see 'pyomo help --solvers' for those it knows.")
    declared = PyomoDeclaration(
        factory=solver,
        newer=newer,
        install="install the solver, and see that Pyomo finds it",
        licence="the solver's own",
        names=OptionNames(time="time_limit", gap="rel_gap", threads="threads") if newer else OptionNames(),
        statuses=NEWER if newer else OLDER,
        bound=BoundQuality.PROVEN if newer else BoundQuality.PRINTED,
    )
    return type(OtherSolver.__name__, (OtherSolver,), {"name": f"pyomo:{solver}", "declaration": declared})


_INTEGRAL = 0.01  # Largest distance from 0 or 1 of a value that is rounded to it.


def pyomo_model(model: LinearModel) -> Any:
    """Return a `pyomo.environ.ConcreteModel` with a variable ``x[u]`` for each unit and ``y[j]`` for other columns."""
    import pyomo.environ as pyo

    built = pyo.ConcreteModel("coverage")
    built.x = pyo.Var(range(model.units), domain=pyo.Binary)
    others = range(model.units, model.columns)
    domains = {True: pyo.NonNegativeIntegers, False: pyo.NonNegativeReals}
    built.y = pyo.Var(
        others,
        domain=lambda _, column: domains[bool(model.integral[column])],
        bounds=lambda _, column: (0, int(model.upper[column])),
    )
    built.nothing = pyo.Var(bounds=(0, 0))
    variable = [*built.x.values(), *built.y.values()]

    def total(columns: Any, values: Any) -> Any:
        terms = zip(columns.tolist(), values.tolist(), strict=True)
        return pyo.quicksum(value * variable[column] for column, value in terms)

    priced = np.flatnonzero(model.objective)
    built.value = pyo.Objective(
        expr=total(priced, model.objective[priced]),
        sense=pyo.maximize if model.sense is Sense.MAXIMIZE else pyo.minimize,
    )
    built.rows = pyo.ConstraintList()
    for row in range(model.rows):
        entries = slice(model.row_start[row], model.row_start[row + 1])
        lower, upper = model.row_lower[row], model.row_upper[row]
        if model.row_value[entries].any():
            body = total(model.row_column[entries], model.row_value[entries])
        elif lower <= 0 <= upper:
            continue
        else:  # no solution satisfies this row, which makes the model infeasible
            body = built.nothing
        built.rows.add((lower if np.isfinite(lower) else None, body, upper if np.isfinite(upper) else None))
    return built


def chosen_units(model: Any) -> tuple[int, ...] | None:
    """Return the units whose variable is 1; None if some are fractional, because then no solution was found.

    A variable in no constraint has no value, which means 0.
    """
    values = {unit: variable.value or 0.0 for unit, variable in model.x.items()}
    if not all(isfinite(value) for value in values.values()):
        raise BackendError("The solver gives units values that are not numbers: its answer is not valid.")
    if any(min(abs(value), abs(value - 1.0)) > _INTEGRAL for value in values.values()):
        return None
    return tuple(unit for unit, value in values.items() if value > 0.5)


_COMMON: Final = ("time_limit", "rel_gap", "abs_gap", "threads")  # Options of every solver in the newer interface.
_NODES: Final = ("mip_node_count", "NNodes", "NodeCount")  # Names of the number of nodes in results of solvers.


def solve_newer(solver: Any, model: Any, watch: Watch, given: Mapping[str, Any], started: bool) -> Any:
    """Solve a model through the newer interface, and return Pyomo's results; `given`: the user's options."""
    settings = watch.settings()
    watch.newer(solver, "time_limit" in settings and "time_limit" not in given)
    common = {name: settings[name] for name in _COMMON if name in settings and name not in given}
    return solver.solve(
        model,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
        solver_options={name: value for name, value in settings.items() if name not in common},
        **common,
        **({"warmstart_discrete_vars": True} if started else {}),
    )


def told_newer(results: Any, model: Any) -> dict[str, Any]:
    """Return selection, objective and bound in results of the newer interface."""
    from pyomo.contrib.solver.common.results import SolutionStatus

    told: dict[str, Any] = {"bound": stated(results.objective_bound)}
    if results.solution_status in {SolutionStatus.feasible, SolutionStatus.optimal}:
        results.solution_loader.load_vars()
        told |= {"selection": chosen_units(model), "objective": results.incumbent_objective}
    return told


_DIGITS: Final = 1e-5  # Relative error of a number printed with six digits, with a margin.


def told_older(
    results: Any, model: Any, ending: Ending, quality: BoundQuality, sense: Sense, *, gap: bool
) -> dict[str, Any]:
    """Return selection, objective and bound in results of the older interface; `gap`: whether a gap was requested."""
    from pyomo.opt import SolverStatus, TerminationCondition

    told: dict[str, Any] = {}
    if ending is not Ending.INFEASIBLE and len(results.solution) > 0 and len(results.solution(0).variable) > 0:
        said = (_number(entry.get("Value")) for entry in results.solution(0).objective.values())
        objective = next((value for value in said if value is not None), None)
        # Pyomo refuses to load the values that solvers hold at some limits; `chosen_units` checks them.
        results.solver.status, results.solver.termination_condition = SolverStatus.ok, TerminationCondition.optimal
        model.solutions.load_from(results)
        told["selection"] = chosen_units(model)
        if ending is Ending.OPTIMAL or told["selection"] is not None:
            told["objective"] = objective if ending is Ending.OPTIMAL else stated(objective)
    printed = quality is BoundQuality.PRINTED
    # The bound printed at an optimum is the rounded optimum, unless a gap was requested.
    hidden = quality is BoundQuality.NONE or (printed and ending is Ending.OPTIMAL and not gap)
    if hidden or ending is Ending.INFEASIBLE:
        return told
    bound = stated(_number(results.problem.upper_bound if sense is Sense.MAXIMIZE else results.problem.lower_bound))
    if bound is not None and printed:  # CBC may print the bound b of a maximum as -b; |b| is a bound in both cases
        bound = abs(bound) * (1 + _DIGITS) if sense is Sense.MAXIMIZE else bound - abs(bound) * _DIGITS
    return {**told, "bound": bound}


def _number(said: Any) -> float | None:
    """Return a solver's number, which may be a text; None if it is something else."""
    try:
        return float(said)
    except (TypeError, ValueError):
        return None


# A log is read up to `_LOG` bytes, an answer up to `_ANSWER`, each plus `_LINES` times the size of the program.
_LOG: Final = 4_000_000
_ANSWER: Final = 100_000
_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class Watch:
    """A watch over a solver: passes on the time that is left when the solver starts, and ends it if it overruns."""

    name: str  # Name of the backend, for messages.
    deadline: Deadline  # Time at which the solver is to end.
    alarm: Alarm  # Rings at the deadline, but is silenced when the solver itself starts.
    settings: Callable[[], Mapping[str, Any]]  # Returns the solver's options, with the time that is left now.

    def newer(self, solver: Any, time_is_ours: bool) -> None:
        """Make a solver of Pyomo's newer interface start with the time that is left after writing the model.

        `solver`: Pyomo's solver object. If the solver is a library, the object has one of two methods that read the
        configuration after the model was passed. `time_is_ours`: whether the user's options set no time limit.
        """

        def limit(config: Any) -> None:
            if time_is_ours and self.deadline.left_s < inf:
                config.time_limit = self.settings()["time_limit"]

        if (create := getattr(solver, "_create_solver_model", None)) is not None:

            def create_solver_model(model: Any, config: Any) -> Any:
                made = create(model, config)
                self._begin()
                limit(config)
                return made

            solver._create_solver_model = create_solver_model  # noqa: SLF001 - Pyomo has no other way to it
        else:
            self._begin_with(solver, ("_solve",), lambda: limit(solver._active_config))  # noqa: SLF001

    @contextmanager
    def older(self, solver: Any) -> Iterator[None]:
        """Make a solver of Pyomo's older interface start with the time that is left; also supervise it if a program."""
        from pyomo.common.tempfiles import TempfileManager

        def ready() -> None:
            solver.options.update(self.settings())

        with TemporaryDirectory(prefix="optsum-", ignore_cleanup_errors=True) as folder:
            before, TempfileManager.tempdir = TempfileManager.tempdir, folder
            try:
                with TempfileManager:  # closes the contexts that a failing plug-in leaves open
                    ready()
                    self._begin_with(solver, ("create_command_line", "_apply_solver"), ready)
                    if hasattr(solver, "create_command_line"):
                        solver._execute_command = lambda command: self._execute(command, Path(folder))  # noqa: SLF001
                    yield
            finally:
                TempfileManager.tempdir = before

    def _begin_with(self, solver: Any, names: Sequence[str], ready: Callable[[], None]) -> None:
        """Take the call of the first of these methods that a solver has as its start."""
        name = next((name for name in names if hasattr(solver, name)), "")
        if not name:
            self.alarm.silence()  # the start of the solver cannot be observed
            return
        method = getattr(solver, name)

        def begun(*given: Any) -> Any:
            self._begin()
            ready()
            return method(*given)

        setattr(solver, name, begun)

    def _begin(self) -> None:
        self.alarm.silence()
        if self.deadline.left_s <= 0:
            raise Overran("the time limit was over before the solver had its program")

    def _execute(self, command: Any, folder: Path) -> list[Any]:
        left = self.deadline.left_s
        ended = run_supervised(
            command.cmd,
            folder,
            seconds=None if left == inf else left + GRACE_S,
            given=command.script if "script" in command else "",
            environment=command.env,
        )
        self.alarm.ring_again(GRACE_S)
        _check_files(self.name, folder)
        if ended.killed:
            raise Overran(f"{self.name} went on {GRACE_S:g} s after its time limit and was killed")
        if ended.status < 0:
            names = {each.value: each.name for each in signal.Signals}
            said = names.get(-ended.status, f"signal {-ended.status}")
            raise Stopped(Termination.FAILED, f"{self.name} crashed ({said})")
        return [ended.status, ended.output]


def _check_files(name: str, folder: Path) -> None:
    """Raise `Stopped` if a program left a file that Pyomo cannot read quickly: a pipe, device, link, or huge file."""
    files = [path for path in folder.rglob("*") if not (path.is_dir() and not path.is_symlink())]
    sizes = {path: path.lstat().st_size for path in files}
    programs = max((size for path, size in sizes.items() if path.suffix in {".lp", ".nl", ".mps"}), default=0)
    for path in files:
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()  # Pyomo itself can remove only plain files
            said = f"{name} left something other than a plain file in place of its answer"
            raise Stopped(Termination.FAILED, said)
        if sizes[path] > (_LOG if path.name == OUTPUT else _ANSWER) + _LINES * programs:
            said = f"{name} wrote {sizes[path]:,} bytes, far more than an answer to its program can take"
            raise Stopped(Termination.FAILED, said)


_AGAIN_S: Final = 0.02  # Delay (s) of the exception while uninterruptible code is running.
_SWALLOWED_S: Final = 0.5  # Seconds until the exception is raised again, in case a finalizer swallowed it.


class Alarm:
    """A context in which `Overran` is raised at a deadline, unless `silence` was called before.

    The exception interrupts any Python code. It is raised by a signal, which only the main thread receives: in other
    threads nothing is raised.

    `rang`: the raised exception, which other code may have swallowed.
    """

    def __init__(self, deadline: Deadline) -> None:
        self.rang: Overran | None = None
        self._deadline = deadline
        self._said = "the time limit was over before the solver had its program"
        self._armed = False
        self._before: Any = None
        self._collecting = False

    @unbroken
    def __enter__(self) -> Self:
        left = self._deadline.left_s
        if left < inf and threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
            self._armed = True
            self._collecting = gc.isenabled()
            gc.disable()  # an exception raised during garbage collection is lost
            self._before = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
        return self

    def _ring(self, number: int, frame: FrameType | None) -> None:
        del number
        if not self._armed:
            return
        if is_amid(frame):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            signal.setitimer(signal.ITIMER_REAL, _SWALLOWED_S)
            self.rang = Overran(self._said)
            raise self.rang

    def ring_again(self, seconds: float) -> None:
        """Ring again some seconds after the deadline, so that reading a long or growing answer is limited, too."""
        if self._before is not None:
            self._said = "the time limit was over before the answer of the solver was read"
            self._armed = True
            gc.disable()
            signal.setitimer(signal.ITIMER_REAL, self._deadline.left_s + seconds)

    def silence(self) -> None:
        self._armed = False
        if self._collecting:
            gc.enable()

    @unbroken
    def __exit__(self, *_: object) -> None:
        self.silence()
        if self._before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            self._before = None


_SAID: Final = 1 << 20  # Number of characters kept of a solver's output.


@cache
def load_pyomo() -> Any:
    """Return `pyomo.environ`, changed to run no program of the current folder and to wait for no output.

    Unchanged, Pyomo looks for programs and libraries in the current folder before the PATH, and reads all output of a
    program about its version or abilities. While a solver works in this process, a thread of Pyomo reads its output
    from a pipe; if another process holds the end of the pipe, Pyomo waits for 100 seconds, and the answer is lost.
    """
    import pyomo.environ as pyo
    from pyomo.common import Executable, Library, dependencies, tee

    class TeeStream(tee.TeeStream):  # type: ignore[misc]
        """Pyomo's stream, with files instead of pipes and a thread while optsum uses Pyomo."""

        def open(self, mode: str = "w", buffering: int = -1, encoding: Any = None, newline: Any = None) -> Any:
            if not _ALONE._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001
                return super().open(mode, buffering, encoding, newline)
            file = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - `close` closes it
            self._files = [*getattr(self, "_files", ()), file]
            return file

        def close(self, in_exception: bool = False) -> None:
            files, self._files = getattr(self, "_files", ()), []
            for file in files:
                with file:
                    file.seek(0)  # also flushes the file
                    text = file.read(_SAID)
                for stream in self.ostreams if text else ():
                    stream.write(text)
            super().close(in_exception)

    for module in list(sys.modules.values()):
        if vars(module).get("TeeStream") is tee.TeeStream and module is not tee:
            module.TeeStream = TeeStream  # type: ignore[attr-defined]
    tee.TeeStream = TeeStream
    # Forked processes share Pyomo's lock, although each has its own streams: a killed process may hold it for ever. In
    # processes of loky and dask the lock has a name, and Python's resource tracker reports that it leaks.
    dependencies.capture_output_lock = threading.Lock()

    Executable._manager._find = lambda name, **_: find_program(name)  # noqa: SLF001 - Pyomo has no other way to it
    find_library = Library._manager._find  # noqa: SLF001
    Library._manager._find = lambda name, **given: find_library(name, cwd=False, **given)  # noqa: SLF001
    Executable.rehash()
    for name, module in list(sys.modules.items()):
        if name.startswith("pyomo.") and vars(module).get("subprocess") is subprocess:
            module.subprocess = _Bounded()  # type: ignore[attr-defined]
    return pyo


class _Bounded:
    """A stand-in for the module `subprocess` whose `run` limits a program's output, and ends all processes of it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def run(self, command: Any, **given: Any) -> Any:
        if given.get("stdout") != subprocess.PIPE or given.get("input") or not isinstance(command, list):
            return subprocess.run(command, check=False, **given)  # noqa: S603 - Pyomo's own call
        with TemporaryDirectory(prefix="optsum-", ignore_cleanup_errors=True) as folder:
            seconds = given.get("timeout")
            ended = run_supervised(command, Path(folder), seconds=seconds, environment=given.get("env"))
        if ended.killed:
            raise subprocess.TimeoutExpired(command, seconds or 0.0, ended.output)
        return subprocess.CompletedProcess(command, ended.status, ended.output, "")


_ALONE: Final = threading.RLock()
"""Lock that lets one thread at a time use Pyomo, which redirects all output of the process and has one file folder."""


class Turn:
    """A thread's turn to use Pyomo; entering it returns whether it came before the deadline. Ctrl-C ends the wait."""

    def __init__(self, deadline: Deadline = NEVER) -> None:
        self._deadline = deadline

    def __enter__(self) -> bool:
        try:
            return _ALONE.acquire(timeout=min(self._deadline.left_s, threading.TIMEOUT_MAX))
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if _ALONE._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001 - Ctrl-C may come as soon as it is acquired
            _ALONE.release()


class _OneThread(TextIOBase):
    """A standard stream that captures the output of one thread, and passes on the output of other threads.

    While a solver of Pyomo's newer interface searches, Pyomo replaces the streams of the whole process: output of other
    threads is lost, or raises `ValueError`.
    """

    def __init__(self, noise: StringIO, before: Any) -> None:
        super().__init__()
        self._noise, self._before, self._thread = noise, before, threading.get_ident()

    def write(self, text: str) -> int:
        stream = self._noise if threading.get_ident() == self._thread else self._before
        return len(text) if stream is None else int(stream.write(text))

    def flush(self) -> None:
        if threading.get_ident() != self._thread and self._before is not None:
            self._before.flush()


@contextmanager
def hushed() -> Iterator[StringIO]:
    """Capture the output of solvers, their modules and Pyomo in this thread, and yield it for error messages.

    At the end, the handler of Ctrl-C is restored, because Gurobi does not remove its own.
    """
    noise, before = StringIO(), signal.getsignal(signal.SIGINT)
    out, err = _OneThread(noise, sys.stdout), _OneThread(noise, sys.stderr)
    logger = logging.getLogger("pyomo")
    handler, kept, level, spread = logging.StreamHandler(noise), logger.handlers[:], logger.level, logger.propagate
    logger.handlers, logger.propagate = [handler], False
    try:
        with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
            warnings.simplefilter("ignore")
            yield noise
    finally:
        logger.handlers, logger.propagate = kept, spread
        logger.setLevel(level)
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


_HEARS_S: Final = 0.5
"""Seconds that a solver may take to end after Ctrl-C; if it needs more, inside a linear program, it is left running."""


def make_stoppable(solver: Any, optimize: Callable[..., object], interrupt: Callable[[Any], object]) -> None:
    """Make a solver of Pyomo's newer interface search in a separate thread.

    A solver in Python's main thread delays every signal handler until it has ended.
    """
    create = solver._create_solver_model  # noqa: SLF001 - Pyomo has no other way to it

    def create_solver_model(model: Any, config: Any) -> Any:
        native, *others = create(model, config)

        def search(*given: Any) -> None:
            # `heard` does nothing: after Ctrl-C the incumbent is read, and the solver's status is "interrupted".
            options: Any = {"hears_s": _HEARS_S, "heard": lambda: None}
            if not run_in_thread(lambda: optimize(native, *given), lambda: interrupt(native), **options):
                raise KeyboardInterrupt

        return (Instead(native, optimize=search), *others)

    solver._create_solver_model = create_solver_model  # noqa: SLF001


class Instead:
    """A native model with some methods replaced, because classes written in C accept no new ones."""

    def __init__(self, native: Any, **methods: Callable[..., Any]) -> None:
        self._native = native
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)
