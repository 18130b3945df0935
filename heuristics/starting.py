"""Starting selections of heuristics, time slices of kernels, stopping at the bound, and search without kernels."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import IntArray, Sense
from optsum.errors import OptionError
from optsum.problem.problem import Capability, Evaluation, Move, Problem, Selection
from optsum.program.cover import is_cover
from optsum.system.clock import Stopped, in_strides

from .greedy import Greedy

_LARGEST = 10**15  # Of options; kernels add several of them, in 64 bits.
_MOST_ENTRIES = 50_000  # Beyond it the relaxation may take longer than the search.


def random_start(run: Run, moves: Sequence[Move] | None = None) -> Selection:
    """Add random units that fit, and repair the selection if necessary."""
    problem, rng = run.problem, run.rng
    taken: set[int] = set()
    if problem.sense is Sense.MINIMIZE and not problem.can(Capability.COVERAGE):
        moves = list(problem.moves(())) if moves is None else moves
        shuffled = [moves[place] for place in rng.permutation(len(moves)).tolist()]
        return problem.repair(until_feasible(run, shuffled), rng)
    if problem.sense is Sense.MAXIMIZE:
        moves = list(problem.moves(())) if moves is None else moves
        ruled = problem.can(Capability.COVERAGE) and bool(problem.coverage.rows)
        length, singles = 0, not ruled and all(len(move) == 1 for move in moves)
        order = rng.permutation(len(moves)).tolist()
        for place in order if singles else ():  # the same, in a tenth of the time
            unit = moves[place][0]
            if length + problem.lengths[unit] <= problem.max_length:
                taken.add(unit)
                length += problem.lengths[unit]
        for place in () if singles else order:
            added = set(moves[place]) - taken
            if length + problem.length(added) <= problem.max_length and not (ruled and not problem.fits(taken | added)):
                taken |= added
                length += problem.length(added)
        if length >= problem.min_length and problem.can(Capability.COVERAGE) and not ruled:
            return tuple(sorted(taken))
    return problem.repair(tuple(sorted(taken)), rng)


def until_feasible(run: Run, moves: Sequence[Move]) -> Selection:
    """Return the shortest prefix of the moves that makes the selection feasible; all moves if none does."""
    problem = run.problem

    def first(count: int) -> Selection:
        return tuple(sorted({unit for move in moves[:count] for unit in move}))

    def feasible(count: int) -> bool:
        run.check()
        return run.evaluate(first(count)).feasible

    counts = range(len(moves))
    if problem.can(Capability.COVERAGE) and is_cover(problem.coverage):
        # What covers still does when more is added.
        return first(bisect_left(counts, True, key=feasible))
    return first(next(filter(feasible, counts), len(moves)))


def greedy_start(run: Run) -> Selection:
    """Return the greedy selection, or a random start if greedy search finds nothing feasible."""
    Greedy().search(run)
    return random_start(run) if run.selection is None else run.selection


class FromGreedy(Strategy):
    """A search that starts from the greedy selection, so that it is never worse."""

    def prepare(self, problem: Problem | None = None) -> None:
        super().prepare(problem)
        Greedy().prepare(problem)

    def start(self, run: Run) -> Selection:
        return greedy_start(run)


def decisions(problem: Problem, selection: Selection) -> IntArray:
    chosen = np.zeros(problem.size, np.int64)
    chosen[list(selection)] = 1
    return chosen


def on_arrays(run: Run) -> tuple[Any, Any] | None:
    """Return the arrays of a problem and its moves; None if kernels do not support it."""
    if not run.problem.can(Capability.COVERAGE) or run.problem.coverage.ceilings:
        return None  # descents compare totals of features, which ceilings are below
    from optsum.coverage.state import arrays_of

    from .moves import neighbourhood_of

    arrays = arrays_of(run.problem.coverage)
    return None if arrays is None else (arrays, neighbourhood_of(run.problem.coverage))


def raise_cheap_bound(run: Run) -> None:
    """Compute the root bound now if that is cheap, so that a search that reaches it can stop."""
    problem = run.problem
    if all(map(problem.can, (Capability.BOUND, Capability.LINEAR, Capability.COVERAGE))):
        instance = problem.coverage
        if not instance.joints and len(instance.unit_feature) <= _MOST_ENTRIES:
            run.raise_root_bound(run.deadline.within(run.remaining_s / 4))


def is_certified(run: Run) -> bool:
    """Whether the incumbent reaches the bound, so that no selection is better."""
    return run.evaluation is not None and run.evaluation.key == run.bound


def at_least(lowest: int, *, none: bool = False, **options: Any) -> None:
    """Refuse options that are not whole numbers from `lowest` on, or that are too large for kernels."""
    for name, value in options.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (none and value is None) and (not whole or value < lowest):
            raise OptionError(f"The option {name} is {value!r}; give a whole number of at least {lowest}.")
        if value is not None and value > _LARGEST:
            raise OptionError(f"The option {name} is {value}; give a whole number of at most {_LARGEST}.")


class Slices:
    """Runs a kernel in slices, so that limits and Ctrl-C take effect."""

    def __init__(self, run: Run) -> None:
        self._run, self._go = run, in_strides(2_000)
        self.done = 0

    def go(
        self, kernel: Callable[[int], bool], evaluations: Callable[[], int], held: Callable[[], Iterable[int]]
    ) -> bool:
        """Check the limits, run a slice and count its evaluations; if the search ends here, report the selection found.

        `kernel`: function of the number of evaluations at which it must return. `held`: function that returns the
        kernel's best selection that has not been reported.
        """
        run, most = self._run, self._run.limits.evaluations
        try:
            run.check()
            left = None if most is None else most - run.evaluations
            answer = self._go(lambda size: kernel(self.done + size), left)
            total = evaluations()
            run.count(evaluations=total - self.done)
            self.done = total
            return bool(answer)
        except (Stopped, KeyboardInterrupt):
            run.see(held())
            raise


class Plain:
    """Local search by `evaluate`, `moves` and `repair` alone, which evaluates each selection once."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def see(self, selection: Selection) -> Evaluation:
        self.run.check()
        known = self.run.known.get(selection)
        return self.run.see(selection) if known is None else known

    def better(self, one: Selection, other: Selection) -> bool:
        """Whether a selection violates less, or has a better value, or the same value and a shorter length."""
        order = self.order(one, other)
        return order > 0 or (order == 0 and self.run.problem.length(one) < self.run.problem.length(other))

    def order(self, one: Selection, other: Selection) -> int:
        """Return 1 if a selection is better than another, -1 if worse, 0 if it is as good."""
        left, right = self.see(one), self.see(other)
        if left.violation != right.violation:
            return 1 if left.violation < right.violation else -1
        if left.key == right.key:
            return 0
        return 1 if self.run.problem.sense.better(left.key, right.key) else -1

    def descend(self, selection: Selection) -> Selection:
        """Make helpful moves and swaps in random order until there are none."""
        while True:
            for candidate in self._neighbours(selection):
                if self.better(candidate, selection):
                    selection = candidate
                    break
            else:
                return selection

    def _neighbours(self, selection: Selection) -> Iterator[Selection]:
        """Yield selections one move away, then a drop and an addition away, if the length is violated no more."""
        problem, rng, chosen = self.run.problem, self.run.rng, set(selection)
        moves = list(problem.moves(selection))
        excess = problem.excess(selection)
        for place in rng.permutation(len(moves)).tolist():
            candidate = chosen.symmetric_difference(moves[place])
            if problem.excess(candidate) <= excess:
                yield tuple(sorted(candidate))
        drops = [move for move in moves if chosen.issuperset(move)]
        adds = [move for move in moves if chosen.isdisjoint(move)]
        for place in rng.permutation(len(drops) * len(adds)).tolist():
            candidate = chosen.difference(drops[place // len(adds)]).union(adds[place % len(adds)])
            if problem.excess(candidate) <= excess:
                yield tuple(sorted(candidate))

    def shake(self, selection: Selection, strength: int) -> Selection:
        """Drop and add at random, `strength` times each, and repair."""
        problem, rng = self.run.problem, self.run.rng
        chosen = set(selection)
        for _ in range(strength):
            for dropping in (True, False):
                moves = [
                    move
                    for move in problem.moves(tuple(sorted(chosen)))
                    if (chosen.issuperset(move) if dropping else chosen.isdisjoint(move))
                ]
                if moves:
                    chosen.symmetric_difference_update(moves[int(rng.integers(len(moves)))])
        return problem.repair(tuple(sorted(chosen)), rng)
