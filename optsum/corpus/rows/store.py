"""The rows of a run in one SQLite file: durable once committed, and found without reading the whole file.

A file of JSON Lines would have to be read from its beginning to find the finished topics, and a million of them do not
fit into memory. SQLite has an index; its write-ahead log lets others read (``optsum status``) while one process writes,
and an incomplete write (a crash or a full disk) is rolled back.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from hashlib import blake2b
from itertools import count, groupby, islice
from logging import getLogger
from math import isfinite
from pathlib import Path
from secrets import token_hex
from struct import unpack
from time import time
from typing import Any, Final, TypeAlias

from optsum.errors import InputError, OptionError
from optsum.system.files import PathLike

STORE: Final = "rows.sqlite"  # Its name in the folder of a run.

_WRITING: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;  -- committed is on the disk
CREATE TABLE IF NOT EXISTS rows (
    topic INTEGER NOT NULL, cell INTEGER NOT NULL, part INTEGER NOT NULL,
    status TEXT NOT NULL, at REAL NOT NULL, row TEXT NOT NULL, sum TEXT, UNIQUE (topic, cell, part));
CREATE INDEX IF NOT EXISTS by_status ON rows (part, status, at);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, sum TEXT);
"""
_ADDED: Final = "INSERT INTO rows (topic, cell, part, status, at, row, sum) VALUES (?, ?, ?, ?, ?, ?, ?)"
_KNOWN: Final = "SELECT sum(status = 'error') FROM rows WHERE topic = ? AND cell = ?"


CellRows: TypeAlias = tuple[int, int, tuple[tuple[str, str], ...]]
"""The number of a topic, from 0, that of the way of the search, and status and text of a row for each reference."""


class RowStore(AbstractContextManager["RowStore"]):
    """The only writer of a file of rows, or one of its readers.

    `write`: whether to create or change the file, with no other writer. `damage`: the fault of a damaged file; then the
    store has the rows that could be read, and a writer uses a new file.
    """

    def __init__(self, path: PathLike, *, write: bool = False) -> None:
        self._path = Path(path)
        self.damage: str | None = None
        try:
            there = self._path.exists()
            with self._told():
                self._open(write)
            if there:
                _check_all(self._database)
        except _DamagedError as error:
            self.close()
            self._rescue(str(error.__cause__ or error), write)

    def _open(self, write: bool) -> None:
        if self._path.with_name(f"{self._path.name}-journal").exists():
            # SQLite would take it for its own, and perhaps undo everything; there is a write-ahead log instead.
            raise _DamagedError("there is a foreign journal next to it")
        files = [self._path.with_name(self._path.name + ending) for ending in ("", "-wal", "-shm")]
        if any(each.is_symlink() for each in files[1:]) or any(each.exists() and not each.is_file() for each in files):
            raise _DamagedError("there is a pipe, a folder, a device or a link in place of the file")
        if not write:
            self._database = self._reader()
            return
        if self._path.exists() and not self._path.stat().st_size:
            raise _DamagedError("it is empty")
        self._database = _connected(self._path, _WRITING, isolation_level=None)
        for table in ("rows", "facts"):
            if "sum" not in _columns(self._database, table):  # checksums, which older versions did not write
                self._database.execute(f"ALTER TABLE {table} ADD COLUMN sum TEXT")

    def _rescue(self, reason: str, write: bool) -> None:
        """Use the readable rows: in a new file, with the damaged one kept next to it, or in memory."""
        rows, facts = rescued(self._path)
        if not write and not rows and not facts:
            raise InputError(
                f"{self._path} is not a store of rows, or is unreadable ({reason}): name the folder of a run; "
                "optsum run --resume starts it again"
            )
        self.damage = f"{self._path} is damaged ({reason}); {len(rows)} of its rows could be read"
        target: Path | str = ""
        if write:
            target = self._path.with_name(f".{token_hex(8)}.sqlite")
        with self._told():
            self._database = _connected(target, _WRITING, isolation_level=None)
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
        Path(target).replace(self._path)
        self._open(write)
        self.damage += f", the rest is searched again; the damaged file is kept as {kept.name}"
        getLogger("optsum").warning("%s", self.damage)

    def _reader(self) -> sqlite3.Connection:
        uri, first = self._path.resolve().as_uri(), "SELECT 1 FROM rows LIMIT 1"
        try:
            return _connected(f"{uri}?mode=ro", first, uri=True, timeout=30)
        except sqlite3.OperationalError:
            if self._path.with_name(f"{STORE}-wal").exists():
                raise
            # In a folder where nothing may be written there is nobody who writes, and no place for a reader's marks.
            return _connected(f"{uri}?immutable=1", first, uri=True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                raise _DamagedError(
                    f"the run's rows {self._path} are damaged ({error}): optsum run --resume keeps what can be read, "
                    "and searches the rest"
                ) from error
            raise OptionError(
                f"the run's rows {self._path} cannot be written ({error}): check free space and permissions; "
                f"--resume continues"
            ) from error

    def _ask(self, question: str, *values: object) -> list[Any]:
        with self._told():
            return self._database.execute(question, values).fetchall()

    def add(self, answers: Iterable[CellRows]) -> None:
        """Add rows durably, all or none; earlier errors are replaced, finished rows are never changed."""
        now = time()
        with self._told():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                for topic, cell, rows in answers:
                    (errors,) = self._database.execute(_KNOWN, (topic, cell)).fetchone()
                    if errors == 0:
                        continue
                    if errors is not None:
                        self._database.execute("DELETE FROM rows WHERE topic = ? AND cell = ?", (topic, cell))
                    values = (
                        (topic, cell, part, status, now, row, _sum(topic, cell, part, status, row))
                        for part, (status, row) in enumerate(rows)
                    )
                    self._database.executemany(_ADDED, values)
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def take(self, other: RowStore) -> None:
        """Add all rows of another store."""
        with other._told():
            found = other._database.execute("SELECT topic, cell, status, row FROM rows ORDER BY topic, cell, part")
            of_cells = groupby(found, key=lambda row: row[:2])
            answers = ((*cell, tuple(row[2:] for row in rows)) for cell, rows in of_cells)
            while batch := list(islice(answers, 256)):
                self.add(batch)

    def finished(self, topic: int) -> set[int]:
        """Return the cells in which a topic is done, without errors."""
        done = "SELECT cell FROM rows WHERE topic = ? GROUP BY cell HAVING sum(status = 'error') = 0"
        return {cell for (cell,) in self._ask(done, topic)}

    def counts(self) -> dict[str, int]:
        """Return how many rows there are of each status."""
        return dict(self._ask("SELECT status, count(*) FROM rows INDEXED BY by_status GROUP BY status ORDER BY 2 DESC"))

    def answered(self) -> tuple[int, int]:
        """Return how many topics have rows, counted once for each cell, and how many of them are errors."""
        found = self._ask("SELECT status = 'error', count(*) FROM rows WHERE part = 0 GROUP BY 1")
        counts = {bool(error): int(count) for error, count in found}
        return sum(counts.values()), counts.get(True, 0)

    def since(self, began: float) -> tuple[int, float]:
        """Return how many topics (once for each cell) became durable since a time, and the seconds to the last one."""
        ((count, last),) = self._ask("SELECT count(*), max(at) FROM rows WHERE part = 0 AND at >= ?", began)
        return int(count), float((last or began) - began)

    def first_error(self) -> str | None:
        """Return the error of the first topic that has one."""
        found = self._ask("SELECT row FROM rows WHERE status = 'error' ORDER BY topic, cell, part LIMIT 1")
        return str(json.loads(found[0][0])["error"]) if found else None

    def config_hashes(self) -> set[str]:
        """Return the hashes of the options of the rows."""
        return {str(json.loads(row).get("config_hash")) for (row,) in self._ask("SELECT row FROM rows")}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows in the order of input and cells; rows added meanwhile may be missing."""
        with self._told():
            for (row,) in self._database.execute("SELECT row FROM rows ORDER BY topic, cell, part"):
                yield json.loads(row)

    def tell(self, **facts: object) -> None:
        """Store facts about the run."""
        with self._told():
            held = [(name, json.dumps(value)) for name, value in facts.items()]
            self._database.executemany(
                "INSERT OR REPLACE INTO facts (name, value, sum) VALUES (?, ?, ?)",
                [(name, value, _sum(name, value)) for name, value in held],
            )

    def facts(self) -> dict[str, Any]:
        """Return the stored facts about the run."""
        return {name: json.loads(value) for name, value in self._ask("SELECT name, value FROM facts")}

    def close(self) -> None:
        """Close the file."""
        if hasattr(self, "_database"):
            self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _connected(where: PathLike, first: str, **options: Any) -> sqlite3.Connection:
    """Return a connection on which the first statements succeeded; close it if they fail."""
    database: sqlite3.Connection = sqlite3.connect(where, **options)
    try:
        database.executescript(first)
    except BaseException:
        database.close()
        raise
    return database


class _DamagedError(InputError):
    """A store that cannot be read correctly."""


_DAMAGE: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT", "SQLITE_MISMATCH")


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    name = getattr(error, "sqlite_errorname", "") or ""
    text = str(error)
    return name.startswith(_DAMAGE) or any(said in text for said in ("no such", "decode", "malformed", "views"))


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
            raise _DamagedError("it holds more than rows")
        row, fact = ("topic", "cell", "part", "status", "at", "row", "sum"), ("name", "value", "sum")
        for table, known, wanted in (("rows", _is_row, row), ("facts", _is_fact, fact)):
            columns = _columns(database, table)
            listed = ", ".join(name if name in columns else f"NULL AS {name}" for name in wanted)
            for held in database.execute(f"SELECT {listed} FROM {table}"):  # noqa: S608 - names of ours
                if not known(*held):
                    raise _DamagedError(f"a row of the table {table} differs from what was written")
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise
        raise _DamagedError(str(error)) from error


def _is_row(*held: Any) -> bool:
    """Return whether a row is intact; rows of older versions have no checksum and are checked as far as possible."""
    topic, cell, part, status, at, row, found = held
    kinds = all(type(each) is int for each in held[:3]) and isinstance(at, int | float) and isinstance(row, str)
    if not kinds or not isinstance(status, str) or not isfinite(at):
        return False
    if found is not None:
        return bool(found == _sum(topic, cell, part, status, row))
    read = _read(row)
    return isinstance(read, dict) and {"id", "error"} <= read.keys() and read.get("status") == status


def _is_fact(*held: Any) -> bool:
    name, value, found = held
    if not isinstance(name, str) or not isinstance(value, str):
        return False
    return bool(found == _sum(name, value)) if found is not None else _read(value) is not _DAMAGED


_DAMAGED: Final = object()


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _DAMAGED


# What a damaged store still holds: SQLite reads none of it, so its pages are read one by one.


def rescued(path: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the readable rows, the latest of each topic and cell, and facts from a damaged file and its log."""
    rows: dict[tuple[int, int, float], dict[int, tuple[Any, ...]]] = {}
    facts: dict[str, tuple[Any, ...]] = {}
    for pages, size in _images(path):
        for record in _records(pages, size):
            if len(record) in {6, 7} and _is_row(*(held := (*record, None)[:7])):
                rows.setdefault((held[0], held[1], held[4]), {})[held[2]] = held
            elif len(record) in {2, 3} and _is_fact(*(held := (*record, None)[:3])):
                facts[held[0]] = held  # the log comes last
    latest: dict[tuple[int, int], dict[int, tuple[Any, ...]]] = {}
    for (topic, cell, _), parts in sorted(rows.items()):
        if set(parts) == set(range(len(parts))):  # a topic of which some references are lost is searched again
            latest[topic, cell] = parts
    return [each for parts in latest.values() for each in parts.values()], list(facts.values())


def _images(path: Path) -> Iterator[tuple[Mapping[int, bytes], int]]:
    """Yield the pages of the file, then the pages with the changes of its log, and their size."""
    held = path.read_bytes() if path.is_file() else b""
    size = int.from_bytes(held[16:18], "big") or 4096
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        size = 4096
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
    """Yield all readable records of table leaves in pages (sqlite.org/fileformat2.html)."""
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
    most = size - 35
    here = length
    if length > most:
        least = (size - 12) * 32 // 255 - 23
        here = least + (length - least) % (size - 4)
        here = here if here <= most else least
    if not 0 < length <= len(pages) * size:
        raise ValueError
    payload = bytearray(page[at : at + here])
    following = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
    while len(payload) < length:
        if not (more := pages[following][4 : 4 + length - len(payload)]):
            raise ValueError  # pages that are cut off may lead to one another forever
        payload += more
        following = int.from_bytes(pages[following][:4], "big")
    return _values(bytes(payload))


def _varint(held: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(9):
        byte = held[at + step]
        if step == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    raise ValueError


_SIZES: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


def _values(payload: bytes) -> tuple[Any, ...]:
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    found: list[Any] = []
    for kind in kinds:
        size = _SIZES[kind] if kind < 12 else (kind - 12) // 2
        raw = payload[at : at + size]
        if len(raw) < size:
            raise ValueError
        at += size
        if kind == 7:
            found.append(unpack(">d", raw)[0])
        elif kind < 10:
            found.append(None if kind == 0 else kind - 8 if kind > 7 else int.from_bytes(raw, "big", signed=True))
        else:
            found.append(raw.decode() if kind % 2 else raw)
    return tuple(found)


def is_run(path: PathLike) -> bool:
    """Return whether a folder is one of a run."""
    return path != "-" and (Path(path) / STORE).is_file()


def stored_rows(folder: PathLike) -> Iterator[dict[str, Any]]:
    """Iterate over the rows in the folder of a run, in the order of its input."""
    store = RowStore(Path(folder) / STORE)
    if store.damage is not None:
        getLogger("optsum").warning("%s", store.damage)

    def rows() -> Iterator[dict[str, Any]]:
        with closing(store):
            yield from store.rows()

    return rows()
