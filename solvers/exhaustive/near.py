"""Near-optimal selections by evaluating all there are, one after another: for any problem, and slowly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import Final

from optsum.contracts.run import Limits, Run, Stopped
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima
from optsum.optima.tally import power_of, step_of
from optsum.problem.problem import Capability, Problem, Selection

from .walkers import within_limits
from .worth import found_by

_KEPT: Final = 2_000_000
"""Selections that are kept at most."""
_FEWEST: Final = 10_000
"""Selections between two looks at what need not be kept any more."""


def evaluated_near(
    problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
) -> Optima:
    """Return all selections that are near the best, as `optsum.contracts.strategy.Strategy.near` does."""
    run = Run(problem, limits, on_progress=lambda _: None if should_stop is None else not should_stop())
    near = _Near(problem, nearness)
    coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
    reason = "completed"
    try:
        for selection in chain([()], within_limits(problem, coverage)):
            run.check()  # a user's own metric may take seconds each time
            evaluation = run.see(selection)
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


class _Near:
    """What is near the best so far: the threshold only becomes stricter, so what falls out never comes back."""

    def __init__(self, problem: Problem, nearness: Nearness) -> None:
        coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
        self._nearness, self._sense = nearness, problem.sense
        self._step = None if coverage is None else step_of(coverage)
        self._power = 1 if coverage is None else power_of(coverage)
        self._kept: list[tuple[Fraction, Selection]] = []
        self._next = _FEWEST

    def keep(self, selection: Selection, key: Fraction) -> bool:
        """Keep a selection while it may be near; return whether there is room."""
        self._kept.append((key, selection))
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
        keys = sorted({key for key, _ in self._kept}, reverse=self._sense.better(1, 0))
        if self._nearness.values is not None:
            return keys[min(self._nearness.values, len(keys)) - 1]
        return self._nearness.least(keys[0], self._sense, step=self._step, power=self._power)
