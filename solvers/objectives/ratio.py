"""One ratio whose denominator varies (precision, F1): Dinkelbach 1967 on the exact engine.

With the incumbent's ratio p / q the engine is asked for a selection with ``q T - p D > 0``. None is the proof, and
every selection with ``q T - p D >= 0`` is then an optimum: all of them, as one diagram, by one more enumeration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.climb import climb
from optsum.coverage.evaluate import key_of, score
from optsum.coverage.instance import Coverage
from optsum.errors import BackendError
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Optima
from optsum.problem.problem import Selection
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline

from ..engine.driver import Driver
from ..engine.program import Program, program_of, spread
from .guards import guarded
from .meter import Meter, all_of, least

_LARGEST = 2**54  # Programs may reach this.


class Best:
    """The best selection so far; whatever an engine claims is scored afresh here."""

    def __init__(self, instance: Coverage) -> None:
        self._instance = instance
        self.selection: Selection | None = None
        self.key = Fraction(-1)
        self.totals: tuple[int, ...] = ()

    def see(self, units: Iterable[int]) -> bool:
        """Take a selection if it is feasible and better; return whether it is."""
        selection = tuple(sorted(units))
        totals, length, violation = score(self._instance, selection)
        if violation:
            return False
        key = key_of(self._instance, totals, length)
        if key <= self.key:
            return False
        self.selection, self.key, self.totals = selection, key, totals
        return True

    def see_first(self, start: Selection | None, deadline: Deadline) -> None:
        """Take a selection that is known, otherwise what greedy search chooses by the deadline, where it serves."""
        climbed = climb(self._instance, deadline) if start is None else None
        self.see((() if climbed is None else climbed.units) if start is None else start)

    def see_any(self, meter: Meter) -> None:
        """Take some selection that keeps all rows, where there are rows and nothing was taken yet."""
        if self.selection is not None or not self._instance.rows:
            return
        program = program_of(self._instance, [0] * len(self._instance.constants))
        with meter.engine(program) as engine:
            found = engine.one_of(least(program, engine, 0)) if engine.feasible else None
        if found is not None:
            self.see(found)

    def optima(
        self, tied: Diagram | None, reason: Termination | None, statistics: Mapping[str, Any], *, proven: bool
    ) -> Optima:
        """Return the end of a search: all optima if `tied` holds them, or some; otherwise this selection alone.

        Its value is compared as the instance compares, and its bound is None if it is not `proven` to be the optimum.
        """
        if tied is None or not tied.root:
            tied = Diagram.of_sets([] if self.selection is None else [self.selection])
        key = max(self.key, Fraction(0))
        ending = Termination.COMPLETED if reason is None else reason
        return Optima(tied, key, key if proven else None, reason is None, ending.value, statistics)


def fits(instance: Coverage) -> bool:
    """Whether the programs for all ratios that selections have fit the engine's integers."""
    top, bottom = reaches(instance)
    return 2 * (top + 1) * (bottom + 1) * spread(instance.rows) < _LARGEST


def ratio_program(instance: Coverage, ratio: Fraction) -> Program:
    """Return the program ``q T - p D`` over selections with D > 0, for a ratio p / q."""
    p, q = ratio.numerator, ratio.denominator
    top, _ = reaches(instance)
    penalty = q * top + p * abs(min(0, int(instance.constants[1]))) + 1
    return guarded(program_of(instance, (q, -p)), instance, [1], penalty)


def solve_ratio(
    instance: Coverage,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    *,
    every: bool,
    start: Selection | None = None,
) -> Optima:
    """Find one optimum, or all, of an instance of one ratio.

    `limits`: of time, nodes and memory, together for all programs. `deadline`: instead of the time limit. `start`: a
    feasible set, which is known to be good; otherwise that of a greedy search.
    """
    meter = Meter(limits or Limits(), deadline)
    best = Best(instance)
    best.see_first(start, meter.deadline)
    proven, reason = False, None
    tied: Diagram | None = None
    try:
        best.see_any(meter)
        while not proven:
            ratio = max(best.key, Fraction(0))
            program = ratio_program(instance, ratio)
            with meter.engine(program) as engine:
                if engine.feasible and best.selection is None:
                    best.see(engine.guess()[0])
                if best.key <= ratio and not _improved(program, engine, best):
                    proven = True
                    if every and best.key > 0:
                        tied, reason = all_of(program, engine, 0)
        if every and best.selection is not None and best.key <= 0:  # whatever is feasible is worth nothing
            program = program_of(instance, (0, 0))
            with meter.engine(program) as engine:
                tied, reason = all_of(program, engine, 0)
    except Stopped as stopped:
        reason = stopped.termination
    return best.optima(tied, reason, meter.as_dict(), proven=proven)


def _improved(program: Program, engine: Driver, best: Best) -> bool:
    """Look for a selection with a better ratio than the program's."""
    wanted = least(program, engine, 1)
    found = engine.one_of(wanted) if engine.feasible and engine.upper >= wanted else None
    if found is not None and not best.see(found):
        raise BackendError("branch-and-bound found no better ratio where its program has one.")
    return found is not None
