"""The functions of the exact engine: all optima, or one optimum, of a coverage instance."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Final

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, Diagram
from optsum.optima.optima import Optima
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline

from ..engine.driver import DEFAULT, Driver, Effort
from ..engine.program import Program, program_of
from .meter import least

_NARROW: Final = 64
"""Up to this distance between bound and a good set the targets of an enumeration are tried one by one."""

_NEAR: Final = 500  # A gap is small that is less than one such part of the bound.


def recall_program(coverage: Coverage) -> Program:
    """Return recall as the program it is."""
    if not coverage.constant_denominator:
        raise UnsupportedError("The exact engine serves recall here; use the strategy branch-and-bound for the rest.")
    return program_of(coverage, (1, 0))


def optimum_of(
    engine: Driver, floor: int, start: tuple[int, ...] | None = None
) -> tuple[tuple[int, ...] | None, int, int, Termination]:
    """Close the gap between a good set and the bound: set, value, bound, termination.

    What is worth less than `floor` keeps not all rows: without a set, nothing does, or nothing was found. `start` is a
    set that is known already.
    """
    guess, value = engine.guess()
    if start is not None and (known := engine.value_of(start)) >= value:
        guess, value = start, known
    return closed_in(engine, guess, value) if value >= floor else closed_in(engine, None, floor - 1)


def closed_in(
    engine: Driver, selection: tuple[int, ...] | None, value: int
) -> tuple[tuple[int, ...] | None, int, int, Termination]:
    """Close the gap between a set's value, or what stands for none, and the bound: set, value, bound, termination.

    Bounds are near optima more often than greedy sets are: steps from above are small and grow as they fail.
    """
    upper = engine.upper
    step = max(1, (upper - value) // 16)

    def judge(units: tuple[int, ...]) -> int | None:
        nonlocal selection, value
        selection, value = units, engine.value_of(units)
        return None if value >= upper else value + 1

    try:
        while value < upper:
            # Near the optimum one target takes as long as another.
            quarter = (upper - value) // 4 if (upper - value) * _NEAR < upper else 0
            most = (upper - value) // 2 + 1 if engine.met is not None else upper - value
            target = max(value + 1, upper - min(max(step, quarter), most) + 1)
            engine.rising(target, judge)
            if value < target:
                upper = target - 1
                step *= 2
            else:
                upper = value
            if engine.met is not None and engine.met[1] > value:
                judge(engine.met[0])
    except Stopped as stopped:
        if engine.met is not None and engine.met[1] > value:
            selection, value = engine.met
        return selection, value, upper, stopped.termination
    return selection, value, value, Termination.COMPLETED


def solve_recall(
    coverage: Coverage,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    *,
    every: bool,
    at_most: Fraction | None = None,
    start: tuple[int, ...] | None = None,
    effort: Effort = DEFAULT,
) -> Optima:
    """Find one optimum of a coverage instance, or all.

    Parameters
    ----------
    coverage : Coverage
        Recall (a constant denominator); a minimum length is allowed.
    limits : Limits, optional
    deadline : Deadline, optional
        Instead of the time limit.
    every : bool
        Whether all optima are wanted.
    at_most, start : optional
        For one optimum: a ratio that none passes, and a feasible set that is known to be good.
    effort : Effort

    Returns
    -------
    Optima
        Its value and bound are numerators. If a limit is reached, they are equal if the optimum is known all the same:
        the sets are then some of the optima. Otherwise the only set is a good one, or there is none.

    Raises
    ------
    Stopped
        At a limit, before anything is known of one optimum.
    """
    program = recall_program(coverage)
    nothing = Diagram.of_sets([])
    try:
        engine = Driver(program, limits or Limits(), deadline, effort, one=not every)
    except Stopped as stopped:
        if not every:
            raise
        return Optima(nothing, 0, reaches(coverage)[0], complete=False, termination=stopped.termination.value)
    if not engine.feasible:
        return Optima(nothing, 0, 0, statistics=engine.finish().as_dict())
    if at_most is not None:
        most = floor(at_most * int(coverage.constants[1])) - program.base
        engine.upper = min(engine.upper, most // engine.divisor)
    lowest, upper, node = least(program, engine, program.floor), engine.upper, EMPTY_FAMILY
    guess: tuple[int, ...] | None = None
    value, termination = lowest - 1, Termination.COMPLETED
    if every and upper > _NARROW:
        guess, value = engine.guess()
    if not every or (upper > _NARROW and upper - value > _NARROW):
        guess, value, upper, termination = optimum_of(engine, lowest, start)
    while every and termination is Termination.COMPLETED and node == EMPTY_FAMILY and upper >= lowest:
        node, reason = engine.all_of(upper)
        if reason is not None:
            termination = reason
        elif node == EMPTY_FAMILY:
            upper -= 1
    if termination is Termination.COMPLETED and node == EMPTY_FAMILY and (every or guess is None):
        return Optima(nothing, 0, 0, statistics=engine.finish().as_dict())  # no set keeps all rows
    if node != EMPTY_FAMILY:
        value, diagram = upper, engine.store.diagram(node)
    else:
        if value < lowest:
            guess, value = engine.guess()
        diagram = Diagram.of_sets([guess or ()]) if value >= lowest else nothing
    statistics = engine.finish()
    if every:
        statistics.diagram = len(diagram.nodes)
    return Optima(
        diagram,
        value * engine.divisor + program.base if value >= lowest else 0,
        upper * engine.divisor + program.base,
        complete=termination is Termination.COMPLETED,
        termination=termination.value,
        statistics=statistics.as_dict(),
    )
