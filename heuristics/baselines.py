"""The strategies `greedy`, `lead` and `random`, from whose selections other searches start, and shared helpers.

The helpers stop at the bound, and search problems without kernels. Problems in the normal form are searched greedily by
the kernel of `optsum.coverage.greedy`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import e, inf
from typing import Any, ClassVar

import numpy as np

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import OptionError, UnsupportedError
from optsum.problem.problem import Capability, Evaluation, Move, Problem, Selection
from optsum.program.model import is_cover
from optsum.system.clock import Stopped, Termination
from optsum.whole import LARGEST


@dataclass(frozen=True)
class Greedy(Strategy):
    r"""Choose units by gain per length, or the best single unit if it is better.

    Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), Algorithm 2, after Khuller et al. 1999. Line 5 of
    the printed algorithm adds the length of a sentence even if it is then rejected; here, as intended, a rejected
    sentence leaves the length unchanged. Units without gain are not chosen, except for `idle` or a minimum length. A
    selection below the minimum is repaired (`optsum.problem.problem.Problem.repair`).

    For recall, n-grams within sentences and no minimum length, the objective is monotone and submodular, and the value
    of the selection is at least :math:`\frac{1}{2}(1 - \frac{1}{e})` of the optimum: the result's statistics have this
    number as ``guarantee``. Otherwise there is no guarantee.

    A move chooses a unit with its missing ancestors, or all units of an occurrence that needs several. If the empty
    selection violates side constraints, as in a cover, moves that reduce the violation most come first, and units that
    are not needed are dropped at the end.

    Parameters
    ----------
    idle : bool
        Whether to add, at the end and in document order, units that fit and have no gain, as the printed loop does.
    """

    idle: bool = False

    name: ClassVar[str] = "greedy"
    about: ClassVar[str] = "gain per length, then the best single unit (Hirao et al. 2017, Algorithm 2)"

    def __post_init__(self) -> None:
        if not isinstance(self.idle, bool):
            raise OptionError(f"The option idle is {self.idle!r:.40}; give true or false.")

    def accept(self, problem: Problem) -> None:
        super().accept(problem)
        if self.idle and problem.sense is Sense.MINIMIZE:
            raise UnsupportedError("Units without gain only increase the minimized length: leave out the option idle.")

    def prepare(self, problem: Problem | None = None) -> None:
        from optsum.coverage.greedy import prepare_climb

        if problem is None or problem.can(Capability.COVERAGE):
            prepare_climb()

    def search(self, run: Run) -> None:
        problem, begun = run.problem, run.see(())
        on_arrays = problem.can(Capability.COVERAGE)
        last = self._on_arrays(run, problem.coverage) if on_arrays else None
        if last is None:
            last = self._one_by_one(run)
        if run.evaluation is None:  # no feasible selection was found, as below a minimum length
            run.see(problem.repair(last, run.rng))
        covers = problem.sense is Sense.MINIMIZE or (not on_arrays and _covers(problem, (), begun))
        if covers and (selection := run.selection) is not None:
            # Units that later ones have made unnecessary are dropped, the longest first.
            for unit in sorted(selection, key=lambda unit: -problem.lengths[unit]):
                run.check()
                fewer = tuple(other for other in selection if other != unit)
                selection = fewer if _seen_no_worse(run, fewer) else selection
        if self.idle and run.selection == last:
            # Units that fit and do not lower the value are added, although the result may be no better.
            for move in list(problem.moves(last)):
                run.check()
                more = tuple(sorted({*last, *move}))
                if more != last and problem.fits(more) and (evaluation := _seen_no_worse(run, more)):
                    last = run.selection = more
                    run.evaluation = evaluation
        if problem.can(Capability.COMBINATORIAL_BOUND) and problem.min_length == 0:
            # The guaranteed share of the optimum for recall, n-grams within sentences and no minimum length.
            run.statistics["guarantee"] = 0.5 * (1 - 1 / e)

    @staticmethod
    def _on_arrays(run: Run, coverage: Coverage) -> Selection | None:
        from optsum.coverage.greedy import climbers_of

        run.check()
        climbers = climbers_of(coverage, run.deadline)
        if climbers is None:
            return None
        most = run.limits.evaluations
        for climber in climbers:
            left = None if most is None else most - run.evaluations
            try:
                while not climber.go_on(None if left is None else left - climber.evaluations):
                    run.check()
                    if left is not None and climber.evaluations >= left:
                        raise Stopped(Termination.EVALUATION_LIMIT)
            finally:
                run.count(evaluations=climber.evaluations)
                run.see(climber.units)
            run.check()
        return climbers[0].units

    @staticmethod
    def _one_by_one(run: Run) -> Selection:
        problem, held = run.problem, run.evaluate(())
        selection: Selection = ()
        sign = 1 if problem.sense is Sense.MAXIMIZE else -1
        while True:
            # In a cover, the gain of a move is the violation that it removes.
            covering = _covers(problem, selection, held)
            short = covering or problem.length(selection) < problem.min_length
            best: tuple[tuple[bool, float], Evaluation, Selection] | None = None
            foremost = _foremost(run, selection, held, covering=covering)
            for move in problem.moves(selection) if foremost is None else foremost:
                if not set(move).isdisjoint(selection):
                    continue
                candidate = tuple(sorted({*selection, *move}))
                if not problem.fits(candidate):
                    continue
                run.check()
                evaluation = run.see(candidate)
                gain = float(held.violation - evaluation.violation if covering else sign * (evaluation.key - held.key))
                added = problem.length(move)
                density = gain / added if added > 0 else inf if gain > 0 else gain
                # A move that increases the violation is made only if no other gains: later moves may repair it.
                keeps = evaluation.violation <= held.violation and (density > 0 or short)
                if best is None or (keeps, density) > best[0]:
                    best = ((keeps, density), evaluation, candidate)
            if best is None or (best[0][1] <= 0 and not short):
                return selection
            _, held, selection = best


def _seen_no_worse(run: Run, selection: Selection) -> Evaluation | None:
    """Report a selection; return its evaluation if it is feasible, and no worse than the incumbent before."""
    held, evaluation = run.evaluation, run.see(selection)
    no_worse = held is not None and evaluation.feasible and not run.problem.sense.better(held.key, evaluation.key)
    return evaluation if no_worse else None


def _covers(problem: Problem, selection: Selection, held: Evaluation) -> bool:
    """Return whether a minimized selection is infeasible, or another violates more than the limits of the length."""
    return held.violation > (0 if problem.sense is Sense.MINIMIZE else problem.excess(selection))


def _foremost(run: Run, selection: Selection, held: Evaluation, *, covering: bool) -> list[Move] | None:
    """Return the best additions by gain (`covering`: less violation) per length and by value; None if unknown."""
    found = None if run.limits.evaluations is not None else run.problem.additions(selection)
    if found is None:
        return None
    units, violation, gain = found
    if not len(units):
        return []
    gain = gain if run.problem.sense is Sense.MAXIMIZE else -gain
    worth = np.where(violation == 0, gain, -LARGEST)
    wanted = (held.violation - violation if covering else gain).astype(np.float64)
    added = np.array(run.problem.lengths, np.float64)[units]
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where(added > 0, wanted / added, np.where(wanted > 0, inf, wanted))
    first = sorted({int(density.argmax()), int(worth.argmax())})
    run.count(evaluations=len(units) - len(first))
    return [(unit,) for unit in units[first].tolist()]


@dataclass(frozen=True)
class Lead(Strategy):
    """Choose the first units in document order, up to the first that does not fit; for a cover, until all is covered.

    Here and in `Random`, choosing a unit also chooses its ancestors, and choosing a chunk its whole sentence. If the
    selection violates side constraints, another is built: units that reduce the violation first, then harmless units.
    """

    name: ClassVar[str] = "lead"
    about: ClassVar[str] = "the first sentences, up to the first that does not fit, ignoring references"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        _take(run, list(run.problem.entries()), stop=True)


@dataclass(frozen=True)
class Random(Strategy):
    """Add units in random order, each if it still fits; for a cover, until all is covered.

    A selection below a minimum length is repaired (`optsum.problem.problem.Problem.repair`).
    """

    name: ClassVar[str] = "random"
    about: ClassVar[str] = "sentences in random order, each taken if it fits, ignoring references"
    all_units: ClassVar[bool] = True

    def search(self, run: Run) -> None:
        moves = list(run.problem.entries())
        _take(run, [moves[place] for place in run.rng.permutation(len(moves)).tolist()], stop=False)


def _take(run: Run, moves: Sequence[Move], *, stop: bool) -> None:
    """Make the moves that fit, in turn, and report the selection; for a cover, make moves until all is covered.

    `stop`: whether to stop at the first move that does not fit, instead of repairing the selection at the end. If the
    selection violates side constraints, another is built by evaluating the moves in turn: first moves that reduce the
    violation are made, then moves that cause none.
    """
    problem = run.problem
    if problem.sense is Sense.MINIMIZE:
        selection, stop = until_feasible(run, moves), False
    else:
        taken: set[int] = set()
        for move in moves:
            if problem.fits(taken.union(move)):
                taken.update(move)
            elif stop:
                break
        selection = tuple(sorted(taken))
        selection = selection if stop else problem.repair(selection, run.rng)
    evaluation = run.see(selection)
    if evaluation.violation > problem.excess(selection):
        selection, evaluation = (), run.evaluate(())
        for fills in (False, True)[: 1 + (problem.sense is Sense.MAXIMIZE)]:
            for move in moves:
                if evaluation.feasible is not fills:
                    break
                run.check()
                run.count(evaluations=1)
                more = tuple(sorted({*selection, *move}))
                seen = run.evaluate(more)
                if problem.fits(more) and (seen.feasible if fills else seen.violation < evaluation.violation):
                    selection, evaluation = more, seen
                elif fills and stop:
                    break
        run.see(selection)
    if not evaluation.feasible:
        run.detail = (
            f"units taken one after another violate the limits by {evaluation.violation}, and no others are tried: use "
            "greedy or vns"
        )


_LARGEST = 10**15  # Largest value of an option; kernels add several of them in 64 bits.
_MOST_ENTRIES = 50_000  # Number of pairs of unit and feature above which a relaxation may outlast the search.


def random_start(run: Run, moves: Sequence[Move] | None = None) -> Selection:
    """Return a selection of random units that fit, repaired if it violates limits."""
    problem, rng, on_arrays = run.problem, run.rng, run.problem.can(Capability.COVERAGE)
    taken: set[int] = set()
    if problem.sense is Sense.MAXIMIZE or not on_arrays:
        moves = list(problem.moves(())) if moves is None else moves
        shuffled = [moves[place] for place in rng.permutation(len(moves)).tolist()]
        if problem.sense is Sense.MINIMIZE:
            return problem.repair(until_feasible(run, shuffled), rng)
        ruled, length = on_arrays and bool(problem.coverage.rows), 0
        for move in shuffled:
            added = tuple(set(move) - taken)
            longer = length + problem.length(added)
            if longer <= problem.max_length and not (ruled and not problem.fits(taken.union(added))):
                taken.update(added)
                length = longer
        if length >= problem.min_length and on_arrays and not ruled:
            return tuple(sorted(taken))
    return problem.repair(tuple(sorted(taken)), rng)


def until_feasible(run: Run, moves: Sequence[Move]) -> Selection:
    """Return the units of the shortest feasible prefix of the moves; those of all moves if no prefix is feasible."""
    problem = run.problem

    def first(count: int) -> Selection:
        return tuple(sorted({unit for move in moves[:count] for unit in move}))

    def feasible(count: int) -> bool:
        run.check()
        return run.evaluate(first(count)).feasible

    counts = range(len(moves))
    if problem.can(Capability.COVERAGE) and is_cover(problem.coverage):
        # A cover with more units is still a cover.
        return first(bisect_left(counts, True, key=feasible))
    return first(next(filter(feasible, counts), len(moves)))


class FromGreedy(Strategy):
    """A search that starts from the greedy selection, so that it is never worse than greedy."""

    def prepare(self, problem: Problem | None = None) -> None:
        super().prepare(problem)
        Greedy().prepare(problem)

    def start(self, run: Run) -> Selection:
        """Return the greedy selection, or a random start if greedy search finds nothing feasible."""
        Greedy().search(run)
        return random_start(run) if run.selection is None else run.selection


def raise_cheap_bound(run: Run) -> None:
    """Compute the root bound if that is cheap, so that a search whose incumbent reaches the bound can stop."""
    problem = run.problem
    bounded = all(map(problem.can, (Capability.BOUND, Capability.LINEAR, Capability.COVERAGE)))
    if bounded and not problem.coverage.joints and len(problem.coverage.unit_feature) <= _MOST_ENTRIES:
        run.raise_root_bound(run.deadline.within(run.remaining_s / 4))


def at_least(lowest: int, *, none: bool = False, **options: Any) -> None:
    """Refuse options that are not whole numbers of at least `lowest` (with `none`, also None), or are too large."""
    for name, value in options.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (none and value is None) and (not whole or value < lowest):
            raise OptionError(f"The option {name} is {value!r}; give a whole number of at least {lowest}.")
        if value is not None and value > _LARGEST:
            raise OptionError(f"The option {name} is {value}; give a whole number of at most {_LARGEST}.")


Merit = tuple[Any, ...]
"""Negated violation, value (negated when minimizing) and negated length; the larger tuple is better."""


class Plain:
    """Local search by `evaluate`, `moves` and `repair` alone; no selection is evaluated twice."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def see(self, selection: Selection) -> Evaluation:
        self.run.check()
        known = self.run.known.get(selection)
        return self.run.see(selection) if known is None else known

    def merit(self, selection: Selection) -> Merit:
        problem, evaluation = self.run.problem, self.see(selection)
        value = evaluation.key if problem.sense is Sense.MAXIMIZE else -evaluation.key
        return -evaluation.violation, value, -problem.length(selection)

    def descend(self, selection: Selection) -> Selection:
        """Improve a selection by moves and swaps, in random order, until none improves it; return the selection."""
        while True:
            for candidate in self._neighbours(selection):
                if self.merit(candidate) > self.merit(selection):
                    selection = candidate
                    break
            else:
                return selection

    def _neighbours(self, selection: Selection) -> Iterator[Selection]:
        """Yield selections one move away, then one drop and one addition away, that exceed length limits no further."""
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
        """Make `strength` random drops and as many random additions, in turn; return the repaired selection."""
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
