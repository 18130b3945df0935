"""Options of one command that are no field of a model."""

from __future__ import annotations

from typing import Final

__all__ = ["ONLY_IN"]

ONLY_IN: Final = {
    "strategies": "compare",
    "exact": "compare",
    "backends": "compare",
    "seeds": "compare, study",
    "exact_time_limit": "compare, study",
    "threshold": "align",
    "map": "--map",
}
"""Their names, and the command."""
