"""Which values the fields of a result's row may have: rows come from files, and files from strangers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from optsum.errors import InputError

Test: TypeAlias = Callable[[Any], bool]

_FRACTION = re.compile(r"-?\d{1,4000}(/0*[1-9]\d{0,3999})?", re.ASCII)  # digits that Python turns into a number at once


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return (_whole(value) and value >= 0) or (_text(value) and bool(re.fullmatch(r"\d+", value, re.ASCII)))


def _amount(value: Any) -> bool:
    return _whole(value) and value >= 0


def _number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return _whole(value) and value.bit_length() < 1024  # as floating point it is finite


def _positive(value: Any) -> bool:
    return _number(value) and bool(value >= 0)


def _fraction(value: Any) -> bool:
    return _text(value) and bool(_FRACTION.fullmatch(value))


def _unit(value: Any) -> bool:
    return _whole(value) or _text(value) or (isinstance(value, list | tuple) and all(map(_unit, value)))


def _list_of(test: Test) -> Test:
    return lambda value: isinstance(value, list | tuple) and all(map(test, value))


def _object_of(test: Test) -> Test:
    return lambda value: isinstance(value, Mapping) and all(_text(name) and test(each) for name, each in value.items())


def _point(value: Any) -> bool:
    return _list_of(_number)(value) and len(value) == 3 and _amount(value[1])


def _pair_of(first: Test, second: Test) -> Test:
    return lambda value: isinstance(value, list | tuple) and len(value) == 2 and first(value[0]) and second(value[1])


_TEXT: Final = (_text, "text")
_WHOLE: Final = (_whole, "a whole number")
_AMOUNT: Final = (_amount, "a whole number from 0")
_NUMBER: Final = (_number, "a finite number")
_UNITS: Final = (_list_of(_unit), "a list of units")
_FIELDS: Final[dict[str, tuple[Test, str]]] = {
    **dict.fromkeys(("id", "formulation", "strategy", "backend", "metric", "status", "termination"), _TEXT),
    **dict.fromkeys(("detail", "version", "config_hash", "signature", "error"), _TEXT),
    **dict.fromkeys(("objective", "bound"), _NUMBER),
    **dict.fromkeys(("gap", "seconds"), (_positive, "a finite number from 0")),
    **dict.fromkeys(("objective_exact", "bound_exact"), (_fraction, 'a fraction such as "3/7"')),
    **dict.fromkeys(("numerator", "denominator", "seed"), _WHOLE),
    **dict.fromkeys(("length", "evaluations", "nodes", "sentence_count", "units"), _AMOUNT),
    **dict.fromkeys(("selection", "always", "never"), _UNITS),
    **dict.fromkeys(("optima", "sample", "diverse"), (_list_of(_list_of(_unit)), "a list of lists of units")),
    "near": _TEXT,
    **dict.fromkeys(("at_least", "irredundant", "irredundant_error"), _NUMBER),
    "at_least_exact": (_fraction, 'a fraction such as "3/7"'),
    "value_counts": (_list_of(_pair_of(_number, _count)), "a list of [objective, count]"),
    "unit_shares": (_list_of(_pair_of(_unit, _number)), "a list of [unit, share]"),
    "summary": (_list_of(_text), "a list of sentences"),
    "rouge": (_object_of(_object_of(_number)), "an object of metrics, each with numbers by name"),
    "trace": (_list_of(_point), "a list of [seconds, evaluations, objective]"),
    "statistics": (_object_of(lambda _: True), "an object"),
    **dict.fromkeys(("count", "minimal_count"), (_count, "a whole number from 0")),
    "complete": (lambda value: isinstance(value, bool), "true or false"),
}
_ALWAYS_THERE: Final = ("strategy", "status", "termination")


def check_row(row: object, times: tuple[str, ...]) -> None:
    """Refuse a row whose fields are not what they are in every row that optsum writes.

    `times`: names in its statistics that are seconds.
    """
    if not isinstance(row, Mapping):
        raise InputError(f"this is no result row of optsum but {type(row).__name__}; give an object")
    for name in _ALWAYS_THERE:
        if row.get(name) is None:
            raise InputError(f"this is no result row of optsum: it has no {name}")
    for name, (test, words) in _FIELDS.items():
        value = row.get(name)
        if value is None:
            continue
        try:
            fits = test(value)
        except RecursionError:
            fits = False
        if not fits:
            raise InputError(f"this is no result row of optsum: {name} is {_shown(value)}, not {words}")
    for name in times:
        value = (row.get("statistics") or {}).get(name)
        if value is not None and not _positive(value):
            raise InputError(f"this is no result row of optsum: statistics.{name} is {_shown(value)}, not seconds")


def _shown(value: Any) -> str:
    if _whole(value) and value.bit_length() > 256:
        return f"a number of {value.bit_length()} bits"
    return f"{value!a:.60}" if isinstance(value, str | int | float) else f"of type {type(value).__name__}"
