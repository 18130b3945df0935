"""Trying everything: the one brute force of the tests that ask no problem of the package (`optsum.testing` asks one).

Nothing of the package is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any


@dataclass(frozen=True)
class Truth:
    """What trying everything says: the best value (None: there was nothing to try) and all that reach it."""

    best: Fraction | None
    optima: set[tuple[Any, ...]]


def blocks(*limits: int, size: int = 10) -> list[range]:
    """Return ``range(*limits)`` in parts of `size` numbers: seeds of which each part is one test."""
    every = range(*limits)
    return [every[begin : begin + size] for begin in range(0, len(every), size)]


def every_set(size: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield every set of the numbers below `size`, or those of at most so many: by size, then by numbers."""
    for chosen in range(min(size, size if most is None else most) + 1):
        yield from combinations(range(size), chosen)


def best_of(
    candidates: Iterable[tuple[Any, ...]], value: Callable[[tuple[Any, ...]], Fraction], *, least: bool = False
) -> Truth:
    """Return the greatest value of all candidates, or the least, and who has it."""
    best: Fraction | None = None
    optima: set[tuple[Any, ...]] = set()
    for candidate in candidates:
        worth = value(candidate)
        if best is None or (worth < best if least else worth > best):
            best, optima = worth, set()
        if worth == best:
            optima.add(candidate)
    return Truth(best, optima)
