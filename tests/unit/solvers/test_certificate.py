"""Check that the bound with which a heuristic is compared is never below the optimum, however it is computed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from optsum.solvers import certificate

import optsum
from optsum.coverage.instance import Combination, Coverage, Facility
from optsum.errors import InputError, OptionError
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem, Problem
from optsum.running.one_problem import build, setup_of
from optsum.running.search import search
from optsum.system.clock import NEVER, Deadline, Stopped, Termination
from optsum.testing import HARMONIC, KINDS, brute_force, random_coverage, random_topic

OBJECTIVES: dict[str, dict[str, Any]] = {
    "recall": {"max_length": 9},
    "window": {"max_length": 9, "min_length": 6},
    "mean": {"references": "mean", "max_length": 9},
    "sum": {"metric": "rouge-1+rouge-2", "max_length": 9},
    "precision": {"measure": "precision"},
    "f1": {"measure": "f1"},
    "set f1": {"measure": "f1", "counts": "set", "max_length": 9},
    "sum of f1": {"metric": "rouge-1+rouge-2", "measure": "f1", "max_length": 9},
    "set sum": {"metric": "rouge-1+rouge-2", "measure": "f1", "counts": "set", "max_length": 9},
    "mean f1": {"measure": "f1", "references": "mean", "max_length": 9},
    "mean precision of both": {"metric": "rouge-1+rouge-2", "measure": "precision", "references": "mean"},
    "joined": {"metric": "rouge-2", "boundaries": "joined", "max_length": 9},
    "joined f1": {"metric": "rouge-1+rouge-2", "boundaries": "joined", "measure": "f1", "max_length": 9},
    "product": {"metric": "ngram-1-2", "max_length": 9},
    "product of windows": {"metric": "ngram-1-2", "max_length": 9, "min_length": 5},
    "rouge-l": {"metric": "rouge-l", "max_length": 9},
    "compressive": {"formulation": "compressive", "metric": "rouge-2", "max_length": 9},
    "compressive f1": {"formulation": "compressive", "measure": "f1"},
}


def problem_of(seed: int, options: dict[str, Any]) -> Problem | None:
    topic = random_topic(np.random.default_rng(seed), name=f"t{seed}", sentences=7)
    texts = [sentence for document in topic["documents"] for sentence in document]
    topic["parses"] = [
        "\n".join(
            f"{n}\t{word}\t_\tX\t_\t_\t{n // 2}\t{'dep' if n > 1 else 'root'}\t_\t_"
            for n, word in enumerate(text.split(), 1)
        )
        for text in texts
    ]
    try:
        return build(optsum.as_topic(topic), setup_of(resolve({**options, "strategy": "greedy"}))).problem
    except InputError:
        return None


@pytest.fixture(params=[False, True], ids=["parts", "visited"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether exhaustive search may be the certificate."""
    if not request.param:
        monkeypatch.setattr(certificate, "is_few", lambda *_: False)
    return bool(request.param)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_selection_of_a_topic_is_above(objective: str, few: bool) -> None:
    for seed in range(8):
        if (problem := problem_of(seed, OBJECTIVES[objective])) is None or problem.size > 12:
            continue
        best, bound = brute_force(problem).best, certificate.certify(problem, NEVER)
        if best is not None:
            assert bound is not None, seed
            assert bound >= best, seed
            if few and "rouge-l" not in objective:
                assert bound == best, seed


def test_no_selection_of_an_instance_is_above(few: bool) -> None:
    rng = np.random.default_rng(11)
    reached = 0
    for number in range(120):
        problem = CoverageProblem.of(random_coverage(rng, kind=str(rng.choice([*KINDS, HARMONIC]))))
        best, bound = brute_force(problem).best, certificate.certify(problem, NEVER)
        assert bound is not None
        if best is not None:
            assert not problem.sense.better(best, bound), number
            reached += bound == best
    assert reached >= 60


@pytest.mark.parametrize("nodes", [0, 1_000_000])
def test_a_search_that_proves_nothing_is_no_bound(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check this for the best sum found so far, and for the best of one ratio."""
    monkeypatch.setattr(certificate, "is_few", lambda *_: False)
    monkeypatch.setattr(certificate, "_NODES", nodes)
    monkeypatch.setattr(certificate, "_NODES_OF_SUM", nodes)
    asked = unproven = 0

    def summed(*given: Any, **named: Any) -> Any:
        nonlocal asked, unproven
        found = solve_sum(*given, **named)
        asked += 1
        unproven += not found.proven
        return found

    solve_sum = certificate.solve_sum
    monkeypatch.setattr(certificate, "solve_sum", summed)
    reached = 0
    for objective in ("mean f1", "f1", "set f1"):
        for seed in range(12):
            if (problem := problem_of(seed, OBJECTIVES[objective])) is None:
                continue
            best, bound = brute_force(problem).best, certificate.certify(problem, NEVER)
            assert bound is not None
            if best is not None:
                assert bound >= best, (objective, seed)
                reached += bound == best and objective == "mean f1"
                assert not nodes or bound == best, (objective, seed)
    assert asked > 4
    if nodes:
        assert reached >= asked, "what is proven is the certificate"
    else:
        assert unproven, "a limit of nodes that ends nothing"


def test_ctrl_c_within_a_part_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise Stopped(reason)

    monkeypatch.setattr(certificate, "is_few", lambda *_: False)
    monkeypatch.setattr(certificate, "solve_recall", stopped)
    problem = problem_of(2, {"max_length": 9})
    assert problem is not None
    best = brute_force(problem).best
    for reason in (Termination.INTERRUPTED, Termination.NODE_LIMIT):
        deadline = Deadline(60.0)
        bound = certificate.certify(problem, deadline)
        assert deadline.passed == (reason is Termination.INTERRUPTED)
        assert bound is None or best is None or bound >= best


def test_ctrl_c_within_the_whole_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(2, {"max_length": 9})
    assert problem is not None
    best = brute_force(problem).best
    for reason in (Termination.INTERRUPTED, Termination.NODE_LIMIT):

        def stopped(*_: object, reason: Termination = reason, **__: object) -> None:
            raise Stopped(reason)

        monkeypatch.setattr(certificate, "_optimum", stopped)
        deadline = Deadline(60.0)
        bound = certificate.certify(problem, deadline)
        assert deadline.passed == (reason is Termination.INTERRUPTED)
        assert bound is None or best is None or bound >= best


@pytest.mark.parametrize("seconds", [60.0, None])
def test_a_visit_has_the_time_that_is_left(seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(2, {"max_length": 9})
    assert problem is not None
    limits: list[float | None] = []
    monkeypatch.setattr(certificate.Exhaustive, "search", lambda _, run: limits.append(run.limits.time_s))
    certificate.certify(problem, NEVER if seconds is None else Deadline(seconds))
    assert limits == [None if seconds is None else pytest.approx(seconds, rel=0.1)]


def test_a_product_of_bounds_has_no_other_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(2, {"metric": "ngram-1-2", "max_length": 9})
    assert problem is not None
    instance = problem.coverage
    assert (instance.combination, instance.ratios) == (Combination.PRODUCT, 2)
    monkeypatch.setattr(certificate, "_optimum", lambda *_, **__: None)
    monkeypatch.setattr(certificate, "_alone", lambda _, h, *__: Fraction(1, 2 + h))
    first, second = instance.weights
    assert certificate.certify(problem, NEVER) == Fraction(1, 2) ** first * Fraction(1, 3) ** second


def test_denominators_of_relaxed_features_are_not_taken_for_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test denominators that begin at 0: without features of several steps they stay 0, and so would their ratio."""
    monkeypatch.setattr(certificate, "is_few", lambda *_: False)
    rng = np.random.default_rng(0)
    for ratios in (1, 2, 3):
        for number in range(8):
            units = [
                {feature: int(rng.integers(1, 3)) for feature in range(2 * ratios) if rng.random() < 0.8}
                for _ in range(4)
            ]
            instance = Coverage.of(
                [1] * 4, units, [sorted(rng.integers(1, 9, 2).tolist(), reverse=True) for _ in range(2 * ratios)],
                slots=range(2 * ratios), constants=(1, 0) * ratios, weights=(1,) * ratios, max_length=2 + number % 3,
                combination=Combination.SUM,
            )  # fmt: skip
            problem = CoverageProblem.of(instance)
            best, bound = brute_force(problem).best, certificate.certify(problem, NEVER)
            assert best is not None
            assert bound is not None
            assert bound >= best > 0, (ratios, number)


def test_many_joints_leave_varying_denominators_to_linear_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    looser = 0
    for objective, seeds in (("joined f1", (0, 1, 4)), ("joined", (1, 9, 10))):
        for seed in seeds:
            problem = problem_of(seed, OBJECTIVES[objective])
            assert problem is not None
            joints, weaker = len(problem.coverage.joints), problem.root_bound(NEVER)
            best = brute_force(problem).best
            looser += weaker != best
            for many, expected in ((joints, best), (joints - 1, weaker if "f1" in objective else best)):
                monkeypatch.setattr(certificate, "MANY_JOINTS", many)
                assert certificate.certify(problem, NEVER) == expected, (objective, seed, many)
    assert looser == 6


def test_a_visit_without_a_feasible_selection_bounds_by_0() -> None:
    problem = CoverageProblem.of(Coverage.of([1, 2], [{0: 1}, {0: 1}], [[1]], min_length=9))
    assert brute_force(problem).best is None
    assert certificate.certify(problem, NEVER) == 0


def test_a_deadline_leaves_a_weaker_bound() -> None:
    rng = np.random.default_rng(3)
    for number in range(60):
        problem = CoverageProblem.of(random_coverage(rng, kind=str(rng.choice(KINDS))))
        best = brute_force(problem).best
        for seconds in (0.0, 1e-4):
            bound = certificate.certify(problem, Deadline(seconds))
            assert bound is None or best is None or not problem.sense.better(best, bound), number


def test_every_ratio_has_its_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(2, {"measure": "f1", "references": "mean", "metric": "rouge-1+rouge-2"})
    assert problem is not None
    ratios = problem.coverage.ratios
    assert ratios > 2
    shares: list[float] = []

    def searched(part: object, whole: object, number: int, deadline: Deadline) -> Fraction:
        shares.append(deadline.left_s)
        return Fraction(1)

    monkeypatch.setattr(certificate, "_largest", searched)
    monkeypatch.setattr(certificate, "_optimum", lambda *_, **__: None)
    assert certificate.certify(problem, Deadline(60.0)) == 1
    assert shares == pytest.approx([60.0 / (ratios - h) for h in range(ratios)], rel=0.1)
    shares.clear()
    monkeypatch.setattr(certificate, "only", lambda *_: pytest.fail("a ratio was taken out that has no time"))
    answers = iter([True, *[False] * ratios])  # for all together, then for each
    monkeypatch.setattr(certificate, "affordable", lambda *_: next(answers))
    bound, best = certificate.certify(problem, Deadline(60.0)), brute_force(problem).best
    assert bound is not None
    assert best is not None
    assert bound >= best
    assert not shares


def test_a_heuristic_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = {"id": "t", "documents": [["a b c", "c d", "e f", "a d"]], "references": [["a b c d e"]]}
    found = optsum.solve(topic, strategy="greedy", metric="rouge-1+rouge-2", measure="f1", max_length=5)
    best = optsum.solve(topic, metric="rouge-1+rouge-2", measure="f1", max_length=5)
    assert (found.bound_exact, found.gap) == (best.objective_exact, 0.0)
    assert found.status is optsum.Status.FEASIBLE  # reached, but not proven by the heuristic itself


def test_the_option_none_computes_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(certificate, "certify", fail)
    monkeypatch.setattr(CoverageProblem, "root_bound", fail)
    topic = {"id": "t", "documents": [["a b c", "c d", "e f", "a d"]], "references": [["a b c d e"]]}
    for strategy in ("greedy", "vns", "lead"):
        found = optsum.solve(topic, strategy=strategy, max_length=5, bound="none")
        assert (found.bound, found.gap) == (None, None)
        assert "bound_s" not in found.to_row()["statistics"]
    exact = optsum.solve(topic, max_length=5, bound="none")
    assert (exact.status, exact.gap) == (optsum.Status.OPTIMAL, 0.0)


def test_a_gap_needs_a_bound() -> None:
    problem = problem_of(1, {"max_length": 5})
    assert problem is not None
    with pytest.raises(OptionError, match="A gap is measured by a bound"):
        search(problem, "greedy", gap=0.1, bound="none")


def test_a_bound_of_branch_and_bound_names_it() -> None:
    assert resolve({"max_length": 5, "bound": "knapsack"}).strategy == "branch-and-bound"
    assert resolve({"max_length": 5, "bound": "none"}).strategy == "auto"
    problem = problem_of(1, {"max_length": 5})
    assert problem is not None
    assert search(problem, "branch-and-bound", bound="knapsack").status is optsum.Status.OPTIMAL
    assert Fraction(search(problem, "greedy").bound_exact or 0) >= 0


def test_the_bound_of_few_best_similarities_is_their_optimum() -> None:
    """An instance with only the highest similarities has a larger bound, which few selections do not need."""
    looser = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        instance = Facility.given(
            rng.integers(0, 1000, (6, 40)), np.ones(6, np.int64), [1] * 40, full=6000, max_length=1,
            own=np.vstack([rng.integers(1, 9, 40), np.full(40, 9)]),
        )  # fmt: skip
        problem = CoverageProblem.of(instance)
        best = max(problem.evaluate((unit,)).key for unit in range(40))  # only one fits
        assert certificate.certify(problem, NEVER) == best
        relaxed = certificate.certify(CoverageProblem.of(instance.relaxed), NEVER)
        assert relaxed is not None
        assert relaxed >= best
        looser += relaxed > best
    assert looser


@pytest.mark.parametrize("few", [False], indirect=True)
def test_the_bound_of_a_recall_is_its_optimum(few: bool) -> None:
    for seed in range(20):
        if (problem := problem_of(seed, OBJECTIVES["recall"])) is not None and problem.size <= 12:
            assert certificate.certify(problem, NEVER) == brute_force(problem).best
