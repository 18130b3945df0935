"""Test the termination of HiGHS after Ctrl-C, after a deadline, and when it does not react."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import highspy
import pytest
from optsum.solvers.backends.highs import _outcome
from optsum.solvers.milp import backend_of

from optsum.problem.problem import CoverageProblem
from optsum.system.clock import Limits, Termination
from optsum.testing import hard_instance


@pytest.mark.parametrize("status", ["kInterrupt", "kTimeLimit"])
@pytest.mark.parametrize("interrupted", [True, False])
def test_only_ctrl_c_is_an_interruption(status: str, interrupted: bool) -> None:
    native = highspy.HighsModelStatus.__members__[status]
    highs = SimpleNamespace(
        getModelStatus=lambda: native,
        getInfo=lambda: SimpleNamespace(primal_solution_status=None, mip_dual_bound=3.0, mip_node_count=1),
        modelStatusToString=str,
    )
    found = _outcome(highs, 2, Limits(time_s=1.0), {"solve_s": 1.0}, interrupted=interrupted)
    assert found.termination is (Termination.INTERRUPTED if interrupted else Termination.TIME_LIMIT)
    assert found.bound == 3.0


def test_the_selection_of_highs_is_kept_if_it_does_not_react(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(highs: Any, *_: object, **__: object) -> bool:
        highs.run()
        return False

    monkeypatch.setattr("optsum.solvers.backends.highs.run", deaf)
    problem = CoverageProblem.of(hard_instance(units=30))
    outcome = backend_of("highs").solve(problem, Limits(), 0)
    assert (outcome.native, outcome.optimal) == ("no answer in time", False)
    assert outcome.selection is not None
    evaluation = problem.evaluate(outcome.selection)
    assert evaluation.feasible
    assert evaluation.key > 0
