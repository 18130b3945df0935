"""Near-optimal selections by evaluating all there are, one after another: for any problem, and slowly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain
from typing import Final, TypeAlias

from optsum.contracts.run import Limits, Run, Stopped
from optsum.coverage.instance import Key
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima
from optsum.optima.tally import power_of, step_of
from optsum.problem.problem import Capability, Evaluation, Problem, Selection

from .walkers import within_limits
from .worth import found_by

Visit: TypeAlias = Callable[[Run, Callable[[Key], bool]], Iterator[tuple[Selection, Evaluation]]]

_KEPT: Final = 2_000_000
"""Selections that are kept at most."""
_FEWEST: Final = 10_000
"""Selections between two looks at what need not be kept any more."""


def evaluated_near(
    problem: Problem,
    nearness: Nearness,
    limits: Limits,
    should_stop: Callable[[], bool] | None = None,
    visit: Visit | None = None,
) -> Optima:
    """Return all selections that are near the best, as `optsum.contracts.strategy.Strategy.near` does.

    `visit` yields the selections, but for those of at most values that are out of reach; all that fit if not given.
    """
    run = Run(problem, limits, on_progress=lambda _: None if should_stop is None else not should_stop())
    near = _Near(problem, nearness)
    reason = "completed"
    try:
        for selection, evaluation in (visit or _visit_all)(run, near.is_out_of_reach):
            if evaluation.feasible and not near.keep(selection, Fraction(evaluation.key)):
                reason = "memory_limit"
                break
    except Stopped as stopped:
        reason = stopped.termination.value
    except KeyboardInterrupt:
        reason = "interrupted"
    sets, least = near.reached(unproven=reason != "completed")
    found = found_by(run, sets, reason, proven=reason == "completed")
    return found.near(least, run.selection)


def _visit_all(run: Run, is_out_of_reach: Callable[[Key], bool]) -> Iterator[tuple[Selection, Evaluation]]:
    del is_out_of_reach
    coverage = run.problem.coverage if run.problem.can(Capability.COVERAGE) else None
    for selection in chain([()], within_limits(run.problem, coverage)):
        run.check()  # a user's own metric may take seconds each time
        yield selection, run.see(selection)


class _Near:
    """What is near the best so far: the threshold only becomes stricter, so what falls out never comes back."""

    def __init__(self, problem: Problem, nearness: Nearness) -> None:
        coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
        self._nearness, self._sense = nearness, problem.sense
        self._step = None if coverage is None else step_of(coverage)
        self._power = 1 if coverage is None else power_of(coverage)
        self._kept: list[tuple[Fraction, Selection]] = []
        self._next = _FEWEST
        self._best: list[Fraction] = []  # the values that decide the threshold, the best first

    def is_out_of_reach(self, bound: Key) -> bool:
        """Whether nothing of at most that value is near, or better than what is held."""
        if not self._best or len(self._best) < (self._nearness.values or 1):
            return False
        return self._sense.better(self._least(), bound) and not self._sense.better(bound, self._best[0])

    def keep(self, selection: Selection, key: Fraction) -> bool:
        """Keep a selection while it may be near; return whether there is room."""
        self._kept.append((key, selection))
        if key not in self._best:
            self._best = sorted([*self._best, key], reverse=self._sense.better(1, 0))[: self._nearness.values or 1]
        if len(self._kept) >= self._next:
            self._sift()
            self._next = max(_FEWEST, 2 * len(self._kept))
        return len(self._kept) < _KEPT

    def reached(self, *, unproven: bool) -> tuple[list[Selection], Fraction | None]:
        """Return what is near the best and the threshold; None if that is not known, with nothing but the best."""
        if not self._kept:
            return [], None
        if unproven and not self._nearness.known:
            best = max(self._kept) if self._sense.better(1, 0) else min(self._kept)
            return [best[1]], None
        least = self._sift()
        return [selection for _, selection in self._kept], least

    def _sift(self) -> Fraction:
        least = self._least()
        self._kept = [(key, selection) for key, selection in self._kept if not self._sense.better(least, key)]
        return least

    def _least(self) -> Fraction:
        if self._nearness.values is not None:
            return self._best[-1]
        return self._nearness.least(self._best[0], self._sense, step=self._step, power=self._power)
