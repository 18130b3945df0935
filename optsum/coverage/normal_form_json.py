"""The normal form as JSON that reads back to the same instance."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

import numpy as np

from optsum.coverage.ceilings import CappedUnion, Ceiling, Group, TextSubsequence
from optsum.coverage.instance import Combination, Coverage, Joint, Row, Sense
from optsum.errors import InputError
from optsum.whole import whole, whole_array

FORMAT: Final = "optsum coverage 1"


def json_of_coverage(instance: Coverage, *, about: Mapping[str, Any] | None = None) -> str:
    """Return an instance as one JSON object."""
    data: dict[str, Any] = {"format": FORMAT, **(about or {})}
    for field in fields(Coverage):
        value = getattr(instance, field.name)
        if isinstance(value, np.ndarray):
            data[field.name] = value.tolist()
        elif isinstance(value, Sense | Combination):
            data[field.name] = value.value
        elif field.name == "joints":
            data[field.name] = [{**asdict(joint), "vetoes": _listed(joint.vetoes)} for joint in instance.joints]
        elif field.name == "rows":
            data[field.name] = list(map(asdict, instance.rows))
        elif field.name == "ceilings":
            data[field.name] = [
                {"kind": type(one).__name__, **asdict(one), "mass": one.mass.tolist()} for one in instance.ceilings
            ]
        else:
            data[field.name] = list(value) if isinstance(value, tuple) else value
    return json.dumps(data, ensure_ascii=False) + "\n"


def _listed(vetoes: Sequence[int]) -> Any:
    return {"from": vetoes.start, "to": vetoes.stop} if isinstance(vetoes, range) else list(vetoes)


def _ceiling(data: Mapping[str, Any]) -> Ceiling:
    kind = {kind.__name__: kind for kind in (CappedUnion, TextSubsequence)}[data["kind"]]
    values = {name: _tuples(value) for name, value in data.items() if name != "kind"}
    values["mass"] = whole_array(data["mass"], "The mass of a ceiling")
    if kind is CappedUnion:
        values["groups"] = tuple(Group(*group) for group in values["groups"])
    return kind(**values)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else whole(value, "A number of a ceiling")


def _joint(data: Mapping[str, Any]) -> Joint:
    vetoes = data["vetoes"]
    held = range(vetoes["from"], vetoes["to"]) if isinstance(vetoes, dict) else tuple(vetoes)
    return Joint(data["feature"], tuple(data["needs"]), held, data["count"])


def _row(data: Mapping[str, Any]) -> Row:
    return Row(tuple(data["units"]), tuple(data["coefficients"]), data["low"], data["high"], data["name"])


_READ_BY: Final[dict[str, Callable[[Any], Any]]] = {
    "goal": Sense,
    "combination": Combination,
    "weights": tuple,
    "joints": lambda joints: tuple(map(_joint, joints)),
    "rows": lambda rows: tuple(map(_row, rows)),
    "ceilings": lambda ceilings: tuple(map(_ceiling, ceilings)),
}


def coverage_of_json(text: str | Mapping[str, Any]) -> Coverage:
    """Return the instance that `json_of_coverage` wrote, from its text or the decoded object.

    Raises
    ------
    InputError
        If the text has another form.

    Examples
    --------
    >>> tiny = Coverage.of([3, 2], [{0: 1}, {0: 1}], [[1]], max_length=4)
    >>> coverage_of_json(json_of_coverage(tiny)).max_length
    4
    """
    try:
        data = json.loads(text) if isinstance(text, str) else text
        if data.get("format") != FORMAT:
            raise InputError(f"This is not optsum's normal form: its format is not {FORMAT!r}.")
        given = {"rows": (), "ceilings": (), **data}  # files of older versions have none
        values = {field.name: given[field.name] for field in fields(Coverage)}
        return Coverage(
            **{name: _READ_BY[name](value) if name in _READ_BY else value for name, value in values.items()}
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"This is not optsum's normal form: {error!r}.") from error
