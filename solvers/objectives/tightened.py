"""Instances that searches find easier, of the same selections and values.

Covered positions bound the hits of a token, and so do its copies, and any mean of both
(`optsum.coverage.ceilings`). The best weights of these means are the multipliers of the relaxation's two rows at a good
selection (`optsum.program.ceiling_columns`); any others are valid, so that they may be rounded.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from optsum.coverage.climb import climb
from optsum.coverage.evaluate import score
from optsum.coverage.instance import Coverage
from optsum.program.ceiling_columns import CeilingColumns
from optsum.program.highs import relax
from optsum.program.model import affordable, coverage_model
from optsum.program.surrogate import collapsed, reaches
from optsum.system.clock import Deadline

from .whole_text import is_whole_text

_WHOLE: Final = 64  # Weights are multiples of its reciprocal.

_REACH: Final = 2.0**32  # About what the program comes to.


def tightened(instance: Coverage, deadline: Deadline) -> Coverage:
    """Return an instance of the same selections and values, whose features are worth less if the relaxation says so.

    All totals are `_WHOLE` times as large. An instance without ceilings is returned as it is, and so is one that has a
    table of its own (`whole_text`).
    """
    if not any(ceiling.parts for ceiling in instance.ceilings) or is_whole_text(instance):
        return instance
    shares = _shares(instance, deadline)
    times = np.full(instance.features, _WHOLE, np.int64)
    mass = _WHOLE * instance.plain.mass
    ceilings = []
    for ceiling in instance.ceilings:
        own, shares = shares[: ceiling.parts], shares[ceiling.parts :]
        made, bounds = ceiling.bounded_by(own, _WHOLE)
        times[ceiling.first : ceiling.last] = bounds.times
        mass[ceiling.slot] += bounds.mass
        ceilings.append(made)
    return instance.changed(
        level=instance.level * np.repeat(times, np.diff(instance.level_start)),
        constants=_WHOLE * instance.constants,
        mass=mass,
        ceilings=tuple(ceilings),
    )


def _shares(instance: Coverage, deadline: Deadline) -> list[int]:
    """Return the weight of what is covered for each group of each ceiling."""
    if not affordable(instance, deadline):
        return [_WHOLE] * sum(ceiling.parts for ceiling in instance.ceilings)
    columns = CeilingColumns(instance, relaxed=True)
    one = _at_greedy(instance, deadline)
    model = coverage_model(one, None if one.constant_denominator else Fraction(1), relaxed=True)
    relaxation = relax(model, deadline)
    if relaxation is None:
        return [_WHOLE] * len(columns.capped)
    duals = np.maximum(0.0, relaxation.duals)
    first = model.rows - columns.rows
    found = []
    for row in columns.capped:
        above, beside = float(duals[first + row]), float(duals[first + row + 1])
        found.append(round(_WHOLE * above / (above + beside)) if above + beside > 0 else _WHOLE)
    return found


def _at_greedy(instance: Coverage, deadline: Deadline) -> Coverage:
    """Return one ratio that is worth more than 1 where the value is more than that of the greedy selection, nearly."""
    climbed = climb(instance, deadline)
    totals = score(instance, () if climbed is None else climbed.units)[0]
    most = reaches(instance)
    tops, bottoms = [], []
    for h, weight in enumerate(instance.weights):
        top, bottom = totals[2 * h], max(1, totals[2 * h + 1])
        tops.append(weight / bottom)
        bottoms.append(weight * top / bottom**2)
    size = sum(a * max(1, top) for a, top in zip(tops, most[0::2], strict=True))
    size += sum(b * max(1, bottom) for b, bottom in zip(bottoms, most[1::2], strict=True))
    scale = _REACH / max(size, 1e-9)
    return collapsed(instance, [max(1, round(scale * a)) for a in tops], [max(1, round(scale * b)) for b in bottoms])
