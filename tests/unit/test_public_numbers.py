"""Check that every number given to a public function or constructor is taken exactly, or refused in one sentence.

The test visits all names of `optsum`, and the methods of what is in `EXAMPLES`. Each parameter that takes numbers has
an example there, by its name, and each number in an example is replaced by an unusual one. A new function needs no
entry here, unless one of its parameters has a new name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import pytest
from api import as_written, public_names

import optsum


class OwnProblem(optsum.Problem):
    """A problem whose value is the number of units."""

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Count the units."""
        return optsum.Evaluation(len(selection), self.excess(selection), len(selection))


TOPIC = {"id": "t", "documents": [["a b c", "b c d", "d e", "a"]], "references": [["a b d e"]]}
COVERAGE = optsum.Coverage.of([2, 3], [{0: 1}, {1: 2}], [[4], [3, 2]], constants=[0, 9], max_length=5)
EXAMPLES: dict[str, Any] = {
    # required arguments that are not numbers
    "analyzer": optsum.Analyzer(), "config": None, "extract": ["s1"], "instance": COVERAGE, "obj": TOPIC,
    "problem": OwnProblem(lengths=(2, 3, 1), max_length=4), "references": [["a c"]], "rng": None, "strategy": "greedy",
    "summary": "a b", "systems": [{"topic_id": "t", "system": "s", "summary": ["a"]}], "topic": TOPIC,
    "topics": [TOPIC], "topic of score_extract": optsum.as_topic({"id": "t", "cover": [[["s1"]]]}),
    # arguments that contain numbers
    "all_": 1, "at_least": 0.2, "best": 2, "coefficients": (1, 2), "constants": [0, 9], "each_oracle": 1,
    "evaluation_limit": 9, "evaluations": 9, "exact_time_limit": 5.0, "exclusive": 0.5, "forbid": [0],
    "gains": [[4], [3, 2]], "gap": 0.1, "grace_s": 0.5, "high": 9, "k": 1, "lengths": [2, 3], "low": 0,
    "mass": [[0, 1], [0, 0]], "max_characters": 9, "max_length": 5, "max_sentences": 2, "max_sets": 3, "max_words": 3,
    "memory": 10**6,
    "min_length": 1, "minimum": 1, "node_limit": 9, "nodes": 9, "occurrences": [{0: 1}, {1: 2}], "parents": [-1, 0],
    "per_document": 2, "reference_units": 3, "require": [0], "requires": [[0, 1]], "seed": 0, "seeds": [0, 1],
    "similarity_unit": 100, "slots": [0, 0], "source_words": 9, "start": [0], "target": 0.9,
    "threads": 1,
    "threshold": 0.5, "time_limit": 5.0, "time_s": 5.0,  "units": (0, 1), "values": [[1, 2], [2, 3]],
    "weights": [1, 2], "within": 0.1, "within_steps": 1, "workers": 1,
}  # fmt: skip
TEXTS = {"at_least", "best", "exclusive", "forbid", "lengths", "require", "requires", "seeds", "within"}
"""Parameters that take text as the command line does."""
ODD = (
    1.5, 2.0, float("nan"), float("inf"), -1, 2**63, 10**400, True, "3", "x", b"2", 1j, object(),
    Decimal("1.5"), Decimal(2), Decimal("NaN"), Fraction(3, 2), Fraction(4, 2), np.bool_(True), np.int8(2),
    np.uint64(2**64 - 1), np.float32(1.5), np.float16(0.1), np.array(2), np.array(1.5), np.array([1]),
    np.datetime64("2020"), np.datetime64(2, "ns"), np.timedelta64(3, "s"), np.timedelta64(3, "ns"),
)  # fmt: skip
RECORDS = {
    "Counted",
    "Declaration",
    "Evaluation",
    "Extract",
    "Optima",
    "Oracles",
    "PyomoDeclaration",
    "RawOutcome",
    "Result",
}
RECORDS |= {"CoverageProblem", "Run", "RunStatus", "SizeLimit", "Stopped", "System", "Task", "Topic"}
"""Classes whose objects optsum makes, or plug-ins that know what they do; there are other ways to make a few."""
INNER = {"instance.ancestors", "instance.closure", "selection"}
"""Methods, and a parameter of many, that searches call many times a second."""
BESIDE = {"max_length": 5}
"""Options that a search needs, and labels of near-optimal selections."""
NUMBERS = re.compile(r"\b(int|float|IntArray|Fraction)\b")


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield functions, constructors and methods by name."""
    for name in sorted(public_names() - RECORDS):
        found = getattr(optsum, name)
        if isinstance(found, type) and issubclass(found, Exception | Enum):
            continue
        if inspect.isfunction(found) or (isinstance(found, type) and not inspect.isabstract(found)):
            yield name, found
        for method, kind in inspect.getmembers_static(found) if isinstance(found, type) else ():
            if isinstance(kind, staticmethod | classmethod) and not method.startswith("_"):
                yield f"{name}.{method}", getattr(found, method)
    yield "own problem", OwnProblem
    for name in ("instance", "problem"):
        for method, _ in inspect.getmembers_static(type(EXAMPLES[name]), inspect.isfunction):
            if not method.startswith("_"):
                yield f"{name}.{method}", getattr(EXAMPLES[name], method)


def doors() -> Iterator[Any]:
    """Yield functions with their required arguments and a parameter that takes numbers; search options only once."""
    for name, function in functions():
        written = as_written(function).parameters
        needed = {
            each.name: EXAMPLES.get(f"{each.name} of {name}", EXAMPLES.get(each.name))
            for each in written.values()
            if each.default is each.empty and each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
        }
        if not needed.keys() <= EXAMPLES.keys():
            continue  # functions on files
        if "config" in written and name not in {"frontier", "score"}:
            needed |= BESIDE | ({"all_": 2} if name == "labels" else {})
        for each in (inspect.signature(function) if name == "solve" else as_written(function)).parameters.values():
            if not INNER.isdisjoint({name, each.name}):
                continue
            if NUMBERS.search(annotation := str(each.annotation)):
                whole = "float" not in annotation and "Fraction" not in annotation
                yield pytest.param(function, needed, each.name, whole, id=f"{name} {each.name}")


def numbers_in(example: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each number in an example, made of keys and positions."""
    if isinstance(example, int | float):
        yield way
    for key, held in example.items() if isinstance(example, dict) else ():
        yield from [(*way, (key,))] if isinstance(key, int) else []  # the key itself is a number
        yield from numbers_in(held, (*way, key))
    for place, held in enumerate(example) if isinstance(example, list | tuple) else ():
        yield from numbers_in(held, (*way, place))


def replaced(example: Any, way: tuple[Any, ...], odd: Any) -> Any:
    """Return an example in which the number at a path is replaced."""
    if not way:
        return odd
    first, *others = way
    if isinstance(example, dict):
        return {
            odd if (key,) == first else key: replaced(held, tuple(others), odd) if key == first else held
            for key, held in example.items()
        }
    return type(example)(
        replaced(held, tuple(others), odd) if place == first else held for place, held in enumerate(example)
    )


@pytest.mark.parametrize(("function", "needed", "parameter", "whole"), [*doors()])
def test_every_number_is_taken_exactly_or_refused(
    function: Callable[..., Any], needed: dict[str, Any], parameter: str, whole: bool
) -> None:
    example = EXAMPLES[parameter]
    kept = shown(function(**{**needed, parameter: example}), parameter) == shown(None, parameter, example) and whole
    for way in numbers_in(example):
        for odd in ODD:
            if way and isinstance(way[-1], tuple) and isinstance(odd, np.ndarray):
                continue  # an array cannot be a key
            try:
                found = function(**{**needed, parameter: replaced(example, way, odd)})
                found = list(found) if isinstance(found, Iterator) else found
            except optsum.OptsumError:
                continue
            text = isinstance(odd, str) and parameter in TEXTS
            number = isinstance(odd, Real | Decimal) and not isinstance(odd, bool | np.timedelta64)
            assert number or text or (isinstance(odd, np.ndarray) and odd.ndim == 0), (way, odd, found)
            assert not whole or text or odd == int(odd), (way, odd, found)
            if kept:
                held = shown(found, parameter)
                for step in way:
                    held = held[step]
                assert held == odd or odd > held >= 2**40, (way, odd, held)  # larger than any value reached


def shown(found: Any, parameter: str, given: Any = None) -> Any:
    """Return the attribute of an object that holds the argument, with arrays and tuples as lists, or the argument."""
    value = given if found is None else getattr(found, parameter, None)
    return value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, tuple) else value


def test_every_parameter_that_takes_numbers_has_an_example() -> None:
    """Check this so that a new parameter is noticed."""
    missing = [door.id for door in doors() if not isinstance(door.id, str) or door.values[2] not in EXAMPLES]
    assert missing == []
