"""The truth about a small problem, from `Problem.evaluate` alone, and how a check against it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from optsum.coverage.instance import Key
from optsum.errors import OptionError
from optsum.problem.problem import Problem, Selection


class ConformanceError(AssertionError):
    """A problem or a strategy that does not keep its contract; the message names the instance."""


def expect(holds: object, where: str, sentence: str) -> None:
    """Fail unless `holds`. `where`: the instance, so that it can be made again. `sentence`: what is wrong."""
    if not holds:
        raise ConformanceError(f"{where}: {sentence}")


_MOST_UNITS = 20


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The result of evaluating every selection.

    Attributes
    ----------
    best : Key or None
        The optimal objective; None if nothing is feasible.
    optima : list of Selection
        Every optimal selection, the empty one included where it is one; by size, then by units.
    feasible : int
        Number of feasible selections, the empty one included where it is one.
    """

    best: Key | None
    optima: list[Selection]
    feasible: int


def selections(size: int) -> Iterator[Selection]:
    """Yield every selection of `size` units: by size, then by units."""
    return chain.from_iterable(combinations(range(size), chosen) for chosen in range(size + 1))


def brute_force(problem: Problem) -> Enumeration:
    """Evaluate all ``2 ** problem.size`` selections.

    Raises
    ------
    OptionError
        For more than 20 units.
    """
    if problem.size > _MOST_UNITS:
        raise OptionError(f"{problem.size} units are too many to enumerate: give at most {_MOST_UNITS}.")
    best: Key | None = None
    optima: list[Selection] = []
    feasible = 0
    for selection in selections(problem.size):
        evaluation = problem.evaluate(selection)
        if not evaluation.feasible:
            continue
        feasible += 1
        if best is None or problem.sense.better(evaluation.key, best):
            best, optima = evaluation.key, []
        if evaluation.key == best:
            optima.append(selection)
    return Enumeration(best, optima, feasible)
