"""Pearson's and Spearman's correlation of two lists of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "pearson", "spearman"]

FEWEST = 3
"""Fewer points have no correlation worth the name: two are always on a line."""


def pearson(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Pearson's r; None for fewer than `FEWEST` points, or where all numbers of a side are equal."""
    return _pearson(np.asarray(left, np.float64), np.asarray(right, np.float64))


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Spearman's rho, which is Pearson's r of the ranks; equal numbers share their mean rank."""
    return _pearson(_ranks(left), _ranks(right))


def _pearson(left: NDArray[np.float64], right: NDArray[np.float64]) -> float | None:
    if len(left) < FEWEST:
        return None
    left, right = left - left.mean(), right - right.mean()
    # What rounding leaves of numbers that are all equal is no variation.
    if not _varies(left) or not _varies(right):
        return None
    return float(np.clip(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)), -1.0, 1.0))


def _varies(centred: NDArray[np.float64]) -> bool:
    return bool(np.ptp(centred) > 0)


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    means: NDArray[np.float64] = (last - (counts - 1) / 2).astype(np.float64)
    return means[inverse]
