"""Search one problem by one strategy within limits; the result claims only what was proven."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from itertools import islice
from numbers import Rational
from typing import Any, Final

from optsum._version import __version__
from optsum.contracts.result import OptimaFields, Result, Status, Timing
from optsum.contracts.strategy import Run, Strategy, is_certified
from optsum.coverage.instance import Key
from optsum.errors import BackendError, InputError, OptionError, behind
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Optima
from optsum.problem.problem import Capability, Problem, checked_bound, exceeds, hold_bound, worth
from optsum.registry import CERTIFICATE, CERTIFIED, DEFAULT_HEURISTIC, DEFAULT_STRATEGY, STRATEGIES
from optsum.system.clock import INTERRUPTED_S, LIMIT_OPTIONS, Deadline, Limits, Stopped, Termination
from optsum.system.processes.signal_guard import postponing
from optsum.whole import whole, whole_numbers

_EMPTY = Result(strategy="", status=Status.NO_SOLUTION, termination=Termination.COMPLETED)
"""An empty result, which is copied and changed, because that is faster than filling in every field."""

_OTHER_LIMITS = {Termination.NODE_LIMIT, Termination.EVALUATION_LIMIT, Termination.MEMORY_LIMIT}
_BOUND_S: Final = 2.0  # Seconds that a bound may take after one of these limits, in addition to those of the search.
_CHECKED: Final = 1000  # Number of sets whose values are checked if a strategy of one's own enumerates them.
_PROOF_MAY_STAND = {Termination.COMPLETED, Termination.TARGET_REACHED, Termination.GAP_REACHED}


@postponing()
def search(
    problem: Problem,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    limits: Limits | None = None,
    seed: int = 0,
    *,
    on_progress: Callable[[Run], bool | None] | None = None,
    root_bound: Key | None = None,
    bound: str = "root",
    start: Iterable[int] | None = None,
    **options: Any,
) -> Result:
    """Search a problem.

    Parameters
    ----------
    problem : Problem
        The problem of a formulation, or of a user's own subclass of `optsum.Problem`.
    strategy : str or Strategy
        A name (``optsum list strategies``) with its `options`, or a strategy.
    limits : Limits, optional
        When to stop early; also by the names of `optsum.solve`: ``time_limit=5``, ``gap=0.01``.
    seed : int
        The same seed gives the same result.
    on_progress : callable, optional
        Called from time to time with the `Run`; returning False stops the search.
    root_bound : Key, optional
        The problem's root bound, if an earlier search has proven it.
    bound : str
        "root" computes a bound for a heuristic; "none" does not. Other values are the strategy's own.
    start : iterable of int, optional
        Units of a starting selection: the first incumbent of every strategy, also for solvers that accept one.

    Returns
    -------
    Result
        Infeasibility, reached limits, and Ctrl-C (``termination`` "interrupted") are results too.

    Raises
    ------
    OptionError
        For options given with a strategy that is not a name, or limits given in both ways.
    UnsupportedError
        If the strategy needs a capability that the problem lacks.
    BackendError
        If a solver is missing, or its answer fails re-scoring.
    """
    named = {name: options.pop(name) for name in LIMIT_OPTIONS if name in options}
    if named and limits is not None:
        raise OptionError(
            f"Limits are given as limits= or by their names ({', '.join(named)}): leave out one of the two."
        )
    seed = whole(seed, "The seed", least=0, most=10**400, error=OptionError)
    if bound not in CERTIFIED:
        options["bound"] = bound
    if isinstance(strategy, str):
        strategy = STRATEGIES.create(strategy, options)
    elif options:
        raise OptionError(
            f"Options ({', '.join(options)}) can be given only with the name of a strategy: make this strategy with "
            "them."
        )
    if isinstance(strategy, type):
        raise OptionError(
            f"The strategy is the class {strategy.__name__}: give an object of it, {strategy.__name__}()."
        )
    given: Any = strategy
    if not isinstance(given, Strategy) or not isinstance(getattr(given, "name", None), str):
        raise OptionError(
            f"The strategy {given!r:.60} is no optsum.Strategy with a name: give a name (optsum list strategies), or "
            'an object of a class derived from it that has name = "...".'
        )
    if not isinstance(problem, Problem):
        raise OptionError(
            f"optsum.search takes a Problem, not {type(problem).__name__!r}: pass topics to optsum.solve instead."
        )
    asked: tuple[Any, Any] = limits, on_progress
    if not isinstance(asked[0], Limits | None):
        raise OptionError(f"limits is {asked[0]!r:.60}: give an optsum.Limits.")
    if not (asked[1] is None or callable(asked[1])):
        raise OptionError(f"on_progress is {asked[1]!r:.60}: give a function of the run.")
    limits = limits or Limits.named(named)
    result = searched(
        problem, strategy, limits, seed, on_progress=on_progress, root_bound=root_bound, bound=bound, start=start
    )
    known = Fraction(result.objective_exact) if result.objective_exact is not None else None
    if known is not None and root_bound is not None and exceeds(problem.sense, known, checked_bound(root_bound)):
        raise InputError(f"root_bound is {root_bound!s:.30}, but a selection worth {known!s:.40} is known: omit it.")
    return result


def searched(
    problem: Problem,
    strategy: Strategy,
    limits: Limits,
    seed: int,
    *,
    on_progress: Callable[[Run], bool | None] | None = None,
    root_bound: Key | None = None,
    bound: str = "root",
    start: Iterable[int] | None = None,
    ready: set[Hashable] | None = None,
    greedily: bool = True,
    before: Run | None = None,
    cutoff: Key | None = None,
) -> Result:
    """Search like `search`, with a strategy as an object; callers postpone Ctrl-C (`postponing`), which takes time.

    `ready`: the kinds of problems (`Problem.prepared_as`) for which the strategy is prepared; new kinds are added.
    `greedily`: whether an exact search starts from the greedy selection. `before`: an earlier run on the same problem,
    whose evaluations and selection are reused. `cutoff`: `Run.cutoff`.
    """
    bounded = problem.can(Capability.BOUND) and bound != "none"
    known: set[Hashable] = set() if ready is None else ready
    kind = problem.prepared_as
    strategy.accept(problem)
    if kind is None or kind not in known:
        get_ready(problem, strategy, bound)
        known.add(kind)
    certify: Callable[[Deadline], Key | None] | None = None if bound != "none" else lambda _: None
    if bounded and root_bound is None and not strategy.exact:
        certify = partial(import_module(CERTIFICATE).certify, problem)
    if bound == "none" and limits.gap is not None and not strategy.exact:
        raise OptionError("A gap is measured by a bound, which --bound=none omits: leave out --gap, or --bound=none.")
    seen = problem if strategy.exact else problem.lighter
    begin = _start_greedily if strategy.exact and greedily else None
    run = Run(seen, limits, None, seed, on_progress, root_bound, certify, begin)
    run.cutoff = cutoff
    if before is not None:
        run.known, run.evaluation_s = before.known, before.evaluation_s
    termination, detail, handled = Termination.COMPLETED, None, sys.exception()
    try:
        if bounded and limits.gap is not None and not strategy.exact:
            run.raise_root_bound()
        if start is not None:
            _hold(run, start)
        if before is not None and before.selection is not None:
            run.see(before.selection)
        run.check()
        run.be_searched(strategy.search)
    except Stopped as stop:
        termination, detail = stop.termination, stop.detail
    except (Exception, KeyboardInterrupt) as error:
        if behind(error, KeyboardInterrupt, handled) is None:
            raise
        termination = Termination.INTERRUPTED
    searched, bound_s = run.elapsed, None
    if run.proven:
        try:
            _hold_proof(run, strategy)
        except KeyboardInterrupt:
            termination = Termination.INTERRUPTED
    if not run.proven or termination is Termination.INTERRUPTED:
        if _finish_late(run, termination, bounded=bounded):
            termination = Termination.INTERRUPTED
        bound_s = run.elapsed - searched if bounded else None
    return _result(run, strategy, termination, detail, Timing(search_s=run.elapsed, bound_s=bound_s))


def _hold_bound(problem: Problem, who: str, value: Key, bound: Key) -> None:
    if exceeds(problem.sense, value, bound):
        raise BackendError(
            f"{who} states a bound of {bound!s:.40}, but a selection worth {value!s:.40} is known: this bound is not "
            "valid."
        )


def _hold_proof(run: Run, strategy: Strategy) -> None:
    """Refuse a proof by a strategy of one's own if it is a heuristic, or if greedy search refutes it."""
    if is_ours(strategy):
        return
    if not strategy.exact:
        raise BackendError(
            f"The strategy {strategy.name} calls run.prove(), but is not exact: set exact = True in its class if a "
            "search that completes proves its answer, or leave the call out."
        )
    _refute(run, strategy, run.limits.late(run.deadline))


def is_ours(part: object) -> bool:
    return type(part).__module__.partition(".")[0] == "optsum"


def _refute(run: Run, strategy: Strategy, deadline: Deadline) -> None:
    """Refuse the incumbent as an optimum, or none as a proof of infeasibility, if greedy search knows better."""
    check = Run(run.problem, Limits(), seed=run.seed)
    check.known, claimed = run.known, run.evaluation
    if not run.is_slow and run.limits.evaluations is None:
        _start_greedily(check, deadline)
    known = check.evaluation
    if known is not None and (claimed is None or exceeds(run.problem.sense, known.key, claimed.key)):
        what = "the problem infeasible" if claimed is None else f"{claimed.value} optimal"
        raise BackendError(
            f"The strategy {strategy.name} calls {what}, but a selection worth {known.value} is known: its answer is "
            "not valid."
        )


def _hold(run: Run, start: Iterable[int]) -> None:
    if excess := run.see(whole_numbers(start, "Unit {} of the start", ordered=False)).violation:
        raise InputError(f"The starting selection violates the limits by {excess}: give one that keeps them.")
    run.statistics["start"] = run.evaluation.value if run.evaluation is not None else None


def _finish_late(run: Run, termination: Termination, *, bounded: bool) -> bool:
    """Give a run without a proof a greedy selection and, if `bounded`, a root bound; return whether Ctrl-C came."""
    interrupted = termination is Termination.INTERRUPTED
    deadline = run.limits.late(run.deadline, interrupted=interrupted)
    if termination in _OTHER_LIMITS:  # a short search with few nodes should not be followed by a long bound
        deadline = deadline.within(max(run.limits.grace_s, _BOUND_S + run.elapsed))
    if run.evaluation is not None and run.bound is not None:  # both are known, and hardly improve now
        deadline = deadline.within(INTERRUPTED_S)
    # An exact search that a limit or an option of its solver ended may hold a worse selection than greedy search finds.
    steps = (run.begin, run.raise_root_bound) if bounded else (run.begin,)
    for left, step in zip(range(len(steps), 0, -1), steps, strict=True):
        try:
            step(deadline.within(deadline.left_s / left))
        except Stopped:
            pass  # the target or the gap is reached, or the time is over
        except KeyboardInterrupt:
            deadline.interrupt()
    return interrupted or deadline.reason == "interrupted"


@cache
def _greedy() -> Strategy:
    return STRATEGIES.create(DEFAULT_HEURISTIC, {})


def _start_greedily(run: Run, deadline: Deadline) -> None:
    """Start a run with the greedy selection, within a deadline and the remaining evaluations."""
    greedy = _greedy()
    greedy.prepare(run.problem)
    time_s, most = deadline.left_s if deadline.limited else None, run.limits.evaluations
    limits = Limits(time_s=time_s, evaluations=None if most is None else max(0, most - run.evaluations))
    started = Run(run.problem.lighter, limits, None, run.seed, lambda _: deadline.reason != "interrupted")
    started.known, started.evaluation_s = run.known, run.evaluation_s
    try:
        started.be_searched(greedy.search)
    except Stopped:
        pass
    finally:
        run.count(evaluations=started.evaluations)
        if started.selection is not None:
            run.see(started.selection)


def get_ready(problem: Problem, strategy: Strategy, bound: str = "root") -> None:
    """Compile or load every kernel for searches of problems like this one, and for the bound of a heuristic."""
    strategy.prepare(problem)  # first: it may refuse
    problem.prepare()
    if strategy.exact:  # an exact search starts from the greedy selection
        _greedy().prepare(problem)
    if problem.can(Capability.BOUND) and not strategy.exact and bound != "none":
        import_module(CERTIFICATE).prepare(problem)


def result_of_sets(
    problem: Problem, strategy: Strategy, optima: Optima, seconds: float, limits: Limits
) -> tuple[Result, Optima]:
    """Return the first of the enumerated optima as one result, scored afresh, and the optima in agreement with it.

    If a limit was reached before the proof, the result is the greedy selection if that is better, and a bound may prove
    it; then it is the only known optimum.
    """
    if not isinstance(optima, Optima):
        raise BackendError(f"The strategy {strategy.name} enumerates {optima!r:.60}: let it return optsum.Optima.")
    known = None if problem.can(Capability.COVERAGE) else optima.bound
    run = Run(problem, Limits(), root_bound=known, starting=_start_greedily)
    run.statistics.update(optima.statistics)
    run.known.update(optima.known)
    run.count(nodes=optima.nodes)
    first = next(iter(optima), None) if optima.best is None else optima.best
    if first is not None and not run.see(first).feasible:
        raise BackendError(f"{strategy.name} gives a selection that violates the limits: this is not a valid result.")
    if not is_ours(strategy):
        _hold_sets(run, strategy, optima, limits)
    if not optima.proven:
        deadline = limits.late(Deadline(0.0), interrupted=optima.termination == "interrupted")
        if not optima.known:
            run.begin(deadline)
        if problem.can(Capability.BOUND):
            run.raise_root_bound(deadline)
    value = optima.value if run.evaluation is None else worth(problem, run.evaluation.key)
    if optima.bound is not None and not is_ours(strategy):
        _hold_bound(problem, f"The strategy {strategy.name}", value, optima.bound)
    bounds = {optima.bound, None if run.bound is None else worth(problem, run.bound)}
    if optima.proven or (run.evaluation is not None and value in bounds):
        run.prove()
    result = _result(run, strategy, Termination.COMPLETED, None, Timing())
    if not optima.proven and run.selection is not None:
        alone = optima.least is None and (value != optima.value or not optima)
        optima = replace(
            optima,
            diagram=Diagram.of_sets([run.selection]) if alone else optima.diagram,
            value=value,
            bound=value if result.status is Status.OPTIMAL else optima.bound,
            best=None if optima.best is None else run.selection,
        )
    # The termination is that of the enumeration: the optimum may be proven even if not all optima are known.
    found = OptimaFields(count=optima.count, complete=optima.complete)
    return result.changed(termination=Termination(optima.termination), seconds=seconds, enumeration=found), optima


def _hold_sets(run: Run, strategy: Strategy, optima: Optima, limits: Limits) -> None:
    """Refuse sets of a strategy of one's own whose first ones have other values than it says, or that are not best."""
    sense, said = run.problem.sense, None
    for found in islice(optima.diagram, 0 if run.is_slow else _CHECKED):
        seen = run.evaluate(found) if max(found, default=0) < run.problem.size or not found else None
        if seen is None or not seen.feasible:
            said = "names a unit that does not exist" if seen is None else "violates the limits"
        else:
            exact = isinstance(seen.key, Rational)
            value: Any = worth(run.problem, seen.key) if exact else seen.key
            claimed, least = (each if exact or each is None else float(each) for each in (optima.value, optima.least))
            other = exceeds(sense, value, claimed) or exceeds(sense, claimed, value)
            if other if least is None else exceeds(sense, least, value):
                said = f"is worth {value}"
        if said is not None:
            raise BackendError(
                f"The strategy {strategy.name} enumerates sets of value {optima.value}, but {found} {said}: its answer "
                "is not valid."
            )
    if optima.proven:
        _refute(run, strategy, limits.late(Deadline(0.0)))


def _result(run: Run, strategy: Strategy, termination: Termination, detail: str | None, timing: Timing) -> Result:
    held, bound, problem = run.evaluation, run.bound, run.problem
    own_bound = problem.can(Capability.COMPLETIONS) and not problem.can(Capability.LINEAR)
    if own_bound and held is not None and bound is not None:
        hold_bound(problem, bound, (), tuple(range(problem.size)), run.selection or (), held)
    if held is not None and bound is not None and bound != run.root_bound:  # which others have claimed
        _hold_bound(problem, f"The strategy {strategy.name}", held.key, bound)
    proven = run.proven or (strategy.exact and is_certified(run))
    proven = proven and termination in _PROOF_MAY_STAND
    if held is not None:
        status = Status.OPTIMAL if proven else Status.FEASIBLE
    else:
        status = Status.INFEASIBLE if proven else Status.NO_SOLUTION
    shown = None
    if bound is not None:
        shown = float(held.value if held is not None and held.key == bound else problem.value_of(bound))
    return _EMPTY.changed(
        id=problem.name or None,
        strategy=strategy.name,
        backend=run.backend or strategy.backend_name,
        status=status,
        termination=termination,
        detail=detail or run.detail,
        objective=None if held is None else float(held.value),
        bound=shown,
        objective_exact=None if held is None else exact_text(held.key),
        bound_exact=exact_text(bound),
        selection=run.selection,
        length=None if run.selection is None else problem.length(run.selection),
        seconds=run.elapsed,
        timing=timing,
        seed=run.seed,
        evaluations=run.evaluations,
        nodes=run.nodes,
        statistics=run.statistics if run.ran is None else {**run.statistics, "ran": run.ran},
        trace=tuple(run.trace),
        version=__version__,
        extra={},  # a new one, which callers may change
    )


def exact_text(key: Key | None) -> str | None:
    """Return an exact value as text for rows, such as "19/40"; None for a float."""
    return str(Fraction(key)) if isinstance(key, Rational) else None
