"""A cover instance as logic: one clause for each abstract sentence, a disjunction of sets of units.

Hirao et al. 2004 (TSC3), section 3.1.1. The normal form separates alternatives of one unit from those of several;
searches, SAT solvers and file formats need them together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain
from operator import or_
from typing import Final, TypeAlias

import numpy as np

from optsum.coverage.instance import Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.system.clock import NEVER

Bits: TypeAlias = int  # A set of units as one integer: bit u is unit u.

Clause: TypeAlias = tuple[Bits, ...]
"""The alternatives of a clause: sets of units that each satisfy it. Without alternatives it cannot be satisfied."""

Clauses: TypeAlias = tuple[Clause, ...]

_OFTEN: Final = 1000  # Steps of which each takes microseconds, between two questions whether to go on.


def members(bits: Bits) -> Iterator[int]:
    """Yield the units of a set, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def support(clauses: Iterable[Iterable[Bits]]) -> Bits:
    """Return all units that occur."""
    return reduce(or_, chain.from_iterable(clauses), 0)


def without(clauses: Iterable[Iterable[Bits]], units: Bits) -> Clauses:
    """Return the clauses after removing `units`; a clause may have no alternative left."""
    return tuple([tuple([alternative for alternative in clause if not alternative & units]) for clause in clauses])


def contains_one(candidate: Bits, known: Collection[Bits]) -> bool:
    """Whether the candidate contains one of the known sets, tested by its subsets if these are fewer."""
    if isinstance(known, set) and 1 << candidate.bit_count() < len(known):
        subset = candidate
        while subset:
            if subset in known:
                return True
            subset = (subset - 1) & candidate
        return False
    return any(small & candidate == small for small in known)


def canonical(clauses: Iterable[Iterable[Bits]], check: Callable[[], object] = NEVER.check) -> Clauses:
    """Return the clauses in a fixed order, without alternatives that contain another alternative of the clause."""
    minimal = []
    for clause in clauses:
        check()
        kept: set[Bits] = set()
        for candidate in sorted(set(clause), key=int.bit_count):
            if not contains_one(candidate, kept):
                kept.add(candidate)
        minimal.append(tuple(sorted(kept)))
    return tuple(sorted(minimal))


def is_cover(instance: Coverage) -> bool:
    """Whether an instance is a minimum cover: one copy of each feature is enough, no parents, no vetoes, no rows."""
    return (
        instance.goal is Sense.MINIMIZE
        and bool((np.diff(instance.level_start) <= 2).all())
        and not (len(instance.parents) and (instance.parents >= 0).any())
        and not any(joint.vetoes for joint in instance.joints)
        and not instance.rows
    )


def clauses_of(instance: Coverage, check: Callable[[], object] = NEVER.check) -> Clauses:
    """Return the clause of each feature that needs a copy, in the order of the features.

    Examples
    --------
    >>> from optsum.coverage.instance import Joint
    >>> tiny = Coverage.of([1, 1, 1], [{0: 1}, {}, {}], [[1]], joints=(Joint(0, (1, 2)),), goal=Sense.MINIMIZE)
    >>> [[list(members(alternative)) for alternative in clause] for clause in clauses_of(tiny)]
    [[[0], [1, 2]]]
    """
    if not is_cover(instance):
        raise UnsupportedError(
            "This works on minimum covers only: use --formulation cover of texts, or another strategy or backend "
            "(optsum list strategies, optsum list backends)."
        )
    alternatives: list[dict[Bits, None]] = [{} for _ in range(instance.features)]
    for unit in range(instance.size):
        check()
        for entry in range(int(instance.unit_start[unit]), int(instance.unit_start[unit + 1])):
            alternatives[int(instance.unit_feature[entry])][1 << unit] = None
    for number, joint in enumerate(instance.joints):
        if number % _OFTEN == 0:
            check()
        alternatives[joint.feature][reduce(or_, [1 << unit for unit in joint.needs])] = None
    asked = (np.diff(instance.level_start) > 1).tolist()
    return tuple(tuple(found) for found, wanted in zip(alternatives, asked, strict=True) if wanted)


def interchangeable(
    clauses: Clauses, lengths: Sequence[int], *, every: bool = False, check: Callable[[], object] = NEVER.check
) -> tuple[Clauses, dict[int, list[int]]]:
    """Leave out units that others can replace, such as repeated sentences.

    Two units are interchangeable if swapping them changes no clause. Of a class of them, a minimum cover needs at most
    as many as one alternative contains, and the shortest suffice.

    `lengths`: of all units. `every`: keep what determines all minimum covers: only one unit of a class may be needed,
    and it has a length. The result lacks the alternatives with units left out. `classes`: with `every`, kept unit ->
    all units, including itself, that it represents in minimum covers.
    """
    classes: dict[int, list[int]] = {}
    while True:
        dropped = 0
        for units, needed in _alike(clauses, check):
            units.sort(key=lambda unit: (lengths[unit], unit))
            if every and (needed > 1 or not lengths[units[0]]):
                continue
            if every:
                least = lengths[units[0]]
                classes[units[0]] = [twin for u in units if lengths[u] == least for twin in classes.get(u, [u])]
            dropped |= sum([1 << unit for unit in units[needed:]])
        if not dropped:
            return clauses, classes
        clauses = without(clauses, dropped)


def _alike(clauses: Clauses, check: Callable[[], object]) -> Iterator[tuple[list[int], int]]:
    """Yield the classes of two or more interchangeable units, and how many units of each an alternative contains."""
    held = [frozenset(clause) for clause in clauses]
    places: dict[int, list[tuple[int, Bits]]] = {}
    for index, clause in enumerate(held):
        check()
        for alternative in clause:
            for unit in members(alternative):
                places.setdefault(unit, []).append((index, alternative))
    candidates: dict[tuple[tuple[int, int], ...], list[list[int]]] = {}
    for unit, named in places.items():
        check()
        profile = tuple(sorted([(index, alternative.bit_count()) for index, alternative in named]))
        alike = candidates.setdefault(profile, [])
        for units in alike:
            both = 1 << unit | 1 << units[0]
            if all(alternative & both == both or alternative ^ both in held[index] for index, alternative in named):
                units.append(unit)
                break
        else:
            alike.append([unit])
    for units in chain.from_iterable(candidates.values()):
        if len(units) > 1:
            together = sum([1 << unit for unit in units])
            # What holds some of them has a counterpart, with the first among them.
            yield units, max([(alternative & together).bit_count() for _, alternative in places[units[0]]])
