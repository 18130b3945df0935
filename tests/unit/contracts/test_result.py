"""Test `Result`: its checks, the order of its fields, and its conversion to rows and back."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from itertools import product
from sys import float_info
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.contracts.result import Result, Status, TracePoint, relative_gap
from optsum.errors import InputError
from optsum.system.clock import Termination

HELD = {"selection": (0, 2), "objective": 0.5}
PROVEN = {Status.OPTIMAL, Status.INFEASIBLE}
GOOD_ENOUGH = {Termination.TARGET_REACHED, Termination.GAP_REACHED}


def result(status: Status, termination: Termination = Termination.COMPLETED, **others: Any) -> Result:
    return Result(strategy="milp", status=status, termination=termination, **others)


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("termination", Termination)
def test_contradictory_results_are_refused(status: Status, termination: Termination) -> None:
    holds = status in {Status.OPTIMAL, Status.FEASIBLE}
    for selection, objective, error in product([None, (0, 2)], [None, 0.5], [None, "it broke"]):
        sensible = (
            (selection is not None) == holds == (objective is not None)
            and (status is Status.ERROR) == (error is not None) == (termination is Termination.FAILED)
            and (status not in PROVEN or termination in {Termination.COMPLETED, *GOOD_ENOUGH})
            and (holds or termination not in GOOD_ENOUGH)
        )
        values = {"selection": selection, "objective": objective, "error": error}
        if sensible:
            assert result(status, termination, **values).status is status
        else:
            with pytest.raises(InputError, match="contradicts itself"):
                result(status, termination, **values)


def test_an_optimum_is_its_own_bound() -> None:
    assert result(Status.OPTIMAL, **HELD, bound=0.5).gap == 0
    assert result(Status.OPTIMAL, **HELD).gap is None
    with pytest.raises(InputError, match="the bound of an optimum must equal it"):
        result(Status.OPTIMAL, **HELD, bound=0.6)
    assert result(Status.FEASIBLE, **HELD, bound=0.6).gap == pytest.approx(0.2)


def test_a_numerator_comes_with_its_denominator() -> None:
    assert result(Status.OPTIMAL, **HELD, numerator=1, denominator=2).numerator == 1
    with pytest.raises(InputError, match="a numerator and a denominator"):
        result(Status.OPTIMAL, **HELD, numerator=1)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (0.5, 0.6, 0.2),
        (5, 4, 0.2),
        (0.0, 0.0, 0.0),
        (0.0, 1e-10, 1.0),
        (None, 1.0, None),
        (1.0, None, None),
        (-2, -1, 0.5),
    ],
)
def test_the_gap_is_relative_to_the_objective(objective: float | None, bound: float | None, gap: float | None) -> None:
    assert relative_gap(objective, bound) == (None if gap is None else pytest.approx(gap))


def test_keys_are_exact_where_the_problem_is() -> None:
    third = result(
        Status.OPTIMAL, **{**HELD, "objective": 1 / 3}, objective_exact="1/3", bound=1 / 3, bound_exact="1/3"
    )
    assert third.key == third.bound_key == Fraction(1, 3)
    assert third.gap == 0.0
    assert result(Status.FEASIBLE, **HELD, bound=0.7).key == 0.5
    assert result(Status.FEASIBLE, **HELD, bound=0.7).bound_key == 0.7


def test_the_first_fields_of_a_row_are_in_their_order() -> None:
    row = result(Status.OPTIMAL, **HELD, bound=0.5, id="t").to_row()
    assert list(row)[:12] == [
        "id", "formulation", "strategy", "backend", "metric", "status", "termination", "objective", "bound", "gap",
        "numerator", "denominator",
    ]  # fmt: skip
    assert (row["status"], row["termination"], row["gap"], row["selection"]) == ("optimal", "completed", 0.0, [0, 2])


finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.one_of(st.none(), st.text(max_size=5))
units = st.one_of(st.integers(0, 99), st.text(max_size=4), st.tuples(st.integers(0, 9), st.integers(1, 9)))
values = st.one_of(st.none(), st.booleans(), st.integers(), finite, st.text(max_size=3))


@st.composite
def results(draw: st.DrawFn) -> Result:
    status = draw(st.sampled_from(Status))
    holds = status in {Status.OPTIMAL, Status.FEASIBLE}
    allowed = [
        termination
        for termination in Termination
        if (termination is Termination.FAILED) == (status is Status.ERROR)
        and (status not in PROVEN or termination in {Termination.COMPLETED, *GOOD_ENOUGH})
        and (holds or termination not in GOOD_ENOUGH)
    ]
    objective = draw(finite) if holds else None
    ratio = holds and draw(st.booleans())
    return Result(
        strategy=draw(st.text(max_size=5)),
        status=status,
        termination=draw(st.sampled_from(allowed)),
        id=draw(names), formulation=draw(names), backend=draw(names), metric=draw(names), detail=draw(names),
        objective=objective,
        bound=objective if status is Status.OPTIMAL else draw(st.one_of(st.none(), finite)),
        objective_exact=None if objective is None else str(Fraction(objective)),
        numerator=draw(st.integers()) if ratio else None,
        denominator=draw(st.integers()) if ratio else None,
        selection=draw(st.lists(units, max_size=4).map(tuple)) if holds else None,
        length=draw(st.integers(0)) if holds else None,
        summary=draw(st.lists(st.text(max_size=5), max_size=3).map(tuple)) if holds else None,
        rouge={"rouge-1": {"recall": draw(finite)}} if holds and draw(st.booleans()) else None,
        seconds=abs(draw(finite)),
        seed=draw(st.one_of(st.none(), st.integers())),
        evaluations=draw(st.integers(0)),
        nodes=draw(st.integers(0)),
        statistics=draw(st.dictionaries(st.text(max_size=3), values, max_size=3)),
        trace=draw(st.lists(st.builds(TracePoint, finite, st.integers(0), finite), max_size=3).map(tuple)),
        version=draw(names), config_hash=draw(names),
        error=draw(st.text(max_size=5)) if status is Status.ERROR else None,
    )  # fmt: skip


@given(results())
def test_a_result_survives_json_both_ways(made: Result) -> None:
    text = json.dumps(made.to_row())
    again = Result.from_row(json.loads(text))
    assert again == made
    assert json.dumps(again.to_row()) == text


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"status": "perfect"}, "not a result row"),
        ({"termination": None}, "not a result row"),
        ({"trace": [[1]]}, "not a result row"),
        ({"selection": 3}, "not a result row"),
        ({"objective": None}, "contradicts itself"),
        ({"selection": None}, "contradicts itself"),
        ({"error": "x"}, "contradicts itself"),
    ],
)
def test_objects_that_are_no_rows_are_refused(change: dict[str, Any], match: str) -> None:
    row = {**result(Status.OPTIMAL, **HELD).to_row(), **change}
    with pytest.raises(InputError, match=match):
        Result.from_row(row)


@pytest.mark.parametrize("field", ["status", "termination", "strategy"])
def test_rows_that_lack_a_field_are_refused(field: str) -> None:
    row = result(Status.OPTIMAL, **HELD).to_row()
    del row[field]
    with pytest.raises(InputError, match="not a result row"):
        Result.from_row(row)


def test_unknown_fields_of_a_later_version_are_passed_over() -> None:
    row = {**result(Status.OPTIMAL, **HELD).to_row(), "count": 3}
    assert Result.from_row(row).selection == (0, 2)


def test_a_changed_result_is_checked_and_leaves_the_first_as_it_was() -> None:
    first = result(Status.FEASIBLE, **HELD)
    assert first.changed(id="t", nodes=7) == dataclasses.replace(first, id="t", nodes=7)
    assert (first.id, first.nodes) == (None, 0)
    with pytest.raises(InputError, match="contradicts itself"):
        first.changed(selection=None)
    with pytest.raises(TypeError, match="no field 'node'"):
        first.changed(node=7)


def test_a_changed_result_keeps_its_class() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
    class Own(Result):
        colour: str = "red"

    own = Own(strategy="s", status=Status.NO_SOLUTION, termination=Termination.COMPLETED)
    assert own.changed(colour="blue") == dataclasses.replace(own, colour="blue")


def test_a_gap_is_a_number_however_far_the_bound() -> None:
    assert relative_gap(0.0, 1.8e298) == float_info.max
    assert relative_gap(2.0, 3.0) == 0.5
