"""The rows of a run in one SQLite file: added as they come, durable once committed, found again without reading all.

A file of JSON Lines would have to be read from its beginning to say what is done, and what it holds of a million topics
does not fit into memory. SQLite has an index for both; its write-ahead log lets others read (``optsum status``) while
one process writes, and a write that was cut off, by a crash or a full disk, is rolled back as a whole.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from time import time
from typing import Any, Final, NamedTuple

from optsum.errors import InputError, OptionError
from optsum.system.files import PathLike

__all__ = ["STORE", "Answer", "RowStore", "is_run", "stored_rows"]

STORE: Final = "rows.sqlite"
"""Its name in the folder of a run."""

_WRITING: Final = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;  -- committed is on the disk
CREATE TABLE IF NOT EXISTS rows (
    topic INTEGER NOT NULL, cell INTEGER NOT NULL, part INTEGER NOT NULL,
    status TEXT NOT NULL, at REAL NOT NULL, row TEXT NOT NULL, UNIQUE (topic, cell, part));
CREATE INDEX IF NOT EXISTS by_status ON rows (part, status, at);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_KNOWN: Final = "SELECT sum(status = 'error') FROM rows WHERE topic = ? AND cell = ?"


class Answer(NamedTuple):
    """The rows of one topic, searched in one way.

    Attributes
    ----------
    topic : int
        Its number in the input, from 0.
    cell : int
        Of the way.
    rows : tuple of (status, JSON text)
        One, or one for each reference.
    """

    topic: int
    cell: int
    rows: tuple[tuple[str, str], ...]


class RowStore(AbstractContextManager["RowStore"]):
    """The one writer of a file of rows, or one of its readers.

    Parameters
    ----------
    write : bool
        Whether to make it where there is none, and to change it; nobody else may be writing then.

    Raises
    ------
    OptionError
        If it cannot be opened, or written.
    InputError
        If it is no store of rows.
    """

    def __init__(self, path: PathLike, *, write: bool = False) -> None:
        self._path = Path(path)
        with self._told():
            self._database = _connected(self._path, _WRITING, isolation_level=None) if write else self._reader()

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
            if "not a database" in str(error) or "no such table" in str(error):
                raise InputError(f"{self._path} is no store of rows: name the folder of a run") from error
            raise OptionError(
                f"the run's rows {self._path} cannot be kept ({error}): see that there is room, and that you may write "
                "there; --resume goes on"
            ) from error

    def _ask(self, question: str, *values: object) -> list[Any]:
        with self._told():
            return self._database.execute(question, values).fetchall()

    def add(self, answers: Iterable[Answer]) -> None:
        """Add rows; all of them are durable when this returns, or none is.

        What was an error is replaced; what is finished is never touched.

        Raises
        ------
        OptionError
            If they cannot be written, such as on a full disk.
        """
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
                    values = ((topic, cell, part, status, now, row) for part, (status, row) in enumerate(rows))
                    self._database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", values)
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def take(self, other: RowStore) -> None:
        """Add all rows of another store."""
        with other._told():
            found = other._database.execute("SELECT topic, cell, status, row FROM rows ORDER BY topic, cell, part")
            batch: list[Answer] = []
            for topic, cell, status, row in found:
                if batch and batch[-1][:2] == (topic, cell):
                    batch[-1] = Answer(topic, cell, (*batch[-1].rows, (status, row)))
                    continue
                if len(batch) >= 256:
                    self.add(batch)
                    batch = []
                batch.append(Answer(topic, cell, ((status, row),)))
            self.add(batch)

    def finished(self, topic: int) -> set[int]:
        """Return the cells in which a topic is done, without those that became errors."""
        done = "SELECT cell FROM rows WHERE topic = ? GROUP BY cell HAVING sum(status = 'error') = 0"
        return {cell for (cell,) in self._ask(done, topic)}

    def counts(self) -> dict[str, int]:
        """Return how many rows there are of each status."""
        return dict(self._ask("SELECT status, count(*) FROM rows INDEXED BY by_status GROUP BY status ORDER BY 2 DESC"))

    def answered(self) -> tuple[int, int]:
        """Return how many topics have rows, counted once for each cell, and how many of them became errors."""
        found = self._ask("SELECT status = 'error', count(*) FROM rows WHERE part = 0 GROUP BY 1")
        counts = {bool(error): int(count) for error, count in found}
        return sum(counts.values()), counts.get(True, 0)

    def since(self, began: float) -> tuple[int, float]:
        """Return how many topics (once for each cell) became durable since a time, and the seconds to the last one.

        Parameters
        ----------
        began : float
            `time.time` of it.
        """
        ((count, last),) = self._ask("SELECT count(*), max(at) FROM rows WHERE part = 0 AND at >= ?", began)
        return int(count), float((last or began) - began)

    def first_error(self) -> str | None:
        """Return what is wrong with the first topic that is an error."""
        found = self._ask("SELECT row FROM rows WHERE status = 'error' ORDER BY topic, cell, part LIMIT 1")
        return str(json.loads(found[0][0])["error"]) if found else None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows in the order of the input, and of the cells; what is added meanwhile may be missing."""
        with self._told():
            for (row,) in self._database.execute("SELECT row FROM rows ORDER BY topic, cell, part"):
                yield json.loads(row)

    def tell(self, **facts: object) -> None:
        """Keep what is known of the run."""
        with self._told():
            self._database.executemany(
                "INSERT OR REPLACE INTO facts VALUES (?, ?)", [(name, json.dumps(facts[name])) for name in facts]
            )

    def facts(self) -> dict[str, Any]:
        """Return what is known of the run."""
        return {name: json.loads(value) for name, value in self._ask("SELECT * FROM facts")}

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _connected(where: PathLike, first: str, **options: Any) -> sqlite3.Connection:
    """Return a connection over which the first statements could be done; none stays open over which they could not."""
    database: sqlite3.Connection = sqlite3.connect(where, **options)
    try:
        database.executescript(first)
    except BaseException:
        database.close()
        raise
    return database


def is_run(path: PathLike) -> bool:
    """Return whether this is the folder of a run."""
    return path != "-" and (Path(path) / STORE).is_file()


def stored_rows(folder: PathLike) -> Iterator[dict[str, Any]]:
    """Iterate over the rows of the folder of a run, in the order of its input.

    Raises
    ------
    InputError, OptionError
        At once, if they cannot be read.
    """
    store = RowStore(Path(folder) / STORE)

    def rows() -> Iterator[dict[str, Any]]:
        with closing(store):
            yield from store.rows()

    return rows()
