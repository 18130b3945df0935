"""JSON Lines files: each line decoded, or refused by itself."""

from __future__ import annotations

import codecs
import gzip
import json
import math
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from io import BufferedReader
from typing import IO, Any, NamedTuple, TypeAlias

from optsum.errors import InputError

__all__ = ["Line", "PathLike", "describe_os_error", "read_lines"]

PathLike: TypeAlias = str | os.PathLike[str]

_READ_ERRORS = (OSError, EOFError, zlib.error)  # all that a file, compressed or not, raises while it is read


class Line(NamedTuple):
    """One line of a file that is not blank."""

    source: str
    """``file:line``, lines counted from 1; the standard input is ``<stdin>``."""
    value: Any
    """The decoded JSON; None if there is an error."""
    error: str | None
    """Why the line cannot be used."""
    ended: bool
    """Whether a line break follows; a row that was not written to its end has none."""


def read_lines(path: PathLike, *, what: str, empty: bool = False) -> Iterator[Line]:
    """Open a JSON Lines file and iterate over its lines, one in memory at a time.

    Parameters
    ----------
    path : str or path
        UTF-8, with or without byte order mark; blank lines are passed over; compressed by gzip or not,
        whatever the name says. ``-`` is the standard input.
    what : str
        What a line holds, for messages: "topic".
    empty : bool
        Whether a file without any line is fine.

    Returns
    -------
    iterator of Line
        Never raises. A file that breaks off (a damaged disk or archive) ends with a line that says so.

    Raises
    ------
    InputError
        At once, if the file cannot be opened, is empty, is UTF-16 or UTF-32, or is JSON of many lines.
    """
    lines = _lines(path, what, empty)
    next(lines)  # up to the mark: whatever is wrong with the file itself is raised here, before any work
    return lines


_MARK = Line("", None, None, ended=True)


def _lines(path: PathLike, what: str, empty: bool) -> Iterator[Line]:
    name = "<stdin>" if path == "-" else os.fspath(path)
    with ExitStack() as stack:
        try:
            stream = _open(path, stack)
        except (OSError, ValueError) as error:
            raise InputError(f"the {what} file {name} cannot be opened: {describe_os_error(error)}") from error
        numbered = enumerate(stream, start=1)
        number = 0
        try:
            for number, raw in numbered:
                if number == 1:
                    _check_encoding(raw, name)
                if not _is_blank(raw):
                    break
            else:
                if not empty:
                    raise InputError(f"the {what} file {name} is empty; give one {what} per line, as JSON")
                yield _MARK
                return
        except _READ_ERRORS as error:
            raise InputError(f"the {what} file {name} cannot be read: {describe_os_error(error)}") from error
        if raw.strip() in {b"[", b"{"}:
            raise InputError(f"{name} holds JSON spread over several lines; put each {what} on one line (JSON Lines)")
        yield _MARK
        yield _decode(raw, f"{name}:{number}")
        try:
            for number, raw in numbered:
                if not _is_blank(raw):
                    yield _decode(raw, f"{name}:{number}")
        except _READ_ERRORS as error:
            reason = f"the file breaks off here: {describe_os_error(error)}"
            yield Line(f"{name}:{number + 1}", None, reason, ended=True)


def _open(path: PathLike, stack: ExitStack) -> Iterable[bytes]:
    """Return the lines of a file that `stack` closes."""
    if path != "-":
        stream: IO[bytes] = stack.enter_context(open(path, "rb"))  # noqa: PTH123, SIM115 (the stack closes it)
    elif sys.stdin is None or not hasattr(sys.stdin, "buffer"):
        raise OSError("there is no standard input")
    else:
        stream = sys.stdin.buffer
    if isinstance(stream, BufferedReader) and stream.peek(2).startswith(b"\x1f\x8b"):
        return stack.enter_context(gzip.GzipFile(fileobj=stream))
    return stream


def _check_encoding(first: bytes, name: str) -> None:
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in first[:4]:
        raise InputError(f"{name} is not UTF-8 but looks like UTF-16 or UTF-32; save it as UTF-8")


def describe_os_error(error: Exception) -> str:
    """Return why a file cannot be used, without the numbers and the path that Python adds."""
    match error:
        case FileNotFoundError():
            return "there is no such file or folder; check the path"
        case IsADirectoryError():
            return "it is a folder; give a file"
        case PermissionError():
            return "you have no permission; check the owner and mode"
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error) or type(error).__name__).rstrip(".")


# One line.


class _NotJSONError(ValueError):
    """What Python's decoder would let pass."""


def _is_blank(raw: bytes) -> bool:
    return raw.isspace() or not raw.removeprefix(codecs.BOM_UTF8).strip()


def _constant(name: str) -> float:
    raise _NotJSONError(f"{name} is no JSON number; write null")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _NotJSONError(f"the number {digits:.40} is too large")
    return value


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_constant)


def _decode(raw: bytes, source: str) -> Line:
    try:
        # Files put together by "cat" have byte order marks inside.
        value = _DECODER.decode(raw.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n").decode())
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} (0x{error.object[error.start]:02x}) is not UTF-8; save the file as UTF-8"
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg.lower().removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        reason = "the JSON is nested too deeply"
    except _NotJSONError as error:
        reason = str(error)
    except ValueError:
        reason = f"a whole number has more than {sys.get_int_max_str_digits()} digits"
    else:
        return Line(source, value, None, raw.endswith(b"\n"))
    return Line(source, None, reason, raw.endswith(b"\n"))
