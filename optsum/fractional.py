r"""One ratio whose denominator varies (precision, F1): the program for a given value, and a proven bound.

Dinkelbach 1967: with :math:`v(\lambda) = \max_x T(x) - \lambda D(x)` the best ratio is the :math:`\lambda` with
:math:`v(\lambda) = 0`, and :math:`\lambda \leftarrow T(x)/D(x)` at the maximizer climbs to it in a few rounds.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from optsum.bounds import dual_bound
from optsum.coverage import Coverage
from optsum.linear import coverage_model
from optsum.lp import relax

__all__ = ["ratio_bound"]

_GRID = 10**6
"""Bounds are multiples of 1 / _GRID, and rounds end when they gain less."""


def ratio_bound(instance: Coverage) -> Fraction:
    """Return a bound of the ratio of every selection, proven in integers.

    Newton's method on the relaxation finds the multiplier; the last relaxation's duals prove it
    (`optsum.bounds.dual_bound`), whatever floating point did before.

    Parameters
    ----------
    instance : Coverage
        With `Coverage.single_ratio`.
    """
    top, bottom = instance.constants.tolist()
    guess = Fraction(top, bottom) if bottom > 0 else Fraction(0)  # the empty selection, which may be the best
    while True:
        model = coverage_model(instance, guess)
        relaxation = relax(model)
        duals = np.zeros(model.rows) if relaxation is None else relaxation.duals
        surplus = dual_bound(model, duals) + model.offset  # q T - p D is at most this
        if surplus <= 0:
            return guess
        bound = guess + Fraction(surplus, guess.denominator * _least_denominator(instance))
        if relaxation is None:
            return bound
        units = relaxation.columns[: model.units]
        below = float(instance.constants[1] + instance.mass[1] @ units + _counted(instance, relaxation.columns))
        # q T - p D at the maximizer, divided by q D, is how far its ratio lies above p / q.
        value = float(model.objective @ relaxation.columns) + model.offset
        step = value / (guess.denominator * below) if below > 0 else float(surplus)
        following = Fraction(int(np.ceil((float(guess) + step) * _GRID)), _GRID)
        if following <= guess:
            return bound
        guess = following


def _least_denominator(instance: Coverage) -> int:
    return max(1, int(instance.constants[1]) + int(instance.mass[1].min(initial=0)))


def _counted(instance: Coverage, columns: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return what the features of the denominator add at a fractional solution."""
    full = np.diff(instance.level_start) - 1
    steps = np.delete(np.diff(instance.level), instance.level_start[1:-1] - 1)
    below = np.repeat(instance.slot == 1, full)
    return float((columns[len(columns) - len(steps) :] * steps)[below].sum())
