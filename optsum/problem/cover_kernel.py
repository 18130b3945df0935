"""Convert counted rows to features and their gains."""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from typing import Any

import numpy as np

from optsum.system.compiled import njit

FIRST_ROW, DIFFERENT, ONCE, FIRST_HELD = range(4)  # Columns of what describes a cover.


@njit(cache=True)
def features_of(begin: Any, found: Any, copies: Any, covers: Any, held: Any, weights: Any, units: Any) -> Any:
    """Make features of n-grams, numbered cover by cover in their order in the units.

    `covers` (covers + 1, 4): for each cover the first row of its metric, the number of n-grams, the gain of each n-gram
    (counted once, if positive), and where its references begin in `held`; in the last row, where they end. `held`,
    `weights`: the gain of a copy is the summed weight of the references that contain the n-gram at least that often.
    `units`: rows of the units in each metric's numbering. The result has the arrays of
    `optsum.coverage.instance.Coverage`, without steps beyond all copies in the units.
    """
    many = len(covers) - 1
    entries, widest, possible = 0, 0, 0
    for cover in range(many):
        widest, all_held = max(widest, covers[cover, DIFFERENT]), 0
        for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
            row = covers[cover, FIRST_ROW] + held[place]
            all_held += begin[row + 1] - begin[row]
        possible += covers[cover, DIFFERENT] if covers[cover, ONCE] > 0 else min(covers[cover, DIFFERENT], all_held)
    # The numbers and copies of one cover's n-grams: those of all covers at once would be too many of many references.
    number = np.full(widest, -1, np.int64)
    most = np.zeros(widest, np.int64)  # copies of an n-gram that gain something
    available = np.zeros(widest, np.int64)
    gram_of = np.empty(possible, np.int64)  # of each feature
    level_start = np.zeros(possible + 1, np.int64)
    features = np.zeros(many, np.int64)
    place_of = np.zeros((len(units), many), np.int64)  # at first how many features of a cover a unit has
    done = 0
    for cover in range(many):
        first = done
        _count_copies(begin, found, copies, covers, cover, held, most)
        for unit in range(len(units)):
            row = covers[cover, FIRST_ROW] + units[unit]
            for entry in range(begin[row], begin[row + 1]):
                gram = found[entry]
                if most[gram] == 0:
                    continue
                if number[gram] < 0:
                    number[gram], gram_of[done] = done, gram
                    done += 1
                available[gram] += copies[entry]
                place_of[unit, cover] += 1
        features[cover] = done - first
        for one in range(first, done):
            gram = gram_of[one]
            level_start[one + 1] = level_start[one] + 1 + min(most[gram], available[gram])
            number[gram], available[gram] = -1, 0
        _forget_copies(begin, found, covers, cover, held, most)
    unit_start = np.zeros(len(units) + 1, np.int64)
    for unit in range(len(units)):
        for cover in range(many):
            entries, place_of[unit, cover] = entries + place_of[unit, cover], entries
        unit_start[unit + 1] = entries
    unit_feature = np.empty(entries, np.int64)
    unit_count = np.empty(entries, np.int64)
    level = np.zeros(level_start[done], np.int64)
    done = 0
    for cover in range(many):
        first, done = done, done + features[cover]
        for one in range(first, done):
            number[gram_of[one]] = one
        for unit in range(len(units)):
            row, place = covers[cover, FIRST_ROW] + units[unit], place_of[unit, cover]
            for entry in range(begin[row], begin[row + 1]):
                if number[found[entry]] >= 0:
                    unit_feature[place], unit_count[place] = number[found[entry]], copies[entry]
                    place += 1
        _add_gains(begin, found, copies, covers, cover, held, weights, number, level_start, level)
        for one in range(first, done):
            number[gram_of[one]] = -1
            if covers[cover, ONCE] > 0:
                level[level_start[one] + 1] = covers[cover, ONCE]
            for copy in range(level_start[one] + 2, level_start[one + 1]):
                level[copy] += level[copy - 1]
    return unit_start, unit_feature, unit_count, level_start[: done + 1], level, features


@njit(cache=True)
def _count_copies(begin, found, copies, covers, cover, held, most):
    """Write how many copies of each n-gram have a gain."""
    if covers[cover, ONCE] > 0:
        most[: covers[cover, DIFFERENT]] = 1
        return
    for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
        row = covers[cover, FIRST_ROW] + held[place]
        for entry in range(begin[row], begin[row + 1]):
            most[found[entry]] = max(most[found[entry]], copies[entry])


@njit(cache=True)
def _forget_copies(begin, found, covers, cover, held, most):
    if covers[cover, ONCE] > 0:
        most[: covers[cover, DIFFERENT]] = 0
        return
    for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
        row = covers[cover, FIRST_ROW] + held[place]
        for entry in range(begin[row], begin[row + 1]):
            most[found[entry]] = 0


@njit(cache=True)
def _add_gains(begin, found, copies, covers, cover, held, weights, number, level_start, level):
    """Add the weight of each reference of a cover to the copies of its n-grams."""
    for place in range(covers[cover, FIRST_HELD], covers[cover + 1, FIRST_HELD]):
        row = covers[cover, FIRST_ROW] + held[place]
        for entry in range(begin[row], begin[row + 1]):
            one = number[found[entry]]
            if one >= 0:
                last = min(level_start[one] + copies[entry], level_start[one + 1] - 1)
                for copy in range(level_start[one] + 1, last + 1):
                    level[copy] += weights[place]
