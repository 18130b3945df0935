"""Test branch and bound for one ratio: limits, the command line, real documents."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from optsum.solvers.engine.core import program_of
from optsum.solvers.objectives.one_ratio import guarded, positive_program, solve_ratio

import optsum
from optsum.cli import main
from optsum.coverage.instance import Coverage
from optsum.optima.optima import Optima
from optsum.problem.problem import CoverageProblem
from optsum.registry import STRATEGIES
from optsum.system.clock import Deadline, Limits
from optsum.testing import brute_force, random_coverage


def test_a_ratio_over_nothing_is_no_reason_to_choose_nothing() -> None:
    # Precision: the empty selection and the second unit have no n-grams.
    instance = Coverage.of([1, 1, 1], [{0: 1}, {}, {0: 1}], [[1, 1]], constants=(0, 0), mass=[[0, 0, 0], [2, 0, 3]])
    found = solve_ratio(instance, every=True)
    assert (found.value, sorted(found)) == (Fraction(1, 2), [(0,), (0, 1)])
    worthless = Coverage.of([1, 1], [{}, {}], [], constants=(0, 0), mass=[[0, 0], [2, 0]])
    assert sorted(solve_ratio(worthless, every=True)) == [(), (0,), (0, 1), (1,)]


def test_guards_decide_which_totals_are_positive() -> None:
    for seed in range(80):
        instance = random_coverage(np.random.default_rng(seed), kind="sum", units=5)
        totals = range(len(instance.constants))
        program = positive_program(instance, totals)
        plain = guarded(program_of(instance, [0] * len(totals)), instance, [], 1)
        assert plain.base == 0
        problem = CoverageProblem.of(instance)
        for number in range(2**instance.size):
            chosen = tuple(unit for unit in range(instance.size) if number >> unit & 1)
            assert (_worth(program, chosen) == 0) == all(total > 0 for total in problem.totals(chosen)), seed


def _worth(program: object, chosen: tuple[int, ...]) -> int:
    from optsum.solvers.engine.core import Program

    assert isinstance(program, Program)
    copies = [0] * (len(program.table_start) - 1)
    for unit in chosen:
        for k in range(program.unit_start[unit], program.unit_start[unit + 1]):
            copies[program.unit_feature[k]] += int(program.unit_count[k])
    for joint in program.joints:
        if set(joint.needs) <= set(chosen) and not set(joint.vetoes) & set(chosen):
            copies[joint.feature] += joint.count
    worth = program.base + sum(program.mass[list(chosen)].tolist())
    for f, c in enumerate(copies):
        table = program.table[program.table_start[f] : program.table_start[f + 1]].tolist()
        worth += table[min(c, len(table) - 1)]
    return worth


@pytest.mark.parametrize(
    ("limits", "deadline", "reason"),
    [
        (Limits(nodes=0), None, "node_limit"),
        (Limits(time_s=0.0), None, "time_limit"),
        (Limits(), Deadline(should_stop=lambda: True), "interrupted"),
    ],
)
def test_a_limit_leaves_the_greedy_selection(limits: Limits, deadline: Deadline | None, reason: str) -> None:
    instance = Coverage.of(
        [1] * 6, [{unit: 1} for unit in range(6)], [[2]] * 6, constants=(0, 9), mass=[[0] * 6, [1, 2, 3, 1, 2, 3]]
    )
    found = solve_ratio(instance, limits, deadline, every=True)
    assert (found.termination, found.proven) == (reason, False)
    assert found.count == 1


def test_an_enumeration_at_a_limit_has_a_bound() -> None:
    problem = CoverageProblem.of(random_coverage(np.random.default_rng(3), kind="f1"))
    strategy = STRATEGIES.create("branch-and-bound", {})
    optima = strategy.enumerate(problem, optsum.Limits(nodes=0))
    best = brute_force(problem).best
    assert best is not None
    assert not optima.complete
    assert optima.value <= best <= optima.bound


def test_optima_of_fractions_survive_a_file(tmp_path: Path) -> None:
    for value in (Fraction(3, 7), 5):
        Optima.of_sets([(0, 2)], value, value).save(tmp_path / "optima")
        again = Optima.load(tmp_path / "optima")
        assert (again.value, again.bound, type(again.value)) == (value, value, type(value))


def test_from_the_command_line(tmp_path: Path) -> None:
    topic = {"id": "t", "documents": [["a b c", "a b", "x y z", "c d", "c d"]], "references": [["a b c d"]]}
    (tmp_path / "topics.jsonl").write_text(json.dumps(topic) + "\n", encoding="utf-8")
    command = [
        "enumerate",
        str(tmp_path / "topics.jsonl"),
        "--measure",
        "f1",
        "--overwrite",
        "-o",
        str(tmp_path / "out.jsonl"),
    ]
    for metric, optima in (("rouge-1", [[1, 3], [1, 4]]), ("rouge-1+rouge-2", [[0, 3], [0, 4]])):
        assert main([*command, "--metric", metric]) == 0
        row = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
        assert (row["status"], row["count"], sorted(row["optima"])) == ("optimal", 2, optima), metric


def test_the_joined_text_and_its_f1() -> None:
    topic = {"id": "t", "documents": [["a b", "c d", "b c", "x a"]], "references": [["a b c d"]]}
    for metric in ("rouge-1", "rouge-2", "rouge-1+rouge-2"):
        given = {"metric": metric, "measure": "f1", "boundaries": "joined"}
        truth = optsum.solve(topic, strategy="exhaustive", **given)
        found = optsum.enumerate_optima(topic, **given)
        assert found.value == truth.key, metric
        assert found.result.status is optsum.Status.OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["rouge-1", "rouge-2", "rouge-1+rouge-2"])
def test_real_documents_of_any_length(shared_data: Path, metric: str) -> None:
    for name in ("realsumm", "gum"):
        topics = list(optsum.read_topics(shared_data / name / "topics.jsonl"))[::4]
        results = list(optsum.solve_all(topics, strategy="branch-and-bound", measure="f1", metric=metric))
        greedy = list(optsum.solve_all(topics, strategy="greedy", measure="f1", metric=metric))
        assert all(result.status is optsum.Status.OPTIMAL for result in results)
        for best, other in zip(results, greedy, strict=True):
            assert best.key is not None
            assert other.key is not None
            assert other.bound_key is not None
            assert other.key <= best.key <= other.bound_key
        if metric != "rouge-1+rouge-2":
            exact = list(optsum.solve_all(topics, strategy="milp", measure="f1", metric=metric))
            assert [result.key for result in exact] == [result.key for result in results]
