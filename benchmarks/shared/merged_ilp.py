"""One optimum by HiGHS: the merged ILP, passed as arrays, gap 0."""

from __future__ import annotations

import highspy
import numpy as np

from optsum.coverage.instance import Coverage


def solve_merged_ilp(instance: Coverage, time_limit: float = 60.0) -> tuple[int, bool]:
    """Maximize the gains: binary x a unit, one variable z in [0, 1] a gain step, one row an n-gram.

    N-grams that no unit has are left out. Returns the value found and whether it is proven (objectives are integer,
    so the absolute gap is 0.999).
    """
    n = instance.size
    used = np.zeros(instance.features, bool)
    used[instance.unit_feature] = True
    row_of = np.cumsum(used) - 1
    m = int(used.sum())
    steps = [
        (int(row_of[f]), gain)
        for f in np.flatnonzero(used)
        for gain in np.diff(instance.level[instance.level_start[f] : instance.level_start[f + 1]]).tolist()
    ]
    columns = n + len(steps)
    cost = np.array([0.0] * n + [gain for _, gain in steps])
    entries = len(instance.unit_feature) + n
    start = np.empty(columns + 1, np.int32)
    start[: n + 1] = instance.unit_start + np.arange(n + 1)
    start[n:] = entries + np.arange(len(steps) + 1)
    index = np.empty(entries + len(steps), np.int32)
    value = np.empty(entries + len(steps))
    own = np.ones(entries, bool)
    own[start[1 : n + 1] - 1] = False
    index[:entries][own] = row_of[instance.unit_feature]
    value[:entries][own] = instance.unit_count
    index[:entries][~own] = m
    value[:entries][~own] = instance.lengths
    index[entries:] = [row for row, _ in steps]
    value[entries:] = -1.0
    highs = highspy.Highs()
    for name, option in (
        ("output_flag", False),
        ("threads", 1),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 0.999),
        ("time_limit", time_limit),
    ):
        highs.setOptionValue(name, option)
    lower, upper = np.zeros(m + 1), np.full(m + 1, 1e30)
    lower[m], upper[m] = -1e30, instance.max_length
    ones = np.ones(columns)
    highs.passModel(
        columns, m + 1, len(index), 1, -1, 0.0, cost, np.zeros(columns), ones, lower, upper, start, index, value,
        ones.astype(np.int32),
    )  # fmt: skip
    highs.run()
    proven = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return round(highs.getInfo().objective_function_value), proven
