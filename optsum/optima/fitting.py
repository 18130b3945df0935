"""Selections whose summed length lies in a window, by dynamic programming over the lengths."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_BITS = 2**31  # Of the table: beyond it (256 MB) nothing is tried.


def fit(lengths: Sequence[int], kept: Sequence[int], others: Sequence[int], low: int, high: int) -> list[int] | None:
    """Return a selection with ``low <= summed length <= high`` that keeps as many units as possible, if there is one.

    Units are decided one after the other, those of `kept` first: one of `kept` stays, and one of `others` stays out,
    wherever the units that follow can still reach the window.

    `kept`, `others`: units, in the order in which they are decided. The result: none if no selection of these units
    fits, or the table would be too large (units times `high`).
    """
    order = [*kept, *others]
    high = min(high, sum(lengths[unit] for unit in order))
    if low > high or (len(order) + 1) * (high + 1) > _MOST_BITS:
        return None
    within = (1 << (high + 1)) - 1
    reach = [1]  # bit s: the units not yet in the table can add up to s
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
        take = can_end(longer, decided) if decided <= len(kept) else not can_end(length, decided)
        if take:
            chosen.append(unit)
            length = longer
    return chosen
