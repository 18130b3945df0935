"""Result rows: JSON Lines out, and in again."""

from __future__ import annotations

import json
import math
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from optsum.corpus.lines import Line, read_lines
from optsum.errors import InputError, OptionError
from optsum.files import PathLike, describe_os_error

__all__ = ["RowWriter", "read_rows"]


class RowWriter:
    """Writes rows as JSON Lines; each is on disk when `write` returns.

    The file is opened at once, so an output that cannot be written is refused before any work; but what it
    held is only given up for the first row. So a run that fails before it has anything to say (bad options,
    unusable input) loses no older result, and one that is stopped later leaves exactly the rows that were
    done. A run that ends well without any row leaves an empty file; one that fails without any row leaves no
    file where there was none.

    Parameters
    ----------
    path : str or path
        ``-`` is the standard output.
    inputs : iterable of str or path
        Files that the rows are made from, which must not be overwritten.

    Raises
    ------
    OptionError
        If the file cannot be opened for writing, or is one of the inputs.

    Examples
    --------
    >>> with RowWriter("-") as rows:
    ...     rows.write({"id": "a", "objective": 0.5})
    {"id": "a", "objective": 0.5}
    """

    def __init__(self, path: PathLike, *, inputs: Iterable[PathLike] = ()) -> None:
        self._name = "<stdout>" if path == "-" else os.fspath(path)
        self._file: FileIO | None = None
        self._empty = True  # no row yet
        if path == "-":
            if sys.stdout is None:  # a program without a console
                raise OptionError("there is no standard output; name an output file")
            return
        for other in inputs:
            if other != "-" and _same(path, other):
                raise OptionError(f"the output {self._name} is also an input; name another output")
        try:
            self._created = not Path(path).exists()
            # Not "wb", which would empty the file now.
            self._file = open(path, "ab", buffering=0)  # noqa: SIM115, PTH123 (closed by `close`)
        except (OSError, ValueError) as error:
            raise OptionError(f"the output {self._name} cannot be written: {describe_os_error(error)}") from error

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
            If the output cannot be written any more, such as on a full disk.
        BrokenPipeError
            If the reader of the standard output has left.
        """
        try:
            if self._file is None:
                _print(row)
                return
            self._truncate_once()
            data = memoryview(_to_bytes(row) + b"\n")
            while data:
                data = data[self._file.write(data) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OptionError(f"the output {self._name} cannot be written: {describe_os_error(error)}") from error

    def _truncate_once(self) -> None:
        if self._empty and self._file is not None:
            if stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                self._file.truncate(0)
            self._empty = False

    def close(self) -> None:
        """End the file; without any row it is empty from now on."""
        if self._file is not None and not self._file.closed:
            self._truncate_once()
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or not self._empty:
            self.close()
        elif self._file is not None:
            self._file.close()
            if self._created:
                Path(self._name).unlink(missing_ok=True)


def _same(path: PathLike, other: PathLike) -> bool:
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):  # one of them does not exist
        return False


def read_rows(path: PathLike) -> Iterator[dict[str, Any]]:
    """Open a file of rows and iterate over them.

    Parameters
    ----------
    path : str or path
        As `RowWriter` leaves it; ``-`` is the standard input. A file without rows is fine. A last row that
        was not written to its end, because the machine or the process died, is passed over.

    Returns
    -------
    iterator of dict

    Raises
    ------
    InputError
        At once if the file cannot be opened; at a line that is no row.
    """
    return _rows(read_lines(path, what="row", empty=True))


def _rows(lines: Iterator[Line]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if line.error is None and isinstance(line.value, dict):
            yield line.value
        elif line.ended:
            raise InputError(f"{line.source}: {line.error or 'a row is an object'}; remove the line or run again")


# One row.


def _print(row: Mapping[str, Any]) -> None:
    # A console that has no UTF-8 gets escapes instead of an error.
    encoding = (sys.stdout.encoding or "utf-8").lower().replace("_", "-")
    text = _to_bytes(row).decode() if encoding in {"utf-8", "utf8"} else _to_ascii(row)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _to_bytes(row: Mapping[str, Any]) -> bytes:
    try:
        return _dumps(row, ascii_only=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, such as in the path of a file whose name is not UTF-8
        return _to_ascii(row).encode()


def _to_ascii(row: Mapping[str, Any]) -> str:
    return _dumps(row, ascii_only=True)


def _dumps(row: Mapping[str, Any], *, ascii_only: bool) -> str:
    try:
        return json.dumps(dict(row), ensure_ascii=ascii_only, allow_nan=False, default=_default)
    except ValueError:
        return json.dumps(_plain(row), ensure_ascii=ascii_only, allow_nan=False)


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return value.tolist()
    raise TypeError(f"a row cannot hold a {type(value).__name__}")


def _plain(value: Any) -> Any:
    """Replace what JSON cannot hold: numbers that are not finite, and those too long for Python to print."""
    match value:
        case None | bool() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case int():
            # Of any size as digits in a string; json would refuse more than 4300 of them.
            return value if value.bit_length() < 14_000 else str(Decimal(value))
        case list() | tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
    return _plain(_default(value))
