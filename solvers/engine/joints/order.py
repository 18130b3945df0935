"""The order in which units are decided: trees one after another, each with its parents first."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Final

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..tables import fractional_weights
from .instance.core import Core

_CLOSE: Final = 24
"""Trees that joints tie together stay together if they have no more units than this."""


@njit(cache=True)
def _weights(lengths, parent, at, scale, ties):
    need_joint, need_unit, veto_joint, veto_unit = ties
    start, feature, count, table_start, table, price, rising, _best, _left, _alone, _profit, _surplus, _slack = at
    n = len(lengths)
    weight = fractional_weights(feature, count, table_start, table, price, scale, rising)
    joint_weight = np.zeros(len(start) - 1 - n, np.float64)
    for o in range(len(joint_weight)):
        joint_weight[o] = 0.05
        for k in range(start[n + o], start[n + o + 1]):
            joint_weight[o] += weight[feature[k]] * count[k]
    out = np.full(n, 0.05)
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            out[i] += weight[feature[k]] * count[k]
    for k in range(len(need_unit)):
        out[need_unit[k]] += joint_weight[need_joint[k]]
    for i in range(n):
        out[i] *= np.sqrt(lengths[i])
    # A tree counts as much as its heaviest unit; `tree` is the root of each unit.
    tree = np.empty(n, np.int64)
    heaviest = np.zeros(n, np.float64)
    size = np.zeros(n, np.int64)
    for i in range(n):
        tree[i] = i if parent[i] < 0 else tree[parent[i]]
        heaviest[tree[i]] = max(heaviest[tree[i]], out[i])
        size[tree[i]] += 1
    # Trees that share a joint form a group.
    group = np.arange(n)
    first = np.full(len(joint_weight), -1, np.int64)
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
        top[a] = max(top[a], heaviest[tree[i]])
    return out, tree, heaviest, root, total, top


def branching_order(core: Core) -> tuple[IntArray, int]:
    """Return the units in the order of decision, and the unit to branch on if the core is split.

    Heaviest trees first: a unit weighs the more the dearer and rarer the features are that the relaxation pays for
    in part, by itself or in a joint that needs it (see `..singles.order`). Small
    groups of trees that share joints stay together, so that joints are decided soon.
    """
    out, tree, heaviest, root, total, top = _weights(core.lengths, core.parent, core.at, core.scale, core.ties)
    close = total[root] <= _CLOSE
    first = np.where(close, top[root], heaviest[tree])
    group = np.where(close, root, tree)
    order = np.lexsort((np.arange(core.size), tree, -heaviest[tree], group, -first))
    return order.astype(np.int64), int(np.argmax(out)) if core.size else -1
