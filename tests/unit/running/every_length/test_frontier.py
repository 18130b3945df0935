"""Compare the best value at every length with a separate search for each."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

import optsum
from optsum.cli import main
from optsum.contracts.result import Frontier, Reached, Result
from optsum.problem.problem import CoverageProblem
from optsum.running.frontier import bounds_of
from optsum.system.clock import NEVER
from optsum.testing import brute_force, random_coverage, random_topic

Held = TypeVar("Held", bound=Reached)

OPTIONS: list[dict[str, Any]] = [
    {},
    {"metric": "rouge-2"},
    {"metric": "rouge-1+rouge-2"},
    {"measure": "f1"},
    {"measure": "precision"},
    {"measure": "f1", "references": "mean"},
    {"metric": "rouge-2", "boundaries": "joined"},
    {"min_length": 4},
    {"metric": "ngram-1-2"},
]


def topic(seed: int) -> dict[str, Any]:
    return random_topic(np.random.default_rng(seed), name=f"t{seed}", sentences=7)


def at(steps: Sequence[Held], length: int) -> Held:
    (found,) = [step for step in steps if step.first <= length <= step.last]
    return found


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_every_length_has_the_value_of_its_own_search(options: dict[str, Any], seed: int) -> None:
    # 100 seeds passed once.
    low = options.get("min_length", 0) or 1
    lengths = range(low, 22)
    found = optsum.frontier(topic(seed), lengths=lengths, **options)
    about = found.frontier
    assert about is not None
    assert about.complete
    keys = []
    for length in lengths:
        step = at(about.steps, length)
        alone = optsum.solve(topic(seed), max_length=length, strategy="branch-and-bound", **options)
        greedy = optsum.solve(topic(seed), max_length=length, strategy="greedy", **options)
        assert step.objective == alone.objective == step.bound, length
        assert at(about.greedy or (), length).objective == greedy.objective, length
        if alone.objective is not None:
            assert step.length is not None
            assert step.length <= length
            assert step.objective_exact == alone.objective_exact
        keys.append((step.objective, step.first))
    if low == 1:
        values = [value for value, _ in keys]
        assert values == sorted(values)
        assert about.solves <= len(set(lengths))
        assert len({first for _, first in keys}) == len(set(values)), "equal values are one step"


def test_steps_say_gains_and_counts() -> None:
    small = {"id": "c", "documents": [["a b c", "c d"]], "references": [["a c d"]]}
    found = optsum.frontier(small, lengths=[1, 2, 3, 5], optima=True)
    assert found.frontier is not None
    steps = found.frontier.steps
    assert [(step.first, step.last, step.objective, step.count) for step in steps] == [
        (1, 1, 0.0, 1),
        (2, 3, 2 / 3, 1),
        (5, 5, 1.0, 1),
    ]
    assert [step.gain for step in steps] == [None, pytest.approx(2 / 3), pytest.approx(1 / 9)]


def large() -> dict[str, Any]:
    words = [f"w{number}" for number in range(60)]
    sentences = [" ".join(words[(7 * i + 11 * j) % 60] for j in range(5)) for i in range(60)]
    return {"id": "large", "documents": [sentences], "references": [[" ".join(words)]]}


@pytest.mark.parametrize("kind", ["recall", "window", "compressive", "joined", "f1", "sum", "product"])
def test_bounds_of_many_lengths_hold_at_each(kind: str) -> None:
    bounded = 0
    for seed in range(6):  # 200 passed once
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind, units=5))
        lengths = [length for length in (1, 3, 6, 10, 17) if length >= problem.min_length]
        for length, bound in bounds_of(problem, lengths, NEVER).items():
            best = brute_force(problem.within(length)).best
            assert best is None or best <= bound
            bounded += 1
    assert bounded > 6


def test_bands_need_no_exact_program_of_common_subsequences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.coverage.ceilings._PIECES", 0)  # no piece is small enough
    found = optsum.frontier(large(), lengths="5:40:5", metric="rougeL", time_limit=0.0).frontier
    assert found is not None
    assert not found.complete
    assert all(step.bound is not None and step.bound >= (step.objective or 0.0) for step in found.steps)


@pytest.mark.parametrize("options", [{"metric": "rouge-1"}, {"measure": "f1"}], ids=str)
def test_a_limit_leaves_a_band_that_holds_the_truth(options: dict[str, Any]) -> None:
    whole = optsum.frontier(large(), lengths="5:40:5", **options).frontier
    assert whole is not None
    assert whole.complete
    cut = optsum.frontier(large(), lengths="5:40:5", time_limit=0, **options).frontier
    if cut is None:  # the problem was not even built
        return
    assert (cut.complete, cut.termination) == (False, "time_limit")
    for length in range(5, 41, 5):
        truth, band = at(whole.steps, length), at(cut.steps, length)
        assert truth.objective is not None
        assert band.objective is None or band.objective <= truth.objective + 1e-12
        assert band.bound is None or band.bound >= truth.objective - 1e-12


def test_a_node_limit_leaves_a_band(tmp_path: Path) -> None:
    whole = optsum.frontier(large(), lengths="5:40:5").frontier
    cut = optsum.frontier(large(), lengths="5:40:5", node_limit=0).frontier
    assert whole is not None
    assert cut is not None
    assert (cut.complete, cut.termination) == (False, "node_limit")
    for length in range(5, 41, 5):
        truth, band = at(whole.steps, length), at(cut.steps, length)
        assert (band.objective or 0) <= (truth.objective or 0) <= (band.bound or 0)
    assert any(step.objective for step in cut.steps), "greedy's selections are known"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lengths": "a:b"}, "from 0"),
        ({"lengths": "5:1"}, "from 0"),
        ({"lengths": "1:9:0"}, "from 0"),
        ({"lengths": []}, "from 0"),
        ({"max_length": 5, "strategy": "greedy"}, "is not exact"),
        ({"max_length": 5, "references": "best"}, 'references="each"'),
        ({"formulation": "cover"}, "A frontier needs lengths"),
    ],
)
def test_problems_without_a_frontier_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(optsum.OptsumError, match=message):
        optsum.frontier(topic(1), **given)


def test_rows_tables_and_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics, out = tmp_path / "topics.jsonl", tmp_path / "out.jsonl"
    topics.write_text("".join(json.dumps(topic(seed)) + "\n" for seed in (1, 2)))
    asked = ["frontier", str(topics), "--lengths", "2:20:3", "-o", str(out)]
    pytest.importorskip("matplotlib")
    assert main([*asked, "--plot", str(tmp_path / "curve.svg")]) == 0
    printed = capsys.readouterr().out
    assert "greedy loses" in printed
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["frontier"]["lengths"] for row in rows] == ["2:20:3"] * 2
    assert re.search(r"; mean objective 0\.\d+ at the largest length; ", printed)
    assert main([*asked, "--resume", "--format", "latex"]) == 0
    latex = capsys.readouterr().out
    assert r"& $\leq$ 5 &" in latex
    assert "mean over all lengths.\n" in latex
    assert [Result.from_row(row).to_row() for row in rows] == rows
    read = [Frontier.from_row(row["frontier"]) for row in rows]
    assert [None if one is None else one.to_row() for one in read] == [row["frontier"] for row in rows]
    assert main([*asked, "--resume"]) == 0
    assert out.read_text().count("\n") == 2
    for other in (["--optima"], ["--no-greedy"]):
        assert main([*asked, *other, "--resume"]) == 2
    topics.write_text(json.dumps(topic(1)) + "\n")
    assert main(["frontier", str(topics), "--max-length", "12", "--optima"]) == 0
    assert "optima" in capsys.readouterr().out


@pytest.mark.parametrize("references", ["pooled", "mean", "first"])
@pytest.mark.parametrize("low", [1, 4, 9, 30])
def test_lengths_below_the_minimum_have_no_selection(low: int, references: str) -> None:
    for seed in range(6):
        options: dict[str, Any] = {"min_length": low, "references": references}
        given = topic(seed)
        found = optsum.frontier(given, max_length=low + 8, **options).frontier
        assert found is not None
        assert (found.complete, found.steps[0].first, found.steps[-1].last) == (True, 1, low + 8)
        for most in range(1, low + 9):
            step = next(step for step in found.steps if step.first <= most <= step.last)
            reached = next(one for one in found.greedy or () if one.first <= most <= one.last)
            alone = optsum.solve(given, max_length=most, **options) if most >= low else None
            assert step.objective_exact == (None if alone is None else alone.objective_exact)
            assert (reached.objective is None) == (step.objective is None)


def test_a_preset_with_a_window_and_a_length_of_nothing() -> None:
    words = [" ".join(f"w{(7 * i + j) % 40}" for j in range(9)) for i in range(30)]
    news = {"id": "t", "documents": [words], "references": [words[:12]]}
    steps = optsum.frontier(news, preset="lin-hovy-100").frontier.steps  # type: ignore[union-attr]
    assert (steps[0].first, steps[0].objective) == (1, None)
    assert steps[-1].objective == optsum.solve(news, preset="lin-hovy-100").objective
    for measure in ("recall", "f1"):
        (step,) = optsum.frontier(news, max_length=0, measure=measure).frontier.steps  # type: ignore[union-attr]
        assert (step.first, step.last, step.selection, step.objective, step.bound) == (0, 0, (), 0.0, 0.0)
    for lengths in ("-1:5", "0:5:0", "1:99999999999", str(10**13), "5:1"):
        with pytest.raises(optsum.OptionError, match="Lengths are numbers from 0"):
            optsum.frontier(news, lengths=lengths)
    with pytest.raises(optsum.OptionError, match="Lengths are numbers from 0"):
        optsum.frontier(news, max_length=10**12)


def test_max_length_and_lengths_together_are_refused() -> None:
    news = {"id": "t", "documents": [["a b", "c d e"]], "references": [["a c d"]]}
    with pytest.raises(optsum.OptionError, match="leave out one of them"):
        optsum.frontier(news, max_length=20, lengths=[5, 10])
