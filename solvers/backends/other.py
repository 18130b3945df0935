"""``pyomo:NAME``: any solver that Pyomo knows, with what can be said of one of which nothing is declared."""

from __future__ import annotations

from optsum.contracts.backend import Availability
from optsum.contracts.declaration import BoundQuality, OptionNames
from optsum.errors import BackendError, OptionError, OptsumError
from optsum.registry import BACKENDS

from .pyomo.backend import PyomoBackend, load_pyomo
from .pyomo.declaration import PyomoDeclaration
from .pyomo.newer import NEWER
from .pyomo.older import OLDER


class OtherSolver(PyomoBackend):
    """Any solver by Pyomo's name for it; through the newer interface where that has it.

    The newer interface takes time, gap and threads for every solver; of the older one only the solver's own options
    are known to work.
    """

    name = "pyomo:NAME"
    about = "any solver that Pyomo knows, on the equations as the papers print them"

    readable = True

    def available(self) -> Availability:
        """Say whether Pyomo finds the solver."""
        return self.found_by_pyomo()


def through_pyomo(solver: str) -> type[PyomoBackend]:
    """Return the backend ``pyomo:SOLVER``: a declared one on the readable model, or one that nothing is declared of.

    Raises
    ------
    OptionError
        If no solver is named.
    BackendError
        For a solver that Pyomo does not know.
    """
    if not solver:
        raise OptionError("The backend pyomo: needs a solver's name after the colon, such as pyomo:highs.")
    for name in BACKENDS:
        try:
            backend = BACKENDS.load(name)
        except OptsumError:  # a third party's, broken
            continue
        if issubclass(backend, PyomoBackend) and solver in {name, backend.declaration.factory}:
            return type(backend.__name__, (backend,), {"name": f"pyomo:{solver}", "readable": True})
    return type(OtherSolver.__name__, (OtherSolver,), {"name": f"pyomo:{solver}", "declaration": _declared(solver)})


def _declared(solver: str) -> PyomoDeclaration:
    """Return what can be said of a solver that nobody has declared."""
    pyo = load_pyomo()
    from pyomo.contrib.solver.common.factory import SolverFactory as Newer

    newer = solver in Newer
    if not newer and solver not in pyo.SolverFactory:
        raise BackendError(f"Pyomo knows no solver {solver!r}: see 'pyomo help --solvers' for those it knows.")
    return PyomoDeclaration(
        factory=solver,
        newer=newer,
        install="install the solver, and see that Pyomo finds it",
        licence="the solver's own",
        names=OptionNames(time="time_limit", gap="rel_gap", threads="threads") if newer else OptionNames(),
        statuses=NEWER if newer else OLDER,
        bound=BoundQuality.PROVEN if newer else BoundQuality.PRINTED,
    )
