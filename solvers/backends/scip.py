"""SCIP, through Pyomo."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from optsum.contracts.declaration import Ending, OptionNames
from optsum.errors import OptionError

from .pyomo import PyomoBackend, PyomoDeclaration, make_stoppable

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


class Scip(PyomoBackend):
    """SCIP behind Pyomo's newer interface."""

    name = "scip"
    about = "SCIP through Pyomo"
    declaration = SCIP

    def factory(self) -> Any:
        """Return Pyomo's solver object, which Ctrl-C and SIGTERM stop."""
        solver = super().factory()
        make_stoppable(solver, lambda model: model.optimizeNogil(), _interrupt)
        return solver

    def check_options(self) -> None:
        """Refuse what SCIP would refuse, without the lines that it writes past Python onto the standard error."""
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
        """Return SCIP's own status: Pyomo's has no memory limit."""
        del results
        status = str(solver._solver_model.getStatus())  # noqa: SLF001 - Pyomo has no other way to it
        return status, status

    def native_statuses(self) -> tuple[str, ...]:
        """Return the statuses that Pyomo knows of SCIP."""
        return tuple(self.factory()._get_tc_map())  # noqa: SLF001


def _interrupt(model: Any) -> None:
    model.hideOutput()  # of one that does not hear nobody collects any more what it prints
    model.interruptSolve()


@contextmanager
def _silent() -> Iterator[None]:
    """Send what native code writes onto the standard error nowhere."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
