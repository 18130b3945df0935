"""`check_strategy`: whether a strategy keeps the contract, on every kind of small instance."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from typing import Any, cast

import numpy as np

from optsum.contracts.result import Result, Status
from optsum.contracts.strategy import Strategy
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Capability, Evaluation, Problem, Selection
from optsum.registry import STRATEGIES
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing.instances import (
    KINDS,
    ConformanceError,
    Enumeration,
    OwnMetric,
    brute_force,
    expect,
    random_coverage,
)

_ENUMERABLE = 14
_FAR = 1e300


def check_strategy(
    strategy: str | Strategy,
    *,
    instances: int = 3,
    seed: int = 0,
    problems: Mapping[str, Problem] | None = None,
    **options: Any,
) -> None:
    """Check a strategy.

    It is checked on empty, single-unit, tied and infeasible instances, on random ones of every kind, and on a user's
    own metric:

    * an unsupported problem raises `UnsupportedError` before anything is evaluated;
    * reported selections are feasible, have the problem's value, and are never better than the true optimum;
    * "optimal" and "infeasible" are true, and reported by exact strategies only, whenever they complete;
    * the true optimum exceeds no bound;
    * the trace improves step by step and ends with the result, which can be converted to JSON and back;
    * the same seed gives the same result, and the problem is not changed;
    * tiny limits, a target, a gap, Ctrl-C and a callback end the search cleanly, with the right termination.

    Parameters
    ----------
    strategy : str or Strategy
        A name with its `options`, or a strategy.
    instances : int
        Random instances of each kind.
    seed : int
        Seed of the first instance of each kind; following instances use the following seeds.
    problems : mapping of name to Problem, optional
        More problems to try, of at most 14 units, such as those of a third party's formulation.

    Raises
    ------
    ConformanceError
        With a sentence that names the instance and the first check that failed.
    """
    chosen = STRATEGIES.create(strategy, options) if isinstance(strategy, str) else strategy
    for name, problem in _problems(instances, seed, problems or {}):
        where = f"{chosen.name} on {name}"
        try:
            chosen.accept(problem)
        except UnsupportedError:
            _check_refusal(chosen, problem, where)
        else:
            _check_served(chosen, problem, seed, where)


def _problems(instances: int, seed: int, others: Mapping[str, Problem]) -> Iterator[tuple[str, Problem]]:
    corners: dict[str, Coverage] = {
        "an instance without units": Coverage.of([], [], []),
        "an infeasible instance without units": Coverage.of([], [], [], min_length=1),
        "a single unit": Coverage.of([3], [{0: 2}], [[2, 1]], constants=(0, 4), max_length=3),
        "a single unit that is too long": Coverage.of([3], [{0: 2}], [[2, 1]], constants=(0, 4), max_length=2),
        "units that are all alike": Coverage.of([2] * 6, [{0: 1}] * 6, [[1, 1, 1]], constants=(0, 3), max_length=5),
        "units without length": Coverage.of([0] * 4, [{0: 1}, {1: 1}, {}, {0: 2}], [[1], [1]], max_length=0),
        "units that gain nothing": Coverage.of([1, 2], [{}, {}], [], max_length=2),
        "a minimum length out of reach": Coverage.of([3, 4], [{0: 1}, {0: 1}], [[1]], max_length=9, min_length=8),
    }
    for name, instance in corners.items():
        yield name, watched(instance)
    for kind in KINDS:
        for number in range(seed, seed + instances):
            made = random_coverage(np.random.default_rng(number), kind=kind)
            yield f"random_coverage(default_rng({number}), kind={kind!r})", watched(made)
    words = [["a", "b"], ["b", "bad"], ["c"], ["bad"], ["a", "c", "d"]]
    for sense in Sense:
        own = OwnMetric(lengths=(2, 2, 1, 1, 3), max_length=5, min_length=1, words=words, sense=sense)
        yield f"a metric of one's own, to {sense.value}", own
    yield from others.items()


def _check_refusal(strategy: Strategy, problem: Problem, where: str) -> None:
    calls = len(problem.calls) if isinstance(problem, Watched) else 0
    try:
        search(problem, strategy)
    except UnsupportedError as error:
        expect(str(error).strip(), where, "it is refused without a message.")
    else:
        expect(False, where, "accept refuses the problem, but it was searched all the same.")
    if isinstance(problem, Watched):
        expect(len(problem.calls) == calls, where, "it is refused only after something was evaluated.")


def _check_served(strategy: Strategy, problem: Problem, seed: int, where: str) -> None:
    truth = brute_force(problem) if problem.size <= _ENUMERABLE else None
    expect(truth, where, f"{problem.size} units are too many for this suite.")
    assert truth is not None  # noqa: S101 - for the type checker
    before = fingerprint(problem)
    try:
        result = search(problem, strategy, seed=seed)
    except UnsupportedError as error:
        raise ConformanceError(f"{where}: accept lets it pass, but the search refuses it ({error})") from error
    check_claims(strategy, problem, result, truth, where)
    done = result.termination is Termination.COMPLETED
    expect(done, where, f"without limits it ended with {result.termination.value}.")
    expect(result.seed == seed, where, "the result has another seed.")
    again = search(problem, strategy, seed=seed)
    expect(_essence(again) == _essence(result), where, f"seed {seed} gives another result the second time.")
    expect(fingerprint(problem) == before, where, "the search changed the problem.")
    _check_limits(strategy, problem, truth, where)
    if isinstance(problem, Watched):
        _check_interrupt(strategy, problem, truth, where)


_essence = attrgetter(*("status", "termination", "objective_exact", "bound_exact", "selection", "evaluations", "nodes"))
"""Return the parts of a result that must not differ between runs."""


def _check_limits(strategy: Strategy, problem: Problem, truth: Enumeration, where: str) -> None:
    enough = -_FAR if problem.sense is Sense.MAXIMIZE else _FAR
    done = Termination.COMPLETED
    cases: list[tuple[Limits, set[Termination]]] = [
        (Limits(time_s=0), {Termination.TIME_LIMIT}),
        (Limits(time_s=60.0), {done}),
        (Limits(evaluations=0), {Termination.EVALUATION_LIMIT}),
        (Limits(evaluations=1), {Termination.EVALUATION_LIMIT, done}),
        (Limits(evaluations=3), {Termination.EVALUATION_LIMIT, done}),
        (Limits(nodes=0), {Termination.NODE_LIMIT}),
        (Limits(nodes=1), {Termination.NODE_LIMIT, done}),
        (Limits(target=-enough), {done}),
        (Limits(target=enough), {Termination.TARGET_REACHED}),
        (Limits(gap=_FAR), {Termination.GAP_REACHED, done}),
    ]
    for limits, allowed in cases:
        text = f"{where}, {limits}"
        try:
            result = search(problem, strategy, limits)
        except UnsupportedError:
            refusable = limits.nodes is not None or limits.gap is not None  # not every solver has them
            expect(refusable, text, "the limit is refused, which is for node limits and gaps alone.")
            continue
        check_claims(strategy, problem, result, truth, text)
        fine = result.termination in allowed
        if result.status in {Status.NO_SOLUTION, Status.INFEASIBLE} and limits.target == enough:
            fine = result.termination is done
        expect(fine, text, f"it ended with {result.termination.value}.")

    stopped = search(problem, strategy, on_progress=lambda _: False)
    check_claims(strategy, problem, stopped, truth, where)
    fine = stopped.termination is Termination.INTERRUPTED
    expect(fine, where, f"a callback that says stop ended it with {stopped.termination.value}.")


def _check_interrupt(strategy: Strategy, problem: Watched, truth: Enumeration, where: str) -> None:
    """Press Ctrl-C during each of the first evaluations."""
    for allowed in range(3):
        copy = watched(problem.instance, interrupt_after=allowed)
        result = search(copy, strategy)
        text = f"{where}, Ctrl-C after {allowed} evaluations"
        interrupted = len(copy.calls) > allowed
        expected = Termination.INTERRUPTED if interrupted else Termination.COMPLETED
        expect(result.termination is expected, text, f"it ended with {result.termination.value}.")
        check_claims(strategy, watched(problem.instance), result, truth, text)
        if interrupted and allowed == 0:
            later = {tuple(call) for call in copy.calls[1:]}  # a first selection may be looked for afterwards
            held = result.selection is None or result.selection in later
            expect(held, text, "it has a selection that was never evaluated.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Watched(CoverageProblem):
    """A `CoverageProblem` that records every selection it evaluates."""

    calls: list[Selection] = field(default_factory=list)
    interrupt_after: int | None = None  # Raise `KeyboardInterrupt` once, at the evaluation after so many.

    def evaluate(self, selection: Selection) -> Evaluation:
        """Record, perhaps interrupt, evaluate."""
        self.calls.append(selection)
        if len(self.calls) - 1 == self.interrupt_after:
            raise KeyboardInterrupt
        return super().evaluate(selection)


def watched(instance: Coverage, *, interrupt_after: int | None = None) -> Watched:
    """Wrap an instance."""
    made: Any = Watched.of(instance)  # of the class that it is asked of
    return cast("Watched", dataclasses.replace(made, interrupt_after=interrupt_after))


def fingerprint(problem: Problem) -> tuple[object, ...]:
    """Return all data of a problem, so that a change shows."""
    owner = problem.coverage if isinstance(problem, CoverageProblem) else problem
    values = [getattr(owner, item.name) for item in dataclasses.fields(owner)]
    limits = (problem.lengths, problem.min_length, problem.max_length, problem.sense)
    return (*limits, *(value.tobytes() if isinstance(value, np.ndarray) else repr(value) for value in values))


def check_claims(strategy: Strategy, problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    """Check all claims of a result of `search` against the enumerated truth."""
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
        expect(False, where, f"the result is not JSON: {error}.")
    expect(Result.from_row(json.loads(text)) == result, where, "the result changes when converted to JSON and back.")


def _check_selection(problem: Problem, result: Result, truth: Enumeration, where: str) -> None:
    if result.selection is None:
        return
    selection = result.selection
    expect(selection == tuple(sorted(set(selection))), where, f"the selection {selection} is not sorted.")
    evaluation = problem.evaluate(selection)
    expect(evaluation.feasible, where, f"the selection {selection} is not feasible.")
    same = result.key == evaluation.key and result.objective == evaluation.value
    expect(same, where, f"the objective is {result.key}, but {selection} is worth {evaluation.key}.")
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
        wanted = problem.can(Capability.BOUND) and result.status is not Status.INFEASIBLE
        expect(not wanted, where, "there is no bound, though the problem has one.")
        return
    best = truth.best
    passed = best is not None and problem.sense.better(best, bound)
    expect(not passed, where, f"the true optimum {best} exceeds the bound {bound}.")


def _check_trace(problem: Problem, result: Result, where: str) -> None:
    trace = result.trace
    expect(bool(trace) == (result.selection is not None), where, "the trace and the selection do not match.")
    for first, second in pairwise(trace):
        worse = problem.sense.better(first.objective, second.objective)
        expect(not worse, where, f"the trace falls back from {first.objective} to {second.objective}.")
        expect(first.seconds <= second.seconds, where, "the trace goes back in time.")
        expect(first.evaluations <= second.evaluations, where, "the trace counts evaluations backwards.")
    if trace:
        expect(trace[-1].objective == result.objective, where, "the trace does not end with the result.")
        expect(trace[-1].seconds <= result.seconds, where, "the trace goes on after the end.")
