"""Test searches that start from a given selection, and problems that can only evaluate."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest

import optsum
from optsum.cli import main
from optsum.system import clock
from optsum.testing import random_topic

STRATEGIES = ("auto", "branch-and-bound", "exhaustive", "milp", "greedy", "vns", "genetic", "random", "lead")


class Tour(optsum.Problem):
    """A black-box problem with values of units and of pairs, whose local optima trap a greedy search."""

    seed: int

    def __init__(self, seed: int, size: int, most: int) -> None:
        super().__init__(lengths=(1,) * size, max_length=most)
        object.__setattr__(self, "worth", np.random.default_rng(seed).integers(-9, 10, (size, size)))

    def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
        """Sum the values of pairs."""
        chosen = list(selection)
        key = int(self.worth[np.ix_(chosen, chosen)].sum())  # type: ignore[attr-defined]
        return optsum.Evaluation(key, self.excess(selection), float(key))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_ends_below_its_start(strategy: str) -> None:
    for seed in range(12):
        topic = random_topic(np.random.default_rng(seed), sentences=7)
        best = optsum.solve(topic, max_length=9)
        if best.selection is None:
            continue
        found = optsum.solve(topic, max_length=9, strategy=strategy, start=best.selection)
        assert found.objective == best.objective
        assert found.statistics["start"] == best.objective


def test_starts_come_from_rows_of_a_former_run(tmp_path: Path) -> None:
    lines, first, again = tmp_path / "t.jsonl", tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    lines.write_text('{"id": "t", "documents": [["a b", "b c d", "e"]], "references": [["a b c d"]]}\n')
    assert main(["solve", str(lines), "--max-length", "6", "-o", str(first)]) == 0
    same = ["--max-length", "6", "--start", str(first), "-o", str(again)]
    assert main(["solve", str(lines), "--strategy", "random", *same]) == 0
    assert [row.objective for row in optsum.solve_all(lines, max_length=6, strategy="random", start=first)] == [1.0]
    assert main(["compare", str(lines), "--strategies", "random", *same, "--overwrite"]) == 0


def test_topics_without_a_start_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    topics = [{"id": name, "documents": [["a b", "c"]], "references": [["a b c"]]} for name in "tuv"]
    rows = tmp_path / "rows.csv"
    rows.write_text("id,selection\nt,[0]\nother,[1]\nu,\n")
    starts: tuple[Any, ...] = (rows, {"t": [0]}, [optsum.solve(topics[0], max_length=3)])
    for start in starts:
        caplog.clear()
        assert [row.status for row in optsum.solve_all(topics, max_length=3, strategy="lead", start=start)]
        assert caplog.messages == ["2 of 3 topics: start has no selection for 'u'"]
    caplog.clear()
    assert list(optsum.solve_all(topics[:1], max_length=3, strategy="lead", start=rows))
    assert caplog.messages == []
    lines = tmp_path / "t.jsonl"
    lines.write_text("\n".join(map(json.dumps, topics)))
    assert main(["solve", str(lines), "--max-length", "3", "--start", str(rows), "-o", str(tmp_path / "o.jsonl")]) == 0
    assert "2 of 3 topics: --start has no selection for 'u'" in caplog.text


def test_impossible_starts_are_refused() -> None:
    topic = {"id": "t", "documents": [["a b", "b c d", "e"]], "references": [["a b c d"]]}
    with pytest.raises(optsum.InputError, match="violates the limits by 1"):
        optsum.solve(topic, max_length=4, start=[0, 1])
    with pytest.raises(optsum.InputError, match="names 9, which is not one of its units"):
        optsum.solve(topic, max_length=4, start=[9])
    with pytest.raises(optsum.InputError, match="whole number"):
        optsum.search(Tour(1, 9, 3), "vns", start=[0.5])  # type: ignore[list-item]


def test_both_names_of_a_limit_together_are_refused() -> None:
    assert optsum.Limits(time_limit=2).time_s == optsum.Limits(time_s=2).time_limit == 2
    assert optsum.Limits(time_limit=2).after(0.5) == optsum.Limits(time_s=1.5)
    with pytest.raises(optsum.OptionError, match="leave out one of the two"):
        optsum.Limits(time_limit=2, time_s=2)


def test_auto_is_never_below_greedy_and_vns_on_what_can_only_evaluate() -> None:
    for seed in range(3):
        problem = Tour(seed, 24, 8)
        limits = optsum.Limits(evaluations=4_000)
        found = {name: optsum.search(problem, name, limits, seed=seed) for name in ("auto", "greedy", "vns")}
        assert found["auto"].objective >= max(found["greedy"].objective, found["vns"].objective)  # type: ignore[type-var]
        small = Tour(seed, 11, 5)
        assert optsum.search(small).objective == optsum.search(small, "exhaustive").objective


@pytest.mark.parametrize("seed", range(4))
def test_auto_goes_the_way_of_vns_and_holds_what_greedy_search_finds(seed: int) -> None:
    seen: list[tuple[int, ...]] = []

    class Recorded(Tour):
        def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
            seen.append(selection)
            return super().evaluate(selection)

    problem = Recorded(seed, 30, 12)
    greedy = optsum.search(problem, "greedy")
    first = len(seen) + 2  # the time of greedy search is measured by evaluations
    seen.clear()
    alone = optsum.search(problem, "vns", seed=seed)
    way = seen[:]
    seen.clear()
    stopped = optsum.search(problem, seed=seed, time_limit=600, on_progress=lambda _: len(seen) <= first + len(way))
    assert len(set(way)) == len(way)  # no selection is evaluated twice
    way = [selection for selection in way if selection not in seen[:first]]
    assert seen[first : first + len(way)] == way
    assert stopped.statistics["ran"] == "vns"
    assert stopped.key >= max(alone.key, greedy.key)  # type: ignore[type-var]


def test_auto_begins_with_vns_where_greedy_search_would_not_end() -> None:
    class Slow(Tour):
        def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
            sleep(0.02)
            return super().evaluate(selection)

    problem = Slow(1, 40, 20)
    found = optsum.search(problem, seed=1, limits=optsum.Limits(time_s=0.2, grace_s=0.0))
    assert found.selection is not None
    assert len(found.selection) > 10  # within as many evaluations greedy search would not take a single unit


@pytest.mark.parametrize("strategy", ["auto", "greedy", "vns", "genetic", "exhaustive", "branch-and-bound", "frontier"])
def test_no_evaluation_that_takes_long_begins_after_the_limit(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now, seen = 0.0, []
    monkeypatch.setattr(clock, "perf_counter", lambda: now)

    class Slow(Tour):
        def evaluate(self, selection: tuple[int, ...]) -> optsum.Evaluation:
            nonlocal now
            seen.append((selection, now))
            now += 0.3
            return super().evaluate(selection)

    class Bounded(Slow):
        def bound(self, chosen: tuple[int, ...], open: tuple[int, ...]) -> int:  # noqa: A002
            return 9 * (len(chosen) + len(open)) ** 2

    for size, most in ((12, 5), (30, 12)):
        problem = (Bounded if strategy == "branch-and-bound" else Slow)(1, size, most)
        now, begun = 0.0, len(seen)
        verb = optsum.frontier if strategy == "frontier" else partial(optsum.search, strategy=strategy)
        found = verb(problem, time_limit=1)
        assert found.termination is optsum.Termination.TIME_LIMIT
        assert max(when for _, when in seen[begun:]) < 1
        if strategy not in {"exhaustive", "frontier"}:  # their walk evaluates the empty selection itself
            assert len({selection for selection, _ in seen[begun:]}) == len(seen) - begun


def test_two_selections_of_a_topic_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check this because rows of a comparison are of several strategies, so the meant one is unknown."""
    (tmp_path / "t.jsonl").write_text(json.dumps({"id": "t", "documents": [["a", "b"]], "references": [["a"]]}))
    rows = [{"id": "t", "selection": [unit]} for unit in (0, 0, 1)]
    for count, status in ((2, 0), (3, 2)):
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:count]))
        start = ["--max-length", "1", "--start", str(tmp_path / "rows.jsonl")]
        assert main(["solve", str(tmp_path / "t.jsonl"), *start]) == status
    assert "--start has two selections of 't': give the rows of one strategy" in capsys.readouterr().err


@pytest.mark.parametrize("start", [{"t": 5}, {"t": "0"}, [5], 5])
def test_a_start_without_a_list_of_units_is_refused(start: Any) -> None:
    topic = {"id": "t", "documents": [["a", "b"]], "references": [["a"]]}
    with pytest.raises(optsum.InputError, match=r"start (is|has) "):
        list(optsum.solve_all([topic], max_length=1, start=start))
