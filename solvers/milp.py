"""The MILP strategy: any backend solves the integer program, nothing it says is believed unchecked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Run, Stopped
from optsum.contracts.strategy import Strategy
from optsum.coverage import climb
from optsum.errors import BackendError
from optsum.problem.problem import Capability, Problem, Selection, require
from optsum.program.model import LinearModel
from optsum.registry import BACKENDS

from .audit import RELATIVE, judge, prove, slack_of, stopped_by_options, verify
from .branch_and_bound import BranchAndBound
from .levels import facility_of, limits_left, search_by_levels
from .milp_ratio import maximize_ratio, see_greedy
from .milp_sum import maximize_sum


def backend_of(name: str, *, threads: int = 1, options: Mapping[str, Any] | None = None) -> Backend:
    """Return a backend by name, with a number of threads and the solver's own options."""
    return BACKENDS.load(name)(threads=threads, options=options)


@dataclass(frozen=True)
class Milp(Strategy):
    """Integer linear programming; a sequence of programs for one ratio (precision, F1), or a sum of ratios.

    Parameters
    ----------
    backend : str
        A name (``optsum list backends``), or "pyomo:NAME": the readable model of the paper's equations, solved by
        any solver that Pyomo knows.
    threads : int
        Of the solver.
    backend_options : tuple of (name, value)
        The solver's own options.
    verify : bool
        Whether what the solver calls proven is proven again by our own means, where they can (`verify`).
    """

    backend: str = "highs"
    threads: int = 1
    backend_options: tuple[tuple[str, Any], ...] = ()
    verify: bool = False

    name: ClassVar[str] = "milp"
    about: ClassVar[str] = "integer linear programming on any solver (Hirao et al. 2017, eq. 3-8)"
    exact: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("backend", "threads", "backend_options", "verify")

    @property
    def backend_name(self) -> str | None:
        """Name of the solver."""
        return self.backend

    def accept(self, problem: Problem) -> None:
        """Refuse a problem without a linear model, and a solver that cannot be used."""
        if not (problem.can(Capability.RATIO) or problem.can(Capability.RATIOS)):
            require(problem, frozenset({Capability.LINEAR}), "The strategy milp")
        self.solver()

    def prepare(self, problem: Problem | None = None) -> None:
        """Refuse a solver that is not here, and compile greedy search, which is held until the solver has better."""
        self.solver().accept(Limits())
        if problem is None or problem.can(Capability.COVERAGE):
            climb.prepare()
            if self.verify:
                BranchAndBound().prepare(problem)

    def solver(self) -> Backend:
        """Return the solver, with its options set."""
        return backend_of(self.backend, threads=self.threads, options=dict(self.backend_options))

    def search(self, run: Run) -> None:
        """Solve, re-score, prove; and prove again, if that is asked for."""
        if (facility := facility_of(run.problem)) is not None:
            search_by_levels(run, facility, self.search)
            return
        solver = self.solver()
        try:
            self._search(run, solver)
        except Stopped as stop:
            # Only after options of the solver's own: what it says of bounds may be worth nothing under them.
            if stop.termination is not Termination.COMPLETED or solver.keeps_bound or not prove(run):
                raise
            run.prove()
        if self.verify and run.proven and run.problem.can(Capability.COVERAGE):
            verify(run, self.backend)

    def _search(self, run: Run, solver: Backend) -> None:
        problem, limits = run.problem, run.limits
        solver.accept(limits)
        run.statistics["access"] = solver.access
        if not solver.repeatable:
            run.detail = (
                f"{self.backend} got no seed, because what it calls one is not known: give it by --backend-option"
            )
        # The empty selection needs no solver, and some solvers cannot read a model without variables.
        run.see(())
        if problem.size == 0:
            run.prove()
            return
        run.check()
        if not problem.can(Capability.LINEAR):
            maximize = maximize_ratio if problem.can(Capability.RATIO) else maximize_sum
            maximize(run, solver, self.backend)
            return
        limited = bool(solver.options) or (limits.time_s, limits.nodes, limits.gap) != (None, None, None)
        if limited:
            see_greedy(run)  # what is held if the solver has nothing when the limit is reached
        # The solver starts from what is held, if it can and if that is more than nothing.
        start = run.selection if solver.declaration.warm_start and run.selection else None
        outcome = solver.solve(problem, limits_left(run, limits.gap), run.seed, start)
        run.count(nodes=outcome.nodes or 0)
        run.detail = outcome.detail or run.detail
        run.statistics.update(outcome.statistics)
        run.statistics["native_status"] = outcome.native
        if outcome.termination is Termination.FAILED and not solver.options:
            raise BackendError(f"{self.backend} ended with the status {outcome.native!r}, which proves nothing.")
        self._conclude(run, solver, problem.linear_model, outcome)

    def _conclude(self, run: Run, solver: Backend, model: LinearModel, outcome: RawOutcome) -> None:
        """Re-score a solver's answer, judge what it claims, and keep what is left of it."""
        known, worth = run.evaluation, None
        if outcome.selection is not None:
            try:
                worth = self._worth(run, model, outcome.selection)
            except BackendError:
                if not solver.options:
                    raise
                outcome = replace(outcome, selection=None, bound=None)  # tolerances may be to blame: it says nothing
        verdict = judge(
            outcome,
            solver,
            self.backend,
            model,
            worth,
            None if known is None else Fraction(known.key) * model.denominator - model.offset,
            gap=run.limits.gap,
            neighbours=[] if outcome.selection is None else _neighbours(run.problem, model, outcome.selection),
        )
        if outcome.selection is not None:
            run.see(outcome.selection)
        if verdict.bound is not None:
            run.raise_bound(Fraction(verdict.bound + model.offset, model.denominator))
        if verdict.within_gap and run.limits.gap is not None and not solver.options:
            raise Stopped(Termination.GAP_REACHED)
        if verdict.proven:
            if slack_of(outcome.bound or 0.0) >= 1:
                run.detail = (
                    f"optimal up to {RELATIVE:g} of the objective, which is as far as {self.backend} sees: "
                    "branch-and-bound proves it to the last digit"
                )
            run.prove()
        elif solver.options and outcome.termination in {Termination.COMPLETED, Termination.FAILED}:
            raise stopped_by_options(solver, self.backend, outcome)
        elif outcome.termination is Termination.COMPLETED:
            raise BackendError(f"{self.backend} ended with {outcome.native!r} without an answer that can be used.")
        elif run.evaluation is None or run.evaluation.key != run.bound or outcome.termination in _WITHOUT_PROOF:
            raise Stopped(outcome.termination)
        else:
            run.prove()  # the limit came between the last answer and the solver's own words

    def _worth(self, run: Run, model: LinearModel, selection: Selection) -> Fraction:
        """Return the program's objective at a selection, evaluated afresh; refuse one that is not feasible."""
        if not set(selection) <= set(range(run.problem.size)):
            raise BackendError(f"The answer of {self.backend} names units that do not exist: it is no result.")
        evaluation = run.problem.evaluate(selection)
        if not evaluation.feasible:
            raise BackendError(
                f"The answer of {self.backend} breaks the limits by {evaluation.violation}: it is no result."
            )
        return Fraction(evaluation.key) * model.denominator - model.offset


_WITHOUT_PROOF: Final = (Termination.INTERRUPTED, Termination.FAILED)


def _neighbours(problem: Problem, model: LinearModel, selection: Selection) -> list[Callable[[], Fraction | None]]:
    """Return the selections with one unit more, or less, as `judge` takes them."""

    def worth(unit: int) -> Fraction | None:
        other = tuple(sorted(set(selection) ^ {unit}))
        if problem.excess(other):
            return None  # most are too long, which takes no evaluation to see
        evaluation = problem.evaluate(other)
        return Fraction(evaluation.key) * model.denominator - model.offset if evaluation.feasible else None

    return [partial(worth, unit) for unit in range(problem.size)]
