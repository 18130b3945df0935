r"""A lower bound of a cover from shares of the units' lengths, proven in integers.

Let each clause i get a share :math:`s_{iu} \ge 0` of the length of unit u, so that the shares of a unit add up to at
most its length :math:`c_u`. Every cover X holds an alternative :math:`A_i` of each clause, so

.. math:: \sum_{u \in X} c_u \ge \sum_i \sum_{u \in A_i} s_{iu} \ge \sum_i \min_{A \in i} \sum_{u \in A} s_{iu}.

The best shares are duals of the relaxed program (`optsum.program.cover`): that of clause i's row for unit u. They are
floats; rounded to multiples of 1/65536 so that no length is shared out twice, they give a bound in integers. The
tolerances of floating point can make it weaker, never wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, Final, NamedTuple

from optsum.coverage.clauses import Bits, Clauses, members, support
from optsum.program.cover import cover_program
from optsum.program.dual_bound import SCALE
from optsum.program.highs import new_highs, pass_model, run
from optsum.system.deadline import NEVER, Deadline

_SMALL: Final = 10_000
"""Entries of a linear program that takes less than a tenth of a second: it is solved here, others apart."""


class Fixed(NamedTuple):
    """What all covers within a length limit have in common.

    Attributes
    ----------
    inside, outside : Bits
        Units that each of them holds, and units that none holds.
    clauses : Clauses
        Less the alternatives that none holds.
    cut : int
        Lower bound of the covers for which one of these does not hold.
    """

    inside: Bits
    outside: Bits
    clauses: Clauses
    cut: int


@dataclass(frozen=True)
class Shares:
    """The lengths of the units, shared out among the clauses of some clauses.

    Attributes
    ----------
    clauses : Clauses
    lengths : sequence of int
    share : sequence of dict
        For each clause, unit -> share in multiples of 1 / `SCALE`.
    chosen : dict
        Unit -> its value in the relaxation: a hint for branching.
    """

    clauses: Clauses
    lengths: Sequence[int]
    share: Sequence[dict[int, int]]
    chosen: dict[int, float]

    @cached_property
    def sums(self) -> list[list[int]]:
        """Summed shares of each alternative of each clause."""
        return [
            [sum([share[unit] for unit in members(alternative)]) for alternative in clause]
            for clause, share in zip(self.clauses, self.share, strict=True)
        ]

    @cached_property
    def total(self) -> int:
        """Every cover of the clauses has at least this length, in multiples of 1 / `SCALE`."""
        return sum(map(min, self.sums))

    @property
    def bound(self) -> int:
        """Every cover of the clauses has at least this length."""
        return -(-self.total // SCALE)

    def fixed(self, limit: int) -> Fixed:
        """Return what every cover within a length limit has in common."""
        slack = limit * SCALE - self.total
        # What is added to the bound if a unit is ruled out, and if it is chosen.
        dearer_without: dict[int, int] = {}
        dearer_with: dict[int, int] = {}
        left = []
        least_cut = sys.maxsize
        for clause, share, sums in zip(self.clauses, self.share, self.sums, strict=True):
            least = min(sums)
            for unit in members(clause[sums.index(least)]):
                bit = 1 << unit
                others = [value for alternative, value in zip(clause, sums, strict=True) if not alternative & bit]
                grows = min(others) - least if others else sys.maxsize
                dearer_without[unit] = dearer_without.get(unit, 0) + grows
            relief = dict.fromkeys(share, 0)
            kept = []
            for alternative, value in zip(clause, sums, strict=True):
                for unit in members(alternative):
                    relief[unit] = max(relief[unit], least - value + share[unit])
                if value - least <= slack:
                    kept.append(alternative)
                else:
                    least_cut = min(least_cut, value - least)
            left.append(tuple(kept))
            for unit, saved in relief.items():
                dearer_with[unit] = dearer_with.get(unit, SCALE * self.lengths[unit]) - saved
        inside = {unit: more for unit, more in dearer_without.items() if more > slack}
        outside = {unit: more for unit, more in dearer_with.items() if more > slack}
        least_cut = min([least_cut, *inside.values(), *outside.values()])
        return Fixed(
            sum([1 << unit for unit in inside]),
            sum([1 << unit for unit in outside]),
            tuple(left),
            -(-(self.total + least_cut) // SCALE),
        )


class Relaxer:
    """Solves relaxations; one HiGHS object serves them all.

    Parameters
    ----------
    lengths : of all units
    deadline : Deadline
        Shares that are not there by then are 0.
    """

    def __init__(self, lengths: Sequence[int], deadline: Deadline = NEVER) -> None:
        self._lengths = lengths
        self._deadline = deadline
        self._highs: Any = None
        self.solved = 0

    def shares(self, clauses: Clauses) -> Shares:
        """Return the best shares, as far as floating point finds them."""
        import highspy

        units = list(members(support(clauses)))
        program, links = cover_program(clauses, units, self._lengths)
        if self._highs is None:
            self._highs = new_highs()
            self._highs.setOptionValue("presolve", "off")
        self._highs.clearModel()
        # An upper limit of 1 holds by itself; as a limit it would take a part of the duals.
        pass_model(self._highs, replace(program, upper=2 * program.upper), relaxed=True)
        ended = run(self._highs, self._deadline, apart=len(program.row_column) > _SMALL)
        self.solved += 1
        if not ended:  # it must not be asked anything
            self._highs = None
        left = {unit: SCALE * self._lengths[unit] for unit in units}
        if not ended or self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return Shares(clauses, self._lengths, [dict.fromkeys(linked, 0) for linked in links], {})
        solution = self._highs.getSolution()
        duals, values = solution.row_dual, solution.col_value
        share: list[dict[int, int]] = []
        for clause, linked in enumerate(links):
            own: dict[int, int] = {}
            for unit, row in linked.items():
                dual = duals[clause] if row < 0 else -duals[row]
                own[unit] = min(left[unit], int(dual * SCALE)) if isfinite(dual) and dual > 0 else 0
                left[unit] -= own[unit]
            share.append(own)
        return Shares(clauses, self._lengths, share, dict(zip(units, values, strict=False)))
