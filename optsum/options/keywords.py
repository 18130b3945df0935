"""Keyword arguments of the functions of `optsum`, as `TypedDict` classes made from the fields of the options.

Editors and type checkers read `keywords.pyi`. ``python tests/unit/options/test_keywords.py`` writes that file; run as a
test, the same module compares both files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence  # noqa: F401 - named in types
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypedDict, get_args, get_origin

from optsum.metrics.rouge import Metric  # noqa: F401 - named in types
from optsum.options.options import Options, OwnOptions, Scalar, ScoreOptions  # noqa: F401 - named in types

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_WIDER: Final = {  # Types of keywords that accept more types than the field of the options holds.
    "metric": "str | Metric | type[Metric]",
    "require": "str | Sequence[int]",
    "forbid": "str | Sequence[int]",
    "exclusive": "str | float",
    "requires": "str | Sequence[Sequence[int]]",
    "length_tokenizer": "str | Callable[[str], object]",
    "splitter": "str | Callable[..., Iterable[str]]",
    "tokenizer": "str | Callable[[str], Iterable[str]]",
    "stemmer": "str | Callable[[str], str]",
}


def hint(name: str, field: FieldInfo) -> str:
    """Return the type of the keyword for an option, as it is written in a signature."""
    kind = field.annotation
    if name in _WIDER:
        return f"{_WIDER[name]} | None"
    if kind == OwnOptions:
        return "Mapping[str, Scalar] | Sequence[str] | None"
    if "also takes a list" in (field.description or ""):
        return "float | Sequence[float] | None"
    words = []
    for part in [kind] if get_origin(kind) is Literal else get_args(kind) or [kind]:
        if get_origin(part) is Literal:
            words.append(f"Literal[{', '.join(map(repr, get_args(part)))}]")
        elif part is not NoneType:
            words.append((get_args(part)[0] if get_origin(part) is Annotated else part).__name__)
    return " | ".join([*words, "None"])


def _of(model: type[Options | ScoreOptions]) -> dict[str, Any]:
    return {name: hint(name, field) for name, field in model.model_fields.items()}


Keywords = TypedDict("Keywords", _of(Options), total=False)
SolveKeywords = Keywords
ScoreKeywords = TypedDict("ScoreKeywords", _of(ScoreOptions), total=False)
