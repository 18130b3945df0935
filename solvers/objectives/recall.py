"""The interface of the exact engine: all optima, or one optimum, of a coverage instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import floor
from typing import Any, Final

import numpy as np

from optsum.coverage.instance import Coverage, Key
from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_SET, Diagram
from optsum.optima.optima import Optima
from optsum.problem.problem import Selection
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline, Limits, Stopped, Termination

from ..engine.bound import Session, bounds_within, linear_program, priced
from ..engine.core import DROPPED, FREE, Core, Program, States, core_of, program_of, reduced
from ..engine.driver import DEFAULT, Driver, Effort
from ..engine.search import total_of


def recall_program(coverage: Coverage) -> Program:
    if not coverage.constant_denominator:
        raise UnsupportedError("Only recall is searched here; use the strategy branch-and-bound for the rest.")
    return program_of(coverage, (1, 0))


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
    """Find one optimum of recall, or all; raise `Stopped` at a limit before anything is known.

    `deadline`: instead of the time limit. Others: as for `Driver.optima`.
    """
    try:
        engine = Driver(recall_program(coverage), limits or Limits(), deadline, effort, one=not every)
    except Stopped as stopped:
        if not every:
            raise
        return none_found(coverage, stopped)
    return engine.optima(int(coverage.constants[1]), every=every, at_most=at_most, start=start)


def none_found(coverage: Coverage, stopped: Stopped) -> Optima:
    """Return the answer of a search that was stopped before anything was known."""
    most = Fraction(reaches(coverage)[0], int(coverage.constants[1]))
    return Optima(Diagram.of_sets([]), 0, most, complete=False, termination=stopped.termination.value)


_LEAST: Final = 8  # Units of a part; smaller ones are searched together.


def solve_by_parts(
    coverage: Coverage,
    limits: Limits,
    deadline: Deadline,
    *,
    every: bool,
    at_most: Fraction | None = None,
    start: tuple[int, ...] | None = None,
) -> Optima:
    """Search like `solve_recall`, part by part if there are parts without common features or rows.

    An optimum combines one optimum of each part, all optima are all combinations, and bounds add up; without the split,
    one part would be searched again for each selection of another.
    """
    parts = parts_of(coverage) if limits.nodes is None and limits.gap is None and limits.target is None else []
    if len(parts) < 2:
        return solve_recall(coverage, limits, deadline, every=every, at_most=at_most, start=start)
    found: list[Optima] = []
    for number, units in enumerate(parts):
        time = deadline.within(deadline.left_s / (len(parts) - number))
        own = None if start is None else tuple(place for place, unit in enumerate(units) if unit in start)
        part = solve_recall(_part(coverage, units, first=not number), limits, time, every=every, start=own)
        found.append(part)
        if part.complete and not part:  # no selection keeps its rows
            return part
    value = sum(Fraction(part.value) for part in found) if all(found) else Fraction(0)
    diagram = Diagram.of_sets([()])
    for units, part in zip(parts, found, strict=True):
        diagram = _times(part.diagram, units, diagram)
    bound = sum(Fraction(part.bound or 0) for part in found)
    if not all(found):  # a bound must not look like the proof that there is nothing
        bound = max(bound, Fraction(1, int(coverage.constants[1])))
    if value != bound:  # then only one set is known to be good
        diagram = Diagram.of_sets(islice(diagram, 1))
    ended = next((part for part in found if not part.complete), found[0])
    statistics = _summed([part.statistics for part in found])
    return Optima(
        Diagram.of_nodes(diagram.nodes, diagram.root),
        value,
        bound,
        complete=ended.complete,
        termination=ended.termination,
        statistics={**statistics, "parts": len(parts)},
    )


def parts_of(coverage: Coverage) -> list[list[int]]:
    """Return the sorted units of each part; none if a length limit, or a rare tie, may link them.

    Examples
    --------
    >>> parts_of(Coverage.of([1] * 16, [{unit // 8: 1} for unit in range(16)], [[1], [1]]))
    [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14, 15]]
    """
    limited = coverage.min_length > 0 or coverage.max_length < int(coverage.lengths.sum())
    linked = (coverage.parents >= 0).any() or coverage.joints or not all(row.units for row in coverage.rows)
    if limited or linked or coverage.ceilings or (coverage.mass < 0).any() or coverage.size < 2 * _LEAST:
        return []
    import networkx as nx

    size = coverage.size
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    holders = np.repeat(np.arange(size), np.diff(coverage.unit_start))
    graph.add_edges_from(zip(holders.tolist(), (coverage.unit_feature + size).tolist(), strict=True))
    for row in coverage.rows:
        nx.add_path(graph, row.units)
    found: list[list[int]] = []
    for part in sorted(nx.connected_components(graph), key=lambda part: (len(part), min(part))):
        units = [node for node in part if node < size]
        if found and len(found[-1]) < _LEAST:
            found[-1] += units
        else:
            found.append(units)
    return list(map(sorted, found))


def _part(coverage: Coverage, units: Sequence[int], *, first: bool) -> Coverage:
    """Return the instance of some units; constants are counted in the first."""
    place = {unit: number for number, unit in enumerate(units)}
    held = [range(coverage.unit_start[unit], coverage.unit_start[unit + 1]) for unit in units]
    features = sorted({int(coverage.unit_feature[entry]) for entries in held for entry in entries})
    number = {feature: at for at, feature in enumerate(features)}
    return Coverage.of(
        coverage.lengths[list(units)].tolist(),
        [
            {number[int(coverage.unit_feature[entry])]: int(coverage.unit_count[entry]) for entry in entries}
            for entries in held
        ],
        [np.diff(coverage.level[coverage.level_start[f] : coverage.level_start[f + 1]]).tolist() for f in features],
        slots=coverage.slot[features].tolist(),
        constants=[int(coverage.constants[0]) if first else 0, *coverage.constants[1:].tolist()],
        mass=coverage.mass[:, list(units)].tolist(),
        weights=coverage.weights,
        combination=coverage.combination,
        rows=tuple(
            replace(row, units=tuple(place[unit] for unit in row.units))
            for row in coverage.rows
            if row.units[0] in place
        ),
    )


def _times(one: Diagram, units: Sequence[int], other: Diagram) -> Diagram:
    """Return all unions of a set of one diagram, with renumbered units, and a set of another."""
    moved = one.nodes[2:].copy()
    shift = len(other.nodes) - 2
    moved[:, 0] = np.array(units, np.int32)[moved[:, 0]]
    moved[:, 1:] = np.where(moved[:, 1:] > EMPTY_SET, moved[:, 1:] + shift, moved[:, 1:] * other.root)
    root = one.root + shift if one.root > EMPTY_SET else one.root * other.root
    return Diagram(np.concatenate([other.nodes, moved]), root)


def _summed(statistics: Sequence[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in statistics[0].items():
        values = [one[name] for one in statistics if name in one]
        if isinstance(value, dict):
            found[name] = _summed(values)
        else:
            found[name] = sum(values) if isinstance(value, int | float) else value
    return found


_CELLS: Final = 2_000_000  # Lengths times units up to which bounds are kept for every length.


class ByLength:
    """Optima of recall at descending maximum lengths.

    Shorter lengths reuse the results of longer ones: the reduced instance, the relaxation, all earlier prices, each of
    which bounds every length, and all good sets. When a value is proven, the least length with this value is found by
    bisection.
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
        """Return the search for lengths up to an instance's maximum; None if it does not fit, or would gain nothing."""
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
        return len(self._searched)

    def learn(self, units: Selection) -> None:
        """Record a selection wherever it is better than the best known, at its own length or a longer one."""
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

        No selection of this value fits a smaller one of the requested lengths.
        """
        self._deadline.check()
        length = min(length, self._core.high)
        if at_most is not None:
            most = (floor(Fraction(at_most) * self._bottom) - self._program.base) // self._divisor
            self._upper[length] = min(self._upper[length], most)
        if self._value[length] < self._upper[length]:
            self._relax(length)
        if self._value[length] < self._upper[length]:
            engine = self._engine(length)
            self.learn(engine.guess()[0])
            found, _, _, termination = engine.closed(None, int(self._value[length]))
            if found is not None:
                self.learn(found)
            if termination is not Termination.COMPLETED:
                raise Stopped(termination)
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
        """Bound every length up to a given one by the prices of its relaxation."""
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

    def _engine(self, length: int) -> Driver:
        self._searched.add(length)
        whole = self._prices[self._price[length]]._replace(high=length)
        root = reduced(whole, self._short(whole, length))
        engine = Driver(self._program, self._limits, self._deadline, root=(root, self._divisor))
        engine.upper = min(engine.upper, int(self._upper[length]))
        return engine

    @staticmethod
    def _short(core: Core, length: int) -> States:
        return np.where(core.lengths <= length, np.int8(FREE), np.int8(DROPPED))
