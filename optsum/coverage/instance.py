r"""The normal form: one mathematical object for extracts, compressions and covers.

An instance has *units* (sentences or chunks) that are chosen or not, *occurrences* that are active if every unit of a
set V and no unit of a set U is chosen, and *features* (n-grams; in a cover, the sentences of the abstract), whose
*copies* are their active occurrences. The gain of feature f from c copies is ``level[f][c]``, concave and clipped.

Gains are summed into *totals*. Ratio h has two of them: total 2h is its numerator T_h, total 2h + 1 its
denominator D_h. Each total is ``constant + sum of mass over the chosen units + gains of its features``, so a
denominator may be constant (recall), linear (precision, F) or itself a coverage (set counts).

=============  ==========================================================================================
goal           objective
=============  ==========================================================================================
``MAXIMIZE``   the value: one ratio, or a weighted arithmetic, geometric or harmonic mean of several, subject to
               ``min_length <= sum of the chosen lengths <= max_length``, with the parent of each chosen unit
``MINIMIZE``   the sum of the chosen lengths, subject to every feature reaching its full gain
=============  ==========================================================================================

Both goals are also subject to `rows`, linear constraints on the chosen units. If the features of a numerator only bound
it from above, its value comes from *ceilings* (`optsum.coverage.ceilings`).

Hirao et al. 2017 (extractive), eq. 3-8, is the case with singletons V = {i} and one constant denominator; the
paper's variables z_kj are merged over the references k into one gain table per n-gram, which has the same optimum.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, takewhile
from math import ceil, exp, gcd, isqrt, lcm, log, prod, sqrt
from operator import mul
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.ceilings import CappedUnion, Ceiling, Group, TextSubsequence
from optsum.errors import InputError, UnsupportedError
from optsum.whole import LARGEST, LARGEST_DENOMINATOR, is_list, unchecked, whole, whole_array, whole_numbers

IntArray: TypeAlias = NDArray[np.int64]

_BITS: Final = 14_000  # Approximate bits of the longest number that Python converts to text (4,300 digits).

_FLOAT_BITS: Final = 1_000  # Above 2^1000 floats may overflow; below 2^-1000 they may lose digits.

_MERGED: Final = 2**52  # Ratios are not merged if a total could be larger.

NO_LIMIT: Final = 2**40  # A length above that of every instance, which means "no maximum".


Key: TypeAlias = int | float | Fraction
"""The objective for comparisons: exact (an integer or a fraction) if the problem allows it."""


class Sense(Enum):
    """Direction of the objective."""

    __hash__ = object.__hash__  # an Enum's own is a Python function, too slow for the many lookups of searches

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"

    def better(self, left: Key, right: Key) -> bool:
        """Return whether `left` is strictly better than `right`."""
        return left > right if self is Sense.MAXIMIZE else left < right

    def tighter(self, known: Key | None, bound: Key) -> Key:
        """Return the tighter of two bounds of all values; `known` may be None."""
        return bound if known is None or self.better(known, bound) else known


class Combination(Enum):
    """The way in which the ratios make one value."""

    __hash__ = object.__hash__  # as in `Sense`

    RATIO = "ratio"  # The value is the only ratio.
    SUM = "sum"  # Weighted arithmetic mean: sum of w_h T_h / D_h, divided by the sum of the weights.
    PRODUCT = "product"  # Weighted geometric mean: product of (T_h / D_h)^(w_h / sum of the weights).
    HARMONIC = "harmonic"
    """Weighted harmonic mean: the sum of the weights divided by the sum of w_h D_h / T_h; 0 if a ratio is 0."""

    def __init__(self, name: str) -> None:
        self.alone = name == "ratio"  # There is one ratio, which is the value.
        self.adds = name in {"ratio", "sum"}  # Ratios are added; in other combinations, a ratio of 0 makes the value 0.
        self.multiplies = name == "product"  # Ratios, or powers of them, are multiplied.
        self.turns = name == "harmonic"  # Reciprocals of ratios are added.

    def is_itself(self, weights: Sequence[int]) -> bool:
        """Return whether the number that is compared is the only ratio itself, not a power of it."""
        return len(weights) == 1 and not self.multiplies

    def power(self, weights: Sequence[int]) -> int:
        """Return p such that the p-th power of the value is compared: a geometric mean is compared without its root."""
        return sum(weights) if self.multiplies else 1

    def mean(self, ratios: Sequence[Fraction], weights: Sequence[int]) -> Fraction:
        """Return the exact mean of ratios for comparisons; a geometric mean without its root."""
        if self.multiplies:
            return prod((ratio**weight for ratio, weight in zip(ratios, weights, strict=True)), start=Fraction(1))
        if self.turns:
            return 1 / Combination.SUM.mean([1 / ratio for ratio in ratios], weights) if all(ratios) else Fraction(0)
        return sum(map(mul, weights, ratios), Fraction(0)) / sum(weights)

    def roughly(self, totals: IntArray, weights: Sequence[int]) -> NDArray[np.float64]:
        """Return the value of each row of totals (rows, 2 * ratios) as a float; its relative error is about 1e-15."""
        tops, bottoms = totals[:, 0::2].astype(np.float64), totals[:, 1::2].astype(np.float64)
        ratios = np.where(bottoms > 0, tops / np.maximum(bottoms, 1.0), 0.0)
        shares = np.array(weights, np.float64) / sum(weights)
        with np.errstate(divide="ignore"):
            if self.turns:
                found: NDArray[np.float64] = 1.0 / (np.where(ratios > 0, 1.0 / ratios, np.inf) @ shares)
            elif self.multiplies:
                found = np.exp(np.log(ratios) @ shares)
            else:
                found = ratios @ shares
        return found

    def largest(self, tops: Sequence[int], bottoms: Sequence[int], weights: Sequence[int]) -> tuple[int, int]:
        """Return the largest numerator and denominator that a value can have, from those of its ratios (all > 0)."""
        ratios = list(zip(weights, tops, bottoms, strict=True))
        if self.multiplies:
            return prod(top**weight for weight, top, _ in ratios), prod(bottom**weight for weight, _, bottom in ratios)
        if self.turns:
            return Combination.SUM.largest(bottoms, tops, weights)[::-1]
        denominator = prod(bottoms)
        return sum(weight * top * (denominator // bottom) for weight, top, bottom in ratios), denominator

    def said(self, ratios: int) -> str:
        """Return a description, for messages, of a value whose denominators vary."""
        if self.adds:
            several = f"a sum of {ratios} ratios whose denominators vary"
            return several if ratios > 1 else "a ratio whose denominator varies"
        return "a geometric mean" if self.multiplies else "a harmonic mean of ratios"


_NO_MINIMUM: Final = -(2**62)
"""Default of `Row.low`. It is recognized by identity, so that the same number from a user is a real minimum."""


@dataclass(frozen=True, slots=True)
class Row:
    """A side constraint: ``low <= sum of the coefficients of the chosen units <= high``.

    Attributes
    ----------
    units : tuple of int
        Distinct units.
    coefficients : tuple of int
        One for each unit, not 0.
    low : int
        By default the smallest possible sum, which means no minimum.
    high : int or None
        None for no maximum. If `low` is above `high`, no selection satisfies the row.
    name : str
        Description, such as "at most 3 sentences".

    Raises
    ------
    InputError
        If units, coefficients or limits are invalid.
    """

    units: tuple[int, ...]
    coefficients: tuple[int, ...]
    low: int = _NO_MINIMUM
    high: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("units", "coefficients"):
            object.__setattr__(self, name, whole_numbers(getattr(self, name), f"Of row {self.name!r}, {name}[{{}}]"))
        given = self.least if self.low is _NO_MINIMUM else self.low
        object.__setattr__(self, "low", whole(given, f"The minimum of the row {self.name!r}"))
        if self.high is not None:
            object.__setattr__(self, "high", whole(self.high, f"The maximum of the row {self.name!r}"))
        if len(self.units) != len(self.coefficients) or len(set(self.units)) != len(self.units):
            raise InputError(
                f"The row {self.name!r} must name each unit at most once, and have a coefficient for each."
            )
        if 0 in self.coefficients:
            raise InputError(f"The row {self.name!r} has a coefficient of 0: leave the unit out.")

    @property
    def total(self) -> int:
        """The largest possible sum, of all positive coefficients."""
        return sum([number for number in self.coefficients if number > 0])

    @property
    def least(self) -> int:
        """The smallest possible sum, of all negative coefficients."""
        return sum([number for number in self.coefficients if number < 0])

    @property
    def binds(self) -> bool:
        """Whether some selection violates the row."""
        return self.low > self.least or (self.high is not None and self.total > self.high)

    def held(self, chosen: Collection[int]) -> int:
        """Return the sum of the coefficients of the chosen units."""
        return sum(number for unit, number in zip(self.units, self.coefficients, strict=True) if unit in chosen)

    def outside(self, held: int) -> int:
        """Return by how much the sum `held` is outside the limits; 0 within them."""
        return max(0, self.low - held, 0 if self.high is None else held - self.high)

    def excess(self, chosen: Collection[int]) -> int:
        """Return by how much the sum of the chosen units is outside the limits; 0 within them."""
        return self.outside(self.held(chosen))


@dataclass(frozen=True)
class Joint:
    """An occurrence decided by several units: it is active if all of `needs` and none of `vetoes` are chosen."""

    feature: int
    needs: tuple[int, ...]
    vetoes: Sequence[int] = ()
    count: int = 1

    def exactly(self, number: int) -> Joint:
        """Return the joint in whole numbers; `number` is its place, for messages."""
        unit, vetoes = f"Unit {{}} of joint {number}", self.vetoes
        plain = type(self.needs) is tuple and isinstance(vetoes, range)
        if plain and {type(self.feature), type(self.count), *map(type, self.needs)} == {int}:
            return self
        return Joint(
            whole(self.feature, f"The feature of joint {number}"),
            whole_numbers(self.needs, unit, ordered=False),
            vetoes if isinstance(vetoes, range) else whole_numbers(vetoes, unit, ordered=False),
            whole(self.count, f"The number of copies of joint {number}"),
        )

    @cached_property
    def seam(self) -> bool:
        """Whether the joint needs two units and no chosen unit between them, as an n-gram across a sentence end."""
        needs = self.needs
        return len(needs) == 2 and needs[0] < needs[1] and self.vetoes == range(needs[0] + 1, needs[1])


def pack(rows: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Return `starts` and `values`, which concatenate rows: row r is ``values[starts[r]:starts[r + 1]]``."""
    rows = list(rows)
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=starts[1:])
    return starts, np.array([value for row in rows for value in row], dtype=np.int64)


def decisions(size: int, selection: Iterable[int], dtype: type = np.int64) -> NDArray[Any]:
    """Return an array (size,) of `dtype` that is 1 at the units of a selection, and 0 elsewhere."""
    chosen: NDArray[Any] = np.zeros(size, dtype)
    chosen[list(selection)] = 1
    return chosen


def packed_rows(starts: IntArray) -> IntArray:
    """Return the row of each value of packed rows (`pack`)."""
    found: IntArray = np.arange(len(starts) - 1).repeat(starts[1:] - starts[:-1])  # quicker than `numpy.diff`
    return found


def grouped(owner: IntArray, owners: int) -> tuple[IntArray, IntArray]:
    """Return where the entries of each owner start if entries are in the order of their owners, and this order."""
    start = np.zeros(owners + 1, np.int64)
    np.bincount(owner, minlength=owners).cumsum(out=start[1:])
    return start, owner.argsort(kind="stable")


def kernel_array(values: object) -> IntArray:
    """Return an array as int64 in C order, aligned and writable: numba compiles kernels again for other layouts."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.flags.carray:
        return values
    return np.require(values, np.int64, ["C", "A", "W"])


def gains_alone(instance: Coverage, total: int) -> IntArray:
    """Return the amount (units,) that each unit adds to a total when chosen alone, without joint occurrences."""
    starts, feature = instance.level_start, instance.unit_feature
    gain = instance.level[np.minimum(starts[feature] + instance.unit_count, starts[feature + 1] - 1)]
    summed = np.append(0, np.cumsum(np.where(instance.slot[feature] == total, gain, 0)))
    found: IntArray = instance.mass[total] + summed[instance.unit_start[1:]] - summed[instance.unit_start[:-1]]
    return found


def _delimits(starts: IntArray, rows: int, values: int) -> bool:
    return bool(len(starts) == rows + 1 and starts[0] == 0 and starts[-1] == values and (np.diff(starts) >= 0).all())


def _outside(numbers: IntArray, count: int) -> bool:
    return bool(len(numbers) and (numbers.min() < 0 or numbers.max() >= count))


def _extremes(units: Sequence[int]) -> Sequence[int]:
    return (units[0], units[-1]) if isinstance(units, range) and units else units


@dataclass(frozen=True, eq=False)
class Coverage:
    """One instance in the normal form; every array is int64 and must not be changed.

    Arrays and lists of other types are converted. Numbers that are not whole, or do not fit 64-bit integers (weights of
    sums may be larger), are refused.

    Attributes
    ----------
    lengths : (units,)
        Length of each unit >= 0, in words, sentences or characters.
    unit_start, unit_feature, unit_count : (units + 1,), (entries,), (entries,)
        Occurrences decided by a single unit: entries ``unit_start[u]:unit_start[u + 1]`` belong to unit u; each gives a
        feature (once per unit) and the number of its copies.
    level_start, level : (features + 1,), (sum of (M_f + 1),)
        Gain of feature f from c copies is ``level[level_start[f] + min(c, M_f)]``; the first entry of each
        feature is 0, and each copy adds at least 0 and at most as much as the copy before.
    slot : (features,)
        The total that feature f feeds: 2h numerator, 2h + 1 denominator of ratio h.
    constants : (2 * ratios,)
        Value of each total for the empty selection; >= 0 for numerators.
    mass : (2 * ratios, units)
        Amount that each unit adds to each total by itself, >= 0.
    weights : one positive integer for each ratio
    combination : Combination
    parents : (units,)
        A unit may be chosen only with its parent; -1 for none. An empty array means that no unit has a parent. A
        parent's number is smaller than its children's.
    joints : occurrences decided by several units
    min_length, max_length : int
        In the unit of `lengths`; `NO_LIMIT` for no maximum, as in a cover.
    goal : Sense
    rows : tuple of Row
        Side constraints.
    ceilings : tuple of Ceiling
        Parts of numerators whose features are only upper bounds.

    Raises
    ------
    InputError
        If the arrays contradict one another.
    """

    lengths: IntArray
    unit_start: IntArray
    unit_feature: IntArray
    unit_count: IntArray
    level_start: IntArray
    level: IntArray
    slot: IntArray
    constants: IntArray
    mass: IntArray
    weights: tuple[int, ...] = (1,)
    combination: Combination = Combination.RATIO
    parents: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    joints: tuple[Joint, ...] = ()
    min_length: int = 0
    max_length: int = NO_LIMIT
    goal: Sense = Sense.MAXIMIZE
    rows: tuple[Row, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("goal", Sense), ("combination", Combination)):
            if not isinstance(given := getattr(self, name), kind):
                members = " or ".join(map(str, kind))
                raise InputError(f"The {name} of this coverage instance is {given!r:.40}: give {members}.")
        for name, said in _ARRAYS.items():
            self.__dict__[name] = whole_array(getattr(self, name), said, ndim=2 if name == "mass" else 1)
        # Large weights of sums are compared in Python's integers; as exponents of products they would fill the memory.
        heaviest = 1_000 if self.combination.multiplies else 10**100
        weights = whole_numbers(self.weights, "The weight of ratio {}", most=heaviest)
        longest = whole(self.max_length, "The maximum length", most=10**400)
        kept = {
            name: self._kept(name, kind) for name, kind in (("rows", Row), ("joints", Joint), ("ceilings", Ceiling))
        }
        kept["joints"] = tuple(joint.exactly(number) for number, joint in enumerate(kept["joints"]))
        least = whole(self.min_length, "The minimum length")
        self.__dict__.update(kept, weights=weights, min_length=least, max_length=min(longest, NO_LIMIT))
        self._refuse(chain(self._contradictions(), self._impossible_limits()))

    def __repr__(self) -> str:
        limit = "" if self.max_length == NO_LIMIT else f", at most {self.max_length} long"
        # The features of a `Facility` may need much memory, so they are not built just to be printed.
        held = f"{len(self.similar)} tokens" if isinstance(self, Facility) else f"{len(self.slot)} features"
        return f"<{type(self).__name__}: {len(self.lengths)} units, {held}, to {self.goal.value}{limit}>"

    @classmethod
    def trusted(cls, **given: Any) -> Coverage:
        """Return an instance without checking its arrays, which optsum itself has counted; only limits are checked.

        Raises
        ------
        InputError
            If the limits contradict one another.
        """
        made = object.__new__(cls)
        made.__dict__.update({"parents": np.zeros(0, np.int64), **given})
        made._refuse(made._impossible_limits())
        return made

    def _kept(self, name: str, kind: type) -> tuple[Any, ...]:
        """Return a field as a tuple: a generator can be read only once, and a list may change after the checks."""
        given = getattr(self, name)
        held = tuple(given) if is_list(given) else (None,)
        if not all(isinstance(one, kind) for one in held):
            raise InputError(
                f"The {name} of this coverage instance are {given!r:.40}: give a list of {kind.__name__} objects."
            )
        return held

    @staticmethod
    def _refuse(checks: Iterable[tuple[str, object]]) -> None:
        for reason, holds in checks:
            if holds:
                raise InputError(f"This coverage instance cannot be used: {reason}.")

    def _contradictions(self) -> Iterator[tuple[str, object]]:
        """Yield each possible contradiction, and whether it exists; later checks rely on earlier ones."""
        n, features, totals = len(self.lengths), len(self.slot), len(self.constants)
        yield "a length is negative", (self.lengths < 0).any()
        yield "the summed length is beyond NO_LIMIT", self.lengths.sum(dtype=np.float64) >= NO_LIMIT
        fails = not _delimits(self.unit_start, n, len(self.unit_feature))
        yield "unit_start does not divide the features among the units", fails
        yield "entries name a feature that does not exist", _outside(self.unit_feature, features)
        yield "each entry needs one count", len(self.unit_count) != len(self.unit_feature)
        yield "counts of occurrences must be positive", (self.unit_count <= 0).any()
        fails = not _delimits(self.level_start, features, len(self.level))
        yield "level_start does not divide the levels among the features", fails
        widths = np.diff(self.level_start)
        yield "a feature has no level 0", (widths < 1).any()
        yield "a feature has a gain without a copy", self.level[self.level_start[:-1]].any()
        steps = np.diff(self.level)
        inner = np.ones(len(steps), dtype=bool)
        inner[self.level_start[1:-1] - 1] = False  # steps from the last level of a feature to the next feature
        follows = inner.copy()
        follows[self.level_start[:-1][widths > 1]] = False
        grows = np.append(False, steps[1:] > steps[:-1]) if len(steps) else inner
        yield "a copy of a feature gains more than the copy before", (grows & follows).any()
        yield "a gain is negative", (steps[inner] < 0).any()
        if self.goal is Sense.MINIMIZE:
            idle = (steps[self.level_start[1:][widths > 1] - 2] == 0).any()
            yield "the length is minimized, and the last copies of a feature gain nothing: leave their levels out", idle
        fails = totals != 2 * len(self.weights) or min(self.weights, default=0) < 1
        yield "each ratio needs two totals and a positive weight", fails
        yield "the combination RATIO has several weights", self.combination.alone and len(self.weights) != 1
        yield "a feature feeds a total that does not exist", _outside(self.slot, totals)
        yield "mass must have a row per total and a column per unit", self.mass.shape != (totals, n)
        # A denominator may start below 0: a joined text of w words has w - 1 bigrams. The ratio is then 0.
        yield "a numerator is negative", (self.mass < 0).any() or (self.constants[0::2] < 0).any()
        yield "there must be no parent, or one (or -1) for each unit", len(self.parents) not in {0, n}
        late = (self.parents >= np.arange(len(self.parents))) | (self.parents < -1)
        yield "a parent must come before its children", late.any()
        joints = self.joints
        yield "a joint occurrence has no needed unit", not all(joint.needs for joint in joints)
        copies = np.array([joint.count for joint in joints], np.int64)
        yield "a joint occurrence has no copy", (copies < 1).any()
        named = list(chain.from_iterable((*joint.needs, *_extremes(joint.vetoes)) for joint in joints))
        yield "a joint occurrence names a unit that does not exist", _outside(np.array(named, np.int64), n)
        fed = np.array([joint.feature for joint in joints], np.int64)
        yield "a joint occurrence names a feature that does not exist", _outside(fed, features)
        limited = np.fromiter(chain.from_iterable(row.units for row in self.rows), np.int64)
        yield "a row names a unit that does not exist", _outside(limited, n)
        most = self.unit_count.sum(dtype=np.float64) + copies.sum(dtype=np.float64)
        yield "the copies of all features together are beyond 2^62", most > LARGEST
        gained = np.abs(self.constants).astype(np.float64) + self.mass.sum(axis=1, dtype=np.float64)
        np.add.at(gained, self.slot, self.level[self.level_start[1:] - 1])
        yield "the gains together are beyond 2^62, so divide them by a common factor", (gained > LARGEST).any()
        if self.combination.multiplies:
            weights, (tops, bottoms) = np.array(self.weights, float), (gained[0::2], gained[1::2])
            digits = max(weights @ np.log2(1 + tops), weights @ np.log2(1 + bottoms))
            yield "the product of its ratios has thousands of digits: give smaller weights", digits > _BITS
            least = np.maximum(1, self.constants[1::2] + self.mass[1::2].min(axis=1, initial=0))
            large = weights @ np.log2(np.maximum(1, tops / least)) > _FLOAT_BITS
            yield "the product of its ratios is beyond floating point: give smaller weights", large

    def _impossible_limits(self) -> Iterator[tuple[str, object]]:
        minimized = self.goal is Sense.MINIMIZE
        limited = self.min_length != 0 or self.max_length != NO_LIMIT
        yield "the length is minimized and also limited", minimized and limited
        yield "a length limit is negative", min(self.min_length, self.max_length) < 0
        yield "the minimum length is above the maximum", self.min_length > self.max_length

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.lengths)

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.slot)

    @property
    def ratios(self) -> int:
        """Number of ratios."""
        return len(self.weights)

    @cached_property
    def singletons(self) -> bool:
        """Whether every occurrence is decided by one unit and no unit has a parent."""
        return not self.joints and not bool((self.parents >= 0).any())

    @cached_property  # a search reads it nine times
    def constant_denominator(self) -> bool:
        """Whether the value is ``T / D`` with the same D for all selections, so that only T matters (recall)."""
        return (
            self.goal is Sense.MAXIMIZE
            and self.combination.alone
            and int(self.constants[1]) > 0
            and not self.mass[1].any()
            and not (self.slot == 1).any()
        )

    @property
    def single_ratio(self) -> bool:
        """Whether the value is one ratio ``T / D`` with a varying D that is linear or counts each feature once."""
        return self.combination.alone and not self.constant_denominator and sums_ratios(self)

    def at_most(self, max_length: int) -> Coverage:
        """Return the same instance with another maximum length; only this length is checked.

        Raises
        ------
        InputError
            If the maximum is below the minimum, or if the length is minimized.
        """
        max_length = min(whole(max_length, "The maximum length", most=10**400), NO_LIMIT)
        if self.goal is Sense.MINIMIZE and max_length < NO_LIMIT:
            raise InputError("The length of this cover is minimized: it takes no maximum length, and has no frontier.")
        if max_length < max(0, self.min_length):
            raise InputError(f"The maximum length {max_length} is below the minimum length {self.min_length}.")
        return self._copied(max_length=max_length)

    def resized(self, lengths: Sequence[int], max_length: int) -> Coverage:
        """Return the same instance with other lengths of units, in the same unit of length, and another maximum."""
        return self._copied(
            lengths=whole_array(lengths, "The length of unit {}", least=0),
            max_length=min(whole(max_length, "The maximum length", least=0, most=10**400), NO_LIMIT),
        )

    def with_rows(self, rows: Iterable[Row]) -> Coverage:
        """Return the same instance with these side constraints instead of its own."""
        return self._copied(rows=tuple(rows))

    def _copied(self, **given: Any) -> Coverage:
        found = copy(self)
        found.__dict__.pop("plain", None)
        found.__dict__.update(given)
        return found

    def changed(self, **given: Any) -> Coverage:
        """Return an instance with some fields replaced, without checks."""
        return unchecked(Coverage, {one.name: getattr(self, one.name) for one in fields(Coverage)}, given)

    @property
    def relaxed(self) -> Coverage:
        """An instance with the same selections, none of lower value, and quicker bounds; by default this instance."""
        return self

    @cached_property
    def plain(self) -> Coverage:
        """The instance without ceilings and the features and masses that bound them; itself if it has no ceilings."""
        if not self.ceilings:
            return self
        kept = np.ones(self.features, np.bool_)
        mass = self.mass.copy()
        for ceiling in self.ceilings:
            kept[ceiling.first : ceiling.last] = False
            mass[ceiling.slot] -= ceiling.mass
        widths = np.diff(self.level_start)
        entries = kept[self.unit_feature]
        starts = np.append(0, np.cumsum(entries))
        return self.changed(
            unit_start=starts[self.unit_start],
            unit_feature=(np.cumsum(kept) - 1)[self.unit_feature[entries]],
            unit_count=self.unit_count[entries],
            level_start=np.append(0, np.cumsum(widths[kept])),
            level=self.level[np.repeat(kept, widths)],
            slot=self.slot[kept],
            mass=mass,
            ceilings=(),
        )

    @property
    def lighter(self) -> Coverage:
        """The instance for heuristics, in which ratios with the same denominator are merged (`merged`)."""
        return self.merged

    @property
    def merged(self) -> Coverage:
        """An instance with the same values, in which ratios with the same denominator are merged.

        ROUGE-1 and ROUGE-L count the same tokens, so a sum of both is one ratio: w T / D + w' T' / D = (w T + w' T') /
        D. Ratios whose denominators differ by a constant, as with several references, are not merged.
        """
        if not self.combination.adds or len(self.weights) < 2:
            return self
        if len(set(self.constants[1::2].tolist())) == self.ratios:
            return self
        counted = set(self.slot[self.slot % 2 == 1].tolist())
        groups: dict[object, list[int]] = {}
        for h in range(self.ratios):
            bottom = 2 * h + 1
            alike = (int(self.constants[bottom]), self.mass[bottom].tobytes())
            groups.setdefault(h if bottom in counted else alike, []).append(h)
        if len(groups) == self.ratios:
            return self
        # The weights have the sum K, and there are G groups: (sum of T / D) / K = (sum of (G T) / (K D)) / G.
        above, below = len(groups), sum(self.weights)
        above, below = above // gcd(above, below), below // gcd(above, below)
        sums = abs(self.constants).max() + abs(self.mass).sum(axis=1, dtype=np.float64).max()
        largest = float(sums) + float(abs(self.level).sum(dtype=np.float64))
        if max(above * max(self.weights), below) * largest > _MERGED:
            return self
        place, times = np.zeros((2, 2 * self.ratios), np.int64)
        for number, group in enumerate(groups.values()):
            own = np.array(group)
            place[2 * own], place[2 * own + 1] = 2 * number, 2 * number + 1
            times[2 * own] = [above * self.weights[h] for h in group]
            times[2 * group[0] + 1] = below  # once for all ratios of the group
        return combined(self, place, times)

    def ancestors(self, unit: int) -> tuple[int, ...]:
        """Return the ancestors of a unit, beginning with its parent."""
        found: list[int] = []
        while len(self.parents) and (unit := int(self.parents[unit])) >= 0:
            found.append(unit)
        return tuple(found)

    def closure(self, units: Iterable[int]) -> tuple[int, ...]:
        """Return the units with all their ancestors, sorted."""
        if not len(self.parents):
            return tuple(sorted(set(units)))
        closed: set[int] = set()
        for unit in units:
            closed.update((unit, *self.ancestors(unit)))
        return tuple(sorted(closed))

    @staticmethod
    def facility(values: Sequence[Sequence[int]], k: int, *, weights: Sequence[int] | None = None) -> Coverage:
        """Build the problem of choosing `k` facilities, where each client is served by the best chosen one.

        Parameters
        ----------
        values : one row for each client, one column for each facility
            Value of serving the client by the facility: whole numbers, not negative. To minimize distances, give the
            largest distance minus the distance.
        k : int
            Largest number of facilities.
        weights : one integer for each client, optional
            How often each client counts; by default once.

        Raises
        ------
        InputError
            If the numbers are invalid.

        Examples
        --------
        >>> from optsum import CoverageProblem, solve
        >>> near = Coverage.facility([[9, 1, 4], [2, 8, 4], [1, 7, 5]], k=2)
        >>> solve(CoverageProblem.of(near)).selection, solve(CoverageProblem.of(near)).objective
        ((0, 1), 24.0)
        """
        rows = whole_array(values, "The value {} of a client", ndim=2, least=0)
        ones = np.ones(len(rows), np.int64)
        importance = ones if weights is None else whole_array(weights, "The weight of client {}", least=1)
        return Facility.given(rows, importance, [1] * rows.shape[1], full=1, max_length=k)

    @staticmethod
    def of(
        lengths: Sequence[int],
        occurrences: Sequence[dict[int, int]],
        gains: Sequence[Sequence[int]],
        *,
        slots: Sequence[int] | None = None,
        constants: Sequence[int] = (0, 1),
        mass: Sequence[Sequence[int]] | None = None,
        parents: Sequence[int] = (),
        **others: Any,
    ) -> Coverage:
        """Build an instance from Python lists.

        Parameters
        ----------
        lengths : one integer for each unit
            All numbers may also be integers of numpy or whole floats; others are refused.
        occurrences : one dictionary for each unit: feature -> number of copies
        gains : one list for each feature: gain of the first, second, ... copy
        slots : the total each feature feeds; all 0 (the numerator of the only ratio) by default
        constants, mass, parents, others : as the attributes; ``constants=(0, D)`` is recall over D

        Examples
        --------
        >>> tiny = Coverage.of([3, 2], [{0: 1, 1: 2}, {1: 1}], [[1], [2, 1]], constants=(0, 4), max_length=3)
        >>> tiny.size, tiny.features
        (2, 2)
        """
        length = whole_array(lengths, "The length of unit {}")
        rows: list[Any] = list(occurrences) if is_list(occurrences) else [None]
        if not all(isinstance(row, Mapping) for row in rows):
            raise InputError("Give the occurrences of a unit as a dictionary from feature to copies, such as {0: 1}.")
        if not is_list(gains):
            raise InputError(f"The gains are {gains!r:.40}: give a list for each feature, such as [[2, 1], [3]].")
        features = [whole_numbers(list(row), "A feature of the occurrences") for row in rows]
        copies = [whole_numbers(row.values(), "A number of copies") for row in rows]
        gained = [whole_numbers(row, f"Gain {{}} of feature {number}") for number, row in enumerate(gains)]
        if others.get("goal") is Sense.MINIMIZE:  # then a feature needs the copies that gain something
            gained = [row[: len(row) - len(tuple(takewhile(lambda gain: gain == 0, reversed(row))))] for row in gained]
        levels = [[0, *whole_numbers(accumulate(row), "A summed gain")] for row in gained]
        constant = whole_array(constants, _ARRAYS["constants"])
        shape = len(constant), len(length)
        if mass is None or not (len(length) or len(mass)):
            masses = np.zeros(shape, np.int64)
        else:
            masses = whole_array(mass, _ARRAYS["mass"], ndim=2)
        return Coverage(
            lengths=length,
            unit_start=pack(features)[0],
            unit_feature=pack(features)[1],
            unit_count=pack(copies)[1],
            level_start=pack(levels)[0],
            level=pack(levels)[1],
            slot=np.zeros(len(gained), np.int64) if slots is None else whole_array(slots, _ARRAYS["slot"]),
            constants=constant,
            mass=masses,
            parents=whole_array(parents, _ARRAYS["parents"]),
            **others,
        )


_ARRAYS: Final = {
    "lengths": "The length of unit {}",
    "unit_start": "Entry {} of unit_start",
    "unit_feature": "Entry {} of unit_feature",
    "unit_count": "Entry {} of unit_count",
    "level_start": "Entry {} of level_start",
    "level": "Entry {} of level",
    "slot": "The total of feature {}",
    "constants": "Constant {}",
    "mass": "Entry {} of a row of mass",
    "parents": "The parent of unit {}",
}
"""The name of each array in messages."""


_MOST: Final = 40_000_000  # Largest number of pairs of a level and a unit that reaches it; each takes 16 bytes.

_LIGHT: Final = 1_000_000  # Approximate number of pairs of level and unit in the instance for heuristics.

_AT_ONCE: Final = 2_000_000  # Pairs of level and unit that are compared at once.

_FIRST: Final = 8  # At least this number of levels of each token is kept at first.
_SHARE: Final = 80  # For one optimum, one level is kept for each 80 units.
_SHARE_OF_ALL: Final = 20  # For families of selections, one level for each 20: high floors would make families larger.

_COMPARED: Final = 2.0**60  # Largest product of a numerator and a denominator in a comparison.

_WEIGHED: Final = 64  # Approximate largest weight of a token in the coarser instance.

_MADE: Final = ("unit_start", "unit_feature", "unit_count", "level_start", "level", "slot", "mass")


def sums_ratios(instance: Coverage) -> bool:
    """Return whether the value is a mean of ratios ``T / D`` in which each D is linear or counts each feature once."""
    if instance.goal is not Sense.MAXIMIZE or not instance.combination.adds:
        return False
    feeds = (instance.slot & 1).astype(np.bool_)
    if not np.count_nonzero(feeds):
        return True
    levels = instance.level_start[1:] - instance.level_start[:-1]
    return (
        not np.count_nonzero(levels[feeds] != 2)
        and (min(instance.constants[1::2].tolist()) >= 0 or not (instance.constants[instance.slot[feeds]] < 0).any())
        and not any(feeds[joint.feature] for joint in instance.joints)
    )


def combined(instance: Coverage, place: IntArray, times: IntArray) -> Coverage:
    """Return an instance whose total p is the sum of ``times[t]`` times total t over all t with ``place[t] == p``."""
    totals = int(place.max()) + 1
    constants, mass = np.zeros(totals, np.int64), np.zeros((totals, instance.size), np.int64)
    np.add.at(constants, place, times * instance.constants)
    np.add.at(mass, place, times[:, None] * instance.mass)
    return instance.changed(
        level=instance.level * np.repeat(times[instance.slot], np.diff(instance.level_start)),
        slot=place[instance.slot],
        constants=constants,
        mass=mass,
        weights=(1,) * (totals // 2),
        combination=Combination.SUM if totals > 2 else Combination.RATIO,
        ceilings=tuple(
            replace(one.times(int(times[one.slot])), slot=int(place[one.slot]))
            for one in instance.ceilings
            if times[one.slot]
        ),
    )


class Facility(Coverage):
    """An instance of best similarities: each reference token gains its similarity to the most similar chosen unit.

    With the similarities of token r and unit u, integers m[r, u] >= 0, and weights w_r,

        f(S) = sum of w_r times the largest m[r, u] of the units u in S, and f(empty set) = 0.

    The different values l_1 < l_2 < ... of a token are its levels. f(S) = sum of w_r (l_k - l_(k-1)) over the levels k
    that some chosen unit reaches, so levels are features that gain once (the canonical form of Cornuejols, Nemhauser
    and Wolsey 1980, with the relaxation of facility location). Levels reached by the same units are merged into one
    feature, and levels reached by a single unit into its mass. The arrays of all levels are built on first use.

    A token has at most one level for each unit. A good summary reaches high levels, so `truncated` keeps only levels
    above a floor b_r of each token. The truncated value is the sum of w_r max(b_r, largest m[r, u]), which is never
    below f; its optimum is an optimum of f if it reaches all floors.
    """

    similar: IntArray  # (tokens, units): m[r, u], not negative.
    importance: IntArray  # (tokens,): w_r, positive.
    # (0 or 2, units): what each unit adds to numerator and denominator of a second ratio, if there is one; the value is
    # then the harmonic mean of both ratios.
    own: IntArray

    def __post_init__(self) -> None:
        """Refuse construction from arrays, which could contradict the similarities."""
        raise TypeError("A Facility cannot be made from arrays: use Facility.given.")

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
        """Return the instance of similarities, weights of tokens (`importance`) and lengths of units.

        `full`: the denominator, which is the value of f if every token had the largest possible similarity.
        """
        length = whole_array(lengths, "The length of unit {}")
        similar = whole_array(similar, "A similarity", ndim=2, least=0)
        importance = whole_array(importance, "The importance of token {}", least=1)
        own = None if own is None else whole_array(own, "A sum of a unit", ndim=2, least=0)
        full = whole(full, "The denominator", least=1, most=LARGEST_DENOMINATOR)
        if similar.shape != (len(importance), len(length)):
            raise InputError(
                f"The similarities of {len(importance)} tokens and {len(length)} units have the shape {similar.shape}: "
                "give a row for each token and a column for each unit."
            )
        if float(importance @ similar.max(axis=1, initial=0).astype(np.float64)) > LARGEST_DENOMINATOR:
            raise InputError("The similarities are too large together: divide them by a common factor.")
        # An instance without features is made, which checks all other fields.
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
        kept = {name: value for name, value in vars(plain).items() if name not in _MADE}
        shared, constant = plain.mass[2:], own is None
        return unchecked(cls, kept, similar=rows, importance=summed, own=shared, constant_denominator=constant)

    def __getattr__(self, name: str) -> Any:
        """Build the arrays of all levels when the first of them is needed."""
        if name not in _MADE or "similar" not in self.__dict__:
            raise AttributeError(name)
        self.__dict__.update(self._arrays(np.full(len(self.similar), self.size, np.int64)))
        return self.__dict__[name]

    def first_kept(self, *, every: bool = False) -> IntArray:
        """Return the number of levels of each token to keep at first, for one optimum or (`every`) many selections."""
        return np.full(len(self.similar), max(_FIRST, self.size // (_SHARE_OF_ALL if every else _SHARE)), np.int64)

    def more_kept(self, kept: IntArray, selection: Iterable[int]) -> IntArray:
        """Return how many levels of each token to keep next: at least double if `selection` misses its floor."""
        chosen = list(selection)
        best = self.similar[:, chosen].max(axis=1) if chosen else np.full(len(self.similar), -1, np.int64)
        ordered, different = self._ordered()
        above = ((ordered > best[:, None]) & different).sum(axis=1)
        return np.where(above > kept, np.maximum(2 * kept, above), kept)

    def floors(self, kept: IntArray) -> IntArray:
        """Return the floor b_r of each token: its highest level that is not kept."""
        return self._kept_levels(kept)[2]

    @property
    def relaxed(self) -> Coverage:
        """The instance with only the highest levels: the same selections, with values never below f."""
        return self.truncated()

    @property
    def lighter(self) -> Coverage:
        """The instance for heuristics, with all levels, or only the highest ones if there are very many."""
        light = self._coarser() if len(self.own) else self
        tokens, units = light.similar.shape
        most = isqrt(2 * _LIGHT // max(1, tokens))  # k levels of a token have about k * k / 2 pairs of level and unit
        return light if most >= units else light.truncated(np.full(tokens, max(_FIRST, most), np.int64))

    def _coarser(self) -> Facility:
        """Return an instance of about the same ratios with smaller numerators and denominators."""
        weigh = max(1, int(self.importance.max(initial=1)) // _WEIGHED)
        importance = np.maximum(1, self.importance // weigh)
        each = int(self.constants[1]) / int(self.importance.sum())  # the largest possible similarity
        full = each * float(importance.sum())
        top, bottom = map(float, self.own.sum(axis=1))
        need = sqrt(full * top * (full * top + full * bottom) / _COMPARED)  # divisor of numerator and denominator
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
        """Return the instance with only the highest levels of each token, by default `first_kept`; see the class."""
        arrays = self._arrays(self.first_kept() if kept is None else kept)
        others = {each.name: getattr(self, each.name) for each in fields(Coverage) if each.name not in _MADE}
        return Coverage.trusted(**others, **arrays)

    def _ordered(self) -> tuple[IntArray, NDArray[np.bool_]]:
        ordered = -np.sort(-self.similar, axis=1)
        different = np.ones(ordered.shape, bool)
        different[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        return ordered, different

    def _kept_levels(self, kept: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return token and value of each kept level, descending for each token, and the floor b_r of each token."""
        ordered, different = self._ordered()
        rank = np.cumsum(different, axis=1) - 1
        last = np.minimum(kept, rank.max(axis=1, initial=0))[:, None]
        token, place = np.nonzero(different & (rank < last))
        return token, ordered[token, place], ordered.sum(axis=1, where=different & (rank == last))

    def _arrays(self, kept: IntArray) -> dict[str, Any]:
        n = self.size
        token, value, floors = self._kept_levels(kept)
        too_many = UnsupportedError(
            f"{len(token):,} levels of similarity to {n} units need too much memory: use branch-and-bound (if it "
            "is not used already), which begins with the highest levels, or a lower --similarity-unit."
        )
        if len(token) * n > 25 * _MOST:
            raise too_many
        following = np.append(value[1:], 0)
        ends = np.append(token[1:] != token[:-1], True) if len(token) else np.zeros(0, bool)
        gain = self.importance[token] * (value - np.where(ends, floors[token], following))
        held, gains = _merged(self.similar, token, value, gain)
        base = int((self.importance * floors).sum())
        if base:  # every selection but the empty one reaches the floors
            held, gains = np.vstack([held, np.ones((1, n), bool)]), np.append(gains, base)
        holders = held.sum(axis=1)
        if int(holders.sum()) > _MOST:
            raise too_many
        single, several = holders == 1, holders > 1
        mass = np.vstack([held[single].T @ gains[single], np.zeros(n, np.int64), self.own])
        held, gains = held[several], gains[several]
        unit, feature = np.nonzero(held.T)
        return {
            "unit_start": np.searchsorted(unit, np.arange(n + 1)).astype(np.int64),
            "unit_feature": feature.astype(np.int64),
            "unit_count": np.ones(len(feature), np.int64),
            "level_start": np.arange(0, 2 * len(gains) + 1, 2, dtype=np.int64),
            "level": np.outer(gains, [0, 1]).reshape(-1),
            "slot": np.zeros(len(gains), np.int64),
            "mass": mass,
        }


def _merged(similar: IntArray, token: IntArray, value: IntArray, gain: IntArray) -> tuple[NDArray[np.bool_], IntArray]:
    """Return the distinct sets of units that reach a level, as a matrix (sets, units), and the gain of each."""
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
    order = np.argsort(first)  # in order of appearance, so that levels of a token stay adjacent
    return np.unpackbits(bits[first[order]], axis=1, count=n).astype(bool), gains[order]


def score(instance: Coverage, selection: Iterable[int]) -> tuple[tuple[int, ...], int, int]:
    """Return the totals of a selection, its length and its violation.

    Every solution is evaluated by this function, which follows the definition in Python integers and deliberately
    shares nothing with searches: no incremental state, no numba, no linear model, and no number that could overflow.
    The violation is 0 if the selection is feasible; otherwise the sum of the excess of the length, the excess of rows,
    the number of units with a missing parent, and (for a cover) the missing copies of features.
    """
    chosen = set(selection)
    copies: Counter[int] = Counter()
    if isinstance(instance, Facility):  # from its similarities, because only searches use the arrays of levels
        best = [max(row, default=0) for row in instance.similar[:, list(chosen)].tolist()]
        top = sum(weight * value for weight, value in zip(instance.importance.tolist(), best, strict=True))
        totals = [top, int(instance.constants[1])]
        totals += [sum(row) for row in instance.own[:, list(chosen)].tolist()]
    else:
        totals = _counted(instance.plain if instance.ceilings else instance, chosen, copies)
        for ceiling in instance.ceilings:
            totals[ceiling.slot] += ceiling.gain * ceiling.hits(sorted(chosen))
    length = sum(instance.lengths[list(chosen)].tolist())
    violation = sum(row.excess(chosen) for row in instance.rows)
    if len(instance.parents):
        violation += sum(int(instance.parents[unit]) not in {-1, *chosen} for unit in chosen)
    if instance.goal is Sense.MAXIMIZE:
        violation += max(0, length - instance.max_length, instance.min_length - length)
    else:
        full = enumerate((np.diff(instance.level_start) - 1).tolist())
        violation += sum(max(0, most - copies[feature]) for feature, most in full)
    return tuple(totals), length, violation


def _counted(instance: Coverage, chosen: set[int], copies: Counter[int]) -> list[int]:
    """Return the totals of the chosen units, and add the active copies of each feature to `copies`."""
    if chosen:
        spans = [slice(int(instance.unit_start[unit]), int(instance.unit_start[unit + 1])) for unit in chosen]
        held = np.concatenate([instance.unit_feature[span] for span in spans])
        counts = np.concatenate([instance.unit_count[span] for span in spans])
        copies.update(held.tolist())  # one copy for each entry; few entries have more
        several = np.flatnonzero(counts != 1)
        for feature, count in zip(held[several].tolist(), counts[several].tolist(), strict=True):
            copies[feature] += count - 1
    for joint in instance.joints:
        if chosen.issuperset(joint.needs) and chosen.isdisjoint(joint.vetoes):
            copies[joint.feature] += joint.count

    totals: list[int] = instance.constants.tolist()
    for total, row in enumerate(instance.mass.take(list(chosen), axis=1).tolist()):
        totals[total] += sum(row)
    features = np.fromiter(copies, np.int64, len(copies))  # gains are looked up together, and added in Python integers
    counts = np.fromiter(copies.values(), np.int64, len(copies))  # fails if a count does not fit
    starts, lasts = instance.level_start[features], instance.level_start[features + 1] - 1
    gains = instance.level[starts + np.minimum(counts, lasts - starts)].tolist()
    for slot, gain in zip(instance.slot[features].tolist(), gains, strict=True):
        totals[slot] += gain
    return totals


def key_of(instance: Coverage, totals: tuple[int, ...], length: int) -> Fraction:
    """Return the objective as an exact fraction for comparisons; a ratio over 0 is 0, a geometric mean has no root."""
    if instance.goal is Sense.MINIMIZE:
        return Fraction(length)
    if instance.combination.adds:
        parts = [part for part in zip(totals[0::2], totals[1::2], instance.weights, strict=True) if part[1] > 0]
        common = lcm(*(bottom for _, bottom, _ in parts))  # adding one Fraction for each ratio would be slower
        weighted = sum(top * (common // bottom) * weight for top, bottom, weight in parts)
        return Fraction(weighted, common * sum(instance.weights))
    pairs = zip(totals[0::2], totals[1::2], strict=True)
    ratios = [Fraction(top, bottom) if bottom > 0 else Fraction(0) for top, bottom in pairs]
    return instance.combination.mean(ratios, instance.weights)


def value_of(instance: Coverage, key: Fraction) -> float:
    """Return the objective for display: the key, or its root if the key is a power."""
    if key and instance.combination.multiplies and instance.goal is Sense.MAXIMIZE:
        power = sum(instance.weights)
        digits = abs(key.numerator.bit_length() - key.denominator.bit_length())
        if digits > _FLOAT_BITS:  # the key may not fit a float, but its root does
            return exp((log(key.numerator) - log(key.denominator)) / power)
        return float(float(key) ** (1 / power))
    return float(key)


FORMAT: Final = "optsum coverage 1"


def json_of_coverage(instance: Coverage, *, about: Mapping[str, Any] | None = None) -> str:
    data = {"format": FORMAT, **(about or {}), **{each.name: getattr(instance, each.name) for each in fields(Coverage)}}
    return json.dumps(data, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, range):
        return {"from": value.start, "to": value.stop}
    held = {each.name: getattr(value, each.name) for each in fields(value)}
    return {"kind": type(value).__name__, **held} if isinstance(value, Ceiling) else held


def _ceiling(data: Mapping[str, Any]) -> Ceiling:
    kind = {kind.__name__: kind for kind in (CappedUnion, TextSubsequence)}[data["kind"]]
    values = {name: _tuples(value) for name, value in data.items() if name != "kind"}
    values["mass"] = whole_array(data["mass"], "The mass of a ceiling")
    if kind is CappedUnion:
        values["groups"] = tuple(Group(*group) for group in values["groups"])
    return kind(**values)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else whole(value, "A number of a ceiling")


def _joint(data: Mapping[str, Any]) -> Joint:
    vetoes = data["vetoes"]
    held = range(vetoes["from"], vetoes["to"]) if isinstance(vetoes, dict) else tuple(vetoes)
    return Joint(data["feature"], tuple(data["needs"]), held, data["count"])


_READ_BY: Final[dict[str, Callable[[Any], Any]]] = {
    "goal": Sense,
    "combination": Combination,
    "weights": tuple,
    "joints": lambda joints: tuple(map(_joint, joints)),
    "rows": lambda rows: tuple(Row(**row) for row in rows),
    "ceilings": lambda ceilings: tuple(map(_ceiling, ceilings)),
}


def coverage_of_json(text: str | Mapping[str, Any]) -> Coverage:
    """Return the instance that `json_of_coverage` wrote, from its text or the decoded object.

    Raises
    ------
    InputError
        If the text is not an instance in this format.

    Examples
    --------
    >>> tiny = Coverage.of([3, 2], [{0: 1}, {0: 1}], [[1]], max_length=4)
    >>> coverage_of_json(json_of_coverage(tiny)).max_length
    4
    """
    try:
        data = json.loads(text) if isinstance(text, str) else text
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise InputError(f"This is not optsum's normal form: its format is not {FORMAT!r}.")
        given = {"rows": (), "ceilings": (), **data}  # files of older versions lack these fields
        if missing := [field.name for field in fields(Coverage) if field.name not in given]:
            raise InputError(f"This is not optsum's normal form: it has no {missing[0]!r}.")
        values = {field.name: given[field.name] for field in fields(Coverage)}
        return Coverage(**values | {name: read(values[name]) for name, read in _READ_BY.items()})
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"This is not optsum's normal form: {error!r}.") from error
