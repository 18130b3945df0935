"""Greedy, reduced VNS and genetic search exactly as Akhmetov et al. 2022 describe them, for comparison.

The paper scores extracts of any length by F1; here, a selection that violates a given length limit is worse than any
selection within the limit. A summary never repeats a sentence. For better methods see `vns` and `genetic`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from optsum.contracts.strategy import Run, Strategy
from optsum.coverage.instance import Key, Sense, packed_rows
from optsum.errors import OptionError, UnsupportedError
from optsum.problem.problem import Capability, Problem, Selection
from optsum.system.clock import Stopped

from .baselines import at_least


def rows_in_order(problem: Problem) -> Iterator[int]:
    """Yield the sentences that the greedy algorithm stores, in order.

    Akhmetov et al. 2022, "Greedy algorithm", steps 1-3. The matrix has a row for each sentence and a column for each
    word of the reference (each counted n-gram, with another metric). The row with the most ones is stored and its
    columns are deleted, until no ones are left; ties go to the first row.
    """
    coverage = problem.coverage
    occurs = np.zeros((coverage.size, coverage.features), np.bool_)
    occurs[packed_rows(coverage.unit_start), coverage.unit_feature] = True
    occurs[:, coverage.slot % 2 == 1] = False  # n-grams of a denominator are no words of the reference
    while coverage.size and (sums := occurs.sum(axis=1)).max() > 0:
        row = int(sums.argmax())
        yield row
        occurs[:, occurs[row]] = False


def prefixes(run: Run) -> Iterator[Selection]:
    """Yield the first n stored sentences for n = 1, 2, ... (step 4); the limits of the run are checked before each."""
    stored: list[int] = []
    for row in rows_in_order(run.problem):
        run.check()
        stored.append(row)
        yield tuple(sorted(stored))
    if not stored:
        yield ()


def best_prefix(run: Run) -> Selection:
    """Return the best prefix (steps 5-6), of equals the shortest; evaluations are counted, but none is reported."""
    ranked: list[_Ranked] = []
    try:
        for prefix in prefixes(run):
            ranked.append((_rank(run.problem, prefix), prefix))
            run.count(evaluations=1)
    except (Stopped, KeyboardInterrupt):
        if ranked:
            run.see(max(ranked, key=itemgetter(0))[1])  # the first of equals
        raise
    return max(ranked, key=itemgetter(0))[1]


def _rank(problem: Problem, selection: Selection) -> tuple[int, Key]:
    evaluation = problem.evaluate(selection)
    return -evaluation.violation, evaluation.key


_Ranked: TypeAlias = tuple[tuple[int, Key], Selection]


class _Literal(Strategy):
    """The base of the paper's searches: all sentences of the text are units, and may be chosen freely."""

    all_units: ClassVar[bool] = True

    def accept(self, problem: Problem) -> None:
        super().accept(problem)
        coverage = problem.coverage if problem.can(Capability.COVERAGE) else None
        trees = coverage is not None and (coverage.goal is Sense.MINIMIZE or bool((coverage.parents >= 0).any()))
        if trees or problem.sense is not Sense.MAXIMIZE:
            raise UnsupportedError(
                f"The strategy {self.name} chooses whole sentences freely and maximizes, as in its paper: use vns, "
                "genetic or greedy, which can search this problem too."
            )


@dataclass(frozen=True)
class GreedyRows(_Literal):
    """Choose, in turn, the sentence with the most words of the reference not covered yet; keep the best prefix.

    Akhmetov et al. 2022, "Greedy algorithm".
    """

    name: ClassVar[str] = "greedy-rows"
    about: ClassVar[str] = "rows of the word matrix, best prefix (Akhmetov et al. 2022)"
    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.COVERAGE})

    def search(self, run: Run) -> None:
        for prefix in prefixes(run):
            run.see(prefix)


class _Sized(_Literal):
    """Base of the searches that choose as many sentences as the abstract has, unless `sentences` is set."""

    sentences: int | None
    from_greedy: ClassVar[bool] = False  # Whether the search begins with the selection of `greedy-rows`.

    def accept(self, problem: Problem) -> None:
        super().accept(problem)
        if self.sentences is None and problem.reference_units is None:
            raise UnsupportedError(
                f"The strategy {self.name} chooses as many units as the abstract has sentences, and this problem has "
                "no abstract: set the option sentences."
            )

    def size(self, problem: Problem) -> int:
        wanted = self.sentences if self.sentences is not None else problem.reference_units
        return min(problem.size, max(1, wanted or 1))


@dataclass(frozen=True)
class VnsPaper(_Sized):
    """Reduced VNS: shaking without local search. Akhmetov et al. 2022, "Variable Neighborhood Search (VNS)", Figure 2.

    The search starts from a random selection with as many sentences as the abstract. Shaking replaces k sentences of
    the incumbent by others of the text; k goes from 1 to `kmax` in turn, and is 1 again after an improvement.

    Parameters
    ----------
    kmax : int
        Largest number of replacements at a time.
    seconds : float
    iterations : int
    no_improvement : int
        Stop after this many seconds, iterations, or consecutive iterations without improvement.
    sentences : int, optional
        Sentences of the initial solution; by default as many as the abstract has (the paper does not say).
    """

    kmax: int = 3
    seconds: float = 60.0
    iterations: int = 5000
    no_improvement: int = 700
    sentences: int | None = None

    name: ClassVar[str] = "vns-paper"
    about: ClassVar[str] = "reduced VNS from a random start (Akhmetov et al. 2022)"

    def __post_init__(self) -> None:
        at_least(1, kmax=self.kmax, iterations=self.iterations, no_improvement=self.no_improvement)
        at_least(1, none=True, sentences=self.sentences)
        seconds: Any = self.seconds
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds >= 0:
            raise OptionError(f"The option seconds is {self.seconds!r}; give a number of seconds, 0 or more.")

    def search(self, run: Run) -> None:
        problem = run.problem
        if problem.size == 0:
            run.see(())
            return
        held = list(best_prefix(run)) if self.from_greedy else []
        held = held or run.rng.choice(problem.size, self.size(problem), replace=False).tolist()
        run.see(held)
        best = _rank(problem, tuple(sorted(held)))
        outside = np.setdiff1d(np.arange(problem.size), held)
        k = 1
        idle = 0
        for _ in range(self.iterations):
            if idle >= self.no_improvement or run.elapsed >= self.seconds:
                return
            run.check()
            places = min(k, self.kmax, len(held), len(outside))
            leave, join = (run.rng.choice(among, places, replace=False).tolist() for among in (len(held), outside))
            shaken = list(held)
            for place, unit in zip(leave, join, strict=True):
                shaken[place] = unit
            selection = tuple(sorted(shaken))
            if (rank := _rank(problem, selection)) > best:
                held, best, k, idle = shaken, rank, 1, 0
                outside = np.setdiff1d(np.arange(problem.size), held)
                run.see(selection)
            else:
                run.count(evaluations=1)
                k = k % self.kmax + 1
                idle += 1


@dataclass(frozen=True)
class VnsPaperGreedy(VnsPaper):
    """`vns-paper` that starts from the selection of `greedy-rows`."""

    name: ClassVar[str] = "vns-paper+greedy"
    about: ClassVar[str] = "reduced VNS from greedy-rows (Akhmetov et al. 2022)"
    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.COVERAGE})
    from_greedy: ClassVar[bool] = True


@dataclass(frozen=True)
class GeneticPaper(_Sized):
    """Cross all candidates with one another, and keep the better half. Akhmetov et al. 2022, "Genetic algorithm".

    The sentences are shuffled and cut into candidates of the abstract's number of sentences. Two candidates are crossed
    by drawing that number from the sentences of both. The answer is the best of the last generation.

    Parameters
    ----------
    generations : int
    sentences : int, optional
        Sentences of a candidate; by default as many as the abstract has.
    """

    generations: int = 6
    sentences: int | None = None

    name: ClassVar[str] = "genetic-paper"
    about: ClassVar[str] = "all-pairs crossover, six generations (Akhmetov et al. 2022)"

    def __post_init__(self) -> None:
        at_least(1, generations=self.generations)
        at_least(1, none=True, sentences=self.sentences)

    def search(self, run: Run) -> None:
        problem, rng = run.problem, run.rng
        if problem.size == 0:
            run.see(())
            return
        size = self.size(problem)
        order = rng.permutation(problem.size).tolist()
        candidates = [tuple(sorted(order[first : first + size])) for first in range(0, problem.size, size)]
        candidates += [best_prefix(run)] if self.from_greedy else []
        kept = max(1, len(candidates) // 2)
        ranked: list[_Ranked] = []
        try:
            ranked = self._ranked(run, candidates)
            for _ in range(self.generations):
                offspring = []
                for left, right in combinations([selection for _, selection in ranked], 2):
                    run.check()
                    both = np.array(sorted({*left, *right}), np.int64)
                    drawn = rng.choice(both, min(size, len(both)), replace=False)
                    offspring.append(tuple(sorted(drawn.tolist())))
                if not offspring:  # a single candidate has no one to be crossed with
                    break
                ranked = self._ranked(run, offspring)[:kept]
        except (Stopped, KeyboardInterrupt):
            run.see(ranked[0][1] if ranked else candidates[-1])  # the best of the last complete generation
            raise
        run.see(ranked[0][1])

    @staticmethod
    def _ranked(run: Run, candidates: Sequence[Selection]) -> list[_Ranked]:
        ranked = []
        for candidate in candidates:
            run.check()
            ranked.append((_rank(run.problem, candidate), candidate))
            run.count(evaluations=1)
        return sorted(ranked, key=itemgetter(0), reverse=True)  # equals keep their order


@dataclass(frozen=True)
class GeneticPaperGreedy(GeneticPaper):
    """`genetic-paper` with the selection of `greedy-rows` among the first candidates."""

    name: ClassVar[str] = "genetic-paper+greedy"
    about: ClassVar[str] = "all-pairs crossover, greedy-rows among the first candidates (Akhmetov et al. 2022)"
    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.COVERAGE})
    from_greedy: ClassVar[bool] = True
