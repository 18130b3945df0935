"""The functions of the exact engine: all optima, or one optimum, of a coverage instance."""

from __future__ import annotations

from dataclasses import dataclass
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
from optsum.system.deadline import Deadline

from ..engine.driver import DEFAULT, Driver, Effort
from ..engine.monitor import Statistics
from ..engine.program import Program, program_of
from .meter import least

_NARROW: Final = 64
"""Up to this distance between bound and a good set the targets of an enumeration are tried one by one."""

_NEAR: Final = 500  # A gap is small that is less than one such part of the bound.


@dataclass(frozen=True)
class Answer:
    """One set, and what is known about it."""

    selection: tuple[int, ...] | None  # sorted units, or None if no set meets the length limits
    # value, bound: numerators; equal if and only if the set is proven to be an optimum.
    value: int
    bound: int
    termination: Termination  # ``COMPLETED`` or the limit that was reached.
    statistics: Statistics

    @property
    def proven(self) -> bool:
        """Whether the value is the optimum (or there is no feasible set)."""
        return self.termination is Termination.COMPLETED


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


def solve_one(
    coverage: Coverage,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    at_most: Fraction | None = None,
    *,
    start: tuple[int, ...] | None = None,
    effort: Effort = DEFAULT,
) -> Answer:
    """Find one optimum of a coverage instance and prove it.

    `coverage`: recall (a constant denominator); a minimum length is allowed. `deadline`: instead of the time limit.
    `start`: a feasible set, which is known to be good.
    """
    program = recall_program(coverage)
    engine = Driver(program, limits or Limits(), deadline, effort, one=True)
    if not engine.feasible:
        return Answer(None, 0, 0, Termination.COMPLETED, engine.finish())
    if at_most is not None:
        most = floor(at_most * int(coverage.constants[1])) - program.base
        engine.upper = min(engine.upper, most // engine.divisor)
    selection, value, upper, termination = optimum_of(engine, least(program, engine, program.floor), start)
    if selection is None and termination is Termination.COMPLETED:
        return Answer(None, 0, 0, termination, engine.finish())
    return Answer(
        None if selection is None else tuple(sorted(selection)),
        value * engine.divisor + program.base,
        upper * engine.divisor + program.base,
        termination,
        engine.finish(),
    )


def solve_all(
    coverage: Coverage, limits: Limits | None = None, deadline: Deadline | None = None, *, effort: Effort = DEFAULT
) -> Optima:
    """Find all optima of a coverage instance.

    Parameters and errors are those of `solve_one`. If a limit is reached, the answer says what is proven: with
    ``value == bound`` the optimum is known and the sets are some of the optima; otherwise the only set is a good one.
    There is none, and the bound is what all features together are worth, if the deadline passes before anything is
    known.
    """
    program = recall_program(coverage)
    try:
        engine = Driver(program, limits or Limits(), deadline, effort)
    except Stopped as stopped:
        nothing, most = Diagram.of_sets([]), reaches(coverage)[0]
        return Optima(nothing, 0, most, complete=False, termination=stopped.termination.value)
    floor = least(program, engine, program.floor)
    if not engine.feasible:
        return Optima(Diagram.of_sets([]), 0, 0, complete=True, statistics=engine.finish().as_dict())
    upper, node = engine.upper, EMPTY_FAMILY
    reason: Termination | None = None
    guess: tuple[int, ...] | None = None
    value = floor - 1
    if upper > _NARROW:
        guess, value = engine.guess()
        if upper - value > _NARROW:
            guess, value, upper, termination = optimum_of(engine, floor)
            reason = None if termination is Termination.COMPLETED else termination
    while reason is None and node == EMPTY_FAMILY and upper >= floor:
        node, reason = engine.all_of(upper)
        if node == EMPTY_FAMILY and reason is None:
            upper -= 1
    if node != EMPTY_FAMILY:
        value, diagram = upper, engine.store.diagram(node)
    elif reason is None:  # no set keeps all rows
        return Optima(Diagram.of_sets([]), 0, 0, complete=True, statistics=engine.finish().as_dict())
    else:
        if value < floor:
            guess, value = engine.guess()
        diagram = Diagram.of_sets([guess or ()] if value >= floor else [])
    statistics = engine.finish()
    statistics.diagram = len(diagram.nodes)
    return Optima(
        diagram,
        value * engine.divisor + program.base if value >= floor else 0,
        upper * engine.divisor + program.base,
        complete=reason is None,
        termination=(reason or Termination.COMPLETED).value,
        statistics=statistics.as_dict(),
    )
