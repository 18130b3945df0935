"""Values that are no plain number or text: options of simple kinds that only a solver knows, and amounts of memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

__all__ = ["OWN_OPTIONS_SCHEMA", "OwnOptions", "Scalar", "own_options"]

Scalar: TypeAlias = bool | int | float | str

OwnOptions: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Name and value, sorted by name: what can be compared and hashed."""

OWN_OPTIONS_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": {"type": ["boolean", "integer", "number", "string"]},
}
"""As a file has them: a table."""


def own_options(given: Any) -> OwnOptions:
    """Return options given as a mapping, as pairs, or as texts ``name=value``.

    Raises
    ------
    ValueError
        If it is none of them, a name comes twice, or a value is a list or a table.

    Examples
    --------
    >>> own_options(["presolve=off", "mip_max_leaves=30"])
    (('mip_max_leaves', 30), ('presolve', 'off'))
    """
    if isinstance(given, Mapping):
        items: list[Any] = list(given.items())
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError("give it as name=value, or as a table of names and values")  # noqa: TRY004 - pydantic's way
    else:
        items = [_split(item) if isinstance(item, str) else item for item in given]
    found: dict[str, Scalar] = {}
    for item in items:
        if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], str) or not item[0]:
            raise ValueError("give it as name=value, or as a table of names and values")
        name, value = item
        if not isinstance(value, bool | int | float | str):
            raise ValueError(f"the value of {name} should be a number, a text, true or false")  # noqa: TRY004
        if name in found:
            raise ValueError(f"{name} is given twice")
        found[name] = value
    return tuple(sorted(found.items()))


def _split(text: str) -> tuple[str, Scalar]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise ValueError(f"give it as name=value, not as {text!r}")
    return name.strip(), _value(value.strip())


def _value(text: str) -> Scalar:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


LEAST_MEMORY: Final = 500_000_000
"""Bytes without which a process is not ready for any topic: kernels and a solver are loaded."""

_UNITS: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
}
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?i?)b?", re.ASCII | re.IGNORECASE)


def parse_size(text: str) -> int:
    """Return a number of bytes.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> parse_size("2GB"), parse_size("1.5 GiB")
    (2000000000, 1610612736)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError("give a number and a unit, such as 2GB or 512MB")
    return int(float(match[1]) * _UNITS[match[2].lower()])
