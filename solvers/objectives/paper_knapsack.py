"""The paper's branch and bound (Hirao et al. 2017, Algorithms 1-3): the baseline.

The algorithms are read as intended:

* Algorithm 1: the remaining room is L_max - l(V), and shrinks as sentences are packed.
* Algorithm 2 is greedy search (`optsum.coverage.climb`); line 5: the length of a rejected sentence is not added.
* Algorithm 3: every call has its own queue; a strictly better score clears the sets found before; the empty set is
  recorded if it is an optimum.

The bound, a fractional knapsack of sentences by gain per word, is valid for recall within sentences and without a
minimum length. Values are integers, so the fraction of the last sentence is rounded down.
"""

# mypy: disable-error-code="no-untyped-def"
# (numba infers the types of the kernels.)

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optsum.coverage.climb import climbs
from optsum.coverage.instance import Coverage
from optsum.errors import UnsupportedError
from optsum.optima.optima import Optima
from optsum.system.clock import Deadline, Limits, Stopped, Termination
from optsum.system.compiled import njit

from ..engine.core import core_of
from ..engine.driver import Budget
from ..engine.search import total_of
from .recall import recall_program

_SLICE: Final = 20_000
_DONE: Final = 0
_PAUSED: Final = 1
_FULL: Final = 2


class _Way(NamedTuple):
    order: NDArray[np.int64]  # (n,) units by what they gain alone
    # have, chosen: copies of each feature and units of the set at hand
    have: NDArray[np.int64]
    chosen: NDArray[np.bool_]
    # (n + 2,) positions in `order`: ``path[d]`` is the next to try at depth d; those above are chosen
    path: NDArray[np.int64]
    # value, room: (n + 2,) by depth
    value: NDArray[np.int64]
    room: NDArray[np.int64]


@njit(cache=True)
def _gain(u, have, core):
    """Return ROUGE'(R, V, {u}) times the denominator: the gain of unit u over the copies in `have`."""
    table_start, table = core.table_start, core.table
    gain = core.mass[u]
    for k in range(core.start[u], core.start[u + 1]):
        f = core.feature[k]
        top = table_start[f + 1] - table_start[f] - 1
        gain += table[table_start[f] + min(have[f] + core.count[k], top)] - table[table_start[f] + min(have[f], top)]
    return gain


@njit(cache=True)
def _bound(value, rest, room, have, core):
    """Return the bound of Algorithm 1 for a set of this value: pack the units of `rest` by density into the room."""
    lengths = core.lengths
    gains = np.empty(len(rest), np.int64)
    density = np.empty(len(rest), np.float64)
    for i in range(len(rest)):
        gains[i] = _gain(rest[i], have, core)
        density[i] = -gains[i] / lengths[rest[i]] if lengths[rest[i]] > 0 else -np.inf
    for i in np.argsort(density, kind="mergesort"):
        length = lengths[rest[i]]
        if length <= room:
            value += gains[i]
            room -= length
        else:
            # Rounding in `density` can swap units of equal density only, which changes nothing.
            return value + gains[i] * room // length
    return value


@njit(cache=True)
def _find_oracles(core, every, way, found, state, budget):
    """Run Algorithm 3, resumable.

    found : (capacity, n) bool, the sets that reach tau
    state : (4,) depth, tau, sets found, sets checked
    """
    lengths, start, feature, count = core.lengths, core.start, core.feature, core.count
    order, have, chosen, path, value, room = way
    n = len(order)
    spent = 0
    while True:
        d = state[0]
        if path[d] == n:
            if d == 0:
                return _DONE
            u = order[path[d - 1] - 1]
            chosen[u] = False
            for k in range(start[u], start[u + 1]):
                have[feature[k]] -= count[k]
            state[0] = d - 1
            continue
        if spent >= budget:
            return _PAUSED
        if state[2] == len(found):
            return _FULL
        u = order[path[d]]
        path[d] += 1
        if lengths[u] > room[d]:
            continue
        spent += 1
        state[3] += 1
        now = value[d] + _gain(u, have, core)
        left = room[d] - lengths[u]
        chosen[u] = True
        for k in range(start[u], start[u + 1]):
            have[feature[k]] += count[k]
        go_on = False
        if now > state[1] or (every and now == state[1]):
            if now > state[1]:
                state[2] = 0
            state[1] = now
            found[state[2]] = chosen
            state[2] += 1
            go_on = True
        else:
            rest = order[path[d] :]
            bound = _bound(now, rest, left, have, core)
            go_on = bound >= state[1] if every else bound > state[1]
        if go_on:
            value[d + 1] = now
            room[d + 1] = left
            path[d + 1] = path[d]
            state[0] = d + 1
        else:
            chosen[u] = False
            for k in range(start[u], start[u + 1]):
                have[feature[k]] -= count[k]


def solve_knapsack(
    coverage: Coverage, limits: Limits | None = None, deadline: Deadline | None = None, *, every: bool
) -> Optima:
    """Find one optimum with the paper's bound, or all (Hirao et al. 2017, Algorithm 3).

    `coverage`: recall (a constant denominator), occurrences decided by single units, no minimum length. `limits`:
    ``nodes`` limits the number of sets checked. `deadline`: instead of the time limit. The result:
    ``statistics["nodes"]`` is the number of sets checked (the right column of Table 7).
    """
    budget = Budget(limits, deadline)
    core, divisor = core_of(recall_program(coverage))
    if core.low > 0:
        raise UnsupportedError(
            "The knapsack bound is valid only without a minimum length; use the default bound for windows."
        )
    n = core.size
    sets = [*next(climbs(coverage, [coverage.max_length]), []), ()]
    held = [np.isin(core.ids, units) for units in sets]
    values = [core.base + int(total_of(chosen, core.plain)) for chosen in held]
    tau = max(values)
    greedy = held[values.index(tau)]
    nothing = np.zeros(len(core.price), np.int64)
    alone = np.array([_gain(u, nothing, core) for u in range(n)], np.int64)
    order = np.argsort(-alone, kind="stable")
    path, value, room = (np.zeros(n + 2, np.int64) for _ in range(3))
    value[0], room[0] = core.base, core.high
    found = np.zeros((64, n), np.bool_)
    state = np.array([0, tau, 0, 0], np.int64)
    if not every:
        found[0], state[2] = greedy, 1
    elif tau == core.base:
        state[2] = 1  # the empty set
    way = _Way(order, np.zeros(len(core.price), np.int64), np.zeros(n, np.bool_), path, value, room)
    reason: Termination | None = None
    nodes, memory = budget.limits.nodes, 0
    try:
        with budget.phase("search"):
            while True:
                work = _SLICE if nodes is None else min(_SLICE, nodes - int(state[3]))
                answer = _find_oracles(core, every, way, found, state, work)
                if answer == _DONE:
                    break
                budget.statistics.nodes = int(state[3])
                if answer == _FULL:
                    memory = 8 * found.size
                budget.check(memory)
                if answer == _FULL:
                    found = np.concatenate([found, np.zeros_like(found)])
    except Stopped as stopped:
        reason = stopped.termination
    sets = [tuple(sorted(core.ids[row].tolist())) for row in found[: state[2]]] or [
        tuple(sorted(core.ids[greedy].tolist()))
    ]
    best = int(state[1])
    bound = best
    if reason is not None:
        bound = max(best, int(_bound(core.base, np.arange(n), core.high, np.zeros(len(core.price), np.int64), core)))
    budget.statistics.nodes, budget.statistics.core = int(state[3]), n
    constant, bottom = coverage.constants.tolist()
    return Optima.of_sets(
        sets if every else sets[:1],
        Fraction(best * divisor + constant, bottom),
        Fraction(bound * divisor + constant, bottom),
        complete=reason is None,
        termination=(reason or Termination.COMPLETED).value,
        statistics=budget.as_dict(),
    )
