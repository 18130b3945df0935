"""Check that Ctrl-C in any part of a search ends all of it, and no other part begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from optsum.solvers import branch_and_bound, certificate
from optsum.solvers.branch_and_bound import _run_ties
from optsum.solvers.engine.driver import Budget
from optsum.solvers.objectives.one_ratio import solve_ratio
from optsum.solvers.objectives.sums import solve_sum

import optsum
from optsum.options.options import resolve
from optsum.problem.problem import CoverageProblem, Problem
from optsum.registry import STRATEGIES
from optsum.running.one_problem import build, setup_of
from optsum.running.search import get_ready, search
from optsum.system.clock import Deadline, Limits, Termination
from optsum.testing import random_topic

SUM = {"metric": "rouge-1+rouge-2", "measure": "f1", "references": "mean"}
RATIO = {"measure": "f1"}


class Phases:
    """Count the relaxations and searches that begin, and interrupt one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = 0
        self.broken = 0
        entered = Budget.phase

        @contextmanager
        def phase(budget: Budget, name: str) -> Iterator[None]:
            with entered(budget, name):
                self.begun += 1
                if self.begun == self.broken:
                    raise KeyboardInterrupt
                yield

        monkeypatch.setattr(Budget, "phase", phase)

    def break_off(self, number: int) -> None:
        """Interrupt the given one of the next."""
        self.begun, self.broken = 0, number


@pytest.fixture
def phases(monkeypatch: pytest.MonkeyPatch) -> Phases:
    return Phases(monkeypatch)


def problem_of(options: dict[str, Any], sentences: int = 6) -> Problem:
    topic = random_topic(np.random.default_rng(5), sentences=sentences)
    given = resolve({"max_length": 14, **options, "strategy": "branch-and-bound"})
    return build(optsum.as_topic(topic), setup_of(given)).problem


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize(("solve", "options"), [(solve_sum, SUM), (solve_ratio, RATIO)])
def test_an_interrupted_search_of_several_programs_ends(
    phases: Phases, solve: Callable[..., Any], options: dict[str, Any], every: bool
) -> None:
    instance = problem_of(options).coverage
    few = {"few": 0} if solve is solve_sum else {}
    number = 1
    while True:
        phases.break_off(number)
        found = solve(instance, Limits(), every=every, **few)
        if phases.begun < number:
            break
        assert found.termination == Termination.INTERRUPTED, number
        assert phases.begun == number
        number += 1 + number // 3  # only some numbers, because there may be hundreds
    assert number > (4 if solve is solve_sum else 1)
    assert found.complete


def test_an_interrupted_certificate_of_several_ratios_ends(phases: Phases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "is_few", lambda *_: False)
    problem, number = problem_of(SUM), 1
    best = certificate.certify(problem, Deadline(None))
    while True:
        phases.break_off(number)
        deadline = Deadline(None)
        bound = certificate.certify(problem, deadline)
        if phases.begun < number:
            break
        assert (deadline.reason, phases.begun) == ("interrupted", number)
        assert best is not None
        assert bound is not None
        assert bound >= best
        number += 1
    assert number > 2


def test_a_search_ends_with_its_interrupted_certificate(phases: Phases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "is_few", lambda *_: False)
    problem = problem_of(SUM)
    get_ready(problem, STRATEGIES.create("greedy", {}))  # the warm-up has such parts too
    phases.break_off(2)
    found = search(problem, "greedy")
    assert (found.termination, phases.begun) == (Termination.INTERRUPTED, 2)
    assert found.selection is not None


def test_an_interrupted_verification_ends(phases: Phases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch_and_bound, "serve", lambda _: False)  # it would end too soon
    problem = CoverageProblem.of(problem_of(RATIO).coverage)
    get_ready(problem, STRATEGIES.create("milp", {"verify": True}))
    phases.break_off(1)
    found = search(problem, "milp", verify=True)
    assert (found.termination, phases.begun) == (Termination.INTERRUPTED, 1)
    assert found.status is optsum.Status.FEASIBLE


@pytest.mark.parametrize(
    "rehearse",
    [
        branch_and_bound._run_recall,
        branch_and_bound._run_sums,
        branch_and_bound._run_knapsack,
        _run_ties,
    ],
)
def test_an_interrupt_while_kernels_are_compiled_is_raised(phases: Phases, rehearse: Callable[[], None]) -> None:
    """Test this because the results of these searches are not used, so that an interrupt could be lost."""
    for number in (1, 2):
        phases.break_off(number)
        with pytest.raises(KeyboardInterrupt):
            rehearse()
        assert phases.begun == number
    phases.break_off(0)
    rehearse()


@pytest.mark.parametrize("strategy", ["greedy", "milp", "branch-and-bound", "exhaustive"])
def test_little_time_is_left_for_a_bound(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the bound after Ctrl-C takes no longer than a user would wait."""
    left: list[float] = []

    class Asked(CoverageProblem):
        def root_bound(self, deadline: Deadline = Deadline(None)) -> Any:  # noqa: B008 - shared by nobody
            left.append(deadline.left_s)

    problem = Asked.of(problem_of(RATIO).coverage)
    found = search(problem, strategy, on_progress=lambda *_: False)
    assert found.termination is Termination.INTERRUPTED
    assert left
    assert max(left) <= 0.2
