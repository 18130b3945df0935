"""The schema of files of options, and their contents."""

from __future__ import annotations

from typing import Any, Final

from optsum.options.options import Options, ScoreOptions
from optsum.options.values import ONLY_IN, OWN_OPTIONS_SCHEMA

_NAMES: Final = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}

_BACKEND: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "options": OWN_OPTIONS_SCHEMA},
    "additionalProperties": False,
}

_LIMITS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "number", "minimum": 0}}

_KINDS: Final[dict[str, dict[str, Any]]] = {
    "strategies": _NAMES,
    "backends": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, _BACKEND]}}]},
    "exact": {"type": "string"},
    "seeds": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer", "minimum": 0}}]},
    "exact_time_limit": {"type": "number", "minimum": 0},
    "threshold": {"type": "number"},
    "map": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]},
}
"""What those options are that are no field of a model."""


def described(options: Options) -> dict[str, Any]:
    """Return options as a file has them: the solver's own in a table of the backend."""
    values = options.model_dump()
    for own in ("strategy_options", "formulation_options"):
        values[own] = dict(values[own]) or None
    own_of_backend, backend = dict(values.pop("backend_options")), values["backend"]
    if own_of_backend:
        del values["backend"]
        values |= {"backend": {"name": backend}, "backend.options": own_of_backend}
    return values


def schema() -> dict[str, Any]:
    """Return the JSON schema of a file of options: those of a search, of scoring, and of single commands."""
    made = Options.model_json_schema()
    for name, field in ScoreOptions.model_json_schema()["properties"].items():
        made["properties"].setdefault(name, field)
    for name, where in ONLY_IN.items():
        made["properties"].setdefault(name, {"description": f"of optsum {where}", **_KINDS.get(name, {})})
    del made["properties"]["backend_options"]  # they are those of the backend
    backend = made["properties"]["backend"]
    made["properties"]["backend"] = {
        "description": backend["description"],
        "default": backend["default"],
        "anyOf": [{"type": "string"}, _BACKEND],
    }
    made["properties"]["time_limit"]["anyOf"].append(_LIMITS)
    made["properties"] = {name.replace("_", "-"): field for name, field in made["properties"].items()}
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Options of optsum"
    made["additionalProperties"] = False
    return made
