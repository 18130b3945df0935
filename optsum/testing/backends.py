"""`check_backend`: whether a MILP backend keeps the contract, on small instances and at its limits."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from optsum.contracts.backend import Backend, Ending, RawOutcome
from optsum.contracts.result import Status
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import OptionError, UnsupportedError
from optsum.problem.coverage_problem import CoverageProblem
from optsum.problem.problem import Capability, Problem
from optsum.registry import STRATEGIES
from optsum.running.search import search
from optsum.system.clock import Limits, Termination
from optsum.testing.instances import brute_force, expect, random_coverage

_LINEAR = ("recall", "window", "compressive", "cover")
_SLACK = 1e-4
_TIED = "units that are all alike"
_UNKNOWN = "no_solver_has_an_option_of_this_name"


def check_backend(name: str, *, instances: int = 3, seed: int = 0) -> None:
    """Check a backend that is installed.

    * every final status of its interface is declared;
    * optima, in both senses, equal those of the enumeration, and no bound is worse than the optimum;
    * infeasible instances, and those without variables, are recognised;
    * a time limit ends it in time, with or without an incumbent, and with a bound that its incumbent does not exceed;
    * undeclared limits are refused; declared ones are kept, and the result names the one that was reached;
    * an unknown option is refused; threads and a start are accepted if they are declared;
    * the same seed gives the same result.

    Parameters
    ----------
    name : str
        As in ``--backend``.
    instances : int
        Random instances of each kind.
    seed : int
        Seed of the first instance.

    Raises
    ------
    ConformanceError
        With a sentence that names the instance and the first check that failed.
    """
    backend = _backend(name)
    state = backend.available()
    expect(state.usable, name, f"it cannot be used here: {state.reason}.")
    expect(backend.licence().strip(), name, "it states no licence.")
    missing = sorted(set(backend.native_statuses()) - set(backend.declaration.statuses))
    expect(not missing, name, f"it does not declare the statuses {', '.join(missing)}.")
    endings = set(backend.declaration.statuses.values())
    expect({Ending.OPTIMAL, Ending.INFEASIBLE} <= endings, name, "it declares no optimal or no infeasible status.")
    served = [problem for problem in _problems(instances, seed) if _check_optimum(name, *problem)]
    expect(served, name, "it refuses every instance.")
    empty = search(CoverageProblem.of(Coverage.of([], [], [])), "milp", backend=name)
    expect((empty.status, empty.selection) == (Status.OPTIMAL, ()), name, "without variables it is not optimal.")
    small = served[-1][1]
    _check_options(name, small)
    senses = {problem.sense for _, problem in served}
    hard, easier = next(pair for pair in _hard() if pair[0].sense in senses)
    _check_time(name, hard)
    _check_others(name, easier)
    if backend.declaration.names.threads is not None:
        outcome = _backend(name, threads=2).solve(small, Limits(), seed)
        expect(outcome.optimal, name, "with two threads a small instance has no optimum.")


def _backend(name: str, **settings: Any) -> Backend:
    strategy: Any = STRATEGIES.create("milp", {"backend": name, **settings})
    backend: Backend = strategy.solver()
    return backend


def _problems(instances: int, seed: int) -> Iterator[tuple[str, Problem]]:
    for kind in _LINEAR:
        for number in range(seed, seed + instances):
            made = random_coverage(np.random.default_rng(number), kind=kind)
            yield f"random_coverage(default_rng({number}), kind={kind!r})", CoverageProblem.of(made)
    yield (
        "a minimum out of reach",
        CoverageProblem.of(Coverage.of([3, 4], [{0: 1}, {0: 1}], [[1]], max_length=9, min_length=8)),
    )
    nothing = Coverage.of([1, 1], [{0: 1}, {}], [[1], [1]], goal=Sense.MINIMIZE)
    yield "a clause that nothing covers", CoverageProblem.of(nothing)
    tied = Coverage.of([2] * 6, [{0: 1}] * 6, [[1, 1, 1]], constants=(0, 3), max_length=5)
    yield _TIED, CoverageProblem.of(tied)
    alike = Coverage.of([1] * 6, [{0: 1, 1: 1}] * 6, [[1], [1]], goal=Sense.MINIMIZE)
    yield _TIED, CoverageProblem.of(alike)
    yield "a cover of one unit", CoverageProblem.of(Coverage.of([1, 1], [{0: 1}, {}], [[1]], goal=Sense.MINIMIZE))


def _check_optimum(name: str, where: str, problem: Problem) -> bool:
    truth, tied, where = brute_force(problem), where == _TIED, f"{name} on {where}"
    expect(problem.can(Capability.LINEAR), where, "this suite is for linear models.")
    if not problem.size:
        return False
    backend = _backend(name)
    try:
        outcome = backend.solve(problem, Limits(), 7)
    except UnsupportedError:
        return False
    _check_sides(problem, outcome, truth.best, where)
    if truth.best is None:
        reported = outcome.infeasible and outcome.selection is None
        expect(reported, where, "it is infeasible, but was not reported as such.")
    else:
        expect(outcome.optimal, where, f"it ended with {outcome.native!r}, which is no optimum.")
        expect(outcome.selection in truth.optima, where, f"{outcome.selection} is no optimum.")
        if tied and backend.repeatable:
            again = _backend(name).solve(problem, Limits(), 7)
            expect(again.selection == outcome.selection, where, "the same seed gives another selection.")
        elif backend.declaration.warm_start:
            started = _backend(name).solve(problem, Limits(), 7, min(truth.optima))
            expect(started.selection in truth.optima, where, "started from an optimum, it does not find one.")
    expect(outcome.termination is Termination.COMPLETED, where, f"it ended with {outcome.termination.value}.")
    result = search(problem, "milp", backend=name)
    expect(result.key == truth.best, where, f"the strategy milp finds {result.key}, and the optimum is {truth.best}.")
    status = Status.INFEASIBLE if truth.best is None else Status.OPTIMAL
    expect(result.status is status, where, f"the strategy milp says {result.status.value}.")
    return truth.best is not None


def _check_sides(problem: Problem, outcome: RawOutcome, best: Any, where: str) -> None:
    """Fail if the optimum or the solver's own answer exceeds the bound, or if that answer violates a limit."""
    model, sign = problem.linear_model, 1 if problem.sense is Sense.MAXIMIZE else -1
    held = best

    def above(claimed: float, key: Any) -> float:
        """Return by how much a claim exceeds a value, as a share of it."""
        worth = float(Fraction(key) * model.denominator - model.offset)
        return sign * (claimed - worth) / max(1.0, abs(worth))

    if outcome.selection is not None:
        evaluation = problem.evaluate(outcome.selection)
        expect(evaluation.feasible, where, f"its answer violates the limits by {evaluation.violation}.")
        held = evaluation.key if held is None else held
        if outcome.objective is not None:
            honest = above(outcome.objective, evaluation.key) <= _SLACK
            expect(honest, where, "its claimed objective differs from its answer's.")
    if outcome.bound is not None and held is not None:
        beyond = above(outcome.bound, held) >= -_SLACK
        expect(beyond, where, f"the bound {outcome.bound} is on the wrong side.")


def _check_options(name: str, problem: Problem) -> None:
    try:
        _backend(name, backend_options=((_UNKNOWN, 1),)).solve(problem, Limits(), 0)
    except OptionError as error:
        named = _backend(name).name in str(error)
        expect(named, name, "an unknown option is refused by a sentence that does not name the backend.")
    else:
        expect(False, name, "an unknown option is silently accepted.")
    names = _backend(name).declaration.names
    kept: dict[str, Any] = {}
    limit: Any
    for what, limit, known in (("time_s", 60.0, names.time), ("nodes", 10**6, names.nodes), ("gap", 0.0, names.gap)):
        if known is not None:
            kept[what] = limit
            continue
        try:
            _backend(name).solve(problem, Limits(**{what: limit}), 0)
        except UnsupportedError:
            continue
        expect(False, name, f"it declares no limit {what}, and takes it.")
    try:
        outcome = _backend(name).solve(problem, Limits(**kept), 0)
    except UnsupportedError as error:
        expect(False, name, f"it declares the limits {', '.join(kept)}, and refuses one: {error}")
    else:
        expect(outcome.optimal, name, f"limits that are not reached end it with {outcome.native!r}.")


def _hard() -> Iterator[tuple[Problem, Problem]]:
    """Yield for each goal a problem that takes long, and a similar one that takes less."""
    yield CoverageProblem.of(hard_instance()), CoverageProblem.of(hard_instance(units=50))
    covers: list[Problem] = []
    for size in (700, 100):
        rng = np.random.default_rng(0)
        sentences = [{int(one): 1 for one in rng.choice(size // 2, 5, replace=False)} for _ in range(size)]
        every = Coverage.of([1] * size, sentences, [[1]] * (size // 2), goal=Sense.MINIMIZE)
        covers.append(CoverageProblem.of(every))
    yield covers[0], covers[1]


def hard_instance(units: int = 400) -> Coverage:
    """Return a recall instance that keeps a MILP solver busy for a while."""
    rng = np.random.default_rng(0)
    return Coverage.of(
        rng.integers(20, 60, units).tolist(),
        [{int(f): 1 for f in rng.choice(300, 12, replace=False)} for _ in range(units)],
        [[int(gain)] for gain in rng.integers(1, 4, 300)],
        constants=(0, 900),
        max_length=700,
    )


def _check_time(name: str, problem: Problem) -> None:
    if _backend(name).declaration.names.time is None:
        return
    reached = search(problem, "greedy").key  # no bound may lie below it, whether the solver has an incumbent or not
    for seconds in (0.01, 0.4):
        where = f"{name} at a time limit of {seconds} s"
        outcome = _backend(name).solve(problem, Limits(time_s=seconds), 0)
        expect(not outcome.infeasible, where, "it calls a feasible instance infeasible.")
        ended = (outcome.termination is Termination.TIME_LIMIT) != outcome.optimal
        expect(ended, where, f"it ended with {outcome.native!r}, {outcome.termination.value}.")
        _check_sides(problem, outcome, reached, where)
    result = search(problem, "milp", Limits(time_s=seconds), backend=name)
    ended = (result.termination is Termination.TIME_LIMIT) != (result.status is Status.OPTIMAL)
    expect(ended, where, f"the strategy milp ends with {result.status.value}, {result.termination.value}.")
    expect(result.seconds < seconds + 5, where, f"it took {result.seconds:.1f} s.")


def _check_others(name: str, problem: Problem) -> None:
    names = _backend(name).declaration.names
    timed = 30.0 if names.time is not None else None  # so that a busy machine is no time limit
    if names.nodes is not None:
        result = search(problem, "milp", Limits(nodes=1, time_s=timed), backend=name)
        allowed = {Termination.NODE_LIMIT, Termination.COMPLETED}
        expect(result.termination in allowed, name, f"a node limit ends it with {result.termination.value}.")
    if names.gap is not None:
        result = search(problem, "milp", Limits(gap=0.9, time_s=timed), backend=name)
        good = result.termination in {Termination.GAP_REACHED, Termination.COMPLETED}
        expect(good and result.gap is not None, name, f"a wide gap ends it with {result.termination.value}.")
