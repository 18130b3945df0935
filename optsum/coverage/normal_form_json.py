"""The normal form as JSON that reads back to the same instance."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final

import numpy as np

from optsum.coverage.ceilings import CappedUnion, Ceiling, Group, TextSubsequence
from optsum.coverage.instance import Combination, Coverage, Joint, Sense
from optsum.coverage.row import Row
from optsum.errors import InputError
from optsum.whole import whole, whole_array

FORMAT: Final = "optsum coverage 1"
_MADE_BY: Final[dict[str, Callable[[Any], Any]]] = {"goal": Sense, "combination": Combination, "weights": tuple}


def json_of_coverage(instance: Coverage, *, about: Mapping[str, Any] | None = None) -> str:
    """Return an instance as one JSON object.

    `about`: more to stand beside it: the topic's id, what its units are called.
    """
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


def coverage_of_json(text: str | Mapping[str, Any]) -> Coverage:
    """Return the instance that `json_of_coverage` wrote, from its text or from what that decodes to.

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
            raise InputError(f"This is no instance of optsum: its format is not {FORMAT!r}.")
        values: dict[str, Any] = {}
        for field in fields(Coverage):
            if field.name == "ceilings":  # files of older versions have none
                values[field.name] = tuple(map(_ceiling, data.get("ceilings", ())))
                continue
            if field.name == "rows":  # likewise
                values[field.name] = tuple(
                    Row(tuple(row["units"]), tuple(row["coefficients"]), row["low"], row["high"], row["name"])
                    for row in data.get("rows", ())
                )
                continue
            value = data[field.name]
            if field.name == "joints":
                values[field.name] = tuple(
                    Joint(
                        joint["feature"],
                        tuple(joint["needs"]),
                        range(joint["vetoes"]["from"], joint["vetoes"]["to"])
                        if isinstance(joint["vetoes"], dict)
                        else tuple(joint["vetoes"]),
                        joint["count"],
                    )
                    for joint in value
                )
            elif field.name in _MADE_BY:
                values[field.name] = _MADE_BY[field.name](value)
            else:
                values[field.name] = value
        return Coverage(**values)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"This is no instance of optsum: {error!r}.") from error
