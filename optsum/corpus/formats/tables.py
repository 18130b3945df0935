"""Tables with a heading: CSV, TSV and Parquet; a cell of text may contain JSON."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from io import BufferedReader
from typing import Any, Final, TypeAlias

from optsum.corpus.formats.lines import LONGEST, Cells, Line, NumberedLines, TextCells, broken_off, decode
from optsum.corpus.topic import likely_columns, recognised
from optsum.errors import InputError
from optsum.system.files import READ_ERRORS

JSON_COLUMNS: Final = b"optsum.json"
"""The metadata key of a Parquet file for the names of the columns with JSON text, as a JSON list."""

CSV_SAFE: Final = "csv_safe"
"""The column that marks files in which an apostrophe precedes cells that a spreadsheet would run (``--csv-safe``)."""

_KNOWN: Final = {
    *("documents", "references", "cover", "parses", "meta"),  # of topics
    *("topic_id", "system", "summary", "selection", "human"),  # of systems
    *("status", "termination"),  # of rows
}
_DELIMITERS: Final = ",\t;"
_ROWS: Final = 64  # Of a Parquet file in memory at a time.


def heading_of(
    line: bytes, *, closed: bool, columns: Collection[str] = (), likely: bool = False
) -> tuple[str, list[str]] | None:
    """Return the delimiter and the names of a heading line; None if the line is not a heading.

    A heading has a name that optsum knows, or the two of a well-known data set, or one of `columns`, or, if `likely`,
    names that look like documents and references. If not `closed`, any other heading is accepted too.
    """
    text = line.decode("utf-8-sig", "surrogateescape").rstrip("\r\n")
    for delimiter in _DELIMITERS:
        try:
            names = [name.strip() for name in next(csv.reader([text], delimiter=delimiter), [])]
        except csv.Error:
            continue
        known = _KNOWN.union(columns).intersection(names) or recognised(names) is not None
        if not closed or known or (likely and len(likely_columns(names)) > 1):
            return delimiter, names
    return None


def csv_records(
    lines: NumberedLines, name: str, heading: tuple[str, list[str]], *, closed: bool = False
) -> Iterator[Line]:
    """Yield a record, or an error, for each row below the heading.

    `closed`: whether a last row without a line break is an error.
    """
    delimiter, names = heading
    if any(map(_is_torn, names)):
        raise InputError(f"{name} is not UTF-8; save it as UTF-8")
    check_names(names, name)
    next(lines)
    rows = _bare_rows(lines) if delimiter == "\t" and not closed else _quoted_rows(lines, heading, closed=closed)
    at = 0
    try:
        for at, cells, fault, torn in rows:
            source = f"{name}:{at}"
            if fault is not None:
                yield Line(source, None, fault, ended=not torn)
            elif torn:
                yield Line(source, None, "the row is incomplete", ended=False)
                return
            else:
                yield _row(names, cells, source)
    except READ_ERRORS as error:
        yield broken_off(error, name, at + 1)


def check_names(names: Iterable[str], table: str) -> None:
    """Refuse a table with two columns of the same name; ignore columns without a name."""
    repeated = next((each for each, count in Counter(filter(None, names)).items() if count > 1), None)
    if repeated is not None:
        raise InputError(f"{table} has two columns {repeated!r}; name each column once")


def _is_torn(text: str) -> bool:
    """Return whether a text was decoded from bytes that are not UTF-8."""
    return not text.isascii() and any("\udc80" <= sign <= "\udcff" for sign in text)


_Row: TypeAlias = tuple[int, list[str], str | None, bool]
"""The line where a row begins, its cells, its error, and whether the file ends in it."""


def _bare_rows(lines: NumberedLines) -> Iterator[_Row]:
    """Yield the lines of tab-separated text as rows; balanced quotation marks around a cell are removed."""
    for number, raw in lines:
        if text := raw.decode("utf-8", "surrogateescape").rstrip("\r\n"):
            cells = text.split("\t")
            yield number, [_whole_cell(cell) for cell in cells], None, False
        else:
            lines.skip_blank()


def _whole_cell(cell: str) -> str:
    inner = cell[1:-1]
    if len(cell) < 2 or not cell[0] == cell[-1] == '"' or inner.replace('""', "").count('"'):
        return cell
    return inner.replace('""', '"')


def _quoted_rows(lines: NumberedLines, heading: tuple[str, list[str]], *, closed: bool) -> Iterator[_Row]:
    """Yield the rows of a table whose cells may be quoted and hold line breaks.

    A stray quotation mark swallows the text up to the next one. If that is not a whole cell, or seems to contain rows,
    the row is refused, and the swallowed lines are read separately.
    """
    csv.field_size_limit(LONGEST)  # a document is one cell
    delimiter, names = heading
    taken: deque[tuple[int, bytes]] = deque()
    waiting: deque[tuple[int, bytes]] = deque()
    over: list[bool] = []

    def texts() -> Iterator[str]:
        while True:
            found = waiting.popleft() if waiting else next(lines, None)
            if found is None:
                over.append(True)
                return
            taken.append(found)
            yield found[1].decode("utf-8", "surrogateescape")

    rows = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        taken.clear()
        error = None
        cells: list[str] = []
        try:
            cells = next(rows)
            if not cells or (len(cells) == 1 < len(names) and not cells[0].strip()):
                if not waiting:
                    lines.skip_blank()
                continue
        except StopIteration:
            return
        except csv.Error as reason:
            error = str(reason)
        first = taken[0][0] if taken else 0
        torn = closed and (bool(over) or not taken[-1][1].endswith(b"\n"))
        if error is None and len(taken) > 1 and not closed and _holds_rows(cells, len(names), delimiter):
            error = "rows follow within it"
        if error is not None and not closed:
            if error.startswith("new-line"):
                error = "a carriage return within it does not end the line; save the file with line feeds"
            else:
                advice = 'write "" for a mark within a cell, and quote the whole cell; or use JSON Lines'
                if any(b'\\"' in raw for _, raw in taken):
                    advice = 'a mark after a backslash ends the cell too: write "" for it'
                error = f"the quotation mark that opens a cell here is not closed at a cell's end ({error}); {advice}"
            waiting.extendleft(reversed(list(taken)[1:]))
            rows = csv.reader(texts(), delimiter=delimiter, strict=True)
        elif error is not None:
            error = f"this is not a row of a table: {error}"
        if cells or error is not None:
            yield (taken[-1][0] if closed else first), cells, error, torn


def _holds_rows(cells: list[str], width: int, delimiter: str) -> bool:
    between = re.compile(rf"(?<!\d){re.escape(delimiter)}(?!\s)|(?<=\d){re.escape(delimiter)}(?![\s\d])")
    lines = (line for cell in cells for line in cell.splitlines()[1:])
    return width > 1 and any(len(between.findall(line)) == width - 1 for line in lines)


def _row(names: list[str], cells: list[str], source: str) -> Line:
    if len(cells) != len(names):
        return Line(source, None, f"the row has {len(cells)} cells and the heading {len(names)} names")
    if any(map(_is_torn, cells)):
        return Line(source, None, "this is not UTF-8; save the file as UTF-8")
    return Line(source, TextCells(zip(names, cells, strict=True)))


def parquet_records(stream: BufferedReader, name: str, check: Callable[[list[str]], None]) -> Iterator[Line]:
    """Return the records of a Parquet file, after `check` has accepted its columns."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(f"{name} is Parquet, which needs the package pyarrow: pip install 'optsum[report]'") from error
    try:
        file = parquet.ParquetFile(stream if stream.seekable() else pa.BufferReader(stream.read()))
        json_columns = set(json.loads((file.schema_arrow.metadata or {}).get(JSON_COLUMNS, b"[]")))
    except (pa.ArrowException, RecursionError, *READ_ERRORS) as error:
        raise InputError(f"{name} is Parquet and cannot be read: {' '.join(str(error).split()):.200}") from error
    check_names(file.schema_arrow.names, name)
    check(file.schema_arrow.names)
    return _parquet_rows(file, name, json_columns)


def _parquet_rows(file: Any, name: str, json_columns: set[str]) -> Iterator[Line]:
    number = 0
    try:
        for batch in file.iter_batches(batch_size=_ROWS):
            for cells in batch.to_pylist():
                source = f"{name}:{number + 1}"
                try:
                    for column in json_columns & cells.keys():
                        cells[column] = None if cells[column] is None else json.loads(cells[column])
                    yield Line(source, Cells(cells))
                except (ValueError, RecursionError) as error:
                    yield Line(source, None, str(error))
                number += 1
    except (OSError, ValueError) as error:  # Arrow's own are of these
        yield broken_off(error, name, number + 1)


_WORDS = {
    *("id", "topic_id", "system", "formulation", "strategy", "backend", "metric", "status", "termination", "detail"),
    *("objective_exact", "bound_exact", "version", "config_hash", "signature", "error", "system", "study", "kind"),
}
"""Columns of rows whose cells are always text, never numbers or JSON."""


def row_of(cells: Cells) -> dict[str, Any]:
    """Return a row of results as it was written, without its empty cells."""
    found: dict[str, Any] = cells
    if not cells.typed:
        if cells.pop(CSV_SAFE, None) == "true":
            found = {_unquoted(name): _unquoted(value) for name, value in cells.items()}
        read = {name: decode(text.encode("utf-8", "replace"), "") for name, text in found.items() if name not in _WORDS}
        found |= {name: line.value for name, line in read.items() if line.error is None}
    return {name: value for name, value in found.items() if value is not None and (cells.typed or value != "")}


_RUN: Final = re.compile(r"[=+\-@\t\r]")  # How a cell begins that spreadsheets run as a formula (OWASP, CSV injection).

_NUMBER: Final = re.compile(r"[+-][\d.,/]*(?:[eE][+-]?\d+)?")


def is_run(cell: str) -> bool:
    """Return whether a spreadsheet may run a cell."""
    return _RUN.match(cell) is not None and _NUMBER.fullmatch(cell) is None


def quoted(cell: str) -> str:
    """Return a cell that no spreadsheet reads as a formula; `_unquoted` reverses it."""
    return f"'{cell}" if is_run(cell.lstrip("'")) else cell


def _unquoted(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and is_run(cell.lstrip("'")) else cell
