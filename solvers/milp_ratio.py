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
from optsum.system.deadline import Deadline

from .claims import Verdict, judge
from .levels import limits_left


@dataclass(frozen=True, eq=False)
class _Round:
    """What a backend needs of a problem: a linear model."""

    linear_model: LinearModel

    capabilities: ClassVar[frozenset[Capability]] = frozenset({Capability.LINEAR})

    @property
    def sense(self) -> Sense:
        """Always to maximize."""
        return self.linear_model.sense

    def can(self, capability: Capability) -> bool:
        """Whether that is it."""
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
        surplus = None if outcome.selection is None else _surplus(coverage, ratio, outcome.selection, name)
        verdict = judge(
            outcome,
            name,
            model,
            None if surplus is None else Fraction(surplus - model.offset),
            Fraction(-model.offset) if _is_in_program(coverage, run.selection) else None,
        )
        if outcome.selection is not None:
            run.see(outcome.selection)
        if surplus is not None and surplus > 0:
            if held is not None and run.evaluation is held:
                raise BackendError(f"{name} found no better ratio where its program has one: it would search forever.")
            run.check()
            continue
        conclude(verdict, outcome, name, proven=verdict.bound is None or verdict.bound + model.offset <= 0)
        run.prove()
        return


def solve_round(run: Run, backend: Backend, model: LinearModel, number: int) -> RawOutcome:
    """Solve one program of several, so many with it, in what is left of a run's limits."""
    outcome = backend.solve(_Round(model), limits_left(run), run.seed)  # type: ignore[arg-type]
    if outcome.termination is Termination.INTERRUPTED:
        run.deadline.interrupt()  # no other round begins, whatever this one has found
    run.count(nodes=outcome.nodes or 0)
    run.statistics.update({**outcome.statistics, "rounds": number, "native_status": outcome.native})
    run.detail = outcome.detail or run.detail
    return outcome


def conclude(verdict: Verdict, outcome: RawOutcome, name: str, *, proven: bool) -> None:
    """Return where a round is proven, and what is proven is what it should be.

    Raises
    ------
    Stopped
        At a limit.
    BackendError
        For an ending that is neither.
    """
    if verdict.proven and proven:
        return
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


def see_greedy(run: Run, deadline: Deadline | None = None) -> None:
    """Take the greedy selection as a first incumbent, as far as it comes by a deadline: the run's, if not given."""
    climbed = climb(run.problem.coverage, deadline or run.deadline)
    if climbed is not None:
        run.count(evaluations=climbed.evaluations)
        run.see(climbed.units)
    run.check()


def _is_in_program(coverage: Coverage, selection: Selection | None) -> bool:
    """Return whether there is a selection whose denominator is above 0: a round's program has no others."""
    return selection is not None and score(coverage, selection)[0][1] > 0


def totals_of(coverage: Coverage, selection: Selection, name: str) -> tuple[int, ...]:
    """Return the totals of an answer, evaluated afresh; refuse one that is not feasible by a `BackendError`."""
    if not set(selection) <= set(range(coverage.size)):
        raise BackendError(f"The answer of {name} names units that do not exist: it is no result.")
    totals, _, violation = score(coverage, selection)
    if violation:
        raise BackendError(f"The answer of {name} breaks the limits by {violation}: it is no result.")
    return totals


def _surplus(coverage: Coverage, ratio: Fraction, selection: Selection, name: str) -> int:
    """Return ``q T - p D`` of an answer."""
    top, bottom = totals_of(coverage, selection, name)
    return ratio.denominator * top - ratio.numerator * bottom
