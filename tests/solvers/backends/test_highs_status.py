"""Why HiGHS ended, when it was asked to: its own status is the same after Ctrl-C and after a deadline."""

from __future__ import annotations

from types import SimpleNamespace

import highspy
import pytest
from optsum.solvers.backends.highs import _outcome

from optsum.contracts.result import Termination
from optsum.contracts.run import Limits


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
