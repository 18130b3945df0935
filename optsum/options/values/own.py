"""Options that go through as they are: names that only a solver knows, with values of any simple kind."""

from __future__ import annotations

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
