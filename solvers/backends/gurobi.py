"""Gurobi, through Pyomo."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

from optsum.contracts.backend import Availability
from optsum.contracts.declaration import OptionNames, SizeLimit

from .pyomo import NEWER, PyomoBackend, PyomoDeclaration, hushed, make_stoppable

GUROBI: Final = PyomoDeclaration(
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
    option_failures=r"Unknown parameter|Unable to set parameter|must be real|integer is required|cannot be interpreted",
    size_failures=r"too large for size-limited",
)


class Gurobi(PyomoBackend):
    """Gurobi behind Pyomo's newer interface."""

    name = "gurobi"
    about = "Gurobi through Pyomo"
    declaration = GUROBI

    def available(self) -> Availability:
        """Say whether it can be used: Pyomo hands programs to it as matrices of scipy."""
        found = super().available()
        if found and find_spec("scipy") is None:
            return Availability(usable=False, reason="the package scipy is not installed")
        return found

    def factory(self) -> Any:
        """Return Pyomo's solver object, which Ctrl-C and SIGTERM stop."""
        solver = super().factory()
        make_stoppable(solver, lambda model, *given: model.optimize(*given), lambda model: model.terminate())
        return solver

    def licence(self) -> str:
        """Say which licence is found."""
        if not self.available():
            return self.declaration.licence
        with hushed():
            state = self.factory().available().name
        if state == "FullLicense":
            return "full"
        return f"free, up to {self.declaration.size}" if state == "LimitedLicense" else f"none ({state})"
