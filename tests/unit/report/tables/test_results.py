"""Test tables of enumerations: of optima and of near-optimal selections."""

from __future__ import annotations

from typing import Any

import pytest

from optsum.optima.optima import Nearness
from optsum.report.tables import near_table, optima_table
from optsum.running.enumerate import enumerate_topics, resolve_enumeration

TOPICS = [
    {"id": "one", "documents": [["a b", "b c", "a c", "d", "b a"]], "references": [["a b c"]]},
    {"id": "none", "documents": [["a b c d e f"]], "references": [["a"]]},
    {"id": "bad", "documents": [], "references": [["a"]]},
]


def enumerated(nearness: Nearness | None, **options: Any) -> list[Any]:
    resolved = resolve_enumeration({"metric": "rouge-1", "max_length": 4, "min_length": 2, **options}, nearness)
    return [result for topic in enumerate_topics(TOPICS, resolved, nearness) for result in topic]


def cells(table: Any) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in table.rows]


def test_one_line_of_what_is_near() -> None:
    table = near_table(enumerated(Nearness.given(best=2)))
    one, none, bad = cells(table)
    # Worth 3 of 3: 0+1, 0+2, 1+2, 1+4, 2+4; worth 2 of 3: 0, 1, 2, 4, each of them with the useless 3, and 0+4.
    assert one[:9] == ["one", "1.0000", "0.6667", "14", "64%", "0", "5", "0", "5 of 5"]
    assert none[:9] == ["none", "-", "-", "0", "-", "0", "0", "0", "0 of 1"]
    assert bad[:9] == ["bad", *["-"] * 8]
    assert "empty list" in bad[9]
    assert "irredundant" in table.text()


def test_lists_that_are_cut_short_say_at_least() -> None:
    (one, *_) = enumerated(Nearness.given(best=2), strategy="exhaustive", evaluation_limit=3)
    (row,) = cells(near_table([one]))
    assert row[3].startswith("at least ")
    (row,) = cells(optima_table([one]))
    assert "at least" in " ".join(row)


@pytest.mark.parametrize("nearness", [None, Nearness.given(best=1)], ids=["optima", "near"])
def test_both_count_the_same_optima(nearness: Nearness | None) -> None:
    table = (optima_table if nearness is None else near_table)(enumerated(nearness))
    assert "5" in cells(table)[0]
