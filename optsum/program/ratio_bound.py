r"""Proven bounds for varying denominators (precision, F1), and for sums and products of ratios.

Dinkelbach 1967: with :math:`v(\lambda) = \max_x T(x) - \lambda D(x)`, the best ratio is the :math:`\lambda` with
:math:`v(\lambda) = 0`, and :math:`\lambda \leftarrow T(x)/D(x)` at the maximizer converges to it in a few rounds.

Sums of ratios are bounded by prices (`optsum.program.sum_bound`); a product of powers is reduced to a sum by the
weighted inequality of the arithmetic and the geometric mean, at an anchor (`anchored`). A harmonic mean is concave in
its ratios, so it is at most its tangent at any anchor. A tangent is tight only for ratios proportional to those at its
anchor, which selections of one size satisfy approximately. So the range of the one varying denominator is divided into
windows, and side constraints restrict the selections to a window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, gcd, isqrt, log, prod, sqrt
from operator import add, mul
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.greedy import climb
from optsum.coverage.instance import Coverage, Facility, IntArray, Row, gains_alone, key_of, packed_rows, score
from optsum.program.model import affordable, coverage_model, model_bound, relax, relaxed_bound, steps_of
from optsum.program.sum_bound import REACH, SumBound
from optsum.program.surrogate import DenominatorBox, Weighted, box_of, collapsed, programs, reaches
from optsum.system.clock import NEVER, Deadline, Stopped
from optsum.whole import INT64_SAFE

_FEW = 8  # Largest number of ratios whose quick bounds look at all features.
_MANY = 64  # Largest number of terms whose sum is computed as an exact fraction; sums of more are rounded up.
_GRID = 10**6  # Bounds are multiples of 1 / _GRID, and rounds end when they gain less.
MANY_JOINTS = 100  # Number of joints above which each program takes far longer than without them.
_ROUNDS = 8  # Rounds of Frank and Wolfe's method.
_CLIMBS = 2  # Greedy searches on one ratio that approximates a sum; the second uses the denominators of the first.
_WINDOWS = 5  # Number of times that the window with the largest bound of a harmonic mean is halved.


def ratio_bound(instance: Coverage, start: Fraction | None = None, deadline: Deadline = NEVER) -> Fraction:
    """Return a bound of the ratio of every selection, proven in integers.

    Newton's method on the relaxation, from `start` on, finds the bound in floating point; the multipliers of the last
    relaxation prove it (`optsum.program.model.dual_bound`).
    """
    top, bottom = instance.constants.tolist()
    guess = Fraction(top, bottom) if bottom > 0 else Fraction(0)  # the empty selection, which may be the best
    guess = guess if start is None else max(guess, start)
    if guess.denominator > _GRID:
        guess = Fraction(ceil(guess * _GRID), _GRID)
    most = reaches(instance)
    bound = max(guess, trivial_bound(instance))
    if _GRID * (guess + 1) * max(most) >= INT64_SAFE:  # the program's coefficients would not fit
        return bound
    while affordable(instance, deadline) and guess.denominator * most[0] + guess.numerator * most[1] < INT64_SAFE:
        model = coverage_model(instance, guess, relaxed=True)
        relaxation = relax(model, deadline)
        surplus = relaxed_bound(model, relaxation) + model.offset  # q T - p D is at most this
        if surplus <= 0:
            return guess
        bound = min(bound, guess + Fraction(surplus, guess.denominator * _least_denominator(instance)))
        if relaxation is None or not relaxation.optimal:
            return bound
        units = relaxation.columns[: model.units]
        steps, feature = steps_of(instance.plain)
        filled = relaxation.columns[model.columns - len(steps) :] * steps
        counted = filled[instance.plain.slot[feature] == 1].sum()
        below = float(instance.constants[1] + instance.mass[1] @ units + counted)
        # The ratio of the maximizer exceeds p / q by q T - p D, divided by q D.
        value = float(model.objective @ relaxation.columns) + model.offset
        step = value / (guess.denominator * below) if below > 0 else float(surplus)
        following = Fraction(int(np.ceil((float(guess) + step) * _GRID)), _GRID)
        if following <= guess:
            return bound
        guess = following
    return bound


def value_bound(instance: Coverage, deadline: Deadline = NEVER) -> Fraction:
    """Return a bound of the value for comparisons (`key_of`) of every selection, for any combination of ratios."""
    weights = [Fraction(weight) for weight in instance.weights]
    if instance.combination.alone:
        if len(instance.joints) > MANY_JOINTS or not affordable(instance, deadline):
            return single_bound(instance, None, deadline)
        top, bottom = score(instance, greedy_units(instance, deadline))[0]
        return single_bound(instance, Fraction(top * _GRID // bottom if bottom > 0 else 0, _GRID), deadline)
    total = sum(instance.weights)
    if instance.combination.adds:
        quick = combined_bound(instance, alone_bounds(instance, Deadline(0.0)), deadline)
        found = _sum_bound(instance, [weight / total for weight in weights], quick, deadline)
        return min(found, combined_bound(instance, alone_bounds(instance, deadline), deadline))
    alone = alone_bounds(instance, deadline)
    bound = combined_bound(instance, alone, deadline)
    if instance.combination.turns or not bound:
        return bound
    # With ratios scaled by any anchor, the geometric mean is at most the arithmetic mean.
    anchor = relaxed_anchor(instance, deadline) or [float(bound) for bound in alone]
    rounded = [Fraction(max(1, ceil(ratio * _GRID)), _GRID) for ratio in anchor]
    scaled = [weight / ratio / total for weight, ratio in zip(weights, rounded, strict=True)]
    mean = _sum_bound(instance, scaled, weighted_sum(scaled, alone), deadline)
    mean = Fraction(ceil(mean * _GRID**2), _GRID**2)
    power = prod((ratio**weight for ratio, weight in zip(rounded, instance.weights, strict=True)), start=mean**total)
    return min(bound, power)


def alone_bounds(instance: Coverage, deadline: Deadline) -> list[Fraction]:
    """Return a bound of each ratio by itself; if joints are many, each is relaxed to need only its first unit."""
    most = reaches(instance)
    if len(instance.joints) > MANY_JOINTS and (instance.constants[1::2] > 0).all():
        found = alone_bounds(_without_joints(instance), deadline)
        return [min(own, trivial_bound(instance, h, most, quick=True)) for h, own in enumerate(found)]
    return [_alone(instance, h, most, deadline) for h in range(instance.ratios)]


def _without_joints(instance: Coverage) -> Coverage:
    """Return a relaxed instance, with values at least as large, in which each joint needs only its first unit."""
    odd = instance.slot % 2 == 1
    added = [joint for joint in instance.joints if not odd[joint.feature]]  # joints in denominators only lower values
    held = packed_rows(instance.unit_start), instance.unit_feature, instance.unit_count
    more = np.array([(joint.needs[0], joint.feature, joint.count) for joint in added], np.int64).reshape(-1, 3).T
    units, features, counts = np.concatenate([held, more], axis=1)
    keys, place = np.unique(units * instance.features + features, return_inverse=True)
    copies = np.zeros(len(keys), np.int64)
    np.add.at(copies, place.reshape(-1), counts)
    starts = np.searchsorted(keys, np.arange(instance.size + 1) * instance.features)
    return replace(instance, joints=(), unit_start=starts, unit_feature=keys % instance.features, unit_count=copies)


def combined_bound(instance: Coverage, alone: Sequence[Fraction], deadline: Deadline) -> Fraction:
    """Return a bound of the value from a bound of each ratio."""
    if instance.combination.turns:
        return harmonic_bound(instance, alone, deadline)
    if instance.combination.adds:
        return weighted_sum(instance.weights, alone) / sum(instance.weights)
    return instance.combination.mean(alone, instance.weights)


def weighted_sum(weights: Iterable[Fraction | int], values: Sequence[Fraction]) -> Fraction:
    """Return a weighted sum; with many terms, it is rounded up, because its denominator might have too many digits."""
    products = [Fraction(weight) * value for weight, value in zip(weights, values, strict=True)]
    if len(values) <= _MANY:
        return sum(products, Fraction(0))
    return Fraction(sum(ceil(product * _GRID**2) for product in products), _GRID**2)


def harmonic_bound(instance: Coverage, alone: Sequence[Fraction], deadline: Deadline) -> Fraction:
    """Return an upper bound of the harmonic mean of ratios with the upper bounds `alone`; windows: see the module."""
    trivial = instance.combination.mean(alone, instance.weights)
    positive = (instance.constants[1::2] >= 0).all() and one_varies(instance)
    if not trivial or not positive or not affordable(instance, deadline):
        return trivial
    which = varying(instance)
    if any(constant == 0 for h, constant in enumerate(instance.constants[1::2].tolist()) if h != which):
        return trivial  # that ratio is always 0, and has no tangent
    if which is None:
        return min(trivial, _tangent_bound(instance, alone, None, trivial, deadline))
    most = most_of(instance, which)
    windows = [(trivial, least_of(instance, which), most)]
    for _ in range(_WINDOWS):
        bound, low, high = windows[-1]
        if low >= high or deadline.passed:  # high is 0 if no unit that adds to the denominator fits
            break
        windows.pop()
        middle = isqrt(low * high)  # the excess grows with the quotient of a window's ends
        for first, last in ((low, middle), (middle + 1, high)):
            share = sqrt(last / most)  # other ratios grow about as the square root of the size of a selection
            anchor = [ratio if h == which else ratio * Fraction(share) for h, ratio in enumerate(alone)]
            found = _tangent_bound(instance, anchor, (which, first, last), bound, deadline)
            windows.append((min(bound, found), first, last))
        windows.sort()
    return windows[-1][0]


def _tangent_bound(
    instance: Coverage,
    anchor: Sequence[Fraction],
    window: tuple[int, int, int] | None,
    known: Fraction,
    deadline: Deadline,
) -> Fraction:
    """Return the largest bound of the programs at the tangent of `anchor`, or `known` if they give no bound.

    They give none with totals near the limit of 64 bits: all multipliers of denominators may be rounded to 0, or sums
    of totals may be too large. `known`: a bound of all selections.
    """
    box = None if window is None else window_box(instance, *window)
    wish = anchored(instance, Fraction(1), [float(ratio) for ratio in anchor], box)
    within = instance if window is None else restricted(instance, *window)
    box = box_of(instance, wish) if box is None else box
    most, found = reaches(within), Fraction(0)
    try:
        for tops, bottoms in programs(within, box, wish, largest=REACH, check=deadline.check):
            top, bottom = (sum(map(mul, *pair)) for pair in ((tops, most[0::2]), (bottoms, most[1::2])))
            if not any(bottoms) or max(top, bottom) >= INT64_SAFE:
                return known
            found = max(found, single_bound(collapsed(within, tops, bottoms), found, deadline))
    except Stopped:
        return known
    return found


def _alone(instance: Coverage, h: int, most: Sequence[int], deadline: Deadline) -> Fraction:
    # Without the part that `collapsed` leaves out, a denominator may be 0, and its ratio would count as 0.
    may_be_0 = int(instance.constants[2 * h + 1]) <= 0 and not keeps_denominator(instance, h)
    if may_be_0 or not affordable(instance, deadline):
        return trivial_bound(instance, h, most, quick=deadline.passed)
    return single_bound(only(instance, h), deadline=deadline.within(deadline.left_s / (instance.ratios - h + 1)))


def keeps_denominator(instance: Coverage, h: int) -> bool:
    """Return whether `collapsed` leaves out no part of the denominator of ratio h."""
    feeds = instance.slot == 2 * h + 1
    single = (np.diff(instance.level_start)[feeds] == 2).all()
    return bool(single) and not any(feeds[joint.feature] for joint in instance.joints)


def only(instance: Coverage, h: int) -> Coverage:
    """Return an instance whose value is ratio h alone."""
    return collapsed(instance, *[[int(ratio == h) for ratio in range(instance.ratios)]] * 2)


def greedy_units(instance: Coverage, deadline: Deadline = NEVER) -> tuple[int, ...]:
    """Return a greedy selection; no units if none is found by the deadline.

    If the values of a sum of ratios do not fit into 64 bits, the selection is greedy for one ratio, without joints,
    that approximates the sum.
    """
    climbed = climb(instance, deadline)
    if climbed is not None or not instance.combination.adds or not (instance.constants[1::2] > 0).all():
        return () if climbed is None else climbed.units
    light = _without_joints(instance) if instance.joints else instance
    weights = tuple(Fraction(weight) for weight in instance.weights)
    best = Fraction(-1)
    units: tuple[int, ...] = ()
    # The first denominators are those of a selection about twice as long as a reference.
    bottoms = [constant + 2 * int(instance.constants[1::2].mean()) for constant in instance.constants[1::2].tolist()]
    for _ in range(_CLIMBS):
        here = DenominatorBox(tuple(bottoms), (-1,) * len(bottoms), (), ())
        wish = Weighted(tuple(range(len(bottoms))), weights, Fraction(1), (1.0,) * len(bottoms))
        climbed = climb(collapsed(light, *next(programs(instance, here, wish, largest=REACH))), deadline)
        if climbed is None:
            break
        totals, length, violation = score(instance, climbed.units)
        bottoms = list(totals[1::2])
        if not violation and key_of(instance, totals, length) > best:
            best, units = Fraction(key_of(instance, totals, length)), climbed.units
    return units


def single_bound(instance: Coverage, start: Fraction | None = None, deadline: Deadline = NEVER) -> Fraction:
    """Return a bound of the only ratio of an instance, whose denominator may be constant or vary."""
    if len(instance.joints) > MANY_JOINTS and not instance.constant_denominator:
        return _sum_bound(instance, [Fraction(1)], trivial_bound(instance), deadline)
    if not affordable(instance, deadline):
        return trivial_bound(instance)
    if instance.constant_denominator:
        model = coverage_model(instance, relaxed=True)
        return model.value(model_bound(model, deadline))
    if instance.single_ratio:
        return ratio_bound(instance, start, deadline)
    if int(instance.constants[1]) > 0:
        linear = collapsed(instance, [1], [1])
        if linear.constant_denominator:
            return single_bound(linear, deadline=deadline)
        return ratio_bound(linear, start, deadline)
    return trivial_bound(instance)


def trivial_bound(
    instance: Coverage, h: int = 0, most: Sequence[int] | None = None, *, quick: bool = False
) -> Fraction:
    """Return a quick bound of ratio h.

    It is the largest possible numerator, R, divided by the smallest possible denominator. If each unit, with the seam
    after it, adds to the numerator at most q times as much as to the denominator, whose constant is c, a selection that
    adds s to the denominator has a ratio of at most min(R, q s) / (c + s); `quick` skips this for a `Facility`, whose
    arrays may be large, and for features of many ratios. `most`: `reaches` of the instance, if known.
    """
    top, bottom = instance.constants[2 * h : 2 * h + 2].tolist()
    reach = (reaches(instance) if most is None else most)[2 * h]
    empty = Fraction(top, bottom) if bottom > 0 else Fraction(0)
    bound = max(empty, Fraction(reach, _least_denominator(instance, h)))
    of_units = reach == top + int((added := _besides_features(instance, 2 * h)).sum())
    is_large = isinstance(instance, Facility) or instance.ratios > _FEW
    if top or bottom < 0 or (quick and is_large and not of_units):
        return bound
    tops = (added if of_units else gains_alone(instance, 2 * h)).tolist()
    if instance.joints and not of_units:
        if (seams := _gains_of_seams(instance, 2 * h)) is None:
            return bound
        tops = list(map(add, tops, seams))
    belows = _besides_features(instance, 2 * h + 1).tolist()
    shares = [(top, below) for top, below in zip(tops, belows, strict=True) if top]
    if not shares or min(below for _, below in shares) <= 0:
        return bound
    better: Fraction = reach / (bottom + reach / max(Fraction(top, below) for top, below in shares))
    return min(bound, better)


def _gains_of_seams(instance: Coverage, total: int) -> list[int] | None:
    """Return the most that a seam after each unit adds to a total; None if other joints add to it, too."""
    slots, starts, level = instance.slot.tolist(), instance.level_start.tolist(), instance.level.tolist()
    after: dict[tuple[int, ...], int] = {}
    for joint in instance.joints:
        if slots[joint.feature] == total:
            if not joint.seam:
                return None
            last = starts[joint.feature + 1] - 1
            after[joint.needs] = after.get(joint.needs, 0) + level[min(starts[joint.feature] + joint.count, last)]
    found = [0] * instance.size
    for needs, gain in after.items():
        found[needs[0]] = max(found[needs[0]], gain)
    return found


def quick_bound(instance: Coverage) -> Fraction:
    """Return a bound of every selection's value from upper limits of the totals, without a linear program."""
    most = reaches(instance)
    alone = [trivial_bound(instance, h, most, quick=True) for h in range(instance.ratios)]
    return combined_bound(instance, alone, Deadline(0.0))


def _sum_bound(instance: Coverage, weights: Sequence[Fraction], known: Fraction, deadline: Deadline) -> Fraction:
    """Return a bound of the weighted sum of the ratios, at most `known`."""
    light = _without_joints(instance) if len(instance.joints) > MANY_JOINTS else instance
    totals, _, violation = score(instance, greedy_units(light, deadline))
    held = zip(weights, totals[0::2], totals[1::2], strict=True)
    value = Fraction(0) if violation or min(totals[1::2]) <= 0 else sum((w * t / d for w, t, d in held), Fraction(0))
    return sum_bound(instance, weights, totals, value, known, deadline)


def sum_bound(
    instance: Coverage,
    weights: Sequence[Fraction],
    totals: Sequence[int],
    enough: Fraction,
    known: Fraction,
    deadline: Deadline,
) -> Fraction:
    """Return a bound of the weighted sum of the ratios, at most `known`; it need not fall below `enough`.

    `totals`: all totals of a good selection. If a denominator may be 0, the result is `known`.
    """
    if not (instance.constants[1::2] > 0).all() or not affordable(instance, deadline):
        return known
    return SumBound(instance, weights, [max(float(top), 0.5) for top in totals[0::2]], enough).below(known, deadline)


def _least_denominator(instance: Coverage, h: int = 0) -> int:
    return max(1, int(instance.constants[2 * h + 1]) + int(_besides_features(instance, 2 * h + 1).min(initial=0)))


def _besides_features(instance: Coverage, total: int) -> IntArray:
    """Return what each unit adds to a total besides features; a `Facility` need not build its arrays for this."""
    rows: IntArray = instance.own if isinstance(instance, Facility) else instance.mass
    lacking = 2 * instance.ratios - len(rows)  # a `Facility` has only features in its first ratio
    found: IntArray = rows[total - lacking] if total >= lacking else np.zeros(instance.size, np.int64)
    return found


_STEPS: Final = 2_000  # Approximate largest limit of the side constraints of windows, after scaling.


def anchored(
    instance: Coverage, power: Fraction, anchor: Sequence[float], box: DenominatorBox | None = None
) -> Weighted:
    r"""Return an inequality that all selections with a harmonic mean V, or product of powers P, >= `power` > 0 satisfy.

    Let r > 0 be the anchor, and W the sum of the weights. A harmonic mean H is concave, so it is at most its tangent:
    :math:`H(y) \ge V` implies :math:`\sum_h (w_h / r_h^2) \, y_h \ge V (\sum_h w_h / r_h)^2 / W`. For a product, by the
    weighted inequality of the arithmetic and the geometric mean, :math:`\prod_h y_h^{w_h} \ge P` implies
    :math:`\sum_h w_h y_h / r_h \ge W (P / \prod_h r_h^{w_h})^{1 / W}`; the right side is rounded down.

    `anchor`: one positive number for each ratio, the ratios at the tangent point. `box`: where the denominators are, by
    default at their constants; the inequality holds anyway, but its programs are tight there.
    """
    total = sum(instance.weights)
    middle = instance.constants[1::2].tolist() if box is None else box.middle()
    typical = tuple(r * max(float(bottom), 1.0) for r, bottom in zip(anchor, middle, strict=True))
    if instance.combination.turns:
        near = [Fraction(max(1, round(r * 2**20)), 2**20) for r in anchor]
        turned = sum((w / r for w, r in zip(instance.weights, near, strict=True)), Fraction(0))
        weights = tuple(w / r**2 for w, r in zip(instance.weights, near, strict=True))
        return Weighted(tuple(range(instance.ratios)), weights, power * turned**2 / total, typical)
    logs = log(power.numerator) - log(power.denominator)
    logs -= sum(w * log(r) for w, r in zip(instance.weights, anchor, strict=True))
    # Logarithms have a relative error of about 1e-15; their sum is divided by the summed weights.
    slack = 1e-12 * (1.0 + abs(log(power.numerator)) + abs(log(power.denominator)) + total * 50.0) / total
    value = Fraction(total * exp(logs / total - slack)) * (1 - Fraction(1, 10**12))
    weights = tuple(w / Fraction(r) for w, r in zip(instance.weights, anchor, strict=True))
    return Weighted(tuple(range(instance.ratios)), weights, value, typical)


def relaxed_anchor(instance: Coverage, deadline: Deadline = NEVER) -> list[float]:
    """Return, as an anchor, ratios that nearly maximize the product of their powers in the linear relaxation.

    The method is Frank and Wolfe's, with a line search. The result is empty if denominators vary or are 0, or if the
    relaxation is not solved before the deadline.
    """
    if instance.mass[1::2].any() or (instance.slot % 2 == 1).any():
        return []
    bottoms = instance.constants[1::2].tolist()
    if min(bottoms) <= 0:
        return []
    here = np.array([max(top, 1) / 2.0 for top in reaches(instance)[0::2]])
    weights = np.array(instance.weights, float)
    for number in range(_ROUNDS):
        tops = [ceil(2**20 * w * max(here) / t) for w, t in zip(instance.weights, here, strict=True)]
        there = _relaxed_tops(instance, tops, deadline)
        if there is None or not (there > 0).all():
            return [t / d for t, d in zip(here.tolist(), bottoms, strict=True)] if number else []
        steps = np.linspace(0.0, 1.0, 101)[1:]
        points = here + steps[:, None] * (there - here)
        best = int(np.argmax(np.log(points) @ weights))
        if number == 0:
            here = there
        elif best == 0 and np.log(points[0]) @ weights <= np.log(here) @ weights:
            break
        else:
            here = points[best]
    return [max(t, 1e-6) / d for t, d in zip(here.tolist(), bottoms, strict=True)]


def _relaxed_tops(instance: Coverage, tops: Sequence[int], deadline: Deadline) -> NDArray[np.float64] | None:
    """Return the numerators that maximize their sum, weighted by `tops`, in the linear relaxation; None if unsolved."""
    if not affordable(instance, deadline):
        return None
    single = collapsed(instance, tops, [0] * instance.ratios)
    model = coverage_model(replace(single, constants=np.array([single.constants[0], 1])))
    relaxation = relax(model, deadline)
    if relaxation is None or not relaxation.optimal:
        return None
    steps, feature = steps_of(instance)
    at = relaxation.columns[len(relaxation.columns) - len(steps) :] * steps
    found = np.zeros(len(instance.constants))
    np.add.at(found, instance.slot[feature], at)
    found += instance.constants + instance.mass @ relaxation.columns[: instance.size]
    return found[0::2]


def one_varies(instance: Coverage) -> bool:
    """Return whether all denominators are constant, except at most one that is a sum over the units."""
    if isinstance(instance, Facility):  # without building the large arrays of all levels
        return True
    return int(instance.mass[1::2].any(axis=1).sum()) <= 1 and not (instance.slot % 2 == 1).any()


def varying(instance: Coverage) -> int | None:
    """Return the number of the ratio whose denominator varies; None if there is none."""
    found = np.flatnonzero(instance.mass[1::2].any(axis=1)).tolist()
    return int(found[0]) if found else None


def least_of(instance: Coverage, which: int) -> int:
    """Return the smallest nonzero value of the denominator of ratio `which`."""
    constant, mass = int(instance.constants[2 * which + 1]), instance.mass[2 * which + 1]
    return constant or int(mass[mass > 0].min())


def most_of(instance: Coverage, which: int) -> int:
    """Return an upper limit of the denominator of ratio `which` for selections within the maximum length."""
    units = list(zip(instance.mass[2 * which + 1].tolist(), instance.lengths.tolist(), strict=True))
    units.sort(key=lambda unit: (unit[1] > 0, -Fraction(unit[0], unit[1] or 1)))
    found, left = int(instance.constants[2 * which + 1]), int(instance.max_length)
    for added, length in units:
        if length > left:  # the last unit counts by the part that fits
            return found + int(added * left // length)
        found, left = found + added, left - length
    return found


def restricted(instance: Coverage, which: int, low: int, high: int) -> Coverage:
    """Restrict an instance to selections whose denominator of ratio `which` is within limits, and few others."""
    mass, shift = instance.mass[2 * which + 1], int(instance.constants[2 * which + 1])
    low, high = max(0, low - shift), high - shift
    units = np.flatnonzero(mass)
    numbers = mass[units]
    common = gcd(*numbers.tolist())
    step = common * -(-high // (common * _STEPS)) or common
    above, below = -(-numbers // step), numbers // step  # rounded so that no selection within the limits is lost
    rows = []
    if low:
        rows.append(Row(tuple(units.tolist()), tuple(above.tolist()), low=-(-low // step)))
    if int(numbers.sum()) > high:
        counted = below > 0
        rows.append(Row(tuple(units[counted].tolist()), tuple(below[counted].tolist()), high=high // step))
    return instance.with_rows((*instance.rows, *rows))


def window_box(instance: Coverage, which: int, low: int, high: int) -> DenominatorBox:
    """Return the box in which only the denominator of ratio `which` varies, from `low` to `high`."""
    constants = tuple(int(constant) for constant in instance.constants[1::2])
    part = tuple(0 if h == which else -1 for h in range(instance.ratios))
    return DenominatorBox(constants, part, (float(low - constants[which]),), (float(high - constants[which]),))
