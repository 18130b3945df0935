"""Rows of the integer program for occurrences that several units decide.

One column m for each distinct pair of needed and vetoing units. In general ``m <= x_v`` and ``m <= 1 - x_u``
(Hirao et al. 2017, compressive, eq. 8-9). The seams of a joined text have stronger rows and far fewer: a chosen
sentence has at most one successor and one predecessor, and at most one seam spans a sentence, none a chosen one.
With s_u the seams that span u this is a path:

    sum_j m_uj <= x_u,   sum_i m_iu <= x_u,   s_u = s_(u-1) + sum_j m_(u-1)j - sum_i m_iu,   s_u + x_u <= 1
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsum.coverage.instance import IntArray, Joint
from optsum.program.rows import Rows


class JointColumns:
    """Columns of the joint occurrences, from number `first` on.

    Parameters
    ----------
    first : int
        Number of the first column.
    """

    def __init__(self, joints: Sequence[Joint], units: int, first: int) -> None:
        self.units = units
        self.first = first
        column: dict[tuple[tuple[int, ...], Sequence[int]], int] = {}
        copies: dict[tuple[int, int], int] = {}
        self.occurrences: list[Joint] = []
        for joint in joints:
            vetoes = joint.vetoes if isinstance(joint.vetoes, range) else tuple(joint.vetoes)
            number = column.setdefault((joint.needs, vetoes), len(column))
            if number == len(self.occurrences):
                self.occurrences.append(joint)
            copies[joint.feature, number] = copies.get((joint.feature, number), 0) + joint.count
        self.seams = np.array([joint.seam for joint in self.occurrences], np.bool_)
        self.feature = np.array([feature for feature, _ in copies], np.int64)
        self.column = first + np.array([number for _, number in copies], np.int64)
        self.count = np.array(list(copies.values()), np.int64)

    @property
    def size(self) -> int:
        """Number of columns: one an occurrence, and one a unit where there are seams."""
        return len(self.occurrences) + (self.units if self.seams.any() else 0)

    def add_rows(self, rows: Rows) -> None:
        """Tie the columns to the units."""
        for number, joint in enumerate(self.occurrences):
            if not self.seams[number]:
                self._tie(rows, number, np.array(joint.needs, np.int64), -1, 0.0)
                self._tie(rows, number, np.array(joint.vetoes, np.int64), 1, 1.0)
        if self.seams.any():
            self._chain(rows)

    def _tie(self, rows: Rows, number: int, units: IntArray, sign: int, limit: float) -> None:
        if len(units):
            block = np.arange(len(units))
            rows.add(block, np.full(len(units), self.first + number), np.ones(len(units), np.int64))
            rows.add(block, units, np.full(len(units), sign))
            rows.close(len(units), -np.inf, limit)

    def _chain(self, rows: Rows) -> None:
        numbers = np.flatnonzero(self.seams)
        ends = np.array([self.occurrences[number].needs for number in numbers], np.int64).reshape(-1, 2)
        unit, one = np.arange(self.units), np.ones(self.units, np.int64)
        arc, arcs = self.first + numbers, np.ones(len(numbers), np.int64)
        spans = self.first + len(self.occurrences) + unit
        for side in (0, 1):  # at most one successor, at most one predecessor
            rows.add(ends[:, side], arc, arcs)
            rows.add(unit, unit, -one)
            rows.close(self.units, -np.inf, 0.0)
        rows.add(unit, spans, one)
        rows.add(unit[1:], spans[:-1], -one[1:])
        wide = ends[:, 1] > ends[:, 0] + 1  # a seam of neighbours spans nothing
        rows.add(ends[wide, 1], arc[wide], arcs[wide])
        rows.add(ends[wide, 0] + 1, arc[wide], -arcs[wide])
        rows.close(self.units, 0.0, 0.0)
        rows.add(unit, spans, one)
        rows.add(unit, unit, one)
        rows.close(self.units, -np.inf, 1.0)
