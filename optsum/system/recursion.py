"""Recursion that is as deep as a set has units; Python's own limit is made for what never ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["deep_recursion"]

_DEEP: Final = 100_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow nested calls for each unit of a set."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
