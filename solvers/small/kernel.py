"""Depth-first search over the units of an instance whose selections have few: the first of a node's units first."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.coverage.ceiling_kernel import correct
from optsum.system.compiled import njit

from ..exhaustive.two_halves.values import pair_at
from .bound import bound, least_of
from .walk import (
    AGE,
    BEGUN,
    BOTTOM,
    BOUNDED,
    BOUNDED_ABOVE,
    COUNT,
    DEPTH,
    DONE,
    HELD,
    KIND,
    LEAST,
    LENGTH,
    MOST,
    NEXT,
    NODES,
    TOP,
    WORK,
)


@njit(cache=True)
def _hold(fixed, walk, depth):
    """Hold the node against the incumbent, exactly."""
    scalars, kind, weights = walk.scalars, fixed.rules[KIND], fixed.weights
    top, bottom = pair_at(kind, weights, walk.totals, depth)
    for total in range(len(walk.totals)):
        walk.seen[total, 0] = walk.totals[total, depth]
    if fixed.rules[BOUNDED_ABOVE]:
        if scalars[HELD] and top * scalars[BOTTOM] - scalars[TOP] * bottom <= 0:
            return
        units = fixed.ceilings.units
        for number in range(depth):  # ascending
            unit, place = walk.path[number], number
            while place > 0 and units[place - 1] > unit:
                units[place] = units[place - 1]
                place -= 1
            units[place] = unit
        correct(fixed.ceilings, depth, walk.seen[:, 0])
        top, bottom = pair_at(kind, weights, walk.seen, np.int64(0))
    if scalars[HELD] and top * scalars[BOTTOM] - scalars[TOP] * bottom <= 0:
        return
    scalars[HELD], scalars[TOP], scalars[BOTTOM] = 1, top, bottom
    scalars[AGE] += 1
    walk.best[0] = depth
    for number in range(depth):
        walk.best[number + 1] = walk.path[number]
    for total in range(len(walk.totals)):
        walk.held[total, 0] = walk.seen[total, 0]


@njit(cache=True)
def _descend(fixed, walk, depth, number):
    """Let a unit join a node: make the node below, with the units after it that still fit."""
    unit = walk.units[depth, number]
    below = depth + 1
    length = walk.place[LENGTH, depth] + fixed.lengths[unit]
    walk.path[depth] = unit
    walk.place[LENGTH, below], walk.place[NEXT, below] = length, 0
    totals = len(walk.totals)
    for total in range(totals):
        walk.totals[total, below] = walk.totals[total, depth] + walk.gains[depth, total, unit]
    kept = 0
    for later in range(number + 1, walk.place[COUNT, depth]):
        other = walk.units[depth, later]
        if length + fixed.lengths[other] <= fixed.rules[MOST]:
            walk.units[below, kept] = other
            kept += 1
            for total in range(totals):
                walk.gains[below, total, other] = walk.gains[depth, total, other]
    walk.place[COUNT, below] = kept
    for entry in range(fixed.start[unit], fixed.start[unit + 1]):
        one = fixed.feature[entry]
        first, last = fixed.level_start[one], fixed.level_start[one + 1] - 1
        before = walk.copies[one]
        after = before + fixed.copies[entry]
        walk.copies[one] = after
        was, now = min(first + before, last), min(first + after, last)
        if was < last and kept:
            walk.scalars[WORK] += fixed.column_start[one + 1] - fixed.column_start[one]
            total = fixed.slot[one]
            if last - first == 1:  # most features count once, and lose all with their first copy
                lost = fixed.level[last] - fixed.level[first]
                for place in range(fixed.column_start[one], fixed.column_start[one + 1]):
                    walk.gains[below, total, fixed.column_unit[place]] -= lost
                continue
            for place in range(fixed.column_start[one], fixed.column_start[one + 1]):
                more = fixed.column_copies[place]
                gained = fixed.level[min(first + after + more, last)] - fixed.level[now]
                walk.gains[below, total, fixed.column_unit[place]] += (
                    gained - fixed.level[min(first + before + more, last)] + fixed.level[was]
                )
    walk.scalars[WORK] += kept * totals + fixed.start[unit + 1] - fixed.start[unit]


@njit(cache=True)
def _begin(fixed, walk):
    """Make the node without units, of those that are written there; they are about in the order that is tried."""
    kept = 0
    for number in range(walk.units.shape[1]):
        unit = walk.units[0, number]
        if fixed.lengths[unit] <= fixed.rules[MOST]:
            walk.units[0, kept] = unit
            kept += 1
    walk.place[COUNT, 0], walk.place[BOUNDED, 0], walk.scalars[BEGUN] = kept, -1, 1
    if fixed.rules[LEAST] <= 0:
        _hold(fixed, walk, np.int64(0))


@njit(cache=True)
def advance(fixed: Any, walk: Any, nodes: int, work: int) -> None:
    """Go on until so many more nodes are made, or so much work is done in all, or everything is searched.

    At first the walk holds, of the node without units, the totals and the units that may join it.
    """
    if not walk.scalars[BEGUN]:
        _begin(fixed, walk)
    low = fixed.rules[LEAST]
    scalars, place, base = walk.scalars, walk.place, walk.base
    depth, until = scalars[DEPTH], scalars[NODES] + nodes
    while scalars[NODES] < until and scalars[WORK] < work:
        number, count = place[NEXT, depth], place[COUNT, depth]
        if number < count and place[BOUNDED, depth] != scalars[AGE]:
            bound(fixed, walk, depth)
        least = least_of(fixed, walk) - walk.margin[depth]
        promising, goes_on = False, False
        if number < count:
            for end in range(walk.rest.shape[1]):
                others = base[depth, end] + walk.rest[depth, end, number + 1]
                promising = promising or others + walk.reduced[depth, end, number] >= least
                goes_on = goes_on or others >= least
            goes_on = goes_on or promising
        if not goes_on:
            if depth == 0:
                scalars[DONE] = 1
                break
            depth -= 1
            unit = walk.path[depth]
            for entry in range(fixed.start[unit], fixed.start[unit + 1]):
                walk.copies[fixed.feature[entry]] -= fixed.copies[entry]
            continue
        place[NEXT, depth] = number + 1
        if promising:
            _descend(fixed, walk, depth, number)
            depth += 1
            place[BOUNDED, depth] = -1
            scalars[NODES] += 1
            if place[LENGTH, depth] >= low:
                _hold(fixed, walk, depth)
    scalars[DEPTH] = depth
