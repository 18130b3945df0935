"""Topic by topic: whatever happens to one (bad input, an error, a crash) is its row, and costs the others nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from optsum._version import __version__
from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.topic import BadTopic, Topic, as_topic
from optsum.errors import describe
from optsum.options.options import Options
from optsum.running.warm import take_seconds, warm_up
from optsum.running.workers import stream

__all__ = ["AnyTopic", "attempt", "each_topic", "error_result", "interrupted_result", "problems"]

AnyTopic: TypeAlias = Topic | BadTopic | Mapping[str, object]
"""A topic, its JSON form, or what a reader could not use."""


def problems(topic: Topic, options: Options) -> Iterator[Topic]:
    """Yield a topic as the problems it makes.

    That is itself, or ``id#r`` for each reference r (``references="each"``), or itself with its first reference alone
    ("first"). What is to be the best of several (`optsum.running.best_reference`) is one problem here.
    """
    if options.references == "each" and topic.references:
        for number, reference in enumerate(topic.references):
            yield replace(topic, id=f"{topic.id}#{number}", references=(reference,))
    elif options.references == "first":
        yield replace(topic, references=topic.references[:1])
    else:
        yield topic


def each_topic(
    topics: Iterable[AnyTopic], ways: Sequence[Options], solve_part: Callable[[Topic], list[Result]]
) -> Generator[list[Result], None, None]:
    """Yield the results of each topic together, whatever happens to it.

    Parameters
    ----------
    topics : iterable
    ways : sequence of Options
        All ways in which a topic is searched; they make the same problems of it, and share the number of workers.
    solve_part : callable
        Returns the results of a topic as one problem: one for each way, or fewer of which the last is interrupted.
        Pickled if there are several workers.

    Raises
    ------
    OptsumError
        At once, if one of the ways cannot work on any topic.
    KeyboardInterrupt
        As `optsum.running.workers.stream` does.
    """
    for way in ways:
        warm_up(way)
    workers = ways[0].workers
    if workers > 1:
        take_seconds()  # each process has its own to report
    work = partial(_solve_topic, ways=ways, solve_part=solve_part)
    return stream(work, topics, workers, partial(_failed, reason=_DIED, ways=ways))


_DIED = (
    "the process that searched it died: a solver crashed, or memory ran out; search it alone, with fewer workers or "
    "another backend"
)


def _failed(topic: AnyTopic, reason: str, ways: Sequence[Options]) -> list[Result]:
    """Return the rows of a topic that cannot be searched: one for each way it was to be."""
    name = topic.get("id") if isinstance(topic, Mapping) else getattr(topic, "id", None)
    reason = f"{source}: {reason}" if (source := getattr(topic, "source", "")) else reason
    return [error_result(name if isinstance(name, str) else None, reason, way) for way in ways]


def _solve_topic(topic: AnyTopic, ways: Sequence[Options], solve_part: Callable[[Topic], list[Result]]) -> list[Result]:
    for way in ways:
        warm_up(way)
    if isinstance(topic, BadTopic):
        return _failed(topic, topic.error, ways)
    results: list[Result] = []
    try:
        for part in problems(as_topic(topic), ways[0]):
            results += solve_part(part)
            if results[-1].termination is Termination.INTERRUPTED:
                break
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
        results += _failed(topic, describe(error), ways)
    return results


def attempt(part: Topic, options: Options, run: Callable[[], Result]) -> Result:
    """Return what `run` does, or an error or interrupted result in its place."""
    try:
        return run()
    except KeyboardInterrupt:  # outside the search, which knows what to do with it
        return interrupted_result(part.id, options)
    except Exception as error:  # noqa: BLE001 - whatever it is, it costs the other topics nothing
        return _failed(part, describe(error), [options])[0]


def error_result(name: str | None, reason: str, options: Options) -> Result:
    """Return the row of a topic that could not be searched."""
    unsolved = interrupted_result(name, options)
    return replace(unsolved, status=Status.ERROR, termination=Termination.FAILED, error=reason)


def interrupted_result(name: str | None, options: Options) -> Result:
    """Return what Ctrl-C leaves of a topic whose search had not begun."""
    return Result(
        id=name,
        formulation=options.formulation,
        strategy=options.strategy,
        backend=options.searcher().backend_name,
        metric=options.reported_metric,
        status=Status.NO_SOLUTION,
        termination=Termination.INTERRUPTED,
        seed=options.seed,
        version=__version__,
        config_hash=options.config_hash,
    )
