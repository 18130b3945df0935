"""The line for a paper differs where results cannot be compared, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

import optsum

TOPIC: dict[str, Any] = {"id": "t", "documents": [["cats bark loud", "dogs mew"]], "references": [["cats bark mew"]]}


def signature(**options: Any) -> str:
    found = optsum.solve(TOPIC, **{"max_length": 3, **options}).signature
    assert found is not None
    return found


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "rouge-2"}, {"measure": "f1"}, {"references": "mean"}, {"max_length": 4}, {"min_length": 1},
        {"length_unit": "sentences"}, {"tokenizer": "unicode"}, {"stem": True}, {"stemmer": "rouge-score"},
        {"stopwords": "drop"}, {"counts": "set"}, {"boundaries": "joined"}, {"model_units": "sentences"},
    ],
)  # fmt: skip
def test_what_makes_results_differ_is_in_it(options: dict[str, Any]) -> None:
    assert signature(**options) != signature()
    assert "\n" not in signature(**options)


@pytest.mark.parametrize("options", [{"strategy": "greedy"}, {"seed": 3}, {"time_limit": 9}])
def test_how_it_was_searched_is_not(options: dict[str, Any]) -> None:
    assert signature(**options) == signature()


def test_a_cover_has_no_metric() -> None:
    covers = {"id": "t", "cover": [[["s1"]]]}
    assert optsum.solve(covers, formulation="cover").signature == (
        f"form:cover|weights:one|uncoverable:error|optsum:{optsum.__version__}"
    )


def test_it_is_no_part_of_a_row() -> None:
    result = optsum.solve(TOPIC, max_length=3)
    assert "signature" not in result.to_row()
    assert optsum.Result.from_row(result.to_row()) == result
