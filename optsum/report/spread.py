"""How a list of numbers is spread: the error analysis of Akhmetov et al. 2022, and quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import Final

import numpy as np

__all__ = ["Z_95", "Spread", "quantiles", "spread_of"]

Z_95: Final = 1.96
"""The paper prints 1.956, but its intervals are those of 1.96."""


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
    half_width : float
        Of the 95 % confidence interval of the mean, ``Z_95 * std / sqrt(count)`` (eq. 6).
    """

    count: int
    mean: float
    std: float
    cv: float | None
    half_width: float

    @property
    def lower(self) -> float:
        """Lower end of the confidence interval."""
        return self.mean - self.half_width

    @property
    def upper(self) -> float:
        """Upper end of the confidence interval."""
        return self.mean + self.half_width


def spread_of(values: Sequence[float]) -> Spread | None:
    """Return the spread of numbers; None if there are none."""
    if not values:
        return None
    middle = mean(values)
    deviation = stdev(values) if len(values) > 1 else 0.0
    return Spread(
        count=len(values),
        mean=middle,
        std=deviation,
        cv=deviation / middle if middle else None,
        half_width=Z_95 * deviation / sqrt(len(values)),
    )


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
