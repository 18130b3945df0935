"""Topics from whatever holds them: one reader for every format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from logging import getLogger
from pathlib import Path
from typing import Any, TypeVar

from optsum.corpus.formats.columns import Columns, parse_columns, recognised
from optsum.corpus.formats.hf_datasets import PREFIX
from optsum.corpus.formats.lines import Line, RawLine, decoded
from optsum.corpus.formats.sources import open_source
from optsum.corpus.sentences import splitter_of
from optsum.corpus.topic import BadTopic, Flat, Reading, Topic, as_id, topic_of
from optsum.corpus.unique import unique_topics
from optsum.errors import InputError
from optsum.plugins import is_place, load_place
from optsum.system.files import PathLike, name_of, stamp

T = TypeVar("T")


def read_topics(
    path: PathLike,
    *,
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    flat: Flat | None = None,
    columns: str | Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[Topic | BadTopic]:
    """Open a file or a folder of topics and iterate over them.

    Parameters
    ----------
    path : str or path
        Its format is recognised by its content: JSON Lines or a JSON array, Parquet, CSV or TSV (each may be compressed
        by gzip or zstandard), a cover's table, SGML of DUC, one of two files with a topic a line; a folder of CoNLL-U
        files, stories, document sets, raw texts, or one that `datasets` saved; ``hf:NAME[:CONFIG[:SPLIT]]``. ``-`` is
        the standard input.
    language : str
        By whose rules raw texts are split into sentences.
    splitter : str or callable
        What splits them (`optsum.as_topic`).
    flat : {"sentences", "texts"}, optional
        What a flat list of strings is (`optsum.as_topic`).
    columns : str or mapping, optional
        Which columns of a data set are what, as ``--map`` says it: ``documents=article,references=highlights``. Those
        of well-known sets are recognised. Where no id is named, a topic is called by its number, from 0.
    told : callable, optional
        Gets the sentence that says which columns were recognised.

    Returns
    -------
    iterator of Topic or BadTopic
        One for each record, in order, or several for a set of questions; it never raises. One record is in memory at a
        time, beside the ids of those before it.

    Raises
    ------
    InputError
        At once, before any topic is read, if the file cannot be opened, is empty or is of no format that is known; if a
        line of a table is none.
    OptionError
        If `language` is no language code, there is no such splitter, or `columns` name none.
    """
    return topics_read(path, Reading(splitter_of(language, splitter), flat), columns, told)


def topics_read(
    path: PathLike,
    reading: Reading,
    columns: str | Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[Topic | BadTopic]:
    """Do what `read_topics` does, by what was resolved before."""
    if is_program(path):
        return unique_topics(_made(str(path), reading))
    mapped = None if columns is None else parse_columns(columns)
    source = open_source(path, split=reading.split, columns=mapped.names if mapped is not None else ())
    return watched(path, unique_topics(topics_of_source(source, mapped, reading, Say(name_of(path), told))))


def watched(path: PathLike, items: Iterator[T]) -> Iterator[T]:
    """Pass on what is read of a path, and say in the end if somebody has written there meanwhile."""
    before = stamp(path)

    def passed_on() -> Iterator[T]:
        try:
            yield from items
        finally:
            if stamp(path) != before:
                getLogger("optsum").warning(
                    "%s was changed while it was read: results may be of two versions; run again with --overwrite",
                    name_of(path),
                )

    return passed_on()


def is_program(path: object) -> bool:
    """Return whether a name says which function makes problems or topics: ``FILE.py:function``, ``module:function``."""
    return isinstance(path, str) and is_place(path) and not path.startswith(PREFIX) and not Path(path).exists()


def _made(place: str, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield what a function makes; one without a name is called by its number, from 0."""
    try:
        made = load_place(place)()
    except (Exception, SystemExit) as error:
        raise InputError(f"{place} makes no problems: {error!r}.") from error
    for number, each in enumerate(made):
        named = {"id": str(number), **each} if isinstance(each, Mapping) else each
        try:
            topic = topic_of(named, reading)
            yield topic if topic.id else replace(topic, id=str(number))
        except InputError as error:
            yield BadTopic(str(number), place, str(error))


class Say:
    """Says once which columns of a file were recognised."""

    def __init__(self, name: str, told: Callable[[str], None] | None) -> None:
        self._name, self._told = name, told

    def __call__(self, columns: Columns) -> None:
        """Say which they are, if nothing was said before."""
        if self._told is not None:
            parts = [f"{key} are {path[0]}" for key, path in columns.paths.items() if key != "id"]
            ids = columns.paths.get("id", ("the row's number",))[0]
            self._told(f"{self._name}: {', '.join(parts)}, ids are {ids}; --map says otherwise")
        self._told = None


def topics_of_source(
    source: Iterator[Line | RawLine] | Iterator[Topic | BadTopic], mapped: Columns | None, reading: Reading, say: Say
) -> Iterator[Topic | BadTopic]:
    """Yield the topics of all lines, whether their ids are unique or not."""
    for number, each in enumerate(source):
        if isinstance(each, Line | RawLine):
            yield from topics_of_line(decoded(each), number, mapped, reading, say)
        else:
            yield each


def topics_of_line(
    line: Line, number: int, mapped: Columns | None, reading: Reading, say: Callable[[Columns], None]
) -> Iterator[Topic | BadTopic]:
    """Yield the topics of a line; one that cannot be used ends it.

    Parameters
    ----------
    number : int
        Of the line among those that are not blank, from 0.
    mapped : Columns or None
        What ``--map`` says.
    reading : Reading
    say : callable
        Gets columns that were recognised.
    """
    name, value, columns = None, line.value, mapped
    if columns is None and isinstance(value, dict) and (columns := recognised(value)) is not None:
        say(columns)
    if line.error is not None:
        yield BadTopic(None, line.source, line.error)
        return
    if isinstance(value, dict) and value.get("status") == "error":  # what could not be used before
        yield BadTopic(_id_of(value), line.source, str(value.get("error")))
        return
    if (
        columns is None
        and isinstance(value, dict)
        and "id" not in value
        and {"documents", "cover", "format"} & value.keys()
    ):
        value = {"id": str(number), **value}
    try:
        for record in [value] if columns is None else columns.topics(value, number, reading.split):
            name = _id_of(record)
            yield topic_of(record, reading, line.source)
    except InputError as error:
        name = name or _id_of(value) or (None if columns is None else str(number))
        known = {"documents", "references", "cover"}
        others = columns is None and isinstance(value, dict) and value and not known & value.keys()
        advice = "; --map documents=COLUMN,references=COLUMN says which is what" if others else ""
        yield BadTopic(name, line.source, f"{error}{advice}")


def _id_of(value: object) -> str | None:
    """Return the id of a topic that is wrong elsewhere."""
    try:
        return as_id(value["id"], "") if isinstance(value, dict) and "id" in value else None
    except InputError:
        return None
