"""One optimum at one maximum length after another, each smaller than the one before, of one program.

What is worked out for one length serves those below it: the reduced instance, the relaxation (one row's right-hand
side falls, which is a few simplex steps from the last basis), the prices of all lengths before, each of which bounds
every length, and all good sets that were seen. Where a set that fits is worth as much as a bound, nothing is searched.

Once a value is proven, the least length at which it is reached is found by halving: above it the value is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Final

import numpy as np

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.instance import Coverage, Key
from optsum.problem.problem import Selection
from optsum.system.clock import Deadline

from ..engine.bound import bounds_within, total_of
from ..engine.core import DROPPED, FREE, Core, States, reduced
from ..engine.driver import Driver
from ..engine.monitor import stop_at
from ..engine.program import Program
from ..engine.relaxation import Session, linear_program, priced
from ..engine.root import core_of
from .recall import closed_in, recall_program

_CELLS: Final = 2_000_000  # Lengths times units up to which bounds are kept for every length.


class ByLength:
    """Optima of recall at falling maximum lengths.

    `program`: of occurrences of single units, without a minimum length.
    """

    def __init__(
        self,
        program: Program,
        bottom: int,
        lengths: Sequence[int],
        limits: Limits,
        deadline: Deadline,
        core: Core,
        divisor: int,
    ) -> None:
        self._lengths = np.array([each for each in lengths if each <= core.high], np.int64)
        self._program, self._bottom, self._limits, self._deadline = program, bottom, limits, deadline
        self._core, self._divisor = core, divisor
        self._floor = -((program.base - program.floor) // divisor)
        self._session: Session | None = None
        self._searched: set[int] = set()
        self._prices: list[Core] = []
        most = core.high + 1
        # For every length: the best bound and the number of its prices; the best known value and its set.
        self._upper, self._price = np.full(most, 2**62), np.zeros(most, np.int64)
        self._value, self._set = np.full(most, self._floor - 1), np.full(most, -1)
        self._sets: list[Selection] = []
        self._place = np.full(program.size, -1)
        self._place[core.ids] = np.arange(core.size)
        self.learn(())

    @classmethod
    def of(cls, coverage: Coverage, lengths: Sequence[int], limits: Limits, deadline: Deadline) -> ByLength | None:
        """Return the search for lengths up to an instance's maximum; None where it would not hold, or gain nothing."""
        program, bottom = recall_program(coverage), int(coverage.constants[1])
        if not program.singletons or program.min_length > 0 or bottom <= 0:
            return None
        core, divisor = core_of(program, deadline)
        # Where everything fits, the core has no lengths any more.
        if not 0 < core.high < _CELLS // (core.size + 1):
            return None
        return cls(program, bottom, lengths, limits, deadline, core, divisor)

    @property
    def searched(self) -> int:
        """At how many lengths something was searched."""
        return len(self._searched)

    def learn(self, units: Selection) -> None:
        """Record a selection wherever it beats the best known, at its own length or a longer one."""
        core, held = self._core, np.zeros(self._core.size + 1, bool)
        held[self._place[list(units)]] = True
        held = held[:-1]  # the last place is that of units which no length has room for
        length = int(core.lengths[held].sum())
        value = core.base + int(total_of(held, core.plain))
        if length > core.high or value <= self._value[length]:
            return
        worse = self._value[length:] < value
        self._value[length:][worse] = value
        self._set[length:][worse] = len(self._sets)
        self._sets.append(tuple(core.ids[held].tolist()))

    def at(self, length: int, at_most: Key | None = None) -> tuple[Key, Selection] | None:
        """Return the best value at a maximum length and a selection worth it; None if no selection keeps all rows.

        No selection worth as much fits a smaller one of the lengths that are asked for.
        """
        stop_at(self._deadline)
        length = min(length, self._core.high)
        if at_most is not None:
            most = (floor(Fraction(at_most) * self._bottom) - self._program.base) // self._divisor
            self._upper[length] = min(self._upper[length], most)
        if self._value[length] < self._upper[length]:
            self._relax(length)
        if self._value[length] < self._upper[length]:
            self._search(length)
        value = int(self._value[length])
        self._fall(length, value)
        if value < self._floor:
            return None
        try:
            self._shorten(value, length)
        except Stopped as stop:  # the value is proven all the same
            if stop.termination is Termination.INTERRUPTED:
                raise
        shortest = self._set[np.searchsorted(self._value, value)]
        return Fraction(value * self._divisor + self._program.base, self._bottom), self._sets[shortest]

    def _fall(self, length: int, bound: int) -> None:
        self._upper[: length + 1] = np.minimum(self._upper[: length + 1], bound)

    def _shorten(self, value: int, length: int) -> None:
        """Find a selection that reaches a value, at the least length that allows it, by bisection."""
        relaxed = False
        while True:
            places = self._lengths[self._lengths <= length]
            places = places[(self._upper[places] >= value) & (self._value[places] < value)]
            if not len(places):
                return
            middle = int(places[len(places) // 2])
            if not relaxed:
                self._relax(middle)
                relaxed = True
            if self._value[middle] < value <= self._upper[middle]:
                engine = self._engine(middle)
                self.learn(engine.guess()[0])
                if self._value[middle] < value <= engine.upper:
                    self.learn(engine.one_of(value) or ())
            if self._value[middle] < value:
                self._fall(middle, value - 1)

    def _relax(self, length: int) -> None:
        """Bound every length up to one by the prices of its relaxation."""
        core = found = self._core
        if self._session is None and (program := linear_program(core)) is not None:
            self._session = Session()
            self._session.load(program, core.scale, core)
        if self._session is not None:
            self._session.decide(self._short(core, length))
            self._session.at_most(length)
            multipliers = self._session.multipliers(self._deadline)
            found = core if multipliers is None else priced(core, multipliers)
        bounds = bounds_within(found.plain, length)
        better = bounds < self._upper[: length + 1]
        self._upper[: length + 1][better] = bounds[better]
        self._price[: length + 1][better] = len(self._prices)
        self._prices.append(found)

    def _search(self, length: int) -> None:
        """Close the gap between the best known set and the bound."""
        engine = self._engine(length)
        self.learn(engine.guess()[0])
        found, _, _, termination = closed_in(engine, None, int(self._value[length]))
        if found is not None:
            self.learn(found)
        if termination is not Termination.COMPLETED:
            raise Stopped(termination)

    def _engine(self, length: int) -> Driver:
        """Return the engine for a length, with the prices that bound it best."""
        self._searched.add(length)
        whole = self._prices[self._price[length]]._replace(high=length)
        root = reduced(whole, self._short(whole, length))
        engine = Driver(self._program, self._limits, self._deadline, root=(root, self._divisor))
        engine.upper = min(engine.upper, int(self._upper[length]))
        return engine

    @staticmethod
    def _short(core: Core, length: int) -> States:
        return np.where(core.lengths <= length, np.int8(FREE), np.int8(DROPPED))
