"""Enumeration where the bound does not see the length.

If everything that can be gained fits into the summary with room to spare, copies have no price: the bound cuts what
misses a gain and nothing else, and new multipliers for subtrees would say the same. The engine first takes prices that
see the length (`..relaxation.Session.squeezed`). What helps besides is merging: the search is not split soon, and
trees that share features stand close together, so that few features are open at a time.
"""

from __future__ import annotations

import numpy as np

from optsum.coverage.instance import IntArray

from ..program import widths
from .instance.core import Core


def is_flat(core: Core) -> bool:
    """Whether no unit is worth more than it pays for, so that the bound is the same for every length."""
    return not (core.at.profit > 0).any()


def frontier_order(core: Core) -> IntArray:
    """Units, tree by tree; each tree is the one that opens the fewest features, less those that it closes.

    A feature is open while some of the trees that hold it are decided and some are not.
    """
    n, at = core.size, core.at
    tree = np.arange(n)
    for unit in range(n):
        if core.parent[unit] >= 0:
            tree[unit] = tree[core.parent[unit]]
    item_tree = np.concatenate([tree, np.full(core.joints, -1)])
    item_tree[n + core.need_joint] = tree[core.need_unit]
    item_tree[n + core.veto_joint] = tree[core.veto_unit]  # a joint of several trees counts with one of them
    held: dict[int, set[int]] = {int(root): set() for root in np.flatnonzero(core.parent < 0)}
    for root, feature in zip(np.repeat(item_tree, widths(at.start)).tolist(), at.feature.tolist(), strict=True):
        held[root].add(feature)
    holders = np.zeros(len(at.left), np.int64)
    for features in held.values():
        holders[list(features)] += 1
    waiting = holders.copy()
    place: dict[int, int] = {}
    while held:
        cost = {}
        for root, features in held.items():
            opened = sum(waiting[f] == holders[f] > 1 for f in features)
            closed = sum(waiting[f] == 1 < holders[f] for f in features)
            cost[root] = (opened - closed, opened, root)
        root = min(held, key=lambda one: cost[one])
        place[root] = len(place)
        for f in held.pop(root):
            waiting[f] -= 1
    return np.lexsort((np.arange(n), np.array([place[root] for root in tree.tolist()], np.int64))).astype(np.int64)
