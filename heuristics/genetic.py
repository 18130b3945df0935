"""Genetic search with the operators of DEAP; a kernel repairs, improves and ranks individuals."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from optsum.contracts.strategy import Run, Strategy, is_certified
from optsum.coverage.instance import Sense
from optsum.problem.problem import Capability, Problem, Selection
from optsum.system.compiled import compiles, njit

from .baselines import FromGreedy, Merit, Plain, at_least, raise_cheap_bound, random_start
from .moves import EVALUATIONS, Slices, become, descend, on_arrays, overwrite, rank, restart, settle, start, tiny


@compiles
def prepare() -> None:
    arrays, moves, chosen = tiny()
    polish(arrays, moves, start(arrays, chosen), np.ones((1, 1), np.int64), np.zeros((1, 4), np.int64), 0, 0, 1)


@njit(cache=True)
def polish(arrays: Any, moves: Any, descent: Any, rows: Any, ranks: Any, place: int, effort: int, until: int) -> int:
    """Add parents, repair, improve and rank rows from `place` on; return the first row that is not processed.

    `rows` (individuals, units): 0/1 decisions, changed in place. `ranks` (individuals, 4): their ranks. `effort`:
    approximate number of moves evaluated for each row; 0 only repairs and fills it. `until`: total number of evaluated
    moves after which no further row is begun.
    """
    state, control = descent.state, descent.control
    while place < len(rows) and control[EVALUATIONS] < until:
        row = rows[place]
        for unit in range(len(row) - 1, -1, -1):  # parents have smaller numbers
            if row[unit] == 1 and arrays.parents[unit] >= 0:
                row[arrays.parents[unit]] = 1
        become(arrays, state, row)
        restart(descent, np.int64(0))
        limit = control[EVALUATIONS] + effort
        control[EVALUATIONS] += 1 + settle(arrays, moves, descent, np.bool_(True))
        if effort > 0:
            descend(arrays, moves, descent, limit)
        overwrite(row, state.chosen)
        ranks[place, 0], ranks[place, 1], ranks[place, 2], ranks[place, 3] = rank(arrays, state)
        place += 1
    return place


_EASY = 1  # Generations without improvement before the bound is computed, which may take longer than generations.


@dataclass(frozen=True)
class Genetic(Strategy):
    """A genetic algorithm on bit strings, one bit for each unit, from a random population.

    Tournament selection, uniform crossover and bit-flip mutation (DEAP, Fortin et al. 2012); every child is repaired,
    filled up if the problem is in the normal form, and optionally improved by local search (Moscato 1989). Parents and
    children compete together, so the best always survive; individuals are distinct.

    Parameters
    ----------
    population : int, optional
        Individuals; by default 100, or 30 outside the normal form.
    no_improvement : int
        Generations without improvement after which the search ends.
    effort : int
        Approximate number of moves that the local search of each child evaluates; by default 0, because more
        generations do better in the same time.
    """

    name: ClassVar[str] = "genetic"
    about: ClassVar[str] = "genetic algorithm (DEAP) with repair, from a random population"
    population: int | None = None
    no_improvement: int = 40
    effort: int = 0

    def __post_init__(self) -> None:
        at_least(2, none=True, population=self.population)
        at_least(1, no_improvement=self.no_improvement)
        at_least(0, effort=self.effort)

    def prepare(self, problem: Problem | None = None) -> None:
        import deap.algorithms  # noqa: F401 - loaded before the time of the first search is measured

        if problem is None or problem.can(Capability.COVERAGE):
            prepare()

    def start(self, run: Run) -> Selection:
        return random_start(run)

    def search(self, run: Run) -> None:
        run.see(())
        first = self.start(run)
        run.see(first)
        if run.problem.size == 0:
            return
        if (improve := self._by_kernels(run)) is not None:
            self._evolve(run, _sparse(run, first, self.population or 100), improve)
            return
        moves = list(run.problem.moves(()))
        default = 100 if run.problem.can(Capability.COVERAGE) else 30
        rows = np.zeros((self.population or default, run.problem.size), np.int64)
        rows[0, list(first)] = 1
        for row in rows[1:]:
            run.check()
            row[list(random_start(run, moves))] = 1
        plain = Plain(run)
        self._evolve(run, rows, partial(_one_by_one, plain))
        if run.selection is not None:
            plain.descend(run.selection)

    def _evolve(self, run: Run, rows: Any, improve: Callable[[Any], list[Merit]]) -> None:
        from deap import algorithms, base, tools

        class Fitness(base.Fitness):  # type: ignore[misc]
            weights = (1, 1, 1)  # integers, so that fractions stay exact

        class Individual(list[int]):
            def __init__(self, bits: Sequence[int]) -> None:
                super().__init__(bits)
                self.fitness = Fitness()

            def __deepcopy__(self, _: object) -> Individual:
                twin = Individual(self)
                twin.fitness.wvalues = self.fitness.wvalues
                return twin

        dice = random.Random(int(run.rng.integers(2**62)))  # noqa: S311 - no secret
        best = tools.HallOfFame(len(rows))  # the population: distinct individuals
        generations = idle = 0

        def evaluate(individuals: Sequence[Individual]) -> list[Merit]:
            bits = np.array(individuals, np.int64).reshape(-1, rows.shape[1])
            with _exchanged(dice):
                worths = improve(bits)  # changes `bits`
            for individual, changed in zip(individuals, bits.tolist(), strict=True):
                individual[:] = changed
            return worths

        def select(_: object, count: int) -> Any:
            nonlocal generations, idle
            with _exchanged(dice):
                selection = tuple(unit for unit, bit in enumerate(best[0]) if bit)
                if better := selection != run.selection:
                    run.see(selection)
                    better = selection == run.selection
                idle = 0 if better else idle + 1
                if idle == _EASY:
                    raise_cheap_bound(run)
                run.statistics["generations"] = generations
                if idle > self.no_improvement or is_certified(run):
                    raise _Ended
                run.check()
            generations += 1
            return tools.selTournament(best, count, tournsize=3)

        box = base.Toolbox()
        box.register("map", lambda evaluate, individuals: evaluate(individuals))  # a generation in one call
        box.register("evaluate", evaluate)
        box.register("select", select)
        box.register("mate", tools.cxUniform, indpb=0.5)
        box.register("mutate", tools.mutFlipBit, indpb=min(0.5, 2.0 / rows.shape[1]))  # two bits, on average
        alive = [Individual(bits) for bits in rows.tolist()]
        with suppress(_Ended), _exchanged(dice):
            algorithms.eaSimple(alive, box, cxpb=0.9, mutpb=0.5, ngen=sys.maxsize, halloffame=best, verbose=False)

    def _by_kernels(self, run: Run) -> Callable[[Any], list[Merit]] | None:
        """Return a function that improves rows and returns their values; None if kernels do not support the problem."""
        if (kernels := on_arrays(run)) is None:
            return None
        arrays, moves = kernels
        descent = start(arrays, np.zeros(run.problem.size, np.int64))
        slices = Slices(run, descent)

        def improve(rows: Any) -> list[Merit]:
            ranks = np.zeros((len(rows), 4), np.int64)
            place: int = 0

            def part(until: int) -> bool:
                nonlocal place
                place = int(polish(arrays, moves, descent, rows, ranks, place, self.effort, until))
                return place == len(rows)

            def worths() -> list[Merit]:
                done = ranks[:place].tolist()
                return [(-violation, Fraction(top, bottom), -length) for violation, top, bottom, length in done]

            def best() -> Any:
                done = worths()
                return rows[done.index(max(done))].nonzero()[0] if done else ()

            while not slices.go(part, best):
                pass
            return worths()

        return improve


@dataclass(frozen=True)
class GeneticFromGreedy(FromGreedy, Genetic):
    """`Genetic` with the greedy selection among the first individuals, so that it is never worse than greedy."""

    name: ClassVar[str] = "genetic+greedy"
    about: ClassVar[str] = "genetic algorithm, the greedy selection among the first individuals"


def _sparse(run: Run, first: Selection, population: int) -> Any:
    """Return 0/1 rows (population, units): random individuals with few units, and the given selection as the last row.

    Their number of units is random. `polish` fills them up by gain, so fewer random units leave more room for gain.
    Random covers are small, because dropping units from large covers takes longest.
    """
    problem = run.problem
    units, total = problem.size, sum(problem.lengths)
    fitting = units * problem.max_length / total if total and problem.sense is Sense.MAXIMIZE else np.sqrt(units)
    share = min(0.5, fitting / units) * run.rng.random((population, 1))
    rows = (run.rng.random((population, units)) < share).astype(np.int64)
    rows[-1] = 0
    rows[-1, list(first)] = 1
    return rows


def _one_by_one(plain: Plain, rows: Any) -> list[Merit]:
    worths = []
    for row in rows:
        selection: Selection = tuple(row.nonzero()[0].tolist())
        if not plain.see(selection).feasible:
            selection = plain.run.problem.repair(selection, plain.run.rng)
        row[:] = 0
        row[list(selection)] = 1
        worths.append(plain.merit(selection))
    return worths


class _Ended(Exception):  # noqa: N818 - no error: it leaves DEAP's loop
    pass


@contextmanager
def _exchanged(dice: random.Random) -> Iterator[None]:
    """Swap the state of `random`, from which DEAP draws, with the state of `dice`, and swap back at the end."""
    outer = random.getstate()
    random.setstate(dice.getstate())
    try:
        yield
    finally:
        dice.setstate(random.getstate())
        random.setstate(outer)
