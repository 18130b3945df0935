"""The best value at every length: a step function, each step proven, with what greedy search reaches beside it.

The feasible selections of a length are feasible at every larger one, so the best value never falls as the length grows.
The lengths are gone through from the largest down: what was best at one is a bound for all smaller ones, and an optimum
of length l found for the maximum L is an optimum for every maximum from l to L, so the next to be solved is l - 1.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from optsum.contracts.frontier import Frontier, Step
from optsum.contracts.result import Result, Termination
from optsum.corpus.given import AnyTopics
from optsum.corpus.topic import Topic
from optsum.coverage.instance import NO_LIMIT, Sense
from optsum.errors import UnsupportedError
from optsum.options.options import Options, resolve
from optsum.problem.problem import Problem
from optsum.registry import STRATEGIES
from optsum.running.each_topic import attempt, charged, each_topic, single_problem
from optsum.running.every_length.lengths import Lengths
from optsum.running.every_length.walk import Walk
from optsum.running.one_problem import build
from optsum.running.posed import posed, prover_of
from optsum.running.results import count_sentences, finished, unsolved
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import warm_up
from optsum.system.clock import clock
from optsum.system.deadline import Deadline, TimeOver
from optsum.system.processes.signal_guard import postponing

__all__ = ["frontier", "frontier_topics", "resolve_frontier"]


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
    options = resolve(given, config=config, strategy=prover_of(given))
    if options.formulated().sense is Sense.MINIMIZE:
        raise UnsupportedError(f"A {options.formulation} has no maximum length, so it has no frontier over lengths.")
    if options.references == "best":
        raise UnsupportedError("The best of several references has no frontier of its own: use --references each.")
    if not options.searcher().exact:
        able = ", ".join(name for name in STRATEGIES if STRATEGIES.load(name).exact)
        raise UnsupportedError(f"The strategy {options.strategy} proves nothing: use one of {able}.")
    return options, Lengths.given(lengths, options.max_length)


def frontier(
    topic: Topic | Problem | Mapping[str, Any],
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
        Maximum lengths, such as ``"25:300:25"`` or ``[50, 100]``; every length up to `max_length`, or up to that of a
        problem, by default.
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
    given, named = posed(topic, options, config)
    if isinstance(topic, Problem) and lengths is None and topic.max_length < NO_LIMIT:
        named.setdefault("max_length", topic.max_length)
    resolved, found = resolve_frontier(named, lengths, config=config)
    setup = setup_of(resolved)
    ready, began = warm_up(setup), clock()
    part = single_problem(given, setup)
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
    walk = Walk(task.problem, setup, lengths.of, deadline)
    curve = walk.greedy() if greedy else None
    result = walk.run()
    if result.termination is Termination.INTERRUPTED:
        return unsolved(topic.id, setup, Termination.INTERRUPTED, seconds=clock() - began)
    steps: list[Step] = []
    for piece in walk.pieces():
        step = walk.step(piece, task)
        if steps and step.objective is not None and (before := steps[-1].objective) is not None:
            step = replace(step, gain=(step.objective - before) / (step.first - steps[-1].first))
        steps.append(step)
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
    done = finished(task, setup, result.changed(seconds=clock() - built), began=began, built=built)
    return done.changed(sentence_count=count_sentences(topic), extra={**done.extra, "frontier": about.to_row()})
