"""Read records: JSON Lines and arrays, CSV, TSV and Parquet, datasets of Hugging Face, and nuggets.

Nuggets (claims) come with the passages that support them, in the formats of retrieval evaluations:

- The nuggetizer of TREC's RAG track (Pradeep et al. 2025) assigns nuggets to a retriever's passages, one on each line:
  ``{"qid": ..., "docid": ..., "candidate_text": ..., "nuggets": [{"text": ..., "importance": "vital", "assignment":
  "support"}, ...]}``. The lines of a question are adjacent.
- Judgments of CoverageBench (Samuel et al. 2026), and of TREC's diversity tasks before it, name a question, a nugget, a
  passage, and whether the passage supports the nugget: ``17 3 doc-81 1``.
- FreshStack (Thakur et al. 2025) has a record for each question, whose nuggets list the relevant passages.

A vital nugget counts one and an okay nugget a half, as in the track's weighted score; "partial_support" counts as no
support.
"""

from __future__ import annotations

import ast
import codecs
import csv
import json
import logging
import math
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import DEFAULT_BUFFER_SIZE, BufferedReader, BytesIO, FileIO
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

from optsum.corpus.sentences import well_formed
from optsum.errors import InputError
from optsum.system.files import READ_ERRORS, PathLike, describe_os_error

LONGEST: Final = 1 << 28  # Bytes of a line, or of an item of a JSON array, that is read: some forty million words.
_BLOCK: Final = 1 << 16
_SEVERAL: Final = 1 << 20  # Bytes of lines to read at once, as far as they are available.
_NAMES: Final = {"id", "topic_id", "system"}
_OPTIONAL: Final = {"id", "topic_id", "cover", "parses", "meta", "vectors", "selection", "human"}
BY_RETURNS: Final = "its lines end with carriage returns only, as on old Macs; save it with line feeds"
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
JSON_COLUMNS: Final = b"optsum.json"  # Key of Parquet metadata: a JSON list of the columns that contain JSON text.
# Column of files in which an apostrophe precedes cells that a spreadsheet would take for formulas (``--csv-safe``).
CSV_SAFE: Final = "csv_safe"
ROWS: Final = 64  # Rows of a table that are converted to objects at a time.
# Line number of a row, its cells, its error, and whether the file ends within the row.
_Row: TypeAlias = tuple[int, list[str], str | None, bool]
# Columns of results whose cells are text, even if they look like numbers or JSON.
_WORDS = {
    *("id", "topic_id", "system", "formulation", "strategy", "backend", "metric", "status", "termination", "detail"),
    *("objective_exact", "bound_exact", "version", "config_hash", "signature", "error", "system", "study", "kind"),
}
_RUN: Final = re.compile(r"[=+\-@\t\r]")  # Beginning of a cell that spreadsheets run as a formula (OWASP).
_NUMBER: Final = re.compile(r"[+-][\d.,/]*(?:[eE][+-]?\d+)?")
PREFIX: Final = "hf:"
_MOST_LINES: Final = 1_000  # Lines in which a cell that a quotation mark opens is looked for its end.
_BROKEN: Final = (
    "a quotation mark opens a cell that goes on over line breaks, but tab-separated text has no quoting; save it as "
    "CSV or JSON Lines"
)
_WORTH: Final = {"vital": 1, "okay": 0.5}
_ASSIGNED: Final = {"support": True, "partial_support": False, "not_support": False}
NOTE: Final = "note"  # Key of a topic made of nuggets: a sentence for the user about how they were read.
_NO_PASSAGES: Final = (
    "it lists nuggets, but not which passages support them; give nuggets that were assigned to passages, or passages "
    'as "documents" and the nuggets as their reference, from which optsum align makes a cover'
)
_JUDGMENT: Final = re.compile(rb"\s*\S+\s+(\S+)\s+\S+\s+-?\d+\s*")
_NUGGET: Final = re.compile(rb"\s*\S+\s+\S+\s+(?:vital|okay)\s+\S.*", re.DOTALL)


class Line(NamedTuple):
    """One line of a file that is not blank."""

    source: str  # ``file:line``, lines counted from 1; the standard input is ``<stdin>``.
    value: Any  # The decoded JSON; None if there is an error.
    error: str | None = None  # Why the line cannot be used.
    ended: bool = True  # Whether a line break follows; a row that was cut short has none.


class RawLines(NamedTuple):
    """Undecoded lines of a file that are not blank."""

    raws: Sequence[bytes]
    numbers: Sequence[int]  # Number of each line in the file, from 1.
    name: str  # Name of the file.


class NumberedLines(Iterator[tuple[int, bytes]]):
    """Iterator over the lines of a stream with numbers from 1; a line above `LONGEST` bytes raises an `InputError`."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream, self._held = stream, b""
        self.passed = 0  # Number of lines that were skipped or yielded.

    def __next__(self) -> tuple[int, bytes]:
        raw, self._held = self._held or self._stream.readline(LONGEST), b""
        if not raw:
            raise StopIteration
        self.passed += 1
        if len(raw) >= LONGEST and not raw.endswith(b"\n"):
            while raw and not raw.endswith(b"\n"):
                raw = self._stream.readline(LONGEST)
            raise InputError(_too_long())
        return self.passed, raw

    def several(self) -> list[bytes]:
        """Return the lines available now, [] only at the end; a line above `LONGEST` bytes may lack a part."""
        parts, self._held = [self._held], b""
        # In a damaged archive the call that fails loses all bytes it was asked for, so it asks for few.
        size = _SEVERAL if isinstance(self._stream.raw, FileIO) else DEFAULT_BUFFER_SIZE
        while b"\n" not in parts[-1] and (more := self._stream.read1(size)):
            if sum(map(len, parts[:-1])) <= LONGEST:
                parts.append(more)
            else:
                parts[-1] = more
        block = b"".join(parts)
        end = block.rfind(b"\n") + 1 or len(block)
        self._held = block[end:]  # its rest is read later, because readline would fill only a small buffer
        found = BytesIO(block[:end]).readlines()
        self.passed += len(found)
        return found

    def begin(self) -> bytes:
        """Return the first line that is not blank (at most `LONGEST` bytes of it) without consuming it."""
        self.skip_blank()
        while (raw := self._stream.readline(LONGEST)) and is_blank(raw):
            self.passed += raw.endswith(b"\n")
            self.skip_blank()
        self._held = raw
        return raw

    def skip_blank(self) -> None:
        """Skip the blank lines that follow, many at a time, because a small archive may contain millions."""
        while not self._held and (ahead := self._stream.peek()):
            blank = len(ahead) - len(ahead.lstrip())
            end = ahead.rfind(b"\n", 0, blank) + 1
            if not end:
                return
            self.passed += ahead.count(b"\n", 0, end)
            self._stream.read(end)
            if blank < len(ahead):
                return

    def blocks(self) -> Iterator[bytes]:
        held, self._held = self._held, b""
        yield from filter(None, [held])
        yield from iter(partial(self._stream.read1, _BLOCK), b"")


def _too_long() -> str:
    return f"the line is longer than {LONGEST >> 20} MiB"


class Cells(dict[str, Any]):
    """A row of a table; `record` decodes its texts that begin like a list or an object of JSON."""

    typed = True  # Whether cells have types; otherwise all are text, as in CSV.

    def record(self) -> dict[str, Any]:
        found = {name: value if name in _NAMES else unpacked(value, f"the cell {name}") for name, value in self.items()}
        return {name: value for name, value in found.items() if name not in _OPTIONAL or value not in (None, "")}


def decoded(found: Iterable[Any], how: Callable[[bytes, str], Line] | None = None) -> Iterator[Any]:
    """Yield each line of `RawLines` decoded by `how` (by default `decode`), and other items unchanged."""
    for each in found:
        if isinstance(each, RawLines):
            yield from map(how or decode, each.raws, (f"{each.name}:{number}" for number in each.numbers))
        else:
            yield each


def raw_lines(lines: NumberedLines, name: str) -> Iterator[Line | RawLines]:
    """Yield the lines of a file that are not blank, many together, or an error line where reading fails."""
    raws: list[bytes] = []
    while True:
        try:
            if raws and is_blank(raws[-1]):
                lines.skip_blank()
            if not (raws := lines.several()):
                return
        except READ_ERRORS as error:
            yield broken_off(error, name, lines.passed + 1)
            return
        kept = [(raw, number) for number, raw in enumerate(raws, lines.passed - len(raws) + 1) if not is_blank(raw)]
        for is_long, some in groupby(kept, key=lambda one: len(one[0]) > LONGEST):
            if is_long:
                yield from (Line(f"{name}:{number}", None, _too_long()) for _, number in some)
            else:
                found, numbers = zip(*some, strict=True)
                yield RawLines(found, numbers, name)


def broken_off(error: Exception, name: str, number: int) -> Line:
    return Line(f"{name}:{number}", None, f"the file breaks off here: {describe_os_error(error)}")


def bad_topic(source: PathLike, name: str, error: str) -> Line:
    return Line(well_formed(str(source)), {"id": name, "status": "error", "error": error})


def topic_line(source: PathLike, name: str, record: Callable[[], Any]) -> Line:
    """Return a line with the topic that `record` makes from files, or with the error that it raises."""
    try:
        return Line(well_formed(str(source)), record())
    except InputError as error:
        return bad_topic(source, name, str(error))


def ends_by_returns(first: bytes) -> bool:
    """Return whether a file's first line is the whole file because its lines end with carriage returns alone."""
    return not first.endswith(b"\n") and b"\r" in first.strip()


def is_blank(raw: bytes) -> bool:
    """Return whether a line has only white space, perhaps after a byte order mark."""
    return not raw or raw.isspace() or raw.removeprefix(codecs.BOM_UTF8).isspace() or raw == codecs.BOM_UTF8


def _constant(name: str) -> float:
    raise InputError(f"{name} is not a JSON number; write null")


def _finite(digits: str) -> float:
    if math.isinf(value := float(digits)):
        raise InputError(f"the number {digits:.40} is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"an object has the key {json.dumps(twice):.80} twice; write each key once")
    return found


# Strict: no NaN, no number beyond the range of floating point, and no repeated key in an object.
DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_constant)
_LENIENT: Final = json.JSONDecoder(parse_int=len)  # Finds the end of values that `DECODER` refuses.


def utf8_text(raw: bytes) -> str:
    """Return the text of a line without a byte order mark, which any line may have in files joined by "cat"."""
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise InputError(f"{place} is not UTF-8; save the file as UTF-8") from error


def decode(raw: bytes, source: str) -> Line:
    value = reason = None
    try:
        value = DECODER.decode(utf8_text(raw.rstrip(b"\r\n")))
    except json.JSONDecodeError as error:
        reason = f"{_not_json(error)} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        reason = _not_json(error)
    return Line(source, value, reason, raw.endswith(b"\n"))


def unpacked(value: Any, where: str) -> Any:
    if not isinstance(value, str) or not value[:64].lstrip().startswith(("[", "{", "(", "array(")):
        return value
    if _is_printed(value.strip()):
        raise InputError(f"{where} is a list as Python prints it; write lists as JSON")
    found = decode(value.encode("utf-8", "replace"), "")
    if found.error is None:
        return found.value
    if "".join(value[:64].split())[:2] in {"['", '["', "[[", "[]"}:
        raise InputError(f"{where} begins as a list and is {found.error}; write lists as JSON")
    return value  # a text such as [Laughter]


def _is_printed(text: str) -> bool:
    """Return whether a text is a tuple of strings as Python prints it, or an array of numpy."""
    if text.startswith(("('", '("')):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return isinstance(ast.literal_eval(text), tuple)
    return text.startswith("array([") and text.endswith(")")


def array_records(lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the items of a JSON array, with ``file:number`` as source; invalid JSON ends them with an error line."""
    pieces = _Pieces(lines.blocks())
    number = 0
    try:
        pieces.skip("[")
        while pieces.next_sign() != "]":
            if number:
                pieces.skip(",")
            number += 1
            yield Line(f"{name}:{number}", *pieces.value())
        pieces.skip("]")
        if not pieces.next_sign():
            return
        number, reason = number + 1, "something follows the end of the JSON array"
    except json.JSONDecodeError as error:
        reason = f"{_not_json(error)}; the array ends here"
    except UnicodeDecodeError:
        reason = "this is not UTF-8; save the file as UTF-8"
    except (RecursionError, InputError) as error:
        reason = f"{_not_json(error)}; the items from here on are not read"
    except READ_ERRORS as error:
        yield broken_off(error, name, number + 1)
        return
    yield Line(f"{name}:{max(number, 1)}", None, reason)


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg.lower().removesuffix(' at')}"
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    too_long = f"a whole number has more than {sys.get_int_max_str_digits()} digits"
    return str(error) if isinstance(error, InputError) else too_long


class _Pieces:
    """Reader of the text of a JSON array, which holds only the current value in memory."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._decoder = blocks, codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at = "", 0

    def _more(self, least: int = 1) -> bool:
        if len(self._text) - self._at > LONGEST:
            raise InputError(f"the item is longer than {LONGEST >> 20} MiB, or is not JSON")
        found, size = [self._text[self._at :]], 0
        while size < least and (block := next(self._blocks, None)) is not None:
            found.append(self._decoder.decode(block))
            size += len(found[-1])
        self._text, self._at = "".join(found), 0
        return size > 0

    def next_sign(self) -> str:
        """Return the next character that is not blank, without consuming it; empty at the end."""
        while True:
            if (blanks := _BLANKS.match(self._text, self._at)) is not None:
                self._at = blanks.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def skip(self, sign: str) -> None:
        if self.next_sign() != sign:
            raise json.JSONDecodeError(f"expecting '{sign}'", self._text, self._at)
        self._at += 1

    def value(self) -> tuple[object, str | None]:
        """Return the next value and None, or None and the reason why a value that is JSON cannot be used."""
        self.next_sign()
        while True:
            value, reason = None, None
            try:
                try:
                    value, end = DECODER.raw_decode(self._text, self._at)
                except json.JSONDecodeError:
                    raise
                except ValueError as error:  # a number, or a key that stands twice
                    reason = _not_json(error)
                    _, end = _LENIENT.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                # The value may end later. The text is doubled each time, so that the work is linear.
                if not self._more(len(self._text) - self._at):
                    raise
                continue
            if end == len(self._text) and self._more():  # a number may go on
                continue
            self._at = end
            return value, reason


def csv_records(lines: NumberedLines, name: str, heading: tuple[str, list[str]], *, closed: bool) -> Iterator[Line]:
    """Yield a record, or an error, for each row below the heading; if `closed`, the last row needs a line break."""
    delimiter, names = heading
    if any(map(_is_torn, names)):
        raise InputError(f"{name} is not UTF-8; save it as UTF-8")
    check_names(names, name)
    next(lines)
    is_bare = delimiter == "\t" and not closed
    rows = _bare_rows(lines, len(names)) if is_bare else _quoted_rows(lines, heading, closed=closed)
    at, repeated = 0, False
    try:
        for at, cells, fault, torn in rows:
            source = f"{name}:{at}"
            if fault is not None:
                yield Line(source, None, fault, ended=not torn)
            elif torn:
                yield Line(source, None, "the row is incomplete", ended=False)
                return
            elif cells and cells[0].strip() == names[0] and [cell.strip() for cell in cells] == names:
                if not repeated:
                    repeated, said = True, f"{source} repeats the heading, as in tables joined by cat, and is left out"
                    logging.getLogger("optsum").warning("%s", said)
            elif len(cells) != len(names):
                counts = f"the row has {len(cells)} cells, but the heading has {len(names)} names"
                yield Line(source, None, f"{counts}; make them equal")
            elif any(map(_is_torn, cells)):
                yield Line(source, None, "this is not UTF-8; save the file as UTF-8")
            else:
                row = Cells(zip(names, cells, strict=True))
                row.typed = False
                yield Line(source, row)
    except READ_ERRORS as error:
        yield broken_off(error, name, at + 1)


def check_names(names: Iterable[str], table: str) -> None:
    """Refuse a table with two columns of the same name; ignore columns without a name."""
    for name, count in Counter(filter(None, names)).items():
        if count > 1:
            raise InputError(f"{table} has two columns {name!r}; name each column once")


def _is_torn(text: str) -> bool:
    return not text.isascii() and any("\udc80" <= sign <= "\udcff" for sign in text)


def _bare_rows(lines: NumberedLines, width: int) -> Iterator[_Row]:
    """Yield the lines of tab-separated text as rows; refuse those that, by their numbers of cells, are one row."""
    held: list[tuple[int, list[str]]] = []  # from a mark that opens a cell to one that closes it

    def rows(fault: str | None = None) -> list[_Row]:
        found: list[_Row] = [(number, list(map(_whole_cell, cells)), fault, False) for number, cells in held]
        held.clear()
        return found

    try:
        for number, raw in lines:
            text = raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape").rstrip("\r\n")
            if not text:
                lines.skip_blank()
                continue
            cells = text.split("\t")
            odd = [cell.startswith('"') for cell in cells if cell.count('"') % 2 and '"' in (cell[0], cell[-1])]
            closes = bool(held) and not all(odd)
            if held and not closes and (len(cells) == width or len(held) == _MOST_LINES):
                yield from rows()
            held.append((number, cells))
            if not any(odd) and (closes or len(held) == 1):
                broken = closes and any(len(cells) != width for _, cells in held)
                yield from rows(_BROKEN if broken else None)
    except READ_ERRORS:
        yield from rows()
        raise
    yield from rows()


def _whole_cell(cell: str) -> str:
    inner = cell[1:-1]
    if len(cell) < 2 or not cell[0] == cell[-1] == '"' or inner.replace('""', "").count('"'):
        return cell
    return inner.replace('""', '"')


def _quoted_rows(lines: NumberedLines, heading: tuple[str, list[str]], *, closed: bool) -> Iterator[_Row]:
    """Yield the rows of a table whose cells may be quoted and hold line breaks.

    A row in which a stray quotation mark swallows other rows is refused, and the swallowed lines are read separately.
    """
    csv.field_size_limit(LONGEST)  # a cell may be a whole document
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
            yield found[1].removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")

    rows = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        taken.clear()
        error, cells = None, list[str]()
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
        torn = closed and (bool(over) or not taken[-1][1].endswith(b"\n"))
        if error is None and len(taken) > 1 and not closed and _holds_rows(cells, len(names), delimiter):
            error = "other rows seem to be inside it"
        first = taken[0][0] if taken else 0
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


def parquet_records(stream: BufferedReader, name: str, check: Callable[[list[str]], None]) -> Iterator[Line]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(f"{name} is Parquet, which needs the package pyarrow: pip install 'optsum[report]'") from error
    try:
        file: Any = parquet.ParquetFile(stream if stream.seekable() else pa.BufferReader(stream.read()))
        json_columns = set(json.loads((file.schema_arrow.metadata or {}).get(JSON_COLUMNS, b"[]")))
    except (pa.ArrowException, RecursionError, *READ_ERRORS) as error:
        raise InputError(f"{name} is Parquet and cannot be read: {' '.join(str(error).split()):.200}") from error
    check_names(file.schema_arrow.names, name)
    check(file.schema_arrow.names)

    def rows() -> Iterator[Line]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=ROWS):
                for cells in batch.to_pylist():
                    number += 1
                    try:
                        for column in json_columns & cells.keys():
                            cells[column] = None if cells[column] is None else json.loads(cells[column])
                        yield Line(f"{name}:{number}", Cells(cells))
                    except (ValueError, RecursionError) as error:
                        yield Line(f"{name}:{number}", None, str(error))
        except (OSError, ValueError) as error:  # Arrow's errors are of these types
            yield broken_off(error, name, number + 1)

    return rows()


def row_of(cells: Cells) -> dict[str, Any]:
    found: dict[str, Any] = cells
    if not cells.typed:
        if cells.pop(CSV_SAFE, None) == "true":
            found = {_unquoted(name): _unquoted(value) for name, value in cells.items()}
        read = {name: decode(text.encode("utf-8", "replace"), "") for name, text in found.items() if name not in _WORDS}
        found |= {name: line.value for name, line in read.items() if line.error is None}
    return {name: value for name, value in found.items() if value is not None and (cells.typed or value != "")}


def is_run(cell: str) -> bool:
    return _RUN.match(cell) is not None and _NUMBER.fullmatch(cell) is None


def quoted(cell: str) -> str:
    """Return a cell that no spreadsheet reads as a formula; `_unquoted` reverses it."""
    return f"'{cell}" if is_run(cell.lstrip("'")) else cell


def _unquoted(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and is_run(cell.lstrip("'")) else cell


def is_dataset_folder(folder: Path) -> bool:
    """Return whether a folder was written by ``save_to_disk`` of `datasets`: one table, or one for each split."""
    return any((folder / name).is_file() for name in ("dataset_info.json", "dataset_dict.json", "state.json"))


def folder_records(folder: Path) -> Iterator[Line]:
    datasets = _package(str(folder))
    try:
        found = datasets.load_from_disk(str(folder))
    except Exception as error:  # of many types, also of the package itself
        raise InputError(f"the dataset {folder} cannot be read: {_said(error)}") from error
    if not hasattr(found, "features"):  # a DatasetDict
        if len(splits := list(found)) != 1:
            held, one = ", ".join(splits) or "(none)", folder / (splits[0] if splits else "train")
            raise InputError(f"the dataset {folder} holds the splits {held}; give the folder of one, such as {one}")
        found = found[splits[0]]
    return _records(found, str(folder))


def hub_records(name: str) -> Iterator[Line]:
    """Return the records of ``hf:NAME[:CONFIG[:SPLIT]]`` as a stream; a single split need not be named."""
    datasets = _package(name)
    dataset, *rest = name.removeprefix(PREFIX).split(":")
    if not dataset or len(rest) > 2:
        raise InputError(f"{name} names no dataset; write hf:NAME, hf:NAME:CONFIG or hf:NAME:CONFIG:SPLIT")
    config, split = [*(part or None for part in rest), None, None][:2]
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # failures are reported once, below
    try:
        splits = list(datasets.get_dataset_split_names(dataset, config)) if split is None else [split]
        found = datasets.load_dataset(dataset, config, split=splits[0], streaming=True)
        rows = iter(found)
        first = list(islice(rows, 1))  # only reading a row shows whether the data exist
    except ConnectionError as error:
        fault = "cannot be loaded without the hub of Hugging Face, which does not respond"
        how = "check the network, or give a folder that save_to_disk wrote elsewhere"
        raise InputError(f"the dataset {name} {fault}: {how}") from error
    except Exception as error:
        raise InputError(f"the dataset {name} cannot be loaded: {_said(error)}") from error
    if len(splits) != 1:
        one = f"{PREFIX}{dataset}:{config or ''}:{splits[0]}"
        raise InputError(f"the dataset {name} has the splits {', '.join(splits)}; say which: {one}")
    return _records(chain(first, rows), name)


def _package(name: str) -> Any:
    try:
        import datasets
    except ImportError as error:
        needed = "a dataset of Hugging Face, which needs the package datasets: pip install 'optsum[hf]'"
        raise InputError(f"{name} is {needed}") from error
    datasets.disable_progress_bars()
    return datasets


def _records(rows: Any, name: str) -> Iterator[Line]:
    number = 0
    try:
        for number, row in enumerate(rows, start=1):
            yield Line(f"{name}:{number}", dict(row))
    except Exception as error:  # noqa: BLE001 - the network, the disk or the package may fail
        yield broken_off(OSError(_said(error)), name, number + 1)


def _said(error: Exception) -> str:
    return f"{' '.join(str(error).split()):.200}".rstrip(".") or type(error).__name__


def nugget_records(lines: NumberedLines, name: str, first: bytes, sample: bytes = b"") -> Iterator[Line] | None:
    """Return the topics of a file of nuggets, recognised by its first lines; None for other files.

    A file is taken for judgments only if some question has several lines; it might be a table of alternatives.
    """
    if first.startswith(b"{"):
        if b'"nuggets"' not in first or b'"candidate_text"' not in first or not _is_assigned(decode(first, name).value):
            return None
        found = decoded(raw_lines(lines, name))
        return _of_questions(found, lambda each: str(each["qid"]) if _is_assigned(each) else None, _of_passages)
    if _NUGGET.fullmatch(first):
        raise InputError(f"{name} cannot be used: {_NO_PASSAGES}")
    whole = list(filter(None, sample.removeprefix(codecs.BOM_UTF8).split(b"\n")[:-1]))
    judged = _JUDGMENT.fullmatch(first)
    if judged is None or not all(map(_JUDGMENT.fullmatch, whole)) or len({x.split()[0] for x in whole}) == len(whole):
        return None
    if judged[1] in {b"0", b"Q0"}:
        fault = f"its second column is {judged[1].decode()}, not a nugget; give judgments of nuggets"
        raise InputError(f"{name} holds judgments of whole questions: {fault}")

    def split(raw: bytes, source: str) -> Line:
        raw = raw.removeprefix(codecs.BOM_UTF8)
        if _JUDGMENT.fullmatch(raw) is None:
            return Line(source, None, "this is not a judgment; give question, nugget, passage and a whole number")
        return Line(source, raw.decode("utf-8", "replace").split())

    return _of_questions(decoded(raw_lines(lines, name), split), lambda each: each and str(each[0]), _of_judgments)


def _is_assigned(value: Any) -> bool:
    needed = {"qid", "candidate_text", "nuggets"}
    return isinstance(value, Mapping) and needed <= value.keys() and "documents" not in value


def _of_questions(
    lines: Iterator[Line], question: Callable[[Any], str | None], made: Callable[[str, list[Any]], dict[str, Any]]
) -> Iterator[Line]:
    done: set[str] = set()
    for name, group in groupby(lines, lambda line: question(line.value)):
        together = list(group)
        source = together[0].source
        if name is None:
            yield from together
        elif name in done:
            yield bad_topic(source, name, "its lines are in several places; sort them by question")
        else:
            done.add(name)
            yield topic_line(source, name, partial(made, name, [line.value for line in together]))


def _of_passages(name: str, passages: list[dict[str, Any]]) -> dict[str, Any]:
    nuggets = [(each["text"], each["importance"]) for each in _nuggets(passages[0], "text", "importance")]
    supports, ids = [], [passage.get("docid", number) for number, passage in enumerate(passages)]
    for passage in passages:
        held = _nuggets(passage, "text", "importance", "assignment")
        if [(each["text"], each["importance"]) for each in held] != nuggets:
            which = f"passage {passage.get('docid')!r:.60}"
            raise InputError(f"{which} has other nuggets than the first passage; give all passages the same")
        if wrong := [each["assignment"] for each in held if each["assignment"] not in _ASSIGNED]:
            raise InputError(f"the assignment {wrong[0]!r:.40} is not one of {', '.join(_ASSIGNED)}")
        supports.append([number for number, each in enumerate(held) if _ASSIGNED[each["assignment"]]])
    if wrong := [importance for _, importance in nuggets if importance not in _WORTH]:
        raise InputError(f"the importance {wrong[0]!r:.40} is not one of {', '.join(_WORTH)}")
    return {
        "id": name,
        "documents": [[passage["candidate_text"] for passage in passages]],
        "supports": supports,
        "references": [[text for text, _ in nuggets]],
        "weights": [_WORTH[importance] for _, importance in nuggets],
        "meta": {"sentence_ids": ids},
        NOTE: (
            "okay nuggets count half as much as vital ones, and partial support counts as none; give topics with "
            "weights to change this"
        ),
    }


def are_objects(value: object, *keys: str) -> TypeGuard[list[dict[str, Any]]]:
    """Return whether a value of JSON is a list of objects that have all these keys."""
    return isinstance(value, list) and all(isinstance(each, dict) and each.keys() >= {*keys} for each in value)


def _nuggets(record: Mapping[str, Any], *fields: str) -> list[dict[str, Any]]:
    if not are_objects(nuggets := record["nuggets"], *fields):
        raise InputError(f"nuggets are objects with {', '.join(fields)}; give a list of them")
    return nuggets


def _of_judgments(name: str, judgments: list[list[str]]) -> dict[str, Any]:
    cover: dict[str, list[list[str]]] = {}
    for _, nugget, passage, relevance in judgments:
        sets = cover.setdefault(nugget, [])
        if int(relevance) > 0 and [passage] not in sets:
            sets.append([passage])
    return {"id": name, "cover": list(cover.values()), "meta": {"abstract_ids": list(cover)}}


def topic_of_nuggets(record: Mapping[str, Any]) -> dict[str, Any]:
    nuggets = record["nuggets"]
    lists = [each.get("relevant_corpus_ids") if isinstance(each, dict) else None for each in nuggets or ()]
    if not lists or not all(isinstance(each, list) for each in lists):
        one = "it is a single passage of a question; give the file with all passages of the question"
        raise InputError(f"a record of nuggets cannot be used: {one if _is_assigned(record) else _NO_PASSAGES}")
    names = [each.get("_id", number) for number, each in enumerate(nuggets)]
    cover = [[[passage] for passage in dict.fromkeys(each or ())] for each in lists]
    return {"id": record.get("query_id"), "cover": cover, "meta": {"abstract_ids": names}}
