"""Xpress, through Pyomo."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from re import search
from typing import Any, Final

from optsum.contracts.backend import Ending, OptionNames, SizeLimit

from .pyomo import PyomoBackend, PyomoDeclaration, Turn, hushed

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

XPRESS: Final = PyomoDeclaration(
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


class Xpress(PyomoBackend):
    """Xpress behind Pyomo's older interface."""

    name = "xpress"
    about = "FICO Xpress through Pyomo"
    declaration = XPRESS

    def factory(self) -> Any:
        """Return Pyomo's solver object, which Ctrl-C stops."""
        solver = super().factory()
        solve = solver._solve_model  # noqa: SLF001 - Pyomo has no other way to it

        def stoppable() -> Any:
            with _ctrl_c(solver._solver_model):  # noqa: SLF001
                return solve()

        solver._solve_model = stoppable  # noqa: SLF001
        return solver

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return Xpress's own status."""
        del results
        found = solver._solver_model.attributes  # noqa: SLF001 - Pyomo has no other way to it
        solution = _SOLUTIONS.get(int(found.solstatus), "unknown")
        stop = _STOPS.get(int(found.stopstatus), "")
        name = solution if solution == "optimal" or not stop else stop
        return name, f"solution {solution}, stopped by {stop}" if stop else f"solution {solution}"

    def native_statuses(self) -> tuple[str, ...]:
        """Return the names that `native` makes."""
        return (*_STOPS.values(), *_SOLUTIONS.values(), "unknown")

    def nodes(self, solver: Any, results: Any) -> int | None:
        """Return Xpress's own count."""
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

    While Xpress searches it has the operating system end the whole process on Ctrl-C. So it is asked, first of all,
    to call back, and what Ctrl-C does is put right from there.
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
