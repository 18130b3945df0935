"""One ratio whose denominator varies (precision, F1): Dinkelbach 1967 on the exact engine.

With the incumbent's ratio p / q the engine searches a selection with ``q T - p D > 0``. If there is none, the incumbent
is optimal, and another enumeration gives all optima, the selections with ``q T - p D >= 0``, as one diagram.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.evaluate import key_of, score
from optsum.coverage.instance import Coverage, Key
from optsum.coverage.state import fits as comparable
from optsum.errors import BackendError, UnsupportedError
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Optima
from optsum.problem.problem import Selection
from optsum.program.ratio_bound import greedy_units, one_varies
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline, Limits, Stopped, Termination

from ..engine.core import Program, first_gains, program_of, spread, with_feature
from ..engine.driver import Budget, engine_for, sets_reaching

_LARGEST = 2**54  # Programs may reach this.


class Incumbent:
    """The best selection so far; engines' claims are scored again here."""

    def __init__(self, instance: Coverage, cutoff: Key | None = None) -> None:
        self._instance = instance
        self.cutoff = Fraction(0) if cutoff is None else Fraction(cutoff)
        self.selection: Selection | None = None
        self.key = Fraction(-1)
        self.totals: tuple[int, ...] = ()

    @property
    def wanted(self) -> Fraction:
        """The value that better selections exceed: that of the selection, or of the cutoff if that is larger."""
        return max(self.key, self.cutoff)

    def see(self, units: Iterable[int]) -> bool:
        """Take a selection if it is feasible and better; return whether it was taken."""
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
        """Take a known selection, or else the greedy one found by the deadline.

        Both where values do not fit 64 bits: the known one may be that of a slower search, which had no time.
        """
        if start is not None:
            self.see(start)
        if start is None or not comparable(self._instance):
            self.see(greedy_units(self._instance, deadline))

    def see_any(self, budget: Budget) -> None:
        """Take some selection that keeps all rows, if there are rows and no selection yet."""
        if self.selection is not None or not self._instance.rows:
            return
        program = program_of(self._instance, [0] * len(self._instance.constants))
        with engine_for(program, budget) as engine:
            found = engine.one_of(engine.aim(0)) if engine.feasible else None
        if found is not None:
            self.see(found)

    def optima(
        self, tied: Diagram | None, reason: Termination | None, statistics: Mapping[str, Any], *, proven: bool
    ) -> Optima:
        """Return the result of a search: all or some optima in `tied`; otherwise only this selection.

        Its value is the compared one, and its bound is None if it is not `proven` optimal.
        """
        if tied is None or not tied.root:
            tied = Diagram.of_sets([] if self.selection is None else [self.selection])
        key, bound = max(self.key, Fraction(0)), self.wanted if proven else None
        ending = Termination.COMPLETED if reason is None else reason
        return Optima(tied, key, bound, reason is None, ending.value, statistics)


def fits(instance: Coverage) -> bool:
    """Whether the programs for all ratios of selections fit the engine's integers."""
    top, bottom = reaches(instance)
    return 2 * (top + 1) * (bottom + 1) * spread(instance.rows) < _LARGEST


def ratio_program(instance: Coverage, ratio: Fraction) -> Program:
    """Return the program ``q T - p D`` over selections with D > 0, for a ratio p / q."""
    p, q = ratio.numerator, ratio.denominator
    top, _ = reaches(instance)
    penalty = q * top + p * abs(min(0, int(instance.constants[1]))) + 1
    return guarded(program_of(instance, (q, -p)), instance, [1], penalty)


def dinkelbach(held: Callable[[], Fraction], beaten: Callable[[Fraction], bool], name: str) -> None:
    """Search for a larger ratio than the current one, repeatedly, until there is none (Dinkelbach 1967)."""
    while beaten(ratio := held()):
        if held() <= ratio:
            raise BackendError(f"{name} found no better ratio although its program has one: it would search forever.")


def solve_ratio(
    instance: Coverage,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    *,
    every: bool,
    start: Selection | None = None,
    cutoff: Key | None = None,
) -> Optima:
    budget = Budget(limits, deadline)
    best = Incumbent(instance, cutoff)
    best.see_first(start, budget.deadline)
    proven, reason = False, None
    tied: Diagram | None = None

    def beaten(ratio: Fraction) -> bool:
        nonlocal proven, tied, reason
        with engine_for(ratio_program(instance, ratio), budget) as engine:
            if engine.feasible and best.selection is None and best.see(engine.guess()[0]) and best.key > ratio:
                return True
            wanted = engine.aim(1)
            found = engine.one_of(wanted) if engine.feasible and engine.upper >= wanted else None
            if found is not None:
                best.see(found)
                return True
            proven = True
            if every and best.key > 0:
                tied, reason = engine.reaching(0)
            return False

    try:
        best.see_any(budget)
        dinkelbach(lambda: best.wanted, beaten, "branch-and-bound")
        if every and best.selection is not None and best.key <= 0:  # whatever is feasible is worth nothing
            tied, reason = sets_reaching(program_of(instance, (0, 0)), budget)
    except Stopped as stopped:
        reason = stopped.termination
    return best.optima(tied, reason, budget.as_dict(), proven=proven)


def servable(instance: Coverage) -> str:
    """Return why programs cannot search an instance, as the end of a sentence; empty if they can."""
    for total in range(1, len(instance.constants), 2):
        if int(instance.constants[total]) < 0 and (instance.slot == total).any():
            return "a denominator that begins below 0 counts features, too"
    if instance.combination.turns and not one_varies(instance):
        return "several denominators of a harmonic mean vary"
    return ""


def _feeds(instance: Coverage, total: int) -> NDArray[np.bool_]:
    fed: NDArray[np.bool_] = (instance.slot == total) & (first_gains(instance.level_start, instance.level) > 0)
    return fed


def guarded(program: Program, instance: Coverage, totals: Iterable[int], penalty: int) -> Program:
    """Return a program in which selections with a total below 1 lose at least `penalty`.

    A ratio over 0 is 0 for any numerator, which a program for a value of the ratio does not express. A guard is a
    feature of all units that add to the total, with the gains M, M, ... for the first copies, and the same amount
    subtracted from the base.
    """
    for total in totals:
        wanted = 1 - int(instance.constants[total])
        if wanted <= 0:
            continue
        if wanted > 1 and (instance.slot == total).any():
            raise UnsupportedError(f"The engine cannot keep this instance positive: {servable(instance)}.")
        feeds = _feeds(instance, total)
        unit = np.repeat(np.arange(instance.size), np.diff(instance.unit_start))
        fed = np.bincount(unit[feeds[instance.unit_feature]], minlength=instance.size)
        # What each unit is certain to add to an empty total: its mass, or 1 for its features.
        copies = np.minimum(instance.mass[total] + fed, wanted)
        number = len(program.table_start) - 1
        holders = np.flatnonzero(copies)
        joints = tuple(replace(joint, feature=number, count=1) for joint in instance.joints if feeds[joint.feature])
        program = with_feature(program, holders, copies[holders], penalty * np.arange(wanted + 1))
        program = replace(program, base=program.base - penalty * wanted, joints=(*program.joints, *joints))
    return program


def positive_program(instance: Coverage, totals: Iterable[int]) -> Program:
    """Return a program of value 0 for selections whose `totals` are all positive, and less for others."""
    return guarded(program_of(instance, [0] * len(instance.constants)), instance, totals, 1)
