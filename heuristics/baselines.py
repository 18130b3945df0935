"""Baselines that look at no reference: the lead and a random extract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from optsum.contracts.run import Run
from optsum.contracts.strategy import Strategy
from optsum.coverage.instance import Sense
from optsum.problem.problem import Move, Problem, Selection

from .starting import until_feasible


@dataclass(frozen=True)
class Lead(Strategy):
    """The first units in document order, up to the first that does not fit; for a cover, until all is covered.

    A unit comes with what it cannot do without (its ancestors), a part of a sentence with the whole sentence, here and
    in `Random`.
    """

    name: ClassVar[str] = "lead"
    about: ClassVar[str] = "the first sentences, up to the first that does not fit; looks at no reference"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Take the lead."""
        problem = run.problem
        if problem.sense is Sense.MINIMIZE:
            run.see(until_feasible(run, list(problem.entries())))
        else:
            run.see(_fill(problem, problem.entries(), stop=True))


@dataclass(frozen=True)
class Random(Strategy):
    """Units in random order, each taken if it still fits; until everything is covered, where that is asked.

    A draw that misses a minimum length is repaired (`optsum.problem.problem.Problem.repair`).
    """

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "sentences in random order, each taken if it fits; looks at no reference"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Draw one selection."""
        problem = run.problem
        moves = list(problem.entries())
        moves = [moves[place] for place in run.rng.permutation(len(moves)).tolist()]
        if problem.sense is Sense.MINIMIZE:
            run.see(until_feasible(run, moves))
        else:
            run.see(problem.repair(_fill(problem, moves, stop=False), run.rng))


def _fill(problem: Problem, moves: Iterable[Move], *, stop: bool) -> Selection:
    taken: set[int] = set()
    for move in moves:
        if problem.fits(taken.union(move)):
            taken.update(move)
        elif stop:
            break
    return tuple(sorted(taken))
