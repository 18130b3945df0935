"""Test all optima of a topic in the numbering of the input, in Python and on the command line."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_oracle import Plain

import optsum
from optsum.cli import main
from optsum.contracts.result import Result
from optsum.optima import diagram
from optsum.running import enumerate as enumerating
from optsum.system.clock import Deadline
from optsum.testing import KINDS, random_coverage, random_topic


@pytest.mark.parametrize("strategy", ["branch-and-bound", "exhaustive"])
def test_same_sets_as_from_text(strategy: str) -> None:
    rng = np.random.default_rng(7)
    several = 0
    for number in range(150):
        topic = random_topic(rng, name=str(number))
        metric = str(rng.choice(["rouge-1", "rouge-2", "rouge-su0"]))
        longest = int(rng.integers(1, 16))
        shortest = int(rng.integers(1, longest + 1)) if rng.random() < 0.4 else 0
        options = {"metric": metric, "max_length": longest, "min_length": shortest}
        plain = Plain(topic, options)
        truth, units = plain.truth(), plain.units()
        sets = {chosen for chosen in truth.optima if units.issuperset(chosen)}
        optima = optsum.enumerate_optima(topic, **options, strategy=strategy)
        assert optima.complete
        assert set(optima) == sets, (topic, options)
        assert optima.count == len(sets) == len(list(optima))
        several += len(sets) > 1
        if not sets:
            assert optima.result.status is optsum.Status.INFEASIBLE
            continue
        assert optima.result.key == truth.best
        assert optima.result.status is optsum.Status.OPTIMAL
        assert optima.always == tuple(sorted(set.intersection(*map(set, sets))))
        assert set(optima.never).isdisjoint(set().union(*map(set, sets)))
        for chosen in optima.minimal():
            assert not any(set(other) < set(chosen) for other in sets)
    assert several > 30


def test_paper_example_of_f_measure() -> None:
    # Hirao et al. 2017, section 6.2.3: S = {1, 2, 3, 4}, O1 = {1, 2, 5, 6}, O2 = {1, 2, 3}.
    sets = optsum.Optima.of_sets([(1, 2, 5, 6), (1, 2, 3)], value=1)
    agreement = sets.agreement({1, 2, 3, 4})
    assert (agreement.precision, agreement.recall) == (Fraction(5, 8), Fraction(3, 4))
    assert float(agreement.f_measure) == pytest.approx(0.6818, abs=5e-5)
    first, second = (optsum.Optima.of_sets([one], value=1).agreement({1, 2, 3, 4}) for one in ((1, 2, 5, 6), (1, 2, 3)))
    assert (first.precision, first.recall, first.f_measure) == (Fraction(1, 2),) * 3
    assert (second.precision, second.recall) == (Fraction(3, 4), 1)
    assert float(second.f_measure) == pytest.approx(0.857, abs=5e-4)


def test_units_are_those_of_the_input() -> None:
    topic = {
        "id": "t",
        "documents": [["no match here", "a b"], ["nothing", "b a", "c"]],
        "references": [["a b c"]],
    }
    optima = optsum.enumerate_optima(topic, max_length=3)
    assert list(optima) == [(1, 4), (3, 4)]
    assert optima.share() == {1: Fraction(1, 2), 3: Fraction(1, 2), 4: Fraction(1)}
    assert optima.always == (4,)
    assert optima.never == ()
    # Unit 0 is not a unit of the problem, but a system may select it.
    assert optima.agreement([0, 4]).precision == Fraction(1, 2)
    assert optima.agreement([4]).precision == 1
    assert optima.agreement([4, "other 0"]).precision == Fraction(1, 2)
    with pytest.raises(optsum.InputError, match=r"There is no unit 0: the units are 1, 3, 4\."):
        optima.missing([0])
    with pytest.raises(optsum.InputError, match=r"There is no unit '4': the units are 1, 3, 4\."):
        optima.agreement(["4"])


def test_missing_units_have_the_numbers_of_the_input() -> None:
    documents = [["a b .", "a c .", "b d .", "c d .", "x y .", "a z ."]]
    found = optsum.enumerate_optima({"id": "t", "documents": documents, "references": [["a b c d ."]]}, max_length=6)
    assert found.missing([5, 3]) == found.never == (5,)


@pytest.mark.parametrize("wrong", [-1, "3", 1.5, True])
def test_counts_of_sets_are_checked(wrong: Any) -> None:
    topic = {"id": "t", "documents": [["a b", "b c"]], "references": [["a b c"]]}
    found = optsum.enumerate_optima(topic, max_length=4)
    with pytest.raises(optsum.InputError, match="The number of sets is"):
        found.best_first(wrong)
    for name in ("max_solutions", "sample", "diverse"):
        with pytest.raises(optsum.InputError, match=f"The number of sets of {name} is"):
            found.to_result(**{name: wrong})
    for method in (found.irredundant, found.weighted_share):
        with pytest.raises(optsum.InputError, match="The seed is"):
            method("a")


def test_an_enumeration_at_a_limit_has_a_selection_and_a_bound() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(60)]
    sentences = [" ".join(rng.choice(words, size=8).tolist()) for _ in range(80)]
    references = [[" ".join(rng.choice(words, size=60).tolist())] for _ in range(2)]
    topic = {"id": "hard", "documents": [sentences], "references": references}
    optima = optsum.enumerate_optima(topic, max_length=120, node_limit=1)
    assert not optima.complete
    row = optima.to_result()
    assert row.termination is optsum.Termination.NODE_LIMIT
    assert row.status is optsum.Status.FEASIBLE
    assert row.key is not None
    assert row.bound_key is not None
    assert row.bound_key > row.key
    assert optsum.solve(topic, strategy="greedy", max_length=120).bound_key >= row.key


def test_a_limit_is_a_row(tmp_path: Path) -> None:
    topics = tmp_path / "topics.jsonl"
    words = ["a", "b", "c", "d", "e", "f", "g", "h"]
    sentences = [" ".join(words[k:] + words[:k]) for k in range(8)] + words
    line = {"id": "one", "documents": [sentences], "references": [[" ".join(words * 2)]]}
    topics.write_text(json.dumps(line) + "\n")
    for limit in (["--time-limit", "0"], ["--node-limit", "0"], ["--node-limit", "1", "--bound", "knapsack"]):
        out = tmp_path / "out.jsonl"
        assert main(["enumerate", str(topics), "--max-length", "12", *limit, "--overwrite", "-o", str(out)]) == 0
        row = json.loads(out.read_text())
        assert Result.from_row(row).to_row() == row
        if row["complete"]:  # solved before the limit was checked
            continue
        assert row["termination"] in {"time_limit", "node_limit"}
        assert (row["always"], row["never"]) == (None, None)
        assert row["status"] in {"optimal", "feasible"}
        assert row["objective"] <= row["bound"]
        if row["status"] == "feasible":
            assert (row["count"], row["optima"]) == (0, [])
        else:
            assert row["count"] >= 1
            assert row["optima"][0] == row["selection"]


def test_a_proven_optimum_with_an_unfinished_count() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(40)]
    sentences = [" ".join(rng.choice(words, size=int(rng.integers(3, 6))).tolist()) for _ in range(30)]
    topic = {"id": "many", "documents": [sentences], "references": [[" ".join(words)]]}
    whole = optsum.enumerate_optima(topic, max_length=30)
    assert whole.complete
    nodes = whole.statistics["nodes"]
    kept = 0
    for share in (0.2, 0.5, 0.8, 0.95):
        part = optsum.enumerate_optima(topic, max_length=30, node_limit=int(nodes * share))
        row = part.to_result()
        assert row.enumeration.count <= whole.count
        if row.status is optsum.Status.OPTIMAL and not part.complete:
            assert row.termination is optsum.Termination.NODE_LIMIT
            assert set(map(tuple, row.enumeration.optima)) <= set(whole)
            kept += 1
    assert kept


@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_enumeration_agrees_with_its_result_and_its_row(kind: str) -> None:
    for seed in range(3):
        problem = optsum.CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind), name="p")
        every = set(optsum.enumerate_optima(problem))
        limits: list[dict[str, Any]] = [{"time_limit": 0}, {"strategy": "exhaustive", "evaluation_limit": 10}]
        for limit, near in product(limits, [{}, {"within": 0.3}]):
            found = optsum.enumerate_optima(problem, **limit, **near)
            result, row, sets = found.result, found.to_result().to_row(), list(found)
            assert found.count == len(sets) == result.to_row()["count"] == row["count"]
            assert sorted(row["optima"]) == sorted(map(list, sets))  # near-optimal ones are listed best first
            if near:
                continue
            assert set(sets) <= every
            assert bool(sets) == (result.status is optsum.Status.OPTIMAL) == (found.proven and bool(every))
            if sets:
                assert (result.selection, found.value) == (sets[0], found.bound)
            elif result.selection is not None:
                with pytest.raises(optsum.InputError, match="a limit stopped the enumeration"):
                    found.agreement(result.selection)


def test_number_of_feasible_extracts() -> None:
    topic = {"id": "t", "documents": [["a b", "b c", "a c"]], "references": [["a b c"]]}
    optima = optsum.enumerate_optima(topic, max_length=4)
    assert optima.feasible() == 6
    assert optsum.solve(topic, max_length=4, strategy="exhaustive").extra["feasible"] == 6


def test_saved_optima_are_read_and_other_files_refused(tmp_path: Path) -> None:
    optima = optsum.Optima.of_sets([(0, 1), (2,)], value=3)
    optima.save(tmp_path / "optima.npz")
    assert list(optsum.Optima.load(tmp_path / "optima.npz")) == list(optima)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "optima.npz").read_bytes()[:50])
    (tmp_path / "text.npz").write_text("{}")
    for name in ("missing.npz", "cut.npz", "text.npz"):
        with pytest.raises(optsum.InputError, match="does not hold optima"):
            optsum.Optima.load(tmp_path / name)


def test_threads_do_not_share_relaxations() -> None:
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(40)]
    topics = [
        {
            "id": str(number),
            "documents": [[" ".join(rng.choice(words, size=7).tolist()) for _ in range(60)]],
            "references": [[" ".join(rng.choice(words, size=40).tolist())]],
        }
        for number in range(6)
    ]
    solve = partial(optsum.solve, max_length=40, strategy="branch-and-bound")
    expected = [solve(topic).key for topic in topics]
    with ThreadPoolExecutor(3) as pool:
        every = pool.map(
            lambda _: [optsum.solve(topic, max_length=40, strategy="branch-and-bound").key for topic in topics],
            range(3),
        )
        assert list(every) == [expected] * 3


def test_one_optimum_only() -> None:
    topic = {"id": "t", "documents": [["a b"]], "references": [["a"]]}
    with pytest.raises(optsum.UnsupportedError, match="does not enumerate"):
        optsum.enumerate_optima(topic, max_length=3, strategy="greedy")
    with pytest.raises(optsum.UnsupportedError, match="knapsack"):
        optsum.enumerate_optima(topic, max_length=3, min_length=1, bound="knapsack")


def run_cli(tmp_path: Path, *arguments: str) -> list[dict[str, Any]]:
    topics = tmp_path / "topics.jsonl"
    lines = [
        {"id": "one", "documents": [["a b", "b c", "a c", "d"]], "references": [["a b c"]]},
        {"id": "none", "documents": [["x"]], "references": [[""]]},
    ]
    topics.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "out.jsonl"
    assert main(["enumerate", str(topics), "-o", str(out), "--overwrite", *arguments]) == 1
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_rows_of_enumerations(tmp_path: Path) -> None:
    one, none = run_cli(tmp_path, "--max-length", "4")
    assert (one["count"], one["complete"], one["status"]) == (3, True, "optimal")
    assert one["optima"] == [[0, 1], [0, 2], [1, 2]]
    assert (one["always"], one["never"]) == ([], [])
    assert one["numerator"], one["denominator"] == (3, 3)
    assert none["status"] == "error"
    assert Result.from_row(one).to_row() == one


def test_count_does_not_depend_on_the_list(tmp_path: Path) -> None:
    assert (row := run_cli(tmp_path, "--max-length", "4", "--max-solutions", "1")[0])["count"] == 3
    assert row["optima"] == [[0, 1]]
    row = run_cli(tmp_path, "--max-length", "4", "--count-only")[0]
    assert "optima" not in row
    assert row["count"] == 3
    row = run_cli(tmp_path, "--max-length", "6", "--minimal")[0]
    assert (row["count"], row["minimal_count"], len(row["optima"])) == (4, 3, 3)


def test_a_strategy_that_finds_one_is_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics = tmp_path / "topics.jsonl"
    topics.write_text(json.dumps({"id": "one", "documents": [["a"]], "references": [["a"]]}) + "\n")
    assert main(["enumerate", str(topics), "--max-length", "3", "--strategy", "greedy"]) == 2
    assert "does not enumerate" in capsys.readouterr().err


def test_minimal_sets_that_cannot_be_found_in_time_cost_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagram, "_BETWEEN", 1)
    topic = {"id": "t", "documents": [["a b", "c", "b a", "d c"]], "references": [["a b c"]]}
    options = enumerating.resolve_enumeration({"max_length": 3})
    [[whole]] = enumerating.enumerate_topics([topic], options, minimal=True)
    monkeypatch.setattr(enumerating, "Deadline", lambda _: Deadline(0.0))
    [[stopped]] = enumerating.enumerate_topics([topic], options, minimal=True)
    assert whole.enumeration.minimal_count > 0
    assert (stopped.status, stopped.enumeration.count) == (whole.status, whole.enumeration.count)
    assert (stopped.enumeration.minimal_count, stopped.enumeration.optima) == (0, [])
    assert "could not be found within the limits" in stopped.detail
