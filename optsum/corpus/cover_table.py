"""Alternatives from a plain text table, as Table 1 of Hirao et al. 2004 (TSC3) has them.

A line is the id of an abstract sentence and its alternatives, separated by blanks or tabs::

    Sentence ID of Abstract   Set of Corresponding Sentences
    1                         {s1} ∪ {s10, s11}
    2                         {s3, s5, s6}

An alternative stands in braces, or, as the paper describes the files of the challenge ("an ASCII space is the delimiter
for the sets"), without them, as in ``1 s1 s10,s11``. A sign of union or disjunction between alternatives (⊔ ∪ ∨ | or)
is passed over, and so are blank lines, lines that begin with "#" and the heading above. A line without alternatives is
an abstract sentence that nothing covers. The LaTeX of the paper's table is read too. `optsum.read_topics`, and so every
command, takes a file of this kind if its name ends in ``.txt`` or ``.tsv``.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from optsum.corpus.topic import Topic, as_topic
from optsum.errors import InputError
from optsum.files import PathLike, read_text

__all__ = ["is_cover_table", "parse_cover_table", "read_cover_table"]

_SIGNS = {"⊔", "∪", "∨", "|", "or", "OR"}
_ENDINGS = {".txt", ".tsv"}
_OTHER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEADING = re.compile(r"^\W*sentence\s+id\b", re.IGNORECASE)
_BARE = re.compile(r"[^\s{,]+(?:\s*,\s*[^\s{,]*)*")
_LATEX = [(r"\\(?:sqcup|cup|vee|lor)\b", "∪"), (r"\\([{}])", r"\1"), (r"_\{(\w+)\}|_(\w)", r"\1\2"), (r"\$", "")]


def is_cover_table(path: PathLike) -> bool:
    """Return whether a file looks like a table: named ``.txt`` or ``.tsv``, and neither JSON, markup nor compressed."""
    if Path(path).suffix.lower() not in _ENDINGS:
        return False
    try:
        with Path(path).open("rb") as file:
            start = file.read(4096)
    except (OSError, ValueError):  # whoever reads it will say why
        return False
    start = start.removeprefix(codecs.BOM_UTF8).lstrip()
    return bool(start) and not start.startswith((b"{", b"[", b"<", b"\x1f\x8b", *_OTHER_MARKS))


def read_cover_table(path: PathLike, *, topic_id: str | None = None) -> Topic:
    """Read a file that holds one table.

    Parameters
    ----------
    path : str or path
        UTF-8.
    topic_id : str, optional
        By default the file's name without its ending.

    Returns
    -------
    Topic
        With a cover and no documents; ``meta["abstract_ids"]`` holds the ids of the abstract sentences.

    Raises
    ------
    InputError
        If the file cannot be read, or a line is no line of such a table; the message names file and line.
    """
    return parse_cover_table(read_text(path, "the table"), topic_id=topic_id or Path(path).stem, source=str(path))


def parse_cover_table(text: str, *, topic_id: str, source: str = "table") -> Topic:
    r"""Return the topic of a table's text; see `read_cover_table`.

    Examples
    --------
    >>> parse_cover_table("1 {s1} ∪ {s10, s11}\n2 s3,s5,s6", topic_id="t").cover
    ((('s1',), ('s10', 's11')), (('s3', 's5', 's6'),))
    """
    cover: dict[str, list[list[int | str]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#") or (not cover and _HEADING.match(line)):
            continue
        try:
            name, alternatives = _row(line)
        except ValueError as error:
            raise InputError(f"{source}:{number}: {error}.") from None
        if name in cover:
            raise InputError(f"{source}:{number}: abstract sentence {name} has a line already: put all sets on one.")
        cover[name] = alternatives
    if not cover:
        raise InputError(f"{source}: the table is empty: give a line for each abstract sentence.")
    obj: dict[str, Any] = {"id": topic_id, "cover": list(cover.values()), "meta": {"abstract_ids": list(cover)}}
    return as_topic(obj, source=source)


def _row(line: str) -> tuple[str, list[list[int | str]]]:
    """Return the id of an abstract sentence and its alternatives."""
    if "\\" in line or "$" in line:
        for pattern, plain in _LATEX:
            line = re.sub(pattern, plain, line)
    name, *rest = line.strip().split(maxsplit=1)
    if "{" in name or "," in name:
        raise ValueError(f"{name!r} is no id of an abstract sentence; begin each line with one")
    return name, [_alternative(piece) for piece in _pieces(rest[0] if rest else "")]


def _pieces(text: str) -> Iterator[str]:
    """Yield the text of each alternative."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if text[at] == "{":
            end = text.find("}", at)
            inner = text[at + 1 : end]
            if end < 0 or "{" in inner:
                raise ValueError("a brace is not closed; write a set as {s10, s11}")
            yield inner
            at = end + 1
            continue
        found = _BARE.match(text, at)
        word = found[0] if found else text[at]
        if word not in _SIGNS:
            yield word
        at += len(word)


def _alternative(piece: str) -> list[int | str]:
    names = [name.strip() for name in piece.split(",")]
    for name in names:
        if not name or re.search(r"[\s{}]", name):
            raise ValueError(f"the set {piece.strip()!r} is not made of ids with commas between them")
    return [int(name) if re.fullmatch(r"0|[1-9]\d{0,17}", name) else name for name in names]
