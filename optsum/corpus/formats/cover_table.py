"""Alternatives from a plain text table like Table 1 of Hirao et al. 2004 (TSC3).

A line is the id of an abstract sentence and its alternatives, separated by blanks or tabs::

    Sentence ID of Abstract   Set of Corresponding Sentences
    1                         {s1} ∪ {s10, s11}
    2                         {s3, s5, s6}

An alternative is in braces, or without them, as in the files of the challenge: ``1 s1 s10,s11``. Signs of union or
disjunction (⊔ ∪ ∨ | or), blank lines, lines that begin with "#" and the heading are ignored. A line without
alternatives is an abstract sentence that nothing covers. The LaTeX source of the paper's table can be read too.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from optsum.corpus.topic import Topic, as_topic
from optsum.errors import InputError

_SIGNS = {"⊔", "∪", "∨", "|", "or", "OR"}
_HEADING = re.compile(r"^\W*sentence\s+id\b", re.IGNORECASE)
_BARE = re.compile(r"[^\s{,]+(?:\s*,\s*[^\s{,]*)*")
_PIECE = re.compile(rf"\{{([^{{}}]*)\}}|{_BARE.pattern}|\S")
_LATEX = [(r"\\(?:sqcup|cup|vee|lor)\b", "∪"), (r"\\([{}])", r"\1"), (r"_\{(\w+)\}|_(\w)", r"\1\2"), (r"\$", "")]


def is_cover_table(sample: bytes) -> bool:
    """Return whether text begins like a table: with its heading, sets in braces, or names with digits."""
    text = sample.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines or _HEADING.match(lines[0]):
        return bool(lines)
    if len(lines) > 1 and not text.endswith("\n"):
        lines.pop()  # it may be cut off
    return all(_begins_row(line) for line in lines) and any(len(line.split()) > 1 for line in lines)


def _begins_row(line: str) -> bool:
    name, *rest = line.replace("\\", " ").replace("$", " ").strip().split(maxsplit=1)
    if any(sign in line for sign in '<>="') or "{" in name or "," in name:  # markup
        return False
    words = _BARE.findall(rest[0]) if rest and "{" not in rest[0] else []
    return all(word in _SIGNS or all(any(map(str.isdigit, part)) for part in word.split(",")) for word in words)


def parse_cover_table(text: str, *, topic_id: str, source: str = "table") -> Topic:
    r"""Return the topic of a table: a cover, and the ids of the abstract sentences in ``meta["abstract_ids"]``.

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
    meta = {"abstract_ids": list(cover)}
    return as_topic({"id": topic_id, "cover": list(cover.values()), "meta": meta}, source=source)


def _row(line: str) -> tuple[str, list[list[int | str]]]:
    if "\\" in line or "$" in line:
        for pattern, plain in _LATEX:
            line = re.sub(pattern, plain, line)
    name, *rest = line.strip().split(maxsplit=1)
    if "{" in name or "," in name:
        raise ValueError(f"{name!r} is not the id of an abstract sentence; begin each line with one")
    return name, [_alternative(piece) for piece in _pieces(rest[0] if rest else "")]


def _pieces(text: str) -> Iterator[str]:
    for found in _PIECE.finditer(text):
        if found[0] == "{":
            raise ValueError("a brace is not closed; write a set as {s10, s11}")
        if found[0] not in _SIGNS:
            yield found[0] if found[1] is None else found[1]


def _alternative(piece: str) -> list[int | str]:
    names = [name.strip() for name in piece.split(",")]
    for name in names:
        if not name or re.search(r"[\s{}]", name):
            raise ValueError(f"the set {piece.strip()!r:.60} is not made of ids with commas between them")
    return [int(name) if re.fullmatch(r"0|[1-9]\d{0,17}", name) else name for name in names]
