"""Check numbers that are no parameter by themselves (see `test_public_numbers`): taken exactly, or refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import optsum
from optsum.program.model import LinearModel

LENGTHS = (2, 3, 1)


class OwnProblem(optsum.Problem):
    """A problem whose value is the number of units."""

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Count the units."""
        return optsum.Evaluation(len(selection), self.excess(selection), len(selection))


@dataclass(frozen=True)
class Bounded(OwnProblem):
    """A problem with an arbitrary value and bound."""

    shown: Any = 0

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Return the arbitrary value."""
        return optsum.Evaluation(len(selection), self.excess(selection), self.shown)

    def bound(self, chosen: tuple[int, ...], open: tuple[int, ...]) -> Any:  # noqa: A002
        """Return the arbitrary bound."""
        return self.shown


TOPIC = {"id": "t", "documents": [["a b", "b c"]], "references": [["a c"]]}
COVER = optsum.as_topic({"id": "t", "cover": [[["s1"]]]})


def _pyomo(coefficient: Any = 1, upper: Any = 1) -> Any:
    model = pyo.ConcreteModel()
    model.x = pyo.Var([0], domain=pyo.Binary)
    try:
        model.y = pyo.Var(domain=pyo.Integers, bounds=(0, upper))
        model.aim = pyo.Objective(expr=coefficient * model.x[0] - model.y, sense=pyo.maximize)
    except (TypeError, ValueError, OverflowError) as error:  # Pyomo refuses it
        raise optsum.InputError(str(error)) from error
    return optsum.PyomoProblem(model, units=model.x)


DTYPES = (np.int8, np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64)

integers = st.one_of(st.integers(-3, 9), st.sampled_from([2**53 + 1, 2**63, -(2**64), 10**30]))
scalars = st.one_of(
    integers,
    st.floats(),
    st.sampled_from([1.9, 0.5, 2.0, float("nan"), float("inf"), True, False, "3", "x", None, 1j, b"2"]),
    st.sampled_from([Fraction(3, 2), Fraction(4, 2), Decimal("1.5"), Decimal(2), Decimal("NaN"), np.bool_(True)]),
    st.builds(lambda kind, value: kind(value), st.sampled_from(DTYPES), st.integers(0, 9)),
    st.sampled_from([np.float32(1.9), np.float16(0.1), np.uint64(2**64 - 1), np.array(2), np.array(1.5)]),
)


def _coverage(**changed: Any) -> optsum.Coverage:
    given = {"lengths": [2, 3], "occurrences": [{0: 1}, {1: 2}], "gains": [[4], [3, 2]], "constants": [0, 9]}
    return optsum.Coverage.of(**{**given, "max_length": 5, **changed})


def _json(field: str, value: Any) -> Any:
    data = json.loads(_NORMAL_FORM)
    if isinstance(data[field], list):
        data[field][-1] = value
    else:
        data[field] = value
    return getattr(optsum.coverage_of_json(json.dumps(data)), field)


_NORMAL_FORM = json.dumps(
    {
        "format": "optsum coverage 1",
        "lengths": [2, 3],
        "unit_start": [0, 1, 2],
        "unit_feature": [0, 1],
        "unit_count": [1, 2],
        "level_start": [0, 2, 5],
        "level": [0, 4, 0, 3, 5],
        "slot": [0, 0],
        "constants": [0, 9],
        "mass": [[0, 0], [0, 0]],
        "weights": [1],
        "combination": "ratio",
        "parents": [],
        "joints": [],
        "min_length": 0,
        "max_length": 5,
        "goal": "maximize",
    }
)


def _own(**changed: Any) -> optsum.Problem:
    return OwnProblem(**{"lengths": LENGTHS, "max_length": 4, **changed})


def _model(**changed: Any) -> LinearModel:
    arrays = {"objective": [1, 2], "upper": [1, 1], "integral": [True, True], "row_start": [0, 2]}
    rows = {"row_column": [0, 1], "row_value": [2, 3], "row_lower": [-np.inf], "row_upper": [4]}
    return LinearModel(sense=optsum.Sense.MAXIMIZE, units=2, denominator=1, **{**arrays, **rows, **changed})


TARGETS: dict[str, Callable[[Any], Any]] = {
    "feature": lambda value: _coverage(occurrences=[{0: 1}, {value: 2}]).unit_feature[1],
    "copies": lambda value: _coverage(occurrences=[{0: 1}, {1: value}]).unit_count[1],
    "gain": lambda value: _coverage(gains=[[value], [3, 2]]).level[1],
    "slot": lambda value: _coverage(slots=[0, value]).slot[1],
    "json length": lambda value: _json("lengths", value)[-1],
    "json level": lambda value: _json("level", value)[-1],
    "json constant": lambda value: _json("constants", value)[-1],
    "json weight": lambda value: _json("weights", value)[-1],
    "json maximum": lambda value: _json("max_length", value),
    "seed": lambda value: optsum.search(_own(), "greedy", seed=value).seed,
    "model entry": lambda value: _model(objective=[1, value]).objective[1],
    "model side": lambda value: _model(row_upper=[value]).row_upper[0],
}


@pytest.mark.parametrize("target", TARGETS)
@given(value=scalars)
def test_a_number_is_taken_exactly_or_refused(target: str, value: Any) -> None:
    assume(not isinstance(value, np.ndarray) or target != "feature")  # an array cannot be a key
    assume(type(value) in {int, float, bool, str, type(None)} or not target.startswith("json"))
    try:
        found = TARGETS[target](value)
    except optsum.OptsumError:
        return
    assert not isinstance(value, bool | np.bool_ | str | bytes | complex | None)
    assert found == value or (target == "json maximum" and value > found >= 2**40)


LOOSE: dict[str, Callable[[Any], Any]] = {
    "bound of one's own": lambda value: Bounded(lengths=LENGTHS, shown=value).root_bound(),
    "value of one's own": lambda value: optsum.search(Bounded(lengths=LENGTHS, shown=value), "lead").objective,
    "threshold of an alignment": lambda value: len(list(optsum.align([TOPIC], threshold=value))),
    "sentence of an extract": lambda value: optsum.score_extract(COVER, ["s1", value], 1),
    "coefficient of Pyomo": lambda value: _pyomo(coefficient=value).evaluate((0,)).key,
    "bound of Pyomo": lambda value: _pyomo(upper=value).program.upper[1],
}
"""Doors that take fractions, or names, or round a bound inwards."""


@pytest.mark.parametrize("door", LOOSE)
@given(value=scalars)
def test_other_values_are_refused_by_a_sentence(door: str, value: Any) -> None:
    assume(not isinstance(value, np.ndarray))  # Pyomo refuses arrays in its own way
    with suppress(optsum.OptsumError):
        LOOSE[door](value)


def test_claims_that_no_list_could_number_are_refused() -> None:
    for claim in (2**63, 10**400, 10**7):
        with pytest.raises(optsum.InputError, match="claims are numbered from 0: list their names"):
            optsum.as_topic({"id": "c", "supports": [[0], [0, claim]]})


@given(st.sampled_from(DTYPES), st.lists(st.integers(0, 9), min_size=2, max_size=2))
def test_arrays_of_any_kind_are_taken_exactly(kind: Any, lengths: list[int]) -> None:
    assert _coverage(lengths=np.array(lengths, kind)).lengths.tolist() == lengths
    assert _coverage(lengths=np.array(lengths, object)).lengths.tolist() == lengths
    assert _own(lengths=np.array([*lengths, 1], kind)).lengths == (*lengths, 1)


@pytest.mark.parametrize(
    "array", [np.array([1.9, 1.9]), np.array([True, False]), np.array(["1", "2"]), np.array([2**63, 1], np.uint64)]
)
def test_arrays_of_other_numbers_are_refused(array: Any) -> None:
    with pytest.raises(optsum.InputError):
        _coverage(lengths=array)
    with pytest.raises(optsum.InputError):
        _own(lengths=[*array, 1])


def test_dictionaries_and_sets_are_no_lists() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), domain=pyo.Binary)
    model.aim = pyo.Objective(expr=model.x[0] + model.x[1], sense=pyo.maximize)
    model.long = pyo.Param(range(2), initialize={0: 9, 1: 9})
    doors: tuple[Callable[[Any], Any], ...] = (
        lambda lengths: _coverage(lengths=lengths),
        lambda lengths: OwnProblem(lengths=lengths),
        lambda lengths: optsum.PyomoProblem(model, units=model.x, lengths=lengths),
        lambda lengths: optsum.Row(lengths, (1, 1)),
        lambda gains: _coverage(gains=gains),
    )
    assert _coverage(lengths={3: 0, 4: 0}.keys()).lengths.tolist() == [3, 4]  # they are ordered
    for door in doors:
        for wrong in ({0: 9, 1: 9}, {0, 1}, model.long, None):
            with pytest.raises(optsum.InputError, match="give a list"):
                door(wrong)
    with pytest.raises(optsum.InputError, match=r"of the start is .*give a list"):
        optsum.search(_own(), "lead", start={0: 0, 1: 1, 2: 0})
    assert optsum.search(_own(), "lead", start={0}).selection is not None  # units have no order


@pytest.mark.parametrize("labels", ["ab", 5, None, {"a": 1, "b": 2}])
def test_labels_are_a_list(labels: Any) -> None:
    with pytest.raises(optsum.InputError, match=r"The labels are .*: give a list"):
        _own(lengths=(1, 2), labels=labels)
    with pytest.raises(optsum.InputError, match=r"The labels are .*: give a list"):
        optsum.CoverageProblem.of(_coverage(), labels=labels)
    for right in (iter("ab"), np.array(["a", "b"]), ["a", "b"]):
        assert _own(lengths=(1, 2), labels=right).labels == ("a", "b")


@pytest.mark.parametrize("sense", ["minimize", None])
def test_a_sense_is_no_text(sense: Any) -> None:
    with pytest.raises(optsum.InputError, match=r"give Sense\.MAXIMIZE or Sense\.MINIMIZE"):
        _own(sense=sense)


def test_the_refusal_says_how_to_scale() -> None:
    with pytest.raises(optsum.InputError, match="multiply all such numbers by 10"):
        optsum.Coverage.of([1.9, 1.9], [{0: 1}, {1: 1}], [[5], [7]], max_length=3)
    with pytest.raises(optsum.InputError, match="multiply all such numbers by 4"):
        _coverage(gains=[[Fraction(1, 4)], [1]])
    with pytest.raises(optsum.InputError, match=r"^A feature of the occurrences is 0\.5; give"):
        _coverage(occurrences=[{0.5: 1}, {1: 1}])
    with pytest.raises(optsum.InputError, match="divide"):
        _coverage(gains=[[2**62], [2**62]])


@pytest.mark.parametrize("name", ["{x}", "{", "{}", "{0!r}"])
def test_names_with_braces_are_shown_as_written(name: str) -> None:
    with pytest.raises(optsum.InputError, match=re.escape(f"Of row {name!r}, coefficients[1] is 1.5; give")):
        optsum.Row((0, 1), (1, 1.5), name=name)  # type: ignore[arg-type]
    topic = {**_TOPIC, "id": name, "constraints": {"requires": [[0, 1.5]]}}
    with pytest.raises(optsum.InputError, match=re.escape(f"In topic {name!r}, a sentence of requires is 1.5; give")):
        optsum.solve(topic, max_length=5)


def test_a_violation_that_is_no_whole_number_is_refused() -> None:
    class Broken(OwnProblem):
        def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
            return optsum.Evaluation(1, 0.5, 1.0)  # type: ignore[arg-type]

    with pytest.raises(optsum.InputError, match="violation"):
        optsum.search(Broken(lengths=LENGTHS, max_length=4), "greedy")


_TOPIC = {"id": "t", "documents": [["a b c", "b c d", "d e", "a"]], "references": [["a b d e"]]}
ASKED: dict[str, Callable[[Any], Any]] = {
    "requires as text": lambda value: optsum.solve(_TOPIC, max_length=5, requires=f"[[0, {json.dumps(value)}]]"),
    "start": lambda value: optsum.solve(_TOPIC, max_length=5, strategy="lead", start=[value]),
}


@pytest.mark.parametrize("asked", ASKED)
@given(value=scalars.filter(lambda value: value is not None))
def test_a_number_that_is_asked_for_is_whole_or_refused(asked: str, value: Any) -> None:
    assume(type(value) in {int, float, bool, str} or "text" not in asked)
    try:
        ASKED[asked](value)
    except optsum.OptsumError:
        return
    assert not isinstance(value, bool | np.bool_ | str | bytes | complex)
    assert value == int(value)


@pytest.mark.parametrize("threads", [np.int8(2), np.uint64(1), np.array(2)])
def test_threads_of_numpy_go_to_no_strategy_without_a_solver(threads: Any) -> None:
    with pytest.raises(optsum.OptionError, match="threads is for searches"):
        optsum.solve(_TOPIC, max_length=5, strategy="greedy", threads=threads)


@pytest.mark.parametrize("value", [1.5, True, float("nan"), 2**70, "3", -1])
def test_options_of_strategies_are_whole(value: Any) -> None:
    with pytest.raises(optsum.OptionError):
        optsum.search(_own(), "vns", k_max=value)


def test_options_take_numbers_of_numpy() -> None:
    topic = {"id": "t", "documents": [["a b c", "c d", "e"]], "references": [["b c d"]]}
    assert optsum.solve(topic, max_length=np.int64(3), seed=np.uint8(2)).objective == 2 / 3
    for value in (np.bool_(True), np.float64(2.5), 2.5, True):
        with pytest.raises(optsum.OptionError):
            optsum.solve(topic, max_length=value)
