"""Exhaustive search: every selection within the limits, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from optsum.contracts.run import Limits, Run, Stopped
from optsum.contracts.strategy import Strategy
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima
from optsum.problem.problem import Capability, Problem

from . import walkers
from .estimate import Estimate
from .worth import found_by

if TYPE_CHECKING:
    from .walkers import Walker

_ROWS: Final = 1000
"""Ties that the first walk of an enumeration lists; more of them need another walk."""

_LARGEST_LIST: Final = 50_000_000
"""Numbers that a list of ties may have."""

_MOMENTS_S: Final = 0.02
"""Seconds after which a visit looks for a good selection first: it does not end at once."""


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
        from .near import evaluated_near

        self.accept(problem)
        return evaluated_near(problem, nearness, limits, should_stop)

    @staticmethod
    def _walker(run: Run, rows: int) -> Walker:
        problem = run.problem
        coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
        return walkers.walker_of(problem, coverage, run.see, rows)

    def _walk(self, run: Run, rows: int) -> Walker:
        walker = self._walker(run, rows)
        estimate = Estimate(walker.expected, walker.rate)
        most = run.limits.evaluations
        if most is not None and most < walker.expected:
            run.begin()
        try:
            while not walker.done:
                run.check()
                if run.elapsed > _MOMENTS_S:
                    run.begin()
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
