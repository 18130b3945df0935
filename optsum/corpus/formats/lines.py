"""JSON Lines files: each line decoded, or refused by itself."""

from __future__ import annotations

import codecs
import json
import math
import sys
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from optsum.system.files import READ_ERRORS, describe_os_error


class Line(NamedTuple):
    """One line of a file that is not blank."""

    source: str
    """``file:line``, lines counted from 1; the standard input is ``<stdin>``."""
    value: Any
    """The decoded JSON; None if there is an error."""
    error: str | None = None
    """Why the line cannot be used."""
    ended: bool = True
    """Whether a line break follows; a row that was not written to its end has none."""


class RawLine(NamedTuple):
    """One line of a file that is not blank, as it stands there."""

    raw: bytes
    source: str
    """As of a `Line`."""


def decoded(line: Line | RawLine) -> Line:
    """Return a line decoded, if it is not yet."""
    return decode(line.raw, line.source) if isinstance(line, RawLine) else line


def raw_lines(lines: Iterator[tuple[int, bytes]], name: str) -> Iterator[Line | RawLine]:
    """Yield the lines of a file that are not blank; only one at which it breaks off is more than bytes.

    Parameters
    ----------
    lines : iterator of (number, bytes)
    name : str
        Of the file, for messages.
    """
    number = 0
    try:
        for number, raw in lines:
            if not is_blank(raw):
                yield RawLine(raw, f"{name}:{number}")
    except READ_ERRORS as error:
        yield broken_off(error, name, number + 1)


def broken_off(error: Exception, name: str, number: int) -> Line:
    """Return the last line of a file that cannot be read to its end."""
    return Line(f"{name}:{number}", None, f"the file breaks off here: {describe_os_error(error)}")


def bad_topic(source: str, name: str, error: str) -> Line:
    """Return the line of a topic that cannot be used, whose name is known."""
    return Line(source, {"id": name, "status": "error", "error": error})


# One line.


class NotJSONError(ValueError):
    """What Python's decoder would let pass."""


def is_blank(raw: bytes) -> bool:
    """Return whether a line holds white space only; a byte order mark is some."""
    return raw.isspace() or not raw.removeprefix(codecs.BOM_UTF8).strip()


def _constant(name: str) -> float:
    raise NotJSONError(f"{name} is no JSON number; write null")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise NotJSONError(f"the number {digits:.40} is too large")
    return value


DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_constant)
"""Of JSON as the standard has it: no NaN, and no number beyond the range of floating point."""


def decode(raw: bytes, source: str) -> Line:
    """Return a line, or why it cannot be used."""
    try:
        # Files put together by "cat" have byte order marks inside.
        value = DECODER.decode(raw.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n").decode())
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} (0x{error.object[error.start]:02x}) is not UTF-8; save the file as UTF-8"
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg.lower().removesuffix(' at')} at character {error.pos + 1}"
    except RecursionError:
        reason = "the JSON is nested too deeply"
    except NotJSONError as error:
        reason = str(error)
    except ValueError:
        reason = f"a whole number has more than {sys.get_int_max_str_digits()} digits"
    else:
        return Line(source, value, None, raw.endswith(b"\n"))
    return Line(source, None, reason, raw.endswith(b"\n"))
