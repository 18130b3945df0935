r"""From a metric, a measure, a way of counting and the references to the ratios of the normal form.

With the clipped hits :math:`T_k` against reference k, its n-grams :math:`D_k` and the summary's :math:`M`:

=========== ================================== ======================================================
measure     pooled references                  mean over references
=========== ================================== ======================================================
recall      :math:`\sum_k T_k / \sum_k D_k`    mean of :math:`T_k / D_k`
precision   :math:`\sum_k T_k / (K M)`         mean of :math:`T_k / M`
F1          :math:`2 \sum_k T_k / (\sum_k D_k  mean of :math:`2 T_k / (D_k + M)`
            + K M)`
=========== ================================== ======================================================

A sum of metrics is the mean of theirs. Everything with constant denominators (recall) is one ratio over their least
common multiple, so that one integer decides; the rest is a sum of ratios. A geometric mean of metrics (Ngram(i, j) of
Lin & Hovy 2003, eq. 2) is a product of ratios.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import lcm
from typing import Any

import numpy as np

from optsum.coverage.instance import Combination, Coverage, Joint
from optsum.deadline import NEVER, Deadline
from optsum.metrics.metric import Counts, Gram

__all__ = ["Component", "Objective", "gains_of", "objective_of"]

_LARGEST = 2**50
"""A common denominator beyond this would leave too little room in 64-bit integers."""


@dataclass(frozen=True, eq=False)
class Component:
    """Counts of one metric.

    Attributes
    ----------
    references : one counter a reference
    model_units : one group of counters a reference, or None
        The parts of each reference that are clipped by themselves, in place of `references`.
    units : one counter a unit
        In set-based ROUGE every count is 1.
    masses : one integer a unit
        What the unit adds to the number of n-grams of the summary.
    lost : int
        By how much the n-grams of a non-empty summary are fewer than the sum of the masses.
    seams : tuples of unit i, unit j, n-gram
        n-grams across the end of i and the start of j, there if both are chosen and no unit between them is.
    between : function of i and j
        The units between two units that would part them.
    joints : tuples of n-gram, needed units, units in the gap, copies
        n-grams that are there if all of the former are chosen and none of the latter.
    """

    references: Sequence[Counts]
    units: Sequence[Counts]
    masses: Sequence[int]
    lost: int = 0
    seams: Sequence[tuple[int, int, Gram]] = ()
    between: Callable[[int, int], Sequence[int]] = lambda i, j: range(i + 1, j)
    joints: Sequence[tuple[Gram, tuple[int, ...], tuple[int, ...], int]] = ()
    model_units: Sequence[Sequence[Counts]] | None = None
    deadline: Deadline = NEVER

    @property
    def groups(self) -> list[Sequence[Counts]]:
        """What is clipped by itself, reference by reference."""
        return [[one] for one in self.references] if self.model_units is None else list(self.model_units)


class Objective:
    """Ratios under construction: features by total, what each unit has of them, constants and masses."""

    def __init__(self, units: int, ratios: int) -> None:
        self.numbers: dict[tuple[int, int], dict[Gram, int]] = {}
        self.gains: list[tuple[int, ...]] = []
        self.slots: list[int] = []
        self.available: list[int] = []
        self.entries: list[dict[int, int]] = [{} for _ in range(units)]
        self.joints: list[Joint] = []
        self.constants = [0] * (2 * ratios)
        self.mass = np.zeros((2 * ratios, units), np.int64)
        self.mean = Combination.SUM

    def cover(self, slot: int, part: int, gains: Mapping[Gram, tuple[int, ...]], component: Component) -> None:
        """Let the n-grams in `gains` feed a total; `part` tells apart the metrics that feed the same one."""
        for i, j, key in component.deadline.watching(component.seams):
            if key in gains:
                feature = self.feature(slot, part, key, gains[key], 1)
                self.joints.append(Joint(feature, (i, j), component.between(i, j)))
        for key, needs, vetoes, copies in component.deadline.watching(component.joints):
            if key in gains:
                feature = self.feature(slot, part, key, gains[key], copies)
                self.joints.append(Joint(feature, needs, vetoes, copies))
        # Without a call and a hash of three parts for each, because most of the time of building goes here.
        numbers, available = self.numbers.setdefault((slot, part), {}), self.available
        for entries, found in zip(self.entries, component.units, strict=True):
            for key, copies in found.items():
                number = numbers.get(key)
                if number is None:
                    if key not in gains:
                        continue
                    number = numbers[key] = self._new(slot, gains[key])
                available[number] += copies
                entries[number] = copies

    def feature(self, slot: int, part: int, key: Gram, gains: tuple[int, ...], copies: int) -> int:
        """Return the number of a feature, and note that so many more copies of it exist."""
        numbers = self.numbers.setdefault((slot, part), {})
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = self._new(slot, gains)
        self.available[number] += copies
        return number

    def _new(self, slot: int, gains: tuple[int, ...]) -> int:
        self.gains.append(gains)
        self.slots.append(slot)
        self.available.append(0)
        return len(self.gains) - 1

    def coverage(self, lengths: Sequence[int], weights: tuple[int, ...], **others: Any) -> Coverage:
        """Return the instance; n-grams of no unit, and steps beyond all copies there are, are left out."""
        level: list[int] = []
        level_start = [0]
        for gains, copies in zip(self.gains, self.available, strict=True):
            level.append(0)
            level.extend(accumulate(gains[:copies]))
            level_start.append(len(level))
        return Coverage(
            lengths=np.array(lengths, np.int64),
            unit_start=np.array([0, *accumulate(map(len, self.entries))], np.int64),
            unit_feature=np.array([feature for entries in self.entries for feature in entries], np.int64),
            unit_count=np.array([copies for entries in self.entries for copies in entries.values()], np.int64),
            level_start=np.array(level_start, np.int64),
            level=np.array(level, np.int64),
            slot=np.array(self.slots, np.int64),
            constants=np.array(self.constants, np.int64),
            mass=self.mass,
            joints=tuple(self.joints),
            weights=weights,
            combination=Combination.RATIO if len(weights) == 1 else self.mean,
            **others,
        )


def gains_of(references: Sequence[Counts], weights: Sequence[int]) -> dict[Gram, tuple[int, ...]]:
    """Gain of each copy of each n-gram: the summed weights of the references that hold it at least that often."""
    if len(references) == 1:
        weight = weights[0]
        return {key: (weight,) * copies for key, copies in references[0].items()}
    gains: dict[Gram, tuple[int, ...]] = {}
    if len(set(weights)) == 1:
        held: dict[Gram, list[int]] = {}
        for reference in references:
            for key, copies in reference.items():
                held.setdefault(key, []).append(copies)
        weight = weights[0]
        for key, found in held.items():
            found.sort()
            holders = len(found)
            gains[key] = (
                (weight * holders,)  # most n-grams occur once wherever they occur
                if found[-1] == 1
                else tuple(weight * (holders - bisect_left(found, copy)) for copy in range(1, found[-1] + 1))
            )
        return gains
    for key in set().union(*references):
        counts = [reference[key] for reference in references]
        gains[key] = tuple(
            sum(weight for weight, copies in zip(weights, counts, strict=True) if copies >= copy)
            for copy in range(1, max(counts) + 1)
        )
    return gains


def objective_of(
    components: Sequence[Component], measure: str, *, mean: bool, distinct: bool, product: bool = False
) -> tuple[Objective, tuple[int, ...]]:
    """Return the ratios of an objective, and their weights.

    Parameters
    ----------
    components : one a metric of the sum
    measure : {"recall", "precision", "f1"}
    mean : bool
        Average over the references instead of pooling them.
    distinct : bool
        Set-based counts: the summary's n-grams are counted once, so a denominator is a coverage too.
    product : bool
        The geometric mean of the metrics, not their arithmetic mean.
    """
    units = len(components[0].units)
    # One ratio a component, or one a component and reference.
    ratios = [
        (part, references)
        for part, component in enumerate(components)
        for references in (component.groups if mean else [[one for group in component.groups for one in group]])
    ]
    totals = [sum(reference.total() for reference in references) for _, references in ratios]
    common = lcm(*(total for total in totals if total))
    if measure == "recall" and not product and (len(ratios) == 1 or common * len(ratios) <= _LARGEST):
        objective = Objective(units, 1)
        objective.constants[1] = common * len(ratios) if len(ratios) > 1 else totals[0]
        for part, component in enumerate(components):
            held = [(references, total) for (of, references), total in zip(ratios, totals, strict=True) if of == part]
            flat = [reference for references, _ in held for reference in references]
            weights = [
                common // total if len(ratios) > 1 and total else 1 for references, total in held for _ in references
            ]
            objective.cover(0, part, gains_of(flat, weights), component)
        return objective, (1,)
    objective = Objective(units, len(ratios))
    objective.mean = Combination.PRODUCT if product else Combination.SUM
    scale = 2 if measure == "f1" else 1  # F1 = 2 hits / (reference total + summary mass): hits count twice
    for ratio, (part, references) in enumerate(ratios):
        component, top, bottom = components[part], 2 * ratio, 2 * ratio + 1
        objective.cover(top, part, gains_of(references, [scale] * len(references)), component)
        objective.constants[bottom] = 0 if measure == "precision" else totals[ratio]
        if measure == "recall":
            continue
        if distinct:
            once = {key: (len(references),) for found in component.units for key in found}
            objective.cover(bottom, part, once, component)
        else:
            objective.mass[bottom] = [len(references) * mass for mass in component.masses]
            objective.constants[bottom] -= len(references) * component.lost
    return objective, (1,) * len(ratios)
