r"""Kernels over the sets of a diagram: the value of every set, irredundant sets, and diverse sets.

A set S is *irredundant* if dropping any unit u that may be dropped (no chosen unit needs it, and all limits are kept
without it) makes the value worse: :math:`f(S - u) < f(S)` if f is maximized. Among optima of a monotone f, the
irredundant sets are those that contain no other optimum (`optsum.optima.diagram.minimal_sets`); in a near-optimal
family, they include the sets that contain no other set of the family.

Diverse sets are found one by one, each by one pass over the diagram. With k chosen sets, of which :math:`c_u` contain
the unit u, the summed symmetric difference between a set S and all of them is
:math:`\sum_u c_u + \sum_{u \in S} (k - 2 c_u)`: linear in S. So the set with the largest distance is found exactly by
dynamic programming over the diagram, ``best[x] = max(best[without], best[with] + k - 2 c_u)``, for any number of sets.
This greedy choice gives at least half of the largest summed distance of k sets of the family (Birnbaum and Goldman
2009: the symmetric difference is a metric). The sets with the largest distance may have been chosen already, so every
node keeps up to one more path than there are chosen sets.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import Coverage, Facility, IntArray, Sense, key_of, pack, score
from optsum.coverage.state import COVER, LENGTH, MISSING, Arrays, arrays_of, empty_state, flip, true_totals, value_pair
from optsum.errors import UnsupportedError
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.system.clock import NEVER
from optsum.system.compiled import njit


@njit(cache=True)
def _go_on(nodes, way, stage, depth):
    """Go one step in the order of `Diagram.__iter__`; return the depth and the unit added or dropped (-1: none)."""
    x = way[depth]
    if x <= 1 or stage[depth] == 2:
        return depth - 1, -1
    stage[depth] += 1
    way[depth + 1] = nodes[x, 2] if stage[depth] == 1 else nodes[x, 1]
    stage[depth + 1] = 0
    return depth + 1, nodes[x, 0]


@njit(cache=True)
def _walk(arrays, state, nodes, way, stage, at, found, rows):
    """Write the totals and the length of the next `rows` sets into `found`; `at`: the current depth and row."""
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


_ROWS: Final = 2_000  # Sets between two calls of `check`.


def totals_of_sets(arrays: Arrays, diagram: Diagram, check: Callable[[], object] = NEVER.check) -> IntArray:
    """Return totals and length of each set (sets, totals + 1), in the diagram's order; `check` may raise to stop."""
    found = np.empty((diagram.count, len(arrays.constants) + 1), np.int64)
    way, stage = np.empty(len(diagram.nodes) + 1, np.int64), np.zeros(len(diagram.nodes) + 1, np.int8)
    way[0], at, state = diagram.root, np.zeros(2, np.int64), empty_state(arrays)
    while at[0] >= 0:
        _walk(arrays, state, diagram.nodes, way, stage, at, found, _ROWS)
        check()
    return found


def chosen_sets(diagram: Diagram, wanted: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    return [units for units, marked in zip(diagram, wanted.tolist(), strict=True) if marked]


@dataclass(frozen=True, eq=False, slots=True)
class Worth:
    """The values of the sets of a diagram."""

    keys: list[Fraction]  # The distinct values, as exact fractions, the best first.
    which: IntArray  # (sets,): the index in `keys` of each set's value, in the diagram's order.


def worth_of_sets(instance: Coverage, diagram: Diagram) -> Worth:
    """Return the exact value of every set; it takes about 100 bytes and one microsecond for each set."""
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
    depth = np.int64(0)  # a literal 0 would make numba compile `_go_on` once more, for another type
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
    held = np.zeros(1 + int(diagram.nodes[:, 0].max(initial=0)))
    _weigh(diagram.nodes, diagram.root, len(diagram.nodes), weights, held)
    return {int(unit): float(held[unit]) for unit in np.flatnonzero(held)}


def step_of(instance: Coverage) -> Fraction | None:
    """Return the greatest common divisor of all gains (of lengths when minimizing); None for varying denominators."""
    if instance.goal is Sense.MINIMIZE:
        return Fraction(int(np.gcd.reduce(instance.lengths, initial=0)) or 1)
    if not instance.constant_denominator:
        return None
    try:
        # The first level of a feature is 0, so levels have the same common divisor as the differences between them.
        common = int(np.gcd(np.gcd.reduce(instance.level, initial=0), np.gcd.reduce(instance.mass[0], initial=0)))
    except UnsupportedError:  # too many levels; the common divisor of the gains of tokens is one of all gains
        if not isinstance(instance, Facility):
            raise
        common = int(np.gcd.reduce(instance.importance * np.gcd.reduce(instance.similar, axis=1), initial=0))
    return Fraction(common or 1, int(instance.constants[1]))


def power_of(instance: Coverage) -> int:
    """Return the power of the objective that is compared: 1 unless a geometric mean is compared without its root."""
    return instance.combination.power(instance.weights) if instance.goal is Sense.MAXIMIZE else 1


LISTED: Final = 100_000  # Up to this number of sets, every set is tested; of more, only a sample.
DRAWS: Final = 1_000  # Sets in a sample: the standard error of a share is then at most .016.


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the sets of a family that have a property."""

    share: float
    # 0 if every set was tested; otherwise the true share is within two standard errors with about 95 % probability.
    standard_error: float


@njit(cache=True)
def _irredundant(arrays, state, units):
    """Return whether the set in `state`, with the given units, is irredundant; the state is restored."""
    top, bottom = value_pair(arrays, state)
    for at in range(len(units)):
        unit = units[at]
        needed = False
        for other in units:
            needed = needed or arrays.parents[other] == unit
        if needed:
            continue
        flip(arrays, state, unit)
        may_go = state.scalars[LENGTH] >= arrays.min_length
        if arrays.kind == COVER or arrays.ruled == 1:
            may_go = may_go and state.scalars[MISSING] == 0
        less, of = value_pair(arrays, state)
        flip(arrays, state, unit)
        if may_go and less * bottom >= top * of:
            return False
    return True


@njit(cache=True)
def _mark(arrays, state, start, units, found):
    for row in range(len(found)):
        chosen = units[start[row] : start[row + 1]]
        for unit in chosen:
            flip(arrays, state, unit)
        found[row] = _irredundant(arrays, state, chosen)
        for unit in chosen:
            flip(arrays, state, unit)


def is_irredundant(instance: Coverage, sets: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    arrays = arrays_of(instance)
    found = np.zeros(len(sets), np.bool_)
    if arrays is None:  # products beyond 64 bits
        return np.array([_plainly(instance, tuple(chosen)) for chosen in sets], np.bool_)
    _mark(arrays, empty_state(arrays), *pack(sets), found)
    return found


def _plainly(instance: Coverage, chosen: tuple[int, ...]) -> bool:
    key = key_of(instance, *score(instance, chosen)[:2])
    for unit in chosen:
        totals, length, violation = score(instance, [other for other in chosen if other != unit])
        if not violation and not instance.goal.better(key, key_of(instance, totals, length)):
            return False
    return True


def irredundant_share(instance: Coverage, diagram: Diagram, seed: int = 0) -> Share:
    """Return the share of irredundant sets of a family: exact up to `LISTED` sets, otherwise an estimate."""
    every = diagram.count <= LISTED
    share = float(is_irredundant(instance, list(diagram) if every else drawn(diagram, DRAWS, seed)).mean())
    return Share(share, 0.0 if every else sqrt(share * (1 - share) / DRAWS))


def drawn(diagram: Diagram, draws: int, seed: int) -> list[list[int]]:
    counts, nodes = diagram.counts, diagram.nodes
    chance = np.array([0.0, 0.0, *(counts[with_] / counts[x] for x, (_, _, with_) in enumerate(diagram.rows[2:], 2))])
    rng = np.random.default_rng(seed)
    at: IntArray = np.full(draws, diagram.root, np.int64)
    found: list[list[int]] = [[] for _ in range(draws)]
    while len(walking := np.flatnonzero(at > 1)):
        here = at[walking]
        taken = rng.random(len(walking)) < chance[here]
        for row, unit in zip(walking[taken].tolist(), nodes[here[taken], 0].tolist(), strict=True):
            found[row].append(unit)
        at[walking] = np.where(taken, nodes[here, 2], nodes[here, 1])
    return found


@njit(cache=True)
def _best_ways(nodes, root, weights, rank):
    """Return the `rank` heaviest paths from each node to node 1, as three arrays.

    Node 1 is the end. The arrays are the weight (nodes, rank), the first step (nodes, rank), and the number of paths
    (nodes,). Step i < rank leaves the unit out and goes on with path i; step rank + j takes it and goes on with path j.
    """
    value = np.zeros((root + 1, rank), np.int64)
    step = np.zeros((root + 1, rank), np.int32)
    number = np.zeros(root + 1, np.int64)
    number[1] = 1
    for x in range(2, root + 1):
        weight, lacking, having = weights[nodes[x, 0]], nodes[x, 1], nodes[x, 2]
        i = j = 0
        while number[x] < rank and (i < number[lacking] or j < number[having]):
            at = number[x]
            if j < number[having] and (i >= number[lacking] or value[having, j] + weight >= value[lacking, i]):
                value[x, at] = value[having, j] + weight
                step[x, at] = rank + j
                j += 1
            else:
                value[x, at] = value[lacking, i]
                step[x, at] = i
                i += 1
            number[x] = at + 1
    return value, step, number


def far_apart(diagram: Diagram, k: int, first: tuple[int, ...] | None = None) -> list[tuple[int, ...]]:
    """Return up to `k` sets, beginning with `first`, each with the largest summed distance to those before it."""
    if k < 1 or diagram.root == EMPTY_FAMILY:
        return []
    chosen = [tuple(sorted(first)) if first is not None else next(iter(diagram))]
    if diagram.count <= k:
        return _all_of(list(diagram), chosen[0])
    held = np.zeros(1 + int(diagram.nodes[:, 0].max(initial=0)), np.int64)
    while len(chosen) < k:
        held[list(chosen[-1])] += 1
        chosen.append(_farthest(diagram, set(chosen), len(chosen) - 2 * held))
    return chosen


def _all_of(sets: list[tuple[int, ...]], first: tuple[int, ...]) -> list[tuple[int, ...]]:
    holds = np.zeros((len(sets), 1 + max(map(max, filter(None, sets)), default=0)), np.float32)
    for row, units in zip(holds, sets, strict=True):
        row[list(units)] = 1
    sizes, far = holds.sum(axis=1), np.zeros(len(sets))
    found = [sets.index(first)]
    while len(found) < len(sets):
        last = found[-1]
        far += sizes + sizes[last] - 2 * (holds @ holds[last])
        far[last] = -np.inf  # stays so when distances are added
        found.append(int(np.argmax(far)))
    return [sets[number] for number in found]


def _farthest(diagram: Diagram, chosen: Collection[tuple[int, ...]], weights: IntArray) -> tuple[int, ...]:
    """Return the heaviest set that is not chosen yet; there must be one."""
    rank = 1
    while True:  # usually the heaviest set is not chosen yet, so one path for each node is enough
        _, step, number = _best_ways(diagram.nodes, diagram.root, weights, rank)
        for first in range(int(number[diagram.root])):
            node, place, units = diagram.root, first, []
            while node != EMPTY_SET:
                unit, without, with_ = diagram.rows[node]
                taken, place = divmod(int(step[node, place]), rank)
                node = with_ if taken else without
                units += [unit] * taken
            if (found := tuple(sorted(units))) not in chosen:
                return found
        rank = min(4 * rank, len(chosen) + 1)
