r"""Geometric means of ratios are at most arithmetic ones: the best such bound, and the wish it makes.

Sums of ratios are bounded by the programs of `optsum.program.surrogate`; a product of powers is led back to a sum by
the weighted inequality of the arithmetic and the geometric mean, at an anchor that is chosen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage
from optsum.program.highs import relax
from optsum.program.model import affordable, coverage_model
from optsum.program.surrogate import Weighted, collapsed, reaches
from optsum.system.deadline import NEVER, Deadline

__all__ = ["anchored", "relaxed_anchor"]


def anchored(instance: Coverage, power: Fraction, anchor: Sequence[float]) -> Weighted:
    r"""Return a wish that every selection with a product of powers >= `power` > 0 fulfils.

    The weighted inequality of the arithmetic and the geometric mean, at an anchor r > 0:
    :math:`\prod_h y_h^{w_h} \ge P` implies :math:`\sum_h w_h y_h / r_h \ge W (P / \prod_h r_h^{w_h})^{1 / W}` with
    W the sum of the weights; rounded down.

    Parameters
    ----------
    power : Fraction
        As `optsum.coverage.evaluate.key_of` compares geometric means.
    anchor : one positive number a ratio
        Values of the ratios.
    """
    total = sum(instance.weights)
    rounded = [Fraction(r) for r in anchor]
    logs = log(power.numerator) - log(power.denominator)
    logs -= sum(w * log(r) for w, r in zip(instance.weights, anchor, strict=True))
    # Logarithms are exact to 1e-15 of their size; their sum is divided by the summed weights.
    slack = 1e-12 * (1.0 + abs(log(power.numerator)) + abs(log(power.denominator)) + total * 50.0) / total
    value = Fraction(total * exp(logs / total - slack)) * (1 - Fraction(1, 10**12))
    weights = tuple(Fraction(w) / r for w, r in zip(instance.weights, rounded, strict=True))
    typical = tuple(r * max(int(instance.constants[2 * h + 1]), 1) for h, r in enumerate(anchor))
    return Weighted(tuple(range(instance.ratios)), weights, value, typical)


def relaxed_anchor(instance: Coverage, deadline: Deadline = NEVER, rounds: int = 8) -> list[float]:
    """Return ratios at which the linear relaxation comes near the largest product of their powers.

    The tangent there is the best one: no program of another has a smaller share of its optimum between itself and the
    power that is asked for. Frank and Wolfe's method, with the step searched along the segment.

    Returns
    -------
    list of float
        Empty where denominators vary or are 0, or the relaxation has no optimum, or none before the deadline.
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
    full = np.diff(instance.level_start) - 1
    steps = np.delete(np.diff(instance.level), instance.level_start[1:-1] - 1)
    at = relaxation.columns[len(relaxation.columns) - len(steps) :] * steps
    found = np.zeros(len(instance.constants))
    np.add.at(found, np.repeat(instance.slot, full), at)
    found += instance.constants + instance.mass @ relaxation.columns[: instance.size]
    return found[0::2]
