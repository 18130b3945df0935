"""JSON Lines files: each line decoded, or refused by itself."""

from __future__ import annotations

import codecs
import json
import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from optsum.errors import InputError
from optsum.files import READ_ERRORS, PathLike, describe_os_error, name_of, open_bytes

__all__ = ["Line", "read_lines"]


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
    name = name_of(path)
    with ExitStack() as stack:
        try:
            stream = open_bytes(path, stack)
        except READ_ERRORS as error:
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
        except READ_ERRORS as error:
            raise InputError(f"the {what} file {name} cannot be read: {describe_os_error(error)}") from error
        if raw.strip() in {b"[", b"{"}:
            raise InputError(f"{name} holds JSON spread over several lines; put each {what} on one line (JSON Lines)")
        yield _MARK
        yield _decode(raw, f"{name}:{number}")
        try:
            for number, raw in numbered:
                if not _is_blank(raw):
                    yield _decode(raw, f"{name}:{number}")
        except READ_ERRORS as error:
            reason = f"the file breaks off here: {describe_os_error(error)}"
            yield Line(f"{name}:{number + 1}", None, reason, ended=True)


def _check_encoding(first: bytes, name: str) -> None:
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in first[:4]:
        raise InputError(f"{name} is not UTF-8 but looks like UTF-16 or UTF-32; save it as UTF-8")


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
