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

    Lin & Hovy 2003, section 5: all sentence combinations within a length window. The statistic ``feasible`` counts
    the selections that satisfied the limits, the empty one excluded. Problems without coverage arrays (a user's own
    metric) are evaluated one selection at a time.
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
        while True:
            visited = int(search.scalars[VISITED])
            advance(arrays, search, _CHUNK, sortable)
            run.count(evaluations=int(search.scalars[VISITED]) - visited)
            if search.scalars[BEST_CHANGED]:
                search.scalars[BEST_CHANGED] = 0
                run.see(order[search.best.astype(bool)])
            run.statistics["feasible"] = int(search.scalars[FEASIBLE])
            if search.scalars[DONE]:
                break
            run.check()
        run.statistics["best_selections"] = int(search.scalars[TIES])
        run.prove()
        return True

    def _one_by_one(self, run: Run) -> None:
        problem = run.problem
        feasible = 0
        for size in range(1, problem.size + 1):
            for selection in combinations(range(problem.size), size):
                if problem.excess(selection) == 0 and run.see(selection).feasible:
                    feasible += 1
                run.check()
        run.statistics["feasible"] = feasible
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
