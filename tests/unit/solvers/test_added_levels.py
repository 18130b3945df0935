"""Compare a search that adds levels as it goes with brute force."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from optsum.solvers import branch_and_bound
from optsum.solvers.engine.driver import Driver, Effort

from optsum.coverage.instance import Facility, IntArray, Row
from optsum.problem.problem import CoverageProblem
from optsum.running.search import search


def _facility(seed: int) -> Facility:
    rng = np.random.default_rng(seed)
    units, tokens, top = int(rng.integers(6, 13)), int(rng.integers(2, 20)), int(rng.choice([3, 20, 10_000]))
    similar, weights = rng.integers(0, top + 1, (tokens, units)), rng.integers(1, 4, tokens)
    most = int(rng.integers(3, 15))
    limits = {"max_length": most, "min_length": int(rng.integers(0, most)) if seed % 3 == 0 else 0}
    lengths = rng.integers(1, 6, units)
    parents = np.array([rng.integers(-1, unit) for unit in range(units)], np.int64) if seed % 5 < 2 else None
    return Facility.given(similar, weights, lengths, full=int(weights.sum()) * top, parents=parents, **limits)


def _best(facility: Facility, rows: tuple[Row, ...]) -> int | None:
    """Return the largest numerator of a feasible selection."""
    above = facility.parents.tolist() or [-1] * facility.size
    values = [
        int((facility.similar[:, list(chosen)].max(axis=1) * facility.importance).sum()) if chosen else 0
        for size in range(facility.size + 1)
        for chosen in combinations(range(facility.size), size)
        if max(facility.min_length, 0) <= facility.lengths[list(chosen)].sum() <= facility.max_length
        and not any(row.excess(set(chosen)) for row in rows)
        and all(above[unit] < 0 or above[unit] in chosen for unit in chosen)
    ]
    return max(values, default=None)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Begin with one level for each token and split after a few nodes; count resumed searches and splits."""
    counts = {"undone": 0, "splits": 0}

    def first_kept(self: Facility, *, every: bool = False) -> IntArray:
        return np.ones(len(self.similar), np.int64)

    def made(*given: Any) -> Any:
        engine = partial(Driver, effort=Effort(start=1, first=2, longest=2, shrink=1.2))(*given)
        rising = engine.rising

        def counted(target: int, judge: Any, undone: Any = ()) -> Any:
            counts["undone"] += len(undone) > 1
            found = rising(target, judge, undone)
            counts["splits"] += engine.statistics.splits
            return found

        engine.rising = counted
        return engine

    monkeypatch.setattr(Facility, "first_kept", first_kept)
    monkeypatch.setattr(branch_and_bound, "Driver", made)
    return counts


def test_unfinished_searches_are_resumed_with_more_levels(seen: dict[str, int]) -> None:
    for seed in range(150):
        facility = _facility(seed)
        rows: tuple[Row, ...] = ()
        if seed % 4 == 1:
            rows = (Row((0, 1, 2), (1, 1, 1), 1, 2), Row((3, 4), (1, 1), 0, 1))
            facility = facility.with_rows(rows)  # type: ignore[assignment]
        best = _best(facility, rows)
        found = search(CoverageProblem.of(facility), "branch-and-bound")
        if best is None:
            assert found.status.value == "infeasible", seed
        else:
            assert found.status.value == "optimal", seed
            assert found.key == found.bound_key == Fraction(best, int(facility.constants[1])), seed
    assert seen["undone"] > 20
    assert seen["splits"] > 100
