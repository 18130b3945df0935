r"""Linear programs that contain all selections of at least a given value, to bound sums and products of ratios.

A selection is worth at least V if :math:`\sum_h w_h T_h / D_h \ge V`. Multiplied by any positive linear function
:math:`E = \sum_h e_h D_h` of its denominators, that is

.. math:: \sum_h w_h \, T_h \, \kappa_h(D) \ge V \, E(D), \qquad \kappa_h(D) = E(D) / D_h.

On the plane E = 1 each :math:`\kappa_h` is convex, and the :math:`T_h` are not negative, so the left side is convex
too. If all denominators lie in the cone of some *corners* v, the left side is at least as large at one corner, that is,
with the constants :math:`\kappa_h(v)` instead of :math:`\kappa_h(D)`. So there is a linear program in T and D for each
corner, and every selection worth at least V is feasible in one of them. With one ratio, or with constant denominators,
there is one corner and the program is exact. Otherwise the error of a program is of second order in the width of the
cone, if E is chosen so that the left side has its minimum in the middle, :math:`e_h = w_h T_h / D_h^2` for typical T;
so a few narrow *boxes* of denominators suffice.

Coefficients are integers, rounded so that no selection is lost; floating point only affects how tight the programs are.
For a geometric mean, the programs of an arithmetic mean above it are used (`optsum.program.ratio_bound`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, inf, log, sqrt
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import NO_LIMIT, Combination, Coverage, Facility, IntArray, combined, pack, packed_rows
from optsum.system.clock import NEVER

_LARGEST_TABLE: Final = 10**6  # Largest size (units times lengths) of tables of searches with a minimum length.


Corner: TypeAlias = tuple[Fraction, ...]  # A direction of the denominators: a positive number for each ratio.


@dataclass(frozen=True, eq=False)
class Outline:
    """A polyline from the origin, whose points have increasing x."""

    # x, y: (points,)
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    def slope(self, x: float) -> float:
        """Return y / x at x; at 0, the slope of the first segment."""
        at = max(x, float(self.x[1]))
        return float(np.interp(at, self.x, self.y)) / at


@dataclass(frozen=True)
class DenominatorBox:
    """Denominators ``constants[h] + coordinate[part[h]]`` with a range of each coordinate, or a range of a quotient."""

    constants: tuple[int, ...]  # One for each ratio.
    part: tuple[int, ...]  # For each ratio, the coordinate that is added to its constant; -1 for none.
    # low, high: the range of each coordinate.
    low: tuple[float, ...]
    high: tuple[float, ...]
    # If true, there are two ratios, and the only coordinate is the second denominator divided by the first.
    quotient: bool = False
    # If not empty, all coordinates but the first are given as quotients by the first. Undivided, they lie between two
    # curves over the first, one pair for each: a convex and a concave curve, both from the origin.
    outlines: tuple[tuple[Outline, Outline], ...] = ()

    def at(self, point: Sequence[float]) -> Corner:
        """Return the denominators at given coordinates."""
        if self.quotient:
            return Fraction(1), Fraction(point[0])
        masses = [Fraction(value) for value in point]
        if self.outlines:
            masses[1:] = [masses[0] * slope for slope in masses[1:]]
        return tuple(
            Fraction(constant) + (masses[part] if part >= 0 else 0)
            for constant, part in zip(self.constants, self.part, strict=True)
        )

    def sloped(self) -> DenominatorBox:
        """Narrow the ranges of quotients (of other coordinates by the first) to values that the first permits."""
        low, high = list(self.low), list(self.high)
        for number, (under, over) in enumerate(self.outlines, 1):
            # With larger x, y / x grows on a convex curve from the origin, and falls on a concave one.
            low[number] = max(low[number], under.slope(low[0]) * (1 - 1e-12))
            high[number] = max(low[number], min(high[number], over.slope(low[0]) * (1 + 1e-12)))
        return replace(self, low=tuple(low), high=tuple(high))

    def corners(self, check: Callable[[], object] = NEVER.check) -> Iterator[Corner]:
        """Yield directions whose cone contains all denominators of the box; `check` is called before each."""
        for point in product(*({low, high} for low, high in zip(self.low, self.high, strict=True))):
            check()
            yield self.at(point)

    def _between(self, coordinate: int) -> float:
        low, high = self.low[coordinate], self.high[coordinate]
        shift = self._shift(coordinate)
        return min(high, max(low, sqrt((low + shift) * (high + shift)) - shift))

    def _shift(self, coordinate: int) -> float:
        if self.quotient:
            return 0.0
        constant = float(min(c for c, p in zip(self.constants, self.part, strict=True) if p == coordinate))
        return constant / max(self.high[0], 1.0) if self.outlines and coordinate else constant

    def middle(self) -> Corner:
        return self.at([self._between(coordinate) for coordinate in range(len(self.low))])

    def halves(self) -> tuple[DenominatorBox, DenominatorBox] | None:
        """Return the halves of the box along its widest coordinate; None if all are too narrow."""
        shifts = map(self._shift, range(len(self.low)))
        widths = [log((high + by) / (low + by)) for low, high, by in zip(self.low, self.high, shifts, strict=True)]
        if max(widths, default=0.0) <= 1e-9:
            return None
        best = widths.index(max(widths))
        at = self._between(best)
        below = replace(self, high=(*self.high[:best], at, *self.high[best + 1 :]))
        above = replace(self, low=(*self.low[:best], at, *self.low[best + 1 :]))
        return below, above.sloped() if best == 0 else above


@dataclass(frozen=True)
class Weighted:
    """The inequality ``sum of weights[h] T_h / D_h >= value`` over the given ratios."""

    ratios: tuple[int, ...]  # Numbers h of the ratios in the sum.
    weights: tuple[Fraction, ...]  # A positive number for each of these ratios.
    value: Fraction
    # A positive numerator for each of these ratios, near its value at the optimum. It affects how tight the programs
    # are, never whether they are valid.
    typical: tuple[float, ...]


def wish_of(instance: Coverage, ratios: Sequence[int], value: Fraction, totals: Sequence[int]) -> Weighted:
    """Return the inequality "the mean of some ratios is at least `value`"; `totals`: all totals of a good selection."""
    weights = tuple(Fraction(instance.weights[h]) for h in ratios)
    typical = tuple(max(float(totals[2 * h]), 0.5) for h in ratios)
    return Weighted(tuple(ratios), weights, value * sum(instance.weights), typical)


def reaches(instance: Coverage) -> list[int]:
    """Return an upper limit of each total: its constant, all masses, and the full gains of all its features."""
    if isinstance(instance, Facility):  # without building the large arrays of all levels
        top = int((instance.similar.max(axis=1, initial=0) * instance.importance).sum())
        return [top, int(instance.constants[1]), *map(int, instance.own.sum(axis=1))]
    full = instance.level[instance.level_start[1:] - 1]
    sums = instance.constants + instance.mass.sum(axis=1)
    np.add.at(sums, instance.slot, full)
    return [int(total) for total in sums]


def box_of(instance: Coverage, wish: Weighted) -> DenominatorBox:
    """Return a box with the denominators of all selections that satisfy the inequality."""
    most = reaches(instance)
    constants = tuple(int(instance.constants[2 * h + 1]) for h in wish.ratios)
    signatures = [_varying(instance, h, all_alike=len(wish.ratios) > 2) for h in wish.ratios]
    parts = {one: number for number, one in enumerate(dict.fromkeys(one for one in signatures if one is not None))}
    part = [parts.get(one, -1) for one in signatures]
    low, high = [0.0] * len(parts), [0.0] * len(parts)
    for h, constant, number in zip(wish.ratios, constants, part, strict=True):
        if number >= 0:
            low[number] = max(low[number], 1.0 - constant)
            high[number] = max(high[number], float(most[2 * h + 1] - constant))
    high = [max(pair) for pair in zip(low, high, strict=True)]
    if len(parts) == 1:
        high = [_worthwhile(wish, constants, part, low[0], high[0], most)]
    box = DenominatorBox(constants, tuple(part), tuple(low), tuple(high))
    if len(constants) == 2 and parts:
        return _quotients(instance, wish, box)
    return _along(instance, wish, box) if len(parts) > 1 and min(constants) > 0 else box


def varies_alike(instance: Coverage) -> bool:
    """Return whether denominators differ only by constants, as with several references, so that a box is a line."""
    return len({_varying(instance, h, all_alike=True) for h in range(instance.ratios)} - {None}) <= 1


def _varying(instance: Coverage, h: int, *, all_alike: bool) -> object:
    """Return a key, equal if denominators differ by constants (with features: if `all_alike`); None for a constant."""
    row = instance.mass[2 * h + 1]
    features = np.flatnonzero(instance.slot == 2 * h + 1)
    if not len(features):
        return row.tobytes() if row.any() else None
    if not all_alike:
        return h
    if {joint.feature for joint in instance.joints}.intersection(features.tolist()):
        return h
    units = packed_rows(instance.unit_start)
    own = np.isin(instance.unit_feature, features)
    held: dict[int, list[tuple[int, int]]] = {}
    for feature, unit, count in zip(
        instance.unit_feature[own].tolist(), units[own].tolist(), instance.unit_count[own].tolist(), strict=True
    ):
        held.setdefault(feature, []).append((unit, count))
    found = [
        (*instance.level[instance.level_start[f] : instance.level_start[f + 1]].tolist(), *held.get(f, ()))
        for f in features.tolist()
    ]
    return row.tobytes(), tuple(sorted(map(repr, found)))


def _worthwhile(
    wish: Weighted, constants: Sequence[int], part: Sequence[int], low: float, high: float, most: Sequence[int]
) -> float:
    """Return the largest value of a box's only coordinate at which the inequality may hold, or slightly more."""

    def value(mass: float) -> float:
        return sum(
            float(weight) * most[2 * h] / max(constant + (mass if which >= 0 else 0.0), 1.0)
            for h, weight, constant, which in zip(wish.ratios, wish.weights, constants, part, strict=True)
        )

    wanted = float(wish.value) * (1 - 1e-9)
    if value(high) >= wanted:
        return high
    inside, outside = low, high
    for _ in range(40):
        at = (inside + outside) / 2
        inside, outside = (at, outside) if value(at) >= wanted else (inside, at)
    return outside


def _quotients(instance: Coverage, wish: Weighted, box: DenominatorBox) -> DenominatorBox:
    """Return the range of the second denominator divided by the first, as a box."""
    totals = [2 * h + 1 for h in wish.ratios]
    if min(box.constants) > 0 and not np.isin(instance.slot, totals).any():
        # Both are sums over the units, so the quotient is extreme for the first units in order of their own quotients.
        added = instance.mass[totals].astype(np.float64)
        added = added[:, added.any(axis=0)]
        order = np.argsort(np.arctan2(added[1], added[0]))
        start = instance.constants[totals].astype(np.float64)
        extremes: list[tuple[float, ...]] = [tuple(start.tolist())]
        for way in (order, order[::-1]):
            extremes += zip(*(start[:, None] + np.cumsum(added[:, way], axis=1)).tolist(), strict=True)
    else:
        extremes = [(max(1.0, float(v[0])), max(1.0, float(v[1]))) for v in box.corners()]
    found = [second / first for first, second in extremes]
    low, high = min(found) * (1 - 1e-12), max(found) * (1 + 1e-12)
    return DenominatorBox((0, 0), (-1, 0), (low,), (high,), quotient=True)


def within(instance: Coverage, box: DenominatorBox, wish: Weighted, *, least: bool) -> Coverage | None:
    """Limit the lengths of an instance to those of selections in a box; return None if there are no such selections.

    `least`: whether to limit lengths from below, too, which is better for bounds and worse for searches.
    """
    if not box.outlines:
        return instance
    lengths = instance.mass[2 * wish.ratios[box.part.index(0)] + 1]
    shortest, longest = instance.min_length, instance.max_length
    if shortest <= 0 and longest >= int(instance.lengths.sum()):  # lengths do not bind
        shortest, longest = 0, NO_LIMIT
    elif not np.array_equal(lengths, instance.lengths):
        return instance
    longest = min(longest, floor(box.high[0]))
    if longest < max(shortest, ceil(box.low[0])):
        return None
    if least and instance.size * longest <= _LARGEST_TABLE:
        shortest = max(shortest, ceil(box.low[0]))
    return replace(instance, lengths=lengths, min_length=shortest, max_length=longest)


def _along(instance: Coverage, wish: Weighted, box: DenominatorBox) -> DenominatorBox:
    """Return a box of the first coordinate and of the quotients of other coordinates by it, if all are sums over units.

    Numbers of words and of bigrams are nearly proportional, so most pairs in a box of both belong to no selection.
    """
    totals = [2 * wish.ratios[box.part.index(number)] + 1 for number in range(len(box.low))]
    held = instance.mass[totals]
    if np.isin(instance.slot, totals).any() or held[:, held[0] == 0].any():
        return box
    first, *others = held[:, held[0] > 0].astype(np.float64)

    def curve(other: NDArray[np.float64], way: NDArray[np.int64]) -> Outline:
        return Outline(*(np.append(0.0, np.cumsum(mass[way])) for mass in (first, other)))

    ways = [(other, np.argsort(other / first, kind="stable")) for other in others]
    outlines = tuple((curve(other, way), curve(other, way[::-1])) for other, way in ways)  # lowest and highest sums
    low, high = (0.0,) * len(box.low), (box.high[0], *(over.slope(0.0) * 2 for _, over in outlines))
    return replace(box, low=low, high=high, outlines=outlines).sloped()


def _plane(box: DenominatorBox, wish: Weighted) -> tuple[Fraction, ...]:
    """Return coefficients of E with which the left side (see the module) is least in the middle, for typical T."""
    middle = [float(d) for d in box.middle()]
    found = [float(w) * max(t, 1e-3) / d**2 for w, t, d in zip(wish.weights, wish.typical, middle, strict=True)]
    largest = max(found)
    # Whole numbers: sums of thousands of fractions would have very long denominators.
    return tuple(Fraction(round(max(e / largest, 1e-9) * 2.0**60)) for e in found)


def excess(box: DenominatorBox, wish: Weighted, check: Callable[[], object] = NEVER.check) -> float:
    """Return the relative excess of the left side at the worst corner over the middle, for typical numerators."""
    plane = [float(e) for e in _plane(box, wish)]

    def left(corner: Corner) -> float:
        d = [float(x) for x in corner]
        scale = sum(e * x for e, x in zip(plane, d, strict=True))
        return sum(float(w) * max(t, 1e-3) * scale / x for w, t, x in zip(wish.weights, wish.typical, d, strict=True))

    return max(left(corner) for corner in box.corners(check)) / left(box.middle()) - 1.0


def programs(
    instance: Coverage,
    box: DenominatorBox,
    wish: Weighted,
    *,
    largest: float = 2.0**46,
    steepest: float = inf,
    check: Callable[[], object] = NEVER.check,
    one: bool = False,
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield integers (a, b) for each corner; a selection that satisfies the inequality has a T >= b D at some corner.

    `largest`: limit of a T + b D; `steepest`: limit of each a; both affect only precision. `one`: yield one program
    for all corners, with the largest coefficients.
    """
    most = reaches(instance)
    plane = _plane(box, wish)
    if one:
        plane = tuple(Fraction(int(not h)) for h in range(len(plane)))
    below = [wish.value * e for e in plane]

    def weigh(corner: Corner) -> list[Fraction]:
        scale = sum((e * d for e, d in zip(plane, corner, strict=True)), Fraction(0))
        return [w * scale / d for w, d in zip(wish.weights, corner, strict=True)]

    each = map(weigh, box.corners(check))
    for above in [list(map(max, zip(*each, strict=True)))] if one else each:
        reach = sum(float(x) * max(most[2 * h], 1) for h, x in zip(wish.ratios, above, strict=True))
        reach += sum(float(x) * max(most[2 * h + 1], 1) for h, x in zip(wish.ratios, below, strict=True))
        factor = Fraction(min(largest / reach, steepest / float(max(above))))
        if len(above) == 1 and below[0] and (exact := (above[0] / below[0]).numerator / above[0]) < factor:
            factor = exact  # without rounding, only better selections exceed the value of a single ratio
        tops, bottoms = [0] * instance.ratios, [0] * instance.ratios
        for h, x, y in zip(wish.ratios, above, below, strict=True):
            tops[h], bottoms[h] = ceil(x * factor), floor(y * factor)
        yield tuple(tops), tuple(bottoms)


def collapsed(instance: Coverage, tops: Sequence[int], bottoms: Sequence[int]) -> Coverage:
    """Return the ratio ``sum of tops[h] T_h / sum of bottoms[h] D_h`` as an instance of one ratio.

    Parts of a denominator that a program cannot express (several steps, occurrences of several units) are left out,
    which can only increase the ratio.
    """
    factor = np.array([weight for pair in zip(tops, bottoms, strict=True) for weight in pair], np.int64)
    steps = np.diff(instance.level_start) - 1
    lost = (factor[instance.slot] == 0) | ((instance.slot % 2 == 1) & (steps != 1))
    lost[[joint.feature for joint in instance.joints if instance.slot[joint.feature] % 2]] = True
    made = combined(instance, np.arange(len(factor)) % 2, factor)
    return made.changed(
        joints=tuple(joint for joint in instance.joints if not lost[joint.feature]),
        level=np.where(np.repeat(lost, steps + 1), 0, made.level),
        slot=np.where(lost, 0, made.slot),
    )


def alike_features(coverage: Coverage) -> IntArray:
    """Return a group number for each feature; features share it if they occur equally, and in one kind of total."""
    order = np.argsort(coverage.unit_feature, kind="stable")
    unit = packed_rows(coverage.unit_start)[order]
    ends = np.searchsorted(coverage.unit_feature[order], np.arange(coverage.features + 1))
    full = np.diff(coverage.level_start) - 1
    count = np.minimum(coverage.unit_count, full[coverage.unit_feature])[order]
    joints: dict[int, list[object]] = {}
    for joint in coverage.joints:
        vetoes = joint.vetoes if isinstance(joint.vetoes, range) else tuple(joint.vetoes)
        joints.setdefault(joint.feature, []).append((joint.needs, vetoes, joint.count))
    numbers: dict[object, int] = {}
    found = []
    for feature, odd in enumerate((coverage.slot % 2).tolist()):
        own = slice(ends[feature], ends[feature + 1])
        key = odd, unit[own].tobytes(), count[own].tobytes(), tuple(joints.get(feature, ()))
        found.append(numbers.setdefault(key, len(numbers)))
    return np.array(found, np.int64)


def merged_features(coverage: Coverage, group: IntArray) -> Coverage:
    """Return an instance with one feature for each group, which gains 1 for each copy, and without masses."""
    numbers, first = np.unique(group, return_index=True)
    full = np.diff(coverage.level_start) - 1
    steps = np.zeros(len(numbers), np.int64)
    np.maximum.at(steps, group, full)
    kept = np.isin(np.arange(coverage.features), first)
    entries = kept[coverage.unit_feature]
    unit = packed_rows(coverage.unit_start)[entries]
    level_start, level = pack([range(most + 1) for most in steps.tolist()])
    return replace(
        coverage,
        unit_start=np.searchsorted(unit, np.arange(coverage.size + 1)),
        unit_feature=group[coverage.unit_feature[entries]],
        unit_count=np.clip(coverage.unit_count, 1, np.maximum(full, 1)[coverage.unit_feature])[entries],  # as in groups
        level_start=level_start,
        level=level,
        slot=coverage.slot[first] % 2,
        joints=tuple(replace(one, feature=int(group[one.feature])) for one in coverage.joints if kept[one.feature]),
        constants=np.array([0, 1], np.int64),
        mass=np.zeros((2, coverage.size), np.int64),
        weights=(1,),
        combination=Combination.RATIO,
    )
