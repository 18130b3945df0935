"""Rules that make a cover smaller and keep every minimum cover.

Only rules that lose no minimum cover are here, because ties are counted:

* a unit that all alternatives of a clause share is in every cover;
* an alternative that contains another of its clause adds nothing;
* a clause is implied by another if each alternative of that one contains one of its own;
* clauses without a unit in common are problems of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_

from optsum.coverage.clauses import Bits, Clause, Clauses, contains_one, support

_QUADRATIC = 600
"""Alternatives up to which clauses are compared pair by pair."""


def take(clauses: Iterable[Sequence[Bits]], units: Bits) -> list[Clause]:
    """Return the clauses that remain once `units` are chosen."""
    left = []
    for clause in clauses:
        touched = [alternative & ~units for alternative in clause if alternative & units]
        if not touched:
            left.append(tuple(clause))
        elif 0 not in touched:
            left.append(_minimal(touched, [alternative for alternative in clause if not alternative & units]))
    return left


def _minimal(touched: list[Bits], others: list[Bits]) -> Clause:
    """Drop alternatives that contain another one; among `others` none does."""
    resting = set(others)
    kept: list[Bits] = []
    for candidate in sorted(set(touched), key=int.bit_count):
        if not contains_one(candidate, resting) and not contains_one(candidate, kept):
            kept.append(candidate)
    return (*kept, *[other for other in others if not contains_one(other, kept)])


def reduced(clauses: Iterable[Sequence[Bits]]) -> tuple[Bits, Clauses]:
    """Apply the rules until none does anything.

    Parameters
    ----------
    clauses : iterable
        Each with an alternative at least.

    Returns
    -------
    forced : Bits
        Units that are in every cover.
    clauses : Clauses
        What remains, without them, in canonical order.
    """
    left = [tuple(clause) for clause in clauses]
    forced = 0
    while shared := support([(reduce(and_, clause),) for clause in left]):
        forced |= shared
        left = take(left, shared)
    left = list({tuple(sorted(clause)) for clause in left})
    if sum(map(len, left)) <= _QUADRATIC:
        left = _not_implied(left)
    return forced, tuple(sorted(left))


def _not_implied(clauses: list[Clause]) -> list[Clause]:
    units = [support([clause]) for clause in clauses]
    kept: list[int] = []
    # Fewest alternatives first: these imply others. Of two that imply each other the first stays.
    for index in sorted(range(len(clauses)), key=lambda index: (len(clauses[index]), clauses[index])):
        if not any(units[other] & units[index] and _implies(clauses[other], clauses[index]) for other in kept):
            kept.append(index)
    return [
        clauses[index]
        for place, index in enumerate(kept)
        if not any(
            units[other] & units[index] and _implies(clauses[other], clauses[index]) for other in kept[place + 1 :]
        )
    ]


def _implies(strong: Clause, weak: Clause) -> bool:
    return all(any(small & large == small for small in weak) for large in strong)


def parts(clauses: Clauses) -> list[Clauses]:
    """Split into clauses that hang together by common units."""
    groups: list[tuple[Bits, list[Clause]]] = []
    for clause in clauses:
        units, merged = support([clause]), [clause]
        apart = []
        for group in groups:
            if group[0] & units:
                units |= group[0]
                merged.extend(group[1])
            else:
                apart.append(group)
        groups = [*apart, (units, merged)]
    return [tuple(sorted(merged)) for _, merged in groups]
