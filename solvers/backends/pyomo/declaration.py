"""What is declared of a solver behind Pyomo."""

from __future__ import annotations

from dataclasses import dataclass

from optsum.contracts.declaration import Declaration


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
