"""All optima of a topic, in the input's own numbering."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Unpack

from optsum.contracts.enumeration import Enumeration
from optsum.contracts.result import Result, Termination
from optsum.corpus.given import AnyTopics, topic_given
from optsum.corpus.topic import Topic
from optsum.coverage.instance import Sense
from optsum.errors import UnsupportedError
from optsum.optima.nearness import Nearness
from optsum.optima.optima import Names, Optima
from optsum.options.keywords import Keywords
from optsum.options.options import Options, resolve
from optsum.registry import PROVER, STRATEGIES
from optsum.running.all_optima import families
from optsum.running.all_optima.details import carrying, details_of
from optsum.running.all_optima.oracle_sets import Oracles
from optsum.running.best_reference import best_result, each_reference, for_each_reference, reaches, shares, union_of
from optsum.running.each_topic import attempt, charged, each_topic, single_problem
from optsum.running.one_problem import build
from optsum.running.results import count_sentences, finished, unsolved
from optsum.running.search import result_of_sets
from optsum.running.setup import Setup, setup_of
from optsum.running.warm import warm_up
from optsum.system.clock import clock
from optsum.system.deadline import Deadline, TimeOver
from optsum.system.notebook import Words
from optsum.system.processes.postponed import postponing

NEAR_S: Final = 10.0
"""Seconds a topic for what is near the optimum, where none are given."""
_NEAR_BYTES: Final = 400_000_000
"""Memory for it: a million nodes of a diagram."""

__all__ = ["NEAR_S", "enumerate_optima", "enumerate_topics", "oracles_of", "resolve_enumeration"]


def resolve_enumeration(
    given: Mapping[str, Any], nearness: Nearness | None = None, *, config: str | Path | None = None
) -> Options:
    """Return the options of an enumeration: as `optsum.options.options.resolve`, with branch and bound by default.

    Near-optimal sets can be any number, so that looking for them ends after 10 seconds a topic unless it is said.

    Raises
    ------
    UnsupportedError
        If the strategy finds one optimum only.
    """
    options = resolve(given, config=config, strategy=PROVER)
    if not options.searcher().enumerates:
        able = " or ".join(name for name in STRATEGIES if STRATEGIES.load(name).enumerates)
        raise UnsupportedError(f"The strategy {options.strategy} does not enumerate optima: use {able}.")
    if nearness is None:
        return options
    if options.references == "best" and (nearness.steps is not None or nearness.values is not None):
        raise UnsupportedError(
            "The best of several references has no steps and no values in common: use --within or --at-least, or "
            "--references pooled."
        )
    return options if options.time_limit is not None else options.model_copy(update={"time_limit": NEAR_S})


def enumerate_optima(
    topic: Topic | Mapping[str, Any] | Words,
    summary: Words | None = None,
    *,
    within: float | str | None = None,
    at_least: float | str | None = None,
    within_steps: int | None = None,
    best: int | None = None,
    config: str | Path | None = None,
    **options: Unpack[Keywords],
) -> Oracles:
    """Return all optima of one topic, or all selections that are nearly as good.

    Parameters
    ----------
    topic, summary, config, **options
        As in `optsum.solve`; the strategy is branch-and-bound unless another is asked for. Near-optimal sets are looked
        for during 10 seconds, unless a time limit is given.
    within : number or text, optional
        All selections that lose at most this share of the best value: ``0.01`` or ``"1%"``.
    at_least : number or text, optional
        All selections whose objective is at least that (a cover: that are no longer).
    within_steps : int, optional
        All selections at most so many integer steps below the best: recall against one reference has a step for each
        n-gram.
    best : int, optional
        All selections of so many different values, the best among them.

    Returns
    -------
    Oracles
        At a limit, what is known by then: see ``complete`` and ``result``.

    Raises
    ------
    InputError, OptionError, UnsupportedError
        If the topic or the options cannot be used, or the strategy does not enumerate.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}
    >>> optima = enumerate_optima(topic, max_length=4)
    >>> optima.count, list(optima)
    (3, [(0, 1), (0, 2), (1, 2)])
    >>> near = enumerate_optima(topic, max_length=4, within_steps=1)
    >>> near.count, near.value_counts()
    (6, [(1.0, 3), (0.6666666666666666, 3)])
    """
    nearness = Nearness.given(within, at_least, within_steps, best)
    setup = setup_of(resolve_enumeration(options, nearness, config=config))
    ready = warm_up(setup)
    _get_ready(setup, nearness)
    began = clock()
    problem = single_problem(topic_given(topic, summary), setup)
    found = oracles_of(problem, setup, nearness, began=began)
    return replace(found, result=charged(found.result, ready).changed(source=problem.documents))


def enumerate_topics(
    topics: AnyTopics, options: Options, nearness: Nearness | None = None, *, details: bool = False, **shape: Any
) -> Generator[list[Result], None, None]:
    """Enumerate the optima of topics one after another; yields the rows of each topic together.

    `shape` is what `Oracles.to_result` takes; with `details` rows carry the text (`optsum.running.all_optima.details`).
    """
    setup = setup_of(options)
    shaped = partial(Oracles.to_result, seed=options.seed, **shape)
    work = partial(_enumerate_part, setup=setup, nearness=nearness, shape=shaped)
    return each_topic(topics, [setup], partial(_with_text, setup=setup, work=work) if details else work)


def _with_text(part: Topic, setup: Setup, work: Callable[[Topic], list[Result]]) -> list[Result]:
    return [carrying(result, details_of(part, setup)) for result in work(part)]


def _enumerate_part(
    part: Topic, setup: Setup, nearness: Nearness | None, shape: Callable[[Oracles], Result]
) -> list[Result]:
    _get_ready(setup, nearness)
    began = clock()
    return [attempt(part, setup, lambda: shape(oracles_of(part, setup, nearness, began=began)))]


def _get_ready(setup: Setup, nearness: Nearness | None) -> None:
    """Compile, or load, what a warm-up leaves out: it searches, and what is near the best is enumerated."""
    if nearness is None:
        return
    families.prepare()
    if setup.formulation.sense is Sense.MINIMIZE:  # what is no longer than so much is searched as extracts are
        setup.strategy.prepare()


def oracles_of(part: Topic, setup: Setup, nearness: Nearness | None = None, *, began: float) -> Oracles:
    """Return all optima of a topic that is one problem, or all that is near them.

    `began` as in `optsum.running.one_problem.answer`.
    """
    oracles = _oracles(part, setup, nearness, began)
    return replace(oracles, result=oracles.result.changed(sentence_count=count_sentences(part)), nearness=nearness)


def _oracles(part: Topic, setup: Setup, nearness: Nearness | None, began: float) -> Oracles:
    if not setup.best_of_references:
        return _enumerate(part, setup, nearness, began)
    starts, setups = iter([began]), shares(setup, part)
    found = for_each_reference(
        part,
        lambda one: _enumerate(one, next(setups), nearness, next(starts, clock())),
        result_of=lambda oracles: oracles.result,
    )
    best = _best(found, near=False)
    if nearness is None or not best.proven:
        return best
    threshold = max(oracles.least for _, oracles in found if oracles.least is not None)
    parts = dict(each_reference(part))
    again = [
        (number, oracles if oracles.least == threshold else _enumerate(parts[number], left, exactly, clock()))
        for number, oracles in found
        for left in [replace(setup, limits=setup.limits.after(clock() - began))]
        for exactly in [Nearness(at_least=threshold)]
    ]
    return _best(again, near=True)


def _best(found: Sequence[tuple[int, Oracles]], *, near: bool) -> Oracles:
    """Return the optima of the references that give most, or what is near on any of them: each set once."""
    result = best_result([(number, oracles.result) for number, oracles in found])
    best = [oracles for _, oracles in found if oracles.result.key == result.key]
    reaching = [oracles for _, oracles in found if oracles.diagram.root] if near else best
    proven = result.key is not None and all(reaches(result.key, oracles.result) for _, oracles in found)
    diagram, units = union_of([(oracles.diagram, oracles.units) for oracles in reaching])
    lengths = {name: size for oracles in reaching for name, size in zip(oracles.units, oracles.lengths, strict=True)}
    complete = proven and all(oracles.complete for oracles in reaching)
    first = best[0]
    return replace(
        first,
        result=result.changed(enumeration=Enumeration(count=diagram.count, complete=complete)),
        diagram=diagram,
        bound=first.value if proven else max(first.bound, first.value + 1),
        complete=complete,
        termination="completed" if complete else result.termination.value,
        names=Names(units, {name: members for oracles in reaching for name, members in oracles.names.members.items()}),
        lengths=tuple(lengths[name] for name in units),
        length_limits=(first.length_limits[0], max(oracles.length_limits[1] for oracles in reaching)),
        parents={name: parent for oracles in reaching for name, parent in oracles.parents.items()},
        tasks=tuple(task for oracles in reaching for task in oracles.tasks),
        best=None,
    )


@postponing()
def _enumerate(topic: Topic, setup: Setup, nearness: Nearness | None, began: float) -> Oracles:
    try:
        task = build(topic, setup, Deadline(setup.limits.time_s))
    except TimeOver:
        nothing = Optima.of_sets([], 0, 1, complete=False, termination="time_limit")
        late = unsolved(topic.id, setup, Termination.TIME_LIMIT, seconds=clock() - began)
        late = late.changed(enumeration=Enumeration(count=0, complete=False))
        return _with_names(nothing, result=late, names=Names(()))
    built = clock()
    strategy = setup.strategy
    task.problem.prepare()
    strategy.prepare(task.problem)
    limits = setup.limits.after(clock() - began)
    if nearness is None:
        optima = strategy.enumerate(task.problem, limits)
    else:
        optima = strategy.near(task.problem, nearness, replace(limits, memory=min(limits.memory, _NEAR_BYTES)))
    result = result_of_sets(task.problem, strategy, optima, clock() - built)
    return _with_names(
        optima,
        result=finished(task, setup, result, began=began, built=built),
        names=Names(task.units, task.members),
        lengths=task.problem.lengths,
        length_limits=(task.problem.min_length, min(task.problem.max_length, sum(task.problem.lengths))),
        parents=task.parents,
        tasks=(task,),
    )


def _with_names(optima: Optima, **known: Any) -> Oracles:
    """Return optima of a problem as those of its topic."""
    held = {item.name: getattr(optima, item.name) for item in fields(Optima)}
    return Oracles(**{**held, **known})
