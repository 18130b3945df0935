"""Greedy search, then local search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optsum.contracts.strategy import Run, Strategy
from optsum.problem.problem import Capability, Problem

from .greedy import Greedy
from .starting import Plain, Slices, at_least, decisions, greedy_start, on_arrays


@dataclass(frozen=True)
class GreedyLocalSearch(Strategy):
    """Improve the greedy selection by moves until none helps, in milliseconds.

    Variable neighbourhood descent: add, drop, swap one unit for one or several (by gain, then by gain per length), and
    finally swap two. Selections are closed under parents, and comparisons are exact.

    Parameters
    ----------
    most_moves : int
        Largest number of evaluated moves, which only large instances reach.
    """

    name: ClassVar[str] = "greedy+ls"
    about: ClassVar[str] = "greedy, then local search: add, drop, swap, swap two"
    most_moves: int = 50_000

    def __post_init__(self) -> None:
        at_least(1, most_moves=self.most_moves)

    def prepare(self, problem: Problem | None = None) -> None:
        from .moves import prepare

        Greedy().prepare(problem)
        if problem is None or problem.can(Capability.COVERAGE):
            prepare()

    def search(self, run: Run) -> None:
        first = greedy_start(run)
        run.see(first)
        if (kernels := on_arrays(run)) is None:
            Plain(run).descend(first)
            return
        from .moves import EVALUATIONS, descend, start

        arrays, moves = kernels
        descent = start(arrays, decisions(run.problem, first))
        slices = Slices(run)
        while slices.done < self.most_moves:
            optimal = slices.go(
                lambda until: descend(arrays, moves, descent, min(until, self.most_moves)),
                lambda: int(descent.control[EVALUATIONS]),
                lambda: descent.state.chosen.nonzero()[0],
            )
            if optimal:
                run.statistics["local_optimum"] = True
                break
        run.see(descent.state.chosen.nonzero()[0])
