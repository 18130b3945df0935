r"""Diverse sets of a family, each found by one pass over the diagram.

With k chosen sets, of which :math:`c_u` contain the unit u, the summed symmetric difference between a set S and all of
them is :math:`\sum_u c_u + \sum_{u \in S} (k - 2 c_u)`: linear in S. So the set with the largest distance is found
exactly by dynamic programming over the diagram, ``best[x] = max(best[without], best[with] + k - 2 c_u)``, for any
number of sets. This greedy choice gives at least half of the largest summed distance of k sets of the family (Birnbaum
and Goldman 2009: the symmetric difference is a metric).

The best set may have been chosen already; so every node keeps one more of the best paths than there are chosen sets.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.optima.diagram import EMPTY_FAMILY, EMPTY_SET, Diagram
from optsum.system.compiled import njit


@njit(cache=True)
def _best_ways(nodes, root, weights, rank):
    """Find the `rank` heaviest paths from every node to the end, the heaviest first.

    `value` (nodes, rank): weight of each path. `step` (nodes, rank): the path of the branch that continues it, plus
    `rank` for the branch with the unit. `number` (nodes,): the number of paths.
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
    """Return up to `k` different sets of a family, each with the largest summed distance to those before it.

    `first`: the first set, from the family; by default the first of the diagram.
    """
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
        far[last] = -np.inf  # whatever is added to it
        found.append(int(np.argmax(far)))
    return [sets[number] for number in found]


def _farthest(diagram: Diagram, chosen: Collection[tuple[int, ...]], weights: IntArray) -> tuple[int, ...]:
    """Return the heaviest set that is not chosen yet; there must be one."""
    rank = 1
    while True:  # most often the best set is new, so that keeping one way a node is enough
        _, step, number = _best_ways(diagram.nodes, diagram.root, weights, rank)
        for place in range(int(number[diagram.root])):
            found = _follow(diagram, step, rank, place)
            if found not in chosen:
                return found
        rank = min(4 * rank, len(chosen) + 1)


def _follow(diagram: Diagram, step: NDArray[np.int32], rank: int, place: int) -> tuple[int, ...]:
    node, units = diagram.root, []
    while node != EMPTY_SET:
        unit, without, with_ = diagram.rows[node]
        place = int(step[node, place])
        if place < rank:
            node = without
        else:
            units.append(unit)
            node, place = with_, place - rank
    return tuple(sorted(units))
