"""Records from whatever a path leads to: a file of any format, a folder, a name of the hub; recognised by content.

A record is an object: a topic, a system's summary, a row. It comes from JSON Lines, a JSON array, Parquet, or CSV and
TSV with a heading; a table of alternatives is one record. All of them may be compressed by gzip or zstandard.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Final, TypeAlias

from optsum.corpus.folders.conllu import CONLLU_ENDINGS, read_conllu_folder
from optsum.corpus.folders.duc import duc_files, duc_topics, is_duc_file
from optsum.corpus.folders.texts import (
    line_pair,
    pair_topics,
    parallel_folders,
    parallel_topics,
    stories_in,
    story_topics,
)
from optsum.corpus.formats.columns import IDS, advice_for, recognised
from optsum.corpus.formats.cover_table import is_cover_table, parse_cover_table
from optsum.corpus.formats.hf_datasets import PREFIX, folder_records, hub_records, is_dataset_folder
from optsum.corpus.formats.lines import (
    BY_RETURNS,
    Line,
    NumberedLines,
    RawLine,
    array_records,
    decode,
    ends_by_returns,
    raw_lines,
)
from optsum.corpus.formats.nuggets import nugget_reader
from optsum.corpus.formats.tables import OfCells, csv_records, heading_of, parquet_records, topic_record
from optsum.corpus.sentences import well_formed
from optsum.corpus.topic import Reading
from optsum.errors import InputError, visible
from optsum.system.files import (
    READ_ERRORS,
    PathLike,
    begin_of,
    describe_os_error,
    is_meant,
    name_of,
    open_bytes,
    read_text,
)

Reader: TypeAlias = Callable[[NumberedLines, str], Iterator[Line | RawLine]]

_MARK = Line("", None)
_PARQUET = b"PAR1"

_LARGEST: Final = 1 << 26  # Bytes of a table of alternatives, which is read whole.

_SUMMARY: Final = "system summary"
_RECORDS: Final = re.compile(r"\.(?:jsonl?|ndjson|csv|tsv|parquet)\b", re.IGNORECASE)
"""Endings of files that are no plain text."""

_SEPARATOR: Final = re.compile(rb"sep=.")  # A line that spreadsheets have above the heading.

_TWO_OBJECTS: Final = re.compile(rb"\}\s*\r\s*\{")

_LISTED: Final = 8  # Columns of a table that a message names.


def raw_records(
    path: PathLike, *, what: str, empty: bool = False, of_cells: OfCells = topic_record, columns: Collection[str] = ()
) -> Iterator[Line | RawLine]:
    """Open a file and iterate over its records, one in memory at a time.

    `of_cells`: returns a record from the cells of a table's row, its number, from 0, and whether the cells have kinds,
    or are text, all of them, which may be JSON. `columns`: further names by which the heading of a table is recognised.
    The result: Lines of JSON Lines as they stand in the file. Never raises: a file that breaks off (a damaged disk or
    archive) ends with a line that says so.
    """
    records = _records(path, what, empty, of_cells, columns)
    next(records)  # up to the mark: whatever is wrong with the file itself is raised here, before any work
    return records


def _records(
    path: PathLike, what: str, empty: bool, of_cells: OfCells, columns: Collection[str]
) -> Iterator[Line | RawLine]:
    name = name_of(path)
    with ExitStack() as stack:
        try:
            stream = open_bytes(path, stack)
        except READ_ERRORS as error:
            raise InputError(f"the {what} file {name} cannot be opened: {describe_os_error(error)}") from error
        try:
            records = _recognised(stream, path, what, of_cells, columns)
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
    stream: BufferedReader, path: PathLike, what: str, of_cells: OfCells, columns: Collection[str]
) -> Iterator[Line | RawLine] | None:
    """Return the records of a file that has just been opened; None if there is nothing in it."""
    name = name_of(path)
    if stream.peek(len(_PARQUET)).startswith(_PARQUET):
        return parquet_records(stream, name, of_cells, partial(_check_columns, name, what, columns))
    lines = NumberedLines(stream)
    line = lines.begin()
    if _SEPARATOR.fullmatch(line.removeprefix(codecs.BOM_UTF8).strip()):
        next(lines)
        line = lines.begin()
    if line[:1] != b"[" and ends_by_returns(line) and (line[:1] != b"{" or _TWO_OBJECTS.search(line)):
        raise InputError(f"{name}: {BY_RETURNS}")
    return _reader(line, stream, path, what, of_cells, columns)(lines, name) if line else None


def _check_columns(name: str, what: str, columns: Collection[str], names: Collection[str]) -> None:
    """Refuse a table of something else at once: each of its rows would be an error by itself."""
    if what != "topic" or not {"documents", "cover"}.union(columns).isdisjoint(names) or recognised(names) is not None:
        return
    listed = ", ".join(list(names)[:_LISTED])
    raise InputError(
        f"{name} is a table without topics: it has no column documents, but {visible(listed)}{advice_for(names)}"
    )


def _reader(
    line: bytes, stream: BufferedReader, path: PathLike, what: str, of_cells: OfCells, columns: Collection[str]
) -> Reader:
    """Return what reads a file whose first line that is not blank is `line`."""
    name = name_of(path)
    first = line.removeprefix(codecs.BOM_UTF8).strip()
    if first.startswith(b"{"):
        if first == b"{" and line.endswith(b"\n"):
            raise InputError(f"{name} holds JSON spread over several lines; put each {what} on one line (JSON Lines)")
        of_nuggets = nugget_reader(first, name) if what == "topic" else None
        return of_nuggets or raw_lines
    if first.startswith(b"["):
        return array_records
    heading = heading_of(first, closed=what != "row", columns=columns, likely=what == "topic")
    if heading is not None:
        _check_columns(name, what, columns, heading[1])
        return lambda lines, name: csv_records(lines, name, heading, of_cells, closed=what == "row")
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
        f"{name} is of no format that optsum reads: give JSON Lines or a JSON array, CSV, TSV or Parquet with the "
        f"columns {named}, a table of alternatives, or a folder of CoNLL-U files"
    )


def _summaries(path: Path, lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the summaries of plain text, one a line for each topic in turn, by the system that the file is called."""
    system, last = path.name.partition(".")[0], 0
    for number, raw in lines:
        for blank in range(last + 1, number):  # above the first line that is not blank
            yield Line(f"{name}:{blank}", {"place": blank - 1, "system": system, "summary": ""})
        source, last = f"{name}:{number}", number
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            yield Line(source, None, "this is not UTF-8; save the file as UTF-8")
            continue
        yield Line(source, {"place": number - 1, "system": system, "summary": text})


def _cover_table(lines: NumberedLines, path: PathLike) -> Iterator[Line]:
    """Yield the one topic of a table; a file that is none raises at once."""
    source = name_of(path)
    text = bytearray(b"\n" * lines.passed)
    for block in lines.blocks():
        text += block
        if len(text) > _LARGEST:
            raise InputError(f"the table {source} is longer than {_LARGEST >> 20} MiB; give one topic a file")
    try:
        decoded = text.decode().replace("\ufeff", "")
    except UnicodeDecodeError as error:
        raise InputError(f"the table {source} is not UTF-8 ({error.reason}); save it as UTF-8") from error
    topic_id = "stdin" if path == "-" else Path(path).stem
    yield Line(source, parse_cover_table(decoded, topic_id=topic_id, source=source))


_DATA: Final = re.compile(r"(.+?)\.(jsonl|ndjson|json|csv|tsv|parquet)(?:\.(?:gz|zst|bz2|xz))?", re.IGNORECASE)
"""Names of files of records."""


def open_source(path: PathLike, reading: Reading) -> Iterator[Line | RawLine]:
    """Open whatever a path leads to.

    `path`: ``-`` is the standard input. `reading`: how texts are read that are no records; its columns are those that a
    table must have, so that its heading is recognised, and only records have some. The result: Lines hold the JSON form
    of topics, or records of another data set; those of JSON Lines are not decoded.
    """
    columns = () if reading.columns is None else reading.columns.names
    made = None if _has_records(path) else _made(Path(path), reading)
    if made is None:
        _say_what_is_left(path, reading)
        return open_records(path, what="topic", columns=columns)
    if columns:
        raise InputError(f"{path} has no columns, so there is nothing to map; leave --map out")
    return made


def open_records(path: PathLike, *, what: str, columns: Collection[str] = ()) -> Iterator[Line | RawLine]:
    """Open a file of records, a folder of them, or a dataset, as for `raw_records`."""
    name = str(path)
    if name.startswith(PREFIX):
        return hub_records(name)
    if name != "-" and is_dataset_folder(Path(path)):
        return folder_records(Path(path))
    if name != "-" and Path(path).is_dir() and (shards := _shards(Path(path))):
        return _of_shards(shards, columns, what)
    return raw_records(path, what=what, columns=columns)


def _has_records(path: PathLike) -> bool:
    name = str(path)
    if name == "-" or name.startswith(PREFIX):
        return True
    return Path(path).is_dir() and (is_dataset_folder(Path(path)) or bool(_shards(Path(path))))


def _made(path: Path, reading: Reading) -> Iterator[Line] | None:
    """Return the topics of formats without records; None for a file of records, and for a path that does not exist."""
    if (pair := line_pair(path)) is not None:
        return pair_topics(pair, reading)
    if path.is_file():
        if path.suffix == ".story":
            return story_topics([path], reading)
        return duc_topics([path], reading) if is_duc_file(path) else None
    return _of_folder(path, reading) if path.is_dir() else None


def _of_folder(folder: Path, reading: Reading) -> Iterator[Line]:
    try:
        if any(file.name.endswith(CONLLU_ENDINGS) for file in folder.iterdir()):
            return read_conllu_folder(folder, reading=reading)
        if stories := stories_in(folder):
            return story_topics(stories, reading)
        if files := duc_files(folder):  # by content: its folders may be called as those of raw text are
            return duc_topics(files, reading)
        if (folders := parallel_folders(folder)) is not None:
            return parallel_topics(folders, reading)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    raise InputError(
        f"{folder} cannot be read: it is a folder; give a file, or a folder of files named *.conllu or *.story, of a "
        "saved dataset, of the parts of one file (*.jsonl, *.csv, *.parquet), of JSON files with a topic each, of "
        "documents and summaries in SGML, or with folders documents/ and references/"
    )


def _shards(folder: Path) -> list[Path]:
    """Return the files of records in a folder: the parts of one, or JSON files with a topic each."""
    try:
        files = sorted(
            file for file in folder.iterdir() if is_meant(file.name) and _DATA.fullmatch(file.name) and file.is_file()
        )
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be read: {describe_os_error(error)}") from error
    stems = {re.sub(r"\d+", "#", file.name) for file in files}
    if len(stems) > 1 and not all(_is_object(file) for file in files):
        names = ", ".join(file.name for file in files[:5])
        raise InputError(f"the folder {folder} holds the files {names}; give one of them, such as {files[0]}")
    return files


def _say_what_is_left(path: PathLike, reading: Reading) -> None:
    """Say which parts of a folder of records are not there, or lie deeper than it is read."""
    if str(path).startswith(PREFIX) or not (folder := Path(path)).is_dir() or is_dataset_folder(folder):
        return
    files = _shards(folder)
    number = re.search(r"-of-0*([1-9]\d*)\.", files[0].name) if files else None
    if number is not None and len(files) < int(number[1]):
        reading.notes(
            "parts", f"the folder has {len(files)} of {number[1]} parts; the topics of the others are left out"
        )
    deeper = (each for each in sorted(folder.iterdir()) if each.is_dir() and is_meant(each.name))
    if files and (left := next((each for each in deeper if any(map(_DATA.fullmatch, _names(each)))), None)) is not None:
        reading.notes("deeper", f"the files of records in {left} are left out; give that folder too, by itself")


def _names(folder: Path) -> list[str]:
    try:
        return [file.name for file in folder.iterdir() if is_meant(file.name)]
    except OSError:
        return []


def _is_object(file: Path) -> bool:
    if ".json" not in file.suffixes or not (begin_of(file, 64) or b"").lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return False
    return _object_of(file).error is None


def _object_of(file: Path) -> Line:
    try:
        return decode(read_text(file, "").encode("utf-8", "surrogatepass"), well_formed(str(file)))
    except InputError as error:
        return Line(well_formed(str(file)), None, str(error))


def _of_shards(files: list[Path], columns: Collection[str], what: str) -> Iterator[Line | RawLine]:
    """Yield the records of all files; a topic that is a file, and has no id, is called after it."""
    if all(map(_is_object, files)):
        for file in files:
            line = _object_of(file)
            named = isinstance(line.value, dict) and not line.value.keys().isdisjoint(IDS)
            yield line if named or line.value is None else line._replace(value={"id": file.stem, **line.value})
        return
    for file in files:
        yield from raw_records(file, what=what, columns=columns)
