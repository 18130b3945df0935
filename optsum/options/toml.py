"""Options in a TOML file, read and written."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from optsum.errors import OptionError, unknown_name
from optsum.system.files import parse_toml, read_text


def read_table(path: str | Path, known: Collection[str]) -> dict[str, Any]:
    """Read options by name; hyphens and underscores in names are the same.

    The table ``[backend]`` with its ``name`` and its table ``options`` is the same as ``backend`` and
    ``backend_options``.

    `known`: the names that there may be.
    """
    text = read_text(path, "the configuration", error=OptionError)
    table = parse_toml(text, f"the configuration {path}", error=OptionError)
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name in options:
            raise OptionError(f"The configuration {path} sets {name} twice.")
        if name not in known:
            raise OptionError(f"{path}: {unknown_name('option', key, known)}")
        options[name] = value
    if isinstance(options.get("backend"), dict):
        _spread_backend(options, path)
    return options


def _spread_backend(options: dict[str, Any], path: str | Path) -> None:
    table = dict(options.pop("backend"))
    if "options" in table and "backend_options" in options:
        raise OptionError(f"The configuration {path} sets backend_options twice.")
    for key, name in (("name", "backend"), ("options", "backend_options")):
        if key in table:
            options[name] = table.pop(key)
    for key in table:
        raise OptionError(f"{path}: {unknown_name('key of [backend]', key, ['name', 'options'])}")


def check_kinds(model: type[BaseModel], options: Mapping[str, Any], path: str | Path) -> None:
    """Refuse texts and fractions for numbers, and numbers for true and false: a file has kinds of its own."""
    try:
        model.model_validate({name: options[name] for name in options if name in model.model_fields}, strict=True)
    except ValidationError as error:
        for each in error.errors():
            if each["type"] in {"int_type", "float_type", "bool_type"}:
                raise OptionError(f"{path}: {sentence_of(each)}") from None


def sentence_of(error: ErrorDetails) -> str:
    """Return what is wrong with an option's value."""
    reason = error["msg"].removeprefix("Value error, ")
    return f"The option {error['loc'][0]} cannot be {error['input']!r:.80}: {reason[:1].lower()}{reason[1:]}."


def toml_of(options: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return options as TOML that reads back to the same.

    `options`: none stands for "not given", and becomes a comment; tables come last. `comments`: what each of them is.
    """
    lines: list[str] = []
    tables: list[str] = []
    for name, value in options.items():
        key = name.replace("_", "-")
        said = f"  # {comments[name]}" if comments and name in comments else ""
        if isinstance(value, Mapping):
            tables += ["", f"[{key}]{said}", *(f"{_key(each)} = {_value(one)}" for each, one in value.items())]
        elif value is None:
            lines.append(f"# {key} is not set{said}")
        else:
            lines.append(f"{key} = {_value(value)}{said}")
    return "\n".join([*lines, *tables]) + "\n"


def _key(name: str) -> str:
    plain = all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in name)
    return name if name and plain else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # What JSON escapes, TOML reads in the same way; it alone also escapes the character 127.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
