"""Branch and bound: one proven optimum, or all optima as a decision diagram.

An instance of best similarities (`Facility`) is first searched with few similarity levels of each token, then with more
until the optimum is valid for all levels. The value of a selection in such a truncated instance (`Facility.truncated`)
is at least its value in the full one, so that bounds are valid. The floor of a token is its highest level that is not
kept. If the optimum reaches all floors, both values are equal, and it is optimal. Otherwise more levels are kept of the
tokens whose floors it misses, and the search is repeated; every round keeps more, so that the process ends.

For one optimum of an instance with a constant denominator, levels are added during the search for better sets
(`Refining`). A search on a truncated instance for sets that reach a target, which rises with each set found
(`Driver.rising`), may find a set that misses floors and has a lower true value. Then more levels are kept, and the
search continues with the remaining subtrees: finished subtrees have no set that reaches the target with fewer levels,
hence none with more. If no subtree remains, no set reaches the target. Targets descend from the bound in growing steps.
The first targets are cheap, and sets found there are near the optimum, so that the levels of good selections are known
before the costly proof. If denominators vary and selections are few, all are visited instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf, isfinite
from numbers import Rational
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.strategy import Run, Strategy, limits_left
from optsum.coverage.instance import Coverage, Facility, IntArray, Joint, Key, Sense, key_of, score
from optsum.errors import BackendError, OptionError, UnsupportedError
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Nearness, Optima
from optsum.optima.tally import chosen_sets, power_of, step_of, worth_of_sets
from optsum.problem.problem import (
    Capability,
    CoverageProblem,
    Evaluation,
    Problem,
    Selection,
    checked_bound,
    hold_bound,
    require,
    worth,
)
from optsum.program.model import is_cover
from optsum.program.ratio_bound import MANY_JOINTS
from optsum.program.surrogate import reaches
from optsum.registry import CLIMBER, STRATEGIES
from optsum.system.clock import Deadline, Limits, Stopped, Termination, clock
from optsum.system.compiled import compiles

from .engine.core import States, is_linear, program_of, with_minimum_row
from .engine.driver import Budget, Driver, Statistics, rehearsal, sets_reaching
from .engine.search import NodeStore
from .exhaustive.strategy import Exhaustive, Flips, Pairs, evaluated_near, is_few, seconds_of, size_of_best
from .few_units import prepare_few_units, prove_extracts, see, serve, two_ratios
from .objectives.covers import enumerate_covers, solve_cover
from .objectives.one_ratio import (
    ByLength,
    LengthTable,
    fits,
    is_whole_text,
    none_found,
    ratio_program,
    recall_program,
    servable,
    solve_by_parts,
    solve_knapsack,
    solve_ratio,
    solve_recall,
    solve_whole_text,
)
from .objectives.sums import reaching_sum, solve_sum, tightened

if TYPE_CHECKING:
    from optsum.problem.objective import Extracts

_FEW: Final = 400  # Evaluations without a proof after which a greedy selection is found.
_MANY: Final = 27  # Approximate size of a good selection above which `solve_sum` proves one ratio sooner.
_MANY_OF_FEW: Final = 40  # The same if the length limit binds, which leaves less to search.
_FREE: Final = 1.25  # If 1.25 times as many units fit as a good selection has, the length limit cannot bind.


def bounds_itself(problem: Problem) -> bool:
    """Return whether a problem has its own bound of completions (`Problem.bound`), and is not in the normal form."""
    return not problem.can(Capability.COVERAGE) and problem.can(Capability.COMPLETIONS)


def search_by_own_bound(run: Run) -> None:
    better = run.problem.sense.better

    def is_hopeless(bound: Key) -> bool:
        return run.evaluation is not None and not better(bound, run.evaluation.key)

    for _ in visit(run, is_hopeless):
        if run.evaluations > _FEW:  # counted, not timed, so that a repeated search visits the same selections
            run.begin()
    run.prove()


def visit(run: Run, is_hopeless: Callable[[Key], bool]) -> Iterator[tuple[Selection, Evaluation]]:
    """Yield each selection that no bound excludes, with its evaluation.

    `is_hopeless`: whether a subtree with this bound can be skipped. The best unit by its value alone is decided first;
    the branch with a unit comes before the branch without it.
    """
    problem = run.problem
    run.check()
    evaluation = run.see(())
    yield (), evaluation
    units, worth = tuple(range(problem.size)), []
    for unit in units:
        run.check()
        run.count(evaluations=1)
        worth.append(run.evaluate((unit,)).key)
    order = sorted(units, key=worth.__getitem__, reverse=problem.sense.better(1, 0))  # the best first; feasible or not
    root = checked_bound(problem.bound((), units))
    hold_bound(problem, root, (), units, (), evaluation)
    tree: list[tuple[Selection, int, Key | None]] = [((), 0, root)]
    left: list[Key | None] = [tree[0][2]]
    try:
        _take_note(run, left)
        while tree:
            run.check()
            chosen, place, bound = tree.pop()
            if bound is None or is_hopeless(bound) or place == problem.size:
                continue
            left = [bound]  # until both branches are in the tree
            run.count(nodes=1)
            wider, rest = tuple(sorted((*chosen, order[place]))), tuple(sorted(order[place + 1 :]))
            without = _tighter(problem, bound, problem.bound(chosen, rest))
            run.deadline.check()  # a user's own bound may take long
            fits = problem.fits(wider)
            within = _tighter(problem, bound, problem.bound(wider, rest)) if fits else None
            tree.append((chosen, place + 1, without))
            if fits:
                tree.append((wider, place + 1, within))
            left = []
            if fits:
                evaluation = run.see(wider)
                hold_bound(problem, within, wider, rest, wider, evaluation)
                yield wider, evaluation
    except (Stopped, KeyboardInterrupt):
        with suppress(Stopped):
            _take_note(run, [*left, *(bound for _, _, bound in tree)])
        raise


def _take_note(run: Run, bounds: Iterable[Key | None]) -> None:
    known = [bound for bound in bounds if bound is not None]
    if run.evaluation is not None:
        known.append(run.evaluation.key)
    if known:
        loosest = max(known) if run.problem.sense.better(1, 0) else min(known)
        if isinstance(loosest, Rational) or isfinite(loosest):
            run.raise_bound(Fraction(loosest))


def _tighter(problem: Problem, known: Key, bound: Key | None) -> Key | None:
    bound = checked_bound(bound)
    return known if bound is not None and problem.sense.better(bound, known) else bound


_VISIT_S: Final = 60.0  # Longest visit of all selections (s) that replaces a search of ratios that does not end.
_NODES_BEFORE: Final = 1_000  # Nodes of a search before a visit of all selections replaces it.
_NODES_A_SECOND: Final = 20_000  # Additional nodes of that search for each second that the visit would take.
_CLIMBED: Final = 20_000_000  # Largest number of evaluations (a second) in `_climb`, without joints.
_COMPARED: Final = 2_000_000_000  # The same for similarities, times tokens and units.
_LARGE: Final = 100_000  # Similarities (tokens times units) from which on a long search begins with heuristics.
_LONG_S: Final = 4.0  # Time limit (s) from which on a search is long.
_BOUND_S: Final = 60.0  # Longest computation (s) of the bound of such a search.
_IDLE: Final = 20  # Iterations without improvement after which this climb ends; the search improves on it.


@dataclass(frozen=True)
class BranchAndBound(Strategy):
    """Depth-first search with a bound at every node.

    Parameters
    ----------
    bound : {"lagrangian", "knapsack"}
        "lagrangian": the bound of the linear relaxation in integers, fixing, merging of equal states; for every
        objective (`objectives`). "knapsack": the paper's baseline (Hirao et al. 2017, Algorithms 1-3), only without a
        minimum length. Minimum covers have their own search (`covers`) in both cases. "root" and "none" are for other
        searches, and mean "lagrangian" here.
    """

    bound: str = "lagrangian"

    name: ClassVar[str] = "branch-and-bound"
    about: ClassVar[str] = "proves one optimum, or enumerates all, with Lagrangian bounds (or --bound knapsack)"
    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.COVERAGE})
    exact: ClassVar[bool] = True
    flags: ClassVar[tuple[str, ...]] = ("bound",)
    enumerates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.bound not in {"lagrangian", "knapsack", "root", "none"}:
            raise OptionError(f"There is no bound {self.bound!r}: use lagrangian or knapsack.")

    def accept(self, problem: Problem) -> None:
        if bounds_itself(problem):
            if self.bound == "knapsack":
                raise UnsupportedError(
                    "The bound knapsack is only for texts, and this problem has bounds of its own: leave out --bound."
                )
            return
        if not problem.can(Capability.COVERAGE):
            raise UnsupportedError(
                "The strategy branch-and-bound needs a problem in the normal form, or one that bounds its completions, "
                f"which this one ({type(problem).__name__}) is not: define its bound, or use auto or exhaustive."
            )
        instance = problem.coverage
        if instance.goal is Sense.MINIMIZE:
            if is_cover(instance):
                return
            raise UnsupportedError(
                "branch-and-bound minimizes only lengths of covers (each feature once, no parents, no vetoes, no side "
                "constraints): use milp."
            )
        if self.bound == "knapsack":
            require(problem, frozenset({Capability.COMBINATORIAL_BOUND}), "The bound knapsack")
            if problem.min_length > 0:
                raise UnsupportedError("The knapsack bound is not valid with a minimum length: use --bound=lagrangian.")
        elif not instance.constant_denominator and (why := servable(instance)):
            raise UnsupportedError(f"branch-and-bound cannot search this problem: {why}; use exhaustive.")

    def prepare(self, problem: Problem | None = None) -> None:
        """Run each kernel that the problem may need once, so that it is compiled, on instances that need a search."""
        if problem is not None and (not problem.can(Capability.COVERAGE) or is_cover(problem.coverage)):
            return
        if self.bound == "knapsack":
            compiles(_run_knapsack)()
            return
        prepare_few_units()
        compiles(_run_recall)()
        if problem is None or not is_linear(problem.coverage):
            compiles(_run_sums)()
        if problem is None or not problem.coverage.singletons:
            compiles(_run_ties)()

    def search(self, run: Run) -> None:
        if self.bound == "knapsack" or bounds_itself(run.problem) or not serve(run):
            self.search_further(run)

    def prove_extracts(self, extracts: Extracts) -> Extracts | None:
        return None if self.bound == "knapsack" else prove_extracts(extracts)

    def search_further(self, run: Run, most: int | None = None) -> bool:
        """Find and prove one optimum without `few_units`; raise `Stopped` at a limit of the run.

        `most`: largest number of nodes of a search of ratios. The result is False if this search is given up after
        `most` nodes, and True if the optimum is proven.
        """
        if bounds_itself(run.problem):
            search_by_own_bound(run)
            return True
        coverage = run.problem.coverage
        if isinstance(coverage, Facility):
            if self.bound != "knapsack" and is_linear(coverage):
                Refining(run, coverage).search()
            elif self.bound != "knapsack" and _visits(run.problem, limits_left(run)):
                Exhaustive().search(run)
            else:
                search_by_levels(run, coverage, self.search)
            return True
        if coverage.goal is Sense.MINIMIZE:
            solve_cover(run)
            return True
        if self.bound != "knapsack":
            coverage = with_minimum_row(coverage.merged)
        linear, limits = is_linear(coverage), limits_left(run)
        if linear:
            if self.bound == "knapsack":
                found = solve_knapsack(coverage, limits, run.deadline, every=False)
            else:
                known = None if run.root_bound is None else Fraction(run.root_bound)
                found = solve_by_parts(coverage, limits, run.deadline, every=False, at_most=known, start=run.selection)
            _conclude(run, found)
            return True
        if coverage.ceilings:
            coverage = tightened(coverage, run.deadline)
            if serve(run, coverage):
                return True
            limits = limits_left(run)
        if len(coverage.joints) > MANY_JOINTS:
            _climb(run, CoverageProblem.of(coverage.changed(joints=())), _CLIMBED)
            limits = limits_left(run)
        patience = _patience(run.problem, limits)
        visits = patience is not limits and (most is None or (patience.nodes or 0) <= most)
        patient = not visits and (most is None or (limits.nodes is not None and limits.nodes <= most))
        limits = patience if visits else limits if patient else replace(limits, nodes=most)
        found = _solve_ratios(coverage, limits, run.deadline, every=False, start=run.selection, cutoff=run.cutoff)
        given_up = found.termination == Termination.NODE_LIMIT and not patient
        _conclude(run, found, given_up=given_up)
        if given_up and visits:
            Exhaustive().search(run)
        return visits or not given_up

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        self.accept(problem)
        if bounds_itself(problem):
            within = Nearness(within=Fraction(0))
            return evaluated_near(problem, within, limits, should_stop, search_by_own_bound, visit).near(None, None)
        coverage = problem.coverage
        if isinstance(coverage, Facility):
            if self.bound != "knapsack" and _visits(problem, limits):
                return Exhaustive().enumerate(problem, limits, should_stop)
            return all_by_levels(coverage, limits, should_stop, self.enumerate)
        if coverage.goal is Sense.MINIMIZE:
            return enumerate_covers(coverage, limits, should_stop=should_stop)
        if self.bound != "knapsack":
            coverage = with_minimum_row(coverage.merged)
        began, deadline = clock(), Deadline(limits.time_s, should_stop)
        if is_linear(coverage):
            solve = solve_knapsack if self.bound == "knapsack" else solve_by_parts
            return _shown(problem, solve(coverage, limits, deadline, every=True))
        patient = _patience(problem, limits)
        found = _solve_ratios(tightened(coverage, deadline), patient, deadline, every=True)
        if found.termination == Termination.NODE_LIMIT and patient is not limits:
            return Exhaustive().enumerate(problem, limits.after(clock() - began), should_stop)
        found = replace(found, statistics={**found.statistics, "diagram": len(found.diagram.nodes)})
        return _shown(problem, _bounded(problem, found, limits, deadline))

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        self.accept(problem)
        if bounds_itself(problem):
            return evaluated_near(problem, nearness, limits, should_stop, search_by_own_bound, visit)
        coverage = problem.coverage
        if self.bound == "knapsack" and coverage.goal is Sense.MAXIMIZE:
            raise UnsupportedError(
                "--bound=knapsack enumerates only optima, not near-optimal selections: use --bound=lagrangian."
            )
        if isinstance(coverage, Facility):
            return all_by_levels(coverage, limits, should_stop, lambda part, *rest: self.near(part, nearness, *rest))
        coverage = with_minimum_row(coverage.merged)
        began, deadline = clock(), Deadline(limits.time_s, should_stop)
        linear = is_linear(coverage) or coverage.goal is Sense.MINIMIZE
        patient = limits if linear else _patience(problem, limits)
        found = near_optima(tightened(coverage, deadline), nearness, patient, deadline, linear=linear)
        if found.termination == Termination.NODE_LIMIT and patient is not limits:
            return Exhaustive().near(problem, nearness, limits.after(clock() - began), should_stop)
        return _shown(problem, _bounded(problem, found, limits, deadline))

    def by_length(
        self, problem: Problem, lengths: Sequence[int], limits: Limits, deadline: Deadline
    ) -> ByLength | None:
        if bounds_itself(problem):
            return None
        coverage = problem.coverage
        whole = limits.gap is None and limits.target is None and limits.evaluations is None
        plain = coverage.goal is Sense.MAXIMIZE and not isinstance(coverage, Facility)
        if self.bound == "knapsack" or not (whole and plain and is_linear(coverage)):
            return None
        return ByLength.of(coverage, lengths, limits, deadline)


def _climb(run: Run, problem: Problem, evaluations: int) -> None:
    """Find a good selection by a heuristic on a problem with the same selections, whose evaluations are far quicker."""
    left = run.deadline.left_s / 8
    limits = Limits(evaluations=evaluations, time_s=left if isfinite(left) else None)
    climber = STRATEGIES.create(CLIMBER, {"no_improvement": _IDLE})
    climber.prepare(problem)
    found = Run(problem, limits, seed=run.seed, on_progress=lambda _: run.deadline.reason != "interrupted")
    with suppress(Stopped):
        found.be_searched(climber.search)
    run.count(evaluations=found.evaluations)
    if found.selection is not None:
        run.see(found.selection)
    run.check()


def _shown(problem: Problem, found: Optima) -> Optima:
    bound = None if found.bound is None else worth(problem, found.bound)
    return replace(found, value=worth(problem, found.value), bound=bound)


def _bounded(problem: Problem, found: Optima, limits: Limits, deadline: Deadline) -> Optima:
    """Return optima that an engine found, with the root bound of the problem if the engine has no bound."""
    if found.bound is not None:
        return found
    root = problem.root_bound(limits.late(Deadline(0.0), interrupted=deadline.reason == "interrupted"))
    # Without a selection, a bound of 0 would look like a proof that there is none.
    least = Fraction(found.value) if found else Fraction(1)
    return found if root is None else replace(found, bound=max(least, Fraction(root)))


def _conclude(run: Run, found: Optima, *, given_up: bool = False) -> None:
    run.nodes += found.nodes
    run.statistics.update(found.statistics)
    for selection in found:
        see(run, selection, Fraction(found.value))
    if found.complete:
        run.prove()  # before the bound is raised, because a limit of the gap would end the finished search
        return
    if found and found.bound is not None:
        run.raise_bound(found.bound)
    if not given_up:
        raise Stopped(Termination(found.termination))


def _patience(problem: Problem, limits: Limits) -> Limits:
    """Return limits with fewer nodes if a quick visit of all selections can replace a search that exceeds them."""
    seconds = seconds_of(problem, _VISIT_S)
    if problem.coverage.joints:  # the estimate is for `Pairs`, which cannot visit joints
        seconds *= Pairs.rate / Flips.rate
    if seconds > _VISIT_S:  # it may be infinite
        return limits
    nodes = _NODES_BEFORE + int(seconds * _NODES_A_SECOND)
    return limits if limits.nodes is not None and limits.nodes <= nodes else replace(limits, nodes=nodes)


def _visits(problem: Problem, limits: Limits) -> bool:
    """Return whether all selections are visited, which is quicker than levels if they are few and denominators vary."""
    if is_linear(problem.coverage) or limits.nodes is not None or limits.evaluations is not None:
        return False
    return is_few(problem, inf if limits.time_s is None else limits.time_s)


def _is_one_ratio(coverage: Coverage) -> bool:
    return coverage.combination.is_itself(coverage.weights) and not coverage.ceilings and fits(coverage)


def _takes_many(coverage: Coverage) -> bool:
    """Return whether one ratio has many joints, or is large only for many units."""
    if len(coverage.joints) > MANY_JOINTS:
        return True
    if int((np.cumsum(np.sort(coverage.lengths)) <= coverage.max_length).sum()) <= _MANY:
        return False  # not even that many of the shortest units fit
    size, fitting = size_of_best(coverage)
    return size > _MANY if fitting > _FREE * size else min(size, fitting) > _MANY_OF_FEW


def _solve_ratios(
    coverage: Coverage,
    limits: Limits,
    deadline: Deadline,
    *,
    every: bool,
    start: Selection | None = None,
    cutoff: Key | None = None,
) -> Optima:
    """Return the optima of varying ratios, by `solve_sum` unless they are one ratio that the programs of one prove.

    `solve_sum` leaves out the joints that no good selection has, and improves its incumbent before anything is proven,
    which small searches do not need.
    """
    if is_whole_text(coverage):
        return solve_whole_text(coverage, limits, deadline, every=every, start=start)
    solve = solve_ratio if _is_one_ratio(coverage) and not _takes_many(coverage) else solve_sum
    return solve(coverage, limits, deadline, every=every, start=start, cutoff=cutoff)


def _run_recall() -> None:
    NodeStore().grow()  # a kernel of large searches only
    for every in (False, True):
        with rehearsal() as deadline:
            solve_recall(_tough(), Limits(nodes=3_000), deadline, every=every)


def _run_ties() -> None:
    """Search a program with trees, joints and costs that is not solved at the root."""
    units = range(36)
    instance = Coverage.of(
        [2 + unit * unit % 7 for unit in units],
        [{(7 * unit + 11 * step) % 24: 1 + unit % 2 for step in range(3)} for unit in units],
        [[3, 2, 1]] * 24 + [[1]],
        slots=[0] * 24 + [1],
        parents=[-1 if unit % 3 == 0 else unit - 1 for unit in units],
        joints=(*(Joint(unit % 24, (unit, unit + 2), (unit + 1,)) for unit in range(0, 33, 3)), Joint(24, (1, 5))),
        max_length=45,
    )
    with rehearsal() as deadline:
        engine = Driver(program_of(instance, (5, -1)), Limits(), deadline)
        engine.guess()
        while engine.one_of(engine.upper) is None:
            engine.upper -= 1
        engine.all_of(engine.upper)


def _run_knapsack() -> None:
    for every in (False, True):
        with rehearsal() as deadline:
            solve_knapsack(_tough(), Limits(nodes=3_000), deadline, every=every)


def _run_sums() -> None:
    with rehearsal() as deadline:
        solve_sum(two_ratios(), Limits(nodes=3_000), deadline, every=True)


def _tough() -> Coverage:
    units = range(40)
    copies = [{(7 * unit + 11 * step) % 30: 1 + unit % 2 for step in range(5)} for unit in units]
    return Coverage.of(
        [5 + unit * unit % 7 for unit in units], copies, [[3, 2, 1]] * 30, constants=(0, 180), max_length=60
    )


# Returns all sets that reach a threshold, or some of them and the limit that was reached.
_Sets: TypeAlias = Callable[[Fraction], tuple[Diagram, Termination | None]]
# One optimum, or a good set if a limit was reached, if there is any; and a function that returns the statistics.
_Reach: TypeAlias = tuple[Optima, _Sets, Callable[[], Mapping[str, Any]]]
LISTED: Final = 2_000_000  # Largest number of sets that are evaluated one by one to count their different values.


def near_optima(instance: Coverage, nearness: Nearness, limits: Limits, deadline: Deadline, *, linear: bool) -> Optima:
    """Return all near-optimal selections, for every objective that branch and bound supports.

    First the optimum is proven, which gives the threshold; then the engine that enumerates optima enumerates all sets
    that reach the threshold.
    """
    search = _of_cover if instance.goal is Sense.MINIMIZE else _of_recall if linear else _of_ratios
    found, sets, statistics = search(instance, limits, deadline)
    diagram, threshold, reason = found.diagram, None, None
    if found and (found.complete or nearness.known):
        if nearness.values is not None:
            diagram, threshold, reason = _best_values(instance, Fraction(found.value), sets, nearness.values)
        else:
            key, step, power = Fraction(found.value), step_of(instance), power_of(instance)
            threshold = nearness.least(key, instance.goal, step=step, power=power)
            diagram, reason = sets(threshold)
    return replace(
        found,
        diagram=diagram,
        complete=found.complete and reason is None,
        termination=found.termination if reason is None else reason.value,
        statistics={**statistics(), "diagram": len(diagram.nodes)},
        least=threshold,
        best=next(iter(found), None),
    )


def _best_values(
    instance: Coverage, best: Fraction, sets: _Sets, wanted: int
) -> tuple[Diagram, Fraction, Termination | None]:
    """Return the selections with the `wanted` best values, the least of these values, and the limit that was reached.

    One enumeration suffices if some selection attains each possible value; otherwise it is repeated with twice the
    distance from the optimum.
    """
    shortest = instance.goal is Sense.MINIMIZE
    step = step_of(instance) or max(abs(best) / 200, Fraction(1, 10**6))
    last = Fraction(int(instance.lengths.sum())) if shortest else Fraction(0)
    away = step * (wanted - 1)
    while True:
        low = min(last, best + away) if shortest else max(last, best - away)
        diagram, reason = sets(low)
        if reason is not None:
            return diagram, low, reason
        if diagram.count > LISTED:
            return diagram, low, Termination.MEMORY_LIMIT
        worth = worth_of_sets(instance, diagram)
        if len(worth.keys) >= wanted or low == last:
            threshold = worth.keys[min(wanted, len(worth.keys)) - 1]
            if len(worth.keys) > wanted:
                diagram = Diagram.of_sets(chosen_sets(diagram, worth.which < wanted))
            return diagram, threshold, None
        away = max(2 * away, step)


def _of_recall(instance: Coverage, limits: Limits, deadline: Deadline) -> _Reach:
    bottom = int(instance.constants[1])
    try:
        engine = Driver(recall_program(instance), limits, deadline)
    except Stopped as stopped:
        return none_found(instance, stopped), lambda _: (Diagram.of_sets([]), None), dict

    def sets(threshold: Fraction) -> tuple[Diagram, Termination | None]:
        lowest = max(0, engine.aim(engine.program.floor), engine.aim(ceil(threshold * bottom)))
        node, reason = engine.all_of(lowest)
        return engine.store.diagram(node), reason

    return engine.optima(bottom, every=False), sets, engine.as_dict


def _of_ratios(instance: Coverage, limits: Limits, deadline: Deadline) -> _Reach:
    """Search varying ratios; a new program is made for each value to be reached."""
    table = LengthTable(instance) if is_whole_text(instance) else None
    found = _solve_ratios(instance, limits, deadline, every=False)
    budget = Budget(limits, deadline)
    budget.statistics.nodes = found.nodes

    def sets(threshold: Fraction) -> tuple[Diagram, Termination | None]:
        if threshold <= 0:
            return sets_reaching(program_of(instance, [0] * len(instance.constants)), budget)
        if table is not None or (_is_one_ratio(instance) and len(instance.joints) <= MANY_JOINTS):
            rounded = smallest_fraction(threshold, max(1, reaches(instance)[1]))
            if table is not None:
                try:
                    return table.all_of(rounded, limits, deadline), None
                except Stopped as stopped:
                    return found.diagram, stopped.termination
            return sets_reaching(ratio_program(instance, rounded), budget)
        return reaching_sum(instance, threshold, next(iter(found), ()), budget)

    return found, sets, budget.as_dict


def _of_cover(instance: Coverage, limits: Limits, deadline: Deadline) -> _Reach:
    """Search covers; an engine that maximizes the covered features enumerates longer covers."""
    found = enumerate_covers(instance, limits, every=False, should_stop=lambda: deadline.passed)
    budget = Budget(limits, deadline)
    budget.statistics.nodes = found.nodes

    def sets(threshold: Fraction) -> tuple[Diagram, Termination | None]:
        if threshold < 0:
            return Diagram.of_sets([]), None
        within = replace(instance, goal=Sense.MAXIMIZE, max_length=floor(threshold), constants=instance.constants * 0)
        full = int(instance.level[instance.level_start[1:] - 1].sum())
        return sets_reaching(program_of(within, (1, 0)), budget, full)

    return found, sets, budget.as_dict


def smallest_fraction(value: Fraction, largest: int) -> Fraction:
    """Return the least fraction >= a value whose denominator is at most `largest`.

    If the nearest fraction p / q is less, the result is its successor in the Farey sequence: the fraction r / s with
    ``r q - p s = 1`` and the largest s.

    Examples
    --------
    >>> smallest_fraction(Fraction(314, 1000), 20)
    Fraction(6, 19)
    """
    near = value.limit_denominator(largest)
    if near >= value:
        return near
    p, q = near.numerator, near.denominator
    s = largest - (largest + pow(p, -1, q)) % q
    return Fraction((p * s + 1) // q, s)


_PARTS: Final = 16  # The first target is 1 / `_PARTS` of the gap below the bound.
_GROWTH: Final = 3  # Ratio of each step between targets to the one before.


class Refining:
    """A search for one proven optimum of a `Facility` with a constant denominator; levels are added as it goes on."""

    def __init__(self, run: Run, facility: Facility) -> None:
        self._run, self._facility = run, facility
        self._full = int(facility.constants[1])
        self._kept: IntArray = facility.first_kept()
        self._total = Statistics()
        self._upper: int | None = None if run.bound is None else floor(Fraction(run.bound) * self._full)
        self._target, self._passes = 0, 0
        self._undone: list[States] = []
        self._missed: tuple[int, ...] = ()

    def search(self) -> None:
        run, rounds = self._run, 0
        while not run.proven:
            run.check()
            rounds += 1
            program = recall_program(with_minimum_row(_truncated(self._facility, self._kept, rounds)))
            engine = Driver(program, limits_left(run), run.deadline)
            try:
                if not engine.feasible:
                    run.prove()
                    return
                self._bounded(engine.worth(engine.upper))
                if rounds == 1:
                    run.see(engine.guess()[0])
                    if _begins(run, self._facility):
                        run.begin()
                self._close(engine)
            finally:
                done = engine.finish()
                self._total.add(done)
                run.count(nodes=done.nodes)
                run.statistics.update({**vars(self._total), "seconds": dict(self._total.seconds), "rounds": rounds})

    def _close(self, engine: Driver) -> None:
        run, value = self._run, self._value()
        while self._upper is None or value < self._upper:
            if not self._undone:
                upper = self._upper if self._upper is not None else value + 1
                step = max(1, (upper - value) // _PARTS) * _GROWTH**self._passes
                self._target, self._passes = max(value + 1, upper - step + 1), self._passes + 1

            def judge(units: tuple[int, ...]) -> int | None:
                return engine.aim(self._target) if self._reaches(units) else None

            self._undone = engine.rising(engine.aim(self._target), judge, self._undone)
            if self._undone:
                more = self._facility.more_kept(self._kept, self._missed)
                if (more == self._kept).all():
                    claim = f"{self._target} for {sorted(self._missed)}"
                    raise BackendError(f"branch-and-bound claims {claim}: this is not a valid result.")
                self._kept = self._facility.more_kept(more, run.selection or ())
                return
            value = self._value()
            self._bounded(self._target - 1)
        run.prove()

    def _reaches(self, units: tuple[int, ...]) -> bool:
        """Record a set that reaches the target with the kept levels; return whether its true value reaches it, too."""
        found = self._run.see(units)
        if not found.feasible:
            raise BackendError(
                f"branch-and-bound found {sorted(units)}, but the problem calls this infeasible: report this fault of "
                "optsum, or of the problem's class, and use another strategy."
            )
        reached = Fraction(found.key) * self._full >= self._target
        if not reached:
            self._missed = units
        self._target = max(self._target, self._value() + 1)
        return reached

    def _value(self) -> int:
        found = self._run.evaluation
        return -1 if found is None else int(Fraction(found.key) * self._full)

    def _bounded(self, upper: int) -> None:
        self._upper = upper if self._upper is None else min(upper, self._upper)
        # A bound must not be below the value of the best selection found.
        self._run.raise_bound(Fraction(max(self._upper, self._value()), self._full))


def _truncated(facility: Facility, kept: IntArray, rounds: int) -> Coverage:
    """Return the truncated instance; raise `Stopped` if it is too large in a later round, because much is known."""
    try:
        return facility.truncated(kept)
    except UnsupportedError as error:
        if rounds == 1:
            raise
        raise Stopped(Termination.MEMORY_LIMIT) from error


def _begins(run: Run, facility: Facility) -> bool:
    """Return whether a search begins with heuristics, because it may end at a limit of time before it finds as much."""
    limits = run.limits
    limited = limits.nodes is not None or limits.evaluations is not None
    return facility.similar.size >= _LARGE and not limited and (limits.time_s is None or limits.time_s >= _LONG_S)


def search_by_levels(run: Run, facility: Facility, search: Callable[[Run], None]) -> None:
    """Find and prove one optimum of an instance of best similarities by calling `search` on truncated instances."""
    kept, rounds = facility.first_kept(), 0
    if _begins(run, facility):
        run.begin()
        run.raise_root_bound(run.deadline.within(min(_BOUND_S, run.deadline.left_s / 4)))
        run.check()
        _climb(run, run.problem.lighter, _COMPARED // facility.similar.size)
    while True:
        rounds += 1
        left = run.limits.after(run.elapsed, nodes=run.nodes, evaluations=run.evaluations)
        left = replace(left, gap=None, target=None)
        problem = CoverageProblem.of(_truncated(facility, kept, rounds))
        # A bound with fewer levels is valid with more; a good selection with fewer levels is a good start.
        bound = run.root_bound if run.bound is None else run.bound
        inner = Run(problem, left, run.rng, run.seed, lambda _: run.deadline.reason != "interrupted", bound)
        if run.selection is not None:
            inner.see(run.selection)
        try:
            search(inner)
        finally:
            run.count(evaluations=inner.evaluations, nodes=inner.nodes)
            run.statistics.update({**inner.statistics, "rounds": rounds})
            run.detail = inner.detail or run.detail
            if inner.selection is not None:
                run.see(inner.selection)
            if inner.bound is not None:
                run.raise_bound(inner.bound)
        if not inner.proven:
            return
        if inner.evaluation is None or (run.evaluation is not None and run.evaluation.key == inner.evaluation.key):
            run.prove()
            return
        run.check()
        kept = facility.more_kept(kept, inner.selection or ())


def all_by_levels(
    facility: Facility,
    limits: Limits,
    should_stop: Callable[[], bool] | None,
    enumerate_: Callable[[Problem, Limits, Callable[[], bool] | None], Optima],
) -> Optima:
    """Return all optima, or near-optimal sets, of an instance of best similarities, found on truncated instances.

    On a truncated instance, values are at least as high, so `enumerate_` finds all optima of the full instance. If each
    set that it finds reaches all floors, all of them are optima of the full instance.
    """
    began, kept, nodes, rounds = clock(), facility.first_kept(every=True), 0, 1
    instance = facility.truncated(kept)
    while True:
        left = limits.after(clock() - began, nodes=nodes)
        found = enumerate_(CoverageProblem.of(instance), left, should_stop)
        nodes += found.nodes
        found = replace(found, statistics={**found.statistics, "nodes": nodes, "rounds": rounds})
        missed = _missed(facility, facility.floors(kept), found.diagram)
        if found.best is not None:
            missed |= _missed(facility, facility.floors(kept), Diagram.of_sets([found.best]))
        if not missed.any():
            return found
        kept, rounds = np.where(missed, 2 * kept, kept), rounds + 1
        if found.complete:
            try:
                instance = facility.truncated(kept)
            except UnsupportedError:  # too many levels
                found = replace(found, complete=False, termination=Termination.MEMORY_LIMIT)
        if not found.complete:
            best = found.best if found.best is not None else next(iter(found), None)
            totals = (0,) if best is None else score(facility, best)[0]
            value = totals[0] if facility.constant_denominator or best is None else key_of(facility, totals, 0)
            known = Diagram.of_sets([] if best is None else [best])
            return replace(found, diagram=known, value=value, least=None, best=best)


def _missed(facility: Facility, floors: IntArray, diagram: Diagram) -> NDArray[np.bool_]:
    """Return for each token whether a non-empty set of a diagram misses its floor."""
    tokens = len(floors)
    everything = (1 << tokens) - 1
    below = np.packbits(floors > facility.similar.T, axis=1, bitorder="little")
    outside = [int.from_bytes(row.tobytes(), "little") for row in below]
    # Bit r of node x: whether a set of its family has no unit that reaches the floor of token r; the second list is
    # for non-empty sets only, because the empty set has the value 0 anyway.
    any_set, with_units = [0, everything], [0, 0]
    for unit, without, with_ in diagram.rows[2:]:
        added = any_set[with_] & outside[unit]
        any_set.append(any_set[without] | added)
        with_units.append(with_units[without] | added)
    bits = with_units[diagram.root].to_bytes(-(-tokens // 8), "little")
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=tokens, bitorder="little").astype(bool)
