"""Ranks, the quantile of Student's t and Wilcoxon's test: a package for these alone is a fourth of an installation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import atan, cos, erfc, pi, sin, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DIFFERENT: Final = 6
"""Fewer pairs that differ cannot be significant at 5 % (two-sided), whatever the ranks."""

_EXACT: Final = 50
"""Of so many pairs all arrangements of signs are counted; of more the sum of ranks is taken as normal."""

_NORMAL_975: Final = 1.959963984540054
_FEW: Final = 100
"""Up to so many degrees of freedom the distribution is summed; above, its expansion has an error below 1e-9."""


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return the ranks of numbers along the last axis, from 1; equal numbers share their mean rank."""
    given = np.asarray(values, np.float64)
    if not given.size:
        return given
    found: NDArray[np.float64] = np.apply_along_axis(_ranks, -1, given)
    return found


def _ranks(values: NDArray[np.float64]) -> NDArray[Any]:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    mean: NDArray[Any] = np.cumsum(count) - (count - 1) / 2
    return mean[place]


@cache
def student(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t.

    Parameters
    ----------
    degrees : int
        Degrees of freedom, 1 or more.

    Notes
    -----
    Abramowitz & Stegun 1964, 26.7.3 and 26.7.4 (the distribution of whole degrees, solved by bisection) and 26.7.5 (the
    expansion).
    """
    z = _NORMAL_975
    if degrees > _FEW:
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + sum(term / float(degrees**power) for power, term in enumerate(terms, 1))
    low, high = 1.0, 13.0  # the quantile falls from 12.7 to 1.96
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _within(middle, degrees) < 0.95 else (low, middle)
    return middle


def _within(t: float, degrees: int) -> float:
    """Return how likely Student's t lies between -t and t."""
    angle = atan(t / sqrt(degrees))
    odd = degrees % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for step in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (step - 1) / step
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def wilcoxon(differences: Sequence[float]) -> float | None:
    """Return how likely paired differences are by chance: Wilcoxon's signed-rank test, two-sided, zeros left out.

    Exact for up to 50 differences, equal ones among them too; of more by the normal distribution. None for fewer than
    six that are not 0.
    """
    apart = [one for one in differences if one]
    if len(apart) < _DIFFERENT:
        return None
    twice = [round(2 * rank) for rank in ranks([abs(one) for one in apart])]  # whole, halves of shared ranks too
    above = sum(rank for one, rank in zip(apart, twice, strict=True) if one > 0)
    extreme = min(above, sum(twice) - above)
    if len(apart) <= _EXACT:
        return min(1.0, 2 * sum(_arrangements(twice)[: extreme + 1]) / (1 << len(apart)))
    spread = sqrt(sum(rank * rank for rank in twice)) / 2
    return erfc((sum(twice) / 2 - extreme) / spread / sqrt(2))


def _arrangements(weights: Sequence[int]) -> list[int]:
    """Return of how many sets of the weights each number is the sum, from 0."""
    counts = [1] + [0] * sum(weights)
    for weight in weights:
        for total in range(len(counts) - 1, weight - 1, -1):
            counts[total] += counts[total - weight]
    return counts
