"""What a visit of all selections found, and keys, as `optsum.optima.optima.Optima` has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor

from optsum.contracts.run import Run
from optsum.coverage.instance import NO_LIMIT, Key, Sense
from optsum.optima.optima import Optima
from optsum.problem.problem import Capability, Problem


def found_by(run: Run, sets: Iterable[Sequence[int]], reason: str, *, proven: bool) -> Optima:
    """Return sets with the best value of a run, which bounds it if it is proven.

    If it is not, the bound is that of the problem. With nothing found there is none: it must not look like a proof.
    """
    problem, found = run.problem, run.evaluation
    value: int | Fraction = 0 if found is None else worth(problem, found.key)
    bound = value
    if not proven:
        deadline = run.limits.late(run.deadline, interrupted=reason == "interrupted")
        bounded = found is not None and problem.can(Capability.BOUND)
        root = problem.root_bound(deadline) if bounded else None
        bound = NO_LIMIT if root is None else worth(problem, root)
    return Optima.of_sets(
        sets, value, bound, complete=reason == "completed", termination=reason, statistics=run.statistics
    )


def worth(problem: Problem, key: Key) -> int | Fraction:
    """Return what is compared, or a bound of it, as `Optima.value` has it: a numerator, a length or a fraction."""
    if problem.can(Capability.COVERAGE):
        if problem.sense is Sense.MINIMIZE:
            return ceil(key)
        if problem.coverage.constant_denominator:
            return floor(Fraction(key) * int(problem.coverage.constants[1]))
    return Fraction(key)
