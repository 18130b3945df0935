"""A `Coverage` as arrays for numba kernels, and the one operation that all of them share: flip a unit.

`Arrays` is the constant part; `State` is one selection. A flip takes time proportional to the unit's entries and
updates every derived quantity:

* ``copies[f]``: active copies of feature f;
* ``totals[s]``: numerator or denominator of a ratio, gains included;
* ``lacking[o]``, ``blocked[o]``: the numbers of needed units that are not chosen and of vetoing units that are chosen;
  occurrence o is active when both are 0. Seams (`optsum.coverage.instance.Joint.seam`) are not included: every pair of
  units may have one, vetoed by all units between, so a flip looks for the chosen neighbours of its unit instead;
* ``scalars``: summed length, number of chosen units, and the violation: missing copies of features (covers only) plus
  the excess of each row (side constraint), which is represented by one more feature whose levels are the excess.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias, cast

import numpy as np

from optsum.coverage.ceilings import NO_CEILINGS, CeilingArrays, arrays_of_ceilings, correct
from optsum.coverage.instance import Combination, Coverage, IntArray, Row, Sense, kernel_array, pack
from optsum.system.compiled import njit
from optsum.whole import LARGEST

LENGTH, CHOSEN, MISSING = 0, 1, 2

RATIO, SUM, PRODUCT, COVER, HARMONIC, INTEGER = range(6)
"""Ways in which totals make one value. `COVER`: the length is minimized; `INTEGER`: the first total is the value."""

KINDS: Final = dict(zip(Combination, (RATIO, SUM, PRODUCT, HARMONIC), strict=True))


class Arrays(NamedTuple):
    """Arrays of an instance for kernels, all int64; `optsum.coverage.instance.Coverage` explains the first thirteen."""

    lengths: IntArray
    unit_start: IntArray
    unit_feature: IntArray
    unit_count: IntArray
    level_start: IntArray
    level: IntArray
    slot: IntArray
    # (2 * ratios,): as in the instance, except that a constant denominator is 1: it decides no comparison, and would
    # only make products large.
    constants: IntArray
    mass: IntArray
    weights: IntArray
    parents: IntArray
    min_length: int
    max_length: int
    kind: int  # How the totals make one value: `KINDS`, or `COVER`.
    ruled: int  # 1 if there are side constraints, whose features come last and have the slot after the last total.
    # joint_feature, joint_count, joint_needs: (joints,): feature, copies and number of needed units of each occurrence
    # of several units that is no seam.
    joint_feature: IntArray
    joint_count: IntArray
    joint_needs: IntArray
    # need_start, need_joint, veto_start, veto_joint: (units + 1,), (entries,): the joints that need each unit, and the
    # joints that it vetoes.
    need_start: IntArray
    need_joint: IntArray
    veto_start: IntArray
    veto_joint: IntArray
    # seam_start, seam_second, seam_feature, seam_count: (units + 1,), (seams,): the seams that begin with each unit, by
    # their second unit, ascending.
    seam_start: IntArray
    seam_second: IntArray
    seam_feature: IntArray
    seam_count: IntArray
    bounded: int  # 1 if there are ceilings: a state's totals are then upper bounds, and `true_totals` are exact.
    ceilings: CeilingArrays


class State(NamedTuple):
    """One selection and the quantities derived from it, which the module describes."""

    chosen: IntArray
    copies: IntArray
    totals: IntArray
    lacking: IntArray
    blocked: IntArray
    scalars: IntArray


_MOST_SUMS: Final = 10_000_000  # Largest number of possible sums of all side constraints, which are listed: 80 MB.


def arrays_of(instance: Coverage, *, totals_only: bool = False) -> Arrays | None:
    """Return the arrays of an instance; None if a product might not fit int64, or side constraints have too many sums.

    `totals_only`: always return arrays, without side constraints, from which totals but not values can be computed.
    """
    wide = sum(row.total - row.least for row in instance.rows) > _MOST_SUMS
    if not totals_only and (wide or not fits(instance)):
        return None
    needs: list[list[int]] = [[] for _ in range(instance.size)]
    vetoes: list[list[int]] = [[] for _ in range(instance.size)]
    joints = [joint for joint in instance.joints if not joint.seam]
    for number, joint in enumerate(joints):
        for unit in joint.needs:
            needs[unit].append(number)
        for unit in joint.vetoes:
            vetoes[unit].append(number)
    parents = instance.parents if len(instance.parents) else np.full(instance.size, -1)
    covering = instance.goal is Sense.MINIMIZE
    alone = instance.constant_denominator and not totals_only
    constants = [instance.constants[0], 1] if alone else instance.constants
    limits = (0, int(instance.lengths.sum())) if covering else (int(instance.min_length), int(instance.max_length))
    rows, bounded = () if totals_only else instance.rows, bool(instance.ceilings)
    return Arrays(
        kernel_array(instance.lengths),
        *_features(instance, rows),
        kernel_array(constants),
        kernel_array(instance.mass),
        kernel_array([min(weight, LARGEST) for weight in instance.weights]),  # larger ones: only with `totals_only`
        kernel_array(parents),
        *limits,
        COVER if covering else KINDS[instance.combination],
        int(bool(rows)),
        kernel_array([joint.feature for joint in joints]),
        kernel_array([joint.count for joint in joints]),
        kernel_array([len(joint.needs) for joint in joints]),
        *pack(needs),
        *pack(vetoes),
        *_seams(instance),
        int(bounded),
        arrays_of_ceilings(instance.ceilings, instance.size, len(instance.constants)) if bounded else NO_CEILINGS,
    )


def _excesses(row: Row) -> IntArray:
    """Return the excess of a row for each possible sum of its coefficients, from the least sum to the largest."""
    sums = np.arange(row.least, row.total + 1)
    return np.maximum(0, np.maximum(row.low - sums, 0 if row.high is None else sums - row.high))


_Features: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]


def _features(instance: Coverage, rows: Sequence[Row]) -> _Features:
    """Return entries, levels and slots of an instance with one more feature for each row (side constraint).

    Its levels are the excess of the row. Its copies are the sum of the row minus the least sum, which may be negative.
    """
    starts, features, counts = instance.unit_start, instance.unit_feature, instance.unit_count
    level_starts, levels, slots = instance.level_start, instance.level, instance.slot
    if rows:
        units = range(instance.size)
        holders = [dict(zip(row.units, row.coefficients, strict=True)) for row in rows]
        owned = [[(number, held[unit]) for number, held in enumerate(holders) if unit in held] for unit in units]
        at = np.repeat(starts[1:], list(map(len, owned)))
        more = list(map(_excesses, rows))
        more_starts, more_levels = np.cumsum([0, *map(len, more)]), np.concatenate(more)
        starts = starts + np.cumsum([0, *map(len, owned)])
        features = np.insert(features, at, [instance.features + number for row in owned for number, _ in row])
        counts = np.insert(counts, at, [count for row in owned for _, count in row])
        level_starts, levels = np.append(level_starts, more_starts[1:] + len(levels)), np.append(levels, more_levels)
        slots = np.append(slots, np.full(len(rows), len(instance.constants)))
    arrays = map(kernel_array, (starts, features, counts, level_starts, levels, slots))
    return cast("_Features", tuple(arrays))


def _seams(instance: Coverage) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    rows = [(*joint.needs, joint.feature, joint.count) for joint in instance.joints if joint.seam]
    table = np.array(sorted(rows), np.int64).reshape(-1, 4)
    start = np.searchsorted(table[:, 0], np.arange(instance.size + 1))
    return kernel_array(start), table[:, 1].copy(), table[:, 2].copy(), table[:, 3].copy()


def fits(instance: Coverage) -> bool:
    """Return whether all products of a numerator and a denominator in comparisons stay below 2^62."""
    full = instance.level[instance.level_start[1:] - 1].astype(np.float64)
    reach = instance.constants + instance.mass.sum(axis=1, dtype=np.float64)
    reach += np.bincount(instance.slot, weights=full, minlength=len(reach))
    largest = [max(1, int(total) + 1) for total in reach]
    if instance.goal is Sense.MINIMIZE or instance.constant_denominator:
        return largest[0] < LARGEST
    return prod(instance.combination.largest(largest[0::2], largest[1::2], instance.weights)) < LARGEST


def empty_state(arrays: Arrays) -> State:
    full = np.diff(arrays.level_start) - 1
    ruling = arrays.slot == len(arrays.constants)
    copies = np.zeros(len(arrays.slot), np.int64)
    np.subtract.at(copies, arrays.unit_feature, np.minimum(arrays.unit_count, 0))
    missing = arrays.level[(arrays.level_start[:-1] + copies)[ruling]].sum()
    missing += full[~ruling].sum() if arrays.kind == COVER else 0
    return State(
        np.zeros(len(arrays.lengths), np.int64),
        copies,
        arrays.constants.copy(),
        arrays.joint_needs.copy(),
        np.zeros(len(arrays.joint_feature), np.int64),
        np.array([0, 0, missing], np.int64),
    )


@njit(cache=True)
def feed(arrays: Any, state: Any, feature: int, added: int) -> None:
    start = arrays.level_start[feature]
    full = arrays.level_start[feature + 1] - 1 - start
    old = min(state.copies[feature], full)
    state.copies[feature] += added
    new = min(state.copies[feature], full)
    if new != old:
        change = arrays.level[start + new] - arrays.level[start + old]
        if arrays.slot[feature] == len(state.totals):
            state.scalars[MISSING] += change
            return
        state.totals[arrays.slot[feature]] += change
        if arrays.kind == COVER:
            state.scalars[MISSING] -= new - old


@njit(cache=True)
def seams_between(seam_start, seam_second, first, second):
    """Return begin and end of the entries of seams (`Joint.seam`) that join two units; 0, 0 if either is outside."""
    if first < 0 or second + 1 >= len(seam_start):
        return np.int64(0), np.int64(0)
    low, high = seam_start[first], seam_start[first + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if seam_second[middle] < second:
            low = middle + 1
        else:
            high = middle
    high = low
    while high < end and seam_second[high] == second:
        high += 1
    return low, high


@njit(cache=True)
def _feed_seams(arrays: Any, state: Any, first: int, second: int, sign: int) -> None:
    """Add (`sign` 1) or remove (-1) the copies of the seams that join two units (`Joint.seam`)."""
    begin, end = seams_between(arrays.seam_start, arrays.seam_second, first, second)
    for entry in range(begin, end):
        feed(arrays, state, arrays.seam_feature[entry], sign * arrays.seam_count[entry])


@njit(cache=True)
def _mend_seams(arrays: Any, state: Any, unit: int, sign: int) -> None:
    """Add (`sign` 1) or remove (-1) the seams of a unit with its chosen neighbours, and the opposite between these."""
    before, after = unit - 1, unit + 1
    while before >= 0 and state.chosen[before] == 0:
        before -= 1
    while after < len(state.chosen) and state.chosen[after] == 0:
        after += 1
    if before >= 0:
        _feed_seams(arrays, state, before, unit, sign)
        if after < len(state.chosen):
            _feed_seams(arrays, state, before, after, -sign)
    if after < len(state.chosen):
        _feed_seams(arrays, state, unit, after, sign)


@njit(cache=True)
def flip(arrays: Any, state: Any, unit: int) -> None:
    """Choose a unit, or drop it if it is chosen."""
    sign = 1 - 2 * state.chosen[unit]
    for entry in range(arrays.unit_start[unit], arrays.unit_start[unit + 1]):
        feed(arrays, state, arrays.unit_feature[entry], sign * arrays.unit_count[entry])
    for entry in range(arrays.need_start[unit], arrays.need_start[unit + 1]):
        joint = arrays.need_joint[entry]
        was = state.lacking[joint] == 0
        state.lacking[joint] -= sign
        if state.blocked[joint] == 0 and was != (state.lacking[joint] == 0):
            feed(arrays, state, arrays.joint_feature[joint], sign * arrays.joint_count[joint])
    for entry in range(arrays.veto_start[unit], arrays.veto_start[unit + 1]):
        joint = arrays.veto_joint[entry]
        was = state.blocked[joint] == 0
        state.blocked[joint] += sign
        if state.lacking[joint] == 0 and was != (state.blocked[joint] == 0):
            feed(arrays, state, arrays.joint_feature[joint], -sign * arrays.joint_count[joint])
    if len(arrays.seam_second) > 0:
        _mend_seams(arrays, state, unit, sign)
    for total in range(len(state.totals)):
        state.totals[total] += sign * arrays.mass[total, unit]
    state.chosen[unit] += sign
    state.scalars[LENGTH] += sign * arrays.lengths[unit]
    state.scalars[CHOSEN] += sign


@njit(cache=True)
def true_totals(arrays: Any, state: Any) -> Any:
    """Return the true totals of a state; with ceilings, in a buffer that the next call overwrites."""
    if not arrays.bounded:
        return state.totals
    count = np.int64(0)  # for a literal, numba would compile `correct` a second time
    for unit in range(len(state.chosen)):
        if state.chosen[unit]:
            arrays.ceilings.units[count] = unit
            count += 1
    for total in range(len(state.totals)):
        arrays.ceilings.totals[total] = state.totals[total]
    correct(arrays.ceilings, count, arrays.ceilings.totals)
    return arrays.ceilings.totals


@njit(cache=True)
def pair_at(combination: int, weights: Any, totals: Any, place: int) -> Any:
    """Return numerator and denominator of a value, from column `place` of totals; a geometric mean without its root."""
    if combination == INTEGER:
        return totals[0, place], np.int64(1)
    if combination == HARMONIC:
        product, turned = np.int64(1), np.int64(0)
        for ratio in range(len(weights)):
            top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
            if bottom <= 0 or top <= 0:
                return np.int64(0), np.int64(1)
            turned = turned * top + weights[ratio] * bottom * product
            product *= top
        return product, turned
    numerator, denominator = np.int64(combination == PRODUCT), np.int64(1)
    for ratio in range(len(weights)):
        top, bottom = totals[2 * ratio, place], totals[2 * ratio + 1, place]
        if combination == PRODUCT:
            if bottom <= 0:
                return np.int64(0), np.int64(1)
            for _ in range(weights[ratio]):
                numerator *= top
                denominator *= bottom
        elif bottom > 0:
            numerator = numerator * bottom + weights[ratio] * top * denominator
            denominator *= bottom
    return numerator, denominator


@njit(cache=True)
def value_pair(arrays: Any, state: Any) -> Any:
    """Return the objective as numerator and denominator; larger is better (a minimized length is negated)."""
    if arrays.kind == COVER:
        return -state.scalars[LENGTH], np.int64(1)
    totals = true_totals(arrays, state)
    if arrays.kind == RATIO:
        return (totals[0], totals[1]) if totals[1] > 0 else (np.int64(0), np.int64(1))
    return pair_at(arrays.kind, arrays.weights, totals[:, None], np.int64(0))
