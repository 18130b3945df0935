r"""Searches of values with one ratio: recall, varying denominators, and common subsequences with one whole reference.

Recall is one program. If the denominator varies (precision, F1), the engine searches for a selection with ``q T - p D >
0``, where p / q is the incumbent's ratio (Dinkelbach 1967). If there is none, the incumbent is optimal, and another
enumeration gives all optima, the selections with ``q T - p D >= 0``, as one diagram.

The longest common subsequence of one whole reference R and units in document order is found in polynomial time: it is
the largest sum of gains if R is cut into consecutive pieces, one for each unit. A table holds the best value of ``q T -
p D`` that the units from i on can add with the rest of R from p on and the remaining length l, computed from the last
unit to the first,

.. math:: h_i(p, l) = \max\bigl(h_{i+1}(p, l), \max_{e \ge b \ge p} g_i(b, e) + h_{i+1}(e, l - c_i) - d_i\bigr),

where :math:`g_i(b, e)` is the gain of the unit with R[b:e], and d_i its cost.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from math import floor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.ceilings import extend
from optsum.coverage.greedy import climbs
from optsum.coverage.instance import Coverage, IntArray, Key, Sense, key_of, packed_rows, score
from optsum.coverage.state import arrays_of
from optsum.coverage.state import fits as comparable
from optsum.errors import BackendError, UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram, DiagramNodes
from optsum.optima.optima import Optima
from optsum.problem.problem import Selection
from optsum.program.ratio_bound import greedy_units, one_varies
from optsum.program.surrogate import reaches
from optsum.system.clock import Deadline, Limits, Stopped, Termination
from optsum.system.compiled import njit

from ..engine.bound import Session, bounds_within, linear_program, priced
from ..engine.core import (
    DROPPED,
    FREE,
    Core,
    Program,
    States,
    core_of,
    first_gains,
    program_of,
    reduced,
    spread,
    with_feature,
)
from ..engine.driver import DEFAULT, Budget, Driver, Effort, engine_for, sets_reaching
from ..engine.search import total_of


def recall_program(coverage: Coverage) -> Program:
    if not coverage.constant_denominator:
        raise UnsupportedError("This search supports only constant denominators (recall): use branch-and-bound.")
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
    """Find one optimum of recall, or all (`every`).

    `deadline`: replaces the time limit. `at_most`, `start`: as for `Driver.optima`. If a limit is reached before
    anything is known, `Stopped` is raised for one optimum, and an empty result is returned for all.
    """
    try:
        engine = Driver(recall_program(coverage), limits or Limits(), deadline, effort, one=not every)
    except Stopped as stopped:
        if not every:
            raise
        return none_found(coverage, stopped)
    return engine.optima(int(coverage.constants[1]), every=every, at_most=at_most, start=start)


def none_found(coverage: Coverage, stopped: Stopped) -> Optima:
    """Return the result of a search that was stopped before it knew a selection: the trivial bound, and no set."""
    most = Fraction(reaches(coverage)[0], int(coverage.constants[1]))
    return Optima(Diagram.of_sets([]), 0, most, complete=False, termination=stopped.termination.value)


_LEAST: Final = 8  # Least number of units of a part; smaller parts are joined.


def solve_by_parts(
    coverage: Coverage,
    limits: Limits,
    deadline: Deadline,
    *,
    every: bool,
    at_most: Fraction | None = None,
    start: tuple[int, ...] | None = None,
) -> Optima:
    """Search like `solve_recall`, but separately in groups of units (parts) that share no features or rows.

    An optimum combines one optimum of each part, all optima are all combinations, and bounds add up. Without the split,
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
        if part.complete and not part:  # no selection satisfies its rows
            return part
    value = sum(Fraction(part.value) for part in found) if all(found) else Fraction(0)
    diagram = Diagram.of_sets([()])
    for units, part in zip(parts, found, strict=True):
        diagram = _times(part.diagram, units, diagram)
    bound = sum(Fraction(part.bound or 0) for part in found)
    if not all(found):  # a bound of 0 would look like a proof that there is no selection
        bound = max(bound, Fraction(1, int(coverage.constants[1])))
    if value != bound:  # the sets are not proven optimal, and one good set suffices
        diagram = Diagram.of_sets(islice(diagram, 1))
    ended = next((part for part in found if not part.complete), found[0])
    statistics = {**_summed([part.statistics for part in found]), "parts": len(parts)}
    diagram = Diagram.of_nodes(diagram.nodes, diagram.root)
    return replace(ended, diagram=diagram, value=value, bound=bound, statistics=statistics)


def parts_of(coverage: Coverage) -> list[list[int]]:
    """Return the sorted units of each part; an empty list if lengths, parents, joints or ceilings may link units.

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
    holders = packed_rows(coverage.unit_start)
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
    """Return the instance of some units; only the first part gets the constant of the numerator."""
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


_BY_LENGTH: Final = 2_000_000  # Largest number of lengths times units for which bounds are kept for every length.


@dataclass(eq=False)
class ByLength:
    """Optima of recall at descending maximum lengths.

    Shorter lengths reuse the results of longer ones: the reduced instance, the relaxation, all good sets, and all
    earlier prices, because any prices bound every length. When a value is proven, the least length with this value is
    found by bisection.
    """

    _program: Program
    _bottom: int
    _lengths: IntArray
    _limits: Limits
    _deadline: Deadline
    _core: Core
    _divisor: int

    def __post_init__(self) -> None:
        program, core = self._program, self._core
        self._floor = -((program.base - program.floor) // self._divisor)
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
        """Return a search for lengths up to an instance's maximum; None if it does not support the instance."""
        program, bottom = recall_program(coverage), int(coverage.constants[1])
        if not program.singletons or program.min_length > 0 or bottom <= 0:
            return None
        core, divisor = core_of(program, deadline)
        # If everything fits, the lengths of the core are 0.
        if not 0 < core.high < _BY_LENGTH // (core.size + 1):
            return None
        places = np.array([each for each in lengths if each <= core.high], np.int64)
        return cls(program, bottom, places, limits, deadline, core, divisor)

    @property
    def searched(self) -> int:
        return len(self._searched)

    def learn(self, units: Selection) -> None:
        """Record a selection for its own length, and for all longer lengths at which it is the best known."""
        core, held = self._core, np.zeros(self._core.size + 1, bool)
        held[self._place[list(units)]] = True
        held = held[:-1]  # the last place is for units that fit no length
        length = int(core.lengths[held].sum())
        value = core.base + int(total_of(held, core.plain))
        if length > core.high or value <= self._value[length]:
            return
        worse = self._value[length:] < value
        self._value[length:][worse] = value
        self._set[length:][worse] = len(self._sets)
        self._sets.append(tuple(core.ids[held].tolist()))

    def at(self, length: int, at_most: Key | None = None) -> tuple[Key, Selection] | None:
        """Return the best value at a maximum length and a selection with it; None if no selection satisfies all rows.

        The selection fits the least of the requested lengths at which the value is attained, unless a limit is reached.
        """
        self._deadline.check()
        length = min(length, self._core.high)
        if at_most is not None:
            most = (floor(Fraction(at_most) * self._bottom) - self._program.base) // self._divisor
            self._upper[length] = min(self._upper[length], most)
        if self._value[length] < self._upper[length]:
            self._relax(length)
        if self._value[length] < self._upper[length]:
            found, _, _, termination = self._engine(length).closed(None, int(self._value[length]))
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
        except Stopped as stop:  # the value is proven nevertheless
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
                if self._value[middle] < value <= engine.upper:
                    self.learn(engine.one_of(value) or ())
            if self._value[middle] < value:
                self._fall(middle, value - 1)

    def _relax(self, length: int) -> None:
        """Bound every length up to `length` by the prices of the relaxation at `length`."""
        core = found = self._core
        if self._session is None and (program := linear_program(core)) is not None:
            self._session = Session()
            self._session.load(program, core.scale, core)
        if self._session is not None:
            self._session.decide(_short(core, length))
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
        root = reduced(whole, _short(whole, length))
        engine = Driver(self._program, self._limits, self._deadline, root=(root, self._divisor))
        engine.upper = min(engine.upper, int(self._upper[length]))
        self.learn(engine.guess()[0])
        return engine


def _short(core: Core, length: int) -> States:
    return np.where(core.lengths <= length, np.int8(FREE), np.int8(DROPPED))


_LARGEST = 2**54  # Limit of the values of a program.


class Incumbent:
    """The best selection so far; selections that engines find are evaluated here again."""

    def __init__(self, instance: Coverage, cutoff: Key | None = None) -> None:
        self._instance = instance
        self.cutoff = Fraction(0) if cutoff is None else Fraction(cutoff)
        self.selection: Selection | None = None
        self.key = Fraction(-1)
        self.totals: tuple[int, ...] = ()

    @property
    def wanted(self) -> Fraction:
        """The value that better selections must exceed: the value of the selection, or the cutoff if it is larger."""
        return max(self.key, self.cutoff)

    def see(self, units: Iterable[int]) -> bool:
        """Record a selection if it is feasible and better; return whether it was recorded."""
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
        """Record a known selection or, if there is none, the greedy one that is found by the deadline.

        If values do not fit into 64 bits, both are tried, because the known selection comes from a slower search, which
        may have had too little time.
        """
        if start is not None:
            self.see(start)
        if start is None or not comparable(self._instance):
            self.see(greedy_units(self._instance, deadline))

    def see_any(self, budget: Budget) -> None:
        """Record some selection that satisfies all rows, if there are rows and no selection yet."""
        if self.selection is not None or not self._instance.rows:
            return
        with engine_for(program_of(self._instance, [0] * len(self._instance.constants)), budget) as engine:
            found = engine.one_of(engine.aim(0)) if engine.feasible else None
        if found is not None:
            self.see(found)

    def optima(
        self, tied: Diagram | None, reason: Termination | None, statistics: Mapping[str, Any], *, proven: bool
    ) -> Optima:
        """Return the result of a search: the optima in `tied`, or only this selection if there are none.

        The value is that for comparisons (`key_of`). The bound is None unless the selection is `proven` optimal.
        `reason`: the limit that was reached, if any.
        """
        if tied is None or not tied.root:
            tied = Diagram.of_sets([] if self.selection is None else [self.selection])
        key, bound = max(self.key, Fraction(0)), self.wanted if proven else None
        ending = Termination.COMPLETED if reason is None else reason
        return Optima(tied, key, bound, reason is None, ending.value, statistics)


def fits(instance: Coverage) -> bool:
    """Return whether the programs ``q T - p D`` for the ratios p / q of all selections fit the engine's integers."""
    top, bottom = reaches(instance)
    return 2 * (top + 1) * (bottom + 1) * spread(instance.rows) < _LARGEST


def ratio_program(instance: Coverage, ratio: Fraction) -> Program:
    """Return the program ``q T - p D`` over selections with D > 0, for a ratio p / q."""
    p, q = ratio.numerator, ratio.denominator
    top, _ = reaches(instance)
    penalty = q * top + p * abs(min(0, int(instance.constants[1]))) + 1
    return guarded(program_of(instance, (q, -p)), instance, [1], penalty)


def dinkelbach(held: Callable[[], Fraction], beaten: Callable[[Fraction], bool], name: str) -> None:
    """Call `beaten`, which searches for a ratio above the current one, until there is none (Dinkelbach 1967).

    `held`: returns the current ratio. `name`: the solver's name, for a message.
    """
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
        if every and best.selection is not None and best.key <= 0:  # all feasible selections have the value 0
            tied, reason = sets_reaching(program_of(instance, (0, 0)), budget)
    except Stopped as stopped:
        reason = stopped.termination
    return best.optima(tied, reason, budget.as_dict(), proven=proven)


_MOST_WANTED: Final = 1_000_000
"""Largest amount that a denominator may lack to be positive, because a guard has a table with an entry for each one."""


def servable(instance: Coverage) -> str:
    """Return why programs cannot search an instance with varying denominators, as the end of a sentence, or ""."""
    for total in range(1, len(instance.constants), 2):
        if int(instance.constants[total]) < 0 and (instance.slot == total).any():
            return "a denominator that begins below 0 counts features, too"
        if int(instance.constants[total]) <= -_MOST_WANTED:
            return f"a denominator begins at {int(instance.constants[total])}"
    if instance.combination.turns and not one_varies(instance):
        return "several denominators of a harmonic mean vary"
    return ""


def guarded(program: Program, instance: Coverage, totals: Iterable[int], penalty: int) -> Program:
    """Return a program in which selections lose at least `penalty` if a denominator among `totals` is below 1.

    A ratio with the denominator 0 is 0 for any numerator, which a program ``q T - p D`` does not express. The guard of
    a total is a feature of all units that add to it, with the gain `penalty` for each of the first copies, and the same
    amount subtracted from the base.
    """
    for total in totals:
        wanted = 1 - int(instance.constants[total])
        if wanted <= 0:
            continue
        if wanted > _MOST_WANTED or (wanted > 1 and (instance.slot == total).any()):
            raise UnsupportedError(
                f"branch-and-bound cannot search this problem: {servable(instance)}; use exhaustive."
            )
        feeds = (instance.slot == total) & (first_gains(instance.level_start, instance.level) > 0)
        unit = packed_rows(instance.unit_start)
        fed = np.bincount(unit[feeds[instance.unit_feature]], minlength=instance.size)
        # Amount that each unit adds to the total of the empty selection at least, but at most what is wanted.
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


_TABLE: Final = 80_000_000  # Largest number of cells of a table, of four bytes each.
_NEVER: Final = -(2**60)  # Less than any value.


def is_whole_text(instance: Coverage) -> bool:
    """Return whether the numerator of the only ratio is a common subsequence, and the only limit a maximum length."""
    if not instance.combination.alone or len(instance.ceilings) != 1 or not instance.ceilings[0].text_length:
        return False
    plain, text = instance.plain, instance.ceilings[0]
    longest = min(instance.max_length, int(instance.lengths.sum()))
    top, bottom = reaches(instance)
    return (
        instance.goal is Sense.MAXIMIZE
        and instance.singletons
        and not instance.rows
        and instance.min_length <= 0
        and not plain.features
        and not plain.mass[0].any()
        and not int(plain.constants[0])
        and 2 * (top + 1) * (bottom + 1) < 2**31
        and (instance.size + 1) * (text.text_length + 1) * (longest + 1) <= _TABLE
    )


def solve_whole_text(
    instance: Coverage, limits: Limits, deadline: Deadline, *, every: bool, start: Selection | None = None
) -> Optima:
    best = Incumbent(instance)
    best.see_first(start, deadline)
    table = LengthTable(instance)
    rounds, proven, reason = 0, False, None
    tied: Diagram | None = None

    def beaten(ratio: Fraction) -> bool:
        nonlocal rounds
        deadline.check()
        rounds += 1
        surplus, units = table.best_of(ratio, deadline)
        if surplus > 0:
            best.see(units)
        return surplus > 0

    try:
        dinkelbach(lambda: max(best.key, Fraction(0)), beaten, "branch-and-bound")
        proven = True
        if every and best.selection is not None:
            tied = table.all_of(best.key, limits, deadline)
    except Stopped as stopped:
        reason = stopped.termination
    return best.optima(tied, reason, {"nodes": 0, "tables": rounds}, proven=proven)


class LengthTable:
    """The table of an instance for common subsequences with a whole reference, computed again for each ratio."""

    def __init__(self, instance: Coverage) -> None:
        (text,) = instance.ceilings
        arrays = arrays_of(instance, totals_only=True)
        assert arrays is not None  # noqa: S101 - totals always fit
        self._instance, self._gain, self._ceilings = instance, text.gain, arrays.ceilings
        self._longest = min(instance.max_length, int(instance.lengths.sum()))
        self._wide = text.text_length + 1
        self._table = np.zeros((instance.size + 1, self._wide, self._longest + 1), np.int32)
        self._gains = np.zeros((self._wide, self._wide), np.int64)
        self._ratio: Fraction | None = None

    def _make(self, ratio: Fraction, deadline: Deadline) -> None:
        if ratio == self._ratio:
            return
        self._ratio = None
        instance, table = self._instance, self._table
        costs = ratio.numerator * instance.mass[1]
        worth = ratio.denominator * self._gain
        lengths = instance.lengths.tolist()
        for unit in range(instance.size - 1, -1, -1):
            if lengths[unit] > self._longest:
                table[unit] = table[unit + 1]
                continue
            _gains_of(self._ceilings, unit, self._gains)
            _add_unit(table, unit, lengths[unit], worth, int(costs[unit]), self._gains)
            deadline.check()
        self._ratio = ratio

    def best_of(self, ratio: Fraction, deadline: Deadline) -> tuple[int, list[int]]:
        self._make(ratio, deadline)
        instance, table = self._instance, self._table
        p, q = ratio.numerator, ratio.denominator
        costs, worth, lengths = p * instance.mass[1], q * self._gain, instance.lengths.tolist()
        units, place, left = [], 0, self._longest
        for unit in range(instance.size):
            value = int(table[unit, place, left])
            if value == int(table[unit + 1, place, left]):
                continue
            _gains_of(self._ceilings, unit, self._gains)
            place = int(_end_of(table, unit, place, left, lengths[unit], worth, value + int(costs[unit]), self._gains))
            units.append(unit)
            left -= lengths[unit]
        return int(table[0, 0, self._longest]) - p * int(instance.constants[1]), units

    def all_of(self, ratio: Fraction, limits: Limits, deadline: Deadline) -> Diagram:
        """Return all selections that reach a ratio.

        A state describes the units so far: the remaining length, and the value v(p) with the reference used up to each
        p. The table has the exact value of the best completion, so that a state is kept if and only if some selection
        reaches the ratio from it. Values that no such selection needs are set below `_NEVER`; equal states are merged.
        """
        instance = self._instance
        self._make(ratio, deadline)
        p, q = ratio.numerator, ratio.denominator
        needed, lengths = p * int(instance.constants[1]), instance.lengths
        left, counted = np.array([self._longest]), np.array([ratio <= 0 or int(instance.constants[1]) > 0])
        values = np.full((1, self._wide), 2 * _NEVER)
        values[0, 0] = 0
        steps: list[NDArray[np.int64]] = []
        held = 0
        for unit, (length, mass) in enumerate(zip(lengths.tolist(), instance.mass[1].tolist(), strict=True)):
            fits = np.flatnonzero(left >= length)
            taken = self._with(unit, values[fits], q * self._gain, p * mass)
            values = np.concatenate([values, taken])
            left = np.concatenate([left, left[fits] - length])
            counted = np.concatenate([counted, counted[fits] | (mass > 0)])
            values[values + self._table[unit + 1][:, left].T < needed] = 2 * _NEVER
            values[:, 1:][values[:, 1:] <= np.maximum.accumulate(values, axis=1)[:, :-1]] = 2 * _NEVER
            number, values, left, counted = _merged_states(values, left, counted)
            step = np.full((2, len(number) - len(taken)), -1)
            step[0] = number[: step.shape[1]]
            step[1, fits] = number[step.shape[1] :]
            steps.append(step)
            held += step.nbytes
            deadline.check()
            if held + 4 * values.nbytes > limits.memory:
                raise Stopped(Termination.MEMORY_LIMIT)
        nodes = DiagramNodes()
        below = np.append(np.where(counted, EMPTY_SET, EMPTY_FAMILY), EMPTY_FAMILY)  # the last entry is for -1
        for unit in range(instance.size - 1, -1, -1):
            here = [nodes.node(unit, without, with_) for without, with_ in below[steps[unit]].T.tolist()]
            below = np.array([*here, EMPTY_FAMILY])
        return nodes.diagram(int(below[0]))

    def _with(self, unit: int, values: NDArray[np.int64], worth: int, cost: int) -> NDArray[np.int64]:
        """Return the values v(p) of states (`all_of`) after adding a unit, matched with the reference up to p."""
        _gains_of(self._ceilings, unit, self._gains)
        # A piece gains at least as much as all pieces that it contains, which end sooner or begin later.
        gains = np.maximum.accumulate(np.maximum(self._gains, 0), axis=1)
        gains = worth * np.maximum.accumulate(gains[::-1], axis=0)[::-1]
        taken = np.full(values.shape, 2 * _NEVER)
        for begin in np.flatnonzero((values > _NEVER).any(axis=0)).tolist():
            np.maximum(taken[:, begin:], values[:, begin, None] + gains[begin, begin:], out=taken[:, begin:])
        taken -= cost
        return taken


def _merged_states(
    values: NDArray[np.int64], left: IntArray, counted: NDArray[np.bool_]
) -> tuple[IntArray, NDArray[np.int64], IntArray, NDArray[np.bool_]]:
    """Return the number of each state among the distinct ones, -1 if it cannot reach the ratio; and distinct states."""
    alive = np.flatnonzero((values > _NEVER).any(axis=1))
    rows = np.concatenate([left[alive, None], counted[alive, None], values[alive]], axis=1)
    _, first, which = np.unique(rows.view(f"V{rows.itemsize * rows.shape[1]}"), return_index=True, return_inverse=True)
    number = np.full(len(values), -1)
    number[alive] = which.reshape(-1)
    kept = alive[first]
    return number, values[kept], left[kept], counted[kept]


@njit(cache=True)
def _gains_of(ceilings: Any, unit: int, gains: Any) -> None:
    """Write the length of the longest common subsequence of a unit and each piece of the reference into `gains`.

    It is -1 if a shorter piece gains as much. For each beginning, the bits of the reference before it are masked.
    """
    wide = len(gains)
    words = ceilings.places.shape[1]
    first, last = ceilings.start[unit], ceilings.start[unit + 1]
    gains[:] = -1
    held = np.zeros(words, np.uint64)
    for entry in range(first, last):
        for word in range(words):
            held[word] |= ceilings.places[ceilings.token[entry], word]
    masked = np.zeros((1, words), np.uint64)
    flat = ceilings.flat
    for begin in range(wide - 1):
        if not (held[begin >> 6] >> np.uint64(begin & 63)) & np.uint64(1):
            continue
        for word in range(words):
            flat[word] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for entry in range(first, last):
            for word in range(words):
                bits = ceilings.places[ceilings.token[entry], word]
                if (word << 6) + 64 <= begin:
                    bits = np.uint64(0)
                elif (word << 6) < begin:
                    bits = (bits >> np.uint64(begin & 63)) << np.uint64(begin & 63)
                masked[0, word] = bits
            extend(flat, masked, 0)
        hits = 0
        for end in range(begin + 1, wide):
            if not (flat[(end - 1) >> 6] >> np.uint64((end - 1) & 63)) & np.uint64(1):
                hits += 1
                gains[begin, end] = hits


@njit(cache=True)
def _add_unit(table: Any, unit: int, length: int, worth: int, cost: int, gains: Any) -> None:
    wide, most = table.shape[1], table.shape[2]
    below, here = table[unit + 1], table[unit]
    best = np.full(most, np.int32(-(2**31)))  # best values with the unit and the reference from `place` on
    for place in range(wide - 1, -1, -1):
        for left in range(length, most):
            best[left] = max(best[left], below[place, left - length] - cost)
        for end in range(place + 1, wide):
            if gains[place, end] > 0:
                gain = worth * gains[place, end] - cost
                for left in range(length, most):
                    best[left] = max(best[left], below[end, left - length] + gain)
        for left in range(most):
            here[place, left] = max(below[place, left], best[left])


@njit(cache=True)
def _end_of(table: Any, unit: int, place: int, left: int, length: int, worth: int, value: int, gains: Any) -> int:
    """Return an end of the unit's piece of the reference with which unit and best completion have a given value."""
    wide = table.shape[1]
    for begin in range(place, wide):
        if table[unit + 1, begin, left - length] == value:
            return begin
        for end in range(begin + 1, wide):
            if gains[begin, end] > 0 and table[unit + 1, end, left - length] + worth * gains[begin, end] == value:
                return end
    return place


_SLICE: Final = 20_000
_DONE: Final = 0
_PAUSED: Final = 1
_FULL: Final = 2


@njit(cache=True)
def _gain(u, have, core):
    """Return ROUGE'(R, V, {u}) times the denominator: the gain of unit u over the copies in `have`."""
    table_start, table = core.table_start, core.table
    gain = core.mass[u]
    for k in range(core.start[u], core.start[u + 1]):
        f = core.feature[k]
        top = table_start[f + 1] - table_start[f] - 1
        gain += table[table_start[f] + min(have[f] + core.count[k], top)] - table[table_start[f] + min(have[f], top)]
    return gain


@njit(cache=True)
def _bound(value, rest, room, have, core):
    """Return the bound of Algorithm 1 for a set with this value: the units of `rest` are packed by density."""
    lengths = core.lengths
    gains = np.empty(len(rest), np.int64)
    density = np.empty(len(rest), np.float64)
    for i in range(len(rest)):
        gains[i] = _gain(rest[i], have, core)
        density[i] = -gains[i] / lengths[rest[i]] if lengths[rest[i]] > 0 else -np.inf
    for i in np.argsort(density, kind="mergesort"):
        length = lengths[rest[i]]
        if length <= room:
            value += gains[i]
            room -= length
        else:
            # Rounding in `density` can swap units of equal density only, which changes nothing.
            return value + gains[i] * room // length
    return value


@njit(cache=True)
def _find_oracles(core, every, way, found, state, budget):
    """Continue Algorithm 3 for up to `budget` sets; return whether it is done, paused, or `found` is full.

    way   : order (n,), units in the order of their own gains; have and chosen, copies of each feature in the present
            set and its units; path (n + 2,), at each depth the next position in `order` to try; value, room (n + 2,)
    found : (capacity, n) bool, the sets that reach tau
    state : (4,) depth, tau, sets found, sets checked
    """
    lengths, start, feature, count = core.lengths, core.start, core.feature, core.count
    order, have, chosen, path, value, room = way
    n = len(order)
    spent = 0
    while True:
        d = state[0]
        if path[d] == n:
            if d == 0:
                return _DONE
            u = order[path[d - 1] - 1]
            chosen[u] = False
            for k in range(start[u], start[u + 1]):
                have[feature[k]] -= count[k]
            state[0] = d - 1
            continue
        if spent >= budget:
            return _PAUSED
        if state[2] == len(found):
            return _FULL
        u = order[path[d]]
        path[d] += 1
        if lengths[u] > room[d]:
            continue
        spent += 1
        state[3] += 1
        now = value[d] + _gain(u, have, core)
        left = room[d] - lengths[u]
        chosen[u] = True
        for k in range(start[u], start[u + 1]):
            have[feature[k]] += count[k]
        if now > state[1] or (every and now == state[1]):
            if now > state[1]:
                state[2] = 0
            state[1] = now
            found[state[2]] = chosen
            state[2] += 1
            go_on = True
        else:
            bound = _bound(now, order[path[d] :], left, have, core)
            go_on = bound >= state[1] if every else bound > state[1]
        value[d + 1] = now
        room[d + 1] = left
        path[d + 1] = path[d] if go_on else n
        state[0] = d + 1


def solve_knapsack(
    coverage: Coverage, limits: Limits | None = None, deadline: Deadline | None = None, *, every: bool
) -> Optima:
    """Find one optimum, or all, with the bound of Hirao et al. 2017, Algorithms 1-3: the baseline.

    The algorithms are interpreted as follows:

    * Algorithm 1: the remaining room is L_max - l(V), and shrinks as sentences are packed.
    * Algorithm 2 is greedy search (`optsum.coverage.greedy`); line 5: the length of a rejected sentence is not added.
    * Algorithm 3: every call has its own queue; a strictly better score clears the sets found before; the empty set is
      recorded if it is an optimum.

    The bound, a fractional knapsack of sentences by gain per word, is valid for recall within sentences and without a
    minimum length. Values are integers, so the fraction of the last sentence is rounded down.

    `coverage`: recall (a constant denominator), occurrences decided by single units, no minimum length. `limits`:
    ``nodes`` limits the number of sets checked. `deadline`: replaces the time limit. In the result,
    ``statistics["nodes"]`` is the number of sets checked (the right column of Table 7).
    """
    budget = Budget(limits, deadline)
    core, divisor = core_of(recall_program(coverage))
    if core.low > 0:
        raise UnsupportedError("The knapsack bound is not valid with a minimum length: use --bound=lagrangian.")
    n = core.size
    sets = [*next(climbs(coverage, [coverage.max_length]), []), ()]
    held = [np.isin(core.ids, units) for units in sets]
    values = [core.base + int(total_of(chosen, core.plain)) for chosen in held]
    tau = max(values)
    greedy = held[values.index(tau)]
    nothing = np.zeros(len(core.price), np.int64)
    order = np.argsort(np.array([-_gain(u, nothing, core) for u in range(n)], np.int64), kind="stable")
    path, value, room = (np.zeros(n + 2, np.int64) for _ in range(3))
    value[0], room[0] = core.base, core.high
    found = np.zeros((64, n), np.bool_)
    state = np.array([0, tau, 0, 0], np.int64)
    if not every:
        found[0], state[2] = greedy, 1
    elif tau == core.base:
        state[2] = 1  # the empty set
    way = order, np.zeros_like(nothing), np.zeros(n, np.bool_), path, value, room
    reason: Termination | None = None
    nodes, memory = budget.limits.nodes, 0
    try:
        with budget.phase("search"):
            while True:
                work = _SLICE if nodes is None else min(_SLICE, nodes - int(state[3]))
                answer = _find_oracles(core, every, way, found, state, work)
                if answer == _DONE:
                    break
                budget.statistics.nodes = int(state[3])
                if answer == _FULL:
                    memory = 8 * found.size
                budget.check(memory)
                if answer == _FULL:
                    found = np.concatenate([found, np.zeros_like(found)])
    except Stopped as stopped:
        reason = stopped.termination
    rows = found[: state[2]] if state[2] else [greedy]
    sets = [tuple(sorted(core.ids[row].tolist())) for row in rows]
    best = bound = int(state[1])
    if reason is not None:
        bound = max(best, int(_bound(core.base, np.arange(n), core.high, nothing, core)))
    budget.statistics.nodes, budget.statistics.core = int(state[3]), n
    constant, bottom = coverage.constants.tolist()
    return Optima.of_sets(
        sets if every else sets[:1],
        Fraction(best * divisor + constant, bottom),
        Fraction(bound * divisor + constant, bottom),
        complete=reason is None,
        termination=(reason or Termination.COMPLETED).value,
        statistics=budget.as_dict(),
    )
