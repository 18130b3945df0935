"""Statistics of lists of numbers: spread, confidence intervals, quantiles, correlation, Wilcoxon's test.

A statistics package just for the tests would be a quarter of an installation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import atan, cos, erfc, pi, sin, sqrt
from statistics import fmean, mean, stdev
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optsum.contracts.result import Result, Status
from optsum.coverage.instance import Key
from optsum.report.tables.table import Cell, number, shown

_DIFFERENT: Final = 6  # Fewer pairs that differ cannot be significant at 5 % (two-sided), whatever the ranks.

_EXACT: Final = 50
"""Number of pairs up to which all sign arrangements are counted; for more, the sum of ranks is approximately normal."""

_NORMAL_975: Final = 1.959963984540054
_FEW: Final = 100
"""Degrees of freedom up to which the distribution is summed; above, its expansion has an error below 1e-9."""


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return the ranks of numbers along the last axis, from 1; equal numbers share their mean rank."""

    def of_row(row: NDArray[np.float64]) -> Any:
        _, place, count = np.unique(row, return_inverse=True, return_counts=True)
        return (np.cumsum(count) - (count - 1) / 2)[place]

    given = np.asarray(values, np.float64)
    return np.asarray(np.apply_along_axis(of_row, -1, given)) if given.size else given


@cache
def student(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t.

    `degrees`: degrees of freedom, 1 or more.

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
    """Return the probability that Student's t is between -t and t."""
    angle = atan(t / sqrt(degrees))
    odd = degrees % 2
    term = cos(angle) if odd else 1.0
    total = 0.0
    for step in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (step - 1) / step
    return 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total


def wilcoxon(differences: Sequence[float]) -> float | None:
    """Return the p-value of Wilcoxon's signed-rank test, two-sided, without zero differences.

    It is exact for up to 50 differences, including ties; otherwise it uses the normal distribution. None for fewer than
    six nonzero differences.
    """
    apart = [one for one in differences if one]
    if len(apart) < _DIFFERENT:
        return None
    twice = [round(2 * rank) for rank in ranks([abs(one) for one in apart])]  # whole, halves of shared ranks too
    above = sum(rank for one, rank in zip(apart, twice, strict=True) if one > 0)
    extreme = min(above, sum(twice) - above)
    if len(apart) <= _EXACT:
        arrangements = np.array([1] + [0] * sum(twice), object)  # sets of ranks, by their sum
        for rank in twice:
            arrangements[rank:] += arrangements[:-rank].copy()
        return float(min(1.0, 2 * arrangements[: extreme + 1].sum() / (1 << len(apart))))
    spread = sqrt(sum(rank * rank for rank in twice)) / 2
    return erfc((sum(twice) / 2 - extreme) / spread / sqrt(2))


CHANCE: Final = "p: Wilcoxon's signed-rank test over {}, two-sided; - if fewer than six differ."
"""The caption for `chance`."""


def chance(differences: Sequence[float]) -> Cell:
    """Return the p-value of `wilcoxon` as a cell of a table."""
    return shown(wilcoxon(differences), ".2g")


def claims(results: Sequence[Result]) -> tuple[Key | None, list[Key], bool]:
    """Return the optimum, if known, all bounds, and whether all claims can be true together."""
    keys = [key for result in results if (key := result.key) is not None]
    bounds = [bound for result in results if (bound := result.bound_key) is not None]
    optima = {key for result in results if result.status is Status.OPTIMAL and (key := result.key) is not None}
    # A selection that attains a bound is optimal, whichever strategies found the two.
    optima |= {key for key in keys if key in bounds}
    # Bounds lie above all selections when maximizing, below when minimizing.
    sides = {bound > key for key in keys for bound in bounds if bound != key}
    infeasible = any(result.status is Status.INFEASIBLE for result in results)
    consistent = len(optima) <= 1 and len(sides) <= 1 and not (infeasible and keys)
    return (optima.pop() if len(optima) == 1 else None), bounds, consistent


def ratio_to_best(key: Key, optimum: Key | None, bounds: Sequence[Key]) -> tuple[float | None, bool]:
    """Return the ratio of a value to the optimum, or to the tightest bound if that is unknown.

    `guaranteed`: whether it uses a bound, so that the true ratio is at least this.
    """

    def ratio(best: Key) -> float:
        if key == best:
            return 1.0
        small, large = sorted((abs(Fraction(key)), abs(Fraction(best))))  # below 0 the better is the smaller in size
        return float(small / large) if (key > 0) == (best > 0) else 0.0

    if optimum is not None:
        return ratio(optimum), False
    return max(map(ratio, bounds), default=None), bool(bounds)


Interval: TypeAlias = Literal["student", "z"]

INTERVALS: Final[dict[Interval, str]] = {
    "student": "95 % confidence interval of the mean, Student's t",
    "z": "95 % confidence interval of the mean by the normal distribution (too narrow for few topics)",
}
"""Kinds of intervals, in the words of a caption."""

OVER_SEEDS: Final = "± seeds: standard deviation of the mean objective over {} seeds; exact strategies are run once."
"""The caption for `seeds_deviation`."""

FEWEST: Final = 3  # Fewer points have no correlation worth the name: two are always on a line.


class Spread(NamedTuple):
    """Akhmetov et al. 2022, Tables 4 and 5."""

    # mean, std: the standard deviation is that of a sample (divided by its size - 1); 0 for a single number.
    mean: float
    std: float
    cv: float | None  # Coefficient of variation, std / mean (eq. 5); None where the mean is 0.
    # Of the 95 % confidence interval of the mean (eq. 6); None for a single number, which has none.
    half_width: float | None = None
    lower: float | None = None
    upper: float | None = None


SPREADS: Final = ("mean", "std", "CV", "CI +/- mean", "CI lower", "CI upper")  # Headings of the numbers of a `Spread`.


def spread_of(values: Sequence[float], interval: Interval = "student", z: float = 1.96) -> Spread | None:
    """Return the spread of numbers; None if there are none.

    `interval`: half width of the confidence interval in standard errors: the quantile of Student's t with one degree of
    freedom less than numbers (4.30 for three numbers), or `z`, for many numbers.
    """
    if not values:
        return None
    middle = mean(values)
    deviation = stdev(values) if len(values) > 1 else 0.0
    cv = deviation / middle if middle else None
    if len(values) == 1:
        return Spread(middle, deviation, cv)
    half = (z if interval == "z" else student(len(values) - 1)) * deviation / sqrt(len(values))
    return Spread(middle, deviation, cv, half, middle - half, middle + half)


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def average(values: Iterable[float | None], digits: int = 4) -> Cell:
    """Return `mean_of` as a cell of a table."""
    return number(mean_of(values), digits)


def seeds_deviation(by_seed: Iterable[Sequence[float]]) -> float | None:
    """Return the standard deviation over seeds of the mean of each; None for fewer than two seeds with values."""
    means = [fmean(values) for values in by_seed if values]
    return stdev(means) if len(means) > 1 else None


def pearson(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Pearson's r; None for fewer than `FEWEST` points, or if all numbers of a side are equal."""
    one, other = (np.asarray(side, np.float64) for side in (left, right))
    # What rounding leaves of numbers that are all equal is no variation.
    if len(one) < FEWEST or not np.ptp(one - one.mean()) or not np.ptp(other - other.mean()):
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Spearman's rho, which is Pearson's r of the ranks; equal numbers share their mean rank."""
    return pearson(ranks(left).tolist(), ranks(right).tolist())
