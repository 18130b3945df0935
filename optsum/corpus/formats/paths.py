"""Where a value stands in a record: names joined by dots, through lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from optsum.corpus.sentences import json_type
from optsum.errors import InputError, OptionError

Path = tuple[str, ...]
"""Names, and ``"[]"`` for "a topic of each item", ``"[*]"`` for "all items"."""

_STEP = re.compile(r"([^.\[\]]+)((?:\[\*?\])*)")


def parse_path(text: str) -> Path:
    """Return the steps of a path such as ``questions[].responses[*].text``.

    Raises
    ------
    OptionError
        If it is none.

    Examples
    --------
    >>> parse_path("questions[].responses[*].text")
    ('questions', '[]', 'responses', '[*]', 'text')
    """
    steps: list[str] = []
    for piece in text.split("."):
        found = _STEP.fullmatch(piece.strip())
        if found is None:
            raise OptionError(
                f"{text!r} is no path to a field: join names by dots; behind the name of a list [] makes a topic of "
                "each item, and [*] takes all items"
            )
        steps += [found[1], *re.findall(r"\[\*?\]", found[2])]
    if steps.count("[]") > 1:
        raise OptionError(f"{text!r} makes topics of the items of two lists: use [] once, and [*] for the other")
    return tuple(steps)


def split_at(path: Path) -> tuple[Path, Path] | None:
    """Return what stands before and behind ``[]``; None for a path without."""
    if "[]" not in path:
        return None
    at = path.index("[]")
    return path[:at], path[at + 1 :]


def value_at(record: Any, path: Path) -> Any:
    """Return what stands at a path without ``[]``; None where a name is missing.

    Raises
    ------
    InputError
        If a step leads through something else than an object or a list.
    """
    value = record
    for place, step in enumerate(path):
        if value is None:
            return None
        if step == "[*]":
            if not isinstance(value, list | tuple):
                raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and [*] asks for a list")
            found = [value_at(item, path[place + 1 :]) for item in value]
            return [item for each in found for item in each] if "[*]" in path[place + 1 :] else found
        if not isinstance(value, Mapping):
            raise InputError(f"{'.'.join(path[:place])} is {json_type(value)}, and has no field {step!r}")
        value = value.get(step)
    return value
