"""Check that the options in rows of the benchmarks exist."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from optsum.options.options import resolve

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("the source tree is not beside the tests", allow_module_level=True)


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, dict[str, Any]]]:
    sys.path.insert(0, str(FOLDER))
    try:
        from measure import rows_of  # type: ignore[import-not-found]

        return list(rows_of([]))
    finally:
        sys.path.remove(str(FOLDER))


def test_every_row_has_options_that_can_be_used(rows: list[tuple[str, dict[str, Any]]]) -> None:
    assert len(rows) > 80
    for row in (row for _, row in rows if row["ask"] != "guess"):
        for way in ({}, *row.get("beside", ())):
            options = {**row["options"], **way.get("options", {})}
            resolve({name: value for name, value in options.items() if name not in {"within", "lengths"}})


def test_no_two_rows_are_the_same(rows: list[tuple[str, dict[str, Any]]]) -> None:
    said = [(row["source"], row["ask"], row.get("cold"), row["options"], row.get("only")) for _, row in rows]
    assert [each for number, each in enumerate(said) if each in said[:number]] == []
