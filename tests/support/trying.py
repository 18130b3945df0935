"""Brute force for tests that ask no problem of the package (`optsum.testing` has one that asks a problem).

No code of the package is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any


@dataclass(frozen=True)
class Truth:
    """The outcome of brute force: the best value (None if there is no candidate) and all candidates that reach it."""

    best: Fraction | None
    optima: set[tuple[Any, ...]]


def blocks(*limits: int, size: int = 10) -> list[range]:
    """Return ``range(*limits)`` in blocks of `size` numbers, so that one test can run a block of seeds."""
    every = range(*limits)
    return [every[begin : begin + size] for begin in range(0, len(every), size)]


def every_set(size: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield every set of the numbers below `size`, or those of at most `most` numbers, by size, then by numbers."""
    for chosen in range(min(size, size if most is None else most) + 1):
        yield from combinations(range(size), chosen)


def best_of(
    candidates: Iterable[tuple[Any, ...]], value: Callable[[tuple[Any, ...]], Fraction], *, least: bool = False
) -> Truth:
    """Return the greatest (or least) value of all candidates, and those that reach it."""
    best: Fraction | None = None
    optima: set[tuple[Any, ...]] = set()
    for candidate in candidates:
        worth = value(candidate)
        if best is None or (worth < best if least else worth > best):
            best, optima = worth, set()
        if worth == best:
            optima.add(candidate)
    return Truth(best, optima)
