"""Count the sets of units whose total length is within limits (Hirao et al. 2017, Table 7), or find one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from math import comb, inf
from typing import Final

import numpy as np

_CHEAP: Final = 200_000
_LARGEST_TABLE: Final = 20_000_000
_MOST_BITS: Final = 1_000_000_000
_WIDEST: Final = 2**31  # Bits of the largest table (256 MB) that is tried.
_FEW: Final = 10


def count_feasible(lengths: Iterable[int], min_length: int, max_length: int) -> int:
    """Count the non-empty sets of units whose total length is within the limits.

    Examples
    --------
    >>> count_feasible([2, 3, 4], 0, 5)
    4
    """
    units = [int(length) for length in lengths if length <= max_length]
    return count_feasible_forest(units, [-1] * len(units), min_length, max_length)


def count_feasible_forest(lengths: Sequence[int], parents: Sequence[int], min_length: int, max_length: int) -> int:
    """Count the non-empty sets of units within the limits that contain, with each unit, its parent if it has one.

    The method is dynamic programming over the total length. If there are g(c) sets of length c, one more unit of length
    l makes them g(c) + g(c - l). All g(c) are digits of one long integer, wide enough for any count, so adding a unit
    takes one shift and one addition. A selection of a tree is empty, or consists of its root and a selection of each
    subtree. Selections of two subtrees are combined by multiplying their integers. The parent of a root is -1.

    Examples
    --------
    >>> count_feasible_forest([2, 3, 4], [-1, 0, -1], 0, 6)
    4
    """
    high, low = min(int(max_length), sum(lengths)), max(int(min_length), 0)
    if high < low:
        return 0
    width = len(lengths) + 2
    cut = (1 << (width * (high + 1))) - 1
    children: list[list[int]] = [[] for _ in range(len(lengths) + 1)]  # at last the roots, whose parent is -1
    for unit, parent in enumerate(parents):
        children[parent].append(unit)
    order = list(children[-1])
    for unit in order:  # the list grows in the loop
        order += children[unit]
    below = [1] * len(children)
    for unit in reversed(order):
        if lengths[unit] <= high:
            others = below[parents[unit]]
            below[parents[unit]] = (others + (others * below[unit] << (width * lengths[unit]))) & cut
    # Modulo base - 1, a number is congruent to the sum of its digits, here the counts, and their sum is below base - 1.
    return (below[-1] >> (width * low)) % ((1 << width) - 1) - (low == 0)


def estimate_feasible(lengths: Iterable[int], min_length: int, max_length: int, enough: float = inf) -> float:
    """Estimate the number of non-empty sets within the limits; infinity if above `enough`, or for over 1,000 units."""
    units = [int(length) for length in lengths if length <= max_length]
    high = min(int(max_length), sum(units))
    low = max(int(min_length), 0)
    if high < low:
        return 0.0
    if (low == 0 and _at_least(units, high, enough) > enough) or len(units) > 1000:  # whose subsets still fit a float
        return inf
    if len(units) * (len(units) + high) <= _CHEAP:
        return float(count_feasible(units, low, high))
    scale = max(1.0, len(units) * high / _LARGEST_TABLE)
    size = int(high / scale) + 1
    totals = np.zeros(size)
    totals[0] = 1.0
    for length in units:
        step = round(length / scale)
        totals[step:] += totals[: size - step].copy()
    return float(totals[int(low / scale) :].sum() - (low == 0))


def _at_least(lengths: list[int], max_length: int, enough: float) -> float:
    """Return a lower bound on the number of sets from the shortest units, and stop once the bound exceeds `enough`."""
    units, found = sorted(lengths), 0.0
    for many in (len(units), len(units) // 2, len(units) // 4):
        longest = units[many - 1] if many else 0
        size = min(max_length // longest if longest else _FEW, many // 2, _FEW)
        found = max(found, float(comb(many, size) if size else 0))
        if found > enough:
            return found
    together = sum(total <= max_length for total in accumulate(units))
    return max(found, 2.0 ** min(together, 1000) - 1)


def reachable(lengths: Sequence[int], min_length: int, max_length: int) -> Callable[[int, int], bool]:
    """Return a test of (u, length): whether some non-empty set of units >= u, added to a length, is within limits."""
    n, total = len(lengths), sum(lengths)
    rest = list(accumulate(reversed(lengths), initial=0))[::-1]
    least = list(accumulate(reversed(lengths), min, initial=max_length + 1))[::-1]

    def roughly(unit: int, length: int) -> bool:
        return length + rest[unit] >= min_length and length + least[unit] <= max_length

    if n * (min(total, max_length) + 1) > _MOST_BITS:
        return roughly
    # Bit c of sums[u]: some non-empty set of the units from u on has the length c.
    sums = [0] * (n + 1)
    for unit in range(n - 1, -1, -1):
        sums[unit] = sums[unit + 1]
        if lengths[unit] <= max_length:  # shifting by a greater length would need as many bits
            sums[unit] |= sums[unit + 1] << lengths[unit] | 1 << lengths[unit]
            sums[unit] &= (2 << min(total, max_length)) - 1

    def exactly(unit: int, length: int) -> bool:
        high = max_length - length
        within = sums[unit] & ((2 << min(high, total)) - 1) if high >= 0 else 0
        return bool(within >> max(0, min_length - length))

    return exactly


def fit(lengths: Sequence[int], kept: Sequence[int], others: Sequence[int], low: int, high: int) -> list[int] | None:
    """Return units of total length `low` to `high`: each of `kept` that still fits, then others if needed; or None."""
    kept, others = ([unit for unit in units if lengths[unit] <= high] for units in (kept, others))
    order = [*kept, *others]
    high = min(high, sum(lengths[unit] for unit in order))
    if low > high or (len(order) + 1) * (high + 1) > _WIDEST:
        return None
    within = (1 << (high + 1)) - 1
    reach = [1]  # bit s of entry i, after the reversal: some of the units from place i in the order sum to s
    for unit in reversed(order):
        reach.append((reach[-1] | reach[-1] << lengths[unit]) & within)
    reach.reverse()

    def can_end(length: int, decided: int) -> bool:
        first = max(0, low - length)
        return length <= high and bool((reach[decided] & ((1 << (high - length + 1)) - 1)) >> first)

    if not can_end(0, 0):
        return None
    chosen, length = [], 0
    for decided, unit in enumerate(order, start=1):
        longer = length + lengths[unit]
        if can_end(longer, decided) if decided <= len(kept) else not can_end(length, decided):
            chosen.append(unit)
            length = longer
    return chosen
