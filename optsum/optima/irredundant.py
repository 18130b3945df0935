r"""Count the irredundant sets of a family, in which no unit can be left out.

A set S is *irredundant* if dropping any unit u that may be dropped (no chosen unit needs it, and all limits are kept
without it) lowers the value: :math:`f(S - u) < f(S)`. Of optima with f monotone these are the sets that contain no
other optimum (`optsum.optima.algebra.minimal_sets`); in near-optimal families they are a subset of all sets and include
the minimal ones.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.evaluate import key_of, score
from optsum.coverage.instance import Coverage, IntArray, Sense, pack
from optsum.coverage.state import COVER, LENGTH, MISSING, arrays_of, empty_state, flip, value_pair
from optsum.optima.diagram import Diagram
from optsum.system.compiled import njit

LISTED: Final = 100_000  # So many sets are looked at one and all; beyond, a sample is.
DRAWS: Final = 1_000  # Sets of a sample: a share is then known to .016 at worst (one standard error).


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the sets of a family."""

    share: float
    # 0 where every set was looked at; otherwise the true share is within two of them 95 times of 100.
    standard_error: float


@njit(cache=True)
def _irredundant(arrays, state, units):
    """Whether no chosen unit can be left out; the state is restored."""
    top, bottom = value_pair(arrays, state)
    for at in range(len(units)):
        unit = units[at]
        needed = False
        for other in units:
            needed = needed or arrays.parents[other] == unit
        if needed:
            continue
        flip(arrays, state, unit)
        may_go = state.scalars[LENGTH] >= arrays.min_length
        if arrays.kind == COVER or arrays.ruled == 1:
            may_go = may_go and state.scalars[MISSING] == 0
        less, of = value_pair(arrays, state)
        flip(arrays, state, unit)
        if may_go and less * bottom >= top * of:
            return False
    return True


@njit(cache=True)
def _mark(arrays, state, start, units, found):
    for row in range(len(found)):
        chosen = units[start[row] : start[row + 1]]
        for unit in chosen:
            flip(arrays, state, unit)
        found[row] = _irredundant(arrays, state, chosen)
        for unit in chosen:
            flip(arrays, state, unit)


def is_irredundant(instance: Coverage, sets: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
    """Return for each of some feasible sets whether no unit can be left out."""
    arrays = arrays_of(instance)
    found = np.zeros(len(sets), np.bool_)
    if arrays is None:  # products beyond 64 bits
        return np.array([_plainly(instance, tuple(chosen)) for chosen in sets], np.bool_)
    start, units = pack(sets)
    _mark(arrays, empty_state(arrays), start, units, found)
    return found


def _plainly(instance: Coverage, chosen: tuple[int, ...]) -> bool:
    totals, length, _ = score(instance, chosen)
    key, shortest = key_of(instance, totals, length), instance.goal is Sense.MINIMIZE
    for unit in chosen:
        totals, length, violation = score(instance, [other for other in chosen if other != unit])
        less = key_of(instance, totals, length)
        if not violation and (less <= key if shortest else less >= key):
            return False
    return True


def irredundant_share(instance: Coverage, diagram: Diagram, seed: int = 0) -> Share:
    """Return the share of irredundant sets of a family: exact up to `LISTED` sets, otherwise an estimate."""
    if diagram.count <= LISTED:
        return Share(float(is_irredundant(instance, list(diagram)).mean()), 0.0)
    marked = is_irredundant(instance, drawn(diagram, DRAWS, seed))
    share = float(marked.mean())
    return Share(share, sqrt(share * (1 - share) / DRAWS))


def drawn(diagram: Diagram, draws: int, seed: int) -> list[list[int]]:
    """Draw many sets at once, independently and uniformly."""
    counts, nodes = diagram.counts, diagram.nodes
    inner = list(enumerate(diagram.rows))[2:]
    chance = np.array([0.0, 0.0, *(counts[with_] / counts[x] for x, (_, _, with_) in inner)])
    rng = np.random.default_rng(seed)
    at: IntArray = np.full(draws, diagram.root, np.int64)
    found: list[list[int]] = [[] for _ in range(draws)]
    while len(walking := np.flatnonzero(at > 1)):
        here = at[walking]
        taken = rng.random(len(walking)) < chance[here]
        for row, unit in zip(walking[taken].tolist(), nodes[here[taken], 0].tolist(), strict=True):
            found[row].append(unit)
        at[walking] = np.where(taken, nodes[here, 2], nodes[here, 1])
    return found
