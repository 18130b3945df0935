"""Test standard deviations and confidence intervals, by hand and against published ones."""

from __future__ import annotations

import pytest

from optsum.report.comparison import spread_of


def test_spread_by_hand() -> None:
    found = spread_of([1.0, 2.0, 3.0, 4.0], "z")
    assert found is not None
    assert found.mean == 2.5
    assert found.std == pytest.approx((5 / 3) ** 0.5)
    assert found.cv == pytest.approx(found.std / 2.5)
    assert found.half_width == pytest.approx(1.96 * found.std / 2)
    assert (found.lower, found.upper) == (2.5 - found.half_width, 2.5 + found.half_width)
    assert spread_of([]) is None
    single = spread_of([0.0])
    assert single is not None
    assert (single.std, single.cv, single.half_width, single.lower) == (0.0, None, None, None)


@pytest.mark.parametrize(("count", "reach"), [(2, 12.706), (3, 4.303), (30, 2.045), (1000, 1.962)])
def test_intervals_of_few_numbers_are_students(count: int, reach: float) -> None:
    """Check the 97.5 % quantiles of Student's t printed in textbooks."""
    values = [float(number % 2) for number in range(count)]
    found = spread_of(values)
    assert found is not None
    assert found.half_width == pytest.approx(reach * found.std / count**0.5, rel=1e-3)


def test_the_papers_intervals_are_those_of_1_96() -> None:
    """Check Akhmetov et al. 2022, Table 4: std .07 over 17,038 articles gives .0011, and .1 gives .0015 (Table 5)."""
    for std, printed in ((0.07, 0.0011), (0.08, 0.0012), (0.10, 0.0015)):
        assert round(1.96 * std / 17038**0.5, 4) == printed


def test_another_z_is_another_interval() -> None:
    wide, narrow = (spread_of([1.0, 2.0, 4.0], "z", z) for z in (1.956, 1.0))
    assert wide is not None
    assert narrow is not None
    assert wide.half_width == pytest.approx(1.956 * (narrow.half_width or 0))
