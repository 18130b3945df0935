"""Statistics of lists of numbers: spread, confidence intervals, quantiles, correlation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, mean, stdev
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from optsum.report.significance import ranks, student

Interval: TypeAlias = Literal["student", "z"]

INTERVALS: Final[dict[Interval, str]] = {
    "student": "95 % confidence interval of the mean, Student's t",
    "z": "95 % confidence interval of the mean by the normal distribution (too narrow for few topics)",
}
"""Kinds of intervals, in the words of a caption."""

OVER_SEEDS: Final = "± seeds: standard deviation of the mean objective over {} seeds; what proves is run once."
"""What a caption says of `seeds_deviation`."""

Z: Final = 1.96
"""Akhmetov et al. 2022 print 1.956, but their intervals are those of 1.96."""

FEWEST: Final = 3
"""Fewer points have no correlation worth the name: two are always on a line."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Akhmetov et al. 2022, Tables 4 and 5.

    Attributes
    ----------
    count : int
    mean, std : float
        The standard deviation is that of a sample (divided by count - 1); 0 for a single number.
    cv : float or None
        Coefficient of variation, std / mean (eq. 5); None where the mean is 0.
    half_width : float or None
        Of the 95 % confidence interval of the mean (eq. 6); None for a single number, which has none.
    """

    count: int
    mean: float
    std: float
    cv: float | None
    half_width: float | None

    @property
    def lower(self) -> float | None:
        """Lower end of the confidence interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def upper(self) -> float | None:
        """Upper end of the confidence interval."""
        return None if self.half_width is None else self.mean + self.half_width


def spread_of(values: Sequence[float], interval: Interval = "student", z: float = Z) -> Spread | None:
    """Return the spread of numbers; None if there are none.

    Parameters
    ----------
    interval : {"student", "z"}
        How many standard errors the confidence interval reaches: the quantile of Student's t with ``count - 1`` degrees
        of freedom (4.30 for three numbers), or `z`, which is right for many.
    """
    if not values:
        return None
    middle = mean(values)
    deviation = stdev(values) if len(values) > 1 else 0.0
    reach = z if interval == "z" or len(values) < 2 else student(len(values) - 1)
    return Spread(
        count=len(values),
        mean=middle,
        std=deviation,
        cv=deviation / middle if middle else None,
        half_width=reach * deviation / sqrt(len(values)) if len(values) > 1 else None,
    )


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def seeds_deviation(by_seed: Iterable[Sequence[float]]) -> float | None:
    """Return the standard deviation, over seeds, of the mean of each; None for fewer than two seeds with values."""
    means = [fmean(values) for values in by_seed if values]
    return stdev(means) if len(means) > 1 else None


def quantiles(values: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Return the quantiles at shares between 0 and 1, interpolated linearly.

    Raises
    ------
    ValueError
        If there are no values.
    """
    if not values:
        raise ValueError("There are no values, so there are no quantiles.")
    found: list[float] = np.quantile(np.asarray(values, np.float64), np.asarray(shares)).tolist()
    return found


def pearson(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Pearson's r; None for fewer than `FEWEST` points, or where all numbers of a side are equal."""
    return _pearson(np.asarray(left, np.float64), np.asarray(right, np.float64))


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Spearman's rho, which is Pearson's r of the ranks; equal numbers share their mean rank."""
    return _pearson(ranks(left), ranks(right))


def _pearson(left: NDArray[np.float64], right: NDArray[np.float64]) -> float | None:
    # What rounding leaves of numbers that are all equal is no variation.
    if len(left) < FEWEST or not np.ptp(left - left.mean()) or not np.ptp(right - right.mean()):
        return None
    return float(np.clip(np.corrcoef(left, right)[0, 1], -1.0, 1.0))
