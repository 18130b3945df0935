"""Bounds of the optimum for heuristic searches, cheaper than an exact search and often equal to the optimum.

If there are few selections, all of them are visited. Otherwise the engine maximizes each ratio of the value separately,
with a limited number of nodes; these maxima together bound every value. The bound is near the optimum if the ratios
belong to one reference. Ratios of several references are maximal for different selections; if their denominators differ
only by constants, the engine searches their sum instead, which is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from optsum.contracts.strategy import Run
from optsum.coverage.instance import Coverage, Key, Sense
from optsum.errors import UnsupportedError
from optsum.problem.problem import CoverageProblem, Problem
from optsum.program.model import affordable
from optsum.program.ratio_bound import MANY_JOINTS, combined_bound, keeps_denominator, only, single_bound, trivial_bound
from optsum.program.surrogate import reaches, varies_alike
from optsum.system.clock import Deadline, Limits, Stopped, Termination

from .branch_and_bound import BranchAndBound
from .engine.core import is_linear
from .exhaustive.strategy import Exhaustive, is_few
from .objectives.one_ratio import fits, servable, solve_ratio, solve_recall
from .objectives.sums import solve_sum

_NODES: Final = 300  # Largest number of nodes of the search for the largest value of one ratio.
_NODES_OF_SUM: Final = 3_000  # Largest number of nodes for a sum of ratios whose denominators differ by constants.


def prepare(problem: Problem | None = None) -> None:
    if problem is None or _serves(problem):
        for strategy in (Exhaustive(), BranchAndBound()):
            strategy.prepare(problem)


def certify(problem: Problem, deadline: Deadline) -> Key | None:
    """Return a bound of all values, proven without floating point.

    A ratio whose search is unfinished at the deadline gets a weaker bound; None if even weaker bounds take too long.
    """
    if not _serves(problem) or not affordable(problem.coverage, deadline):
        return problem.root_bound(deadline)
    instance = problem.coverage
    if len(instance.joints) > MANY_JOINTS and not instance.constant_denominator:
        return problem.root_bound(deadline)  # the engine would need several programs, which take longer
    # Without a subclass's own evaluation; if the selections are few, not even best similarities are relaxed.
    few = is_few(CoverageProblem.of(instance.merged), deadline.left_s)
    instance = instance.merged if few else instance.relaxed.merged
    try:
        found = _optimum(instance, deadline, few=few)
    except (Stopped, UnsupportedError) as reason:
        found = None  # linear programs may still give a bound
        _pass_on(reason, deadline)
    if found is not None:
        return found
    if instance.ceilings:
        return problem.root_bound(deadline)
    if instance.combination.is_itself(instance.weights):
        return _largest(instance, instance, 0, deadline)
    most = reaches(instance)
    alone = [_alone(instance, h, most, deadline) for h in range(instance.ratios)]
    return combined_bound(instance, alone, deadline)


def _optimum(instance: Coverage, deadline: Deadline, *, few: bool) -> Key | None:
    if deadline.passed:
        return None
    if few:
        limits = Limits(time_s=deadline.left_s if deadline.limited else None)
        run = Run(CoverageProblem.of(instance), limits)
        Exhaustive().search(run)
        return Fraction(0) if run.bound is None else run.bound
    if instance.ratios > 1 and instance.combination.adds and varies_alike(instance) and not servable(instance):
        found = solve_sum(instance, Limits(nodes=_NODES_OF_SUM, grace_s=0), deadline, every=False)
        return found.bound
    return None


def _pass_on(reason: Exception, deadline: Deadline) -> None:
    if isinstance(reason, Stopped) and reason.termination is Termination.INTERRUPTED:
        deadline.interrupt()


def _serves(problem: Problem) -> bool:
    own = getattr(problem.root_bound, "__func__", None) is not CoverageProblem.root_bound
    return not own and problem.coverage.goal is Sense.MAXIMIZE


def _alone(instance: Coverage, h: int, most: Sequence[int], deadline: Deadline) -> Fraction:
    share = deadline.within(deadline.left_s / (instance.ratios - h))
    if not affordable(instance, share):
        return trivial_bound(instance, h, most, quick=deadline.passed)
    return _largest(only(instance, h), instance, h, share)


def _largest(part: Coverage, instance: Coverage, h: int, deadline: Deadline) -> Fraction:
    """Return a bound of ratio `h` of an instance; `part`: the instance with this ratio only."""
    limits, start = Limits(nodes=_NODES), None
    try:
        if is_linear(part):
            found = solve_recall(part, limits, deadline, every=False)
            if found.bound is not None:
                return Fraction(found.bound)
        whole = part is instance or keeps_denominator(instance, h)  # `only` leaves out other parts of denominators
        if not part.constant_denominator and whole and not servable(part) and fits(part):
            found = solve_ratio(part, limits, deadline, every=False)
            if found.proven:
                return Fraction(found.value)
            start = Fraction(found.value)
    except (Stopped, UnsupportedError) as reason:
        _pass_on(reason, deadline)  # linear programs may still give a bound
    return single_bound(part, start, deadline)
