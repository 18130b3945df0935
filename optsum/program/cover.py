"""The integer program of a cover, tighter than that of the general normal form.

With x_u = 1 if unit u is chosen and m_iA = 1 if clause i picks its alternative A:

    minimize    sum of length_u * x_u
    subject to  sum over A of m_iA >= 1               for each clause i
                sum over A containing u of m_iA <= x_u    for each clause i and unit u

A clause needs no more than one alternative, so all of a clause's alternatives that contain u share one row. One row
for each alternative would be right too, but its relaxation is much weaker: half of each of many alternatives is then
worth as much as a whole one. An alternative of one unit is that unit's column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from optsum.coverage.clauses import Clauses, canonical, clauses_of, interchangeable, is_cover, members
from optsum.coverage.instance import Coverage, Sense
from optsum.program.model import LinearModel, coverage_model
from optsum.program.rows import LinearRows


def model_of(instance: Coverage, *, relaxed: bool = False) -> LinearModel:
    """Return the program that solvers get and bounds are proven on: of a cover with one unit standing for its equals.

    Raises
    ------
    UnsupportedError
        If the objective is not linear.
    """
    if not is_cover(instance):
        return coverage_model(instance, relaxed=relaxed)
    lengths = instance.lengths.tolist()
    clauses, _ = interchangeable(canonical(clauses_of(instance)), lengths)
    return cover_program(clauses, range(instance.size), lengths)[0]


def cover_program(
    clauses: Clauses, units: Sequence[int], lengths: Sequence[int]
) -> tuple[LinearModel, list[dict[int, int]]]:
    """Return the program of some clauses.

    Parameters
    ----------
    clauses : Clauses
        No alternative contains another of its clause (`optsum.coverage.clauses.canonical`).
    units : sequence of int
        Units of the first columns, in order: at least those that occur.
    lengths : sequence of int
        Of all units.

    Returns
    -------
    model : LinearModel
        Row i is clause i.
    links : list of dict
        For each clause, unit -> its row; -1 for a unit that is an alternative by itself, which needs none.
    """
    column = {unit: place for place, unit in enumerate(units)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[int] = []
    links: list[dict[int, int]] = []
    row, pick = len(clauses), len(column)
    for index, clause in enumerate(clauses):
        linked: dict[int, int] = {}
        for alternative in clause:
            rows.append(index)
            values.append(1)
            if alternative.bit_count() == 1:
                unit = alternative.bit_length() - 1
                columns.append(column[unit])
                linked[unit] = -1
                continue
            columns.append(pick)
            for unit in members(alternative):
                if unit not in linked:
                    linked[unit] = row
                    rows.append(row)
                    columns.append(column[unit])
                    values.append(-1)
                    row += 1
                rows.append(linked[unit])
                columns.append(pick)
                values.append(1)
            pick += 1
        links.append(linked)
    made = LinearRows()
    made.add(np.array(rows, np.int64), np.array(columns, np.int64), np.array(values, np.int64))
    made.close(len(clauses), 1.0, np.inf)
    made.close(row - len(clauses), -np.inf, 0.0)
    objective = np.zeros(pick, np.int64)
    objective[: len(column)] = [lengths[unit] for unit in units]
    model = LinearModel(
        sense=Sense.MINIMIZE,
        objective=objective,
        upper=np.ones(pick, np.int64),
        integral=np.arange(pick) < len(column),
        **made.arrays()._asdict(),
        units=len(column),
        denominator=1,
    )
    return model, links
