r"""The normal form: one mathematical object for extracts, compressions and covers.

An instance has *units* (sentences or chunks) that are chosen or not, *occurrences* that are active when every unit
of a set V is chosen and none of a set U is, and *features* (n-grams, abstract sentences) that collect the active
occurrences. Feature f gains ``level[f][c]`` from c copies, a concave, clipped integer table.

Gains are summed into *totals*. Ratio h has two of them: total 2h is its numerator T_h, total 2h + 1 its
denominator D_h. Each total is ``constant + sum of mass over the chosen units + gains of its features``, so a
denominator may be constant (recall), linear (precision, F) or itself a coverage (set counts).

=============  ==========================================================================================
goal           objective
=============  ==========================================================================================
``MAXIMIZE``   the value: one ratio, a weighted sum of ratios, or a weighted geometric mean, subject to
               ``min_length <= sum of the chosen lengths <= max_length`` and to parents before children
``MINIMIZE``   the sum of the chosen lengths, subject to every feature reaching its full gain
=============  ==========================================================================================

Hirao et al. 2017 (extractive), eq. 3-8, is the case with singletons V = {i} and one constant denominator; the
papers' variables z_kj are merged over the references k into one gain table per n-gram, which has the same optimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.errors import InputError

__all__ = ["NO_LIMIT", "Combination", "Coverage", "Goal", "IntArray", "Joint", "pack"]

IntArray: TypeAlias = NDArray[np.int64]

NO_LIMIT: Final = 2**40
"""A length that no instance reaches: stands for "no maximum"."""


class Goal(Enum):
    """What is searched."""

    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


class Combination(Enum):
    """How the ratios make one value."""

    RATIO = "ratio"
    """The only ratio there is."""
    SUM = "sum"
    """Weighted arithmetic mean: sum of w_h T_h / D_h, divided by the sum of the weights."""
    PRODUCT = "product"
    """Weighted geometric mean: product of (T_h / D_h)^(w_h / sum of the weights)."""


@dataclass(frozen=True)
class Joint:
    """An occurrence that several units decide: active iff all of `needs` are chosen and none of `vetoes`."""

    feature: int
    needs: tuple[int, ...]
    vetoes: tuple[int, ...] = ()
    count: int = 1


def pack(rows: Iterable[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Store rows of integers one after another.

    Returns
    -------
    starts : IntArray of shape (rows + 1,)
        Row r is ``values[starts[r]:starts[r + 1]]``.
    values : IntArray
    """
    rows = list(rows)
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=starts[1:])
    flat = [value for row in rows for value in row]
    return starts, np.array(flat, dtype=np.int64)


def _empty() -> IntArray:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Coverage:
    """One instance in the normal form; every array is int64 and must not be changed.

    Attributes
    ----------
    lengths : (units,)
        Length of each unit >= 0, in words, sentences or characters.
    unit_start, unit_feature, unit_count : (units + 1,), (entries,), (entries,)
        Occurrences decided by a single unit: entries ``unit_start[u]:unit_start[u + 1]`` belong to unit u, each
        naming a feature (once per unit) and how many copies the unit has.
    level_start, level : (features + 1,), (sum of (M_f + 1),)
        Gain of feature f from c copies is ``level[level_start[f] + min(c, M_f)]``; the first entry of each
        feature is 0 and the steps never grow.
    slot : (features,)
        The total that feature f feeds: 2h numerator, 2h + 1 denominator of ratio h.
    constants : (2 * ratios,)
        What each total is without any unit.
    mass : (2 * ratios, units)
        What each unit adds to each total by itself.
    weights : one positive integer a ratio
    combination : Combination
    parents : (units,)
        A unit may be chosen only with its parent; -1 for none. Empty: no unit has one. A parent's number is
        smaller than its children's.
    joints : occurrences decided by several units
    min_length, max_length : int
        In the unit of `lengths`; `NO_LIMIT` for no maximum.
    goal : Goal

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
    parents: IntArray = field(default_factory=_empty)
    joints: tuple[Joint, ...] = ()
    min_length: int = 0
    max_length: int = NO_LIMIT
    goal: Goal = Goal.MAXIMIZE

    def __post_init__(self) -> None:
        """Check what the kernels rely on."""
        n, features, totals = len(self.lengths), len(self.slot), len(self.constants)
        steps = np.diff(self.level)
        inner = np.ones(len(steps), dtype=bool)
        inner[self.level_start[1:-1] - 1] = False
        starts_inner = inner.copy()
        starts_inner[self.level_start[:-1][np.diff(self.level_start) > 1]] = False
        falls = np.zeros(len(steps), dtype=bool)
        falls[1:] = steps[1:] > steps[:-1]
        wrong = {
            "a length is negative": bool((self.lengths < 0).any()),
            "unit_start does not match the units": len(self.unit_start) != n + 1,
            "entries name a feature that does not exist": bool(
                len(self.unit_feature) and (self.unit_feature.min() < 0 or self.unit_feature.max() >= features)
            ),
            "counts of occurrences must be positive": bool((self.unit_count <= 0).any()),
            "level_start does not match the features": len(self.level_start) != features + 1,
            "a feature has no level 0": bool(features and (np.diff(self.level_start) < 1).any()),
            "a feature gains something from no copy": bool(features and self.level[self.level_start[:-1]].any()),
            "gains must not grow with the copies, nor be negative": bool(
                (falls & starts_inner).any() or (steps[inner] < 0).any()
            ),
            "each ratio needs two totals and a weight": totals != 2 * len(self.weights) or min(self.weights) < 1,
            "mass must have a row per total and a column per unit": self.mass.shape != (totals, n),
            "a single ratio was announced": self.combination is Combination.RATIO and len(self.weights) != 1,
            "a parent must come before its children": bool(
                len(self.parents) and (len(self.parents) != n or (self.parents >= np.arange(n)).any())
            ),
            "the minimum length is above the maximum": self.min_length > self.max_length,
        }
        for reason, holds in wrong.items():
            if holds:
                raise InputError(f"This coverage instance cannot be used: {reason}.")

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

    @property
    def singletons(self) -> bool:
        """Whether every occurrence is decided by one unit and no unit has a parent."""
        return not self.joints and not (len(self.parents) and (self.parents >= 0).any())

    @property
    def constant_denominator(self) -> bool:
        """Whether the value is ``T / D`` with a D that no selection changes, so that T alone decides (recall)."""
        return (
            self.goal is Goal.MAXIMIZE
            and self.combination is Combination.RATIO
            and not self.mass[1].any()
            and not (self.slot == 1).any()
        )

    def ancestors(self, unit: int) -> tuple[int, ...]:
        """Parent, parent's parent, ... of a unit."""
        found: list[int] = []
        while len(self.parents) and (unit := int(self.parents[unit])) >= 0:
            found.append(unit)
        return tuple(found)

    def closure(self, units: Iterable[int]) -> tuple[int, ...]:
        """Return the units with all their ancestors, sorted."""
        closed: set[int] = set()
        for unit in units:
            closed.update((unit, *self.ancestors(unit)))
        return tuple(sorted(closed))

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
        lengths : one integer a unit
        occurrences : one dictionary a unit: feature -> number of copies
        gains : one list a feature: gain of the first, second, ... copy
        slots : the total each feature feeds; all 0 (the numerator of the only ratio) by default
        constants, mass, parents, others : as the attributes; ``constants=(0, D)`` is recall over D

        Examples
        --------
        >>> tiny = Coverage.of([3, 2], [{0: 1, 1: 2}, {1: 1}], [[1], [2, 1]], constants=(0, 4), max_length=3)
        >>> tiny.size, tiny.features
        (2, 2)
        """
        n = len(lengths)
        unit_start, unit_feature = pack([list(row) for row in occurrences])
        _, unit_count = pack([list(row.values()) for row in occurrences])
        level_start, level = pack([[0, *np.cumsum(np.asarray(row, np.int64)).tolist()] for row in gains])
        return Coverage(
            lengths=np.asarray(lengths, np.int64),
            unit_start=unit_start,
            unit_feature=unit_feature,
            unit_count=unit_count,
            level_start=level_start,
            level=level,
            slot=np.zeros(len(gains), np.int64) if slots is None else np.asarray(slots, np.int64),
            constants=np.asarray(constants, np.int64),
            mass=(
                np.zeros((len(constants), n), np.int64)
                if mass is None
                else np.asarray(mass, np.int64).reshape(len(constants), n)
            ),
            parents=np.asarray(parents, np.int64),
            **others,
        )
