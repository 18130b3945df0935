"""Options in a TOML file, read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from optsum.errors import OptionError, unknown_name
from optsum.system.files import parse_toml, read_text


def read_table(path: str | Path, known: Collection[str]) -> dict[str, Any]:
    """Read options by name; hyphens and underscores in names are the same.

    The table ``[backend]`` with its ``name`` and its table ``options`` is the same as ``backend`` and
    ``backend_options``.
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
        own = dict(options.pop("backend"))
        if "options" in own and "backend_options" in options:
            raise OptionError(
                f"The configuration {path} has options of the solver in two places, backend_options and [backend]: "
                "leave one of them out."
            )
        options |= {name: own.pop(key) for key, name in _OF_BACKEND.items() if key in own}
        if own:
            raise OptionError(f"{path}: {unknown_name('key of [backend]', next(iter(own)), _OF_BACKEND)}")
    return options


_OF_BACKEND: Final = {"name": "backend", "options": "backend_options"}


def check_kinds(model: type[BaseModel], options: Mapping[str, Any], path: str | Path) -> None:
    """Refuse values of the wrong kind, naming the file: fractions for whole numbers, and texts for any number."""
    try:
        model.model_validate({name: options[name] for name in options if name in model.model_fields}, strict=True)
    except ValidationError as error:
        raise OptionError(f"{path}: {sentence_of(error, model, in_file=True)}") from None


def sentence_of(error: ValidationError, model: type[BaseModel], *, in_file: bool = False) -> str:
    """Return a sentence about a wrong value and the allowed values; a file names options without dashes."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    own = first["type"] == "value_error"
    reason = first["msg"].removeprefix("Value error, ") if own else f"give {_wanted(model, name, first['type'])}"
    flag = name.replace("_", "-")
    option = flag if in_file else f"--{flag.removesuffix('s') if flag.endswith('-options') else flag}"
    value = first["input"]
    near = get_close_matches(value, _words(model, name), n=1) if isinstance(value, str) else []
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"The option {option} cannot be {value!r:.80}: {reason}{hint}"


_FAR: Final = 10**9
_KINDS: Final = {"boolean": "true or false", "object": "a table", "array": "a list", "string": "a text"}


def _alternatives(model: type[BaseModel], name: str) -> list[dict[str, Any]]:
    schema = model.model_json_schema()["properties"].get(name, {})
    return [each for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]


def _words(model: type[BaseModel], name: str) -> list[str]:
    found = [each.get("enum", [each["const"]] if "const" in each else []) for each in _alternatives(model, name)]
    return [str(word) for words in found for word in words]


def _wanted(model: type[BaseModel], name: str, fault: str) -> str:
    """Describe the allowed values of an option; mention very large limits only if they are exceeded."""
    wanted = []
    for each in _alternatives(model, name):
        kind = "a whole number" if each.get("type") == "integer" else "a number"
        least, most = each.get("minimum"), each.get("maximum")
        if "enum" in each or "const" in each:
            continue
        if each.get("type") not in {"integer", "number"}:
            wanted.append(_KINDS.get(each.get("type", ""), "another"))
        elif most is not None and (most < _FAR or fault == "less_than_equal"):
            wanted.append(f"{kind} from {least:,} to {most:,}")
        else:
            wanted.append(kind if least is None else f"{kind} of at least {least:g}")
    *others, last = [*wanted, *_words(model, name)]
    return f"{', '.join(others)} or {last}" if others else last


def toml_of(options: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Return options as TOML from which the same options are read.

    `options`: None means "not given" and becomes a comment; tables come last. `comments`: the description of each.
    """
    lines: list[str] = []
    tables: list[str] = []
    for name, value in options.items():
        key = name.replace("_", "-")
        said = f"  # {comments[name]}" if comments and name in comments else ""
        if isinstance(value, Mapping):
            own = (f"{each if _BARE.fullmatch(each) else _value(each)} = {_value(one)}" for each, one in value.items())
            tables += ["", f"[{key}]{said}", *own]
        elif value is None:
            lines.append(f"# {key} is not set{said}")
        else:
            lines.append(f"{key} = {_value(value)}{said}")
    return "\n".join([*lines, *tables]) + "\n"


_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")  # A key that needs no quotes.


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        # What JSON escapes, TOML reads in the same way; it alone also escapes the character 127.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
