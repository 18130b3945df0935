"""What callers give for topics or systems: a file, a data frame, or any iterable; anything else is refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from optsum.corpus.formats.columns import recognised
from optsum.corpus.formats.tables import topic_record
from optsum.corpus.sentences import ENGLISH, Splitter, json_type
from optsum.corpus.systems import BadSystem, System, system_of, systems_read
from optsum.corpus.topic import AS_IS, BadTopic, Reading, Topic, as_topic, topic_of
from optsum.corpus.topics import topics_read
from optsum.corpus.vectors.arrays import Embed, embedded
from optsum.errors import InputError, describe

__all__ = [
    "AnyTopic",
    "AnyTopics",
    "checked_systems",
    "checked_topics",
    "each_with_vectors",
    "systems_of",
    "topic_given",
    "topics_of",
    "with_vectors",
]

T = TypeVar("T")

AnyTopic: TypeAlias = Topic | BadTopic | Mapping[str, object]
"""A topic, its JSON form, or what a reader could not use."""

AnyTopics: TypeAlias = Iterable[AnyTopic] | str | os.PathLike[str]
"""Topics, the path of a file or folder of them, or a data frame."""


def topic_given(topic: object, summary: object = None, reading: Reading = AS_IS) -> object:
    """Return a topic; if a summary is given, that of a document and this summary, each a text or its sentences.

    Raises
    ------
    InputError
        If a text comes without a summary, or the two are no texts.
    """
    if summary is None:
        if isinstance(topic, str):
            raise InputError("a text has no reference summary to be held against; give it too: solve(text, summary)")
        return topic
    text = topic
    for given, what in ((text, "document"), (summary, "summary")):
        if isinstance(given, str):
            continue
        if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
            raise InputError(f"the {what} is {json_type(given)}; give a text, or a list of its sentences")
    return topic_of({"id": "text", "documents": [text], "references": [summary]}, reading._replace(flat="texts"))


def with_vectors(topic: Topic | Mapping[str, Any], embed: Embed) -> Topic:
    """Return a topic with the vectors that a model gives its sentences and references.

    Parameters
    ----------
    topic : Topic or dict
        As for `optsum.solve`.
    embed : callable
        Gets a list of texts, and returns an array with a vector for each, or a list with an array of vectors for each,
        one a token. It is called once for the sentences of the documents, and once for those of each reference.

    Raises
    ------
    InputError
        If the topic cannot be used, or what `embed` returns does not fit it.

    Examples
    --------
    >>> topic = {"id": "t", "documents": [["a cat", "two dogs"]], "references": [["a dog"]]}
    >>> found = with_vectors(topic, lambda texts: [[text.count("cat"), text.count("dog")] for text in texts])
    >>> found.vectors.similarities().tolist()
    [[0.0], [1.0]]
    """
    made = as_topic(topic)
    try:
        return replace(made, vectors=embedded(embed, made.sentences, made.references))
    except InputError as error:
        raise InputError(f"topic {made.id!r}: {error}") from None


def each_with_vectors(given: AnyTopics, embed: Embed, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    """Return topics with the vectors that a model gives them, one after another; what it fails on is told of its topic.

    Raises
    ------
    InputError
        At once, for what are no topics (`topics_of`).
    """
    return (_embedded(topic, embed) for topic in checked_topics(topics_of(given, reading), reading))


def _embedded(topic: Topic | BadTopic, embed: Embed) -> Topic | BadTopic:
    if isinstance(topic, BadTopic):
        return topic
    try:
        return with_vectors(topic, embed)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a model may raise anything; it costs the other topics nothing
        return BadTopic(topic.id, "", describe(error))


def topics_of(given: Any, reading: Reading = AS_IS) -> Iterator[AnyTopic]:
    """Iterate over topics, whatever they are in.

    Parameters
    ----------
    given : path, data frame or iterable
        A path as for `optsum.read_topics`; a frame of pandas, polars or pyarrow whose columns are named as the keys of
        a topic, or as those of a well-known data set (article and highlights, ...); or topics, their JSON form, or
        what a reader yields.
    reading : Reading, optional
        How texts become sentences.

    Raises
    ------
    InputError
        At once, for anything else: a single topic, bytes, a number.
    """
    if isinstance(given, str | os.PathLike):
        return topics_read(given, reading)
    alone = "a topic by itself; give a list of topics, or use optsum.solve"
    return _items(given, "topics", alone, _bad_topic, reading.split)


def _bad_topic(number: int, error: str) -> BadTopic:
    return BadTopic(None, f"row {number}", error)


def systems_of(given: Any, split: Splitter = ENGLISH) -> Iterator[System | BadSystem | Mapping[str, Any]]:
    """Iterate over systems' summaries, as `topics_of` does over topics."""
    if isinstance(given, str | os.PathLike):
        return systems_read(given, split)
    return _items(
        given, "summaries", "a summary by itself; give a list", lambda n, error: BadSystem(f"row {n}", error), split
    )


def checked_topics(given: Any, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    """Iterate over topics as a reader yields them."""
    for topic in topics_of(given, reading):
        try:
            yield topic if isinstance(topic, BadTopic) else topic_of(topic, reading)
        except InputError as error:
            name = topic.get("id") if isinstance(topic, Mapping) else None
            yield BadTopic(name if isinstance(name, str) else None, "", str(error))


def checked_systems(given: Any, split: Splitter = ENGLISH) -> Iterator[System | BadSystem]:
    """Iterate over systems' summaries as a reader yields them."""
    for number, system in enumerate(systems_of(given, split), start=1):
        try:
            yield system if isinstance(system, BadSystem) else system_of(system, split)
        except InputError as error:
            yield BadSystem(f"summary {number}", str(error))


def _items(given: Any, what: str, alone: str, bad: Callable[[int, str], T], split: Splitter) -> Iterator[Any]:
    if (rows := _rows_of(given)) is not None:
        return (_record(row, number, bad, split) for number, row in enumerate(rows))
    if isinstance(given, Mapping | Topic | BadTopic | System | BadSystem):
        raise InputError(f"this is {alone}")
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        raise InputError(f"{what} come from a path, a data frame or a list, not from something {json_type(given)}")
    return iter(given)


def _rows_of(given: Any) -> Iterable[Mapping[str, Any]] | None:
    """Return the rows of a data frame; None for anything else."""
    if hasattr(given, "iter_rows") and hasattr(given, "columns"):  # polars
        rows: Iterable[Mapping[str, Any]] = given.iter_rows(named=True)
        return rows
    if hasattr(given, "to_pylist") and hasattr(given, "column_names"):  # pyarrow
        return (row for batch in given.to_batches(max_chunksize=64) for row in batch.to_pylist())
    if hasattr(given, "itertuples") and hasattr(given, "columns"):  # pandas
        names = [str(name) for name in given.columns]
        return (dict(zip(names, row, strict=True)) for row in given.itertuples(index=False, name=None))
    return None


def _record(row: Mapping[str, Any], number: int, bad: Callable[[int, str], T], split: Splitter) -> dict[str, Any] | T:
    columns = recognised(row) if bad is _bad_topic else None  # of a well-known data set
    try:
        record = topic_record({name: _plain(value) for name, value in row.items()}, number, True)
        return record if columns is None else next(columns.topics(record, number, split))
    except InputError as error:
        return bad(number, str(error))


def _plain(value: Any) -> Any:
    """Return a cell without what only data frames have: arrays, and NaN for what is missing."""
    if isinstance(value, float) and value != value:
        return None
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
