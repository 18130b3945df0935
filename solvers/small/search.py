"""One optimum of an instance of which selections have few units, if that is soon found."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from operator import add
from typing import Final, NamedTuple

import numpy as np

from optsum.contracts.run import Stopped
from optsum.coverage.ceilings import arrays_of_ceilings
from optsum.coverage.facility import Facility
from optsum.coverage.instance import Combination, Coverage, IntArray, Sense
from optsum.coverage.state import fits, kernel_array

from ..exhaustive.two_halves.values import INTEGER, RATIO, SUM
from .kernel import advance
from .walk import BOTTOM, DONE, HELD, NODES, TOP, WORK, Fixed, Walk, laid_out

__all__ = ["Found", "search_small"]

_ROOM: Final = 1_000_000
"""Numbers that the nodes on the way may hold together."""

_STRIDE: Final = 2_000
"""Nodes after which somebody is asked whether to go on."""

_WORK: Final = {INTEGER: 80_000, RATIO: 300_000, SUM: 12_000_000}
"""Steps of some nanoseconds after which other searches are the better ones."""

_LINEAR_WORK: Final = 650_000
"""The same for sums of recalls."""

_FEW_UNITS: Final = (80, 80, 80, 80, 80, 25, 8, 3)
"""So many times the work for other sums where no more units than the place says fit: others take seconds there."""

_SLICE: Final = 200_000
"""Steps after which somebody is asked, too, as nodes of many units take long."""

_BOUNDS: Final = 4
"""So many bounds of the first node must be worth the work."""

_LARGEST: Final = 2**61
"""Sums beyond it are not for 64 bits."""

_SORTED: Final = 64
"""So many units the first node sorts by itself."""

_DEEPEST: Final = 30
"""So many units are too many for recall, whose other search is quick."""


class Found(NamedTuple):
    """What a search found.

    Attributes
    ----------
    selection : sorted units, or None
    key : Fraction
        Its value, as values are compared.
    done : bool
        Whether nothing is better.
    nodes : int
    stopped : Stopped or None
        Why it was not gone on with.
    """

    selection: tuple[int, ...] | None
    key: Fraction
    done: bool
    nodes: int
    stopped: Stopped | None


def search_small(
    instance: Coverage, check: Callable[[], object], node_limit: int | None = None, *, work: int | None = None
) -> Found | None:
    """Search an instance; None if it is not served here.

    Parameters
    ----------
    instance : Coverage
    check : callable
        Called now and then; it may raise `Stopped`.
    node_limit : int, optional
        Nodes to be made at most.
    work : int, optional
        Steps to be made, more or less; as many as are worth it if not given.
    """
    if not _serves(instance):
        return None
    integer, units = instance.constant_denominator, instance.size
    totals = 1 if integer else len(instance.constants)
    kind = INTEGER if integer else RATIO if totals == 2 else SUM
    varies = not integer and bool(np.count_nonzero(instance.slot & 1) or np.count_nonzero(instance.mass[1::2]))
    ends = 2 if varies and totals == 4 else 1
    limited = work is not None
    if work is None:
        work = _LINEAR_WORK if kind == SUM and not varies else _WORK[kind]
    if (varies and totals > 4) or _BOUNDS * units * (2 + 3 * ends * max(1, totals // 2)) > work:
        return None  # before lengths are sorted, of which there may be many
    lengths = kernel_array(instance.lengths)
    ascending = np.sort(lengths)
    depths = 2 + int(ascending.cumsum().searchsorted(instance.max_length, "right"))  # of the shortest so many fit
    if depths * units * (totals + 5) > _ROOM or (integer and depths > _DEEPEST):
        return None
    if not limited and kind == SUM and varies and depths - 2 < len(_FEW_UNITS):
        work *= _FEW_UNITS[depths - 2]
    entries = kernel_array(instance.unit_start), kernel_array(instance.unit_feature), kernel_array(instance.unit_count)
    tables = kernel_array(instance.level_start), kernel_array(instance.level), kernel_array(instance.slot)
    gains, least = np.empty((depths, totals, units), np.int64), np.empty((totals, units), np.int64)
    column_start, column_unit, column_copies, added = laid_out(
        lengths, *entries, *tables, kernel_array(instance.mass), gains[0], least
    )
    constants, (*reach, all_together) = instance.constants[:totals], added.tolist()
    if all_together >= _LARGEST:  # in floating point, because whole numbers of kernels wrap
        return None
    if not _fit(instance, constants.tolist(), reach) and not fits(instance):
        return None
    if not integer and min(map(add, constants[1::2].tolist(), reach[1::2])) <= 0:
        return None  # a ratio over nothing whatever is chosen: no node would have a bound
    limits = (min(instance.min_length, _LARGEST), min(instance.max_length, _LARGEST))
    rules = np.array([*limits, kind, not varies, bool(instance.ceilings)], np.int64)
    shares = instance.weights if kind == SUM else (1,)
    weights = np.array(shares, np.int64)
    ceilings = arrays_of_ceilings(instance.ceilings, units, totals)
    fixed = Fixed(rules, lengths, *entries, *tables, weights, column_start, column_unit, column_copies, least, ceilings)
    walk = _start(depths, gains, len(instance.slot), ends)
    walk.units[0], walk.totals[:, 0] = _densest(lengths, gains[0]), constants
    scalars, nodes, stopped = walk.scalars, 0, None
    while not scalars[DONE] and scalars[WORK] < work and nodes != node_limit and stopped is None:
        stride = _STRIDE if node_limit is None else min(_STRIDE, node_limit - nodes)
        advance(fixed, walk, stride, min(work, int(scalars[WORK]) + _SLICE))
        nodes = int(scalars[NODES])
        try:
            check()
        except Stopped as reason:
            stopped = reason
    selection = tuple(sorted(walk.best[1 : walk.best[0] + 1].tolist())) if scalars[HELD] else None
    bottom = int(instance.constants[1]) if integer else int(scalars[BOTTOM]) * sum(shares)
    return Found(selection, Fraction(int(scalars[TOP]), max(1, bottom)), bool(scalars[DONE]), nodes, stopped)


def _densest(lengths: IntArray, gains: IntArray) -> IntArray:
    """Return the units in about the order in which the first node tries them, which sorts few by itself."""
    if len(lengths) <= _SORTED:
        return np.arange(len(lengths))
    return np.argsort(-gains[0::2].sum(axis=0) / np.maximum(lengths, 0.5), kind="stable")


def _serves(instance: Coverage) -> bool:
    """Whether the bound holds for an instance: its value, and what decides it."""
    return (
        instance.goal is Sense.MAXIMIZE
        and instance.combination in {Combination.RATIO, Combination.SUM}
        and instance.singletons
        and not instance.rows
        and not isinstance(instance, Facility)
        and max(instance.weights) < _ROOM
    )


def _fit(instance: Coverage, constants: list[int], added: list[float]) -> bool:
    """Whether 64 bits hold the products of two values, even if each unit added what it is worth by itself.

    A quick test, of which `fits` is the exact one.
    """
    reach = [1.0 + abs(constant) + more for constant, more in zip(constants, added, strict=True)]
    bottoms = prod(reach[1::2])
    return sum(instance.weights) * max(reach[0::2]) * bottoms * bottoms < _LARGEST


def _start(depths: int, gains: IntArray, features: int, ends: int) -> Walk:
    """Return a walk of which nothing is filled in but what each unit adds to the first node."""
    _, totals, units = gains.shape
    return Walk(
        units=np.empty((depths, units), np.int64),
        place=np.zeros((4, depths), np.int64),
        totals=np.zeros((totals, depths), np.int64),
        gains=gains,
        copies=np.zeros(features, np.int64),
        rest=np.empty((depths, ends, units + 1)),
        reduced=np.empty((depths, ends, units)),
        base=np.zeros((depths, ends)),
        margin=np.zeros(depths),
        best=np.zeros(depths + 1, np.int64),
        path=np.zeros(depths, np.int64),
        held=np.zeros((totals, 1), np.int64),
        seen=np.zeros((totals, 1), np.int64),
        scalars=np.zeros(9, np.int64),
    )
