"""Exhaustive search of every selection within the limits, with an estimate of its time.

Four walks through all selections have one interface:

* `Pairs` combines sets of long units and sets of short ones, for extracts: hundreds of millions of selections a second;
* `Similarities` keeps the best similarity of each token, for instances of best similarities: millions a second;
* `Flips` adds and removes single units, for all other instances in the normal form that fit into 64 bits;
* `OneByOne` calls the problem's own `evaluate` for each selection, for all other problems.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import inf, isinf
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Facility, IntArray, Key, Sense, gains_alone, kernel_array, key_of
from optsum.coverage.state import (
    INTEGER,
    KINDS,
    LENGTH,
    MISSING,
    Arrays,
    State,
    arrays_of,
    empty_state,
    fits,
    flip,
    value_pair,
)
from optsum.optima.counting import estimate_feasible, reachable
from optsum.optima.diagram import Diagram
from optsum.optima.optima import Nearness, Optima
from optsum.optima.tally import power_of, step_of
from optsum.problem.problem import Capability, Evaluation, Problem, Selection, worth
from optsum.system.clock import Limits, Stopped, in_strides
from optsum.system.compiled import compiles, njit
from optsum.whole import LARGEST

from . import meet_in_the_middle
from .meet_in_the_middle import (
    MARGIN,
    Halves,
    advance_pairs,
    halves_of,
    shorts_of,
    start_pairs,
    take,
    value_at,
)

_SAFE: Final = 2**62
_CANDIDATES: Final = 4096
_POWERS: Final = 1e290


class Walker(ABC):
    """A resumable walk through all selections except the empty one."""

    rate: float  # Approximate number of selections per second, until it is measured.
    stride: int  # Number of selections that are visited at first between two checks of the limits.
    visited = 0
    feasible = 0
    ties = 0
    done = False

    def __init__(self, instance: Problem | Coverage, rows: int) -> None:
        # Approximate number of selections to visit; an upper limit for instances with parents.
        self.expected = visits_of(instance)
        self._rows = rows
        self._best: Key | None = None
        self._ties: list[list[int]] = []

    @abstractmethod
    def advance(self, visits: int) -> Selection | None:
        """Visit up to `visits` more selections; return the best one so far if it is among them."""

    def listed(self) -> list[list[int]]:
        """Return selections with the best value so far, at most as many as there are rows for them."""
        return self._ties


def walker_of(problem: Problem, coverage: Coverage | None, see: Callable[[Selection], Evaluation], rows: int) -> Walker:
    """Return the quickest walk for a problem; `coverage`: its normal form, if any; `rows`: ties to list."""
    if coverage is not None:
        if _is_of_similarities(coverage):
            return Similarities(coverage, rows)
        if (halves := _halves(coverage)) is not None:
            return Pairs(coverage, halves, rows)
        if (arrays := arrays_of(coverage)) is not None:
            return Flips(coverage, arrays, rows)
    return OneByOne(problem, coverage, see, rows)


@compiles
def prepare() -> None:
    instance = Coverage.of([1, 1], [{0: 1}, {0: 1}], [[1]], max_length=1)
    halves, arrays = _halves(instance), arrays_of(instance)
    assert halves is not None and arrays is not None  # noqa: S101, PT018 - both serve so small an instance
    similar = Facility.given(np.ones((1, 2), np.int64), np.ones(1, np.int64), [1, 1], full=1, max_length=1)
    for walk in (Pairs(instance, halves, 1), Flips(instance, arrays, 1), Similarities(similar, 1)):
        walk.advance(1)


def _halves(coverage: Coverage) -> Halves | None:
    """Return the halves for `Pairs`; None if it cannot search such instances, or numbers are too large for it."""
    if coverage.goal is not Sense.MAXIMIZE or not coverage.singletons or coverage.rows or coverage.ceilings:
        return None
    full = coverage.level[coverage.level_start[1:] - 1].astype(np.float64)
    reach = np.abs(coverage.constants).astype(np.float64) + coverage.mass.sum(axis=1, dtype=np.float64)
    reach += np.bincount(coverage.slot, weights=full, minlength=len(reach))
    # The sum of both halves may count the gain of a feature twice before common bits are subtracted.
    totals = reach[:1] if coverage.constant_denominator else reach
    if 2 * float(totals.max()) >= _SAFE or max(coverage.weights) > LARGEST:
        return None
    if coverage.combination.multiplies:
        powers = np.maximum(1.0, reach).reshape(-1, 2) ** np.array(coverage.weights)[:, None]
        if not float(np.prod(powers)) < _POWERS:
            return None
    return halves_of(coverage)


class Deciding(Walker):
    """A walk whose kernel picks candidates in floating point, with a wide margin, so that exact fractions decide."""

    def __init__(self, coverage: Coverage, rows: int) -> None:
        super().__init__(coverage, rows)
        self._key_of = lru_cache(16 * _CANDIDATES)(lambda totals: key_of(coverage, totals, 0))
        if coverage.min_length == 0:  # the empty selection is not counted
            self._best = self._key_of(tuple(coverage.constants.tolist()))

    def decide(self, listed: IntArray, found: IntArray) -> Selection | None:
        """Compare candidates (their rows in the kernel, and their totals) with the best; return a new best one."""
        best: Selection | None = None
        if not len(listed):
            return best
        different, first, which = np.unique(found, axis=0, return_index=True, return_inverse=True)
        for number in np.argsort(first).tolist():  # in the order in which they were found
            key = self._key_of(tuple(different[number].tolist()))
            if self._best is None or key > self._best:
                self._best, self.ties, self._ties = key, 0, []
                best = tuple(self.units(listed[first[number]]))
            if key == self._best:
                rows = np.flatnonzero(which.reshape(-1) == number)
                self.ties += len(rows)
                self._ties += [self.units(listed[row]) for row in rows[: self._rows - len(self._ties)]]
        return best

    @abstractmethod
    def units(self, row: IntArray) -> list[int]:
        """Return the units of a row of the kernel, in ascending order."""


class Pairs(Deciding):
    """The walk that combines each set of the long half with each fitting set of the short half.

    The kernel decides by itself if the products of its comparisons fit into 64 bits.
    """

    rate = 2e8
    stride = 1 << 18

    def __init__(self, coverage: Coverage, halves: Halves, rows: int) -> None:
        combination = INTEGER if coverage.constant_denominator else KINDS[coverage.combination]
        exact = coverage.constant_denominator or fits(coverage)
        super().__init__(coverage, rows)
        self._halves, self._exact = halves, exact
        self._shorts = shorts_of(halves, int(coverage.max_length))
        self._walk = start_pairs(coverage, halves, combination, exact=exact, rows=rows if exact else _CANDIDATES)

    def advance(self, visits: int) -> Selection | None:
        scalars = self._walk.scalars
        advance_pairs(self._halves, self._shorts, self._walk, visits, 1 + visits // 64)
        self.done = bool(scalars[meet_in_the_middle.DONE])
        self.visited = self.feasible = int(scalars[meet_in_the_middle.FEASIBLE])
        if not self._exact:
            number = int(scalars[meet_in_the_middle.LISTED])
            scalars[meet_in_the_middle.LISTED] = 0
            return self.decide(self._walk.listed[:number], self._walk.found[:number])
        self.ties = int(scalars[meet_in_the_middle.TIES])
        if not scalars[meet_in_the_middle.BEST_CHANGED]:
            return None
        scalars[meet_in_the_middle.BEST_CHANGED] = 0
        return tuple(self.units(self._walk.best))

    def listed(self) -> list[list[int]]:
        if not self._exact:
            return super().listed()
        return [self.units(row) for row in self._walk.listed[: int(self._walk.scalars[meet_in_the_middle.LISTED])]]

    def units(self, row: IntArray) -> list[int]:
        depth = int(row[0])
        mask = int(row[depth + 1])
        long = self._halves.long.units[row[1 : depth + 1]].tolist()
        return sorted([*long, *(u for place, u in enumerate(self._halves.short.units.tolist()) if mask >> place & 1)])


DONE, VISITED, FEASIBLE, TIES, BEST_CHANGED = 0, 1, 2, 3, 4
_DEPTH, _UNIT, _TOP, _BOTTOM, _HELD, LISTED = 5, 6, 7, 8, 9, 10


class FlipWalk(NamedTuple):
    """The state of an enumeration: its position, the best selection so far, and the selections that tie with it."""

    state: State
    path: IntArray
    best: IntArray  # (units + 2,): the number of units, and the units; so are the rows of `listed`.
    scalars: IntArray
    listed: IntArray


@njit(cache=True)
def advance(arrays: Any, walk: Any, visits: int) -> None:
    """Visit up to `visits` more selections, without branches in which no selection reaches the minimum length."""
    state, path, scalars = walk.state, walk.path, walk.scalars
    n = len(arrays.lengths)
    depth, unit = scalars[_DEPTH], scalars[_UNIT]
    left = visits
    rest, least = np.zeros(n + 1, np.int64), np.empty(n + 1, np.int64)
    least[n] = arrays.max_length + 1
    for each in range(n - 1, -1, -1):
        rest[each] = rest[each + 1] + arrays.lengths[each]
        least[each] = min(least[each + 1], arrays.lengths[each])
    while left > 0:
        length = state.scalars[LENGTH]
        if unit < n and length + rest[unit] >= arrays.min_length and length + least[unit] <= arrays.max_length:
            parent = arrays.parents[unit]
            if length + arrays.lengths[unit] > arrays.max_length or (parent >= 0 and state.chosen[parent] == 0):
                unit += 1
                continue
            flip(arrays, state, unit)
            path[depth] = unit
            depth += 1
            unit += 1
            left -= 1
            scalars[VISITED] += 1
            if state.scalars[LENGTH] >= arrays.min_length and state.scalars[MISSING] == 0:
                scalars[FEASIBLE] += 1
                top, bottom = value_pair(arrays, state)
                ahead = top * scalars[_BOTTOM] - scalars[_TOP] * bottom
                if scalars[_HELD] == 0 or ahead > 0:
                    scalars[_HELD], scalars[_TOP], scalars[_BOTTOM] = 1, top, bottom
                    scalars[TIES], scalars[BEST_CHANGED], scalars[LISTED] = 0, 1, 0
                    take(walk.best, path, depth, np.int64(0))
                    ahead = 0
                if ahead == 0:
                    scalars[TIES] += 1
                    if scalars[LISTED] < len(walk.listed):
                        take(walk.listed[scalars[LISTED]], path, depth, np.int64(0))
                        scalars[LISTED] += 1
            continue
        if depth == 0:
            scalars[DONE] = 1
            break
        depth -= 1
        unit = path[depth]
        flip(arrays, state, unit)
        unit += 1
    scalars[_DEPTH], scalars[_UNIT] = depth, unit


class Flips(Walker):
    """The depth-first walk that adds or removes one unit at a time, in ascending order of their numbers."""

    rate = 3e6
    stride = 1 << 13

    def __init__(self, coverage: Coverage, arrays: Arrays, rows: int) -> None:
        n, state = len(arrays.lengths), empty_state(arrays)
        path, best, scalars = np.zeros(n, np.int64), np.zeros(n + 2, np.int64), np.zeros(11, np.int64)
        if arrays.min_length == 0 and state.scalars[MISSING] == 0:  # the empty selection is not counted
            top, bottom = value_pair(arrays, state)
            scalars[[_HELD, _TOP, _BOTTOM]] = 1, top, bottom
        super().__init__(coverage, rows)
        self._arrays, self._walk = arrays, FlipWalk(state, path, best, scalars, np.zeros((rows, n + 2), np.int64))

    def advance(self, visits: int) -> Selection | None:
        scalars = self._walk.scalars
        advance(self._arrays, self._walk, visits)
        self.done = bool(scalars[DONE])
        self.visited, self.feasible, self.ties = (int(scalars[at]) for at in (VISITED, FEASIBLE, TIES))
        if not scalars[BEST_CHANGED]:
            return None
        scalars[BEST_CHANGED] = 0
        return tuple(self._walk.best[1 : self._walk.best[0] + 1].tolist())

    def listed(self) -> list[list[int]]:
        return [row[1 : row[0] + 1].tolist() for row in self._walk.listed[: int(self._walk.scalars[LISTED])]]


def _rate_of_similarities(coverage: Facility) -> float:
    """Return how many selections `Similarities` visits in a second; a visit looks at each token."""
    return 1e9 / (20 + 0.7 * len(coverage.similar))


def _is_of_similarities(coverage: Coverage) -> TypeGuard[Facility]:
    """Return whether `Similarities` serves an instance: it has no constraints besides the limits of length."""
    return isinstance(coverage, Facility) and not coverage.rows and not len(coverage.parents)


class SimilarityWalk(NamedTuple):
    """The data of a walk through the selections of an instance of best similarities, and its position.

    Row d of `best`, column d of `totals` and place d of `length` are for the first d units of the path, which has at
    most as many units (`depths`) as fit.
    """

    weighted: IntArray  # (units, tokens): similarities, multiplied by the weight of the token.
    own: IntArray  # (0 or 2, units): as in `Facility`.
    lengths: IntArray  # (units,): ascending.
    rules: IntArray  # (3,): minimum and maximum length, and the kind of the value.
    weights: IntArray  # (ratios,)
    best: IntArray  # (depths + 1, tokens): the largest weighted similarity of each token.
    totals: IntArray  # (totals, depths + 1)
    length: IntArray  # (depths + 1,)
    path: IntArray  # (depths,)
    scalars: IntArray  # (11,): as in `FlipWalk`.
    value: NDArray[np.float64]  # (1,): the largest value so far.
    listed: IntArray  # (candidates, depths + 2): the number of units, and the units.
    found: IntArray  # (candidates, totals)


@njit(cache=True)
def advance_similarities(walk: Any, visits: int) -> None:
    """Visit up to `visits` more selections, fewer if there is no room for more candidates."""
    weighted, own, lengths, rules, weights, best, totals, length, path, scalars, value, listed, found = walk
    n, tokens = weighted.shape
    rest = np.zeros(n + 1, np.int64)
    for unit in range(n - 1, -1, -1):
        rest[unit] = rest[unit + 1] + lengths[unit]
    depth, unit, left = scalars[_DEPTH], scalars[_UNIT], visits
    while left > 0 and scalars[LISTED] < len(listed):
        # Units are sorted by length: if one does not fit, no later one does.
        if unit < n and length[depth] + lengths[unit] <= rules[1] and length[depth] + rest[unit] >= rules[0]:
            above, top = depth + 1, np.int64(0)
            for token in range(tokens):
                most = max(best[depth, token], weighted[unit, token])
                best[above, token] = most
                top += most
            totals[0, above] = top
            for total in range(len(own)):
                totals[total + 2, above] = totals[total + 2, depth] + own[total, unit]
            length[above], path[depth] = length[depth] + lengths[unit], unit
            depth, unit, left = above, unit + 1, left - 1
            scalars[VISITED] += 1
            if length[depth] >= rules[0]:
                scalars[FEASIBLE] += 1
                now = value_at(rules[2], weights, totals, depth)
                if now >= value[0] * (1 - MARGIN):
                    value[0] = max(value[0], now)
                    take(listed[scalars[LISTED]], path, depth, np.int64(0))
                    for total in range(len(totals)):
                        found[scalars[LISTED], total] = totals[total, depth]
                    scalars[LISTED] += 1
            continue
        if depth == 0:
            scalars[DONE] = 1
            break
        depth -= 1
        unit = path[depth] + 1
    scalars[_DEPTH], scalars[_UNIT] = depth, unit


class Similarities(Deciding):
    """The depth-first walk that keeps the largest similarity of each token to the units on its path."""

    stride = 1 << 14

    def __init__(self, coverage: Facility, rows: int) -> None:
        super().__init__(coverage, rows)
        self.rate = _rate_of_similarities(coverage)
        order = np.argsort(coverage.lengths, kind="stable")
        deepest = int(np.searchsorted(np.cumsum(coverage.lengths[order]), coverage.max_length, side="right"))
        self._order = order[coverage.lengths[order] <= coverage.max_length]
        weighted = (coverage.similar[:, self._order] * coverage.importance[:, None]).T
        totals = np.repeat(coverage.constants[:, None], deepest + 1, axis=1)
        kind = INTEGER if coverage.constant_denominator else KINDS[coverage.combination]
        self._walk = SimilarityWalk(
            kernel_array(weighted),
            kernel_array(coverage.own[:, self._order]),
            kernel_array(coverage.lengths[self._order]),
            np.array([coverage.min_length, coverage.max_length, kind], np.int64),
            kernel_array(coverage.weights),
            np.zeros((deepest + 1, weighted.shape[1]), np.int64),
            kernel_array(totals),
            np.zeros(deepest + 1, np.int64),
            np.zeros(deepest, np.int64),
            np.zeros(11, np.int64),
            np.full(1, -1.0),
            np.zeros((_CANDIDATES, deepest + 2), np.int64),
            np.zeros((_CANDIDATES, len(totals)), np.int64),
        )

    def advance(self, visits: int) -> Selection | None:
        scalars = self._walk.scalars
        advance_similarities(self._walk, visits)
        self.done = bool(scalars[DONE])
        self.visited, self.feasible = int(scalars[VISITED]), int(scalars[FEASIBLE])
        number, scalars[LISTED] = int(scalars[LISTED]), 0
        return self.decide(self._walk.listed[:number], self._walk.found[:number])

    def units(self, row: IntArray) -> list[int]:
        return sorted(self._order[row[1 : row[0] + 1]].tolist())


class OneByOne(Walker):
    """The walk that calls the problem's `evaluate` for each selection: exact for all numbers, but slow."""

    rate = 2e4
    stride = 1

    def __init__(
        self, problem: Problem, coverage: Coverage | None, see: Callable[[Selection], Evaluation], rows: int
    ) -> None:
        super().__init__(problem if coverage is None else coverage, rows)
        self._problem, self._see = problem, see
        self._selections = within_limits(problem, coverage)
        empty = problem.evaluate(())
        if empty.feasible:
            self._best = empty.key

    def advance(self, visits: int) -> Selection | None:
        """Visit up to `visits` more selections; return None, because `see` records better ones."""
        better = self._problem.sense.better
        for _ in range(visits):
            selection = next(self._selections, None)
            if selection is None:
                self.done = True
                break
            evaluation = self._see(selection)
            if not evaluation.feasible:
                continue
            self.feasible += 1
            if self._best is None or better(evaluation.key, self._best):
                self._best, self.ties, self._ties = evaluation.key, 0, []
            if evaluation.key == self._best:
                self.ties += 1
                if len(self._ties) < self._rows:
                    self._ties.append(list(selection))
        return None


def seconds_of(problem: Problem, worth: float) -> float:
    """Estimate the seconds of a visit of all selections; a result above `worth` is only a lower limit."""
    coverage = problem.coverage.merged if problem.can(Capability.COVERAGE) else None
    if coverage is not None and _is_of_similarities(coverage):
        rate = _rate_of_similarities(coverage)
        return visits_of(coverage, worth * rate) / rate
    kinds = (OneByOne,) if coverage is None else (Flips, Pairs)
    slowest, quickest = kinds[0].rate, kinds[-1].rate
    visits = visits_of(problem if coverage is None else coverage, worth * quickest)
    if coverage is not None and coverage.ratios > _FEW_RATIOS:
        visits *= coverage.ratios / _FEW_RATIOS
    if visits <= worth * slowest or visits > worth * quickest:
        return visits / quickest
    pairs = coverage is not None and _halves(coverage) is not None
    flips = coverage is not None and (pairs or arrays_of(coverage) is not None)
    return visits / (Pairs if pairs else Flips if flips else OneByOne).rate


_FEW_RATIOS: Final = 8  # Number of ratios beyond which a visit takes longer in proportion.


def visits_of(instance: Problem | Coverage, enough: float = inf) -> float:
    """Estimate the number of selections that a walk visits; a result above `enough` may be infinite."""
    if not isinstance(instance, Coverage):
        return estimate_feasible(instance.lengths, instance.min_length, instance.max_length, enough)
    visits = estimate_feasible(instance.lengths.tolist(), instance.min_length, instance.max_length, enough)
    ways = [1.0] * (instance.size + 1)  # the last entry is for units without a parent
    for unit, parent in reversed(list(enumerate(instance.parents.tolist()))):
        ways[parent] *= 1 + ways[unit]
    return min(visits, ways[-1]) if len(instance.parents) else visits


def within_limits(problem: Problem, coverage: Coverage | None) -> Iterator[Selection]:
    """Yield the selections within the length limits, except the empty one."""
    lengths, low, high = problem.lengths, problem.min_length, problem.max_length
    parents = ([] if coverage is None else coverage.parents.tolist()) or [-1] * problem.size
    possible = reachable(lengths, low, high)
    path: list[int] = []
    chosen: set[int] = set()
    length, unit = 0, 0
    while True:
        # Can units from `unit` on, of which none is chosen yet, bring the length within the limits?
        if unit < problem.size and possible(unit, length):
            if parents[unit] in chosen or parents[unit] < 0:
                path.append(unit)
                chosen.add(unit)
                length += lengths[unit]
                if low <= length <= high:
                    yield tuple(path)
            unit += 1
            continue
        if not path:
            return
        unit = path.pop()
        chosen.discard(unit)
        length -= lengths[unit]
        unit += 1


def size_of_best(instance: Coverage) -> tuple[int, int]:
    """Estimate how many units maximize one ratio, and how many units with the largest ratios of their own fit.

    The estimate takes units in the order of their own ratios, as if they shared no features. This needs only one sort,
    whereas a greedy search examines all units for each unit that it takes.
    """
    top, bottom = gains_alone(instance, 0), gains_alone(instance, 1)
    order = np.argsort(-top / np.maximum(bottom, 1), kind="stable")
    full = instance.level[instance.level_start[1:] - 1][instance.slot == 0]
    most = int(instance.mass[0].sum() + full.sum())  # the largest gain of the first numerator
    tops = np.minimum(np.cumsum(top[order]), most) + instance.constants[0]
    bottoms = np.cumsum(bottom[order]) + instance.constants[1]
    fitting = int((np.cumsum(instance.lengths[order]) <= instance.max_length).sum())
    return int(np.argmax(tops / np.maximum(bottoms, 1))) + 1, fitting


_ONE_RATIO_S: Final = 5e-4
_SEVERAL_S: Final = 0.025
_SIMILAR_S: Final = 1.0
_ANY_S: Final = 0.01
"""Longest visit (s) of few selections: for one ratio, for several, for F1 by similarity, whose other search takes
seconds, and for problems outside the normal form.
"""


def is_few(problem: Problem, most_s: float = inf) -> bool:
    """Return whether visiting all selections of a problem takes `most_s` at most, and less than another search."""
    instance = problem.coverage if problem.can(Capability.COVERAGE) else None
    if instance is None:
        worth = _ANY_S
    elif instance.combination.is_itself(instance.weights):
        worth = _ONE_RATIO_S
    else:
        worth = _SIMILAR_S if _is_of_similarities(instance) else _SEVERAL_S
    worth = min(worth, most_s)
    return seconds_of(problem, worth) <= worth


Visit: TypeAlias = Callable[[Run, Callable[[Key], bool]], Iterator[tuple[Selection, Evaluation]]]

_KEPT: Final = 2_000_000  # Largest number of selections that are kept.
_FEWEST: Final = 10_000  # Least number of selections between two removals of those that miss the threshold.


def evaluated_near(
    problem: Problem,
    nearness: Nearness,
    limits: Limits,
    should_stop: Callable[[], bool] | None = None,
    search: Callable[[Run], None] | None = None,
    visit: Visit | None = None,
) -> Optima:
    """Return all near-optimal selections of a problem by evaluation.

    `search`: finds an optimum first, if given. `visit`: yields the selections to evaluate, by default all that fit.
    """
    run = Run(problem, limits, on_progress=lambda _: None if should_stop is None else not should_stop())
    near = _Near(problem, nearness)
    reason = "completed"

    def kept(run: Run) -> None:
        nonlocal reason
        if search is not None:
            search(run)
            if run.evaluation is not None and run.selection is not None:
                near.keep(run.selection, Fraction(run.evaluation.key))
        for selection, evaluation in (visit or _visit_all)(run, near.is_out_of_reach):
            if evaluation.feasible and not near.keep(selection, Fraction(evaluation.key)):
                reason = "memory_limit"
                break

    try:
        run.be_searched(kept)
    except Stopped as stopped:
        reason = stopped.termination.value
    except KeyboardInterrupt:
        reason = "interrupted"
    complete = reason == "completed"
    sets, least = near.reached(unproven=not complete and (nearness.values is not None or not run.proven))
    found = found_by(run, sets, reason, proven=complete or run.proven)
    return found.near(least, run.selection)


def _visit_all(run: Run, is_out_of_reach: Callable[[Key], bool]) -> Iterator[tuple[Selection, Evaluation]]:
    del is_out_of_reach
    coverage = run.problem.coverage if run.problem.can(Capability.COVERAGE) else None
    for selection in chain([()], within_limits(run.problem, coverage)):
        run.check()  # after each one, because a user's own metric may take seconds
        yield selection, run.see(selection)


class _Near:
    """The selections near the best one so far; the threshold only gets stricter, so dropped ones stay useless."""

    def __init__(self, problem: Problem, nearness: Nearness) -> None:
        coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
        self._nearness, self._sense = nearness, problem.sense
        self._step = None if coverage is None else step_of(coverage)
        self._power = 1 if coverage is None else power_of(coverage)
        self._kept: list[tuple[Fraction, Selection]] = []
        self._next = _FEWEST
        self._best: list[Fraction] = []  # the values that decide the threshold, the best first

    def is_out_of_reach(self, bound: Key) -> bool:
        if not self._best or len(self._best) < (self._nearness.values or 1):
            return False
        return self._sense.better(self._least(), bound) and not self._sense.better(bound, self._best[0])

    def keep(self, selection: Selection, key: Fraction) -> bool:
        self._kept.append((key, selection))
        if key not in self._best:
            self._best = sorted([*self._best, key], reverse=self._sense.better(1, 0))[: self._nearness.values or 1]
        if len(self._kept) >= self._next:
            self._sift()
            self._next = max(_FEWEST, 2 * len(self._kept))
        return len(self._kept) < _KEPT

    def reached(self, *, unproven: bool) -> tuple[list[Selection], Fraction | None]:
        """Return the near-optimal selections and the threshold; the best one and None if the threshold is unknown."""
        if not self._kept:
            return [], None
        if unproven and not self._nearness.known:
            best = max(self._kept) if self._sense.better(1, 0) else min(self._kept)
            return [best[1]], None
        least = self._sift()
        return [selection for _, selection in self._kept], least

    def _sift(self) -> Fraction:
        least = self._least()
        self._kept = [(key, selection) for key, selection in self._kept if not self._sense.better(least, key)]
        return least

    def _least(self) -> Fraction:
        if self._nearness.values is not None:
            return self._best[-1]
        return self._nearness.least(self._best[0], self._sense, step=self._step, power=self._power)


_LONG_S: Final = 2.0
_ABSURD_S: Final = 600.0
_MEASURED_S: Final = 0.2
_YEAR_S: Final = 31_557_600
_AGE_OF_THE_EARTH_S: Final = 4.54e9 * _YEAR_S
_UNITS: Final = ((60.0, 1.0, "s"), (3600.0, 60.0, "min"), (86400.0, 3600.0, "h"), (3e7, 86400.0, "days"))


class TimeEstimate:
    """Estimate of the duration of an exhaustive search, first from a typical rate, then from the measured one."""

    def __init__(self, selections: float, rate: float) -> None:
        self.selections = selections
        self.seconds = selections / rate
        self._said = False

    def update(self, visited: int, elapsed: float, limit_s: float | None) -> str | None:
        """Estimate again from the progress; return a message, only once, if the search will take long."""
        if self._said or elapsed < _MEASURED_S or not visited:
            return None
        self._said = True
        self.seconds = self.selections * elapsed / visited
        if self.seconds <= _LONG_S:
            return None
        many = "more than 1e300" if isinf(self.selections) else f"{self.selections:.3g}"
        about = "about " if self.seconds < _AGE_OF_THE_EARTH_S else ""
        text = f"exhaustive: {many} selections, {about}{duration(self.seconds)}"
        if limit_s is not None and limit_s < self.seconds:
            return f"{text}; the time limit stops it after {duration(limit_s)}."
        if self.seconds > _ABSURD_S:
            return f"{text}; --time-limit stops it early, and --strategy branch-and-bound or milp may be faster."
        return f"{text}."


def duration(seconds: float) -> str:
    """Return a duration in words.

    Examples
    --------
    >>> duration(95.0)
    '1.6 min'
    """
    for below, unit, name in _UNITS:
        if seconds < below:
            return f"{seconds / unit:.2g} {name}"
    return f"{seconds / _YEAR_S:.2g} years" if seconds < _AGE_OF_THE_EARTH_S else "longer than the Earth is old"


def found_by(run: Run, sets: Iterable[Sequence[int]], reason: str, *, proven: bool) -> Optima:
    """Return sets as the optima of a run, with its best value, which is also the bound if it is proven.

    Otherwise the bound is that of the run. Without a selection there is no bound, which would look like a proof.
    """
    problem, found = run.problem, run.evaluation
    value: int | Fraction = 0 if found is None else worth(problem, found.key)
    bound: int | Fraction | None = value
    if not proven:
        deadline = run.limits.late(run.deadline, interrupted=reason == "interrupted")
        if found is not None and run.bound is None and problem.can(Capability.BOUND):
            run.raise_root_bound(deadline)
        bound = None if found is None or run.bound is None else worth(problem, run.bound)
    statistics = {**run.statistics, "nodes": run.nodes} if run.nodes else run.statistics
    slow = run.known if run.is_slow else {}
    return Optima(Diagram.of_sets(sets), value, bound, reason == "completed", reason, statistics, known=slow)


_ROWS: Final = 1000  # Number of ties that the first walk of an enumeration lists; more ties need another walk.
_LARGEST_LIST: Final = 50_000_000  # Largest number of integers in a list of ties.
_MOMENTS_S: Final = 0.05  # Expected time (s) of a visit above which it begins with a greedy selection.


@dataclass(frozen=True)
class Exhaustive(Strategy):
    """Evaluate all selections that fit.

    Lin & Hovy 2003, section 5: all sentence combinations within a length window. A complete search counts the non-empty
    selections within the limits (the statistic ``feasible``) and the optimal ones among them (``best_selections``).
    The statistic ``estimate_s`` is the estimated time in seconds. Problems outside the normal form (a user's own
    metric) are evaluated one selection at a time.
    """

    name: ClassVar[str] = "exhaustive"
    about: ClassVar[str] = "evaluates every selection within the limits; proves the optimum of small instances"
    exact: ClassVar[bool] = True
    enumerates: ClassVar[bool] = True

    def prepare(self, problem: Problem | None = None) -> None:
        """Compile the kernels of all walks, because the instance decides which of them is used."""
        if problem is None or problem.can(Capability.COVERAGE):
            prepare()

    def search(self, run: Run) -> None:
        run.see(())
        self._walk(run, rows=0)

    def enumerate(self, problem: Problem, limits: Limits, should_stop: Callable[[], bool] | None = None) -> Optima:
        """Visit every selection, and all of them a second time if there are too many ties to list at first."""
        run = Run(problem, limits, on_progress=lambda _: None if should_stop is None else not should_stop())
        reason, sets, with_empty = "completed", [], False
        try:
            run.see(())
            empty = run.evaluation
            walker = self._walk(run, rows=_ROWS)
            rows = min(walker.ties, _LARGEST_LIST // (problem.size + 1))
            if rows > _ROWS:
                walker, go = self._walker(run, rows), in_strides(walker.stride)
                while not walker.done:
                    run.check()
                    go(walker.advance)
            reason = "completed" if rows == walker.ties else "memory_limit"
            sets = walker.listed()
            with_empty = empty is not None and run.evaluation is not None and empty.key == run.evaluation.key
        except Stopped as stopped:
            reason = stopped.termination.value
        except KeyboardInterrupt:
            reason = "interrupted"
        if with_empty:
            sets.append([])
        if not sets and run.selection is not None:
            sets = [list(run.selection)]
        return found_by(run, sets, reason, proven=run.proven)

    def near(
        self, problem: Problem, nearness: Nearness, limits: Limits, should_stop: Callable[[], bool] | None = None
    ) -> Optima:
        self.accept(problem)
        return evaluated_near(problem, nearness, limits, should_stop)

    @staticmethod
    def _walker(run: Run, rows: int) -> Walker:
        problem = run.problem
        coverage = problem.coverage.merged if problem.can(Capability.COVERAGE) else None
        return walker_of(problem, coverage, run.see, rows)

    def _walk(self, run: Run, rows: int) -> Walker:
        walker = self._walker(run, rows)
        go = in_strides(walker.stride)
        estimate = TimeEstimate(walker.expected, walker.rate)
        most = run.limits.evaluations
        # Decided by the expected number, not by the clock, so that a repeated search evaluates as many selections.
        if walker.expected > _MOMENTS_S * walker.rate or (most is not None and most < walker.expected):
            run.begin()
        try:
            while not walker.done:
                run.check()
                visited = walker.visited
                found = go(walker.advance, most and most - run.evaluations)
                # `run.see` counts the reported selection, so it is left out here.
                run.count(evaluations=walker.visited - visited - (walker.visited > visited and found is not None))
                if found is not None:
                    run.see(found)
                if long := estimate.update(walker.visited or walker.feasible, run.elapsed, run.limits.time_s):
                    run.tell(long)
        finally:
            run.statistics["estimate_s"] = estimate.seconds
        run.statistics["feasible"] = walker.feasible
        run.statistics["best_selections"] = walker.ties
        run.prove()
        return walker
