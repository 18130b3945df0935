"""The reference that gives most: a problem for each reference of a topic, and one answer.

Lin & Hovy 2003, section 5, hold oracles against one human summary, the one of best agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum, inf
from typing import Any, Final, TypeAlias, TypeVar

from optsum.contracts.result import Result, Status, Termination, Timing
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Key
from optsum.errors import InputError
from optsum.optima.algebra import union
from optsum.optima.diagram import Diagram
from optsum.registry import QUICK, STRATEGIES
from optsum.running.results import finished, unsolved
from optsum.running.search import exact
from optsum.running.setup import Setup
from optsum.system.clock import clock
from optsum.system.deadline import NEVER, Deadline, TimeOver

T = TypeVar("T")

Single: TypeAlias = Callable[[int, Topic, Setup, "Key | None"], Result]
"""Searches a topic with one reference, by its number, as a setup says; with the root bound, if it is known."""

_LARGE: Final = 100  # Sentences of a topic from which on a bound is worth its time before a search.

_PROVEN = {Status.OPTIMAL, Status.INFEASIBLE}


def best_of_references(topic: Topic, setup: Setup, single: Single) -> Result:
    """Return the result of the reference that gives most.

    Where a topic is large, greedy search and a bound come first for every reference. An exact strategy then searches
    them, the largest bound first, and leaves out those whose bound is below what another is known to give.

    What was found for one reference may be worth more on another, where the search for that one missed it: every
    selection is held against all references, unless the best is proven.

    `single`: searches the topic with one of its references.

    Notes
    -----
    A time limit is shared by the references. Together they get half a second more to be held against all selections;
    what is not built by then stays as it was found.
    """
    began = clock()
    large = len(topic.sentences) >= _LARGE and len(topic.references) > 1
    bounded = large and setup.strategy.exact and setup.options.bound != "none"
    first = replace(setup, strategy=STRATEGIES.create(QUICK, {})) if bounded else setup
    setups = shares(first, topic)
    results = for_each_reference(
        topic,
        lambda number, part: single(number, part, next(setups), None),
        unsearched=lambda part: unsolved(part.id, setup, Termination.INTERRUPTED),
        result_of=lambda result: result,
    )
    parts = dict(each_reference(topic))
    if bounded:
        _search_hopeful(results, parts, setup, single, began)
    best = best_result(results).changed(strategy=setup.strategy.name)
    if best.status in _PROVEN:
        return best
    found = [result.selection for _, result in results if result.selection is not None]
    interrupted, limits = best.termination is Termination.INTERRUPTED, setup.limits
    endless = limits.time_s is None and not interrupted
    deadline = NEVER if endless else limits.late(Deadline(0.0), interrupted=interrupted)
    try:
        for place, (number, old) in enumerate(results):
            results[place] = number, _with_best(parts[number], setup, old, found, deadline)
    except KeyboardInterrupt:
        return best.changed(termination=Termination.INTERRUPTED)
    return best_result(results).changed(strategy=setup.strategy.name)


def _search_hopeful(
    results: list[tuple[int, Result]], parts: Mapping[int, Topic], setup: Setup, single: Single, began: float
) -> None:
    """Put exact results in the place of bounded ones that may be the best, the largest bound first.

    A search that its share of the time limit ended is made again if others leave it more than it had.
    """
    given: dict[int, float] = {}  # seconds that each was searched for

    def hopeful(left_s: float) -> list[int]:
        top = max((result.key for _, result in results if result.key is not None), default=None)
        return [
            place
            for place, (_, result) in enumerate(results)
            if result.bound_key is None or top is None or result.bound_key >= top
            if place not in given or (result.termination is Termination.TIME_LIMIT and left_s > given[place])
        ]

    def hope(place: int) -> tuple[bool, bool, Key, int]:
        bound = results[place][1].bound_key
        return place not in given, bound is None, bound or 0, -place

    while True:
        limits = setup.limits.after(clock() - began)
        if not (left := hopeful(inf if limits.time_s is None else limits.time_s)):
            return
        place = max(left, key=hope)
        number, quick = results[place]
        if quick.termination is Termination.INTERRUPTED:
            return
        share_s = limits.time_s and limits.time_s / len(left)
        share = replace(limits, time_s=share_s, grace_s=limits.grace_s / len(results))
        given[place] = inf if share_s is None else share_s
        try:
            result = single(number, parts[number], replace(setup, limits=share), quick.bound_key)
        except KeyboardInterrupt:
            results[place] = number, quick.changed(termination=Termination.INTERRUPTED)
            return
        results[place] = number, _merged(quick, result)
        if result.termination is Termination.INTERRUPTED:
            return


def _merged(quick: Result, result: Result) -> Result:
    """Return the exact result of a reference, or what was found before if that is better; times are summed."""
    if quick.key is not None and (result.key is None or quick.key > result.key):
        result = quick.changed(termination=result.termination, detail=result.detail, statistics=result.statistics)
    return result.changed(
        seconds=quick.seconds + result.seconds,
        evaluations=quick.evaluations + result.evaluations,
        nodes=quick.nodes + result.nodes,
        timing=Timing.total([quick.timing, result.timing]),
    )


def each_reference(topic: Topic) -> Iterator[tuple[int, Topic]]:
    """Yield the topic once for each reference, with that reference alone."""
    if len(topic.references) < 2:
        yield 0, topic
        return
    for number in range(len(topic.references)):
        yield number, topic.with_references([number])


def for_each_reference(
    topic: Topic,
    answer: Callable[[int, Topic], T],
    unsearched: Callable[[Topic], T],
    result_of: Callable[[T], Result],
) -> list[tuple[int, T]]:
    """Return what `answer` says of each reference; one that has nothing to count cannot be the best.

    After Ctrl-C the other references are not searched, but what is `unsearched` of them is in the list: nothing is
    known of all references then. `result_of` an answer tells whether it was interrupted.
    """
    found: list[tuple[int, T]] = []
    refused: InputError | None = None
    interrupted = False
    for number, part in each_reference(topic):
        try:
            found.append((number, unsearched(part) if interrupted else answer(number, part)))
            interrupted = interrupted or result_of(found[-1][1]).termination is Termination.INTERRUPTED
        except InputError as error:
            refused = refused or error
        except KeyboardInterrupt:
            if not found:
                raise
            found.append((number, unsearched(part)))
            interrupted = True
    if not found and refused is not None:
        raise refused
    return found


def shares(setup: Setup, topic: Topic) -> Iterator[Setup]:
    """Yield the setup of each reference's problem in turn: a time limit is of all, and what is left is split evenly.

    It is counted from when the first is asked for.
    """
    began, all_of_them = clock(), max(1, len(topic.references))
    for left in range(all_of_them, 0, -1):
        limits = setup.limits.after(clock() - began)
        share = replace(limits, time_s=limits.time_s and limits.time_s / left, grace_s=limits.grace_s / all_of_them)
        yield replace(setup, limits=share)


def best_result(results: Sequence[tuple[int, Result]]) -> Result:
    """Return the result of the reference that gives most (the first of equals), as that of all of them.

    It is optimal only if no other reference can give more: each is solved, or its bound is not above. The bound is the
    largest; times and counts are summed. ``reference`` says which it is, ``reference_objectives`` what each gives.
    """
    held = [(number, result) for number, result in results if result.key is not None]
    bounds = [result.bound_key for _, result in results if result.status is not Status.INFEASIBLE]
    known: list[Key] = [bound for bound in bounds if bound is not None]
    largest = max(known) if known and len(known) == len(bounds) else None
    number, best = max(held, key=lambda one: (one[1].key or 0, -one[0])) if held else results[0]
    top = best.key
    others = [result for _, result in results if result is not best]
    proven = best.status in _PROVEN and all(
        result.status is Status.INFEASIBLE or (top is not None and reaches(top, result)) for result in others
    )
    statistics: dict[str, Any] = dict(best.statistics)
    if estimates := [result.estimate_s for _, result in results if result.estimate_s is not None]:
        statistics["estimate_s"] = fsum(estimates)
    statistics["reference_objectives"] = {str(number): result.objective for number, result in results}
    status, termination = best.status, best.termination
    if proven and not any(result.termination is Termination.INTERRUPTED for result in others):
        termination = termination if status is Status.OPTIMAL else Termination.COMPLETED
    else:
        status = {Status.OPTIMAL: Status.FEASIBLE, Status.INFEASIBLE: Status.NO_SOLUTION}.get(status, status)
        termination = _why(best, others)
    source = next((result for _, result in results if largest is not None and result.bound_key == largest), None)
    return best.changed(
        status=status,
        termination=termination,
        bound=None if source is None else source.bound,
        bound_exact=None if source is None else source.bound_exact,
        seconds=fsum(result.seconds for _, result in results),
        evaluations=sum(result.evaluations for _, result in results),
        nodes=sum(result.nodes for _, result in results),
        timing=Timing.total(result.timing for _, result in results),
        statistics=statistics,
        extra={**best.extra, "reference": number if held else None},
    )


def reaches(key: Key, result: Result) -> bool:
    """Whether a value is proven to be at least as good as every selection of a problem."""
    if result.status is Status.OPTIMAL and result.key is not None:
        return key >= result.key
    return result.bound_key is not None and key >= result.bound_key


def _why(best: Result, others: Sequence[Result]) -> Termination:
    stopped = [result.termination for result in (best, *others) if result.termination is not Termination.COMPLETED]
    if Termination.INTERRUPTED in stopped:
        return Termination.INTERRUPTED
    return stopped[0] if stopped else Termination.COMPLETED


def _with_best(part: Topic, setup: Setup, old: Result, found: Iterable[tuple[Any, ...]], deadline: Deadline) -> Result:
    """Return a result with the best of the selections, as the input numbers them, that were found for any reference."""
    try:
        task = setup.formulation.task(part, setup.spec_for(part).with_all_units().until(deadline))
    except TimeOver:
        return old
    number_of = {name: unit for unit, name in enumerate(task.units)}
    key, better = old.key, None
    for names in dict.fromkeys(found):
        if not number_of.keys() >= set(names):
            continue
        selection = tuple(sorted(number_of[name] for name in names))
        evaluation = task.problem.evaluate(selection)
        if evaluation.feasible and (key is None or task.problem.sense.better(evaluation.key, key)):
            key, better = evaluation.key, (selection, evaluation)
    if better is None:
        return old
    selection, evaluation = better
    held = old.changed(
        status=Status.FEASIBLE,
        objective=float(evaluation.value),
        objective_exact=exact(evaluation.key),
        selection=selection,
    )
    now = clock()
    result = finished(task, setup, held, began=now, built=now)
    return result.changed(seconds=old.seconds, timing=old.timing, statistics=old.statistics)


def union_of(
    families: Sequence[tuple[Diagram, Sequence[Any]]], names: Sequence[Any] | None = None
) -> tuple[Diagram, tuple[Any, ...]]:
    """Return the union of the families, and the names of its units.

    `families`: pairs of a diagram and the names of its units, ascending. `names`: what the units of the union are
    called, ascending; those of all families by default. `names`: of its units, ascending.
    """
    called = tuple(sorted({name for _, units in families for name in units})) if names is None else tuple(names)
    number = {name: unit for unit, name in enumerate(called)}
    renamed = []
    for diagram, units in families:
        nodes = diagram.nodes.copy()
        nodes[2:, 0] = [number[units[unit]] for unit in nodes[2:, 0].tolist()]
        renamed.append(Diagram(nodes, diagram.root))
    return (union(renamed) if renamed else Diagram.of_sets([])), called
