"""GLPK, the program glpsol, through Pyomo."""

from __future__ import annotations

from math import ceil
from typing import Any, Final

from optsum.contracts.declaration import BoundQuality, Ending, OptionNames
from optsum.contracts.run import Limits

from .pyomo import OLDER, PyomoBackend, PyomoDeclaration

GLPK: Final = PyomoDeclaration(
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


class Glpk(PyomoBackend):
    """GLPK behind Pyomo's older interface."""

    name = "glpk"
    about = "GLPK, the program glpsol, through Pyomo; tells no bound"
    declaration = GLPK

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Say that the gap was reached, which for Pyomo is any feasible end."""
        if "GAP TOLERANCE REACHED" in (getattr(solver, "_log", None) or ""):
            return "gap", "gap tolerance reached"
        return super().native(solver, results)

    def settings(self, limits: Limits, seed: int) -> dict[str, Any]:
        """Give whole seconds, at least one."""
        settings = super().settings(limits, seed)
        if limits.time_s is not None and "tmlim" not in self.options:
            settings["tmlim"] = max(1, ceil(limits.time_s))
        return settings
