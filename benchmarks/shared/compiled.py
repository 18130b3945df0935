"""Compile kernels at once, so that measurements do not include interpretation."""

from __future__ import annotations

import os

from optsum.system.compiled import patience


def compile_at_once() -> None:
    """Compile kernels at their first call, in this process and in processes that it starts."""
    os.environ["OPTSUM_PATIENCE"] = "0"
    patience.end()
