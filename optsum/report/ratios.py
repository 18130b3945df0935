"""Compare several results of one problem: the optimum, and the ratio of each to it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from optsum.contracts.result import Result, Status
from optsum.coverage.instance import Key


def claims(results: Sequence[Result]) -> tuple[Key | None, list[Key], bool]:
    """Return the optimum, if it is known, all bounds, and whether all that is claimed can be true together."""
    keys = [key for result in results if (key := result.key) is not None]
    bounds = [bound for result in results if (bound := result.bound_key) is not None]
    optima = {key for result in results if result.status is Status.OPTIMAL and (key := result.key) is not None}
    # A selection that attains a bound is optimal, whichever strategies found the two.
    optima |= {key for key in keys if key in bounds}
    # Bounds lie above all selections when maximizing, below when minimizing.
    sides = {bound > key for key in keys for bound in bounds if bound != key}
    infeasible = any(result.status is Status.INFEASIBLE for result in results)
    consistent = len(optima) <= 1 and len(sides) <= 1 and not (infeasible and keys)
    return (optima.pop() if len(optima) == 1 else None), bounds, consistent


def ratio_to_best(key: Key, optimum: Key | None, bounds: Sequence[Key]) -> tuple[float | None, bool]:
    """Return how close a value is to the optimum, or to the tightest bound where that is not known.

    Returns
    -------
    ratio : float or None
        None where there is neither.
    guaranteed : bool
        Whether it is against a bound: then the true ratio is at least that.
    """
    if optimum is not None:
        return _ratio(key, optimum), False
    return (max(_ratio(key, bound) for bound in bounds), True) if bounds else (None, False)


def _ratio(key: Key, best: Key) -> float:
    """Return how close a value is to one that is at least as good: the smaller over the larger, whatever the sense."""
    small, large = min(key, best), max(key, best)
    if large == 0:
        return 1.0
    return float(Fraction(small) / Fraction(large)) if small > 0 else 0.0
