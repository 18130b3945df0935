"""Covers for MaxSAT solvers: clauses, and the text of a WCNF file.

Variable u + 1 says that unit u is chosen. An alternative of several units is a variable of its own that is true
exactly when all of its units are chosen. Not needed for the minimum is the half of that which makes it true; without
it one cover would be several models, and counting models would count too many. Hard clauses: each abstract sentence
has an alternative. Soft clauses: each unit is not chosen, worth its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optsum.coverage.clauses import Bits, clauses_of, members
from optsum.coverage.instance import Coverage


@dataclass(frozen=True)
class Wcnf:
    """A partial weighted MaxSAT instance; literals as in DIMACS files.

    Attributes
    ----------
    units : int
        The first variables are the units.
    hard : list of lists of int
    soft : list of (weight, literal)
        Unit clauses; the weights of those that do not hold add up to the length of the cover.
    """

    units: int
    hard: list[list[int]]
    soft: list[tuple[int, int]]


def wcnf_of(instance: Coverage) -> Wcnf:
    """Return the MaxSAT instance of a cover.

    Raises
    ------
    UnsupportedError
        If the instance is no cover (`optsum.coverage.clauses.is_cover`).
    """
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

    Parameters
    ----------
    names : sequence
        What the input calls each unit; written as comments, so that a model can be read.
    title : str
        First comment.

    Raises
    ------
    UnsupportedError
        If the instance is no cover.

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
