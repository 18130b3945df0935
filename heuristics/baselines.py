"""Baselines that look at no reference: the lead and a random extract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from optsum.problem import Move, Problem, Selection, Sense
from optsum.run import Run
from optsum.strategy import Strategy

__all__ = ["Lead", "Random"]


@dataclass(frozen=True)
class Lead(Strategy):
    """The first units in document order, up to the first that does not fit.

    A unit comes with what it cannot do without (its ancestors), here and in `Random`.
    """

    name: ClassVar[str] = "lead"
    about: ClassVar[str] = "the first sentences, up to the first that does not fit; looks at no reference"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Take the lead."""
        run.see(_fill(run.problem, run.problem.moves(()), stop=True))


@dataclass(frozen=True)
class Random(Strategy):
    """Units in random order, each taken if it still fits; until everything is covered, where that is asked.

    A draw that misses a minimum length is repaired (`optsum.problem.Problem.repair`).
    """

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "sentences in random order, each taken if it fits; looks at no reference"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Draw one selection."""
        problem = run.problem
        drawn: Selection = ()
        if problem.sense is Sense.MAXIMIZE:
            moves = list(problem.moves(()))
            order = run.rng.permutation(len(moves)).tolist()
            drawn = _fill(problem, (moves[place] for place in order), stop=False)
        run.see(problem.repair(drawn, run.rng))


def _fill(problem: Problem, moves: Iterable[Move], *, stop: bool) -> Selection:
    taken: set[int] = set()
    length = 0
    for move in moves:
        added = set(move) - taken
        longer = length + problem.length(added)
        if longer <= problem.max_length:
            taken |= added
            length = longer
        elif stop:
            break
    return tuple(sorted(taken))
