"""Write rows of results and labels safely to files or to the SQLite file of a run, and read them back.

A file of JSON Lines would have to be read from its beginning to find the finished topics, and a million of them do not
fit into memory. SQLite has an index; its write-ahead log lets others read (``optsum status``) while one process writes,
and an incomplete write (a crash or a full disk) is rolled back.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from decimal import Decimal
from functools import lru_cache, reduce
from hashlib import blake2b
from importlib.util import find_spec
from io import FileIO, TextIOWrapper
from itertools import chain, count, groupby, islice
from json.encoder import encode_basestring
from logging import getLogger
from math import isfinite
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj, rmtree
from struct import unpack
from tempfile import TemporaryDirectory
from time import time
from types import SimpleNamespace
from typing import IO, Any, Final, Literal, NamedTuple, TypeAlias, cast

from optsum.corpus.formats import (
    CSV_SAFE,
    JSON_COLUMNS,
    Cells,
    decoded,
    folder_records,
    is_dataset_folder,
    is_run,
    quoted,
    row_of,
)
from optsum.corpus.topics import raw_records
from optsum.errors import InputError, OptionError, unknown_name, visible
from optsum.system.files import (
    PathLike,
    check_no_link,
    describe_os_error,
    is_stream,
    lock,
    open_own,
    open_stream,
    replacing,
)

STORE: Final = "rows.sqlite"  # Name of the SQLite file in the folder of a run.
_WRITING: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;  -- committed is on the disk
CREATE TABLE IF NOT EXISTS rows (
    topic INTEGER NOT NULL, cell INTEGER NOT NULL, part INTEGER NOT NULL,
    status TEXT NOT NULL, at REAL NOT NULL, row TEXT NOT NULL, sum TEXT, UNIQUE (topic, cell, part));
CREATE INDEX IF NOT EXISTS by_status ON rows (part, status, at);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, sum TEXT);
"""
# Number of a topic, from 0; number of a cell (a way of searching); status and JSON of a row for each reference.
CellRows: TypeAlias = tuple[int, int, tuple[tuple[str, str], ...]]

_DAMAGED: Final = object()
_SIZES: Final = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # Bytes of a value by its kind; longer ones are texts and blobs.
_FEW: Final = 8  # Lists of fewer texts are written one text at a time.
_CONTROLS: Final = bytes(range(32))
_KINDS: Final = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
_NEEDS: Final = {"parquet": ("pyarrow", "report"), ".zst": ("zstandard", "report"), "datasets": ("datasets", "hf")}
_EXACT = 1 << 53  # Whole numbers up to here are exact as floating point.
_JOURNAL = ".part"
# The kind of a Parquet column: "null", "bool", "int", "long", "float", "str", "json", or a list: ("list", kind).
Kind: TypeAlias = "str | tuple[str, Any]"
Row: TypeAlias = dict[str, Any]
# A function that looks at all rows of an earlier run, and returns a function that says whether a row is kept.
Keeper: TypeAlias = Callable[[Iterator[Row]], Callable[[Row], bool]]
# Treatment of existing rows of an output: refuse to write; replace them once all new rows are complete; or keep
# finished rows and add to them.
Existing: TypeAlias = Literal["refuse", "overwrite", "resume"]


class RowStore(AbstractContextManager["RowStore"]):
    """A store of rows in a SQLite file, opened by its only writer, or (without `write`) by one of its readers.

    `damage`: what is wrong with the file, or None. From a damaged file the store takes the readable rows; a writer puts
    these into a new file.
    """

    def __init__(self, path: PathLike, *, write: bool = False) -> None:
        self._path = Path(path)
        self.damage: str | None = None
        there = self._path.exists()
        try:
            with self._told():
                self._open(write)
            if there:
                _check_all(self._database)
        except _DamagedError as error:
            self.close()
            self._rescue(str(error.__cause__ or error), write)

    def _open(self, write: bool) -> None:
        if self._path.with_name(f"{self._path.name}-journal").exists():
            # SQLite would apply it, and perhaps undo all writes; optsum uses a write-ahead log instead.
            raise _DamagedError("there is a journal next to it that optsum did not write")
        files = [self._path.with_name(self._path.name + ending) for ending in ("", "-wal", "-shm")]
        if any(each.is_symlink() for each in files[1:]) or any(each.exists() and not each.is_file() for each in files):
            raise _DamagedError("there is a pipe, a folder, a device or a link in place of the file")
        if not write:
            uri, first = self._path.resolve().as_uri(), "SELECT 1 FROM rows LIMIT 1"
            try:
                self._database = _connected(f"{uri}?mode=ro", first, uri=True, timeout=30)
            except sqlite3.OperationalError:
                if self._path.with_name(f"{STORE}-wal").exists():
                    raise
                # The folder is read-only: nobody writes, and SQLite cannot create the files that a reader needs.
                self._database = _connected(f"{uri}?immutable=1", first, uri=True)
            return
        if self._path.exists() and not self._path.stat().st_size:
            raise _DamagedError("it is empty")
        self._database = _connected(self._path, _WRITING, isolation_level=None)
        for table in ("rows", "facts"):
            if "sum" not in _columns(self._database, table):  # checksums, which older versions did not write
                self._database.execute(f"ALTER TABLE {table} ADD COLUMN sum TEXT")

    def _rescue(self, reason: str, write: bool) -> None:
        """Continue with the readable rows: a writer in a new file beside the damaged one, a reader in memory."""
        rows, facts = rescued(self._path)
        if not write and not rows and not facts:
            how = "name the folder of a run; optsum run --resume starts it again"
            raise InputError(f"{self._path} is not a store of rows, or is unreadable ({reason}): {how}")
        self.damage = f"{self._path} is damaged ({reason}); {len(rows)} of its rows could be read"
        target = self._path.with_name(f".{token_hex(8)}.sqlite")
        with self._told():
            self._database = _connected(target if write else "", _WRITING, isolation_level=None)
            self._database.execute("BEGIN")
            self._database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self._database.executemany("INSERT INTO facts VALUES (?, ?, ?)", facts)
            self._database.execute("COMMIT")
        if not write:
            self.damage += "; optsum run --resume searches the rest"
            return
        self._database.close()
        names = (f"{self._path.name}.damaged{number or ''}" for number in count())
        kept = next(place for place in map(self._path.with_name, names) if not place.exists())
        for ending in ("-wal", "-shm", "-journal"):
            with suppress(FileNotFoundError):
                self._path.with_name(self._path.name + ending).replace(kept.with_name(kept.name + ending))
        self._path.replace(kept)
        target.replace(self._path)
        self._open(write)
        self.damage += f", the rest is searched again; the damaged file is kept as {kept.name}"
        getLogger("optsum").warning("%s", self.damage)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            rows = f"the run's rows {self._path}"
            if _is_damage(error):
                how = "optsum run --resume keeps what can be read, and searches the rest"
                raise _DamagedError(f"{rows} are damaged ({error}): {how}") from error
            how = "check free space and permissions; --resume continues"
            raise OptionError(f"{rows} cannot be written ({error}): {how}") from error

    def _ask(self, question: str, *values: object) -> list[Any]:
        with self._told():
            return self._database.execute(question, values).fetchall()

    def add(self, answers: Iterable[CellRows]) -> None:
        """Add the rows of cells durably, all or none; they replace rows with errors, but never finished rows."""
        now = time()
        known = "SELECT sum(status = 'error') FROM rows WHERE topic = ? AND cell = ?"
        add = "INSERT INTO rows (topic, cell, part, status, at, row, sum) VALUES (?, ?, ?, ?, ?, ?, ?)"
        with self._told():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                for topic, cell, rows in answers:
                    (errors,) = self._database.execute(known, (topic, cell)).fetchone()
                    if errors == 0:
                        continue
                    if errors is not None:
                        self._database.execute("DELETE FROM rows WHERE topic = ? AND cell = ?", (topic, cell))
                    values = (
                        (topic, cell, part, status, now, row, _sum(topic, cell, part, status, row))
                        for part, (status, row) in enumerate(rows)
                    )
                    self._database.executemany(add, values)
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def take(self, other: RowStore) -> None:
        with other._told():
            found = other._database.execute("SELECT topic, cell, status, row FROM rows ORDER BY topic, cell, part")
            of_cells = groupby(found, key=lambda row: row[:2])
            answers = ((*cell, tuple(row[2:] for row in rows)) for cell, rows in of_cells)
            while batch := list(islice(answers, 256)):
                self.add(batch)

    def finished(self, topic: int) -> set[int]:
        done = "SELECT cell FROM rows WHERE topic = ? GROUP BY cell HAVING sum(status = 'error') = 0"
        return {cell for (cell,) in self._ask(done, topic)}

    def counts(self) -> dict[str, int]:
        return dict(self._ask("SELECT status, count(*) FROM rows INDEXED BY by_status GROUP BY status ORDER BY 2 DESC"))

    def answered(self) -> tuple[int, int]:
        """Return the number of pairs of a topic and a cell that have rows, and how many of these pairs are errors."""
        found = self._ask("SELECT status = 'error', count(*) FROM rows WHERE part = 0 GROUP BY 1")
        counts = {bool(error): int(count) for error, count in found}
        return sum(counts.values()), counts.get(True, 0)

    def since(self, began: float) -> tuple[int, float]:
        """Return the number of pairs of a topic and a cell stored since `began`, and the seconds until the last one."""
        ((count, last),) = self._ask("SELECT count(*), max(at) FROM rows WHERE part = 0 AND at >= ?", began)
        return int(count), float((last or began) - began)

    def first_error(self) -> str | None:
        found = self._ask("SELECT row FROM rows WHERE status = 'error' ORDER BY topic, cell, part LIMIT 1")
        return str(json.loads(found[0][0])["error"]) if found else None

    def config_hashes(self) -> set[str]:
        return {str(json.loads(row).get("config_hash")) for (row,) in self._ask("SELECT row FROM rows")}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows by topic, cell and reference; rows added meanwhile may be missing."""
        with self._told():
            for (row,) in self._database.execute("SELECT row FROM rows ORDER BY topic, cell, part"):
                yield json.loads(row)

    def tell(self, **facts: object) -> None:
        held = ((name, json.dumps(value)) for name, value in facts.items())
        values = [(name, value, _sum(name, value)) for name, value in held]
        with self._told():
            self._database.executemany("INSERT OR REPLACE INTO facts (name, value, sum) VALUES (?, ?, ?)", values)

    def facts(self) -> dict[str, Any]:
        return {name: json.loads(value) for name, value in self._ask("SELECT name, value FROM facts")}

    def close(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _connected(where: PathLike, first: str, **options: Any) -> sqlite3.Connection:
    database: sqlite3.Connection = sqlite3.connect(where, **options)
    try:
        database.executescript(first)
    except BaseException:
        database.close()
        raise
    return database


class _DamagedError(InputError):
    """A store that cannot be read correctly."""


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    name = getattr(error, "sqlite_errorname", "") or ""
    damaged = name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT", "SQLITE_MISMATCH"))
    return damaged or any(said in str(error) for said in ("no such", "decode", "malformed", "views"))


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]


def _sum(*parts: object) -> str:
    return blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _check_all(database: sqlite3.Connection) -> None:
    try:
        ((said,),) = database.execute("PRAGMA integrity_check(1)").fetchall()
        if said != "ok":
            raise _DamagedError(" ".join(said.split()))
        if database.execute("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone():
            raise _DamagedError("it holds triggers or views, which optsum does not make")
        row, fact = ("topic", "cell", "part", "status", "at", "row", "sum"), ("name", "value", "sum")
        for table, known, wanted in (("rows", _is_row, row), ("facts", _is_fact, fact)):
            columns = _columns(database, table)
            listed = ", ".join(name if name in columns else f"NULL AS {name}" for name in wanted)
            for held in database.execute(f"SELECT {listed} FROM {table}"):  # noqa: S608 - constant names
                if not known(*held):
                    raise _DamagedError(f"a row of the table {table} differs from what was written")
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise
        raise _DamagedError(str(error)) from error


def _is_row(topic: Any, cell: Any, part: Any, status: Any, at: Any, row: Any, found: Any) -> bool:
    """Return whether a row is intact; rows of older versions have no checksum and are checked as far as possible."""
    kinds = all(type(each) is int for each in (topic, cell, part)) and isinstance(at, int | float) and isfinite(at)
    if not kinds or not isinstance(row, str) or not isinstance(status, str):
        return False
    if found is not None:
        return bool(found == _sum(topic, cell, part, status, row))
    read = _json_of(row)
    return isinstance(read, dict) and {"id", "error"} <= read.keys() and read.get("status") == status


def _is_fact(name: Any, value: Any, found: Any) -> bool:
    if not isinstance(name, str) or not isinstance(value, str):
        return False
    return bool(found == _sum(name, value)) if found is not None else _json_of(value) is not _DAMAGED


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _DAMAGED


def rescued(path: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the readable rows (the latest of each topic and cell) and the facts in a damaged file and its log.

    SQLite refuses such a file, so its pages are read one by one.
    """
    rows: dict[tuple[int, int, float], dict[int, tuple[Any, ...]]] = {}
    facts: dict[str, tuple[Any, ...]] = {}
    for pages, size in _images(path):
        for record in _records(pages, size):
            if len(record) in {6, 7} and _is_row(*(held := (*record, None)[:7])):
                rows.setdefault((held[0], held[1], held[4]), {})[held[2]] = held
            elif len(record) in {2, 3} and _is_fact(*(held := (*record, None)[:3])):
                facts[held[0]] = held  # the log, which is newer, comes last
    latest: dict[tuple[int, int], dict[int, tuple[Any, ...]]] = {}
    for (topic, cell, _), parts in sorted(rows.items()):
        if set(parts) == set(range(len(parts))):  # if rows of some references are lost, the topic is searched again
            latest[topic, cell] = parts
    return [each for parts in latest.values() for each in parts.values()], list(facts.values())


def _images(path: Path) -> Iterator[tuple[Mapping[int, bytes], int]]:
    held = path.read_bytes() if path.is_file() else b""
    size = int.from_bytes(held[16:18], "big")
    size = 65536 if size == 1 else 4096 if size < 512 or size & (size - 1) else size
    pages = {number: held[at : at + size] for number, at in enumerate(range(0, len(held), size), start=1)}
    yield pages, size
    log_file = path.with_name(f"{path.name}-wal")
    log = log_file.read_bytes() if log_file.is_file() else b""
    salt = log[16:24]
    for at in range(32, len(log) - size - 23, size + 24):
        if log[at + 8 : at + 16] == salt:
            pages[int.from_bytes(log[at : at + 4], "big")] = log[at + 24 : at + 24 + size]
    yield pages, size


def _records(pages: Mapping[int, bytes], size: int) -> Iterator[tuple[Any, ...]]:
    """Yield the readable records in leaf pages of tables (sqlite.org/fileformat2.html)."""
    for number, page in pages.items():
        head = 100 if number == 1 else 0
        if page[head : head + 1] != b"\x0d":
            continue
        for cell in range(int.from_bytes(page[head + 3 : head + 5], "big")):
            place = head + 8 + 2 * cell
            try:
                yield _record(pages, size, page, int.from_bytes(page[place : place + 2], "big"))
            except (IndexError, ValueError, KeyError):
                continue


def _record(pages: Mapping[int, bytes], size: int, page: bytes, at: int) -> tuple[Any, ...]:
    length, at = _varint(page, at)
    _, at = _varint(page, at)
    least, here = (size - 12) * 32 // 255 - 23, length
    if length > size - 35:
        here = least + (length - least) % (size - 4)
        here = here if here <= size - 35 else least
    if not 0 < length <= len(pages) * size:
        raise ValueError
    payload = bytearray(page[at : at + here])
    following = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
    while len(payload) < length:
        if not (more := pages[following][4 : 4 + length - len(payload)]):
            raise ValueError  # truncated pages may form a cycle
        payload += more
        following = int.from_bytes(pages[following][:4], "big")
    return _values(bytes(payload))


def _varint(held: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | held[place] & 0x7F
        if held[place] < 0x80:
            return value, place + 1
    return value << 8 | held[at + 8], at + 9


def _values(payload: bytes) -> tuple[Any, ...]:
    end, at = _varint(payload, 0)
    found = list[Any]()
    place = end
    while at < end:
        kind, at = _varint(payload, at)
        size = _SIZES[kind] if kind < 12 else (kind - 12) // 2
        raw = payload[place : place + size]
        if len(raw) < size:
            raise ValueError
        place += size
        if kind == 7:
            found += unpack(">d", raw)
        elif kind < 10:
            found.append(None if kind == 0 else kind - 8 if kind > 7 else int.from_bytes(raw, "big", signed=True))
        else:
            found.append(raw.decode() if kind % 2 else raw)
    return tuple(found)


def is_run_folder(path: PathLike) -> bool:
    return path != "-" and (Path(path) / STORE).is_file()


def stored_rows(folder: PathLike) -> Iterator[dict[str, Any]]:
    store = RowStore(Path(folder) / STORE)
    if store.damage is not None:
        getLogger("optsum").warning("%s", store.damage)

    def rows() -> Iterator[dict[str, Any]]:
        with closing(store):
            yield from store.rows()

    return rows()


def to_bytes(row: Mapping[str, Any]) -> bytes:
    """Return a row as JSON in UTF-8; infinite numbers and NaN become null, numbers of over 4,200 digits strings."""
    try:
        return b"{%b}" % b", ".join([_key(name) + _of_value(value) for name, value in row.items()])
    except UnicodeEncodeError:  # a lone surrogate, as in the path of a file whose name is not UTF-8
        return _dumps(dict(row), ascii_only=True).encode()


@lru_cache(maxsize=64)
def _key(name: str) -> bytes:
    return _dumps({name: 0}, ascii_only=False)[1:-2].encode()


def _of_value(value: Any) -> bytes:
    """Return a value as JSON; the most frequent types are written here, because starting an encoder is slow."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value).encode()
    if value is None:
        return b"null"
    if kind is float:
        return repr(value).encode() if math.isfinite(value) else b"null"
    if kind is int and -_EXACT < value < _EXACT:
        return b"%d" % value
    if kind is list and len(kinds := set(map(type, value))) == 1:
        if kinds == {str}:
            return _of_texts(value)
        if kinds == {int} and min(value) > -_EXACT and max(value) < _EXACT:
            return str(value).encode()
    return _dumps(value, ascii_only=False).encode()


def _of_texts(texts: list[str]) -> bytes:
    """Return a list of strings as JSON; many are escaped at once, because `json` examines each character."""
    if len(texts) >= _FEW:
        joined = "\0".join(texts).encode()
        if len(joined) - len(joined.translate(None, _CONTROLS)) == len(texts) - 1:
            return b'["%b"]' % joined.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\0", b'", "')
    return f"[{', '.join(map(encode_basestring, texts))}]".encode()


def _dumps(value: Any, *, ascii_only: bool) -> str:
    encode = _ENCODERS[ascii_only].encode
    try:
        return encode(value)
    except ValueError:
        return encode(_plain(value))


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return value.tolist()
    raise TypeError(f"a row cannot hold a {type(value).__name__}")


_ENCODERS: Final = [
    json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, default=_default) for ascii_only in (False, True)
]


def _plain(value: Any) -> Any:
    """Replace numbers that JSON cannot represent (not finite) or Python cannot print (too long)."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):  # Decimal prints any number of digits, and json refuses to print more than 4300
        return value if value.bit_length() < 14_000 else str(Decimal(value))
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return _plain(_default(value))


class RowFormat(NamedTuple):
    """The format and the compression of a file of rows."""

    kind: str  # "jsonl", "csv" or "parquet"; of training labels also "datasets" or "bertsum".
    packing: str = ""  # ".gz", ".zst", or empty for none.


def format_of(path: str) -> RowFormat:
    """Return the format for a file name; a name without an ending means JSON Lines."""
    last = Path(path).suffix
    packing = last.lower() if last.lower() in {".gz", ".zst"} else ""
    ending = Path(path[: -len(packing)]).suffix if packing else last
    kind = _KINDS.get(ending.lower(), "" if ending else "jsonl")
    if not kind or (packing and (kind == "parquet" or not ending)):
        known = ".jsonl, .jsonl.gz, .jsonl.zst, .csv, .csv.gz, .csv.zst or .parquet"
        raise OptionError(f"the output {path} has a format that optsum cannot write: name it {known}")
    return _with_packages(RowFormat(kind, packing), path)


def format_of_labels(path: str, name: str | None) -> RowFormat:
    """Return the format of training labels with a name; without a name, the format that the path implies."""
    if name not in (None, *(known := ("bertsum", "datasets"))):
        raise unknown_name("format of labels", name, known)
    if path == "-":
        if name is not None:
            raise OptionError(f"The format {name} cannot be written to the standard output: give -o.")
        return RowFormat("jsonl")
    if name is None and (path.endswith(("/", os.sep)) or is_dataset_folder(Path(path))):
        name = "datasets"
    return format_of(path) if name is None else _with_packages(RowFormat(name), path)


def _with_packages(form: RowFormat, path: str) -> RowFormat:
    for part in (form.kind, form.packing):
        package, extra = _NEEDS.get(part, ("", ""))
        if package and find_spec(package) is None:
            how = f"pip install 'optsum[{extra}]', or name it .jsonl"
            raise OptionError(f"the output {path} cannot be written without the package {package}: {how}")
    return form


class FileRow(Row):
    """A row that was read from a file."""

    source: str  # Where it is, for messages: ``file:line``.

    def __init__(self, row: Mapping[str, Any], source: str) -> None:
        super().__init__(row)
        self.source = source


def read_rows(path: PathLike, *, unfinished: bool = False) -> Iterator[FileRow]:
    """Open a file of rows, the folder of a run, or ``-``, and iterate over its rows.

    `unfinished`: whether to leave out an incomplete last row; without it, only a ``.part`` may have one.
    """
    if is_run_folder(path):
        return (FileRow(row, f"{path}: row {place}") for place, row in enumerate(stored_rows(path), start=1))
    if path != "-" and is_dataset_folder(Path(path)):
        records = folder_records(Path(path))
    else:
        records = decoded(raw_records(path, what="row", empty=True))
    unfinished = unfinished or os.fspath(path).endswith(_JOURNAL)

    def rows() -> Iterator[FileRow]:
        for source, value, error, ended in records:
            if isinstance(value, Cells):  # empty cells are None, as JSON Lines have them
                names = [name for name in value if name != CSV_SAFE and not name.startswith("'")]  # not disarmed
                yield FileRow(dict.fromkeys(names) | row_of(value), source)
            elif error is None and isinstance(value, dict):
                yield FileRow(value, source)
            elif ended or not unfinished:
                advice = "remove the line or run again"
                if not ended:
                    advice = "the file is cut off here: copy it again, run again, or remove the line"
                raise InputError(f"{source}: {error or 'a row must be an object'}; {advice}")

    return rows()


def convert(rows: Path, output: Path, form: RowFormat, *, csv_safe: bool = False) -> str:
    to_file = {"parquet": _to_parquet, "bertsum": _to_bertsum, "datasets": _to_datasets}.get(form.kind)
    if to_file is not None:
        to_file(rows, output)
        return ""
    with ExitStack() as stack:
        opened = gzip.open if form.packing == ".gz" else open
        stream: Any = stack.enter_context(opened(output, "wb"))
        if form.packing == ".zst":
            import zstandard

            stream = stack.enter_context(zstandard.ZstdCompressor().stream_writer(stream, closefd=False))
        if form.kind == "csv":
            return _to_csv(rows, stream, csv_safe)
        copyfileobj(stack.enter_context(rows.open("rb")), stream)
    return ""


def _read(rows: Path) -> Iterator[dict[str, Any]]:
    with rows.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _to_csv(rows: Path, stream: IO[bytes], safe: bool) -> str:
    names = list(dict.fromkeys(chain.from_iterable(_read(rows))))  # in the order of their first occurrence
    if not names:
        return ""
    text = TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")  # lone surrogates
    # `csv` ends lines with CR and LF, so that it quotes cells that hold either, but the file has LF.
    to_lines = SimpleNamespace(write=lambda line: text.write(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(to_lines, lineterminator="\r\n")
    writer.writerow([*map(quoted, names), CSV_SAFE] if safe else names)
    risky = next((f"the column {name!r:.40}" for name in names if is_run(name)), "")
    for number, row in enumerate(_read(rows), start=1):
        cells = {name: _cell(row.get(name)) for name in names}
        writer.writerow([*map(quoted, cells.values()), "true"] if safe else cells.values())
        if not safe and not risky:
            risky = next((f"{name} of row {number}" for name, cell in cells.items() if is_run(cell)), "")
    text.flush()
    text.detach()
    return risky and (
        f"cells begin with = + - @ or a tab, which spreadsheets run as formulas (the first: {risky}); --csv-safe "
        "writes an apostrophe before them"
    )


def _cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _to_parquet(rows: Path, output: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, Kind] = {}
    for row in _read(rows):
        for name, value in row.items():
            held, new = kinds.get(name, "null"), _kind(value)
            kinds[name] = "float" if {held, new} == {"int", "float"} else _same_kind(held, new)
    as_json = [name for name, kind in kinds.items() if kind == "json"]
    schema = pa.schema([(name, _arrow(kind, pa)) for name, kind in kinds.items()], {JSON_COLUMNS: json.dumps(as_json)})
    with pq.ParquetWriter(output, schema) as writer:
        read = _read(rows)
        while batch := list(islice(read, 256)):
            columns = {name: [row.get(name) for row in batch] for name in kinds}
            for name in as_json:
                columns[name] = [
                    each if each is None else json.dumps(each, ensure_ascii=False) for each in columns[name]
                ]
            writer.write_table(pa.table({name: _clean(held) for name, held in columns.items()}, schema=schema))


def _kind(value: Any) -> Kind:
    if isinstance(value, list):
        inner = reduce(_same_kind, map(_kind, value), cast("Kind", "null"))
        return "json" if inner == "json" else ("list", inner)
    if type(value) is int:
        return "int" if abs(value) <= _EXACT else "long" if -(1 << 63) <= value < 1 << 63 else "json"
    return {type(None): "null", bool: "bool", float: "float", str: "str"}.get(type(value), "json")


def _same_kind(one: Kind, other: Kind) -> Kind:
    if one == other or "null" in {one, other}:
        return other if one == "null" else one
    if isinstance(one, tuple) and isinstance(other, tuple):
        inner = _same_kind(one[1], other[1])
        return "json" if inner == "json" else ("list", inner)
    return "long" if {one, other} == {"int", "long"} else "json"


def _arrow(kind: Kind, pa: Any) -> Any:
    if isinstance(kind, tuple):
        return pa.list_(_arrow(kind[1], pa))
    plain = {"null": pa.null(), "bool": pa.bool_(), "int": pa.int64(), "long": pa.int64(), "float": pa.float64()}
    return plain.get(kind, pa.string())


def _clean(value: Any) -> Any:
    """Return a value without lone surrogates, which Parquet cannot hold."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    return [_clean(item) for item in value] if isinstance(value, list) else value


# Labels as the JSON that the preprocessing of BertSum and PreSumm reads.


def bertsum_record(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the record with labels that ``format_to_bert`` of Liu & Lapata 2019 reads; None without labels or summary.

    The summary is the first reference.

    >>> row = {"id": "t", "sentences": ["A cat .", "Rain"], "labels": [1, 0], "references": [["Cats ."]], "status": "x"}
    >>> bertsum_record(row)
    {'id': 't', 'src': [['A', 'cat', '.'], ['Rain']], 'tgt': [['Cats', '.']], 'labels': [1, 0]}
    """
    if row.get("labels") is None or not row.get("references"):
        return None
    return {
        "id": row.get("id"),
        "src": [sentence.split() for sentence in row["sentences"]],
        "tgt": [sentence.split() for sentence in row["references"][0]],
        "labels": row["labels"],
    }


def _to_bertsum(rows: Path, output: Path) -> None:
    """Write a list, with one record in memory at a time; rows without labels are left out."""
    with output.open("w", encoding="utf-8", errors="replace") as file:
        before = "["
        for record in filter(None, map(bertsum_record, _read(rows))):
            file.write(f"{before}\n{json.dumps(record, ensure_ascii=False)}")
            before = ","
        file.write("\n]\n" if before == "," else "[]\n")


# A folder of Hugging Face `datasets`, which ``datasets.load_from_disk`` reads.


def _to_datasets(rows: Path, output: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    # Beside the output, where there must be room for the result anyway.
    with TemporaryDirectory(dir=output.parent, prefix=f".{output.name}-") as folder:
        table = Path(folder) / "rows.parquet"
        _to_parquet(rows, table)
        datasets.Dataset.from_parquet(str(table), cache_dir=folder).save_to_disk(str(output))


class RowWriter(AbstractContextManager["RowWriter"]):
    """Writes rows in the format of the output's name, completely or not at all.

    Rows are collected as JSON Lines in a locked file next to the output, with ``.part`` in its name; each is on disk
    when `write` returns. When all are complete, that file becomes the output. A run that fails or is killed leaves its
    rows in the ``.part``, from which another run continues (``existing="resume"``). Pipes and devices get JSON Lines at
    once. An output that cannot be written is refused before any work.

    `path`: ``-`` is the standard output; None writes nothing. `inputs`: files that must not be overwritten. `keep`: for
    "resume", decides which rows are finished; by default all are, and messages do not offer to resume. `form`: the
    format, if the name does not determine it. `csv_safe`: whether to disarm CSV cells that a spreadsheet would run.
    `derived`: whether the rows are quickly made again, so that a failed run leaves nothing.

    >>> with RowWriter("-") as rows:
    ...     rows.write({"id": "a", "objective": 0.5})
    {"id": "a", "objective": 0.5}
    """

    def __init__(
        self,
        path: PathLike | None,
        *,
        inputs: Iterable[PathLike] = (),
        existing: Existing = "refuse",
        keep: Keeper | None = None,
        form: RowFormat | None = None,
        csv_safe: bool = False,
        derived: bool = False,
    ) -> None:
        self._name = "<stdout>" if path == "-" else os.fspath(path or "")
        if form is not None and form.kind == "datasets":
            self._name = self._name.rstrip(f"/{os.sep}")
        self._file: FileIO | None = None
        self._journal: Path | None = None  # None for pipes and devices
        self._empty, self._resumed = True, False  # empty: the file has no rows that a failure must not lose
        self._csv_safe, self._derived, self._prints = csv_safe, derived, path == "-"
        if path is None:
            return
        if path == "-":
            if sys.stdout is None:  # a program without a console
                raise OptionError("there is no standard output; name an output file")
            if existing == "resume":
                raise OptionError("the standard output has no earlier rows to resume: give a file, -o FILE")
            return
        for other in inputs:
            if other != "-" and _same(path, other):
                raise OptionError(f"the output {self._name} is also an input; name another output")
        try:
            if not self._name:
                raise FileNotFoundError
            if form is None and is_stream(Path(self._name)):
                self._form = RowFormat("jsonl")
                self._file = FileIO(open_stream(Path(self._name)), "wb")
                return
            self._form = form or format_of(self._name)
            check_no_link(Path(self._name))
            _check_kind(self._name, self._form)
            self._journal = Path(self._name + _JOURNAL)
            self._open()
        except (OSError, ValueError) as error:
            if isinstance(error, OptionError):
                raise
            raise self._unwritable(error) from error
        try:
            self._begin(self._journal, existing, keep)
        except BaseException:
            self._give_up()
            raise

    @property
    def held(self) -> Path | None:
        """The file with the rows: the output, or the ``.part`` next to it until it is complete; None without rows."""
        if self._journal is None:
            return None
        return next((path for path in (self._journal, Path(self._name)) if path.exists()), None)

    def _open(self) -> None:
        assert self._journal is not None  # noqa: S101 - of files only
        self._made = not self._journal.exists()  # whether a failure may remove it
        self._file = FileIO(open_own(self._journal), "ab")
        if not lock(self._file.fileno(), self._journal):
            self._file.close()
            raise OptionError(f"the output {self._name} is being written by another run; name another output")

    def _begin(self, journal: Path, existing: Existing, keep: Keeper | None) -> None:
        held = [path for path in (journal, Path(self._name)) if path.exists() and path.stat().st_size]
        if not held or existing == "overwrite":
            return
        complete = self._form.kind == "bertsum" and held[0] != journal  # its format has no place for options
        if existing == "refuse":
            stopped = f" (in {journal})" if held[0] == journal else ""
            way = "--overwrite replaces it"
            if keep is not None and not complete:
                way = "--resume keeps its finished rows and continues, --overwrite starts again"
            raise OptionError(f"the output {self._name} exists already{stopped}: {way}; or name another output")
        if complete:
            why = "is complete, and does not record the options that made it, so it cannot be resumed"
            raise OptionError(f"the output {self._name} {why}: give --overwrite")
        self._empty, self._resumed = False, True
        source = held[0]
        stays = keep(read_rows(source, unfinished=True)) if keep is not None else lambda _: True
        if source == journal:
            with source.open("rb") as file:
                file.seek(-1, os.SEEK_END)
                ended = file.read() == b"\n"
            if ended and all(map(stays, read_rows(source, unfinished=True))):
                return
        # Rewrite the journal with only the rows to keep.
        try:
            with replacing(journal) as new, new.open("wb") as stream:
                stream.writelines(to_bytes(row) + b"\n" for row in read_rows(source, unfinished=True) if stays(row))
            if self._file is not None:
                self._file.close()
            self._open()
            self._made = source != journal
        except OSError as error:
            raise self._unwritable(error) from error

    def kept(self) -> Iterator[Row]:
        """Iterate over the kept rows of an earlier run; only before the first new row is written."""
        return read_rows(self._journal) if self._resumed and self._journal is not None else iter(())

    def write(self, row: Mapping[str, Any] | bytes) -> None:
        """Write one row: a mapping of JSON values, mappings, numpy's numbers and arrays; or bytes from `to_bytes`."""
        self.write_all([row])

    def write_all(self, rows: Iterable[Mapping[str, Any] | bytes]) -> None:
        given = list(rows)
        if self._file is None and not self._prints:
            return
        written = [row if isinstance(row, bytes) else to_bytes(row) for row in given]
        try:
            if self._file is None:
                for row in written:
                    _print(row)
                return
            self._truncate_once()
            self._made = self._derived
            self._append(self._file, written)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritable(error) from error

    def _append(self, file: FileIO, rows: Sequence[bytes]) -> None:
        """Write rows in one call; on a full disk, as many whole rows as fit."""
        before = os.fstat(file.fileno()).st_size
        data = memoryview(b"\n".join([*rows, b""]))
        try:
            while data:
                data = data[file.write(data) :]
        except BaseException as error:
            if self._journal is not None:
                with suppress(OSError):
                    file.truncate(before)
                if isinstance(error, OSError) and len(rows) > 1:
                    for row in rows:
                        self._append(file, [row])
            raise

    def _truncate_once(self) -> None:
        if self._empty and self._file is not None:
            if self._journal is not None:
                self._file.truncate(0)
            self._empty = False

    def close(self) -> None:
        if self._file is None or self._file.closed:
            return
        try:
            self._truncate_once()
            if self._journal is not None:
                self._finish(self._file, self._journal)
        finally:
            self._file.close()

    def _finish(self, file: FileIO, journal: Path) -> None:
        output = Path(self._name)
        try:
            os.fsync(file.fileno())
            if self._form == RowFormat("jsonl"):
                check_no_link(output)
                with suppress(OSError):  # there is no output yet
                    journal.chmod(stat.S_IMODE(output.stat().st_mode))
                if sys.platform == "win32":
                    file.close()
                journal.replace(output)
                return
            if self._form.kind == "datasets":
                _write_folder(journal, output, self._form)
            else:
                with replacing(output) as new:
                    risky = convert(journal, new, self._form, csv_safe=self._csv_safe)
                if risky:
                    getLogger("optsum").warning("%s: %s", output, risky)
        except OSError as error:
            raise OptionError(f"{self._unwritable(error)}; its rows are in {journal}") from error
        self._remove(journal)

    def _remove(self, journal: Path) -> None:
        if sys.platform == "win32" and self._file is not None:  # an open file cannot be removed there
            self._file.close()
        journal.unlink(missing_ok=True)

    def _give_up(self) -> None:
        if self._file is not None and not self._file.closed:
            if self._journal is not None and self._made:
                self._remove(self._journal)
            self._file.close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        elif issubclass(kind, KeyboardInterrupt) and not self._derived:
            self.stop()
        else:
            self._give_up()

    def stop(self) -> None:
        """Stop early and keep the rows: in the output if that is JSON Lines without other rows, else in ``.part``."""
        if self._journal is None:
            return
        alone = not self._empty and (self._resumed or not Path(self._name).exists())
        if alone and self._form == RowFormat("jsonl"):
            self.close()
        else:
            self._give_up()

    def _unwritable(self, error: Exception) -> OptionError:
        return OptionError(f"the output {self._name} cannot be written: {describe_os_error(error)}")


def _write_folder(journal: Path, output: Path, form: RowFormat) -> None:
    """Write a folder, in place of an old one; for a moment neither exists, because rename replaces no full folder."""
    new, old = (output.with_name(f".{token_hex(8)}") for _ in range(2))
    try:
        new.mkdir()
        convert(journal, new, form)
        if output.is_dir():
            output.rename(old)
        try:
            new.rename(output)
        except OSError:
            if old.is_dir():
                old.rename(output)
            raise
    finally:
        for each in (new, old):
            rmtree(each, ignore_errors=True)


def _check_kind(name: str, form: RowFormat) -> None:
    """Refuse to put a file in place of a folder, or a dataset in place of anything but a dataset."""
    output = Path(name)
    if form.kind == "datasets":
        if output.exists() and not is_dataset_folder(output):
            raise OptionError(f"the output {output} is not a folder saved by datasets; name another output")
    elif output.is_dir() or name.endswith(("/", os.sep)):
        what = "the format bertsum is" if form.kind == "bertsum" else "rows are"
        raise OptionError(f"the output {name} cannot be written: it is a folder, but {what} one file; name a file")


def _same(path: PathLike, other: PathLike) -> bool:
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):  # one of them does not exist
        return False


def _print(row: bytes) -> None:
    # A console that has no UTF-8 gets escapes instead of an error.
    encoding = (sys.stdout.encoding or "utf-8").lower().replace("_", "-")
    text = row.decode() if encoding in {"utf-8", "utf8"} else _dumps(json.loads(row), ascii_only=True)
    sys.stdout.write(visible(text, pairs=True) + "\n")
    sys.stdout.flush()
