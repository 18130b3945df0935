"""The order in which units are decided, and where a search is split."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from .bound import evaluated
from .core import Core
from .program import widths

_WHOLE: Final = 0.02
"""What a unit that the relaxation has all or nothing of counts for, beside one of which it has half."""

_CLOSE: Final = 24
"""Trees that joints tie together stay together if they have no more units than this."""


@njit(cache=True)
def _weights(core):
    """Weigh each unit by how loose the bound is while it is undecided, as a number <= 0; `branching_order` says how."""
    _ids, lengths, mass, start, feature, count, table_start, table, price, costs, _base, _low, _high, scale, ties = core
    cost_start, cost, cost_count, cost_share, cost_weight, _cost_step = costs
    parent, need_joint, need_unit, _vj, veto_unit, _ru, _rs, _rp, _row, _joint = ties
    n, m = len(lengths), len(price)
    copies = np.zeros(m, np.int64)
    for k in range(len(feature)):
        copies[feature[k]] += count[k]
    weight = np.zeros(m, np.float64)
    margin = scale // 100
    for f in range(m):
        if price[f] > margin and price[f] < table[table_start[f] + 1] * scale - margin:
            weight[f] = np.sqrt(price[f] / scale) / copies[f] ** 0.75
    shared = np.zeros(len(cost_weight), np.float64)
    holders = np.zeros(len(cost_weight), np.int64)
    for k in range(len(cost)):
        shared[cost[k]] += cost_share[k]
        holders[cost[k]] += cost_count[k]
    for g in range(len(cost_weight)):
        if shared[g] > margin:
            shared[g] = np.sqrt(shared[g] / scale) / holders[g] ** 0.75
        else:
            shared[g] = 0.0
    out = np.empty(len(mass), np.float64)
    for i in range(len(mass)):
        total = 0.05
        for k in range(cost_start[i], cost_start[i + 1]):
            total += shared[cost[k]] * cost_count[k]
        for k in range(start[i], start[i + 1]):
            total += weight[feature[k]] * count[k]
        out[i] = total
    if len(parent):
        # Units that touch nothing can wait: their weight is 0.
        touched = np.zeros(n, np.bool_)
        for k in range(len(need_unit)):
            touched[need_unit[k]] = True
            out[need_unit[k]] += out[n + need_joint[k]]
        for k in range(len(veto_unit)):
            touched[veto_unit[k]] = True
        for i in range(n):
            idle = start[i] == start[i + 1] and cost_start[i] == cost_start[i + 1] and mass[i] == 0
            if idle and not touched[i]:
                out[i] = 0.0
    for i in range(n):
        out[i] *= -np.sqrt(max(lengths[i], 1))
    return out[:n]


@njit(cache=True)
def _trees(weight, parent, ties):
    """Return the trees' roots and least weights, the groups of trees that share joints, and their sizes and weights."""
    need_joint, need_unit, veto_joint, veto_unit, joints = ties
    n = len(parent)
    tree = np.empty(n, np.int64)
    heaviest = np.zeros(n, np.float64)
    for i in range(n):
        tree[i] = i if parent[i] < 0 else tree[parent[i]]
        heaviest[tree[i]] = min(heaviest[tree[i]], weight[i])
    group = np.arange(n)
    first = np.full(joints, -1, np.int64)
    for k in range(len(need_unit) + len(veto_unit)):
        if k < len(need_unit):
            o, t = need_joint[k], tree[need_unit[k]]
        else:
            o, t = veto_joint[k - len(need_unit)], tree[veto_unit[k - len(need_unit)]]
        if first[o] < 0:
            first[o] = t
        a, b = first[o], t
        while group[a] != a:
            group[a] = group[group[a]]
            a = group[a]
        while group[b] != b:
            group[b] = group[group[b]]
            b = group[b]
        if a != b:
            group[max(a, b)] = min(a, b)
    total = np.zeros(n, np.int64)
    top = np.zeros(n, np.float64)
    root = np.empty(n, np.int64)
    for i in range(n):
        a = tree[i]
        while group[a] != a:
            a = group[a]
        root[i] = a
        total[a] += 1
        top[a] = min(top[a], heaviest[tree[i]])
    return tree, heaviest, root, total, top


def branching_order(core: Core) -> tuple[IntArray, int]:
    """Return the units in the order of decision, and the unit to branch on if the core is split.

    Those come first that make the bound of the rest tight soonest. The Lagrangian bound is loose on features whose
    price lies strictly between nothing and the gain of the first copy: they are paid for in part whatever happens. Long
    units that hold many copies of such features come first. A copy weighs the more the dearer and rarer its feature is,
    ``sqrt(price) / copies^(3/4)``, and the sum is multiplied by the root of the length: exponents found by trial on the
    hardest real instances, where this order needs an eighth of the time of "length times fractionality of the
    relaxation". Costs that are shared among several units count as such features, and joints count with the units that
    they need.

    Where units are tied, trees follow one another, the heaviest first, each with its parents first. Small groups of
    trees that share joints stay together, so that joints are decided soon.
    """
    weights = _weights(core.plain)
    if not core.tied:
        order = np.argsort(weights, kind="stable")
        return order, int(order[0]) if core.size else -1
    ties = core.ties
    tree, heaviest, root, total, top = _trees(weights, ties.parent, (*ties[1:5], core.joints))
    close = total[root] <= _CLOSE
    first = np.where(close, top[root], heaviest[tree])
    group = np.where(close, root, tree)
    order = np.lexsort((np.arange(core.size), tree, heaviest[tree], group, first))
    return order.astype(np.int64), int(np.argmin(weights)) if core.size else -1


def halving_unit(core: Core, values: NDArray[np.float64]) -> int:
    """Return the unit to branch on where relaxations follow, which have so much of each unit now.

    Where both halves are bounded afresh, a unit that is in or out already changes one bound alone: weights count as
    far as a unit is neither. On topics of 700 sentences this needs half the relaxations of the first unit in the order
    of decision; trying what the bounds of eight such units become needs 15 % fewer still, and takes twice the time.
    """
    apart = np.minimum(values, 1.0 - values)
    return int(np.argmin(_weights(core.plain) * (np.maximum(apart, 0.0) + _WHOLE)))


def is_flat(core: Core) -> bool:
    """Return whether no unit is worth more than it pays for, so that the bound is the same for every length.

    If everything that can be gained fits into the summary with room to spare, copies have no price: the bound cuts what
    misses a gain and nothing else, and new multipliers for subtrees would say the same. Prices that see the length help
    (`relaxation.Session.squeezed`), and so does merging, which the `frontier_order` is for.
    """
    return not (evaluated(core.plain)[1] > 0).any()


def frontier_order(core: Core) -> IntArray:
    """Return the units, tree by tree; each tree is the one that opens the fewest features, less those that it closes.

    A feature is open while some of the trees that hold it are decided and some are not.
    """
    n, ties = core.size, core.ties
    tree = np.arange(n)
    for unit in range(n):
        if ties.parent[unit] >= 0:
            tree[unit] = tree[ties.parent[unit]]
    item_tree = np.concatenate([tree, np.full(core.joints, -1)])
    item_tree[n + ties.need_joint] = tree[ties.need_unit]
    item_tree[n + ties.veto_joint] = tree[ties.veto_unit]  # a joint of several trees counts with one of them
    features = len(core.price)
    held: dict[int, set[int]] = {int(root): set() for root in np.flatnonzero(ties.parent < 0)}
    for start, feature, shift in ((core.start, core.feature, 0), (core.costs.start, core.costs.cost, features)):
        for root, each in zip(np.repeat(item_tree, widths(start)).tolist(), (feature + shift).tolist(), strict=True):
            held[root].add(each)
    holders = np.zeros(features + len(core.costs.weight), np.int64)
    for each in held.values():
        holders[list(each)] += 1
    waiting = holders.copy()
    place: dict[int, int] = {}
    while held:
        cost = {}
        for root, features_of in held.items():
            opened = sum(waiting[f] == holders[f] > 1 for f in features_of)
            closed = sum(waiting[f] == 1 < holders[f] for f in features_of)
            cost[root] = (opened - closed, opened, root)
        root = min(held, key=lambda one: cost[one])
        place[root] = len(place)
        for f in held.pop(root):
            waiting[f] -= 1
    return np.lexsort((np.arange(n), np.array([place[root] for root in tree.tolist()], np.int64))).astype(np.int64)
