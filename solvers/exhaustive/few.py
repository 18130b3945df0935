"""Whether selections are so few that a visit of all of them is quicker than anything cleverer."""

from __future__ import annotations

from typing import Final

from optsum.coverage.instance import Combination
from optsum.problem.problem import Capability, Problem

from .walkers import seconds_of

_ONE_RATIO_S: Final = 5e-4
_SEVERAL_S: Final = 0.025
_ANY_S: Final = 0.01
"""For so long: where one ratio is the value, where several are, and for problems that are not in the normal form."""


def is_few(problem: Problem) -> bool:
    """Return whether a visit of all selections is worth its time; they are counted, not visited."""
    worth = _ANY_S
    if problem.can(Capability.COVERAGE):
        instance = problem.coverage
        single = instance.ratios == 1 and instance.combination is not Combination.PRODUCT
        worth = _ONE_RATIO_S if single else _SEVERAL_S
    return seconds_of(problem, worth) <= worth
