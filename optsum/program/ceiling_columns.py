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

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.ceilings import CappedUnion, Ceiling, TextSubsequence
from optsum.coverage.instance import Coverage, IntArray
from optsum.errors import UnsupportedError
from optsum.program.rows import LinearRows

_PIECES: Final = 300_000  # Pieces and nodes that a program may have.

_Entries: TypeAlias = list[tuple[IntArray, IntArray, IntArray | int]]  # Rows, names and values of entries of a part.


class _CeilingColumns(NamedTuple):
    """The columns of one ceiling, numbered from 0, and its rows."""

    # worth, upper: (columns,): hits of each column, and its upper bound.
    worth: IntArray
    upper: IntArray
    # row, name, value: (entries,): of the rows; a name is a unit, or -1 - column.
    row: IntArray
    name: IntArray
    value: IntArray
    # least, most: (rows,)
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    capped: IntArray  # (groups,): as of `CeilingColumns`.


class CeilingColumns:
    """The columns and rows of all ceilings of an instance.

    `rows`: how many there are. `slot`, `worth`, `upper` (columns,): the total that each column feeds, what it adds, and
    its upper bound. `capped`: the first of the two rows of each group of every `CappedUnion`, or of every
    `TextSubsequence` if it is relaxed: its hits are at most what is covered, and at most the copies.
    """

    def __init__(self, instance: Coverage, *, relaxed: bool = False) -> None:
        parts = [_part(ceiling, relaxed=relaxed) for ceiling in instance.ceilings]
        sizes = [len(part.worth) for part in parts]
        self._parts = parts
        self.slot = np.repeat([one.slot for one in instance.ceilings], sizes).astype(np.int64)
        none = np.zeros(0, np.int64)
        self.worth = np.concatenate(
            [none, *(one.gain * part.worth for one, part in zip(instance.ceilings, parts, strict=True))]
        )
        self.upper = np.concatenate([none, *(part.upper for part in parts)])
        self._first = list(accumulate(sizes, initial=0))
        firsts = list(accumulate((len(part.least) for part in parts), initial=0))
        self.rows = firsts[-1]
        self.capped = [first + row for first, part in zip(firsts, parts, strict=False) for row in part.capped.tolist()]

    def add_rows(self, rows: LinearRows, column: int) -> None:
        """Add the rows, the first of these columns being number `column`."""
        for begin, part in zip(self._first, self._parts, strict=False):
            rows.add(part.row, np.where(part.name >= 0, part.name, column + begin - 1 - part.name), part.value)
            rows.close(len(part.least), part.least, part.most)


def _part(ceiling: Ceiling, *, relaxed: bool) -> _CeilingColumns:
    if isinstance(ceiling, CappedUnion):
        return _of_union(ceiling)
    if not isinstance(ceiling, TextSubsequence):
        raise UnsupportedError(f"There is no integer program of a {type(ceiling).__name__}: use branch-and-bound.")
    return _clipped(ceiling) if relaxed else _of_text(ceiling)


def _of_union(ceiling: CappedUnion) -> _CeilingColumns:
    positions = np.flatnonzero(ceiling.bits.any(axis=0))
    position, holder = ceiling.bits[:, positions].T.nonzero()
    capped = ceiling.bits_of_groups[:, positions]
    group, member = capped.nonzero()
    copies = np.array([group.copies for group in ceiling.groups], np.int64).reshape(len(capped), len(ceiling.covered))
    owner, unit = copies.nonzero()
    wide, groups = len(positions), np.arange(len(capped))
    hits, above = -1 - wide - groups, wide + 2 * groups
    entries: _Entries = [
        (np.arange(wide), -1 - np.arange(wide), 1),
        (position, holder, -1),
        (above, hits, 1),
        (above[group], -1 - member, -1),
        (above + 1, hits, 1),
        (above[owner] + 1, unit, -copies[owner, unit]),
    ]
    worth = np.concatenate([1 - capped.any(axis=0), np.ones(len(groups), np.int64)])
    upper = np.concatenate([np.ones(wide, np.int64), capped.sum(axis=1, dtype=np.int64)])
    return _made(worth, upper, entries, wide + 2 * len(groups), above)


def _clipped(ceiling: TextSubsequence) -> _CeilingColumns:
    """Return what is at most the clipped unigrams, and at most what the units have by themselves."""
    number = {token: row for row, token in enumerate(ceiling.places)}
    most = np.array([bits.bit_count() for bits in ceiling.places.values()], np.int64)
    held = [
        (number[token], unit, copies)
        for unit, tokens in enumerate(ceiling.units)
        for token, copies in Counter(tokens).items()
    ]
    row, unit, copies = np.array(held, np.int64).reshape(-1, 3).T
    tokens, hits = np.arange(len(most)), len(most)
    alone = ceiling.own.nonzero()[0]
    entries: _Entries = [
        (tokens, -1 - tokens, 1),
        (row, unit, -np.minimum(copies, most[row])),
        (np.array([hits, hits + 1]), np.array([-1 - hits, -1 - hits]), 1),
        (np.full(hits, hits), -1 - tokens, -1),
        (np.full(len(alone), hits + 1), alone, -ceiling.own[alone]),
    ]
    worth = np.concatenate([np.zeros(hits, np.int64), [1]])
    upper = np.concatenate([most, [len(ceiling.reference)]])
    return _made(worth, upper, entries, hits + 2, np.array([hits]))


def _of_text(ceiling: TextSubsequence) -> _CeilingColumns:
    """Return the path through the grid, in which units without a hit have no layer."""
    units, wide = ceiling.own.nonzero()[0], len(ceiling.reference) + 1
    layers = len(units)
    passing = layers * wide + (layers + 1) * (wide - 1)
    pieces: list[tuple[int, int, int, int]] = []
    for number, unit in enumerate(units.tolist()):
        if passing + len(pieces) > _PIECES:
            break
        pieces += [(number, *piece) for piece in pieces_of(ceiling.units[unit], ceiling.places, wide - 1)]
    if passing + len(pieces) > _PIECES:
        raise UnsupportedError(
            "The integer program of rougeL has too many pieces of the reference here: use branch-and-bound."
        )
    layer, begin, end, hits = np.array(pieces, np.int64).reshape(-1, 4).T
    nodes = np.arange((layers + 1) * wide)
    steps = nodes[nodes % wide < wide - 1]
    start = np.concatenate([layer * wide + begin, nodes[:-wide], steps])
    stop = np.concatenate([(layer + 1) * wide + end, nodes[wide:], steps + 1])
    column = np.arange(len(start))
    leaves, enters = start < nodes[-1], stop < nodes[-1]
    entries: _Entries = [
        (layer, -1 - column[: len(layer)], 1),
        (np.arange(layers), units, -1),
        (layers + start[leaves], -1 - column[leaves], 1),
        (layers + stop[enters], -1 - column[enters], -1),
    ]
    worth = np.concatenate([hits, np.zeros(passing, np.int64)])
    part = _made(worth, np.ones(len(start), np.int64), entries, layers + len(nodes) - 1, np.zeros(0, np.int64))
    part.least[layers:] = part.most[layers:] = 0
    part.least[layers : layers + 1] = part.most[layers : layers + 1] = 1
    return part


def _made(
    worth: IntArray,
    upper: IntArray,
    entries: _Entries,
    rows: int,
    capped: IntArray,
) -> _CeilingColumns:
    row, name = (np.concatenate([entry[place] for entry in entries]) for place in (0, 1))
    value = np.concatenate([np.broadcast_to(np.asarray(value, np.int64), len(row)) for row, _, value in entries])
    return _CeilingColumns(worth, upper, row, name, value, np.full(rows, -np.inf), np.zeros(rows), capped)


def pieces_of(tokens: Sequence[int], places: dict[int, int], length: int) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end and longest common subsequence of a unit and each piece that a shorter one does not equal.

    Bits of a column say where the longest common subsequence of the piece that ends there grows. A piece counts if it
    grows at its end, and is worth more than the one that begins with the next token of the unit.
    """
    held = 0
    for token in tokens:
        held |= places[token]
    full = (1 << length) - 1
    later = 0  # where pieces grow that begin later
    while held:
        begin = held.bit_length() - 1
        held ^= 1 << begin
        beyond = full >> begin << begin
        flat = full
        for token in tokens:
            both = flat & places[token] & beyond
            flat = ((flat + both) | (flat - both)) & full
        grown = left = full ^ flat
        hits = 0
        while left:
            lowest = left & -left
            left ^= lowest
            hits += 1
            upto = (lowest << 1) - 1
            if hits > (later & upto).bit_count():
                yield begin, lowest.bit_length(), hits
        later = grown
