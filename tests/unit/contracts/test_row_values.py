"""Check that any row that is read becomes a result or is refused by one sentence."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optsum.contracts.result import Result, Status, TracePoint
from optsum.errors import InputError
from optsum.system.clock import Termination

WHOLE = Result(
    id="t", strategy="vns", status=Status.FEASIBLE, termination=Termination.COMPLETED, objective=0.5, bound=1.0,
    objective_exact="1/2", bound_exact="1", numerator=1, denominator=2, selection=((1, 2), 3, "s"), length=4,
    summary=("a",), rouge={"rouge-1": {"recall": 0.5}}, seconds=1.5, seed=0, evaluations=3, nodes=1, sentence_count=9,
    statistics={"x": [1]}, trace=(TracePoint(0.5, 3, 0.5),), version="1", config_hash="0", extra={"own": {"a": 1}},
).to_row()  # fmt: skip

BAD: list[tuple[str, Any]] = [
    ("gap", -0.5),
    ("objective_exact", "1e999999999"),
    ("objective_exact", "1/0"),
    ("objective_exact", "nan"),
    ("objective_exact", 0.5),
    ("objective_exact", "9" * 5000),
    ("bound_exact", "1/" + "9" * 5000),
    ("bound_exact", "1_0"),
    ("bound_exact", "\u0661"),
    ("objective", float("nan")),
    ("objective", float("inf")),
    ("objective", "0.5"),
    ("objective", True),
    ("bound", 10**400),
    ("gap", "0"),
    ("numerator", 1.5),
    ("denominator", "2"),
    ("length", [4]),
    ("length", True),
    ("length", -1),
    ("seed", "0"),
    ("evaluations", -1),
    ("nodes", 1.0),
    ("seconds", float("nan")),
    ("seconds", "1"),
    ("seconds", -1.0),
    ("id", 3),
    ("strategy", ["vns"]),
    ("strategy", None),
    ("status", "good"),
    ("status", {}),
    ("termination", 3),
    ("selection", "ab"),
    ("selection", [1.5]),
    ("selection", [None]),
    ("selection", {"a": 1}),
    ("summary", "text"),
    ("summary", [["a"]]),
    ("rouge", {"rouge-1": 0.5}),
    ("rouge", {"rouge-1": {"recall": "x"}}),
    ("trace", [[1, 2]]),
    ("trace", [[1, 2, "x"]]),
    ("trace", {}),
    ("statistics", [1]),
    ("statistics", {"text_s": "1"}),
    ("statistics", {"search_s": float("nan")}),
    ("statistics", {"search_s": -1}),
    ("config_hash", 1),
    ("error", 1),
    ("version", {}),
    ("sentence_count", -1),
]


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: f"{value!r:.20}")
def test_a_value_of_another_kind_is_one_sentence(name: str, value: Any) -> None:
    began = time.perf_counter()
    with pytest.raises(InputError) as caught:
        Result.from_row({**WHOLE, name: value})
    assert str(caught.value).startswith("this is not a result row of optsum: ")
    assert len(str(caught.value)) < 250
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("name", "value"),
    [("count", -1), ("count", "many"), ("complete", 1), ("optima", [1]), ("always", "a"), ("units", "3")],
)
def test_a_wrong_value_in_an_enumeration_is_one_sentence(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} is "):
        Result.from_row({**WHOLE, "count": 2, "complete": True, "optima": [[1], [2]], name: value})


@pytest.mark.parametrize("row", [None, 3, [], "row"])
def test_values_that_are_no_objects_are_one_sentence(row: Any) -> None:
    with pytest.raises(InputError, match="this is not a result row of optsum but "):
        Result.from_row(row)


def test_rows_that_optsum_writes_are_read() -> None:
    assert Result.from_row(WHOLE).to_row() == WHOLE
    large = {**WHOLE, "count": "1" + "0" * 6000, "complete": True}  # JSON has numbers of so many digits as text
    assert Result.from_row(large).enumeration is not None


def test_units_of_sets_are_read_as_they_were_written() -> None:
    parts = [[0, 1], [0, 2]]
    row = {**WHOLE, "count": 1, "complete": True, "units": 3, "near": None, "optima": [parts], "always": parts}
    row |= {"never": [[1, 1]], "sample": [parts[:1]], "diverse": [parts]}
    found = Result.from_row(row).enumeration
    assert found is not None
    assert (found.optima, found.sample, found.diverse) == ([((0, 1), (0, 2))], [((0, 1),)], [((0, 1), (0, 2))])
    assert (found.always, found.never) == (((0, 1), (0, 2)), ((1, 1),))
    near = {"near": "within 1%", "at_least": 0.5, "at_least_exact": "1/2", "value_counts": [[0.5, 1]]}
    near |= {"unit_shares": [[[0, 1], 1.0], ["s2", 0.5]], "irredundant": 1.0, "irredundant_error": 0.0}
    again = Result.from_row({**row, **near})
    assert again.enumeration is not None
    assert again.enumeration.unit_shares == [((0, 1), 1.0), ("s2", 0.5)]
    assert again.to_row() == {**row, **near}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["1/0", "1e99", "optimal"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(sorted({*WHOLE, "count", "complete", "optima", "always", "units"})), values))
def test_any_json_is_a_result_or_a_sentence(changes: dict[str, Any]) -> None:
    try:
        result = Result.from_row({**WHOLE, **changes})
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert json.dumps(result.to_row())
        assert (result.key, result.bound_key, result.gap) is not None


@given(st.binary())
def test_any_bytes_are_rows_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    from optsum.corpus.row_files import read_rows

    path = tmp_path_factory.getbasetemp() / "rows"
    path.write_bytes(data)
    try:
        for row in read_rows(path):
            Result.from_row(row)
    except InputError as error:
        assert str(error)  # noqa: PT017
