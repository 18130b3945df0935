"""Records from a file of any format, which is recognised by its content, once.

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

from optsum.corpus.formats.columns import advice_for, recognised
from optsum.corpus.formats.cover_table import is_cover_table, parse_cover_table
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
from optsum.errors import InputError, visible
from optsum.system.files import READ_ERRORS, PathLike, describe_os_error, name_of, open_bytes

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
    first = stream.peek(4)[:4]
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in first:
        raise InputError(f"{name} is not UTF-8 but looks like UTF-16 or UTF-32; save it as UTF-8")
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
