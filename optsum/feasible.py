"""How many extracts there are: the left column of Table 7 of Hirao et al. 2017."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["count_feasible"]


def count_feasible(lengths: Iterable[int], min_length: int, max_length: int) -> int:
    """Count the non-empty sets of units whose total length lies within the limits.

    Dynamic programming over the totals: with g(c) sets of total c so far, one more unit of length l makes
    g(c) + g(c - l). All g(c) lie side by side in one long integer, in fields wide enough for any count, so that a
    unit is one shift and one addition.

    Parameters
    ----------
    lengths : lengths of the units, >= 0
    min_length, max_length : int, in the same unit, both included

    Returns
    -------
    int
        Exact, of any size; the empty set is not counted.

    Examples
    --------
    >>> count_feasible([2, 3, 4], 0, 5)
    4
    """
    units = [int(length) for length in lengths if length <= max_length]
    high = min(int(max_length), sum(units))
    low = max(int(min_length), 0)
    if high < low:
        return 0
    width = len(units) + 1
    cut = (1 << (width * (high + 1))) - 1
    totals = 1
    for length in units:
        totals = (totals + (totals << (width * length))) & cut
    field = (1 << width) - 1
    count = sum((totals >> (width * c)) & field for c in range(low, high + 1))
    return count - (1 if low == 0 else 0)
