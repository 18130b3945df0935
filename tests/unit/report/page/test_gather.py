"""Test how rows become the data of a page: problems, strategies, ratios, and rows that are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from page_rows import TOPICS, rows_of

import optsum
from optsum.contracts.result import Result
from optsum.corpus.row_files import RowWriter, read_rows
from optsum.errors import InputError
from optsum.report.comparison import compare
from optsum.report.page.write import charts_of, gather, matrix_of, sentences_of, table_of, tiles_of, write_page

ROWS = rows_of()


def test_numbers_are_those_of_the_table_of_the_comparison() -> None:
    table = compare(TOPICS, strategies="greedy,lead", exact="branch-and-bound", max_length=4)
    for (name, (cell,)), row in zip(matrix_of(gather(ROWS)), table.rows, strict=True):
        assert cell is not None
        reached = f"{row.reached} of {row.optima}"
        assert (name, *cell[:3]) == (row.strategy, f"{row.mean_objective:.4f}", f"{row.mean_ratio:.4f}", reached)


def test_results_of_python_are_rows_too() -> None:
    table = compare(TOPICS[:1], strategies="greedy", exact="branch-and-bound", max_length=4, details=True)
    (problem,) = gather([result.to_row() for result in table.results]).problems
    assert problem.optima is not None
    assert problem.optima["count"] == "5"


def test_the_sentence_says_what_was_asked_for_and_what_is_proven() -> None:
    (sentence,) = sentences_of(gather(ROWS))
    assert sentence == (
        "4 topics; extracts of at most 4 words; ROUGE-1 recall against all references pooled; "
        "optimum proven by branch-and-bound for 3; 1 error."
    )


def test_errors_stand_first_with_their_sentence() -> None:
    lines = table_of(gather(ROWS))
    assert [line["id"][:6] for line in lines] == ["broken", "ties", "copies", "<scrip"]
    assert "no" in lines[0]["error"]


def test_the_summary_has_four_numbers() -> None:
    tiles = tiles_of(gather(ROWS))
    assert [what for _, what, _ in tiles] == [
        "mean oracle", "mean ratio of greedy", "topics whose optimum greedy misses", "tied optima (median)",
    ]  # fmt: skip
    assert tiles[3] == ("1", "tied optima (median)", "5 at most, for ties")


def test_only_values_of_the_same_objective_are_averaged() -> None:
    ways = [(metric, length) for metric in ("rouge-1", "rouge-2") for length in (3, 5)]
    rows = [row for metric, length in ways for row in rows_of(TOPICS[:1], metric=metric, max_length=length)]
    gathered = gather(rows)
    charts = charts_of(gathered)
    one, other = [chart for chart in charts if chart.title == "Value against length"]
    about = "Mean objective by maximum length ({} recall); 2 lengths."
    assert [one.about, other.about] == list(map(about.format, ("rouge-1", "rouge-2")))
    values = [[row["objective"] for row in rows if row["strategy"] == "branch-and-bound"][at:][:2] for at in (0, 2)]
    assert [[value for _, value in chart.series[0]] for chart in (one, other)] == values
    assert "mean oracle" not in [what for _, what, _ in tiles_of(gathered)]
    assert "problems whose optimum greedy misses" in [what for _, what, _ in tiles_of(gathered)]
    (oracle, *_) = tiles_of(gather(rows[:6]))
    assert oracle[1:] == ("mean oracle", "of 2 problems, proven")
    assert not any("topics" in chart.about + chart.y.title for chart in charts)


def test_ranges_of_sizes_do_not_overlap() -> None:
    topics = [{"id": str(size), "documents": [["a b"] * size], "references": [["a c"]]} for size in (2, 3, 5, 9)]
    (chart,) = [chart for chart in charts_of(gather(rows_of(topics))) if chart.title == "Time against size"]
    assert chart.table[0] == ["strategy", "2", "3 to 4", "5 to 8", "9"]


def test_rows_may_come_strategy_by_strategy() -> None:
    rows = rows_of(details=False)
    one, other = gather(rows), gather(sorted(rows, key=lambda row: str(row["strategy"])))
    assert matrix_of(one) == matrix_of(other)
    assert len(other.problems) == 4


def test_rows_without_details_are_a_page_too() -> None:
    gathered = gather(rows_of(details=False))
    assert [problem.text for problem in gathered.problems] == [None] * 4
    assert gathered.settings[0].sentence == "extracts; ROUGE-1"
    assert len(charts_of(gathered)) >= 3


def test_settings_stand_side_by_side() -> None:
    gathered = gather([*ROWS, *rows_of(TOPICS[:2], max_length=6), *rows_of(TOPICS[:2], metric="rouge-2")])
    assert [setting.label for setting in gathered.settings] == [
        "rouge-1 recall, at most 4 words", "rouge-1 recall, at most 6 words", "rouge-2 recall, at most 4 words",
    ]  # fmt: skip
    assert [name for name, _ in matrix_of(gathered)] == ["branch-and-bound", "greedy", "lead"]
    assert "Value against length" in [chart.title for chart in charts_of(gathered)]


def test_seeds_and_solvers_tell_rows_of_a_strategy_apart() -> None:
    rows = [*rows_of(TOPICS[:1], "random"), *rows_of(TOPICS[:1], "random", "none", seed=1)]
    assert gather(rows).names() == ["branch-and-bound", "random, seed 0", "random, seed 1"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"details": 3}, "details"),
        ({"details": {"options": 3}}, "options"),
        ({"details": {"options": {"max_length": "x"}}}, "max-length"),
        ({"details": {"options": {}, "documents": 3, "references": []}}, "documents"),
        ({"details": {**ROWS[0]["details"], "parts": [[1]]}}, "parts"),
        ({"details": {**ROWS[0]["details"], "optima": {"count": "x"}}}, "optima"),
        ({"details": {**ROWS[0]["details"], "optima": {"count": 1, "listed": [], "shares": [3]}}}, "optima"),
        ({"status": "great"}, "Status"),
    ],
)
def test_a_row_that_is_none_is_refused_by_its_number(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=rf"row 2: .*{words}"):
        gather([ROWS[1] | {"id": "other"}, {**ROWS[0], **change}])


def test_rows_of_labels_are_refused_by_name() -> None:
    labels = {name: value for name, value in ROWS[0].items() if name != "selection"} | {"labels": [1, 0]}
    with pytest.raises(InputError, match=r"row 1: this is a row of training labels, .*: give rows of solve"):
        gather([labels])


def test_the_same_rows_twice_are_refused() -> None:
    with pytest.raises(InputError, match=r"row 13: there are two rows of 'ties' by branch-and-bound"):
        gather([*ROWS, *ROWS])


def test_the_error_of_a_repeated_id_is_an_error_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    topics = [*TOPICS[:1], *TOPICS[:1], TOPICS[1], *TOPICS[:1]]
    (tmp_path / "topics.jsonl").write_text("".join(f"{json.dumps(topic)}\n" for topic in topics))
    compared = compare(tmp_path / "topics.jsonl", strategies="greedy,lead", max_length=4, details=True)
    with RowWriter(file) as writer:
        writer.write_all([result.to_row() for result in compared.results])
    found = list(read_rows(file))
    for rows in (found, found[-3:] + found[:-3]):
        lines = table_of(gathered := gather(rows))
        assert ["occurs twice" in line.get("error", "") for line in lines] == [True, True, False, False]
        assert [len(problem.found) for problem in gathered.problems if problem.error is None] == [3, 3]
    file.write_text(file.read_text() + file.read_text())
    with pytest.raises(InputError, match=r"rows\.jsonl:\d+: there are two rows of 'ties' by"):
        gather(read_rows(file))


def test_optima_of_an_enumeration_are_shown() -> None:
    from optsum.running.enumerate import enumerate_optima

    row = enumerate_optima(TOPICS[0], max_length=4).to_result(max_solutions=9).to_row()
    (problem,) = gather([Result.from_row(row).to_row()]).problems
    assert problem.optima is not None
    assert (problem.optima["count"], len(problem.optima["listed"])) == ("5", 5)
    assert sorted(share for _, share in problem.optima["shares"]) == [0.4] * 5


def test_a_page_of_one_strategy_has_no_table_of_strategies(tmp_path: Path) -> None:
    one = rows_of(TOPICS[:1], "branch-and-bound", "none", details=False)
    for name, rows in (("one", one), ("several", ROWS)):
        write_page(rows, tmp_path / name)
        assert ('id="strategies-heading"' in (tmp_path / name).read_text("utf-8")) == (name == "several")


def test_a_problem_with_contradictory_claims_has_no_optimum_and_no_ratios() -> None:
    topic = {"id": "t", "documents": [["a b", "c"]], "references": [["a b c"]]}
    rows = [optsum.solve(topic, strategy=name, max_length=2).to_row() for name in ("exhaustive", "greedy")]
    for claimed, judged in (("2/3", True), ("1/3", False)):  # greedy search has found 2/3
        rows[0] |= {"objective": 0.5, "bound": 0.5, "objective_exact": claimed, "bound_exact": claimed}
        (problem,) = gather(rows).problems
        assert (problem.optimum is not None) is judged
        assert [each.ratio is not None for each in problem.found.values()] == [judged, judged]
