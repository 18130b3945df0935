"""What a solver claims, held against what is known: the one place where its answer is judged.

A claim that anything at hand refutes is an error, never a result: who lies once is not believed in the rest. What
cannot be refuted this way is a consistent lie, such as a good selection that is called optimal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf
from typing import Final

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Termination
from optsum.contracts.run import Stopped
from optsum.coverage.instance import Sense
from optsum.errors import BackendError
from optsum.program.model import LinearModel

_TOLERANCE: Final = 1e-6
"""How far a solver's integer objective, and its bound, may be off,"""
RELATIVE: Final = 1e-9
"""and how far in relation to their size, where that is more: objectives over a large common denominator."""

_TRIED: Final = 64
"""Selections next to an optimum that are tried; each costs as much as one evaluation."""


_COUNTS: Final = 1e-4
"""A solver's gap below 1, and as much as this, may be rounded to 1."""


def slack_of(value: float) -> float:
    """Return how far a number of a solver may be off."""
    return max(_TOLERANCE, RELATIVE * abs(value))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What follows from a solver's answer.

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
    """What claims are held against, and the sentences for those that are refuted."""

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
