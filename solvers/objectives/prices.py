"""Programs that see the ends of their cell: a selection outside is worth less in them, one inside no less.

A program for a cell of denominators (`optsum.program.surrogate`) bounds the selections of the cell alone; others may
be worth anything in it, and are most of what a search would find. The ends of the cell are rows, ``A >= l`` and
``A <= u``, which every selection of it keeps. This is their Lagrangian relaxation: with prices ``y, z >= 0`` the
program gains ``y (A - l) + z (u - A)``, which is negative outside the cell alone. Any prices are valid, so they are
rounded to integers; good ones are the multipliers of these rows in the linear relaxation.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Final

import numpy as np

from optsum.coverage.cell import Cell
from optsum.coverage.instance import Coverage
from optsum.program.highs import relax
from optsum.system.deadline import Deadline

from ..ratio_rows import RatioRows, sides_of

__all__ = ["CellPrices"]

_LARGEST: Final = 2.0**52
"""What prices may add to a program's values,"""

_DEAREST: Final = 2.0**40
"""and what one may be."""


class CellPrices:
    """Prices of the ends of an instance's cells.

    Parameters
    ----------
    instance : Coverage
    """

    def __init__(self, instance: Coverage) -> None:
        self._instance = instance
        self._made: RatioRows | None = None

    def added(
        self, cell: Cell, ratios: Sequence[int], weights: tuple[Sequence[int], Sequence[int]], deadline: Deadline
    ) -> tuple[tuple[Sequence[int], Sequence[int]], int]:
        """Return the weights of a cell's program with prices, ``a T - b D``, and a constant that belongs to them.

        The weights as they are, and 0, where a denominator is no sum over the units or may be 0, where there are side
        constraints, where there is no relaxation, and where prices are too large.
        """
        instance, unpriced = self._instance, (weights, 0)
        certain = all(int(instance.constants[2 * h + 1]) > 0 for h in ratios)
        if not certain or instance.rows or (instance.slot & 1).any():
            return unpriced
        if self._made is None:
            self._made = RatioRows(instance)
        tops, bottoms = weights[0], list(weights[1])
        sides = list(sides_of(cell, ratios, self._made.constants))
        model = self._made.program(tops, bottoms, sides)
        relaxation = None if model is None or not sides else relax(model, deadline)
        if relaxation is None:
            return unpriced
        constant, added = 0, np.zeros(instance.size)
        for side, dual in zip(sides, relaxation.duals[-len(sides) :].tolist(), strict=True):
            if not abs(dual) < _DEAREST:
                return unpriced
            price = round(dual)  # positive where the upper end binds
            end = side.high if price > 0 else side.low
            if not price or end is None:
                continue
            constant += price * end
            for h, times in side.times.items():
                bottoms[h] += price * times
                constant += price * times * self._made.constants[2 * h + 1]
                added += float(price * times) * instance.mass[2 * h + 1]
        base = (
            constant
            + sum(map(mul, tops, self._made.constants[0::2]))
            - sum(map(mul, bottoms, self._made.constants[1::2]))
        )
        fits = abs(base) <= _LARGEST and max(map(abs, bottoms)) <= _LARGEST and np.abs(added).sum() <= _LARGEST
        return ((tops, bottoms), constant) if fits else unpriced
