"""Read topics, system summaries and other records from any path or object; other processes may decode the lines."""

from __future__ import annotations

import codecs
import os
import re
import sys
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from io import BufferedReader
from itertools import chain, compress, count, islice
from logging import getLogger
from pathlib import Path
from struct import Struct
from typing import Any, Final, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload
from unicodedata import normalize

from optsum.corpus.cover import is_cover_table, parse_cover_table, sentences_of
from optsum.corpus.folders import COMPRESSED, files_below, topics_in
from optsum.corpus.formats import (
    BY_RETURNS,
    PREFIX,
    ROWS,
    Cells,
    Line,
    NumberedLines,
    RawLines,
    array_records,
    check_names,
    csv_records,
    decode,
    decoded,
    ends_by_returns,
    folder_records,
    hub_records,
    is_dataset_folder,
    nugget_records,
    parquet_records,
    raw_lines,
    utf8_text,
)
from optsum.corpus.sentences import json_type, well_formed
from optsum.corpus.topic import (
    AS_IS,
    IDS,
    OWN,
    BadTopic,
    Flat,
    Notes,
    Reading,
    Text,
    Topic,
    advice_for,
    as_id,
    as_topic,
    heading_of,
    parse_columns,
    reading_of,
    recognised,
    topic_of,
    topics_of_record,
)
from optsum.errors import InputError, UnsupportedError, counted, describe, unknown_name, visible
from optsum.metrics.similarity import Embed, embedded
from optsum.plugins import is_place, load_place
from optsum.system.files import (
    READ_ERRORS,
    PathLike,
    as_path,
    begin_of,
    describe_os_error,
    is_meant,
    name_of,
    open_bytes,
    read_text,
    stamp,
)
from optsum.text.analyzer import Sentence, joined, raw_text

T = TypeVar("T")
R = TypeVar("R")
_USED: Final = "used: results may be those of the old version, or errors"
_READ: Final = "read: results may be of two versions"
_PROGRAM: Final = re.compile(r"\.(?:mps|lp)(?:\.gz)?$", re.IGNORECASE)
_HALVES: Final = Struct("QQ").unpack
_SECOND: Final = "the id {!r} occurs twice; give each topic its own"
_LARGEST: Final = 1 << 26  # Bytes of a table of alternatives, or an object, that is read whole.
_SUMMARY: Final = "system summary"
# Endings of files that do not hold plain text.
_RECORDS: Final = re.compile(r"\.(?:jsonl?|ndjson|csv|tsv|parquet)\b", re.IGNORECASE)
_TEXT: Final = re.compile(rf"\.txt{COMPRESSED}$", re.IGNORECASE)
_TABLE: Final = re.compile(rf"\.(csv|tsv){COMPRESSED}$", re.IGNORECASE)
# Names of files of records.
_DATA: Final = re.compile(rf"(.+?)\.(jsonl|ndjson|json|csv|tsv|parquet){COMPRESSED}", re.IGNORECASE)
AnyTopic: TypeAlias = Topic | BadTopic | Mapping[str, object]  # A topic, its JSON form, or an unusable topic.
AnyTopics: TypeAlias = Iterable[Any] | str | os.PathLike[str]
"""Topics, records or problems; the path of a file or folder of them; a data frame; or a dataset."""

AnyColumns: TypeAlias = str | Mapping[str, str]  # Columns of records by their meaning, as for ``--map``.
# A text that can only be a path.
_PATH: Final = re.compile(r"(?:hf:\S+|[^\s]*\.(?:jsonl?|ndjson|csv|tsv|parquet|story|txt)(?:\.\w+)?)", re.IGNORECASE)


class ReadingKeywords(TypedDict, total=False):
    """Keywords of `read_topics` except `bad`, which decides the type of the items."""

    language: str
    splitter: str | Callable[..., Any]
    flat: Flat | None
    lines: bool | None
    source_words: int | None
    columns: str | Mapping[str, str] | None
    told: Callable[[str], None] | None


@overload
def read_topics(
    path: PathLike, *, bad: Literal["raise", "skip"] = "raise", **keywords: Unpack[ReadingKeywords]
) -> Iterator[Topic]: ...


@overload
def read_topics(
    path: PathLike, *, bad: Literal["keep"], **keywords: Unpack[ReadingKeywords]
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
        by gzip, bzip2, xz or zstandard, or be the only file in a zip or tar archive), the table of a cover, SGML of DUC
        and TAC, a file with a document on each line beside one with the summaries; a folder with the parts of one file,
        JSON files, CoNLL-U files, stories, document sets or raw texts, or one that `datasets` saved;
        ``hf:NAME[:CONFIG[:SPLIT]]``. ``-`` is the standard input.
    bad : {"raise", "skip", "keep"}
        An unusable record raises an error, is skipped (the number of skipped ones is logged at the end), or is yielded
        as a `BadTopic`. `optsum.solve_all` of a path makes an error row of it.
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
        One for each record, in order, or several if `columns` make topics of a list in it. Only one record is in memory
        at a time, and hashes of earlier ids.

    Raises
    ------
    InputError
        At once, before any topic is read, if the file cannot be opened, is empty or has an unknown format, or if a line
        of a table is malformed. With ``bad="raise"`` also at the first unusable record.
    OptionError
        If the language code or the splitter is unknown, or `columns` are malformed or incomplete.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(
            f"read_topics reads a file or a folder, not {type(path).__name__}: give its path; topics, records and data "
            "frames are passed directly to optsum.solve_all and other functions."
        )
    if bad not in (known := ("raise", "skip", "keep")):
        raise unknown_name("value of bad", bad, known)
    reading = reading_of(
        language=language, splitter=splitter, flat=flat, lines=lines, source_words=source_words, columns=columns,
        notes=Notes(name_of(path), told),
    )  # fmt: skip
    found = topics_read(path, reading)
    return found if bad == "keep" else _usable(found, skip=bad == "skip")


def _usable(found: Iterator[Topic | BadTopic], *, skip: bool) -> Iterator[Topic]:
    """Yield the usable topics; raise an error at the first unusable one, or log at the end how many were skipped."""
    first, skipped, used = "", 0, 0
    for each in found:
        if isinstance(each, Topic):
            used += 1
            yield each
            continue
        first, skipped = first or f"{each.source}: {each.error}", skipped + 1
        if not skip:
            raise InputError(first)
    if skipped:
        said = f"{skipped} of {used + skipped} topics cannot be used and were skipped; the first: {first}"
        getLogger("optsum").warning("%s", said)


def topics_read(path: PathLike, reading: Reading) -> Iterator[Topic | BadTopic]:
    if makes_problems(path):
        return unique_topics(_made(str(path), reading))
    return using(_once_each(open_source(path, reading), reading), [path], _READ)


def using(items: Iterable[T], paths: Iterable[PathLike], when: str = _USED) -> Generator[T, None, None]:
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
    """Return whether a path names a function that makes problems: ``FILE.py:function`` or ``module:function``."""
    return isinstance(path, str) and is_place(path) and not path.startswith(PREFIX) and not Path(path).exists()


def makes_problems(path: object) -> bool:
    if not isinstance(path, str | os.PathLike):
        return False
    text = str(path)
    if text.endswith(".py") and Path(path).is_file():
        how = f"name the function in it that makes problems, as in {path}:FUNCTION"
        raise InputError(f"'{path}' is a Python program: {how}.")
    if isinstance(path, str) and path.endswith(")") and ".py:" in path:
        place, _, call = path.rpartition(".py:")
        raise InputError(f"'{path}' calls a function: give only its name, as in {place}.py:{call.partition('(')[0]}.")
    return is_program(path) or _PROGRAM.search(text) is not None


def _made(place: str, reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield the problems that a function returns, or the problem in a file; unnamed problems are numbered from 0."""
    if not is_program(place):
        name = _PROGRAM.sub("", Path(place).name)
        yield from topics_of_record(load_place("optsum:Problem.from_mps")(place, name=name), None, reading, "")
        return
    try:
        found = load_place(place)
        made = found() if callable(found) else found
        is_model = hasattr(made, "component_data_objects")  # of Pyomo, which can be iterated over
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
    """Yield the topics of a line, up to an unusable topic; `number`: of the line, from 0, not counting blank lines."""
    value = line.value
    if line.error is not None:
        yield BadTopic(None, line.source, line.error)
    elif isinstance(value, dict) and value.get("status") == "error":  # an error row of an earlier run
        yield BadTopic(_id_of(value, None, AS_IS), line.source, str(value.get("error")))
    else:
        yield from topics_of_value(value, number, reading, line.source)


def topics_of_value(value: object, number: int, reading: Reading, source: str) -> Iterator[Topic | BadTopic]:
    try:
        yield from topics_of_record(value, number, reading, source)
    except InputError as error:
        yield BadTopic(_id_of(value, number, reading), source, str(error))


def _id_of(value: object, number: int | None, reading: Reading) -> str | None:
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


@dataclass(frozen=True, slots=True)
class Lines:
    """Undecoded lines of a file, of one topic each, for another process to read."""

    lines: RawLines
    number: int  # Number of the first line among those that are not blank, from 0.
    reading: Reading  # In another process its notes are only collected; the sender repeats them.
    again: tuple[bool, ...] = ()  # For each of the first lines, as far as known: whether an earlier topic has its id.

    def __len__(self) -> int:
        return len(self.lines.raws)

    def __getitem__(self, places: slice) -> Lines:
        raws, numbers, name = self.lines
        first, some = places.indices(len(self))[0], RawLines(raws[places], numbers[places], name)
        return Lines(some, self.number + first, self.reading, self.again[places])

    def read(self) -> list[Topic | BadTopic]:
        lines = enumerate(decoded([self.lines]), self.number)
        found = [topic for number, line in lines for topic in topics_of_line(line, number, self.reading)]
        for place in compress(count(), self.again[: len(self)]):
            found[place] = second_topic(found[place])
        return found


def unread_topics(
    path: PathLike, reading: Reading = AS_IS, limit: int | None = None
) -> Iterator[Topic | BadTopic | Lines]:
    """Yield up to `limit` topics, or undecoded `Lines`, which the caller must read and check for repeated ids."""
    several = reading.columns is not None and any("[]" in place for place in reading.columns.paths.values())
    if makes_problems(path) or several or Path(path).is_dir():
        return islice(topics_read(path, reading), limit)
    source = open_source(path, reading)
    if limit == 0:
        return iter(())
    first = next(source, None)
    rest = source if first is None else chain([first], source)
    if not isinstance(first, RawLines):
        return islice(using(_once_each(rest, reading), [path], _READ), limit)

    def unread() -> Iterator[Topic | BadTopic | Lines]:
        number = 0
        for each in rest:
            if isinstance(each, RawLines):
                yield (lines := Lines(each, number, reading)[: None if limit is None else limit - number])
                number += len(lines)
            else:
                yield from topics_of_line(each, number, reading)
                number += 1
            if number == limit:
                return

    return using(unread(), [path], _READ)


class Names:
    """A set of names, each stored as 64 bits of a hash, at a place given by 64 other bits.

    Memory does not depend on the length of names: 17 MB for a million. Each table is twice as large as the one before,
    and at most half full. Tables never grow, because rehashing needs the bits for the place, which are not stored.
    """

    def __init__(self) -> None:
        self._tables: list[array[int]] = []
        self._free = 0

    def add(self, name: str) -> bool:
        """Add a name, and return whether it is new."""
        mark, place = _HALVES(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        mark = mark or 1
        if not self._free:
            self._free = 1 << 12 << len(self._tables)
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


def unique(items: Iterable[T | R], kind: type[T], name: Callable[[T], str], again: Callable[[T], R]) -> Iterator[T | R]:
    """Replace each item of `kind` that has the name of an earlier one by the result of `again` for it."""
    seen = Names()
    return (again(item) if isinstance(item, kind) and not seen.add(name(item)) else item for item in items)


def second_topic(topic: Topic | BadTopic, sentence: str = _SECOND) -> BadTopic:
    return BadTopic(topic.id, topic.source, sentence.format(topic.id))


def unique_topics(topics: Iterable[Topic | BadTopic], sentence: str = _SECOND) -> Iterator[Topic | BadTopic]:
    return unique(topics, Topic, lambda topic: topic.id, partial(second_topic, sentence=sentence))


def raw_records(
    path: PathLike, *, what: str, empty: bool = False, columns: Collection[str] = ()
) -> Iterator[Line | RawLines]:
    """Open a file and iterate over its records; a damaged or truncated file ends with an error line.

    `empty`: whether the file may be empty. `columns`: further names by which the heading of a table is recognised.
    """
    records = _records(path, what, empty, columns)
    next(records)  # yields the mark, or raises what is wrong with the file itself, before any work
    return records


def _records(path: PathLike, what: str, empty: bool, columns: Collection[str]) -> Iterator[Line | RawLines]:
    name = name_of(path)
    with ExitStack() as stack:
        done = "opened"
        try:
            stream, done = open_bytes(path, stack), "read"
            records = _recognised(stream, path, what, columns)
        except InputError:
            raise
        except READ_ERRORS as error:
            raise InputError(f"the {what} file {name} cannot be {done}: {describe_os_error(error)}") from error
        first = None if records is None else next(records, None)
        if first is None and not empty:
            raise InputError(f"the {what} file {name} is empty; give one {what} per line, as JSON")
        yield Line("", None)
        if records is not None and first is not None:
            yield first
            yield from records


def _recognised(
    stream: BufferedReader, path: PathLike, what: str, columns: Collection[str]
) -> Iterator[Line | RawLines] | None:
    """Return the records of an open file by the format that its first bytes show; None if it is empty."""
    name, check = name_of(path), partial(_check_columns, name_of(path), what, columns)
    if stream.peek(4).startswith(b"PAR1"):
        return parquet_records(stream, name, check)
    lines = NumberedLines(stream)
    line = lines.begin()
    if re.fullmatch(rb"sep=.", line.removeprefix(codecs.BOM_UTF8).strip()):  # written by some spreadsheets
        next(lines)
        line = lines.begin()
    if line[:1] != b"[" and ends_by_returns(line) and (line[:1] != b"{" or re.search(rb"\}\s*\r\s*\{", line)):
        raise InputError(f"{name}: {BY_RETURNS}")
    if not line:
        return None
    first = line.removeprefix(codecs.BOM_UTF8).strip()
    if what == _SUMMARY and _TEXT.search(str(path)) and not _holds_systems(first):
        return _summaries(Path(path), lines, name)
    if first == b"{" and line.endswith(b"\n"):
        return _spread(what, lines, name)
    if first.startswith(b"{"):
        of_nuggets = nugget_records(lines, name, first) if what == "topic" else None
        return raw_lines(lines, name) if of_nuggets is None else of_nuggets
    if first.startswith(b"["):
        return array_records(lines, name)
    heading = heading_of(first, closed=what != "row", columns=columns, likely=what == "topic")
    if heading is not None:
        check(heading[1])
        return csv_records(lines, name, heading, closed=what == "row")
    sample = line + stream.peek()  # not earlier, because a pipe may have no second line yet
    if what == "topic" and (of_nuggets := nugget_records(lines, name, first, sample)) is not None:
        return of_nuggets
    if what == "topic" and is_cover_table(sample):
        return _cover_table(lines, path)
    if decode(first, name).error is None or b"\n{" in sample:
        return raw_lines(lines, name)
    if what == _SUMMARY and path != "-" and not _RECORDS.search(str(path)):
        return _summaries(Path(path), lines, name)
    named, more = "topic_id, system and summary", ""
    if what == "topic":
        named, more = "id, documents and references", " (--map names other columns), a program in .mps or .lp"
        if (table := _TABLE.search(name)) is not None:
            check(first.decode("utf-8", "replace").split("\t" if table[1].lower() == "tsv" else ","))
    raise InputError(
        f"{name} has a format that optsum cannot read: give JSON Lines or a JSON array, CSV, TSV or Parquet with the "
        f"columns {named}{more}, a table of alternatives, or a folder of CoNLL-U files"
    )


def _check_columns(name: str, what: str, columns: Collection[str], names: Collection[str]) -> None:
    if what != "topic" or not {"documents", "cover"}.union(columns).isdisjoint(names) or recognised(names) is not None:
        return
    listed = visible(", ".join(list(names)[:8]))
    fault = f"it has no column documents, but {listed}{advice_for(names)}"
    raise InputError(f"{name} is a table without topics: {fault}")


def _holds_systems(first: bytes) -> bool:
    """Return whether the first line of a .txt file begins JSON or is the heading of a table, and no plain text."""
    if first[:1] in {b"{", b"["}:
        return re.match(rb"\{\s*(?:[\"'}]|$)|\[\s*(?:[{\]]|$)", first) is not None  # objects, or an array of them
    _, names = heading_of(first, closed=True, columns=(), likely=False) or ("", [])
    return len({*names} & {"id", "topic_id", "system", "strategy", "summary", "selection"}) > 1


def _summaries(path: Path, lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the summaries in a text file named after the system, whose lines belong to the topics in order."""
    system, last = re.sub(rf"(?i)\.[a-z]\w*{COMPRESSED}$", "", path.name) or path.name, 0  # gpt-3.5 has no ending
    for number, raw in lines:
        for blank in range(last + 1, number):  # blank lines at the beginning, which were skipped
            yield Line(f"{name}:{blank}", {"place": blank - 1, "system": system, "summary": ""})
        source, last = f"{name}:{number}", number
        try:
            yield Line(source, {"place": number - 1, "system": system, "summary": utf8_text(raw).strip()})
        except InputError as error:
            yield Line(source, None, str(error))


def _whole(lines: NumberedLines, source: str) -> bytes:
    text = bytearray(b"\n" * lines.passed)
    for block in lines.blocks():
        text += block
        if len(text) > _LARGEST:
            most = f"{_LARGEST >> 20} MiB"
            raise InputError(f"the record {source} is longer than {most}; give each topic a file of its own")
    return bytes(text)


def _spread(what: str, lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the only JSON object of a file, written over several lines; refuse a file with more than one."""
    found = decode(_whole(lines, name), name)
    if found.error is not None:
        raise InputError(f"{name} holds JSON spread over several lines; put each {what} on one line (JSON Lines)")
    yield found


def _cover_table(lines: NumberedLines, path: PathLike) -> Iterator[Line]:
    source = name_of(path)
    try:
        text = utf8_text(_whole(lines, source)).replace("\ufeff", "")
    except InputError as error:
        raise InputError(f"the table {source}: {error}") from error
    topic_id = "stdin" if path == "-" else normalize("NFC", Path(path).stem)
    yield Line(source, parse_cover_table(text, topic_id=topic_id, source=source))


def open_source(path: PathLike, reading: Reading) -> Iterator[Line | RawLines]:
    """Iterate over the records of a file, folder or dataset, from which topics are made; JSON Lines are not decoded."""
    columns = () if reading.columns is None else reading.columns.names
    if (found := _of_many(path, "topic", columns, reading.notes)) is not None:
        return found
    if path == "-" or (made := topics_in(Path(path), reading)) is None:
        return raw_records(path, what="topic", columns=columns)
    if columns:
        raise InputError(f"{path} has no columns, so there is nothing to map; leave --map out")
    return made


def open_records(path: PathLike, *, what: str) -> Iterator[Line | RawLines]:
    found = _of_many(path, what, (), None)
    return raw_records(path, what=what) if found is None else found


def _of_many(
    path: PathLike, what: str, columns: Collection[str], notes: Notes | None
) -> Iterator[Line | RawLines] | None:
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
    objects = all(".json" in file.suffixes and _may_be_object(file) for file in files) and any(
        _named_object(file).error is None for file in files
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


def _may_be_object(file: Path) -> bool:
    """Return whether a file begins as one JSON object, perhaps a damaged one, or cannot be read, or is empty."""
    begin = (begin_of(file, _LARGEST) or b"").lstrip(b"\xef\xbb\xbf \t\r\n")
    first, _, more = begin.partition(b"\n")
    return not begin or (begin.startswith(b"{") and (not more.strip() or decode(first, "").error is not None))


def _named_object(file: Path) -> Line:
    source = well_formed(str(file))
    try:
        line = decode(read_text(file, "").encode("utf-8", "surrogatepass"), source)
    except InputError as error:
        return Line(source, None, str(error))
    named = line.value is None or not line.value.keys().isdisjoint(IDS)
    return line if named else line._replace(value={"id": normalize("NFC", file.stem), **line.value})


def _of_part(file: Path, what: str, columns: Collection[str]) -> Iterator[Line | RawLines]:
    try:
        yield from raw_records(file, what=what, empty=True, columns=columns)
    except InputError as error:
        yield Line(well_formed(str(file)), None, str(error))


class ReadAhead(Iterator[T]):
    """An iterator over topics of a file that allows reading several topics before the first is solved."""

    def __init__(self, topics: Iterator[T], path: str | os.PathLike[str]) -> None:
        self._topics, self.path = topics, path

    def __next__(self) -> T:
        return next(self._topics)


def read_ahead(topics: Iterator[T], path: str) -> Iterator[T]:
    """Return topics as a `ReadAhead` if the path is that of a file, so that several topics may be read ahead."""
    return ReadAhead(topics, path) if os.path.isfile(path) else topics  # noqa: PTH113 - text


def path_of(topics: AnyTopics) -> str | os.PathLike[str] | None:
    return topics if isinstance(topics, str | os.PathLike) else topics.path if isinstance(topics, ReadAhead) else None


def topic_given(topic: object, summary: object, reading: Reading, columns: AnyColumns | None = None) -> Topic:
    """Return `topic` as a `Topic`; with a `summary`, `topic` is a document (both are texts, or lists of sentences)."""
    if summary is not None:
        for given, what in ((topic, "document"), (summary, "summary")):
            if isinstance(given, list | tuple):
                if wrong := [(number, one) for number, one in enumerate(given) if not isinstance(one, str)]:
                    raise InputError(f"sentence {wrong[0][0]} of the {what} is {json_type(wrong[0][1])}; give texts")
            elif not isinstance(given, str):
                raise InputError(f"the {what} is {json_type(given)}; give a text, or a list of its sentences")
            elif _PATH.fullmatch(given):
                raise InputError(f"the {what} is {given!r:.200}, a path; read the file, and give its text")
        record = {"id": "text", "documents": [topic], "references": [summary]}
        return topic_of(record, reading._replace(flat="texts", columns=None))
    if isinstance(topic, str | os.PathLike):
        if isinstance(topic, os.PathLike) or _PATH.fullmatch(topic) or os.path.exists(topic):  # noqa: PTH110 - text
            raise InputError(f"{os.fspath(topic)!r:.200} is a path, and one topic was expected; use solve_all(path)")
        raise InputError("a text needs a reference summary to be compared with; give it too: solve(text, summary)")
    _check_several(topic)
    if not isinstance(topic, Topic | BadTopic | Mapping | bytes) and not hasattr(topic, "as_topic"):
        if isinstance(topic, list | tuple) and topic and all(isinstance(one, str) for one in topic):
            needed = "a reference summary to be compared with; give it too: solve(sentences, summary)"
            raise InputError(f"a list of sentences needs {needed}")
        row = hasattr(topic, "_asdict") or (hasattr(topic, "index") and hasattr(topic, "to_dict"))
        if row and _rows_of(topic) is None:
            (topic,) = _each(topic)
        elif isinstance(topic, Iterable):
            several = "these are several; give one of them, or use solve_all(topics)"
            raise InputError(f"one topic was expected, and {several}")
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
    if not callable(embed):
        raise InputError(f"embed is {embed!r:.60}: give a function of texts that returns their vectors")
    made = as_topic(topic)
    try:
        return replace(made, vectors=embedded(embed, made.sentences, made.references))
    except InputError as error:
        raise InputError(f"topic {made.id!r}: {error}") from None


def with_only_vectors(topic: Topic, embed: Embed) -> Topic:
    """Return `with_vectors` of a topic; refuse one that has vectors of its own."""
    if topic.vectors is not None:
        raise InputError(f"topic {topic.id!r} has vectors of its own: leave out these, or embed")
    return with_vectors(topic, embed)


def each_with_vectors(given: AnyTopics, embed: Embed, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    def embedded(topic: Topic | BadTopic) -> Topic | BadTopic:
        try:
            return topic if isinstance(topic, BadTopic) else with_only_vectors(topic, embed)
        except BaseException as error:  # noqa: BLE001 - a model may raise anything, and other topics go on
            return BadTopic(topic.id, "", describe(error))

    return map(embedded, topics_of(given, reading))


def with_columns(given: Any, columns: AnyColumns | None, reading: Reading) -> Any:
    return given if columns is None else topics_of(given, reading._replace(columns=parse_columns(columns)))


def topics_of(given: Any, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    """Iterate over topics from any source (`AnyTopics`); an unsuitable source is refused at once."""
    if isinstance(given, str | os.PathLike):
        return topics_read(given, reading)
    return _topics(_items(given, "topics", "a single topic; give a list of topics, or use optsum.solve"), reading)


def _topics(items: Iterator[Any], reading: Reading) -> Iterator[Topic | BadTopic]:
    """Yield topics and `Lines` unchanged, and records as topics; raise one error if all are unusable records."""
    found, unusable = False, list[BadTopic]()  # unusable records that precede all topics
    for number, item in enumerate(items):
        ready = isinstance(item, Topic | BadTopic | Lines)
        for topic in [item] if ready else topics_of_value(item, number, reading, ""):
            if isinstance(topic, BadTopic) and not ready:
                topic = BadTopic(topic.id, f"row {number}", topic.error)  # noqa: PLW2901
                if not found:
                    unusable.append(topic)
                    continue
            if not found:
                found = True
                yield from unusable
            yield topic
    if unusable and not found:
        several = f"none of the {len(unusable)} topics can be used; the first error: " if len(unusable) > 1 else ""
        raise InputError(f"{several}{unusable[0].source}: {unusable[0].error}")


def checked_texts(given: Any, verb: str, reading: Reading = AS_IS) -> Iterator[Topic | BadTopic]:
    """Iterate over topics with text; a problem becomes a `BadTopic`, or raises an error about `verb` if it is first."""
    for number, topic in enumerate(topics_of(given, reading)):
        if not isinstance(topic, Topic) or topic.problem is None:
            yield topic
            continue
        why = f"{topic.id!r} is a problem, and {verb} takes texts with references: solve and compare take problems."
        if not number:
            raise UnsupportedError(why)
        yield BadTopic(topic.id, "", why)


def checked_systems(given: Any, reading: Reading = AS_IS) -> Iterator[System | BadSystem]:
    if isinstance(given, str | os.PathLike):
        yield from systems_read(given, reading)
        return
    for number, item in enumerate(_items(given, "summaries", "a single summary; give a list")):
        try:
            yield item if isinstance(item, BadSystem) else system_of(item, reading)
        except InputError as error:
            yield _bad_system(f"summary {number + 1}", str(error), item)


def _items(given: Any, what: str, alone: str) -> Iterator[Any]:
    if (rows := _rows_of(given)) is not None:
        return map(_cells, rows)
    _check_several(given)
    if isinstance(given, Mapping | Topic | BadTopic | System | BadSystem):
        columns = isinstance(given, Mapping) and given and all(isinstance(value, list) for value in given.values())
        several = "; a slice such as dataset[:2] is a dict of columns: use dataset.select(range(2))"
        raise InputError(f"this is {alone}{several if columns else ''}")
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        collect = "; give its collect()" if hasattr(given, "collect") else ""
        raise InputError(f"{what} come from a path, a data frame or a list, and this is {json_type(given)}{collect}")
    return chain.from_iterable(map(_each, given))


def _check_several(given: object) -> None:
    if not isinstance(given, Mapping):
        return
    if given and all(hasattr(split, "features") for split in given.values()):
        raise InputError(f"this dataset has the splits {', '.join(map(str, given))}; give one of them")
    if isinstance(ids := next((given[key] for key in IDS if key in given), None), list):
        how = f"give the records: dataset.select(range({len(ids)}))"
        raise InputError(f"these are the columns of {len(ids)} records, as dataset[:{len(ids)}] returns them; {how}")


def _each(item: Any) -> Iterable[Any]:
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
        places = range(0, given.num_rows, ROWS)
        return (row for place in places for row in given.slice(place, ROWS).to_pylist())
    if hasattr(given, "itertuples") and hasattr(given, "columns"):  # pandas
        frame = given if {*IDS, *OWN}.intersection(given.index.names) <= {*given.columns} else given.reset_index()
        names = [str(name) for name in frame.columns]
        check_names(names, "the frame")
        return (dict(zip(names, row, strict=True)) for row in frame.itertuples(index=False, name=None))
    return None


def _plain(value: Any) -> Any:
    if (isinstance(value, float) and value != value) or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class System:
    """One system's summary of one topic.

    Attributes
    ----------
    topic_id, system : str
    summary : tuple of sentences or None
        The text; None if only the selection or human scores are known.
    selection : tuple of int or str or None
        Sentences of an extract, in the given order: unit numbers, or the names that the cover has for sentences.
    human : mapping of str to float
        Human scores by name, without those that are null in the input.
    source : str
        Where it was read, ``file:line``.
    place : int or None
        Number of the topic, from 0, if its id is unknown (plain text with a summary on each line); the `topic_id` is
        then this number.
    """

    topic_id: str
    system: str
    summary: Text | None = None
    selection: tuple[int | str, ...] | None = None
    human: Mapping[str, float] = field(default_factory=dict, hash=False)
    source: str = ""
    place: int | None = None


@dataclass(frozen=True, slots=True)
class BadSystem:
    """A line of a file of system summaries that cannot be used."""

    source: str  # ``file:line``.
    error: str  # What is wrong, without the source.
    # Names for its row, if they are known.
    topic_id: str | None = field(default=None, compare=False)
    system: str | None = field(default=None, compare=False)


def _bad_system(source: str, error: str, obj: object) -> BadSystem:
    values = [obj.get(key) if isinstance(obj, Mapping) else None for key in ("topic_id", "system")]
    return BadSystem(source, error, *(str(value) if type(value) in {str, int} else None for value in values))


def system_of(obj: object, reading: Reading = AS_IS, source: str = "") -> System:
    """Return the checked summary in an object, or in a row of results, whose strategy is taken for the system."""
    if isinstance(obj, System):
        return obj
    obj = obj.record() if isinstance(obj, Cells) else obj
    if not isinstance(obj, Mapping):
        raise InputError(f'a system summary is an object with "topic_id", "system" and "summary", not {json_type(obj)}')
    if "topic_id" not in obj and "strategy" in obj:
        obj = _of_row(obj)
    place = obj.get("place") if "topic_id" not in obj else None
    obj = obj if place is None else {**obj, "topic_id": place}
    if lacking := [key for key in ("topic_id", "system") if obj.get(key) is None]:
        raise InputError(f'there is no "{lacking[0]}"; give it beside "summary" or "selection"')
    summary, selection, human = obj.get("summary"), obj.get("selection"), _human(obj.get("human"))
    summary = None if summary == "" and (selection is not None or human) else summary  # an empty cell
    if summary is None and selection is None and not human:
        raise InputError('there is neither "summary" nor "selection"; give at least one of them')
    return System(
        as_id(obj["topic_id"], "the topic_id"),
        as_id(obj["system"], "the name of the system"),
        None if summary is None else reading.summary(summary, "summary"),
        None if selection is None else _selection(selection),
        human,
        source,
        place,
    )


def _of_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    if (labels := row.get("labels")) is not None:  # of `optsum labels`
        sentences = row.get("sentences")
        for name, value in (("labels", labels), ("sentences", labels if sentences is None else sentences)):
            if not isinstance(value, list | tuple):
                raise InputError(f'"{name}" is {json_type(value)}; give a list with one for each sentence')
        if wrong := [label for label in labels if label not in (0, 1)]:
            raise InputError(f"a label is {wrong[0]!r:.40}; labels are 1 for a chosen sentence, and 0 for others")
        chosen = [unit for unit, label in enumerate(labels) if label]
        if sentences is not None and len(sentences) != len(labels):
            counts = f"{len(labels)} labels of {len(sentences)} sentences"
            raise InputError(f"there are {counts}; give one label for each sentence")
        text = None if sentences is None else [sentences[unit] for unit in chosen]
        return {"topic_id": row.get("id"), "system": row["strategy"], "summary": text, "selection": chosen}
    if row.get("selection") is None:
        reason = row.get("error") or "its status is " + str(row.get("status"))
        raise InputError(f"this row of results has no summary ({reason}); leave it out")
    found = {"topic_id": row.get("id"), "system": row["strategy"], "summary": row.get("summary")}
    return found if row.get("formulation") == "compressive" else {**found, "selection": row["selection"]}


def _selection(value: object) -> tuple[int | str, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f'"selection" is {json_type(value)}; give a list of unit numbers, or of sentence ids')
    for number, unit in enumerate(value):
        if isinstance(unit, bool) or not isinstance(unit, int | str) or (isinstance(unit, int) and unit < 0):
            raise InputError(f"selection[{number}] is {unit!r:.40}; units are whole numbers from 0, or sentence ids")
    if len(set(value)) < len(value):
        again = next(unit for place, unit in enumerate(value) if unit in value[:place])
        raise InputError(f"selection has unit {again!r:.40} twice; name each once")
    return tuple(value)


def _human(value: object) -> dict[str, float]:
    if not isinstance(value, Mapping | None):
        raise InputError(f'"human" is {json_type(value)}; give an object such as {{"fluency": 3.5}}')
    scores = {str(name): number for name, number in (value or {}).items() if number is not None}
    for name, number in scores.items():
        if isinstance(number, bool) or not isinstance(number, int | float):
            kind = json_type(number)
            raise InputError(f"the human score {name!r} is {kind}; give a number, or null if there is none")
        if not abs(number) <= sys.float_info.max:
            raise InputError(f"the human score {name!r} is not finite; give null if there is none")
        scores[name] = float(number)
    return scores


def read_systems(
    path: PathLike, *, language: str = "en", splitter: str | Callable[..., Any] = "sentencex"
) -> Iterator[System | BadSystem]:
    """Open a file of system summaries and iterate over them.

    Parameters
    ----------
    path : str or path
        As for `optsum.read_topics`; also plain text with the summary of one topic on each line, named after the system,
        and a folder with a file ``SYSTEM/TOPIC.txt`` for each summary.
    language, splitter
        How raw texts become sentences (`optsum.as_topic`).

    Returns
    -------
    iterator of System or BadSystem
        One for each line that is not blank, in order; it never raises an error. A second summary of the same system
        for the same topic is a `BadSystem`.

    Raises
    ------
    InputError
        At once, before anything is read, if the file cannot be opened, is empty or has an unknown format.
    OptionError
        If the language code or the splitter is unknown.
    """
    return systems_read(path, reading_of(language=language, splitter=splitter))


def systems_read(path: PathLike, reading: Reading) -> Iterator[System | BadSystem]:
    folder = as_path(path, "The file of system summaries")
    files = [] if path == "-" or not folder.is_dir() else list(files_below(folder))
    summaries = [file for file in files if file.suffix.lower() == ".txt" and file.parent.parent == folder]
    if summaries and (left := sorted({*files}.difference(summaries))):
        number = counted(len(left), "file")
        reading.notes("left", f"left out: {number} of {folder} not called SYSTEM/TOPIC.txt, such as {left[0]}")
    lines = map(_of_file, summaries) if summaries else decoded(open_records(path, what=_SUMMARY))

    def system(line: Line) -> System | BadSystem:
        try:
            return BadSystem(line.source, line.error) if line.error else system_of(line.value, reading, line.source)
        except InputError as error:
            return _bad_system(line.source, str(error), line.value)

    def again(read: System) -> BadSystem:
        reason = f"a second summary of system {read.system!r} for topic {read.topic_id!r}; give only one"
        return BadSystem(read.source, reason, read.topic_id, read.system)

    return unique(map(system, lines), System, lambda read: f"{read.topic_id}\n{read.system}", again)


def _of_file(file: Path) -> Line:
    source, value = well_formed(str(file)), {"topic_id": normalize("NFC", file.stem), "system": file.parent.name}
    try:
        return Line(source, {**value, "summary": read_text(file, "")})
    except InputError as error:
        return Line(source, None, str(error))


def text_of(topic: Topic, system: System) -> Sequence[Sentence] | None:
    if system.summary is not None:
        return system.summary
    return None if system.selection is None else sentences_of(topic, system.selection)


@dataclass(frozen=True)
class SystemExtract:
    """The sentences of a summary that occur in the source."""

    units: tuple[int, ...]  # Sentences of the source, in order.
    others: int  # Number of sentences of the summary that are not in the source.

    @property
    def names(self) -> set[int | str]:
        """The units, and a name for each other sentence: a set to compare with the units of an oracle."""
        return {*self.units, *(f"other {number}" for number in range(self.others))}


def extract_of(topic: Topic, system: System) -> SystemExtract | None:
    """Return the source sentences in a summary, by its unit numbers or by equal letters and digits, ignoring case.

    Equal source sentences are used in order. The result is None if neither text nor unit numbers are known.
    """
    if system.selection is not None:
        units = {unit for unit in system.selection if isinstance(unit, int)}
        if len(units) == len(system.selection):
            return SystemExtract(tuple(sorted(units)), 0)
    if system.summary is None:
        return None

    def letters_of(sentence: Sentence) -> str:
        return "".join(filter(str.isalnum, raw_text(joined([sentence])).casefold()))

    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for unit, sentence in enumerate(topic.sentences):
        places[letters_of(sentence)].append(unit)
    known = [places[letters] for letters in filter(None, map(letters_of, system.summary))]
    found = [units.popleft() for units in known if units]
    return SystemExtract(tuple(sorted(found)), len(known) - len(found))
