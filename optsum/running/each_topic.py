"""Topic by topic: whatever happens to one (bad input, an error, a crash) is its row, and costs the others nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import lru_cache, partial
from math import fsum

from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.given import AnyTopic, AnyTopics, topics_of
from optsum.corpus.topic import BadTopic, Topic, topic_of
from optsum.corpus.topics import Unread
from optsum.corpus.vector_files import read_vectors
from optsum.errors import OptionError, describe
from optsum.metrics.agreement import agreed_reference
from optsum.plugins import OwnFunction
from optsum.running.executors.choice import AnyExecutor, crew_of
from optsum.running.executors.workers import in_order
from optsum.running.results import unsolved
from optsum.running.setup import Setup
from optsum.running.warm import warm_up
from optsum.system.notebook import tracked
from optsum.system.processes.signal_guard import postponing

_LOG = logging.getLogger("optsum")


class Warned:
    """Says once of a run how many of its topics something is to be said of, and what of the first of them."""

    def __init__(self, unit: str = "topics") -> None:
        self._unit = unit
        self._topics = self._warned = 0
        self._first = ""

    def add(self, warning: str | None) -> None:
        """Count a topic, with what is to be said of it."""
        self._topics += 1
        self._warned += warning is not None
        self._first = self._first or warning or ""

    def say(self) -> None:
        """Say it."""
        if self._warned:
            _LOG.warning("%d of %d %s: %s", self._warned, self._topics, self._unit, self._first)


def problems(topic: Topic, setup: Setup) -> Iterator[Topic]:
    """Yield a topic as the problems it makes.

    That is itself, or ``id#r`` for each reference r (``references="each"``), or itself with its first reference alone
    ("first"), or with the one that people agree on ("agreed"). What is to be the best of several
    (`optsum.running.best_reference`) is one problem here.
    """
    if setup.options.vectors is not None:
        topic = read_vectors(topic, setup.options.vectors)
    if setup.options.references == "each" and topic.references:
        for number in range(len(topic.references)):
            yield replace(topic.with_references([number]), id=f"{topic.id}#{number}")
    elif setup.options.references == "first":
        yield topic.with_references(range(len(topic.references[:1])))
    elif setup.options.references == "agreed" and topic.references:
        yield topic.with_references([agreed(topic, setup)])
    else:
        yield topic


def agreed(topic: Topic, setup: Setup) -> int:
    """Return the number of the reference with which another one agrees best, by what is maximized."""
    spec = setup.spec_for(topic)
    return agreed_reference(
        topic.references,
        spec.metric,
        spec.measure,
        analyzer=spec.analyzer,
        counts=spec.counts,
        boundaries=spec.boundaries,
        model_units=spec.model_units,
    )


def single_problem(topic: object, setup: Setup) -> Topic:
    """Return the one problem that a topic is."""
    given = topic_of(topic, setup.options.reading)
    parts = list(problems(given, setup))
    if (warning := setup.warning_of(given)) is not None:
        _LOG.warning("topic %r: %s", given.id, warning)
    if len(parts) != 1:
        raise OptionError(
            'A topic with several references is several problems with references="each": use solve_all for them, or '
            "give one reference."
        )
    return parts[0]


def charged(result: Result, ready: float) -> Result:
    """Let a result say how long it took to get ready; nothing to say where that was done before."""
    return result.changed(timing=replace(result.timing, warm_up_s=ready)) if ready else result


def each_topic(
    topics: AnyTopics,
    setups: Sequence[Setup],
    solve_part: Callable[[Topic], list[Result]],
    executor: AnyExecutor | None = None,
) -> Generator[list[Result], None, None]:
    """Yield the results of each topic together, whatever happens to it.

    `setups`: all setups in which a topic is searched; they make the same problems of it, and share what is said of
    workers. `solve_part`: returns the results of a topic as one problem: one for each setup, or fewer of which the last
    is interrupted. Pickled if other processes work.
    """
    given = topics_of(topics, setups[0].options.reading)
    if executor is not None:  # its processes find on disk what this one compiles
        from optsum.system.compiling import compile_at_once

        compile_at_once()
    ready = fsum(map(warm_up, setups))
    crew = crew_of(setups[0].options, executor, copied=all(setup.may_be_copied for setup in setups))
    if crew is not None:  # a function that cannot be sent is refused before any work
        for own in (each for setup in setups for each in vars(setup.options).values() if isinstance(each, OwnFunction)):
            own.sent()
    work = partial(search_topic, setups=setups, solve_part=solve_part)
    batches = in_order(work, given, crew, partial(lost_topic, setups=setups))
    batches = batches if crew is not None else _first_charged(batches, ready)  # each process has its own to report
    return tracked(_with_warning(batches), len(topics) if isinstance(topics, Sized) else None)


def _first_charged(batches: Iterable[list[Result]], ready: float) -> Generator[list[Result], None, None]:
    for number, results in enumerate(batches):
        yield results if number else [charged(results[0], ready), *results[1:]]


def _with_warning(batches: Iterable[list[Result]]) -> Generator[list[Result], None, None]:
    warned = Warned()
    try:
        for results in batches:
            warned.add(next(filter(None, (result.warning for result in results)), None))
            yield results
    finally:
        warned.say()


def lost_topic(topic: Unread | AnyTopic, setups: Sequence[Setup]) -> list[Result]:
    """Return the rows of a topic that no process survives."""
    return _failed(_read(topic), _DIED, setups)


@lru_cache(maxsize=1)
def _decoded(topic: Unread) -> Topic | BadTopic:
    return topic.read()


def _read(topic: Unread | AnyTopic) -> AnyTopic:
    return _decoded(topic) if isinstance(topic, Unread) else topic


_DIED = (
    "it killed its process twice: a solver crashed, or memory ran out; search it by itself, with another backend, or "
    "where there is more memory"
)


def _failed(topic: AnyTopic, reason: str, setups: Sequence[Setup]) -> list[Result]:
    name = topic.get("id") if isinstance(topic, Mapping) else getattr(topic, "id", None)
    reason = f"{source}: {reason}" if (source := getattr(topic, "source", "")) else reason
    return [error_result(name if isinstance(name, str) else None, reason, setup) for setup in setups]


@postponing()  # once for all that is done with the topic, which is quicker than for each
def search_topic(
    topic: Unread | AnyTopic, setups: Sequence[Setup], solve_part: Callable[[Topic], list[Result]]
) -> list[Result]:
    """Return the results of a topic, whatever happens to it, with what it took to get this process ready."""
    ready = fsum(map(warm_up, setups))
    topic = _read(topic)
    if isinstance(topic, BadTopic):
        return _failed(topic, topic.error, setups)
    results: list[Result] = []
    warning = None
    try:
        given = topic_of(topic, setups[0].options.reading)
        warning = setups[0].warning_of(given)
        for part in problems(given, setups[0]):
            results += solve_part(part)
            if results[-1].termination is Termination.INTERRUPTED:
                break
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
        results += _failed(topic, describe(error), setups)
    first = charged(results[0], ready)
    if warning is not None and first.status is not Status.ERROR:
        first = first.changed(statistics={**first.statistics, "warning": warning})
    return [first, *results[1:]]


def attempt(part: Topic, setup: Setup, run: Callable[[], Result]) -> Result:
    """Return what `run` does, or an error or interrupted result in its place."""
    try:
        return run()
    except KeyboardInterrupt:  # outside the search, which knows what to do with it
        return unsolved(part.id, setup, Termination.INTERRUPTED)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
        return _failed(part, describe(error), [setup])[0]


def error_result(name: str | None, reason: str, setup: Setup) -> Result:
    """Return the row of a topic that could not be searched."""
    empty = unsolved(name, setup, Termination.INTERRUPTED)
    return empty.changed(status=Status.ERROR, termination=Termination.FAILED, error=reason)
