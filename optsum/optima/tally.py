"""Compute the value of every set of a diagram, millions of them, one flip after another."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.evaluate import key_of
from optsum.coverage.instance import Coverage, IntArray, Sense
from optsum.coverage.state import LENGTH, Arrays, arrays_of, empty_state, flip, true_totals
from optsum.optima.diagram import Diagram
from optsum.system.clock import NEVER
from optsum.system.compiled import njit


@njit(cache=True)
def _go_on(nodes, way, stage, depth):
    """Advance one step in the order of `Diagram.__iter__`; a set is complete if ``way[depth]`` is 1.

    Returns the depth (negative at the end) and the unit that this step adds or drops (-1 if none).
    """
    x = way[depth]
    if x <= 1 or stage[depth] == 2:
        return depth - 1, -1
    stage[depth] += 1
    way[depth + 1] = nodes[x, 2] if stage[depth] == 1 else nodes[x, 1]
    stage[depth + 1] = 0
    return depth + 1, nodes[x, 0]


@njit(cache=True)
def _walk(arrays, state, nodes, way, stage, at, found, rows):
    """Write the totals and the length of the next `rows` sets; `at`: the current depth and row."""
    depth, row = at[0], at[1]
    last = row + rows
    while depth >= 0 and row < last:
        if way[depth] == 1:
            found[row, :-1] = true_totals(arrays, state)
            found[row, -1] = state.scalars[LENGTH]
            row += 1
        depth, unit = _go_on(nodes, way, stage, depth)
        if unit >= 0:
            flip(arrays, state, unit)
    at[0], at[1] = depth, row


_ROWS: Final = 2_000  # Sets after which somebody is asked whether to go on.


def totals_of_sets(arrays: Arrays, diagram: Diagram, check: Callable[[], object] = NEVER.check) -> IntArray:
    """Return totals and length of every set, in the diagram's order; `check` is called regularly and may raise."""
    found = np.empty((diagram.count, len(arrays.constants) + 1), np.int64)
    way, stage = np.empty(len(diagram.nodes) + 1, np.int64), np.zeros(len(diagram.nodes) + 1, np.int8)
    way[0], at, state = diagram.root, np.zeros(2, np.int64), empty_state(arrays)
    while at[0] >= 0:
        _walk(arrays, state, diagram.nodes, way, stage, at, found, _ROWS)
        check()
    return found


def chosen_sets(diagram: Diagram, wanted: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return the marked sets of a diagram, in its order."""
    return [units for units, marked in zip(diagram, wanted.tolist(), strict=True) if marked]


@dataclass(frozen=True, eq=False, slots=True)
class Worth:
    """The values of the sets of a diagram."""

    keys: list[Fraction]  # The different values as they are compared, the best first.
    which: IntArray  # (sets,): the place of each set's value among them, in the diagram's order.


def worth_of_sets(instance: Coverage, diagram: Diagram) -> Worth:
    """Return the exact value of every set; takes about 100 bytes and a microsecond for each."""
    arrays = arrays_of(instance, totals_only=True)
    assert arrays is not None  # noqa: S101 - totals always fit
    found = totals_of_sets(arrays, diagram)
    shortest = instance.goal is Sense.MINIMIZE
    if shortest or instance.constant_denominator:
        numbers, where = np.unique(found[:, -1] if shortest else found[:, 0], return_inverse=True)
        bottom = 1 if shortest else int(instance.constants[1])
        keys = [Fraction(number, bottom) for number in numbers.tolist()]
    else:
        rows, where = np.unique(found[:, :-1], axis=0, return_inverse=True)
        keys = [key_of(instance, tuple(row), 0) for row in rows.tolist()]
    ordered = sorted(set(keys), reverse=not shortest)
    place = {key: number for number, key in enumerate(ordered)}
    return Worth(ordered, np.array([place[key] for key in keys], np.int64)[where.reshape(-1)])


@njit(cache=True)
def _weigh(nodes, root, longest, weights, held):
    way = np.empty(longest + 1, np.int64)
    stage = np.zeros(longest + 1, np.int8)
    depth = np.int64(0)  # no literal, which would be a type of its own for what is called with it
    way[0] = root
    row = 0
    while depth >= 0:
        if way[depth] == 1:
            for above in range(depth):
                if stage[above] == 1:
                    held[nodes[way[above], 0]] += weights[row]
            row += 1
        depth, _ = _go_on(nodes, way, stage, depth)


def weights_of_units(diagram: Diagram, weights: NDArray[np.float64]) -> dict[int, float]:
    """Return the summed weight of the sets that contain each unit that occurs; weights in the diagram's order."""
    held = np.zeros(1 + int(diagram.nodes[:, 0].max(initial=0)))
    _weigh(diagram.nodes, diagram.root, len(diagram.nodes), weights, held)
    return {int(unit): float(held[unit]) for unit in np.flatnonzero(held)}


def step_of(instance: Coverage) -> Fraction | None:
    """Return the least difference of two different values if they are integers; None for ratios."""
    if instance.goal is Sense.MINIMIZE:
        return Fraction(int(np.gcd.reduce(instance.lengths, initial=0)) or 1)
    if not instance.constant_denominator:
        return None
    # A feature's first level is 0, so the levels themselves have the divisor of the steps between them.
    common = int(np.gcd(np.gcd.reduce(instance.level, initial=0), np.gcd.reduce(instance.mass[0], initial=0)))
    return Fraction(common or 1, int(instance.constants[1]))


def power_of(instance: Coverage) -> int:
    """Return the power of the objective that is compared: a geometric mean is compared without its root."""
    return instance.combination.power(instance.weights) if instance.goal is Sense.MAXIMIZE else 1
