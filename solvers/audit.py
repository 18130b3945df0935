"""Audit of what a solver claims: its answer is judged by what is known, and proven again where that is asked for.

A claim that anything at hand refutes is an error, never a result: who lies once is not believed in the rest. What
cannot be refuted this way is a consistent lie, such as a good selection that is called optimal; `verify` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf
from typing import Final

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Run, Stopped
from optsum.coverage.instance import Sense
from optsum.errors import BackendError, UnsupportedError
from optsum.problem.problem import Capability
from optsum.program.model import LinearModel

from .branch_and_bound import BranchAndBound

_TOLERANCE: Final = 1e-6
"""Absolute error that is allowed to a solver's integer objective and to its bound."""
RELATIVE: Final = 1e-9
"""Relative error that is allowed where it is larger, for objectives over a large common denominator."""

_TRIED: Final = 64
"""Selections next to an optimum that are tried; each costs as much as one evaluation."""


_COUNTS: Final = 1e-4
"""A solver's gap below 1, and as much as this, may be rounded to 1."""


def slack_of(value: float) -> float:
    """Return how far a number of a solver may be off."""
    return max(_TOLERANCE, RELATIVE * abs(value))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Conclusions from a solver's answer.

    Attributes
    ----------
    bound : int or None
        Of the program's objective.
    proven : bool
        Whether its selection is optimal, or if it has none, nothing is feasible.
    within_gap : bool
        Whether it is called optimal and is so within a gap only.
    """

    bound: int | None = None
    proven: bool = False
    within_gap: bool = False


def stopped_by_options(backend: Backend, name: str, outcome: RawOutcome) -> Stopped:
    """Return how a search ends whose solver was given options of its own, and has proven nothing under them."""
    return Stopped(
        Termination.COMPLETED,
        f"{name} ended with {outcome.native!r} under {backend.given()}, which proves no optimum",
    )


def judge(
    outcome: RawOutcome,
    backend: Backend,
    name: str,
    model: LinearModel,
    worth: Fraction | None,
    known: Fraction | None,
    *,
    gap: float | None = None,
    size: float = 0.0,
    neighbours: Iterable[Callable[[], Fraction | None]] = (),
) -> Verdict:
    """Say what follows from an answer.

    Where the solver was given options of its own, which may stop it anywhere or bend its numbers, an answer is optimal
    only where the bound that it states, if that can be believed at all (`Backend.keeps_bound`), is attained; and
    claims that are refuted are left aside, instead of being errors.

    Parameters
    ----------
    backend : Backend
        The solver.
    name : str
        Its name, for sentences.
    model : LinearModel
        The program that it had.
    worth, known : Fraction or None
        The program's objective at the answer's selection, and at the best selection that is known otherwise, both
        evaluated afresh; None where there is none.
    gap : float, optional
        Relative gap within which the solver may call its answer optimal.
    size : float
        What the solver adds up to an objective that may be near 0: its numbers are as exact as that is large.
    neighbours : iterable of callable
        Each returns the objective at a selection next to the answer's, None if that is not feasible; some are tried
        if the answer is called optimal.

    Raises
    ------
    BackendError
        For a claim that is refuted.
    """
    if backend.options:
        if outcome.infeasible or not backend.keeps_bound:
            return Verdict()
        try:
            return _judged(outcome, _Court(name, model, size), worth, known, inf, ())
        except BackendError:
            return Verdict()
    return _judged(outcome, _Court(name, model, size), worth, known, gap, neighbours)


def _judged(
    outcome: RawOutcome,
    court: _Court,
    worth: Fraction | None,
    known: Fraction | None,
    gap: float | None,
    neighbours: Iterable[Callable[[], Fraction | None]],
) -> Verdict:
    name = court.name
    held = [value for value in (worth, known) if value is not None]
    best = max(held, key=lambda value: court.sign * value, default=None)
    if outcome.infeasible:
        if best is not None:
            raise BackendError(f"{name} calls the problem infeasible, but a selection that keeps its limits is known.")
        return Verdict(proven=True)
    if outcome.objective is not None and worth is not None:
        court.check_objective(outcome.objective, worth, strict=outcome.optimal and gap is None)
    bound = None if outcome.bound is None else court.read(outcome.bound, best, outcome.optimal)
    if not outcome.optimal:
        return Verdict(bound)
    if worth is None:
        raise BackendError(f"{name} ended with {outcome.native!r} without an answer that can be used.")
    slack = 2 * court.slack(max(abs(float(worth)), abs(outcome.bound or 0.0)))
    if gap is not None:
        agrees = bound is not None and abs(bound - worth) <= slack
        if gap < inf:
            court.check_known(worth, known, slack + 1 + gap * abs(float(worth)))
        return Verdict(bound, proven=agrees, within_gap=not agrees)
    if bound is not None and abs(bound - worth) > slack + (slack >= _COUNTS):
        raise BackendError(
            f"{name} calls {court.shown(worth)} optimal, but its own bound is {outcome.bound:.6g} "
            f"/ {court.model.denominator}."
        )
    others = list(neighbours)
    for other in (known, *(each() for each in others[:: max(1, -(-len(others) // _TRIED))])):  # evenly spaced
        court.check_known(worth, other, slack)
    return Verdict(bound, proven=True)


@dataclass(frozen=True, slots=True)
class _Court:
    """Checks of single claims, with the sentences for those that are refuted."""

    name: str
    model: LinearModel
    size: float

    @property
    def sign(self) -> int:
        return 1 if self.model.sense is Sense.MAXIMIZE else -1

    def slack(self, value: float) -> float:
        return slack_of(max(abs(value), self.size))

    def check_known(self, worth: Fraction, known: Fraction | None, slack: float) -> None:
        if known is not None and self.sign * (known - worth) > slack:
            raise BackendError(
                f"{self.name} calls {self.shown(worth)} optimal, but a selection worth {self.shown(known)} is known: "
                "its answer is no result."
            )

    def check_objective(self, objective: float, worth: Fraction, *, strict: bool) -> None:
        surplus = self.sign * (objective - float(worth))
        slack = max(0.5, 1000 * self.slack(objective))
        # A heuristic's answer may be worth more than the model's auxiliary columns say, an optimum by less than 1.
        if surplus > slack or (strict and -surplus >= max(1.0, slack)):
            raise BackendError(
                f"{self.name} claims an objective of {self.shown(objective)}, but its selection has "
                f"{self.shown(worth)}: it is no result."
            )

    def read(self, stated: float, best: Fraction | None, optimal: bool) -> int:
        """Return a bound as an integer."""
        # Solvers bend each row by their tolerance, and it may add up: read so where the answer passes the bound.
        for slack in (self.slack(stated), 100 * self.slack(stated)):
            read = floor(stated + slack) if self.sign > 0 else ceil(stated - slack)
            if best is None or self.sign * (best - read) <= 0:
                return read
        claim = "claims optimality with" if optimal else "states"
        raise BackendError(
            f"{self.name} {claim} a bound of {self.shown(stated)}, which a selection worth {self.shown(best or 0)} "
            "passes: its answer is no result."
        )

    def shown(self, value: float | Fraction) -> str:
        return f"{(float(value) + self.model.offset) / self.model.denominator:.6g}"


_LONGEST_S: Final = 60.0
"""Seconds that are spent where there is no time limit."""

_UNASKED_S: Final = 10.0
"""Seconds that are spent at most where nobody has asked for a proof of our own."""


def prove(run: Run) -> bool:
    """Say whether our own means prove what a run holds, or that nothing is feasible; bound it in any case."""
    seconds = min(_UNASKED_S, run.remaining_s)
    if not run.problem.can(Capability.COVERAGE):
        return False
    if run.evaluation is not None and run.problem.can(Capability.BOUND):
        run.raise_root_bound(run.deadline.within(seconds))
        if run.bound == run.evaluation.key:
            return True
    try:
        own = _own(run, min(seconds, run.remaining_s))
    except UnsupportedError:
        return False
    if run.evaluation is None and own.selection is not None:
        run.see(own.selection)
    found, held = own.evaluation, run.evaluation
    if own.proven:
        if found is not None:
            run.raise_bound(found.key)
        return found is None or (held is not None and held.key == found.key)
    if own.bound is not None:
        run.raise_bound(own.bound)
    return held is not None and held.key == run.bound


def verify(run: Run, name: str) -> None:
    """Prove that nothing beats what a run holds, or that nothing is feasible where it holds nothing.

    The root bound is enough where it is attained; otherwise branch-and-bound searches, in what is left of the time
    limit, and in no more than a minute. The statistic ``verified`` says whether it succeeded, and if it did not, the
    run's detail says why.

    Raises
    ------
    BackendError
        If the claim is refuted.
    Stopped
        After Ctrl-C.
    """
    seconds = min(_LONGEST_S, run.remaining_s)
    run.statistics["verified"] = True
    if run.evaluation is not None and run.problem.can(Capability.BOUND):
        if run.problem.root_bound(run.deadline.within(seconds)) == run.evaluation.key:
            return
        seconds = min(seconds, run.remaining_s)
    try:
        own = _own(run, seconds)
    except UnsupportedError as error:
        _leave(run, name, str(error))
        return
    found, held = own.evaluation, run.evaluation
    if found is not None and (held is None or run.problem.sense.better(found.key, held.key)):
        claimed = "the problem infeasible" if held is None else f"{float(held.value):.6g} optimal"
        raise BackendError(
            f"{name} calls {claimed}, but branch-and-bound finds {float(found.value):.6g}: its answer is no result."
        )
    if not own.proven and (held is None or own.bound != held.key):
        _leave(run, name, f"branch-and-bound did not end within {seconds:.3g} s")


def _own(run: Run, seconds: float) -> Run:
    """Return a run of branch and bound on a run's problem; only Ctrl-C, or a refusal, ends this one with it."""
    strategy = BranchAndBound()
    strategy.accept(run.problem)
    own = Run(run.problem, Limits(time_s=seconds), seed=run.seed)
    try:
        strategy.search(own)
    except Stopped as stop:
        if stop.termination is Termination.INTERRUPTED:
            raise
    return own


def _leave(run: Run, name: str, why: str) -> None:
    run.statistics["verified"] = False
    run.detail = f"not verified, as {name} claims it: {why}"
