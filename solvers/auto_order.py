"""The order in which the strategy `auto` tries exact strategies on a problem.

This module is separate from `auto` because it imports all strategies, and most topics are solved before it is needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Final

from optsum.contracts.strategy import Run, Strategy
from optsum.errors import UnsupportedError
from optsum.optima.optima import Nearness, Optima
from optsum.problem.problem import Capability, Problem
from optsum.registry import CLIMBER, STRATEGIES
from optsum.system.clock import Limits, clock, standing

from .branch_and_bound import BranchAndBound, visit
from .exhaustive.strategy import Exhaustive, duration, evaluated_near, is_few, seconds_of, visits_of
from .milp import Milp
from .objectives.one_ratio import is_whole_text

# For ROUGE-L: numbers of units, and of fitting units of average length, above which integer programs are quicker.
_UNITS: Final = 27
_FITTING: Final = 10
_NODES: Final = 25_000_000  # Nodes (half a minute) of search for varying ratios before integer programs follow.
_LONGEST_S: Final = 600.0  # Longest visit of all selections (s) that is begun without a limit.


@dataclass(frozen=True)
class Choices:
    """The exact strategies in the order of their suitability. `milp`: the strategy `milp` with the requested solver."""

    milp: Milp

    @staticmethod
    def prepare(problem: Problem | None) -> None:
        for strategy in (Exhaustive(), BranchAndBound()):
            strategy.prepare(problem)

    def search(self, run: Run) -> None:
        """Search by the first strategy that accepts the problem and does not refuse it when its search begins."""
        refusals: list[str] = []
        # A long search by branch and bound is given up if integer programs can be tried.
        varies = run.problem.can(Capability.RATIOS) and len(list(self._cleverer(run.problem, []))) > 1
        most = _NODES if varies else None
        for chosen in self.choices(run.problem, run.limits, refusals):
            if isinstance(chosen, Exhaustive):
                _climb(run)
                run.check()
            run.ran, run.backend = chosen.name, chosen.backend_name
            if isinstance(chosen, Milp):
                run.detail = None
            try:
                if not isinstance(chosen, BranchAndBound):
                    chosen.search(run)
                    return
                if chosen.search_further(run, most):
                    return
                most = None
            except UnsupportedError as error:
                refusals.append(str(error))

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        if _has_program(problem) and not is_few(problem):
            return self.near(problem, Nearness(within=Fraction(0)), limits, should_stop).near(None, None)
        refusals: list[str] = []
        choices = (chosen for chosen in self.choices(problem, limits, refusals) if chosen.enumerates)
        return _by_first(choices, refusals, lambda chosen: chosen.enumerate(problem, limits, should_stop))

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        if _has_program(problem):
            found = evaluated_near(problem, nearness, limits, should_stop, self.milp.search, visit)
            return replace(found, statistics={**found.statistics, "ran": BranchAndBound.name})
        strategies = BranchAndBound(), Exhaustive()
        return _by_first(strategies, [], lambda chosen: chosen.near(problem, nearness, limits, should_stop))

    def choices(self, problem: Problem, limits: Limits, refusals: list[str]) -> Iterator[Strategy]:
        """Yield strategies for a problem, the best first; each is used if all before it refuse or give up.

        `refusals`: a list to which the reasons of refusals are added. `UnsupportedError` is raised if only a visit of
        all selections could prove the optimum, it would take too long, and no limit is set.
        """
        with standing():
            self.prepare(problem)
        if is_few(problem):
            yield Exhaustive()
            return
        cleverer = list(self._cleverer(problem, refusals))
        if len(cleverer) > 1 and (_is_capped(problem) or _has_program(problem)):
            cleverer.reverse()
        yield from cleverer
        if len(cleverer) > 1 and problem.can(Capability.RATIOS):
            yield cleverer[0]  # once more: it may have been given up, and the second may have refused
        seconds = seconds_of(problem, _LONGEST_S)
        if seconds > _LONGEST_S and limits.time_s is None and limits.evaluations is None:
            raise UnsupportedError(
                f"Only exhaustive search can solve this problem, and it takes {duration(seconds)}: give "
                f"--time-limit, or a heuristic such as vns. {' '.join(refusals)}"
            )
        yield Exhaustive()

    def _cleverer(self, problem: Problem, refusals: list[str]) -> Iterator[Strategy]:
        for strategy in (BranchAndBound(), self.milp):
            try:
                strategy.accept(problem)
                yield strategy
            except UnsupportedError as error:
                refusals.append(str(error))


def _by_first(choices: Iterable[Strategy], refusals: list[str], search: Callable[[Strategy], Optima]) -> Optima:
    """Return the optima of the first strategy that accepts, with its name."""
    for chosen in choices:
        try:
            found = search(chosen)
            return replace(found, statistics={**found.statistics, "ran": chosen.name})
        except UnsupportedError as error:
            refusals.append(str(error))
    raise UnsupportedError(refusals[-1])


def _has_program(problem: Problem) -> bool:
    """Return whether a problem is a user's integer program with bounds of completions, which suits MILP solvers."""
    abilities = (Capability.LINEAR, Capability.COMPLETIONS)
    return all(map(problem.can, abilities)) and not problem.can(Capability.COVERAGE)


def _climb(run: Run) -> None:
    """Find a first selection by greedy search and VNS if a problem can only evaluate, and has many selections.

    VNS may exceed the time limit by the time of the greedy search before it and a tenth of the limit, because the same
    evaluations may take longer the second time, but by at most `optsum.system.clock.Limits.grace_s`. If evaluations
    are so slow that greedy search would not end, it is left out. While the remaining time is too short for a visit of
    all selections, VNS is repeated from other starts.
    """
    problem, whole, began = run.problem, run.deadline, run.elapsed
    if problem.can(Capability.COVERAGE):
        return
    if is_few(problem):  # no heuristics if all selections can be evaluated in time, each as quickly as the empty one
        run.see(())
        if run.evaluation_s * visits_of(problem) < run.remaining_s:
            return
    if run.limits.evaluations is not None or _greedy_ends(run):
        run.begin()
        longer = run.elapsed - began + (run.limits.time_s or 0.0) / 10
        run.deadline = whole if run.is_slow else whole.later(min(longer, run.limits.grace_s))
    run.ran, climber = CLIMBER, STRATEGIES.create(CLIMBER, {})
    climber.search(run)
    run.deadline = whole
    seconds = seconds_of(problem, _LONGEST_S)
    while run.limits.time_s is not None and seconds > run.remaining_s:
        run.check()
        climber.search(run)


def _greedy_ends(run: Run) -> bool:
    """Return whether greedy search would end within the limit, or slightly later if evaluations are quick.

    The estimate is based on the time of a half-full selection, the average of a greedy search. If evaluations are
    quick, a second one is timed, because the very first may take far longer.
    """
    size, lengths = run.problem.size, run.problem.lengths
    order = sorted(range(size), key=lengths.__getitem__)
    most = bisect_right(list(accumulate(lengths[unit] for unit in order)), run.problem.max_length)
    half = tuple(sorted(order[: most // 2]))
    run.see(())
    run.see(half)
    seconds, left_s, began = run.evaluation_s, run.remaining_s, clock()
    if not run.is_slow:
        run.problem.evaluate(half)
        seconds, left_s = clock() - began, max(left_s, run.limits.grace_s)
    return seconds * sum(range(size - most, size + 1)) < left_s


def _is_capped(problem: Problem) -> bool:
    """Return whether integer programs prove a value sooner: ROUGE-L, whose bounds are looser if more units fit."""
    if not problem.can(Capability.COVERAGE) or not problem.coverage.ceilings:
        return False
    instance = problem.coverage
    whole = int(instance.lengths.sum())
    most = min(instance.max_length, whole)
    return problem.size > _UNITS and not is_whole_text(instance) and most * instance.size > _FITTING * whole
