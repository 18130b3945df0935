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
        # A node limit is a "solution limit" of HiGHS, of which this interface knows nothing.
        statuses=NEWER,
    )

    readable = True

    def factory(self) -> Any:
        """Return Pyomo's solver, whose HiGHS responds to Ctrl-C in any version and keeps its incumbent."""
        from highspy import HighsModelStatus

        solver = super().factory()
        solve = solver._solve  # noqa: SLF001 - Pyomo has no other way to it

        def solve_apart() -> Any:
            native = solver._solver_model  # noqa: SLF001

            def run() -> None:
                native.setOptionValue("log_to_console", False)  # Pyomo hears it no more once it has been left alone
                if not run_heard(native, keeps=True):
                    raise KeyboardInterrupt

            def status() -> Any:
                found = native.getModelStatus()
                return HighsModelStatus.kUnknown if found.name in _INTERRUPTED else found

            # Run apart: otherwise Ctrl-C loses what it holds, and is an error of HiGHS since 1.16.
            solver._solver_model = Instead(native, run=run, getModelStatus=status)  # noqa: SLF001
            try:
                return solve()
            finally:
                solver._solver_model = native  # noqa: SLF001

        solver._solve = solve_apart  # noqa: SLF001
        return solver

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return "interrupted", which Pyomo reports as unknown."""
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
        # The objective is an integer: a bound less than 1 away proves it. Ctrl-C is heard by Python.
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
        """Refuse options that SCIP would refuse, without the lines that it writes past Python to the standard error."""
        if not self.options:
            return
        from pyscipopt import Model

        trial = Model()
        for option, value in self.options.items():
            try:
                with _silent():
                    trial.setParam(option, value)
            except Exception as error:  # its classes are many
                why = str(error.args[0] if error.args else error).rstrip(".!")
                raise OptionError(
                    f"The backend {self.name} does not take the option {option}={value}: {why}."
                ) from error

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return SCIP's own status, because Pyomo's has no memory limit."""
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
    model.hideOutput()  # of one that does not hear nobody collects any more what it prints
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
        # CPLEX's own numbers: Pyomo calls a limit without an incumbent, and every node limit, an error.
        bound_keepers=r"mip_tolerances_(abs)?mipgap",
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
        """Try a program that is just too large for the community edition."""
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
        """Return whether it can be used: Pyomo passes programs to it as matrices of scipy."""
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
        # It tells no bound: what the gap was is measured by the root relaxation's.
        names=OptionNames(time="tmlim", gap="mipgap"),
        deterministic=True,
        bound=BoundQuality.NONE,
        statuses={**OLDER, "gap": Ending.OPTIMAL},
        option_failures=r"Invalid|invalid|option",
    )

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return whether the gap was reached, because Pyomo reports any feasible end in the same way."""
        if "GAP TOLERANCE REACHED" in (getattr(solver, "_log", None) or ""):
            return "gap", "gap tolerance reached"
        return super().native(solver, results)

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Return the settings, with the time in whole seconds, at least one."""
        settings = super().settings(limits, seed)
        if limits.time_s is not None and "tmlim" not in self.options:
            settings["tmlim"] = max(1, ceil(limits.time_s))
        return settings


class Cbc(PyomoBackend):
    """CBC behind Pyomo's older interface, whose results have pitfalls.

    When it stops early, the upper bound has lost its sign, and without an incumbent a fractional point is reported as
    one.
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
        # The objective is an integer: a bound less than 1 away proves it. CBC's preprocessing puts columns beyond their
        # bounds when it is undone (2.10.8: 18 wrong answers to 100 small instances, none without it).
        fixed={"timeMode": "elapsed", "allowableGap": 0.999, "preprocess": "off"},
        bound=BoundQuality.PRINTED,
        statuses=OLDER,
        warm_start=True,
    )

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Return the settings without a single thread, which CBC does not treat like no setting."""
        settings = super().settings(limits, seed)
        if settings["threads"] == 1:
            del settings["threads"]
        return settings

    def check_options(self) -> None:
        """Refuse options that CBC would ignore with a line in its log."""
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
        # What Pyomo makes of it is "warning, other" at every limit. Here: the state of the solution if the search is
        # complete, and otherwise what stopped it.
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
        """Try a program that is just too large for the community licence."""
        if not self.available():
            return self.declaration.licence
        with Turn(), hushed():
            import xpress

            try:
                trial = xpress.problem()
                trial.addVariables(5001, ub=1)
                trial.optimize()
            except Exception as error:  # noqa: BLE001 - its classes are not the same in all versions
                limited = search(self.declaration.size_failures, str(error))
                return f"free, up to {self.declaration.size}" if limited else f"none ({error})"
        return "full"


@contextmanager
def _ctrl_c(problem: Any) -> Iterator[None]:
    """Let Ctrl-C stop a search, so that its incumbent is kept.

    While Xpress searches, it makes the operating system end the whole process on Ctrl-C. So the handler is restored
    from its first callback.
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
            problem.interrupt(2)  # the second of _STOPS; what is returned would read as a time limit
        return 0

    problem.controls.callbackfrommainthread = 1
    problem.addcbchecktime(watch, None, 0)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
