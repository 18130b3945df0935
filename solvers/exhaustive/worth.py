"""A key as `optsum.optima.optima.Optima` has it."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from optsum.coverage.instance import Key, Sense
from optsum.problem.problem import Capability, Problem


def worth(problem: Problem, key: Key) -> int | Fraction:
    """Return what is compared, or a bound of it, as `Optima.value` has it: a numerator, a length or a fraction."""
    if Capability.COVERAGE in problem.capabilities:
        if problem.sense is Sense.MINIMIZE:
            return ceil(key)
        if problem.coverage.constant_denominator:
            return floor(Fraction(key) * int(problem.coverage.constants[1]))
    return Fraction(key)
