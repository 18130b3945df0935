"""Test the order of trees of units in the engine, by hand."""

from __future__ import annotations

from optsum.solvers.engine.core import core_of, lean, program_of
from optsum.solvers.engine.driver import above, below

from optsum.coverage.instance import Coverage, Joint


def test_ancestors_and_descendants() -> None:
    """Test the trees 0 with 1 (with 2) and 3, and 4 with 5 and 6, where only 0 and 2 gain."""
    instance = Coverage.of(
        [1] * 7, [{0: 1}, {}, {1: 1}, *[{}] * 4], [[2], [1]], constants=(0, 3), parents=[-1, 0, 1, 0, -1, 4, 4],
        max_length=7,
    )  # fmt: skip
    core, _ = core_of(program_of(instance, (1, 0)))
    assert core.ids.tolist() == list(range(7))
    assert [above(core, unit).tolist() for unit in range(7)] == [[0], [1, 0], [2, 1, 0], [3, 0], [4], [5, 4], [6, 4]]
    assert [below(core, unit).tolist() for unit in (0, 1, 2, 4, 6)] == [[0, 1, 2, 3], [1, 2], [2], [4, 5, 6], [6]]
    assert lean(core).ids.tolist() == [0, 1, 2], "1 carries 2"


def test_units_of_joints_are_kept() -> None:
    """Test a joint of 1 and 2 that 4 vetoes, where 3 is the parent of 4, and 5 does nothing."""
    instance = Coverage.of(
        [1] * 6, [{1: 1}, *[{}] * 5], [[3], [1]], constants=(0, 4), parents=[-1, -1, -1, -1, 3, -1],
        joints=(Joint(0, (1, 2), (4,)),), max_length=6,
    )  # fmt: skip
    core, _ = core_of(program_of(instance, (1, 0)))
    assert core.ids.tolist() == list(range(6))
    assert lean(core).ids.tolist() == [0, 1, 2, 3, 4]
