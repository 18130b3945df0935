"""The minimum cover as logic, for Pyomo: readable, and the yardstick for the arrays.

Hirao et al. 2004 (TSC3), section 3.1.1, write the constraints of Table 1 as

    C1 = s1 or (s10 and s11),    C2 = s3 and s5 and s6,    C3 = (s20 and s21 and s23) or (s1 and s30 and s60)

and ask for the smallest set of sentences that makes all of them true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class CoverModel:
    """Hold the data of the constraints, and build the model when called.

    Parameters
    ----------
    clauses : sequence
        For each abstract sentence its alternatives, each the units that it needs.
    lengths : sequence of int
        What each unit counts.
    """

    clauses: Sequence[Sequence[Sequence[int]]]
    lengths: Sequence[int]

    def logical(self) -> Any:
        """Return the model as the paper has it: ``s[u]`` is true if unit u is chosen, ``x[u]`` the same as 0 or 1.

        No MILP solver reads this: some accept it and ignore every logical constraint without a word.
        """
        import pyomo.environ as pyo

        model = pyo.ConcreteModel("minimum cover")
        model.U = pyo.RangeSet(0, len(self.lengths) - 1)
        model.I = pyo.RangeSet(0, len(self.clauses) - 1)
        model.x = pyo.Var(model.U, domain=pyo.Binary)
        model.s = pyo.BooleanVar(model.U)
        for u in model.U:
            model.s[u].associate_binary_var(model.x[u])
        model.size = pyo.Objective(expr=pyo.quicksum(self.lengths[u] * model.x[u] for u in model.U))

        @model.LogicalConstraint(model.I)
        def C(m: Any, i: int) -> Any:  # noqa: N802 - as the paper calls it
            return pyo.lor([pyo.land([m.s[u] for u in alternative]) for alternative in self.clauses[i]])

        return model

    def __call__(self) -> Any:
        """Return a `pyomo.environ.ConcreteModel` of linear constraints that are equivalent to the logical ones."""
        import pyomo.environ as pyo

        model = self.logical()
        # A conjunction or disjunction becomes a 0/1 variable with a row for each of its members. The transformation
        # "core.logical_to_linear" multiplies disjunctions of conjunctions out, which grows exponentially.
        pyo.TransformationFactory("contrib.logical_to_disjunctive").apply_to(model)
        return model
