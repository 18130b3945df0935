"""The integer program of an instance: the tightest that there is for it."""

from __future__ import annotations

from optsum.coverage.clauses import is_cover
from optsum.coverage.instance import Coverage
from optsum.program.cover import cover_model
from optsum.program.model import LinearModel, coverage_model

__all__ = ["model_of"]


def model_of(instance: Coverage) -> LinearModel:
    """Return the program that solvers get and bounds are proven on: that of a cover where the instance is one.

    Raises
    ------
    UnsupportedError
        If the objective is not linear.
    """
    return cover_model(instance) if is_cover(instance) else coverage_model(instance)
