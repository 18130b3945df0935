"""CBC, GLPK, Gurobi, CPLEX, SCIP, HiGHS and Xpress through Pyomo, with their declarations and peculiarities."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from importlib.util import find_spec
from math import ceil
from re import findall, search
from typing import Any, Final

from optsum.contracts.backend import Availability, BoundQuality, Ending, OptionNames, RawOutcome, SizeLimit
from optsum.errors import OptionError
from optsum.problem.problem import Problem, Selection
from optsum.program.model import new_highs, run_heard
from optsum.system.clock import Limits
from optsum.system.processes.supervised import ask, find_program

from .highs import Highs, scheduler, set_options
from .pyomo import NEWER, OLDER, Instead, PyomoBackend, PyomoDeclaration, Turn, hushed, make_stoppable

_INTERRUPTED: Final = ("kInterrupt", "kHighsInterrupt")


class PyomoHighs(PyomoBackend):
    """HiGHS behind Pyomo's newer interface."""

    name = "pyomo:highs"
    about = "HiGHS through Pyomo, on the papers' equations"
    declaration = PyomoDeclaration(
        factory="highs",
        newer=True,
        install=Highs.declaration.install,
        licence=Highs.declaration.licence,
        module="highspy",
        names=OptionNames(
            time="time_limit", gap="rel_gap", threads="threads", seed="random_seed", nodes="mip_max_nodes"
        ),
        fixed={"abs_gap": 0.999},
        bound_keepers=rf"mip_(rel|abs)_gap|{Highs.declaration.bound_keepers}",
        # HiGHS reports a node limit as "solution limit", which Pyomo's interface does not know.
        statuses=NEWER,
    )

    readable = True

    def factory(self) -> Any:
        """Return Pyomo's solver object, changed so that HiGHS responds to Ctrl-C and keeps its incumbent."""
        from highspy import HighsModelStatus

        solver = super().factory()
        solve = solver._solve  # noqa: SLF001 - Pyomo has no other way to it

        def solve_apart() -> Any:
            native = solver._solver_model  # noqa: SLF001

            def run() -> None:
                native.setOptionValue("log_to_console", False)  # if it is left running, Pyomo does not capture its log
                if not run_heard(native, keeps=True):
                    raise KeyboardInterrupt

            def status() -> Any:
                found = native.getModelStatus()
                return HighsModelStatus.kUnknown if found.name in _INTERRUPTED else found

            # Run in a separate thread: otherwise Ctrl-C loses the incumbent, and is an error since HiGHS 1.16.
            solver._solver_model = Instead(native, run=run, getModelStatus=status)  # noqa: SLF001
            try:
                return solve()
            finally:
                solver._solver_model = native  # noqa: SLF001

        solver._solve = solve_apart  # noqa: SLF001
        return solver

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return the status; an interruption, which Pyomo reports as unknown, is read from HiGHS itself."""
        if solver._solver_model.getModelStatus().name in _INTERRUPTED:  # noqa: SLF001
            return "interrupted", "interrupted"
        return super().native(solver, results)

    def check_options(self) -> None:
        set_options(new_highs(), self.options, self.name)

    def solve(self, problem: Problem, limits: Limits, seed: int, start: Selection | None = None) -> RawOutcome:
        with scheduler():
            return super().solve(problem, limits, seed, start)


class Scip(PyomoBackend):
    """SCIP behind Pyomo's newer interface."""

    name = "scip"
    about = "SCIP through Pyomo"
    declaration = PyomoDeclaration(
        factory="scip_direct",
        newer=True,
        install="pip install pyscipopt",
        licence="free (Apache 2.0)",
        module="pyscipopt",
        names=OptionNames(
            time="time_limit",
            gap="rel_gap",
            threads="threads",
            seed="randomization/randomseedshift",
            nodes="limits/totalnodes",
        ),
        # The objective is an integer: a bound less than 1 away proves it. Python handles Ctrl-C.
        fixed={"abs_gap": 0.999, "misc/catchctrlc": False},
        bound_keepers=r"(limits|heuristics|branching|nodeselection|randomization|timing|display)/.*|presolving/max(rounds|restarts)",
        statuses={
            **dict.fromkeys(("optimal", "gaplimit"), Ending.OPTIMAL),
            **dict.fromkeys(("infeasible", "inforunbd"), Ending.INFEASIBLE),
            "timelimit": Ending.TIME,
            **dict.fromkeys(("nodelimit", "totalnodelimit", "stallnodelimit"), Ending.NODES),
            "memlimit": Ending.MEMORY,
            **dict.fromkeys(("userinterrupt", "terminate"), Ending.INTERRUPTED),
            **dict.fromkeys(("sollimit", "bestsollimit", "restartlimit", "primallimit", "duallimit"), Ending.LIMIT),
            **dict.fromkeys(("unbounded", "unknown"), Ending.FAILED),
        },
        warm_start=True,
    )

    def factory(self) -> Any:
        solver = super().factory()
        make_stoppable(solver, lambda model: model.optimizeNogil(), _interrupt)
        solver._mipstart = partial(_start_from_units, solver)  # noqa: SLF001 - Pyomo's own takes no column without value
        return solver

    def check_options(self) -> None:
        """Refuse options that SCIP refuses, without the lines that SCIP itself writes to standard error."""
        if not self.options:
            return
        from pyscipopt import Model

        trial = Model()
        for option, value in self.options.items():
            try:
                with _silent():
                    trial.setParam(option, value)
            except Exception as error:  # SCIP raises many classes
                why = str(error.args[0] if error.args else error).rstrip(".!")
                raise OptionError(
                    f"The backend {self.name} does not take the option {option}={value}: {why}."
                ) from error

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return SCIP's own status, because Pyomo has none for a memory limit."""
        del results
        status = str(solver._solver_model.getStatus())  # noqa: SLF001 - Pyomo has no other way to it
        return status, status

    def native_statuses(self) -> tuple[str, ...]:
        return tuple(self.factory()._get_tc_map())  # noqa: SLF001


def _start_from_units(solver: Any) -> None:
    model = solver._solver_model  # noqa: SLF001
    start = model.createPartialSol()
    for variable, native in solver._pyomo_var_to_solver_var_map.items():  # noqa: SLF001
        if variable.value is not None:
            start[native] = variable.value
    model.addSol(start)


def _interrupt(model: Any) -> None:
    model.hideOutput()  # if it does not respond, its output is no longer captured
    model.interruptSolve()


@contextmanager
def _silent() -> Iterator[None]:
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class Cplex(PyomoBackend):
    """CPLEX behind Pyomo's older interface."""

    name = "cplex"
    about = "CPLEX through Pyomo"
    declaration = PyomoDeclaration(
        factory="cplex_direct",
        newer=False,
        install="pip install cplex",
        licence="commercial; free for academic use",
        module="cplex",
        size=SizeLimit(columns=1000, rows=1000),
        names=OptionNames(
            time="timelimit",
            gap="mip_tolerances_mipgap",
            threads="threads",
            seed="randomseed",
            nodes="mip_limits_nodes",
        ),
        # The objective is an integer: a bound less than 1 away proves it.
        fixed={"mip_tolerances_absmipgap": 0.999},
        bound_keepers=r"mip_tolerances_(abs)?mipgap",
        # CPLEX's own numbers, because Pyomo reports a limit without an incumbent, and every node limit, as an error.
        statuses={
            **dict.fromkeys(("1", "101", "102"), Ending.OPTIMAL),
            **dict.fromkeys(("3", "4", "103", "119"), Ending.INFEASIBLE),
            **dict.fromkeys(("11", "25", "107", "108", "131", "132"), Ending.TIME),
            **dict.fromkeys(("105", "106"), Ending.NODES),
            **dict.fromkeys(("111", "112"), Ending.MEMORY),
            **dict.fromkeys(("10", "12", "104", "127", "128"), Ending.LIMIT),
            **dict.fromkeys(("13", "113", "114"), Ending.INTERRUPTED),
            **dict.fromkeys(("2", "5", "6", "21", "109", "110", "115", "118"), Ending.FAILED),
        },
        warm_start=True,
        option_failures=r"has no attribute|invalid parameter|CPLEX Error\s+10(13|14|15)|Parameter value",
        size_failures=r"CPLEX Error\s+1016|Community Edition",
        licence_failures=r"(?i)licen[cs]e|CPLEX Error\s+32\d\d\d",
    )

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        del results
        solution = solver._solver_model.solution  # noqa: SLF001 - Pyomo has no other way to it
        return str(solution.get_status()), f"{solution.get_status()} {solution.get_status_string()}"

    def native_statuses(self) -> tuple[str, ...]:
        return tuple(self.declaration.statuses)

    def nodes(self, solver: Any, results: Any) -> int | None:
        del results
        return int(solver._solver_model.solution.progress.get_num_nodes_processed())  # noqa: SLF001

    def licence(self) -> str:
        """Return the kind of licence, found with a program that is just too large for the community edition."""
        if not self.available():
            return self.declaration.licence
        import cplex

        with Turn(), hushed():
            try:
                trial = cplex.Cplex()
                for stream in (trial.set_results_stream, trial.set_log_stream, trial.set_error_stream):
                    stream(None)
                trial.variables.add(ub=[1.0] * 1001)
                trial.solve()
            except cplex.exceptions.CplexError as error:
                limited = "1016" in str(error)
                return f"free, up to {self.declaration.size}" if limited else f"none ({error})"
        return "full"


class Gurobi(PyomoBackend):
    """Gurobi behind Pyomo's newer interface."""

    name = "gurobi"
    about = "Gurobi through Pyomo"
    declaration = PyomoDeclaration(
        factory="gurobi_direct",
        newer=True,
        install="pip install gurobipy scipy",
        licence="commercial; free for academic use",
        module="gurobipy",
        size=SizeLimit(columns=2000, rows=2000),
        names=OptionNames(time="time_limit", gap="rel_gap", threads="threads", seed="Seed", nodes="NodeLimit"),
        # The objective is an integer: a bound less than 1 away proves it.
        fixed={"abs_gap": 0.999},
        bound_keepers=(
            r"(?i)MIPGap(Abs)?|(Solution|Work|Iteration|Time|Node)Limit|(Soft)?MemLimit|Best(Obj|Bd)Stop|Threads|Heuristics"
            r"|MIPFocus|ImproveStart.*|Presolve|Cuts|Method|Symmetry|VarBranch|OutputFlag|Log.*"
        ),
        statuses=NEWER,
        warm_start=True,
        option_failures=r"Unknown parameter|Unable to set|must be real|integer is required|cannot be interpreted",
        size_failures=r"too large for size-limited",
    )

    def available(self) -> Availability:
        """Return whether Gurobi can be used; scipy is needed, because Pyomo passes programs as matrices of scipy."""
        found = super().available()
        if found and find_spec("scipy") is None:
            return Availability(usable=False, reason="the package scipy is not installed")
        return found

    def factory(self) -> Any:
        solver = super().factory()
        make_stoppable(solver, lambda model, *given: model.optimize(*given), lambda model: model.terminate())
        return solver

    def licence(self) -> str:
        if not self.available():
            return self.declaration.licence
        with Turn(), hushed():
            state = self.factory().available().name
        if state == "FullLicense":
            return "full"
        return f"free, up to {self.declaration.size}" if state == "LimitedLicense" else f"none ({state})"


class Glpk(PyomoBackend):
    """GLPK behind Pyomo's older interface."""

    name = "glpk"
    about = "GLPK, the program glpsol, through Pyomo; states no bound"
    declaration = PyomoDeclaration(
        factory="glpk",
        newer=False,
        install="sudo apt install glpk-utils",
        licence="free (GPL 3)",
        program="glpsol",
        version_arguments=("--version",),
        # GLPK states no bound; gaps are computed from the bound of the root relaxation.
        names=OptionNames(time="tmlim", gap="mipgap"),
        deterministic=True,
        bound=BoundQuality.NONE,
        statuses={**OLDER, "gap": Ending.OPTIMAL},
        option_failures=r"Invalid|invalid|option",
    )

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return the status; a reached gap is read from the log, because Pyomo reports it like any feasible end."""
        if "GAP TOLERANCE REACHED" in (getattr(solver, "_log", None) or ""):
            return "gap", "gap tolerance reached"
        return super().native(solver, results)

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Return the settings, with the time limit in whole seconds, at least one."""
        settings = super().settings(limits, seed)
        if limits.time_s is not None and "tmlim" not in self.options:
            settings["tmlim"] = max(1, ceil(limits.time_s))
        return settings


class Cbc(PyomoBackend):
    """CBC behind Pyomo's older interface.

    When CBC stops early, the upper bound may have lost its sign, and a fractional point is reported as a solution if
    there is no incumbent.
    """

    name = "cbc"
    about = "CBC of COIN-OR, the program, through Pyomo"
    declaration = PyomoDeclaration(
        factory="cbc",
        newer=False,
        install="sudo apt install coinor-cbc",
        licence="free (EPL 2.0)",
        program="cbc",
        version_arguments=("-quit",),
        names=OptionNames(time="sec", gap="ratioGap", threads="threads", seed="randomCbcSeed", nodes="maxNodes"),
        # The objective is an integer: a bound less than 1 away proves it. Postsolve of CBC's preprocessing may put
        # columns beyond their bounds (2.10.8: 18 wrong answers to 100 small instances, none without it).
        fixed={"timeMode": "elapsed", "allowableGap": 0.999, "preprocess": "off"},
        bound=BoundQuality.PRINTED,
        statuses=OLDER,
        warm_start=True,
    )

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Return the settings without ``threads=1``, which CBC treats differently from no setting."""
        settings = super().settings(limits, seed)
        if settings["threads"] == 1:
            del settings["threads"]
        return settings

    def check_options(self) -> None:
        """Refuse options that CBC would ignore, with a line in its log as the only sign."""
        if refused := _refused(tuple((name, str(value)) for name, value in self.options.items())):
            raise OptionError(f"The backend {self.name} does not take its options: {refused}.")


@lru_cache(maxsize=16)
def _refused(options: tuple[tuple[str, str], ...]) -> str:
    if not options:
        return ""
    words = [word for name, value in options for word in (f"-{name}", value)]
    said = ask([find_program("cbc") or "", *words, "-quit"]) or ""
    lines = findall(r"(?m)^(?:No match for|String of|<Possible options|\S+ was provided for).*$", said)
    return "; ".join(line.strip("<; ") for line in lines)


_STOPS: Final = {
    1: "time limit",
    2: "interrupted",
    3: "node limit",
    4: "iteration limit",
    5: "gap",
    6: "solution limit",
    7: "memory",
    8: "user",
    9: "numerical error",
    10: "work limit",
}
_SOLUTIONS: Final = {0: "not found", 1: "optimal", 2: "feasible", 3: "infeasible", 4: "unbounded"}


class Xpress(PyomoBackend):
    """Xpress behind Pyomo's older interface."""

    name = "xpress"
    about = "FICO Xpress through Pyomo"
    declaration = PyomoDeclaration(
        factory="xpress_direct",
        newer=False,
        install="pip install xpress",
        licence="commercial; free for academic use",
        module="xpress",
        size=SizeLimit(columns=5000, together=True),
        names=OptionNames(time="timelimit", gap="miprelstop", threads="threads", seed="randomseed", nodes="maxnode"),
        # The objective is an integer: a bound less than 1 away proves it.
        fixed={"mipabsstop": 0.999},
        bound_keepers=r"(?i)mip(rel|abs)stop|max(node|time|mipsol)|timelimit",
        # Pyomo reports "warning, other" at every limit. Here, the keys are the state of the solution if the search is
        # complete, otherwise the reason why it stopped.
        statuses={
            **dict.fromkeys(("optimal", "gap"), Ending.OPTIMAL),
            "infeasible": Ending.INFEASIBLE,
            "time limit": Ending.TIME,
            "node limit": Ending.NODES,
            "memory": Ending.MEMORY,
            **dict.fromkeys(("interrupted", "user"), Ending.INTERRUPTED),
            **dict.fromkeys(("iteration limit", "solution limit", "work limit"), Ending.LIMIT),
            **dict.fromkeys(("numerical error", "not found", "feasible", "unbounded", "unknown"), Ending.FAILED),
        },
        warm_start=True,
        option_failures=r"Incorrect control name|Cannot set|[Ii]nvalid control|control",
        size_failures=r"too many rows and columns|The maximum is",
    )

    def factory(self) -> Any:
        solver = super().factory()
        solve = solver._solve_model  # noqa: SLF001 - Pyomo has no other way to it

        def stoppable() -> Any:
            with _ctrl_c(solver._solver_model):  # noqa: SLF001
                return solve()

        solver._solve_model = stoppable  # noqa: SLF001
        return solver

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        del results
        found = solver._solver_model.attributes  # noqa: SLF001 - Pyomo has no other way to it
        solution = _SOLUTIONS.get(int(found.solstatus), "unknown")
        stop = _STOPS.get(int(found.stopstatus), "")
        name = solution if solution == "optimal" or not stop else stop
        return name, f"solution {solution}, stopped by {stop}" if stop else f"solution {solution}"

    def native_statuses(self) -> tuple[str, ...]:
        return (*_STOPS.values(), *_SOLUTIONS.values(), "unknown")

    def nodes(self, solver: Any, results: Any) -> int | None:
        del results
        return int(solver._solver_model.attributes.nodes)  # noqa: SLF001

    def licence(self) -> str:
        """Return the kind of licence, found with a program that is just too large for the community licence."""
        if not self.available():
            return self.declaration.licence
        with Turn(), hushed():
            import xpress

            try:
                trial = xpress.problem()
                trial.addVariables(5001, ub=1)
                trial.optimize()
            except Exception as error:  # noqa: BLE001 - the classes differ between versions of Xpress
                limited = search(self.declaration.size_failures, str(error))
                return f"free, up to {self.declaration.size}" if limited else f"none ({error})"
        return "full"


@contextmanager
def _ctrl_c(problem: Any) -> Iterator[None]:
    """Let Ctrl-C stop a search, so that its incumbent is kept.

    While Xpress searches, Ctrl-C ends the whole process by default. So its first callback installs a handler that
    records Ctrl-C, and a later callback stops the search.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    heard = armed = False

    def note(number: int, frame: Any) -> None:
        nonlocal heard
        del number, frame
        heard = True

    def watch(*_: Any) -> int:
        nonlocal armed
        if not armed:
            signal.signal(signal.SIGINT, note)
            armed = True
        if heard:
            problem.interrupt(2)  # "interrupted" in _STOPS; a return value other than 0 would read as a time limit
        return 0

    problem.controls.callbackfrommainthread = 1
    problem.addcbchecktime(watch, None, 0)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
