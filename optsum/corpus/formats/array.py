"""A JSON array of objects, read without holding all of it."""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator

from optsum.corpus.formats.lines import DECODER, Line, NotJSONError, broken_off
from optsum.system.files import READ_ERRORS

_BLANK = " \t\r\n"


def array_records(lines: Iterator[tuple[int, bytes]], name: str) -> Iterator[Line]:
    """Yield the items of an array, each with ``file:number`` as its source, counted from 1.

    What is no JSON ends the reading with a line that says so: nobody knows where the next item begins.

    Parameters
    ----------
    lines : iterator of (number, bytes)
        UTF-8; the first begins with the bracket.
    name : str
        Of the file, for messages.
    """
    pieces = _Pieces(lines)
    number = 0
    try:
        pieces.skip("[")
        if pieces.next_sign() == "]":
            pieces.skip("]")
        else:
            while True:
                number += 1
                yield Line(f"{name}:{number}", pieces.value())
                if pieces.next_sign() == "]":
                    pieces.skip("]")
                    break
                pieces.skip(",")
        if pieces.next_sign():
            yield _bad(name, number + 1, "something follows the end of the JSON array")
    except json.JSONDecodeError as error:
        yield _bad(name, max(number, 1), f"not JSON: {error.msg.lower().removesuffix(' at')}; the array ends here")
    except UnicodeDecodeError:
        yield _bad(name, max(number, 1), "this is not UTF-8; save the file as UTF-8")
    except RecursionError:
        yield _bad(name, max(number, 1), "the JSON is nested too deeply")
    except NotJSONError as error:
        yield _bad(name, max(number, 1), str(error))
    except READ_ERRORS as error:
        yield broken_off(error, name, number + 1)


def _bad(name: str, number: int, reason: str) -> Line:
    return Line(f"{name}:{number}", None, reason)


class _Pieces:
    """The text of an array, of which as much is held as the value under way needs."""

    def __init__(self, lines: Iterator[tuple[int, bytes]]) -> None:
        self._lines = lines
        self._decoder = getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0

    def _more(self, least: int = 1) -> bool:
        """Read on by about as many characters, and return whether there was anything."""
        found: list[str] = []
        size = 0
        for _, raw in self._lines:
            found.append(self._decoder.decode(raw))
            size += len(found[-1])
            if size >= least:
                break
        self._text, self._at = self._text[self._at :] + "".join(found), 0
        return size > 0

    def next_sign(self) -> str:
        """Return the next character that is no blank, without passing it; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
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
            except (json.JSONDecodeError, NotJSONError):
                # It may be that it only ends on a later line; twice as much each time, so that the work is linear.
                if not self._more(len(self._text) - self._at):
                    raise
                continue
            if end == len(self._text) and self._more():  # a number may go on
                continue
            self._at = end
            return value
