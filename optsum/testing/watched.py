"""A problem that notes who asks it, and one that is interrupted."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from optsum.coverage.instance import Coverage
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Evaluation, Problem, Selection


@dataclass(frozen=True, eq=False, kw_only=True)
class Watched(CoverageProblem):
    """A `CoverageProblem` that notes every selection it evaluates.

    Attributes
    ----------
    calls : list of Selection
    interrupt_after : int or None
        Raise `KeyboardInterrupt` once, at the evaluation after so many.
    """

    calls: list[Selection] = field(default_factory=list)
    interrupt_after: int | None = None

    def evaluate(self, selection: Selection) -> Evaluation:
        """Note, perhaps interrupt, evaluate."""
        self.calls.append(selection)
        if len(self.calls) - 1 == self.interrupt_after:
            raise KeyboardInterrupt
        return super().evaluate(selection)


def watched(instance: Coverage, *, interrupt_after: int | None = None) -> Watched:
    """Wrap an instance."""
    plain = CoverageProblem.of(instance)
    return Watched(
        instance=instance,
        lengths=plain.lengths,
        min_length=plain.min_length,
        max_length=plain.max_length,
        sense=plain.sense,
        interrupt_after=interrupt_after,
    )


def fingerprint(problem: Problem) -> tuple[object, ...]:
    """Return all data of a problem, so that a change shows."""
    owner = problem.coverage if isinstance(problem, CoverageProblem) else problem
    values = [getattr(owner, item.name) for item in dataclasses.fields(owner)]
    return (
        problem.lengths,
        problem.min_length,
        problem.max_length,
        problem.sense,
        *(value.tobytes() if isinstance(value, np.ndarray) else repr(value) for value in values),
    )
