"""The command line: parse, call the library, say how it went."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run optsum, and return the exit status, as `optsum.cli.app.main`; Ctrl-C is heard from the first import on.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line, if not given.
    """
    try:
        from optsum.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("optsum: interrupted\n")
        return 130
    return run(arguments)
