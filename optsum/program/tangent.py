r"""Geometric and harmonic means of ratios are at most arithmetic ones: the best such bound, and the wish it makes.

Sums of ratios are bounded by the programs of `optsum.program.surrogate`; a product of powers is led back to a sum by
the weighted inequality of the arithmetic and the geometric mean, at an anchor that is chosen here.

A harmonic mean is concave in its ratios, so it lies below each of its tangents. A tangent is near the mean only where
the ratios are in proportion as at its anchor; they are, about, among selections of one size. So selections are parted
by the one denominator that varies into windows, each a side constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, gcd, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.box import DenominatorBox
from optsum.coverage.facility import Facility
from optsum.coverage.instance import Combination, Coverage
from optsum.coverage.row import Row
from optsum.program.highs import relax
from optsum.program.model import affordable, coverage_model, steps_of
from optsum.program.surrogate import Weighted, collapsed, reaches
from optsum.system.clock import NEVER, Deadline

_STEPS: Final = 2_000  # Approximate width of windows, and largest weight of side constraints.


def anchored(instance: Coverage, power: Fraction, anchor: Sequence[float]) -> Weighted:
    r"""Return a wish that every selection with a geometric or harmonic mean as compared >= `power` > 0 fulfils.

    A harmonic mean H is concave, so it lies below its tangents: :math:`H(y) \ge V` implies, for any r > 0 and with W
    the sum of the weights, :math:`\sum_h (w_h / r_h^2) \, y_h \ge V (\sum_h w_h / r_h)^2 / W`. Of a product, the
    weighted inequality of the arithmetic and the geometric mean, at an anchor r > 0:
    :math:`\prod_h y_h^{w_h} \ge P` implies :math:`\sum_h w_h y_h / r_h \ge W (P / \prod_h r_h^{w_h})^{1 / W}` with
    W the sum of the weights; rounded down.

    `anchor`, one positive number a ratio: values of the ratios.
    """
    total = sum(instance.weights)
    typical = tuple(r * max(int(instance.constants[2 * h + 1]), 1) for h, r in enumerate(anchor))
    if instance.combination is Combination.HARMONIC:
        near = [Fraction(max(1, round(r * 2**20)), 2**20) for r in anchor]
        turned = sum((w / r for w, r in zip(instance.weights, near, strict=True)), Fraction(0))
        weights = tuple(w / r**2 for w, r in zip(instance.weights, near, strict=True))
        return Weighted(tuple(range(instance.ratios)), weights, power * turned**2 / total, typical)
    rounded = [Fraction(r) for r in anchor]
    logs = log(power.numerator) - log(power.denominator)
    logs -= sum(w * log(r) for w, r in zip(instance.weights, anchor, strict=True))
    # Logarithms are exact to 1e-15 of their size; their sum is divided by the summed weights.
    slack = 1e-12 * (1.0 + abs(log(power.numerator)) + abs(log(power.denominator)) + total * 50.0) / total
    value = Fraction(total * exp(logs / total - slack)) * (1 - Fraction(1, 10**12))
    weights = tuple(Fraction(w) / r for w, r in zip(instance.weights, rounded, strict=True))
    return Weighted(tuple(range(instance.ratios)), weights, value, typical)


def relaxed_anchor(instance: Coverage, deadline: Deadline = NEVER, rounds: int = 8) -> list[float]:
    """Return ratios at which the linear relaxation comes near the largest product of their powers.

    The tangent there is the best one: no program of another has a smaller share of its optimum between itself and the
    power that is asked for. Frank and Wolfe's method, with the step searched along the segment.

    The result: empty where denominators vary or are 0, or the relaxation has no optimum, or none before the deadline.
    """
    if instance.mass[1::2].any() or (instance.slot % 2 == 1).any():
        return []
    bottoms = instance.constants[1::2].tolist()
    if min(bottoms) <= 0:
        return []
    reach = reaches(instance)[0::2]
    here = np.array([max(top, 1) / 2.0 for top in reach])
    weights = np.array(instance.weights, float)
    for number in range(rounds):
        tops = [ceil(2**20 * w * max(here) / t) for w, t in zip(instance.weights, here, strict=True)]
        there = _relaxed_tops(instance, tops, deadline)
        if there is None or not (there > 0).all():
            return [t / d for t, d in zip(here.tolist(), bottoms, strict=True)] if number else []
        steps = np.linspace(0.0, 1.0, 101)[1:]
        points = here + steps[:, None] * (there - here)
        best = int(np.argmax(np.log(points) @ weights))
        if number == 0:
            here = there
        elif best == 0 and np.log(points[0]) @ weights <= np.log(here) @ weights:
            break
        else:
            here = points[best]
    return [max(t, 1e-6) / d for t, d in zip(here.tolist(), bottoms, strict=True)]


def _relaxed_tops(instance: Coverage, tops: Sequence[int], deadline: Deadline) -> NDArray[np.float64] | None:
    """Return the numerators at the optimum of the relaxation of a weighted sum of them."""
    if not affordable(instance, deadline):
        return None
    single = collapsed(instance, tops, [0] * instance.ratios)
    model = coverage_model(replace(single, constants=np.array([single.constants[0], 1])))
    relaxation = relax(model, deadline)
    if relaxation is None or not relaxation.optimal:
        return None
    steps, feature = steps_of(instance)
    at = relaxation.columns[len(relaxation.columns) - len(steps) :] * steps
    found = np.zeros(len(instance.constants))
    np.add.at(found, instance.slot[feature], at)
    found += instance.constants + instance.mass @ relaxation.columns[: instance.size]
    return found[0::2]


def mean_of(weights: Sequence[int], ratios: Sequence[Fraction]) -> Fraction:
    """Return the weighted harmonic mean of ratios; 0 where one is."""
    if not all(ratios):
        return Fraction(0)
    return sum(weights) / sum((w / ratio for w, ratio in zip(weights, ratios, strict=True)), Fraction(0))


def one_varies(instance: Coverage) -> bool:
    """Return whether all denominators are constant, but for one at most that is a sum over the units."""
    if isinstance(instance, Facility):  # without arrays of all levels, which are many
        return True
    return int(instance.mass[1::2].any(axis=1).sum()) <= 1 and not (instance.slot % 2 == 1).any()


def varying(instance: Coverage) -> int | None:
    """Return the ratio whose denominator varies; None if none does."""
    found = np.flatnonzero(instance.mass[1::2].any(axis=1)).tolist()
    return int(found[0]) if found else None


def least_of(instance: Coverage, which: int) -> int:
    """Return the least that the denominator `which` is, where it is not 0."""
    constant, mass = int(instance.constants[2 * which + 1]), instance.mass[2 * which + 1]
    return constant or int(mass[mass > 0].min())


def most_of(instance: Coverage, which: int) -> int:
    """Return a limit of the denominator `which` of selections that are not too long."""
    units = list(zip(instance.mass[2 * which + 1].tolist(), instance.lengths.tolist(), strict=True))
    units.sort(key=lambda unit: (unit[1] > 0, -Fraction(unit[0], unit[1] or 1)))
    found, left = int(instance.constants[2 * which + 1]), int(instance.max_length)
    for added, length in units:
        if length > left:  # as much of it as fits
            return found + int(added * left // length)
        found, left = found + added, left - length
    return found


def restricted(instance: Coverage, which: int, low: int, high: int) -> Coverage:
    """Return an instance with all selections whose denominator `which` is within limits, and few others."""
    mass, shift = instance.mass[2 * which + 1], int(instance.constants[2 * which + 1])
    low, high = max(0, low - shift), high - shift
    units = np.flatnonzero(mass)
    numbers = mass[units]
    common = gcd(*numbers.tolist())
    step = common * -(-high // (common * _STEPS)) or common
    above, below = -(-numbers // step), numbers // step  # rounded so that none within the limits is lost
    rows = []
    if low:
        rows.append(Row(tuple(units.tolist()), tuple(above.tolist()), low=-(-low // step)))
    if int(numbers.sum()) > high:
        counted = below > 0
        rows.append(Row(tuple(units[counted].tolist()), tuple(below[counted].tolist()), high=high // step))
    return instance.with_rows((*instance.rows, *rows))


def window_box(instance: Coverage, which: int, low: int, high: int) -> DenominatorBox:
    """Return the box of denominators of a window."""
    constants = tuple(int(constant) for constant in instance.constants[1::2])
    part = tuple(0 if h == which else -1 for h in range(instance.ratios))
    return DenominatorBox(constants, part, (float(low - constants[which]),), (float(high - constants[which]),))
