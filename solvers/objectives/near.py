"""All selections that are nearly as good as the best, for every objective that branch and bound serves.

First the optimum is proven, which says how much a selection must be worth; then all sets that are worth as much are
enumerated, by the engine that enumerates optima, at a lower target:

================  ===================================================================================================
objective         all selections S worth at least V
================  ===================================================================================================
recall            numerator(S) >= ceil(V D), the program itself
one ratio T / D   q T - p D >= 0 with p / q the least fraction >= V whose denominator is no larger than any D can be
sums, products    the programs that no selection worth V escapes, and exact evaluation of what they hold
covers            every feature reached by selections no longer than V: the most features that a length allows
================  ===================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.clauses import is_cover
from optsum.coverage.instance import Combination, Coverage, Sense
from optsum.optima.diagram import Diagram
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Optima
from optsum.optima.tally import chosen_sets, power_of, step_of, worth_of_sets
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline

from ..covers import enumerate_covers
from ..engine.driver import Driver
from ..engine.program import Program, program_of
from .meter import Meter, all_of, least
from .ratio import fits, ratio_program, solve_ratio
from .recall import optimum_of, recall_program
from .sums import reaching_sum, solve_sum
from .whole_text import LengthTable, is_whole_text, solve_whole_text

LISTED: Final = 2_000_000  # Sets that are evaluated one and all to find how many different values there are.


def near_optima(instance: Coverage, nearness: Nearness, limits: Limits, deadline: Deadline, *, linear: bool) -> Optima:
    """Return all selections that are near the best.

    `limits`: of nodes and memory, for the proof of the optimum and the enumeration together. `linear`: whether one
    integer decides, and the engine holds it. The result: its values are compared ones, ``least`` is the threshold and
    ``best`` a selection of the best value. If the best value is not proven, there is no threshold (unless it is given
    as a value), and the family holds the good set alone; if a limit comes after the proof, the family holds some of
    the sets.
    """
    if is_cover(instance):
        reach = _of_cover(instance, limits, deadline)
    else:
        reach = (_of_recall if linear else _of_ratios)(instance, limits, deadline)
    found, threshold, reason = reach.found, None, None
    diagram = found.diagram
    if found and (found.complete or nearness.known):
        if nearness.values is not None:
            diagram, threshold, reason = _best_values(reach, nearness.values)
        else:
            key, step, power = Fraction(found.value), step_of(instance), power_of(instance)
            threshold = nearness.least(key, instance.goal, step=step, power=power)
            diagram, reason = reach.sets(threshold)
    return replace(
        found,
        diagram=diagram,
        complete=found.complete and reason is None,
        termination=found.termination if reason is None else reason.value,
        statistics={**reach.statistics(), "diagram": len(diagram.nodes)},
        least=threshold,
        best=next(iter(found), None),
    )


def _best_values(reach: _Reach, wanted: int) -> tuple[Diagram, Fraction, Termination | None]:
    """Return all selections of the `wanted` best values: one enumeration, lower ones as long as values are missing.

    The first is as low as it must be if every step has a selection; after that the distance doubles.
    """
    instance = reach.instance
    shortest = instance.goal is Sense.MINIMIZE
    best = Fraction(reach.found.value)
    step = step_of(instance) or max(abs(best) / 200, Fraction(1, 10**6))
    last = Fraction(int(instance.lengths.sum())) if shortest else Fraction(0)
    away = step * (wanted - 1)
    while True:
        low = min(last, best + away) if shortest else max(last, best - away)
        diagram, reason = reach.sets(low)
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


@dataclass(frozen=True)
class _Reach:
    """The optimum of an instance, and how to enumerate the sets that reach any other value."""

    instance: Coverage
    found: Optima  # One of them, or a good set at a limit, if there is any; its values as they are compared.
    # Returns all sets that reach a threshold, or some of them and the limit that was reached.
    sets: Callable[[Fraction], tuple[Diagram, Termination | None]]
    statistics: Callable[[], Mapping[str, Any]]


def _of_recall(instance: Coverage, limits: Limits, deadline: Deadline) -> _Reach:
    """Search recall by its engine, for the optimum or for nearly optimal selections."""
    bottom, program = int(instance.constants[1]), recall_program(instance)
    try:
        engine = Driver(program, limits, deadline)
    except Stopped as stopped:
        nothing, most = Diagram.of_sets([]), Fraction(reaches(instance)[0], bottom)
        found = Optima(nothing, 0, most, complete=False, termination=stopped.termination.value)
        return _Reach(instance, found, lambda _: (nothing, None), dict)
    lowest = least(program, engine, program.floor)

    def key_of(value: int) -> Fraction:
        return Fraction(value * engine.divisor + program.base, bottom)

    def sets(threshold: Fraction) -> tuple[Diagram, Termination | None]:
        node, reason = engine.all_of(max(0, lowest, least(program, engine, ceil(threshold * bottom))))
        return engine.store.diagram(node), reason

    def statistics() -> Mapping[str, Any]:
        return engine.finish().as_dict()

    selection, termination, key, bound = None, Termination.COMPLETED, Fraction(0), Fraction(0)
    if engine.feasible:
        selection, value, upper, termination = optimum_of(engine, lowest)
        if selection is not None:
            key = key_of(value)
        if selection is not None or termination is not Termination.COMPLETED:
            bound = key_of(upper)
    diagram = Diagram.of_sets([] if selection is None else [selection])
    complete = termination is Termination.COMPLETED
    return _Reach(instance, Optima(diagram, key, bound, complete, termination.value), sets, statistics)


def _of_ratios(instance: Coverage, limits: Limits, deadline: Deadline) -> _Reach:
    """Ratios whose denominators vary are searched by programs that belong to a value."""
    one = instance.ratios == 1 and instance.combination is not Combination.PRODUCT and not instance.ceilings
    one = one and fits(instance)
    table = LengthTable(instance) if is_whole_text(instance) else None
    solve = solve_whole_text if table is not None else solve_ratio if one else solve_sum
    found = solve(instance, limits, deadline, every=False)
    meter = Meter(limits, deadline)
    meter.statistics.nodes = found.nodes

    def sets(threshold: Fraction) -> tuple[Diagram, Termination | None]:
        if threshold <= 0:
            return _enumerated(program_of(instance, [0] * len(instance.constants)), meter)
        if one or table is not None:
            rounded = smallest_fraction(threshold, max(1, reaches(instance)[1]))
            if table is not None:
                diagram, reason = table.all_of(rounded, limits, deadline)
                return found.diagram if reason is not None else diagram, reason
            return _enumerated(ratio_program(instance, rounded), meter)
        return reaching_sum(instance, threshold, next(iter(found), ()), meter)

    return _Reach(instance, found, sets, meter.as_dict)


def _of_cover(instance: Coverage, limits: Limits, deadline: Deadline) -> _Reach:
    """Covers are the selections that reach every feature, so their engine maximizes what is reached."""
    found = enumerate_covers(instance, limits.after(0.0), every=False, should_stop=lambda: deadline.passed)
    meter = Meter(limits, deadline)
    meter.statistics.nodes = found.nodes

    def sets(threshold: Fraction) -> tuple[Diagram, Termination | None]:
        if threshold < 0:
            return Diagram.of_sets([]), None
        within = replace(instance, goal=Sense.MAXIMIZE, max_length=floor(threshold), constants=instance.constants * 0)
        full = int(instance.level[instance.level_start[1:] - 1].sum())
        return _enumerated(program_of(within, (1, 0)), meter, full)

    return _Reach(instance, found, sets, meter.as_dict)


def _enumerated(program: Program, meter: Meter, value: int = 0) -> tuple[Diagram, Termination | None]:
    """Return all sets for which a program reaches a value."""
    try:
        with meter.engine(program) as engine:
            return all_of(program, engine, value)
    except Stopped as stopped:
        return Diagram.of_sets([]), stopped.termination


def smallest_fraction(value: Fraction, largest: int) -> Fraction:
    """Return the least fraction >= a value whose denominator is at most `largest`.

    The convergents of the value and those between them bracket it by neighbours in the Farey sequence (as
    `Fraction.limit_denominator` does, which returns the nearer of the two).

    Examples
    --------
    >>> smallest_fraction(Fraction(314, 1000), 20)
    Fraction(6, 19)
    """
    if value.denominator <= largest:
        return value
    p0, q0, p1, q1 = 0, 1, 1, 0
    n, d = value.numerator, value.denominator
    while True:
        a = n // d
        q2 = q0 + a * q1
        if q2 > largest:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
        n, d = d, n - a * d
    k = (largest - q0) // q1
    return max(Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1))
