"""Rows as JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

__all__ = ["to_ascii", "to_bytes"]


def to_bytes(row: Mapping[str, Any]) -> bytes:
    """Return a row as one line of UTF-8, without its line break.

    Numbers that are not finite become null, whole numbers of more than 4,200 digits text.

    Raises
    ------
    TypeError
        For a value that JSON has no words for.
    """
    try:
        return _dumps(row, ascii_only=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, such as in the path of a file whose name is not UTF-8
        return to_ascii(row).encode()


def to_ascii(row: Mapping[str, Any]) -> str:
    """Return a row with escapes for all that is not ASCII."""
    return _dumps(row, ascii_only=True)


def _dumps(row: Mapping[str, Any], *, ascii_only: bool) -> str:
    try:
        return json.dumps(dict(row), ensure_ascii=ascii_only, allow_nan=False, default=_default)
    except ValueError:
        return json.dumps(_plain(row), ensure_ascii=ascii_only, allow_nan=False)


def _default(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return value.tolist()
    raise TypeError(f"a row cannot hold a {type(value).__name__}")


def _plain(value: Any) -> Any:
    """Replace what JSON cannot hold: numbers that are not finite, and those too long for Python to print."""
    match value:
        case None | bool() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case int():
            # Of any size as digits in a string; json would refuse more than 4300 of them.
            return value if value.bit_length() < 14_000 else str(Decimal(value))
        case list() | tuple():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
    return _plain(_default(value))
