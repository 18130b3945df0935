"""Baselines that ignore references: the lead and a random extract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Sense
from optsum.problem.problem import Move, Problem, Selection

from .starting import until_feasible


@dataclass(frozen=True)
class Lead(Strategy):
    """Choose the first units in document order, up to the first that does not fit; for a cover, until all is covered.

    Here and in `Random`, a unit comes with its ancestors, and a part of a sentence with the whole sentence. If the
    empty selection violates side constraints, units that repair them come first; afterwards a unit that violates one
    does not fit.
    """

    name: ClassVar[str] = "lead"
    about: ClassVar[str] = "the first sentences, up to the first that does not fit, ignoring references"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        problem, moves = run.problem, list(run.problem.entries())
        taken = until_feasible(run, moves) if problem.sense is Sense.MINIMIZE else _fill(problem, moves, stop=True)
        _see(run, taken, moves, stop=problem.sense is Sense.MAXIMIZE)


@dataclass(frozen=True)
class Random(Strategy):
    """Add units in random order if they still fit; for a cover, until all is covered.

    A selection below a minimum length is repaired (`optsum.problem.problem.Problem.repair`).
    """

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "sentences in random order, each taken if it fits, ignoring references"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        problem = run.problem
        moves = list(problem.entries())
        moves = [moves[place] for place in run.rng.permutation(len(moves)).tolist()]
        if problem.sense is Sense.MINIMIZE:
            taken = until_feasible(run, moves)
        else:
            taken = problem.repair(_fill(problem, moves, stop=False), run.rng)
        _see(run, taken, moves, stop=False)


def _fill(problem: Problem, moves: Iterable[Move], *, stop: bool) -> Selection:
    taken: set[int] = set()
    for move in moves:
        if problem.fits(taken.union(move)):
            taken.update(move)
        elif stop:
            break
    return tuple(sorted(taken))


def _see(run: Run, selection: Selection, moves: Sequence[Move], *, stop: bool) -> None:
    """Report a selection, extended if necessary to keep side constraints, which only evaluations can check.

    Moves that reduce the violation come first, then moves that cause none.
    """
    problem, evaluation = run.problem, run.see(selection)
    if evaluation.violation > problem.excess(selection):
        selection, evaluation = (), run.evaluate(())
        for fills in (False, True)[: 1 + (problem.sense is Sense.MAXIMIZE)]:
            for move in moves:
                if evaluation.feasible is not fills:
                    break
                run.check()
                run.count(evaluations=1)
                more = tuple(sorted({*selection, *move}))
                seen = run.evaluate(more)
                if problem.fits(more) and (seen.feasible if fills else seen.violation < evaluation.violation):
                    selection, evaluation = more, seen
                elif fills and stop:
                    break
        run.see(selection)
    if not evaluation.feasible:
        run.detail = (
            f"units taken one after another violate the limits by {evaluation.violation}, and no others are tried: use "
            "greedy or vns"
        )
