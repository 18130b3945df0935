"""Whether what a result claims is true."""

from __future__ import annotations

import json
from itertools import pairwise

from optsum.contracts.result import Result, Status, Termination
from optsum.contracts.strategy import Strategy
from optsum.coverage.instance import Sense
from optsum.problem.problem import Capability, Problem
from optsum.testing.enumeration import Enumeration
from optsum.testing.failure import expect


def check_claims(strategy: Strategy, problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    """Check everything that a result of `search` says against the enumerated truth."""
    expect(result.strategy == strategy.name, where, f"the result names the strategy {result.strategy!r}.")
    expect(result.seconds >= 0, where, "the search took negative time.")
    expect(result.evaluations >= 0 <= result.nodes, where, "a counter is negative.")
    _check_selection(problem, result, truth, where)
    _check_status(strategy, result, truth, where)
    _check_bound(problem, result, truth, where)
    _check_trace(problem, result, where)
    try:
        text = json.dumps(result.to_row(), allow_nan=False)
    except (TypeError, ValueError) as error:
        expect(False, where, f"the result is no JSON: {error}.")
    expect(Result.from_row(json.loads(text)) == result, where, "the result does not survive JSON both ways.")


def _check_selection(problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    if result.selection is None:
        return
    selection = result.selection
    expect(selection == tuple(sorted(set(selection))), where, f"the selection {selection} is not sorted.")
    evaluation = problem.evaluate(selection)
    expect(evaluation.feasible, where, f"the selection {selection} is not feasible.")
    expect(
        result.key == evaluation.key and result.objective == evaluation.value,
        where,
        f"the objective is {result.key}, but {selection} is worth {evaluation.key}.",
    )
    expect(result.length == problem.length(selection), where, f"{selection} is not {result.length} long.")
    best = truth.best
    beaten = best is None or problem.sense.better(evaluation.key, best)
    expect(not beaten, where, f"{selection} is worth {evaluation.key}, better than the true optimum {best}.")


def _check_status(strategy: Strategy, result: Result, truth: Enumeration, where: str) -> None:
    status = result.status
    expect(status is not Status.ERROR, where, f"it failed: {result.error}.")
    if status is Status.OPTIMAL:
        expect(result.key == truth.best, where, f"{result.key} is called optimal; the optimum is {truth.best}.")
    if status is Status.INFEASIBLE:
        expect(truth.best is None, where, f"it is called infeasible; {truth.optima[:1]} is feasible.")
    proven = status in {Status.OPTIMAL, Status.INFEASIBLE}
    if not strategy.exact:
        expect(not proven, where, f"a strategy that is not exact claims {status.value}.")
    elif result.termination is Termination.COMPLETED:
        expect(proven, where, f"an exact strategy completed with {status.value}.")


def _check_bound(problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    bound = result.bound_key
    if bound is None:
        wanted = Capability.BOUND in problem.capabilities and result.status is not Status.INFEASIBLE
        expect(not wanted, where, "there is no bound, though the problem has one.")
        return
    best = truth.best
    passed = best is not None and problem.sense.better(best, bound)
    expect(not passed, where, f"the true optimum {best} passes the bound {bound}.")


def _check_trace(problem: Problem, result: Result, where: str) -> None:
    trace = result.trace
    expect(bool(trace) == (result.selection is not None), where, "the trace and the selection do not go together.")
    for first, second in pairwise(trace):
        rising = problem.sense is Sense.MAXIMIZE
        no_worse = first.objective <= second.objective if rising else first.objective >= second.objective
        expect(no_worse, where, f"the trace falls back from {first.objective} to {second.objective}.")
        expect(first.seconds <= second.seconds, where, "the trace goes back in time.")
        expect(first.evaluations <= second.evaluations, where, "the trace counts evaluations backwards.")
    if trace:
        expect(trace[-1].objective == result.objective, where, "the trace does not end with the result.")
        expect(trace[-1].seconds <= result.seconds, where, "the trace goes on after the end.")
