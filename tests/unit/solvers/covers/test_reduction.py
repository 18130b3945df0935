"""Check that the reduction of a cover keeps its set of covers and leaves nothing superfluous."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from cover_instances import random_clauses
from optsum.solvers.objectives.covers import parts, reduced, take

from optsum.program.model import Bits, Clauses, canonical

UNITS = 7


def is_met(clauses: Clauses, units: Bits) -> bool:
    return all(any(alternative & ~units == 0 for alternative in clause) for clause in clauses)


def drawn(seed: int) -> Clauses:
    rng = random.Random(seed)  # noqa: S311
    given = random_clauses(rng, units=UNITS, clauses=rng.randint(1, 6), alternatives=3, sentences=3)
    return canonical([[sum(1 << unit for unit in alternative) for alternative in clause] for clause in given])


def test_the_same_sets_are_covers() -> None:
    forced_at_all = fewer = 0
    for seed in range(300):
        clauses = drawn(seed)
        forced, left = reduced(clauses)
        for units in range(1 << UNITS):
            assert is_met(clauses, units) == (forced & ~units == 0 and is_met(left, units)), (seed, units)
        forced_at_all += forced > 0
        fewer += 0 < len(left) < len(clauses)
    assert min(forced_at_all, fewer) > 50


def test_nothing_more_can_be_left_out() -> None:
    for seed in range(300):
        forced, left = reduced(drawn(seed))
        assert left == canonical(left), seed
        for clause in left:
            common = clause[0]
            for alternative in clause:
                assert not alternative & forced
                common &= alternative
            assert not common, "a unit of all alternatives is in every cover"
        for one in left:  # not implied by another clause, such that meeting that one meets it
            for other in left:
                implied = all(any(small & ~large == 0 for small in one) for large in other)
                assert one == other or not implied, seed


def test_chosen_units_meet_what_they_meet() -> None:
    for seed in range(100):
        clauses, chosen = drawn(seed), random.Random(seed).randrange(1, 1 << UNITS)  # noqa: S311
        left = tuple(take(clauses, chosen))
        assert canonical(left) == tuple(sorted(tuple(sorted(clause)) for clause in left)), (
            "no alternative within another"
        )
        for units in range(1 << UNITS):
            assert is_met(clauses, units | chosen) == is_met(left, units & ~chosen), (seed, units)


def test_clauses_are_compared_up_to_a_number_of_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    clauses = ((0b001, 0b010), (0b001, 0b010, 0b100))  # the first clause implies the second
    for most, left in ((5, 1), (4, 2)):
        monkeypatch.setattr("optsum.solvers.objectives.covers._QUADRATIC", most)
        assert reduced(clauses) == (0, clauses[:left])


def test_parts_hang_together_and_have_nothing_in_common() -> None:
    several = 0
    for seed in range(200):
        rng = random.Random(seed)  # noqa: S311
        given = random_clauses(rng, units=12, clauses=rng.randint(1, 6), alternatives=2, sentences=2)
        clauses = canonical([[sum(1 << unit for unit in alternative) for alternative in clause] for clause in given])
        group = list(range(len(clauses)))  # the smallest clause to which each is connected
        for _ in clauses:
            for a, b in combinations(range(len(clauses)), 2):
                if any(x & y for x in clauses[a] for y in clauses[b]):
                    group[a] = group[b] = min(group[a], group[b])
        expected = [tuple(c for c, own in zip(clauses, group, strict=True) if own == one) for one in set(group)]
        assert sorted(parts(clauses)) == sorted(expected), seed
        several += len(expected) > 1
    assert several > 30
