"""The options of side constraints, read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from optsum.corpus.topic import as_id
from optsum.errors import InputError, OptionError
from optsum.problem.sides import Sides

Cliques = dict[str, tuple[tuple[int, ...], ...]]


def listed_numbers(value: Any) -> str:
    """Return numbers of sentences as the text ``0,3``, from such a text or a list.

    Raises
    ------
    ValueError
        If it is none.
    """
    items = value.split(",") if isinstance(value, str) else value
    if isinstance(items, int) and not isinstance(items, bool):
        items = [items]
    if not isinstance(items, Iterable):
        raise ValueError("give numbers of sentences, such as 0,3")  # noqa: TRY004 - pydantic's way
    texts = [str(item).strip() for item in items]
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in texts):
        raise ValueError("give numbers of sentences, such as 0,3")
    return ",".join(texts)


def sides_of(options: Mapping[str, Any]) -> Sides:
    """Return the side constraints that options ask for, by name.

    Raises
    ------
    OptionError
        If the file of exclusive sentences cannot be read.
    """
    return Sides(
        max_sentences=options["max_sentences"],
        max_characters=options["max_characters"],
        per_document=options["per_document"],
        require=_numbers(options["require"]),
        forbid=_numbers(options["forbid"]),
        exclusive=exclusive_of(options["exclusive"]),
    )


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if text else ()


def exclusive_of(text: str | None) -> Fraction | Cliques | None:
    """Return a similarity, exactly as it is written, or what a file says by topic; `OptionError` for neither."""
    if text is None:
        return None
    try:
        least = Fraction(0) if text.strip().lower().lstrip("+-") in {"nan", "inf", "infinity"} else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return _read(text)
    if not 0 < least <= 1:
        raise OptionError(f"Sentences are exclusive from a similarity above 0, up to 1, on, not {text}.")
    return least


@lru_cache(maxsize=8)
def _read(path: str) -> Cliques:
    """Read JSON Lines: ``{"id": "t1", "exclusive": [[0, 4], [2, 3, 7]]}``."""
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise OptionError(f"The file of exclusive sentences {path!r} cannot be read: {why}.") from None
    found: Cliques = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            name, cliques = _entry(line, f"{path}:{number}")
            if name in found:
                raise OptionError(f"{path}:{number}: the topic {name!r} comes twice among the exclusive sentences.")
            found[name] = cliques
    return found


def _entry(line: str, where: str) -> tuple[str, tuple[tuple[int, ...], ...]]:
    try:
        data = json.loads(line)
        name = as_id(data["id"], "the id of a topic")
        cliques = tuple(tuple(clique) for clique in data["exclusive"])
    except (ValueError, TypeError, KeyError, RecursionError, InputError):
        raise OptionError(
            f'{where}: exclusive sentences are an object such as {{"id": "t1", "exclusive": [[0, 4]]}}.'
        ) from None
    return name, cliques
