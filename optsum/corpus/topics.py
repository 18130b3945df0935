"""Topics, and records of other kinds, from any path; lines can be left to other processes to decode."""

from __future__ import annotations

import codecs
import os
import re
from array import array
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from io import BufferedReader
from itertools import chain, count, islice
from logging import getLogger
from pathlib import Path
from struct import Struct
from typing import Any, Final, Literal, TypeAlias, TypeVar, overload

from optsum.corpus.folders.duc import duc_files, duc_topics, is_duc_file
from optsum.corpus.folders.texts import (
    line_pair,
    pair_topics,
    parallel_folders,
    parallel_topics,
    stories_in,
    story_topics,
)
from optsum.corpus.formats.cover_table import is_cover_table, parse_cover_table
from optsum.corpus.formats.hf_datasets import PREFIX, folder_records, hub_records, is_dataset_folder
from optsum.corpus.formats.lines import (
    BY_RETURNS,
    Line,
    NumberedLines,
    RawLines,
    array_records,
    decode,
    decoded,
    ends_by_returns,
    raw_lines,
    text_of,
)
from optsum.corpus.formats.nuggets import nugget_reader
from optsum.corpus.formats.tables import csv_records, heading_of, parquet_records
from optsum.corpus.sentences import well_formed
from optsum.corpus.topic import (
    AS_IS,
    IDS,
    OWN,
    BadTopic,
    Flat,
    Notes,
    Reading,
    Topic,
    advice_for,
    as_id,
    reading_of,
    recognised,
    topics_of_record,
)
from optsum.errors import InputError, visible
from optsum.plugins import is_place, load_place
from optsum.system.files import (
    READ_ERRORS,
    PathLike,
    begin_of,
    describe_os_error,
    is_meant,
    name_of,
    open_bytes,
    read_text,
    stamp,
)

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
        TAC, one of two files with a topic on each line; a folder of the parts of one file, of JSON files, of CoNLL-U
        files, stories, document sets, raw texts, or one that `datasets` saved; ``hf:NAME[:CONFIG[:SPLIT]]``. ``-`` is
        the standard input.
    bad : {"raise", "skip", "keep"}
        An unusable record raises an error, is skipped (their number is logged at the end), or is yielded as a
        `BadTopic`. `optsum.solve_all` of a path makes an error row from it instead.
    language, splitter, flat, lines, source_words
        How texts become sentences, and how much is read (`optsum.as_topic`).
    columns : str or mapping, optional
        The columns of a data set by their meaning, as for ``--map``: ``documents=article,references=highlights``.
        Columns of well-known sets are recognised. Without an id, a topic is named by its number, from 0.
    told : callable, optional
        Called with sentences about recognised columns and doubts about the input; by default doubts are logged.

    Returns
    -------
    iterator of Topic
        One for each record, in order, or several for a set of questions. One record is in memory at a time, and the ids
        of earlier ones.

    Raises
    ------
    InputError
        At once, before any topic is read, if the file cannot be opened, is empty or has an unknown format, or if a line
        of a table is malformed. With ``bad="raise"`` also at the first unusable record.
    OptionError
        If the language code or the splitter is unknown, or `columns` name none.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"read_topics reads a file or a folder, not {type(path).__name__}: give its path; topics, records and data "
            "frames are passed directly to optsum.solve_all and other functions."
        )
    reading = reading_of(
        language=language, splitter=splitter, flat=flat, lines=lines, source_words=source_words, columns=columns,
        notes=Notes(name_of(path), told),
    )  # fmt: skip
    found = topics_read(path, reading)
    return found if bad == "keep" else _usable(found, skip=bad == "skip")


def _usable(found: Iterator[Topic | BadTopic], *, skip: bool) -> Iterator[Topic]:
    """Yield the usable topics; raise the first unusable one, or log at the end how many there were."""
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
    """Read topics like `read_topics`, with resolved options."""
    if makes_problems(path):
        return unique_topics(_made(str(path), reading))
    return using(_once_each(open_source(path, reading), reading), [path], _READ)


_USED: Final = "used: results may be those of the old version, or errors"
_READ: Final = "read: results may be of two versions"


def using(items: Iterable[T], paths: Iterable[PathLike], when: str = _USED) -> Generator[T, None, None]:
    """Pass on items, and warn at the end about files that were changed meanwhile."""
    before = {path: stamp(path) for path in paths}

    def passed_on() -> Generator[T, None, None]:
        try:
            yield from items
        finally:
            for path, was in before.items():
                if stamp(path) != was:
                    _say_changed(path, when)

    return passed_on()


def watched_to_end(
    path: PathLike, items: Iterable[T], run: Callable[[Iterator[T]], Iterable[R]]
) -> Generator[R, None, None]:
    """Yield the results of a run over a path, and warn at the end if it was changed meanwhile."""
    before, read = stamp(path), list[object]()

    def passed_on() -> Iterator[T]:
        yield from items
        read.append(stamp(path))

    try:
        yield from run(passed_on())
    finally:
        if read == [before] and stamp(path) != before:
            _say_changed(path, "processed: results may be those of the old version")


def _say_changed(path: PathLike, when: str) -> None:
    getLogger("optsum").warning("%s was changed while it was %s; run again with --overwrite", name_of(path), when)


def is_program(path: object) -> bool:
    """Return whether a name is that of a function that makes problems: ``FILE.py:function``, ``module:function``."""
    return isinstance(path, str) and is_place(path) and not path.startswith(PREFIX) and not Path(path).exists()


def makes_problems(path: object) -> bool:
    """Return whether a name is that of a function (`is_program`) or of a file with a linear program."""
    if isinstance(path, str | os.PathLike) and str(path).endswith(".py") and Path(path).is_file():
        raise InputError(
            f"'{path}' is a Python program: name the function in it that makes problems, as in {path}:FUNCTION."
        )
    return is_program(path) or (isinstance(path, str | os.PathLike) and _PROGRAM.search(str(path)) is not None)


_PROGRAM: Final = re.compile(r"\.(?:mps|lp)(?:\.gz)?$", re.IGNORECASE)


def _made(place: str, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield the problems of a function or file; one without a name is named by its number, from 0."""
    if not is_program(place):
        name = _PROGRAM.sub("", Path(place).name)
        yield from topics_of_record(load_place("optsum:Problem.from_mps")(place, name=name), None, reading, "")
        return
    try:
        found = load_place(place)
        made = found() if callable(found) else found
        is_model = hasattr(made, "component_data_objects")  # of Pyomo, which iterates over an index
        one = is_model or isinstance(made, str | Mapping) or not isinstance(made, Iterable)
        each_made = iter([made] if one else made)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{place} does not make problems: {error!r}.") from error
    for number in count():
        try:
            each = next(each_made)
        except StopIteration:
            return
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not number:
                raise InputError(f"{place} does not make problems: {error!r}.") from error
            yield BadTopic(str(number), place, f"{place} ended after {number} problems: {error!r}")
            return
        for topic in topics_of_value(each, number, reading, ""):
            if isinstance(topic, BadTopic):
                yield BadTopic(str(number), place, topic.error)
            else:
                yield topic if topic.id else replace(topic, id=str(number))


def _once_each(source: Iterable[Line | RawLines], reading: Reading) -> Iterator[Topic | BadTopic]:
    topics = (topics_of_line(line, number, reading) for number, line in enumerate(decoded(source)))
    return unique_topics(chain.from_iterable(topics))


def topics_of_line(line: Line, number: int, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield the topics of a line, `number` among lines that are not blank; an unusable topic ends it."""
    value = line.value
    if line.error is not None:
        yield BadTopic(None, line.source, line.error)
    elif isinstance(value, dict) and value.get("status") == "error":  # what could not be used before
        yield BadTopic(_id_of(value, None, AS_IS), line.source, str(value.get("error")))
    else:
        yield from topics_of_value(value, number, reading, line.source)


def topics_of_value(value: object, number: int, reading: Reading, source: str) -> Iterator[Topic | BadTopic]:
    """Yield the topics of a record like `topics_of_record`; an unusable one ends it."""
    try:
        yield from topics_of_record(value, number, reading, source)
    except InputError as error:
        yield BadTopic(_id_of(value, number, reading), source, str(error))


def _id_of(value: object, number: int | None, reading: Reading) -> str | None:
    """Return the id of an unusable topic, if it can be read."""
    if not isinstance(value, Mapping):
        return None
    columns = reading.columns or recognised(value)
    place = "id" if columns is None else columns.paths["id"][0]
    if (held := value.get(place)) is None or (isinstance(held, str) and not held):
        known = columns is not None or not OWN.isdisjoint(value)
        return str(number) if known and number is not None else None
    try:
        return as_id(held, "")
    except InputError:
        return None


# Topics that are still lines of a file: whoever works on them decodes and checks them.


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file, each of which is one topic, for others to read."""

    lines: RawLines
    number: int  # Of the first among those that are not blank, from 0.
    reading: Reading  # Its notes, where they are pickled, are kept for whoever sent them.
    again: tuple[bool, ...] = ()  # Of the first ones, as far as that is known: whether an earlier topic has the id.

    def __len__(self) -> int:
        return len(self.lines.raws)

    def __getitem__(self, places: slice) -> Lines:
        raws, numbers, name = self.lines
        first, some = places.indices(len(self))[0], RawLines(raws[places], numbers[places], name)
        return Lines(some, self.number + first, self.reading, self.again[places])

    def read(self) -> list[Topic | BadTopic]:
        """Return the topics, or what is wrong with them."""
        lines = enumerate(decoded([self.lines]), self.number)
        found = [topic for number, line in lines for topic in topics_of_line(line, number, self.reading)]
        for place, again in enumerate(self.again[: len(self)]):
            if again:
                found[place] = second_topic(found[place])
        return found


def unread_topics(
    path: PathLike, reading: Reading = AS_IS, limit: int | None = None
) -> Iterator[Topic | BadTopic | Lines]:
    """Read topics as `read_topics` does, but leave lines to other processes where each is one topic.

    Who works on them has to look whether ids come again. `limit`: the number of topics to read; None for all.
    """
    several = reading.columns is not None and any("[]" in place for place in reading.columns.paths.values())
    if makes_problems(path) or several or Path(path).is_dir():
        return islice(topics_read(path, reading), limit)
    source = open_source(path, reading)
    if limit == 0:
        return iter(())
    first = next(source, None)
    rest = source if first is None else chain([first], source)
    if isinstance(first, RawLines):
        return using(_unread(rest, reading, limit), [path], _READ)
    return islice(using(_once_each(rest, reading), [path], _READ), limit)


def _unread(
    found: Iterable[Line | RawLines], reading: Reading, limit: int | None
) -> Iterator[Topic | BadTopic | Lines]:
    number = 0
    for each in found:
        if isinstance(each, RawLines):
            yield (lines := Lines(each, number, reading)[: None if limit is None else limit - number])
            number += len(lines)
        else:
            yield from topics_of_line(each, number, reading)
            number += 1
        if number == limit:
            return


# Each once: a second item of the same name is refused where it stands, and the others are done.


class Names:
    """A set of names, each stored as 64 bits of a hash, at a place given by 64 other bits.

    Memory does not depend on the length of names: 17 MB for a million. Each table is twice as large as the one before,
    and half full; tables are not rehashed, which would need the other bits.
    """

    def __init__(self) -> None:
        self._tables: list[array[int]] = []
        self._free = 0

    def add(self, name: str) -> bool:
        """Add a name, and return whether it is new."""
        mark, place = _HALVES(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        mark = mark or 1
        if not self._free:
            self._free = _LEAST << len(self._tables)
            self._tables.append(array("Q", [0]) * (2 * self._free))
        at, table = 0, self._tables[-1]
        for table in self._tables:
            last = len(table) - 1
            at = place & last
            while held := table[at]:
                if held == mark:
                    return False
                at = (at + 1) & last
        table[at] = mark
        self._free -= 1
        return True


_HALVES: Final = Struct("QQ").unpack

_LEAST: Final = 1 << 12  # Names of the first table.


def seen_before() -> Callable[[Iterable[str | None]], Iterator[bool]]:
    """Return a function that says of each id, where a topic has one, whether it was called with that id before."""
    seen = Names()
    return lambda ids: (name is not None and not seen.add(name) for name in ids)


def unique(items: Iterable[T], name: Callable[[T], str | None], again: Callable[[T], T]) -> Iterator[T]:
    """Pass items on, and replace those with a repeated name by `again`; items without a name are passed on."""
    seen = Names()
    for item in items:
        known = name(item)
        yield item if known is None or seen.add(known) else again(item)


_SECOND: Final = "the id {!r} occurs twice; give each topic its own"


def second_topic(topic: Topic | BadTopic, sentence: str = _SECOND) -> BadTopic:
    """Return the `BadTopic` that a topic is whose id an earlier one has."""
    return BadTopic(topic.id, topic.source, sentence.format(topic.id))


def unique_topics(topics: Iterable[Topic | BadTopic], sentence: str = _SECOND) -> Iterator[Topic | BadTopic]:
    """Pass topics on, and replace those with a repeated id by a `BadTopic` with `sentence`."""
    again = partial(second_topic, sentence=sentence)
    return unique(topics, lambda topic: topic.id if isinstance(topic, Topic) else None, again)


# What a path leads to.

Reader: TypeAlias = Callable[[NumberedLines, str], Iterator[Line | RawLines]]

_MARK = Line("", None)
_PARQUET = b"PAR1"

_LARGEST: Final = 1 << 26  # Bytes of a table of alternatives, which is read whole.

_SUMMARY: Final = "system summary"
_RECORDS: Final = re.compile(r"\.(?:jsonl?|ndjson|csv|tsv|parquet)\b", re.IGNORECASE)
"""Endings of files that are not plain text."""

_SEPARATOR: Final = re.compile(rb"sep=.")  # A line that spreadsheets have above the heading.

_TWO_OBJECTS: Final = re.compile(rb"\}\s*\r\s*\{")


def raw_records(
    path: PathLike, *, what: str, empty: bool = False, columns: Collection[str] = ()
) -> Iterator[Line | RawLines]:
    """Open a file and iterate over its records, one in memory at a time.

    `columns`: further names for recognising the heading of a table. The result never raises: a truncated file (a
    damaged disk or archive) ends with an error line.
    """
    records = _records(path, what, empty, columns)
    next(records)  # up to the mark: whatever is wrong with the file itself is raised here, before any work
    return records


def _records(path: PathLike, what: str, empty: bool, columns: Collection[str]) -> Iterator[Line | RawLines]:
    name = name_of(path)
    with ExitStack() as stack:
        try:
            stream = open_bytes(path, stack)
        except READ_ERRORS as error:
            raise InputError(f"the {what} file {name} cannot be opened: {describe_os_error(error)}") from error
        try:
            records = _recognised(stream, path, what, columns)
        except InputError:
            raise
        except READ_ERRORS as error:
            raise InputError(f"the {what} file {name} cannot be read: {describe_os_error(error)}") from error
        first = None if records is None else next(records, None)
        if first is None and not empty:
            raise InputError(f"the {what} file {name} is empty; give one {what} per line, as JSON")
        yield _MARK
        if records is not None and first is not None:
            yield first
            yield from records


def _recognised(
    stream: BufferedReader, path: PathLike, what: str, columns: Collection[str]
) -> Iterator[Line | RawLines] | None:
    """Return the records of a newly opened file; None if it is empty."""
    name = name_of(path)
    if stream.peek(len(_PARQUET)).startswith(_PARQUET):
        return parquet_records(stream, name, partial(_check_columns, name, what, columns))
    lines = NumberedLines(stream)
    line = lines.begin()
    if _SEPARATOR.fullmatch(line.removeprefix(codecs.BOM_UTF8).strip()):
        next(lines)
        line = lines.begin()
    if line[:1] != b"[" and ends_by_returns(line) and (line[:1] != b"{" or _TWO_OBJECTS.search(line)):
        raise InputError(f"{name}: {BY_RETURNS}")
    return _reader(line, stream, path, what, columns)(lines, name) if line else None


def _check_columns(name: str, what: str, columns: Collection[str], names: Collection[str]) -> None:
    """Refuse a table of something else at once, instead of row by row."""
    if what != "topic" or not {"documents", "cover"}.union(columns).isdisjoint(names) or recognised(names) is not None:
        return
    listed = ", ".join(list(names)[:8])
    raise InputError(
        f"{name} is a table without topics: it has no column documents, but {visible(listed)}{advice_for(names)}"
    )


def _reader(line: bytes, stream: BufferedReader, path: PathLike, what: str, columns: Collection[str]) -> Reader:
    """Return the reader for a file whose first non-blank line is `line`."""
    name = name_of(path)
    first = line.removeprefix(codecs.BOM_UTF8).strip()
    if first.startswith(b"{"):
        if first == b"{" and line.endswith(b"\n"):
            return partial(_spread, what)
        of_nuggets = nugget_reader(first, name) if what == "topic" else None
        return of_nuggets or raw_lines
    if first.startswith(b"["):
        return array_records
    heading = heading_of(first, closed=what != "row", columns=columns, likely=what == "topic")
    if heading is not None:
        _check_columns(name, what, columns, heading[1])
        return lambda lines, name: csv_records(lines, name, heading, closed=what == "row")
    sample = line + stream.peek()  # only now: a pipe may have no second line yet
    if what == "topic" and (of_nuggets := nugget_reader(first, name, sample)) is not None:
        return of_nuggets
    if is_cover_table(sample):
        return lambda lines, _: _cover_table(lines, path)
    if decode(first, name).error is None or b"\n{" in sample:
        return raw_lines
    if what == _SUMMARY and path != "-" and not _RECORDS.search(str(path)):
        return partial(_summaries, Path(path))
    named = "id, documents and references" if what == "topic" else "topic_id, system and summary"
    raise InputError(
        f"{name} has a format that optsum cannot read: give JSON Lines or a JSON array, CSV, TSV or Parquet with the "
        f"columns {named}, a table of alternatives, or a folder of CoNLL-U files"
    )


def _summaries(path: Path, lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the summaries of plain text, one line for each topic in turn; the file is named after the system."""
    system, last = path.name.partition(".")[0], 0
    for number, raw in lines:
        for blank in range(last + 1, number):  # above the first line that is not blank
            yield Line(f"{name}:{blank}", {"place": blank - 1, "system": system, "summary": ""})
        source, last = f"{name}:{number}", number
        try:
            yield Line(source, {"place": number - 1, "system": system, "summary": text_of(raw).strip()})
        except InputError as error:
            yield Line(source, None, str(error))


def _whole(lines: NumberedLines, source: str) -> bytes:
    """Return the whole content of a file, which is one record."""
    text = bytearray(b"\n" * lines.passed)
    for block in lines.blocks():
        text += block
        if len(text) > _LARGEST:
            raise InputError(f"the record {source} is longer than {_LARGEST >> 20} MiB; give one topic a file")
    return bytes(text)


def _spread(what: str, lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the one object of a file that spans several lines; raise if there are several."""
    found = decode(_whole(lines, name), name)
    if found.error is not None:
        raise InputError(f"{name} holds JSON spread over several lines; put each {what} on one line (JSON Lines)")
    yield found


def _cover_table(lines: NumberedLines, path: PathLike) -> Iterator[Line]:
    source = name_of(path)
    try:
        text = text_of(_whole(lines, source)).replace("\ufeff", "")
    except InputError as error:
        raise InputError(f"the table {source}: {error}") from error
    topic_id = "stdin" if path == "-" else Path(path).stem
    yield Line(source, parse_cover_table(text, topic_id=topic_id, source=source))


_DATA: Final = re.compile(r"(.+?)\.(jsonl|ndjson|json|csv|tsv|parquet)(?:\.(?:gz|zst|bz2|xz))?", re.IGNORECASE)
"""Names of files of records."""


def open_source(path: PathLike, reading: Reading) -> Iterator[Line | RawLines]:
    """Open the file, folder or dataset of a path (``-``: the standard input).

    `reading`: how to read texts that are not records; its columns serve to recognise a table's heading. The result has
    lines with the JSON form of topics, or with records of another data set; JSON Lines are not decoded.
    """
    columns = () if reading.columns is None else reading.columns.names
    if (found := _of_many(path, "topic", columns, reading.notes)) is not None:
        return found
    if path == "-" or (made := _of_files(Path(path), reading)) is None:
        return raw_records(path, what="topic", columns=columns)
    if columns:
        raise InputError(f"{path} has no columns, so there is nothing to map; leave --map out")
    return made


def open_records(path: PathLike, *, what: str) -> Iterator[Line | RawLines]:
    """Open a file of records, a folder of them, or a dataset, like `raw_records`."""
    found = _of_many(path, what, (), None)
    return raw_records(path, what=what) if found is None else found


def _of_many(
    path: PathLike, what: str, columns: Collection[str], notes: Notes | None
) -> Iterator[Line | RawLines] | None:
    """Return the records of a dataset, or those of the files in a folder; None for anything else."""
    if str(path).startswith(PREFIX):
        return hub_records(str(path))
    folder = Path(path)
    if path == "-" or not folder.is_dir():
        return None
    if is_dataset_folder(folder):
        return folder_records(folder)
    files, deeper = _files_in(folder)
    if not files:
        return None
    objects = all(
        ".json" in file.suffixes
        and (begin_of(file, 64) or b"").lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        and _named_object(file).error is None
        for file in files
    )
    if not objects and len({re.sub(r"\d+", "#", file.name) for file in files}) > 1:
        names = ", ".join(file.name for file in files[:5])
        raise InputError(f"the folder {folder} holds the files {names}; give one of them, such as {files[0]}")
    if notes is not None:
        number = re.search(r"-of-0*([1-9]\d*)\.", files[0].name)
        if number is not None and len(files) < int(number[1]):
            notes("parts", f"the folder has {len(files)} of {number[1]} parts; the topics of the others are left out")
        if (left := next((each for each in deeper if any(_files_in(each)[0])), None)) is not None:
            notes("deeper", f"the files of records in {left} are left out; give that folder separately")
    if objects:
        return map(_named_object, files)
    return chain.from_iterable(_of_part(file, what, columns) for file in files)


def _files_in(folder: Path) -> tuple[list[Path], list[Path]]:
    try:
        entries = sorted(each for each in folder.iterdir() if is_meant(each.name))
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    files = [each for each in entries if _DATA.fullmatch(each.name) and each.is_file()]
    return files, [each for each in entries if each.is_dir()]


def _named_object(file: Path) -> Line:
    """Return the topic in a file of JSON; without an id it is named after the file."""
    source = well_formed(str(file))
    try:
        line = decode(read_text(file, "").encode("utf-8", "surrogatepass"), source)
    except InputError as error:
        return Line(source, None, str(error))
    named = line.value is None or not line.value.keys().isdisjoint(IDS)
    return line if named else line._replace(value={"id": file.stem, **line.value})


def _of_part(file: Path, what: str, columns: Collection[str]) -> Iterator[Line | RawLines]:
    try:
        yield from raw_records(file, what=what, empty=True, columns=columns)
    except InputError as error:
        yield Line(well_formed(str(file)), None, str(error))


def _of_files(path: Path, reading: Reading) -> Iterator[Line] | None:
    """Return the topics of a path without records; None for a file of records, or if there are none."""
    if (pair := line_pair(path)) is not None:
        return pair_topics(pair, reading)
    if path.is_file():
        if path.suffix == ".story":
            return story_topics([path], reading)
        return duc_topics([path], reading) if is_duc_file(path) else None
    return _of_folder(path, reading) if path.is_dir() else None


def _of_folder(folder: Path, reading: Reading) -> Iterator[Line]:
    from optsum.corpus.parses import conllu_files, conllu_topics  # which brings all of chunks

    try:
        if treebank := conllu_files(folder):
            return conllu_topics(treebank, reading)
        if stories := stories_in(folder):
            return story_topics(stories, reading)
        if files := duc_files(folder):  # by content: its folders may be called as those of raw text are
            return duc_topics(files, reading)
        if (folders := parallel_folders(folder)) is not None:
            return parallel_topics(folders, reading)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    if any(folder.glob("*.txt")) or any(folder.glob("*/*.txt")):
        raise InputError(
            f"{folder} has texts, but no folders documents/ and references/: put each text into {folder}/documents/, "
            f"and its reference under the same name into {folder}/references/"
        )
    raise InputError(
        f"{folder} cannot be read: it is a folder; give a file, or a folder of files named *.conllu or *.story, of a "
        "saved dataset, of the parts of one file (*.jsonl, *.csv, *.parquet), of JSON files with a topic each, of "
        "documents and summaries in SGML, or with folders documents/ and references/"
    )
