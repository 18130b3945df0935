"""Test the option `verify`, which proves the claims of a solver again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optsum.solvers import milp

from optsum.contracts.backend import Backend, Declaration, RawOutcome
from optsum.contracts.result import Result, Status
from optsum.coverage.instance import Coverage, Sense
from optsum.errors import BackendError
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search
from optsum.system.clock import Termination
from optsum.testing import hard_instance, random_coverage

TWO = Coverage.of([4, 4], [{0: 1}, {1: 1}], [[1], [2]], constants=(0, 3), max_length=4)
"""Either of two sentences; the second is worth more."""


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    def given(instance: Coverage, **claims: Any) -> Result:
        class Fake(Backend):
            name = about = "fake"
            declaration = Declaration(install="", licence="")

            def solve(self, *_: object) -> RawOutcome:
                return RawOutcome(**{"termination": Termination.COMPLETED, **claims})

        monkeypatch.setattr("optsum.solvers.milp.backend_of", lambda name, **_: Fake())
        return search(CoverageProblem.of(instance), "milp", verify=True)

    return given


@pytest.mark.parametrize("kind", ["recall", "window", "compressive", "cover", "f1"])
def test_true_claims_are_verified(kind: str) -> None:
    for seed in range(6):
        problem = CoverageProblem.of(random_coverage(np.random.default_rng(seed), kind=kind))
        plain, verified = search(problem, "milp"), search(problem, "milp", verify=True)
        assert (plain.status, plain.key) == (verified.status, verified.key)
        assert verified.statistics["verified"] is True or "lengths of covers" in str(verified.detail)


def test_a_consistent_lie_is_refuted(answer: Any) -> None:
    with pytest.raises(BackendError, match=r"calls 0\.333333 optimal, but branch-and-bound finds 0\.666667"):
        answer(TWO, optimal=True, selection=(0,), objective=1.0)


def test_a_false_infeasibility_is_refuted(answer: Any) -> None:
    window = Coverage.of([4, 4], [{0: 1}, {1: 1}], [[1], [2]], constants=(0, 3), max_length=4, min_length=2)
    with pytest.raises(BackendError, match=r"calls the problem infeasible, but branch-and-bound finds 0\.666667"):
        answer(window, infeasible=True)


def test_a_longer_cover_is_refuted(answer: Any) -> None:
    cover = Coverage.of([2, 3, 4], [{0: 1}, {1: 1}, {0: 1, 1: 1}], [[1], [1]], goal=Sense.MINIMIZE)
    with pytest.raises(BackendError, match="calls 5 optimal, but branch-and-bound finds 4"):
        answer(cover, optimal=True, selection=(0, 1), objective=5.0)


def test_a_verification_that_takes_too_long_is_given_up(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milp, "_LONGEST_S", 0.3)
    hard = hard_instance()
    greedy = search(CoverageProblem.of(hard), "greedy").selection
    result = answer(hard, optimal=True, selection=greedy)
    assert (result.status, result.statistics["verified"]) == (Status.OPTIMAL, False)
    assert result.detail is not None
    assert result.detail.startswith("only claimed by highs, not verified: branch-and-bound did not end within 0.")
