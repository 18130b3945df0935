"""From counted rows to features and their gains."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit

FIRST_ROW, DIFFERENT, ONCE, FIRST_HELD = range(4)  # Columns of what describes a cover.


@njit(cache=True)
def features_of(begin: Any, found: Any, copies: Any, covers: Any, held: Any, weights: Any, units: Any) -> Any:
    """Let n-grams be features, numbered cover by cover in the order in which the units have them.

    `begin`, `found`, `copies`: as `optsum.metrics.gram_kernels.counted` returns them. `covers` (covers + 1, 4): of each
    cover the first row of its metric, how many n-grams there are, what each n-gram gains, once, if that is positive,
    and where its references begin in `held`; in the last row, where they end. `held`, `weights`: the gain of a copy is
    the summed weights of the references that hold the n-gram at least that often. `units`: rows of the units, as each
    metric numbers them. The result: as `optsum.coverage.instance.Coverage` has them; without steps beyond all copies
    that the units have. `features` (covers,): how many each has.
    """
    many = len(covers) - 1
    entries, grams = 0, 0
    for cover in range(many):
        first = covers[cover, FIRST_ROW]
        grams += covers[cover, DIFFERENT]
        for row in units:
            entries += begin[first + row + 1] - begin[first + row]
    unit_start = np.zeros(len(units) + 1, np.int64)
    unit_feature = np.empty(entries, np.int64)
    unit_count = np.empty(entries, np.int64)
    level_start = np.zeros(grams + 1, np.int64)
    features = np.zeros(many, np.int64)
    number = np.full(grams, -1, np.int64)  # the feature of each n-gram, at first among those of its cover
    gram_of = np.empty(grams, np.int64)  # of each feature, those of a cover where its n-grams are
    available = np.zeros(grams, np.int64)
    most = np.zeros(grams, np.int64)  # copies of an n-gram that gain something
    ends = np.empty((len(units), many), np.int64)
    offset = 0
    for cover in range(many):
        different = covers[cover, DIFFERENT]
        _count_copies(begin, found, copies, covers, cover, held, most[offset : offset + different])
        offset += different
    filled = 0
    for unit in range(len(units)):
        offset = 0
        for cover in range(many):
            row = covers[cover, FIRST_ROW] + units[unit]
            for entry in range(begin[row], begin[row + 1]):
                gram = offset + found[entry]
                if most[gram] == 0:
                    continue
                if number[gram] < 0:
                    number[gram] = features[cover]
                    gram_of[offset + features[cover]] = gram
                    features[cover] += 1
                available[gram] += copies[entry]
                unit_feature[filled], unit_count[filled] = number[gram], copies[entry]
                filled += 1
            ends[unit, cover] = filled
            offset += covers[cover, DIFFERENT]
        unit_start[unit + 1] = filled
    done, offset = 0, 0
    for cover in range(many):
        for gram in gram_of[offset : offset + features[cover]]:
            number[gram] = done
            level_start[done + 1] = level_start[done] + 1 + min(most[gram], available[gram])
            done += 1
        offset += covers[cover, DIFFERENT]
    entry = 0
    for unit in range(len(units)):
        before = 0
        for cover in range(many):
            while entry < ends[unit, cover]:
                unit_feature[entry] += before
                entry += 1
            before += features[cover]
    level = _levels(begin, found, copies, covers, held, weights, number, level_start[: done + 1])
    return unit_start, unit_feature[:filled], unit_count[:filled], level_start[: done + 1], level, features


@njit(cache=True)
def _count_copies(begin, found, copies, covers, cover, held, most):
    """Write down how many copies of each n-gram gain something."""
    if covers[cover, ONCE] > 0:
        for gram in range(len(most)):
            most[gram] = 1
        return
    for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
        row = covers[cover, FIRST_ROW] + held[place]
        for entry in range(begin[row], begin[row + 1]):
            most[found[entry]] = max(most[found[entry]], copies[entry])


@njit(cache=True)
def _levels(begin, found, copies, covers, held, weights, number, level_start):
    """Return the gain tables: first what each copy gains, then what all up to it do."""
    level = np.zeros(level_start[-1], np.int64)
    offset = 0
    for cover in range(len(covers) - 1):
        once = covers[cover, ONCE]
        for gram in range(offset, offset + covers[cover, DIFFERENT]):
            if once > 0 and number[gram] >= 0:
                level[level_start[number[gram]] + 1] = once
        for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
            row = covers[cover, FIRST_ROW] + held[place]
            for entry in range(begin[row], begin[row + 1]):
                one = number[offset + found[entry]]
                if one >= 0:
                    last = min(level_start[one] + copies[entry], level_start[one + 1] - 1)
                    for copy in range(level_start[one] + 1, last + 1):
                        level[copy] += weights[place]
        offset += covers[cover, DIFFERENT]
    for one in range(len(level_start) - 1):
        for copy in range(level_start[one] + 2, level_start[one + 1]):
            level[copy] += level[copy - 1]
    return level
