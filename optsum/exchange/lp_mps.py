"""Integer programs as text: the LP and MPS formats that every solver reads, with integers as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, isinf

from optsum.coverage.instance import Sense
from optsum.program.model import LinearModel

_PER_LINE = 8
"""Terms in a line: some readers stop at 255 characters."""

_LETTER = {"=": "E", ">=": "G", "<=": "L"}
"""Kinds of rows in MPS files."""


def column_names(model: LinearModel, units: Sequence[str]) -> list[str]:
    """Return the names of all columns: those of the units, then y with the column's number."""
    return [*units, *(f"y{column}" for column in range(model.units, model.columns))]


def _rows(model: LinearModel) -> Iterator[tuple[str, list[tuple[int, int]], str, int]]:
    """Yield name, entries (column, value), relation and right side; a row with two sides is two rows."""
    for row in range(model.rows):
        part = slice(model.row_start[row], model.row_start[row + 1])
        held: dict[int, int] = {}
        for column, value in zip(model.row_column[part].tolist(), model.row_value[part].tolist(), strict=True):
            held[column] = held.get(column, 0) + value
        entries = [(column, value) for column, value in held.items() if value]
        low, high = float(model.row_lower[row]), float(model.row_upper[row])
        if not entries and low <= 0 <= high:
            continue
        entries = entries or [(0, 0)]  # nothing can keep this row, and the file has to say so
        if low == high:
            yield f"r{row}", entries, "=", int(low)
            continue
        # The left side is an integer.
        if not isinf(low) and (low > 0 or any(value < 0 for _, value in entries)):
            yield f"l{row}", entries, ">=", ceil(low)
        if not isinf(high):
            yield f"r{row}", entries, "<=", floor(high)


def lp_text(model: LinearModel, units: Sequence[str], comments: Sequence[str] = ()) -> str:
    r"""Return an integer program in the LP format of CPLEX, which CBC, GLPK, HiGHS, SCIP and Gurobi read.

    Every unit is in the objective, with 0 if need be, so that readers that number columns as they come keep the order.

    Parameters
    ----------
    units : sequence of str
        Names of the units: a letter, then letters, digits and underscores.
    comments : sequence of str
        Lines at the top.

    Examples
    --------
    >>> from optsum.coverage.instance import Coverage
    >>> from optsum.program.model import coverage_model
    >>> tiny = Coverage.of([3, 2], [{0: 1}, {0: 1}], [[1]], max_length=4)
    >>> print(lp_text(coverage_model(tiny), ["s0", "s1"]), end="")
    Maximize
     obj: 0 s0 + 0 s1 + 1 y2
    Subject To
     r0: - 1 s0 - 1 s1 + 1 y2 <= 0
     r1: 3 s0 + 2 s1 <= 4
    Bounds
     0 <= y2 <= 1
    Binaries
     s0 s1
    End
    """
    names = column_names(model, units)
    lines = [f"\\ {_one_line(comment)}" for comment in comments]
    lines.append("Maximize" if model.sense is Sense.MAXIMIZE else "Minimize")
    priced = [(c, v) for c, v in enumerate(model.objective.tolist()) if v or c < model.units]
    lines += _terms("obj", priced, names)
    lines.append("Subject To")
    for name, entries, relation, right in _rows(model):
        written = _terms(name, entries, names)
        written[-1] += f" {relation} {right}"
        lines += written
    lines.append("Bounds")
    integral, upper = model.integral.tolist(), model.upper.tolist()
    lines += [f" 0 <= {names[c]} <= {upper[c]}" for c in range(model.columns) if not (integral[c] and upper[c] == 1)]
    binary = [names[c] for c in range(model.columns) if integral[c] and upper[c] == 1]
    general = [names[c] for c in range(model.columns) if integral[c] and upper[c] != 1]
    for heading, members in (("Binaries", binary), ("Generals", general)):
        if members:
            lines.append(heading)
            lines += [" " + " ".join(members[k : k + _PER_LINE]) for k in range(0, len(members), _PER_LINE)]
    lines.append("End")
    return "\n".join(lines) + "\n"


def _one_line(comment: str) -> str:
    """Return a comment as one line that is short enough for every reader."""
    return " ".join(comment.split())[:200]


def _terms(name: str, entries: Sequence[tuple[int, int]], names: Sequence[str]) -> list[str]:
    words = [f"{'-' if value < 0 else '+'} {abs(value)} {names[column]}" for column, value in entries]
    words[0] = words[0].removeprefix("+ ")
    lines = [" ".join(words[k : k + _PER_LINE]) for k in range(0, len(words), _PER_LINE)]
    lines[0] = f"{name}: {lines[0]}"
    return [f" {line}" for line in lines]


def mps_text(model: LinearModel, units: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Return an integer program in the MPS format, which can be read as fixed or free as long as names are short.

    The format has no agreed way to maximize, so the objective is minimized: it is the negative one where the program
    maximizes.

    Parameters
    ----------
    model, units, comments :
        As of `lp_text`.
    """
    names = column_names(model, units)
    flip = model.sense is Sense.MAXIMIZE
    lines = [f"* {_one_line(comment)}" for comment in comments]
    lines += ["* minimizes minus the objective"] if flip else []
    lines += ["NAME          OPTSUM", "ROWS", " N  obj"]
    columns: list[list[tuple[str, int]]] = [[] for _ in range(model.columns)]
    for column, value in enumerate(model.objective.tolist()):
        if value or column < model.units:
            columns[column].append(("obj", -value if flip else value))
    rights: list[tuple[str, int]] = []
    for name, entries, relation, right in _rows(model):
        lines.append(f" {_LETTER[relation]}  {name}")
        for column, value in entries:
            columns[column].append((name, value))
        if right:
            rights.append((name, right))
    lines.append("COLUMNS")
    integral = model.integral.tolist()
    for column, held in enumerate(columns):
        if integral[column] and (column == 0 or not integral[column - 1]):
            lines.append(f"    M{column:<8} 'MARKER'                 'INTORG'")
        lines += [f"    {names[column]:<8}  {row:<8}  {value:>12}" for row, value in held]
        if integral[column] and (column + 1 == model.columns or not integral[column + 1]):
            lines.append(f"    N{column:<8} 'MARKER'                 'INTEND'")
    lines.append("RHS")
    lines += [f"    RHS       {name:<8}  {value:>12}" for name, value in rights]
    lines.append("BOUNDS")
    lines += [f" UP BND       {name:<8}  {value:>12}" for name, value in zip(names, model.upper.tolist(), strict=True)]
    lines.append("ENDATA")
    return "\n".join(lines) + "\n"
