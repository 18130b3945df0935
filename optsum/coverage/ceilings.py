r"""Totals that features only bound from above: the longest common subsequences of ROUGE-L.

A *ceiling* is a part of a numerator that is at most the sum of some features and masses of the instance. A bound that
uses these features and masses instead of the ceiling is therefore valid; evaluations of selections use the ceilings.

* `CappedUnion` (rouge-l): the covered positions of a reference, for each token t at most as many as its copies in the
  chosen units: :math:`\sum_t \min(A_t, B_t)`, with the covered positions :math:`A_t` and the copies :math:`B_t` of t;
* `TextSubsequence` (rougeL): the longest common subsequence of a reference and the concatenated chosen units.

For any share a between 0 and 1, :math:`\min(A, B) \le a A + (1 - a) B`, and the right side consists of features and
masses. Likewise, a longest common subsequence is at most the number of clipped unigrams, and at most the sum of the
longest common subsequences of the single units.

In an integer program, a covered position of a `CappedUnion` is a column ``y_p <= sum of x_u over the units that cover
p``. The hits h_t of a token that may have fewer copies than covered positions are a column with ``h_t <= sum of y_p``
and ``h_t <= sum of c_ut x_u``, where unit u has c_ut copies of t.

For a `TextSubsequence`, the reference is cut into consecutive pieces, one for each chosen unit in turn; the best cut
gives the longest common subsequence as a sum over units and their pieces. So it is a longest path through a grid in
which node (u, p) means that the units before u have used the reference up to p: an arc skips a unit, skips a position,
or matches a chosen unit with a piece that begins and ends with a hit. For a fixed selection, a best path is integral.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from optsum.errors import UnsupportedError
from optsum.system.compiled import njit

_PIECES: Final = 300_000  # Largest number of arcs (columns) of one path.


@dataclass(frozen=True, eq=False, kw_only=True)
class Ceiling(ABC):
    """A part of a total that features and masses bound from above."""

    slot: int  # Number of the total that has this part.
    gain: int  # The amount that a hit adds to the total.
    # first, last: features ``first`` to ``last - 1`` of the instance bound the part.
    first: int
    last: int
    mass: NDArray[np.int64] = field(repr=False)  # (units,) array: the part of the instance's mass that bounds it.

    @property
    @abstractmethod
    def parts(self) -> int:
        """Number of shares that `bounded_by` takes."""

    @abstractmethod
    def bounded_by(self, shares: Sequence[int], whole: int) -> tuple[Self, NDArray[np.int64]]:
        """Return the ceiling bounded by a mean of features and masses, and a factor for the levels of each feature.

        In part g, features have the weight ``shares[g]``, and masses ``whole - shares[g]``. So both results belong to
        an instance whose totals are multiplied by `whole`.
        """

    @abstractmethod
    def columns(self, *, relaxed: bool) -> CeilingPart:
        """Return the ceiling's columns and rows in an integer program; if `relaxed`, fewer that only bound it."""

    @property
    def text_length(self) -> int:
        """Number of tokens of the reference if whole texts are compared; otherwise 0."""
        return 0

    @abstractmethod
    def hits(self, chosen: Sequence[int]) -> int:
        """Return the true hits of the chosen units (ascending), in plain Python for the independent evaluation."""

    def times(self, factor: int) -> Self:
        """Return the ceiling with all gains and masses multiplied by a factor."""
        return replace(self, gain=factor * self.gain, mass=factor * self.mass)


class CeilingPart(NamedTuple):
    """The columns of one ceiling, numbered from 0, and its rows."""

    # worth, upper: (columns,): the hits that a column counts, and its upper bound.
    worth: NDArray[np.int64]
    upper: NDArray[np.int64]
    # Blocks of entries: arrays of rows, names and values (or one value), where a name is a unit, or -1 - column.
    entries: Sequence[tuple[NDArray[Any], NDArray[Any], Any]]
    rows: int
    # (groups,): a row that limits the hits of each group by its covered positions; the next row is by its copies.
    capped: NDArray[np.int64]
    # least, most: (rows,), or one number for all rows: the limits of the rows.
    least: NDArray[np.float64] | float = -np.inf
    most: NDArray[np.float64] | float = 0.0


class Group(NamedTuple):
    """A token whose covered positions in the reference may outnumber its copies in chosen units."""

    places: int  # Its positions in the reference, as bits of an integer.
    copies: tuple[int, ...]  # Number of copies of the token in each unit.
    # above, beside: in the bound, the gain of a covered position in features, and of a copy in masses.
    above: int
    beside: int


@dataclass(frozen=True, eq=False, kw_only=True)
class CappedUnion(Ceiling):
    """The covered positions of a reference, for each token at most as many as it has copies in the chosen units."""

    covered: tuple[int, ...] = field(repr=False)  # For each unit, the positions that it covers, as bits of an integer.
    # Tokens that may have fewer copies than covered positions. Every covered position of another token is a hit.
    groups: tuple[Group, ...] = field(default=(), repr=False)

    @cached_property
    def bits(self) -> NDArray[np.uint8]:
        """Matrix of 0 and 1 (units, positions): the positions that each unit covers."""
        return _bits(self.covered, self._positions)

    @cached_property
    def bits_of_groups(self) -> NDArray[np.uint8]:
        """Matrix of 0 and 1 (groups, positions): the positions of each group."""
        return _bits([group.places for group in self.groups], self._positions)

    @property
    def _positions(self) -> int:
        return max(
            (*map(int.bit_length, self.covered), *(group.places.bit_length() for group in self.groups)), default=0
        )

    def capped(self, groups: Iterable[tuple[int, tuple[int, ...]]]) -> Self:
        """Return the ceiling with a group for each token, given by its positions (bits) and its copies in each unit."""
        return replace(self, groups=tuple(Group(places, copies, self.gain, 0) for places, copies in groups))

    @property
    def parts(self) -> int:
        return len(self.groups)

    def times(self, factor: int) -> Self:
        groups = [group._replace(above=factor * group.above, beside=factor * group.beside) for group in self.groups]
        return replace(super().times(factor), groups=tuple(groups))

    def bounded_by(self, shares: Sequence[int], whole: int) -> tuple[Self, NDArray[np.int64]]:
        """Weight the covered positions of each group by its share of `whole`, and its copies by the rest of `whole`."""
        number = np.cumsum(self.bits.any(axis=0)) - 1  # the number of each covered position's feature
        mass = np.zeros(len(self.covered), np.int64)
        weights = np.full(self.last - self.first, whole, np.int64)
        groups = []
        for group, share, places in zip(self.groups, shares, self.bits_of_groups, strict=True):
            weights[number[places.nonzero()]] = share
            above, beside = share * self.gain, (whole - share) * self.gain
            mass += beside * np.array(group.copies, np.int64)
            groups.append(group._replace(above=above, beside=beside))
        made = replace(self, gain=whole * self.gain, mass=mass, groups=tuple(groups))
        return made, weights

    def hits(self, chosen: Sequence[int]) -> int:
        union = 0
        for unit in chosen:
            union |= self.covered[unit]
        hits = union.bit_count()
        for group in self.groups:
            copies = sum(group.copies[unit] for unit in chosen)
            hits -= max(0, (union & group.places).bit_count() - copies)
        return hits

    def columns(self, *, relaxed: bool) -> CeilingPart:
        """Return a column for each matched token of the reference, and one for the clipped hits of each group."""
        del relaxed
        positions = np.flatnonzero(self.bits.any(axis=0))
        position, holder = self.bits[:, positions].T.nonzero()
        capped = self.bits_of_groups[:, positions]
        group, member = capped.nonzero()
        copies = np.array([group.copies for group in self.groups], np.int64).reshape(len(capped), len(self.covered))
        owner, unit = copies.nonzero()
        wide, groups = len(positions), np.arange(len(capped))
        hits, above = -1 - wide - groups, wide + 2 * groups
        entries = [
            (np.arange(wide), -1 - np.arange(wide), 1),
            (position, holder, -1),
            (above, hits, 1),
            (above[group], -1 - member, -1),
            (above + 1, hits, 1),
            (above[owner] + 1, unit, -copies[owner, unit]),
        ]
        worth = np.concatenate([1 - capped.any(axis=0), np.ones(len(groups), np.int64)])
        upper = np.concatenate([np.ones(wide, np.int64), capped.sum(axis=1, dtype=np.int64)])
        return CeilingPart(worth, upper, entries, wide + 2 * len(groups), above)


@dataclass(frozen=True, eq=False, kw_only=True)
class TextSubsequence(Ceiling):
    """The longest common subsequence of a reference and the concatenated chosen units."""

    reference: tuple[int, ...] = field(repr=False)  # Its tokens, as numbers.
    # For each unit, the tokens that also occur in the reference, in order.
    units: tuple[tuple[int, ...], ...] = field(repr=False)
    # above, beside: in the bound, the gain of a clipped unigram in features, and of a hit of a single unit in masses.
    above: int
    beside: int = 0

    def times(self, factor: int) -> Self:
        return replace(super().times(factor), above=factor * self.above, beside=factor * self.beside)

    def bounded_by(self, shares: Sequence[int], whole: int) -> tuple[Self, NDArray[np.int64]]:
        """Weight clipped unigrams by the only share of `whole`, and the hits of single units by the rest of `whole`."""
        (share,) = shares
        above, beside = share * self.gain, (whole - share) * self.gain
        mass = beside * self.own
        made = replace(self, gain=whole * self.gain, mass=mass, above=above, beside=beside)
        return made, np.full(self.last - self.first, share, np.int64)

    @property
    def parts(self) -> int:
        return 1

    @property
    def text_length(self) -> int:
        return len(self.reference)

    @cached_property
    def places(self) -> dict[int, int]:
        places: dict[int, int] = {}
        for position, token in enumerate(self.reference):
            places[token] = places.get(token, 0) | 1 << position
        return places

    @cached_property
    def own(self) -> NDArray[np.int64]:
        return np.array([self.hits((unit,)) for unit in range(len(self.units))], np.int64)

    def hits(self, chosen: Sequence[int]) -> int:
        places, full = self.places, (1 << len(self.reference)) - 1
        flat = full
        for unit in chosen:
            for token in self.units[unit]:
                both = flat & places[token]
                flat = ((flat + both) | (flat - both)) & full
        return len(self.reference) - flat.bit_count()

    def columns(self, *, relaxed: bool) -> CeilingPart:
        """Return the path through the grid that the module describes; if `relaxed`, columns that bound its length."""
        return self._clipped() if relaxed else self._path()

    def _clipped(self) -> CeilingPart:
        """Return a column for each token's clipped unigrams, and one for hits, limited by their sum and by `own`."""
        number = {token: row for row, token in enumerate(self.places)}
        most = np.array([bits.bit_count() for bits in self.places.values()], np.int64)
        held = [
            (number[token], unit, copies)
            for unit, tokens in enumerate(self.units)
            for token, copies in Counter(tokens).items()
        ]
        row, unit, copies = np.array(held, np.int64).reshape(-1, 3).T
        tokens, hits = np.arange(len(most)), len(most)
        alone = self.own.nonzero()[0]
        entries = [
            (tokens, -1 - tokens, 1),
            (row, unit, -np.minimum(copies, most[row])),
            (np.array([hits, hits + 1]), np.array([-1 - hits, -1 - hits]), 1),
            (np.full(hits, hits), -1 - tokens, -1),
            (np.full(len(alone), hits + 1), alone, -self.own[alone]),
        ]
        worth = np.concatenate([np.zeros(hits, np.int64), [1]])
        upper = np.concatenate([most, [len(self.reference)]])
        return CeilingPart(worth, upper, entries, hits + 2, np.array([hits]))

    def _path(self) -> CeilingPart:
        units, wide = self.own.nonzero()[0], len(self.reference) + 1
        layers = len(units)
        passing = layers * wide + (layers + 1) * (wide - 1)
        found = (
            (number, *piece)
            for number, unit in enumerate(units.tolist())
            for piece in pieces_of(self.units[unit], self.places, wide - 1)
        )
        pieces = list(islice(found, max(0, _PIECES - passing) + 1))
        if passing + len(pieces) > _PIECES:
            raise UnsupportedError(
                f"The integer program of rougeL would have more than {_PIECES:,} columns: use branch-and-bound."
            )
        layer, begin, end, hits = np.array(pieces, np.int64).reshape(-1, 4).T
        nodes = np.arange((layers + 1) * wide)
        steps = nodes[nodes % wide < wide - 1]
        start = np.concatenate([layer * wide + begin, nodes[:-wide], steps])
        stop = np.concatenate([(layer + 1) * wide + end, nodes[wide:], steps + 1])
        column = np.arange(len(start))
        leaves, enters = start < nodes[-1], stop < nodes[-1]
        entries = [
            (layer, -1 - column[: len(layer)], 1),
            (np.arange(layers), units, -1),
            (layers + start[leaves], -1 - column[leaves], 1),
            (layers + stop[enters], -1 - column[enters], -1),
        ]
        worth = np.concatenate([hits, np.zeros(passing, np.int64)])
        flow = np.zeros(len(nodes) - 1)
        flow[:1] = 1.0  # nothing flows if the reference is empty and no unit has a token
        sides = (np.append(np.full(layers, side), flow) for side in (-np.inf, 0.0))
        none = np.zeros(0, np.int64)
        return CeilingPart(worth, np.ones(len(start), np.int64), entries, layers + len(flow), none, *sides)


def pieces_of(tokens: Sequence[int], places: dict[int, int], length: int) -> Iterator[tuple[int, int, int]]:
    """Yield begin, end and hits of each piece of a reference that has more hits than all shorter pieces within it.

    `tokens`: of a unit; hits are the length of the longest common subsequence with it. `places`: token -> bits of its
    positions in the reference, which has `length` tokens. For each begin, bits mark the ends at which hits grow.
    """
    held = 0
    for token in tokens:
        held |= places[token]
    full = (1 << length) - 1
    later = 0  # bits of the ends at which the number of hits grows, for the next begin
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


class CeilingArrays(NamedTuple):
    """The ceilings of an instance as arrays for kernels."""

    # (groups, 4): `slot`, `gain`, `above` and `beside` of each group of a `CappedUnion`.
    capped: NDArray[np.int64]
    covered: NDArray[np.uint64]  # (groups, units, words of 64 bits): the group's positions that each unit covers.
    copies: NDArray[np.int64]  # (groups, units)
    # (subsequences, 6): `slot`, `gain`, `above` and `beside` of each `TextSubsequence`, and begin and end of its rows
    # in `places` and `most`, one row for each token of the reference.
    texts: NDArray[np.int64]
    own: NDArray[np.int64]  # (subsequences, units): hits of each single unit.
    start: NDArray[np.int64]  # (subsequences * units + 1,): where the tokens of each unit begin in `token`.
    token: NDArray[np.int64]  # For each token of the units, its row in `places` and `most`.
    places: NDArray[np.uint64]  # (rows, words of 64 bits): the positions of a token in the reference.
    most: NDArray[np.int64]  # (rows,): number of these positions.
    # flat, counts, totals, units: buffers for the bits of an LCS, counts of tokens, true totals and chosen units.
    flat: NDArray[np.uint64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    units: NDArray[np.int64]


def arrays_of_ceilings(ceilings: Sequence[Ceiling], units: int, totals: int) -> CeilingArrays:
    """Return ceilings as arrays, for an instance with a number of units and of totals (two for each ratio)."""
    unions = [one for one in ceilings if isinstance(one, CappedUnion)]
    texts = [one for one in ceilings if isinstance(one, TextSubsequence)]
    groups = [(one, *pair) for one in unions for pair in zip(one.groups, one.bits_of_groups, strict=True)]
    words = max([1, *((group.places.bit_count() + 63) // 64 for _, group, _ in groups)])
    covered = np.zeros((len(groups), units, words), np.uint64)
    for number, (one, _, places) in enumerate(groups):
        packed = np.packbits(one.bits[:, places.nonzero()[0]], axis=1, bitorder="little")
        covered[number].view(np.uint8)[:, : packed.shape[1]] = packed
    lines, token, start, rows = [], list[int](), [0], list[int]()
    for text in texts:
        row = {key: len(rows) + number for number, key in enumerate(text.places)}
        lines.append((text.slot, text.gain, text.above, text.beside, len(rows), len(rows) + len(row)))
        rows += text.places.values()
        for tokens in text.units:
            token += [row[each] for each in tokens]
            start.append(len(token))
    wide = max([1, *((len(text.reference) + 63) // 64 for text in texts)])
    placed = [[bits >> 64 * word & 2**64 - 1 for word in range(wide)] for bits in rows]
    return CeilingArrays(
        np.array([(of.slot, of.gain, one.above, one.beside) for of, one, _ in groups], np.int64).reshape(-1, 4),
        covered,
        np.array([group.copies for _, group, _ in groups], np.int64).reshape(len(groups), units),
        np.array(lines, np.int64).reshape(-1, 6),
        np.array([text.own for text in texts], np.int64).reshape(len(texts), units),
        np.array(start, np.int64),
        np.array(token, np.int64),
        np.array(placed, np.uint64).reshape(-1, wide),
        np.array(list(map(int.bit_count, rows)), np.int64),
        np.zeros(wide, np.uint64),
        np.zeros(len(rows), np.int64),
        np.zeros(totals, np.int64),
        np.zeros(units, np.int64),
    )


NO_CEILINGS: Final = arrays_of_ceilings((), 0, 0)


def _bits(numbers: Sequence[int], size: int) -> NDArray[np.uint8]:
    each = (size + 7) // 8
    packed = np.frombuffer(b"".join(number.to_bytes(each, "little") for number in numbers), np.uint8)
    return np.unpackbits(packed.reshape(len(numbers), each), axis=1, bitorder="little", count=size)


_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, inline="always")
def count_bits(word: Any) -> Any:
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, inline="always")
def extend(flat: Any, places: Any, row: int) -> None:
    """Append a token to a text, and update `flat`: bits that are 0 where the LCS with a reference grows (Hyyro 2004).

    LCS: longest common subsequence. Bits of ``places[row]`` are the positions of the token in the reference.
    """
    carry = np.uint64(0)
    for word in range(len(flat)):
        old = flat[word]
        both = old & places[row, word]
        partly = old + both
        total = partly + carry
        carry = np.uint64(1) if partly < old or total < partly else np.uint64(0)
        flat[word] = total | (old - both)


@njit(cache=True)
def correct(ceilings: Any, count: int, totals: Any) -> None:
    """Replace bounds by true hits in the totals of the chosen units, ``ceilings.units[:count]`` in ascending order."""
    units = ceilings.units
    for group in range(len(ceilings.capped)):
        covered, copies = np.int64(0), np.int64(0)
        for word in range(ceilings.covered.shape[2]):
            union = np.uint64(0)
            for number in range(count):
                union |= ceilings.covered[group, units[number], word]
            if union:
                covered += count_bits(union)
        if covered == 0 and ceilings.capped[group, 3] == 0:
            continue
        for number in range(count):
            copies += ceilings.copies[group, units[number]]
        slot, gain = ceilings.capped[group, 0], ceilings.capped[group, 1]
        above, beside = ceilings.capped[group, 2], ceilings.capped[group, 3]
        totals[slot] += gain * min(covered, copies) - above * covered - beside * copies
    size = ceilings.own.shape[1]
    for text in range(len(ceilings.texts)):
        slot, gain = ceilings.texts[text, 0], ceilings.texts[text, 1]
        above, beside = ceilings.texts[text, 2], ceilings.texts[text, 3]
        first, last = ceilings.texts[text, 4], ceilings.texts[text, 5]
        for word in range(len(ceilings.flat)):
            ceilings.flat[word] = _ALL
        for row in range(first, last):
            ceilings.counts[row] = 0
        clipped, own = np.int64(0), np.int64(0)
        for number in range(count):
            unit = units[number]
            own += ceilings.own[text, unit]
            for entry in range(ceilings.start[text * size + unit], ceilings.start[text * size + unit + 1]):
                row = ceilings.token[entry]
                if ceilings.counts[row] < ceilings.most[row]:
                    ceilings.counts[row] += 1
                    clipped += 1
                extend(ceilings.flat, ceilings.places, row)
        hits = np.int64(0)
        for word in range(len(ceilings.flat)):
            hits += count_bits(~ceilings.flat[word])
        totals[slot] += gain * hits - above * clipped - beside * own
