"""Check that the line for a paper differs exactly if results cannot be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.options.options import resolve_score
from optsum.report.system_scores import SystemScores, score_rows

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
        {"max_sentences": 1}, {"max_characters": 9}, {"per_document": 1},
        {"require": "1"}, {"forbid": "0"}, {"exclusive": 0.5},
    ],
)  # fmt: skip
def test_options_that_make_results_differ_are_in_the_line(options: dict[str, Any]) -> None:
    assert signature(**options) != signature()
    assert "\n" not in signature(**options)


def test_the_line_of_similarities_names_vectors_and_steps(tmp_path: Path) -> None:
    arrays = {"t/sentences": np.eye(2), "t/references": np.array([[0.6, 0.8]])}
    for name, scale in (("one", 1.0), ("other", -1.0)):
        np.savez(tmp_path / f"{name}.npz", **{key: scale * value + value.mean() for key, value in arrays.items()})
    meaning = {"metric": "similarity", "vectors": str(tmp_path / "one.npz")}
    line = signature(**meaning)
    assert "|unit:10000|vectors:" in line
    assert "|tok:" not in line
    assert signature(**meaning, similarity_unit=100) != line
    assert signature(**{**meaning, "vectors": str(tmp_path / "other.npz")}) != line


@pytest.mark.parametrize("options", [{"strategy": "greedy"}, {"seed": 3}, {"time_limit": 9}])
def test_the_strategy_is_not_in_the_line(options: dict[str, Any]) -> None:
    assert signature(**options) == signature()


def test_the_line_of_a_cover_has_no_metric() -> None:
    covers = {"id": "t", "cover": [[["s1"]]]}
    assert optsum.solve(covers, formulation="cover").signature == (
        f"form:cover|weights:one|uncoverable:error|optsum:{optsum.__version__}"
    )


def test_rows_of_searches_and_of_labels_carry_it() -> None:
    result = optsum.solve(TOPIC, max_length=3)
    row = result.to_row()
    assert row["signature"] == result.signature
    assert optsum.Result.from_row(row) == result
    del row["signature"]  # as in rows of an earlier version
    assert optsum.Result.from_row(row).signature is None
    (labels,) = optsum.labels([TOPIC], max_length=3)
    assert labels["signature"] == result.signature
    tokens = {"id": "t", "documents": [[["cats", "bark"]]], "references": [[["cats"]]]}
    assert "|tok:tokens|" in optsum.solve(tokens, max_length=3).to_row()["signature"]


def test_the_line_names_the_best_reference() -> None:
    two = {**TOPIC, "references": [["cats bark mew"], ["dogs"]]}
    found = optsum.solve(two, max_length=3, references="best").signature
    assert found is not None
    assert "|refs:best|" in found


def test_a_topic_that_could_not_be_used_has_no_line() -> None:
    _, result = optsum.solve_all([TOPIC, {"id": "of another kind", "documents": 3}], max_length=3)
    assert result.to_row()["signature"] is None


def scored(topic: dict[str, Any] = TOPIC, summary: Any = ("cats bark",), **options: Any) -> str:
    ((row,),) = score_rows(
        [topic], [{"topic_id": "t", "system": "s", "summary": list(summary)}], SystemScores(resolve_score(options))
    )
    return str(row["signature"])


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "rouge-2"}, {"references": "mean"}, {"references": "best"}, {"tokenizer": "unicode"}, {"stem": True},
        {"stemmer": "rouge-score"}, {"stopwords": "drop"}, {"counts": "set"}, {"model_units": "sentences"},
        {"max_words": 100},
    ],
)  # fmt: skip
def test_options_that_make_scores_differ_are_in_their_line(options: dict[str, Any]) -> None:
    assert scored(**options) != scored()


def test_scores_say_how_the_best_reference_was_chosen_and_how_text_was_cut() -> None:
    assert scored(best_by="f1") == scored()
    assert scored(references="best", best_by="f1") != scored(references="best")
    tokens = {"id": "t", "documents": [[["cats"]]], "references": [[["cats"]]]}
    assert "|tok:tokens|" in scored(tokens, [["cats"]])


def test_a_summary_that_could_not_be_scored_has_no_line() -> None:
    assert scored(summary=[3]) == "None"
