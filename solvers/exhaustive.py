"""Exhaustive search: every selection within the limits, once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from optsum.coverage import Coverage
from optsum.problem import Capability
from optsum.run import Run
from optsum.strategy import Strategy

__all__ = ["Exhaustive"]

_CHUNK = 1 << 21
"""Selections between two looks at the limits; about a tenth of a second."""


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

    def search(self, run: Run) -> None:
        """Visit every selection."""
        run.see(())
        if Capability.COVERAGE in run.problem.capabilities:
            coverage = run.problem.coverage
            if self._on_arrays(run, coverage):
                return
        self._one_by_one(run)

    def _on_arrays(self, run: Run, coverage: Coverage) -> bool:
        from optsum.arrays import arrays_of

        from .exhaustive_kernel import BEST_CHANGED, DONE, FEASIBLE, TIES, VISITED, advance, start

        # Shortest first, so that the first unit that does not fit ends a level; parents must stay before children.
        sortable = coverage.singletons
        order = np.argsort(coverage.lengths, kind="stable") if sortable else np.arange(coverage.size)
        arrays = arrays_of(coverage if not sortable else _reordered(coverage, order))
        if arrays is None:
            return False
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
        return True

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


def _reordered(coverage: Coverage, order: np.ndarray[Any, Any]) -> Coverage:
    """Return an instance of singleton occurrences with its units in another order."""
    from dataclasses import replace

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
