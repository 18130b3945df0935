"""The best value at every length: a step function, each step proven, with what greedy search reaches beside it.

The feasible selections of a length are feasible at every larger one, so the best value never falls as the length grows.
The lengths are gone through from the largest down: what was best at one is a bound for all smaller ones, and an optimum
of length l found for the maximum L is an optimum for every maximum from l to L, so the next to be solved is l - 1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from optsum.contracts.frontier import Frontier, Reached, Step
from optsum.contracts.result import Result, Status, Termination
from optsum.contracts.run import CERTIFICATE_S, Run, Stopped
from optsum.contracts.strategy import Strategy
from optsum.corpus.given import AnyTopics
from optsum.corpus.topic import Topic
from optsum.coverage.climb import climbs
from optsum.coverage.climb import prepare as climb_prepare
from optsum.coverage.instance import Key, Sense
from optsum.coverage.state import arrays_of
from optsum.errors import UnsupportedError
from optsum.options.options import Options, resolve
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability, Problem, Selection
from optsum.registry import PROVER, QUICK, STRATEGIES
from optsum.running.each_topic import attempt, charged, each_topic, single_problem
from optsum.running.every_length.bands import bounds_of
from optsum.running.every_length.lengths import Lengths
from optsum.running.one_problem import build
from optsum.running.results import count_sentences, finished, unsolved
from optsum.running.search import exact, search
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import warm_up
from optsum.system.clock import clock
from optsum.system.deadline import Deadline, TimeOver
from optsum.system.processes.postponed import postponing

__all__ = ["frontier", "frontier_topics", "resolve_frontier"]

_BAND: Final = 16
"""Lengths whose bound is computed where a limit came first; those between have the bound of the next larger one."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lengths ``first`` to ``last`` (numbers of them in the list), with what is known of each of them alike."""

    first: int
    last: int
    key: Key | None
    bound: Key | None
    selection: Selection | None


def resolve_frontier(
    given: Mapping[str, Any], lengths: str | Sequence[int] | None, *, config: str | Path | None = None
) -> tuple[Options, Lengths]:
    """Return the options of a frontier and its lengths: branch and bound unless another exact strategy is asked for.

    Raises
    ------
    OptionError, UnsupportedError
        If there are no lengths, nothing is maximized, or the strategy proves nothing.
    """
    most = None
    if lengths is not None:
        most = Lengths.given(lengths, None).of[-1]
        given = {**given, "max_length": most}
    options = resolve(given, config=config, strategy=PROVER)
    if options.formulated().sense is Sense.MINIMIZE:
        raise UnsupportedError(f"A {options.formulation} has no maximum length, so it has no frontier over lengths.")
    if options.references == "best":
        raise UnsupportedError("The best of several references has no frontier of its own: use --references each.")
    if not options.searcher().exact:
        able = ", ".join(name for name in STRATEGIES if STRATEGIES.load(name).exact)
        raise UnsupportedError(f"The strategy {options.strategy} proves nothing: use one of {able}.")
    return options, Lengths.given(lengths, options.max_length)


def frontier(
    topic: Topic | Mapping[str, Any],
    *,
    lengths: str | Sequence[int] | None = None,
    optima: bool = False,
    greedy: bool = True,
    config: str | Path | None = None,
    **options: Any,
) -> Result:
    """Return the best value of a topic at every length.

    Parameters
    ----------
    topic, config, **options
        As in `optsum.solve`; the strategy is branch-and-bound unless another exact one is asked for.
    lengths : text or numbers, optional
        Maximum lengths, such as ``"25:300:25"`` or ``[50, 100]``; every length up to `max_length` by default.
    optima : bool
        Count all optima at each step.
    greedy : bool
        Add what greedy search reaches at each length.

    Returns
    -------
    Result
        That of the largest length. Its ``frontier`` has ``steps``, ascending, of which each says what holds for the
        maximum lengths ``first`` to ``last``: see `optsum.contracts.frontier.Step`.

    Raises
    ------
    OptsumError
        If the topic or the options cannot be used.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b", "b c d", "e"]], "references": [["a b c d"]]}
    >>> found = frontier(topic, max_length=6)
    >>> for step in found.frontier.steps:
    ...     print(step.first, step.last, step.objective, step.selection)
    1 1 0.0 ()
    2 2 0.5 (0,)
    3 4 0.75 (1,)
    5 6 1.0 (0, 1)
    """
    resolved, found = resolve_frontier(options, lengths, config=config)
    setup = setup_of(resolved)
    ready, began = warm_up(setup), clock()
    part = single_problem(topic, setup)
    return charged(_frontier(part, setup, found, began, optima=optima, greedy=greedy), ready)


def frontier_topics(
    topics: AnyTopics, options: Options, lengths: Lengths, *, optima: bool = False, greedy: bool = True
) -> Generator[list[Result], None, None]:
    """Compute the frontiers of topics one after another; yields the results of each topic together."""
    setup = setup_of(options)
    return each_topic(topics, [setup], partial(_part, setup=setup, lengths=lengths, optima=optima, greedy=greedy))


def _part(part: Topic, setup: Setup, lengths: Lengths, *, optima: bool, greedy: bool) -> list[Result]:
    began = clock()
    return [attempt(part, setup, lambda: _frontier(part, setup, lengths, began, optima=optima, greedy=greedy))]


@postponing()
def _frontier(topic: Topic, setup: Setup, lengths: Lengths, began: float, *, optima: bool, greedy: bool) -> Result:
    deadline = Deadline(setup.limits.time_s)
    try:
        task = build(topic, setup, deadline)
    except TimeOver:
        return unsolved(topic.id, setup, Termination.TIME_LIMIT, seconds=clock() - began)
    built = clock()
    walk = _Walk(task.problem, setup, lengths.of, deadline)
    curve = walk.greedy() if greedy else None
    result = walk.run()
    if result.termination is Termination.INTERRUPTED:
        return unsolved(topic.id, setup, Termination.INTERRUPTED, seconds=clock() - began)
    steps: list[Step] = []
    for piece in walk.pieces():
        step = walk.step(piece, task)
        steps.append(replace(step, gain=_gain(steps[-1], step) if steps else None))
    if optima:
        steps = [replace(step, **walk.optima_of(piece)) for step, piece in zip(steps, walk.pieces(), strict=True)]
    about = Frontier(
        lengths=str(lengths),
        complete=walk.stopped is None,
        termination=(walk.stopped or Termination.COMPLETED).value,
        solves=walk.solves,
        steps=tuple(steps),
        greedy=None if curve is None else tuple(map(walk.reached, curve)),
    )
    done = finished(task, setup, replace(result, seconds=clock() - built), began=began, built=built)
    return replace(done, sentence_count=count_sentences(topic), extra={**done.extra, "frontier": about.to_row()})


class _Walk:
    """One problem at one maximum length after another.

    Attributes
    ----------
    solves : int
        How often an exact search was run.
    stopped : Termination or None
        The limit that came first; the pieces below are bands then.
    """

    def __init__(self, problem: Problem, setup: Setup, lengths: Sequence[int], deadline: Deadline) -> None:
        self._problem, self._setup, self._lengths, self._deadline = problem, setup, lengths, deadline
        self._known: list[tuple[int, Key, Selection]] = []
        self._pieces: list[_Piece] = []  # descending
        self.solves = 0
        self.stopped: Termination | None = None
        problem.prepare()
        climb_prepare()
        setup.strategy.prepare(problem)

    def greedy(self) -> list[_Piece] | None:
        """Return what greedy search reaches at each length, ascending; None if the time limit comes first."""
        reached = list(self._searched() if self._problem.min_length else self._climbed())
        if len(reached) < len(self._lengths):
            return None
        found: list[_Piece] = []
        for number, key in enumerate(reached[::-1]):
            if found and found[-1].key == key:
                found[-1] = replace(found[-1], last=number)
            else:
                found.append(_Piece(number, number, key, None, None))
        return found

    def _climbed(self) -> Iterator[Key | None]:
        """Yield what greedy search reaches, descending, by as few climbs as are needed."""
        problem = self._problem
        coverage = problem.lighter.coverage if Capability.COVERAGE in problem.capabilities else None
        if coverage is None or coverage.rows or arrays_of(coverage) is None:
            yield from self._searched()
            return
        worth: dict[Selection, Key] = {}
        for found in climbs(coverage, self._lengths[::-1], self._deadline):
            for units in found:
                if units not in worth:
                    worth[units] = problem.evaluate(units).key
                    self._known.append((problem.length(units), worth[units], units))
            yield max(worth[units] for units in found)

    def _searched(self) -> Iterator[Key | None]:
        """Yield what greedy search reaches, descending."""
        strategy: Strategy = STRATEGIES.create(QUICK, {})
        strategy.prepare(self._problem)
        for length in reversed(self._lengths):
            if self._deadline.passed:
                return
            run = Run(self._problem.within(length).lighter, self._setup.limits, np.random.default_rng(0))
            try:
                strategy.search(run)
            except Stopped:
                return
            key = None if run.evaluation is None else run.evaluation.key
            if run.selection is not None and key is not None:
                self._known.append((self._problem.length(run.selection), key, run.selection))
            yield key

    def run(self) -> Result:
        """Solve what must be solved, and return the result of the largest length."""
        number, upper, first = len(self._lengths) - 1, None, None
        while number >= 0:
            result = self._solved(self._lengths[number], upper)
            first = first or result
            if result.termination is Termination.INTERRUPTED:
                return result
            low = number
            if result.status is Status.OPTIMAL and result.selection is not None and result.key is not None:
                self._known.append((self._problem.length(result.selection), result.key, result.selection))
                while low > 0 and self._lengths[low - 1] >= self._known[-1][0]:
                    low -= 1
                self._add(_Piece(low, number, result.key, result.key, result.selection))
                upper = result.key
            elif result.status is Status.INFEASIBLE:
                self._add(_Piece(0, number, None, None, None))
                break
            else:
                self.stopped = result.termination
                if result.selection is not None and result.key is not None:
                    self._known.append((self._problem.length(result.selection), result.key, result.selection))
                self._add_bands(number, upper, result)
                break
            number = low - 1
        assert first is not None  # noqa: S101 - there is a length
        return first

    def _solved(self, length: int, upper: Key | None) -> Result:
        limits = self._setup.limits
        left = replace(limits, time_s=None if limits.time_s is None else max(0.0, self._deadline.left_s))
        self.solves += 1
        return search(
            self._problem.within(length), self._setup.strategy, left, self._setup.options.seed, root_bound=upper
        )

    def _add(self, piece: _Piece) -> None:
        """Add a piece below all others; of equal values one step is made, with the shortest selection."""
        above = self._pieces[-1] if self._pieces else None
        if above is not None and above.key == piece.key and above.bound == piece.bound:
            self._pieces[-1] = replace(piece, last=above.last)
        else:
            self._pieces.append(piece)

    def _add_bands(self, number: int, upper: Key | None, result: Result) -> None:
        """Add what is proven of the lengths that a limit left unsolved: a bound, and the best selection known."""
        bounds = [bound for bound in (upper, result.bound_key) if bound is not None]
        bound: Key | None = min(bounds) if bounds else None
        asked = sorted({self._lengths[round(place * number / _BAND)] for place in range(_BAND + 1)})
        proven = bounds_of(self._problem, asked, Deadline(CERTIFICATE_S))
        for at in range(number, -1, -1):
            length = self._lengths[at]
            if length in proven:
                bound = proven[length] if bound is None else min(bound, proven[length])
            best = max(
                (each for each in self._known if self._problem.min_length <= each[0] <= length),
                key=lambda each: (each[1], -each[0]),
                default=None,
            )
            self._add(_Piece(at, at, best and best[1], bound, best and best[2]))

    def pieces(self) -> list[_Piece]:
        """Return what is known, ascending."""
        return self._pieces[::-1]

    def _value(self, key: Key | None) -> float | None:
        return None if key is None else self._problem.value_of(key)

    def reached(self, piece: _Piece) -> Reached:
        """Return lengths and value of a piece for people."""
        return Reached(
            first=self._lengths[piece.first], last=self._lengths[piece.last], objective=self._value(piece.key)
        )

    def step(self, piece: _Piece, task: Task) -> Step:
        """Return all that is known of a piece, for people."""
        held = piece.selection
        return Step(
            first=self._lengths[piece.first],
            last=self._lengths[piece.last],
            objective=self._value(piece.key),
            bound=self._value(piece.bound),
            objective_exact=None if piece.key is None else exact(piece.key),
            bound_exact=None if piece.bound is None else exact(piece.bound),
            selection=None if held is None else tuple(task.name_units(held)),
            length=None if held is None else self._problem.length(held),
        )

    def optima_of(self, piece: _Piece) -> dict[str, Any]:
        """Count the optima at the least length of a step."""
        if piece.key is None or piece.key != piece.bound or self._deadline.passed:
            return {"count": None, "complete": False}
        strategy, limits = self._setup.strategy, self._setup.limits
        left = replace(limits, time_s=None if limits.time_s is None else max(0.0, self._deadline.left_s))
        found = strategy.enumerate(self._problem.within(self._lengths[piece.first]), left)
        return {"count": found.count if found.proven else 0, "complete": found.complete}


def _gain(before: Step, step: Step) -> float | None:
    """Return how much a step gains over the one before for each unit of length more."""
    if step.objective is None or before.objective is None:
        return None
    return (step.objective - before.objective) / (step.first - before.first)
