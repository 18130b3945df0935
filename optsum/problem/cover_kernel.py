"""From counted rows to features and their gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit


@njit(cache=True)
def features_of(
    begin: Any, found: Any, copies: Any, different: int, held: Any, weights: Any, once: int, units: Any
) -> Any:
    """Let n-grams be features, numbered in the order in which the units have them.

    Parameters
    ----------
    begin, found, copies, different
        As `optsum.metrics.gram_kernels.count_rows` returns them, and how many n-grams there are.
    held, weights : rows of references, and what a hit in each is worth
        The gain of a copy is the summed weights of the references that hold the n-gram at least that often.
    once : int
        If positive, every n-gram gains so much, once; references do not matter.
    units : rows of units

    Returns
    -------
    unit_start, unit_feature, unit_count, level_start, level
        As `optsum.coverage.instance.Coverage` has them; without steps beyond all copies that the units have.
    """
    most = np.zeros(different, np.int64)
    for row in held:
        for entry in range(begin[row], begin[row + 1]):
            most[found[entry]] = max(most[found[entry]], copies[entry])
    if once > 0:
        for gram in range(different):
            most[gram] = 1
    base = np.zeros(different + 1, np.int64)
    for gram in range(different):
        base[gram + 1] = base[gram] + most[gram]
    gain = np.full(base[different], once, np.int64)
    for number in range(len(held)):
        for entry in range(begin[held[number]], begin[held[number] + 1]):
            for copy in range(base[found[entry]], base[found[entry]] + copies[entry]):
                gain[copy] += weights[number]

    entries = 0
    for row in units:
        entries += begin[row + 1] - begin[row]
    unit_start = np.zeros(len(units) + 1, np.int64)
    unit_feature = np.empty(entries, np.int64)
    unit_count = np.empty(entries, np.int64)
    feature = np.full(different, -1, np.int64)
    gram_of = np.empty(different, np.int64)
    available = np.zeros(different, np.int64)
    features, filled = 0, 0
    for unit in range(len(units)):
        for entry in range(begin[units[unit]], begin[units[unit] + 1]):
            gram = found[entry]
            if most[gram] == 0:
                continue
            if feature[gram] < 0:
                feature[gram] = features
                gram_of[features] = gram
                features += 1
            available[gram] += copies[entry]
            unit_feature[filled] = feature[gram]
            unit_count[filled] = copies[entry]
            filled += 1
        unit_start[unit + 1] = filled
    level_start = np.zeros(features + 1, np.int64)
    for number in range(features):
        gram = gram_of[number]
        level_start[number + 1] = level_start[number] + 1 + min(most[gram], available[gram])
    level = np.zeros(level_start[features], np.int64)
    for number in range(features):
        first = base[gram_of[number]] - level_start[number] - 1
        for place in range(level_start[number] + 1, level_start[number + 1]):
            level[place] = level[place - 1] + gain[first + place]
    return unit_start, unit_feature[:filled], unit_count[:filled], level_start, level
