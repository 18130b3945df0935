"""Topics from whatever holds them: one reader for every format; lines that others decode by themselves."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count, islice
from logging import getLogger
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast, overload

from optsum.corpus.formats.columns import IDS, OWN, recognised
from optsum.corpus.formats.hf_datasets import PREFIX
from optsum.corpus.formats.lines import Line, RawLine, decode, decoded
from optsum.corpus.formats.records import open_source
from optsum.corpus.topic import AS_IS, BadTopic, Flat, Notes, Reading, Topic, as_id, reading_of, topics_of_record
from optsum.corpus.unique import SeenNames, unique_topics
from optsum.errors import InputError
from optsum.plugins import is_place, load_place
from optsum.system.files import PathLike, name_of, stamp

T = TypeVar("T")
R = TypeVar("R")


@overload
def read_topics(
    path: PathLike,
    *,
    bad: Literal["raise", "skip"] = "raise",
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    flat: Flat | None = None,
    lines: bool | None = None,
    source_words: int | None = None,
    columns: str | Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[Topic]: ...


@overload
def read_topics(
    path: PathLike,
    *,
    bad: Literal["keep"],
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    flat: Flat | None = None,
    lines: bool | None = None,
    source_words: int | None = None,
    columns: str | Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[Topic | BadTopic]: ...


def read_topics(
    path: PathLike,
    *,
    bad: Literal["raise", "skip", "keep"] = "raise",
    language: str = "en",
    splitter: str | Callable[..., Any] = "sentencex",
    flat: Flat | None = None,
    lines: bool | None = None,
    source_words: int | None = None,
    columns: str | Mapping[str, str] | None = None,
    told: Callable[[str], None] | None = None,
) -> Iterator[Topic] | Iterator[Topic | BadTopic]:
    """Open a file or a folder of topics and iterate over them.

    Parameters
    ----------
    path : str or path
        Its format is recognised by its content: JSON Lines or a JSON array, Parquet, CSV or TSV (each may be compressed
        by gzip, bzip2, xz or zstandard, or be the one file of a zip or tar archive), a cover's table, SGML of DUC and
        TAC, one of two files with a topic a line; a folder of the parts of one file, of JSON files, of CoNLL-U
        files, stories, document sets, raw texts, or one that `datasets` saved; ``hf:NAME[:CONFIG[:SPLIT]]``. ``-`` is
        the standard input.
    bad : {"raise", "skip", "keep"}
        A record that cannot be used is raised, or passed over (their number is logged in the end), or yielded as a
        `BadTopic`. `optsum.solve_all` of a path makes an error row of it instead.
    language : str
        By whose rules raw texts are split into sentences.
    splitter : str or callable
        Splitter of raw text (`optsum.as_topic`).
    flat, lines, source_words
        Meaning of flat lists, whether lines are sentences, and how much is read (`optsum.as_topic`).
    columns : str or mapping, optional
        Which columns of a data set are what, as ``--map`` says it: ``documents=article,references=highlights``. Those
        of well-known sets are recognised. Where no id is named, a topic is called by its number, from 0.
    told : callable, optional
        Gets the sentences that say which columns were recognised, and what is uncertain about the input; without it
        what is uncertain is logged.

    Returns
    -------
    iterator of Topic
        One for each record, in order, or several for a set of questions. One record is in memory at a time, beside the
        ids of those before it.

    Raises
    ------
    InputError
        At once, before any topic is read, if the file cannot be opened, is empty or is of no format that is known; if a
        line of a table is none. With ``bad="raise"`` also when a record is reached that cannot be used.
    OptionError
        If `language` is no language code, there is no such splitter, or `columns` name none.
    """
    reading = reading_of(
        language=language, splitter=splitter, flat=flat, lines=lines, source_words=source_words, columns=columns,
        notes=Notes(name_of(path), told),
    )  # fmt: skip
    found = topics_read(path, reading)
    return found if bad == "keep" else _usable(found, skip=bad == "skip")


def _usable(found: Iterator[Topic | BadTopic], *, skip: bool) -> Iterator[Topic]:
    """Yield the topics that can be used; raise the first that cannot, or say in the end how many there were."""
    first, skipped, used = "", 0, 0
    for each in found:
        if isinstance(each, Topic):
            used += 1
            yield each
            continue
        reason = f"{each.source}: {each.error}"
        if not skip:
            raise InputError(reason)
        first, skipped = first or reason, skipped + 1
    if skipped:
        getLogger("optsum").warning(
            "%d of %d topics cannot be used and were skipped; the first: %s", skipped, used + skipped, first
        )


def topics_read(path: PathLike, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Do what `read_topics` does, by what was resolved before."""
    if makes_problems(path):
        return unique_topics(_made(str(path), reading))
    return watched(path, unique_topics(_topics_of_source(open_source(path, reading), reading)))


def watched(path: PathLike, items: Iterator[T]) -> Iterator[T]:
    """Pass on what is read of a path, and say in the end if somebody has written there meanwhile."""
    before = stamp(path)

    def passed_on() -> Iterator[T]:
        try:
            yield from items
        finally:
            if stamp(path) != before:
                _say_changed(path, "read: results may be of two versions")

    return passed_on()


def watched_to_end(
    path: PathLike, items: Iterable[T], run: Callable[[Iterator[T]], Iterable[R]]
) -> Generator[R, None, None]:
    """Yield the results of a run over a path, and warn in the end if the path was changed meanwhile."""
    before, read = stamp(path), list[object]()

    def passed_on() -> Iterator[T]:
        yield from items
        read.append(stamp(path))

    try:
        yield from run(passed_on())
    finally:
        if read == [before] and stamp(path) != before:
            _say_changed(path, "worked on: results are of what was there before")


def _say_changed(path: PathLike, when: str) -> None:
    getLogger("optsum").warning("%s was changed while it was %s; run again with --overwrite", name_of(path), when)


def is_program(path: object) -> bool:
    """Return whether a name says which function makes problems or topics: ``FILE.py:function``, ``module:function``."""
    return isinstance(path, str) and is_place(path) and not path.startswith(PREFIX) and not Path(path).exists()


def makes_problems(path: object) -> bool:
    """Return whether a name says a function (`is_program`), or a file of a linear program: one problem."""
    if isinstance(path, str | os.PathLike) and str(path).endswith(".py") and Path(path).is_file():
        raise InputError(f"'{path}' is a Python program: name what makes problems in it, as in {path}:FUNCTION.")
    return is_program(path) or (isinstance(path, str | os.PathLike) and _PROGRAM.search(str(path)) is not None)


_PROGRAM: Final = re.compile(r"\.(?:mps|lp)(?:\.gz)?$", re.IGNORECASE)


def _made(place: str, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield the problems that a function makes or a file holds; one without a name is called by its number, from 0."""
    if not is_program(place):
        name = _PROGRAM.sub("", Path(place).name)
        yield from topics_of_record(load_place("optsum:Problem.from_mps")(place, name=name), None, reading, "")
        return
    try:
        found = load_place(place)
        made = found() if callable(found) else found
        one = isinstance(made, str | Mapping) or not isinstance(made, Iterable)
        each_made = iter([made] if one else made)
    except (Exception, SystemExit) as error:
        raise InputError(f"{place} makes no problems: {error!r}.") from error
    for number in count():
        try:
            each = next(each_made)
        except StopIteration:
            return
        except (Exception, SystemExit) as error:
            if not number:
                raise InputError(f"{place} makes no problems: {error!r}.") from error
            yield BadTopic(str(number), place, f"{place} ended after {number} problems: {error!r}")
            return
        try:
            for topic in [each] if isinstance(each, Topic) else topics_of_record(each, number, reading, ""):
                yield topic if topic.id else replace(topic, id=str(number))
        except InputError as error:
            yield BadTopic(str(number), place, str(error))


def _topics_of_source(
    source: Iterator[Line | RawLine] | Iterator[Topic | BadTopic], reading: Reading
) -> Iterator[Topic | BadTopic]:
    """Yield the topics of all lines, whether their ids are unique or not."""
    for number, each in enumerate(source):
        if isinstance(each, Line | RawLine):
            yield from topics_of_line(decoded(each), number, reading)
        else:
            yield each


def topics_of_line(line: Line, number: int, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield the topics of a line; one that cannot be used ends it.

    `number`: of the line among those that are not blank, from 0.
    """
    value = line.value
    if line.error is not None:
        yield BadTopic(None, line.source, line.error)
        return
    if isinstance(value, dict) and value.get("status") == "error":  # what could not be used before
        yield BadTopic(id_of_record(value, None, AS_IS), line.source, str(value.get("error")))
        return
    try:
        yield from topics_of_record(value, number, reading, line.source)
    except InputError as error:
        yield BadTopic(id_of_record(value, number, reading), line.source, str(error))


def id_of_record(value: object, number: int | None, reading: Reading) -> str | None:
    """Return the id of a topic that is wrong elsewhere, if it can be told."""
    if not isinstance(value, Mapping):
        return None
    columns = reading.columns or recognised(value)
    place = "id" if columns is None else columns.paths["id"][0]
    if place not in value:
        known = columns is not None or not OWN.isdisjoint(value)
        return str(number) if known and number is not None else None
    try:
        return as_id(value[place], "")
    except InputError:
        return None


# Topics that are still lines of a file: whoever works on them decodes and checks them.

_OTHER_IDS: Final = tuple(json.dumps(name).encode() for name in IDS if name != "id")

_SPELLED: Final = re.compile(rb"\\u00[2-7]")  # An escape for a character that a name may be made of.

_PLAIN: Final = rb'"(?= *[!#-[\]-~])([ !#-[\]-~]+)"'
"""A string of printable ASCII, without escapes, that is not blank."""

_OWN: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*' + _PLAIN + rb'\s*,\s*"(?:documents|references|cover)"\s*:')
"""How a line of optsum's own begins, as most are written."""


class Unread(NamedTuple):
    """The one topic of a line."""

    raw: bytes
    source: str  # ``file:line``.
    number: int  # Of the line among those that are not blank, from 0.
    reading: Reading

    def read(self) -> Topic | BadTopic:
        """Return the topic, or what is wrong with it."""
        (topic,) = topics_of_line(decode(self.raw, self.source), self.number, self.reading)
        return topic

    def name(self) -> str | bytes | None:
        """Return the id; of a topic that cannot be used there may be none."""
        mapped = self.reading.columns
        place = ("id",) if mapped is None else mapped.paths["id"]
        if (
            mapped is None
            and (own := _OWN.match(self.raw)) is not None
            and self.raw.find(b'"id"', own.end()) < 0
            and (b"\\" not in self.raw or not _SPELLED.search(self.raw))
        ):
            return own[1]
        if not _SPELLED.search(self.raw) and not (mapped is None and any(key in self.raw for key in _OTHER_IDS)):
            key = json.dumps(place[0]).encode()
            if place == ("id",) and key not in self.raw:
                return str(self.number)
            if len(place) == 1 and (found := _plain_name(self.raw, key)) is not None:
                return found
        topic = self.read()
        return topic.id if isinstance(topic, Topic) else None


def unread_topics(path: PathLike, reading: Reading = AS_IS) -> Iterator[Unread | Topic | BadTopic]:
    """Read topics as `read_topics` does, but leave decoding to other processes where they can do it.

    A line of JSON Lines that is one topic is passed on as it stands in the file; `Unread.read` makes of it what
    `read_topics` would have. Only its id is looked for, because a second topic with the same one is refused;
    from the first repetition on, lines are read here, because it depends on whether the first one could be used.
    """
    if makes_problems(path):
        return topics_read(path, reading)
    source = open_source(path, reading)
    several = reading.columns is not None and any("[]" in place for place in reading.columns.paths.values())
    first = next(source, None)
    if first is None or not isinstance(first, RawLine) or not Path(path).is_file() or several:
        rest: Any = source if first is None else chain([first], source)
        return watched(path, unique_topics(_topics_of_source(rest, reading)))
    lines = cast("Iterator[Line | RawLine]", chain([first], source))
    return watched(path, _unread(lines, reading, lambda: topics_read(path, reading)))


def _unread(
    lines: Iterator[Line | RawLine], reading: Reading, anew: Callable[[], Iterator[Topic | BadTopic]]
) -> Iterator[Unread | Topic | BadTopic]:
    """Pass lines on while no id comes again, and then topics of `anew`, which reads all from the beginning."""
    seen, usable = SeenNames(), False
    for number, line in enumerate(lines):
        if not isinstance(line, RawLine):
            yield from topics_of_line(line, number, reading)
            continue
        unread = Unread(line.raw, line.source, number, reading)
        if usable:
            name = unread.name()
        else:  # which columns there are is said when the first is read
            topic = unread.read()
            usable = isinstance(topic, Topic)
            name = topic.id if isinstance(topic, Topic) else None
        if name is not None and not seen.add(name):
            yield from islice(anew(), number, None)
            return
        yield unread


@lru_cache(maxsize=32)
def _pair_of(key: bytes) -> re.Pattern[bytes]:
    return re.compile(re.escape(key) + rb"\s*:\s*" + _PLAIN + rb"\s*")


def _plain_name(raw: bytes, key: bytes) -> bytes | None:
    """Return what stands behind a key in the outermost object of a line, if that can be seen without decoding it.

    It can if the key is there once, with printable ASCII as its value, as the first or the last of all.
    """
    at = raw.find(key)
    if at < 0 or raw.find(key, at + 1) >= 0 or (pair := _pair_of(key).match(raw, at)) is None:
        return None
    if raw[:at].strip() == b"{" or raw[pair.end() :].strip() == b"}":
        return pair[1]
    return None
