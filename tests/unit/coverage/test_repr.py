"""Check that instances and problems print as one line in a notebook, however large they are."""

from __future__ import annotations

from optsum import Coverage, CoverageProblem


def test_an_instance_prints_as_one_line() -> None:
    instance = Coverage.of([3] * 500, [{unit: 1} for unit in range(500)], [[2]] * 500, max_length=5)
    assert repr(instance) == "<Coverage: 500 units, 500 features, to maximize, at most 5 long>"
    assert repr(CoverageProblem.of(instance, name="own")) == (
        "<CoverageProblem 'own': 500 units, 500 features, to maximize, at most 5 long>"
    )
