"""Accepted forms of topics and systems in Python: a file, a data frame, or any iterable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar

from optsum.corpus.formats.lines import Cells
from optsum.corpus.formats.tables import check_names
from optsum.corpus.sentences import json_type
from optsum.corpus.systems import BadSystem, System, system_of, systems_read
from optsum.corpus.topic import (
    AS_IS,
    IDS,
    OWN,
    BadTopic,
    Reading,
    Topic,
    as_topic,
    parse_columns,
    topic_of,
)
from optsum.corpus.topics import Lines, topics_of_value, topics_read
from optsum.corpus.vectors import Embed, embedded
from optsum.errors import InputError, UnsupportedError, describe

T = TypeVar("T")

AnyTopic: TypeAlias = Topic | BadTopic | Mapping[str, object]  # A topic, its JSON form, or what a reader could not use.

AnyTopics: TypeAlias = Iterable[Any] | str | os.PathLike[str]
"""Topics, records or problems; the path of a file or folder of them; a data frame; or a dataset."""

AnyColumns: TypeAlias = str | Mapping[str, str]  # Which columns of records are what, as ``--map`` says it.


class ReadAhead(Iterator[T]):
    """Topics of a file, several of which may be read before the first is answered."""

    def __init__(self, topics: Iterator[T], path: str | os.PathLike[str]) -> None:
        self._topics, self.path = topics, path

    def __next__(self) -> T:
        """Return the next."""
        return next(self._topics)


def read_ahead(topics: Iterator[T], path: str) -> Iterator[T]:
    """Mark topics from a file, if the path is one of a file, so that several may be read ahead."""
    return ReadAhead(topics, path) if os.path.isfile(path) else topics  # noqa: PTH113 - text


def path_of(topics: AnyTopics) -> str | os.PathLike[str] | None:
    """Return the path to read topics from; None if they are in memory."""
    return topics if isinstance(topics, str | os.PathLike) else topics.path if isinstance(topics, ReadAhead) else None


_PATH: Final = re.compile(r"(?:hf:\S+|[^\s]*\.(?:jsonl?|ndjson|csv|tsv|parquet|story|txt)(?:\.\w+)?)", re.IGNORECASE)
"""A text that can only be a path."""


def topic_given(topic: object, summary: object, reading: Reading, columns: AnyColumns | None = None) -> Topic:
    """Return one topic, made from a document and a summary if there is one; several topics are refused.

    A document and a summary are each a text or a list of sentences. A row of a data frame is a record.
    """
    if summary is not None:
        for given, what in ((topic, "document"), (summary, "summary")):
            if isinstance(given, str):
                continue
            if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
                raise InputError(f"the {what} is {json_type(given)}; give a text, or a list of its sentences")
        return topic_of({"id": "text", "documents": [topic], "references": [summary]}, reading._replace(flat="texts"))
    if isinstance(topic, str | os.PathLike):
        if isinstance(topic, os.PathLike) or _PATH.fullmatch(topic) or os.path.exists(topic):  # noqa: PTH110 - text
            raise InputError(f"{os.fspath(topic)!r:.200} is a path, and one topic was expected; use solve_all(path)")
        raise InputError("a text needs a reference summary to be compared with; give it too: solve(text, summary)")
    _check_several(topic)
    if not isinstance(topic, Topic | BadTopic | Mapping | bytes) and not hasattr(topic, "as_topic"):
        if isinstance(topic, list | tuple) and topic and all(isinstance(one, str) for one in topic):
            raise InputError(
                "a list of sentences needs a reference summary to be compared with; give it too: solve(sentences, "
                "summary)"
            )
        row = hasattr(topic, "_asdict") or (hasattr(topic, "index") and hasattr(topic, "to_dict"))
        if row and _rows_of(topic) is None:
            topic = next(iter(_each(topic)))
        elif isinstance(topic, Iterable):
            raise InputError(
                "one topic was expected, and these are several; give one of them, or use solve_all(topics)"
            )
    return topic_of(topic, reading if columns is None else reading._replace(columns=parse_columns(columns)))


def with_vectors(topic: Topic | Mapping[str, Any], embed: Embed) -> Topic:
    """Return a topic with a model's vectors of its sentences and references.

    Parameters
    ----------
    topic : Topic or dict
        As for `optsum.solve`.
    embed : callable
        Takes a list of texts, and returns an array with a vector for each, or a list with an array of token vectors for
        each. It is called once for the sentences of the documents, and once for those of each reference.

    Raises
    ------
    InputError
        If the topic cannot be used, or the vectors do not fit it.

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
    """Yield topics with the vectors of a model; an error names its topic."""
    return (_embedded(topic, embed) for topic in topics_of(given, reading))


def _embedded(topic: Topic | BadTopic, embed: Embed) -> Topic | BadTopic:
    if isinstance(topic, BadTopic):
        return topic
    try:
        return with_vectors(topic, embed)
    except BaseException as error:  # noqa: BLE001 - a model may raise anything; it costs the other topics nothing
        return BadTopic(topic.id, "", describe(error))


def with_columns(given: Any, columns: AnyColumns | None, reading: Reading) -> Any:
    """Read topics by the named columns; without any, return the topics unchanged."""
    if columns is None:
        return given
    return topics_of(given, reading._replace(columns=parse_columns(columns)))


def topics_of(given: Any, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    """Iterate over topics from any source; an unsuitable source is refused at once.

    `given`: a path; a frame of pandas, polars or pyarrow, a dataset of `datasets`, or any iterable of objects, whose
    columns have the names of a topic's keys, or those of a well-known data set; or topics, or the items of a reader.
    """
    if isinstance(given, str | os.PathLike):
        return _usable(topics_read(given, reading))
    alone = "a single topic; give a list of topics, or use optsum.solve"
    return _usable(_topics(_items(given, "topics", alone), reading))


def _topics(items: Iterator[Any], reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield topics unchanged, and records as topics; cells of data frames may contain JSON."""
    for number, item in enumerate(items):
        if isinstance(item, Topic | BadTopic | Lines):
            yield item  # type: ignore[misc]  # lines, which whoever works on them reads
            continue
        for topic in topics_of_value(item, number, reading, ""):
            yield topic if isinstance(topic, Topic) else _Unusable(topic.id, f"row {number}", topic.error)


class _Unusable(BadTopic):
    """A record that could not be converted to a topic."""


def _usable(topics: Iterator[Topic | BadTopic]) -> Iterator[Topic | BadTopic]:
    """Pass topics on; if no record can be used, report that once instead of for each."""
    held: list[_Unusable] = []
    for topic in topics:
        if isinstance(topic, _Unusable):
            held.append(topic)
            continue
        yield from held
        yield topic
        yield from topics
        return
    if held:
        first = f"{held[0].source}: {held[0].error}"
        raise InputError(
            first if len(held) == 1 else f"none of the {len(held)} topics can be used; the first error: {first}"
        )


def checked_texts(given: Any, verb: str, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    """Iterate like `topics_of`, but refuse problems, which have no text for `verb`; at once if the first is one."""
    return _texts(topics_of(given, reading), verb)


def _texts(topics: Iterator[Topic | BadTopic], verb: str) -> Iterator[Topic | BadTopic]:
    for number, topic in enumerate(topics):
        if isinstance(topic, Topic) and topic.problem is not None:
            why = f"{topic.id!r} is a problem, and {verb} takes texts with references: solve and compare take problems."
            if not number:
                raise UnsupportedError(why)
            yield BadTopic(topic.id, "", why)
        else:
            yield topic


def checked_systems(given: Any, reading: Reading = AS_IS) -> Iterator[System | BadSystem]:
    """Iterate over system summaries like a reader."""
    if isinstance(given, str | os.PathLike):
        yield from systems_read(given, reading)
        return
    for number, item in enumerate(_items(given, "summaries", "a single summary; give a list")):
        try:
            if isinstance(item, BadSystem):
                yield item
            else:
                yield system_of(item, reading)
        except InputError as error:
            yield BadSystem(f"summary {number + 1}", str(error))


def _items(given: Any, what: str, alone: str) -> Iterator[Any]:
    """Iterate over the rows of a data frame as records, or over the items of any other iterable."""
    if (rows := _rows_of(given)) is not None:
        return map(_cells, rows)
    _check_several(given)
    if isinstance(given, Mapping | Topic | BadTopic | System | BadSystem):
        columns = isinstance(given, Mapping) and given and all(isinstance(value, list) for value in given.values())
        several = "; of a slice such as dataset[:2], which has columns, dataset.select(range(2)) has the records"
        raise InputError(f"this is {alone}{several if columns else ''}")
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        collect = "; give its collect()" if hasattr(given, "collect") else ""
        raise InputError(
            f"{what} come from a path, a data frame or a list, not from something {json_type(given)}{collect}"
        )
    return chain.from_iterable(map(_each, given))


def _check_several(given: object) -> None:
    """Refuse the splits of a dataset, and the columns of several records, which a slice of one is."""
    if not isinstance(given, Mapping):
        return
    if given and all(hasattr(split, "features") for split in given.values()):
        raise InputError(f"this dataset has the splits {', '.join(map(str, given))}; give one of them")
    if isinstance(ids := next((given[key] for key in IDS if key in given), None), list):
        raise InputError(
            f"these are the columns of {len(ids)} records, as dataset[:{len(ids)}] returns them; give the records: "
            f"dataset.select(range({len(ids)}))"
        )


def _each(item: Any) -> Iterable[Any]:
    """Return an item, or the rows of a frame: readers of Arrow and formatted datasets yield frames."""
    if isinstance(item, Topic | BadTopic | Lines | System | BadSystem | Mapping):
        return (item,)
    if (rows := _rows_of(item)) is not None:
        return map(_cells, rows)
    if not isinstance(item, list) and callable(named := getattr(item, "to_dict", getattr(item, "_asdict", None))):
        return (_cells(named()),)
    return (item,)


def _cells(row: Mapping[str, Any]) -> Cells:
    return Cells({str(name): _plain(value) for name, value in row.items()})


def _rows_of(given: Any) -> Iterable[Mapping[str, Any]] | None:
    if hasattr(given, "iter_rows") and hasattr(given, "columns"):  # polars
        rows: Iterable[Mapping[str, Any]] = given.iter_rows(named=True)
        return rows
    if hasattr(given, "to_pylist") and hasattr(given, "schema"):  # pyarrow, a table or a batch of one
        check_names(given.schema.names, "the table")
        places = range(0, given.num_rows, _ROWS)
        return (row for place in places for row in given.slice(place, _ROWS).to_pylist())
    if hasattr(given, "itertuples") and hasattr(given, "columns"):  # pandas
        frame = given if {*IDS, *OWN}.intersection(given.index.names) <= {*given.columns} else given.reset_index()
        names = [str(name) for name in frame.columns]
        check_names(names, "the frame")
        return (dict(zip(names, row, strict=True)) for row in frame.itertuples(index=False, name=None))
    return None


_ROWS: Final = 64  # Of a table that are objects at a time.


def _plain(value: Any) -> Any:
    if (isinstance(value, float) and value != value) or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
