"""The strategy that chooses: for each problem the quickest of those that prove, by what is known of it beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from optsum.contracts.run import Limits, Run
from optsum.contracts.strategy import Strategy
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima
from optsum.problem.problem import Capability, Problem
from optsum.registry import DEFAULT_EXACT
from optsum.system.compiled import patience

from .few_units import advance, prepare_few_units, prove_extracts, serve

if TYPE_CHECKING:
    from optsum.problem.numbered import Extracts, Proven

    from .choices import Choices


@dataclass(frozen=True)
class Auto(Strategy):
    """`branch-and-bound`, but for `exhaustive` where selections are few and it takes long; `milp` where neither serves.

    Where a problem can only evaluate, greedy search and VNS find what is held before all selections are visited.

    Selections are counted, not visited, to know how many there are: the same problem is always searched in the same
    way. The row says which strategy it was (``ran``).

    Parameters
    ----------
    backend, threads, backend_options, verify
        As of `milp`, for where it comes to that.
    """

    backend: str = "highs"
    threads: int = 1
    backend_options: tuple[tuple[str, Any], ...] = ()
    verify: bool = False

    name: ClassVar[str] = "auto"
    about: ClassVar[str] = "exhaustive, branch-and-bound or milp: what proves quickest, chosen topic by topic"
    exact: ClassVar[bool] = True
    enumerates: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("backend", "threads", "backend_options", "verify")

    @property
    def _choices(self) -> Choices:
        from .choices import Choices  # all strategies, which most topics do not need
        from .milp import Milp

        return Choices(Milp(self.backend, self.threads, self.backend_options, self.verify))

    def prepare(self, problem: Problem | None = None) -> None:
        """Prepare what is tried first; kernels of other choices are loaded when a topic needs them, or compiled now."""
        soon = problem is not None and problem.can(Capability.COVERAGE) and (not patience.is_over or advance.is_kept)
        if not soon or self.backend != Auto.backend:
            self._choices.milp.prepare(problem)
        if soon:
            prepare_few_units()
        else:
            self._choices.prepare(problem)

    def prove_extracts(self, extracts: Extracts) -> Proven | None:
        """Search topics of few units together, as branch and bound does."""
        proven = prove_extracts(extracts) if self.backend == Auto.backend else None
        return None if proven is None else proven._replace(ran=DEFAULT_EXACT)

    def search(self, run: Run) -> None:
        """Search by branch and bound for a while where selections have few units, and then by what is chosen."""
        run.check()
        if self.backend != Auto.backend:
            # It is refused where it is missing, whether it comes to it or not.
            self._choices.milp.solver().accept(Limits())
            run.detail = f"the backend {self.backend} was not needed"
        if run.problem.can(Capability.COVERAGE):
            run.ran = DEFAULT_EXACT
            if serve(run):
                return
        self._choices.search(run)

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Return all optima by the first choice that does not refuse."""
        return self._choices.enumerate(problem, limits, should_stop)

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        """Find selections near the optimum by branch and bound, or by a visit of all selections where it refuses."""
        return self._choices.near(problem, nearness, limits, should_stop)

    def choices(self, problem: Problem, limits: Limits, refusals: list[str]) -> Iterator[Strategy]:
        """Yield strategies for a problem, the best first; each is a choice only if those before it refuse."""
        return self._choices.choices(problem, limits, refusals)
