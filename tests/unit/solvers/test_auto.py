"""Test the strategy `auto`: its choices, its report of them, and that each choice proves optima."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from optsum.solvers import branch_and_bound
from optsum.solvers.auto import Auto
from optsum.solvers.exhaustive.strategy import size_of_best

import optsum
from optsum import Status, Termination
from optsum.coverage.instance import Coverage
from optsum.problem.problem import Capability, CoverageProblem, Evaluation, Problem, Selection
from optsum.running.search import search
from optsum.system.clock import NEVER, Limits
from optsum.testing import KINDS, OwnMetric, brute_force, random_coverage, random_topic

OBJECTIVES: list[dict[str, Any]] = [
    {"max_length": 12},
    {"max_length": 12, "min_length": 9},
    {"measure": "f1"},
    {"metric": "rouge-1+rouge-2", "measure": "f1", "max_length": 12},
    {"references": "mean", "measure": "f1"},
    {"metric": "rouge-2", "boundaries": "joined", "max_length": 12},
    {"metric": "ngram-1-2", "max_length": 12},
    {"metric": "rouge-l", "max_length": 12},
    {"formulation": "cover"},
]


def topic(seed: int, sentences: int = 9, **options: Any) -> dict[str, Any]:
    made: dict[str, Any] = random_topic(np.random.default_rng(seed), name=f"t{seed}", sentences=sentences)
    cover = [[["a"], ["b", f"c{seed % 2}"]], [["d"], ["b"]], [["a", "d"], ["c0", "e"], ["c1"]]]
    return made | ({"cover": cover, "documents": []} if "formulation" in options else {})


def ran(options: dict[str, Any], sentences: int = 60) -> str:
    found = optsum.solve(topic(1, sentences), **options)
    assert found.status is Status.OPTIMAL
    assert found.strategy == "auto"
    assert found.to_row()["ran"] == found.statistics["ran"]
    return str(found.extra["ran"])


@pytest.mark.parametrize("options", OBJECTIVES, ids=str)
def test_the_optimum_is_that_of_exhaustive_search(options: dict[str, Any]) -> None:
    for seed in range(4):
        found = optsum.solve(topic(seed, **options), **options)
        best = optsum.solve(topic(seed, **options), strategy="exhaustive", **options)
        assert (found.key, found.status, found.termination) == (best.key, best.status, Termination.COMPLETED)


@pytest.mark.parametrize("every", [False, True])
def test_every_choice_is_exact(every: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test all choices but exhaustive search, which is ruled out here."""
    from optsum.solvers import auto_order

    monkeypatch.setattr(auto_order, "is_few", lambda *_: False)
    chosen = set()
    rng = np.random.default_rng(4)
    for _ in range(60):
        problem = CoverageProblem.of(random_coverage(rng, kind=str(rng.choice(KINDS))))
        truth = brute_force(problem)
        if every:
            optima = Auto().enumerate(problem, Limits())
            assert (optima.count, optima.complete, "ran" in optima.statistics) == (len(truth.optima), True, True)
            continue
        result = search(problem)
        chosen.add(result.statistics["ran"])
        assert result.key == truth.best
        assert result.status is (Status.INFEASIBLE if truth.best is None else Status.OPTIMAL)
    assert every or {"branch-and-bound", "milp"} <= chosen | {"milp"}


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({"max_length": 10}, "branch-and-bound"),
        ({"max_length": 10, "metric": "ngram-1-2"}, "exhaustive"),
        ({"max_length": 60}, "branch-and-bound"),
        ({"measure": "f1"}, "branch-and-bound"),
        ({"preset": "presumm"}, "branch-and-bound"),
        ({"metric": "rouge-1+rouge-2", "measure": "f1", "max_length": 60}, "branch-and-bound"),
        ({"metric": "rouge-l", "max_length": 60}, "milp"),
    ],
    ids=str,
)
def test_the_choice_depends_on_the_number_of_selections(options: dict[str, Any], chosen: str) -> None:
    assert ran(options) == chosen


@pytest.mark.parametrize(
    ("wanted", "max_length", "size", "searched"),
    [
        (20, 400, (20, 80), "solve_ratio"),  # only 20 of the 80 have any feature
        (60, 400, (60, 80), "solve_sum"),
        (60, 200, (60, 40), "solve_ratio"),  # the length allows only 40
        (60, 220, (60, 44), "solve_sum"),
    ],
)
def test_the_number_of_units_that_makes_a_ratio_large(
    wanted: int, max_length: int, size: tuple[int, int], searched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def recorded(own: Any) -> Any:
        return lambda *given, **options: called.append(own.__name__) or own(*given, **options)

    for own in (branch_and_bound.solve_ratio, branch_and_bound.solve_sum):
        monkeypatch.setattr(branch_and_bound, own.__name__, recorded(own))
    copies = [{unit % 60: 1} if unit < wanted else {} for unit in range(80)]
    instance = Coverage.of(
        [5] * 80, copies, [[1]] * 60, constants=(0, 300), mass=[[0] * 80, [5] * 80], max_length=max_length
    )
    assert size_of_best(instance) == size
    found = branch_and_bound._solve_ratios(instance, Limits(), NEVER, every=False)
    assert (called, found.proven) == ([searched], True)


def test_the_solver_of_the_chosen_strategy_is_named() -> None:
    found = optsum.solve(topic(1, 60), metric="rouge-l", max_length=60)
    assert (found.extra["ran"], found.backend) == ("milp", "highs")
    assert optsum.solve(topic(1), max_length=12).backend is None


def test_an_option_of_one_strategy_names_it() -> None:
    assert optsum.solve(topic(1), max_length=12, backend="highs").strategy == "milp"
    with pytest.raises(optsum.OptionError, match=r"greedy uses none: leave it out, or give strategy=.milp"):
        optsum.solve(topic(1), max_length=12, backend="highs", strategy="greedy")
    assert optsum.solve(topic(1), max_length=12, backend="highs", strategy="auto").strategy == "auto"


class Weighed(Problem):
    """A user-defined problem without any capability."""

    def evaluate(self, selection: Selection) -> Evaluation:
        """Count the units with even numbers."""
        return Evaluation(Fraction(sum(1 - unit % 2 for unit in selection)), self.excess(selection), 0.0)


def test_problems_that_no_strategy_proves_in_time_are_refused() -> None:
    with pytest.raises(
        optsum.UnsupportedError, match=r"takes .*: give (--time-limit|time_limit), or .* vns\. .*normal form"
    ):
        search(Weighed(lengths=(1,) * 60, max_length=30))
    limited = search(Weighed(lengths=(1,) * 60, max_length=30), time_limit=0.05)
    assert (limited.termination, limited.objective_exact) == (Termination.TIME_LIMIT, "30")
    assert search(Weighed(lengths=(1,) * 8, max_length=3)).objective_exact == "3"


def test_a_strategy_that_refuses_late_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    from optsum.solvers.branch_and_bound import BranchAndBound

    def refuse(*_: object) -> None:
        raise optsum.UnsupportedError("Not this one.")

    monkeypatch.setattr("optsum.solvers.auto.serve", lambda _: False)
    monkeypatch.setattr(BranchAndBound, "search_further", refuse)
    assert ran({"max_length": 60}) == "milp"


def test_a_limit_ends_the_search() -> None:
    for limits in (Limits(time_s=0.0), Limits(nodes=0), Limits(evaluations=0)):
        rng = np.random.default_rng(1)
        result = search(CoverageProblem.of(random_coverage(rng, kind=str(rng.choice(KINDS)))), "auto", limits)
        assert result.status in {Status.FEASIBLE, Status.NO_SOLUTION, Status.OPTIMAL}
        assert result.termination is not Termination.COMPLETED or result.status is Status.OPTIMAL


def test_slow_evaluations_are_searched_before_they_are_all_visited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that few selections are visited at once only if their evaluations take less time than the limit."""
    from optsum.solvers import auto_order

    now = 0.0

    class Slow(OwnMetric):
        def evaluate(self, selection: Selection) -> Evaluation:
            nonlocal now
            now += 0.1
            return super().evaluate(selection)

    monkeypatch.setattr("optsum.contracts.strategy.clock", lambda: now)
    climbed = 0

    def climbs(_: object) -> bool:
        nonlocal climbed
        climbed += 1
        return True

    monkeypatch.setattr(auto_order, "_greedy_ends", climbs)
    problem = Slow(words=("ab", "bc", "cd", "ad", "e"), lengths=(1,) * 5)
    assert auto_order.is_few(problem)
    for seconds, expected in ((600.0, 0), (2.5, 1), (None, 1)):
        assert search(problem, "auto", limits=Limits(time_s=seconds)).status is Status.OPTIMAL
        assert climbed == expected


@pytest.mark.parametrize("refuses", [False, True])
def test_a_long_search_of_a_sum_is_handed_over(monkeypatch: pytest.MonkeyPatch, *, refuses: bool) -> None:
    from optsum.solvers import auto_order
    from optsum.solvers.milp import Milp

    def refuse(*_: object) -> None:
        raise optsum.UnsupportedError("Not this one.")

    monkeypatch.setattr(auto_order, "_NODES", 1)
    monkeypatch.setattr(auto_order, "is_few", lambda *_: False)
    monkeypatch.setattr("optsum.solvers.auto.serve", lambda _: False)
    if refuses:
        monkeypatch.setattr(Milp, "search", refuse)
    seen = set()
    for seed in range(40):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind="sum", units=12))
        if Capability.RATIOS not in problem.capabilities:
            continue
        result = search(problem, "auto")
        assert result.status in {Status.OPTIMAL, Status.INFEASIBLE}
        assert result.objective_exact == search(problem, "exhaustive").objective_exact
        seen.add(result.statistics["ran"])
    assert seen == ({"branch-and-bound"} if refuses else {"branch-and-bound", "milp"})
