"""SCIP, through Pyomo."""

from __future__ import annotations

from typing import Any, Final

from optsum.declaration import Ending, OptionNames

from .pyomo_backend import PyomoBackend, PyomoDeclaration

__all__ = ["SCIP", "Scip"]

SCIP: Final = PyomoDeclaration(
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
    # The objective is an integer: a bound less than 1 away proves it.
    fixed={"abs_gap": 0.999},
    statuses={
        "optimal": Ending.OPTIMAL,
        "gaplimit": Ending.OPTIMAL,
        "infeasible": Ending.INFEASIBLE,
        "inforunbd": Ending.INFEASIBLE,
        "timelimit": Ending.TIME,
        "nodelimit": Ending.NODES,
        "totalnodelimit": Ending.NODES,
        "stallnodelimit": Ending.NODES,
        "memlimit": Ending.MEMORY,
        "userinterrupt": Ending.INTERRUPTED,
        "terminate": Ending.INTERRUPTED,
        "sollimit": Ending.LIMIT,
        "bestsollimit": Ending.LIMIT,
        "restartlimit": Ending.LIMIT,
        "primallimit": Ending.LIMIT,
        "duallimit": Ending.LIMIT,
        "unbounded": Ending.FAILED,
        "unknown": Ending.FAILED,
    },
    warm_start=True,
    option_failures=r"Not a valid parameter name|could not convert|SCIP: .*parameter|must be real number|integer",
)


class Scip(PyomoBackend):
    """SCIP behind Pyomo's newer interface."""

    name = "scip"
    about = "SCIP through Pyomo"
    declaration = SCIP

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return SCIP's own status: Pyomo's has no memory limit."""
        del results
        status = str(solver._solver_model.getStatus())  # noqa: SLF001 - Pyomo has no other way to it
        return status, status

    def native_statuses(self) -> tuple[str, ...]:
        """Return the statuses that Pyomo knows of SCIP."""
        return tuple(self.factory()._get_tc_map())  # noqa: SLF001
