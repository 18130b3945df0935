"""Define topics with covers that several tests use, and compute means of a study's rows."""

from __future__ import annotations

from statistics import fmean
from typing import Any

TABLE_1: dict[str, Any] = {
    "id": "table 1",
    "cover": [
        [["s1"], ["s10", "s11"]],
        [["s3", "s5", "s6"]],
        [["s20", "s21", "s23"], ["s1", "s30", "s60"]],
    ],
}
MINIMUM = ("s1", "s3", "s5", "s6", "s30", "s60")
TEXT: dict[str, Any] = {
    "id": "text",
    "documents": [["one", "two words", "here are four words"], ["", "another one"]],
    "references": [["one two", "another"]],
    "cover": [[[0, 4], [2]], [[1], [2]]],
}
AIBO: dict[str, Any] = {
    "id": "aibo",
    "documents": [["AIBO costs 250,000 yen.", "It sold out at once."], ["Sony made a dog.", "3,000 were sold."]],
    "cover": [[[0], [2, 3]], [[1]]],
    "meta": {
        "condition": "long",
        "questions": [
            {"question": "How much is AIBO?", "answer": "250,000 yen"},
            {"question": "Who makes it?", "answers": ["Toshiba", "Sony"]},
            {"question": "How many were sold?", "answer": "3,000"},
        ],
    },
}


def mean(study: Any, system: str, condition: str, measure: str) -> float | None:
    """Return the mean of a measure of a system's rows under a condition; None if no row has the measure."""
    rows = [row for row in study.of("score") if (row["system"], row.get("condition") or "") == (system, condition)]
    known = [row[measure] for row in rows if row.get(measure) is not None]
    return fmean(known) if known else None
