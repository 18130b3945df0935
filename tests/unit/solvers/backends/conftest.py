"""Programs that a test has put on the path are not found by those that follow it in the same process."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from fake_solvers import forget_programs


@pytest.fixture(autouse=True)
def _programs_are_found_anew() -> Iterator[None]:
    """Begin before `monkeypatch` and end after it, when the path is the old one."""
    yield
    if "pyomo.common" in sys.modules:
        forget_programs()
