"""Test that the backend for Gurobi requires scipy."""

from __future__ import annotations

import pytest

from optsum import BACKENDS


def test_gurobi_without_scipy_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optsum.contracts.backend.find_spec", lambda name: object())
    monkeypatch.setattr(
        "optsum.solvers.backends.through_pyomo.find_spec", lambda name: None if name == "scipy" else object()
    )
    found = BACKENDS.load("gurobi")().available()
    assert (found.usable, found.reason) == (False, "the package scipy is not installed")
