"""The arrays of one depth-first search: made from a core and an order, kept while the kernel comes and goes."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

import numpy as np

from optsum.coverage.instance import IntArray
from optsum.system.compiled import njit

from ..search import Search
from ..store import NodeStore
from ..tables import fill_reach, losses, random_words, segment_ends
from .bound import best_counts, fee_term, grain_of, net, profits, suffix_table
from .core import Core
from .kernel import FeeTables, Tables, Units, run_search


@njit(cache=True)
def _prepare(order, core, grain):
    """Bring the units into search order and make every table of the kernel."""
    ids, lengths, mass, start, feature, count, table_start, table, price, paid, base, low, high, scale = core
    fee_start, fee, fee_count, fee_share, fee_weight, fee_step = paid
    n, m = len(order), len(price)
    new_start = np.zeros(n + 1, np.int64)
    for d in range(n):
        new_start[d + 1] = new_start[d] + start[order[d] + 1] - start[order[d]]
    new_feature = np.empty(new_start[n], np.int64)
    new_count = np.empty(new_start[n], np.int64)
    left = np.zeros(m, np.int64)
    for d in range(n):
        at = new_start[d]
        for k in range(start[order[d]], start[order[d] + 1]):
            new_feature[at] = feature[k]
            new_count[at] = count[k]
            left[feature[k]] += count[k]
            at += 1
    fees = len(fee_weight)
    new_fee_start = np.zeros(n + 1, np.int64)
    for d in range(n):
        new_fee_start[d + 1] = new_fee_start[d] + fee_start[order[d] + 1] - fee_start[order[d]]
    new_fee = np.empty(new_fee_start[n], np.int64)
    new_fee_count = np.empty(new_fee_start[n], np.int64)
    new_fee_share = np.empty(new_fee_start[n], np.int64)
    fee_left = np.zeros(fees, np.int64)
    fee_open = np.zeros(fees, np.int64)
    for d in range(n):
        at = new_fee_start[d]
        for k in range(fee_start[order[d]], fee_start[order[d] + 1]):
            new_fee[at] = fee[k]
            new_fee_count[at] = fee_count[k]
            new_fee_share[at] = fee_share[k]
            fee_left[fee[k]] += fee_count[k]
            fee_open[fee[k]] += fee_share[k]
            at += 1
    new_ids, new_lengths, new_mass = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for d in range(n):
        new_ids[d] = ids[order[d]]
        new_lengths[d] = lengths[order[d]]
        new_mass[d] = mass[order[d]]
    profit = profits(new_mass, new_start, new_feature, new_count, price, scale, new_fee_start, new_fee_share)
    best = best_counts(table_start, table, price, scale)
    slack = base * scale
    for f in range(m):
        slack += net(table_start, table, price, scale, f, min(best[f], left[f]))
    for g in range(fees):
        slack += fee_term(fee_weight[g], fee_step[g], scale, np.int64(0), np.int64(0), fee_open[g])
    K = suffix_table(new_lengths, profit, low, high, grain)
    reach = fill_reach(new_lengths, high) if grain == 1 and low <= 0 else np.zeros((0, 0), np.int32)
    frame = np.zeros((n + 1, 6), np.int64)
    frame[0, 0] = high
    frame[0, 1] = slack
    frame[0, 2] = base
    words = random_words(len(table), np.int64(1))
    fee_words = random_words(fees, np.int64(2**40))
    worst = losses(new_mass, new_fee_start, new_fee_count, new_fee, fee_weight, fee_step)
    ends = segment_ends(table_start, table)
    units = Units(new_ids, new_lengths, new_mass, profit, new_start, new_feature, new_count, worst, K, reach)
    tables = Tables(table_start, table, price, best, words, ends, np.zeros(m, np.int64), left)
    found = FeeTables(
        new_fee_start,
        new_fee,
        new_fee_count,
        new_fee_share,
        fee_weight,
        fee_step,
        fee_words,
        np.zeros(fees, np.int64),
        fee_left,
        np.zeros(fees, np.int64),
        fee_open,
    )
    return units, tables, found, frame


def search_of(core: Core, order: IntArray, target: int, store: NodeStore, first_only: bool) -> Search:
    """Make a resumable search for sets of at least a value, or for the first of them (`Operations`)."""
    grain = grain_of(core)
    units, tables, fees, frame = _prepare(order, core.plain, grain)
    way = frame, np.zeros((core.size + 1, 4), np.uint64), np.zeros(core.size + 1, np.int8)
    limits = (core.scale, core.low, core.high, grain)
    return Search(run_search, (units, tables, fees, limits, target, first_only), store, units.ids, way)
