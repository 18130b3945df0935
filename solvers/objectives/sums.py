"""Sums, products and harmonic means of ratios: one optimum, all of them, or all selections worth a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits, Stopped
from optsum.coverage.instance import Combination, Coverage
from optsum.optima.algebra import union
from optsum.optima.diagram import Diagram
from optsum.problem.problem import Selection
from optsum.system.deadline import Deadline

from .covering import FEW, Reaching, Search
from .meter import Meter
from .ratio import Findings
from .windows import WindowedReaching, WindowedSearch

__all__ = ["solve_sum"]


def solve_sum(
    instance: Coverage,
    limits: Limits | None = None,
    deadline: Deadline | None = None,
    *,
    every: bool,
    few: int = FEW,
    start: Selection | None = None,
) -> Findings:
    """Find one optimum, or all, of an instance whose value is a mean of several ratios.

    Parameters are those of `ratio.solve_ratio`, and so are the errors; `few` feasible selections or less are evaluated
    one and all. If there are more candidates than can be
    evaluated, the reason is ``memory_limit``.
    """
    limits = limits or Limits()
    kind = WindowedSearch if instance.combination is Combination.HARMONIC else Search
    search = kind(instance, limits, deadline or Deadline(limits.time_s), every=every, few=few)
    proven, reason = False, None
    try:
        search.run(start)
        proven = True
    except Stopped as stopped:
        reason = stopped.termination
    best = search.best
    if best.selection is None:
        return Findings(None, Fraction(0), Diagram.of_sets([]), proven, reason, search.meter.as_dict())
    optima = search.optima() if every else Diagram.of_sets([best.selection])
    return Findings(best.selection, best.key, optima, proven, reason, search.meter.as_dict())


def reaching_sum(
    instance: Coverage, threshold: Fraction, best: Sequence[int], meter: Meter
) -> tuple[Diagram, Termination | None]:
    """Return all sets that are worth a threshold above 0, or some of them and the limit that was reached.

    Parameters
    ----------
    instance : Coverage
        As for `solve_sum`.
    threshold : Fraction
        As values are compared.
    best : units of a selection that is worth much
        It decides how good the programs are.
    meter : Meter
        What the run may take; it learns what this took.
    """
    kind = WindowedReaching if instance.combination is Combination.HARMONIC else Reaching
    search = kind(instance, threshold, best, meter)
    reason = None
    try:
        search.run()
    except Stopped as stopped:
        reason = stopped.termination
    meter.statistics.add(search.meter.statistics)
    return (union(search.families) if search.families else Diagram.of_sets([])), reason
