"""Compute the best value at every maximum length, a step function with proven steps, and the value of greedy search.

A selection that is feasible at a maximum length is feasible at every larger one, so the best value improves with the
length. Lengths are solved in descending order. The best value at one length bounds the values at all smaller lengths.
An optimum of length l at the maximum L is optimal at every maximum from l to L, so the next to solve is l - 1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Unpack

from optsum.contracts.result import Frontier, Reached, Result, Status, Step
from optsum.contracts.strategy import Run, Strategy
from optsum.corpus.topic import Topic, topic_of
from optsum.corpus.topics import AnyTopics
from optsum.coverage.greedy import climbs, prepare_climb
from optsum.coverage.instance import Facility, Key, Sense
from optsum.coverage.state import arrays_of
from optsum.errors import BackendError, OptionError, UnsupportedError
from optsum.options.keywords import Keywords
from optsum.options.options import Options, lengths_of, reading_of, resolve, text_of_lengths
from optsum.problem.formulation import Task
from optsum.problem.problem import Capability, Problem, Selection
from optsum.program.model import dual_bound, relax
from optsum.registry import DEFAULT_HEURISTIC, STRATEGIES
from optsum.running.each_topic import each_topic, posed, prover_of, search_part
from optsum.running.enumerate import with_text
from optsum.running.one_problem import Setup, build, count_sentences, finished, of_one_problem, setup_of, unsolved
from optsum.running.search import exact_text, searched
from optsum.system.clock import Deadline, Limits, Stopped, Termination, clock
from optsum.system.processes.signal_guard import postponing
from optsum.whole import flag

_BAND: Final = 16
"""Number of intervals into which lengths left unsolved by a limit are split; bounds are computed at their ends."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The lengths with indices `first` to `last`, which share a best known value, its bound and its selection."""

    first: int
    last: int
    key: Key | None
    bound: Key | None
    selection: Selection | None


class Walk:
    """A search of one problem at descending maximum lengths.

    `solves`: number of exact searches. `stopped`: the limit that was reached, if any; bound and best value of the
    remaining lengths may then differ.
    """

    def __init__(self, problem: Problem, setup: Setup, lengths: Sequence[int], deadline: Deadline) -> None:
        self._problem, self._setup, self._lengths = problem, setup, lengths
        self._known: list[tuple[int, Key, Selection]] = []
        self.pieces: list[Piece] = []  # the largest length first
        self._begun: Run | None = None  # Greedy search at the largest length: its evaluations are reused.
        self.solves = 0
        self.stopped: Termination | None = None
        began = clock()
        problem.prepare()
        if problem.can(Capability.COVERAGE):
            prepare_climb()
        setup.strategy.prepare(problem)
        self._deadline = deadline.later(clock() - began)  # without the time of preparation

    def greedy(self) -> list[Piece] | None:
        """Return the values of greedy search, the smallest length first; None if the time limit is reached first."""
        reached = list(self._searched() if self._problem.min_length else self._climbed())
        if len(reached) < len(self._lengths):
            return None
        numbers = [[*same] for _, same in groupby(range(len(reached)), key=reached[::-1].__getitem__)]
        return [Piece(same[0], same[-1], reached[-1 - same[0]], None, None) for same in numbers]

    def _climbed(self) -> Iterator[Key | None]:
        """Yield the value of greedy search at each length, the largest first; one climb may serve several lengths."""
        problem = self._problem
        coverage = problem.lighter.coverage if problem.can(Capability.COVERAGE) else None
        if coverage is None or coverage.rows or arrays_of(coverage) is None:
            yield from self._searched()
            return
        worth: dict[Selection, Key] = {}
        for found in climbs(coverage, self._lengths[::-1], self._deadline):
            for units in found:
                if units not in worth:
                    worth[units] = problem.evaluate(units).key
                    self._learn(worth[units], units)
            yield max(worth[units] for units in found)

    def _searched(self) -> Iterator[Key | None]:
        """Yield the value of greedy search at each length, the largest first, by a search for each."""
        strategy: Strategy = STRATEGIES.create(DEFAULT_HEURISTIC, {})
        strategy.prepare(self._problem)
        for length in reversed(self._lengths):
            if self._deadline.passed:
                return
            if length < self._problem.min_length:
                yield None
                continue
            run = Run(self._problem.within(length).lighter, self._left())
            if not self._problem.can(Capability.COVERAGE):
                self._begun = self._begun or run
            try:
                strategy.search(run)
                ended = False
            except Stopped:
                ended = True
            key = None if run.evaluation is None else run.evaluation.key
            self._learn(key, run.selection)
            if ended:
                return
            yield key

    def run(self) -> Result:
        """Solve lengths in descending order, except those with a known optimum; return the largest length's result."""
        number, upper, first = len(self._lengths) - 1, None, None
        while number >= 0 and not self._too_short(number):
            self.solves += 1
            problem, seed = self._problem.within(self._lengths[number]), self._setup.options.seed
            before, self._begun = self._begun, None  # only the largest length, which is first, reuses it
            result = searched(problem, self._setup.strategy, self._left(), seed, root_bound=upper, before=before)
            first = first or result
            if result.termination is Termination.INTERRUPTED:
                return result
            low = number
            if result.status is Status.OPTIMAL and result.selection is not None and result.key is not None:
                upper = result.key
                low = self._proven(number, upper, result.selection)
                if result is first and low:
                    try:
                        low, upper = self._descend(low, upper)
                    except (KeyboardInterrupt, Stopped):
                        return result.changed(termination=Termination.INTERRUPTED)
            elif result.status is Status.INFEASIBLE:
                self._add(Piece(0, number, None, None, None))
                break
            else:
                self.stopped = result.termination
                self._learn(result.key, result.selection)
                self._add_bands(number, upper, result)
                break
            number = low - 1
        assert first is not None  # noqa: S101 - there is a length
        return first

    def _descend(self, number: int, upper: Key) -> tuple[int, Key]:
        """Prove optima of smaller lengths jointly if the strategy can; return the least proven index and its value."""
        if self._too_short(number - 1):
            return number, upper
        strategy, largest = self._setup.strategy, self._lengths[number - 1]
        together = strategy.by_length(
            self._problem.within(largest), self._lengths[:number], self._setup.limits, self._deadline
        )
        if together is None:
            return number, upper
        for _, _, units in self._known:
            together.learn(units)
        while number > 0 and not self._too_short(number - 1):
            try:
                found = together.at(self._lengths[number - 1], upper)
            except Stopped as stop:
                if stop.termination is Termination.INTERRUPTED:
                    raise
                break
            if found is None:  # nothing is feasible, which the separate search of this length proves
                break
            upper = found[0]
            number = self._proven(number - 1, *found)
        self.solves += together.searched
        for piece in self.pieces:  # checked by the independent scorer
            if piece.selection is None:
                continue
            seen, length = self._problem.evaluate(piece.selection), self._problem.length(piece.selection)
            if not seen.feasible or seen.key != piece.key or length > self._lengths[piece.first]:
                raise BackendError(
                    f"{strategy.name} claims {piece.key} at the length {self._lengths[piece.first]} for a selection "
                    f"worth {seen.key} of length {length}: this is not a valid result."
                )
        return number, upper

    def _proven(self, number: int, key: Key, selection: Selection) -> int:
        """Record the optimum at a length, given by its index; return the least index for which it is optimal."""
        low, length = number, self._problem.length(selection)
        self._learn(key, selection)
        while low > 0 and self._lengths[low - 1] >= length:
            low -= 1
        self._add(Piece(low, number, key, key, selection))
        return low

    def _learn(self, key: Key | None, selection: Selection | None) -> None:
        if key is not None and selection is not None:
            self._known.append((self._problem.length(selection), key, selection))

    def _too_short(self, number: int) -> bool:
        if short := self._lengths[number] < self._problem.min_length:
            self._add(Piece(0, number, None, None, None))
        return short

    def _left(self) -> Limits:
        limits = self._setup.limits
        return replace(limits, time_s=None if limits.time_s is None else self._deadline.left_s)

    def _add(self, piece: Piece) -> None:
        """Add a piece of smaller lengths than all others, or extend the last piece if value and bound are equal."""
        above = self.pieces[-1] if self.pieces else None
        if above is not None and above.key == piece.key and above.bound == piece.bound:
            self.pieces[-1] = replace(piece, last=above.last)
        else:
            self.pieces.append(piece)

    def _add_bands(self, number: int, upper: Key | None, result: Result) -> None:
        """Add the lengths that a limit left unsolved, each with the best proven bound and the best known selection."""
        bound, sense, least = upper, self._problem.sense, self._problem.min_length
        if result.bound_key is not None:
            bound = sense.tighter(bound, result.bound_key)
        asked = sorted({self._lengths[round(place * number / _BAND)] for place in range(_BAND + 1)})
        late = self._setup.limits.late(Deadline(0.0))
        proven = bounds_of(self._problem, [length for length in asked if length >= least], late)
        for at in range(number, -1, -1):
            length = self._lengths[at]
            if self._too_short(at):
                break
            if length in proven:
                bound = sense.tighter(bound, proven[length])
            best = max(
                (each for each in self._known if least <= each[0] <= length),
                key=lambda each: (each[1] if sense is Sense.MAXIMIZE else -each[1], -each[0]),
                default=None,
            )
            self._add(Piece(at, at, best and best[1], bound, best and best[2]))

    def reached(self, piece: Piece) -> dict[str, Any]:
        objective = None if piece.key is None else self._problem.value_of(piece.key)
        return {"first": self._lengths[piece.first], "last": self._lengths[piece.last], "objective": objective}

    def step(self, piece: Piece, task: Task) -> Step:
        held = piece.selection
        return Step(
            **self.reached(piece),
            bound=None if piece.bound is None else self._problem.value_of(piece.bound),
            objective_exact=exact_text(piece.key),
            bound_exact=exact_text(piece.bound),
            selection=None if held is None else tuple(task.name_units(held)),
            length=None if held is None else self._problem.length(held),
        )

    def optima_of(self, piece: Piece) -> dict[str, Any]:
        if piece.key is None or piece.key != piece.bound or self._deadline.passed:
            return {"count": None, "complete": False}
        found = self._setup.strategy.enumerate(self._problem.within(self._lengths[piece.first]), self._left())
        return {"count": found.count if found.proven else 0, "complete": found.complete}


def bounds_of(problem: Problem, lengths: Sequence[int], deadline: Deadline) -> dict[int, Key]:
    """Return proven bounds by maximum length, as many as time allows; each bound also holds for all smaller lengths."""
    found: dict[int, Key] = {}
    if not problem.can(Capability.BOUND):
        return found
    # Of similarities or with ceilings, the integer program may be too large to build; `root_bound` uses a smaller one.
    instance = problem.coverage if problem.can(Capability.COVERAGE) else None
    large = instance is not None and (isinstance(instance, Facility) or bool(instance.ceilings))
    linear = problem.can(Capability.LINEAR) and not large
    for length in spread(lengths):
        if deadline.passed:
            return found
        if not linear:
            if (bound := problem.within(length).root_bound(deadline)) is not None:
                found[length] = bound
        elif (relaxation := relax(problem.within(length).linear_model, deadline)) is not None:
            for other in reversed(lengths):  # the multipliers of one length give a bound at each length
                model = problem.within(other).linear_model
                value = model.value(dual_bound(model, relaxation.duals))
                found[other] = problem.sense.tighter(found.get(other), value)
    return found


def spread(lengths: Sequence[int]) -> list[int]:
    """Return lengths in an order in which the first ones, however many, are far apart: the largest, the middle, ..."""
    order, parts = [len(lengths) - 1] if lengths else [], [(0, len(lengths) - 1)]
    for first, end in parts:  # which grows
        if first < end:
            middle = (first + end) // 2
            order.append(middle)
            parts += [(first, middle), (middle + 1, end)]
    return [lengths[place] for place in order]


def resolve_frontier(
    given: Mapping[str, Any], lengths: str | Sequence[int] | None, *, config: str | Path | None = None
) -> tuple[Options, Sequence[int] | None]:
    """Return the options and the lengths of a frontier; lengths None mean all up to the maximum of each problem."""
    if lengths is not None:
        if given.get("max_length") is not None:
            raise OptionError(
                "A frontier has the lengths of --lengths, or those up to --max-length: leave out one of them."
            )
        given = {**given, "max_length": lengths_of(lengths)[-1]}
    options = resolve(given, config=config, strategy=prover_of(given))
    formulation = options.formulated()
    if formulation.sense is Sense.MINIMIZE and formulation.reads_topics and "max_length" not in formulation.flags:
        raise UnsupportedError(f"A {options.formulation} has no maximum length, so it has no frontier over lengths.")
    if options.references == "best":
        raise UnsupportedError("There is no frontier with --references=best: use --references=each.")
    if not options.searcher().exact:
        able = ", ".join(name for name in STRATEGIES if STRATEGIES.load(name).exact)
        raise UnsupportedError(f"The strategy {options.strategy} is not exact: use one of {able}.")
    if options.max_length == "reference":
        raise OptionError("A frontier has the same lengths for all topics: give --lengths 25:300:25 or --max-length N.")
    if lengths is None and options.max_length is None and not formulation.reads_topics:
        return options, None
    return options, lengths_of(lengths, options.max_length)


def frontier(
    topic: Topic | Problem | Mapping[str, Any],
    *,
    lengths: str | Sequence[int] | None = None,
    optima: bool = False,
    greedy: bool = True,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Result:
    """Return the best value of a topic at every length.

    Parameters
    ----------
    topic, config, **options
        As in `optsum.solve`; the strategy must be exact. The default is branch-and-bound, and auto for a `Problem`.
    lengths : text or numbers, optional
        Maximum lengths, such as ``"25:300:25"`` or ``[50, 100]``; by default every length up to `max_length`, or up to
        a problem's maximum.
    optima : bool
        Count all optima at each step.
    greedy : bool
        Add the value of greedy search at each length.

    Returns
    -------
    Result
        The result of the largest length. Its ``frontier`` has ascending ``steps``, each for the maximum lengths
        ``first`` to ``last``: see `optsum.contracts.result.Step`.

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
    given, named = posed(topic, options, config)
    resolved, found = resolve_frontier(named, lengths, config=config)
    optima, greedy = flag(optima, "The option optima"), flag(greedy, "The option greedy")
    work = partial(_frontier, lengths=found, optima=optima, greedy=greedy)
    return of_one_problem(topic_of(given, reading_of(resolved)), resolved, work)


def differing(row: Mapping[str, Any], lengths: Sequence[int] | None, *, optima: bool, greedy: bool) -> str | None:
    """Return the first flag that an earlier row had otherwise and that is not in the hash of options, or None."""
    if (one := Frontier.from_row(row.get("frontier"))) is None:
        return None if row.get("status") == "error" else "frontier"
    if lengths is not None and one.lengths != text_of_lengths(lengths):
        return "--lengths"
    if optima != any(step.complete is not None for step in one.steps):
        return "--optima"
    return None if greedy or one.greedy is None else "--no-greedy"


def frontier_topics(
    topics: AnyTopics,
    options: Options,
    lengths: Sequence[int] | None,
    *,
    optima: bool = False,
    greedy: bool = True,
    details: bool = False,
) -> Generator[list[Result], None, None]:
    setup = setup_of(options)
    search = partial(_frontier, lengths=lengths, optima=optima, greedy=greedy)
    return each_topic(topics, [setup], partial(with_text if details else search_part, setup=setup, search=search))


@postponing()
def _frontier(topic: Topic, setup: Setup, lengths: Sequence[int] | None, *, optima: bool, greedy: bool) -> Result:
    began, deadline = clock(), Deadline(setup.limits.time_s)
    try:
        task = build(topic, setup, setup.limits.building())
    except Stopped as stop:
        return unsolved(topic.id, setup, stop, seconds=clock() - began)
    built = clock()
    if lengths is None:
        lengths = lengths_of(None, min(task.problem.max_length, sum(task.problem.lengths)))
    walk = Walk(task.problem, setup, lengths, deadline)
    curve = walk.greedy() if greedy else None
    result = walk.run()
    if result.termination is Termination.INTERRUPTED:
        return unsolved(topic.id, setup, Termination.INTERRUPTED, seconds=clock() - began)
    steps: list[Step] = []
    for piece in reversed(walk.pieces):
        step = replace(walk.step(piece, task), **(walk.optima_of(piece) if optima else {}))
        if steps and step.objective is not None and (before := steps[-1].objective) is not None:
            step = replace(step, gain=(step.objective - before) / (step.first - steps[-1].first))
        steps.append(step)
    about = Frontier(
        lengths=text_of_lengths(lengths),
        complete=walk.stopped is None,
        termination=(walk.stopped or Termination.COMPLETED).value,
        solves=walk.solves,
        steps=tuple(steps),
        greedy=None if curve is None else tuple(Reached(**walk.reached(piece)) for piece in curve),
    )
    done = finished(task, setup, result.changed(seconds=clock() - built), began=began, built=built)
    return done.changed(sentence_count=count_sentences(topic), extra={**done.extra, "frontier": about.to_row()})
