"""The independent scorer: this one function evaluates every solution again, including solvers' solutions.

It follows the definition in plain Python integers, and deliberately shares nothing with searches: no incremental state,
no numba, no linear model, and no number that could overflow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import exp, lcm, log
from typing import Final

import numpy as np

from optsum.coverage.facility import Facility
from optsum.coverage.instance import Coverage, Sense


def score(instance: Coverage, selection: Iterable[int]) -> tuple[tuple[int, ...], int, int]:
    """Evaluate a selection.

    Returns
    -------
    totals : tuple of int
        Numerator and denominator of each ratio, alternately.
    length : int
        Summed length of the chosen units.
    violation : int
        0 if feasible; otherwise the sum of the excess of the length, the excess of rows, the number of units with a
        missing parent, and (for a cover) the missing copies of features.
    """
    chosen = set(selection)
    copies: Counter[int] = Counter()
    if isinstance(instance, Facility):  # whose arrays are of the searches
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
        for feature in range(instance.features):
            full = int(instance.level_start[feature + 1] - instance.level_start[feature]) - 1
            violation += max(0, full - copies.get(feature, 0))
    return tuple(totals), length, violation


def _counted(instance: Coverage, chosen: set[int], copies: Counter[int]) -> list[int]:
    """Return the totals, and store the active copies of each feature in `copies`."""
    if chosen:
        spans = [slice(int(instance.unit_start[unit]), int(instance.unit_start[unit + 1])) for unit in chosen]
        held = np.concatenate([instance.unit_feature[span] for span in spans])
        counts = np.concatenate([instance.unit_count[span] for span in spans])
        copies.update(held.tolist())  # one of each; few features have more
        several = np.flatnonzero(counts != 1)
        for feature, count in zip(held[several].tolist(), counts[several].tolist(), strict=True):
            copies[feature] += count - 1
    for joint in instance.joints:
        if chosen.issuperset(joint.needs) and chosen.isdisjoint(joint.vetoes):
            copies[joint.feature] += joint.count

    totals: list[int] = instance.constants.tolist()
    for total, row in enumerate(instance.mass.take(list(chosen), axis=1).tolist()):
        totals[total] += sum(row)
    features = np.fromiter(copies, np.int64, len(copies))  # looked up all at once; added up one by one
    counts = np.fromiter(copies.values(), np.int64, len(copies))  # which refuses what overflows
    starts, lasts = instance.level_start[features], instance.level_start[features + 1] - 1
    gains = instance.level[starts + np.minimum(counts, lasts - starts)].tolist()
    for slot, gain in zip(instance.slot[features].tolist(), gains, strict=True):
        totals[slot] += gain
    return totals


def key_of(instance: Coverage, totals: tuple[int, ...], length: int) -> Fraction:
    """Return the objective as an exact fraction, ordered as the objective is."""
    if instance.goal is Sense.MINIMIZE:
        return Fraction(length)
    if instance.combination.adds:
        return mean_of_ratios(totals, instance.weights)
    pairs = zip(totals[0::2], totals[1::2], strict=True)
    ratios = [Fraction(top, bottom) if bottom > 0 else Fraction(0) for top, bottom in pairs]
    return instance.combination.mean(ratios, instance.weights)


def mean_of_ratios(totals: Sequence[int], weights: Sequence[int]) -> Fraction:
    """Return the weighted mean of ratios from their numerators and denominators, which alternate."""
    parts = [part for part in zip(totals[0::2], totals[1::2], weights, strict=True) if part[1] > 0]
    common = lcm(*(bottom for _, bottom, _ in parts))  # one fraction, not one for each ratio
    weighted = sum(top * (common // bottom) * weight for top, bottom, weight in parts)
    return Fraction(weighted, common * sum(weights))


_BITS: Final = 1_000  # Beyond 2^1000 and below its reciprocal floats lose digits, or overflow.


def value_of(instance: Coverage, key: Fraction) -> float:
    """Return the objective for display: the root, if the key is a power."""
    if key and instance.combination.multiplies and instance.goal is Sense.MAXIMIZE:
        power = sum(instance.weights)
        digits = abs(key.numerator.bit_length() - key.denominator.bit_length())
        if digits > _BITS:  # too small or too large for a float, its root is not
            return exp((log(key.numerator) - log(key.denominator)) / power)
        return float(float(key) ** (1 / power))
    return float(key)
