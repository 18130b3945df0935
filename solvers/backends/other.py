"""``pyomo:NAME``: any solver that Pyomo knows, with what can be said of one of which nothing is declared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optsum.contracts.backend import Availability, Backend
from optsum.contracts.declaration import BoundQuality, OptionNames
from optsum.errors import BackendError, OptsumError
from optsum.registry import BACKENDS

from .pyomo.backend import PyomoBackend
from .pyomo.declaration import PyomoDeclaration
from .pyomo.newer import NEWER
from .pyomo.older import OLDER

__all__ = ["OtherSolver", "through_pyomo"]


class OtherSolver(PyomoBackend):
    """Any solver by Pyomo's name for it; through the newer interface where that has it.

    The newer interface takes time, gap and threads for every solver; of the older one only the solver's own options
    are known to work.
    """

    name = "pyomo:NAME"
    about = "any solver that Pyomo knows, on the equations as the papers print them"

    readable = True

    def __init__(self, solver: str, *, threads: int = 1, options: Mapping[str, Any] | None = None) -> None:
        super().__init__(threads=threads, options=options)
        import pyomo.environ as pyo
        from pyomo.contrib.solver.common.factory import SolverFactory as Newer

        newer = solver in Newer
        if not newer and solver not in pyo.SolverFactory:
            raise BackendError(f"Pyomo knows no solver {solver!r}: see 'pyomo help --solvers' for those it knows.")
        self.name = f"pyomo:{solver}"
        self.declaration = PyomoDeclaration(
            factory=solver,
            newer=newer,
            install="install the solver, and see that Pyomo finds it",
            licence="the solver's own",
            names=OptionNames(time="time_limit", gap="rel_gap", threads="threads") if newer else OptionNames(),
            statuses=NEWER if newer else OLDER,
            bound=BoundQuality.PROVEN if newer else BoundQuality.PRINTED,
        )

    def available(self) -> Availability:
        """Say whether Pyomo finds the solver."""
        return self.found_by_pyomo()


def through_pyomo(solver: str, *, threads: int = 1, options: Mapping[str, Any] | None = None) -> Backend:
    """Return the backend ``pyomo:SOLVER``: a declared one on the readable model, or one that nothing is declared of."""
    for name in BACKENDS:
        try:
            backend = BACKENDS.load(name)
        except OptsumError:  # a third party's, broken
            continue
        if issubclass(backend, PyomoBackend) and solver in {name, backend.declaration.factory}:
            declared = backend(threads=threads, options=options)
            declared.readable = True
            declared.name = f"pyomo:{solver}"
            return declared
    return OtherSolver(solver, threads=threads, options=options)
