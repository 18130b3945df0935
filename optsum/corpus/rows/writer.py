"""Result rows written so that nothing good is lost."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from enum import StrEnum
from io import FileIO
from logging import getLogger
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import Any, TypeAlias

from optsum.corpus.formats.hf_datasets import is_dataset_folder
from optsum.corpus.rows.convert import convert
from optsum.corpus.rows.formats import RowFormat, format_of
from optsum.corpus.rows.json_text import to_ascii, to_bytes
from optsum.corpus.rows.reading import read_rows
from optsum.errors import OptionError, visible
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

Row: TypeAlias = dict[str, Any]

Keeper: TypeAlias = Callable[[Iterator[Row]], Callable[[Row], bool]]
"""Looks at all rows of an earlier run, and returns what says of each whether it stays."""

_JOURNAL = ".part"


class Existing(StrEnum):
    """The treatment of rows that an output already has."""

    REFUSE = "refuse"
    """They stay, and nothing is written."""
    OVERWRITE = "overwrite"
    """They go, when all new rows are there."""
    RESUME = "resume"
    """They stay as far as they are finished, and new ones are added."""


class RowWriter(AbstractContextManager["RowWriter"]):
    """Writes rows in the format that the name of the output says, whole or not at all.

    Rows are gathered as JSON Lines in a file beside the output, named with ``.part``; each is on disk when `write`
    returns. When all are there, that file becomes the output. Until then, what the output held stays as it was: a run
    that fails or is killed leaves the rows that were done in the ``.part``, from which another goes on
    (`Existing.RESUME`). Pipes and devices get JSON Lines at once.

    The file is opened at once, so an output that cannot be written is refused before any work. A run that ends well
    without any row leaves an empty file; one that fails without any row leaves nothing. While it is written, the file
    is locked.

    Parameters
    ----------
    path : str or path
        ``.jsonl``, ``.csv`` (either also ``.gz`` or ``.zst``) or ``.parquet``; ``-`` is the standard output, which has
        JSON Lines.
    inputs : iterable of str or path
        Files that the rows are made from, which must not be overwritten.
    existing : Existing
        What becomes of rows that are there already.
    keep : callable, optional
        For `Existing.RESUME`: which of them are finished; all of them, if not given.
    form : RowFormat, optional
        The format, where the name does not say it.
    csv_safe : bool
        Whether cells of CSV that a spreadsheet would run are made harmless.
    derived : bool
        Whether the rows can be had again at once, so that nothing is left of a run that fails.

    Raises
    ------
    OptionError
        If the file cannot be opened for writing, is one of the inputs, is of no format, has rows that must not be
        touched, or is written by somebody else.
    InputError
        If the rows to be resumed cannot be read.

    Examples
    --------
    >>> with RowWriter("-") as rows:
    ...     rows.write({"id": "a", "objective": 0.5})
    {"id": "a", "objective": 0.5}
    """

    def __init__(
        self,
        path: PathLike,
        *,
        inputs: Iterable[PathLike] = (),
        existing: Existing = Existing.REFUSE,
        keep: Keeper | None = None,
        form: RowFormat | None = None,
        csv_safe: bool = False,
        derived: bool = False,
    ) -> None:
        self._name = "<stdout>" if path == "-" else os.fspath(path)
        if form is not None and form.kind == "datasets":
            self._name = self._name.rstrip(f"/{os.sep}")
        self._file: FileIO | None = None
        self._journal: Path | None = None  # of pipes and devices there is none
        self._empty = True  # nothing is held that a failure must not lose
        self._resumed = False
        self._csv_safe, self._derived = csv_safe, derived
        if path == "-":
            if sys.stdout is None:  # a program without a console
                raise OptionError("there is no standard output; name an output file")
            if existing is Existing.RESUME:
                raise OptionError("the standard output holds no earlier rows to be resumed: give a file, -o FILE")
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
            _check_kind(Path(self._name), self._form)
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
        """The file that holds the rows: the output, or the one beside it while they are not there; None for a pipe."""
        if self._journal is None:
            return None
        return self._journal if self._journal.exists() else Path(self._name)

    def _open(self) -> None:
        """Open the file of rows that is beside the output, and lock it."""
        assert self._journal is not None  # noqa: S101 - of files only
        self._made = not self._journal.exists()  # by us, so that it may go
        self._file = FileIO(open_own(self._journal), "ab")
        if not lock(self._file.fileno(), self._journal):
            self._file.close()
            raise OptionError(f"the output {self._name} is being written by another run; name another output")

    def _begin(self, journal: Path, existing: Existing, keep: Keeper | None) -> None:
        """Decide on the rows that are there."""
        held = [path for path in (journal, Path(self._name)) if _holds_something(path)]
        if not held:
            return
        if existing is Existing.REFUSE:
            stopped = f" (in {journal})" if held[0] == journal else ""
            raise OptionError(
                f"the output {self._name} exists already{stopped}: --resume keeps its finished rows and goes on, "
                "--overwrite begins anew; or name another output"
            )
        if existing is Existing.RESUME:
            if self._form.kind == "bertsum" and held[0] != journal:
                raise OptionError(f"the output {self._name} is complete, and says nothing of options: give --overwrite")
            self._resume(journal, held[0], keep)
            self._empty, self._resumed = False, True

    def _resume(self, journal: Path, source: Path, keep: Keeper | None) -> None:
        """Leave in the journal the rows that stay, each whole."""
        stays = keep(read_rows(source)) if keep is not None else lambda _: True
        if source == journal and _ends_line(source) and all(stays(row) for row in read_rows(source)):
            return
        made = source != journal
        try:
            with replacing(journal) as new, new.open("wb") as stream:
                stream.writelines(to_bytes(row) + b"\n" for row in read_rows(source) if stays(row))
            if self._file is not None:
                self._file.close()
            self._open()
            self._made = made
        except OSError as error:
            raise self._unwritable(error) from error

    def kept(self) -> Iterator[Row]:
        """Iterate over the rows that were there and stay; before the first new one."""
        return read_rows(self._journal) if self._resumed and self._journal is not None else iter(())

    def write(self, row: Mapping[str, Any]) -> None:
        """Write one row.

        Parameters
        ----------
        row : mapping
            Of what JSON has, numpy's numbers and arrays, and mappings. Numbers that are not finite become
            null.

        Raises
        ------
        OptionError
            If the output cannot be written any more, such as on a full disk; no half row is left.
        BrokenPipeError
            If the reader of the standard output has left.
        """
        try:
            if self._file is None:
                _print(row)
                return
            self._truncate_once()
            self._made = self._derived
            self._append(self._file, to_bytes(row) + b"\n")
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritable(error) from error

    def _append(self, file: FileIO, row: bytes) -> None:
        before = os.fstat(file.fileno()).st_size
        data = memoryview(row)
        try:
            while data:
                data = data[file.write(data) :]
        except BaseException:
            if self._journal is not None:
                with suppress(OSError):
                    file.truncate(before)
            raise

    def _truncate_once(self) -> None:
        if self._empty and self._file is not None:
            if self._journal is not None:
                self._file.truncate(0)
            self._empty = False

    def close(self) -> None:
        """Make the output of the rows; without any it is empty from now on.

        Raises
        ------
        OptionError
            If the output cannot be written; the rows are in the file beside it then.
        """
        if self._file is None or self._file.closed:
            return
        try:
            self._truncate_once()
            if self._journal is not None:
                self._finish(self._file, self._journal)
        finally:
            self._file.close()

    def _finish(self, file: FileIO, journal: Path) -> None:
        """Put the rows in the place of the output, at once."""
        output = Path(self._name)
        try:
            os.fsync(file.fileno())
            if self._form == RowFormat("jsonl"):
                check_no_link(output)
                with suppress(OSError):  # none is there
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
        self._remove_journal()

    def _remove_journal(self) -> None:
        if self._journal is None:
            return
        try:
            self._journal.unlink(missing_ok=True)
        except PermissionError:  # Windows removes no open file
            if self._file is not None:
                self._file.close()
            self._journal.unlink(missing_ok=True)

    def _give_up(self) -> None:
        """Close the file, and remove it if there was none before and nothing is in it that took long."""
        if self._file is not None and not self._file.closed:
            if self._made:
                self._remove_journal()
            self._file.close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        elif issubclass(kind, KeyboardInterrupt) and not self._derived:
            self.stop()
        elif self._file is not None and self._journal is not None:
            self._give_up()
        elif self._file is not None:
            self._file.close()

    def stop(self) -> None:
        """Keep the rows that were done, though not all are there.

        JSON Lines become the output, unless it held other rows; of other forms, and where it did, they stay beside it.
        """
        jsonl = self._journal is not None and self._form == RowFormat("jsonl")
        if jsonl and not self._empty and (self._resumed or not Path(self._name).exists()):
            self.close()
        elif self._file is not None and self._journal is not None:
            self._give_up()

    def _unwritable(self, error: Exception) -> OptionError:
        return OptionError(f"the output {self._name} cannot be written: {describe_os_error(error)}")


def _write_folder(journal: Path, output: Path, form: RowFormat) -> None:
    """Put a folder in the place of another; for a moment none is there, because a folder replaces no full one."""
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


def _check_kind(output: Path, form: RowFormat) -> None:
    """Refuse to put a file where a folder is, and a folder in the place of anything but one of its kind."""
    if form.kind == "datasets":
        if output.exists() and not is_dataset_folder(output):
            raise OptionError(f"the output {output} is no folder that datasets saved; name another output")
    elif output.is_dir():
        raise IsADirectoryError


def _holds_something(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"


def _same(path: PathLike, other: PathLike) -> bool:
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):  # one of them does not exist
        return False


def _print(row: Mapping[str, Any]) -> None:
    # A console that has no UTF-8 gets escapes instead of an error.
    encoding = (sys.stdout.encoding or "utf-8").lower().replace("_", "-")
    text = to_bytes(row).decode() if encoding in {"utf-8", "utf8"} else to_ascii(row)
    sys.stdout.write(visible(text, pairs=True) + "\n")
    sys.stdout.flush()
