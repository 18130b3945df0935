"""The default strategy, which chooses an exact strategy for each problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from optsum.contracts.strategy import Run, Strategy
from optsum.optima.optima import Nearness, Optima
from optsum.problem.problem import Capability, Problem
from optsum.registry import DEFAULT_EXACT
from optsum.system.clock import Limits
from optsum.system.compiled import patience

from .few_units import advance, prepare_few_units, prove_extracts, serve

if TYPE_CHECKING:
    from optsum.problem.objective import Extracts

    from .auto_order import Choices


@dataclass(frozen=True)
class Auto(Strategy):
    """Search by `branch-and-bound`, `milp` or `exhaustive`, whichever is expected to be the quickest.

    The part of `branch-and-bound` for selections of few units begins. If it does not end soon, `exhaustive` follows for
    few selections, `milp` if good selections have many units or the problem is a user's integer program, and otherwise
    `branch-and-bound`. If a problem can only evaluate, greedy search and VNS find a first selection before all
    selections are visited.

    The choice depends on the problem, not on measured times. The row of the result names the strategy (``ran``).

    Parameters
    ----------
    backend, threads, backend_options, verify
        The options of `milp`, which are used if it is chosen.
    """

    backend: str = "highs"
    threads: int = 1
    backend_options: tuple[tuple[str, Any], ...] = ()
    verify: bool = False

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = "exhaustive, branch-and-bound or milp: the quickest exact strategy for each topic"
    exact: ClassVar[bool] = True
    enumerates: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("backend", "threads", "backend_options", "verify")

    @property
    def _choices(self) -> Choices:
        from .auto_order import Choices  # all strategies, which most topics do not need
        from .milp import Milp

        return Choices(Milp(self.backend, self.threads, self.backend_options, self.verify))

    def prepare(self, problem: Problem | None = None) -> None:
        """Compile the kernels of the search that is tried first; those of other searches are compiled when needed."""
        soon = problem is not None and problem.can(Capability.COVERAGE) and (not patience.is_over or advance.is_kept)
        if not soon or self.backend != Auto.backend:
            self._choices.milp.prepare(problem)
        if soon:
            prepare_few_units()
        else:
            self._choices.prepare(problem)

    def prove_extracts(self, extracts: Extracts) -> Extracts | None:
        proven = prove_extracts(extracts) if self.backend == Auto.backend else None
        return None if proven is None else replace(proven, ran=DEFAULT_EXACT)

    def search(self, run: Run) -> None:
        """Search by branch and bound for a while if selections have few units, and then by the chosen strategy."""
        if self.backend != Auto.backend:
            # A missing backend is an error even if the problem turns out not to need it.
            self._choices.milp.solver().accept(Limits())
            run.detail = f"the backend {self.backend} was not needed"
        if run.problem.can(Capability.COVERAGE):
            run.ran = DEFAULT_EXACT
            if serve(run):
                return
        self._choices.search(run)

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        return self._choices.enumerate(problem, limits, should_stop)

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        return self._choices.near(problem, nearness, limits, should_stop)
