"""Proven bounds for many maximum lengths at once, where there is no time to solve each.

Multipliers of the linear relaxation at one length prove a bound at every other (`optsum.program.dual_bound`): only the
right-hand side of one row differs. So one relaxation bounds all lengths, best near its own, and some more make that
better as long as there is time.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from optsum.coverage.instance import Key
from optsum.problem.problem import Capability, Problem
from optsum.program.dual_bound import dual_bound
from optsum.program.highs import relax
from optsum.system.deadline import Deadline


def bounds_of(problem: Problem, lengths: Sequence[int], deadline: Deadline) -> dict[int, Key]:
    """Return proven bounds of the objective at some of the maximum lengths; a bound at one holds for all below it.

    Parameters
    ----------
    problem : Problem
        Maximized.
    lengths : ascending
    deadline : Deadline
        What is known by then is returned.
    """
    found: dict[int, Key] = {}
    if Capability.BOUND not in problem.capabilities:
        return found
    linear = Capability.LINEAR in problem.capabilities
    for length in spread(lengths):
        if deadline.passed:
            return found
        if linear:
            _by_multipliers(problem, length, lengths, deadline, found)
        elif (bound := problem.within(length).root_bound(deadline)) is not None:
            found[length] = bound
    return found


def _by_multipliers(
    problem: Problem, at: int, lengths: Sequence[int], deadline: Deadline, found: dict[int, Key]
) -> None:
    """Lower what is known of every length by the multipliers of the relaxation at one."""
    relaxation = relax(problem.within(at).linear_model, deadline)
    if relaxation is None:
        return
    for length in reversed(lengths):
        model = problem.within(length).linear_model
        bound = Fraction(dual_bound(model, relaxation.duals) + model.offset, model.denominator)
        found[length] = min(bound, found.get(length, bound))


def spread(lengths: Sequence[int]) -> list[int]:
    """Return lengths in an order in which any first few of them are far apart: the largest, the middle, ..."""
    order, parts = [len(lengths) - 1] if lengths else [], [(0, len(lengths) - 1)]
    while parts:
        first, end = parts.pop(0)
        if first < end:
            middle = (first + end) // 2
            order.append(middle)
            parts += [(first, middle), (middle + 1, end)]
    return [lengths[place] for place in order]
