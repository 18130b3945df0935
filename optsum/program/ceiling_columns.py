"""Common subsequences in an integer program: what `optsum.coverage.ceilings` says of a selection, as columns.

Of a `CappedUnion` a covered position is a column ``y_p <= sum of x_u over the units that cover p``, and the hits h_t of
a token whose copies may be fewer than its covered positions another, ``h_t <= sum of y_p`` and ``h_t <= sum of c_ut
x_u``.

Of a `TextSubsequence` the reference is cut into consecutive pieces, one for each chosen unit in turn, and the longest
common subsequence of all is the largest sum of those of unit and piece. So it is a longest path through a grid whose
node (u, p) says that the units before u have been given the reference up to p: a unit is passed by, a position is
passed by, or a chosen unit takes a piece. Only pieces that begin and end with a hit are columns. Whatever x, the path
is integral.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from optsum.coverage.ceilings import CappedUnion, Ceiling, TextSubsequence
from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.program.rows import LinearRows

__all__ = ["CeilingColumns"]

_PIECES: Final = 300_000
"""Pieces and nodes that a program may have."""


class _CeilingColumns(NamedTuple):
    """The columns of one ceiling, numbered from 0, and its rows.

    Attributes
    ----------
    worth : hits of each column
    upper : upper bound of each column
    rows : entries (unit or -1 - column, value), least, most
    """

    worth: list[int]
    upper: list[int]
    rows: list[tuple[list[tuple[int, int]], float, float]]
    capped: list[int]


class CeilingColumns:
    """The columns and rows of all ceilings of an instance.

    Attributes
    ----------
    rows : int
        How many there are.
    slot, worth, upper : (columns,)
        The total that each column feeds, what it adds, and its upper bound.
    capped : list of int
        The first of the two rows of each group of every `CappedUnion`, or of every `TextSubsequence` if it is relaxed:
        its hits are at most what is covered, and at most the copies.
    """

    def __init__(self, instance: Coverage, *, relaxed: bool = False) -> None:
        parts = [_part(ceiling, instance.size, relaxed=relaxed) for ceiling in instance.ceilings]
        sizes = [len(part.worth) for part in parts]
        self._parts = parts
        self.slot = np.repeat([one.slot for one in instance.ceilings], sizes).astype(np.int64)
        self.worth = np.array(
            [one.gain * hits for one, part in zip(instance.ceilings, parts, strict=True) for hits in part.worth],
            np.int64,
        )
        self.upper = np.array([most for part in parts for most in part.upper], np.int64)
        self.rows = sum(len(part.rows) for part in parts)
        self._first = list(accumulate(sizes, initial=0))
        firsts = accumulate((len(part.rows) for part in parts), initial=0)
        self.capped = [first + row for first, part in zip(firsts, parts, strict=False) for row in part.capped]

    def add_rows(self, rows: LinearRows, column: int) -> None:
        """Add the rows, the first of these columns being number `column`."""
        for begin, part in zip(self._first, self._parts, strict=False):
            for entries, least, most in part.rows:
                names = [name if name >= 0 else column + begin - 1 - name for name, _ in entries]
                values = np.array([value for _, value in entries], np.int64)
                rows.add(np.zeros(len(entries), np.int64), np.array(names, np.int64), values)
                rows.close(1, least, most)


def _part(ceiling: Ceiling, units: int, *, relaxed: bool) -> _CeilingColumns:
    if isinstance(ceiling, CappedUnion):
        return _of_union(ceiling)
    if not isinstance(ceiling, TextSubsequence):
        raise UnsupportedError(f"There is no integer program of a {type(ceiling).__name__}: use branch-and-bound.")
    return _clipped(ceiling, units) if relaxed else _of_text(ceiling, units)


def _of_union(ceiling: CappedUnion) -> _CeilingColumns:
    part = _CeilingColumns([], [], [], [])
    covers: dict[int, list[int]] = {}
    for unit, bits in enumerate(ceiling.covered):
        for position in _members(bits):
            covers.setdefault(position, []).append(unit)
    place: dict[int, int] = {}
    once = ~sum(group.places for group in ceiling.groups)
    for position, holders in sorted(covers.items()):
        place[position] = len(part.worth)
        part.worth.append(once >> position & 1)
        part.upper.append(1)
        part.rows.append(([(-1 - place[position], 1), *((unit, -1) for unit in holders)], -np.inf, 0))
    for group in ceiling.groups:
        hits = len(part.worth)
        places = [place[position] for position in _members(group.places)]
        part.worth.append(1)
        part.upper.append(len(places))
        part.capped.append(len(part.rows))
        part.rows.append(([(-1 - hits, 1), *((-1 - one, -1) for one in places)], -np.inf, 0))
        held = [(unit, -count) for unit, count in enumerate(group.copies) if count]
        part.rows.append(([(-1 - hits, 1), *held], -np.inf, 0))
    return part


def _clipped(ceiling: TextSubsequence, units: int) -> _CeilingColumns:
    """Return what is at most the clipped unigrams, and at most what the units have by themselves."""
    part = _CeilingColumns([], [], [], [])
    most = {token: bits.bit_count() for token, bits in ceiling.places().items()}
    for token, count in most.items():
        held = [(unit, -min(count, ceiling.units[unit].count(token))) for unit in range(units)]
        part.rows.append(([(-1 - len(part.worth), 1), *(entry for entry in held if entry[1])], -np.inf, 0))
        part.worth.append(0)
        part.upper.append(count)
    hits = len(part.worth)
    part.worth.append(1)
    part.upper.append(len(ceiling.reference))
    part.capped.append(len(part.rows))
    part.rows.append(([(-1 - hits, 1), *((-1 - one, -1) for one in range(hits))], -np.inf, 0))
    alone = [(unit, -ceiling.hits((unit,))) for unit in range(units)]
    part.rows.append(([(-1 - hits, 1), *(entry for entry in alone if entry[1])], -np.inf, 0))
    return part


def _of_text(ceiling: TextSubsequence, units: int) -> _CeilingColumns:
    """Return the path through the grid."""
    part = _CeilingColumns([], [], [], [])
    wide, places = len(ceiling.reference) + 1, ceiling.places()
    if units * wide > _PIECES:
        raise _too_many()
    flow: list[list[tuple[int, int]]] = [[] for _ in range((units + 1) * wide)]

    def column(start: int, end: int, hits: int) -> int:
        number = len(part.worth)
        if number > _PIECES:
            raise _too_many()
        flow[start].append((-1 - number, 1))
        flow[end].append((-1 - number, -1))
        part.worth.append(hits)
        part.upper.append(1)
        return number

    for unit in range(units):
        pieces = [
            column(unit * wide + begin, (unit + 1) * wide + end, hits)
            for begin, end, hits in pieces_of(ceiling.units[unit], places, wide - 1)
        ]
        if pieces:
            part.rows.append(([*((-1 - one, 1) for one in pieces), (unit, -1)], -np.inf, 0))
        for position in range(wide):
            column(unit * wide + position, (unit + 1) * wide + position, 0)
            if position + 1 < wide:
                column(unit * wide + position, unit * wide + position + 1, 0)
    for position in range(wide - 1):
        column(units * wide + position, units * wide + position + 1, 0)
    for node, entries in enumerate(flow[:-1]):
        if entries:
            part.rows.append((entries, float(node == 0), float(node == 0)))
    return part


def pieces_of(tokens: Sequence[int], places: dict[int, int], length: int) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end and longest common subsequence of a unit and each piece that a shorter one does not equal."""
    held = 0
    for token in tokens:
        held |= places[token]
    begins = _members(held)
    longer: list[int] = [0] * (length + 1)  # hits of pieces that begin later, by their ends
    for begin in reversed(begins):
        full = (1 << (length - begin)) - 1
        flat = full
        for token in tokens:
            both = flat & (places[token] >> begin)
            flat = ((flat + both) | (flat - both)) & full
        hits, here = 0, [0] * (length + 1)
        for end in range(begin + 1, length + 1):
            grown = not flat >> (end - begin - 1) & 1
            hits += grown
            here[end] = hits
            if grown and hits > longer[end]:
                yield begin, end, hits
        longer = here


def _members(bits: int) -> list[int]:
    return [position for position in range(bits.bit_length()) if bits >> position & 1]


def _too_many() -> UnsupportedError:
    return UnsupportedError(
        "The integer program of rougeL has too many pieces of the reference here: use branch-and-bound."
    )
