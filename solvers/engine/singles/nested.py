"""Features whose units are among those of the next: their rows of the relaxation may say only what is new.

Levels of a similarity are such chains: who reaches a level reaches those below it. Where F is among G, both are gained
once, and z_F, z_G say whether they are,

    z_G <= sum of x_u (u in G)          may be          z_G <= z_F + sum of x_u (u in G, not in F),

because z_F = min(1, sum of x_u (u in F)) in an optimum. Its value is the same, and in a chain of k levels a unit comes
once instead of up to k times (Elloumi 2010 does so for the p-median problem).

With y the multipliers of such rows, a unit has to pay the y of the row in which it comes. Prices p_F = y_F - y_G of
whole rows add up to that. Where y_G > y_F, the row of z_G is tight with nothing new in it, and y_G = y_F serves too.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .core import Core

_MANY: Final = 8
"""Units of a feature, on average, from which on chains are looked for."""

_LARGEST: Final = 50_000_000
"""Pairs of a feature and a unit that are looked at."""

Matrix: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Start, row and value of the entries, column by column."""


def chains_of(core: Core) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return which features hold all units of the one before, and which entries of the core that saves.

    Returns
    -------
    holds : (m,)
    saved : (entries,)
        Entries of features that hold the one before, by units of that one.
    """
    m, n = len(core.table_start) - 1, core.size
    if len(core.feature) < _MANY * m or m * n > _LARGEST or core.count.max(initial=1) > 1:
        return None
    unit = np.repeat(np.arange(n), np.diff(core.start))
    inside = np.zeros((m, n), np.bool_)
    inside[core.feature, unit] = True
    once = np.diff(core.table_start) == 2
    holds = np.zeros(m, np.bool_)
    holds[1:] = once[1:] & once[:-1] & ~(inside[:-1] & ~inside[1:]).any(axis=1)
    return (holds, holds[core.feature] & inside[core.feature - 1, unit]) if holds.any() else None


def with_chains(core: Core, holds: NDArray[np.bool_], saved: NDArray[np.bool_], matrix: Matrix) -> Matrix:
    """Return the matrix of a core's relaxation with the rows of chains."""
    start, row, value = matrix
    columns, n, m = len(start) - 1, core.size, len(holds)
    column = np.repeat(np.arange(columns), np.diff(start))
    keep = np.ones(len(row), np.bool_)
    keep[np.flatnonzero((column < n) & (row < m))[saved]] = False  # the core's entries, in their order
    gain = np.flatnonzero((column >= n) & (row < m))
    gained = np.zeros(m, np.int64)  # the column that says whether a feature is gained
    gained[row[gain]] = column[gain]
    later = np.flatnonzero(holds)
    column = np.concatenate([column[keep], gained[later - 1]])
    order = np.argsort(column, kind="stable")
    return (
        np.searchsorted(column[order], np.arange(columns + 1)).astype(np.int32),
        np.concatenate([row[keep], later.astype(np.int32)])[order],
        np.concatenate([value[keep], np.ones(len(later))])[order],
    )
