"""Operations that need a common order of the units: unions, minimal sets, and the mean similarity of the sets.

`Ordered` stores zero-suppressed decision diagrams (Minato 1993) in which every path decides units in ascending order.
Families are node numbers, as in `optsum.optima.diagram`; results are memoized.

The similarity is exact if that is cheap, otherwise estimated from a sample. Up to some thousands of sets are compared
directly, more sets by pairs of nodes. Each pair of nodes needs a table and their number cannot be predicted, so a
memory limit on the tables bounds the work.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.errors import InputError, UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram, DiagramNodes, deep_recursion

_BEYOND: Final = 2**31 - 1  # Unit of the two ends: after every other.


class Ordered(DiagramNodes):
    """Diagrams in ascending order of the units."""

    def __init__(self, max_nodes: int) -> None:
        super().__init__(_BEYOND)
        self._memo: dict[tuple[str, int, int], int] = {}
        self._max_nodes = max_nodes

    def _added(self, row: tuple[int, int, int]) -> int:
        if len(self.rows) + len(self._memo) >= self._max_nodes:
            raise UnsupportedError(
                f"The optima need more than {self._max_nodes} nodes in one order of the units; use sampled_jaccard."
            )
        return super()._added(row)

    def union(self, f: int, g: int) -> int:
        """Return the union of the families f and g."""
        if f == g or g == EMPTY_FAMILY:
            return f
        if f == EMPTY_FAMILY:
            return g
        key = ("or", min(f, g), max(f, g))
        if key not in self._memo:
            (u, f0, f1), (w, g0, g1) = self.rows[f], self.rows[g]
            if u < w:
                result = self.node(u, self.union(f0, g), f1)
            elif w < u:
                result = self.node(w, self.union(f, g0), g1)
            else:
                result = self.node(u, self.union(f0, g0), self.union(f1, g1))
            self._memo[key] = result
        return self._memo[key]

    def added(self, unit: int, f: int) -> int:
        """Return the family f with the unit added to each set; no set of f may contain it."""
        u, f0, f1 = self.rows[f]
        if u > unit:
            return self.node(unit, EMPTY_FAMILY, f)
        key = ("add", unit, f)
        if key not in self._memo:
            self._memo[key] = self.node(u, self.added(unit, f0), self.added(unit, f1))
        return self._memo[key]

    def holds_empty(self, f: int) -> bool:
        """Whether the family f contains the empty set."""
        while f > EMPTY_SET:
            f = self.rows[f][1]
        return f == EMPTY_SET

    def without_supersets(self, f: int, g: int) -> int:
        """Return the sets of f that contain no set of g."""
        if g == EMPTY_FAMILY or f == EMPTY_FAMILY:
            return f
        if f == g or self.holds_empty(g):
            return EMPTY_FAMILY
        if f == EMPTY_SET:
            return f
        key = ("sub", f, g)
        if key not in self._memo:
            (u, f0, f1), (w, g0, g1) = self.rows[f], self.rows[g]
            if u < w:
                result = self.node(u, self.without_supersets(f0, g), self.without_supersets(f1, g))
            elif w < u:
                result = self.without_supersets(f, g0)
            else:
                kept = self.without_supersets(self.without_supersets(f1, g1), g0)
                result = self.node(u, self.without_supersets(f0, g0), kept)
            self._memo[key] = result
        return self._memo[key]

    def minimal(self, f: int) -> int:
        """Return the sets of f that contain no other set of f."""
        if f <= EMPTY_SET:
            return f
        if self.holds_empty(f):
            return EMPTY_SET
        key = ("min", f, f)
        if key not in self._memo:
            unit, f0, f1 = self.rows[f]
            least = self.minimal(f0)
            self._memo[key] = self.node(unit, least, self.without_supersets(self.minimal(f1), least))
        return self._memo[key]

    def of(self, diagram: Diagram) -> int:
        """Reorder a diagram by ascending units."""
        number = [EMPTY_FAMILY, EMPTY_SET]
        for unit, without, with_ in diagram.rows[2:]:
            number.append(self.union(number[without], self.added(unit, number[with_])))
        return number[diagram.root]


def union(diagrams: Sequence[Diagram], max_nodes: int = 2_000_000) -> Diagram:
    """Return the union of the families."""
    if len(diagrams) == 1:
        return diagrams[0]
    with deep_recursion():
        ordered = Ordered(max_nodes)
        found = EMPTY_FAMILY
        for diagram in diagrams:
            found = ordered.union(found, ordered.of(diagram))
        return ordered.diagram(found)


def minimal_sets(diagram: Diagram, max_nodes: int = 2_000_000) -> Diagram:
    """Return the sets that contain no other set of the family."""
    with deep_recursion():
        ordered = Ordered(max_nodes)
        return ordered.diagram(ordered.minimal(ordered.of(diagram)))


MAX_BYTES: Final = 2**28  # Memory that all tables together may take; a second or two of work.
PAIRS: Final = 1_000  # Pairs of a sample: a mean of ratios is then known to .016 at worst (one standard error).

LISTED: Final = 8_000  # So many sets are compared one by one: 64 million pairs, a second or two.
_ROWS: Final = 256  # Sets compared with all others at once.
_INT64: Final = 2**62
_OF_NODE: Final = 256  # Bytes of a node with what is remembered of it.
_OF_TABLE: Final = 320  # Bytes of a table beside its numbers.
_OF_NUMBER: Final = {True: 8, False: 48}  # Bytes of a number that fits 64 bits, and of one that does not.


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over a sample."""

    # mean, standard_error: the true mean is within two standard errors 95 times of 100.
    mean: float
    standard_error: float
    pairs: int  # How many were drawn.


def mean_jaccard(diagram: Diagram, *, max_bytes: int = MAX_BYTES) -> Fraction:
    """Return the mean Jaccard index of two different sets of a family with at least two."""
    total = Fraction(0)
    for (common, either), number in overlaps(diagram, max_bytes=max_bytes).items():
        total += Fraction(number * common, either) if either else number
    return (total - diagram.count) / (diagram.count * (diagram.count - 1))


def sampled_jaccard(diagram: Diagram, pairs: int = PAIRS, seed: int = 0) -> Estimate:
    """Estimate the result of `mean_jaccard` from independent uniform pairs."""
    if diagram.count < 2 or pairs < 2:
        raise InputError("An estimate needs two different sets, and two pairs of them: use the mean itself.")
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    found: list[float] = []
    while len(found) < pairs:
        one, other = set(diagram.sample(rng)), set(diagram.sample(rng))
        if one != other:
            found.append(len(one & other) / len(one | other))
    return Estimate(fmean(found), stdev(found) / sqrt(pairs), pairs)


def overlaps(diagram: Diagram, *, max_bytes: int = MAX_BYTES, listed: int = LISTED) -> dict[tuple[int, int], int]:
    """Count all ordered pairs of sets (A, B), including A = B, by (units in both, units in either)."""
    if diagram.count <= listed:
        return _one_by_one(list(diagram))
    with deep_recursion():
        ordered = Ordered(max_bytes // _OF_NODE)
        root = ordered.of(diagram)
        return _Pairs(ordered, max_bytes).of(root)


def _one_by_one(sets: list[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    units = sorted({unit for chosen in sets for unit in chosen})
    column = {unit: place for place, unit in enumerate(units)}
    held = np.zeros((len(sets), len(units)), np.float32)  # multiplied faster than integers, and as exact
    for row, chosen in enumerate(sets):
        held[row, [column[unit] for unit in chosen]] = 1
    size = held.sum(axis=1)
    width = 2 * len(units) + 1
    numbers = np.zeros((len(units) + 1) * width, np.int64)
    for first in range(0, len(sets), _ROWS):
        some = slice(first, first + _ROWS)
        common = held[some] @ held.T
        either = size[some, None] + size - common
        numbers += np.bincount(
            (common.astype(np.int64) * width + either.astype(np.int64)).ravel(), minlength=len(numbers)
        )
    return {divmod(int(place), width): int(numbers[place]) for place in np.flatnonzero(numbers)}


class _Pairs:
    """Tables of pairs of nodes (f, g): numbers of (A in f, B in g) by units in both and units in either."""

    def __init__(self, ordered: Ordered, max_bytes: int) -> None:
        self._nodes = ordered.rows
        self._longest, self._counts = [0, 0], [0, 1]
        for _, without, with_ in self._nodes[2:]:
            self._longest.append(max(self._longest[without], self._longest[with_] + 1))
            self._counts.append(self._counts[without] + self._counts[with_])
        self._memo: dict[tuple[int, int], NDArray[Any]] = {(EMPTY_SET, EMPTY_SET): np.ones((1, 1), np.int64)}
        self._bytes_left = max_bytes

    def of(self, root: int) -> dict[tuple[int, int], int]:
        found = self._table(root, root)
        return {(int(i), int(j)): int(found[i, j]) for i, j in np.argwhere(found)}

    def _table(self, f: int, g: int) -> NDArray[Any]:
        key = (f, g) if f <= g else (g, f)
        if key in self._memo:
            return self._memo[key]
        table = self._empty(f, g)
        (u, f0, f1), (w, g0, g1) = self._nodes[f], self._nodes[g]
        if u < w:
            self._add(table, f0, g, 0, 0)
            self._add(table, f1, g, 0, 1)
        elif w < u:
            self._add(table, f, g0, 0, 0)
            self._add(table, f, g1, 0, 1)
        else:
            self._add(table, f0, g0, 0, 0)
            self._add(table, f1, g0, 0, 1)
            self._add(table, f0, g1, 0, 1)
            self._add(table, f1, g1, 1, 1)
        self._memo[key] = table
        return table

    def _add(self, table: NDArray[Any], f: int, g: int, common: int, either: int) -> None:
        if f != EMPTY_FAMILY and g != EMPTY_FAMILY:
            part = self._table(f, g)
            rows, columns = part.shape
            table[common : common + rows, either : either + columns] += part

    def _empty(self, f: int, g: int) -> NDArray[Any]:
        one, other = self._longest[f], self._longest[g]
        shape = min(one, other) + 1, one + other + 1
        small = self._counts[f] * self._counts[g] < _INT64
        self._bytes_left -= _OF_TABLE + shape[0] * shape[1] * _OF_NUMBER[small]
        if self._bytes_left < 0:
            raise UnsupportedError(
                "Comparing all pairs of optima needs more than the allowed memory; use sampled_jaccard."
            )
        return np.zeros(shape, np.int64 if small else object)
