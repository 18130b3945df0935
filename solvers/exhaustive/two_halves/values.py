"""Values of totals that stand in the columns of a table: in floating point, and exactly."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from optsum.system.compiled import njit

INTEGER: Final = 0
"""The first total alone decides: the denominator is a constant."""
RATIO: Final = 1
SUM: Final = 2
PRODUCT: Final = 3
HARMONIC: Final = 4


@njit(cache=True)
def value_at(combination: int, weights: Any, totals: Any, place: int) -> Any:
    """Return the value of the totals in a column, in floating point."""
    if combination == INTEGER:
        return float(totals[0, place])
    if combination == HARMONIC:
        turned = 0.0
        for ratio in range(len(weights)):
            top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
            if bottom <= 0 or top <= 0:
                return 0.0
            turned += weights[ratio] * bottom / top
        return 1.0 / turned
    value = 1.0 if combination == PRODUCT else 0.0
    for ratio in range(len(weights)):
        top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
        share = top / bottom if bottom > 0 else 0.0
        if combination == PRODUCT:
            for _ in range(weights[ratio]):
                value *= share
        else:
            value += weights[ratio] * share
    return value


@njit(cache=True)
def pair_at(combination: int, weights: Any, totals: Any, place: int) -> Any:
    """Return the value of the totals in a column as numerator and denominator."""
    if combination == INTEGER:
        return totals[0, place], np.int64(1)
    if combination == HARMONIC:
        product, turned = np.int64(1), np.int64(0)
        for ratio in range(len(weights)):
            top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
            if bottom <= 0 or top <= 0:
                return np.int64(0), np.int64(1)
            turned = turned * top + weights[ratio] * bottom * product
            product *= top
        return product, turned
    numerator, denominator = np.int64(combination == PRODUCT), np.int64(1)
    for ratio in range(len(weights)):
        top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
        if combination == PRODUCT:
            if bottom <= 0:
                return np.int64(0), np.int64(1)
            for _ in range(weights[ratio]):
                numerator *= top
                denominator *= bottom
        elif bottom > 0:
            numerator = numerator * bottom + weights[ratio] * top * denominator
            denominator *= bottom
    return numerator, denominator
