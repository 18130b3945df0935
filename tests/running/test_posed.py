"""Every verb takes a problem where it takes a topic."""

from __future__ import annotations

import json
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.cli import main


class Weighed(optsum.Problem):
    """A problem that can only evaluate: worth by unit, less one for each pair of neighbours."""

    def __init__(self, worth: tuple[int, ...], **known: Any) -> None:
        super().__init__(lengths=(1,) * len(worth), **known)
        object.__setattr__(self, "worth", worth)

    worth: tuple[int, ...]

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Sum up."""
        chosen = set(selection)
        key = sum(self.worth[unit] for unit in chosen) - sum(unit + 1 in chosen for unit in chosen)
        return optsum.Evaluation(key, self.excess(selection), key)


def knapsack(seed: int, size: int = 9, **known: Any) -> optsum.CoverageProblem:
    """Return a random knapsack."""
    rng = np.random.default_rng(seed)
    lengths, worth = rng.integers(1, 20, size), rng.integers(1, 20, size)
    instance = optsum.Coverage.of(
        lengths, [{}] * size, [], mass=[worth, [0] * size], max_length=int(lengths.sum() // 2)
    )
    return optsum.CoverageProblem.of(instance, **known)


def cover(**known: Any) -> optsum.CoverageProblem:
    """Return a set cover whose optimum is 3."""
    rows = [{0: 1}, {0: 1, 1: 1}, {2: 1}, {1: 1, 2: 1}, {3: 1}]
    return optsum.CoverageProblem.of(optsum.Coverage.of([1] * 5, rows, [[1]] * 4, goal=optsum.Sense.MINIMIZE), **known)


def best_of(problem: optsum.Problem) -> tuple[Any, set[tuple[int, ...]]]:
    """Return the best value and all selections that have it, by trying everything."""
    every = chain.from_iterable(combinations(range(problem.size), count) for count in range(problem.size + 1))
    found = [(problem.evaluate(selection), selection) for selection in every]
    keys = [(evaluation.key, selection) for evaluation, selection in found if evaluation.feasible]
    best = (max if problem.sense is optsum.Sense.MAXIMIZE else min)(key for key, _ in keys)
    return best, {selection for key, selection in keys if key == best}


PROBLEMS = {
    "coverage": lambda: knapsack(1),
    "cover": cover,
    "evaluates": lambda: Weighed((3, 1, 4, 1, 5, 9, 2, 6), max_length=4),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_solve_and_enumerate_give_what_trying_everything_gives(kind: str) -> None:
    problem = PROBLEMS[kind]()
    best, every = best_of(problem)
    result = optsum.solve(problem)
    assert (result.id, result.status) == ("problem", optsum.Status.OPTIMAL)
    assert result.objective == best
    assert tuple(result.selection or ()) in every
    optima = optsum.enumerate_optima(problem)
    assert optima.complete
    assert set(optima) == every
    near = optsum.enumerate_optima(problem, best=2)
    assert set(near) >= every


def test_names_are_those_of_rows_and_numbers_where_there_are_none() -> None:
    given = [knapsack(1, name="first"), PROBLEMS["evaluates"](), knapsack(2)]
    for workers in (1, 2):
        found = list(optsum.solve_all(given[::2], workers=workers))
        assert [row.id for row in found] == ["first", "1"]
    assert [row.id for row in optsum.solve_all(iter(given))] == ["first", "1", "2"]
    assert optsum.solve(cover(labels=list("abcde"))).summary == ("a", "d", "e")


def test_strategies_are_compared_on_problems() -> None:
    table = optsum.compare([PROBLEMS["evaluates"](), knapsack(3)], strategies=["greedy", "vns"], seeds=range(2))
    assert [(row.strategy, row.problems, row.failed) for row in table.rows] == [
        ("auto", 2, 0),
        ("greedy", 4, 0),
        ("vns", 4, 0),
    ]
    assert table.rows[2].mean_ratio == 1
    small = optsum.compare([cover()], strategies=["greedy", "genetic"])
    assert all(row.mean_ratio is not None and row.mean_ratio <= 1 for row in small.rows)


def test_a_frontier_has_the_best_value_at_every_length() -> None:
    for problem in (knapsack(4), Weighed((3, 1, 4, 1, 5, 9), max_length=3)):
        for step in optsum.frontier(problem).frontier.steps:  # type: ignore[union-attr]
            assert step.objective == best_of(problem.within(step.last))[0]


def test_what_is_exported_is_solved_from_its_file(tmp_path: Path) -> None:
    given = [knapsack(5, name="a"), knapsack(6, name="b")]
    paths = [one.path for one in optsum.export(given, tmp_path, format="json") if one.path is not None]
    lines = tmp_path / "instances.jsonl"
    lines.write_text("".join(path.read_text(encoding="utf-8") for path in paths), encoding="utf-8")
    values = [optsum.solve(problem).objective for problem in given]
    assert [row.objective for row in optsum.solve_all(lines)] == values
    assert [one.error for one in optsum.export(given, tmp_path, format="lp")] == [None, None]
    rows, page = tmp_path / "rows.jsonl", tmp_path / "page.html"
    for command in (
        ["solve", str(lines), "-o", str(rows)],
        ["solve", str(lines), "-o", str(rows), "--resume"],
        ["compare", str(lines), "--strategies", "greedy", "-o", str(rows), "--overwrite", "--details"],
        ["report", str(rows), "-o", str(page)],
        ["enumerate", str(lines), "-o", str(tmp_path / "all.jsonl")],
        ["frontier", str(lines), "--lengths", "5:20:5", "-o", str(tmp_path / "frontier.jsonl")],
        ["export", str(lines), "--format", "mps", "-o", str(tmp_path / "mps")],
    ):
        assert main(command) == 0, command
    written = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["id"], row["objective"], row["complete"]) for row in written] == [
        ("a", values[0], True),
        ("b", values[1], True),
    ]
    experiment = {"topics": str(lines), "grid": {"strategy": ["greedy", "auto"]}}
    assert optsum.run(experiment, tmp_path / "run").complete


def test_a_function_makes_problems(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(
        "import optsum\n\n\ndef make():\n"
        "    for size in (2, 3):\n"
        "        rows = [{0: 1}] * size\n"
        "        yield optsum.CoverageProblem.of(optsum.Coverage.of([1] * size, rows, [[1] * size], max_length=2))\n",
        encoding="utf-8",
    )
    place = f"{tmp_path / 'made.py'}:make"
    assert [(row.id, row.objective) for row in optsum.solve_all(place)] == [("0", 2.0), ("1", 2.0)]
    assert main(["solve", place]) == 0
    with pytest.raises(optsum.InputError, match="makes no problems"):
        optsum.solve_all(f"{tmp_path / 'made.py'}:nothing")


def test_what_does_not_go_together_is_said() -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a"]]}
    mixed = list(optsum.solve_all([knapsack(1), topic, cover()]))
    assert [row.status.value for row in mixed] == ["optimal", "error", "error"]
    assert "text among problems" in str(mixed[1].error)
    assert "minimize" in str(mixed[2].error)
    other = list(optsum.solve_all([topic, knapsack(1)], max_length=3))
    assert "no text" in str(other[1].error)
    with pytest.raises(optsum.UnsupportedError, match="linear model"):
        optsum.solve(PROBLEMS["evaluates"](), strategy="milp")
    assert optsum.solve(knapsack(1), max_length=5).length <= 5  # type: ignore[operator]
