"""What is declared of a solver behind Pyomo, and what Pyomo's two interfaces ask of its backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from optsum.contracts.declaration import Declaration, Ending
from optsum.contracts.result import Termination
from optsum.contracts.run import Limits

__all__ = ["PyomoDeclaration"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PyomoDeclaration(Declaration):
    """A solver behind Pyomo.

    Attributes
    ----------
    factory : str
        As Pyomo calls it: "highs", "scip_direct", "gurobi_direct", "cbc", "glpk", ...
    newer : bool
        Whether it is of Pyomo's newer interface (`pyomo.contrib.solver`). Neither of the two has all solvers.
    """

    factory: str
    newer: bool


class Driven(Protocol):
    """A backend, as the functions that drive Pyomo's newer and older interface see it."""

    @property
    def declaration(self) -> PyomoDeclaration:
        """What is known of the solver."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The solver's own options, as they were given."""

    def factory(self) -> Any:
        """Return Pyomo's solver object."""

    def native(self, solver: Any, results: Any) -> tuple[str, str]:
        """Return the solver's own status as it is declared, and in its own words."""

    def nodes(self, solver: Any, results: Any) -> int | None:
        """Return how many nodes were searched."""

    def ended(self, ending: Ending, limits: Limits, seconds: float) -> Termination:
        """Return why the search stopped."""
