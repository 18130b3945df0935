"""Exhaustive search: every selection within the limits, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from optsum.coverage import NO_LIMIT, Coverage, IntArray
from optsum.errors import UnsupportedError
from optsum.optima import Optima
from optsum.problem import Capability, Problem, require
from optsum.run import Limits, Run, Stopped
from optsum.strategy import Strategy

if TYPE_CHECKING:
    from optsum.arrays import Arrays

    from .exhaustive_kernel import Walk

__all__ = ["Exhaustive"]

_CHUNK = 1 << 18
"""Selections between two looks at the limits; less than a tenth of a second."""

_LARGEST_LIST = 50_000_000
"""Numbers that a list of ties may have."""


@dataclass(frozen=True)
class Exhaustive(Strategy):
    """Depth-first over all selections that fit, with incremental evaluation.

    Lin & Hovy 2003, section 5: all sentence combinations within a length window. A search that completes counts, the
    empty selection excluded, the selections within the limits (the statistic ``feasible``) and the optimal ones among
    them (``best_selections``). Problems without coverage arrays (a user's own metric) are evaluated one selection at a
    time.
    """

    name: ClassVar[str] = "exhaustive"
    about: ClassVar[str] = "every selection within the limits; proves, for small instances"
    exact: ClassVar[bool] = True
    enumerates: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Visit every selection."""
        run.see(())
        if Capability.COVERAGE in run.problem.capabilities:
            coverage = run.problem.coverage
            if self._on_arrays(run, coverage):
                return
        self._one_by_one(run)

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Visit every selection, and once more to list those that tie with the best."""
        from optsum.arrays import arrays_of

        from .exhaustive_kernel import DONE, LISTED, TIES, advance, again

        require(problem, frozenset({Capability.COVERAGE}), "Enumeration by exhaustive search")
        run = Run(
            problem,
            limits,
            np.random.default_rng(0),
            on_progress=lambda _: None if should_stop is None else not should_stop(),
        )
        sortable, order, arranged = _arranged(problem.coverage)
        arrays = arrays_of(arranged)
        if arrays is None:
            raise UnsupportedError("The numbers of this instance are too large to be enumerated by exhaustive search.")
        reason, walk, empty = "completed", None, None
        try:
            run.see(())
            empty = run.evaluation
            done = self._walk(run, arrays, sortable, order)
            ties = int(done.scalars[TIES])
            rows = min(ties, _LARGEST_LIST // (problem.size + 1))
            walk = again(arrays, done, rows)
            while not walk.scalars[DONE]:
                run.check()
                advance(arrays, walk, _CHUNK, sortable)
            reason = "completed" if rows == ties else "memory_limit"
        except Stopped as stopped:
            reason = stopped.termination.value
        except KeyboardInterrupt:
            reason = "interrupted"
        sets: list[list[int]] = []
        if walk is not None:
            listed = walk.listed[: int(walk.scalars[LISTED])]
            sets = [sorted(order[row[1 : row[0] + 1]].tolist()) for row in listed]
            if empty is not None and run.evaluation is not None and empty.key == run.evaluation.key:
                sets.append([])
        if not sets and run.selection is not None:
            sets = [list(run.selection)]
        value = Fraction(run.evaluation.key).numerator if run.evaluation is not None else 0
        return Optima.of_sets(
            sets,
            value,
            value if run.proven else NO_LIMIT,  # the walk is not done: nothing bounds the rest
            complete=reason == "completed",
            termination=reason,
            statistics=run.statistics,
        )

    def _on_arrays(self, run: Run, coverage: Coverage) -> bool:
        from optsum.arrays import arrays_of

        sortable, order, arranged = _arranged(coverage)
        arrays = arrays_of(arranged)
        if arrays is None:
            return False
        self._walk(run, arrays, sortable, order)
        return True

    @staticmethod
    def _walk(run: Run, arrays: Arrays, sortable: bool, order: IntArray) -> Walk:
        from .exhaustive_kernel import BEST_CHANGED, DONE, FEASIBLE, TIES, VISITED, advance, start

        search = start(arrays)
        while not search.scalars[DONE]:
            run.check()
            left = _CHUNK if run.limits.evaluations is None else run.limits.evaluations - run.evaluations
            visited = int(search.scalars[VISITED])
            advance(arrays, search, min(left, _CHUNK), sortable)
            run.count(evaluations=int(search.scalars[VISITED]) - visited)
            if search.scalars[BEST_CHANGED]:
                search.scalars[BEST_CHANGED] = 0
                run.see(order[search.best.astype(bool)])
        run.statistics["feasible"] = int(search.scalars[FEASIBLE])
        run.statistics["best_selections"] = int(search.scalars[TIES])
        run.prove()
        return search

    def _one_by_one(self, run: Run) -> None:
        problem = run.problem
        best = run.evaluation.key if run.evaluation is not None else None
        feasible = ties = 0
        for size in range(1, problem.size + 1):
            for selection in combinations(range(problem.size), size):
                run.check()
                if problem.excess(selection):
                    continue
                evaluation = run.see(selection)
                if not evaluation.feasible:
                    continue
                feasible += 1
                if best is None or problem.sense.better(evaluation.key, best):
                    best, ties = evaluation.key, 1
                elif evaluation.key == best:
                    ties += 1
        run.statistics["feasible"] = feasible
        run.statistics["best_selections"] = ties
        run.prove()


def _arranged(coverage: Coverage) -> tuple[bool, IntArray, Coverage]:
    """Return whether the units could be sorted by length, their order, and the instance in that order.

    Shortest first, so that the first unit that does not fit ends a level; parents must stay before children.
    """
    if not coverage.singletons:
        return False, np.arange(coverage.size), coverage
    order = np.argsort(coverage.lengths, kind="stable")
    return True, order, _reordered(coverage, order)


def _reordered(coverage: Coverage, order: IntArray) -> Coverage:
    """Return an instance of singleton occurrences with its units in another order."""
    widths = np.diff(coverage.unit_start)[order]
    entries = np.concatenate(
        [np.arange(coverage.unit_start[unit], coverage.unit_start[unit + 1]) for unit in order]
        or [np.zeros(0, np.int64)]
    )
    return replace(
        coverage,
        lengths=coverage.lengths[order],
        unit_start=np.concatenate([np.zeros(1, np.int64), np.cumsum(widths)]),
        unit_feature=coverage.unit_feature[entries],
        unit_count=coverage.unit_count[entries],
        mass=coverage.mass[:, order],
    )
