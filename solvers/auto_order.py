"""Exact strategies, ordered by suitability for a problem (`optsum.solvers.auto`).

It is a separate module because it imports all strategies, and most topics are solved before a choice is needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Final

import numpy as np

from optsum.contracts.strategy import Run, Strategy
from optsum.errors import UnsupportedError
from optsum.optima.optima import Nearness, Optima
from optsum.problem.problem import Capability, Problem
from optsum.registry import CLIMBER, STRATEGIES
from optsum.system.clock import Limits, clock, standing

from .branch_and_bound import BranchAndBound, visit
from .exhaustive.strategy import Exhaustive, duration, evaluated_near, is_few, seconds_of, size_of_best, visits_of
from .milp import Milp
from .objectives.one_ratio import is_whole_text

_MANY: Final = 27  # Approximate size of a good selection above which integer programs prove a varying ratio sooner.
_MANY_OF_FEW: Final = 40  # The same where the length limit binds, so that branch and bound has less to search.
_MANY_CAPPED: Final = 10  # The same for ROUGE-L: the number of units of average length that fit.
_FREE: Final = 1.25  # If 1.25 times as many units fit, the length limit cannot bind.
_NODES: Final = 25_000_000
"""Nodes (about half a minute) of a search of sums of varying ratios, above which integer programs are quicker."""

_LONGEST_S: Final = 600.0  # Longest visit of all selections (s) that is begun without a limit.


@dataclass(frozen=True)
class Choices:
    """The available strategies. `milp`: the one that uses the requested solver."""

    milp: Milp

    @staticmethod
    def prepare(problem: Problem | None) -> None:
        for strategy in (Exhaustive(), BranchAndBound()):
            strategy.prepare(problem)

    def search(self, run: Run) -> None:
        """Search by the first strategy that accepts the problem, also at its start."""
        refusals: list[str] = []
        # A search by branch and bound that lasts may be given up for integer programs.
        ratios = run.problem.can(Capability.RATIOS)
        most = _NODES if ratios and len(list(self._cleverer(run.problem, []))) > 1 else None
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
                elif not chosen.search_further(run, most):
                    most = None
                    continue
            except UnsupportedError as error:
                refusals.append(str(error))
            else:
                return

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        if _has_program(problem) and not is_few(problem):
            return self.near(problem, Nearness(within=Fraction(0)), limits, should_stop).near(None, None)
        refusals: list[str] = []
        choices = (chosen for chosen in self.choices(problem, limits, refusals) if chosen.enumerates)
        found = _by_first(choices, refusals, lambda chosen: chosen.enumerate(problem, limits, should_stop))
        if found is None:
            raise UnsupportedError(refusals[-1])
        return found

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        if _has_program(problem):
            search = self.milp.search
            found = evaluated_near(problem, nearness, limits, should_stop, search, visit)
            return replace(found, statistics={**found.statistics, "ran": BranchAndBound.name})
        refusals: list[str] = []
        near = _by_first(
            (BranchAndBound(), Exhaustive()), refusals, lambda each: each.near(problem, nearness, limits, should_stop)
        )
        if near is None:
            raise UnsupportedError(refusals[-1])
        return near

    def choices(self, problem: Problem, limits: Limits, refusals: list[str]) -> Iterator[Strategy]:
        """Yield strategies for a problem, the best first; each is used only if those before it refuse.

        `refusals`: the reasons of refusals, to which more are added. An `UnsupportedError` means that only a visit of
        all selections, which takes too long, could prove the optimum.
        """
        with standing():
            self.prepare(problem)
        if is_few(problem):
            yield Exhaustive()
            return
        cleverer = list(self._cleverer(problem, refusals))
        if len(cleverer) > 1 and (_takes_many(problem) or _has_program(problem)):
            cleverer.reverse()
        yield from cleverer
        if len(cleverer) > 1 and problem.can(Capability.RATIOS):
            yield cleverer[0]  # which may have been given up, and the second have refused
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


def _by_first(choices: Iterable[Strategy], refusals: list[str], search: Callable[[Strategy], Optima]) -> Optima | None:
    """Return the answer of the first strategy that does not refuse, and this strategy; record other refusals."""
    for chosen in choices:
        try:
            found = search(chosen)
            return replace(found, statistics={**found.statistics, "ran": chosen.name})
        except UnsupportedError as error:
            refusals.append(str(error))
    return None


def _has_program(problem: Problem) -> bool:
    """Whether a problem is a user's integer program, best for solvers, with bounds of completions."""
    abilities = (Capability.LINEAR, Capability.COMPLETIONS)
    return all(map(problem.can, abilities)) and not problem.can(Capability.COVERAGE)


def _climb(run: Run) -> None:
    """Run heuristics for a first selection if a problem can only evaluate, and has many selections.

    VNS runs as it does alone. It gets the time of the preceding greedy search in addition, and a tenth of the limit,
    because the same evaluations may take longer the second time, but at most `optsum.system.clock.Limits.grace_s`. If
    evaluations are so slow that greedy search would not end, VNS has all the time. The rest of the limit repeats VNS
    from other starts, unless a visit of all selections would end.
    """
    problem, whole, began = run.problem, run.deadline, run.elapsed
    if problem.can(Capability.COVERAGE):
        return
    if is_few(problem):  # would all end in time, if each took as long as the empty one?
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

    Its selections are half full on average. The very first evaluations may take far longer than others.
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


def _takes_many(problem: Problem) -> bool:
    """Whether the value is one varying ratio (precision, F1) that needs many units to be large."""
    if problem.size <= _MANY or not problem.can(Capability.COVERAGE):
        return False
    instance = problem.coverage
    if instance.ceilings:  # bounds by features are the looser the more units share what is capped
        most = min(instance.max_length, int(instance.lengths.sum()))
        return not is_whole_text(instance) and most * instance.size > _MANY_CAPPED * int(instance.lengths.sum())
    if instance.constant_denominator or not instance.combination.alone:
        return False
    if int((np.cumsum(np.sort(instance.lengths)) <= instance.max_length).sum()) <= _MANY:
        return False  # not even that many of the shortest units fit
    size, fitting = size_of_best(instance)
    return size > _MANY if fitting > _FREE * size else min(size, fitting) > _MANY_OF_FEW
