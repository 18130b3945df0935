"""Best similarities in the normal form: each reference token counts by the most similar chosen unit.

With the similarities of token r and unit u, integers m[r, u] >= 0, and weights w_r,

    f(S) = sum of w_r times the largest m[r, u] of the units u in S, and f(empty set) = 0.

The different values l_1 < l_2 < ... of a row are its levels, and f(S) = sum of w_r (l_k - l_(k-1)) over the levels k
that some chosen unit reaches: features that gain once (the canonical form of Cornuejols, Nemhauser and Wolsey 1980,
with the relaxation of facility location). Levels reached by the same units are merged into one feature, and those of a
single unit into its mass.

A token has up to as many levels as there are units, and a good summary reaches the highest ones; `Facility.truncated`
keeps only those above a floor b_r. Its value is the sum of w_r max(b_r, largest), never below f, and an optimum of it
that reaches all floors is an optimum of f.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, isqrt, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Combination, Coverage, IntArray
from optsum.errors import InputError, UnsupportedError
from optsum.whole import whole, whole_array

_LARGEST: Final = 2**50  # A denominator beyond this would leave too little room in 64-bit integers.

_MOST: Final = 40_000_000  # Pairs of a level and a unit that an instance may have: they take 16 bytes each.

_LIGHT: Final = 4_000_000  # Such pairs, about, that a search which proves nothing is given.

_AT_ONCE: Final = 2_000_000  # Pairs that are looked at together.

_FIRST: Final = 8  # Levels of a token that are kept at first, at least.
_SHARE: Final = 80  # For one optimum a level is kept for each 80 units.
_SHARE_OF_ALL: Final = 20  # For families of selections, which grow where floors are high, one for each 20 units.

_COMPARED: Final = 2.0**60  # What products of numerators and denominators that are compared may come to.

_WEIGHED: Final = 64  # Steps of weights where numbers are too large.

_SAME: Final = (
    *("lengths", "constants", "weights", "combination", "parents", "joints"),
    *("min_length", "max_length", "goal", "rows"),
)
_MADE: Final = ("unit_start", "unit_feature", "unit_count", "level_start", "level", "slot", "mass")


class Facility(Coverage):
    """An instance given as best similarities; the arrays of all its levels are built when they are needed."""

    similar: IntArray  # (tokens, units): m[r, u], not negative.
    importance: IntArray  # (tokens,): w_r, positive.
    # (0 or 2, units): numerator and denominator of a second ratio, sums over the units: the value is the harmonic mean
    # of both.
    own: IntArray

    def __post_init__(self) -> None:
        """Refuse arrays, which could contradict the similarities."""
        raise TypeError("make a Facility by Facility.given")

    @classmethod
    def given(
        cls,
        similar: IntArray,
        importance: IntArray,
        lengths: Sequence[int] | IntArray,
        *,
        full: int,
        parents: IntArray | None = None,
        own: IntArray | None = None,
        **limits: Any,
    ) -> Facility:
        """Return an instance.

        `full`: the denominator, which is f if every token has the largest possible similarity.
        """
        length = whole_array(lengths, "The length of unit {}")
        similar = whole_array(similar, "A similarity", ndim=2, least=0)
        importance = whole_array(importance, "The importance of token {}", least=1)
        own = None if own is None else whole_array(own, "A sum of a unit", ndim=2, least=0)
        full = whole(full, "The denominator", least=1, most=_LARGEST)
        if similar.shape != (len(importance), len(length)):
            raise InputError("The similarities must have a row for each token and a column for each unit.")
        if float(importance @ similar.max(axis=1, initial=0).astype(np.float64)) > _LARGEST:
            raise InputError("The similarities are too large together: divide them by a common factor.")
        # What there is to check of an instance is checked on one without features.
        also: dict[str, Any] = {} if own is None else {"weights": (1, 1), "combination": Combination.HARMONIC}
        plain = Coverage.of(
            length.tolist(),
            [{}] * len(length),
            [],
            constants=(0, full) if own is None else (0, full, 0, 0),
            mass=None if own is None else [*np.zeros_like(own).tolist(), *own.tolist()],
            parents=() if parents is None else list(parents),
            **also,
            **limits,
        )
        rows, which = np.unique(similar, axis=0, return_inverse=True)
        summed = np.zeros(len(rows), np.int64)
        np.add.at(summed, which.reshape(-1), importance)
        made: Facility = object.__new__(cls)
        made.__dict__.update({name: value for name, value in vars(plain).items() if name not in _MADE})
        made.__dict__.update(similar=rows, importance=summed, own=plain.mass[2:], constant_denominator=own is None)
        return made

    def __getattr__(self, name: str) -> Any:
        """Build the arrays of all levels when the first of them is needed."""
        if name not in _MADE or "similar" not in self.__dict__:
            raise AttributeError(name)
        self.__dict__.update(self._arrays(np.full(len(self.similar), self.size, np.int64)))
        return self.__dict__[name]

    @property
    def single_ratio(self) -> bool:
        """Whether a denominator varies."""
        return False

    def first_kept(self, *, every: bool = False) -> IntArray:
        """Return how many levels of each token to keep first, for one optimum or for a family of selections."""
        return np.full(len(self.similar), max(_FIRST, self.size // (_SHARE_OF_ALL if every else _SHARE)), np.int64)

    def more_kept(self, kept: IntArray, selection: Iterable[int]) -> IntArray:
        """Return how many levels to keep after a selection missed floors: twice as many, and those that it reaches."""
        chosen = list(selection)
        best = self.similar[:, chosen].max(axis=1) if chosen else np.full(len(self.similar), -1, np.int64)
        ordered, different = self._ordered()
        above = ((ordered > best[:, None]) & different).sum(axis=1)
        return np.where(above > kept, np.maximum(2 * kept, above), kept)

    def floors(self, kept: IntArray) -> IntArray:
        """Return b_r: the highest level that is not kept separately."""
        _, _, floors = self._kept_levels(kept)
        return floors

    @property
    def relaxed(self) -> Coverage:
        """A smaller instance whose value is never below f."""
        return self.truncated()

    @property
    def lighter(self) -> Coverage:
        """Return the instance for heuristics: all levels, or only the highest if there are very many."""
        light = self._coarser() if len(self.own) else self
        tokens, units = light.similar.shape
        most = isqrt(2 * _LIGHT // max(1, tokens))  # k levels of a token have about k * k / 2 holders
        return light if most >= units else light.truncated(np.full(tokens, max(_FIRST, most), np.int64))

    def _coarser(self) -> Facility:
        """Return an instance of about the same ratios with smaller numerators and denominators."""
        weigh = max(1, int(self.importance.max(initial=1)) // _WEIGHED)
        importance = np.maximum(1, self.importance // weigh)
        each = int(self.constants[1]) / int(self.importance.sum())  # the largest similarity there can be
        full = each * float(importance.sum())
        top, bottom = map(float, self.own.sum(axis=1))
        need = sqrt(full * top * (full * top + full * bottom) / _COMPARED)  # what both must be divided by
        if need <= 1 and weigh == 1:
            return self
        steps = sqrt(each * max(1.0, bottom / max(1, self.size)) / max(need, 1.0))
        large, heavy = max(1, ceil(each / steps)), max(1, ceil(bottom / max(1, self.size) / steps))
        own = np.rint(self.own / heavy).astype(np.int64)
        own[1] = np.maximum(own[1], self.own[1] > 0)
        found = Facility.given(
            np.rint(self.similar / large).astype(np.int64),
            importance,
            self.lengths,
            full=max(1, round(full / large)),
            parents=self.parents if len(self.parents) else None,
            own=own,
            min_length=self.min_length,
            max_length=self.max_length,
        )
        return found.with_rows(self.rows)  # type: ignore[return-value]

    def truncated(self, kept: IntArray | None = None) -> Coverage:
        """Return the instance with some levels of each token (`first_kept`), whose value is never below f."""
        arrays = self._arrays(self.first_kept() if kept is None else kept)
        same = {name: getattr(self, name) for name in _SAME}
        return Coverage.trusted(**same, **arrays)

    def _ordered(self) -> tuple[IntArray, NDArray[np.bool_]]:
        ordered = -np.sort(-self.similar, axis=1)
        different = np.ones(ordered.shape, bool)
        different[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        return ordered, different

    def _kept_levels(self, kept: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return token and value of each kept level, the highest first, and the floor of each token."""
        ordered, different = self._ordered()
        tokens, units = ordered.shape
        rank = np.cumsum(different, axis=1) - 1
        last = np.minimum(kept, rank[:, -1]) if units else np.zeros(tokens, np.int64)
        token, place = np.nonzero(different & (rank < last[:, None]))
        floor_token, floor_place = np.nonzero(different & (rank == last[:, None]))
        floors = np.zeros(tokens, np.int64)
        floors[floor_token] = ordered[floor_token, floor_place]
        return token, ordered[token, place], floors

    def _arrays(self, kept: IntArray) -> dict[str, Any]:
        n = self.size
        token, value, floors = self._kept_levels(kept)
        if len(token) * n > 25 * _MOST:
            raise self._too_many(len(token))
        following = np.append(value[1:], 0)
        ends = np.append(token[1:] != token[:-1], True) if len(token) else np.zeros(0, bool)
        gain = self.importance[token] * (value - np.where(ends, floors[token], following))
        held, gains = _merged(self.similar, token, value, gain)
        base = int((self.importance * floors).sum())
        if base:  # what all reach, as soon as there is any
            held, gains = np.vstack([held, np.ones((1, n), bool)]), np.append(gains, base)
        holders = held.sum(axis=1)
        if int(holders.sum()) > _MOST:
            raise self._too_many(len(token))
        mass = np.zeros((2, n), np.int64)
        single = holders == 1
        mass[0] = held[single].T @ gains[single]
        mass = np.vstack([mass, self.own])
        several = holders > 1
        held, gains = held[several], gains[several]
        unit, feature = np.nonzero(held.T)
        level = np.zeros(2 * len(gains), np.int64)
        level[1::2] = gains
        return {
            "unit_start": np.searchsorted(unit, np.arange(n + 1)).astype(np.int64),
            "unit_feature": feature.astype(np.int64),
            "unit_count": np.ones(len(feature), np.int64),
            "level_start": np.arange(0, 2 * len(gains) + 1, 2, dtype=np.int64),
            "level": level,
            "slot": np.zeros(len(gains), np.int64),
            "mass": mass,
        }

    def _too_many(self, levels: int) -> UnsupportedError:
        return UnsupportedError(
            f"{levels} levels of similarity on {self.size} units are too many for memory: use branch-and-bound, "
            f"which needs only the highest, or a lower --similarity-unit."
        )


def _merged(similar: IntArray, token: IntArray, value: IntArray, gain: IntArray) -> tuple[NDArray[np.bool_], IntArray]:
    """Return the different sets of units that reach levels, and the gain of each."""
    n = similar.shape[1]
    step = max(1, _AT_ONCE // max(1, n))
    packed = [
        np.packbits(similar[token[at : at + step]] >= value[at : at + step, None], axis=1)
        for at in range(0, len(token), step)
    ]
    if not packed:
        return np.zeros((0, n), bool), np.zeros(0, np.int64)
    bits = np.ascontiguousarray(np.vstack(packed))
    _, first, which = np.unique(bits.view(np.dtype((np.void, bits.shape[1]))), return_index=True, return_inverse=True)
    gains = np.zeros(len(first), np.int64)
    np.add.at(gains, which.reshape(-1), gain)
    order = np.argsort(first)  # levels of a token stay one after the other
    return np.unpackbits(bits[first[order]], axis=1, count=n).astype(bool), gains[order]
