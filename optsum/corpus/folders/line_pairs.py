"""Topics from two files, line by line: sources in one, summaries in the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Final

from optsum.corpus.formats.columns import Columns
from optsum.corpus.formats.lines import Line, bad_topic, broken_off
from optsum.errors import InputError
from optsum.system.files import READ_ERRORS, PathLike, describe_os_error, open_bytes

__all__ = ["line_pair", "pair_topics"]

_COUNTERPARTS: Final = {
    "source": ("target",),
    "src": ("tgt",),
    "article": ("highlights", "abstract", "summary"),
    "articles": ("highlights", "abstracts", "summaries"),
    "document": ("summary", "reference"),
    "documents": ("summaries", "references"),
    "text": ("summary",),
}
"""Words in the names of two files that belong together."""

_COLUMNS: Final = Columns({"documents": ("source",), "references": ("target",)})


def line_pair(path: PathLike) -> tuple[Path, Path] | None:
    """Return the two files that a path means: ``SOURCES,SUMMARIES``, or a file with a counterpart beside it.

    A counterpart has the same name but for one word: ``train.source`` and ``train.target``, ``val.src.txt`` and
    ``val.tgt.txt``, ``articles.txt.gz`` and ``highlights.txt.gz``. Files that hold JSON are no such pair.
    """
    name = str(path)
    if not Path(name).exists() and name.count(",") == 1:
        source, target = map(Path, name.split(","))
        return (source, target) if source.is_file() and target.is_file() else None
    if name == "-" or not Path(name).is_file():
        return None
    words = re.split(r"([^A-Za-z]+)", Path(name).name)
    for place, word in enumerate(words):
        for other in _COUNTERPARTS.get(word.lower(), ()):
            beside = Path(name).with_name("".join([*words[:place], other, *words[place + 1 :]]))
            if beside.is_file() and _is_text(Path(name)) and _is_text(beside):
                return Path(name), beside
    return None


def _is_text(path: Path) -> bool:
    """Whether a file begins as plain text, and not as JSON, Parquet or SGML."""
    try:
        with ExitStack() as stack:
            begin = open_bytes(path, stack).read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    except READ_ERRORS:
        return False
    return not begin.startswith((b"{", b'["', b"[{", b"[[", b"PAR1", b"<DOC", b"<SUM"))


def pair_topics(pair: tuple[Path, Path], language: str = "en") -> Iterator[Line]:
    """Return a topic for each two lines, called by its number from 0.

    A line is raw text, or has marks between its sentences or documents (`optsum.corpus.formats.marks`).

    Raises
    ------
    InputError
        At once, if one of the files cannot be opened.
    """
    stack = ExitStack()
    streams = []
    for path in pair:
        try:
            streams.append(open_bytes(path, stack))
        except READ_ERRORS as error:
            stack.close()
            raise InputError(f"the file {path} cannot be opened: {describe_os_error(error)}") from error
    return _topics(pair, streams[0], streams[1], stack, language)


def _topics(
    pair: tuple[Path, Path], sources: Iterator[bytes], targets: Iterator[bytes], stack: ExitStack, language: str
) -> Iterator[Line]:
    number = 0
    with stack:
        try:
            for number, (source, target) in enumerate(zip_longest(sources, targets)):
                yield _line(pair, number, source, target, language)
        except READ_ERRORS as error:
            yield broken_off(error, str(pair[0]), number + 1)


def _line(pair: tuple[Path, Path], number: int, source: bytes | None, target: bytes | None, language: str) -> Line:
    texts = {}
    for name, path, other, raw in (("source", *pair, source), ("target", *pair[::-1], target)):
        where = f"{path}:{number + 1}"
        if raw is None:
            return bad_topic(where, str(number), f"there is no line {number + 1} here, but one in {other}")
        try:
            texts[name] = raw.decode("utf-8-sig" if number == 0 else "utf-8").strip()
        except UnicodeDecodeError as error:
            reason = f"byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8; save the file as UTF-8"
            return bad_topic(where, str(number), reason)
    (topic,) = _COLUMNS.topics(texts, number, language)
    return Line(f"{pair[0]}:{number + 1}", topic)
