"""The MILP strategy: any backend solves the integer program, nothing it says is believed unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import Any, ClassVar

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Run, Stopped
from optsum.contracts.strategy import Strategy
from optsum.coverage.instance import Sense
from optsum.errors import BackendError, OptionError
from optsum.problem.problem import Capability, Problem, require
from optsum.program.model import LinearModel
from optsum.registry import BACKENDS

from .milp_ratio import maximize_ratio, see_greedy

__all__ = ["Milp", "backend_of"]

_TOLERANCE = 1e-6
"""How far a solver's integer objective, and its bound, may be off,"""
_RELATIVE = 1e-9
"""and how far in relation to their size, where that is more: objectives over a large common denominator."""


def _slack(value: float) -> float:
    return max(_TOLERANCE, _RELATIVE * abs(value))


def backend_of(name: str, *, threads: int = 1, options: Mapping[str, Any] | None = None) -> Backend:
    """Return a backend by name: a registered one, or ``pyomo:SOLVER`` for any solver that Pyomo knows.

    Parameters
    ----------
    name : str
    threads : int
    options : mapping, optional
        The solver's own options.

    Raises
    ------
    UnknownNameError
        For any other name.
    BackendError
        For a solver that Pyomo does not know.
    """
    if name.startswith("pyomo:") and name not in BACKENDS.names():
        from .backends.other import through_pyomo

        solver = name.removeprefix("pyomo:")
        if not solver:
            raise OptionError("The backend pyomo: needs a solver's name after the colon, such as pyomo:highs.")
        return through_pyomo(solver, threads=threads, options=options)
    return BACKENDS.load(name)(threads=threads, options=options)


@dataclass(frozen=True)
class Milp(Strategy):
    """Integer linear programming; a short sequence of programs where the objective is one ratio (precision, F1).

    Parameters
    ----------
    backend : str
        A name (``optsum list backends``), or "pyomo:NAME": the readable model of the paper's equations, solved by
        any solver that Pyomo knows.
    threads : int
        Of the solver.
    backend_options : tuple of (name, value)
        The solver's own options.
    """

    backend: str = "highs"
    threads: int = 1
    backend_options: tuple[tuple[str, Any], ...] = ()

    name: ClassVar[str] = "milp"
    about: ClassVar[str] = "integer linear programming on any solver (Hirao et al. 2017, eq. 3-8)"
    exact: ClassVar[bool] = True

    @property
    def backend_name(self) -> str | None:
        """Name of the solver."""
        return self.backend

    def accept(self, problem: Problem) -> None:
        """Refuse a problem without a linear model, and a solver that cannot be used."""
        if Capability.RATIO not in problem.capabilities:
            require(problem, frozenset({Capability.LINEAR}), "The strategy milp")
        self.solver()

    def solver(self) -> Backend:
        """Return the solver, with its options set."""
        return backend_of(self.backend, threads=self.threads, options=dict(self.backend_options))

    def search(self, run: Run) -> None:
        """Solve, re-score, prove."""
        problem, solver, limits = run.problem, self.solver(), run.limits
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
        if Capability.LINEAR not in problem.capabilities:
            maximize_ratio(run, solver, self.backend)
            return
        limited = limits.time_s is not None or limits.nodes is not None
        if limited and Capability.COVERAGE in problem.capabilities:
            see_greedy(run)  # what is held if the solver has nothing when the limit is reached
        left = Limits(
            time_s=None if limits.time_s is None else run.remaining_s,
            nodes=None if limits.nodes is None else max(0, limits.nodes - run.nodes),
            gap=limits.gap,
        )
        # The solver starts from what is held, if it can and if that is more than nothing.
        start = run.selection if solver.declaration.warm_start and run.selection else None
        try:
            outcome = solver.solve(problem, left, run.seed, start)
        except KeyboardInterrupt:  # a program that is ended takes what it held with it
            if not limited and Capability.COVERAGE in problem.capabilities:
                with suppress(Stopped):
                    see_greedy(run)
            raise
        run.count(nodes=outcome.nodes or 0)
        run.statistics.update(outcome.statistics)
        run.statistics["native_status"] = outcome.native
        if outcome.selection is not None:
            self._check(run, problem.linear_model, outcome)
        if outcome.termination is Termination.FAILED:
            raise BackendError(f"{self.backend} ended with the status {outcome.native!r}, which proves nothing.")
        self._conclude(run, problem.linear_model, outcome)

    def _check(self, run: Run, model: LinearModel, outcome: RawOutcome) -> None:
        """Re-score a solver's answer, and refuse one whose claim does not hold."""
        selection = outcome.selection or ()
        if not set(selection) <= set(range(run.problem.size)):
            raise BackendError(f"The answer of {self.backend} names units that do not exist: it is no result.")
        evaluation = run.problem.evaluate(selection)
        if not evaluation.feasible:
            raise BackendError(
                f"The answer of {self.backend} breaks the limits by {evaluation.violation}: it is no result."
            )
        if outcome.objective is not None:
            claimed = (outcome.objective + model.offset) / model.denominator
            # An answer found by a heuristic may be worth more than its model's auxiliary columns say, never less.
            surplus = claimed - float(evaluation.key)
            if run.problem.sense is Sense.MINIMIZE:
                surplus = -surplus
            if surplus * model.denominator > max(0.5, 1000 * _slack(outcome.objective)):
                raise BackendError(
                    f"{self.backend} claims an objective of {claimed:.6g}, but its selection has "
                    f"{float(evaluation.key):.6g}: it is no result."
                )
        run.see(selection)

    def _conclude(self, run: Run, model: LinearModel, outcome: RawOutcome) -> None:
        held, better = run.evaluation, run.problem.sense.better
        bound: Fraction | None = None
        if outcome.bound is not None and isfinite(outcome.bound):
            down = run.problem.sense is Sense.MAXIMIZE
            # Solvers bend each row by their tolerance, and it may add up: read so where the answer passes the bound.
            for slack in (_slack(outcome.bound), 100 * _slack(outcome.bound)):
                integer = floor(outcome.bound + slack) if down else ceil(outcome.bound - slack)
                read = Fraction(integer + model.offset, model.denominator)
                passed = held is not None and better(held.key, read)
                if not passed:
                    break
            if passed:
                # Some solvers lose the sign of a bound at a limit; a bound that its own answer passes is none.
                run.detail = f"the bound {outcome.bound:.6g} of {self.backend} is wrong and was ignored"
                if outcome.optimal:
                    raise BackendError(
                        f"{self.backend} claims optimality with a bound of {outcome.bound:.6g}, "
                        "which its own answer passes."
                    )
            else:
                bound = read
                run.raise_bound(read)
        if outcome.infeasible and held is None:
            run.prove()
        elif outcome.optimal and held is not None and (bound is not None or outcome.selection is not None):
            # With a gap limit "optimal" means within that gap; only a bound that agrees is a proof.
            if bound is None:
                agrees = run.limits.gap is None
            else:
                apart = abs(bound - Fraction(held.key)) * model.denominator
                agrees = apart <= 2 * _slack(outcome.bound or 0.0)
            if agrees:
                if _slack(outcome.bound or 0.0) >= 1:
                    run.detail = (
                        f"optimal up to {_RELATIVE:g} of the objective, which is as far as {self.backend} sees: "
                        "branch-and-bound proves it to the last digit"
                    )
                run.prove()
            elif run.limits.gap is not None:
                raise Stopped(Termination.GAP_REACHED)
            else:
                raise BackendError(
                    f"{self.backend} calls {float(held.key):.6g} optimal, but its own bound is {outcome.bound:.6g} "
                    f"/ {model.denominator}."
                )
        elif outcome.termination is not Termination.COMPLETED:
            if held is not None and held.key == bound and outcome.termination is not Termination.INTERRUPTED:
                run.prove()  # the limit came between the last answer and the solver's own words
                return
            raise Stopped(outcome.termination)
        else:
            raise BackendError(f"{self.backend} ended with {outcome.native!r} without an answer that can be used.")
