"""Compare ranks, Student's t and Wilcoxon's test with values by hand and with scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from optsum.report.comparison import ranks, student, wilcoxon


def test_equal_numbers_share_their_mean_rank() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert ranks([[2.0, 1.0], [5.0, 5.0]]).tolist() == [[2.0, 1.0], [1.5, 1.5]]
    assert ranks(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30, 99, 100, 101, 150, 1000, 17037])
def test_quantiles_of_student_equal_scipy(degrees: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    assert student(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-9)


def test_wilcoxon_by_counting_signs() -> None:
    """Check that of seven positive distinct differences 2 of 128 arrangements of signs are as extreme."""
    assert wilcoxon([1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 6.0, 7.0]) == pytest.approx(2 / 128)
    assert wilcoxon([1.0, 2.0, 0.0, 3.0, 4.0, 5.0]) is None


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_is_exact_with_equal_differences(seed: int) -> None:
    apart = np.random.default_rng(seed).choice([-3, -2, -1, 1, 2, 3, 4], 9).tolist()
    sizes = ranks(np.abs(apart)).tolist()
    middle = sum(sizes) / 2

    def distance(signs: tuple[bool, ...]) -> float:
        return abs(sum(size for size, plus in zip(sizes, signs, strict=True) if plus) - middle)

    seen = distance(tuple(one > 0 for one in apart))
    arrangements = list(product((False, True), repeat=len(apart)))
    share = sum(distance(signs) >= seen for signs in arrangements) / len(arrangements)
    assert wilcoxon(apart) == pytest.approx(share)


@pytest.mark.parametrize(("count", "shift"), [(6, 1.0), (20, 0.3), (50, 0.0), (51, 0.2), (300, 0.1)])
def test_wilcoxon_equals_scipy(count: int, shift: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    normal = "asymptotic" if "asymptotic" in str(stats.wilcoxon.__doc__) else "approx"  # the name in older versions
    apart = np.random.default_rng(count).normal(shift, 1.0, count)
    method = "exact" if count <= 50 else normal
    assert wilcoxon(apart.tolist()) == pytest.approx(stats.wilcoxon(apart, method=method).pvalue, rel=1e-9)
    if count == 300:
        tied = np.round(apart * 2)
        tied = tied[tied != 0]
        assert wilcoxon(tied.tolist()) == pytest.approx(stats.wilcoxon(tied, method=method).pvalue, rel=1e-9)
