"""The integer program of ROUGE-L recall: covered positions, and hits capped by the summary's tokens."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from optsum.coverage.instance import NO_LIMIT, Sense
from optsum.program.model import LinearModel
from optsum.program.rows import Rows

if TYPE_CHECKING:
    from .longest import LongestProblem

__all__ = ["longest_model"]


def longest_model(problem: LongestProblem) -> LinearModel:
    """Return the program: units x, covered positions y, hits h of tokens that a reference repeats.

    ``y_p <= sum of x_u over the units that cover p``; ``h_t <= sum of y_p over the positions of t`` and ``h_t <= sum of
    c_ut x_u``. Positions of a token that occurs once are hits themselves. Only x is integral: whatever x, the rest
    takes its largest values.
    """
    n = problem.size
    totals = [reference.total for reference in problem.references]
    common = lcm(*(total for total in totals if total)) if problem.mean else 1
    objective: list[int] = [0] * n
    upper: list[int] = [1] * n
    rows = Rows()

    def row(entries: list[tuple[int, int]], lower: float, most: float) -> None:
        columns = np.array([column for column, _ in entries], np.int64)
        rows.add(np.zeros(len(entries), np.int64), columns, np.array([value for _, value in entries], np.int64))
        rows.close(1, lower, most)

    def column(gain: int, most: int) -> int:
        objective.append(gain)
        upper.append(most)
        return len(objective) - 1

    for reference, total in zip(problem.references, totals, strict=True):
        gain = common // total if problem.mean and total else 1
        covers: dict[int, list[int]] = {}
        for unit, bits in enumerate(reference.covered):
            for position in _bits(bits):
                covers.setdefault(position, []).append(unit)
        place: dict[int, int] = {}
        for position, units in sorted(covers.items()):
            place[position] = column(gain if reference.once >> position & 1 else 0, 1)
            row([(place[position], 1), *((unit, -1) for unit in units)], -np.inf, 0)
        for bits, token in reference.repeated:
            places = [place[position] for position in _bits(bits) if position in place]
            if not places:
                continue
            hits = column(gain, len(places))
            row([(hits, 1), *((one, -1) for one in places)], -np.inf, 0)
            held = [(unit, -count) for unit in range(n) if (count := problem.tokens[unit].count(token))]
            row([(hits, 1), *held], -np.inf, 0)
    most = np.inf if problem.max_length >= NO_LIMIT else float(problem.max_length)
    row(list(enumerate(problem.lengths)), float(problem.min_length), most)
    row_start, row_column, row_value, row_lower, row_upper = rows.arrays()
    return LinearModel(
        sense=Sense.MAXIMIZE,
        objective=np.array(objective, np.int64),
        upper=np.array(upper, np.int64),
        integral=np.arange(len(objective)) < n,
        row_start=row_start,
        row_column=row_column,
        row_value=row_value,
        row_lower=row_lower,
        row_upper=row_upper,
        units=n,
        denominator=max(1, common * len(totals) if problem.mean else sum(totals)),
    )


def _bits(number: int) -> list[int]:
    """Return the positions of the bits that are set."""
    return [position for position in range(number.bit_length()) if number >> position & 1]
