"""What is measured is compiled: no kernel is interpreted first."""

from __future__ import annotations

import os

from optsum.system.compiled import patience


def compile_at_once() -> None:
    """Let kernels be compiled when they are first called, here and in processes that are started from here."""
    os.environ["OPTSUM_PATIENCE"] = "0"
    patience.end()
