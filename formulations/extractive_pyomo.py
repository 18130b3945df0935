"""The extractive program as the paper prints it, for Pyomo: readable, and the yardstick for the arrays.

Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), eq. 3-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from optsum.coverage.instance import NO_LIMIT
from optsum.metrics.metric import Counts


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """Hold the data of the equations, and build the model when called.

    Parameters
    ----------
    references : sequence of Counts
        N(g, R_k), one counter a reference.
    sentences : sequence of Counts
        N(g, s_i), one counter a unit.
    lengths : sequence of int
        l(s_i).
    max_length, min_length : int
        L_max; the minimum is not in the paper.
    """

    references: Sequence[Counts]
    sentences: Sequence[Counts]
    lengths: Sequence[int]
    max_length: int
    min_length: int = 0

    def __call__(self) -> Any:
        """Return a `pyomo.environ.ConcreteModel` whose ``x[i]`` says whether unit i is chosen."""
        import pyomo.environ as pyo

        grams = sorted({gram for reference in self.references for gram in reference}, key=repr)
        pairs = [(k, j) for k, reference in enumerate(self.references) for j, g in enumerate(grams) if reference[g]]
        holders: list[list[int]] = [[] for _ in grams]
        number = {gram: j for j, gram in enumerate(grams)}
        for i, sentence in enumerate(self.sentences):
            for gram in sentence:
                if gram in number:
                    holders[number[gram]].append(i)

        model = pyo.ConcreteModel("extractive oracle")
        model.I = pyo.RangeSet(0, len(self.sentences) - 1)
        model.KJ = pyo.Set(initialize=pairs, dimen=2)
        model.x = pyo.Var(model.I, domain=pyo.Binary)  # (7)
        model.z = pyo.Var(model.KJ, domain=pyo.NonNegativeIntegers)  # (8)

        model.hits = pyo.Objective(expr=pyo.quicksum(model.z.values()), sense=pyo.maximize)  # (3)
        length = pyo.quicksum(self.lengths[i] * model.x[i] for i in model.I)
        if self.max_length < NO_LIMIT and len(self.sentences):
            model.max_length = pyo.Constraint(expr=length <= self.max_length)  # (4)
        if self.min_length > 0 and len(self.sentences):
            model.min_length = pyo.Constraint(expr=length >= self.min_length)

        @model.Constraint(model.KJ)
        def copies(m: Any, k: int, j: int) -> Any:  # (5)
            held = pyo.quicksum(self.sentences[i][grams[j]] * m.x[i] for i in holders[j])
            return held >= m.z[k, j]

        @model.Constraint(model.KJ)
        def clipped(m: Any, k: int, j: int) -> Any:  # (6)
            return m.z[k, j] <= self.references[k][grams[j]]

        return model
