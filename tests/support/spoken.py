"""Remove from the standard error output the lines that depend on whether the kernels are compiled already."""

from __future__ import annotations

__all__ = ["spoken"]


def spoken(err: str) -> str:
    """Return the output without the lines about compiling kernels."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("Compiling kernels"))
