"""Test `Deadline`: time left, callbacks, parts of a whole, interrupts."""

from __future__ import annotations

from math import inf
from time import sleep

import pytest

from optsum.system.clock import NEVER, Deadline


def test_without_a_limit_nothing_ends() -> None:
    assert (NEVER.left_s, NEVER.limited, NEVER.reason, NEVER.passed) == (inf, False, None, False)
    assert Deadline(inf).left_s == inf


@pytest.mark.parametrize("seconds", [0, 0.0, -1.0])
def test_a_deadline_without_time_has_passed(seconds: float) -> None:
    deadline = Deadline(seconds)
    assert (deadline.left_s, deadline.reason, deadline.passed) == (0.0, "time_limit", True)


def test_the_time_left_shrinks() -> None:
    deadline = Deadline(60.0)
    before = deadline.left_s
    sleep(0.002)
    assert 0 < deadline.left_s < before <= 60.0
    assert not deadline.passed


def test_a_callback_may_end_a_deadline_early() -> None:
    answers = iter([False, True])
    deadline = Deadline(should_stop=lambda: next(answers))
    assert deadline.limited
    assert [deadline.reason, deadline.reason] == [None, "interrupted"]


def test_a_part_ends_with_the_whole() -> None:
    whole = Deadline(60.0, lambda: True)
    assert whole.within(5.0).left_s <= 5.0
    assert 50.0 < whole.within(600.0).left_s <= 60.0
    assert whole.within(5.0).reason == "interrupted"
    assert NEVER.within(5.0).left_s <= 5.0
    assert NEVER.within(inf).left_s == inf


@pytest.mark.parametrize("which", range(3))
def test_an_interrupt_of_any_part_is_one_of_all(which: int) -> None:
    whole = Deadline(60.0)
    part = whole.within(5.0)
    deadlines = [whole, part, part.within(1.0)]
    deadlines[which].interrupt()
    assert [deadline.reason for deadline in (*deadlines, whole.within(1.0))] == ["interrupted"] * 4
    assert Deadline(60.0).reason is None


def test_an_interrupt_counts_for_more_than_the_clock() -> None:
    deadline = Deadline(0.0)
    deadline.interrupt()
    assert deadline.reason == "interrupted"  # otherwise the next topic would begin
    assert deadline.left_s == 0.0


def test_work_without_an_end_is_interrupted_by_itself() -> None:
    part = NEVER.within(60.0)
    part.interrupt()
    NEVER.interrupt()
    assert part.reason == "interrupted"
    assert (NEVER.reason, NEVER.within(60.0).reason) == (None, None)
