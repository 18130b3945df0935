"""Small random covers, and what brute force finds of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from optsum.solvers.objectives.covers import solve_cover
from plain_oracle import least_cover

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Joint, Sense

Clauses = list[list[tuple[int, ...]]]


class CoverStrategy(Strategy):
    """`solve_cover` by itself, as a strategy."""

    name = "cover search"
    about = "for this test"
    exact = True

    def search(self, run: Run) -> None:
        solve_cover(run)


def cover_of(clauses: Clauses, lengths: Sequence[int]) -> Coverage:
    """The normal form of clauses, written down independently of the formulation."""
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
    """Each clause with up to `alternatives`, each of up to `sentences` units, overlapping as they will."""
    made: Clauses = []
    for _ in range(clauses):
        sets = {
            tuple(sorted(rng.sample(range(units), rng.randint(1, min(units, sentences)))))
            for _ in range(rng.randint(1, alternatives))
        }
        made.append(sorted(sets))
    return made


def random_lengths(rng: random.Random, units: int) -> list[int]:
    """All one; or any; or any, with units that have no length."""
    least = rng.choice([None, 1, 0])
    return [1 if least is None else rng.randint(least, 5) for _ in range(units)]


def brute_force(clauses: Clauses, lengths: Sequence[int]) -> tuple[int, list[tuple[int, ...]]]:
    """The minimum length of a cover, and all covers that have it."""
    truth = least_cover(clauses, dict(enumerate(lengths)))
    assert truth.best is not None
    return int(truth.best), sorted(truth.optima)
