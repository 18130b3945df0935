"""Exhaustive search: every selection within the limits, once; whether that is worth its time, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import ceil, floor, isinf
from typing import ClassVar, Final, TypeAlias

import numpy as np

from optsum.contracts.run import Limits, Run
from optsum.contracts.strategy import Strategy
from optsum.coverage.instance import Combination, Coverage, Key, Sense, gains_alone
from optsum.optima.diagram import Diagram
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima
from optsum.optima.tally import power_of, step_of
from optsum.problem.problem import Capability, Evaluation, Problem, Selection
from optsum.system.clock import Stopped

from . import walkers
from .walkers import Walker, seconds_of, within_limits


def size_of_best(instance: Coverage) -> tuple[int, int]:
    """Return about how many units make one ratio largest, and how many of such units fit.

    They are as many of the densest as would if none held what others do. That is one sort; a greedy selection looks at
    every unit for each one that it takes.
    """
    top, bottom = gains_alone(instance, 0), gains_alone(instance, 1)
    order = np.argsort(-top / np.maximum(bottom, 1), kind="stable")
    full = instance.level[instance.level_start[1:] - 1][instance.slot == 0]
    most = int(instance.mass[0].sum() + full.sum())  # that the first numerator can gain
    tops = np.minimum(np.cumsum(top[order]), most) + instance.constants[0]
    bottoms = np.cumsum(bottom[order]) + instance.constants[1]
    fitting = int((np.cumsum(instance.lengths[order]) <= instance.max_length).sum())
    return int(np.argmax(tops / np.maximum(bottoms, 1))) + 1, fitting


_ONE_RATIO_S: Final = 5e-4
_SEVERAL_S: Final = 0.025
_ANY_S: Final = 0.01
"""Longest visit (s): where one ratio is the value, where several are, and for problems outside the normal form."""


def is_few(problem: Problem) -> bool:
    """Return whether a visit of all selections is worth its time; they are counted, not visited."""
    worth = _ANY_S
    if problem.can(Capability.COVERAGE):
        instance = problem.coverage
        single = instance.ratios == 1 and instance.combination is not Combination.PRODUCT
        worth = _ONE_RATIO_S if single else _SEVERAL_S
    return seconds_of(problem, worth) <= worth


Visit: TypeAlias = Callable[[Run, Callable[[Key], bool]], Iterator[tuple[Selection, Evaluation]]]

_KEPT: Final = 2_000_000  # Largest number of selections that are kept.
_FEWEST: Final = 10_000  # Least number of selections between two removals of those that are no longer near.


def evaluated_near(
    problem: Problem,
    nearness: Nearness,
    limits: Limits,
    should_stop: Callable[[], bool] | None = None,
    search: Callable[[Run], None] | None = None,
    visit: Visit | None = None,
) -> Optima:
    """Return all selections that are near the best, as `optsum.contracts.strategy.Strategy.near` does.

    `search` proves the best value first, where there is one. `visit` yields the selections, but for those of at most
    values that are out of reach; all that fit if not given.
    """
    run = Run(problem, limits, on_progress=lambda _: None if should_stop is None else not should_stop())
    near = _Near(problem, nearness)
    reason = "completed"

    def kept(run: Run) -> None:
        nonlocal reason
        if search is not None:
            search(run)
            if run.evaluation is not None and run.selection is not None:
                near.keep(run.selection, Fraction(run.evaluation.key))
        for selection, evaluation in (visit or _visit_all)(run, near.is_out_of_reach):
            if evaluation.feasible and not near.keep(selection, Fraction(evaluation.key)):
                reason = "memory_limit"
                break

    try:
        run.be_searched(kept)
    except Stopped as stopped:
        reason = stopped.termination.value
    except KeyboardInterrupt:
        reason = "interrupted"
    complete = reason == "completed"
    sets, least = near.reached(unproven=not complete and (nearness.values is not None or not run.proven))
    found = found_by(run, sets, reason, proven=complete or run.proven)
    return found.near(least, run.selection)


def _visit_all(run: Run, is_out_of_reach: Callable[[Key], bool]) -> Iterator[tuple[Selection, Evaluation]]:
    del is_out_of_reach
    coverage = run.problem.coverage if run.problem.can(Capability.COVERAGE) else None
    for selection in chain([()], within_limits(run.problem, coverage)):
        run.check()  # a user's own metric may take seconds each time
        yield selection, run.see(selection)


class _Near:
    """Selections near the best so far: the threshold only becomes stricter, so one that falls out never comes back."""

    def __init__(self, problem: Problem, nearness: Nearness) -> None:
        coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
        self._nearness, self._sense = nearness, problem.sense
        self._step = None if coverage is None else step_of(coverage)
        self._power = 1 if coverage is None else power_of(coverage)
        self._kept: list[tuple[Fraction, Selection]] = []
        self._next = _FEWEST
        self._best: list[Fraction] = []  # the values that decide the threshold, the best first

    def is_out_of_reach(self, bound: Key) -> bool:
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
        """Return the selections near the best and the threshold; where it is not known, the best alone and None."""
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


_LONG_S: Final = 2.0
_ABSURD_S: Final = 600.0
_MEASURED_S: Final = 0.2
_YEAR_S: Final = 31_557_600
_AGE_OF_THE_EARTH_S: Final = 4.54e9 * _YEAR_S
_UNITS: Final = ((60.0, 1.0, "s"), (3600.0, 60.0, "min"), (86400.0, 3600.0, "h"), (3e7, 86400.0, "days"))


class TimeEstimate:
    """Duration of an exhaustive search: first from a typical rate, soon from the measured one."""

    def __init__(self, selections: float, rate: float) -> None:
        self.selections = selections
        self.seconds = selections / rate
        self._said = False

    def update(self, visited: int, elapsed: float, limit_s: float | None) -> str | None:
        """Take note of the progress; return, once, what people should know if it will take long."""
        if self._said or elapsed < _MEASURED_S or not visited:
            return None
        self._said = True
        self.seconds = self.selections * elapsed / visited
        return self._sentence(limit_s) if self.seconds > _LONG_S else None

    def _sentence(self, limit_s: float | None) -> str:
        many = "more than 1e300" if isinf(self.selections) else f"{self.selections:.3g}"
        about = "about " if self.seconds < _AGE_OF_THE_EARTH_S else ""
        text = f"exhaustive: {many} selections, {about}{duration(self.seconds)}"
        if limit_s is not None and limit_s < self.seconds:
            return f"{text}; the time limit stops it after {duration(limit_s)}."
        if self.seconds > _ABSURD_S:
            return f"{text}; --time-limit stops it early, and --strategy branch-and-bound or milp need not visit all."
        return f"{text}."


def duration(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> duration(95.0)
    '1.6 min'
    """
    for below, unit, name in _UNITS:
        if seconds < below:
            return f"{seconds / unit:.2g} {name}"
    return f"{seconds / _YEAR_S:.2g} years" if seconds < _AGE_OF_THE_EARTH_S else "longer than the Earth is old"


def found_by(run: Run, sets: Iterable[Sequence[int]], reason: str, *, proven: bool) -> Optima:
    """Return sets with the best value of a run, which bounds it if it is proven.

    If it is not, the bound is that of the problem. With nothing found there is none: it must not look like a proof.
    """
    problem, found = run.problem, run.evaluation
    value: int | Fraction = 0 if found is None else worth(problem, found.key)
    bound: int | Fraction | None = value
    if not proven:
        deadline = run.limits.late(run.deadline, interrupted=reason == "interrupted")
        if found is not None and run.bound is None and problem.can(Capability.BOUND):
            run.raise_root_bound(deadline)
        bound = None if found is None or run.bound is None else worth(problem, run.bound)
    statistics = {**run.statistics, "nodes": run.nodes} if run.nodes else run.statistics
    slow = run.known if run.is_slow else {}
    return Optima(Diagram.of_sets(sets), value, bound, reason == "completed", reason, statistics, known=slow)


def worth(problem: Problem, key: Key) -> int | Fraction:
    """Return a compared value, or a bound of one, as `Optima.value` has it: a numerator, a length or a fraction."""
    if problem.can(Capability.COVERAGE):
        if problem.sense is Sense.MINIMIZE:
            return ceil(key)
        if problem.coverage.constant_denominator:
            return floor(Fraction(key) * int(problem.coverage.constants[1]))
    return Fraction(key)


_ROWS: Final = 1000  # Number of ties that the first walk of an enumeration lists; more ties need another walk.

_LARGEST_LIST: Final = 50_000_000  # Largest number of integers in a list of ties.

_MOMENTS_S: Final = 0.05  # Expected length of a visit that looks for a good selection first.


@dataclass(frozen=True)
class Exhaustive(Strategy):
    """All selections that fit, each evaluated.

    Lin & Hovy 2003, section 5: all sentence combinations within a length window. A search that completes counts, the
    empty selection excluded, the selections within the limits (the statistic ``feasible``) and the optimal ones among
    them (``best_selections``). How many there are is known beforehand: ``estimate_s`` is how long they take, in
    seconds. Problems without coverage arrays (a user's own metric) are evaluated one selection at a time.
    """

    name: ClassVar[str] = "exhaustive"
    about: ClassVar[str] = "every selection within the limits; proves, for small instances"
    exact: ClassVar[bool] = True
    enumerates: ClassVar[bool] = True

    def prepare(self, problem: Problem | None = None) -> None:
        """Compile the kernels of both quick walks: which of them serves depends on the instance."""
        if problem is None or problem.can(Capability.COVERAGE):
            walkers.prepare()

    def search(self, run: Run) -> None:
        """Visit every selection."""
        run.see(())
        self._walk(run, rows=0)

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Visit every selection, and once more to list those that tie with the best where they are many."""
        run = Run(problem, limits, on_progress=lambda _: None if should_stop is None else not should_stop())
        reason, sets, with_empty = "completed", [], False
        try:
            run.see(())
            empty = run.evaluation
            walker = self._walk(run, rows=_ROWS)
            rows = min(walker.ties, _LARGEST_LIST // (problem.size + 1))
            if rows > _ROWS:
                walker = self._again(run, rows)
            reason = "completed" if rows == walker.ties else "memory_limit"
            sets = walker.listed()
            with_empty = empty is not None and run.evaluation is not None and empty.key == run.evaluation.key
        except Stopped as stopped:
            reason = stopped.termination.value
        except KeyboardInterrupt:
            reason = "interrupted"
        if with_empty:
            sets.append([])
        if not sets and run.selection is not None:
            sets = [list(run.selection)]
        return found_by(run, sets, reason, proven=run.proven)

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        """Evaluate every selection, one after another, and return those that are near the best."""
        self.accept(problem)
        return evaluated_near(problem, nearness, limits, should_stop)

    @staticmethod
    def _walker(run: Run, rows: int) -> Walker:
        problem = run.problem
        coverage = problem.coverage.merged if problem.can(Capability.COVERAGE) else None
        return walkers.walker_of(problem, coverage, run.see, rows)

    def _walk(self, run: Run, rows: int) -> Walker:
        walker = self._walker(run, rows)
        estimate = TimeEstimate(walker.expected, walker.rate)
        most = run.limits.evaluations
        # By what is expected, not by the clock, so that a repeated search evaluates as much.
        if walker.expected > _MOMENTS_S * walker.rate or (most is not None and most < walker.expected):
            run.begin()
        try:
            while not walker.done:
                run.check()
                visited = walker.visited
                found = walker.go_on(run.limits.evaluations and run.limits.evaluations - run.evaluations)
                # What is reported is counted there; the sum must not depend on how often this loop is run.
                run.count(evaluations=walker.visited - visited - (walker.visited > visited and found is not None))
                if found is not None:
                    run.see(found)
                if long := estimate.update(walker.visited or walker.feasible, run.elapsed, run.limits.time_s):
                    run.tell(long)
        finally:
            run.statistics["estimate_s"] = estimate.seconds
        run.statistics["feasible"] = walker.feasible
        run.statistics["best_selections"] = walker.ties
        run.prove()
        return walker

    def _again(self, run: Run, rows: int) -> Walker:
        walker = self._walker(run, rows)
        while not walker.done:
            run.check()
            walker.go_on()
        return walker
