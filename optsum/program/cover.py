"""A cover as logic, one clause for each abstract sentence, and its integer program, tighter than the general one.

A clause is a disjunction of sets of units (Hirao et al. 2004, TSC3, section 3.1.1). The normal form separates
alternatives of one unit from those of several; searches, SAT solvers and file formats need them together.

With x_u = 1 if unit u is chosen and m_iA = 1 if clause i picks its alternative A:

    minimize    sum of length_u * x_u
    subject to  sum over A of m_iA >= 1               for each clause i
                sum over A containing u of m_iA <= x_u    for each clause i and unit u

A clause needs only one alternative, so all of its alternatives that contain u share one row. One row for each
alternative would be correct too, but its relaxation is much weaker: halves of two alternatives would count as a whole
one. An alternative of one unit is that unit's column.

MaxSAT solvers take clauses: variable u + 1 means that unit u is chosen, and an alternative of several units is a
variable that is true if and only if all of its units are chosen. For the minimum, "only if" would suffice, but then one
cover would be several models. Hard clauses: each abstract sentence has an alternative. Soft clauses: a unit is not
chosen, with its length as weight.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_
from typing import Final, TypeAlias

import numpy as np

from optsum.coverage.instance import Coverage, Sense
from optsum.errors import UnsupportedError
from optsum.program.model import LinearModel, LinearRows, coverage_model
from optsum.system.clock import NEVER

Bits: TypeAlias = int  # A set of units as one integer: bit u is unit u.

Clause: TypeAlias = tuple[Bits, ...]
"""The alternatives of a clause: sets of units that each satisfy it. Without alternatives it cannot be satisfied."""

Clauses: TypeAlias = tuple[Clause, ...]

_OFTEN: Final = 1000  # Steps of which each takes microseconds, between two questions whether to go on.


def members(bits: Bits) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def support(clauses: Iterable[Iterable[Bits]]) -> Bits:
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


@dataclass(frozen=True)
class Wcnf:
    """A partial weighted MaxSAT instance; literals as in DIMACS files."""

    units: int  # The first variables are the units.
    hard: list[list[int]]
    # Unit clauses; the weights of those that do not hold add up to the length of the cover.
    soft: list[tuple[int, int]]


def wcnf_of(instance: Coverage) -> Wcnf:
    defined: list[list[int]] = []
    variable: dict[Bits, int] = {1 << unit: unit + 1 for unit in range(instance.size)}
    wanted: list[list[int]] = []
    for clause in clauses_of(instance):
        for alternative in clause:
            if alternative not in variable:
                new = variable[alternative] = len(variable) + 1
                needed = [unit + 1 for unit in members(alternative)]
                defined.extend([-new, literal] for literal in needed)
                defined.append([new, *(-literal for literal in needed)])
        wanted.append([variable[alternative] for alternative in clause])
    soft = [(length, -(unit + 1)) for unit, length in enumerate(instance.lengths.tolist()) if length]
    return Wcnf(instance.size, [*wanted, *defined], soft)


def wcnf_text(instance: Coverage, names: Sequence[object] = (), *, title: str = "") -> str:
    """Return the text of a WCNF file, in the format of the MaxSAT Evaluations since 2022.

    `names`: the input's names of the units, written as comments. `title`: first comment.

    Examples
    --------
    >>> from optsum.coverage.instance import Sense
    >>> tiny = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], goal=Sense.MINIMIZE)
    >>> print(wcnf_text(tiny, ["s1", "s2"]), end="")
    c variable 1 is s1
    c variable 2 is s2
    h 1 2 0
    1 -1 0
    1 -2 0
    """
    made = wcnf_of(instance)
    lines = [f"c {' '.join(title.split())}"] if title else []
    lines += [f"c variable {unit} is {' '.join(str(name).split())}" for unit, name in enumerate(names, start=1)]
    lines += [f"h {' '.join(map(str, [*clause, 0]))}" for clause in made.hard]
    lines += [f"{weight} {literal} 0" for weight, literal in made.soft]
    return "".join(f"{line}\n" for line in lines)


def model_of(instance: Coverage, *, relaxed: bool = False) -> LinearModel:
    """Return the program for solvers and bounds; in a cover, one unit represents all its equals."""
    if not is_cover(instance):
        return coverage_model(instance, relaxed=relaxed)
    lengths = instance.lengths.tolist()
    clauses, _ = interchangeable(canonical(clauses_of(instance)), lengths)
    return cover_program(clauses, range(instance.size), lengths)[0]


def cover_program(
    clauses: Clauses, units: Sequence[int], lengths: Sequence[int]
) -> tuple[LinearModel, list[dict[int, int]]]:
    """Return the integer program of clauses.

    `clauses`: no alternative contains another of its clause (`canonical`). `units`: units of
    the first columns, in order, at least those that occur. `lengths`: of all units. `model`: row i is clause i.
    `links`: for each clause, unit -> its row; -1 for a single-unit alternative, which needs no row.
    """
    column = {unit: place for place, unit in enumerate(units)}
    rows: list[int] = []
    columns: list[int] = []
    values: list[int] = []
    links: list[dict[int, int]] = []
    row, pick = len(clauses), len(column)
    for index, clause in enumerate(clauses):
        linked: dict[int, int] = {}
        for alternative in clause:
            rows.append(index)
            values.append(1)
            if alternative.bit_count() == 1:
                unit = alternative.bit_length() - 1
                columns.append(column[unit])
                linked[unit] = -1
                continue
            columns.append(pick)
            for unit in members(alternative):
                if unit not in linked:
                    linked[unit] = row
                    rows.append(row)
                    columns.append(column[unit])
                    values.append(-1)
                    row += 1
                rows.append(linked[unit])
                columns.append(pick)
                values.append(1)
            pick += 1
        links.append(linked)
    made = LinearRows()
    made.add(np.array(rows, np.int64), np.array(columns, np.int64), np.array(values, np.int64))
    made.close(len(clauses), 1.0, np.inf)
    made.close(row - len(clauses), -np.inf, 0.0)
    objective = np.zeros(pick, np.int64)
    objective[: len(column)] = [lengths[unit] for unit in units]
    model = LinearModel(
        sense=Sense.MINIMIZE,
        objective=objective,
        upper=np.ones(pick, np.int64),
        integral=np.arange(pick) < len(column),
        **made.arrays(),
        units=len(column),
        denominator=1,
    )
    return model, links
