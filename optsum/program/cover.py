"""The integer program of a cover, tighter than the general one of the normal form.

With x_u = 1 if unit u is chosen and m_iA = 1 if clause i picks its alternative A:

    minimize    sum of length_u * x_u
    subject to  sum over A of m_iA >= 1               for each clause i
                sum over A containing u of m_iA <= x_u    for each clause i and unit u

A clause needs only one alternative, so all of its alternatives that contain u share one row. One row for each
alternative would be correct too, but its relaxation is much weaker: halves of two alternatives would count as a whole
one. An alternative of one unit is that unit's column.

MaxSAT solvers take clauses: variable u + 1 means that unit u is chosen, and an alternative of several units is a
variable that is true if and only if all of its units are chosen. For the minimum, "only if" would suffice, but then one
cover would be several models. Hard clauses: each abstract sentence has an alternative. Soft clauses: a unit is not
chosen, with its length as weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optsum.coverage.clauses import Bits, Clauses, canonical, clauses_of, interchangeable, is_cover, members
from optsum.coverage.instance import Coverage, Sense
from optsum.program.model import LinearModel, LinearRows, coverage_model


@dataclass(frozen=True)
class Wcnf:
    """A partial weighted MaxSAT instance; literals as in DIMACS files."""

    units: int  # The first variables are the units.
    hard: list[list[int]]
    # Unit clauses; the weights of those that do not hold add up to the length of the cover.
    soft: list[tuple[int, int]]


def wcnf_of(instance: Coverage) -> Wcnf:
    """Return the MaxSAT instance of a cover."""
    defined: list[list[int]] = []
    variable: dict[Bits, int] = {1 << unit: unit + 1 for unit in range(instance.size)}
    wanted: list[list[int]] = []
    for clause in clauses_of(instance):
        for alternative in clause:
            if alternative not in variable:
                new = variable[alternative] = len(variable) + 1
                needed = [unit + 1 for unit in members(alternative)]
                defined.extend([-new, literal] for literal in needed)
                defined.append([new, *(-literal for literal in needed)])
        wanted.append([variable[alternative] for alternative in clause])
    soft = [(length, -(unit + 1)) for unit, length in enumerate(instance.lengths.tolist()) if length]
    return Wcnf(instance.size, [*wanted, *defined], soft)


def wcnf_text(instance: Coverage, names: Sequence[object] = (), *, title: str = "") -> str:
    """Return the text of a WCNF file, in the format of the MaxSAT Evaluations since 2022.

    `names`: the input's names of the units, written as comments. `title`: first comment.

    Examples
    --------
    >>> from optsum.coverage.instance import Sense
    >>> tiny = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], goal=Sense.MINIMIZE)
    >>> print(wcnf_text(tiny, ["s1", "s2"]), end="")
    c variable 1 is s1
    c variable 2 is s2
    h 1 2 0
    1 -1 0
    1 -2 0
    """
    made = wcnf_of(instance)
    lines = [f"c {' '.join(title.split())}"] if title else []
    lines += [f"c variable {unit} is {' '.join(str(name).split())}" for unit, name in enumerate(names, start=1)]
    lines += [f"h {' '.join(map(str, [*clause, 0]))}" for clause in made.hard]
    lines += [f"{weight} {literal} 0" for weight, literal in made.soft]
    return "".join(f"{line}\n" for line in lines)


def model_of(instance: Coverage, *, relaxed: bool = False) -> LinearModel:
    """Return the program for solvers and bounds; in a cover, one unit represents all its equals."""
    if not is_cover(instance):
        return coverage_model(instance, relaxed=relaxed)
    lengths = instance.lengths.tolist()
    clauses, _ = interchangeable(canonical(clauses_of(instance)), lengths)
    return cover_program(clauses, range(instance.size), lengths)[0]


def cover_program(
    clauses: Clauses, units: Sequence[int], lengths: Sequence[int]
) -> tuple[LinearModel, list[dict[int, int]]]:
    """Return the integer program of clauses.

    `clauses`: no alternative contains another of its clause (`optsum.coverage.clauses.canonical`). `units`: units of
    the first columns, in order, at least those that occur. `lengths`: of all units. `model`: row i is clause i.
    `links`: for each clause, unit -> its row; -1 for a single-unit alternative, which needs no row.
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
        **made.arrays(),
        units=len(column),
        denominator=1,
    )
    return model, links
