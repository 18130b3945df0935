"""JSON Lines, with lines decoded or refused separately, and a JSON array of objects, read piece by piece."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import DEFAULT_BUFFER_SIZE, BufferedReader, BytesIO, FileIO
from itertools import groupby
from typing import Any, Final, NamedTuple

from optsum.corpus.sentences import well_formed
from optsum.errors import InputError
from optsum.system.files import READ_ERRORS, PathLike, describe_os_error


class Line(NamedTuple):
    """One line of a file that is not blank."""

    source: str  # ``file:line``, lines counted from 1; the standard input is ``<stdin>``.
    value: Any  # The decoded JSON; None if there is an error.
    error: str | None = None  # Why the line cannot be used.
    ended: bool = True  # Whether a line break follows; a row that was not written to its end has none.


class RawLines(NamedTuple):
    """Lines of a file that are not blank, as they stand there."""

    raws: Sequence[bytes]
    numbers: Sequence[int]  # Of each in the file, from 1.
    name: str  # Of the file.


LONGEST: Final = 1 << 28
"""Limit of the bytes of a line, or of an item of an array: some forty million words. A longer one may never end."""


class NumberedLines(Iterator[tuple[int, bytes]]):
    """Iterates over the lines of a stream with their numbers, from 1; a very long one raises an `InputError`."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream, self._held = stream, b""
        self.passed = 0  # How many lines were passed over or yielded.

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
        """Return the lines that are there at once, none at the end; one that is too long is longer than `LONGEST`."""
        parts, self._held = [self._held], b""
        # What unpacks a damaged archive loses all that it was asked for at once.
        size = _SEVERAL if isinstance(self._stream.raw, FileIO) else DEFAULT_BUFFER_SIZE
        while b"\n" not in parts[-1] and (more := self._stream.read1(size)):
            if sum(map(len, parts[:-1])) <= LONGEST:
                parts.append(more)
            else:
                parts[-1] = more
        block = b"".join(parts)
        end = block.rfind(b"\n") + 1 or len(block)
        self._held = block[end:]  # without a call for the rest of the line, which would fill a small buffer
        found = BytesIO(block[:end]).readlines()
        self.passed += len(found)
        return found

    def begin(self) -> bytes:
        """Return the first line that is not blank, or as much as is read at once, without consuming it."""
        self.skip_blank()
        while (raw := self._stream.readline(LONGEST)) and is_blank(raw):
            self.passed += raw.endswith(b"\n")
            self.skip_blank()
        self._held = raw
        return raw

    def skip_blank(self) -> None:
        """Skip the blank lines that follow all at once, because a small archive may contain millions."""
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
        """Yield the rest of the stream in blocks, without splitting lines."""
        if self._held:
            yield self._held
            self._held = b""
        while block := self._stream.read1(_BLOCK):
            yield block


def _too_long() -> str:
    return f"the line is longer than {LONGEST >> 20} MiB"


_BLOCK: Final = 1 << 16

_SEVERAL: Final = 1 << 19  # Bytes of lines that are read at once, if so many are there.


class Cells(dict[str, Any]):
    """A row of a table, in which a text that begins like a list or an object of JSON is decoded."""

    typed = True  # Whether cells have kinds, or are text, all of them.

    def record(self) -> dict[str, Any]:
        """Return the row without the empty cells that a topic or a summary does not need."""
        found = {name: value if name in _NAMES else unpacked(value, f"the cell {name}") for name, value in self.items()}
        return {name: value for name, value in found.items() if name not in _OPTIONAL or value not in (None, "")}


class TextCells(Cells):
    """A row of a table of text."""

    typed = False


_NAMES: Final = {"id", "topic_id", "system"}
_OPTIONAL: Final = {"id", "topic_id", "cover", "parses", "meta", "vectors", "selection", "human"}


def decoded(found: Iterable[Any], how: Callable[[bytes, str], Line] | None = None) -> Iterator[Any]:
    """Yield the lines among what was found decoded by `decode`, or as `how` does it, and anything else as it is."""
    for each in found:
        if isinstance(each, RawLines):
            yield from map(how or decode, each.raws, (f"{each.name}:{number}" for number in each.numbers))
        else:
            yield each


def raw_lines(lines: NumberedLines, name: str) -> Iterator[Line | RawLines]:
    """Yield the lines of a file that are not blank, together those that are there at once; why one cannot be read."""
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
    """Return the error line of a file that cannot be read to its end."""
    return Line(f"{name}:{number}", None, f"the file breaks off here: {describe_os_error(error)}")


def bad_topic(source: PathLike, name: str, error: str) -> Line:
    """Return the line of an unusable topic whose name is known."""
    return Line(well_formed(str(source)), {"id": name, "status": "error", "error": error})


BY_RETURNS: Final = "its lines end with carriage returns only, as on old Macs; save it with line feeds"


def ends_by_returns(first: bytes) -> bool:
    """Return whether a file's first line is the whole file because its lines end with carriage returns alone."""
    return not first.endswith(b"\n") and b"\r" in first.strip()


# One line.


def is_blank(raw: bytes) -> bool:
    """Return whether a line has only white space; a byte order mark counts as white space."""
    if raw.startswith(codecs.BOM_UTF8):
        return not raw.removeprefix(codecs.BOM_UTF8).strip()
    return not raw or raw.isspace()  # a long line is not copied


def _constant(name: str) -> float:
    raise InputError(f"{name} is not a JSON number; write null")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise InputError(f"the number {digits:.40} is too large")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"an object has the key {json.dumps(twice):.80} twice; write each key once")
    return found


DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_float=_finite, parse_constant=_constant)
"""Strict JSON decoder: no NaN, no number beyond the range of floating point, and no repeated key in an object."""


def text_of(raw: bytes) -> str:
    """Return the text of a line; files joined by "cat" have byte order marks inside."""
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise InputError(f"{place} is not UTF-8; save the file as UTF-8") from error


def decode(raw: bytes, source: str) -> Line:
    """Return a line decoded, or why it cannot be used."""
    try:
        value = DECODER.decode(text_of(raw.rstrip(b"\r\n")))
    except json.JSONDecodeError as error:
        reason = f"{_not_json(error)} at character {error.pos + 1}"
    except (InputError, RecursionError) as error:
        reason = _not_json(error)
    except ValueError:
        reason = f"a whole number has more than {sys.get_int_max_str_digits()} digits"
    else:
        return Line(source, value, None, raw.endswith(b"\n"))
    return Line(source, None, reason, raw.endswith(b"\n"))


def unpacked(value: Any, where: str) -> Any:
    """Return the list or object in a JSON text; anything else unchanged."""
    if not isinstance(value, str) or not value[:64].lstrip().startswith(("[", "{")):
        return value
    found = decode(value.encode("utf-8", "replace"), "")
    if found.error is None:
        return found.value
    if "".join(value[:64].split())[:2] in {"['", '["', "[[", "[]"}:
        raise InputError(f"{where} begins as a list and is {found.error}; write lists as JSON")
    return value  # a text such as [Laughter]


_BLANKS: Final = re.compile(r"[ \t\r\n]*")


def array_records(lines: NumberedLines, name: str) -> Iterator[Line]:
    """Yield the items of an array, with ``file:number`` as source; invalid JSON ends it with an error line."""
    pieces = _Pieces(lines.blocks())
    number = 0
    try:
        pieces.skip("[")
        while pieces.next_sign() != "]":
            if number:
                pieces.skip(",")
            number += 1
            yield Line(f"{name}:{number}", pieces.value())
        pieces.skip("]")
        if not pieces.next_sign():
            return
        number, reason = number + 1, "something follows the end of the JSON array"
    except json.JSONDecodeError as error:
        reason = f"{_not_json(error)}; the array ends here"
    except UnicodeDecodeError:
        reason = "this is not UTF-8; save the file as UTF-8"
    except (RecursionError, InputError) as error:
        reason = _not_json(error)
    except READ_ERRORS as error:
        yield broken_off(error, name, number + 1)
        return
    yield Line(f"{name}:{max(number, 1)}", None, reason)


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg.lower().removesuffix(' at')}"
    return "the JSON is nested too deeply" if isinstance(error, RecursionError) else str(error)


class _Pieces:
    """The text of an array, of which only the current value is held in memory."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._decoder = getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0

    def _more(self, least: int = 1) -> bool:
        """Read about that many more characters, and return whether there were any."""
        if len(self._text) - self._at > LONGEST:
            raise InputError(f"the item is longer than {LONGEST >> 20} MiB, or no JSON")
        found: list[str] = []
        size = 0
        for block in self._blocks:
            found.append(self._decoder.decode(block))
            size += len(found[-1])
            if size >= least:
                break
        self._text, self._at = self._text[self._at :] + "".join(found), 0
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

    def value(self) -> object:
        self.next_sign()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (json.JSONDecodeError, InputError):
                # It may be that it only ends on a later line; twice as much each time, so that the work is linear.
                if not self._more(len(self._text) - self._at):
                    raise
                continue
            if end == len(self._text) and self._more():  # a number may go on
                continue
            self._at = end
            return value
