"""Baselines that look at no reference: the lead and a random extract."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from optsum.problem import Problem, Selection
from optsum.run import Run
from optsum.strategy import Strategy

__all__ = ["Lead", "Random"]


@dataclass(frozen=True)
class Lead(Strategy):
    """The first units in document order, up to the first that does not fit."""

    name: ClassVar[str] = "lead"
    about: ClassVar[str] = "the first sentences, up to the first that does not fit; looks at no reference"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Take the lead."""
        run.see(_fill(run.problem, range(run.problem.size), stop=True))


@dataclass(frozen=True)
class Random(Strategy):
    """Units in random order, each taken if it still fits."""

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "sentences in random order, each taken if it fits; looks at no reference"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        """Draw one selection."""
        run.see(_fill(run.problem, run.rng.permutation(run.problem.size).tolist(), stop=False))


def _fill(problem: Problem, order: Iterable[int], *, stop: bool) -> Selection:
    taken: list[int] = []
    length = 0
    for unit in order:
        if length + problem.lengths[unit] <= problem.max_length:
            taken.append(unit)
            length += problem.lengths[unit]
        elif stop:
            break
    return tuple(sorted(taken))
