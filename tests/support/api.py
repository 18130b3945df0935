"""Write the public API as lines of text: `python tests/support/api.py` makes `tests/api.txt`, which a test compares."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import optsum

FILE = Path(__file__).resolve().parent.parent / "api.txt"
HEAD = """\
# What users of optsum may rely on, and under which names and signatures: docs/reference/stability.md.
# Made by `python tests/support/api.py`. A line that changes here is a line in CHANGELOG.md.
"""
RETURN = ("compare", "rouge", "score", "study")
"""Functions that return a class of its own which has no public name."""
TYPED = ("Keywords", "ScoreKeywords")


def public_names() -> set[str]:
    """Return the names that `optsum` exports, those of `optsum.plugins` included."""
    return {*optsum.__all__, *(name for name in dir(import_module("optsum.plugins")) if name != "Registry")}


def lines() -> Iterator[str]:
    """Yield the lines of all public names with their signatures, attributes and keywords, sorted by name."""
    for name in sorted(public_names()):
        if name != "__version__":
            yield from described(f"optsum.{name}", getattr(optsum, name))
    testing = import_module("optsum.testing")
    for name in sorted(testing.__all__):
        yield from described(f"optsum.testing.{name}", getattr(testing, name))
    for name in RETURN:
        function = getattr(optsum, name)
        kind = inspect.unwrap(function).__globals__[_hint(inspect.signature(function).return_annotation)]
        yield from (line for line in described(kind.__name__, kind) if "__init__" not in line)  # made by optsum alone
    keywords = import_module("optsum.options.keywords")
    for name in TYPED:
        for keyword, hint in sorted(_keywords(getattr(keywords, name)).items()):
            yield f"{name}.{keyword}: {hint}"


def described(name: str, found: Any) -> Iterator[str]:
    """Yield the lines of one name: the signature of a function, the members of a class, or the type of a constant."""
    if isinstance(found, type):
        yield f"class {name}({', '.join(base.__name__ for base in found.__bases__)})"
        yield from (f"  {line}" for line in sorted(_members(found)))
    elif callable(found) and hasattr(found, "__name__"):
        yield f"{name}{signature(found)}"
    else:
        yield f"{name}: {type(found).__name__}"


def signature(function: Any) -> str:
    """Return the signature as the source writes it; of defaults, only literals are shown."""
    shown, star = [], False
    plain = as_written(function)
    for one in plain.parameters.values():
        prefix = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        if one.kind == one.KEYWORD_ONLY and not star:
            shown.append("*")
        star = star or one.kind in {one.KEYWORD_ONLY, one.VAR_POSITIONAL}
        hint = "" if one.annotation is one.empty else f": {_hint(one.annotation)}"
        shown.append(f"{prefix}{one.name}{hint}{_default(one.default)}")
    returned = plain.return_annotation
    return f"({', '.join(shown)})" + ("" if returned is inspect.Signature.empty else f" -> {_hint(returned)}")


def as_written(function: Any) -> inspect.Signature:
    """Return the signature in the source; `help` shows one in which ``**options`` is expanded."""
    shown = vars(function).pop("__signature__", None) if isinstance(function, types.FunctionType) else None
    try:
        return inspect.signature(function)
    finally:
        if shown is not None:
            function.__signature__ = shown


def _members(kind: type) -> Iterator[str]:
    """Yield the lines of the members that a class and its base classes in optsum define."""
    if issubclass(kind, Enum):
        yield from (f"{member.name} = {member.value!r}" for member in kind)
        return
    seen: set[str] = set()
    for home in kind.__mro__:
        if home.__module__.split(".")[0] != "optsum":
            continue
        hints = inspect.get_annotations(home)
        fields = {field.name: field for field in dataclasses.fields(home)} if dataclasses.is_dataclass(home) else {}
        for name, hint in hints.items():
            if _public(name) and name not in seen:
                seen.add(name)
                yield f"{name}: {_hint(hint)}{_field_default(fields.get(name))}"
        for name, member in vars(home).items():
            if name not in seen and (_public(name) or (name == "__init__" and not fields)):
                seen.add(name)
                if line := _member(name, member):
                    yield line


def _member(name: str, member: Any) -> str | None:
    if isinstance(member, property | cached_property):  # the API does not promise which of the two it is
        found = member.fget if isinstance(member, property) else member.func
        hint = getattr(found, "__annotations__", {}).get("return", "")
        return f"{name}: {_hint(hint)} (property)"
    if isinstance(member, classmethod | staticmethod):
        return f"{name}{signature(member.__func__)} ({type(member).__name__})"
    if isinstance(member, types.FunctionType):
        return f"{name}{signature(member)}"
    return None if isinstance(member, types.MemberDescriptorType) else f"{name}: {type(member).__name__}"


def _field_default(field: dataclasses.Field[Any] | None) -> str:
    if field is None:
        return ""
    if field.default is not dataclasses.MISSING:
        return _default(field.default)
    return "" if field.default_factory is dataclasses.MISSING else " = ..."


def _default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return ""
    plain = value is None or type(value) in {bool, int, float, str}
    return f" = {value!r}" if plain or value == () else " = ..."


def _hint(hint: Any) -> str:
    return hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))


def _keywords(typed: Any) -> dict[str, str]:
    return {
        name: hint if isinstance(hint, str) else hint.__forward_arg__ for name, hint in typed.__annotations__.items()
    }


def _public(name: str) -> bool:
    return not name.startswith("_")


def text() -> str:
    """Return the contents of `tests/api.txt` for the sources as they are."""
    return HEAD + "".join(f"{line}\n" for line in lines())


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
