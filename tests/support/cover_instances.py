"""Make random small covers, and find their minimum covers by brute force."""

from __future__ import annotations

import random
from collections.abc import Sequence

from optsum.solvers.objectives.covers import solve_cover
from plain_oracle import least_cover

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Joint, Sense

Clauses = list[list[tuple[int, ...]]]


class CoverStrategy(Strategy):
    """Call `solve_cover` directly, without the steps of branch and bound around it."""

    name = "cover search"
    about = "for this test"
    exact = True

    def search(self, run: Run) -> None:
        solve_cover(run)


def cover_of(clauses: Clauses, lengths: Sequence[int]) -> Coverage:
    """Return the normal form of clauses, made without the cover formulation."""
    occurrences: list[dict[int, int]] = [{} for _ in lengths]
    joints = []
    for feature, clause in enumerate(clauses):
        for alternative in clause:
            if len(alternative) == 1:
                occurrences[alternative[0]][feature] = 1
            else:
                joints.append(Joint(feature, alternative))
    return Coverage.of(lengths, occurrences, [[1]] * len(clauses), joints=tuple(joints), goal=Sense.MINIMIZE)


def random_clauses(
    rng: random.Random, *, units: int, clauses: int, alternatives: int = 4, sentences: int = 4
) -> Clauses:
    """Return clauses with up to `alternatives` alternatives of up to `sentences` units each; they may overlap."""
    made: Clauses = []
    for _ in range(clauses):
        sets = {
            tuple(sorted(rng.sample(range(units), rng.randint(1, min(units, sentences)))))
            for _ in range(rng.randint(1, alternatives))
        }
        made.append(sorted(sets))
    return made


def random_lengths(rng: random.Random, units: int) -> list[int]:
    """Return lengths that are all 1, all at least 1, or possibly 0, at random."""
    least = rng.choice([None, 1, 0])
    return [1 if least is None else rng.randint(least, 5) for _ in range(units)]


def brute_force(clauses: Clauses, lengths: Sequence[int]) -> tuple[int, list[tuple[int, ...]]]:
    """Return the minimum length of a cover, and all covers of that length."""
    truth = least_cover(clauses, dict(enumerate(lengths)))
    assert truth.best is not None
    return int(truth.best), sorted(truth.optima)
