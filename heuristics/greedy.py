"""Greedy search: repeatedly make the move of largest gain per length."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, inf
from typing import ClassVar, Final

import numpy as np

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import OptionError, UnsupportedError
from optsum.problem.problem import Capability, Evaluation, Move, Problem, Selection
from optsum.system.clock import Stopped, Termination
from optsum.whole import LARGEST

GUARANTEE: Final = 0.5 * (1 - 1 / e)
"""Guaranteed share of the optimum for recall, n-grams within sentences and no minimum length."""


@dataclass(frozen=True)
class Greedy(Strategy):
    r"""Choose by gain per length, or the best single unit if it is better.

    Hirao et al. 2017 (Enumeration of Extractive Oracle Summaries), Algorithm 2, after Khuller et al. 1999. Line 5 of
    the printed algorithm adds the length of a sentence even if it is then rejected; here, as intended, a rejected one
    leaves the length unchanged. Units without gain are not taken, except for `idle` or a minimum length. A selection
    below the minimum is repaired (`optsum.problem.problem.Problem.repair`).

    For recall, n-grams within sentences and no minimum length the objective is monotone and submodular, and its value
    is at least :math:`\frac{1}{2}(1 - \frac{1}{e})` of the optimum: the result's statistics state this number as
    ``guarantee``. Otherwise there is no guarantee.

    A move chooses a unit with its missing ancestors, or all units of an occurrence that needs several. If the empty
    selection violates side constraints, as in a cover, moves that repair most come first, and units that are not needed
    are dropped at the end.

    Parameters
    ----------
    idle : bool
        Whether to add units without gain that fit at the end, in document order, as the printed loop does.
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
        from optsum.coverage import climb

        if problem is None or problem.can(Capability.COVERAGE):
            climb.prepare()

    def search(self, run: Run) -> None:
        begun = run.see(())
        on_arrays = run.problem.can(Capability.COVERAGE)
        last = self._on_arrays(run, run.problem.coverage) if on_arrays else None
        if last is None:
            last = self._one_by_one(run)
        if run.evaluation is None:  # the climb ended below the minimum
            run.see(run.problem.repair(last, run.rng))
        covers = run.problem.sense is Sense.MINIMIZE or (not on_arrays and _covers(run.problem, (), begun))
        if covers and (selection := run.selection) is not None:
            # What the units that were taken later have made idle is dropped, the longest first.
            for unit in sorted(selection, key=lambda unit: -run.problem.lengths[unit]):
                run.check()
                fewer, held = tuple(other for other in selection if other != unit), run.evaluation
                evaluation = run.see(fewer)
                if evaluation.feasible and held is not None and not run.problem.sense.better(held.key, evaluation.key):
                    selection = fewer
        if self.idle and run.selection == last:
            self._take_idle(run, last)
        if run.problem.can(Capability.COMBINATORIAL_BOUND) and run.problem.min_length == 0:
            run.statistics["guarantee"] = GUARANTEE

    @staticmethod
    def _take_idle(run: Run, selection: Selection) -> None:
        """Take all units that fit and do not lower the value; the run would not keep units without gain."""
        for move in list(run.problem.moves(selection)):
            run.check()
            more = tuple(sorted({*selection, *move}))
            if more == selection or not run.problem.fits(more):
                continue
            held, evaluation = run.evaluation, run.see(more)
            if held is not None and evaluation.feasible and not run.problem.sense.better(held.key, evaluation.key):
                selection = run.selection = more
                run.evaluation = evaluation

    @staticmethod
    def _on_arrays(run: Run, coverage: Coverage) -> Selection | None:
        from optsum.coverage.climb import climbers_of

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
        problem = run.problem
        selection: Selection = ()
        held = run.evaluate(selection)
        while True:
            # A length is bought with what it removes of the violation.
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
                if covering:
                    gain = float(held.violation - evaluation.violation)
                elif problem.sense is Sense.MAXIMIZE:
                    gain = float(evaluation.key - held.key)
                else:
                    gain = float(held.key - evaluation.key)
                added = problem.length(move)
                density = gain / added if added > 0 else inf if gain > 0 else gain
                # What breaks more of the limits is taken only where nothing else gains: others may mend it.
                keeps = evaluation.violation <= held.violation and (density > 0 or short)
                if best is None or (keeps, density) > best[0]:
                    best = ((keeps, density), evaluation, candidate)
            if best is None or (best[0][1] <= 0 and not short):
                return selection
            _, held, selection = best


def _covers(problem: Problem, selection: Selection, held: Evaluation) -> bool:
    """Return whether a selection violates side constraints that more units can repair."""
    return held.violation > (0 if problem.sense is Sense.MINIMIZE else problem.excess(selection))


def _foremost(run: Run, selection: Selection, held: Evaluation, *, covering: bool) -> list[Move] | None:
    """Return the addition to a selection of largest gain per length, and that of largest value."""
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
