"""Test wins, ties, significance and times to target of a comparison."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import wilcoxon

import optsum
from optsum.contracts.result import Result, Status, TracePoint
from optsum.coverage.instance import Sense
from optsum.report.comparison import Details, time_to_target
from optsum.system.clock import Termination


def result(strategy: str, value: int | None, trace: tuple[tuple[float, float], ...] = ()) -> Result:
    held: dict[str, Any] = {"status": Status.NO_SOLUTION}
    if value is not None:
        held = {
            "status": Status.FEASIBLE,
            "selection": (0,),
            "objective": float(value),
            "objective_exact": str(value),
        }
    points = tuple(TracePoint(seconds, number, objective) for number, (seconds, objective) in enumerate(trace))
    return Result(strategy=strategy, termination=Termination.COMPLETED, **held, trace=points)


def details(first: list[int | None], second: list[int | None], sense: Sense = Sense.MAXIMIZE) -> Details:
    found = Details(["a", "b"], sense)
    for left, right in zip(first, second, strict=True):
        found.add(["a", "b"], [result("a", left), result("b", right)], Fraction(10), [None, 1.0])
    return found


def test_wins_are_exact_and_missing_selections_left_out() -> None:
    (pair,) = details([3, 5, 5, None, 9], [3, 4, 6, 7, 1]).pairs()
    assert (pair.wins, pair.ties, pair.losses, pair.p_value) == (2, 1, 1, None)
    (pair,) = details([3, 5], [4, 4], Sense.MINIMIZE).pairs()
    assert (pair.wins, pair.losses) == (1, 1)


def test_significance_is_wilcoxons() -> None:
    first, second = [9, 8, 7, 9, 6, 8, 5, 5], [1, 2, 3, 1, 5, 2, 3, 5]
    (pair,) = details([*first], [*second]).pairs()
    apart = [left - right for left, right in zip(first, second, strict=True) if left != right]
    assert pair.p_value == pytest.approx(float(wilcoxon(apart).pvalue))
    assert pair.p_value is not None
    assert pair.p_value < 0.05


def test_time_to_target() -> None:
    found = result("a", 10, ((0.1, 5.0), (0.4, 9.6), (0.9, 10.0)))
    assert time_to_target(found, 9.5, Sense.MAXIMIZE) == 0.4
    assert time_to_target(found, 10.0, Sense.MAXIMIZE) == 0.9
    assert time_to_target(found, 11.0, Sense.MAXIMIZE) is None
    assert time_to_target(found, 9.7, Sense.MINIMIZE) == 0.1


def test_tables_of_a_real_comparison() -> None:
    topics = [
        {"id": f"t{number}", "documents": [["a b c", "a b d", "d", f"e{number}"]], "references": [["a b c d"]]}
        for number in range(7)
    ]
    table = optsum.compare(topics, strategies=["greedy", "lead"], exact="exhaustive", max_length=4)
    spread, ratios, pairs, times = (each.text() for each in table.details.tables())
    assert "CI lower" in spread
    assert "median" in ratios
    assert "greedy" in pairs
    assert "(7/7)" in times
    lead = next(row for row in table.rows if row.strategy == "lead")
    (against,) = [pair for pair in table.details.pairs() if (pair.first, pair.second) == ("exhaustive", "lead")]
    assert against.ties == lead.reached
