"""Prove again, by our own means, what a solver calls proven."""

from __future__ import annotations

from typing import Final

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Run, Stopped
from optsum.errors import BackendError, UnsupportedError
from optsum.problem.problem import Capability

from .branch_and_bound import BranchAndBound

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
