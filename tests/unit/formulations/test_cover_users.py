"""Test covers in baselines, tables and on the command line, with ids of any kind."""

from __future__ import annotations

import json
import random
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cover_instances import Clauses, brute_force, cover_of, random_clauses, random_lengths
from cover_topics import MINIMUM, TABLE_1, TEXT

import optsum
from optsum.cli import main
from optsum.contracts.result import Result, Status
from optsum.corpus.topic import as_topic
from optsum.corpus.topics import system_of
from optsum.coverage.instance import Coverage, Sense
from optsum.options.options import ScoreOptions, resolve
from optsum.problem.problem import CoverageProblem, Evaluation, Problem, Selection
from optsum.report.system_scores import SystemScores, score_rows
from optsum.report.tables import headline, optima_table, results_table
from optsum.running.search import search

# --- ids of any kind ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cover", "selection"),
    [
        ([[["s1"]], [["s10", "s9"]]], ("s1", "s9", "s10")),
        ([[[7]], [[12, 0]]], (0, 7, 12)),
        ([[[-3]], [[2]]], (-3, 2)),
        ([[["b"]], [[3, "a"]]], (3, "a", "b")),
        ([[["文3"]], [["é", "Satz 1", "e\u0301"]], [["👍🏽"]]], ("Satz 1", "e\u0301", "é", "文3", "👍🏽")),
        ([[[""]], [[" "]], [["\t"]]], ("", "\t", " ")),
        ([[["a", "a", "b", "a"]], [["b", "a"], ["a", "b", "b"]]], ("a", "b")),
        ([[[10**30]], [["x" * 500]]], (10**30, "x" * 500)),
        ([[["1e3"]], [["01"]], [[1]]], (1, "01", "1e3")),
    ],
    ids=["text", "numbers", "negative", "mixed", "unicode", "blank", "repeated", "long", "like numbers"],
)
@pytest.mark.parametrize("strategy", ["milp", "branch-and-bound", "greedy", "lead"])
def test_ids_of_any_kind(cover: Any, selection: tuple[Any, ...], strategy: str) -> None:
    result = optsum.solve({"id": "t", "cover": cover}, formulation="cover", strategy=strategy)
    assert (result.selection, result.objective) == (selection, len(selection))
    assert Result.from_row(json.loads(json.dumps(result.to_row()))).selection == selection


def test_extracts_are_scored_in_the_ids_of_the_input() -> None:
    named = {**TEXT, "meta": {"sentence_ids": ["d1.1", "d1.2", 7, "d2.1", "d2.2"]}, "cover": [[["d1.2", 7]]]}
    text = ["another one", "two words", "here are four words"]

    def rouge(topic: dict[str, Any], **given: Any) -> Any:
        system = system_of({"topic_id": "text", "system": "s", **given})
        return optsum.score([as_topic(topic)], [system])

    expected = rouge(TEXT, summary=text).rows[0].rouge
    assert rouge(named, selection=["d2.2", "d1.2", 7]).rows[0].rouge == expected
    assert rouge(named, selection=[4, 1, 7]).rows[0].rouge == expected, "unit numbers still serve"
    assert rouge(TEXT, selection=[4, 1, 2]).rows[0].rouge == expected
    for topic, selection in ((TEXT, ["d2.2"]), (named, ["nosuch"]), (named, [5])):
        assert rouge(topic, selection=selection).failed == 1
    (row,) = [
        row
        for rows in score_rows(
            [as_topic(named)],
            [system_of({"topic_id": "text", "system": "s", "selection": ["x"]})],
            SystemScores(ScoreOptions()),
        )
        for row in rows
    ]
    assert "names unit 'x', but topic 'text' has 5 sentences" in row["error"]


def test_the_selection_of_a_solver_can_be_scored() -> None:
    result = optsum.solve(TEXT, formulation="cover")
    system = system_of({"topic_id": "text", "system": "oracle", "selection": list(result.selection or ())})
    assert optsum.score([as_topic(TEXT)], [system]).summaries == 1


# --- heuristics ---------------------------------------------------------------------------------------------------


def covers(clauses: Clauses, selection: Collection[int]) -> bool:
    return all(any(set(chosen) <= set(selection) for chosen in clause) for clause in clauses)


def test_a_lead_is_the_shortest_beginning_that_covers() -> None:
    rng = random.Random(3)  # noqa: S311
    for _ in range(100):
        units = rng.randint(1, 12)
        clauses = random_clauses(rng, units=units, clauses=rng.randint(1, 8))
        lead = search(CoverageProblem.of(cover_of(clauses, random_lengths(rng, units))), "lead").selection
        assert lead == next(tuple(range(n)) for n in range(units + 1) if covers(clauses, range(n)))


def test_a_random_cover_ends_with_a_needed_sentence() -> None:
    found = set()
    for seed in range(100):
        clauses = random_clauses(random.Random(1), units=12, clauses=5)  # noqa: S311
        selection = search(CoverageProblem.of(cover_of(clauses, [1] * 12)), "random", seed=seed).selection
        assert selection is not None
        assert covers(clauses, selection)
        # The last unit drawn was needed; which one it was is no longer known.
        assert any(not covers(clauses, set(selection) - {unit}) for unit in selection)
        found.add(selection)
    assert len(found) > 10


def test_baselines_stop_on_covers_of_one_s_own_too() -> None:
    problem = OwnCover(lengths=(1, 1, 1, 1), sense=Sense.MINIMIZE)
    assert search(problem, "lead").selection == (0, 1, 2)
    for seed in range(20):
        selection = search(problem, "random", seed=seed).selection
        assert selection is not None
        assert {0, 2} <= set(selection)


class OwnCover(Problem):
    """A problem in which units 0 and 2 are required."""

    def evaluate(self, selection: Selection) -> Evaluation:
        return Evaluation(len(selection), len({0, 2} - set(selection)), len(selection))


def test_a_lead_that_never_covers_is_no_solution() -> None:
    nothing = Coverage.of([1, 1], [{0: 1}, {}], [[1], [1]], goal=Sense.MINIMIZE)
    for strategy in ("lead", "random", "greedy"):
        result = search(CoverageProblem.of(nothing), strategy)
        assert (result.status, result.selection) == (Status.NO_SOLUTION, None)


def test_greedy_covers_have_no_superfluous_unit() -> None:
    rng = random.Random(5)  # noqa: S311
    for _ in range(80):
        clauses = random_clauses(rng, units=12, clauses=rng.randint(3, 10))
        lengths = [rng.randint(1, 5) for _ in range(12)]
        result = search(CoverageProblem.of(cover_of(clauses, lengths)), "greedy")
        assert result.selection is not None
        assert covers(clauses, result.selection)
        assert not any(covers(clauses, set(result.selection) - {unit}) for unit in result.selection)
        least, _ = brute_force(clauses, lengths)
        assert result.objective is not None
        assert result.bound is not None
        assert result.bound <= least <= result.objective


# --- the command line ---------------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the source tree is not beside the tests")


@examples
@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--strategy", "branch-and-bound"],
        ["--strategy", "exhaustive"],
        ["--backend", "pyomo:highs"],
        ["--backend", "cp-sat"],
        ["--backend", "rc2"],
    ],
    ids=" ".join,
)
def test_the_papers_table_from_its_file(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    package = {"cp-sat": "ortools", "rc2": "pysat"}.get(flags[-1] if flags else "")
    if package:
        pytest.importorskip(package)
    assert main(["solve", str(EXAMPLES / "tsc3.txt"), "--formulation", "cover", *flags]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["id"], row["status"], row["objective"], row["selection"]) == ("tsc3", "optimal", 6, list(MINIMUM))


@examples
@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive"])
def test_enumerate_on_the_command_line(strategy: str, capsys: pytest.CaptureFixture[str]) -> None:
    file, flags = str(EXAMPLES / "data" / "covers.jsonl"), ["--formulation", "cover", "--strategy", strategy]
    assert main(["enumerate", file, *flags]) == 0
    rows = list(map(json.loads, capsys.readouterr().out.splitlines()))
    assert [(row["objective"], row["count"], row["complete"]) for row in rows] == [
        (4, 4, True), (6, 1, True), (3, 2, True), (7, 2, True),
    ]  # fmt: skip
    assert sorted(rows[2]["optima"]) == [[0, 1, 12], [0, 11, 12]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "minimum cover, as few sentences as possible"),
        ({"weights": "length"}, "minimum cover, as few words as possible"),
        ({"weights": "length", "length_unit": "characters"}, "minimum cover, as few characters as possible"),
        ({"uncoverable": "skip"}, "as few sentences as possible, abstract sentences without any alternative left out"),
        ({"uncoverable": "skip", "max_length": 9}, "most claims within 9 words, claims that nothing supports left out"),
        ({"preset": None, "metric": "rouge-2"}, "minimum cover, as few sentences as possible"),
    ],
)
def test_headings_of_tables_have_no_metric(options: dict[str, Any], words: str) -> None:
    heading = headline(resolve({"formulation": "cover", **options}))
    assert words in heading
    assert "rouge" not in heading


def test_tables_count_sentences() -> None:
    result = optsum.solve(TABLE_1, formulation="cover")
    (line,) = results_table([result]).rows
    assert line[1:5] == ["6", "6", "0.0%", "optimal"]
    assert line[6] == "s1 s3 s5 s6 s30 s60"
    assert results_table([replace(result, status=Status.FEASIBLE, bound=4.5, bound_exact=None)]).rows[0][2] == "4.5000"
    many = {"id": "many", "cover": [[[number]] for number in range(40)]}
    (line,) = results_table([optsum.solve(many, formulation="cover")]).rows
    assert line[6].endswith("23 24 and 15 more")
    enumerated = optsum.enumerate_optima(TABLE_1, formulation="cover").to_result()
    assert optima_table([enumerated]).rows[0][1:6] == ["6", "1", "6", "0", "5"]
