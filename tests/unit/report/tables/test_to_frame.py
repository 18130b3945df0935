"""Test results, rows and tables as data frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import optsum
from optsum.corpus.row_files import RowWriter

pandas = pytest.importorskip("pandas")
TOPIC = {"id": "t", "documents": [["a b c", "c d e f", "f g", "a g"]], "references": [["a c d f g"]]}


def test_results_are_lines_with_a_column_for_each_field() -> None:
    results = list(optsum.solve_all([TOPIC, {**TOPIC, "id": "u"}, {"id": "v"}], max_length=5))
    frame = optsum.to_frame(results)
    assert list(frame["id"]) == ["t", "u", "v"]
    assert list(frame["status"]) == ["optimal", "optimal", "error"]
    assert str(frame["length"].dtype) == "Int64", "whole numbers stay whole beside what is missing"
    assert frame["length"].tolist() == [results[0].length, results[1].length, pandas.NA]
    assert str(frame["objective"].dtype) == "float64"
    assert frame["rouge.rouge-1.recall"][0] == results[0].rouge["rouge-1"]["recall"]  # type: ignore[index]
    assert "rouge" not in frame.columns
    assert frame["selection"][0] == list(results[0].selection or ())
    assert optsum.to_frame(iter(results)).equals(frame)
    assert optsum.to_frame(results[0])["id"].tolist() == ["t"]
    assert optsum.to_frame([]).shape == (0, 0)
    assert frame.groupby("status")["objective"].mean()["optimal"] == results[0].objective


def test_rows_files_and_comparisons_are_taken(tmp_path: Path) -> None:
    results = list(optsum.solve_all([TOPIC], max_length=5))
    rows = [result.to_row() for result in results]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    frame = optsum.to_frame(results)
    assert optsum.to_frame(rows).equals(frame)
    assert optsum.to_frame(file).equals(frame)
    table = optsum.compare([TOPIC], ["lead"], max_length=5)
    assert optsum.to_frame(table)["strategy"].tolist() == ["auto", "lead"]
    assert optsum.to_frame(table.results)["strategy"].tolist() == ["auto", "lead"]


def test_a_table_keeps_columns_without_values(tmp_path: Path) -> None:
    rows = [result.to_row() for result in optsum.solve_all([TOPIC], max_length=5)]
    for name in ("rows.csv", "rows.jsonl", "rows.parquet"):
        with RowWriter(tmp_path / name) as writer:
            writer.write_all(rows)
        frame = optsum.to_frame(tmp_path / name)
        assert frame["error"].isna().all()
        assert [*frame] == [*optsum.to_frame(rows)]


def test_numbers_lose_nothing() -> None:
    frame = optsum.to_frame([{"a": 2**70, "b": None, "c": 2**62 + 1}, {"a": 3, "b": True, "d": 1}, {"d": 0.5}])
    assert frame["a"].tolist() == [2**70, 3, None]
    assert frame["c"].tolist() == [2**62 + 1, pandas.NA, pandas.NA]
    assert frame["b"].tolist() == [pandas.NA, True, pandas.NA]
    assert frame["d"].tolist()[1:] == [1.0, 0.5]


@pytest.mark.parametrize("wrong", [[3], ["text"], [None]])
def test_objects_that_are_no_rows_are_refused(wrong: list[Any]) -> None:
    with pytest.raises(optsum.InputError, match="is neither a result nor a row"):
        optsum.to_frame(wrong)
