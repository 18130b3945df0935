"""Test the kernel of greedy search: its time slices do not affect the result, and a deadline ends it."""

from __future__ import annotations

import numpy as np
import pytest

from optsum.coverage import greedy as module
from optsum.coverage.greedy import Climber, climb, moves_of
from optsum.coverage.instance import Coverage, Joint
from optsum.coverage.state import arrays_of
from optsum.system.clock import Deadline
from optsum.testing import KINDS, random_coverage


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_slices_does_not_change_the_result(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6):
        instance = random_coverage(np.random.default_rng(seed), kind=kind)
        arrays = arrays_of(instance)
        if arrays is None:
            continue
        for single in (False, True):
            ends = []
            for first in (10**9, 1):
                monkeypatch.setattr(module, "_FIRST_SLICE", first)
                monkeypatch.setattr("optsum.system.clock._SLICE_S", 0.0 if first == 1 else 1e9)
                climber = Climber(arrays, moves_of(instance), single=single)
                slices = 1
                while not climber.go_on():
                    slices += 1
                ends.append((climber.units, climber.evaluations))
            assert ends[0] == ends[1], (seed, single)
            assert slices >= ends[1][1]  # a slice of one entry looks at one move


def joined(units: int) -> Coverage:
    """Return a joined text in which every two sentences can form an n-gram across those between them."""
    pairs = [(i, j) for i in range(units) for j in range(i + 1, units)]
    return Coverage.of(
        [1] * units,
        [{unit % 50: 1} for unit in range(units)],
        [[1]] * 50 + [[2, 1]] * 40,
        constants=(0, 200),
        joints=tuple(Joint(50 + (3 * i + 5 * j) % 40, (i, j), range(i + 1, j)) for i, j in pairs),
        max_length=30,
    )


def test_joints_across_sentences_need_no_list_of_vetoes() -> None:
    arrays = arrays_of(joined(40))
    assert arrays is not None
    assert len(arrays.seam_second) == 40 * 39 // 2
    assert len(arrays.veto_joint) == len(arrays.need_joint) == 0


def test_a_deadline_ends_a_climb_with_its_selection_so_far() -> None:
    instance = joined(120)
    full = climb(instance)
    assert full is not None
    asked = iter([*[False] * 32, True])  # before it begins, while the moves are set up, and between slices
    stopped = climb(instance, Deadline(None, lambda: next(asked)))
    assert stopped is not None
    assert stopped.evaluations < full.evaluations
    assert set(stopped.units) <= set(full.units)


def test_a_climb_without_time_does_not_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test this because setting up the moves of three thousand sentences takes half a second for each reference."""
    instance = joined(120)
    asked = iter([*[False] * 9, True])
    assert climb(instance, Deadline(None, lambda: next(asked))) is None
    monkeypatch.setattr("optsum.coverage.greedy.arrays_of", lambda _: pytest.fail("begun"))
    assert climb(instance, Deadline(0.0)) is None
