"""Boxes of denominators: sets of what the denominators of several ratios can be, and the corners of their cones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import log, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Corner: TypeAlias = tuple[Fraction, ...]  # A direction of the denominators, one positive number a ratio.


@dataclass(frozen=True, eq=False)
class Outline:
    """Points that are joined by straight lines, from the origin on; no two have the same x."""

    # x, y: (points,)
    x: NDArray[np.float64]
    y: NDArray[np.float64]

    def slope(self, x: float) -> float:
        """Return the height at x divided by x; at 0 that of the first line."""
        at = max(x, float(self.x[1]))
        return float(np.interp(at, self.x, self.y)) / at


def outlines_of(added: NDArray[np.float64]) -> tuple[tuple[Outline, Outline], ...]:
    """Return, for each coordinate but the first, the lower and the upper curve over the first of what selections have.

    `added` (coordinates, units): what each unit adds, of the first a positive number.
    """
    first, *others = added
    ways = [(other, np.argsort(other / first, kind="stable")) for other in others]

    def curve(other: NDArray[np.float64], way: NDArray[np.int64]) -> Outline:
        return Outline(*(np.append(0.0, np.cumsum(mass[way])) for mass in (first, other)))

    return tuple((curve(other, way), curve(other, way[::-1])) for other, way in ways)


@dataclass(frozen=True)
class DenominatorBox:
    """Denominators ``constants[h] + (the coordinate of part[h], or nothing)``, or with a given quotient."""

    constants: tuple[int, ...]  # one integer a ratio
    part: tuple[int, ...]  # one number a ratio: which coordinate varies it; -1 for none.
    # low, high: one number a coordinate
    low: tuple[float, ...]
    high: tuple[float, ...]
    # There are two ratios, and the only coordinate is the second denominator divided by the first.
    quotient: bool = False
    # Where there are any, those coordinates are divided by the first. What a selection has of a coordinate lies between
    # the two curves over what it has of the first: one convex, one concave, both from the origin.
    outlines: tuple[tuple[Outline, Outline], ...] = ()

    def _at(self, point: Sequence[float]) -> Corner:
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
        """Return the box with no more slopes than selections have from its lowest first coordinate on."""
        low, high = list(self.low), list(self.high)
        for number, (under, over) in enumerate(self.outlines, 1):
            # From the origin the slope of a convex curve grows, and that of a concave one falls.
            low[number] = max(low[number], under.slope(low[0]) * (1 - 1e-12))
            high[number] = max(low[number], min(high[number], over.slope(low[0]) * (1 + 1e-12)))
        return replace(self, low=tuple(low), high=tuple(high))

    def corners(self, check: Callable[[], object] | None = None) -> Iterator[Corner]:
        """Yield directions whose cone holds all denominators of the box; `check` is called before each, if given."""
        for point in product(*({low, high} for low, high in zip(self.low, self.high, strict=True))):
            if check is not None:
                check()
            yield self._at(point)

    def _between(self, coordinate: int) -> float:
        low, high = self.low[coordinate], self.high[coordinate]
        shift = self._shift(coordinate)
        return min(high, max(low, sqrt((low + shift) * (high + shift)) - shift))

    def _shift(self, coordinate: int) -> float:
        if self.quotient:
            return 0.0
        constant = float(min(c for c, p in self._held() if p == coordinate))
        return constant / max(self.high[0], 1.0) if self.outlines and coordinate else constant

    def _held(self) -> Iterator[tuple[int, int]]:
        return zip(self.constants, self.part, strict=True)

    def middle(self) -> Corner:
        """Return a direction inside."""
        return self._at([self._between(coordinate) for coordinate in range(len(self.low))])

    def halves(self) -> tuple[DenominatorBox, DenominatorBox] | None:
        """Split the widest coordinate; None if none can be split."""
        best, widest = -1, 1e-9
        for coordinate, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            shift = self._shift(coordinate)
            width = log((high + shift) / (low + shift))
            if width > widest:
                best, widest = coordinate, width
        if best < 0:
            return None
        at = self._between(best)
        below = replace(self, high=(*self.high[:best], at, *self.high[best + 1 :]))
        above = replace(self, low=(*self.low[:best], at, *self.low[best + 1 :]))
        return below, above.sloped() if best == 0 else above
