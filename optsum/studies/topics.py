"""The way of every study over its topics: one loop, with processes, errors that cost one topic, and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from optsum.contracts.result import Result, Status, Termination
from optsum.corpus.given import AnyTopic
from optsum.corpus.topic import Topic
from optsum.errors import InputError
from optsum.options.options import Options
from optsum.running.each_topic import each_topic
from optsum.running.results import unsolved
from optsum.running.setup import Setup, setup_of
from optsum.studies.report import Study

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class _Outcome(Result):
    """What a study found out about a topic, in the form that the loop over topics hands on."""

    found: Any


def over_topics(
    study: Study, topics: Iterable[AnyTopic], ways: Sequence[Options], work: Callable[[Topic], T]
) -> Iterator[T]:
    """Yield what `work` finds out about each topic that can be used, in the order of the input.

    Parameters
    ----------
    study : Study
        Gets a sentence for each topic that cannot be used, and is marked as interrupted after Ctrl-C.
    topics : iterable
    ways : sequence of Options
        How topics are searched; none may make several problems of a topic. The first has the number of workers.
    work : callable
        Pickled if there are several workers.

    Raises
    ------
    OptsumError
        At once, if one of the ways cannot work on any topic.
    """
    made = [setup_of(options) for options in ways]
    with closing(each_topic(topics, made, partial(_outcome, work=work, way=made[0]))) as batches:
        try:
            for batch in batches:
                if errors := [result.error for result in batch if result.error is not None]:
                    study.failures.append(errors[0])
                else:
                    yield from (result.found for result in batch if isinstance(result, _Outcome))
        except KeyboardInterrupt:
            study.interrupted = True


def _outcome(part: Topic, work: Callable[[Topic], Any], way: Setup) -> list[Result]:
    try:
        found = work(part)
    except KeyboardInterrupt:
        return [unsolved(part.id, way, Termination.INTERRUPTED)]
    return [
        _Outcome(
            id=part.id,
            strategy=way.blank.strategy,
            status=Status.NO_SOLUTION,
            termination=Termination.COMPLETED,
            found=found,
        )
    ]


def without_interruption(result: Result) -> Result:
    """Return a result as it is; that of an interrupted search is no answer.

    Raises
    ------
    KeyboardInterrupt
    """
    if result.termination is Termination.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def with_references(topic: Topic) -> Topic:
    """Return a topic as it is.

    Raises
    ------
    InputError
        If it has no reference, or no text.
    """
    if not topic.references or not topic.sentences:
        raise InputError(f"The topic {topic.id!r} has no reference, or no text, so it has no oracle.")
    return topic
