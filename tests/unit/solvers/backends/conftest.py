"""Define a fixture that makes Pyomo forget programs which a test has put on the PATH."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from fake_solvers import forget_programs


@pytest.fixture(autouse=True)
def _programs_are_found_anew() -> Iterator[None]:
    """Clean up after `monkeypatch`, when the PATH is the old one again."""
    yield
    if "pyomo.common" in sys.modules:
        forget_programs()
