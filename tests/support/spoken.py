"""What is said on the standard error output, whether or not this machine has compiled the kernels before."""

from __future__ import annotations

__all__ = ["spoken"]


def spoken(err: str) -> str:
    """Leave out that kernels are compiled, which depends on the tests that ran before."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("Compiling kernels"))
