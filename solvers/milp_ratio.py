"""One ratio with a varying denominator by a short sequence of integer programs (Dinkelbach 1967)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from optsum.contracts.backend import Backend, RawOutcome
from optsum.contracts.result import Termination
from optsum.contracts.run import Run, Stopped
from optsum.coverage.climb import climb
from optsum.coverage.evaluate import score
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import BackendError
from optsum.problem.problem import Capability, Selection
from optsum.program.model import LinearModel, coverage_model

from .audit import Verdict, judge, stopped_by_options
from .levels import limits_left


@dataclass(frozen=True, eq=False)
class _Round:
    """A linear model, as the problem that a backend solves."""

    linear_model: LinearModel

    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.LINEAR})

    @property
    def sense(self) -> Sense:
        """Always to maximize."""
        return self.linear_model.sense

    def can(self, capability: Capability) -> bool:
        """Return whether it is the one capability."""
        return capability in self.capabilities

    def explain(self, missing: frozenset[Capability]) -> str:
        """Say why there is no more than a linear model."""
        del missing
        return "a ratio takes integer programs, which this backend does not solve: use --backend highs."


def maximize_ratio(run: Run, backend: Backend, name: str) -> None:
    r"""Solve :math:`\max q T - p D` at the incumbent's ratio p / q until nothing beats it.

    Each round's answer is re-scored; the last one, whose optimum is 0, is the proof. The greedy selection gives the
    first ratio, so two or three rounds are usual. While there is no incumbent the round maximizes T alone, over all
    that is feasible.
    """
    coverage = run.problem.coverage
    see_greedy(run)
    rounds = 0
    while True:
        held = run.evaluation
        ratio = Fraction(0) if held is None else Fraction(held.key)
        model = coverage_model(coverage, ratio) if held is not None else coverage_model(_only_tops(coverage))
        rounds += 1
        outcome = solve_round(run, backend, model, rounds)
        totals = totals_of(coverage, outcome, backend, name)
        surplus = None if totals is None else ratio.denominator * totals[0] - ratio.numerator * totals[1]
        verdict = judge(
            outcome,
            backend,
            name,
            model,
            None if surplus is None else Fraction(surplus - model.offset),
            Fraction(-model.offset) if _is_in_program(coverage, run.selection) else None,
        )
        if outcome.selection is not None and totals is not None:
            run.see(outcome.selection)
        if surplus is not None and surplus > 0:
            if held is not None and run.evaluation is held:
                if backend.options:
                    raise stopped_by_options(backend, name, outcome)
                raise BackendError(f"{name} found no better ratio where its program has one: it would search forever.")
            run.check()
            continue
        conclude(verdict, outcome, backend, name, proven=verdict.bound is None or verdict.bound + model.offset <= 0)
        run.prove()
        return


def solve_round(run: Run, backend: Backend, model: LinearModel, number: int) -> RawOutcome:
    """Solve one program of several (`number` counts them) in what is left of a run's limits."""
    outcome = backend.solve(_Round(model), limits_left(run), run.seed)  # type: ignore[arg-type]
    if outcome.termination is Termination.INTERRUPTED:
        run.deadline.interrupt()  # no other round begins, whatever this one has found
    run.count(nodes=outcome.nodes or 0)
    run.statistics.update({**outcome.statistics, "rounds": number, "native_status": outcome.native})
    run.detail = outcome.detail or run.detail
    return outcome


def conclude(verdict: Verdict, outcome: RawOutcome, backend: Backend, name: str, *, proven: bool) -> None:
    """Return where a round is proven, and what is proven is what it should be.

    Raises
    ------
    Stopped
        At a limit, or where the solver's own options are to blame.
    BackendError
        For an ending that is neither.
    """
    if verdict.proven and proven:
        return
    if backend.options and outcome.termination in {Termination.COMPLETED, Termination.FAILED}:
        raise stopped_by_options(backend, name, outcome)
    if outcome.termination is Termination.COMPLETED:
        raise BackendError(f"{name} ended with {outcome.native!r} without an answer that can be used.")
    if outcome.termination is Termination.FAILED:
        raise BackendError(f"{name} ended with the status {outcome.native!r}, which proves nothing.")
    raise Stopped(outcome.termination)


def _only_tops(coverage: Coverage) -> Coverage:
    """Return the instance with 1 for a denominator."""
    return replace(
        coverage,
        constants=np.array([coverage.constants[0], 1]),
        mass=np.vstack([coverage.mass[0], np.zeros_like(coverage.mass[1])]),
        level=np.where(np.repeat(coverage.slot == 1, np.diff(coverage.level_start)), 0, coverage.level),
        slot=np.zeros_like(coverage.slot),
    )


def see_greedy(run: Run) -> None:
    """Begin with the greedy selection; a run of a part of a search climbs for itself."""
    run.begin()
    if not run.selection and run.problem.can(Capability.COVERAGE):
        climbed = climb(run.problem.coverage, run.deadline)
        if climbed is not None:
            run.count(evaluations=climbed.evaluations)
            run.see(climbed.units)
    run.check()


def _is_in_program(coverage: Coverage, selection: Selection | None) -> bool:
    """Return whether there is a selection whose denominator is above 0: a round's program has no others."""
    return selection is not None and score(coverage, selection)[0][1] > 0


def totals_of(coverage: Coverage, outcome: RawOutcome, backend: Backend, name: str) -> tuple[int, ...] | None:
    """Return the totals of an answer, evaluated afresh; None where there is none.

    One that is not feasible is a `BackendError`, unless options of the solver's own may be to blame: then it is none.
    """
    if (selection := outcome.selection) is None:
        return None
    try:
        return _feasible_totals(coverage, selection, name)
    except BackendError:
        if backend.options:
            return None
        raise


def _feasible_totals(coverage: Coverage, selection: Selection, name: str) -> tuple[int, ...]:
    if not set(selection) <= set(range(coverage.size)):
        raise BackendError(f"The answer of {name} names units that do not exist: it is no result.")
    totals, _, violation = score(coverage, selection)
    if violation:
        raise BackendError(f"The answer of {name} breaks the limits by {violation}: it is no result.")
    return totals
